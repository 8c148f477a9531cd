//! Path conditions of real recordings: what they say about known programs, and
//! that they are met by exactly the inputs that take the same way.

mod generate;

use crate::sandbox::{Sandbox, feed};
use replay::process::{LoadedProcess, Options as LoadOptions};
use std::process::Command;
use symbolic::{Kind, Options, Origin, Path, StepObserver, SymbolicState, TermContext};

/// A recorded run, followed with every term compared to the run's values.
struct Followed {
    sandbox: Sandbox,
    process: LoadedProcess,
    world: TermContext,
    path: Path,
}

impl Followed {
    /// Conditions of one kind as text, with their lines.
    fn texts(&self, kind: Kind) -> Vec<(u32, String)> {
        let conditions = self.path.conditions.iter().filter(|c| c.kind == kind);
        conditions.map(|c| (c.at.place(&self.process.image).line, self.world.text(c.term))).collect()
    }

    fn lines(&self, kind: Kind) -> Vec<u32> {
        self.texts(kind).into_iter().map(|t| t.0).collect()
    }

    /// The first condition that an input with one other byte does not meet.
    fn parts_at(&self, origin: &Origin, offset: u64, value: u8) -> Option<String> {
        let changed = self.world.variables.find(origin, offset).expect("a variable");
        let value = |v: u32| if v == changed { value.into() } else { self.world.variables.value(v) };
        let number = self.path.follows(&self.world, &value)?;
        let c = &self.path.conditions[number];
        let line = c.at.place(&self.process.image).line;
        Some(format!("{line}: {:?} {}", c.kind, self.world.text(c.term)))
    }

    fn follows_with(&self, origin: &Origin, offset: u64, value: u8) -> bool {
        self.parts_at(origin, offset, value).is_none()
    }

    /// The values of a byte that meet all conditions.
    fn range(&self, origin: &Origin, offset: u64) -> Vec<u8> {
        (0..=255).filter(|v| self.follows_with(origin, offset, *v)).collect()
    }
}

fn checked() -> Options {
    Options { check: true, ..Options::default() }
}

fn followed_with(sandbox: Sandbox, options: &Options) -> Followed {
    let recording = recording::Recording::open(&sandbox.path().join("run")).expect("a recording");
    let recorded = &recording.processes[0];
    let process = LoadedProcess::load(&recording, recorded, &LoadOptions::default()).expect("a process");
    let mut world = TermContext::default();
    let path = symbolic::replay(&process, recorded, 0, &mut world, options).expect("a path");
    assert!(path.holds(&world), "every condition holds on its own run");
    Followed { sandbox, process, world, path }
}

fn followed(source: &str, command: &str, stdin: &str) -> Followed {
    let mut sandbox = Sandbox::with_program("p", source);
    sandbox.record(command, stdin);
    followed_with(sandbox, &checked())
}

/// Fixture: an assignment appears inside the second condition.
#[test]
fn conditions_are_over_the_input() {
    let source = "#include <stdio.h>
int main(void) {
    int x = getchar() - '5', y = getchar() - '5', o;
    if (x > 0) {
        y = y + 1;
        if (y > 0)
            o = 10;
        else
            o = 20;
    } else
        o = 30;
    printf(\"%d\\n\", o);
}
";
    let f = followed(source, "./p", "66");
    assert_eq!(f.lines(Kind::Branch), [4, 6]);
    // x > 0: from '6' on. y + 1 > 0: from '5' on.
    assert_eq!(f.range(&Origin::Stdin, 0), (b'6'..=255).collect::<Vec<_>>());
    assert_eq!(f.range(&Origin::Stdin, 1), (b'5'..=255).collect::<Vec<_>>());
    assert_eq!(f.path.outputs.len(), 1);
    assert!(f.path.outputs[0].terms.is_empty(), "the output depends on input only by the way");
}

#[test]
fn scanned_numbers_keep_their_shape_and_become_values() {
    let source = "#include <stdio.h>
int main(void) {
    int x, y;
    if (scanf(\"%d %d\", &x, &y) != 2)
        return 1;
    if (x + y == 12)
        puts(\"twelve\");
    return 0;
}
";
    let f = followed(source, "./p", "5 7\n");
    assert_eq!(f.lines(Kind::Branch), [6]);
    assert_eq!(f.range(&Origin::Stdin, 0), [b'5']);
    assert_eq!(f.range(&Origin::Stdin, 2), [b'7']);
    assert_eq!(f.range(&Origin::Stdin, 1), [9, 10, 11, 12, 13, b' ']);
    let other = |v: u32| match v {
        0 => u128::from(b'4'),
        2 => u128::from(b'8'),
        _ => f.world.variables.value(v),
    };
    assert_eq!(f.path.follows(&f.world, &other), None, "4 8 goes the same way");
}

#[test]
fn text_is_compared_searched_and_converted() {
    let source = "#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    char line[32];
    if (!fgets(line, sizeof line, stdin))
        return 1;
    line[strcspn(line, \"\\n\")] = 0;
    if (strncmp(line, \"set \", 4) != 0)
        return 2;
    char *end;
    long n = strtol(line + 4, &end, 10);
    if (n > 50 && *end == '!')
        puts(\"much\");
    if (islower((unsigned char)line[0]))
        puts(\"lower\");
    return 0;
}
";
    let f = followed(source, "./p", "set 77!\n");
    assert!(f.texts(Kind::Concretised).is_empty(), "{:?}", f.texts(Kind::Concretised));
    for (place, letter) in b"set ".iter().enumerate() {
        assert_eq!(f.range(&Origin::Stdin, place as u64), [*letter]);
    }
    assert_eq!(f.range(&Origin::Stdin, 4), (b'5'..=b'9').collect::<Vec<_>>());
    assert_eq!(f.range(&Origin::Stdin, 5), (b'0'..=b'9').collect::<Vec<_>>());
    assert_eq!(f.range(&Origin::Stdin, 6), [b'!']);
    assert_eq!(f.range(&Origin::Stdin, 7), [b'\n']);
}

/// The C library decides what a number is: each term is compared with its result. Zeros before the text do not
/// depend on input, so they do not make the number longer.
#[test]
fn numbers_are_read_as_the_library_reads_them() {
    let source = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const int bases[] = {0, 2, 8, 10, 16, 36};
int main(void) {
    char line[16], padded[80];
    unsigned long sum = 0;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, \"\\n\")] = 0;
        memset(padded, '0', 60);
        strcpy(padded + 60, line);
        for (int i = 0; i < 6; i++) {
            sum += strtol(line, NULL, bases[i]) + strtoul(line, NULL, bases[i]);
            sum += strtol(padded, NULL, bases[i]);
        }
        sum += atoi(line);
    }
    return sum == 42;
}
";
    let letters = b" \t+-0017xXbB9afzF";
    let mut state = 1u32;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % below
    };
    let mut lines = String::from("18446744073709\n-0x1f\n0b11\n0xg\n+08\n99999999999999\n");
    for _ in 0..100 {
        lines.extend((0..next(8)).map(|_| char::from(letters[next(letters.len())])));
        lines.push('\n');
    }
    let f = followed(source, "./p", &lines);
    let fixed: Vec<_> = f.path.conditions.iter().filter(|c| c.kind == Kind::Concretised).collect();
    assert!(fixed.is_empty(), "{:?}: {:?}", fixed[0].reason, f.world.text(fixed[0].term));
}

#[test]
fn arguments_and_the_environment_are_inputs_if_asked() {
    let source = "#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    if (argc > 1 && argv[1][1] == 'y')
        puts(\"y\");
    char *home = getenv(\"HOME\");
    if (home && home[0] == '/')
        puts(\"home\");
    return argv[1][0];
}
";
    let f = followed(source, "./p xyz", "");
    assert_eq!(f.texts(Kind::Branch), [(4, "argv[1][1] == 'y'".to_owned())]);
    assert!(f.path.status.is_some(), "the exit status is an input byte");
    let mut options = checked();
    options.inputs.environment = true.into();
    options.inputs.only = vec!["HOME".into()];
    let f = followed_with(f.sandbox, &options);
    assert_eq!(f.texts(Kind::Branch), [(7, "env HOME[0] == '/'".to_owned())]);
}

#[test]
fn a_byte_of_a_file_is_one_variable_however_often_it_is_read() {
    let source = "#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    unsigned char first[4], again[2];
    FILE *f = fopen(\"x.txt\", \"r\");
    if (!f || fread(first, 1, 4, f) != 4)
        return 1;
    fseek(f, 1, SEEK_SET);
    int c = fgetc(f);
    int fd = open(\"x.txt\", O_RDONLY);
    if (pread(fd, again, 2, 1) != 2)
        return 1;
    if (first[1] == c && again[0] == c)
        puts(\"always\");
    if (c == 'b')
        puts(\"b\");
    return 0;
}
";
    let mut sandbox = Sandbox::with_program("p", source);
    sandbox.file("x.txt", "abcd");
    sandbox.record("./p", "");
    let f = followed_with(sandbox, &checked());
    // Equal to itself is no condition.
    assert_eq!(f.lines(Kind::Branch), [16]);
    assert_eq!(f.range(&Origin::File("x.txt".into()), 1), [b'b']);
    assert_eq!(f.world.variables.list.len(), 4);
}

#[test]
fn tables_stores_and_calls_at_input_dependent_places() {
    let source = "#include <stdio.h>
static const int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static int counts[8];
static int one(int x) { return x + 1; }
static int two(int x) { return x * 2; }
static int (*const both[2])(int) = { one, two };
int main(void) {
    int c = getchar(), d = getchar();
    if (table[c & 7] == 1)
        puts(\"one\");
    counts[c & 7] += 5;
    if (counts[d & 7] == 5)
        puts(\"same\");
    if (both[d & 1](d) > 90)
        puts(\"large\");
    return 0;
}
";
    // 'a' & 7 is 1, 'i' & 7 is 1 as well.
    let f = followed(source, "./p", "ai");
    assert!(f.texts(Kind::Concretised).is_empty(), "{:?}", f.texts(Kind::Concretised));
    assert_eq!(f.lines(Kind::CallTarget), [14]);
    let first: Vec<u8> = (0..=255).filter(|c| c & 7 == 1).collect();
    assert_eq!(f.range(&Origin::Stdin, 0), first);
    let second: Vec<u8> = (0..=255).filter(|d| d & 7 == 1 && u32::from(*d) * 2 > 90).collect();
    assert_eq!(f.range(&Origin::Stdin, 1), second);
}

#[test]
fn what_is_not_followed_is_fixed_with_the_reason() {
    let source = "#include <math.h>
#include <stdio.h>
int main(void) {
    long double x = getchar();
    if (x * 0.5 > 10.25)
        puts(\"large\");
    return 0;
}
";
    let f = followed(source, "./p", "a");
    let fixed: Vec<_> = f.path.conditions.iter().filter(|c| c.kind == Kind::Concretised).collect();
    assert_eq!(fixed.len(), 1);
    assert_eq!(fixed[0].reason, Some(symbolic::Reason::Float));
    assert_eq!(f.range(&Origin::Stdin, 0), [b'a']);
    assert!(f.texts(Kind::Branch).is_empty());
}

#[test]
fn numbers_with_fractions_are_followed() {
    let source = "#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char text[8];
    double x = getchar() * 0.5;
    if (x > 48.25)
        puts(\"large\");
    if (scanf(\"%7s\", text) == 1 && atof(text) < 2.5)
        puts(\"small\");
    return 0;
}
";
    let f = followed(source, "./p", "a1.9\n");
    assert!(f.texts(Kind::Concretised).is_empty(), "{:?}", f.texts(Kind::Concretised));
    // 48.25 times two is 96.5.
    assert_eq!(f.range(&Origin::Stdin, 0), (97..=255).collect::<Vec<_>>());
    assert_eq!(f.range(&Origin::Stdin, 1), [b'0', b'1']);
    assert_eq!(f.range(&Origin::Stdin, 3), (b'0'..=b'9').collect::<Vec<_>>());
}

#[test]
fn a_line_with_nul_bytes_is_input_up_to_its_end() {
    let source = "#include <stdio.h>
int main(void) {
    char line[16];
    int sum = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] == 'x' && line[3] == 'y')
            sum += 1;
        if (line[0] == 'z')
            sum += 2;
    }
    return sum;
}
";
    // The first line has a NUL inside, the second one begins with one, the last one has no end.
    let f = followed(source, "./p", "x\0\0y!\n\0b\nzz");
    assert_eq!(f.range(&Origin::Stdin, 0), [b'x']);
    assert_eq!(f.range(&Origin::Stdin, 3), [b'y'], "behind the NULs");
    assert_eq!(f.range(&Origin::Stdin, 5), [b'\n'], "the line's end");
    assert!(!f.range(&Origin::Stdin, 6).contains(&b'z'), "the second line");
    assert_eq!(f.range(&Origin::Stdin, 9), [b'z'], "what follows has its place");
}

#[test]
fn tokens_and_scanned_words_keep_their_terms() {
    let source = "#include <stdio.h>
#include <string.h>
int main(void) {
    char line[32], word[8];
    if (!fgets(line, sizeof line, stdin))
        return 1;
    char *key = strtok(line, \"= \\n\"), *value = strtok(NULL, \"= \\n\");
    if (!value || sscanf(value, \"%7s\", word) != 1)
        return 2;
    if (strcmp(key, \"ab\") == 0 && word[0] == 'q')
        puts(\"found\");
    return 0;
}
";
    let f = followed(source, "./p", "ab=qx\n");
    assert!(f.texts(Kind::Concretised).is_empty(), "{:?}", f.texts(Kind::Concretised));
    assert_eq!(f.range(&Origin::Stdin, 0), [b'a']);
    assert_eq!(f.range(&Origin::Stdin, 2), [b' ', b'='], "a separator, but not the line's end");
    assert_eq!(f.range(&Origin::Stdin, 3), [b'q']);
    let last = f.range(&Origin::Stdin, 4);
    assert!(last.contains(&b'y') && !last.contains(&b'=') && !last.contains(&b' '), "{last:?}");
}

#[test]
fn sorted_elements_keep_their_terms() {
    let source = "#include <stdio.h>
#include <stdlib.h>
static int order(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
int main(void) {
    char s[4];
    if (fread(s, 1, 3, stdin) != 3)
        return 1;
    qsort(s, 3, 1, order);
    if (s[0] == 'a')
        puts(\"a\");
    return 0;
}
";
    let f = followed(source, "./p", "cab");
    assert_eq!(f.range(&Origin::Stdin, 1), [b'a']);
    assert_eq!(f.range(&Origin::Stdin, 2), [b'b'], "between a and c");
}

/// Sees the term of a variable at the end of its function.
struct Results(Vec<Option<solver::Term>>);

impl StepObserver for Results {
    fn step(&mut self, now: &mut SymbolicState<'_, '_>) {
        if let program::inst::Inst::Return { value: Some(value), ret } = now.view.inst()
            && now.view.function().name == "half"
        {
            let term = now.operand(*value, ret[0]);
            self.0.push(term);
        }
    }
}

#[test]
fn values_can_be_asked_for_on_the_way() {
    let source = "#include <stdio.h>
__attribute__((noinline)) static int half(int x) { return x / 2; }
int main(void) {
    int a = half(getchar()), b = half(6);
    printf(\"%d %d %c\\n\", a, b, a + 1);
    return 0;
}
";
    let mut sandbox = Sandbox::with_program("p", source);
    sandbox.record("./p", "d");
    let recording = recording::Recording::open(&sandbox.path().join("run")).expect("a recording");
    let recorded = &recording.processes[0];
    let process = LoadedProcess::load(&recording, recorded, &LoadOptions::default()).expect("a process");
    let mut world = TermContext::default();
    let mut results = Results(Vec::new());
    let path =
        symbolic::replay_with(&process, recorded, 0, &mut world, &checked(), &mut results).expect("a path");
    let [Some(first), None] = results.0[..] else { panic!("{:?}", results.0) };
    assert_eq!(world.pool.evaluate(first, &|_| 10), 5);
    let output = &path.outputs[0];
    assert_eq!(output.bytes, b"50 3 3\n");
    assert_eq!(output.printed.len(), 1, "the number printed first");
    assert_eq!(output.printed[0].range, 0..2);
    assert_eq!(output.terms.len(), 1, "the character");
    assert_eq!(output.terms[0].0, 5);
    assert_eq!(world.pool.evaluate(output.terms[0].1, &|_| 128), 65);
}

/// The heart of it: on random programs an input meets the path condition if and
/// only if the program takes the same way with it.
#[test]
fn a_path_condition_is_met_by_exactly_the_inputs_of_its_way() {
    let mut exact = 0;
    for seed in 0..12 {
        let source = generate::program(seed);
        let mut sandbox = Sandbox::new();
        sandbox.file("p.c", &source);
        // Without optimisation every decision of the source is a branch; with it, the
        // terms and conditions of the run are checked only.
        sandbox.quietly("relapse cc -g -O2 -fwrapv -w -o p p.c -lm");
        let mut random = generate::Random::new(seed + 100);
        let input: Vec<u8> = (0..generate::BYTES).map(|_| (random.below(90) + 35) as u8).collect();
        let text = String::from_utf8(input.clone()).expect("ASCII");
        sandbox.record("./p", &text);
        let mut sandbox = followed_with(sandbox, &checked()).sandbox;
        sandbox.quietly("relapse cc -g -O0 -fwrapv -w -o p p.c -lm");
        std::fs::remove_dir_all(sandbox.path().join("run")).expect("a recording");
        let output = sandbox.record("./p", &text);
        let own_way = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        let f = followed_with(sandbox, &checked());
        let fixed = f.path.conditions.iter().any(|c| c.kind == Kind::Concretised);
        exact += u32::from(!fixed);
        for place in 0..generate::BYTES {
            let mut all = Command::new(f.sandbox.path().join("p"));
            all.arg(place.to_string()).env_remove("RELAPSE_RECORD_DIR");
            let ways = feed(all, &input).stdout;
            let ways: Vec<String> = String::from_utf8_lossy(&ways).lines().map(str::to_owned).collect();
            assert_eq!(ways.len(), 256);
            for (value, way) in ways.iter().enumerate() {
                let same = *way == own_way;
                let parts = f.parts_at(&Origin::Stdin, place as u64, value as u8);
                assert!(
                    parts.is_none() == same || fixed && parts.is_some(),
                    "seed {seed}: {input:?}, stdin[{place}] = {value}: parts {parts:?}, really {same}\n\
                     {own_way}\n{way}\n{source}"
                );
            }
        }
    }
    assert!(exact >= 8, "only {exact} programs were followed exactly");
}

#[test]
fn strings_are_printed_with_their_padding_up_to_their_end() {
    let source = "#include <stdio.h>
int main(void) {
    char s[8] = \"\";
    fread(s, 1, 5, stdin);
    printf(\"%5.2s|%-4s|\\n\", s, s + 2);
}
";
    // Blanks, like the padding; the last byte ends the second string.
    let f = followed(source, "./p", " b  \0");
    let output = &f.path.outputs[0];
    assert_eq!(output.bytes, b"    b|    |\n");
    assert_eq!(output.terms.iter().map(|term| term.0).collect::<Vec<_>>(), [3, 4, 6, 7]);
    assert_eq!(f.range(&Origin::Stdin, 4), [0], "the end of the second string");
    assert!(!f.range(&Origin::Stdin, 3).contains(&0), "it does not end before");
}

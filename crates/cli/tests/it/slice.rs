//! `relapse slice`.

use crate::sandbox::{Sandbox, marked_lines};

const PROGRAM: &str = r#"#include <stdio.h>

struct node {
    int value;
    struct node *next;
};

static int noise;

static struct node *find(struct node *list, int value) {
    noise = value;
    while (list && list->value != value)
        list = list->next;
    return list;
}

int main(int argc, char **argv) {
    struct node second = { 2, NULL }, first = { 1, &second };
    int wanted = argc + 1;
    printf("%d\n", find(&first, wanted)->value);
    wanted++;
    struct node *found = find(&first, wanted);
    return found->value;
}
"#;

fn recorded() -> Sandbox {
    let mut sandbox = Sandbox::with_program("find", PROGRAM);
    sandbox.record("./find", "");
    sandbox
}

#[test]
fn a_crash_is_followed_back_to_where_the_pointer_came_from() {
    let mut sandbox = recorded();
    sandbox.run("relapse slice run --failure");
    assert_session!(sandbox, @r#"
    $ relapse slice run --failure
    the failure came from 8 lines in 1 file (34 of [N] instructions).

    find.c
    >  12  while (list && list->value != value)
    >  13  list = list->next;
    >  14  return list;
      ...
    >  18  struct node second = { 2, NULL }, first = { 1, &second };
    >  19  int wanted = argc + 1;
      [N]  printf("%d\n", find(&first, wanted)->value);
    >  21  wanted++;
    >  22  struct node *found = find(&first, wanted);
    >  23  return found->value;
    "#);
}

#[test]
fn a_byte_of_output_is_followed_back() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse slice run --output stdout@0");
    let marked: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix('>')).map(str::trim).collect();
    let numbers: Vec<&str> = marked.iter().filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(numbers, ["12", "13", "14", "18", "19", "20"], "{text}");
}

const SORTED: &str = r#"#include <stdio.h>
#include <stdlib.h>

struct pair {
    int key;
    int value;
};

static int by_key(const void *a, const void *b) {
    return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}

int main(int argc, char **argv) {
    struct pair pairs[2];
    pairs[0].key = 9;
    pairs[0].value = argc + 4;
    pairs[1].key = argc;
    pairs[1].value = 3;
    qsort(pairs, 2, sizeof pairs[0], by_key);
    printf("%d\n", pairs[1].value);
    return 0;
}
"#;

#[test]
fn what_was_sorted_comes_from_before_the_sorting() {
    let mut sandbox = Sandbox::with_program("sorted", SORTED);
    sandbox.record("./sorted", "");
    let text = sandbox.quietly("relapse slice run --output stdout@0");
    for line in ["pairs[0].value = argc + 4;", "pairs[1].key = argc;", "->key - (", "qsort("] {
        let marked = text.lines().any(|l| l.starts_with('>') && l.contains(line));
        assert!(marked, "{line} in {text}");
    }
}

#[test]
fn a_chain_has_values_and_no_copies() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse slice run --at find.c:21:wanted --chain");
    assert!(text.contains("find.c:19  int wanted = argc + 1;"), "{text}");
    assert!(text.contains("wanted = 2"), "{text}");
    assert!(!text.contains("find.c:12"), "{text}");
}

#[test]
fn a_chain_shows_global_variables_by_their_types() {
    let source = r#"#include <stdio.h>
static unsigned state = 7;
static unsigned char small = 200;
int main(void) {
    state = state * 600000000u;
    small++;
    printf("%u %d\n", state, small);
    return 0;
}
"#;
    let mut sandbox = Sandbox::with_program("unsigned", source);
    sandbox.record("./unsigned", "");
    let text = sandbox.quietly("relapse slice run --output stdout@0 --chain");
    assert!(text.contains("state = 4200000000") && !text.contains('-'), "{text}");
    let text = sandbox.quietly("relapse slice run --output stdout@12 --chain");
    assert!(text.contains("small = 201") && !text.contains('-'), "{text}");
}

#[test]
fn a_chain_leads_through_library_functions() {
    let source = r#"#include <stdio.h>
#include <stdlib.h>
static char text[32];
static void make(int n) {
    snprintf(text, sizeof text, "%d", n * 3);
}
int main(int argc, char **argv) {
    make(argc + 4);
    long value = strtol(text, NULL, 10);
    srand(argc + 7);
    printf("%ld %d\n", value, rand());
    return 0;
}
"#;
    let mut sandbox = Sandbox::with_program("through", source);
    sandbox.record("./through", "");
    let text = sandbox.quietly("relapse slice run --output stdout@0 --chain");
    for line in ["strtol(text", "snprintf(text", "make(argc + 4);"] {
        assert!(text.contains(line), "{line} in {text}");
    }
    // The first instruction of the run has its place and its values as well.
    assert!(text.contains("with argc = 1; gave 5"), "{text}");
    let text = sandbox.quietly("relapse slice run --output stdout@3 --chain");
    assert!(text.contains("srand(argc + 7);"), "{text}");
    assert!(!text.contains("strtol"), "{text}");
}

#[test]
fn a_chain_passes_through_the_headers_of_libraries() {
    let source = r#"#include <cstdio>
#include <vector>
static int sum(const std::vector<int> &numbers) {
    int total = 0;
    for (int number : numbers) {
        total += number;
    }
    return total;
}
int main(int argc, char **) {
    std::vector<int> numbers;
    numbers.push_back(argc + 3);
    numbers.push_back(argc * 7);
    std::printf("%d\n", sum(numbers));
    return 0;
}
"#;
    let mut sandbox = Sandbox::new();
    sandbox.file("v.cpp", source);
    sandbox.quietly("relapse c++ -g -O0 -o v v.cpp");
    sandbox.record("./v", "");
    for option in ["--chain", "--why"] {
        let text = sandbox.quietly(&format!("relapse slice run --output stdout@0 {option}"));
        assert!(!text.contains("/usr/"), "{text}");
        for line in ["numbers.push_back(argc + 3);", "total += number;"] {
            assert!(option == "--why" || text.contains(line), "{line} in {text}");
        }
    }
}

#[test]
fn json_says_the_same() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse slice run --at find.c:21:wanted --chain --json");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["schema"], "relapse.slice/1");
    let lines: Vec<u64> =
        json["lines"].as_array().expect("lines").iter().filter_map(|l| l["line"].as_u64()).collect();
    assert_eq!(lines, [19, 21]);
    assert_eq!(json["origins"][0]["kind"], "parameter");
    assert_eq!(json["origins"][0]["name"], "main");
    assert_eq!(json["chain"][0]["kind"], "asked");
}

/// Every form of a slice has a document, and each says of itself what it is.
#[test]
fn every_form_has_a_document() {
    let mut sandbox = recorded();
    let forms = [
        ("--failure", "dynamic"),
        ("--output stdout@0", "dynamic"),
        ("--at find.c:21", "dynamic"),
        ("--failure --chain", "dynamic"),
        ("--failure --why", "dynamic"),
        ("--failure --relevant", "relevant"),
        ("--failure --relevant --no-libraries", "relevant"),
        ("--failure --relevant --pointers unified", "relevant"),
    ];
    for (options, kind) in forms {
        let text = sandbox.quietly(&format!("relapse slice run {options} --json"));
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(json["schema"], "relapse.slice/1", "{options}");
        assert_eq!(json["kind"], kind, "{options}");
        assert_eq!(json["incomplete"], false, "{options}");
        assert!(json["lines"].as_array().is_some_and(|l| !l.is_empty()), "{options}");
        assert_eq!(json["chain"].is_array(), options.contains("--chain"), "{options}");
        assert_eq!(json["causes"].is_array(), options.contains("--why"), "{options}");
    }
    let text = sandbox.quietly("relapse slice run --failure --phases --relevant --json");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["schema"], "relapse.phases/1");
    assert!(json["levels"][0]["phases"].as_array().is_some_and(|p| !p.is_empty()), "{json:#}");
}

/// Both conditions of `list && list->value != value` are one step, on one line.
#[test]
fn why_has_a_line_as_one_step() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse slice run --failure --why --json");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let causes = json["causes"].as_array().expect("causes");
    let of_loop: Vec<_> = causes.iter().filter(|c| c["line"] == 12 && c["kind"] == "decision").collect();
    assert_eq!(of_loop.len(), 1, "{json:#}");
    let lines: Vec<u64> =
        of_loop[0]["lines"].as_array().expect("lines").iter().filter_map(|l| l["line"].as_u64()).collect();
    // What each of the two came from.
    for line in [12, 13, 18, 19, 21] {
        assert!(lines.contains(&line), "{line} in {lines:?}");
    }
}

#[test]
fn questions_about_nothing_are_answered_as_such() {
    let mut sandbox = recorded();
    sandbox.run("relapse slice run --at find.c:3");
    sandbox.run("relapse slice run --at find.c:21:nothing");
    sandbox.run("relapse slice run --output stdout@100");
    sandbox.run("relapse slice run --failure --process 7");
    assert_session!(sandbox, @r"
    $ relapse slice run --at find.c:3
    [stderr] relapse: find.c:3 has no code
    [stderr]  Nearest that ran: find.c:11.
    [exit 1]
    $ relapse slice run --at find.c:21:nothing
    [stderr] relapse: `nothing` is wrong at column 1: nothing in scope is called nothing
    [stderr]  In scope at find.c:21: argc, argv, second, first, wanted, noise.
    [exit 2]
    $ relapse slice run --output stdout@100
    [stderr] relapse: no recorded call wrote byte 100 of stdout
    [stderr]  `relapse dump io DIR` lists what was written.
    [exit 1]
    $ relapse slice run --failure --process 7
    [stderr] relapse: the recording has no process 7
    [stderr]  It has 1, counted from 0.
    [exit 2]
    ");
}

/// Two files of one name, and a line that never ran.
#[test]
fn what_could_have_been_meant_is_said() {
    let mut sandbox = Sandbox::new();
    for dir in ["a", "b"] {
        std::fs::create_dir(sandbox.path().join(dir)).expect("a directory");
    }
    sandbox.file("a/part.c", "int twice(int n) {\n    if (n > 5)\n        n = 5;\n    return n + n;\n}\n");
    sandbox.file("b/part.c", "int twice(int n);\nint main(void) {\n    return twice(2) - 4;\n}\n");
    sandbox.quietly("relapse cc -g -o two a/part.c b/part.c");
    sandbox.record("./two", "");
    sandbox.run("relapse slice run --at part.c:3");
    sandbox.run("relapse slice run --at a/part.c:3");
    sandbox.run("relapse slice run --at other.c:3");
    assert_session!(sandbox, @r"
    $ relapse slice run --at part.c:3
    [stderr] relapse: part.c could be any of 2 files
    [stderr]  Give more of the path:
    [stderr]  a/part.c
    [stderr]  b/part.c
    [exit 2]
    $ relapse slice run --at a/part.c:3
    [stderr] relapse: a/part.c:3 never ran
    [stderr]  Nearest that ran: a/part.c:2 and a/part.c:4.
    [exit 1]
    $ relapse slice run --at other.c:3
    [stderr] relapse: no recorded source file is called other.c
    [stderr]  `relapse dump program BINARY` names the files of a program.
    [exit 2]
    ");
}

#[test]
fn a_relevant_slice_marks_what_could_have_gone_another_way() {
    let source = "#include <stdio.h>
int main(int argc, char **argv) {
    int k = 1;
    if (argc > 1)
        k = 2;
    printf(\"%d\\n\", k);
    return 0;
}
";
    let mut sandbox = Sandbox::with_program("old", source);
    sandbox.record("./old", "");
    sandbox.run("relapse slice run --at old.c:6 --relevant");
    assert_session!(sandbox, @r#"
    $ relapse slice run --at old.c:6 --relevant
    old.c:6 came from 3 lines in 1 file (4 of [N] instructions).

    old.c
    >  3  int k = 1;
    ?  4  if (argc > 1)
      [N]  k = 2;
    >  6  printf("%d\n", k);

    Lines marked with ? could have gone another way, on which something of this is assigned or written.
    "#);
}

#[test]
fn a_relevant_slice_of_output_marks_what_kept_earlier_bytes_from_being_written() {
    let source = "#include <stdio.h>
int main(int argc, char **argv) {
    int level = argc - 1;
    if (level > 0)
        printf(\"level %d\\n\", level);
    printf(\"%d\\n\", argc + 4);
    return 0;
}
";
    let mut sandbox = Sandbox::with_program("omitted", source);
    sandbox.record("./omitted", "");
    for question in ["stdout@0", "stdout:5"] {
        let dynamic = sandbox.quietly(&format!("relapse slice run --output {question}"));
        assert_eq!(marked_lines(&dynamic), [6], "{dynamic}");
        let relevant = sandbox.quietly(&format!("relapse slice run --output {question} --relevant"));
        assert!(relevant.contains("came from 3 lines"), "{relevant}");
        let words: Vec<&str> = relevant.split_whitespace().collect();
        let words = words.join(" ");
        for line in ["3 int level = argc - 1;", "? 4 if (level > 0)", "> 6 printf"] {
            assert!(words.contains(line), "{relevant}");
        }
    }
}

/// What is asked about must be there: a failure, and a byte that the program wrote itself.
#[test]
fn a_run_that_did_not_fail_says_so() {
    let mut sandbox = Sandbox::with_program(
        "fine",
        "#include <stdio.h>
int main(void) {
    int n = 42;
    printf(\"%d\\n\", n);
    return 0;
}
",
    );
    sandbox.record("./fine", "");
    sandbox.run("relapse slice run --failure");
    assert_session!(sandbox, @r#"
    $ relapse slice run --failure
    [stderr] relapse: the process did not fail: it ended with status 0
    [stderr]  Ask about a line (--at) or its output (--output).
    [exit 1]
    "#);
}

/// Whoever began the file of a redirection, the program's first byte is byte 0.
#[test]
fn output_is_counted_from_the_first_byte_that_the_program_wrote() {
    let mut sandbox = Sandbox::with_program(
        "late",
        "#include <stdio.h>
int main(int argc, char **argv) {
    int first = argc + 4;
    int second = argc + 6;
    printf(\"%d\", first);
    printf(\"%d\", second);
    return 0;
}
",
    );
    let relapse = env!("CARGO_BIN_EXE_relapse");
    sandbox.quietly(&format!("sh -c (echo·before;·{relapse}·record·--quiet·-o·run·--·./late)·>·out"));
    for (byte, line) in [(0, 3), (1, 4)] {
        let text = sandbox.quietly(&format!("relapse slice run --output stdout@{byte} --json"));
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let lines: Vec<u64> =
            json["lines"].as_array().expect("lines").iter().filter_map(|l| l["line"].as_u64()).collect();
        assert_eq!(lines, [line, line + 2], "byte {byte}");
    }
}

/// What a handler does depends on what threw and why, not on calls that returned.
#[test]
fn a_slice_goes_through_an_exception() {
    let mut sandbox = Sandbox::new();
    let source = "#include <cstdio>\n\
                  #include <stdexcept>\n\
                  static int limit = 3, noise = 1;\n\
                  static void check(int n) {\n\
                  \x20   noise += n;\n\
                  \x20   if (n > limit)\n\
                  \x20       throw std::runtime_error(\"too big\");\n\
                  \x20   noise *= 2;\n\
                  }\n\
                  struct Guard {\n\
                  \x20   ~Guard() { noise++; }\n\
                  };\n\
                  static int compute(int n) {\n\
                  \x20   int r = n * 7;\n\
                  \x20   Guard g;\n\
                  \x20   check(n - 1);\n\
                  \x20   check(n);\n\
                  \x20   return r;\n\
                  }\n\
                  int main() {\n\
                  \x20   int a = compute(2);\n\
                  \x20   int b = 5;\n\
                  \x20   try {\n\
                  \x20       b = compute(4);\n\
                  \x20   } catch (const std::runtime_error &e) {\n\
                  \x20       b = -a;\n\
                  \x20   }\n\
                  \x20   std::printf(\"%d\\n\", b);\n\
                  }\n";
    sandbox.file("t.cc", source);
    for level in ["-O0", "-O2"] {
        sandbox.quietly(&format!("relapse c++ -g {level} -o t t.cc"));
        sandbox.record("./t", "");
        let slice = sandbox.quietly("relapse slice run --output stdout@0");
        let lines = marked_lines(&slice);
        for line in [6, 7, 14, 17, 21, 24, 26, 28] {
            assert!(lines.contains(&line), "line {line} is missing at {level}:\n{slice}");
        }
        let names = sandbox.quietly("relapse slice run --output stdout@0 --json");
        assert!(names.contains("\"compute\"") && !names.contains("_Z"), "names of the source: {names}");
        for line in [5, 8, 11, 16, 22] {
            assert!(!lines.contains(&line), "line {line} has no part in it at {level}:\n{slice}");
        }
        std::fs::remove_dir_all(sandbox.path().join("run")).expect("the recording is removed");
    }
}

/// Assigning a member of a bit-field, or setting a flag, leaves its neighbours as they are.
#[test]
fn neighbours_in_a_bit_field_are_told_apart() {
    let source = "#include <stdio.h>\n\
                  struct packed { unsigned a : 3, b : 7, c : 6; int whole; };\n\
                  int main(int argc, char **argv) {\n\
                  \x20   struct packed p = { 0 }, q;\n\
                  \x20   static unsigned flags;\n\
                  \x20   p.a = argc + 1;\n\
                  \x20   p.b = argc + 40;\n\
                  \x20   p.c = argc + 9;\n\
                  \x20   flags |= 4u * (argc == 1);\n\
                  \x20   flags |= 16;\n\
                  \x20   p.a = argc + 2;\n\
                  \x20   q = p;\n\
                  \x20   printf(\"%u\\n\", q.b);\n\
                  \x20   printf(\"%u\\n\", p.a);\n\
                  \x20   printf(\"%u\\n\", (flags & 4) >> 2);\n\
                  }\n";
    let mut sandbox = Sandbox::with_program("bits", source);
    sandbox.record("./bits", "");
    let mut check = |offset: u32, with: &[u32], without: &[u32]| {
        let slice = sandbox.quietly(&format!("relapse slice run --output stdout@{offset}"));
        let lines = marked_lines(&slice);
        assert!(with.iter().all(|line| lines.contains(line)), "a line is missing:\n{slice}");
        assert!(!without.iter().any(|line| lines.contains(line)), "a line has no part in it:\n{slice}");
    };
    // Of what was copied as a whole, whole bytes count.
    check(0, &[7, 12, 13], &[9, 10]);
    check(3, &[11, 14], &[6, 7, 8, 12]);
    check(5, &[9, 15], &[6, 10]);
}

/// A small structure is passed in one register: its members keep apart there, and so do flags in a
/// variable.
#[test]
fn neighbours_in_a_register_are_told_apart() {
    let source = "#include <stdio.h>\n\
                  #include <stdlib.h>\n\
                  struct pair { int key, value; };\n\
                  struct flags { unsigned on : 1, level : 4, mode : 3; };\n\
                  static struct pair make(int k, int v) {\n\
                  \x20   struct pair p;\n\
                  \x20   p.key = k;\n\
                  \x20   p.value = v;\n\
                  \x20   return p;\n\
                  }\n\
                  static int value_of(struct pair p) { return p.value; }\n\
                  static int level(struct flags f) { return f.level; }\n\
                  int main(int argc, char **argv) {\n\
                  \x20   int a = atoi(argv[1]);\n\
                  \x20   int b = atoi(argv[2]);\n\
                  \x20   struct pair p = make(a, b), copy = p;\n\
                  \x20   struct flags f = { 0 };\n\
                  \x20   f.level = b;\n\
                  \x20   f.mode = a;\n\
                  \x20   unsigned may = 0;\n\
                  \x20   if (a > 3)\n\
                  \x20       may |= 1;\n\
                  \x20   if (b > 3)\n\
                  \x20       may |= 2;\n\
                  \x20   printf(\"%d\\n\", value_of(copy));\n\
                  \x20   printf(\"%d\\n\", level(f));\n\
                  \x20   printf(\"%d\\n\", (may & 2) != 0);\n\
                  }\n";
    let mut sandbox = Sandbox::new();
    sandbox.file("pair.c", source);
    for level in ["-O0", "-O2"] {
        sandbox.quietly(&format!("relapse cc -g {level} -o pair pair.c"));
        sandbox.record("./pair 5 9", "");
        let mut check = |offset: u32, with: &[u32], without: &[u32]| {
            let slice = sandbox.quietly(&format!("relapse slice run --output stdout@{offset}"));
            let lines = marked_lines(&slice);
            assert!(with.iter().all(|line| lines.contains(line)), "a line is missing at {level}:\n{slice}");
            let has_more = without.iter().any(|line| lines.contains(line));
            assert!(!has_more, "a line has no part in it at {level}:\n{slice}");
        };
        check(0, &[8, 9, 11, 15, 16, 25], &[7, 14, 18]);
        check(2, &[12, 15, 18, 26], &[14, 19]);
        check(4, &[15, 23, 24, 27], &[14, 21, 22]);
        std::fs::remove_dir_all(sandbox.path().join("run")).expect("the recording is removed");
    }
}

/// A pointer that lies in memory is shown as what it points to where it is compared.
#[test]
fn compared_pointers_are_no_numbers() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\n\
                  int main(int argc, char **argv) {\n\
                  \x20   char *end = NULL;\n\
                  \x20   long n = strtol(argv[1], &end, 10);\n\
                  \x20   if (end == argv[1])\n\
                  \x20       return 1;\n\
                  \x20   printf(\"%ld\\n\", n);\n\
                  \x20   return 0;\n\
                  }\n";
    let mut sandbox = Sandbox::with_program("number", source);
    sandbox.record("./number 12abc", "");
    let chain = sandbox.quietly("relapse slice run --output stdout@0 --chain");
    assert!(chain.contains("\"abc\"") && chain.contains("end = 0x"), "{chain}");
}

/// Lines of a function that stands within another one are marked, as they are counted.
#[test]
fn a_lambda_stands_within_its_function() {
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "lambda.cpp",
        "#include <cstdio>\nint main(int argc, char **argv) {\nint k = argc;\nauto g = [&](int c) {\nk += c;\n};\n\
         g(4);\nstd::printf(\"%d\\n\", k);\n}\n",
    );
    sandbox.quietly("relapse c++ -g -O1 -o lambda lambda.cpp");
    sandbox.record("./lambda", "");
    let text = sandbox.quietly("relapse slice run --output stdout@0");
    let marked = crate::sandbox::marked_lines(&text);
    assert!([3, 5, 8].iter().all(|line| marked.contains(line)), "{text}");
    assert!(text.contains(&format!("came from {} lines", marked.len())), "{text}");
}

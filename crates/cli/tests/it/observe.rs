//! What went wrong, found in the recordings of two versions of a program.

use crate::sandbox::Sandbox;
use explain::align::{Lines, Side, executed_functions, executed_lines, find, index_of};
use explain::observe::{Observed, Run, RunOutput, Sinks, observe};
use recording::Recording;
use replay::machine::Machine;
use replay::observer::{Effect, Null, Observer, View};
use replay::process::{LoadedProcess, Options};
use slice::{Occurrence, Wanted};
use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEADERS: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdarg.h>\n#include <stdio.h>\n\
                       #include <stdlib.h>\n#include <string.h>\n#include <sys/wait.h>\n#include <unistd.h>\n";

/// The same program in two versions, recorded.
struct Pair {
    _desk: Sandbox,
    good: Version,
    bad: Version,
    lines: HashMap<u32, u32>,
}

struct Version {
    root: PathBuf,
    recording: Recording,
    output: RunOutput,
}

impl Version {
    fn new(sandbox: &Sandbox, name: &str, source: &str, test: &str) -> Version {
        let root = sandbox.path().canonicalize().expect("the sandbox").join(name);
        std::fs::create_dir(&root).expect("a directory");
        std::fs::write(root.join("p.c"), source).expect("the source");
        let relapse = env!("CARGO_BIN_EXE_relapse");
        let built = Command::new(relapse)
            .args(["cc", "-g", "-O0", "-pthread", "-o", "p", "p.c"])
            .current_dir(&root)
            .output()
            .expect("the compiler");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let mut command = Command::new(relapse);
        command.args(["record", "--quiet", "-o", "rec", "--", "sh", "-c", test]).current_dir(&root);
        let run = crate::sandbox::feed(command, b"");
        let timed_out = test.starts_with("timeout") && run.status.code() == Some(137);
        let mut output = RunOutput {
            exit: run.status.code(),
            signal: run.status.signal(),
            timed_out,
            stdout: run.stdout,
            stderr: run.stderr,
            ..RunOutput::default()
        };
        if let Ok(content) = std::fs::read(root.join("out.txt")) {
            output.files.insert("out.txt".to_owned(), content);
        }
        let recording = Recording::open(&root.join("rec")).expect("a recording");
        Version { root, recording, output }
    }

    fn run(&self) -> Run<'_> {
        Run { recording: Some(&self.recording), root: &self.root, output: &self.output }
    }

    fn load(&self, process: usize) -> LoadedProcess {
        LoadedProcess::load(&self.recording, &self.recording.processes[process], &Options::default())
            .expect("a process")
    }
}

impl Pair {
    /// Versions that differ where `body` has `@`: good has the first text, bad
    /// the second.
    fn new(body: &str, good: &str, bad: &str, test: &str) -> Pair {
        let (good, bad) =
            (format!("{HEADERS}{}", body.replace('@', good)), format!("{HEADERS}{}", body.replace('@', bad)));
        let sandbox = Sandbox::new();
        Pair {
            good: Version::new(&sandbox, "good", &good, test),
            bad: Version::new(&sandbox, "bad", &bad, test),
            lines: same_lines(&good, &bad),
            _desk: sandbox,
        }
    }

    fn map(&self, file: &str, line: u32) -> Option<(String, u32)> {
        (file == "p.c").then_some(())?;
        Some((file.to_owned(), *self.lines.get(&line)?))
    }

    fn observe(&self) -> Observed {
        let map = |file: &str, line: u32| self.map(file, line);
        let observed =
            observe(self.good.run(), self.bad.run(), &map, Sinks::default()).expect("an observation");
        // Whatever is asked about must exist.
        let mut process = self.bad.load(observed.process);
        observed.prepare(&mut process);
        for c in &observed.criteria {
            stands_at(&process, c.at);
        }
        if let Some(good) = observed.good_process {
            let process = self.good.load(good);
            for c in &observed.good_criteria {
                stands_at(&process, c.at);
            }
        }
        observed
    }

    fn instruction(&self, observed: &Observed) -> String {
        let mut process = self.bad.load(observed.process);
        observed.prepare(&mut process);
        stands_at(&process, observed.criteria[0].at)
    }
}

/// The instruction of an occurrence, with its function and line.
fn stands_at(process: &LoadedProcess, at: Occurrence) -> String {
    struct Stand(u64, String);
    fn words(view: &View<'_>) -> String {
        format!("{}:{} {}", view.function().name, view.place().line - 8, view.inst())
    }
    impl Observer for Stand {
        fn step(&mut self, view: &View<'_>, _: Effect) {
            if view.count == self.0 {
                self.1 = words(view);
            }
        }
    }
    let stream = &process.streams[at.stream as usize].stream;
    let mut machine = Machine::new(&process.image, stream);
    let mut stand = Stand(at.step, String::new());
    machine.run(&mut stand, at.step + 1).expect("a replay");
    if stand.1.is_empty() {
        // The instruction that ended the program.
        assert_eq!(machine.counters().instructions, at.step);
        stand.1 = words(&machine.view().expect("an instruction"));
    }
    stand.1
}

/// Lines of bad to lines of good: those before the first difference and those
/// after the last.
fn same_lines(good: &str, bad: &str) -> HashMap<u32, u32> {
    let (good, bad): (Vec<&str>, Vec<&str>) = (good.lines().collect(), bad.lines().collect());
    let front = good.iter().zip(&bad).take_while(|(a, b)| a == b).count();
    let room = good.len().min(bad.len()) - front;
    let back = good.iter().rev().zip(bad.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    let head = (1..=front).map(|l| (l, l));
    let tail = (0..back).map(|i| (bad.len() - i, good.len() - i));
    head.chain(tail).map(|(b, g)| (b as u32, g as u32)).collect()
}

fn line_of(place: &Option<explain::answer::Place>) -> u32 {
    place.as_ref().map_or(0, |p| p.line - 8)
}

#[test]
fn a_failed_assertion_is_named_with_its_condition() {
    let pair = Pair::new(
        "int f(int x) {\n  int sum = x @ 1;\n  assert(sum == 4);\n  return 0;\n}\nint main(void) { return f(3); }\n",
        "+",
        "-",
        "./p",
    );
    let observed = pair.observe();
    assert_eq!(observed.observation.kind, "assertion");
    assert_eq!(observed.observation.summary, "the assertion `sum == 4` failed in f (p.c:11)");
    assert_eq!(observed.criteria[0].wanted, [Wanted::Ran]);
    assert!(pair.instruction(&observed).starts_with("f:3 call"), "{}", pair.instruction(&observed));
    assert_eq!(
        observed.observation.stack.iter().map(|p| p.function.as_str()).collect::<Vec<_>>(),
        ["f", "main"]
    );
    // In good, the condition that let it pass.
    assert_eq!(line_of(&observed.observation.good_place), 3);
    assert_eq!(observed.good_criteria[0].wanted, [Wanted::All]);
}

#[test]
fn abort_is_found_in_the_caller() {
    let pair = Pair::new(
        "int main(int argc, char **argv) {\n  if (argc > @)\n    abort();\n  return 0;\n}\n",
        "5",
        "0",
        "./p",
    );
    let observed = pair.observe();
    assert_eq!(observed.observation.kind, "abort");
    assert_eq!(observed.observation.summary, "the process called abort in main (p.c:11)");
    assert_eq!(line_of(&observed.observation.good_place), 2);
}

#[test]
fn a_crash_names_address_and_pointer() {
    let pair = Pair::new(
        "struct node { int v; struct node *next; };\nint sum(struct node *n) {\n  int s = 0;\n  while (@) {\n    s += n->v;\n    \
         n = n->next;\n  }\n  return s;\n}\nint main(void) {\n  struct node b = {2, 0}, a = {1, &b};\n  \
         printf(\"%d\\n\", sum(&a));\n  return 0;\n}\n",
        "n",
        "s < 100",
        "./p",
    );
    let observed = pair.observe();
    assert_eq!(observed.observation.kind, "signal");
    assert_eq!(
        observed.observation.summary,
        "the process was killed by SIGSEGV reading address 0x0 through `n` in sum (p.c:13)"
    );
    assert!(matches!(observed.criteria[0].wanted[..], [Wanted::Registers(_)]));
    assert!(pair.instruction(&observed).contains("load.i32"));
}

/// The member that lies where the pointer was read: of a union only the union is known.
#[test]
fn a_crash_names_the_member_of_a_member() {
    let members = "struct buffer { long size; char *data; };\n\
                   struct node { struct buffer content; struct node *next; \
                   union { char *text; long number; } as; struct buffer more[2]; };\n";
    for (pointer, name) in [
        ("n->as.text", "n->as"),
        ("n->content.data", "n->content.data"),
        ("n->more[1].data", "n->more[1].data"),
        ("own.content.data", "own.content.data"),
    ] {
        let source = format!(
            "#include <stdlib.h>\n{members}static struct node *volatile given;\n\
             int main(int argc, char **argv) {{\n  struct node *n = given = calloc(1, sizeof *n), own = {{ 0 }};\n  \
             own.next = given;\n  own.content.size = argc;\n  \
             return @ ? 0 : strlen({pointer}) + own.next->content.size;\n}}\n"
        );
        let observed = Pair::new(&source, "1", "argc > 5", "./p").observe();
        let summary = observed.observation.summary;
        assert!(summary.contains(&format!("through `{name}` in `strlen`")), "{pointer}: {summary}");
    }
}

#[test]
fn a_crash_inside_a_library_function_names_its_argument() {
    let pair = Pair::new(
        "int main(int argc, char **argv) {\n  const char *s = argc > @ ? \"abc\" : 0;\n  return strlen(s) != 3;\n}\n",
        "0",
        "1",
        "./p",
    );
    let observed = pair.observe();
    assert_eq!(
        observed.observation.summary,
        "the process was killed by SIGSEGV at address 0x0 through `s` in `strlen`, called in main (p.c:11)"
    );
    assert!(matches!(observed.criteria[0].wanted[..], [Wanted::Registers(_)]));
    assert_eq!(line_of(&observed.observation.good_place), 3);
}

#[test]
fn a_damaged_heap_is_followed_to_what_damaged_it() {
    let beyond = Pair::new(
        "int main(void) {\n  char *p = malloc(24), *q = malloc(24);\n  for (int i = 0; i < @; i++)\n    \
         p[i] = 'x';\n  free(q);\n  free(p);\n  return 0;\n}\n",
        "24",
        "40",
        "./p",
    );
    let observed = beyond.observe();
    let said = &observed.observation.summary;
    assert!(
        said.contains("wrote 1 byte, over the end of the block of 24 bytes allocated at p.c:10"),
        "{said}"
    );
    assert!(said.starts_with("the process was killed by SIGABRT in main (p.c:13)"), "{said}");
    assert_eq!(line_of(&observed.observation.place), 4);
    assert!(beyond.instruction(&observed).contains("store.i8"));
    let twice = Pair::new(
        "int main(void) {\n  char *p = malloc(24);\n  strcpy(p, \"x\");\n  if (@)\n    free(p);\n  \
         free(p);\n  return 0;\n}\n",
        "0",
        "1",
        "./p",
    );
    let observed = twice.observe();
    let said = &observed.observation.summary;
    assert!(said.contains("freed a block that was already freed at p.c:13, in main (p.c:14)"), "{said}");
    for (freed, to) in [
        ("p + 8", "8 bytes into the block allocated at p.c:11"),
        ("table + 4", "`table`"),
        ("(char *)\"constant\"", "a constant of the program"),
        ("local", "a local variable of main"),
    ] {
        let no_block = Pair::new(
            "char table[64];\nint main(void) {\n  char *p = malloc(24), local[32];\n  strcpy(local, \"x\");\n  \
             free(@);\n  return 0;\n}\n",
            "p",
            freed,
            "./p",
        );
        let said = no_block.observe().observation.summary;
        assert!(said.contains("it freed what is no block of the heap, ") && said.ends_with(to), "{said}");
    }
}

#[test]
fn the_exit_status_is_traced_to_what_decided_it() {
    let body = "int check(int v) { return v @ 3; }\nint main(void) {\n  int wrong = 0;\n  for (int i = 0; i < 4; i++)\n    \
                wrong += check(i);\n  END\n}\n";
    let by_return = Pair::new(&body.replace("END", "return wrong;"), ">", ">=", "./p").observe();
    assert_eq!(by_return.observation.kind, "exit-status");
    assert_eq!(
        by_return.observation.summary,
        "the exit status is 1, with good it was 0, decided by the return in main (p.c:14)"
    );
    assert!(matches!(by_return.criteria[0].wanted[..], [Wanted::Registers(_)]));
    let by_call = Pair::new(&body.replace("END", "exit(wrong);"), ">", ">=", "./p").observe();
    assert_eq!(
        by_call.observation.summary,
        "the exit status is 1, with good it was 0, decided by a call of exit in main (p.c:14)"
    );
    assert_eq!(by_call.good_criteria.len(), 1);
    // Where another exit was taken, that it was taken counts.
    let other = Pair::new(
        "int main(int argc, char **argv) {\n  if (argc > @)\n    exit(3);\n  return 0;\n}\n",
        "5",
        "0",
        "./p",
    )
    .observe();
    assert_eq!(other.criteria[0].wanted, [Wanted::Ran]);
    assert_eq!(line_of(&other.observation.place), 3);
}

/// Each process fails with the same status, on a line of its own.
#[test]
fn of_the_commands_of_a_script_the_last_one_decides_its_status() {
    let body = "int main(int argc, char **argv) {\n  if (argv[1][0] == 'a')\n    return @;\n  return @;\n}\n";
    for (test, line) in
        [("./p a; ./p b", 4), ("./p a | ./p b", 4), ("./p b; ./p a", 3), ("./p a && ./p b", 3)]
    {
        let observed = Pair::new(body, "0", "1", test).observe();
        assert_eq!(observed.observation.kind, "exit-status", "{test}");
        assert_eq!(line_of(&observed.observation.place), line, "{test}: {}", observed.observation.summary);
    }
}

#[test]
fn a_wrong_number_is_traced_to_its_argument() {
    let pair = Pair::new(
        "int total(int *v, int n) {\n  int t = 0;\n  for (int i = @; i < n; i++)\n    t += v[i];\n  return t;\n}\n\
         int main(void) {\n  int v[3] = {2, 4, 6};\n  puts(\"begin\");\n  int t = total(v, 3);\n  \
         printf(\"%s %d of %d\\n\", \"total\", t, 3);\n  return 0;\n}\n",
        "0",
        "1",
        "./p",
    );
    let observed = pair.observe();
    let observation = &observed.observation;
    assert_eq!(observation.kind, "output");
    assert_eq!(
        observation.summary,
        "stdout differs in line 2: good printed `total 12 of 3`, bad printed `total 10 of 3`; written in main (p.c:19)"
    );
    let output = observation.output.as_ref().expect("the difference");
    assert_eq!((output.sink.as_str(), output.offset, output.line), ("stdout", 13, 2));
    // The third argument of the model's call, nothing else.
    let call = pair.instruction(&observed);
    let Wanted::Registers(registers) = &observed.criteria[0].wanted[0] else { panic!("{observed:?}") };
    assert!(call.contains(&format!("i32 r{}, i32 3)", registers[0])), "{call}: {registers:?}");
    assert_eq!(observed.good_criteria.len(), 1);
}

#[test]
fn a_wrong_float_and_a_wrong_string_are_traced() {
    let float = Pair::new(
        "int main(int argc, char **argv) {\n  double d = argc * @;\n  printf(\"%.2f\\n\", d);\n  return 0;\n}\n",
        "1.5",
        "2.5",
        "./p",
    )
    .observe();
    assert!(matches!(float.criteria[0].wanted[..], [Wanted::Registers(_)]), "{float:?}");
    // A string that ends early: the byte that ends it.
    let pair = Pair::new(
        "int main(void) {\n  char s[10];\n  strcpy(s, \"@\");\n  printf(\"[%s]\\n\", s);\n  return 0;\n}\n",
        "abcdef",
        "abc",
        "./p",
    );
    let string = pair.observe();
    let [Wanted::Memory { address, len: 1 }, Wanted::Registers(_)] = string.criteria[0].wanted[..] else {
        panic!("{string:?}")
    };
    let process = pair.bad.load(string.process);
    let at = string.criteria[0].at;
    let mut machine = Machine::new(&process.image, &process.streams[0].stream);
    machine.run(&mut Null, at.step).expect("a replay");
    assert_eq!(machine.memory().peek_string(address - 3, 10), b"abc");
}

#[test]
fn raw_writes_are_traced_to_the_byte_or_the_length() {
    let body = "int main(void) {\n  char b[8] = \"aaaaaaa\";\n  b[INDEX] = 'x';\n  write(1, b, LENGTH);\n  \
                write(1, \"\\n\", 1);\n  return 0;\n}\n";
    let byte = Pair::new(&body.replace("INDEX", "@").replace("LENGTH", "5"), "3", "2", "./p").observe();
    assert_eq!(byte.observation.kind, "output");
    assert!(byte.criteria[0].wanted.iter().any(|w| matches!(w, Wanted::Memory { len: 1, .. })));
    let shorter = Pair::new(&body.replace("INDEX", "3").replace("LENGTH", "@"), "5", "4", "./p").observe();
    assert_eq!(shorter.observation.kind, "output");
    // The write that wrote less, not the line end behind it.
    assert_eq!(line_of(&shorter.observation.place), 4);
}

#[test]
fn stderr_and_files_are_looked_at() {
    let body = "int main(int argc, char **argv) {\n  int n = argc @ 1;\n  FILE *f = OPEN;\n  fprintf(f, \"one\\n\");\n  \
                fprintf(f, \"n %d\\n\", n);\n  fclose(f);\n  return 0;\n}\n";
    let stderr = Pair::new(&body.replace("OPEN", "stderr"), "+", "-", "./p").observe();
    assert_eq!(
        stderr.observation.summary,
        "stderr differs in line 2: good printed `n 2`, bad printed `n 0`; written in main (p.c:13)"
    );
    let file = Pair::new(&body.replace("OPEN", "fopen(\"out.txt\", \"w\")"), "+", "-", "./p").observe();
    assert_eq!(
        file.observation.summary,
        "out.txt differs in line 2: good wrote `n 2`, bad wrote `n 0`; written in main (p.c:13)"
    );
    assert!(matches!(file.criteria[0].wanted[..], [Wanted::Registers(_)]));
}

const ITEMS: &str = "void show(int i, int last) {\n  @\n  printf(\"item %d\\n\", i);\n}\nint main(void) {\n  \
                     for (int i = 0; i < 4; i++)\n    show(i, i == 2);\n  puts(\"end\");\n  return 0;\n}\n";

#[test]
fn a_lost_message_leads_to_the_branch_that_avoided_it() {
    let pair = Pair::new(ITEMS, "", "if (last) return;", "./p");
    let observed = pair.observe();
    assert_eq!(observed.observation.kind, "missing-output");
    assert_eq!(
        observed.observation.summary,
        "stdout differs in line 3: good printed `item 2`, bad printed `item 3`; what decided against it is in show (p.c:10)"
    );
    assert_eq!(observed.criteria[0].wanted, [Wanted::All]);
    assert!(pair.instruction(&observed).contains("branch"));
    assert_eq!(line_of(&observed.observation.good_place), 3);
    assert_eq!(observed.good_criteria[0].wanted, [Wanted::Ran]);
}

#[test]
fn an_extra_message_is_asked_why_it_ran() {
    let observed = Pair::new(ITEMS, "if (last) return;", "", "./p").observe();
    assert_eq!(observed.observation.kind, "extra-output");
    assert_eq!(observed.criteria[0].wanted, [Wanted::Ran]);
    assert_eq!(line_of(&observed.observation.place), 3);
    assert_eq!(line_of(&observed.observation.good_place), 2);
}

#[test]
fn an_output_that_stops_leads_to_the_loop_or_the_exit() {
    let body = "int main(void) {\n  for (int i = 0; i < @; i++)\n    printf(\"%d\\n\", i);\n  return 0;\n}\n";
    let pair = Pair::new(body, "6", "4", "./p");
    let observed = pair.observe();
    assert_eq!(observed.observation.kind, "missing-output");
    assert_eq!(
        observed.observation.summary,
        "stdout ends before line 5: good printed `4`, bad nothing more; what decided against it is in main (p.c:10)"
    );
    assert!(pair.instruction(&observed).starts_with("main:2 branch"), "{}", pair.instruction(&observed));
    let body = "void step(int i) {\n  if (i > @)\n    exit(0);\n}\nint main(void) {\n  for (int i = 0; i < 4; i++) {\n    \
                step(i);\n    printf(\"%d\\n\", i);\n  }\n  return 0;\n}\n";
    let ended = Pair::new(body, "9", "1", "./p").observe();
    assert_eq!(
        ended.observation.summary,
        "stdout ends before line 3: good printed `2`, bad nothing more; the process ended before, in step (p.c:11)"
    );
    assert_eq!(ended.criteria[0].wanted, [Wanted::Ran]);
}

#[test]
fn deleted_code_is_named_by_its_neighbour() {
    let observed = Pair::new(
        "int main(void) {\n  puts(\"a\");\n  @\n  puts(\"c\");\n  return 0;\n}\n",
        "puts(\"b\");",
        "",
        "./p",
    )
    .observe();
    assert_eq!(observed.observation.kind, "missing-output");
    assert_eq!(
        observed.observation.summary,
        "stdout differs in line 2: good printed `b`, bad printed `c`; the code that wrote it is gone, \
         it followed what is in main (p.c:10)"
    );
}

#[test]
fn the_other_branch_is_asked_for_what_and_why() {
    let observed = Pair::new(
        "int main(int argc, char **argv) {\n  if (argc > @)\n    puts(\"yes\");\n  else\n    puts(\"no\");\n  return 0;\n}\n",
        "0",
        "1",
        "./p",
    )
    .observe();
    assert_eq!(observed.observation.kind, "output");
    assert!(observed.criteria[0].wanted.contains(&Wanted::Ran));
    assert_eq!(line_of(&observed.observation.place), 5);
    assert_eq!(line_of(&observed.observation.good_place), 3);
}

#[test]
fn a_hang_is_a_loop_or_a_wait() {
    // No call in the loop: the recording ends before it has gone round.
    let quiet = Pair::new(
        "int main(void) {\n  unsigned i = 9, n = 0;\n  for (int k = 0; k < 3; k++)\n    n += k;\n  while (i != 0) {\n    \
         i -= @;\n    n++;\n  }\n  return n == 0;\n}\n",
        "3",
        "2 - (i & 1) * 2",
        "timeout -s KILL 2 ./p",
    );
    let observed = quiet.observe();
    assert_eq!(observed.observation.kind, "hang");
    assert_eq!(
        observed.observation.summary,
        "the test did not end in time: it was in a loop in main (p.c:13) that did not end"
    );
    assert!(quiet.instruction(&observed).starts_with("main:5 branch"), "{}", quiet.instruction(&observed));
    assert_eq!(observed.horizon.len(), 1);
    assert_eq!(line_of(&observed.observation.good_place), 5);
    // Calls in the loop, and a finished loop inside. It sleeps so that seconds
    // leave few instructions: a loaded machine needs them to start a program.
    let calls = Pair::new(
        "int next(int i) {\n  int s = usleep(2000);\n  for (int k = 0; k < 3; k++)\n    s += k;\n  return i + (i @ 5) + s - 3;\n}\n\
         int main(void) {\n  int i = 0;\n  while (i < 10)\n    i = next(i);\n  return 0;\n}\n",
        "<= 9 || i ==",
        "!=",
        "timeout -s KILL 3 ./p",
    );
    assert_eq!(line_of(&calls.observe().observation.place), 9);
    let wait = Pair::new(
        "int main(void) {\n  int p[2], c;\n  pipe(p);\n  if (@)\n    close(p[1]);\n  return read(p[0], &c, 1) != 0;\n}\n",
        "1",
        "0",
        "timeout -s KILL 3 ./p",
    );
    assert_eq!(
        wait.observe().observation.summary,
        "the test did not end in time: it was waiting in `read`, called in main (p.c:14)"
    );
}

#[test]
fn the_writing_process_is_found_among_several() {
    let fork = Pair::new(
        "int main(int argc, char **argv) {\n  puts(\"parent\");\n  fflush(stdout);\n  if (fork() == 0) {\n    int v = argc @ 1;\n    \
         printf(\"child %d\\n\", v);\n    exit(0);\n  }\n  wait(0);\n  puts(\"done\");\n  return 0;\n}\n",
        "+",
        "-",
        "./p",
    );
    let observed = fork.observe();
    assert_eq!(
        observed.observation.summary,
        "stdout differs in line 2: good printed `child 2`, bad printed `child 0`; written in main (p.c:14)"
    );
    assert!(fork.bad.recording.processes[observed.process].info.forked_from.is_some());
    let body = "int main(int argc, char **argv) {\n  char line[80];\n  int n = 0;\n  if (argc > 1) {\n    \
                while (fgets(line, 80, stdin)) {\n      n @ 1;\n      fputs(line, stdout);\n    }\n    \
                printf(\"n %d\\n\", n);\n  } else\n    puts(\"hello\");\n  return 0;\n}\n";
    let pipeline = Pair::new(body, "+=", "-=", "./p | ./p x").observe();
    assert_eq!(
        pipeline.observation.summary,
        "stdout differs in line 2: good printed `n 1`, bad printed `n -1`; written in main (p.c:17)"
    );
    // Changed on the way by a program that is not recorded.
    let filtered = Pair::new(body, "+=", "-=", "./p | ./p x | tr a-z A-Z").observe();
    assert_eq!(filtered.observation.kind, "output");
    assert_eq!(line_of(&filtered.observation.place), 9);
    assert_eq!(
        filtered.notes,
        ["in the test's own output: stdout differs in line 2: good printed `N 1`, bad printed `N -1`"]
    );
    // Looked at by a script only.
    let script = Pair::new(body, "+=", "-=", "test \"$(./p | ./p x | tail -n 1)\" = 'n 1'").observe();
    assert_eq!(line_of(&script.observation.place), 9);
}

#[test]
fn a_thread_is_found_by_its_order() {
    let pair = Pair::new(
        "static void *work(void *p) {\n  int i = *(int *)p;\n  printf(\"t%d\\n\", i @ i);\n  fflush(stdout);\n  return 0;\n}\n\
         int main(void) {\n  int ids[3] = {0, 1, 2};\n  for (int i = 0; i < 3; i++) {\n    pthread_t t;\n    \
         pthread_create(&t, 0, work, ids + i);\n    pthread_join(t, 0);\n  }\n  return 0;\n}\n",
        "+",
        "*",
        "./p",
    );
    let observed = pair.observe();
    assert_eq!(observed.observation.kind, "output");
    // 0 and 4 are the same either way; 1 is not.
    assert_eq!(observed.criteria[0].at.stream, 2);
    assert_eq!(observed.good_criteria[0].at.stream, 2);
}

#[test]
fn what_no_recorded_process_did_is_unknown() {
    let pair = Pair::new(
        "int main(int argc, char **argv) {\n  return argc > 1 ? @ : 0;\n}\n",
        "1",
        "2",
        "./p x; test $? = 1 && echo fine; true",
    );
    let observed = pair.observe();
    assert_eq!(observed.observation.kind, "unknown");
    assert_eq!(
        observed.observation.summary,
        "the exit status is 2, with good it was 1, decided by the return in main (p.c:10)"
    );
    assert_eq!(observed.criteria.len(), 1);
}

#[test]
fn a_failure_that_recorded_runs_do_not_show_is_not_told_as_one() {
    let source = "int main(int argc, char **argv) {\n  return argc @ 0;\n}\n";
    let observed = Pair::new(source, "<", "< 0 *", "./p").observe();
    assert_eq!(observed.observation.kind, "unknown");
    assert_eq!(
        observed.observation.summary,
        "the failure does not show when bad is recorded: the test ended with exit status 0, as with good"
    );
    assert!(observed.criteria.is_empty());
}

#[test]
fn without_a_recording_of_good_the_byte_is_still_found() {
    let pair = Pair::new(
        "int main(int argc, char **argv) {\n  int n = argc @ 1;\n  printf(\"n %d\\n\", n);\n  return 0;\n}\n",
        "+",
        "-",
        "./p",
    );
    let map = |file: &str, line: u32| pair.map(file, line);
    let good = Run { recording: None, ..pair.good.run() };
    let observed = observe(good, pair.bad.run(), &map, Sinks::default()).expect("an observation");
    assert_eq!(line_of(&observed.observation.place), 3);
    assert!(matches!(observed.criteria[0].wanted[..], [Wanted::Registers(_), Wanted::Ran]));
    assert_eq!(observed.good_process, None);
}

#[test]
fn moments_are_found_in_the_other_run() {
    // The inner loop goes round once more in bad, and a line is new.
    let pair = Pair::new(
        "int inner(int n) {\n  int s = 0;\n  for (int i = 0; i < n; i++)\n    s += i;\n  return s;\n}\n\
         int main(void) {\n  int t = 0;\n  for (int k = 0; k < 3; k++) {\n    @\n    t += inner(k);\n    t *= 2;\n  }\n  \
         return t > 100;\n}\n",
        "",
        "t += inner(7);",
        "./p",
    );
    let (good, bad) = (pair.good.load(0), pair.bad.load(0));
    let map = |file: &str, line: u32| pair.map(file, line);
    let lines = Lines::new(&map, &pair.good.root, &pair.bad.root, &bad.image);
    let count = |process: &LoadedProcess| {
        let mut machine = Machine::new(&process.image, &process.streams[0].stream);
        machine.run(&mut Null, u64::MAX).expect("a replay");
        machine.counters().instructions
    };
    let all: Vec<Occurrence> = (0..count(&good)).map(|step| Occurrence { stream: 0, step }).collect();
    let indices: Vec<_> = index_of(&good, 0, &all, Side::Good, &lines)
        .expect("a replay")
        .into_iter()
        .map(|i| i.expect("an index"))
        .collect();
    let different: std::collections::HashSet<u128> = indices.iter().map(|i| i.hash).collect();
    assert_eq!(different.len(), all.len(), "every moment has a name of its own");
    let found = find(&bad, 0, &indices, Side::Bad, &lines).expect("a replay");
    for ((at, index), found) in all.iter().zip(&indices).zip(&found) {
        let exact = found.exact.unwrap_or_else(|| panic!("{index:?} is not in bad"));
        let (ours, theirs) = (stands_at(&good, *at), stands_at(&bad, exact));
        let function = |s: &str| s.split(':').next().map(str::to_owned);
        assert_eq!(function(&ours), function(&theirs));
    }
    // In order, and the new call's moments are nobody's.
    assert!(found.is_sorted_by_key(|f| f.exact));
    assert!(count(&bad) > count(&good));
    let lines_of = |p: &LoadedProcess| executed_lines(p).expect("a replay");
    let path = |v: &Version| v.root.join("p.c").display().to_string();
    assert_eq!(lines_of(&good).get(&(path(&pair.good), 20)), Some(&3));
    assert_eq!(lines_of(&good).get(&(path(&pair.good), 18)), None);
    assert_eq!(lines_of(&bad).get(&(path(&pair.bad), 18)), Some(&3));
    assert_eq!(executed_functions(&bad).expect("a replay").get("inner"), Some(&6));
    assert!(Path::new(&path(&pair.good)).exists());
}

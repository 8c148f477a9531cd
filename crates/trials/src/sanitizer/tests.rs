//! Real programs, compiled as the compiler driver compiles them.

use super::*;
use std::process::Output;

/// A tree with one program.
struct Program {
    dir: tempfile::TempDir,
}

impl Program {
    /// Compiles `text` for a sanitizer.
    fn new(sanitizer: Sanitizer, text: &str) -> Program {
        let program = Program { dir: tempfile::tempdir().unwrap() };
        let tree = program.tree();
        fs::create_dir_all(tree.join("src")).unwrap();
        fs::write(tree.join("src/program.c"), text).unwrap();
        let word = sanitizer.word();
        let origins = (sanitizer == Sanitizer::Memory).then_some("-fsanitize-memory-track-origins");
        let compiled = Command::new("clang-22")
            .args([format!("-fsanitize={word}"), format!("-fsanitize-recover={word}")])
            .args(origins)
            .args(["-O1", "-g", "-fno-omit-frame-pointer", "-fuse-ld=lld", "-o", "program", "src/program.c"])
            .arg(format!("-ffile-prefix-map={}=.", tree.display()))
            .current_dir(&tree)
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        program
    }

    /// A path with a space and a colon.
    fn tree(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("the tree: 1")
    }

    /// Its reports, without the memory they refer to.
    fn run(&self, words: &[&str]) -> (Output, Vec<Report>) {
        let (output, reports) = self.run_whole(words);
        (output, reports.into_iter().map(|report| Report { object: None, ..report }).collect())
    }

    fn run_whole(&self, words: &[&str]) -> (Output, Vec<Report>) {
        let logs = self.dir.path().join("logs: 1");
        let _ = fs::remove_dir_all(&logs);
        fs::create_dir(&logs).unwrap();
        let output = Command::new(self.tree().join("program"))
            .args(words)
            .current_dir(self.tree())
            .envs(environment(&logs))
            .output()
            .unwrap();
        let reports = reports(&logs, &self.tree(), Path::new("llvm-symbolizer-22")).unwrap();
        (output, reports)
    }
}

fn report(kind: &str, function: &str, line: u32, access: Option<Access>) -> Report {
    Report {
        kind: kind.to_owned(),
        function: Some(function.to_owned()),
        file: Some("src/program.c".into()),
        line: Some(line),
        access,
        object: None,
    }
}

const MEMORY_ERRORS: &str = r#"#include <stdlib.h>
#include <string.h>
static char table[8] = "1234567";
__attribute__((noinline)) int heap(int n) {
  char *volatile p = calloc(1, 10);
  return p[n + 9] == 77;
}
__attribute__((noinline)) int stack(int n) {
  volatile char buffer[8];
  memcpy((char *)buffer, table, 8);
  return buffer[n + 7] == 77;
}
__attribute__((noinline)) int after_free(int n) {
  char *volatile p = malloc(16);
  memset(p, n, 16);
  free(p);
  if (n > 2)
    p[1] = 3;
  return p[1] == 77;
}
__attribute__((noinline)) int in_library(int n) {
  char to[16], *volatile p = malloc(4);
  memset(p, 1, 4);
  memcpy(to, p, n + 4);
  return to[0] == 77;
}
int main(int n, char **v) {
  switch (n > 1 ? v[1][0] : 0) {
  case 'h': return 10 + heap(1);
  case 's': return 20 + stack(1);
  case 'f': return 30 + after_free(n);
  case 'l': return 40 + in_library(n);
  case 'a': abort();
  case 'v': *(volatile int *)0 = 1;
  case 'm': { char *volatile p = malloc((size_t)1 << 62); return p == 0 ? 60 : 61; }
  case 'd': { char *volatile p = malloc(4); free(p); free(p); return 70; }
  }
  return 50;
}
"#;

#[test]
fn address_errors_are_named_and_programs_end_as_they_would() {
    let program = Program::new(Sanitizer::Address, MEMORY_ERRORS);
    let read = Some(Access::Read);
    for (word, code, expected) in [
        ("heap", 10, vec![report("heap-buffer-overflow", "heap", 6, read)]),
        ("free", 30, vec![report("heap-use-after-free", "after_free", 19, read)]),
        ("stack", 20, vec![report("stack-buffer-overflow", "stack", 11, read)]),
        (
            // Writing there destroys the sanitizer's metadata in freed memory.
            "free after writing",
            FATAL,
            vec![
                report("heap-use-after-free", "after_free", 18, Some(Access::Write)),
                report("heap-use-after-free", "after_free", 19, read),
            ],
        ),
        // The innermost frame is the sanitizer's own `memcpy`.
        ("library", 40, vec![report("heap-buffer-overflow", "in_library", 24, read)]),
        ("double", 70, vec![report("double-free", "main", 36, None)]),
        ("memory", 60, vec![]),
        ("clean", 50, vec![]),
    ] {
        let (output, found) = program.run(&word.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(code), "{word}");
        assert_eq!(found, expected, "{word}");
        // The test's output contains nothing of it.
        assert!(output.stderr.is_empty() && output.stdout.is_empty(), "{word}");
    }
}

#[test]
fn signals_stay_signals() {
    use std::os::unix::process::ExitStatusExt;
    let program = Program::new(Sanitizer::Address, MEMORY_ERRORS);
    for (word, signal) in [("abort", 6), ("violation", 11)] {
        let (output, found) = program.run(&[word]);
        assert_eq!(output.status.signal(), Some(signal), "{word}");
        assert_eq!(found, []);
    }
}

const DECISION: &str = r#"#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static int decide(const int *p) {
  static volatile int count;
  if (*p > 3)
    count++;
  return count;
}
static inline __attribute__((always_inline)) int through(const int *p) {
  return decide(p);
}
int main(int n, char **v) {
  (void)v;
  int *p = malloc(2 * sizeof *p), sum = 0;
  if (n > 1)
    p[0] = p[1] = 7;
  for (int i = 0; i < 100; i++)
    sum += through(p + i % 2);
  printf("done%s\n", sum < 0 ? "?" : "");
  return 9;
}
"#;

#[test]
fn a_branch_on_what_is_not_initialised() {
    let program = Program::new(Sanitizer::Memory, DECISION);
    let (output, found) = program.run(&[]);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(9), &b"done\n"[..]));
    assert_eq!(found, [report("use-of-uninitialized-value", "decide", 5, None)]);
    let (output, found) = program.run(&["initialised"]);
    assert_eq!((output.status.code(), found), (Some(9), vec![]));
}

#[test]
fn what_happened_first_comes_first() {
    let text = "#include <stdlib.h>\n__attribute__((noinline)) int z(char *p) { return p[9]; }\n\
                __attribute__((noinline)) int a(char *p) { return p[10]; }\n\
                int main(int n, char **v) { (void)v; char *p = calloc(1, 8 + n); return z(p) + a(p) + z(p); }\n";
    let (_, found) = Program::new(Sanitizer::Address, text).run(&[]);
    let read = Some(Access::Read);
    let expected =
        [report("heap-buffer-overflow", "z", 2, read), report("heap-buffer-overflow", "a", 3, read)];
    assert_eq!(found, expected);
}

#[test]
fn reports_of_all_processes_of_a_run() {
    let text = r#"#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int one(char *p) { return p[10]; }
__attribute__((noinline)) int two(char *p) { return p[11]; }
int main(int n, char **v) {
  (void)v;
  char *p = calloc(1, 9 + n);
  volatile int sum = 0;
  for (int i = 0; i < 3; i++)
    if (fork() == 0) {
      sum += one(p);
      _exit(4);
    }
  int status, all = 0;
  while (wait(&status) > 0)
    all += WEXITSTATUS(status);
  sum += two(p);
  return all;
}
"#;
    let program = Program::new(Sanitizer::Address, text);
    let (output, found) = program.run(&[]);
    assert_eq!(output.status.code(), Some(12));
    let read = Some(Access::Read);
    let expected =
        [report("heap-buffer-overflow", "one", 4, read), report("heap-buffer-overflow", "two", 5, read)];
    assert_eq!(found, expected);
}

#[test]
fn lines_do_not_make_a_report_new() {
    let one = report("heap-buffer-overflow", "f", 3, Some(Access::Read));
    let shifted = Report { line: Some(7), access: Some(Access::Write), ..one.clone() };
    let others = [
        report("heap-use-after-free", "f", 3, None),
        report("heap-buffer-overflow", "g", 3, None),
        Report { file: None, ..one.clone() },
    ];
    assert_eq!(new_reports(&[shifted], &[&[], std::slice::from_ref(&one)]), []);
    assert_eq!(new_reports(&others, &[&[one]]), others);
}

#[test]
fn logs_that_end_in_the_middle() {
    let whole = "==7==ERROR: AddressSanitizer: attempting double-free on 0x1 in thread T0:\n    #0 0x1  (/a (b)/c+0x12) (BuildId: x)\n\
                 \x20   #1 0x2  (<unknown module>)\n\nfreed by thread T0 here:\n    #0 0x3  (/d+0x3)\n\
                 SUMMARY: AddressSanitizer: double-free (/a (b)/c+0x12) in f\n";
    let stack = vec![("/a (b)/c".to_owned(), "0x12".to_owned())];
    let [report] = &parse(whole)[..] else { panic!("{:?}", parse(whole)) };
    assert_eq!((report.kind.as_str(), report.access, &report.stack), ("double-free", None, &stack));
    assert_eq!(report.object.freed, [("/d".to_owned(), "0x3".to_owned())]);
    for end in 0..whole.len() {
        assert!(parse(&whole[..end]).len() <= 1);
    }
    assert_eq!(parse("==7==WARNING: AddressSanitizer failed to allocate 0x1 bytes\n"), []);
}

#[test]
fn memory_is_named_with_both_places() {
    let program = Program::new(Sanitizer::Address, MEMORY_ERRORS);
    let at = "src/program.c";
    for (word, expected) in [
        ("heap", format!("heap ({at}:6) reads past the end of the block allocated at {at}:5")),
        (
            "free",
            format!(
                "after_free ({at}:19) reads the block allocated at {at}:14, after it was freed at {at}:16"
            ),
        ),
        ("stack", format!("stack ({at}:11) reads past the end of `buffer`, declared at {at}:9")),
        ("library", format!("in_library ({at}:24) reads past the end of the block allocated at {at}:22")),
        ("double", format!("main ({at}:36) frees a block that was freed at {at}:36 already")),
    ] {
        let (_, found) = program.run_whole(&[word]);
        let sentences: Vec<String> = found.iter().map(Report::sentence).collect();
        assert_eq!(sentences, [expected], "{word}");
    }
    let global = "char table[8];\nint main(int n, char **v) { (void)v; table[n + 7] = 1; return 0; }\n";
    let (_, found) = Program::new(Sanitizer::Address, global).run_whole(&[]);
    assert_eq!(found[0].sentence(), format!("main ({at}:2) writes past the end of `table`"));
    let (_, found) = Program::new(Sanitizer::Memory, DECISION).run_whole(&[]);
    let expected =
        format!("decide ({at}:5) uses memory of the block allocated at {at}:14 that was never written");
    assert_eq!(found[0].sentence(), expected);
    let freed = "#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **v) {\n  (void)v;\n\
        \x20 volatile int *p = malloc(sizeof *p);\n  *p = n;\n  free((void *)p);\n  if (*p)\n    puts(\"set\");\n\
        \x20 return 0;\n}\n";
    let (_, found) = Program::new(Sanitizer::Memory, freed).run_whole(&[]);
    let expected = format!("main ({at}:8) uses memory of a block that was freed at {at}:7");
    assert_eq!(found[0].sentence(), expected);
    let local = "#include <stdio.h>\nint main(int n, char **v) {\n  (void)v;\n  volatile int mask;\n  if (n > 1)\n                     mask = 1;\n  if (mask)\n    puts(\"set\");\n  return 0;\n}\n";
    let (_, found) = Program::new(Sanitizer::Memory, local).run_whole(&[]);
    let sentence = found[0].sentence();
    assert!(sentence.starts_with(&format!("main ({at}:7) uses `mask`")), "{sentence}");
    assert!(sentence.ends_with(", before anything was written to it"), "{sentence}");
}

//! Questions about input that have no answer: each gets a sentence that says what was tried and what
//! to do, and an exit code.

use crate::sandbox::{Sandbox, feed};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Whether the first eight bytes of standard input have the same sum as the argument. No solver
/// finds other bytes with that sum in a moment.
const SUM: &str = r#"#include <stdio.h>
#include <string.h>
static unsigned long long sum(const char *text) {
    unsigned long long h = 1469598103934665603ull;
    for (int i = 0; i < 8; i++) {
        h = (h ^ (unsigned char)text[i]) * 1099511628211ull;
        h ^= h >> 29;
        h *= 0x9e3779b97f4a7c15ull;
    }
    return h;
}
int main(int argc, char **argv) {
    char text[9] = "";
    if (argc < 2 || strlen(argv[1]) != 8 || fread(text, 1, 8, stdin) != 8)
        return 2;
    if (LEFT == sum(argv[1]))
        puts("same");
    return 0;
}
"#;

/// A sandbox with the program, recorded into `run`.
fn sums() -> Sandbox {
    let mut sandbox = Sandbox::with_program("p", &SUM.replace("LEFT", "sum(text)"));
    sandbox.record("./p password", "password");
    sandbox
}

/// A solver made of a shell script.
fn script(sandbox: &Sandbox, name: &str, body: &str) {
    let path = sandbox.file(name, &format!("#!/bin/sh\n{body}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a script");
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// What a command says on standard error, with this exit code.
fn refused(sandbox: &Sandbox, line: &str, code: i32) -> String {
    let output = sandbox.execute(line, "");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(code), "{line}: {text}");
    text
}

#[test]
fn a_solver_that_is_too_slow_is_left_alone_and_said_so() {
    let sandbox = sums();
    script(&sandbox, "slow", "exec sleep 1000");
    let start = Instant::now();
    let text =
        refused(&sandbox, "relapse path run --only stdin --solve --solver ./slow --timeout 1 --budget 2", 1);
    assert!(text.contains("no other input was found: 8 input bytes could not be decided"), "{text}");
    assert!(text.contains("no answer within 1 s") && text.contains("--timeout"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(60), "it waited for the script");
}

#[test]
fn a_solver_that_ends_or_talks_nonsense_is_named() {
    let sandbox = sums();
    script(&sandbox, "dies", "echo out of order >&2; exit 3");
    let ask = "relapse path run --only stdin --solve --budget 1 --solver";
    let text = refused(&sandbox, &format!("{ask} ./dies"), 5);
    assert!(text.contains("dies, which ended") && text.contains("Try another solver"), "{text}");
    script(&sandbox, "babbles", "while read line; do echo good morning; done");
    let text = refused(&sandbox, &format!("{ask} ./babbles"), 5);
    assert!(text.contains("babbles") && text.contains("Try another solver"), "{text}");
}

#[test]
fn a_solver_that_is_not_there_is_said_so() {
    let mut sandbox = sums();
    for command in ["path run --solve", "alternate run run --anyway", "slice run --output stdout@0 --why"] {
        let text = refused(&sandbox, &format!("relapse {command} --solver ./nowhere"), 2);
        assert!(text.contains("the solver `./nowhere` cannot be started: No such file"), "{text}");
    }
    // Nothing is installed at all: what is easy is answered, what is hard is not.
    let bare = |sandbox: &Sandbox, line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relapse"));
        command.args(line.split_whitespace()).current_dir(sandbox.path()).env("PATH", "/nowhere");
        feed(command, b"")
    };
    let output = bare(&sandbox, "path run --only stdin --solve --budget 1");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(text.contains("no solver was given") && text.contains("Install cvc5"), "{text}");
    sandbox.file(
        "easy.c",
        "#include <stdio.h>\nint main(void) {\n    if (getchar() > 'a')\n        puts(\"late\");\n}\n",
    );
    sandbox.quietly("relapse cc -g -o easy easy.c");
    sandbox.execute("relapse record --quiet -o easy-run -- ./easy", "b");
    let output = bare(&sandbox, "path easy-run --solve --input-dir found");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("(1 byte changed)") && text.contains("took the same way"), "{text}");
}

#[test]
fn conditions_that_are_too_large_are_not_begun() {
    let sandbox = sums();
    let text = refused(&sandbox, "relapse path run --largest 10", 1);
    assert!(text.contains("parts, more than 10") && text.contains("--only"), "{text}");
    let text = refused(&sandbox, "relapse alternate run run --anyway --largest 10", 1);
    assert!(text.contains("old version") && text.contains("--largest"), "{text}");
}

/// Two versions that disagree about the sum: nothing is found, and nothing is claimed.
#[test]
fn alternate_inputs_without_answers_are_no_equal_conditions() {
    let mut sandbox = Sandbox::new();
    for (version, left) in [("old", "sum(text)"), ("new", "sum(text) + (text[0] == 'p')")] {
        sandbox.file(&format!("{version}.c"), &SUM.replace("LEFT", left));
        sandbox.quietly(&format!("relapse cc -g -o {version} {version}.c"));
        let line = format!("relapse record --quiet -o run-{version} -- ./{version} password");
        sandbox.execute(&line, "password");
    }
    script(&sandbox, "slow", "exec sleep 1000");
    let ask = "relapse alternate run-old run-new --only stdin --direction a --timeout 1 --budget 8 --solver";
    let output = sandbox.execute(&format!("{ask} ./slow"), "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}{}", said(&output));
    assert!(text.contains("not every question has an answer"), "{text}");
    assert!(text.contains("no answer within 1 s"), "{text}");
    script(&sandbox, "dies", "exit 3");
    let output = sandbox.execute(&format!("{ask} ./dies"), "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}{}", said(&output));
    assert!(text.contains("dies, which ended") && !text.contains("exactly the same take"), "{text}");
}

const CHILD: &str = r#"#include <stdio.h>
int main(void) {
    char text[8] = "";
    FILE *child = popen("echo 5", "r");
    if (!child || !fgets(text, sizeof text, child))
        return 2;
    if (text[0] > LIMIT)
        puts("more");
    pclose(child);
    return 0;
}
"#;

#[test]
fn input_that_nobody_can_replace_is_left_as_it_is() {
    let mut sandbox = Sandbox::new();
    for (version, limit) in [("old", "'4'"), ("new", "'5'")] {
        sandbox.file(&format!("{version}.c"), &CHILD.replace("LIMIT", limit));
        sandbox.quietly(&format!("relapse cc -g -o {version} {version}.c"));
        sandbox.execute(&format!("relapse record --quiet -o run-{version} -- ./{version}"), "");
    }
    let text = refused(&sandbox, "relapse alternate run-old run-new", 1);
    assert!(text.contains("neither version reads any input that could be changed"), "{text}");
    let text = sandbox.quietly("relapse path run-old --solve --input-dir found");
    assert!(text.contains("Not tried: it has bytes of pipe"), "{text}");
}

const FORKED: &str = r#"#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    if (fork() == 0) {
        if (getchar() > LIMIT)
            puts("more");
        return 0;
    }
    wait(NULL);
    return 0;
}
"#;

#[test]
fn a_forked_process_cannot_be_run_again_by_itself() {
    let mut sandbox = Sandbox::new();
    for (version, limit) in [("old", "'4'"), ("new", "'5'")] {
        sandbox.file(&format!("{version}.c"), &FORKED.replace("LIMIT", limit));
        sandbox.quietly(&format!("relapse cc -g -o {version} {version}.c"));
        sandbox.execute(&format!("relapse record --quiet -o run-{version} -- ./{version}"), "5");
    }
    let text = refused(&sandbox, "relapse alternate run-old run-new", 5);
    assert!(text.contains("forked by another recorded one"), "{text}");
    assert!(text.contains("Every input is tried before it is reported"), "{text}");
    let text = sandbox.quietly("relapse path run-old --solve --input-dir found");
    assert!(text.contains("Not tried: the process was forked"), "{text}");
}

//! `relapse path`.

use crate::sandbox::Sandbox;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

const PROGRAM: &str = r#"#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    char word[16] = "";
    FILE *f = fopen("word.txt", "r");
    if (f && fread(word, 1, 4, f) == 4 && memcmp(word, "open", 4) == 0)
        puts("opened");
    int c = getchar();
    if (c == 'x' || c > 'z')
        puts("late");
    if (argc > 1 && argv[1][0] == '-')
        puts("option");
    return argc > 1 && argv[1][1] == 'v';
}
"#;

fn recorded() -> Sandbox {
    let mut sandbox = Sandbox::with_program("p", PROGRAM);
    sandbox.file("word.txt", "open sesame");
    sandbox.record("./p -v", "x");
    sandbox
}

#[test]
fn decisions_are_listed_with_their_places() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse path run");
    for needed in ["p.c:7  main", "p.c:10  main", "stdin[0]", "argv[1][0] == '-'", "file \"word.txt\""] {
        assert!(text.contains(needed), "{needed} is missing in\n{text}");
    }
    let only = sandbox.quietly("relapse path run --only stdin");
    assert!(only.contains("stdin[0]") && !only.contains("argv"), "{only}");
}

#[test]
fn a_solver_finds_an_input_and_it_is_tried() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse path run --solve --input-dir found");
    assert!(text.contains("took the same way"), "{text}");
    let word = std::fs::read(sandbox.path().join("found/files/word.txt")).expect("the file");
    assert_eq!(&word[..4], b"open", "what was compared is as it was");
    let argument = std::fs::read(sandbox.path().join("found/argv.1")).expect("the argument");
    assert_eq!(argument.len(), 2);
    assert_eq!(argument[0], b'-');
    let stdin = std::fs::read(sandbox.path().join("found/stdin")).expect("standard input");
    assert!(stdin[0] == b'x' || stdin[0] > b'z', "{stdin:?}");
    let own = std::fs::read(sandbox.path().join("word.txt")).expect("the original");
    assert_eq!(own, b"open sesame", "the user's file is as it was");
}

/// Arguments are bytes: a run with another input gets those that are no text unchanged.
#[test]
fn an_argument_need_not_be_text() {
    let bytes: Vec<u8> = (0x80..=0xff).collect();
    let sum = bytes.iter().fold(0u32, |sum, b| sum.wrapping_mul(31).wrapping_add((*b).into()));
    let source = r#"#include <stdio.h>
int main(int argc, char **argv) {
    unsigned sum = 0;
    for (const char *s = argv[1]; *s; s++)
        sum = sum * 31 + (unsigned char)*s;
    if (sum != SUM)
        puts("other bytes");
    if (argv[2][0] > 'k')
        return 1;
    return 0;
}
"#;
    let mut sandbox = Sandbox::with_program("p", &source.replace("SUM", &sum.to_string()));
    let mut record = Command::new(env!("CARGO_BIN_EXE_relapse"));
    record.args(["record", "--quiet", "-o", "run", "--", "./p"]).arg(OsStr::from_bytes(&bytes)).arg("x");
    let recorded = record.current_dir(sandbox.path()).output().expect("a recording");
    assert_eq!((recorded.status.code(), recorded.stdout.len()), (Some(1), 0), "{recorded:?}");
    // The first argument is passed on as it was recorded.
    let text = sandbox.quietly("relapse path run --solve --only argv[2]");
    assert!(text.contains("took the same way"), "{text}");
    let json = sandbox.quietly("relapse replay run --json");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let arguments = &json["processes"][0]["arguments"];
    assert_eq!((&arguments[1][0], &arguments[1][127]), (&0x80.into(), &0xff.into()));
    assert_eq!(arguments[2], "x");
    assert!(sandbox.quietly("relapse dump recording run").contains("\u{fffd} x"));
}

#[test]
fn conditions_are_exported_for_other_solvers_and_as_json() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse path run --smt2");
    assert!(text.contains("(set-logic ") && text.contains("(check-sat)"), "{text}");
    assert!(text.contains("|stdin[0]|"), "{text}");
    sandbox.quietly("relapse path run --smt2 path.smt2");
    let answer = sandbox.execute("cvc5 --lang smt2 path.smt2", "");
    assert!(String::from_utf8_lossy(&answer.stdout).starts_with("sat"), "{answer:?}");
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse path run --json")).expect("JSON");
    assert_eq!(json["schema"], "relapse.path/1");
    let conditions = json["conditions"].as_array().expect("conditions");
    assert!(conditions.iter().any(|c| c["kind"] == "branch" && c["line"] == 10), "{json}");
    assert_eq!(json["status_depends_on_input"], true);
}

/// Where `add` runs before a number is looked at, and how often, is another matter than which
/// number it is.
#[test]
fn moments_have_names_that_runs_share() {
    let mut sandbox = Sandbox::with_program(
        "sum",
        r#"#include <stdio.h>
static int odd(int c) {
    if (c % 2 == 0)
        return 0;
    return 1;
}
int main(void) {
    int lines = 0, count = 0;
    for (int c; (c = getchar()) != EOF;) {
        if (c == '\n') {
            lines++;
            continue;
        }
        count += odd(c);
    }
    return count > lines;
}
"#,
    );
    let mut named = |input: &str| {
        let _ = std::fs::remove_dir_all(sandbox.path().join("run"));
        sandbox.record("./sum", input);
        let json: serde_json::Value =
            serde_json::from_str(&sandbox.quietly("relapse path run --json")).expect("JSON");
        let conditions = json["conditions"].as_array().expect("conditions").clone();
        let of = |c: &serde_json::Value| {
            let index = c["index"].as_str().expect("an index").to_owned();
            (index, c["function"].as_str().expect("a function").to_owned(), c["condition"].clone())
        };
        conditions.iter().map(of).collect::<Vec<_>>()
    };
    let (short, long) = (named("a\nb"), named("\nab"));
    let all = |list: &[(String, String, serde_json::Value)]| {
        let mut names: Vec<String> = list.iter().map(|c| c.0.clone()).collect();
        names.sort();
        names.dedup();
        names.len()
    };
    assert_eq!(all(&short), short.len(), "no two moments have the same name: {short:?}");
    // The third byte is looked at in the same way, whatever came before.
    let last = |list: &[(String, String, serde_json::Value)]| {
        list.iter().rfind(|c| c.1 == "odd").cloned().expect("a condition of odd")
    };
    assert_eq!(last(&short), last(&long));
    assert!(last(&short).0.contains("[2] > odd:"), "{:?}", last(&short));
}

#[test]
fn a_run_without_such_branches_is_told_as_such() {
    let mut sandbox = Sandbox::with_program("q", "int main(void) { return 0; }\n");
    sandbox.record("./q", "");
    sandbox.run("relapse path run");
    sandbox.run("relapse path nowhere");
    sandbox.run("relapse path run --stream 9");
    assert_session!(sandbox, @r"
    $ relapse path run
    [stderr] relapse: no branch of p[PID].0 depends on its input: it read [SIZE] that are followed
    [stderr]  Standard input, arguments and files are followed; `relapse dump io DIR` shows what was read,
    [stderr]  --environment follows the environment as well.
    [exit 1]
    $ relapse path nowhere
    [stderr] relapse: failed to open nowhere: No such file or directory (os error 2)
    [stderr]  `relapse record -o DIR CMD` makes recordings.
    [exit 2]
    $ relapse path run --stream 9
    [stderr] relapse: failed to follow input in stream t9: the process has no such stream
    [exit 2]
    ");
}

/// A number as floating point is not followed: that nothing depends on it cannot be said.
#[test]
fn nothing_is_claimed_about_values_that_are_not_followed() {
    let mut sandbox = Sandbox::with_program(
        "half",
        "#include <stdio.h>\nint main(void) {\n    double half = getchar() / 2.0;\n    \
         if (half > 30.0)\n        puts(\"more\");\n}\n",
    );
    sandbox.record("./half", "a");
    let output = sandbox.execute("relapse path run --no-float", "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("As far as can be seen: 1 value fixed"), "{said}");
    assert!(!said.contains("takes the same way"), "{said}");
}

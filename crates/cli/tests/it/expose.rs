//! `relapse expose` and `relapse explore` as a user meets them.

use crate::exposing;
use crate::sandbox::Sandbox;
use explore::expose::Workers;
use explore::exposed::{Exposed, Verdict};
use explore::shared::FoundBy;
use serde_json::Value;
use std::time::Duration;

/// `·` is a blank within a word.
const WORDS: &str = "--quiet --work work --build $CC·-g·-o·p·p.c";

/// A sandbox with two versions of a program.
fn versions(good: &str, bad: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, text) in [("good", good), ("bad", bad)] {
        std::fs::create_dir(sandbox.path().join(name)).expect("a directory");
        sandbox.file(&format!("{name}/p.c"), text);
    }
    sandbox
}

/// The answer for two versions as JSON, and the exit code.
fn exposed(sandbox: &Sandbox, words: &str) -> (Value, i32) {
    let line = format!("relapse expose --good good --bad bad {WORDS} --json - {words}");
    answer(sandbox, &line)
}

/// What the solver's worker finds alone: mutations would find it by chance.
fn by_solver(sandbox: &Sandbox, test: &str) -> Exposed {
    by(sandbox, test, Workers::Solver)
}

fn by(sandbox: &Sandbox, test: &str, workers: Workers) -> Exposed {
    exposing::by(sandbox, test, workers, Duration::from_secs(60))
}

fn answer(sandbox: &Sandbox, line: &str) -> (Value, i32) {
    let output = sandbox.execute(line, "");
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    let answer = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    (answer, output.status.code().unwrap_or(-1))
}

const HEAD: &str = "#include <stdio.h>\n#include <stdlib.h>\n";

fn program(body: &str) -> String {
    format!(
        "{HEAD}int main(int argc, char **argv) {{\n    int x = atoi(argv[1]), y = 0, o = 0;\n{body}    printf(\"%d\\n\", o);\n    return 0;\n}}\n"
    )
}

const F41: &str = "    if (x > 0) {
        y = 3;
        if (x - y > 0)
            o = y;
        else
            o = 0;
    } else {
        o = -1;
    }
    if (x > 20)
        o = 10;
";

/// F-4.1: the change is reached, its effect dies at a branch, and one input makes the branch differ.
#[test]
fn a_change_is_reached_and_its_effect_brought_to_the_output() {
    let sandbox = versions(&program(F41), &program(&F41.replace("y = 3", "y = 2")));
    let found = by_solver(&sandbox, "./p 1");
    assert_eq!(found.verdict, Verdict::Differ);
    let input = &found.inputs[0];
    assert_eq!((input.command.as_str(), input.found_by), ("./p 3", FoundBy::Solver));
    assert_eq!((input.good.stdout.as_str(), input.bad.stdout.as_str()), ("0\n", "2\n"));
    let row = &found.changes[0];
    assert_eq!((row.line, row.reached, row.infected, row.exposed_by), (6, true, true, Some(1)));
    assert!(found.effort.questions.asked < 5, "{:?}", found.effort);
}

/// One variable is to have a value, the other one only to be there.
#[test]
fn environment_variables_that_a_program_asks_for_are_input() {
    const MODES: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    const char *mode = getenv(\"CALC_MODE\");
    int base = 10;
    if (mode && strcmp(mode, \"hex\") == 0)
        base = 16;
    long n = strtol(argc > 1 ? argv[1] : \"0\", NULL, 10);
    if (getenv(\"CALC_SIGN\") && n > 0)
        printf(\"+\");
    printf(base == 16 ? \"%lx\\n\" : \"%ld\\n\", n);
    return 0;
}
";
    let sandbox = versions(MODES, &MODES.replace("\"hex\"", "\"HEX\"").replace("&& n > 0", "&& n >= 0"));
    let (answer, code) = exposed(&sandbox, "--test ./p·12 --write cases");
    assert_eq!(code, 1, "{answer}");
    let commands: Vec<&str> =
        answer["inputs"].as_array().expect("inputs").iter().filter_map(|i| i["command"].as_str()).collect();
    let has = |name: &str| commands.iter().any(|c| c.starts_with(name) && c.contains(" ./p "));
    assert!(has("CALC_MODE=") && has("CALC_SIGN="), "{commands:?}");
    for change in answer["changes"].as_array().expect("changes") {
        assert!(change["exposed_by"].is_number(), "{change}");
    }
    let script = std::fs::read_to_string(sandbox.path().join("cases/1/run.sh")).expect("a script");
    assert!(script.contains("\nCALC_"), "{script}");
}

/// F-4.1 from an input that does not come to the change.
#[test]
fn the_solver_alone_comes_to_a_change() {
    let sandbox = versions(&program(F41), &program(&F41.replace("y = 3", "y = 2")));
    let found = by_solver(&sandbox, "./p -1");
    assert_eq!((found.verdict, found.inputs[0].found_by), (Verdict::Differ, FoundBy::Solver));
    assert_eq!(found.changes[0].exposed_by, Some(1));
    assert!(found.effort.questions.asked < 20, "{:?}", found.effort);
}

/// F-4.2: a definition that is not used, a branch that does not notice, a product with zero.
#[test]
fn effects_that_die_are_kept_alive() {
    for body in [
        "    y = 3;\n    if (x > 0)\n        o = y;\n    else\n        o = 0;\n",
        "    y = 3;\n    if (x - y > 0)\n        o = y;\n    else\n        o = 0;\n",
        "    y = 3;\n    o = y * x;\n",
    ] {
        let sandbox = versions(&program(body), &program(&body.replace("y = 3", "y = 2")));
        let found = by_solver(&sandbox, "./p 0");
        assert_eq!(found.verdict, Verdict::Differ, "{body}");
        assert!(found.changes[0].reached && found.changes[0].infected, "{body}");
    }
}

/// F-4.3: branches that stand in each other's way; the last one is truly infeasible.
#[test]
fn correlated_branches_are_turned_in_turn() {
    let after = "    if (x > 2)\n        y = 1;\n    if (x < 0)\n        o = 5;\n";
    let sandbox = versions(&program(after), &program(&after.replace("o = 5", "o = 6")));
    assert!(by_solver(&sandbox, "./p 33").differ());
    let by_value = "    if (x > 0)\n        y = 1;\n    else\n        y = 0;\n    if (y)\n        o = 5;\n";
    let sandbox = versions(&program(by_value), &program(&by_value.replace("o = 5", "o = 6")));
    assert!(by_solver(&sandbox, "./p 0").differ());
    let never = "    y = 1;\n    o = y;\n    if (o > 2)\n        o = x;\n";
    let sandbox = versions(&program(never), &program(&never.replace("o = x;", "o = x + 1;")));
    let (answer, code) = exposed(&sandbox, "--budget 3s --test ./p·0");
    assert_eq!((code, &answer["changes"][0]["reached"]), (0, &false.into()));
}

/// Two changes that undo each other, but for one input in the first case.
#[test]
fn versions_are_compared_group_by_group() {
    let good = "    y = x + 1;\n    if (y > 10)\n        o = y;\n";
    let bad = |limit: u32| format!("    y = x + 2;\n    if (y > {limit})\n        o = y - 1;\n");
    let sandbox = versions(&program(good), &program(&bad(12)));
    let found = by(&sandbox, "./p 77", Workers::Signatures);
    assert_eq!((found.verdict, found.inputs[0].command.as_str()), (Verdict::Differ, "./p 10"));
    let sandbox = versions(&program(good), &program(&bad(11)));
    let found = by(&sandbox, "./p 77", Workers::Signatures);
    let of = found.effort.signatures;
    assert!(!found.differ() && of.complete && (of.explored, of.of) == (1, 1), "{of:?}");
    assert!(of.pairs > 0 && of.apart + of.alike == of.pairs, "{of:?}");
}

/// A number that both print, one of them in another way: on most inputs nothing can be seen of it.
#[test]
fn another_way_to_print_is_a_difference() {
    let body = "    if (x == 73)\n        o = x & 15;\n";
    let bad = program(body).replace("%d", "%x");
    let (answer, _) = exposed(&versions(&program(body), &bad), "--budget 3s --test ./p·12");
    assert_eq!(answer["verdict"], "no-difference-found", "nothing proves it: {answer}");
    let body = body.replace("& 15", "- 50");
    let bad = program(&body).replace("%d", "%x");
    let found = by_solver(&versions(&program(&body), &bad), "./p 12");
    assert_eq!((found.verdict, found.inputs[0].command.as_str()), (Verdict::Differ, "./p 73"));
}

/// A declaration that moved behind a check: parameters are the same wherever the code after them begins.
#[test]
fn a_line_that_moved_infects_nothing() {
    const SUM: &str = "\
#include <stdio.h>
#include <stdlib.h>
static int sum(const char *text, const int length) {
    int *cache = calloc(length, sizeof *cache);
    int index = 0, all = 0;
    if (length == 0)
        return -1;
    for (; index < length; index++)
        cache[index] = text[index];
    while (index > 0)
        all += cache[--index];
    free(cache);
    return all;
}
int main(int argc, char **argv) {
    printf(\"%d\\n\", sum(argv[argc - 1], 2));
    return 0;
}
";
    let line = "    int *cache = calloc(length, sizeof *cache);\n";
    let bad = SUM.replace(line, "").replace("        return -1;\n", &format!("        return -1;\n{line}"));
    let (answer, code) = exposed(&versions(SUM, &bad), "--budget 3s --test ./p·ab");
    assert_eq!(code, 0, "{answer}");
    for row in answer["changes"].as_array().expect("changes") {
        assert_eq!((&row["reached"], &row["infected"]), (&true.into(), &false.into()), "{row}");
    }
}

/// Lines that are not compiled change nothing, where a type makes other code of unchanged lines.
#[test]
fn lines_that_are_not_compiled_are_no_code() {
    const TWICE: &str = "\
typedef int number;
number twice(number n) {
    return n + n;
}
#ifdef TESTED
int tests(void) {
    return twice(1) == 2;
}
#endif
#include <stdio.h>
int main(int argc, char **argv) {
    number n = argc > 1 ? argv[1][0] : 0;
    printf(\"%ld\\n\", (long)twice(n));
    return 0;
}
";
    let bad = TWICE.replace("int number", "long number").replace("twice(1) == 2", "twice(2) == 4");
    let sandbox = versions(TWICE, &bad);
    sandbox.file("good/NEWS", "1\n");
    sandbox.file("bad/NEWS", "2\n");
    let (answer, code) = exposed(&sandbox, "--budget 3s --test ./p·7");
    assert_eq!(code, 0, "{answer}");
    let rows = answer["changes"].as_array().expect("changes");
    let news = rows.iter().find(|r| r["file"] == "NEWS").expect("a change");
    assert_eq!(news["without_code"], true, "{answer}");
    let row = |line: u64| rows.iter().find(|r| r["file"] == "p.c" && r["line"] == line).expect("a change");
    assert_eq!((&row(1)["without_code"], &row(7)["without_code"]), (&false.into(), &true.into()), "{answer}");
    assert_eq!((&row(1)["reached"], &row(1)["infected"]), (&true.into(), &false.into()), "{answer}");
}

/// A condition that was only rewritten is tested more often because of another change: that one exposes.
#[test]
fn what_differs_in_consequence_exposes_nothing() {
    let body = "\
    int far = x > 50;
    for (int i = 0; i < (far ? 3 : 1); i++) {
        if (x == 1)
            o++;
        else if (x == 2)
            o++;
    }
    o += far;
";
    let bad = body
        .replace("x > 50", "x > 40")
        .replace("if (x == 1)\n            o++;\n        else if (x == 2)\n", "if (x == 1 || x == 2)\n");
    let sandbox = versions(&program(body), &program(&bad));
    let (answer, code) = exposed(&sandbox, "--budget 4s --test ./p·30");
    assert_eq!(code, 1, "{answer}");
    let rows = answer["changes"].as_array().expect("changes");
    let of = |text: &str| rows.iter().find(|row| row["text"].as_str().is_some_and(|t| t.contains(text)));
    assert!(of("x > 40").is_some_and(|row| !row["exposed_by"].is_null()), "{answer}");
    assert!(of("x == 1 ||").is_some_and(|row| row["exposed_by"].is_null()), "{answer}");
}

/// A macro, a type or a constant is where statements have other code because of it, and nowhere if none has.
#[test]
fn changes_of_headers_are_where_they_have_an_effect() {
    const HEADER: &str = "\
#define LIMIT 7
#define NEVER 1
#define UNUSED 2
#define SAME 3
#define NAME \"one\"
#define ABOVE(n) ((n) > LIMIT)
enum color { RED, BLUE };
enum shape { ROUND, SQUARE };
struct renamed {
    int a;
    int b; int c;
};
struct moved {
    int first;
    int last;
};
typedef int number;
int twice(int n);
#ifdef WIDE
#endif
";
    const PROGRAM: &str = "\
#include <stdio.h>
#include \"h.h\"
static struct renamed r;
static struct moved m;
int twice(int n) {
    if (n > 5000)
        n = NEVER;
    return n + n + SAME;
}
int main(int argc, char **argv) {
    int n = argc > 1 ? argv[1][0] : 0;
    m.first = n;
    m.last = 1;
    r.b = BLUE + twice(n);
    if (ABOVE(n))
        r.b++;
#ifdef WIDE
    n = 0;
#endif
    printf(\"%d\\n\", r.b * 0 + m.last * 0 + n * 0 + (NAME[0] == 'x'));
    return 0;
}
";
    let bad = HEADER
        .replace("LIMIT 7", "LIMIT 8")
        .replace("NEVER 1", "NEVER 2")
        .replace("UNUSED 2", "UNUSED 3")
        .replace("SAME 3", "SAME (1 + 2)")
        .replace("\"one\"", "\"two\"")
        .replace("RED, BLUE", "RED, GREEN, BLUE")
        .replace("ROUND, SQUARE", "SQUARE, ROUND")
        .replace("int b; int c;", "int b; int d;")
        .replace("    int last;", "    int more; int last;")
        .replace("int number", "signed int number")
        .replace("twice(int n)", "twice(int number)")
        .replace("#ifdef WIDE", "#ifndef WIDE");
    let sandbox = versions(PROGRAM, &PROGRAM.replace("#ifdef WIDE", "#ifndef WIDE"));
    sandbox.file("good/h.h", HEADER);
    sandbox.file("bad/h.h", &bad);
    let (answer, code) = exposed(&sandbox, "--budget 1s --test ./p·7");
    assert_eq!(code, 0, "{answer}");
    let rows = answer["changes"].as_array().expect("changes");
    for (text, reached, without_code) in [
        ("LIMIT", true, false),
        ("NEVER", false, false),
        ("UNUSED", false, true),
        ("SAME", false, true),
        ("NAME", true, false),
        ("color", true, false),
        ("shape", false, true),
        ("int b", false, true),
        ("more", true, false),
        ("typedef", false, true),
        ("twice", false, true),
        ("h.h: #if", false, true),
        ("p.c: #if", true, false),
    ] {
        let (file, text) = text.split_once(": ").unwrap_or(("h.h", text));
        let is_meant =
            |row: &&Value| row["file"] == file && row["text"].as_str().unwrap_or("").contains(text);
        let row = rows.iter().find(is_meant).unwrap_or_else(|| panic!("no {text}: {answer}"));
        let said = (&row["reached"], &row["without_code"]);
        assert_eq!(said, (&reached.into(), &without_code.into()), "{text}: {answer}");
    }
}

/// F-6.1: only one input differs.
#[test]
fn a_single_input_is_found_among_all() {
    let body = "    int v = argc > 2 ? atoi(argv[2]) : 0;\n    y = v > 0 ? v + 1 : v - 1;\n    o = x >= 10 ? x + 1 : x - 1;\n";
    let sandbox = versions(&program(body), &program(&body.replace("x >= 10", "x > 10")));
    let found = by_solver(&sandbox, "./p 77 5");
    assert_eq!((found.verdict, found.inputs[0].command.as_str()), (Verdict::Differ, "./p 10 5"));
}

/// The same answer in the terminal, as a page and as SARIF.
#[test]
fn changes_are_told_in_every_form() {
    let sandbox = versions(&program("    o = x;\n"), &program("    o = x > 5 ? 0 : x;\n"));
    let line =
        format!("relapse expose --good good --bad bad {WORDS} --test ./p·7 --html o.html --sarif o.sarif");
    let output = sandbox.execute(&line, "");
    let said = String::from_utf8_lossy(&output.stdout);
    for line in [
        "The versions differ.",
        "The test `./p 7` tells them apart:",
        "1 of 1 change with code reached, 1 infected, 1 exposed; ",
        "Ways out of branches in changed functions that recorded runs took: 0 of 0 in good, 1 of 2 in bad.",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let page = std::fs::read_to_string(sandbox.path().join("o.html")).expect("a page");
    assert!(page.contains("<td><a class=\"bad\" href=\"#input-1\">by input 1</a></td>"), "{page}");
    assert!(page.contains("<h2>Input 1: <code>./p 7</code></h2>"), "{page}");
    let sarif = std::fs::read_to_string(sandbox.path().join("o.sarif")).expect("a log");
    let sarif: Value = serde_json::from_str(&sarif).expect("a JSON document");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["properties"]["exposedBy"]),
        (&"relapse/exposed-change".into(), &1.into())
    );
    assert_eq!(
        result["message"]["text"],
        "This change makes the versions differ on ./p 7 (of a test): good ends with exit 0 with \"7\", bad with exit 0 with \"0\"."
    );
}

/// What is not found is told with how near it came, and with what was covered.
#[test]
fn nothing_found_is_told_with_what_was_covered() {
    let never =
        "    y = x * 0;\n    if (y > 2)\n        o = x;\n    if (getenv(\"NEVER\"))\n        o = 3;\n";
    let sandbox = versions(&program(never), &program(&never.replace("o = x;", "o = x + 1;")));
    let output = sandbox
        .execute(&format!("relapse expose --good good --bad bad {WORDS} --budget 1s --test ./p·0"), "");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.starts_with("No difference"), "{said}");
    for line in [
        "0 of 1 change with code reached, 0 infected, 0 exposed; ",
        "that recorded runs took: 2 of 4 in good, 2 of 4 in bad.",
        " proven to have none, 0 without an answer.",
    ] {
        assert!(said.contains(line), "{said}");
    }
}

#[test]
fn refactorings_expose_nothing() {
    let good = program("    y = x * 2;\n    if (y > 10)\n        o = y;\n    else\n        o = x + 1;\n");
    let bad = good.replace("int main", "static int twice(int v) {\n    return v + v;\n}\nint main");
    let bad = bad.replace("y = x * 2", "y = twice(x)").replace("if (y > 10)", "if (!(y <= 10))");
    let sandbox = versions(&good, &bad);
    let (answer, code) = exposed(&sandbox, "--budget 4s --test ./p·3");
    assert_eq!((code, answer["inputs"].as_array().map(Vec::len)), (0, Some(0)));
    assert_ne!(answer["verdict"], "differ");
    // Comments are no change of the program.
    let sandbox = versions(&good, &good.replace("y = x * 2;", "y = x * 2; /* twice */"));
    let (answer, code) = exposed(&sandbox, "--budget 4s --test ./p·3");
    assert_eq!((code, &answer["verdict"]), (0, &"same-programs".into()));
}

#[test]
fn tests_that_tell_the_versions_apart_come_first() {
    let mut sandbox = versions(&program("    o = x;\n"), &program("    o = x > 5 ? 0 : x;\n"));
    sandbox.file("tests", "# two tests\n./p 1\n./p 7\n");
    let (answer, code) = exposed(&sandbox, "--suite tests --write cases");
    assert_eq!((code, &answer["tests"][0]["command"]), (1, &"./p 7".into()));
    assert_eq!(answer["inputs"][0]["found_by"], "test");
    // What is written passes with good and fails with bad.
    for (version, status) in [("good", 0), ("bad", 1)] {
        sandbox.quietly(&format!("cc -o {version}/p {version}/p.c"));
        let script = sandbox.path().join("cases/1/run.sh");
        let ran = std::process::Command::new(script).current_dir(sandbox.path().join(version)).output();
        assert_eq!(ran.expect("a run").status.code(), Some(status), "{version}");
    }
}

#[test]
fn standard_input_and_files_are_inputs() {
    let text = format!(
        "{HEAD}#include <string.h>\nint main(int argc, char **argv) {{\n    char word[64] = \"\";\n    \
         FILE *f = argc > 1 ? fopen(argv[1], \"r\") : stdin;\n    if (!f || !fgets(word, sizeof word, f))\n        \
         return 1;\n    if (strncmp(word, \"open7\", 5) == 0)\n        puts(\"yes\");\n    else\n        puts(\"no\");\n    \
         return 0;\n}}\n"
    );
    let sandbox = versions(&text, &text.replace("puts(\"yes\")", "puts(\"Yes\")"));
    sandbox.file("good/in.txt", "a word\n");
    sandbox.file("bad/in.txt", "a word\n");
    let found = by_solver(&sandbox, "./p in.txt");
    assert_eq!((found.verdict, found.inputs[0].parts[0].name.as_str()), (Verdict::Differ, "file \"in.txt\""));
    let found = by_solver(&sandbox, "echo a word | ./p");
    assert_eq!((found.verdict, found.inputs[0].parts[0].name.as_str()), (Verdict::Differ, "stdin"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut sandbox = versions(&program("    o = x;\n"), &program("    o = x\n"));
    sandbox.run(&format!("relapse expose --good good --bad good {WORDS} --test ./p·1"));
    sandbox.run(&format!("relapse expose --good good --bad nowhere {WORDS} --test ./p·1"));
    sandbox.run(&format!("relapse expose --good good --bad bad {WORDS}"));
    let output = sandbox.execute(&format!("relapse expose --good good --bad bad {WORDS} --test ./p·1"), "");
    assert_eq!(output.status.code(), Some(8));
    assert_session!(sandbox, @r#"
    $ relapse expose --good good --bad good --quiet --work work --build $CC·-g·-o·p·p.c --test ./p·1
    [stderr] relapse: failed to see a difference between the versions: their files are the same
    [stderr]  Name two versions that differ as --good and --bad.
    [exit 2]
    $ relapse expose --good good --bad nowhere --quiet --work work --build $CC·-g·-o·p·p.c --test ./p·1
    [stderr] relapse: failed to find the version nowhere: it is neither a directory nor a commit of [DESK]
    [exit 2]
    $ relapse expose --good good --bad bad --quiet --work work --build $CC·-g·-o·p·p.c
    [stderr] relapse: there is no test to begin with
    [stderr]  Say --test, --suite, or --pool with --template; `relapse expose --help` shows examples.
    [exit 2]
    "#);
}

/// F-6.2 and F-6.4: groups by what is put out.
const F62: &str = "\
#include <stdio.h>
int main(void) {
    int x = getchar(), y = getchar(), z = getchar();
    int a, b = 2, s;
    if (x - y > 0)
        a = x;
    else
        a = y;
    if (x + y > 10)
        b = a;
    if (z * z > 3)
        s = 1;
    else
        s = 2;
    int out = b;
    printf(\"%d\\n\", out);
    return 0;
}
";

#[test]
fn groups_are_told_apart_by_what_is_put_out() {
    let mut sandbox = Sandbox::new();
    sandbox.file("p.c", F62);
    sandbox.run(
        "relapse explore --quiet --work work --build $CC·-g·-o·p·p.c --test printf·'\\006\\002\\002'·|·./p",
    );
    assert_session!(sandbox, @r#"
    $ relapse explore --quiet --work work --build $CC·-g·-o·p·p.c --test printf·'\006\002\002'·|·./p
    3 groups of paths, for inputs of this length; there are no others.

    1. "2\n"
      if  stdin[0] + stdin[1] <= 10
      for example ./p, stdin "\x06\x02\x02"

    2. "{stdin[0]}\n"
      if  stdin[0] + stdin[1] >= 11
      and i32(stdin[0] - stdin[1]) >= 1
      for example ./p, stdin "\x06\x05\x02"

    3. "{stdin[1]}\n"
      if  stdin[0] + stdin[1] >= 11
      and i32(stdin[0] - stdin[1]) <= 0
      for example ./p, stdin "\x06\x06\x02"

    3 runs in [SECONDS]; 2 questions to the solver: 2 with an input, 0 proven to have none, 0 without an answer.
    "#);
}

/// F-6.14: a second output doubles the groups.
#[test]
fn more_outputs_are_more_groups() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", &F62.replace("\"%d\\n\", out", "\"%d %d\\n\", s, out"));
    let line = "relapse explore --json - --quiet --work work --build $CC·-g·-o·p·p.c --test printf·'\\006\\002\\002'·|·./p";
    let (groups, code) = answer(&sandbox, line);
    let counts = |a: &Value| (a["groups"].as_array().map(Vec::len), a["effort"]["asked"].as_u64());
    assert_eq!((code, counts(&groups)), (0, (Some(6), Some(5))));
}

/// F-6.4: an assignment counts through the condition it is in; what is silent may have spoken.
#[test]
fn assignments_and_silence_count() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", "#include <stdio.h>\nint main(void) {\n    int x = getchar(), a = 0;\n    x = x - 1;\n    if (x > 0)\n        a = 1;\n    return a;\n}\n");
    let explore = "relapse explore --json - --quiet --work work --build $CC·-g·-o·p·p.c --test";
    let (groups, code) = answer(&sandbox, &format!("{explore} printf·'\\001'·|·./p"));
    assert_eq!((code, groups["groups"].as_array().map(Vec::len)), (0, Some(2)));
    assert_eq!(groups["groups"][0]["condition"][0], "i32(stdin[0] - 1) <= 0");
    sandbox.file("p.c", "#include <stdio.h>\nint main(void) {\n    if (getchar() == 'q')\n        puts(\"quit\");\n    return 0;\n}\n");
    let (groups, code) = answer(&sandbox, &format!("{explore} printf·x·|·./p"));
    assert_eq!((code, groups["groups"].as_array().map(Vec::len)), (0, Some(2)));
}

#[test]
fn faults_are_looked_for() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", "#include <stdio.h>\nint main(void) {\n    int x = getchar();\n    int unused = 100 / (x - 'a');\n    (void)unused;\n    puts(\"done\");\n    return 0;\n}\n");
    let line = "relapse explore --json - --quiet --work work --build $CC·-g·-o·p·p.c --test printf·x·|·./p";
    let (answer, _) = answer(&sandbox, line);
    assert_eq!(
        (&answer["faults"][0]["line"], &answer["faults"][0]["example"]["end"]),
        (&4.into(), &"SIGFPE".into())
    );
}

/// Code that no output depends on is come to all the same if it could fault, and an access that
/// leaves its object is told even if nothing happens.
#[test]
fn faults_hide_behind_branches_that_nothing_depends_on() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "p.c",
        "#include <stdio.h>\nint main(void) {\n    int table[4] = {1, 2, 3, 4}, *none = 0, unused = 0;\n    \
         int x = getchar(), y = getchar();\n    if (x == 'q')\n        *none = 1;\n    \
         if (y < 6)\n        unused = table[y];\n    (void)unused;\n    puts(\"done\");\n    return 0;\n}\n",
    );
    let line =
        "relapse explore --json - --quiet --work work --build $CC·-g·-o·p·p.c --test printf·'a\\001'·|·./p";
    let (answer, _) = answer(&sandbox, line);
    let mut faults: Vec<(u64, String)> = answer["faults"]
        .as_array()
        .expect("faults")
        .iter()
        .map(|f| (f["line"].as_u64().unwrap_or(0), f["what"].as_str().unwrap_or_default().to_owned()))
        .collect();
    faults.sort();
    assert_eq!(
        faults,
        [(6, "SIGSEGV".to_owned()), (8, "reads outside of its object".to_owned())],
        "{answer:#}"
    );
}

/// The same command goes on with what it found before, and asks nothing again.
#[test]
fn an_exploration_is_gone_on_with() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", F62);
    let line = "relapse explore --json - --quiet --work work --build $CC·-g·-o·p·p.c --test printf·'\\006\\002\\002'·|·./p";
    let (first, _) = answer(&sandbox, line);
    let (again, code) = answer(&sandbox, line);
    let asked = |a: &Value| (a["effort"]["asked"].as_u64(), a["effort"]["resumed"].as_u64());
    assert_eq!((asked(&first), asked(&again)), ((Some(2), Some(0)), (Some(0), Some(2))));
    assert_eq!((code, &again["groups"]), (0, &first["groups"]));
    // Another program is another one.
    sandbox.file("p.c", &F62.replace("x + y > 10", "x + y > 11"));
    let (other, _) = answer(&sandbox, line);
    assert_eq!(asked(&other), (Some(2), Some(0)));
}

/// A condition that is only written otherwise makes no difference to values, and is told by its code,
/// not by the comment above it.
#[test]
fn conditions_written_otherwise_infect_nothing() {
    let good = "    if (x > 3 && x != 3 && x < 9)\n        y = 1;\n    o = y;\n";
    let bad = "    /* between */\n    if (x > 3 && x < 9)\n        y = 1;\n    o = y;\n";
    let sandbox = versions(&program(good), &program(bad));
    let (answer, code) = exposed(&sandbox, "--budget 2s --test ./p·5 --test ./p·1");
    let row = &answer["changes"][0];
    assert_eq!((code, &row["reached"], &row["infected"]), (0, &true.into(), &false.into()), "{answer:#}");
    assert_eq!(row["text"], "if (x > 3 && x < 9)");
    assert_eq!(answer["coverage"]["good"]["all"], 6);
}

/// An argument is as long as it was: a zero in it is no input, and nothing is lost.
#[test]
fn arguments_keep_their_length() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "p.c",
        "#include <stdio.h>\nint main(int argc, char **argv) {\n    char *s = argv[1];\n    int n = 0;\n    \
         while (*s)\n        if (*s++ == 'a')\n            n++;\n    printf(\"%d\\n\", n);\n    return 0;\n}\n",
    );
    let line = "relapse explore --json - --quiet --work work --build $CC·-g·-o·p·p.c --test ./p·xy";
    let (answer, code) = answer(&sandbox, line);
    assert_eq!((code, answer["groups"].as_array().map(Vec::len)), (0, Some(4)), "{answer:#}");
    assert_eq!(answer["effort"]["lost"], 0);
}

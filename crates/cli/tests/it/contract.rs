//! `relapse contract check` as a user meets it.

#[path = "../../../report/tests/it/samples/schema.rs"]
mod schema;

use crate::sandbox::Sandbox;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Versions that are directories `good` and `bad`; `·` is a blank within a word.
const VERSIONS: &str = "--quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/contracts")
}

/// A sandbox with both versions of a program.
fn versions(good: &str, bad: &str, ending: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for (version, text) in [("good", good), ("bad", bad)] {
        std::fs::create_dir(sandbox.path().join(version)).unwrap();
        sandbox.file(&format!("{version}/p.{ending}"), text);
    }
    sandbox
}

/// The exit codes for the right and the wrong change of a program in `tests/contracts`.
fn checked(name: &str) -> [Option<i32>; 2] {
    let directory = fixtures().join(name);
    let ending = if directory.join("good.cpp").is_file() { "cpp" } else { "c" };
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).unwrap();
    let mut words = String::new();
    for line in read("case").lines() {
        match line.split_once(' ') {
            Some(("test", test)) => words += &format!(" --test {}", test.replace(' ', "·")),
            Some(("options", options)) => words += &format!(" {options}"),
            _ => panic!("{name}: {line}"),
        }
    }
    let build = if ending == "cpp" { "$CXX·-g·-o·p·p.cpp" } else { "$CC·-g·-o·p·p.c" };
    ["right", "wrong"].map(|change| {
        let sandbox =
            versions(&read(&format!("good.{ending}")), &read(&format!("{change}.{ending}")), ending);
        let line = format!(
            "relapse contract check --quiet --work work --good good --bad bad --build {build}{words}"
        );
        let output = sandbox.execute(&line, "");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.contains("vacuous"), "{name}, {change}: {said}");
        output.status.code()
    })
}

macro_rules! worked {
    ($($test:ident $name:literal)*) => {
        $(#[test]
        fn $test() {
            assert_eq!(checked($name), [Some(0), Some(1)]);
        })*
        const WORKED: &[&str] = &[$($name),*];
    };
}

worked! {
    a_refactoring "merged-helper"
    a_mended_crash "null-fixed"
    three_states "three-states"
    the_kind_of_a_result "kind-of-result"
    a_new_parameter "new-parameter"
    a_range_of_an_array "array-range"
    a_named_error "named-error"
    an_added_field "added-field"
    an_exit_status "exit-status"
    several_cases "several-cases"
    an_exception "exception"
}

#[test]
fn the_page_shows_the_contracts_that_are_tested() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contracts.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut known: Vec<String> = WORKED.iter().map(|name| (*name).to_owned()).collect();
    known.sort();
    assert_eq!(names, known);
    for name in names {
        assert!(page.contains(&format!("(`{name}`)")), "{name}");
        let text = ["c", "cpp"]
            .iter()
            .find_map(|ending| {
                std::fs::read_to_string(fixtures().join(&name).join(format!("right.{ending}"))).ok()
            })
            .unwrap();
        let is_contract =
            |line: &&str| line.starts_with("//@") || line.starts_with("/*@") || line.starts_with("  @");
        let contract: Vec<&str> = text.lines().filter(is_contract).collect();
        assert!(page.contains(&contract.join("\n")), "{name}:\n{}", contract.join("\n"));
    }
}

const GOOD: &str = "\
#include <stdio.h>
#include <stdlib.h>
int total;
int add(int n) {
    total += n;
    return total;
}
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf(\"%d\\n\", add(atoi(argv[i])));
    return 0;
}
";

/// The program with another body of `add` and a contract before it.
fn changed(contract: &str, body: &str) -> String {
    GOOD.replace("int add(int n) {\n    total += n;", &format!("{contract}int add(int n) {{\n    {body}"))
}

#[test]
fn a_violation_shows_both_states() {
    let contract = "//@ changed_behavior\n//@   requires n < 0;\n//@   ensures total == \\old(total);\n";
    let mut sandbox = versions(GOOD, &changed(contract, "if (n != -1) total += n;"), "c");
    sandbox.run(&format!("relapse contract check {VERSIONS} --test ./p·-2"));
    assert_session!(sandbox, @r#"
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·-2
    1 function is not as the contracts say: 1 function, 1 pair of calls compared

    add (p.c:7)  violated by 1 pair
      contract at p.c:4:5
      1 call in good, 1 call in bad; 1 pair counted
      violated p.c:6:7: ensures total == \old(total)
      it does not hold
      in call 1 from main (p.c:13)
      called with n = -2
      both: returns -2
      where total = -2, \old(total) = 0
    [exit 1]
    "#);
}

#[test]
fn a_vacuous_case_is_told() {
    let contract = "//@ changed_behavior requires n > 100; ensures \\result == 0\n";
    let mut sandbox = versions(GOOD, &changed(contract, "total += n;"), "c");
    sandbox.run(&format!("relapse contract check {VERSIONS} --test ./p·5"));
    assert_session!(sandbox, @r#"
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5
    1 function is not as the contracts say: 1 function, 1 pair of calls compared

    add (p.c:5)  violated from a state that no test comes to
      contract at p.c:4:5
      1 call in good, 1 call in bad; 1 pair counted
      warning: the case at p.c:4:5 is vacuous: it applied to no pair of calls
      counterexample: a state that no test comes to; both versions were run from it: [STATE]
    [exit 1]
    "#);
}

#[test]
fn the_whole_program_may_not_change() {
    let mut sandbox = versions(GOOD, &changed("", "total += n > 6 ? 6 : n;"), "c");
    sandbox.run(&format!("relapse contract check {VERSIONS} --test ./p·5·7 --unchanged"));
    sandbox.run(&format!("relapse contract check {VERSIONS} --test ./p·5 --unchanged add"));
    assert_session!(sandbox, @r#"
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5·7 --unchanged
    1 function has changed: 2 functions, 3 pairs of calls compared

    add (p.c:4)  violated by 1 pair
      2 calls in good, 2 calls in bad; 2 pairs counted
      changed: it may not change, and no case speaks of it
      in call 2 from main (p.c:10)
      called with n = 7
      good: returns 12
      bad:  returns 11
      total: 12 in good, 11 in bad

    main differs too: it calls add
    [exit 1]
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5 --unchanged add
    1 function has changed: 1 function, 1 pair of calls compared

    add (p.c:4)  violated from a state that no test comes to
      1 call in good, 1 call in bad; 1 pair counted
      counterexample: a state that no test comes to; both versions were run from it: [STATE]
    [exit 1]
    "#);
}

#[test]
fn mistakes_in_contracts_have_their_place() {
    for contract in [
        "//@ changed_behavior\n//@   ensures \\result == sum;\n",
        "//@ changed_behavior\n//@   ensures \\forall int i; i > 0; total > i;\n",
        "//@ changed_behaviour\n",
        "//@ changed_behavior requires n->x == 1\n",
    ] {
        let mut sandbox = versions(GOOD, &changed(contract, "total += n;"), "c");
        sandbox.run(&format!("relapse contract check {VERSIONS} --test ./p·5"));
        MISTAKES.with_borrow_mut(|all| all.push_str(&sandbox.transcript()));
    }
    let all = MISTAKES.take();
    insta::with_settings!({ filters => crate::sandbox::FILTERS.to_vec() }, { insta::assert_snapshot!(all, @r#"
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5
    [stderr] relapse: p.c:5:26: nothing is called sum in bad: a contract sees parameters (n) and global variables, no locals
    [stderr]  //@  ensures \result == sum;
    [stderr]  ^^^
    [exit 3]
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5
    [stderr] relapse: p.c:5:30: the range of i has no bounds: it needs both, as in 0 <= i && i < n
    [stderr]  //@  ensures \forall int i; i > 0; total > i;
    [stderr]  ^^^^^
    [exit 3]
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5
    [stderr] relapse: p.c:4:5: changed_behavior is expected here, not "changed_behaviour"
    [stderr]  //@ changed_behaviour
    [stderr]  ^^^^^^^^^^^^^^^^^
    [exit 3]
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5
    [stderr] relapse: p.c:4:31: int is not a pointer
    [stderr]  //@ changed_behavior requires n->x == 1
    [stderr]  ^
    [exit 3]
    "#); });
}

thread_local! {
    static MISTAKES: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

#[test]
fn what_is_not_there_is_said() {
    let mut sandbox = versions(GOOD, &changed("", "total += n;"), "c");
    sandbox.file("contracts", "function add\nchanged_behavior ensures \\result > 0\n");
    sandbox.run(&format!("relapse contract check {VERSIONS} --test ./p·5 --unchanged ad"));
    sandbox.run(&format!("relapse contract check {VERSIONS} --test ./p --unchanged add"));
    sandbox.run(&format!("relapse contract check {VERSIONS} --test ./p·5"));
    sandbox.run(&format!("relapse contract check {VERSIONS} --test ./q --unchanged add"));
    sandbox.run(&format!("relapse contract check {VERSIONS} --test ./p·5 --contracts contracts"));
    assert_session!(sandbox, @r#"
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5 --unchanged ad
    [stderr] relapse: failed to find a function called ad in bad
    [stderr]  There is add.
    [exit 3]
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p --unchanged add
    [stderr] relapse: failed to compare calls of add: it is never called in either version
    [stderr]  Name a test that calls it with --test.
    [exit 3]
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5
    [stderr] relapse: failed to find anything to check: there is no contract in the sources of bad, no file of contracts, and nothing is named as unchanged
    [stderr]  Write a contract as //@ before the function, name a file with --contracts, or give
    [stderr]  --unchanged for a refactoring. docs/contracts.md has examples.
    [exit 2]
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./q --unchanged add
    [stderr] relapse: failed to run the test in good: sh: 1: ./q: not found
    [stderr]  The test runs where the build ran. Correct --test, or have --build make what it needs.
    [exit 10]
    $ relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test ./p·5 --contracts contracts
    1 function is not as the contracts say: 1 function, 1 pair of calls compared

    add (p.c:4)  violated from a state that no test comes to
      contract at contracts:2:1
      1 call in good, 1 call in bad; 1 pair counted
      counterexample: a state that no test comes to; both versions were run from it: [STATE]
    [exit 1]
    "#);
}

#[test]
fn the_answer_is_json() {
    let contract = "//@ changed_behavior requires n == 7; ensures total == \\prev(total) + 1\n";
    let sandbox = versions(GOOD, &changed(contract, "total += n == 7 ? 9 : n;"), "c");
    let output = sandbox.execute(&format!("relapse contract check {VERSIONS} --test ./p·7·3 --json -"), "");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = include_str!("../../../../docs/schemas/contract-1.json");
    assert_eq!(schema::problems(&serde_json::from_str(schema).unwrap(), &answer), Vec::<String>::new());
    assert_eq!((&answer["schema"], &answer["verdict"]), (&"relapse.contract/1".into(), &"violated".into()));
    let add = &answer["functions"][0];
    assert_eq!((&add["name"], &add["counted"]["by_index"]), (&"add".into(), &1.into()));
    // The second call begins with another total.
    assert_eq!(add["counted"]["first_difference"]["path"], "total");
    let violation = &add["violations"][0];
    assert_eq!(violation["clause"], "p.c:4:39");
    assert_eq!(violation["call"]["place"], "p.c:11");
    assert_eq!((&violation["good"], &violation["bad"]), (&"returns 7".into(), &"returns 9".into()));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_base_class_stands_for_what_is_thrown() {
    let good = "\
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
struct Error { virtual ~Error() {} };
struct Range : Error {};
struct Other {};
int at(int i) {
    if (i > 9) throw std::out_of_range(\"at\");
    if (i > 3) throw Range();
    return i;
}
int main(int argc, char **argv) {
    try { std::printf(\"%d\\n\", at(std::atoi(argv[1]))); } catch (...) { return 1; }
}
";
    let code = |class: &str, argument: &str| {
        let contract = format!(
            "//@ changed_behavior when_signaled (throw {class}) true; ensures \\result == 3;\nint at(int i) {{\n    if (i > 3) return 3;"
        );
        let sandbox = versions(good, &good.replace("int at(int i) {", &contract), "cpp");
        let words = VERSIONS.replace("$CC", "$CXX").replace("p.c", "p.cpp");
        let line = format!("relapse contract check {words} --test ./p·{argument}");
        sandbox.execute(&line, "").status.code()
    };
    assert_eq!(code("Error", "5"), Some(0));
    assert_eq!(code("std::exception", "12"), Some(0));
    // Another class: no case applies, and nothing may change.
    assert_eq!(code("Other", "5"), Some(1));
}

/// `add` changes as this says.
const CONTRACT: &str = "//@ changed_behavior requires n == 7; ensures total == \\prev(total) + 2;\n";

#[test]
fn an_input_is_found_that_violates_a_contract() {
    // The test does not come to the wrong case.
    let contract = "//@ changed_behavior requires n > 500; ensures \\result == \\prev(\\result);\n";
    let body = "total += n == 723 ? 724 : n;";
    let sandbox = versions(GOOD, &changed(contract, body), "c");
    let words = VERSIONS.replace("--quiet ", "");
    let line = format!("relapse contract search {words} --test ./p·123 --budget 20s --json -");
    let output = sandbox.execute(&line, "");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!(answer["violation"]["command"], "./p 723", "{answer}");
    assert_eq!(answer["violation"]["answer"]["functions"][0]["violations"][0]["entry"][0]["value"], "723");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn inputs_that_differ_as_they_should_are_not_exposed() {
    let sandbox = versions(GOOD, &changed(CONTRACT, "total += n == 7 ? 9 : n;"), "c");
    let answer = |bad: &str, words: &str| {
        sandbox.file("bad/p.c", bad);
        let words = format!("{VERSIONS} --test ./p·7 --budget 3s --json - {words}");
        let output = sandbox.execute(&format!("relapse expose {words}"), "");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        (
            answer["verdict"].as_str().unwrap().to_owned(),
            answer["intended"].as_u64().unwrap(),
            output.status.code(),
        )
    };
    let right = changed(CONTRACT, "total += n == 7 ? 9 : n;");
    assert_eq!(answer(&right, "").0, "differ");
    let (verdict, intended, code) = answer(&right, "--intended");
    assert_eq!((verdict.as_str(), code), ("no-difference-found", Some(0)));
    assert!(intended > 0);
    // `main` differs by itself.
    let wrong = right.replace("%d\\n", "%x\\n").replace("add(atoi", "5 + add(atoi");
    assert_eq!(answer(&wrong, "--intended").0, "differ");
}

/// Memory that held an address in an earlier life is text now; its NUL lies where the address began.
#[test]
fn what_lay_there_before_is_no_pointer() {
    let good = "\
#include <stdio.h>
#include <stdlib.h>
void put(char *to, const char *text) {
    sprintf(to, \"%s\", text);
}
int main(void) {
    char *large = malloc(4096), **old = malloc(64);
    large[0] = 0;
    free(old);
    char *now = malloc(64);
    put(now, \"sixteen letters!\");
    puts(now);
    return large[0];
}
";
    let bad = good
        .replace("    free(old);", "    for (int i = 0; i < 8; i++) old[i] = large + 1000;\n    free(old);");
    let sandbox = versions(good, &bad, "c");
    let output =
        sandbox.execute(&format!("relapse contract check {VERSIONS} --test ./p --unchanged put"), "");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

/// A tagged union, as readers of JSON have it.
const TAGGED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
struct list { int n; int v[4]; };
struct value { int kind; union { char *text; double number; struct list *list; } u; };
int size(const struct value *v) { return v->u.list->n; }
struct value *make(int n)
{
    struct value *v = calloc(1, sizeof *v);
    v->kind = 3;
    v->u.list = calloc(1, sizeof *v->u.list);
    v->u.list->n = n;
    return v;
}
int main(void) { printf("%d\n", size(make(1))); return 0; }
"#;

#[test]
fn what_differs_behind_a_union_before_a_call_does_not_count() {
    let sandbox = versions(TAGGED, &TAGGED.replace("make(1)", "make(2)"), "c");
    let line = format!("relapse contract check {VERSIONS} --test ./p --unchanged size");
    let output = sandbox.execute(&line, "");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("1 pair does not count, as the entry states differ; in call 1 *v->u, byte 0 is 0x01 in good, 0x02 in bad"), "{said}");
}

#[test]
fn what_a_call_changes_behind_a_union_is_seen() {
    let sandbox = versions(TAGGED, &TAGGED.replace("->n = n;", "->n = n + 1;"), "c");
    let line = format!("relapse contract check {VERSIONS} --test ./p --unchanged make size");
    let output = sandbox.execute(&line, "");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("*\\result->u, byte 0: 0x01 in good, 0x02 in bad"), "{said}");
    let same = versions(TAGGED, TAGGED, "c");
    let output = same.execute(&line, "");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
}

/// A change that is meant and one that is not, in functions of their own.
const PRICES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int fee;
//@ changed_behavior
//@   ensures fee == \prev(fee) + 1;
void charge(int n)
{
    fee = n * 10 + ONE;
}
int limit(int n)
{
    return n > TWO;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    charge(n);
    if (argc > 2) printf("%d\n", fee);
    return limit(n);
}
"#;

fn prices(one: &str, two: &str) -> String {
    PRICES.replace("ONE", one).replace("TWO", two)
}

#[test]
fn a_difference_that_was_meant_is_no_difference() {
    let sandbox = versions(&prices("0", "5"), &prices("1", "5"), "c");
    for version in ["good", "bad"] {
        sandbox.execute(&format!("relapse cc -g -O1 -o {version}/p {version}/p.c"), "");
        sandbox.execute(&format!("relapse record --quiet -o {version}.rec -- {version}/p 3"), "");
    }
    let run = |options: &str| {
        let output = sandbox.execute(&format!("relapse diff good.rec bad.rec {options}"), "");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(run("").0, Some(1));
    let (code, said) = run("--intended");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 sequence not shown: in calls that differ as their contract says."), "{said}");
    assert!(said.contains("contract of charge: 1 call changed as it says"), "{said}");
    // Of another contract it is no fulfilment, and stays.
    sandbox.file("other", "function charge\nchanged_behavior\n  ensures fee == \\prev(fee) + 2;\n");
    sandbox.file("bad/p.c", &prices("1", "5").replace("//@", "//"));
    sandbox.execute("relapse cc -g -O1 -o bad/p bad/p.c", "");
    sandbox.execute("rm -r bad.rec", "");
    sandbox.execute("relapse record --quiet -o bad.rec -- bad/p 3", "");
    let (code, said) = run("--contracts other");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("1 call did not, and is shown"), "{said}");
    let line = "relapse cause good.rec bad.rec good.rec good.rec --json";
    let suspects = |options: &str| {
        let output = sandbox.execute(&format!("{line} {options}"), "");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["suspects"].as_array().unwrap().len()
    };
    sandbox.file("right", "function charge\nchanged_behavior\n  ensures fee == \\prev(fee) + 1;\n");
    assert_eq!([suspects("--contracts other"), suspects("--contracts right")], [1, 0]);
}

#[test]
fn a_change_that_was_meant_is_suspected_last() {
    let sandbox = versions(&prices("0", "5"), &prices("1", "4"), "c");
    let explain = |test: &str, options: &str| {
        let line = format!("relapse explain {VERSIONS} --test {test} --json - {options}");
        let output = sandbox.execute(&line, "");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let lines = |hunks: &Value| -> Vec<u64> {
        hunks.as_array().unwrap().iter().map(|h| h["new_start"].as_u64().unwrap()).collect()
    };
    // Both changes run, and both are suspected, but for the contract.
    let answer = explain("./p·5·x", "--no-trials");
    assert_eq!(lines(&answer["suspects"]).len(), 2, "{answer:#}");
    let answer = explain("./p·5·x", "--no-trials --intended");
    assert_eq!(lines(&answer["suspects"]), [13], "{answer:#}");
    let answer = explain("./p·2·x", "--intended");
    assert_eq!(lines(&answer["root"]), [9], "{answer:#}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("the contract and this test disagree"), "{notes}");
}

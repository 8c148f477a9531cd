//! `relapse locate` as a user meets it.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// Compiles with recording; `·` is a blank within a word.
const BUILD: &str = "--quiet --work work --build $CC·-g·-o·p·p.c";

/// The report of a program `p.c` as JSON, and the exit code.
fn located(sandbox: &Sandbox, words: &str) -> (Value, i32) {
    let output = sandbox.execute(&format!("relapse locate {BUILD} --json - {words}"), "");
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    let answer = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    (answer, output.status.code().unwrap_or(-1))
}

/// Where the line with this text stands in the list of suspicious lines, from 1.
fn rank(answer: &Value, text: &str) -> Option<usize> {
    let lines = answer["lines"].as_array().expect("lines");
    lines
        .iter()
        .position(|line| line["place"]["text"].as_str().is_some_and(|t| t.contains(text)))
        .map(|n| n + 1)
}

const TCAS: &str = "\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int climb = atoi(argv[1]), up_sep = atoi(argv[2]), sep, up;
    if (climb)
        sep = up_sep;
    else
        sep = up_sep + 100;
    if (sep > 150)
        up = 1;
    else
        up = 0;
    if (up > 0)
        printf(\"upward\\n\");
    else
        printf(\"downward\\n\");
    return 0;
}
";

#[test]
fn f13_the_branch_before_the_exchanged_assignments() {
    let mut sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    sandbox.file("expected", "upward\n");
    sandbox.run(&format!("relapse locate {BUILD} --test ./p·1·100 --expect expected --passing ./p·0·20"));
    assert_session!(sandbox, @r#"
    $ relapse locate --quiet --work work --build $CC·-g·-o·p·p.c --test ./p·1·100 --expect expected --passing ./p·0·20
    1 branch went another way in the nearest passing run; the failure depends on it

    What failed
      line 1 of stdout is `downward`, expected `upward`; written in main (p.c:16)

    Runs
      failing  ./p 1 100  (exit 0)
      passing  ./p 0 20  (exit 0)
      of 1 test: 1 passed, 0 failed

    Branches that went another way  the most suspicious first
      1 p.c:5 in main  if (climb)
      true in the failing run, false in the passing one
      climb = 1, passing 0
      the failure depends on it
      ↓ controls  p.c:6  sep = up_sep;
      ↓ value  p.c:9  if (sep > 150)
      ↓ controls  p.c:12  up = 0;
      ↓ value  p.c:13  if (up > 0)
      ↓ controls  p.c:16  printf("downward\n");

    Lines to look at  of 7 in the dynamic and 7 in the relevant slice of the failure
      1 p.c:5  if (climb)  branch
      2 p.c:6  sep = up_sep;  guarded
      3 p.c:16  printf("downward\n");  slice
      4 p.c:13  if (up > 0)  slice
      5 p.c:12  up = 0;  slice
      6 p.c:9  if (sep > 150)  slice
      7 p.c:4  int climb = atoi(argv[1]), up_sep = atoi(argv[2]), sep, up;  slice

    1 build, 7 runs, [SECONDS]
    "#);
}

#[test]
fn f14_the_nearest_of_two_passing_runs_is_chosen() {
    const NESTED: &str = "\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int a = atoi(argv[1]), b = atoi(argv[2]), c = atoi(argv[3]), d = atoi(argv[4]), i = 0, j = 0, k = 0;
    if (a)
        i++;
    if (b)
        j++;
    if (c) {
        if (d)
            k += 1;
        else
            k += 2;
    }
    return k == 1;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", NESTED);
    let (answer, code) = located(
        &sandbox,
        "--test ./p·0·0·1·1 --passing ./p·1·0·1·0 --passing ./p·0·1·1·0 --passing ./p·1·1·0·0",
    );
    assert_eq!((code, &answer["schema"]), (0, &"relapse.locate/1".into()));
    assert_eq!(answer["passing"]["command"], "./p 0 1 1 0");
    let branches: Vec<&str> =
        answer["branches"].as_array().unwrap().iter().map(|b| b["place"]["text"].as_str().unwrap()).collect();
    // The failure depends on the last one only.
    assert_eq!(branches, ["if (d)", "if (b)"]);
    assert_eq!(answer["branches"][0]["slice"], "dynamic");
    assert_eq!(
        (&answer["branches"][0]["failing"], &answer["branches"][0]["passing"]),
        (&"true".into(), &"false".into())
    );
    assert_eq!(answer["branches"][1]["slice"], "none");
    assert_eq!(answer["pool"]["passed"], 3);
}

#[test]
fn an_omitted_reset_is_near_the_branch_that_lacks_it() {
    // `run = 1` is missing in the branch that a new letter takes.
    const OMITTED: &str = "\
#include <stdio.h>
int main(int argc, char **argv) {
    int longest = 0, run = 0;
    char last = 0;
    for (const char *s = argv[1]; *s; s++) {
        if (*s == last)
            run++;
        else
            last = *s;
        if (run > longest)
            longest = run;
    }
    printf(\"%d\\n\", longest);
    return longest > 2;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", OMITTED);
    let (answer, code) =
        located(&sandbox, "--test ./p·aabbaa --passing ./p·aab --passing ./p·abc --passing ./p·aabb");
    assert_eq!(code, 0);
    assert!(rank(&answer, "if (*s == last)").is_some_and(|rank| rank <= 4), "{answer:#}");
}

#[test]
fn a_wrong_initial_value_is_found_by_the_values() {
    const INITIAL: &str = "\
#include <stdlib.h>
static int base = 40;
int main(int argc, char **argv) {
    int value = atoi(argv[1]);
    int sum = base + 2 * value;
    int half = sum / 2;
    return half > 30;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", INITIAL);
    let (answer, code) = located(&sandbox, "--test ./p·12 --passing ./p·3");
    assert_eq!((code, &answer["same_control_flow"]), (0, &true.into()));
    assert_eq!(answer["branches"].as_array().map(Vec::len), Some(0));
    // What was read is input; the first assignment made of it is this one.
    assert!(
        answer["values"][0]["place"]["text"].as_str().unwrap().contains("base + 2 * value"),
        "{answer:#}"
    );
    assert_eq!(answer["initial"][0]["name"], "base");
    assert_eq!(answer["initial"][0]["value"], "40");
    assert!(rank(&answer, "static int base").is_some_and(|rank| rank <= 5), "{answer:#}");
}

#[test]
fn an_off_by_one_in_a_loop_bound_is_the_loop() {
    const BOUND: &str = "\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = argc - 1, sum = 0;
    for (int i = 1; i < n; i++) {
        int x = atoi(argv[i]);
        if (x > 0)
            sum += x;
    }
    printf(\"%d\\n\", sum);
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", BOUND);
    sandbox.file("expected", "6\n");
    sandbox.file("cases.txt", "# the last number does not count\n./p 1 2 -3 | grep -qx 3\n./p 5 -1 | grep -qx 5\n./p 0 | grep -qx 0\n");
    let (answer, code) = located(&sandbox, "--test ./p·1·2·3 --expect expected --suite cases.txt");
    assert_eq!((code, &answer["pool"]["runs"]), (0, &3.into()));
    assert!(rank(&answer, "for (int i = 1; i < n; i++)").is_some_and(|rank| rank <= 3), "{answer:#}");
}

#[test]
fn a_wrong_operator_is_behind_its_branch() {
    const OPERATOR: &str = "\
#include <stdio.h>
#include <string.h>
int main(void) {
    char word[16];
    int number, balance = 0;
    while (scanf(\"%15s %d\", word, &number) == 2) {
        if (strcmp(word, \"in\") == 0)
            balance += number;
        else if (strcmp(word, \"out\") == 0)
            balance += number;
        else
            return 3;
    }
    printf(\"%d\\n\", balance);
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", OPERATOR);
    std::fs::create_dir(sandbox.path().join("cases")).unwrap();
    for (name, input, output) in [
        ("1", "in 5\nin 2\n", "7\n"),
        ("2", "in 5\nout 2\n", "3\n"),
        ("3", "in 1\n", "1\n"),
        ("4", "", "0\n"),
    ] {
        sandbox.file(&format!("cases/{name}.in"), input);
        sandbox.file(&format!("cases/{name}.out"), output);
    }
    let (answer, code) =
        located(&sandbox, "--test ./p·<·cases/2.in --expect cases/2.out --suite cases --template ./p·<·{}");
    assert_eq!((code, &answer["pool"]["passed"], &answer["pool"]["failed"]), (0, &3.into(), &1.into()));
    assert!(answer["passing"]["command"].as_str().unwrap().contains("1.in"), "{answer:#}");
    // Both assignments read the same; the wrong one is guarded by a branch that went another way.
    let lines = answer["lines"].as_array().unwrap();
    let at = |line: u32| lines.iter().position(|entry| entry["place"]["line"] == line);
    assert!(at(10).is_some_and(|rank| rank < 3), "{answer:#}");
    assert_eq!(lines[at(10).unwrap()]["why"], "guarded");
}

/// A faulty program may run for ever on other inputs of its suite.
#[test]
fn a_run_of_the_pool_that_does_not_end_is_stopped_and_said() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "p.c",
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n    int n = atoi(argv[argc - 1]), sum = 0;\n    \
         for (int i = 0; i != n; i += 2)\n        sum += i;\n    if (n > 4)\n        sum++;\n    printf(\"%d\\n\", sum);\n    return n > 4;\n}\n",
    );
    let (answer, code) =
        located(&sandbox, "--test ./p·6 --timeout 1 --passing ./p·7 --passing ./p·4 --passing ./p·9");
    assert_eq!((code, &answer["pool"]["passed"], &answer["pool"]["failed"]), (0, &1.into(), &2.into()));
    let notes = answer["notes"].to_string();
    assert!(notes.contains("2 of these runs did not end within 1 s"), "{notes}");
    assert!(rank(&answer, "if (n > 4)").is_some(), "{answer:#}");
}

#[test]
fn without_a_passing_run_the_slice_is_left() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    sandbox.file("expected", "upward\n");
    let (answer, code) = located(&sandbox, "--test ./p·1·100 --expect expected --passing ./p·&&·false");
    assert_eq!((code, &answer["passing"]), (1, &Value::Null));
    assert_eq!(answer["pool"]["failed"], 1);
    assert!(rank(&answer, "if (sep > 150)").is_some(), "{answer:#}");
}

#[test]
fn a_test_that_passes_and_one_that_cannot_run_are_said() {
    let mut sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    sandbox.run(&format!("relapse locate {BUILD} --test ./p·0·20 --passing ./p·0·20"));
    assert_session!(sandbox, @r#"
    $ relapse locate --quiet --work work --build $CC·-g·-o·p·p.c --test ./p·0·20 --passing ./p·0·20
    [stderr] relapse: failed to see the test fail: it passes (exit 0)
    [stderr]  There is nothing to locate. Name a test that fails, and what it is to write as --expect.
    [exit 6]
    "#);
    let code = |words: &str| {
        sandbox.execute(&format!("relapse locate --quiet --work work {words}"), "").status.code()
    };
    assert_eq!(code("--build $CC·-g·-o·p·p.c --test ./q --passing ./p·0·20"), Some(10));
    assert_eq!(code("--build false --test ./p"), Some(8));
    // The shell fails, and nothing of the program runs: there is no line to report.
    assert_eq!(code("--build $CC·-g·-o·p·p.c --test ./p·<·nowhere --passing true"), Some(5));
    // Every second run fails.
    assert_eq!(code("--build true --test mkdir·../flag·&&·exit·0;·rmdir·../flag;·exit·1"), Some(7));
}

/// A script compares the output: the program itself ends well.
#[test]
fn what_a_script_finds_wrong_is_what_the_program_wrote_last() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    sandbox.file("check.sh", "./p \"$@\" > out; grep -q upward out\n");
    let (answer, code) = located(&sandbox, "--test sh·check.sh·1·100 --passing sh·check.sh·0·60");
    assert_eq!((code, &answer["observation"]["summary"]), (0, &"the test ended with exit 1".into()));
    assert_eq!(answer["branches"].as_array().map(Vec::len), Some(3));
    for branch in answer["branches"].as_array().unwrap() {
        assert_eq!(branch["slice"], "dynamic", "{answer:#}");
    }
}

/// All that passes goes the other way at the assertion itself, which says nothing about the fault.
#[test]
fn the_condition_of_the_failed_assertion_is_no_difference() {
    const SETTLE: &str = "\
#include <assert.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int b = atoi(argv[1]), c = atoi(argv[2]);
    if (b < 0)
        c = c + 1;
    int d = c + 3;
    assert(d == 5);
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", SETTLE);
    let (answer, code) = located(&sandbox, "--test ./p·1·1 --passing ./p·1·2 --passing ./p·-1·1");
    assert_eq!((code, &answer["passing"]["command"]), (0, &"./p -1 1".into()));
    assert_eq!(rank(&answer, "if (b < 0)"), Some(1));
    assert_eq!(answer["branches"].as_array().map(Vec::len), Some(1));
    // The other run takes the same way: what differs in it is a value.
    assert_eq!(answer["values_from"]["command"], "./p 1 2");
    assert!(answer["values"][0]["place"]["text"].as_str().unwrap().contains("int d = c + 3"), "{answer:#}");
}

/// F17: the failing input is 2, and only 3 passes: leaving out parts of the input finds nothing.
#[test]
fn f17_without_a_suite_inputs_near_to_the_failing_one_are_tried() {
    const THREE: &str = "\
#include <stdlib.h>
int main(int argc, char **argv) {
    int i = atoi(argv[1]), ok = 0;
    if (i == 3)
        ok = 1;
    return ok ? 0 : 1;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", THREE);
    let (answer, code) = located(&sandbox, "--test ./p·2");
    assert_eq!((code, &answer["pool"]["kind"]), (0, &"perturbed".into()));
    assert_eq!(answer["passing"]["command"], "./p 3");
    assert_eq!(answer["passing"]["input"], "`3` for `2` in argv[1]");
    assert!(rank(&answer, "if (i == 3)").is_some_and(|rank| rank <= 2), "{answer:#}");
}

/// Each of five lines makes it fail: no single mutation passes, and what is left of the input does not
/// either until the last one of them is gone.
#[test]
fn an_input_that_fails_for_many_reasons_is_made_smaller() {
    const TABS: &str = "\
#include <stdio.h>
#include <string.h>
int main(void) {
    char word[32];
    int tabs = 0;
    while (scanf(\"%31s\", word) == 1)
        if (strcmp(word, \"tab\") == 0)
            tabs++;
    if (tabs > 0)
        return 4;
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TABS);
    sandbox.file("in", "one tab\ntab two\nthree tab\ntab four\nfive tab\n");
    let (answer, code) = located(&sandbox, "--test ./p·<·in --perturb 20");
    assert_eq!((code, &answer["pool"]["kind"]), (0, &"perturbed".into()), "{answer:#}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("it still fails in the same way with 3 of 44 bytes, `tab`"), "{notes}");
    assert!(rank(&answer, "if (tabs > 0)").is_some_and(|rank| rank <= 2), "{answer:#}");
}

/// What is asked last only asks for what the branch before it decided; that one has a number to compare, which
/// a function gave that is not recorded.
#[test]
fn a_branch_that_only_follows_from_another_one_is_folded() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    sandbox.file("expected", "upward\n");
    let (answer, code) = located(&sandbox, "--test ./p·1·100 --expect expected --passing ./p·0·60");
    assert_eq!(code, 0);
    let branches = answer["branches"].as_array().unwrap();
    let follows: Vec<(&str, Option<&str>)> = branches
        .iter()
        .map(|b| (b["place"]["text"].as_str().unwrap(), b["follows"]["text"].as_str()))
        .collect();
    let sep = "if (sep > 150)";
    assert_eq!(follows, [("if (up > 0)", Some(sep)), (sep, None), ("if (climb)", None)]);
}

/// No mutation has these four bytes; only the branches say what they must be.
#[test]
fn a_solver_finds_the_input_that_turns_the_branches() {
    const MAGIC: &str = "\
#include <stdio.h>
int main(void) {
    char b[4];
    if (fread(b, 1, 4, stdin) != 4)
        return 2;
    int ok = 0;
    if (b[0] * 3 == 'K' * 3 && b[1] == b[0] + 7 && b[2] == 'z')
        ok = 1;
    if (!ok)
        return 1;
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", MAGIC);
    sandbox.file("in", "KRxxxx");
    let (answer, code) = located(&sandbox, "--test ./p·<·in --perturb 0");
    assert_eq!((code, &answer["pool"]["kind"]), (0, &"generated".into()));
    assert!(answer["passing"]["input"].as_str().unwrap().contains("KRz"), "{answer:#}");
    assert!(rank(&answer, "if (b[0] * 3").is_some_and(|rank| rank <= 3), "{answer:#}");
}

#[test]
fn reports_for_browsers_and_services() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    sandbox.file("expected", "upward\n");
    let (_, code) = located(
        &sandbox,
        "--test ./p·1·100 --expect expected --passing ./p·0·20 --html page.html --sarif log.sarif",
    );
    assert_eq!(code, 0);
    let page = std::fs::read_to_string(sandbox.path().join("page.html")).unwrap();
    assert!(page.contains("<code>if (climb)</code>") && page.contains("failing run"), "{page}");
    let log: Value =
        serde_json::from_slice(&std::fs::read(sandbox.path().join("log.sarif")).unwrap()).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "relapse/suspicious-line");
    let region = &result["locations"][0]["physicalLocation"];
    assert_eq!(
        (&region["artifactLocation"]["uri"], &region["region"]["startLine"]),
        (&"p.c".into(), &5.into())
    );
}

/// A list of tests, a program that reports in TAP, and a name in the place of a command.
#[test]
fn tests_of_the_test_anything_protocol_fail_by_what_they_print() {
    const PROVED: &str = "\
#include <stdio.h>
#include <stdlib.h>
static int half(int n) {
    if (n > 10)
        return n / 2 + 1;
    return n / 2;
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    printf(\"1..2\\n\");
    printf(\"%s 1 - half\\n\", half(n) * 2 <= n ? \"ok\" : \"not ok\");
    printf(\"ok 2 - end\\n\");
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", PROVED);
    sandbox.file("list", "./p 2\n./p 8\n./p 20\n");
    let (answer, code) = located(&sandbox, "--oracle tap --test ./p·12 --suite list");
    assert_eq!((code, &answer["pool"]["passed"], &answer["pool"]["failed"]), (0, &2.into(), &1.into()));
    assert_eq!(answer["observation"]["summary"], "the program reports `not ok 1 - half`");
    assert!(rank(&answer, "if (n > 10)").is_some_and(|rank| rank <= 2), "{answer:#}");
}

/// The results of `make check` name the tests.
#[test]
fn tests_of_make_check_are_read_from_their_results() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    std::fs::create_dir(sandbox.path().join("t")).unwrap();
    for (name, arguments) in [("climb", "1 100"), ("level", "0 60"), ("high", "1 200")] {
        let script = format!("#!/bin/sh\n../p {arguments} | grep -q upward\n");
        sandbox.file(&format!("t/{name}.sh"), &script);
        let path = sandbox.path().join(format!("t/{name}.sh"));
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        sandbox.file(&format!("t/{name}.trs"), ":test-result: PASS\n:global-test-result: PASS\n");
    }
    sandbox.file("t/tty.trs", ":test-result: SKIP\n:global-test-result: SKIP\n");
    let (answer, code) = located(&sandbox, "--suite t --test t/climb");
    assert_eq!((code, &answer["pool"]["passed"], &answer["pool"]["runs"]), (0, &2.into(), &2.into()));
    assert_eq!(answer["failing"]["command"], "cd t && srcdir=. ./climb.sh");
    assert!(rank(&answer, "if (sep > 150)").is_some_and(|rank| rank <= 3), "{answer:#}");
}

/// The build makes the directory that CTest knows; the tests run in copies of it.
#[test]
fn tests_of_ctest_are_listed_by_it() {
    if std::process::Command::new("ctest").arg("--version").output().is_err() {
        eprintln!("ctest is not installed");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    // What CMake writes.
    sandbox.file(
        "tests.cmake",
        "add_test(climb \"@T@/b/p\" \"1\" \"100\")\nadd_test(high \"@T@/b/p\" \"1\" \"200\")\n\
         add_test(said \"@T@/b/p\" \"1\" \"200\")\n\
         set_tests_properties(said PROPERTIES PASS_REGULAR_EXPRESSION \"up\")\n",
    );
    sandbox.file(
        "build.sh",
        "mkdir b && sed 's/return 0/return !up/' p.c > b/p.c && $CC -g -o b/p b/p.c\n\
         sed \"s|@T@|$PWD|\" tests.cmake > b/CTestTestfile.cmake\n",
    );
    let words = "relapse locate --quiet --work work --build sh·build.sh --json - --suite b --test";
    let output = sandbox.execute(&format!("{words} climb"), "");
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!((output.status.code(), &answer["pool"]["passed"]), (Some(0), &1.into()), "{answer:#}");
    assert!(
        answer["notes"][0].as_str().unwrap().contains("said: it is judged by what it prints"),
        "{answer:#}"
    );
    assert!(rank(&answer, "if (sep > 150)").is_some_and(|rank| rank <= 4), "{answer:#}");
    // Neither tests of CTest nor anything else.
    let output = sandbox.execute(&format!("{} ./b/p·1·100", words.replace("--suite b", "--suite c")), "");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A pool that was out of time is gone on with.
#[test]
fn a_search_without_time_is_gone_on_with() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    sandbox.file("expected", "upward\n");
    sandbox.file("list", "./p 0 20 && sleep 2\n./p 0 30\n./p 0 10\n");
    let words = "--test ./p·1·100 --expect expected --suite list --jobs 1 --repeat 1";
    let (answer, _) = located(&sandbox, &format!("{words} --budget 1s"));
    assert_eq!(answer["pool"]["runs"], 1, "{answer:#}");
    let (answer, code) = located(&sandbox, words);
    assert_eq!((code, &answer["pool"]["runs"], &answer["pool"]["passed"]), (0, &3.into(), &3.into()));
    assert!(!sandbox.path().join("work/pool").exists());
}

/// The program is not recorded if it does not know where to: what is left is coverage.
#[test]
fn what_cannot_be_recorded_is_located_by_coverage() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    sandbox.file("expected", "upward\n");
    let words =
        "--test env·-u·RELAPSE_RECORD_DIR·./p·1·100 --expect expected --passing ./p·0·20 --passing ./p·0·90";
    let (answer, code) = located(&sandbox, words);
    assert_eq!((code, &answer["coverage_only"], &answer["pool"]["passed"]), (0, &true.into(), &2.into()));
    assert!(answer["notes"][0].as_str().unwrap().contains("by coverage only"), "{answer:#}");
    assert_eq!(rank(&answer, "sep = up_sep;"), Some(1));
    assert_eq!(answer["lines"][0]["suspicion"], 1.0);
}

#[test]
fn what_was_tested_is_told_as_the_line_has_it() {
    const SEVERAL: &str = "\
#include <stdio.h>
#include <stdlib.h>
#define IS_FREE(seats) ((seats) > 0 && (seats) < 9)
int main(int argc, char **argv) {
    int seats = atoi(argv[1]), late = atoi(argv[2]);
    const char *answer = \"no\";
    if (!late)
        answer = \"maybe\";
    if (late < 5 && seats == 2)
        answer = \"yes\";
    if (IS_FREE(seats))
        puts(\"free\");
    puts(answer);
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", SEVERAL);
    sandbox.file("expected", "yes\n");
    let (answer, _) = located(&sandbox, "--test ./p·0·0 --expect expected --passing ./p·2·1");
    let told = |text: &str| {
        let entries = answer["branches"].as_array().expect("branches");
        let entry = entries.iter().find(|entry| entry["place"]["text"].as_str().unwrap().contains(text));
        let entry = entry.unwrap_or_else(|| panic!("{text}: {answer}"));
        [&entry["condition"], &entry["failing"], &entry["passing"]]
            .map(|v| v.as_str().unwrap_or("-").to_owned())
    };
    // Branches test `late`, not its negation.
    assert_eq!(told("!late"), ["-", "true", "false"]);
    assert_eq!(told("late < 5"), ["seats == 2", "false", "true"]);
    // Nobody knows what a macro tests first.
    let [_, failing, passing] = told("IS_FREE");
    assert!(
        [&*failing, &*passing] == ["false", "true"] || [&*failing, &*passing] == ["to line 13", "to line 12"]
    );
}

#[test]
fn a_loop_without_end_is_located_beside_runs_that_end() {
    const ENDLESS: &str = "\
#include <stdio.h>
int main(void) {
    int c = getchar(), words = 0;
    while (c != EOF) {
        if (c == ' ') {
            words++;
            c = getchar();
        } else if (c != '-') {
            c = getchar();
        }
    }
    printf(\"%d\\n\", words);
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", ENDLESS);
    sandbox.file("bad.in", "a b-c");
    sandbox.file("good.in", "a b c");
    let (answer, code) = located(&sandbox, "--timeout 2 --test ./p·<·bad.in --passing ./p·<·good.in");
    assert_eq!(code, 0, "{answer}");
    let summary = answer["observation"]["summary"].as_str().unwrap();
    assert!(summary.contains("in a loop in main (p.c:4) that did not end"), "{summary}");
    assert!(rank(&answer, "c != '-'").is_some_and(|rank| rank <= 5), "{answer}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("did not end within 2 s; 0.25 s of it were recorded"), "{notes}");
}

/// Killed, it cannot clean up; somebody does, although the program hangs.
#[test]
fn no_program_outlives_a_search_that_is_killed() {
    const ENDLESS: &str = "\
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], \"a\");
    fprintf(file, \"%d\\n\", (int)getpid());
    fclose(file);
    for (volatile long n = 0;; n++) {}
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", ENDLESS);
    let started = sandbox.path().join("started");
    let mut search = std::process::Command::new(env!("CARGO_BIN_EXE_relapse"))
        .args([
            "locate",
            "--quiet",
            "--work",
            "work",
            "--build",
            "$CC -g -o p p.c",
            "--timeout",
            "600",
            "--test",
        ])
        .arg(format!("./p {}", started.display()))
        .args(["--passing", "true"])
        .current_dir(sandbox.path())
        .spawn()
        .unwrap();
    let wait_for = |what: &str, is_so: &dyn Fn() -> bool| {
        let began = std::time::Instant::now();
        while !is_so() {
            assert!(began.elapsed().as_secs() < 120, "{what}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let numbers = || std::fs::read_to_string(&started).unwrap_or_default();
    wait_for("the program does not begin", &|| numbers().ends_with('\n'));
    let number = numbers().lines().next().unwrap().to_owned();
    let is_running = || {
        let command = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains("started")
    };
    assert!(is_running());
    search.kill().unwrap();
    search.wait().unwrap();
    wait_for("the program goes on", &|| !is_running());
}

/// One test, and nothing that passes: what it got right says where not to look.
#[test]
fn lines_that_right_output_needs_too_are_behind_those_that_only_the_wrong_one_needs() {
    const AREAS: &str = "\
#include <stdio.h>
static int number(const char *text) {
    int n = 0;
    while (*text)
        n = n * 10 + (*text++ - '0');
    return n;
}
static int border(int n) {
    return n + 1;
}
int main(int argc, char **argv) {
    int width = number(argv[1]), height = number(argv[2]);
    int outer = border(width);
    int strip = outer * 2;
    int frame = strip + height;
    printf(\"sum %d\\n\", width + height);
    printf(\"difference %d\\n\", width - height);
    printf(\"frame %d\\n\", frame);
    printf(\"area %d\\n\", width * height);
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", AREAS);
    sandbox.file("expected", "sum 15\ndifference 9\nframe 31\narea 36\n");
    let (answer, code) = located(&sandbox, "--test ./p·12·3 --expect expected");
    assert_eq!((code, answer["passing"].is_null()), (1, true));
    let of = |text: &str| rank(&answer, text).unwrap_or_else(|| panic!("{text}: {answer:#}"));
    // `n * 10` is nearer to the output than what `border` gives.
    for shared in ["n = n * 10", "while (*text)", "return n;", "int n = 0"] {
        assert!(of("return n + 1;") < of(shared), "{shared}: {answer:#}");
    }
}

/// A line's values are those after it; what was there from the start is what it read.
#[test]
fn an_initial_value_is_the_one_that_was_read() {
    const COUNT: &str = "\
#include <stdio.h>
#include <stdlib.h>
static int total = 7;
int main(int argc, char **argv) {
    total += atoi(argv[1]);
    printf(\"%d\\n\", total);
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", COUNT);
    sandbox.file("expected", "3\n");
    let (answer, _) = located(&sandbox, "--test ./p·3 --expect expected");
    assert_eq!(answer["initial"][0]["name"], "total", "{answer:#}");
    assert_eq!(answer["initial"][0]["value"], "7", "{answer:#}");
}

/// Lines of one process are reported, which is said.
#[test]
fn other_processes_of_the_test_are_named() {
    let sandbox = Sandbox::new();
    sandbox.file("p.c", TCAS);
    sandbox.file("expected", "upward\nupward\n");
    let (answer, _) = located(&sandbox, "--test ./p·0·90;·./p·0·10 --expect expected --passing ./p·0·10");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("the test ran 1 more recorded process,"), "{notes}");
    assert!(notes.contains("of one process, `./p 0 10`"), "{notes}");
}

/// A filter that only passes on what is wrong is followed to the program that computed it, whether the filter
/// is recorded or not.
#[test]
fn pipelines_are_followed_to_what_computed_the_output() {
    const CLIMB: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], \"pass\") == 0) {
        char line[99];
        while (fgets(line, sizeof line, stdin))
            fputs(line, stdout);
        return 0;
    }
    int separation = argc > 1 ? atoi(argv[1]) : 0;
    int limit = separation > 40 ? 150 : 100;
    printf(\"%d\\n\", separation * 2);
    printf(\"%s\\n\", separation > limit ? \"far\" : \"near\");
    return 0;
}
";
    for (filter, passed_on) in [("./p·pass", true), ("cat", false), ("./p·pass·|·cat", true)] {
        let sandbox = Sandbox::new();
        sandbox.file("p.c", CLIMB);
        sandbox.file("expected", "240\nfar\n");
        let words = format!("--expect expected --test ./p·120·|·{filter} --passing ./p·30·|·{filter}");
        let (answer, _) = located(&sandbox, &words);
        let line = rank(&answer, "separation > 40");
        assert!(line.is_some_and(|line| line <= 3), "{filter}: {answer:#}");
        let notes = answer["notes"].to_string();
        let said = "What is wrong is only passed on by `./p pass`: `./p 120` sent it.";
        assert_eq!(notes.contains(said), passed_on, "{filter}: {notes}");
    }
}

/// A process that computes what is wrong keeps the question.
#[test]
fn a_filter_that_computes_is_looked_at() {
    const DOUBLE: &str = "\
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    int n = 0;
    if (argc > 1 && strcmp(argv[1], \"double\") == 0) {
        scanf(\"%d\", &n);
        n = n > 9 ? n * 3 : n * 2;
    } else {
        n = argc > 2 ? 5 : 11;
    }
    printf(\"%d\\n\", n);
    return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.file("p.c", DOUBLE);
    sandbox.file("expected", "22\n");
    let (answer, _) = located(&sandbox, "--expect expected --test ./p·one·|·./p·double");
    assert!(rank(&answer, "n > 9").is_some_and(|line| line <= 3), "{answer:#}");
    assert!(answer["notes"].to_string().contains("of one process, `./p double`"), "{answer:#}");
}

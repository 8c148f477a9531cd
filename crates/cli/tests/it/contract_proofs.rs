//! What a check of contracts says of states that no run came to.

use crate::contracts::checked;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
struct account { long balance; int moves; struct account *other; };
static int limit = 50;
int larger(int a, int b)
{
    if (a < b) return b;
    return a;
}
int clamp(int n)
{
    return n > limit ? limit : n;
}
int pay(struct account *a, long amount)
{
    if (amount < 0) return 0;
    a->balance -= amount;
    a->moves++;
    return 1;
}
int share(struct account *a, int n)
{
    return a->balance / n + larger(n, a->other->moves);
}
int sum(int n)
{
    int all = 0;
    for (int i = 0; i < n; i++) all += i;
    return all;
}
int main(void)
{
    struct account b = { 3, 0, NULL }, a = { 100, 1, &b };
    printf("%d %d %d %d %d\n", larger(3, 4), clamp(7), pay(&a, 10), share(&a, 3), sum(4));
    return 0;
}
"#;

fn says(from: &str, to: &str, options: &str, told: &str) {
    let (code, said) = checked(PROGRAM, (from, to), options);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(told), "{told}: {said}");
}

/// A counterexample is found, and both versions were run from it.
fn refutes(from: &str, to: &str, options: &str, told: &[&str]) {
    let (code, said) = checked(PROGRAM, (from, to), options);
    assert_eq!(code, Some(1), "{said}");
    for told in
        ["violated from a state that no test comes to", "both versions were run from it"].iter().chain(told)
    {
        assert!(said.contains(told), "{told}: {said}");
    }
}

#[test]
fn another_way_to_the_same_result_is_proved() {
    let to = "    return b > a ? b : a;";
    let proved = "proved for all states: 2 paths in good, 2 paths in bad\n";
    says("    if (a < b) return b;\n    return a;", to, "--unchanged larger", proved);
    says("n > limit ? limit : n", "n <= limit ? n : limit", "--unchanged clamp", "proved for all states");
}

#[test]
fn a_state_that_no_test_comes_to_is_run() {
    let to = "if (n == 77) return 300;\n    return n > limit";
    refutes("return n > limit", to, "--unchanged clamp", &["n = 77", "bad:  returns 300"]);
    refutes("if (a < b)", "if (a <= b + 1)", "--unchanged larger", &[]);
    // Of a function that nobody named it is told, and no more.
    let to = "if (n == 77) return 300;\n    return n > limit";
    says("return n > limit", to, "--unchanged", "nothing changed");
}

#[test]
fn what_cannot_be_run_or_does_not_come_true_is_no_violation() {
    let to = "if (n == 77) return 300;\n    return n > limit";
    let (code, said) = crate::contracts::checked_by(
        PROGRAM,
        ("return n > limit", to),
        "--unchanged clamp",
        "./p;·chmod·-x·p",
    );
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("undecided: the solver found a state") && said.contains("it was not run: "),
        "{said}"
    );
    // Where a variable lies is not for the solver to choose.
    let from = "return a->balance / n + larger(n, a->other->moves);";
    let to = |n: &str| format!("return a->other == &first ? {n} : n;");
    let program = PROGRAM
        .replace(from, &to("1"))
        .replace("static int limit", "struct account first;\nstatic int limit");
    let (code, said) = checked(&program, (&to("1"), &to("2")), "--unchanged share");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("run from there both versions do something else"), "{said}");
}

#[test]
fn memory_behind_pointers_is_followed() {
    let from = "    a->balance -= amount;\n    a->moves++;";
    let assumed = "proved for all states: 3 paths in good, 3 paths in bad; given that pointers that are followed are NULL or valid";
    says(from, "    a->moves += 1;\n    a->balance = a->balance - amount;", "--unchanged pay", assumed);
    let to = "    a->moves++;\n    a->balance -= amount ? amount : 1;";
    let memory = "a->balance: 0 in good, -1 in bad";
    refutes(from, to, "--unchanged pay", &["amount = 0", "both: returns 1", memory]);
    // A check that comes later ends otherwise for NULL.
    let to = "if (!a || amount < 0) return 0;";
    refutes(
        "if (amount < 0) return 0;",
        to,
        "--unchanged pay",
        &["a = NULL", "good: ends with SIGSEGV", "bad:  returns 0"],
    );
}

#[test]
fn what_it_calls_and_divisions_are_followed() {
    let from = "return a->balance / n + larger(n, a->other->moves);";
    let to = "long part = a->balance / n;\n    return larger(n, a->other->moves) + part;";
    says(from, to, "--unchanged share", "proved for all states");
    let to = "if (n == 0) return 0;\n    return a->balance / n + larger(n, a->other->moves);";
    refutes(from, to, "--unchanged share", &["n = 0", "good: ends with SIG", "bad:  returns 0"]);
}

#[test]
fn what_is_out_of_reach_is_said() {
    says("all += i;", "all = all + i;", "--unchanged sum", "not proved for all states: it has a loop");
}

/// Of `clamp`: the limit itself is allowed to grow by one, where it is small.
const CONTRACT: &str = "\
//@ changed_behavior
//@   requires n > limit && limit < 100;
//@   ensures \\result == \\prev(\\result) + 1 && limit == \\old(limit);
int clamp(int n)
{
";

#[test]
fn a_contract_is_proved_case_by_case() {
    let from = "int clamp(int n)\n{\n    return n > limit ? limit : n;";
    let to = |body: &str| format!("{CONTRACT}    return {body};");
    says(from, &to("n > limit ? limit + (limit < 100) : n"), "", "proved for all states");
    // As the contract says, but it changes what no case speaks of.
    refutes(from, &to("n > limit ? limit + (limit < 101) : n"), "", &["limit = 100"]);
    // Where the case applies, it is not fulfilled.
    refutes(from, &to("n > limit ? limit + (limit < 100 && limit != 8) : n"), "", &["limit = 8"]);
}

#[test]
fn a_bool_is_a_parameter_as_others() {
    let program = "#include <stdbool.h>\nint f(bool on, short n) { return on ? n : 4; }\n\
        int main(void) { return f(true, 3) + f(false, 3) - 7; }\n";
    let contract = |n: &str| {
        format!(
            "//@ changed_behavior requires !on; ensures \\result == {n};\nint f(bool on, short n) {{ return on ? n : 5; }}"
        )
    };
    let from = "int f(bool on, short n) { return on ? n : 4; }";
    let (code, said) = checked(program, (from, &contract("5")), "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("proved for all states: 2 paths in good, 2 paths in bad\n"), "{said}");
    let (code, said) = checked(program, (from, &contract("6")), "");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("called with on = false, n = 3"), "{said}");
    let (code, said) = checked(program, ("on ? n : 4", "on && n != -77 ? n : 4"), "--unchanged f");
    assert_eq!(code, Some(1), "{said}");
    for told in ["called with on = 1, n = -77\n", "good: returns -77\n", "bad:  returns 4\n"] {
        assert!(said.contains(told), "{told}: {said}");
    }
}

//! What a check of contracts says of states that no run came to.

mod contracts;
mod desk;

use contracts::checked;

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

#[test]
fn another_way_to_the_same_result_is_proved() {
    let to = "    return b > a ? b : a;";
    let proved = "proved for all states: 2 paths in good, 2 paths in bad\n";
    says("    if (a < b) return b;\n    return a;", to, "--unchanged larger", proved);
    says("n > limit ? limit : n", "n <= limit ? n : limit", "--unchanged clamp", "proved for all states");
}

#[test]
fn a_state_that_no_run_came_to_is_shown() {
    let found = "no run came to it: n = 77";
    says("return n > limit", "if (n == 77) return 3;\n    return n > limit", "--unchanged clamp", found);
    let (code, said) = checked(PROGRAM, ("if (a < b)", "if (a <= b + 1)"), "--unchanged larger");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("not so in all states") && !said.contains("proved for"), "{said}");
}

#[test]
fn memory_behind_pointers_is_followed() {
    let from = "    a->balance -= amount;\n    a->moves++;";
    let assumed = "proved for all states: 3 paths in good, 3 paths in bad; given that pointers that are followed are NULL or valid";
    says(from, "    a->moves += 1;\n    a->balance = a->balance - amount;", "--unchanged pay", assumed);
    says(from, "    a->moves++;\n    a->balance -= amount ? amount : 1;", "--unchanged pay", "amount = 0");
    // A check that comes later ends otherwise for NULL.
    says("if (amount < 0) return 0;", "if (!a || amount < 0) return 0;", "--unchanged pay", "a = NULL");
}

#[test]
fn what_it_calls_and_divisions_are_followed() {
    let from = "return a->balance / n + larger(n, a->other->moves);";
    let to = "long part = a->balance / n;\n    return larger(n, a->other->moves) + part;";
    says(from, to, "--unchanged share", "proved for all states");
    let to = "if (n == 0) return 0;\n    return a->balance / n + larger(n, a->other->moves);";
    says(from, to, "--unchanged share", "n = 0");
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
    says(from, &to("n > limit ? limit + (limit < 101) : n"), "", "limit = 100");
    // Where the case applies, it is not fulfilled.
    says(from, &to("n > limit ? limit + (limit < 100 && limit != 8) : n"), "", "limit = 8");
}

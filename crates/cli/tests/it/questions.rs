//! Questions as people type them: expressions in C, one execution of many, output by what it says.

use crate::sandbox::{Sandbox, marked_lines};

const LIST: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { PLAIN, LOUD = 4 }; enum { COUNT = 3 };
struct node {
    int value;
    unsigned low : 3, high : 5;
    enum kind kind;
    struct node *next;
    char name[8];
};
static struct node *list;
static int grid[2][3];

static void add(const char *name, int value) {
    static int calls;
    struct node *n = malloc(sizeof *n);
    memset(n, 0, sizeof *n);
    calls++;
    n->value = value;
    n->low = value & 7;
    n->high = calls;
    n->kind = value > 2 ? LOUD : PLAIN;
    strcpy(n->name, name);

    n->next = list;
    list = n;
}

static int total(void) {
    int sum = 0;
    for (struct node *n = list; n; n = n->next)
        sum += n->value * grid[1][n->low % 3];
    return sum;
}

int main(int argc, char **argv) {
    const char *names[] = { "one", "two", "three" }; for (int i = 0; i < 6; i++) grid[i / 3][i % 3] = i + 1;
    for (int i = 0; i < COUNT; i++)
        add(names[i], argc + i);
    fprintf(stderr, "warning: %s\n", list->name);
    printf("sum %d\n", total());
    fprintf(stderr, "warning: end\n");
    return 0;
}
"#;

fn recorded() -> Sandbox {
    let mut sandbox = Sandbox::with_program("list", LIST);
    let output = sandbox.record("./list", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sum 29\n");
    sandbox
}

/// The last column of `relapse values`.
fn column(sandbox: &mut Sandbox, line: &str) -> Vec<String> {
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.quietly(&format!("{line} --json"))).expect("JSON");
    let rows = json["executions"].as_array().expect("executions");
    rows.iter().map(|r| r["values"][0].as_str().unwrap_or("-").to_owned()).collect()
}

#[test]
fn values_of_expressions() {
    let mut sandbox = recorded();
    for (expression, values) in [
        ("n->value", ["3", "2", "1"]),
        ("n->low+10", ["13", "12", "11"]),
        ("n->high", ["3", "2", "1"]),
        ("n->kind", ["LOUD", "PLAIN", "PLAIN"]),
        ("n->kind==LOUD", ["1", "0", "0"]),
        // No variable has the type of this one.
        ("n->value==COUNT", ["1", "0", "0"]),
        ("n->name", ["\"three\"", "\"two\"", "\"one\""]),
        ("n->name[0]", ["116 't'", "116 't'", "111 'o'"]),
        ("n->next->value", ["2", "1", "<n->next is NULL>"]),
        ("n->next?n->next->value:-1", ["2", "1", "-1"]),
        ("grid[1][n->low\u{b7}%\u{b7}3]", ["4", "6", "5"]),
        ("grid[1]", ["{4, 5, 6}", "{4, 5, 6}", "{4, 5, 6}"]),
        ("*(short*)&n->value<<2", ["12", "8", "4"]),
        ("list==n", ["1", "0", "0"]),
        ("sizeof(struct\u{b7}node)", ["32", "32", "32"]),
    ] {
        assert_eq!(
            column(&mut sandbox, &format!("relapse values run list.c:34 {expression}")),
            values,
            "{expression}"
        );
    }
    assert_eq!(column(&mut sandbox, "relapse values run list.c:21 calls"), ["1", "2", "3"]);
}

#[test]
fn an_expression_depends_on_what_it_reads() {
    let mut sandbox = recorded();
    let mut lines = |at: &str| marked_lines(&sandbox.quietly(&format!("relapse slice run --at {at}")));
    // Of the bit-fields, each has a definition of its own.
    let low = lines("list.c:42:list->low");
    assert!(low.contains(&22) && !low.contains(&20) && !low.contains(&23), "{low:?}");
    let high = lines("list.c:42:list->high");
    assert!(high.contains(&23) && high.contains(&20) && !high.contains(&22), "{high:?}");
    // The pointer is part of what is read.
    let value = lines("list.c:42:list->value");
    assert!(value.contains(&21) && value.contains(&28) && !value.contains(&24), "{value:?}");
    let next = lines("list.c:42:list->next->kind");
    assert!(next.contains(&27) && next.contains(&24), "{next:?}");
}

#[test]
fn one_execution_of_many() {
    let mut sandbox = recorded();
    let values = |sandbox: &mut Sandbox, which: &str| {
        column(sandbox, &format!("relapse values run list.c:34 n->value {which}"))
    };
    assert_eq!(values(&mut sandbox, "--when n->value<3"), ["2", "1"]);
    assert_eq!(values(&mut sandbox, "--occurrence 2"), ["2"]);
    assert_eq!(values(&mut sandbox, "--when n->value<3 --occurrence 2"), ["1"]);
    assert_eq!(values(&mut sandbox, "--when n->name==\"two\""), ["2"]);
    assert_eq!(values(&mut sandbox, "--when n->next->value==1"), ["2"]);
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse values run list.c:34 n->value --json")).expect("JSON");
    assert_eq!(json["executions"][1]["occurrence"], 2);
    let second = json["executions"][1]["instruction"].as_u64().expect("a number");
    assert_eq!(values(&mut sandbox, &format!("--before {}", second + 1)), ["3", "2"]);

    // In a slice the same options choose one execution: the second node was made by the second call.
    let criterion = |sandbox: &mut Sandbox, which: &str| -> u64 {
        let text = sandbox.quietly(&format!("relapse slice run --at list.c:34:n->value {which} --json"));
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        json["criteria"][0]["instruction"].as_u64().expect("a number")
    };
    assert_eq!(criterion(&mut sandbox, "--occurrence 2"), second);
    assert_eq!(criterion(&mut sandbox, "--when n->value==2"), second);
    assert_eq!(criterion(&mut sandbox, &format!("--before {}", second + 1)), second);
    assert!(criterion(&mut sandbox, "") > second);
    let first = marked_lines(&sandbox.quietly("relapse slice run --at list.c:34 --occurrence 1"));
    let last = marked_lines(&sandbox.quietly("relapse slice run --at list.c:34"));
    // The sum of the rounds before is part of the last alone.
    assert!(first.contains(&34) && !first.contains(&27) && last.contains(&27), "{first:?} {last:?}");
}

#[test]
fn output_by_what_it_says() {
    let mut sandbox = recorded();
    let name = marked_lines(&sandbox.quietly("relapse slice run --output stderr:three"));
    assert!(name.contains(&25) && name.contains(&41) && !name.contains(&21), "{name:?}");
    let sum = marked_lines(&sandbox.quietly("relapse slice run --output stdout:29"));
    assert!(sum.contains(&34) && sum.contains(&21) && !sum.contains(&25), "{sum:?}");
    // Of the two warnings, the last has no name in it.
    let last = marked_lines(&sandbox.quietly("relapse slice run --output stderr:warning:"));
    assert_eq!(last, [44]);
    let first =
        marked_lines(&sandbox.quietly("relapse slice run --output stderr:\"warning:\u{b7}\" --occurrence 1"));
    assert_eq!(first, [42]);
}

#[test]
fn wrong_questions_are_answered_with_what_is_right() {
    let mut sandbox = recorded();
    sandbox.run("relapse values run list.c:34 n->valeu");
    sandbox.run("relapse values run list.c:34 node->value");
    sandbox.run("relapse slice run --at list.c:34:n.value");
    sandbox.run("relapse slice run --at list.c:34:n->next->value");
    sandbox.run("relapse slice run --at list.c:34 --when n->value==9");
    sandbox.run("relapse slice run --at list.c:34 --when n->valeu==9");
    sandbox.run("relapse values run list.c:34 --before 2");
    sandbox.run("relapse slice run --at list.c:34 --before 2");
    sandbox.run("relapse slice run --output stdout:nothing");
    assert_session!(sandbox, @r#"
    $ relapse values run list.c:34 n->valeu
    [stderr] relapse: `n->valeu` is wrong at column 4: struct node has no member valeu
    [stderr]  It has: value, low, high, kind, next, name.
    [exit 2]
    $ relapse values run list.c:34 node->value
    [stderr] relapse: `node->value` is wrong at column 1: nothing in scope is called node
    [stderr]  In scope at list.c:34: sum, n, grid, list.
    [exit 2]
    $ relapse slice run --at list.c:34:n.value
    [stderr] relapse: `n.value` is wrong at column 1: struct node * is a pointer: its members are reached with ->
    [exit 2]
    $ relapse slice run --at list.c:34:n->next->value
    [stderr] relapse: n->next->value has no value at list.c:34: n->next is NULL
    [exit 1]
    $ relapse slice run --at list.c:34 --when n->value==9
    [stderr] relapse: no execution of list.c:34 fits: where n->value==9
    [stderr]  `relapse values DIR list.c:34` lists its executions; the same options choose among them.
    [exit 1]
    $ relapse slice run --at list.c:34 --when n->valeu==9
    [stderr] relapse: `n->valeu==9` is wrong at column 4: struct node has no member valeu
    [stderr]  It has: value, low, high, kind, next, name.
    [exit 2]
    $ relapse values run list.c:34 --before 2
    [stderr] relapse: no execution of list.c:34 fits: before instruction 2
    [exit 1]
    $ relapse slice run --at list.c:34 --before 2
    [stderr] relapse: no execution of list.c:34 fits: before instruction 2
    [stderr]  `relapse values DIR list.c:34` lists its executions; the same options choose among them.
    [exit 1]
    $ relapse slice run --output stdout:nothing
    [stderr] relapse: no recorded call wrote "nothing" to stdout
    [stderr]  `relapse dump io DIR` lists what was written.
    [exit 1]
    "#);
    for (expression, said) in [
        ("n->", "`n->` is wrong at column 4: the name of a member is missing there"),
        ("n->value=3", "`n->value=3` is wrong at column 1: an assignment (is == meant?) cannot be evaluated"),
    ] {
        let output = sandbox.execute(&format!("relapse values run list.c:34 {expression}"), "");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(said), "{text}");
    }
}

#[test]
fn a_line_without_code_stands_for_the_next_statement() {
    let mut sandbox = recorded();
    let output = sandbox.execute("relapse values run list.c:26 calls --json", "");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, "relapse: list.c:26 has no code; the next statement is at line 27\n");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((json["line"].as_u64(), json["asked_line"].as_u64()), (Some(27), Some(26)));
    let slice: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse slice run --at list.c:26 --json")).expect("JSON");
    assert_eq!(slice["question"], "list.c:27");
}

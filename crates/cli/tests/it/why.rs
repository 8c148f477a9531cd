//! `relapse slice --why`: causes by formulas.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// The example of the method: line 5 decides wrongly, line 10 has the wrong
/// sign; the run goes 3 4 5 7 9 10 13.
const RUNNING: &str = r"#include <assert.h>
#include <stdlib.h>
int sorted;
static void f(int x, int y, int z) {
    int sum = 0;
    if (!sorted) {
        if (x < y)
            sum += x;
        else
            sum += y;
    } else
        sum += x;
    if (z > 0)
        sum += (0 - z);
    else
        sum = sum + z;
    assert(sum == 4);
}
int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    f(atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
    return 0;
}
";

fn causes(sandbox: &mut Sandbox, question: &str) -> Vec<(u64, u64, Vec<u64>)> {
    let text = sandbox.quietly(&format!("relapse slice run {question} --why --json"));
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let number = |value: &Value| value.as_u64().expect("a number");
    let causes = json["causes"].as_array().expect("causes").iter().map(|cause| {
        let mut lines: Vec<u64> =
            cause["lines"].as_array().expect("lines").iter().map(|l| number(&l["line"])).collect();
        lines.sort_unstable();
        (number(&cause["layer"]), number(&cause["line"]), lines)
    });
    causes.collect()
}

#[test]
fn the_running_example_has_the_causes_of_the_paper() {
    let mut sandbox = Sandbox::new();
    sandbox.file("f.c", RUNNING);
    sandbox.quietly("relapse cc -g -O0 -o f f.c");
    sandbox.record("./f 3 2 1", "");
    let causes = causes(&mut sandbox, "--failure");
    // The inputs, the assignments, the assertion; no branch.
    assert!(causes.contains(&(0, 17, vec![5, 10, 14, 17, 22])), "{causes:?}");
    // Its critical predicates are the branches at lines 7 and 13.
    let next: Vec<_> = causes.iter().filter(|c| c.0 == 1 && c.1 < 20).cloned().collect();
    assert_eq!(next, [(1, 13, vec![13, 22]), (1, 7, vec![7, 22])]);
}

#[test]
fn a_cause_ends_where_nothing_else_could_come_out() {
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "bound.c",
        r"#include <assert.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int far = atoi(argv[1]) * 3;
    int x = far + 1;
    if (x > 10) {
        int y = x / 2;
        assert(y < 5);
    }
    return 0;
}
",
    );
    sandbox.quietly("relapse cc -g -O0 -o bound bound.c");
    sandbox.record("./bound 40", "");
    let slice = sandbox.quietly("relapse slice run --failure --json");
    assert!(slice.contains("\"line\": 4"), "the slice goes back to where x came from: {slice}");
    let causes = causes(&mut sandbox, "--failure");
    // That x was above 10 is enough: where it came from does not matter.
    assert_eq!(causes[0], (0, 8, vec![6, 7, 8]), "{causes:?}");
}

#[test]
fn values_come_through_memory_and_calls() {
    let mut sandbox = Sandbox::with_program(
        "sum",
        r"#include <stdio.h>
#include <stdlib.h>
struct pair { int a, b; };
static int add(const struct pair *p) { return p->a + p->b; }
int main(int argc, char **argv) {
    struct pair pair = { atoi(argv[1]), 7 };
    struct pair copy = pair;
    int unused = atoi(argv[1]) * 9;
    int total = add(&copy);
    printf(`%d %d\n`, total, unused);
    return total;
}
"
        .replace('`', "\"")
        .as_str(),
    );
    sandbox.record("./sum 5", "");
    let causes = causes(&mut sandbox, "--at sum.c:11:total");
    let (layer, _, lines) = &causes[0];
    assert_eq!(*layer, 0);
    assert!(lines.contains(&4) && lines.contains(&6) && !lines.contains(&8), "{causes:?}");
}

#[test]
fn what_no_value_bears_on_is_said_so() {
    let mut sandbox =
        Sandbox::with_program("plain", "#include <stdlib.h>\nint main(void) {\n    abort();\n}\n");
    sandbox.record("./plain", "");
    let output = sandbox.run("relapse slice run --failure --why");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("could not be put as a formula"));
}

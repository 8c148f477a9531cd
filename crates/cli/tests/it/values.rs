//! `relapse values`.

use crate::sandbox::Sandbox;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>

struct point { int x, y; };
static int calls;

static int fold(const int *v, int n) {
    int total = 0;
    for (int i = 0; i < n; i++)
        total += v[i];
    if (total > 100)
        abort();
    calls++;
    return total;
}

static long down(int n) {
    return n <= 0 ? 0 : n + down(n - 1);
}

int main(int argc, char **argv) {
    int v[4] = {1, 2, 3, 4};
    struct point p = {argc, -argc};
    double half = argc / 2.0;
    const char *name = argv[1];
    p.x += fold(v, 4);
    printf("%d %g %s %ld\n", p.x, half, name, down(3));
    return 0;
}
"#;

fn recorded() -> Sandbox {
    let mut sandbox = Sandbox::with_program("fold", PROGRAM);
    let output = sandbox.record("./fold seven", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "12 1 seven 6\n");
    sandbox
}

#[test]
fn one_variable() {
    let mut sandbox = recorded();
    sandbox.run("relapse values run fold.c:11 total");
    sandbox.run("relapse values run fold.c:11 i");
    sandbox.run("relapse values run fold.c:14 calls");
    sandbox.run("relapse values run fold.c:29 p");
    sandbox.run("relapse values run fold.c:29 half");
    sandbox.run("relapse values run fold.c:29 name");
    assert_session!(sandbox, @r#"
    $ relapse values run fold.c:11 total
    instruction  total
      [N]  0 → 1
      [N]  1 → 3
      [N]  3 → 6
      [N]  6 → 10
    $ relapse values run fold.c:11 i
    instruction  i
      [N]  0
      [N]  1
      [N]  2
      [N]  3
    $ relapse values run fold.c:14 calls
    instruction  calls
      [N]  0 → 1
    $ relapse values run fold.c:29 p
    instruction  p
      [N]  {x = 12, y = -2}
    $ relapse values run fold.c:29 half
    instruction  half
      [N]  1
    $ relapse values run fold.c:29 name
    instruction  name
      [N]  [ADDRESS] "seven"
    "#);
}

#[test]
fn each_block_has_variables_of_its_own() {
    let mut sandbox = Sandbox::with_program(
        "blocks",
        r#"
#include <string.h>
struct s { unsigned low : 3; int high : 5; short rest; };
static int n;
int main(int argc, char **argv) {
    int t;
    for (int n = 0; n < 2; n++)
        t = n;
    n += 1;
    for (long n = 10; n < 12; n++)
        t += n;
    struct s a = {argc, -argc, 3}, b;
    b = a;
    b.low = 5;
    b.high++;
    memset(&a, 0, sizeof a);
    return t & 1;
}
"#,
    );
    sandbox.record("./blocks", "");
    sandbox.run("relapse values run blocks.c:8");
    sandbox.run("relapse values run blocks.c:9 n");
    sandbox.run("relapse values run blocks.c:11 n");
    sandbox.run("relapse values run blocks.c:13 b");
    sandbox.run("relapse values run blocks.c:14 b");
    sandbox.run("relapse values run blocks.c:15 b");
    sandbox.run("relapse values run blocks.c:16 a");
    sandbox.run("relapse values run blocks.c:17 t");
    assert_session!(sandbox, @r#"
    $ relapse values run blocks.c:8
    instruction  argc  argv  n  t  a  b
      [N]  1  [ADDRESS]  0  0  {low = 0, high = 0, rest = 0}  {low = 0, high = 0, rest = 0}
      [N]  1  [ADDRESS]  1  0 → 1  {low = 0, high = 0, rest = 0}  {low = 0, high = 0, rest = 0}
    $ relapse values run blocks.c:9 n
    instruction  n
      [N]  0 → 1
    $ relapse values run blocks.c:11 n
    instruction  n
      [N]  10
      [N]  11
    $ relapse values run blocks.c:13 b
    instruction  b
      [N]  {low = 0, high = 0, rest = 0} → {low = 1, high = -1, rest = 3}
    $ relapse values run blocks.c:14 b
    instruction  b
      [N]  {low = 1, high = -1, rest = 3} → {low = 5, high = -1, rest = 3}
    $ relapse values run blocks.c:15 b
    instruction  b
      [N]  {low = 5, high = -1, rest = 3} → {low = 5, high = 0, rest = 3}
    $ relapse values run blocks.c:16 a
    instruction  a
      [N]  {low = 1, high = -1, rest = 3} → {low = 0, high = 0, rest = 0}
    $ relapse values run blocks.c:17 t
    instruction  t
      [N]  22
    "#);
}

#[test]
fn recursion_keeps_executions_apart() {
    let mut sandbox = recorded();
    sandbox.run("relapse values run fold.c:19 n");
    sandbox.run("relapse values run fold.c:19 n --limit 2");
    assert_session!(sandbox, @r#"
    $ relapse values run fold.c:19 n
    instruction  n
      [N]  3
      [N]  2
      [N]  1
      [N]  0
    $ relapse values run fold.c:19 n --limit 2
    instruction  n
      [N]  3
      [N]  2
    stopped after 2 executions; --limit N shows more
    "#);
}

#[test]
fn all_variables_as_json() {
    let mut sandbox = recorded();
    let answer: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse values run fold.c:11 --limit 2 --json")).unwrap();
    assert_eq!(answer["schema"], "relapse.values/1");
    assert_eq!(answer["variables"], serde_json::json!(["v", "n", "total", "i"]));
    assert_eq!(answer["truncated"], true);
    let first = &answer["executions"][0];
    assert_eq!(first["function"], "fold");
    assert_eq!(first["values"].as_array().unwrap()[1..], [serde_json::json!("4"), "0".into(), "0".into()]);
    assert_eq!(first["after"][2], "1");
}

#[test]
fn questions_without_an_answer() {
    let mut sandbox = recorded();
    sandbox.run("relapse values run fold.c:13");
    sandbox.run("relapse values run fold.c:7");
    sandbox.run("relapse values run fold.c:11 sum");
    sandbox.run("relapse values run other.c:11 sum");
    assert_session!(sandbox, @r#"
    $ relapse values run fold.c:13
    [stderr] relapse: fold.c:13 never ran
    [stderr]  The nearest lines that ran are 12 and 14.
    [exit 1]
    $ relapse values run fold.c:7
    [stderr] relapse: fold.c:7 has no code of its own
    [stderr]  The nearest line that ran is 9.
    [exit 1]
    $ relapse values run fold.c:11 sum
    [stderr] relapse: `sum` is wrong at column 1: nothing in scope is called sum
    [stderr]  In scope at fold.c:11: v, n, total, i, calls.
    [exit 2]
    $ relapse values run other.c:11 sum
    [stderr] relapse: the recorded programs have no source file other.c
    [stderr]  They have fold.c.
    [exit 2]
    "#);
}

#[test]
fn files_of_the_same_name_are_told_apart() {
    let mut sandbox = Sandbox::new();
    for part in ["a", "b"] {
        std::fs::create_dir(sandbox.path().join(part)).unwrap();
        sandbox.file(&format!("{part}/part.c"), &format!("int {part}(int x) {{\n    return x + 1;\n}}\n"));
    }
    sandbox.file("main.c", "int a(int), b(int);\nint main(void) { return a(1) + b(1); }\n");
    sandbox.quietly("relapse cc -g -o main main.c a/part.c b/part.c");
    let output = sandbox.record("./main", "");
    assert_eq!(output.status.code(), Some(4));
    sandbox.run("relapse values run part.c:2 x");
    sandbox.run("relapse values run b/part.c:2 x");
    assert_session!(sandbox, @r#"
    $ relapse values run part.c:2 x
    [stderr] relapse: part.c names several files
    [stderr]  Say more of the path:
    [stderr]  a/part.c
    [stderr]  b/part.c
    [exit 2]
    $ relapse values run b/part.c:2 x
    instruction  x
      [N]  1
    "#);
}

/// A variable that was not read yet has the value that the binary gives it, until it is written.
#[test]
fn initial_values_are_known_before_they_are_read() {
    let mut sandbox = Sandbox::with_program(
        "initial",
        r#"#include <stdio.h>
static int limit = 10, table[3] = { 3, 1, 4 };
static const char *name = "x";
int main(int argc, char **argv) {
    int n = argc;
    for (int i = 0; i < 3; i++)
        n += table[i];
    n += limit;
    limit = 0;
    printf("%d %s\n", n, name);
    return limit;
}
"#,
    );
    sandbox.record("./initial", "");
    let mut values = |line: &str| -> Vec<serde_json::Value> {
        let text = sandbox.quietly(&format!("relapse values run initial.c:{line} --json"));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["executions"].as_array().unwrap().iter().map(|e| e["values"][0].clone()).collect()
    };
    assert_eq!(values("5 limit"), ["10"]);
    assert_eq!(values("7 table[i]"), ["3", "1", "4"]);
    assert_eq!(values("7 table"), ["{3, 1, 4}"; 3]);
    assert_eq!(values("10 limit"), ["0"]);
    // The loader fills addresses in: not known before, known after.
    assert_eq!(values("5 name"), [serde_json::Value::Null]);
    assert!(values("11 name")[0].as_str().is_some_and(|v| v.ends_with("\"x\"")));
}

#[test]
fn what_came_before_a_fork_is_shown_once() {
    let source = r#"#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int twice(int n) {
    return n * 2;
}

int main(int argc, char **argv) {
    int before = twice(argc + 4);
    pid_t child = fork();
    int after = twice(child == 0 ? before : 1);
    wait(NULL);
    return after > 100;
}
"#;
    let mut sandbox = Sandbox::with_program("forks", source);
    sandbox.record("./forks", "");
    let rows = |sandbox: &mut Sandbox, line: &str| -> Vec<(String, String)> {
        let json: serde_json::Value = serde_json::from_str(&sandbox.quietly(line)).expect("JSON");
        let rows = json["executions"].as_array().expect("executions").iter();
        rows.map(|row| (row["stream"].to_string(), row["values"][0].to_string())).collect()
    };
    let all = rows(&mut sandbox, "relapse values run forks.c:6 n --json");
    let mut values: Vec<&str> = all.iter().map(|row| row.1.as_str()).collect();
    values.sort_unstable();
    assert_eq!(values, ["\"1\"", "\"10\"", "\"5\""], "{all:?}");
    // A stream that is asked for by name is shown from its beginning.
    let child = &all.iter().find(|row| row.1 == "\"10\"").expect("the child's").0;
    let line = format!("relapse values run forks.c:6 n --json --stream {}", child.trim_matches('"'));
    assert_eq!(rows(&mut sandbox, &line).len(), 2);
}

/// The jump back from the end of a loop's body has the line of the loop, and is no execution of its own.
#[test]
fn a_round_of_a_loop_runs_its_line_once() {
    let source = r#"#include <stdio.h>
int main(int argc, char **argv) {
    int n = argc + 2;
    int sum = 0;
    while (n > 0) {
        sum += n;
        n--;
    }
    for (int i = 0; i < 3; i++) {
        sum += i;
    }
    do { sum++; } while (sum < 10);
    while (sum --> 7);
    printf("%d\n", sum);
    return 0;
}
"#;
    for level in ["-O0", "-O1"] {
        let mut sandbox = Sandbox::new();
        sandbox.file("loops.c", source);
        sandbox.quietly(&format!("relapse cc -g {level} -o loops loops.c"));
        sandbox.record("./loops", "");
        let mut values = |line: &str| -> Vec<String> {
            let text = sandbox.quietly(&format!("relapse values run loops.c:{line} --json"));
            let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let rows = json["executions"].as_array().expect("executions").iter();
            rows.map(|e| e["values"][0].as_str().unwrap_or("-").to_owned()).collect()
        };
        assert_eq!(values("5 n"), ["3", "2", "1", "0"], "{level}");
        assert_eq!(values("9 sum").len(), 4, "{level}");
        assert_eq!(values("10 i"), ["0", "1", "2"], "{level}");
        assert_eq!(values("12 sum"), ["9"], "{level}");
        assert_eq!(values("13 sum").len(), 4, "{level}");
    }
}

#[test]
fn expressions_reach_into_cxx() {
    let source = r#"#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>
struct Base { int id = 7; };
struct Item : Base {
    std::string name;
    int count;
    Item(std::string n, int c) : name(std::move(n)), count(c) {}
    int twice(int more) const {
        int doubled = count * 2 + more;
        return doubled + id;
    }
};
struct Point { int x, y; };
static int sum(const std::vector<Item> &items, int &calls, const Point &where) {
    int total = 0;
    for (auto it = items.begin(); it != items.end(); ++it) {
        calls += it->count;
        total += it->twice(where.x);
    }
    return total;
}
int main(int argc, char **) {
    std::vector<Item> items;
    items.emplace_back("apple", argc + 2);
    items.emplace_back("a very long name of a pear", argc + 4);
    std::array<int, 3> small{{argc, argc * 2, argc * 3}};
    auto owner = std::make_unique<Item>("owned", 9);
    Point p{argc, argc + 1};
    int calls = 0;
    int total = sum(items, calls, p);
    std::printf("%d %d %d %d\n", total, small[2], calls, owner->count);
    return 0;
}
"#;
    let mut sandbox = Sandbox::new();
    sandbox.file("v.cpp", source);
    sandbox.quietly("relapse c++ -std=c++17 -g -O0 -o v v.cpp");
    sandbox.quietly("relapse record -o run ./v");
    let mut last = |place: &str, expression: &str| {
        let text = sandbox.quietly(&format!("relapse values run v.cpp:{place} {expression}"));
        let line = text.lines().last().unwrap_or_default().trim_start().to_owned();
        line.split_once("  ").map(|(_, value)| value.to_owned()).unwrap_or(text)
    };
    // Elements, iterators, references, bases and smart pointers.
    assert_eq!(last("21", "items[1].name"), "\"a very long name of a pear\"");
    assert_eq!(last("21", "items[0].name[4]"), "101 'e'");
    assert_eq!(last("21", "items[0].name==\"apple\""), "1");
    assert_eq!(last("21", "it->count"), "5");
    assert_eq!(last("21", "it->id"), "7");
    assert_eq!(last("21", "calls"), "8");
    assert_eq!(last("21", "where.y"), "2");
    assert_eq!(last("21", "where"), "{x = 1, y = 2}");
    assert_eq!(last("21", "items[2].count"), "-");
    assert_eq!(last("12", "count"), "5");
    assert_eq!(last("12", "id+count"), "12");
    assert_eq!(last("34", "owner->count"), "9");
    assert_eq!(last("34", "small[2]"), "3");
}

#[test]
fn vectors_are_lists_of_their_elements() {
    let mut sandbox = Sandbox::with_program(
        "lanes",
        r#"
        #include <string.h>
        typedef int eight __attribute__((vector_size(32)));
        typedef float four __attribute__((vector_size(16)));
        int main(int argc, char **argv) {
            eight ones = (eight){} + argc, sum = ones;
            four halves = {0.5f, 1, 1.5f, 2};
            for (int i = 0; i < 2; i++)
                sum = sum * 2 + (eight){0, 1, 2, 3, 4, 5, 6, 7};
            halves *= halves;
            int last = sum[argc + 6];
            return last + (int)halves[3] - 29;
        }"#,
    );
    assert!(sandbox.record("./lanes", "").status.success());
    sandbox.run("relapse values run lanes.c:9 sum");
    sandbox.run("relapse values run lanes.c:11 ones");
    sandbox.run("relapse values run lanes.c:11 halves");
    assert_session!(sandbox, @"
    $ relapse values run lanes.c:9 sum
    instruction  sum
      [N]  {1, 1, 1, 1, 1, 1, 1, 1}
      [N]  {2, 3, 4, 5, 6, 7, 8, 9}
    $ relapse values run lanes.c:11 ones
    instruction  ones
      [N]  {1, 1, 1, 1, 1, 1, 1, 1}
    $ relapse values run lanes.c:11 halves
    instruction  halves
      [N]  {0.25, 1, 2.25, 4}
    ");
}

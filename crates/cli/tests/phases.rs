//! `relapse slice … --phases`.

mod desk;

use desk::Desk;
use serde_json::Value;

/// The line that has a mark in a comment.
fn line(source: &str, mark: &str) -> u64 {
    let mark = format!("/* {mark} */");
    source.lines().position(|l| l.contains(&mark)).unwrap_or_else(|| panic!("no {mark}")) as u64 + 1
}

fn json(desk: &mut Desk, command: &str) -> Value {
    serde_json::from_str(&desk.quietly(&format!("{command} --json"))).expect("JSON")
}

fn kinds(level: &Value) -> Vec<&str> {
    level["phases"].as_array().expect("phases").iter().filter_map(|p| p["kind"].as_str()).collect()
}

/// A database whose insert mark is off by one after reading a file (Wang, figure 5.3).
const DATABASE: &str = r#"#include <stdio.h>
static const char *entries[16];
static int size, current;
static void read_db(const char **lines, int n) {
    for (int i = 0; i < n; i++) {
        entries[size] = lines[i]; /* append */
        size = size + 1;
    }
    current = size - 1; /* bug */
}
static void insert(const char *rec) {
    for (int i = size; i > current; i--)
        entries[i] = entries[i - 1];
    entries[current] = rec; /* put */
    size++;
    current++;
}
int main(void) {
    const char *first[] = { "Africa" }, *second[] = { "America", "Antarctica" };
    const char *commands = "rie";
    int done = 0, at = 0;
    read_db(first, 1); /* before */
    while (!done) { /* loop */
        switch (commands[at++]) {
        case 'r':
            read_db(second, 2);
            break;
        case 'i':
            insert("Asia");
            break;
        default:
            done = 1;
        }
    }
    const char *third = entries[2];
    printf("%s\n", third); /* ask */
    return 0;
}
"#;

#[test]
fn wrong_values_lead_to_the_line_that_made_the_first() {
    let mut desk = Desk::with_program("db", DATABASE);
    let output = desk.record("./db", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Asia\n");
    let (put, bug) = (line(DATABASE, "put"), line(DATABASE, "bug"));
    desk.file("wrong", &format!("# by eye\ndb.c:{put}\ndb.c:{bug}:current\n"));
    let ask = line(DATABASE, "ask");
    let answer = json(&mut desk, &format!("relapse slice run --at db.c:{ask} --phases --oracle wrong"));
    assert_eq!(answer["schema"], "relapse.phases/1");
    assert_eq!(answer["found"]["line"], bug, "{answer:#}");
    assert_eq!(answer["found"]["function"], "read_db");
    let levels = answer["levels"].as_array().expect("levels");
    // First what stands before the loop, the loop, and what comes after.
    assert_eq!(kinds(&levels[0]), ["statements", "loop", "statements"]);
    let loop_line = line(DATABASE, "loop");
    assert!(levels[0]["phases"][1]["first_line"].as_u64().expect("a line") >= loop_line);
    let wrong = &levels[0]["flows"][levels[0]["wrong"].as_u64().expect("a wrong flow") as usize];
    assert_eq!((wrong["line"].as_u64(), wrong["made_in"].as_u64()), (Some(put), Some(1)));
    // Then the rounds of the loop: the wrong mark came from the first.
    assert_eq!(kinds(&levels[1])[0], "round");
    let wrong = &levels[1]["flows"][levels[1]["wrong"].as_u64().expect("a wrong flow") as usize];
    assert_eq!((wrong["line"].as_u64(), wrong["made_in"].as_u64()), (Some(bug), Some(0)));
    assert_eq!(wrong["value"], "2");
    let (questions, shown) = (answer["questions"].as_u64(), answer["shown"].as_u64());
    assert!(questions.expect("a number") <= levels.len() as u64);
    assert!(shown < answer["executions"].as_u64(), "less is shown than the slice has: {answer:#}");
}

/// A chain of calls is seen as such: what they return, and nothing of their insides.
#[test]
fn calls_are_black_boxes() {
    let source = r#"#include <stdio.h>
static int one(int n) {
    int inner = n * 3;
    return inner + 1; /* one */
}
static int two(int n) {
    int inner = n - 4;
    return inner * 2; /* two */
}
int main(int argc, char **argv) {
    int x = one(argc);
    int y = two(x);
    int noise = one(7); /* noise */
    int z = y + 5;
    printf("%d\n", z); /* ask */
    return noise == 0;
}
"#;
    let mut desk = Desk::with_program("chain", source);
    desk.record("./chain", "");
    let ask = line(source, "ask");
    let answer = json(&mut desk, &format!("relapse slice run --at chain.c:{ask} --phases"));
    let level = &answer["levels"][0];
    let calls: Vec<&str> = level["phases"]
        .as_array()
        .expect("phases")
        .iter()
        .filter(|p| p["kind"] == "call")
        .filter_map(|p| p["name"].as_str())
        .collect();
    assert_eq!(calls, ["one", "two", "one"]);
    let values: Vec<u64> = level["flows"]
        .as_array()
        .expect("flows")
        .iter()
        .filter(|f| f["kind"] == "value")
        .filter_map(|f| f["line"].as_u64())
        .collect();
    assert_eq!(values, [line(source, "one"), line(source, "two")], "{level:#}");
    let text = desk.quietly(&format!("relapse slice run --at chain.c:{ask} --phases"));
    assert!(text.starts_with("Level 1, in main:"), "{text}");
    assert!(text.contains("call two"), "{text}");
}

#[test]
fn an_oracle_that_makes_no_sense_is_refused() {
    let mut desk = Desk::with_program("db", DATABASE);
    desk.record("./db", "");
    desk.file("wrong", "# nothing\n\nnonsense\n");
    desk.run("relapse slice run --failure --phases --oracle wrong");
    desk.run("relapse slice run --failure --phases --oracle missing");
    assert_session!(desk, @r#"
    $ relapse slice run --failure --phases --oracle wrong
    [stderr] relapse: wrong, line 3: "nonsense" is not of the form FILE:LINE or FILE:LINE:VAR, such as main.c:12:sum
    [exit 2]
    $ relapse slice run --failure --phases --oracle missing
    [stderr] relapse: failed to read missing: No such file or directory (os error 2)
    [exit 2]
    "#);
}

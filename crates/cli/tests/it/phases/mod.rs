//! `relapse slice … --phases`.

mod browse;
mod interrupt;
mod window;

use crate::sandbox::Sandbox;
use serde_json::Value;
use slice::phases::tree::Room;
use slice::phases::{Level, Oracle, Phased};
use slice::{Slicer, SlicerOptions};
use std::sync::atomic::{AtomicBool, Ordering};

/// The line that has a mark in a comment.
fn line(source: &str, mark: &str) -> u64 {
    let mark = format!("/* {mark} */");
    source.lines().position(|l| l.contains(&mark)).unwrap_or_else(|| panic!("no {mark}")) as u64 + 1
}

fn json(sandbox: &mut Sandbox, command: &str) -> Value {
    serde_json::from_str(&sandbox.quietly(&format!("{command} --json"))).expect("JSON")
}

fn kinds(level: &Value) -> Vec<&str> {
    level["phases"].as_array().expect("phases").iter().filter_map(|p| p["kind"].as_str()).collect()
}

/// A database whose insert mark is off by one after reading a file (Wang, figure 5.3).
const DATABASE: &str = include_str!("../fixtures/database.c");

#[test]
fn wrong_values_lead_to_the_line_that_made_the_first() {
    let mut sandbox = Sandbox::with_program("db", DATABASE);
    let output = sandbox.record("./db", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Asia\n");
    let (put, bug) = (line(DATABASE, "put"), line(DATABASE, "bug"));
    sandbox.file("wrong", &format!("# by eye\ndb.c:{put}\ndb.c:{bug}:current\n"));
    let ask = line(DATABASE, "ask");
    let answer = json(&mut sandbox, &format!("relapse slice run --at db.c:{ask} --phases --oracle wrong"));
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
    // Values of variables at that moment, and what chains would have taken.
    let variables = wrong["variables"].as_array().expect("variables");
    assert!(variables.iter().any(|v| v["name"] == "n" && v["value"] == "2"), "{wrong:#}");
    assert!(answer["chains"]["length"].as_u64().is_some_and(|n| n > 0), "{answer:#}");
    assert!(answer["chains"]["examined"].as_u64() <= answer["executions"].as_u64(), "{answer:#}");
}

/// Strings that were only passed on are shown as the program has them.
#[test]
fn constants_are_shown_though_never_read() {
    let mut sandbox = Sandbox::with_program("db", DATABASE);
    sandbox.record("./db", "");
    let ask = line(DATABASE, "ask");
    let text = sandbox.quietly(&format!("relapse slice run --at db.c:{ask} --phases"));
    assert!(text.contains("entries[current] = 0x") && text.contains(" \"Asia\""), "{text}");
    assert!(text.contains(" \"rie\""), "{text}");
    assert!(!text.contains("\"\""), "{text}");
}

/// An oracle that has had enough after a level.
struct Tired<'s>(&'s AtomicBool);

impl Oracle for Tired<'_> {
    fn first_wrong(&mut self, _: &Phased<'_, '_>, _: &Level) -> slice::Result<Option<usize>> {
        self.0.store(true, Ordering::Relaxed);
        Ok(Some(0))
    }
}

/// A level that is being made can be stopped, and what was found before is kept.
#[test]
fn levels_can_be_stopped() {
    let (_desk, process) = crate::sandbox::recorded(DATABASE, "");
    let slicer = Slicer::new(&process, SlicerOptions { segment: 61, ..SlicerOptions::default() });
    let question = slicer.line_criteria("p.c", line(DATABASE, "ask") as u32).expect("an answer");
    let slice = slicer.slice(&question, &mut |_| {}).expect("a slice");
    let from = slice.criteria.iter().flatten().next_back().copied().expect("a node");
    let stop = AtomicBool::new(false);
    let mut phased = Phased::new(&slicer, &slice);
    phased.stop = Some(&stop);
    let whole = phased.whole(from).expect("a window");
    assert!(phased.level(&whole, from).is_ok());
    let search = phased.search(from, &mut Tired(&stop)).expect("a search");
    assert!(search.stopped && search.questions == 1 && search.turns.len() == 1, "{search:?}");
    assert!(matches!(phased.level(&whole, from), Err(slice::Error::Stopped)));
    assert!(matches!(phased.tree(from, Room::default()), Err(slice::Error::Stopped)));
    stop.store(false, Ordering::Relaxed);
    assert!(!phased.tree(from, Room::default()).expect("a tree").levels.is_empty());
}

/// Rounds and statements are cut into as many groups as asked for.
#[test]
fn groups_are_as_many_as_asked_for() {
    let source = "#include <stdio.h>
int main(void) {
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += i;
    printf(\"%d\\n\", sum);
    return 0;
}
";
    let mut sandbox = Sandbox::with_program("sum", source);
    sandbox.record("./sum", "");
    sandbox.file("wrong", "sum.c:5\n");
    for (option, groups) in [("", 10), ("--groups 4", 4)] {
        let answer =
            json(&mut sandbox, &format!("relapse slice run --at sum.c:6 --phases --oracle wrong {option}"));
        let rounds = kinds(&answer["levels"][1]).into_iter().filter(|k| *k == "rounds").count();
        assert!(rounds <= groups && rounds + 1 >= groups, "{option}: {rounds} of {groups}: {answer:#}");
        assert_eq!(answer["found"]["line"], 5);
    }
}

/// The page has every level, each once, all folded.
#[test]
fn a_page_has_the_levels_folded() {
    let mut sandbox = Sandbox::with_program("db", DATABASE);
    sandbox.record("./db", "");
    let (ask, bug) = (line(DATABASE, "ask"), line(DATABASE, "bug"));
    sandbox.quietly(&format!("relapse slice run --at db.c:{ask} --phases --html levels.html"));
    let page = std::fs::read_to_string(sandbox.path().join("levels.html")).expect("a page");
    assert!(!page.contains("<details open"));
    assert!(page.contains(&format!("It went wrong at db.c:{bug} in read_db.")), "{page}");
    assert!(page.contains("current = size - 1; /* bug */ // D</mark>"), "{page}");
    for number in 1..=page.matches("id=\"level-").count() {
        assert_eq!(page.matches(&format!("id=\"level-{number}\"")).count(), 1, "{number}");
    }
    assert!(page.len() < 300_000, "{}", page.len());
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
    let mut sandbox = Sandbox::with_program("chain", source);
    sandbox.record("./chain", "");
    let ask = line(source, "ask");
    let answer = json(&mut sandbox, &format!("relapse slice run --at chain.c:{ask} --phases"));
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
    let text = sandbox.quietly(&format!("relapse slice run --at chain.c:{ask} --phases"));
    assert!(text.starts_with("Level 1, in main:"), "{text}");
    assert!(text.contains("call two"), "{text}");
}

#[test]
fn an_oracle_that_makes_no_sense_is_refused() {
    let mut sandbox = Sandbox::with_program("db", DATABASE);
    sandbox.record("./db", "");
    sandbox.file("wrong", "# nothing\n\nnonsense\n");
    sandbox.run("relapse slice run --output stdout@0 --phases --oracle wrong");
    sandbox.run("relapse slice run --output stdout@0 --phases --oracle missing");
    assert_session!(sandbox, @r#"
    $ relapse slice run --output stdout@0 --phases --oracle wrong
    [stderr] relapse: wrong, line 3: "nonsense" is not of the form FILE:LINE or FILE:LINE:EXPR, such as main.c:12:sum
    [exit 2]
    $ relapse slice run --output stdout@0 --phases --oracle missing
    [stderr] relapse: failed to read missing: No such file or directory (os error 2)
    [exit 2]
    "#);
}

#[test]
fn what_was_not_asked_is_said() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n    \
        unsigned sum = 7, n = (unsigned)atoi(argv[1]);\n    \
        for (unsigned i = 0; i < n; i++)\n        sum = sum * 31 + i;\n    \
        printf(\"%u\\n\", sum);\n    return 0;\n}\n";
    let mut sandbox = Sandbox::with_program("long", source);
    sandbox.record("./long 300000", "");
    let command = "relapse slice run --at long.c:7 --phases --relevant";
    let whole = json(&mut sandbox, command);
    assert_eq!((&whole["asked_back_to"], &whole["coarse_pointers"]), (&Value::Null, &false.into()));
    let bounded = json(&mut sandbox, &format!("{command} --limit 10"));
    assert!(bounded["asked_back_to"]["instruction"].as_u64() > Some(1_000_000), "{bounded:#}");
    let text = sandbox.quietly(&format!("{command} --limit 10"));
    assert!(text.contains("were not asked whether they could have mattered"), "{text}");
}

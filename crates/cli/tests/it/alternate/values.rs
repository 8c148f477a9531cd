//! Where values part that no branch tells.

use super::{Sandbox, ask, list};
use serde_json::Value;

const PROGRAM: &str = "\
#include <stdio.h>

static int price(int count) {
    int each = 12;
    int sum = count * each;
    return sum + 3;
}

int main(void) {
    int count = 0;
    if (scanf(\"%d\", &count) != 1)
        return 2;
    int total = price(count);
    printf(\"%d\\n\", total);
    return 0;
}
";

/// Two versions in folders of their own, recorded with the same input.
fn versions(old: &str, new: &str, stdin: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    for (version, text) in [("old", old), ("new", new)] {
        std::fs::create_dir(sandbox.path().join(version)).expect("a folder");
        sandbox.file(&format!("{version}/p.c"), text);
        sandbox.quietly(&format!("relapse cc -g -O0 -o {version}/p {version}/p.c"));
        let line = format!("relapse record --quiet --force -o run-{version} -- ./{version}/p");
        let output = sandbox.execute(&line, stdin);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("relapse:"), "{said}");
    }
    sandbox
}

/// The program above, and the same with a text replaced.
fn replaced(from: &str, to: &str) -> Sandbox {
    assert!(PROGRAM.contains(from));
    versions(PROGRAM, &PROGRAM.replace(from, to), "4\n")
}

fn first(answer: &Value) -> (u64, &str, &str) {
    let line = &answer["values"]["lines"][0];
    assert_eq!(line["file"], "p.c", "{answer}");
    (
        line["line"].as_u64().unwrap_or_default(),
        line["version"].as_str().unwrap_or_default(),
        line["source"].as_str().unwrap_or_default(),
    )
}

#[test]
fn an_operator_is_found_by_what_it_makes() {
    let answer = ask(&replaced("count * each", "count + each"), "");
    assert_eq!(first(&answer), (5, "new", "int sum = count + each;"));
    let values = list(&answer["values"]["lines"][0]["values"]);
    let sum = values.iter().find(|value| value["name"] == "sum").expect("the variable");
    assert_eq!((&sum["old"], &sum["new"]), (&"48".into(), &"16".into()), "{answer}");
}

#[test]
fn a_constant_is_found_where_it_is_assigned() {
    let answer = ask(&replaced("each = 12", "each = 13"), "");
    assert_eq!(first(&answer), (4, "new", "int each = 13;"));
}

#[test]
fn a_variable_in_place_of_another_is_found() {
    let answer = ask(&replaced("return sum + 3", "return count + 3"), "");
    assert_eq!(first(&answer), (6, "new", "return count + 3;"));
}

#[test]
fn sources_that_were_edited_are_not_compared() {
    let sandbox = replaced("each = 12", "each = 13");
    sandbox.file("old/p.c", "int nothing;\n");
    let answer = ask(&sandbox, "");
    assert_eq!(list(&answer["values"]["lines"]).len(), 0);
    let why = answer["values"]["unknown"].as_str().expect("a reason");
    assert!(why.contains("old/p.c is not as it was when the program was compiled"), "{why}");
}

#[test]
fn without_input_values_are_told_all_the_same() {
    let program = |number: u32| {
        format!(
            "#include <stdio.h>\nint main(void) {{\n    int n = {number};\n    printf(\"%d\\n\", n);\n}}\n"
        )
    };
    let sandbox = versions(&program(5), &program(6), "");
    let output = sandbox.execute("relapse alternate run-old run-new --json", "");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(answer["verdict"], "unanswered");
    assert!(answer["reason"].as_str().is_some_and(|why| why.contains("input")), "{answer}");
    assert_eq!(first(&answer), (3, "new", "int n = 6;"));
}

#[test]
fn files_of_other_names_are_paired_by_their_texts() {
    let mut sandbox = Sandbox::new();
    for (version, text) in [("old", PROGRAM.to_owned()), ("new", PROGRAM.replace("each = 12", "each = 13"))] {
        sandbox.file(&format!("{version}.c"), &text);
        sandbox.quietly(&format!("relapse cc -g -O0 -o {version} {version}.c"));
        sandbox.execute(&format!("relapse record --quiet --force -o run-{version} -- ./{version}"), "4\n");
    }
    let answer = ask(&sandbox, "");
    let line = &answer["values"]["lines"][0];
    assert_eq!((&line["file"], &line["line"]), (&"new.c".into(), &4.into()), "{answer}");
}

/// A slot that the time and an address choose is another one in every run.
#[test]
fn what_differs_in_every_run_is_no_beginning() {
    let text = "\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int table[64];

int main(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned seed = (unsigned)now.tv_nsec;
    seed = seed * 31 + (unsigned)((uintptr_t)&now >> 4);
    unsigned slot = seed % 64;
    table[slot] = 4 * 12;
    for (int i = 0; i < 64; i++)
        if (table[i] != 0)
            printf(\"%d\\n\", table[i]);
}
";
    let sandbox = versions(text, &text.replace("4 * 12", "4 * 13"), "");
    let output = sandbox.execute("relapse alternate run-old run-new --json", "");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(first(&answer), (14, "new", "table[slot] = 4 * 13;"), "{answer:#}");
    let lines: Vec<u64> =
        list(&answer["values"]["lines"]).iter().filter_map(|l| l["line"].as_u64()).collect();
    assert!(lines.iter().all(|line| ![11, 12, 13].contains(line)), "{lines:?}");
}

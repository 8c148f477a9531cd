//! `relapse diff`, `relapse views` and `relapse cause`, on recorded C programs.

use crate::sandbox::Sandbox;
use serde_json::Value;

/// A sandbox with programs of `programs/`, compiled.
fn sandbox(programs: &[&str]) -> Sandbox {
    let mut sandbox = Sandbox::new();
    for name in programs {
        let path = format!("{}/tests/it/runs/programs/{name}.c", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).expect("a program");
        sandbox.file(&format!("{name}.c"), &source);
        sandbox.quietly(&format!("relapse cc -g -O1 -o {name} {name}.c"));
    }
    sandbox
}

/// Records a program into a directory of its own.
fn record(sandbox: &Sandbox, into: &str, command: &str) {
    let output = sandbox.execute(&format!("relapse record --quiet -o {into} -- {command}"), "");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(sandbox.path().join(into).exists(), "{command}: {error}");
}

/// The JSON that a command prints, whatever its exit code.
fn json(sandbox: &Sandbox, line: &str) -> Value {
    let output = sandbox.execute(line, "");
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{line}: {e}: {error}"))
}

/// What the rows of a sequence say on one side, without what is similar.
fn said(sequence: &Value, side: &str) -> Vec<String> {
    let rows = sequence["rows"].as_array().expect("rows");
    let differing = rows.iter().filter(|r| r["same"] == false && r["expected"] != true);
    differing.filter_map(|r| r[side]["text"].as_str().map(str::to_owned)).collect()
}

fn all_said(list: &Value, side: &str) -> Vec<String> {
    list.as_array().expect("sequences").iter().flat_map(|s| said(s, side)).collect()
}

/// The store as it was, and changed in one way.
fn stores(other: &str) -> Value {
    let sandbox = sandbox(&["store_old", other]);
    record(&sandbox, "old", "./store_old");
    record(&sandbox, "new", &format!("./{other}"));
    json(&sandbox, "relapse diff old new --all --json")
}

#[test]
fn two_runs_of_one_program_say_the_same() {
    let mut sandbox = sandbox(&["store_old"]);
    record(&sandbox, "one", "./store_old");
    record(&sandbox, "two", "./store_old");
    let output = sandbox.run("relapse diff one two");
    assert!(output.status.success());
    assert!(sandbox.transcript().contains("the runs say the same"), "{}", sandbox.transcript());
}

#[test]
fn what_is_another_value_in_every_run_is_no_difference() {
    let words = "the quick brown fox jumps over the lazy dog";
    let mut sandbox = sandbox(&["seeds"]);
    record(&sandbox, "one", &format!("./seeds {words}"));
    record(&sandbox, "two", &format!("./seeds {words}"));
    let same = json(&sandbox, "relapse diff one two --json");
    assert_eq!(same["shown"], serde_json::json!([]), "{same:#}");
    assert!(sandbox.run("relapse diff one two").status.success(), "{}", sandbox.transcript());
    // What was asked for does differ, whatever the seed.
    record(&sandbox, "other", "./seeds the quick red fox jumps over the lazy dog again");
    let other = json(&sandbox, "relapse diff one other --json --only variable:table.used");
    let new = all_said(&other["shown"], "right");
    assert!(new.iter().any(|s| s.ends_with("t.used = 9")), "{new:?}");
}

/// In a table that is nearly full most names meet others first, which ones is another matter in every run: what `strcmp`
/// says of those is no difference.
#[test]
fn what_is_met_in_a_crowded_table_is_no_difference() {
    let mut sandbox = sandbox(&["seeds"]);
    sandbox.quietly("relapse cc -g -DSLOTS=12 -o crowded seeds.c");
    for _ in 0..6 {
        for name in ["one", "two"] {
            let words = "the quick brown fox jumps over the lazy dog";
            sandbox.quietly(&format!("relapse record --quiet --force -o {name} -- ./crowded {words}"));
        }
        let same = json(&sandbox, "relapse diff one two --json");
        assert_eq!(same["shown"], serde_json::json!([]), "{same:#}");
    }
}

#[test]
fn blocks_have_the_size_that_was_allocated() {
    let sandbox = sandbox(&["blocks"]);
    for name in ["one", "two"] {
        let line = format!("relapse record --quiet -o {name} -- ./blocks");
        assert!(sandbox.execute(&line, "first line\na;b;c").status.success());
    }
    let same = json(&sandbox, "relapse diff one two --json");
    assert_eq!(same["differences"], 0, "{same:#}");
    let listed = sandbox.execute("relapse views one file:blocks.c --all", "");
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    for size in ["(9 bytes)", "(2 bytes)", "(200 bytes)", "(20 bytes)"] {
        assert!(text.contains(size), "{size}: {text}");
    }
}

#[test]
fn differences_can_be_looked_at_from_the_end() {
    let sandbox = sandbox(&["store_old", "store_wrong"]);
    record(&sandbox, "old", "./store_old");
    record(&sandbox, "new", "./store_wrong");
    let numbers = |line: &str| -> Vec<u64> {
        let answer = json(&sandbox, line);
        let shown = answer["shown"].as_array().expect("sequences");
        shown.iter().filter_map(|s| s["number"].as_u64()).collect()
    };
    let forwards = numbers("relapse diff old new --json");
    let mut backwards = numbers("relapse diff old new --json --last");
    assert!(forwards.len() > 1 && forwards != backwards, "{forwards:?} {backwards:?}");
    backwards.reverse();
    assert_eq!(forwards, backwards);
    let last = numbers("relapse diff old new --json --last --limit 1");
    assert_eq!(last, forwards[forwards.len() - 1..]);
}

#[test]
fn differences_can_be_asked_for_by_name() {
    let sandbox = sandbox(&["store_old", "store_wrong"]);
    record(&sandbox, "old", "./store_old");
    record(&sandbox, "new", "./store_wrong");
    let all = json(&sandbox, "relapse diff old new --json");
    let total = json(&sandbox, "relapse diff old new --json --only variable:store.total");
    let count = |answer: &Value| answer["shown"].as_array().expect("sequences").len();
    assert!(0 < count(&total) && count(&total) <= count(&all), "{total:#}");
    let said = all_said(&total["shown"], "right");
    assert!(said.iter().any(|s| s.contains("store#1.total")), "{said:?}");
    let none = json(&sandbox, "relapse diff old new --json --only function:nobody");
    assert_eq!((count(&none), none["ignored"].as_u64()), (0, all["sequences"]["all"].as_u64()));
    let neither = "relapse diff old new --json --only variable:store.total --ignore variable:store.total";
    let neither = json(&sandbox, neither);
    assert_eq!(count(&neither), 0, "{neither:#}");
}

#[test]
fn a_renamed_function_differs_in_its_name_only() {
    let answer = stores("store_renamed");
    let both = [all_said(&answer["shown"], "left"), all_said(&answer["shown"], "right")].concat();
    assert_eq!(both.len(), 12, "{both:#?}");
    assert!(both.iter().all(|s| s.contains(" add") || s.contains(" insert")), "{both:#?}");
}

#[test]
fn a_split_function_does_the_same_and_two_more_things() {
    let answer = stores("store_split");
    assert_eq!(all_said(&answer["shown"], "left"), Vec::<String>::new());
    let new = all_said(&answer["shown"], "right");
    assert_eq!(new.len(), 6, "{new:#?}");
    assert!(new.iter().all(|s| s.contains(" count")), "{new:#?}");
}

#[test]
fn merged_functions_do_the_same_without_being_called() {
    let answer = stores("store_merged");
    let both = [all_said(&answer["shown"], "left"), all_said(&answer["shown"], "right")].concat();
    let other: Vec<_> = both.iter().filter(|s| !s.contains(" make") && !s.contains(" add")).collect();
    assert!(other.is_empty(), "{other:#?}");
    assert!(answer["moved"].as_u64().expect("a number") > 0);
}

#[test]
fn another_order_is_no_difference() {
    for other in ["store_reordered", "store_allocated"] {
        let answer = stores(other);
        assert_eq!(answer["differences"], 0, "{other}: {answer:#}");
        assert!(answer["moved"].as_u64().expect("a number") > 0, "{other}");
        assert_eq!(answer["unrelated"], false);
    }
}

#[test]
fn the_first_difference_is_named_and_can_be_passed_over() {
    let mut sandbox = sandbox(&["store_old", "store_wrong"]);
    record(&sandbox, "old", "./store_old");
    record(&sandbox, "new", "./store_wrong");
    let text = String::from_utf8(sandbox.execute("relapse diff old new --first", "").stdout).expect("text");
    assert!(
        text.starts_with(
            "\nThe runs part in add (store_wrong.c:29): set store#1.total was 3, and is 0 in the other run."
        ),
        "{text}"
    );
    let answer = json(&sandbox, "relapse diff old new --first --json --ignore variable:store.total");
    let first = said(&answer["shown"][0], "right");
    assert!(first[0].starts_with("call printf(") || first[0].starts_with("get store#1.count"), "{first:#?}");
    assert!(answer["ignored"].as_u64().expect("a number") > 0);
    sandbox.run("relapse diff old new --first --ignore file:store_old.c --ignore file:store_wrong.c");
    sandbox.run("relapse diff old new --ignore total");
    let transcript = sandbox.transcript();
    assert!(transcript.contains("Nothing differs but what is ignored."), "{transcript}");
    assert!(transcript.contains("is not of the form function:NAME"), "{transcript}");
}

#[test]
fn the_cause_of_the_servlets_regression_is_found() {
    let sandbox = sandbox(&["servlet_old", "servlet_new"]);
    // The document has a character below 32.
    for (version, program) in [("old", "./servlet_old"), ("new", "./servlet_new")] {
        record(&sandbox, &format!("{version}-fails"), &format!("{program} text/html a\u{1}b"));
        record(&sandbox, &format!("{version}-passes"), &format!("{program} text/plain a\u{1}b"));
    }
    let line = "relapse cause old-fails new-fails old-passes new-passes --all --json";
    let answer = json(&sandbox, line);
    assert_eq!(answer["kind"], "present", "{answer:#}");
    let (old, new) = (all_said(&answer["suspects"], "left"), all_said(&answer["suspects"], "right"));
    assert!(old.iter().any(|s| s == "set entity_util#1.min_char = 32"), "{old:#?}");
    assert!(new.iter().any(|s| s == "set entity_util#1.min_char = 1"), "{new:#?}");
    // It was set elsewhere, and to the same value.
    let maximum = "set entity_util#1.max_char = 127".to_owned();
    assert!(!old.contains(&maximum) && !new.contains(&maximum), "{new:#?}");
    // What was meant to change is not suspected.
    for meant in ["log_message", "journal", "chain_new"] {
        assert!(!new.iter().any(|s| s.contains(meant)), "{meant}: {new:#?}");
    }
    assert!(answer["suspected"].as_u64() > answer["unexpected"].as_u64(), "{answer:#}");
    // These and no others: the function, the first thing said on each side, how often.
    let suspects = answer["suspects"].as_array().expect("suspects");
    let stated: Vec<(&str, String, String, u64)> = suspects
        .iter()
        .map(|s| {
            let first = |side| said(s, side).into_iter().next().unwrap_or_default();
            let function = s["stack"][0].as_str().expect("a function");
            (function, first("left"), first("right"), s["times"].as_u64().expect("a number"))
        })
        .collect();
    let expected = [
        // The filter is made, with the wrong bound.
        (
            "set_request_type",
            "call entity_util_new(min = 32, max = 127)",
            "get processor#1.chain = &chain#1",
            1,
        ),
        ("entity_util_new", "set entity_util#1.min_char = 32", "set entity_util#1.min_char = 1", 1),
        // It is run through the chain, and does not escape the character.
        (
            "process_request",
            "get processor#1.util = &entity_util#1",
            "call strcpy(<pointer>, \"a\\x01b\")",
            1,
        ),
        ("escape", "get entity_util#1.min_char = 32", "get entity_util#1.min_char = 1", 3),
        ("chain_run", "call puts(\"a&#1;b\")", "get filter#1.next = NULL", 1),
        (
            "binary_char_filter",
            "set processor#1.util = &entity_util#1",
            "set filter#1.util = &entity_util#1",
            1,
        ),
        ("escape", "call sprintf(<pointer>, \"&#%d;\", 1)", "get entity_util#1.max_char = 127", 1),
        // What follows it stands elsewhere in the text.
        ("escape", "set char[200]#1[5] = 98 'b'", "set char[200]#1[2] = 98 'b'", 1),
        ("escape", "set char[200]#1[6] = 0", "set char[200]#1[3] = 0", 1),
    ];
    let mut stated: Vec<(&str, &str, &str, u64)> =
        stated.iter().map(|(f, l, r, n)| (*f, l.as_str(), r.as_str(), *n)).collect();
    // Which comes first is another matter: what the failure depends on ranks them.
    let mut expected = expected;
    stated.sort_unstable();
    expected.sort_unstable();
    assert_eq!(stated, expected);
    // The first suspect is the wrong bound.
    assert!(
        said(&answer["suspects"][0], "right").iter().any(|s| s.contains("min") && s.contains('1')),
        "{answer:#}"
    );
}

#[test]
fn what_is_not_done_any_more_is_found_as_removed() {
    let source = |check: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\nstruct account {{ int balance; int refused; }};\n\
             static void take(struct account *a, int n) {{\n{check}    a->balance -= n;\n}}\n\
             int main(int argc, char **argv) {{\n    struct account *a = calloc(1, sizeof *a);\n    a->balance = 10;\n    \
             take(a, atoi(argv[1]));\n    printf(\"%d\\n\", a->balance);\n    return argc - 2;\n}}\n"
        )
    };
    let check = "    if (n > a->balance) { a->refused++; return; }\n";
    let mut sandbox = Sandbox::new();
    for (name, text) in [("old", source(check)), ("new", source(""))] {
        sandbox.file(&format!("{name}.c"), &text);
        sandbox.quietly(&format!("relapse cc -g -O1 -o {name} {name}.c"));
        record(&sandbox, &format!("{name}-fails"), &format!("./{name} 20"));
        record(&sandbox, &format!("{name}-passes"), &format!("./{name} 5"));
    }
    let answer = json(&sandbox, "relapse cause old-fails new-fails old-passes new-passes --json");
    let old = all_said(&answer["suspects"], "left");
    assert!(old.iter().any(|s| s == "set account#1.refused = 1"), "{answer:#}");
    let lines = answer["lines"].as_array().expect("lines");
    let told: Vec<(&str, &str)> =
        lines.iter().map(|l| (l["version"].as_str().unwrap(), l["source"].as_str().unwrap())).collect();
    assert!(told.contains(&("old", check.trim())), "{told:?}");
    assert!(told.iter().all(|(version, _)| *version == "old"), "{told:?}");
}

#[test]
fn a_line_that_the_other_three_runs_execute_is_named() {
    let source = |guard: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\nstruct image {{ int unit; int resolution; }};\n\
             static void set(struct image *i, int resolution) {{\n{guard}    i->resolution = resolution;\n}}\n\
             int main(int argc, char **argv) {{\n    struct image i = {{ argc, 0 }};\n    set(&i, atoi(argv[1]));\n    \
             printf(\"%d\\n\", i.resolution);\n    return 0;\n}}\n"
        )
    };
    let mut sandbox = Sandbox::new();
    for (name, text) in [("old", source("")), ("new", source("    if (resolution < 3000)\n    "))] {
        sandbox.file(&format!("{name}.c"), &text);
        sandbox.quietly(&format!("relapse cc -g -O1 -o {name} {name}.c"));
        record(&sandbox, &format!("{name}-fails"), &format!("./{name} 3780"));
        record(&sandbox, &format!("{name}-passes"), &format!("./{name} 2835"));
    }
    let answer = json(&sandbox, "relapse cause old-fails new-fails old-passes new-passes --json");
    let lines = answer["lines"].as_array().expect("lines");
    assert_eq!(lines.len(), 1, "{answer:#}");
    assert_eq!(
        (&lines[0]["how"], &lines[0]["source"]),
        (&"skipped".into(), &"i->resolution = resolution;".into())
    );
    assert_eq!(lines[0]["version"], "new");
}

/// The new version allocates once more and calls its function by another name, with both tests. What decides on
/// the failing one is a check; a branch on an address is none of it.
#[test]
fn a_cause_is_a_line_of_one_version_and_test_and_no_branch_on_an_address() {
    let source = |start: &str, name: &str, check: &str| {
        format!(
            "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
             struct box {{ int slot; int state; }};\n\
             static int {name}(struct box *b, const char *s) {{\n    b->state = (int)strlen(s);\n{check}    return b->state;\n}}\n\
             int main(int argc, char **argv) {{\n{start}    struct box *b = calloc(1, sizeof *b);\n\
             \x20   if (argc > 2) {{\n        if ((uintptr_t)b >> 5 & 1)\n            b->slot = 1;\n        else\n\
             \x20           b->slot = 2;\n    }}\n    printf(\"%d\\n\", {name}(b, argv[1]));\n    return 0;\n}}\n"
        )
    };
    let check = "    if (s[0] == '-')\n        b->state = -1;\n";
    let mut sandbox = Sandbox::new();
    let versions =
        [("old", source("", "measure", "")), ("new", source("    malloc(16);\n", "length", check))];
    for (name, text) in versions {
        sandbox.file(&format!("{name}.c"), &text);
        sandbox.quietly(&format!("relapse cc -w -g -O1 -o {name} {name}.c"));
        record(&sandbox, &format!("{name}-fails"), &format!("./{name} -abc x"));
        record(&sandbox, &format!("{name}-passes"), &format!("./{name} abc"));
    }
    let answer = json(&sandbox, "relapse cause old-fails new-fails old-passes new-passes --json");
    let first = &answer["lines"][0];
    assert_eq!(first["source"], "b->state = -1;", "{answer:#}");
    assert_eq!(first["version"], "new", "{answer:#}");
    assert_eq!(first["decision"]["source"], "if (s[0] == '-')", "{answer:#}");
    assert_eq!(answer["suspects"][0]["parting"], true, "{answer:#}");
    let said = all_said(&answer["suspects"], "right");
    assert!(said.iter().any(|s| s == "set box#1.state = -1"), "{said:?}");
    assert!(answer["fleeting"].as_u64() > Some(0), "{answer:#}");
    assert!(!said.iter().any(|s| s.contains("slot")), "{said:?}");
}

#[test]
fn views_are_listed_shown_and_linked() {
    let mut sandbox = sandbox(&["store_old"]);
    record(&sandbox, "run", "./store_old");
    let list = json(&sandbox, "relapse views run --all --json");
    let has = |kind: &str, name: &str| {
        let views = list["views"].as_array().expect("views");
        views.iter().any(|v| v["type"] == kind && v["name"] == name)
    };
    assert!(has("thread", "0") && has("method", "add(store *, item *)"), "{list:#}");
    assert!(has("target", "item#2") && has("active", "store#1"), "{list:#}");
    let view = json(&sandbox, "relapse views run target:item#2 --json");
    let texts: Vec<&str> =
        view["entries"].as_array().expect("entries").iter().filter_map(|e| e["text"].as_str()).collect();
    assert_eq!(
        texts[..3],
        ["init item#2 (24 bytes)", "set item#2.name = \"pears\"", "set item#2.amount = 5"]
    );
    let event = view["entries"][1]["event"].as_u64().expect("a number");
    let event = json(&sandbox, &format!("relapse views run --event {event} --json"));
    let types: Vec<&str> =
        event["views"].as_array().expect("views").iter().filter_map(|v| v["type"].as_str()).collect();
    assert_eq!(types, ["thread", "method", "target", "file"]);
    sandbox.run("relapse views run nothing");
    sandbox.run("relapse views run --type colour");
    sandbox.run("relapse views run --event 100000");
    let transcript = sandbox.transcript();
    assert!(transcript.contains("run has no view \"nothing\""), "{transcript}");
    assert!(transcript.contains("Types are thread, method, target, active, file."), "{transcript}");
    assert!(transcript.contains("there is no event 100000"), "{transcript}");
}

#[test]
fn unrelated_programs_are_said_to_be_so() {
    let sandbox = sandbox(&["store_old", "servlet_old"]);
    record(&sandbox, "one", "./store_old");
    record(&sandbox, "two", "./servlet_old text/html x");
    let answer = json(&sandbox, "relapse diff one two --json");
    assert_eq!(answer["unrelated"], true);
    assert!(answer["differences"].as_u64() > Some(10));
}

#[test]
fn small_programs_are_not_related_by_having_a_main() {
    let mut sandbox = Sandbox::new();
    for (name, function) in [("one", "first"), ("two", "second")] {
        let text = format!(
            "int n; static void {function}(int x) {{ n += x; }} int main(void) {{ {function}(1); }}\n"
        );
        sandbox.file(&format!("{name}.c"), &text);
        sandbox.quietly(&format!("relapse cc -g -O1 -fno-inline -o {name} {name}.c"));
        record(&sandbox, &format!("{name}-run"), &format!("./{name}"));
    }
    assert_eq!(json(&sandbox, "relapse diff one-run two-run --json")["unrelated"], true);
    assert_eq!(json(&sandbox, "relapse diff one-run one-run --json")["unrelated"], false);
}

#[test]
fn without_types_less_is_known_and_said() {
    let source = "#include <stdlib.h>\nstatic void poke(unsigned long at, int n) { *(int *)at = n; }\n\
                  int main(void) {\n    unsigned long p = (unsigned long)malloc(40);\n    \
                  for (int i = 0; i < 10; i++) poke(p + 4 * i, i);\n    return 0;\n}\n";
    let sandbox = Sandbox::with_program("poke", source);
    record(&sandbox, "one", "./poke");
    record(&sandbox, "two", "./poke");
    let answer = json(&sandbox, "relapse diff one two --json");
    assert_eq!(answer["differences"], 0, "{answer:#}");
    assert_eq!(answer["left"]["untyped"], 10);
    let notes = answer["notes"].to_string();
    assert!(notes.contains("type is not known, most of them in poke"), "{answer:#}");
}

#[test]
fn members_of_unions_go_by_what_is_accessed() {
    let source = "#include <stdlib.h>\nenum tag { NUMBER, TEXT };\n\
                  union value { double number; const char *text; struct { int low, high; } pair; };\n\
                  struct cell { enum tag tag; union value in; };\n\
                  static void number(struct cell *c, double d) { c->tag = NUMBER; c->in.number = d; }\n\
                  static void text(struct cell *c, const char *t) { c->tag = TEXT; c->in.text = t; }\n\
                  int main(int argc, char **argv) {\n    struct cell *c = malloc(sizeof *c);\n    \
                  number(c, 1.5); text(c, argv[1]); c->in.pair.low = 7; c->in.pair.high = argc;\n    return 0;\n}\n";
    let sandbox = Sandbox::with_program("cell", source);
    record(&sandbox, "one", "./cell word");
    record(&sandbox, "two", "./cell other");
    let view = json(&sandbox, "relapse views one target:cell#1 --json");
    let entries = view["entries"].as_array().expect("entries");
    let texts: Vec<&str> =
        entries.iter().filter(|e| e["kind"] == "set").filter_map(|e| e["text"].as_str()).collect();
    let expected = [
        "set cell#1.tag = NUMBER",
        "set cell#1.in.number = 1.5",
        "set cell#1.tag = TEXT",
        "set cell#1.in.text = \"word\"",
        "set cell#1.in.pair.low = 7",
        "set cell#1.in.pair.high = 2",
    ];
    assert_eq!(texts, expected);
    // The text differs, not where it is.
    let answer = json(&sandbox, "relapse diff one two --all --json");
    let both = [all_said(&answer["shown"], "left"), all_said(&answer["shown"], "right")].concat();
    assert!(both.iter().all(|s| s.contains("\"word\"") || s.contains("\"other\"")), "{both:#?}");
}

#[test]
fn classes_have_bases_names_and_allocations() {
    let source = |side: u32| {
        format!(
            "struct shape {{ int id; virtual double area() const = 0; }};\n\
             struct square : shape {{ double side; square(int i, double s) : side(s) {{ id = i; }}\n\
             double area() const override {{ return side * side; }} }};\n\
             namespace art {{ double total(const shape *s) {{ return s->area(); }} }}\n\
             int main() {{ shape *s = new square(1, {side}); return art::total(s) > 1000; }}\n"
        )
    };
    let mut sandbox = Sandbox::new();
    for (name, text) in [("old", source(3)), ("new", source(4))] {
        sandbox.file(&format!("{name}.cc"), &text);
        sandbox.quietly(&format!("relapse c++ -g -O1 -o {name} {name}.cc"));
        record(&sandbox, &format!("{name}-run"), &format!("./{name}"));
    }
    let view = json(&sandbox, "relapse views old-run thread:0 --json");
    let texts: Vec<&str> =
        view["entries"].as_array().expect("entries").iter().filter_map(|e| e["text"].as_str()).collect();
    for text in [
        "init square#1 (24 bytes)",
        "call square::square(this = &square#1, i = 1, s = 3)",
        "set square#1.shape.id = 1",
        "call art::total(s = &square#1)",
        "return square::area = 9",
    ] {
        assert!(texts.contains(&text), "{text} is not in {texts:#?}");
    }
    let answer = json(&sandbox, "relapse diff old-run new-run --all --json");
    let new = all_said(&answer["shown"], "right");
    let expected = [
        "call square::square(this = &square#1, i = 1, s = 4)",
        "set square#1.side = 4",
        "get square#1.side = 4",
        "get square#1.side = 4",
        "return square::area = 16",
        "return art::total = 16",
    ];
    assert_eq!(new, expected);
}

#[test]
fn threads_are_compared_pair_by_pair() {
    let source = |second: u32| {
        format!(
            "#include <pthread.h>\nstruct box {{ int value; }};\nstatic struct box a, b;\n\
             static void *first(void *p) {{ ((struct box *)p)->value = 1; return 0; }}\n\
             static void *other(void *p) {{ struct box *x = p; x->value = {second}; return 0; }}\n\
             int main(void) {{\n    pthread_t t, u;\n    pthread_create(&t, 0, first, &a);\n    \
             pthread_create(&u, 0, other, &b);\n    pthread_join(t, 0);\n    pthread_join(u, 0);\n    return 0;\n}}\n"
        )
    };
    let mut sandbox = Sandbox::new();
    for (name, text) in [("old", source(2)), ("new", source(3))] {
        sandbox.file(&format!("{name}.c"), &text);
        sandbox.quietly(&format!("relapse cc -g -O1 -pthread -o {name} {name}.c"));
        record(&sandbox, &format!("{name}-run"), &format!("./{name}"));
    }
    let answer = json(&sandbox, "relapse diff old-run new-run --json");
    assert_eq!(all_said(&answer["shown"], "left"), ["set b.value = 2"], "{answer:#}");
    assert_eq!(all_said(&answer["shown"], "right"), ["set b.value = 3"]);
    // Threads begin where they are started and end where they end.
    let view = json(&sandbox, "relapse views old-run --all --json");
    let threads = view["views"].as_array().expect("views").iter().filter(|v| v["type"] == "thread").count();
    assert_eq!(threads, 3, "{view:#}");
    let text =
        String::from_utf8(sandbox.execute("relapse views old-run thread:0 --all", "").stdout).expect("text");
    assert_eq!(text.matches("fork main").count(), 2, "{text}");
    assert_eq!(text.matches("end exit").count(), 1, "{text}");
    let answer = json(&sandbox, "relapse diff old-run new-run --json --ignore variable:value");
    assert_eq!(answer["shown"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_trace_kept_on_disk_gives_the_same_answer() {
    let sandbox = sandbox(&["store_old", "store_wrong"]);
    record(&sandbox, "old", "./store_old");
    record(&sandbox, "new", "./store_wrong");
    let of = |options: &str| {
        json(&sandbox, &format!("relapse diff old new --json --all {options}"))["shown"].clone()
    };
    let views = of("");
    assert!(views.as_array().is_some_and(|shown| !shown.is_empty()));
    assert_eq!(views, of("--memory 0"));
}

#[test]
fn a_page_shows_both_runs_and_links_views() {
    let sandbox = sandbox(&["store_old", "store_wrong"]);
    record(&sandbox, "old", "./store_old");
    record(&sandbox, "new", "./store_wrong");
    sandbox.execute("relapse diff old new --html page.html", "");
    let page = std::fs::read_to_string(sandbox.path().join("page.html")).expect("a page");
    assert!(page.contains("set store#1.total = 3") && page.contains("set store#1.total = 0"));
    assert!(page.contains("target store#1</a>") && page.contains("back to the difference"));
}

#[test]
fn an_explanation_uses_a_passing_test() {
    let sandbox = Sandbox::new();
    for (version, name) in [("good", "servlet_old"), ("bad", "servlet_new")] {
        let path = format!("{}/tests/it/runs/programs/{name}.c", env!("CARGO_MANIFEST_DIR"));
        std::fs::create_dir(sandbox.path().join(version)).expect("a directory");
        std::fs::copy(path, sandbox.path().join(version).join("servlet.c")).expect("a copy");
    }
    let test = |kind: &str| format!("./servlet text/{kind} \"$(printf 'a\\001b')\"").replace(' ', "\u{b7}");
    let line = format!(
        "relapse explain --quiet --good good --bad bad --build $CC\u{b7}-g\u{b7}-O1\u{b7}-o\u{b7}servlet\u{b7}servlet.c \
         --test {} --passing-test {} --save --work work --json -",
        test("html"),
        test("plain")
    );
    let answer = json(&sandbox, &line);
    assert_eq!(answer["verified"], true, "{answer:#}");
    let passing = &answer["passing"];
    assert_eq!(passing["kind"], "present", "{answer:#}");
    let suspects = passing["suspects"].as_array().expect("suspects");
    let wrong =
        suspects.iter().position(|s| s["bad"].to_string().contains("min_char = 1")).expect("the wrong bound");
    assert!(wrong < 3, "{passing:#}");
    // The line that passes the wrong bound belongs to a change, and to the answer.
    let changes: Vec<u64> = suspects[..3]
        .iter()
        .flat_map(|s| s["changes"].as_array().expect("changes").iter().filter_map(Value::as_u64))
        .collect();
    let root = answer["root"].as_array().expect("changes").iter().filter_map(|hunk| hunk["change"].as_u64());
    assert!(
        root.clone().any(|root| changes.contains(&root)),
        "{:?} and {changes:?}",
        root.collect::<Vec<_>>()
    );
    assert!(suspects.iter().any(|s| s["causes"].as_array().is_some_and(|c| !c.is_empty())), "{passing:#}");
    let text =
        String::from_utf8(sandbox.execute("relapse explain --quiet --work work", "").stdout).expect("text");
    assert!(text.contains("Only the failing test"), "{text}");
}

/// Without a passing test the nearest input on which both versions agree serves as one; its
/// result stands beside the causes, and the page has the runs themselves.
#[test]
fn an_explanation_uses_the_nearest_passing_input() {
    let sandbox = Sandbox::new();
    let good = "#include <stdio.h>
struct tally {
    int letters, others;
};
static void take(struct tally *tally, int c) {
    if (c >= 'a')
        tally->letters += 2;
    else
        tally->others += 1;
}
int main(void) {
    struct tally tally = { 0, 0 };
    take(&tally, getchar());
    printf(\"%d %d\\n\", tally.letters, tally.others);
    return 0;
}
";
    for (version, text) in [("good", good.to_owned()), ("bad", good.replace(">= 'a'", "> 'a'"))] {
        std::fs::create_dir(sandbox.path().join(version)).expect("a directory");
        sandbox.file(&format!("{version}/count.c"), &text);
        sandbox.file(&format!("{version}/in"), "a");
    }
    let answer = json(
        &sandbox,
        "relapse explain --quiet --good good --bad bad --build $CC\u{b7}-g\u{b7}-O1\u{b7}-o\u{b7}count\u{b7}count.c \
         --test ./count\u{b7}<\u{b7}in --work work --json - --html page.html",
    );
    assert_eq!(answer["verified"], true, "{answer:#}");
    assert_eq!(answer["alternate"]["changed"][0]["name"], "stdin[0]", "{answer:#}");
    let passing = &answer["passing"];
    assert!(passing["test"].is_null() && passing["kind"] == "present", "{passing:#}");
    let suspect = &passing["suspects"][0];
    assert!(suspect["bad"].to_string().contains("others = 1"), "{passing:#}");
    assert!(suspect["causes"].as_array().is_some_and(|c| !c.is_empty()), "{passing:#}");
    let page = std::fs::read_to_string(sandbox.path().join("page.html")).expect("a page");
    // The cause is marked, and the suspect leads to its place among the differences.
    assert!(page.contains("href=\"#suspect-1\"") && page.contains("id=\"suspect-1\""), "{page}");
    let target = page.split("<a href=\"#d").nth(1).and_then(|t| t.split('"').next()).expect("a link");
    assert!(page.contains(&format!("<tbody id=\"d{target}\">")), "{page}");
    assert!(page.contains("in both runs</a>") && page.contains("back to the difference"), "{page}");
    // The failing run in phases stands there folded.
    let phases = page.split("<section id=\"phases\">").nth(1).expect("phases");
    assert!(phases.contains("struct tally tally = { 0, 0 };</mark>"), "{phases}");
    assert!(!page.contains("<details open"), "{page}");
}

/// What a program was called as, and where it ran, is no difference between two runs; what it was
/// given is.
#[test]
fn own_names_of_runs_are_mapped_to_each_other() {
    let sandbox = sandbox(&["names"]);
    std::fs::create_dir(sandbox.path().join("elsewhere")).expect("a directory");
    std::fs::copy(sandbox.path().join("names"), sandbox.path().join("elsewhere/other")).expect("a copy");
    record(&sandbox, "one", "./names 4");
    let here = sandbox.path().display();
    record(&sandbox, "two", &format!("env -C {here}/elsewhere ./other 4"));
    let answer = json(&sandbox, "relapse diff one two --json");
    assert_eq!(answer["differences"], 0, "{:#}", answer["shown"]);
    record(&sandbox, "three", &format!("env -C {here}/elsewhere ./other 5"));
    let answer = json(&sandbox, "relapse diff one three --json");
    let said = all_said(&answer["shown"], "right");
    assert!(said.iter().any(|s| s == "set options.n = 5"), "{said:?}");
    assert!(said.iter().all(|s| !s.contains("other")), "{said:?}");
}

#[test]
fn bit_fields_are_told_by_member() {
    let sandbox = sandbox(&["flags"]);
    record(&sandbox, "one", "./flags 9");
    record(&sandbox, "two", "./flags 17");
    let answer = json(&sandbox, "relapse diff one two --json --only variable:state.mode");
    let said: Vec<String> =
        ["left", "right"].iter().flat_map(|side| all_said(&answer["shown"], side)).collect();
    for wanted in ["set state.mode = 9", "set state.mode = 17", "get state.mode = 9", "get state.mode = 17"] {
        assert!(said.iter().any(|s| s == wanted), "{wanted} is missing: {said:?}");
    }
    // The neighbours in the same unit are the same, and are not read when it is written.
    let all = json(&sandbox, "relapse diff one two --all --json");
    let differing: Vec<String> =
        ["left", "right"].iter().flat_map(|side| all_said(&all["shown"], side)).collect();
    assert!(differing.iter().all(|s| !s.contains("open") && !s.contains("level")), "{differing:?}");
}

/// A parameter more is no difference of every call: what the calls have in common is compared.
#[test]
fn calls_of_a_function_with_another_parameter_are_compared_by_the_others() {
    let mut sandbox = Sandbox::new();
    let source = |parameter: &str, argument: &str, last: &str| {
        format!(
            "#include <stdio.h>\n#include <string.h>\nstatic int sum;\nstatic char copy[64];\n\
             static void add(const char *what, int n{parameter}) {{ sum += n + (int)strlen(what); }}\n\
             int main(int argc, char **argv) {{\n    for (int i = 0; i < 20; i++)\n        \
             add(\"x\", i{argument});\n    add(\"y\", {last}{argument});\n    \
             memcpy(copy, argv[0], strlen(argv[0]) > 2 ? 2 : argc);\n    return sum == 0;\n}}\n"
        )
    };
    for (name, text) in [("old", source("", "", "3")), ("new", source(", int scale", ", 1", "4"))] {
        sandbox.file(&format!("{name}.c"), &text);
        sandbox.quietly(&format!("relapse cc -g -o {name} {name}.c"));
        record(&sandbox, &format!("run-{name}"), &format!("./{name}"));
    }
    let answer = json(&sandbox, "relapse diff run-old run-new --all --json");
    let said: Vec<String> =
        ["left", "right"].iter().flat_map(|side| all_said(&answer["shown"], side)).collect();
    let calls: Vec<&String> = said.iter().filter(|s| s.starts_with("call add")).collect();
    assert_eq!(
        calls,
        ["call add(what = \"y\", n = 3)", "call add(what = \"y\", n = 4, scale = 1)"],
        "{said:?}"
    );
    let notes = answer["notes"].to_string();
    assert!(notes.contains("add: other parameters in the other version"), "{notes}");
    // How much was copied is known only when it ran.
    assert!(said.iter().all(|s| !s.contains("<0 bytes>")), "{said:?}");
}

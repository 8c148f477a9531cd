//! `relapse alternate`: two versions of small programs, built, recorded and compared for real.

mod random;
mod values;

use crate::sandbox::Sandbox;
use serde_json::Value;
use std::path::Path;

/// A sandbox with both versions of a program, recorded with the same input into `run-old` and `run-new`.
fn sandbox(name: &str, options: &str, arguments: &str, stdin: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/alternate/programs").join(name);
    for version in ["old", "new"] {
        let file = format!("{version}.c");
        let text = std::fs::read_to_string(programs.join(&file)).expect("the program");
        sandbox.file(&file, &text);
        sandbox.quietly(&format!("relapse cc -g {options} -o {version} {file}"));
        record(&sandbox, version, arguments, stdin);
    }
    sandbox
}

fn record(sandbox: &Sandbox, version: &str, arguments: &str, stdin: &str) {
    let line = format!("relapse record --quiet --force -o run-{version} -- ./{version} {arguments}");
    let output = sandbox.execute(&line, stdin);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("relapse:"), "{line}: {said}");
}

fn ask(sandbox: &Sandbox, options: &str) -> Value {
    let output = sandbox.execute(&format!("relapse alternate run-old run-new --json {options}"), "");
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{said}"))
}

/// Version, line, and whether it passes, of each candidate.
fn places(answer: &Value) -> Vec<(String, u64, bool)> {
    let text = |v: &Value| v.as_str().expect("text").to_owned();
    list(&answer["candidates"])
        .iter()
        .map(|c| {
            (text(&c["version"]), c["line"].as_u64().expect("line"), c["passes"].as_bool().expect("truth"))
        })
        .collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The bytes of one part of the best alternate input of a candidate.
fn part(answer: &Value, candidate: usize, name: &str) -> Vec<u8> {
    let parts = list(&answer["candidates"][candidate]["alternates"][0]["parts"]);
    let part = parts.iter().find(|p| p["name"] == name).unwrap_or_else(|| panic!("no {name}: {parts:?}"));
    list(&part["new"]).iter().map(|b| b.as_u64().expect("byte") as u8).collect()
}

fn place(version: &str, line: u64, passes: bool) -> (String, u64, bool) {
    (version.to_owned(), line, passes)
}

#[test]
fn a_wrong_condition_is_the_only_candidate() {
    let sandbox = sandbox("branch", "", "", "5 5\n");
    let answer = ask(&sandbox, "--truth new.c:8");
    assert_eq!(answer["schema"], "relapse.alternate/1");
    // The old version's test is told as well, since finding out was cheap.
    assert_eq!(places(&answer), [place("new", 8, true), place("old", 8, true)]);
    assert_eq!(answer["candidates"][1]["omitted"], false, "the new version has this test, another one");
    let input = String::from_utf8(part(&answer, 0, "stdin")).expect("text");
    let numbers: Vec<i32> = input.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    assert!(matches!(numbers[..], [x, y] if x + y == 10 && x - y >= 1), "{input}");
    assert_eq!(answer["candidates"][0]["source"], "if (x - y >= 1)");
    assert_eq!(answer["candidates"][0]["class"], "1");
    assert_eq!(answer["class"], "1");
    // The other direction alone finds what the old version distinguishes.
    let other = ask(&sandbox, "--direction b");
    assert_eq!(places(&other), [place("old", 8, true)]);
}

#[test]
fn the_answer_can_be_read() {
    let mut sandbox = sandbox("branch", "", "", "5 5\n");
    sandbox.run("relapse alternate run-old run-new --direction a --out inputs");
    assert_session!(sandbox, @r#"
    $ relapse alternate run-old run-new --direction a --out inputs
    On the recorded input ([SIZE]), the old version gives "1\n" and exit 0, the new one "-1\n" and exit 0.
    What the output is made of begins to differ here:
      new.c:8  main
      if (x - y >= 1)

    1 place where an input near to it makes the versions agree again:

    1. new.c:8  main  (new version, branch)
      if (x - y >= 1)
      because i32(u8(stdin[0] - 48) - u8(stdin[2] - 48)) <= 0
      instead i32(u8(stdin[0] - 48) - u8(stdin[2] - 48)) >= 1
      stdin:
      - 5 5
      + 6 4
      passes: both versions give "1\n" and exit 0
      written to inputs/1

    new version: 9 questions of 9 decisions, 8 impossible, 1 confirmed
    "#);
    let written = sandbox.path().join("inputs/1");
    let input = std::fs::read_to_string(written.join("stdin")).expect("the input");
    // What is written is ready to be used.
    assert_eq!(
        sandbox.execute("./new", &input).stdout,
        std::fs::read(written.join("expected-output")).expect("it")
    );
    assert_eq!(sandbox.execute("./old", &input).stdout, sandbox.execute("./new", &input).stdout);
    let again = sandbox.execute("relapse alternate run-old run-new --out inputs", "");
    assert_eq!(again.status.code(), Some(2));
}

#[test]
fn what_the_new_version_lacks_is_found_in_the_old_one() {
    let sandbox = sandbox("chunk", "", "", "\0\0\0\u{5}n");
    let answer = ask(&sandbox, "");
    // The missing test for the length passes; the missing test for the range is a finding of its own.
    assert_eq!(places(&answer), [place("old", 23, true), place("old", 11, false)]);
    assert!(part(&answer, 0, "stdin")[..4] <= [0, 0, 0, 3][..]);
    assert!(part(&answer, 1, "stdin")[0] >= 0x80);
    assert_eq!(answer["searched"][0]["version"], "new");
    assert_eq!(answer["searched"][0]["confirmed"], 0);
}

#[test]
fn another_implementation_is_a_reference_too() {
    let sandbox = sandbox("server", "", "", "GET x\n");
    let answer = ask(&sandbox, "");
    let inputs: Vec<String> =
        (0..5).map(|n| String::from_utf8_lossy(&part(&answer, n, "stdin")).into_owned()).collect();
    assert_eq!(inputs, ["GET /\n", "GET \\\n", "GET *\n", "GET .\n", "GET %\n"]);
    let passing: Vec<bool> = places(&answer).into_iter().map(|p| p.2).collect();
    assert_eq!(passing, [true, false, false, false, false]);
    assert!(places(&answer).iter().all(|p| p.0 == "old"));
}

#[test]
fn a_packet_that_should_not_count_is_found() {
    let sandbox = sandbox("flow", "", "", "50S\n61A\n");
    let answer = ask(&sandbox, "");
    assert_eq!(places(&answer), [place("new", 13, true), place("new", 21, true)]);
    let input = part(&answer, 0, "stdin");
    assert!(input[1] == b'0' && input[2] != b'S', "{input:?}");
}

#[test]
fn an_error_on_a_line_that_did_not_change_is_found() {
    let sandbox = sandbox("latent", "", "", "50S\n61P\n");
    let answer = ask(&sandbox, "--truth new.c:19");
    let text = |line: usize, version: &str| {
        let file = std::fs::read_to_string(sandbox.path().join(version)).expect("source");
        file.lines().nth(line - 1).expect("line").to_owned()
    };
    assert_eq!(text(19, "new.c"), text(17, "old.c"));
    let found = places(&answer);
    assert_eq!(found.iter().filter(|p| p.0 == "new" && p.1 == 19).count(), 2, "{found:?}");
    let flag = |n: usize| part(&answer, n, "stdin")[6];
    assert!((0..found.len()).any(|n| found[n].1 == 19 && flag(n) == b'A'));
    assert_eq!(answer["class"], "1");
}

#[test]
fn a_test_that_is_new_is_found_in_the_new_version() {
    let sandbox = sandbox("choice", "", "", "2");
    let answer = ask(&sandbox, "");
    assert_eq!(places(&answer), [place("new", 5, true)]);
    assert_ne!(part(&answer, 0, "stdin"), b"2");
}

#[test]
fn a_test_that_is_gone_is_found_in_the_old_version() {
    let sandbox = sandbox("missing", "", "", "1");
    let answer = ask(&sandbox, "");
    assert_eq!(places(&answer), [place("old", 5, true)]);
    assert!(!b"12".contains(&part(&answer, 0, "stdin")[0]));
}

/// A body runs once more; the instance of the test in front of it is named.
#[test]
fn an_instance_in_the_second_round_of_a_loop_is_found() {
    let sandbox = sandbox("walk", "", "", "11..\n");
    let answer = ask(&sandbox, "");
    assert_eq!(places(&answer)[0], place("old", 11, true));
    assert_eq!(answer["candidates"][0]["source"], "if (m >= 0 && last != m) {");
    let index = answer["candidates"][0]["alternates"][0]["index"].as_str().expect("an index");
    assert!(index.starts_with("main:") && index.ends_with("[1]"), "{index}");
}

/// Of some twenty decisions only those about the last character matter to an output.
#[test]
fn decisions_that_no_output_depends_on_are_left_out() {
    let sandbox = sandbox("aside", "", "", "abc1234?\n");
    let answer = ask(&sandbox, "");
    let found = places(&answer);
    assert_eq!(found[0], place("new", 18, true), "{found:?}");
    assert!(found.iter().all(|found| found.1 == 18), "{found:?}");
    let new = list(&answer["searched"]).iter().find(|d| d["version"] == "new").expect("the new version");
    let count = |name: &str| new[name].as_u64().expect("a number");
    assert!(count("irrelevant") >= 14, "{new}");
    assert!(count("asked") + count("irrelevant") <= count("decisions"), "{new}");
}

#[test]
fn an_index_that_is_off_by_one_is_found() {
    let sandbox = sandbox("dash", "", "%[0-9][^9-B][@t][^a-c]", "");
    let answer = ask(&sandbox, "--truth new.c:16");
    assert_eq!(places(&answer)[0], place("new", 16, false));
    assert_eq!(answer["candidates"][0]["class"], "1");
    // What else is found lies in a function that this one calls.
    let classes: Vec<&Value> = list(&answer["candidates"]).iter().map(|c| &c["class"]).collect();
    assert!(classes[1..].iter().all(|c| **c == "3"), "{classes:?}");
    for (truth, class) in [("new.c:18", "2"), ("new.c:40", "3"), ("new.c:8", "3"), ("other.c:1", "4")] {
        let answer = ask(&sandbox, &format!("--truth {truth}"));
        assert_eq!(answer["candidates"][0]["class"], class, "{truth}");
    }
    let changed = list(&answer["candidates"][0]["alternates"][0]["changed"]);
    assert!(changed.iter().all(|c| c["name"].as_str().is_some_and(|n| n.starts_with("argv[1]["))));
}

#[test]
fn bytes_that_have_nothing_to_do_with_it_stay() {
    let sandbox = sandbox("unlinked", "", "", "z\u{14}\u{9}\u{3}");
    let answer = ask(&sandbox, "--truth new.c:11");
    assert_eq!(places(&answer), [place("new", 9, true)]);
    // The same test stands there once more: logically it is one.
    assert_eq!(answer["class"], "1a");
    let input = part(&answer, 0, "stdin");
    assert!(input[0] <= 100 && input[0] > input[1] && input[1] > 10, "{input:?}");
    assert_eq!(input[2..], [9, 3]);
}

#[test]
fn a_file_is_an_input_too() {
    let mut sandbox = sandbox("file", "", "in.txt", "");
    sandbox.file("in.txt", "aa");
    for version in ["old", "new"] {
        record(&sandbox, version, "in.txt", "");
    }
    let answer = ask(&sandbox, "--direction a --out inputs");
    assert_eq!(places(&answer), [place("new", 10, true)]);
    let input = std::fs::read(sandbox.path().join("inputs/1/files/in.txt")).expect("the file");
    assert!(input[0] > input[1], "{input:?}");
    // The user's own file has not been touched, and the copy can be used in its place.
    assert_eq!(std::fs::read(sandbox.path().join("in.txt")).expect("the file"), b"aa");
    let run =
        |sandbox: &mut Sandbox, program: &str| sandbox.quietly(&format!("{program} inputs/1/files/in.txt"));
    assert_eq!(run(&mut sandbox, "./old"), run(&mut sandbox, "./new"));
    // However the program is told where its file is.
    let other = tempfile::tempdir().expect("a directory");
    std::fs::write(other.path().join("in.txt"), "aa").expect("a file");
    for directory in [sandbox.path(), other.path()] {
        let path = directory.canonicalize().expect("it").join("in.txt").display().to_string();
        for version in ["old", "new"] {
            record(&sandbox, version, &path, "");
        }
        assert_eq!(places(&ask(&sandbox, "--direction a")), [place("new", 10, true)], "{path}");
        assert_eq!(std::fs::read(&path).expect("the file"), b"aa");
    }
}

#[test]
fn a_choice_without_a_branch_counts_as_one() {
    let sandbox = sandbox("branch", "-O1", "", "5 5\n");
    let answer = ask(&sandbox, "--direction a");
    assert_eq!(places(&answer), [place("new", 8, true)]);
}

#[test]
fn errors_in_values_need_predicates() {
    let sandbox = sandbox("value", "", "", "3");
    let plain = sandbox.execute("relapse alternate run-old run-new", "");
    assert_eq!(plain.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&plain.stderr).contains("no branch of either version"));
    let answer = ask(&sandbox, "--predicates");
    assert_eq!(answer["candidates"][0]["kind"], "predicate");
    assert_eq!(answer["candidates"][0]["function"], "last");
    assert_eq!(part(&answer, 0, "stdin"), b"0");
}

#[test]
fn values_that_are_not_followed_are_set_free_if_nothing_else_helps() {
    let sandbox = sandbox("half", "", "", "5");
    let answer = ask(&sandbox, "--no-float --direction a");
    assert_eq!(places(&answer), [place("new", 6, true)]);
    assert_eq!(part(&answer, 0, "stdin"), b"6");
    let relaxed: Vec<&Value> = list(&answer["searched"]).iter().map(|s| &s["relaxed"]).collect();
    assert_eq!(relaxed, [false, true]);
}

#[test]
fn what_was_not_asked_is_said() {
    let mut sandbox = sandbox("choice", "", "", "2");
    sandbox.run("relapse alternate run-old run-new --budget 0");
    assert_session!(sandbox, @r#"
    $ relapse alternate run-old run-new --budget 0
    On the recorded input (1 byte), the old version gives "f\n" and exit 0, the new one "g\n" and exit 0.
    What the output is made of begins to differ here:
      new.c:5  main
      if (inp != 1 && inp != 2)
      old.c:6  main  (old version)
      puts("f");

    No alternate input was found, but not every question has an answer.

    new version: 0 questions of 2 decisions, 0 impossible, 0 confirmed, 2 not asked
      no time was left to ask about 2 of 2
    old version: 0 questions of 1 decision, 0 impossible, 0 confirmed, 1 not asked
      no time was left to ask about 1 of 1
    [exit 1]
    "#);
}

#[test]
fn questions_that_make_no_sense_are_answered_as_such() {
    let mut sandbox = sandbox("choice", "", "", "3");
    sandbox.run("relapse alternate run-old run-new");
    sandbox.run("relapse alternate run-old run-old --anyway");
    record(&sandbox, "new", "", "2");
    sandbox.run("relapse alternate run-old run-new");
    record(&sandbox, "old", "", "2");
    sandbox.run("relapse alternate run-old run-new --only argv[1]");
    std::fs::rename(sandbox.path().join("new"), sandbox.path().join("elsewhere")).expect("it was there");
    std::fs::remove_dir_all(sandbox.path().join("run-new/models")).expect("they were there");
    sandbox.run("relapse alternate run-old run-new");
    assert_session!(sandbox, @r#"
    $ relapse alternate run-old run-new
    [stderr] relapse: failed to find an alternate input: both versions give the same output and end the same way on this input
    [stderr]  Record the test that fails with the new version. If it fails by something else than its output
    [stderr]  and exit status, say --anyway.
    [exit 6]
    $ relapse alternate run-old run-old --anyway
    On the recorded input (1 byte), the old version gives "f\n" and exit 0, the new one "f\n" and exit 0.
    Of all inputs of these lengths, exactly the same take this way in both versions: the error does not
    show in branches.
    --predicates looks at values as well; `relapse explain` finds the changes.

    new version: 1 question of 1 decision, 1 impossible, 0 confirmed
    old version: 1 question of 1 decision, 1 impossible, 0 confirmed
    [exit 1]
    $ relapse alternate run-old run-new
    [stderr] relapse: failed to compare the versions: the input bytes of the recordings are not the same (stdin[0] is 0x33 and 0x32)
    [stderr]  Record both versions with the same input.
    [exit 2]
    $ relapse alternate run-old run-new --only argv[1]
    What the output is made of begins to differ here:
      new.c:5  main
      if (inp != 1 && inp != 2)
      old.c:6  main  (old version)
      puts("f");

    [stderr] relapse: failed to find an alternate input: neither version reads any input that could be changed
    [stderr]  Follow more inputs: leave out --only.
    [exit 1]
    $ relapse alternate run-old run-new
    [stderr] relapse: failed to open the run of a version: load the program model: read [DESK]/new: No such file or directory (os error 2)
    [stderr]  A recording needs the binaries it was made with, unchanged.
    [exit 3]
    "#);
}

#[test]
fn random_versions_part_exactly_where_all_inputs_say() {
    let found: usize = (0..random::PAIRS).map(random::check).sum();
    assert!(found >= 10, "{found} candidates in all");
}

#[test]
fn a_comparison_of_doubles_is_followed() {
    let sandbox = sandbox("float", "", "", "20.0\n");
    let answer = ask(&sandbox, "");
    assert_eq!(places(&answer), [place("new", 7, true), place("old", 7, true)]);
    let input = String::from_utf8(part(&answer, 0, "stdin")).expect("text");
    let price: f64 = input.trim().parse().expect("a number");
    assert!(price * 0.5 > 10.0, "{input}");
}

#[test]
fn what_holds_only_for_values_that_stay_as_they_were_is_undecided() {
    let sandbox = sandbox("printed-float", "", "5", "");
    let answer = ask(&sandbox, "");
    assert_eq!((&answer["verdict"], &answer["fixed"]), (&"equal".into(), &Value::Null));
    let fixed = ask(&sandbox, "--no-float");
    assert_eq!((&fixed["verdict"], &fixed["fixed"]), (&"undecided".into(), &2.into()));
}

#[test]
fn a_place_is_where_the_condition_was_computed() {
    let sandbox = sandbox("truth", "", "", "z");
    let answer = ask(&sandbox, "--direction a");
    // Not where `main` branches on what `is_name` says.
    assert_eq!(places(&answer), [place("new", 4, true)]);
    assert_eq!(answer["candidates"][0]["function"], "is_name");
}

#[test]
fn a_check_that_is_gone_is_called_omitted() {
    let sandbox = sandbox("missing", "", "", "1");
    let answer = ask(&sandbox, "");
    let first = &answer["candidates"][0];
    assert_eq!(
        (&first["version"], &first["omitted"], &first["shared"]),
        (&"old".into(), &true.into(), &true.into())
    );
    let text = sandbox.execute("relapse alternate run-old run-new", "");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("the new version lacks this check, or has a weaker one"), "{text}");
}

/// What a program finds around it when it runs again: its environment, its files, and nothing of
/// what it leaves there.
#[test]
fn programs_run_again_as_they_were_recorded_and_leave_nothing() {
    let source = |test: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {{\n    \
             const char *mode = getenv(\"MODE\");\n    FILE *f = fopen(\"limit.txt\", \"r\");\n    \
             int limit = f ? fgetc(f) : 0;\n    if (!mode || *mode != 'x')\n        return 3;\n    \
             FILE *log = fopen(\"log.txt\", \"a\");\n    fputs(\"ran\\n\", log);\n    fclose(log);\n    \
             if (argv[1][0] {test} limit)\n        puts(\"more\");\n    return 0;\n}}\n"
        )
    };
    let mut sandbox = Sandbox::new();
    sandbox.file("limit.txt", "k");
    for (version, test) in [("old", ">="), ("new", ">")] {
        sandbox.file(&format!("{version}.c"), &source(test));
        sandbox.quietly(&format!("relapse cc -g -o {version} {version}.c"));
        let line = format!("relapse record --quiet -o run-{version} -- env MODE=x ./{version} k");
        let said = sandbox.execute(&line, "");
        assert!(said.status.success(), "{said:?}");
    }
    let before = std::fs::read_to_string(sandbox.path().join("log.txt")).expect("the log");
    let answer = ask(&sandbox, "--only argv[1] --direction a");
    assert_eq!(places(&answer), [place("new", 12, true)]);
    // No argument has a byte that ends it.
    assert!(!part(&answer, 0, "argv[1]").contains(&0));
    let solved = sandbox.quietly("relapse path run-new --only argv[1] --solve");
    assert!(solved.contains("took the same way"), "{solved}");
    assert_eq!(std::fs::read_to_string(sandbox.path().join("log.txt")).expect("the log"), before);
    assert!(!sandbox.path().join("relapse-input").exists(), "nothing is written unless asked");
}

/// The environment is not in the recorded order when a program runs again: one that looks at all of it takes another
/// path, and the search starts from there.
#[test]
fn a_program_that_reads_its_whole_environment_is_run_again() {
    let source = |test: &str| {
        format!(
            "#include <stdio.h>\nextern char **environ;\nint main(int argc, char **argv) {{\n    int sorted = 0;\n    \
             for (char **v = environ; v[0] && v[1]; v++)\n        if (v[0][0] < v[1][0])\n            sorted++;\n    \
             puts(argv[1][0] {test} 'k' ? \"more\" : \"less\");\n    return sorted < 0;\n}}\n"
        )
    };
    let mut sandbox = Sandbox::new();
    for (version, test) in [("old", ">="), ("new", ">")] {
        sandbox.file(&format!("{version}.c"), &source(test));
        sandbox.quietly(&format!("relapse cc -g -o {version} {version}.c"));
        let variables = "ZEBRA=1 APE=2 YAK=3 BEE=4";
        let line = format!("relapse record --quiet -o run-{version} -- env {variables} ./{version} k");
        let said = sandbox.execute(&line, "");
        assert!(said.status.success(), "{said:?}");
    }
    let answer = ask(&sandbox, "--only argv[1] --direction a");
    assert!(places(&answer).contains(&place("new", 8, true)), "{answer:#}");
}

/// A program that does otherwise when it may open fewer files is run again under the limit that was recorded.
#[test]
fn programs_run_again_under_the_recorded_limits() {
    let mut sandbox = Sandbox::new();
    let source = |test: &str| {
        format!(
            "#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
             int main(int argc, char **argv) {{\n    int wanted = atoi(argv[1]), got = 0;\n    \
             while (got < 40 && open(\"/dev/null\", O_RDONLY) >= 0)\n        got++;\n    \
             if (got == 40)\n        return 3;\n    puts(wanted {test} 25 ? \"many\" : \"few\");\n    \
             return 0;\n}}\n"
        )
    };
    for (version, test) in [("old", ">="), ("new", ">")] {
        sandbox.file(&format!("{version}.c"), &source(test));
        sandbox.quietly(&format!("relapse cc -g -o {version} {version}.c"));
        let line =
            format!("relapse record --quiet -o run-{version} -- sh -c ulimit·-n·30;exec·./{version}·25");
        let said = sandbox.execute(&line, "");
        assert!(said.status.success(), "{said:?}");
    }
    // With more files open the programs would end with 3, on another way.
    let answer = ask(&sandbox, "");
    assert_eq!(answer["recorded"]["old"]["exit"], 0);
    assert!(places(&answer).contains(&place("new", 10, true)), "{answer:#}");
}

/// Behind the fault both versions test the byte that it is about, each on a way of its own: neither can part from the
/// other while that one stays where it was.
#[test]
fn the_nearest_input_on_which_both_agree_is_told_if_nothing_passes() {
    let mut sandbox = Sandbox::new();
    let source = |test: &str| {
        format!(
            "#include <stdio.h>\nint main(int argc, char **argv) {{\n    char *s = argv[1];\n    \
             int escaped = s[1] == '*' {test};\n    for (; *s; s++)\n        \
             putchar(*s == '\\\\' || *s == '*' ? escaped ? '!' : '?' : *s);\n    return 0;\n}}\n"
        )
    };
    for (version, test) in [("old", "&& s[0] == '\\\\'"), ("new", "&& s[0] != '\\\\'")] {
        sandbox.file(&format!("{version}.c"), &source(test));
        sandbox.quietly(&format!("relapse cc -g -o {version} {version}.c"));
        record(&sandbox, version, "\\*b", "");
    }
    let answer = ask(&sandbox, "");
    assert!(places(&answer).iter().all(|place| !place.2), "{answer:#}");
    let nearest = &answer["nearest"];
    let bytes = |name: &str| -> Vec<u8> {
        list(&nearest["parts"][0][name]).iter().map(|b| b.as_u64().expect("byte") as u8).collect()
    };
    assert_eq!(bytes("old"), b"\\*b");
    let new = String::from_utf8(bytes("new")).expect("text");
    let outputs = ["old", "new"].map(|version| sandbox.execute(&format!("./{version} {new}"), "").stdout);
    assert_eq!(outputs[0], outputs[1], "{new}");
    assert_eq!(nearest["outcome"]["stdout"], String::from_utf8_lossy(&outputs[0]).into_owned());
    assert_eq!(nearest["branch"]["line"], 4, "{nearest:#}");
}

/// Both versions agree on nothing of this length.
#[test]
fn the_nearest_input_may_be_shorter() {
    let mut sandbox = Sandbox::new();
    for (version, what) in [("old", "length"), ("new", "length + (length > 3)")] {
        let source = format!(
            "#include <stdio.h>\n#include <unistd.h>\nint main(void) {{\n    char line[32];\n    \
             int length = (int)read(0, line, sizeof line);\n    if (line[0] == 'z')\n        puts(\"z\");\n    \
             printf(\"%d\\n\", {what});\n    return 0;\n}}\n"
        );
        sandbox.file(&format!("{version}.c"), &source);
        sandbox.quietly(&format!("relapse cc -g -o {version} {version}.c"));
        record(&sandbox, version, "", "abc\n");
    }
    let answer = ask(&sandbox, "");
    let parts = &answer["nearest"]["parts"];
    assert_eq!(list(&parts[0]["new"]).len(), 3, "{answer:#}");
    assert_eq!(answer["nearest"]["branch"], Value::Null);
    assert_eq!(answer["nearest"]["outcome"]["stdout"], "3\n");
}

//! `relapse explain` as a user meets it: versions, options, and answers that are none.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A place with a little program in two versions.
struct Sandbox {
    dir: tempfile::TempDir,
}

const GOOD: &str = "#include <stdio.h>\nint main(void) {\n    int sum = 0;\n    for (int i = 0; i < 4; i++)\n        sum += i;\n    printf(\"%d\\n\", sum);\n    return 0;\n}\n";

impl Sandbox {
    fn new() -> Sandbox {
        Sandbox { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn version(&self, name: &str, program: &str) -> PathBuf {
        let dir = self.path().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("sum.c"), program).unwrap();
        dir
    }

    /// Good, and bad with one piece of text replaced.
    fn versions(&self, old: &str, new: &str) {
        assert!(GOOD.contains(old));
        self.version("good", GOOD);
        self.version("bad", &GOOD.replace(old, new));
    }

    fn explain(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_relapse"))
            .arg("explain")
            .args(words)
            .args(["--quiet", "--work"])
            .arg(self.path().join("work"))
            .current_dir(self.path())
            .output()
            .unwrap()
    }

    fn git(&self, words: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"])
            .args(words)
            .current_dir(self.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

const BUILD: &[&str] = &["--build", "$CC -g -O1 -o sum sum.c", "--test", "./sum"];
const BOTH: &[&str] = &["--good", "good", "--bad", "bad"];

fn words<'w>(parts: &[&[&'w str]]) -> Vec<&'w str> {
    parts.concat()
}

fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_wrong_sum_is_explained_and_the_options_are_saved_on_request() {
    let sandbox = Sandbox::new();
    sandbox.versions("i < 4", "i < 3");
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, BUILD])));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.starts_with("verified: undoing the only change"), "{out}");
    assert!(out.contains("i < 3"), "{out}");
    assert!(!sandbox.path().join("relapse.toml").exists());
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, BUILD, &["--save"]])));
    assert_eq!(code, 0, "{out}{err}");
    // No options: as they were saved, and nothing has to be tried again.
    let (code, again, err) = said(&sandbox.explain(&["--json", "-"]));
    assert_eq!(code, 0, "{again}{err}");
    let answer: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(answer["schema"], "relapse.explain/2");
    assert_eq!(answer["verified"], true);
    assert_eq!(answer["root"][0]["file"], "sum.c");
    assert_eq!(answer["observation"]["kind"], "output");
}

#[test]
fn causes_are_read_from_bad_and_bad_with_the_cause_undone() {
    const BEFORE: &str = "#include <stdio.h>\nstatic int pick(int v) {\n    return v % 10;\n}\n\n\
        int main(void) {\n    int v = 7;\n    int digit = pick(v);\n    printf(\"%d\\n\", digit);\n    return 0;\n}\n";
    // That 7 became 17 is innocent, and is in every value that the failure came from.
    let after = BEFORE.replace("v = 7", "v = 17").replace("v % 10", "v % 10 - 8 * (v > 0)");
    let sandbox = Sandbox::new();
    sandbox.version("good", BEFORE);
    sandbox.version("bad", &after);
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, BUILD, &["--keep", "--json", "-"]])));
    assert_eq!(code, 0, "{out}{err}");
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    crate::audit::audit(&answer).unwrap();
    assert_eq!(answer["verified"], true);
    assert_eq!(answer["root"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["fixed"]["end"], "exit 0");
    let causes = crate::audit::causes(&answer);
    let values: Vec<&serde_json::Value> =
        causes.iter().flat_map(|cause| cause["values"].as_array().unwrap()).collect();
    assert!(
        values.iter().any(|value| value["name"] == "digit" && value["good"] == "7" && value["bad"] == "-1")
    );
    for value in values.iter().filter(|value| value["name"] == "v") {
        assert_eq!(value["good"], value["bad"], "{out}");
    }
}

#[test]
fn a_call_shows_what_its_variable_became() {
    const BEFORE: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n\
        int main(void) {\n    char text[8];\n    int n = 5;\n    strcpy(text, \"12\");\n    n = atoi(text);\n\
        \x20   printf(\"%d\\n\", n);\n    return 0;\n}\n";
    let sandbox = Sandbox::new();
    sandbox.version("good", BEFORE);
    sandbox.version("bad", &BEFORE.replace("\"12\"", "\"21\""));
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, BUILD, &["--keep", "--json", "-"]])));
    assert_eq!(code, 0, "{out}{err}");
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    crate::audit::audit(&answer).unwrap();
    let causes = crate::audit::causes(&answer);
    let call = causes.iter().find(|cause| cause["place"]["text"] == "    n = atoi(text);").expect(&out);
    let values = call["values"].as_array().unwrap();
    let n = values.iter().find(|value| value["name"] == "n").expect(&out);
    assert_eq!((&n["good"], &n["bad"]), (&"12".into(), &"21".into()), "{out}");
}

#[test]
fn a_line_that_moved_is_not_called_absent() {
    // Another function has the same line, at its own position in both versions.
    const BEFORE: &str = "#include <stdio.h>\nstatic int count(int n) {\n    int at = 0;\n    while (at < n) {\n        \
        at = at + 1;\n    }\n    return at;\n}\n\nstatic int last(const int *list, int n) {\n    int at = 0;\n    \
        while (at + 1 < n) {\n        at = at + 1;\n    }\n    return list[at];\n}\n\nint main(void) {\n    \
        int list[] = {1, 5, 9};\n    printf(\"%d\\n\", last(list, count(3)));\n    return 0;\n}\n";
    let after = BEFORE.replace(
        "    while (at + 1 < n) {\n        at = at + 1;\n    }\n",
        "    if (list[0] > 0) {\n        at = list[0];\n    } else {\n        while (at + 1 < n) {\n            \
         at = at + 1;\n        }\n    }\n",
    );
    let sandbox = Sandbox::new();
    sandbox.version("good", BEFORE);
    sandbox.version("bad", &after);
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, BUILD, &["--json", "-"]])));
    assert_eq!(code, 0, "{out}{err}");
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    crate::audit::audit(&answer).unwrap();
    let causes = crate::audit::causes(&answer);
    let moved =
        causes.iter().find(|cause| cause["good_place"]["text"] == "        at = at + 1;").expect(&out);
    assert_eq!(moved["what"], "bad has this at another place, in line 16, which did not run", "{out}");
}

#[test]
fn commands_to_look_further_are_printed_and_run() {
    let sandbox = Sandbox::new();
    sandbox.versions("i < 4", "i < 3");
    let markdown = sandbox.path().join("answer.md");
    let options = ["--json", "answer.json", "--markdown", "answer.md"];
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, BUILD, &options])));
    assert_eq!(code, 0, "{out}{err}");
    let answer = std::fs::read_to_string(sandbox.path().join("answer.json")).unwrap();
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let further = answer["further"].as_array().expect("commands");
    assert_eq!(further.len(), 3, "{further:?}");
    let binaries = Path::new(env!("CARGO_BIN_EXE_relapse")).parent().unwrap().display().to_string();
    let path = format!("{binaries}:{}", std::env::var("PATH").unwrap_or_default());
    let markdown = std::fs::read_to_string(markdown).unwrap();
    for further in further {
        let command = further["command"].as_str().unwrap();
        assert!(out.lines().any(|line| line.trim() == command), "{command}: {out}");
        assert!(markdown.lines().any(|line| line == command), "{command}: {markdown}");
        let shell = Command::new("sh").args(["-c", command]).env("PATH", &path).output().unwrap();
        let (code, text, error) = said(&shell);
        // What differs is no error: `diff` ends with 1.
        assert!(code == 0 || code == 1 && command.starts_with("relapse diff"), "{command}: {code} {error}");
        // The sources are still there.
        assert!(text.contains("i < 3") || text.contains("sum"), "{command}: {text}");
    }
}

#[test]
fn an_input_of_another_length_on_which_both_agree_is_told() {
    const BEFORE: &str = "#include <stdio.h>\n#include <string.h>\nint main(int argc, char **argv) {\n    \
        (void)argc;\n    int length = (int)strlen(argv[1]);\n    printf(\"%d\\n\", length);\n    return 0;\n}\n";
    let sandbox = Sandbox::new();
    sandbox.version("good", BEFORE);
    sandbox.version("bad", &BEFORE.replace(", length);", ", length + (length > 3));"));
    let build = ["--build", "$CC -g -o sum sum.c", "--test", "./sum abcd"];
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, &build, &["--json", "-"]])));
    assert_eq!(code, 0, "{out}{err}");
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    let part = &answer["alternate"]["parts"][0];
    assert_eq!((&part["name"], &part["old"]), (&"argv[1]".into(), &"abcd".into()), "{out}");
    let new = part["new"].as_str().unwrap();
    assert_eq!(answer["alternate"]["stdout"], format!("{}\n", new.len()), "{out}");
    assert!(new.len() <= 3, "{new}");
}

#[test]
fn bit_fields_are_members_in_formulas() {
    let good = "#include <stdio.h>\n\
                struct line { unsigned kind : 3; int level : 6; unsigned beg : 20; };\n\
                static void mark(struct line *line, int depth) {\n\
                \x20   line->kind = 2;\n\
                \x20   line->level = depth - 1;\n\
                \x20   line->beg = 7;\n\
                }\n\
                int main(int argc, char **argv) {\n\
                \x20   struct line line = { 0 };\n\
                \x20   mark(&line, argc + 4);\n\
                \x20   int shown = line.level * 10;\n\
                \x20   printf(\"%d\\n\", shown);\n\
                \x20   return 0;\n\
                }\n";
    let sandbox = Sandbox::new();
    sandbox.version("good", good);
    sandbox.version("bad", &good.replace("depth - 1", "depth - 2"));
    let build = ["--build", "$CC -g -O0 -o sum sum.c", "--test", "./sum"];
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, &build])));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("line->level = depth - 2"), "{out}");
    assert!(out.contains("shown = line.level * 10"), "{out}");
    assert!(!out.contains(" & ") && !out.contains(" << "), "masks and shifts are the compiler's:\n{out}");
}

#[test]
fn an_answer_is_shown_again_in_other_forms() {
    let sandbox = Sandbox::new();
    sandbox.versions("i < 4", "i < 3");
    let forms: &[&str] = &["--json", "answer.json", "--markdown", "comment.md", "--steps", "1"];
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, BUILD, forms])));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("with --steps all: all "), "{out}");
    let comment = std::fs::read_to_string(sandbox.path().join("comment.md")).unwrap();
    assert!(comment.contains("**Verified:**"), "{comment}");
    let show = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relapse"));
        said(&command.arg("show").args(words).current_dir(sandbox.path()).output().unwrap())
    };
    let (code, again, err) = show(&["answer.json", "--steps", "all", "--html", "page.html"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(again.lines().next(), out.lines().next());
    assert!(!again.contains("not shown") && again.lines().count() > out.lines().count(), "{again}");
    assert!(std::fs::read_to_string(sandbox.path().join("page.html")).unwrap().contains("i &lt; 3"));
    let (code, _, err) = show(&["good/sum.c"]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("it is not JSON"), "{err}");
    assert_eq!(show(&["answer.json", "--steps", "0"]).0, 2);
}

#[test]
fn what_is_no_regression_has_an_answer_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.versions("int sum = 0;", "int sum = 0; ");
    let (code, _, err) = said(&sandbox.explain(&words(&[BOTH, BUILD])));
    assert_eq!(code, 6, "{err}");
    assert!(err.contains("see the test fail on the bad version"), "{err}");

    sandbox.versions("return 0;", "return 1;");
    let (code, _, err) =
        said(&sandbox.explain(&words(&[&["--good", "bad", "--bad", "good"], BUILD, &["--oracle", "exit"]])));
    assert_eq!(code, 9, "{err}");
    assert!(err.contains("it passes on the bad one") && err.contains("Exchange --good and --bad"), "{err}");

    let missing = ["--build", "true", "--test", "./no-such-program"];
    let (code, _, err) = said(&sandbox.explain(&words(&[BOTH, &missing])));
    assert_eq!(code, 10, "{err}");
    assert!(err.contains("run the test on the good version"), "{err}");

    sandbox.version("bad", GOOD);
    let (code, _, err) = said(&sandbox.explain(&words(&[BOTH, BUILD])));
    assert_eq!(code, 6, "{err}");
    assert!(err.contains("their files are the same"), "{err}");
}

#[test]
fn a_flaky_test_is_not_explained() {
    let sandbox = Sandbox::new();
    sandbox.versions("i < 4", "i < 3");
    let count = sandbox.path().join("count").display().to_string();
    let test = format!("./sum; echo x >> {count}; test $(( $(wc -l < {count}) % 2 )) = 0");
    let flaky = ["--build", "$CC -g -o sum sum.c", "--test", &test];
    let (code, _, err) = said(&sandbox.explain(&words(&[BOTH, &flaky])));
    assert_eq!(code, 7, "{err}");
    assert!(err.contains("get the same result twice from the good version"), "{err}");
}

#[test]
fn what_differs_from_run_to_run_is_not_compared() {
    let sandbox = Sandbox::new();
    sandbox.versions("i < 4", "i < 3");
    let timed = ["--build", "$CC -g -o sum sum.c", "--test", "./sum; echo took $(date +%N) ns"];
    let (code, out, err) = said(&sandbox.explain(&words(&[BOTH, &timed])));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("not compared, as it differs from run to run"), "{out}");
}

#[test]
fn a_version_that_does_not_build_shows_the_first_error_and_the_log() {
    let sandbox = Sandbox::new();
    sandbox.versions("int sum = 0;", "int summ = 0;");
    let (code, _, err) = said(&sandbox.explain(&words(&[BOTH, BUILD])));
    assert_eq!(code, 8, "{err}");
    assert!(err.contains("build the bad version") && err.contains("undeclared identifier 'sum'"), "{err}");
    let log = err.split("log in ").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
    assert!(std::fs::read_to_string(log).unwrap().contains("undeclared identifier"), "{log}");
}

#[test]
fn bad_command_lines_are_said() {
    let sandbox = Sandbox::new();
    sandbox.versions("i < 4", "i < 3");
    let missing: [(&[&str], &str); 4] = [
        (&["--good", "good"], "the version in which the test fails is not named"),
        (BOTH, "the failing test is not named"),
        (&["--good", "nowhere", "--bad", "bad", "--build", "true", "--test", "true"], "the version nowhere"),
        (
            &["--good", "good", "--bad", "bad", "--build", "true", "--test", "true", "--timeout", "0"],
            "make no sense",
        ),
    ];
    for (words, sentence) in missing {
        let (code, _, err) = said(&sandbox.explain(words));
        assert_eq!(code, 2, "{words:?}: {err}");
        assert!(err.contains(sentence), "{words:?}: {err}");
    }
}

#[test]
fn a_bisect_in_progress_names_the_versions_and_nothing_is_touched() {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q"]);
    let file = sandbox.path().join("sum.c");
    for (n, text) in
        [GOOD.to_owned(), GOOD.replace("%d\\n", "%d \\n"), GOOD.replace("i < 4", "i <= 4")].iter().enumerate()
    {
        std::fs::write(&file, text).unwrap();
        sandbox.git(&["add", "sum.c"]);
        sandbox.git(&["commit", "-q", "-m", &n.to_string()]);
    }
    sandbox.git(&["bisect", "start", "HEAD", "HEAD~2"]);
    let state = || {
        let mut all = String::new();
        for words in
            [&["status", "--porcelain"][..], &["rev-parse", "HEAD"], &["worktree", "list"], &["for-each-ref"]]
        {
            let output = Command::new("git").args(words).current_dir(sandbox.path()).output().unwrap();
            all += &String::from_utf8_lossy(&output.stdout);
        }
        all
    };
    std::fs::write(sandbox.path().join(".git/info/exclude"), "work\n").unwrap();
    let before = state();
    let (code, out, err) = said(&sandbox.explain(BUILD));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("i <= 4"), "{out}");
    assert_eq!(state(), before);
}

impl Sandbox {
    /// Commits a version of the program.
    fn commit(&self, program: &str, subject: &str) {
        std::fs::write(self.path().join("sum.c"), program).unwrap();
        self.git(&["add", "sum.c"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", subject]);
    }

    fn repository() -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.git(&["init", "-q"]);
        std::fs::write(sandbox.path().join(".git/info/exclude"), "work\n").unwrap();
        sandbox
    }
}

#[test]
fn a_change_that_was_taken_back_and_made_again_came_with_the_last_commit() {
    let sandbox = Sandbox::repository();
    let wrong = GOOD.replace("i < 4", "i <= 4");
    sandbox.commit(GOOD, "start");
    sandbox.commit(&wrong, "count further");
    sandbox.commit(&wrong.replace("int sum = 0", "int sum = 0x0"), "write it in hex");
    sandbox.commit(&wrong, "write it in decimal");
    // Says "This reverts commit ...".
    sandbox.git(&["revert", "--no-edit", "HEAD~2"]);
    sandbox.commit(&wrong, "count further, again");
    let (code, out, err) = said(&sandbox.explain(&[BUILD, &["--good", "HEAD~5", "--bad", "HEAD"]].concat()));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("count further, again"), "{out}");
}

#[test]
fn an_ancestor_of_good_that_behaves_otherwise_is_not_taken_for_good() {
    let sandbox = Sandbox::repository();
    let odd = GOOD.replace("\\n\", sum", "\\n\", sum - 1");
    sandbox.commit(&odd, "start");
    sandbox.git(&["checkout", "-q", "-b", "branch"]);
    sandbox.commit(&odd.replace("i < 4", "i <= 4"), "count further");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.commit(GOOD, "print the sum itself");
    sandbox.git(&["tag", "fine"]);
    sandbox.git(&["checkout", "-q", "branch"]);
    sandbox.git(&["merge", "-q", "--no-ff", "-m", "merge", "main"]);
    let (code, out, err) = said(&sandbox.explain(&[BUILD, &["--good", "fine", "--bad", "HEAD"]].concat()));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("good printed `6`, bad printed `10`"), "{out}");
    assert!(out.contains("i <= 4"), "{out}");
}

#[test]
fn a_release_on_a_branch_of_its_own_is_bisected_from_the_merge_base() {
    let sandbox = Sandbox::repository();
    sandbox.commit(GOOD, "start");
    sandbox.git(&["checkout", "-q", "-b", "release"]);
    sandbox.commit(&GOOD.replace("int sum = 0", "int sum = 0x0"), "prepare the release");
    sandbox.git(&["checkout", "-q", "main"]);
    let wrong = GOOD.replace("i < 4", "i <= 4");
    sandbox.commit(&GOOD.replace("int sum", "long sum"), "long sums");
    sandbox.commit(GOOD, "no long sums");
    sandbox.commit(&wrong, "count further");
    sandbox.commit(&wrong.replace("sum = 0", "sum = 00"), "write it in octal");
    let (code, out, err) = said(&sandbox.explain(&[BUILD, &["--good", "release", "--bad", "HEAD"]].concat()));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("The commit it came with") && out.contains("count further"), "{out}");
    assert!(!out.contains("0x0"), "{out}");
}

#[test]
fn a_merge_base_that_fails_too_is_told() {
    let sandbox = Sandbox::repository();
    let wrong = GOOD.replace("i < 4", "i <= 4");
    sandbox.commit(&wrong, "start");
    sandbox.git(&["checkout", "-q", "-b", "release"]);
    sandbox.commit(GOOD, "count right");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.commit(&wrong.replace("int sum = 0", "int sum = 0x0"), "write it in hex");
    let (code, out, err) = said(&sandbox.explain(&[BUILD, &["--good", "release", "--bad", "HEAD"]].concat()));
    assert_eq!(code, 0, "{out}{err}");
    let note = "The commits were not bisected: good is no ancestor of bad, and the test does not pass in the commit where they part";
    assert!(out.contains(note) && out.contains("`start`"), "{out}");
    assert!(out.contains("i <= 4"), "{out}");
}

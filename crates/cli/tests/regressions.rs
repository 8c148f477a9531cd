//! Explains the regressions of `regressions/`, each as a test of its own.
//!
//! Five kinds of tests. `construction::NAME` does without `relapse`: it proves with plain
//! clang that good passes, that bad fails, and that reverting exactly the changes that
//! the case calls guilty helps, none of them left out. `explain::NAME` asks `relapse explain`
//! and holds the answer against the case, and its facts against the recordings (`audit`). `dd::NAME` and `add::NAME` do so for the other
//! methods, where a case says what they answer; `runs::NAME` compares the recorded runs of
//! both versions, where it says what that shows; `located::NAME` asks `relapse locate` about bad alone.
//!
//! Cases that say `long` are explained only by `cargo xtask test --long` (`-- --include-ignored` here):
//! together they take longer than all other tests. What a feature of `explain` rests on has a case
//! that is explained always.

mod audit;
mod cases;
mod located;

use cases::{Answer, Case, Expected, Hunk, Named, Side};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn main() {
    let cases = cases::all();
    assert!(cases.len() >= 25, "only {} cases found", cases.len());
    let mut trials = Vec::new();
    let mut test = |group: &str, case: &Case, check: fn(&Case) -> Result<(), String>| {
        let copy = case.clone();
        let trial =
            Trial::test(format!("{group}::{}", case.name), move || check(&copy).map_err(Failed::from));
        // An explanation builds and runs dozens of programs.
        let searches = matches!(group, "explain" | "dd" | "add" | "located");
        trials.push(trial.with_ignored_flag(case.says.long && searches));
    };
    for case in &cases {
        if case.says.runs.is_some() {
            test("runs", case, compared);
        }
        if case.says.located.is_some() {
            test("located", case, located_alone);
        }
        test("construction", case, right_by_construction);
        test("explain", case, explained);
        if case.says.dd.is_some() {
            test("dd", case, |case| other_method(case, "dd", case.says.dd.as_ref()));
        }
        if case.says.add.is_some() {
            test("add", case, |case| other_method(case, "add", case.says.add.as_ref()));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

// ------------------------------------------------------------------ without relapse

/// What the test command did, as far as the oracle looks.
#[derive(Clone, Debug)]
struct Seen {
    seconds: f64,
    /// None: it was killed, or had to be.
    code: Option<i32>,
    stdout: String,
    observed: Vec<String>,
}

fn right_by_construction(case: &Case) -> Result<(), String> {
    let sandbox = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = |name: &str| sandbox.path().join(name);
    case.lay_out(sandbox.path())?;
    let hunks = cases::difference(sandbox.path())?;
    // The test of bad may be younger than good.
    let (good_tree, bad_tree) = (folder("good"), folder("bad"));
    if !case.says.test_files.is_empty() {
        held(case, &bad_tree, &good_tree)?;
    }
    // What is built leaves products, so copies are built.
    let built = |name: &str| {
        let tree = folder(&format!("built-{name}"));
        cases::copy(&folder(name), &tree).map_err(|e| e.to_string())?;
        run(case, &tree)
    };
    let good = built("good")?.ok_or("good does not build")?;
    let passes = |seen: &Option<Seen>| match (&case.says.expect, case.says.oracle.as_deref()) {
        (Some(file), _) => seen.as_ref().is_some_and(|seen| {
            let expected = std::fs::read_to_string(case.directory.join(file)).ok();
            seen.code == Some(0) && Some(&seen.stdout) == expected.as_ref()
        }),
        (None, Some("exit")) => seen.as_ref().is_some_and(|seen| seen.code == Some(0)),
        (None, Some("slower")) => seen.as_ref().is_some_and(|seen| seen.seconds < 4.0 * good.seconds + 0.1),
        (None, _) => seen.as_ref().is_some_and(|seen| {
            let printed = case.says.unstable || seen.stdout == good.stdout;
            printed && seen.code == good.code && seen.observed == good.observed
        }),
    };
    if good.code.is_none() || !passes(&Some(good.clone())) {
        return Err(format!("good does not pass: {good:#?}"));
    }
    let bad = built("bad")?.ok_or("bad does not build")?;
    if passes(&Some(bad)) {
        return Err("bad does not fail".to_owned());
    }

    let given = Answer { root: case.says.root.clone(), auxiliary: case.says.auxiliary.clone() };
    for (number, answer) in std::iter::once(&given).chain(&case.says.other).enumerate() {
        let named = answer.root.iter().chain(&answer.auxiliary);
        let guilty: Vec<&Hunk> =
            named.map(|named| cases::hunk_named(&hunks, named)).collect::<Result<_, _>>()?;
        let without = |left: Option<usize>| {
            let tree = folder(&format!("answer-{number}-without-{left:?}"));
            cases::copy(&bad_tree, &tree).map_err(|e| e.to_string())?;
            let chosen = guilty.iter().enumerate().filter(|(i, _)| Some(*i) != left);
            cases::revert(&tree, &chosen.map(|(_, hunk)| *hunk).collect::<Vec<_>>())?;
            run(case, &tree)
        };
        let reverted = without(None)?;
        if !passes(&reverted) {
            return Err(format!("reverting what is guilty does not help: {reverted:#?}\ngood: {good:#?}"));
        }
        for (index, hunk) in guilty.iter().enumerate() {
            // Of changes that fail only together, undoing one is enough; it takes both to break good.
            let alone = guilty.len() == 1 || !needs_both(case);
            if alone && passes(&without(Some(index))?) {
                return Err(format!("this need not be reverted: {hunk:#?}"));
            }
        }
    }
    for (number, wrong) in case.says.wrong.iter().enumerate() {
        let tree = folder(&format!("wrong-{number}"));
        cases::copy(&bad_tree, &tree).map_err(|e| e.to_string())?;
        cases::revert_named(&tree, &hunks, &wrong.root)?;
        if wrong.passes != passes(&run(case, &tree)?) {
            return Err(format!("this does not do what is said of it: {wrong:#?}"));
        }
    }
    Ok(())
}

/// Whether the case says that its root changes fail only together.
fn needs_both(case: &Case) -> bool {
    case.says.covers.iter().any(|what| what == "two culprits, both needed")
}

/// The test of good says what is to be printed, if bad ends as well as good.
fn located_alone(case: &Case) -> Result<(), String> {
    let sandbox = tempfile::tempdir().map_err(|e| e.to_string())?;
    case.lay_out(sandbox.path())?;
    let built = |name: &str| {
        let tree = sandbox.path().join(format!("built-{name}"));
        cases::copy(&sandbox.path().join(name), &tree).map_err(|e| e.to_string())?;
        run(case, &tree)?.ok_or_else(|| format!("{name} does not build"))
    };
    let (good, bad) = (built("good")?, built("bad")?);
    let ends_alike = good.code == Some(0) && bad.code == Some(0);
    located::located(case, ends_alike.then_some(&good.stdout), sandbox.path())
}

/// Gives good the test's files of bad.
fn held(case: &Case, bad: &Path, good: &Path) -> Result<(), String> {
    for pattern in &case.says.test_files {
        let directory = pattern.strip_suffix("/*").ok_or_else(|| format!("{pattern} is no directory"))?;
        cases::copy(&bad.join(directory), &good.join(directory)).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Builds with plain clang and runs the test; `None` if it does not build.
fn run(case: &Case, tree: &Path) -> Result<Option<Seen>, String> {
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(tree)
            .env("CC", "clang-22")
            .env("CXX", "clang++-22")
            .stdin(Stdio::null());
        command.output().map_err(|e| format!("sh: {e}"))
    };
    if !shell(&case.says.build)?.status.success() {
        return Ok(None);
    }
    let limit = case.says.timeout.unwrap_or(10);
    let quoted = case.says.test.replace('\'', r"'\''");
    let began = std::time::Instant::now();
    let output = shell(&format!("exec timeout -s KILL {limit} sh -c '{quoted}'"))?;
    let seconds = began.elapsed().as_secs_f64();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let observed = case.says.observe.iter().map(|what| match what.as_str() {
        "stderr" => text(&output.stderr),
        file => text(&std::fs::read(tree.join(file)).unwrap_or_default()),
    });
    Ok(Some(Seen {
        seconds,
        code: output.status.code().filter(|code| *code < 128),
        stdout: text(&output.stdout),
        observed: observed.collect(),
    }))
}

// --------------------------------------------------------------------- with relapse

/// Runs `relapse explain`: its answer, what it said, and the difference.
fn explain(case: &Case, method: &str) -> Result<(Value, String, Vec<Hunk>), String> {
    let sandbox = tempfile::tempdir().map_err(|e| e.to_string())?;
    case.lay_out(sandbox.path())?;
    let answer = sandbox.path().join("answer.json");
    // An explanation that does not end is a failed test, not a stuck one.
    let mut command = Command::new("timeout");
    command.args(["--kill-after=20", "600", env!("CARGO_BIN_EXE_relapse")]);
    command
        .args(["--color", "never", "explain", "--method", method, "--keep", "--work"])
        .arg(sandbox.path().join("work"));
    let as_history = case.says.history && method == "auto";
    command.args(if as_history {
        ["--good", "first", "--bad", "HEAD"]
    } else {
        ["--good", "good", "--bad", "bad"]
    });
    if let Some(suite) = &case.says.suite {
        command.args(["--suite", suite]);
    }
    for files in &case.says.test_files {
        command.args(["--test-files", files]);
    }
    command.args(["--build", &case.says.build, "--test", &case.says.test]).arg("--json").arg(&answer);
    if let Some(oracle) = &case.says.oracle {
        command.args(["--oracle", oracle]);
    }
    if let Some(file) = &case.says.expect {
        command.arg("--expect").arg(case.directory.join(file));
    }
    for what in &case.says.observe {
        command.args(["--observe", what]);
    }
    if let Some(seconds) = case.says.timeout {
        command.args(["--timeout", &seconds.to_string()]);
    }
    let here = if as_history { sandbox.path().join("repository") } else { sandbox.path().to_owned() };
    command.current_dir(here).env_remove("RELAPSE_RECORD_DIR").stdin(Stdio::null());
    let output = command.output().map_err(|e| format!("relapse: {e}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let json = std::fs::read(&answer).map_err(|e| format!("no answer ({e}):\n{}", show(&output)))?;
    let json = serde_json::from_slice(&json).map_err(|e| format!("{e}:\n{}", show(&output)))?;
    let hunks = cases::difference(sandbox.path())?;
    audit::audit(&json).map_err(|why| format!("{why}\n{said}"))?;
    Ok((json, said, hunks))
}

fn explained(case: &Case) -> Result<(), String> {
    let (answer, said, _) = explain(case, "auto")?;
    let mut answers = vec![Answer { root: case.says.root.clone(), auxiliary: case.says.auxiliary.clone() }];
    answers.extend(case.says.other.iter().cloned());
    let check = || {
        let judged = answers.iter().map(|one| names_the_cause(&answer, one).map(|()| one));
        let judged: Vec<Result<&Answer, String>> = judged.collect();
        let Some(given) = judged.iter().find_map(|judged| judged.as_ref().ok()) else {
            // The first is the one that is meant.
            return judged.into_iter().next().unwrap_or(Err("no answer is right".to_owned())).map(|_| ());
        };
        for shown in ["needed", "sane"] {
            if answer["proof"][shown] != "yes" {
                return Err(format!("{shown} is {}", answer["proof"][shown]));
            }
        }
        if let Some(wrong) = case.says.wrong.iter().find(|wrong| accuses(&answer, wrong, &answers)) {
            return Err(format!("this is innocent: {wrong:#?}"));
        }
        if let (true, Some(culprit)) = (case.says.history, &case.says.culprit)
            && answer["commit"]["subject"].as_str() != Some(culprit)
        {
            return Err(format!("the commit is {}, not {culprit}", answer["commit"]));
        }
        let kind = answer["observation"]["kind"].as_str().unwrap_or_default();
        if !case.says.kind.allow(kind) {
            return Err(format!("observed {kind}, expected {:?}", case.says.kind));
        }
        for named in &given.root {
            for text in [&named.old, &named.new].into_iter().flatten() {
                let shown = text.trim_end_matches('\n').lines().all(|line| said.contains(line.trim()));
                if !shown && !said.contains("lines not shown") {
                    return Err(format!("the report does not show {text}"));
                }
            }
        }
        for chain in &case.says.chains {
            let top = answer["causes"].as_array().map(Vec::as_slice).unwrap_or_default();
            if !top.iter().any(|cause| leads(cause, chain)) {
                return Err(format!("no way down the causes leads along {chain:?}"));
            }
        }
        let causes = audit::causes(&answer);
        let stands = |cause: &&&Value, text: &String| {
            ["place", "good_place"]
                .iter()
                .any(|place| cause[place]["text"].as_str().is_some_and(|line| line.trim() == text))
        };
        if let Some(line) =
            case.says.never.iter().find(|line| causes.iter().any(|cause| stands(&cause, line)))
        {
            return Err(format!("`{line}` is no part of the story"));
        }
        let says = |sentence: &&String| {
            causes
                .iter()
                .any(|cause| cause["what"].as_str().is_some_and(|what| what.starts_with(sentence.as_str())))
        };
        if let Some(sentence) = case.says.sentences.iter().find(|sentence| !says(sentence)) {
            return Err(format!("the story does not say: {sentence}"));
        }
        let shows = |value: &&cases::Shown| {
            let mut pairs = causes.iter().filter_map(|cause| cause["values"].as_array()).flatten();
            pairs.any(|pair| {
                pair["name"] == value.name && pair["good"] == value.good && pair["bad"] == value.bad
            })
        };
        if let Some(value) = case.says.values.iter().find(|value| !shows(value)) {
            return Err(format!("the story does not show {value:?}"));
        }
        let errors = answer["observation"]["memory_errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_said =
            |part: &String| errors.iter().any(|e| e.as_str().is_some_and(|e| e.contains(part.as_str())));
        if let Some(part) = case.says.memory_errors.iter().find(|part| !is_said(part)) {
            return Err(format!("no memory error has `{part}`: {errors:?}"));
        }
        for line in &case.says.proven {
            let mut links = causes.iter().filter(|cause| stands(cause, line)).map(|cause| &cause["link"]);
            if !links.any(|link| link["outcome"] == "passes") {
                return Err(format!("`{line}` is not shown to decide"));
            }
        }
        Ok(())
    };
    check().map_err(|why| format!("{why}\n{said}\n{answer:#}"))
}

/// Every change that is guilty is among the root changes.
fn names_the_cause(answer: &Value, expected: &Answer) -> Result<(), String> {
    let reported = answer["root"].as_array().ok_or("there is no list")?;
    match expected.root.iter().find(|named| !reported.iter().any(|hunk| is_meant(named, hunk))) {
        Some(missing) => Err(format!("{missing:?} is missing")),
        None => Ok(()),
    }
}

/// Whether root changes that no right answer has are all of a wrong one.
fn accuses(answer: &Value, wrong: &cases::Wrong, right: &[Answer]) -> bool {
    let reported = answer["root"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_right = |hunk: &Value| {
        right.iter().flat_map(|one| one.root.iter().chain(&one.auxiliary)).any(|named| is_meant(named, hunk))
    };
    let others: Vec<&Value> = reported.iter().filter(|hunk| !is_right(hunk)).collect();
    wrong.root.iter().all(|named| others.iter().any(|hunk| is_meant(named, hunk)))
}

fn is_meant(named: &Named, hunk: &Value) -> bool {
    let lines = |key: &str| -> Vec<String> {
        let list = hunk[key].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    named.fits(hunk["file"].as_str().unwrap_or_default(), &lines("old_text"), &lines("new_text"))
}

fn other_method(case: &Case, method: &str, expected: Option<&Expected>) -> Result<(), String> {
    let expected = expected.ok_or("nothing is expected")?;
    let (answer, said, hunks) = explain(case, method)?;
    let changes = Answer { root: expected.root.clone(), auxiliary: expected.auxiliary.clone() };
    as_expected(&answer, &hunks, &changes, expected.verified)
        .map_err(|why| format!("{why}\n{said}\n{answer:#}"))?;
    if answer["method"] != method {
        return Err(format!("the method is said to be {}", answer["method"]));
    }
    if !expected.verified && answer["not_verified"].as_str().is_none_or(str::is_empty) {
        return Err(format!("it does not say why it is not verified\n{said}"));
    }
    Ok(())
}

/// Root and auxiliary changes are those expected, and no others.
fn as_expected(answer: &Value, hunks: &[Hunk], expected: &Answer, verified: bool) -> Result<(), String> {
    if answer["verified"] != verified {
        return Err(format!("verified is {}, expected {verified}", answer["verified"]));
    }
    same_changes(&answer["root"], hunks, &expected.root).map_err(|why| format!("root: {why}"))?;
    same_changes(&answer["auxiliary"], hunks, &expected.auxiliary).map_err(|why| format!("auxiliary: {why}"))
}

fn same_changes(reported: &Value, hunks: &[Hunk], expected: &[Named]) -> Result<(), String> {
    let reported = reported.as_array().ok_or("there is no list")?;
    let lines = |hunk: &Value, key: &str| -> Vec<String> {
        let list = hunk[key].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let file = |hunk: &Value| hunk["file"].as_str().unwrap_or_default().to_owned();
    for named in expected {
        let shown =
            |hunk: &Value| named.fits(&file(hunk), &lines(hunk, "old_text"), &lines(hunk, "new_text"));
        if !reported.iter().any(shown) {
            return Err(format!("{named:?} is missing"));
        }
    }
    // A hunk of git's may be cut finer, but nothing outside the expected ones is guilty.
    let expected: Vec<&Hunk> =
        expected.iter().map(|named| cases::hunk_named(hunks, named)).collect::<Result<_, _>>()?;
    for hunk in reported {
        let number = |key: &str| {
            let number = hunk[key].as_u64().ok_or_else(|| format!("{key} is no number in {hunk}"))?;
            usize::try_from(number).map_err(|e| e.to_string())
        };
        let (old, olds) = (number("old_start")?, number("old_lines")?);
        let (new, news) = (number("new_start")?, number("new_lines")?);
        let within = |e: &&Hunk| {
            e.file == file(hunk) && e.covers(Side::Old, old, olds) && e.covers(Side::New, new, news)
        };
        if !expected.iter().any(within) {
            return Err(format!("this is not to be there: {hunk:#}"));
        }
    }
    Ok(())
}

/// Whether a way from this cause down has lines with these texts, in this order.
fn leads(cause: &Value, chain: &[String]) -> bool {
    let Some((first, rest)) = chain.split_first() else { return true };
    let reads = |place: &str| cause[place]["text"].as_str().is_some_and(|text| text.contains(first.as_str()));
    let left = if reads("place") || reads("good_place") { rest } else { chain };
    let below = cause["children"].as_array().map(Vec::as_slice).unwrap_or_default();
    left.is_empty() || below.iter().any(|cause| leads(cause, left))
}

// ------------------------------------------------------------------- runs compared

/// Records both versions with the failing test, and with a passing one if there is one.
fn compared(case: &Case) -> Result<(), String> {
    let says = case.says.runs.as_ref().ok_or("nothing is said of runs")?;
    let sandbox = tempfile::tempdir().map_err(|e| e.to_string())?;
    let relapse = env!("CARGO_BIN_EXE_relapse");
    for version in ["good", "bad"] {
        let tree = sandbox.path().join(version);
        if !tree.exists() {
            case.lay_out(sandbox.path())?;
        }
        let shell = |line: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", line]).current_dir(&tree).env("CC", format!("{relapse} cc -g"));
            command.env_remove("RELAPSE_RECORD_DIR").stdin(Stdio::null());
            command.output().map_err(|e| format!("sh: {e}"))
        };
        let built = shell(&case.says.build)?;
        if !built.status.success() {
            return Err(format!("{version} does not build: {}", show(&built)));
        }
        let tests = [("fails", Some(&case.says.test)), ("passes", says.passing.as_ref())];
        for (name, test) in tests {
            let Some(test) = test else { continue };
            let quoted = test.replace('\'', r"'\''");
            shell(&format!("{relapse} record --quiet -o ../{version}-{name} -- sh -c '{quoted}'"))?;
        }
    }
    let ask = |words: &[&str]| -> Result<Value, String> {
        let mut command = Command::new(relapse);
        command.args(words).arg("--json").current_dir(sandbox.path()).stdin(Stdio::null());
        let output = command.output().map_err(|e| e.to_string())?;
        serde_json::from_slice(&output.stdout).map_err(|e| format!("{words:?}: {e}: {}", show(&output)))
    };
    if let Some(first) = &says.first {
        let answer = ask(&["diff", "good-fails", "bad-fails", "--first"])?;
        // The first row that differs, on whichever side it is.
        let lines = lines_of(&answer["shown"][0], 1);
        if !lines.iter().any(|line| line.contains(first.as_str())) {
            return Err(format!("the first divergence is at {lines:?}, not at {first}"));
        }
    }
    if let Some(cause) = &says.cause {
        let answer = ask(&["cause", "good-fails", "bad-fails", "good-passes", "bad-passes", "--all"])?;
        let suspects = answer["suspects"].as_array().map(Vec::as_slice).unwrap_or_default();
        let lines: Vec<String> = suspects.iter().flat_map(|s| lines_of(s, usize::MAX)).collect();
        if !lines.iter().any(|line| line.contains(cause.as_str())) {
            return Err(format!("{cause} is not among {lines:#?}"));
        }
    }
    Ok(())
}

/// The source lines of what differs in a sequence, and is not expected.
fn lines_of(sequence: &Value, most: usize) -> Vec<String> {
    let rows = sequence["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    let differing = rows.iter().filter(|r| r["same"] == false && r["expected"] != true);
    let entries = differing.take(most).flat_map(|r| [&r["left"], &r["right"]]);
    let line = |entry: &Value| {
        let text = std::fs::read_to_string(entry["file"].as_str()?).ok()?;
        let number = usize::try_from(entry["line"].as_u64()?).ok()?.checked_sub(1)?;
        Some(text.lines().nth(number)?.trim().to_owned())
    };
    entries.filter_map(line).collect()
}

fn show(output: &Output) -> String {
    format!(
        "{}\n--- stdout\n{}--- stderr\n{}---",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

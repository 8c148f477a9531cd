//! Regressions as faults without their old version: `relapse locate` gets the bad tree, what the test
//! is to print, and the tests that pass of the case. The known line must be among those that are shown, and what the
//! report says must be true of the sources and of itself.

use crate::cases::Case;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a case says of this.
pub fn located(case: &Case, expected: Option<&str>, sandbox: &Path) -> Result<(), String> {
    let says = case.says.located.as_ref().ok_or("nothing is said of it")?;
    let tree = sandbox.join("bad");
    let mut command = Command::new(env!("CARGO_BIN_EXE_relapse"));
    command.args(["--color", "never", "locate", "--quiet", "--json", "-", "--repeat", "2"]);
    command.arg("--work").arg(sandbox.join("work")).args([
        "--build",
        &case.says.build,
        "--test",
        &case.says.test,
    ]);
    if let Some(expected) = expected {
        let file = sandbox.join("expected");
        std::fs::write(&file, expected).map_err(|e| e.to_string())?;
        command.arg("--expect").arg(file);
    }
    if let Some(limit) = case.says.timeout {
        command.args(["--timeout", &limit.to_string()]);
    }
    let runs = case.says.runs.as_ref().and_then(|runs| runs.passing.as_ref());
    let passing: Vec<&String> = case.says.suite.iter().chain(runs).chain(&says.passing).collect();
    for test in &passing {
        command.args(["--passing", test]);
    }
    let output = command.current_dir(&tree).stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("{e}: {said}"))?;
    let check = || -> Result<(), String> {
        if !passing.is_empty() && !answer["passing"].is_object() {
            return Err("no passing run was compared with".to_owned());
        }
        tells_the_truth(&answer, &tree)?;
        let shown = list(&answer, "lines").iter().filter(|line| line["folded"] == false);
        let texts: Vec<&str> = shown.map(|line| line["place"]["text"].as_str().unwrap_or_default()).collect();
        if !texts.iter().take(says.within).any(|text| text.contains(&says.line)) {
            return Err(format!("`{}` is not among the first {}: {texts:#?}", says.line, says.within));
        }
        Ok(())
    };
    check().map_err(|why| format!("{why}\n{answer:#}"))
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// Whether the places are lines of the sources, chains lead from where they begin to the failure, and
/// comparisons of two numbers went as the shown numbers have it.
fn tells_the_truth(answer: &Value, tree: &Path) -> Result<(), String> {
    let mut entries: Vec<&Value> = Vec::new();
    for name in ["branches", "values", "initial", "lines"] {
        entries.extend(list(answer, name));
    }
    let links: Vec<&Value> = entries.iter().flat_map(|entry| list(entry, "chain")).collect();
    for entry in entries.iter().chain(&links) {
        is_there(&entry["place"], tree)?;
    }
    for entry in list(answer, "branches") {
        for (run, way) in [("bad", "failing"), ("good", "passing")] {
            let text = entry["condition"].as_str().or(entry["place"]["text"].as_str()).unwrap_or_default();
            let value = |name: &str| number(name, list(entry, "values"), run);
            if let (Some(holds), Some(said)) = (compared(text, &value), entry[way].as_str())
                && said != holds.to_string()
            {
                return Err(format!("`{text}` is said to be {said} in the {way} run: {entry:#}"));
            }
        }
        if entry["failing"] == entry["passing"] {
            return Err(format!("both runs went the same way: {entry:#}"));
        }
    }
    Ok(())
}

fn is_there(place: &Value, tree: &Path) -> Result<(), String> {
    let (Some(file), Some(line)) = (place["file"].as_str(), place["line"].as_u64()) else {
        return Err(format!("no place: {place}"));
    };
    let text = std::fs::read_to_string(tree.join(file)).unwrap_or_default();
    let text = text.lines().nth((line as usize).wrapping_sub(1)).map(str::trim);
    // Libraries and what the build makes are not among the sources.
    match text {
        Some(text) if place["text"] != text => Err(format!("{place} is `{text}`")),
        None if tree.join(file).exists() => Err(format!("there is no such line: {place}")),
        _ => Ok(()),
    }
}

/// What a name, or a number, is in a run.
fn number(name: &str, values: &[Value], run: &str) -> Option<i64> {
    if let Ok(number) = name.parse() {
        return Some(number);
    }
    values.iter().find(|value| value["name"] == name)?[run].as_str()?.parse().ok()
}

/// Whether a condition that only compares two names or numbers holds.
fn compared(text: &str, value: &dyn Fn(&str) -> Option<i64>) -> Option<bool> {
    let inner = text.strip_prefix("if (").and_then(|rest| rest.trim_end_matches(" {").strip_suffix(')'));
    let words: Vec<&str> = inner.unwrap_or(text).split(' ').collect();
    let &[left, operator, right] = &words[..] else { return None };
    let (left, right) = (value(left)?, value(right)?);
    Some(match operator {
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        ">=" => left >= right,
        "==" => left == right,
        "!=" => left != right,
        _ => return None,
    })
}

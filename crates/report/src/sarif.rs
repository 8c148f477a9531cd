//! SARIF 2.1.0 output of the answer, for code scanning services and editors: one result per root
//! change, with the paths from the change to the failure as its code flows and the reversion of the
//! change as its fix.

use std::fmt::Write as _;

use explain::answer::{Answer, Cause, Hunk, Place};
use serde_json::{Value, json};

use crate::forest::{self, Node};
use crate::sarif_log::{Log, artifact, note, rule};
use crate::words;

/// The rule ID of every result.
pub const RULE: &str = "relapse/regression-cause";

/// Maximum number of paths from one change to the failure; viewers show them one by one.
const FLOWS: usize = 10;
/// Maximum number of steps of a path; longer paths keep their ends.
const STEPS: usize = 500;

/// The answer as a SARIF log with one run and a trailing newline.
#[must_use]
pub fn to_sarif(answer: &Answer) -> String {
    let nodes = forest::flatten(&answer.causes);
    let results: Vec<Value> = answer.root.iter().map(|hunk| result(answer, &nodes, hunk)).collect();
    let mut rule = rule(RULE, "RegressionCause", "A change that made a test fail", "error");
    rule["fullDescription"] = json!({
        "text": "Undoing this change (with the others reported along with it) makes the failing test pass again."
    });
    let properties = json!({
        "verified": answer.verified,
        "notVerified": answer.not_verified,
        "method": answer.method,
        "good": answer.good.commit.as_ref().unwrap_or(&answer.good.name),
        "bad": answer.bad.commit.as_ref().unwrap_or(&answer.bad.name),
        "test": answer.test,
        "observation": answer.observation.kind,
        "changes": answer.trials.changes,
        "builds": answer.trials.builds,
        "runs": answer.trials.runs,
        "seconds": if answer.trials.seconds.is_finite() { answer.trials.seconds } else { 0.0 },
    });
    let notifications = notifications(answer);
    Log { rules: vec![rule], root: "The root of the bad version.", notifications, results, properties }.text()
}

fn notifications(answer: &Answer) -> Vec<Value> {
    let mut list = Vec::new();
    if !answer.verified {
        list.push(json!({
            "level": "warning",
            "message": { "text": format!("Not verified: {}.", words::sentence(&words::verdict(answer))) },
        }));
    }
    list.extend(answer.notes.iter().map(|text| note(text)));
    list
}

fn result(answer: &Answer, nodes: &[Node<'_>], hunk: &Hunk) -> Value {
    let what = words::sentence(&answer.observation.summary);
    let together = match answer.root.len() {
        0 | 1 => String::new(),
        number => format!(" (together with {})", words::count(words::number(number - 1), "other change")),
    };
    let mut message = match (answer.verified, what.is_empty()) {
        (true, true) => format!("This change{together} makes the test fail."),
        (true, false) => format!("This change{together} makes the test fail: {what}."),
        (false, true) => format!("This change{together} may be why the test fails."),
        (false, false) => format!("This change{together} may be why the test fails: {what}."),
    };
    if !answer.verified {
        let _ = write!(message, " Not verified: {}.", words::sentence(&words::verdict(answer)));
    }
    let mut related: Vec<Value> = answer
        .auxiliary
        .iter()
        .map(|hunk| location(&hunk.file, region(hunk), "", words::auxiliary(answer)))
        .collect();
    related.extend(
        answer
            .root
            .iter()
            .filter(|other| other.change != hunk.change)
            .map(|hunk| location(&hunk.file, region(hunk), "", "Caused it together with this change")),
    );
    if let Some((lead, place)) = words::failed_at(&answer.observation) {
        let message =
            if lead == "at" { "Here it failed" } else { "Here the good version did what bad did not" };
        related.push(place_location(place, message));
    }
    for (id, location) in related.iter_mut().enumerate() {
        location["id"] = json!(id + 1);
    }
    let mut result = json!({
        "ruleId": RULE,
        "ruleIndex": 0,
        "level": if answer.verified { "error" } else { "warning" },
        "message": { "text": message },
        "locations": [location(&hunk.file, region(hunk), &hunk.heading, "")],
        "relatedLocations": related,
        "properties": { "verified": answer.verified, "change": hunk.change, "kind": hunk.kind },
    });
    let flows = flows(nodes, hunk.change, answer.reference());
    if !flows.is_empty() {
        result["codeFlows"] = Value::Array(flows);
    }
    if hunk.kind == "lines" {
        result["fixes"] = json!([fix(hunk)]);
    }
    result
}

/// The shortest paths from the lines of a change to the failure.
fn flows(nodes: &[Node<'_>], change: u32, reference: &str) -> Vec<Value> {
    let mut starts: Vec<usize> =
        (0..nodes.len()).filter(|&index| nodes[index].cause.change == Some(change)).collect();
    starts.sort_by_key(|&index| (nodes[index].depth, index));
    let mut ways: Vec<Vec<usize>> = Vec::new();
    for start in starts.into_iter().take(FLOWS) {
        let way: Vec<usize> = std::iter::successors(Some(start), |&index| nodes[index].parent).collect();
        ways.push(way);
    }
    ways.into_iter()
        .map(|way| {
            let left_out = way.len().saturating_sub(STEPS);
            let kept = way[..way.len().min(STEPS / 2)]
                .iter()
                .chain(&way[(way.len().min(STEPS / 2) + left_out).min(way.len())..]);
            let locations: Vec<Value> =
                kept.enumerate().map(|(order, &index)| step(&nodes[index], order + 1, reference)).collect();
            let mut flow = json!({ "threadFlows": [{ "locations": locations }] });
            if left_out > 0 {
                flow["message"] = json!({ "text": format!("{left_out} steps in the middle are left out") });
            }
            flow
        })
        .collect()
}

fn step(node: &Node<'_>, order: usize, reference: &str) -> Value {
    let cause = node.cause;
    let mut text = cause.what.trim().to_owned();
    for value in cause.values.iter().filter(|value| value.good != value.bad) {
        let sides = [reference, "bad"].into_iter().zip(words::sides(value, cause));
        let sides: Vec<String> = sides.filter_map(|(side, text)| Some(format!("{side} {}", text?))).collect();
        let separator = if text.is_empty() { "" } else { "; " };
        let _ = write!(text, "{separator}{}: {}", value.name, sides.join(", "));
    }
    if let Some(link) = words::link(cause, reference) {
        let separator = if text.is_empty() { "" } else { "; " };
        let _ = write!(text, "{separator}{link}");
    }
    if text.is_empty() {
        text.push_str(if node.parent.is_none() { "the failure" } else { "led to the next" });
    }
    let state: serde_json::Map<String, Value> = cause
        .values
        .iter()
        .filter_map(|value| Some((value.name.clone(), json!({ "text": value.bad.as_ref()? }))))
        .collect();
    let mut location = match crate::graph::place_of(cause) {
        Some(place) => place_location(place, &text),
        None => json!({ "message": { "text": text } }),
    };
    if let (None, Some(_)) = (&cause.place, &cause.good_place) {
        location["properties"] = json!({ "version": reference });
    }
    let mut step = json!({
        "location": location,
        "executionOrder": order,
        "nestingLevel": 0,
        "importance": importance(node),
        "properties": { "cause": cause.id, "kind": cause.kind },
    });
    if !state.is_empty() {
        step["state"] = Value::Object(state);
    }
    step
}

fn importance(node: &Node<'_>) -> &'static str {
    let differs = |cause: &Cause| cause.values.iter().any(|value| value.good != value.bad);
    if node.parent.is_none() || node.cause.change.is_some() {
        "essential"
    } else if differs(node.cause) {
        "important"
    } else {
        "unimportant"
    }
}

fn place_location(place: &Place, message: &str) -> Value {
    let mut region = json!({ "startLine": place.line.max(1) });
    // Our columns count bytes, SARIF's count characters.
    let before = (place.column as usize).checked_sub(1).and_then(|bytes| place.text.get(..bytes));
    if let Some(before) = before {
        region["startColumn"] = json!(before.chars().count() + 1);
    }
    if !place.text.is_empty() {
        region["snippet"] = json!({ "text": place.text });
    }
    location(&place.file, region, &place.function, message)
}

fn location(file: &str, region: Value, function: &str, message: &str) -> Value {
    let mut location = json!({
        "physicalLocation": { "artifactLocation": artifact(file), "region": region },
    });
    if !function.trim().is_empty() {
        location["logicalLocations"] = json!([{ "name": function.trim(), "kind": "function" }]);
    }
    if !message.is_empty() {
        location["message"] = json!({ "text": message });
    }
    location
}

/// The lines of a change in bad. A deletion is located at the line before it.
fn region(hunk: &Hunk) -> Value {
    let start = hunk.new_start.max(1);
    json!({ "startLine": start, "endLine": start.saturating_add(hunk.new_lines.saturating_sub(1)) })
}

/// The reversion of the change: good's lines replace bad's.
fn fix(hunk: &Hunk) -> Value {
    let mut inserted = hunk.old_text.join("\n");
    if !hunk.old_text.is_empty() {
        inserted.push('\n');
    }
    // The region extends from the start of one line to the start of another. If the two are equal,
    // nothing is deleted from bad.
    let start = if hunk.new_lines == 0 { hunk.new_start.saturating_add(1) } else { hunk.new_start.max(1) };
    let deleted = json!({
        "startLine": start, "startColumn": 1,
        "endLine": start.saturating_add(hunk.new_lines), "endColumn": 1,
    });
    let mut replacement = json!({ "deletedRegion": deleted });
    if !inserted.is_empty() {
        replacement["insertedContent"] = json!({ "text": inserted });
    }
    json!({
        "description": { "text": "Undo this change" },
        "artifactChanges": [{ "artifactLocation": artifact(&hunk.file), "replacements": [replacement] }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_addresses() {
        assert_eq!(
            artifact("src/a b%é:#.c"),
            json!({ "uri": "src/a%20b%25%C3%A9%3A%23.c", "uriBaseId": "SRCROOT" })
        );
        assert_eq!(artifact("/usr/include/stdio.h"), json!({ "uri": "file:///usr/include/stdio.h" }));
    }

    #[test]
    fn columns_count_characters() {
        let place = Place { line: 3, column: 4, text: "é = x;".into(), ..Place::default() };
        assert_eq!(place_location(&place, "")["physicalLocation"]["region"]["startColumn"], 3);
        let place = Place { column: 99, ..place };
        assert_eq!(place_location(&place, "")["physicalLocation"]["region"]["startColumn"], Value::Null);
    }

    #[test]
    fn an_insertion_is_undone_by_deleting_whole_lines() {
        let hunk = Hunk { new_start: 4, new_lines: 2, old_start: 3, ..Hunk::default() };
        assert_eq!(
            fix(&hunk)["artifactChanges"][0]["replacements"][0],
            json!({ "deletedRegion": { "startLine": 4, "startColumn": 1, "endLine": 6, "endColumn": 1 } })
        );
    }

    #[test]
    fn a_deletion_is_undone_by_inserting_after_its_line() {
        let hunk =
            Hunk { new_start: 4, old_start: 5, old_lines: 1, old_text: vec!["x;".into()], ..Hunk::default() };
        assert_eq!(
            fix(&hunk)["artifactChanges"][0]["replacements"][0],
            json!({
                "deletedRegion": { "startLine": 5, "startColumn": 1, "endLine": 5, "endColumn": 1 },
                "insertedContent": { "text": "x;\n" }
            })
        );
    }
}

//! SARIF 2.1.0 output: one result per reported branch, differing value and initial value, with the path to
//! the failure as the code flow.

use super::{at, consequence, dependence, headline, ways};
use crate::sarif_log::{Log, note, physical, rule};
use explain::answer::Place;
use locate::answer::{Link, Located};
use serde_json::{Value, json};

/// The rule ID of every result.
pub const RULE: &str = "relapse/suspicious-line";

/// Maximum number of results; further ones are of little use in a list of warnings.
const SHOWN: usize = 20;

/// The located fault as a SARIF log with one run and a trailing newline.
#[must_use]
pub fn to_sarif(located: &Located) -> String {
    let mut results = Vec::new();
    for entry in &located.branches {
        let follows = consequence(entry).map(|text| format!("; {text}")).unwrap_or_default();
        let message = format!("This branch was {}; {}{follows}.", ways(entry), dependence(entry));
        results.push(result(
            &entry.place,
            &message,
            &entry.chain,
            if entry.slice == "none" { "note" } else { "warning" },
        ));
    }
    for entry in &located.values {
        let pairs = entry.values.iter().map(|pair| {
            let or = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
            format!("{} = {}, passing {}", pair.name, or(&pair.bad), or(&pair.good))
        });
        let message =
            format!("A value differs from the passing run: {}.", pairs.collect::<Vec<_>>().join("; "));
        results.push(result(&entry.place, &message, &entry.chain, "warning"));
    }
    for entry in &located.initial {
        let message = format!(
            "The failure depends on the initial value of {} (used at {}).",
            entry.name,
            at(&entry.used)
        );
        results.push(result(&entry.place, &message, &[], "note"));
    }
    results.truncate(SHOWN);
    let description = "A line at which a failing run and a passing one part";
    Log {
        rules: vec![rule(RULE, "SuspiciousLine", description, "warning")],
        root: "The root of the program.",
        notifications: located.notes.iter().map(|text| note(text)).collect(),
        results,
        properties: json!({
            "summary": headline(located),
            "failing": located.failing.command,
            "passing": located.passing.as_ref().map(|ran| &ran.command),
            "observation": located.observation.kind,
        }),
    }
    .text()
}

fn result(place: &Place, message: &str, chain: &[Link], level: &str) -> Value {
    let mut steps = vec![json!({ "location": location(place, message) })];
    steps.extend(chain.iter().map(|link| json!({ "location": location(&link.place, &link.how) })));
    json!({
        "ruleId": RULE,
        "level": level,
        "message": { "text": message },
        "locations": [location(place, message)],
        "codeFlows": [{ "threadFlows": [{ "locations": steps }] }],
    })
}

fn location(place: &Place, message: &str) -> Value {
    json!({ "physicalLocation": physical(&place.file, place.line), "message": { "text": message } })
}

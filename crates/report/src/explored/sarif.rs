//! SARIF 2.1.0 output: one result per location at which an input makes the program fault.

use super::{effort, headline};
use crate::sarif_log::{Log, note, physical, rule};
use explore::explored::{Explored, FaultRow};
use serde_json::{Value, json};

/// The rule ID of every result.
pub const RULE: &str = "relapse/fault";

/// The faults as a SARIF log with one run and a trailing newline.
#[must_use]
pub fn to_sarif(explored: &Explored) -> String {
    Log {
        rules: vec![rule(RULE, "Fault", "An input makes the program fault here", "error")],
        root: "The root of the program.",
        notifications: effort(explored).iter().map(|text| note(text)).collect(),
        results: explored.faults.iter().map(result).collect(),
        properties: json!({ "summary": headline(explored) }),
    }
    .text()
}

fn result(row: &FaultRow) -> Value {
    let parts = row.example.parts.iter().map(|part| format!(", {} \"{}\"", part.name, part.text));
    let with: String = parts.collect();
    let what = if row.what.starts_with("SIG") {
        format!("The program ends by {} here", row.what)
    } else {
        format!("This {}", row.what)
    };
    json!({
        "ruleId": RULE,
        "ruleIndex": 0,
        "level": "error",
        "message": { "text": format!("{what} with {}{with}.", row.example.command) },
        "locations": [{ "physicalLocation": physical(&row.file, row.line) }],
    })
}

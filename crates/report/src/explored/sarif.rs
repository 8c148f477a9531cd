//! As SARIF 2.1.0: a result for every place at which an input makes the program fault.

use super::{effort, headline};
use crate::located::uri;
use explore::explored::{Explored, FaultRow};
use serde_json::{Value, json};

/// The rule of every result.
pub const RULE: &str = "relapse/fault";

/// The faults as a SARIF log with one run, with a line end.
#[must_use]
pub fn to_sarif(explored: &Explored) -> String {
    let results: Vec<Value> = explored.faults.iter().map(result).collect();
    let notes: Vec<Value> = effort(explored)
        .into_iter()
        .map(|text| json!({ "level": "note", "message": { "text": text } }))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "relapse",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [{
                    "id": RULE,
                    "name": "Fault",
                    "shortDescription": { "text": "An input makes the program fault here" },
                    "defaultConfiguration": { "level": "error" },
                }],
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "SRCROOT": { "description": { "text": "The root of the program." } } },
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": notes }],
            "results": results,
            "properties": { "summary": headline(explored) },
        }],
    });
    format!("{log:#}\n")
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
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&row.file), "uriBaseId": "SRCROOT" },
                "region": { "startLine": row.line.max(1) },
            },
        }],
    })
}

//! SARIF 2.1.0 output: one result per change that has code. Its rule depends on whether an input
//! exposes the change.

use super::{covered, found_by, verdict, with_code};
use crate::sarif_log::{Log, note, physical, rule};
use explore::exposed::{ChangeRow, Exposed, ExposingInput};
use serde_json::{Value, json};

/// Rule ID of changes that an input exposes.
pub const EXPOSED: &str = "relapse/exposed-change";
/// Rule ID of changes that no input exposes.
pub const UNEXPOSED: &str = "relapse/unexposed-change";

/// The answer as a SARIF log with one run and a trailing newline.
#[must_use]
pub fn to_sarif(exposed: &Exposed) -> String {
    let said = covered(exposed).into_iter().chain(exposed.notes.iter().cloned());
    let exposes = "A change that makes the versions behave differently";
    let unexposed = "A change for which no input was found that shows it";
    Log {
        rules: vec![
            rule(EXPOSED, "ExposedChange", exposes, "warning"),
            rule(UNEXPOSED, "UnexposedChange", unexposed, "note"),
        ],
        root: "The root of the bad version.",
        notifications: said.map(|text| note(&text)).collect(),
        results: with_code(exposed).map(|row| result(exposed, row)).collect(),
        properties: json!({ "summary": verdict(exposed), "good": exposed.good, "bad": exposed.bad }),
    }
    .text()
}

fn result(exposed: &Exposed, row: &ChangeRow) -> Value {
    let by = row.exposed_by.and_then(|number| exposed.inputs.iter().find(|i| i.number == number));
    let message = match by {
        Some(input) => shown(input),
        None if row.infected => {
            "This change makes a difference to values, but no input was found on which outputs differ."
                .to_owned()
        }
        None if row.reached => {
            "This change ran, but no input was found on which it makes a difference.".to_owned()
        }
        None => "No input was found that comes to this change.".to_owned(),
    };
    let (rule, index, level) = if by.is_some() { (EXPOSED, 0, "warning") } else { (UNEXPOSED, 1, "note") };
    json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": level,
        "message": { "text": message },
        "locations": [{ "physicalLocation": physical(&row.file, row.line) }],
        "properties": {
            "reached": row.reached,
            "infected": row.infected,
            "exposedBy": row.exposed_by,
        },
    })
}

/// The input, and the behaviour of both versions on it.
fn shown(input: &ExposingInput) -> String {
    let parts = input.parts.iter().map(|part| format!(", {} \"{}\"", part.name, part.text));
    let with: String = parts.collect();
    let said = |seen: &explore::exposed::Seen| {
        let stdout = crate::text::visible(seen.stdout.trim_end());
        format!("{} with \"{}\"", seen.end, crate::text::cut(&stdout, 200, "..."))
    };
    format!(
        "This change makes the versions differ on {}{with} ({}): good ends with {}, bad with {}.",
        input.command,
        found_by(input.found_by),
        said(&input.good),
        said(&input.bad)
    )
}

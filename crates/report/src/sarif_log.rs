//! The common parts of our SARIF 2.1.0 logs: one run of one tool, its rules, and source locations.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// A log with one run.
pub struct Log<'l> {
    pub rules: Vec<Value>,
    /// The directory that paths are relative to.
    pub root: &'l str,
    pub notifications: Vec<Value>,
    pub results: Vec<Value>,
    pub properties: Value,
}

impl Log<'_> {
    /// The text of the log, with a trailing newline.
    pub fn text(self) -> String {
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "relapse",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": self.rules,
                }},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": { "SRCROOT": { "description": { "text": self.root } } },
                "invocations": [{
                    "executionSuccessful": true,
                    "toolExecutionNotifications": self.notifications,
                }],
                "results": self.results,
                "properties": self.properties,
            }],
        });
        format!("{log:#}\n")
    }
}

/// A rule: `name` has no spaces, `level` is the level of its results.
pub fn rule(id: &str, name: &str, description: &str, level: &str) -> Value {
    json!({
        "id": id,
        "name": name,
        "shortDescription": { "text": description },
        "defaultConfiguration": { "level": level },
    })
}

/// A notification, which is not a result.
pub fn note(text: &str) -> Value {
    json!({ "level": "note", "message": { "text": text } })
}

/// The physical location of a line.
pub fn physical(file: &str, line: u32) -> Value {
    json!({
        "artifactLocation": artifact(file),
        "region": { "startLine": line.max(1) },
    })
}

/// A path in SARIF's form: a relative reference, or a `file:` URI for files outside of the root.
pub fn artifact(path: &str) -> Value {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'/'
            | b'+'
            | b'@'
            | b','
            | b'=' => {
                uri.push(char::from(byte));
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    if path.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else {
        json!({ "uri": uri, "uriBaseId": "SRCROOT" })
    }
}

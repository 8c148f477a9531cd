//! Writes answers to files.

use crate::Session;
use crate::failure::{Exit, Failure};
use std::path::Path;

/// Writes a text to a file.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        Failure::failed_to(Exit::Environment, format_args!("write {}: {error}", path.display()))
    })
}

/// Writes an answer as a JSON document. Returns whether it went to standard output, where nothing else may
/// then be written.
pub fn json_to(path: &Path, answer: &impl serde::Serialize, session: &mut Session) -> Result<bool, Failure> {
    if path.as_os_str() == "-" {
        session.json(answer)?;
        return Ok(true);
    }
    let text = serde_json::to_string_pretty(answer).map_err(|e| Failure::failed_to(Exit::Environment, e))?;
    write(path, &format!("{text}\n"))?;
    Ok(false)
}

//! `manifest.json`: the recorded command and its outcome.

use crate::damage::RecordingError;
use crate::event::VERSION;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file in the recording's directory.
pub const FILE: &str = "manifest.json";

/// The outcome of the recorded command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It exited with this status.
    Exit(i32),
    /// It was killed by this signal.
    Signal(i32),
}

/// The description of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version.
    pub version: u32,
    /// The command line.
    pub command: Vec<String>,
    /// The working directory.
    pub directory: String,
    /// The start time, in milliseconds since 1970.
    pub started_ms: u64,
    /// The outcome; `None` while the command runs, or if the recorder was killed.
    pub outcome: Option<Outcome>,
    /// Whether the recording is complete.
    pub complete: bool,
    /// The reason why it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Directories of the recorded processes.
    pub processes: Vec<String>,
}

impl Manifest {
    /// The initial manifest, written before the command starts: not complete.
    #[must_use]
    pub fn begin(command: Vec<String>, directory: String, started_ms: u64) -> Manifest {
        Manifest {
            version: VERSION,
            command,
            directory,
            started_ms,
            outcome: None,
            complete: false,
            reason: Some("the recorder has not finished".to_owned()),
            processes: Vec::new(),
        }
    }

    /// Writes the manifest into the recording's directory, atomically: a reader sees either the old
    /// or the new one.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn write(&self, recording: &Path) -> Result<(), RecordingError> {
        let path = recording.join(FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| RecordingError::Malformed { path: path.clone(), what: e.to_string() })?;
        replace(&path, (text + "\n").as_bytes())
    }

    /// Reads the manifest of a recording; `None` if it has none.
    ///
    /// # Errors
    /// If it cannot be read, is malformed or has another version.
    pub fn read(recording: &Path) -> Result<Option<Manifest>, RecordingError> {
        let path = recording.join(FILE);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RecordingError::Io { doing: "read", path, error }),
        };
        // Check the version first: another version may have other fields.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let malformed = |e: serde_json::Error| RecordingError::Malformed {
            path: path.clone(),
            what: format!("it is not a manifest: {e}"),
        };
        let found = serde_json::from_slice::<Versioned>(&text).map_err(malformed)?.version;
        if found != VERSION {
            return Err(RecordingError::Version { path, found });
        }
        serde_json::from_slice(&text).map(Some).map_err(malformed)
    }
}

/// Writes a file under a temporary name and renames it.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), RecordingError> {
    let part = path.with_extension("part");
    std::fs::write(&part, bytes).map_err(RecordingError::io("write", &part))?;
    std::fs::rename(&part, path).map_err(RecordingError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_come_back() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Manifest::read(dir.path()).unwrap(), None);
        let mut manifest = Manifest::begin(vec!["./a".into(), "é\"".into()], "/tmp".into(), 5);
        manifest.write(dir.path()).unwrap();
        assert_eq!(Manifest::read(dir.path()).unwrap().as_ref(), Some(&manifest));
        manifest.outcome = Some(Outcome::Signal(11));
        manifest.complete = true;
        manifest.reason = None;
        manifest.write(dir.path()).unwrap();
        assert_eq!(Manifest::read(dir.path()).unwrap(), Some(manifest));
    }

    #[test]
    fn other_versions_are_refused_by_number() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), r#"{"version": 77, "shape": "other"}"#).unwrap();
        assert!(matches!(Manifest::read(dir.path()), Err(RecordingError::Version { found: 77, .. })));
        std::fs::write(dir.path().join(FILE), "[1, 2").unwrap();
        assert!(matches!(Manifest::read(dir.path()), Err(RecordingError::Malformed { .. })));
    }
}

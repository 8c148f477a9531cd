//! The behaviour of a test run that the oracle compares.
//!
//! Texts are kept instead of hashes: parts that differ from run to run of one version are masked before two
//! runs are compared, and the first line that differs determines whether a trial shows the symptom of bad.

use crate::error::{At, Error};
use crate::oracle::{Oracle, Sink};
use crate::process::{Ran, Status};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// The behaviour of a test run that the oracle compares.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// How the test ended.
    pub status: Status,
    /// One for each sink of the oracle, standard output first.
    pub outputs: Vec<Output>,
    /// Processor time of the test and all children it waited for, in seconds.
    pub cpu: f64,
    /// Time from the start of the test to its end.
    pub seconds: f64,
}

/// The bytes written to one sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub name: String,
    /// Whether it decides if a run passes. Otherwise it is only evidence.
    pub judged: bool,
    pub content: Content,
}

/// The content of a sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The file did not exist.
    Absent,
    Text(Arc<[u8]>),
    /// Too large to be compared line by line.
    Hash(u128),
}

impl Observed {
    /// Collects the behaviour of a run. `places` are paths that differ from run to run (the tree, the
    /// temporary directory) and their replacements.
    ///
    /// # Errors
    /// If an output cannot be read.
    pub fn look(
        oracle: &Oracle,
        ran: &Ran,
        directory: &Path,
        places: &[(&Path, &str)],
    ) -> Result<Observed, Error> {
        let mut outputs = Vec::new();
        for (sink, judged) in oracle.sinks() {
            let path = match &sink {
                Sink::Stdout => ran.stdout.clone(),
                Sink::Stderr => ran.stderr.clone(),
                Sink::File(path) => directory.join(path),
            };
            outputs.push(Output { name: sink.to_string(), judged, content: read(&path, places)? });
        }
        Ok(Observed { status: ran.status, outputs, cpu: ran.cpu, seconds: ran.seconds })
    }
}

impl Content {
    /// The text, empty if there is none.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        match self {
            Content::Text(text) => text,
            Content::Absent | Content::Hash(_) => &[],
        }
    }
}

/// Larger outputs are compared as a whole.
const LARGE: u64 = 8 << 20;

fn read(path: &Path, places: &[(&Path, &str)]) -> Result<Content, Error> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Content::Absent),
        Err(error) => return Err(error).at("read", path),
    };
    if file.metadata().at("read", path)?.len() <= LARGE {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).at("read", path)?;
        return Ok(Content::Text(without_places(&bytes, places).into()));
    }
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).at("read", path)? {
            0 => return Ok(Content::Hash(hasher.digest128())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// The first line in which two texts differ, in both forms; the end of a text counts as an empty line.
#[must_use]
pub(crate) fn first_difference(one: &[u8], other: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut one, mut other) = (one.split(|b| *b == b'\n'), other.split(|b| *b == b'\n'));
    loop {
        match (one.next(), other.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => return Some((a.unwrap_or_default().to_vec(), b.unwrap_or_default().to_vec())),
        }
    }
}

/// Replaces each path by its name.
#[must_use]
pub fn without_places(text: &[u8], places: &[(&Path, &str)]) -> Vec<u8> {
    let mut text = text.to_vec();
    for (path, name) in places {
        let path = path.as_os_str().as_bytes();
        if path.is_empty() {
            continue;
        }
        let mut replaced = Vec::with_capacity(text.len());
        let mut rest = text.as_slice();
        while let Some(at) = find(rest, path) {
            replaced.extend_from_slice(&rest[..at]);
            replaced.extend_from_slice(name.as_bytes());
            rest = &rest[at + path.len()..];
        }
        replaced.extend_from_slice(rest);
        text = replaced;
    }
    text
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    let first = *word.first()?;
    let mut from = 0;
    // Most bytes are not the first one of the path.
    while let Some(at) = text[from..].iter().position(|b| *b == first) {
        if text[from + at..].starts_with(word) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with the straightforward implementation, text by text.
        #[test]
        fn paths_are_replaced(text in "(/t|/tr|ee|/tree|x|/){0,30}") {
            let found = without_places(text.as_bytes(), &[(Path::new("/tree"), "{tree}")]);
            prop_assert_eq!(String::from_utf8(found).unwrap(), text.replace("/tree", "{tree}"));
        }
    }
}

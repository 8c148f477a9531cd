//! What a run of the test did, as far as the oracle looks.

use crate::error::{At, Error};
use crate::oracle::{Oracle, Sink};
use crate::process::{Ran, Status};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// What a test run did, as far as the oracle looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub status: Status,
    /// A name and a hash for each sink; `None`: the file was not there.
    pub outputs: Vec<(String, Option<u128>)>,
}

impl Observed {
    /// Looks at a run. `places` are paths that differ from run to run (the tree,
    /// the temporary directory) and what stands for them.
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
        for sink in oracle.sinks() {
            let path = match &sink {
                Sink::Stdout => ran.stdout.clone(),
                Sink::Stderr => ran.stderr.clone(),
                Sink::File(path) => directory.join(path),
            };
            outputs.push((sink.to_string(), hash(&path, places)?));
        }
        Ok(Observed { status: ran.status, outputs })
    }

    /// Names of the outputs in which two runs differ.
    pub(crate) fn differing<'a>(&'a self, other: &'a Observed) -> Vec<&'a str> {
        let both = self.outputs.iter().zip(&other.outputs);
        both.filter(|(a, b)| a.1 != b.1).map(|(a, _)| a.0.as_str()).collect()
    }
}

/// Nobody looks for paths in more than this, and nobody has it in memory.
const LARGE: u64 = 256 << 20;

/// None if the file is not there.
fn hash(path: &Path, places: &[(&Path, &str)]) -> Result<Option<u128>, Error> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).at("read", path),
    };
    if file.metadata().at("read", path)?.len() <= LARGE {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).at("read", path)?;
        return Ok(Some(xxh3_128(&without_places(&bytes, places))));
    }
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).at("read", path)? {
            0 => return Ok(Some(hasher.digest128())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// Replaces each path by what stands for it.
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
        /// Against the plain way: text by text.
        #[test]
        fn paths_are_replaced(text in "(/t|/tr|ee|/tree|x|/){0,30}") {
            let found = without_places(text.as_bytes(), &[(Path::new("/tree"), "{tree}")]);
            prop_assert_eq!(String::from_utf8(found).unwrap(), text.replace("/tree", "{tree}"));
        }
    }
}

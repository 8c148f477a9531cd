//! An exploration as a file, so that another session can go on with it.
//!
//! What is kept are the inputs in the order in which they were run, each with the question it answers, and the
//! questions that have no answer. Terms are not kept: the inputs are run again, which takes no solver, and the same
//! program gives the same conditions. A program that is not the same, or a run that does not give as many
//! conditions as before, ends what can be used of the file.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use symbolic::Input;

/// Another form of the file has another number.
const VERSION: u32 = 1;

/// A question: the conditions of a run up to one, which is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Asked {
    pub run: usize,
    pub position: usize,
}

/// An input that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRun {
    /// None for the first, and for those that were run in search of faults.
    pub answers: Option<Asked>,
    /// The bytes of the parts of the input, in their order.
    pub parts: Vec<Vec<u8>>,
    /// So many conditions it had.
    pub conditions: usize,
}

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Store {
    version: u32,
    /// Names the program and what is explored of it.
    program: String,
    pub runs: Vec<StoredRun>,
    /// Questions that were proven to have no answer, or whose answer is a run.
    pub answered: Vec<Asked>,
}

impl Store {
    #[must_use]
    pub fn new(program: &str) -> Store {
        Store { version: VERSION, program: program.to_owned(), ..Store::default() }
    }

    /// What was kept of a program; nothing if there is none, or one of another program.
    #[must_use]
    pub fn open(path: &Path, program: &str) -> Store {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        match serde_json::from_str::<Store>(&text) {
            Ok(store) if store.version == VERSION && store.program == program => store,
            _ => Store::new(program),
        }
    }

    /// Writes it, all or nothing.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = |source| Error::Write { what: path.display().to_string(), source };
        let text = serde_json::to_string(self).map_err(|e| failed(e.into()))?;
        let beside = path.with_extension("new");
        std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path)).map_err(failed)
    }
}

impl StoredRun {
    /// An input like the first one, with the kept bytes; none if it has other parts.
    #[must_use]
    pub fn input(&self, first: &Input) -> Option<Input> {
        let mut input = first.clone();
        if input.parts.len() != self.parts.len() {
            return None;
        }
        for (bytes, kept) in input.parts.values_mut().zip(&self.parts) {
            bytes.clone_from(kept);
        }
        Some(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use symbolic::Origin;

    #[test]
    fn only_the_same_program_is_gone_on_with() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("explored.json");
        let mut first = Input::default();
        first.parts.insert(Origin::Stdin, b"ab".to_vec());
        let mut store = Store::new("p");
        store.runs.push(StoredRun { answers: None, parts: vec![b"xy".to_vec()], conditions: 3 });
        store.answered.push(Asked { run: 0, position: 2 });
        store.write(&path).expect("a file");
        assert_eq!(Store::open(&path, "p"), store);
        assert_eq!(Store::open(&path, "p").runs[0].input(&first).expect("an input").stdin(), b"xy");
        assert_eq!(Store::open(&path, "q"), Store::new("q"));
        assert_eq!(store.runs[0].input(&Input::default()), None);
        std::fs::write(&path, b"{\"version\": 1, \"runs\": [").expect("a file");
        assert_eq!(Store::open(&path, "p"), Store::new("p"));
    }
}

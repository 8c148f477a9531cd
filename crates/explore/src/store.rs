//! An exploration as a file, so that another session can continue it.
//!
//! The file has the inputs in the order in which they were run, each with the query it answers, and the
//! queries that have no model. Terms are not stored. The inputs are run again, which needs no solver, and the
//! same program gives the same conditions. If the program is another one, or a run has another number of
//! conditions than before, the rest of the file is not used.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use symbolic::Input;

/// The version of the format.
const VERSION: u32 = 1;

/// A query: the conditions of a run up to one, which is negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Asked {
    /// Index of the run in [`Store::runs`].
    pub run: usize,
    /// Index of the negated condition among the run's conditions; those before it are kept.
    pub position: usize,
}

/// An input that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRun {
    /// `None` for the first run, and for those of the search for faults.
    pub answers: Option<Asked>,
    /// The bytes of the parts of the input, in their order.
    pub parts: Vec<Vec<u8>>,
    /// Its number of conditions.
    pub conditions: usize,
}

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Store {
    version: u32,
    /// Identifies the program and what is explored of it.
    program: String,
    /// The runs in the order in which they were made; the first is that with the first input.
    pub runs: Vec<StoredRun>,
    /// Queries that are unsatisfiable, or whose model was run.
    pub answered: Vec<Asked>,
}

impl Store {
    /// An empty exploration of a program.
    #[must_use]
    pub fn new(program: &str) -> Store {
        Store { version: VERSION, program: program.to_owned(), ..Store::default() }
    }

    /// Opens the stored exploration of a program; an empty one if there is none, or it is of another program.
    #[must_use]
    pub fn open(path: &Path, program: &str) -> Store {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        match serde_json::from_str::<Store>(&text) {
            Ok(store) if store.version == VERSION && store.program == program => store,
            _ => Store::new(program),
        }
    }

    /// Writes the file atomically.
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
    /// The first input with the stored bytes; `None` if it has other parts.
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

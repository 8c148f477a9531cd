//! The memoised results of trees, from this run and from earlier ones.

use crate::check::Diagnostic;
use crate::error::Error;
use crate::oracle::Judge;
use crate::setup::Setup;
use crate::store::{Known, Store, StoreKey, TrialResult};
use crate::variant::TreeKey;
use crate::worker::BuildOutcome;
use changes::outcome::Outcome;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// Results in memory and in the store.
pub(crate) struct Memory {
    pub store: Store,
    pub known: HashMap<TreeKey, Known>,
    /// Empty until good and bad were run.
    pub context: Vec<u8>,
}

impl Memory {
    pub fn lookup(&mut self, setup: &Setup, key: TreeKey) -> Option<Known> {
        if let Some(known) = self.known.get(&key) {
            return Some(known.clone());
        }
        let tested = || self.store.get(self.store_key(setup, key, true)).cloned();
        let known = tested().or_else(|| self.store.get(self.store_key(setup, key, false)).cloned())?;
        self.known.insert(key, known.clone());
        Some(known)
    }

    pub fn memoise(&mut self, setup: &Setup, key: TreeKey, known: Known) -> Result<(), Error> {
        // Whether a tree builds does not depend on the test.
        let of_test = !matches!(known.what, TrialResult::Builds | TrialResult::Tested(Outcome::Broken));
        let at = self.store_key(setup, key, of_test);
        self.known.insert(key, known.clone());
        self.store.put(at, known)
    }

    fn store_key(&self, setup: &Setup, key: TreeKey, of_test: bool) -> StoreKey {
        let context: &[u8] = if of_test { &self.context } else { b"" };
        let subdirectory = setup.subdirectory.as_os_str().as_bytes();
        let parts = [setup.build.as_bytes(), setup.tools.identity.as_bytes(), subdirectory, context];
        StoreKey::of(&[&key.0.to_le_bytes(), parts[0], parts[1], parts[2], parts[3]])
    }
}

/// Everything besides the tree that an outcome depends on.
pub(crate) fn test_context(setup: &Setup, judge: &Judge, timeout: Duration) -> Vec<u8> {
    let limits = setup.limits;
    // A measured limit varies slightly from run to run; outcomes do not depend on that.
    let timeout = if limits.test.is_some() { timeout } else { Duration::ZERO };
    let stdin = setup.stdin.as_ref().map(|path| std::fs::read(path).unwrap_or_default());
    let text = format!(
        "judged 2\n{}\n{}\n{:?}\n{timeout:?}\n{:?}\n{}",
        setup.test,
        judge.fingerprint(),
        setup.oracle.observe,
        limits.memory,
        limits.output
    );
    [text.into_bytes(), stdin.unwrap_or_default()].concat()
}

/// The result of a trial with errors in touched units.
pub(crate) fn of_errors(errors: &[Diagnostic]) -> Known {
    let mut lines = errors.iter().flat_map(Diagnostic::lines).take(MAX_LINES);
    let why = lines.next().unwrap_or_default();
    let known = Known::untested(TrialResult::Tested(Outcome::Broken), why);
    Known { more: lines.collect(), ..known }
}

/// Number of errors and notes that are kept.
const MAX_LINES: usize = 60;

/// The result of a trial whose build failed.
pub(crate) fn of_build(built: &BuildOutcome) -> Option<Known> {
    match built {
        BuildOutcome::Yes => None,
        BuildOutcome::No(diagnostic, _) => {
            let known = Known::untested(TrialResult::Tested(Outcome::Broken), diagnostic.text.clone());
            Some(Known { more: diagnostic.more.clone(), ..known })
        }
        BuildOutcome::TooLong(_) => {
            let why = "the build was stopped as it took too long".to_owned();
            Some(Known::untested(TrialResult::Tested(Outcome::Broken), why))
        }
    }
}

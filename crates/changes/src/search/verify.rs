//! The last word on an answer.

use super::{Found, Search, Stage};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};

/// What trying an answer, and the answer without each of its changes, gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Of reverting all of it.
    pub outcome: Outcome,
    pub passes: bool,
    /// It passes, and putting any one change back makes it not pass.
    pub minimal: bool,
    /// Changes that can be put back without harm.
    pub superfluous: ChangeSet,
    /// Outcome with this one put back; empty if the whole does not pass, or if
    /// no more trials were allowed.
    pub without: Vec<(ChangeId, Outcome)>,
}

impl<T: Trials> Search<'_, T> {
    /// Tries root and auxiliary changes together, and without each one.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn verify(&mut self, found: &Found) -> Result<Verified, T::Error> {
        self.during(Stage::Verifying, |search| {
            let all = found.all();
            let outcome = search.outcome(&all)?;
            let mut without = Vec::new();
            if outcome == Outcome::Pass && !search.exhausted() {
                let sets: Vec<ChangeSet> =
                    all.iter().map(|id| all.iter().copied().filter(|other| other != id).collect()).collect();
                without = all.iter().copied().zip(search.ask(&sets, None)?).collect();
            }
            let superfluous: ChangeSet =
                without.iter().filter(|(_, outcome)| *outcome == Outcome::Pass).map(|(id, _)| *id).collect();
            let passes = outcome == Outcome::Pass;
            let minimal = passes && superfluous.is_empty() && !all.is_empty() && without.len() == all.len();
            Ok(Verified { outcome, passes, minimal, superfluous, without })
        })
    }
}

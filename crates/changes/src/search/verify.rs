//! The final check of an answer.

use super::{Found, Search, Stage};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};

/// The outcomes of an answer, and of the answer without each of its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Of reverting all of it.
    pub outcome: Outcome,
    /// Whether that outcome is a pass.
    pub passes: bool,
    /// It passes, and each change is needed: with the change put back, bad does not pass, or with the change
    /// left out of what is put into good, good does not fail.
    pub minimal: bool,
    /// Changes that are needed in neither direction.
    pub superfluous: ChangeSet,
    /// The outcome with this change put back; empty if the whole set does not pass, or if no more trials were
    /// allowed.
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
                let parts = search.structure.parts(&super::list(&all));
                let sets: Vec<ChangeSet> = parts.iter().map(|part| &all - &super::set(part)).collect();
                let outcomes = search.ask(&sets, None)?;
                let each = parts
                    .iter()
                    .zip(outcomes)
                    .map(|(part, outcome)| part.iter().map(move |id| (*id, outcome)));
                without = each.flatten().collect();
            }
            let mut superfluous = ChangeSet::new();
            for part in search.structure.parts(&super::list(&all)) {
                let passes = |id: &ChangeId| without.contains(&(*id, Outcome::Pass));
                if part.iter().any(passes) && search.breaks_good(&(&all - &super::set(&part)))? {
                    superfluous.extend(part);
                }
            }
            let passes = outcome == Outcome::Pass;
            let minimal = passes && superfluous.is_empty() && !all.is_empty() && without.len() == all.len();
            Ok(Verified { outcome, passes, minimal, superfluous, without })
        })
    }
}

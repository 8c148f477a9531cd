//! The other direction: changes put into good.
//!
//! A set is *sufficient* if good with exactly these changes fails in the way bad does. The trial then reverts
//! the set of all other changes. Delta debugging searches for the smallest such set. Here an answer that was
//! found by undoing is only checked; a search follows where it is not sufficient.

use super::diagnostics::TargetVersion;
use super::{Search, Shown, Stage, set};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};

/// The search for the smallest sufficient set is limited to the trials for this many needed units (plus a
/// minimum).
const MAX_NEEDED: u64 = 4;
const AT_LEAST: u64 = 16;
/// With more changes between the versions than this, the smallest set that breaks good is searched for only
/// if there is no answer.
const MAX_IN_GOOD: usize = 512;

/// Whether changes put into good make it fail, and the changes that were put in with them.
pub(super) struct Applied {
    pub shown: Shown,
    /// All changes that were put in; more than requested if good needs them to build.
    pub full: ChangeSet,
}

impl<T: Trials> Search<'_, T> {
    /// Puts changes into good, completed so that it builds.
    pub(super) fn applied(&mut self, changes: &ChangeSet) -> Result<Applied, T::Error> {
        self.during(Stage::Applying, |search| {
            let reverted = search.structure.all() - changes;
            let mut now = reverted.clone();
            let mut shown = search.fails_applied(&now)?;
            if shown == Shown::NotTried
                && let Some(completed) = search.follow_diagnostics(&reverted, TargetVersion::Bad)?
            {
                now = completed;
                shown = search.fails_applied(&now)?;
            }
            Ok(Applied { shown, full: search.structure.all() - &now })
        })
    }

    /// Whether the versions differ so much that good seldom builds with only a few changes of bad.
    pub(super) fn is_large_difference(&self) -> bool {
        self.structure.all().len() > MAX_IN_GOOD
    }

    /// Whether good with exactly these changes fails as bad does, if it builds.
    pub(super) fn breaks_good(&mut self, changes: &ChangeSet) -> Result<bool, T::Error> {
        let reverted = self.structure.all() - changes;
        Ok(self.fails_applied(&reverted)? == Shown::Yes)
    }

    fn fails_applied(&mut self, reverted: &ChangeSet) -> Result<Shown, T::Error> {
        if !self.type_checks(reverted)? {
            return Ok(Shown::NotTried);
        }
        Ok(match self.outcome(reverted)? {
            Outcome::Broken => Shown::NotTried,
            Outcome::Fail => Shown::from(self.trials.fails_same_way(reverted)),
            Outcome::Pass | Outcome::Unresolved => Shown::No,
        })
    }

    /// The smallest part of the ranked units that, put into good, makes it fail in the same way. The shortest
    /// prefix of the list that does so ends with a needed unit, which is kept, and the search continues
    /// before it. None if all of them together do not.
    pub(super) fn smallest_sufficient(
        &mut self,
        units: &[Vec<ChangeId>],
    ) -> Result<Option<ChangeSet>, T::Error> {
        let all = set(&units.concat());
        let bits = u64::from(units.len().max(1).ilog2()) + 1;
        let end = self.asked.saturating_add(MAX_NEEDED * bits + AT_LEAST);
        let mut checks = usize::try_from(end - self.asked).unwrap_or(usize::MAX);
        if self.applied(&all)?.shown != Shown::Yes {
            return Ok(None);
        }
        let mut rest = units.to_vec();
        let mut needed: Vec<ChangeId> = Vec::new();
        while !rest.is_empty() {
            if self.exhausted() || self.asked >= end || checks == 0 {
                return Ok(None);
            }
            if !needed.is_empty() && self.applied(&set(&needed))?.shown == Shown::Yes {
                return Ok(Some(set(&needed)));
            }
            let (mut passes, mut fails) = (0, rest.len());
            while fails - passes > 1 && checks > 0 {
                checks -= 1;
                let middle = passes.midpoint(fails);
                let shorter = [needed.as_slice(), &rest[..middle].concat()].concat();
                if self.applied(&set(&shorter))?.shown == Shown::Yes {
                    fails = middle;
                } else {
                    passes = middle;
                }
            }
            rest.truncate(fails);
            needed.extend(rest.pop().unwrap_or_default());
        }
        Ok(Some(set(&needed)))
    }
}

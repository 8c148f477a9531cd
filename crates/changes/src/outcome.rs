//! What a trial said, and how trials are asked for.

use crate::change::ChangeSet;

/// What came of reverting some changes, building and testing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The test passes as with the good version.
    Pass,
    /// The test fails in the way it does with the bad version.
    Fail,
    /// Something else: another failure, a time-out, "cannot tell".
    Unresolved,
    /// It does not build.
    Broken,
}

/// The world of trials, as the search sees it. Implementations remember
/// outcomes: asking twice costs nothing.
pub trait Trials {
    /// Why a trial could not be carried out at all.
    type Error;

    /// Outcomes of reverting each of these sets in the bad version, in order.
    /// They may be tried side by side. With `until_pass`, those behind the
    /// first that passes may be left out: the answer then ends with it.
    ///
    /// # Errors
    /// If a trial cannot be carried out (not: if it fails).
    fn outcomes(&mut self, reverted: &[ChangeSet], until_pass: bool) -> Result<Vec<Outcome>, Self::Error>;

    /// As [`Trials::outcomes`], but may end with the first that has this
    /// outcome. One after the other unless an implementation can do better.
    ///
    /// # Errors
    /// As for [`Trials::outcomes`].
    fn outcomes_until(&mut self, reverted: &[ChangeSet], stop: Outcome) -> Result<Vec<Outcome>, Self::Error> {
        if stop == Outcome::Pass {
            return self.outcomes(reverted, true);
        }
        let mut outcomes = Vec::new();
        for set in reverted {
            outcomes.extend(self.outcomes(std::slice::from_ref(set), false)?);
            if outcomes.last() == Some(&stop) {
                break;
            }
        }
        Ok(outcomes)
    }

    /// Whether reverting this set builds; the test need not run.
    ///
    /// # Errors
    /// As for [`Trials::outcomes`].
    fn builds(&mut self, reverted: &ChangeSet) -> Result<bool, Self::Error>;

    /// Which of these sets build, in order; may end with the first that does.
    /// One after the other unless an implementation can do better.
    ///
    /// # Errors
    /// As for [`Trials::outcomes`].
    fn builds_until(&mut self, reverted: &[ChangeSet]) -> Result<Vec<bool>, Self::Error> {
        let mut built = Vec::new();
        for set in reverted {
            built.push(self.builds(set)?);
            if built.last() == Some(&true) {
                break;
            }
        }
        Ok(built)
    }

    /// Whether a set that fails does so exactly as bad does, output and all: then
    /// nothing that was reverted mattered to the test. If nobody knows, no.
    fn fails_alike(&mut self, reverted: &ChangeSet) -> bool {
        let _ = reverted;
        false
    }

    /// What the compiler said about a set that did not build, if it is known: the
    /// first error in the first line, then what else it said.
    fn complaint(&mut self, reverted: &ChangeSet) -> Option<String>;
}

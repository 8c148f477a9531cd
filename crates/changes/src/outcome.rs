//! The outcome of a trial, and the interface through which the search requests trials.

use crate::change::ChangeSet;

/// The outcome of reverting some changes, building and testing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The test passes as with the good version.
    Pass,
    /// The test fails in the same way as with the bad version.
    Fail,
    /// Anything else: another failure, a timeout, an inconclusive test, or a pass of a program that is not
    /// sane.
    Unresolved,
    /// It does not build.
    Broken,
}

/// Whether a passing program is one that a person could have written, or passes because of undefined or
/// accidental behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sanity {
    /// Every check that could be made succeeded.
    Sane,
    /// The defect, as a sentence fragment.
    Insane(String),
    /// Nothing could be checked.
    Unknown,
}

/// The trials, as the search sees them. Implementations memoise outcomes: requesting a set again costs
/// nothing.
pub trait Trials {
    /// Why a trial could not be carried out at all.
    type Error;

    /// Outcomes of reverting each of these sets in the bad version, in order. The sets may be tried in
    /// parallel. With `until_pass`, the sets after the first passing one may be left out: the result then
    /// ends with it.
    ///
    /// # Errors
    /// If a trial cannot be carried out (not: if it fails).
    fn outcomes(&mut self, reverted: &[ChangeSet], until_pass: bool) -> Result<Vec<Outcome>, Self::Error>;

    /// Like [`Trials::outcomes`], but may end with the first set that has this outcome. Trials are sequential
    /// unless an implementation can do better.
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

    /// Whether the compiler accepts the touched source files of this set, without a build. Costs a fraction
    /// of a build. `true` if unknown. If `false`, [`Trials::diagnostics`] has the errors and the set is known
    /// to be broken.
    ///
    /// # Errors
    /// As for [`Trials::outcomes`].
    fn type_checks(&mut self, reverted: &ChangeSet) -> Result<bool, Self::Error> {
        let _ = reverted;
        Ok(true)
    }

    /// Whether reverting this set builds; the test need not run.
    ///
    /// # Errors
    /// As for [`Trials::outcomes`].
    fn builds(&mut self, reverted: &ChangeSet) -> Result<bool, Self::Error>;

    /// Whether a set that fails does so exactly as bad does, including its output: then nothing that was
    /// reverted affected the test. `false` if unknown.
    fn fails_alike(&mut self, reverted: &ChangeSet) -> bool {
        let _ = reverted;
        false
    }

    /// Whether a set that fails shows the symptom of bad: the same exit status and the same first difference
    /// from good. Other differences may follow.
    fn fails_same_way(&mut self, reverted: &ChangeSet) -> bool {
        self.fails_alike(reverted)
    }

    /// Examines a set that passes: another optimisation level, sanitizers, a larger test suite.
    ///
    /// # Errors
    /// As for [`Trials::outcomes`].
    fn examine(&mut self, reverted: &ChangeSet) -> Result<Sanity, Self::Error> {
        let _ = reverted;
        Ok(Sanity::Unknown)
    }

    /// The compiler's diagnostics for a set that did not build, if known: the first error in the first line,
    /// then the other messages.
    fn diagnostics(&mut self, reverted: &ChangeSet) -> Option<String>;
}

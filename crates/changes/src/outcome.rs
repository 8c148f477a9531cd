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
    /// Something else: another failure, a timeout, "cannot tell", or a pass of a
    /// program that is not sane.
    Unresolved,
    /// It does not build.
    Broken,
}

/// Whether a program that passes is one that somebody could have written, or passes
/// by undefined or accidental behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sanity {
    /// Everything that could be checked was checked.
    Sane,
    /// What is wrong with it, as a sentence fragment.
    Insane(String),
    /// Nothing could be checked.
    Unknown,
}

/// The trials, as the search sees them. Implementations remember outcomes: asking
/// twice costs nothing.
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

    /// Whether the touched source files of this set are correct to the compiler, without a
    /// build. Costs a fraction of a build. `true` if nothing can be said; if `false`,
    /// [`Trials::diagnostics`] has the errors and the set is known to be broken.
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

    /// Whether a set that fails does so exactly as bad does, output and all: then
    /// nothing that was reverted mattered to the test. If it is not known, no.
    fn fails_alike(&mut self, reverted: &ChangeSet) -> bool {
        let _ = reverted;
        false
    }

    /// Whether a set that fails shows the symptom of bad: the same exit status and the
    /// same first difference from good. Other differences may follow.
    fn fails_same_way(&mut self, reverted: &ChangeSet) -> bool {
        self.fails_alike(reverted)
    }

    /// Examines a set that passes: another optimisation level, sanitizers, a wider suite.
    ///
    /// # Errors
    /// As for [`Trials::outcomes`].
    fn examine(&mut self, reverted: &ChangeSet) -> Result<Sanity, Self::Error> {
        let _ = reverted;
        Ok(Sanity::Unknown)
    }

    /// What the compiler said about a set that did not build, if it is known: the
    /// first error in the first line, then what else it said.
    fn diagnostics(&mut self, reverted: &ChangeSet) -> Option<String>;
}

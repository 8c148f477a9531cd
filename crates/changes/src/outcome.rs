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

    /// Whether reverting this set builds; the test need not run.
    ///
    /// # Errors
    /// As for [`Trials::outcomes`].
    fn builds(&mut self, reverted: &ChangeSet) -> Result<bool, Self::Error>;

    /// What the compiler said about a set that did not build, if it is known.
    fn complaint(&mut self, reverted: &ChangeSet) -> Option<String>;
}

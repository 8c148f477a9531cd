//! Errors. Their texts fit after "failed to", except those with a location, which are sentences.

use crate::language::Place;

/// The reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A contract is invalid at this location.
    #[error("{place}: {what}\n{}", place.caret())]
    Syntax {
        /// The location.
        place: Place,
        /// A description of the fault.
        what: String,
    },
    /// No function has this name.
    #[error("find a function called {name} in {version}")]
    NoFunction {
        /// The name as it was requested.
        name: String,
        /// "good" or "bad".
        version: &'static str,
        /// At most three similar names, the nearest first.
        similar: Vec<String>,
    },
    /// The function has no model.
    #[error("look into {name}: it is opaque in {version} ({reason})")]
    Opaque {
        /// The name.
        name: String,
        /// "good" or "bad".
        version: &'static str,
        /// Why the compiler could not model it.
        reason: String,
    },
    /// No test called it, in good or in bad or in both.
    #[error("compare calls of {name}: it is never called in {}", where_called(*good, *bad))]
    NeverCalled {
        /// The name of the function.
        name: String,
        /// Whether good calls it.
        good: bool,
        /// Whether bad calls it.
        bad: bool,
    },
    /// The shell does not find the test, or may not run it.
    #[error("run the test in {version}: {why}")]
    TestNotRun {
        /// "good" or "bad".
        version: &'static str,
        /// The last line of its standard error, or its exit status.
        why: String,
    },
    /// No function begins in the lines after the contract.
    #[error("find a function that follows the contract at {place}")]
    NoFunctionFollows {
        /// The location of the contract.
        place: Place,
    },
    /// There is no contract, and no function is named as unchanged.
    #[error(
        "find anything to check: there is no contract in the sources of bad, no file of contracts, and nothing is named as unchanged"
    )]
    NothingToCheck,
    /// A file of contracts cannot be read.
    #[error("read {path}: {error}")]
    Read {
        /// The file, as it is displayed.
        path: String,
        /// The reason.
        error: std::io::Error,
    },
    /// A version cannot be found, checked out or recorded.
    #[error("{0}")]
    Trials(#[from] trials::Error),
    /// A version does not build.
    #[error("build {version}: {diagnostic} (log in {log})")]
    DoesNotBuild {
        /// "good" or "bad".
        version: &'static str,
        /// The first error of the build.
        diagnostic: String,
        /// The path of the build's complete output.
        log: String,
    },
    /// The versions' sources cannot be compared.
    #[error("{0}")]
    Changes(#[from] changes::Error),
    /// A recording cannot be opened, or a temporary file cannot be written.
    #[error("{0}")]
    Recording(String),
    /// A recording cannot be replayed.
    #[error("{0}")]
    Replay(#[from] replay::error::Error),
}

fn where_called(good: bool, bad: bool) -> &'static str {
    match (good, bad) {
        (false, false) => "either version",
        (false, true) => "good",
        _ => "bad",
    }
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;

//! Errors. Their texts fit after "failed to", except those with a location, which are sentences.

use crate::language::Place;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A contract is invalid at this location.
    #[error("{place}: {what}\n{}", place.caret())]
    Syntax { place: Place, what: String },
    #[error("find a function called {name} in {version}")]
    NoFunction { name: String, version: &'static str, similar: Vec<String> },
    #[error("look into {name}: it is opaque in {version} ({reason})")]
    Opaque { name: String, version: &'static str, reason: String },
    /// No test called it, in good or in bad or in both.
    #[error("compare calls of {name}: it is never called in {}", where_called(*good, *bad))]
    NeverCalled { name: String, good: bool, bad: bool },
    #[error("run the test in {version}: {why}")]
    TestNotRun { version: &'static str, why: String },
    #[error("find a function that follows the contract at {place}")]
    NoFunctionFollows { place: Place },
    #[error(
        "find anything to check: there is no contract in the sources of bad, no file of contracts, and nothing is named as unchanged"
    )]
    NothingToCheck,
    #[error("read {path}: {error}")]
    Read { path: String, error: std::io::Error },
    #[error("{0}")]
    Trials(#[from] trials::Error),
    #[error("build {version}: {diagnostic} (log in {log})")]
    DoesNotBuild { version: &'static str, diagnostic: String, log: String },
    #[error("{0}")]
    Changes(#[from] changes::Error),
    #[error("{0}")]
    Recording(String),
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

pub type Result<T> = std::result::Result<T, Error>;

//! Why there is no result.

use crate::side::Side;

/// See the module's documentation. Queries that a solver could not answer are not errors; the report counts
/// them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("replay the run of the {side} version: {reason}")]
    Replay { side: Side, reason: replay::error::Error },
    #[error("follow the input of the {side} version: {reason}")]
    Follow { side: Side, reason: symbolic::Error },
    #[error("open the run of a version: {0}")]
    Open(String),
    #[error("find an alternate input: neither version reads any input that could be changed")]
    NoInput,
    #[error(
        "find an alternate input: no branch of either version was seen to depend on its input (input bytes read: {bytes}, values fixed because they are not followed: {fixed})"
    )]
    NoBranch { bytes: usize, fixed: usize },
    #[error("find an alternate input: both versions give the same output and end the same way on this input")]
    NoDeviation,
    #[error(
        "compare the versions: the input bytes of the recordings are not the same ({name} is {old:#04x} and {new:#04x})"
    )]
    OtherInput { name: String, old: u8, new: u8 },
    #[error("run the {side} version again: {reason}")]
    Rerun { side: Side, reason: Untried },
    #[error(
        "run the {side} version again: with the recorded input it takes another way than when it was recorded"
    )]
    NotReproduced { side: Side },
    #[error(
        "follow the input of the {side} version: at instruction {step} the conditions have {terms} parts, more than {limit}"
    )]
    TooLarge { side: Side, step: u64, terms: usize, limit: usize },
    #[error("follow the input of the {side} version: time was up at instruction {step}")]
    TimeUp { side: Side, step: u64 },
    #[error("trust the conditions: number {number} of the {side} version is false on its own run")]
    Broken { side: Side, number: usize },
}

/// Why a program could not be run with an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untried {
    #[error("it has bytes of {0}, which cannot be replaced from here")]
    Stream(String),
    #[error("the file {0} lies outside of the working directory and is no argument, so it is left alone")]
    Outside(String),
    #[error("the process was forked by another recorded one and cannot be started by itself")]
    Forked,
    #[error("the recording does not name the program")]
    NoProgram,
    #[error("the program {0} is not there any more")]
    Gone(String),
    #[error("its directory {0} is not there any more")]
    NoDirectory(String),
    #[error("it was recorded with another value of {0}")]
    Limit(String),
    #[error("{0}")]
    Failed(String),
}

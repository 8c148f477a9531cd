//! Why there is no result.

use crate::side::Side;

/// See the module's documentation. Queries that a solver could not answer are not errors; the report counts
/// them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recorded run does not replay.
    #[error("replay the run of the {side} version: {reason}")]
    Replay {
        /// The version.
        side: Side,
        /// The replay's error.
        reason: replay::error::Error,
    },
    /// The symbolic replay failed for another reason.
    #[error("follow the input of the {side} version: {reason}")]
    Follow {
        /// The version.
        side: Side,
        /// Its error.
        reason: symbolic::Error,
    },
    /// A recording has no such process, or it cannot be loaded; the text is the reason.
    #[error("open the run of a version: {0}")]
    Open(String),
    /// No input byte became a variable.
    #[error("find an alternate input: neither version reads any input that could be changed")]
    NoInput,
    /// No condition of either run depends on the input.
    #[error(
        "find an alternate input: no branch of either version was seen to depend on its input (input bytes read: {bytes}, values fixed because they are not followed: {fixed})"
    )]
    NoBranch {
        /// Number of input bytes that are variables.
        bytes: usize,
        /// Number of values that were concretised, over both versions.
        fixed: usize,
    },
    /// There is nothing to explain; [`Options::anyway`](crate::Options::anyway) skips this check.
    #[error("find an alternate input: both versions give the same output and end the same way on this input")]
    NoDeviation,
    /// The recordings were made with different inputs.
    #[error(
        "compare the versions: the input bytes of the recordings are not the same ({name} is {old:#04x} and {new:#04x})"
    )]
    OtherInput {
        /// The name of the first byte that differs, such as `stdin[3]`.
        name: String,
        /// Its value in the old version's recording.
        old: u8,
        /// Its value in the new version's recording.
        new: u8,
    },
    /// A version cannot be run with the recorded input.
    #[error("run the {side} version again: {reason}")]
    Rerun {
        /// The version.
        side: Side,
        /// The reason.
        reason: Untried,
    },
    /// A version's run depends on more than its input.
    #[error(
        "run the {side} version again: with the recorded input it takes another way than when it was recorded"
    )]
    NotReproduced {
        /// The version.
        side: Side,
    },
    /// The terms of a run need too much memory.
    #[error(
        "follow the input of the {side} version: at instruction {step} the conditions have {terms} parts, more than {limit}"
    )]
    TooLarge {
        /// The version.
        side: Side,
        /// The step at which its replay stopped.
        step: u64,
        /// Number of terms at that step.
        terms: usize,
        /// [`Options::max_terms`](symbolic::Options::max_terms).
        limit: usize,
    },
    /// The budget does not suffice to follow the input.
    #[error("follow the input of the {side} version: time was up at instruction {step}")]
    TimeUp {
        /// The version.
        side: Side,
        /// The step at which its replay stopped.
        step: u64,
    },
    /// A condition is false with the recorded input, although the inputs are the same: the analysis is wrong.
    #[error("trust the conditions: number {number} of the {side} version is false on its own run")]
    Broken {
        /// The version.
        side: Side,
        /// The position of the condition in the path.
        number: usize,
    },
}

/// Why a program could not be run with an input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untried {
    /// The input has bytes of this pipe, socket or similar.
    #[error("it has bytes of {0}, which cannot be replaced from here")]
    Stream(String),
    /// This file would have to be replaced, but nothing tells the program to open another one.
    #[error("the file {0} lies outside of the working directory and is no argument, so it is left alone")]
    Outside(String),
    /// The process has no start of its own.
    #[error("the process was forked by another recorded one and cannot be started by itself")]
    Forked,
    /// The executable is not known.
    #[error("the recording does not name the program")]
    NoProgram,
    /// The executable of this path does not exist.
    #[error("the program {0} is not there any more")]
    Gone(String),
    /// The working directory of this path does not exist.
    #[error("its directory {0} is not there any more")]
    NoDirectory(String),
    /// This resource limit cannot be set here.
    #[error("it was recorded with another value of {0}")]
    Limit(String),
    /// An operation failed; the text is a sentence without a full stop.
    #[error("{0}")]
    Failed(String),
}

//! The difference between two versions as small changes, and the search for
//! the guilty ones.
pub mod change;
pub mod diff;
pub mod error;
pub mod outcome;
pub mod search;

pub use change::{Change, ChangeId, ChangeKind, ChangeSet, Matter};
pub use diff::{DiffOptions, Difference, FileState, Summary, difference};
pub use error::{Error, Result};
pub use outcome::{Outcome, Trials};
pub use search::{Found, Progress, Search, Stage, Structure, Tried, Verified};

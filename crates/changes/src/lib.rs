//! The difference between two versions as small changes, and the search for
//! the guilty ones.
pub mod change;
pub mod outcome;

//! From a failed test to its causes.
pub mod answer;

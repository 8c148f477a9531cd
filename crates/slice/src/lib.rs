//! Why a value is what it is: dynamic dependences and slices.
pub mod criterion;

pub use criterion::{Criterion, Occurrence, Wanted};

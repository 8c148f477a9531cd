//! Inputs on which versions differ, and what a program computes.
pub mod changed;
pub mod distance;
mod error;
pub mod expose;
pub mod exposed;
pub mod follow;
pub mod fuzz;
pub mod mutate;
pub mod propagate;
pub mod reach;
pub mod relevant;
pub mod shared;
pub mod shrink;
pub mod signature;
pub mod subject;
pub mod trace;
pub mod versions;
pub use error::{Error, Result};

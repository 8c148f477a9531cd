//! Inputs on which two versions differ, and what a program computes.
//!
//! This crate answers two questions. *These versions differ: on which input do they behave differently?*
//! ([`expose`](mod@expose)). And for one version: *what does it compute, and on which inputs?*
//! ([`signature`]). Both start from the input of a test, follow it symbolically through recorded runs, and
//! query a solver for others. Every reported input was run.
//!
//! # What lives here
//! * [`versions`]: both versions, built plain and with recording; [`subject`]: the program that a test runs,
//!   and running it with another input; [`asked`]: which environment variables are its input;
//! * [`changed`]: where changes are in the code; [`distance`]: the distance of branches from them;
//! * [`follow`]: an input in both versions; [`trace`]: which changes it reached, and whether they affected
//!   values; [`propagate`]: queries about outputs and branches that differ;
//! * [`reach`], [`fuzz`], [`mutate`], [`shared`]: the two workers of a search and their shared state;
//!   [`shrink`]: minimising inputs; [`exposed`]: the result as plain data;
//! * [`relevant`]: the conditions that outputs depend on; [`signature`]: groups of paths, and `faults`:
//!   inputs that make the program fault; [`pairs`]: pairs of groups of both versions; [`store`]: an
//!   exploration as a file; [`explored`]: its result as plain data.
//!
//! # What is true of every answer
//! Both plain builds ran an exposing input twice, and their output, written files or exit status differed.
//! That nothing was found is no proof, unless all paths were followed. The input of a group was run, and took
//! a path of the group.
//!
//! # What must not be known here
//! Terminals, command lines, environment variables, how a program is built (`trials` knows), how terms are
//! solved.
//!
//! # Example
//! ```
//! use explore::relevant::reorder;
//!
//! // The last condition depends on the first: those two come first, in that order.
//! let depends = |pivot: usize, on: usize| (pivot, on) == (2, 0);
//! assert_eq!(reorder(vec![0, 1, 2], &depends), [0, 2, 1]);
//! ```

#![warn(missing_docs)]

pub mod asked;
pub mod changed;
pub mod contracts;
mod differing;
pub mod distance;
mod error;
pub mod explored;
pub mod expose;
pub mod exposed;
mod faults;
pub mod follow;
pub mod fuzz;
mod indirect;
pub mod mutate;
pub mod pairs;
pub mod propagate;
pub mod reach;
pub mod relevant;
pub mod shared;
pub mod shrink;
pub mod signature;
mod source_text;
pub mod store;
pub mod subject;
pub mod trace;
mod type_difference;
pub mod versions;

pub use error::{Error, Result};
pub use faults::Fault;

//! Inputs on which two versions differ, and what a program computes.
//!
//! Two questions are answered here. *These versions differ: on which input do they behave
//! differently?* ([`expose`](mod@expose)). And of one version: *what does it compute, and on which inputs?*
//! ([`signature`]). Both begin with the input of a test, follow it symbolically through recorded
//! runs, and ask a solver for others; every input is run before anything is said about it.
//!
//! # What lives here
//! * [`versions`]: both versions, built plain and with recording; [`subject`]: the program that a test
//!   runs, and running it with another input; [`asked`]: which environment variables are its input;
//! * [`changed`]: where changes are in the code; [`distance`]: how far branches are from them;
//! * [`follow`]: an input in both versions; [`trace`]: which changes it came to, and whether they
//!   made a difference; [`propagate`]: questions about outputs and branches that differ;
//! * [`reach`], [`fuzz`], [`mutate`], [`shared`]: the two workers of a search and what they share;
//!   [`shrink`]: smaller inputs; [`exposed`]: the answer as plain data;
//! * [`relevant`]: the conditions that outputs depend on; [`signature`]: groups of paths, and
//!   `faults`: inputs that make the program fault; [`pairs`]: of groups of both versions; [`store`]: an exploration as a file; [`explored`]: what
//!   came of it as plain data.
//!
//! # What is true of every answer
//! An exposing input was run twice by both plain builds, and what they put out, wrote or ended with
//! was not the same. That nothing was found means nothing more, unless all ways were followed. A
//! group's input was run, and took a path of the group.
//!
//! # What must not be known here
//! Terminals, command lines, environment variables, how a program is built (`trials` knows), how
//! terms are solved.
//!
//! # Example
//! ```
//! use explore::relevant::reorder;
//!
//! // The last condition depends on the first: those two come first, in that order.
//! let depends = |pivot: usize, on: usize| (pivot, on) == (2, 0);
//! assert_eq!(reorder(vec![0, 1, 2], &depends), [0, 2, 1]);
//! ```

pub mod asked;
pub mod changed;
pub mod contracts;
pub mod distance;
mod error;
pub mod explored;
pub mod expose;
pub mod exposed;
mod faults;
pub mod follow;
pub mod fuzz;
pub mod mutate;
pub mod pairs;
pub mod propagate;
pub mod reach;
pub mod relevant;
pub mod shared;
pub mod shrink;
pub mod signature;
pub mod store;
pub mod subject;
pub mod trace;
pub mod versions;

pub use error::{Error, Result};
pub use faults::Fault;

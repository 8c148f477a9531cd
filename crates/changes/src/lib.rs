//! The difference between two versions as small changes, and the search for the guilty ones.
//!
//! There are two main modules. [`diff`] compares two directory trees and splits the difference into
//! [`Change`]s: the smallest groups of lines (or whole files) that can be reverted by themselves, using the
//! syntax of C and C++ where possible. Changes are parts of [`Hunk`]s, and hunks that a person made in one
//! edit (a moved block, a renamed variable) are [`Unit`]s. It also provides the inverse: the bytes of every
//! touched file when a given set of changes is reverted, and the mapping of lines between the versions.
//! [`search`] requests [`Trials`] of such sets until it knows which changes make the test fail.
//!
//! ```
//! use changes::{ChangeId, ChangeSet, DiffOptions, Outcome, Progress, Search, Structure, Trials, difference};
//! # use std::fs;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (good, bad) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! fs::write(good.path().join("a.c"), "int a = 1;\nint b = 1;\nint c = 1;\n")?;
//! fs::write(bad.path().join("a.c"), "int a = 2;\nint b = 2;\nint c = 1;\n")?;
//! let difference = difference(good.path(), bad.path(), &DiffOptions::default())?;
//! // Neighbouring lines, but changes of their own.
//! assert_eq!(difference.changes().len(), 2);
//!
//! /// A test that fails if `b` is not 1.
//! struct World;
//! impl Trials for World {
//!     type Error = std::convert::Infallible;
//!     fn outcomes(&mut self, sets: &[ChangeSet], _: bool) -> Result<Vec<Outcome>, Self::Error> {
//!         let passes = |set: &ChangeSet| set.contains(&ChangeId(1));
//!         Ok(sets.iter().map(|set| if passes(set) { Outcome::Pass } else { Outcome::Fail }).collect())
//!     }
//!     fn builds(&mut self, _: &ChangeSet) -> Result<bool, Self::Error> {
//!         Ok(true)
//!     }
//!     fn diagnostics(&mut self, _: &ChangeSet) -> Option<String> {
//!         None
//!     }
//! }
//!
//! let structure = Structure::new(&difference);
//! let mut watch = |_: &Progress| {};
//! let mut world = World;
//! let mut search = Search::new(&mut world, &structure, &mut watch);
//! let found = search.find(&[ChangeId(0), ChangeId(1)])?.expect("one of them is guilty");
//! assert_eq!(difference.change(*found.root.first().unwrap()).new_lines, ["int b = 2;"]);
//! assert!(search.verify(&found)?.minimal);
//! # Ok(())
//! # }
//! ```
//!
//! What must not be known here: how a program is built or run, what a recording is, where versions come from.
//! The search knows only sets, outcomes, and hints ([`Structure`], compilers' diagnostics). A wrong hint
//! costs trials but never changes whether an answer is right.
//!
//! Invariants, each with a property test:
//! * Reverting nothing gives bad and reverting everything gives good, byte by byte, whatever the files
//!   contain.
//! * A construct that begins and ends within a hunk (a loop, a condition, a declaration) belongs to one
//!   change, in both versions.
//! * An answer that [`Search::verify`] calls minimal passes, and each of its changes is needed: bad does not
//!   pass with it put back, or good does not fail without it among the changes put into good.
//! * Answers, and the trials that led to them, do not depend on how many trials run in parallel.

#![warn(missing_docs)]

pub mod change;
pub mod diff;
pub mod error;
pub mod outcome;
pub mod search;
mod syntax;
pub mod words;

pub use change::{Change, ChangeClass, ChangeId, ChangeKind, ChangeSet, Hunk, HunkId};
pub use diff::{DiffOptions, Difference, FileState, FileSummary, Summary, Unit, UnitKind, difference};
pub use error::{Error, Result};
pub use outcome::{Outcome, Sanity, Trials};
pub use search::{Found, Progress, Proof, Search, Shown, Stage, Structure, Tried, Verified};

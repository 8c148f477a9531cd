//! Change contracts: the intended effect of a change, checked on recordings of both versions. Everything that
//! a contract does not mention must be unchanged (Yi, Qi, Tan and Roychoudhury, *Expressing and checking
//! intended changes via software change contracts*).
//!
//! # What lives here
//! * [`language`]: contracts as data; [`parse`](mod@parse) and [`find`] read them from comments and files;
//! * [`version`]: one version's functions, parameters and global variables;
//! * [`globals`]: the variables that a function and its callees use, from a first replay;
//! * [`watch`](mod@watch): the calls of a second replay, with the states before and after ([`state`],
//!   captured by [`capture`](mod@capture) with the help of [`objects`]);
//! * [`footprint`]: what a call read and wrote, for memory that types do not reach; `external_effects`: its effects on
//!   state outside of memory;
//! * [`compare`](mod@compare): the differences between states of two versions, by declared shape, or word by
//!   word (`untyped`), or as far as the calls used it (`adjacent`);
//! * [`moment`]: predicates over a pair of calls; [`judge`](mod@judge): cases, and the rule that everything
//!   else is unchanged; [`exceptions`]: the classes of an exception;
//! * `prove`: a contract for all states, by formulas of both versions' paths (`summary`, `formula`); a
//!   counterexample of the solver is run (`witness`) and shown in terms of the source (`named`);
//! * [`pairs`]: the calls that are compared; [`checking`]: the runs of both versions; [`check`](mod@check):
//!   one complete check;
//! * [`intended`]: which of the differences between two runs were intended; [`recorded`]: the same for two
//!   recordings whose versions are not given;
//! * [`answer`]: the result.
//!
//! # What must not be known here
//! Terminals, command lines, environment variables. No comparison depends on an address. No text makes the
//! parser panic.
//!
//! # Example
//! ```
//! use contract::language::Source;
//! let text = "//@ changed_behavior requires n > 9; ensures \\result == \\prev(\\result) + 1;\n\
//!             int f(int n) { return n + (n > 9); }\n";
//! let source = std::sync::Arc::new(Source { file: "f.c".to_owned(), text: text.to_owned() });
//! let found = contract::find::in_comments(&source)?;
//! assert_eq!(found[0].contract.cases[0].requires[0].place.to_string(), "f.c:1:31");
//! # Ok::<(), contract::Error>(())
//! ```

#![warn(missing_docs)]

mod adjacent;
pub mod answer;
pub mod capture;
pub mod check;
pub mod checking;
pub mod compare;
pub mod error;
pub mod exceptions;
mod external_effects;
pub mod find;
pub mod footprint;
mod formula;
pub mod globals;
pub mod intended;
pub mod judge;
pub mod language;
pub mod moment;
mod named;
pub mod objects;
pub mod pairs;
pub mod parse;
mod prove;
pub mod recorded;
pub mod shown;
pub mod state;
mod summary;
mod told;
mod untyped;
mod verdict;
pub mod version;
pub mod watch;
mod witness;
mod written;

pub use error::{Error, Result};

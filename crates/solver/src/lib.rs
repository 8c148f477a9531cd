//! Terms over bit vectors and byte arrays: built, simplified, evaluated.
//!
//! A [`Pool`] holds the terms of one analysis. Terms are values of 1 to 128 bits over the
//! caller's numbered variables; a truth value is a term of width 1. Every constructor simplifies,
//! and equal terms have equal handles, so comparing two [`Term`]s compares what they mean as far
//! as the simplifier can see. Operations are total and mean what SMT-LIB says they mean.
//!
//! What must not be known here: programs, recordings, where a variable comes from. A caller
//! numbers variables as it likes and names them only when something is printed.
//!
//! ```
//! use solver::{Binary, Pool};
//!
//! let mut pool = Pool::new();
//! let byte = pool.variable(3, 8);
//! let wide = pool.zext(byte, 32);
//! let letter = pool.constant(32, u128::from(b'a'));
//! let same = pool.binary(Binary::Eq, wide, letter);
//! // Compared as a byte: the extension is gone.
//! let short = pool.constant(8, u128::from(b'a'));
//! assert_eq!(same, pool.binary(Binary::Eq, byte, short));
//! assert_eq!(pool.evaluate(same, &|_| 0x61), 1);
//! assert_eq!(*pool.variables(same), [3]);
//! ```

mod build;
mod circuit;
mod error;
mod evaluate;
mod meaning;
mod node;
mod pool;
mod process;
mod session;
mod smtlib;
mod table;
#[cfg(test)]
mod testing;
mod text;
mod variables;

pub use error::Error;
pub use evaluate::Evaluation;
pub use node::{Array, ArrayNode, Binary, Node, Term, Unary};
pub use pool::{MAX_WIDTH, Pool};
pub use process::{Answer, Command, Limits, Solver};
pub use session::{Core, Model, Outcome, Session, Settings, Statistics};
pub use smtlib::{Assertion, Script};

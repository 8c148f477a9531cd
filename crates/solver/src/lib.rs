//! Terms over bit vectors and byte arrays: built, simplified, evaluated, printed, decided.
//!
//! A [`Pool`] has the terms of one analysis. Terms are values of 1 to 128 bits over the caller's numbered
//! variables; a truth value is a term of width 1. Every constructor simplifies, and structurally equal terms
//! have equal handles, so comparing two [`Term`]s decides equivalence as far as the simplifier can.
//! Operations are total and have the semantics of SMT-LIB.
//!
//! * [`Pool::text`] writes a term as source (`stdin[3] == 'a'`), [`Script`] as SMT-LIB 2.
//! * [`Solver`] is a stack of assertions with the solver processes that decide it: with timeouts, restarts,
//!   values and unsat cores; several solvers race.
//! * [`Session`] answers queries along a path: is this condition also satisfiable, and with which values? It
//!   uses cached results, then enumeration of single bytes, then a SAT solver in this process, and last a
//!   [`Solver`]. Every model is checked by evaluation. It also minimises unsat cores.
//!
//! What must not be known here: programs, recordings, the origin of a variable. The caller chooses the
//! variables' numbers, and names them only for output.
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
//!
//! // Could it be an upper-case letter, and still be less than some other byte?
//! use solver::{Outcome, Session, Settings};
//! let other = pool.variable(4, 8);
//! let less = pool.binary(Binary::Ult, byte, other);
//! let (low, high) = (pool.constant(8, 0x41), pool.constant(8, 0x5a));
//! let above = pool.binary(Binary::Ule, low, byte);
//! let below = pool.binary(Binary::Ule, byte, high);
//! let upper = pool.and(above, below);
//! let mut session = Session::new(Settings::default());
//! session.assume(&mut pool, less);
//! let given = |variable: u32| if variable == 3 { 0x61 } else { 0x7a };
//! let Ok(Outcome::Sat(model)) = session.ask(&mut pool, upper, &given) else { panic!() };
//! assert_eq!(model.changes(&given), [(3, 0x5a)]);
//! ```

#![warn(missing_docs)]

mod build;
mod circuit;
mod error;
mod evaluate;
mod float;
mod layout;
mod node;
mod pool;
mod process;
mod semantics;
mod session;
mod sets;
mod smtlib;
mod table;
#[cfg(test)]
mod testing;
mod text;
mod variables;

pub use error::Error;
pub use evaluate::Evaluation;
pub use layout::{Field, Flag, Layout};
pub use node::{Array, ArrayNode, Binary, Float, Node, Term, Unary};
pub use pool::{MAX_WIDTH, Pool};
pub use process::{Answer, Command, Limits, Solver};
pub use session::{Core, Model, Outcome, Session, Settings, Statistics};
pub use smtlib::{Assertion, Script};

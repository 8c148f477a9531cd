//! C expressions over what is in scope at a moment of a run: `node->flags`, `a[i].v == 3`.
//!
//! # What lives here
//! * [`ast`]: an expression as a tree; [`parse`](mod@parse) makes it, with tree-sitter's grammar for C;
//! * [`types`]: C types out of debug information, and those that operators make;
//! * [`scope`]: what an evaluation asks of the moment: names, memory, types;
//! * [`evaluate`](mod@evaluate): the value, and the bytes that were read for it; `arithmetic`: C's
//!   conversions and operators;
//! * [`error`]: what is wrong with an expression, and where in its text.
//!
//! # What it means
//! Operators mean what they mean in C on x86-64 Linux: integer promotions, the usual
//! arithmetic conversions, pointer arithmetic, evaluation of `&&`, `||` and `?:` only as far
//! as needed. One addition: `==` and `!=` between characters in memory (`char *` or `char[]`)
//! and a string literal compare texts, because `name == "x"` is never meant otherwise.
//!
//! Nothing is changed by an evaluation, and nothing is called: assignments, `++` and calls
//! are errors that say so. Macros are not known; enumerators are.
//!
//! A scope may have forms that C does not have: names that begin with `$`, alone or called.
//!
//! # What must not be known here
//! Recordings and replay, terminals. Whoever has variables and memory implements
//! [`Scope`](scope::Scope).

mod arithmetic;
pub mod ast;
pub mod error;
pub mod evaluate;
mod literals;
pub mod parse;
mod place;
pub mod scope;
pub mod types;

pub use ast::{Expression, Span};
pub use error::{Error, Kind};
pub use evaluate::{Evaluated, Read, evaluate, evaluate_part};
pub use parse::parse;
pub use scope::{Form, Home, Scope, Variable};
pub use types::{Shape, Type};

pub type Result<T> = std::result::Result<T, Error>;

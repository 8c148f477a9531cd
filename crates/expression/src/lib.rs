//! C expressions over the variables in scope at a moment of a run: `node->flags`, `a[i].v == 3`.
//!
//! # What lives here
//! * [`ast`]: the syntax tree; [`parse`](mod@parse) builds it, with tree-sitter's grammar for C;
//! * [`types`]: C types from debug information, and those that operators produce;
//! * [`scope`]: the interface to a moment of a run: names, memory, types;
//! * [`evaluate`](mod@evaluate): the value, and the bytes read for it; `arithmetic`: C's
//!   conversions and operators;
//! * [`error`]: errors with their location in the text.
//!
//! # Semantics
//! Operators have their meaning in C on x86-64 Linux: integer promotions, the usual arithmetic
//! conversions, pointer arithmetic, short-circuit evaluation of `&&`, `||` and `?:`. One addition:
//! `==` and `!=` between characters in memory (`char *` or `char[]`) and a string literal compare
//! texts, because a pointer comparison `name == "x"` is never useful.
//!
//! An evaluation has no side effects and calls no functions: assignments, `++` and calls are errors
//! with their own messages. Macros are not available; enumerators are.
//!
//! A scope may define forms that are not part of C: names that begin with `$`, alone or called.
//!
//! # What must not be known here
//! Recordings, replay and terminals. A provider of variables and memory implements
//! [`Scope`](scope::Scope).

#![warn(missing_docs)]

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

/// The result of parsing or evaluating an expression.
pub type Result<T> = std::result::Result<T, Error>;

//! The program model: what a compiled translation unit does, in a register
//! IR of our own.
//!
//! The compiler driver lowers LLVM IR to a [`Module`] and puts it, serialised
//! by [`section::encode`], into the [`section::NAME`] section of every object
//! file. The linker concatenates these sections, so a linked executable or
//! shared library carries the models of all its units; [`section::decode_all`]
//! finds them again. Nothing here needs LLVM.
//!
//! # What lives here
//! * [`model`]: modules, symbols, functions, blocks, variables, types;
//! * [`inst`]: instructions and operands;
//! * [`intervention`]: another value for one of them, at one moment of a run;
//! * [`section`]: the on-disk form, versioned and checksummed;
//! * [`binary`]: finding the section in an ELF file; [`kept`]: what replay needs of one, without it;
//! * [`text`]: the model as readable text (`relapse dump program`);
//! * [`mod@cfg`]: control-flow facts computed from a function;
//! * [`names`]: names as the source has them;
//! * [`nest`]: its loops, and how often a run went round them;
//! * [`whole`], [`objects`], [`points_to`], [`may_define`]: all modules together, what
//!   pointers may point to and what an instruction may store to;
//! * [`bits`]: sets of numbers, for them;
//! * [`outside`]: what those must be told of functions that are not modelled;
//! * [`ways`]: what could have been assigned, had a branch gone another way;
//! * [`validate`]: the checks every module passes before anybody sees it.
//!
//! # What must not be known here
//! LLVM, processes, recordings, terminals. Data and pure functions only.
//!
//! # Values
//! A function has `slots` 64-bit registers. Every SSA value owns one or more
//! consecutive slots and is assigned at one place (plus block entry for phis).
//! Integers up to 64 bits, pointers, `float` and `double` take one slot, held
//! zero-extended (a float as its bits). `i128` and the 80-bit `long double`
//! take two (low word first; the upper 48 bits of an `x86_fp80` are zero).
//! Small aggregates take the slots of their leaves, in order.
//!
//! # Places
//! Every instruction of a module has a number, its *site*: the function's
//! `first_site` plus the index in `code`. Sites key the events of a recording.
//!
//! ```
//! use program::inst::{BinOp, Inst, Operand};
//! let add = Inst::Bin { op: BinOp::Add, bits: 32, dst: 2, a: Operand::Reg(0), b: Operand::Const(1) };
//! assert_eq!(add.to_string(), "r2 = add.i32 r0, 1");
//! ```

#![warn(missing_docs)]

pub mod binary;
pub mod bits;
pub mod cfg;
// Fields and variants there are named for what they hold.
#[allow(missing_docs)]
pub mod inst;
pub mod intervention;
pub mod kept;
pub mod may_define;
#[allow(missing_docs)]
pub mod model;
pub mod names;
pub mod nest;
pub mod objects;
pub mod outside;
pub mod points_to;
pub mod section;
pub mod sequences;
pub mod text;
pub mod validate;
pub mod ways;
pub mod whole;

pub use inst::{Inst, Operand};
pub use model::{Function, Module};

//! The program model: a compiled translation unit in a register IR of our own.
//!
//! The compiler driver lowers LLVM IR to a [`Module`] and stores it, serialised by
//! [`section::encode`], in the [`section::NAME`] section of every object file. The linker
//! concatenates these sections, so a linked executable or shared library contains the models of all
//! its units; [`section::decode_all`] decodes them. Nothing here needs LLVM.
//!
//! # What lives here
//! * [`model`]: modules, symbols, functions, blocks, variables, types;
//! * [`inst`]: instructions and operands;
//! * [`intervention`]: a replacement value for one execution of an instruction;
//! * [`section`]: the on-disk form, versioned and checksummed;
//! * [`binary`]: finding the section in an ELF file; [`kept`]: the part of a binary that replay
//!   requires;
//! * [`text`]: the model as readable text (`relapse dump program`);
//! * [`mod@cfg`]: control-flow facts computed from a function;
//! * [`names`]: demangled names, as written in the source;
//! * [`loop_nest`]: the loops of a function and the iteration counts of a run;
//! * [`whole`], [`objects`], [`points_to`], [`mod_summaries`]: all modules linked, points-to sets, and
//!   the memory an instruction may store to;
//! * [`bits`]: sparse bit sets for these analyses;
//! * [`outside`]: the effects of functions without a model, as an interface;
//! * [`branch_edges`]: assignments that the branch edges not taken could have made;
//! * [`validate`]: the checks that every decoded module passes before use.
//!
//! # What must not be known here
//! LLVM, processes, recordings, terminals. Data and pure functions only.
//!
//! # Values
//! A function has `slots` 64-bit registers. Every SSA value owns one or more consecutive slots and
//! is assigned by one instruction (phis at block entry). Integers up to 64 bits, pointers, `float`
//! and `double` take one slot, zero-extended (a float as its bits). `i128` and the 80-bit `long
//! double` take two slots (low word first; the upper 48 bits of an `x86_fp80` are zero). Small
//! aggregates take the slots of their leaves, in order.
//!
//! # Sites
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
// Fields and variants in this module are named for their content.
pub mod branch_edges;
#[allow(missing_docs)]
pub mod inst;
pub mod intervention;
pub mod kept;
pub mod loop_nest;
pub mod mod_summaries;
#[allow(missing_docs)]
pub mod model;
pub mod names;
pub mod objects;
pub mod outside;
pub mod points_to;
pub mod section;
pub mod sequences;
pub mod text;
pub mod validate;
pub mod whole;

pub use inst::{Inst, Operand};
pub use model::{Function, Module};

//! Compiles for recording: LLVM IR to program model, and instrumentation. This is the only crate
//! that knows LLVM; `driver` runs it between two calls of clang.
//!
//! ```text
//!  source ─ clang ─► bitcode ─ normalise ─► lower ──────► program model ─┐
//!                                   └─────► instrument ─► bitcode ◄──────┘ ─ clang ─► object
//! ```
//!
//! * [`normalise`] gives every instruction exactly one outcome;
//! * [`lower`] turns functions into the model, and assigns a site to each instruction;
//! * [`instrument`] adds checks, shadow stores and events, using those sites;
//! * [`intervene`] replaces one value at one moment, to test its effect.
//!
//! What must not be known here: recordings, replay, terminals, command lines.
//!
//! ```no_run
//! let summary =
//!     compiler::instrument_file("in.bc".as_ref(), "out.bc".as_ref(), compiler::Debug::Keep)?;
//! println!("{} functions modelled, {} opaque", summary.functions, summary.opaque);
//! # Ok::<(), compiler::Error>(())
//! ```
#![warn(missing_docs)]
// LLVM's C interface is unsafe throughout; `llvm` documents how it is contained.
#![allow(unsafe_code)]

mod assignments;
mod divisions;
mod instrument;
mod intervene;
mod invokes;
mod llvm;
mod lower;
mod nans;
mod normalise;
mod scopes;
mod vectors;

use std::path::Path;

/// Why a translation unit could not be compiled for recording.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input cannot be read, or is no bitcode.
    #[error("read the bitcode: {0}")]
    Read(String),
    /// The output cannot be written.
    #[error("write the bitcode: {0}")]
    Write(String),
    /// A pass of LLVM has failed, or the helper code cannot be linked in.
    #[error("run LLVM's passes: {0}")]
    Passes(String),
    /// The code does not pass LLVM's verifier after normalisation, instrumentation or an intervention.
    #[error("instrument the code: LLVM finds it invalid: {0}")]
    Invalid(String),
    /// The unit is for another target; its triple.
    #[error("instrument for {0}: only x86-64 Linux is known")]
    Target(String),
    /// The model cannot be encoded.
    #[error("put the model into the object: {0}")]
    Model(String),
    /// The requested value cannot be replaced.
    #[error("intervene in `{function}`: {why}")]
    Intervene {
        /// Linker name of the function.
        function: String,
        /// The reason, as a clause.
        why: &'static str,
    },
}

/// The result of instrumenting a translation unit.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Number of functions that have a model.
    pub functions: usize,
    /// Number of functions that could not be modelled; they run as external code.
    pub opaque: usize,
}

/// The handling of LLVM's debug information after lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Debug {
    /// Keep it, because the user requested it.
    Keep,
    /// Remove it, because it was generated only for the model. Code generation is faster without.
    Strip,
}

/// Reads bitcode, and writes it with instrumentation and model.
pub fn instrument_file(input: &Path, output: &Path, debug: Debug) -> Result<Summary, Error> {
    let (unit, lowered) = lower_file(input)?;
    let summary = Summary { functions: lowered.module.functions.len(), opaque: lowered.module.opaque.len() };
    instrument::run(&unit, lowered)?;
    if debug == Debug::Strip {
        unit.strip_debug_info();
    }
    unit.verify().map_err(Error::Invalid)?;
    unit.write(output).map_err(Error::Write)?;
    Ok(summary)
}

/// Reads bitcode, and writes it without instrumentation, but with one value replaced.
pub fn intervene_file(
    input: &Path,
    output: &Path,
    intervention: &program::intervention::Intervention,
) -> Result<(), Error> {
    let (unit, lowered) = lower_file(input)?;
    intervene::apply(&unit, &lowered, intervention)?;
    assignments::clear(&unit);
    unit.verify().map_err(Error::Invalid)?;
    unit.write(output).map_err(Error::Write)
}

fn lower_file(input: &Path) -> Result<(llvm::Unit, lower::Lowered), Error> {
    let unit = llvm::Unit::read(input).map_err(Error::Read)?;
    let triple = unit.triple();
    if !(triple.starts_with("x86_64") && triple.contains("linux")) {
        return Err(Error::Target(triple));
    }
    normalise::run(&unit).map_err(Error::Passes)?;
    unit.verify().map_err(Error::Invalid)?;
    let lowered = lower::run(&unit);
    Ok((unit, lowered))
}

//! `relapse cc` and `relapse c++`: clang with instrumentation for recording.

use crate::failure::{Exit, Failure};
use clap::Args;
use driver::Language;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Compile C like clang does, with recording built in
///
/// Takes every option clang takes. The result runs as usual; it records itself only
/// when `relapse record` starts it.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    after_help = "\
Examples:
  relapse cc -g -o sum sum.c
  make CC='relapse cc'
  CC=relapse-cc ./configure && make     relapse-cc is the same command in one word"
)]
pub struct CompileArgs {
    /// Options and files for the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// Compile C++ like clang++ does, with recording built in
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    after_help = "\
Example:
  relapse c++ -g -o main main.cc"
)]
pub struct CompileCxxArgs {
    /// Options and files for the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

pub fn cc(args: &CompileArgs) -> Result<Exit, Failure> {
    run(Language::C, &args.args)
}

pub fn cxx(args: &CompileCxxArgs) -> Result<Exit, Failure> {
    run(Language::Cxx, &args.args)
}

/// Our own command line parser must not see the compiler's arguments: it would interpret `--version`,
/// `--color` and `--`. So `relapse cc ...` is recognised before it runs.
pub fn passthrough(args: &[OsString]) -> Option<Result<Exit, Failure>> {
    let language = match args.get(1).map(OsString::as_os_str) {
        Some(word) if word == OsStr::new("cc") => Language::C,
        Some(word) if word == OsStr::new("c++") => Language::Cxx,
        _ => return None,
    };
    Some(run(language, &args[2..]))
}

fn run(language: Language, args: &[OsString]) -> Result<Exit, Failure> {
    let code = driver::run(language, args, &programs()?.cc);
    Ok(Exit::OfCommand(u8::try_from(code).unwrap_or(1)))
}

/// The paths of this executable and of the compiler driver next to it.
pub struct Programs {
    pub relapse: PathBuf,
    /// The only executable that links LLVM; `relapse cc` needs it to instrument.
    pub cc: PathBuf,
}

pub fn programs() -> Result<Programs, Failure> {
    let relapse = std::env::current_exe()
        .map_err(|e| Failure::failed_to(Exit::Environment, format_args!("find relapse itself: {e}")))?;
    let cc = relapse.with_file_name("relapse-cc");
    if !cc.is_file() {
        return Err(Failure::failed_to(
            Exit::Environment,
            format_args!("find the compiler driver: {} is not there", cc.display()),
        )
        .hint("Install relapse and relapse-cc into the same directory."));
    }
    Ok(Programs { relapse, cc })
}

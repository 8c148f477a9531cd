//! `relapse-cc`, and `relapse-c++` when called by that name: the compiler driver as a separate executable,
//! for `CC=relapse-cc ./configure` and similar uses.
//!
//! It is also the only program that links LLVM: driver processes run it to transform bitcode.

use driver::{Action, Request, called_as, run};
use std::ffi::OsString;
use std::process::exit;

fn main() {
    let mut args = std::env::args_os();
    // A Rust executable cannot be named `relapse-c++`, so that name is a link to this one; so are `gcc` and
    // others in a directory of shims.
    let (language, standard) = called_as(&args.next().unwrap_or_default());
    let args: Vec<OsString> = args.collect();
    if let Some(request) = Request::parse(&args) {
        match request.and_then(|request| transform(&request)) {
            Ok(()) => exit(0),
            Err(message) => {
                eprintln!("{message}");
                exit(1);
            }
        }
    }
    let myself = match std::env::current_exe() {
        Ok(myself) => myself,
        Err(error) => {
            eprintln!("relapse-cc: failed to find myself: {error}");
            exit(1);
        }
    };
    let args: Vec<OsString> = standard.map(OsString::from).into_iter().chain(args).collect();
    exit(run(language, &args, &myself));
}

/// Transforms one bitcode file. The error is a sentence for the user.
fn transform(Request { input, output, action }: &Request) -> Result<(), String> {
    let done = match action {
        Action::Instrument { strip_debug } => {
            let debug = if *strip_debug { compiler::Debug::Strip } else { compiler::Debug::Keep };
            compiler::instrument_file(input, output, debug).map(drop)
        }
        Action::Intervene(intervention) => compiler::intervene_file(input, output, intervention),
    };
    done.map_err(|error| format!("failed to {error}"))
}

//! `relapse-cc`, and `relapse-c++` when called by that name: the compiler driver as an
//! executable of its own, for `CC=relapse-cc ./configure` and the like.

use std::ffi::OsString;

use compiler::driver::{called_as, run};

fn main() {
    let mut args = std::env::args_os();
    // A Rust executable cannot be named `relapse-c++`, so that name is a link to this
    // one; so are `gcc` and others in a folder of shims.
    let (language, standard) = called_as(&args.next().unwrap_or_default());
    let args: Vec<OsString> = standard.map(OsString::from).into_iter().chain(args).collect();
    std::process::exit(run(language, &args));
}

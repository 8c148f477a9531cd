//! `relapse-cc`, and `relapse-c++` when called by that name: the compiler driver as an
//! executable of its own, for `CC=relapse-cc ./configure` and the like.

use std::ffi::OsString;
use std::path::Path;

use compiler::driver::{Language, run};

fn main() {
    let mut args = std::env::args_os();
    let language = args.next().map_or(Language::C, |name| language_of(&name));
    let args: Vec<OsString> = args.collect();
    std::process::exit(run(language, &args));
}

/// A Rust executable cannot be named `relapse-c++`, so that name is a link to this one.
fn language_of(program: &OsString) -> Language {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    if name.ends_with("c++") || name.ends_with("cxx") { Language::Cxx } else { Language::C }
}

//! Builds the runtime's object file, which this crate embeds and links into every program.

use std::path::{Path, PathBuf};

include!("../runtime/build-object.rs");

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    let llvm = std::env::var_os("LLVM_SYS_221_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into());
    println!("cargo:rerun-if-env-changed=LLVM_SYS_221_PREFIX");
    for changed in ["runtime", "externals", "recording"] {
        println!("cargo:rerun-if-changed=../{changed}/src");
        println!("cargo:rerun-if-changed=../{changed}/Cargo.toml");
    }
    println!("cargo:rerun-if-changed=../runtime/build-object.rs");
    let workspace = here.join("../..");
    if let Err(message) = build_runtime_object(&workspace, Path::new(&llvm), &out) {
        println!("cargo:warning=failed to build the runtime");
        panic!("failed to build the runtime: {message}");
    }
}

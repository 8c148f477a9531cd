// How the runtime becomes the one object file that is linked into programs. Included by the build script of
// the driver crate, which embeds the object, and by the runtime's own tests.
//
// The archive of a `staticlib` would conflict with other archives that a program links: it defines hundreds
// of symbols. So the crate is compiled whole (one unit, link time optimisation, no unwinding), its members
// are linked to one relocatable object, and all symbols but the hooks become local.

/// Functions of the C library that the object defines weakly, to see what libraries read and write, and to
/// show programs the dispositions of signals without the runtime's handlers.
const WEAK_FUNCTIONS: [&str; 13] = [
    "fwrite", "fputs", "putc", "fputc", "write", "writev", "fread", "fgets", "getc", "fgetc", "ungetc",
    "read", "signal",
];

/// Builds `relapse_runtime.o` in `out`. `workspace` is the folder with the
/// workspace's `Cargo.toml`, `llvm` the LLVM installation.
pub fn build_runtime_object(
    workspace: &std::path::Path,
    llvm: &std::path::Path,
    out: &std::path::Path,
) -> Result<std::path::PathBuf, String> {
    use std::process::Command;
    let target = out.join("runtime-target");
    let run = |command: &mut Command| -> Result<(), String> {
        let output = command.output().map_err(|e| format!("start {command:?}: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
    };

    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The outer build's settings are for the outer target.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let kept = ["CARGO_HOME", "CARGO_NET_OFFLINE", "CARGO_HTTP_CAINFO"].contains(&name.as_str());
        if (name.starts_with("CARGO_") && !kept && !name.starts_with("CARGO_REGISTR"))
            || ["RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "OPT_LEVEL", "DEBUG", "PROFILE"]
                .contains(&name.as_str())
        {
            cargo.env_remove(name);
        }
    }
    cargo
        .current_dir(workspace)
        .args(["rustc", "--quiet", "--package", "relapse-runtime", "--lib", "--release"])
        .args(["--features", "staticlib", "--crate-type", "staticlib", "--target-dir"])
        .arg(&target)
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_LTO", "fat")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "false")
        .env("RUSTFLAGS", "-Crelocation-model=pic");
    run(&mut cargo)?;

    let archive = target.join("release/librelapse_runtime.a");
    let whole = out.join("relapse_runtime.whole.o");
    let object = out.join("relapse_runtime.o");
    // Members are linked on demand: the hooks first, then what they use.
    run(Command::new(llvm.join("bin/ld.lld"))
        .args(["-r", "-u", "__relapse_register", "-u", "__relapse_miss", "-o"])
        .arg(&whole)
        .arg(&archive))?;
    run(Command::new(llvm.join("bin/llvm-objcopy"))
        .args(["--wildcard", "--keep-global-symbol=__relapse_*", "--strip-debug", "--strip-unneeded"])
        .args(WEAK_FUNCTIONS.map(|name| format!("--keep-global-symbol={name}")))
        .args([&whole, &object]))?;
    Ok(object)
}

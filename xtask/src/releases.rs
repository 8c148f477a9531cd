//! `cargo xtask releases`: prepares regressions between released versions of real programs for `relapse
//! explain`.
//!
//! `xtask/releases/NAME/case.toml` names the two crates that contain the versions, and the build and test
//! commands; `driver/` has our own files, the same for both. The programs themselves are unchanged. The files
//! of the given `folder` are copied, or, if the program has subdirectories, its `parts` recursively.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::cases::Case;
use crate::setup;
use crate::shell::{self, Result};
use crate::tools::DEFAULT_TIMEOUT;

/// The directory of all cases.
pub fn home() -> PathBuf {
    shell::root().join("xtask/releases")
}

/// `cargo xtask releases [--check] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    setup::install(setup::Need::Test)?;
    let check = words.contains(&"--check");
    let names: Vec<&str> = words.iter().copied().filter(|word| *word != "--check").collect();
    for case in Case::select(&Case::all(&home())?, &names)? {
        let dir = prepare(&case)?;
        println!("{}: {}", case.name, case.title);
        println!("  cd {}", dir.display());
        println!("  relapse explain --good good --bad bad {}", case.options().join(" "));
        if check {
            differ(&case, &dir)?;
            println!("  built with clang, good and bad do different things");
        }
    }
    Ok(())
}

/// Writes both versions to `target/releases/NAME` and returns that path.
pub fn prepare(case: &Case) -> Result<PathBuf> {
    let dir = shell::target().join("releases").join(&case.name);
    for version in ["good", "bad"] {
        let to = dir.join(version);
        shell::create_empty_dir(&to)?;
        let word = |key: &str| {
            let said = case.table.get(version).and_then(|table| table.get(key)).and_then(toml::Value::as_str);
            said.ok_or_else(|| format!("{}: {version} has no {key}", case.name))
        };
        let program = fetch(word("package")?, word("version")?)?.join(word("folder")?);
        let parts = case.table.get(version).and_then(|table| table.get("parts")?.as_array());
        match parts {
            None => copy_files(&program, &to, false)?,
            Some(parts) => {
                for part in parts.iter().filter_map(toml::Value::as_str) {
                    copy_files(&program.join(part), &to.join(part), true)?;
                }
            }
        }
        copy_files(&case.dir.join("driver"), &to, true)?;
    }
    Ok(dir)
}

/// Copies the files of a C program, recursively if `deep`, without Rust sources and code for other
/// architectures.
fn copy_files(from: &Path, to: &Path, deep: bool) -> Result<()> {
    fs::create_dir_all(to).map_err(|error| format!("failed to make {}: {error}", to.display()))?;
    let entries =
        fs::read_dir(from).map_err(|error| format!("failed to read {}: {error}", from.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if deep && path.is_dir() {
            copy_files(&path, &to.join(&name), deep)?;
        }
        if !path.is_file() || name.ends_with(".rs") || name.starts_with("wasm32") {
            continue;
        }
        fs::copy(&path, to.join(&name))
            .map_err(|error| format!("failed to copy {}: {error}", path.display()))?;
    }
    Ok(())
}

/// The directory of a crate's sources in cargo's registry, in exactly this version, downloaded through a
/// temporary package that depends on it.
fn fetch(package: &str, version: &str) -> Result<PathBuf> {
    let dir = shell::target().join("releases/fetch").join(format!("{package}-{version}"));
    shell::write(
        &dir.join("Cargo.toml"),
        format!(
            "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\n{package} = {{ version = \"={version}\", default-features = false }}\n"
        ),
    )?;
    shell::write(&dir.join("src/lib.rs"), "")?;
    let mut command = shell::cargo();
    command
        .args(["metadata", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(&dir);
    let outcome = shell::capture(&mut command, DEFAULT_TIMEOUT)?;
    if !outcome.status.success() {
        return Err(format!("failed to get {package} {version}:\n{}", outcome.complaint()));
    }
    let answer: Value = serde_json::from_slice(&outcome.stdout)
        .map_err(|error| format!("failed to read cargo's answer: {error}"))?;
    let packages = answer["packages"].as_array().into_iter().flatten();
    packages
        .filter(|found| found["name"] == package)
        .find_map(|found| Path::new(found["manifest_path"].as_str()?).parent().map(Path::to_owned))
        .ok_or_else(|| format!("cargo has no {package} {version}"))
}

/// Builds copies of both versions with plain clang and checks that the test distinguishes them.
fn differ(case: &Case, dir: &Path) -> Result<()> {
    let plain = dir.join("plain");
    let mut ends = Vec::new();
    for version in ["good", "bad"] {
        let tree = plain.join(version);
        shell::create_empty_dir(&tree)?;
        copy_files(&dir.join(version), &tree, true)?;
        let run = |line: &str, limit| {
            let mut command = Command::new("sh");
            shell::capture(command.args(["-c", line]).current_dir(&tree).env("CC", "clang-22"), limit)
        };
        let built = run(&case.build, DEFAULT_TIMEOUT)?;
        if !built.status.success() {
            return Err(format!("{}: {version} does not build:\n{}", case.name, built.complaint()));
        }
        let tested = run(&case.test, Duration::from_secs(60))?;
        println!(
            "  {version} {}: {}",
            shell::ended(tested.status),
            String::from_utf8_lossy(&tested.stdout).trim_end()
        );
        ends.push((tested.status, tested.stdout));
    }
    if ends[0] == ends[1] { Err(format!("{}: good and bad do the same", case.name)) } else { Ok(()) }
}

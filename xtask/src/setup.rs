//! Installs dependencies: the only list of Debian packages.
//!
//! LLVM 22 is in Debian 12's security repository; no further source is needed.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::shell::{self, Result};

/// What a package is needed for; each purpose includes the preceding ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Building `relapse` and explaining a regression.
    Use,
    /// Running the tests.
    Test,
    /// Only `cargo xtask bench` and `fuzz-replay --shrink`.
    Bench,
}

const PACKAGES: &[(&str, Need)] = &[
    // Rust links with the C compiler; the C library's headers are needed in any case.
    ("gcc", Need::Use),
    ("libc6-dev", Need::Use),
    // C++ sources are compiled against this library.
    ("libstdc++-12-dev", Need::Use),
    ("clang-22", Need::Use),
    ("lld-22", Need::Use),
    // `llvm-config`, the headers and library that the compiler crate links, and `llvm-symbolizer` for reports
    // of sanitizers.
    ("llvm-22", Need::Use),
    ("llvm-22-dev", Need::Use),
    // Runtime libraries of the sanitizers: for checking that a passing program is sane, and as reference
    // tools.
    ("libclang-rt-22-dev", Need::Use),
    // The SMT solver.
    ("cvc5", Need::Use),
    // Versions to explain, and an independent diff of them.
    ("git", Need::Use),
    // Builds of the demo and of the driver's tests.
    ("make", Need::Use),
    ("cmake", Need::Test),
    ("meson", Need::Test),
    ("ninja-build", Need::Test),
    // A test framework that regressions are tested with.
    ("libcmocka-dev", Need::Test),
    // Programs with about a thousand system calls whose environment is changed.
    ("python3-minimal", Need::Test),
    ("libpython3-stdlib", Need::Test),
    ("perl-base", Need::Test),
    // Opens the HTML reports in tests.
    ("chromium", Need::Test),
    // Random programs.
    ("csmith", Need::Test),
    ("libcsmith-dev", Need::Test),
    // Reference tools and measuring.
    ("valgrind", Need::Bench),
    ("gdb", Need::Bench),
    ("time", Need::Bench),
    // Records system calls, for comparison with `relapse environment record`.
    ("strace", Need::Bench),
    // Python's package manager, for another symbolic execution tool.
    ("python3-venv", Need::Bench),
    // Shrinks a random program that fails.
    ("cvise", Need::Bench),
];

/// `cargo xtask setup [--bench]`
pub fn command(args: &[&str]) -> Result<()> {
    match args {
        [] => install(Need::Test),
        ["--bench"] => {
            install(Need::Bench)?;
            // Benchmarks report a missing tool; the others still run.
            if let Err(message) = angr() {
                eprintln!("xtask: {message}");
            }
            Ok(())
        }
        _ => Err("usage: cargo xtask setup [--bench]".to_owned()),
    }
}

/// Installs the missing packages for a purpose.
pub fn install(purpose: Need) -> Result<()> {
    let wanted: Vec<&str> =
        PACKAGES.iter().filter(|(_, need)| *need <= purpose).map(|(name, _)| *name).collect();
    packages(&wanted)
}

/// Installs those of these packages that are missing.
pub fn packages(wanted: &[&str]) -> Result<()> {
    if shell::which("dpkg-query").is_none() {
        eprintln!(
            "xtask: this is no Debian system, so I cannot look what is installed; needed are: {}",
            wanted.join(" ")
        );
        return Ok(());
    }
    let missing: Vec<&str> = wanted.iter().copied().filter(|name| !is_installed(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("xtask: installing {}", missing.join(" "));
    let Some(prefix) = root_prefix() else { return Err(by_hand(&missing)) };
    // Package lists may be absent or outdated. If updating them fails, the installation may still succeed,
    // and otherwise reports the error.
    let _ = shell::run(apt(&prefix).args(["update", "-qq"]));
    let installed =
        shell::run(apt(&prefix).args(["install", "-y", "-qq", "--no-install-recommends"]).args(&missing));
    let missing: Vec<&str> = missing.into_iter().filter(|name| !is_installed(name)).collect();
    match installed {
        _ if missing.is_empty() => Ok(()),
        Ok(()) => Err(by_hand(&missing)),
        Err(reason) => Err(format!("{reason}\n{}", by_hand(&missing))),
    }
}

/// The timeout for installing a package of another language.
const FOREIGN: Duration = Duration::from_secs(600);

/// The Python with angr, a symbolic execution tool, in a separate directory. The newest versions of its
/// dependencies are not compatible with each other.
pub fn angr() -> Result<PathBuf> {
    let home = shell::target().join("bench/angr");
    let python = home.join("bin/python3");
    let works = |python: &Path| {
        let imported = shell::capture(Command::new(python).args(["-c", "import angr"]), FOREIGN);
        imported.is_ok_and(|outcome| outcome.status.success())
    };
    if python.exists() && works(&python) {
        return Ok(python);
    }
    let steps: [(PathBuf, &[&str]); 2] = [
        (PathBuf::from("python3"), &["-m", "venv", "--clear"]),
        (
            python.clone(),
            &["-m", "pip", "install", "--quiet", "angr==9.2.213", "bitstring<5", "pycparser==3.0"],
        ),
    ];
    for (number, (program, words)) in steps.into_iter().enumerate() {
        let mut command = Command::new(program);
        command.args(words);
        if number == 0 {
            command.arg(&home);
        }
        eprintln!("$ {}", shell::shown(&command));
        let outcome = shell::capture(&mut command, FOREIGN)
            .map_err(|reason| format!("angr could not be installed: {reason}"))?;
        if outcome.timed_out || !outcome.status.success() {
            return Err(format!("angr could not be installed: {}", outcome.complaint()));
        }
    }
    if works(&python) { Ok(python) } else { Err("angr was installed, but cannot be used".to_owned()) }
}

fn by_hand(missing: &[&str]) -> String {
    let names = missing.join(" ");
    format!(
        "these Debian packages are missing and could not be installed: {names}\n\
         please run, as root: apt-get update && apt-get install -y --no-install-recommends {names}"
    )
}

fn is_installed(name: &str) -> bool {
    Command::new("dpkg-query")
        .args(["-W", "-f=${db:Status-Abbrev}", name])
        .stderr(Stdio::null())
        .output()
        .is_ok_and(|output| output.stdout.starts_with(b"ii"))
}

/// The command prefix for running as root: empty for root itself, else `sudo`. `None` if root is not
/// available.
fn root_prefix() -> Option<Vec<&'static str>> {
    let id = Command::new("id").arg("-u").output().ok()?;
    if id.stdout.trim_ascii() == b"0" {
        return Some(Vec::new());
    }
    let silent = Command::new("sudo").args(["-n", "true"]).stderr(Stdio::null()).status();
    match silent {
        Ok(status) if status.success() => Some(vec!["sudo", "-n"]),
        // Interactive: the user can type a password.
        Ok(_) if std::io::stdin().is_terminal() => Some(vec!["sudo"]),
        _ => None,
    }
}

fn apt(prefix: &[&str]) -> Command {
    let mut words = prefix.iter().copied().chain(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    let mut command = Command::new(words.next().unwrap_or("env"));
    command.args(words);
    command
}

/// Rust's own tools for `cargo xtask lint`, which minimal installations lack.
pub fn rust_components() -> Result<()> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        let there = shell::cargo()
            .args([tool, "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !there {
            shell::run(Command::new("rustup").args(["component", "add", component]))
                .map_err(|reason| format!("Rust's {component} is missing, please install it: {reason}"))?;
        }
    }
    Ok(())
}

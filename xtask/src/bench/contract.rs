//! `cargo xtask bench contract`: the number of pairs of calls per second that a contract check judges.
//!
//! It checks a program of `tests/contracts` with many calls, and Lua against itself without permitted
//! changes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::publish;
use crate::setup;
use crate::shell::{self, Result};
use crate::subjects;
use crate::tools::{DEFAULT_TIMEOUT, Tools};

/// How often the arguments are repeated in one run.
const REPEATED: usize = 450;

/// `cargo xtask bench contract [--dev]`
pub fn command(words: &[&str]) -> Result<()> {
    let dev = match words {
        [] => false,
        ["--dev"] => true,
        _ => return Err("usage: cargo xtask bench contract [--dev]".to_owned()),
    };
    setup::install(setup::Need::Test)?;
    let tools = if dev { Tools::build_dev()? } else { Tools::build()? };
    let folder = shell::target().join("bench/contract");
    let mut report = String::from(
        "| program | functions | pairs of calls | s for judging | pairs / s | s for all |\n|---|---|---|---|---|---|\n",
    );
    fixture(&tools, &folder, &mut report)?;
    lua(&tools, &folder, &mut report)?;
    publish::publish("contract", &report)
}

/// A program with a contract that has a case for some of its calls.
fn fixture(tools: &Tools, folder: &Path, report: &mut String) -> Result<()> {
    let from = shell::root().join("tests/contracts/named-error");
    shell::create_empty_dir(folder)?;
    for (version, file) in [("good", "good.c"), ("bad", "right.c")] {
        let text = fs::read(from.join(file)).map_err(|e| format!("{file}: {e}"))?;
        shell::write(&folder.join(version).join("p.c"), text)?;
    }
    let mut check = Command::new(&tools.relapse);
    check.args(["contract", "check", "--good", "good", "--bad", "bad", "--build", "$CC -g -o p p.c"]);
    check.arg("--test").arg(format!("./p {}", ["80 99999 x 443"; REPEATED].join(" ")));
    measure(&mut check, folder, "named-error, a port in each call", report)
}

fn lua(tools: &Tools, folder: &Path, report: &mut String) -> Result<()> {
    let packages = subjects::fetch()?;
    let sources = packages.get("lua").ok_or("cargo has no lua-src")?.join("lua-5.4.9");
    // The package contains only the library.
    let program = shell::root().join("xtask/subjects/lua/main.c");
    let program = fs::read(&program).map_err(|e| format!("{}: {e}", program.display()))?;
    shell::create_empty_dir(folder)?;
    for version in ["good", "bad"] {
        shell::copy_tree(&sources, &folder.join(version))?;
        shell::write(&folder.join(version).join("main.c"), &program)?;
    }
    shell::write(
        &folder.join("work.lua"),
        "local t = {} for i = 1, 60 do t[i] = (i * 7) % 31 end table.sort(t) print(#t)",
    )?;
    let mut check = Command::new(&tools.relapse);
    // Lua's default seed is the time of day.
    check.args(["contract", "check", "--good", "good", "--bad", "bad", "--unchanged", "--build"]);
    check.arg("$CC -g -O1 -DLUA_USE_POSIX '-Dluai_makeseed(L)=42u' -o lua *.c -lm").arg("--test");
    check.arg(format!("./lua {}", folder.join("work.lua").display()));
    measure(&mut check, folder, "lua, nothing may change", report)
}

fn measure(check: &mut Command, folder: &Path, name: &str, report: &mut String) -> Result<()> {
    check.args(["--quiet", "--work", "work", "--json", "-"]).current_dir(folder);
    let outcome = shell::capture(check, DEFAULT_TIMEOUT)?;
    let answer: Value = serde_json::from_slice(&outcome.stdout)
        .map_err(|error| format!("{name}: {error}: {}", outcome.complaint()))?;
    if answer["verdict"] != "holds" {
        return Err(format!("{name}: {}", answer["verdict"]));
    }
    let functions = answer["functions"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |f: &Value, kind: &str| f["counted"][kind].as_u64().unwrap_or(0);
    let pairs: u64 = functions.iter().map(|f| of(f, "by_index") + of(f, "by_state")).sum();
    let judging = answer["judging"].as_f64().unwrap_or(0.0);
    let _ = writeln!(
        report,
        "| {name} | {} | {pairs} | {judging:.3} | {:.0} | {:.1} |",
        functions.len(),
        pairs as f64 / judging.max(1e-6),
        answer["seconds"].as_f64().unwrap_or(0.0)
    );
    Ok(())
}

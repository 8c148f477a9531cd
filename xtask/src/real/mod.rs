//! `cargo xtask real`: real programs with their own tests.
//!
//! Debian's source packages in `xtask/real/packages.toml` are built by clang and by `relapse cc`; their tests
//! run plain and recorded with the same results; every recorded process must replay exactly. The results are
//! a table in `docs/benchmarks.md`.

mod package;
mod result;
mod run;
mod source;
mod table;

use std::path::PathBuf;

use crate::setup;
use crate::shell::{self, Result};
use crate::tools::Tools;
use package::Package;
use result::StoredResult;
use run::Bench;
use source::Archive;

fn home() -> PathBuf {
    shell::target().join("real")
}

/// `cargo xtask real [--dev | --as-built] [--table] [NAME…]`
pub fn command(words: &[&str]) -> Result<()> {
    let names: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with("--")).collect();
    let all = Package::all()?;
    if words.contains(&"--table") {
        return table::publish(&all, &home());
    }
    setup::install(setup::Need::Test)?;
    setup::packages(&["dpkg-dev"])?;
    let tools = match () {
        () if words.contains(&"--as-built") => Tools::existing()?,
        () if words.contains(&"--dev") => Tools::build_dev()?,
        () => Tools::build()?,
    };
    let archive = Archive::open(home().join("archive"))?;
    for package in Package::select(all.clone(), &names)? {
        eprintln!("{}: {}", package.name, package.scope);
        let dir = home().join(&package.name);
        let needs: Vec<&str> = package.needs.iter().map(String::as_str).collect();
        let bench = Bench { tools: &tools, archive: &archive, package: &package, home: dir.clone() };
        let outcome = setup::packages(&needs).and_then(|()| bench.run());
        let kept = StoredResult { commit: table::commit(), outcome };
        kept.write(&dir.join("result.json"))?;
        println!("{}", table::row(&package, &kept));
        match &kept.outcome {
            Ok(tested) => {
                for reason in &tested.reasons {
                    println!("  {} times: {}", reason.times, reason.text);
                }
            }
            Err(reason) => println!("  {reason}"),
        }
        table::publish(&all, &home())?;
    }
    Ok(())
}

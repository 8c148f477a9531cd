//! Builds programs of several translation units with both compilers and compares their behaviour.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::units::{Plan, UnitBinary};
use super::{Fault, RUN_LIMIT, Verdict, check_recording};
use crate::cases::quoted;
use crate::shell::{self, Result};
use crate::tools::Tools;

const COMPILE_LIMIT: Duration = Duration::from_secs(240);

/// The two compilers for the language of a plan.
struct Compilers {
    ours: PathBuf,
    plain: PathBuf,
}

/// Tests one program, in `dir`.
pub fn check(tools: &Tools, plan: &Plan, dir: &Path) -> Result<Verdict> {
    shell::write(&dir.join("all.h"), &plan.header)?;
    for unit in &plan.units {
        shell::write(&dir.join(&unit.file), &unit.text)?;
    }
    let compilers = if plan.cxx {
        Compilers {
            ours: tools.cc.with_file_name("relapse-c++"),
            plain: tools.clang.with_file_name("clang++-22"),
        }
    } else {
        Compilers { ours: tools.cc.clone(), plain: tools.clang.clone() }
    };
    if let Some(complaint) = build(&compilers, plan, &dir.join("plain"), false)? {
        // A program that clang rejects is an error of the generator, which must not pass silently.
        return Ok(Verdict::Failed(Fault::Compile, format!("clang: {complaint}")));
    }
    let run = |name: &str, limit| {
        let home = dir.join(name);
        shell::capture(Command::new(home.join("program")).current_dir(&home), limit)
    };
    let plain = run("plain", RUN_LIMIT)?;
    if plain.timed_out {
        return Ok(Verdict::Skipped("runs too long".to_owned()));
    }
    // An indirect function of the executable cannot be called by a library that needs its address at start.
    if String::from_utf8_lossy(&plain.stderr).contains("IFUNC symbol") {
        return Ok(Verdict::Skipped("the loader refuses it".to_owned()));
    }
    if let Some(complaint) = build(&compilers, plan, &dir.join("ours"), true)? {
        return Ok(Verdict::Failed(Fault::Compile, complaint));
    }
    let alone = run("ours", RUN_LIMIT * 10)?;
    if alone.status != plain.status || alone.stdout != plain.stdout {
        let why = format!("{}\n{}", shell::ended(alone.status), alone.complaint());
        return Ok(Verdict::Failed(Fault::Output, why));
    }
    check_recording(tools, &plain, &dir.join("ours/program"), &[])
}

/// Builds in a separate directory. Returns the compiler's diagnostics if it fails.
fn build(compilers: &Compilers, plan: &Plan, to: &Path, instrumented: bool) -> Result<Option<String>> {
    shell::create_empty_dir(to)?;
    let compiler = |foreign: bool| if instrumented && !foreign { &compilers.ours } else { &compilers.plain };
    let mut link =
        vec!["-fuse-ld=lld".to_owned(), "-rdynamic".to_owned(), "-o".to_owned(), "program".to_owned()];
    let mut libraries = vec!["-Wl,-rpath,$ORIGIN".to_owned()];
    let mut steps: Vec<(PathBuf, Vec<String>)> = Vec::new();
    for (number, unit) in plan.units.iter().enumerate() {
        let (object, shared) = (format!("u{number}.o"), format!("lib{number}.so"));
        let mut words: Vec<String> = unit.flags.iter().map(|flag| (*flag).to_owned()).collect();
        words.extend(["-w", "-c", "-o", &object, &format!("../{}", unit.file)].map(str::to_owned));
        let compiler = compiler(unit.foreign).clone();
        steps.push((compiler.clone(), words));
        match unit.place {
            UnitBinary::Program => link.push(object),
            UnitBinary::Archive => {
                let archive = format!("lib{number}.a");
                steps.push(("llvm-ar-22".into(), vec!["rcs".to_owned(), archive.clone(), object]));
                libraries.push(archive);
            }
            UnitBinary::Shared | UnitBinary::Opened => {
                let words = ["-shared", "-fuse-ld=lld", "-o", &shared, &object].map(str::to_owned).to_vec();
                steps.push((compiler, words));
                if unit.place == UnitBinary::Shared {
                    libraries.push(shared);
                }
            }
        }
    }
    link.extend(libraries);
    steps.push((compiler(false).clone(), link));
    // A script for reproducing a failure.
    let script: String = steps
        .iter()
        .map(|(program, words)| {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            format!("{} {}\n", program.display(), words.join(" "))
        })
        .collect();
    shell::write(&to.join("build.sh"), script)?;
    for (program, words) in steps {
        let mut command = Command::new(program);
        command.args(words).current_dir(to);
        let outcome = shell::capture(&mut command, COMPILE_LIMIT)?;
        let loud = instrumented && !outcome.stderr.is_empty();
        if !outcome.status.success() || loud {
            return Ok(Some(format!("{}\n{}", shell::shown(&command), outcome.complaint())));
        }
    }
    Ok(None)
}

//! Fetches the sources and compiles them, once with each compiler.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::catalogue::{self, SUBJECTS, Subject};
use crate::shell::{self, Result};
use crate::tools::{DEFAULT_TIMEOUT, Tools};

/// The compiler and options that a subject is built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Recorded,
    PlainO2,
    PlainO0,
    MemorySanitizer,
}

impl Flavour {
    fn name(self) -> &'static str {
        match self {
            Flavour::Recorded => "recorded",
            Flavour::PlainO2 => "plain-O2",
            Flavour::PlainO0 => "plain-O0",
            Flavour::MemorySanitizer => "msan",
        }
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Flavour::Recorded | Flavour::PlainO2 => &["-O2"],
            Flavour::PlainO0 => &["-O0"],
            Flavour::MemorySanitizer => &["-O2", "-fsanitize=memory"],
        }
    }

    fn compiler(self, tools: &Tools) -> &Path {
        match self {
            Flavour::Recorded => &tools.cc,
            _ => &tools.clang,
        }
    }
}

/// The directory in which a subject is built.
pub fn home(subject: &Subject) -> PathBuf {
    shell::target().join("subjects").join(subject.name)
}

/// The directory of each subject's sources in cargo's registry. Cargo downloads them through a temporary
/// package that depends on exactly these versions, so the usual registry settings apply.
pub fn fetch() -> Result<BTreeMap<&'static str, PathBuf>> {
    let dir = shell::target().join("subjects/fetch");
    let mut manifest = String::from(
        "[package]\nname = \"subjects\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n",
    );
    for subject in SUBJECTS {
        manifest.push_str(&format!(
            "{} = {{ version = \"={}\", default-features = false }}\n",
            subject.package, subject.version
        ));
    }
    shell::write(&dir.join("Cargo.toml"), manifest)?;
    shell::write(&dir.join("src/lib.rs"), "")?;
    let mut command = shell::cargo();
    command
        .args(["metadata", "--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(&dir);
    let outcome = shell::capture(&mut command, DEFAULT_TIMEOUT)?;
    if !outcome.status.success() {
        return Err(format!("failed to get the subjects' crates:\n{}", outcome.complaint()));
    }
    let answer: Value = serde_json::from_slice(&outcome.stdout)
        .map_err(|error| format!("failed to read cargo's answer: {error}"))?;
    let mut found = BTreeMap::new();
    for package in answer["packages"].as_array().into_iter().flatten() {
        let (Some(name), Some(manifest)) = (package["name"].as_str(), package["manifest_path"].as_str())
        else {
            continue;
        };
        if let Some(subject) = SUBJECTS.iter().find(|subject| subject.package == name)
            && let Some(dir) = Path::new(manifest).parent()
        {
            found.insert(subject.name, dir.to_owned());
        }
    }
    Ok(found)
}

/// Builds a subject; returns the executable. An existing build by the same compiler is reused.
pub fn build(tools: &Tools, subject: &Subject, package: &Path, flavour: Flavour) -> Result<PathBuf> {
    let dir = home(subject).join(flavour.name());
    let program = dir.join(subject.name);
    let compiler = flavour.compiler(tools);
    let generated = dir.join("generated");
    let sources = sources(subject, package)?;
    let mut flags: Vec<String> = flavour.flags().iter().map(|flag| (*flag).to_owned()).collect();
    flags.push("-g".to_owned());
    flags.extend(subject.flags.iter().map(|flag| (*flag).to_owned()));
    flags.push(format!("-I{}", generated.display()));
    flags.extend(subject.includes.iter().map(|include| format!("-I{}", package.join(include).display())));

    let stamp = stamp(compiler, &flags, &sources)?;
    let stamp_file = dir.join("stamp");
    if program.exists() && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
        return Ok(program);
    }
    shell::create_empty_dir(&dir)?;
    fs::create_dir_all(&generated)
        .map_err(|error| format!("failed to make {}: {error}", generated.display()))?;
    if let Some(generate) = subject.generate {
        generate(package, &generated)?;
    }
    let objects = compile_all(compiler, &flags, &sources, &dir)?;
    let mut link = Command::new(compiler);
    link.args(flavour.flags()).arg("-o").arg(&program).args(&objects).args(subject.libraries);
    let outcome = shell::capture(&mut link, DEFAULT_TIMEOUT)?;
    if !outcome.status.success() {
        return Err(format!("{}: failed to link:\n{}", subject.name, outcome.complaint()));
    }
    shell::write(&stamp_file, stamp)?;
    Ok(program)
}

/// Compiles, two files at a time.
fn compile_all(compiler: &Path, flags: &[String], sources: &[PathBuf], dir: &Path) -> Result<Vec<PathBuf>> {
    let objects: Vec<PathBuf> =
        sources.iter().enumerate().map(|(number, _)| dir.join(format!("{number}.o"))).collect();
    let todo = Mutex::new(sources.iter().zip(&objects));
    let problem = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = todo.lock().unwrap_or_else(|e| e.into_inner()).next();
                    let Some((source, object)) = next else { return };
                    let mut command = Command::new(compiler);
                    command.arg("-c").args(flags).arg("-o").arg(object).arg(source);
                    let result = shell::capture(&mut command, DEFAULT_TIMEOUT).and_then(|outcome| {
                        let words = outcome.complaint();
                        if !outcome.status.success() {
                            return Err(format!("failed to compile {}:\n{words}", source.display()));
                        }
                        if words.contains("without recording") {
                            return Err(words);
                        }
                        Ok(())
                    });
                    if let Err(message) = result {
                        *problem.lock().unwrap_or_else(|e| e.into_inner()) = Some(message);
                    }
                }
            });
        }
    });
    match problem.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some(message) => Err(message),
        None => Ok(objects),
    }
}

/// A text that changes whenever the compiler, the options or the list of sources do.
fn stamp(compiler: &Path, flags: &[String], sources: &[PathBuf]) -> Result<String> {
    let modified = |path: &Path| {
        let time = fs::metadata(path).and_then(|meta| meta.modified());
        let time = time.map_err(|error| format!("failed to look at {}: {error}", path.display()))?;
        Ok::<u128, String>(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos()))
    };
    let mut text = format!("{} {}\n{}\n", compiler.display(), modified(compiler)?, flags.join(" "));
    for source in sources {
        text.push_str(&format!("{} {}\n", source.display(), modified(source)?));
    }
    Ok(text)
}

/// The files that match the patterns of a subject.
fn sources(subject: &Subject, package: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for pattern in subject.sources {
        let path = package.join(pattern);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((before, after)) = name.split_once('*') else {
            found.push(path);
            continue;
        };
        let dir = path.parent().unwrap_or(package);
        let entries =
            fs::read_dir(dir).map_err(|error| format!("failed to read {}: {error}", dir.display()))?;
        let mut files: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|file| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(before) && name.ends_with(after) && !subject.except.contains(&&*name)
            })
            .collect();
        files.sort();
        found.extend(files);
    }
    found.extend(subject.own.iter().map(|file| catalogue::own_dir(subject.name).join(file)));
    Ok(found)
}

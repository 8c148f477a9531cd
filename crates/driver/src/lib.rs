//! The compiler driver: the implementation of `relapse cc` and `relapse c++`.
//!
//! It replaces a C compiler in a build and behaves like clang: same options, same diagnostics, same
//! exit codes, same files. Its additions are in the objects and in the linked program. Command
//! lines are handled as follows:
//!
//! | command | what happens |
//! |---|---|
//! | nothing to compile or link, `-E`, `-M`, `-fsyntax-only`, `--version`, ... | clang alone, same options |
//! | `-c`, `-S` | each C or C++ source: bitcode, instrumentation, code ([`compile`]) |
//! | link | sources to temporary objects, then clang links them with the runtime ([`link`]) |
//!
//! In plain mode ([`Mode`]) instrumentation and runtime are omitted. The options of such a build
//! can be replaced ([`overrides`]), and its compilations can be recorded ([`units`]). With an
//! [`ObjectCache`], equal compilations run only once. [`shims`] creates a directory of the names by
//! which builds call compilers.
//!
//! What must not be known here: LLVM and the form of instrumented code. Another program modifies
//! the bitcode ([`Request`]), so that a program with this crate starts without loading LLVM.
//!
//! This crate is a program's `main` in library form: it runs processes, writes notes to standard
//! error and, in [`Setup::from_environment`], reads environment variables (`RELAPSE_*`, documented
//! on the page about the driver).

#![warn(missing_docs)]

mod cache;
mod command;
mod compile;
mod link;
mod names;
mod options;
mod overrides;
mod process;
mod request;
mod response;
mod setup;
mod signals;
mod templates;
mod toolchain;
mod tree;
mod units;
mod version_script;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use command::{Command, Goal};
use overrides::BuildOverrides;
use process::{DiagnosticSink, Runner};
use tree::Tree;
use units::Units;

pub use cache::{CacheCounts, ObjectCache, cache_counts};
pub use names::{ShimError, called_as, shims};
pub use overrides::{Optimisation, Sanitizer};
pub use request::{Action, Request};
pub use setup::{Mode, Setup};

/// The compiler that the driver replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// clang.
    C,
    /// clang++: links the C++ library.
    Cxx,
}

/// One run of the driver.
#[derive(Debug)]
pub struct Session {
    language: Language,
    mode: Mode,
    clang: PathBuf,
    has_lld: bool,
    cache: Option<PathBuf>,
    objects: Option<ObjectCache>,
    tree: Option<Tree>,
    overrides: BuildOverrides,
    units: Option<Units>,
    working_dirs: Vec<PathBuf>,
    /// Whether clang needs an explicit option to use colours, because its standard error is a pipe.
    colours: bool,
    instrumenter: PathBuf,
    runner: Runner,
    temp: tempfile::TempDir,
    stdin: std::cell::OnceCell<Vec<u8>>,
}

/// Runs the driver as `relapse cc` (or `c++`) with `args`, and returns the exit code. The program
/// `instrumenter` executes [`Request`]s.
///
/// ```no_run
/// let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
/// std::process::exit(driver::run(driver::Language::C, &args, "/usr/bin/relapse-cc".as_ref()));
/// ```
pub fn run(language: Language, args: &[OsString], instrumenter: &Path) -> i32 {
    match Setup::from_environment(language, instrumenter).and_then(Session::new) {
        Ok(session) => {
            signals::remove_on_signal(session.temp.path());
            session.run(args)
        }
        Err(message) => {
            print_diagnostic(&message);
            1
        }
    }
}

impl Session {
    /// Creates a session from `setup`. The error is a sentence for the user.
    pub fn new(setup: Setup) -> Result<Self, String> {
        let clang = toolchain::find_clang(setup.clang.as_deref(), Some(&setup.instrumenter))
            .ok_or("failed to find clang 22: install it, or name it in RELAPSE_CLANG")?;
        signals::remove_stale_dirs(&std::env::temp_dir());
        let temp = tempfile::Builder::new()
            .prefix(&signals::temp_dir_prefix())
            .tempdir()
            .map_err(|error| format!("failed to make a temporary folder: {error}"))?;
        // Recorded programs are built with the build's own options.
        let plain = setup.mode == Mode::Plain;
        let overrides = match setup.mode {
            Mode::Plain => BuildOverrides { optimisation: setup.optimisation, sanitizer: setup.sanitizer },
            Mode::Instrument => BuildOverrides::default(),
        };
        Ok(Session {
            language: setup.language,
            mode: setup.mode,
            has_lld: toolchain::has_lld(&clang),
            clang,
            cache: setup.runtime_cache,
            colours: setup.objects.is_some() && io::stderr().is_terminal(),
            objects: setup.objects,
            tree: setup.tree.as_deref().and_then(Tree::new),
            overrides,
            units: setup.units.filter(|_| plain).map(|dir| Units { dir }),
            working_dirs: setup.working_dirs,
            instrumenter: setup.instrumenter,
            runner: Runner { log: setup.log, temp: temp.path().to_owned() },
            temp,
            stdin: std::cell::OnceCell::new(),
        })
    }

    /// Executes the command line `args`. Returns the exit code.
    pub fn run(&self, args: &[OsString]) -> i32 {
        self.drive(args).unwrap_or_else(|error| {
            print_diagnostic(&format!("failed to run {}: {error}", self.clang.display()));
            1
        })
    }

    fn drive(&self, args: &[OsString]) -> io::Result<i32> {
        let args = response::expand(args);
        let mut command = Command::parse(&args);
        if let Some(option) = self.overrides.apply(&mut command) {
            self.runner.log_line(&format!("# without sanitizer because of {option}"));
            if let Some(units) = &self.units {
                units.unsanitized(self, &command, &option);
            }
        }
        if !command.dropped.is_empty() {
            self.note(
                &mut DiagnosticSink::Direct,
                &format!("options of gcc ignored: {}", command.dropped.join(" ")),
            );
        }
        if !command.measured.is_empty() && self.mode == Mode::Instrument && !command.passthrough {
            let options = command.measured.join(" ");
            self.note(
                &mut DiagnosticSink::Direct,
                &format!("a recorded program is not measured; left out: {options}"),
            );
        }
        if command.passthrough || self.clang_would_refuse(&command)? {
            return self.pass_through(&command);
        }
        if command.goal != Goal::Link {
            if command.compiled().next().is_none() {
                return self.pass_through(&command);
            }
            let mut result = 0;
            for (position, (_, input)) in command.compiled().enumerate() {
                let product = command.product(input);
                let code = compile::compile(self, &command, input, &product, position == 0)?;
                result = if result == 0 { code } else { result };
            }
            return Ok(result);
        }

        let mut objects: Vec<Option<PathBuf>> = vec![None; command.inputs.len()];
        let mut result = 0;
        for (position, (number, input)) in command.compiled().enumerate() {
            let stem = input.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let object = self.temp.path().join(format!("{number}-{stem}.o"));
            let code = compile::compile(self, &command, input, &object, position == 0)?;
            result = if result == 0 { code } else { result };
            objects[number] = Some(object);
        }
        if result != 0 {
            return Ok(result);
        }
        link::link(self, &command, &objects)
    }

    /// Passes the whole command to clang.
    fn pass_through(&self, command: &Command) -> io::Result<i32> {
        let mut args: Vec<OsString> =
            command::driver_mode(self.language).map(OsString::from).into_iter().collect();
        args.extend(command.cleaned());
        self.runner.run(&self.clang, &args, None, &mut DiagnosticSink::Direct)
    }

    /// Whether clang would reject the command as a whole before it reads any file. It should then
    /// report the error once, not in every step.
    fn clang_would_refuse(&self, command: &Command) -> io::Result<bool> {
        let exists = |path: &Path| path.as_os_str() == "-" || path.exists();
        if command.inputs.iter().any(|input| !exists(&input.path)) {
            return Ok(true);
        }
        if command.compiled().count() < 2 {
            return Ok(false);
        }
        let mut args: Vec<OsString> =
            command::driver_mode(self.language).map(OsString::from).into_iter().collect();
        args.push("-###".into());
        args.extend(command.cleaned());
        Ok(self.runner.run_captured(&self.clang, &args)?.0 != 0)
    }

    /// Lets the instrumenter transform one file. The error is a sentence for the user.
    fn request(&self, request: &Request) -> Result<(), String> {
        let problem = match self.runner.run_captured(&self.instrumenter, &request.arguments()) {
            Ok((0, _)) => None,
            Ok((code, words)) => {
                let words = String::from_utf8_lossy(&words);
                let last = words.lines().rfind(|line| !line.trim().is_empty());
                Some(match last {
                    Some(line) if code < 128 => line.trim().to_owned(),
                    _ => format!("the instrumenter ended with status {code}"),
                })
            }
            Err(error) => Some(format!("failed to run {}: {error}", self.instrumenter.display())),
        };
        self.written(&request.output, problem)
    }

    fn written(&self, output: &Path, problem: Option<String>) -> Result<(), String> {
        match problem {
            None if output.exists() => Ok(()),
            None => Err("the instrumenter wrote nothing".to_owned()),
            Some(message) => {
                self.runner.log_line(&format!("# instrumentation failed: {message}"));
                Err(message)
            }
        }
    }

    /// Standard input, read once, because a repeated step reads it again.
    fn read_stdin(&self) -> io::Result<Vec<u8>> {
        if let Some(bytes) = self.stdin.get() {
            return Ok(bytes.clone());
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(self.stdin.get_or_init(|| bytes).clone())
    }

    fn note(&self, sink: &mut DiagnosticSink, text: &str) {
        sink.write(format!("relapse-cc: note: {text}\n").as_bytes());
    }
}

fn print_diagnostic(text: &str) {
    // A closed standard error is not an error.
    let _ = writeln!(io::stderr(), "relapse-cc: {text}");
}

/// The clang that the driver runs: `RELAPSE_CLANG`, or version 22. `None` if it is not installed.
#[must_use]
pub fn clang() -> Option<PathBuf> {
    let named = std::env::var_os("RELAPSE_CLANG").filter(|name| !name.is_empty()).map(PathBuf::from);
    let found = toolchain::find_clang(named.as_deref(), std::env::current_exe().ok().as_deref())?;
    found.is_file().then_some(found)
}

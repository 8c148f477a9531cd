//! Compiles one source file to one object: clang to bitcode, instrumentation, clang to code.
//!
//! ```text
//! a.c ─ clang, user's options ─► a.bc ─ instrument ─► a.out.bc ─ clang -O2 ─► a.o
//!       (all diagnostics)                             (silent)
//! ```
//! If instrumentation or the second clang fails, the file is compiled by clang alone, and one note
//! reports that. In plain mode there is one step, without instrumentation. The same options are
//! dropped in both modes, so that a program computes the same results.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::command::{Command, Goal, Input, Kind};
use super::options::Role;
use super::process::DiagnosticSink;
use super::request::{Action, Request, requested};
use super::setup::Mode;
use super::{Session, command, templates};
use program::intervention::Intervention;

/// Added to plain compilations, to match the instrumented build of the same file.
pub const ALWAYS_PLAIN: &[&str] = &["-ffp-contract=off"];

/// The result of compiling one input.
pub struct CompileResult {
    /// Clang's exit code.
    pub code: i32,
    /// False for a file that could not be instrumented as requested: the next attempt may succeed.
    pub as_requested: bool,
}

/// Compiles one input of the command into `product`. Returns clang's exit code. `first` is true for
/// the first input: only then clang may report diagnostics about the command line as a whole.
pub fn compile(
    session: &Session,
    command: &Command,
    input: &Input,
    product: &Path,
    first: bool,
) -> io::Result<i32> {
    if let Some(units) = &session.units {
        units.record(session, command, input);
    }
    match &session.objects {
        Some(cache) if !is_probe(&input.path) => cache.compile(session, command, input, product, first),
        _ => Ok(fresh(session, command, input, product, first, &mut DiagnosticSink::Direct)?.code),
    }
}

/// Whether a file is a probe with which Autoconf, CMake or Meson tests the machine. Probes may
/// depend on properties that recording changes, such as the stack that contains the locals of a
/// signal handler, and are never recorded.
fn is_probe(path: &Path) -> bool {
    const FOLDERS: [&str; 3] = ["CMakeScratch", "CMakeTmp", "meson-private"];
    path.file_stem().is_some_and(|stem| stem == "conftest")
        || path.components().any(|part| FOLDERS.iter().any(|folder| part.as_os_str() == *folder))
}

/// Compiles without the cache.
pub fn fresh(
    session: &Session,
    command: &Command,
    input: &Input,
    product: &Path,
    first: bool,
    sink: &mut DiagnosticSink,
) -> io::Result<CompileResult> {
    let stdin = if input.path.as_os_str() == "-" { Some(session.read_stdin()?) } else { None };
    let instruments =
        session.mode == Mode::Instrument && input.kind == Kind::Source && !is_probe(&input.path);
    if session.mode == Mode::Plain
        && input.kind == Kind::Source
        && stdin.is_none()
        && let Some(intervention) = requested(&input.path)?
    {
        return with_intervention(session, command, input, product, first, intervention, sink);
    }
    if !instruments || command.foreign.is_some() {
        if let (true, Some(option)) = (instruments, &command.foreign) {
            let path = input.path.display();
            session.note(sink, &format!("{path}: compiled without recording because of {option}"));
        }
        let args = plain(session, command, input, product, first, false);
        let code = session.runner.run(&session.clang, &args, stdin.as_deref(), sink)?;
        return Ok(CompileResult { code, as_requested: true });
    }

    let dir = tempfile::tempdir_in(session.temp.path())?;
    let name = input.path.file_stem().map_or_else(|| OsString::from("input"), OsString::from);
    let bitcode = dir.path().join(&name).with_added_extension("bc");
    let instrumented_dir = dir.path().join("instrumented");
    std::fs::create_dir(&instrumented_dir)?;
    let instrumented = instrumented_dir.join(&name).with_added_extension("bc");

    let args = bitcode_args(session, command, input, dir.path(), &bitcode, first)?;
    let code = session.runner.run(&session.clang, &args, stdin.as_deref(), sink)?;
    if code != 0 || !bitcode.exists() {
        return Ok(CompileResult { code, as_requested: true });
    }
    let action = Action::Instrument { strip_debug: !command.debug_is_wanted };
    let request = Request { input: bitcode, output: instrumented.clone(), action };
    let problem = match session.request(&request) {
        Ok(()) => {
            let args = codegen_args(command, &instrumented, product);
            let (code, words) = session.runner.run_captured(&session.clang, &args)?;
            if code == 0 {
                return Ok(CompileResult { code, as_requested: true });
            }
            let words = String::from_utf8_lossy(&words).into_owned();
            session.runner.log_line(&format!("# code generation failed: {words}"));
            words.lines().next().unwrap_or("code generation failed").to_owned()
        }
        Err(message) => message,
    };
    // Code generation also finds errors in the source (in inline assembly). Plain compilation then
    // reports them as clang diagnostics. Its warnings were already shown.
    let args = plain(session, command, input, product, first, true);
    let code = session.runner.run(&session.clang, &args, stdin.as_deref(), sink)?;
    if code == 0 {
        session.note(sink, &format!("{}: compiled without recording: {problem}", input.path.display()));
    }
    Ok(CompileResult { code, as_requested: false })
}

/// Compiles with one value replaced. Never falls back to unmodified code: its outcome would be
/// attributed to the intervention.
fn with_intervention(
    session: &Session,
    command: &Command,
    input: &Input,
    product: &Path,
    first: bool,
    intervention: Intervention,
    sink: &mut DiagnosticSink,
) -> io::Result<CompileResult> {
    let dir = tempfile::tempdir_in(session.temp.path())?;
    let (bitcode, replaced) = (dir.path().join("before.bc"), dir.path().join("after.bc"));
    let mut args = bitcode_args(session, command, input, dir.path(), &bitcode, first)?;
    // After the user's warning options, before the input.
    let end = args.iter().position(|word| word == "-emit-llvm").unwrap_or(0);
    args.insert(end, "-Wno-unknown-pragmas".into());
    let code = session.runner.run(&session.clang, &args, None, sink)?;
    if code != 0 || !bitcode.exists() {
        return Ok(CompileResult { code, as_requested: true });
    }
    let request =
        Request { input: bitcode, output: replaced.clone(), action: Action::Intervene(intervention) };
    if let Err(message) = session.request(&request) {
        session.note(sink, &format!("{}: {message}", input.path.display()));
        return Ok(CompileResult { code: 1, as_requested: false });
    }
    let (code, words) =
        session.runner.run_captured(&session.clang, &codegen_args(command, &replaced, product))?;
    session.runner.log_line(&String::from_utf8_lossy(&words));
    Ok(CompileResult { code, as_requested: true })
}

/// The user's options for a compile step of one input.
fn user_options(session: &Session, command: &Command, first: bool) -> Vec<OsString> {
    options_without(session, command, first, &[])
}

/// As `user_options`, without options that have one of `roles`.
pub fn options_without(session: &Session, command: &Command, first: bool, roles: &[Role]) -> Vec<OsString> {
    let mut args: Vec<OsString> = Vec::new();
    if session.colours {
        args.push("-fcolor-diagnostics".into());
    }
    if let Some(tree) = &session.tree {
        // First, so that the user's own mappings take precedence.
        args.push("--start-no-unused-arguments".into());
        args.extend(tree.options(session.mode));
        args.push("--end-no-unused-arguments".into());
    }
    for item in command.items.iter().filter(|item| !roles.contains(&item.role)) {
        let keep = match item.role {
            Role::Compile | Role::Codegen | Role::Depend | Role::Foreign => true,
            Role::Measure => session.mode == Mode::Plain,
            // With `-c`, clang itself warns that such words are not used.
            Role::Link => command.goal != Goal::Link && first,
            Role::Input => {
                command.goal != Goal::Link
                    && first
                    && item.input.is_some_and(|n| command.inputs[n].kind == Kind::Linkable)
            }
            Role::Mode | Role::Output | Role::Language | Role::Passthrough => false,
            Role::FastMath | Role::Lto | Role::GccOnly => false,
        };
        if keep {
            args.extend(item.words.iter().cloned());
        }
    }
    args.extend(command.fast_math_replacements());
    if !first {
        args.push("-Wno-unused-command-line-argument".into());
    }
    args
}

/// Options with which clang writes the same dependency file as without the driver.
fn dependencies(command: &Command, input: &Input) -> Vec<OsString> {
    let mut args: Vec<OsString> = Vec::new();
    if command.dependencies.wanted {
        if !command.dependencies.file_named {
            args.extend(["-MF".into(), command.dependency_file(input).into()]);
        }
        if !command.dependencies.target_named {
            args.extend(["-MQ".into(), command.dependency_target(input).into()]);
        }
    }
    args
}

fn input_words(input: &Input) -> Vec<OsString> {
    let mut args = Vec::new();
    if let Some(language) = &input.language {
        args.extend(["-x".into(), language.clone()]);
    }
    // A source name that begins with a dash must follow `--`.
    if input.path.as_os_str() != "-" && input.path.to_string_lossy().starts_with('-') {
        args.push("--".into());
    }
    args.push(input.path.clone().into());
    args
}

pub fn mode(session: &Session) -> Vec<OsString> {
    command::driver_mode(session.language).map(OsString::from).into_iter().collect()
}

/// The options of clang without the driver, for one input. `again`: the warnings were shown and the
/// dependency file was written before.
fn plain(
    session: &Session,
    command: &Command,
    input: &Input,
    product: &Path,
    first: bool,
    again: bool,
) -> Vec<OsString> {
    let mut args = mode(session);
    args.extend(user_options(session, command, first));
    args.extend(dependencies(command, input));
    if again {
        args.push("-w".into());
    }
    if session.mode == Mode::Plain && input.kind == Kind::Source {
        args.extend(ALWAYS_PLAIN.iter().map(OsString::from));
    }
    args.push(if command.goal == Goal::Assembly { "-S".into() } else { "-c".into() });
    args.extend(["-o".into(), product.into()]);
    args.extend(input_words(input));
    args
}

/// The options for preprocessing, for the cache. Preprocessing writes the dependency file as well.
pub fn preprocess_args(
    session: &Session,
    command: &Command,
    input: &Input,
    text: &Path,
    first: bool,
) -> Vec<OsString> {
    let mut args = mode(session);
    args.extend(user_options(session, command, first));
    args.extend(dependencies(command, input));
    args.extend(["-E".into(), "-o".into(), text.into()]);
    args.extend(input_words(input));
    args
}

/// The options of the first step: diagnostics, dependency files, bitcode. `dir` is for auxiliary
/// files.
fn bitcode_args(
    session: &Session,
    command: &Command,
    input: &Input,
    dir: &Path,
    bitcode: &Path,
    first: bool,
) -> io::Result<Vec<OsString>> {
    let mut args = mode(session);
    args.extend(user_options(session, command, first));
    args.extend(dependencies(command, input));
    if !command.debug_is_full {
        // Source locations and variables of the model come from debug information.
        args.push("-g".into());
    }
    // The front end must not leave the choice of fused operations to later steps, since replay
    // could not reproduce it.
    args.push("-ffp-contract=off".into());
    args.extend(["-Xclang".into(), "-disable-llvm-passes".into()]);
    // With lifetime markers, all exits of a scope pass one block with a `switch` that is not in the
    // source.
    args.extend(["-Xclang".into(), "-disable-lifetime-markers".into()]);
    if command.unoptimised {
        args.extend(["-Xclang".into(), "-disable-O0-optnone".into()]);
    }
    if input.is_cxx(session.language) && !templates::is_precompiled(&args) {
        args.extend(templates::string_options(dir)?);
    }
    args.extend(["-emit-llvm".into(), "-c".into(), "-o".into(), bitcode.into()]);
    args.extend(input_words(input));
    Ok(args)
}

/// The options of the last step: code from instrumented bitcode, always optimised, because
/// unoptimised checks at every access would make recording slow.
fn codegen_args(command: &Command, bitcode: &Path, product: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = Vec::new();
    for item in &command.items {
        if item.role == Role::Codegen {
            args.extend(item.words.iter().cloned());
        }
    }
    args.push(if command.aggressive { "-O3".into() } else { "-O2".into() });
    // Time and sum are adjacent in the context. Loading both as one vector just after a callee
    // stored them separately causes a store-forwarding stall at every call.
    args.push("-fno-slp-vectorize".into());
    args.extend(["-w".into(), "-Wno-unused-command-line-argument".into()]);
    args.push(if command.goal == Goal::Assembly { "-S".into() } else { "-c".into() });
    args.extend(["-o".into(), product.into(), "-x".into(), "ir".into(), bitcode.into()]);
    args
}

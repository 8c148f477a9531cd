//! The link step: the user's command with every compiled input replaced by its object, and the
//! runtime added.
//!
//! Executables and shared libraries both contain the runtime. In a process with several copies, all
//! modules must use the copy that the dynamic linker finds first: that of the executable, because
//! its `__relapse_*` symbols are exported, and the references of libraries stay preemptible even
//! with `-Bsymbolic`.
//!
//! In plain mode only the choice of the linker is added, which is the same in both modes.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::command::{self, Command};
use super::options::Role;
use super::process::DiagnosticSink;
use super::setup::Mode;
use super::toolchain::{self, RUNTIME_NAME};
use super::{Session, version_script};

/// Links. `objects[n]` is the object compiled from input `n`, if there is one.
pub fn link(session: &Session, command: &Command, objects: &[Option<PathBuf>]) -> io::Result<i32> {
    let compiled_some = objects.iter().any(Option::is_some);
    let mut args: Vec<OsString> =
        command::driver_mode(session.language).map(OsString::from).into_iter().collect();
    for item in &command.items {
        match item.role {
            Role::Input => match item.input.and_then(|n| objects[n].as_ref()) {
                Some(object) => args.push(object.into()),
                None => args.extend(item.words.iter().cloned()),
            },
            Role::Compile | Role::Codegen | Role::Output | Role::Foreign => {
                args.extend(item.words.iter().cloned());
            }
            // The program may call functions of the profiling library.
            Role::Measure if session.mode == Mode::Plain || item.words[0] != "-pg" => {
                args.extend(item.words.iter().cloned());
            }
            Role::Measure => {}
            Role::Link if session.mode == Mode::Plain => args.extend(item.words.iter().cloned()),
            Role::Link => args.extend(version_script::open(&item.words, session.temp.path())?),
            Role::Mode | Role::Language | Role::Depend | Role::Passthrough => {}
            Role::FastMath | Role::Lto | Role::GccOnly => {}
        }
    }
    if compiled_some {
        // Diagnostics about the options were reported when the inputs were compiled.
        args.extend(["-w".into(), "-Wno-unused-command-line-argument".into()]);
    }
    let lld = session.has_lld
        && !command.linking.linker_named
        && !command.linking.linker_script
        && command.foreign.is_none();
    if lld {
        args.push("-fuse-ld=lld".into());
    }
    let has_runtime = command.inputs.iter().any(|input| input.path.ends_with(RUNTIME_NAME));
    let wants_runtime = session.mode == Mode::Instrument
        && !command.linking.relocatable
        && command.foreign.is_none()
        && !has_runtime;
    if wants_runtime {
        let runtime = toolchain::runtime_object(session.cache.as_deref(), session.temp.path())?;
        let at = usize::from(command::driver_mode(session.language).is_some());
        args.splice(at..at, runtime_words(&runtime, lld));
        if !command.linking.no_libraries {
            args.extend(["-lpthread".into(), "-ldl".into()]);
        }
    }
    if session.mode == Mode::Instrument
        && let Some(option) = command.foreign.as_deref().filter(|option| is_for_linux(option))
    {
        args.push(mark(session.temp.path(), option)?);
    }
    session.runner.run(&session.clang, &args, None, &mut DiagnosticSink::Direct)
}

/// The runtime precedes all inputs: a shared library on the command line also contains a copy, and
/// the program would otherwise depend on that copy.
fn runtime_words(runtime: &Path, lld: bool) -> Vec<OsString> {
    let mut args: Vec<OsString> = Vec::new();
    if lld {
        // Like an archive member: linked only if some object references it, so that a program
        // without instrumented code is unchanged.
        args.push("-Wl,--start-lib".into());
    }
    args.push(runtime.into());
    if lld {
        args.push("-Wl,--end-lib".into());
    }
    args.push("-Wl,--export-dynamic-symbol=__relapse_*".into());
    args
}

/// Targets other than Linux may use a format other than ELF.
fn is_for_linux(option: &str) -> bool {
    !option.contains("target") || option.contains("linux")
}

/// A source that adds a section to the product, from which `relapse record` reads the reason why
/// the program does not record.
fn mark(temp: &Path, option: &str) -> io::Result<OsString> {
    let path = temp.join("unrecorded.s");
    let option = option.escape_default();
    let section = program::binary::UNRECORDED;
    let text = format!(
        ".section {section},\"\",%progbits\n.asciz \"{option}\"\n.section .note.GNU-stack,\"\",%progbits\n"
    );
    std::fs::write(&path, text)?;
    Ok(path.into())
}

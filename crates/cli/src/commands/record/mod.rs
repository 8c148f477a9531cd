//! `relapse record`: runs a command and stores what cannot be recomputed.

mod directory;
mod run;

use crate::failure::{Exit, Failure};
use crate::render;
use clap::Args;
use program::kept::StoredBinary;
use recording::modules::LoadedModule;
use recording::pack::{self, Summary};
use recording::{Manifest, Outcome, Recording, RecordingError};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant, SystemTime};

/// Run a command and record every instrumented process in it
///
/// The command keeps its standard input, output and error, and its exit code becomes that of `relapse record`
/// (128 + N after signal N). Exit code 4 means that the recording is incomplete, or that the command
/// succeeded but nothing in it was instrumented; 126 and 127 that the command could not be run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse record ./sum 4                records into relapse-recording
  relapse record -o run -- make check   all programs that `make check` runs")]
pub struct RecordArgs {
    /// Directory for the recording [default: relapse-recording, numbered if it exists]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Say nothing unless something goes wrong
    #[arg(short, long)]
    quiet: bool,
    /// Replace the recording in DIR
    #[arg(long, requires = "output")]
    force: bool,
    /// Fail (exit code 4) if unknown code was called
    #[arg(long)]
    strict: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Up to this time counter, the instructions of a recording are counted by replaying it.
const MAX_COUNTED_TIME: u64 = 2_000_000;
/// The time limit for that: the user should not wait for a replay.
const COUNT_TIMEOUT: Duration = Duration::from_millis(300);

/// The number of binaries listed whose models could not be stored.
const MAX_LISTED_BINARIES: usize = 3;

/// How long to wait for processes that outlive the command.
const PATIENCE: Duration = Duration::from_millis(600);

pub fn run(args: &RecordArgs) -> Result<Exit, Failure> {
    let directory = match directory::prepare(args.output.as_deref(), args.force)? {
        Ok(directory) => directory,
        Err(reason) => return run_without_recording(&args.command, &reason),
    };
    let mut manifest = begin(&args.command);
    manifest.write(&directory).map_err(|e| Failure::failed_to(Exit::Environment, e))?;
    // Without it binaries are read when the command has ended.
    let _ = std::fs::create_dir(directory.join("models"));
    let status = match run::run(&args.command, Some(&directory)) {
        Ok(status) => status,
        Err(error) => {
            remove_recording(&directory);
            return Err(cannot_run(&args.command, &error));
        }
    };
    let own = run::exit_code(status);
    let shown = args.output.clone().unwrap_or_else(|| directory.file_name().unwrap_or_default().into());
    let summary = finish(&directory, &mut manifest, outcome(status))
        .map_err(|e| Failure::failed_to(Exit::Incomplete, e).hint(raw_hint(&shown)))?;
    let lost = keep_models(&directory).unwrap_or_else(|reason| vec![reason]);
    for reason in lost.iter().take(MAX_LISTED_BINARIES) {
        eprintln!("relapse: failed to {reason}; what ran it can be replayed only with the binary as it was");
    }
    if lost.len() > MAX_LISTED_BINARIES {
        eprintln!("relapse: so it is for {} more binaries", lost.len() - MAX_LISTED_BINARIES);
    }
    if !summary.faults.is_empty() {
        return Err(incomplete(&summary, &shown));
    }
    if summary.processes.is_empty() {
        remove_recording(&directory);
        let exit = if own == 0 { Exit::Incomplete } else { Exit::OfCommand(own) };
        return Err(nothing_recorded(&args.command, exit));
    }
    if args.strict && summary.opaque > 0 {
        return Err(Failure::new(Exit::Incomplete, format_args!("{}", opaque(&summary)))
            .hint("Build what they are in with `relapse cc` as well, or record without --strict."));
    }
    if !args.quiet {
        summarise(&directory, &shown, &summary);
    }
    Ok(Exit::OfCommand(own))
}

/// Removes everything that looks like a recording.
fn remove_recording(directory: &Path) {
    let _ = std::fs::remove_file(directory.join(recording::manifest::FILE));
    let _ = std::fs::remove_file(directory.join(recording::event::INCOMPLETE_FILE));
    recording::models::remove_copies(directory);
    let _ = std::fs::remove_dir(directory);
}

fn begin(command: &[OsString]) -> Manifest {
    let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let directory = std::env::current_dir().unwrap_or_default();
    Manifest::begin(
        command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        directory.display().to_string(),
        u64::try_from(started.as_millis()).unwrap_or(u64::MAX),
    )
}

fn outcome(status: ExitStatus) -> Option<Outcome> {
    status.code().map(Outcome::Exit).or_else(|| status.signal().map(Outcome::Signal))
}

/// The directory is not writable: run the command without recording, since the command is more important.
fn run_without_recording(command: &[OsString], reason: &str) -> Result<Exit, Failure> {
    run::run(command, None).map_err(|error| cannot_run(command, &error))?;
    Err(Failure::new(Exit::Incomplete, format_args!("nothing was recorded: {reason}"))
        .hint("The command ran without being recorded. Name another directory with -o."))
}

/// Packs the streams of processes that have ended. A process that outlives the command (a daemon) continues
/// to write its raw files, which every reader supports as well.
fn finish(
    directory: &Path,
    manifest: &mut Manifest,
    outcome: Option<Outcome>,
) -> Result<Summary, RecordingError> {
    let names = || -> Result<Vec<(String, u32)>, RecordingError> {
        let found = recording::process_directories(directory)?;
        Ok(found.into_iter().map(|(name, info)| (name, info.pid)).collect())
    };
    let deadline = Instant::now() + PATIENCE;
    let running: Vec<(String, u32)> = loop {
        let running: Vec<_> = names()?.into_iter().filter(|(name, pid)| records(name, *pid)).collect();
        let is_late = Instant::now() > deadline;
        if running.is_empty() && (is_late || !any_process_maps(directory)) {
            return pack::finish(directory, manifest, outcome);
        }
        if is_late {
            break running;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut summary = Summary::default();
    for (name, _) in names()? {
        if !running.iter().any(|(other, _)| *other == name)
            && let Err(error) = pack::pack_process(&directory.join(&name), &mut summary)
        {
            summary.faults.push(format!("failed to {error}"));
        }
        summary.processes.push(name);
    }
    for (_, pid) in running {
        summary.faults.push(format!("process {pid} still runs and goes on recording"));
    }
    manifest.outcome = outcome;
    manifest.processes.clone_from(&summary.processes);
    manifest.complete = false;
    manifest.reason = summary.faults.first().cloned();
    manifest.write(directory)?;
    Ok(summary)
}

/// Stores the models of the executed binaries, so that the recording can be replayed after they are rebuilt
/// or deleted. If this fails, the replay needs the binary; returns one note for each.
fn keep_models(directory: &Path) -> Result<Vec<String>, String> {
    let recording = Recording::open(directory).map_err(|e| e.to_string())?;
    let mut done = BTreeSet::new();
    let modules = recording.processes.iter().flat_map(|p| p.modules.iter());
    let modules = modules.filter(|module| done.insert((&module.path, &module.build_id)));
    let lost = modules.filter_map(|module| keep_model(directory, module).err()).collect();
    recording::models::remove_copies(directory);
    Ok(lost)
}

fn keep_model(directory: &Path, module: &LoadedModule) -> Result<(), String> {
    let is_it = |kept: &StoredBinary| kept.build_id.as_ref().is_none_or(|id| *id == module.build_id);
    let copy = recording::models::copy(directory, &module.build_id);
    let kept = match StoredBinary::read(&copy).ok().filter(is_it) {
        Some(kept) => kept,
        None => StoredBinary::read(Path::new(&module.path)).map_err(|e| e.to_string())?,
    };
    if !is_it(&kept) {
        return Err(format!("keep the model of {}: it was built anew meanwhile", module.path));
    }
    let bytes = kept.encode().map_err(|e| e.to_string())?;
    recording::models::write(directory, &module.path, &module.build_id, &bytes).map_err(|e| e.to_string())
}

/// Whether a process still has files of this recording mapped. A zombie has none, and neither has a process
/// that replaced itself by an unrecorded program (`exec`).
fn records(name: &str, pid: u32) -> bool {
    maps(pid, format!("/{name}/").as_bytes())
}

/// Whether any process has files of the recording mapped that started after this one. Until a child has run
/// for the first time, it has its parent's files mapped and no directory of its own.
fn any_process_maps(directory: &Path) -> bool {
    let own = std::process::id();
    let (Ok(place), Some(since)) = (directory.canonicalize(), began(own)) else { return false };
    let place = place.join("p");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    let mut later = pids.filter(|pid| *pid != own && began(*pid) >= Some(since));
    later.any(|pid| maps(pid, place.as_os_str().as_encoded_bytes()))
}

/// The start time of a process, in ticks since boot.
fn began(pid: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain any character. The start time is field 22, the 20th after the
    // name.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    std::str::from_utf8(&stat[end + 1..]).ok()?.split_whitespace().nth(19)?.parse().ok()
}

fn maps(pid: u32, place: &[u8]) -> bool {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.windows(place.len()).any(|window| window == place)
}

fn summarise(directory: &Path, shown: &Path, summary: &Summary) {
    let work = match Recording::open(directory) {
        Ok(recording) => match work_done(&recording) {
            Work::Instructions(n) => format!("{} instructions", render::rough(n)),
            Work::Time(n) => {
                format!("{} time units (`relapse replay` counts instructions)", render::rough(n))
            }
        },
        Err(_) => "unreadable".to_owned(),
    };
    eprintln!(
        "relapse: recorded {}, {work}, {}, in {}",
        render::counted(summary.processes.len() as u64, "process"),
        render::bytes(summary.packed_bytes),
        shown.display()
    );
    if summary.opaque > 0 {
        eprintln!("relapse: {}", opaque(summary));
    }
}

/// The share of calls to code that is not recorded.
fn opaque(summary: &Summary) -> String {
    let share = summary.opaque as f64 * 100.0 / summary.calls.max(1) as f64;
    format!(
        "{share:.1}% of the calls out of recorded code ({} of {}) went to functions of which nothing is known",
        render::grouped(summary.opaque),
        render::grouped(summary.calls)
    )
}

enum Work {
    Instructions(u64),
    /// The instructions are not counted, since the replay would take too long.
    Time(u64),
}

fn work_done(recording: &Recording) -> Work {
    let time = recording.processes.iter().flat_map(|p| &p.streams).map(|s| s.header.reached()).sum();
    let counted = (time <= MAX_COUNTED_TIME)
        .then(|| super::replay::count_instructions(recording, Instant::now() + COUNT_TIMEOUT))
        .flatten();
    counted.map_or(Work::Time(time), Work::Instructions)
}

fn cannot_run(command: &[OsString], error: &std::io::Error) -> Failure {
    let name = command.first().map(|c| c.to_string_lossy().into_owned()).unwrap_or_default();
    // The exit codes that `env` and shells use.
    let code = if error.kind() == ErrorKind::NotFound { 127 } else { 126 };
    let failure = Failure::failed_to(Exit::OfCommand(code), format_args!("run {name}: {error}"));
    if !name.contains('/') && Path::new(&name).exists() {
        return failure.hint(format_args!("There is a file {name} here: did you mean ./{name}?"));
    }
    failure
}

fn nothing_recorded(command: &[OsString], exit: Exit) -> Failure {
    let name = command.first().map(|c| c.to_string_lossy().into_owned()).unwrap_or_default();
    // If the command is a shell, the program's name is one of its arguments.
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let mut programs =
        words.iter().flat_map(|word| std::iter::once(word.as_ref()).chain(word.split_whitespace()));
    let refused = programs
        .find_map(|program| Some((program, program::binary::unrecorded(&find(program)?).ok().flatten()?)));
    if let Some((program, reason)) = refused {
        let what = format_args!("nothing was recorded: {program} cannot be recorded because of {reason}");
        return Failure::new(exit, what).hint(
            "Recording is for x86-64 without sanitizers that rewrite memory (address, memory, thread, ...).\n\
             Build the program without that option, then record again.",
        );
    }
    Failure::new(exit, format_args!("nothing was recorded: no process of {name} was built with recording"))
        .hint("Build the program with `relapse cc` (CC=relapse-cc in most builds), then record again.")
}

/// The file that a command's name resolves to.
fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(name.into());
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(name)).find(|file| file.is_file())
}

fn incomplete(summary: &Summary, shown: &Path) -> Failure {
    let what = format!("the recording in {} is incomplete: {}", shown.display(), summary.faults[0]);
    let more = summary.faults.len() - 1;
    let mut hint = if more > 0 {
        format!("{} more like this.\n", render::counted(more as u64, "fault"))
    } else {
        String::new()
    };
    hint += "What was recorded before can be used as usual.";
    Failure::new(Exit::Incomplete, what).hint(hint)
}

fn raw_hint(shown: &Path) -> String {
    format!("What the program recorded is still in {} and can be used as it is.", shown.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shells_exit_codes_for_commands_that_cannot_run() {
        let code = |kind: ErrorKind| cannot_run(&["x".into()], &kind.into()).exit;
        assert_eq!(code(ErrorKind::NotFound), Exit::OfCommand(127));
        assert_eq!(code(ErrorKind::PermissionDenied), Exit::OfCommand(126));
    }
}

//! Runs of a command in its environment, recorded or semi-replayed.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::limits::{self, Limit};
use crate::place::PathMap;
use crate::record::{Bytes, Key, Record, Start};
use crate::replay::{Replay, Selection};
use crate::spawn::{Launch, Stream};
use crate::there::RecordIndex;
use crate::trace::{self, RunLimits};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A command and the environment that the caller gives it. Nothing else is used.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The words of the command, its name first; without a slash, the name is looked up in `PATH`.
    pub arguments: Vec<Bytes>,
    /// All its environment variables: name and value.
    pub variables: Vec<(Bytes, Bytes)>,
    /// The working directory, an absolute path.
    pub directory: PathBuf,
    /// Standard input, output and error.
    pub streams: [Stream; 3],
    /// Where they are not those of this process.
    pub limits: Vec<Limit>,
}

/// How a command would be started here.
pub fn start(command: &Command) -> Start {
    let given = |own: Limit| command.limits.iter().find(|limit| limit.0 == own.0).copied().unwrap_or(own);
    let limits = limits::own().into_iter().map(given).collect();
    let system = nix::sys::utsname::uname().map_or_else(
        |_| String::new(),
        |name| [name.sysname(), name.release(), name.machine()].map(|part| part.to_string_lossy()).join(" "),
    );
    Start {
        arguments: command.arguments.clone(),
        variables: command.variables.clone(),
        directory: command.directory.as_os_str().as_bytes().to_vec(),
        limits,
        mask: mask(),
        time: std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
        system,
    }
}

/// The file creation mask; read from `/proc`, because the system call returns it only by setting it.
fn mask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o022)
}

/// The file of a command's first word.
fn find_program(start: &Start, directory: &Path) -> Result<PathBuf> {
    let Some(word) = start.arguments.first().filter(|word| !word.is_empty()) else {
        return Err(Error::NotRun { program: String::new(), reason: "no command".to_owned() });
    };
    if word.contains(&b'/') {
        return Ok(directory.join(OsStr::from_bytes(word)));
    }
    let path = start.variables.iter().find(|(name, _)| name == b"PATH");
    let path = path.map_or(&b"/usr/local/bin:/usr/bin:/bin"[..], |(_, value)| value);
    let runs = |file: &PathBuf| {
        file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let mut candidates = path
        .split(|b| *b == b':')
        .map(|dir| directory.join(OsStr::from_bytes(dir)).join(OsStr::from_bytes(word)));
    candidates.find(runs).ok_or_else(|| Error::NotRun {
        program: String::from_utf8_lossy(word).into_owned(),
        reason: "there is no such command".to_owned(),
    })
}

fn home(variables: &[(Bytes, Bytes)]) -> Option<&[u8]> {
    variables.iter().find(|(name, _)| name == b"HOME").map(|(_, value)| value.as_slice())
}

/// The path mapping for a run here of something that may have been recorded elsewhere.
pub fn places(directory: &[u8], here: &Start, there: Option<&Start>) -> PathMap {
    let homes: Vec<&[u8]> =
        home(&here.variables).into_iter().chain(there.and_then(|start| home(&start.variables))).collect();
    PathMap::new(directory, &homes)
}

/// Runs a command and records its environment. `limit`: the time after which it is killed.
pub fn record(command: &Command, limit: Option<Duration>) -> Result<Record> {
    let start = start(command);
    let places = places(&start.directory, &start, None);
    let mut engine = Engine::new(places, None);
    let run_limits = RunLimits { limit, kill_rest: limit.is_some() };
    let launch = Launch {
        program: find_program(&start, &command.directory)?,
        arguments: start.arguments.clone(),
        variables: start.variables.clone(),
        directory: command.directory.clone(),
        limits: command.limits.clone(),
        mask: None,
        streams: command.streams.clone(),
    };
    let end = trace::run(&launch, &mut engine, run_limits)?;
    let mut record = engine.builder.record;
    record.start = start;
    record.end = end;
    Ok(record)
}

/// One run here with the chosen things as recorded.
pub fn semi_replay(
    command: &Command,
    here: &Start,
    there: &RecordIndex<'_>,
    chosen: &Selection,
    limit: Duration,
) -> Result<Record> {
    let folder = tempfile::tempdir().map_err(|source| Error::Write { path: std::env::temp_dir(), source })?;
    let recorded = &there.record.start;
    let mut start = here.clone();
    let mut streams = command.streams.clone();
    let mut limits = command.limits.clone();
    let mut mask = None;
    let mut arguments = Vec::new();
    let mut notes = Vec::new();
    for id in &chosen.keys {
        match there.record.key(*id) {
            Key::Variable(name) => {
                start.variables.retain(|(n, _)| n != name);
                let value = recorded.variables.iter().find(|(n, _)| n == name).map(|(_, value)| value);
                let value = chosen.contents.get(id).or(value);
                start.variables.extend(value.map(|value| (name.clone(), value.clone())));
            }
            Key::Argument(number) => arguments.push(*number as usize),
            Key::Limit(number) => {
                let wanted = recorded.limits.iter().find(|(n, ..)| n == number);
                let own = here.limits.iter().find(|(n, ..)| n == number);
                if let (Some((_, soft, hard)), Some((_, _, own_hard))) = (wanted, own) {
                    let (possible, note) = limits::possible((*number, *soft, *hard), *own_hard);
                    notes.extend(note);
                    limits.retain(|limit| limit.0 != *number);
                    limits.push(possible);
                }
            }
            Key::Mask => mask = Some(recorded.mask),
            Key::Stream(0) => {
                let path = folder.path().join("stdin");
                let bytes = chosen.contents.get(id).cloned().unwrap_or_else(|| there.received(*id));
                std::fs::write(&path, bytes).map_err(|source| Error::Write { path: path.clone(), source })?;
                streams[0] = Stream::File(path);
            }
            _ => {}
        }
    }
    arguments.sort_unstable();
    for number in arguments {
        match recorded.arguments.get(number) {
            Some(word) if number < start.arguments.len() => start.arguments[number] = word.clone(),
            Some(word) => start.arguments.push(word.clone()),
            None => start.arguments.truncate(number),
        }
    }
    let places = places(&here.directory, here, Some(recorded));
    let replay = Replay::new(there, chosen, &places, &folder.path().join("root"));
    let mut engine = Engine::new(places, Some(replay));
    notes.into_iter().for_each(|note| engine.builder.note(note));
    let launch = Launch {
        program: find_program(&start, &command.directory)?,
        arguments: start.arguments.clone(),
        variables: start.variables.clone(),
        directory: command.directory.clone(),
        limits,
        mask,
        streams,
    };
    let end = trace::run(&launch, &mut engine, RunLimits { limit: Some(limit), kill_rest: true })?;
    let mut record = engine.builder.record;
    record.start = start;
    record.end = end;
    Ok(record)
}

//! Runs a recorded program again with another input, under recording.

use crate::error::Untried;
use crate::run::main_thread;
use recording::process::ProcessInfo;
use recording::{Process, Recording};
use replay::process::{LoadedProcess, Options};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use symbolic::{Input, Origin};

/// The runtime in the program records into the directory named by this variable.
const DIRECTORY: &str = "RELAPSE_RECORD_DIR";
/// Maximum size of the output that is kept.
const MAX_OUTPUT: u64 = 1 << 26;
/// The capacity that every pipe has at least.
const MIN_PIPE_CAPACITY: usize = 4096;
/// Maximum and initial interval of polling a running program: short programs end soon.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
const FIRST_POLL_INTERVAL: Duration = Duration::from_micros(50);

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It exited with this status.
    Exit(i32),
    /// It was killed by this signal.
    Signal(i32),
    /// It was killed at the timeout.
    TimedOut,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Exit(code) => write!(f, "exit {code}"),
            Status::Signal(number) => write!(f, "signal {number}"),
            Status::TimedOut => f.write_str("no end in time"),
        }
    }
}

/// The observable behaviour of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How the run ended.
    pub status: Status,
    /// The standard output, at most 64 MiB of it.
    pub stdout: Vec<u8>,
}

/// The recorded run of a program with another input.
pub struct Rerun {
    /// The recorded process.
    pub recorded: Process,
    /// The same process, loaded.
    pub process: LoadedProcess,
    /// The number of the main thread's stream.
    pub stream: u32,
    /// The observable behaviour.
    pub ended: Ended,
}

/// Runs recorded programs again.
pub trait Runner {
    /// Stores facts about a recorded process for later runs: its environment, the files it read.
    fn remember(&mut self, recorded: &Process, path: &symbolic::Path) {
        let _ = (recorded, path);
    }

    /// Runs the program of a recorded process with an input. `written`: files that it writes to, whose
    /// originals must not change.
    ///
    /// # Errors
    /// If the program could not be run. A failing program is not an error.
    fn run(&mut self, recorded: &Process, input: &Input, written: &[String]) -> Result<Rerun, Untried>;
}

/// Runs programs natively: with the recorded environment as far as it is known, under the recorded
/// resource limits, and each in a copy of its directory, so that nothing is left there.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Where directories for runs are created.
    scratch: PathBuf,
    /// Timeout of a run.
    timeout: Duration,
    /// By the identity of the recorded process.
    recorded_context: HashMap<String, RecordedContext>,
}

/// The environment and the files of a recorded process.
#[derive(Clone, Debug)]
struct RecordedContext {
    environment: Vec<(String, Vec<u8>)>,
    /// Files that it read.
    read: Vec<String>,
}

impl Recorder {
    /// Runs in directories below `scratch`, each for at most `timeout`.
    #[must_use]
    pub fn new(scratch: PathBuf, timeout: Duration) -> Recorder {
        Recorder { scratch, timeout, recorded_context: HashMap::new() }
    }
}

fn failed(what: &str) -> impl Fn(std::io::Error) -> Untried + '_ {
    move |e| Untried::Failed(format!("{what}: {e}"))
}

impl Runner for Recorder {
    fn remember(&mut self, recorded: &Process, path: &symbolic::Path) {
        let recorded_context =
            RecordedContext { environment: path.environment.clone(), read: path.read.clone() };
        self.recorded_context.insert(recorded.info.identity.clone(), recorded_context);
    }

    fn run(&mut self, recorded: &Process, input: &Input, written: &[String]) -> Result<Rerun, Untried> {
        self.record(&recorded.info, input, written)
    }
}

impl Recorder {
    /// Runs a program under recording.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn record(&self, info: &ProcessInfo, input: &Input, written: &[String]) -> Result<Rerun, Untried> {
        let staged = self.stage(info, input, written, true)?;
        let Some(scratch) = &staged.scratch else { return Err(Untried::NoDirectory(info.directory.clone())) };
        let record = scratch.path().join("recording");
        std::fs::create_dir(&record).map_err(failed("no directory for the recording could be made"))?;
        let ended = self.execute(info, input, &staged, Some(&record))?;
        let mut recording =
            Recording::open(&record).map_err(|e| Untried::Failed(format!("failed to {e}")))?;
        let same = |p: &Process| p.info.executable == info.executable;
        let number = recording.processes.iter().position(same).unwrap_or(0);
        let recorded = recording.processes.get(number);
        let recorded = recorded.ok_or_else(|| Untried::Failed("the run recorded nothing".to_owned()))?;
        let process = LoadedProcess::load(&recording, recorded, &Options::default())
            .map_err(|e| Untried::Failed(format!("failed to {e}")))?;
        let stream = main_thread(&process);
        let recorded = recording.processes.swap_remove(number);
        Ok(Rerun { recorded, process, stream, ended })
    }
}

/// A prepared run.
struct Staged {
    /// `None` if no file had to be staged.
    scratch: Option<tempfile::TempDir>,
    directory: PathBuf,
    arguments: Vec<Vec<u8>>,
}

/// The result of a run without recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainRun {
    /// The observable behaviour.
    pub ended: Ended,
    /// The named files after the run; `None` if a file did not exist.
    pub files: Vec<(String, Option<Vec<u8>>)>,
}

impl Recorder {
    /// Runs a program without recording it. If it reads or writes files (`written`), it runs in a copy of its
    /// directory.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn plain(&self, info: &ProcessInfo, input: &Input, written: &[String]) -> Result<PlainRun, Untried> {
        let needs_copy = !written.is_empty() || input.files().next().is_some();
        let staged = self.stage(info, input, written, needs_copy)?;
        let ended = self.execute(info, input, &staged, None)?;
        let files =
            written.iter().map(|path| (path.clone(), std::fs::read(staged.directory.join(path)).ok()));
        Ok(PlainRun { ended, files: files.collect() })
    }

    fn scratch(&self) -> Result<tempfile::TempDir, Untried> {
        tempfile::Builder::new()
            .prefix("relapse-alternate-")
            .tempdir_in(&self.scratch)
            .map_err(failed("no directory for the run could be made"))
    }

    fn stage(
        &self,
        info: &ProcessInfo,
        input: &Input,
        written: &[String],
        needs_copy: bool,
    ) -> Result<Staged, Untried> {
        if info.executable.is_empty() {
            return Err(Untried::NoProgram);
        }
        if info.forked_from.is_some() {
            return Err(Untried::Forked);
        }
        if !Path::new(&info.executable).exists() {
            return Err(Untried::Gone(info.executable.clone()));
        }
        if !Path::new(&info.directory).is_dir() {
            return Err(Untried::NoDirectory(info.directory.clone()));
        }
        if let Some(stream) = input.parts.keys().find(|o| matches!(o, Origin::Stream(..))) {
            return Err(Untried::Stream(stream.name()));
        }
        let mut arguments = input.arguments(info);
        let mut directory = PathBuf::from(&info.directory);
        let scratch = if needs_copy { Some(self.scratch()?) } else { None };
        if let Some(scratch) = &scratch {
            directory = scratch.path().join("directory");
            let read = self.recorded_context.get(&info.identity).map_or(&[][..], |s| &s.read);
            let copied: Vec<String> = written.iter().chain(read).cloned().collect();
            input
                .stage(info, &copied, &directory)
                .map_err(failed("the working directory could not be copied"))?;
            replace_inside(input, written, &mut arguments, Path::new(&info.directory), &directory);
            replace_outside(input, &mut arguments, scratch.path())?;
        }
        Ok(Staged { scratch, directory, arguments })
    }

    fn execute(
        &self,
        info: &ProcessInfo,
        input: &Input,
        staged: &Staged,
        record: Option<&Path>,
    ) -> Result<Ended, Untried> {
        let mut command = Command::new(&info.executable);
        let mut arguments = staged.arguments.iter().cloned().map(OsString::from_vec);
        if let Some(name) = arguments.next() {
            command.arg0(name);
        }
        command.args(arguments);
        // The environment is unknown if the program was not instrumented from its start.
        let known = self.recorded_context.get(&info.identity).map(|s| &s.environment);
        if let Some(recorded) = known.filter(|environment| !environment.is_empty()) {
            command.env_clear();
            command.envs(recorded.iter().map(|(n, v)| (n, OsString::from_vec(v.clone()))));
        }
        for (name, value) in input.environment() {
            command.env(name, OsString::from_vec(value.to_vec()));
        }
        match record {
            Some(directory) => command.env(DIRECTORY, directory),
            None => command.env_remove(DIRECTORY),
        };
        let limits = info.limits.iter().map(|limit| (limit.resource, limit.soft, limit.hard));
        environment::limits::set(&mut command, limits).map_err(Untried::Limit)?;
        command.current_dir(&staged.directory).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().map_err(failed("it could not be started"))?;
        watch(child, input.stdin().to_vec(), self.timeout).map_err(failed("it was lost"))
    }
}

/// Replaces arguments that are absolute paths of changed files in the working directory by the staged paths.
fn replace_inside(input: &Input, written: &[String], arguments: &mut [Vec<u8>], from: &Path, to: &Path) {
    let files = input.files().map(|(path, _)| path).chain(written.iter().map(String::as_str));
    for path in files.filter(|path| !path.starts_with('/')) {
        let whole = from.join(path).into_os_string().into_vec();
        for argument in arguments.iter_mut().skip(1).filter(|a| **a == whole) {
            *argument = to.join(path).into_os_string().into_vec();
        }
    }
}

/// Files with absolute paths cannot be staged in the working directory. If an argument names one, a copy
/// replaces it.
fn replace_outside(input: &Input, arguments: &mut [Vec<u8>], scratch: &Path) -> Result<(), Untried> {
    for (number, (path, bytes)) in input.files().filter(|(path, _)| path.starts_with('/')).enumerate() {
        let named = arguments.iter_mut().skip(1).filter(|a| a.as_slice() == path.as_bytes());
        let mut any = false;
        let directory = scratch.join(format!("file{number}"));
        let copy = directory.join(Path::new(path).file_name().unwrap_or_default());
        for argument in named {
            any = true;
            *argument = copy.clone().into_os_string().into_vec();
        }
        if !any {
            // The content is unchanged, so nothing needs to be replaced.
            if std::fs::read(path).is_ok_and(|now| now == bytes) {
                continue;
            }
            return Err(Untried::Outside(path.to_owned()));
        }
        std::fs::create_dir(&directory)
            .and_then(|()| std::fs::write(&copy, bytes))
            .map_err(failed("a file could not be copied"))?;
    }
    Ok(())
}

/// Feeds a program its standard input and waits for its end.
fn watch(mut child: Child, stdin: Vec<u8>, timeout: Duration) -> std::io::Result<Ended> {
    let input = child.stdin.take();
    let fits = stdin.len() <= MIN_PIPE_CAPACITY;
    // A program may exit before it reads all of its input, and one that does not read at all must not block
    // the caller. What fits into a pipe is written at once; a thread writes longer input.
    let write = move || {
        if let Some(mut input) = input {
            let _ = input.write_all(&stdin);
        }
    };
    let writer = if fits {
        write();
        None
    } else {
        Some(std::thread::spawn(write))
    };
    let output = child.stdout.take();
    let reader: JoinHandle<Vec<u8>> = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut output) = output {
            let _ = output.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes);
            let _ = std::io::copy(&mut output, &mut std::io::sink());
        }
        bytes
    });
    let deadline = Instant::now() + timeout;
    let mut turn = FIRST_POLL_INTERVAL;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break of(status);
        }
        if Instant::now() >= deadline {
            end_group(&child);
            child.wait()?;
            break Status::TimedOut;
        }
        std::thread::sleep(turn);
        turn = (turn * 2).min(POLL_INTERVAL);
    };
    // Kill the processes that it started, so that none writes any more.
    end_group(&child);
    let _ = writer.map(JoinHandle::join);
    let stdout = reader.join().unwrap_or_default();
    Ok(Ended { status, stdout })
}

fn end_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn of(status: ExitStatus) -> Status {
    let exit = status.code().map(Status::Exit);
    exit.or_else(|| status.signal().map(Status::Signal)).unwrap_or(Status::Exit(-1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, stdin: &str, timeout: u64) -> Ended {
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        watch(child, stdin.as_bytes().to_vec(), Duration::from_millis(timeout)).unwrap()
    }

    #[test]
    fn what_is_seen_of_a_run() {
        let ended = shell("read x; echo \"got $x\"; exit 3", "words\nmore", 10_000);
        assert_eq!(ended, Ended { status: Status::Exit(3), stdout: b"got words\n".to_vec() });
        assert_eq!(shell("kill -SEGV $$", "", 10_000).status, Status::Signal(11));
    }

    #[test]
    fn a_run_without_end_is_ended_with_all_it_started() {
        let started = Instant::now();
        let ended = shell("echo begun; sleep 100 & sleep 100", "", 200);
        assert_eq!(ended, Ended { status: Status::TimedOut, stdout: b"begun\n".to_vec() });
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}

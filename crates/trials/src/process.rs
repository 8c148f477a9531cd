//! Runs a shell command such that no process of it survives.
//!
//! A command gets its own process group and a mark in its environment. When it ends or is stopped, every
//! process of the group is killed, and every process with the mark: one that left the group (`setsid`) still
//! has it.

use crate::error::{At, Error};
use crate::process_marks::{self, Mark};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, kill_process_group, waitid,
};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A command to run.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// A program and its arguments.
    pub command: Vec<OsString>,
    /// The directory in which it runs.
    pub directory: &'a Path,
    /// Added to the inherited environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Removed from it.
    pub without: &'a [&'a str],
    /// Standard input; empty if `None`.
    pub stdin: Option<&'a Path>,
    /// File for standard output, created or emptied; may be that of standard error.
    pub stdout: &'a Path,
    /// As `stdout`, for standard error.
    pub stderr: &'a Path,
    /// Beyond these it is stopped.
    pub limits: Limits,
    /// How it is stopped.
    pub ending: Ending,
}

/// A command line as a program and its arguments.
#[must_use]
pub fn shell(text: &str) -> Vec<OsString> {
    ["sh", "-c", text].map(OsString::from).to_vec()
}

/// Resource limits of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Address space of each process, in bytes.
    pub memory: Option<u64>,
    /// Bytes of standard output and standard error, each.
    pub output: Option<u64>,
}

/// How a command that exceeds a limit is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ending {
    /// All processes receive `SIGTERM`, and are killed if they do not end.
    #[default]
    Terminate,
    /// The leader is a recorder: all *other* processes are killed immediately, and the leader gets time to
    /// pack what they recorded up to then.
    KillChildrenFirst,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It ended by itself, with this exit status.
    Exit(i32),
    /// It was killed by a signal with this number, which did not come from a limit here.
    Signal(i32),
    /// It exceeded the time limit.
    TimedOut,
    /// It exceeded the output limit.
    OutputLimit,
    /// A stop was requested.
    Cancelled,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// How it ended.
    pub status: Status,
    /// Wall-clock time until no process of it was left.
    pub seconds: f64,
    /// Processor time of the command and all children it waited for, in seconds.
    pub cpu: f64,
    /// The file of [`Job::stdout`].
    pub stdout: PathBuf,
    /// The file of [`Job::stderr`].
    pub stderr: PathBuf,
}

/// A source of stop requests.
pub trait Stop: Sync {
    /// Whether a stop was requested; polled while a command runs.
    fn stopped(&self) -> bool;
}

impl Stop for AtomicBool {
    fn stopped(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// Time between `SIGTERM` and the kill.
const GRACE: Duration = Duration::from_millis(500);
/// Time for a recorder to pack a recording.
const PACKING: Duration = Duration::from_secs(120);

/// Runs a job to its end. A command that fails, hangs or cannot be found is not an error, see
/// [`Ran::status`].
///
/// # Errors
/// If files cannot be created or no process can be started.
pub fn run(job: &Job, stop: &dyn Stop) -> Result<Ran, Error> {
    let mark = Mark::new();
    let started = Instant::now();
    let mut child = spawn(job, &mark)?;
    let pid = Pid::from_child(&child);
    let (status, ended) = loop {
        if let Some(status) = peek(pid) {
            break (status, true);
        }
        let elapsed = started.elapsed();
        if stop.stopped() {
            break (Status::Cancelled, false);
        }
        if job.limits.time.is_some_and(|limit| elapsed > limit) {
            break (Status::TimedOut, false);
        }
        if job.limits.output.is_some_and(|limit| length(job.stdout) > limit || length(job.stderr) > limit) {
            break (Status::OutputLimit, false);
        }
        // The end of a short command is noticed quickly, and polling a long one is cheap.
        std::thread::sleep((elapsed / 20).clamp(Duration::from_micros(200), Duration::from_millis(20)));
    };
    if !ended {
        end(pid, &mark, job.ending, status);
    }
    // Done before the leader is reaped, because its number cannot be reused for another group until then.
    let _ = kill_process_group(pid, Signal::KILL);
    // Available until the process is reaped.
    let cpu = cpu_time(pid);
    let _ = child.wait();
    process_marks::kill_marked(&mark);
    Ok(Ran {
        status,
        seconds: started.elapsed().as_secs_f64(),
        cpu,
        stdout: job.stdout.to_owned(),
        stderr: job.stderr.to_owned(),
    })
}

/// The kernel's accounting for a process and the children it waited for.
fn cpu_time(pid: Pid) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // The name in parentheses may contain anything; fields are counted after it.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
    let ticks: f64 = fields.skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |m| m.len())
}

/// A shell sets the limits before the command starts. A limit that is already lower is kept.
const LIMITED: &str =
    "ulimit -c 0 2>/dev/null; test \"$1\" = 0 || ulimit -v \"$1\" 2>/dev/null; shift; exec \"$@\"";

fn spawn(job: &Job, mark: &Mark) -> Result<Child, Error> {
    let mut command = Command::new("sh");
    let kibibytes = job.limits.memory.map_or(0, |bytes| (bytes / 1024).max(1));
    command.args(["-c", LIMITED, "sh"]).arg(kibibytes.to_string()).args(&job.command);
    for name in job.without {
        command.env_remove(name);
    }
    command.envs(job.environment.iter().map(|(k, v)| (k, v)));
    command.env(Mark::VARIABLE, mark.text());
    command.current_dir(job.directory).process_group(0);
    command.stdin(match job.stdin {
        Some(path) => Stdio::from(File::open(path).at("open", path)?),
        None => Stdio::null(),
    });
    let stdout = create(job.stdout)?;
    let stderr = if job.stdout == job.stderr {
        stdout.try_clone().at("share", job.stderr)?
    } else {
        create(job.stderr)?
    };
    command.stdout(stdout).stderr(stderr);
    command.spawn().map_err(|source| Error::Start { command: "sh".to_owned(), source })
}

/// Creates an empty file opened for appending: a command that opens `/dev/stdout` itself does not overwrite
/// earlier output.
fn create(path: &Path) -> Result<File, Error> {
    File::create(path).at("create", path)?;
    OpenOptions::new().append(true).open(path).at("open", path)
}

/// The status of the leader, if it has ended; it is not reaped.
fn peek(pid: Pid) -> Option<Status> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status: WaitIdStatus = waitid(WaitId::Pid(pid), options).ok().flatten()?;
    let signal = || status.terminating_signal().map(Status::Signal);
    status.exit_status().map(Status::Exit).or_else(signal)
}

fn end(pid: Pid, mark: &Mark, ending: Ending, why: Status) {
    match ending {
        Ending::Terminate => {
            let _ = kill_process_group(pid, Signal::TERM);
            wait(pid, GRACE);
        }
        // The recording of a cancelled run is not needed.
        Ending::KillChildrenFirst if why == Status::Cancelled => {
            let _ = kill_process(pid, Signal::KILL);
        }
        Ending::KillChildrenFirst => {
            process_marks::kill_all_but(pid, mark);
            wait(pid, PACKING);
        }
    }
}

fn wait(pid: Pid, limit: Duration) {
    let deadline = Instant::now() + limit;
    while peek(pid).is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
}

//! Commands end, and none of their processes survives.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trials::Status;
use trials::process::{Ending, Job, Limits, Ran, run, shell};

struct Sandbox {
    dir: tempfile::TempDir,
    stop: AtomicBool,
    environment: Vec<(OsString, OsString)>,
}

impl Sandbox {
    fn new() -> Sandbox {
        Sandbox { dir: tempfile::tempdir().unwrap(), stop: AtomicBool::new(false), environment: Vec::new() }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn run(&self, text: &str, limits: Limits) -> Ran {
        let (stdout, stderr) = (self.path().join("out"), self.path().join("err"));
        let job = Job {
            command: shell(text),
            directory: self.path(),
            environment: self.environment.clone(),
            without: &["HOME"],
            stdin: None,
            stdout: &stdout,
            stderr: &stderr,
            limits,
            ending: Ending::Terminate,
        };
        run(&job, &self.stop).unwrap()
    }

    fn out(&self) -> String {
        std::fs::read_to_string(self.path().join("out")).unwrap()
    }
}

fn timed(ms: u64) -> Limits {
    Limits { time: Some(Duration::from_millis(ms)), ..Limits::default() }
}

/// Whether a process runs with this word in its command line.
fn runs(word: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // The kernel lists a killed process until it is reaped, without a command line.
        String::from_utf8_lossy(&line).split('\0').any(|w| w == word)
    })
}

fn is_gone(word: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while runs(word) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    !runs(word)
}

#[test]
fn status_outputs_and_environment() {
    let mut sandbox = Sandbox::new();
    sandbox.environment.push(("X".into(), "a value".into()));
    let ran =
        sandbox.run("echo \"$X\"; echo ${HOME-none}; pwd; cat; echo wrong >&2; exit 3", Limits::default());
    assert_eq!(ran.status, Status::Exit(3));
    let here = sandbox.path().canonicalize().unwrap();
    assert_eq!(sandbox.out(), format!("a value\nnone\n{}\n", here.display()));
    assert_eq!(std::fs::read_to_string(&ran.stderr).unwrap(), "wrong\n");
    assert_eq!(sandbox.run("kill -SEGV $$", Limits::default()).status, Status::Signal(11));
    assert_eq!(sandbox.run("no-such-program-at-all", Limits::default()).status, Status::Exit(127));
}

#[test]
fn one_that_hangs_is_ended_with_all_its_children() {
    let sandbox = Sandbox::new();
    let began = Instant::now();
    let ran = sandbox.run("echo begun; sleep 4711.1 & sh -c 'sleep 4711.2; true'; true", timed(300));
    assert_eq!(ran.status, Status::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(sandbox.out(), "begun\n");
    assert!(is_gone("4711.1") && is_gone("4711.2"));
}

#[test]
fn one_that_does_not_want_to_end_is_killed() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("trap '' TERM; while :; do sleep 4712.1; done", timed(200));
    assert_eq!(ran.status, Status::TimedOut);
    assert!(is_gone("4712.1"));
}

#[test]
fn what_stays_behind_after_a_normal_end_is_killed() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("sleep 4713.1 & setsid sleep 4713.2 & echo done", Limits::default());
    assert_eq!(ran.status, Status::Exit(0));
    assert_eq!(sandbox.out(), "done\n");
    assert!(is_gone("4713.1"));
    assert!(is_gone("4713.2"), "leaving the group does not help");
}

#[test]
fn it_can_be_called_off() {
    let sandbox = Sandbox::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            sandbox.stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(sandbox.run("sleep 4714.1; true", Limits::default()).status, Status::Cancelled);
    });
    assert!(is_gone("4714.1"));
}

#[test]
fn one_that_does_not_stop_writing_is_stopped() {
    let sandbox = Sandbox::new();
    let limits = Limits { output: Some(1 << 20), ..timed(20_000) };
    assert_eq!(sandbox.run("yes", limits).status, Status::OutputLimit);
    assert_eq!(sandbox.run("yes >&2", limits).status, Status::OutputLimit);
    // No more than is written between two polls.
    assert!(sandbox.path().join("err").metadata().unwrap().len() < 4 << 30);
}

#[test]
fn memory_is_limited() {
    let sandbox = Sandbox::new();
    let limits = Limits { memory: Some(100 << 20), ..Limits::default() };
    sandbox.run("ulimit -v", limits);
    assert_eq!(sandbox.out().trim(), (100 * 1024).to_string());
    let much = "dd if=/dev/zero of=/dev/null bs=200M count=1";
    assert_ne!(sandbox.run(much, limits).status, Status::Exit(0));
    assert_eq!(sandbox.run(much, Limits::default()).status, Status::Exit(0));
}

#[test]
fn no_core_is_left() {
    let sandbox = Sandbox::new();
    sandbox.run("ulimit -c", Limits::default());
    assert_eq!(sandbox.out(), "0\n");
}

//! One traced run: the loop that waits for stops and handles them.

use crate::engine::{Engine, Resume, Thread};
use crate::error::{Error, Result};
use crate::record::End;
use crate::spawn::{self, Launch};
use crate::tracee::{self, Stop, Tid};
use nix::libc;
use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time limit of a run, and how its remaining processes are handled.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    pub limit: Option<Duration>,
    /// Processes that remain after the command has ended are killed; otherwise the run waits for them.
    pub kill_rest: bool,
}

type LiveThreads = Arc<Mutex<HashSet<Tid>>>;

fn alive(set: &LiveThreads) -> std::sync::MutexGuard<'_, HashSet<Tid>> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Run<'e, 'r> {
    engine: &'e mut Engine<'r>,
    threads: HashMap<Tid, Thread>,
    /// Threads that stopped before the event that announces them.
    unannounced: HashSet<Tid>,
    alive: LiveThreads,
    made: u32,
    began: bool,
}

/// Runs a command to its end.
pub fn run(launch: &Launch, engine: &mut Engine<'_>, run_limits: RunLimits) -> Result<End> {
    let began = Instant::now();
    let child = spawn::spawn(launch)?;
    let root = child.tid;
    let mut run = Run {
        engine,
        threads: HashMap::from([(root, Thread::first(root, &launch.directory))]),
        unannounced: HashSet::new(),
        alive: Arc::new(Mutex::new(HashSet::from([root]))),
        made: 0,
        began: false,
    };
    let watchdog = run_limits.limit.map(|limit| Watchdog::new(limit, Arc::clone(&run.alive)));
    let mut status = None;
    while let Some((tid, stop)) =
        tracee::wait().map_err(|source| Error::Trace { step: "waiting for the command", source })?
    {
        if let Some(ended) = run.stopped(tid, stop)
            && tid == root
        {
            status = Some(ended);
        }
        // At every stop from then on, since new processes may have appeared.
        if status.is_some() && run_limits.kill_rest {
            alive(&run.alive).iter().for_each(|tid| tid.kill());
        }
    }
    let timed_out = watchdog.is_some_and(Watchdog::stop);
    if !run.began
        && let Some(error) = child.failure(&launch.program)
    {
        return Err(error);
    }
    Ok(End {
        status: status.unwrap_or(0),
        timed_out,
        output: run.engine.output(),
        output_bytes: run.engine.output_bytes,
        milliseconds: began.elapsed().as_millis() as u64,
    })
}

impl Run<'_, '_> {
    /// Handles one stop. Returns the exit status of the thread if it has ended.
    fn stopped(&mut self, tid: Tid, stop: Stop) -> Option<u8> {
        match stop {
            Stop::Exited(status) => return Some(self.gone(tid, status)),
            Stop::Killed(signal) => return Some(self.gone(tid, 128u8.wrapping_add(signal))),
            Stop::Entry => self.entry(tid),
            Stop::Exit => {
                if let Some(thread) = self.threads.get_mut(&tid) {
                    // `wait` reports a thread that was killed meanwhile.
                    let _ = self.engine.exit(thread);
                }
                tid.go(0);
            }
            Stop::Forked => self.forked(tid),
            Stop::Execed => self.execed(tid),
            Stop::Paused(signal) => self.paused(tid, signal),
            Stop::Signal(signal) => self.resume_thread(tid, signal),
            Stop::Other => self.resume_thread(tid, 0),
        }
        None
    }

    fn gone(&mut self, tid: Tid, status: u8) -> u8 {
        self.threads.remove(&tid);
        self.engine.server.forget(tid.0);
        self.unannounced.remove(&tid);
        alive(&self.alive).remove(&tid);
        status
    }

    fn entry(&mut self, tid: Tid) {
        let next = match self.threads.get_mut(&tid) {
            Some(thread) => self.engine.entry(thread).unwrap_or(Resume::Go),
            None => Resume::Go,
        };
        match next {
            Resume::Go => tid.go(0),
            Resume::ToExit => tid.resume_to_exit(0),
        }
    }

    /// Resumes a thread: inside a call, to its exit; otherwise, to its next call.
    fn resume_thread(&self, tid: Tid, signal: i32) {
        match self.threads.get(&tid).is_some_and(|thread| thread.pending.is_some()) {
            true => tid.resume_to_exit(signal),
            false => tid.go(signal),
        }
    }

    fn forked(&mut self, parent: Tid) {
        if let Ok(message) = parent.message() {
            let tid = Tid(message as i32);
            let flags = clone_flags(parent);
            if flags & OTHER_VIEWS as u64 != 0 {
                self.engine.server.part();
            }
            self.made += 1;
            if let Some(thread) = self.threads.get(&parent) {
                let mut child = thread.child(tid, self.made, flags);
                alive(&self.alive).insert(tid);
                if self.unannounced.remove(&tid) {
                    child.started = true;
                    tid.go(0);
                }
                self.threads.insert(tid, child);
            }
        }
        self.resume_thread(parent, 0);
    }

    fn paused(&mut self, tid: Tid, signal: i32) {
        match self.threads.get_mut(&tid) {
            None => {
                self.unannounced.insert(tid);
            }
            Some(thread) if !thread.started => {
                thread.started = true;
                tid.go(0);
            }
            Some(_) if matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => {
                tid.listen();
            }
            Some(_) => self.resume_thread(tid, 0),
        }
    }

    fn execed(&mut self, tid: Tid) {
        self.began = true;
        // The thread that called `exec` takes the number of the first one, which is gone.
        if let Ok(former) = tid.message()
            && former as i32 != tid.0
            && let Some(mut thread) = self.threads.remove(&Tid(former as i32))
        {
            thread.tid = tid;
            alive(&self.alive).remove(&Tid(former as i32));
            self.threads.insert(tid, thread);
        }
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.replaced(tid.0);
        }
        if tid.hide_vdso().is_err() {
            self.engine.builder.note("the time a program asked for without a system call".to_owned());
        }
        self.resume_thread(tid, 0);
    }
}

/// With these flags a new process sees other files than its parent, or has other rights.
const OTHER_VIEWS: i32 = libc::CLONE_NEWNS | libc::CLONE_NEWUSER;

/// The flags with which a thread creates another.
fn clone_flags(parent: Tid) -> u64 {
    let Ok(registers) = parent.registers() else { return 0 };
    match registers.orig_rax as i64 {
        libc::SYS_clone => registers.rdi,
        libc::SYS_clone3 => parent.word(registers.rdi).unwrap_or(0),
        libc::SYS_vfork => (libc::CLONE_VM | libc::CLONE_VFORK) as u64,
        _ => 0,
    }
}

/// Kills a run that exceeds its time limit.
struct Watchdog {
    done: mpsc::Sender<()>,
    thread: std::thread::JoinHandle<bool>,
}

impl Watchdog {
    fn new(limit: Duration, threads: LiveThreads) -> Watchdog {
        let (done, waiting) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            if waiting.recv_timeout(limit) != Err(RecvTimeoutError::Timeout) {
                return false;
            }
            // Processes created meanwhile are killed by the next iteration.
            loop {
                alive(&threads).iter().for_each(|tid| tid.kill());
                if waiting.recv_timeout(Duration::from_millis(50)) != Err(RecvTimeoutError::Timeout) {
                    return true;
                }
            }
        });
        Watchdog { done, thread }
    }

    /// Stops the watchdog; returns whether it killed the run.
    fn stop(self) -> bool {
        drop(self.done);
        self.thread.join().unwrap_or(false)
    }
}

//! Starts a command so that it is traced from its first instruction.
//!
//! The child waits on a pipe until it is seized, applies its settings (directory, limits, mask, filter), and
//! executes the command. Errors are reported through a second pipe.

#![allow(unsafe_code)]

use crate::error::{Error, Result};
use crate::filter;
use crate::limits::Limit;
use crate::tracee::Tid;
use nix::libc::{self, c_char};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Source or target of a standard stream of the command.
#[derive(Clone, Debug, Default)]
pub enum Stream {
    /// The stream of this process.
    #[default]
    Inherit,
    /// `/dev/null`.
    Null,
    /// A file; for output it is created or truncated.
    File(PathBuf),
}

/// A command and its start conditions.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<Vec<u8>>,
    pub variables: Vec<(Vec<u8>, Vec<u8>)>,
    pub directory: PathBuf,
    /// Number, soft and hard limit.
    pub limits: Vec<(u32, u64, u64)>,
    pub mask: Option<u32>,
    pub streams: [Stream; 3],
}

/// Steps of the child that can fail, indexed by the number that it sends.
const STEPS: [&str; 6] = [
    "waiting to be traced",
    "entering the directory",
    "setting a limit",
    "installing a seccomp filter",
    "exec",
    "opening a standard stream",
];

fn pipe() -> Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors, which no other code uses.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
        return Err(Error::Trace { step: "making a pipe", source: io::Error::last_os_error() });
    }
    // SAFETY: as above.
    Ok(unsafe { (File::from(OwnedFd::from_raw_fd(ends[0])), File::from(OwnedFd::from_raw_fd(ends[1]))) })
}

fn text(bytes: &[u8], program: &Path) -> Result<CString> {
    CString::new(bytes).map_err(|_| Error::NotRun {
        program: program.display().to_string(),
        reason: "a text has a zero byte in it".to_owned(),
    })
}

/// Everything that the child needs, allocated before the fork: it must not allocate.
struct Prepared {
    program: CString,
    arguments: Vec<CString>,
    variables: Vec<CString>,
    directory: CString,
    files: [Option<File>; 3],
    filter: Vec<libc::sock_filter>,
}

fn stream(stream: &Stream, number: usize) -> Result<Option<File>> {
    let path = match stream {
        Stream::Inherit => return Ok(None),
        Stream::Null => Path::new("/dev/null"),
        Stream::File(path) => path,
    };
    let opened = match number {
        0 => File::open(path),
        _ => File::options().write(true).create(true).truncate(true).open(path),
    };
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(source) => Err(Error::Read { path: path.to_owned(), source }),
    }
}

fn prepare(launch: &Launch) -> Result<Prepared> {
    use std::os::unix::ffi::OsStrExt;
    let program = &launch.program;
    let variable =
        |(name, value): &(Vec<u8>, Vec<u8>)| text(&[name.as_slice(), b"=", value].concat(), program);
    Ok(Prepared {
        program: text(program.as_os_str().as_bytes(), program)?,
        arguments: launch.arguments.iter().map(|a| text(a, program)).collect::<Result<_>>()?,
        variables: launch.variables.iter().map(variable).collect::<Result<_>>()?,
        directory: text(launch.directory.as_os_str().as_bytes(), program)?,
        files: [
            stream(&launch.streams[0], 0)?,
            stream(&launch.streams[1], 1)?,
            stream(&launch.streams[2], 2)?,
        ],
        filter: filter::program(),
    })
}

/// Has a command take on limits before it begins.
pub fn under(command: &mut Command, limits: Vec<Limit>) {
    let take_on = move || {
        for (number, soft, hard) in &limits {
            let limit = libc::rlimit { rlim_cur: *soft, rlim_max: *hard };
            // SAFETY: a system call that reads `limit`.
            if unsafe { libc::setrlimit(*number, &raw const limit) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: between `fork` and `exec` the closure makes system calls only. It allocates nothing,
    // because a system error is a number, and it does not drop `limits`.
    unsafe { command.pre_exec(take_on) };
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|t| t.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Starts the command, traced only by the calling thread.
pub fn spawn(launch: &Launch) -> Result<Child> {
    let prepared = prepare(launch)?;
    let (arguments, variables) = (pointers(&prepared.arguments), pointers(&prepared.variables));
    let (go_read, mut go_write) = pipe()?;
    let (told_read, told_write) = pipe()?;
    // SAFETY: the child only makes system calls on memory prepared above, and ends by `exec` or
    // `_exit`, as the child of a process with several threads must.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(Error::Trace { step: "fork", source: io::Error::last_os_error() });
    }
    if pid == 0 {
        // SAFETY: as above.
        unsafe {
            let step = become_command(launch, &prepared, &arguments, &variables, go_read.as_raw_fd());
            let told = [step, *libc::__errno_location()];
            libc::write(told_write.as_raw_fd(), told.as_ptr().cast(), 8);
            libc::_exit(127);
        }
    }
    drop(told_write);
    let tid = Tid(pid);
    let reap = |error: Error| {
        tid.kill();
        // SAFETY: a child of this process, which is exiting.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
        error
    };
    if let Err(source) = tid.seize() {
        return Err(reap(Error::Forbidden { step: "ptrace", source }));
    }
    if let Err(source) = go_write.write_all(b"g") {
        return Err(reap(Error::Trace { step: "starting the command", source }));
    }
    drop(go_write);
    Ok(Child { tid, told: told_read })
}

/// A started command.
#[derive(Debug)]
pub struct Child {
    pub tid: Tid,
    told: File,
}

impl Child {
    /// Why the command never began. Call it only after its process has ended: before, the child waits for its
    /// tracer.
    pub fn failure(mut self, program: &Path) -> Option<Error> {
        let mut told = [0u8; 8];
        self.told.read_exact(&mut told).ok()?;
        let word = |at: usize| i32::from_ne_bytes([told[at], told[at + 1], told[at + 2], told[at + 3]]);
        let (step, source) = (word(0) as usize, io::Error::from_raw_os_error(word(4)));
        let name = STEPS.get(step).copied().unwrap_or("starting");
        Some(match step {
            3 => Error::Forbidden { step: name, source },
            4 => Error::NotRun { program: program.display().to_string(), reason: source.to_string() },
            _ => Error::Trace { step: name, source },
        })
    }
}

/// Runs in the child. Returns the number of the step that failed.
unsafe fn become_command(
    launch: &Launch,
    prepared: &Prepared,
    arguments: &[*const c_char],
    variables: &[*const c_char],
    go: i32,
) -> i32 {
    // SAFETY: system calls on memory that outlives them; see the caller.
    unsafe {
        let mut byte = 0u8;
        if libc::read(go, (&raw mut byte).cast(), 1) != 1 {
            return 0;
        }
        for (number, file) in prepared.files.iter().enumerate() {
            if let Some(file) = file
                && libc::dup2(file.as_raw_fd(), number as i32) < 0
            {
                return 5;
            }
        }
        if libc::chdir(prepared.directory.as_ptr()) < 0 {
            return 1;
        }
        for (number, soft, hard) in &launch.limits {
            let limit = libc::rlimit { rlim_cur: *soft, rlim_max: *hard };
            if libc::setrlimit(*number, &limit) < 0 {
                return 2;
            }
        }
        if let Some(mask) = launch.mask {
            libc::umask(mask);
        }
        // Disables address randomisation, as far as the kernel allows it.
        let persona = libc::personality(0xffff_ffff);
        libc::personality((persona | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
        let filter = libc::sock_fprog {
            len: prepared.filter.len() as u16,
            filter: prepared.filter.as_ptr().cast_mut(),
        };
        let install = || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter);
        // An unprivileged process may install a filter only if it cannot gain privileges by `exec`.
        if install() < 0 && (libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || install() < 0) {
            return 3;
        }
        libc::execve(prepared.program.as_ptr(), arguments.as_ptr(), variables.as_ptr());
        4
    }
}

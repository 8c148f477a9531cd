//! Calls that the tracer makes in the thread's place.
//!
//! A call that runs in the thread stops it twice: at its entry and, for its result, at its exit. The tracer
//! itself can make a query about an open file or a path: it has the same rights, and a duplicate of the
//! thread's descriptor shares the position in the file. Then the thread gets the result and stops only once.
//!
//! This is done only where the result does not depend on the caller: for reading and writing files on a disk
//! (which never blocks), and for queries about descriptors and paths outside of `/proc`, `/dev` and `/sys`;
//! and only while the threads have the tracer's root, name space and user. If a call made here fails in a
//! manner that could be caused by the tracer, or its result does not fit into the thread's memory, the call
//! runs in the thread after all: nothing irreversible has happened yet.

#![allow(unsafe_code)]

use crate::calls::{CallKind, Length};
use crate::engine::{Entry as Call, Thread};
use nix::libc::{self, c_int, c_long};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Longer transfers run in the thread: copying them twice costs more than a stop.
const MAX_BYTES: u64 = 64 << 10;
/// Longer paths run in the thread: the tracer's paths have a prefix.
const MAX_PATH_LEN: usize = 3000;
/// Trees whose files differ between tracer and thread.
const PROCESS_SPECIFIC_TREES: [&[u8]; 3] = [b"/proc", b"/dev", b"/sys"];

/// Result of a call: its value, and what it wrote for which argument.
#[derive(Debug, PartialEq, Eq)]
pub struct Served {
    pub result: i64,
    pub writes: Vec<(usize, Vec<u8>)>,
}

/// The state for making calls in the place of threads.
#[derive(Debug)]
pub struct CallServer {
    /// The kernel supports duplicating descriptors of other processes.
    has_descriptors: bool,
    /// A thread may see another file tree than the tracer, or has other rights.
    is_foreign: bool,
    /// Writing beyond the tracer's own limit would end it.
    is_limited: bool,
    processes: HashMap<i32, OwnedFd>,
    buffer: Vec<u8>,
}

impl Default for CallServer {
    fn default() -> CallServer {
        CallServer {
            has_descriptors: true,
            is_foreign: false,
            is_limited: file_limit(0) != libc::RLIM_INFINITY,
            processes: HashMap::new(),
            buffer: Vec::new(),
        }
    }
}

/// The limit on the size of a file that a process writes; 0 is this one.
fn file_limit(pid: i32) -> libc::rlim_t {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one such structure.
    unsafe { libc::prlimit(pid, libc::RLIMIT_FSIZE, std::ptr::null(), &raw mut limit) };
    limit.rlim_cur
}

/// A call by number; errors are negative.
///
/// # Safety
/// Arguments that the kernel treats as addresses point to memory of the length that the call requires.
unsafe fn call(number: c_long, arguments: [u64; 6]) -> i64 {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: guaranteed by the caller.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result >= 0 { result } else { -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)) }
}

fn owned(result: i64) -> Option<OwnedFd> {
    // SAFETY: the kernel has just created this descriptor for this process.
    (result >= 0).then(|| unsafe { OwnedFd::from_raw_fd(result as i32) })
}

impl CallServer {
    /// From now on threads may have another root, other mounts or other rights than the tracer.
    pub fn part(&mut self) {
        self.is_foreign = true;
    }

    /// A process has ended, or its number belongs to another program.
    pub fn forget(&mut self, pid: i32) {
        self.processes.remove(&pid);
    }

    /// A duplicate of a thread's descriptor.
    fn descriptor(&mut self, pid: i32, fd: i32) -> Option<OwnedFd> {
        if !self.has_descriptors {
            return None;
        }
        if let Entry::Vacant(place) = self.processes.entry(pid) {
            // SAFETY: all arguments are numbers.
            place.insert(owned(unsafe { call(libc::SYS_pidfd_open, [pid as u64, 0, 0, 0, 0, 0]) })?);
        }
        let process = self.processes.get(&pid)?.as_raw_fd() as u64;
        // SAFETY: all arguments are numbers.
        let result = unsafe { call(libc::SYS_pidfd_getfd, [process, fd as u64, 0, 0, 0, 0]) };
        // Kernels before 5.6 lack the call; a sandbox may forbid it.
        self.has_descriptors &= ![-i64::from(libc::ENOSYS), -i64::from(libc::EPERM)].contains(&result);
        owned(result)
    }

    /// Makes a call in the thread's place. `None`: it must run in the thread.
    pub fn serve(&mut self, thread: &Thread, entry: &Call) -> Option<Served> {
        match entry.known.shape {
            CallKind::Read { vector: false, at } => self.read(thread, entry, at),
            CallKind::Write { vector: false } => self.write(thread, entry),
            CallKind::Seek => {
                let file = self.file(thread, entry)?;
                // SAFETY: all arguments are numbers.
                let result = unsafe { call(entry.known.number, with(entry, 0, file.as_raw_fd() as u64)) };
                told(Served { result, writes: Vec::new() })
            }
            CallKind::QueryFile { .. } => self.query_file(thread, entry),
            CallKind::QueryPath { .. } if !self.is_foreign => self.query_path(thread, entry),
            CallKind::Open { .. } if !self.is_foreign => self.missing(thread, entry),
            _ => None,
        }
    }

    /// The file of the first argument, if operations on it never block.
    fn file(&mut self, thread: &Thread, entry: &Call) -> Option<OwnedFd> {
        Some(self.file_of(thread, entry)?.0)
    }

    fn file_of(&mut self, thread: &Thread, entry: &Call) -> Option<(OwnedFd, libc::stat)> {
        if self.is_foreign {
            return None;
        }
        let file = self.descriptor(thread.pid, entry.arguments[0] as i32)?;
        let about = about(&file)?;
        let is_process_specific = || {
            entry.file.as_ref().is_some_and(|f| f.borrow().path.as_deref().is_some_and(is_process_specific))
        };
        (is_empty_device(&about) || is_on_disk(&about) && !is_process_specific()).then_some((file, about))
    }

    fn read(&mut self, thread: &Thread, entry: &Call, at: Option<u8>) -> Option<Served> {
        let length = entry.arguments[2];
        if length > MAX_BYTES {
            return None;
        }
        let file = self.file(thread, entry)?;
        self.buffer.resize(length as usize, 0);
        let mut arguments = with(entry, 0, file.as_raw_fd() as u64);
        arguments[1] = self.buffer.as_mut_ptr() as u64;
        // SAFETY: the buffer has the length of the third argument.
        let result = unsafe { call(entry.known.number, arguments) };
        let bytes = self.buffer.get(..usize::try_from(result).ok()?)?.to_vec();
        if thread.tid.write(entry.arguments[1], &bytes).is_err() {
            if at.is_none() {
                // SAFETY: all arguments are numbers; this restores the position.
                unsafe { libc::lseek(file.as_raw_fd(), -result, libc::SEEK_CUR) };
            }
            return None;
        }
        Some(Served { result, writes: vec![(1, bytes)] })
    }

    fn write(&mut self, thread: &Thread, entry: &Call) -> Option<Served> {
        let length = entry.arguments[2];
        if length > MAX_BYTES {
            return None;
        }
        let (file, about) = self.file_of(thread, entry)?;
        // Writing beyond a limit sends a signal to the caller, which must be the thread.
        let is_limited = || self.is_limited || file_limit(thread.pid) != libc::RLIM_INFINITY;
        if about.st_mode & libc::S_IFMT == libc::S_IFREG && is_limited() {
            return None;
        }
        let bytes = thread.tid.read(entry.arguments[1], length as usize);
        if bytes.len() as u64 != length {
            return None;
        }
        let mut arguments = with(entry, 0, file.as_raw_fd() as u64);
        arguments[1] = bytes.as_ptr() as u64;
        // SAFETY: the kernel reads bytes of this process, as many as the third argument specifies.
        let result = unsafe { call(entry.known.number, arguments) };
        (result >= 0).then(|| Served { result, writes: vec![(1, bytes)] })
    }

    fn query_file(&mut self, thread: &Thread, entry: &Call) -> Option<Served> {
        match entry.known.number {
            libc::SYS_fstat => {
                let file = self.descriptor(thread.pid, entry.arguments[0] as i32)?;
                self.ask(thread, entry, with(entry, 0, file.as_raw_fd() as u64))
            }
            // A file on a disk is not a terminal.
            libc::SYS_ioctl => {
                let file = self.descriptor(thread.pid, entry.arguments[0] as i32)?;
                let is_file = about(&file)?.st_mode & libc::S_IFMT == libc::S_IFREG;
                is_file.then(|| Served { result: -i64::from(libc::ENOTTY), writes: Vec::new() })
            }
            libc::SYS_getdents64 => {
                let file = self.file(thread, entry)?;
                // SAFETY: all arguments are numbers.
                let before = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_CUR) };
                let served = self.ask(thread, entry, with(entry, 0, file.as_raw_fd() as u64));
                if served.is_none() {
                    // SAFETY: all arguments are numbers; this restores the position.
                    unsafe { libc::lseek(file.as_raw_fd(), before, libc::SEEK_SET) };
                }
                served
            }
            _ => None,
        }
    }

    fn query_path(&mut self, thread: &Thread, entry: &Call) -> Option<Served> {
        let CallKind::QueryPath { dir, path, .. } = entry.known.shape else { return None };
        if entry.paths.is_empty() {
            // An empty path: the call queries a descriptor.
            let fd = entry.arguments[usize::from(dir?)] as i32;
            let file = if fd == libc::AT_FDCWD { return None } else { self.descriptor(thread.pid, fd)? };
            let empty = CString::default();
            let mut arguments = with(entry, dir?.into(), file.as_raw_fd() as u64);
            arguments[usize::from(path)] = empty.as_ptr() as u64;
            return self.ask(thread, entry, arguments);
        }
        let seen = self.seen(thread, entry, dir)?;
        let mut arguments = entry.arguments;
        seen.put(&mut arguments, dir, path);
        // The name of an attribute.
        let name = match entry.known.number {
            libc::SYS_getxattr | libc::SYS_lgetxattr => {
                Some(CString::new(thread.tid.text(entry.arguments[1])?).ok()?)
            }
            _ => None,
        };
        if let Some(name) = &name {
            arguments[1] = name.as_ptr() as u64;
        }
        let served = self.ask(thread, entry, arguments)?;
        (served.result >= 0 || is_caller_independent(served.result)).then_some(served)
    }

    /// Reports that a file is missing, which is the result of most calls to open.
    fn missing(&mut self, thread: &Thread, entry: &Call) -> Option<Served> {
        let CallKind::Open { dir, flags: Some(_), .. } = entry.known.shape else { return None };
        let flags = entry.detail as c_int;
        if flags & (libc::O_CREAT | libc::O_TMPFILE) != 0 || entry.known.number == libc::SYS_openat2 {
            return None;
        }
        let seen = self.seen(thread, entry, dir)?;
        // SAFETY: the structure consists of numbers, for which zero is valid.
        let mut about: libc::stat = unsafe { std::mem::zeroed() };
        let follow = if flags & libc::O_NOFOLLOW != 0 { libc::AT_SYMLINK_NOFOLLOW } else { 0 };
        let dir = seen.dir.as_ref().map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
        // SAFETY: a text with its terminator, and one structure that the kernel fills.
        let failed = unsafe { libc::fstatat(dir, seen.path.as_ptr(), &raw mut about, follow) } < 0;
        let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        let is_missing = failed && [libc::ENOENT, libc::ENOTDIR].contains(&error);
        is_missing.then(|| Served { result: -i64::from(error), writes: Vec::new() })
    }

    /// The path as the tracer must write it for the same meaning.
    fn seen(&mut self, thread: &Thread, entry: &Call, dir: Option<u8>) -> Option<TracerPath> {
        let (argument, absolute) = entry.paths.first()?;
        if is_process_specific(absolute) {
            return None;
        }
        let text = thread.tid.text(entry.arguments[*argument])?;
        if text.len() > MAX_PATH_LEN || text.is_empty() {
            return None;
        }
        if text.first() == Some(&b'/') {
            return (!is_process_specific(&text))
                .then_some(TracerPath { dir: None, path: CString::new(text).ok()? });
        }
        let base = dir.map(|dir| entry.arguments[usize::from(dir)] as i32).filter(|fd| *fd != libc::AT_FDCWD);
        match base {
            Some(fd) => {
                let dir = Some(self.descriptor(thread.pid, fd)?);
                Some(TracerPath { dir, path: CString::new(text).ok()? })
            }
            None => {
                let path = [format!("/proc/{}/cwd/", thread.tid.0).as_bytes(), &text].concat();
                Some(TracerPath { dir: None, path: CString::new(path).ok()? })
            }
        }
    }

    /// A query whose outputs are in the table of calls, with a buffer of the tracer in their place.
    fn ask(&mut self, thread: &Thread, entry: &Call, mut arguments: [u64; 6]) -> Option<Served> {
        let out = match entry.known.outs {
            [] => None,
            [(argument, length)] => {
                let argument = usize::from(*argument);
                let most = match length {
                    Length::Fixed(length) => u64::from(*length),
                    Length::Result => entry.arguments[argument + 1].min(MAX_BYTES),
                    _ => return None,
                };
                if *length == Length::Result {
                    arguments[argument + 1] = most;
                }
                self.buffer.resize((most as usize).max(256), 0);
                arguments[argument] = self.buffer.as_mut_ptr() as u64;
                Some((argument, *length, most))
            }
            _ => return None,
        };
        // SAFETY: paths were stored as terminated texts, outputs go to a buffer of this process, whose length
        // was passed to the kernel or is known to it; all other arguments are numbers.
        let result = unsafe { call(entry.known.number, arguments) };
        let mut writes = Vec::new();
        if let Some((argument, length, most)) = out
            && result >= 0
        {
            let asked = entry.arguments[argument + usize::from(length == Length::Result)];
            // A caller without a buffer queries only the length.
            let len = if length == Length::Result { (result as u64).min(asked) } else { most };
            let bytes = self.buffer.get(..len as usize)?.to_vec();
            thread.tid.write(entry.arguments[argument], &bytes).ok()?;
            writes.push((argument, bytes));
        }
        told(Served { result, writes })
    }
}

/// A path for the tracer, relative to a directory or to the root.
struct TracerPath {
    dir: Option<OwnedFd>,
    path: CString,
}

impl TracerPath {
    fn put(&self, arguments: &mut [u64; 6], dir: Option<u8>, path: u8) {
        if let Some(dir) = dir {
            let fd = self.dir.as_ref().map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
            arguments[usize::from(dir)] = fd as u64;
        }
        arguments[usize::from(path)] = self.path.as_ptr() as u64;
    }
}

fn with(entry: &Call, argument: usize, value: u64) -> [u64; 6] {
    let mut arguments = entry.arguments;
    arguments[argument] = value;
    arguments
}

/// Errors that may be caused by the identity of the caller are not reported: the call must run in the thread.
fn told(served: Served) -> Option<Served> {
    (served.result >= 0 || is_caller_independent(served.result)).then_some(served)
}

fn is_caller_independent(result: i64) -> bool {
    [libc::ENOENT, libc::ENOTDIR, libc::ENODATA, libc::EOPNOTSUPP, libc::EINVAL].contains(&(-result as c_int))
}

/// Whether a path lies in a tree that differs between processes.
fn is_process_specific(path: &[u8]) -> bool {
    PROCESS_SPECIFIC_TREES
        .iter()
        .any(|tree| path.strip_prefix(*tree).is_some_and(|rest| rest.is_empty() || rest[0] == b'/'))
}

fn about(file: &OwnedFd) -> Option<libc::stat> {
    // SAFETY: the structure consists of numbers, for which zero is valid.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one such structure.
    (unsafe { libc::fstat(file.as_raw_fd(), &raw mut about) } == 0).then_some(about)
}

/// `/dev/null` and `/dev/zero`.
fn is_empty_device(about: &libc::stat) -> bool {
    let is_one = [libc::makedev(1, 3), libc::makedev(1, 5)].contains(&about.st_rdev);
    about.st_mode & libc::S_IFMT == libc::S_IFCHR && is_one
}

/// Files and directories on a disk.
fn is_on_disk(about: &libc::stat) -> bool {
    matches!(about.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR)
}

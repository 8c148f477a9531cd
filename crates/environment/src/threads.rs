//! Threads of the traced run, and the kernel's state for them: open files and the working directory.

use crate::place;
use crate::record::{Bytes, Key};
use crate::tracee::Tid;
use nix::libc;
use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

/// An open file description; descriptors share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    pub key: Key,
    /// The absolute path, if it has one.
    pub path: Option<Bytes>,
    pub offset: u64,
    /// It is a stand-in with recorded content.
    pub substitute: bool,
    /// It is a socket for datagrams.
    pub datagrams: bool,
}

impl OpenFile {
    pub fn internal() -> OpenFile {
        OpenFile { key: Key::Internal, path: None, offset: 0, substitute: false, datagrams: false }
    }
}

pub type Files = Rc<RefCell<HashMap<i32, Rc<RefCell<OpenFile>>>>>;

#[derive(Debug)]
pub struct Thread<P> {
    pub tid: Tid,
    /// The process.
    pub pid: i32,
    pub number: u32,
    pub files: Files,
    pub directory: Rc<RefCell<Bytes>>,
    /// A page of the thread's memory that the tracer uses.
    pub scratch: Option<u64>,
    /// Its current call.
    pub pending: Option<P>,
    /// Whether it has run.
    pub started: bool,
}

impl<P> Thread<P> {
    /// The first thread of a run, in its start directory.
    pub fn first(tid: Tid, directory: &Path) -> Thread<P> {
        Thread {
            tid,
            pid: tid.0,
            number: 0,
            files: Rc::default(),
            directory: Rc::new(RefCell::new(directory.as_os_str().as_bytes().to_vec())),
            scratch: None,
            pending: None,
            started: true,
        }
    }

    /// A thread or process that this one creates, with these flags of `clone`.
    pub fn child(&self, tid: Tid, number: u32, flags: u64) -> Thread<P> {
        let has = |flag: i32| flags & flag as u64 != 0;
        Thread {
            tid,
            pid: if has(libc::CLONE_THREAD) { self.pid } else { tid.0 },
            number,
            files: match has(libc::CLONE_FILES) {
                true => Rc::clone(&self.files),
                false => Rc::new(RefCell::new(self.files.borrow().clone())),
            },
            directory: match has(libc::CLONE_FS) {
                true => Rc::clone(&self.directory),
                false => Rc::new(RefCell::new(self.directory.borrow().clone())),
            },
            // A page of shared memory has one user.
            scratch: if has(libc::CLONE_VM) { None } else { self.scratch },
            pending: None,
            started: false,
        }
    }

    /// The program was replaced: memory is new, and some descriptors are closed.
    pub fn replaced(&mut self, pid: i32) {
        self.scratch = None;
        self.pid = pid;
        let open: std::collections::HashSet<i32> = std::fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        let kept = self
            .files
            .borrow()
            .iter()
            .filter(|(fd, _)| open.contains(fd))
            .map(|(fd, f)| (*fd, Rc::clone(f)))
            .collect();
        self.files = Rc::new(RefCell::new(kept));
    }

    /// The open file of a descriptor. A descriptor that was never seen before was open at the start.
    pub fn file(&self, fd: i32) -> Rc<RefCell<OpenFile>> {
        let mut files = self.files.borrow_mut();
        let file = files.entry(fd).or_insert_with(|| {
            let key = match u32::try_from(fd) {
                Ok(number) => Key::Stream(number),
                Err(_) => Key::Internal,
            };
            Rc::new(RefCell::new(OpenFile { key, ..OpenFile::internal() }))
        });
        Rc::clone(file)
    }

    /// The absolute form of a path that is relative to a descriptor.
    pub fn absolute(&self, dir: Option<i32>, path: &[u8]) -> Bytes {
        match dir {
            Some(dir) if dir != libc::AT_FDCWD && path.first() != Some(&b'/') => {
                let base = self.file(dir).borrow().path.clone();
                place::absolute(base.as_deref().unwrap_or(b"/?"), path)
            }
            _ => place::absolute(&self.directory.borrow(), path),
        }
    }
}

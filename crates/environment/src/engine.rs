//! Handles a traced call: decodes it, answers it from the record or lets it run, and records its result.
//!
//! The program sees only descriptors, process numbers and addresses of this machine. A recorded result
//! represents a *thing* ([`Key`]), so the table from recorded to real numbers is the table of open files
//! ([`crate::threads`]), which maps a number to its key.

use crate::calls::{self, CallKind, TracedCall};
use crate::decode::{self, gather, map_scratch, outputs, restart_call, set_argument, shift_time};
use crate::place::PathMap;
use crate::record::{Builder, Bytes, Call, Key, Write};
use crate::replay::Replay;
use crate::serve::{CallServer, Served};
use crate::threads::{OpenFile, Thread as AnyThread};
use nix::libc::user_regs_struct;
use std::cell::RefCell;
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::rc::Rc;
use xxhash_rust::xxh3::Xxh3;

pub type Thread = AnyThread<Pending>;
pub type Arguments = [u64; 6];

/// Maximal number of bytes of one read, mapping or program that are kept.
const MAX_BYTES: u64 = 64 << 20;

/// A decoded call.
#[derive(Clone, Debug)]
pub struct Entry {
    pub known: &'static TracedCall,
    pub arguments: Arguments,
    pub key: Key,
    pub detail: u64,
    /// Arguments with a path, and the path in absolute form.
    pub paths: Vec<(usize, Bytes)>,
    /// The open file on which it operates.
    pub file: Option<Rc<RefCell<OpenFile>>>,
    pub address: Vec<u8>,
}

/// How a call is handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// It runs.
    Execute,
    /// It does not run; this is its result, and this the memory it writes: argument and bytes.
    Answer(i64, Vec<(usize, Vec<u8>)>),
    /// It runs with other memory for these arguments, and other values of these; `result` as in `Overwrite`.
    Rewrite {
        memory: Vec<(usize, Vec<u8>)>,
        values: Vec<(usize, u64)>,
        substitute: bool,
        result: Option<i64>,
    },
    /// It runs, and its result is replaced by this one if exactly one of the two is an error.
    Overwrite(i64),
    /// It runs, and the time that it returns is shifted by this number of nanoseconds.
    Shift(i128),
}

/// A call between its entry and its exit.
#[derive(Debug)]
pub enum Pending {
    Call(Box<Entry>, Plan, user_regs_struct),
    /// The tracer makes the thread map a page for it, then the call is restarted.
    Scratch(user_regs_struct),
}

/// How a thread is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    Go,
    ToExit,
}

pub struct Engine<'r> {
    pub builder: Builder,
    pub places: PathMap,
    pub replay: Option<Replay<'r>>,
    /// Hash of standard output.
    output: Xxh3,
    pub output_bytes: u64,
    /// Parts of files that are already kept, and files to which the run has written.
    mapped: HashSet<(Key, u64, u64)>,
    written: HashSet<Key>,
    pub server: CallServer,
}

/// Skips the call that begins, with this result.
fn give(thread: &Thread, registers: &user_regs_struct, result: i64) -> std::io::Result<()> {
    let mut changed = *registers;
    changed.orig_rax = u64::MAX;
    changed.rax = result as u64;
    thread.tid.set_registers(&changed)
}

/// Whether the result of a call is irrelevant: it concerns something that the run made itself, and leaves the
/// table of open files unchanged.
fn is_irrelevant(entry: &Entry) -> bool {
    entry.key == Key::Internal
        && matches!(
            entry.known.shape,
            CallKind::Read { .. }
                | CallKind::Write { .. }
                | CallKind::Seek
                | CallKind::Map
                | CallKind::QueryFile { .. }
                | CallKind::Receive { .. }
                | CallKind::SocketName
                | CallKind::SocketOption
        )
}

impl<'r> Engine<'r> {
    pub fn new(places: PathMap, replay: Option<Replay<'r>>) -> Engine<'r> {
        Engine {
            builder: Builder::default(),
            places,
            replay,
            output: Xxh3::new(),
            output_bytes: 0,
            mapped: HashSet::new(),
            written: HashSet::new(),
            server: CallServer::default(),
        }
    }

    pub fn output(&self) -> u64 {
        self.output.digest()
    }

    /// A traced call begins.
    pub fn entry(&mut self, thread: &mut Thread) -> std::io::Result<Resume> {
        let registers = thread.tid.registers()?;
        let Some(known) = calls::find(registers.orig_rax as i64) else { return Ok(Resume::Go) };
        let arguments =
            [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9];
        let Some(entry) = decode::decode_call(&self.places, thread, known, arguments) else {
            return Ok(Resume::Go);
        };
        if calls::changes_view(known.number) {
            self.server.part();
        }
        let plan = match &mut self.replay {
            Some(replay) => replay.plan(&entry),
            None => Plan::Execute,
        };
        if let Plan::Answer(result, memory) = &plan {
            for (argument, bytes) in memory {
                if thread.tid.write(arguments[*argument], bytes).is_err() {
                    self.builder
                        .note(format!("a recorded result of {} did not fit in memory here", known.name));
                }
            }
            self.skip(thread, &entry, *result, &registers)?;
            return Ok(Resume::Go);
        }
        if plan == Plan::Execute {
            if is_irrelevant(&entry) {
                return Ok(Resume::Go);
            }
            if let Some(Served { result, writes }) = self.server.serve(thread, &entry) {
                give(thread, &registers, result)?;
                self.note(thread, &entry, result, false, Some(writes));
                return Ok(Resume::Go);
            }
        }
        if let Plan::Rewrite { memory, values, .. } = &plan {
            let Some(scratch) = thread.scratch else {
                return map_scratch(thread, registers);
            };
            let mut changed = registers;
            let mut at = scratch;
            for (argument, bytes) in memory {
                thread.tid.write(at, bytes)?;
                set_argument(&mut changed, *argument, at);
                at += (bytes.len() as u64).next_multiple_of(16);
            }
            for (argument, value) in values {
                set_argument(&mut changed, *argument, *value);
            }
            thread.tid.set_registers(&changed)?;
        }
        thread.pending = Some(Pending::Call(Box::new(entry), plan, registers));
        Ok(Resume::ToExit)
    }

    /// Skips a call and records it.
    fn skip(
        &mut self,
        thread: &mut Thread,
        entry: &Entry,
        result: i64,
        registers: &user_regs_struct,
    ) -> std::io::Result<()> {
        give(thread, registers, result)?;
        if let CallKind::Read { .. } | CallKind::Write { .. } = entry.known.shape
            && result > 0
            && let Some(file) = &entry.file
        {
            file.borrow_mut().offset += result as u64;
        }
        // The call is recorded, so that the order of calls of the run can be compared.
        let (key, number) = (self.builder.key(&entry.key), entry.known.number as u32);
        let (detail, writes) = (entry.detail, Vec::new());
        let call = Call { thread: thread.number, number, key, detail, result, offset: 0, writes };
        self.builder.record.calls.push(call);
        Ok(())
    }

    /// A call has ended.
    pub fn exit(&mut self, thread: &mut Thread) -> std::io::Result<()> {
        let Some(pending) = thread.pending.take() else { return Ok(()) };
        let mut registers = thread.tid.registers()?;
        let (entry, plan, before) = match pending {
            Pending::Scratch(before) => {
                let address = registers.rax;
                if (address as i64) > 0 {
                    thread.scratch = Some(address);
                }
                return restart_call(thread.tid, before);
            }
            Pending::Call(entry, plan, before) => (entry, plan, before),
        };
        let mut result = registers.rax as i64;
        // The kernel restarts these after a signal.
        if (-516..=-512).contains(&result) {
            return Ok(());
        }
        let mut substitute = false;
        match plan {
            Plan::Execute | Plan::Answer(..) => {}
            Plan::Rewrite { substitute: stand_in, result: wanted, .. } => {
                substitute = stand_in;
                // Restores the program's argument registers.
                if !matches!(entry.known.shape, CallKind::Exec { .. }) || result < 0 {
                    registers = before;
                    result = wanted.filter(|wanted| (*wanted < 0) != (result < 0)).unwrap_or(result);
                    registers.rax = result as u64;
                    thread.tid.set_registers(&registers)?;
                }
            }
            Plan::Overwrite(recorded) => {
                if (recorded < 0) != (result < 0) {
                    result = recorded;
                    registers.rax = recorded as u64;
                    thread.tid.set_registers(&registers)?;
                }
            }
            Plan::Shift(by) => shift_time(thread, &entry, &mut registers, by)?,
        }
        self.note(thread, &entry, result, substitute, None);
        Ok(())
    }

    /// Updates the tracer's state after the call, and records the call. `served`: what it wrote, and for a
    /// call that writes to a file what it read.
    fn note(
        &mut self,
        thread: &mut Thread,
        entry: &Entry,
        result: i64,
        substitute: bool,
        served: Option<Vec<(usize, Vec<u8>)>>,
    ) {
        let shape = entry.known.shape;
        let offset = self.offset(entry, shape, result);
        let mut writes = Vec::new();
        if let CallKind::Write { vector } = shape
            && entry.key == Key::Stream(1)
            && result > 0
        {
            let known = served.as_ref().and_then(|served| served.first()).map(|(_, bytes)| bytes.clone());
            let mut bytes = known.unwrap_or_else(|| {
                gather(thread.tid, entry.arguments[1], entry.arguments[2], vector, result as u64)
            });
            bytes.truncate(result as usize);
            self.output.update(&bytes);
            self.output_bytes += result as u64;
        }
        if entry.key != Key::Internal {
            match shape {
                CallKind::Write { .. } => {}
                _ if let Some(served) = served => writes = served,
                CallKind::Map if result >= 0 => {
                    writes.extend(self.mapping(thread.pid, entry).map(|blob| (4, blob)));
                }
                CallKind::Exec { .. } if result >= 0 => {
                    writes.extend(self.program(entry).map(|bytes| (entry.paths[0].0, bytes)));
                }
                _ => writes = outputs(thread.tid, entry, result),
            }
        }
        if entry.known.number == nix::libc::SYS_io_uring_setup && result >= 0 {
            self.builder.note("what is read and written through io_uring".to_owned());
        }
        self.update_open_files(thread, entry, result, substitute);
        let is_unrecorded = match shape {
            CallKind::Dup { .. } | CallKind::Pair { .. } | CallKind::Own | CallKind::Seek => true,
            // A successful write is expected and not recorded. The first one is: what is read from then on is
            // not part of the environment.
            CallKind::Write { .. } if matches!(entry.key, Key::File(_)) => {
                result >= 0 && !self.written.insert(entry.key.clone())
            }
            CallKind::Write { .. } => result >= 0,
            _ => entry.key == Key::Internal,
        };
        if is_unrecorded {
            return;
        }
        let key = self.builder.key(&entry.key);
        let writes = writes
            .into_iter()
            .map(|(argument, bytes)| Write { argument: argument as u8, blob: self.builder.blob(bytes) })
            .collect();
        let number = entry.known.number as u32;
        let call = Call { thread: thread.number, number, key, detail: entry.detail, result, offset, writes };
        self.builder.record.calls.push(call);
    }

    /// The offset in its file at which a call reads.
    fn offset(&self, entry: &Entry, shape: CallKind, result: i64) -> u64 {
        let Some(file) = &entry.file else { return 0 };
        let mut file = file.borrow_mut();
        match shape {
            CallKind::Read { at: Some(at), .. } => entry.arguments[usize::from(at)],
            CallKind::Read { at: None, .. } | CallKind::Write { .. } | CallKind::Receive { .. } => {
                let offset = file.offset;
                file.offset += result.max(0) as u64;
                offset
            }
            CallKind::Seek if result >= 0 => {
                file.offset = result as u64;
                0
            }
            CallKind::Map => entry.arguments[5],
            _ => 0,
        }
    }

    /// Updates the table of open files and the working directory after the call.
    fn update_open_files(&mut self, thread: &mut Thread, entry: &Entry, result: i64, substitute: bool) {
        if result < 0 && !(matches!(entry.known.shape, CallKind::Connect) && result == -115) {
            return;
        }
        let path = entry.paths.first().map(|(_, path)| path.clone());
        let set = |fd: i64, file: OpenFile| {
            thread.files.borrow_mut().insert(fd as i32, Rc::new(RefCell::new(file)));
        };
        match entry.known.shape {
            CallKind::Open { .. } => {
                set(result, OpenFile { key: entry.key.clone(), path, substitute, ..OpenFile::internal() })
            }
            CallKind::Dup { .. } => {
                if let Some(file) = &entry.file {
                    thread.files.borrow_mut().insert(result as i32, Rc::clone(file));
                }
            }
            CallKind::Pair { at } => {
                let ends = thread.tid.read(entry.arguments[usize::from(at)], 8);
                for end in ends.chunks_exact(4) {
                    set(
                        i64::from(i32::from_le_bytes([end[0], end[1], end[2], end[3]])),
                        OpenFile::internal(),
                    );
                }
            }
            CallKind::Socket => {
                let datagrams = entry.detail & 0xf == nix::libc::SOCK_DGRAM as u64;
                set(result, OpenFile { datagrams, ..OpenFile::internal() });
            }
            CallKind::Own | CallKind::Accept => set(result, OpenFile::internal()),
            // From now on, the answers received are those of this peer.
            CallKind::Send => {
                if let Some(file) = &entry.file
                    && entry.key != Key::Internal
                {
                    file.borrow_mut().key = entry.key.clone();
                }
            }
            CallKind::Bind | CallKind::Connect => {
                if let Some(file) = &entry.file {
                    file.borrow_mut().key = entry.key.clone();
                }
            }
            CallKind::Enter { path: true } => {
                if let Some(path) = path {
                    *thread.directory.borrow_mut() = path;
                }
            }
            CallKind::Enter { path: false } => {
                let base = entry.file.as_ref().and_then(|file| file.borrow().path.clone());
                if let Some(base) = base {
                    *thread.directory.borrow_mut() = base;
                }
            }
            _ => {}
        }
    }

    /// The bytes of a file that a mapping contains.
    fn mapping(&mut self, pid: i32, entry: &Entry) -> Option<Vec<u8>> {
        let fd = entry.arguments[4] as i32;
        self.part(
            Path::new(&format!("/proc/{pid}/fd/{fd}")),
            entry.arguments[5],
            entry.arguments[1],
            &entry.key,
        )
    }

    /// The bytes of the program that now runs, or of the script.
    fn program(&mut self, entry: &Entry) -> Option<Vec<u8>> {
        let path = Path::new(std::ffi::OsStr::from_bytes(&entry.paths[0].1));
        let mut beginning = [0; 5];
        let file = std::fs::File::open(path);
        let is_set_id = |file: &std::fs::File| file.metadata().is_ok_and(|about| about.mode() & 0o6000 != 0);
        if file.as_ref().is_ok_and(is_set_id) {
            self.server.part();
        }
        let read = file.and_then(|file| file.read_exact_at(&mut beginning, 0));
        if read.is_ok() && beginning == *b"\x7fELF\x01" {
            self.builder.note(format!("what {} asks for, which is a 32-bit program", path.display()));
        }
        self.part(path, 0, u64::MAX, &entry.key)
    }

    fn part(&mut self, path: &Path, offset: u64, length: u64, key: &Key) -> Option<Vec<u8>> {
        // The same bytes of the same file are kept once.
        if !self.mapped.insert((key.clone(), offset, length)) {
            return None;
        }
        let file = std::fs::File::open(path).ok()?;
        let about = file.metadata().ok()?;
        if !about.is_file() {
            return None;
        }
        let length = length.min(about.len().saturating_sub(offset));
        if length > MAX_BYTES {
            self.builder.note(format!("the bytes of {}, which are too many", crate::secrets::name(key)));
            return None;
        }
        let mut bytes = vec![0; length as usize];
        let read = file.read_at(&mut bytes, offset).ok()?;
        bytes.truncate(read);
        Some(bytes)
    }
}

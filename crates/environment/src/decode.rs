//! Converts registers and memory of a thread to a call with a key, and back.

use crate::address;
use crate::calls::{CallKind, Length, TracedCall};
use crate::engine::{Arguments, Entry, Pending, Resume, Thread};
use crate::filter::TERMINAL_REQUESTS;
use crate::place::PathMap;
use crate::record::Key;
use crate::tracee::Tid;
use nix::libc::{self, user_regs_struct};
use std::io;

/// Prefix of the address of a peer that is reached by datagrams.
pub const DATAGRAMS: &str = "udp:";
/// Maximal number of bytes of one read that are used.
const MAX_READ: u64 = 64 << 20;

/// Decodes a call. `None`: the call is not recorded.
pub fn decode_call(
    places: &PathMap,
    thread: &Thread,
    known: &'static TracedCall,
    arguments: Arguments,
) -> Option<Entry> {
    let mut entry = Entry {
        known,
        arguments,
        key: Key::Internal,
        detail: 0,
        paths: Vec::new(),
        file: None,
        address: Vec::new(),
    };
    let value = |at: u8| arguments[usize::from(at)];
    let by_path = |entry: &mut Entry, dir: Option<u8>, at: u8| -> Option<()> {
        let path = thread.tid.text(value(at))?;
        let path = thread.absolute(dir.map(|d| value(d) as i32), &path);
        entry.key = Key::File(places.portable(&path, thread.pid));
        entry.paths.push((usize::from(at), path));
        Some(())
    };
    let by_file = |entry: &mut Entry| {
        let file = thread.file(value(0) as i32);
        entry.key = file.borrow().key.clone();
        entry.file = Some(file);
    };
    match known.shape {
        CallKind::Open { dir, path, flags } => {
            by_path(&mut entry, dir, path)?;
            entry.detail = match (known.number, flags) {
                (libc::SYS_openat2, _) => thread.tid.word(arguments[2])?,
                (_, Some(flags)) => value(flags) & 0xffff_ffff,
                (_, None) => (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64,
            };
        }
        CallKind::QueryPath { dir, path, flags, detail } => {
            entry.detail = detail.map_or(0, value);
            let empty = flags.is_some_and(|flags| value(flags) & libc::AT_EMPTY_PATH as u64 != 0);
            if empty && (value(path) == 0 || thread.tid.read(value(path), 1) == [0]) {
                by_file(&mut entry);
            } else {
                by_path(&mut entry, dir, path)?;
            }
        }
        CallKind::Change { dir, path } | CallKind::Exec { dir, path } => by_path(&mut entry, dir, path)?,
        CallKind::Move { dir, from, to_dir, to } => {
            by_path(&mut entry, dir, from)?;
            by_path(&mut entry, to_dir, to)?;
        }
        CallKind::Link { to_dir, to } => by_path(&mut entry, to_dir, to)?,
        CallKind::Enter { path: true } => by_path(&mut entry, None, 0)?,
        CallKind::QueryFile { detail } => {
            by_file(&mut entry);
            entry.detail = detail.map_or(0, value);
        }
        CallKind::Read { .. }
        | CallKind::Write { .. }
        | CallKind::Seek
        | CallKind::Dup { .. }
        | CallKind::Receive { .. }
        | CallKind::SocketName
        | CallKind::SocketOption
        | CallKind::Enter { path: false } => {
            by_file(&mut entry);
            if known.shape == CallKind::SocketOption {
                entry.detail = arguments[1] << 32 | arguments[2];
            }
        }
        CallKind::Map => {
            let file = thread.file(arguments[4] as i32);
            entry.key = file.borrow().key.clone();
            entry.file = Some(file);
        }
        CallKind::Bind | CallKind::Connect => {
            by_file(&mut entry);
            entry.address = thread.tid.read(arguments[1], (arguments[2] as usize).min(128));
            let datagrams = entry.file.as_ref().is_some_and(|file| file.borrow().datagrams);
            entry.key = match (address::text(&entry.address), known.shape) {
                (Some(text), CallKind::Bind) => Key::Local(text),
                (Some(text), _) => peer(text, datagrams),
                (None, _) => Key::Internal,
            };
        }
        CallKind::Send => {
            by_file(&mut entry);
            entry.address = thread.tid.read(arguments[4], (arguments[5] as usize).min(128));
            // A socket bound to an address of its own answers other programs.
            let is_bound = matches!(entry.key, Key::Local(_));
            entry.key = match address::text(&entry.address) {
                Some(text) if !is_bound => peer(text, true),
                _ => Key::Internal,
            };
        }
        CallKind::GetDirectory => entry.key = Key::Directory,
        CallKind::Clock => {
            entry.key = Key::Clock;
            entry.detail = if known.number == libc::SYS_clock_gettime { arguments[0] } else { 0 };
        }
        CallKind::Random => entry.key = Key::Random,
        CallKind::System => entry.key = Key::System,
        CallKind::Memory => entry.key = Key::Memory,
        CallKind::Identity => entry.key = Key::Identity,
        CallKind::Processors => entry.key = Key::Processors,
        CallKind::Limit { which, new } => {
            entry.key = Key::Limit(value(which) as u32);
            entry.detail = u64::from(new.is_some_and(|new| value(new) != 0));
        }
        CallKind::Socket => {
            entry.key = Key::Other(known.number as u32);
            entry.detail = arguments[0] << 32 | (arguments[1] & 0xf);
        }
        CallKind::Allowed => {
            entry.key = Key::Other(known.number as u32);
            entry.detail = arguments[1];
        }
        CallKind::Pair { .. } | CallKind::Own | CallKind::Accept => {}
    }
    Some(entry)
}

/// A peer; one reached by datagrams is distinct from one that is connected to.
fn peer(address: String, datagrams: bool) -> Key {
    match datagrams && !address.starts_with("unix:") {
        true => Key::Peer(format!("{DATAGRAMS}{address}")),
        false => Key::Peer(address),
    }
}

/// The memory that a call wrote: argument and bytes.
pub fn outputs(tid: Tid, entry: &Entry, result: i64) -> Vec<(usize, Vec<u8>)> {
    if result < 0 {
        return Vec::new();
    }
    if entry.known.number == libc::SYS_ioctl {
        let request = TERMINAL_REQUESTS.iter().find(|(request, _)| u64::from(*request) == entry.detail);
        return request
            .map(|(_, length)| (2, tid.read(entry.arguments[2], *length as usize)))
            .into_iter()
            .collect();
    }
    let mut all = Vec::new();
    for (argument, length) in entry.known.outs {
        let argument = usize::from(*argument);
        let address = entry.arguments[argument];
        if address == 0 {
            continue;
        }
        let bytes = match (entry.known.shape, length) {
            (CallKind::Read { vector: true, .. }, _) => {
                gather(tid, address, entry.arguments[2], true, result as u64)
            }
            (CallKind::Receive { message: true }, _) => {
                // The vector is the third field of `struct msghdr`.
                let (vector, count) = (tid.word(address + 16), tid.word(address + 24));
                gather(tid, vector.unwrap_or(0), count.unwrap_or(0), true, result as u64)
            }
            (_, Length::Fixed(length)) => tid.read(address, *length as usize),
            (_, Length::Result) => tid.read(address, (result as u64).min(MAX_READ) as usize),
            (_, Length::Words) => tid.read(address, (4 * result as u64).min(1 << 20) as usize),
            (_, Length::At(at)) => {
                let length = tid.word(entry.arguments[usize::from(*at)]).unwrap_or(0) & 0xffff_ffff;
                tid.read(address, length.min(4096) as usize)
            }
        };
        // A query for a length, without a buffer for the answer, has only a result.
        let has_memory = !matches!(length, Length::Result) || entry.arguments.get(argument + 1) != Some(&0);
        if has_memory {
            all.push((argument, bytes));
        }
    }
    all
}

/// Up to `length` bytes of a buffer or of a vector of `count` buffers.
pub fn gather(tid: Tid, address: u64, count: u64, vector: bool, length: u64) -> Vec<u8> {
    let length = length.min(MAX_READ);
    if !vector {
        return tid.read(address, length as usize);
    }
    let mut all = Vec::new();
    for entry in 0..count.min(1024) {
        let left = length - all.len() as u64;
        let (Some(at), Some(size)) = (tid.word(address + 16 * entry), tid.word(address + 16 * entry + 8))
        else {
            break;
        };
        all.extend(tid.read(at, size.min(left) as usize));
        if all.len() as u64 == length {
            break;
        }
    }
    all
}

pub fn set_argument(registers: &mut user_regs_struct, argument: usize, value: u64) {
    match argument {
        0 => registers.rdi = value,
        1 => registers.rsi = value,
        2 => registers.rdx = value,
        3 => registers.r10 = value,
        4 => registers.r8 = value,
        _ => registers.r9 = value,
    }
}

/// Turns the call that begins into one that maps a page for the tracer.
pub fn map_scratch(thread: &mut Thread, before: user_regs_struct) -> io::Result<Resume> {
    let mut registers = before;
    registers.orig_rax = libc::SYS_mmap as u64;
    registers.rdi = 0;
    registers.rsi = 2 * libc::PATH_MAX as u64;
    registers.rdx = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    registers.r10 = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    registers.r8 = u64::MAX;
    registers.r9 = 0;
    thread.tid.set_registers(&registers)?;
    thread.pending = Some(Pending::Scratch(before));
    Ok(Resume::ToExit)
}

/// Restarts a call: its instruction is two bytes long.
pub fn restart_call(tid: Tid, before: user_regs_struct) -> io::Result<()> {
    let mut registers = before;
    registers.rip -= 2;
    registers.rax = before.orig_rax;
    tid.set_registers(&registers)
}

const SECOND: i128 = 1_000_000_000;

/// Shifts the time that a call returned by `by` nanoseconds.
pub fn shift_time(
    thread: &Thread,
    entry: &Entry,
    registers: &mut user_regs_struct,
    by: i128,
) -> io::Result<()> {
    let fraction = match entry.known.number {
        libc::SYS_time => {
            let moved = (i128::from(registers.rax) * SECOND + by).div_euclid(SECOND);
            registers.rax = moved as u64;
            thread.tid.set_registers(registers)?;
            if entry.arguments[0] != 0 {
                thread.tid.write(entry.arguments[0], &(moved as u64).to_le_bytes())?;
            }
            return Ok(());
        }
        libc::SYS_gettimeofday => 1000,
        _ => 1,
    };
    let Some((argument, _)) = entry.known.outs.first() else { return Ok(()) };
    let at = entry.arguments[usize::from(*argument)];
    if at == 0 {
        return Ok(());
    }
    let word = |at: u64| thread.tid.word(at).map(i128::from);
    if let (Some(seconds), Some(part)) = (word(at), word(at + 8)) {
        let moved = seconds * SECOND + part * fraction + by;
        let parts = [moved.div_euclid(SECOND) as u64, (moved.rem_euclid(SECOND) / fraction) as u64];
        thread.tid.write(at, &[parts[0].to_le_bytes(), parts[1].to_le_bytes()].concat())?;
    }
    Ok(())
}

/// The time that a recorded call returned, in nanoseconds since 1970.
pub fn time(number: u32, result: i64, bytes: Option<&[u8]>) -> Option<i128> {
    let word = |at: usize| Some(i128::from(u64::from_le_bytes(bytes?.get(at..at + 8)?.try_into().ok()?)));
    match i64::from(number) {
        libc::SYS_time => Some(i128::from(result) * SECOND),
        libc::SYS_gettimeofday => Some(word(0)? * SECOND + word(8)? * 1000),
        _ => Some(word(0)? * SECOND + word(8)?),
    }
}

//! Semi-replay: chosen things are as recorded, everything else is as it is here.
//!
//! Each call about a chosen thing is handled in one of three modes, after *Semi-replay* of Qi Dawei's thesis
//! (section 7.2):
//!
//! * **replay** (the recorded result, the call does not run) where no later call needs the kernel's state:
//!   queries about paths, the machine, the user;
//! * **execute and overwrite** where later calls depend on it: opening, binding, connecting, making
//!   directories. The call runs, on a stand-in where it would fail or find other bytes here, so that
//!   descriptors are real and every operation on them works;
//! * **execute** for all the rest.
//!
//! Dependences go through descriptors, which lead to their thing, and through paths: every later call that
//! names a path or something beneath it uses the path's stand-in.

use crate::address;
use crate::calls::CallKind;
use crate::decode;
use crate::decode::DATAGRAMS;
use crate::engine::{Entry, Plan};
use crate::peers::Peers;
use crate::place::PathMap;
use crate::record::{Bytes, Call, Key, KeyId};
use crate::there::{RecordIndex, STAT_SIZE, STATX_SIZE};
use nix::libc;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Maximal size of a stand-in.
const MAX_BYTES: u64 = 256 << 20;

/// The things that must be as recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub keys: HashSet<KeyId>,
    /// Directories (by their names here) that are missing here, with everything in them.
    pub directories: Vec<Bytes>,
    /// Contents that replace the recorded bytes of files.
    pub contents: HashMap<KeyId, Vec<u8>>,
}

pub struct Replay<'r> {
    there: &'r RecordIndex<'r>,
    chosen: &'r Selection,
    /// A directory for stand-ins, for this run only, in which they have the same paths as in the root.
    stand_ins: PathBuf,
    /// Paths that have a stand-in.
    redirected: HashSet<Bytes>,
    /// Paths that the run itself has changed: their recorded state is outdated.
    changed: HashSet<Bytes>,
    asked: HashMap<(KeyId, u32, u64), usize>,
    opened: HashMap<KeyId, usize>,
    clock: Option<i128>,
    peers: Peers,
    /// Calls about chosen things for which nothing was recorded, by number.
    pub unknown: Vec<(Key, u32)>,
}

impl<'r> Replay<'r> {
    pub fn new(
        there: &'r RecordIndex<'r>,
        chosen: &'r Selection,
        places: &PathMap,
        stand_ins: &Path,
    ) -> Replay<'r> {
        let mut replay = Replay {
            there,
            chosen,
            stand_ins: stand_ins.to_owned(),
            redirected: HashSet::new(),
            changed: HashSet::new(),
            asked: HashMap::new(),
            opened: HashMap::new(),
            clock: None,
            peers: Peers::default(),
            unknown: Vec::new(),
        };
        for directory in &chosen.directories {
            // If this fails, the run that needs the directory fails.
            let _ = std::fs::create_dir_all(replay.stand_in(directory));
            replay.redirected.insert(directory.clone());
        }
        for id in &chosen.keys {
            if let Key::File(path) = there.record.key(*id) {
                replay.create_parent_directories(*id, &places.here(path), places);
            }
        }
        replay
    }

    /// Creates the directories above a recorded path, inside a directory that is missing here, down to the
    /// first that the run creates itself.
    fn create_parent_directories(&self, id: KeyId, path: &[u8], places: &PathMap) {
        let inside = |dir: &&Path| self.has_stand_in(dir.as_os_str().as_bytes());
        let existed_in_record = self.there.calls(id).any(|call| call.result >= 0);
        let path = Path::new(OsStr::from_bytes(path));
        let itself = if self.there.is_directory(id) { 0 } else { 1 };
        let mut above: Vec<&Path> = path.ancestors().skip(itself).take_while(inside).collect();
        above.reverse();
        for dir in above.into_iter().filter(|_| existed_in_record) {
            let bytes = dir.as_os_str().as_bytes();
            if self.there.makes(&places.portable(bytes, 0)) {
                break;
            }
            let _ = std::fs::create_dir_all(self.stand_in(bytes));
        }
    }

    pub fn stand_in(&self, path: &[u8]) -> PathBuf {
        self.stand_ins.join(OsStr::from_bytes(path.strip_prefix(b"/").unwrap_or(path)))
    }

    /// How a call is handled.
    pub fn plan(&mut self, entry: &Entry) -> Plan {
        let id = self.there.id(&entry.key).filter(|id| self.chosen.keys.contains(id));
        let plan = match id {
            Some(id) => self.plan_chosen(id, entry),
            None => Plan::Execute,
        };
        match plan {
            Plan::Execute => self.redirect(entry, None).unwrap_or(plan),
            Plan::Overwrite(result) => self.redirect(entry, Some(result)).unwrap_or(plan),
            plan => plan,
        }
    }

    /// The same call on stand-ins, if its paths have any.
    fn redirect(&self, entry: &Entry, result: Option<i64>) -> Option<Plan> {
        let memory: Vec<(usize, Vec<u8>)> = entry
            .paths
            .iter()
            .filter(|(_, path)| self.has_stand_in(path))
            .map(|(argument, path)| (*argument, self.text(path)))
            .collect();
        let substitute = !memory.is_empty();
        substitute.then_some(Plan::Rewrite { memory, values: Vec::new(), substitute, result })
    }

    fn has_stand_in(&self, path: &[u8]) -> bool {
        self.redirected.contains(path)
            || self
                .chosen
                .directories
                .iter()
                .any(|dir| path.strip_prefix(dir.as_slice()).is_some_and(|rest| rest.first() == Some(&b'/')))
    }

    /// The stand-in's name, terminated for the kernel.
    fn text(&self, path: &[u8]) -> Vec<u8> {
        let mut text = self.stand_in(path).into_os_string().into_vec();
        text.push(0);
        text
    }

    fn plan_chosen(&mut self, id: KeyId, entry: &Entry) -> Plan {
        match entry.known.shape {
            CallKind::Open { .. } => self.open(id, entry),
            CallKind::Exec { .. } => self.exec(id, entry),
            CallKind::QueryPath { .. } | CallKind::QueryFile { .. } => self.query_file(id, entry),
            CallKind::Change { .. } | CallKind::Move { .. } | CallKind::Link { .. } => {
                let plan = self.overwrite(id, entry);
                self.changed.extend(entry.paths.iter().map(|(_, path)| path.clone()));
                plan
            }
            CallKind::Enter { path: true } | CallKind::Allowed | CallKind::Socket => {
                self.overwrite(id, entry)
            }
            CallKind::Write { .. } => {
                let failed = self.there.calls(id).any(|call| is(call, entry) && call.result < 0);
                match failed {
                    true => Plan::Execute,
                    false => Plan::Overwrite(write_length(entry)),
                }
            }
            CallKind::Clock => self.clock(id),
            CallKind::Bind => self.bind(id, entry),
            CallKind::Connect | CallKind::Send => self.connect(id, entry),
            CallKind::Random
            | CallKind::System
            | CallKind::Memory
            | CallKind::Identity
            | CallKind::Processors
            | CallKind::GetDirectory
            | CallKind::SocketName => self.answer(id, entry),
            CallKind::Limit { .. } if entry.detail == 0 => self.answer(id, entry),
            _ => Plan::Execute,
        }
    }

    /// The recorded call that answers the same query.
    fn recorded(&mut self, id: KeyId, entry: &Entry) -> Option<&'r Call> {
        let number = entry.known.number as u32;
        let times = self.asked.entry((id, number, entry.detail)).or_default();
        let call = self.there.answer(id, number, entry.detail, *times);
        *times += 1;
        if call.is_none() {
            self.unknown.push((entry.key.clone(), number));
        }
        call
    }

    fn answer(&mut self, id: KeyId, entry: &Entry) -> Plan {
        let Some(call) = self.recorded(id, entry) else { return Plan::Execute };
        let memory = call
            .writes
            .iter()
            .map(|write| (usize::from(write.argument), self.there.record.blob(write.blob).to_vec()))
            .filter(|(argument, _)| entry.arguments[*argument] != 0)
            .collect();
        Plan::Answer(call.result, memory)
    }

    fn overwrite(&mut self, id: KeyId, entry: &Entry) -> Plan {
        self.recorded(id, entry).map_or(Plan::Execute, |call| Plan::Overwrite(call.result))
    }

    fn is_changed(&self, entry: &Entry) -> bool {
        let of_file = || entry.file.as_ref().and_then(|file| file.borrow().path.clone());
        match entry.paths.last() {
            Some((_, path)) => self.changed.contains(path),
            None => of_file().is_some_and(|path| self.changed.contains(&path)),
        }
    }

    fn query_file(&mut self, id: KeyId, entry: &Entry) -> Plan {
        if self.is_changed(entry) {
            return Plan::Execute;
        }
        let mut plan = self.answer(id, entry);
        if let (Plan::Answer(_, memory), Some(bytes)) = (&mut plan, self.chosen.contents.get(&id)) {
            for (_, about) in memory {
                let at = match about.len() {
                    144 => STAT_SIZE,
                    256 => STATX_SIZE,
                    _ => continue,
                };
                about[at..at + 8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
            }
        }
        plan
    }

    fn open(&mut self, id: KeyId, entry: &Entry) -> Plan {
        let times = self.opened.entry(id).or_default();
        let Some(call) = self.there.opened(id, *times) else { return Plan::Execute };
        *times += 1;
        let Some((_, path)) = entry.paths.first() else { return Plan::Execute };
        if call.result < 0 {
            return if self.changed.contains(path) {
                Plan::Execute
            } else {
                Plan::Answer(call.result, Vec::new())
            };
        }
        let writes = entry.detail & (libc::O_ACCMODE | libc::O_CREAT) as u64 != libc::O_RDONLY as u64;
        if writes {
            self.changed.insert(path.clone());
        }
        if !self.has_stand_in(path) {
            let real = Path::new(OsStr::from_bytes(path));
            if self.there.is_directory(id) {
                if real.is_dir() {
                    return Plan::Execute;
                }
                let _ = std::fs::create_dir_all(self.stand_in(path));
            } else if !self.write_stand_in(id, path, entry.detail, real) {
                return Plan::Execute;
            }
            self.redirected.insert(path.clone());
        } else if !self.stand_in(path).exists() {
            self.write_stand_in(id, path, entry.detail, Path::new("/nonexistent"));
        }
        Plan::Execute
    }

    /// Creates the recorded file as a stand-in. False: the real one suffices.
    fn write_stand_in(&self, id: KeyId, path: &[u8], flags: u64, real: &Path) -> bool {
        let content = self.there.content(id);
        let given = self.chosen.contents.get(&id);
        let known = given.is_some() || !content.ranges.is_empty() || content.size == Some(0);
        if !known && may_open(real, flags) {
            return false;
        }
        let place = self.stand_in(path);
        if let Some(parent) = place.parent() {
            let _ = std::fs::create_dir_all(parent);
        }
        let creates = flags & libc::O_CREAT as u64 != 0;
        if known || !creates {
            let bytes = given.cloned().unwrap_or_else(|| content.bytes(MAX_BYTES));
            // If a stand-in cannot be written, the run fails.
            let _ = std::fs::write(&place, bytes);
        }
        true
    }

    fn exec(&mut self, id: KeyId, entry: &Entry) -> Plan {
        use std::os::unix::fs::PermissionsExt;
        let Some(call) = self.recorded(id, entry) else { return Plan::Execute };
        let Some((_, path)) = entry.paths.first() else { return Plan::Execute };
        if call.result < 0 {
            return Plan::Answer(call.result, Vec::new());
        }
        let real = Path::new(OsStr::from_bytes(path));
        let bytes = self.there.content(id).bytes(MAX_BYTES);
        let runs =
            real.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0);
        let script = bytes.starts_with(b"#!");
        if bytes.is_empty() || (runs && (script || std::fs::read(real).is_ok_and(|here| here == bytes))) {
            return Plan::Execute;
        }
        let place = self.stand_in(path);
        if let Some(parent) = place.parent() {
            let _ = std::fs::create_dir_all(parent);
        }
        let _ = std::fs::write(&place, bytes);
        let _ = std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755));
        self.redirected.insert(path.clone());
        Plan::Execute
    }

    /// The clock starts at the first recorded time.
    fn clock(&mut self, id: KeyId) -> Plan {
        let first = || {
            let call = self.there.calls(id).next()?;
            let bytes = call.writes.first().map(|write| self.there.record.blob(write.blob));
            let there = decode::time(call.number, call.result, bytes)?;
            let here = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
            Some(there - here.as_nanos() as i128)
        };
        if self.clock.is_none() {
            self.clock = first();
        }
        self.clock.map_or(Plan::Execute, Plan::Shift)
    }

    fn bind(&mut self, id: KeyId, entry: &Entry) -> Plan {
        let Some(call) = self.recorded(id, entry) else { return Plan::Execute };
        if call.result < 0 {
            return Plan::Answer(call.result, Vec::new());
        }
        let place = self.stand_ins.join("bound");
        let _ = std::fs::create_dir_all(&place);
        let path = place.join(format!("{}-{}", id.0, entry.arguments[0]));
        rewrite_address(entry, 0, &path.to_string_lossy())
    }

    fn connect(&mut self, id: KeyId, entry: &Entry) -> Plan {
        let Some(call) = self.recorded(id, entry) else { return Plan::Execute };
        if call.result < 0 && call.result != -i64::from(libc::EINPROGRESS) {
            return Plan::Answer(call.result, Vec::new());
        }
        let received = self.there.received(id);
        match entry.key {
            Key::Peer(ref name) if name.starts_with("unix:") => {
                let path = self.stand_ins.join(format!("peer-{}", id.0));
                match self.peers.unix(id, &path, received) {
                    Ok(()) => rewrite_address(entry, 0, &path.to_string_lossy()),
                    Err(_) => Plan::Execute,
                }
            }
            Key::Peer(ref name) if name.starts_with(DATAGRAMS) => {
                match self.peers.datagrams(id, self.there.datagrams(id)) {
                    Ok(port) => rewrite_address(entry, port, ""),
                    Err(_) => Plan::Execute,
                }
            }
            _ => match self.peers.port(id, received) {
                Ok(port) => rewrite_address(entry, port, ""),
                Err(_) => Plan::Execute,
            },
        }
    }
}

fn is(call: &Call, entry: &Entry) -> bool {
    i64::from(call.number) == entry.known.number
}

fn rewrite_address(entry: &Entry, port: u16, path: &str) -> Plan {
    match address::substitute(&entry.address, port, path) {
        Some(bytes) => {
            let (address, length) = if entry.known.shape == CallKind::Send { (4, 5) } else { (1, 2) };
            Plan::Rewrite {
                values: vec![(length, bytes.len() as u64)],
                memory: vec![(address, bytes)],
                substitute: true,
                result: None,
            }
        }
        None => Plan::Execute,
    }
}

/// The result of a successful write.
fn write_length(entry: &Entry) -> i64 {
    match entry.known.shape {
        CallKind::Write { vector: false } => entry.arguments[2] as i64,
        // The lengths are in the program's memory; after one byte the program writes again.
        _ => 1,
    }
}

/// Whether this process may open the file with these flags; the command runs with the same rights.
fn may_open(path: &Path, flags: u64) -> bool {
    use nix::unistd::{AccessFlags, access};
    let mode = match flags as i32 & libc::O_ACCMODE {
        libc::O_RDONLY => AccessFlags::R_OK,
        libc::O_WRONLY => AccessFlags::W_OK,
        _ => AccessFlags::R_OK | AccessFlags::W_OK,
    };
    let has = |flag: i32| flags & flag as u64 != 0;
    if path.symlink_metadata().is_ok() {
        return !(has(libc::O_CREAT) && has(libc::O_EXCL)) && access(path, mode).is_ok();
    }
    has(libc::O_CREAT) && path.parent().is_some_and(|dir| access(dir, AccessFlags::W_OK).is_ok())
}

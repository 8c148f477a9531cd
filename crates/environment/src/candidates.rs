//! Candidates for the cause: things that differ between the recorded run and this machine.
//!
//! The run here is compared with the record by key, never call by call: the two runs diverge somewhere, and
//! after that their calls would not correspond.

use crate::calls::CallKind;
use crate::place::PathMap;
use crate::record::{Bytes, Call, Key, KeyId, Record, Start};
use crate::there::{RecordIndex, shape};
use nix::libc;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Keys that are tried together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Their ids in the record made there; the first gives the candidate its name.
    pub keys: Vec<KeyId>,
    /// A directory, by its name on this machine, that is missing here.
    pub directory: Option<Bytes>,
    /// Both runs queried it and got different answers; otherwise only the recorded run queried it.
    pub observed: bool,
}

/// Adds the keys that have no calls: variables, arguments, the directory, limits and the mask, where they
/// differ. The record can be indexed afterwards.
pub fn add_start_keys(record: &mut Record, here: &Start) -> usize {
    let there = &record.start;
    let mut keys = Vec::new();
    let value = |start: &Start, name: &[u8]| {
        start.variables.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone())
    };
    let names: BTreeSet<&Bytes> =
        there.variables.iter().chain(&here.variables).map(|(name, _)| name).collect();
    // The shell sets `_` to the program that it runs.
    for name in names.into_iter().filter(|name| name.as_slice() != b"_") {
        if value(there, name) != value(here, name) {
            keys.push(Key::Variable(name.clone()));
        }
    }
    for number in 0..there.arguments.len().max(here.arguments.len()) {
        if there.arguments.get(number) != here.arguments.get(number) {
            keys.push(Key::Argument(number as u32));
        }
    }
    for limit in &there.limits {
        if here.limits.iter().any(|own| own.0 == limit.0 && own != limit) {
            keys.push(Key::Limit(limit.0));
        }
    }
    if there.mask != here.mask {
        keys.push(Key::Mask);
    }
    if there.directory != here.directory {
        keys.push(Key::Directory);
    }
    let known: BTreeSet<Key> = record.keys.iter().cloned().collect();
    let added: Vec<Key> = keys.iter().filter(|key| !known.contains(key)).cloned().collect();
    record.keys.extend(added);
    keys.len()
}

/// The content of an answer, without what differs on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerContent {
    /// The call failed with this result, which is negative.
    Error(i64),
    /// The call succeeded; its result says nothing outside this run, such as a descriptor.
    Done,
    /// The result is the answer, such as a user number.
    Number(i64),
    /// Mode, size, owner, group, time of change.
    About {
        /// Type and permissions, as in `st_mode`.
        mode: u32,
        /// In bytes; 0 unless it is a regular file.
        size: u64,
        /// The owner's number.
        user: u32,
        /// The group's number.
        group: u32,
        /// In seconds since 1970; 0 unless it is a regular file.
        modified: i64,
    },
    /// The names that a directory lists, without `.` and `..`.
    Names(BTreeSet<Bytes>),
    /// The memory that the call wrote; of `statfs` only the type of the file system.
    Bytes(Vec<u8>),
}

/// What a call of `record` answered.
pub fn said(record: &Record, call: &Call) -> AnswerContent {
    if call.result < 0 {
        return AnswerContent::Error(call.result);
    }
    let bytes = call.writes.first().map(|write| record.blob(write.blob));
    match (shape(call), bytes) {
        (Some(CallKind::QueryPath { .. } | CallKind::QueryFile { .. }), Some(bytes)) => match bytes.len() {
            144 if i64::from(call.number) != libc::SYS_getdents64 => about(bytes, 24, 4, 28, 48, 88),
            256 if i64::from(call.number) == libc::SYS_statx => about(bytes, 28, 2, 20, 40, 112),
            _ if i64::from(call.number) == libc::SYS_getdents64 => AnswerContent::Names(names(bytes)),
            // The free blocks of a file system change constantly; its type does not.
            120 => AnswerContent::Bytes(bytes[..8].to_vec()),
            _ => AnswerContent::Bytes(bytes.to_vec()),
        },
        (Some(CallKind::QueryFile { .. }), None) => AnswerContent::Number(call.result),
        (Some(CallKind::Identity | CallKind::Receive { .. }), None) => AnswerContent::Number(call.result),
        (Some(CallKind::Identity), Some(_)) => AnswerContent::Bytes(
            call.writes.iter().flat_map(|write| record.blob(write.blob).to_vec()).collect(),
        ),
        (_, Some(bytes)) => AnswerContent::Bytes(bytes.to_vec()),
        _ => AnswerContent::Done,
    }
}

fn about(
    bytes: &[u8],
    mode: usize,
    mode_length: usize,
    user: usize,
    size: usize,
    modified: usize,
) -> AnswerContent {
    let number = |at: usize, length: usize| {
        let mut word = [0; 8];
        word[..length].copy_from_slice(&bytes[at..at + length]);
        u64::from_le_bytes(word)
    };
    let mode = number(mode, mode_length) as u32;
    // The size of a directory has no meaning, and its modification time little.
    let regular = mode & libc::S_IFMT == libc::S_IFREG;
    AnswerContent::About {
        mode,
        size: if regular { number(size, 8) } else { 0 },
        user: number(user, 4) as u32,
        group: number(user + 4, 4) as u32,
        modified: if regular { number(modified, 8) as i64 } else { 0 },
    }
}

/// The names in an answer of `getdents64`.
pub fn names(bytes: &[u8]) -> BTreeSet<Bytes> {
    let (mut names, mut rest) = (BTreeSet::new(), bytes);
    while rest.len() > 19 {
        let length = usize::from(u16::from_le_bytes([rest[16], rest[17]])).clamp(19, rest.len());
        let name = rest[19..length].split(|b| *b == 0).next().unwrap_or_default();
        if name != b"." && name != b".." {
            names.insert(name.to_vec());
        }
        rest = &rest[length..];
    }
    names
}

/// Result of comparing the answers about one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Same,
    Different,
    /// The common queries were answered alike, but the recorded run made more.
    Unknown,
}

fn compare(there: &RecordIndex<'_>, id: KeyId, here: &RecordIndex<'_>) -> Comparison {
    let key = there.record.key(id);
    if matches!(key, Key::Clock | Key::Random) {
        return Comparison::Different;
    }
    let Some(own) = here.id(key) else { return Comparison::Unknown };
    let by_question = |side: &RecordIndex<'_>, id: KeyId| {
        let mut answers: HashMap<(u32, u64), Vec<AnswerContent>> = HashMap::new();
        for call in side.calls(id) {
            answers.entry((call.number, call.detail)).or_default().push(said(side.record, call));
        }
        answers
    };
    let (mut wanted, got) = (by_question(there, id), by_question(here, own));
    let mut result = Comparison::Same;
    for (question, answers) in &got {
        match wanted.remove(question) {
            // A query that was not made in the recorded run failed here.
            None if answers.iter().any(|said| matches!(said, AnswerContent::Error(_))) => {
                return Comparison::Different;
            }
            None => {}
            Some(recorded) if recorded.iter().zip(answers).any(|(a, b)| a != b) => {
                return Comparison::Different;
            }
            Some(recorded) if recorded.len() > answers.len() => result = Comparison::Unknown,
            Some(_) => {}
        }
    }
    if wanted.is_empty() { result } else { Comparison::Unknown }
}

/// The candidates in the order in which the recorded run met them. Those for keys of the start (variables,
/// arguments, limits, ...) come first.
pub fn candidates(there: &RecordIndex<'_>, here: &RecordIndex<'_>, places: &PathMap) -> Vec<Candidate> {
    let (mut all, mut missing): (Vec<Candidate>, HashMap<Bytes, usize>) = (Vec::new(), HashMap::new());
    let mut ids: Vec<KeyId> = (0..there.record.keys.len() as u32).map(KeyId).collect();
    ids.retain(|id| !there.record.redacted.contains(id) && *there.record.key(*id) != Key::Internal);
    ids.sort_by_key(|id| (!of_start(there.record.key(*id)), there.first(*id), id.0));
    // A different number of arguments is one difference.
    let count = |side: &RecordIndex<'_>| side.record.start.arguments.len();
    let (other_number, mut arguments) = (count(there) != count(here), None);
    for id in ids {
        let key = there.record.key(id);
        if let (Key::Argument(_), true, Some(other)) = (key, other_number, arguments) {
            let candidate: &mut Candidate = &mut all[other];
            candidate.keys.push(id);
            continue;
        }
        if of_start(key) {
            if matches!(key, Key::Argument(_)) {
                arguments = Some(all.len());
            }
            if differs_at_start(&there.record.start, &here.record.start, key) {
                all.push(Candidate { keys: vec![id], directory: None, observed: true });
            }
            continue;
        }
        let compared = compare(there, id, here);
        if compared == Comparison::Same {
            continue;
        }
        let observed = compared == Comparison::Different;
        let directory = match key {
            Key::File(path) if existed_in_record(there, id) => {
                missing_ancestor(there, &places.here(path), places)
            }
            _ => None,
        };
        match directory {
            Some(directory) => match missing.get(&directory) {
                Some(at) => {
                    all[*at].keys.push(id);
                    all[*at].observed |= observed;
                }
                None => {
                    missing.insert(directory.clone(), all.len());
                    all.push(Candidate { keys: vec![id], directory: Some(directory), observed });
                }
            },
            None => all.push(Candidate { keys: vec![id], directory: None, observed }),
        }
    }
    merge_listings(there, places, all)
}

/// A listing that lacks only the name of another candidate depends on that one: the two become one.
fn merge_listings(there: &RecordIndex<'_>, places: &PathMap, mut all: Vec<Candidate>) -> Vec<Candidate> {
    let path_of = |candidate: &Candidate| match (&candidate.directory, candidate.keys.first()) {
        (Some(directory), _) => Some(directory.clone()),
        (None, Some(id)) => match there.record.key(*id) {
            Key::File(path) => Some(places.here(path)),
            _ => None,
        },
        _ => None,
    };
    let paths: Vec<Option<Bytes>> = all.iter().map(path_of).collect();
    let mut gone = BTreeSet::new();
    for at in 0..all.len() {
        let (Some(path), [id], None) = (&paths[at], &all[at].keys[..], &all[at].directory) else { continue };
        let id = *id;
        let listed: BTreeSet<Bytes> = there
            .calls(id)
            .filter(|call| i64::from(call.number) == libc::SYS_getdents64)
            .flat_map(|call| call.writes.iter().flat_map(|write| names(there.record.blob(write.blob))))
            .collect();
        let real = Path::new(OsStr::from_bytes(path));
        if listed.is_empty() || !real.is_dir() {
            continue;
        }
        let missing =
            listed.iter().filter(|name| real.join(OsStr::from_bytes(name)).symlink_metadata().is_err());
        let others: Option<BTreeSet<usize>> = missing
            .map(|name| {
                let child = [path.as_slice(), b"/", name].concat();
                paths.iter().position(|path| path.as_ref() == Some(&child))
            })
            .collect();
        if let Some(others) = others
            && let [other] = Vec::from_iter(others)[..]
        {
            all[other].keys.push(id);
            gone.insert(at);
        }
    }
    let kept = all.into_iter().enumerate().filter(|(at, _)| !gone.contains(at));
    kept.map(|(_, candidate)| candidate).collect()
}

fn of_start(key: &Key) -> bool {
    matches!(key, Key::Variable(_) | Key::Argument(_) | Key::Directory | Key::Limit(_) | Key::Mask)
}

fn differs_at_start(there: &Start, here: &Start, key: &Key) -> bool {
    let value = |start: &Start, name: &[u8]| {
        start.variables.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone())
    };
    match key {
        Key::Variable(name) => value(there, name) != value(here, name),
        Key::Argument(number) => {
            there.arguments.get(*number as usize) != here.arguments.get(*number as usize)
        }
        Key::Limit(number) => {
            let limit = |start: &Start| start.limits.iter().find(|limit| limit.0 == *number).copied();
            limit(there) != limit(here)
        }
        Key::Mask => there.mask != here.mask,
        _ => there.directory != here.directory,
    }
}

/// The recorded run found the path, or could create it.
fn existed_in_record(there: &RecordIndex<'_>, id: KeyId) -> bool {
    there.calls(id).any(|call| call.result >= 0)
}

/// The topmost missing directory above a path, unless the run creates it itself.
fn missing_ancestor(there: &RecordIndex<'_>, path: &[u8], places: &PathMap) -> Option<Bytes> {
    let path = Path::new(OsStr::from_bytes(path));
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    let topmost = above.into_iter().rev().find(|dir| dir.symlink_metadata().is_err())?;
    let bytes = topmost.as_os_str().as_bytes().to_vec();
    (!there.makes(&places.portable(&bytes, 0))).then_some(bytes)
}

//! The record of a run: how it was started, its system calls, how it ended.
//!
//! Nothing here is an address, a descriptor or a process number: the [`Key`] of a call is the thing outside
//! the program that it queries. Results may be descriptors in the kernel's numbering, but those are never
//! compared.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Bytes as the kernel has them: paths and variables need not be UTF-8.
pub type Bytes = Vec<u8>;

/// Index into [`Record::keys`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeyId(pub u32);

/// Index into [`Record::blobs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlobId(pub u32);

/// A thing outside the program that a run may depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Key {
    /// An environment variable.
    Variable(Bytes),
    /// An argument, by number.
    Argument(u32),
    /// The name of the working directory.
    Directory,
    /// A resource limit, by the kernel's number.
    Limit(u32),
    /// The file creation mask.
    Mask,
    /// A path, in the portable form of [`crate::place`].
    File(Bytes),
    /// Standard input, output or error, or another descriptor with which the program was started.
    Stream(u32),
    /// A peer that the program connected to.
    Peer(String),
    /// An address that was bound.
    Local(String),
    /// The time of day.
    Clock,
    /// Random bytes of `getrandom`.
    Random,
    /// `uname`.
    System,
    /// `sysinfo`.
    Memory,
    /// User and group numbers.
    Identity,
    /// The processors that a thread may use.
    Processors,
    /// Information of the kernel about itself, by the number of the system call.
    Other(u32),
    /// Something that the run made itself, such as a pipe.
    Internal,
}

/// One completed system call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Threads are numbered in the order they appear.
    pub thread: u32,
    /// Number of the system call on x86-64.
    pub number: u32,
    /// The thing that it queries.
    pub key: KeyId,
    /// The argument that distinguishes queries of one key: flags, a request, a mode.
    pub detail: u64,
    /// The result that the program got; errors are negative.
    pub result: i64,
    /// The offset of the bytes in the file.
    pub offset: u64,
    /// What the kernel wrote, or the bytes of a mapped file or executed program; empty if the call failed.
    pub writes: Vec<Write>,
}

/// User memory that the kernel wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// The argument that points to it.
    pub argument: u8,
    /// The bytes.
    pub blob: BlobId,
}

/// How a command is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The words of the command, its name first.
    pub arguments: Vec<Bytes>,
    /// Environment variables: name and value.
    pub variables: Vec<(Bytes, Bytes)>,
    /// The absolute path of the working directory.
    pub directory: Bytes,
    /// Number, soft and hard limit.
    pub limits: Vec<(u32, u64, u64)>,
    /// The file creation mask.
    pub mask: u32,
    /// Seconds since 1970.
    pub time: u64,
    /// `uname -srm` of the machine.
    pub system: String,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// As reported by a shell: 128 + N after signal N.
    pub status: u8,
    /// The run was killed because it exceeded its time limit.
    pub timed_out: bool,
    /// Hash of standard output.
    pub output: u64,
    /// Bytes written to standard output.
    pub output_bytes: u64,
    /// Wall-clock time of the run.
    pub milliseconds: u64,
}

/// A recorded run; the content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// How it was started.
    pub start: Start,
    /// How it ended.
    pub end: End,
    /// The things that were queried, each once; then those of [`crate::candidates::add_start_keys`].
    pub keys: Vec<Key>,
    /// The system calls, in the order in which they ended.
    pub calls: Vec<Call>,
    /// What calls wrote; equal bytes are stored once.
    #[serde(with = "whole")]
    pub blobs: Vec<Bytes>,
    /// Keys whose bytes were redacted.
    pub redacted: Vec<KeyId>,
    /// What could not be recorded.
    pub notes: Vec<String>,
}

/// Serialises bytes as one piece: element by element, as `serde` does by default, a record of some megabytes
/// takes longer to write than to make. The output is the same.
mod whole {
    use super::Bytes;
    use serde::de::{Deserialize, Deserializer, Error, Visitor};
    use serde::ser::{Serialize, Serializer};

    struct Piece<'b>(&'b [u8]);
    struct Owned(Bytes);
    struct Reading;

    impl Serialize for Piece<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(self.0)
        }
    }

    impl Visitor<'_> for Reading {
        type Value = Owned;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Owned, E> {
            Ok(Owned(bytes.to_vec()))
        }
    }

    impl<'de> Deserialize<'de> for Owned {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Owned, D::Error> {
            deserializer.deserialize_bytes(Reading)
        }
    }

    pub fn serialize<S: Serializer>(blobs: &[Bytes], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(blobs.iter().map(|bytes| Piece(bytes)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Bytes>, D::Error> {
        let all = Vec::<Owned>::deserialize(deserializer)?;
        Ok(all.into_iter().map(|owned| owned.0).collect())
    }
}

impl Record {
    /// The thing with this id, which must be one of this record.
    pub fn key(&self, id: KeyId) -> &Key {
        &self.keys[id.0 as usize]
    }

    /// The bytes with this id, which must be one of this record.
    pub fn blob(&self, id: BlobId) -> &[u8] {
        &self.blobs[id.0 as usize]
    }

    /// The value of an environment variable; `None` if it is not set.
    pub fn variable(&self, name: &[u8]) -> Option<&[u8]> {
        self.start.variables.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_slice())
    }

    /// The calls of each key, in order.
    pub fn by_key(&self) -> Vec<Vec<usize>> {
        let mut calls = vec![Vec::new(); self.keys.len()];
        for (number, call) in self.calls.iter().enumerate() {
            calls[call.key.0 as usize].push(number);
        }
        calls
    }

    /// Whether every index in it is in range. A record that was read is sound.
    pub fn is_sound(&self) -> bool {
        let (keys, blobs) = (self.keys.len(), self.blobs.len());
        self.calls.iter().all(|call| {
            (call.key.0 as usize) < keys && call.writes.iter().all(|w| (w.blob.0 as usize) < blobs)
        }) && self.redacted.iter().all(|key| (key.0 as usize) < keys)
    }
}

/// Builds a [`Record`]; interns keys and blobs.
#[derive(Debug, Default)]
pub struct Builder {
    /// The record so far; its start and end are set by the caller after the run.
    pub record: Record,
    keys: HashMap<Key, KeyId>,
    blobs: HashMap<u64, Vec<BlobId>>,
    notes: std::collections::HashSet<String>,
}

impl Builder {
    /// The id of a thing, a new one if it was not queried before.
    pub fn key(&mut self, key: &Key) -> KeyId {
        if let Some(id) = self.keys.get(key) {
            return *id;
        }
        let id = KeyId(self.record.keys.len() as u32);
        self.record.keys.push(key.clone());
        self.keys.insert(key.clone(), id);
        id
    }

    /// The id of these bytes, a new one if they were not seen before.
    pub fn blob(&mut self, bytes: Vec<u8>) -> BlobId {
        let hash = xxhash_rust::xxh3::xxh3_64(&bytes);
        let same = self.blobs.entry(hash).or_default();
        if let Some(id) = same.iter().find(|id| self.record.blobs[id.0 as usize] == bytes) {
            return *id;
        }
        let id = BlobId(self.record.blobs.len() as u32);
        same.push(id);
        self.record.blobs.push(bytes);
        id
    }

    /// Adds a note to the record, each text once.
    pub fn note(&mut self, note: String) {
        if self.notes.insert(note.clone()) {
            self.record.notes.push(note);
        }
    }
}

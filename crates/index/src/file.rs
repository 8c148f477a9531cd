//! The index of a process as a file, beside its recording.
//!
//! ```text
//! magic      8 bytes   "RLPSINDX"
//! version    4 bytes   little-endian, as all numbers here
//! key        8 bytes   of the recording and the program it was made from
//! checksum   8 bytes   XXH3 of all that follows
//! streams              numbers as LEB128; see `put` for their order
//! ```
//! Columns and records are stored as they are walked. The key tells an index that
//! belongs to another recording, or to another build, from one that is up to date.

use crate::extra::{Bytes, Input};
use crate::outputs::{Outputs, Sink};
use crate::reader::Stored;
use crate::writer::Written;
use replay::machine::End;
use replay::process::LoadedProcess;
use std::ops::Range;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 8] = b"RLPSINDX";

/// Of the format, and of what [`crate::layout`] makes of a program.
pub const VERSION: u32 = 5;

const HEAD: usize = 28;

/// What can be wrong with an index.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: std::io::Error },
    #[error("read {path}: it is not an index")]
    NotAnIndex { path: PathBuf },
    #[error("read {path}: it has version {found}, this program reads {VERSION}")]
    Version { path: PathBuf, found: u32 },
    #[error("read {path}: it was made from another recording or another build")]
    Stale { path: PathBuf },
    #[error("read {path}: it is damaged")]
    Damaged { path: PathBuf },
}

/// A call that started a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The thread's stream, if it ran before the call returned.
    pub stream: Option<u32>,
    pub step: u64,
    /// The thread's function and its argument.
    pub routine: u64,
    pub argument: u64,
}

/// What is known of a stream as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub steps: u64,
    pub end: Option<End>,
    /// The instruction that came next when it ended: function, index, depth.
    pub unfinished: Option<(u32, u32, u32)>,
    pub starts: Vec<Start>,
    /// The function the stream began with, and its first argument.
    pub entry: Option<(u32, u64)>,
    /// The last step that returned from `main` or called what ends the process.
    pub left: Option<u64>,
    /// What its outputs went to.
    pub sinks: Vec<Sink>,
}

/// What an index was made from: the events of all streams, and the program.
#[must_use]
pub fn key(process: &LoadedProcess) -> u64 {
    let mut hash = Xxh3::new();
    for stream in &process.streams {
        hash.update(&stream.number.to_le_bytes());
        hash.update(&stream.stream.initial_stack.to_le_bytes());
        for part in &stream.stream.parts {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    for (index, loaded) in process.image.modules() {
        hash.update(&index.to_le_bytes());
        hash.update(&loaded.model.id);
        for address in &loaded.addresses {
            hash.update(&address.to_le_bytes());
        }
    }
    hash.digest()
}

/// The file as bytes.
#[must_use]
pub fn encode(key: u64, streams: &[(Summary, Written)]) -> Vec<u8> {
    let mut body = Bytes::default();
    body.number(streams.len() as u64);
    for (summary, written) in streams {
        put(&mut body, summary, written);
    }
    let mut hash = Xxh3::new();
    hash.update(&body.0);
    let mut out = Vec::with_capacity(HEAD + body.0.len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&key.to_le_bytes());
    out.extend_from_slice(&hash.digest().to_le_bytes());
    out.extend_from_slice(&body.0);
    out
}

fn put(out: &mut Bytes, summary: &Summary, written: &Written) {
    out.number(summary.steps);
    let end: &[u64] = match summary.end {
        None => &[0],
        Some(End::Exit { status }) => &[1, status.into()],
        Some(End::Crash { signal, address, located }) => &[2, signal.into(), address, located.into()],
        Some(End::Exec) => &[3],
        Some(End::Cut) => &[4],
    };
    end.iter().for_each(|n| out.number(*n));
    out.number(summary.unfinished.is_some().into());
    if let Some((function, index, depth)) = summary.unfinished {
        [function, index, depth].into_iter().for_each(|n| out.number(n.into()));
    }
    out.number(summary.starts.len() as u64);
    for s in &summary.starts {
        out.number(s.stream.map_or(0, |n| u64::from(n) + 1));
        [s.step, s.routine, s.argument].into_iter().for_each(|n| out.number(n));
    }
    out.number(summary.entry.is_some().into());
    if let Some((function, argument)) = summary.entry {
        out.number(function.into());
        out.number(argument);
    }
    out.number(summary.left.is_some().into());
    summary.left.into_iter().for_each(|n| out.number(n));
    out.number(summary.sinks.len() as u64);
    for sink in &summary.sinks {
        out.number(sink.kind.into());
        out.slice(sink.name.as_bytes());
    }
    out.number(written.functions.len() as u64);
    for (function, columns) in &written.functions {
        out.number((*function).into());
        out.number(columns.len() as u64);
        for pieces in columns {
            out.number(pieces.len() as u64);
            pieces.iter().for_each(|p| out.slice(&p.bytes));
        }
    }
    out.number(written.records.len() as u64);
    written.records.iter().for_each(|r| out.slice(r));
    out.number(written.outputs.len() as u64);
    written.outputs.iter().for_each(|o| out.slice(o));
}

/// Where the parts of a stream are in the file.
#[derive(Debug, Default)]
struct Parts {
    functions: Vec<(u32, Vec<Vec<Range<usize>>>)>,
    records: Vec<Range<usize>>,
    outputs: Vec<Range<usize>>,
}

/// An index in memory.
#[derive(Debug)]
pub struct Index {
    bytes: Vec<u8>,
    key: u64,
    streams: Vec<(Summary, Parts)>,
}

impl Index {
    /// Where the index of a process lies, in the process's directory.
    #[must_use]
    pub fn path(recording: &Path, process: &str) -> PathBuf {
        recording.join(process).join("index")
    }

    /// Reads an index that must belong to a process.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn open(path: &Path, process: &LoadedProcess) -> Result<Index, Error> {
        let bytes =
            std::fs::read(path).map_err(|error| Error::Io { what: "read", path: path.to_owned(), error })?;
        let index = Index::parse(bytes, path)?;
        if index.key != key(process) || index.streams.len() != process.streams.len() {
            return Err(Error::Stale { path: path.to_owned() });
        }
        Ok(index)
    }

    /// Reads an index from memory; `path` is for errors.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn parse(bytes: Vec<u8>, path: &Path) -> Result<Index, Error> {
        let path = || path.to_owned();
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        if bytes.len() < HEAD || !bytes.starts_with(MAGIC) {
            return Err(Error::NotAnIndex { path: path() });
        }
        let found = word(8) as u32;
        if found != VERSION {
            return Err(Error::Version { path: path(), found });
        }
        let mut hash = Xxh3::new();
        hash.update(&bytes[HEAD..]);
        if hash.digest() != word(20) {
            return Err(Error::Damaged { path: path() });
        }
        let key = word(12);
        let streams = streams(&bytes).ok_or_else(|| Error::Damaged { path: path() })?;
        Ok(Index { bytes, key, streams })
    }

    /// Bytes of the file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// What is known of a stream, by its index in the process.
    #[must_use]
    pub fn summary(&self, stream: u32) -> Option<&Summary> {
        self.streams.get(stream as usize).map(|s| &s.0)
    }

    /// A stream as it can be walked.
    #[must_use]
    pub fn stored(&self, stream: u32) -> Option<Stored<'_>> {
        let (summary, parts) = self.streams.get(stream as usize)?;
        let slice = |r: &Range<usize>| &self.bytes[r.clone()];
        let functions = parts
            .functions
            .iter()
            .map(|(f, columns)| (*f, columns.iter().map(|c| c.iter().map(slice).collect()).collect()))
            .collect();
        let records = parts.records.iter().map(slice).collect();
        Some(Stored { steps: summary.steps, functions, records })
    }

    /// What a stream wrote.
    #[must_use]
    pub fn outputs(&self, stream: u32) -> Option<Outputs<'_>> {
        let (summary, parts) = self.streams.get(stream as usize)?;
        let packs = parts.outputs.iter().map(|r| &self.bytes[r.clone()]).collect();
        Some(Outputs { sinks: &summary.sinks, packs, steps: summary.steps })
    }
}

fn streams(bytes: &[u8]) -> Option<Vec<(Summary, Parts)>> {
    let mut input = Input(&bytes[HEAD..]);
    let count = input.count()?;
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(take(&mut input, bytes)?);
    }
    input.0.is_empty().then_some(all)
}

fn take(input: &mut Input<'_>, bytes: &[u8]) -> Option<(Summary, Parts)> {
    let range = |input: &mut Input<'_>| {
        let len = input.slice()?.len();
        let end = bytes.len() - input.0.len();
        Some(end - len..end)
    };
    let mut summary = Summary { steps: input.number()?, ..Summary::default() };
    summary.end = match input.number()? {
        0 => None,
        1 => Some(End::Exit { status: input.short()? }),
        2 => Some(End::Crash {
            signal: input.short()?,
            address: input.number()?,
            located: input.number()? != 0,
        }),
        3 => Some(End::Exec),
        4 => Some(End::Cut),
        _ => return None,
    };
    if input.number()? != 0 {
        summary.unfinished = Some((input.short()?, input.short()?, input.short()?));
    }
    for _ in 0..input.count()? {
        summary.starts.push(Start {
            stream: input.number()?.checked_sub(1).map(u32::try_from).transpose().ok()?,
            step: input.number()?,
            routine: input.number()?,
            argument: input.number()?,
        });
    }
    if input.number()? != 0 {
        summary.entry = Some((input.short()?, input.number()?));
    }
    if input.number()? != 0 {
        summary.left = Some(input.number()?);
    }
    for _ in 0..input.count()? {
        let kind = u8::try_from(input.number()?).ok()?;
        let name = std::str::from_utf8(input.slice()?).ok()?.to_owned();
        summary.sinks.push(Sink { kind, name });
    }
    let mut parts = Parts::default();
    for _ in 0..input.count()? {
        let function = input.short()?;
        let mut columns = Vec::new();
        for _ in 0..input.count()? {
            let mut pieces = Vec::new();
            for _ in 0..input.count()? {
                pieces.push(range(input)?);
            }
            columns.push(pieces);
        }
        parts.functions.push((function, columns));
    }
    for _ in 0..input.count()? {
        parts.records.push(range(input)?);
    }
    for _ in 0..input.count()? {
        parts.outputs.push(range(input)?);
    }
    Some((summary, parts))
}

//! The timeline of a stream: the results of its first pass, stored beside the recording.
//!
//! The first question about a recording replays it from the beginning: this yields checkpoints, a summary of
//! each segment ([`crate::summaries`]), and lists of rare events ([`FirstPassResults`]). The next question reads them
//! from a file, and replays only the segments that can matter to it.
//!
//! | bytes | |
//! |---|---|
//! | 8 | magic |
//! | 8 | checksum of all that follows (XXH3) |
//! | 16 | identity |
//! | 8, 8 | length of the results, compressed and uncompressed |
//! | | the results: a zstd frame of [`FirstPassResults`] in postcard's encoding |
//! | | checkpoints ([`replay::stored`]) |
//!
//! The identity is a hash of the events, the modules with their addresses, the length of segments and the
//! version of the program that wrote it: a file with another identity is ignored. So is a damaged one, and
//! then the first pass is repeated. Failure to write the file is not an error.

use crate::Result;
use crate::prepared::{FirstPassResults, Prepared};
use crate::slicer::Slicer;
use replay::checkpoint::Checkpoints;
use replay::event_cursor::Stream;
use replay::image::Image;
use replay::process::{LoadedProcess, LoadedStream};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const MAGIC: &[u8; 8] = b"relapTL1";
/// Fast, and good enough: the file is written while the user waits for an answer.
const LEVEL: i32 = 1;
/// Maximum length of the results, uncompressed.
const LONGEST: usize = 1 << 30;
/// Average number of pages of memory stored per segment, and for the first.
const PAGES: usize = 24;
const FIRST_PAGES: usize = 1024;
/// Compressing takes time, and reading too: at most so many pages are stored.
const MOST_PAGES: usize = 1 << 15;

/// The file of a stream's timeline; `None` if the process was not loaded from a directory.
#[must_use]
pub fn path(process: &LoadedProcess, stream: &LoadedStream) -> Option<PathBuf> {
    Some(process.directory.as_ref()?.join(format!("t{}.timeline", stream.number)))
}

/// Facts about a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Its steps.
    pub instructions: Range<u64>,
    /// The least number of activations.
    pub depth: u32,
    /// Number of functions of which a block may have run.
    pub functions: usize,
    /// The number of these blocks.
    pub blocks: u32,
    /// Number of bits set in the filter of written lines, and its size.
    pub written: (u32, usize),
    /// Something other than an instruction occurred that may have written memory.
    pub irregular: bool,
    /// Number of reads from files, pipes and the like.
    pub inputs: usize,
    /// Number of writes, likewise.
    pub outputs: usize,
    /// A checkpoint with registers and memory is stored for its beginning.
    pub stored: bool,
}

impl Slicer<'_> {
    /// The segments of a stream.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn timeline(&self, stream: u32) -> Result<Vec<SegmentInfo>> {
        let Prepared { checkpoints, seen } = self.prepared(stream)?;
        let stored: BTreeSet<usize> = checkpoints.stored_segments().collect();
        let segments = (0..checkpoints.len()).filter_map(|index| {
            let instructions = checkpoints.segment(index).instructions;
            let summary = seen.summaries.get(index)?;
            let (blocks, functions) = seen.summaries.blocks(index);
            let is_last = index + 1 == checkpoints.len();
            let transfers = |out: bool| {
                let within = |at: u64| instructions.contains(&at) || is_last && at >= instructions.end;
                seen.io.events.iter().filter(|e| e.out == out && within(e.instruction)).count()
            };
            Some(SegmentInfo {
                depth: summary.depth,
                functions,
                blocks,
                written: summary.filled(),
                irregular: summary.irregular,
                inputs: transfers(false),
                outputs: transfers(true),
                stored: stored.contains(&index),
                instructions,
            })
        });
        Ok(segments.collect())
    }
}

/// The identity of a timeline.
fn identity(image: &Image, stream: &Stream, every: u64) -> [u8; 16] {
    let mut hash = Xxh3::new();
    hash.update(env!("CARGO_PKG_VERSION").as_bytes());
    let mut number = |n: u64| hash.update(&n.to_le_bytes());
    number(every);
    for (index, loaded) in image.modules() {
        number(index.into());
        number(u64::from_le_bytes(loaded.model.id[..8].try_into().unwrap_or_default()));
        number(u64::from_le_bytes(loaded.model.id[8..].try_into().unwrap_or_default()));
        number(loaded.addresses.len() as u64);
        loaded.addresses.iter().for_each(|address| number(*address));
    }
    let header = [stream.initial_stack, stream.time, stream.ticked, stream.sum.unwrap_or(0)];
    header.into_iter().for_each(&mut number);
    number(u64::from(stream.incomplete) << 1 | u64::from(stream.sum.is_some()));
    for part in &stream.parts {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.digest128().to_le_bytes()
}

/// Encodes a timeline; `None` if the stream cannot be replayed to its end.
pub(crate) fn encode(
    image: &Image,
    stream: &Stream,
    every: u64,
    checkpoints: &Checkpoints<'_>,
    seen: &FirstPassResults,
) -> Option<Vec<u8>> {
    let most_pages = (FIRST_PAGES + PAGES * checkpoints.len()).min(MOST_PAGES);
    let points = checkpoints.store(most_pages)?;
    let seen = postcard::to_stdvec(seen).ok().filter(|seen| seen.len() <= LONGEST)?;
    let packed = zstd::bulk::compress(&seen, LEVEL).ok()?;
    let mut out = Vec::with_capacity(48 + packed.len() + points.len());
    out.extend(MAGIC);
    out.extend([0; 8]);
    out.extend(identity(image, stream, every));
    out.extend((packed.len() as u64).to_le_bytes());
    out.extend((seen.len() as u64).to_le_bytes());
    out.extend(packed);
    out.extend(points);
    let checksum = xxh3_64(&out[16..]);
    out[8..16].copy_from_slice(&checksum.to_le_bytes());
    Some(out)
}

/// Writes a timeline atomically, through a temporary file.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let unfinished = PathBuf::from(name);
    let written = std::fs::write(&unfinished, bytes).and_then(|()| std::fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    written
}

/// Decodes a timeline; `None` if the bytes are damaged, or have another identity.
pub(crate) fn decode<'p>(
    image: &'p Image,
    stream: &'p Stream,
    every: u64,
    mut bytes: Vec<u8>,
) -> Option<(Checkpoints<'p>, FirstPassResults)> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    if bytes.get(..8)? != MAGIC
        || number(8)? != xxh3_64(bytes.get(16..)?)
        || bytes.get(16..32)? != identity(image, stream, every)
    {
        return None;
    }
    let (packed, len) = (usize::try_from(number(32)?).ok()?, usize::try_from(number(40)?).ok()?);
    let end = packed.checked_add(48)?;
    if len > LONGEST {
        return None;
    }
    let seen = zstd::bulk::decompress(bytes.get(48..end)?, len).ok()?;
    let seen: FirstPassResults = postcard::from_bytes(&seen).ok()?;
    bytes.drain(..end);
    let checkpoints = Checkpoints::load(image, stream, bytes)?;
    (seen.is_sound(image) && seen.summaries.len() == checkpoints.len()).then_some((checkpoints, seen))
}

//! Checkpoints as bytes, stored between questions.
//!
//! Registers and memory are stored only for a few checkpoints: for all of the last [`DENSE`], and before them
//! for [`PER_OCTAVE`] in each doubling of the distance to the end. Most questions are about the end, and the
//! distance from any instruction to the next stored checkpoint is at most a quarter of its distance to the
//! end.
//!
//! The memory of the last stored checkpoint is stored completely, that of the others as the pages that differ
//! from the next one's, so that checkpoints near the end are the fastest to unpack.
//!
//! ```text
//! length of the table (8 bytes), its length unpacked (8 bytes), the table, the pages of each point
//! ```
//! Table and pages are zstd frames; the table is a [`Table`] in postcard's encoding. The caller is
//! responsible for a checksum; no bytes make the reader panic.

use crate::checkpoint::CheckpointState;
use crate::error::{Error, Result};
use crate::event_cursor::Stream;
use crate::image::Image;
use crate::machine::{Counters, End};
use crate::memory::{History, PAGE, Page, PageMap};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Number of checkpoints before the last that are stored without gaps.
const DENSE: usize = 8;
/// Number of stored checkpoints for each doubling of the distance before that, as a power of two.
const PER_OCTAVE: u32 = 2;
/// Fast, with a sufficient ratio: this runs while the user waits for an answer.
const LEVEL: i32 = 1;
/// Maximal length of a table.
const MAX_TABLE_LEN: usize = 1 << 28;
/// Maximal number of pages of a checkpoint.
const MAX_PAGES: usize = 1 << 22;

/// Data of all checkpoints.
#[derive(Serialize, Deserialize)]
pub(crate) struct Table {
    /// The first instruction of each segment.
    pub starts: Vec<u64>,
    pub counters: Counters,
    pub end: Option<End>,
    points: Vec<StoredPoint>,
}

/// A checkpoint with registers and memory.
#[derive(Serialize, Deserialize)]
struct StoredPoint {
    /// The segment that it begins.
    segment: usize,
    point: CheckpointState,
    /// Pages that differ from those of the next stored checkpoint.
    pages: Vec<u64>,
    /// Pages of the next one that were not written yet.
    unwritten: Vec<u64>,
    /// Position of the pages after the table.
    bytes: Range<usize>,
}

type Pages = Arc<PageMap<Arc<Page>>>;

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct StoredCheckpoints {
    points: Vec<StoredPoint>,
    /// Memory of each checkpoint that was unpacked.
    memory: Vec<OnceLock<Pages>>,
    bytes: Vec<u8>,
}

/// Whether the checkpoint at this distance before the last one is stored.
fn is_stored(distance: usize) -> bool {
    let octave = distance.max(1).ilog2();
    distance < DENSE || distance.trailing_zeros() + PER_OCTAVE >= octave
}

impl StoredCheckpoints {
    /// None if the memory of the last checkpoint alone exceeds `most_pages`.
    pub fn encode(
        points: &[CheckpointState],
        history: &History,
        (counters, end): (Counters, Option<End>),
        most_pages: usize,
    ) -> Option<Vec<u8>> {
        let mut stored: Vec<StoredPoint> = Vec::new();
        let mut packed = Vec::new();
        let mut later: PageMap<u32> = PageMap::default();
        let mut room = most_pages.min(MAX_PAGES);
        // The start of the stream needs no checkpoint.
        for (segment, point) in points.iter().enumerate().skip(1).rev() {
            if !is_stored(points.len() - 1 - segment) {
                continue;
            }
            let (mut pages, mut unwritten, mut content) = (Vec::new(), Vec::new(), Vec::new());
            for (number, version) in history.pages_at(point.memory) {
                match version {
                    Some((version, _)) if later.get(&number) == Some(version) => {}
                    Some((version, page)) => {
                        pages.push(number);
                        content.push(page);
                        later.insert(number, *version);
                    }
                    None => unwritten.extend(later.remove(&number).map(|_| number)),
                }
            }
            let Some(left) = room.checked_sub(pages.len()) else { break };
            room = left;
            let start = packed.len();
            packed.extend(zstd::bulk::compress(&flat(&content), LEVEL).ok()?);
            let mut point = point.clone();
            point.memory = 0;
            stored.push(StoredPoint { segment, point, pages, unwritten, bytes: start..packed.len() });
        }
        stored.reverse();
        let starts = points.iter().map(CheckpointState::instructions).collect();
        let table = postcard::to_stdvec(&Table { starts, counters, end, points: stored }).ok()?;
        let packed_table = zstd::bulk::compress(&table, LEVEL).ok()?;
        let mut out = Vec::with_capacity(16 + packed_table.len() + packed.len());
        out.extend((packed_table.len() as u64).to_le_bytes());
        out.extend((table.len() as u64).to_le_bytes());
        out.extend(packed_table);
        out.extend(packed);
        Some(out)
    }

    /// None if the bytes are damaged, or belong to another stream.
    pub fn load(image: &Image, stream: &Stream, mut bytes: Vec<u8>) -> Option<(Table, StoredCheckpoints)> {
        let number = |at: usize| -> Option<usize> {
            let bytes = bytes.get(at..at + 8)?;
            usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
        };
        let (packed, len) = (number(0)?, number(8)?);
        if len > MAX_TABLE_LEN {
            return None;
        }
        let end = packed.checked_add(16)?;
        let table = zstd::bulk::decompress(bytes.get(16..end)?, len).ok()?;
        let mut table: Table = postcard::from_bytes(&table).ok()?;
        bytes.drain(..end);
        let points = std::mem::take(&mut table.points);
        let is_sound = table.starts.first() == Some(&0)
            && table.starts.is_sorted_by(|a, b| a < b)
            && table.starts.last().is_some_and(|last| *last <= table.counters.instructions)
            && points.is_sorted_by(|a, b| a.segment < b.segment)
            && points.iter().all(|p| {
                p.segment > 0
                    && table.starts.get(p.segment) == Some(&p.point.instructions())
                    && p.point.memory == 0
                    && p.pages.len() <= MAX_PAGES
                    && p.point.is_possible(image, stream)
                    && bytes.get(p.bytes.clone()).is_some()
            });
        let memory = points.iter().map(|_| OnceLock::new()).collect();
        is_sound.then_some((table, StoredCheckpoints { points, memory, bytes }))
    }

    /// The segments that begin with a stored checkpoint, in order.
    pub fn segments(&self) -> impl Iterator<Item = usize> + '_ {
        self.points.iter().map(|p| p.segment)
    }

    /// A stored checkpoint, by its number among them, and its memory.
    pub fn get(&self, number: usize) -> Result<(&CheckpointState, Pages)> {
        let known = (number..self.points.len()).find(|n| self.memory[*n].get().is_some());
        let mut next = known.and_then(|n| self.memory[n].get()).cloned().unwrap_or_default();
        for n in (number..known.unwrap_or(self.points.len())).rev() {
            let unpacked = Arc::new(self.unpack(&self.points[n], &next).ok_or(Error::StoredCheckpoints)?);
            next = self.memory[n].get_or_init(|| unpacked).clone();
        }
        Ok((&self.points[number].point, next))
    }

    /// The memory of a checkpoint, from that of the next one.
    fn unpack(&self, stored: &StoredPoint, next: &Pages) -> Option<PageMap<Arc<Page>>> {
        let mut pages = PageMap::clone(next);
        let content =
            zstd::bulk::decompress(self.bytes.get(stored.bytes.clone())?, stored.pages.len() * PAGE).ok()?;
        if content.len() != stored.pages.len() * PAGE {
            return None;
        }
        for number in &stored.unwritten {
            pages.remove(number);
        }
        for (number, content) in stored.pages.iter().zip(content.chunks_exact(PAGE)) {
            pages.insert(*number, Arc::new(content.try_into().ok()?));
        }
        Some(pages)
    }
}

/// Concatenates pages.
fn flat(pages: &[&Arc<Page>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pages.len() * PAGE);
    for page in pages {
        bytes.extend_from_slice(&page[..]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_checkpoints_are_denser_towards_the_end() {
        let stored: Vec<usize> = (0..=64).filter(|d| is_stored(*d)).collect();
        assert_eq!(stored, [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64]);
        for at in 1..10_000 {
            let before = (at..).find(|d| is_stored(*d)).unwrap_or(usize::MAX);
            assert!(before - at <= at / 4, "{at}: {before}");
        }
    }
}

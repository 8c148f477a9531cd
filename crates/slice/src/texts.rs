//! Output by its text: the offsets of a text in what a process wrote, and its origin.

use crate::Result;
use crate::criterion::{Criterion, Wanted};
use crate::outputs;
use crate::slicer::Slicer;
use std::collections::BTreeMap;
use std::ops::Range;

/// At most so many bytes of an output are assembled.
const MOST_BYTES: u64 = 256 << 20;

/// Contiguous bytes of an output.
#[derive(Default)]
struct Written {
    start: u64,
    bytes: Vec<u8>,
}

/// Assembles parts of an output, each with its offset, into one text with its offset. `None` if there are no
/// parts.
#[must_use]
pub fn assemble_parts<'b>(parts: impl Iterator<Item = (u64, &'b [u8])> + Clone) -> Option<(u64, Vec<u8>)> {
    let start = parts.clone().map(|(at, _)| at).min()?;
    let mut all = Vec::new();
    // Parts after a hole that a seek left in a file are ignored.
    let is_near = |(at, bytes): &(u64, &[u8])| at - start + (bytes.len() as u64) <= MOST_BYTES;
    for (at, bytes) in parts.filter(is_near) {
        let from = (at - start) as usize;
        let end = from + bytes.len();
        if all.len() < end {
            all.resize(end, 0);
        }
        all[from..end].copy_from_slice(bytes);
    }
    Some((start, all))
}

impl Slicer<'_> {
    /// The offsets at which a text occurs in an output (see [`Slicer::output_criterion`]), in ascending order.
    /// Bytes that the recording does not have match no text.
    ///
    /// # Errors
    /// If replay fails.
    pub fn find_output(&self, sink: &str, text: &[u8]) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        for written in self.written(sink)? {
            let windows = written.bytes.windows(text.len().max(1)).enumerate();
            found.extend(windows.filter(|(_, w)| *w == text).map(|(at, _)| written.start + at as u64));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// What the process wrote to an output, as far as it was recorded, with the offset of its first byte.
    /// `None` if it wrote nothing.
    ///
    /// # Errors
    /// If replay fails.
    pub fn output_bytes(&self, sink: &str) -> Result<Option<(u64, Vec<u8>)>> {
        let written = self.written(sink)?;
        Ok(assemble_parts(written.iter().map(|part| (part.start, part.bytes.as_slice()))))
    }

    fn written(&self, sink: &str) -> Result<Vec<Written>> {
        let mut events: BTreeMap<(&str, u64), &[u8]> = BTreeMap::new();
        for stream in 0..self.process.streams.len() as u32 {
            let io = self.io(stream)?;
            for event in io.events.iter().filter(|e| e.out && e.length > 0) {
                let source = &io.sources[event.source];
                if outputs::is_meant(source.kind, &source.name, sink) {
                    // The last write at an offset is kept.
                    events.insert((source.name.as_str(), event.offset), &event.bytes);
                }
            }
        }
        let mut all: Vec<Written> = Vec::new();
        let mut of = None;
        for ((name, offset), bytes) in events {
            match all.last_mut() {
                Some(last) if of == Some(name) && last.start + last.bytes.len() as u64 == offset => {
                    last.bytes.extend_from_slice(bytes);
                }
                _ => all.push(Written { start: offset, bytes: bytes.to_vec() }),
            }
            of = Some(name);
        }
        Ok(all)
    }

    /// Criteria for the origin of some bytes of an output, one for each call that wrote any.
    ///
    /// # Errors
    /// If replay fails.
    pub fn output_criteria(&self, sink: &str, bytes: Range<u64>) -> Result<Vec<Criterion>> {
        let mut criteria: Vec<Criterion> = Vec::new();
        let mut last = None;
        for offset in bytes {
            let Some((stream, event)) = self.writer(sink, offset)? else { continue };
            if last.as_ref().is_none_or(|(s, e, _)| (*s, *e) != (stream, event)) {
                last = Some((stream, event, self.output(stream, event)?));
            }
            let Some((_, _, output)) = &last else { continue };
            let asked = outputs::criterion(stream, output, offset - output.offset);
            match criteria.iter_mut().find(|c| c.at == asked.at) {
                None => criteria.push(asked),
                Some(known) => {
                    for wanted in asked.wanted {
                        join(&mut known.wanted, wanted);
                    }
                }
            }
        }
        Ok(criteria)
    }
}

/// Adds an item; adjacent bytes become one range.
fn join(all: &mut Vec<Wanted>, wanted: Wanted) {
    if let Wanted::Memory { address, len } = wanted
        && let Some(Wanted::Memory { len: before, .. }) = all
            .iter_mut()
            .find(|w| matches!(w, Wanted::Memory { address: a, len: l } if a.wrapping_add(*l) == address))
    {
        *before += len;
        return;
    }
    if !all.contains(&wanted) {
        all.push(wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processes_wrote_is_put_together_by_its_place() {
        let parts = [(5, b"cd".as_slice()), (3, b"ab".as_slice())];
        assert_eq!(assemble_parts(parts.into_iter()), Some((3, b"abcd".to_vec())));
        assert_eq!(assemble_parts([].into_iter()), None);
        let behind_a_hole = [(0, b"a".as_slice()), (MOST_BYTES, b"b".as_slice())];
        assert_eq!(assemble_parts(behind_a_hole.into_iter()), Some((0, b"a".to_vec())));
    }
}

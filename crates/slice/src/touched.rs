//! Which variables with initial values the recorded code has accessed so far.
//!
//! Replay's memory has what instrumented code wrote or read. A variable with an initial value that was
//! neither read nor written yet is zero there, and its value is the one in the binary.

use crate::Result;
use crate::criterion::Occurrence;
use crate::prepared::Prepared;
use crate::slicer::Slicer;
use crate::summaries::Summaries;
use recording::event::{Event, Position};
use replay::constants::Initial;
use replay::image::Image;
use replay::observer::{Effect, EventContext, ExternalCall, Observer, View};
use rustc_hash::FxHashMap;

const PAGE: u64 = 4096;
/// Number of bits in the filter of pages.
const FILTER: u64 = 4096;

/// Bytes with an initial value that were read or written.
#[derive(Clone)]
pub struct Touched<'a> {
    image: &'a Image,
    /// The pages that have initial values, with a bit for each byte.
    pages: FxHashMap<u64, [u64; 64]>,
    /// Filter of the page numbers modulo [`FILTER`]: most accesses are to other pages.
    filter: [u64; 64],
    /// Ranges with at least one byte that was not touched before.
    fresh: Vec<(u64, u64)>,
}

impl<'a> Touched<'a> {
    /// Nothing was accessed yet.
    #[must_use]
    pub fn new(image: &'a Image) -> Touched<'a> {
        let mut touched = Touched { image, pages: FxHashMap::default(), filter: [0; 64], fresh: Vec::new() };
        for part in image.initial_within(0, u64::MAX) {
            for page in part.start / PAGE..=(part.end - 1) / PAGE {
                touched.pages.insert(page, [0; 64]);
                touched.filter[(page % FILTER / 64) as usize] |= 1 << (page % 64);
            }
        }
        touched
    }

    /// What was touched before a segment.
    pub(crate) fn before(image: &'a Image, summaries: &Summaries, segment: usize) -> Touched<'a> {
        let mut touched = Touched::new(image);
        for (address, len) in (0..segment).filter_map(|n| summaries.get(n)).flat_map(|s| &s.touched) {
            touched.touch(*address, *len);
        }
        touched
    }

    /// The value of an untouched byte; `None` if the value is the one in memory.
    #[must_use]
    pub fn initial(&self, address: u64) -> Option<Initial> {
        let initial = self.image.initial(address)?;
        let at = address % PAGE;
        let bits = self.pages.get(&(address / PAGE))?[at as usize / 64];
        (bits >> (at % 64) & 1 == 0).then_some(initial)
    }

    /// The ranges with initial values that were touched for the first time since the last call.
    pub(crate) fn take_fresh(&mut self) -> Vec<(u64, u64)> {
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.sort_unstable();
        let mut out: Vec<(u64, u64)> = Vec::new();
        let parts = fresh.into_iter().flat_map(|(address, len)| self.image.initial_within(address, len));
        for part in parts {
            match out.last_mut() {
                Some((start, len)) if part.start <= *start + *len => {
                    *len = (*len).max(part.end - *start);
                }
                _ => out.push((part.start, part.end - part.start)),
            }
        }
        out
    }

    fn may_have(&self, page: u64) -> bool {
        self.filter[(page % FILTER / 64) as usize] >> (page % 64) & 1 != 0
    }

    #[inline]
    pub(crate) fn touch(&mut self, address: u64, len: u64) {
        let last = address.saturating_add(len.max(1) - 1);
        if len > PAGE || self.may_have(address / PAGE) || self.may_have(last / PAGE) {
            self.touch_pages(address, last);
        }
    }

    #[cold]
    fn touch_pages(&mut self, address: u64, last: u64) {
        let (first_page, last_page) = (address / PAGE, last / PAGE);
        if last_page - first_page < self.pages.len() as u64 {
            for page in first_page..=last_page {
                self.touch_page(page, address, last);
            }
            return;
        }
        let within = first_page..=last_page;
        let pages: Vec<u64> = self.pages.keys().copied().filter(|page| within.contains(page)).collect();
        for page in pages {
            self.touch_page(page, address, last);
        }
    }

    fn touch_page(&mut self, page: u64, address: u64, last: u64) {
        let Some(bits) = self.pages.get_mut(&page) else { return };
        let (from, to) = (address.max(page * PAGE) % PAGE, last.min(page * PAGE + PAGE - 1) % PAGE);
        let mut is_new = false;
        for word in from / 64..=to / 64 {
            let low = from.max(word * 64) % 64;
            let high = to.min(word * 64 + 63) % 64;
            let mask = (u64::MAX >> (63 - (high - low))) << low;
            is_new |= mask & !bits[word as usize] != 0;
            bits[word as usize] |= mask;
        }
        if is_new {
            self.fresh.push((page * PAGE + from, to - from + 1));
        }
    }

    #[inline]
    pub(crate) fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Load { address, len }
            | Effect::Store { address, len }
            | Effect::Update { address, len, .. } => self.touch(address, len.into()),
            Effect::Copy { to, from, len } => {
                self.touch(to, len);
                self.touch(from, len);
            }
            Effect::Fill { to, len } => self.touch(to, len),
        }
    }
}

impl Observer for Touched<'_> {
    const ALL_STEPS: bool = false;

    #[inline]
    fn step(&mut self, _: &View<'_>, effect: Effect) {
        self.effect(effect);
    }

    fn external(&mut self, _: &View<'_>, call: &ExternalCall<'_>) {
        for (address, len) in call.reads.iter().chain(call.writes) {
            self.touch(*address, *len);
        }
    }

    fn event(&mut self, _: &EventContext<'_>, _: Position, event: &Event<'_>) {
        match event {
            Event::Patch { address, bytes } => self.touch(*address, bytes.len() as u64),
            Event::Zeroed { address, length } => self.touch(*address, *length),
            _ => {}
        }
    }
}

impl<'p> Slicer<'p> {
    /// What was touched before a step.
    pub(crate) fn touched(&self, at: Occurrence) -> Result<Touched<'p>> {
        let Prepared { checkpoints, seen } = self.prepared(at.stream)?;
        let segment = checkpoints.segment_of(at.step);
        let mut touched = Touched::before(&self.process.image, &seen.summaries, segment);
        checkpoints.machine_of(segment)?.run(&mut touched, at.step)?;
        Ok(touched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_initial_values_has_none_to_touch() {
        let image = Image::new(std::collections::BTreeMap::new());
        let mut touched = Touched::new(&image);
        touched.touch(0, u64::MAX);
        touched.touch(u64::MAX, 8);
        assert_eq!((touched.take_fresh(), touched.initial(5)), (Vec::new(), None));
    }
}

//! Maps an address to the object that contains it: a variable of static storage, a variable of an
//! activation, or a heap block.
//!
//! The pass looks up every range that becomes live, mostly close to the last one. So results are cached,
//! with the addresses and steps for which they hold.

use crate::heap::Heap;
use crate::relevance::AlternativeEffects;
use program::objects::ObjectId;

/// An object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryObject {
    pub object: ObjectId,
    pub start: u64,
    pub end: u64,
    /// No other object ever overlapped it.
    pub is_sole_occupant: bool,
}

/// A cached result, and where it holds: for addresses from the object's start to `until`, at all steps from
/// `since` on. The pass visits steps in descending order.
#[derive(Clone, Copy)]
struct Cached {
    place: MemoryObject,
    until: u64,
    since: u64,
}

const NONE: Cached = Cached {
    place: MemoryObject { object: 0, start: 0, end: 0, is_sole_occupant: false },
    until: 0,
    since: 0,
};

/// The cache has one table by lines of memory, for small objects, and one by regions, for large ones.
const LINE: u32 = 6;
const LINES: usize = 1 << 12;
const REGION: u32 = 16;
const REGIONS: usize = 1 << 8;
const IN_FRAMES: usize = 1 << 10;

/// See the module's documentation.
pub struct Objects<'w> {
    facts: &'w AlternativeEffects<'w>,
    heap: &'w Heap,
    /// The object that each allocation call chain allocates.
    made: Vec<Option<ObjectId>>,
    /// Frames of live activations: address, size and function. The stack grows down, so the addresses are
    /// descending.
    stack: Vec<(u64, u64, u32)>,
    /// Addresses of the frames by depth.
    frames: Vec<Option<u64>>,
    lines: Vec<Cached>,
    regions: Vec<Cached>,
    /// By a hash of function and offset: both, and the variable with its addresses relative to the frame.
    in_frames: Vec<(u32, u64, Option<MemoryObject>)>,
}

impl<'w> Objects<'w> {
    pub fn new(facts: &'w AlternativeEffects<'w>, heap: &'w Heap) -> Objects<'w> {
        Objects {
            facts,
            heap,
            made: heap.chains().iter().map(|chain| facts.made(chain)).collect(),
            stack: Vec::new(),
            frames: Vec::new(),
            lines: vec![NONE; LINES],
            regions: vec![NONE; REGIONS],
            in_frames: vec![(u32::MAX, 0, None); IN_FRAMES],
        }
    }

    /// Records the frame of a live activation.
    pub fn frame(&mut self, depth: u32, function: u32, at: u64) {
        self.leave(depth);
        self.frames.resize(depth as usize, None);
        let size = self.facts.frame_size(function);
        // An activation without a frame of its own has the address of its caller's.
        if size > 0 {
            self.frames[depth as usize - 1] = Some(at);
            self.stack.push((at, size, function));
        }
    }

    /// Activations from this depth on are not live (yet).
    pub fn leave(&mut self, depth: u32) {
        while self.frames.len() >= depth as usize && !self.frames.is_empty() {
            if let Some(Some(_)) = self.frames.pop() {
                self.stack.pop();
            }
        }
    }

    /// The address of an activation's frame, if it has one.
    pub fn frame_of(&self, f: usize) -> Option<u64> {
        self.frames.get(f).copied().flatten()
    }

    /// The object that contains an address at a step; steps must not increase between calls.
    #[inline]
    pub fn find(&mut self, stream: u32, step: u64, address: u64) -> Option<MemoryObject> {
        let line = &self.lines[(address >> LINE) as usize % LINES];
        if line.holds(address, step) {
            return Some(line.place);
        }
        let region = self.regions[(address >> REGION) as usize % REGIONS];
        if region.holds(address, step) {
            self.lines[(address >> LINE) as usize % LINES] = region;
            return Some(region.place);
        }
        self.look_up(stream, step, address)
    }

    fn look_up(&mut self, stream: u32, step: u64, address: u64) -> Option<MemoryObject> {
        if let Some((place, until)) = self.facts.static_at(address) {
            self.keep(address, Cached { place, until, since: 0 });
            return Some(place);
        }
        let frame = self.stack.get(self.stack.partition_point(|s| s.0 > address)).copied();
        if let Some((base, size, function)) = frame
            && address.checked_sub(base).is_some_and(|offset| offset < size)
        {
            return self.in_frame(base, function, address - base);
        }
        let found = self.heap.find(address, stream, step)?;
        let object = self.made[found.block.chain as usize]?;
        let (start, block) = (found.start, &found.block);
        let end = start.saturating_add(block.size);
        let place =
            MemoryObject { object, start, end, is_sole_occupant: self.heap.is_sole_occupant(start, block) };
        if let Some(until) = found.until {
            self.keep(address, Cached { place, until, since: found.block.step });
        }
        Some(place)
    }

    fn keep(&mut self, address: u64, it: Cached) {
        self.lines[(address >> LINE) as usize % LINES] = it;
        self.regions[(address >> REGION) as usize % REGIONS] = it;
    }

    fn in_frame(&mut self, base: u64, function: u32, offset: u64) -> Option<MemoryObject> {
        let hash = (offset ^ u64::from(function) << 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let known = &mut self.in_frames[hash as usize % IN_FRAMES];
        if (known.0, known.1) != (function, offset) {
            let variable = self.facts.in_frame(function, offset);
            *known = (function, offset, variable);
        }
        let variable = known.2?;
        let (start, end) = (base.wrapping_add(variable.start), base.saturating_add(variable.end));
        Some(MemoryObject { start, end, ..variable })
    }
}

impl Cached {
    #[inline]
    fn holds(&self, address: u64, step: u64) -> bool {
        address >= self.place.start && address < self.until && step >= self.since
    }
}

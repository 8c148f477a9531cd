//! A summary of each segment, which answers some questions without a replay of it.
//!
//! The first pass records which blocks ran, which lines of memory (64 bytes) instructions wrote, the least
//! depth of the call stack, whether anything other than instructions occurred (external calls, events of the
//! recording, jumps), and which variables with initial values were touched for the first time. Each is an
//! over-approximation: a block counts as run once control reached it, and written lines are a Bloom filter
//! with one hash function. So a segment may be replayed in vain, but none that matters is left out.
//!
//! The fast loop of the replay reports fused edges, and recording one is a store of one byte. The blocks of
//! these edges are computed once per segment.

use crate::slice::Site;
use crate::touched::Touched;
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Effect, View};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Maximum and minimum number of bits in the filter of lines, and number of instructions per bit.
const MOST_BITS: usize = 1 << 15;
const LEAST_BITS: usize = 1 << 8;
const STEPS_PER_BIT: u64 = 32;
/// Log2 of the bytes of a line.
const LINE: u32 = 6;
/// The index of a function without marks.
const ABSENT: usize = usize::MAX;

/// The number of a function in the image, and a block of it.
pub type BlockOf = (u32, u32);

/// The blocks of some instructions.
pub fn blocks_of<'s>(image: &Image, sites: impl IntoIterator<Item = &'s Site>) -> Vec<BlockOf> {
    let mut all: Vec<BlockOf> = Vec::new();
    for site in sites {
        let Some(number) = image.function(site.module, site.function) else { continue };
        let blocks = &image.module(site.module).functions[site.function as usize].blocks;
        let within = blocks.iter().position(|b| (b.start..b.end).contains(&site.index));
        all.extend(within.map(|block| (number, block as u32)));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Blocks of a function that ran: its number in the image, and a bit set.
type Ran = (u32, Vec<u64>);

/// The summary of one segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Index of its set of blocks in [`Summaries::sets`].
    set: u32,
    /// The least number of activations while it ran.
    pub depth: u32,
    /// Something other than an instruction occurred that may have written memory.
    pub irregular: bool,
    /// Bloom filter of the written lines.
    lines: Vec<u64>,
    /// Ranges with initial values that were touched for the first time: address and length.
    pub touched: Vec<(u64, u64)>,
}

/// The summaries of all segments of a stream, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summaries {
    segments: Vec<Summary>,
    /// Interned sets of blocks: segments are much alike.
    sets: Vec<Vec<Ran>>,
}

impl Summaries {
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    pub fn get(&self, segment: usize) -> Option<&Summary> {
        self.segments.get(segment)
    }

    /// Whether a block of a function may have run in a segment; `true` if the segment has no summary.
    pub fn may_run(&self, segment: usize, function: u32, block: u32) -> bool {
        let Some(summary) = self.get(segment) else { return true };
        let Some(set) = self.sets.get(summary.set as usize) else { return true };
        let Ok(at) = set.binary_search_by_key(&function, |ran| ran.0) else { return false };
        set[at].1.get(block as usize / 64).is_some_and(|word| word >> (block % 64) & 1 != 0)
    }

    /// Whether one of these blocks may have run in a segment.
    pub fn may_run_any(&self, segment: usize, blocks: &[BlockOf]) -> bool {
        blocks.iter().any(|(function, block)| self.may_run(segment, *function, *block))
    }

    /// How many blocks ran in a segment, and of how many functions.
    pub fn blocks(&self, segment: usize) -> (u32, usize) {
        let set = self.get(segment).and_then(|s| self.sets.get(s.set as usize));
        let ones = |ran: &Ran| ran.1.iter().map(|word| word.count_ones()).sum::<u32>();
        set.map_or((0, 0), |set| (set.iter().map(ones).sum(), set.len()))
    }
}

impl Summary {
    /// Whether an instruction may have written to the line with this number.
    pub fn may_write(&self, line: u64) -> bool {
        if !self.lines.len().is_power_of_two() {
            return true;
        }
        let bit = bit(line, self.lines.len());
        self.lines.get(bit / 64).is_none_or(|word| word >> (bit % 64) & 1 != 0)
    }

    /// Number of bits set in the filter, and its size.
    pub fn filled(&self) -> (u32, usize) {
        (self.lines.iter().map(|word| word.count_ones()).sum(), 64 * self.lines.len())
    }
}

/// The bit of a line in a filter of so many words, a power of two.
#[inline]
fn bit(line: u64, words: usize) -> usize {
    (line.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (64 * words - 1)
}

/// Computes the summaries in the first pass, whose observer calls are forwarded to it.
pub struct Summarise<'p> {
    image: &'p Image,
    /// Per function number, the index of its marks: one per fused edge, then one per instruction.
    places: Vec<usize>,
    /// Functions that have marks, and their indices.
    functions: Vec<(u32, usize)>,
    marks: Vec<u8>,
    /// Index of the running function's marks.
    running: usize,
    /// The least number of activations so far: of those in which an instruction ran, and of all.
    low: u32,
    depth: u32,
    irregular: bool,
    lines: Vec<u64>,
    last_line: u64,
    started: bool,
    index: FxHashMap<Vec<Ran>, u32>,
    made: Summaries,
}

impl<'p> Summarise<'p> {
    /// For segments of so many instructions.
    pub fn new(image: &'p Image, every: u64) -> Summarise<'p> {
        let bits = usize::try_from(every / STEPS_PER_BIT).unwrap_or(MOST_BITS);
        let bits = bits.clamp(LEAST_BITS, MOST_BITS).next_power_of_two();
        Summarise {
            image,
            places: vec![ABSENT; image.functions() as usize],
            functions: Vec::new(),
            marks: Vec::new(),
            running: ABSENT,
            low: 0,
            depth: 0,
            irregular: false,
            lines: vec![0; bits / 64],
            last_line: u64::MAX,
            started: false,
            index: FxHashMap::default(),
            made: Summaries::default(),
        }
    }

    /// Ends the previous segment and begins one in this state of the machine.
    pub fn checkpoint(&mut self, machine: &Machine<'_>, touched: &mut Touched<'_>) {
        self.end_segment(touched);
        self.started = true;
        self.running = ABSENT;
        (self.low, self.depth) = (machine.frames().len() as u32, machine.frames().len() as u32);
        if let Some(view) = machine.view() {
            self.runs(&view);
            self.mark(&view, view.index);
        }
    }

    pub fn finish(mut self, touched: &mut Touched<'_>) -> Summaries {
        self.end_segment(touched);
        self.made
    }

    fn end_segment(&mut self, touched: &mut Touched<'_>) {
        if !std::mem::take(&mut self.started) {
            return;
        }
        let mut set: Vec<Ran> = Vec::new();
        for (function, place) in &self.functions {
            let ran = blocks(self.image, *function, &self.marks[*place..]);
            if ran.iter().any(|word| *word != 0) {
                set.push((*function, ran));
            }
        }
        self.marks.fill(0);
        set.sort_unstable_by_key(|ran| ran.0);
        let next = self.made.sets.len() as u32;
        let set = *self.index.entry(set).or_insert_with_key(|set| {
            self.made.sets.push(set.clone());
            next
        });
        let lines = self.lines.clone();
        self.lines.fill(0);
        self.last_line = u64::MAX;
        let irregular = std::mem::take(&mut self.irregular);
        let (depth, touched) = (self.depth.min(self.low), touched.take_fresh());
        self.made.segments.push(Summary { set, depth, irregular, lines, touched });
    }

    /// Sets the running function to the view's.
    #[inline]
    fn runs(&mut self, view: &View<'_>) {
        let Some(number) = view.image.function(view.code.module, view.code.function) else { return };
        self.running = self.places[number as usize];
        if self.running == ABSENT {
            self.running = self.marks.len();
            self.places[number as usize] = self.running;
            self.functions.push((number, self.running));
            let fused_edges = view.code.fused.as_ref().map_or(0, |fused| fused.fused_edges.len());
            self.marks.resize(self.running + fused_edges + view.code.ops.len(), 0);
        }
    }

    /// An instruction of the running function runs, or is about to.
    fn mark(&mut self, view: &View<'_>, index: u32) {
        let fused_edges = view.code.fused.as_ref().map_or(0, |fused| fused.fused_edges.len());
        if let Some(mark) = self.marks.get_mut(self.running.saturating_add(fused_edges + index as usize)) {
            *mark = 1;
        }
    }

    #[inline(always)]
    pub fn fused_edge(&mut self, fused_edge: u32) {
        if let Some(mark) = self.marks.get_mut(self.running.wrapping_add(fused_edge as usize)) {
            *mark = 1;
        }
    }

    /// The plain loop of the replay takes an edge to a block.
    pub fn edge(&mut self, view: &View<'_>, to: u32) {
        if let Some(block) = view.function().blocks.get(to as usize) {
            self.mark(view, block.start);
        }
    }

    pub fn enter(&mut self, view: &View<'_>) {
        self.depth = self.depth.min(view.depth.saturating_sub(1));
        self.irregular |= view.code.by_value;
        self.runs(view);
        self.mark(view, 0);
    }

    #[inline]
    pub fn returned(&mut self, view: &View<'_>) {
        self.runs(view);
        if view.depth < self.low {
            self.low = view.depth;
            self.goes_on(view);
        }
    }

    /// Control returns to the instruction of a view by something other than a plain return.
    pub fn control_returned(&mut self, view: &View<'_>) {
        self.irregular = true;
        self.low = self.low.min(view.depth);
        self.runs(view);
        self.goes_on(view);
    }

    /// Marks the instruction of the view and the next one, which may be in another block.
    fn goes_on(&mut self, view: &View<'_>) {
        self.mark(view, view.index);
        if (view.index as usize) + 1 < view.code.ops.len() {
            self.mark(view, view.index + 1);
        }
    }

    /// Something other than an instruction occurred.
    pub fn irregular(&mut self) {
        self.irregular = true;
    }

    #[inline(always)]
    pub fn step(&mut self, effect: Effect) {
        match effect {
            Effect::Store { address, len } | Effect::Update { address, len, .. } => {
                self.wrote(address, len.into());
            }
            Effect::Copy { to, len, .. } | Effect::Fill { to, len } => self.wrote(to, len),
            Effect::Load { .. } | Effect::None => {}
        }
    }

    #[inline]
    fn wrote(&mut self, address: u64, len: u64) {
        let (first, last) = (address >> LINE, address.wrapping_add(len.max(1) - 1) >> LINE);
        if first == last {
            if first != self.last_line {
                self.last_line = first;
                self.wrote_line(first);
            }
            return;
        }
        self.wrote_lines(first, last);
    }

    #[cold]
    fn wrote_lines(&mut self, first: u64, last: u64) {
        if last < first || last - first >= MOST_BITS as u64 {
            return self.lines.fill(u64::MAX);
        }
        for line in first..=last {
            self.wrote_line(line);
        }
    }

    #[inline]
    fn wrote_line(&mut self, line: u64) {
        let bit = bit(line, self.lines.len());
        self.lines[bit / 64] |= 1 << (bit % 64);
    }
}

/// Decodes the marks of a function into a bit set of its blocks.
fn blocks(image: &Image, function: u32, marks: &[u8]) -> Vec<u64> {
    let code = image.code(function);
    let blocks = &image.module(code.module).functions[code.function as usize].blocks;
    let mut bits = vec![0; blocks.len().div_ceil(64)];
    let mut run = |block: usize| {
        if let Some(word) = bits.get_mut(block / 64) {
            *word |= 1 << (block % 64);
        }
    };
    let fused_edges = code.fused.as_ref().map_or(0, |fused| fused.fused_edges.len());
    for fused_edge in (0..fused_edges).filter(|fused_edge| marks[*fused_edge] != 0) {
        let edges = code.fused.as_ref().map_or(&[][..], |fused| fused.edges_of(fused_edge as u32));
        for (from, to) in edges {
            run(*from as usize);
            run(*to as usize);
        }
    }
    let of_instructions = &marks[fused_edges..fused_edges + code.ops.len()];
    if of_instructions.iter().any(|mark| *mark != 0) {
        for (number, block) in blocks.iter().enumerate() {
            let of_block = of_instructions.get(block.start as usize..block.end as usize);
            if of_block.is_none_or(|marks| marks.iter().any(|mark| *mark != 0)) {
                run(number);
            }
        }
    }
    bits
}

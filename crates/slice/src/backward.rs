//! The backward pass over one stream: gen/kill of live registers, memory and control.
//!
//! The pass visits executed fragments from the last to the first. It keeps what is *live*: registers of
//! activations and bytes of memory whose last definition has not been reached yet, and *pending* control
//! dependences: blocks whose controlling branch has not been reached yet. An instruction that defines
//! something live, or controls a pending block, becomes a node of the slice; its operands become live and
//! its block pending. There is one transfer function ([`transfer`]) for dynamic and relevant slices, whether
//! nodes are kept or only counted: the [`Sink`] decides that.
//!
//! A phi is transparent: the uses of its result become uses of the incoming register. But where the edge
//! itself chose the value, the jump or branch that took the edge is a definition too. This holds for an
//! incoming constant, and for a register that was computed before the branch.

mod activation;
mod calls;
mod external;
mod objects;
mod omitted;
mod queries;
mod relevant;
mod sink;
mod trace;
mod transfer;

use crate::InconsistentTrace;
use crate::criterion::{Criterion, Occurrence};
use crate::demanded_bits;
use crate::live::{LiveMemory, LiveRange};
use crate::memory_streams::Shown;
use crate::slice::{Dependence, Origin};
use crate::summaries::Summary;
use crate::uses::{Consumer, UseList};
use activation::{Activation, Sets};
pub use objects::MemoryObject;
pub use omitted::OmittedOutput;
use program::inst::{BlockId, Reg};
pub use queries::NO_OBJECT;
pub use relevant::Relevant;
use replay::effects::is_hidden;
use rustc_hash::FxHashMap;
pub use sink::Sink;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that another stream wrote.
#[derive(Clone, Debug)]
pub struct InterThreadUse {
    pub read: replay::writers::Read,
    pub ranges: Vec<LiveRange>,
    /// The store that was seen, once it is known: stream and step.
    pub store: Option<(u32, u64)>,
}

type TraceResult<T> = Result<T, InconsistentTrace>;

/// See the module's documentation.
pub struct Backward<'w, 'a, 'p> {
    sink: &'w mut Sink<'a, 'p>,
    stream: u32,
    #[allow(clippy::vec_box)] // they go from list to list at every call
    activations: Vec<Box<Activation>>,
    memory: LiveMemory,
    /// Relevant slices: live bytes that existed before any definition that was seen; an alternative of an
    /// earlier branch could have defined them.
    initial: LiveMemory,
    /// The edge just crossed chose values that are live.
    chosen: UseList,
    /// Uses of a jump by which the step before left its code, if control arrived here by one.
    landing: UseList,
    /// Criteria by step, ranges that other streams read after a step, and calls that started threads.
    asked: BTreeMap<u64, Vec<(usize, &'w Criterion)>>,
    read_after: BTreeMap<u64, Vec<LiveRange>>,
    starts: BTreeMap<u64, UseList>,
    /// The last step in the three maps above; `None` if they are empty.
    last_query: Option<u64>,
    /// The address of the thread's `errno`, if the program has requested it.
    pub errno: Option<u64>,
    /// Where the library publishes what was written to streams without a file.
    pub memory_streams: &'w [Shown],
    /// The step being visited.
    position: u64,
    pub inter_thread: Vec<InterThreadUse>,
    /// The stream belongs to a thread that a call in another stream started.
    is_thread: bool,
    /// Uses of that call.
    pub uses_of_thread_start: UseList,
    /// For a relevant slice.
    pub relevant: Option<Relevant<'w>>,
    /// Set by another thread when the slice so far is enough.
    pub stop: Option<&'w AtomicBool>,
    /// Finished activations, by function, for reuse.
    #[allow(clippy::vec_box)]
    pool: FxHashMap<u32, Vec<Box<Activation>>>,
    /// The source registers of the edge's phis, with their live bits: the work list of a parallel copy.
    moved: Vec<(Reg, u64, UseList)>,
}

/// How many activations of each function are kept for reuse.
const POOL: usize = 16;

impl<'w, 'a, 'p> Backward<'w, 'a, 'p> {
    pub fn new(sink: &'w mut Sink<'a, 'p>, stream: u32, is_thread: bool) -> Backward<'w, 'a, 'p> {
        Backward {
            sink,
            stream,
            activations: Vec::new(),
            memory: LiveMemory::default(),
            initial: LiveMemory::default(),
            chosen: UseList::default(),
            landing: UseList::default(),
            errno: None,
            memory_streams: &[],
            asked: BTreeMap::new(),
            read_after: BTreeMap::new(),
            starts: BTreeMap::new(),
            last_query: None,
            position: 0,
            inter_thread: Vec::new(),
            is_thread,
            uses_of_thread_start: UseList::default(),
            relevant: None,
            stop: None,
            pool: FxHashMap::default(),
            moved: Vec::new(),
        }
    }

    /// Adds criterion number `n`.
    pub fn ask(&mut self, n: usize, criterion: &'w Criterion) {
        self.asked.entry(criterion.at.step).or_default().push((n, criterion));
        self.last_query = self.last_query();
    }

    /// Makes bytes live after a step.
    pub fn add_live_after(&mut self, step: u64, ranges: Vec<LiveRange>) {
        self.read_after.entry(step).or_default().extend(ranges);
        self.last_query = self.last_query();
    }

    /// Makes a step's call that started a thread used.
    pub fn add_start_use(&mut self, step: u64, uses: UseList) {
        let place = self.starts.entry(step).or_default();
        *place = self.sink.uses.join(*place, uses);
        self.last_query = self.last_query();
    }

    /// The last step with a query.
    pub fn last_query(&self) -> Option<u64> {
        let all = [
            self.asked.keys().next_back(),
            self.read_after.keys().next_back(),
            self.starts.keys().next_back(),
        ];
        all.into_iter().flatten().max().copied()
    }

    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    pub fn nodes(&self) -> usize {
        self.sink.slice.nodes.len()
    }

    /// Nothing is live any more, and no query is left.
    pub fn is_done(&self) -> bool {
        !self.has_live_memory()
            && self.last_query.is_none()
            && !self.has_omitted_queries()
            && !self.landing.is_live()
            && self.activations.iter().all(|a| a.is_idle())
    }

    /// Whether a segment cannot change the live state, by its summary: it has no query, only instructions
    /// ran, all of them in activations without live registers, and they wrote to no line of memory with a
    /// live byte.
    pub fn can_skip(&self, summary: &Summary, (begin, end): (u64, u64)) -> bool {
        let asked = self.asked.range(begin..=end).next().is_some()
            || self.read_after.range(begin..=end).next().is_some()
            || self.starts.range(begin..=end).next().is_some();
        let ran = summary.depth.saturating_sub(1) as usize;
        !summary.irregular
            && !asked
            && self.relevant.is_none()
            && self.initial.is_empty()
            && !self.chosen.is_live()
            && !self.landing.is_live()
            && self.activations.iter().skip(ran).all(|a| a.is_idle())
            && self.memory.lines().is_some_and(|mut lines| !lines.any(|line| summary.may_write(line)))
    }

    /// Passes over a segment that changes nothing; `begin` is its first step.
    pub fn skip(&mut self, summary: &Summary, begin: u64) {
        self.unwind(summary.depth.saturating_sub(1));
        self.position = begin;
    }

    /// Some memory is live, or could have been defined by an alternative.
    #[inline]
    fn has_live_memory(&self) -> bool {
        !self.memory.is_empty() || !self.initial.is_empty()
    }

    #[inline]
    fn touches(&self, start: u64, len: u64) -> bool {
        self.memory.touches(start, len) || self.initial.touches(start, len)
    }

    /// The stream has no earlier steps: what is still live existed before it.
    pub fn finish(&mut self) {
        for range in self.memory.drain() {
            if is_hidden(range.start) {
                self.sink.record_initial_state(range.start, range.uses);
                continue;
            }
            let variable = self.sink.variable(range.start);
            let origin = Origin::Unwritten { address: range.start, len: range.len, variable };
            self.sink.leaf(range.uses, &origin);
        }
    }

    /// Pops activations down to a depth.
    #[inline]
    fn unwind(&mut self, depth: u32) {
        while self.activations.len() > depth as usize {
            if let Some(activation) = self.activations.pop() {
                self.recycle(activation);
            }
        }
    }

    /// Brings the stack of activations to a depth. Returns the index of the innermost one, whose sets are
    /// allocated.
    #[inline]
    fn enter(&mut self, depth: u32, function: u32) -> TraceResult<usize> {
        self.unwind(depth);
        while self.activations.len() < depth as usize {
            self.activations.push(Box::default());
        }
        let f = depth as usize - 1;
        let activation = &mut self.activations[f];
        if activation.function.is_some_and(|known| known != function) {
            return Err(InconsistentTrace(self.position));
        }
        if !activation.is_allocated() {
            activation.function = Some(function);
            self.allocate(f, function);
        }
        Ok(f)
    }

    fn allocate(&mut self, f: usize, function: u32) {
        let sets = match self.pool.get_mut(&function).and_then(Vec::pop) {
            Some(pooled) => pooled.into_sets(),
            None => self.sets(function),
        };
        self.activations[f].allocate(sets);
    }

    fn sets(&self, function: u32) -> Sets {
        let facts = self.sink.facts;
        Sets::new(facts.function(function).slots, facts.get(function).decided.len())
    }

    /// Returns an activation to the pool if its sets are empty: functions with many registers are called
    /// often, and allocating their sets is expensive.
    fn recycle(&mut self, mut activation: Box<Activation>) {
        let is_empty = !activation.has_live() && !activation.has_pending() && activation.is_allocated();
        if let Some(function) = activation.function.filter(|_| is_empty) {
            let pool = self.pool.entry(function).or_default();
            if pool.len() < POOL {
                activation.clear();
                pool.push(activation);
            }
        }
    }

    /// An activation of a function, without anything live.
    fn fresh(&mut self, function: u32) -> Box<Activation> {
        match self.pool.get_mut(&function).and_then(Vec::pop) {
            Some(pooled) => pooled,
            None => {
                let mut activation = Box::<Activation>::default();
                activation.function = Some(function);
                activation
            }
        }
    }

    /// A node uses bits of a register of an activation.
    #[inline]
    fn use_reg(&mut self, f: usize, reg: Reg, bits: u64, consumer: Consumer) {
        self.activations[f].use_reg(reg, bits, consumer, &mut self.sink.uses);
    }

    /// A node uses memory.
    #[inline]
    fn use_memory(&mut self, address: u64, len: u64, consumer: Consumer) {
        let uses = self.sink.uses.one(consumer, Dependence::Memory { address, len });
        self.make_memory_live(address, len, uses);
    }

    /// A node uses some bits of at most eight bytes.
    fn use_bits(&mut self, address: u64, len: u64, bits: u64, consumer: Consumer) {
        if bits == demanded_bits::ALL {
            return self.use_memory(address, len, consumer);
        }
        let mut at = 0;
        while at < len.min(8) {
            let (address, rest) = (address.wrapping_add(at), bits >> (8 * at));
            let whole = u64::from(rest.trailing_ones() / 8).min(len - at);
            if whole > 0 {
                self.use_memory(address, whole, consumer);
            } else if rest as u8 != 0 {
                let uses = self.sink.uses.one(consumer, Dependence::Memory { address, len: 1 });
                let is_new = self.memory.make_bits_live(address, rest as u8, uses, &mut self.sink.uses);
                if self.relevant.is_some() {
                    self.record_live(address, 1, is_new);
                }
            }
            at += whole.max(1);
        }
    }

    #[inline]
    fn make_memory_live(&mut self, address: u64, len: u64, uses: UseList) {
        let is_new = self.memory.make_live(address, len, uses, &mut self.sink.uses);
        if self.relevant.is_some() {
            self.record_live(address, len, is_new);
        }
    }

    /// Kills registers. Returns their uses and the bits that these demand; for more than one register, all
    /// bits.
    #[inline]
    fn kill_regs(&mut self, f: usize, dst: Reg, count: u32) -> (UseList, u64) {
        let (mut uses, mut bits) = (UseList::default(), 0);
        if let Some(activation) = self.activations.get_mut(f).filter(|a| a.has_live()) {
            for reg in dst..dst + count {
                let (one, demanded) = activation.kill(reg);
                uses = self.sink.uses.join(uses, one);
                bits |= demanded;
            }
        }
        (uses, if count == 1 { bits } else { demanded_bits::ALL })
    }

    /// The live bits of at most eight bytes; bit 0 is the lowest bit of the first byte.
    fn live_bits(&self, address: u64, len: u32) -> u64 {
        match self.initial.is_empty() {
            true => self.memory.bits(address, len),
            false => self.memory.bits(address, len) | self.initial.bits(address, len),
        }
    }

    /// Kills bytes that have a single definition.
    #[inline]
    fn kill_memory(&mut self, address: u64, len: u64) -> UseList {
        if !self.initial.is_empty() {
            self.initial.kill(address, len);
        }
        self.memory.kill_uses(address, len, &mut self.sink.uses)
    }

    /// Kills bits of a word.
    fn kill_bits(&mut self, address: u64, bits: u64) -> UseList {
        if !self.initial.is_empty() {
            self.initial.kill_bits(address, bits, &mut self.sink.uses);
        }
        self.memory.kill_bits(address, bits, &mut self.sink.uses)
    }

    /// Kills bytes whose ranges have separate definitions.
    fn kill_ranges(&mut self, address: u64, len: u64) -> Vec<LiveRange> {
        if !self.initial.is_empty() {
            self.initial.kill(address, len);
        }
        self.memory.kill(address, len)
    }

    /// Makes a node's block pending: the branch that controls it has not been reached yet.
    #[inline]
    fn add_pending(&mut self, f: usize, function: u32, block: BlockId, consumer: Consumer) {
        let facts = self.sink.facts.get(function);
        // The first activation was called from outside the program: no branch controls it.
        if f == 0 && !self.is_thread && !facts.decided[block as usize] {
            return;
        }
        self.activations[f].add_pending(block, consumer, &mut self.sink.uses);
    }

    /// Control took an edge: the phis of its target are copies.
    fn edge(&mut self, depth: u32, function: u32, from: BlockId, to: BlockId) {
        let f = depth as usize - 1;
        let activation = self.activations.get_mut(f);
        if let Some(relevant) = &mut self.relevant {
            relevant.take_edge(depth, to);
        }
        let Some(activation) = activation else { return };
        if self.relevant.is_some() {
            activation.condition_regs.clear();
        }
        if !activation.has_live() {
            return;
        }
        let moves = self.sink.facts.summary(function).phi_moves(from, to);
        for phi in moves {
            let (mut uses, bits) = activation.kill(phi.dst);
            if !uses.is_live() {
                continue;
            }
            if self.relevant.is_some() {
                uses.provenance = self.sink.uses.provenances.through(uses.provenance, phi.dst);
                activation.pass_phi(phi.dst);
            }
            if self.sink.facts.is_choice(function, from, phi) {
                self.chosen = self.sink.uses.join(self.chosen, uses);
            }
            self.moved.extend(phi.src.map(|src| (src, bits, uses)));
        }
        while let Some((src, bits, uses)) = self.moved.pop() {
            activation.make_live(src, bits, uses, &mut self.sink.uses);
        }
    }

    fn at(&self, step: u64) -> Occurrence {
        Occurrence { stream: self.stream, step }
    }
}

//! The way back over a stream: takes what is looked for, looks for what that
//! used.
//!
//! Phis are transparent: whoever looks for a phi's register looks for the
//! incoming one from then on. A constant that comes in over an edge was chosen
//! by the jump that took the edge, so the jump is taken, with its condition if
//! it has one.

mod automaton;
mod calls;
mod candidates;
mod collected;
mod frame;
mod held;
mod light;
mod lightly;
mod outside;
mod pages;
mod passages;
mod pending;
mod places;
mod potential;
mod remembered;
mod states;
mod step;
mod stretch;
mod trailed;
mod weighed;

use crate::criterion::{Criterion, Occurrence};
use crate::log::{Log, NONE};
use crate::slice::{Dependence, Node, NodeId, Origin, Site};
use crate::wants::{List, Piece, Ranges};
use calls::CallState;
pub use collected::Collected;
use frame::{Frame, Furniture};
use held::Held;
pub use pending::ELSEWHERE;
pub use places::Place;
pub use potential::Potential;
use program::inst::{BlockId, Operand, Reg};
use rustc_hash::FxHashMap as Map;
use std::collections::BTreeMap;
pub use stretch::Stretches;

/// Bytes that another stream wrote.
#[derive(Clone, Debug)]
pub struct Crossing {
    pub read: replay::writers::Read,
    pub pieces: Vec<Piece>,
    /// The store that was seen, once it is known: stream and step.
    pub seen: Option<(u32, u64)>,
}

/// See the module's documentation.
pub struct Walker<'w, 'a> {
    all: &'w mut Collected<'a>,
    stream: u32,
    #[allow(clippy::vec_box)] // they go from list to list at every call
    frames: Vec<Box<Frame>>,
    memory: Ranges,
    /// Of a relevant slice: memory wanted by nobody who is noted down, beside that.
    held: Held,
    /// Of a relevant slice: bytes whose value was there before anything wrote it, but could
    /// have been assigned all the same.
    old: Ranges,
    /// The edge just walked over assigned constants that are wanted.
    constant: List,
    /// Control came here by a jump out of the step before.
    landing: List,
    /// Questions by step, and what other streams want to be after a step.
    asked: BTreeMap<u64, Vec<(usize, &'w Criterion)>>,
    after: BTreeMap<u64, Vec<Piece>>,
    /// What is wanted of calls that started threads.
    starts: BTreeMap<u64, List>,
    /// Number of the step before which the walk stands.
    next: u64,
    pub crossings: Vec<Crossing>,
    /// The stream is that of a thread, which a call in another one started.
    is_thread: bool,
    /// What is wanted of that call.
    pub began: List,
    /// For a relevant slice.
    pub potential: Option<Potential<'w>>,
    /// Of activations that are over, nothing in them wanted, by function.
    #[allow(clippy::vec_box)]
    spare: Map<u32, Vec<Box<Frame>>>,
    /// What was wanted of calls that are done with.
    #[allow(clippy::vec_box)]
    states: Vec<Box<CallState>>,
}

/// So many of each function.
const SPARE: usize = 16;

impl<'w, 'a> Walker<'w, 'a> {
    pub fn new(all: &'w mut Collected<'a>, stream: u32, is_thread: bool) -> Walker<'w, 'a> {
        Walker {
            all,
            stream,
            frames: Vec::new(),
            memory: Ranges::default(),
            held: Held::default(),
            old: Ranges::default(),
            constant: List::default(),
            landing: List::default(),
            asked: BTreeMap::new(),
            after: BTreeMap::new(),
            starts: BTreeMap::new(),
            next: 0,
            crossings: Vec::new(),
            is_thread,
            began: List::default(),
            potential: None,
            spare: Map::default(),
            states: Vec::new(),
        }
    }

    /// Asks, as criterion number `n`.
    pub fn ask(&mut self, n: usize, criterion: &'w Criterion) {
        self.asked.entry(criterion.at.step).or_default().push((n, criterion));
    }

    /// Wants bytes as they are after a step.
    pub fn want_after(&mut self, step: u64, pieces: Vec<Piece>) {
        self.after.entry(step).or_default().extend(pieces);
    }

    /// Wants the call of a step that started a thread.
    pub fn want_start(&mut self, step: u64, list: List) {
        let place = self.starts.entry(step).or_default();
        *place = self.all.edges.join(*place, list);
    }

    /// The last step anything is asked about.
    pub fn last_asked(&self) -> Option<u64> {
        let all =
            [self.asked.keys().next_back(), self.after.keys().next_back(), self.starts.keys().next_back()];
        all.into_iter().flatten().max().copied()
    }

    pub fn nodes(&self) -> usize {
        self.all.slice.nodes.len()
    }

    /// Nothing is looked for any more, and no question is to come.
    pub fn is_done(&self) -> bool {
        !self.wants_memory()
            && self.asked.is_empty()
            && self.after.is_empty()
            && self.starts.is_empty()
            && !self.landing.is_wanted()
            && self.frames.iter().all(|f| f.is_idle())
    }

    /// Some memory is wanted, or could have been assigned all the same.
    #[inline]
    fn wants_memory(&self) -> bool {
        !self.memory.is_empty() || !self.held.is_empty() || !self.old.is_empty()
    }

    /// An instruction that was about to run when the stream ended.
    pub fn unfinished(&mut self, function: u32, index: u32, depth: u32, step: u64) {
        self.next = step + 1;
        self.step(&Log::default(), function, index, depth, NONE);
    }

    /// The stream has no more steps: what is still wanted was there before.
    pub fn finish(&mut self) {
        for piece in self.memory.drain() {
            let variable = self.all.variable(piece.start);
            let origin = Origin::Unwritten { address: piece.start, len: piece.len, variable };
            self.all.leaf(piece.list, &origin);
        }
    }

    /// Brings the stack of activations to a depth.
    fn settle(&mut self, depth: u32, function: u32) -> usize {
        while self.frames.len() > depth as usize {
            if let Some(frame) = self.frames.pop() {
                self.forget(frame);
            }
        }
        while self.frames.len() < depth as usize {
            self.frames.push(Box::default());
        }
        let f = depth as usize - 1;
        self.frames[f].function = Some(function);
        f
    }

    fn forget(&mut self, mut frame: Box<Frame>) {
        // Functions with many registers are called often: what is empty is used again.
        let is_empty = frame.wanted == 0 && !frame.is_undecided() && frame.is_furnished();
        if let Some(function) = frame.function.filter(|_| is_empty) {
            let spare = self.spare.entry(function).or_default();
            if spare.len() < SPARE {
                frame.clear();
                spare.push(frame);
            }
        }
    }

    /// An activation of a function of which nothing is wanted yet.
    fn fresh(&mut self, function: u32) -> Box<Frame> {
        let spare = self.spare.get_mut(&function).and_then(Vec::pop);
        spare.unwrap_or_else(|| {
            let mut frame = Box::new(Frame { function: Some(function), ..Frame::default() });
            frame.take_furniture(self.furniture(function));
            frame
        })
    }

    fn node(&mut self, step: u64, f: usize, index: u32, list: List) -> Option<NodeId> {
        let function = self.frames[f].function?;
        let at = Occurrence { stream: self.stream, step };
        if step != u64::MAX {
            self.all.count(function, index, at);
        }
        if let Some(known) = self.all.known.get(&at).copied() {
            let node = &mut self.all.slice.nodes[known as usize];
            // The old edges go behind the new ones.
            let mut last = list.first();
            while let Some(edge) = self.all.edges.all.get_mut(last as usize) {
                last = edge.next;
                if last == crate::slice::END {
                    edge.next = node.first;
                    node.first = list.first();
                    break;
                }
            }
            return Some(known);
        }
        if self.all.slice.nodes.len() >= self.all.max_nodes {
            self.all.slice.truncated = true;
            return None;
        }
        let code = self.all.facts.image.code(function);
        let site = Site { module: code.module, function: code.function, index };
        self.all.slice.nodes.push(Node {
            at,
            site,
            depth: f as u32 + 1,
            potential: false,
            first: list.first(),
        });
        Some(self.all.slice.nodes.len() as NodeId - 1)
    }

    /// Makes room for what is wanted of an activation whose function is known.
    #[inline]
    fn furnish(&mut self, f: usize) {
        let frame = &mut self.frames[f];
        if let (false, Some(function)) = (frame.is_furnished(), frame.function) {
            match self.spare.get_mut(&function).and_then(Vec::pop) {
                Some(spare) => frame.take_furniture(spare.furniture()),
                None => {
                    let new = self.furniture(function);
                    self.frames[f].take_furniture(new);
                }
            }
        }
    }

    fn furniture(&self, function: u32) -> Furniture {
        let blocks = self.all.facts.get(function).decided.len();
        Furniture::new(self.all.facts.function(function).slots, blocks)
    }

    fn want_reg(&mut self, f: usize, reg: Reg, list: List) {
        self.furnish(f);
        let frame = &mut self.frames[f];
        let is_wanted = frame.wants(reg, 1);
        let Some(place) = frame.regs.get_mut(reg as usize) else { return };
        // It may be wanted by nobody in particular: that is for sure.
        let before = if is_wanted { place.or_nobody() } else { List::default() };
        *place = self.all.edges.join(before, list);
        frame.named |= place.is_named();
        frame.want_lightly(reg);
    }

    fn want_operand(&mut self, f: usize, operand: Operand, slots: u32, node: Option<NodeId>) {
        if let Operand::Reg(r) = operand {
            for reg in r..r + slots {
                let list = self.all.edges.one(node, Dependence::Register(reg));
                self.want_reg(f, reg, list);
            }
        }
    }

    fn want_memory(&mut self, address: u64, len: u64, node: Option<NodeId>) {
        let list = self.all.edges.one(node, Dependence::Memory { address, len });
        self.memory.want(address, len, list, &mut self.all.edges);
        self.note_wanted(address, len, true);
    }

    /// Takes a register out of what is wanted.
    fn take_reg(&mut self, f: usize, reg: Reg) -> List {
        let frame = &mut self.frames[f];
        let (word, bit) = (reg as usize / 64, 1 << (reg % 64));
        match frame.wanted_bits.get_mut(word) {
            Some(bits) if *bits & bit != 0 => {
                *bits &= !bit;
                frame.wanted -= 1;
                std::mem::take(&mut frame.regs[reg as usize]).or_nobody()
            }
            _ => List::default(),
        }
    }

    fn take_regs(&mut self, f: usize, dst: Reg, n: u32) -> List {
        let mut list = List::default();
        if self.frames[f].wanted > 0 {
            for reg in dst..dst + n {
                let one = self.take_reg(f, reg);
                list = self.all.edges.join(list, one);
            }
        }
        list
    }

    /// Takes the bytes of a range out of what is wanted, as they are assigned here.
    fn take_pieces(&mut self, address: u64, len: u64) -> Vec<Piece> {
        if !self.old.is_empty() {
            self.old.take(address, len, &mut self.all.edges);
        }
        self.memory.take(address, len, &mut self.all.edges)
    }

    /// Takes bytes out of what is wanted, as one list.
    fn take_memory(&mut self, address: u64, len: u64) -> List {
        let mut list = List::default();
        for piece in self.take_pieces(address, len) {
            list = self.all.edges.join(list, piece.list);
        }
        list
    }

    /// Looks for the branch that decided about a block.
    fn undecide(&mut self, f: usize, block: BlockId, node: Option<NodeId>) {
        let Some(function) = self.frames[f].function else { return };
        let facts = self.all.facts.get(function);
        // The first activation was called from outside: nothing to find there.
        if f == 0 && !self.is_thread && !facts.decided[block as usize] {
            return;
        }
        let list = self.all.edges.one(node, Dependence::Control);
        self.furnish(f);
        let frame = &mut self.frames[f];
        let (word, bit) = (block as usize / 64, 1 << (block % 64));
        frame.bits[word] |= bit;
        frame.named |= list.is_named();
        let place = &mut frame.undecided[block as usize];
        *place = self.all.edges.join(*place, list);
    }

    /// The undecided blocks that the branch at the end of a block decides about.
    fn decide(&mut self, f: usize, function: u32, block: BlockId) -> List {
        let mut list = List::default();
        let frame = &mut self.frames[f];
        if frame.bits.is_empty() {
            return list;
        }
        for (w, mask) in self.all.facts.get(function).masks(block) {
            let bits = &mut frame.bits[*w as usize];
            let mut hit = *bits & mask;
            *bits &= !mask;
            while hit != 0 {
                let b = 64 * *w as usize + hit.trailing_zeros() as usize;
                hit &= hit - 1;
                let one = std::mem::take(&mut frame.undecided[b]).or_nobody();
                list = self.all.edges.join(list, one);
            }
        }
        list
    }

    /// The phis of a block, as copies from the block the edge came from.
    fn edge(&mut self, depth: u32, from: BlockId, to: BlockId) {
        let f = depth as usize - 1;
        if let Some(potential) = &mut self.potential {
            potential.went_to(depth, to);
            if let Some(frame) = self.frames.get_mut(f) {
                frame.tree.clear();
            }
        }
        let Some(frame) = self.frames.get(f).filter(|frame| frame.wanted > 0) else { return };
        let Some(function) = frame.function else { return };
        let model = self.all.facts.function(function);
        let mut moved: Vec<(Operand, u32, List)> = Vec::new();
        for phi in &model.blocks[to as usize].phis {
            if !self.frames[f].wants(phi.dst, phi.slots) {
                continue;
            }
            let Some((_, value)) = phi.incoming.iter().find(|i| i.0 == from) else { continue };
            for k in 0..phi.slots {
                let mut list = self.take_reg(f, phi.dst + k);
                if list.is_wanted() {
                    if self.potential.is_some() {
                        list.tag = self.all.edges.tags.through(list.tag, phi.dst + k);
                        self.frames[f].pass(phi.dst + k);
                    }
                    moved.push((*value, k, list));
                }
            }
        }
        for (value, k, list) in moved {
            match value {
                Operand::Reg(r) => self.want_reg(f, r + k, list),
                _ => self.constant = self.all.edges.join(self.constant, list),
            }
        }
    }
}

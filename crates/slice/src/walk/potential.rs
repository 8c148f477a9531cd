//! Potential dependences on the way back.
//!
//! A branch that is not taken for its own sake may still have mattered: on another way it
//! could have assigned something that is wanted. Such a branch is taken as a *dummy*: what its
//! condition was made of is wanted, but not why it ran. The places it wants are wanted by a
//! group, and groups rise with control dependence: what a group wants is no reason to take a
//! branch that its members depend on. This is the algorithm of Wang and Roychoudhury, with
//! their sets of "branch, wanted by it" as groups.
//!
//! The condition of a branch is computed by instructions of its own block. Those belong to it:
//! were they taken for themselves, why they ran would be looked for, which is why the branch
//! ran. But what a variable is given there is a statement of its own: `n = n + 1; if (n < 3)`.

use super::Walker;
use crate::relevance::{Defined, Heap, Potentials, Relevance, Variant, WayFacts};
use crate::slice::{Dependence, NodeId};
use crate::tags::{Group, Phis, Tag};
use crate::wants::List;
use program::inst::{BlockId, Call, Inst, Operand, Reg};
use program::objects::ObjectId;
use std::collections::{BTreeMap, HashMap};

/// A register at the branch of a way: function, way, register, and the phis behind it.
type Question = (u32, BlockId, BlockId, Reg, Phis);

/// What a walk must know and remember for a relevant slice.
pub struct Potential<'w> {
    pub facts: &'w Potentials<'w>,
    pub heap: &'w Heap,
    pub relevance: Relevance,
    /// Where the edge just walked over led: activation and block.
    taken: Option<(u32, BlockId)>,
    /// Answers about registers.
    assigned: HashMap<Question, bool>,
    /// Wanted addresses in blocks of the heap, with where the block starts, by what allocated
    /// it; and the starts of blocks by what allocated them and the wanted word. What is not
    /// wanted any more is dropped when met.
    made: HashMap<ObjectId, Vec<(u64, u64)>>,
    words: HashMap<(ObjectId, u64), Vec<u64>>,
    /// Wanted addresses that are in nothing known.
    elsewhere: Vec<u64>,
    /// Frames of live activations: by address their size, function and depth.
    stack: BTreeMap<u64, (u64, u32, u32)>,
    /// The same by depth.
    frames: Vec<Option<u64>>,
    /// Branches that were taken as dummies.
    dummies: HashMap<(u32, u32), NodeId>,
}

impl<'w> Potential<'w> {
    pub fn new(facts: &'w Potentials<'w>, heap: &'w Heap, relevance: Relevance) -> Potential<'w> {
        Potential {
            facts,
            heap,
            relevance,
            taken: None,
            assigned: HashMap::new(),
            made: HashMap::new(),
            words: HashMap::new(),
            elsewhere: Vec::new(),
            stack: BTreeMap::new(),
            frames: Vec::new(),
            dummies: HashMap::new(),
        }
    }

    /// The frame of a live activation.
    pub fn frame(&mut self, depth: u32, function: u32, at: u64) {
        self.leave(depth);
        self.frames.resize(depth as usize, None);
        self.frames[depth as usize - 1] = Some(at);
        self.stack.insert(at, (self.facts.frame_size(function), function, depth));
    }

    /// Activations from this depth on are not live (yet).
    pub fn leave(&mut self, depth: u32) {
        while self.frames.len() >= depth as usize && !self.frames.is_empty() {
            if let Some(Some(at)) = self.frames.pop() {
                self.stack.remove(&at);
            }
        }
    }

    /// The frame that an address is in: where it starts, and its function.
    fn on_stack(&self, address: u64) -> Option<(u64, u32)> {
        let (start, (size, function, _)) = self.stack.range(..=address).next_back()?;
        (address - start < *size).then_some((*start, *function))
    }

    pub fn went_to(&mut self, depth: u32, to: BlockId) {
        self.taken = Some((depth, to));
    }

    /// Notes what a wanted range is in.
    pub fn wanted(&mut self, stream: u32, step: u64, address: u64, len: u64) {
        if self.facts.is_fixed(address) || self.on_stack(address).is_some() {
            return;
        }
        let block = self.heap.find(address, stream, step);
        let made = block.and_then(|(start, b)| Some((start, self.facts.made(b.function, b.index)?)));
        let Some((start, object)) = made else {
            self.elsewhere.push(address);
            return;
        };
        self.made.entry(object).or_default().push((address, start));
        let offset = address - start;
        for word in offset / 8..offset.saturating_add(len).div_ceil(8) {
            self.words.entry((object, word)).or_default().push(start);
        }
    }
}

impl Walker<'_, '_> {
    /// Notes what a wanted range is in, if that matters.
    pub(super) fn note_wanted(&mut self, address: u64, len: u64) {
        if let Some(potential) = &mut self.potential {
            potential.wanted(self.stream, self.next, address, len);
        }
    }

    /// Whether what a list is wanted for makes an instruction part of the slice by itself.
    pub(super) fn is_sure(&self, list: List) -> bool {
        match &self.potential {
            Some(p) if p.relevance.variant == Variant::Agrawal => self.all.edges.tags.get(list.tag).sure,
            _ => true,
        }
    }

    /// Whether a branch that could have mattered is taken as any other.
    pub(super) fn closes(&self) -> bool {
        self.potential.as_ref().is_some_and(|p| p.relevance.variant == Variant::Closure)
    }

    /// Whether a dummy brings all earlier executions of its branch.
    fn chains(&self) -> bool {
        self.potential.as_ref().is_some_and(|p| p.relevance.variant == Variant::Gyimothy)
    }

    /// Why a branch or call is taken as a dummy: `list`, or because a later execution was one.
    /// What is `taken` for itself may be a dummy as well: that counts for earlier executions.
    fn chained(&mut self, at: (u32, u32), taken: bool, list: List) -> List {
        if !self.chains() {
            return list;
        }
        let consumer = self.all.edges.iter(list).next().map(|e| e.0);
        let Some(p) = &mut self.potential else { return list };
        if taken {
            if let Some(node) = consumer {
                p.dummies.entry(at).or_insert(node);
            }
            return List::default();
        }
        match p.dummies.get(&at) {
            Some(later) if !list.is_wanted() => self.all.edges.one(Some(*later), Dependence::Potential),
            _ => list,
        }
    }

    /// The branch at `index` is taken as what it is, or not at all. Gives why it is taken as
    /// a dummy, if it is; and lets groups rise to it.
    pub(super) fn branch(&mut self, f: usize, function: u32, index: u32, taken: bool) -> List {
        let Some(potential) = &mut self.potential else { return List::default() };
        let edge = potential.taken.take().filter(|(d, _)| *d as usize == f + 1);
        let facts = self.all.facts.get(function);
        let block = facts.block_of[index as usize];
        let mut below = Vec::new();
        let controls = facts.controls(block);
        self.frames[f].groups.retain(|(b, group)| {
            let rises = controls.get(*b as usize / 64).is_some_and(|w| w >> (b % 64) & 1 != 0);
            if rises {
                below.push(self.all.edges.tags.find(*group));
            }
            !rises
        });
        let mut list = List::default();
        if let Some((_, to)) = edge
            && (!taken || self.chains())
        {
            list = self.could_matter(f, function, block, to, &below);
            list = self.chained((function, index), taken, list);
        }
        for group in below {
            self.rise(f, block, group);
        }
        list
    }

    /// A group now depends on what decides about a block.
    pub(super) fn rise(&mut self, f: usize, block: BlockId, group: Group) {
        let groups = &mut self.frames[f].groups;
        match groups.iter_mut().find(|(b, _)| *b == block) {
            Some((_, there)) => *there = self.all.edges.tags.unite(*there, group),
            None => groups.push((block, group)),
        }
    }

    /// The groups of what a call called now depend on what decides about the call.
    pub(super) fn rise_to_call(&mut self, f: usize, index: u32) {
        let Some(function) = self.frames[f].function else { return };
        if let Some(group) = self.frames[f].rising.take() {
            let block = self.all.facts.get(function).block_of[index as usize];
            self.rise(f, block, group);
        }
    }

    /// The same as `want_for_group`, of an instruction's block.
    pub(super) fn want_for_group_of(&mut self, f: usize, index: u32) {
        if let Some(function) = self.frames[f].function {
            let block = self.all.facts.get(function).block_of[index as usize];
            self.want_for_group(f, block);
        }
    }

    /// Everything from here on is wanted by the dummies (or what they need) of a block.
    pub(super) fn want_for_group(&mut self, f: usize, block: BlockId) {
        let there = self.frames[f].groups.iter().find(|(b, _)| *b == block).map(|g| g.1);
        let group = match there {
            Some(group) => group,
            None => {
                let group = self.all.edges.tags.new_group();
                self.frames[f].groups.push((block, group));
                group
            }
        };
        self.all.edges.tag = self.all.edges.tags.of_group(group);
    }

    /// Everything from here on is wanted for sure.
    pub(super) fn want_for_sure(&mut self) {
        self.all.edges.tag = Tag::SURE;
    }

    /// Takes a branch or a call as a dummy: wants what decided which way it went.
    pub(super) fn dummy(&mut self, f: usize, index: u32, step: u64, operand: Operand, list: List) {
        let Some(function) = self.frames[f].function else { return };
        let block = self.all.facts.get(function).block_of[index as usize];
        let node = self.node(step, f, index, list);
        self.mark_potential(node);
        if let (Some(p), Some(node)) = (&mut self.potential, node)
            && p.relevance.variant == Variant::Gyimothy
        {
            p.dummies.insert((function, index), node);
        }
        self.want_for_group(f, block);
        self.want_tree(f, operand, 1, node);
        self.want_for_sure();
    }

    /// Wants an operand; if nobody else does, whatever makes it in this very block belongs to
    /// the dummy.
    pub(super) fn want_tree(&mut self, f: usize, operand: Operand, slots: u32, node: Option<NodeId>) {
        if let Operand::Reg(r) = operand {
            for reg in r..r + slots {
                let alone = !self.frames[f].regs.get(reg as usize).is_some_and(|l| l.is_wanted());
                if alone {
                    self.frames[f].tree.push(reg);
                }
            }
        }
        self.want_operand(f, operand, slots, node);
    }

    pub(super) fn mark_potential(&mut self, node: Option<NodeId>) {
        if let Some(node) = node.and_then(|n| self.all.slice.nodes.get_mut(n as usize)) {
            node.potential = true;
        }
    }

    /// Whether an instruction only computes part of a dummy's condition.
    pub(super) fn is_of_tree(&self, f: usize, inst: &Inst, list: List) -> bool {
        let tree = &self.frames[f].tree;
        if tree.is_empty() || !list.is_wanted() || self.all.edges.tags.get(list.tag).sure {
            return false;
        }
        let plain = !matches!(inst, Inst::Rmw { .. } | Inst::CmpXchg { .. } | Inst::Unknown { .. });
        let (Some(potential), Some(function)) = (&self.potential, self.frames[f].function) else {
            return false;
        };
        let of_tree = |r: Reg| tree.contains(&r) && !potential.facts.get(function).is_given(r);
        plain && inst.defines().is_some_and(|(dst, n)| (dst..dst + n).any(of_tree))
    }

    /// Whether another way of a branch could have assigned anything that is wanted by others
    /// than the groups `below`: one who wants it.
    fn could_matter(
        &mut self,
        f: usize,
        function: u32,
        block: BlockId,
        to: BlockId,
        below: &[Group],
    ) -> List {
        let Some(potential) = &self.potential else { return List::default() };
        if self.frames[f].wanted == 0 && self.memory.is_empty() && self.old.is_empty() {
            return List::default();
        }
        let facts = potential.facts;
        if !potential.relevance.libraries && facts.get(function).library {
            return List::default();
        }
        for way in facts.ways(function, block).iter().filter(|w| w.to != to) {
            let mut list = self.register_of(f, function, block, way, below);
            if !list.is_wanted() {
                list = self.memory_of(f, &way.defined, below);
            }
            if list.is_wanted() {
                return self.potentially(list);
            }
        }
        List::default()
    }

    /// One of those who want a place, as one who potentially depends.
    fn potentially(&mut self, list: List) -> List {
        let first = self.all.edges.iter(list).next();
        self.all.edges.one(first.map(|e| e.0), Dependence::Potential)
    }

    fn register_of(
        &mut self,
        f: usize,
        function: u32,
        block: BlockId,
        way: &WayFacts,
        below: &[Group],
    ) -> List {
        let Some(potential) = &mut self.potential else { return List::default() };
        if self.frames[f].wanted == 0 || !way.assigns_registers() {
            return List::default();
        }
        let ways = &potential.facts.get(function).ways;
        for w in 0..self.frames[f].wanted_bits.len() {
            let mut bits = self.frames[f].wanted_bits[w];
            while bits != 0 {
                let reg = 64 * w as u32 + bits.trailing_zeros();
                bits &= bits - 1;
                let list = self.frames[f].regs[reg as usize];
                let tags = &mut self.all.edges.tags;
                let through = tags.get(list.tag).through;
                if !way.touches(reg) && !tags.phis(through).iter().any(|r| way.touches(*r)) {
                    continue;
                }
                let question = (function, block, way.to, reg, through);
                let assigned = *potential.assigned.entry(question).or_insert_with(|| {
                    ways.may_assign((block, way.to), &way.region, reg, tags.phis(through))
                });
                if assigned && tags.is_beyond(list.tag, below) {
                    return list;
                }
            }
        }
        List::default()
    }

    fn memory_of(&mut self, f: usize, defined: &Defined, below: &[Group]) -> List {
        if defined.is_empty() {
            return List::default();
        }
        let list = self.memory_in(f, false, defined, below);
        if list.is_wanted() { list } else { self.memory_in(f, true, defined, below) }
    }

    fn memory_in(&mut self, f: usize, old: bool, defined: &Defined, below: &[Group]) -> List {
        let Some(potential) = &mut self.potential else { return List::default() };
        let (memory, tags) = (if old { &self.old } else { &self.memory }, &mut self.all.edges.tags);
        if memory.is_empty() {
            return List::default();
        }
        let mut first = |start: u64, end: u64| {
            memory.parts(start, end.saturating_sub(start)).find(|p| tags.is_beyond(p.list.tag, below))
        };
        if let Some(base) = potential.frames.get(f).copied().flatten() {
            for (start, end) in &defined.own {
                if let Some(piece) = first(base.wrapping_add(*start), base.wrapping_add(*end)) {
                    return piece.list;
                }
            }
        }
        if defined.fixed.len() <= memory.len() {
            for (start, end) in &defined.fixed {
                if let Some(piece) = first(*start, *end) {
                    return piece.list;
                }
            }
        } else {
            for piece in memory.iter() {
                let next = defined.fixed.partition_point(|(_, end)| *end <= piece.start);
                let hit = defined.fixed.get(next).is_some_and(|(s, _)| *s < piece.start + piece.len);
                if hit && tags.is_beyond(piece.list.tag, below) {
                    return piece.list;
                }
            }
        }
        self.frames_of(old, defined, below)
    }

    /// The rest of `memory_of`: other frames, the heap, and what has no name.
    fn frames_of(&mut self, old: bool, defined: &Defined, below: &[Group]) -> List {
        let Some(potential) = &mut self.potential else { return List::default() };
        let (memory, tags) = (if old { &self.old } else { &self.memory }, &mut self.all.edges.tags);
        let (this, that) = (&self.memory, &self.old);
        let touches = |at: u64, len: u64| this.touches(at, len) || that.touches(at, len);
        if !defined.frames.is_empty() {
            for piece in memory.iter() {
                let Some((base, function)) = potential.on_stack(piece.start) else { continue };
                let (from, to) = (piece.start - base, piece.start - base + piece.len);
                let hit = defined.frames.iter().any(|(f, s, e)| *f == function && *s < to && from < *e);
                if hit && tags.is_beyond(piece.list.tag, below) {
                    return piece.list;
                }
            }
        }
        for (object, start, end) in &defined.made {
            if end - start <= 64 {
                for word in start / 8..end.div_ceil(8) {
                    let Some(blocks) = potential.words.get_mut(&(*object, word)) else { continue };
                    let mut found = List::default();
                    blocks.retain(|block| {
                        let wanted = touches(block + 8 * word, 8);
                        if wanted && !found.is_wanted() {
                            let mut parts = memory.parts(block + start, end - start);
                            let beyond = parts.find(|p| tags.is_beyond(p.list.tag, below));
                            found = beyond.map(|p| p.list).unwrap_or_default();
                        }
                        wanted
                    });
                    if found.is_wanted() {
                        return found;
                    }
                }
                continue;
            }
            let Some(places) = potential.made.get_mut(object) else { continue };
            let mut i = places.len();
            while i > 0 {
                i -= 1;
                let (at, block) = places[i];
                let (from, to) = (block.saturating_add(*start), block.saturating_add(*end));
                match memory.parts(at, 1).next() {
                    Some(p) if p.start >= to || p.start + p.len <= from => {}
                    Some(p) if tags.is_beyond(p.list.tag, below) => return p.list,
                    None if !touches(at, 1) => {
                        places.swap_remove(i);
                    }
                    _ => {}
                }
            }
        }
        if defined.elsewhere {
            let mut i = potential.elsewhere.len();
            while i > 0 {
                i -= 1;
                match memory.parts(potential.elsewhere[i], 1).next() {
                    Some(p) if tags.is_beyond(p.list.tag, below) => return p.list,
                    None if !touches(potential.elsewhere[i], 1) => {
                        potential.elsewhere.swap_remove(i);
                    }
                    _ => {}
                }
            }
        }
        List::default()
    }

    /// A call through a pointer, if it is not taken: another function could have been called.
    pub(super) fn other_callee(&mut self, f: usize, index: u32, call: &Call, taken: bool) -> List {
        let (Operand::Reg(_), Some(function)) = (call.callee, self.frames[f].function) else {
            return List::default();
        };
        if taken && !self.chains() {
            return List::default();
        }
        let list = self.another_callee(f, function, index);
        self.chained((function, index), taken, list)
    }

    fn another_callee(&mut self, f: usize, function: u32, index: u32) -> List {
        let Some(potential) = &self.potential else { return List::default() };
        let called = self.frames[f].callee;
        let ways = potential.facts.get(function);
        if !potential.relevance.libraries && ways.library {
            return List::default();
        }
        let Some(callees) = ways.calls.get(&index) else { return List::default() };
        for (_, defined) in callees.iter().filter(|(callee, _)| Some(*callee) != called) {
            let list = self.memory_of(f, defined, &[]);
            if list.is_wanted() {
                return self.potentially(list);
            }
        }
        List::default()
    }
}

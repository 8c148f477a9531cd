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

use super::pending::{Answer, ELSEWHERE, Pending, Wanted};
use super::places::Places;
use super::{Stretches, Walker};
use crate::criterion::Occurrence;
use crate::heap::Heap;
use crate::relevance::{Other, Potentials, Relevance, Variant, WayFacts};
use crate::slice::{Dependence, NodeId};
use crate::tags::{Group, Phis, Tag};
use crate::wants::{List, Ranges};
use program::inst::{BlockId, Call, Inst, Operand, Reg};
use rustc_hash::FxHashMap as Map;
use std::collections::HashMap;

/// A register at the branch of a way: function, way, register, and the phis behind it.
type Question = (u32, BlockId, BlockId, Reg, Phis);

/// What a walk must know and remember for a relevant slice.
pub struct Potential<'w> {
    pub facts: &'w Potentials<'w>,
    pub places: Places<'w>,
    pub relevance: Relevance,
    /// Where the edge just walked over led: activation and block.
    taken: Option<(u32, BlockId)>,
    /// Answers about registers.
    assigned: Map<Question, bool>,
    /// What memory is wanted.
    pending: Pending,
    /// Branches that were taken as dummies.
    dummies: HashMap<(u32, u32), Option<NodeId>>,
}

impl<'w> Potential<'w> {
    pub fn new(facts: &'w Potentials<'w>, heap: &'w Heap, relevance: Relevance) -> Potential<'w> {
        Potential {
            facts,
            places: Places::new(facts, heap),
            relevance,
            taken: None,
            assigned: Map::default(),
            pending: Pending::default(),
            dummies: HashMap::new(),
        }
    }

    /// The branch that this led from is behind us.
    #[inline]
    pub fn has_left(&mut self) {
        self.taken = None;
    }

    /// Where control went from the branch that is running.
    #[inline]
    pub fn went_from(&self, f: usize) -> Option<BlockId> {
        self.taken.filter(|(depth, _)| *depth as usize == f + 1).map(|edge| edge.1)
    }

    /// Whether it is known, without looking, that another way could have assigned nothing wanted.
    #[inline]
    pub fn has_settled(&self, other: &Other) -> bool {
        other.defined.is_empty() || self.pending.is_settled(other.number)
    }

    /// A branch was taken as a dummy.
    pub fn has_dummy(&mut self, at: (u32, u32), node: Option<NodeId>) {
        if self.relevance.variant == Variant::Gyimothy {
            self.dummies.insert(at, node);
        }
    }

    pub fn went_to(&mut self, depth: u32, to: BlockId) {
        self.taken = Some((depth, to));
    }
}

impl Walker<'_, '_> {
    /// Asks branches no more whether they could have mattered, if the slice is large enough.
    pub fn stop_asking(&mut self, by: &mut Stretches) {
        let enough = self.potential.as_ref().is_some_and(|p| self.all.taken >= p.relevance.limit);
        // At the start there is nobody left to ask.
        if enough && self.next > 0 {
            self.potential = None;
            for (start, len, _) in self.held.drain(0, u64::MAX) {
                by.light.want(start, len);
            }
            // It was wanted for them alone.
            self.old = Ranges::default();
            let at = Occurrence { stream: self.stream, step: self.next };
            self.all.slice.asked_back_to.get_or_insert(at);
        }
    }

    /// Notes what a wanted range is in, if that matters. If all of it was wanted before it may
    /// have been noted already.
    pub(super) fn note_wanted(&mut self, address: u64, len: u64, is_new: bool) {
        let (memory, old, held) = (&self.memory, &self.old, &self.held);
        if let Some(potential) = &mut self.potential {
            let wanted = match potential.places.find(self.stream, self.next, address) {
                Some(place) => Wanted::in_place(place, address, len),
                None => Wanted { object: ELSEWHERE, address, len, offset: 0 },
            };
            let still = |w: &Wanted| {
                let (start, len) = (w.address, w.len);
                held.touches(start, len) || memory.may_touch(start, len) || old.may_touch(start, len)
            };
            potential.pending.add(wanted, is_new, still);
        }
    }

    /// Whether what a list is wanted for makes an instruction part of the slice by itself.
    pub(super) fn is_sure(&self, list: List) -> bool {
        match &self.potential {
            Some(p) if p.relevance.variant == Variant::Agrawal => self.all.edges.tags.is_sure(list.tag),
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
            if list.is_wanted() {
                p.dummies.entry(at).or_insert(consumer);
            }
            return List::default();
        }
        match p.dummies.get(&at) {
            Some(later) if !list.is_wanted() => self.all.edges.one(*later, Dependence::Potential),
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
        self.all.edges.tag = self.group_tag(f, block);
    }

    /// Wanted by the dummies of a block.
    pub(super) fn group_tag(&mut self, f: usize, block: BlockId) -> Tag {
        let there = self.frames[f].groups.iter().find(|(b, _)| *b == block).map(|g| g.1);
        let group = match there {
            Some(group) => group,
            None => {
                let group = self.all.edges.tags.new_group();
                self.frames[f].groups.push((block, group));
                group
            }
        };
        self.all.edges.tags.of_group(group)
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
        if let Some(potential) = &mut self.potential {
            potential.has_dummy((function, index), node);
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
                if !self.frames[f].wants(reg, 1) {
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
        if tree.is_empty() || !list.is_wanted() || self.all.edges.tags.is_sure(list.tag) {
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
        if self.frames[f].wanted == 0 && !self.wants_memory() {
            return List::default();
        }
        let facts = potential.facts;
        if !potential.relevance.libraries && facts.get(function).library {
            return List::default();
        }
        for way in facts.ways(function, block).iter().filter(|w| w.to != to) {
            let mut list = self.register_of(f, function, block, way, below);
            if !list.is_wanted() {
                list = self.memory_of(f, &way.memory, below);
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
                let list = self.frames[f].regs[reg as usize].or_nobody();
                let tags = &mut self.all.edges.tags;
                let through = tags.passed(list.tag);
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

    fn memory_of(&mut self, f: usize, other: &Other, below: &[Group]) -> List {
        let Some(potential) = &mut self.potential else { return List::default() };
        let Potential { pending, places, facts, .. } = potential;
        let (memory, old, held) = (&self.memory, &self.old, &self.held);
        if other.defined.is_empty() || memory.is_empty() && old.is_empty() && held.is_empty() {
            return List::default();
        }
        let tags = &mut self.all.edges.tags;
        let here = places.frame_of(f);
        let size = self.frames[f].function.map_or(0, |function| facts.frame_size(function));
        let defined = &other.defined;
        let try_it = |w: &Wanted| {
            let mut any = false;
            let mut found = None;
            let mut within = |start: u64, end: u64| {
                let (from, to) = (start.max(w.address), end.min(w.address.saturating_add(w.len)));
                if from >= to {
                    return;
                }
                held.tags(from, to - from, |tag| {
                    any = true;
                    if found.is_none() && tags.is_beyond(tag, below) {
                        found = Some(List::anonymous(tag));
                    }
                });
                let pieces = [memory, old].map(|m| m.parts(from, to - from));
                for piece in pieces.into_iter().flatten() {
                    any = true;
                    if found.is_none() && tags.is_beyond(piece.list.tag, below) {
                        found = Some(piece.list);
                    }
                }
            };
            if w.object == ELSEWHERE {
                within(w.address, w.address.saturating_add(w.len));
            } else {
                let start = w.address - w.offset;
                for (from, to) in defined.of(w.object) {
                    within(start.saturating_add(*from), start.saturating_add(*to));
                }
                if let Some(here) = here {
                    for (from, to) in &defined.own {
                        within(here.wrapping_add(*from), here.wrapping_add(*to));
                    }
                }
            }
            // What is in the frame of another activation may be in that of another execution.
            let mine = here.is_some_and(|here| w.address.wrapping_sub(here) < size);
            match found {
                Some(list) => Answer::Yes(list),
                None if any => Answer::NotNow,
                None if !held.touches(w.address, w.len)
                    && !memory.may_touch(w.address, w.len)
                    && !old.may_touch(w.address, w.len) =>
                {
                    Answer::Gone
                }
                None if !mine && defined.depends_on_activation(w.object) => Answer::NotNow,
                None => Answer::No,
            }
        };
        pending.ask(other.number, defined, try_it).unwrap_or_default()
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
        for (_, other) in callees.iter().filter(|(callee, _)| Some(*callee) != called) {
            let list = self.memory_of(f, other, &[]);
            if list.is_wanted() {
                return self.potentially(list);
            }
        }
        List::default()
    }
}

//! Potential dependences: further candidate edges of the same backward pass.
//!
//! A branch that controls nothing in the slice may still have mattered: an alternative of it could have
//! defined something that is live. Such a branch becomes a *dummy* node: the operands of its condition
//! become live, but its block does not become pending. What the dummy uses is live for a group, and groups
//! propagate to controlling branches: what is live only for a group is no reason to take a branch that
//! controls the group's members. This is the algorithm of Wang and Roychoudhury; our groups are their
//! sets of pairs of a branch and what depends on it.
//!
//! The condition of a branch is computed by instructions of its own block, which belong to the dummy: if
//! they made their block pending, the dummy's block would be pending too. But an assignment to a variable in
//! that block is a statement of its own: `n = n + 1; if (n < 3)`.

use super::objects::Objects;
use super::omitted::OmittedOutput;
use super::queries::{Answer, NO_OBJECT, ObjectRange, QueryCache};
use super::transfer::InstExec;
use super::{Activation, Backward, LiveMemory, TraceResult};
use crate::demanded_bits;
use crate::heap::Heap;
use crate::output_effects::Streams;
use crate::provenance::{Group, Phis, Provenance};
use crate::relevance::{AlternativeEffects, BranchAlternative, MayDef, Relevance, Variant};
use crate::slice::Dependence;
use crate::summary::{InstSummary, Kind};
use crate::uses::{Consumer, UseList};
use program::inst::{BlockId, Inst, Reg};
use rustc_hash::FxHashMap;

/// Key of a memoised answer: function, edge, live register, phis it passed.
type Question = (u32, BlockId, BlockId, Reg, Phis);

/// State of the pass that only relevant slices need.
pub struct Relevant<'w> {
    pub(super) facts: &'w AlternativeEffects<'w>,
    pub(super) objects: Objects<'w>,
    relevance: Relevance,
    /// The edge just crossed: depth of the activation, and the target block.
    edge: Option<(u32, BlockId)>,
    /// Memoised answers about registers.
    mod_summaries: FxHashMap<Question, bool>,
    queries: QueryCache,
    pub(super) omitted: OmittedOutput,
}

impl<'w> Relevant<'w> {
    pub fn new(
        facts: &'w AlternativeEffects<'w>,
        heap: &'w Heap,
        relevance: Relevance,
        omitted: OmittedOutput,
    ) -> Relevant<'w> {
        Relevant {
            facts,
            objects: Objects::new(facts, heap),
            relevance,
            edge: None,
            mod_summaries: FxHashMap::default(),
            queries: QueryCache::default(),
            omitted,
        }
    }

    pub(super) fn take_edge(&mut self, depth: u32, to: BlockId) {
        self.edge = Some((depth, to));
    }

    /// The successor taken by the branch being visited.
    #[inline]
    fn edge_of(&self, f: usize) -> Option<BlockId> {
        self.edge.filter(|(depth, _)| *depth as usize == f + 1).map(|edge| edge.1)
    }

    pub(super) fn is_excluded(&self, function: u32) -> bool {
        !self.relevance.libraries && self.facts.get(function).library
    }
}

impl Backward<'_, '_, '_> {
    /// Ends the search for potential dependences if the slice is large enough.
    pub fn check_limit(&mut self) {
        let enough = self.relevant.as_ref().is_some_and(|r| self.sink.executions >= r.relevance.limit);
        // At the start of the stream no branch is left.
        if enough && self.position > 0 {
            self.relevant = None;
            // It was live for alternatives only.
            self.initial = LiveMemory::default();
            let at = self.at(self.position);
            self.sink.slice.asked_back_to.get_or_insert(at);
        }
    }

    /// Records the object of a range that became live. `is_new` is false if all of it was live before, and
    /// may have been recorded.
    pub(super) fn record_live(&mut self, address: u64, len: u64, is_new: bool) {
        let (memory, initial) = (&self.memory, &self.initial);
        if let Some(relevant) = &mut self.relevant {
            let live = match relevant.objects.find(self.stream, self.position, address) {
                Some(object) => ObjectRange::object(object, address, len),
                None => ObjectRange { object: NO_OBJECT, address, len, offset: 0 },
            };
            let still =
                |l: &ObjectRange| memory.touches(l.address, l.len) || initial.touches(l.address, l.len);
            relevant.queries.add(live, is_new, still);
        }
    }

    /// Whether a potential branch becomes an ordinary node.
    pub(super) fn is_closure(&self) -> bool {
        self.relevant.as_ref().is_some_and(|r| r.relevance.variant == Variant::Closure)
    }

    /// A branch or call is visited that is not in the slice.
    #[inline]
    pub(super) fn skip_tail(&mut self, f: usize, kind: Kind) {
        let Some(relevant) = &mut self.relevant else { return };
        match (kind, self.activations.get_mut(f)) {
            (Kind::Branch, _) => relevant.edge = None,
            (Kind::Call, Some(activation)) => activation.callee = None,
            _ => {}
        }
    }

    /// Whether no alternative of a branch could have mattered, and no group propagates to it. This is a
    /// quick, conservative test: it may return false even if both hold.
    #[inline]
    pub(super) fn are_alternatives_idle(&self, f: usize, function: u32, block: BlockId) -> bool {
        let Some(relevant) = &self.relevant else { return true };
        let activation = self.activations.get(f);
        let propagates = |activation: &Activation| {
            let controls = self.sink.facts.get(function).controls(block);
            activation.groups.iter().any(|(b, _)| contains(controls, *b))
        };
        if activation.is_some_and(|a| !a.groups.is_empty() && propagates(a)) {
            return false;
        }
        if activation.is_some_and(|a| !a.wrote.is_empty() && self.is_under(a, function, block)) {
            return false;
        }
        let Some(to) = relevant.edge_of(f) else { return true };
        if self.may_have_written(function, (block, to), Streams::NONE).is_some() {
            return false;
        }
        let (registers, memory) = (activation.filter(|a| a.has_live()), self.has_live_memory());
        if registers.is_none() && !memory || relevant.is_excluded(function) {
            return true;
        }
        relevant.facts.ways(function, block).iter().filter(|way| way.to != to).all(|way| {
            let mod_summaries = registers.is_some_and(|a| a.may_have_passed(way.touched()));
            let is_settled =
                || way.memory.defined.is_empty() || relevant.queries.is_settled(way.memory.number);
            !mod_summaries && (!memory || is_settled())
        })
    }

    /// The uses for which a branch becomes a dummy, if it does; it does not if it `is_node` anyway.
    /// Propagates the groups that reach the branch.
    pub(super) fn alternatives(&mut self, it: InstExec<'_>, is_node: bool) -> TraceResult<UseList> {
        let InstExec { f, function, .. } = it;
        let block = it.inst.block;
        let Some(relevant) = &mut self.relevant else { return Ok(UseList::default()) };
        let edge = relevant.edge.take().filter(|(d, _)| *d as usize == f + 1);
        let mut below = Vec::new();
        if let Some(activation) = self.activations.get_mut(f) {
            let controls = self.sink.facts.get(function).controls(block);
            let provenances = &mut self.sink.uses.provenances;
            activation.groups.retain(|(b, group)| {
                let propagates = contains(controls, *b);
                if propagates {
                    below.push(provenances.find(*group));
                }
                !propagates
            });
        }
        let wrote = self.written_under(f, function, block);
        let mut uses = UseList::default();
        // For what it could have mattered is asked even so if that counts for each use.
        if let (Some((_, to)), true) = (edge, !is_node || self.sink.has_labels()) {
            uses = self.find_potential_use(f, function, (block, to), &below);
            if !uses.is_live()
                && let Some(omitted) = self.may_have_written(function, (block, to), wrote)
            {
                uses = self.potentially(omitted);
            }
        }
        for group in below {
            self.propagate(f, block, group);
        }
        Ok(uses)
    }

    /// A group now depends on the branch that controls a block.
    fn propagate(&mut self, f: usize, block: BlockId, group: Group) {
        let groups = &mut self.activations[f].groups;
        match groups.iter_mut().find(|(b, _)| *b == block) {
            Some((_, there)) => *there = self.sink.uses.provenances.unite(*there, group),
            None => groups.push((block, group)),
        }
    }

    /// The groups of a callee now depend on the branch that controls the call.
    pub(super) fn propagate_to_call(&mut self, f: usize, block: BlockId) {
        let group = self.activations.get_mut(f).and_then(|a| a.groups_of_callee.take());
        if let Some(group) = group {
            self.propagate(f, block, group);
        }
    }

    /// The provenance of uses by the dummies of a block.
    pub(super) fn provenance_of_group_at(&mut self, f: usize, block: BlockId) -> Provenance {
        let there = self.activations[f].groups.iter().find(|(b, _)| *b == block).map(|g| g.1);
        let group = there.unwrap_or_else(|| {
            let group = self.sink.uses.provenances.new_group();
            self.activations[f].groups.push((block, group));
            group
        });
        self.sink.uses.provenances.of_group(group)
    }

    /// Makes a branch or a call a dummy: the operand of its condition becomes live.
    pub(super) fn dummy(&mut self, it: InstExec<'_>, uses: UseList) -> TraceResult<()> {
        let f = self.enter(it.depth, it.function)?;
        let node = self.sink.exec(self.at(it.step), (it.function, it.inst.index), it.depth, uses);
        self.sink.mark_potential(node);
        let consumer = Consumer { node, provenance: self.provenance_of_group_at(f, it.inst.block) };
        if let Some(reg) = it.inst.uses.of(&it.of.uses).first() {
            self.use_in_condition(f, *reg, demanded_bits::ALL, consumer);
        }
        Ok(())
    }

    /// A dummy's condition uses a register. If nothing else uses it, its definition in the same block
    /// belongs to the dummy.
    pub(super) fn use_in_condition(&mut self, f: usize, reg: Reg, bits: u64, consumer: Consumer) {
        if bits != 0 && !self.activations[f].is_live(reg) {
            self.activations[f].condition_regs.push(reg);
        }
        self.use_reg(f, reg, bits, consumer);
    }

    /// Whether an instruction only computes a part of a dummy's condition.
    #[inline]
    pub(super) fn is_in_condition(&self, f: usize, function: u32, inst: &InstSummary, uses: UseList) -> bool {
        let regs = &self.activations[f].condition_regs;
        let Some(relevant) = &self.relevant else { return false };
        if regs.is_empty() || !uses.is_live() || self.sink.uses.provenances.is_definite(uses.provenance) {
            return false;
        }
        let code = self.sink.facts.inst(function, inst.index);
        let is_plain = !matches!(code, Inst::Rmw { .. } | Inst::CmpXchg { .. } | Inst::Unknown { .. });
        let is_of_condition = |r: Reg| regs.contains(&r) && !relevant.facts.get(function).is_given(r);
        is_plain && (inst.dst..inst.dst + inst.count).any(is_of_condition)
    }

    /// Whether an alternative of a branch could have defined anything that is live for others than
    /// the groups `below`: one of its uses, with the labels of all if there are any.
    fn find_potential_use(
        &mut self,
        f: usize,
        function: u32,
        (block, to): (BlockId, BlockId),
        below: &[Group],
    ) -> UseList {
        let Some(relevant) = &self.relevant else { return UseList::default() };
        let has_registers = self.activations.get(f).is_some_and(|a| a.has_live());
        if !has_registers && !self.has_live_memory() || relevant.is_excluded(function) {
            return UseList::default();
        }
        let (facts, all) = (relevant.facts, self.sink.has_labels());
        let mut found = UseList::default();
        for way in facts.ways(function, block).iter().filter(|w| w.to != to) {
            let registers = self.live_register_use(f, function, block, way, below);
            found = self.sink.uses.either(found, registers);
            if all || !found.is_live() {
                let memory = self.live_memory_use(f, &way.memory, below);
                found = self.sink.uses.either(found, memory);
            }
            if !all && found.is_live() {
                break;
            }
        }
        if found.is_live() { self.potentially(found) } else { found }
    }

    /// Turns a list of uses into one potential dependence of its first consumer.
    pub(super) fn potentially(&mut self, uses: UseList) -> UseList {
        let first = self.sink.uses.iter(uses).next();
        let consumer = self.sink.consumer(first.map(|e| e.0), uses);
        self.sink.uses.one(consumer, Dependence::Potential)
    }

    fn live_register_use(
        &mut self,
        f: usize,
        function: u32,
        block: BlockId,
        way: &BranchAlternative,
        below: &[Group],
    ) -> UseList {
        let activation = self.activations.get(f).filter(|a| a.has_live() && way.assigns_registers());
        let (Some(relevant), Some(activation)) = (&mut self.relevant, activation) else {
            return UseList::default();
        };
        let ways = &relevant.facts.get(function).ways;
        let (all, mut found) = (self.sink.has_labels(), UseList::default());
        for (w, bits) in activation.live_words().iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let reg = 64 * w as u32 + bits.trailing_zeros();
                bits &= bits - 1;
                let uses = activation.uses(reg);
                let provenances = &mut self.sink.uses.provenances;
                let through = provenances.passed(uses.provenance);
                if !way.touches(reg) && !provenances.phis(through).iter().any(|r| way.touches(*r)) {
                    continue;
                }
                let question = (function, block, way.to, reg, through);
                let mod_summaries = *relevant.mod_summaries.entry(question).or_insert_with(|| {
                    ways.may_assign((block, way.to), &way.region, reg, provenances.phis(through))
                });
                if mod_summaries && provenances.is_live_beyond(uses.provenance, below) {
                    found = self.sink.uses.either(found, uses);
                    if !all {
                        return found;
                    }
                }
            }
        }
        found
    }

    fn live_memory_use(&mut self, f: usize, other: &MayDef, below: &[Group]) -> UseList {
        let (memory, initial) = (&self.memory, &self.initial);
        let Some(relevant) = &mut self.relevant else { return UseList::default() };
        let Relevant { queries, objects, facts, .. } = relevant;
        if other.defined.is_empty() || memory.is_empty() && initial.is_empty() {
            return UseList::default();
        }
        let (all, mut sum) = (self.sink.has_labels(), UseList::default());
        let arena = &mut self.sink.uses;
        let here = objects.frame_of(f);
        let function = self.activations.get(f).and_then(|a| a.function);
        let size = function.map_or(0, |function| facts.frame_size(function));
        let defined = &other.defined;
        let ask = |live: &ObjectRange| {
            let mut any = false;
            let mut found = UseList::default();
            let mut within = |start: u64, end: u64| {
                let (from, to) = (start.max(live.address), end.min(live.address.saturating_add(live.len)));
                if from >= to {
                    return;
                }
                for live in [memory, initial] {
                    live.ranges(from, to - from, |range| {
                        any = true;
                        let counts = all || !found.is_live();
                        if counts && arena.provenances.is_live_beyond(range.uses.provenance, below) {
                            found = arena.either(found, range.uses);
                        }
                    });
                }
            };
            if live.object == NO_OBJECT {
                within(live.address, live.address.saturating_add(live.len));
            } else {
                let start = live.address - live.offset;
                for (from, to) in defined.of(live.object) {
                    within(start.saturating_add(*from), start.saturating_add(*to));
                }
                if let Some(here) = here {
                    for (from, to) in &defined.own {
                        within(here.wrapping_add(*from), here.wrapping_add(*to));
                    }
                }
            }
            // A byte outside this activation's frame may be in the frame of another execution's activation.
            let is_own = here.is_some_and(|here| live.address.wrapping_sub(here) < size);
            match any {
                _ if found.is_live() => {
                    sum = arena.either(sum, found);
                    Answer::Yes(found)
                }
                true => Answer::NotNow,
                false
                    if !memory.touches(live.address, live.len)
                        && !initial.touches(live.address, live.len) =>
                {
                    Answer::Dead
                }
                false if !is_own && defined.depends_on_activation(live.object) => Answer::NotNow,
                false => Answer::No,
            }
        };
        if !all {
            return queries.ask(other.number, defined, ask).unwrap_or_default();
        }
        queries.ask_all(other.number, defined, ask);
        sum
    }

    /// The uses for which a call through a pointer becomes a dummy, if it does: another function could have
    /// been called.
    pub(super) fn other_callees(&mut self, it: InstExec<'_>, is_node: bool, wrote: Streams) -> UseList {
        let InstExec { f, function, inst, .. } = it;
        let Some(relevant) = &self.relevant else { return UseList::default() };
        let all = self.sink.has_labels();
        if inst.uses.is_empty() || is_node && !all || relevant.is_excluded(function) {
            return UseList::default();
        }
        let called = self.activations.get(f).and_then(|a| a.callee);
        let facts = relevant.facts;
        let Some(callees) = facts.get(function).calls.get(&inst.index) else { return UseList::default() };
        let mut found = UseList::default();
        for (callee, other) in callees.iter().filter(|(callee, _)| Some(*callee) != called) {
            let uses = self.live_memory_use(f, other, &[]);
            found = self.sink.uses.either(found, uses);
            if !found.is_live() {
                found = self.omitted_uses(|| facts.written_by(*callee), wrote).unwrap_or_default();
            }
            if found.is_live() && !all {
                break;
            }
        }
        if found.is_live() { self.potentially(found) } else { found }
    }
}

/// Whether a block is in a set.
pub(super) fn contains(set: &[u64], block: BlockId) -> bool {
    set.get(block as usize / 64).is_some_and(|w| w >> (block % 64) & 1 != 0)
}

//! The way back of a relevant slice over stretches.
//!
//! Every branch and every call is asked whether it could have mattered, and nearly all say no:
//! so that must cost a look or two. And once the slice has more nodes than are kept, what is
//! taken has a shorter way here, as it has in [`super::lightly`] for a dynamic slice: what is
//! wanted has a tag and no list. What is taken is the same to the last execution.

use super::calls::CallState;
use super::candidates::{Access, Candidate, Candidates, Here, Kind};
use super::stretch::{Deeds, Stretches, known};
use super::{Frame, Walker};
use crate::InconsistentTrace;
use crate::criterion::Occurrence;
use crate::fragments::FragmentExec;
use crate::relevance::Variant;
use crate::tags::Tag;
use crate::wants::List;
use program::inst::{BlockId, Inst, Reg};

/// What came of the shorter way.
enum Weighed {
    /// The instruction is not taken.
    Not,
    /// It is, and why it ran is to be looked for.
    Taken,
    /// It is, for a dummy.
    ForDummy,
    /// It has no shorter way.
    Unknown,
}

impl Walker<'_, '_> {
    /// Executions are only counted from now on. What one is taken for matters further only if
    /// nothing is followed for sure.
    #[inline]
    pub(super) fn weighs_only(&self) -> bool {
        let variant = self.potential.as_ref().map(|p| p.relevance.variant);
        self.all.slice.truncated && self.all.known.is_empty() && variant != Some(Variant::Agrawal)
    }

    /// Whether a branch could not have mattered, and nothing rises to it: a quick answer that is
    /// only sometimes true when it could be.
    #[inline]
    fn is_idle(&self, f: usize, function: u32, block: BlockId) -> bool {
        let Some(potential) = &self.potential else { return true };
        let frame = self.frames.get(f);
        let rises = |frame: &Frame| {
            let controls = self.all.facts.get(function).controls(block);
            let has = |b: BlockId| controls.get(b as usize / 64).is_some_and(|w| w >> (b % 64) & 1 != 0);
            frame.groups.iter().any(|(b, _)| has(*b))
        };
        if potential.relevance.variant == Variant::Gyimothy
            || frame.is_some_and(|frame| !frame.groups.is_empty() && rises(frame))
        {
            return false;
        }
        let Some(to) = potential.went_from(f) else { return true };
        let (registers, memory) = (frame.filter(|frame| frame.wanted > 0), self.wants_memory());
        if registers.is_none() && !memory {
            return true;
        }
        if !potential.relevance.libraries && potential.facts.get(function).library {
            return true;
        }
        potential.facts.ways(function, block).iter().filter(|way| way.to != to).all(|way| {
            let may_assign = registers.is_some_and(|frame| frame.may_have_passed(way.touched()));
            !may_assign && (!memory || potential.has_settled(&way.memory))
        })
    }

    /// Whether what ends a stretch is certainly not taken.
    #[inline]
    fn ends_idly(&self, candidates: &Candidates, function: u32, f: usize, tail: &Candidate) -> bool {
        let frame = self.frames.get(f);
        match tail.kind {
            Kind::Branch => {
                !self.constant.is_wanted()
                    && !self.decides(f, candidates, tail.decides)
                    && self.is_idle(f, function, tail.block)
            }
            Kind::Call => {
                let is_direct = tail.uses.0 == tail.uses.1;
                let is_wanted = frame.is_some_and(|frame| frame.call.is_some() || frame.rising.is_some());
                !is_wanted && (is_direct || !self.wants_memory())
            }
            Kind::Return => !frame.is_some_and(|frame| frame.is_returning()) && self.called_back(f).is_none(),
            _ => !self.constant.is_wanted(),
        }
    }

    /// A branch or call is behind us.
    #[inline]
    fn leave_behind(&mut self, f: usize, kind: Kind) {
        match (kind, &mut self.potential, self.frames.get_mut(f)) {
            (Kind::Branch, Some(potential), _) => potential.has_left(),
            (Kind::Call, _, Some(frame)) => frame.callee = None,
            _ => {}
        }
    }

    /// Instructions of one stretch ran.
    pub(super) fn ran_weighed<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &mut D,
        ran: &FragmentExec,
        here: Here,
    ) -> Result<(), InconsistentTrace> {
        let f = ran.depth as usize - 1;
        let candidates = known(&mut by.functions, self.all.facts, deeds, ran.function);
        let mut from = here.from;
        // What ends a stretch is its first candidate on the way back.
        if let Some((kind, number)) = here.tail {
            let tail = &candidates.all[number as usize];
            if tail.index > ran.last || self.ends_idly(candidates, ran.function, f, tail) {
                self.leave_behind(f, kind);
                from = number + 1;
            }
        }
        if from > here.from || here.tail.is_none() {
            let assigned = &candidates.assigned[here.assigned.0 as usize..here.assigned.1 as usize];
            let frame = self.frames.get(f).filter(|frame| frame.wanted > 0);
            let assigns = frame.is_some_and(|frame| {
                assigned.iter().any(|(w, set)| frame.wanted_bits[*w as usize] & set != 0)
            });
            let stores = &candidates.stores[here.stores.0 as usize..here.stores.1 as usize];
            let stores = stores.iter().map(|c| &candidates.all[*c as usize]);
            if !assigns && !self.may_store(&by.light, deeds, ran, stores)? {
                by.passed = None;
                self.next = ran.step;
                return Ok(());
            }
        }
        let weighs_only = self.weighs_only();
        let mut taken = false;
        for number in from..here.to {
            let c = &candidates.all[number as usize];
            if c.index > ran.last || c.index < ran.first {
                continue;
            }
            let how = if weighs_only { self.weigh(deeds, ran, c, candidates)? } else { Weighed::Unknown };
            match how {
                Weighed::Not => continue,
                Weighed::Unknown => {
                    let (scratch, light, passed) = (&mut by.scratch, &mut by.light, &mut by.passed);
                    self.by_step(scratch, light, passed, deeds, ran, c, candidates)?;
                    continue;
                }
                Weighed::Taken => taken = true,
                Weighed::ForDummy => {}
            }
            let tally = &mut candidates.tally[number as usize];
            *tally += 1;
            if *tally == 1 {
                let step = ran.step + u64::from(c.index - ran.first);
                self.all.see(ran.function, c.index, Occurrence { stream: self.stream, step });
            } else {
                self.all.taken += 1;
            }
        }
        if taken {
            self.undecide_lightly(f, here, candidates);
        }
        by.passed = None;
        self.next = ran.step;
        Ok(())
    }

    /// The shorter way of a common instruction.
    #[inline]
    fn weigh<D: Deeds>(
        &mut self,
        deeds: &mut D,
        ran: &FragmentExec,
        c: &Candidate,
        candidates: &Candidates,
    ) -> Result<Weighed, InconsistentTrace> {
        let f = ran.depth as usize - 1;
        let uses = &candidates.uses[c.uses.0 as usize..c.uses.1 as usize];
        match c.kind {
            Kind::Value => return self.weigh_value(deeds, ran, c, candidates),
            Kind::Memory if c.access == Access::Store => {
                if !self.wants_memory() {
                    return Ok(Weighed::Not);
                }
                let (start, len) = (deeds.address(ran, c)?, u64::from(c.len));
                let mut hit = self.held.take(start, len);
                if self.memory.may_touch(start, len) || self.old.may_touch(start, len) {
                    hit |= self.take_memory(start, len).is_wanted();
                }
                if !hit {
                    return Ok(Weighed::Not);
                }
            }
            Kind::Memory => return Ok(Weighed::Unknown),
            Kind::Jump => {
                if !std::mem::take(&mut self.constant).is_wanted() {
                    return Ok(Weighed::Not);
                }
            }
            Kind::Branch => match self.weigh_branch(ran, c, candidates) {
                Weighed::Taken => {}
                other => return Ok(other),
            },
            Kind::Return => {
                let Some(frame) = self.frames.get(f) else { return Ok(Weighed::Unknown) };
                if !frame.returns.is_empty() || self.called_back(f).is_some() {
                    return Ok(Weighed::Unknown);
                }
                if frame.returned == 0 {
                    return Ok(Weighed::Not);
                }
                self.settle(ran.depth, ran.function);
                self.furnish(f);
                let mut wanted = std::mem::take(&mut self.frames[f].returned);
                while wanted != 0 {
                    if let Some(reg) = uses.get(wanted.trailing_zeros() as usize) {
                        self.want_for(f, *reg, Tag::SURE);
                    }
                    wanted &= wanted - 1;
                }
                return Ok(Weighed::Taken);
            }
            Kind::Call => {
                // Through a pointer another function could have been called.
                if !uses.is_empty() {
                    return Ok(Weighed::Unknown);
                }
                let Some(frame) = self.frames.get_mut(f) else { return Ok(Weighed::Not) };
                let is_light =
                    |s: &CallState| s.is_light() || !s.list.is_wanted() && s.node.is_none() && !s.all;
                if !frame.call.as_ref().is_none_or(|state| is_light(state)) {
                    return Ok(Weighed::Unknown);
                }
                frame.callee = None;
                let state = frame.call.take();
                self.settle(ran.depth, ran.function);
                self.rise_to_call(f, c.index);
                let Some(mut state) = state.filter(|state| state.list.is_wanted()) else {
                    return Ok(Weighed::Not);
                };
                self.furnish(f);
                let arguments = &candidates.arguments[c.arguments.0 as usize..c.arguments.1 as usize];
                for (number, slot, _) in state.arguments.drain(..) {
                    if let Some((Some(reg), slots)) = arguments.get(number as usize)
                        && slot < *slots
                    {
                        self.want_for(f, reg + slot, Tag::SURE);
                    }
                }
                self.put_away(state);
                return Ok(Weighed::Taken);
            }
        }
        self.settle(ran.depth, ran.function);
        self.furnish(f);
        for reg in uses {
            self.want_for(f, *reg, Tag::SURE);
        }
        Ok(Weighed::Taken)
    }

    fn weigh_value<D: Deeds>(
        &mut self,
        deeds: &mut D,
        ran: &FragmentExec,
        c: &Candidate,
        candidates: &Candidates,
    ) -> Result<Weighed, InconsistentTrace> {
        let f = ran.depth as usize - 1;
        let Some(frame) = self.frames.get_mut(f).filter(|frame| frame.wanted > 0) else {
            return Ok(Weighed::Not);
        };
        if c.mask == 0 {
            return Ok(Weighed::Unknown);
        }
        let hit = frame.wanted_bits[c.word as usize] & c.mask;
        if hit == 0 {
            return Ok(Weighed::Not);
        }
        let of_tree = !frame.tree.is_empty() && self.makes_condition(f, ran.function, c, hit);
        self.frames[f].take_lightly(c.word, c.mask);
        let tag = if of_tree { self.group_tag(f, c.block) } else { Tag::SURE };
        let mut skipped = (c.uses.1, c.uses.1);
        match c.access {
            Access::Load => {
                let (start, len) = (deeds.address(ran, c)?, u64::from(c.len));
                let is_new = self.held.want(start, len, tag, &mut self.all.edges.tags);
                self.next = ran.step + u64::from(c.index - ran.first);
                self.note_wanted(start, len, is_new);
            }
            Access::Choice => {
                let first = deeds.chose_first(ran, c)?;
                skipped = if first { (c.values.1, c.uses.1) } else { c.values };
            }
            _ => {}
        }
        for n in (c.uses.0..skipped.0).chain(skipped.1..c.uses.1) {
            let reg = candidates.uses[n as usize];
            if of_tree && !self.frames[f].wants(reg, 1) {
                self.frames[f].tree.push(reg);
            }
            self.want_for(f, reg, tag);
        }
        Ok(if of_tree { Weighed::ForDummy } else { Weighed::Taken })
    }

    /// Whether a candidate that assigns wanted registers only computes part of a dummy's
    /// condition: as [`Walker::is_of_tree`].
    fn makes_condition(&self, f: usize, function: u32, c: &Candidate, mut hit: u64) -> bool {
        let (frame, tags) = (&self.frames[f], &self.all.edges.tags);
        while hit != 0 {
            let reg = 64 * c.word + hit.trailing_zeros();
            if tags.is_sure(frame.regs[reg as usize].tag) {
                return false;
            }
            hit &= hit - 1;
        }
        let Some(potential) = &self.potential else { return false };
        let of_tree = |r: Reg| frame.tree.contains(&r) && !potential.facts.get(function).is_given(r);
        (c.dst..c.dst + c.count).any(of_tree)
            && !matches!(self.all.facts.inst(function, c.index), Inst::Unknown { .. })
    }

    fn weigh_branch(&mut self, ran: &FragmentExec, c: &Candidate, candidates: &Candidates) -> Weighed {
        let f = ran.depth as usize - 1;
        let masks = &candidates.masks[c.decides.0 as usize..c.decides.1 as usize];
        let decides = self.frames.get_mut(f).is_some_and(|frame| frame.decide_lightly(masks));
        let taken = std::mem::take(&mut self.constant).is_wanted() || decides;
        // Nothing can rise to it, and why it is taken is known.
        let is_plain = |frame: &Frame| frame.groups.is_empty();
        if let Some(potential) = &mut self.potential
            && taken
            && potential.relevance.variant != Variant::Gyimothy
            && self.frames.get(f).is_none_or(|frame| is_plain(frame))
        {
            potential.has_left();
            return Weighed::Taken;
        }
        self.settle(ran.depth, ran.function);
        let list = self.branch(f, ran.function, c.index, taken);
        if !list.is_wanted() {
            return if taken { Weighed::Taken } else { Weighed::Not };
        }
        if self.closes() {
            return Weighed::Taken;
        }
        if let Some(potential) = &mut self.potential {
            potential.has_dummy((ran.function, c.index), None);
        }
        self.furnish(f);
        let tag = self.group_tag(f, c.block);
        if let Some(reg) = candidates.uses[c.uses.0 as usize..c.uses.1 as usize].first() {
            if !self.frames[f].wants(*reg, 1) {
                self.frames[f].tree.push(*reg);
            }
            self.want_for(f, *reg, tag);
        }
        Weighed::ForDummy
    }

    /// Wants a register for somebody.
    #[inline]
    pub(super) fn want_for(&mut self, f: usize, reg: Reg, tag: Tag) {
        let frame = &mut self.frames[f];
        let Some(word) = frame.wanted_bits.get_mut(reg as usize / 64) else { return };
        let bit = 1u64 << (reg % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        if is_new {
            frame.wanted += 1;
            if tag != Tag::SURE {
                frame.regs[reg as usize] = List::anonymous(tag);
                frame.named = true;
            }
        } else if frame.named || tag != Tag::SURE {
            let list = &mut frame.regs[reg as usize];
            let tags = &mut self.all.edges.tags;
            if tag == Tag::SURE && tags.is_sure(list.tag) {
                return;
            }
            let both = tags.join(list.tag, tag);
            if both != list.tag {
                *list = list.or_nobody();
                list.tag = both;
                frame.named = true;
            }
        }
    }
}

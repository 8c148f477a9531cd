//! The way back when executions are only counted: as in [`super::step`] and [`super::calls`],
//! without lists.

use super::Walker;
use super::calls::CallState;
use super::candidates::{Access, Candidate, Candidates, Here, Kind};
use super::frame::Frame;
use super::light::Light;
use super::stretch::{Deeds, Stretches, known};
use crate::InconsistentTrace;
use crate::fragments::FragmentExec;
use crate::log::Copied;
use crate::wants::List;
use program::inst::Reg;

/// So many states of calls are kept for later ones.
const SPARE: usize = 64;

/// What came of the shorter way.
pub(super) enum Counted {
    /// The instruction is not taken.
    Not,
    Taken,
    /// It has no shorter way.
    Unknown,
}

impl CallState {
    /// Nothing is wanted but that it was made, and of arguments in registers.
    pub fn is_light(&self) -> bool {
        self.reads.is_none() && self.node.is_none() && !self.all && self.bytes.is_empty()
    }
}

impl Walker<'_, '_> {
    /// A call of `callee`, if that is known, has returned.
    pub(super) fn returned_back<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        (function, index, depth): (u32, u32, u32),
        callee: Option<u32>,
    ) {
        let f = depth as usize - 1;
        self.meet(f, function);
        if self.potential.is_some() {
            self.returned_weighed(by, deeds, (function, index, depth), callee);
            return;
        }
        if self.frames.len() <= f {
            return;
        }
        if self.counts_only() {
            if let Some(callee) = callee
                && self.returned_remembered(by, deeds, (function, index, depth), callee)
            {
                return;
            }
            self.release_from(by, depth);
        }
        if self.frames[f].wanted == 0 {
            return;
        }
        let call = known(&mut by.functions, self.all.facts, deeds, function).call(index).copied();
        match (call.filter(|c| c.count == 0 || c.mask != 0), callee) {
            (Some(call), Some(callee)) if self.counts_only() => {
                if call.count == 0 {
                    return;
                }
                let frame = &mut self.frames[f];
                let hit = frame.wanted_bits[call.word as usize] & call.mask;
                if hit == 0 {
                    return;
                }
                frame.take_lightly(call.word, call.mask);
                self.settle(depth, function);
                let mut frame = self.fresh(callee);
                frame.returned = hit >> (call.dst % 64);
                self.frames.push(frame);
            }
            _ => self.returned(function, index, depth),
        }
    }

    /// The return of an activation whose result is wanted; `value` are the registers it returns.
    pub(super) fn return_lightly(&mut self, f: usize, value: &[Reg]) {
        let frame = &mut self.frames[f];
        let mut wanted = std::mem::take(&mut frame.returned);
        while wanted != 0 {
            if let Some(reg) = value.get(wanted.trailing_zeros() as usize) {
                frame.want_lightly(*reg);
            }
            wanted &= wanted - 1;
        }
    }

    /// An activation began.
    pub(super) fn entered_back<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        (function, depth, outside): (u32, u32, bool),
        copies: &[Copied],
    ) {
        self.meet(depth as usize - 1, function);
        for copy in copies {
            self.gather(&mut by.light, copy.to, copy.len);
        }
        if !copies.is_empty() {
            self.settle(depth, function);
        }
        let f = depth as usize - 1;
        if self.potential.is_some() {
            self.entered_weighed(by, deeds, (function, depth, outside), copies);
            return;
        }
        if self.counts_only() {
            let is_light = copies.is_empty() && !outside && f > 0;
            if is_light && self.entered_remembered(by, deeds, function, depth) {
                return;
            }
            self.release_from(by, depth);
        }
        let Some(frame) = self.frames.get(f) else { return };
        let is_light = copies.is_empty() && !outside && f > 0 && frame.spilled.is_empty();
        if !is_light || !self.counts_only() {
            self.entered(function, depth, outside, copies);
            return;
        }
        self.settle(depth, function);
        let Some(mut frame) = self.frames.pop() else { return };
        let state = self.asked_of_call(by, deeds, function, &mut frame);
        self.forget(frame);
        self.ask_of_call(f - 1, state);
    }

    /// What an activation wants of the call it came from, when its beginning is reached.
    pub(super) fn asked_of_call<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        function: u32,
        frame: &mut Frame,
    ) -> Box<CallState> {
        let mut state = self.states.pop().unwrap_or_default();
        if frame.is_furnished() {
            let undecided = frame.undecide_all();
            let of = known(&mut by.functions, self.all.facts, deeds, function);
            for (reg, number, slot) in &of.parameters {
                if frame.wanted > 0 && frame.take_lightly(reg / 64, 1 << (reg % 64)) {
                    state.arguments.push((*number, *slot, true));
                }
            }
            if undecided || !state.arguments.is_empty() {
                state.list = List::ANONYMOUS;
            }
        }
        state
    }

    /// Adds to what is wanted of the call under way in an activation.
    pub(super) fn ask_of_call(&mut self, f: usize, mut state: Box<CallState>) {
        if !state.list.is_wanted() {
            self.put_away(state);
            return;
        }
        match &mut self.frames[f].call {
            Some(known) => {
                known.list = self.all.edges.join(known.list, state.list);
                known.arguments.append(&mut state.arguments);
            }
            none => *none = Some(state),
        }
    }

    /// A call of which something is wanted, with the registers of its arguments.
    pub(super) fn call_lightly(
        &mut self,
        f: usize,
        mut state: Box<CallState>,
        arguments: &[(Option<Reg>, u32)],
    ) {
        let frame = &mut self.frames[f];
        for (number, slot, _) in state.arguments.drain(..) {
            if let Some((Some(reg), slots)) = arguments.get(number as usize)
                && slot < *slots
            {
                frame.want_lightly(reg + slot);
            }
        }
        self.put_away(state);
    }

    /// Keeps the state of a call that is done with for a later one.
    pub(super) fn put_away(&mut self, mut state: Box<CallState>) {
        if self.states.len() < SPARE {
            state.list = List::default();
            state.arguments.clear();
            self.states.push(state);
        }
    }

    /// Looks for the branch that decided about a stretch, for nobody in particular.
    #[inline]
    pub(super) fn undecide_lightly(&mut self, f: usize, here: Here, candidates: &Candidates) {
        let block = candidates.all[here.from as usize].block;
        let (word, bit) = (block as usize / 64, 1u64 << (block % 64));
        if self.frames[f].bits.get(word).is_none_or(|w| w & bit == 0) {
            self.undecide(f, block, None);
        }
    }

    /// The shorter way of a common instruction when executions are only counted.
    #[inline]
    pub(super) fn count_only<D: Deeds>(
        &mut self,
        light: &mut Light,
        deeds: &mut D,
        ran: &FragmentExec,
        c: &Candidate,
        candidates: &Candidates,
    ) -> Result<Counted, InconsistentTrace> {
        let f = ran.depth as usize - 1;
        let mut uses = c.uses;
        let all_uses = &candidates.uses[..];
        match c.kind {
            Kind::Value => {
                let Some(frame) = self.frames.get_mut(f).filter(|frame| frame.wanted > 0) else {
                    return Ok(Counted::Not);
                };
                if c.mask == 0 {
                    return Ok(Counted::Unknown);
                }
                if !frame.take_lightly(c.word, c.mask) {
                    return Ok(Counted::Not);
                }
                match c.access {
                    Access::Load => {
                        let address = deeds.address(ran, c)?;
                        self.want_bytes(light, address, c.len.into());
                    }
                    Access::Choice => {
                        let first = deeds.chose_first(ran, c)?;
                        let skipped = if first { (c.values.1, c.uses.1) } else { c.values };
                        let frame = &mut self.frames[f];
                        for reg in &all_uses[c.uses.0 as usize..skipped.0 as usize] {
                            frame.want_lightly(*reg);
                        }
                        uses.0 = skipped.1;
                    }
                    _ => {}
                }
            }
            Kind::Memory if c.access == Access::Store => {
                if light.is_empty() && self.memory.is_empty() {
                    return Ok(Counted::Not);
                }
                let address = deeds.address(ran, c)?;
                if !self.take_bytes(light, address, c.len.into()) {
                    return Ok(Counted::Not);
                }
                self.settle(ran.depth, ran.function);
            }
            Kind::Jump => {
                if !self.constant.is_wanted() {
                    return Ok(Counted::Not);
                }
                self.constant = List::default();
                self.settle(ran.depth, ran.function);
            }
            Kind::Branch => {
                let masks = &candidates.masks[c.decides.0 as usize..c.decides.1 as usize];
                let decides = self.frames.get_mut(f).is_some_and(|frame| frame.decide_lightly(masks));
                if !decides && !self.constant.is_wanted() {
                    return Ok(Counted::Not);
                }
                self.constant = List::default();
                self.settle(ran.depth, ran.function);
            }
            Kind::Return => {
                let Some(frame) = self.frames.get(f) else { return Ok(Counted::Unknown) };
                if !frame.returns.is_empty() || self.called_back(f).is_some() {
                    return Ok(Counted::Unknown);
                }
                if frame.returned == 0 {
                    return Ok(Counted::Not);
                }
                self.settle(ran.depth, ran.function);
                self.furnish(f);
                self.return_lightly(f, &all_uses[uses.0 as usize..uses.1 as usize]);
                return Ok(Counted::Taken);
            }
            Kind::Call => {
                let Some(frame) = self.frames.get_mut(f) else { return Ok(Counted::Not) };
                let Some(state) = frame.call.take_if(|state| state.is_light()) else {
                    return Ok(if frame.call.is_some() { Counted::Unknown } else { Counted::Not });
                };
                self.settle(ran.depth, ran.function);
                self.furnish(f);
                let arguments = &candidates.arguments[c.arguments.0 as usize..c.arguments.1 as usize];
                self.call_lightly(f, state, arguments);
            }
            Kind::Memory => return Ok(Counted::Unknown),
        }
        self.furnish(f);
        let frame = &mut self.frames[f];
        for reg in &all_uses[uses.0 as usize..uses.1 as usize] {
            frame.want_lightly(*reg);
        }
        Ok(Counted::Taken)
    }

    /// Takes bytes out of what is wanted, whoever wants them; whether any was.
    #[inline]
    pub(super) fn take_bytes(&mut self, light: &mut Light, start: u64, len: u64) -> bool {
        let hit = light.take(start, len);
        if self.memory.may_touch(start, len) {
            return hit | self.take_memory(start, len).is_wanted();
        }
        hit
    }

    /// Wants memory for nobody in particular.
    #[inline]
    pub(super) fn want_bytes(&mut self, light: &mut Light, start: u64, len: u64) {
        // Where somebody wants a part of it that is noted down.
        if self.memory.may_touch(start, len) {
            self.memory.want(start, len, List::ANONYMOUS, &mut self.all.edges);
        } else {
            light.want(start, len);
        }
    }
}

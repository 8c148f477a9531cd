//! Calls and returns on the way back when executions are only counted: as in [`super::calls`],
//! without lists.

use super::Walker;
use super::calls::CallState;
use super::stretch::{Deeds, Stretches, known};
use crate::log::Copied;
use crate::wants::List;
use program::inst::Reg;

/// So many states of calls are kept for later ones.
const SPARE: usize = 64;

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
        for copy in copies {
            self.gather(&mut by.light, copy.to, copy.len);
        }
        if !copies.is_empty() {
            self.settle(depth, function);
        }
        let f = depth as usize - 1;
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
        let mut state = self.states.pop().unwrap_or_default();
        if frame.is_furnished() {
            let undecided = frame.undecide_all();
            let of = known(&mut by.functions, self.all.facts, deeds, function);
            for (reg, number, slot) in &of.parameters {
                if frame.wanted == 0 {
                    break;
                }
                if frame.take_lightly(reg / 64, 1 << (reg % 64)) {
                    state.arguments.push((*number, *slot, true));
                }
            }
            if undecided || !state.arguments.is_empty() {
                state.list = List::ANONYMOUS;
            }
        }
        self.forget(frame);
        if !state.list.is_wanted() {
            self.states.push(state);
            return;
        }
        match &mut self.frames[f - 1].call {
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
        if self.states.len() < SPARE {
            state.list = List::default();
            self.states.push(state);
        }
    }
}

//! Edges, returns and beginnings of activations on the way back of a relevant slice: as in
//! [`super::calls`], and without lists once executions are only counted.

use super::Walker;
use super::stretch::{Deeds, Stretches, known};
use crate::log::Copied;
use crate::wants::List;
use program::inst::{BlockId, Reg};

impl Walker<'_, '_> {
    /// Control went over an edge.
    pub(super) fn went_weighed<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        function: u32,
        depth: u32,
        (from, to): (BlockId, BlockId),
    ) {
        let f = depth as usize - 1;
        if let Some(potential) = &mut self.potential {
            potential.went_to(depth, to);
        }
        let Some(frame) = self.frames.get_mut(f) else { return };
        frame.tree.clear();
        if frame.wanted == 0 {
            return;
        }
        let candidates = known(&mut by.functions, self.all.facts, deeds, function);
        let Some(arrival) = candidates.arrival(from, to) else { return };
        let moves = candidates.moves_of(arrival);
        let wants = |dst: &Reg| frame.wanted_bits[*dst as usize / 64] >> (dst % 64) & 1 != 0;
        if !moves.iter().any(|(dst, _)| wants(dst)) {
            return;
        }
        if !self.weighs_only() {
            self.edge(depth, from, to);
            return;
        }
        by.moved.clear();
        for (dst, src) in moves {
            let frame = &mut self.frames[f];
            // Without names all is for sure, and lists say so.
            let tag = frame.regs[*dst as usize].tag;
            if !frame.take_lightly(dst / 64, 1 << (dst % 64)) {
                continue;
            }
            let tag = self.all.edges.tags.through(tag, *dst);
            frame.pass(*dst);
            match src {
                Some(src) => by.moved.push((*src, tag)),
                None => self.constant = List::ANONYMOUS,
            }
        }
        for (src, tag) in &by.moved {
            self.want_for(f, *src, *tag);
        }
    }

    /// A call of `callee`, if that is known, has returned.
    pub(super) fn returned_weighed<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        (function, index, depth): (u32, u32, u32),
        callee: Option<u32>,
    ) {
        let f = depth as usize - 1;
        if self.frames.len() <= f || self.frames.len() == depth as usize && self.frames[f].wanted == 0 {
            return;
        }
        let call = known(&mut by.functions, self.all.facts, deeds, function).call(index).copied();
        match (call.filter(|c| c.count > 0 && c.mask != 0), callee) {
            (Some(call), Some(callee)) if self.weighs_only() => {
                self.settle(depth, function);
                let frame = &mut self.frames[f];
                if frame.wanted == 0 {
                    return;
                }
                let hit = frame.wanted_bits[call.word as usize] & call.mask;
                if hit == 0 {
                    return;
                }
                frame.take_lightly(call.word, call.mask);
                let mut frame = self.fresh(callee);
                frame.returned = hit >> (call.dst % 64);
                self.frames.push(frame);
            }
            _ => self.returned(function, index, depth),
        }
    }

    /// An activation began.
    pub(super) fn entered_weighed<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        (function, depth, outside): (u32, u32, bool),
        copies: &[Copied],
    ) {
        let f = depth as usize - 1;
        // The call must know what it called, whether anything is wanted of that or not.
        while self.frames.len() < f {
            self.frames.push(Box::default());
        }
        let spilled = self.frames.get(f).is_some_and(|frame| !frame.spilled.is_empty());
        let is_light = copies.is_empty() && !outside && !spilled && f > 0 && self.weighs_only();
        if !is_light || self.frames.len() <= f {
            if self.frames.len() > f {
                self.settle(depth, function);
            }
            self.entered(function, depth, outside, copies);
            return;
        }
        self.settle(depth, function);
        if let Some(potential) = &mut self.potential {
            potential.places.leave(depth);
        }
        let Some(mut frame) = self.frames.pop() else { return };
        let state = self.asked_of_call(by, deeds, function, &mut frame);
        let caller = &mut self.frames[f - 1];
        caller.callee = Some(function);
        if !frame.groups.is_empty() || frame.rising.is_some() {
            let below = frame.groups.iter().map(|g| g.1).chain(frame.rising).chain(caller.rising);
            caller.rising = below.reduce(|a, b| self.all.edges.tags.unite(a, b));
        }
        self.forget(frame);
        self.ask_of_call(f - 1, state);
    }
}

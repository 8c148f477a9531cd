//! What came from outside of the program: library functions, the kernel, other
//! threads, jumps.

use super::calls::CallState;
use super::step::asks_all;
use super::{Crossing, Walker};
use crate::log::{Change, Miss, Outside};
use crate::slice::{Dependence, NodeId, Origin};
use crate::wants::List;
use externals::Model;
use program::inst::Inst;

impl Walker<'_, '_> {
    /// A call that left the program has returned.
    /// `direct`: the step before is the call itself; nothing was called back.
    pub(super) fn external(&mut self, outside: &Outside, depth: u32, direct: bool) {
        let f = self.settle(depth, outside.function);
        let inst = self.all.facts.inst(outside.function, outside.index);
        let Inst::Call(call) = inst else { return };
        let slots: u32 = call.ret.iter().map(|t| t.slots()).sum();
        let result = self.take_regs(f, call.dst, slots);
        let mut written = List::default();
        let mut copied = Vec::new();
        for (address, len) in &outside.writes {
            for piece in self.take_pieces(*address, *len) {
                written = self.all.edges.join(written, piece.list);
                copied.push(source(outside, piece.start, piece.len));
            }
        }
        let asked = direct
            && self
                .next
                .checked_sub(1)
                .and_then(|step| self.asked.get(&step))
                .is_some_and(|a| asks_all(a, inst));
        let reads = Some(outside.reads.clone());
        let writes = outside.writes.clone();
        let state = CallState { index: outside.index, reads, writes, ..CallState::default() };
        self.frames[f].call = Some(Box::new(state));
        if !result.is_wanted() && !written.is_wanted() && !asked {
            return;
        }
        let precise =
            !asked && copied.iter().all(Option::is_some) && (!result.is_wanted() || copies(outside));
        let list = self.all.edges.join(result, written);
        let node = self.node(u64::MAX, f, outside.index, List::default());
        let sure = asked || self.is_sure(list);
        if !sure {
            self.want_for_group_of(f, outside.index);
        }
        let reads = if precise { copied.into_iter().flatten().collect() } else { outside.reads.clone() };
        for (address, len) in reads {
            self.want_memory(address, len, node);
        }
        self.want_for_sure();
        if let Some(state) = &mut self.frames[f].call {
            state.list = list;
            state.node = Some(node);
            state.all = list.is_wanted();
        }
    }

    /// Something was made by the call out of the program that activation `f`
    /// has under way.
    pub(super) fn outside_takes(&mut self, f: usize, list: List) {
        let mut state = self.frames[f].call.take().unwrap_or_default();
        state.list = self.all.edges.join(state.list, list);
        state.all = true;
        if state.node.is_none()
            && let Some(reads) = state.reads.clone()
        {
            let node = self.node(u64::MAX, f, state.index, List::default());
            state.node = Some(node);
            if !self.is_sure(state.list) {
                self.want_for_group_of(f, state.index);
            }
            for (address, len) in reads {
                self.want_memory(address, len, node);
            }
            self.want_for_sure();
        }
        self.frames[f].call = Some(state);
    }

    /// The call out of the program under which activation `f` was called back,
    /// if that call is taken: its node, if that is kept.
    pub(super) fn called_back(&self, f: usize) -> Option<Option<NodeId>> {
        let call = self.frames.get(f.checked_sub(1)?)?.call.as_ref()?;
        call.reads.as_ref()?;
        call.node
    }

    /// Memory was changed by an event.
    pub(super) fn changed(&mut self, change: Change, depth: u32) {
        let (address, len) = match change {
            Change::Patch { address, len } | Change::Zeroed { address, len } => (address, len),
            Change::Moved { to, len, .. } => (to, len),
        };
        let caller = (depth as usize).checked_sub(1).filter(|f| *f < self.frames.len());
        let under_way = caller.filter(|f| self.frames[*f].call.as_ref().is_some_and(|c| c.reads.is_some()));
        if matches!(change, Change::Patch { .. })
            && under_way.is_some_and(|f| self.is_taken_and_rearranges(f, address, len))
        {
            // What is wanted of it is what was there before the call.
            return;
        }
        let pieces = self.take_pieces(address, len);
        if pieces.is_empty() {
            return;
        }
        for piece in pieces {
            let by_call = under_way.filter(|f| match change {
                Change::Patch { .. } => {
                    !self.is_read(*f, piece.start, piece.len) || self.is_written(*f, piece.start, piece.len)
                }
                Change::Moved { .. } | Change::Zeroed { .. } => true,
            });
            let Some(f) = by_call else {
                let variable = self.all.variable(piece.start);
                let origin = Origin::Outside { address: piece.start, len: piece.len, variable };
                self.all.leaf(piece.list, &origin);
                continue;
            };
            self.outside_takes(f, piece.list);
            if let Change::Moved { from, to, .. } = change {
                let node = self.frames[f].call.as_ref().and_then(|c| c.node).flatten();
                self.want_memory(from.wrapping_add(piece.start - to), piece.len, node);
            }
        }
    }

    /// Whether the call under way read a range, so that a patch of it says what
    /// was there, not what the call wrote (if it did not write it as well).
    fn is_read(&self, f: usize, start: u64, len: u64) -> bool {
        let reads = self.frames[f].call.as_ref().and_then(|c| c.reads.as_ref());
        reads.is_some_and(|reads| covers(reads, start, len))
    }

    fn is_written(&self, f: usize, start: u64, len: u64) -> bool {
        self.frames[f].call.as_ref().is_some_and(|call| covers(&call.writes, start, len))
    }

    /// Whether the call under way made the range out of itself, as sorting does,
    /// and is taken: then all that it read is wanted already.
    fn is_taken_and_rearranges(&self, f: usize, start: u64, len: u64) -> bool {
        let taken = self.frames[f].call.as_ref().is_some_and(|call| call.node.is_some());
        taken && self.is_read(f, start, len) && self.is_written(f, start, len)
    }

    /// A load saw what its thread had not written.
    pub(super) fn missed(&mut self, miss: &Miss) {
        let len = miss.bytes.len() as u64;
        let pieces = self.take_pieces(miss.address, len);
        if pieces.is_empty() {
            return;
        }
        if let (Some(writer), Some(seq)) = (miss.writer, miss.seq) {
            let read = replay::writers::Read {
                instruction: miss.step,
                module: miss.module,
                site: miss.site,
                address: miss.address,
                bytes: miss.bytes.clone(),
                writer,
                seq,
            };
            self.crossings.push(Crossing { read, pieces, seen: None });
            return;
        }
        for piece in pieces {
            let variable = self.all.variable(piece.start);
            let origin = Origin::Outside { address: piece.start, len: piece.len, variable };
            self.all.leaf(piece.list, &origin);
            // It was there, who knows since when: it could have been assigned before.
            if self.potential.is_some() {
                self.old.want(piece.start, piece.len, piece.list, &mut self.all.edges);
            }
        }
    }

    /// Control came back to a call by a jump out of the step before.
    pub(super) fn landed(&mut self, function: u32, index: u32, depth: u32) {
        let f = self.settle(depth, function);
        let Inst::Call(call) = self.all.facts.inst(function, index) else { return };
        let slots: u32 = call.ret.iter().map(|t| t.slots()).sum();
        let mut list = self.take_regs(f, call.dst, slots);
        self.all.edges.rewrite(list, |how| match how {
            Dependence::Register(r) => Dependence::Return(r),
            other => other,
        });
        // What ran since then, undecided by any branch since, ran because of
        // the jump, and because of what made the call it came back to run.
        for block in 0..self.frames[f].undecided.len() {
            let undecided = self.frames[f].undecided[block];
            let first = self.all.edges.iter(undecided).next();
            if self.frames[f].bits[block / 64] >> (block % 64) & 1 != 0 {
                let one = self.all.edges.one(first.map(|e| e.0), Dependence::Control);
                list = self.all.edges.join(list, one);
            }
        }
        self.landing = self.all.edges.join(self.landing, list);
    }
}

fn covers(ranges: &[(u64, u64)], start: u64, len: u64) -> bool {
    ranges.iter().any(|(at, n)| start >= *at && start.saturating_add(len) <= at.saturating_add(*n))
}

/// Where the bytes that a copying function wrote came from.
fn source(outside: &Outside, start: u64, len: u64) -> Option<(u64, u64)> {
    if !copies(outside) {
        return None;
    }
    let ((to, _), (from, read)) = (*outside.writes.first()?, *outside.reads.first()?);
    let offset = start.checked_sub(to)?;
    (offset + len <= read).then(|| (from.wrapping_add(offset), len))
}

/// The function copies one range to another, byte by byte, and returns an
/// address.
fn copies(outside: &Outside) -> bool {
    let model = outside.known.and_then(|k| k.model);
    let copying = matches!(
        model,
        // Not `stpcpy`, whose result says how long the string was.
        Some(Model::Memcpy | Model::Mempcpy | Model::Bcopy | Model::Strcpy | Model::Strncpy)
    );
    copying && outside.reads.len() == 1 && outside.writes.len() == 1
}

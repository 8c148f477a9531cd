//! Definitions outside the program: library functions, the kernel, other threads, jumps.

use super::calls::{CallState, as_return};
use super::transfer::requires_all_operands;
use super::{Backward, InterThreadUse, TraceResult};
use crate::InconsistentTrace;
use crate::irregular::{Change, Miss, Outside};
use crate::live::LiveRange;
use crate::memory_streams::Shown;
use crate::slice::{Dependence, NodeId, Origin};
use crate::uses::{Consumer, UseList};
use externals::State;
use program::inst::Inst;
use replay::effects::{is_state, state_address};

impl Backward<'_, '_, '_> {
    /// A call that left the program has returned. `is_direct`: the step before is the call itself, and the
    /// callee called nothing back.
    pub(super) fn external(&mut self, outside: &Outside, depth: u32, is_direct: bool) -> TraceResult<()> {
        let f = self.enter(depth, outside.function)?;
        self.record_written(f, outside);
        let call = self.call_inst(outside.function, outside.index)?;
        let (dst, slots) = (call.dst, call.ret.iter().map(|t| t.slots()).sum());
        let (result, _) = self.kill_regs(f, dst, slots);
        let mut written = UseList::default();
        let mut copied = Vec::new();
        for (address, len) in &outside.writes {
            for range in self.kill_ranges(*address, *len) {
                written = self.sink.uses.join(written, range.uses);
                copied.push(source(outside, range.start, range.len));
            }
        }
        let appended = outside.appends.filter(|at| self.touches(*at, 1));
        if let Some(at) = appended {
            let added = self.kill_memory(at, 1);
            written = self.sink.uses.join(written, added);
            copied.push(None);
        }
        let asked = self.position.checked_sub(1).filter(|_| is_direct).and_then(|s| self.asked.get(&s));
        let is_asked = asked.is_some_and(|asked| requires_all_operands(asked, (dst, slots)));
        let mut state = CallState {
            index: outside.index,
            reads: Some(outside.reads.clone()),
            writes: outside.writes.clone(),
            ..CallState::default()
        };
        if result.is_live() || written.is_live() || is_asked {
            // The number of bytes read does not depend on the bytes.
            let moves = copies(outside) || !outside.transfers.is_empty();
            let is_precise = !is_asked && copied.iter().all(Option::is_some) && (!result.is_live() || moves);
            state.uses = self.sink.uses.join(result, written);
            let node = self.sink.exec_unplaced((outside.function, outside.index), depth);
            let consumer = match self.position.checked_sub(1).filter(|_| is_direct) {
                Some(step) => self.sink.consumer_at(self.at(step), node, state.uses),
                None => self.sink.consumer(node, state.uses),
            };
            let reads = if is_precise {
                let states = outside.reads.iter().copied().filter(|read| is_state(read.0));
                copied.into_iter().flatten().chain(states).collect()
            } else {
                outside.reads.clone()
            };
            // The appended-to contents stay: the call uses them as well.
            for (address, len) in reads.into_iter().chain(appended.map(|at| (at, 1))) {
                self.use_memory(address, len, consumer);
            }
            (state.node, state.served) = (Some(node), consumer.provenance);
            state.all = state.uses.is_live();
        }
        self.activations[f].call = Some(Box::new(state));
        Ok(())
    }

    /// The external call that activation `f` has in progress defined something.
    pub(super) fn use_external(&mut self, f: usize, uses: UseList) -> TraceResult<()> {
        let mut state = self.activations[f].call.take().unwrap_or_default();
        state.uses = self.sink.uses.join(state.uses, uses);
        state.all = true;
        if state.node.is_none()
            && let Some(reads) = state.reads.clone()
        {
            let function = self.activations[f].function.ok_or(crate::InconsistentTrace(self.position))?;
            let node = self.sink.exec_unplaced((function, state.index), f as u32 + 1);
            state.node = Some(node);
            let consumer = self.sink.consumer(node, state.uses);
            state.served = consumer.provenance;
            for (address, len) in reads {
                self.use_memory(address, len, consumer);
            }
        }
        self.activations[f].call = Some(state);
        Ok(())
    }

    /// The call out of the program under which activation `f` was called back, if that call is in
    /// the slice.
    pub(super) fn calling_external(&mut self, f: usize) -> Option<Consumer> {
        let (node, uses) = self.caller_outside(f)?;
        Some(self.sink.consumer(node, uses))
    }

    /// The node of that call, if it is kept, and who uses it.
    pub(super) fn caller_outside(&self, f: usize) -> Option<(Option<NodeId>, UseList)> {
        let call = self.activations.get(f.checked_sub(1)?)?.call.as_ref()?;
        call.reads.as_ref()?;
        Some((call.node?, call.uses))
    }

    /// An event changed memory.
    pub(super) fn changed(&mut self, change: Change, depth: u32) -> TraceResult<()> {
        let (address, len) = match change {
            Change::Patch { address, len } | Change::Zeroed { address, len } => (address, len),
            Change::Moved { to, len, .. } => (to, len),
        };
        let caller = (depth as usize).checked_sub(1).filter(|f| *f < self.activations.len());
        let under_way =
            caller.filter(|f| self.activations[*f].call.as_ref().is_some_and(|c| c.reads.is_some()));
        if matches!(change, Change::Patch { .. })
            && under_way.is_some_and(|f| self.rearranges(f, address, len))
        {
            // Its live bytes are those from before the call.
            return Ok(());
        }
        if let (Change::Patch { .. }, Some(f)) = (change, under_way)
            && self.is_read(f, address, len)
            && !self.is_written(f, address, len)
            && let Some(call) = &mut self.activations[f].call
        {
            call.found.push((address, len));
        }
        for range in self.kill_ranges(address, len) {
            let by_call = under_way.filter(|f| match change {
                Change::Patch { .. } => {
                    !self.is_read(*f, range.start, range.len) || self.is_written(*f, range.start, range.len)
                }
                Change::Moved { .. } | Change::Zeroed { .. } => true,
            });
            let Some(f) = by_call else {
                self.note_external_origin(range);
                continue;
            };
            self.use_external(f, range.uses)?;
            if let Change::Moved { from, to, .. } = change {
                let node = self.activations[f].call.as_ref().and_then(|c| c.node).flatten();
                let from = from.wrapping_add(range.start - to);
                let consumer = self.sink.consumer(node, range.uses);
                self.use_memory(from, range.len, consumer);
            }
        }
        Ok(())
    }

    /// A range was written outside the program, without an event of its writer.
    pub(super) fn note_external_origin(&mut self, range: LiveRange) {
        if let Some(state) = self.memory_stream(range.start) {
            self.make_memory_live(state, 1, range.uses);
            return;
        }
        let variable = self.sink.variable(range.start);
        let origin = Origin::Outside { address: range.start, len: range.len, variable };
        self.sink.leaf(range.uses, &origin);
    }

    /// Whether the call in progress read a range. A patch of such a range records what was there before the
    /// call, not what the call wrote, unless the call also wrote it.
    fn is_read(&self, f: usize, start: u64, len: u64) -> bool {
        let reads = self.activations[f].call.as_ref().and_then(|c| c.reads.as_ref());
        reads.is_some_and(|reads| covers(reads, start, len))
    }

    fn is_written(&self, f: usize, start: u64, len: u64) -> bool {
        self.activations[f].call.as_ref().is_some_and(|call| covers(&call.writes, start, len))
    }

    /// Whether the call in progress permuted the range in place, as sorting does, and is in the slice: then
    /// all that it read is live already.
    fn rearranges(&self, f: usize, start: u64, len: u64) -> bool {
        let is_node = self.activations[f].call.as_ref().is_some_and(|call| call.node.is_some());
        is_node && self.is_read(f, start, len) && self.is_written(f, start, len)
    }

    /// A load read bytes that its thread had not written.
    pub(super) fn missed(&mut self, miss: &Miss) {
        let ranges = self.kill_ranges(miss.address, miss.bytes.len() as u64);
        if ranges.is_empty() {
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
            self.inter_thread.push(InterThreadUse { read, ranges, store: None });
            return;
        }
        for range in ranges {
            // A variable that the library keeps: its last setter is known, or it has its initial value.
            let state = match range.start {
                at if Some(at) == self.errno => Some(state_address(State::Errno, 0)),
                at => self.sink.state_variable(at).or_else(|| self.memory_stream(at)),
            };
            if let Some(state) = state {
                self.make_memory_live(state, 1, range.uses);
                continue;
            }
            let variable = self.sink.variable(range.start);
            let origin = Origin::Outside { address: range.start, len: range.len, variable };
            self.sink.leaf(range.uses, &origin);
            // It is unknown since when the bytes were there: an alternative could have defined them before.
            if self.relevant.is_some() {
                self.initial.make_live(range.start, range.len, range.uses, &mut self.sink.uses);
            }
        }
    }

    /// The state of the memory stream that is published at an address.
    fn memory_stream(&self, address: u64) -> Option<u64> {
        let shows =
            |shown: &&Shown| shown.since <= self.position && address.wrapping_sub(shown.start) < shown.len;
        self.memory_streams
            .iter()
            .rev()
            .find(shows)
            .map(|shown| state_address(State::MemoryStream, shown.file))
    }

    /// The step before left functions that were called back, as test frameworks do when a check fails. The
    /// external call, if it is in the slice, depends on that jump.
    pub(super) fn unwound(&mut self, depth: u32) {
        if let Some(caller) = self.calling_external(depth as usize) {
            let one = self.sink.uses.one(caller, Dependence::Jump);
            self.landing = self.sink.uses.join(self.landing, one);
        }
    }

    /// Control returned to a call, or to a landing, by a jump out of the step before.
    pub(super) fn landed(&mut self, function: u32, index: u32, depth: u32) -> TraceResult<()> {
        let f = self.enter(depth, function)?;
        let inst = self.sink.facts.inst(function, index);
        let handler = matches!(inst, Inst::Landing { .. });
        if !handler && !matches!(inst, Inst::Call(_)) {
            return Err(InconsistentTrace(self.position));
        }
        let (dst, slots) = inst.defines().unwrap_or((0, 0));
        let (result, _) = self.kill_regs(f, dst, slots);
        let mut uses = self.sink.uses.rewrite(result, as_return);
        if handler {
            // What runs because of an exception depends on the switch after the landing.
            self.landing = self.sink.uses.join(self.landing, uses);
            return Ok(());
        }
        // Blocks that ran after the landing and that no later branch controls depend on the jump, and on
        // what controls the call to which control returned.
        for block in 0..self.activations[f].blocks() {
            if self.activations[f].is_pending(block) {
                let pending = self.activations[f].pending_uses(block);
                let first = self.sink.uses.iter(pending).next();
                let consumer = self.sink.consumer(first.map(|e| e.0), pending);
                let one = self.sink.uses.one(consumer, Dependence::Control);
                uses = self.sink.uses.join(uses, one);
            }
        }
        self.landing = self.sink.uses.join(self.landing, uses);
        Ok(())
    }
}

fn covers(ranges: &[(u64, u64)], start: u64, len: u64) -> bool {
    ranges.iter().any(|(at, n)| start >= *at && start.saturating_add(len) <= at.saturating_add(*n))
}

/// The source of bytes that a copying function wrote.
fn source(outside: &Outside, start: u64, len: u64) -> Option<(u64, u64)> {
    let moved = outside.transfers.iter().find(|(to, _, n)| covers(&[(*to, *n)], start, len));
    if let Some((to, from, _)) = moved {
        return Some((from + (start - to), len));
    }
    if !copies(outside) {
        return None;
    }
    let ((to, _), (from, read)) = (*outside.writes.first()?, *outside.reads.first()?);
    let offset = start.checked_sub(to)?;
    (offset + len <= read).then(|| (from.wrapping_add(offset), len))
}

/// The function copies one range to another byte by byte, and returns an address.
fn copies(outside: &Outside) -> bool {
    let copying = outside.known.is_some_and(externals::External::copies);
    copying && outside.reads.len() == 1 && outside.writes.len() == 1
}

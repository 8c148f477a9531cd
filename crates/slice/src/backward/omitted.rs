//! Omitted output: a branch is a candidate if an alternative of it may write to a queried stream, and
//! nothing was written under the edge that it took.
//!
//! Byte `N` of an output depends also on nothing else having been written before it. So a queried stream
//! stays live to the start of the run: a write does not kill it, because output that could have been written
//! before that write would have moved the byte as well. What was written under a branch is known when the
//! branch is visited: a block with a write propagates to its controlling branch, and that branch's block to
//! the next one, as groups do.

use super::relevant::contains;
use super::{Activation, Backward};
use crate::irregular::Outside;
use crate::output_effects::{StandardStream, Streams};
use crate::slice::Dependence;
use crate::uses::{Consumer, UseList};
use program::inst::BlockId;

/// What was written, and which streams are queried.
#[derive(Default)]
pub struct OmittedOutput {
    /// Calls that wrote: their steps in ascending order, and the stream.
    calls: Vec<(u64, StandardStream)>,
    /// The uses of each stream.
    uses: [UseList; 2],
}

impl OmittedOutput {
    /// Takes the calls that wrote, with their steps.
    pub fn new(mut calls: Vec<(u64, StandardStream)>) -> OmittedOutput {
        calls.sort_by_key(|call| call.0);
        OmittedOutput { calls, uses: [UseList::default(); 2] }
    }

    /// The queried streams.
    fn asked(&self) -> Streams {
        let all = [StandardStream::Output, StandardStream::Error];
        let asked = all.into_iter().filter(|stream| self.uses[*stream as usize].is_live());
        asked.fold(Streams::NONE, |sum, stream| sum | stream.into())
    }

    /// The streams that the call of a step wrote to.
    fn written_at(&self, step: u64) -> Streams {
        let first = self.calls.partition_point(|call| call.0 < step);
        let calls = self.calls[first..].iter().take_while(|call| call.0 == step);
        calls.fold(Streams::NONE, |sum, call| sum | call.1.into())
    }
}

impl Backward<'_, '_, '_> {
    /// A node depends on what could have been written to a stream before it.
    pub(super) fn use_omitted(&mut self, stream: StandardStream, consumer: Consumer) {
        if let Some(relevant) = &mut self.relevant {
            let place = &mut relevant.omitted.uses[stream as usize];
            *place = self.sink.uses.add(*place, consumer, Dependence::Potential);
        }
    }

    /// Whether any stream is queried for omitted output.
    #[inline]
    pub(super) fn has_omitted_queries(&self) -> bool {
        self.relevant.as_ref().is_some_and(|r| r.omitted.uses.iter().any(|uses| uses.is_live()))
    }

    /// An external call of activation `f` has returned: records what it wrote under its block.
    pub(super) fn record_written(&mut self, f: usize, outside: &Outside) {
        let Some(relevant) = self.relevant.as_ref().filter(|_| self.has_omitted_queries()) else { return };
        let Some(step) = self.position.checked_sub(1) else { return };
        let wrote = relevant.omitted.written_at(step) & relevant.omitted.asked();
        let block = self.sink.facts.get(outside.function).block_of[outside.index as usize];
        self.add_written(f, block, wrote);
    }

    fn add_written(&mut self, f: usize, block: BlockId, streams: Streams) {
        if streams.is_empty() {
            return;
        }
        let wrote = &mut self.activations[f].wrote;
        match wrote.iter_mut().find(|(b, _)| *b == block) {
            Some((_, there)) => *there |= streams,
            None => wrote.push((block, streams)),
        }
    }

    /// Whether the branch of a block controls a block in which something was written.
    #[inline]
    pub(super) fn is_under(&self, activation: &Activation, function: u32, block: BlockId) -> bool {
        let controls = self.sink.facts.get(function).controls(block);
        activation.wrote.iter().any(|(b, _)| contains(controls, *b))
    }

    /// The streams written under the branch of a visited block. They are then recorded for the branch's own
    /// block.
    pub(super) fn written_under(&mut self, f: usize, function: u32, block: BlockId) -> Streams {
        let mut all = Streams::NONE;
        let Some(activation) = self.activations.get_mut(f) else { return all };
        if activation.wrote.is_empty() {
            return all;
        }
        let controls = self.sink.facts.get(function).controls(block);
        activation.wrote.retain(|(b, wrote)| {
            let is_under = contains(controls, *b);
            if is_under {
                all |= *wrote;
            }
            !is_under
        });
        self.add_written(f, block, all);
        all
    }

    /// The streams that the visited call wrote to; they are recorded for the call's block.
    pub(super) fn take_callee_written(&mut self, f: usize, block: BlockId) -> Streams {
        let Some(activation) = self.activations.get_mut(f) else { return Streams::NONE };
        let wrote = std::mem::take(&mut activation.callee_written);
        self.add_written(f, block, wrote);
        wrote
    }

    /// Uses of a queried stream that another successor of a branch could have written to, where the taken
    /// one `wrote` to these streams.
    pub(super) fn may_have_written(
        &self,
        function: u32,
        (block, to): (BlockId, BlockId),
        wrote: Streams,
    ) -> Option<UseList> {
        let relevant =
            self.relevant.as_ref().filter(|r| self.has_omitted_queries() && !r.is_excluded(function))?;
        let ways = relevant.facts.writing_alternatives(function, block).iter().filter(|way| way.0 != to);
        self.omitted_uses(|| ways.fold(Streams::NONE, |sum, way| sum | way.1), wrote)
    }

    /// Uses of a queried stream that could have been written to, except streams that `wrote` contains.
    pub(super) fn omitted_uses(&self, could: impl FnOnce() -> Streams, wrote: Streams) -> Option<UseList> {
        let omitted = &self.relevant.as_ref().filter(|_| self.has_omitted_queries())?.omitted;
        let could = could();
        let all = [StandardStream::Output, StandardStream::Error];
        let omits = |stream: &StandardStream| {
            let stream = Streams::from(*stream);
            !(could & stream).is_empty() && (wrote & stream).is_empty()
        };
        let uses = all.into_iter().filter(omits).map(|stream| omitted.uses[stream as usize]);
        uses.into_iter().find(|uses| uses.is_live())
    }
}

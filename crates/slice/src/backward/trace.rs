//! Reads the trace of a segment backwards.

use super::{Backward, TraceResult};
use crate::InconsistentTrace;
use crate::fragments::FragmentExec;
use crate::irregular::{Irregular, Item};
use crate::segment_trace::{self, Frame, SegmentTrace, word};
use crate::summary::{FunctionSummary, InstSummary};
use program::inst::Inst;
use replay::observer::Effect;

/// The operands that the trace records for an executed fragment.
#[derive(Clone, Copy, Default)]
pub(super) struct Operands<'t> {
    /// `None` for an instruction that did not complete.
    all: Option<&'t [u64]>,
    /// Addresses of the by-value arguments of the call that ends the fragment.
    pub by_value: &'t [u64],
}

impl Operands<'_> {
    pub fn is_unfinished(self) -> bool {
        self.all.is_none()
    }

    /// The address that a load or a store accessed; for a choice, 0 if it took its second value.
    #[inline]
    pub fn address(self, exec: &FragmentExec, inst: &InstSummary) -> TraceResult<u64> {
        let at = exec.base.wrapping_add(inst.operands.into());
        self.all.and_then(|all| all.get(at as usize)).copied().ok_or(InconsistentTrace(exec.step))
    }

    pub fn effect(self, exec: &FragmentExec, inst: &InstSummary, code: &Inst) -> TraceResult<Effect> {
        let at = exec.base.wrapping_add(inst.operands.into());
        let operands = self.all.and_then(|all| all.get(at as usize..)).ok_or(InconsistentTrace(exec.step))?;
        Ok(segment_trace::effect(code, operands))
    }
}

/// The part of a trace that has not been visited yet.
struct Rest<'t> {
    trace: &'t SegmentTrace<'t>,
    words: &'t [u32],
    /// Numbers of operands and steps that are left.
    operands: u64,
    steps: u64,
    /// Functions of the active activations.
    functions: Vec<u32>,
    by_value: &'t [u64],
}

impl<'t> Rest<'t> {
    fn broken(&self) -> InconsistentTrace {
        InconsistentTrace(self.steps)
    }

    fn function(&self) -> TraceResult<u32> {
        self.functions.last().copied().ok_or(self.broken())
    }

    fn depth(&self) -> u32 {
        self.functions.len() as u32
    }

    /// The execution of instructions `first..=last` of a fragment in the innermost activation.
    #[inline]
    fn exec(
        &mut self,
        of: &FunctionSummary,
        fragment: u32,
        first: u32,
        last: u32,
    ) -> TraceResult<FragmentExec> {
        let function = self.function()?;
        let count = u64::from((last + 1).saturating_sub(first));
        let step = self.steps.checked_sub(count).ok_or(self.broken())?;
        let base = self.operands.wrapping_sub(of.before[last as usize + 1].into());
        self.operands = base.wrapping_add(of.before[first as usize].into());
        self.steps = step;
        Ok(FragmentExec { function, depth: self.depth(), fragment, first, last, step, base })
    }

    /// The first instruction of a fragment that ran, if it is not the fragment's first.
    #[inline]
    fn begun(&mut self) -> Option<u32> {
        match self.words.split_last() {
            Some((it, before)) if it & word::KIND_MASK == word::FROM => {
                self.words = before;
                Some(it & word::NUMBER_MASK)
            }
            _ => None,
        }
    }

    fn operands(&mut self) -> Operands<'t> {
        Operands { all: Some(&self.trace.numbers), by_value: std::mem::take(&mut self.by_value) }
    }
}

impl Backward<'_, '_, '_> {
    /// Visits a segment whose last step is number `end - 1`, and whose first is number `begin`. The visit ends
    /// early if the pass is stopped: with potential dependences, one segment may take minutes.
    pub fn segment(&mut self, trace: &SegmentTrace<'_>, (begin, end): (u64, u64)) -> TraceResult<()> {
        self.position = end;
        let mut rest = Rest {
            trace,
            words: &trace.words,
            operands: trace.numbers.len() as u64,
            steps: end,
            functions: trace.activations().map(|a| a.0).collect(),
            by_value: &[],
        };
        for (depth, frame) in (1..).zip(trace.activations()) {
            self.is_active(depth, frame);
        }
        let mut frames = &trace.returned[..];
        while let Some((&it, before)) = rest.words.split_last() {
            if self.is_stopped() {
                return Ok(());
            }
            rest.words = before;
            let number = it & word::NUMBER_MASK;
            match it & word::KIND_MASK {
                word::FUSED_EDGE => self.fused_edge(&mut rest, number)?,
                word::RUN => {
                    let begun = rest.begun();
                    let of = self.sink.facts.summary(rest.function()?);
                    let fragment = *of.fragment_of.get(number as usize).ok_or(rest.broken())?;
                    let first = begun.unwrap_or(of.fragments[fragment as usize].first);
                    let exec = rest.exec(of, fragment, first, number)?;
                    self.fragment(rest.operands(), &exec)?;
                }
                word::ENTER => {
                    let (function, depth) = (rest.function()?, rest.depth());
                    rest.functions.pop();
                    self.position = rest.steps;
                    self.entered(function, depth, false, &[])?;
                }
                word::RETURNED => {
                    let (&callee, before) = rest.words.split_last().ok_or(rest.broken())?;
                    rest.words = before;
                    self.position = rest.steps;
                    self.returned((rest.function()?, number), rest.depth(), callee)?;
                    let (&frame, before) = frames.split_last().ok_or(rest.broken())?;
                    frames = before;
                    rest.functions.push(callee);
                    self.is_active(rest.depth(), (callee, frame));
                }
                word::PASSED => {
                    let passed = trace.irregular.passed.get(number as usize);
                    rest.by_value = passed.ok_or(rest.broken())?;
                }
                word::LEFT => {
                    let (keep, gone) = trace.left.get(number as usize).ok_or(rest.broken())?;
                    rest.functions.truncate(*keep as usize);
                    for (depth, frame) in (keep + 1..).zip(gone) {
                        rest.functions.push(frame.0);
                        self.is_active(depth, *frame);
                    }
                }
                word::OTHER => {
                    let item = *trace.irregular.items.get(number as usize).ok_or(rest.broken())?;
                    self.position = rest.steps;
                    let is_direct = is_direct(rest.words, &trace.irregular);
                    self.irregular(&trace.irregular, rest.function().ok(), item, is_direct)?;
                    if let Item::Enter { .. } = item {
                        rest.functions.pop();
                    }
                }
                _ => return Err(rest.broken()),
            }
        }
        if rest.steps == begin && rest.operands == 0 { Ok(()) } else { Err(rest.broken()) }
    }

    /// Visits edges that were crossed with nothing in between; the first block may have begun at a later
    /// instruction.
    #[inline]
    fn fused_edge(&mut self, rest: &mut Rest<'_>, number: u32) -> TraceResult<()> {
        let mut begun = rest.begun();
        let (function, depth) = (rest.function()?, rest.depth());
        let of = self.sink.facts.summary(function);
        let edges = of.fused.get(number as usize).ok_or(rest.broken())?.of(&of.edges);
        for (n, edge) in edges.iter().enumerate().rev() {
            self.unwind(depth);
            self.edge(depth, function, edge.from, edge.to);
            let first = if n == 0 { begun.take().unwrap_or(edge.first) } else { edge.first };
            let exec = rest.exec(of, edge.fragment, first, edge.last)?;
            self.fragment(rest.operands(), &exec)?;
        }
        Ok(())
    }

    /// An activation of that depth is active, from here back to its entry.
    #[inline]
    fn is_active(&mut self, depth: u32, (function, frame): Frame) {
        if let Some(relevant) = &mut self.relevant {
            relevant.objects.frame(depth, function, frame);
        }
    }

    /// Visits an event that is not a sequence of instructions.
    fn irregular(
        &mut self,
        events: &Irregular,
        running: Option<u32>,
        item: Item,
        is_direct: bool,
    ) -> TraceResult<()> {
        let broken = InconsistentTrace(self.position);
        match item {
            Item::Edge { depth, from, to } => self.edge(depth, running.ok_or(broken)?, from, to),
            Item::Enter { function, depth, outside, copies } => {
                let copies = events.copies.get(copies as usize).map_or(&[][..], Vec::as_slice);
                self.entered(function, depth, outside, copies)?;
            }
            Item::External { depth, call } => {
                self.external(&events.externals[call as usize], depth, is_direct)?;
            }
            Item::Landed { function, index, depth } => self.landed(function, index, depth)?,
            Item::Unwound { depth } => self.unwound(depth),
            Item::Changed { depth, change } => self.changed(events.changes[change as usize], depth)?,
            Item::Missed { miss } => self.missed(&events.misses[miss as usize]),
            Item::Spilled { depth, spill } => self.spilled(events.spills[spill as usize], depth),
        }
        Ok(())
    }
}

/// Whether a returned external call did not call back.
fn is_direct(words: &[u32], events: &Irregular) -> bool {
    for it in words.iter().rev() {
        let number = (it & word::NUMBER_MASK) as usize;
        match it & word::KIND_MASK {
            word::PASSED => {}
            word::OTHER if matches!(events.items.get(number), Some(Item::Changed { .. })) => {}
            what => return what == word::RUN,
        }
    }
    false
}

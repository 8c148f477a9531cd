//! The way back by an index: only what may matter is looked at.
//!
//! The reader reports stretches of instructions. Of a stretch that assigns no wanted
//! register, stores into no wanted memory and decides nothing nothing is looked at but
//! that; of another one only the instructions that are taken are walked over. What is
//! taken, and why, is decided by the same code as in a walk over replayed steps.

use super::{Frame, Walker};
use crate::facts::AllFacts;
use crate::log::{Change, Copied, FIRST, Log, Miss, NONE, Outside, SECOND, Spill};
use index::extra::{self, Extra};
use index::layout::Action;
use index::reader::Astray;
use index::{Move, Ran, Reader};
use program::inst::Inst;
use replay::observer::Effect;

/// What an instruction might be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// For its result only.
    Value,
    /// For its result, or for what it stores.
    Memory,
    Jump,
    Branch,
    Return,
    Call,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    index: u32,
    kind: Kind,
    /// Registers it assigns.
    dst: u32,
    count: u32,
    action: Option<Action>,
}

/// The instructions of a function that could be taken at all, the last of each stretch
/// first.
struct Candidates {
    all: Vec<Candidate>,
    /// Where those of each stretch are, and whether any of them stores.
    stretches: Vec<(u32, u32, bool)>,
}

impl Candidates {
    fn of(facts: &AllFacts<'_>, reader: &Reader<'_, '_>, function: u32) -> Candidates {
        let layout = reader.layout(function);
        let mut all = Vec::new();
        let mut stretches = Vec::new();
        for stretch in &layout.stretches {
            let first = all.len() as u32;
            let mut stores = false;
            for index in (stretch.start..stretch.end).rev() {
                let inst = facts.inst(function, index);
                let action = stretch.actions.iter().find(|a| a.0 == index).map(|a| a.1);
                let (dst, count) = inst.defines().unwrap_or((0, 0));
                let kind = match inst {
                    Inst::Jump { .. } => Kind::Jump,
                    Inst::Branch { .. } | Inst::Switch { .. } => Kind::Branch,
                    Inst::Return { .. } => Kind::Return,
                    Inst::Call(_) => Kind::Call,
                    _ if action.is_some_and(|a| a.stores()) => Kind::Memory,
                    _ if count > 0 => Kind::Value,
                    _ => continue,
                };
                stores |= kind == Kind::Memory;
                all.push(Candidate { index, kind, dst, count, action });
            }
            stretches.push((first, all.len() as u32, stores));
        }
        Candidates { all, stretches }
    }
}

/// What a walk by an index keeps beside the walker's own state.
#[derive(Default)]
pub struct ByIndex {
    functions: Vec<Option<Box<Candidates>>>,
    /// One step's effect, in the form the walker reads.
    scratch: Log,
    /// The call that comes next was given these by value.
    passed: Option<Vec<u64>>,
}

impl Walker<'_, '_> {
    /// Walks back over one move of the reader.
    pub fn back(&mut self, by: &mut ByIndex, reader: &mut Reader<'_, '_>, it: Move) -> Result<(), Astray> {
        match it {
            Move::Ran(ran) => return self.ran(by, reader, &ran),
            Move::Edge { depth, from, to, .. } => self.edge(depth, from, to),
            Move::Enter { function, depth, frame } => {
                self.enter_back(reader, function, depth, frame, false);
            }
            Move::Returned { function, index, depth } => {
                if self.frames.get(depth as usize - 1).is_some_and(|f| f.wanted > 0) {
                    self.returned(function, index, depth);
                }
            }
            Move::Extra(extra) => {
                self.next = reader.left();
                self.extra(by, reader, extra);
            }
        }
        Ok(())
    }

    fn enter_back(&mut self, reader: &Reader<'_, '_>, function: u32, depth: u32, frame: u64, outside: bool) {
        let copies = &reader.layout(function).copies;
        if copies.is_empty() || outside {
            if self.frames.len() >= depth as usize {
                self.entered(function, depth, outside, &[]);
            }
            return;
        }
        let copies: Vec<Copied> = copies
            .iter()
            .map(|(parameter, offset, len)| Copied {
                parameter: *parameter,
                to: frame.wrapping_add(*offset),
                len: *len,
            })
            .collect();
        self.settle(depth, function);
        self.entered(function, depth, false, &copies);
    }

    fn extra(&mut self, by: &mut ByIndex, reader: &Reader<'_, '_>, extra: Extra) {
        match extra {
            Extra::Enter { function, depth, outside, frame } => {
                self.enter_back(reader, function, depth, frame, outside);
            }
            Extra::Returned { function, index, depth } => self.returned(function, index, depth),
            Extra::Edge { depth, from, to, .. } => self.edge(depth, from, to),
            Extra::Outside(o) => {
                let outside = Outside {
                    function: o.function,
                    index: o.index,
                    reads: o.reads,
                    writes: o.writes,
                    known: o.known.as_deref().and_then(externals::find),
                };
                self.external(&outside, o.depth, o.direct);
            }
            Extra::Landed { function, index, depth } => self.landed(function, index, depth),
            Extra::Changed { depth, change } => {
                let change = match change {
                    extra::Change::Patch { address, len } => Change::Patch { address, len },
                    extra::Change::Moved { from, to, len } => Change::Moved { from, to, len },
                    extra::Change::Zeroed { address, len } => Change::Zeroed { address, len },
                };
                self.changed(change, depth);
            }
            Extra::Missed(m) => {
                let extra::Miss { step, module, site, address, bytes, writer, seq, seen } = m;
                let before = self.crossings.len();
                self.missed(&Miss { step, module, site, address, bytes, writer, seq });
                for crossing in &mut self.crossings[before..] {
                    crossing.seen = seen;
                }
            }
            Extra::Spilled { depth, argument, address, len } => {
                // The step that put it there is behind us; its activation is known.
                while self.frames.len() < depth as usize {
                    self.frames.push(Frame::default());
                }
                self.spilled(Spill { argument, address, len }, depth);
            }
            Extra::Passed(addresses) => by.passed = Some(addresses),
        }
    }

    /// The last step that anything is asked about, at or before where the walk stands.
    fn alarm(&self) -> Option<u64> {
        if self.asked.is_empty() && self.after.is_empty() && self.starts.is_empty() {
            return None;
        }
        self.last_asked()
    }

    fn ran(&mut self, by: &mut ByIndex, reader: &mut Reader<'_, '_>, ran: &Ran) -> Result<(), Astray> {
        if self.landing.is_wanted() || self.alarm().is_some_and(|at| at >= ran.step) {
            return self.ran_whole(by, reader, ran);
        }
        self.next = ran.step;
        let f = ran.depth as usize - 1;
        let number = ran.function as usize;
        if by.functions.len() <= number {
            by.functions.resize_with(number + 1, || None);
        }
        let candidates = by.functions[number]
            .get_or_insert_with(|| Box::new(Candidates::of(self.all.facts, reader, ran.function)));
        let (from, to, stores) = candidates.stretches[ran.stretch as usize];
        if (!stores || self.memory.is_empty()) && !self.constant.is_wanted() && self.is_idle(f) {
            return Ok(());
        }
        for c in &candidates.all[from as usize..to as usize] {
            if c.index > ran.last || c.index < ran.first {
                continue;
            }
            let mut code = NONE;
            let frame = self.frames.get(f);
            match c.kind {
                Kind::Value => {
                    if !frame.is_some_and(|frame| frame.wants(c.dst, c.count)) {
                        continue;
                    }
                    if let Some(action) = &c.action {
                        code = effect_of(&mut by.scratch, reader, ran, action)?;
                    }
                }
                Kind::Memory => {
                    let value = frame.is_some_and(|frame| frame.wants(c.dst, c.count));
                    if !value && self.memory.is_empty() {
                        continue;
                    }
                    if let Some(action) = &c.action {
                        code = effect_of(&mut by.scratch, reader, ran, action)?;
                    }
                    if !value && !self.stores_wanted(by.scratch.effects.first()) {
                        continue;
                    }
                }
                Kind::Jump if self.constant.is_wanted() => {}
                Kind::Branch if self.constant.is_wanted() || self.decides(f, ran.function, c.index) => {}
                Kind::Return if frame.is_some_and(|f| !f.returns.is_empty()) => {}
                Kind::Return if self.called_back(f).is_some() => {}
                Kind::Call if frame.is_some_and(|f| f.call.is_some()) => {
                    code = pass(&mut by.scratch, &mut by.passed);
                }
                Kind::Jump | Kind::Branch | Kind::Return | Kind::Call => continue,
            }
            self.next = ran.step + u64::from(c.index - ran.first) + 1;
            self.step(&by.scratch, ran.function, c.index, ran.depth, code);
        }
        by.passed = None;
        self.next = ran.step;
        Ok(())
    }

    /// Something in the stretch is asked about: every step is walked over.
    fn ran_whole(&mut self, by: &mut ByIndex, reader: &mut Reader<'_, '_>, ran: &Ran) -> Result<(), Astray> {
        self.next = ran.step + u64::from(ran.last - ran.first) + 1;
        let stretch = &reader.layout(ran.function).stretches[ran.stretch as usize];
        for index in (ran.first..=ran.last).rev() {
            let code = match stretch.actions.iter().find(|a| a.0 == index) {
                Some((_, action)) => effect_of(&mut by.scratch, reader, ran, action)?,
                None => pass(&mut by.scratch, &mut by.passed),
            };
            self.step(&by.scratch, ran.function, index, ran.depth, code);
        }
        Ok(())
    }

    /// Nothing is wanted of an activation, nor of what it returns.
    fn is_idle(&self, f: usize) -> bool {
        let idle = self.frames.get(f).is_none_or(|frame| {
            frame.wanted == 0 && frame.bits.is_empty() && frame.returns.is_empty() && frame.call.is_none()
        });
        idle && self.called_back(f).is_none()
    }

    /// Whether the jump at an instruction decides about anything taken.
    fn decides(&self, f: usize, function: u32, index: u32) -> bool {
        let Some(frame) = self.frames.get(f).filter(|frame| !frame.bits.is_empty()) else { return false };
        let facts = self.all.facts.get(function);
        let controls = facts.controls(facts.block_of[index as usize]);
        frame.bits.iter().zip(controls).any(|(bits, mask)| bits & mask != 0)
    }

    fn stores_wanted(&self, effect: Option<&Effect>) -> bool {
        match effect {
            Some(Effect::Store { address, len } | Effect::Update { address, len, stored: true }) => {
                self.memory.may_touch(*address, (*len).into())
            }
            Some(Effect::Copy { to, len, .. } | Effect::Fill { to, len }) => self.memory.may_touch(*to, *len),
            _ => false,
        }
    }
}

impl Frame {
    #[inline]
    fn wants(&self, dst: u32, count: u32) -> bool {
        self.wanted > 0
            && (dst..dst + count).any(|r| self.regs.get(r as usize).is_some_and(|list| list.is_wanted()))
    }
}

/// The by-value arguments of a call, in the form the walker reads.
fn pass(scratch: &mut Log, passed: &mut Option<Vec<u64>>) -> u32 {
    scratch.passed.clear();
    scratch.effects.clear();
    scratch.passed.extend(passed.take());
    if scratch.passed.is_empty() { NONE } else { 0 }
}

/// What an action did in an execution, in the form the walker reads.
fn effect_of(
    scratch: &mut Log,
    reader: &mut Reader<'_, '_>,
    ran: &Ran,
    action: &Action,
) -> Result<u32, Astray> {
    scratch.effects.clear();
    if let Action::Select { column } = action {
        return Ok(if reader.chose_first(ran, *column)? { FIRST } else { SECOND });
    }
    scratch.effects.push(reader.effect(ran, action)?);
    Ok(0)
}

//! The way back by an index: only what may matter is looked at.
//!
//! The reader reports stretches of instructions. Of a stretch that assigns no wanted
//! register, stores into no wanted memory and decides nothing nothing is looked at but
//! that; of another one only the instructions that are taken are walked over. What is
//! taken, and why, is decided by the same code as in a walk over replayed steps; but when
//! the slice has more nodes than are kept, and executions are only counted, the common
//! kinds of instruction have a shorter way that does the same.

use super::light::Light;
use super::{Frame, Walker};
use crate::criterion::Occurrence;
use crate::facts::AllFacts;
use crate::log::{Change, Copied, FIRST, Log, Miss, NONE, Outside, SECOND, Spill};
use crate::wants::List;
use index::extra::{self, Extra};
use index::layout::Action;
use index::reader::Astray;
use index::{Move, Ran, Reader};
use program::inst::{Inst, Operand, Reg};
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
    block: u32,
    /// Registers it uses: a range of [`Candidates::uses`]. For a choice: those of the
    /// condition, then as many for the one value as for the other.
    uses: (u32, u32),
}

/// The instructions of a function that could be taken at all, the last of each stretch
/// first.
struct Candidates {
    all: Vec<Candidate>,
    stretches: Vec<Here>,
    uses: Vec<Reg>,
    /// Sets of registers: number of a word, and its bits.
    assigned: Vec<(u32, u64)>,
}

/// The candidates of one stretch.
#[derive(Clone, Copy, Debug)]
struct Here {
    /// Where they are.
    from: u32,
    to: u32,
    /// Whether any of them stores.
    stores: bool,
    /// What ends the stretch, if it changes control.
    tail: Option<(Kind, u32)>,
    /// Registers that the others assign: a range of [`Candidates::assigned`].
    assigned: (u32, u32),
}

impl Candidates {
    fn of(facts: &AllFacts<'_>, reader: &Reader<'_, '_>, function: u32) -> Candidates {
        let layout = reader.layout(function);
        let mut all = Vec::new();
        let mut stretches = Vec::new();
        let mut uses = Vec::new();
        let mut assigned: Vec<(u32, u64)> = Vec::new();
        for stretch in &layout.stretches {
            let first = all.len() as u32;
            let mut stores = false;
            let mut tail = None;
            let first_word = assigned.len();
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
                match kind {
                    Kind::Value | Kind::Memory => {
                        for reg in dst..dst + count {
                            let (word, bit) = (reg / 64, 1 << (reg % 64));
                            match assigned[first_word..].iter_mut().find(|a| a.0 == word) {
                                Some(known) => known.1 |= bit,
                                None => assigned.push((word, bit)),
                            }
                        }
                    }
                    _ => tail = Some((kind, index)),
                }
                let from = uses.len() as u32;
                inst.for_each_use(|operand, slots| {
                    if let Operand::Reg(r) = operand {
                        uses.extend(r..r + slots);
                    }
                });
                let uses = (from, uses.len() as u32);
                all.push(Candidate { index, kind, dst, count, action, block: stretch.block, uses });
            }
            let assigned = (first_word as u32, assigned.len() as u32);
            stretches.push(Here { from: first, to: all.len() as u32, stores, tail, assigned });
        }
        Candidates { all, stretches, uses, assigned }
    }
}

/// What a walk by an index keeps beside the walker's own state.
pub struct ByIndex {
    /// No step behind this one is asked about; none if no step is.
    last: Option<u64>,
    functions: Vec<Option<Box<Candidates>>>,
    /// One step's effect, in the form the walker reads.
    scratch: Log,
    /// The call that comes next was given these by value.
    passed: Option<Vec<u64>>,
    /// Memory wanted by nobody in particular, beside the walker's own.
    light: Light,
}

impl Default for ByIndex {
    fn default() -> ByIndex {
        ByIndex {
            last: Some(u64::MAX),
            functions: Vec::new(),
            scratch: Log::default(),
            passed: None,
            light: Light::default(),
        }
    }
}

impl ByIndex {
    /// No memory is wanted beside the walker's.
    pub fn is_empty(&self) -> bool {
        self.light.is_empty()
    }
}

impl Walker<'_, '_> {
    /// Walks back over one move of the reader.
    #[inline(always)] // for the same reason as the reader's
    pub fn back(&mut self, by: &mut ByIndex, reader: &mut Reader<'_, '_>, it: Move) -> Result<(), Astray> {
        match it {
            Move::Ran(ran) => return self.ran(by, reader, &ran),
            Move::Edge { depth, from, to, .. } => self.edge(depth, from, to),
            Move::Enter { function, depth, frame } => {
                self.enter_back(&mut by.light, reader, (function, depth, frame), false);
            }
            Move::Returned { function, index, depth } => {
                if self.frames.get(depth as usize - 1).is_some_and(|f| f.wanted > 0) {
                    self.returned(function, index, depth);
                }
            }
            Move::Extra(extra) => {
                self.next = reader.left();
                self.extra(by, reader, *extra);
            }
        }
        Ok(())
    }

    fn enter_back(
        &mut self,
        light: &mut Light,
        reader: &Reader<'_, '_>,
        (function, depth, frame): (u32, u32, u64),
        outside: bool,
    ) {
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
        for copy in &copies {
            self.gather(light, copy.to, copy.len);
        }
        self.settle(depth, function);
        self.entered(function, depth, false, &copies);
    }

    /// Puts what is wanted of a range where the walker looks.
    fn gather(&mut self, light: &mut Light, start: u64, len: u64) {
        for (start, len) in light.drain(start, len) {
            self.memory.want(start, len, List::ANONYMOUS, &mut self.all.edges);
        }
    }

    fn extra(&mut self, by: &mut ByIndex, reader: &Reader<'_, '_>, extra: Extra) {
        match extra {
            Extra::Enter { function, depth, outside, frame } => {
                self.enter_back(&mut by.light, reader, (function, depth, frame), outside);
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
                for (start, len) in &outside.writes {
                    self.gather(&mut by.light, *start, *len);
                }
                self.external(&outside, o.depth, o.direct);
            }
            Extra::Landed { function, index, depth } => self.landed(function, index, depth),
            Extra::Changed { depth, change } => {
                let change = match change {
                    extra::Change::Patch { address, len } => Change::Patch { address, len },
                    extra::Change::Moved { from, to, len } => Change::Moved { from, to, len },
                    extra::Change::Zeroed { address, len } => Change::Zeroed { address, len },
                };
                let (start, len) = match change {
                    Change::Patch { address, len } | Change::Zeroed { address, len } => (address, len),
                    Change::Moved { to, len, .. } => (to, len),
                };
                self.gather(&mut by.light, start, len);
                self.changed(change, depth);
            }
            Extra::Missed(m) => {
                let extra::Miss { step, module, site, address, bytes, writer, seq, seen } = m;
                self.gather(&mut by.light, address, bytes.len() as u64);
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
                self.gather(&mut by.light, address, len);
                self.spilled(Spill { argument, address, len }, depth);
            }
            Extra::Passed(addresses) => by.passed = Some(addresses),
        }
    }

    /// Whether anything is asked about a stretch whose first step is `step`.
    #[inline]
    fn is_asked(&self, by: &mut ByIndex, step: u64) -> bool {
        if by.last.is_none_or(|last| step > last) {
            return false;
        }
        by.last = self.last_asked();
        by.last.is_some_and(|last| step <= last)
    }

    fn ran(&mut self, by: &mut ByIndex, reader: &mut Reader<'_, '_>, ran: &Ran) -> Result<(), Astray> {
        if self.landing.is_wanted() || self.is_asked(by, ran.step) {
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
        let here = candidates.stretches[ran.stretch as usize];
        let Here { from, to, .. } = here;
        let may_store = here.stores && !(self.memory.is_empty() && by.light.is_empty());
        if !may_store && !self.constant.is_wanted() {
            let words = &candidates.assigned[here.assigned.0 as usize..here.assigned.1 as usize];
            if !self.may_take(f, ran.function, words, here.tail) {
                by.passed = None;
                return Ok(());
            }
        }
        let counts_only = self.all.slice.truncated && self.all.known.is_empty();
        for c in &candidates.all[from as usize..to as usize] {
            if c.index > ran.last || c.index < ran.first {
                continue;
            }
            if counts_only {
                let uses = &candidates.uses[c.uses.0 as usize..c.uses.1 as usize];
                if let Some(()) = self.count_only(&mut by.light, reader, ran, c, uses)? {
                    continue;
                }
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
                    if !value && self.memory.is_empty() && by.light.is_empty() {
                        continue;
                    }
                    if let Some(action) = &c.action {
                        code = effect_of(&mut by.scratch, reader, ran, action)?;
                    }
                    if let Some((start, len)) = by.scratch.effects.first().and_then(stored) {
                        self.gather(&mut by.light, start, len);
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
                Some((_, action)) => {
                    let code = effect_of(&mut by.scratch, reader, ran, action)?;
                    if let Some((start, len)) = by.scratch.effects.first().and_then(stored) {
                        self.gather(&mut by.light, start, len);
                    }
                    code
                }
                None => pass(&mut by.scratch, &mut by.passed),
            };
            self.step(&by.scratch, ran.function, index, ran.depth, code);
        }
        Ok(())
    }

    /// Whether a stretch assigns a wanted register, or its end is looked for.
    fn may_take(&self, f: usize, function: u32, words: &[(u32, u64)], tail: Option<(Kind, u32)>) -> bool {
        let frame = self.frames.get(f);
        let assigns = frame.is_some_and(|frame| {
            frame.wanted > 0 && words.iter().any(|(w, bits)| frame.wanted_bits[*w as usize] & bits != 0)
        });
        assigns
            || match tail {
                Some((Kind::Branch, index)) => self.decides(f, function, index),
                Some((Kind::Return, _)) => {
                    frame.is_some_and(|f| !f.returns.is_empty()) || self.called_back(f).is_some()
                }
                Some((Kind::Call, _)) => frame.is_some_and(|f| f.call.is_some()),
                _ => false,
            }
    }

    /// Whether the jump at an instruction decides about anything taken.
    #[inline]
    fn decides(&self, f: usize, function: u32, index: u32) -> bool {
        let Some(frame) = self.frames.get(f).filter(|frame| !frame.bits.is_empty()) else { return false };
        let facts = self.all.facts.get(function);
        let masks = facts.masks(facts.block_of[index as usize]);
        masks.iter().any(|(w, mask)| frame.bits[*w as usize] & mask != 0)
    }

    fn stores_wanted(&self, effect: Option<&Effect>) -> bool {
        effect.and_then(stored).is_some_and(|(start, len)| self.memory.may_touch(start, len))
    }

    /// The shorter way of a common instruction when executions are only counted; none
    /// for others.
    #[inline]
    fn count_only(
        &mut self,
        light: &mut Light,
        reader: &mut Reader<'_, '_>,
        ran: &Ran,
        c: &Candidate,
        uses: &[Reg],
    ) -> Result<Option<()>, Astray> {
        let f = ran.depth as usize - 1;
        match (c.kind, c.action) {
            (Kind::Value, action) => {
                if !self.frames.get(f).is_some_and(|frame| frame.wants(c.dst, c.count)) {
                    return Ok(Some(()));
                }
                match action {
                    None => {}
                    Some(action @ Action::Load { .. }) => {
                        if let Effect::Load { address, len } = reader.effect(ran, &action)? {
                            self.want_lightly(light, address, len.into());
                        }
                    }
                    Some(_) => return Ok(None),
                }
                self.take_regs(f, c.dst, c.count);
            }
            (Kind::Memory, Some(action @ Action::Store { .. })) => {
                if light.is_empty() && self.memory.is_empty() {
                    return Ok(Some(()));
                }
                let Effect::Store { address, len } = reader.effect(ran, &action)? else { return Ok(None) };
                let mut hit = light.take(address, len.into());
                if self.memory.may_touch(address, len.into()) {
                    hit |= self.take_memory(address, len.into()).is_wanted();
                }
                if !hit {
                    return Ok(Some(()));
                }
                self.settle(ran.depth, ran.function);
            }
            (Kind::Jump, _) => {
                if !self.constant.is_wanted() {
                    return Ok(Some(()));
                }
                self.constant = List::default();
            }
            (Kind::Branch, _) => {
                if !self.constant.is_wanted() && !self.decides(f, ran.function, c.index) {
                    return Ok(Some(()));
                }
                self.constant = List::default();
                self.decide(f, ran.function, c.block);
            }
            _ => return Ok(None),
        }
        let step = ran.step + u64::from(c.index - ran.first);
        self.all.count(ran.function, c.index, Occurrence { stream: self.stream, step });
        for reg in uses {
            self.want_reg(f, *reg, List::ANONYMOUS);
        }
        self.undecide(f, c.block, None);
        Ok(Some(()))
    }

    /// Wants memory for nobody in particular.
    fn want_lightly(&mut self, light: &mut Light, start: u64, len: u64) {
        // Where somebody wants a part of it that is noted down.
        if self.memory.may_touch(start, len) {
            self.memory.want(start, len, List::ANONYMOUS, &mut self.all.edges);
        } else {
            light.want(start, len);
        }
    }
}

/// The range that an effect stored into.
fn stored(effect: &Effect) -> Option<(u64, u64)> {
    match *effect {
        Effect::Store { address, len } | Effect::Update { address, len, stored: true } => {
            Some((address, len.into()))
        }
        Effect::Copy { to, len, .. } | Effect::Fill { to, len } => Some((to, len)),
        _ => None,
    }
}

impl Frame {
    /// Whether one of some registers is wanted.
    #[inline]
    pub(super) fn wants(&self, dst: u32, count: u32) -> bool {
        self.wanted > 0
            && (dst..dst + count)
                .any(|r| self.wanted_bits.get(r as usize / 64).is_some_and(|bits| bits >> (r % 64) & 1 != 0))
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

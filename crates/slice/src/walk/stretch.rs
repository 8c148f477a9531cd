//! The way back over stretches: only what may matter is looked at.
//!
//! Whoever knows the stretches that ran (a trail) reports them one by one. Of a
//! stretch that assigns no wanted register, stores into no wanted memory and decides nothing
//! nothing is looked at but that; of another one only the instructions that are taken are
//! walked over. What is taken, and why, is decided by the same code as in a walk over single
//! steps; but when the slice has more nodes than are kept, and executions are only counted,
//! the common kinds of instruction have a shorter way that does the same.

use super::Walker;
use super::candidates::{Access, Candidate, Candidates, Here, Kind};
use super::light::Light;
use super::lightly::Counted;
use super::remembered::{Automata, visits};
use super::states::Wishes;
use crate::InconsistentTrace;
use crate::criterion::Occurrence;
use crate::facts::AllFacts;
use crate::fragments::FragmentExec;
use crate::log::{Change, FIRST, Log, Miss, NONE, Outside, SECOND, Spill};
use crate::tags::Tag;
use crate::wants::List;
use program::inst::{BlockId, Inst, Reg};
use replay::observer::Effect;

/// Knows what the instructions of stretches did.
pub trait Deeds {
    /// The address that a load or a store accessed.
    fn address(&mut self, ran: &FragmentExec, c: &Candidate) -> Result<u64, InconsistentTrace>;

    /// Whether a choice took its first value.
    fn chose_first(&mut self, ran: &FragmentExec, c: &Candidate) -> Result<bool, InconsistentTrace>;

    fn effect(&mut self, ran: &FragmentExec, c: &Candidate, inst: &Inst)
    -> Result<Effect, InconsistentTrace>;
}

/// What a walk over stretches keeps beside the walker's own state.
pub struct Stretches {
    /// No step behind this one is asked about; none if no step is.
    last: Option<u64>,
    pub(super) functions: Vec<Option<Box<Candidates>>>,
    /// One step's effect, in the form the walker reads.
    pub(super) scratch: Log,
    /// The call that comes next was given these by value.
    pub passed: Option<Vec<u64>>,
    /// Memory wanted by nobody in particular, beside the walker's own.
    pub light: Light,
    /// Registers that phis are copies of.
    copied: Vec<Reg>,
    /// The same, with what each is wanted for.
    pub(super) moved: Vec<(Reg, Tag)>,
    /// By function.
    pub(super) automata: Vec<Automata>,
    pub(super) wishes: Wishes,
}

impl Default for Stretches {
    fn default() -> Stretches {
        Stretches {
            last: Some(u64::MAX),
            functions: Vec::new(),
            scratch: Log::default(),
            passed: None,
            light: Light::default(),
            copied: Vec::new(),
            moved: Vec::new(),
            automata: Vec::new(),
            wishes: Wishes::default(),
        }
    }
}

impl Stretches {
    /// No memory is wanted beside the walker's.
    pub fn is_empty(&self) -> bool {
        self.light.is_empty()
    }
}

impl Walker<'_, '_> {
    /// Adds what was only counted to the slice.
    pub fn add_up(&mut self, by: &mut Stretches) {
        for (function, candidates) in by.functions.iter_mut().enumerate() {
            let Some(candidates) = candidates else { continue };
            for (c, tally) in candidates.all.iter().zip(&mut candidates.tally) {
                self.all.count_more(function as u32, c.index, std::mem::take(tally));
            }
            for automaton in by.automata.get_mut(function).into_iter().flatten().flatten() {
                visits(candidates, automaton, |index, more| {
                    self.all.count_more(function as u32, index, more);
                });
            }
        }
    }

    /// Puts what is wanted of a range where the walker looks.
    pub(super) fn gather(&mut self, light: &mut Light, start: u64, len: u64) {
        for (start, len) in light.drain(start, len) {
            self.memory.want(start, len, List::ANONYMOUS, &mut self.all.edges);
        }
        for (start, len, tag) in self.held.drain(start, len) {
            self.memory.want(start, len, List::anonymous(tag), &mut self.all.edges);
        }
    }

    pub(super) fn left_program(&mut self, light: &mut Light, outside: &Outside, depth: u32, direct: bool) {
        for (start, len) in &outside.writes {
            self.gather(light, *start, *len);
        }
        self.external(outside, depth, direct);
    }

    pub(super) fn changed_back(&mut self, light: &mut Light, change: Change, depth: u32) {
        let (start, len) = match change {
            Change::Patch { address, len } | Change::Zeroed { address, len } => (address, len),
            Change::Moved { to, len, .. } => (to, len),
        };
        self.gather(light, start, len);
        self.changed(change, depth);
    }

    pub(super) fn missed_back(&mut self, light: &mut Light, miss: &Miss) {
        self.gather(light, miss.address, miss.bytes.len() as u64);
        self.missed(miss);
    }

    pub(super) fn spilled_back(&mut self, light: &mut Light, spill: Spill, depth: u32) {
        // The step that put it there is behind us; its activation is known.
        while self.frames.len() < depth as usize {
            self.frames.push(Box::default());
        }
        self.gather(light, spill.address, spill.len);
        self.spilled(spill, depth);
    }

    /// Whether anything is asked about a stretch whose first step is `step`.
    #[inline]
    pub(super) fn is_asked(&self, by: &mut Stretches, step: u64) -> bool {
        if by.last.is_none_or(|last| step > last) {
            return false;
        }
        by.last = self.last_asked();
        by.last.is_some_and(|last| step <= last)
    }

    /// Executions are only counted from now on.
    #[inline]
    pub(super) fn counts_only(&self) -> bool {
        self.all.slice.truncated && self.all.known.is_empty() && self.potential.is_none()
    }

    /// An activation is of this function. A damaged index may have said otherwise before.
    #[inline]
    pub(super) fn meet(&mut self, f: usize, function: u32) {
        if let Some(frame) = self.frames.get(f)
            && frame.function.is_some_and(|known| known != function)
        {
            self.frames.truncate(f);
        }
    }

    /// Control went over an edge.
    pub(super) fn went<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        function: u32,
        depth: u32,
        from: BlockId,
        to: BlockId,
    ) {
        let f = depth as usize - 1;
        self.meet(f, function);
        if self.potential.is_some() {
            self.went_weighed(by, deeds, function, depth, (from, to));
            return;
        }
        if self.frames.len() <= f {
            return;
        }
        let Some(arrival) = known(&mut by.functions, self.all.facts, deeds, function).arrival(from, to)
        else {
            return;
        };
        let counts_only = self.counts_only();
        if counts_only {
            if self.went_remembered(by, deeds, f, function, arrival) {
                return;
            }
            self.release(by, f);
        }
        let candidates = known(&mut by.functions, self.all.facts, deeds, function);
        let moves = candidates.moves_of(arrival);
        let Some(frame) = self.frames.get(f).filter(|frame| frame.wanted > 0) else { return };
        if !moves.iter().any(|(dst, _)| frame.wanted_bits[*dst as usize / 64] >> (dst % 64) & 1 != 0) {
            return;
        }
        if !counts_only {
            self.edge(depth, from, to);
            return;
        }
        by.copied.clear();
        let frame = &mut self.frames[f];
        for (dst, src) in moves {
            let hit = frame.take_lightly(dst / 64, 1 << (dst % 64));
            match src {
                _ if !hit => {}
                Some(src) => by.copied.push(*src),
                None => self.constant = List::ANONYMOUS,
            }
        }
        for src in &by.copied {
            frame.want_lightly(*src);
        }
    }

    /// Instructions of one stretch ran.
    pub(super) fn ran<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &mut D,
        ran: &FragmentExec,
    ) -> Result<(), InconsistentTrace> {
        self.meet(ran.depth as usize - 1, ran.function);
        if self.landing.is_wanted() || self.is_asked(by, ran.step) {
            self.release_from(by, ran.depth);
            return self.ran_whole(by, deeds, ran);
        }
        self.next = ran.step;
        let f = ran.depth as usize - 1;
        let candidates = known(&mut by.functions, self.all.facts, deeds, ran.function);
        let here = candidates.stretches[ran.fragment as usize];
        if self.counts_only() {
            let is_whole = ran.first == here.first && ran.last == here.last;
            if is_whole && self.ran_remembered(by, deeds, ran, here)? {
                by.passed = None;
                return Ok(());
            }
            self.release(by, f);
        }
        self.ran_from(by, deeds, ran, here, here.from)
    }

    /// The same, from a candidate on.
    pub(super) fn ran_from<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &mut D,
        ran: &FragmentExec,
        here: Here,
        from: u32,
    ) -> Result<(), InconsistentTrace> {
        if self.potential.is_some() {
            return self.ran_weighed(by, deeds, ran, here);
        }
        let f = ran.depth as usize - 1;
        let candidates = known(&mut by.functions, self.all.facts, deeds, ran.function);
        if !self.constant.is_wanted() && !self.may_take(f, candidates, here) {
            let stores = &candidates.stores[here.stores.0 as usize..here.stores.1 as usize];
            let stores = stores.iter().filter(|c| **c >= from).map(|c| &candidates.all[*c as usize]);
            if !self.may_store(&by.light, deeds, ran, stores)? {
                by.passed = None;
                self.next = ran.step;
                return Ok(());
            }
        }
        let counts_only = self.counts_only();
        let mut taken = false;
        for number in from..here.to {
            let c = &candidates.all[number as usize];
            if c.index > ran.last || c.index < ran.first {
                continue;
            }
            if counts_only {
                match self.count_only(&mut by.light, deeds, ran, c, candidates)? {
                    Counted::Not => continue,
                    Counted::Taken => {
                        taken = true;
                        let tally = &mut candidates.tally[number as usize];
                        *tally += 1;
                        if *tally == 1 {
                            let step = ran.step + u64::from(c.index - ran.first);
                            self.all.see(ran.function, c.index, Occurrence { stream: self.stream, step });
                        }
                        continue;
                    }
                    Counted::Unknown => {}
                }
            }
            self.by_step(&mut by.scratch, &mut by.light, &mut by.passed, deeds, ran, c, candidates)?;
        }
        if taken {
            self.undecide_lightly(f, here, candidates);
        }
        by.passed = None;
        self.next = ran.step;
        Ok(())
    }

    /// Walks over one candidate by a step of its own, if it may be taken.
    #[allow(clippy::too_many_arguments)] // parts of one thing, one of which is lent out
    pub(super) fn by_step<D: Deeds>(
        &mut self,
        scratch: &mut Log,
        light: &mut Light,
        passed: &mut Option<Vec<u64>>,
        deeds: &mut D,
        ran: &FragmentExec,
        c: &Candidate,
        candidates: &Candidates,
    ) -> Result<(), InconsistentTrace> {
        let f = ran.depth as usize - 1;
        // Every branch is asked whether it could have gone another way.
        let asks = self.potential.is_some();
        let mut code = NONE;
        let frame = self.frames.get(f);
        match c.kind {
            Kind::Value => {
                if !frame.is_some_and(|frame| frame.wants(c.dst, c.count)) {
                    return Ok(());
                }
                code = effect_of(scratch, self.all.facts, deeds, ran, c)?;
            }
            Kind::Memory => {
                let value = frame.is_some_and(|frame| frame.wants(c.dst, c.count));
                if !value && light.is_empty() && !self.wants_memory() {
                    return Ok(());
                }
                code = effect_of(scratch, self.all.facts, deeds, ran, c)?;
                if let Some((start, len)) = scratch.effects.first().and_then(stored) {
                    self.gather(light, start, len);
                }
                if !value && !self.stores_wanted(scratch.effects.first()) {
                    return Ok(());
                }
            }
            Kind::Jump if self.constant.is_wanted() => {}
            Kind::Branch if asks => {}
            Kind::Branch if self.constant.is_wanted() || self.decides(f, candidates, c.decides) => {}
            Kind::Return if frame.is_some_and(|f| f.is_returning()) => {}
            Kind::Return if self.called_back(f).is_some() => {}
            Kind::Call if asks || frame.is_some_and(|f| f.call.is_some()) => {
                code = pass(scratch, passed);
            }
            Kind::Jump | Kind::Branch | Kind::Return | Kind::Call => return Ok(()),
        }
        self.next = ran.step + u64::from(c.index - ran.first) + 1;
        self.step(scratch, ran.function, c.index, ran.depth, code);
        Ok(())
    }

    /// Something in the stretch is asked about: every step is walked over.
    fn ran_whole<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &mut D,
        ran: &FragmentExec,
    ) -> Result<(), InconsistentTrace> {
        self.next = ran.step + u64::from(ran.last - ran.first) + 1;
        let candidates = known(&mut by.functions, self.all.facts, deeds, ran.function);
        let here = candidates.stretches[ran.fragment as usize];
        for index in (ran.first..=ran.last).rev() {
            let all = &candidates.all[here.from as usize..here.to as usize];
            let code = match all.iter().find(|c| c.index == index && c.access != Access::None) {
                Some(c) => {
                    let code = effect_of(&mut by.scratch, self.all.facts, deeds, ran, c)?;
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

    /// Whether some store hits wanted memory; true also if that is not so easily said.
    #[inline]
    pub(super) fn may_store<'c, D: Deeds>(
        &self,
        light: &Light,
        deeds: &mut D,
        ran: &FragmentExec,
        stores: impl Iterator<Item = &'c Candidate>,
    ) -> Result<bool, InconsistentTrace> {
        if light.is_empty() && !self.wants_memory() {
            return Ok(false);
        }
        for c in stores.filter(|c| c.index >= ran.first && c.index <= ran.last) {
            if c.access != Access::Store || !light.is_empty() {
                return Ok(true);
            }
            let address = deeds.address(ran, c)?;
            if self.may_assign(address, c.len.into()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a stretch assigns a wanted register, or its end is looked for.
    #[inline]
    pub(super) fn may_take(&self, f: usize, candidates: &Candidates, here: Here) -> bool {
        let Some(frame) = self.frames.get(f) else {
            return matches!(here.tail, Some((Kind::Return, _))) && self.called_back(f).is_some();
        };
        let words = &candidates.assigned[here.assigned.0 as usize..here.assigned.1 as usize];
        let assigns =
            frame.wanted > 0 && words.iter().any(|(w, bits)| frame.wanted_bits[*w as usize] & bits != 0);
        assigns
            || match here.tail {
                Some((Kind::Branch, number)) => {
                    self.decides(f, candidates, candidates.all[number as usize].decides)
                }
                Some((Kind::Return, _)) => frame.is_returning() || self.called_back(f).is_some(),
                Some((Kind::Call, _)) => frame.call.is_some(),
                _ => false,
            }
    }

    /// Whether a jump decides about anything taken.
    #[inline]
    pub(super) fn decides(&self, f: usize, candidates: &Candidates, blocks: (u32, u32)) -> bool {
        let Some(frame) = self.frames.get(f).filter(|frame| frame.is_furnished()) else { return false };
        let masks = &candidates.masks[blocks.0 as usize..blocks.1 as usize];
        masks.iter().any(|(w, mask)| frame.bits[*w as usize] & mask != 0)
    }

    fn stores_wanted(&self, effect: Option<&Effect>) -> bool {
        effect.and_then(stored).is_some_and(|(start, len)| self.may_assign(start, len))
    }

    /// Whether any byte of a range may be wanted.
    #[inline]
    fn may_assign(&self, start: u64, len: u64) -> bool {
        self.memory.may_touch(start, len) || self.held.touches(start, len) || self.old.may_touch(start, len)
    }
}

#[inline]
pub(super) fn known<'k, D: Deeds>(
    functions: &'k mut Vec<Option<Box<Candidates>>>,
    facts: &AllFacts<'_>,
    _: &D,
    function: u32,
) -> &'k mut Candidates {
    let number = function as usize;
    if functions.len() <= number {
        functions.resize_with(number + 1, || None);
    }
    functions[number].get_or_insert_with(|| get_to_know(facts, function))
}

#[cold]
fn get_to_know(facts: &AllFacts<'_>, function: u32) -> Box<Candidates> {
    Box::new(Candidates::of(facts, function))
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

/// The by-value arguments of a call, in the form the walker reads.
fn pass(scratch: &mut Log, passed: &mut Option<Vec<u64>>) -> u32 {
    scratch.passed.clear();
    scratch.effects.clear();
    scratch.passed.extend(passed.take());
    if scratch.passed.is_empty() { NONE } else { 0 }
}

/// What an instruction did in an execution, in the form the walker reads.
fn effect_of<D: Deeds>(
    scratch: &mut Log,
    facts: &AllFacts<'_>,
    deeds: &mut D,
    ran: &FragmentExec,
    c: &Candidate,
) -> Result<u32, InconsistentTrace> {
    scratch.effects.clear();
    match c.access {
        Access::None => return Ok(NONE),
        Access::Choice => return Ok(if deeds.chose_first(ran, c)? { FIRST } else { SECOND }),
        _ => {}
    }
    scratch.effects.push(deeds.effect(ran, c, facts.inst(ran.function, c.index))?);
    Ok(0)
}

//! The way back over a trail.

use super::Walker;
use super::candidates::{Candidate, Candidates, Hop, Kind};
use super::remembered::After;
use super::stretch::{Deeds, Stretches, known};
use crate::InconsistentTrace;
use crate::fragments::FragmentExec;
use crate::log::{Item, Log};
use crate::trail::{self, Activation, Trail, word};
use program::inst::Inst;
use replay::observer::Effect;

/// What is left of a trail on the way back.
struct Rest<'t> {
    words: &'t [u32],
    numbers: &'t [u64],
    /// Numbers not behind us.
    top: u64,
    /// Steps not behind us.
    left: u64,
    functions: Vec<u32>,
}

impl Deeds for Rest<'_> {
    #[inline]
    fn address(&mut self, ran: &FragmentExec, c: &Candidate) -> Result<u64, InconsistentTrace> {
        let at = ran.base.wrapping_add(c.at.into());
        self.numbers.get(at as usize).copied().ok_or(InconsistentTrace(ran.step))
    }

    fn chose_first(&mut self, ran: &FragmentExec, c: &Candidate) -> Result<bool, InconsistentTrace> {
        Ok(self.address(ran, c)? != 0)
    }

    fn effect(
        &mut self,
        ran: &FragmentExec,
        c: &Candidate,
        inst: &Inst,
    ) -> Result<Effect, InconsistentTrace> {
        let at = ran.base.wrapping_add(c.at.into());
        let numbers = self.numbers.get(at as usize..).ok_or(InconsistentTrace(ran.step))?;
        Ok(trail::effect(inst, numbers))
    }
}

impl Rest<'_> {
    /// A whole stretch ran, to the end of its block.
    #[inline]
    fn hop(&mut self, hop: &Hop, function: u32, depth: u32) -> Result<FragmentExec, InconsistentTrace> {
        let Hop { stretch, first, last, numbers, .. } = *hop;
        self.left = self.left.checked_sub((last + 1 - first).into()).ok_or(InconsistentTrace(self.left))?;
        let base = self.top.wrapping_sub(numbers.1.into());
        self.top = base.wrapping_add(numbers.0.into());
        Ok(FragmentExec { function, depth, fragment: stretch, first, last, step: self.left, base })
    }

    /// Instructions of the function at the top ran, of a stretch, from `first` to `last`.
    #[inline]
    fn run(
        &mut self,
        of: &Candidates,
        stretch: u32,
        first: u32,
        last: u32,
    ) -> Result<FragmentExec, InconsistentTrace> {
        let function = *self.functions.last().ok_or(InconsistentTrace(self.left))?;
        let steps = u64::from((last + 1).saturating_sub(first));
        self.left = self.left.checked_sub(steps).ok_or(InconsistentTrace(self.left))?;
        let base = self.top.wrapping_sub(of.before[last as usize + 1].into());
        self.top = base.wrapping_add(of.before[first as usize].into());
        let depth = self.functions.len() as u32;
        Ok(FragmentExec { function, depth, fragment: stretch, first, last, step: self.left, base })
    }
}

impl Walker<'_, '_> {
    /// Walks back over a trail whose last step is number `end - 1`, and whose first is
    /// number `begin`.
    pub fn trail(
        &mut self,
        by: &mut Stretches,
        trail: &Trail<'_>,
        (begin, end): (u64, u64),
    ) -> Result<(), InconsistentTrace> {
        self.next = end;
        let mut rest = Rest {
            words: &trail.words,
            numbers: &trail.numbers,
            top: trail.numbers.len() as u64,
            left: end,
            functions: trail.activations().map(|a| a.0).collect(),
        };
        for (depth, activation) in (1..).zip(trail.activations()) {
            self.live(depth, activation);
        }
        let mut frames = &trail.returned[..];
        while let Some((&it, before)) = rest.words.split_last() {
            if it & word::WHAT <= word::RUN && self.runs(by, &mut rest)? {
                continue;
            }
            rest.words = before;
            let number = it & word::NUMBER;
            let depth = rest.functions.len() as u32;
            match it & word::WHAT {
                word::WAY => {
                    let from = begun(&mut rest.words);
                    let function = *rest.functions.last().ok_or(InconsistentTrace(rest.left))?;
                    let of = known(&mut by.functions, self.all.facts, &rest, function);
                    let hops = *of.ways.get(number as usize).ok_or(InconsistentTrace(rest.left))?;
                    self.hops(by, &mut rest, function, hops, from)?;
                }
                word::RUN => {
                    let from = begun(&mut rest.words);
                    let function = *rest.functions.last().ok_or(InconsistentTrace(rest.left))?;
                    let of = known(&mut by.functions, self.all.facts, &rest, function);
                    let stretch = *of.stretch_of.get(number as usize).ok_or(InconsistentTrace(rest.left))?;
                    let first = from.unwrap_or(of.starts[stretch as usize]);
                    let ran = rest.run(of, stretch, first, number)?;
                    self.ran(by, &mut rest, &ran)?;
                }
                word::ENTER => {
                    if let Some(function) = rest.functions.pop() {
                        self.entered_back(by, &rest, (function, depth, false), &[]);
                    }
                }
                word::RETURNED => {
                    let (&callee, before) = rest.words.split_last().ok_or(InconsistentTrace(rest.left))?;
                    rest.words = before;
                    let function = *rest.functions.last().ok_or(InconsistentTrace(rest.left))?;
                    self.returned_back(by, &rest, (function, number, depth), Some(callee));
                    let (&frame, before) = frames.split_last().ok_or(InconsistentTrace(rest.left))?;
                    frames = before;
                    rest.functions.push(callee);
                    self.live(depth + 1, (callee, frame));
                }
                word::PASSED => by.passed = trail.log.passed.get(number as usize).cloned(),
                word::LEFT => {
                    let (keep, gone) = trail.left.get(number as usize).ok_or(InconsistentTrace(rest.left))?;
                    rest.functions.truncate(*keep as usize);
                    for (depth, activation) in (keep + 1..).zip(gone) {
                        rest.functions.push(activation.0);
                        self.live(depth, *activation);
                    }
                }
                word::OTHER => {
                    let item = *trail.log.items.get(number as usize).ok_or(InconsistentTrace(rest.left))?;
                    self.next = rest.left;
                    self.release_from(by, depth);
                    let direct = is_direct(rest.words, &trail.log);
                    self.other(by, &rest, &trail.log, item, direct);
                    if let Item::Enter { .. } = item {
                        rest.functions.pop();
                    }
                }
                _ => return Err(InconsistentTrace(rest.left)),
            }
        }
        if rest.left == begin && rest.top == 0 { Ok(()) } else { Err(InconsistentTrace(rest.left)) }
    }

    /// Walks back over hops of a way, one by one; the first of them may have begun late.
    fn hops(
        &mut self,
        by: &mut Stretches,
        rest: &mut Rest<'_>,
        function: u32,
        (start, end): (u32, u32),
        from: Option<u32>,
    ) -> Result<(), InconsistentTrace> {
        let depth = rest.functions.len() as u32;
        for n in (start..end).rev() {
            let hop = known(&mut by.functions, self.all.facts, rest, function).hops[n as usize];
            self.went(by, rest, function, depth, hop.from, hop.to);
            let of = known(&mut by.functions, self.all.facts, rest, function);
            let first = from.filter(|_| n == start).unwrap_or(hop.first);
            let ran = rest.run(of, hop.stretch, first, hop.last)?;
            self.ran(by, rest, &ran)?;
        }
        Ok(())
    }

    /// Walks back over the ways and runs of one activation that come next, as long as what they
    /// make of what is wanted is remembered; false if not even the first one's is.
    fn runs(&mut self, by: &mut Stretches, rest: &mut Rest<'_>) -> Result<bool, InconsistentTrace> {
        let function = *rest.functions.last().ok_or(InconsistentTrace(rest.left))?;
        let (f, depth) = (rest.functions.len() - 1, rest.functions.len() as u32);
        let Some(mut state) = self.remembers(by, rest, f, function) else { return Ok(false) };
        let returns = self.called_back(f).is_none();
        let Stretches { functions, automata, light, wishes, .. } = by;
        let Some(of) = &functions[function as usize] else { return Ok(false) };
        let automaton = self.automaton(automata, of, f, function);
        let mut any = false;
        while let Some((&it, before)) = rest.words.split_last()
            && !automaton.is_off
        {
            let number = it & word::NUMBER;
            let is_late = before.last().is_some_and(|it| it & word::WHAT == word::FROM);
            match it & word::WHAT {
                _ if is_late => break,
                word::WAY => {
                    let (start, end) = *of.ways.get(number as usize).ok_or(InconsistentTrace(rest.left))?;
                    rest.words = before;
                    for n in (start..end).rev() {
                        let hop = &of.hops[n as usize];
                        let ran = rest.hop(hop, function, depth)?;
                        let node = automaton.of_hop(of, wishes, state, hop.arrival, hop.stretch);
                        match self.through(automaton, of, (light, wishes), rest, &ran, node)? {
                            After::State(after) => state = after,
                            After::Left { state, candidate } => {
                                self.leave(by, rest, &ran, state, candidate)?;
                                self.hops(by, rest, function, (start, n), None)?;
                                return Ok(true);
                            }
                        }
                    }
                }
                word::RUN => {
                    let stretch = *of.stretch_of.get(number as usize).ok_or(InconsistentTrace(rest.left))?;
                    let here = of.stretches[stretch as usize];
                    // A return may be wanted by who called back.
                    if here.last != number || !returns && matches!(here.tail, Some((Kind::Return, _))) {
                        break;
                    }
                    rest.words = before;
                    let ran = rest.run(of, stretch, here.first, number)?;
                    let node = automaton.of_stretch(of, wishes, state, stretch);
                    match self.through(automaton, of, (light, wishes), rest, &ran, node)? {
                        After::State(after) => state = after,
                        After::Left { state, candidate } => {
                            self.leave(by, rest, &ran, state, candidate)?;
                            return Ok(true);
                        }
                    }
                    by.passed = None;
                }
                _ => break,
            }
            any = true;
        }
        if any {
            self.next = rest.left;
            self.put(f, function, state);
        }
        Ok(any)
    }

    /// An activation of that depth is there, as far back as it began.
    #[inline]
    fn live(&mut self, depth: u32, (function, frame): Activation) {
        if let Some(potential) = &mut self.potential {
            potential.places.frame(depth, function, frame);
        }
    }

    /// Something that is no run of instructions.
    fn other(&mut self, by: &mut Stretches, rest: &Rest<'_>, log: &Log, item: Item, direct: bool) {
        let light = &mut by.light;
        match item {
            Item::Edge { depth, from, to } => self.edge(depth, from, to),
            Item::Enter { function, depth, outside, copies } => {
                let copies = log.copies.get(copies as usize).map_or(&[][..], Vec::as_slice);
                self.entered_back(by, rest, (function, depth, outside), copies);
            }
            Item::External { depth, call } => {
                self.left_program(light, &log.externals[call as usize], depth, direct);
            }
            Item::Landed { function, index, depth } => self.landed(function, index, depth),
            Item::Changed { depth, change } => self.changed_back(light, log.changes[change as usize], depth),
            Item::Missed { miss } => self.missed_back(light, &log.misses[miss as usize]),
            Item::Spilled { depth, spill } => self.spilled_back(light, log.spills[spill as usize], depth),
        }
    }
}

/// Where a run began, if not where its stretch does.
#[inline]
fn begun(words: &mut &[u32]) -> Option<u32> {
    match words.split_last() {
        Some((it, before)) if it & word::WHAT == word::FROM => {
            *words = before;
            Some(it & word::NUMBER)
        }
        _ => None,
    }
}

/// Whether a call out of the program that has come back did not call back.
fn is_direct(words: &[u32], log: &Log) -> bool {
    for it in words.iter().rev() {
        let number = (it & word::NUMBER) as usize;
        match it & word::WHAT {
            word::PASSED => {}
            word::OTHER if matches!(log.items.get(number), Some(Item::Changed { .. })) => {}
            what => return what == word::RUN,
        }
    }
    false
}

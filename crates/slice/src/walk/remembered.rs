//! The way back by remembering: see [`super::automaton`].
//!
//! What is wanted of an activation is then a number, in `Frame::state`, and its sets are empty.
//! Whoever wants to see the sets must *release* the activation first.

use super::Walker;
use super::automaton::{Automaton, EMPTY, Then};
use super::candidates::{Access, Candidates, Here, Kind};
use super::frame::Frame;
use super::light::Light;
use super::states::{State, Wishes};
use super::stretch::{Deeds, Stretches, known};
use crate::InconsistentTrace;
use crate::criterion::Occurrence;
use crate::fragments::FragmentExec;
use crate::wants::List;

/// What a stretch made of a state.
pub(super) enum After {
    State(u32),
    /// The rest, from this candidate, is nothing that can be remembered.
    Left {
        state: u32,
        candidate: u32,
    },
}

/// The automata of a function: for activations that were called, and for the outermost one.
pub type Automata = [Option<Box<Automaton>>; 2];

impl Walker<'_, '_> {
    fn is_outermost(&self, f: usize) -> bool {
        f == 0 && !self.is_thread
    }

    /// The automaton of an activation.
    #[inline]
    pub(super) fn automaton<'b>(
        &self,
        all: &'b mut Vec<Automata>,
        of: &Candidates,
        f: usize,
        function: u32,
    ) -> &'b mut Automaton {
        let number = function as usize;
        if all.len() <= number {
            all.resize_with(number + 1, Automata::default);
        }
        let outermost = self.is_outermost(f);
        all[number][usize::from(outermost)].get_or_insert_with(|| {
            let facts = self.all.facts;
            let slots = facts.function(function).slots;
            Box::new(Automaton::new(of, slots, &facts.get(function).decided, outermost))
        })
    }

    /// The state of an activation; none if what is wanted of it is more than that can say.
    #[inline]
    fn hold<D: Deeds>(&mut self, by: &mut Stretches, deeds: &D, f: usize, function: u32) -> Option<u32> {
        match self.frames.get(f) {
            None => Some(EMPTY),
            Some(frame) => match frame.state {
                Some(state) if frame.function == Some(function) => Some(state),
                _ => self.take_hold(by, deeds, f, function),
            },
        }
    }

    #[inline(never)]
    fn take_hold<D: Deeds>(&mut self, by: &mut Stretches, deeds: &D, f: usize, function: u32) -> Option<u32> {
        let of = known(&mut by.functions, self.all.facts, deeds, function);
        let frame = &self.frames[f];
        let is_light = frame.spilled.is_empty()
            && frame.returns.is_empty()
            && frame.state.is_none()
            && frame.call.as_ref().is_none_or(|call| call.is_light());
        if !is_light || self.automaton(&mut by.automata, of, f, function).is_off {
            return None;
        }
        self.settle(f as u32 + 1, function);
        self.furnish(f);
        let frame = &mut self.frames[f];
        let mut call = 0;
        if let Some(mut state) = frame.call.take() {
            call = by.wishes.add(state.arguments.drain(..).map(|a| (a.0, a.1)).collect());
            self.put_away(state);
        }
        let frame = &mut self.frames[f];
        let state = State {
            regs: frame.wanted_bits.clone(),
            blocks: frame.bits.clone(),
            returned: frame.returned,
            call,
            constant: std::mem::take(&mut self.constant).is_wanted(),
        };
        frame.forget_all();
        let number = self.automaton(&mut by.automata, of, f, function).intern(state);
        self.frames[f].state = Some(number);
        Some(number)
    }

    /// Puts what is wanted of an activation where the walker looks.
    pub(super) fn release(&mut self, by: &Stretches, f: usize) {
        let Some(frame) = self.frames.get_mut(f) else { return };
        let (Some(number), Some(function)) = (frame.state.take(), frame.function) else { return };
        let outermost = usize::from(self.is_outermost(f));
        let Some(automaton) = by.automata.get(function as usize).and_then(|a| a[outermost].as_ref()) else {
            return;
        };
        let state = automaton.state(number);
        self.furnish(f);
        let frame = &mut self.frames[f];
        frame.wanted_bits.copy_from_slice(&state.regs);
        frame.bits.copy_from_slice(&state.blocks);
        frame.wanted = state.regs.iter().map(|w| w.count_ones() as usize).sum();
        frame.returned = state.returned;
        if state.constant {
            self.constant = List::ANONYMOUS;
        }
        if state.call != 0 {
            let mut call = self.states.pop().unwrap_or_default();
            call.list = List::ANONYMOUS;
            call.arguments.extend(by.wishes.get(state.call).iter().map(|(n, slot)| (*n, *slot, true)));
            frame.call = Some(call);
        }
    }

    /// The same of all that something rare in the activation of that depth may concern.
    pub(super) fn release_from(&mut self, by: &Stretches, depth: u32) {
        for f in (depth as usize).saturating_sub(2)..self.frames.len() {
            self.release(by, f);
        }
    }

    /// The state of an activation whose next stretches may be gone over by remembering alone.
    #[inline]
    pub(super) fn remembers<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        f: usize,
        function: u32,
    ) -> Option<u32> {
        if !self.counts_only() || self.landing.is_wanted() || self.is_asked(by, 0) {
            return None;
        }
        self.meet(f, function);
        known(&mut by.functions, self.all.facts, deeds, function);
        self.hold(by, deeds, f, function)
    }

    /// Leaves an activation in a state.
    #[inline]
    pub(super) fn put(&mut self, f: usize, function: u32, state: u32) {
        if self.frames.len() != f + 1 {
            if state == EMPTY && self.frames.len() <= f {
                return;
            }
            self.settle(f as u32 + 1, function);
        }
        let frame = &mut self.frames[f];
        frame.function = Some(function);
        frame.state = Some(state);
    }

    /// Control went over an edge with phis; false if that cannot be remembered.
    #[inline]
    pub(super) fn went_remembered<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        f: usize,
        function: u32,
        arrival: u32,
    ) -> bool {
        let Some(state) = self.hold(by, deeds, f, function) else { return false };
        if state == EMPTY {
            return true;
        }
        let of = known(&mut by.functions, self.all.facts, deeds, function);
        let automaton = self.automaton(&mut by.automata, of, f, function);
        if automaton.is_off {
            return false;
        }
        let before = automaton.of_edge(of, state, arrival);
        self.put(f, function, before);
        true
    }

    /// A whole stretch ran; false if that cannot be remembered.
    #[inline]
    pub(super) fn ran_remembered<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &mut D,
        ran: &FragmentExec,
        here: Here,
    ) -> Result<bool, InconsistentTrace> {
        let f = ran.depth as usize - 1;
        if matches!(here.tail, Some((Kind::Return, _))) && self.called_back(f).is_some() {
            return Ok(false);
        }
        let Some(state) = self.hold(by, deeds, f, ran.function) else { return Ok(false) };
        let Some(of) = &by.functions[ran.function as usize] else { return Ok(false) };
        let automaton = self.automaton(&mut by.automata, of, f, ran.function);
        if automaton.is_off {
            return Ok(false);
        }
        let number = automaton.of_stretch(of, &by.wishes, state, ran.fragment);
        match self.through(automaton, of, (&mut by.light, &by.wishes), deeds, ran, number)? {
            After::State(after) => {
                if after != state {
                    self.put(f, ran.function, after);
                }
            }
            After::Left { state, candidate } => self.leave(by, deeds, ran, state, candidate)?,
        }
        Ok(true)
    }

    /// Goes through a stretch from its node on.
    #[inline(always)] // it is all that a walk does for most stretches
    pub(super) fn through<D: Deeds>(
        &mut self,
        automaton: &mut Automaton,
        of: &Candidates,
        (light, wishes): (&mut Light, &Wishes),
        deeds: &mut D,
        ran: &FragmentExec,
        mut number: u32,
    ) -> Result<After, InconsistentTrace> {
        loop {
            let node = &mut automaton.nodes[number as usize];
            node.visits += 1;
            if node.visits == 1 {
                let taken = &automaton.taken[node.taken.0 as usize..node.taken.1 as usize];
                self.see_first(of, taken, ran);
            }
            let then = node.then;
            for load in &automaton.loads[node.loads.0 as usize..node.loads.1 as usize] {
                let c = &of.all[*load as usize];
                let address = deeds.address(ran, c)?;
                self.want_bytes(light, address, c.len.into());
            }
            match then {
                Then::End(after) => return Ok(After::State(after)),
                Then::Test { candidate, .. } => {
                    let c = &of.all[candidate as usize];
                    let outcome = if c.access == Access::Choice {
                        deeds.chose_first(ran, c)?
                    } else if light.is_empty() && self.memory.is_empty() {
                        false
                    } else {
                        let address = deeds.address(ran, c)?;
                        self.take_bytes(light, address, c.len.into())
                    };
                    number = automaton.after(of, wishes, number, outcome);
                }
                Then::Leave { state, candidate } => return Ok(After::Left { state, candidate }),
            }
        }
    }

    /// Goes on with a stretch from a candidate on, about which nothing can be remembered.
    pub(super) fn leave<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &mut D,
        ran: &FragmentExec,
        state: u32,
        candidate: u32,
    ) -> Result<(), InconsistentTrace> {
        let f = ran.depth as usize - 1;
        self.next = ran.step;
        self.put(f, ran.function, state);
        self.release(by, f);
        let of = known(&mut by.functions, self.all.facts, deeds, ran.function);
        let here = of.stretches[ran.fragment as usize];
        self.ran_from(by, deeds, ran, here, candidate)
    }

    /// Candidates are taken for the first time in a state.
    #[cold]
    fn see_first(&mut self, of: &Candidates, taken: &[u32], ran: &FragmentExec) {
        for c in taken.iter().map(|c| &of.all[*c as usize]) {
            let step = ran.step + u64::from(c.index - ran.first);
            self.all.see(ran.function, c.index, Occurrence { stream: self.stream, step });
        }
    }

    /// A call has returned; false if that cannot be remembered.
    pub(super) fn returned_remembered<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        (function, index, depth): (u32, u32, u32),
        callee: u32,
    ) -> bool {
        let f = depth as usize - 1;
        let Some(state) = self.hold(by, deeds, f, function) else { return false };
        if state == EMPTY {
            return true;
        }
        let of = known(&mut by.functions, self.all.facts, deeds, function);
        let Some(call) = of.call(index).copied().filter(|c| c.count <= 64) else { return false };
        if call.count == 0 {
            return true;
        }
        let (left, slots) = self.automaton(&mut by.automata, of, f, function).of_result(state, &call);
        if slots != 0 {
            self.put(f, function, left);
            let mut frame = self.fresh(callee);
            let of = known(&mut by.functions, self.all.facts, deeds, callee);
            frame.state = Some(self.automaton(&mut by.automata, of, f + 1, callee).returning(slots));
            self.frames.push(frame);
        }
        true
    }

    /// An activation began, called by another one; false if that cannot be remembered.
    pub(super) fn entered_remembered<D: Deeds>(
        &mut self,
        by: &mut Stretches,
        deeds: &D,
        function: u32,
        depth: u32,
    ) -> bool {
        let f = depth as usize - 1;
        let Some(caller) = f.checked_sub(1) else { return false };
        if self.frames.len() <= f {
            return true;
        }
        let Some(state) = self.hold(by, deeds, f, function) else { return false };
        // Whose call that was is known by its own steps only.
        let Some(calling) = self.frames[caller].function else { return false };
        let of = known(&mut by.functions, self.all.facts, deeds, function);
        let automaton = self.automaton(&mut by.automata, of, f, function);
        let wish = automaton.at_beginning(of, &mut by.wishes, state);
        self.settle(depth, function);
        if let Some(frame) = self.frames.pop() {
            self.forget(frame);
        }
        if wish == 0 {
            return true;
        }
        if let Some(before) = self.hold(by, deeds, caller, calling) {
            let of = known(&mut by.functions, self.all.facts, deeds, calling);
            let automaton = self.automaton(&mut by.automata, of, caller, calling);
            let after = automaton.calling(&mut by.wishes, before, wish);
            self.frames[caller].state = Some(after);
            return true;
        }
        let state = self.frames[caller].call.get_or_insert_default();
        state.list = self.all.edges.join(state.list, List::ANONYMOUS);
        state.arguments.extend(by.wishes.get(wish).iter().map(|(n, slot)| (*n, *slot, true)));
        true
    }
}

impl Frame {
    /// Empties the sets.
    fn forget_all(&mut self) {
        self.wanted_bits.fill(0);
        self.bits.fill(0);
        (self.wanted, self.returned) = (0, 0);
        if std::mem::take(&mut self.named) {
            self.regs.fill(List::default());
            self.undecided.fill(List::default());
        }
    }
}

/// How often candidates were taken.
pub fn visits(of: &Candidates, automaton: &mut Automaton, mut count: impl FnMut(u32, u64)) {
    for node in &mut automaton.nodes {
        let visits = std::mem::take(&mut node.visits);
        for c in &automaton.taken[node.taken.0 as usize..node.taken.1 as usize] {
            count(of.all[*c as usize].index, visits);
        }
    }
}

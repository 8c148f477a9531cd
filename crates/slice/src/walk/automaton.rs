//! What stretches make of what is wanted, remembered.
//!
//! While executions are only counted, what is wanted of an activation is a set of registers, a
//! set of undecided blocks and little more: a *state*. What a stretch makes of a state depends
//! on nothing else but whether its stores hit wanted memory and which values its choices took.
//! Loops come by with the same few states again and again, so each is worked out once: a *node*
//! says which loads are wanted, which store or choice has to be looked at next, and in the end
//! which state comes out. How often an instruction was taken follows from how often nodes were
//! come by.

use super::candidates::{Access, Candidate, Candidates, Kind};
use super::states::{NONE, Start, State, Wishes};
use rustc_hash::FxHashMap as Map;
use std::collections::HashMap;

/// The state in which nothing is wanted.
pub const EMPTY: u32 = 0;
/// Nodes that are worked out before it is asked whether they pay.
const TRIED: u64 = 4096;
/// A node pays if it is come by so often.
const PAYS: u64 = 8;
/// Nodes of one function, and states.
const MOST: usize = 1 << 20;

/// What comes after the loads of a node.
#[derive(Clone, Copy, Debug)]
pub enum Then {
    /// The stretch is done, and this is the state.
    End(u32),
    /// A candidate must be looked at: a store, whether it hits, or a choice, whether it took its
    /// first value. Where to go on if so, and if not.
    Test { candidate: u32, yes: u32, no: u32 },
    /// The rest, from this candidate, is nothing that can be remembered.
    Leave { state: u32, candidate: u32 },
}

pub struct Node {
    pub visits: u64,
    /// Candidates, a range of [`Automaton::loads`].
    pub loads: (u32, u32),
    /// Candidates, a range of [`Automaton::taken`].
    pub taken: (u32, u32),
    pub then: Then,
    /// For a test: how things stand.
    rest: Option<Box<Rest>>,
}

#[derive(Clone)]
struct Rest {
    state: State,
    /// The next candidate, and the end of them.
    next: u32,
    end: u32,
    /// Whether any was taken.
    taken: bool,
}

/// See the module's documentation.
#[derive(Default)]
pub struct Automaton {
    states: Vec<State>,
    index: HashMap<State, u32>,
    /// By state and piece: the node of a stretch, or the state before an edge, or the node of the
    /// stretch that an edge came from.
    start: Start,
    pub nodes: Vec<Node>,
    pub loads: Vec<u32>,
    pub taken: Vec<u32>,
    /// By state and call: what is left of the state when its result is found, and of what slots.
    results: Map<(u32, u32), (u32, u64)>,
    /// By slots of the result: the state in which only those are wanted.
    returning: Map<u64, u32>,
    /// By state: what is wanted of the call when the function's beginning is reached.
    begun: Map<u32, u32>,
    /// By state and wish: the state of the caller.
    called: Map<(u32, u32), u32>,
    /// The activation was called from outside: nothing decided about blocks that no branch
    /// decides about.
    outermost: bool,
    decided: Vec<bool>,
    runs: u64,
    /// It does not pay.
    pub is_off: bool,
}

impl Automaton {
    pub fn new(of: &Candidates, slots: u32, decided: &[bool], outermost: bool) -> Automaton {
        let mut new = Automaton { outermost, decided: decided.to_vec(), ..Automaton::default() };
        new.start.stretches = of.stretches.len() as u32;
        new.start.arrivals = of.arrivals() as u32;
        new.start.pieces = new.start.stretches + 2 * new.start.arrivals;
        let regs = vec![0; slots.div_ceil(64) as usize];
        let blocks = vec![0; decided.len().div_ceil(64)];
        new.intern(State { regs, blocks, ..State::default() });
        new
    }

    pub fn state(&self, number: u32) -> &State {
        &self.states[number as usize]
    }

    pub fn intern(&mut self, state: State) -> u32 {
        let next = self.states.len() as u32;
        *self.index.entry(state).or_insert_with_key(|state| {
            self.states.push(state.clone());
            next
        })
    }

    /// The state in which only slots of the result are wanted.
    pub fn returning(&mut self, returned: u64) -> u32 {
        if let Some(known) = self.returning.get(&returned) {
            return *known;
        }
        let state = State { returned, ..self.states[EMPTY as usize].clone() };
        let number = self.intern(state);
        self.returning.insert(returned, number);
        number
    }

    /// The node of a stretch.
    #[inline]
    pub fn of_stretch(&mut self, of: &Candidates, wishes: &Wishes, state: u32, number: u32) -> u32 {
        self.runs += 1;
        match self.start.get(state, number) {
            Some(node) => node,
            None => self.begin(of, wishes, state, number),
        }
    }

    #[cold]
    fn begin(&mut self, of: &Candidates, wishes: &Wishes, state: u32, number: u32) -> u32 {
        let here = of.stretches[number as usize];
        let now = self.states[state as usize].clone();
        let node =
            self.work_out(of, wishes, Rest { state: now, next: here.from, end: here.to, taken: false });
        self.start.set(state, number, node);
        let built = self.nodes.len() as u64;
        self.is_off |= built > TRIED && built * PAYS > self.runs || self.nodes.len() > MOST;
        node
    }

    /// Where a test leads that came out like this.
    #[inline]
    pub fn after(&mut self, of: &Candidates, wishes: &Wishes, node: u32, outcome: bool) -> u32 {
        let Then::Test { yes, no, .. } = self.nodes[node as usize].then else { return node };
        let known = if outcome { yes } else { no };
        if known == NONE { self.go_on(of, wishes, node, outcome) } else { known }
    }

    #[cold]
    fn go_on(&mut self, of: &Candidates, wishes: &Wishes, node: u32, outcome: bool) -> u32 {
        let Then::Test { candidate, .. } = self.nodes[node as usize].then else { return node };
        let Some(mut rest) = self.nodes[node as usize].rest.clone() else { return node };
        let c = &of.all[candidate as usize];
        let from = self.taken.len() as u32;
        if c.access == Access::Choice {
            let (from, to) = if outcome { c.values } else { (c.values.1, c.uses.1) };
            for reg in &of.uses[from as usize..to as usize] {
                rest.state.want(*reg);
            }
        } else if outcome {
            rest.take(of, c);
            self.taken.push(candidate);
        }
        let next = self.work_out_from(of, wishes, *rest, from);
        if let Then::Test { yes, no, .. } = &mut self.nodes[node as usize].then {
            *(if outcome { yes } else { no }) = next;
        }
        next
    }

    fn work_out(&mut self, of: &Candidates, wishes: &Wishes, rest: Rest) -> u32 {
        let from = self.taken.len() as u32;
        self.work_out_from(of, wishes, rest, from)
    }

    /// Goes on to the next test, or to the end. What was taken since `first_taken` is counted
    /// with the new node.
    fn work_out_from(&mut self, of: &Candidates, wishes: &Wishes, mut rest: Rest, first_taken: u32) -> u32 {
        let first_load = self.loads.len() as u32;
        let mut then = None;
        while then.is_none() && rest.next < rest.end {
            let number = rest.next;
            rest.next += 1;
            let c = &of.all[number as usize];
            let taken = match c.kind {
                Kind::Value => {
                    let mut hit = false;
                    for reg in c.dst..c.dst + c.count {
                        hit |= rest.state.take(reg);
                    }
                    if hit && c.access == Access::Choice {
                        // The condition is used in any case; of the values one.
                        for reg in &of.uses[c.uses.0 as usize..c.values.0 as usize] {
                            rest.state.want(*reg);
                        }
                        rest.taken = true;
                        self.taken.push(number);
                        then = Some(Then::Test { candidate: number, yes: NONE, no: NONE });
                        continue;
                    }
                    if hit && c.access == Access::Load {
                        self.loads.push(number);
                    }
                    hit
                }
                Kind::Memory if c.access == Access::Store => {
                    then = Some(Then::Test { candidate: number, yes: NONE, no: NONE });
                    continue;
                }
                Kind::Memory => {
                    let state = self.intern(self.with_block(of, &rest));
                    then = Some(Then::Leave { state, candidate: number });
                    continue;
                }
                Kind::Jump => std::mem::take(&mut rest.state.constant),
                Kind::Branch => {
                    let mut hit = std::mem::take(&mut rest.state.constant);
                    for (w, mask) in &of.masks[c.decides.0 as usize..c.decides.1 as usize] {
                        let word = &mut rest.state.blocks[*w as usize];
                        hit |= *word & mask != 0;
                        *word &= !mask;
                    }
                    hit
                }
                Kind::Return => {
                    let mut returned = std::mem::take(&mut rest.state.returned);
                    let hit = returned != 0;
                    let value = &of.uses[c.uses.0 as usize..c.uses.1 as usize];
                    while returned != 0 {
                        if let Some(reg) = value.get(returned.trailing_zeros() as usize) {
                            rest.state.want(*reg);
                        }
                        returned &= returned - 1;
                    }
                    if hit {
                        rest.taken = true;
                        self.taken.push(number);
                    }
                    continue;
                }
                Kind::Call => {
                    let call = std::mem::take(&mut rest.state.call);
                    let arguments = &of.arguments[c.arguments.0 as usize..c.arguments.1 as usize];
                    for (argument, slot) in wishes.get(call) {
                        if let Some((Some(reg), slots)) = arguments.get(*argument as usize)
                            && slot < slots
                        {
                            rest.state.want(reg + slot);
                        }
                    }
                    call != 0
                }
            };
            if taken {
                rest.take(of, c);
                self.taken.push(number);
            }
        }
        let then = then.unwrap_or_else(|| Then::End(self.intern(self.with_block(of, &rest))));
        let rest = matches!(then, Then::Test { .. }).then(|| Box::new(rest));
        self.nodes.push(Node {
            visits: 0,
            loads: (first_load, self.loads.len() as u32),
            taken: (first_taken, self.taken.len() as u32),
            then,
            rest,
        });
        self.nodes.len() as u32 - 1
    }

    /// The state, with the deciding branch of the stretch looked for if any of it was taken.
    fn with_block(&self, of: &Candidates, rest: &Rest) -> State {
        let mut state = rest.state.clone();
        if rest.taken {
            let block = of.all[rest.end as usize - 1].block;
            if !self.outermost || self.decided[block as usize] {
                state.blocks[block as usize / 64] |= 1 << (block % 64);
            }
        }
        state
    }

    /// The node of a stretch, in a state behind the edge that led away from it.
    #[inline]
    pub fn of_hop(
        &mut self,
        of: &Candidates,
        wishes: &Wishes,
        state: u32,
        arrival: Option<u32>,
        stretch: u32,
    ) -> u32 {
        let Some(arrival) = arrival else { return self.of_stretch(of, wishes, state, stretch) };
        match self.start.get(state, self.start.stretches + self.start.arrivals + arrival) {
            Some(node) => {
                self.runs += 1;
                node
            }
            None => self.hop(of, wishes, state, arrival, stretch),
        }
    }

    #[cold]
    fn hop(&mut self, of: &Candidates, wishes: &Wishes, state: u32, arrival: u32, stretch: u32) -> u32 {
        let before = self.of_edge(of, state, arrival);
        let node = self.of_stretch(of, wishes, before, stretch);
        self.start.set(state, self.start.stretches + self.start.arrivals + arrival, node);
        node
    }

    /// The state before the phis of a block were assigned, on an edge to it.
    #[inline]
    pub fn of_edge(&mut self, of: &Candidates, state: u32, number: u32) -> u32 {
        match self.start.get(state, self.start.stretches + number) {
            Some(before) => before,
            None => self.cross(of, state, number),
        }
    }

    #[cold]
    fn cross(&mut self, of: &Candidates, state: u32, number: u32) -> u32 {
        let mut now = self.states[state as usize].clone();
        let mut copied = Vec::new();
        for (dst, src) in of.moves_of(number) {
            match (now.take(*dst), src) {
                (true, Some(src)) => copied.push(*src),
                (true, None) => now.constant = true,
                (false, _) => {}
            }
        }
        copied.into_iter().for_each(|reg| now.want(reg));
        let before = self.intern(now);
        self.start.set(state, self.start.stretches + number, before);
        before
    }

    /// What is left of a state when a call has returned, and the slots of its result that are
    /// wanted.
    pub fn of_result(&mut self, state: u32, call: &Candidate) -> (u32, u64) {
        if let Some(known) = self.results.get(&(state, call.index)) {
            return *known;
        }
        let mut now = self.states[state as usize].clone();
        let mut slots = 0;
        for k in 0..call.count.min(64) {
            slots |= u64::from(now.take(call.dst + k)) << k;
        }
        let left = (self.intern(now), slots);
        self.results.insert((state, call.index), left);
        left
    }

    /// What is wanted of the call when the function's beginning is reached in a state.
    pub fn at_beginning(&mut self, of: &Candidates, wishes: &mut Wishes, state: u32) -> u32 {
        if let Some(known) = self.begun.get(&state) {
            return *known;
        }
        let mut now = self.states[state as usize].clone();
        let ran = now.blocks.iter().any(|w| *w != 0);
        let parameters = of.parameters.iter().filter(|p| now.take(p.0));
        let arguments: Vec<(u32, u32)> = parameters.map(|p| (p.1, p.2)).collect();
        let wish = if ran || !arguments.is_empty() { wishes.add(arguments) } else { 0 };
        self.begun.insert(state, wish);
        wish
    }

    /// The state of a caller of whose call under way something is wanted.
    pub fn calling(&mut self, wishes: &mut Wishes, state: u32, wish: u32) -> u32 {
        if let Some(known) = self.called.get(&(state, wish)) {
            return *known;
        }
        let mut now = self.states[state as usize].clone();
        now.call = match now.call {
            0 => wish,
            both => wishes.add([wishes.get(both), wishes.get(wish)].concat()),
        };
        let after = self.intern(now);
        self.called.insert((state, wish), after);
        after
    }
}

impl Rest {
    /// Takes a candidate: what it uses is wanted.
    fn take(&mut self, of: &Candidates, c: &Candidate) {
        self.taken = true;
        for reg in &of.uses[c.uses.0 as usize..c.uses.1 as usize] {
            self.state.want(*reg);
        }
    }
}

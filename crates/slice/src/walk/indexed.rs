//! The way back by an index.

use super::Walker;
use super::candidates::{Candidate, Kind};
use super::remembered::After;
use super::stretch::{Deeds, Stretches};
use crate::log::{Change, Copied, Miss, Outside, Spill};
use index::extra::{self, Extra};
use index::layout::Layout;
use index::reader::Astray;
use index::{Move, Ran, Reader};
use program::inst::Inst;
use replay::observer::Effect;

impl Walker<'_, '_> {
    /// Walks back over moves that another reader has found, at least over one, and not further
    /// than to the first stretch that begins before the step `until` or there; over how many.
    pub fn back_over(
        &mut self,
        by: &mut Stretches,
        reader: &mut Reader<'_, '_>,
        moves: &[Move],
        until: u64,
    ) -> Result<usize, Astray> {
        let mut over = 0;
        while let Some(it) = moves.get(over)
            && (over == 0 || reader.left() > until)
        {
            over += match self.runs_over(by, reader, &moves[over..], until)? {
                0 => {
                    self.back(by, reader, it)?;
                    1
                }
                several => several,
            };
        }
        Ok(over)
    }

    /// The same for stretches and edges of one activation, as long as what they make of what is
    /// wanted is remembered.
    fn runs_over(
        &mut self,
        by: &mut Stretches,
        reader: &mut Reader<'_, '_>,
        moves: &[Move],
        until: u64,
    ) -> Result<usize, Astray> {
        let (function, depth) = match moves[0] {
            Move::Ran(Ran { function, depth, .. }) | Move::Edge { function, depth, .. } => (function, depth),
            _ => return Ok(0),
        };
        let f = depth as usize - 1;
        let Some(mut state) = self.remembers(by, reader, f, function) else { return Ok(0) };
        let returns = self.called_back(f).is_none();
        let Stretches { functions, automata, light, wishes, .. } = by;
        let Some(of) = &functions[function as usize] else { return Ok(0) };
        let automaton = self.automaton(automata, of, f, function);
        let mut over = 0;
        while reader.left() > until && !automaton.is_off {
            let (arrival, ran, n) = match &moves[over..] {
                [Move::Ran(ran), ..] => (None, ran, 1),
                [Move::Edge { from, to, .. }, Move::Ran(ran), ..] => (of.arrival(*from, *to), ran, 2),
                _ => break,
            };
            let here = of.stretches[ran.stretch as usize];
            let is_whole = (ran.first, ran.last) == (here.first, here.last);
            // A return may be wanted by who called back.
            if ran.depth != depth || !is_whole || !returns && matches!(here.tail, Some((Kind::Return, _))) {
                break;
            }
            over += n;
            reader.follow(ran);
            let node = automaton.of_hop(of, wishes, state, arrival, ran.stretch);
            match self.through(automaton, of, (light, wishes), reader, ran, node)? {
                After::State(after) => state = after,
                After::Left { state, candidate } => {
                    self.leave(by, reader, ran, state, candidate)?;
                    return Ok(over);
                }
            }
        }
        if over > 0 {
            by.passed = None;
            self.next = reader.left();
            self.put(f, function, state);
        }
        Ok(over)
    }

    /// Walks back over one move.
    fn back(&mut self, by: &mut Stretches, reader: &mut Reader<'_, '_>, it: &Move) -> Result<(), Astray> {
        match *it {
            Move::Ran(ref ran) => {
                reader.follow(ran);
                return self.ran(by, reader, ran);
            }
            Move::Edge { function, depth, from, to } => self.went(by, reader, function, depth, from, to),
            Move::Enter { function, depth, frame } => {
                self.enter_back(by, reader, (function, depth, frame), false);
            }
            Move::Returned { function, index, depth, callee } => {
                self.returned_back(by, reader, (function, index, depth), Some(callee));
            }
            Move::Extra(ref extra) => {
                self.next = reader.left();
                self.release_from(by, 0);
                self.extra(by, reader, Extra::clone(extra));
            }
        }
        Ok(())
    }

    fn enter_back(
        &mut self,
        by: &mut Stretches,
        reader: &Reader<'_, '_>,
        (function, depth, frame): (u32, u32, u64),
        outside: bool,
    ) {
        let copies = &reader.layout(function).copies;
        if copies.is_empty() || outside {
            self.entered_back(by, reader, (function, depth, outside), &[]);
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
        self.entered_back(by, reader, (function, depth, false), &copies);
    }

    fn extra(&mut self, by: &mut Stretches, reader: &Reader<'_, '_>, extra: Extra) {
        match extra {
            Extra::Enter { function, depth, outside, frame } => {
                self.enter_back(by, reader, (function, depth, frame), outside);
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
                self.left_program(&mut by.light, &outside, o.depth, o.direct);
            }
            Extra::Landed { function, index, depth } => self.landed(function, index, depth),
            Extra::Changed { depth, change } => {
                let change = match change {
                    extra::Change::Patch { address, len } => Change::Patch { address, len },
                    extra::Change::Moved { from, to, len } => Change::Moved { from, to, len },
                    extra::Change::Zeroed { address, len } => Change::Zeroed { address, len },
                };
                self.changed_back(&mut by.light, change, depth);
            }
            Extra::Missed(m) => {
                let extra::Miss { step, module, site, address, bytes, writer, seq, seen } = m;
                let before = self.crossings.len();
                self.missed_back(&mut by.light, &Miss { step, module, site, address, bytes, writer, seq });
                for crossing in &mut self.crossings[before..] {
                    crossing.seen = seen;
                }
            }
            Extra::Spilled { depth, argument, address, len } => {
                self.spilled_back(&mut by.light, Spill { argument, address, len }, depth);
            }
            Extra::Passed(addresses) => by.passed = Some(addresses),
        }
    }
}

impl Deeds for Reader<'_, '_> {
    #[inline]
    fn address(&mut self, ran: &Ran, c: &Candidate) -> Result<u64, Astray> {
        match c.action {
            Some(action) => self.accessed(ran, &action),
            None => Err(Astray(ran.step)),
        }
    }

    fn chose_first(&mut self, ran: &Ran, c: &Candidate) -> Result<bool, Astray> {
        match c.action {
            Some(index::layout::Action::Select { column }) => Reader::chose_first(self, ran, column),
            _ => Err(Astray(ran.step)),
        }
    }

    fn effect(&mut self, ran: &Ran, c: &Candidate, _: &Inst) -> Result<Effect, Astray> {
        match c.action {
            Some(action) => Reader::effect(self, ran, &action),
            None => Err(Astray(ran.step)),
        }
    }

    fn layout(&self, function: u32) -> Option<&Layout> {
        Some(Reader::layout(self, function))
    }
}

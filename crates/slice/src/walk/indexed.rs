//! The way back by an index.

use super::Walker;
use super::candidates::Candidate;
use super::stretch::{Deeds, Stretches};
use crate::log::{Change, Copied, Miss, Outside, Spill};
use index::extra::{self, Extra};
use index::layout::Layout;
use index::reader::Astray;
use index::{Move, Ran, Reader};
use program::inst::Inst;
use replay::observer::Effect;

impl Walker<'_, '_> {
    /// Walks back over one move of the reader.
    #[inline(always)] // for the same reason as the reader's
    pub fn back(&mut self, by: &mut Stretches, reader: &mut Reader<'_, '_>, it: Move) -> Result<(), Astray> {
        match it {
            Move::Ran(ran) => return self.ran(by, reader, &ran),
            Move::Edge { function, depth, from, to } => self.went(by, reader, function, depth, from, to),
            Move::Enter { function, depth, frame } => {
                self.enter_back(by, reader, (function, depth, frame), false);
            }
            Move::Returned { function, index, depth } => {
                let callee = reader.running();
                self.returned_back(by, reader, (function, index, depth), callee);
            }
            Move::Extra(extra) => {
                self.next = reader.left();
                self.release_from(by, 0);
                self.extra(by, reader, *extra);
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

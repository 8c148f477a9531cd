//! Walks a stream from its end to its beginning, by the index alone.
//!
//! ```text
//! forward    stretch │ edge │ stretch with a call │ enter │ … return │ returned │ …
//! backward   ◄──────────────────────────────────────────────────────────────────────
//! ```
//! Only stretches (see [`crate::layout`]) and changes of control are reported; what
//! an instruction of a stretch did is looked up when somebody wants to know, and its
//! columns are brought to the right place then. A column nobody asks about is never
//! opened.
//!
//! Where control went and what instructions did are different columns, so that two readers
//! can share the work: one goes back, the other one [follows](Reader::follow) and is asked.

use crate::column::Back;
use crate::extra::{Activation, Extra, Record};
use crate::layout::{Action, Callee, Layout, Length, Place, START};
use crate::layouts::Layouts;
use crate::relate::Guide;
use replay::observer::Effect;

/// A part of a stream's index that could be read from a file.
#[derive(Clone, Debug, Default)]
pub struct Stored<'b> {
    pub steps: u64,
    pub functions: Vec<(u32, Vec<Vec<&'b [u8]>>)>,
    /// Packed records, in order.
    pub records: Vec<&'b [u8]>,
}

/// An execution of a stretch, or what of it is not behind us yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    pub function: u32,
    pub depth: u32,
    pub stretch: u32,
    /// First and last instruction.
    pub first: u32,
    pub last: u32,
    /// Number of the first instruction's step.
    pub step: u64,
    /// Executions of the stretch behind us.
    pub turn: u64,
    /// Address of the activation's frame.
    pub frame: u64,
}

/// No stack is deeper.
const DEEPEST: usize = 1 << 24;

/// One move back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    Ran(Ran),
    Edge {
        function: u32,
        depth: u32,
        from: u32,
        to: u32,
    },
    Enter {
        function: u32,
        depth: u32,
        frame: u64,
    },
    Returned {
        function: u32,
        index: u32,
        depth: u32,
        callee: u32,
    },
    /// Boxed: ordinary moves are many, and small.
    Extra(Box<Extra>),
}

/// What is found in the gap before a stretch.
enum Gap {
    Moved(Box<Extra>),
    /// Nothing more; which stretch ran before is known.
    Known,
    /// Nothing more; the program and the columns say what ran before.
    Passed,
    End,
}

/// From a stretch to the one before.
enum Change {
    None,
    Edge { function: u32, from: u32, to: u32 },
    Enter { function: u32, frame: u64 },
    Returned { function: u32, index: u32, callee: u32 },
}

/// The index contradicts itself or the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("follow the index at step {0}: it is damaged")]
pub struct Astray(pub u64);

struct Rows<'b> {
    columns: Vec<Column<'b>>,
    /// Executions of each stretch behind us.
    turns: Vec<u64>,
}

struct Column<'b> {
    back: Back<'b>,
    /// The element for this turn, once it was looked up.
    known: Option<(u64, u64)>,
}

impl Column<'_> {
    /// The element for a turn, and whether it is only the distance from a prediction.
    #[inline]
    fn at(&mut self, turn: u64) -> Option<(u64, bool)> {
        if let Some((t, value)) = self.known
            && t == turn
        {
            return Some((value, false));
        }
        if self.back.passed() != turn {
            self.back.seek(turn);
        }
        let (value, distance) = self.back.back_near()?;
        if !distance {
            self.known = Some((turn, value));
        }
        Some((value, distance))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Behind the records of a gap; the top activation's first instruction of the
    /// stretch is known.
    Gap,
    /// In front of (an execution of) a stretch.
    Stretch,
}

/// See the module's documentation.
pub struct Reader<'b, 'l> {
    layouts: &'l Layouts<'l>,
    functions: Vec<Option<Box<Rows<'b>>>>,
    stack: Vec<Activation>,
    /// Steps not behind us.
    left: u64,
    packed: Vec<&'b [u8]>,
    records: Vec<Record>,
    phase: Phase,
    /// The stretch in front has been begun: only what is before `at` is left.
    begun: bool,
    /// The record of this gap has been looked at.
    is_met: bool,
}

impl<'b, 'l> Reader<'b, 'l> {
    /// Behind the last step.
    #[must_use]
    pub fn new(layouts: &'l Layouts<'l>, stored: &Stored<'b>) -> Reader<'b, 'l> {
        let mut functions: Vec<Option<Box<Rows<'b>>>> = (0..layouts.len()).map(|_| None).collect();
        for (function, columns) in &stored.functions {
            let Some(place) = functions.get_mut(*function as usize) else { continue };
            let layout = layouts.get(*function);
            let columns = layout
                .columns
                .iter()
                .enumerate()
                .map(|(n, kind)| {
                    let pieces = columns.get(n).cloned().unwrap_or_default();
                    Column { back: Back::new(*kind, pieces), known: None }
                })
                .collect();
            *place = Some(Box::new(Rows { columns, turns: vec![0; layout.stretches.len()] }));
        }
        Reader {
            layouts,
            functions,
            stack: Vec::new(),
            left: stored.steps,
            packed: stored.records.clone(),
            records: Vec::new(),
            phase: Phase::Gap,
            begun: false,
            is_met: false,
        }
    }

    /// Goes where another reader of the same stream is, to be asked what executions did that
    /// the other one finds from there on.
    pub fn stand_by(&mut self, other: &Reader<'_, '_>) {
        self.left = other.left;
        for (own, others) in self.functions.iter_mut().zip(&other.functions) {
            if let (Some(own), Some(others)) = (own, others) {
                own.turns.clone_from(&others.turns);
            }
        }
    }

    /// Another reader went back over an execution.
    #[inline]
    pub fn follow(&mut self, ran: &Ran) {
        self.left = ran.step;
        if let Some(Some(rows)) = self.functions.get_mut(ran.function as usize) {
            rows.turns[ran.stretch as usize] = ran.turn + 1;
        }
    }

    /// Steps not behind us.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    #[must_use]
    pub fn layout(&self, function: u32) -> &'l Layout {
        self.layouts.get(function)
    }

    fn astray(&self) -> Astray {
        Astray(self.left)
    }

    /// The record of the gap we are in, if it has one.
    #[inline]
    fn record(&mut self) -> Result<Option<&mut Record>, Astray> {
        if self.records.is_empty() {
            self.unpack()?;
        }
        Ok(self.records.last_mut().filter(|r| r.at == self.left))
    }

    #[cold]
    fn unpack(&mut self) -> Result<(), Astray> {
        while self.records.is_empty() {
            let Some(bytes) = self.packed.pop() else { return Ok(()) };
            self.records = crate::extra::unpack(bytes).ok_or(self.astray())?;
            if !self.records.iter().all(|r| self.is_sound(r)) {
                return Err(self.astray());
            }
        }
        Ok(())
    }

    /// Whether a record is about this program: a file may say anything.
    fn is_sound(&self, record: &Record) -> bool {
        let inst = |function: u32, index: u32| {
            function < self.layouts.len() && (index as usize) < self.layouts.get(function).stretch_of.len()
        };
        let stack = record.before.iter().flat_map(|b| &b.1);
        let mut stack = stack.map(|a| inst(a.function, a.at));
        stack.all(|sound| sound)
            && record.extras.iter().all(|extra| match *extra {
                Extra::Enter { function, depth, .. } => inst(function, 0) && depth > 0,
                Extra::Returned { function, index, depth } | Extra::Landed { function, index, depth } => {
                    inst(function, index) && depth > 0
                }
                Extra::Edge { function, depth, from, to } => {
                    inst(function, 0)
                        && depth > 0
                        && (from.max(to) as usize) < self.layouts.get(function).blocks.len()
                }
                Extra::Outside(ref o) => inst(o.function, o.index) && o.depth > 0,
                Extra::Spilled { depth, .. } => depth > 0,
                Extra::Changed { .. } | Extra::Missed(_) | Extra::Passed(_) => true,
            })
    }

    /// No activation that a record speaks of is deeper than those around it.
    fn is_within(&self, record: &Record) -> bool {
        let before = record.before.as_ref().map_or(0, |(keep, was)| *keep as usize + was.len());
        let most = self.stack.len().max(before) + record.extras.len() + 1;
        before <= self.stack.len().saturating_add(DEEPEST)
            && record.extras.iter().all(|extra| match *extra {
                Extra::Enter { depth, .. }
                | Extra::Returned { depth, .. }
                | Extra::Edge { depth, .. }
                | Extra::Landed { depth, .. }
                | Extra::Changed { depth, .. }
                | Extra::Spilled { depth, .. } => depth as usize <= most,
                Extra::Outside(ref o) => o.depth as usize <= most,
                Extra::Missed(_) | Extra::Passed(_) => true,
            })
    }

    /// The next move back; none at the beginning.
    ///
    /// # Errors
    /// If the index is damaged.
    // Where it is used the parts of a move stay in registers; handing over a whole one
    // would take longer than making it.
    #[inline(always)]
    pub fn back(&mut self) -> Result<Option<Move>, Astray> {
        if self.phase == Phase::Gap {
            let left = self.left;
            let none_here = match self.records.last() {
                Some(record) => record.at < left,
                None => self.packed.is_empty(),
            };
            let is_ordinary = none_here && left > 0 && !self.begun;
            let next = if is_ordinary { Gap::Passed } else { self.gap()? };
            match next {
                Gap::Moved(extra) => return Ok(Some(Move::Extra(extra))),
                Gap::End => return Ok(None),
                Gap::Known => self.phase = Phase::Stretch,
                Gap::Passed => {
                    self.phase = Phase::Stretch;
                    let depth = self.stack.len() as u32;
                    match self.change()? {
                        Change::None => {}
                        Change::Edge { function, from, to } => {
                            return Ok(Some(Move::Edge { function, depth, from, to }));
                        }
                        Change::Enter { function, frame } => {
                            return Ok(Some(Move::Enter { function, depth, frame }));
                        }
                        Change::Returned { function, index, callee } => {
                            return Ok(Some(Move::Returned { function, index, depth, callee }));
                        }
                    }
                }
            }
        }
        Ok(Some(Move::Ran(self.stretch()?)))
    }

    /// A gap that has a record, or might have one.
    #[inline(never)]
    fn gap(&mut self) -> Result<Gap, Astray> {
        let left = self.left;
        if self.records.last().is_none_or(|r| r.at >= left) && self.record()?.is_some() {
            if !self.is_met && !self.records.last().is_some_and(|r| self.is_within(r)) {
                return Err(self.astray());
            }
            self.is_met = true;
            let Some(record) = self.records.last_mut() else { return Err(Astray(left)) };
            if let Some(extra) = record.extras.pop() {
                return Ok(Gap::Moved(Box::new(extra)));
            }
            let before = record.before.take();
            self.records.pop();
            self.is_met = false;
            if let Some((keep, was)) = before {
                self.stack.truncate(keep as usize);
                self.stack.extend(was);
                self.begun = false;
                return Ok(if left == 0 { Gap::End } else { Gap::Known });
            }
        }
        Ok(match (left, self.begun) {
            (0, _) => Gap::End,
            (_, true) => Gap::Known,
            (_, false) => Gap::Passed,
        })
    }

    /// From the first instruction of a stretch to what ran before it.
    fn change(&mut self) -> Result<Change, Astray> {
        let astray = self.astray();
        let top = self.stack.last_mut().ok_or(astray)?;
        let function = top.function;
        let layout = self.layouts.get(function);
        let stretch = layout.stretch_of.get(top.at as usize).ok_or(astray)?;
        let stretch = &layout.stretches[*stretch as usize];
        let rows = self.functions[function as usize].as_mut().ok_or(astray)?;
        let (start, _) = layout.blocks[stretch.block as usize];
        if stretch.start > start {
            top.at = stretch.start - 1;
            let callee = match layout.callee(top.at).ok_or(astray)? {
                Callee::Outside => return Ok(Change::None),
                Callee::Linked(f) => f,
                Callee::Column(c) => match rows.columns[c as usize].back.back().ok_or(astray)? {
                    0 => return Ok(Change::None),
                    f => u32::try_from(f - 1).ok().filter(|f| *f < self.layouts.len()).ok_or(astray)?,
                },
            };
            let inner = self.layouts.get(callee);
            let index = top.at;
            let frame = match layout.grows {
                None => inner.frame_below(top.frame),
                Some(c) => top.frame.wrapping_sub(rows.columns[c as usize].back.back().ok_or(astray)?),
            };
            let exit = match inner.exit_column {
                None => 0,
                Some(c) => {
                    let rows = self.functions[callee as usize].as_mut().ok_or(astray)?;
                    rows.columns[c as usize].back.back().ok_or(astray)? as usize
                }
            };
            let at = *inner.exits.get(exit).ok_or(astray)?;
            if self.stack.len() > DEEPEST {
                return Err(astray);
            }
            self.stack.push(Activation { function: callee, at, frame });
            return Ok(Change::Returned { function, index, callee });
        }
        let entry = &layout.entries[stretch.block as usize];
        let from = match entry.column {
            None => entry.from.first(),
            Some(c) => entry.from.get(rows.columns[c as usize].back.back().ok_or(astray)? as usize),
        };
        let from = *from.ok_or(astray)?;
        if from == START {
            let frame = top.frame;
            self.stack.pop();
            return Ok(Change::Enter { function, frame });
        }
        let to = stretch.block;
        top.at = layout.blocks[from as usize].1;
        Ok(Change::Edge { function, from, to })
    }

    /// The stretch that ends at the top activation's instruction, as far back as
    /// nothing else happened in between.
    #[inline(always)]
    fn stretch(&mut self) -> Result<Ran, Astray> {
        let astray = self.astray();
        let depth = self.stack.len() as u32;
        let record = match self.records.last() {
            Some(r) => r.at,
            None => self.next_record()?,
        };
        let top = self.stack.last_mut().ok_or(astray)?;
        let layout = self.layouts.get(top.function);
        let number = *layout.stretch_of.get(top.at as usize).ok_or(astray)?;
        let start = layout.stretches[number as usize].start;
        let rows = self.functions[top.function as usize].as_mut().ok_or(astray)?;
        let turns = &mut rows.turns[number as usize];
        if !self.begun {
            *turns += 1;
        }
        let mut count = u64::from(top.at - start) + 1;
        let last = top.at;
        self.begun = record + count > self.left;
        if self.begun {
            count = self.left - record.min(self.left);
        }
        if count == 0 || count > self.left {
            return Err(astray);
        }
        let first = last + 1 - count as u32;
        // If something is left of it: the instruction before.
        top.at = if self.begun && first > start { first - 1 } else { first };
        self.begun &= first > start;
        self.left -= count;
        self.phase = Phase::Gap;
        let turn = *turns - 1;
        Ok(Ran {
            function: top.function,
            depth,
            stretch: number,
            first,
            last,
            step: self.left,
            turn,
            frame: top.frame,
        })
    }

    /// The number of the step behind the next record; 0 if there is none.
    #[cold]
    fn next_record(&mut self) -> Result<u64, Astray> {
        self.unpack()?;
        Ok(self.records.last().map_or(0, |r| r.at))
    }

    /// The place of an address in an execution.
    #[inline]
    fn place(&mut self, ran: &Ran, place: Place) -> Result<u64, Astray> {
        match place {
            Place::Fixed(at) => Ok(at),
            Place::Frame(offset) => Ok(ran.frame.wrapping_add(offset)),
            Place::Column { column, offset } => Ok(self.element(ran, column)?.wrapping_add(offset)),
        }
    }

    #[inline]
    fn element(&mut self, ran: &Ran, column: u32) -> Result<u64, Astray> {
        let astray = self.astray();
        let rows = self.functions[ran.function as usize].as_mut().ok_or(astray)?;
        match rows.columns[column as usize].at(ran.turn).ok_or(astray)? {
            (value, false) => Ok(value),
            (distance, true) => self.predicted(ran, column, distance),
        }
    }

    /// A number that is stored as its distance from another column's, or the frame's.
    fn predicted(&mut self, ran: &Ran, column: u32, distance: u64) -> Result<u64, Astray> {
        let astray = self.astray();
        let guide = self.layouts.get(ran.function).guides[column as usize].ok_or(astray)?;
        let prediction = match guide {
            Guide::Frame => ran.frame,
            // In the same stretch all columns are at the same turn.
            Guide::Column { column, stretch, .. } if stretch == ran.stretch => {
                guide.apply(self.element(ran, column)?)
            }
            // The other one's last execution is the next that the way back will meet.
            Guide::Column { column, stretch, .. } => {
                let rows = self.functions[ran.function as usize].as_mut().ok_or(astray)?;
                let turn = rows.turns[stretch as usize];
                let other = &mut rows.columns[column as usize];
                match other.at(turn) {
                    Some((value, false)) => guide.apply(value),
                    None if !other.back.is_damaged() => guide.apply(0),
                    _ => return Err(astray),
                }
            }
        };
        let value = prediction.wrapping_add(distance);
        let rows = self.functions[ran.function as usize].as_mut().ok_or(astray)?;
        rows.columns[column as usize].known = Some((ran.turn, value));
        Ok(value)
    }

    fn length(&mut self, ran: &Ran, length: Length) -> Result<u64, Astray> {
        match length {
            Length::Fixed(len) => Ok(len),
            Length::Column(column) => self.element(ran, column),
        }
    }

    /// What an action did to memory in an execution.
    ///
    /// # Errors
    /// If the index is damaged.
    #[inline]
    pub fn effect(&mut self, ran: &Ran, action: &Action) -> Result<Effect, Astray> {
        Ok(match *action {
            Action::Load { at, len } => Effect::Load { address: self.place(ran, at)?, len },
            Action::Store { at, len } => Effect::Store { address: self.place(ran, at)?, len },
            Action::Update { at, len } => Effect::Update { address: self.place(ran, at)?, len, stored: true },
            Action::Exchange { at, len, stored } => {
                Effect::Update { address: self.place(ran, at)?, len, stored: self.element(ran, stored)? != 0 }
            }
            Action::Copy { to, from, len } => Effect::Copy {
                to: self.place(ran, to)?,
                from: self.place(ran, from)?,
                len: self.length(ran, len)?,
            },
            Action::Fill { to, len } => {
                Effect::Fill { to: self.place(ran, to)?, len: self.length(ran, len)? }
            }
            Action::Select { .. } => Effect::None,
        })
    }

    /// The address that a load or a store accessed in an execution.
    ///
    /// # Errors
    /// If the index is damaged, or the action is another one.
    #[inline]
    pub fn accessed(&mut self, ran: &Ran, action: &Action) -> Result<u64, Astray> {
        match *action {
            Action::Load { at, .. } | Action::Store { at, .. } => self.place(ran, at),
            _ => Err(self.astray()),
        }
    }

    /// Whether a choice took its first value.
    ///
    /// # Errors
    /// If the index is damaged.
    pub fn chose_first(&mut self, ran: &Ran, column: u32) -> Result<bool, Astray> {
        Ok(self.element(ran, column)? != 0)
    }
}

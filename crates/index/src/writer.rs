//! Writes the index of one stream while it is replayed.
//!
//! For every step the writer works out what the reader, coming back from the other
//! side, would take for the step before: the instruction above, the block that the
//! column names, the function's caller. Where that is what happened nothing more is
//! written. Where it is not (a jump out of a function, a call from outside, the end)
//! the stack as it was goes into a record. So the reader cannot go astray, whatever a
//! program does.

use crate::column::{self, Builder, Kind, Size};
use crate::extra::{Activation, Extra, PACKED, Record};
use crate::layout::{Action, Callee, Layout, Length, Place, START};
use crate::layouts::Layouts;
use crate::measure::Measured;
use crate::relate::Guide;
use replay::observer::Effect;

/// The columns of one function.
struct Rows<'l> {
    layout: &'l Layout,
    columns: Vec<Builder>,
    /// For each instruction its action, if it has one.
    actions: Vec<Option<Acted>>,
    /// Whether an instruction ends a stretch.
    ends: Vec<bool>,
}

/// An action, and the columns it is the first of its stretch to use.
#[derive(Clone, Copy)]
struct Acted {
    action: Action,
    first: [bool; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Edge { from: u32, to: u32 },
    Enter,
    Returned { index: u32 },
}

/// The finished index of a stream, still in pieces.
#[derive(Clone, Debug, Default)]
pub struct Written {
    pub steps: u64,
    /// Functions that ran, each with the pieces of its columns.
    pub functions: Vec<(u32, Vec<Vec<column::Piece>>)>,
    /// Packed records, in order.
    pub records: Vec<Vec<u8>>,
    /// Packed outputs, in order: whoever replays puts them here.
    pub outputs: Vec<Vec<u8>>,
    pub size: Size,
    /// If the writer was to measure.
    pub measured: Measured,
}

/// See the module's documentation.
pub struct Writer<'l> {
    layouts: &'l Layouts<'l>,
    functions: Vec<Option<Box<Rows<'l>>>>,
    stack: Vec<Activation>,
    /// Activations that were there before the gap between two steps and still are.
    keep: usize,
    /// Those that were and are not, the innermost first.
    popped: Vec<Activation>,
    control: Option<Control>,
    /// What happened since the last step.
    extras: Vec<Extra>,
    passed: Option<Vec<u64>>,
    irregular: bool,
    /// The last step can only be followed by the next instruction.
    plain: bool,
    steps: u64,
    records: Vec<Record>,
    packed: Vec<Vec<u8>>,
    trouble: Option<String>,
    measures: bool,
}

impl<'l> Writer<'l> {
    #[must_use]
    pub fn new(layouts: &'l Layouts<'l>) -> Writer<'l> {
        Writer {
            layouts,
            functions: (0..layouts.len()).map(|_| None).collect(),
            stack: Vec::new(),
            keep: 0,
            popped: Vec::new(),
            control: None,
            extras: Vec::new(),
            passed: None,
            irregular: false,
            plain: false,
            steps: 0,
            records: Vec::new(),
            packed: Vec::new(),
            trouble: None,
            measures: false,
        }
    }

    /// Also measures what other means make of the same.
    #[must_use]
    pub fn measuring(mut self) -> Writer<'l> {
        self.measures = true;
        self
    }

    fn rows(&mut self, function: u32) -> &mut Rows<'l> {
        let (layouts, measures) = (self.layouts, self.measures);
        self.functions[function as usize]
            .get_or_insert_with(|| Box::new(Rows::new(layouts.get(function), measures)))
    }

    /// An instruction ran. `first` says whether a choice took its first value.
    #[inline]
    pub fn step(
        &mut self,
        function: u32,
        index: u32,
        depth: u32,
        effect: Effect,
        first: impl FnOnce() -> bool,
    ) {
        match self.stack.last_mut() {
            Some(top)
                if self.plain
                    && self.extras.is_empty()
                    && top.at + 1 == index
                    && top.function == function =>
            {
                top.at = index;
            }
            _ => self.gap(function, index, depth),
        }
        self.steps += 1;
        let frame = self.stack.last().map_or(0, |top| top.frame);
        let Some(rows) = &mut self.functions[function as usize] else { return };
        self.plain = !rows.ends[index as usize];
        if let Some(acted) = rows.actions[index as usize]
            && !rows.act(acted, effect, matches!(acted.action, Action::Select { .. }) && first(), frame)
            && self.trouble.is_none()
        {
            self.trouble = Some(format!("instruction {index} of function {function} did {effect:?}"));
        }
    }

    /// Control went over an edge.
    pub fn edge(&mut self, function: u32, depth: u32, from: u32, to: u32) {
        if self.is_ordinary() && self.stack.len() == depth as usize {
            self.control = Some(Control::Edge { from, to });
        } else {
            self.demote();
            self.extra(Extra::Edge { function, depth, from, to });
        }
    }

    /// A function was entered.
    pub fn enter(&mut self, function: u32, depth: u32, frame: u64, outside: bool) {
        // No instruction of it has run yet.
        let entered = Activation { function, at: u32::MAX, frame };
        if !outside && self.is_ordinary() && self.stack.len() + 1 == depth as usize {
            self.control = Some(Control::Enter);
        } else {
            self.demote();
            self.extra(Extra::Enter { function, depth, outside, frame });
            self.pop_to((depth as usize).saturating_sub(1));
        }
        self.stack.push(entered);
    }

    /// A call of the program has returned.
    pub fn returned(&mut self, function: u32, index: u32, depth: u32) {
        if self.is_ordinary() && self.stack.len() == depth as usize + 1 {
            self.control = Some(Control::Returned { index });
        } else {
            self.demote();
            self.extra(Extra::Returned { function, index, depth });
        }
        self.pop_to(depth as usize);
    }

    /// Anything else. Calls from outside and jumps change the stack.
    pub fn extra(&mut self, extra: Extra) {
        match &extra {
            Extra::Passed(addresses) => {
                self.passed = Some(addresses.clone());
                return;
            }
            Extra::Outside(o) if self.stack.len() > o.depth as usize => {
                self.demote();
                self.pop_to(o.depth as usize);
            }
            Extra::Landed { function, index, depth } => {
                self.demote();
                let frame = self.stack.get(*depth as usize - 1).map_or(0, |a| a.frame);
                self.pop_to(*depth as usize - 1);
                self.stack.push(Activation { function: *function, at: *index, frame });
            }
            _ => {}
        }
        self.extras.push(extra);
    }

    /// Whether the call that the last step was came back without calling back.
    #[must_use]
    pub fn is_direct(&self, depth: u32) -> bool {
        self.control.is_none()
            && self.popped.is_empty()
            && self.keep == self.stack.len()
            && self.stack.len() == depth as usize
            && self.extras.iter().all(|e| matches!(e, Extra::Changed { .. }))
    }

    fn is_ordinary(&self) -> bool {
        self.control.is_none() && self.extras.is_empty() && self.popped.is_empty()
    }

    fn pop_to(&mut self, depth: usize) {
        while self.stack.len() > depth {
            let Some(gone) = self.stack.pop() else { return };
            if self.stack.len() < self.keep {
                self.popped.push(gone);
                self.keep = self.stack.len();
            }
        }
    }

    /// Between the last step and this one something other than the next instruction
    /// happened, or might have.
    fn gap(&mut self, function: u32, index: u32, depth: u32) {
        self.rows(function);
        let regular = !self.irregular
            && self.stack.len() == depth as usize
            && self.stack.last().is_some_and(|top| top.function == function)
            && self.is_regular(index);
        self.close(regular, depth as usize);
        match self.stack.last_mut() {
            Some(top) if top.function == function => top.at = index,
            _ => {
                let text = format!("step {} is in a function that was not entered", self.steps);
                self.trouble.get_or_insert(text);
                self.stack.push(Activation { function, at: index, frame: 0 });
            }
        }
        self.keep = self.stack.len();
    }

    /// Whether the reader finds the way back by itself; if so, what it needs for that
    /// is in the columns now.
    fn is_regular(&mut self, index: u32) -> bool {
        let Some(&top) = self.stack.last() else { return false };
        let Some(rows) = &mut self.functions[top.function as usize] else { return false };
        let layout = rows.layout;
        match self.control {
            None => {
                if !self.popped.is_empty() || self.keep != self.stack.len() || top.at.wrapping_add(1) != index
                {
                    return false;
                }
                let stretch = &layout.stretches[layout.stretch_of[top.at as usize] as usize];
                if top.at + 1 < stretch.end {
                    return true;
                }
                match layout.callee(top.at) {
                    Some(Callee::Outside) => true,
                    Some(Callee::Column(c)) => {
                        rows.columns[c as usize].push(0);
                        true
                    }
                    _ => false,
                }
            }
            Some(Control::Edge { from, to }) => {
                if layout.blocks[to as usize].0 != index || layout.blocks[from as usize].1 != top.at {
                    return false;
                }
                rows.came_from(from, to)
            }
            Some(Control::Enter) => {
                layout.blocks.first().is_some_and(|b| b.0 == index) && rows.came_from(START, 0)
            }
            Some(Control::Returned { index: call }) => {
                let [callee] = self.popped[..] else { return false };
                if top.at != call || call + 1 != index {
                    return false;
                }
                let named = layout.callee(call);
                let (grows, caller_frame) = (layout.grows, top.frame);
                match named {
                    Some(Callee::Linked(f)) if f == callee.function => {}
                    Some(Callee::Column(_)) => {}
                    _ => return false,
                }
                let Some(inner) = &mut self.functions[callee.function as usize] else { return false };
                let Some(exit) = inner.layout.exits.iter().position(|e| *e == callee.at) else {
                    return false;
                };
                if grows.is_none() && inner.layout.frame_below(caller_frame) != callee.frame {
                    return false;
                }
                if let Some(c) = inner.layout.exit_column {
                    inner.columns[c as usize].push(exit as u64);
                }
                let Some(rows) = &mut self.functions[top.function as usize] else { return false };
                if let Some(Callee::Column(c)) = named {
                    rows.columns[c as usize].push(u64::from(callee.function) + 1);
                }
                if let Some(c) = grows {
                    rows.columns[c as usize].push(caller_frame.wrapping_sub(callee.frame));
                }
                true
            }
        }
    }

    /// Puts down what happened in the gap, if there is anything to say.
    fn close(&mut self, regular: bool, depth: usize) {
        let control = self.control.take();
        let mut extras = std::mem::take(&mut self.extras);
        if let Some(passed) = self.passed.take() {
            extras.insert(0, Extra::Passed(passed));
        }
        let mut before = None;
        if !regular {
            let mut was: Vec<Activation> = self.stack[..self.keep.min(self.stack.len())].to_vec();
            was.extend(self.popped.iter().rev());
            // In the activation that goes on another instruction comes next.
            let keep = self.keep.min(depth.saturating_sub(1)).min(was.len());
            self.pad(was.last().copied());
            if let Some(extra) = control.and_then(|c| self.as_extra(c)) {
                extras.insert(0, extra);
            }
            before = Some((keep as u32, was.split_off(keep)));
        }
        self.popped.clear();
        self.irregular = false;
        if before.is_some() || !extras.is_empty() {
            self.records.push(Record { at: self.steps, before, extras });
            if self.records.len() == PACKED {
                self.pack();
            }
        }
    }

    /// The gap is out of the ordinary: the reader must be told all of it.
    fn demote(&mut self) {
        self.irregular = true;
        if let Some(extra) = self.control.take().and_then(|c| self.as_extra(c)) {
            self.extras.insert(0, extra);
        }
    }

    /// An ordinary change of control, just made, that the reader would not find.
    fn as_extra(&self, control: Control) -> Option<Extra> {
        let depth = self.stack.len() as u32;
        let Activation { function, frame, .. } = *self.stack.last()?;
        Some(match control {
            Control::Edge { from, to } => Extra::Edge { function, depth, from, to },
            Control::Enter => Extra::Enter { function, depth, outside: false, frame },
            Control::Returned { index } => Extra::Returned { function, index, depth },
        })
    }

    /// The instructions behind `at` in its stretch did not run: their columns get an
    /// element all the same.
    fn pad(&mut self, cut: Option<Activation>) {
        let Some(cut) = cut.filter(|c| c.at != u32::MAX) else { return };
        let Some(rows) = &mut self.functions[cut.function as usize] else { return };
        let stretch = rows.layout.stretch_of[cut.at as usize];
        for index in cut.at + 1..rows.layout.stretches[stretch as usize].end {
            if let Some(acted) = rows.actions[index as usize] {
                rows.pad(acted, cut.frame);
            }
        }
    }

    fn pack(&mut self) {
        if !self.records.is_empty() {
            self.packed.extend(crate::extra::pack(&self.records));
            self.records.clear();
        }
    }

    /// The stream has ended.
    ///
    /// # Errors
    /// If the program did something that the index cannot say.
    pub fn finish(mut self) -> Result<Written, String> {
        self.close(false, 0);
        self.pack();
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        let mut written = Written { steps: self.steps, records: self.packed, ..Written::default() };
        for (number, rows) in self.functions.into_iter().enumerate() {
            let Some(rows) = rows else { continue };
            let mut columns = Vec::new();
            for builder in rows.columns {
                let (pieces, size, measured) = builder.finish();
                written.measured.join(&measured);
                written.size.symbols += size.symbols;
                written.size.bytes += size.bytes;
                written.size.work.checks += size.work.checks;
                written.size.work.folds += size.work.folds;
                columns.push(pieces);
            }
            written.functions.push((number as u32, columns));
        }
        Ok(written)
    }
}

impl<'l> Rows<'l> {
    fn new(layout: &'l Layout, measures: bool) -> Rows<'l> {
        let mut actions = vec![None; layout.stretch_of.len()];
        let mut ends = vec![false; layout.stretch_of.len()];
        let mut used = vec![false; layout.columns.len()];
        for stretch in &layout.stretches {
            ends[stretch.end as usize - 1] = true;
            for (index, action) in &stretch.actions {
                let mut first = [false; 2];
                for (place, first) in places(action).into_iter().zip(&mut first) {
                    if let Some(Place::Column { column, .. }) = place {
                        *first = !std::mem::replace(&mut used[column as usize], true);
                    }
                }
                actions[*index as usize] = Some(Acted { action: *action, first });
            }
        }
        let columns = layout.columns.iter().zip(&layout.guides).map(|(kind, guide)| {
            let builder = Builder::new(*kind);
            let builder = if guide.is_some() { builder.predicted() } else { builder };
            if measures { builder.measured() } else { builder }
        });
        let columns = columns.collect();
        Rows { layout, columns, actions, ends }
    }

    /// Notes where control came from; false if there is no such way.
    fn came_from(&mut self, from: u32, to: u32) -> bool {
        let Some(entry) = self.layout.entries.get(to as usize) else { return false };
        let Some(place) = entry.from.iter().position(|f| *f == from) else { return false };
        if let Some(c) = entry.column {
            self.columns[c as usize].push(place as u64);
        }
        true
    }

    /// Notes what an instruction did; false if that is not what its layout says.
    #[inline]
    fn act(&mut self, acted: Acted, effect: Effect, chose_first: bool, frame: u64) -> bool {
        let first = acted.first;
        match (acted.action, effect) {
            (Action::Load { at, len }, Effect::Load { address, len: n })
            | (Action::Store { at, len }, Effect::Store { address, len: n })
            | (Action::Update { at, len }, Effect::Update { address, len: n, stored: true }) => {
                len == n && self.place(at, first[0], address, frame)
            }
            (Action::Exchange { at, len, stored }, Effect::Update { address, len: n, stored: did }) => {
                self.columns[stored as usize].push(did.into());
                len == n && self.place(at, first[0], address, frame)
            }
            (Action::Copy { to, from, len }, Effect::Copy { to: t, from: f, len: n }) => {
                self.length(len, n)
                    && self.place(to, first[0], t, frame)
                    && self.place(from, first[1], f, frame)
            }
            (Action::Fill { to, len }, Effect::Fill { to: t, len: n }) => {
                self.length(len, n) && self.place(to, first[0], t, frame)
            }
            (Action::Select { column }, _) => {
                self.columns[column as usize].push(chose_first.into());
                true
            }
            _ => false,
        }
    }

    #[inline]
    fn place(&mut self, place: Place, first: bool, address: u64, frame: u64) -> bool {
        match place {
            Place::Fixed(at) => at == address,
            Place::Frame(offset) => frame.wrapping_add(offset) == address,
            Place::Column { column, offset } => {
                let value = address.wrapping_sub(offset);
                if first {
                    let prediction = self.prediction(column, frame);
                    self.columns[column as usize].push_near(value, prediction);
                }
                self.columns[column as usize].before() == value
            }
        }
    }

    /// What the next number of a column is predicted to be.
    #[inline]
    fn prediction(&self, column: u32, frame: u64) -> u64 {
        match self.layout.guides[column as usize] {
            None => 0,
            Some(Guide::Frame) => frame,
            Some(guide @ Guide::Column { column, .. }) => guide.apply(self.columns[column as usize].before()),
        }
    }

    fn length(&mut self, length: Length, n: u64) -> bool {
        match length {
            Length::Fixed(len) => len == n,
            Length::Column(c) => {
                self.columns[c as usize].push(n);
                true
            }
        }
    }

    fn pad(&mut self, acted: Acted, frame: u64) {
        for (place, first) in places(&acted.action).into_iter().zip(acted.first) {
            if let (Some(Place::Column { column, .. }), true) = (place, first) {
                let prediction = self.prediction(column, frame);
                let column = &mut self.columns[column as usize];
                column.push_near(column.before(), prediction);
            }
        }
        match acted.action {
            Action::Select { column }
            | Action::Exchange { stored: column, .. }
            | Action::Copy { len: Length::Column(column), .. }
            | Action::Fill { len: Length::Column(column), .. } => {
                debug_assert_eq!(self.layout.columns[column as usize], Kind::Plain);
                self.columns[column as usize].push(0);
            }
            _ => {}
        }
    }
}

/// The addresses an action is made from.
fn places(action: &Action) -> [Option<Place>; 2] {
    match *action {
        Action::Load { at, .. }
        | Action::Store { at, .. }
        | Action::Update { at, .. }
        | Action::Exchange { at, .. }
        | Action::Fill { to: at, .. } => [Some(at), None],
        Action::Copy { to, from, .. } => [Some(to), Some(from)],
        Action::Select { .. } => [None, None],
    }
}

//! Questions as people ask them: about a line, a byte of output, the failure.

use crate::Result;
use crate::criterion::{Criterion, Occurrence, Wanted};
use crate::slicer::Slicer;
use externals::{Data, FormatArgs, flag};
use program::inst::{Call, Inst, Operand, Reg};
use program::model::{Home, SymbolKind};
use replay::io::IoEvent;
use replay::machine::End;
use replay::observer::{Effect, ExternalCall, Observer, View};
use replay::vars::Bindings;

impl Slicer<'_> {
    /// All that the last executions of a line's instructions used.
    ///
    /// # Errors
    /// If replay fails.
    pub fn ask_line(&self, file: &str, line: u32) -> Result<Vec<Criterion>> {
        let last = self.last_occurrences(&self.sites_at(file, line))?;
        Ok(last.into_iter().map(|(_, at)| Criterion { at, wanted: vec![Wanted::All] }).collect())
    }

    /// A variable's value before a line ran for the last time; none if the line
    /// never ran, or the variable has no place to look at there.
    ///
    /// # Errors
    /// If replay fails.
    pub fn ask_variable(&self, file: &str, line: u32, name: &str) -> Result<Option<Criterion>> {
        let Some(visit) = self.last_visit(file, line)? else { return Ok(None) };
        for step in visit.first.step..=visit.last.step {
            let at = Occurrence { step, ..visit.first };
            let machine = self.machine_at(at)?;
            let Some(view) = machine.view() else { continue };
            if !self.sites_at(file, line).iter().any(|s| {
                (s.module, s.function, s.index) == (view.code.module, view.code.function, view.index)
            }) {
                continue;
            }
            if let Some(wanted) = variable_at(&view, name) {
                return Ok(Some(Criterion { at, wanted }));
            }
        }
        Ok(None)
    }

    /// What made a byte of an output: `stdout`, `stderr`, or a file by the end of
    /// its path. None if no recorded call wrote that byte.
    ///
    /// # Errors
    /// If replay fails.
    pub fn ask_output(&self, sink: &str, offset: u64) -> Result<Option<Criterion>> {
        for stream in 0..self.process.streams.len() as u32 {
            let io = self.io(stream)?;
            let found = io.events.iter().rev().find(|e| {
                let source = &io.sources[e.source];
                let named = recording::event::source::name(source.kind) == sink
                    || std::path::Path::new(&source.name).ends_with(sink);
                e.out && named && offset >= e.offset && offset - e.offset < e.length
            });
            if let Some(event) = found {
                return self.blame(stream, event, (offset - event.offset) as usize).map(Some);
            }
        }
        Ok(None)
    }

    /// The argument of an output call that made byte `k` of it.
    fn blame(&self, stream: u32, event: &IoEvent, k: usize) -> Result<Criterion> {
        let at = Occurrence { stream, step: event.instruction.saturating_sub(1) };
        let mut machine = self.machine_at(at)?;
        let mut caller = Caller { event, k, wanted: None };
        // A call that calls back takes more steps; its arguments are the same.
        machine.run(&mut caller, at.step + 1)?;
        Ok(Criterion { at, wanted: caller.wanted.unwrap_or_else(|| vec![Wanted::All]) })
    }

    /// Where the process failed: the access that crashed, the call that aborted,
    /// or else what decided the exit status. None if that is not in the
    /// recording.
    ///
    /// # Errors
    /// If replay fails.
    pub fn ask_failure(&self) -> Result<Option<Criterion>> {
        for stream in 0..self.process.streams.len() as u32 {
            let Some(End::Crash { .. }) = self.end(stream)? else { continue };
            let step = self.steps(stream)?;
            if let Some(summary) = self.summary(stream) {
                let Some((function, index, _)) = summary.unfinished else { continue };
                let is_call = matches!(self.facts.inst(function, index), Inst::Call(_));
                let step = if is_call { step.saturating_sub(1) } else { step };
                return Ok(Some(Criterion { at: Occurrence { stream, step }, wanted: vec![Wanted::All] }));
            }
            let machine = self.machine_at(Occurrence { stream, step })?;
            let Some(view) = machine.view() else { continue };
            // A call out of the program has run, and has not come back.
            let step = if matches!(view.inst(), Inst::Call(_)) { step.saturating_sub(1) } else { step };
            return Ok(Some(Criterion { at: Occurrence { stream, step }, wanted: vec![Wanted::All] }));
        }
        for stream in 0..self.process.streams.len() as u32 {
            if let Some(reader) = self.reader(stream)?
                && let Ok(found) = self.end_by_index(reader)?
            {
                let Some(step) = found else { continue };
                return Ok(Some(Criterion { at: Occurrence { stream, step }, wanted: vec![Wanted::All] }));
            }
            let checkpoints = &self.prepared(stream)?.checkpoints;
            for index in (0..checkpoints.len()).rev() {
                let mut ends = Ends(None);
                checkpoints.replay(index, &mut ends)?;
                if let Some(step) = ends.0 {
                    let at = Occurrence { stream, step };
                    return Ok(Some(Criterion { at, wanted: vec![Wanted::All] }));
                }
            }
        }
        Ok(None)
    }
}

/// Where a variable's value is, before the instruction of `view`.
fn variable_at(view: &View<'_>, name: &str) -> Option<Vec<Wanted>> {
    let function = view.function();
    let bindings = Bindings::of(function);
    let size =
        |ty: Option<u32>| ty.and_then(|t| view.module().types.get(t as usize)).map_or(8, |t| t.size.max(1));
    for (number, variable) in function.variables.iter().enumerate().filter(|(_, v)| v.name == name) {
        let mut wanted = Vec::new();
        for binding in bindings.at(view.index, number as u32) {
            let (skip, len) = binding
                .part
                .map_or((0, size(variable.ty)), |(o, n)| (u64::from(o / 8), u64::from(n.div_ceil(8))));
            let memory = |address: u64| Wanted::Memory { address: address.wrapping_add(skip), len };
            match binding.home {
                Home::Value(Operand::Reg(r), ty) => {
                    wanted.push(Wanted::Registers((r..r + ty.slots()).collect()));
                }
                // A constant comes from nowhere else than the line itself.
                Home::Value(..) => wanted.push(Wanted::Ran),
                Home::Memory(o, d) => wanted.push(memory(view.value(o).wrapping_add_signed(d))),
                Home::Frame(d) => wanted.push(memory(view.frame.wrapping_add(d))),
                Home::Nowhere => {}
            }
        }
        if !wanted.is_empty() {
            return Some(wanted);
        }
    }
    if function.variables.iter().any(|v| v.name == name) {
        return None;
    }
    view.module().symbols.iter().enumerate().find(|(_, s)| s.name == name).and_then(|(i, s)| match s.kind {
        SymbolKind::Data { size, .. } => {
            let address = view.image.symbol(view.code.module, i as u32);
            Some(vec![Wanted::Memory { address, len: size.max(1) }])
        }
        _ => None,
    })
}

/// Waits for an output call.
struct Caller<'e> {
    event: &'e IoEvent,
    k: usize,
    wanted: Option<Vec<Wanted>>,
}

impl Observer for Caller<'_> {
    const STEPS: bool = false;

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let Inst::Call(inst) = view.inst() else { return };
        let e = self.event;
        let known = call.known;
        if let (Some(formatted), Some(format)) = (&e.format, known.and_then(|k| k.format)) {
            let part = formatted.parts.iter().find(|p| p.output.contains(&self.k));
            self.wanted = part.and_then(|part| match (part.arg, format.args) {
                (Some(number), FormatArgs::From(slot)) => {
                    let (reg, at) = slot_of(inst, u32::from(slot) + number)?;
                    let text = at_format(view, call, format.format, part.format.clone());
                    let mut wanted = vec![Wanted::Registers(vec![reg])];
                    if text.last() == Some(&b's') {
                        let byte = view.value(at).wrapping_add((self.k - part.output.start) as u64);
                        wanted.push(Wanted::Memory { address: byte, len: 1 });
                    }
                    Some(wanted)
                }
                (None, _) => Some(vec![Wanted::Ran]),
                (Some(_), FormatArgs::List(_)) => None,
            });
            return;
        }
        if e.address != 0 {
            let address = e.address.wrapping_add(self.k as u64);
            self.wanted = Some(vec![Wanted::Memory { address, len: 1 }]);
        } else if matches!(known.and_then(|k| k.io).map(|io| io.data), Some(Data::Byte)) {
            self.wanted = slot_of(inst, 0).map(|(reg, _)| vec![Wanted::Registers(vec![reg])]);
        }
    }
}

/// The register of an argument slot, and the argument.
fn slot_of(call: &Call, slot: u32) -> Option<(Reg, Operand)> {
    let mut at = 0;
    for arg in &call.args {
        let n = arg.ty.slots();
        if slot < at + n {
            return match arg.value {
                Operand::Reg(r) => Some((r + slot - at, arg.value)),
                _ => None,
            };
        }
        at += n;
    }
    None
}

fn at_format(view: &View<'_>, call: &ExternalCall<'_>, slot: u8, range: std::ops::Range<usize>) -> Vec<u8> {
    let at = call.args.get(slot as usize).copied().unwrap_or(0);
    let text = view.memory.peek_string(at, range.end);
    text.get(range).unwrap_or_default().to_vec()
}

/// The last return from `main`, or call that ends the process.
struct Ends(Option<u64>);

impl Observer for Ends {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        let ends = match view.inst() {
            Inst::Return { .. } => view.depth == 1 && view.function().name == "main",
            Inst::Call(c) => {
                let target = view.value(c.callee);
                view.image.function_at(target).is_none()
                    && view.image.external_at(target).and_then(|e| e.1).is_some_and(|k| k.has(flag::EXITS))
            }
            _ => false,
        };
        if ends {
            self.0 = Some(view.count);
        }
    }
}

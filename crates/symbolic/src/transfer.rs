//! Input transfers become variables; output transfers are recorded with their terms.

use crate::condition::Reason;
use crate::engine::Engine;
use crate::inputs::Origin;
use crate::observer::StepObserver;
use crate::output::Output;
use externals::Data;
use replay::memory::Memory;
use replay::observer::{ExternalCall, View};
use solver::Term;

/// Longer transfers are followed up to this length.
const MAX_TRANSFER: u64 = 1 << 26;

/// One `Io` event of a call.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub out: bool,
    pub origin: Option<Origin>,
    /// This many of the first bytes are the source's name.
    pub skip: usize,
    pub offset: u64,
    /// 0 if the bytes are not in memory.
    pub address: u64,
    pub length: u64,
}

impl<W: StepObserver> Engine<'_, W> {
    /// Processes the transfers so far; memory has the bytes.
    pub(crate) fn finish_transfers(&mut self, memory: &Memory, call: Option<(&View<'_>, &ExternalCall<'_>)>) {
        self.last_delivery = None;
        for transfer in std::mem::take(&mut self.open) {
            if transfer.out {
                if let Some((view, call)) = call {
                    self.sent(view, call, &transfer);
                }
                continue;
            }
            let Some(origin) = &transfer.origin else { continue };
            match origin {
                Origin::Argument(_) => self.objects.add(transfer.address, transfer.length + 1),
                Origin::Environment(name) if transfer.address != 0 => {
                    let skip = (transfer.skip as u64).min(transfer.length);
                    let mut value = vec![0; (transfer.length - skip).min(MAX_TRANSFER) as usize];
                    memory.peek(transfer.address.wrapping_add(skip), &mut value);
                    self.found.environment.push((name.clone(), value));
                }
                Origin::File(path) => drop(self.found.read.insert(path.clone())),
                _ => {}
            }
            if !self.is_input(origin, call.map(|c| c.0)) {
                continue;
            }
            if transfer.address != 0 {
                self.last_delivery = Some((transfer.address, transfer.length));
                self.arrived(memory, &transfer, call.map(|c| c.0));
            } else if let Some((view, call)) = call {
                self.byte_result(view, call, &transfer);
            }
        }
    }

    /// Whether bytes of an origin are variables at this point.
    pub(crate) fn is_input(&mut self, origin: &Origin, view: Option<&View<'_>>) -> bool {
        if !self.options.inputs.wants(origin) {
            return false;
        }
        if let Origin::File(path) = origin
            && self.written.contains(path)
        {
            if let Some(view) = view {
                self.note_imprecision(view, Reason::Rewritten);
            }
            return false;
        }
        true
    }

    /// Makes bytes in memory input.
    fn arrived(&mut self, memory: &Memory, transfer: &Transfer, view: Option<&View<'_>>) {
        let Some(origin) = &transfer.origin else { return };
        let length = transfer.length.min(MAX_TRANSFER);
        let origin = self.world.variables.origin(origin);
        let mut value = [0];
        for i in transfer.skip as u64..length {
            let at = transfer.address.wrapping_add(i);
            memory.peek(at, &mut value);
            let place = transfer.offset + i - transfer.skip as u64;
            let term = self.input(origin, place, value[0]);
            self.put_byte(memory, at, term);
            if let (Some(view), false) = (view, self.expected.is_empty()) {
                self.check_lookahead(view, origin, place, term);
            }
        }
    }

    /// The variable of an input byte. `None` if its value differs from the recorded one, or at the limit of
    /// variables.
    pub(crate) fn input(&mut self, origin: u32, offset: u64, value: u8) -> Option<Term> {
        if self.world.variables.list.len() >= self.options.max_variables
            && self
                .world
                .variables
                .find(&self.world.variables.origins[origin as usize].clone(), offset)
                .is_none()
        {
            return None;
        }
        let (variable, same) = self.world.variables.byte(origin, offset, value);
        same.then(|| self.world.pool.variable(variable, 8))
    }

    /// A call returned one byte that it read.
    fn byte_result(&mut self, view: &View<'_>, call: &ExternalCall<'_>, transfer: &Transfer) {
        let is_byte = call.known.and_then(|k| k.io).is_some_and(|io| io.data == Data::Byte);
        let (Some(origin), true, Some(result)) = (&transfer.origin, is_byte, call.result.first()) else {
            return;
        };
        let origin = self.world.variables.origin(origin);
        let term = self.input(origin, transfer.offset, *result as u8);
        self.check_lookahead(view, origin, transfer.offset, term);
        if let Some(term) = term {
            let term = self.fit(term, 32);
            self.assign(view, call.site.dst, 32, Some(term));
        }
    }

    /// Records bytes that were written.
    fn sent(&mut self, view: &View<'_>, call: &ExternalCall<'_>, transfer: &Transfer) {
        if let Some(Origin::File(path)) = &transfer.origin {
            self.written.insert(path.clone());
        }
        let at = self.at(view);
        let sink = transfer.origin.clone();
        let mut output = Output { at, sink, offset: transfer.offset, ..Output::default() };
        if call.known.and_then(|k| k.format).is_some_and(|f| !f.input) {
            self.print(view, call, &mut output);
        } else if transfer.address != 0 {
            let length = transfer.length.min(MAX_TRANSFER);
            output.bytes = vec![0; length as usize];
            view.memory.peek(transfer.address, &mut output.bytes);
            let line = call.known.and_then(|k| k.io).is_some_and(|io| matches!(io.data, Data::Line(_)));
            if line && let Some(last) = output.bytes.last_mut() {
                *last = b'\n';
            }
            for i in 0..length - u64::from(line && length > 0) {
                if let Some(term) = self.byte(transfer.address.wrapping_add(i)) {
                    output.terms.push((i as u32, term));
                }
            }
        } else if call.known.and_then(|k| k.io).is_some_and(|io| io.data == Data::Byte) {
            // `__overflow` has the stream as its first argument.
            let n = usize::from(call.known.is_some_and(|k| k.name == "__overflow"));
            output.bytes = vec![call.args.get(n).copied().unwrap_or(0) as u8];
            if let Some(term) = self.argument(view, call, n as u32, 8) {
                output.terms.push((0, term));
            }
        }
        self.found.outputs.push(output);
    }
}

//! Propagates labels through external functions.
//!
//! The result and the output of a function depend on all of its inputs: values, ranges it reads, state
//! it keeps. Copies are followed byte by byte. A pointer selects a location but not its content, so its
//! label counts only if the pointer is printed, or as what chose the result. Freed and newly allocated
//! memory keeps its content and its labels.

use super::sources::{self, Part};
use super::{LAYOUT, Label, OWN, RANDOM, SYSTEM, chosen_by, made_of, reached_through, used};
use crate::extract::Extractor;
use externals::{Channel, Direction, External, FormatArgs, Model, Place, Ret, flag};
use program::inst::{ArgTy, Inst, Ty};
use replay::effects;
use replay::observer::{ExternalCall, View};

/// Maximum length of a name that is read.
const NAME: usize = 4096;

impl Extractor<'_> {
    /// Propagates labels through an external call that has returned.
    pub(crate) fn propagate_external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let known = call.known;
        self.fleeting.passed();
        self.devices(view, call);
        let source = known.and_then(sources::external_source);
        let device = known.map_or(0, |k| self.device_of(k, call));
        let unlisted = match known {
            None => {
                self.trace_tables.image.external_at(call.target).map_or(0, |e| sources::symbol_label(e.0))
            }
            Some(_) => 0,
        };
        let quiet = source.is_none() && device == 0 && unlisted == 0 && self.fleeting.hidden.held() == 0;
        if quiet && !self.fleeting.any() {
            return;
        }
        let Some(known) = known else {
            let pointer = matches!(view.inst(), Inst::Call(c) if c.ret.first() == Some(&Ty::Ptr));
            let label = if pointer { 0 } else { unlisted | self.given(view, call, None) };
            self.result(view, call, label);
            return;
        };
        if known.copies() && self.copied(view, call, known) {
            return;
        }
        if known.has(flag::FREES) && known.allocates.is_none() {
            return;
        }
        let reads = effects::reads(view, call);
        let mut label = device | self.given(view, call, Some(known));
        for (address, len) in &reads {
            label |= used(self.at(*address).union(*address, *len)) & OWN;
        }
        // The length of a text does not depend on its characters.
        if matches!(known.model, Some(Model::Strlen | Model::Strnlen)) {
            label = 0;
        }
        let chosen = self.chosen(view, known);
        for (address, len) in effects::writes(view, call) {
            self.at_mut(address).fill(address, len, label);
        }
        if let Some(stream) = effects::appends(call).filter(|_| label != 0) {
            self.fleeting.hidden.set(stream, label);
        }
        let says = !matches!(known.ret, Ret::Pointer | Ret::Into(_) | Ret::Stream | Ret::Fd | Ret::Void);
        let output = known.io.is_some_and(|io| io.direction == Direction::Out);
        self.result(view, call, if says && !output { label | chosen } else { 0 });
        if let Some((label, part)) = source {
            self.label_source_output(view, call, label, part);
        }
    }

    /// The labels of memory, or of hidden state.
    fn at(&self, address: u64) -> &super::Shadow {
        if effects::is_hidden(address) { &self.fleeting.hidden } else { &self.fleeting.memory }
    }

    fn at_mut(&mut self, address: u64) -> &mut super::Shadow {
        if effects::is_hidden(address) { &mut self.fleeting.hidden } else { &mut self.fleeting.memory }
    }

    fn result(&mut self, view: &View<'_>, call: &ExternalCall<'_>, label: Label) {
        for k in 0..call.result.len() as u32 {
            self.fleeting.set(view.depth, call.site.dst + k, label);
        }
    }

    /// The union of the labels of the passed values.
    fn given(&self, view: &View<'_>, call: &ExternalCall<'_>, known: Option<&External>) -> Label {
        let Inst::Call(inst) = view.inst() else { return 0 };
        let printed = known.and_then(|k| k.format).filter(|f| !f.input).and_then(|f| match f.args {
            FormatArgs::From(first) => Some((f.format, first)),
            FormatArgs::List(_) => None,
        });
        let mut label = 0;
        let mut slot = 0;
        for arg in &inst.args {
            let own = self.slot(view, arg.value, 0);
            label |= match arg.ty {
                ArgTy::Value(Ty::Ptr) => match printed {
                    // A variadic argument of a format counts if the format prints pointers.
                    Some((format, first)) if slot >= u32::from(first) => {
                        let text = call.args.get(format as usize).copied().unwrap_or(0);
                        match self.prints_pointers(view, text) {
                            true => LAYOUT,
                            false => 0,
                        }
                    }
                    _ => 0,
                },
                ArgTy::Value(_) if known.is_some() => made_of(used(own)),
                ArgTy::Value(_) => made_of(own),
                ArgTy::ByVal { size, .. } => {
                    let at = call.args.get(slot as usize).copied().unwrap_or(0);
                    made_of(used(self.fleeting.memory.union(at, size)))
                }
            };
            slot += arg.ty.slots();
        }
        label
    }

    /// The labels of the pointers through which a function reads. As with a load, they choose the value
    /// read (`strcmp` with the names in the slots of a hash table).
    fn chosen(&self, view: &View<'_>, known: &External) -> Label {
        let Inst::Call(inst) = view.inst() else { return 0 };
        let mut label = 0;
        let mut slot = 0;
        for arg in &inst.args {
            let reads = |range: &externals::Range| range.place == Place::Arg(slot as u8);
            if matches!(arg.ty, ArgTy::Value(Ty::Ptr)) && known.reads.iter().any(reads) {
                let place = self.slot(view, arg.value, 0);
                label |= chosen_by(place) | reached_through(place);
            }
            slot += arg.ty.slots();
        }
        label
    }

    fn prints_pointers(&self, view: &View<'_>, format: u64) -> bool {
        let bytes = match self.trace_tables.image.constant(format) {
            Some(constant) => constant.iter().take(NAME).take_while(|b| **b != 0).copied().collect(),
            None => view.memory.peek_string(format, NAME),
        };
        bytes.windows(2).any(|w| w == b"%p")
    }

    /// Handles functions that copy bytes unchanged. Returns whether this is one.
    fn copied(&mut self, view: &View<'_>, call: &ExternalCall<'_>, known: &External) -> bool {
        let argument = |n: usize| call.args.get(n).copied().unwrap_or(0);
        if known.has(flag::MOVES) {
            if let Some((to, len)) = effects::allocated(view, call)
                && argument(0) != 0
                && argument(0) != to
            {
                let old = self.trace_tables.objects.block(argument(0)).map_or(len, |b| b.1);
                self.fleeting.memory.copy(to, argument(0), len.min(old));
                self.fleeting.overwritten(argument(0), old);
            }
            self.result(view, call, 0);
            return true;
        }
        let writes = effects::writes(view, call);
        let (Some((to, len)), Some((from, most))) =
            (writes.first(), effects::reads(view, call).first().copied())
        else {
            return false;
        };
        self.fleeting.memory.copy(*to, from, most.min(*len));
        if *len > most {
            self.fleeting.overwritten(to.wrapping_add(most), len - most);
        }
        self.result(view, call, 0);
        true
    }

    /// Labels the output of a source.
    fn label_source_output(&mut self, view: &View<'_>, call: &ExternalCall<'_>, label: Label, part: Part) {
        let writes = effects::writes(view, call);
        let writes = || writes.iter().copied().filter(|w| !effects::is_hidden(w.0));
        if matches!(part, Part::Result | Part::Both) {
            self.result(view, call, label);
        }
        match part {
            Part::Result => {}
            Part::Written | Part::Both => {
                for (address, len) in writes() {
                    self.fleeting.memory.fill(address, len, label);
                }
            }
            Part::Fields(fields) => {
                let Some((address, len)) = writes().next() else { return };
                for (offset, size) in fields.iter().filter(|f| f.0 < len) {
                    self.fleeting.memory.fill(address + offset, (*size).min(len - offset), label);
                }
            }
            Part::Name(behind) => {
                let Some((address, len)) = writes().next() else { return };
                let behind = behind.map_or(0, |slot| call.args.get(slot as usize).copied().unwrap_or(0));
                if let Some(start) = len.checked_sub(7).and_then(|l| l.checked_sub(behind)) {
                    self.fleeting.memory.fill(address + start, 6, label);
                }
            }
        }
    }

    /// Tracks opening and closing of files whose content differs in every run.
    fn devices(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let Some(known) = call.known else { return };
        let result = call.result.first().copied().unwrap_or(0);
        if known.has(flag::OPENS) && result as u32 != u32::MAX && (known.ret != Ret::Stream || result != 0) {
            let slot = usize::from(known.name.starts_with("openat"));
            let path = call.args.get(slot).copied().unwrap_or(0);
            let path = match self.trace_tables.image.constant(path) {
                Some(constant) => constant.iter().take(NAME).take_while(|b| **b != 0).copied().collect(),
                None => view.memory.peek_string(path, NAME),
            };
            match sources::is_nondeterministic_file(&path) {
                true => self.fleeting.devices.insert(result),
                false => self.fleeting.devices.remove(&result),
            };
        } else if known.has(flag::CLOSES)
            && let Some(closed) = call.args.first()
        {
            self.fleeting.devices.remove(closed);
        }
    }

    fn device_of(&self, known: &External, call: &ExternalCall<'_>) -> Label {
        if self.fleeting.devices.is_empty() {
            return 0;
        }
        let Some(io) = known.io.filter(|io| io.direction == Direction::In) else { return 0 };
        let (Channel::Fd(slot) | Channel::Stream(slot)) = io.channel else { return 0 };
        match call.args.get(slot as usize) {
            Some(device) if self.fleeting.devices.contains(device) => RANDOM | SYSTEM,
            _ => 0,
        }
    }

    /// The label of an argument as shown by an event.
    pub(crate) fn shown_argument(&self, view: &View<'_>, n: usize) -> Label {
        let Inst::Call(inst) = view.inst() else { return 0 };
        match inst.args.get(n).map(|a| (a.ty, a.value)) {
            Some((ArgTy::Value(ty), value)) => self.shown(view, value, ty),
            _ => 0,
        }
    }
}

//! Calls and returns, of the program's functions and of external ones; allocation and deallocation.

use crate::extract::{ActiveCall, Extractor};
use crate::names::mix;
use crate::trace::{Kind, NONE, Shape};
use crate::trace_tables::plain_shape;
use externals::format::{Parser, Piece};
use externals::{FormatArgs, Len, Place, flag};
use program::inst::{ArgTy, Inst, Operand, Ty};
use program::names::readable;
use replay::effects;
use replay::image::Image;
use replay::observer::{ExternalCall, Observer, View};
use std::sync::Arc;

impl Extractor<'_> {
    /// Emits a call event with the arguments of a function that was entered.
    pub(crate) fn entered(&mut self, view: &View<'_>, outside: bool) {
        self.leave(view.depth as usize - 1);
        if self.fleeting.any() || self.fleeting.passes() {
            self.received(view, outside);
        }
        let callee = self.plan(view.code.module, view.code.function);
        let caller = self.frames.last().map_or((0, 0), |f| (f.plan, if outside { 0 } else { f.index }));
        let mut call = self.call_act(caller, callee, outside);
        let first = self.arguments.len() as u64;
        let mut key = self.trace_tables.quick[call as usize].0;
        let mut labels = Vec::new();
        for n in 0..self.plans[callee as usize].registers.len() {
            let (reg, take) = self.plans[callee as usize].registers[n];
            let raw = view.value(Operand::Reg(reg));
            let label = if self.fleeting.any() { self.fleeting.shown(view.depth, reg) } else { 0 };
            let (value, said) = self.represent_labelled(take, label, raw, raw, view);
            self.arguments.push(value);
            key = mix(key, said);
            if label != 0 {
                labels.resize(n, 0);
                labels.push(label);
            }
        }
        if !labels.is_empty() {
            call = self.fleeting_call(call, &labels);
        }
        let active = match self.plans[callee as usize].active {
            Some((reg, ty)) => match view.value(Operand::Reg(reg)) {
                0 => NONE,
                base => self.object(base, ty),
            },
            None => NONE,
        };
        self.emit(call, active, first, key);
        let size = self.plans[callee as usize].frame_size;
        self.frames.push(ActiveCall { plan: callee, active, frame: view.frame, size, list: NONE, index: 0 });
        self.current = callee as usize;
    }

    /// The event site of a call of a function of the program.
    pub(crate) fn call_act(&mut self, (caller, index): (u32, u32), callee: u32, outside: bool) -> u32 {
        if let Some(known) = self.plans[caller as usize].called.get(index as usize)
            && known.0 == callee
            && !outside
        {
            return known.1;
        }
        let key = u64::from(caller) << 40 ^ u64::from(callee) << 20 ^ u64::from(index);
        let key = mix(key, u64::from(outside));
        if let Some((act, _)) = self.calls.get(&key).copied() {
            self.remember(caller, index, callee, outside, act);
            return act;
        }
        let (plan, target) = (&self.plans[caller as usize], &self.plans[callee as usize]);
        let name = self.trace_tables.methods[target.method as usize].name;
        let at = (plan.module, plan.function, if outside { usize::MAX } else { index as usize });
        let arguments = target.parameters.clone();
        let act = self.trace_tables.act(at, plan.method, Kind::Call, 0, name, Shape::Arguments, arguments);
        self.calls.insert(key, (act, NONE));
        self.remember(caller, index, callee, outside, act);
        act
    }

    /// Caches the callee and event site of a call: most calls always have the same callee.
    fn remember(&mut self, caller: u32, index: u32, callee: u32, outside: bool, act: u32) {
        let plan = &mut self.plans[caller as usize];
        if outside || index as usize >= plan.what.len() {
            return;
        }
        if plan.called.is_empty() {
            plan.called = vec![(NONE, NONE); plan.what.len()];
        }
        plan.called[index as usize] = (callee, act);
    }

    /// The event sites of an external call and of its return.
    pub(crate) fn external_sites(&mut self, view: &View<'_>, call: &ExternalCall<'_>) -> (u32, u32) {
        let caller = self.current as u64;
        let key = mix(mix(call.target, 0xE), caller << 32 | u64::from(view.index));
        if let Some(known) = self.calls.get(&key) {
            return *known;
        }
        let Inst::Call(inst) = &view.function().code[view.index as usize] else { return (NONE, NONE) };
        let image = self.trace_tables.image;
        // Several functions of a library may lie at one address, such as `strtol` and `strtoll`: the name in the
        // source is the one that is meant.
        let named = match inst.callee {
            Operand::Symbol { symbol, offset: 0 }
                if image.symbol(view.code.module, symbol) == call.target =>
            {
                let symbols = &image.module(view.code.module).symbols;
                symbols.get(symbol as usize).map(|symbol| symbol.name.clone())
            }
            _ => None,
        };
        let found = || match (call.known, image.external_at(call.target)) {
            (_, Some((name, _))) => name.to_owned(),
            (Some(known), None) => known.name.to_owned(),
            (None, None) => "?".to_owned(),
        };
        let name = named.unwrap_or_else(found);
        let texts = printed_texts(self.trace_tables.image, call);
        let reads_text = |number: u32, slot: u32| {
            if let Some((first, texts)) = &texts
                && number >= *first
            {
                return texts.contains(&(number - first));
            }
            call.known.is_some_and(|k| {
                let text = |r: &externals::Range| {
                    r.place == Place::Arg(slot as u8) && matches!(r.len, Len::CStr | Len::CStrMax(_))
                };
                let formatted = |f: externals::Format| match f.args {
                    FormatArgs::From(first) => !f.input && slot >= u32::from(first),
                    FormatArgs::List(_) => false,
                };
                k.reads.iter().any(text)
                    || k.format.is_some_and(|f| slot == u32::from(f.format) || formatted(f))
            })
        };
        let mut arguments = Vec::new();
        let mut slot = 0;
        for (number, arg) in inst.args.iter().enumerate() {
            let shape = match arg.ty {
                ArgTy::Value(Ty::Ptr) if reads_text(number as u32, slot) => Shape::Text,
                ArgTy::Value(ty) => plain_shape(ty),
                ArgTy::ByVal { size, .. } => Shape::Whole(size.min(1 << 20) as u32),
            };
            slot += arg.ty.slots();
            arguments.push((0, shape));
        }
        let shape = match inst.ret.as_slice() {
            [] => Shape::Nothing,
            [ty] => plain_shape(*ty),
            _ => Shape::Unsigned(8),
        };
        let allocates =
            call.known.is_some_and(|k| k.allocates.is_some()) || is_one_of(&name, &["_Znwm", "_Znam"]);
        let deletes = is_one_of(&name, &["_ZdlPv", "_ZdaPv"]);
        let name = self.trace_tables.names.intern(&readable(&name));
        let plan = &self.plans[self.current];
        let (at, method) = ((plan.module, plan.function, view.index as usize), plan.method);
        let acts = if allocates {
            let init = self.trace_tables.act(at, method, Kind::Init, 0, name, Shape::Bytes, Arc::new([]));
            (init, init)
        } else {
            let call =
                self.trace_tables.act(at, method, Kind::Call, 0, name, Shape::Arguments, arguments.into());
            (call, self.trace_tables.act(at, method, Kind::Return, 0, name, shape, Arc::new([])))
        };
        if deletes {
            self.deletes.push(acts.0);
        }
        self.calls.insert(key, acts);
        acts
    }

    pub(crate) fn allocation(&mut self, act: u32, view: &View<'_>, call: &ExternalCall<'_>) {
        let argument = |n: usize| call.args.get(n).copied().unwrap_or(0);
        let result = call.result.first().copied().unwrap_or(0);
        let block = match call.known {
            Some(_) => effects::allocated(view, call),
            // `operator new`.
            None => (result != 0).then(|| (result, argument(0))),
        };
        let Some((address, len)) = block else {
            self.emit(act, NONE, 0, mix(self.trace_tables.acts[act as usize].hash, 0));
            return;
        };
        let is_moved = call.known.is_some_and(|k| k.has(flag::MOVES)) && argument(0) != 0;
        let moved = is_moved.then(|| self.trace_tables.objects.moved(argument(0), address, len)).flatten();
        let object =
            moved.unwrap_or_else(|| self.trace_tables.objects.allocated(address, len.max(1), act, 0));
        let size = match self.all_steps() {
            true => call.site.args.iter().enumerate().fold(0, |l, (n, _)| l | self.shown_argument(view, n)),
            false => 0,
        };
        let act = if size == 0 { act } else { self.fleeting_site(act, size) };
        // The key is set at the end of the run: only later accesses reveal the object's type.
        self.allocations.push(self.sink.len() as u32);
        self.emit(act, object, len, len);
    }

    /// Handles the return of an external call.
    pub(crate) fn on_external_return(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.leave(view.depth as usize);
        let (act, back) = self.external_sites(view, call);
        if act == NONE {
            return;
        }
        if act == back {
            self.allocation(act, view, call);
            return;
        }
        let first = self.arguments.len() as u64;
        let mut key = self.trace_tables.acts[act as usize].hash;
        let mut slot = 0;
        let mut labels = Vec::new();
        let Inst::Call(inst) = &view.function().code[view.index as usize] else { return };
        let shapes = self.trace_tables.acts[act as usize].arguments.clone();
        for (n, (arg, (_, shape))) in inst.args.iter().zip(shapes.iter()).enumerate() {
            let raw = call.args.get(slot).copied().unwrap_or(0);
            slot += arg.ty.slots() as usize;
            let label = if self.all_steps() { self.shown_argument(view, n) } else { 0 };
            let (value, said) = self.represent_labelled(shape.take(), label, raw, raw, view);
            self.arguments.push(value);
            key = mix(key, said);
            if label != 0 {
                labels.resize(n, 0);
                labels.push(label);
            }
        }
        let call_act = if labels.is_empty() { act } else { self.fleeting_call(act, &labels) };
        let target = match call.args.first() {
            Some(address) if matches!(shapes.first(), Some((_, Shape::Pointer))) => {
                self.trace_tables.objects.at(*address, 0).unwrap_or(NONE)
            }
            _ => NONE,
        };
        self.emit(call_act, target, first, key);
        let (hash, take) = self.trace_tables.quick[back as usize];
        let raw = call.result.first().copied().unwrap_or(0);
        let label = if call.result.is_empty() { 0 } else { self.fleeting.shown(view.depth, call.site.dst) };
        let (value, said) = self.represent_labelled(take, label, raw, raw, view);
        let back = if label == 0 { back } else { self.fleeting_site(back, label) };
        self.emit(back, target, value, mix(hash, said));
        let frees = match call.known {
            Some(known) => known.flags & flag::FREES != 0,
            None => self.deletes.contains(&act),
        };
        if frees && let Some(block) = call.args.first() {
            self.trace_tables.objects.freed(*block);
        }
    }

    /// Emits the return event of a function of the program, before the function returns.
    pub(crate) fn returning(&mut self, view: &View<'_>) {
        let plan = &self.plans[self.current];
        let Ok(n) = plan.returns.binary_search_by_key(&view.index, |r| r.0) else { return };
        let act = plan.returns[n].1;
        let (hash, take) = self.trace_tables.quick[act as usize];
        let mut label = 0;
        let (value, said) = match &view.function().code[view.index as usize] {
            Inst::Return { value: Some(operand), ret } => {
                if let ([ty, ..], true) = (ret.as_slice(), self.all_steps()) {
                    label = self.shown(view, *operand, *ty);
                }
                self.represent_labelled(take, label, view.value(*operand), 0, view)
            }
            _ => (0, 0),
        };
        let act = if label == 0 { act } else { self.fleeting_site(act, label) };
        let target = self.frames.last().map_or(NONE, |f| f.active);
        self.emit(act, target, value, mix(hash, said));
    }
}

/// Which variadic arguments a constant format prints as text: the index of the first variadic argument, and
/// the indices of the texts relative to it.
fn printed_texts(image: &Image, call: &ExternalCall<'_>) -> Option<(u32, Vec<u32>)> {
    let format = call.known?.format.filter(|f| !f.input)?;
    let FormatArgs::From(first) = format.args else { return None };
    let text = image.constant(*call.args.get(format.format as usize)?)?;
    let text = &text[..text.iter().position(|b| *b == 0)?];
    let texts = Parser::printf(text).filter_map(|piece| match piece {
        Piece::Conversion(c) if c.kind == b's' => c.arg,
        _ => None,
    });
    Some((first.into(), texts.collect()))
}

/// Whether a symbol is one of C++'s allocation or deallocation operators, in any overload.
fn is_one_of(symbol: &str, operators: &[&str]) -> bool {
    operators.iter().any(|o| symbol.starts_with(o))
}

//! Loads and stores: resolves the object and the field that each one accesses.

use crate::extract::{ActiveCall, Extractor};
use crate::fleeting::{self, Label};
use crate::names::mix;
use crate::plan::{self, MAX_NAMED_ELEMENTS, Plan, Root};
use crate::trace::{Encoding, Kind, NONE, Shape};
use crate::trace_tables::{TraceTables, plain_shape};
use crate::types::{self, Sort, Wanted};
use program::inst::{Inst, Operand, Ty};
use replay::observer::{Effect, Observer, View};
use std::sync::Arc;

impl Extractor<'_> {
    #[inline(never)]
    pub(crate) fn access(&mut self, view: &View<'_>, number: usize, effect: Effect) {
        let (address, stored) = match effect {
            Effect::Load { address, .. } => (address, true),
            Effect::Store { address, .. } => (address, true),
            Effect::Update { address, stored, .. } => (address, stored),
            Effect::Copy { to, .. } | Effect::Fill { to, .. } => (to, true),
            Effect::None => return,
        };
        if !stored {
            return;
        }
        let (mut act, target, element) = self.resolve(view, number, address);
        let (place, label) = self.labels(view, number, address);
        let mut extra = 0;
        if act == NONE && place != 0 {
            // The element's index was computed from a fleeting value, so the event omits it.
            act = self.element_site(number, element, true);
        } else if act == NONE {
            act = self.element_site(number, element, false);
            if element / self.plans[self.current].accesses[number].len.max(1) >= MAX_NAMED_ELEMENTS as u64 {
                extra = element;
            }
        }
        let access = &self.plans[self.current].accesses[number];
        let set = access.kind == Kind::Set;
        let raw = match access.value {
            Some(Operand::Reg(r)) => view.regs.get(r as usize).copied().unwrap_or(0),
            Some(operand) => view.value(operand),
            None => view.memory.peek_word(address, access.len.min(8) as usize),
        };
        let raw = access.bits.map_or(raw, |bits| bits.of(raw));
        if let Root::Untyped = access.root {
            self.note_untyped();
        }
        let (hash, mut take) = self.trace_tables.quick[act as usize];
        if let (Encoding::Whole(0), Effect::Copy { len, .. } | Effect::Fill { len, .. }) = (take, effect) {
            // The length is known only at run time.
            take = Encoding::Whole(len.min(1 << 20) as u32);
        }
        let (value, said) = self.represent_labelled(take, label, raw, address, view);
        if label != 0 {
            act = self.fleeting_site(act, label);
        }
        let mut key = mix(hash, said);
        if extra != 0 {
            key = mix(key, extra);
        }
        if set
            && let Some(object) = self.trace_tables.objects.all.get_mut(target as usize)
            && object.written < 4
        {
            object.written += 1;
            object.birth = mix(object.birth, key);
        }
        self.emit(act, target, value, key);
    }

    /// The taint labels of the address and of the value at it.
    #[inline]
    fn labels(&self, view: &View<'_>, number: usize, address: u64) -> (Label, Label) {
        if !self.all_steps() {
            return (0, 0);
        }
        let access = &self.plans[self.current].accesses[number];
        let (addr, value) = match view.inst() {
            Inst::Load { dst, addr, .. } => (*addr, self.fleeting.shown(view.depth, *dst)),
            Inst::Store { addr, value, ty } => (*addr, self.shown(view, *value, *ty)),
            Inst::Rmw { addr, .. } | Inst::CmpXchg { addr, .. } => {
                (*addr, self.fleeting.of_memory(address, access.len.min(8)))
            }
            Inst::MemCopy { to, .. } | Inst::MemSet { to, .. } => (*to, 0),
            _ => return (0, 0),
        };
        (fleeting::made_of(self.shown(view, addr, Ty::Ptr)), value)
    }

    fn note_untyped(&mut self) {
        let method = self.plans[self.current].method;
        let name = self.trace_tables.methods[method as usize].name;
        *self.untyped.entry(name).or_default() += 1;
    }

    /// Resolves an access to its event site (if known), object, and distance from the object's start.
    #[inline]
    pub(crate) fn resolve(&mut self, view: &View<'_>, number: usize, address: u64) -> (u32, u32, u64) {
        let Extractor { plans, trace_tables, frames, stack, .. } = self;
        let access = &mut plans[self.current].accesses[number];
        match access.root {
            Root::Fixed { object } => (access.act, object, 0),
            Root::Global { object, base, .. } => match access.offset {
                Some(_) => (access.act, object, address.wrapping_sub(base)),
                None => (NONE, object, address.wrapping_sub(base)),
            },
            Root::Local { offset, name, .. } => {
                let base = view.frame.wrapping_add(offset);
                let object = cached(access, trace_tables, frames, *stack, base, name);
                let act = if access.offset.is_some() { access.act } else { NONE };
                (act, object, address.wrapping_sub(base))
            }
            Root::Record { reg, name, size, .. } => {
                let mut base = view.regs.get(reg as usize).copied().unwrap_or(0);
                let mut distance = address.wrapping_sub(base);
                let mut act = access.act;
                if access.offset.is_none() {
                    // A variable index: the pointer is to an element of an array. Find that element.
                    let element = distance.cast_signed().div_euclid(size.cast_signed());
                    base = base.wrapping_add_signed(element.wrapping_mul(size.cast_signed()));
                    distance = address.wrapping_sub(base);
                    act = NONE;
                }
                (act, cached(access, trace_tables, frames, *stack, base, name), distance)
            }
            Root::Element { size, .. } => {
                let (start, end, object) = access.cached;
                if !(start <= address
                    && address < end
                    && (object == NONE || trace_tables.objects.is_alive(object)))
                {
                    access.cached = (0, 0, NONE);
                    let found = region(plans, trace_tables, frames, *stack, address);
                    let access = &mut plans[self.current].accesses[number];
                    access.cached = found;
                    let (start, _, object) = found;
                    return (NONE, object, address.wrapping_sub(start) / size * size);
                }
                let (start, _, object) = access.cached;
                (NONE, object, address.wrapping_sub(start) / size * size)
            }
            Root::Untyped => (access.act, NONE, 0),
        }
    }

    /// The event site for a part of an object that has none yet. With `open`, the element's index is omitted.
    #[inline(never)]
    pub(crate) fn element_site(&mut self, number: usize, distance: u64, open: bool) -> u32 {
        let access = &self.plans[self.current].accesses[number];
        let step = access.len.max(1);
        let element = (distance / step) as usize;
        let named = element < MAX_NAMED_ELEMENTS && !open;
        let known = match (named, access.offset) {
            (true, None) => access.acts.get(element).copied().unwrap_or(NONE),
            (false, None) => access.open,
            (_, Some(_)) => access.act,
        };
        if known != NONE {
            return known;
        }
        let (plan, image) = (&self.plans[self.current], self.trace_tables.image);
        let at = (plan.module, plan.function, access.index as usize);
        let (method, kind, len, machine) = (plan.method, access.kind, access.len, access.ty);
        let single = access.cached.1.wrapping_sub(access.cached.0) == len;
        let (owner, path, ty) = match access.root {
            Root::Global { ty, .. } | Root::Local { ty, .. } | Root::Record { ty, .. } => {
                let wanted = Wanted { len, sort: machine.map(Sort::of), open: !named, bits: access.bits };
                let part = types::part(image.module(ty.0), ty.1, distance, wanted);
                (self.trace_tables.type_name(Some(ty)), part.path, part.ty.map(|t| (ty.0, t)))
            }
            Root::Element { ty, name, size } => {
                let path = match (named, single) {
                    (_, true) => String::new(),
                    (true, _) => format!("[{}]", distance / size.max(1)),
                    _ => "[]".to_owned(),
                };
                let fits = types::size(image.module(ty.0), ty.1) == len && machine.is_some();
                (name, path, fits.then_some(ty))
            }
            Root::Fixed { .. } | Root::Untyped => (0, format!("({len} bytes)"), None),
        };
        let untyped = matches!(access.root, Root::Untyped);
        let shape = match (ty, machine) {
            (Some(ty), Some(machine)) => shape_for_access(self.trace_tables.shape(ty), machine),
            (Some(ty), None) => self.trace_tables.shape(ty),
            (None, Some(ty)) => plain_shape(ty),
            (None, None) => Shape::Whole(len.min(1 << 20) as u32),
        };
        let name = self.trace_tables.names.intern(&path);
        let act = self.trace_tables.act(at, method, kind, owner, name, shape, Arc::new([]));
        let access = &mut self.plans[self.current].accesses[number];
        match (named, access.offset) {
            _ if untyped => access.act = act,
            (_, Some(_)) => access.act = act,
            (true, None) => {
                if access.acts.len() <= element {
                    access.acts.resize(element + 1, NONE);
                }
                access.acts[element] = act;
            }
            (false, None) => access.open = act,
        }
        act
    }
}

/// The declared type's shape, unless the access's machine type contradicts it: a pointer is never shown as a
/// number, whatever its declared type.
fn shape_for_access(shape: Shape, machine: Ty) -> Shape {
    let number = matches!(shape, Shape::Signed(_) | Shape::Unsigned(_) | Shape::Float(_) | Shape::Char(_));
    match machine {
        Ty::Ptr if number => Shape::Pointer,
        Ty::Int(64) if matches!(shape, Shape::Float(_)) => Shape::Unsigned(8),
        _ => shape,
    }
}

/// The object at the base of an access, from the access's cache or by lookup.
#[inline]
pub(crate) fn cached(
    access: &mut plan::Access,
    trace_tables: &mut TraceTables<'_>,
    frames: &mut [ActiveCall],
    stack: u64,
    base: u64,
    ty: u32,
) -> u32 {
    let (known, _, object) = access.cached;
    if known == base && trace_tables.objects.is_at(object, base) {
        return object;
    }
    let object = match trace_tables.objects.at(base, ty) {
        Some(known) => known,
        None => make(trace_tables, frames, stack, base, ty),
    };
    access.cached = (base, base, object);
    object
}

/// Creates an object and adds it to the list of the frame that contains it.
#[cold]
pub(crate) fn make(
    trace_tables: &mut TraceTables<'_>,
    frames: &mut [ActiveCall],
    stack: u64,
    base: u64,
    ty: u32,
) -> u32 {
    let inside = |f: &&mut ActiveCall| f.frame <= base && base < f.frame + f.size.max(1);
    let frame = match base < stack && frames.last().is_some_and(|f| f.frame <= base) {
        true => frames.iter_mut().rev().find(inside).map(|f| &mut f.list),
        false => None,
    };
    if frame.is_none()
        && let Some(global) = trace_tables.global_around(base)
        && global.address == base
    {
        let name = if ty == 0 { trace_tables.type_name(global.ty) } else { ty };
        return trace_tables.objects.named(base, name, global.name);
    }
    trace_tables.objects.make(base, ty, frame)
}

/// The memory region of an untyped address: start, end, object.
#[cold]
pub(crate) fn region(
    plans: &[Plan],
    trace_tables: &mut TraceTables<'_>,
    frames: &mut [ActiveCall],
    stack: u64,
    address: u64,
) -> (u64, u64, u32) {
    if let Some((start, len, object)) = trace_tables.objects.block(address) {
        return (start, start + len, object);
    }
    if let Some(global) = trace_tables.global_around(address) {
        let object = trace_tables.global_object(global);
        return (global.address, global.address + global.size, object);
    }
    if address < stack
        && let Some(frame) = frames.iter().rev().find(|f| f.frame <= address && address < f.frame + f.size)
    {
        let offset = address - frame.frame;
        let locals = plans[frame.plan as usize].locals.iter();
        let local = locals.copied().find(|(start, size, _)| *start <= offset && offset < start + size);
        let (start, size, ty) = local.unwrap_or((0, frame.size, None));
        let start = frame.frame + start;
        let ty = trace_tables.type_name(ty);
        let object = match trace_tables.objects.at(start, ty) {
            Some(known) => known,
            None => make(trace_tables, frames, stack, start, ty),
        };
        return (start, start + size, object);
    }
    (address, address + 1, NONE)
}

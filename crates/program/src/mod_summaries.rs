//! Mod summaries: the memory that an instruction may store to, including all that it calls.
//!
//! The summary of a function is the set of locations outside its own activation that it, or any
//! transitive callee, may store to. The memory model is that of [`crate::points_to`], and so are
//! the instances: a function that was analysed once per call site has a summary for each instance.
//! Summaries are propagated from callees to callers by a worklist until a fixpoint.

use crate::bits::Bits;
use crate::inst::{Call, Inst, Operand};
use crate::objects::{OUTSIDE, Object, ObjectId};
use crate::outside::Outside;
use crate::points_to::{Place, PointsTo, Precision, slots};
use crate::whole::{Callee, LinkedProgram};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A range of bytes that may be stored to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// In the frame of the current activation, by frame offset.
    Own {
        /// First byte.
        start: u64,
        /// One past the last byte.
        end: u64,
    },
    /// In an object, by offset; in every memory object that the abstract object represents.
    Of {
        /// The object.
        object: ObjectId,
        /// First byte.
        start: u64,
        /// One past the last byte. The maximum means "to the end".
        end: u64,
    },
}

/// See the module documentation.
pub struct ModSummaries {
    pointers: PointsTo,
    /// All targets. Sets contain indices into this list.
    targets: Vec<Target>,
    /// For each instance, the memory outside its own activation that it and its callees may store
    /// to.
    summaries: Vec<Bits>,
    /// For each function, the union over its instances.
    functions: Vec<Bits>,
    /// Instances of each function.
    instances: Vec<Vec<u32>>,
    /// For each instance, the direct stores by instruction index, in order.
    direct: Vec<Vec<(u32, Arc<Bits>)>>,
    /// For each function, the registers that always hold the address of a frame offset, and that
    /// offset.
    frames: Vec<BTreeMap<u32, u64>>,
}

impl ModSummaries {
    /// Analyses all functions of a program; `None` if another thread set `stop` before the end.
    #[must_use]
    pub fn compute(
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        precision: Precision,
        entries: &[u32],
        stop: Option<&AtomicBool>,
    ) -> Option<ModSummaries> {
        let is_stopped = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let pointers = PointsTo::compute_until(whole, outside, precision, entries, stop)?;
        let frames = (0..whole.functions()).map(|f| frame_addresses(whole, f)).collect();
        let mut instances = vec![Vec::new(); whole.functions() as usize];
        for instance in 0..pointers.instances() {
            instances[pointers.function(instance) as usize].push(instance);
        }
        let mut all = ModSummaries {
            pointers,
            targets: Vec::new(),
            summaries: Vec::new(),
            functions: Vec::new(),
            instances,
            direct: Vec::new(),
            frames,
        };
        let mut numbers = TargetInterner::default();
        for instance in 0..all.pointers.instances() {
            if is_stopped() {
                return None;
            }
            let code = whole.function(all.pointers.function(instance)).code.iter().enumerate();
            let stores = code.filter_map(|(index, inst)| {
                let set = all.stores(whole, outside, instance, inst, &mut numbers);
                (!set.is_empty()).then_some((index as u32, set))
            });
            let stores = stores.collect();
            all.direct.push(stores);
        }
        all.targets = numbers.list;
        all.summaries = all.summaries(whole, outside, &is_stopped)?;
        for instances in &all.instances {
            let mut set = Bits::default();
            for instance in instances {
                set.extend(&all.summaries[*instance as usize]);
            }
            all.functions.push(set);
        }
        Some(all)
    }

    /// The points-to sets.
    #[must_use]
    pub fn pointers(&self) -> &PointsTo {
        &self.pointers
    }

    /// The memory that a function and its callees may store to, without their own activations.
    #[must_use]
    pub fn of_function(&self, function: u32) -> &Bits {
        &self.functions[function as usize]
    }

    /// The elements of a set.
    pub fn targets<'s>(&'s self, set: &'s Bits) -> impl Iterator<Item = Target> + 's {
        set.iter().map(|n| self.targets[n as usize])
    }

    /// The memory that an instruction may store to, in any instance of its function.
    #[must_use]
    pub fn of_inst(
        &self,
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        function: u32,
        index: u32,
    ) -> Bits {
        let mut set = Bits::default();
        for instance in &self.instances[function as usize] {
            let direct = &self.direct[*instance as usize];
            if let Ok(i) = direct.binary_search_by_key(&index, |d| d.0) {
                set.extend(&direct[i].1);
            }
            for callee in self.called(whole, outside, *instance, index) {
                set.extend(&self.summaries[callee as usize]);
            }
        }
        set
    }

    /// The modelled functions that an indirect call may call.
    #[must_use]
    pub fn indirect_callees(&self, function: u32, index: u32) -> Vec<u32> {
        let all = self.instances[function as usize].iter();
        let all: BTreeSet<u32> = all.flat_map(|i| self.pointers.callees(*i, index)).copied().collect();
        all.into_iter().collect()
    }

    /// The instances that an instruction of an instance may call, directly or by a callback from a
    /// function without a model.
    #[must_use]
    pub fn called(
        &self,
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        instance: u32,
        index: u32,
    ) -> Vec<u32> {
        let function = self.pointers.function(instance);
        let Inst::Call(call) = &whole.function(function).code[index as usize] else { return Vec::new() };
        match whole.callee(function, call.callee) {
            Callee::Function(callee) => vec![self.pointers.called(instance, index, callee)],
            Callee::External(name) => {
                if outside.effect(name).is_none_or(|e| e.calls_back) {
                    self.given(instance, call)
                } else {
                    Vec::new()
                }
            }
            Callee::Pointer => {
                let callees = self.pointers.callees(instance, index).iter();
                let mut all: Vec<u32> =
                    callees.map(|callee| self.pointers.called(instance, index, *callee)).collect();
                let foreign = self.pointers.of(instance, call.callee, 0).iter().any(|p| {
                    matches!(self.pointers.objects().get(p.object), Object::Foreign { .. } | Object::Outside)
                });
                if foreign {
                    all.extend(self.given(instance, call));
                }
                all.sort_unstable();
                all.dedup();
                all
            }
        }
    }

    /// Modelled functions that may be passed as arguments of a call.
    fn given(&self, instance: u32, call: &Call) -> Vec<u32> {
        let mut all = BTreeSet::new();
        for (operand, slot) in slots(call) {
            for place in self.pointers.of(instance, operand, slot).iter() {
                if let Object::Code { function } = self.pointers.objects().get(place.object) {
                    all.insert(*function);
                }
            }
        }
        all.into_iter().collect()
    }

    fn summaries(
        &self,
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<Vec<Bits>> {
        let count = self.pointers.instances();
        let foreign: Bits = (0..self.targets.len() as u32)
            .filter(|t| matches!(self.targets[*t as usize], Target::Of { .. }))
            .collect();
        let mut sets: Vec<Bits> = Vec::new();
        let mut callers: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); count as usize];
        for instance in 0..count {
            if is_stopped() {
                return None;
            }
            let mut set = Bits::default();
            for (_, stores) in &self.direct[instance as usize] {
                set.extend(stores);
            }
            for index in 0..whole.function(self.pointers.function(instance)).code.len() as u32 {
                for callee in self.called(whole, outside, instance, index) {
                    callers[callee as usize].insert(instance);
                }
            }
            sets.push(set.common(&foreign));
        }
        let mut work: Vec<u32> = (0..count).rev().collect();
        while let Some(callee) = work.pop() {
            if is_stopped() {
                return None;
            }
            let given = sets[callee as usize].clone();
            for caller in &callers[callee as usize] {
                if sets[*caller as usize].extend(&given) {
                    work.push(*caller);
                }
            }
        }
        Some(sets)
    }

    /// The memory that an instruction stores to directly or by a call to a function without a
    /// model. Memoised.
    fn stores(
        &self,
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        instance: u32,
        inst: &Inst,
        numbers: &mut TargetInterner,
    ) -> Arc<Bits> {
        // Many instructions store through pointers with the same points-to list.
        let shared = match inst {
            Inst::Store { addr, ty, .. } | Inst::Rmw { addr, ty, .. } | Inst::CmpXchg { addr, ty, .. }
                if self.own(instance, *addr, 0).is_none() =>
            {
                let list = self.pointers.list_of(instance, *addr, 0);
                list.map(|list| (list, u64::from(ty.bytes())))
            }
            _ => None,
        };
        if let Some(set) = shared.and_then(|key| numbers.shared.get(&key)) {
            return set.clone();
        }
        let mut targets = Vec::new();
        self.direct(whole, outside, instance, inst, &mut targets);
        let set: Arc<Bits> = Arc::new(targets.into_iter().map(|t| numbers.of(t)).collect());
        if let Some(key) = shared {
            numbers.shared.insert(key, set.clone());
        }
        set
    }

    /// The memory that an instruction stores to directly or by a call to a function without a
    /// model.
    fn direct(
        &self,
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        instance: u32,
        inst: &Inst,
        out: &mut Vec<Target>,
    ) {
        match inst {
            Inst::Store { addr, ty, .. } | Inst::Rmw { addr, ty, .. } | Inst::CmpXchg { addr, ty, .. } => {
                self.pointed(instance, *addr, 0, Some(ty.bytes().into()), out);
            }
            Inst::MemCopy { to, len, .. } | Inst::MemSet { to, len, .. } => {
                let len = match len {
                    Operand::Const(n) => Some(*n),
                    _ => None,
                };
                self.pointed(instance, *to, 0, len, out);
            }
            Inst::VaStart { list } | Inst::VaCopy { to: list, .. } => {
                self.pointed(instance, *list, 0, Some(24), out);
            }
            Inst::Call(call) => match whole.callee(self.pointers.function(instance), call.callee) {
                Callee::Function(_) => {}
                Callee::External(name) => self.foreign(outside, instance, call, name, out),
                Callee::Pointer => {
                    for place in self.pointers.of(instance, call.callee, 0).iter() {
                        match self.pointers.objects().get(place.object) {
                            Object::Foreign { name } => self.foreign(outside, instance, call, name, out),
                            Object::Outside => self.foreign(outside, instance, call, "", out),
                            _ => {}
                        }
                    }
                }
            },
            _ => {}
        }
    }

    fn foreign(&self, outside: &dyn Outside, instance: u32, call: &Call, name: &str, out: &mut Vec<Target>) {
        let args = slots(call);
        match outside.effect(name) {
            Some(effect) => {
                let from = effect.writes_from.unwrap_or(u32::MAX);
                let rest = (0..args.len() as u32).filter(|s| *s >= from);
                let all = effect.writes.iter().chain(&effect.stores_new).copied();
                for slot in all.chain(rest) {
                    if let Some((operand, k)) = args.get(slot as usize) {
                        self.pointed(instance, *operand, *k, None, out);
                    }
                }
            }
            // An unknown function may store to all memory that it can reach.
            None => {
                for (operand, k) in args {
                    self.pointed(instance, operand, k, None, out);
                }
                let reached = self.pointers.content(OUTSIDE).iter().map(|p| entire_object(p.object));
                out.extend(reached.chain([entire_object(OUTSIDE)]));
            }
        }
    }

    /// The offset in the function's own frame whose address the operand is, if that is fixed.
    fn own(&self, instance: u32, operand: Operand, slot: u32) -> Option<u64> {
        let Operand::Reg(r) = operand else { return None };
        self.frames[self.pointers.function(instance) as usize].get(&(r + slot)).copied()
    }

    /// Adds the bytes that an operand points to. `len` is `None` for the rest of the object.
    fn pointed(&self, instance: u32, operand: Operand, slot: u32, len: Option<u64>, out: &mut Vec<Target>) {
        if let Some(start) = self.own(instance, operand, slot) {
            if let Some(len) = len {
                out.push(Target::Own { start, end: start.saturating_add(len) });
                return;
            }
            // To the end of the variable.
            for place in self.pointers.of(instance, operand, slot).iter() {
                if let Object::Frame { offset, size, .. } = self.pointers.objects().get(place.object) {
                    out.push(Target::Own { start: *offset, end: offset + size });
                }
            }
            return;
        }
        for Place { object, offset } in self.pointers.of(instance, operand, slot).iter().copied() {
            let code =
                matches!(self.pointers.objects().get(object), Object::Code { .. } | Object::Foreign { .. });
            match (offset, len) {
                _ if code => {}
                (Some(start), Some(len)) => {
                    out.push(Target::Of { object, start, end: start.saturating_add(len) });
                }
                (Some(start), None) => out.push(Target::Of { object, start, end: u64::MAX }),
                (None, _) => out.push(entire_object(object)),
            }
        }
    }
}

/// Assigns numbers to targets.
#[derive(Default)]
struct TargetInterner {
    list: Vec<Target>,
    index: HashMap<Target, u32>,
    /// Memoised sets, by points-to list and store size.
    shared: HashMap<(u32, u64), Arc<Bits>>,
}

impl TargetInterner {
    fn of(&mut self, target: Target) -> u32 {
        let next = self.list.len() as u32;
        *self.index.entry(target).or_insert_with(|| {
            self.list.push(target);
            next
        })
    }
}

fn entire_object(object: ObjectId) -> Target {
    Target::Of { object, start: 0, end: u64::MAX }
}

/// Registers that always hold the address of a fixed offset in the function's frame.
fn frame_addresses(whole: &LinkedProgram<'_>, function: u32) -> BTreeMap<u32, u64> {
    let mut known = BTreeMap::new();
    // Definitions precede uses, except for values that arrive over loop back edges.
    for inst in &whole.function(function).code {
        match inst {
            Inst::Frame { dst, offset } => {
                known.insert(*dst, *offset);
            }
            Inst::Copy { dst, a: Operand::Reg(r) } => {
                if let Some(at) = known.get(r).copied() {
                    known.insert(*dst, at);
                }
            }
            Inst::Address { dst, base: Operand::Reg(r), index, scale, offset, .. } => {
                let by = match index {
                    Operand::Const(n) => n.cast_signed().wrapping_mul(*scale).wrapping_add(*offset),
                    _ if *scale == 0 => *offset,
                    _ => continue,
                };
                if let Some(at) = known.get(r).copied() {
                    known.insert(*dst, at.wrapping_add_signed(by));
                }
            }
            _ => {}
        }
    }
    known
}

//! Points-to analysis: the possible targets of pointers on every input.
//!
//! There are two precisions. [`Precision::Steensgaard`] unifies all values that flow together
//! (Steensgaard, *Points-to Analysis in Almost Linear Time*): fast on any program, and coarse.
//! [`Precision::Andersen`] keeps the direction of flow (Andersen) and also the offset of a target
//! in its object. Both have one object per allocation site, and both resolve indirect calls on the
//! fly. If the second exceeds a work limit, the result of the first is used. Allocation wrappers
//! are analysed once per call site (heap cloning), so that their results are distinct objects.
//!
//! ```
//! use program::outside::Nothing;
//! use program::points_to::{PointsTo, Precision};
//! use program::whole::LinkedProgram;
//!
//! let module = program::Module::default();
//! let whole = LinkedProgram::new([(&module, &[][..])]);
//! let pointers = PointsTo::compute(&whole, &Nothing, Precision::Andersen, &[]);
//! assert_eq!(pointers.objects().len(), 2); // what is not the program's own
//! ```

mod andersen;
mod constraints;
mod instances;
mod places;
mod steensgaard;
mod wrappers;

use crate::inst::{Inst, Operand};
use crate::objects::{Object, ObjectId, Objects};
use crate::outside::{Effect, Outside};
use crate::whole::LinkedProgram;
use constraints::Constraints;
pub(crate) use constraints::slots;
use instances::Instances;
use instances::Var;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum length of the call chain, including the innermost call, that identifies an instance.
pub const MAX_CALL_CHAIN: usize = wrappers::MAX_HEIGHT as usize + 1;

/// Work limit, a few seconds, after which the coarser precision is used.
const WORK_LIMIT: u64 = 2_000_000_000;

/// Precision of the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Steensgaard: unification.
    Steensgaard,
    /// Andersen: inclusion, field-sensitive by offset.
    #[default]
    Andersen,
}

/// A points-to target: an object and an offset in it, `None` for any offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The object.
    pub object: ObjectId,
    /// Offset in bytes from the start of the object.
    pub offset: Option<u64>,
}

/// The result of the analysis.
pub struct PointsTo {
    objects: Objects,
    /// For each variable, its index in `lists`.
    sets: Vec<u32>,
    lists: Vec<Vec<Place>>,
    instances: Instances,
    /// For each object, the variable for all values stored in it.
    stored: Vec<Var>,
    /// Objects that symbol operands denote, by function and symbol.
    symbols: BTreeMap<(u32, u32), ObjectId>,
    /// Callees of indirect calls, by instance and instruction.
    callees: BTreeMap<(u32, u32), Vec<u32>>,
    coarse: bool,
}

/// When an analysis gives up.
#[derive(Clone, Copy)]
struct Limits<'l> {
    /// Work limit of the precise analysis.
    most: u64,
    /// Set by another thread when no result is wanted any more.
    stop: Option<&'l AtomicBool>,
}

impl Limits<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// The interface of a constraint solver.
trait Solver {
    /// Adds the constraints that are new since the last call and solves. False if a limit was exceeded.
    fn solve(&mut self, all: &Constraints<'_, '_>, limits: Limits<'_>) -> bool;
    /// The same number for variables with equal points-to sets.
    fn class(&mut self, var: Var) -> u32;
    /// The points-to set of a variable.
    fn places(&mut self, var: Var) -> Vec<Place>;
}

impl PointsTo {
    /// Computes points-to sets for a program. Code without a model calls the `entries`, and
    /// otherwise only functions that it receives.
    #[must_use]
    pub fn compute(
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        precision: Precision,
        entries: &[u32],
    ) -> PointsTo {
        PointsTo::within(whole, outside, precision, entries, Limits { most: WORK_LIMIT, stop: None }).0
    }

    /// As `compute`; `None` if another thread set `stop` before the end.
    #[must_use]
    pub fn compute_until(
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        precision: Precision,
        entries: &[u32],
        stop: Option<&AtomicBool>,
    ) -> Option<PointsTo> {
        let limits = Limits { most: WORK_LIMIT, stop };
        let (answer, finished) = PointsTo::within(whole, outside, precision, entries, limits);
        finished.then_some(answer)
    }

    /// The result, and whether it is one: false if the analysis was stopped.
    fn within(
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        precision: Precision,
        entries: &[u32],
        limits: Limits<'_>,
    ) -> (PointsTo, bool) {
        let by = |solver: &mut dyn Solver| PointsTo::by(solver, whole, outside, entries, limits);
        match precision {
            Precision::Steensgaard => by(&mut steensgaard::Steensgaard::default()),
            Precision::Andersen => {
                let (answer, finished) = by(&mut andersen::Andersen::default());
                if finished || limits.is_stopped() {
                    return (answer, finished);
                }
                let (answer, finished) = by(&mut steensgaard::Steensgaard::default());
                (PointsTo { coarse: true, ..answer }, finished)
            }
        }
    }

    /// Runs a solver. Returns the result, and whether the solver finished.
    fn by(
        solver: &mut dyn Solver,
        whole: &LinkedProgram<'_>,
        outside: &dyn Outside,
        entries: &[u32],
        limits: Limits<'_>,
    ) -> (PointsTo, bool) {
        let mut all = Constraints::of(whole, outside, entries);
        let mut symbols = BTreeMap::new();
        for f in 0..whole.functions() {
            for inst in &whole.function(f).code {
                inst.for_each_use(|operand, _| {
                    if let Operand::Symbol { symbol, .. } = operand
                        && let Some((object, _)) = all.address(f, Operand::Symbol { symbol, offset: 0 })
                    {
                        symbols.insert((f, symbol), object);
                    }
                });
            }
        }
        let mut linked = LinkedCalls::default();
        let mut finished = linked.link(&mut all, solver, entries, limits);
        let mut lists = Vec::new();
        let mut classes: HashMap<u32, u32> = HashMap::new();
        let mut sets = Vec::new();
        for var in 0..all.vars {
            let next = lists.len() as u32;
            let list = *classes.entry(solver.class(var)).or_insert(next);
            if list == next {
                finished = finished && !limits.is_stopped();
                lists.push(if finished { solver.places(var) } else { Vec::new() });
            }
            sets.push(list);
        }
        let Constraints { objects, instances, stored, .. } = all;
        let callees = linked.callees.into_iter().map(|(at, set)| (at, set.into_iter().collect()));
        let callees = callees.collect();
        let coarse = false;
        (PointsTo { objects, sets, lists, instances, stored, symbols, callees, coarse }, finished)
    }

    /// Whether the result is less precise than requested because of the work limit.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        self.coarse
    }

    /// All objects.
    #[must_use]
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The number of instances: first one for each function, with the function's number, then the
    /// others.
    #[must_use]
    pub fn instances(&self) -> u32 {
        self.instances.len()
    }

    /// The function of an instance.
    #[must_use]
    pub fn function(&self, instance: u32) -> u32 {
        self.instances.function(instance)
    }

    /// The instance that an instruction of `caller` calls, if it calls `callee`.
    #[must_use]
    pub fn called(&self, caller: u32, index: u32, callee: u32) -> u32 {
        self.instances.called(caller, index, callee)
    }

    /// The points-to set of a slot of an instance's operand.
    #[must_use]
    pub fn of(&self, instance: u32, operand: Operand, slot: u32) -> Cow<'_, [Place]> {
        match operand {
            Operand::Reg(_) => {
                let list = self.list_of(instance, operand, slot);
                list.map_or(&[][..], |list| self.list(list)).into()
            }
            Operand::Symbol { symbol, offset } if slot == 0 => {
                let object = self.symbols.get(&(self.function(instance), symbol));
                let offset = Some(offset.cast_unsigned());
                object.map(|object| Place { object: *object, offset }).into_iter().collect::<Vec<_>>().into()
            }
            _ => (&[]).into(),
        }
    }

    /// The index of the points-to list of a register. Registers share lists.
    pub(crate) fn list_of(&self, instance: u32, operand: Operand, slot: u32) -> Option<u32> {
        let Operand::Reg(r) = operand else { return None };
        let first = self.instances.first(instance);
        self.sets.get((first + r + slot) as usize).copied()
    }

    /// The list with this index.
    pub(crate) fn list(&self, list: u32) -> &[Place] {
        self.lists.get(list as usize).map_or(&[], Vec::as_slice)
    }

    /// The possible targets of pointers stored in an object.
    #[must_use]
    pub fn content(&self, object: ObjectId) -> &[Place] {
        let var = self.stored.get(object as usize);
        var.and_then(|v| self.sets.get(*v as usize)).map_or(&[], |list| self.list(*list))
    }

    /// The modelled functions that an indirect call of an instance may call.
    #[must_use]
    pub fn callees(&self, instance: u32, index: u32) -> &[u32] {
        self.callees.get(&(instance, index)).map_or(&[], Vec::as_slice)
    }
}

/// The indirect calls and callbacks that are linked so far.
#[derive(Default)]
struct LinkedCalls {
    callees: BTreeMap<(u32, u32), BTreeSet<u32>>,
    foreign: HashSet<(u32, u32, String)>,
    back: HashSet<(usize, u32)>,
}

impl LinkedCalls {
    /// Solves and links the indirect calls that the result resolves, until a fixpoint. False if the
    /// solver exceeded a limit.
    fn link(
        &mut self,
        all: &mut Constraints<'_, '_>,
        solver: &mut dyn Solver,
        entries: &[u32],
        limits: Limits<'_>,
    ) -> bool {
        loop {
            if !solver.solve(all, limits) {
                return false;
            }
            let before = all.list.len();
            self.link_indirect_calls(all, solver);
            self.back(all, solver);
            if all.list.len() > before {
                continue;
            }
            // At this point it is known that no modelled code calls the remaining entries.
            all.call_entry_points(entries);
            if all.list.len() == before {
                return true;
            }
        }
    }

    fn link_indirect_calls(&mut self, all: &mut Constraints<'_, '_>, solver: &mut dyn Solver) {
        for i in 0..all.indirect.len() {
            let at = all.indirect[i];
            let code = &all.whole.function(all.instances.function(at.instance)).code;
            let Inst::Call(call) = &code[at.index as usize] else { continue };
            for place in solver.places(at.callee) {
                let key = |name: &str| (at.instance, at.index, name.to_owned());
                match all.objects.get(place.object).clone() {
                    Object::Code { function } => {
                        let callees = self.callees.entry((at.instance, at.index)).or_default();
                        if all.can_call(call, function) && callees.insert(function) {
                            all.link(at.instance, at.index, call, function);
                        }
                    }
                    Object::Foreign { name } if self.foreign.insert(key(&name)) => {
                        let effect: Option<Effect> = all.effect(&name);
                        all.foreign(at.instance, at.index, call, effect);
                    }
                    Object::Outside if self.foreign.insert(key("")) => {
                        all.foreign(at.instance, at.index, call, None);
                    }
                    _ => {}
                }
            }
        }
        all.look();
    }

    fn back(&mut self, all: &mut Constraints<'_, '_>, solver: &mut dyn Solver) {
        for i in 0..all.call_backs.len() {
            let given = all.call_backs[i].clone();
            for place in given.args.iter().flat_map(|a| solver.places(*a)).collect::<Vec<_>>() {
                if let Object::Code { function } = *all.objects.get(place.object)
                    && self.back.insert((i, function))
                {
                    all.link_callback(&given, function);
                }
            }
        }
        all.look();
    }
}

#[cfg(test)]
mod tests;

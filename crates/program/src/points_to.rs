//! What pointers may point to, whatever the program is given.
//!
//! Two precisions. [`Precision::Steensgaard`] merges whatever flows together (Steensgaard,
//! *Points-to Analysis in Almost Linear Time*): quick on any program, and coarse.
//! [`Precision::Andersen`] keeps who flows to whom (Andersen) and, other than the first, where
//! in its object an address points. Both give one object to each allocating instruction, and
//! both find the callees of calls through pointers on the way. What would take the second too
//! long is left to the first. Functions that hand out what an allocator gave them are looked at
//! once for each of their calls, so that not all they ever gave is one object.
//!
//! ```
//! use program::outside::Nothing;
//! use program::points_to::{PointsTo, Precision};
//! use program::whole::Whole;
//!
//! let module = program::Module::default();
//! let whole = Whole::new([(&module, &[][..])]);
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
use crate::whole::Whole;
use constraints::Constraints;
pub(crate) use constraints::slots;
use instances::Instances;
use instances::Var;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// So many calls, the innermost among them, tell in which instance something happens.
pub const CHAIN: usize = wrappers::HIGHEST as usize + 1;

/// With more to do than this, some seconds, the coarser precision must be good enough.
const MOST_WORK: u64 = 2_000_000_000;

/// How exactly pointers are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Steensgaard: what flows together is one.
    Steensgaard,
    /// Andersen: what flows one way only flows one way, and offsets are kept.
    #[default]
    Andersen,
}

/// A place that may be pointed to: an object, and where in it; none for anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The object.
    pub object: ObjectId,
    /// Bytes from its start.
    pub offset: Option<u64>,
}

/// The answer.
pub struct PointsTo {
    objects: Objects,
    /// For each variable, which of `lists` it points to.
    sets: Vec<u32>,
    lists: Vec<Vec<Place>>,
    instances: Instances,
    /// The variables of all that is stored in each object.
    stored: Vec<Var>,
    /// Places that operands name by themselves: function and symbol.
    symbols: BTreeMap<(u32, u32), ObjectId>,
    /// Callees of calls through pointers, by function and instruction.
    callees: BTreeMap<(u32, u32), Vec<u32>>,
    coarse: bool,
}

/// What a solver must do.
trait Solver {
    /// Takes in constraints that have come since the last time; false if that is too much.
    fn solve(&mut self, all: &Constraints<'_, '_>) -> bool;
    /// The same number for variables that point to the same.
    fn class(&mut self, var: Var) -> u32;
    /// What a variable points to.
    fn places(&mut self, var: Var) -> Vec<Place>;
}

impl PointsTo {
    /// Finds what pointers of a program may point to. Code that is not modelled calls the
    /// `entries`, and besides only what it is given.
    #[must_use]
    pub fn compute(
        whole: &Whole<'_>,
        outside: &dyn Outside,
        precision: Precision,
        entries: &[u32],
    ) -> PointsTo {
        PointsTo::within(whole, outside, precision, entries, MOST_WORK)
    }

    /// The same, with so much work for the exact answer at most.
    fn within(
        whole: &Whole<'_>,
        outside: &dyn Outside,
        precision: Precision,
        entries: &[u32],
        most: u64,
    ) -> PointsTo {
        let by = |solver: &mut dyn Solver| PointsTo::by(solver, whole, outside, entries);
        match precision {
            Precision::Steensgaard => by(&mut steensgaard::Steensgaard::default()).0,
            Precision::Andersen => {
                let (answer, finished) = by(&mut andersen::Andersen::within(most));
                if finished {
                    return answer;
                }
                PointsTo { coarse: true, ..by(&mut steensgaard::Steensgaard::default()).0 }
            }
        }
    }

    /// The answer of a solver, and whether it finished.
    fn by(
        solver: &mut dyn Solver,
        whole: &Whole<'_>,
        outside: &dyn Outside,
        entries: &[u32],
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
        let mut linked = Linked::default();
        let finished = linked.link(&mut all, solver, entries);
        let mut lists = Vec::new();
        let mut classes: HashMap<u32, u32> = HashMap::new();
        let mut sets = Vec::new();
        for var in 0..all.vars {
            let next = lists.len() as u32;
            let list = *classes.entry(solver.class(var)).or_insert(next);
            if list == next {
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

    /// Whether this is less exact than was asked for, which would have taken too long.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        self.coarse
    }

    /// All objects.
    #[must_use]
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// How many instances there are: the first of each function, which have the functions'
    /// numbers, and others.
    #[must_use]
    pub fn instances(&self) -> u32 {
        self.instances.len()
    }

    /// The function of an instance.
    #[must_use]
    pub fn function(&self, instance: u32) -> u32 {
        self.instances.function(instance)
    }

    /// The instance that an instruction of one calls, if it calls this function.
    #[must_use]
    pub fn called(&self, caller: u32, index: u32, callee: u32) -> u32 {
        self.instances.called(caller, index, callee)
    }

    /// What a slot of an instance's operand may point to.
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

    /// The number of the list of what a register may point to; many share one.
    pub(crate) fn list_of(&self, instance: u32, operand: Operand, slot: u32) -> Option<u32> {
        let Operand::Reg(r) = operand else { return None };
        let first = self.instances.first(instance);
        self.sets.get((first + r + slot) as usize).copied()
    }

    /// A list by its number.
    pub(crate) fn list(&self, list: u32) -> &[Place] {
        self.lists.get(list as usize).map_or(&[], Vec::as_slice)
    }

    /// What is stored in an object may point to these.
    #[must_use]
    pub fn content(&self, object: ObjectId) -> &[Place] {
        let var = self.stored.get(object as usize);
        var.and_then(|v| self.sets.get(*v as usize)).map_or(&[], |list| self.list(*list))
    }

    /// The modelled functions that an instance's call through a pointer may call.
    #[must_use]
    pub fn callees(&self, instance: u32, index: u32) -> &[u32] {
        self.callees.get(&(instance, index)).map_or(&[], Vec::as_slice)
    }
}

/// What calls through pointers and calls back were found to call.
#[derive(Default)]
struct Linked {
    callees: BTreeMap<(u32, u32), BTreeSet<u32>>,
    foreign: HashSet<(u32, u32, String)>,
    back: HashSet<(usize, u32)>,
}

impl Linked {
    /// Solves, links calls through pointers to what was found, and so on until nothing is new;
    /// false if the solver gave up.
    fn link(&mut self, all: &mut Constraints<'_, '_>, solver: &mut dyn Solver, entries: &[u32]) -> bool {
        loop {
            if !solver.solve(all) {
                return false;
            }
            let before = all.list.len();
            self.through_pointers(all, solver);
            self.back(all, solver);
            if all.list.len() > before {
                continue;
            }
            // Only now is it known that nothing here calls them.
            all.call_from_outside(entries);
            if all.list.len() == before {
                return true;
            }
        }
    }

    fn through_pointers(&mut self, all: &mut Constraints<'_, '_>, solver: &mut dyn Solver) {
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
                    all.called_back(&given, function);
                }
            }
        }
        all.look();
    }
}

#[cfg(test)]
mod tests;

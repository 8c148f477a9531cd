//! What pointers may point to, whatever the program is given.
//!
//! Two precisions. [`Precision::Unified`] merges whatever flows together (Steensgaard,
//! *Points-to Analysis in Almost Linear Time*): quick on any program, and coarse.
//! [`Precision::Directed`] keeps who flows to whom (Andersen) and, other than the first, where
//! in its object an address points. Both give one object to each allocating instruction, and
//! both find the callees of calls through pointers on the way.
//!
//! ```
//! use program::outside::Nothing;
//! use program::points_to::{PointsTo, Precision};
//! use program::whole::Whole;
//!
//! let module = program::Module::default();
//! let whole = Whole::new([(&module, &[][..])]);
//! let pointers = PointsTo::compute(&whole, &Nothing, Precision::Directed);
//! assert_eq!(pointers.objects().len(), 1); // all that is not the program's own
//! ```

mod constraints;
mod directed;
mod places;
mod unified;

use crate::inst::{Inst, Operand};
use crate::objects::{Object, ObjectId, Objects};
use crate::outside::{Effect, Outside};
use crate::whole::Whole;
pub(crate) use constraints::slots;
use constraints::{Constraints, Var};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// How exactly pointers are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// What flows together is one.
    Unified,
    /// What flows one way only flows one way, and offsets are kept.
    #[default]
    Directed,
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
    /// First variable of each function.
    first: Vec<Var>,
    contents: Vec<Var>,
    /// Places that operands name by themselves: function and symbol.
    symbols: BTreeMap<(u32, u32), ObjectId>,
    /// Callees of calls through pointers, by function and instruction.
    callees: BTreeMap<(u32, u32), Vec<u32>>,
}

/// What a solver must do.
trait Solver {
    /// Takes in constraints that have come since the last time.
    fn solve(&mut self, all: &Constraints<'_, '_>);
    /// The same number for variables that point to the same.
    fn class(&mut self, var: Var) -> u32;
    /// What a variable points to.
    fn places(&mut self, var: Var) -> Vec<Place>;
}

impl PointsTo {
    /// Finds what pointers of a program may point to.
    #[must_use]
    pub fn compute(whole: &Whole<'_>, outside: &dyn Outside, precision: Precision) -> PointsTo {
        let mut all = Constraints::of(whole, outside);
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
        let mut solver: Box<dyn Solver> = match precision {
            Precision::Unified => Box::new(unified::Unified::default()),
            Precision::Directed => Box::new(directed::Directed::default()),
        };
        let callees = link(&mut all, &mut *solver);
        let mut lists = Vec::new();
        let mut classes: HashMap<u32, u32> = HashMap::new();
        let mut sets = Vec::new();
        for var in 0..all.vars {
            let next = lists.len() as u32;
            let list = *classes.entry(solver.class(var)).or_insert(next);
            if list == next {
                lists.push(solver.places(var));
            }
            sets.push(list);
        }
        let first = (0..whole.functions()).map(|f| all.reg(f, 0)).collect();
        let Constraints { objects, contents, .. } = all;
        PointsTo { objects, sets, lists, first, contents, symbols, callees }
    }

    /// All objects.
    #[must_use]
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// What a slot of a function's operand may point to.
    #[must_use]
    pub fn of(&self, function: u32, operand: Operand, slot: u32) -> Cow<'_, [Place]> {
        match operand {
            Operand::Reg(_) => {
                let list = self.list_of(function, operand, slot);
                list.map_or(&[][..], |list| self.list(list)).into()
            }
            Operand::Symbol { symbol, offset } if slot == 0 => {
                let object = self.symbols.get(&(function, symbol));
                let offset = Some(offset.cast_unsigned());
                object.map(|object| Place { object: *object, offset }).into_iter().collect::<Vec<_>>().into()
            }
            _ => (&[]).into(),
        }
    }

    /// The number of the list of what a register may point to; many share one.
    pub(crate) fn list_of(&self, function: u32, operand: Operand, slot: u32) -> Option<u32> {
        let (Operand::Reg(r), Some(first)) = (operand, self.first.get(function as usize)) else {
            return None;
        };
        self.sets.get((first + r + slot) as usize).copied()
    }

    /// A list by its number.
    pub(crate) fn list(&self, list: u32) -> &[Place] {
        self.lists.get(list as usize).map_or(&[], Vec::as_slice)
    }

    /// What is stored in an object may point to these.
    #[must_use]
    pub fn content(&self, object: ObjectId) -> &[Place] {
        let var = self.contents.get(object as usize);
        var.and_then(|v| self.sets.get(*v as usize)).map_or(&[], |list| self.list(*list))
    }

    /// The modelled functions that a call through a pointer may call.
    #[must_use]
    pub fn callees(&self, function: u32, index: u32) -> &[u32] {
        self.callees.get(&(function, index)).map_or(&[], Vec::as_slice)
    }
}

/// Solves, links calls through pointers to what was found, and so on until nothing is new.
fn link(all: &mut Constraints<'_, '_>, solver: &mut dyn Solver) -> BTreeMap<(u32, u32), Vec<u32>> {
    let mut linked: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
    let mut foreign: HashSet<(u32, u32, String)> = HashSet::new();
    let mut back: HashSet<(usize, u32)> = HashSet::new();
    loop {
        solver.solve(all);
        let before = all.list.len();
        for i in 0..all.indirect.len() {
            let at = all.indirect[i];
            let Inst::Call(call) = &all.whole.function(at.function).code[at.index as usize] else { continue };
            for place in solver.places(at.callee) {
                let key = |name: &str| (at.function, at.index, name.to_owned());
                match all.objects.get(place.object).clone() {
                    Object::Code { function }
                        if linked.entry((at.function, at.index)).or_default().insert(function) =>
                    {
                        all.link(at.function, call, function);
                    }
                    Object::Foreign { name } if foreign.insert(key(&name)) => {
                        let effect: Option<Effect> = all.effect(&name);
                        all.foreign(at.function, at.index, call, effect);
                    }
                    Object::Outside if foreign.insert(key("")) => {
                        all.foreign(at.function, at.index, call, None);
                    }
                    _ => {}
                }
            }
        }
        for i in 0..all.call_backs.len() {
            let given = all.call_backs[i].clone();
            for place in given.args.iter().flat_map(|a| solver.places(*a)).collect::<Vec<_>>() {
                if let Object::Code { function } = *all.objects.get(place.object)
                    && back.insert((i, function))
                {
                    all.called_back(&given, function);
                }
            }
        }
        if all.list.len() == before {
            return linked.into_iter().map(|(at, set)| (at, set.into_iter().collect())).collect();
        }
    }
}

#[cfg(test)]
mod tests;

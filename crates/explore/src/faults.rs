//! The search for inputs that make a program fault, as a separate goal.
//!
//! Groups by output alone do not cover code that no output depends on, and of each group only one path is
//! run. So there are two more kinds of queries:
//!
//! * on the path of each run, whether an access could leave its object, a division could trap, or a number
//!   could be out of range for the type it is converted to;
//! * when no group is left, negations of branches that lead to code that could fault and that no run reached.
//!
//! What is reported was run. Either a signal ended the run, or the run took the same path up to the access,
//! and the address, computed from the input, is outside of its object: such an access is undefined even
//! without a signal.

use crate::distance::{Distances, Edge};
use crate::follow::not_taken;
use crate::relevant::RelevantConditions;
use alternate::{Ended, Rerun, Status};
use program::inst::{BinOp, Inst, Operand};
use program::model::{Function, Module};
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::Null;
use solver::Term;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;
use symbolic::{Input, Kind, Path, TermContext};

/// An input that makes the program fault.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The input.
    pub input: Input,
    /// The behaviour with it.
    pub ended: Ended,
    /// The kind of fault, as text.
    pub what: String,
    /// The path of the source file, as it was compiled.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The linkage name of the function.
    pub function: String,
}

/// An instruction: module, function and index.
pub(crate) type Place = (u32, u32, u32);

/// Maximum number of queries per instruction.
const MAX_QUERIES: u32 = 6;
/// Maximum number of queries per edge towards code that could fault.
const MAX_NEGATED: u32 = 3;

/// A branch to negate.
struct NegationTask {
    conditions: Rc<Vec<Term>>,
    position: usize,
    from: Rc<Input>,
    branch_edge: Edge,
}

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct Faults {
    pub found: Vec<Fault>,
    asked: HashMap<Place, u32>,
    faulted: HashSet<Place>,
    /// Branch edges that runs took.
    taken: HashSet<Edge>,
    /// Distances of edges from code that could fault.
    distances: Option<Distances>,
    negations: VecDeque<NegationTask>,
    turned: HashMap<Edge, u32>,
}

impl Faults {
    /// Whether no branch is left to negate.
    pub fn is_done(&self) -> bool {
        self.negations.iter().all(|turn| self.is_exhausted(&turn.branch_edge))
    }

    fn is_exhausted(&self, branch_edge: &Edge) -> bool {
        self.taken.contains(branch_edge)
            || self.turned.get(branch_edge).is_some_and(|times| *times >= MAX_NEGATED)
    }

    /// Adds a run: where it ended, and which branches may be negated towards code that could fault.
    pub fn add_run(&mut self, input: &Input, rerun: &Rerun, path: &Path, relevant: &RelevantConditions) {
        self.taken.extend(relevant.taken.iter().copied());
        let image = &rerun.process.image;
        if let (Some(place), Some(signal)) = (relevant.end, faulting(&rerun.ended)) {
            self.report(image, place, signal, input, &rerun.ended);
        }
        if self.distances.is_none() {
            self.distances = Some(Distances::new(image, &can_fault));
        }
        let Some(distances) = &self.distances else { return };
        let decided: HashSet<usize> = relevant.order.iter().copied().collect();
        let mut shared = None;
        for (position, condition) in path.conditions.iter().enumerate() {
            // The exploration itself negates those that outputs depend on.
            if condition.repeated || decided.contains(&position) {
                continue;
            }
            for branch_edge in not_taken(rerun, condition) {
                if self.is_exhausted(&branch_edge) || distances.of(branch_edge).is_none() {
                    continue;
                }
                let (conditions, from) = shared.get_or_insert_with(|| {
                    let terms: Vec<Term> = path.conditions.iter().map(|c| c.term).collect();
                    (Rc::new(terms), Rc::new(input.clone()))
                });
                let turn = NegationTask {
                    conditions: conditions.clone(),
                    position,
                    from: from.clone(),
                    branch_edge,
                };
                if self.negations.iter().filter(|t| t.branch_edge == branch_edge).count()
                    < MAX_NEGATED as usize
                {
                    self.negations.push_back(turn);
                }
            }
        }
    }

    /// The next query towards code that no run reached.
    pub fn next(&mut self, world: &mut TermContext) -> Option<(Vec<Term>, Input)> {
        while let Some(turn) = self.negations.pop_front() {
            if self.is_exhausted(&turn.branch_edge) {
                continue;
            }
            *self.turned.entry(turn.branch_edge).or_default() += 1;
            let mut terms = turn.conditions[..turn.position].to_vec();
            terms.push(world.pool.not(turn.conditions[turn.position]));
            return Some((terms, (*turn.from).clone()));
        }
        None
    }

    /// The conditions of a path whose negation is a fault, within the limit per instruction.
    pub fn questions(&mut self, path: &Path) -> Vec<usize> {
        let mut list = Vec::new();
        for (number, condition) in path.conditions.iter().enumerate() {
            let place = (condition.at.module, condition.at.function, condition.at.index);
            if condition.kind != Kind::Bounds || condition.repeated || self.faulted.contains(&place) {
                continue;
            }
            let asked = self.asked.entry(place).or_default();
            if *asked < MAX_QUERIES {
                *asked += 1;
                list.push(number);
            }
        }
        list
    }

    /// Checks whether a run with a model of a condition's negation faulted there.
    pub fn judge(
        &mut self,
        world: &mut TermContext,
        follow: &symbolic::Options,
        path: &Path,
        number: usize,
        input: &Input,
        run: Rerun,
    ) {
        let condition = path.conditions[number];
        let place = (condition.at.module, condition.at.function, condition.at.index);
        let image = &run.process.image;
        let what = match faulting(&run.ended) {
            // The run may fault before it is there; then the fault is reported where it is.
            Some(signal) => {
                if let Some(end) = last_instruction(&run) {
                    self.report(image, end, signal, input, &run.ended);
                }
                return;
            }
            None => {
                let followed = symbolic::replay(&run.process, &run.recorded, run.stream, world, follow);
                let Ok(other) = followed else { return };
                let same =
                    path.conditions[..number].iter().zip(&other.conditions).all(|(a, b)| a.term == b.term);
                let there = other.conditions.get(number).is_some_and(|c| {
                    (c.at.module, c.at.function, c.at.index, c.at.step)
                        == (place.0, place.1, place.2, condition.at.step)
                });
                match undefined(image, place) {
                    Some(what) if same && there => what.to_owned(),
                    _ => return,
                }
            }
        };
        self.report(image, place, what, input, &run.ended);
    }

    fn report(&mut self, image: &Image, place: Place, what: String, input: &Input, ended: &Ended) {
        if !self.faulted.insert(place) {
            return;
        }
        let (module, at, index) = place;
        let module = image.module(module);
        let Some(function) = module.functions.get(at as usize) else { return };
        let source = function.place(index as usize);
        self.found.push(Fault {
            input: input.clone(),
            ended: ended.clone(),
            what,
            file: module.file_path(source.file),
            line: source.line,
            function: function.name.clone(),
        });
    }
}

/// The instruction at which a run ended; `None` if it does not replay.
fn last_instruction(run: &Rerun) -> Option<Place> {
    let loaded = run.process.stream(run.stream)?;
    let mut machine = Machine::new(&run.process.image, &loaded.stream);
    machine.run(&mut Null, u64::MAX).ok()?;
    let frame = machine.frames().last()?;
    let code = run.process.image.code(frame.function);
    Some((code.module, code.function, frame.pc))
}

/// The signal of a fault, if one ended the run.
fn faulting(ended: &Ended) -> Option<String> {
    match ended.status {
        Status::Signal(number) => {
            let name = trials::signal_name(number)?;
            matches!(name, "SIGSEGV" | "SIGBUS" | "SIGFPE" | "SIGILL").then(|| name.to_owned())
        }
        _ => None,
    }
}

/// The undefined behaviour of an instruction whose condition is violated without a signal.
fn undefined(image: &Image, (module, function, index): Place) -> Option<&'static str> {
    let function = image.module(module).functions.get(function as usize)?;
    match function.code.get(index as usize)? {
        Inst::Load { .. } => Some("reads outside of its object"),
        Inst::Store { .. } => Some("writes outside of its object"),
        Inst::Cast { .. } => Some("converts a number that does not fit"),
        _ => None,
    }
}

/// Whether an instruction can fault: an access by a computed address, a division, a trap.
fn can_fault(_: &Module, function: &Function, index: usize) -> bool {
    match function.code.get(index) {
        Some(Inst::Load { addr, .. } | Inst::Store { addr, .. }) => matches!(addr, Operand::Reg(_)),
        Some(Inst::Bin { op: BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem, b, .. }) => {
            !matches!(b, Operand::Const(_))
        }
        Some(Inst::Trap) => true,
        _ => false,
    }
}

//! Which changes a run reached, and whether they affected its values.
//!
//! Two runs of different versions are compared by what they assign, store, return and decide on lines that
//! both versions have. The first difference is attributed to the change that ran last before it. Addresses
//! are never compared.

use crate::changed::{BranchEdge, Changed, Code, Line, same_line};
use alternate::Side;
use changes::{ChangeId, Difference};
use program::inst::{BlockId, Inst, Operand, Reg, Ty};
use program::model::{Binding, Home};
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// Maximum number of events that are compared.
const MAX_EVENTS: usize = 4_000_000;

/// The data of a run that are compared.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Changes that ran.
    pub reached: BTreeSet<ChangeId>,
    /// The edges it took of branches in functions with changes.
    pub branch_edges: BTreeSet<BranchEdge>,
    /// The first step of an instruction of a change.
    pub first: Option<u64>,
    /// Hashes of the events on lines that both versions have.
    events: Vec<u64>,
    /// Each time a change ran: the number of events before it.
    passed: Vec<(usize, ChangeId)>,
    /// Values assigned on the lines of a change, by kind or variable, each with the number of events before
    /// it.
    assigned: BTreeMap<(ChangeId, String), Vec<(u64, usize)>>,
}

/// Maps the lines of one version to changes and to common lines.
pub struct Lines<'l> {
    /// The difference between the versions.
    pub difference: &'l Difference,
    /// The changes, located in both versions.
    pub changed: &'l Changed,
    /// The version of the run.
    pub side: Side,
    /// The root of the sources that it was built from.
    pub tree: &'l Path,
}

/// The source of an instruction.
#[derive(Clone, Debug)]
enum LineOrigin {
    /// A line that both versions have, by its hash.
    Same(u64),
    /// Lines of changes.
    Of(Vec<ChangeId>),
    /// Code outside of the tree.
    Nothing,
}

impl Trace {
    /// Replays a stream of a run.
    ///
    /// # Errors
    /// If it does not replay.
    pub fn of(process: &LoadedProcess, stream: u32, lines: &Lines<'_>) -> replay::error::Result<Trace> {
        let mut tracer = Tracer {
            lines,
            trace: Trace::default(),
            known: HashMap::new(),
            taken: HashSet::new(),
            made: HashMap::new(),
            last: None,
        };
        if let Some(stream) = process.stream(stream) {
            Machine::new(&process.image, &stream.stream).run(&mut tracer, u64::MAX)?;
        }
        let near = lines.changed.branch_edges.of(lines.side);
        let name = |(module, function, from, to): (u32, u32, BlockId, BlockId)| {
            let functions = &process.image.module(module).functions;
            functions.get(function as usize).map(|f| (f.name.clone(), from, to))
        };
        tracer.trace.branch_edges =
            tracer.taken.into_iter().filter_map(name).filter(|w| near.contains(w)).collect();
        Ok(tracer.trace)
    }

    /// The changes that affected the run, as far as two runs with the same input show it, each with the
    /// number of events before the first difference.
    #[must_use]
    pub fn infected(&self, other: &Trace) -> BTreeMap<ChangeId, usize> {
        let mut infected: BTreeMap<ChangeId, usize> = BTreeMap::new();
        let mut infect = |change: ChangeId, at: usize| {
            let known = infected.entry(change).or_insert(at);
            *known = at.min(*known);
        };
        for (key, values) in &self.assigned {
            let Some(theirs) = other.assigned.get(key) else { continue };
            let equal = values.iter().zip(theirs).take_while(|(a, b)| a.0 == b.0).count();
            let at = |values: &[(u64, usize)]| values.get(equal).map(|value| value.1);
            if let Some(at) = at(values).into_iter().chain(at(theirs)).min() {
                infect(key.0, at);
            }
        }
        let first = self.events.iter().zip(&other.events).position(|(a, b)| a != b);
        let shorter = self.events.len().min(other.events.len());
        let differs = first.or((self.events.len() != other.events.len()).then_some(shorter));
        if let Some(at) = differs {
            for trace in [self, other] {
                let before = trace.passed.partition_point(|(events, _)| *events <= at);
                if let Some(n) = before.checked_sub(1) {
                    infect(trace.passed[n].1, at);
                }
            }
        }
        infected
    }
}

struct Tracer<'t> {
    lines: &'t Lines<'t>,
    trace: Trace,
    /// By module and function: the source of each instruction.
    known: HashMap<(u32, u32), Vec<LineOrigin>>,
    /// The branch edges taken, by module, function and blocks.
    taken: HashSet<(u32, u32, BlockId, BlockId)>,
    /// By module and function: which instruction makes each register.
    made: HashMap<(u32, u32), HashMap<Reg, u32>>,
    last: Option<ChangeId>,
}

fn number(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

impl Tracer<'_> {
    fn line_origin(&mut self, view: &View<'_>) -> LineOrigin {
        let key = (view.code.module, view.code.function);
        let lines = self.lines;
        let known = self.known.entry(key).or_insert_with(|| {
            let (module, function) = (view.module(), view.function());
            let code = Code { image: view.image, tree: lines.tree };
            let origin_of = |index: usize| {
                let place = function.place(index);
                match code.line(module, place.file, place.line) {
                    Some(line) => lines.origin_of(&line),
                    None => LineOrigin::Nothing,
                }
            };
            (0..function.code.len()).map(origin_of).collect()
        });
        known.get(view.index as usize).cloned().unwrap_or(LineOrigin::Nothing)
    }

    /// The instruction that computed the value assigned to a variable; `None` for a parameter, which
    /// the caller assigned. No instruction computes a constant, so the preceding instruction is
    /// returned.
    fn made_at(&mut self, view: &View<'_>, operand: Operand) -> Option<u32> {
        let Operand::Reg(reg) = operand else { return Some(view.index.saturating_sub(1)) };
        let made = self.made.entry((view.code.module, view.code.function)).or_insert_with(|| {
            let defined = view.function().code.iter().enumerate().filter_map(|(index, inst)| {
                let (first, count) = inst.defines()?;
                Some((first..first + count).map(move |reg| (reg, index as u32)))
            });
            defined.flatten().collect()
        });
        made.get(&reg).copied()
    }

    fn happened(&mut self, view: &View<'_>, what: &str, value: u64) {
        if self.trace.events.len() >= MAX_EVENTS {
            return;
        }
        match self.line_origin(view) {
            LineOrigin::Same(line) => self.trace.events.push(number((line, what, value))),
            LineOrigin::Of(changes) => {
                let before = self.trace.events.len();
                for change in changes {
                    self.trace.assigned.entry((change, what.to_owned())).or_default().push((value, before));
                }
            }
            LineOrigin::Nothing => {}
        }
    }
}

impl Lines<'_> {
    fn origin_of(&self, line: &Line) -> LineOrigin {
        let changes = self.changed.at(self.side, line);
        if !changes.is_empty() {
            return LineOrigin::Of(changes.to_vec());
        }
        let common = match self.side {
            Side::Old if self.difference.touching_old(&line.0, line.1).is_some() => None,
            Side::Old => Some(line.clone()),
            Side::New => same_line(self.difference, line),
        };
        common.map_or(LineOrigin::Nothing, |line| LineOrigin::Same(number(line)))
    }
}

/// A number in 64 bits, the same for every type; `None` for addresses. A structure with pointers may be
/// returned as numbers, so values in the address range of programs, heaps and stacks count as addresses
/// too.
fn plain(view: &View<'_>, operand: Operand, ty: Ty) -> Option<u64> {
    const PLACES: std::ops::Range<u64> = 0x5500_0000_0000..0x8000_0000_0000;
    let value = view.value(operand);
    match ty {
        Ty::Ptr => None,
        Ty::Int(bits) if (1..64).contains(&bits) => {
            let above = 64 - u32::from(bits);
            Some(((value << above).cast_signed() >> above).cast_unsigned())
        }
        _ => Some(value).filter(|value| !PLACES.contains(value)),
    }
}

impl Observer for Tracer<'_> {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        let line_origin = self.line_origin(view);
        if let LineOrigin::Of(changes) = &line_origin {
            for change in changes {
                self.trace.reached.insert(*change);
                self.trace.first.get_or_insert(view.count);
                if self.last != Some(*change) {
                    self.trace.passed.push((self.trace.events.len(), *change));
                    self.last = Some(*change);
                }
            }
        } else if matches!(line_origin, LineOrigin::Same(_)) {
            self.last = None;
        }
        let function = view.function();
        let from = function.bindings.partition_point(|b| b.at < view.index);
        let bound = function.bindings[from..].iter().take_while(|b| b.at == view.index);
        for Binding { variable, home, .. } in bound {
            if let (Home::Value(operand, ty), Some(variable)) =
                (home, function.variables.get(*variable as usize))
                && let Some(value) = plain(view, *operand, *ty)
                && let Some(index) = self.made_at(view, *operand)
            {
                self.happened(&View { index, ..*view }, &variable.name, value);
            }
        }
        match view.inst() {
            Inst::Store { value, ty, .. } => {
                if let Some(value) = plain(view, *value, *ty) {
                    self.happened(view, "store", value);
                }
            }
            Inst::Return { value: Some(value), ret } if ret.len() == 1 => {
                if let Some(value) = plain(view, *value, ret[0]) {
                    self.happened(view, "return", value);
                }
            }
            _ => {}
        }
    }

    fn edge(&mut self, view: &View<'_>, from: BlockId, to: BlockId) {
        self.taken.insert((view.code.module, view.code.function, from, to));
        // Conditions that were only rewritten are compiled to other branches, which is not yet a difference.
        let changed = self.lines.changed;
        if let LineOrigin::Of(changes) = self.line_origin(view)
            && !changes.iter().all(|id| changed.has_same_branches(*id))
        {
            return;
        }
        if let Inst::Branch { then, .. } = view.inst() {
            self.happened(view, "branch", u64::from(*then == to));
        }
    }
}

//! Which standard streams an instruction may write to, including its callees.
//!
//! The table of externals records which argument of an output function is the stream or descriptor. A
//! flow-insensitive data-flow analysis finds its possible values: a load of `stdout` or `stderr`, a
//! constant, a parameter over all calls of a function. A value loaded from other memory may be either, and
//! what `fopen` returned is neither. A function that is not in the table does not write.

use crate::library::Table;
use crate::summary::parameters;
use externals::{Channel, Direction, External, flag};
use program::branch_edges::BranchEdges;
use program::inst::{BlockId, Call, Inst, Operand};
use program::mod_summaries::ModSummaries;
use program::objects::Object;
use program::whole::{Callee, LinkedProgram};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{BitAnd, BitOr, BitOrAssign};
use std::sync::OnceLock;

/// Standard output or error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StandardStream {
    /// `stdout`, descriptor 1.
    Output,
    /// `stderr`, descriptor 2.
    Error,
}

impl StandardStream {
    /// By its name in C: `stdout` or `stderr`.
    #[must_use]
    pub fn named(name: &str) -> Option<StandardStream> {
        match name {
            "stdout" => Some(StandardStream::Output),
            "stderr" => Some(StandardStream::Error),
            _ => None,
        }
    }

    /// By the kind of a recorded source.
    pub(crate) fn of_kind(kind: u8) -> Option<StandardStream> {
        match kind {
            recording::event::source::STDOUT => Some(StandardStream::Output),
            recording::event::source::STDERR => Some(StandardStream::Error),
            _ => None,
        }
    }
}

/// A set of standard streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams(u8);

impl Streams {
    pub const NONE: Streams = Streams(0);
    pub const ALL: Streams = Streams(3);

    pub fn is_empty(self) -> bool {
        self == Streams::NONE
    }
}

impl From<StandardStream> for Streams {
    fn from(stream: StandardStream) -> Streams {
        Streams(1 << stream as u8)
    }
}

impl BitOr for Streams {
    type Output = Streams;
    fn bitor(self, other: Streams) -> Streams {
        Streams(self.0 | other.0)
    }
}

impl BitOrAssign for Streams {
    fn bitor_assign(&mut self, other: Streams) {
        *self = *self | other;
    }
}

impl BitAnd for Streams {
    type Output = Streams;
    fn bitand(self, other: Streams) -> Streams {
        Streams(self.0 & other.0)
    }
}

/// A successor of a branch, and the streams that may be written to if it is taken.
type Alternative = (BlockId, Streams);

/// The possible callees of a call.
#[derive(Default)]
struct Callees {
    /// Modelled functions, and whether they receive the arguments of the call.
    functions: BTreeMap<u32, bool>,
    externals: Vec<&'static External>,
}

/// See the module's documentation.
pub struct OutputEffects {
    /// The streams that each block of each function may write to, including callees.
    blocks: Vec<Vec<Streams>>,
    functions: Vec<Streams>,
    /// By function and block.
    alternatives: Vec<Vec<OnceLock<Vec<Alternative>>>>,
}

impl OutputEffects {
    /// `entries` are functions that were called from outside the program.
    pub fn new(whole: &LinkedProgram<'_>, may: &ModSummaries, entries: &[u32]) -> OutputEffects {
        let calls = callees(whole, may);
        let handles = Handles::new(whole, &calls, entries);
        let mut blocks: Vec<Vec<Streams>> = Vec::new();
        for f in 0..whole.functions() {
            let function = whole.function(f);
            let mut of_blocks = vec![Streams::NONE; function.blocks.len()];
            for (index, call) in &calls[f as usize] {
                let Inst::Call(inst) = &function.code[*index as usize] else { continue };
                let block = function.blocks.partition_point(|b| b.end <= *index);
                for known in &call.externals {
                    of_blocks[block] |= handles.written(f, inst, known);
                }
            }
            blocks.push(of_blocks);
        }
        let mut callers: Vec<BTreeSet<(u32, usize)>> = vec![BTreeSet::new(); blocks.len()];
        for f in 0..whole.functions() {
            for (index, call) in &calls[f as usize] {
                let block = whole.function(f).blocks.partition_point(|b| b.end <= *index);
                for callee in call.functions.keys() {
                    callers[*callee as usize].insert((f, block));
                }
            }
        }
        let all = |of: &[Streams]| of.iter().fold(Streams::NONE, |a, b| a | *b);
        let mut functions: Vec<Streams> = blocks.iter().map(|of| all(of)).collect();
        let mut work: Vec<u32> = (0..whole.functions()).collect();
        while let Some(callee) = work.pop() {
            let written = functions[callee as usize];
            for (caller, block) in &callers[callee as usize] {
                blocks[*caller as usize][*block] |= written;
                let before = functions[*caller as usize];
                functions[*caller as usize] |= written;
                if functions[*caller as usize] != before {
                    work.push(*caller);
                }
            }
        }
        let alternatives = blocks.iter().map(|of| of.iter().map(|_| OnceLock::new()).collect()).collect();
        OutputEffects { blocks, functions, alternatives }
    }

    /// The streams that a function may write to, including its callees.
    pub fn of_function(&self, function: u32) -> Streams {
        self.functions[function as usize]
    }

    /// The successors of a block's branch on which anything may be written.
    pub fn alternatives(
        &self,
        function: u32,
        block: BlockId,
        ways: &BranchEdges,
        branch: &Inst,
    ) -> &[Alternative] {
        self.alternatives[function as usize][block as usize].get_or_init(|| {
            let of = &self.blocks[function as usize];
            let mut successors = branch.successors();
            successors.sort_unstable();
            successors.dedup();
            if successors.len() < 2 {
                return Vec::new();
            }
            let written = |to: BlockId| {
                let region = ways.region((block, to));
                region.blocks().fold(Streams::NONE, |sum, b| sum | of[b as usize])
            };
            let all = successors.into_iter().map(|to| (to, written(to)));
            all.filter(|(_, written)| !written.is_empty()).collect()
        })
    }
}

/// The calls of each function, by instruction.
fn callees(whole: &LinkedProgram<'_>, may: &ModSummaries) -> Vec<BTreeMap<u32, Callees>> {
    let pointers = may.pointers();
    let mut all: Vec<BTreeMap<u32, Callees>> = Vec::new();
    all.resize_with(whole.functions() as usize, BTreeMap::new);
    for instance in 0..pointers.instances() {
        let f = pointers.function(instance);
        for (index, inst) in (0..).zip(&whole.function(f).code) {
            let Inst::Call(call) = inst else { continue };
            let of = all[f as usize].entry(index).or_default();
            let callee = whole.callee(f, call.callee);
            match callee {
                Callee::Function(_) => {}
                Callee::External(name) => of.externals.extend(externals::find(name)),
                Callee::Pointer => {
                    for place in pointers.of(instance, call.callee, 0).iter() {
                        if let Object::Foreign { name } = pointers.objects().get(place.object) {
                            of.externals.extend(externals::find(name));
                        }
                    }
                }
            }
            let is_own = !matches!(callee, Callee::External(_)) && of.externals.is_empty();
            for called in may.called(whole, &Table, instance, index) {
                let passes = of.functions.entry(pointers.function(called)).or_insert(is_own);
                *passes &= is_own;
            }
        }
    }
    all
}

/// For each register of each function, the standard streams whose `FILE *` or descriptor it may hold.
struct Handles {
    functions: Vec<Vec<Streams>>,
}

impl Handles {
    fn new(whole: &LinkedProgram<'_>, calls: &[BTreeMap<u32, Callees>], entries: &[u32]) -> Handles {
        let registers = |f: u32| vec![Streams::NONE; whole.function(f).slots as usize];
        let mut all = Handles { functions: (0..whole.functions()).map(registers).collect() };
        let mut work: BTreeSet<u32> = (0..whole.functions()).collect();
        for f in entries {
            all.give_any(whole, *f);
        }
        while let Some(f) = work.pop_last() {
            all.flow(whole, f, &calls[f as usize]);
            for (index, callees) in &calls[f as usize] {
                let Inst::Call(call) = &whole.function(f).code[*index as usize] else { continue };
                for (callee, passes) in &callees.functions {
                    let is_new = match passes {
                        true => all.pass(whole, (f, call), *callee),
                        false => all.give_any(whole, *callee),
                    };
                    if is_new {
                        work.insert(*callee);
                    }
                }
            }
        }
        all
    }

    /// Propagates within a function, until nothing changes.
    fn flow(&mut self, whole: &LinkedProgram<'_>, f: u32, calls: &BTreeMap<u32, Callees>) {
        let function = whole.function(f);
        loop {
            let mut changed = false;
            for phi in function.blocks.iter().flat_map(|b| &b.phis).filter(|phi| phi.slots == 1) {
                for (_, value) in &phi.incoming {
                    let value = self.of(f, *value, 0);
                    changed |= self.add(f, phi.dst, value);
                }
            }
            for (index, inst) in (0..).zip(&function.code) {
                let Some((dst, count)) = inst.defines() else { continue };
                let value = match inst {
                    Inst::Load { addr, .. } => stream_at(whole, f, *addr).map_or(Streams::ALL, Streams::from),
                    Inst::Copy { a, .. } | Inst::Cast { a, .. } => self.of(f, *a, 0),
                    Inst::Select { a, b, .. } => self.of(f, *a, 0) | self.of(f, *b, 0),
                    Inst::Call(_) => calls.get(&index).map_or(Streams::ALL, returned),
                    _ => Streams::ALL,
                };
                for reg in dst..dst + count {
                    changed |= self.add(f, reg, value);
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn add(&mut self, f: u32, reg: u32, value: Streams) -> bool {
        let Some(place) = self.functions[f as usize].get_mut(reg as usize) else { return false };
        let before = *place;
        *place |= value;
        *place != before
    }

    fn of(&self, f: u32, operand: Operand, slot: u32) -> Streams {
        match operand {
            Operand::Reg(r) => {
                let known = self.functions[f as usize].get((r + slot) as usize);
                known.copied().unwrap_or(Streams::ALL)
            }
            Operand::Const(1) => StandardStream::Output.into(),
            Operand::Const(2) => StandardStream::Error.into(),
            Operand::Const(_) | Operand::Symbol { .. } => Streams::NONE,
        }
    }

    /// Propagates the arguments of a call to a callee's parameters.
    fn pass(&mut self, whole: &LinkedProgram<'_>, (caller, call): (u32, &Call), callee: u32) -> bool {
        let mut is_new = false;
        for (reg, number, slot) in parameters(whole.function(callee)) {
            let value = call.args.get(number as usize).map(|arg| self.of(caller, arg.value, slot));
            is_new |= self.add(callee, reg, value.unwrap_or(Streams::ALL));
        }
        is_new
    }

    /// Sets a function's parameters to "any stream", because its arguments are not known.
    fn give_any(&mut self, whole: &LinkedProgram<'_>, callee: u32) -> bool {
        let mut is_new = false;
        for (reg, ..) in parameters(whole.function(callee)) {
            is_new |= self.add(callee, reg, Streams::ALL);
        }
        is_new
    }

    /// The streams that a call to a function of the table may write to.
    fn written(&self, f: u32, call: &Call, known: &External) -> Streams {
        match known.io.filter(|io| io.direction == Direction::Out).map(|io| io.channel) {
            Some(Channel::Stdout) => StandardStream::Output.into(),
            Some(Channel::Stderr) => StandardStream::Error.into(),
            Some(Channel::Fd(slot) | Channel::Stream(slot)) => {
                argument(call, slot.into()).map_or(Streams::ALL, |(operand, k)| self.of(f, operand, k))
            }
            Some(Channel::Stdin | Channel::Clock | Channel::Random | Channel::Environment) | None => {
                Streams::NONE
            }
        }
    }
}

/// The argument that is passed in a slot, and the slot's index within the argument.
fn argument(call: &Call, slot: u32) -> Option<(Operand, u32)> {
    let mut first = 0;
    call.args.iter().find_map(|arg| {
        let within = slot.checked_sub(first).filter(|k| *k < arg.ty.slots());
        first += arg.ty.slots();
        Some((arg.value, within?))
    })
}

/// The standard stream whose variable has this address.
fn stream_at(whole: &LinkedProgram<'_>, f: u32, address: Operand) -> Option<StandardStream> {
    let Operand::Symbol { symbol, offset: 0 } = address else { return None };
    StandardStream::named(&whole.part(f).model.symbols.get(symbol as usize)?.name)
}

/// The possible values of a call's result.
fn returned(callees: &Callees) -> Streams {
    let is_known = callees.functions.is_empty() && !callees.externals.is_empty();
    if is_known && callees.externals.iter().all(|e| opens_another(e)) { Streams::NONE } else { Streams::ALL }
}

/// Whether a function returns a handle that is none of the standard streams.
fn opens_another(known: &External) -> bool {
    let again = ["dup", "fcntl", "fdopen", "freopen"];
    known.has(flag::OPENS) && !again.iter().any(|name| known.name.starts_with(name))
}

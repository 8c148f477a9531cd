//! Kinds of slices, and the static effects of branch alternatives.
//!
//! A *potential dependence* leads from a use of a value to an executed branch before it (or a call through a
//! pointer) that could have taken another successor, after which the value might have been assigned anew.
//! Slices that follow such dependences are *relevant* slices; they find what a dynamic slice cannot: the
//! decision by which something was *not* done.

use crate::backward::{MemoryObject, NO_OBJECT};
use crate::facts::ProgramFacts;
use crate::library::Table;
use crate::output_effects::{OutputEffects, Streams};
use program::bits::Bits;
use program::branch_edges::{BranchEdge, BranchEdges, ControlRegion};
use program::inst::{BlockId, Inst, Operand, Reg};
use program::mod_summaries::{ModSummaries, Target};
use program::model::{Function, Home};
use program::objects::{Object, ObjectId};
pub use program::points_to::Precision;
use program::whole::{Callee, LinkedProgram};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Which dependences a relevant slice follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Of a branch that only potentially matters, the operands of its condition are followed, but not why
    /// the branch itself ran (Wang and Roychoudhury, *Dynamic slicing on Java bytecode traces*).
    #[default]
    Relevant,
    /// All dependences of all nodes: the plain transitive closure.
    Closure,
}

/// Options of a relevant slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Relevance {
    /// Which dependences are followed.
    pub variant: Variant,
    /// Precision of the points-to analysis.
    pub precision: Precision,
    /// Whether branches in libraries count, which are those in system source files.
    pub libraries: bool,
    /// Once the slice has so many executions, no more potential dependences are added.
    pub limit: u64,
}

/// The default limit: about half a minute of work.
pub const LIMIT: u64 = 200_000_000;

impl Default for Relevance {
    fn default() -> Relevance {
        Relevance {
            variant: Variant::Relevant,
            precision: Precision::Andersen,
            libraries: true,
            limit: LIMIT,
        }
    }
}

/// Sources below these directories belong to the system.
const LIBRARIES: &[&str] = &["/usr/", "/lib/", "/opt/"];

/// Memory that an alternative may assign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defined {
    /// Ranges in the frame of the running activation.
    pub own: Vec<(u64, u64)>,
    /// Ranges in objects, relative to their start.
    objects: BTreeMap<ObjectId, Vec<(u64, u64)>>,
    /// The objects, including those that contain `own`.
    all: Bits,
    /// Those that contain `own`.
    around: Bits,
    /// Memory without an object here: the library's memory, thread-locals.
    pub elsewhere: bool,
}

impl Defined {
    /// Whether it assigns no memory.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.own.is_empty() && !self.elsewhere
    }

    /// Whether anything of an object may be assigned.
    pub fn may_assign(&self, object: ObjectId) -> bool {
        if object == NO_OBJECT { self.elsewhere } else { self.all.contains(object) }
    }

    /// Whether some part of an object may be assigned only if it belongs to the running activation.
    pub fn depends_on_activation(&self, object: ObjectId) -> bool {
        self.around.contains(object)
    }

    /// The ranges of an object that may be assigned, in any activation.
    pub fn of(&self, object: ObjectId) -> &[(u64, u64)] {
        self.objects.get(&object).map_or(&[], Vec::as_slice)
    }

    /// Of whole objects.
    #[cfg(test)]
    pub fn of_objects(objects: impl IntoIterator<Item = ObjectId>) -> Defined {
        let objects: BTreeMap<_, _> = objects.into_iter().map(|o| (o, vec![(0, u64::MAX)])).collect();
        Defined { all: objects.keys().copied().collect(), objects, ..Defined::default() }
    }

    fn add(&mut self, target: Target, may: &ModSummaries, located: impl Fn(u32, u32) -> bool) {
        match target {
            Target::Own { start, end } => self.own.push((start, end)),
            Target::Of { object, start, end } => {
                let end = match *may.pointers().objects().get(object) {
                    Object::Data { size, .. } => end.min(if size > 0 { size } else { 8 }),
                    Object::Frame { size, .. } => end.min(size),
                    Object::Made { instance, index } if located(instance, index) => end,
                    Object::Made { .. }
                    | Object::Outside
                    | Object::Library
                    | Object::Variadic { .. }
                    | Object::ThreadLocal { .. } => {
                        self.elsewhere = true;
                        return;
                    }
                    Object::Code { .. } | Object::Foreign { .. } => return,
                };
                if start < end {
                    self.all.insert(object);
                    self.objects.entry(object).or_default().push((start, end));
                }
            }
        }
    }

    fn normalise(&mut self) {
        merge(&mut self.own);
        self.objects.values_mut().for_each(merge);
    }
}

/// Sorts ranges, and merges those that touch.
fn merge(ranges: &mut Vec<(u64, u64)>) {
    ranges.sort_unstable();
    let mut out: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges.drain(..) {
        match out.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    *ranges = out;
}

/// What an alternative may assign.
#[derive(Clone)]
pub struct MayDef {
    /// The memory.
    pub defined: Arc<Defined>,
    /// The number of its query.
    pub number: u32,
}

/// One successor of a branch as an alternative.
pub struct BranchAlternative {
    /// The successor.
    pub to: BlockId,
    /// The blocks that run, or may run, only because the branch goes there.
    pub region: ControlRegion,
    /// Registers that are assigned in the region, or by phis that it leads to.
    touched: Vec<u64>,
    /// What these blocks and their callees may store to.
    pub memory: MayDef,
}

impl BranchAlternative {
    /// Whether a register may be assigned.
    pub fn touches(&self, reg: Reg) -> bool {
        has(&self.touched, reg)
    }

    /// The registers as a bit set.
    pub fn touched(&self) -> &[u64] {
        &self.touched
    }

    /// Whether any register may be assigned.
    pub fn assigns_registers(&self) -> bool {
        self.touched.iter().any(|w| *w != 0)
    }
}

/// The alternatives of a function's branches.
pub struct FunctionAlternatives {
    /// The regions of the branches' edges.
    pub ways: BranchEdges,
    /// It is in a system source file.
    pub library: bool,
    /// For each block, the targets that it may store to.
    targets: Vec<Bits>,
    /// For each block that ends in a branch, the alternatives on which anything is assigned.
    blocks: Vec<OnceLock<Vec<BranchAlternative>>>,
    /// For each call through a pointer, what each possible callee may assign.
    pub calls: HashMap<u32, Vec<(u32, MayDef)>>,
    /// Registers that are the value of a variable: their definition is a statement of its own, and not part
    /// of the condition that uses it.
    given: Vec<u64>,
}

impl FunctionAlternatives {
    /// Whether a register is the value of a variable.
    pub fn is_given(&self, reg: Reg) -> bool {
        has(&self.given, reg)
    }
}

/// Whether a register is in a bit set.
fn has(bits: &[u64], reg: Reg) -> bool {
    bits.get(reg as usize / 64).is_some_and(|w| w >> (reg % 64) & 1 != 0)
}

/// Static effects of a program at one precision.
pub struct AlternativeEffects<'p> {
    whole: LinkedProgram<'p>,
    may: ModSummaries,
    functions: Vec<OnceLock<FunctionAlternatives>>,
    /// Variables of static storage, by address, with their sizes.
    data: Vec<(u64, u64, ObjectId)>,
    /// Many alternatives may assign the same memory.
    known: Mutex<HashMap<(u32, Bits), Arc<Defined>>>,
    others: AtomicU32,
    /// Functions that were called from outside the program.
    entries: Vec<u32>,
    outputs: OnceLock<OutputEffects>,
}

impl<'p> AlternativeEffects<'p> {
    /// `entries` are functions that were called from outside the program. `None` if another thread set
    /// `stop` before the end.
    pub fn new(
        facts: &ProgramFacts<'p>,
        precision: Precision,
        entries: &BTreeSet<u32>,
        stop: Option<&AtomicBool>,
    ) -> Option<AlternativeEffects<'p>> {
        let parts = facts.image.modules().map(|(_, m)| (&*m.model, &*m.addresses));
        let whole = LinkedProgram::new(parts);
        let mut entries = entries.clone();
        entries.extend((0..whole.functions()).filter(|f| whole.function(*f).name == "main"));
        let entries: Vec<u32> = entries.into_iter().collect();
        let may = ModSummaries::compute(&whole, &Table, precision, &entries, stop)?;
        let functions = (0..whole.functions()).map(|_| OnceLock::new()).collect();
        let objects = may.pointers().objects();
        let data = whole.data().filter_map(|(address, size)| {
            let object = objects.find(&Object::Data { address, size })?;
            Some((address, size.max(1), object))
        });
        let mut data: Vec<(u64, u64, ObjectId)> = data.collect();
        // Of several at one address, the last one is kept.
        data.reverse();
        data.sort_by_key(|d| d.0);
        data.dedup_by_key(|d| d.0);
        Some(AlternativeEffects {
            whole,
            may,
            functions,
            data,
            known: Mutex::default(),
            others: AtomicU32::new(0),
            entries,
            outputs: OnceLock::new(),
        })
    }

    /// Whether the points-to analysis fell back to a coarser precision.
    pub fn is_coarse(&self) -> bool {
        self.may.pointers().is_coarse()
    }

    /// The object that a call chain allocates: functions and instructions, innermost first.
    pub fn made(&self, chain: &[(u32, u32)]) -> Option<ObjectId> {
        let pointers = self.may.pointers();
        let mut above: Option<(u32, u32)> = None;
        for (function, index) in chain.iter().rev().copied() {
            let instance = match above {
                Some((caller, at)) => pointers.called(caller, at, function),
                None => function,
            };
            above = Some((instance, index));
        }
        let (instance, index) = above?;
        pointers.objects().find(&Object::Made { instance, index })
    }

    /// The variable of static storage that contains an address, and the end of the addresses after it with
    /// the same answer.
    pub fn static_at(&self, address: u64) -> Option<(MemoryObject, u64)> {
        let next = self.data.partition_point(|d| d.0 <= address);
        let (start, size, object) = *self.data.get(next.checked_sub(1)?)?;
        let end = start.saturating_add(size);
        // Another variable may begin within it.
        let until = self.data.get(next).map_or(end, |next| next.0.min(end));
        (address < end).then_some((MemoryObject { object, start, end, is_sole_occupant: true }, until))
    }

    /// The variable that contains an offset of a function's frame, with its addresses relative to the frame.
    pub fn in_frame(&self, function: u32, offset: u64) -> Option<MemoryObject> {
        let objects = self.may.pointers().objects();
        let (object, within) = objects.in_frame(&self.whole, function, offset)?;
        let start = offset - within;
        let size = objects.size(object).unwrap_or(u64::MAX);
        // Different frames occupy the same memory over time.
        Some(MemoryObject { object, start, end: start.saturating_add(size), is_sole_occupant: false })
    }

    /// Size in bytes of a function's frame of locals that have an address; functions are numbered over the
    /// whole program.
    pub fn frame_size(&self, function: u32) -> u64 {
        self.whole.function(function).frame_size
    }

    /// The alternatives of a function's branches, computed when first needed.
    pub fn get(&self, function: u32) -> &FunctionAlternatives {
        self.functions[function as usize].get_or_init(|| self.analyse(function))
    }

    fn analyse(&self, number: u32) -> FunctionAlternatives {
        let function = self.whole.function(number);
        let path = self.whole.part(number).model.file_path(function.file);
        let mut targets = Vec::new();
        for block in &function.blocks {
            let mut all = Bits::default();
            for index in block.start..block.end {
                all.extend(&self.may.of_inst(&self.whole, &Table, number, index));
            }
            targets.push(all);
        }
        let mut calls = HashMap::new();
        for (index, inst) in function.code.iter().enumerate() {
            let Inst::Call(call) = inst else { continue };
            if self.whole.callee(number, call.callee) != Callee::Pointer {
                continue;
            }
            let callees = self.may.indirect_callees(number, index as u32);
            let other = |callee: u32| (callee, self.other(number, self.may.of_function(callee).clone()));
            let all = callees.iter().map(|callee| other(*callee));
            calls.insert(index as u32, all.collect());
        }
        let mut given = vec![0u64; function.slots.div_ceil(64) as usize];
        for binding in &function.bindings {
            if let Home::Value(Operand::Reg(r), _) = binding.home
                && let Some(word) = given.get_mut(r as usize / 64)
            {
                *word |= 1 << (r % 64);
            }
        }
        FunctionAlternatives {
            given,
            ways: BranchEdges::of(function),
            library: LIBRARIES.iter().any(|l| path.starts_with(l)),
            targets,
            blocks: function.blocks.iter().map(|_| OnceLock::new()).collect(),
            calls,
        }
    }

    /// The memory that a set of targets denotes in a function.
    fn other(&self, function: u32, set: Bits) -> MayDef {
        let number = self.others.fetch_add(1, Ordering::Relaxed);
        // A panic in another thread at worst loses an entry.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let defined = known.entry((function, set)).or_insert_with_key(|(_, set)| {
            // Only an object that a call returned can be found at a run-time address.
            let located = |instance: u32, index: u32| {
                let function = self.whole.function(self.may.pointers().function(instance));
                matches!(function.code[index as usize], Inst::Call(_))
            };
            let mut defined = Defined::default();
            for target in self.may.targets(set) {
                defined.add(target, &self.may, located);
            }
            defined.normalise();
            for (start, end) in defined.own.clone() {
                let mut at = start;
                // For each variable that the range overlaps.
                while let Some(variable) = self.in_frame(function, at).filter(|_| at < end) {
                    defined.all.insert(variable.object);
                    defined.around.insert(variable.object);
                    at = variable.end.max(at.saturating_add(1));
                }
            }
            Arc::new(defined)
        });
        MayDef { defined: defined.clone(), number }
    }

    /// The alternatives of the branch that ends a block.
    pub fn ways(&self, function: u32, block: BlockId) -> &[BranchAlternative] {
        let all = self.get(function);
        let model = self.whole.function(function);
        all.blocks[block as usize].get_or_init(|| {
            let mut successors = model.code[model.blocks[block as usize].end as usize - 1].successors();
            successors.sort_unstable();
            successors.dedup();
            if successors.len() < 2 {
                return Vec::new();
            }
            let ways = successors.into_iter().map(|to| self.way(function, all, model, (block, to)));
            ways.filter(|w| w.assigns_registers() || !w.memory.defined.is_empty()).collect()
        })
    }

    fn outputs(&self) -> &OutputEffects {
        self.outputs.get_or_init(|| OutputEffects::new(&self.whole, &self.may, &self.entries))
    }

    /// The successors of a block's branch on which a standard stream may be written to.
    pub fn writing_alternatives(&self, function: u32, block: BlockId) -> &[(BlockId, Streams)] {
        let model = self.whole.function(function);
        let branch = &model.code[model.blocks[block as usize].end as usize - 1];
        self.outputs().alternatives(function, block, &self.get(function).ways, branch)
    }

    /// The standard streams that a function may write to, including its callees.
    pub fn written_by(&self, function: u32) -> Streams {
        self.outputs().of_function(function)
    }

    fn way(
        &self,
        function: u32,
        all: &FunctionAlternatives,
        model: &Function,
        way: BranchEdge,
    ) -> BranchAlternative {
        let region = all.ways.region(way);
        let mut touched = vec![0u64; model.slots.div_ceil(64) as usize];
        let mut touch = |dst: Reg, n: u32| {
            (dst..dst + n).for_each(|r| touched[r as usize / 64] |= 1 << (r % 64));
        };
        let mut targets = Bits::default();
        for b in region.blocks() {
            let block = &model.blocks[b as usize];
            targets.extend(&all.targets[b as usize]);
            for inst in &model.code[block.start as usize..block.end as usize] {
                if let Some((dst, n)) = inst.defines() {
                    touch(dst, n);
                }
            }
        }
        for (into, block) in model.blocks.iter().enumerate() {
            let comes = |from: BlockId| region.contains(from) || (from, into as BlockId) == way;
            for phi in block.phis.iter().filter(|p| p.incoming.iter().any(|i| comes(i.0))) {
                touch(phi.dst, phi.slots);
            }
        }
        BranchAlternative { to: way.1, region, touched, memory: self.other(function, targets) }
    }
}

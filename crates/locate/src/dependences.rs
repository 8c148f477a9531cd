//! The program dependence graph, by source lines.
//!
//! It is static: it has what a line may depend on in any run. Nodes are the lines with code, and functions'
//! own lines for their entries. Edges lead from a definition to its use: registers, memory by points-to sets,
//! branches to their control dependents, calls to entries, returns to calls. A load of a variable in the
//! function's own frame uses its reaching stores; other memory is treated flow-insensitively. Reports are
//! scored with this graph (Renieris and Reiss, *Fault Localization With Nearest Neighbor Queries*): by how
//! much of the program has to be examined, starting at the reported lines and following the edges, until the
//! fault is found.

use program::cfg::Graph;
use program::inst::{ArgTy, Inst, Operand};
use program::model::{Function, Phi};
use program::objects::{Object, ObjectId};
use program::outside::Outside;
use program::points_to::{PointsTo, Precision};
use program::whole::{Callee, LinkedProgram};
use replay::process::LoadedProcess;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A line: the file as the compiler had it, and the line's number.
pub type Line = (String, u32);

/// See the module's documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependences {
    /// The nodes of the graph, each once.
    pub lines: Vec<Line>,
    /// Positions in `lines`: definition and use.
    pub edges: BTreeSet<(u32, u32)>,
}

/// A range of bytes of an object; `None` for unknown bytes.
type Range = Option<(u64, u64)>;

/// A load or store.
#[derive(Clone, Debug)]
struct Access {
    function: u32,
    index: u32,
    places: Vec<(ObjectId, Range)>,
}

impl Access {
    fn meets(&self, other: &Access) -> bool {
        let overlap = |a: Range, b: Range| match (a, b) {
            (Some(a), Some(b)) => a.0 < b.1 && b.0 < a.1,
            _ => true,
        };
        self.places.iter().any(|(object, range)| {
            other.places.iter().any(|(others, theirs)| object == others && overlap(*range, *theirs))
        })
    }

    /// The bytes, if they are certain.
    fn exact(&self) -> Option<(ObjectId, (u64, u64))> {
        match self.places[..] {
            [(object, Some(range))] => Some((object, range)),
            _ => None,
        }
    }
}

/// The graph of a recorded process's program.
#[must_use]
pub fn of_process(process: &LoadedProcess, outside: &dyn Outside) -> Dependences {
    let whole =
        LinkedProgram::new(process.image.modules().map(|(_, module)| (&*module.model, &*module.addresses)));
    of_program(&whole, outside)
}

/// The graph of a program.
#[must_use]
pub fn of_program(whole: &LinkedProgram<'_>, outside: &dyn Outside) -> Dependences {
    let entries: Vec<u32> = (0..whole.functions()).filter(|f| whole.function(*f).name == "main").collect();
    let pointers = PointsTo::compute(whole, outside, Precision::Andersen, &entries);
    let mut instances: Vec<Vec<u32>> = vec![Vec::new(); whole.functions() as usize];
    for instance in 0..pointers.instances() {
        instances[pointers.function(instance) as usize].push(instance);
    }
    let frames = (0..whole.functions()).map(|function| frame_addresses(whole.function(function))).collect();
    let mut maker = GraphBuilder {
        whole,
        outside,
        pointers,
        instances,
        frames,
        graph: Dependences::default(),
        numbers: HashMap::new(),
    };
    for function in 0..whole.functions() {
        maker.registers(function);
        maker.control(function);
        maker.calls(function);
    }
    maker.memory();
    maker.graph
}

struct GraphBuilder<'w> {
    whole: &'w LinkedProgram<'w>,
    outside: &'w dyn Outside,
    pointers: PointsTo,
    instances: Vec<Vec<u32>>,
    /// Registers of each function that hold the address of a frame slot.
    frames: Vec<HashMap<u32, u64>>,
    graph: Dependences,
    numbers: HashMap<Line, u32>,
}

impl GraphBuilder<'_> {
    fn number(&mut self, function: u32, file: u32, line: u32) -> Option<u32> {
        if line == 0 {
            return None;
        }
        let key = (self.whole.part(function).model.file_path(file), line);
        let next = self.graph.lines.len() as u32;
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.graph.lines.push(key);
        }
        Some(number)
    }

    /// The line of an instruction.
    fn line(&mut self, function: u32, index: u32) -> Option<u32> {
        let place = self.whole.function(function).place(index as usize);
        self.number(function, place.file, place.line)
    }

    /// The line of a function itself, which represents its entry.
    fn entry(&mut self, function: u32) -> Option<u32> {
        let Function { file, line, .. } = *self.whole.function(function);
        self.number(function, file, line)
    }

    fn edge(&mut self, needed: Option<u32>, by: Option<u32>) {
        if let (Some(needed), Some(by)) = (needed, by)
            && needed != by
        {
            self.graph.edges.insert((needed, by));
        }
    }

    /// Def-use edges of registers, through phis.
    fn registers(&mut self, number: u32) {
        let function = self.whole.function(number);
        let mut definitions: BTreeMap<u32, Vec<Option<u32>>> = BTreeMap::new();
        let entry = self.entry(number);
        for param in &function.params {
            let slots = match &param.ty {
                ArgTy::Value(ty) => ty.slots(),
                ArgTy::ByVal { .. } => 1,
            };
            for slot in param.reg..param.reg + slots {
                definitions.entry(slot).or_default().push(entry);
            }
        }
        for (index, inst) in function.code.iter().enumerate() {
            if let Some((first, count)) = inst.defines() {
                let line = self.line(number, index as u32);
                for slot in first..first + count {
                    definitions.entry(slot).or_default().push(line);
                }
            }
        }
        through_phis(function, &mut definitions);
        for (index, inst) in function.code.iter().enumerate() {
            let mut needed: Vec<Option<u32>> = Vec::new();
            inst.for_each_use(|operand, slots| {
                if let Operand::Reg(first) = operand {
                    needed.extend(
                        (first..first + slots).filter_map(|slot| definitions.get(&slot)).flatten().copied(),
                    );
                }
            });
            let line = self.line(number, index as u32);
            for needed in needed {
                self.edge(needed, line);
            }
        }
    }

    fn control(&mut self, number: u32) {
        let function = self.whole.function(number);
        let depends = Graph::of(function).control_dependence();
        let entry = self.entry(number);
        for (block, deciders) in function.blocks.iter().zip(depends) {
            let deciders: Vec<Option<u32>> = if deciders.is_empty() {
                vec![entry]
            } else {
                let ends = deciders.iter().map(|decider| function.blocks[*decider as usize].end - 1);
                ends.map(|end| self.line(number, end)).collect()
            };
            for index in block.start..block.end {
                let line = self.line(number, index);
                for decider in &deciders {
                    self.edge(*decider, line);
                }
            }
        }
    }

    /// The modelled functions that an instruction may call.
    fn callees(&self, number: u32, index: u32) -> BTreeSet<u32> {
        let Inst::Call(call) = &self.whole.function(number).code[index as usize] else {
            return BTreeSet::new();
        };
        match self.whole.callee(number, call.callee) {
            Callee::Function(callee) => BTreeSet::from([callee]),
            Callee::External(_) => BTreeSet::new(),
            Callee::Pointer => {
                let instances = self.instances[number as usize].iter();
                instances.flat_map(|instance| self.pointers.callees(*instance, index)).copied().collect()
            }
        }
    }

    fn calls(&mut self, number: u32) {
        for index in 0..self.whole.function(number).code.len() as u32 {
            for callee in self.callees(number, index) {
                let (line, entry) = (self.line(number, index), self.entry(callee));
                self.edge(line, entry);
                for (at, inst) in self.whole.function(callee).code.iter().enumerate() {
                    if matches!(inst, Inst::Return { value: Some(_), .. }) {
                        let returned = self.line(callee, at as u32);
                        self.edge(returned, line);
                    }
                }
            }
        }
    }

    /// Edges from stores to the loads that may read the stored value.
    fn memory(&mut self) {
        let (mut loads, mut stores) = (Vec::new(), Vec::new());
        for function in 0..self.whole.functions() {
            for index in 0..self.whole.function(function).code.len() as u32 {
                self.accesses(function, index, &mut loads, &mut stores);
            }
        }
        let mut by_object: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
        for (n, store) in stores.iter().enumerate() {
            for (object, _) in &store.places {
                by_object.entry(*object).or_default().push(n);
            }
        }
        for load in &loads {
            let mut near: BTreeSet<usize> = load
                .places
                .iter()
                .filter_map(|(object, _)| by_object.get(object))
                .flatten()
                .copied()
                .collect();
            near.retain(|n| stores[*n].meets(load));
            if let Some(reaching) = self.reaching(load, &near, &stores) {
                near.retain(|n| stores[*n].function != load.function || reaching.contains(n));
            }
            let line = self.line(load.function, load.index);
            for store in near {
                let stored = self.line(stores[store].function, stores[store].index);
                self.edge(stored, line);
            }
        }
    }

    /// The function's own stores that reach a load of its own frame; `None` if the load is not of the frame.
    fn reaching(&self, load: &Access, near: &BTreeSet<usize>, stores: &[Access]) -> Option<BTreeSet<usize>> {
        let (object, (from, to)) = load.exact()?;
        let own = object == private_frame_object(load.function)
            || (object as usize) < self.pointers.objects().len()
                && matches!(self.pointers.objects().get(object), Object::Frame { function, .. } if *function == load.function);
        if !own {
            return None;
        }
        let function = self.whole.function(load.function);
        let graph = Graph::of(function);
        let at: BTreeMap<u32, usize> = near
            .iter()
            .filter(|n| stores[**n].function == load.function)
            .map(|n| (stores[*n].index, *n))
            .collect();
        let block_of =
            |index: u32| function.blocks.iter().position(|block| block.start <= index && index < block.end);
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let first = block_of(load.index)?;
        let mut todo = vec![(first as u32, function.blocks[first].start, load.index)];
        while let Some((block, start, end)) = todo.pop() {
            let mut killed = false;
            for (_, store) in at.range(start..end).rev() {
                found.insert(*store);
                let covers = |(others, (low, high))| others == object && low <= from && to <= high;
                if stores[*store].exact().is_some_and(covers) {
                    killed = true;
                    break;
                }
            }
            if killed {
                continue;
            }
            for before in graph.predecessors(block) {
                if seen.insert(*before) {
                    let code = &function.blocks[*before as usize];
                    todo.push((*before, code.start, code.end));
                }
            }
        }
        Some(found)
    }

    fn accesses(&self, function: u32, index: u32, loads: &mut Vec<Access>, stores: &mut Vec<Access>) {
        let at = |address: Operand, size: Option<u32>| Access {
            function,
            index,
            places: self.places(function, address, size),
        };
        match &self.whole.function(function).code[index as usize] {
            Inst::Load { addr, ty, .. } => loads.push(at(*addr, Some(ty.bytes()))),
            Inst::Store { addr, ty, .. } => stores.push(at(*addr, Some(ty.bytes()))),
            Inst::Rmw { addr, ty, .. } | Inst::CmpXchg { addr, ty, .. } => {
                loads.push(at(*addr, Some(ty.bytes())));
                stores.push(at(*addr, Some(ty.bytes())));
            }
            Inst::MemCopy { to, from, .. } => {
                loads.push(at(*from, None));
                stores.push(at(*to, None));
            }
            Inst::MemSet { to, .. } => stores.push(at(*to, None)),
            Inst::Call(call) => {
                let Callee::External(name) = self.whole.callee(function, call.callee) else { return };
                let effect = self.outside.effect(name);
                let mut slot = 0;
                for arg in &call.args {
                    // Conservative: it may read through any argument.
                    loads.push(at(arg.value, None));
                    let writes = effect.as_ref().is_none_or(|effect| {
                        let copied = effect.copies.iter().any(|(to, _)| *to == slot);
                        copied
                            || effect.writes.contains(&slot)
                            || effect.stores_new.contains(&slot)
                            || effect.writes_from.is_some_and(|from| slot >= from)
                    });
                    if writes {
                        stores.push(at(arg.value, None));
                    }
                    slot += match &arg.ty {
                        ArgTy::Value(ty) => ty.slots(),
                        ArgTy::ByVal { .. } => 1,
                    };
                }
            }
            _ => {}
        }
    }

    /// The objects that an address may point to, in any instance of the function.
    fn places(&self, function: u32, address: Operand, size: Option<u32>) -> Vec<(ObjectId, Range)> {
        let mut places = BTreeSet::new();
        if let Operand::Reg(register) = address
            && let Some(&offset) = self.frames[function as usize].get(&register)
        {
            // No pointer can point to a variable that the points-to analysis has no object for.
            let known = self.pointers.objects().in_frame(self.whole, function, offset);
            let (object, offset) = known.unwrap_or((private_frame_object(function), offset));
            return vec![(object, size.map(|size| (offset, offset + u64::from(size))))];
        }
        for instance in &self.instances[function as usize] {
            for place in self.pointers.of(*instance, address, 0).iter() {
                let range = place.offset.zip(size).map(|(offset, size)| (offset, offset + u64::from(size)));
                places.insert((place.object, range));
            }
        }
        places.into_iter().collect()
    }
}

/// Propagates definitions through phis to a fixpoint: in loops, phis use each other.
fn through_phis(function: &Function, definitions: &mut BTreeMap<u32, Vec<Option<u32>>>) {
    let phis: Vec<&Phi> = function.blocks.iter().flat_map(|block| &block.phis).collect();
    loop {
        let mut changed = false;
        for phi in &phis {
            for slot in 0..phi.slots {
                let incoming = phi.incoming.iter().filter_map(|(_, value)| match value {
                    Operand::Reg(register) => definitions.get(&(register + slot)),
                    _ => None,
                });
                let incoming: Vec<Option<u32>> = incoming.flatten().copied().collect();
                let known = definitions.entry(phi.dst + slot).or_default();
                for maker in incoming {
                    if !known.contains(&maker) {
                        known.push(maker);
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            return;
        }
    }
}

/// Represents the variables in a function's frame that no pointer can point to.
fn private_frame_object(function: u32) -> ObjectId {
    ObjectId::MAX - function
}

/// Registers that are assigned once, with the address of a frame slot.
fn frame_addresses(function: &Function) -> HashMap<u32, u64> {
    let frame = |inst: &Inst| match inst {
        Inst::Frame { dst, offset } => Some((*dst, *offset)),
        _ => None,
    };
    function.code.iter().filter_map(frame).collect()
}

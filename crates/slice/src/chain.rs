//! "This value came from there": a slice without plain copies.
//!
//! A value is moved around: stored and loaded, passed and returned, widened, merged at joins. None of these
//! explains its value. A chain has only the links that do: computations, inputs, constants, and the
//! decisions that chose among them. A library function computes as well: `strtol` from its text, `rand` from
//! its state. It is an input only where nothing is known of what it read. Code in headers of installed
//! libraries is passed through: what `std::vector` did inside leads to the line that called it. The address
//! of a variable has no origin.

use crate::slice::{Dependence, Needs, NodeId, Site, Slice};
use crate::slicer::Slicer;
use externals::Model;
use program::inst::{ArgTy, Call, CastOp, Inst, Operand, Reg, Ty};
use replay::effects::is_hidden;
use std::collections::{BTreeMap, VecDeque};

/// The kind of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The start of the chain.
    Asked,
    /// A value was computed from others.
    Computed,
    /// A constant of the program.
    Constant,
    /// A value from outside the program: a library function, a read, a clock.
    Input,
    /// A branch chose one of its successors.
    Decided,
    /// A call, on which everything in the callee depends.
    Called,
}

/// One link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The execution that it is.
    pub node: NodeId,
    /// What it adds to the explanation.
    pub kind: Kind,
    /// Links (by index in the chain) whose values it used, and how it used them: as a register, or as bytes.
    pub from: Vec<(usize, Dependence)>,
    /// The links that decided that it ran, or that a value reached it through copies that are left out.
    pub because: Vec<usize>,
}

/// Limits of a chain.
#[derive(Clone, Copy, Debug)]
pub struct ChainOptions {
    /// Maximum number of links, with the first; those nearest to it are kept.
    pub max_links: usize,
    /// Also include the decisions and their origins.
    pub decisions: bool,
}

impl Default for ChainOptions {
    fn default() -> ChainOptions {
        ChainOptions { max_links: 40, decisions: true }
    }
}

/// The chain from a node back to its origins, nearest links first.
#[must_use]
pub fn chain(slicer: &Slicer<'_>, slice: &Slice, from: NodeId, options: ChainOptions) -> Vec<Link> {
    let needs = slice.needs();
    let way = Way { slicer, slice, needs: &needs };
    let mut links = vec![Link { node: from, kind: Kind::Asked, from: Vec::new(), because: Vec::new() }];
    let mut index: BTreeMap<NodeId, usize> = BTreeMap::from([(from, 0)]);
    let mut work = VecDeque::from([0]);
    while let Some(at) = work.pop_front() {
        let node = links[at].node;
        let sources = match way.inst(node) {
            Inst::Call(call) if at > 0 && way.leaves_program(node) => way.read_by(node, call),
            _ => needs.of(node).to_vec(),
        };
        for (producer, how) in sources {
            let decides = how.is_control_dependence();
            if decides && !options.decisions {
                continue;
            }
            let (values, decisions) = match decides && !way.is_in_library(producer) {
                true => (Vec::new(), vec![producer]),
                false => way.origins(node, producer, how),
            };
            let decisions = decisions.into_iter().filter(|_| options.decisions).map(|d| (d, true));
            for (end, decides) in values.into_iter().map(|v| (v, false)).chain(decisions) {
                let to = match index.get(&end) {
                    Some(to) => *to,
                    None if links.len() >= options.max_links => continue,
                    None => {
                        links.push(Link {
                            node: end,
                            kind: way.kind(end),
                            from: Vec::new(),
                            because: Vec::new(),
                        });
                        index.insert(end, links.len() - 1);
                        work.push_back(links.len() - 1);
                        links.len() - 1
                    }
                };
                if decides {
                    if to != at && !links[at].because.contains(&to) {
                        links[at].because.push(to);
                    }
                } else if to != at && !links[at].from.contains(&(to, how)) {
                    links[at].from.push((to, how));
                }
            }
        }
    }
    links
}

/// At most so many executions inside a library are passed through from one link.
const MAX_PASSED: usize = 1 << 16;

struct Way<'w, 'p> {
    slicer: &'w Slicer<'p>,
    slice: &'w Slice,
    needs: &'w Needs,
}

impl Way<'_, '_> {
    fn site(&self, node: NodeId) -> Site {
        self.slice.nodes[node as usize].site
    }

    fn inst(&self, node: NodeId) -> &Inst {
        let site = self.site(node);
        let module = self.slicer.process().image.module(site.module);
        &module.functions[site.function as usize].code[site.index as usize]
    }

    fn is_in_library(&self, node: NodeId) -> bool {
        let Site { module, function, index } = self.site(node);
        let module = self.slicer.process().image.module(module);
        let place = module.functions[function as usize].place(index as usize);
        module.is_library(place.file)
    }

    /// The node computed the address of a variable.
    fn is_address(&self, node: NodeId) -> bool {
        matches!(
            self.inst(node),
            Inst::Frame { .. } | Inst::Alloca { .. } | Inst::ThreadLocal { .. } | Inst::StackSave { .. }
        )
    }

    fn kind(&self, node: NodeId) -> Kind {
        match self.inst(node) {
            Inst::Branch { .. } | Inst::Switch { .. } => Kind::Decided,
            Inst::Copy { a: Operand::Const(_) | Operand::Symbol { .. }, .. }
            | Inst::Store { value: Operand::Const(_) | Operand::Symbol { .. }, .. }
            | Inst::Return { value: Some(Operand::Const(_) | Operand::Symbol { .. }), .. }
            | Inst::Jump { .. }
            | Inst::MemSet { .. } => Kind::Constant,
            Inst::Call(call) if self.leaves_program(node) => match self.read_by(node, call).is_empty() {
                true => Kind::Input,
                false => Kind::Computed,
            },
            Inst::Call(_) => Kind::Called,
            Inst::Unknown { .. } | Inst::Load { .. } => Kind::Input,
            _ => Kind::Computed,
        }
    }

    /// The sources of a library function's results: memory of the program and numbers; else the state that
    /// another function set. The memory that it was passed does not explain the value.
    fn read_by(&self, node: NodeId, call: &Call) -> Vec<(NodeId, Dependence)> {
        let needs = self.needs.of(node);
        let numbers: Vec<Reg> = call
            .args
            .iter()
            .filter(|arg| !matches!(arg.ty, ArgTy::Value(Ty::Ptr)))
            .filter_map(|arg| match (arg.value, arg.ty) {
                (Operand::Reg(r), ArgTy::Value(ty)) => Some(r..r + ty.slots()),
                _ => None,
            })
            .flatten()
            .collect();
        let is_data = |how: &Dependence| match how {
            Dependence::Memory { address, .. } => !is_hidden(*address),
            Dependence::Thread { .. } | Dependence::External | Dependence::Jump => true,
            Dependence::Register(reg) => numbers.contains(reg),
            _ => false,
        };
        let data: Vec<_> = needs.iter().filter(|(_, how)| is_data(how)).copied().collect();
        if !data.is_empty() {
            return data;
        }
        let is_state =
            |how: &Dependence| matches!(how, Dependence::Memory { address, .. } if is_hidden(*address));
        let left_by_another = |producer: NodeId| self.site(producer) != self.site(node);
        needs.iter().filter(|(producer, how)| is_state(how) && left_by_another(*producer)).copied().collect()
    }

    /// Follows plain copies from the value that `consumer` needed from `producer`. Returns the nodes that
    /// are not copies, and the branches that decided that it was copied.
    fn origins(&self, consumer: NodeId, producer: NodeId, how: Dependence) -> (Vec<NodeId>, Vec<NodeId>) {
        let mut ends = Vec::new();
        let mut decisions = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut work = vec![(consumer, producer, how)];
        while let Some((consumer, node, how)) = work.pop() {
            if !seen.insert((node, how)) || self.is_address(node) {
                continue;
            }
            if seen.len() < MAX_PASSED && self.is_in_library(node) {
                for (source, how) in self.needs.of(node) {
                    if !how.is_control_dependence() || self.is_in_library(*source) {
                        work.push((node, *source, *how));
                    } else if !decisions.contains(source) {
                        decisions.push(*source);
                    }
                }
                continue;
            }
            match self.copied(consumer, node, how) {
                Some(sources) if !sources.is_empty() => {
                    let decided = self.needs.of(node).iter().filter(|(_, d)| *d == Dependence::Control);
                    for (branch, _) in decided {
                        if !decisions.contains(branch) {
                            decisions.push(*branch);
                        }
                    }
                    work.extend(sources.into_iter().map(|(source, how)| (node, source, how)));
                }
                // A copy of a value that no execution in the program made, or not a copy.
                _ if !ends.contains(&node) => ends.push(node),
                _ => {}
            }
        }
        ends.sort_unstable();
        decisions.sort_unstable();
        (ends, decisions)
    }

    /// The sources of an instruction that only copies a value.
    fn copied(&self, consumer: NodeId, node: NodeId, how: Dependence) -> Option<Vec<(NodeId, Dependence)>> {
        let needs = self.needs.of(node);
        let registers = |wanted: &[Reg]| -> Vec<(NodeId, Dependence)> {
            let named = |d: &Dependence| matches!(d, Dependence::Register(r) | Dependence::Return(r) if wanted.contains(r));
            needs.iter().filter(|(_, d)| named(d)).copied().collect()
        };
        let memory = || -> Vec<(NodeId, Dependence)> {
            let bytes = |d: &Dependence| matches!(d, Dependence::Memory { .. } | Dependence::Thread { .. });
            needs.iter().filter(|(_, d)| bytes(d)).copied().collect()
        };
        let slots = |o: Operand, n: u32| match o {
            Operand::Reg(r) => (r..r + n).collect(),
            _ => Vec::new(),
        };
        match self.inst(node) {
            Inst::Load { .. } => Some(memory()),
            Inst::MemCopy { .. } | Inst::VaCopy { .. } => Some(memory()),
            Inst::Store { value, ty, .. } => Some(registers(&slots(*value, ty.slots()))),
            Inst::Copy { a, .. } => Some(registers(&slots(*a, 1))),
            Inst::Address { .. } => Some(
                needs
                    .iter()
                    .filter(|(_, d)| matches!(d, Dependence::Register(_) | Dependence::Return(_)))
                    .copied()
                    .collect(),
            ),
            Inst::Cast {
                op: CastOp::Zext | CastOp::Sext | CastOp::Bits | CastOp::FpExt, from, a, ..
            } => Some(registers(&slots(*a, from.slots()))),
            Inst::Return { value: Some(v), ret } => {
                Some(registers(&slots(*v, ret.iter().map(|t| t.slots()).sum())))
            }
            Inst::Call(call) if self.leaves_program(node) => {
                let target = match call.callee {
                    Operand::Symbol { symbol, .. } => {
                        let site = self.slice.nodes[node as usize].site;
                        let module = self.slicer.process().image.module(site.module);
                        externals::find(&module.symbols.get(symbol as usize)?.name)
                    }
                    _ => None,
                };
                let copies = matches!(target?.model?, Model::Memcpy | Model::Mempcpy | Model::Strcpy);
                (copies && matches!(how, Dependence::Memory { .. })).then(memory)
            }
            Inst::Call(call) => {
                // The parameter identifies the argument.
                let Dependence::Register(reg) = how else { return Some(memory()) };
                let site = self.slice.nodes[consumer as usize].site;
                let module = self.slicer.process().image.module(site.module);
                let params = &module.functions[site.function as usize].params;
                let number = params.iter().position(|p| (p.reg..p.reg + p.ty.slots()).contains(&reg))?;
                let arg = call.args.get(number)?;
                Some(registers(&slots(arg.value, arg.ty.slots())))
            }
            _ => None,
        }
    }

    fn leaves_program(&self, node: NodeId) -> bool {
        let Inst::Call(call) = self.inst(node) else { return false };
        let site = self.slice.nodes[node as usize].site;
        let image = &self.slicer.process().image;
        match call.callee {
            Operand::Symbol { symbol, offset } => {
                let address = image.symbol(site.module, symbol).wrapping_add_signed(offset);
                image.function_at(address).is_none()
            }
            // A call through a pointer stays in the program if the slice has executions of its callee.
            _ => !self.slice.needed_by(node).any(|(c, how)| {
                how == Dependence::Call
                    && self.slice.nodes[c as usize].depth > self.slice.nodes[node as usize].depth
            }),
        }
    }
}

//! What could have happened had a branch gone the other way, as far as the
//! program's text says.

use crate::facts::AllFacts;
use program::cfg::Graph;
use program::inst::{BlockId, Inst, Operand, Reg};
use program::model::{Function, Phi, SymbolKind};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Something that could have been assigned instead: over this edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alternative {
    from: BlockId,
    to: BlockId,
}

/// Where an instruction may store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Target {
    Static {
        address: u64,
        len: u64,
    },
    /// In the running function's frame.
    Local {
        offset: u64,
        len: u64,
    },
    Anywhere,
}

type Way = (BlockId, BlockId);

/// See the module's documentation. Everything is computed once.
pub struct OtherWay<'s, 'f> {
    facts: &'s AllFacts<'f>,
    regions: HashMap<(u32, Way), BTreeSet<BlockId>>,
    targets: HashMap<(u32, Way), BTreeSet<Target>>,
    functions: HashMap<u32, BTreeSet<Target>>,
    /// Variables whose address is more than the place of a load or store.
    exposed: Option<HashSet<u64>>,
}

impl<'s, 'f> OtherWay<'s, 'f> {
    pub fn new(facts: &'s AllFacts<'f>) -> OtherWay<'s, 'f> {
        OtherWay {
            facts,
            regions: HashMap::new(),
            targets: HashMap::new(),
            functions: HashMap::new(),
            exposed: None,
        }
    }

    /// The ways into a phi's block that bring another value than `taken`,
    /// through the phis that feed it as well.
    pub fn alternatives(
        &self,
        function: u32,
        to: BlockId,
        phi: &Phi,
        taken: Operand,
    ) -> HashSet<Alternative> {
        let model = self.facts.function(function);
        let mut out = HashSet::new();
        let mut seen = HashSet::new();
        let mut work = vec![(to, phi)];
        while let Some((block, phi)) = work.pop() {
            for (from, value) in &phi.incoming {
                if *value == taken {
                    continue;
                }
                out.insert(Alternative { from: *from, to: block });
                if let Operand::Reg(r) = value
                    && seen.insert(*r)
                    && let Some(feeding) = phi_of(model, *r)
                {
                    work.push(feeding);
                }
            }
        }
        out
    }

    /// Whether a way that was not taken leads over one of the edges, before both
    /// ways meet again.
    pub fn assigns(&mut self, function: u32, way: Way, alternatives: &HashSet<Alternative>) -> bool {
        if alternatives.is_empty() {
            return false;
        }
        let region = self.region(function, way);
        alternatives.iter().any(|a| region.contains(&a.from) || (a.from, a.to) == way)
    }

    /// Blocks that run, or may run, only because the branch at the end of a block
    /// went this way.
    fn region(&mut self, function: u32, way: Way) -> &BTreeSet<BlockId> {
        let facts = self.facts;
        self.regions.entry((function, way)).or_insert_with(|| {
            let graph = Graph::of(facts.function(function));
            let post = graph.post_dominators();
            let stop = post.immediate(way.0);
            let mut work = Vec::new();
            let mut at = Some(way.1);
            while let Some(b) = at.filter(|b| Some(*b) != stop && (*b as usize) < graph.len()) {
                work.push(b);
                at = post.immediate(b);
            }
            let mut region = BTreeSet::new();
            let known = facts.get(function);
            while let Some(b) = work.pop() {
                if region.insert(b) {
                    for (w, bits) in known.controls(b).iter().enumerate() {
                        work.extend((0..64).filter(|i| bits >> i & 1 != 0).map(|i| 64 * w as u32 + i));
                    }
                }
            }
            region
        })
    }

    /// Whether a way that was not taken may store into one of the ranges.
    /// `frame` is the address of the branch's frame, if that was still there at
    /// the use.
    pub fn may_store(&mut self, function: u32, way: Way, frame: Option<u64>, ranges: &[(u64, u64)]) -> bool {
        if !self.targets.contains_key(&(function, way)) {
            let region = self.region(function, way).clone();
            let model = self.facts.function(function);
            let mut all = BTreeSet::new();
            for b in region {
                let block = &model.blocks[b as usize];
                for index in block.start..block.end {
                    self.targets_of(function, &model.code[index as usize], &mut all);
                }
            }
            self.targets.insert((function, way), all);
        }
        let overlaps = |at: u64, len: u64| {
            ranges.iter().any(|(start, n)| at < start.saturating_add(*n) && *start < at.saturating_add(len))
        };
        let targets = &self.targets[&(function, way)];
        if targets.iter().any(|t| match t {
            Target::Static { address, len } => overlaps(*address, *len),
            Target::Local { offset, len } => frame.is_some_and(|f| overlaps(f.wrapping_add(*offset), *len)),
            Target::Anywhere => false,
        }) {
            return true;
        }
        targets.contains(&Target::Anywhere) && ranges.iter().any(|(start, _)| self.is_exposed(*start))
    }

    fn targets_of(&mut self, function: u32, inst: &Inst, out: &mut BTreeSet<Target>) {
        match inst {
            Inst::Store { addr, ty, .. } | Inst::Rmw { addr, ty, .. } | Inst::CmpXchg { addr, ty, .. } => {
                out.insert(self.target(function, *addr, Some(ty.bytes().into()), 8));
            }
            Inst::MemCopy { to, len, .. } | Inst::MemSet { to, len, .. } => {
                let len = match len {
                    Operand::Const(n) => Some(*n),
                    _ => None,
                };
                out.insert(self.target(function, *to, len, 8));
            }
            Inst::VaStart { list } | Inst::VaCopy { to: list, .. } => {
                out.insert(self.target(function, *list, Some(24), 8));
            }
            Inst::Call(call) => {
                let image = self.facts.image;
                let module = image.code(function).module;
                let Operand::Symbol { symbol, offset } = call.callee else {
                    out.insert(Target::Anywhere);
                    return;
                };
                let address = image.symbol(module, symbol).wrapping_add_signed(offset);
                if let Some(callee) = image.function_at(address) {
                    out.extend(self.of_function(callee));
                } else {
                    let known = image.external_at(address).and_then(|e| e.1);
                    let silent = known.is_some_and(|k| {
                        k.writes.is_empty() && k.model.is_none() && !k.format.is_some_and(|f| f.input)
                    });
                    if !silent {
                        out.insert(Target::Anywhere);
                    }
                }
            }
            _ => {}
        }
    }

    /// Where a function and all it calls may store, but for their own frames.
    fn of_function(&mut self, function: u32) -> BTreeSet<Target> {
        if let Some(known) = self.functions.get(&function) {
            return known.clone();
        }
        // A recursive call adds nothing that is not found anyway.
        self.functions.insert(function, BTreeSet::new());
        let mut all = BTreeSet::new();
        for inst in &self.facts.function(function).code {
            self.targets_of(function, inst, &mut all);
        }
        all.retain(|t| !matches!(t, Target::Local { .. }));
        self.functions.insert(function, all.clone());
        all
    }

    /// What an address is made of; `len` none for "as far as the object goes".
    fn target(&self, function: u32, address: Operand, len: Option<u64>, depth: u32) -> Target {
        let image = self.facts.image;
        let module = image.code(function).module;
        match address {
            Operand::Symbol { symbol, offset } => {
                let start = image.symbol(module, symbol);
                match (len, image.module(module).symbols.get(symbol as usize).map(|s| &s.kind)) {
                    (Some(len), _) => Target::Static { address: start.wrapping_add_signed(offset), len },
                    (None, Some(SymbolKind::Data { size, .. })) => {
                        Target::Static { address: start, len: *size }
                    }
                    _ => Target::Anywhere,
                }
            }
            Operand::Reg(r) if depth > 0 => match definition(self.facts.function(function), r) {
                Some(Inst::Frame { offset, .. }) => match len {
                    Some(len) => Target::Local { offset: *offset, len },
                    None => Target::Local { offset: 0, len: self.facts.function(function).frame_size },
                },
                Some(Inst::Copy { a, .. }) => self.target(function, *a, len, depth - 1),
                Some(Inst::Address { base, index, scale, offset, .. }) => {
                    let fixed = *scale == 0 || matches!(index, Operand::Const(0));
                    match self.target(function, *base, len.filter(|_| fixed), depth - 1) {
                        Target::Static { address, len } if fixed => {
                            Target::Static { address: address.wrapping_add_signed(*offset), len }
                        }
                        Target::Local { offset: o, len } if fixed => {
                            Target::Local { offset: o.wrapping_add_signed(*offset), len }
                        }
                        whole => whole,
                    }
                }
                _ => Target::Anywhere,
            },
            _ => Target::Anywhere,
        }
    }

    /// Whether a pointer of unknown origin may point to the variable at an
    /// address. Only of variables of static storage is anything known.
    fn is_exposed(&mut self, address: u64) -> bool {
        let image = self.facts.image;
        let variable = image.modules().find_map(|(_, m)| {
            m.model.symbols.iter().zip(&m.addresses).find_map(|(s, at)| match s.kind {
                SymbolKind::Data { size, .. } if address >= *at && address - at < size => Some(*at),
                _ => None,
            })
        });
        let Some(variable) = variable else { return true };
        let facts = self.facts;
        self.exposed.get_or_insert_with(|| exposed(facts)).contains(&variable)
    }
}

fn definition(function: &Function, reg: Reg) -> Option<&Inst> {
    function.code.iter().find(|i| i.defines().is_some_and(|(d, n)| (d..d + n).contains(&reg)))
}

fn phi_of(function: &Function, reg: Reg) -> Option<(BlockId, &Phi)> {
    function.blocks.iter().enumerate().find_map(|(b, block)| {
        let phi = block.phis.iter().find(|p| (p.dst..p.dst + p.slots).contains(&reg))?;
        Some((b as BlockId, phi))
    })
}

/// Addresses of variables that are used for more than to load or store there.
fn exposed(facts: &AllFacts<'_>) -> HashSet<u64> {
    let mut out = HashSet::new();
    for number in 0..facts.image.functions() {
        let module = facts.image.code(number).module;
        let function = facts.function(number);
        for inst in &function.code {
            let place = match inst {
                Inst::Load { addr, .. } | Inst::Store { addr, .. } => Some(*addr),
                _ => None,
            };
            let mut skipped = place.is_none();
            inst.for_each_use(|operand, _| {
                if !skipped && Some(operand) == place {
                    skipped = true;
                } else if let Operand::Symbol { symbol, .. } = operand {
                    out.insert(facts.image.symbol(module, symbol));
                }
            });
        }
        for (_, value) in function.blocks.iter().flat_map(|b| &b.phis).flat_map(|p| &p.incoming) {
            if let Operand::Symbol { symbol, .. } = value {
                out.insert(facts.image.symbol(module, *symbol));
            }
        }
    }
    out
}

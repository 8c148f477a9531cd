//! The distance of each branch edge from the target code.
//!
//! The distance of an edge is the number of further branch decisions before the target: the shortest path in
//! the interprocedural control-dependence graph, where a call leads to the entry of its callee at no cost. It
//! is defined for *edges*, because the other edge of a branch usually leads elsewhere (Qi, Roychoudhury and
//! Liang, *Test generation to expose changes in evolving programs*, measure whole branches).

use program::cfg::Graph;
use program::inst::{BlockId, Inst, Operand};
use program::model::{Function, Module, SymbolKind};
use replay::image::Image;
use std::collections::{BTreeSet, HashMap};

/// A branch edge: function (module and index in it), block, and successor.
pub use alternate::relevant::Edge;

/// See the module's documentation. Edges from which no target is reachable are absent.
#[derive(Clone, Debug, Default)]
pub struct Distances {
    edges: HashMap<Edge, u32>,
}

const FAR: u32 = u32::MAX;

/// The parts of a function that distances need.
struct Shape {
    /// For each block, the blocks that are control dependent on each of its edges.
    branch_edges: Vec<Vec<(BlockId, Vec<BlockId>)>>,
    /// Blocks that run whenever the function does.
    always: Vec<BlockId>,
    /// Functions that each block calls.
    calls: Vec<Vec<usize>>,
    /// Cost from the beginning of each block.
    cost: Vec<u32>,
}

impl Distances {
    /// Computes distances to the instructions for which `is_target` is true.
    #[must_use]
    pub fn new(image: &Image, is_target: &dyn Fn(&Module, &Function, usize) -> bool) -> Distances {
        let count = image.functions() as usize;
        let taken = address_taken(image);
        let mut shapes: Vec<Shape> = (0..count).map(|n| shape(image, n as u32, &taken, is_target)).collect();
        let mut entries = vec![FAR; count];
        // Relaxation until a fixpoint; costs are small numbers.
        loop {
            let mut nearer = false;
            for (number, shape) in shapes.iter_mut().enumerate() {
                for block in (0..shape.cost.len()).rev() {
                    let called = shape.calls[block].iter().map(|callee| entries[*callee]).min();
                    let decided =
                        shape.branch_edges[block].iter().map(|(_, blocks)| shape.edge_cost(blocks)).min();
                    let cost = [called, decided].into_iter().flatten().min().unwrap_or(FAR);
                    if cost < shape.cost[block] {
                        shape.cost[block] = cost;
                        nearer = true;
                    }
                }
                let entry = shape.always.iter().map(|b| shape.cost[*b as usize]).min().unwrap_or(FAR);
                if entry < entries[number] {
                    entries[number] = entry;
                    nearer = true;
                }
            }
            if !nearer {
                break;
            }
        }
        let mut distances = Distances::default();
        for (number, shape) in shapes.iter().enumerate() {
            let code = image.code(number as u32);
            for (block, branch_edges) in shape.branch_edges.iter().enumerate() {
                for (to, decides) in branch_edges {
                    let cost = shape.edge_cost(decides);
                    if cost < FAR {
                        distances.edges.insert((code.module, code.function, block as BlockId, *to), cost);
                    }
                }
            }
        }
        distances
    }

    /// The distance of an edge; `None` if no target is reachable.
    #[must_use]
    pub fn of(&self, edge: Edge) -> Option<u32> {
        self.edges.get(&edge).copied()
    }
}

impl Shape {
    fn edge_cost(&self, decides: &[BlockId]) -> u32 {
        let nearest = decides.iter().map(|b| self.cost[*b as usize]).min().unwrap_or(FAR);
        nearest.saturating_add(1)
    }
}

fn shape(
    image: &Image,
    number: u32,
    taken: &BTreeSet<usize>,
    is_target: &dyn Fn(&Module, &Function, usize) -> bool,
) -> Shape {
    let code = image.code(number);
    let module = image.module(code.module);
    let function = &module.functions[code.function as usize];
    let graph = Graph::of(function);
    let post = graph.post_dominators();
    // The blocks that depend on an edge: from its target up the post-dominator tree, to the branch's
    // immediate post-dominator.
    let decided = |from: Option<BlockId>, to: BlockId| {
        let stop = from.and_then(|b| post.immediate(b));
        let mut list = Vec::new();
        let mut at = Some(to);
        while let Some(b) = at.filter(|b| Some(*b) != stop && (*b as usize) < graph.len()) {
            list.push(b);
            at = post.immediate(b);
        }
        list
    };
    let blocks = 0..graph.len() as BlockId;
    let branch_edges = blocks.clone().map(|b| match graph.successors(b) {
        [] | [_] => Vec::new(),
        several => several.iter().map(|to| (*to, decided(Some(b), *to))).collect(),
    });
    let mut calls = vec![Vec::new(); graph.len()];
    let mut cost = vec![FAR; graph.len()];
    for (b, block) in function.blocks.iter().enumerate() {
        for index in block.start..block.end {
            if is_target(module, function, index as usize) {
                cost[b] = 0;
            }
            if let Some(Inst::Call(call)) = function.code.get(index as usize) {
                calls[b].extend(callees(image, code.module, call.callee, call.args.len(), taken));
            }
        }
    }
    let branch_edges = branch_edges.collect();
    Shape { branch_edges, always: decided(None, 0), calls, cost }
}

/// The functions that an operand may call.
fn callees(
    image: &Image,
    module: u32,
    callee: Operand,
    arguments: usize,
    taken: &BTreeSet<usize>,
) -> Vec<usize> {
    match callee {
        Operand::Symbol { symbol, offset: 0 } => {
            image.function_at(image.symbol(module, symbol)).map(|n| n as usize).into_iter().collect()
        }
        // An indirect call: all address-taken functions with a matching number of parameters.
        _ => {
            let fits = |n: &usize| {
                let code = image.code(*n as u32);
                let function = &image.module(code.module).functions[code.function as usize];
                function.params.len() == arguments || function.variadic
            };
            taken.iter().copied().filter(fits).collect()
        }
    }
}

/// Functions whose address is used other than as a callee.
fn address_taken(image: &Image) -> BTreeSet<usize> {
    let mut taken = BTreeSet::new();
    let mut take = |module: u32, symbol: u32| {
        taken.extend(image.function_at(image.symbol(module, symbol)).map(|n| n as usize));
    };
    for (number, loaded) in image.modules() {
        let model: &Module = &loaded.model;
        for (_, target) in &model.initial {
            let is_function =
                |s: &program::model::Symbol| matches!(s.kind, SymbolKind::Function(_) | SymbolKind::External);
            if model.symbols.get(*target as usize).is_some_and(is_function) {
                take(number, *target);
            }
        }
        for inst in model.functions.iter().flat_map(|f| &f.code) {
            let callee = match inst {
                Inst::Call(call) => Some(call.callee),
                _ => None,
            };
            inst.for_each_use(|operand, _| match operand {
                Operand::Symbol { symbol, .. } if Some(operand) != callee => take(number, symbol),
                _ => {}
            });
        }
    }
    taken
}

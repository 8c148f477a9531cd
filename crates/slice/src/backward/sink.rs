//! The sink for the nodes of a slice: it keeps a graph up to a bound, and only counts beyond it.

use crate::among::{Among, Asked};
use crate::criterion::Occurrence;
use crate::facts::ProgramFacts;
use crate::label_sets::LabelSets;
use crate::slice::{Definition, Leaf, Node, NodeId, Origin, Site, Slice, Taken};
use crate::uses::{Consumer, UseList, Uses};
use program::model::SymbolKind;
use program::names::readable;
use rustc_hash::FxHashMap;

/// At most so many leaves are recorded for one range.
const MAX_LEAVES: usize = 1024;

/// The step of a node whose step is not known yet.
const UNKNOWN_STEP: u64 = u64::MAX;

/// State that the passes over all streams share.
pub struct Sink<'a, 'p> {
    pub facts: &'a ProgramFacts<'p>,
    pub slice: Slice,
    pub uses: Uses,
    /// Per function and instruction; empty for functions without any.
    counts: Vec<Vec<Option<Taken>>>,
    max_nodes: usize,
    /// Executions in the slice.
    pub executions: u64,
    /// Variables of static storage: address, size, definition.
    variables: Vec<(u64, u64, Definition)>,
    /// Variables of the library that expose its state: address of the variable, address of the state.
    states: Vec<(u64, u64)>,
    /// Nodes from passes over other streams.
    known: FxHashMap<Occurrence, NodeId>,
    /// Instructions whose dependences among each other are requested.
    asked: Asked,
}

impl<'a, 'p> Sink<'a, 'p> {
    pub fn new(facts: &'a ProgramFacts<'p>, max_nodes: usize, among: &[Occurrence]) -> Sink<'a, 'p> {
        let mut uses = Uses::default();
        uses.provenances.labels = LabelSets::below(among.len() as u32);
        Sink {
            asked: Asked::new(among),
            facts,
            slice: Slice::default(),
            uses,
            counts: vec![Vec::new(); facts.image.functions() as usize],
            max_nodes,
            executions: 0,
            variables: variables(facts.image),
            states: states(facts.image),
            known: FxHashMap::default(),
        }
    }

    /// Indexes the nodes so far, because a later pass may reach them again.
    pub fn index_nodes(&mut self) {
        self.known = self.slice.nodes.iter().enumerate().map(|(i, n)| (n.at, i as NodeId)).collect();
    }

    /// Adds an execution (function and instruction) to the slice. Returns its node, if nodes are kept.
    #[inline]
    pub fn exec(
        &mut self,
        at: Occurrence,
        (function, index): (u32, u32),
        depth: u32,
        uses: UseList,
    ) -> Option<NodeId> {
        self.count(function, index, at);
        if !self.known.is_empty()
            && let Some(known) = self.known.get(&at).copied()
        {
            let first = self.slice.nodes[known as usize].first;
            self.slice.nodes[known as usize].first = self.uses.with_edges_of(uses, first);
            return Some(known);
        }
        self.node(at, (function, index), depth, uses)
    }

    /// Whether all uses of a location must be known, and not only that one exists.
    #[inline]
    pub fn has_labels(&self) -> bool {
        !self.asked.is_empty()
    }

    /// A node as a consumer of its operands, on behalf of all consumers of the node.
    #[inline]
    pub fn consumer(&mut self, node: Option<NodeId>, uses: UseList) -> Consumer {
        let provenances = &mut self.uses.provenances;
        let labels = provenances.labels(uses.provenance);
        Consumer { node, provenance: provenances.labelled(labels) }
    }

    /// Like [`consumer`](Self::consumer), for a node whose step is known and which may be a selected
    /// instruction.
    #[inline]
    pub fn consumer_at(&mut self, at: Occurrence, node: Option<NodeId>, uses: UseList) -> Consumer {
        let Some(number) = self.asked.number(at) else { return self.consumer(node, uses) };
        let provenances = &mut self.uses.provenances;
        let labels = provenances.labels(uses.provenance);
        let sets = &mut provenances.labels;
        let (reached, own) = (&mut self.asked.reached[number as usize], sets.one(number));
        *reached = sets.union(*reached, labels);
        let labels = sets.union(labels, own);
        Consumer { node, provenance: provenances.labelled(labels) }
    }

    /// The same for a call whose step, and further uses, will be known later.
    pub fn exec_unplaced(&mut self, inst: (u32, u32), depth: u32) -> Option<NodeId> {
        self.node(Occurrence { stream: 0, step: UNKNOWN_STEP }, inst, depth, UseList::default())
    }

    /// Sets the step and the uses of such a call.
    pub fn place(&mut self, node: Option<NodeId>, at: Occurrence, inst: (u32, u32), uses: UseList) {
        self.count(inst.0, inst.1, at);
        if let Some(node) = node.and_then(|n| self.slice.nodes.get_mut(n as usize)) {
            node.at = at;
            node.first = uses.first();
        }
    }

    #[inline]
    fn node(
        &mut self,
        at: Occurrence,
        (function, index): (u32, u32),
        depth: u32,
        uses: UseList,
    ) -> Option<NodeId> {
        if self.slice.nodes.len() >= self.max_nodes {
            self.slice.truncated = true;
            return None;
        }
        let code = self.facts.image.code(function);
        let site = Site { module: code.module, function: code.function, index };
        self.slice.nodes.push(Node { at, site, depth, potential: false, first: uses.first() });
        Some(self.slice.nodes.len() as NodeId - 1)
    }

    #[inline]
    fn count(&mut self, function: u32, index: u32, at: Occurrence) {
        self.executions += 1;
        let of = &mut self.counts[function as usize];
        if of.is_empty() {
            *of = vec![None; self.facts.function(function).code.len()];
        }
        match &mut of[index as usize] {
            Some(taken) => {
                taken.count += 1;
                taken.last = taken.last.max(at);
            }
            none => *none = Some(Taken { count: 1, last: at }),
        }
    }

    pub fn mark_potential(&mut self, node: Option<NodeId>) {
        if let Some(node) = node.and_then(|n| self.slice.nodes.get_mut(n as usize)) {
            node.potential = true;
        }
    }

    /// A state of the library is used that no call has set.
    pub fn record_initial_state(&mut self, state: u64, uses: UseList) {
        let first = self.uses.iter(uses).next();
        self.slice.initial_states.extend(first.map(|(needed_by, _)| (state, needed_by)));
    }

    pub fn leaf(&mut self, uses: UseList, origin: &Origin) {
        let leaf = |(needed_by, how)| Leaf { needed_by, how, origin: origin.clone() };
        self.slice.leaves.extend(self.uses.iter(uses).take(MAX_LEAVES).map(leaf));
    }

    pub(super) fn variable(&self, address: u64) -> Option<Definition> {
        let i = self.variables.partition_point(|v| v.0 <= address).checked_sub(1)?;
        let (start, size, definition) = &self.variables[i];
        (address - start < *size).then(|| definition.clone())
    }

    /// The address of the state that a variable of the library at this address exposes.
    pub(super) fn state_variable(&self, address: u64) -> Option<u64> {
        self.states.iter().find(|(at, _)| *at == address).map(|(_, state)| *state)
    }

    /// The slice, after all passes.
    pub fn finish(mut self) -> Slice {
        for (function, of) in self.counts.into_iter().enumerate().filter(|(_, of)| !of.is_empty()) {
            let code = self.facts.image.code(function as u32);
            for (index, taken) in of.into_iter().enumerate() {
                if let Some(taken) = taken {
                    let site = Site { module: code.module, function: code.function, index: index as u32 };
                    self.slice.sites.insert(site, taken);
                }
            }
        }
        self.slice.edges = self.uses.all;
        self.slice.among = Among::new(self.uses.provenances.labels, &self.asked);
        self.slice
    }
}

/// Variables of the library that expose its state: address of the variable, address of the state.
fn states(image: &replay::image::Image) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for (_, loaded) in image.modules() {
        for (symbol, address) in loaded.model.symbols.iter().zip(&loaded.addresses) {
            let known = externals::STATE_VARIABLES.iter().find(|known| known.name == symbol.name);
            if let (Some(known), false) = (known, matches!(symbol.kind, SymbolKind::Data { .. })) {
                all.push((*address, replay::effects::state_address(known.state, 0)));
            }
        }
    }
    all
}

fn variables(image: &replay::image::Image) -> Vec<(u64, u64, Definition)> {
    let mut all = Vec::new();
    for (_, loaded) in image.modules() {
        for (symbol, address) in loaded.model.symbols.iter().zip(&loaded.addresses) {
            if let SymbolKind::Data { size, line, file, .. } = symbol.kind {
                let file = if line == 0 { String::new() } else { loaded.model.file_path(file) };
                all.push((
                    *address,
                    size,
                    Definition { name: readable(&symbol.name).into_owned(), file, line },
                ));
            }
        }
    }
    all.sort_by_key(|v| v.0);
    all
}

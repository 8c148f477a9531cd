//! What is collected on the walks over all streams.

use crate::criterion::Occurrence;
use crate::facts::AllFacts;
use crate::slice::{Definition, Leaf, NodeId, Origin, Site, Slice, Taken};
use crate::wants::{Edges, List};
use std::collections::HashMap;

/// Leaves of one range are listed no further than this.
const MAX_LEAVES: usize = 1024;

/// What the walks over all streams share.
pub struct Collected<'a> {
    pub facts: &'a AllFacts<'a>,
    pub slice: Slice,
    pub edges: Edges,
    /// Per function and instruction; empty for functions without any.
    pub(super) counts: Vec<Vec<Option<Taken>>>,
    pub max_nodes: usize,
    /// How many executions were taken.
    pub taken: u64,
    /// Variables of static storage: address, size, where defined.
    pub(super) variables: Vec<(u64, u64, Definition)>,
    /// Nodes of streams that were walked before.
    pub(super) known: HashMap<Occurrence, NodeId>,
}

impl<'a> Collected<'a> {
    pub fn new(facts: &'a AllFacts<'a>, max_nodes: usize) -> Collected<'a> {
        Collected {
            facts,
            slice: Slice::default(),
            edges: Edges::default(),
            counts: vec![Vec::new(); facts.image.functions() as usize],
            max_nodes,
            taken: 0,
            variables: variables(facts.image),
            known: HashMap::new(),
        }
    }

    /// Another walk may come by what earlier ones have taken.
    pub fn remember(&mut self) {
        self.known = self.slice.nodes.iter().enumerate().map(|(i, n)| (n.at, i as NodeId)).collect();
    }

    pub(super) fn count(&mut self, function: u32, index: u32, at: Occurrence) {
        self.taken += 1;
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

    /// An instruction is taken for the first time on a walk; how often will be said later.
    pub(super) fn see(&mut self, function: u32, index: u32, at: Occurrence) {
        self.count(function, index, at);
        self.count_more(function, index, 0u64.wrapping_sub(1));
    }

    /// So many more executions, all before those seen.
    pub(super) fn count_more(&mut self, function: u32, index: u32, more: u64) {
        if more != 0
            && let Some(Some(taken)) = self.counts[function as usize].get_mut(index as usize)
        {
            taken.count = taken.count.wrapping_add(more);
        }
    }

    pub fn leaf(&mut self, list: List, origin: &Origin) {
        let leaves: Vec<Leaf> = self
            .edges
            .iter(list)
            .take(MAX_LEAVES)
            .map(|(needed_by, how)| Leaf { needed_by, how, origin: origin.clone() })
            .collect();
        self.slice.leaves.extend(leaves);
    }

    pub(super) fn variable(&self, address: u64) -> Option<Definition> {
        let i = self.variables.partition_point(|v| v.0 <= address).checked_sub(1)?;
        let (start, size, definition) = &self.variables[i];
        (address - start < *size).then(|| definition.clone())
    }

    /// The slice, when all walks are done.
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
        self.slice.edges = self.edges.all;
        self.slice
    }
}

fn variables(image: &replay::image::Image) -> Vec<(u64, u64, Definition)> {
    let mut all = Vec::new();
    for (_, loaded) in image.modules() {
        for (symbol, address) in loaded.model.symbols.iter().zip(&loaded.addresses) {
            if let program::model::SymbolKind::Data { size, line, file, .. } = symbol.kind {
                let file = if line == 0 { String::new() } else { loaded.model.file_path(file) };
                all.push((*address, size, Definition { name: symbol.name.clone(), file, line }));
            }
        }
    }
    all.sort_by_key(|v| v.0);
    all
}

//! A run divided into phases, and the data flow between them.
//!
//! A slice can have too many lines to read. Here the run is divided into a few phases, and only dependences
//! between phases are shown, with values. The user finds the first wrong one among these values and
//! continues with the phase that produced it, which is divided in turn (*hierarchical dynamic slicing*, Wang
//! and Roychoudhury). A loop is a phase, then each of its iterations; so is a call; code with neither is
//! divided into statements.
//!
//! One slice serves all levels: each level is a part of its graph.
//!
//! * [`divide`]: where phases begin and end;
//! * [`search`]: descends from level to level, with an oracle;
//! * [`explore`]: a search without levels, for comparison;
//! * [`tree`](mod@tree): all levels at once, within limits;
//! * [`told`]: levels in words.

pub mod divide;
pub mod explore;
pub mod search;
pub mod told;
pub mod tree;

use crate::Result;
use crate::slice::{Dependence, Needs, NodeId, Slice};
use crate::slicer::Slicer;
pub use divide::{Division, Phase, Shape, Window};
pub use search::{Descent, Found, Oracle, Search, SearchStep};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

/// A dependence of one phase on another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The execution that produced the value or decided.
    pub node: NodeId,
    /// How one of the using nodes depends on it.
    pub how: Dependence,
    /// Index of the producing phase.
    pub made_in: usize,
    /// Indices of the using phases, in ascending order.
    pub used_in: Vec<usize>,
}

/// Module, function and line of the producer, whether it decided, and its phase.
type Key = (u32, u32, u32, bool, usize);

/// A part of a run, divided into phases.
#[derive(Clone, Debug)]
pub struct Level {
    /// What is divided.
    pub window: Window,
    /// The node whose slice is shown.
    pub from: NodeId,
    /// In the order of the run; they cover the window.
    pub phases: Vec<Phase>,
    /// Index of the phase that `from` is in.
    pub at: usize,
    /// Dependences between phases, in the order in which they were produced.
    pub flows: Vec<Flow>,
}

/// A slice with what is needed to divide it into phases.
pub struct Phased<'s, 'p> {
    /// The slicer that made `slice`.
    pub slicer: &'s Slicer<'p>,
    /// The slice whose graph is divided.
    pub slice: &'s Slice,
    /// How it is divided.
    pub division: Division,
    /// Set by another thread to cancel, including the level in progress.
    pub stop: Option<&'s AtomicBool>,
    needs: Needs,
}

impl<'s, 'p> Phased<'s, 'p> {
    /// A slice with default division, which nothing cancels.
    #[must_use]
    pub fn new(slicer: &'s Slicer<'p>, slice: &'s Slice) -> Phased<'s, 'p> {
        Phased { slicer, slice, division: Division::default(), stop: None, needs: slice.needs() }
    }

    /// The window from the start of a node's stream up to the node.
    ///
    /// # Errors
    /// If replay fails.
    pub fn whole(&self, from: NodeId) -> Result<Window> {
        let at = self.slice.nodes[from as usize].at;
        let end = at.step.saturating_add(1).min(self.slicer.steps(at.stream)?);
        Ok(Window {
            stream: at.stream,
            steps: 0..end,
            shape: Shape { depth: 1, inside: None, rounds: false },
        })
    }

    /// Divides a window into phases, and finds the dependences between them on the paths to a node.
    ///
    /// # Errors
    /// If replay fails, or it was stopped.
    pub fn level(&self, window: &Window, from: NodeId) -> Result<Level> {
        let phases = self.slicer.divide(window, self.division, self.stop)?;
        let phase_of = |node: NodeId| {
            let at = self.slice.nodes[node as usize].at;
            let step = at.step.min(window.steps.end.saturating_sub(1));
            if at.stream != window.stream || !window.steps.contains(&step) {
                return None;
            }
            // The phases cover the window, in order.
            Some(phases.partition_point(|p| p.window.steps.end <= step)).filter(|p| *p < phases.len())
        };
        let at = phase_of(from);
        let mut flows = self.flows(from, &phase_of);
        flows.sort_by_key(|f| self.step(f.node));
        let at = at.unwrap_or(phases.len().saturating_sub(1));
        Ok(Level { window: window.clone(), from, phases, at, flows })
    }

    /// Dependences between phases on the paths to a node: for each phase, line and kind the last one.
    fn flows(&self, from: NodeId, phase_of: &impl Fn(NodeId) -> Option<usize>) -> Vec<Flow> {
        let mut flows: BTreeMap<Key, Flow> = BTreeMap::new();
        let needs = |node: NodeId| self.needs.of(node).iter().copied();
        crossings(
            from,
            needs,
            phase_of,
            |node| self.line(node) != 0,
            |node, how, maker, user| {
                let site = self.slice.nodes[node as usize].site;
                let decides = how.is_control_dependence();
                let key = (site.module, site.function, self.line(node), decides, maker);
                let new = Flow { node, how, made_in: maker, used_in: Vec::new() };
                let flow = flows.entry(key).or_insert_with(|| new.clone());
                if self.step(node) > self.step(flow.node) {
                    *flow = Flow { used_in: std::mem::take(&mut flow.used_in), ..new };
                }
                if let Err(place) = flow.used_in.binary_search(&user) {
                    flow.used_in.insert(place, user);
                }
            },
        );
        flows.into_values().collect()
    }

    fn step(&self, node: NodeId) -> u64 {
        self.slice.nodes[node as usize].at.step
    }

    /// The source line of a node.
    #[must_use]
    pub fn line(&self, node: NodeId) -> u32 {
        let site = self.slice.nodes[node as usize].site;
        let module = self.slicer.process().image.module(site.module);
        module.functions[site.function as usize].place(site.index as usize).line
    }
}

/// Follows dependences back from a node and reports those between phases to `tell`: the producer, how it was
/// used, its phase, and the using phase. A node without a source line was generated by the compiler and is
/// transparent: its operands count as used by its user.
fn crossings<I: Iterator<Item = (NodeId, Dependence)>>(
    from: NodeId,
    needs: impl Fn(NodeId) -> I,
    phase_of: impl Fn(NodeId) -> Option<usize>,
    named: impl Fn(NodeId) -> bool,
    mut tell: impl FnMut(NodeId, Dependence, usize, usize),
) {
    let mut seen = BTreeSet::new();
    let mut work: Vec<(NodeId, usize)> = phase_of(from).map(|phase| (from, phase)).into_iter().collect();
    while let Some((node, user)) = work.pop() {
        for (producer, how) in needs(node) {
            let Some(maker) = phase_of(producer) else { continue };
            let named = named(producer);
            if named && maker != user {
                tell(producer, how, maker, user);
            }
            let next = (producer, if named { maker } else { user });
            if seen.insert(next) {
                work.push(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition: every path from the start over any edges, cut at named nodes.
    fn all_chains(
        edges: &[(NodeId, NodeId)],
        phases: &[Option<usize>],
        named: &[bool],
    ) -> BTreeSet<(NodeId, usize, usize)> {
        let mut found = BTreeSet::new();
        // A path, represented by its last node and the last named node on it.
        let mut chains = BTreeSet::from([(0, 0)]);
        loop {
            let longer: BTreeSet<(NodeId, NodeId)> = chains
                .iter()
                .flat_map(|(last, visible)| {
                    let next = edges.iter().filter(move |e| e.0 == *last && phases[e.1 as usize].is_some());
                    next.map(move |e| (e.1, if named[e.1 as usize] { e.1 } else { *visible }))
                })
                .collect();
            for (last, visible) in &chains {
                for edge in edges.iter().filter(|e| e.0 == *last && named[e.1 as usize]) {
                    let (made, used) = (phases[edge.1 as usize], phases[*visible as usize]);
                    if let (Some(made), Some(used)) = (made, used)
                        && made != used
                    {
                        found.insert((edge.1, made, used));
                    }
                }
            }
            let before = chains.len();
            chains.extend(longer);
            if chains.len() == before {
                return found;
            }
        }
    }

    proptest! {
        #[test]
        fn crossings_are_those_of_all_chains(
            edges in proptest::collection::vec((0u32..9, 0u32..9), 0..24),
            phases in proptest::collection::vec(proptest::option::weighted(0.9, 0usize..3), 9),
            named in proptest::collection::vec(proptest::bool::weighted(0.7), 9),
        ) {
            let needs = |n: NodeId| edges.iter().filter(move |e| e.0 == n).map(|e| (e.1, Dependence::Control));
            let mut found = BTreeSet::new();
            crossings(0, needs, |n| phases[n as usize], |n| named[n as usize], |node, _, made, used| {
                found.insert((node, made, used));
            });
            let expected = match phases[0] {
                Some(_) => all_chains(&edges, &phases, &named),
                None => BTreeSet::new(),
            };
            prop_assert_eq!(found, expected);
        }
    }
}

//! A run in phases, and what one phase gave to another.
//!
//! A slice can have more lines than anybody reads. Here the run is cut into a few phases, and
//! only dependences between phases are shown, with values; whoever knows which of those values
//! is the first wrong one goes on with the phase that made it, which is cut in its turn
//! (*hierarchical dynamic slicing*, Wang and Roychoudhury). A loop is a phase, then each of its
//! iterations; so is a call; what has neither is cut into statements.
//!
//! One slice is enough for all levels: each is a part of its graph.
//!
//! * [`divide`]: where phases begin and end;
//! * [`search`]: from level to level, asking somebody;
//! * [`explore`]: without levels, to compare with;
//! * [`tree`](mod@tree): all levels at once, as far as there is room;
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
pub use search::{Descent, Found, Oracle, Search, Turn};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

/// What one phase made and another used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The execution that made it, or decided.
    pub node: NodeId,
    pub how: Dependence,
    /// Index of the phase it was made in.
    pub made_in: usize,
    /// Indices of the phases it was used in, in order.
    pub used_in: Vec<usize>,
}

/// Module, function and line of what made something, whether it decided, and the phase it ran in.
type Key = (u32, u32, u32, bool, usize);

/// A part of a run, cut into phases.
#[derive(Clone, Debug)]
pub struct Level {
    pub window: Window,
    /// What is asked about.
    pub from: NodeId,
    pub phases: Vec<Phase>,
    /// Index of the phase that `from` is in.
    pub at: usize,
    /// What phases gave to others, in the order in which it was made.
    pub flows: Vec<Flow>,
}

/// A slice, ready to be looked at in phases.
pub struct Phased<'s, 'p> {
    pub slicer: &'s Slicer<'p>,
    pub slice: &'s Slice,
    /// How it is cut.
    pub division: Division,
    /// Set by somebody else when no further level is wanted, not even the one being made.
    pub stop: Option<&'s AtomicBool>,
    needs: Needs,
}

impl<'s, 'p> Phased<'s, 'p> {
    #[must_use]
    pub fn new(slicer: &'s Slicer<'p>, slice: &'s Slice) -> Phased<'s, 'p> {
        Phased { slicer, slice, division: Division::default(), stop: None, needs: slice.needs() }
    }

    /// Everything up to a node, of its stream.
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

    /// Cuts a window into phases, and finds what they gave to each other on the way to a node.
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
            // They cover the window, in order.
            Some(phases.partition_point(|p| p.window.steps.end <= step)).filter(|p| *p < phases.len())
        };
        let at = phase_of(from);
        let mut flows = self.flows(from, &phase_of);
        flows.sort_by_key(|f| self.step(f.node));
        let at = at.unwrap_or(phases.len().saturating_sub(1));
        Ok(Level { window: window.clone(), from, phases, at, flows })
    }

    /// What phases gave to others on the way to a node: of each phase, line and kind the last.
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
                let decides = how.lets_run();
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

/// Walks back from a node and tells of every dependence of one phase on another: what made it,
/// how it was used, in which phase it was made and in which used. What has no name for people was
/// made by the compiler and is looked through: whoever used it used what it was made of.
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

    /// By the definition: every chain from the question over any edges, cut at named nodes.
    fn all_chains(
        edges: &[(NodeId, NodeId)],
        phases: &[Option<usize>],
        named: &[bool],
    ) -> BTreeSet<(NodeId, usize, usize)> {
        let mut found = BTreeSet::new();
        // A chain as its last node, and the last on it that somebody could see.
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

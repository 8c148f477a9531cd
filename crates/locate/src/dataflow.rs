//! Values that differ at aligned steps.
//!
//! If the nearest passing run takes the same path, no branch distinguishes the runs, but a value does:
//! executed instructions of the failure's slice are looked up in the passing run by execution index,
//! and their results are compared. Addresses are never compared. Each run is replayed once, and only
//! the slice's instructions are kept.

use crate::Result;
use crate::branches::stream_at;
use crate::failure::Failure;
use explain::moments::value;
use program::inst::Inst;
use replay::observer::View;
use replay::process::LoadedProcess;
use slice::executions::marks;
use slice::{NodeId, Site};
use std::cell::Cell;
use std::collections::HashMap;

/// A node of the failure's slice whose value differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DifferingValue {
    /// The node in the failure's slice.
    pub node: NodeId,
    /// Its step in the failing run.
    pub step: u64,
    /// The aligned step in the passing run.
    pub passing_step: u64,
}

/// Nodes of the slice that have a value and an aligned step in a passing run: that step, and whether
/// the value is the same.
#[derive(Clone, Debug, Default)]
pub struct Aligned(HashMap<NodeId, (u64, bool)>);

impl Aligned {
    /// Of the nodes of a stream.
    ///
    /// # Errors
    /// If a run does not replay.
    pub fn new(
        failure: &Failure<'_>,
        stream: u32,
        passing: &LoadedProcess,
        passing_stream: u32,
    ) -> Result<Aligned> {
        let mut wanted: Vec<(u64, NodeId)> = Vec::new();
        let mut sites: Vec<Site> = Vec::new();
        for (node, at) in failure.traced.slice.nodes.iter().enumerate() {
            // Of a call only the arguments are known.
            if at.at.stream == stream && !matches!(failure.traced.inst(at.site), Inst::Call(_)) {
                wanted.push((at.at.step, node as NodeId));
                sites.push(at.site);
            }
        }
        wanted.sort_unstable();
        let Some(last) = wanted.last().map(|(step, _)| *step) else { return Ok(Aligned::default()) };
        let marks = marks(&failure.traced.process.image, &sites);
        let next = Cell::new(0);
        let is_wanted = |view: &View<'_>| {
            while wanted.get(next.get()).is_some_and(|(step, _)| *step < view.count) {
                next.set(next.get() + 1);
            }
            wanted.get(next.get()).is_some_and(|(step, _)| *step == view.count)
        };
        let mut values: HashMap<u128, (NodeId, u64)> = HashMap::new();
        let number = stream_at(failure.traced.process, stream)?.number;
        symbolic::steps(failure.traced.process, number, last, &is_wanted, &mut |sum, view| {
            if let (Some((_, node)), Some(value)) = (wanted.get(next.get()), value(view)) {
                values.insert(sum, (*node, value));
            }
        })?;
        let is_site = |view: &View<'_>| {
            let functions = marks.get(view.code.module as usize);
            let code = functions.and_then(|functions| functions.get(view.code.function as usize));
            code.and_then(|code| code.as_ref()?.get(view.index as usize)).is_some_and(|marked| *marked)
        };
        let mut aligned = HashMap::new();
        let number = stream_at(passing, passing_stream)?.number;
        symbolic::steps(passing, number, u64::MAX, &is_site, &mut |sum, view| {
            if let (Some((node, ours)), Some(theirs)) = (values.get(&sum), value(view)) {
                aligned.entry(*node).or_insert((view.count, *ours == theirs));
            }
        })?;
        Ok(Aligned(aligned))
    }

    /// Whether a node has the same value in the passing run; none if it has no partner there.
    #[must_use]
    pub fn is_same(&self, node: NodeId) -> Option<bool> {
        self.0.get(&node).map(|(_, same)| *same)
    }

    /// The nodes of the dynamic slice whose values differ in the passing run, in the order of time.
    #[must_use]
    pub fn differing(&self, failure: &Failure<'_>) -> Vec<DifferingValue> {
        let differs = self.0.iter().filter(|(node, (_, same))| !same && failure.is_dynamic(**node));
        let mut found: Vec<DifferingValue> = differs
            .map(|(&node, &(passing_step, _))| DifferingValue {
                node,
                step: failure.traced.slice.nodes[node as usize].at.step,
                passing_step,
            })
            .collect();
        found.sort_unstable_by_key(|differs| differs.step);
        found
    }
}

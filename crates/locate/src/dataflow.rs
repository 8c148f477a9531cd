//! Values that differ at aligned steps.
//!
//! Where the nearest passing run takes the same way, no branch tells the runs apart. What does is
//! a value: executed instructions of the failure's dynamic slice are looked up in the passing run
//! by execution index, and what they computed is compared. Addresses are never compared.

use crate::Result;
use crate::failure::Failure;
use explain::moments::value;
use replay::observer::View;
use replay::process::LoadedProcess;
use slice::NodeId;
use std::collections::{HashMap, HashSet};

/// A node of the failure's slice whose value differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Differs {
    pub node: NodeId,
    pub step: u64,
    pub passing_step: u64,
}

/// The nodes of the dynamic slice in a stream whose values differ in the passing run, in the order
/// of time.
///
/// # Errors
/// If a run does not replay.
pub fn differing(
    failure: &Failure<'_>,
    stream: u32,
    passing: &LoadedProcess,
    passing_stream: u32,
) -> Result<Vec<Differs>> {
    let slice = &failure.traced.slice;
    let mut wanted: HashMap<u64, NodeId> = HashMap::new();
    let mut sites = HashSet::new();
    for (node, at) in slice.nodes.iter().enumerate().map(|(n, node)| (n as NodeId, node)) {
        if at.at.stream == stream && failure.is_dynamic(node) {
            wanted.insert(at.at.step, node);
            sites.insert((at.site.module, at.site.function, at.site.index));
        }
    }
    let mut values: HashMap<u128, (NodeId, u64, u64)> = HashMap::new();
    let is_wanted = |view: &View<'_>| wanted.contains_key(&view.count);
    let last = wanted.keys().max().copied().unwrap_or_default();
    symbolic::steps(failure.traced.process, stream, last, &is_wanted, &mut |sum, view| {
        if let (Some(node), Some(value)) = (wanted.get(&view.count), value(view)) {
            values.insert(sum, (*node, view.count, value));
        }
    })?;
    let mut found = Vec::new();
    let is_site = |view: &View<'_>| sites.contains(&(view.code.module, view.code.function, view.index));
    symbolic::steps(passing, passing_stream, u64::MAX, &is_site, &mut |sum, view| {
        if let Some((node, step, ours)) = values.get(&sum)
            && value(view).is_some_and(|theirs| theirs != *ours)
        {
            found.push(Differs { node: *node, step: *step, passing_step: view.count });
        }
    })?;
    found.sort_unstable_by_key(|differs| differs.step);
    found.dedup_by_key(|differs| differs.step);
    Ok(found)
}

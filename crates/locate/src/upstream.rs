//! From the process in which a failure shows to the one that computed what is wrong.
//!
//! In a pipeline, the process that writes the wrong output may only pass it on. Where the value asked about
//! has no origin in its process but what was read (its chain without copies has only input), the question
//! goes to the process of the recording that sent these bytes, through a pipe, a file or a connection. A
//! process that computes anything of the value keeps the question: its lines are looked at first.

use crate::Result;
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use slice::chain::{ChainOptions, Kind, chain};
use slice::writers::writers;
use slice::{Criterion, NodeId, Slicer, SlicerOptions};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of processes that pass a value on: processes may be connected in a circle.
const MAX_PASSES: usize = 16;

/// The process that computed a value, and the question about it there.
pub struct Upstream {
    /// Its index in the recording.
    pub process: usize,
    /// The process, loaded.
    pub loaded: LoadedProcess,
    /// Its calls that sent the value.
    pub criteria: Vec<Criterion>,
    /// The processes that passed the value on, by their indices.
    pub passed: Vec<usize>,
}

/// Follows what some criteria of a process ask about to the process that computed it; `None` if that is this
/// one.
///
/// # Errors
/// If a process does not replay.
pub fn computed(
    recording: &Recording,
    process: usize,
    loaded: &LoadedProcess,
    criteria: &[Criterion],
) -> Result<Option<Upstream>> {
    let mut passed: Vec<usize> = Vec::new();
    let mut found: Option<Upstream> = None;
    while recording.processes.len() > 1 && passed.len() < MAX_PASSES {
        let (at, senders) = match &found {
            Some(last) => (last.process, senders(recording, last.process, &last.loaded, &last.criteria)?),
            None => (process, senders(recording, process, loaded, criteria)?),
        };
        // Of several, the one that started last.
        let next = senders.into_iter().rfind(|(sender, _)| *sender != process && !passed.contains(sender));
        let Some((sender, criteria)) = next else { break };
        passed.push(at);
        let options = Options::default();
        let loaded = LoadedProcess::load(recording, &recording.processes[sender], &options)?;
        found = Some(Upstream { process: sender, loaded, criteria, passed: passed.clone() });
    }
    Ok(found)
}

/// The processes that sent what this one only passes on, with the calls that did; none if it computed some of
/// it.
fn senders(
    recording: &Recording,
    process: usize,
    loaded: &LoadedProcess,
    criteria: &[Criterion],
) -> Result<BTreeMap<usize, Vec<Criterion>>> {
    let slicer = Slicer::new(loaded, SlicerOptions::default());
    let slice = slicer.slice(criteria, &mut |_| {})?;
    let mut inputs: BTreeSet<NodeId> = BTreeSet::new();
    for asked in slice.criteria.iter().flatten() {
        let options = ChainOptions { decisions: false, ..ChainOptions::default() };
        for link in chain(&slicer, &slice, *asked, options).iter().skip(1) {
            match link.kind {
                Kind::Input => inputs.insert(link.node),
                Kind::Called | Kind::Asked => false,
                Kind::Computed | Kind::Constant | Kind::Decided => return Ok(BTreeMap::new()),
            };
        }
    }
    let mut received = slicer.received(&slice)?;
    received.retain(|bytes| inputs.contains(&bytes.node));
    let found = writers(recording, process, &received, &Options::default(), SlicerOptions::default())?;
    Ok(found.into_iter().map(|(sender, writer)| (sender, writer.criteria)).collect())
}

//! Whether two runs of one program took the same path up to a step.
//!
//! The path is the sequence of jumps and function entries; two paths are equal if their hashes are. Addresses
//! are not part of it, so runs in different processes can be compared. Runs with the same path up to a step
//! have executed the same instructions, so the step has the same number in both.

use program::inst::BlockId;
use replay::error::Error;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use std::collections::{HashMap, HashSet};

/// The hash of a path so far, and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    hash: u64,
    length: u64,
}

impl Sum {
    fn add(&mut self, view: &View<'_>, to: u64) {
        let id = u64::from_le_bytes(view.module().id[..8].try_into().unwrap_or_default());
        let word = u64::from(view.site()) << 32 ^ to;
        self.hash = (self.hash ^ word ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        self.length += 1;
    }
}

/// Distinguishes a function entry from a jump to a block.
const ENTERED: u64 = 1 << 63;

/// The path before a step, and the successor block if the step jumped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub before: Sum,
    pub to: Option<BlockId>,
}

/// The path of a run, with marks at selected steps.
#[derive(Debug, Default)]
pub(crate) struct RunPath {
    pub whole: Sum,
    path_marks: HashMap<u64, Mark>,
    /// The functions that were entered: module and number.
    pub entered: HashSet<(u32, u32)>,
}

impl RunPath {
    /// # Errors
    /// As a replay.
    pub fn of(
        process: &LoadedProcess,
        stream: u32,
        steps: impl IntoIterator<Item = u64>,
    ) -> Result<RunPath, Error> {
        let mut steps: Vec<u64> = steps.into_iter().collect();
        steps.sort_unstable_by(|a, b| b.cmp(a));
        steps.dedup();
        let mut marker = Marker { steps, way: RunPath::default() };
        run(process, stream, &mut marker, u64::MAX)?;
        Ok(marker.way)
    }

    pub fn at(&self, step: u64) -> Option<Mark> {
        self.path_marks.get(&step).copied()
    }
}

/// The path of a run up to a step; `None` if the run ended before. Replay stops after the step.
///
/// # Errors
/// As a replay up to there.
pub(crate) fn up_to(process: &LoadedProcess, stream: u32, step: u64) -> Result<Option<Mark>, Error> {
    let mut marker = Marker { steps: vec![step], way: RunPath::default() };
    run(process, stream, &mut marker, step + 1)?;
    Ok(marker.way.at(step))
}

fn run(process: &LoadedProcess, stream: u32, marker: &mut Marker, limit: u64) -> Result<(), Error> {
    if let Some(stream) = process.stream(stream) {
        Machine::new(&process.image, &stream.stream).run(marker, limit)?;
    }
    Ok(())
}

struct Marker {
    /// In descending order.
    steps: Vec<u64>,
    way: RunPath,
}

impl Observer for Marker {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        if self.steps.last() == Some(&view.count) {
            self.steps.pop();
            self.way.path_marks.insert(view.count, Mark { before: self.way.whole, to: None });
        }
    }

    fn edge(&mut self, view: &View<'_>, _: BlockId, to: BlockId) {
        if let Some(mark) = self.way.path_marks.get_mut(&view.count) {
            mark.to = Some(to);
        }
        self.way.whole.add(view, to.into());
    }

    fn enter(&mut self, view: &View<'_>, _: bool) {
        self.way.whole.add(view, ENTERED);
        self.way.entered.insert((view.code.module, view.code.function));
    }
}

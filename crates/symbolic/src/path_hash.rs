//! Whether two runs of one program took the same path.
//!
//! The path of a run is its sequence of jumps. First the hashes of fixed-size segments are compared. Then
//! only the segment where the paths diverge is compared jump by jump, so that long runs need no long lists.

use crate::path::Error;
use program::inst::BlockId;
use replay::machine::Machine;
use replay::observer::{Observer, View};
use replay::process::LoadedProcess;

/// Number of jumps in a segment.
const SEGMENT: u64 = 4096;

/// A jump of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Index of the module in the image.
    pub module: u32,
    /// Index of the function in its module.
    pub function: u32,
    /// The instruction that jumped.
    pub index: u32,
    /// The block that it jumped to.
    pub to: BlockId,
    /// Number of the step.
    pub step: u64,
}

/// Where two runs diverge: the jump that each took there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The jump of the first run; `None`: it had ended.
    pub first: Option<Jump>,
    /// The jump of the second run; `None`: it had ended.
    pub second: Option<Jump>,
}

#[derive(Default)]
struct SegmentHashes {
    sums: Vec<u64>,
    sum: u64,
    jumps: u64,
}

fn mixed(sum: u64, view: &View<'_>, to: BlockId) -> u64 {
    let id = u64::from_le_bytes(view.module().id[..8].try_into().unwrap_or_default());
    let word = u64::from(view.site()) << 32 | u64::from(to);
    (sum ^ word ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

impl Observer for SegmentHashes {
    fn edge(&mut self, view: &View<'_>, _: BlockId, to: BlockId) {
        self.sum = mixed(self.sum, view, to);
        self.jumps += 1;
        if self.jumps.is_multiple_of(SEGMENT) {
            self.sums.push(self.sum);
        }
    }
}

/// The jumps of one segment.
struct SegmentJumps {
    first: u64,
    seen: u64,
    jumps: Vec<Jump>,
}

impl Observer for SegmentJumps {
    fn edge(&mut self, view: &View<'_>, _: BlockId, to: BlockId) {
        if (self.first..self.first + SEGMENT).contains(&self.seen) {
            self.jumps.push(Jump {
                module: view.code.module,
                function: view.code.function,
                index: view.index,
                to,
                step: view.count,
            });
        }
        self.seen += 1;
    }
}

fn run<O: Observer>(process: &LoadedProcess, stream: u32, observer: &mut O) -> Result<(), Error> {
    let stream = process.stream(stream).ok_or(Error::NoStream(stream))?;
    Machine::new(&process.image, &stream.stream).run(observer, u64::MAX)?;
    Ok(())
}

/// Where the same stream of two runs of one program diverges. `None` if both took the same path to the end.
///
/// # Errors
/// As a replay.
pub fn divergence(
    first: &LoadedProcess,
    second: &LoadedProcess,
    stream: u32,
) -> Result<Option<Divergence>, Error> {
    let (mut a, mut b) = (SegmentHashes::default(), SegmentHashes::default());
    run(first, stream, &mut a)?;
    run(second, stream, &mut b)?;
    if (a.jumps, a.sum) == (b.jumps, b.sum) {
        return Ok(None);
    }
    let same = a.sums.iter().zip(&b.sums).take_while(|(x, y)| x == y).count() as u64;
    let mut jumps = [Vec::new(), Vec::new()];
    for (process, list) in [first, second].into_iter().zip(&mut jumps) {
        let mut stretch = SegmentJumps { first: same * SEGMENT, seen: 0, jumps: Vec::new() };
        run(process, stream, &mut stretch)?;
        *list = stretch.jumps;
    }
    let [a, b] = jumps;
    let place = |j: &Jump| (j.module, j.function, j.index, j.to);
    let at = a.iter().zip(&b).take_while(|(x, y)| place(x) == place(y)).count();
    Ok(Some(Divergence { first: a.get(at).copied(), second: b.get(at).copied() }))
}

//! The stores of activations.

use super::keys::Lines;
use super::{Index, Side, Track};
use program::inst::Inst;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Addresses and the values stored there.
pub type Stored = HashSet<(u64, u64)>;

/// The stores of the activation of each index in this stream, without those of its callees.
///
/// # Errors
/// If the stream does not replay.
pub fn stores_of(
    process: &LoadedProcess,
    stream: usize,
    wanted: &[Index],
    side: Side,
    lines: &Lines<'_>,
) -> replay::error::Result<Vec<Arc<Stored>>> {
    let mut numbers: HashMap<u128, u32> = HashMap::new();
    for index in wanted {
        let next = numbers.len() as u32 + 1;
        numbers.entry(index.frame).or_insert(next);
    }
    let stored = vec![Stored::new(); numbers.len()];
    let mut watch = Watch { track: Track::new(&process.image, side, lines), numbers, stored };
    if let (Some(s), false) = (process.streams.get(stream), wanted.is_empty()) {
        Machine::new(&process.image, &s.stream).run(&mut watch, u64::MAX)?;
    }
    let stored: Vec<Arc<Stored>> = watch.stored.into_iter().map(Arc::new).collect();
    Ok(wanted.iter().map(|index| stored[watch.numbers[&index.frame] as usize - 1].clone()).collect())
}

struct Watch<'a> {
    track: Track<'a>,
    /// The requested activations, numbered from 1.
    numbers: HashMap<u128, u32>,
    stored: Vec<Stored>,
}

impl Observer for Watch<'_> {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        let frame = self.track.enter(view);
        frame.mark = self.numbers.get(&frame.key).copied().unwrap_or(0);
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        let mark = self.track.step(view).map_or(0, |frame| frame.mark);
        if let (1.., Effect::Store { address, .. }) = (mark, effect)
            && let Inst::Store { value, .. } = view.inst()
        {
            self.stored[mark as usize - 1].insert((address, view.value(*value)));
        }
    }
}

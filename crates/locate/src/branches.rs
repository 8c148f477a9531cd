//! The branches of the failing run, and other runs compared with them.
//!
//! The failing run's branch events up to the failure are kept in 22 bytes each: 8 for the key, 8 for
//! step and edge, 6 for the hash table of keys. Of a long run, only the newest [`MAX_BRANCHES`] are
//! kept: differences are compared from the failure back, so that an older event matters only between
//! runs that agree in all that are kept. Other runs are streamed past them with one lookup per
//! event, so that a pool of any size takes no memory. Keys are 64 bits derived from the sum of an
//! execution index: among 10^8 events, two have the same key with a probability below one in a
//! thousand.

use crate::Result;
use crate::chain::{Chains, Event};
use crate::difference::Difference;
use crate::suspicion::{Coverage, CoverageItem};
use program::inst::Inst;
use replay::machine::Machine;
use replay::observer::{Observer, View};
use replay::process::{LoadedProcess, LoadedStream};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use symbolic::BranchInstance;

/// Maximum number of branch events that are kept: 700 MB.
const MAX_BRANCHES: usize = 1 << 25;

/// A static branch: module, function, instruction.
pub type BranchSite = (u32, u32, u32);

/// A branch event of the failing run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    /// The step of the branch instruction in the stream.
    pub step: u64,
    /// The branch instruction.
    pub site: BranchSite,
    /// The successor block.
    pub to: u32,
}

/// A branch event of another run that is aligned with one of the failing run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partner {
    /// Position in the failing run's list.
    pub position: u32,
    /// The step of the event in the other run.
    pub step: u64,
    /// The successor block in the other run.
    pub to: u32,
}

/// The directions that each branch of a run took at least once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature(BTreeMap<BranchSite, BTreeSet<u32>>);

impl Signature {
    /// Records that a branch took a direction.
    pub fn see(&mut self, site: BranchSite, to: u32) {
        self.0.entry(site).or_default().insert(to);
    }
}

/// A branch edge: the branch and its successor block.
type Way = (BranchSite, u32);

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    keys: Vec<u64>,
    /// The lower half of each event's step, and the index of its edge.
    events: Vec<(u32, u32)>,
    /// The number of older events that are not kept.
    dropped: u64,
    /// The first events, counted with dropped ones, at which the upper half of the step is at least 1, 2
    /// and so on.
    upper: Vec<u64>,
    ways: Vec<Way>,
    number: HashMap<Way, u32>,
    /// The last event of each edge, counted with dropped ones.
    last: Vec<u64>,
    positions: Positions,
}

fn key(sum: u128) -> u64 {
    (sum >> 64) as u64 ^ sum as u64
}

impl Branches {
    /// The branches of a stream up to the step at which the failure is observed.
    ///
    /// # Errors
    /// If the stream does not replay.
    pub fn of_run(process: &LoadedProcess, stream: u32, failure: u64) -> Result<Branches> {
        let mut branches = Branches::default();
        let number = stream_at(process, stream)?.number;
        symbolic::branches(process, number, failure, &mut |BranchInstance { sum, step, site, to }| {
            branches.push(key(sum), Branch { step, site, to }, MAX_BRANCHES);
        })?;
        branches.finish();
        Ok(branches)
    }

    /// The branches among events, at most so many; an event's step is its position, its site its statement.
    #[must_use]
    pub fn of_events(run: &[Event], chains: &mut Chains, most: usize) -> Branches {
        let mut branches = Branches::default();
        for ((step, event), chain) in run.iter().enumerate().zip(chains.of(run)) {
            if let Some(to) = event.outcome {
                let branch = Branch { step: step as u64, site: (0, 0, event.statement), to };
                branches.push(spread(chain.0), branch, most);
            }
        }
        branches.finish();
        branches
    }

    /// Adds an event. Until `finish`, the lists are ring buffers of `most` events.
    fn push(&mut self, key: u64, branch: Branch, most: usize) {
        let position = self.dropped + self.keys.len() as u64;
        while (self.upper.len() as u64) < branch.step >> 32 {
            self.upper.push(position);
        }
        let fresh = self.ways.len() as u32;
        let way = *self.number.entry((branch.site, branch.to)).or_insert(fresh);
        if way == fresh {
            self.ways.push((branch.site, branch.to));
            self.last.push(position);
        }
        self.last[way as usize] = position;
        let event = (branch.step as u32, way);
        if self.keys.len() < most {
            self.keys.push(key);
            self.events.push(event);
        } else {
            let oldest = (self.dropped % most as u64) as usize;
            (self.keys[oldest], self.events[oldest]) = (key, event);
            self.dropped += 1;
        }
    }

    fn finish(&mut self) {
        let oldest = self.dropped.checked_rem(self.keys.len() as u64).unwrap_or(0) as usize;
        self.keys.rotate_left(oldest);
        self.events.rotate_left(oldest);
        self.keys.shrink_to_fit();
        self.events.shrink_to_fit();
        self.positions = Positions::of(&self.keys);
    }

    /// The event at a position.
    #[must_use]
    pub fn event(&self, position: u32) -> Branch {
        let (lower, way) = self.events[position as usize];
        let number = self.dropped + u64::from(position);
        let upper = self.upper.partition_point(|first| *first <= number) as u64;
        let (site, to) = self.ways[way as usize];
        Branch { step: upper << 32 | u64::from(lower), site, to }
    }

    /// All events, in the order of time.
    pub fn events(&self) -> impl Iterator<Item = Branch> {
        (0..self.events.len() as u32).map(|position| self.event(position))
    }

    /// Says so if not all events are kept.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let kept = self.keys.len();
        (self.dropped > 0).then(|| {
            format!(
                "Of the {} branches of the run before the failure, the last {kept} were compared with other \
                 runs: \"the same control flow\" is said of these.",
                self.dropped + kept as u64
            )
        })
    }

    /// Starts the comparison with another run.
    #[must_use]
    pub fn comparison(&self) -> Comparison<'_> {
        Comparison { failing: self, toggled: Vec::new() }
    }

    /// The difference from a recorded run.
    ///
    /// # Errors
    /// If the stream does not replay.
    pub fn compare(&self, process: &LoadedProcess, stream: u32) -> Result<(Difference, Vec<Partner>)> {
        let mut comparing = self.comparison();
        let number = stream_at(process, stream)?.number;
        symbolic::branches(process, number, u64::MAX, &mut |instance| {
            comparing.see(key(instance.sum), instance.step, instance.to);
        })?;
        Ok(comparing.finish())
    }

    /// The difference from a run of events; `chains` must be the table of this run.
    #[must_use]
    pub fn compare_events(&self, run: &[Event], chains: &mut Chains) -> Difference {
        let mut comparing = self.comparison();
        for ((step, event), chain) in run.iter().enumerate().zip(chains.of(run)) {
            if let Some(to) = event.outcome {
                comparing.see(spread(chain.0), step as u64, to);
            }
        }
        comparing.finish().0
    }

    /// Whether a run with this signature took all branch directions of this one: a necessary condition for
    /// the same control flow.
    #[must_use]
    pub fn has_all_directions(&self, signature: &Signature) -> bool {
        self.ways.iter().all(|(site, to)| signature.0.get(site).is_some_and(|ways| ways.contains(to)))
    }

    /// A lower bound of the difference from a run with this signature. The last event of a difference has a
    /// partner that took another direction, so the signature has another direction of its branch. Edges of
    /// which no event is kept have no part in differences.
    #[must_use]
    pub fn bound(&self, signature: &Signature) -> Difference {
        let can_toggle = |((site, to), _): &(&Way, &u64)| {
            signature.0.get(site).is_some_and(|ways| ways.iter().any(|way| way != to))
        };
        let latest = self.ways.iter().zip(&self.last).filter(can_toggle).map(|(_, last)| *last).max();
        let kept = latest.and_then(|last| last.checked_sub(self.dropped));
        Difference::of(kept.into_iter().map(|position| position as u32).collect())
    }
}

/// An open-addressing hash table from keys to their positions in a list. It does not store the keys,
/// and uses them as hashes, so they must be uniformly distributed.
#[derive(Clone, Debug, Default)]
struct Positions {
    /// Positions, or `NONE`. A position is in the slot that its key's upper bits select, or the next
    /// free one.
    slots: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Positions {
    fn of(keys: &[u64]) -> Positions {
        let mut table = Positions { slots: vec![NONE; keys.len() + keys.len() / 2 + 1] };
        for (position, key) in keys.iter().enumerate() {
            if let Err(free) = table.find(keys, *key) {
                table.slots[free] = position as u32;
            }
        }
        table
    }

    /// The position of a key, or the free slot in which to insert it.
    fn find(&self, keys: &[u64], key: u64) -> std::result::Result<u32, usize> {
        let slots = self.slots.len();
        let mut at = ((u128::from(key) * slots as u128) >> 64) as usize;
        loop {
            match self.slots[at] {
                NONE => return Err(at),
                position if keys[position as usize] == key => return Ok(position),
                _ => at = if at + 1 == slots { 0 } else { at + 1 },
            }
        }
    }

    /// The first position of a key.
    #[inline]
    fn get(&self, keys: &[u64], key: u64) -> Option<u32> {
        if self.slots.is_empty() { None } else { self.find(keys, key).ok() }
    }
}

/// Distributes numbers over 64 bits; distinct numbers stay distinct.
fn spread(chain: u32) -> u64 {
    u64::from(chain).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Aligns another run with the failing one, event by event.
pub struct Comparison<'f> {
    failing: &'f Branches,
    toggled: Vec<Partner>,
}

impl Comparison<'_> {
    #[inline]
    fn see(&mut self, key: u64, step: u64, to: u32) {
        if let Some(position) = self.failing.positions.get(&self.failing.keys, key)
            && self.failing.ways[self.failing.events[position as usize].1 as usize].1 != to
        {
            self.toggled.push(Partner { position, step, to });
        }
    }

    fn finish(mut self) -> (Difference, Vec<Partner>) {
        self.toggled.sort_unstable_by_key(|partner| partner.position);
        self.toggled.dedup_by_key(|partner| partner.position);
        (Difference::of(self.toggled.iter().map(|partner| partner.position).collect()), self.toggled)
    }
}

/// A stream by its index. Its number, by which symbolic replay takes it, is another one in a child that a
/// thread forked, and where the file of an earlier stream cannot be read.
///
/// # Errors
/// If there is none.
pub(crate) fn stream_at(process: &LoadedProcess, index: u32) -> Result<&LoadedStream> {
    process.streams.get(index as usize).ok_or(crate::Error::NoStream(index))
}

/// The signature of a recorded stream up to a step, and the blocks that it executed, in one replay.
///
/// # Errors
/// If the stream does not replay.
pub fn signature(process: &LoadedProcess, stream: u32, last: u64) -> Result<(Signature, Coverage)> {
    let loaded = stream_at(process, stream)?;
    let mut ways = Ways::default();
    Machine::new(&process.image, &loaded.stream).run(&mut ways, last.saturating_add(1))?;
    Ok((ways.signature, ways.coverage))
}

struct Ways {
    signature: Signature,
    coverage: Coverage,
    /// A direct-mapped cache of recent edges, which covers most edges of a loop: module, function,
    /// instruction, block.
    recent: Box<[(u32, u32, u32, u32)]>,
}

/// A power of two.
const RECENT: usize = 1 << 12;

impl Default for Ways {
    fn default() -> Ways {
        let recent = vec![(u32::MAX, 0, 0, 0); RECENT].into();
        Ways { signature: Signature::default(), coverage: Coverage::default(), recent }
    }
}

impl Observer for Ways {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        self.coverage.insert(CoverageItem::Block(view.code.module, view.code.function, 0));
    }

    fn edge(&mut self, view: &View<'_>, _: u32, to: u32) {
        let (module, function) = (view.code.module, view.code.function);
        let edge = (module, function, view.index, to);
        let mixed = spread(function ^ module.rotate_left(24)) ^ spread(view.index.rotate_left(8) ^ to);
        let recent = &mut self.recent[(mixed >> 32) as usize % RECENT];
        if *recent == edge {
            return;
        }
        *recent = edge;
        self.coverage.insert(CoverageItem::Block(module, function, to));
        if matches!(view.inst(), Inst::Branch { .. } | Inst::Switch { .. }) {
            self.coverage.insert(CoverageItem::Way(module, function, view.index, to));
            self.signature.see((module, function, view.index), to);
        }
    }
}

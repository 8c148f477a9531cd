//! The branches of the failing run, and other runs compared with them.
//!
//! The failing run's branch events are kept, up to the failure: some 40 bytes each. Other runs
//! are streamed past them, one lookup an event, so that a pool of any size takes no memory. Keys
//! are 64 bits of an execution index's sum: among 10^8 events two share one with a probability
//! below one in a thousand.

use crate::Result;
use crate::chain::{Chains, Event};
use crate::difference::Difference;
use crate::suspicion::{Coverage, Part};
use program::inst::Inst;
use replay::machine::Machine;
use replay::observer::{Observer, View};
use replay::process::LoadedProcess;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use symbolic::BranchInstance;

/// A static branch: module, function, instruction.
pub type BranchSite = (u32, u32, u32);

/// A branch event of the failing run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    pub step: u64,
    pub site: BranchSite,
    /// The successor block.
    pub to: u32,
}

/// A branch event of another run that is aligned with one of the failing run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partner {
    /// Position in the failing run's list.
    pub position: u32,
    pub step: u64,
    pub to: u32,
}

/// The directions that each branch of a run took at least once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature(BTreeMap<BranchSite, BTreeSet<u32>>);

impl Signature {
    pub fn see(&mut self, site: BranchSite, to: u32) {
        self.0.entry(site).or_default().insert(to);
    }
}

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    events: Vec<Branch>,
    by_key: HashMap<u64, u32>,
    /// The last event of each way of each branch.
    last: BTreeMap<(BranchSite, u32), u32>,
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
        symbolic::branches(process, stream, failure, &mut |BranchInstance { sum, step, site, to }| {
            branches.push(key(sum), Branch { step, site, to });
        })?;
        Ok(branches)
    }

    /// The branches among events; an event's step is its position, its site its statement.
    #[must_use]
    pub fn of_events(run: &[Event], chains: &mut Chains) -> Branches {
        let mut branches = Branches::default();
        for ((step, event), chain) in run.iter().enumerate().zip(chains.of(run)) {
            if let Some(to) = event.outcome {
                let branch = Branch { step: step as u64, site: (0, 0, event.statement), to };
                branches.push(chain.0.into(), branch);
            }
        }
        branches
    }

    fn push(&mut self, key: u64, branch: Branch) {
        let position = self.events.len() as u32;
        self.by_key.entry(key).or_insert(position);
        self.last.insert((branch.site, branch.to), position);
        self.events.push(branch);
    }

    #[must_use]
    pub fn events(&self) -> &[Branch] {
        &self.events
    }

    /// Starts the comparison with another run.
    #[must_use]
    pub fn against(&self) -> Comparing<'_> {
        Comparing { failing: self, toggled: Vec::new() }
    }

    /// The difference from a recorded run.
    ///
    /// # Errors
    /// If the stream does not replay.
    pub fn compare(&self, process: &LoadedProcess, stream: u32) -> Result<(Difference, Vec<Partner>)> {
        let mut comparing = self.against();
        symbolic::branches(process, stream, u64::MAX, &mut |instance| {
            comparing.see(key(instance.sum), instance.step, instance.to);
        })?;
        Ok(comparing.finish())
    }

    /// The difference from a run of events; `chains` must be the table of this run.
    #[must_use]
    pub fn compare_events(&self, run: &[Event], chains: &mut Chains) -> Difference {
        let mut comparing = self.against();
        for ((step, event), chain) in run.iter().enumerate().zip(chains.of(run)) {
            if let Some(to) = event.outcome {
                comparing.see(chain.0.into(), step as u64, to);
            }
        }
        comparing.finish().0
    }

    /// Whether a run with this signature took all branch directions of this one: a necessary condition for
    /// the same control flow.
    #[must_use]
    pub fn has_all_ways(&self, signature: &Signature) -> bool {
        self.last.keys().all(|(site, to)| signature.0.get(site).is_some_and(|ways| ways.contains(to)))
    }

    /// A lower bound of the difference from a run with this signature. The last event of a difference has a
    /// partner that took another direction, so the signature has another direction of its branch.
    #[must_use]
    pub fn bound(&self, signature: &Signature) -> Difference {
        let can_toggle = |((site, to), _): &(&(BranchSite, u32), &u32)| {
            signature.0.get(site).is_some_and(|ways| ways.iter().any(|way| way != to))
        };
        let latest = self.last.iter().filter(can_toggle).map(|(_, position)| *position).max();
        Difference::of(latest.into_iter().collect())
    }
}

/// Another run, event by event.
pub struct Comparing<'f> {
    failing: &'f Branches,
    toggled: Vec<Partner>,
}

impl Comparing<'_> {
    #[inline]
    fn see(&mut self, key: u64, step: u64, to: u32) {
        if let Some(&position) = self.failing.by_key.get(&key)
            && self.failing.events[position as usize].to != to
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

/// The signature of a recorded stream up to a step, and the blocks that it executed, in one replay.
///
/// # Errors
/// If the stream does not replay.
pub fn signature(process: &LoadedProcess, stream: u32, last: u64) -> Result<(Signature, Coverage)> {
    let loaded = process.stream(stream).ok_or(crate::Error::NoStream(stream))?;
    let mut ways = Ways::default();
    Machine::new(&process.image, &loaded.stream).run(&mut ways, last.saturating_add(1))?;
    Ok((ways.signature, ways.coverage))
}

#[derive(Default)]
struct Ways {
    signature: Signature,
    coverage: Coverage,
}

impl Observer for Ways {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        self.coverage.insert(Part::Block(view.code.module, view.code.function, 0));
    }

    fn edge(&mut self, view: &View<'_>, _: u32, to: u32) {
        let (module, function) = (view.code.module, view.code.function);
        self.coverage.insert(Part::Block(module, function, to));
        if matches!(view.inst(), Inst::Branch { .. } | Inst::Switch { .. }) {
            self.coverage.insert(Part::Way(module, function, view.index, to));
            self.signature.see((module, function, view.index), to);
        }
    }
}

//! Tests links of the chain by running bad again.
//!
//! A step of the chain claims that this value, or this decision, made the test fail. That is a counterfactual
//! claim. It is tested by an *intervention* (Pearl, *Causality*): bad runs with the value that the other
//! version had at the same step, and with no other change. If the test passes, the link is proven. If the
//! observed difference disappears and others remain, the link decides about this one. If the test fails as
//! before, the value alone does not decide: the difference reaches the failure on another path as well, or
//! the step is no cause.

use crate::align::Side;
use crate::answer::{Cause, Link};
use crate::causes::Step;
use crate::error::Error;
use crate::findings::Run;
use crate::moments::result;
use crate::semantic::facts::{Fact, facts};
use changes::outcome::Outcome;
use program::inst::{FloatKind, Inst, Ty};
use program::intervention::Intervention;
use program::names::is_library;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use slice::{NodeId, Occurrence, Site};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};
use trials::TrialRunner;

const PASSES: &str = "passes";
const GONE: &str = "gone";
const OTHER: &str = "other";
const SAME: &str = "same";
const NOT_TRIED: &str = "not-tried";

/// The minimum time for all links of a chain; more if the search for the changes took more.
const TIME: Duration = Duration::from_secs(20);

/// For each step the replacement of bad's value by the one that the other version had at the same instruction
/// and step, if the values differ. `None` for pointers, which are meaningless in another run, and in
/// processes with several threads, whose schedules differ between runs.
#[must_use]
pub fn links<'l>(
    steps: &[&Step],
    there: &[Option<Occurrence>],
    own: &Run<'l>,
    other: &Run<'l>,
) -> Vec<Option<Link>> {
    let (bad, good) = if own.traced.side == Side::Bad { (own, other) } else { (other, own) };
    let is_threaded = |run: &Run<'_>| run.traced.process.streams.len() != 1;
    if is_threaded(bad) || is_threaded(good) {
        return vec![None; steps.len()];
    }
    let moments: Vec<Option<Moment>> =
        steps.iter().zip(there).map(|(s, t)| moment(s, *t, own, other)).collect();
    let at = |of: fn(&Moment) -> Occurrence| -> Vec<(NodeId, Occurrence)> {
        let known = moments.iter().enumerate().filter_map(|(n, m)| Some((n as NodeId, of(m.as_ref()?))));
        known.collect()
    };
    let in_bad = facts(bad.traced.process, &at(|m| m.bad));
    let in_good = facts(good.traced.process, &at(|m| m.good));
    let counts = occurrences(bad, &moments);
    let link = |(n, moment): (usize, &Option<Moment>)| {
        let moment = moment.as_ref()?;
        let Site { module, function, index } = moment.site;
        let bits = width(bad.traced.inst(moment.site))?;
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let of = |facts: &HashMap<NodeId, Fact>| Some(facts.get(&(n as NodeId))?.value & mask);
        let value = of(&in_good)?;
        if of(&in_bad)? == value {
            return None;
        }
        let model = bad.traced.process.image.module(module);
        let function = &model.functions[function as usize];
        // Such a step is shown at the line that called the library, whose value is another one.
        if is_library(&model.file_path(function.place(index as usize).file)) {
            return None;
        }
        let unit = Path::new(&model.directory).join(&model.name);
        let intervention = Intervention {
            function: function.name.clone(),
            length: function.code.len() as u32,
            index,
            occurrence: *counts.get(&moment.bad)?,
            value,
        };
        let unit = bad.traced.relative(&unit.display().to_string());
        Some(Link { outcome: NOT_TRIED.to_owned(), unit, intervention })
    };
    moments.iter().enumerate().map(link).collect()
}

/// Corresponding executions in both runs, and the instruction that bad executes there.
struct Moment {
    site: Site,
    bad: Occurrence,
    good: Occurrence,
}

fn moment(step: &Step, there: Option<Occurrence>, own: &Run<'_>, other: &Run<'_>) -> Option<Moment> {
    let (node, there) = (own.traced.slice.nodes[step.node as usize], there?);
    if own.traced.side == Side::Bad {
        return Some(Moment { site: node.site, bad: node.at, good: there });
    }
    let machine = other.slicer.machine_at(there).ok()?;
    let view = machine.view()?;
    let site = Site { module: view.code.module, function: view.code.function, index: view.index };
    Some(Moment { site, bad: there, good: node.at })
}

/// The width in bits of the value that an instruction computes, stores or branches on; `None` if it cannot be
/// a number.
fn width(inst: &Inst) -> Option<u32> {
    let ty = match inst {
        // May have any type; pointers are rejected later.
        Inst::Copy { .. } | Inst::Select { slots: 1, .. } => Ty::Int(64),
        Inst::Pure { ty, .. } => *ty,
        Inst::Call(_) => return None,
        _ => result(inst)?.1,
    };
    match ty {
        Ty::Int(bits @ 1..=64) => Some(u32::from(bits)),
        Ty::Float(FloatKind::F32) => Some(32),
        Ty::Float(FloatKind::F64) => Some(64),
        _ => None,
    }
}

/// For each execution, the number of earlier executions of its instruction in bad, from one replay.
fn occurrences(bad: &Run<'_>, at: &[Option<Moment>]) -> HashMap<Occurrence, u64> {
    struct Counter {
        counts: HashMap<Site, u64>,
        wanted: HashMap<u64, Occurrence>,
        found: HashMap<Occurrence, u64>,
    }
    impl Observer for Counter {
        #[inline]
        fn step(&mut self, view: &View<'_>, _: Effect) {
            let site = Site { module: view.code.module, function: view.code.function, index: view.index };
            if let Some(count) = self.counts.get_mut(&site) {
                if let Some(at) = self.wanted.get(&view.count) {
                    self.found.insert(*at, *count);
                }
                *count += 1;
            }
        }
    }
    let mut counter = Counter {
        counts: at.iter().flatten().map(|moment| (moment.site, 0)).collect(),
        wanted: at.iter().flatten().map(|moment| (moment.bad.step, moment.bad)).collect(),
        found: HashMap::new(),
    };
    let (Some(stream), Some(last)) =
        (bad.traced.process.streams.first(), counter.wanted.keys().max().copied())
    else {
        return counter.found;
    };
    // Results before a divergence are valid.
    let _ = Machine::new(&bad.traced.process.image, &stream.stream).run(&mut counter, last + 1);
    counter.found
}

/// Runs bad with each link's value replaced, those nearest to a change first, while time remains.
///
/// # Errors
/// If no trials are possible. An interrupt is not an error.
pub fn prove(causes: &mut [Cause], lab: &mut TrialRunner<'_>, spent: Duration) -> Result<(), Error> {
    let until = Instant::now() + TIME.max(spent / 2);
    let mut all: Vec<(usize, &mut Link)> = Vec::new();
    for cause in causes {
        gather(cause, 0, &mut all);
    }
    all.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
    for (_, link) in all {
        if Instant::now() > until {
            break;
        }
        // The build regenerates generated sources.
        if !lab.has_file(Path::new(&link.unit)) {
            continue;
        }
        let line = link.intervention.to_string();
        let outcome = match lab.outcome_with_line(Path::new(&link.unit), &line) {
            Ok((outcome, is_symptom, _)) => match outcome {
                Outcome::Pass => PASSES,
                Outcome::Fail if is_symptom => SAME,
                Outcome::Fail => GONE,
                Outcome::Unresolved => OTHER,
                Outcome::Broken => NOT_TRIED,
            },
            Err(trials::Error::Cancelled) => break,
            Err(error) => return Err(error.into()),
        };
        outcome.clone_into(&mut link.outcome);
    }
    Ok(())
}

fn gather<'c>(cause: &'c mut Cause, depth: usize, all: &mut Vec<(usize, &'c mut Link)>) {
    all.extend(cause.link.as_mut().map(|link| (depth, link)));
    for child in &mut cause.children {
        gather(child, depth + 1, all);
    }
}

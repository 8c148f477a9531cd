//! Links of the chain, checked by running bad again.
//!
//! A step of the chain says: this value, or this decision, made the test fail. That is a claim
//! about what would have been otherwise. It is checked by an *intervention* (Pearl, *Causality*):
//! bad is run with the value that the other version had at the same moment, and with nothing
//! else replaced. If the test passes, the link is proven. If the difference that was observed is
//! gone and others remain, the link decides about this one. If the test fails as before, the
//! value alone does not decide: there is another way for the difference to reach the failure,
//! or the step is no cause.

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

/// The least time for all links of a chain; more if finding the changes took more.
const TIME: Duration = Duration::from_secs(20);

/// For each step what it takes to give bad the value that the other version had at the same
/// instruction and moment, if that is another one. None for pointers, which mean nothing in another
/// run, and in processes with several threads, whose moments are not the same in every run.
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

/// The same moment in both runs, and the instruction that runs then in bad.
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

/// How many bits an instruction computes, stores or decides by; none if that can be no number.
fn width(inst: &Inst) -> Option<u32> {
    let ty = match inst {
        // Of any type; a pointer is refused later.
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

/// How often the instruction of each moment ran before it in bad, from one replay.
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
    // What comes before a divergence is still true.
    let _ = Machine::new(&bad.traced.process.image, &stream.stream).run(&mut counter, last + 1);
    counter.found
}

/// Runs bad with each of the links replaced, those nearest to a change first, for as long as there
/// is time.
///
/// # Errors
/// If trials cannot be made at all. To be interrupted is no error.
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
        // Generated sources are made anew by the build.
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

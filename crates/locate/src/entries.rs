//! The entries of the report, ranked by how the failure depends on them.
//!
//! Branches come first: those in the dynamic slice of the failure, then those that are only in the relevant
//! one, then the others; ties are ordered by their distance in time from the failure.

use crate::answer::{BranchEntry, InitialValue, SuspectLine, ValueEntry};
use crate::branches::{BranchSite, Branches};
use crate::consequences::consequences;
use crate::dataflow::{Aligned, DifferingValue};
use crate::failure::{DependenceStrength, Failure};
use crate::pool::Passing;
use explain::answer::{Place, ValuePair};
use explain::condition::{Condition, has_one_test, negated};
use program::inst::{Inst, Operand};
use program::model::SymbolKind;
use replay::vars::{Limits, POINTER};
use slice::snapshot::line::{Decision, LineSnapshot};
use slice::{Leaf, NodeId, Occurrence, Origin, Slicer, SlicerOptions};
use std::collections::{BTreeMap, BTreeSet};

/// Values are for reading in passing.
const LIMITS: Limits = Limits { depth: 1, elements: 8, string: 60, addresses: false };
/// Maximum number of values shown; the first that differ are the most useful.
const MAX_VALUES: usize = 8;

/// The branches of the failing run that took another direction, one entry per location.
#[must_use]
pub fn branches(
    failure: &Failure<'_>,
    stream: u32,
    failing: &Branches,
    passing: &Passing,
    aligned: &Aligned,
) -> Vec<BranchEntry> {
    let mut by_site: BTreeMap<BranchSite, Vec<usize>> = BTreeMap::new();
    for (n, partner) in passing.partners.iter().enumerate() {
        by_site.entry(failing.event(partner.position).site).or_default().push(n);
    }
    let event = |position: u32| failing.event(position);
    let toggled: BTreeMap<u64, BranchSite> = passing
        .partners
        .iter()
        .map(|partner| event(partner.position))
        .map(|event| (event.step, event.site))
        .collect();
    let steps = toggled.keys().copied().collect();
    let followed = consequences(failure, stream, aligned, &steps);
    let slicer = Slicer::new(&passing.process, SlicerOptions::default());
    let mut ranked = Vec::new();
    for (site, instances) in by_site {
        let moment = |n: usize| Occurrence { stream, step: event(passing.partners[n].position).step };
        // The instance that the failure depends on most; among these the last.
        let Some(&shown) =
            instances.iter().max_by_key(|n| (std::cmp::Reverse(failure.depends(moment(**n))), **n))
        else {
            continue;
        };
        let (at, partner) = (moment(shown), passing.partners[shown]);
        let there = Occurrence { stream: passing.stream, step: partner.step };
        let place = failure.place(site);
        let (ours, theirs) =
            (failure.slicer.line_snapshot(at, &place.text, ""), slicer.line_snapshot(there, &place.text, ""));
        let depends = failure.depends(at);
        // A branch whose instances have different reasons is an entry of its own.
        let from = |n: &usize| followed.get(&moment(*n).step).and_then(|from| toggled.get(from)).copied();
        let all: BTreeSet<_> = instances.iter().map(from).collect();
        let follows = match all.into_iter().collect::<Vec<_>>()[..] {
            [Some(from)] if from != site => Some(failure.place(from)),
            _ => None,
        };
        let formula = failure.formula(site);
        let is_part = tests_negation(&place.text).is_none();
        let condition = formula.as_deref().filter(|_| is_part).map(|f| Condition::of(f, &place.text));
        let next = |failing: bool| {
            if failing { failure.slicer.next_line(at) } else { slicer.next_line(there) }
        };
        let (failing_way, passing_way) =
            ways([ours.as_ref(), theirs.as_ref()], condition.as_ref(), &place.text, &next);
        let entry = BranchEntry {
            condition: condition.map(|condition| condition.written),
            failing: failing_way,
            passing: passing_way,
            values: informative(pairs(ours.as_ref(), theirs.as_ref())),
            times: instances.len() as u32,
            step: at.step,
            passing_step: there.step,
            slice: depends.word().to_owned(),
            follows: follows.filter(|from| (&from.file, from.line) != (&place.file, place.line)),
            chain: failure.node(at).map(|node| failure.chain(node)).unwrap_or_default(),
            commit: None,
            place,
        };
        ranked.push(((depends, std::cmp::Reverse(partner.position)), entry));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    by_line(ranked.into_iter().map(|(_, entry)| entry))
}

/// The parts of `a && b` are separate branches; they become one entry per line.
fn by_line(entries: impl Iterator<Item = BranchEntry>) -> Vec<BranchEntry> {
    let mut list: Vec<BranchEntry> = Vec::new();
    for entry in entries {
        let same = |known: &&mut BranchEntry| {
            (&known.place.file, known.place.line) == (&entry.place.file, entry.place.line)
        };
        match list.iter_mut().find(same) {
            Some(known) => {
                known.times = known.times.max(entry.times);
                if known.follows != entry.follows {
                    known.follows = None;
                }
            }
            None => list.push(entry),
        }
    }
    list
}

/// Whether the branches of a line test the negation of its condition, if they test all of it.
fn tests_negation(text: &str) -> Option<bool> {
    if has_one_test(text) { Some(false) } else { negated(text).map(|_| true) }
}

/// The directions of a branch in both runs, as text about its line.
fn ways(
    runs: [Option<&LineSnapshot>; 2],
    condition: Option<&Condition<'_>>,
    text: &str,
    next: &dyn Fn(bool) -> Option<u32>,
) -> (String, String) {
    let decisions = runs.map(|snapshot| snapshot.and_then(|snapshot| snapshot.decision.clone()));
    let is_turned = match condition {
        Some(condition) => Some(condition.is_turned),
        None => tests_negation(text),
    };
    let word = |decision: Option<Decision>| match decision {
        Some(Decision::Held(held)) => (held != is_turned.unwrap_or_default()).to_string(),
        Some(Decision::Value(value)) => value,
        Some(Decision::Threw(threw)) => if threw { "an exception" } else { "no exception" }.to_owned(),
        None => "?".to_owned(),
    };
    let is_truth = decisions.iter().any(|decision| matches!(decision, Some(Decision::Held(_))));
    let [failing, passing] = decisions.map(word);
    if !is_truth || is_turned.is_some() {
        return (failing, passing);
    }
    // One of several tests, and it is not known which: use the lines where the runs continued.
    match (next(true), next(false)) {
        (Some(ours), Some(theirs)) if ours != theirs => {
            (format!("to line {ours}"), format!("to line {theirs}"))
        }
        _ => ("one way".to_owned(), "another way".to_owned()),
    }
}

fn pairs(failing: Option<&LineSnapshot>, passing: Option<&LineSnapshot>) -> Vec<ValuePair> {
    let list = |snapshot: Option<&LineSnapshot>| snapshot.map(|g| g.variables.clone()).unwrap_or_default();
    let theirs = list(passing);
    let of = |name: &str| theirs.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
    let mut pairs: Vec<ValuePair> = list(failing)
        .into_iter()
        .map(|(name, value)| ValuePair { good: of(&name), bad: Some(value), name })
        .collect();
    for (name, value) in &theirs {
        if pairs.iter().all(|pair| pair.name != *name) {
            pairs.push(ValuePair { name: name.clone(), good: Some(value.clone()), bad: None });
        }
    }
    pairs
}

/// Removes pairs of pointers, whose values are not comparable.
fn informative(mut values: Vec<ValuePair>) -> Vec<ValuePair> {
    let says = |value: &Option<String>| value.as_deref() != Some(POINTER);
    values.retain(|pair| says(&pair.good) || says(&pair.bad));
    values
}

/// The first assignments in the failure's slice whose values differ in a passing run, one per line. Input is
/// no assignment: it differs anyway.
#[must_use]
pub fn values(failure: &Failure<'_>, stream: u32, passing: &Passing, aligned: &Aligned) -> Vec<ValueEntry> {
    let slicer = Slicer::new(&passing.process, SlicerOptions::default());
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    for DifferingValue { node, step, passing_step } in aligned.differing(failure) {
        if !assigns(failure, node) || !seen.insert(failure.traced.line(node)) {
            continue;
        }
        let place = failure.place_of(node);
        if place.line == 0 || place.file.starts_with('/') {
            continue;
        }
        let (at, there) =
            (Occurrence { stream, step }, Occurrence { stream: passing.stream, step: passing_step });
        let (ours, theirs) =
            (failure.slicer.line_snapshot(at, &place.text, ""), slicer.line_snapshot(there, &place.text, ""));
        let mut values = pairs(ours.as_ref(), theirs.as_ref());
        values.retain(|pair| pair.good != pair.bad);
        if values.is_empty() {
            let result =
                |snapshot: Option<&LineSnapshot>| snapshot.and_then(|snapshot| snapshot.result.clone());
            let (good, bad) = (result(theirs.as_ref()), result(ours.as_ref()));
            if good != bad {
                values.push(ValuePair { name: "the value".to_owned(), good, bad });
            }
        }
        entries.push(ValueEntry {
            place,
            values,
            step,
            passing_step,
            chain: failure.chain(node),
            commit: None,
        });
        if entries.len() == MAX_VALUES {
            break;
        }
    }
    entries
}

/// Whether a node computes a value: not a call, a plain load or a decision.
fn assigns(failure: &Failure<'_>, node: NodeId) -> bool {
    let site = failure.traced.slice.nodes[node as usize].site;
    matches!(
        failure.traced.inst(site),
        Inst::Bin { .. } | Inst::Float { .. } | Inst::Store { .. } | Inst::Cast { .. } | Inst::Return { .. }
    )
}

/// Variables whose initial value the failure depends on, the nearest use first.
#[must_use]
pub fn initial(failure: &Failure<'_>) -> Vec<InitialValue> {
    let slice = &failure.traced.slice;
    let near = |leaf: &Leaf| {
        let distance = failure.ways.distance(leaf.needed_by)?;
        let is_code = failure.traced.line(leaf.needed_by).line > 0 && failure.is_dynamic(leaf.needed_by);
        is_code.then_some((distance.hops, distance.decisions, leaf.needed_by))
    };
    let mut leaves: Vec<_> = slice.leaves.iter().filter_map(|leaf| Some((near(leaf)?, leaf))).collect();
    leaves.sort_by_key(|(near, _)| *near);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (_, leaf) in leaves {
        let (Origin::Outside { variable: Some(variable), .. }
        | Origin::Unwritten { variable: Some(variable), .. }) = &leaf.origin
        else {
            continue;
        };
        let place = failure.place_at(&variable.file, variable.line);
        // A string literal has no definition apart from its use.
        let literal = variable.name.starts_with('.');
        if literal || variable.line == 0 || place.file.starts_with('/') || !seen.insert(variable.clone()) {
            continue;
        }
        found.push(InitialValue {
            name: variable.name.clone(),
            used: failure.place_of(leaf.needed_by),
            value: loaded(failure, leaf.needed_by),
            place,
            commit: None,
        });
    }
    found
}

/// The value that an instruction loaded, if that was a whole global variable. Values of its line would
/// be those after the line, which may have assigned another one.
fn loaded(failure: &Failure<'_>, node: NodeId) -> Option<String> {
    let node = &failure.traced.slice.nodes[node as usize];
    let Inst::Load { addr: Operand::Symbol { symbol, offset: 0 }, ty, .. } = failure.traced.inst(node.site)
    else {
        return None;
    };
    let known = failure.traced.process.image.module(node.site.module).symbols.get(*symbol as usize)?;
    let is_whole = match known.kind {
        SymbolKind::Data { size, .. } | SymbolKind::ThreadLocal { size, .. } => size == u64::from(ty.bytes()),
        _ => false,
    };
    let seen = if is_whole { failure.slicer.values(&[node.at], LIMITS).ok()?.pop()? } else { return None };
    seen.result.map(|result| result.value).filter(|value| value != POINTER)
}

/// All lines, the most suspicious first, each once.
#[must_use]
pub fn lines(
    failure: &Failure<'_>,
    stream: u32,
    branches: &[BranchEntry],
    values: &[ValueEntry],
    initial: &[InitialValue],
) -> Vec<SuspectLine> {
    let mut list = Vec::new();
    let mut seen = BTreeSet::new();
    let mut add = |place: &Place, why: &str| {
        if place.line > 0 && is_informative(place) && seen.insert((place.file.clone(), place.line)) {
            list.push(SuspectLine { place: place.clone(), why: why.to_owned(), ..SuspectLine::default() });
        }
    };
    let is_needed = |entry: &&BranchEntry| entry.slice != DependenceStrength::No.word();
    for entry in branches.iter().filter(is_needed) {
        add(&entry.place, "branch");
    }
    for entry in branches.iter().filter(is_needed) {
        for place in guarded(failure, Occurrence { stream, step: entry.step }) {
            add(&place, "guarded");
        }
    }
    for entry in values {
        add(&entry.place, "value");
    }
    for entry in initial {
        add(&entry.place, "initial");
    }
    for entry in branches.iter().filter(|entry| !is_needed(entry)) {
        add(&entry.place, "branch");
    }
    for place in failure.nearest_lines() {
        add(&place, "slice");
    }
    list
}

/// Appends lines that the failing run executed and the slice lacks, such as those that determine only the
/// position of an output byte.
pub fn add_executed<'l>(
    lines: &mut Vec<SuspectLine>,
    failure: &Failure<'_>,
    executed: impl Iterator<Item = &'l (String, u32)>,
) {
    let known: BTreeSet<(String, u32)> =
        lines.iter().map(|line| (line.place.file.clone(), line.place.line)).collect();
    for (file, line) in executed.filter(|at| !at.0.starts_with('/') && !known.contains(at)) {
        let place = failure.place_at(file, *line);
        if is_informative(&place) {
            lines.push(SuspectLine { place, why: "executed".to_owned(), ..SuspectLine::default() });
        }
    }
}

/// Whether a line has more than the brackets of a block.
fn is_informative(place: &Place) -> bool {
    place.text.trim().is_empty() || place.text.contains(|c: char| c.is_alphanumeric() || c == '_')
}

/// Number of lines shown; few readers would read more.
const MAX_SHOWN: usize = 10;

/// Folds the lines after the first ones.
pub fn fold(lines: &mut [SuspectLine]) {
    for line in lines.iter_mut().skip(MAX_SHOWN) {
        line.folded = true;
    }
}

/// Maximum number of decisions between a branch and a line that it guards.
const MAX_GUARD_DEPTH: usize = 2;

/// Instructions in the slice that are control dependent on a branch, the nearest first.
fn guarded(failure: &Failure<'_>, branch: Occurrence) -> Vec<Place> {
    let slice = &failure.traced.slice;
    let mut found: Vec<NodeId> = failure.node(branch).into_iter().collect();
    let mut from = 0;
    for _ in 0..MAX_GUARD_DEPTH {
        let to = found.len();
        for at in from..to {
            let controlled = slice.needed_by(found[at]).filter(|(consumer, how)| {
                *how == slice::Dependence::Control && failure.is_dynamic(*consumer)
            });
            for (consumer, _) in controlled {
                if !found.contains(&consumer) {
                    found.push(consumer);
                }
            }
        }
        from = to;
    }
    let places = found.into_iter().skip(1).map(|node| failure.place_of(node));
    places.filter(|place| place.line > 0 && !place.file.starts_with('/')).collect()
}

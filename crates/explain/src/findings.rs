//! Slices of both runs from the failure, and the results derived from them.

use crate::align::Side;
use crate::answer::{Cause, Observation};
use crate::case::{Case, Loaded};
use crate::causes::{Step, beginning, graft, tree, way_to};
use crate::evidence::{Evidence, InputRead, Witness, touching};
use crate::moments::{compare, counterparts};
use crate::names::Bodies;
use crate::semantic::layers::{Layers, layers};
use crate::semantic::why::Solving;
use crate::traced::{Crossing, Traced};
use crate::values::Comparison;
use crate::ways::{Distance, Ground, Ways, decides};
use changes::search::Found;
use changes::{ChangeSet, Difference};
use replay::process::LoadedProcess;
use slice::{Criterion, Dependence, NodeId, Occurrence, Relevance, Slice, Slicer, SlicerOptions, Wanted};
use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

/// The time limit of the semantic analysis before the search begins.
const TIME: Duration = Duration::from_secs(10);
/// In longer runs, omitted actions of bad are not followed: their relevant slices are much larger than
/// dynamic ones, and take proportionally longer.
const MOST_STEPS: u64 = 50_000_000;
/// The maximum number of executed instructions of a slice that are kept individually. A node takes about 200
/// bytes, and two runs are in memory at a time: this keeps an explanation below 512 MiB.
const MAX_NODES: usize = 600_000;
/// The maximum number of nodes, the nearest to the failure, at which the path continues in good's run.
const MOST_CROSSINGS: usize = 16;

/// One run with its slice.
pub struct Run<'l> {
    /// Replays the process; further slices reuse its work.
    pub slicer: Slicer<'l>,
    /// The slice with source locations.
    pub traced: Traced<'l>,
    /// The shortest paths from the failure to the nodes of the slice.
    pub ways: Ways,
    inputs: Vec<InputRead>,
}

/// See the module's documentation.
pub struct Findings<'l> {
    loaded: &'l Loaded,
    /// Good's run; `None` without a recording or without criteria in it, or if slicing failed.
    pub good: Option<Run<'l>>,
    /// Bad's run; `None` as for `good`.
    pub bad: Option<Run<'l>>,
    /// Causes by formulas; `None` if only slices are available.
    pub layers: Option<Layers>,
    notes: Vec<String>,
}

/// Kinds of observations that something was executed or not executed, rather than that a value was wrong.
const RAN: &[&str] = &["assertion", "abort", "missing-output", "extra-output", "hang"];

impl<'l> Findings<'l> {
    /// Slices both runs, compares them and computes the causes of causes; what fails becomes a note.
    #[must_use]
    pub fn new(loaded: &'l Loaded, case: &Case<'_>) -> Findings<'l> {
        let mut notes = Vec::new();
        let free = RAN.contains(&loaded.observed.observation.kind.as_str());
        let mut run = |side, process: &'l Option<LoadedProcess>, criteria: &[Criterion]| {
            let process = process.as_ref().filter(|_| !criteria.is_empty())?;
            Run::new(side, process, criteria, case, free)
                .map_err(|error| {
                    let name = if side == Side::Good { case.reference } else { "bad" };
                    notes.push(format!("The run of {name} could not be followed back: failed to {error}."));
                })
                .ok()
        };
        let bad = run(Side::Bad, &loaded.bad, &loaded.observed.criteria);
        let good = run(Side::Good, &loaded.good, &loaded.observed.good_criteria);
        let mut findings = Findings { loaded, good, bad, layers: None, notes };
        findings.compare(case);
        if findings.omits(case) {
            findings.follow_omissions(case);
            findings.cross_over(case);
        }
        findings.ask_why(case);
        findings
    }

    /// The recordings that were sliced.
    #[must_use]
    pub fn loaded(&self) -> &Loaded {
        self.loaded
    }

    /// Whether bad omitted something that mattered: at some unchanged line on the path to the failure the
    /// runs differ although all operands are equal. Then bad omitted an assignment.
    fn omits(&self, case: &Case<'_>) -> bool {
        let Some(bad) = &self.bad else { return false };
        self.good.is_none() || !bad.unchanged_origins(case).is_empty()
    }

    /// Where the runs differ although all operands in bad are equal, the path continues in good's run: a
    /// dependence that good has there, bad omitted.
    fn cross_over(&mut self, case: &Case<'_>) {
        if self.steps() > MOST_STEPS {
            return;
        }
        let (Some(good), Some(bad)) = (&mut self.good, &self.bad) else { return };
        let mut origins: Vec<(Distance, NodeId)> = bad
            .unchanged_origins(case)
            .into_iter()
            .filter_map(|node| Some((bad.ways.distance(node)?, node)))
            .collect();
        origins.sort_unstable();
        origins.truncate(MOST_CROSSINGS);
        let at: Vec<Occurrence> = origins.iter().map(|o| bad.traced.slice.nodes[o.1 as usize].at).collect();
        let there = counterparts(&at, bad, good, case).into_iter().map(|found| found?.exact);
        let (crossed, there): (Vec<_>, Vec<_>) =
            origins.into_iter().zip(there).filter_map(|(origin, there)| Some((origin, there?))).unzip();
        if there.is_empty() {
            return;
        }
        let mut criteria = self.loaded.observed.good_criteria.clone();
        let own = criteria.len();
        criteria.extend(there.into_iter().map(|at| Criterion { at, wanted: vec![Wanted::All] }));
        match good.slicer.slice(&criteria, &mut |_| {}) {
            Ok(slice) => {
                let starts = slice.criteria.iter().skip(own).zip(crossed);
                let crossings = starts
                    .flat_map(|(nodes, (distance, from))| {
                        nodes.iter().map(move |node| (*node, Crossing { from, distance }))
                    })
                    .collect();
                good.replace(slice, case);
                good.traced.crossings = crossings;
                self.compare(case);
            }
            Err(error) => self.notes.push(format!(
                "What {} did where the runs part could not be followed: failed to {error}.",
                case.reference
            )),
        }
    }

    /// Replaces the dynamic slice of bad's run by the relevant slice, which contains it.
    fn follow_omissions(&mut self, case: &Case<'_>) {
        let steps = self.steps();
        let Some(bad) = &mut self.bad else { return };
        if steps > MOST_STEPS {
            self.notes.push(format!(
                "What bad did not do was not followed: the run has {steps} instructions, more than the \
                 {MOST_STEPS} up to which it is."
            ));
            return;
        }
        // No change affects the alternatives of system libraries.
        let relevance = Relevance { libraries: false, ..Relevance::default() };
        match bad.slicer.relevant(&self.loaded.observed.criteria, relevance, &mut |_| {}) {
            Ok(slice) => {
                bad.replace(slice, case);
                self.compare(case);
            }
            Err(error) => {
                self.notes.push(format!("What bad did not do could not be followed: failed to {error}."));
            }
        }
    }

    /// Computes causes by formulas, as far as possible.
    fn ask_why(&mut self, case: &Case<'_>) {
        let Some(bad) = &self.bad else { return };
        let mut solving = Solving::new(case.solving.clone(), TIME);
        match layers(&bad.traced, &mut solving) {
            Ok(layers) => self.layers = Some(layers),
            Err(reason) => self.notes.push(format!(
                "Candidates come from slices only: why the failure was inevitable could not be put as a \
                 formula ({reason})."
            )),
        }
    }

    /// Determines which nodes of the slices are equal in both runs, and recomputes the shortest paths to
    /// avoid them.
    fn compare(&mut self, case: &Case<'_>) {
        let (Some(good), Some(bad)) = (&mut self.good, &mut self.bad) else { return };
        let (of_good, of_bad) = (compare(good, bad, case), compare(bad, good, case));
        for (run, compared) in [(good, of_good), (bad, of_bad)] {
            run.traced.compared = compared;
            run.ways = run.traced.ways();
        }
    }

    /// Instructions of the longer run, as far as it was replayed.
    #[must_use]
    pub fn steps(&self) -> u64 {
        let runs = [&self.good, &self.bad].into_iter().flatten();
        let streams = runs.flat_map(|r| (0..r.traced.process.streams.len() as u32).map(move |s| (r, s)));
        streams.filter_map(|(run, stream)| run.slicer.steps(stream).ok()).max().unwrap_or(0)
    }

    /// Whether a line of a version was executed, in any of its processes.
    #[must_use]
    pub fn ran(&self, side: Side, file: &str, line: u32) -> bool {
        let executed = &self.loaded.executed[usize::from(side == Side::Bad)];
        executed.contains_key(&(file.to_owned(), line))
    }

    /// The line ranges of bad's functions.
    #[must_use]
    pub fn functions(&self) -> Bodies {
        self.bad.as_ref().map(|run| run.traced.bodies()).unwrap_or_default()
    }

    /// Gathers the evidence for each change.
    #[must_use]
    pub fn evidence(&self, case: &Case<'_>) -> Evidence {
        let mut bad = self.bad.as_ref().map(Run::witness);
        if let Some(bad) = &mut bad {
            bad.layers = self.layers.as_ref();
        }
        let good = self.good.as_ref().map(Run::witness);
        let executed = [&self.loaded.executed[0], &self.loaded.executed[1]];
        Evidence::gather(case.difference, bad.as_ref(), good.as_ref(), executed, &case.sources)
    }

    /// The subset of these changes through whose own lines the difference between the runs propagated to the
    /// failure: the nearest one reached through values and decisions that all differ, and those that
    /// determined its value or its execution, in either run.
    #[must_use]
    pub fn effect(&self, difference: &Difference, among: &ChangeSet) -> ChangeSet {
        let runs = [&self.bad, &self.good].into_iter().flatten();
        runs.flat_map(|run| run.effect(difference, among)).collect()
    }

    /// The tree from the failure to the guilty changes.
    #[must_use]
    pub fn causes(
        &self,
        case: &Case<'_>,
        evidence: &Evidence,
        found: &Found,
        observation: &Observation,
    ) -> Vec<Cause> {
        let steps = |run: &Option<Run<'_>>| -> Vec<Step> {
            let Some(run) = run else { return Vec::new() };
            tree(&run.traced, &run.ways, evidence, case.difference, found.root.iter().copied())
        };
        let (mut bad, good) = (steps(&self.bad), steps(&self.good));
        // Also without an answer: the path to the nearest value that differs, and to the instruction that
        // wrote it.
        let reached = !found.root.is_empty() && found.root.iter().all(|id| evidence.goal(*id).is_some());
        if let (false, Some(run)) = (reached, &self.bad) {
            let mut ways = beginning(&run.traced, &run.ways, case.difference);
            if ways.is_empty() && found.root.is_empty() {
                // No difference between the runs is reachable: use the most likely change.
                let likeliest = evidence.ranked().into_iter().find(|id| evidence.goal(*id).is_some());
                ways = tree(&run.traced, &run.ways, evidence, case.difference, likeliest.into_iter());
            }
            for way in ways {
                graft(&mut bad, way);
            }
        }
        let comparison = Comparison::new(self, case, observation);
        comparison.causes(&bad, &good)
    }

    /// The paths from the failure to the lines where the runs begin to differ, for each run the nearest
    /// `most` first.
    #[must_use]
    pub fn partings(&self, case: &Case<'_>, observation: &Observation, most: usize) -> Vec<Cause> {
        let comparison = Comparison::new(self, case, observation);
        let mut found: Vec<Cause> = Vec::new();
        for run in [&self.bad, &self.good].into_iter().flatten() {
            let origins = run.traced.compared.origins.iter();
            let mut near: Vec<_> = origins.filter_map(|n| Some((run.ways.distance(*n)?, *n))).collect();
            near.sort_unstable();
            let mut lines = HashSet::new();
            near.retain(|(_, node)| lines.insert(run.traced.line(*node)));
            for (_, node) in near.into_iter().take(most) {
                let way = way_to(&run.traced, &run.ways, case.difference, node);
                found.extend(match run.traced.side {
                    Side::Bad => comparison.causes(&way, &[]),
                    Side::Good => comparison.causes(&[], &way),
                });
            }
        }
        found
    }

    /// If a path of good's run continues one of bad's: the part in bad's run up to the crossing.
    #[must_use]
    pub fn way_before(&self, top: &Step, difference: &Difference) -> Option<Vec<Step>> {
        let (good, bad) = (self.good.as_ref()?, self.bad.as_ref()?);
        let crossing = good.traced.crossings.get(&top.node)?;
        Some(way_to(&bad.traced, &bad.ways, difference, crossing.from))
    }

    /// Notes for the reader about the causes.
    #[must_use]
    pub fn notes(&self, found: &Found, causes: &[Cause]) -> Vec<String> {
        let mut notes = self.notes.clone();
        for run in [&self.bad, &self.good].into_iter().flatten() {
            if run.traced.slice.truncated {
                notes.push(format!(
                    "Only the {} executed instructions nearest to the failure were looked at one by one.",
                    run.traced.slice.nodes.len()
                ));
            }
        }
        let reached = reached(causes);
        let missing: Vec<u32> = found.root.iter().map(|c| c.0).filter(|n| !reached.contains(n)).collect();
        if !missing.is_empty() && !found.root.is_empty() {
            let what = if missing.len() == 1 { "One guilty change has" } else { "Some guilty changes have" };
            notes.push(format!(
                "{what} no place in the tree of causes: the recordings show no chain of values from there."
            ));
        }
        notes
    }
}

/// Changes in the tree of causes.
pub(crate) fn reached(causes: &[Cause]) -> BTreeSet<u32> {
    let mut reached = BTreeSet::new();
    let mut todo: Vec<&Cause> = causes.iter().collect();
    while let Some(cause) = todo.pop() {
        reached.extend(cause.change);
        todo.extend(&cause.children);
    }
    reached
}

impl<'l> Run<'l> {
    /// The nodes at which this run differs from the other although all their operands are equal, in lines
    /// that no change touches.
    fn unchanged_origins(&self, case: &Case<'_>) -> Vec<NodeId> {
        let is_unchanged = |node: &&NodeId| {
            let line = self.traced.line(**node);
            let file = self.traced.file(line);
            case.difference.touching(file, line.line).is_none()
                && case.difference.deleted_near(file, line.line).next().is_none()
        };
        self.traced.compared.origins.iter().filter(is_unchanged).copied().collect()
    }

    /// Replaces the slice and recomputes what depends on it.
    fn replace(&mut self, slice: Slice, case: &Case<'_>) {
        let old = &self.traced;
        self.traced = Traced::new(old.side, old.process, case.tree(old.side), slice, old.free);
        self.ways = self.traced.ways();
    }

    fn effect(&self, difference: &Difference, among: &ChangeSet) -> ChangeSet {
        let traced = &self.traced;
        let change = |node: NodeId| {
            let line = traced.line(node);
            let change = touching(difference, traced.side, traced.file(line), line.line);
            change.map(|change| change.id).filter(|id| among.contains(id))
        };
        let distance = |node: NodeId| self.ways.distance(node).filter(|distance| distance.dull == 0);
        let nodes = 0..traced.slice.nodes.len() as NodeId;
        let nearest =
            nodes.filter_map(|node| Some((distance(node)?, node))).filter(|n| change(n.1).is_some());
        let Some((_, start)) = nearest.min() else { return ChangeSet::new() };
        let mut todo = vec![start];
        let mut seen = HashSet::from([start]);
        let mut found = ChangeSet::new();
        while let Some(node) = todo.pop() {
            found.extend(change(node));
            let differing = |need: &&(NodeId, Dependence)| !traced.compared.dull.contains(&need.0);
            for &(need, how) in traced.needs.of(node).iter().filter(differing) {
                let is_value = !decides(how) && !traced.reaches(node, how);
                // `x = c ? a : b` is one change together with its condition.
                let is_choice = how == Dependence::Control && change(need) == change(node);
                if is_value || is_choice {
                    if seen.insert(need) {
                        todo.push(need);
                    }
                } else if node != start && how == Dependence::Control {
                    // This branch selected one of several values.
                    found.extend(change(need));
                }
            }
        }
        found
    }

    fn witness(&self) -> Witness<'_> {
        Witness { traced: &self.traced, ways: &self.ways, inputs: &self.inputs, layers: None }
    }

    fn new(
        side: Side,
        process: &'l LoadedProcess,
        criteria: &[Criterion],
        case: &Case<'_>,
        free: bool,
    ) -> slice::Result<Run<'l>> {
        let slicer = Slicer::new(process, SlicerOptions { max_nodes: MAX_NODES, ..SlicerOptions::default() });
        let slice = slicer.slice(criteria, &mut |_| {})?;
        let traced = Traced::new(side, process, case.tree(side), slice, free);
        let mut inputs = Vec::new();
        for stream in 0..process.streams.len() as u32 {
            let list = slicer.io(stream)?;
            for event in list.events.iter().filter(|e| !e.out) {
                let Some(source) = list.sources.get(event.source) else { continue };
                inputs.push(InputRead {
                    stream,
                    step: event.instruction.saturating_sub(1),
                    file: traced.relative(&source.name),
                    offset: event.offset,
                    length: event.length,
                });
            }
        }
        let ways = traced.ways();
        Ok(Run { slicer, traced, ways, inputs })
    }
}

//! The whole search, from two recorded runs to a report.

use crate::error::Error;
use crate::facts::follow;
use crate::nearest;
use crate::options::{Direction, Options};
use crate::relevant::{OutputSlice, SliceRequest};
use crate::report::{Alternate, Candidate, Report, Searched, Verdict};
use crate::rerun::{Rerun, Runner};
use crate::run::Run;
use crate::search::{Case, order, same_outcome};
use crate::side::{Both, Side};
use crate::stop_flag::with_stop_flag;
use crate::way::RunPath;
use recording::Process;
use slice::{Precision, Slicer, SlicerOptions};
use std::collections::HashSet;
use std::time::{Duration, Instant};
use symbolic::{Input, Site, TermContext};

/// A direction that takes less than this fraction of the budget is cheap.
const CHEAP_FRACTION: u32 = 10;
/// Minimum time for following the input, however small the budget is.
const MIN_TIME: Duration = Duration::from_secs(10);

/// Finds inputs close to the recorded one on which the two versions diverge, and the branches where they do.
///
/// # Errors
/// If the search is not applicable ([`Error::NoInput`], [`Error::NoBranch`], [`Error::NoDeviation`],
/// [`Error::OtherInput`]), or the runs cannot be repeated.
pub fn find(
    old: &Run<'_>,
    new: &Run<'_>,
    options: &Options,
    runner: &mut dyn Runner,
) -> Result<Report, Error> {
    let start = Instant::now();
    let (reruns, side) = match attempt(old, new, options, runner, start)? {
        Attempt::Done(report) => return Ok(*report),
        Attempt::Elsewhere(reruns, side) => (reruns, side),
    };
    // They are started as the recorded runs were.
    let started = |again: Process, first: &Process| Process { info: first.info.clone(), ..again };
    let Both { old: again_old, new: again_new } = *reruns;
    let recorded = Both {
        old: started(again_old.recorded, old.recorded),
        new: started(again_new.recorded, new.recorded),
    };
    let old = Run { recorded: &recorded.old, process: again_old.process, stream: again_old.stream };
    let new = Run { recorded: &recorded.new, process: again_new.process, stream: again_new.stream };
    match attempt(&old, &new, options, runner, start)? {
        Attempt::Done(report) => Ok(*report),
        Attempt::Elsewhere(..) => Err(Error::NotReproduced { side }),
    }
}

/// The result of a search that starts from two recorded runs.
enum Attempt {
    Done(Box<Report>),
    /// With the recorded input the programs did the same when they were run again, but on other paths, the
    /// first time in this version: they read the names of their directories, or the whole environment,
    /// whose order is not repeated. These runs can be repeated.
    Elsewhere(Box<Both<Rerun>>, Side),
}

fn attempt(
    old: &Run<'_>,
    new: &Run<'_>,
    options: &Options,
    runner: &mut dyn Runner,
    start: Instant,
) -> Result<Attempt, Error> {
    let (deadline, followed_by) = (start + options.budget, start + options.budget.max(MIN_TIME));
    let runs = Both { old, new };
    let mut world = TermContext::default();
    let facts = Both::try_from(|side| {
        let facts = follow(runs.of(side), side, &mut world, options, followed_by)?;
        runner.remember(runs.of(side).recorded, &facts.path);
        match facts.path.broken(&world) {
            None => Ok(facts),
            Some(number) => {
                Err(other_input(&runs, &world, options).unwrap_or(Error::Broken { side, number }))
            }
        }
    })?;
    let followed = start.elapsed();
    let bytes = world.variables.list.len();
    if bytes == 0 {
        return Err(Error::NoInput);
    }
    if !facts.old.any_decision(options.libraries) && !facts.new.any_decision(options.libraries) {
        let fixed = facts.old.fixed() + facts.new.fixed();
        return Err(Error::NoBranch { bytes, fixed });
    }
    let ways = Both::try_from(|side| {
        let decisions = facts.of(side).list.iter().filter(|f| f.what.decides(options.libraries));
        RunPath::of(&runs.of(side).process, runs.of(side).stream, decisions.map(|f| f.at.step))
            .map_err(|reason| Error::Replay { side, reason })
    })?;
    let value = |v: u32| world.variables.value(v);
    let input = Both {
        old: Input::with(&world, &old.recorded.info, &value),
        new: Input::with(&world, &new.recorded.info, &value),
    };
    let written = Both { old: facts.old.path.written(), new: facts.new.path.written() };
    let functions = Both { old: names(old, &ways.old), new: names(new, &ways.new) };
    let mut case = Case {
        runs,
        relevant: Both::default(),
        functions,
        facts,
        ways,
        written,
        world,
        options,
        runner,
        input: input.clone(),
        old_end: None,
        ran: Duration::ZERO,
        runs_made: 0,
    };
    let ended = match reproduced(&mut case, &input)? {
        Reproduced::Exactly(ended) => ended,
        Reproduced::Elsewhere(reruns, side) => return Ok(Attempt::Elsewhere(reruns, side)),
    };
    case.old_end = Some(ended.old.status);
    if same_outcome(&ended) && !options.anyway {
        return Err(Error::NoDeviation);
    }
    let (mut searched, mut candidates) = both_directions(&mut case, false, false, deadline);
    if candidates.is_empty() && searched.iter().any(|done| done.irrelevant > 0) {
        (searched, candidates) = both_directions(&mut case, false, true, deadline);
    }
    let fixed = case.facts.old.fixed() + case.facts.new.fixed();
    let equal = searched.len() == 2 && searched.iter().all(Searched::is_complete);
    if candidates.is_empty() && fixed > 0 {
        let (more, found) = both_directions(&mut case, true, true, deadline);
        searched.extend(more);
        candidates = found;
    }
    rank(&mut candidates);
    let recovers = candidates.iter().any(Candidate::ends_as_old);
    let wanted = options.nearest && !recovers && !same_outcome(&ended) && nearest::is_wanted(&searched);
    let mut nearest = if wanted { case.nearest(deadline) } else { None };
    if candidates.iter().any(Candidate::passes) {
        nearest = nearest.filter(|nearest| nearest.ends_as_old);
    }
    let branch = nearest.iter_mut().filter_map(|nearest| nearest.branch.as_deref_mut());
    compute_indices(&case.runs, candidates.iter_mut().chain(branch))?;
    let verdict = match candidates.is_empty() {
        false => Verdict::Found,
        // Values that are not followed were fixed, so equality is shown only for those values.
        true if equal && fixed == 0 => Verdict::Equal,
        true => Verdict::Undecided { fixed },
    };
    Ok(Attempt::Done(Box::new(Report {
        written: case.written,
        verdict,
        candidates,
        nearest,
        searched,
        ended,
        input,
        bytes,
        followed,
        ran: case.ran,
        runs: case.runs_made,
    })))
}

/// Checks whether the new version was recorded with another input. `world` has the bytes of the old version
/// where both read them.
fn other_input(runs: &Both<&Run<'_>>, world: &TermContext, options: &Options) -> Option<Error> {
    let mut own = TermContext::default();
    follow(runs.new, Side::New, &mut own, options, Instant::now() + options.budget).ok()?;
    let (theirs, ours) = (&world.variables, &own.variables);
    ours.list.iter().enumerate().find_map(|(n, v)| {
        let origin = ours.origins.get(v.origin as usize)?;
        let old = theirs.value(theirs.find(origin, v.offset)?) as u8;
        let differs = || Error::OtherInput { name: ours.name(n as u32), old, new: v.value };
        (old != v.value).then(differs)
    })
}

/// The runs of both versions with the recorded input.
enum Reproduced {
    Exactly(Both<crate::Ended>),
    /// See [`Attempt::Elsewhere`].
    Elsewhere(Box<Both<Rerun>>, Side),
}

/// Runs both versions with the recorded input and checks that they take the recorded paths, or at least give
/// the recorded output.
fn reproduced(case: &mut Case<'_>, input: &Both<Input>) -> Result<Reproduced, Error> {
    let reruns = case.run(input).map_err(|(side, reason)| Error::Rerun { side, reason })?;
    for side in [Side::Old, Side::New] {
        let rerun = reruns.of(side);
        let way =
            RunPath::of(&rerun.process, rerun.stream, []).map_err(|reason| Error::Replay { side, reason })?;
        if way.whole != case.ways.of(side).whole {
            let other = other_input(&case.runs, &case.world, case.options);
            if let Some(other) = other {
                return Err(other);
            }
            let alike = [Side::Old, Side::New].into_iter().all(|side| {
                let slicer = Slicer::new(&case.runs.of(side).process, SlicerOptions::default());
                let recorded = slicer.output_bytes("stdout").ok().map(|o| o.unwrap_or_default().1);
                recorded.as_ref() == Some(&reruns.of(side).ended.stdout)
            });
            return match alike {
                true => Ok(Reproduced::Elsewhere(Box::new(reruns), side)),
                false => Err(Error::NotReproduced { side }),
            };
        }
    }
    Ok(Reproduced::Exactly(Both { old: reruns.old.ended, new: reruns.new.ended }))
}

fn names(run: &Run<'_>, way: &RunPath) -> HashSet<String> {
    let image = &run.process.image;
    let site = |&(module, function): &(u32, u32)| Site { module, function, index: 0 };
    way.entered.iter().map(|entered| site(entered).function_name(image).to_owned()).collect()
}

/// The steps that the outputs of a run depend on; `None` if they cannot be computed in time or
/// completely. The points-to analysis is coarse: with the precise one, a slice of Lua takes 49 s instead of 4,
/// and has the same lines.
fn relevant(run: &Run<'_>, budget: Duration) -> Option<HashSet<u64>> {
    let index = run.process.streams.iter().position(|s| s.number == run.stream)? as u32;
    let until = Instant::now() + budget;
    let slicer = Slicer::new(&run.process, SlicerOptions::default());
    let is_over = || Instant::now() >= until;
    let slice = with_stop_flag(&is_over, |stop| {
        let precision = Precision::Steensgaard;
        OutputSlice::of(&slicer, &SliceRequest { stream: index, among: &[], precision, stop })
    });
    slice.ok().filter(|slice| !slice.cut && !slice.stopped).map(|slice| slice.steps)
}

fn both_directions(
    case: &mut Case<'_>,
    relaxed: bool,
    all: bool,
    deadline: Instant,
) -> (Vec<Searched>, Vec<Candidate>) {
    let start = Instant::now();
    let direction = case.options.direction;
    let mut searched = Vec::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    for side in [Side::New, Side::Old] {
        let wanted = match (direction, side) {
            (Direction::Both, _) | (Direction::Auto | Direction::New, Side::New) => true,
            (Direction::Auto, Side::Old) => {
                start.elapsed() < case.options.budget / CHEAP_FRACTION
                    || !candidates.iter().any(Candidate::passes)
            }
            (Direction::Old, side) => side == Side::Old,
            (Direction::New, Side::Old) => false,
        };
        if wanted {
            let now = Instant::now();
            let both = side == Side::New && direction != Direction::New;
            // Reserve half of the time for the second direction.
            let until = if both { now + deadline.saturating_duration_since(now) / 2 } else { deadline };
            if !all {
                let steps = relevant(case.runs.of(side), case.options.budget / CHEAP_FRACTION / 2);
                match side {
                    Side::Old => case.relevant.old = steps,
                    Side::New => case.relevant.new = steps,
                }
            }
            let (done, found) = case.search(side, relaxed, all, until);
            searched.push(done);
            candidates.extend(found);
        }
    }
    (searched, candidates)
}

/// Computes the execution indices of the branch instances, with one replay of each version.
fn compute_indices<'c>(
    runs: &Both<&Run<'_>>,
    candidates: impl Iterator<Item = &'c mut Candidate>,
) -> Result<(), Error> {
    let mut candidates: Vec<&mut Candidate> = candidates.collect();
    for side in [Side::Old, Side::New] {
        let run = runs.of(side);
        let own = candidates.iter_mut().filter(|c| c.side == side);
        let mut alternates: Vec<&mut Alternate> = own.flat_map(|c| &mut c.alternates).collect();
        let steps: Vec<u64> = alternates.iter().map(|a| a.at.step).collect();
        let indices = symbolic::indices(&run.process, run.stream, &steps)
            .map_err(|reason| Error::Follow { side, reason })?;
        for (alternate, index) in alternates.iter_mut().zip(indices) {
            alternate.index = index;
        }
    }
    Ok(())
}

/// Order: candidates that pass, of them those that end as the old version did; then code that both versions
/// ran; then checks that the new version omits; then the fewest changed bytes. Ties keep execution order.
fn rank(candidates: &mut [Candidate]) {
    let told: HashSet<String> =
        candidates.iter().filter(|c| c.side == Side::New && c.passes()).map(|c| c.function.clone()).collect();
    for c in candidates.iter_mut().filter(|c| c.side == Side::Old) {
        c.omitted = c.passes() && c.shared && !told.contains(&c.function);
    }
    candidates.sort_by_key(|c| {
        let (differs, other_end, changes) = c.best().map_or((true, true, usize::MAX), order);
        (differs, other_end, !c.shared, !c.omitted, changes)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::FactKind;
    use crate::rerun::{Ended, Status};
    use symbolic::{At, Kind};

    fn candidate(side: Side, function: &str, shared: bool, passes: bool, changes: u8) -> Candidate {
        let ended = Ended { status: Status::Exit(0), stdout: Vec::new() };
        let changed = |n| crate::Changed { name: format!("stdin[{n}]"), old: 0, new: 1 };
        let alternate = Alternate {
            at: At::default(),
            index: None,
            condition: String::new(),
            flipped: String::new(),
            changed: (0..changes).map(changed).collect(),
            parts: Vec::new(),
            input: Both::default(),
            ended: Both { old: ended.clone(), new: ended },
            passes,
            ends_as_old: passes,
        };
        Candidate {
            side,
            what: FactKind::Condition(Kind::Branch),
            file: String::new(),
            line: 0,
            column: 0,
            function: function.to_owned(),
            shared,
            omitted: false,
            condition: String::new(),
            alternates: vec![alternate],
            more: 0,
        }
    }

    #[test]
    fn an_omitted_check_ranks_first_and_code_of_one_version_last_of_what_passes() {
        let mut all = [
            candidate(Side::New, "other", true, false, 1),
            candidate(Side::Old, "helper", false, true, 1),
            candidate(Side::New, "parse", true, true, 2),
            candidate(Side::Old, "parse", true, true, 1),
            candidate(Side::Old, "check", true, true, 9),
        ];
        rank(&mut all);
        let order: Vec<(&str, Side, bool)> =
            all.iter().map(|c| (c.function.as_str(), c.side, c.omitted)).collect();
        let expected = [
            ("check", Side::Old, true),
            ("parse", Side::Old, false),
            ("parse", Side::New, false),
            ("helper", Side::Old, false),
            ("other", Side::New, false),
        ];
        assert_eq!(order, expected);
    }
}

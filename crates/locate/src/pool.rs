//! Runs of a pool, recorded in parallel and compared with the failing run.
//!
//! A recording is compared as soon as it is made, and removed unless it is the nearest so far. So neither
//! memory nor disk use grows with the pool.

use crate::branches::{Branches, Partner, signature};
use crate::choose::Nearest;
use crate::difference::Difference;
use crate::memory::{PoolStore, StoredResult};
use crate::suspicion::{Counts, Coverage};
use crate::test::{Test, Verdict};
use crate::{Error, Result};
use explain::align::{pair_processes, pair_streams};
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use trials::{Recorded, Run, Status, Suite};

/// The failing run, for comparison with others.
pub struct Reference<'f> {
    /// The recording that contains the process.
    pub recording: &'f Recording,
    /// The process and the stream of the failure.
    pub process_index: usize,
    /// The loaded process of the failure.
    pub process: &'f LoadedProcess,
    /// The index of the failure's stream in that process.
    pub stream: u32,
    /// The branches of that stream up to the failure.
    pub branches: &'f Branches,
}

/// A passing run that is kept.
pub struct Candidate {
    /// Its number in the pool.
    pub number: usize,
    /// Its recording, which is not discarded.
    pub recorded: Recorded,
    /// Its difference from the failing run.
    pub difference: Difference,
}

/// The result of a pool.
#[derive(Default)]
pub struct Outcome {
    /// The nearest run.
    pub nearest: Option<Candidate>,
    /// The first run with the same control flow, if that is another one.
    pub same_flow: Option<Candidate>,
    /// Number of runs, including those known from an earlier call.
    pub runs: u32,
    /// Number of runs that passed.
    pub passed: u32,
    /// Number of runs that failed.
    pub failed: u32,
    /// Number of runs that neither passed nor failed.
    pub unresolved: u32,
    /// Number of runs that could not be recorded, or passed and could not be compared.
    pub unrecorded: u32,
    /// Runs that were stopped at the timeout; they failed.
    pub hung: u32,
    /// Number of passing runs of this call that were compared exactly.
    pub compared: u32,
    /// Coverage counts of the runs.
    pub counts: Counts,
    /// The reason for the first run that could not be used.
    pub first_error: Option<String>,
}

#[derive(Default)]
struct Shared {
    outcome: Outcome,
    nearest: Nearest,
}

/// Opens a recording and finds the process and thread that correspond to the failing ones.
///
/// # Errors
/// If it cannot be used.
pub fn counterpart(directory: &Path, reference: &Reference<'_>) -> Result<(LoadedProcess, u32)> {
    let recording = Recording::open(directory).map_err(|e| Error::Recording(e.to_string()))?;
    let pairs = pair_processes(&recording, reference.recording);
    let index = pairs.iter().find(|(failing, _)| *failing == reference.process_index).map(|pair| pair.1);
    let missing = || Error::Recording("it has no process like the failing one".to_owned());
    let recorded = index.and_then(|index| recording.processes.get(index)).ok_or_else(missing)?;
    let process = LoadedProcess::load(&recording, recorded, &Options::default())?;
    let streams = pair_streams(&process, reference.process);
    let stream = streams.iter().find(|(failing, _)| *failing == reference.stream as usize).map(|pair| pair.1);
    let missing = || Error::Recording("it has no thread like the failing one".to_owned());
    let stream = stream.ok_or_else(missing)? as u32;
    Ok((process, stream))
}

/// The context in which runs are made.
pub struct RunContext<'m> {
    /// Records the runs; it has the built program.
    pub suite: &'m Suite,
    /// Timeout of a recorded run: with some inputs a faulty program does not terminate.
    pub hang: Duration,
    /// Number of parallel runs.
    pub jobs: usize,
    /// Results of the pool's runs from an earlier call.
    pub memory: Option<&'m PoolStore>,
    /// A run that fails with another status gives no evidence about the fault: a generated input may be
    /// wrong for reasons of its own.
    pub same_end: Option<Status>,
    /// Keep recordings that are no longer needed, for the user.
    pub keep: bool,
    /// Set to end the pool early.
    pub stop: &'m AtomicBool,
    /// No runs start after this time.
    pub until: Instant,
}

impl RunContext<'_> {
    /// Whether no further run may start.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.until
    }

    fn discard(&self, recorded: &Recorded) -> Result<()> {
        if self.keep { Ok(()) } else { Ok(self.suite.discard(recorded)?) }
    }

    fn put(&self, run: usize, known: &StoredResult) -> Result<()> {
        self.memory.map_or(Ok(()), |memory| memory.put(run, known))
    }
}

/// Records all tests of a pool in parallel, and chooses the nearest passing run.
///
/// # Errors
/// If files or processes cannot be created. A run that cannot be recorded is only counted.
pub fn choose(
    tests: &[Test],
    name: &str,
    reference: &Reference<'_>,
    means: &RunContext<'_>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Outcome> {
    let shared = Mutex::new(Shared::default());
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(test) = tests.get(number) else { return Ok(()) };
            if means.is_stopped() {
                return Ok(());
            }
            progress(number, tests.len());
            match examine(means, test, &format!("{name}-{number}"), number, reference, &shared) {
                Err(Error::Trials(trials::Error::Cancelled)) => return Ok(()),
                other => other?,
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..means.jobs.clamp(1, tests.len().max(1))).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner).outcome)
}

fn examine(
    means: &RunContext<'_>,
    test: &Test,
    name: &str,
    number: usize,
    reference: &Reference<'_>,
    shared: &Mutex<Shared>,
) -> Result<()> {
    let locked = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = means.memory.and_then(|memory| memory.get(number)) {
        locked().outcome.remember(known);
        return Ok(());
    }
    let run = Run { name, command: &test.command, stdin: test.stdin.as_deref(), files: &test.files };
    let recorded = match means.suite.record(&run, means.hang) {
        Ok(recorded) => recorded,
        Err(error @ trials::Error::Record { .. }) => {
            let mut shared = locked();
            shared.outcome.runs += 1;
            shared.outcome.unrecorded += 1;
            shared.outcome.first_error.get_or_insert_with(|| error.to_string());
            return means.put(number, &StoredResult::unrecorded());
        }
        Err(error) => return Err(error.into()),
    };
    let verdict = test.judge(&recorded.run);
    let has_ended = recorded.run.status != Status::TimedOut;
    {
        let outcome = &mut locked().outcome;
        outcome.runs += 1;
        outcome.hung += u32::from(!has_ended);
        match verdict {
            Verdict::Pass => outcome.passed += 1,
            Verdict::Fail => outcome.failed += 1,
            Verdict::Unresolved => outcome.unresolved += 1,
        }
    }
    let passed = match verdict {
        Verdict::Pass => true,
        Verdict::Fail if has_ended => false,
        // Replaying a run that does not terminate would take longer than all others together.
        Verdict::Fail | Verdict::Unresolved => {
            means.discard(&recorded)?;
            let known = StoredResult::new(verdict, Coverage::default(), None);
            return means.put(number, &StoredResult { hung: !has_ended, ..known });
        }
    };
    if !passed && means.same_end.is_some_and(|end| end != recorded.run.status) {
        return means.discard(&recorded);
    }
    let compared = compare_run(&recorded.directory, number, passed, reference, shared);
    let mut shared = locked();
    match compared {
        Ok((coverage, difference)) => {
            means.put(number, &StoredResult::new(verdict, coverage, difference.as_ref()))?;
            match difference {
                Some(difference) => {
                    shared.outcome.compared += 1;
                    shared.take(means, Candidate { number, recorded, difference })
                }
                None => means.discard(&recorded),
            }
        }
        Err(error) => {
            // A failed run does not affect which run is nearest.
            shared.outcome.unrecorded += u32::from(passed);
            shared.outcome.first_error.get_or_insert_with(|| error.to_string());
            means.discard(&recorded)?;
            let known = StoredResult::new(verdict, Coverage::default(), None);
            if passed { means.put(number, &StoredResult { incomparable: true, ..known }) } else { Ok(()) }
        }
    }
}

/// Counts the coverage of a run. Returns no difference if the run is certainly neither the nearest nor the
/// first with the same control flow.
fn compare_run(
    directory: &Path,
    number: usize,
    passed: bool,
    reference: &Reference<'_>,
    shared: &Mutex<Shared>,
) -> Result<(Coverage, Option<Difference>)> {
    let (process, stream) = counterpart(directory, reference)?;
    let (signature, coverage) = signature(&process, stream, u64::MAX)?;
    shared.lock().unwrap_or_else(PoisonError::into_inner).outcome.counts.add(&coverage, passed);
    if !passed {
        return Ok((coverage, None));
    }
    let bound = reference.branches.bound(&signature);
    let wanted = {
        let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let first_same = shared.outcome.same_flow.as_ref().is_none_or(|same| number < same.number);
        shared.nearest.could_be_nearest(&bound, number)
            || first_same && reference.branches.has_all_directions(&signature)
    };
    let difference = if wanted { Some(reference.branches.compare(&process, stream)?.0) } else { None };
    Ok((coverage, difference))
}

impl Shared {
    /// Keeps a run if it is the best of its kind, and removes the recording that it replaces.
    fn take(&mut self, means: &RunContext<'_>, candidate: Candidate) -> Result<()> {
        let outcome = &mut self.outcome;
        let place = if candidate.difference == Difference::Same {
            let first = outcome.same_flow.as_ref().is_none_or(|same| candidate.number < same.number);
            first.then_some(&mut outcome.same_flow)
        } else {
            let nearer = self.nearest.offer(candidate.difference.clone(), candidate.number);
            nearer.then_some(&mut outcome.nearest)
        };
        let old = match place {
            Some(place) => place.replace(candidate),
            None => Some(candidate),
        };
        old.map_or(Ok(()), |old| means.discard(&old.recorded))
    }
}

impl Outcome {
    /// Counts a run of an earlier call.
    fn remember(&mut self, known: &StoredResult) {
        self.runs += 1;
        self.hung += u32::from(known.hung);
        self.unrecorded += u32::from(known.incomparable);
        let entered: Coverage = known.entered.iter().copied().collect();
        match known.verdict.as_str() {
            "pass" => self.passed += 1,
            "fail" => self.failed += 1,
            "unrecorded" => self.unrecorded += 1,
            _ => self.unresolved += 1,
        }
        if matches!(known.verdict.as_str(), "pass" | "fail") && !entered.is_empty() {
            self.counts.add(&entered, known.verdict == "pass");
        }
    }

    /// Adds another pool's counts, and takes its best runs if there are none yet. `first` is the number of
    /// its first run.
    pub fn add(&mut self, other: Outcome, first: usize) {
        self.runs += other.runs;
        self.passed += other.passed;
        self.failed += other.failed;
        self.unresolved += other.unresolved;
        self.unrecorded += other.unrecorded;
        self.hung += other.hung;
        self.counts.join(other.counts);
        self.compared += other.compared;
        self.first_error = self.first_error.take().or(other.first_error);
        let numbered = |candidate: Option<Candidate>| {
            candidate.map(|candidate| Candidate { number: candidate.number + first, ..candidate })
        };
        if self.best().is_none() {
            (self.nearest, self.same_flow) = (numbered(other.nearest), numbered(other.same_flow));
        }
    }

    /// The run to report: the nearest one, or, if all have the same control flow, the first.
    #[must_use]
    pub fn best(&self) -> Option<&Candidate> {
        self.nearest.as_ref().or(self.same_flow.as_ref())
    }
}

/// A passing run, opened, with the aligned branches that took another direction.
pub struct Passing {
    /// The loaded counterpart of the failing process.
    pub process: LoadedProcess,
    /// The index of the counterpart of the failure's stream.
    pub stream: u32,
    /// The aligned branch events that took another direction, by position in the failing run.
    pub partners: Vec<Partner>,
}

impl Passing {
    /// Opens the recording of a candidate.
    ///
    /// # Errors
    /// If it cannot be replayed.
    pub fn open(candidate: &Candidate, reference: &Reference<'_>) -> Result<Passing> {
        let (process, stream) = counterpart(&candidate.recorded.directory, reference)?;
        let (_, partners) = reference.branches.compare(&process, stream)?;
        Ok(Passing { process, stream, partners })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suspicion::CoverageItem;

    #[test]
    fn a_pool_is_added_with_its_hung_runs_and_its_coverage() {
        let run = |item: u32, passed: bool| {
            let mut outcome = Outcome { runs: 1, hung: 1, ..Outcome::default() };
            outcome.counts.add(&Coverage::from([CoverageItem::Block(0, 0, item)]), passed);
            outcome
        };
        let mut both = run(1, true);
        both.add(run(2, false), 1);
        assert_eq!((both.runs, both.hung), (2, 2));
        let mut expected = Counts::default();
        expected.add(&Coverage::from([CoverageItem::Block(0, 0, 1)]), true);
        expected.add(&Coverage::from([CoverageItem::Block(0, 0, 2)]), false);
        assert_eq!(both.counts, expected);
    }

    #[test]
    fn a_known_run_counts_as_it_did_when_it_was_made() {
        let passed = StoredResult::new(Verdict::Pass, Coverage::default(), None);
        let mut outcome = Outcome::default();
        outcome.remember(&StoredResult { incomparable: true, ..passed });
        let failed = StoredResult::new(Verdict::Fail, Coverage::default(), None);
        outcome.remember(&StoredResult { hung: true, ..failed });
        let counts = (outcome.runs, outcome.passed, outcome.failed, outcome.unrecorded, outcome.hung);
        assert_eq!(counts, (2, 1, 1, 1, 1));
    }
}

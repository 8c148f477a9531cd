//! Runs of a pool, recorded side by side and held against the failing run.
//!
//! A recording is looked at as soon as it is made and removed unless it is the nearest so far, so
//! that neither memory nor disk grows with the pool.

use crate::branches::{Branches, Partner, signature};
use crate::choose::Nearest;
use crate::difference::Difference;
use crate::suspicion::Counts;
use crate::test::{Test, Verdict};
use crate::{Error, Result};
use explain::align::{pair_processes, pair_streams};
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use trials::{Recorded, Run, Suite};

/// The lines that a run executed, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spectrum {
    pub verdict: Option<Verdict>,
    /// Files are relative to the tree.
    pub lines: BTreeMap<(String, u32), u64>,
}

impl Spectrum {
    /// Of all processes of a recording that can be replayed.
    ///
    /// # Errors
    /// If the recording cannot be opened.
    pub fn of(directory: &Path, tree: &Path, verdict: Verdict) -> Result<Spectrum> {
        let recording = Recording::open(directory).map_err(|e| Error::Recording(e.to_string()))?;
        let mut spectrum = Spectrum { verdict: Some(verdict), ..Spectrum::default() };
        for recorded in &recording.processes {
            let loaded = LoadedProcess::load(&recording, recorded, &Options::default())?;
            for ((file, line), count) in explain::align::executed_lines(&loaded)? {
                if let Ok(file) = Path::new(&file).strip_prefix(tree) {
                    *spectrum.lines.entry((file.display().to_string(), line)).or_default() += count;
                }
            }
        }
        Ok(spectrum)
    }
}

/// The failing run, as others are compared with it.
pub struct Reference<'f> {
    pub recording: &'f Recording,
    /// The process and the stream of the failure.
    pub process_index: usize,
    pub process: &'f LoadedProcess,
    pub stream: u32,
    pub branches: &'f Branches,
}

/// A passing run that is kept.
pub struct Candidate {
    /// Its number in the pool.
    pub number: usize,
    pub recorded: Recorded,
    pub difference: Difference,
}

/// What came of a pool.
#[derive(Default)]
pub struct Outcome {
    /// The nearest run.
    pub nearest: Option<Candidate>,
    /// The first run with the same control flow, if that is another one.
    pub same_flow: Option<Candidate>,
    pub runs: u32,
    pub passed: u32,
    pub failed: u32,
    pub unresolved: u32,
    pub unrecorded: u32,
    pub compared: u32,
    /// What the runs entered.
    pub counts: Counts,
    /// Why the first of the runs that could not be used could not.
    pub trouble: Option<String>,
}

#[derive(Default)]
struct Shared {
    outcome: Outcome,
    nearest: Nearest,
}

/// Opens a recording and finds the process and thread that belong to the failing ones.
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

/// What runs are made with.
pub struct Means<'m> {
    pub suite: &'m Suite,
    /// How long a recorded run may take.
    pub patience: Duration,
    /// The same with an input that was made here: some make a program run for ever.
    pub hang: Duration,
    /// Runs side by side.
    pub jobs: usize,
    /// Where the lines that each run executed are put, if somebody wants them.
    pub spectra: Option<&'m Mutex<Vec<Spectrum>>>,
    pub stop: &'m AtomicBool,
    /// When to begin no more runs.
    pub until: Instant,
}

impl Means<'_> {
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

/// Records all tests of a pool, some at a time, and chooses.
///
/// # Errors
/// If files or processes cannot be made; a run that cannot be recorded is counted.
pub fn choose(
    tests: &[Test],
    name: &str,
    reference: &Reference<'_>,
    means: &Means<'_>,
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
    means: &Means<'_>,
    test: &Test,
    name: &str,
    number: usize,
    reference: &Reference<'_>,
    shared: &Mutex<Shared>,
) -> Result<()> {
    let suite = means.suite;
    let locked = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let run = Run { name, command: &test.command, stdin: test.stdin.as_deref(), files: &test.files };
    let patience = if test.input.is_some() { means.hang } else { means.patience };
    let recorded = match suite.record(&run, patience) {
        Ok(recorded) => recorded,
        Err(error @ trials::Error::Record { .. }) => {
            let mut shared = locked();
            shared.outcome.runs += 1;
            shared.outcome.unrecorded += 1;
            shared.outcome.trouble.get_or_insert_with(|| error.to_string());
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let verdict = test.judge(&recorded.run);
    {
        let outcome = &mut locked().outcome;
        outcome.runs += 1;
        match verdict {
            Verdict::Pass => outcome.passed += 1,
            Verdict::Fail => outcome.failed += 1,
            Verdict::Unresolved => outcome.unresolved += 1,
        }
    }
    if let Some(spectra) = means.spectra {
        let spectrum = Spectrum::of(&recorded.directory, &recorded.tree, verdict)?;
        spectra.lock().unwrap_or_else(PoisonError::into_inner).push(spectrum);
    }
    let passed = match verdict {
        Verdict::Pass => true,
        Verdict::Fail => false,
        Verdict::Unresolved => {
            suite.discard(&recorded)?;
            return Ok(());
        }
    };
    let compared = held_against(&recorded.directory, number, passed, reference, shared);
    let mut shared = locked();
    match compared {
        Ok(Some(difference)) => {
            shared.outcome.compared += 1;
            shared.take(suite, Candidate { number, recorded, difference })?;
        }
        Ok(None) => suite.discard(&recorded)?,
        Err(error) if !passed => {
            // It says nothing about the nearest run.
            shared.outcome.trouble.get_or_insert_with(|| error.to_string());
            suite.discard(&recorded)?;
        }
        Err(error) => {
            shared.outcome.unrecorded += 1;
            shared.outcome.trouble.get_or_insert_with(|| error.to_string());
            suite.discard(&recorded)?;
        }
    }
    Ok(())
}

/// Counts what the run entered. None if it is certainly neither
/// the nearest nor the first with the same control flow.
fn held_against(
    directory: &Path,
    number: usize,
    passed: bool,
    reference: &Reference<'_>,
    shared: &Mutex<Shared>,
) -> Result<Option<Difference>> {
    let (process, stream) = counterpart(directory, reference)?;
    let (signature, coverage) = signature(&process, stream)?;
    shared.lock().unwrap_or_else(PoisonError::into_inner).outcome.counts.add(&coverage, passed);
    if !passed {
        return Ok(None);
    }
    let bound = reference.branches.bound(&signature);
    let wanted = {
        let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let first_same = shared.outcome.same_flow.as_ref().is_none_or(|same| number < same.number);
        shared.nearest.may_be(&bound, number) || first_same && reference.branches.has_all_ways(&signature)
    };
    wanted.then(|| Ok(reference.branches.compare(&process, stream)?.0)).transpose()
}

impl Shared {
    /// Keeps a run where it belongs, and removes the recording that it takes the place of.
    fn take(&mut self, suite: &Suite, candidate: Candidate) -> Result<()> {
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
        old.map_or(Ok(()), |old| Ok(suite.discard(&old.recorded)?))
    }
}

impl Outcome {
    /// Counts another pool's runs, and keeps its best run if there is none yet; its first run has
    /// this number.
    pub fn add(&mut self, other: Outcome, first: usize) {
        self.runs += other.runs;
        self.passed += other.passed;
        self.failed += other.failed;
        self.unresolved += other.unresolved;
        self.unrecorded += other.unrecorded;
        self.compared += other.compared;
        self.trouble = self.trouble.take().or(other.trouble);
        let numbered = |candidate: Option<Candidate>| {
            candidate.map(|candidate| Candidate { number: candidate.number + first, ..candidate })
        };
        if self.best().is_none() {
            (self.nearest, self.same_flow) = (numbered(other.nearest), numbered(other.same_flow));
        }
    }

    /// The run to report on: the nearest one, and where all have the same control flow, the first.
    #[must_use]
    pub fn best(&self) -> Option<&Candidate> {
        self.nearest.as_ref().or(self.same_flow.as_ref())
    }
}

/// A passing run, opened, with its branches that went another way.
pub struct Passing {
    pub process: LoadedProcess,
    pub stream: u32,
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

//! Contracts on the runs of a search: which differences are intended, and which inputs violate a contract.
//!
//! Every input that is judged is recorded with both versions. The calls of the recordings are paired and
//! judged as in a check of the tests ([`contract::checking`]). An input that is reported was run.
//!
//! A difference is intended if every call that begins in the same state in both versions ends in the same
//! state, or changed as its contract requires, or called one that did; and if the exit status is the same,
//! unless a contract mentions it. The later effects of a changed result are not examined.

use crate::error::{Error, Result};
use crate::expose::{self, DistinguishingRun, Request, Search, located, run_workers};
use crate::exposed::{Part, command, parts};
use crate::fuzz::run_candidate;
use crate::shared::{Exposure, FoundBy, Seed, Shared};
use crate::shrink::minimised;
use crate::subject::Subject;
use crate::versions::Versions;
use alternate::{Both, Side};
use contract::answer::{Answer, TestRun};
use contract::check::FILE;
use contract::checking::{Checking, Runs, Wanted};
use contract::find::read_file;
use contract::watch::Bounds;
use recording::Recording;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use symbolic::Input;
use trials::TrialLimits;

/// The name and version of the schema.
pub const SCHEMA: &str = "relapse.contract-search/1";
/// Limits of minimising a violating input.
const MAX_MINIMISING_RUNS: usize = 100;
const MINIMISING_TIME: Duration = Duration::from_secs(10);

/// Contracts in addition to those in the comments of the bad version.
#[derive(Clone, Debug)]
pub struct ContractOptions {
    /// Without one, `relapse.contracts` of the bad version, if it exists.
    pub file: Option<PathBuf>,
    /// Functions that may not change; an empty list means all.
    pub unchanged: Option<Vec<String>>,
    /// Limits on the calls that are observed in one run.
    pub bounds: Bounds,
}

/// The contracts of two built versions.
pub(crate) struct Contracts<'v> {
    wanted: Wanted,
    /// The same, and no other function may change.
    whole: Wanted,
    versions: &'v Versions,
}

impl<'v> Contracts<'v> {
    pub fn new(given: &ContractOptions, versions: &'v Versions) -> Result<Contracts<'v>> {
        let own = versions.builds.new.recorded.tree().join(FILE);
        let contracts = match &given.file {
            Some(path) => read_file(path, &path.display().to_string())?,
            None if own.is_file() => read_file(&own, FILE)?,
            None => Vec::new(),
        };
        let wanted =
            Wanted { contracts, unchanged: given.unchanged.clone(), bounds: given.bounds, proofs: false };
        let whole = Wanted { unchanged: Some(Vec::new()), ..wanted.clone() };
        Ok(Contracts { wanted, whole, versions })
    }

    fn trees(&self) -> [&Path; 2] {
        [self.versions.builds.old.recorded.tree(), self.versions.builds.new.recorded.tree()]
    }

    /// Judges both versions with an input.
    fn judge<'w>(&self, wanted: &'w Wanted, subject: &Subject, input: &Input) -> Result<Checking<'w>> {
        let runs = Both::try_from(|side| subject.record(side, input))?;
        let map = |file: &str, line: u32| self.versions.difference.map_line_to_good(file, line);
        let mut checking = Checking::new(wanted);
        checking.processes(0, [0; 2], [&runs.old.process, &runs.new.process], self.trees(), &map)?;
        Ok(checking)
    }

    /// Removes inputs and tests with only intended differences, and returns their number.
    pub fn remove(
        &self,
        subjects: &[Subject],
        found: &mut Vec<(usize, Exposure)>,
        distinguishing: &mut Vec<DistinguishingRun>,
    ) -> Result<u64> {
        let before = found.len() + distinguishing.len();
        let mut trouble = None;
        found.retain(|(_, exposure)| {
            let Some(subject) = subjects.get(exposure.seed.subject) else { return true };
            let same_end = exposure.outcomes.old.ended.status == exposure.outcomes.new.ended.status;
            match self.judge(&self.whole, subject, &exposure.seed.input) {
                Ok(checking) => !is_meant(checking, same_end),
                Err(error @ Error::Contract(_)) => {
                    trouble.get_or_insert(error);
                    true
                }
                // If it cannot be recorded, the difference is not known to be intended.
                Err(_) => true,
            }
        });
        if let Some(error) = trouble {
            return Err(error);
        }
        let mut kept = Vec::new();
        for (number, one) in std::mem::take(distinguishing).into_iter().enumerate() {
            if !self.is_meant_test(&one, number)? {
                kept.push(one);
            }
        }
        *distinguishing = kept;
        Ok((before - found.len() - distinguishing.len()) as u64)
    }

    fn is_meant_test(&self, distinguishing: &DistinguishingRun, number: usize) -> Result<bool> {
        let name = format!("meant-{number}");
        let builds = &self.versions.builds;
        let runs =
            Both::try_from(|side| builds.of(side).record(&distinguishing.test, &name, TrialLimits::GOOD));
        let Ok(runs) = runs else { return Ok(false) };
        let open = |side: Side| {
            Recording::open(&runs.of(side).directory).map_err(|e| Error::Recording(e.to_string()))
        };
        let recordings = [&open(Side::Old)?, &open(Side::New)?];
        let map = |file: &str, line: u32| self.versions.difference.map_line_to_good(file, line);
        let mut checking = Checking::new(&self.whole);
        checking.test(0, &Runs { recordings, trees: self.trees(), map: &map })?;
        Ok(is_meant(checking, distinguishing.runs.old.status == distinguishing.runs.new.status))
    }
}

/// Whether runs differ only as their contracts allow.
fn is_meant(checking: Checking<'_>, same_end: bool) -> bool {
    let intended = checking.intended();
    !intended.fulfilled.is_empty()
        && intended.unexplained().is_empty()
        && (same_end || intended.covers_process_end())
}

/// The result of a search for violations.
#[derive(Clone, Debug, Serialize)]
pub struct Searched {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The good version, as the user gave it.
    pub good: String,
    /// The bad version, as the user gave it.
    pub bad: String,
    /// An input that violates a contract.
    pub violation: Option<ViolatingInput>,
    /// Number of inputs that were recorded with both versions and judged.
    pub judged: u64,
    /// Number of pairs of calls in the runs with these inputs.
    pub pairs: u64,
    /// Plain runs of both versions.
    pub runs: u64,
    /// Duration of the search, without building and recording the tests.
    pub seconds: f64,
    /// Sentences about tests that were not used.
    pub notes: Vec<String>,
}

/// An input that violates a contract.
#[derive(Clone, Debug, Serialize)]
pub struct ViolatingInput {
    /// How it was found.
    pub found_by: FoundBy,
    /// Time from the start of the search.
    pub seconds: f64,
    /// The program with its arguments, as a shell command.
    pub command: String,
    /// Its other inputs.
    pub parts: Vec<Part>,
    /// The contracts on its runs.
    pub answer: Answer,
}

/// Searches for an input that violates a contract: inputs of the tests, mutations of them, and solver models
/// that reach the changes.
///
/// # Errors
/// See [`Error`]. That there is no such input is not an error.
pub fn search(request: &Request, given: &ContractOptions, stop: &Arc<AtomicBool>) -> Result<Searched> {
    let versions = request.workshop.versions(&request.good, &request.bad, stop)?;
    let scratch = versions.builds.new.recorded.work().fresh_tmp("inputs")?;
    let contracts = Contracts::new(given, &versions)?;
    let (subjects, seeds, notes) = expose::subjects(request, &versions, &scratch, stop, &|_| ())?;
    let began = Instant::now();
    let searching = Searching {
        contracts: &contracts,
        subjects: &subjects,
        judged: AtomicU64::new(0),
        pairs: AtomicU64::new(0),
    };
    let mut found = None;
    let mut is_empty = true;
    for seed in &seeds {
        let checking = searching.judge(seed)?;
        is_empty &= checking.is_empty();
        if checking.is_violated() && found.is_none() {
            found = Some((seed.clone(), FoundBy::Test, began.elapsed()));
        }
    }
    if is_empty {
        return Err(contract::Error::NothingToCheck.into());
    }
    let shared = Shared::default();
    if found.is_none() && !seeds.is_empty() {
        let changed = located(&subjects, &seeds, &versions)?;
        let until = began + request.budget;
        shared.offer_inputs();
        for seed in &seeds {
            shared.add(seed);
            shared.send(seed.clone());
            run_candidate(&subjects, &shared, seed, FoundBy::Test, began);
        }
        let search = Search {
            subjects: &subjects,
            seeds: &seeds,
            versions: &versions,
            changed: &changed,
            shared: &shared,
            began,
            until,
            stop,
            continue_when_exposed: true,
        };
        found = std::thread::scope(|scope| {
            let judging = scope.spawn(|| searching.work(&shared, began, until, stop));
            run_workers(request, &search);
            judging.join().unwrap_or_default()
        });
    }
    let violation = match found {
        Some((seed, means, after)) => Some(searching.summary(&seed, means, after)?),
        None => None,
    };
    Ok(Searched {
        schema: SCHEMA,
        good: request.good.clone(),
        bad: request.bad.clone(),
        violation,
        judged: searching.judged.load(Ordering::Relaxed),
        pairs: searching.pairs.load(Ordering::Relaxed),
        runs: shared.runs.load(Ordering::Relaxed),
        seconds: began.elapsed().as_secs_f64(),
        notes,
    })
}

struct Searching<'s, 'v> {
    contracts: &'s Contracts<'v>,
    subjects: &'s [Subject],
    judged: AtomicU64,
    pairs: AtomicU64,
}

impl Searching<'_, '_> {
    fn judge(&self, seed: &Seed) -> Result<Checking<'_>> {
        let checking =
            self.contracts.judge(&self.contracts.wanted, &self.subjects[seed.subject], &seed.input)?;
        self.judged.fetch_add(1, Ordering::Relaxed);
        self.pairs.fetch_add(checking.pairs(), Ordering::Relaxed);
        Ok(checking)
    }

    /// Judges the inputs that the other workers run, until there is a violation.
    fn work(
        &self,
        shared: &Shared,
        began: Instant,
        until: Instant,
        stop: &AtomicBool,
    ) -> Option<(Seed, FoundBy, Duration)> {
        while !shared.is_over(until, stop) {
            let Some((seed, means)) = shared.next_offered() else {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            };
            // A predicate may be undefined for an input; continue with the next one.
            if self.judge(&seed).is_ok_and(|checking| checking.is_violated()) {
                shared.done.store(true, Ordering::Relaxed);
                return Some((seed, means, began.elapsed()));
            }
        }
        None
    }

    /// Minimises a violating input and judges its runs again.
    fn summary(&self, seed: &Seed, means: FoundBy, after: Duration) -> Result<ViolatingInput> {
        let until = Instant::now() + MINIMISING_TIME;
        let mut input = seed.input.clone();
        if means != FoundBy::Test {
            let mut holds = |input: &Input| {
                let other = Seed { input: input.clone(), ..seed.clone() };
                Instant::now() < until && self.judge(&other).is_ok_and(|checking| checking.is_violated())
            };
            input = minimised(&seed.input, MAX_MINIMISING_RUNS, &mut holds);
        }
        let subject = &self.subjects[seed.subject];
        let small = Seed { input, ..seed.clone() };
        let checking = self.judge(&small)?;
        let command = command(subject, &small.input);
        let mut answer = checking.answer();
        let end = |side| Ok::<_, Error>(subject.run(side, &small.input)?.ended.status.to_string());
        let (good, bad) = (end(Side::Old)?, end(Side::New)?);
        answer.tests = vec![TestRun { command: command.clone(), good, bad }];
        Ok(ViolatingInput {
            found_by: means,
            seconds: after.as_secs_f64(),
            command,
            parts: parts(&small.input),
            answer,
        })
    }
}

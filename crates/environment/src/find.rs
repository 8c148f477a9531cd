//! From "it passes there and fails here" to the difference that decides.

use crate::candidates::{self, Candidate};
use crate::error::Result;
use crate::narrow::{self, Line};
use crate::record::{End, Record, Start};
use crate::replay::Selection;
use crate::run::{self, Command};
use crate::search;
use crate::sentences;
use crate::there::RecordIndex;
use std::collections::HashMap;
use std::time::Duration;

/// The criterion for a passing run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassCriterion {
    /// The exit status alone.
    Exit,
    /// The exit status and the content of standard output.
    Output,
}

impl PassCriterion {
    /// Whether the run `here` ended like the recorded one. A run that exceeded its time limit never passes.
    pub fn passes(self, there: &End, here: &End) -> bool {
        let same = !here.timed_out && here.status == there.status;
        same && (self == PassCriterion::Exit
            || (here.output, here.output_bytes) == (there.output, there.output_bytes))
    }
}

/// The options of [`find()`].
#[derive(Clone, Debug)]
pub struct Options {
    /// `None`: by the output only if the exit status is the same.
    pub judge: Option<PassCriterion>,
    /// A run that takes longer fails.
    pub limit: Duration,
}

/// One decisive difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// The kind of thing, in a word.
    pub kind: &'static str,
    /// Its name: a path, a variable, an address.
    pub name: String,
    /// The first call of the recorded run about it, counted from 1.
    pub call: Option<usize>,
    /// Its value or result in the recorded run, for display.
    pub there: String,
    /// Its value or result in the first run here, for display.
    pub here: String,
    /// The relevant lines of a file.
    pub lines: Vec<Line>,
    /// One sentence about both sides; it ends with the proof ("with that value the command passes").
    pub sentence: String,
}

/// What the search shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// These things, as recorded, make the command pass; a run with only them showed it twice.
    Found(Vec<Culprit>),
    /// It passes here too.
    Passes,
    /// It fails even with everything as recorded.
    NotReplayed,
    /// The same run passes sometimes and fails sometimes.
    Flaky,
}

/// The result of [`find()`].
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was shown.
    pub verdict: Verdict,
    /// The criterion that was used, chosen by [`find()`] if the options leave it open.
    pub judge: PassCriterion,
    /// The end of the recorded run.
    pub there: End,
    /// The end of the first run here, in which everything is as it is here.
    pub here: End,
    /// Number of recorded calls.
    pub calls: usize,
    /// Number of candidates; 0 if the command passes here.
    pub candidates: usize,
    /// Number of runs here, with the first one.
    pub runs: usize,
    /// If nothing was found: the first call of the run with everything as recorded that was not recorded, and
    /// its number.
    pub parted: Option<(usize, String)>,
    /// If nothing was found: sentences about the differences.
    pub differences: Vec<String>,
    /// Notes of the record, then those of the runs here: what could not be recorded or replayed.
    pub notes: Vec<String>,
}

struct TrialRunner<'a> {
    command: &'a Command,
    start: &'a Start,
    there: &'a RecordIndex<'a>,
    candidates: &'a [Candidate],
    judge: PassCriterion,
    limit: Duration,
    runs: usize,
    tried: HashMap<Vec<usize>, bool>,
    notes: Vec<String>,
    parted: Option<(usize, String)>,
}

impl TrialRunner<'_> {
    fn chosen(&self, set: &[usize]) -> Selection {
        let mut chosen = Selection::default();
        for candidate in set.iter().map(|at| &self.candidates[*at]) {
            chosen.keys.extend(&candidate.keys);
            chosen.directories.extend(candidate.directory.clone());
        }
        chosen
    }

    fn passes(&mut self, chosen: &Selection) -> Result<bool> {
        self.runs += 1;
        let run = run::semi_replay(self.command, self.start, self.there, chosen, self.limit);
        match run {
            Ok(run) => {
                // The first of these runs has everything as recorded.
                if self.runs == 2 {
                    self.parted = parted(self.there.record, &run);
                }
                for note in run.notes {
                    if !self.notes.contains(&note) {
                        self.notes.push(note);
                    }
                }
                Ok(self.judge.passes(&self.there.record.end, &run.end))
            }
            // A run that cannot even start with the recorded conditions does not pass.
            Err(crate::Error::NotRun { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn test(&mut self, set: &[usize]) -> Result<bool> {
        if set.is_empty() {
            return Ok(false);
        }
        if let Some(passed) = self.tried.get(set) {
            return Ok(*passed);
        }
        let passed = self.passes(&self.chosen(set))?;
        self.tried.insert(set.to_vec(), passed);
        Ok(passed)
    }
}

/// Finds what makes a command fail here that was recorded where it passes. `progress` receives a description
/// of each step.
pub fn find(
    mut record: Record,
    command: &Command,
    options: &Options,
    progress: &mut dyn FnMut(&str),
) -> Result<Answer> {
    let start = run::start(command);
    candidates::add_start_keys(&mut record, &start);
    let there = RecordIndex::new(&record);
    progress("running the command here");
    let own = run::record(command, Some(options.limit))?;
    let here = RecordIndex::new(&own);
    let judge = options.judge.unwrap_or(match PassCriterion::Exit.passes(&record.end, &own.end) {
        true => PassCriterion::Output,
        false => PassCriterion::Exit,
    });
    let places = run::places(&start.directory, &start, Some(&record.start));
    let mut answer = Answer {
        verdict: Verdict::Passes,
        judge,
        there: record.end.clone(),
        here: own.end.clone(),
        calls: record.calls.len(),
        candidates: 0,
        runs: 1,
        parted: None,
        differences: Vec::new(),
        notes: record.notes.clone(),
    };
    if judge.passes(&record.end, &own.end) {
        return Ok(answer);
    }
    let candidates = candidates::candidates(&there, &here, &places);
    answer.candidates = candidates.len();
    let mut runner = TrialRunner {
        command,
        start: &start,
        there: &there,
        candidates: &candidates,
        judge,
        limit: options.limit,
        runs: 1,
        tried: HashMap::new(),
        notes: Vec::new(),
        parted: None,
    };
    let teller = sentences::DifferenceFormatter { there: &there, here: &here, places: &places };
    let verdict = search(&mut runner, &teller, progress)?;
    if verdict == Verdict::NotReplayed {
        let observed = candidates.iter().filter(|candidate| candidate.observed);
        answer.differences = observed.map(|candidate| teller.difference(candidate)).collect();
    }
    if verdict == Verdict::NotReplayed {
        answer.parted = runner.parted.take();
    }
    answer.verdict = verdict;
    answer.runs = runner.runs;
    let notes = runner.notes.into_iter().filter(|note| !record.notes.contains(note));
    answer.notes.extend(notes);
    Ok(answer)
}

fn search(
    runner: &mut TrialRunner<'_>,
    teller: &sentences::DifferenceFormatter<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<Verdict> {
    let Some(universe) = universe(runner, progress)? else { return Ok(Verdict::NotReplayed) };
    progress(&format!("searching among {} differences", universe.len()));
    let pick = |set: &[usize]| -> Vec<usize> { set.iter().map(|at| universe[*at]).collect() };
    let found = search::culprits(universe.len(), |set| runner.test(&pick(set)))?;
    let found = pick(&found);
    progress("repeating the verdict");
    // Confirm both verdicts: nothing as recorded fails, and only what was found passes.
    let chosen = runner.chosen(&found);
    if runner.passes(&Selection::default())? || !runner.passes(&chosen)? {
        return Ok(Verdict::Flaky);
    }
    let mut culprits = Vec::new();
    for at in &found {
        progress("looking inside");
        let candidate = &runner.candidates[*at];
        let lines = narrow::lines(runner.there, candidate, teller.places, runner.start, &chosen, |chosen| {
            runner.passes(chosen)
        })?;
        culprits.push(teller.culprit(candidate, lines, found.len()));
    }
    Ok(Verdict::Found(culprits))
}

/// Where the first thread of a run diverges from the record: the number of the recorded call, and the call
/// that was made instead.
fn parted(there: &Record, run: &Record) -> Option<(usize, String)> {
    let first = |record: &Record| -> Vec<usize> {
        (0..record.calls.len()).filter(|at| record.calls[*at].thread == 0).collect()
    };
    let (recorded, made) = (first(there), first(run));
    for (at, call) in made.iter().enumerate() {
        let call = &run.calls[*call];
        let same = recorded
            .get(at)
            .map(|other| &there.calls[*other])
            .is_some_and(|other| other.number == call.number && there.key(other.key) == run.key(call.key));
        if !same {
            let number = recorded.get(at).map_or(there.calls.len(), |other| other + 1);
            let thing = crate::secrets::name(run.key(call.key));
            return Some((number, format!("{}({thing})", crate::calls::name(call.number))));
        }
    }
    None
}

/// The candidates with which the command passes: all of them; or, if it fails with all, those with observed
/// differences; or, if it fails with these too, those of them other than clock, randomness and memory
/// statistics.
fn universe(runner: &mut TrialRunner<'_>, progress: &mut dyn FnMut(&str)) -> Result<Option<Vec<usize>>> {
    progress("running it with everything as recorded");
    let all: Vec<usize> = (0..runner.candidates.len()).collect();
    let observed: Vec<usize> = all.iter().copied().filter(|at| runner.candidates[*at].observed).collect();
    let without_clock: Vec<usize> = observed
        .iter()
        .copied()
        .filter(|at| {
            let keys = &runner.candidates[*at].keys;
            !keys.iter().any(|key| {
                use crate::record::Key;
                matches!(runner.there.record.key(*key), Key::Clock | Key::Random | Key::Memory)
            })
        })
        .collect();
    for set in [all, observed, without_clock] {
        if runner.test(&set)? {
            return Ok(Some(set));
        }
    }
    Ok(None)
}

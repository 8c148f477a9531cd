//! Both versions and the results of their test runs.

use crate::align::{Side, executed_lines};
use crate::answer::{self, Answer, Cause};
use crate::error::Error;
use crate::evidence::Executed;
use crate::findings::Findings;
use crate::observe::{Observed, Run, RunOutput, Sinks, observe};
use crate::sources::Sources;
use changes::{Change, ChangeId, ChangeKind, ChangeSet, Difference};
use recording::Recording;
use replay::process::LoadedProcess;
use slice::phases::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use trials::{Oracle, Recorded, Rule, Sink, TrialRunner};

/// Unchanged lines shown around a change.
const CONTEXT: u32 = 3;

/// See the module's documentation.
pub struct Case<'d> {
    /// The changes between the versions.
    pub difference: &'d Difference,
    /// The texts of both versions.
    pub sources: Sources,
    /// The root of good's source tree; line numbers of good refer to it.
    pub good_root: PathBuf,
    /// The root of bad's source tree.
    pub bad_root: PathBuf,
    sinks: Sinks,
    good: Option<Kept>,
    bad: Option<Kept>,
    ends: [String; 2],
    outputs: [RunOutput; 2],
    /// The name of the version that bad is compared with: `good`, or `fixed`, which is bad with the found
    /// changes undone.
    pub reference: &'static str,
    /// Solvers for the semantic analysis.
    pub solving: solver::Settings,
    /// Sentences about what could not be recorded.
    pub notes: Vec<String>,
}

/// A version's recording.
#[derive(Clone)]
struct Kept {
    directory: PathBuf,
    /// The tree in which it was built; the source paths in the recording refer to it.
    tree: PathBuf,
}

impl From<&Recorded> for Kept {
    fn from(recorded: &Recorded) -> Kept {
        Kept { directory: recorded.directory.clone(), tree: recorded.tree.clone() }
    }
}

/// An existing recording, with the root of its sources and the outcome of its run.
pub struct RecordedRun<'r> {
    /// The directory of the recording.
    pub recording: &'r Path,
    /// The root of its version's sources.
    pub root: PathBuf,
    /// How the run ended, and its output.
    pub output: RunOutput,
}

/// Paths and texts of files.
pub type Texts = Vec<(String, String)>;

/// The opened recordings, and the observed failure.
pub struct Loaded {
    /// The observed failure, with slicing criteria.
    pub observed: Observed,
    /// The process of good for the criteria; `None` if there is none, or it cannot be loaded.
    pub good: Option<LoadedProcess>,
    /// The process of bad that failed; `None` if it cannot be loaded.
    pub bad: Option<LoadedProcess>,
    /// Executed lines, in good and in bad, over all processes.
    pub executed: [Executed; 2],
    notes: Vec<String>,
}

impl<'d> Case<'d> {
    /// A case without recordings.
    #[must_use]
    pub fn new(difference: &'d Difference, good: &Path, bad: &Path, oracle: &Oracle) -> Case<'d> {
        let by_exit = matches!(oracle.rule, Rule::Exit | Rule::Slower);
        Case {
            difference,
            sources: Sources::new(good, bad),
            good_root: good.to_owned(),
            bad_root: bad.to_owned(),
            sinks: Sinks {
                stdout: !by_exit,
                stderr: !by_exit && oracle.observe.contains(&Sink::Stderr),
                files: !by_exit,
            },
            good: None,
            bad: None,
            ends: Default::default(),
            outputs: Default::default(),
            reference: "good",
            solving: solver::Settings::default(),
            notes: Vec::new(),
        }
    }

    /// A case for two recorded runs, good first.
    #[must_use]
    pub fn of_recordings(difference: &'d Difference, runs: [RecordedRun<'_>; 2]) -> Case<'d> {
        let mut case = Case::new(difference, &runs[0].root, &runs[1].root, &Oracle::default());
        let [good, bad] =
            runs.map(|run| (Some(Kept { directory: run.recording.to_owned(), tree: run.root }), run.output));
        case.outputs = [good.1, bad.1];
        (case.good, case.bad) = (good.0, bad.0);
        case
    }

    /// Records both versions. If a recording fails, the explanation is less detailed.
    ///
    /// # Errors
    /// Only if the trial runner cannot continue.
    pub fn record(&mut self, lab: &mut TrialRunner<'_>) -> Result<(), Error> {
        if let Some(baseline) = lab.baseline() {
            for (n, run) in [&baseline.good, &baseline.bad].into_iter().enumerate() {
                self.ends[n] = run.status.to_string();
                self.outputs[n] = RunOutput::from(run);
            }
        }
        let (good, bad) = match lab.record_both() {
            Ok(both) => both,
            Err(error @ (trials::Error::Record { .. } | trials::Error::DoesNotBuild { .. })) => {
                self.notes.push(format!("Nothing inside the program was seen: failed to {error}."));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        for (n, recorded) in [&good, &bad].into_iter().enumerate() {
            let name = ["good", "bad"][n];
            if let Some(why) = &recorded.incomplete {
                self.notes.push(format!("The recording of {name} is incomplete: {why}."));
            }
            let seen = RunOutput::from(&recorded.run);
            let plain = lab.baseline().map(|baseline| [&baseline.good, &baseline.bad][n]);
            let deviation = plain.and_then(|plain| lab.deviation(plain, &recorded.run));
            if let Some(how) = deviation.filter(|_| !seen.timed_out) {
                self.notes
                    .push(format!("The recorded run of {name} did not do what the plain one did: {how}."));
            }
            self.outputs[n] = seen;
        }
        (self.good, self.bad) = (Some((&good).into()), Some((&bad).into()));
        Ok(())
    }

    /// The same case with good replaced by bad with some changes undone: `left` is the difference between the
    /// two, and `fixed` the recording of that version. The versions differ in nothing else, so these changes
    /// caused every difference of values.
    #[must_use]
    pub fn counterfactual<'f>(&self, left: &'f Difference, fixed: Recorded) -> Case<'f> {
        let [_, bad_end] = self.ends.clone();
        let [_, bad_output] = self.outputs.clone();
        Case {
            difference: left,
            sources: Sources::new(&fixed.tree, &self.bad_root),
            good_root: fixed.tree.clone(),
            bad_root: self.bad_root.clone(),
            sinks: self.sinks,
            ends: [fixed.run.status.to_string(), bad_end],
            outputs: [RunOutput::from(&fixed.run), bad_output],
            good: Some((&fixed).into()),
            bad: self.bad.clone(),
            reference: "fixed",
            solving: self.solving.clone(),
            notes: Vec::new(),
        }
    }

    /// Whether both versions were recorded.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.good.is_some() && self.bad.is_some()
    }

    /// How a version's test ended, and its recording.
    #[must_use]
    pub fn end(&self, good: bool) -> (String, Option<&Path>) {
        let (recorded, end) = if good { (&self.good, &self.ends[0]) } else { (&self.bad, &self.ends[1]) };
        (end.clone(), recorded.as_ref().map(|r| r.directory.as_path()))
    }

    /// The tree in which a version's recording was built.
    #[must_use]
    pub fn tree(&self, side: Side) -> &Path {
        let (recorded, root) = match side {
            Side::Good => (&self.good, &self.good_root),
            Side::Bad => (&self.bad, &self.bad_root),
        };
        recorded.as_ref().map_or(root, |r| &r.tree)
    }

    /// Opens the recordings and determines the failure.
    #[must_use]
    pub fn load(&self) -> Loaded {
        let mut notes = Vec::new();
        let mut open = |recorded: &Option<Kept>| {
            let directory = &recorded.as_ref()?.directory;
            Recording::open(directory)
                .map_err(|error| notes.push(format!("A recording cannot be used: failed to {error}.")))
                .ok()
        };
        let (good, bad) = (open(&self.good), open(&self.bad));
        let map = |file: &str, line: u32| self.difference.map_line_to_good(file, line);
        let run = |side: Side, recording| Run {
            recording,
            root: self.tree(side),
            output: &self.outputs[usize::from(side == Side::Bad)],
        };
        let observed =
            observe(run(Side::Good, good.as_ref()), run(Side::Bad, bad.as_ref()), &map, self.sinks)
                .unwrap_or_else(|error| {
                    notes.push(format!("What was observed could not be placed: failed to {error}."));
                    let summary =
                        format!("the test ended with {}, in good with {}", self.ends[1], self.ends[0]);
                    let observation =
                        answer::Observation { kind: "unknown".to_owned(), summary, ..Default::default() };
                    Observed { observation, ..Observed::default() }
                });
        let mut process = |recording: &Option<Recording>, index: Option<usize>| {
            let recording = recording.as_ref()?;
            LoadedProcess::load(recording, recording.processes.get(index?)?, &crate::observe::options())
                .map_err(|error| notes.push(format!("A recording cannot be used: failed to {error}.")))
                .ok()
        };
        let good_process = process(&good, observed.good_process);
        let mut bad_process = process(&bad, Some(observed.process));
        if let Some(process) = &mut bad_process {
            observed.prepare(process);
        }
        let executed =
            [(Side::Good, &good), (Side::Bad, &bad)].map(|(side, r)| self.executed(side, r.as_ref()));
        Loaded { observed, good: good_process, bad: bad_process, executed, notes }
    }

    /// Lines of the version that were executed in any of its processes.
    fn executed(&self, side: Side, recording: Option<&Recording>) -> Executed {
        let root = crate::align::keys::tidy(self.tree(side));
        let mut lines = Executed::new();
        for process in recording.iter().flat_map(|r| &r.processes) {
            let Some(recording) = recording else { break };
            // A process that does not replay to its end contributes no lines. The search then takes its
            // changes for not executed, and tries them later.
            let Ok(loaded) = LoadedProcess::load(recording, process, &crate::observe::options()) else {
                continue;
            };
            let Ok(found) = executed_lines(&loaded) else { continue };
            for ((file, line), count) in found {
                let path = crate::align::keys::tidy(Path::new(&file));
                let file = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
                *lines.entry((file, line)).or_default() += count;
            }
        }
        lines
    }

    /// Marks the lines of a change that are on the chain of causes.
    pub fn mark_guilty(&self, hunk: &mut answer::Hunk, causes: &[Cause]) {
        let change = self.difference.change(ChangeId(hunk.change));
        mark(hunk, change, &guilty_lines(causes));
        hunk.fixed_start = (self.reference == "fixed").then_some(change.old_start);
    }

    /// Changes in the form of the answer.
    #[must_use]
    pub fn hunks(&self, set: &ChangeSet, causes: &[Cause]) -> Vec<answer::Hunk> {
        let guilty = guilty_lines(causes);
        set.iter().map(|id| self.hunk(self.difference.change(*id), &guilty)).collect()
    }

    fn hunk(&self, change: &Change, guilty: &BTreeSet<(bool, String, u32)>) -> answer::Hunk {
        let lines = |side: Side, file: &str, range: std::ops::Range<u32>| -> Vec<String> {
            range.map_while(|line| self.sources.line(side, file, line)).collect()
        };
        let mut hunk = answer::Hunk {
            change: change.id.0,
            file: change.file.clone(),
            old_file: change.old_file.clone(),
            old_start: change.old_start,
            old_lines: change.old_lines.len() as u32,
            new_start: change.new_start,
            new_lines: change.new_lines.len() as u32,
            old_text: change.old_lines.clone(),
            new_text: change.new_lines.clone(),
            heading: change.heading.clone(),
            kind: kind(change.kind).to_owned(),
            ..answer::Hunk::default()
        };
        if change.kind == ChangeKind::Lines {
            // Where nothing was added, `new_start` is the preceding line.
            let first = change.new_start + u32::from(change.new_lines.is_empty());
            let end = first + change.new_lines.len() as u32;
            hunk.before = lines(Side::Bad, &change.file, first.saturating_sub(CONTEXT).max(1)..first);
            hunk.after = lines(Side::Bad, &change.file, end..end + CONTEXT);
        }
        mark(&mut hunk, change, guilty);
        hunk
    }

    /// The texts of the files that an answer and the phases of the failing run refer to, of good and of bad.
    #[must_use]
    pub fn files(&self, answer: &Answer, phases: Option<&Tree>) -> (Texts, Texts) {
        let (mut good, mut bad) = (BTreeMap::new(), BTreeMap::new());
        let mut take = |side: Side, file: &str| {
            let files = if side == Side::Good { &mut good } else { &mut bad };
            if !files.contains_key(file)
                && let Some(text) = self.sources.whole(side, file)
            {
                files.insert(file.to_owned(), text);
            }
        };
        for hunk in answer.root.iter().chain(&answer.auxiliary) {
            take(Side::Bad, &hunk.file);
            take(Side::Good, hunk.old_file.as_ref().unwrap_or(&hunk.file));
        }
        let mut todo: Vec<&Cause> = answer.causes.iter().collect();
        while let Some(cause) = todo.pop() {
            todo.extend(&cause.children);
            if let Some(place) = &cause.place {
                take(Side::Bad, &place.file);
            }
            if let Some(place) = &cause.good_place {
                take(Side::Good, &place.file);
            }
        }
        for file in phases.iter().flat_map(|tree| tree.files()) {
            take(Side::Bad, file);
        }
        (good.into_iter().collect(), bad.into_iter().collect())
    }
}

impl Loaded {
    /// The case and the recordings for another process of each run, with its output as the observed failure.
    #[must_use]
    pub fn of_processes(
        observed: Observed,
        good: Option<LoadedProcess>,
        bad: LoadedProcess,
        executed: [Executed; 2],
    ) -> Loaded {
        Loaded { observed, good, bad: Some(bad), executed, notes: Vec::new() }
    }

    /// Slices both runs from the observed failure.
    #[must_use]
    pub fn slice<'l>(&'l self, case: &Case<'_>) -> Findings<'l> {
        Findings::new(self, case)
    }

    /// Notes for the reader about loading and about the observation.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.notes.iter().chain(&self.observed.notes).cloned().collect()
    }
}

/// Lines of changes on the chain: whether the line is of good, file, line.
fn guilty_lines(causes: &[Cause]) -> BTreeSet<(bool, String, u32)> {
    let mut guilty = BTreeSet::new();
    // Iterative: causes are nested too deeply for recursion.
    let mut todo: Vec<&Cause> = causes.iter().collect();
    while let Some(cause) = todo.pop() {
        todo.extend(&cause.children);
        if cause.change.is_none() {
            continue;
        }
        for (good, place) in [(false, &cause.place), (true, &cause.good_place)] {
            if let Some(place) = place {
                guilty.insert((good, place.file.clone(), place.line));
            }
        }
    }
    guilty
}

/// `change` is the hunk's change in the difference that the guilty lines refer to.
fn mark(hunk: &mut answer::Hunk, change: &Change, guilty: &BTreeSet<(bool, String, u32)>) {
    let marked = |of_good: bool, file: &str, lines: std::ops::Range<u32>| -> Vec<u32> {
        let start = lines.start;
        lines.filter(|line| guilty.contains(&(of_good, file.to_owned(), *line))).map(|l| l - start).collect()
    };
    hunk.guilty_new = marked(false, &change.file, change.new_range());
    hunk.guilty_old = marked(true, change.old_file.as_ref().unwrap_or(&change.file), change.old_range());
}

fn kind(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Lines => "lines",
        ChangeKind::Added => "added",
        ChangeKind::Deleted => "deleted",
        ChangeKind::Renamed => "renamed",
        ChangeKind::Binary => "binary",
        ChangeKind::Mode => "mode",
    }
}

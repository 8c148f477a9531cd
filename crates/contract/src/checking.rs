//! Checks contracts on the runs of both versions: calls are observed, paired and judged.

use crate::answer::{FunctionAnswer, ViolationAnswer};
use crate::error::{Error, Result};
use crate::find::CommentedContract;
use crate::globals::{self, Uses, used};
use crate::intended::{CallPair, Span};
use crate::judge::{Judgement, entries, judge};
use crate::language::{Contract, Place};
use crate::moment::Run;
use crate::pairs::{Calls, pair};
use crate::prove::prove;
use crate::state::Root;
use crate::told::{ending, outputs, parameters, place_of};
use crate::version::{ObservedFunction, Version};
use crate::watch::{Bounds, Call, Ended, Seen, watch};
use crate::witness::Program;
use crate::written::{mentioned, root};
use explain::align::keys::Lines;
use explain::align::{LineMap, Side, pair_processes, pair_streams};
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Names of the versions, in the order of arrays.
pub(crate) const NAMES: [&str; 2] = ["good", "bad"];
/// Seconds after which no further proof is attempted, except for contracts that a user wrote.
const PROOF_BUDGET: f64 = 10.0;
/// Number of violations of a function that are reported in full.
const MAX_REPORTED: usize = 5;

/// What is checked in addition to the contracts in the comments of bad.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Contracts of a file, by function.
    pub contracts: Vec<(String, Contract)>,
    /// Functions that may not change; an empty list means all.
    pub unchanged: Option<Vec<String>>,
    /// Limits on the calls that are observed in one stream.
    pub bounds: Bounds,
    /// Whether to attempt proofs for all states too.
    pub proofs: bool,
}

/// Recordings of one test with both versions, good first.
#[derive(Clone, Copy)]
pub struct Runs<'r> {
    /// The recordings.
    pub recordings: [&'r Recording; 2],
    /// The directories to which paths are relative.
    pub trees: [&'r Path; 2],
    /// Maps a line of bad to the line of good.
    pub map: &'r LineMap<'r>,
}

/// A function that is checked, over all tests.
pub(crate) struct Checked {
    pub contract: Contract,
    pub is_written: bool,
    pub answer: FunctionAnswer,
    pub applied: Vec<u64>,
    /// Its location in bad.
    pub place: Option<(String, RangeInclusive<u32>)>,
    /// For the violations in the order of the answer: test, stream and steps in bad.
    pub steps: Vec<(usize, u32, (u64, u64))>,
}

/// A check in progress.
pub struct Checking<'c> {
    pub(crate) wanted: &'c Wanted,
    /// Contracts in the comments of files, by path.
    pub(crate) sources: HashMap<String, Arc<Vec<CommentedContract>>>,
    pub(crate) functions: BTreeMap<String, Checked>,
    /// Number of calls of each function of the whole program.
    pub(crate) calls: [BTreeMap<String, u64>; 2],
    /// Requested functions that some process does not have.
    pub(crate) missing: Vec<Error>,
    /// Pairs of calls that changed as a case of their contract specifies.
    pub(crate) fulfilled: Vec<CallPair>,
    /// Pairs of calls that violate their contract.
    pub(crate) violated: Vec<CallPair>,
    /// Sentences about what limits the answer.
    pub notes: Vec<String>,
    pub(crate) judging: f64,
    proof_seconds: f64,
}

/// Both versions of a process.
pub(crate) struct Both<'b, 'm> {
    pub test: usize,
    /// Numbers of the processes in the recordings.
    pub processes: [usize; 2],
    pub versions: [&'b Version<'m>; 2],
    pub lines: &'b Lines<'b>,
    /// The programs to run; none if they are not programs of this machine.
    pub programs: Option<[Program; 2]>,
}

/// A function in both versions.
struct Target<'m> {
    name: String,
    watched: [Vec<(usize, ObservedFunction<'m>)>; 2],
    globals: [Vec<Root<'m>>; 2],
    depends_on_input: bool,
}

impl<'c> Checking<'c> {
    /// A check without any test yet.
    #[must_use]
    pub fn new(wanted: &'c Wanted) -> Checking<'c> {
        Checking {
            wanted,
            sources: HashMap::new(),
            functions: BTreeMap::new(),
            calls: [BTreeMap::new(), BTreeMap::new()],
            missing: Vec::new(),
            fulfilled: Vec::new(),
            violated: Vec::new(),
            notes: Vec::new(),
            judging: 0.0,
            proof_seconds: 0.0,
        }
    }

    /// Judges the calls of one test.
    ///
    /// # Errors
    /// If a recording cannot be read, or a contract is invalid.
    pub fn test(&mut self, test: usize, runs: &Runs<'_>) -> Result<()> {
        for (b, g) in pair_processes(runs.recordings[0], runs.recordings[1]) {
            let load = |side: usize, n: usize| {
                let recording = runs.recordings[side];
                LoadedProcess::load(recording, &recording.processes[n], &Options::default())
            };
            let (one, other) = (load(0, g)?, load(1, b)?);
            let program = |side: usize, n: usize| Program::of(&runs.recordings[side].processes[n]);
            let programs = Some([program(0, g), program(1, b)]);
            self.pair(test, [g, b], [&one, &other], runs.trees, runs.map, programs)?;
        }
        Ok(())
    }

    /// Judges the calls of a pair of processes, which have these numbers in their recordings.
    ///
    /// # Errors
    /// If a contract is invalid.
    pub fn processes(
        &mut self,
        test: usize,
        numbers: [usize; 2],
        processes: [&LoadedProcess; 2],
        trees: [&Path; 2],
        map: &LineMap<'_>,
    ) -> Result<()> {
        self.pair(test, numbers, processes, trees, map, None)
    }

    fn pair(
        &mut self,
        test: usize,
        numbers: [usize; 2],
        processes: [&LoadedProcess; 2],
        trees: [&Path; 2],
        map: &LineMap<'_>,
        programs: Option<[Program; 2]>,
    ) -> Result<()> {
        let [one, other] = processes;
        let lines = Lines::new(map, trees[0], trees[1], &other.image);
        let versions = [&Version::new(&one.image), &Version::new(&other.image)];
        self.process(&Both { test, processes: numbers, versions, lines: &lines, programs }, processes)
    }

    fn process<'m>(&mut self, both: &Both<'_, 'm>, processes: [&'m LoadedProcess; 2]) -> Result<()> {
        let streams = pair_streams(processes[0], processes[1]);
        let mut uses: [Uses; 2] = Default::default();
        for (b, g) in &streams {
            for (side, n) in [(0, *g), (1, *b)] {
                let stream = &processes[side].streams[n].stream;
                globals::merge(&mut uses[side], used(both.versions[side], stream));
            }
        }
        let targets = self.targets(both, &uses)?;
        if targets.is_empty() {
            return Ok(());
        }
        let mut wanted: [Vec<(ObservedFunction<'m>, Vec<Root<'m>>)>; 2] = Default::default();
        let mut numbered: Vec<Target<'m>> = Vec::new();
        for (name, contract, watched) in targets {
            let mut names: BTreeSet<String> = BTreeSet::new();
            let mut depends_on_input = false;
            for side in 0..2 {
                for w in &watched[side] {
                    let used = globals::of(&uses[side], w);
                    depends_on_input |= used.depends_on_input;
                    names.extend(used.globals);
                }
            }
            for w in &watched[1] {
                names.extend(mentioned(&contract, &w.function.name));
            }
            let mut target =
                Target { name, watched: Default::default(), globals: Default::default(), depends_on_input };
            for (side, all) in watched.into_iter().enumerate() {
                let version = both.versions[side];
                target.globals[side] = names.iter().filter_map(|n| root(version, n)).collect();
                for w in all {
                    target.watched[side].push((wanted[side].len(), w.clone()));
                    wanted[side].push((w, target.globals[side].clone()));
                }
            }
            numbered.push(target);
        }
        if self.wanted.proofs {
            numbered.iter().for_each(|target| self.attempt_proof(both, target));
        }
        for (b, g) in &streams {
            let look = |side: usize, n: usize| {
                let of = [Side::Good, Side::Bad][side];
                let stream = &processes[side].streams[n].stream;
                watch(both.versions[side], stream, of, both.lines, &wanted[side], self.wanted.bounds)
            };
            let seen = [look(0, *g), look(1, *b)];
            for (side, s) in seen.iter().enumerate() {
                if let Some(why) = &s.trouble {
                    self.notes.push(format!("The run of {} is known in part: failed to {why}.", NAMES[side]));
                }
            }
            let began = Instant::now();
            let streams = [processes[0].streams[*g].number, processes[1].streams[*b].number];
            for target in &numbered {
                self.function(both, target, &seen, streams)?;
            }
            self.judging += began.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Attempts a proof for all states, for functions that exist exactly once in each version.
    fn attempt_proof(&mut self, both: &Both<'_, '_>, target: &Target<'_>) {
        let Some(checked) = self.functions.get_mut(&target.name) else { return };
        if checked.answer.proof.is_some() {
            return;
        }
        let ([(_, good)], [(_, bad)]) = (&target.watched[0][..], &target.watched[1][..]) else { return };
        if self.proof_seconds > PROOF_BUDGET && !checked.is_written {
            return;
        }
        let began = Instant::now();
        checked.answer.proof =
            Some(prove(&checked.contract, both.versions, [good, bad], both.programs.as_ref()));
        self.proof_seconds += began.elapsed().as_secs_f64();
    }

    /// Judges the calls of a function in a pair of streams.
    fn function<'m>(
        &mut self,
        both: &Both<'_, 'm>,
        target: &Target<'m>,
        seen: &[Seen<'m>; 2],
        streams: [u32; 2],
    ) -> Result<()> {
        let Some(checked) = self.functions.get_mut(&target.name) else { return Ok(()) };
        let calls = |side: usize| {
            let is_ours = |call: &&Call<'m>| target.watched[side].iter().any(|(n, _)| *n == call.function);
            let mut calls: Vec<&Call<'m>> = seen[side].calls.iter().filter(is_ours).collect();
            calls.sort_by_key(|call| call.steps.0);
            Calls {
                version: both.versions[side],
                watched: &target.watched[side],
                calls,
                globals: &target.globals[side],
            }
        };
        let (good, bad) = (calls(0), calls(1));
        let answer = &mut checked.answer;
        for (side, s) in seen.iter().enumerate() {
            let over: u64 = target.watched[side].iter().map(|(n, _)| s.passed_over[*n]).sum();
            answer.counted.passed_over[side] += over;
            answer.calls[side] += [&good, &bad][side].calls.len() as u64 + over;
        }
        let paired = pair(&good, &bad, !target.depends_on_input);
        answer.counted.only_good += paired.only_good;
        answer.counted.only_bad += paired.only_bad;
        answer.counted.differing += paired.differing.len() as u64;
        let globals = [&target.globals[0][..], &target.globals[1][..]];
        if let (Some(pair), None) = (paired.differing.first(), &answer.counted.first_difference) {
            answer.counted.first_difference = entries(pair, globals).into_iter().next();
            answer.counted.first_differing_call = Some(place_of(both, pair));
        }
        for (pair, is_by_index) in &paired.pairs {
            let unfinished = |run: &Run<'_, 'm>| run.call.ended == Ended::Unfinished;
            if unfinished(&pair.good) || unfinished(&pair.bad) {
                answer.untold += 1;
                push_new(&mut answer.untold_why, "the recording ends inside the call".to_owned());
                continue;
            }
            *(if *is_by_index { &mut answer.counted.by_index } else { &mut answer.counted.by_state }) += 1;
            let states =
                [&pair.good.call.entry, &pair.good.call.exit, &pair.bad.call.entry, &pair.bad.call.exit];
            answer.counted.truncated += u64::from(states.iter().any(|s| s.truncated));
            let outputs = [
                outputs(both, Side::Good, &seen[0], pair.good.call.steps),
                outputs(both, Side::Bad, &seen[1], pair.bad.call.steps),
            ];
            let judged = judge(&checked.contract, pair, globals, [&outputs[0], &outputs[1]])?;
            let Judgement { applied, violations, unknown } = judged;
            let span = |side: usize, call: &Call<'_>| Span {
                process: both.processes[side],
                stream: streams[side],
                steps: call.steps,
                entered: call.entered,
                ends_process: matches!(call.ended, Ended::Exit(_) | Ended::Abort | Ended::Signal(_)),
            };
            let calls = CallPair {
                function: target.name.clone(),
                good: span(0, pair.good.call),
                bad: span(1, pair.bad.call),
            };
            if !violations.is_empty() {
                self.violated.push(calls);
            } else if !applied.is_empty() && unknown.is_empty() {
                self.fulfilled.push(calls);
            }
            for case in applied {
                checked.applied[case] += 1;
            }
            if !unknown.is_empty() {
                answer.untold += 1;
                unknown.into_iter().for_each(|why| push_new(&mut answer.untold_why, why));
            }
            answer.violated += u64::from(!violations.is_empty());
            for violation in violations {
                if answer.violations.len() >= MAX_REPORTED {
                    break;
                }
                checked.steps.push((both.test, streams[1], pair.bad.call.steps));
                answer.violations.push(ViolationAnswer {
                    call: place_of(both, pair),
                    clause: violation.clause.as_ref().map(Place::to_string),
                    text: violation.clause.as_ref().map(Place::text),
                    what: violation.what,
                    entry: parameters(&pair.bad),
                    good: ending(&pair.good),
                    bad: ending(&pair.bad),
                    values: violation.values,
                    differences: violation.differences,
                    follows: None,
                });
            }
        }
        Ok(())
    }
}

fn push_new(list: &mut Vec<String>, text: String) {
    if list.len() < 3 && !list.contains(&text) {
        list.push(text);
    }
}

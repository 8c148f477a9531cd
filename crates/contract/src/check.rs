//! One check from beginning to end.
//!
//! ```text
//! versions -> build each with recording -> record the tests with each
//!          -> contracts of bad's sources, of a file, of the command line    (what is meant)
//!          -> variables that the functions use -> calls with their states   (what happened)
//!          -> pairs with equal entry states -> judged                       (is it what is meant?)
//! ```

use crate::answer::{self, Answer, CallPlace, CaseAnswer, FunctionAnswer, SCHEMA, Verdict, ViolationAnswer};
use crate::compare::{Half, show};
use crate::error::{Error, Result};
use crate::find::{Commented, in_comments, in_file};
use crate::globals::{self, Uses, used};
use crate::judge::{Judged, Output, judge};
use crate::language::{Contract, Place, Source};
use crate::moment::{Pair, Run, Shown};
use crate::pairs::{Calls, pair};
use crate::state::{RESULT, Root, RootKind, parameter_address};
use crate::version::{Version, Watched};
use crate::watch::{Bounds, Call, Ended, Seen, watch};
use changes::{DiffOptions, Difference};
use explain::align::keys::Lines;
use explain::align::{Side, pair_processes, pair_streams};
use expression::ast::ExprKind;
use recording::Recording;
use replay::io::IoList;
use replay::process::{LoadedProcess, Options};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trials::{Oracle, Recorded, Setup, Status, Suite, TestRun, Tools, TrialLimits, Work};

/// Names of the versions, in the order of arrays.
const NAMES: [&str; 2] = ["good", "bad"];
/// Violations of a function that are told in full.
const TOLD: usize = 5;
/// How long a recorded test may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is to be checked, and with what means.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where the user stands.
    pub here: PathBuf,
    pub good: String,
    pub bad: String,
    pub build: String,
    pub tests: Vec<String>,
    /// A file of contracts; without one, `relapse.contracts` of bad, if it is there.
    pub contracts: Option<PathBuf>,
    /// Functions that may not change; none of them named: all.
    pub unchanged: Option<Vec<String>>,
    pub bounds: Bounds,
    pub timeout: Option<Duration>,
    pub tools: Tools,
    /// A directory with the usual names of compilers, for builds that do not ask for `CC`.
    pub compilers: Option<PathBuf>,
    /// Directory for everything that is made on the way.
    pub work: PathBuf,
    pub keep: bool,
}

/// What happens, for somebody who waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    Building(&'static str),
    Recording { test: usize, of: usize },
    Replaying { test: usize, of: usize },
}

/// The file of contracts that is looked for.
pub const FILE: &str = "relapse.contracts";

/// Checks the contracts.
///
/// # Errors
/// See [`Error`]. A violation is no error.
pub fn check(request: &Request, stop: &Arc<AtomicBool>, news: &(dyn Fn(&News) + Sync)) -> Result<Answer> {
    let began = Instant::now();
    let (good, bad) = trials::Version::resolve_pair(&request.good, &request.bad, &request.here)?;
    let works = [request.work.join("good"), request.work.join("bad")];
    let mut suites = Vec::new();
    for (n, version) in [&good, &bad].into_iter().enumerate() {
        let work = Work::open(&works[n], request.keep)?;
        let files = work.sources("checked");
        version.check_out(&files, work.root())?;
        suites.push((Suite::open(work, setup(request, version, files.clone()), stop.clone())?, files));
    }
    let difference = changes::difference(&suites[0].1, &suites[1].1, &DiffOptions::default())?;
    build(&mut suites, news)?;
    let side_file = side_file(request, &suites[1].1, &bad.subdirectory)?;
    let mut checking = Checking {
        request,
        difference: &difference,
        side_file,
        sources: HashMap::new(),
        functions: BTreeMap::new(),
        calls: [BTreeMap::new(), BTreeMap::new()],
        missing: Vec::new(),
        notes: Vec::new(),
        judging: 0.0,
    };
    let mut tests = Vec::new();
    for (number, test) in request.tests.iter().enumerate() {
        news(&News::Recording { test: number + 1, of: request.tests.len() });
        let one = record(&suites[0].0, request, test, number, 0)?;
        let other = record(&suites[1].0, request, test, number, 1)?;
        tests.push(answer::TestRun {
            command: test.clone(),
            good: one.run.status.to_string(),
            bad: other.run.status.to_string(),
        });
        news(&News::Replaying { test: number + 1, of: request.tests.len() });
        checking.test(number, &one, &other)?;
        for (n, recorded) in [one, other].into_iter().enumerate() {
            if let Some(why) = &recorded.incomplete {
                checking
                    .notes
                    .push(format!("The recording of {} with {test} is incomplete: {why}.", NAMES[n]));
            }
        }
    }
    let mut answer = checking.finish()?;
    (answer.good, answer.bad, answer.tests) = (request.good.clone(), request.bad.clone(), tests);
    answer.seconds = began.elapsed().as_secs_f64();
    Ok(answer)
}

fn setup(request: &Request, version: &trials::Version, files: PathBuf) -> Setup {
    Setup {
        bad: files,
        subdirectory: version.subdirectory.clone(),
        build: trials::with_compilers(&request.build, request.compilers.as_deref()),
        test: String::new(),
        suite: None,
        stdin: None,
        oracle: Oracle::default(),
        tools: request.tools.clone(),
        jobs: 1,
        repeat: 1,
        limits: TrialLimits::default(),
    }
}

/// Builds both versions, side by side.
fn build(suites: &mut [(Suite, PathBuf)], news: &(dyn Fn(&News) + Sync)) -> Result<()> {
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = suites
            .iter_mut()
            .zip(NAMES)
            .map(|((suite, _), name)| {
                scope.spawn(move || {
                    news(&News::Building(name));
                    match suite.build() {
                        Err(trials::Error::DoesNotBuild { complaint, log, .. }) => Err(Error::DoesNotBuild {
                            version: name,
                            complaint,
                            log: log.display().to_string(),
                        }),
                        other => Ok(other?),
                    }
                })
            })
            .collect();
        let ended = |t: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            t.join()
                .unwrap_or_else(|_| Err(Error::Recording("build a version: it came to a bad end".to_owned())))
        };
        threads.into_iter().map(ended).collect()
    });
    results.into_iter().collect()
}

/// Contracts of a file of their own.
fn side_file(request: &Request, bad: &Path, subdirectory: &Path) -> Result<Vec<(String, Contract)>> {
    let (path, file) = match &request.contracts {
        Some(path) => (path.clone(), path.display().to_string()),
        None => {
            let places = [bad.join(subdirectory).join(FILE), bad.join(FILE)];
            match places.into_iter().find(|path| path.is_file()) {
                Some(path) => (path, FILE.to_owned()),
                None => return Ok(Vec::new()),
            }
        }
    };
    let bytes = std::fs::read(&path).map_err(|error| Error::Read { path: file.clone(), error })?;
    in_file(&Arc::new(Source { file, text: String::from_utf8_lossy(&bytes).into_owned() }))
}

fn record(suite: &Suite, request: &Request, test: &str, number: usize, side: usize) -> Result<Recorded> {
    let name = format!("test-{}", number + 1);
    let run = trials::Run { name: &name, command: test, ..Default::default() };
    let patience = request.timeout.unwrap_or(PATIENCE);
    let cannot_run = |ran: &TestRun| {
        let Status::Exit(code @ (126 | 127)) = ran.status else { return None };
        let said = std::fs::read_to_string(&ran.stderr).unwrap_or_default();
        let why = said.lines().last().map_or_else(|| format!("exit {code}"), str::to_owned);
        Some(Error::TestNotRun { version: NAMES[side], why })
    };
    match suite.record(&run, patience) {
        Ok(recorded) => match cannot_run(&recorded.run) {
            Some(error) => Err(error),
            None => Ok(recorded),
        },
        // Nothing is recorded of a test that is not there.
        Err(error @ trials::Error::Record { .. }) => {
            Err(cannot_run(&suite.run(&run, patience)?).unwrap_or_else(|| error.into()))
        }
        Err(error) => Err(error.into()),
    }
}

/// A function that is checked, over all tests.
struct Checked {
    contract: Contract,
    is_written: bool,
    answer: FunctionAnswer,
    applied: Vec<u64>,
    /// Of violations in the order of the answer: test, stream and steps in bad.
    steps: Vec<(usize, u32, (u64, u64))>,
}

struct Checking<'c> {
    request: &'c Request,
    difference: &'c Difference,
    side_file: Vec<(String, Contract)>,
    /// Contracts in the comments of files, by path.
    sources: HashMap<String, Arc<Vec<Commented>>>,
    functions: BTreeMap<String, Checked>,
    /// How often functions of the whole program are called.
    calls: [BTreeMap<String, u64>; 2],
    /// Functions that were asked for and that some process does not have.
    missing: Vec<Error>,
    notes: Vec<String>,
    judging: f64,
}

/// Both versions of a process.
struct Both<'b, 'm> {
    test: usize,
    versions: [&'b Version<'m>; 2],
    lines: &'b Lines<'b>,
}

impl Checking<'_> {
    fn test(&mut self, test: usize, good: &Recorded, bad: &Recorded) -> Result<()> {
        let open = |recorded: &Recorded| {
            Recording::open(&recorded.directory).map_err(|e| Error::Recording(e.to_string()))
        };
        let recordings = [open(good)?, open(bad)?];
        for (b, g) in pair_processes(&recordings[0], &recordings[1]) {
            let load = |side: usize, n: usize| {
                let recording = &recordings[side];
                LoadedProcess::load(recording, &recording.processes[n], &Options::default())
            };
            let (one, other) = (load(0, g)?, load(1, b)?);
            let map = |file: &str, line: u32| self.difference.map_line_to_good(file, line);
            let lines = Lines::new(&map, &good.tree, &bad.tree, &other.image);
            let versions = [&Version::new(&one.image), &Version::new(&other.image)];
            let both = Both { test, versions, lines: &lines };
            self.process(&both, [&one, &other])?;
        }
        Ok(())
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
        let mut wanted: [Vec<(Watched<'m>, Vec<Root<'m>>)>; 2] = Default::default();
        let mut numbered: Vec<Target<'m>> = Vec::new();
        for (name, contract, watched) in targets {
            let mut names: BTreeSet<String> = BTreeSet::new();
            let mut reads_input = false;
            for side in 0..2 {
                for w in &watched[side] {
                    let used = globals::of(&uses[side], w);
                    reads_input |= used.reads_input;
                    names.extend(used.globals);
                }
            }
            for w in &watched[1] {
                names.extend(mentioned(&contract, &w.function.name));
            }
            let mut target =
                Target { name, watched: Default::default(), globals: Default::default(), reads_input };
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
        for (b, g) in &streams {
            let look = |side: usize, n: usize| {
                let of = [Side::Good, Side::Bad][side];
                let stream = &processes[side].streams[n].stream;
                watch(both.versions[side], stream, of, both.lines, &wanted[side], self.request.bounds)
            };
            let seen = [look(0, *g), look(1, *b)];
            for (side, s) in seen.iter().enumerate() {
                if let Some(why) = &s.trouble {
                    self.notes.push(format!("The run of {} is known in part: failed to {why}.", NAMES[side]));
                }
            }
            let began = Instant::now();
            let stream = processes[1].streams[*b].number;
            for target in &numbered {
                self.function(both, target, &seen, stream)?;
            }
            self.judging += began.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Functions with their contracts, and what both versions have for them.
    fn targets<'m>(&mut self, both: &Both<'_, 'm>, uses: &[Uses; 2]) -> Result<Vec<Wanted<'m>>> {
        let [good, bad] = both.versions;
        let (ours, theirs) = (good.functions(), bad.functions());
        let mut wanted: BTreeMap<String, (Contract, bool)> = BTreeMap::new();
        for (name, contract) in self.commented(both, &theirs)? {
            wanted.insert(name, (contract, true));
        }
        let of_file: Vec<(String, Contract)> = self.side_file.clone();
        let named = self.request.unchanged.clone().unwrap_or_default();
        let nothing = |name: &str| {
            let source = Arc::new(Source { file: "--unchanged".to_owned(), text: name.to_owned() });
            Contract::unchanged(Place { source, start: 0, end: name.len() })
        };
        let asked = of_file.into_iter().map(|(n, c)| (n, c, true));
        for (name, contract, is_written) in asked.chain(named.iter().map(|n| (n.clone(), nothing(n), false)))
        {
            match bad.named(&name, "bad") {
                Ok(found) => {
                    for w in found {
                        let name = program::names::readable(&w.function.name).into_owned();
                        wanted.entry(name).or_insert_with(|| (contract.clone(), is_written));
                    }
                }
                Err(error) => self.missing.push(error),
            }
        }
        if self.request.unchanged.as_ref().is_some_and(Vec::is_empty) {
            for (side, functions) in [(0, &ours), (1, &theirs)] {
                for (name, all) in
                    functions.iter().filter(|(_, all)| all.iter().all(|w| is_own(both, side, w)))
                {
                    let calls: u64 = all.iter().map(|w| globals::of(&uses[side], w).calls).sum();
                    *self.calls[side].entry(name.clone()).or_default() += calls;
                }
            }
            for (name, all) in &theirs {
                let is_called = |side: usize, all: &[Watched<'_>]| {
                    all.iter().any(|w| is_own(both, side, w) && globals::of(&uses[side], w).calls > 0)
                };
                if is_called(1, all) && ours.get(name).is_some_and(|all| is_called(0, all)) {
                    wanted.entry(name.clone()).or_insert_with(|| (nothing(name), false));
                }
            }
        }
        let mut targets = Vec::new();
        for (name, (contract, is_written)) in wanted {
            let in_bad = theirs.get(&name).cloned().unwrap_or_default();
            let place = in_bad.first().map(|w| {
                let file = both.lines.relative(Side::Bad, &w.model.file_path(w.function.file));
                format!("{file}:{}", w.function.line)
            });
            let checked = self.functions.entry(name.clone()).or_insert_with(|| Checked {
                applied: vec![0; contract.cases.len()],
                answer: FunctionAnswer {
                    name: name.clone(),
                    contract: is_written.then(|| contract.place.to_string()),
                    ..FunctionAnswer::default()
                },
                contract: contract.clone(),
                is_written,
                steps: Vec::new(),
            });
            checked.answer.place = place.unwrap_or_default();
            let in_good = match ours.get(&name) {
                Some(all) => all.clone(),
                None => match good.named(&name, "good") {
                    Ok(all) => all,
                    Err(error) => {
                        self.missing.push(error);
                        continue;
                    }
                },
            };
            let contract = checked.contract.clone();
            targets.push((name, contract, [in_good, in_bad]));
        }
        Ok(targets)
    }

    /// Contracts in the comments before functions of bad.
    fn commented(
        &mut self,
        both: &Both<'_, '_>,
        functions: &BTreeMap<String, Vec<Watched<'_>>>,
    ) -> Result<Vec<(String, Contract)>> {
        let mut by_file: BTreeMap<String, Vec<(u32, &str)>> = BTreeMap::new();
        for (name, all) in functions {
            for w in all.iter().filter(|w| is_own(both, 1, w)) {
                let path = w.model.file_path(w.function.file);
                by_file.entry(path).or_default().push((w.function.line, name));
            }
        }
        let mut found = Vec::new();
        for (path, functions) in by_file {
            let commented = match self.sources.get(&path) {
                Some(known) => known.clone(),
                None => {
                    let text = std::fs::read(&path).map(|b| String::from_utf8_lossy(&b).into_owned());
                    let text = text.unwrap_or_default();
                    let file = both.lines.relative(Side::Bad, &path);
                    let contracts = Arc::new(in_comments(&Arc::new(Source { file, text }))?);
                    self.sources.insert(path, contracts.clone());
                    contracts
                }
            };
            for c in commented.iter() {
                let Some((_, name)) = functions.iter().find(|(line, _)| c.lines.contains(line)) else {
                    let module = both.versions[1].modules.iter().flat_map(|m| &m.opaque);
                    let text = c.contract.place.source.text.lines().skip(*c.lines.start() as usize - 1);
                    let head: String = text
                        .take((c.lines.end() - c.lines.start() + 1) as usize)
                        .collect::<Vec<_>>()
                        .join(" ");
                    let opaque = module
                        .into_iter()
                        .find(|o| head.contains(&format!("{}(", program::names::readable(&o.name))));
                    if let Some(opaque) = opaque {
                        let (name, reason) = (opaque.name.clone(), opaque.reason.clone());
                        return Err(Error::Opaque { name, version: "bad", reason });
                    }
                    self.missing.push(Error::NoFunctionFollows { place: c.contract.place.clone() });
                    continue;
                };
                found.push(((*name).to_owned(), c.contract.clone()));
            }
        }
        Ok(found)
    }

    /// Judges the calls of a function in a pair of streams.
    fn function<'m>(
        &mut self,
        both: &Both<'_, 'm>,
        target: &Target<'m>,
        seen: &[Seen<'m>; 2],
        stream: u32,
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
        let paired = pair(&good, &bad, !target.reads_input);
        answer.counted.only_good += paired.only_good;
        answer.counted.only_bad += paired.only_bad;
        answer.counted.differing += paired.differing.len() as u64;
        if let (Some((pair, difference)), None) = (paired.differing.first(), &answer.counted.first_difference)
        {
            answer.counted.first_difference = Some(difference.clone());
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
                outputs(both, Side::Good, &seen[0].io, pair.good.call.steps),
                outputs(both, Side::Bad, &seen[1].io, pair.bad.call.steps),
            ];
            let globals = [&target.globals[0][..], &target.globals[1][..]];
            let judged = judge(&checked.contract, pair, globals, [&outputs[0], &outputs[1]])?;
            let Judged { applied, violations, unknown } = judged;
            for case in applied {
                checked.applied[case] += 1;
            }
            if !unknown.is_empty() {
                answer.untold += 1;
                unknown.into_iter().for_each(|why| push_new(&mut answer.untold_why, why));
            }
            answer.violated += u64::from(!violations.is_empty());
            for violation in violations {
                if answer.violations.len() >= TOLD {
                    break;
                }
                checked.steps.push((both.test, stream, pair.bad.call.steps));
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

    fn finish(mut self) -> Result<Answer> {
        // A name may be known to one process only.
        self.missing.retain(|error| match error {
            Error::NoFunction { name, .. } | Error::Opaque { name, .. } => {
                let is_it = |known: &str| known == name || known.ends_with(&format!("::{name}"));
                !self.functions.values().any(|c| is_it(&c.answer.name) && c.answer.calls != [0, 0])
            }
            _ => true,
        });
        if let Some(error) = self.missing.into_iter().next() {
            return Err(error);
        }
        if self.functions.is_empty() {
            return Err(Error::NothingToCheck);
        }
        let whole = self.request.unchanged.as_ref().is_some_and(Vec::is_empty);
        for checked in self.functions.values() {
            let [good, bad] = checked.answer.calls;
            if (good == 0 || bad == 0) && (checked.is_written || !whole) {
                let name = checked.answer.name.clone();
                return Err(Error::NeverCalled { name, good: good > 0, bad: bad > 0 });
            }
        }
        let mut answer =
            Answer { schema: SCHEMA, notes: self.notes, judging: self.judging, ..Answer::default() };
        answer.notes.dedup();
        let follows = follows(&self.functions);
        for (name, mut checked) in self.functions {
            for (n, from) in follows.get(&name).into_iter().flatten() {
                checked.answer.violations[*n].follows = Some(from.clone());
            }
            let mut f = checked.answer;
            f.cases = checked
                .contract
                .cases
                .iter()
                .zip(&checked.applied)
                .map(|(case, applied)| CaseAnswer { place: case.place.to_string(), applied: *applied })
                .collect();
            f.verdict = if f.violated > 0 {
                Verdict::Violated
            } else if f.counted.pairs() == 0 || f.untold > 0 {
                Verdict::Unknown
            } else {
                Verdict::Holds
            };
            answer.functions.push(f);
        }
        let has = |verdict: Verdict| {
            answer.functions.iter().any(|f| {
                f.verdict == verdict && (f.contract.is_some() || !whole || verdict == Verdict::Violated)
            })
        };
        answer.verdict = match (has(Verdict::Violated), has(Verdict::Unknown)) {
            (true, _) => Verdict::Violated,
            (_, true) => Verdict::Unknown,
            _ => Verdict::Holds,
        };
        if whole {
            let [good, bad] = &self.calls;
            let only = |one: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>| {
                let is_only = |name: &String| other.get(name).copied().unwrap_or(0) == 0;
                one.iter()
                    .filter(|(name, calls)| **calls > 0 && is_only(name))
                    .map(|(name, _)| name.clone())
                    .collect()
            };
            (answer.only_good, answer.only_bad) = (only(good, bad), only(bad, good));
        }
        Ok(answer)
    }
}

/// Violations of callers inside of which another function violates its contract too: by function,
/// the number of the violation and the other function.
fn follows(functions: &BTreeMap<String, Checked>) -> BTreeMap<String, Vec<(usize, String)>> {
    let mut all: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for (name, checked) in functions {
        for (n, (test, stream, outer)) in checked.steps.iter().enumerate() {
            let mut inner: Vec<(u64, &String)> = Vec::new();
            for (other, checked) in functions.iter().filter(|(other, _)| *other != name) {
                let inside = checked.steps.iter().filter(|(t, s, steps)| {
                    t == test && s == stream && steps.0 > outer.0 && steps.1 <= outer.1
                });
                inner.extend(inside.map(|(_, _, steps)| (steps.1 - steps.0, other)));
            }
            // The innermost is where it begins.
            if let Some((_, from)) = inner.into_iter().min() {
                all.entry(name.clone()).or_default().push((n, from.clone()));
            }
        }
    }
    all
}

/// A function's name, its contract, and what good and bad have of this name.
type Wanted<'m> = (String, Contract, [Vec<Watched<'m>>; 2]);

/// A function in both versions.
struct Target<'m> {
    name: String,
    watched: [Vec<(usize, Watched<'m>)>; 2],
    globals: [Vec<Root<'m>>; 2],
    reads_input: bool,
}

fn push_new(list: &mut Vec<String>, text: String) {
    if list.len() < 3 && !list.contains(&text) {
        list.push(text);
    }
}

/// Whether a function stands in a file of the version.
fn is_own(both: &Both<'_, '_>, side: usize, watched: &Watched<'_>) -> bool {
    let path = watched.model.file_path(watched.function.file);
    let relative = both.lines.relative([Side::Good, Side::Bad][side], &path);
    !Path::new(&relative).is_absolute()
}

/// A global variable as a root of states.
fn root<'m>(version: &Version<'m>, name: &str) -> Option<Root<'m>> {
    let global = &version.globals[version.global(name)?];
    Some(Root {
        kind: RootKind::Global,
        name: name.to_owned(),
        ty: global.ty.clone(),
        address: global.address,
    })
}

/// Names that a contract mentions; those of static variables of the function too.
fn mentioned(contract: &Contract, function: &str) -> Vec<String> {
    let mut names = Vec::new();
    for predicate in contract.predicates() {
        let mut todo = vec![&predicate.expression.root];
        while let Some(e) = todo.pop() {
            match &e.kind {
                ExprKind::Name(name) => {
                    names.push(name.clone());
                    names.push(format!("{function}.{name}"));
                }
                ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::SizeOf(a) => todo.push(a),
                ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => todo.extend([&**a, &**b]),
                ExprKind::Conditional(three) => todo.extend(three.iter()),
                ExprKind::Member { of, .. } => todo.push(of),
                ExprKind::Call(f, arguments) => {
                    todo.push(f);
                    todo.extend(arguments);
                }
                _ => {}
            }
        }
    }
    names
}

/// What was written to files between two steps.
fn outputs(both: &Both<'_, '_>, side: Side, io: &IoList, (first, last): (u64, u64)) -> Vec<Output> {
    let start = io.events.partition_point(|e| e.instruction < first);
    let name = |source: usize| match io.sources.get(source) {
        Some(source) if source.fd == 1 => "stdout".to_owned(),
        Some(source) if source.fd == 2 => "stderr".to_owned(),
        Some(source) => {
            let path = both.lines.relative(side, &source.name);
            // Files outside of the version lie in directories that each run has of its own.
            match Path::new(&path).is_absolute() {
                true => {
                    Path::new(&path).file_name().map_or(path.clone(), |n| n.to_string_lossy().into_owned())
                }
                false => path,
            }
        }
        None => String::new(),
    };
    io.events[start..]
        .iter()
        .take_while(|e| e.instruction <= last)
        .filter(|e| e.out)
        .map(|e| (name(e.source), e.bytes.clone()))
        .collect()
}

fn place_of(both: &Both<'_, '_>, pair: &Pair<'_, '_>) -> CallPlace {
    let caller = pair.bad.call.caller.as_ref();
    CallPlace {
        test: both.test,
        numbers: [pair.good.call.number, pair.bad.call.number],
        caller: caller.map(|c| c.function.clone()),
        place: caller.map(|c| format!("{}:{}", both.lines.relative(Side::Bad, &c.file), c.line)),
    }
}

/// The parameters of a call.
fn parameters(run: &Run<'_, '_>) -> Vec<Shown> {
    let half = Half { version: run.version, state: &run.call.entry };
    let shown = |(n, p): (usize, &crate::version::Parameter<'_>)| Shown {
        expression: p.name.clone(),
        value: show(&half, parameter_address(n), &p.ty),
    };
    run.watched.parameters.iter().enumerate().map(shown).collect()
}

/// How a call ended, with its result.
fn ending(run: &Run<'_, '_>) -> String {
    match (&run.call.ended, &run.call.result) {
        (Ended::Returned, Some(ty)) => {
            let half = Half { version: run.version, state: &run.call.exit };
            format!("returns {}", show(&half, RESULT, ty))
        }
        (ended, _) => ended.to_string(),
    }
}

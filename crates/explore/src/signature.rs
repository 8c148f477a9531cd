//! What a program computes, and on which inputs: one run for each group of paths that compute their outputs
//! by the same expressions.
//!
//! This is Algorithm 6.1 of Qi's thesis: a depth-first search over prefixes of reordered relevant-slice
//! conditions, with the last one negated. All runs share one pool of terms, so prefixes are compared as
//! terms. With [`By::Path`] the whole path condition is used instead, in execution order: plain dynamic
//! symbolic execution, for comparison.
//!
//! Prefixes are independent of each other, so several are run and sliced in parallel. The size of a batch
//! does not depend on the number of workers, so neither does the result. The state can be stored in a file
//! and continued ([`crate::store`]).
//!
//! Inputs have the lengths of the first one: the end of input does not move.

use crate::error::{Error, Result};
use crate::faults::{Fault, Faults};
use crate::follow::with_values;
use crate::relevant::{self, RelevantConditions};
use crate::store::{Asked, Store, StoredRun};
use alternate::{Ended, Rerun, with_stop_flag};
use replay::machine::End;
use solver::{Binary, Outcome, Session, Settings, Statistics, Term};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use symbolic::{Condition, Input, Kind, Origin, Output, Path, Reason, TermContext};

/// What distinguishes groups of paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The conditions that the outputs depend on.
    #[default]
    Output,
    /// All conditions.
    Path,
}

/// A group of paths.
#[derive(Clone, Debug)]
pub struct Group {
    /// An input that takes one of them.
    pub input: Input,
    /// The behaviour of the program with this input.
    pub ended: Ended,
    /// Its condition as text, in the order of exploration.
    pub condition: Vec<String>,
    /// The output as text.
    pub output: String,
    /// Values that were concretised because their users are not followed, with reasons.
    pub fixed: Vec<String>,
    /// The reordered conditions.
    pub terms: Vec<Term>,
    /// The output, as terms and text.
    pub outputs: Vec<Piece>,
    /// The same without the exit status, by where it goes.
    pub written: BTreeMap<Option<Origin>, Vec<Piece>>,
}

/// A part of an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece {
    /// Bytes that do not depend on input.
    Text(Vec<u8>),
    /// A byte that depends on input.
    Byte(Term),
    /// A number that does, and how it is printed.
    Number(Term, Vec<u8>),
    /// The exit status, if it depends on input.
    Status(Term),
}

/// The result of an exploration.
#[derive(Clone, Debug, Default)]
pub struct Exploration {
    /// The groups, in the order in which they were found.
    pub groups: Vec<Group>,
    /// The faults; empty if [`Options::faults`] is not set.
    pub faults: Vec<Fault>,
    /// Runs that were made.
    pub runs: u64,
    /// Those of them that an earlier session had found.
    pub resumed: u64,
    /// Runs whose group was known before: none if everything is exact.
    pub duplicates: u64,
    /// Runs whose conditions do not begin with the queried prefix: none if everything is a branch and exact.
    pub astray: u64,
    /// Number of queries to the solver.
    pub asked: u64,
    /// Queries with a model.
    pub found: u64,
    /// Queries that are unsatisfiable.
    pub impossible: u64,
    /// Queries without an answer.
    pub unknown: u64,
    /// Runs that could not be made, followed or sliced completely; those of a batch that could not be sliced
    /// at all count as one.
    pub lost: u64,
    /// Whether the worklist is empty.
    pub finished: bool,
    /// Total number of conditions in queries.
    pub conditions: u64,
    /// The solvers' work.
    pub statistics: Statistics,
}

impl Exploration {
    /// Whether the groups are complete for inputs of these lengths.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let exact = self.unknown == 0 && self.lost == 0;
        self.finished && exact && self.groups.iter().all(|g| g.fixed.is_empty())
    }
}

/// How to explore.
pub struct Options<'o> {
    /// What distinguishes groups.
    pub by: By,
    /// Which input is followed.
    pub follow: symbolic::Options,
    /// Solvers and their limits.
    pub settings: Settings,
    /// No query begins after this time.
    pub until: Instant,
    /// Returns whether to end the exploration; other threads ask it too.
    pub stop: &'o (dyn Fn() -> bool + Sync),
    /// Called with the number of groups so far.
    pub progress: &'o dyn Fn(usize),
    /// Number of parallel runs.
    pub jobs: usize,
    /// Path of the store, and the hash that identifies its program.
    pub store: Option<(PathBuf, String)>,
    /// Look for inputs that make the program fault as well.
    pub faults: bool,
}

impl Options<'_> {
    pub(crate) fn is_over(&self) -> bool {
        (self.stop)() || Instant::now() >= self.until
    }
}

/// Runs the program under recording with an input.
pub type Run<'r> = &'r (dyn Fn(&Input) -> Result<Rerun> + Sync);

/// Number of prefixes in a batch.
const BATCH: usize = 8;
/// Interval of writing the store.
const STORE_INTERVAL: Duration = Duration::from_secs(10);

/// A run and its conditions, each of which may be negated.
struct ExploredRun {
    input: Input,
    /// The conditions of the query that it answers, then its others.
    held: Vec<Term>,
}

/// A run to make.
struct PlannedRun {
    input: Input,
    answers: Option<Asked>,
}

/// A run that was made and followed.
struct Followed {
    next: PlannedRun,
    rerun: Rerun,
    path: Path,
}

struct Explorer<'e> {
    /// Set when time is up, for analyses that check no clock.
    stop: &'e AtomicBool,
    world: TermContext,
    session: Session,
    options: &'e Options<'e>,
    run: Run<'e>,
    runs: Vec<ExploredRun>,
    worklist: Vec<Asked>,
    /// Prefixes that were queried or are on the worklist.
    seen: HashSet<(u64, u64)>,
    known: HashSet<BTreeSet<Term>>,
    faults: Faults,
    found: Exploration,
    store: Store,
    kept: Instant,
}

/// Explores a program from an input.
///
/// # Errors
/// If the program cannot be run with the first input, or the store cannot be written.
pub fn explore(first: &Input, options: &Options<'_>, run: Run<'_>) -> Result<(Exploration, TermContext)> {
    explore_in(TermContext::default(), first, options, run)
}

/// The same over variables and terms that are known: those of another version, to be compared with.
///
/// # Errors
/// As [`explore`].
pub fn explore_in(
    world: TermContext,
    first: &Input,
    options: &Options<'_>,
    run: Run<'_>,
) -> Result<(Exploration, TermContext)> {
    let (stop, until) = (options.stop, options.until);
    let is_over = move || stop() || Instant::now() >= until;
    with_stop_flag(&is_over, |stop| explore_until(stop, world, first, options, run))
}

fn explore_until(
    stop: &AtomicBool,
    world: TermContext,
    first: &Input,
    options: &Options<'_>,
    run: Run<'_>,
) -> Result<(Exploration, TermContext)> {
    let mut explorer = Explorer {
        stop,
        world,
        session: Session::new(options.settings.clone()),
        options,
        run,
        runs: Vec::new(),
        worklist: Vec::new(),
        seen: HashSet::new(),
        known: HashSet::new(),
        faults: Faults::default(),
        found: Exploration::default(),
        store: Store::default(),
        kept: Instant::now(),
    };
    if let Some((_, program)) = &options.store {
        explorer.store = Store::new(program);
    }
    explorer.begin(first)?;
    explorer.work();
    explorer.keep()?;
    let mut found = explorer.found;
    found.finished = explorer.worklist.is_empty() && explorer.faults.is_done();
    found.faults = explorer.faults.found;
    found.statistics = explorer.session.statistics();
    Ok((found, explorer.world))
}

impl Explorer<'_> {
    /// Makes the first run, and those of an earlier session.
    fn begin(&mut self, first: &Input) -> Result<()> {
        let next = PlannedRun { input: first.clone(), answers: None };
        let followed = self.followed(vec![next]).pop().ok_or(Error::TooLong)??;
        self.add_runs(vec![followed])?;
        if self.runs.is_empty() {
            return Err(Error::NoTime);
        }
        let Some((path, program)) = &self.options.store else { return Ok(()) };
        let kept = Store::open(path, program);
        let is_same = |runs: &[ExploredRun]| {
            let mut pairs = runs.iter().zip(&kept.runs);
            pairs.all(|(known, stored)| known.held.len() == stored.conditions)
        };
        for stored in kept.runs.get(1..).unwrap_or_default().chunks(BATCH) {
            if self.options.is_over() {
                // The stored exploration has more runs than were repeated.
                self.store = kept;
                return Ok(());
            }
            if !is_same(&self.runs) {
                return Ok(());
            }
            let next = |run: &StoredRun| Some(PlannedRun { input: run.input(first)?, answers: run.answers });
            let batch: Vec<PlannedRun> = stored.iter().map_while(next).collect();
            let followed: Vec<Followed> = self.followed(batch).into_iter().map_while(Result::ok).collect();
            let all = followed.len() == stored.len();
            self.found.resumed += followed.len() as u64;
            self.add_runs(followed)?;
            if !all {
                return Ok(());
            }
        }
        if is_same(&self.runs) {
            let answered: HashSet<Asked> = kept.answered.iter().copied().collect();
            self.worklist.retain(|asked| !answered.contains(asked));
            self.store.answered = kept.answered;
        }
        Ok(())
    }

    fn work(&mut self) {
        loop {
            let mut batch = Vec::new();
            while batch.len() < BATCH && !self.options.is_over() {
                let Some(asked) = self.worklist.pop() else { break };
                batch.extend(self.ask(asked));
            }
            if batch.is_empty() && !self.options.is_over() {
                // The worklist is empty: search for faults in code that no run reached.
                batch.extend(self.fault_inputs());
            }
            if batch.is_empty() {
                return;
            }
            let mut followed = Vec::new();
            let answers: Vec<Option<Asked>> = batch.iter().map(|planned| planned.answers).collect();
            for (one, answers) in self.followed(batch).into_iter().zip(answers) {
                match one {
                    Ok(one) => followed.push(one),
                    // Cut off by the end of the time: the query is repeated when the exploration is continued.
                    Err(_) if self.options.is_over() => self.worklist.extend(answers),
                    Err(_) => self.found.lost += 1,
                }
            }
            self.found.lost += self.add_runs(followed).is_err() as u64;
            if self.kept.elapsed() > STORE_INTERVAL {
                let _ = self.keep();
            }
        }
    }

    fn keep(&mut self) -> Result<()> {
        self.kept = Instant::now();
        match &self.options.store {
            Some((path, _)) => self.store.write(path),
            None => Ok(()),
        }
    }

    /// An input that satisfies some terms, close to another one.
    fn solve(&mut self, terms: &[Term], from: &Input) -> Option<Input> {
        self.found.asked += 1;
        self.found.conditions += terms.len() as u64;
        let answer = solved(&mut self.session, &mut self.world, terms, from);
        match answer {
            Ok(Some(_)) => self.found.found += 1,
            Ok(None) => self.found.impossible += 1,
            Err(()) => self.found.unknown += 1,
        }
        answer.ok().flatten()
    }

    fn ask(&mut self, asked: Asked) -> Option<PlannedRun> {
        let terms = self.terms(asked)?;
        let from = self.runs.get(asked.run)?.input.clone();
        let unknown = self.found.unknown;
        let input = self.solve(&terms, &from);
        if input.is_none() && self.found.unknown == unknown {
            self.store.answered.push(asked);
        }
        Some(PlannedRun { input: input?, answers: Some(asked) })
    }

    /// The conditions of a query.
    fn terms(&mut self, asked: Asked) -> Option<Vec<Term>> {
        let held = &self.runs.get(asked.run)?.held;
        let mut terms = held.get(..asked.position)?.to_vec();
        let turned = self.world.pool.not(*held.get(asked.position)?);
        terms.push(turned);
        Some(terms)
    }

    /// Inputs towards code that can fault and that no run reached.
    fn fault_inputs(&mut self) -> Vec<PlannedRun> {
        let mut list = Vec::new();
        while list.len() < BATCH && !self.options.is_over() {
            let Some((terms, from)) = self.faults.next(&mut self.world) else { break };
            if let Some(input) = self.solve(&terms, &from) {
                list.push(PlannedRun { input, answers: None });
            }
        }
        list
    }

    /// Makes runs in parallel, and follows their inputs.
    fn followed(&mut self, batch: Vec<PlannedRun>) -> Vec<Result<Followed>> {
        let follow = symbolic::Options { deadline: Some(self.options.until), ..self.options.follow.clone() };
        let run = self.run;
        let made = parallel_map(batch, self.options.jobs, &|next: PlannedRun| {
            let rerun = run(&next.input);
            (next, rerun)
        });
        let mut list = Vec::new();
        for (next, rerun) in made {
            list.push(rerun.and_then(|rerun| {
                set_values(&mut self.world, &next.input);
                let Rerun { process, recorded, stream, .. } = &rerun;
                let path = symbolic::replay(process, recorded, *stream, &mut self.world, &follow)?;
                Ok(Followed { next, rerun, path })
            }));
        }
        list
    }

    /// Slices runs in parallel, and adds their conditions one by one.
    fn add_runs(&mut self, batch: Vec<Followed>) -> Result<()> {
        let (by, stop) = (self.options.by, self.stop);
        let sliced = parallel_map(batch, self.options.jobs, &|followed: Followed| {
            let relevant = match by {
                By::Output => {
                    relevant::conditions(&followed.rerun.process, followed.rerun.stream, &followed.path, stop)
                }
                By::Path => Ok(Some(RelevantConditions {
                    order: (0..followed.path.conditions.len()).collect(),
                    ..RelevantConditions::default()
                })),
            };
            (followed, relevant)
        });
        let mut first_error = None;
        for (followed, relevant) in sliced {
            match relevant {
                Ok(Some(relevant)) => self.take(&followed, &relevant),
                // The query is repeated when the exploration is continued.
                Ok(None) => self.worklist.extend(followed.next.answers),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    fn take(&mut self, followed: &Followed, relevant: &RelevantConditions) {
        let Followed { next, rerun, path } = followed;
        self.found.runs += 1;
        self.found.lost += u64::from(relevant.cut);
        let ordered: Vec<Condition> = deduplicated(relevant.order.iter().map(|n| path.conditions[*n]));
        let terms: Vec<Term> = ordered.iter().map(|c| c.term).collect();
        let prefix = next.answers.and_then(|asked| self.terms(asked)).unwrap_or_default();
        self.found.astray += u64::from(!terms.starts_with(&prefix));
        let number = self.runs.len();
        let held = self.add_to_worklist(prefix, &ordered, number);
        self.store.runs.push(StoredRun {
            answers: next.answers,
            parts: next.input.parts.values().cloned().collect(),
            conditions: held.len(),
        });
        self.store.answered.extend(next.answers);
        self.runs.push(ExploredRun { input: next.input.clone(), held });
        if self.options.by == By::Output && self.options.faults {
            self.look_for_faults(followed, relevant);
        }
        let key: BTreeSet<Term> = terms.iter().copied().collect();
        if self.known.insert(key) {
            let group = self.group(&next.input, rerun, path, &ordered);
            self.found.groups.push(group);
            (self.options.progress)(self.found.groups.len());
        } else if next.answers.is_some() {
            self.found.duplicates += 1;
        }
    }

    /// Adds the negations of the conditions that are not in the prefix to the worklist: they partition the
    /// inputs that satisfy the prefix. If the conditions begin with the prefix, no input is reached twice.
    fn add_to_worklist(&mut self, prefix: Vec<Term>, ordered: &[Condition], run: usize) -> Vec<Term> {
        let mut name = PrefixHash::default();
        for term in &prefix {
            name.push(*term);
        }
        let had: HashSet<Term> = prefix.iter().copied().collect();
        let mut held = prefix;
        for condition in ordered.iter().filter(|c| !had.contains(&c.term)) {
            if !matches!(condition.kind, Kind::Concretised | Kind::Bounds) {
                let mut turned = name.clone();
                turned.push(self.world.pool.not(condition.term));
                if self.seen.insert(turned.number()) {
                    self.worklist.push(Asked { run, position: held.len() });
                }
            }
            name.push(condition.term);
            held.push(condition.term);
        }
        held
    }

    /// Queries accesses that could leave their object, and divisions that could trap, on the path of a run.
    fn look_for_faults(&mut self, followed: &Followed, relevant: &RelevantConditions) {
        let Followed { next, rerun, path } = followed;
        self.faults.add_run(&next.input, rerun, path, relevant);
        for number in self.faults.questions(path) {
            if self.options.is_over() {
                return;
            }
            let condition = path.conditions[number];
            let mut terms: Vec<Term> = path.conditions[..number].iter().map(|c| c.term).collect();
            terms.push(self.world.pool.not(condition.term));
            let Some(other) = self.solve(&terms, &next.input) else { continue };
            let Ok(run) = (self.run)(&other) else { continue };
            self.found.runs += 1;
            set_values(&mut self.world, &other);
            self.faults.judge(&mut self.world, &self.options.follow, path, number, &other, run);
        }
    }

    fn group(&self, input: &Input, rerun: &Rerun, path: &Path, ordered: &[Condition]) -> Group {
        let outputs = pieces(path);
        let mut fixed: BTreeMap<String, ()> = BTreeMap::new();
        for condition in ordered.iter().filter(|c| c.kind == Kind::Concretised) {
            let why = condition.reason.map(|r| r.to_string()).unwrap_or_default();
            let image = &rerun.process.image;
            let file = condition.at.file(image);
            let name = file.rsplit('/').next().unwrap_or(&file);
            fixed.insert(format!("{name}:{}: {why}", condition.at.place(image).line), ());
        }
        for loss in path.losses.iter().filter(|l| l.reason != Reason::Printed) {
            fixed.insert(loss.reason.to_string(), ());
        }
        let words = ordered.iter().filter(|c| c.kind != Kind::Concretised);
        Group {
            input: input.clone(),
            ended: rerun.ended.clone(),
            condition: words.map(|c| self.world.text(c.term)).collect(),
            output: self.words(path),
            fixed: fixed.into_keys().collect(),
            terms: ordered.iter().map(|c| c.term).collect(),
            written: written(path),
            outputs,
        }
    }

    /// The output of a run as text, with terms in braces.
    fn words(&self, path: &Path) -> String {
        let is_error = |o: &&Output| matches!(&o.sink, Some(Origin::Stream(name, _)) if name == "stderr");
        let (mut said, mut errors) = (Vec::new(), Vec::new());
        for output in &path.outputs {
            of_output(output, if is_error(&output) { &mut errors } else { &mut said });
        }
        let mut text = self.quoted(&said);
        if !errors.is_empty() {
            text += &format!(", standard error {}", self.quoted(&errors));
        }
        match (path.status.map(|term| self.world.text(term)), path.end) {
            (Some(term), _) => text += &format!(", exit {{{term}}}"),
            (None, Some(End::Exit { status: 0 })) => {}
            (None, Some(End::Exit { status })) => text += &format!(", exit {}", status & 0xff),
            (None, Some(End::Crash { signal, .. })) => text += &format!(", signal {signal}"),
            (None, _) => {}
        }
        text
    }

    fn quoted(&self, pieces: &[Piece]) -> String {
        let of = |piece: &Piece| match piece {
            Piece::Text(bytes) => bytes.escape_ascii().to_string(),
            Piece::Byte(term) | Piece::Number(term, _) | Piece::Status(term) => {
                format!("{{{}}}", self.world.text(*term))
            }
        };
        format!("\"{}\"", pieces.iter().map(of).collect::<String>())
    }
}

/// An input that satisfies some terms, close to another input. `None` if the terms are unsatisfiable;
/// an error if the solver gives no answer.
pub(crate) fn solved(
    session: &mut Session,
    world: &mut TermContext,
    terms: &[Term],
    from: &Input,
) -> std::result::Result<Option<Input>, ()> {
    set_values(world, from);
    let terms = with_lengths(world, terms);
    let TermContext { pool, variables } = world;
    match session.solve(pool, &terms, &|v| variables.value(v)) {
        Ok(Outcome::Sat(model)) => {
            let value = |v: u32| model.value(v, world.variables.value(v));
            Ok(Some(with_values(from, world, &value)))
        }
        Ok(Outcome::Unsat) => Ok(None),
        Ok(Outcome::Unknown(_)) | Err(_) => Err(()),
    }
}

/// Adds the condition that arguments and environment variables keep their lengths: a zero byte would
/// end them.
fn with_lengths(world: &mut TermContext, terms: &[Term]) -> Vec<Term> {
    let TermContext { pool, variables } = world;
    let used: BTreeSet<u32> = terms.iter().flat_map(|t| pool.variables(*t).into_owned()).collect();
    let mut all = terms.to_vec();
    for number in used {
        let variable = variables.list.get(number as usize);
        let origin = variable.and_then(|v| variables.origins.get(v.origin as usize));
        if matches!(origin, Some(Origin::Argument(_) | Origin::Environment(_))) {
            let (byte, zero) = (pool.variable(number, 8), pool.constant(8, 0));
            let ends = pool.binary(Binary::Eq, byte, zero);
            all.push(pool.not(ends));
        }
    }
    all
}

/// Each term once, at its first position.
fn deduplicated(conditions: impl Iterator<Item = Condition>) -> Vec<Condition> {
    let mut seen = HashSet::new();
    conditions.filter(|c| seen.insert(c.term)).collect()
}

/// The same by where they go.
fn written(path: &Path) -> BTreeMap<Option<Origin>, Vec<Piece>> {
    let mut written: BTreeMap<Option<Origin>, Vec<Piece>> = BTreeMap::new();
    for output in &path.outputs {
        of_output(output, written.entry(output.sink.clone()).or_default());
    }
    written
}

/// The outputs of a run, as text and terms.
#[must_use]
pub fn pieces(path: &Path) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for output in &path.outputs {
        of_output(output, &mut pieces);
    }
    pieces.extend(path.status.map(Piece::Status));
    pieces
}

fn of_output(output: &Output, pieces: &mut Vec<Piece>) {
    let mut at = 0;
    while at < output.bytes.len() {
        let here = at as u32;
        let number = output.printed.iter().find(|n| n.range.start == here && !n.range.is_empty());
        if let Some(number) = number {
            pieces.push(Piece::Number(number.term, number.conversion.clone()));
            at = number.range.end as usize;
            continue;
        }
        match output.terms.iter().find(|(place, _)| *place == here) {
            Some((_, term)) => pieces.push(Piece::Byte(*term)),
            None => match pieces.last_mut() {
                Some(Piece::Text(bytes)) => bytes.push(output.bytes[at]),
                _ => pieces.push(Piece::Text(vec![output.bytes[at]])),
            },
        }
        at += 1;
    }
}

/// Sets the variables to the values of an input.
fn set_values(world: &mut TermContext, input: &Input) {
    let variables = &mut world.variables;
    for variable in &mut variables.list {
        let origin = variables.origins.get(variable.origin as usize);
        let bytes = origin.and_then(|o| input.parts.get(o));
        if let Some(byte) = bytes.and_then(|b| b.get(variable.offset as usize)) {
            variable.value = *byte;
        }
    }
}

/// A hash of a list of terms: 128 bits, so that collisions are improbable.
#[derive(Clone)]
struct PrefixHash(DefaultHasher, DefaultHasher);

impl Default for PrefixHash {
    fn default() -> PrefixHash {
        let mut other = DefaultHasher::new();
        1_u8.hash(&mut other);
        PrefixHash(DefaultHasher::new(), other)
    }
}

impl PrefixHash {
    fn push(&mut self, term: Term) {
        term.hash(&mut self.0);
        term.hash(&mut self.1);
    }

    fn number(&self) -> (u64, u64) {
        (self.0.finish(), self.1.finish())
    }
}

/// Maps a function over a list with several threads, preserving the order.
fn parallel_map<T: Send, R: Send>(list: Vec<T>, jobs: usize, make: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
    if jobs <= 1 || list.len() <= 1 {
        return list.into_iter().map(make).collect();
    }
    let workers = jobs.min(list.len());
    let made: Mutex<Vec<Option<R>>> = Mutex::new(list.iter().map(|_| None).collect());
    let left = Mutex::new(list.into_iter().enumerate());
    let next = || left.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((number, thing)) = next() {
                    let result = make(thing);
                    made.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[number] = Some(result);
                }
            });
        }
    });
    let made = made.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    made.into_iter().flatten().collect()
}

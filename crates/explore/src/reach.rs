//! The solver worker: generational search towards the changes, and queries about differences.
//!
//! Every input is recorded with both versions and followed. Its conditions are negated one by one, first
//! those whose other edge is closest to a change that no run has reached yet (or, after a change, closest to
//! it). Models are run, followed and expanded in turn. Each path prefix with a negated condition is queried
//! once. Where a query has no model because of earlier branches, it is repeated with only those that the
//! branch depends on, and then without any. These are heuristics, but the program is run with every model
//! anyway.

use crate::changed::{BranchEdge, Changed, Code};
use crate::distance::Distances;
use crate::follow::{Followed, prefixes};
use crate::fuzz::run_candidate;
use crate::pairs::Signatures;
use crate::propagate::{self, Question};
use crate::relevant;
use crate::shared::{FoundBy, Seed, Shared};
use crate::subject::Subject;
use crate::versions::Versions;
use alternate::{Both, Rerun, Side};
use changes::ChangeId;
use solver::{Outcome, Session, Settings, Statistics, Term};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use symbolic::{Imprecision, Input, Kind, Origin, Reason};

/// Counts of solver results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Answers {
    /// Number of queries.
    pub asked: u64,
    /// A model was found.
    pub found: u64,
    /// The query is unsatisfiable.
    pub impossible: u64,
    /// The solver timed out or failed.
    pub unknown: u64,
}

/// The progress of the search, per change.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Changes that some recorded run reached.
    pub reached: BTreeSet<ChangeId>,
    /// Changes that affected values or branches of some recorded run.
    pub infected: BTreeSet<ChangeId>,
    /// The edges that recorded runs took of branches in functions with changes.
    pub branch_edges: Both<BTreeSet<BranchEdge>>,
    /// By which exposure, counted from 0.
    pub exposed: BTreeMap<ChangeId, usize>,
    /// The changes that each examined exposure exposes.
    pub of: BTreeMap<usize, Vec<ChangeId>>,
    /// The results of the queries.
    pub answers: Answers,
    /// Number of recorded runs, of either version.
    pub recorded: u64,
    /// Values that were concretised because their users are not followed.
    pub fixed: u64,
    /// Number of omissions: runs that could not be followed, queries without an answer.
    pub gaps: u64,
    /// Why some run could not be followed.
    pub not_followed: Option<String>,
    /// What the versions compute, group by group.
    pub signatures: Signatures,
    /// All edges not taken by any input have been queried.
    pub exhausted: bool,
    /// The solvers' work.
    pub solver: Statistics,
}

/// The inputs of the solver worker.
pub struct SolverWorker<'r> {
    /// The programs that inputs are for.
    pub subjects: &'r [Subject],
    /// Both versions, built.
    pub versions: &'r Versions,
    /// The changes, located in both versions.
    pub changed: &'r Changed,
    /// The pool of inputs, and where exposures go.
    pub shared: &'r Shared,
    /// Solvers and their limits.
    pub settings: &'r Settings,
    /// The start of the search, from which the time of an exposure counts.
    pub began: Instant,
    /// No query begins after this time.
    pub until: Instant,
    /// Set to end the work early.
    pub stop: &'r AtomicBool,
    /// Set when the search is over, for analyses that check no clock.
    pub over: &'r AtomicBool,
    /// Continue when every change is exposed.
    pub continue_when_exposed: bool,
}

/// A condition to negate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NegationTask {
    /// A min-heap by distance, then by age.
    order: std::cmp::Reverse<(u32, u64)>,
    /// The distance without the penalty for branches that were negated often.
    distance: u32,
    followed_input: usize,
    side: usize,
    condition: usize,
}

impl NegationTask {
    fn side(&self) -> Side {
        if self.side == Side::Old as usize { Side::Old } else { Side::New }
    }
}

struct FollowedInput {
    seed: Seed,
    followed: Followed,
    turned: Both<Vec<(u64, u64)>>,
}

/// Weight of the distance: a branch that is one decision closer is negated this many times before another.
const DISTANCE_WEIGHT: u32 = 8;
/// The distance of an edge from which no change is reachable.
const FAR: u32 = 1000;
/// Maximum distance of an edge after a change.
const MAX_DISTANCE_AFTER_CHANGE: u32 = 3;
/// Maximum number of inputs that are kept for negating conditions.
const MAX_FOLLOWED: usize = 1000;
/// Maximum number of conditions of one path that are negated; later ones are reached through these.
const MAX_NEGATIONS: usize = 5000;
/// Maximum number of terms that are kept: about a GiB.
const MAX_TERMS: usize = 10_000_000;
/// How long after the deadline exposures may still be attributed to changes.
const ATTRIBUTION_TIME: Duration = Duration::from_secs(5);
/// One in this many iterations is for inputs of the mutation worker.
const MUTATION_SHARE: u64 = 4;

struct SolverSearch<'w, 'r> {
    with: &'w SolverWorker<'r>,
    progress: Progress,
    followed_input: Vec<FollowedInput>,
    negations: BinaryHeap<NegationTask>,
    seen: HashSet<u64>,
    tried: HashSet<Vec<(symbolic::Origin, Vec<u8>)>>,
    /// How often each branch was negated.
    negation_count: HashMap<(Side, u32, u32, u32), u32>,
    distances: Both<Distances>,
    /// The changes for which the distances are computed.
    target_changes: BTreeSet<ChangeId>,
    session: Option<(usize, Session)>,
    count: u64,
    round: u64,
    /// Total number of terms of all kept inputs.
    terms: usize,
    /// Models that have not been followed yet.
    own_models: VecDeque<Seed>,
    attributed: usize,
}

impl SolverWorker<'_> {
    /// Works until the search is over, or no query is left.
    #[must_use]
    pub fn work(&self) -> Progress {
        let mut worker = SolverSearch {
            with: self,
            progress: Progress::default(),
            followed_input: Vec::new(),
            negations: BinaryHeap::new(),
            seen: HashSet::new(),
            tried: HashSet::new(),
            negation_count: HashMap::new(),
            distances: Both::default(),
            target_changes: BTreeSet::new(),
            session: None,
            count: 0,
            round: 0,
            terms: 0,
            own_models: VecDeque::new(),
            attributed: 0,
        };
        worker.run();
        worker.attribute();
        worker.leave();
        worker.progress
    }
}

impl SolverSearch<'_, '_> {
    fn run(&mut self) {
        while !self.with.shared.is_over(self.with.until, self.with.stop) {
            self.attribute();
            if !self.with.continue_when_exposed && self.all_exposed() {
                self.with.shared.done.store(true, Ordering::Relaxed);
                return;
            }
            self.round += 1;
            // Models are followed first. Inputs of the mutation worker alternate with queries, or they would
            // leave no time for them.
            let theirs = self.negations.is_empty() || self.round.is_multiple_of(MUTATION_SHARE);
            let next = self
                .own_models
                .pop_front()
                .or_else(|| theirs.then(|| self.with.shared.next_to_follow()).flatten());
            if let Some(seed) = next {
                self.progress.exhausted = false;
                self.study(seed);
            } else if let Some(turn) = self.next_negation() {
                self.turn(turn);
            } else {
                self.progress.exhausted = true;
                // The mutation worker continues, and may find an input to follow.
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    fn all_exposed(&self) -> bool {
        let wanted = self.with.changed.list.iter().filter(|id| !self.with.changed.without_code.contains(id));
        let mut any = false;
        let all = wanted.inspect(|_| any = true).all(|id| self.progress.exposed.contains_key(id));
        any && all
    }

    /// Attributes new exposures to changes.
    fn attribute(&mut self) {
        let new = self.with.shared.exposures(self.attributed);
        for exposure in new {
            // The last ones may come late, but not without limit.
            let deadline = self.with.until + ATTRIBUTION_TIME;
            if self.with.stop.load(Ordering::Relaxed) || Instant::now() > deadline {
                return;
            }
            let number = self.attributed;
            self.attributed += 1;
            let Some(followed) = self.followed(&exposure.seed, deadline) else { continue };
            let of = changes_of(&followed);
            for id in &of {
                self.progress.exposed.entry(*id).or_insert(number);
            }
            self.progress.of.insert(number, of);
        }
    }

    fn followed(&mut self, seed: &Seed, deadline: Instant) -> Option<Followed> {
        let subject = self.with.subjects.get(seed.subject)?;
        let followed = Followed::new(subject, &seed.input, self.with.versions, self.with.changed, deadline);
        let followed = match followed {
            Ok(followed) => followed,
            Err(error) => {
                self.progress.gaps += 1;
                if !self.with.shared.is_over(self.with.until, self.with.stop) {
                    self.progress.not_followed.get_or_insert(error.to_string());
                }
                return None;
            }
        };
        self.progress.recorded += 2;
        let (old, new) = (&followed.traces.old, &followed.traces.new);
        self.progress.reached.extend(old.reached.iter().chain(&new.reached));
        self.progress.infected.extend(old.infected(new).into_keys());
        self.progress.branch_edges.old.extend(old.branch_edges.iter().cloned());
        self.progress.branch_edges.new.extend(new.branch_edges.iter().cloned());
        Some(followed)
    }

    fn study(&mut self, seed: Seed) {
        let parts: Vec<_> = seed.input.parts.clone().into_iter().collect();
        if !self.tried.insert(parts) {
            return;
        }
        if self.followed_input.len() >= MAX_FOLLOWED || self.terms >= MAX_TERMS {
            self.progress.gaps += 1;
            return;
        }
        let Some(mut followed) = self.followed(&seed, self.with.until) else { return };
        if self.distances_needed() {
            self.measure(&seed);
        }
        for side in [Side::Old, Side::New] {
            let path = followed.paths.of(side);
            let fixed = path.conditions.iter().filter(|c| c.kind == Kind::Concretised).count();
            self.progress.fixed += fixed as u64;
            self.progress.gaps += u64::from(path.conditions.len() > MAX_NEGATIONS);
            let lost = |l: &&Imprecision| l.reason != Reason::Printed;
            self.progress.gaps += path.losses.iter().filter(lost).count() as u64;
        }
        let number = self.followed_input.len();
        let turned = Both {
            old: prefixes(Side::Old, &followed.paths.old),
            new: prefixes(Side::New, &followed.paths.new),
        };
        for (own, _) in turned.old.iter().chain(&turned.new) {
            self.seen.insert(*own);
        }
        // A condition that both versions have is examined on one side only.
        let outputs = propagate::outputs(&mut followed);
        let branches = propagate::branches(&mut followed);
        let theirs = followed.terms(Side::New);
        for side in [Side::New, Side::Old] {
            let first = followed.traces.of(side).first;
            for (n, condition) in followed.paths.of(side).conditions.iter().enumerate().take(MAX_NEGATIONS) {
                let decides = !matches!(condition.kind, Kind::Concretised | Kind::Bounds);
                if !decides || condition.repeated || side == Side::Old && theirs.contains(&condition.term) {
                    continue;
                }
                let behind = first.is_some_and(|step| condition.at.step > step);
                let distance = followed.distance(side, n, self.distances.of(side));
                let distance =
                    distance.unwrap_or(FAR).min(if behind { MAX_DISTANCE_AFTER_CHANGE } else { FAR });
                self.count += 1;
                let order = std::cmp::Reverse((distance * DISTANCE_WEIGHT, self.count));
                self.negations.push(NegationTask {
                    order,
                    distance,
                    followed_input: number,
                    side: side as usize,
                    condition: n,
                });
            }
        }
        self.terms += followed.world.pool.len();
        self.followed_input.push(FollowedInput { seed, followed, turned });
        let (mut of_outputs, questions) = (outputs.is_some(), outputs.into_iter().chain(branches));
        for question in questions {
            if self.with.shared.is_over(self.with.until, self.with.stop) {
                return;
            }
            // If the outputs can differ on these paths but do not with the model's input, nothing is
            // proven.
            let found = self.answer(number, &question);
            self.progress.gaps += u64::from(found && std::mem::take(&mut of_outputs));
            of_outputs = false;
        }
    }

    fn distances_needed(&self) -> bool {
        self.target_changes.is_empty() || !self.target_changes.is_disjoint(&self.progress.reached)
    }

    /// Computes the distances to the changes that no run has reached yet.
    fn measure(&mut self, seed: &Seed) {
        let all: BTreeSet<ChangeId> = self.with.changed.list.iter().copied().collect();
        let missing: BTreeSet<ChangeId> = all.difference(&self.progress.reached).copied().collect();
        let target_changes = if missing.is_empty() { all } else { missing };
        if target_changes == self.target_changes {
            return;
        }
        self.target_changes = target_changes;
        let Some(subject) = self.with.subjects.get(seed.subject) else { return };
        for side in [Side::Old, Side::New] {
            let Ok(Rerun { process, .. }) = subject.record(side, &seed.input) else { continue };
            let tree = self.with.versions.builds.of(side).recorded.tree();
            let code = Code { image: &process.image, tree };
            let is_target =
                |module: &program::model::Module, function: &program::model::Function, n: usize| {
                    let place = function.place(n);
                    let line = code.line(module, place.file, place.line);
                    let at = line.map(|line| self.with.changed.at(side, &line)).unwrap_or_default();
                    at.iter().any(|id| self.target_changes.contains(id))
                };
            let distances = Distances::new(&process.image, &is_target);
            match side {
                Side::Old => self.distances.old = distances,
                Side::New => self.distances.new = distances,
            }
        }
    }

    /// The next condition to negate whose other edge no run has taken and no query has covered.
    fn next_negation(&mut self) -> Option<NegationTask> {
        while let Some(turn) = self.negations.pop() {
            let followed_input = self.followed_input.get(turn.followed_input)?;
            let side = turn.side();
            let condition = followed_input.followed.paths.of(side).conditions[turn.condition];
            if self.seen.contains(&followed_input.turned.of(side)[turn.condition].1) {
                continue;
            }
            let place = (side, condition.at.module, condition.at.function, condition.at.index);
            let negation_count = self.negation_count.entry(place).or_default();
            let std::cmp::Reverse((due, count)) = turn.order;
            let now_due = turn.distance * DISTANCE_WEIGHT + *negation_count;
            if now_due > due {
                let order = std::cmp::Reverse((now_due, count));
                self.negations.push(NegationTask { order, ..turn });
                continue;
            }
            *negation_count += 1;
            return Some(turn);
        }
        None
    }

    fn turn(&mut self, turn: NegationTask) {
        let side = turn.side();
        let Some(followed_input) = self.followed_input.get(turn.followed_input) else { return };
        let path = followed_input.followed.paths.of(side);
        let condition = path.conditions[turn.condition];
        let (_, name) = followed_input.turned.of(side)[turn.condition];
        self.seen.insert(name);
        let mut terms: Vec<Term> = path.conditions[..turn.condition].iter().map(|c| c.term).collect();
        let free = path.conditions[..turn.condition].iter().filter(|c| c.kind != Kind::Concretised);
        let mut free: Vec<Term> = free.map(|c| c.term).collect();
        let followed_input = &mut self.followed_input[turn.followed_input];
        let goal = followed_input.followed.world.pool.not(condition.term);
        terms.push(goal);
        free.push(goal);
        let relaxed = (free.len() < terms.len()).then_some(free);
        let near = turn.distance < FAR;
        let found = self.answer(turn.followed_input, &Question { terms, relaxed });
        if found || !near {
            return;
        }
        // Earlier branches that this one does not depend on may contradict its negation.
        let correlated =
            self.correlated(&turn, goal).is_some_and(|terms| self.ask(turn.followed_input, &terms));
        if !correlated {
            self.ask(turn.followed_input, &[goal]);
        }
    }

    /// The query for a branch with only those earlier conditions that are in its relevant slice: they
    /// determine that it is executed, and its operands. `None` if these are all or none of them.
    fn correlated(&self, turn: &NegationTask, goal: Term) -> Option<Vec<Term>> {
        let followed_input = self.followed_input.get(turn.followed_input)?;
        let subject = self.with.subjects.get(followed_input.seed.subject)?;
        let path = followed_input.followed.paths.of(turn.side());
        let rerun = subject.record(turn.side(), &followed_input.seed.input).ok()?;
        let needed =
            relevant::needed_by(&rerun.process, rerun.stream, path, turn.condition, self.with.over).ok()?;
        if needed.is_empty() || needed.len() == turn.condition {
            return None;
        }
        Some(needed.into_iter().map(|n| path.conditions[n].term).chain([goal]).collect())
    }

    /// Solves a query and tries the model. Returns whether there was one.
    fn answer(&mut self, number: usize, question: &Question) -> bool {
        self.ask(number, &question.terms)
            || question.relaxed.as_ref().is_some_and(|terms| self.ask(number, terms))
    }

    fn ask(&mut self, number: usize, terms: &[Term]) -> bool {
        if self.session.as_ref().is_none_or(|(of, _)| *of != number) {
            self.leave();
            self.session = Some((number, Session::new(self.with.settings.clone())));
        }
        let Some((_, session)) = &mut self.session else { return false };
        let Some(followed_input) = self.followed_input.get_mut(number) else { return false };
        let world = &mut followed_input.followed.world;
        let variables = &world.variables;
        let answers = &mut self.progress.answers;
        answers.asked += 1;
        let model = match session.solve(&mut world.pool, terms, &|v| variables.value(v)) {
            Ok(Outcome::Sat(model)) => model,
            Ok(Outcome::Unsat) => {
                answers.impossible += 1;
                return false;
            }
            Ok(Outcome::Unknown(_)) | Err(_) => {
                answers.unknown += 1;
                self.progress.gaps += 1;
                return false;
            }
        };
        answers.found += 1;
        let followed = &followed_input.followed;
        let value = |v: u32| model.value(v, followed.world.variables.value(v));
        let mut input = followed.with(&value);
        end_at_zero(&mut input);
        let seed = Seed { subject: followed_input.seed.subject, input };
        let with = self.with;
        if run_candidate(with.subjects, with.shared, &seed, FoundBy::Solver, with.began).is_some() {
            with.shared.add(&seed);
            self.own_models.push_back(seed);
        }
        true
    }

    fn leave(&mut self) {
        if let Some((_, session)) = self.session.take() {
            let more = session.statistics();
            let all = &mut self.progress.solver;
            all.queries += more.queries;
            all.solved += more.solved;
            all.internal += more.internal;
            all.enumerated += more.enumerated;
            all.moved += more.moved;
            all.unknown += more.unknown;
            all.solver_time += more.solver_time;
            all.internal_time += more.internal_time;
        }
    }
}

/// Truncates an argument at the first zero byte of a model: no argument can contain one.
fn end_at_zero(input: &mut Input) {
    for (origin, bytes) in &mut input.parts {
        let zero = bytes.iter().position(|b| *b == 0);
        if let (Origin::Argument(_) | Origin::Environment(_), Some(at)) = (origin, zero) {
            bytes.truncate(at);
        }
    }
}

/// The changes that a difference is attributed to: those that affected values first, because others may
/// only differ in consequence; or else all that ran.
fn changes_of(followed: &Followed) -> Vec<ChangeId> {
    let (old, new) = (&followed.traces.old, &followed.traces.new);
    let infected = old.infected(new);
    match infected.values().min() {
        Some(first) => infected.iter().filter(|(_, at)| *at == first).map(|(id, _)| *id).collect(),
        None => old.reached.union(&new.reached).copied().collect(),
    }
}

//! Passing runs from negated branches of the failing one.
//!
//! Path generation: branches that depend on input are negated in the order of the differences they make
//! ([`crate::toggles`]), conditions that are not control dependent on them are kept, and a solver is queried
//! for an input. A solver only proposes: the program runs with every model, and the test decides whether it
//! passes. The conditions after a negated branch are known from the failing run only, so the actual path of
//! the new run is compared like that of any other run.
//!
//! A second round keeps only the conditions before a negated branch, for programs whose later conditions
//! depend on values that the other direction changes.

use crate::branches::stream_at;
use crate::inputs::ReplaceableInputs;
use crate::pool::{self, Outcome, Reference, RunContext};
use crate::toggles::{Continuation, Region, enumerate};
use crate::{Error, Result};
use program::cfg::{Dominators, Graph};
use program::inst::Inst;
use recording::Process;
use replay::machine::Machine;
use replay::observer::{Observer, View};
use replay::process::LoadedProcess;
use solver::{Session, Settings, Term};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};
use symbolic::{Input, Kind, Origin, TermContext};

/// Maximum number of branches that are negated, those nearest to the failure.
const MAX_BRANCHES: usize = 400;
/// The share of the time for the first round.
const FIRST_ROUND: f64 = 0.6;

/// Statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GenerationStats {
    /// Number of queries to a solver, without those that only prune.
    pub asked: u32,
    /// Number of queries with the answer that no input exists.
    pub infeasible: u32,
    /// Number of runs with an input of the solver.
    pub run: u32,
}

/// A condition of the failing path.
struct Condition {
    term: Term,
    step: u64,
    /// Its region, if it can be negated.
    region: Option<Region>,
}

/// Searches for a passing run until the deadline of `means`.
///
/// # Errors
/// If the failing run does not replay, or runs cannot be made.
pub fn generate(
    recorded: &Process,
    reference: &Reference<'_>,
    until: u64,
    inputs: &mut ReplaceableInputs,
    settings: &Settings,
    means: &RunContext<'_>,
) -> Result<(Outcome, Vec<crate::test::Test>, GenerationStats)> {
    let mut world = TermContext::default();
    let path = symbolic::replay(
        reference.process,
        recorded,
        stream_at(reference.process, reference.stream)?.number,
        &mut world,
        &symbolic::Options::default(),
    )?;
    let regions = regions(reference.process, reference.stream)?;
    let conditions: Vec<Condition> = path
        .conditions
        .iter()
        .filter(|condition| condition.at.step <= until)
        .map(|condition| {
            let turned = matches!(condition.kind, Kind::Branch | Kind::Switch) && !condition.repeated;
            let region = regions.get(&condition.at.step).copied().filter(|_| turned);
            Condition { term: condition.term, step: condition.at.step, region }
        })
        .collect();
    let mut branches: Vec<usize> =
        (0..conditions.len()).filter(|n| conditions[*n].region.is_some()).collect();
    branches.drain(..branches.len().saturating_sub(MAX_BRANCHES));
    let mut search = Search {
        recorded,
        reference,
        inputs,
        means,
        world,
        session: Session::new(settings.clone()),
        conditions,
        seen: Default::default(),
        tests: Vec::new(),
        outcome: Outcome::default(),
        tried: GenerationStats::default(),
        error: None,
    };
    let now = Instant::now();
    let first = now + means.until.saturating_duration_since(now).mul_f64(FIRST_ROUND);
    search.round(&branches, first, true);
    if search.outcome.best().is_none() {
        search.round(&branches, means.until, false);
    }
    match search.error {
        Some(error) => Err(error),
        None => Ok((search.outcome, search.tests, search.tried)),
    }
}

struct Search<'s, 'f> {
    recorded: &'s Process,
    reference: &'s Reference<'f>,
    inputs: &'s mut ReplaceableInputs,
    means: &'s RunContext<'f>,
    world: TermContext,
    session: Session,
    conditions: Vec<Condition>,
    /// Inputs that were run.
    seen: std::collections::HashSet<Vec<(Origin, Vec<u8>)>>,
    tests: Vec<crate::test::Test>,
    outcome: Outcome,
    tried: GenerationStats,
    error: Option<Error>,
}

impl Search<'_, '_> {
    fn round(&mut self, branches: &[usize], until: Instant, keep_later: bool) {
        let list: Vec<Region> = branches.iter().filter_map(|n| self.conditions[*n].region).collect();
        enumerate(&list, &mut |set| {
            if Instant::now() >= until || self.means.is_stopped() {
                return Continuation::Stop;
            }
            let turned: Vec<usize> = set.iter().map(|at| branches[*at]).collect();
            match self.turn(&turned, keep_later) {
                Ok(_) if self.outcome.best().is_some() => Continuation::Stop,
                // Conditions after the negated branches are free, so a second negated branch is unnecessary.
                Ok(_) if !keep_later => Continuation::Prune,
                Ok(next) => next,
                Err(error) => {
                    self.error = Some(error);
                    Continuation::Stop
                }
            }
        });
    }

    /// Queries for an input that negates these branches, and runs it.
    fn turn(&mut self, turned: &[usize], keep_later: bool) -> Result<Continuation> {
        let Some(&first) = turned.first() else { return Ok(Continuation::Prune) };
        let depends = |step: u64| {
            turned.iter().any(|n| self.conditions[*n].region.is_some_and(|region| region.holds(step)))
        };
        let mut before = Vec::new();
        let mut behind = Vec::new();
        for (n, condition) in self.conditions.iter().enumerate() {
            if turned.contains(&n) {
                behind.push(self.world.pool.not(condition.term));
            } else if n < first {
                before.push(condition.term);
            } else if keep_later && !depends(condition.step) {
                behind.push(condition.term);
            }
        }
        let TermContext { pool, variables } = &mut self.world;
        let given = |variable: u32| variables.value(variable);
        self.tried.asked += 1;
        let all: Vec<Term> = before.iter().chain(&behind).copied().collect();
        // An error of a solver affects this query only.
        let model = match self.session.solve(pool, &all, &given) {
            Ok(solver::Outcome::Sat(model)) => model,
            Ok(solver::Outcome::Unsat) => {
                self.tried.infeasible += 1;
                // Suffix pruning: negating an earlier branch does not affect the conditions after it.
                let never = matches!(self.session.solve(pool, &behind, &given), Ok(solver::Outcome::Unsat));
                return Ok(if never { Continuation::Prune } else { Continuation::Deeper });
            }
            _ => return Ok(Continuation::Deeper),
        };
        let variables = &self.world.variables;
        let value = |variable: u32| model.value(variable, variables.value(variable));
        let input = Input::with(&self.world, &self.recorded.info, &value);
        self.run(&input)?;
        Ok(Continuation::Deeper)
    }

    fn run(&mut self, input: &Input) -> Result<()> {
        let mut changed: Vec<(Origin, Vec<u8>)> = Vec::new();
        for (origin, bytes) in &input.parts {
            match self.inputs.parts.iter().find(|(known, _)| known == origin) {
                Some((_, old)) if old == bytes => {}
                Some(_) => changed.push((origin.clone(), bytes.clone())),
                // It would have to change a part that cannot be replaced.
                None => {
                    let same =
                        Input::with(&self.world, &self.recorded.info, &|v| self.world.variables.value(v));
                    if same.parts.get(origin) != Some(bytes) {
                        return Ok(());
                    }
                }
            }
        }
        if changed.is_empty() || !self.seen.insert(changed.clone()) {
            return Ok(());
        }
        let what: Vec<String> = changed.iter().map(|(origin, bytes)| said(origin, bytes)).collect();
        let test = self.inputs.test(&changed, what.join(", "))?;
        let name = format!("generated-{}", self.tests.len());
        let outcome =
            pool::choose(std::slice::from_ref(&test), &name, self.reference, self.means, &|_, _| {})?;
        self.tried.run += 1;
        let number = self.tests.len();
        self.tests.push(test);
        self.outcome.add(outcome, number);
        Ok(())
    }
}

/// A description of an input part, as `stdin "3 4"`.
fn said(origin: &Origin, bytes: &[u8]) -> String {
    const MOST: usize = 60;
    let text: String = bytes.escape_ascii().to_string().chars().take(MOST).collect();
    format!("{} \"{text}\"", origin.name())
}

/// The regions of all branch instances of a stream, by step.
fn regions(process: &LoadedProcess, stream: u32) -> Result<HashMap<u64, Region>> {
    let loaded = stream_at(process, stream)?;
    let mut walker = Regions::default();
    Machine::new(&process.image, &loaded.stream).run(&mut walker, u64::MAX)?;
    for (step, ..) in walker.open.drain(..) {
        walker.found.insert(step, Region { from: step, to: u64::MAX });
    }
    Ok(walker.found)
}

#[derive(Default)]
struct Regions {
    post: BTreeMap<(u32, u32), Rc<Dominators>>,
    /// Branches whose region is still open: step, depth, and the immediate post-dominator.
    open: Vec<(u64, u32, Option<u32>)>,
    found: HashMap<u64, Region>,
}

impl Regions {
    fn close(&mut self, at: u64, done: impl Fn(u32, Option<u32>) -> bool) {
        while let Some((step, ..)) = self.open.pop_if(|(_, depth, meet)| done(*depth, *meet)) {
            self.found.insert(step, Region { from: step, to: at });
        }
    }
}

impl Observer for Regions {
    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        let here = view.depth;
        // Regions in functions that have returned since.
        self.close(view.count, |depth, _| depth > here);
        if matches!(view.inst(), Inst::Branch { .. } | Inst::Switch { .. }) {
            let key = (view.code.module, view.code.function);
            let post =
                self.post.entry(key).or_insert_with(|| Rc::new(Graph::of(view.function()).post_dominators()));
            let meet = post.immediate(from);
            self.open.push((view.count, here, meet));
        }
        self.close(view.count + 1, |depth, meet| depth == here && meet == Some(to));
    }

    fn returned(&mut self, view: &View<'_>) {
        let here = view.depth;
        self.close(view.count, |depth, _| depth > here);
    }
}

/// Timeout of one query: there are many.
pub const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

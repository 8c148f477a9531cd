//! The facts about a run's path: its conditions, and further decisions that are treated like conditions.

use crate::error::Error;
use crate::options::Predicates;
use crate::predicates::PredicateObserver;
use crate::run::Run;
use crate::side::Side;
use program::inst::{Inst, Ty};
use recording::Process;
use replay::process::LoadedProcess;
use solver::Term;
use std::time::Instant;
use symbolic::{At, Kind, Path, Site, StepObserver, SymbolicState, TermContext};

/// The kind of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// A condition of the path.
    Condition(Kind),
    /// A `select` instruction, which the compiler may have made from a branch.
    Choice,
    /// A predicate that the program does not test, as text.
    Predicate(String),
}

impl FactKind {
    /// The name of the kind.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            FactKind::Condition(kind) => kind.name(),
            FactKind::Choice => "choice",
            FactKind::Predicate(_) => "predicate",
        }
    }

    /// Whether the path itself changes if it is decided differently. Such a fact can be checked in a
    /// recording without symbolic replay.
    pub(crate) fn is_jump(&self) -> bool {
        matches!(self, FactKind::Condition(Kind::Branch | Kind::Switch))
    }

    /// Whether it is a decision.
    pub(crate) fn decides(&self, libraries: bool) -> bool {
        match self {
            FactKind::Condition(Kind::Bounds | Kind::Concretised) => false,
            FactKind::Condition(Kind::External) => libraries,
            _ => true,
        }
    }
}

/// A truth value over the input that holds on the run.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub term: Term,
    pub at: At,
    /// Where the decision was computed: `at`, or an earlier comparison.
    pub site: Site,
    pub what: FactKind,
    /// The concrete value of a choice or predicate. The term is true in either case.
    pub holds: bool,
    /// Whether the same term was a fact before.
    pub repeated: bool,
}

/// All facts of a run, in execution order.
pub(crate) struct Facts {
    pub list: Vec<Fact>,
    pub path: Path,
}

impl Facts {
    /// Whether it contains a decision.
    pub fn any_decision(&self, libraries: bool) -> bool {
        self.list.iter().any(|f| f.what.decides(libraries))
    }

    /// Number of values that were concretised because their users are not followed.
    pub fn fixed(&self) -> usize {
        self.list.iter().filter(|f| f.what == FactKind::Condition(Kind::Concretised)).count()
    }
}

/// Follows the input of a recorded run.
pub(crate) fn follow(
    run: &Run<'_>,
    side: Side,
    world: &mut TermContext,
    options: &crate::Options,
    deadline: Instant,
) -> Result<Facts, Error> {
    let follow = symbolic::Options { deadline: Some(deadline), ..options.follow.clone() };
    let followed = follow_process(&run.process, run.recorded, run.stream, world, &follow, options.predicates);
    followed.map_err(|reason| match reason {
        symbolic::Error::Replay(reason) => Error::Replay { side, reason },
        symbolic::Error::TimeUp { step } => Error::TimeUp { side, step },
        symbolic::Error::TooLarge { step, terms, limit } => Error::TooLarge { side, step, terms, limit },
        reason => Error::Follow { side, reason },
    })
}

/// Follows the input of any run.
pub(crate) fn follow_process(
    process: &LoadedProcess,
    recorded: &Process,
    stream: u32,
    world: &mut TermContext,
    options: &symbolic::Options,
    predicates: Predicates,
) -> Result<Facts, symbolic::Error> {
    let tester = PredicateObserver::new(&process.image, predicates);
    let mut watcher = FactCollector { tester, found: Vec::new() };
    let path = symbolic::replay_with(process, recorded, stream, world, options, &mut watcher)?;
    let mut others = watcher.found.into_iter().peekable();
    let mut list = Vec::with_capacity(path.conditions.len());
    for c in &path.conditions {
        while let Some(other) = others.next_if(|o| o.at.step < c.at.step) {
            list.push(other);
        }
        let what = FactKind::Condition(c.kind);
        let site = c.computed.unwrap_or(c.at.into());
        list.push(Fact { term: c.term, at: c.at, site, what, holds: true, repeated: c.repeated });
    }
    list.extend(others);
    Ok(Facts { list, path })
}

/// Collects the facts that are not conditions of the path.
pub(crate) struct FactCollector<'i> {
    tester: PredicateObserver<'i>,
    found: Vec<Fact>,
}

impl StepObserver for FactCollector<'_> {
    fn step(&mut self, now: &mut SymbolicState<'_, '_>) {
        if let Inst::Select { cond, .. } = now.view.inst() {
            let cond = *cond;
            if let Some(term) = now.operand(cond, Ty::Int(1)) {
                let holds = now.view.value(cond) & 1 == 1;
                FactCollector::note(now, term, holds, FactKind::Choice, &mut self.found);
            }
        }
        self.tester.step(now, &mut self.found);
    }
}

impl FactCollector<'_> {
    /// Adds a fact about the instruction that has just run.
    pub fn note(
        now: &mut SymbolicState<'_, '_>,
        term: Term,
        holds: bool,
        what: FactKind,
        found: &mut Vec<Fact>,
    ) {
        let term = if holds { term } else { now.world.pool.not(term) };
        if now.world.pool.as_constant(term).is_some() {
            return;
        }
        let view = now.view;
        let at = At {
            stream: 0,
            step: view.count,
            time: view.time,
            module: view.code.module,
            function: view.code.function,
            index: view.index,
            occurrence: 0,
        };
        found.push(Fact { term, at, site: at.into(), what, holds, repeated: false });
    }
}

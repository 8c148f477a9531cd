//! What is known of a run's way: its conditions, and what is looked at as if it were one.

use crate::error::Error;
use crate::options::Predicates;
use crate::predicates::Tester;
use crate::run::Run;
use crate::side::Side;
use program::inst::{Inst, Ty};
use recording::Process;
use replay::process::LoadedProcess;
use solver::Term;
use std::time::Instant;
use symbolic::{At, Kind, Path, Site, StepObserver, SymbolicState, TermContext};

/// What a fact is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A condition of the path.
    Condition(Kind),
    /// A choice between two values that the compiler made of a branch.
    Choice,
    /// A test that is not in the program, in words.
    Predicate(String),
}

impl What {
    /// A word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            What::Condition(kind) => kind.name(),
            What::Choice => "choice",
            What::Predicate(_) => "predicate",
        }
    }

    /// Whether the way itself is another one if it turns out differently: such a fact can be seen in
    /// a recording without following its input.
    pub(crate) fn is_jump(&self) -> bool {
        matches!(self, What::Condition(Kind::Branch | Kind::Switch))
    }

    /// Whether something is decided here.
    pub(crate) fn decides(&self, libraries: bool) -> bool {
        match self {
            What::Condition(Kind::Bounds | Kind::Concretised) => false,
            What::Condition(Kind::External) => libraries,
            _ => true,
        }
    }
}

/// A truth value over the input that holds on the run.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub term: Term,
    pub at: At,
    /// Where the decision was computed: `at`, or the comparison before it.
    pub site: Site,
    pub what: What,
    /// Of a choice or predicate: how it turned out. The term is true in any case.
    pub holds: bool,
    /// The same was a fact before.
    pub repeated: bool,
}

/// All facts of a run, in the order of time.
pub(crate) struct Facts {
    pub list: Vec<Fact>,
    pub path: Path,
}

impl Facts {
    /// Whether something that can be decided otherwise is among them.
    pub fn any_decision(&self, libraries: bool) -> bool {
        self.list.iter().any(|f| f.what.decides(libraries))
    }

    /// Values that were fixed because what used them is not followed.
    pub fn fixed(&self) -> usize {
        self.list.iter().filter(|f| f.what == What::Condition(Kind::Concretised)).count()
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
    let tester = Tester::new(&process.image, predicates);
    let mut watcher = Watcher { tester, found: Vec::new() };
    let path = symbolic::replay_with(process, recorded, stream, world, options, &mut watcher)?;
    let mut others = watcher.found.into_iter().peekable();
    let mut list = Vec::with_capacity(path.conditions.len());
    for c in &path.conditions {
        while let Some(other) = others.next_if(|o| o.at.step < c.at.step) {
            list.push(other);
        }
        let what = What::Condition(c.kind);
        let site = c.computed.unwrap_or(c.at.into());
        list.push(Fact { term: c.term, at: c.at, site, what, holds: true, repeated: c.repeated });
    }
    list.extend(others);
    Ok(Facts { list, path })
}

/// Sees what is not a condition of the path.
pub(crate) struct Watcher<'i> {
    tester: Tester<'i>,
    found: Vec<Fact>,
}

impl StepObserver for Watcher<'_> {
    fn step(&mut self, now: &mut SymbolicState<'_, '_>) {
        if let Inst::Select { cond, .. } = now.view.inst() {
            let cond = *cond;
            if let Some(term) = now.operand(cond, Ty::Int(1)) {
                let holds = now.view.value(cond) & 1 == 1;
                Watcher::note(now, term, holds, What::Choice, &mut self.found);
            }
        }
        self.tester.step(now, &mut self.found);
    }
}

impl Watcher<'_> {
    /// Adds a fact about the instruction that has just run.
    pub fn note(now: &mut SymbolicState<'_, '_>, term: Term, holds: bool, what: What, found: &mut Vec<Fact>) {
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

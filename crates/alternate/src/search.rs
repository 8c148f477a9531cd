//! One direction of the search: for each decision of one version, finds an input on which the other version
//! takes the same path as before and this one decides differently there for the first time.

use crate::ask::{DecisionSolver, holds};
use crate::error::Untried;
use crate::facts::{Fact, FactKind, Facts, follow_process};
use crate::options::Options;
use crate::relevant::executed;
use crate::report::{Alternate, Candidate, Changed, Part, Searched};
use crate::rerun::{Ended, Rerun, Runner, Status};
use crate::run::Run;
use crate::side::{Both, Side};
use crate::way::{self, RunPath};
use solver::{Model, Outcome};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use symbolic::{Input, Kind, Origin, TermContext};

/// Minimum timeout: a solver without any time gives no reason for failing.
const MIN_TIME: Duration = Duration::from_millis(100);
/// Maximum length of the text of a condition.
const TEXT: usize = 120;
/// The same where texts are compared.
const MAX_COMPARED_TEXT: usize = 10_000;

/// The state of a search: both versions and their analyses.
pub(crate) struct Case<'c> {
    pub runs: Both<&'c Run<'c>>,
    pub facts: Both<Facts>,
    pub ways: Both<RunPath>,
    /// Files that the programs write.
    pub written: Both<Vec<String>>,
    pub world: TermContext,
    pub options: &'c Options,
    pub runner: &'c mut dyn Runner,
    /// Steps that the outputs of a version depend on, if computed and known.
    pub relevant: Both<Option<HashSet<u64>>>,
    /// Names of the functions that each version ran.
    pub functions: Both<HashSet<String>>,
    /// The recorded input.
    pub input: Both<Input>,
    /// How the old version ended with it; `None` until it was run again.
    pub old_end: Option<Status>,
    pub ran: Duration,
    pub runs_made: u64,
}

/// The outcome of trying a proposed input.
pub(crate) enum Trial {
    Confirmed(Box<Alternate>),
    Rejected(String),
    Untried(String),
}

impl Case<'_> {
    /// Runs both programs with an input.
    pub fn run(&mut self, input: &Both<Input>) -> Result<Both<Rerun>, (Side, Untried)> {
        let start = Instant::now();
        let reruns = Both::try_from(|side| {
            self.runs_made += 1;
            let recorded = self.runs.of(side).recorded;
            self.runner.run(recorded, input.of(side), self.written.of(side)).map_err(|why| (side, why))
        });
        self.ran += start.elapsed();
        reruns
    }

    /// Whether the outputs of a version depend on a decision; true if unknown.
    fn is_relevant(&self, side: Side, fact: &Fact) -> bool {
        let (FactKind::Condition(kind), Some(steps)) = (&fact.what, self.relevant.of(side)) else {
            return true;
        };
        steps.contains(&executed(&self.runs.of(side).process, &fact.at, *kind))
    }

    /// Searches for alternate inputs at the decisions of one version. `relaxed`: values that are not followed
    /// may change; then the terms after them may be wrong, and the runs decide. `all`: includes decisions
    /// that no output depends on. No question starts after `until`.
    pub fn search(
        &mut self,
        side: Side,
        relaxed: bool,
        all: bool,
        until: Instant,
    ) -> (Searched, Vec<Candidate>) {
        let start = Instant::now();
        let mut searched = Searched::new(side, relaxed);
        let fixed = FactKind::Condition(Kind::Concretised);
        let mut settings = self.options.solver.clone();
        let left = until.saturating_duration_since(start);
        settings.limits.timeout = settings.limits.timeout.min(left).max(MIN_TIME);
        let mut asker = DecisionSolver::new(&settings);
        for term in self.world.nul_free_conditions() {
            asker.assume_other(&mut self.world.pool, term);
        }
        for fact in self.facts.of(side.other()).list.iter().filter(|f| !relaxed || f.what != fixed) {
            asker.assume_other(&mut self.world.pool, fact.term);
        }
        let mut branches: Vec<Candidate> = Vec::new();
        let mut numbers: HashMap<Key, usize> = HashMap::new();
        searched.conditions = self.facts.of(side).list.len() as u64;
        for number in 0..self.facts.of(side).list.len() {
            let fact = self.facts.of(side).list[number].clone();
            if fact.what.decides(self.options.libraries) {
                searched.decisions += 1;
                let known = numbers.get(&key(&fact)).map(|n| &mut branches[*n]);
                if fact.repeated {
                    // It is implied by an earlier condition and cannot be negated.
                } else if !all && !self.is_relevant(side, &fact) {
                    searched.irrelevant += 1;
                } else if let Some(known) =
                    known.filter(|k| k.ends_as_old() || k.alternates.len() >= self.options.instances)
                {
                    known.more += 1;
                } else if Instant::now() >= until {
                    searched.unasked += 1;
                } else if let Some(alternate) = self.question(side, &fact, &mut asker, &mut searched) {
                    let at = *numbers.entry(key(&fact)).or_insert_with(|| {
                        branches.push(self.candidate(side, &fact));
                        branches.len() - 1
                    });
                    branches[at].alternates.push(alternate);
                }
            }
            if !relaxed || fact.what != fixed {
                asker.assume_branch(&mut self.world.pool, fact.term);
            }
        }
        if searched.unasked > 0 {
            let Searched { unasked, decisions, .. } = searched;
            searched.reason(format!("no time was left to ask about {unasked} of {decisions}"));
        }
        for candidate in &mut branches {
            candidate.alternates.sort_by_key(order);
            if let Some(best) = candidate.alternates.first() {
                candidate.condition.clone_from(&best.condition);
            }
        }
        searched.time = start.elapsed();
        searched.statistics = asker.statistics();
        (searched, branches)
    }

    /// Asks the solver about one decision and tries the input it finds.
    fn question(
        &mut self,
        side: Side,
        fact: &Fact,
        asker: &mut DecisionSolver,
        searched: &mut Searched,
    ) -> Option<Alternate> {
        searched.asked += 1;
        let model = match asker.ask(&mut self.world, fact.term) {
            Outcome::Unsat => {
                searched.impossible += 1;
                return None;
            }
            Outcome::Unknown(reason) => {
                searched.unknown += 1;
                searched.reason(reason);
                return None;
            }
            Outcome::Sat(model) => model,
        };
        searched.found += 1;
        match self.attempt(side, fact, &model, true) {
            Trial::Confirmed(alternate) => {
                searched.confirmed += 1;
                Some(*alternate)
            }
            Trial::Rejected(reason) => {
                searched.rejected += 1;
                searched.reason(reason);
                None
            }
            Trial::Untried(reason) => {
                searched.untried += 1;
                searched.reason(reason);
                None
            }
        }
    }

    /// Runs both programs with the input of a model and compares their paths with the recorded ones;
    /// for the other version only if `held`.
    pub fn attempt(&mut self, side: Side, fact: &Fact, model: &Model, held: bool) -> Trial {
        let other = side.other();
        let value = |v: u32| model.value(v, self.world.variables.value(v));
        let turned = !holds(&self.world.pool, [fact.term], &value);
        let input = Both {
            old: Input::with(&self.world, &self.runs.old.recorded.info, &value),
            new: Input::with(&self.world, &self.runs.new.recorded.info, &value),
        };
        let reruns = match self.run(&input) {
            Ok(reruns) => reruns,
            Err((side, why)) => {
                return Trial::Untried(format!("the {side} version was not run: {why}"));
            }
        };
        let place = |case: &Self| {
            let image = &case.runs.of(side).process.image;
            format!("{}:{}", fact.site.file(image), fact.site.place(image).line)
        };
        // A version that is held must not notice any difference.
        if held {
            let rerun = reruns.of(other);
            match RunPath::of(&rerun.process, rerun.stream, []) {
                Ok(way) if way.whole == self.ways.of(other).whole => {}
                Ok(_) => {
                    let what = format!(
                        "an input for {} does not follow the path of the {other} version",
                        place(self)
                    );
                    return Trial::Rejected(what);
                }
                Err(e) => return Trial::Rejected(format!("failed to replay the {other} version: {e}")),
            }
        }
        let rerun = reruns.of(side);
        // This version must take the same path up to the branch, and then another one.
        let flips = match way::up_to(&rerun.process, rerun.stream, fact.at.step) {
            Ok(Some(mark)) => self.ways.of(side).at(fact.at.step).is_some_and(|own| {
                let jumped = || own.to != mark.to;
                let same = own.before == mark.before;
                same && if fact.what.is_jump() { jumped() } else { self.is_decided_differently(fact, rerun) }
            }),
            Ok(None) => false,
            Err(e) => return Trial::Rejected(format!("failed to replay the {side} version: {e}")),
        };
        if !(flips && turned) {
            return Trial::Rejected(format!("an input does not turn {} around", place(self)));
        }
        let ended = Both { old: reruns.old.ended, new: reruns.new.ended };
        let alternate = self.alternate(fact, model, input, ended);
        Trial::Confirmed(Box::new(alternate))
    }

    /// Whether a decision that is not a jump differs in a run that took the same path up to it.
    fn is_decided_differently(&self, fact: &Fact, rerun: &Rerun) -> bool {
        let mut world = TermContext::default();
        let mut follow = self.options.follow.clone();
        follow.until = Some(fact.at.step + 1);
        let kind = self.options.predicates;
        let facts = follow_process(&rerun.process, &rerun.recorded, rerun.stream, &mut world, &follow, kind);
        let Ok(facts) = facts else { return false };
        let mut here = facts.list.iter().filter(|f| f.at.step == fact.at.step && f.what == fact.what);
        if !matches!(fact.what, FactKind::Condition(_)) {
            return here.any(|f| f.holds != fact.holds);
        }
        // A library call has several conditions; the recorded one must not be among them.
        let text = |world: &TermContext, term| {
            world.pool.text(term, &|v| world.variables.name(v), MAX_COMPARED_TEXT)
        };
        let before = text(&self.world, fact.term);
        !here.any(|f| text(&world, f.term) == before)
    }

    fn alternate(&mut self, fact: &Fact, model: &Model, input: Both<Input>, ended: Both<Ended>) -> Alternate {
        let variables = &self.world.variables;
        let given = |v: u32| variables.value(v);
        let mut changes = model.changes(&given);
        changes.sort_by_key(|(v, _)| variables.list.get(*v as usize).map(|v| (v.origin, v.offset)));
        let changed = changes
            .into_iter()
            .map(|(v, new)| Changed { name: variables.name(v), old: given(v) as u8, new: new as u8 })
            .collect();
        let parts = parts(&self.input, &input);
        let opposite = self.world.pool.not(fact.term);
        Alternate {
            at: fact.at,
            index: None,
            condition: self.text(fact.term, &fact.what),
            flipped: self.text(opposite, &fact.what),
            changed,
            parts,
            input,
            passes: same_outcome(&ended),
            ends_as_old: same_outcome(&ended) && self.is_old_end(ended.old.status),
            ended,
        }
    }

    /// Whether the old version ended like this with the recorded input.
    pub fn is_old_end(&self, status: Status) -> bool {
        self.old_end == Some(status)
    }

    fn text(&self, term: solver::Term, what: &FactKind) -> String {
        let text = self.world.pool.text(term, &|v| self.world.variables.name(v), TEXT);
        match what {
            FactKind::Predicate(words) => format!("{text} ({words})"),
            _ => text,
        }
    }

    pub fn candidate(&self, side: Side, fact: &Fact) -> Candidate {
        let image = &self.runs.of(side).process.image;
        let place = fact.site.place(image);
        let function = fact.site.function_name(image).to_owned();
        Candidate {
            side,
            what: fact.what.clone(),
            file: fact.site.file(image),
            line: place.line,
            column: place.column,
            shared: self.functions.of(side.other()).contains(&function),
            omitted: false,
            function,
            condition: String::new(),
            alternates: Vec::new(),
            more: 0,
        }
    }
}

/// Identifies the static branch of a fact.
type Key = (u32, u32, u32, Option<String>);

fn key(fact: &Fact) -> Key {
    let words = match &fact.what {
        FactKind::Predicate(words) => Some(words.clone()),
        _ => None,
    };
    (fact.site.module, fact.site.function, fact.site.index, words)
}

/// The sort key: inputs that pass first, of them those that end as the old version did, then the fewest
/// changes.
pub(crate) fn order(a: &Alternate) -> (bool, bool, usize) {
    (!a.passes, !a.ends_as_old, a.changed.len())
}

/// Whether both versions had the same output and exit status.
pub(crate) fn same_outcome(ended: &Both<Ended>) -> bool {
    ended.old == ended.new && ended.old.status != Status::TimedOut
}

/// The changed bytes of an input, by origin.
pub(crate) fn parts(before: &Both<Input>, after: &Both<Input>) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::new();
    for side in [Side::Old, Side::New] {
        let (before, after) = (&before.of(side).parts, &after.of(side).parts);
        for (origin, new) in after {
            let old: &[u8] = before.get(origin).map_or(&[], Vec::as_slice);
            let known = |p: &Part, o: &Origin| p.origin == *o;
            if old != new.as_slice() && !found.iter().any(|p| known(p, origin)) {
                found.push(Part { origin: origin.clone(), old: old.to_vec(), new: new.clone() });
            }
        }
    }
    found
}

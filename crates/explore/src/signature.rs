//! What a program computes, and on which inputs: one run for each group of paths that compute
//! their outputs by the same expressions.
//!
//! Algorithm 6.1 of Qi's thesis: depth first over prefixes of reordered relevant-slice conditions,
//! with the last one turned. All runs share one pool of terms, so prefixes are compared as terms.
//! With [`By::Path`] the whole path condition is used instead, in the order of time: plain dynamic
//! symbolic execution, for comparison.
//!
//! Inputs are as long as the one that is begun with: an end of input is where it was.

use crate::error::Result;
use crate::follow::with_values;
use crate::relevant::{self, RelevantConditions};
use crate::subject::follow;
use alternate::{Ended, Rerun, Status};
use replay::machine::End;
use solver::{Outcome, Session, Settings, Statistics, Term};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Instant;
use symbolic::{Condition, Input, Kind, Output, Path, Reason, World};

/// What paths are told apart by.
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
    pub ended: Ended,
    /// When it holds, in words, in the order of exploration.
    pub condition: Vec<String>,
    /// What is put out, in words.
    pub output: String,
    /// Values that stay as they were, because what used them is not followed, with reasons.
    pub fixed: Vec<String>,
    /// The reordered conditions.
    pub terms: Vec<Term>,
    /// What is put out, as terms and text.
    pub outputs: Vec<Piece>,
}

/// A part of an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece {
    Text(Vec<u8>),
    /// A byte that depends on input.
    Byte(Term),
    /// A number that does.
    Number(Term),
    /// The exit status, if it does.
    Status(Term),
}

/// A way to make the program fault.
#[derive(Clone, Debug)]
pub struct Fault {
    pub input: Input,
    pub ended: Ended,
    pub file: String,
    pub line: u32,
    pub function: String,
}

/// What came of an exploration.
#[derive(Clone, Debug, Default)]
pub struct Exploration {
    pub groups: Vec<Group>,
    pub faults: Vec<Fault>,
    /// Runs that were made.
    pub runs: u64,
    /// Runs whose group was known before: none if everything is exact.
    pub duplicates: u64,
    /// Runs whose conditions do not begin with those that were asked for: none if everything is a branch
    /// and exact.
    pub astray: u64,
    pub asked: u64,
    pub found: u64,
    pub impossible: u64,
    pub unknown: u64,
    /// Runs that could not be made or followed.
    pub lost: u64,
    /// Nothing is left to explore.
    pub finished: bool,
    /// Conditions that were asked about, all together.
    pub conditions: u64,
    pub statistics: Statistics,
}

impl Exploration {
    /// Whether the groups are all there are, for inputs of these lengths.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let exact = self.unknown == 0 && self.lost == 0;
        self.finished && exact && self.groups.iter().all(|g| g.fixed.is_empty())
    }
}

/// How to explore.
pub struct Options<'o> {
    pub by: By,
    pub settings: Settings,
    pub until: Instant,
    pub stop: &'o dyn Fn() -> bool,
    /// Told the number of groups so far.
    pub progress: &'o dyn Fn(usize),
}

/// What is still to be asked: a prefix whose last condition is turned.
struct Todo {
    prefix: Vec<Term>,
    /// An input that satisfies all but the last.
    from: Input,
}

struct Explorer<'e> {
    world: World,
    session: Session,
    options: &'e Options<'e>,
    run: &'e mut dyn FnMut(&Input) -> Result<Rerun>,
    todo: Vec<Todo>,
    seen: HashSet<Vec<Term>>,
    known: HashSet<BTreeSet<Term>>,
    faulted: HashSet<(u32, u32, u32)>,
    found: Exploration,
}

/// Explores a program from an input. `run` records it.
///
/// # Errors
/// If the program cannot be run with the first input.
pub fn explore(
    first: &Input,
    options: &Options<'_>,
    run: &mut dyn FnMut(&Input) -> Result<Rerun>,
) -> Result<(Exploration, World)> {
    let mut explorer = Explorer {
        world: World::default(),
        session: Session::new(options.settings.clone()),
        options,
        run,
        todo: Vec::new(),
        seen: HashSet::new(),
        known: HashSet::new(),
        faulted: HashSet::new(),
        found: Exploration::default(),
    };
    explorer.execute(first, None)?;
    while let Some(todo) = explorer.todo.pop() {
        if (options.stop)() || Instant::now() >= options.until {
            explorer.todo.push(todo);
            break;
        }
        explorer.ask(&todo);
    }
    let mut found = explorer.found;
    found.finished = explorer.todo.is_empty();
    found.statistics = explorer.session.statistics();
    Ok((found, explorer.world))
}

impl Explorer<'_> {
    fn solve(&mut self, terms: &[Term], from: &Input) -> Option<Input> {
        self.give(from);
        self.found.asked += 1;
        self.found.conditions += terms.len() as u64;
        let World { pool, variables } = &mut self.world;
        match self.session.solve(pool, terms, &|v| variables.value(v)) {
            Ok(Outcome::Sat(model)) => {
                self.found.found += 1;
                let value = |v: u32| model.value(v, self.world.variables.value(v));
                Some(with_values(from, &self.world, &value))
            }
            Ok(Outcome::Unsat) => {
                self.found.impossible += 1;
                None
            }
            Ok(Outcome::Unknown(_)) | Err(_) => {
                self.found.unknown += 1;
                None
            }
        }
    }

    fn ask(&mut self, todo: &Todo) {
        if let Some(input) = self.solve(&todo.prefix, &todo.from)
            && self.execute(&input, Some(&todo.prefix)).is_err()
        {
            self.found.lost += 1;
        }
    }

    /// The variables have the values of an input.
    fn give(&mut self, input: &Input) {
        let variables = &mut self.world.variables;
        for variable in &mut variables.list {
            let origin = variables.origins.get(variable.origin as usize);
            let bytes = origin.and_then(|o| input.parts.get(o));
            if let Some(byte) = bytes.and_then(|b| b.get(variable.offset as usize)) {
                variable.value = *byte;
            }
        }
    }

    fn execute(&mut self, input: &Input, prefix: Option<&[Term]>) -> Result<()> {
        let rerun = (self.run)(input)?;
        self.found.runs += 1;
        self.give(input);
        let path =
            symbolic::replay(&rerun.process, &rerun.recorded, rerun.stream, &mut self.world, &follow())?;
        let relevant = match self.options.by {
            By::Output => relevant::conditions(&rerun.process, rerun.stream, &path)?,
            By::Path => RelevantConditions { order: (0..path.conditions.len()).collect(), cut: false },
        };
        self.found.lost += u64::from(relevant.cut);
        let ordered: Vec<Condition> = once(relevant.order.iter().map(|n| path.conditions[*n]));
        let terms: Vec<Term> = ordered.iter().map(|c| c.term).collect();
        let prefix = prefix.unwrap_or_default();
        self.found.astray += u64::from(!terms.starts_with(prefix));
        // The inputs that satisfy the prefix are parted by the conditions that it does not have.
        // If the conditions begin with the prefix, none of them is met twice.
        let mut held = prefix.to_vec();
        for condition in &ordered {
            if held.contains(&condition.term) {
                continue;
            }
            if !matches!(condition.kind, Kind::Concretised | Kind::Bounds) {
                let mut next = held.clone();
                next.push(self.world.pool.not(condition.term));
                if self.seen.insert(next.clone()) {
                    self.todo.push(Todo { prefix: next, from: input.clone() });
                }
            }
            held.push(condition.term);
        }
        self.look_for_faults(&path, &rerun, input);
        let key: BTreeSet<Term> = terms.iter().copied().collect();
        if self.known.insert(key) {
            let group = self.group(input, &rerun, &path, &ordered);
            self.found.groups.push(group);
            (self.options.progress)(self.found.groups.len());
        } else {
            self.found.duplicates += 1;
        }
        Ok(())
    }

    /// Accesses that could leave their object, and divisions that could trap, once for each place:
    /// groups by output alone may never come to them.
    fn look_for_faults(&mut self, path: &Path, rerun: &Rerun, input: &Input) {
        if self.options.by == By::Path {
            return;
        }
        for (number, condition) in path.conditions.iter().enumerate() {
            let place = (condition.at.module, condition.at.function, condition.at.index);
            let stopped = (self.options.stop)() || Instant::now() >= self.options.until;
            if condition.kind != Kind::Bounds || stopped || self.faulted.contains(&place) {
                continue;
            }
            let mut terms: Vec<Term> = path.conditions[..number].iter().map(|c| c.term).collect();
            terms.push(self.world.pool.not(condition.term));
            let Some(other) = self.solve(&terms, input) else { continue };
            let Ok(run) = (self.run)(&other) else { continue };
            self.found.runs += 1;
            if matches!(run.ended.status, Status::Signal(_)) {
                self.faulted.insert(place);
                let image = &rerun.process.image;
                self.found.faults.push(Fault {
                    input: other,
                    ended: run.ended,
                    file: condition.at.file(image),
                    line: condition.at.place(image).line,
                    function: condition.at.function_name(image).to_owned(),
                });
            }
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
            output: self.words(&outputs, path),
            fixed: fixed.into_keys().collect(),
            terms: ordered.iter().map(|c| c.term).collect(),
            outputs,
        }
    }

    /// An output in words: text as it is, what depends on input in braces.
    fn words(&self, pieces: &[Piece], path: &Path) -> String {
        let mut text = String::from("\"");
        let mut status = None;
        for piece in pieces {
            match piece {
                Piece::Text(bytes) => text += &bytes.escape_ascii().to_string(),
                Piece::Byte(term) | Piece::Number(term) => text += &format!("{{{}}}", self.world.text(*term)),
                Piece::Status(term) => status = Some(self.world.text(*term)),
            }
        }
        text.push('"');
        match (status, path.end) {
            (Some(term), _) => text += &format!(", exit {{{term}}}"),
            (None, Some(End::Exit { status: 0 })) => {}
            (None, Some(End::Exit { status })) => text += &format!(", exit {}", status & 0xff),
            (None, Some(End::Crash { signal, .. })) => text += &format!(", signal {signal}"),
            (None, _) => {}
        }
        text
    }
}

/// Each term once, where it is first.
fn once(conditions: impl Iterator<Item = Condition>) -> Vec<Condition> {
    let mut seen = HashSet::new();
    conditions.filter(|c| seen.insert(c.term)).collect()
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
        if let Some((range, term)) =
            output.printed.iter().find(|(range, _)| range.start == here && !range.is_empty())
        {
            pieces.push(Piece::Number(*term));
            at = range.end as usize;
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

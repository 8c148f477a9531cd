//! Selects an execution of a line, and makes criteria for it.

use crate::criterion::{Criterion, Occurrence, Wanted};
use crate::executions::{Execution, Keep, Marks, Watch, marks};
use crate::moment::{Moment, Side, names};
use crate::slice::Site;
use crate::slicer::Slicer;
use crate::{Error, Result, WrongExpression};
use expression::{Expression, Kind};
use replay::machine::Machine;
use replay::observer::{Effect, Null, Observer, View};
use replay::vars::Bindings;
use std::collections::{BTreeMap, HashSet};

/// One of the executions of a line: among those where the condition holds and that begin before a step, the
/// one with the given number, or else the last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Which {
    /// From 1, in the order of streams.
    pub number: Option<u64>,
    /// Only executions that begin before this step of their stream; `None`: all.
    pub before: Option<u64>,
    /// The condition, evaluated before the line runs; `None`: all executions.
    pub when: Option<Expression>,
    /// Only in this stream (index in the process's `streams`).
    pub stream: Option<u32>,
}

impl Which {
    fn is_last(&self) -> bool {
        *self == Which::default()
    }
}

impl Slicer<'_> {
    /// The selected execution of a line, and its stream, if there is one.
    ///
    /// # Errors
    /// If the condition is wrong, or replay fails.
    pub fn execution(&self, file: &str, line: u32, which: &Which) -> Result<Option<(u32, Execution)>> {
        let sites = self.sites_at(file, line);
        let marks = marks(&self.process.image, &sites);
        if which.is_last() {
            return self.last_execution(&sites, &marks);
        }
        let mut streams: Vec<u32> = (0..self.process.streams.len() as u32).collect();
        streams.retain(|s| which.stream.is_none_or(|wanted| *s == wanted));
        let keep =
            which.number.map_or_else(|| Keep::LastBefore(which.before.unwrap_or(u64::MAX)), Keep::Number);
        if which.number.is_none() {
            streams.reverse();
        }
        let (mut count, mut error) = (0, None);
        for stream in streams {
            let mut watch = Watch::new(&self.process.image, &marks, keep)
                .evaluating(&[], which.when.as_ref())
                .after(count);
            let end = self.steps(stream)?.min(which.before.unwrap_or(u64::MAX));
            let machine = self.watch(stream, &mut watch, end)?;
            if let Some(found) = watch.executions.pop() {
                let mut machine = match machine {
                    Some(machine) => machine,
                    None => self.machine_at(Occurrence { stream, step: end })?,
                };
                let last = self.end_of(&mut machine, watch, &found)?;
                return Ok(Some((stream, Execution { last, ..found })));
            }
            count = watch.count;
            error = error.or(if watch.succeeded { None } else { watch.error });
        }
        match error {
            Some((text, error, site)) => Err(self.wrong(text, error, site)),
            None => Ok(None),
        }
    }

    /// The last step of an execution that had not completed when `machine` was stopped.
    fn end_of(
        &self,
        machine: &mut Machine<'_>,
        mut watch: Watch<'_>,
        found: &Execution,
    ) -> Result<Option<u64>> {
        if found.last.is_some() {
            return Ok(found.last);
        }
        let step = machine.counters().instructions;
        watch.executions.push(found.clone());
        watch.stop_keeping();
        let mut to = step;
        while watch.executions[0].last.is_none() {
            let before = to;
            to = machine.counters().instructions.saturating_add(1 << 16);
            machine.run(&mut watch, to)?;
            if machine.counters().instructions <= before {
                break;
            }
        }
        Ok(watch.executions[0].last)
    }

    /// The last execution, found by a search from the end.
    fn last_execution(&self, sites: &[Site], marks: &Marks) -> Result<Option<(u32, Execution)>> {
        let sites: HashSet<Site> = sites.iter().copied().collect();
        let Some(visit) = self.find_visit(&sites)? else { return Ok(None) };
        // Iterations of a loop on one line are separate executions.
        let mut watch = Watch::new(&self.process.image, marks, Keep::LastBefore(u64::MAX));
        let mut machine = self.machine_at(visit.first)?;
        if let Some(view) = machine.view() {
            watch.begin(&view);
        }
        machine.run(&mut watch, visit.last.step.saturating_add(1))?;
        let found = watch.executions.pop();
        Ok(found.map(|e| (visit.first.stream, Execution { last: e.last.or(Some(visit.last.step)), ..e })))
    }

    /// Criteria for all operands in an execution of a line; for the last execution, the operands of each of
    /// the line's instructions in its own last execution.
    ///
    /// # Errors
    /// If the condition is wrong, or replay fails.
    pub fn execution_criteria(&self, file: &str, line: u32, which: &Which) -> Result<Vec<Criterion>> {
        if which.is_last() {
            return self.line_criteria(file, line);
        }
        let Some((stream, execution)) = self.execution(file, line, which)? else { return Ok(Vec::new()) };
        let marks = marks(&self.process.image, &self.sites_at(file, line));
        let mut steps = StepsOnLine { marks: &marks, depth: execution.depth, last: BTreeMap::new() };
        let mut machine = self.machine_at(Occurrence { stream, step: execution.first })?;
        machine.run(&mut steps, execution.last.map_or(self.steps(stream)?, |last| last + 1))?;
        let at = steps.last.into_values().map(|step| Occurrence { stream, step });
        Ok(at.map(|at| Criterion { at, wanted: vec![Wanted::All] }).collect())
    }

    /// A criterion for what an expression reads before an execution of a line; `None` if there is no such
    /// execution.
    ///
    /// # Errors
    /// If the expression or the condition is wrong, or replay fails.
    pub fn expression_criterion(
        &self,
        file: &str,
        line: u32,
        expression: &Expression,
        which: &Which,
    ) -> Result<Option<Criterion>> {
        let Some((stream, execution)) = self.execution(file, line, which)? else { return Ok(None) };
        let sites: HashSet<Site> = self.sites_at(file, line).into_iter().collect();
        let mut machine = self.machine_at(Occurrence { stream, step: execution.first })?;
        let touched = self.touched(Occurrence { stream, step: execution.first })?;
        let mut first_error = None;
        // A variable may come into scope, or a block begin, within the line.
        for step in execution.first..=execution.last.unwrap_or(execution.first) {
            machine.run(&mut Null, step)?;
            let Some(view) = machine.view() else { break };
            if view.depth != execution.depth || !sites.contains(&site(&view)) {
                continue;
            }
            let bindings = Bindings::of(view.function());
            let moment = Moment {
                view,
                bindings: &bindings,
                lookups: &[view.index],
                side: Side::Before,
                touched: &touched,
            };
            match moment.evaluate(expression) {
                Ok(value) => {
                    let mut wanted = moment.wanted(&value.reads);
                    if wanted.is_empty() {
                        // Constants originate in the line itself.
                        wanted.push(Wanted::Ran);
                    }
                    return Ok(Some(Criterion { at: Occurrence { stream, step }, wanted }));
                }
                Err(error) => {
                    let may_come = matches!(error.kind, Kind::NoName(_) | Kind::NoValue(_));
                    first_error.get_or_insert((error, site(&view)));
                    if !may_come {
                        break;
                    }
                }
            }
        }
        match first_error {
            Some((error, site)) => Err(self.wrong(expression.text.clone(), error, site)),
            None => Ok(None),
        }
    }

    /// An error with the names in scope, as suggestions.
    fn wrong(&self, text: String, error: expression::Error, site: Site) -> Error {
        let names = names_at(&self.process.image, site);
        Error::Expression(Box::new(WrongExpression { text, error, names }))
    }
}

/// Names in scope at an instruction.
#[must_use]
pub fn names_at(image: &replay::image::Image, site: Site) -> Vec<String> {
    let module = image.module(site.module);
    let function = &module.functions[site.function as usize];
    names(module, function, &Bindings::of(function), site.index)
}

fn site(view: &View<'_>) -> Site {
    Site { module: view.code.module, function: view.code.function, index: view.index }
}

/// The last step of each instruction of a line in one activation.
struct StepsOnLine<'m> {
    marks: &'m Marks,
    depth: u32,
    last: BTreeMap<Site, u64>,
}

impl Observer for StepsOnLine<'_> {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        if view.depth != self.depth {
            return;
        }
        let marked = &self.marks[view.code.module as usize][view.code.function as usize];
        if marked.as_ref().is_some_and(|m| m[view.index as usize]) {
            self.last.insert(site(view), view.count);
        }
    }
}

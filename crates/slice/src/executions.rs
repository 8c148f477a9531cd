//! The executions of a line: when it runs, and the values of expressions before and after.
//!
//! Replay reports instructions after they ran. A debugger shows a variable before the line runs, so values
//! are taken when the *next* instruction is known to be the line's first, and again when control has left
//! the line. A new execution begins when control reaches a block of the line again: each iteration of a
//! `while` on a single line counts. The jump from the end of a loop's body has the line of the loop and
//! continues with the condition: that is one execution.

use crate::moment::{Moment, Side};
use crate::slice::Site;
use crate::touched::Touched;
use expression::{Error, Expression};
use program::inst::{BlockId, Inst};
use recording::event::{Event, Position};
use replay::image::Image;
use replay::observer::{Effect, ExternalCall, Observer, View};
use replay::vars::{Bindings, Limits};
use std::collections::HashMap;

/// One execution of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Its number among those where the condition holds, from 1, over all watched streams.
    pub number: u64,
    /// Its first step.
    pub first: u64,
    /// Its last step on the line; `None` if it did not complete.
    pub last: Option<u64>,
    /// Call depth of the activation, from 1.
    pub depth: u32,
    /// Index of the module in the image.
    pub module: u32,
    /// Index of the function in its module.
    pub function: u32,
    /// The text of each expression's value.
    pub before: Vec<Option<String>>,
    /// `None` if the line did not complete.
    pub after: Option<Vec<Option<String>>>,
}

/// An execution that has not completed.
#[derive(Clone)]
struct Running {
    /// Its first instruction.
    first: u32,
    /// Its first instruction, and those at which it entered blocks.
    entered: Vec<u32>,
    /// Index in `executions`; `None` if it is not kept.
    kept: Option<usize>,
}

/// For each module and function, which instructions belong to the line.
pub type Marks = Vec<Vec<Option<Box<[bool]>>>>;

/// Marks the instructions of some sites.
#[must_use]
pub fn marks(image: &Image, sites: &[Site]) -> Marks {
    let mut marks: Marks = Vec::new();
    for (index, loaded) in image.modules() {
        marks.resize_with(index as usize + 1, Vec::new);
        marks[index as usize] = vec![None; loaded.model.functions.len()];
    }
    for site in sites {
        let len = image.module(site.module).functions[site.function as usize].code.len();
        let of = &mut marks[site.module as usize][site.function as usize];
        of.get_or_insert_with(|| vec![false; len].into())[site.index as usize] = true;
    }
    marks
}

/// Which of the executions are kept where the condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// At most so many, from the first on.
    First(usize),
    /// One, by its number.
    Number(u64),
    /// The last that begins before this step.
    LastBefore(u64),
}

/// See the module's documentation.
pub struct Watch<'a> {
    image: &'a Image,
    marks: &'a Marks,
    expressions: &'a [Expression],
    condition: Option<&'a Expression>,
    keep: Keep,
    /// Executions that begin before this step are only counted.
    from: u64,
    bindings: HashMap<(u32, u32), Bindings<'a>>,
    touched: Touched<'a>,
    /// The execution in progress in each frame.
    running: Vec<Option<Running>>,
    /// Executions where the condition holds, so far.
    pub count: u64,
    /// Those that are kept, in the order in which they began.
    pub executions: Vec<Execution>,
    /// The line ran, whether or not the condition holds.
    pub has_run: bool,
    /// There were more executions than are kept.
    pub truncated: bool,
    /// The first error in the condition or an expression: its text, the error, and the first instruction of
    /// the line where it was evaluated.
    pub error: Option<(String, Error, Site)>,
    /// All of them could be evaluated at least once.
    pub succeeded: bool,
}

impl<'a> Watch<'a> {
    /// Watches the instructions of `marks`, without condition and expressions.
    #[must_use]
    pub fn new(image: &'a Image, marks: &'a Marks, keep: Keep) -> Watch<'a> {
        Watch {
            image,
            marks,
            expressions: &[],
            condition: None,
            keep,
            from: 0,
            bindings: HashMap::new(),
            touched: Touched::new(image),
            running: Vec::new(),
            count: 0,
            executions: Vec::new(),
            has_run: false,
            truncated: false,
            error: None,
            succeeded: false,
        }
    }

    /// Keeps no executions that begin before a step.
    #[must_use]
    pub fn from_step(self, from: u64) -> Watch<'a> {
        Watch { from, ..self }
    }

    /// Evaluates a condition, and expressions whose values are kept.
    #[must_use]
    pub fn evaluating(self, expressions: &'a [Expression], condition: Option<&'a Expression>) -> Watch<'a> {
        Watch { expressions, condition, ..self }
    }

    /// The instructions of the line.
    pub(crate) fn sites(&self) -> Vec<Site> {
        let mut sites = Vec::new();
        for (module, functions) in (0..).zip(self.marks) {
            for (function, marked) in (0..).zip(functions) {
                let on_line = (0..).zip(marked.as_deref().unwrap_or_default()).filter(|(_, on)| **on);
                sites.extend(on_line.map(|(index, _)| Site { module, function, index }));
            }
        }
        sites
    }

    /// An execution is in progress in an activation of that depth or deeper.
    pub(crate) fn is_in_progress(&self, depth: u32) -> bool {
        self.running.iter().skip(depth as usize).any(Option::is_some)
    }

    /// Continues after steps that were left out; these variables were touched before the next one.
    pub(crate) fn resume(&mut self, touched: Touched<'a>) {
        self.touched = touched;
    }

    /// Begins to count after so many executions in other streams.
    #[must_use]
    pub fn after(self, count: u64) -> Watch<'a> {
        Watch { count, ..self }
    }

    /// Keeps no execution that begins from now on.
    pub(crate) fn stop_keeping(&mut self) {
        self.keep = Keep::First(0);
    }

    /// The instruction of the view is about to run, and no step before it was watched.
    pub fn begin(&mut self, view: &View<'_>) {
        self.about_to(view, view.index, view.count);
    }

    fn marked(&self, view: &View<'_>) -> Option<&'a [bool]> {
        self.marks.get(view.code.module as usize)?.get(view.code.function as usize)?.as_deref()
    }

    /// Instruction `next` of the function is about to run, at step `count` of the stream.
    fn about_to(&mut self, view: &View<'_>, next: u32, count: u64) {
        let Some(marked) = self.marked(view) else { return };
        let depth = view.depth as usize;
        if self.running.len() <= depth {
            self.running.resize(depth + 1, None);
        }
        let there = View { index: next, count, ..*view };
        let on_line = |index: u32| marked.get(index as usize).copied().unwrap_or(false);
        let enters = matches!(view.inst(), Inst::Jump { .. } | Inst::Branch { .. } | Inst::Switch { .. });
        match (&mut self.running[depth], on_line(next)) {
            (None, true) => self.start(&there),
            (Some(running), true) if enters && running.entered.contains(&next) => {
                self.leave(view);
                self.start(&there);
            }
            (Some(running), true) if enters => running.entered.push(next),
            (Some(_), false) => {
                // `view` is still at the line's last instruction, so variables are read with the bindings of the
                // path that was taken.
                if on_line(view.index) {
                    self.leave(view);
                }
                // Instructions without a source location belong to their neighbours: the line may continue
                // after them.
                if there.place().line != 0 {
                    self.running[depth] = None;
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, view: &View<'_>) {
        let kept = self.started(view);
        self.running[view.depth as usize] =
            Some(Running { first: view.index, entered: vec![view.index], kept });
    }

    /// Starts an execution. Returns its index, if it is kept.
    fn started(&mut self, view: &View<'_>) -> Option<usize> {
        self.has_run = true;
        if !self.holds(view) {
            return None;
        }
        let number = self.count + 1;
        if view.count < self.from {
            self.count = number;
            return None;
        }
        let is_kept = match self.keep {
            Keep::First(most) => self.executions.len() < most,
            Keep::Number(wanted) => wanted == number,
            Keep::LastBefore(step) => view.count < step,
        };
        if !is_kept {
            self.truncated = true;
            self.count = number;
            return None;
        }
        self.count = number;
        let before = self.sample(view, view.index, Side::Before);
        if matches!(self.keep, Keep::LastBefore(_)) {
            self.executions.clear();
            for running in self.running.iter_mut().flatten() {
                running.kept = None;
            }
        }
        self.executions.push(Execution {
            number,
            first: view.count,
            last: None,
            depth: view.depth,
            module: view.code.module,
            function: view.code.function,
            before,
            after: None,
        });
        Some(self.executions.len() - 1)
    }

    /// Control leaves the line after the instruction of `view`.
    fn leave(&mut self, view: &View<'_>) {
        let Some(Running { first, kept: Some(kept), .. }) =
            self.running.get(view.depth as usize).and_then(Clone::clone)
        else {
            return;
        };
        let after = self.sample(view, first, Side::After);
        if let Some(execution) = self.executions.get_mut(kept) {
            (execution.last, execution.after) = (Some(view.count), Some(after));
        }
    }

    /// The frame is popped.
    fn finish(&mut self, view: &View<'_>) {
        if self.marked(view).is_some_and(|marked| marked[view.index as usize]) {
            self.leave(view);
        }
        if let Some(running) = self.running.get_mut(view.depth as usize) {
            *running = None;
        }
    }

    fn holds(&mut self, view: &View<'_>) -> bool {
        let Some(condition) = self.condition else { return true };
        let value =
            self.at(view, view.index, Side::Before, |moment| moment.evaluate(condition).map(|v| v.truth()));
        match value {
            Ok(truth) => {
                self.succeeded |= self.expressions.is_empty();
                truth.unwrap_or(false)
            }
            Err(error) => {
                if error.depends_on_moment() {
                    self.succeeded |= self.expressions.is_empty();
                } else {
                    self.note(&condition.text, error, view);
                }
                false
            }
        }
    }

    fn note(&mut self, text: &str, error: Error, view: &View<'_>) {
        let site = Site { module: view.code.module, function: view.code.function, index: view.index };
        self.error.get_or_insert_with(|| (text.to_owned(), error, site));
    }

    /// Evaluates `ask` at a moment of the execution that began with instruction `first`. Names are looked up
    /// there or, if a block begins on the line, at later instructions of the line.
    fn at<'v, T>(
        &mut self,
        view: &View<'v>,
        first: u32,
        side: Side,
        ask: impl FnOnce(&Moment<'v, '_>) -> T,
    ) -> T {
        let (module, function) = (view.code.module, view.code.function);
        let image = self.image;
        let bindings = self
            .bindings
            .entry((module, function))
            .or_insert_with(|| Bindings::of(&image.module(module).functions[function as usize]));
        let marked = self.marks[module as usize][function as usize].as_deref().unwrap_or_default();
        let line = marked.iter().enumerate().filter(|(_, on)| **on).map(|(i, _)| i as u32);
        let lookups: Vec<u32> = std::iter::once(first).chain(line).collect();
        ask(&Moment { view: *view, bindings, lookups: &lookups, side, touched: &self.touched })
    }

    fn sample(&mut self, view: &View<'_>, first: u32, side: Side) -> Vec<Option<String>> {
        if self.expressions.is_empty() {
            return Vec::new();
        }
        let expressions = self.expressions;
        let limits = Limits::default();
        let all: Vec<expression::Result<Option<String>>> =
            self.at(view, first, side, |m| expressions.iter().map(|e| m.show(e, limits)).collect());
        self.succeeded |= all.iter().all(std::result::Result::is_ok);
        let mut texts = Vec::new();
        for (expression, text) in expressions.iter().zip(all) {
            match text {
                Ok(text) => texts.push(text),
                Err(error) => {
                    self.note(&expression.text, error, view);
                    texts.push(None);
                }
            }
        }
        texts
    }
}

impl Observer for Watch<'_> {
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        self.touched.step(view, effect);
        match view.inst() {
            Inst::Return { .. } => self.finish(view),
            // Continues in `returned`, `external` or `landed`.
            Inst::Call(_) => {}
            inst if inst.is_terminator() => {}
            _ => self.about_to(view, view.index + 1, view.count + 1),
        }
    }

    fn edge(&mut self, view: &View<'_>, _from: BlockId, to: BlockId) {
        let first = self.marked(view).map(|_| view.function().blocks[to as usize].start);
        if let Some(first) = first {
            self.about_to(view, first, view.count + 1);
        }
    }

    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        // Anything in progress in this frame was left by a longjmp.
        self.running.truncate(view.depth as usize);
        self.about_to(view, 0, view.count);
    }

    fn returned(&mut self, view: &View<'_>) {
        self.about_to(view, view.index + 1, view.count);
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.touched.external(view, call);
        self.about_to(view, view.index + 1, view.count);
    }

    fn event(&mut self, moment: &replay::observer::EventContext<'_>, position: Position, event: &Event<'_>) {
        self.touched.event(moment, position, event);
    }

    fn landed(&mut self, view: &View<'_>) {
        self.running.truncate(view.depth as usize + 1);
        self.about_to(view, view.index + 1, view.count);
    }

    fn unwound(&mut self, view: &View<'_>) {
        self.running.truncate(view.depth as usize + 1);
    }
}

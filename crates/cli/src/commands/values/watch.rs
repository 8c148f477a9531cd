//! Watching a line: when it runs, and what variables hold before and after.
//!
//! Replay reports instructions after they ran. A debugger shows a variable before the
//! line runs, so values are taken when the *next* instruction is known to be the line's
//! first, and again when control has left the line. A line runs anew when control
//! jumps back to its first instruction or ahead of it: each round of a loop that stands
//! on one line counts.

use program::inst::{BlockId, Inst};
use program::model::SymbolKind;
use replay::image::Image;
use replay::observer::{Effect, ExternalCall, Observer, View};
use replay::vars::{self, Bindings, Limits, Value};
use std::collections::HashMap;

/// One execution of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    pub instruction: u64,
    pub module: u32,
    pub function: u32,
    pub before: Vec<Option<String>>,
    /// `None` if the line did not come to its end.
    pub after: Option<Vec<Option<String>>>,
}

/// An execution that has not come to its end.
#[derive(Clone)]
struct Running {
    first: u32,
    /// Index in `executions`.
    number: usize,
    /// The local that each name stands for on the line.
    locals: Vec<Option<u32>>,
}

/// For each module and function, which instructions belong to the line.
pub type Marks = Vec<Vec<Option<Box<[bool]>>>>;

pub struct Watch<'a> {
    image: &'a Image,
    marks: &'a Marks,
    variables: &'a [String],
    limit: usize,
    bindings: HashMap<(u32, u32), Bindings<'a>>,
    /// The execution under way in each frame.
    running: Vec<Option<Running>>,
    pub executions: Vec<Execution>,
    /// There were more than the limit.
    pub truncated: bool,
}

impl<'a> Watch<'a> {
    pub fn new(image: &'a Image, marks: &'a Marks, variables: &'a [String], limit: usize) -> Watch<'a> {
        Watch {
            image,
            marks,
            variables,
            limit,
            bindings: HashMap::new(),
            running: Vec::new(),
            executions: Vec::new(),
            truncated: false,
        }
    }

    fn marked(&self, view: &View<'_>) -> Option<&'a [bool]> {
        self.marks.get(view.code.module as usize)?.get(view.code.function as usize)?.as_deref()
    }

    /// Instruction `next` of the function is about to run, as number `count` of the stream.
    fn about_to(&mut self, view: &View<'_>, next: u32, count: u64) {
        let Some(marked) = self.marked(view) else { return };
        let depth = view.depth as usize;
        if self.running.len() <= depth {
            self.running.resize(depth + 1, None);
        }
        let there = View { index: next, count, ..*view };
        let on_line = |index: u32| marked.get(index as usize).copied().unwrap_or(false);
        let first = self.running[depth].as_ref().map(|r| r.first);
        match (first, on_line(next)) {
            (None, true) => self.start(&there),
            (Some(first), true) if next <= first => {
                self.leave(view);
                self.start(&there);
            }
            (Some(_), false) => {
                // Here the variables still have their values on the way that was taken.
                if on_line(view.index) {
                    self.leave(view);
                }
                // Instructions without a place belong to their neighbours: the line may
                // go on after them.
                if there.place().line != 0 {
                    self.running[depth] = None;
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, view: &View<'_>) {
        if self.executions.len() >= self.limit {
            self.truncated = true;
            return;
        }
        let locals = self.locals(view);
        let before = self.sample(view, &locals, vars::value);
        let number = self.executions.len();
        self.running[view.depth as usize] = Some(Running { first: view.index, number, locals });
        self.executions.push(Execution {
            instruction: view.count,
            module: view.code.module,
            function: view.code.function,
            before,
            after: None,
        });
    }

    /// Control leaves the line after the instruction of `view`.
    fn leave(&mut self, view: &View<'_>) {
        if let Some(running) = self.running.get_mut(view.depth as usize).and_then(Option::take) {
            let after = self.sample(view, &running.locals, vars::value_after);
            self.executions[running.number].after = Some(after);
            self.running[view.depth as usize] = Some(running);
        }
    }

    /// The frame is left.
    fn finish(&mut self, view: &View<'_>) {
        if self.marked(view).is_some_and(|marked| marked[view.index as usize]) {
            self.leave(view);
        }
        if let Some(running) = self.running.get_mut(view.depth as usize) {
            *running = None;
        }
    }

    /// What the names stand for on the line: at its first instruction or, if a block
    /// begins on it, further on.
    fn locals(&self, view: &View<'_>) -> Vec<Option<u32>> {
        let f = view.function();
        let marked = self.marked(view).unwrap_or_default();
        let on_line = || marked.iter().enumerate().filter(|(_, on)| **on).map(|(i, _)| i as u32);
        let find = |name: &String| {
            std::iter::once(view.index).chain(on_line()).find_map(|i| f.variable_named(name, i))
        };
        self.variables.iter().map(find).collect()
    }

    fn sample(&mut self, view: &View<'_>, locals: &[Option<u32>], value: Sampler) -> Vec<Option<String>> {
        let (module, function) = (view.code.module, view.code.function);
        let image = self.image;
        let bindings = self
            .bindings
            .entry((module, function))
            .or_insert_with(|| Bindings::of(&image.module(module).functions[function as usize]));
        let each = self.variables.iter().zip(locals);
        each.map(|(name, local)| match local {
            None => global(view, name),
            Some(local) => match value(view, bindings, *local) {
                Value::Gone => None,
                value => {
                    let ty = view.function().variables[*local as usize].ty;
                    Some(vars::show(view.module(), vars::Data::of(view), ty, &value, Limits::default()))
                }
            },
        })
        .collect()
    }
}

/// Looks a local's value up.
type Sampler = fn(&View<'_>, &Bindings<'_>, u32) -> Value;

fn global(view: &View<'_>, name: &str) -> Option<String> {
    let module = view.module();
    let (index, ty) = module.symbols.iter().enumerate().find_map(|(i, s)| match s.kind {
        SymbolKind::Data { ty, .. } if s.name == name => Some((i, ty)),
        _ => None,
    })?;
    let address = view.image.symbol(view.code.module, index as u32);
    Some(vars::show(module, vars::Data::of(view), ty, &Value::At(address), Limits::default()))
}

impl Observer for Watch<'_> {
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        match view.inst() {
            Inst::Return { .. } => self.finish(view),
            // Goes on in `returned`, `external` or `landed`.
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
        // Whatever was running in this frame was left by a longjmp.
        self.running.truncate(view.depth as usize);
        self.about_to(view, 0, view.count);
    }

    fn returned(&mut self, view: &View<'_>) {
        self.about_to(view, view.index + 1, view.count);
    }

    fn external(&mut self, view: &View<'_>, _call: &ExternalCall<'_>) {
        self.about_to(view, view.index + 1, view.count);
    }

    fn landed(&mut self, view: &View<'_>) {
        self.running.truncate(view.depth as usize + 1);
        self.about_to(view, view.index + 1, view.count);
    }

    fn unwound(&mut self, view: &View<'_>) {
        self.running.truncate(view.depth as usize + 1);
    }
}

/// Notes which instructions ran at all, for modules that are asked about.
pub struct Coverage {
    pub ran: Vec<Vec<Box<[bool]>>>,
}

impl Coverage {
    pub fn new(image: &Image) -> Coverage {
        let mut ran: Vec<Vec<Box<[bool]>>> = Vec::new();
        for (index, loaded) in image.modules() {
            ran.resize_with(index as usize + 1, Vec::new);
            ran[index as usize] =
                loaded.model.functions.iter().map(|f| vec![false; f.code.len()].into()).collect();
        }
        Coverage { ran }
    }
}

impl Observer for Coverage {
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        let function =
            self.ran.get_mut(view.code.module as usize).and_then(|m| m.get_mut(view.code.function as usize));
        if let Some(cell) = function.and_then(|f| f.get_mut(view.index as usize)) {
            *cell = true;
        }
    }
}

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

/// For each module and function, which instructions belong to the line.
pub type Marks = Vec<Vec<Option<Box<[bool]>>>>;

pub struct Watch<'a> {
    image: &'a Image,
    marks: &'a Marks,
    variables: &'a [String],
    limit: usize,
    bindings: HashMap<(u32, u32), Bindings<'a>>,
    /// The execution under way in each frame: first instruction and index in `executions`.
    running: Vec<Option<(u32, usize)>>,
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
        let view = View { index: next, count, ..*view };
        match (self.running[depth], marked.get(next as usize).copied().unwrap_or(false)) {
            (None, true) => self.start(&view),
            (Some((first, _)), true) if next <= first => {
                self.finish(&view);
                self.start(&view);
            }
            // Instructions without a place belong to their neighbours.
            (Some(_), false) if view.place().line != 0 => self.finish(&view),
            _ => {}
        }
    }

    fn start(&mut self, view: &View<'_>) {
        if self.executions.len() >= self.limit {
            self.truncated = true;
            return;
        }
        let before = self.sample(view);
        self.running[view.depth as usize] = Some((view.index, self.executions.len()));
        self.executions.push(Execution {
            instruction: view.count,
            module: view.code.module,
            function: view.code.function,
            before,
            after: None,
        });
    }

    fn finish(&mut self, view: &View<'_>) {
        if let Some((_, execution)) = self.running.get_mut(view.depth as usize).and_then(Option::take) {
            let after = self.sample(view);
            self.executions[execution].after = Some(after);
        }
    }

    fn sample(&mut self, view: &View<'_>) -> Vec<Option<String>> {
        let (module, function) = (view.code.module, view.code.function);
        let image = self.image;
        let bindings = self
            .bindings
            .entry((module, function))
            .or_insert_with(|| Bindings::of(&image.module(module).functions[function as usize]));
        self.variables.iter().map(|name| local(view, bindings, name).or_else(|| global(view, name))).collect()
    }
}

/// A local variable's value. Of several with the same name the innermost that has one.
fn local(view: &View<'_>, bindings: &Bindings<'_>, name: &str) -> Option<String> {
    let variables = &view.function().variables;
    variables.iter().enumerate().rev().filter(|(_, v)| v.name == name).find_map(|(i, v)| {
        match vars::value(view, bindings, i as u32) {
            Value::Gone => None,
            value => Some(vars::show(view.module(), vars::Data::of(view), v.ty, &value, Limits::default())),
        }
    })
}

fn global(view: &View<'_>, name: &str) -> Option<String> {
    if view.function().variables.iter().any(|v| v.name == name) {
        return None;
    }
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

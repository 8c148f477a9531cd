//! The definition, word for word: the program is run statement by statement, and the graph of
//! its dependences, potential ones with their dummies, is searched as a whole.

use super::generate::{ARRAY, Case, Expr, Function, GLOBALS, Kind, Node, Read, Target};
use slice::Variant;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A place that holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Loc {
    Local(usize, usize),
    Global(usize),
    Element(usize),
    Pointer,
    Chosen,
}

/// The same without a run: what a statement may assign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Abstract {
    Local(usize),
    Global(usize),
    Array,
    Pointer,
    Chosen,
}

/// What can be reached: a statement that ran; of a call also what it passed as an argument.
#[derive(Clone, Debug)]
struct Event {
    function: usize,
    node: usize,
    frame: usize,
    /// Control parent, or the call.
    parent: Option<usize>,
    /// Used places, with who assigned them last.
    uses: Vec<(Loc, Option<usize>)>,
    /// Always needed besides: of an argument, its call.
    also: Option<usize>,
    /// When it ran, in order: an argument when its call did.
    time: usize,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    None,
    Edge(usize),
    Callee(usize),
}

pub struct Model<'c> {
    functions: Vec<&'c Function>,
    /// Control parents of each statement, and which edges lead to it.
    parents: Vec<Vec<Vec<(usize, usize)>>>,
    /// What the pointers may hold, whatever runs.
    pointees: BTreeSet<usize>,
    chosen: BTreeSet<usize>,
    events: Vec<Event>,
    last: HashMap<Loc, usize>,
    values: HashMap<Loc, u32>,
    frames: usize,
    question: Option<usize>,
}

impl<'c> Model<'c> {
    /// Runs a program.
    pub fn run(case: &'c Case, a: u32, b: u32) -> Model<'c> {
        let functions: Vec<&Function> = case.helpers.iter().chain([&case.body]).collect();
        // Only what can be called, by name or through the pointer, takes part.
        let mut pointees = BTreeSet::from([0]);
        let mut chosen: BTreeSet<usize> = (0..1).filter(|_| !case.helpers.is_empty()).collect();
        let mut callable = BTreeSet::from([case.helpers.len()]);
        loop {
            let before = (pointees.len(), chosen.len(), callable.len());
            for f in callable.clone() {
                for node in &functions[f].nodes {
                    match node.kind {
                        Kind::Point(g) => drop(pointees.insert(g)),
                        Kind::Choose(h) => drop(chosen.insert(h)),
                        Kind::Call(_, Some(callee), ..) => drop(callable.insert(callee)),
                        Kind::Call(_, None, ..) => callable.extend(&chosen),
                        _ => {}
                    }
                }
            }
            if before == (pointees.len(), chosen.len(), callable.len()) {
                break;
            }
        }
        let parents = functions.iter().map(|f| control(&f.nodes)).collect();
        let mut model = Model {
            functions,
            parents,
            pointees,
            chosen,
            events: Vec::new(),
            last: HashMap::new(),
            values: HashMap::new(),
            frames: 0,
            question: None,
        };
        for g in 0..GLOBALS {
            model.values.insert(Loc::Global(g), g as u32 + 1);
        }
        for i in 0..ARRAY {
            model.values.insert(Loc::Element(i), i as u32 + 1);
        }
        model.values.extend([(Loc::Pointer, 0), (Loc::Chosen, 0)]);
        let frame = model.frame();
        model.values.extend([(Loc::Local(frame, 4), a), (Loc::Local(frame, 5), b)]);
        model.call(case.helpers.len(), frame, None);
        model.question = Some(model.events.len() - 1);
        model
    }

    fn frame(&mut self) -> usize {
        self.frames += 1;
        self.frames - 1
    }

    fn value(&self, loc: Loc) -> u32 {
        self.values.get(&loc).copied().unwrap_or(0)
    }

    fn locate(&self, frame: usize, read: Read, uses: &mut Vec<Loc>) -> Loc {
        match read {
            Read::Local(v) => Loc::Local(frame, v),
            Read::Global(g) => Loc::Global(g),
            Read::Array(v) => {
                uses.push(Loc::Local(frame, v));
                Loc::Element(self.value(Loc::Local(frame, v)) as usize % ARRAY)
            }
            Read::Pointed => {
                uses.push(Loc::Pointer);
                Loc::Global(self.value(Loc::Pointer) as usize)
            }
        }
    }

    fn eval(&self, frame: usize, expr: &Expr, uses: &mut Vec<Loc>) -> u32 {
        let mut sum = expr.add;
        for read in &expr.reads {
            let loc = self.locate(frame, *read, uses);
            uses.push(loc);
            sum = sum.wrapping_add(self.value(loc).wrapping_mul(expr.times));
        }
        sum
    }

    fn target(&self, frame: usize, target: Target, uses: &mut Vec<Loc>) -> Loc {
        let read = match target {
            Target::Local(v) => Read::Local(v),
            Target::Global(g) => Read::Global(g),
            Target::Array(v) => Read::Array(v),
            Target::Pointed => Read::Pointed,
        };
        self.locate(frame, read, uses)
    }

    fn event(
        &mut self,
        (function, node, frame): (usize, usize, usize),
        parent: Option<usize>,
        uses: Vec<Loc>,
        way: Way,
    ) -> usize {
        let uses = uses.into_iter().map(|l| (l, self.last.get(&l).copied())).collect();
        let time = self.events.len();
        self.events.push(Event { function, node, frame, parent, uses, also: None, time, way });
        time
    }

    fn set(&mut self, loc: Loc, value: u32, by: usize) {
        self.values.insert(loc, value);
        self.last.insert(loc, by);
    }

    /// Runs a function; gives its result and who returned it.
    fn call(&mut self, function: usize, frame: usize, called: Option<usize>) -> (u32, Option<usize>) {
        let functions = self.functions.clone();
        let nodes = &functions[function].nodes;
        let mut decided: HashMap<usize, usize> = HashMap::new();
        let mut at = 0;
        let mut result = (0, None);
        while at < nodes.len() {
            let here = (function, at, frame);
            // The nearest branch before that decides about it.
            let parent = self.parents[function][at].iter().filter_map(|(p, _)| decided.get(p)).max();
            let parent = parent.copied().or(called);
            let mut uses = Vec::new();
            let mut edge = 0;
            match &nodes[at].kind {
                Kind::Nothing => {}
                Kind::Assign(target, expr) => {
                    let value = self.eval(frame, expr, &mut uses);
                    let loc = self.target(frame, *target, &mut uses);
                    let by = self.event(here, parent, uses, Way::None);
                    self.set(loc, value, by);
                }
                Kind::Point(g) => {
                    let by = self.event(here, parent, uses, Way::None);
                    self.set(Loc::Pointer, *g as u32, by);
                }
                Kind::Choose(h) => {
                    let by = self.event(here, parent, uses, Way::None);
                    self.set(Loc::Chosen, *h as u32, by);
                }
                Kind::Branch(x, y) => {
                    // A loop's test has a plain left side.
                    let plain = x.add == 0 && matches!(x.reads[..], [Read::Local(v)] if v > 5);
                    let holds = if plain {
                        let limit = self.eval(frame, y, &mut uses) & 3;
                        self.eval(frame, x, &mut uses) < limit
                    } else {
                        let right = self.eval(frame, y, &mut uses) & 7;
                        self.eval(frame, x, &mut uses) & 7 < right
                    };
                    edge = usize::from(!holds);
                    let by = self.event(here, parent, uses, Way::Edge(edge));
                    decided.insert(at, by);
                }
                Kind::Call(target, callee, x, y) => {
                    let mut through = Vec::new();
                    let callee = callee.unwrap_or_else(|| {
                        through.push(Loc::Chosen);
                        self.value(Loc::Chosen) as usize
                    });
                    let way = if through.is_empty() { Way::None } else { Way::Callee(callee) };
                    let call = self.event(here, parent, through, way);
                    let inner = self.frame();
                    for (p, arg) in [(4, x), (5, y)] {
                        let mut uses = Vec::new();
                        let value = self.eval(frame, arg, &mut uses);
                        let by = self.event(here, parent, uses, Way::None);
                        self.events[by].also = Some(call);
                        self.events[by].time = call;
                        self.set(Loc::Local(inner, p), value, by);
                    }
                    let (value, returned) = self.call(callee, inner, Some(call));
                    let loc = self.target(frame, *target, &mut uses);
                    match loc {
                        // A local is the call's result itself.
                        Loc::Local(..) => {
                            self.values.insert(loc, value);
                            self.last.insert(loc, returned.expect("a return"));
                        }
                        _ => {
                            let by = self.event(here, parent, uses, Way::None);
                            self.events[by].also = returned;
                            self.set(loc, value, by);
                        }
                    }
                }
                Kind::Return(expr) => {
                    let value = self.eval(frame, expr, &mut uses);
                    let by = self.event(here, parent, uses, Way::None);
                    result = (value, Some(by));
                }
            }
            at = nodes[at].next[edge];
        }
        result
    }

    /// What a statement may assign, with all it calls.
    fn assigns(&self, kind: &Kind, out: &mut HashSet<Abstract>) {
        let mut target = |t: &Target| match t {
            Target::Local(v) => drop(out.insert(Abstract::Local(*v))),
            Target::Global(g) => drop(out.insert(Abstract::Global(*g))),
            Target::Array(_) => drop(out.insert(Abstract::Array)),
            Target::Pointed => out.extend(self.pointees.iter().map(|g| Abstract::Global(*g))),
        };
        match kind {
            Kind::Assign(t, _) => target(t),
            Kind::Point(_) => drop(out.insert(Abstract::Pointer)),
            Kind::Choose(_) => drop(out.insert(Abstract::Chosen)),
            Kind::Call(t, callee, ..) => {
                target(t);
                let callees: Vec<usize> =
                    callee.map_or_else(|| self.chosen.iter().copied().collect(), |c| vec![c]);
                for callee in callees {
                    self.function_assigns(callee, out);
                }
            }
            Kind::Branch(..) | Kind::Return(_) | Kind::Nothing => {}
        }
    }

    fn function_assigns(&self, function: usize, out: &mut HashSet<Abstract>) {
        let mut inside = HashSet::new();
        for node in &self.functions[function].nodes {
            self.assigns(&node.kind, &mut inside);
        }
        out.extend(inside.into_iter().filter(|a| !matches!(a, Abstract::Local(_))));
    }

    /// What may be assigned had a branch or call gone another way.
    fn other_ways(&self, event: &Event) -> HashSet<Abstract> {
        let mut out = HashSet::new();
        let nodes = &self.functions[event.function].nodes;
        match event.way {
            Way::None => {}
            Way::Callee(taken) => {
                for other in self.chosen.iter().filter(|c| **c != taken) {
                    self.function_assigns(*other, &mut out);
                }
            }
            Way::Edge(taken) => {
                let parents = &self.parents[event.function];
                let other = 1 - taken;
                if nodes[event.node].next[0] == nodes[event.node].next[1] {
                    return out;
                }
                let mut inside: BTreeSet<usize> =
                    (0..nodes.len()).filter(|n| parents[*n].contains(&(event.node, other))).collect();
                loop {
                    let more: Vec<usize> = (0..nodes.len())
                        .filter(|n| {
                            !inside.contains(n) && parents[*n].iter().any(|(p, _)| inside.contains(p))
                        })
                        .collect();
                    if more.is_empty() {
                        break;
                    }
                    inside.extend(more);
                }
                for n in inside {
                    self.assigns(&nodes[n].kind, &mut out);
                }
            }
        }
        out
    }

    /// Whether an event depends on another by control alone.
    fn is_controlled(&self, event: usize, by: usize) -> bool {
        let mut at = self.events[event].parent;
        while let Some(p) = at {
            if p == by {
                return true;
            }
            at = self.events[p].parent;
        }
        false
    }

    /// Lines of the slice of the last statement.
    pub fn slice(&self, variant: Option<Variant>) -> BTreeSet<u32> {
        let ways: Vec<HashSet<Abstract>> = self.events.iter().map(|e| self.other_ways(e)).collect();
        let may = |event: &Event, branch: usize, loc: Loc| {
            let abstracted = match loc {
                Loc::Local(frame, v) if frame == self.events[branch].frame => Abstract::Local(v),
                Loc::Local(..) => return false,
                Loc::Global(g) => Abstract::Global(g),
                Loc::Element(_) => Abstract::Array,
                Loc::Pointer => Abstract::Pointer,
                Loc::Chosen => Abstract::Chosen,
            };
            let _ = event;
            ways[branch].contains(&abstracted)
        };
        // Nodes: an event, as itself or as a dummy.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        enum As {
            Itself,
            Dummy,
        }
        let start = self.question.expect("it was run");
        let mut seen = HashSet::from([(start, As::Itself)]);
        let mut work = vec![(start, As::Itself)];
        while let Some((at, how)) = work.pop() {
            let event = &self.events[at];
            let full = how == As::Itself;
            let mut next: Vec<(usize, As)> = Vec::new();
            if full {
                next.extend(event.parent.map(|p| (p, As::Itself)));
            }
            next.extend(event.also.map(|a| (a, As::Itself)));
            next.extend(event.uses.iter().filter_map(|u| u.1).map(|d| (d, As::Itself)));
            if let Some(variant) = variant {
                let dummy = if variant == Variant::Closure { As::Itself } else { As::Dummy };
                for (loc, by) in &event.uses {
                    for branch in 0..self.events.len() {
                        let b = &self.events[branch];
                        let between = by.is_none_or(|by| by < branch) && b.time < event.time;
                        if b.way == Way::None || !between || !may(event, branch, *loc) {
                            continue;
                        }
                        // What depends on the branch does so already.
                        if self.is_controlled(at, branch) {
                            continue;
                        }
                        next.push((branch, dummy));
                    }
                }
            }
            work.extend(next.into_iter().filter(|n| seen.insert(*n)));
        }
        seen.into_iter().map(|(e, _)| self.line(e)).collect()
    }

    fn line(&self, event: usize) -> u32 {
        let e = &self.events[event];
        self.functions[e.function].nodes[e.node].line
    }
}

/// Control parents of each statement, by the definition: it stands on every way from an edge
/// of the parent to the end, and not on every way from the parent.
fn control(nodes: &[Node]) -> Vec<Vec<(usize, usize)>> {
    let end = nodes.len();
    // Whether `a` stands on every way from `from` to the end.
    let always = |a: usize, from: usize| {
        if a == from {
            return true;
        }
        let mut seen = HashSet::from([from]);
        let mut work = vec![from];
        while let Some(n) = work.pop() {
            if n == end {
                return false;
            }
            for next in &nodes[n].next {
                if *next != a && seen.insert(*next) {
                    work.push(*next);
                }
            }
        }
        true
    };
    (0..end)
        .map(|n| {
            let branches = (0..end).filter(|b| nodes[*b].next.len() == 2);
            let edges = branches.flat_map(|b| [(b, 0), (b, 1)]);
            edges
                .filter(|(b, e)| {
                    let strictly = *b != n && always(n, *b);
                    always(n, nodes[*b].next[*e]) && !strictly
                })
                .collect()
        })
        .collect()
}

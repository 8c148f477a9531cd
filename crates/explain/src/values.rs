//! The causes with their values in both versions.
//!
//! Every step of the tree is an executed instruction of one run. The corresponding one of the other run is
//! found by its execution index ([`crate::align`]). If there is none, the other version never executed it,
//! which is often the explanation itself.

use crate::absence::{Absent, Stated};
use crate::align::Side;
use crate::answer::{Cause, Link, Observation, Place, ValuePair};
use crate::case::Case;
use crate::causes::Step;
use crate::condition::{Condition, has_one_test, negated, switched};
use crate::findings::{Findings, Run};
use crate::formula::formula;
use crate::library;
use crate::links::links;
use crate::members::{differing, tells};
use crate::moments::counterparts;
use program::inst::Inst;
use program::names::{is_library, readable};
use slice::snapshot::line::{Decision, LineSnapshot};
use slice::{Dependence, Occurrence};
use std::collections::{HashMap, HashSet};

/// Both runs, for looking up values.
pub struct Comparison<'c, 'l> {
    findings: &'c Findings<'l>,
    case: &'c Case<'c>,
    observation: &'c Observation,
}

/// A step with the values there in its own run and in the other.
struct Sight {
    own: Option<LineSnapshot>,
    other: Option<LineSnapshot>,
    /// The corresponding location in the other run.
    other_place: Option<Place>,
    /// Both runs were examined, and the other did not execute this step.
    absent: Option<Absent>,
    /// The line has the same text in both versions.
    same_text: bool,
    /// Its branches test its whole condition, in both versions.
    one_test: bool,
    /// The operand that it negates and tests, if it does nothing else.
    negated: Option<String>,
    /// The operand of its `switch`, if it has one.
    switched: Option<String>,
    /// The intervention that puts the other run's value into this one.
    link: Option<Link>,
    /// The call that replaces a step in a library, and its location.
    call: Option<(Occurrence, Place)>,
}

impl<'c, 'l> Comparison<'c, 'l> {
    /// Compares the two runs of `findings`; `observation` is the text for the failure.
    #[must_use]
    pub fn new(findings: &'c Findings<'l>, case: &'c Case<'_>, observation: &'c Observation) -> Self {
        Comparison { findings, case, observation }
    }

    /// Merges the trees of both runs: steps of good below the failure of bad.
    #[must_use]
    pub fn causes(&self, bad: &[Step], good: &[Step]) -> Vec<Cause> {
        let mut numbers = 0;
        let mut causes = self.below_failure(self.forest(bad, self.findings.bad.as_ref(), &mut numbers));
        let mut from_good = Vec::new();
        for step in good {
            let here = self.forest(std::slice::from_ref(step), self.findings.good.as_ref(), &mut numbers);
            let Some(before) = self.findings.way_before(step, self.case.difference) else {
                from_good.extend(here);
                continue;
            };
            for mut way in self.forest(&before, self.findings.bad.as_ref(), &mut numbers) {
                go_on(&mut way, here.clone());
                merge(&mut causes, way);
            }
        }
        match (causes.first_mut(), from_good) {
            (Some(top), from_good) => {
                for cause in from_good {
                    // The failure itself is already the root.
                    if cause.good_place.as_ref().map(|p| (&p.file, p.line))
                        == top.good_place.as_ref().map(|p| (&p.file, p.line))
                        && cause.change.is_none()
                    {
                        top.children.extend(cause.children);
                    } else {
                        top.children.push(cause);
                    }
                }
            }
            (None, from_good) => causes = self.ended_by_failure(from_good),
        }
        if let Some(top) = causes.first_mut() {
            self.stand_at_return(top);
            "failure".clone_into(&mut top.kind);
            top.what.clone_from(&self.observation.summary);
        }
        number(&mut causes, &mut 0);
        causes
    }

    /// Moves the paths from the earlier event of a memory error below the failure, which needed both events.
    fn below_failure(&self, causes: Vec<Cause>) -> Vec<Cause> {
        let Some(earlier) = &self.observation.earlier else { return causes };
        let stands = |place: &Option<Place>| place.as_ref().map(|place| (place.file.clone(), place.line));
        let failed = stands(&self.observation.place);
        let is_earlier = |cause: &Cause| {
            let here = stands(&cause.place);
            here == Some((earlier.file.clone(), earlier.line)) && here != failed
        };
        let (before, mut rest): (Vec<_>, Vec<_>) = causes.into_iter().partition(is_earlier);
        let before = before.into_iter().map(|cause| Cause { how: "freed the block".to_owned(), ..cause });
        match rest.iter().position(|cause| stands(&cause.place) == failed) {
            Some(top) => rest[top].children.extend(before),
            None if rest.is_empty() => {
                let place = self.observation.place.clone();
                let children = before.collect();
                rest.push(Cause { place, step: self.observation.step, children, ..Cause::default() });
            }
            None => rest.extend(before),
        }
        rest
    }

    /// Moves a failure at the closing bracket, where all returns of a function meet, to the `return` that was
    /// taken: the step below, if it has the observed location.
    fn stand_at_return(&self, top: &mut Cause) {
        let observed = self.observation.place.as_ref().map(|place| (&place.file, place.line));
        let is_taken = |below: &Cause| {
            let stands = below.place.as_ref().map(|place| (&place.file, place.line));
            stands.is_some() && stands == observed && matches!(below.kind.as_str(), "value" | "missing")
        };
        if closes(top) && top.children.len() == 1 && is_taken(&top.children[0]) {
            let below = top.children.pop().unwrap_or_default();
            top.place = below.place;
            top.good_place = below.good_place;
            top.change = top.change.or(below.change);
            top.children = below.children;
        }
    }

    /// Paths of good's run end where it took another branch. The failure of bad becomes the last step if it
    /// has another location.
    fn ended_by_failure(&self, mut causes: Vec<Cause>) -> Vec<Cause> {
        let line = |place: &Option<Place>| place.as_ref().map(|place| (place.file.clone(), place.line));
        let (Some(top), Some(place)) = (causes.first(), &self.observation.place) else { return causes };
        if line(&top.place) == line(&self.observation.place) {
            return causes;
        }
        for cause in &mut causes {
            if cause.kind == "branch" {
                cause.how = format!("from here on, {} goes another way", self.case.reference);
            }
        }
        let (place, step) = (Some(place.clone()), self.observation.step);
        vec![Cause { place, step, children: causes, ..Cause::default() }]
    }

    fn forest(&self, steps: &[Step], run: Option<&Run<'l>>, numbers: &mut u32) -> Vec<Cause> {
        let Some(run) = run else { return Vec::new() };
        let mut all: Vec<&Step> = Vec::new();
        for step in steps {
            step.walk(&mut |s| all.push(s));
        }
        let sights = self.sights(&all, run);
        let mut by_step: HashMap<*const Step, Sight> =
            all.iter().map(|s| std::ptr::from_ref(*s)).zip(sights).collect();
        let mut folded = HashSet::new();
        let causes: Vec<Cause> =
            steps.iter().map(|step| self.cause(step, run, &mut by_step, numbers, &mut folded)).collect();
        causes.into_iter().map(|cause| library::join(cause, &|c| folded.contains(&c.id))).collect()
    }

    fn cause(
        &self,
        step: &Step,
        run: &Run<'_>,
        sights: &mut HashMap<*const Step, Sight>,
        numbers: &mut u32,
        folded: &mut HashSet<u32>,
    ) -> Cause {
        let sight = sights.remove(&std::ptr::from_ref(step));
        let id = *numbers;
        *numbers += 1;
        let node = run.traced.slice.nodes[step.node as usize];
        let own =
            self.place(step.side, run.traced.file(step.line), step.line.line, run.traced.function(node.site));
        let (place, good_place) = match step.side {
            Side::Bad => (Some(own), sight.as_ref().and_then(|s| s.other_place.clone())),
            Side::Good => (sight.as_ref().and_then(|s| s.other_place.clone()), Some(own)),
        };
        let values = sight.as_ref().map(|s| values(step.side, s)).unwrap_or_default();
        let inst = run.traced.inst(node.site);
        let module = run.traced.process.image.module(node.site.module);
        let kind = match (step.side, inst) {
            (Side::Good, _) if sight.as_ref().is_none_or(|s| s.absent.is_some()) => "missing",
            (_, Inst::Branch { .. } | Inst::Switch { .. }) => "branch",
            (_, Inst::Call(_)) => "call",
            _ => "value",
        };
        let how = match step.how {
            None => String::new(),
            Some(Dependence::Control | Dependence::Call) => "controls whether the next step runs".to_owned(),
            Some(Dependence::Jump) => "did not return: jumped out to the next step".to_owned(),
            Some(Dependence::External) => "called back".to_owned(),
            Some(Dependence::Potential) => "could have changed it, going the other way".to_owned(),
            Some(_) => self.passed_on(step, run),
        };
        // A formula belongs to the line that is shown, which is bad's if there is one.
        let formula = (step.side == Side::Bad || place.is_none())
            .then(|| formula(module, &module.functions[node.site.function as usize], node.site.index))
            .flatten();
        let children = step.next.iter().map(|next| self.cause(next, run, sights, numbers, folded));
        let children = children.map(without_closing).map(without_passing_on).collect();
        let call = sight.as_ref().and_then(|s| s.call.clone());
        let there = sight.as_ref().and_then(|s| s.other_place.clone());
        let cause = Cause {
            id,
            kind: kind.to_owned(),
            what: sight
                .as_ref()
                .map(|s| {
                    let text = place.as_ref().or(good_place.as_ref()).map_or("", |place| place.text.as_str());
                    let condition = formula.as_deref().map(|formula| Condition::of(formula, text));
                    sentence(step, kind, s, &values, condition.as_ref(), self.case.reference)
                })
                .unwrap_or_default(),
            how,
            place,
            good_place,
            formula,
            values,
            change: step.change.map(|c| c.0),
            step: Some(call.as_ref().map_or(node.at, |(at, _)| *at).step),
            link: sight.and_then(|s| s.link),
            children,
        };
        let Some((_, here)) = call else { return cause };
        folded.insert(id);
        match step.side {
            Side::Bad => library::as_call(cause, Some(here), there),
            Side::Good => library::as_call(cause, there, Some(here)),
        }
    }

    /// The variable through which a step's value reached the parent step.
    fn passed_on(&self, step: &Step, run: &Run<'_>) -> String {
        let node = run.traced.slice.nodes[step.node as usize];
        let module = run.traced.process.image.module(node.site.module);
        let function = &module.functions[node.site.function as usize];
        let next = node.site.index + 1;
        // The variable bound to the result of the instruction.
        let made = function.code[node.site.index as usize].defines().map(|(reg, _)| reg);
        let named = function.bindings.iter().filter(|b| b.at == next || b.at == node.site.index).find(|b| {
            matches!(b.home, program::model::Home::Value(program::inst::Operand::Reg(r), _) if Some(r) == made)
        });
        match named {
            Some(binding) => function.variables[binding.variable as usize].name.clone(),
            None => "value".to_owned(),
        }
    }

    fn place(&self, side: Side, file: &str, line: u32, function: &str) -> Place {
        let text = self.case.sources.line(side, file, line).unwrap_or_default();
        Place { file: file.to_owned(), line, column: 0, function: readable(function).into_owned(), text }
    }

    /// Values of steps in their own run, and at the corresponding steps of the other.
    fn sights(&self, steps: &[&Step], run: &Run<'l>) -> Vec<Sight> {
        let executed: Vec<Occurrence> =
            steps.iter().map(|s| run.traced.slice.nodes[s.node as usize].at).collect();
        let calls = self.calls(steps, &executed, run);
        // Lines of a library are replaced by the call of it.
        let at: Vec<Occurrence> =
            executed.iter().zip(&calls).map(|(at, call)| call.as_ref().map_or(*at, |call| call.0)).collect();
        let other_run = match run.traced.side {
            Side::Bad => self.findings.good.as_ref(),
            Side::Good => self.findings.bad.as_ref(),
        };
        let counterparts = |at: &[Occurrence]| match other_run {
            Some(other) => counterparts(at, run, other, self.case),
            None => vec![None; at.len()],
        };
        let found = counterparts(&at);
        // The intervention replaces the value of the step itself.
        let of_steps = if at == executed { found.clone() } else { counterparts(&executed) };
        let links = other_run.map_or_else(
            || vec![None; at.len()],
            |other| {
                let exact: Vec<_> = of_steps.iter().map(|found| found.as_ref()?.exact).collect();
                links(steps, &exact, run, other)
            },
        );
        steps
            .iter()
            .zip(at)
            .zip(calls)
            .zip(found.into_iter().zip(links))
            .map(|(((step, at), call), (found, link))| {
                let (file, line) = match &call {
                    Some((_, place)) => (place.file.as_str(), place.line),
                    None => (run.traced.file(step.line), step.line.line),
                };
                let own_text = self.case.sources.line(step.side, file, line).unwrap_or_default();
                let (Some(other_run), Some(found)) = (other_run, found) else {
                    return Sight {
                        own: run.slicer.line_snapshot(at, &own_text, ""),
                        other: None,
                        other_place: None,
                        absent: None,
                        same_text: true,
                        one_test: has_one_test(&own_text),
                        negated: negated(&own_text).map(str::to_owned),
                        switched: switched(&own_text).map(str::to_owned),
                        link: None,
                        call,
                    };
                };
                let node = run.traced.slice.nodes[step.node as usize];
                let candidates = [found.exact, found.last, found.first].into_iter().flatten();
                let places = candidates.filter_map(|there| Some((there, self.place_of(other_run, there)?)));
                let own = Stated { side: step.side, file, line, text: &own_text };
                let counterpart =
                    places.into_iter().find(|(_, place)| own.is_counterpart(self.case.difference, place));
                let Some((there, other_place)) = counterpart else {
                    let function = run.traced.function(node.site);
                    let absent = Absent::line(self.findings, self.case, step.side, (file, line), function);
                    let absent = Some(absent);
                    return Sight {
                        own: run.slicer.line_snapshot(at, &own_text, ""),
                        other: None,
                        other_place: None,
                        absent,
                        same_text: true,
                        one_test: has_one_test(&own_text),
                        negated: negated(&own_text).map(str::to_owned),
                        switched: switched(&own_text).map(str::to_owned),
                        link: None,
                        call,
                    };
                };
                let text = other_place.text.clone();
                // If the texts of the lines differ, variables of either text have values at both.
                let own = run.slicer.line_snapshot(at, &own_text, &text);
                let other = other_run.slicer.line_snapshot(there, &text, &own_text);
                let same_text = text.trim() == own_text.trim();
                // A different value of a different expression proves nothing; a different decision does.
                let decides = matches!(run.traced.inst(node.site), Inst::Branch { .. });
                let link = link.filter(|_| same_text || decides);
                let one_test = has_one_test(&own_text) && has_one_test(&text);
                let negated = negated(&own_text).filter(|_| same_text).map(str::to_owned);
                let switched = switched(&own_text).filter(|_| same_text).map(str::to_owned);
                Sight {
                    own,
                    other,
                    other_place: Some(other_place),
                    absent: None,
                    same_text,
                    one_test,
                    negated,
                    switched,
                    link,
                    call,
                }
            })
            .collect()
    }

    /// The calls by which the program entered the library, for steps in a library.
    fn calls(&self, steps: &[&Step], at: &[Occurrence], run: &Run<'l>) -> Vec<Option<(Occurrence, Place)>> {
        let in_library: Vec<usize> =
            (0..steps.len()).filter(|n| is_library(run.traced.file(steps[*n].line))).collect();
        let mut answer = vec![None; steps.len()];
        if in_library.is_empty() {
            return answer;
        }
        let moments: Vec<Occurrence> = in_library.iter().map(|n| at[*n]).collect();
        for (n, call) in in_library.into_iter().zip(library::calls(run.traced.process, &moments)) {
            answer[n] = call.and_then(|call| Some((call, self.place_of(run, call)?)));
        }
        answer
    }

    fn place_of(&self, run: &Run<'_>, at: Occurrence) -> Option<Place> {
        let machine = run.slicer.machine_at(at).ok()?;
        let view = machine.view()?;
        let place = view.place();
        let file = run.traced.relative(&view.module().file_path(place.file));
        Some(self.place(run.traced.side, &file, place.line, &readable(&view.function().name)))
    }
}

/// File and line in bad and in good.
fn lines(cause: &Cause) -> [Option<(&str, u32)>; 2] {
    [&cause.place, &cause.good_place].map(|place| place.as_ref().map(|place| (&*place.file, place.line)))
}

/// Appends causes of good's run to the end of a path of bad's.
fn go_on(way: &mut Cause, causes: Vec<Cause>) {
    if let Some(next) = way.children.last_mut() {
        return go_on(next, causes);
    }
    for cause in causes {
        // The line of the crossing is already there.
        if lines(&cause)[1] == lines(way)[1] {
            way.children.extend(cause.children);
        } else {
            way.children.push(cause);
        }
    }
}

/// Inserts a path into a tree; common prefixes are shared.
fn merge(causes: &mut Vec<Cause>, way: Cause) {
    match causes.iter_mut().find(|cause| lines(cause) == lines(&way)) {
        Some(known) => way.children.into_iter().for_each(|next| merge(&mut known.children, next)),
        None => causes.push(way),
    }
}

/// Numbers causes in preorder.
pub(crate) fn number(causes: &mut [Cause], next: &mut u32) {
    for cause in causes {
        cause.id = *next;
        *next += 1;
        number(&mut cause.children, next);
    }
}

/// Whether a step is at a closing bracket.
fn closes(cause: &Cause) -> bool {
    cause.place.as_ref().or(cause.good_place.as_ref()).is_some_and(|place| place.text.trim() == "}")
}

/// Replaces a step at a closing bracket by the one step below it, which computed the returned value.
fn without_closing(mut cause: Cause) -> Cause {
    let hands_on = matches!(cause.kind.as_str(), "value" | "missing");
    if closes(&cause) && hands_on && cause.change.is_none() && cause.children.len() == 1 {
        let below = cause.children.pop().unwrap_or_default();
        return Cause { how: cause.how, ..below };
    }
    cause
}

/// The end of a clean-up resumes an exception; it has no counterpart in the source.
const PASSES_ON: &str = "_Unwind_Resume";

/// Removes clean-ups through which an exception passes.
fn without_passing_on(mut cause: Cause) -> Cause {
    if cause.what.starts_with(&was_called(PASSES_ON)) && cause.children.len() == 1 {
        let below = cause.children.pop().unwrap_or_default();
        return Cause { change: below.change.or(cause.change), ..below };
    }
    cause
}

fn was_called(callee: &str) -> String {
    match callee {
        "__cxa_throw" => "an exception was thrown".to_owned(),
        "__cxa_rethrow" => "an exception was thrown again".to_owned(),
        _ => format!("{callee} was called"),
    }
}

/// Variables of the line in both versions, and the computed value if none of them holds it.
fn values(side: Side, sight: &Sight) -> Vec<ValuePair> {
    let (bad, good) = match side {
        Side::Bad => (&sight.own, &sight.other),
        Side::Good => (&sight.other, &sight.own),
    };
    let mut pairs: Vec<ValuePair> = Vec::new();
    for (is_bad, snapshot) in [(true, bad), (false, good)] {
        for (name, value) in snapshot.iter().flat_map(|g| &g.variables) {
            let at = pairs.iter().position(|p| p.name == *name).unwrap_or_else(|| {
                pairs.push(ValuePair { name: name.clone(), ..ValuePair::default() });
                pairs.len() - 1
            });
            let to = if is_bad { &mut pairs[at].bad } else { &mut pairs[at].good };
            *to = Some(value.clone());
        }
    }
    // An uninformative value is shown only if the other version's value is informative.
    let tells = |value: &Option<String>| value.as_deref().is_some_and(tells);
    pairs.retain(|pair| tells(&pair.bad) || tells(&pair.good));
    let result = |snapshot: &Option<LineSnapshot>| snapshot.as_ref().and_then(|g| g.result.clone());
    let (bad, good) = (result(bad), result(good));
    let shown = |value: &Option<String>, of: fn(&ValuePair) -> &Option<String>| {
        let is =
            |pair: &ValuePair| of(pair).as_ref().zip(value.as_ref()).is_some_and(|(a, b)| same_bits(a, b));
        value.is_none() || pairs.iter().any(is)
    };
    // Lines with different texts compute different expressions. A structure is shown as such, not as the
    // machine words in which it is passed.
    let is_structure = |value: &Option<String>| value.as_ref().is_some_and(|v| v.starts_with('{'));
    let by_structure = pairs.iter().any(|p| p.bad != p.good && is_structure(&p.bad) && is_structure(&p.good));
    let is_comparable = (sight.same_text || bad.is_none() || good.is_none()) && !by_structure;
    if is_comparable && !(shown(&bad, |p| &p.bad) && shown(&good, |p| &p.good)) {
        pairs.push(ValuePair { name: "result".to_owned(), good, bad });
    }
    for pair in &mut pairs {
        let both = pair.good.as_deref().zip(pair.bad.as_deref());
        if let Some((good, bad)) = both.and_then(|(good, bad)| differing(good, bad)) {
            (pair.good, pair.bad) = (Some(good), Some(bad));
        }
    }
    pairs
}

/// Whether two texts represent the same bits: a result is shown as signed, its variable may be unsigned.
fn same_bits(a: &str, b: &str) -> bool {
    // The text of a character has its number first.
    let number = |text: &str| match text {
        "true" => Some(1),
        "false" => Some(0),
        _ => text.split(' ').next()?.parse::<i128>().ok(),
    };
    let numbers = || Some((number(a)?, number(b)?));
    let differ = |(a, b): (i128, i128)| a.abs_diff(b);
    let is_wrapped = |by: u128| by == 0 || [8, 16, 32, 64].iter().any(|bits| by == 1 << bits);
    a == b || numbers().map(differ).is_some_and(is_wrapped)
}

/// One sentence about a step.
fn sentence(
    step: &Step,
    kind: &str,
    sight: &Sight,
    values: &[ValuePair],
    formula: Option<&Condition<'_>>,
    reference: &str,
) -> String {
    if kind == "missing" {
        return Absent::in_bad(sight.absent, reference);
    }
    let (own, other) = (sight.own.as_ref(), sight.other.as_ref());
    let decision = |g: Option<&LineSnapshot>| g.and_then(|g| g.decision.clone());
    let words = |d: &Decision| match d {
        Decision::Held(true) => "true".to_owned(),
        Decision::Held(false) => "false".to_owned(),
        Decision::Value(v) => v.clone(),
        Decision::Threw(_) => String::new(),
    };
    let (bad, good) = match step.side {
        Side::Bad => (decision(own), decision(other)),
        Side::Good => (decision(other), decision(own)),
    };
    let alike = sight.same_text || good.is_none();
    let written = formula.filter(|_| alike);
    let turned = |d: Decision| match d {
        Decision::Held(held) => Decision::Held(held != written.is_some_and(|c| c.is_turned)),
        value => value,
    };
    let (bad, good) = (bad.map(turned), good.map(turned));
    if let Some(sentence) = thrown(bad.as_ref(), good.as_ref(), sight.absent, reference) {
        return sentence;
    }
    let operand = sight
        .switched
        .as_deref()
        .filter(|_| matches!(bad.as_ref().or(good.as_ref()), Some(Decision::Value(_))));
    // Formatted by type if the line's own value has one: the name of an enumerator, a character.
    let typed = operand.and_then(|operand| values.iter().find(|pair| pair.name == operand));
    let (bad, good) = match typed {
        Some(pair) => (
            bad.map(|own| pair.bad.clone().map_or(own, Decision::Value)),
            good.map(|own| pair.good.clone().map_or(own, Decision::Value)),
        ),
        None => (bad, good),
    };
    let condition = match formula {
        Some(formula) if alike => format!("`{}`", formula.written),
        Some(formula) => format!("`{}`", formula.computed),
        None if operand.is_some() => format!("`{}`", operand.unwrap_or_default()),
        None if sight.one_test => "the condition".to_owned(),
        None => match sight.negated.as_deref() {
            Some(operand) => format!("`{operand}`"),
            None => "what is tested here".to_owned(),
        },
    };
    match (bad, good) {
        (Some(bad), Some(good)) if bad != good && sight.same_text => {
            return format!("{condition} was {}, in {reference} it was {}", words(&bad), words(&good));
        }
        (Some(bad), Some(good)) if bad != good => {
            let (bad, good) = (words(&bad), words(&good));
            return format!("{condition} was {bad}, the condition that {reference} has there was {good}");
        }
        (Some(bad), _) => {
            return format!("{condition} was {}{}", words(&bad), Absent::beside(sight.absent, reference));
        }
        _ => {}
    }
    if let Some(callee) = own.and_then(|g| g.callee.as_ref()) {
        return format!("{}{}", was_called(callee), Absent::beside(sight.absent, reference));
    }
    let differing = values.iter().rev().find(|p| p.bad.is_some() && p.good.is_some() && p.bad != p.good);
    match differing {
        Some(ValuePair { name, good: Some(good), bad: Some(bad) }) => {
            format!("{name} was {bad}, in {reference} it was {good}")
        }
        _ => sight.absent.map(|absent| absent.in_reference(reference)).unwrap_or_default(),
    }
}

/// The outcome of a call that may throw.
fn thrown(
    bad: Option<&Decision>,
    good: Option<&Decision>,
    absent: Option<Absent>,
    reference: &str,
) -> Option<String> {
    let Some(Decision::Threw(threw)) = bad.or(good) else { return None };
    let what = if *threw { "an exception came out of the call" } else { "no exception came out of the call" };
    Some(match (bad, good) {
        (Some(Decision::Threw(bad)), Some(Decision::Threw(good))) if bad != good => {
            format!("{what}, in {reference} {} did", if *good { "one" } else { "none" })
        }
        _ => format!("{what}{}", Absent::beside(absent, reference)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_a_sign_may_be_shown_with_one() {
        assert!(same_bits("-1", "18446744073709551615") && same_bits("4294967295", "-1"));
        assert!(same_bits("110 'n'", "110"));
        assert!(same_bits("true", "1") && !same_bits("false", "1"));
        assert!(same_bits("x", "x") && !same_bits("-1", "1") && !same_bits("0", "\"\""));
    }
}

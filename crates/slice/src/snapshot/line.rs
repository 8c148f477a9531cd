//! The values at one executed line, for display beside its text.
//!
//! Variables have their values after the statement: `x = f(a)` shows the new value of `x`, not the one from
//! before the return of `f`. So replay continues from the instruction, through the calls in the line, until
//! control leaves the line or branches.

use super::called;
use super::paths::{AccessPath, DottedCall, Named, paths};
use crate::criterion::Occurrence;
use crate::moment::{Moment, Side};
use crate::slicer::Slicer;
use crate::touched::Touched;
use expression::Read;
use program::inst::{Inst, Operand, Ty};
use program::model::SymbolKind;
use program::names::short_name;
use recording::event::{Event, Position};
use replay::machine::Stop;
use replay::observer::{Effect, ExternalCall, Observer, View};
use replay::vars::{self, Bindings, Limits, Value};
use std::collections::BTreeSet;

/// Values at an instruction, immediately after it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineSnapshot {
    /// Variables of the line and what it reaches through them (`x->name`), in order of appearance, with
    /// their values after the statement.
    pub variables: Vec<(String, String)>,
    /// What the instruction computed, loaded or stored.
    pub result: Option<String>,
    /// Whether a condition held, or the value of a switch.
    pub decision: Option<Decision>,
    /// Name of the callee.
    pub callee: Option<String>,
}

/// The operand of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Whether the condition of a branch held.
    Held(bool),
    /// The operand of a switch, as text.
    Value(String),
    /// Whether an exception came out of the call in front of it.
    Threw(bool),
}

/// Limits for a short display.
const LIMITS: Limits = Limits { depth: 2, elements: 8, string: 60, addresses: false };

/// Calls of a statement are followed for at most so many instructions.
const MOST_STEPS: u64 = 20_000_000;

impl Slicer<'_> {
    /// The values at the statement of an occurrence. `text` is its source line, `more` has names of further
    /// variables. `None` if it cannot be replayed.
    #[must_use]
    pub fn line_snapshot(&self, at: Occurrence, text: &str, more: &str) -> Option<LineSnapshot> {
        let mut machine = self.machine_at(at).ok()?;
        let touched = self.touched(at).ok()?;
        let wanted = Wanted::of(text, more);
        let mut follower = Follower { step: at.step, wanted: &wanted, touched, seen: None, statement: None };
        let mut chunk = 1;
        // A crash ends within its instruction.
        while chunk < MOST_STEPS && matches!(machine.run(&mut follower, at.step + chunk), Ok(Stop::Limit)) {
            match &follower.statement {
                Some(statement) if statement.is_open => chunk *= 16,
                _ => break,
            }
        }
        if let (Some(seen), Some(true)) =
            (&mut follower.seen, follower.statement.map(|statement| statement.is_open))
        {
            // The statement did not complete: nothing was assigned yet.
            let assigned = assigned(text);
            seen.variables.retain(|(name, _)| !assigned.contains(name));
        }
        let Follower { seen, touched, .. } = follower;
        seen.or_else(|| machine.view().map(|view| look(&view, &wanted, &touched, false)))
    }
}

/// Names to the left of an assignment.
fn assigned(text: &str) -> BTreeSet<String> {
    let bytes = text.as_bytes();
    let is_plain = |at: &usize| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        bytes.get(at + 1) != Some(&b'=') && !matches!(before, Some(b'=' | b'!' | b'<' | b'>'))
    };
    let sign = text.match_indices('=').map(|(at, _)| at).find(is_plain);
    sign.map(|at| words(&text[..at]).into_iter().collect()).unwrap_or_default()
}

/// Words of a line that may be variables, in order of appearance, without duplicates.
fn words(text: &str) -> Vec<String> {
    let mut known = BTreeSet::new();
    // Words in quotes are not variables.
    let bare = text.lines().flat_map(|line| line.split('"').step_by(2)).collect::<Vec<_>>().join(" ");
    bare.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .filter(|w| known.insert((*w).to_owned()))
        .map(str::to_owned)
        .collect()
}

/// What is evaluated at a line.
struct Wanted {
    words: Vec<String>,
    named: Named,
}

impl Wanted {
    fn of(text: &str, more: &str) -> Wanted {
        let both = format!("{text}\n{more}");
        Wanted { words: words(&both), named: paths(&both) }
    }
}

struct Follower<'w, 'i> {
    step: u64,
    wanted: &'w Wanted,
    touched: Touched<'i>,
    seen: Option<LineSnapshot>,
    statement: Option<Statement>,
}

/// The rest of the statement that contains an instruction.
#[derive(Clone, Copy)]
struct Statement {
    depth: u32,
    line: (u32, u32),
    is_open: bool,
}

impl Follower<'_, '_> {
    fn refresh(&mut self, view: &View<'_>) {
        if let Some(seen) = &mut self.seen {
            let earlier = std::mem::take(&mut seen.variables);
            seen.variables = values(view, self.wanted, &self.touched, true, &earlier);
        }
    }

    /// A call of the statement has returned.
    fn called(&mut self, view: &View<'_>) {
        if self.statement.is_some_and(|s| s.is_open && s.depth == view.depth && s.line == line(view)) {
            self.refresh(view);
        }
    }
}

fn line(view: &View<'_>) -> (u32, u32) {
    let place = view.place();
    (place.file, place.line)
}

impl Observer for Follower<'_, '_> {
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        self.touched.effect(effect);
        let ends = matches!(view.inst(), Inst::Branch { .. } | Inst::Switch { .. } | Inst::Return { .. });
        if view.count == self.step && self.seen.is_none() {
            self.seen = Some(look(view, self.wanted, &self.touched, true));
            self.statement = Some(Statement { depth: view.depth, line: line(view), is_open: !ends });
            return;
        }
        let Some(statement) = self.statement.filter(|s| s.is_open && view.depth <= s.depth) else { return };
        let here = line(view);
        let is_inside = view.depth == statement.depth && (here == statement.line || here.1 == 0);
        if is_inside {
            self.refresh(view);
        }
        self.statement = Some(Statement { is_open: is_inside && !ends, ..statement });
    }

    fn returned(&mut self, view: &View<'_>) {
        self.called(view);
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.touched.external(view, call);
        self.called(view);
    }

    fn event(&mut self, moment: &replay::observer::EventContext<'_>, position: Position, event: &Event<'_>) {
        self.touched.event(moment, position, event);
    }
}

fn look(view: &View<'_>, wanted: &Wanted, touched: &Touched<'_>, ran: bool) -> LineSnapshot {
    let inst = view.inst();
    LineSnapshot {
        variables: values(view, wanted, touched, ran, &[]),
        result: if ran { result(view, inst) } else { None },
        decision: match inst {
            Inst::Branch { cond, .. } => Some(Decision::Held(view.value(*cond) & 1 != 0)),
            Inst::Switch { value, .. } if view.function().is_landing(view.index) => {
                Some(Decision::Threw(view.value(*value) & 1 != 0))
            }
            Inst::Switch { bits, value, .. } => {
                Some(Decision::Value(vars::show_untyped(Ty::Int(*bits), view.wide(*value))))
            }
            _ => None,
        },
        callee: match inst {
            Inst::Call(call) => callee(view, call.callee),
            _ => None,
        },
    }
}

fn callee(view: &View<'_>, callee: Operand) -> Option<String> {
    let name = short_name(called(view, callee)?);
    // The C library has versioned names for functions of a C standard.
    let plain = ["__isoc99_", "__isoc23_"].iter().find_map(|standard| name.strip_prefix(standard));
    Some(plain.map_or_else(|| name.clone(), str::to_owned))
}

/// Values of variables and of paths. A path that a callee of the program may have changed since the line
/// read it keeps the value from the call, in `earlier`.
fn values(
    view: &View<'_>,
    wanted: &Wanted,
    touched: &Touched<'_>,
    ran: bool,
    earlier: &[(String, String)],
) -> Vec<(String, String)> {
    let bindings = Bindings::of(view.function());
    let side = if ran { Side::After } else { Side::Before };
    let moment = Moment { view: *view, bindings: &bindings, lookups: &[view.index], side, touched };
    let calls = calls_program(view);
    let is_first = earlier.is_empty();
    let mut reached = Vec::new();
    let paths = &wanted.named.paths;
    for path in paths {
        let text = &path.expression.text;
        let known = earlier.iter().find(|(name, _)| name == text);
        if calls && !path.is_assigned && !(is_first && matches!(view.inst(), Inst::Call(_))) {
            reached.extend(known.cloned());
            continue;
        }
        let Ok(value) = moment.evaluate(&path.expression) else { continue };
        if ran || !faults_at(view, &value.reads) {
            reached.push((text.clone(), crate::moment::shown(&value, vars::Data::of(view), LIMITS)));
        }
    }
    let objects = wanted.named.calls.iter().filter_map(|call| object(&moment, call));
    reached.extend(objects);
    let is_shown = |path: &AccessPath| reached.iter().any(|(text, _)| *text == path.expression.text);
    // A path's root is left out if the path is shown; members are not variables.
    let stands_for_paths = |word: &str| {
        let mut paths = paths.iter().filter(|path| path.root() == word).peekable();
        paths.peek().is_some() && !paths.any(is_shown)
    };
    let is_wanted = |word: &&str| wanted.named.alone.contains(*word) || stands_for_paths(word);
    let words: Vec<&str> = wanted.words.iter().map(String::as_str).filter(is_wanted).collect();
    let mut list = variables(&moment, &words, ran);
    list.extend(reached);
    list
}

/// The object whose method a line calls, if its content can be shown: a text, a sequence, a number. For
/// other objects the callee is shown.
fn object(moment: &Moment<'_, '_>, call: &DottedCall) -> Option<(String, String)> {
    // For a member that points to a function, the callee is shown.
    if moment.evaluate(&call.callee).is_ok() {
        return None;
    }
    let value = moment.evaluate(&call.object).ok()?;
    let shown = crate::moment::shown(&value, vars::Data::of(&moment.view), LIMITS);
    let is_structure = shown.starts_with('{') && shown.contains(" = ");
    let is_told = !is_structure && !shown.contains("{...}") && shown != "{}" && shown != vars::POINTER;
    is_told.then(|| (call.object.text.clone(), shown))
}

/// Whether the instruction that the process died at would have read one of these bytes: replay has zeros
/// where the process had no memory.
fn faults_at(view: &View<'_>, reads: &[Read]) -> bool {
    let (Inst::Load { addr, .. } | Inst::Store { addr, .. }) = view.inst() else { return false };
    let page = |address: u64| address / 4096;
    let faulty = page(view.value(*addr));
    reads.iter().any(|read| match read {
        Read::Memory { address, len } => {
            (page(*address)..=page(address.saturating_add(*len))).contains(&faulty)
        }
        Read::Bits { address, .. } => page(*address) == faulty,
        Read::Variable { .. } => false,
    })
}

/// Whether the line calls a function of the program.
fn calls_program(view: &View<'_>) -> bool {
    let function = view.function();
    let here = line(view);
    let is_own = |callee: Operand| match callee {
        Operand::Symbol { symbol, .. } => {
            let symbol = view.module().symbols.get(symbol as usize);
            !symbol.is_some_and(|symbol| matches!(symbol.kind, SymbolKind::External))
        }
        _ => true,
    };
    let mut calls = function.code.iter().enumerate().filter_map(|(n, inst)| match inst {
        Inst::Call(call) => Some((n, call.callee)),
        _ => None,
    });
    calls.any(|(n, callee)| {
        let place = function.place(n);
        (place.file, place.line) == here && is_own(callee)
    })
}

/// Variables of the words: locals first, then members of `this`, then globals.
fn variables(moment: &Moment<'_, '_>, words: &[&str], ran: bool) -> Vec<(String, String)> {
    let (view, bindings) = (&moment.view, moment.bindings);
    let function = view.function();
    let module = view.module();
    let mut list = Vec::new();
    for word in words {
        let local = function
            .variables
            .iter()
            .enumerate()
            .filter(|(_, v)| v.name == *word)
            .filter(|(n, _)| function.is_visible(*n as u32, view.index))
            .map(|(n, v)| {
                let value = if ran { vars::value_after } else { vars::value };
                (v.ty, value(view, bindings, n as u32))
            })
            .find(|(_, value)| *value != Value::Gone);
        if local.is_none()
            && let Some(shown) = member_of_this(moment, word)
        {
            if shown != "{}" {
                list.push(((*word).to_owned(), shown));
            }
            continue;
        }
        let found = local.or_else(|| {
            module.symbols.iter().enumerate().find_map(|(n, s)| match s.kind {
                SymbolKind::Data { ty: Some(ty), .. } if s.name == *word => {
                    Some((Some(ty), Value::At(view.image.symbol(view.code.module, n as u32))))
                }
                _ => None,
            })
        });
        if let Some((ty, value)) = found {
            let shown = vars::show(module, vars::Data::of(view), ty, &value, LIMITS);
            // The type is incomplete: its members are not known.
            if shown != "{}" {
                list.push(((*word).to_owned(), shown));
            }
        }
    }
    list
}

/// What a member of the object is whose method runs.
fn member_of_this(moment: &Moment<'_, '_>, name: &str) -> Option<String> {
    let function = moment.view.function();
    if !function.variables.iter().any(|variable| variable.name == "this") {
        return None;
    }
    let member = expression::parse(&format!("this->{name}")).ok()?;
    let value = moment.evaluate(&member).ok()?;
    Some(crate::moment::shown(&value, vars::Data::of(&moment.view), LIMITS))
}

/// The value of an instruction that has one worth showing. What only decides, calls or makes an
/// address is shown otherwise.
fn result(view: &View<'_>, inst: &Inst) -> Option<String> {
    let is_shown = match inst {
        Inst::Bin { .. } | Inst::Float { .. } | Inst::ICmp { .. } | Inst::FCmp { .. } => true,
        Inst::Cast { .. } | Inst::Load { .. } | Inst::Store { .. } => true,
        Inst::Return { ret, .. } => ret.len() == 1,
        _ => false,
    };
    let (operand, ty) = inst.value().filter(|_| is_shown)?;
    let mut raw = view.wide(operand);
    if let Some(field) = view.function().bit_access(view.index) {
        // The word around a bit-field is not its value. Nor is its type known, which may be signed.
        raw = (raw & u128::from(field.mask)) >> field.mask.trailing_zeros();
        if raw >> field.mask.count_ones().saturating_sub(1) != 0 {
            return None;
        }
    }
    vars::is_number(ty, raw).then(|| vars::show_untyped(ty, raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_names_outside_of_quotes() {
        assert_eq!(words("x = f(\"y %d\", p->len, x) + 3u;"), ["x", "f", "p", "len"]);
    }

    #[test]
    fn what_is_assigned_stands_left_of_the_sign() {
        let names = |text: &str| assigned(text).into_iter().collect::<Vec<_>>();
        assert_eq!(names("x = f(y == 2);"), ["x"]);
        assert_eq!(names("node->count += f(y);"), ["count", "node"]);
        assert_eq!(names("if (f(x) == 3 && x <= y)"), Vec::<String>::new());
        assert_eq!(names("f(x);"), Vec::<String>::new());
    }
}

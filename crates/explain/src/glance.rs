//! The values at one executed line, as a reader of the line wants them.
//!
//! Variables have the values they have after the statement: `x = f(a)` shows what `x`
//! became, not what it held before `f` returned. So the run is followed from the
//! instruction on, through the calls that the line makes, until it leaves the line or
//! branches.

use program::inst::{FloatKind, Inst, Operand, Ty};
use program::model::SymbolKind;
use program::names::brief;
use replay::machine::Stop;
use replay::observer::{Effect, ExternalCall, Observer, View};
use replay::vars::{self, Bindings, Limits, Value};
use slice::{Occurrence, Slicer};
use std::collections::BTreeSet;

/// What was seen at an instruction, right after it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// Variables of the line, in its order, with their values after the statement.
    pub variables: Vec<(String, String)>,
    /// What the instruction computed, loaded or stored.
    pub result: Option<String>,
    /// Whether a condition held, or which case of a switch it was.
    pub decision: Option<Decision>,
    /// What was called.
    pub callee: Option<String>,
}

/// What a branch saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Held(bool),
    Value(String),
}

/// Values are for reading in passing.
const LIMITS: Limits = Limits { depth: 2, elements: 8, string: 60, addresses: false };

/// Calls of a statement are followed for so many instructions.
const MOST_STEPS: u64 = 20_000_000;

/// Looks at an occurrence; `text` is its source line. None if it cannot be
/// replayed.
#[must_use]
pub fn glance(slicer: &Slicer<'_>, at: Occurrence, text: &str) -> Option<Glance> {
    let mut machine = slicer.machine_at(at).ok()?;
    let mut eye = Eye { step: at.step, words: words(text), seen: None, statement: None };
    let mut chunk = 1;
    // A crash ends in the middle of its instruction.
    while chunk < MOST_STEPS && matches!(machine.run(&mut eye, at.step + chunk), Ok(Stop::Limit)) {
        match &eye.statement {
            Some(statement) if statement.is_open => chunk *= 16,
            _ => break,
        }
    }
    if let (Some(seen), Some(true)) = (&mut eye.seen, eye.statement.map(|statement| statement.is_open)) {
        // It did not come to its end: nothing was assigned yet.
        let assigned = assigned(text);
        seen.variables.retain(|(name, _)| !assigned.contains(name));
    }
    eye.seen.or_else(|| machine.view().map(|view| look(&view, &words(text), false)))
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

/// Words of a line that may be variables, in order, each once.
fn words(text: &str) -> Vec<String> {
    let mut known = BTreeSet::new();
    // What stands in quotes is no variable.
    let bare: String = text.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    bare.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .filter(|w| known.insert((*w).to_owned()))
        .map(str::to_owned)
        .collect()
}

struct Eye {
    step: u64,
    words: Vec<String>,
    seen: Option<Glance>,
    statement: Option<Statement>,
}

/// The rest of the statement that an instruction belongs to.
#[derive(Clone, Copy)]
struct Statement {
    depth: u32,
    line: (u32, u32),
    is_open: bool,
}

impl Eye {
    fn refresh(&mut self, view: &View<'_>) {
        if let Some(seen) = &mut self.seen {
            seen.variables = variables(view, &self.words, true);
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

impl Observer for Eye {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        let ends = matches!(view.inst(), Inst::Branch { .. } | Inst::Switch { .. } | Inst::Return { .. });
        if view.count == self.step && self.seen.is_none() {
            self.seen = Some(look(view, &self.words, true));
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

    fn external(&mut self, view: &View<'_>, _: &ExternalCall<'_>) {
        self.called(view);
    }
}

fn look(view: &View<'_>, words: &[String], ran: bool) -> Glance {
    let inst = view.inst();
    Glance {
        variables: variables(view, words, ran),
        result: if ran { result(view, inst) } else { None },
        decision: match inst {
            Inst::Branch { cond, .. } => Some(Decision::Held(view.value(*cond) & 1 != 0)),
            Inst::Switch { bits, value, .. } => {
                Some(Decision::Value(signed(view.value(*value), u32::from(*bits)).to_string()))
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
    if let Operand::Symbol { symbol, .. } = callee {
        let name = brief(&view.module().symbols.get(symbol as usize)?.name);
        // The C library's names for the functions of a standard.
        let plain = ["__isoc99_", "__isoc23_"].iter().find_map(|standard| name.strip_prefix(standard));
        return Some(plain.map_or_else(|| name.clone(), str::to_owned));
    }
    let number = view.image.function_at(view.value(callee))?;
    let code = view.image.code(number);
    Some(brief(&view.image.module(code.module).functions[code.function as usize].name))
}

/// Variables of the words: locals first, then globals.
fn variables(view: &View<'_>, words: &[String], ran: bool) -> Vec<(String, String)> {
    let function = view.function();
    let module = view.module();
    let bindings = Bindings::of(function);
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
                (v.ty, value(view, &bindings, n as u32))
            })
            .find(|(_, value)| *value != Value::Gone);
        let found = local.or_else(|| {
            module.symbols.iter().enumerate().find_map(|(n, s)| match s.kind {
                SymbolKind::Data { ty: Some(ty), .. } if s.name == *word => {
                    Some((Some(ty), Value::At(view.image.symbol(view.code.module, n as u32))))
                }
                _ => None,
            })
        });
        if let Some((ty, value)) = found {
            list.push((word.clone(), vars::show(module, vars::Data::of(view), ty, &value, LIMITS)));
        }
    }
    list
}

/// The value of an instruction that has one worth showing.
fn result(view: &View<'_>, inst: &Inst) -> Option<String> {
    let (operand, ty) = match inst {
        Inst::Bin { dst, bits, .. } => (Operand::Reg(*dst), Ty::Int(*bits)),
        Inst::Float { dst, kind, .. } => (Operand::Reg(*dst), Ty::Float(*kind)),
        Inst::Cast { dst, to, .. } => (Operand::Reg(*dst), *to),
        Inst::Load { dst, ty, .. } => (Operand::Reg(*dst), *ty),
        Inst::Store { value, ty, .. } => (*value, *ty),
        Inst::ICmp { dst, .. } | Inst::FCmp { dst, .. } => {
            return Some(if view.value(Operand::Reg(*dst)) & 1 != 0 { "true" } else { "false" }.to_owned());
        }
        Inst::Return { value: Some(value), ret } if ret.len() == 1 => (*value, ret[0]),
        _ => return None,
    };
    let value = view.value(operand);
    match ty {
        Ty::Int(1) => Some((value & 1 != 0).to_string()),
        Ty::Int(bits @ ..=64) => {
            let number = signed(value, u32::from(bits));
            // A structure that is copied as a word is no number.
            (bits < 64 || number.unsigned_abs() < 1 << 48).then(|| number.to_string())
        }
        Ty::Float(FloatKind::F64) => Some(f64::from_bits(value).to_string()),
        Ty::Float(FloatKind::F32) => Some(f32::from_bits(value as u32).to_string()),
        _ => None,
    }
}

fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    (value << shift).cast_signed() >> shift
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

    #[test]
    fn narrow_values_have_their_sign() {
        assert_eq!(signed(0xffff_ffff, 32), -1);
        assert_eq!(signed(0xffff_ffff, 64), 0xffff_ffff);
        assert_eq!(signed(1, 1), -1);
    }
}

//! A pair of calls as the predicates of a contract see it.
//!
//! Predicates refer to four states: before and after the call, in the previous version and in the current
//! one. A name is evaluated in the current state; `\old` and `\prev` change the state. Parameters keep their
//! values at the call. Addresses of the previous version carry a tag, so that a pointer obtained from `\prev`
//! is dereferenced in the memory of the previous version, and a comparison of pointers of two versions
//! compares their targets.

use crate::compare::{Half, compare_targets, number};
use crate::error::{Error, Result};
use crate::language::{Predicate, Quantifier};
use crate::shown::show;
use crate::state::{Knowledge, RESULT, State, parameter_address};
use crate::version::{ObservedFunction, Version};
use crate::watch::{Call, Ended};
use explain::align::Side;
use expression::ast::{Binary, Expr, ExprKind, TypeName};
use expression::types::{Shape, Type};
use expression::{Evaluated, Form, Home, Scope, Variable, evaluate_part};
use program::model::{Module, SymbolKind};
use std::cell::RefCell;

/// The tag of addresses of the previous version.
const PREVIOUS: u64 = 1 << 62;

/// Maximum number of values of a quantifier's range.
const MAX_VALUES: i128 = 1_000_000;

/// One version's call.
#[derive(Clone, Copy)]
pub struct Run<'p, 'm> {
    /// The program of the call.
    pub version: &'p Version<'m>,
    /// The called function.
    pub watched: &'p ObservedFunction<'m>,
    /// The observed call, with its states.
    pub call: &'p Call<'m>,
}

/// Calls of both versions that begin in equal states.
#[derive(Clone, Copy)]
pub struct Pair<'p, 'm> {
    /// The call in good, the previous version.
    pub good: Run<'p, 'm>,
    /// The call in bad, the current version.
    pub bad: Run<'p, 'm>,
}

impl<'p, 'm> Pair<'p, 'm> {
    /// The call in one version.
    #[must_use]
    pub fn run(&self, side: Side) -> &Run<'p, 'm> {
        match side {
            Side::Good => &self.good,
            Side::Bad => &self.bad,
        }
    }
}

/// The truth value of a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It has no value: for example a NULL dereference or a division by zero.
    Undefined(String),
    /// It reads a value that is not known.
    Unknown(String),
}

/// The value of a part of a predicate, for display.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Shown {
    /// The text of the part, as in the contract.
    pub expression: String,
    /// Its value as text, without addresses.
    pub value: String,
}

/// A state in which a predicate is evaluated.
#[derive(Clone, Copy)]
pub struct Moment<'p, 'm> {
    /// The calls.
    pub pair: &'p Pair<'p, 'm>,
    /// The version in which names are evaluated.
    pub side: Side,
    /// After the call.
    pub after: bool,
    /// The predicate that is evaluated; its quantifiers are looked up by number.
    pub predicate: &'p Predicate,
    /// Variables of quantifiers.
    bound: &'p [(String, Type<'m>, Vec<u8>)],
    side_results: &'p SideResults,
}

/// Additional results of an evaluation.
#[derive(Default)]
struct SideResults {
    /// An error in a predicate inside a quantifier.
    trouble: RefCell<Option<Error>>,
    /// Values for which the body of a `\forall` does not hold; the last ones that were found.
    witness: RefCell<Vec<Shown>>,
}

/// Evaluates a predicate.
///
/// # Errors
/// If the predicate itself is invalid.
pub fn truth(pair: &Pair<'_, '_>, side: Side, after: bool, predicate: &Predicate) -> Result<Truth> {
    let side_results = SideResults::default();
    let moment = Moment { pair, side, after, predicate, bound: &[], side_results: &side_results };
    let value = expression::evaluate(&predicate.expression, &moment);
    if let Some(error) = side_results.trouble.take() {
        return Err(error);
    }
    match value {
        Ok(value) => Ok(match value.truth() {
            Some(true) => Truth::True,
            Some(false) => Truth::False,
            None => {
                let what = format!("{} is no truth value", value.ty.name());
                return Err(Error::Syntax { place: predicate.place.clone(), what });
            }
        }),
        Err(error) if error.depends_on_moment() => {
            let text = error.to_string().replace('$', "\\");
            Ok(match error.kind {
                expression::Kind::NoValue(_) => Truth::Unknown(text),
                _ => Truth::Undefined(text),
            })
        }
        Err(error) => Err(wrong(predicate, &error, &moment)),
    }
}

fn wrong(predicate: &Predicate, error: &expression::Error, moment: &Moment<'_, '_>) -> Error {
    let mut what = error.to_string().replace('$', "\\");
    if let expression::Kind::NoName(name) = &error.kind {
        let watched = moment.pair.run(moment.side).watched;
        let version = if moment.side == Side::Good { "good" } else { "bad" };
        let parameters: Vec<&str> = watched.parameters.iter().map(|p| p.name.as_str()).collect();
        what = match name.as_str() {
            "$result" => format!("{} has no result", program::names::readable(&watched.function.name)),
            _ => format!(
                "nothing is called {name} in {version}: a contract sees parameters ({}) and global variables, no locals",
                if parameters.is_empty() { "there are none".to_owned() } else { parameters.join(", ") }
            ),
        };
    }
    if let expression::Kind::NoMember { members, .. } = &error.kind {
        what = format!("{what}; it has {}", members.join(", "));
    }
    Error::Syntax { place: predicate.place.part(&error.span), what }
}

/// The values of the lvalues in a predicate, for display.
#[must_use]
pub fn shown(pair: &Pair<'_, '_>, side: Side, after: bool, predicate: &Predicate) -> Vec<Shown> {
    let side_results = SideResults::default();
    let moment = Moment { pair, side, after, predicate, bound: &[], side_results: &side_results };
    let mut all = moment.parts();
    if expression::evaluate(&predicate.expression, &moment).is_ok() {
        all.append(&mut side_results.witness.take());
    }
    all
}

/// Collects names, members, elements and forms: the largest parts without an operator.
fn collect<'e>(e: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::Name(name) if name.starts_with('$') && name != "$result" => {}
        ExprKind::Name(_) | ExprKind::Member { .. } | ExprKind::Index(..) => parts.push(e),
        ExprKind::Call(function, _) if matches!(function.name(), Some("$old" | "$prev")) => parts.push(e),
        ExprKind::Unary(expression::ast::Unary::Dereference, _) => parts.push(e),
        ExprKind::Unary(_, of) | ExprKind::Cast(_, of) => collect(of, parts),
        ExprKind::Binary(_, a, b) => {
            collect(a, parts);
            collect(b, parts);
        }
        ExprKind::Conditional(three) => three.iter().for_each(|e| collect(e, parts)),
        _ => {}
    }
}

impl<'p, 'm> Moment<'p, 'm> {
    fn run(&self) -> &'p Run<'p, 'm> {
        self.pair.run(self.side)
    }

    fn state(&self, side: Side) -> &'p State {
        let call = self.pair.run(side).call;
        if self.after { &call.exit } else { &call.entry }
    }

    fn half(&self, side: Side) -> Half<'p, 'm> {
        Half { version: self.pair.run(side).version, state: self.state(side) }
    }

    fn marked(&self, address: u64) -> u64 {
        if self.side == Side::Good && address != 0 { address | PREVIOUS } else { address }
    }

    /// A value as text, without addresses.
    fn text(&self, value: &Evaluated<'m>) -> String {
        let mut state = State::default();
        let side = match value.ty.shape() {
            Shape::Pointer(_) => {
                let address = u64::from_le_bytes(value.bytes.clone().try_into().unwrap_or_default());
                if address & PREVIOUS != 0 { Side::Good } else { Side::Bad }
            }
            _ => self.side,
        };
        let half = self.half(side);
        if let Shape::Pointer(_) = value.ty.shape() {
            let address = u64::from_le_bytes(value.bytes.clone().try_into().unwrap_or_default()) & !PREVIOUS;
            state = half.state.clone();
            state.put(RESULT, &address.to_le_bytes(), |_| Knowledge::Set);
        } else {
            let known = |n: usize| match value.known.get(n) {
                Some(true) => Knowledge::Set,
                _ => Knowledge::Nothing,
            };
            state.put(RESULT, &value.bytes, known);
        }
        show(&Half { state: &state, ..half }, RESULT, &value.ty)
    }

    /// The values of the parts of the predicate.
    fn parts(&self) -> Vec<Shown> {
        let predicate = self.predicate;
        let mut parts: Vec<&Expr> = Vec::new();
        collect(&predicate.expression.root, &mut parts);
        let mut all: Vec<Shown> = Vec::new();
        for part in parts {
            let expression = predicate.expression.part(&part.span).replace('$', "\\");
            if all.iter().any(|s| s.expression == expression) {
                continue;
            }
            if let Ok(value) = evaluate_part(&predicate.expression, part, self) {
                // The target of a pointer of an earlier state is shown as it was then.
                let is_old = matches!(&part.kind, ExprKind::Call(f, _) if f.name() == Some("$old"));
                let moment = Moment { after: self.after && !is_old, ..*self };
                all.push(Shown { expression, value: moment.text(&value) });
            }
        }
        all
    }

    /// Evaluates a part in another state.
    fn elsewhere(&self, form: &Form<'_>, moment: &Moment<'p, 'm>) -> expression::Result<Evaluated<'m>> {
        let [part] = form.arguments else {
            let kind = expression::Kind::Unsupported("this form with other than one argument");
            return Err(expression::Error { kind, span: form.span.clone() });
        };
        let mut value = evaluate_part(form.expression, part, moment)?;
        match value.ty.shape() {
            Shape::Pointer(_) => {
                let address = u64::from_le_bytes(value.bytes.clone().try_into().unwrap_or_default());
                value.bytes = moment.marked(address).to_le_bytes().to_vec();
            }
            Shape::Record(..) if moment.side != self.side => {
                let kind = expression::Kind::Unsupported(
                    "a whole struct of the previous version (name a member inside)",
                );
                return Err(expression::Error { kind, span: form.span.clone() });
            }
            _ => {}
        }
        Ok(value)
    }

    /// Whether a name or member exists only in this version.
    fn exists_only_in(&self, form: &Form<'_>, side: Side) -> expression::Result<Evaluated<'m>> {
        let [part] = form.arguments else {
            let kind = expression::Kind::Unsupported("this form with other than one argument");
            return Err(expression::Error { kind, span: form.span.clone() });
        };
        let is_there = |side: Side| {
            // Before the call, so that memory freed in the call is still available.
            let moment = Moment { side, after: false, ..*self };
            match evaluate_part(form.expression, part, &moment) {
                Ok(_) => true,
                Err(error) => error.depends_on_moment(),
            }
        };
        let other = if side == Side::Good { Side::Bad } else { Side::Good };
        let (here, there) = (is_there(side), is_there(other));
        if !here && !there {
            let name = form.expression.part(&part.span).to_owned();
            return Err(expression::Error { kind: expression::Kind::NoName(name), span: part.span.clone() });
        }
        Ok(int(here && !there))
    }

    fn evaluate_quantifier(&self, quantifier: &'p Quantifier) -> Option<expression::Result<Evaluated<'m>>> {
        let name = TypeName { base: quantifier.ty.clone(), pointers: 0, span: 0..0 };
        let result = (|| -> Result<std::result::Result<bool, expression::Error>> {
            let ty = expression::types::named(self, &name).map_err(|error| Error::Syntax {
                place: quantifier.range.place.clone(),
                what: error.to_string(),
            })?;
            let (low, high) = match self.limits(quantifier)? {
                Ok(limits) => limits,
                Err(error) => return Ok(Err(error)),
            };
            if high - low > MAX_VALUES {
                let what = format!("{} goes through more than a million values", quantifier.variable);
                return Err(Error::Syntax { place: quantifier.range.place.clone(), what });
            }
            let mut value = low;
            while value <= high {
                let mut bound = self.bound.to_vec();
                let bytes = value.to_le_bytes()[..(ty.size() as usize).clamp(1, 16)].to_vec();
                bound.push((quantifier.variable.clone(), ty.clone(), bytes));
                let holds = |predicate: &Predicate| -> Result<std::result::Result<bool, expression::Error>> {
                    let moment = Moment { predicate, bound: &bound, ..*self };
                    match expression::evaluate(&predicate.expression, &moment) {
                        Ok(value) => Ok(Ok(value.truth().unwrap_or(false))),
                        Err(error) if error.depends_on_moment() => Ok(Err(error)),
                        Err(error) => Err(wrong(predicate, &error, &moment)),
                    }
                };
                match holds(&quantifier.range)? {
                    Ok(true) => match holds(&quantifier.body)? {
                        Ok(is) if is != quantifier.all => {
                            if quantifier.all {
                                let moment = Moment { predicate: &quantifier.body, bound: &bound, ..*self };
                                let name = quantifier.variable.clone();
                                let value = value.to_string();
                                let mut shown = vec![Shown { expression: name.clone(), value }];
                                shown.extend(moment.parts().into_iter().filter(|s| s.expression != name));
                                *self.side_results.witness.borrow_mut() = shown;
                            }
                            return Ok(Ok(is));
                        }
                        Ok(_) => {}
                        Err(error) => return Ok(Err(error)),
                    },
                    Ok(false) => {}
                    Err(error) => return Ok(Err(error)),
                }
                value += 1;
            }
            Ok(Ok(quantifier.all))
        })();
        Some(match result {
            Ok(Ok(truth)) => Ok(int(truth)),
            Ok(Err(error)) => Err(error),
            Err(error) => {
                self.side_results.trouble.borrow_mut().get_or_insert(error);
                Ok(int(false))
            }
        })
    }

    /// The smallest and the largest value that the comparisons of the range allow.
    fn limits(
        &self,
        quantifier: &Quantifier,
    ) -> Result<std::result::Result<(i128, i128), expression::Error>> {
        let range = &quantifier.range;
        let (mut low, mut high): (Option<i128>, Option<i128>) = (None, None);
        let mut todo = vec![&range.expression.root];
        while let Some(e) = todo.pop() {
            let ExprKind::Binary(operator, a, b) = &e.kind else { continue };
            if *operator == Binary::And {
                todo.extend([&**a, &**b]);
                continue;
            }
            let is_it = |e: &Expr| e.name() == Some(quantifier.variable.as_str());
            // As if the variable were the left operand.
            let (operator, other) = match (is_it(a), is_it(b)) {
                (true, false) => (*operator, b),
                (false, true) => (mirrored(*operator), a),
                _ => continue,
            };
            let moment = Moment { predicate: range, ..*self };
            let value = match evaluate_part(&range.expression, other, &moment) {
                Ok(value) => value,
                Err(error) if error.depends_on_moment() => return Ok(Err(error)),
                // It may depend on the variable itself.
                Err(_) => continue,
            };
            let Some(value) = number(&value.ty, &value.bytes) else { continue };
            let (mut at_least, mut at_most) = (None, None);
            match operator {
                Binary::Less => at_most = Some(value - 1),
                Binary::LessOrEqual => at_most = Some(value),
                Binary::Greater => at_least = Some(value + 1),
                Binary::GreaterOrEqual => at_least = Some(value),
                Binary::Equal => (at_least, at_most) = (Some(value), Some(value)),
                _ => {}
            }
            low = low.max(at_least);
            high = match (high, at_most) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        match (low, high) {
            (Some(low), Some(high)) => Ok(Ok((low, high))),
            _ => {
                let variable = &quantifier.variable;
                let what = format!(
                    "the range of {variable} has no bounds: it needs both, as in 0 <= {variable} && {variable} < n"
                );
                Err(Error::Syntax { place: range.place.clone(), what })
            }
        }
    }
}

fn mirrored(operator: Binary) -> Binary {
    match operator {
        Binary::Less => Binary::Greater,
        Binary::LessOrEqual => Binary::GreaterOrEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterOrEqual => Binary::LessOrEqual,
        other => other,
    }
}

fn int<'m>(truth: bool) -> Evaluated<'m> {
    let bytes = i32::from(truth).to_le_bytes().to_vec();
    Evaluated { ty: expression::types::INT, bytes, known: vec![true; 4], reads: Vec::new() }
}

impl<'m> Scope<'m> for Moment<'_, 'm> {
    fn module(&self) -> &'m Module {
        self.run().watched.model
    }

    fn modules(&self) -> Vec<&'m Module> {
        self.run().version.modules.clone()
    }

    fn variable(&self, name: &str) -> Option<Variable<'m>> {
        let variable = |ty: Type<'m>, home: Home| Variable { ty, home, number: u32::MAX };
        if let Some((_, ty, bytes)) = self.bound.iter().rev().find(|b| b.0 == name) {
            let known = vec![true; bytes.len()];
            return Some(variable(ty.clone(), Home::Registers { bytes: bytes.clone(), known }));
        }
        let Run { version, watched, call } = *self.run();
        let at = |address: u64| Home::Memory(self.marked(address));
        if name == "$result" {
            let ty = watched.result()?;
            let is_there = self.after && call.ended == Ended::Returned;
            return Some(variable(ty, if is_there { at(RESULT) } else { Home::Nowhere }));
        }
        if let Some(ty) = version.thread_local(name) {
            let state = if self.after { &call.exit } else { &call.entry };
            let home =
                |bytes: &Vec<u8>| Home::Registers { bytes: bytes.clone(), known: vec![true; bytes.len()] };
            return Some(variable(ty, state.thread_locals.get(name).map_or(Home::Nowhere, home)));
        }
        if let Some(n) = watched.parameters.iter().position(|p| p.name == name) {
            return Some(variable(watched.parameters[n].ty.clone(), at(parameter_address(n))));
        }
        let inner = format!("{}.{name}", watched.function.name);
        if let Some(n) = version.global(&inner).or_else(|| version.global(name)) {
            let global = &version.globals[n];
            return Some(variable(global.ty.clone(), at(global.address)));
        }
        for (index, _) in version.image.modules() {
            let model = version.image.module(index);
            let function =
                |s: &program::model::Symbol| s.name == name && matches!(s.kind, SymbolKind::Function(_));
            if let Some(number) = model.symbols.iter().position(function) {
                let address = version.image.symbol(index, number as u32);
                return Some(variable(Type::Function, Home::Memory(self.marked(address))));
            }
        }
        None
    }

    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        let side = if address & PREVIOUS != 0 { Side::Good } else { Side::Bad };
        let address = address & !PREVIOUS;
        if let Some(bytes) = self.state(side).read(address, out.len()) {
            out.copy_from_slice(&bytes);
            return true;
        }
        let constant = self.pair.run(side).version.image.constant(address);
        match constant.and_then(|c| c.get(..out.len())) {
            Some(constant) => {
                out.copy_from_slice(constant);
                true
            }
            None => false,
        }
    }

    fn form(&self, form: &Form<'_>) -> Option<expression::Result<Evaluated<'m>>> {
        match form.name {
            "$old" => Some(self.elsewhere(form, &Moment { after: false, ..*self })),
            "$prev" => Some(self.elsewhere(form, &Moment { side: Side::Good, ..*self })),
            "$latest" => Some(self.exists_only_in(form, Side::Bad)),
            "$deprecated" => Some(self.exists_only_in(form, Side::Good)),
            "$result" => None,
            name => {
                let number: usize = name.strip_prefix('$')?.parse().ok()?;
                self.evaluate_quantifier(self.predicate.quantifiers.get(number)?)
            }
        }
    }

    fn loaded_pointer(&self, at: u64, address: u64) -> u64 {
        if address == 0 { 0 } else { address | at & PREVIOUS }
    }

    fn same(&self, one: (u64, &Type<'m>), other: (u64, &Type<'m>)) -> Option<bool> {
        let is_previous = |address: u64| address & PREVIOUS != 0;
        if one.0 == 0 || other.0 == 0 || is_previous(one.0) == is_previous(other.0) {
            return None;
        }
        let (good, bad) = if is_previous(one.0) { (one, other) } else { (other, one) };
        let good = (self.half(Side::Good), good.0 & !PREVIOUS, good.1);
        let bad = (self.half(Side::Bad), bad.0, bad.1);
        Some(compare_targets(good, bad).is_empty())
    }
}

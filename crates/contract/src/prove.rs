//! Proofs: whether a function is as its contract says in all states, not only in those of the calls that were seen.
//!
//! The paths of both versions ([`crate::summary`]) are combined. For each pair the solver is asked for a state in
//! which both are taken and the contract is violated: as [`crate::judge`] reads it, over formulas instead of
//! values. If there is none for any pair, the function is proved. If there is one, it is shown as what it is: a
//! state that no run has come to.

use crate::answer::{Proof, ProofStatus};
use crate::formula::{Formulas, Moment};
use crate::language::{Case, Contract, Kind, Predicate};
use crate::moment::Shown;
use crate::summary::{End, Path, Reach, Region, Shared, Variable, paths};
use crate::version::{Version, Watched};
use explain::align::Side;
use expression::types::{Shape, Type};
use solver::{Binary, Outcome, Session, Settings, Term};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long a question may take, and all questions about a function.
const QUESTION: Duration = Duration::from_secs(2);
const FUNCTION: Duration = Duration::from_secs(10);
/// Types in types beyond this many are taken for equal.
const MAX_NESTING: usize = 6;

/// Tries to prove that both versions of a function are as a contract says.
pub(crate) fn prove<'m>(
    contract: &Contract,
    versions: [&Version<'m>; 2],
    functions: [&Watched<'m>; 2],
) -> Proof {
    match attempt(contract, versions, functions) {
        Ok(proof) => proof,
        Err(why) => Proof { status: ProofStatus::Open, why: why.to_owned(), ..Proof::default() },
    }
}

fn attempt<'m>(
    contract: &Contract,
    versions: [&Version<'m>; 2],
    functions: [&Watched<'m>; 2],
) -> Reach<Proof> {
    if !contract.errors.is_empty() {
        return Err("its contract names errors");
    }
    let mut shared = Shared::default();
    let good = paths(versions[0], functions[0], &mut shared)?;
    let bad = paths(versions[1], functions[1], &mut shared)?;
    same_layouts(versions, functions, &shared)?;
    let counts = [good.len() as u64, bad.len() as u64];
    let assumes = assumptions(&shared);
    let mut session = Session::new(Settings { internal_timeout: QUESTION, ..Settings::default() });
    let began = Instant::now();
    for one in &good {
        for other in &bad {
            let violated = violation(contract, versions, functions, &mut shared, [one, other])?;
            let mut conditions: Vec<Term> = one.conditions.clone();
            conditions.extend(&other.conditions);
            conditions.push(violated);
            if began.elapsed() > FUNCTION {
                return Err("the solver takes too long");
            }
            match session.solve(&mut shared.pool, &conditions, &|_| 0) {
                Ok(Outcome::Unsat) => {}
                Ok(Outcome::Sat(model)) => {
                    let state = shown(&shared, functions[1], &|n| model.value(n, 0));
                    let status = ProofStatus::Refuted;
                    return Ok(Proof { status, paths: counts, assumes, state, ..Proof::default() });
                }
                Ok(Outcome::Unknown(_)) | Err(_) => return Err("the solver cannot tell"),
            }
        }
    }
    Ok(Proof { status: ProofStatus::Proved, paths: counts, assumes, ..Proof::default() })
}

/// The condition under which a pair of paths violates the contract.
fn violation<'m>(
    contract: &Contract,
    versions: [&Version<'m>; 2],
    functions: [&Watched<'m>; 2],
    shared: &mut Shared,
    paths: [&Path; 2],
) -> Reach<Term> {
    let mut none = shared.pool.constant(1, 1);
    let mut violated = shared.pool.constant(1, 0);
    for case in &contract.cases {
        let mut formulas = Formulas { shared, versions, functions, paths };
        let applies = applies(case, &mut formulas)?;
        let fulfilled = obligation(case, &mut formulas)?;
        let broken = shared.pool.not(fulfilled);
        let broken = shared.pool.and(applies, broken);
        violated = shared.pool.or(violated, broken);
        let not = shared.pool.not(applies);
        none = shared.pool.and(none, not);
    }
    let differ = differ(shared, paths)?;
    let changed = shared.pool.and(none, differ);
    Ok(shared.pool.or(violated, changed))
}

fn all(predicates: &[&Predicate], moment: Moment, formulas: &mut Formulas<'_, '_>) -> Reach<Term> {
    let mut term = formulas.shared.pool.constant(1, 1);
    for predicate in predicates {
        if !predicate.quantifiers.is_empty() {
            return Err("its contract has quantifiers");
        }
        let holds = formulas.truth(&predicate.expression, moment)?;
        term = formulas.shared.pool.and(term, holds);
    }
    Ok(term)
}

/// See [`crate::judge`].
fn applies(case: &Case, formulas: &mut Formulas<'_, '_>) -> Reach<Term> {
    let before = Moment { side: Side::Bad, after: false };
    let requires = all(&case.requires.iter().collect::<Vec<_>>(), before, formulas)?;
    let (is, is_not) = (formulas.shared.pool.constant(1, 1), formulas.shared.pool.constant(1, 0));
    let is_silent = case.when_ensured.is_empty() && case.when_signaled.is_empty();
    let after = Moment { side: Side::Good, after: true };
    let ended = match &formulas.paths[0].end {
        _ if is_silent => is,
        End::Returned(_) if case.when_ensured.is_empty() => is_not,
        End::Returned(_) => all(&case.when_ensured.iter().collect::<Vec<_>>(), after, formulas)?,
        end => {
            let of_kind: Vec<&Predicate> =
                case.when_signaled.iter().filter(|(kind, _)| is_of(end, kind)).map(|(_, p)| p).collect();
            if of_kind.is_empty() { is_not } else { all(&of_kind, after, formulas)? }
        }
    };
    Ok(formulas.shared.pool.and(requires, ended))
}

fn obligation(case: &Case, formulas: &mut Formulas<'_, '_>) -> Reach<Term> {
    let after = Moment { side: Side::Bad, after: true };
    match &formulas.paths[1].end {
        End::Returned(_) => all(&case.ensures.iter().collect::<Vec<_>>(), after, formulas),
        _ if !case.ensures.is_empty() && case.signals.is_empty() => Ok(formulas.shared.pool.constant(1, 0)),
        end => {
            let of_kind: Vec<&Predicate> =
                case.signals.iter().filter(|(kind, _)| is_of(end, kind)).map(|(_, p)| p).collect();
            all(&of_kind, after, formulas)
        }
    }
}

fn is_of(end: &End, kind: &Kind) -> bool {
    match (end, kind) {
        (End::Returned(_), _) => false,
        (_, Kind::Any) | (End::Abort, Kind::Abort) => true,
        (End::Abort, Kind::Signal(name)) => name.as_deref() == Some("SIGABRT"),
        (End::Signal(number), Kind::Signal(name)) => {
            name.as_ref().is_none_or(|name| *name == crate::watch::signal_name(*number))
        }
        (End::Exit(status), Kind::Exit(wanted)) => wanted.is_none_or(|wanted| wanted == *status),
        _ => false,
    }
}

/// The condition under which two paths do not behave alike.
fn differ(shared: &mut Shared, [good, bad]: [&Path; 2]) -> Reach<Term> {
    let mut differ = shared.pool.constant(1, 0);
    match (&good.end, &bad.end) {
        (End::Returned(ours), End::Returned(theirs)) => {
            for (one, other) in ours.iter().zip(theirs) {
                if shared.pool.width(*one) != shared.pool.width(*other) {
                    return Err("its result has another type");
                }
                let same = shared.pool.binary(Binary::Eq, *one, *other);
                let not = shared.pool.not(same);
                differ = shared.pool.or(differ, not);
            }
        }
        // Nobody sees the memory of a process that is gone.
        (one, other) => return Ok(shared.pool.constant(1, u128::from(one != other))),
    }
    let places: BTreeSet<_> = good.written.keys().chain(bad.written.keys()).copied().collect();
    for place in places {
        let mut byte = |path: &Path| match path.written.get(&place) {
            Some(byte) => Ok(*byte),
            None => shared.initial(place),
        };
        let (one, other) = (byte(good)?, byte(bad)?);
        let same = shared.pool.binary(Binary::Eq, one, other);
        let not = shared.pool.not(same);
        differ = shared.pool.or(differ, not);
    }
    Ok(differ)
}

/// Where members lie has to be the same in both versions.
fn same_layouts(versions: [&Version<'_>; 2], functions: [&Watched<'_>; 2], shared: &Shared) -> Reach<()> {
    for parameter in &functions[1].parameters {
        let other = functions[0].parameters.iter().find(|p| p.name == parameter.name);
        if other
            .is_some_and(|other| layout(&other.ty, versions[0], 0) != layout(&parameter.ty, versions[1], 0))
        {
            return Err("its types have changed");
        }
    }
    let result = |n: usize| functions[n].result().map(|ty| layout(&ty, versions[n], 0));
    if result(0) != result(1) {
        return Err("its types have changed");
    }
    for name in shared.globals() {
        let of =
            |n: usize| versions[n].global(name).map(|at| layout(&versions[n].globals[at].ty, versions[n], 0));
        if let (Some(one), Some(other)) = (of(0), of(1))
            && one != other
        {
            return Err("its types have changed");
        }
    }
    Ok(())
}

/// A type with all that can be reached from it, as text.
fn layout(ty: &Type<'_>, version: &Version<'_>, nesting: usize) -> String {
    if nesting > MAX_NESTING {
        return String::new();
    }
    let ty = ty.completed_in(|| version.modules.clone());
    let inner = |ty: &Type<'_>| layout(ty, version, nesting + 1);
    match ty.shape() {
        Shape::Pointer(to) => format!("*{}", inner(&to)),
        Shape::Array(of, count) => format!("[{count}]{}", inner(&of)),
        Shape::Record(module, members) => {
            let member = |m: &program::model::Member| {
                format!("{}:{}:{}{};", m.name, m.bit_offset, m.bits, inner(&Type::of(module, m.ty)))
            };
            format!("{{{}}}", members.iter().map(member).collect::<String>())
        }
        Shape::Integer { bytes, signed } => format!("{bytes}{signed}"),
        Shape::Character { signed } => format!("c{signed}"),
        Shape::Float { bytes } => format!("f{bytes}"),
        Shape::Bool => "b".to_owned(),
        Shape::Function => "()".to_owned(),
        Shape::Void => "v".to_owned(),
    }
}

/// What is taken for true of all states.
fn assumptions(shared: &Shared) -> Vec<String> {
    let pointers = shared.followed.len();
    let mut all = Vec::new();
    if pointers > 0 {
        all.push("pointers that are followed are NULL or valid".to_owned());
    }
    if pointers > 1 || pointers == 1 && shared.globals().next().is_some() {
        all.push("what different pointers and names stand for is different memory".to_owned());
    }
    all
}

/// A state, as far as its values are not zero or have a name.
fn shown(shared: &Shared, function: &Watched<'_>, value: &dyn Fn(u32) -> u128) -> Vec<Shown> {
    let mut all = Vec::new();
    for (number, (variable, width)) in shared.variables.iter().enumerate() {
        let bits = value(number as u32);
        match variable {
            Variable::Parameter(name) => {
                let parameter = function.parameters.iter().find(|p| p.name == *name);
                let signed =
                    parameter.is_some_and(|p| matches!(p.ty.shape(), Shape::Integer { signed: true, .. }));
                let is_pointer = parameter.is_some_and(|p| matches!(p.ty.shape(), Shape::Pointer(_)));
                let value = match bits {
                    0 if is_pointer => "NULL".to_owned(),
                    _ if is_pointer => "a pointer".to_owned(),
                    _ => decimal(bits, *width, signed),
                };
                all.push(Shown { expression: name.clone(), value });
            }
            Variable::Byte(_) | Variable::Address(_) => {}
        }
    }
    for (name, bytes) in shared.found(value) {
        all.push(Shown { expression: name, value: bytes });
    }
    all
}

fn decimal(bits: u128, width: u32, signed: bool) -> String {
    if signed && width < 128 && bits >> (width - 1) & 1 == 1 {
        return (bits.cast_signed() - (1i128 << width)).to_string();
    }
    bits.to_string()
}

impl Shared {
    /// Global variables that are used.
    fn globals(&self) -> impl Iterator<Item = &str> {
        self.regions().filter_map(|region| match region {
            Region::Global(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// What is found in memory: words of neighbouring bytes.
    fn found(&self, value: &dyn Fn(u32) -> u128) -> Vec<(String, String)> {
        let mut bytes: Vec<(crate::summary::Place, u64)> = Vec::new();
        for (number, (variable, _)) in self.variables.iter().enumerate() {
            if let Variable::Byte(place) = variable {
                bytes.push((*place, value(number as u32) as u64));
            }
        }
        bytes.sort_unstable();
        let mut all: Vec<(String, String)> = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let ((region, first), _) = bytes[at];
            let len =
                (1..8).take_while(|n| bytes.get(at + n).is_some_and(|b| b.0 == (region, first + *n as i64)));
            let len = 1 + len.count();
            let number = bytes[at..at + len].iter().rev().fold(0u64, |value, (_, byte)| value << 8 | byte);
            all.push((self.told((region, first), len), number.to_string()));
            at += len;
        }
        all
    }

    fn told(&self, place: crate::summary::Place, len: usize) -> String {
        let base = match self.of(place.0) {
            Region::Global(name) if place.1 == 0 => return name.clone(),
            Region::Global(name) => format!("&{name}"),
            Region::Parameter(name) => name.clone(),
            Region::Behind(at) => format!("({})", self.told(*at, 8)),
            Region::Frame(_) => "a local".to_owned(),
        };
        let noun = if len == 1 { "byte" } else { "bytes" };
        let sign = if place.1 < 0 { '-' } else { '+' };
        match place.1 {
            0 => format!("{len} {noun} at {base}"),
            by => format!("{len} {noun} at {base} {sign} {}", by.unsigned_abs()),
        }
    }
}

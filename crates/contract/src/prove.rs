//! Proofs: whether a function satisfies its contract in all states, not only in those of the observed calls.
//!
//! The paths of both versions ([`crate::summary`]) are combined. For each pair the solver searches for a
//! state in which both are taken and the contract is violated, with the semantics of [`crate::judge`] over
//! formulas instead of values. If there is none for any pair, the function is proved. If there is one, both
//! versions are run from it ([`crate::witness`]): it counts only if the runs confirm it.

use crate::answer::{Proof, ProofStatus};
use crate::formula::{Formulas, Moment};
use crate::language::{Case, Contract, Kind, Predicate};
use crate::summary::{End, Path, Region, Shared, Supported, paths};
use crate::version::{ObservedFunction, Version};
use crate::witness::{self, Program, WitnessResult};
use explain::align::Side;
use expression::types::{Shape, Type};
use solver::{Binary, Outcome, Session, Settings, Term};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Timeouts of a query, and of all queries about a function.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
const FUNCTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of counterexamples to run while earlier ones are not confirmed.
const MAX_RUNS: usize = 8;
/// Types nested deeper than this are assumed to be equal.
const MAX_NESTING: usize = 6;

/// Attempts to prove that both versions of a function satisfy a contract.
pub(crate) fn prove<'m>(
    contract: &Contract,
    versions: [&Version<'m>; 2],
    functions: [&ObservedFunction<'m>; 2],
    programs: Option<&[Program; 2]>,
) -> Proof {
    match attempt(contract, versions, functions, programs) {
        Ok(proof) => proof,
        Err(why) => Proof { status: ProofStatus::Open, why: why.to_owned(), ..Proof::default() },
    }
}

fn attempt<'m>(
    contract: &Contract,
    versions: [&Version<'m>; 2],
    functions: [&ObservedFunction<'m>; 2],
    programs: Option<&[Program; 2]>,
) -> Supported<Proof> {
    if !contract.errors.is_empty() {
        return Err("its contract names errors");
    }
    let mut shared = Shared::default();
    let good = paths(versions[0], functions[0], &mut shared)?;
    let bad = paths(versions[1], functions[1], &mut shared)?;
    same_layouts(versions, functions, &shared)?;
    let counts = [good.len() as u64, bad.len() as u64];
    let assumes = assumptions(&shared);
    let mut session = Session::new(Settings { internal_timeout: QUERY_TIMEOUT, ..Settings::default() });
    let began = Instant::now();
    let (mut dropped, mut unconfirmed, mut runs) = (Vec::new(), None, 0);
    for one in &good {
        for other in &bad {
            let violated = violation(contract, versions, functions, &mut shared, [one, other])?;
            let mut conditions: Vec<Term> = one.conditions.clone();
            conditions.extend(&other.conditions);
            conditions.push(violated);
            conditions.extend(different(&mut shared));
            if began.elapsed() > FUNCTION_TIMEOUT {
                return Err("the solver takes too long");
            }
            match session.solve(&mut shared.pool, &conditions, &|_| 0) {
                Ok(Outcome::Unsat) => {}
                Ok(Outcome::Sat(_)) => {
                    conditions.extend(witness::addresses(&mut shared));
                    let Ok(Outcome::Sat(model)) = session.solve(&mut shared.pool, &conditions, &|_| 0) else {
                        dropped.push("the solver has a state for it in which pointers lie in each other");
                        continue;
                    };
                    let value = |n: u32| model.value(n, 0);
                    let sides = [0, 1].map(|n| witness::Half {
                        version: versions[n],
                        function: functions[n],
                        path: [one, other][n],
                        program: programs.map(|programs| &programs[n]),
                    });
                    let mut proof = Proof { paths: counts, assumes: assumes.clone(), ..Proof::default() };
                    proof.state = witness::shown(&shared, &sides[1], &value);
                    match witness::run(&shared, &sides, &value) {
                        WitnessResult::True { ended, differences } => {
                            (proof.status, proof.ended) = (ProofStatus::Refuted, Some(ended));
                            proof.differences = differences;
                            return Ok(proof);
                        }
                        WitnessResult::False if runs < MAX_RUNS => {
                            runs += 1;
                            dropped.push(
                                "the solver found a state in which it does not hold, but run from there both versions do \
                                 something else",
                            );
                        }
                        WitnessResult::False => return Err("no state that the solver found came true"),
                        WitnessResult::NotRun(why) => {
                            (proof.status, proof.why) = (ProofStatus::Unconfirmed, why);
                            unconfirmed.get_or_insert(proof);
                        }
                    }
                }
                // Another pair of paths may still have a state that can be run.
                Ok(Outcome::Unknown(_)) | Err(_) => dropped.push("the solver cannot tell"),
            }
        }
    }
    if let Some(proof) = unconfirmed {
        return Ok(proof);
    }
    match dropped.first() {
        Some(why) => Err(why),
        None => Ok(Proof { status: ProofStatus::Proved, paths: counts, assumes, ..Proof::default() }),
    }
}

/// The condition under which a pair of paths violates the contract.
fn violation<'m>(
    contract: &Contract,
    versions: [&Version<'m>; 2],
    functions: [&ObservedFunction<'m>; 2],
    shared: &mut Shared,
    paths: [&Path; 2],
) -> Supported<Term> {
    let mut none = shared.pool.constant(1, 1);
    let mut violated = shared.pool.constant(1, 0);
    for case in &contract.cases {
        let mut formulas = Formulas { shared, versions, functions, paths };
        let applies = applies(case, &mut formulas)?;
        let fulfilled = obligation_formula(case, &mut formulas)?;
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

fn all(predicates: &[&Predicate], moment: Moment, formulas: &mut Formulas<'_, '_>) -> Supported<Term> {
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

/// The same as in [`crate::judge`].
fn applies(case: &Case, formulas: &mut Formulas<'_, '_>) -> Supported<Term> {
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
                case.when_signaled.iter().filter(|(kind, _)| is_kind(end, kind)).map(|(_, p)| p).collect();
            if of_kind.is_empty() { is_not } else { all(&of_kind, after, formulas)? }
        }
    };
    Ok(formulas.shared.pool.and(requires, ended))
}

fn obligation_formula(case: &Case, formulas: &mut Formulas<'_, '_>) -> Supported<Term> {
    let after = Moment { side: Side::Bad, after: true };
    match &formulas.paths[1].end {
        End::Returned(_) => all(&case.ensures.iter().collect::<Vec<_>>(), after, formulas),
        _ if !case.ensures.is_empty() && case.signals.is_empty() => Ok(formulas.shared.pool.constant(1, 0)),
        end => {
            let of_kind: Vec<&Predicate> =
                case.signals.iter().filter(|(kind, _)| is_kind(end, kind)).map(|(_, p)| p).collect();
            all(&of_kind, after, formulas)
        }
    }
}

fn is_kind(end: &End, kind: &Kind) -> bool {
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

/// The condition under which two paths behave differently.
fn differ(shared: &mut Shared, [good, bad]: [&Path; 2]) -> Supported<Term> {
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
        // The memory of a process that has ended is not observable.
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

/// Checks that members have the same offsets in both versions.
fn same_layouts(
    versions: [&Version<'_>; 2],
    functions: [&ObservedFunction<'_>; 2],
    shared: &Shared,
) -> Supported<()> {
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

/// A type with everything reachable from it, as text.
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

/// The assumption that followed pointers are distinct unless they are `NULL`.
fn different(shared: &mut Shared) -> Vec<Term> {
    let pointers = shared.followed_pointers();
    let mut conditions = Vec::new();
    for (n, (_, one)) in pointers.iter().enumerate() {
        for (_, other) in &pointers[..n] {
            let null = shared.pool.constant(64, 0);
            let is_null = shared.pool.binary(Binary::Eq, *one, null);
            let same = shared.pool.binary(Binary::Eq, *one, *other);
            let differ = shared.pool.not(same);
            conditions.push(shared.pool.or(is_null, differ));
        }
    }
    conditions
}

/// The assumptions about all states.
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

impl Shared {
    /// Global variables in use.
    fn globals(&self) -> impl Iterator<Item = &str> {
        self.regions().filter_map(|region| match region {
            Region::Global(name) => Some(name.as_str()),
            _ => None,
        })
    }
}

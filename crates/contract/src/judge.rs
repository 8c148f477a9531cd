//! Judges whether a pair of calls satisfies its contract.
//!
//! The thesis leaves two questions open; here clauses are read as implications. A case applies if `requires`
//! holds and the previous version terminated as the case specifies: normally with `when_ensured`, or
//! abnormally with `when_signaled`; either counts if the case has neither clause. If it applies, a normal
//! termination of the current version has to satisfy `ensures`, an abnormal one every `signals` clause of its
//! kind. If the case has `ensures` but no `signals`, abnormal termination is not allowed. If no case applies,
//! the versions have to behave alike.

use crate::compare::{Difference, Half, What, are_same, compare};
use crate::error::Result;
use crate::exceptions::is_a;
use crate::language::{Case, Contract, Kind, Place, Predicate};
use crate::moment::{Pair, Run, Shown, Truth, shown, truth};
use crate::state::{RESULT, Root, RootKind};
use crate::version::Version;
use crate::watch::{Call, Ended};
use explain::align::Side;
use std::collections::BTreeSet;

/// The result for a pair.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The cases that applied, by number.
    pub applied: Vec<usize>,
    /// Of clauses of the cases that applied; if none applied, at most one, of the rule that all is unchanged.
    pub violations: Vec<Violation>,
    /// Predicates that could not be decided.
    pub unknown: Vec<String>,
}

/// A violation of the contract.
#[derive(Clone, Debug)]
pub struct Violation {
    /// None for the rule that everything else is unchanged.
    pub clause: Option<Place>,
    /// A description of the violation.
    pub what: String,
    /// The values of the parts of the clause's predicate, in bad.
    pub values: Vec<Shown>,
    /// Differences where none is allowed; empty if a clause is violated.
    pub differences: Vec<Difference>,
}

/// An output of a call: the destination, and the bytes.
pub type Output = (String, Vec<u8>);

/// Prefix of the names of outputs that are external calls instead of output.
pub(crate) const EFFECT_PREFIX: &str = "calls of ";

/// How a call terminated, in terms of contracts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Termination {
    Normal,
    Process(Ended),
    Named(String),
}

impl std::fmt::Display for Termination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Termination::Normal => write!(f, "it returns"),
            Termination::Process(ended) => write!(f, "{ended}"),
            Termination::Named(name) => write!(f, "{name}"),
        }
    }
}

/// Judges a pair. `globals` are the variables that belong to the states, `outputs` the output of the calls to
/// files.
///
/// # Errors
/// If the contract itself is invalid.
pub fn judge<'m>(
    contract: &Contract,
    pair: &Pair<'_, 'm>,
    globals: [&[Root<'m>]; 2],
    outputs: [&[Output]; 2],
) -> Result<Judgement> {
    let mut judged = Judgement { applied: Vec::new(), violations: Vec::new(), unknown: Vec::new() };
    let previous = termination(contract, pair, Side::Good)?;
    let current = termination(contract, pair, Side::Bad)?;
    for (number, case) in contract.cases.iter().enumerate() {
        match applies(case, pair, &previous)? {
            Ok(false) => continue,
            Ok(true) => judged.applied.push(number),
            Err(why) => {
                judged.unknown.push(why);
                continue;
            }
        }
        check_obligations(case, pair, &current, &mut judged)?;
    }
    if judged.applied.is_empty() && judged.unknown.is_empty() {
        judged.violations.extend(alike(pair, globals, outputs));
    }
    Ok(judged)
}

fn termination(contract: &Contract, pair: &Pair<'_, '_>, side: Side) -> Result<Termination> {
    let ended = &pair.run(side).call.ended;
    if *ended != Ended::Returned {
        return Ok(Termination::Process(ended.clone()));
    }
    for error in &contract.errors {
        if truth(pair, side, true, &error.predicate)? == Truth::True {
            return Ok(Termination::Named(error.name.clone()));
        }
    }
    Ok(Termination::Normal)
}

/// Whether the termination of a call in a version is of this kind.
fn is_kind(termination: &Termination, kind: &Kind, version: &Version<'_>) -> bool {
    match (termination, kind) {
        (Termination::Normal, _) => false,
        (_, Kind::Any) => true,
        (Termination::Process(Ended::Abort), Kind::Abort) => true,
        (Termination::Process(Ended::Abort), Kind::Signal(name)) => name.as_deref() == Some("SIGABRT"),
        (Termination::Process(Ended::Signal(number)), Kind::Signal(name)) => {
            name.as_ref().is_none_or(|name| *name == crate::watch::signal_name(*number))
        }
        (Termination::Process(Ended::Exit(status)), Kind::Exit(wanted)) => {
            wanted.is_none_or(|w| w == *status)
        }
        (Termination::Process(Ended::Throw(ty)), Kind::Throw(wanted)) => {
            let is_it = |w: &String| ty.as_ref().is_some_and(|ty| is_a(&version.modules, ty, w));
            wanted.as_ref().is_none_or(is_it)
        }
        (Termination::Named(name), Kind::Named(wanted)) => name == wanted,
        _ => false,
    }
}

/// Whether all predicates hold; the text of the first that cannot be decided.
fn all<'a>(
    predicates: impl IntoIterator<Item = &'a Predicate>,
    pair: &Pair<'_, '_>,
    side: Side,
    after: bool,
) -> Result<std::result::Result<bool, String>> {
    for predicate in predicates {
        match truth(pair, side, after, predicate)? {
            Truth::True => {}
            Truth::False | Truth::Undefined(_) => return Ok(Ok(false)),
            Truth::Unknown(why) => return Ok(Err(format!("{}: {why}", predicate.clause))),
        }
    }
    Ok(Ok(true))
}

/// Whether a case applies to this pair; the reason if that cannot be decided.
fn applies(
    case: &Case,
    pair: &Pair<'_, '_>,
    previous: &Termination,
) -> Result<std::result::Result<bool, String>> {
    match all(&case.requires, pair, Side::Bad, false)? {
        Ok(true) => {}
        other => return Ok(other),
    }
    let is_silent = case.when_ensured.is_empty() && case.when_signaled.is_empty();
    if *previous == Termination::Normal {
        if case.when_ensured.is_empty() {
            return Ok(Ok(is_silent));
        }
        return all(&case.when_ensured, pair, Side::Good, true);
    }
    if is_silent {
        return Ok(Ok(true));
    }
    let of_kind: Vec<&Predicate> = case
        .when_signaled
        .iter()
        .filter(|(kind, _)| is_kind(previous, kind, pair.good.version))
        .map(|(_, p)| p)
        .collect();
    if of_kind.is_empty() {
        return Ok(Ok(false));
    }
    all(of_kind, pair, Side::Good, true)
}

/// Checks the obligations of a case that applies on the current version.
fn check_obligations(
    case: &Case,
    pair: &Pair<'_, '_>,
    current: &Termination,
    judged: &mut Judgement,
) -> Result<()> {
    let obligations: Vec<&Predicate> = match current {
        Termination::Normal => case.ensures.iter().collect(),
        _ => case
            .signals
            .iter()
            .filter(|(kind, _)| is_kind(current, kind, pair.bad.version))
            .map(|(_, p)| p)
            .collect(),
    };
    if *current != Termination::Normal && !case.ensures.is_empty() && case.signals.is_empty() {
        let clause = case.ensures.first().map(|p| p.clause.clone());
        let what = format!("the call does not end normally in bad: {current}");
        judged.violations.push(Violation { clause, what, values: Vec::new(), differences: Vec::new() });
        return Ok(());
    }
    for predicate in obligations {
        let what = match truth(pair, Side::Bad, true, predicate)? {
            Truth::True => continue,
            Truth::Unknown(why) => {
                judged.unknown.push(format!("{}: {why}", predicate.clause));
                continue;
            }
            Truth::False if *current == Termination::Normal => "it does not hold".to_owned(),
            Truth::False => format!("the call ends with {current} in bad"),
            Truth::Undefined(why) => format!("it has no value: {why}"),
        };
        judged.violations.push(Violation {
            clause: Some(predicate.clause.clone()),
            what,
            values: shown(pair, Side::Bad, true, predicate),
            differences: Vec::new(),
        });
    }
    Ok(())
}

/// Differences where none is allowed.
fn alike<'m>(pair: &Pair<'_, 'm>, globals: [&[Root<'m>]; 2], outputs: [&[Output]; 2]) -> Option<Violation> {
    let (good, bad) = (&pair.good.call.ended, &pair.bad.call.ended);
    let unchanged =
        |what: String, differences| Violation { clause: None, what, values: Vec::new(), differences };
    if good != bad {
        let end = |ended: &Ended| match ended {
            Ended::Returned => "returns".to_owned(),
            other => format!("ends with {other}"),
        };
        let what = format!("the call {} in good and {} in bad", end(good), end(bad));
        return Some(unchanged(what, Vec::new()));
    }
    let mut differences = Vec::new();
    // The memory of a process that has ended is not observable.
    if matches!(good, Ended::Returned | Ended::Throw(_) | Ended::Jump) {
        let [ours, theirs] = globals;
        let (ours, theirs) = (roots(&pair.good, ours), roots(&pair.bad, theirs));
        let good = (Half { version: pair.good.version, state: &pair.good.call.exit }, &ours[..]);
        let bad = (Half { version: pair.bad.version, state: &pair.bad.call.exit }, &theirs[..]);
        if !are_same(good, bad, What::Exit) {
            differences = compare(good, bad, What::Exit);
        }
    }
    if *good == Ended::Returned {
        differences.extend(thread_locals(pair));
    }
    let names = outputs.iter().flat_map(|o| o.iter()).map(|o| &o.0);
    let mut seen: Vec<&String> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let written = |side: &[Output]| {
            let of: Vec<u8> = side.iter().filter(|o| o.0 == *name).flat_map(|o| o.1.clone()).collect();
            of
        };
        let (a, b) = (written(outputs[0]), written(outputs[1]));
        if a != b {
            let (path, (good, bad)) = match name.starts_with(EFFECT_PREFIX) {
                true => (name.clone(), (lines(&a), lines(&b))),
                false => (format!("output to {name}"), excerpts(&a, &b)),
            };
            differences.push(Difference { path, good, bad });
        }
    }
    (!differences.is_empty())
        .then(|| unchanged("it may not change, and no case speaks of it".to_owned(), differences))
}

/// Thread-local variables that one of the calls wrote and whose values differ afterwards.
fn thread_locals(pair: &Pair<'_, '_>) -> Vec<Difference> {
    let (good, bad) = (pair.good.call, pair.bad.call);
    let (ours, theirs) = (&good.exit.thread_locals, &bad.exit.thread_locals);
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let written = |call: &Call<'_>, name: &String| {
        let bytes = call.exit.thread_locals.get(name);
        // Unchanged by the call.
        bytes.filter(|bytes| call.entry.thread_locals.get(name) != Some(bytes)).cloned()
    };
    let shown = |bytes: Option<Vec<u8>>| bytes.map_or_else(|| "not set".to_owned(), |bytes| number(&bytes));
    let differing = names.into_iter().filter_map(|name| {
        let (a, b) = (written(good, name), written(bad, name));
        (a != b).then(|| Difference { path: name.clone(), good: shown(a), bad: shown(b) })
    });
    differing.collect()
}

/// Bytes as a number, if they are few.
fn number(bytes: &[u8]) -> String {
    match bytes.len() {
        0..=8 => bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte)).to_string(),
        len => format!("{len} bytes"),
    }
}

/// Effects outside of memory, one line each.
fn lines(external_effects: &[u8]) -> String {
    let text = String::from_utf8_lossy(external_effects);
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() { "none".to_owned() } else { lines.join("; ") }
}

/// The texts from their first difference on.
fn excerpts(a: &[u8], b: &[u8]) -> (String, String) {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    // From the beginning of that line.
    let start = a[..same].iter().rposition(|c| *c == b'\n').map_or(0, |n| n + 1);
    let text = |t: &[u8]| {
        let part = &t[start.min(t.len())..t.len().min(start + 80)];
        replay::vars::quoted(&String::from_utf8_lossy(part))
    };
    (text(a), text(b))
}

/// Roots of the state after a call.
fn roots<'m>(run: &Run<'_, 'm>, globals: &[Root<'m>]) -> Vec<Root<'m>> {
    let mut roots = run.watched.roots();
    if let Some(ty) = &run.call.result {
        let name = "\\result".to_owned();
        roots.push(Root { kind: RootKind::Result, name, ty: ty.clone(), address: RESULT });
    }
    roots.extend(globals.iter().cloned());
    roots
}

/// Whether the states before the calls are equal.
#[must_use]
pub fn have_equal_entry_states<'m>(pair: &Pair<'_, 'm>, globals: [&[Root<'m>]; 2]) -> bool {
    let (ours, theirs) = (&pair.good.call.entry, &pair.bad.call.entry);
    let locals = &theirs.thread_locals;
    let is_other = |(name, bytes): (&String, &Vec<u8>)| locals.get(name).is_some_and(|other| other != bytes);
    !ours.thread_locals.iter().any(is_other)
        && are_same(
            (Half { version: pair.good.version, state: ours }, &entry_roots(&pair.good, globals[0])),
            (Half { version: pair.bad.version, state: theirs }, &entry_roots(&pair.bad, globals[1])),
            What::Entry,
        )
}

fn entry_roots<'m>(run: &Run<'_, 'm>, globals: &[Root<'m>]) -> Vec<Root<'m>> {
    let mut roots = run.watched.roots();
    roots.extend(globals.iter().cloned());
    roots
}

/// The differences between the states before the calls.
#[must_use]
pub fn entries<'m>(pair: &Pair<'_, 'm>, globals: [&[Root<'m>]; 2]) -> Vec<Difference> {
    let (ours, theirs) = (&pair.good.call.entry, &pair.bad.call.entry);
    let mut differences = compare(
        (Half { version: pair.good.version, state: ours }, &entry_roots(&pair.good, globals[0])),
        (Half { version: pair.bad.version, state: theirs }, &entry_roots(&pair.bad, globals[1])),
        What::Entry,
    );
    for (name, bytes) in &ours.thread_locals {
        if theirs.thread_locals.get(name).is_some_and(|other| other != bytes) {
            let other = &theirs.thread_locals[name];
            differences.push(Difference { path: name.clone(), good: number(bytes), bad: number(other) });
        }
    }
    differences
}

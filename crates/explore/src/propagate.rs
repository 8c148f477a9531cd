//! Queries whose models are inputs on which the versions differ.
//!
//! An input was followed through both versions, with equal outputs. There are two kinds of queries about
//! inputs close to it (Qi, Roychoudhury and Liang, *Test generation to expose changes in evolving programs*,
//! and its thesis's signature difference):
//!
//! * *Outputs*: both versions keep their paths, and some byte, number or exit status of the output differs.
//! * *Branches*: one version keeps its path up to and including a branch, and the other keeps its path up to
//!   the corresponding branch and negates it. Asked for branches whose conditions differ between the
//!   versions, in both directions.

use crate::follow::Followed;
use alternate::{Both, Side};
use replay::machine::End;
use solver::{Binary, Pool, Term};
use std::collections::BTreeMap;
use symbolic::{Condition, Kind, Origin, Output, Path, PrintedNumber};

/// A query.
#[derive(Clone, Debug)]
pub struct Question {
    /// The conditions of the paths that are kept, and the goal.
    pub terms: Vec<Term>,
    /// The query without concretisation conditions, if there are any. A model may be spurious, but it is
    /// tried anyway.
    pub relaxed: Option<Vec<Term>>,
}

/// One output cell: a byte, or part of the text of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
enum OutputCell {
    Byte(Term),
    Fixed(u8),
    /// The first byte of a number's text, and how it was printed.
    Number(Term, Vec<u8>),
    /// The other bytes of a number's text.
    More,
}

/// Maximum number of bytes of an output that are compared.
const MAX_BYTES: usize = 4096;
/// Maximum number of branches that are queried.
const MAX_BRANCHES: usize = 40;

/// The query whether the outputs can differ on the same two paths; `None` if they cannot because their terms
/// are equal.
pub fn outputs(followed: &mut Followed) -> Option<Question> {
    let Followed { world, paths, .. } = followed;
    let pool = &mut world.pool;
    let cells = Both { old: cells(&paths.old.outputs), new: cells(&paths.new.outputs) };
    let mut differ = pool.constant(1, 0);
    for (sink, old) in &cells.old {
        let Some(new) = cells.new.get(sink) else { continue };
        for (a, b) in old.iter().zip(new).take(MAX_BYTES) {
            if let Some(term) = unequal(pool, a, b) {
                differ = pool.or(differ, term);
            }
        }
        for (text, number) in numbers(old, new).into_iter().chain(numbers(new, old)) {
            let width = pool.width(number);
            let value = pool.constant(width, text as u128 & mask(width));
            let same = pool.binary(Binary::Eq, number, value);
            let other = pool.not(same);
            differ = pool.or(differ, other);
        }
    }
    if let Some(term) = statuses(pool, paths) {
        differ = pool.or(differ, term);
    }
    if pool.as_constant(differ) == Some(0) {
        return None;
    }
    let all = paths.old.conditions.iter().chain(&paths.new.conditions);
    Some(question(all, differ))
}

fn question<'c>(conditions: impl Iterator<Item = &'c Condition> + Clone, goal: Term) -> Question {
    let terms: Vec<Term> = conditions.clone().map(|c| c.term).chain([goal]).collect();
    let free: Vec<Term> =
        conditions.filter(|c| c.kind != Kind::Concretised).map(|c| c.term).chain([goal]).collect();
    let relaxed = (free.len() < terms.len()).then_some(free);
    Question { terms, relaxed }
}

/// The queries about branches, those close to the first difference first.
pub fn branches(followed: &mut Followed) -> Vec<Question> {
    let mut questions = Vec::new();
    for side in [Side::New, Side::Old] {
        let theirs = followed.terms(side.other());
        let (own, other) = (followed.paths.of(side), followed.paths.of(side.other()));
        let mut asked = 0;
        // Up to where the conditions of both versions agree.
        let mut common = 0;
        let mut pool_terms: Vec<(usize, usize)> = Vec::new();
        for (number, condition) in own.conditions.iter().enumerate() {
            if theirs.contains(&condition.term) {
                let found = other.conditions[common..].iter().position(|c| c.term == condition.term);
                common += found.map_or(0, |at| at + 1);
                continue;
            }
            let decides = !matches!(condition.kind, Kind::Concretised | Kind::Bounds);
            if decides && !condition.repeated && asked < MAX_BRANCHES {
                asked += 1;
                pool_terms.push((number, common));
            }
        }
        for (number, common) in pool_terms {
            let (own, other) = (followed.paths.of(side), followed.paths.of(side.other()));
            let goal = followed.world.pool.not(own.conditions[number].term);
            // Includes the corresponding branch, which keeps its direction.
            let until = (common + 1).min(other.conditions.len());
            let held = other.conditions[..until].iter().chain(&own.conditions[..number]);
            questions.push(question(held, goal));
        }
    }
    questions
}

fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

fn cells(outputs: &[Output]) -> BTreeMap<Option<Origin>, Vec<OutputCell>> {
    let mut all: BTreeMap<Option<Origin>, Vec<OutputCell>> = BTreeMap::new();
    for output in outputs {
        let mut own: Vec<OutputCell> = output.bytes.iter().map(|b| OutputCell::Fixed(*b)).collect();
        for (at, term) in &output.terms {
            if let Some(cell) = own.get_mut(*at as usize) {
                *cell = OutputCell::Byte(*term);
            }
        }
        for PrintedNumber { range, term, conversion } in &output.printed {
            for at in range.clone() {
                if let Some(cell) = own.get_mut(at as usize) {
                    *cell = if at == range.start {
                        OutputCell::Number(*term, conversion.clone())
                    } else {
                        OutputCell::More
                    };
                }
            }
        }
        all.entry(output.sink.clone()).or_default().append(&mut own);
    }
    all
}

fn unequal(pool: &mut Pool, a: &OutputCell, b: &OutputCell) -> Option<Term> {
    let (x, y) = match (a, b) {
        (OutputCell::Byte(x), OutputCell::Byte(y)) => (*x, *y),
        (OutputCell::Number(x, how), OutputCell::Number(y, other)) if how == other => (*x, *y),
        // Printed in two formats, all but a few numbers look otherwise: this one may be one of the few.
        (OutputCell::Number(..), OutputCell::Number(..)) => return Some(pool.constant(1, 1)),
        (OutputCell::Byte(x), OutputCell::Fixed(y)) | (OutputCell::Fixed(y), OutputCell::Byte(x)) => {
            (*x, pool.constant(8, (*y).into()))
        }
        _ => return None,
    };
    let width = pool.width(x).max(pool.width(y));
    let (x, y) = (pool.sext(x, width), pool.sext(y, width));
    let same = pool.binary(Binary::Eq, x, y);
    Some(pool.not(same))
}

/// Pairs of a number's term on one side and fixed digits at the same position on the other: the value of the
/// digits, and the term.
fn numbers(fixed: &[OutputCell], with: &[OutputCell]) -> Vec<(i64, Term)> {
    let mut found = Vec::new();
    for (at, cell) in with.iter().enumerate().take(MAX_BYTES) {
        let OutputCell::Number(term, _) = cell else { continue };
        let is_text = |c: &&OutputCell| matches!(c, OutputCell::Fixed(b) if b.is_ascii_digit() || *b == b'-');
        let text: Vec<u8> = fixed
            .iter()
            .skip(at)
            .take_while(is_text)
            .filter_map(|c| if let OutputCell::Fixed(b) = c { Some(*b) } else { None })
            .collect();
        if let Some(value) = std::str::from_utf8(&text).ok().and_then(|t| t.parse().ok()) {
            found.push((value, *term));
        }
    }
    found
}

/// The condition that the exit statuses differ, if one depends on input.
fn statuses(pool: &mut Pool, paths: &Both<Path>) -> Option<Term> {
    let mut status = |path: &Path| match (path.status, path.end) {
        (Some(term), _) => Some(term),
        (None, Some(End::Exit { status })) => Some(pool.constant(32, status.into())),
        _ => None,
    };
    let (old, new) = (status(&paths.old)?, status(&paths.new)?);
    // A shell sees only the low 8 bits.
    let (old, new) = (pool.extract(old, 0, 8), pool.extract(new, 0, 8));
    let same = pool.binary(Binary::Eq, old, new);
    Some(pool.not(same))
}

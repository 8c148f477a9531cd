//! Inputs on which the outputs of two path groups, one of each version, differ.
//!
//! Both versions are explored from the same input ([`crate::signature`]), over the same variables. For
//! each pair of a group of good and a group of bad, the solver is queried for an input that belongs to
//! both and on which their outputs differ (Qi, *Semantic analyses to detect and localize software
//! regression errors*, on test-suite augmentation by signatures). The number of changes, and whether
//! they interact, makes no difference.
//!
//! All pairs are checked. Most need no query: one group has a condition that the other has negated, or
//! both compute their outputs by the same expressions. Equal terms have equal handles, so both are
//! found by comparing handles.
//!
//! If no pair has such an input, the versions are still not proven equivalent, even if all groups are
//! known: code that no output depends on may fault in one version only.

use crate::fuzz::run_candidate;
use crate::shared::{FoundBy, Seed, Shared};
use crate::signature::{By, Group, Options, Piece, explore_in, solved};
use crate::subject::Subject;
use alternate::{Both, Side, Status};
use serde::Serialize;
use solver::{Binary, Pool, Session, Settings, Term};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use symbolic::{Origin, TermContext};

/// The result of comparing the groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Signatures {
    /// Number of inputs from which both versions were explored.
    pub explored: u64,
    /// Number of inputs that differ in program or lengths.
    pub of: u64,
    /// Number of groups of good.
    pub good: u64,
    /// Number of groups of bad.
    pub bad: u64,
    /// Whether these are all groups, for inputs of these lengths.
    pub complete: bool,
    /// Number of pairs of a group of good and a group of bad, from the same input.
    pub pairs: u64,
    /// Pairs that contradict each other, in one condition or as proven by the solver.
    pub apart: u64,
    /// Pairs that compute their outputs by the same expressions, or whose outputs the solver proved to
    /// be the same.
    pub alike: u64,
    /// Pairs for which an input was found and run.
    pub tried: u64,
    /// Those of the tried pairs on whose input the versions differed.
    pub differ: u64,
    /// Pairs for which the solver gave no answer.
    pub unknown: u64,
}

/// The data of the worker.
pub struct Comparing<'c> {
    /// The programs that inputs are for.
    pub subjects: &'c [Subject],
    /// The inputs to explore from.
    pub seeds: &'c [Seed],
    /// Where exposures go, and whether the search is over.
    pub shared: &'c Shared,
    /// Solvers and their limits.
    pub settings: &'c Settings,
    /// The start of the search, from which the time of an exposure counts.
    pub began: Instant,
    /// When this worker starts; the others find most differences at once.
    pub from: Instant,
    /// No query begins after this time.
    pub until: Instant,
    /// Set to end the work early.
    pub stop: &'c AtomicBool,
}

/// Exploring each version takes at most the time for an input divided by this.
const PARTS: u32 = 4;

impl Comparing<'_> {
    /// Compares the versions from each input in turn, the shortest first, until the search ends.
    #[must_use]
    pub fn work(&self) -> Signatures {
        let mut all = Signatures { complete: true, ..Signatures::default() };
        while Instant::now() < self.from && !self.is_over() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut seeds = BTreeMap::new();
        for seed in self.seeds {
            let lengths: Vec<(&Origin, usize)> = seed.input.parts.iter().map(|(o, b)| (o, b.len())).collect();
            let bytes: usize = lengths.iter().map(|(_, len)| len).sum();
            // Inputs with the same lengths lead to the same groups.
            seeds.entry((bytes, seed.subject, lengths)).or_insert(seed);
        }
        all.of = seeds.len() as u64;
        let mut left = seeds.len() as u32;
        for seed in seeds.into_values() {
            if self.is_over() {
                break;
            }
            let time = self.until.saturating_duration_since(Instant::now()) / left.max(1);
            left -= 1;
            if self.compare(seed, time, &mut all).is_none() {
                all.complete = false;
            }
        }
        all.complete &= all.explored == all.of && all.of > 0;
        all
    }

    fn is_over(&self) -> bool {
        self.shared.is_over(self.until, self.stop)
    }

    /// `None` if a version cannot be explored.
    fn compare(&self, seed: &Seed, time: Duration, all: &mut Signatures) -> Option<()> {
        let subject = self.subjects.get(seed.subject)?;
        let mut world = TermContext::default();
        let mut groups: Both<Vec<Group>> = Both::default();
        for side in [Side::Old, Side::New] {
            let options = Options {
                by: By::Output,
                follow: subject.follow(),
                settings: self.settings.clone(),
                until: Instant::now() + time / PARTS,
                stop: &|| self.is_over(),
                progress: &|_| {},
                jobs: 1,
                store: None,
                faults: false,
            };
            let run = |input: &symbolic::Input| subject.record(side, input);
            let (found, terms) = explore_in(world, &seed.input, &options, &run).ok()?;
            world = terms;
            all.complete &= found.is_complete();
            match side {
                Side::Old => groups.old = found.groups,
                Side::New => groups.new = found.groups,
            }
        }
        all.explored += 1;
        all.good += groups.old.len() as u64;
        all.bad += groups.new.len() as u64;
        all.pairs += (groups.old.len() * groups.new.len()) as u64;
        // The time of the pairs is not reduced by an exploration that took too long: most pairs need no
        // query.
        let until = Instant::now() + time / PARTS * 2;
        let mut session = Session::new(self.settings.clone());
        let new: Vec<HashSet<Term>> = groups.new.iter().map(|g| g.terms.iter().copied().collect()).collect();
        for a in &groups.old {
            let turned: Vec<Term> = a.terms.iter().map(|t| world.pool.not(*t)).collect();
            for (b, terms) in groups.new.iter().zip(&new) {
                if self.is_over() || Instant::now() >= until {
                    return Some(());
                }
                if turned.iter().any(|t| terms.contains(t)) {
                    all.apart += 1;
                    continue;
                }
                let goal = match differ(&mut world.pool, a, b) {
                    Differ::Never => {
                        all.alike += 1;
                        continue;
                    }
                    Differ::If(goal) => Some(goal),
                    Differ::Perhaps => None,
                };
                let known: HashSet<Term> = a.terms.iter().copied().collect();
                let more = b.terms.iter().copied().filter(|t| !known.contains(t));
                let terms: Vec<Term> = a.terms.iter().copied().chain(more).chain(goal).collect();
                match solved(&mut session, &mut world, &terms, &a.input) {
                    Ok(Some(input)) => {
                        all.tried += 1;
                        let seed = Seed { subject: seed.subject, input };
                        if run_candidate(self.subjects, self.shared, &seed, FoundBy::Solver, self.began)
                            .is_some()
                        {
                            self.shared.add(&seed);
                        }
                        let both = subject.run_both(&seed.input);
                        all.differ += u64::from(both.is_ok_and(|o| o.old != o.new));
                    }
                    // Unsat may also mean that no input belongs to both groups. Nothing depends on the
                    // distinction.
                    Ok(None) if goal.is_some() => all.alike += 1,
                    Ok(None) => all.apart += 1,
                    Err(()) => all.unknown += 1,
                }
            }
        }
        Some(())
    }
}

/// When the outputs of two groups differ.
enum Differ {
    Never,
    /// Exactly when this term is true.
    If(Term),
    /// There is no expression for the condition.
    Perhaps,
}

/// The output of a group by sink, without standard error.
fn summary(group: &Group) -> impl Iterator<Item = (&Option<Origin>, &Vec<Piece>)> {
    let is_error = |sink: &Option<Origin>| matches!(sink, Some(Origin::Stream(name, _)) if name == "stderr");
    group.written.iter().filter(move |(sink, _)| !is_error(sink))
}

fn status(pool: &mut Pool, group: &Group) -> Option<Term> {
    let symbolic =
        group.outputs.iter().find_map(|p| if let Piece::Status(term) = p { Some(*term) } else { None });
    match (symbolic, group.ended.status) {
        // The part that a shell sees.
        (Some(term), _) => Some(pool.extract(term, 0, 8)),
        (None, Status::Exit(status)) => Some(pool.constant(8, status as u128 & 0xff)),
        (None, _) => None,
    }
}

fn differ(pool: &mut Pool, a: &Group, b: &Group) -> Differ {
    let mut goal = pool.constant(1, 0);
    let mut pairs = Vec::new();
    match (status(pool, a), status(pool, b)) {
        (Some(x), Some(y)) => pairs.push((x, y)),
        (None, None) if a.ended.status == b.ended.status => {}
        _ => return Differ::Perhaps,
    }
    if summary(a).count() != summary(b).count() {
        return Differ::Perhaps;
    }
    for ((sink, a), (other, b)) in summary(a).zip(summary(b)) {
        if sink != other || a.len() != b.len() {
            return Differ::Perhaps;
        }
        for (x, y) in a.iter().zip(b) {
            match (x, y) {
                _ if x == y => {}
                (Piece::Byte(x), Piece::Byte(y)) => pairs.push((*x, *y)),
                (Piece::Number(x, how), Piece::Number(y, other)) if how == other => pairs.push((*x, *y)),
                _ => return Differ::Perhaps,
            }
        }
    }
    for (x, y) in pairs {
        let width = pool.width(x).max(pool.width(y));
        let (x, y) = (pool.sext(x, width), pool.sext(y, width));
        let same = pool.binary(Binary::Eq, x, y);
        let other = pool.not(same);
        goal = pool.or(goal, other);
    }
    match pool.as_constant(goal) {
        Some(0) => Differ::Never,
        Some(_) => Differ::Perhaps,
        None => Differ::If(goal),
    }
}

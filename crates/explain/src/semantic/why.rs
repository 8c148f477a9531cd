//! The cut, the core, and the cause.

use super::cone::{Cone, follow};
use super::lift::{Ground, Lift, Terms};
use super::{Cause, NotApplicable, Question};
use slice::{Dependence, NodeId};
use solver::{Core, Outcome, Session, Settings, Term};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Terms and what is asked about them.
pub struct Solving {
    terms: Terms,
    session: Session,
    /// When it is enough.
    pub until: Instant,
}

impl Solving {
    /// With these solvers; without any, what is not plain stays unknown.
    #[must_use]
    pub fn new(settings: Settings, time: Duration) -> Solving {
        Solving { terms: Terms::default(), session: Session::new(settings), until: Instant::now() + time }
    }
}

/// Answers a question about a run.
///
/// # Errors
/// If the question cannot be put as a formula; see [`NotApplicable`].
pub fn why<G: Ground>(
    ground: &G,
    question: Question,
    cone: &Cone,
    reaches: &dyn Fn(NodeId, Dependence) -> bool,
    solving: &mut Solving,
) -> Result<Cause, NotApplicable> {
    let whole = cone.nodes.len();
    // With everything computed the negation is plainly false, if the values are
    // those of the run. With the newest part computed it is if the cut lies in it.
    if !unsatisfiable(ground, question, cone, whole, solving)? {
        return Err(if cone.whole { NotApplicable::Unclear } else { NotApplicable::TooLarge(whole) });
    }
    // What cannot be satisfied with less known cannot be with more: search the
    // shortest beginning.
    let (mut satisfiable, mut enough) = (0, whole);
    while enough - satisfiable > 1 {
        let middle = satisfiable.midpoint(enough);
        if unsatisfiable(ground, question, cone, middle, solving)? {
            enough = middle;
        } else {
            satisfiable = middle;
        }
    }
    let cut = cone.nodes[enough - 1];
    let inside = |node: NodeId| node <= cut;
    let mut lift = Lift::new(ground, &mut solving.terms, &cone.nodes, &inside);
    let (conditions, branches) = formula(&mut lift, question, cone, cut);
    let (members, minimal) = match solving.session.core(&solving.terms.pool, &conditions).map_err(failed)? {
        Core::Unsat { members, minimal } => (members, minimal),
        // The cut was found by the same solver; when in doubt all of it counts.
        Core::Sat | Core::Unknown(_) => ((0..conditions.len()).collect(), false),
    };
    let mut generators = BTreeSet::new();
    let branches: Vec<NodeId> =
        members.iter().filter_map(|at| at.checked_sub(1)).map(|at| branches[at]).collect();
    if members.contains(&0) {
        follow(ground.needs(), &mut generators, question.node(), cut, usize::MAX, reaches);
    }
    generators.insert(question.node());
    for branch in &branches {
        let mut more = BTreeSet::new();
        follow(ground.needs(), &mut more, *branch, cut, usize::MAX, reaches);
        generators.extend(more);
    }
    Ok(Cause { question, generators: generators.into_iter().collect(), branches, cut, cone: whole, minimal })
}

/// The negation first, then the branches before the cut.
fn formula<G: Ground>(
    lift: &mut Lift<'_, G>,
    question: Question,
    cone: &Cone,
    cut: NodeId,
) -> (Vec<Term>, Vec<NodeId>) {
    let negation = lift.negation(question);
    let mut conditions = vec![negation.unwrap_or_else(|| lift.yes())];
    let mut branches = Vec::new();
    for branch in cone.branches.iter().filter(|b| **b <= cut) {
        if let Some(condition) = lift.condition(*branch) {
            conditions.push(condition);
            branches.push(*branch);
        }
    }
    (conditions, branches)
}

/// Whether the first so many instructions of the cone leave no other answer.
fn unsatisfiable<G: Ground>(
    ground: &G,
    question: Question,
    cone: &Cone,
    length: usize,
    solving: &mut Solving,
) -> Result<bool, NotApplicable> {
    if Instant::now() > solving.until {
        return Err(NotApplicable::Late);
    }
    let Some(cut) = length.checked_sub(1).map(|at| cone.nodes[at]) else { return Ok(false) };
    let inside = |node: NodeId| node <= cut;
    let mut lift = Lift::new(ground, &mut solving.terms, &cone.nodes, &inside);
    let (conditions, _) = formula(&mut lift, question, cone, cut);
    if solving.terms.pool.as_constant(conditions[0]) == Some(0) {
        return Ok(true);
    }
    // Everything but the negation holds in the run; alone it decides nothing.
    let values: Vec<u128> = (0..solving.terms.count()).map(|v| solving.terms.given(v)).collect();
    let given = |v: u32| values.get(v as usize).copied().unwrap_or(0);
    let outcome = solving.session.solve(&mut solving.terms.pool, &conditions, &given).map_err(failed)?;
    Ok(outcome == Outcome::Unsat)
}

fn failed(error: solver::Error) -> NotApplicable {
    NotApplicable::Solver(error.to_string())
}

#[cfg(test)]
mod tests;

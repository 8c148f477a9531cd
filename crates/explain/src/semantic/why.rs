//! The cut, the core, and the cause.

use super::cone::{Cone, follow};
use super::lift::{Ground, Lift, Terms};
use super::{Cause, NotApplicable, Question};
use slice::{Dependence, NodeId};
use solver::{Core, Outcome, Session, Settings, Term};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Terms and the solver session.
pub struct Solving {
    terms: Terms,
    session: Session,
    /// The deadline.
    pub until: Instant,
}

impl Solving {
    /// A session with these solvers; without any, only simple formulas are decided.
    #[must_use]
    pub fn new(settings: Settings, time: Duration) -> Solving {
        Solving { terms: Terms::default(), session: Session::new(settings), until: Instant::now() + time }
    }
}

/// Answers a question about a run.
///
/// # Errors
/// If the question cannot be expressed as a formula; see [`NotApplicable`].
pub fn why<G: Ground>(
    ground: &G,
    question: Question,
    cone: &Cone,
    reaches: &dyn Fn(NodeId, Dependence) -> bool,
    solving: &mut Solving,
) -> Result<Cause, NotApplicable> {
    let whole = cone.nodes.len();
    // With every instruction lifted, the negation simplifies to false if the values are those of the run.
    // With only the newest part lifted, it is unsatisfiable if the cut is in that part.
    if !unsatisfiable(ground, question, cone, whole, solving)? {
        return Err(if cone.whole { NotApplicable::Unclear } else { NotApplicable::TooLarge(whole) });
    }
    // Unsatisfiability is monotone in the number of lifted instructions: binary search for the shortest
    // prefix.
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
        // The cut was found by the same solver; if the core is unknown, all conditions count.
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

/// The negation first, then the conditions of the branches before the cut.
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

/// Whether the first `length` instructions of the cone leave no other answer.
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
    // The run satisfies all conditions except the negation, which alone decides nothing.
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

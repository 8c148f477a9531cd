//! Many suspects in one trial.
//!
//! Of a large difference the guilty change is often not among the first few, and
//! to try a hundred changes one by one takes a hundred builds. Most of them have
//! nothing to do with the test: reverted together they leave it failing exactly
//! as before, and one trial clears them all. What spoils such a trial says so:
//! * a change that does not build alone is named by the compiler's complaint, and
//!   is taken out;
//! * a change that breaks the test in another way makes it fail otherwise than
//!   bad does; then halves are tried.
//!
//! A change may be cleared wrongly, where another undoes what its reversion does.
//! That costs time, not the answer: the searches behind this one look at all.

use super::complaint::accused;
use super::{Search, set};
use crate::change::{ChangeId, ChangeSet};
use crate::outcome::{Outcome, Trials};
use std::collections::VecDeque;

/// The first company is small, as its members are the most suspicious.
const FIRST: usize = 8;
const LARGEST: usize = 32;
/// Tried side by side where there are workers.
const ABREAST: usize = 2;

/// What came of trying suspects in company.
#[derive(Debug, Default)]
pub(super) struct Together {
    /// A company that passes.
    pub passing: Option<Vec<ChangeId>>,
    /// Members of companies that failed exactly as bad does.
    pub cleared: ChangeSet,
}

impl<T: Trials> Search<'_, T> {
    /// Tries suspects in ever larger companies, until one passes, all were tried
    /// or `most` trials were made.
    pub(super) fn together(&mut self, suspects: &[ChangeId], most: usize) -> Result<Together, T::Error> {
        let mut found = Together::default();
        let mut waiting = companies(suspects);
        let mut left = most;
        while !waiting.is_empty() && left > 0 && !self.exhausted() {
            let now: Vec<Vec<ChangeId>> = waiting.drain(..waiting.len().min(ABREAST)).collect();
            let sets: Vec<ChangeSet> = now.iter().map(|company| set(company)).collect();
            let outcomes = self.ask(&sets, Some(Outcome::Pass))?;
            left = left.saturating_sub(outcomes.len());
            if outcomes.last() == Some(&Outcome::Pass) {
                found.passing = now.into_iter().nth(outcomes.len() - 1);
                break;
            }
            let mut next = Vec::new();
            for ((company, reverted), outcome) in now.into_iter().zip(&sets).zip(outcomes) {
                match outcome {
                    Outcome::Fail if self.trials.fails_alike(reverted) => found.cleared.extend(reverted),
                    Outcome::Broken => next.extend(self.without_accused(&company, reverted)),
                    _ => next.extend(halves(&company)),
                }
            }
            for company in next.into_iter().rev() {
                waiting.push_front(company);
            }
        }
        Ok(found)
    }

    /// What is left of a company that does not build.
    fn without_accused(&mut self, company: &[ChangeId], reverted: &ChangeSet) -> Vec<Vec<ChangeId>> {
        let text = self.trials.complaint(reverted).unwrap_or_default();
        let accused = accused(self.structure, &text, reverted);
        let rest: Vec<ChangeId> = company.iter().copied().filter(|id| !accused.contains(id)).collect();
        match rest.len() {
            0 => Vec::new(),
            left if left == company.len() => halves(company),
            _ => vec![rest],
        }
    }
}

fn companies(suspects: &[ChangeId]) -> VecDeque<Vec<ChangeId>> {
    let mut companies = VecDeque::new();
    let (mut rest, mut size) = (suspects, FIRST);
    while !rest.is_empty() {
        let (company, others) = rest.split_at(size.min(rest.len()));
        companies.push_back(company.to_vec());
        rest = others;
        size = (2 * size).min(LARGEST);
    }
    companies
}

/// Of one that is alone there is no half.
fn halves(company: &[ChangeId]) -> Vec<Vec<ChangeId>> {
    if company.len() < 2 {
        return Vec::new();
    }
    let (first, second) = company.split_at(company.len().div_ceil(2));
    vec![first.to_vec(), second.to_vec()]
}

//! An input close to the recorded one on which both versions agree, whatever paths they take with it.
//!
//! An alternate input keeps one version on its complete path. No such input passes if the versions
//! diverge after the fault and both test the same bytes there. In that case only the branches before
//! one decision of one version are kept, and that decision is negated. Of the inputs on which both
//! versions agree, the one with the fewest changed bytes is the nearest; among equals it is the one
//! whose decision comes last, because it follows the recorded path longest. If it changes more than one
//! byte, inputs of other lengths are tried too: with one byte or line removed, or with one byte
//! duplicated. These need no solver.
//!
//! Versions that agree may both fail, for example because the input is now invalid. Such an input says little
//! about the fault, so any input with which both end as the old version did is preferred, however far it is.

use crate::ask::DecisionSolver;
use crate::report::{Alternate, Candidate, Part, Searched};
use crate::rerun::Ended;
use crate::search::{Case, Trial, parts, same_outcome};
use crate::side::{Both, Side};
use solver::{Model, Outcome};
use std::time::{Duration, Instant};
use symbolic::{Input, Origin};

/// Maximum number of solver inputs tried per version. The closest inputs are tried first, and of
/// equally close ones those of the latest decisions.
const TRIED: usize = 100;
/// Maximum number of inputs of other lengths that are tried.
const LENGTHS: usize = 200;
/// Minimum timeout: a solver that gets no time gives no reason for its failure.
const MIN_TIME: Duration = Duration::from_millis(100);

/// See the module's documentation. Both versions were run with the input.
#[derive(Clone, Debug)]
pub struct Nearest {
    /// Only the parts that changed.
    pub parts: Vec<Part>,
    /// The whole input, as each version can read it.
    pub input: Both<Input>,
    /// The common outcome of both versions with this input.
    pub ended: Ended,
    /// Whether they end as the old version did with the recorded input. If not, no such input was found.
    pub ends_as_old: bool,
    /// The branch up to which one version follows its recorded path, and where it takes another edge;
    /// `None` if the input has another length.
    pub branch: Option<Box<Candidate>>,
}

impl Case<'_> {
    /// Searches for a nearest input until a deadline.
    pub(crate) fn nearest(&mut self, until: Instant) -> Option<Nearest> {
        let mut best: Option<(usize, Nearest)> = None;
        for side in [Side::New, Side::Old] {
            let now = Instant::now();
            let half = now + until.saturating_duration_since(now) / 2;
            let mut models = self.turned(side, half);
            models.sort_by_key(|(number, model)| (self.distance(model), usize::MAX - number));
            for (number, model) in models.into_iter().take(TRIED) {
                let distance = self.distance(&model);
                let enough = |(least, best): &(usize, Nearest)| best.ends_as_old && *least <= distance;
                if Instant::now() >= until || best.as_ref().is_some_and(enough) {
                    break;
                }
                let fact = self.facts.of(side).list[number].clone();
                let Trial::Confirmed(alternate) = self.attempt(side, &fact, &model, false) else { continue };
                let is_better = |(least, best): &(usize, Nearest)| {
                    (!alternate.ends_as_old, distance) < (!best.ends_as_old, *least)
                };
                if alternate.passes && best.as_ref().is_none_or(is_better) {
                    let mut candidate = self.candidate(side, &fact);
                    candidate.condition.clone_from(&alternate.condition);
                    let Alternate { parts, input, ended, ends_as_old, .. } = (*alternate).clone();
                    candidate.alternates.push(*alternate);
                    let branch = Some(Box::new(candidate));
                    let nearest = Nearest { parts, input, ended: ended.new, ends_as_old, branch };
                    best = Some((distance, nearest));
                }
            }
        }
        if best.as_ref().is_none_or(|(distance, best)| *distance > 1 || !best.ends_as_old) {
            let other = self.of_another_length(until).map(|nearest| (1, nearest));
            best = other.into_iter().chain(best).min_by_key(|(distance, n)| (!n.ends_as_old, *distance));
        }
        best.map(|(_, nearest)| nearest)
    }

    fn distance(&self, model: &Model) -> usize {
        model.changes(&|v| self.world.variables.value(v)).len()
    }

    /// For each decision of a version, an input that reaches it on the recorded path and takes another
    /// edge there.
    fn turned(&mut self, side: Side, until: Instant) -> Vec<(usize, Model)> {
        let mut settings = self.options.solver.clone();
        let left = until.saturating_duration_since(Instant::now());
        settings.limits.timeout = settings.limits.timeout.min(left).max(MIN_TIME);
        let mut asker = DecisionSolver::new(&settings);
        for term in self.world.nul_free_conditions() {
            asker.assume_other(&mut self.world.pool, term);
        }
        let mut models = Vec::new();
        for number in 0..self.facts.of(side).list.len() {
            if Instant::now() >= until {
                break;
            }
            let fact = self.facts.of(side).list[number].clone();
            if fact.what.decides(self.options.libraries)
                && !fact.repeated
                && let Outcome::Sat(model) = asker.ask(&mut self.world, fact.term)
            {
                models.push((number, model));
            }
            asker.assume_branch(&mut self.world.pool, fact.term);
        }
        models
    }

    fn of_another_length(&mut self, until: Instant) -> Option<Nearest> {
        let mut tried = 0;
        let mut other_end: Option<Nearest> = None;
        for (origin, bytes) in self.input.new.parts.clone() {
            let is_argument = matches!(origin, Origin::Argument(_) | Origin::Environment(_));
            for changed in lengths(&bytes) {
                if tried == LENGTHS || Instant::now() >= until {
                    return other_end;
                }
                if is_argument && changed.is_empty() {
                    continue;
                }
                tried += 1;
                let mut input = self.input.clone();
                for side in [Side::Old, Side::New] {
                    if let Some(own) = input.of_mut(side).parts.get_mut(&origin) {
                        own.clone_from(&changed);
                    }
                }
                let Ok(reruns) = self.run(&input) else { continue };
                let ended = Both { old: reruns.old.ended, new: reruns.new.ended };
                if same_outcome(&ended) {
                    let parts = parts(&self.input, &input);
                    let ends_as_old = self.is_old_end(ended.old.status);
                    let nearest = Nearest { parts, input, ended: ended.new, ends_as_old, branch: None };
                    if ends_as_old {
                        return Some(nearest);
                    }
                    other_end.get_or_insert(nearest);
                }
            }
        }
        other_end
    }
}

/// The bytes with one removed, with one duplicated, or with a line removed; from the end.
fn lengths(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for at in (0..bytes.len()).rev() {
        let (before, behind) = bytes.split_at(at);
        let less = [before, &behind[1..]].concat();
        if all.last() != Some(&less) {
            all.push(less);
        }
    }
    for at in (0..bytes.len()).rev() {
        let (before, behind) = bytes.split_at(at);
        all.push([before, &behind[..1], behind].concat());
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    for at in (0..lines.len()).rev().filter(|_| lines.len() > 1) {
        all.push(
            lines.iter().enumerate().filter(|(n, _)| *n != at).flat_map(|(_, line)| *line).copied().collect(),
        );
    }
    all
}

/// Whether to search: only if both directions were searched. Otherwise the caller excluded one of them.
pub(crate) fn is_wanted(searched: &[Searched]) -> bool {
    [Side::Old, Side::New].iter().all(|side| searched.iter().any(|done| done.side == *side))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_of_other_lengths() {
        let all: Vec<String> =
            lengths(b"aab\nc").into_iter().map(|b| String::from_utf8(b).expect("text")).collect();
        assert_eq!(
            all,
            [
                "aab\n", "aabc", "aa\nc", "ab\nc", "aab\ncc", "aab\n\nc", "aabb\nc", "aaab\nc", "aaab\nc",
                "aab\n", "c"
            ]
        );
        assert_eq!(lengths(b""), Vec::<Vec<u8>>::new());
    }
}

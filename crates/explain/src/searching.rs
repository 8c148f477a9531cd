//! The search for the guilty changes, and the properties proved of its answer.

use crate::answer;
use crate::error::Error;
use crate::evidence::{Evidence, Executed};
use crate::findings::Findings;
use crate::session::{Method, ProgressEvent, Request};
use changes::search::{Found, Progress, Search, Structure, Verified};
use changes::{Change, ChangeId, ChangeSet, Difference, Outcome, Shown, UnitKind};
use std::path::Path;
use std::sync::Arc;
use trials::{Baseline, TrialRunner};

/// The result of a search.
#[derive(Default)]
pub struct Searched {
    /// The guilty changes; `None` if none were found.
    pub found: Option<Found>,
    verified: Option<Verified>,
    /// The limit on trials ended it.
    pub exhausted: bool,
    interrupted: bool,
    /// Outcomes of the trials: passed, failed, unresolved, broken.
    counts: [u32; 4],
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

/// Searches the guilty changes. An interrupt ends the search with the best answer so far.
///
/// # Errors
/// If trials cannot be made.
#[expect(clippy::too_many_arguments, reason = "each is a part of the session, borrowed by itself")]
pub fn search(
    request: &Request,
    difference: &Difference,
    evidence: &Evidence,
    order: &[ChangeId],
    unread: &ChangeSet,
    findings: &Findings<'_>,
    lab: &mut TrialRunner<'_>,
    news: &Arc<dyn Fn(&ProgressEvent<'_>) + Send + Sync>,
) -> Result<Searched, Error> {
    let mut structure = Structure::new(difference);
    let functions = findings.functions();
    structure.set_functions(|id| {
        let change = difference.change(id);
        let body = functions.get(&change.file)?.iter().find(|body| body.contains(&change.new_start))?;
        Some(format!("line {}", body.start))
    });
    structure
        .set_units(difference.units().into_iter().map(|unit| (unit.changes, unit.kind == UnitKind::Hunk)));
    let mut is_said = false;
    let mut watch = |progress: &Progress| {
        if !is_said && mostly_broken(progress.sets, progress.broken) {
            is_said = true;
            news(&ProgressEvent::MostlyBroken {
                progress,
                rewritten: rewritten(difference, order),
                difference,
                order,
            });
        }
        news(&ProgressEvent::Searching(progress));
    };
    let mut search = Search::new(lab, &structure, &mut watch);
    search.set_on_chain(evidence.on_chain());
    if let Some(most) = request.most_trials {
        search.limit(most);
    }
    let mut searched = Searched::default();
    let read: Vec<ChangeId> = order.iter().copied().filter(|id| !unread.contains(id)).collect();
    let outcome = run(&mut search, request.method, &read, order, evidence, &mut searched);
    searched.exhausted = search.exhausted();
    for tried in search.log() {
        let at = match tried.outcome {
            Outcome::Pass => 0,
            Outcome::Fail => 1,
            Outcome::Unresolved => 2,
            Outcome::Broken => 3,
        };
        searched.counts[at] += 1;
    }
    match outcome {
        Ok(()) => {}
        Err(trials::Error::Cancelled) => {
            searched.interrupted = true;
            searched.found = search.best();
        }
        Err(error) => return Err(error.into()),
    }
    if searched.found.is_none() {
        searched.notes.extend(one_message(lab));
        let [passed, failed, unresolved, broken] = searched.counts.map(|n| n as usize);
        if mostly_broken(passed + failed + unresolved + broken, broken) {
            searched.notes.extend(rewritten(difference, order).map(|(function, parts)| {
                format!(
                    "`{function}` was changed in {parts} places; most parts of it cannot be undone alone."
                )
            }));
        }
    }
    Ok(searched)
}

fn run(
    search: &mut Search<'_, TrialRunner<'_>>,
    method: Method,
    read: &[ChangeId],
    order: &[ChangeId],
    evidence: &Evidence,
    searched: &mut Searched,
) -> Result<(), trials::Error> {
    searched.found = match method {
        Method::Auto => match search.find(read)? {
            None if read.len() < order.len() => search.find(order)?,
            found => found,
        },
        Method::Dd => search.dd()?,
        Method::Add => {
            let executed: ChangeSet = evidence.executed().into_iter().collect();
            search.add(&executed)?
        }
    };
    if let Some(found) = &searched.found {
        searched.verified = Some(search.verify(found)?);
    }
    Ok(())
}

impl Searched {
    /// The result of a search that was interrupted before it began.
    #[must_use]
    pub fn interrupted() -> Searched {
        Searched { interrupted: true, ..Searched::default() }
    }

    /// Whether every property was proved.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        let Some(found) = &self.found else { return false };
        let proof = found.proof;
        let is_minimal = self.verified.as_ref().is_some_and(|verified| verified.passes && verified.minimal);
        is_minimal && proof.needed == Shown::Yes && proof.sufficient == Shown::Yes && proof.sane == Shown::Yes
    }

    /// The proved properties, in the form of the answer.
    #[must_use]
    pub fn proof(&self, lab: &TrialRunner<'_>) -> answer::Proof {
        let Some(found) = &self.found else { return answer::Proof::default() };
        let needed = match &self.verified {
            Some(verified) if verified.passes => Shown::Yes,
            Some(_) => Shown::No,
            None => found.proof.needed,
        };
        let minimal = match &self.verified {
            Some(verified) if verified.minimal => Shown::Yes,
            Some(verified) if !verified.superfluous.is_empty() || !verified.passes => Shown::No,
            Some(_) | None => Shown::NotTried,
        };
        let examined = lab.examined();
        answer::Proof {
            needed: answer::shown(needed),
            sufficient: answer::shown(found.proof.sufficient),
            sane: answer::shown(found.proof.sane),
            minimal: answer::shown(minimal),
            examined_by: examined.by.iter().cloned().collect(),
            left_out: examined.left_out.iter().cloned().collect(),
        }
    }

    /// Why an answer is not fully proved. `since`: the commit that bisecting found.
    #[must_use]
    pub fn doubt(&self, no_trials: bool, budget_is_over: bool, since: Option<&str>) -> Option<String> {
        if no_trials {
            return Some("nothing was tried".to_owned());
        }
        let ended = match (self.interrupted, self.exhausted) {
            (true, _) if budget_is_over => "; the budget ended the search",
            (true, _) => "; the search was interrupted",
            (false, true) => "; the limit on trials ended the search",
            (false, false) => "",
        };
        let Some(found) = &self.found else {
            let [passed, failed, unresolved, broken] = self.counts;
            if self.counts == [0; 4] {
                return Some(format!("no set of changes was tried{ended}"));
            }
            let (since, of) = match since {
                Some(commit) => (format!("the test fails since commit {commit}, but "), "its changes"),
                None => (String::new(), "changes"),
            };
            return Some(format!(
                "{since}no small set of {of} was found that makes the test pass when undone \
                 ({broken} did not build, {failed} still failed, {unresolved} did something else, {passed} passed){ended}"
            ));
        };
        if let Some(verified) = &self.verified {
            if !verified.passes {
                return Some(match verified.outcome {
                    Outcome::Broken => {
                        format!("with exactly these changes undone the program does not build{ended}")
                    }
                    Outcome::Unresolved => {
                        format!("with exactly these changes undone the test fails in another way{ended}")
                    }
                    _ => format!("with exactly these changes undone the test still fails{ended}"),
                });
            }
            if !verified.superfluous.is_empty() {
                let names: Vec<String> = verified.superfluous.iter().map(|c| format!("#{}", c.0)).collect();
                return Some(format!("{} can be put back without harm{ended}", names.join(", ")));
            }
        }
        match found.proof.sane {
            Shown::No => {
                return Some(format!("the program with these changes undone passes by accident{ended}"));
            }
            Shown::NotTried => {
                return Some(format!(
                    "undoing these changes makes the test pass, but it was not examined whether by accident{ended}"
                ));
            }
            Shown::Yes => {}
        }
        match found.proof.sufficient {
            Shown::Yes if self.verified.as_ref().is_some_and(|v| v.minimal) => None,
            Shown::Yes => Some(format!("it was not tried whether each of these changes is needed{ended}")),
            Shown::No => Some(format!(
                "undoing these changes makes the test pass, but put into good they do not make it fail: something else has a part in it{ended}"
            )),
            Shown::NotTried => Some(format!(
                "undoing these changes makes the test pass; put into good they do not build, so it was not seen whether they alone make it fail{ended}"
            )),
        }
    }
}

/// Reassigns the roles by the pair of versions that differs only in the found changes: of changes that only
/// compile together, those through which the difference propagated to the failure are the cause; the others
/// must only be undone with them. Results of trials are kept.
#[must_use]
pub fn by_effect(found: Found, difference: &Difference, findings: &Findings<'_>) -> Found {
    let by_trial = &found.root - &found.by_chain;
    let open = if by_trial.is_empty() { found.all() } else { found.by_chain.clone() };
    let by_chain = findings.effect(difference, &open);
    if by_chain.is_empty() {
        return found;
    }
    let root = &by_trial | &by_chain;
    Found { auxiliary: &found.all() - &root, root, by_chain, ..found }
}

/// Changes in files that neither the builds nor the tests opened.
#[must_use]
pub fn unread(difference: &Difference, baseline: Option<&Baseline>) -> ChangeSet {
    let Some([good, bad]) = baseline.and_then(|baseline| baseline.opened.as_ref()) else {
        return ChangeSet::new();
    };
    let is_unread = |change: &&Change| {
        let old_file = change.old_file.as_deref().unwrap_or(&change.file);
        !bad.contains(Path::new(&change.file)) && !good.contains(Path::new(old_file))
    };
    difference.changes().iter().filter(is_unread).map(|change| change.id).collect()
}

/// Whether a change is in the answer without the rest of its hunk.
#[must_use]
pub fn is_part(difference: &Difference, change: &Change, answer: &ChangeSet) -> bool {
    let hunk = difference.hunk(change.hunk);
    answer.contains(&change.id) && hunk.changes.iter().any(|id| !answer.contains(id))
}

/// For a test that became slower: sorts changes by the growth of the execution count of nearby lines, the
/// largest first.
#[must_use]
pub fn by_growth(order: &[ChangeId], difference: &Difference, executed: &[Executed; 2]) -> Vec<ChangeId> {
    /// Lines around a change that may be the loop containing it.
    const AROUND: u32 = 12;
    let growth = |id: &ChangeId| -> u64 {
        let change = difference.change(*id);
        let range = change.new_range();
        let lines = range.start.saturating_sub(AROUND)..range.end + AROUND;
        let bad = lines.map(|line| executed[1].get(&(change.file.clone(), line)).copied().unwrap_or(0)).max();
        let old_file = change.old_file.as_ref().unwrap_or(&change.file);
        let range = change.old_range();
        let lines = range.start.saturating_sub(AROUND)..range.end + AROUND;
        let good = lines.map(|line| executed[0].get(&(old_file.clone(), line)).copied().unwrap_or(0)).max();
        bad.unwrap_or(0).saturating_sub(good.unwrap_or(0))
    };
    let mut sorted: Vec<ChangeId> = order.to_vec();
    sorted.sort_by_cached_key(|id| std::cmp::Reverse(growth(id)));
    sorted
}

/// The note for the case that all builds fail with one message that no change explains.
fn one_message(lab: &TrialRunner<'_>) -> Option<String> {
    let mut broken = lab.log().iter().filter(|tried| tried.outcome == Some(Outcome::Broken));
    let first = broken.next()?;
    let strip = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let same = broken.clone().count() > 4 && broken.all(|tried| strip(&tried.why) == strip(&first.why));
    same.then(|| {
        format!("Every set of changes that did not build failed with the same message: {}.", first.why)
    })
}

/// Whether the fraction of sets that do not build is worth a note.
fn mostly_broken(sets: usize, broken: usize) -> bool {
    broken >= 24 && broken * 10 >= sets * 7
}

/// The most suspicious function that was changed in many places, and the number of these.
fn rewritten(difference: &Difference, order: &[ChangeId]) -> Option<(String, usize)> {
    order.iter().take(10).find_map(|id| {
        let function = difference.change(*id).function.clone()?;
        let parts = difference.changes().iter().filter(|c| c.function.as_ref() == Some(&function)).count();
        (parts > 3).then_some((function, parts))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_answer_the_commit_is_still_named() {
        let searched = Searched { counts: [3, 49, 14, 75], interrupted: true, ..Searched::default() };
        let doubt = searched.doubt(false, false, Some("5f996eba6d")).unwrap();
        assert!(
            doubt.starts_with("the test fails since commit 5f996eba6d, but no small set of its"),
            "{doubt}"
        );
        assert!(doubt.ends_with("(75 did not build, 49 still failed, 14 did something else, 3 passed); the search was interrupted"), "{doubt}");
        let doubt = searched.doubt(false, true, None).unwrap();
        assert!(doubt.starts_with("no small set of changes"), "{doubt}");
    }
}

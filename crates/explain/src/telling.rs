//! Derives the complete answer from the found changes: the causes of the failure, the nearest input on which
//! both versions agree, and the attachments of a page.

use crate::answer::Answer;
use crate::beside;
use crate::case::Case;
use crate::evidence::Evidence;
use crate::findings::Findings;
use crate::nearby::nearby;
use crate::observe::Observed;
use crate::passing::{self, Passing};
use crate::session::Explanation;
use crate::upstream;
use changes::search::Found;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is known about good and bad when the guilty changes are found.
pub struct Telling<'t, 'c> {
    /// Good and bad.
    pub case: &'t Case<'c>,
    /// The observed failure of good and bad.
    pub observed: &'t Observed,
    /// The guilty changes; empty if none were found.
    pub found: &'t Found,
    /// Instructions of the longest run.
    pub steps: u64,
    /// A directory for runs with other inputs.
    pub scratch: PathBuf,
    /// The comparison of the failing test with a passing one.
    pub passing: Option<Passing>,
    /// Attach views of the runs themselves.
    pub runs: bool,
    /// Search an input on which both versions agree.
    pub nearby: bool,
    /// Also compare its runs with those of the failing test.
    pub compare_tests: bool,
    /// Ends the work early once it is set.
    pub stop: &'t AtomicBool,
}

impl Telling<'_, '_> {
    /// Derives the causes from the pair of runs of `told` and `findings`: bad's, and that of good or of bad
    /// with the found changes undone.
    #[must_use]
    pub fn tell(
        self,
        mut answer: Answer,
        told: &Case<'_>,
        findings: &Findings<'_>,
        evidence: &Evidence,
    ) -> Explanation {
        let goes_on = || !self.stop.load(Ordering::Relaxed);
        answer.causes = findings.causes(told, evidence, self.found, &self.observed.observation);
        upstream::follow(told, findings, self.found, &mut answer.causes);
        let mut passing = self.passing;
        if self.nearby && goes_on() {
            match nearby(self.case, self.observed, self.steps, &self.scratch) {
                Ok((alternate, runs)) => {
                    answer.alternate = Some(alternate);
                    if let Some(runs) = runs.filter(|_| self.compare_tests) {
                        passing = passing::with_runs(self.case, self.observed, &runs, None).ok();
                    }
                }
                Err(reason) => answer.no_alternate = Some(reason),
            }
        }
        answer.passing = passing.map(|found| found.beside(&answer.causes));
        for hunk in answer.root.iter_mut().chain(&mut answer.auxiliary) {
            told.mark_guilty(hunk, &answer.causes);
        }
        answer.notes.extend(findings.notes(self.found, &answer.causes));
        let (mut phases, mut runs) = (None, None);
        if self.runs && goes_on() {
            let mut note = |reason: String| answer.notes.push(reason);
            phases = beside::phases(findings).unwrap_or_else(|reason| {
                note(reason);
                None
            });
            runs =
                beside::runs(self.case, self.observed, findings, answer.passing.as_ref()).map_err(note).ok();
        }
        let (good_files, bad_files) = told.files(&answer, phases.as_ref());
        Explanation { answer, good_files, bad_files, phases, runs }
    }
}

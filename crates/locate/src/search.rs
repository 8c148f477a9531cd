//! The sources of passing runs: the user's tests, inputs close to the failing one, models of a solver.

use crate::Result;
use crate::generate::{QUERY_TIMEOUT, generate};
use crate::inputs::ReplaceableInputs;
use crate::perturb::mutations;
use crate::pool::{self, Outcome, Reference, RunContext};
use crate::prepare::run_of;
use crate::reduce::reduce;
use crate::session::{ProgressEvent, Request};
use crate::test::{Test, Verdict};
use std::time::Instant;
use symbolic::Origin;
use trials::Status;

/// Maximum number of passing inputs from minimising the failing one that are recorded.
const MAX_PASSING_INPUTS: usize = 40;

/// The context of a search.
pub(crate) struct Case<'c> {
    pub request: &'c Request,
    pub means: &'c RunContext<'c>,
    pub reference: &'c Reference<'c>,
    /// The failing process.
    pub recorded: &'c recording::Process,
    /// The step at which the failure is observed.
    pub until: u64,
    /// How the failing test ended.
    pub status: Status,
    pub news: &'c (dyn Fn(&ProgressEvent) + Sync),
}

/// The source of passing runs that was searched last, and its result.
pub(crate) struct Found {
    /// As in [`Pool`](crate::answer::Pool).
    pub kind: &'static str,
    pub tests: Vec<Test>,
    pub outcome: Outcome,
    /// Whether all of the user's tests were run, or are known.
    pub all_given: bool,
}

impl Case<'_> {
    /// Tries the user's tests first; if none passes, inputs close to the failing one; then models of a
    /// solver. `own_status`: the test fails because of how the program ends. Adds notes on sources without a
    /// passing run.
    pub fn search(&self, own_status: bool, notes: &mut Vec<String>) -> Result<Found> {
        let (request, means) = (self.request, self.means);
        let progress = |run: usize, of: usize| (self.news)(&ProgressEvent::Pool { run, of });
        let outcome = pool::choose(&request.pool, "pool", self.reference, means, &progress)?;
        let kind = if request.pool.is_empty() { "none" } else { "tests" };
        let all_given = outcome.runs as usize >= request.pool.len();
        let given = Found { kind, tests: request.pool.clone(), outcome, all_given };
        if given.outcome.best().is_some() || means.is_stopped() {
            return Ok(given);
        }
        if !request.pool.is_empty() {
            let runs = given.outcome.runs;
            notes.push(format!("None of the {runs} tests that were given passes and can be compared with."));
        }
        let Some(mut inputs) = self.inputs(own_status, notes)? else { return Ok(given) };
        let tests = perturbed(&mut inputs, request.perturbations)?;
        let means = &RunContext { memory: None, same_end: Some(self.status), ..*means };
        let half = RunContext { until: Instant::now() + request.budget / 2, ..*means };
        let outcome = pool::choose(&tests, "perturbed", self.reference, &half, &progress)?;
        if outcome.best().is_some() || means.is_stopped() {
            return Ok(Found { kind: "perturbed", tests, outcome, all_given });
        }
        notes.push(format!("{} inputs near to the failing one were tried, and none passes.", outcome.runs));
        let third = Instant::now() + means.until.saturating_duration_since(Instant::now()) / 3;
        let tests = self.reduced(&mut inputs, &RunContext { until: third, ..*means }, notes)?;
        let outcome = pool::choose(&tests, "reduced", self.reference, means, &progress)?;
        if outcome.best().is_some() || means.is_stopped() {
            return Ok(Found { kind: "perturbed", tests, outcome, all_given });
        }
        (self.news)(&ProgressEvent::Generating);
        let mut settings =
            solver::Settings { commands: request.solvers.clone(), ..solver::Settings::default() };
        settings.limits.timeout = QUERY_TIMEOUT;
        let (outcome, tests, tried) =
            generate(self.recorded, self.reference, self.until, &mut inputs, &settings, means)?;
        if outcome.best().is_none() {
            notes.push(format!(
                "A solver was asked {} times for an input that turns branches before the failure; {} times \
                 there is none, {} inputs were run, and none passes.",
                tried.asked, tried.infeasible, tried.run
            ));
        }
        Ok(Found { kind: "generated", tests, outcome, all_given })
    }

    /// Minimises the failing input while it fails with the same status. Returns tests with the inputs that
    /// passed during this, the last first, and with mutations of the result: these are nearest to failing.
    fn reduced(
        &self,
        inputs: &mut ReplaceableInputs,
        means: &RunContext<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Test>> {
        (self.news)(&ProgressEvent::Reducing);
        let mut smaller: Vec<(Origin, Vec<u8>)> = inputs.parts.clone();
        let mut met = Vec::new();
        for at in 0..smaller.len() {
            let (origin, bytes) = smaller[at].clone();
            let others = smaller.clone();
            let mut fails = |candidate: &[u8]| -> Result<Option<bool>> {
                if means.is_stopped() {
                    return Ok(None);
                }
                let mut changed = others.clone();
                changed[at].1 = candidate.to_vec();
                let what = format!("{} \"{}\"", origin.name(), shown(candidate));
                let test = inputs.test(&changed, what)?;
                let run = match means.suite.run(&run_of(&test, "reduced"), means.hang) {
                    Err(trials::Error::Cancelled) => return Ok(None),
                    run => run?,
                };
                let verdict = test.judge(&run);
                if verdict == Verdict::Pass {
                    met.push(test);
                }
                Ok(Some(verdict == Verdict::Fail && run.status == self.status))
            };
            let left = reduce(&bytes, &mut fails)?;
            if left.len() < bytes.len() {
                notes.push(format!(
                    "Parts of {} can be left out: it still fails in the same way with {} of {} bytes, `{}`.",
                    origin.name(),
                    left.len(),
                    bytes.len(),
                    shown(&left)
                ));
            }
            smaller[at].1 = left;
        }
        met.reverse();
        met.truncate(MAX_PASSING_INPUTS);
        if smaller != inputs.parts {
            for at in 0..smaller.len() {
                for mutation in mutations(&smaller[at].1, self.request.perturbations / 2) {
                    let mut changed = smaller.clone();
                    changed[at].1 = mutation.bytes;
                    let what = format!("{} in {}, made smaller", mutation.what, changed[at].0.name());
                    met.push(inputs.test(&changed, what)?);
                }
            }
        }
        Ok(met)
    }

    /// The inputs that can be replaced; `None` if there are none, with a note on the reason.
    fn inputs(&self, own_status: bool, notes: &mut Vec<String>) -> Result<Option<ReplaceableInputs>> {
        let scratch = self.means.suite.work().fresh_tmp("inputs")?;
        let (process, stream) = (self.reference.process, self.reference.stream);
        let inputs =
            ReplaceableInputs::new(process, self.recorded, stream, &self.request.test, own_status, &scratch);
        let inputs = match inputs {
            Ok(inputs) => inputs,
            Err(error) => {
                notes.push(format!("Other inputs could not be tried: failed to {error}."));
                return Ok(None);
            }
        };
        notes.extend(inputs.fixed.iter().map(|why| format!("No other input was tried for {why}.")));
        if inputs.parts.is_empty() && inputs.fixed.is_empty() {
            notes.push("No other input was tried: the program reads none.".to_owned());
        }
        Ok(Some(inputs).filter(|inputs| !inputs.parts.is_empty()))
    }
}

/// Tests with mutations of the failing input, alternating between its parts.
fn perturbed(inputs: &mut ReplaceableInputs, most: usize) -> Result<Vec<Test>> {
    let parts = inputs.parts.clone();
    let mut lists: Vec<_> = parts
        .iter()
        .map(|(origin, bytes)| mutations(bytes, most).into_iter().map(move |mutation| (origin, mutation)))
        .collect();
    let mut tests = Vec::new();
    while tests.len() < most {
        let round: Vec<_> = lists.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            break;
        }
        for (origin, mutation) in round {
            let what = format!("{} in {}", mutation.what, origin.name());
            tests.push(inputs.test(&[(origin.clone(), mutation.bytes)], what)?);
        }
    }
    Ok(tests)
}

/// An input as displayed text.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 60;
    let text = bytes.escape_ascii().to_string();
    let cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() { cut + "..." } else { cut }
}

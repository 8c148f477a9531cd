//! Where passing runs come from: the user's tests, inputs near to the failing one, a solver's.

use crate::Result;
use crate::generate::{SOLVING, generate};
use crate::inputs::Replaceable;
use crate::perturb::mutations;
use crate::pool::{self, Means, Outcome, Reference};
use crate::session::{News, Request};
use crate::test::Test;
use std::time::Instant;

/// What is searched for, and with what.
pub(crate) struct Case<'c> {
    pub request: &'c Request,
    pub means: &'c Means<'c>,
    pub reference: &'c Reference<'c>,
    /// The failing process.
    pub recorded: &'c recording::Process,
    /// The step at which the failure shows.
    pub until: u64,
    pub news: &'c (dyn Fn(&News) + Sync),
}

/// Where passing runs were looked for last, and what came of it.
pub(crate) struct Found {
    /// As in [`Pool`](crate::answer::Pool).
    pub kind: &'static str,
    pub tests: Vec<Test>,
    pub outcome: Outcome,
}

impl Case<'_> {
    /// The user's tests first; if none passes, inputs near to the failing one; then a solver's.
    /// `own_end`: the test fails because of how the program ends. What was tried in vain is noted.
    pub fn search(&self, own_end: bool, notes: &mut Vec<String>) -> Result<Found> {
        let (request, means) = (self.request, self.means);
        let progress = |run: usize, of: usize| (self.news)(&News::Pool { run, of });
        let outcome = pool::choose(&request.pool, "pool", self.reference, means, &progress)?;
        let kind = if request.pool.is_empty() { "none" } else { "tests" };
        let given = Found { kind, tests: request.pool.clone(), outcome };
        if given.outcome.best().is_some() || means.is_stopped() {
            return Ok(given);
        }
        if !request.pool.is_empty() {
            let runs = given.outcome.runs;
            notes.push(format!("None of the {runs} tests that were given passes and can be compared with."));
        }
        let Some(mut inputs) = self.inputs(own_end, notes)? else { return Ok(given) };
        let tests = perturbed(&mut inputs, request.perturbations)?;
        let half = Means { until: Instant::now() + request.budget / 2, memory: None, ..*means };
        let means = &Means { memory: None, ..*means };
        let outcome = pool::choose(&tests, "perturbed", self.reference, &half, &progress)?;
        if outcome.best().is_some() || means.is_stopped() {
            return Ok(Found { kind: "perturbed", tests, outcome });
        }
        notes.push(format!("{} inputs near to the failing one were tried, and none passes.", outcome.runs));
        (self.news)(&News::Generating);
        let mut settings =
            solver::Settings { commands: request.solvers.clone(), ..solver::Settings::default() };
        settings.limits.timeout = SOLVING;
        let (outcome, tests, tried) =
            generate(self.recorded, self.reference, self.until, &mut inputs, &settings, means)?;
        if outcome.best().is_none() {
            notes.push(format!(
                "A solver was asked {} times for an input that turns branches before the failure; {} times \
                 there is none, {} inputs were run, and none passes.",
                tried.asked, tried.infeasible, tried.run
            ));
        }
        Ok(Found { kind: "generated", tests, outcome })
    }

    /// The inputs that can be replaced; none if there are none, and why is noted.
    fn inputs(&self, own_end: bool, notes: &mut Vec<String>) -> Result<Option<Replaceable>> {
        let scratch = self.means.suite.work().fresh_tmp("inputs")?;
        let (process, stream) = (self.reference.process, self.reference.stream);
        let inputs = Replaceable::new(process, self.recorded, stream, &self.request.test, own_end, &scratch);
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

/// Tests with mutations of the failing input, parts in turn.
fn perturbed(inputs: &mut Replaceable, most: usize) -> Result<Vec<Test>> {
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

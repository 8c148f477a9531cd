//! The parts of an answer that describe a pair of calls.

use crate::answer::CallPlace;
use crate::checking::Both;
use crate::compare::Half;
use crate::judge::Output;
use crate::moment::{Pair, Run, Shown};
use crate::shown::show;
use crate::state::{RESULT, parameter_address};
use crate::watch::{Ended, Seen};
use explain::align::Side;
use std::path::Path;

/// Output to files between two steps, and other effects outside of memory.
pub(crate) fn outputs(
    both: &Both<'_, '_>,
    side: Side,
    Seen { io, external_effects, .. }: &Seen<'_>,
    (first, last): (u64, u64),
) -> Vec<Output> {
    let start = io.events.partition_point(|e| e.instruction < first);
    let name = |source: usize| match io.sources.get(source) {
        Some(source) if source.fd == 1 => "stdout".to_owned(),
        Some(source) if source.fd == 2 => "stderr".to_owned(),
        Some(source) => {
            let path = both.lines.relative(side, &source.name);
            // Files outside of the version are in directories that differ from run to run.
            match Path::new(&path).is_absolute() {
                true => {
                    Path::new(&path).file_name().map_or(path.clone(), |n| n.to_string_lossy().into_owned())
                }
                false => path,
            }
        }
        None => String::new(),
    };
    let done = external_effects
        .iter()
        .filter(|(step, _)| (first..=last).contains(step))
        .map(|(_, external_effect)| external_effect.clone());
    io.events[start..]
        .iter()
        .take_while(|e| e.instruction <= last)
        .filter(|e| e.out)
        .map(|e| (name(e.source), e.bytes.clone()))
        .chain(done)
        .collect()
}

/// The position of a pair of calls in the runs.
pub(crate) fn place_of(both: &Both<'_, '_>, pair: &Pair<'_, '_>) -> CallPlace {
    let caller = pair.bad.call.caller.as_ref();
    CallPlace {
        test: both.test,
        numbers: [pair.good.call.number, pair.bad.call.number],
        caller: caller.map(|c| c.function.clone()),
        place: caller.map(|c| format!("{}:{}", both.lines.relative(Side::Bad, &c.file), c.line)),
    }
}

/// The parameters of a call.
pub(crate) fn parameters(run: &Run<'_, '_>) -> Vec<Shown> {
    let half = Half { version: run.version, state: &run.call.entry };
    let shown = |(n, p): (usize, &crate::version::Parameter<'_>)| Shown {
        expression: p.name.clone(),
        value: show(&half, parameter_address(n), &p.ty),
    };
    run.watched.parameters.iter().enumerate().map(shown).collect()
}

/// How a call terminated, with its result.
pub(crate) fn ending(run: &Run<'_, '_>) -> String {
    match (&run.call.ended, &run.call.result) {
        (Ended::Returned, Some(ty)) => {
            let half = Half { version: run.version, state: &run.call.exit };
            format!("returns {}", show(&half, RESULT, ty))
        }
        (ended, _) => ended.to_string(),
    }
}

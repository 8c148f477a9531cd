//! The observed failure of the failing run, and the slicing criteria for it.

use crate::Result;
use crate::suites::tap::Tap;
use crate::test::Test;
use explain::observe::{self, Observed, RunOutput, Sinks, observe};
use recording::Recording;
use replay::process::LoadedProcess;
use slice::Criterion;
use trials::Recorded;

/// The observed failure, compared with the expected result, because there is no run of another version.
pub(crate) fn observed(test: &Test, failing: &Recorded, recording: &Recording) -> Observed {
    let bad = RunOutput::from(&failing.run);
    let good = RunOutput {
        exit: Some(0),
        stdout: test.expected.clone().unwrap_or_else(|| bad.stdout.clone()),
        stderr: bad.stderr.clone(),
        ..RunOutput::default()
    };
    let run = |recording, output| observe::Run { recording, root: &failing.tree, output };
    let sinks = Sinks { stdout: test.expected.is_some(), stderr: false, files: false };
    let same = |file: &str, line: u32| Some((file.to_owned(), line));
    observe(run(None, &good), run(Some(recording), &bad), &same, sinks).unwrap_or_else(|error| Observed {
        observation: explain::answer::Observation {
            kind: "unknown".to_owned(),
            summary: format!("the test ended with {}", failing.run.status),
            ..Default::default()
        },
        notes: vec![format!("What was observed could not be placed: failed to {error}.")],
        ..Observed::default()
    })
}

/// The criterion if no fault is observed inside the program: its last output, which something outside may
/// have rejected, or else its end.
pub(crate) fn last_output_or_end(process: &LoadedProcess) -> Result<(Vec<Criterion>, &'static str)> {
    let slicer = slice::Slicer::new(process, slice::SlicerOptions::default());
    for stream in 0..process.streams.len() as u32 {
        let written = slicer.io(stream)?.events.iter().filter(|event| event.out && event.length > 0);
        let ends: Vec<u64> = written.map(|event| event.offset + event.length - 1).collect();
        for end in ends.into_iter().rev() {
            if let Some(criterion) = slicer.output_criterion("stdout", end)? {
                let note =
                    "What is wrong was found outside of the program: it is asked about what it wrote last.";
                return Ok((vec![criterion], note));
            }
        }
    }
    let note = "What is wrong could not be seen inside the program: it is asked about its end.";
    Ok((slicer.failure_criterion()?.into_iter().collect(), note))
}

/// The position of an output byte depends on the output before it. Without the preceding byte as a criterion,
/// a loop that wrote too few bytes would not be in the slice.
pub(crate) fn with_byte_before(
    process: &LoadedProcess,
    mut criteria: Vec<Criterion>,
    observed: &Observed,
) -> Result<Vec<Criterion>> {
    if let Some(output) = &observed.observation.output
        && let Some(before) = output.offset.checked_sub(1)
        && !output.bad.is_empty()
    {
        let slicer = slice::Slicer::new(process, slice::SlicerOptions::default());
        let more = slicer.output_criterion(&output.sink, before)?;
        let latest = criteria.iter().map(|c| c.at).max();
        criteria.extend(more.filter(|criterion| latest.is_some_and(|at| criterion.at < at)));
    }
    Ok(criteria)
}

/// The summary for an output that differs: it was expected, not printed by another version.
pub(crate) fn against_expected(observation: &explain::answer::Observation) -> Option<String> {
    let output = observation.output.as_ref()?;
    let place = observation
        .place
        .as_ref()
        .map(|place| format!("; written in {} ({}:{})", place.function, place.file, place.line));
    Some(format!(
        "line {} of {} is `{}`, expected `{}`{}",
        output.line,
        output.sink,
        output.bad,
        output.good,
        place.unwrap_or_default()
    ))
}

/// The first failed test of the Test Anything Protocol: the summary, and a criterion for the first byte of
/// its line.
pub(crate) fn failed_tap(
    test: &Test,
    failing: &Recorded,
    process: &LoadedProcess,
) -> Result<Option<(String, Criterion)>> {
    let output = if test.tap { std::fs::read(&failing.run.stdout).unwrap_or_default() } else { Vec::new() };
    let Some((offset, line)) = Tap::read(&output).and_then(|tap| tap.failed) else { return Ok(None) };
    let slicer = slice::Slicer::new(process, slice::SlicerOptions::default());
    let criterion = slicer.output_criterion("stdout", offset)?;
    Ok(criterion.map(|criterion| (format!("the program reports `{line}`"), criterion)))
}

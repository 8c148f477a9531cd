//! Commands that look further into the recorded runs of an answer.
//!
//! A command is named only if its question has an answer: the recording, or its process, was asked when the
//! failure was observed.

use crate::answer::{Answer, Cause, FollowUp};
use crate::case::Loaded;
use slice::{Slicer, SlicerOptions};

/// Longer runs are not compared event by event within seconds.
const MOST_STEPS: u64 = 100_000_000;

/// The options of `relapse slice` that ask for the observed failure of bad's recording.
#[must_use]
pub fn question(loaded: &Loaded) -> Option<String> {
    let observed = &loaded.observed;
    let slicer = Slicer::new(loaded.bad.as_ref()?, SlicerOptions::default());
    let failed = observed.criteria.first()?.at;
    let process = format!("--process {}", observed.process);
    match (observed.observation.kind.as_str(), &observed.observation.output) {
        ("assertion" | "abort" | "signal" | "exit-status", _) => {
            let is_failure = matches!(slicer.has_succeeded(), Ok(false));
            let criterion = slicer.failure_criterion().ok().flatten();
            (is_failure && criterion.is_some()).then(|| format!("--failure {process}"))
        }
        ("output" | "extra-output", Some(output)) => {
            let start = slicer.output_start(&output.sink).ok()?.unwrap_or(0);
            // Offsets are counted from the first byte that the process wrote.
            let offset = output.offset.checked_sub(start)?;
            let criterion = slicer.output_criterion(&output.sink, output.offset).ok()??;
            let question = quoted(&format!("{}@{offset}", output.sink));
            (criterion.at == failed).then(|| format!("--output {question} {process}"))
        }
        _ => None,
    }
}

/// The commands for an answer whose causes are known. `steps`: instructions of the longest run.
#[must_use]
pub fn commands(answer: &Answer, question: Option<&str>, steps: u64) -> Vec<FollowUp> {
    let reference = answer.fixed.as_ref().unwrap_or(&answer.good);
    let Some(bad) = answer.bad.recording.as_deref().map(quoted) else { return Vec::new() };
    let mut commands = Vec::new();
    let mut add = |asks: &str, command: String| {
        commands.push(FollowUp { asks: asks.to_owned(), command });
    };
    // A run that does not end has more instructions than were followed.
    let is_short = steps <= MOST_STEPS && answer.observation.kind != "hang";
    if let Some(other) = reference.recording.as_deref().filter(|_| is_short) {
        add("where the runs first differ", format!("relapse diff {} {bad} --first", quoted(other)));
    }
    if let Some(question) = question {
        add("what the failure came from", format!("relapse slice {bad} {question} --chain"));
    }
    if let Some(place) = changed(&answer.causes) {
        add("values at a changed line", format!("relapse values {bad} {}", quoted(&place)));
    }
    commands
}

/// A changed line that bad ran.
fn changed(causes: &[Cause]) -> Option<String> {
    causes.iter().find_map(|cause| {
        let own = cause.place.as_ref().filter(|_| cause.change.is_some());
        own.map(|place| format!("{}:{}", place.file, place.line)).or_else(|| changed(&cause.children))
    })
}

fn quoted(word: &str) -> String {
    trials::quoted(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Place, Version};

    #[test]
    fn commands_name_recordings_that_exist_in_words_of_the_shell() {
        let version =
            |path: Option<&str>| Version { recording: path.map(str::to_owned), ..Version::default() };
        let place = Place { file: "src/a b.c".to_owned(), line: 7, ..Place::default() };
        let cause = Cause { change: Some(1), place: Some(place), ..Cause::default() };
        let causes = vec![Cause { children: vec![cause], ..Cause::default() }];
        let bad = version(Some("/w/it's/bad"));
        let answer = Answer { bad, good: version(None), causes, ..Answer::default() };
        let lines = |answer: &Answer, steps| -> Vec<String> {
            commands(answer, None, steps).into_iter().map(|further| further.command).collect()
        };
        assert_eq!(lines(&answer, 1), [r"relapse values '/w/it'\''s/bad' 'src/a b.c:7'"]);
        let answer = Answer { fixed: Some(version(Some("/w/fixed"))), causes: Vec::new(), ..answer };
        assert_eq!(lines(&answer, 1), [r"relapse diff /w/fixed '/w/it'\''s/bad' --first"]);
        assert!(lines(&answer, MOST_STEPS + 1).is_empty());
        assert!(lines(&Answer::default(), 1).is_empty());
    }
}

//! Report of `relapse expose`: which changes were reached, infected and exposed, and by which input.

mod html;
mod sarif;

pub use html::render as to_html;
pub use sarif::to_sarif;

use crate::words;
use explore::exposed::{ChangeRow, EdgeCoverage, Exposed, Verdict};
use explore::pairs::Signatures;
use explore::shared::FoundBy;

/// The verdict as a sentence.
#[must_use]
pub fn verdict(exposed: &Exposed) -> String {
    match exposed.verdict {
        Verdict::Differ => "The versions differ.".to_owned(),
        Verdict::NoDifferenceFound if exposed.intended > 0 => {
            "No difference was found but those that the contracts say.".to_owned()
        }
        Verdict::NoDifferenceFound => format!("No difference was found{}.", where_to(exposed)),
        Verdict::SamePrograms => {
            "No difference: both versions are built to the same program, byte by byte.".to_owned()
        }
        Verdict::NoneOfTheseLengths => {
            "No difference: all ways that inputs as long as those of the tests can take were followed \
             in both versions, and on each of them the outputs are the same."
                .to_owned()
        }
    }
}

/// How close the search came to a difference, which shows where to continue.
fn where_to(exposed: &Exposed) -> &'static str {
    let code: Vec<&ChangeRow> = with_code(exposed).collect();
    if code.is_empty() {
        ", and the changes have no code in the programs that the tests run"
    } else if !code.iter().any(|c| c.reached) {
        ", and no input came to a change"
    } else if !code.iter().any(|c| c.infected) {
        ", and no change that ran made a difference to a value"
    } else {
        ", though a change made a difference to values on the way"
    }
}

/// The changes that have code in at least one version.
pub fn with_code(exposed: &Exposed) -> impl Iterator<Item = &ChangeRow> {
    exposed.changes.iter().filter(|c| !c.without_code)
}

/// The coverage of the search, as sentences.
#[must_use]
pub fn covered(exposed: &Exposed) -> Vec<String> {
    let effort = &exposed.effort;
    let asked = &effort.questions;
    let all = with_code(exposed).count();
    let count = |is: fn(&ChangeRow) -> bool| with_code(exposed).filter(|c| is(c)).count();
    let mut lines = vec![format!(
        "{} of {} with code reached, {} infected, {} exposed; {} runs and {} recorded ones in {:.1} s.",
        count(|c| c.reached),
        words::count(words::number(all), "change"),
        count(|c| c.infected),
        count(|c| c.exposed_by.is_some()),
        effort.runs,
        effort.recorded_runs,
        effort.seconds_searching
    )];
    let ways = |ways: EdgeCoverage, name: &str| format!("{} of {} in {name}", ways.taken, ways.all);
    if exposed.coverage.good.all + exposed.coverage.bad.all > 0 {
        lines.push(format!(
            "Ways out of branches in changed functions that recorded runs took: {}, {}.",
            ways(exposed.coverage.good, "good"),
            ways(exposed.coverage.bad, "bad")
        ));
    }
    lines.push(format!(
        "{} to the solver: {} with an input, {} proven to have none, {} without an answer.",
        words::count(words::number(asked.asked as usize), "question"),
        asked.found,
        asked.impossible,
        asked.unknown
    ));
    lines.extend(signatures(&effort.signatures));
    if effort.fixed_values > 0 && !exposed.differ() {
        lines.push(format!(
            "In questions, {} values were taken as fixed that are not followed.",
            effort.fixed_values
        ));
    }
    if effort.interrupted {
        lines.push("It was interrupted: this is what was known until then.".to_owned());
    }
    lines
}

/// The result of comparing the versions group by group.
fn signatures(of: &Signatures) -> Option<String> {
    if of.explored == 0 {
        return None;
    }
    let all = if of.complete { ", all there are for inputs of these lengths" } else { "" };
    let left = of.pairs - of.apart - of.alike - of.tried - of.unknown;
    let mut line = format!(
        "Explored from {}: {} of paths in good, {} in bad{all}. Of {}, {} have no input in common, {} put out the \
         same, {} have an input that was run ({} differ)",
        words::count(words::number(of.explored as usize), "input"),
        words::count(words::number(of.good as usize), "group"),
        of.bad,
        words::count(words::number(of.pairs as usize), "pair"),
        of.apart,
        of.alike,
        of.tried,
        of.differ
    );
    for (count, what) in [(of.unknown, "without an answer"), (left, "not come to")] {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    Some(line + ".")
}

/// Describes how an input was found.
#[must_use]
pub fn found_by(means: FoundBy) -> &'static str {
    match means {
        FoundBy::Test => "of a test",
        FoundBy::Mutation => "found by mutation",
        FoundBy::Solver => "found by the solver",
    }
}

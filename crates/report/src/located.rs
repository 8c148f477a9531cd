//! Report of a located fault: where the failing run diverged from the nearest passing run.

mod html;
mod sarif;
mod terminal;

pub use html::render as to_html;
pub use sarif::to_sarif;
pub use terminal::render;

use explain::answer::Place;
use locate::answer::{BranchEntry, Located, Ran, SuspectLine};

/// Serialises as JSON (`relapse.locate/1`), with a trailing newline.
///
/// # Errors
/// None for this type; the signature is that of `serde_json`.
pub fn to_json(located: &Located) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(located)? + "\n")
}

/// The verdict in one line.
fn headline(located: &Located) -> String {
    let needed = located.branches.iter().filter(|entry| entry.slice != "none").count();
    match (&located.passing, located.branches.len()) {
        (None, _) if located.coverage_only => {
            "by coverage only: the lines that failed tests execute, and passing ones do less".to_owned()
        }
        (None, _) => "no passing run to compare with: what the failure depends on, nearest first".to_owned(),
        (Some(_), 0) if located.same_control_flow => {
            "the nearest passing run takes the same way: only values differ".to_owned()
        }
        (Some(_), 0) => "no branch went another way before the failure".to_owned(),
        (Some(_), 1) => format!("1 branch went another way in the nearest passing run{}", depends(needed, 1)),
        (Some(_), all) => {
            format!("{all} branches went another way in the nearest passing run{}", depends(needed, all))
        }
    }
}

fn depends(needed: usize, all: usize) -> String {
    match needed {
        0 => "; the failure depends on none of them".to_owned(),
        _ if needed == all => {
            "; the failure depends on it".replace("it", if all == 1 { "it" } else { "all of them" })
        }
        _ => format!("; the failure depends on {needed} of them"),
    }
}

/// Whether a location is on a line that is shown.
fn is_shown(located: &Located, place: &Place) -> bool {
    let same = |line: &SuspectLine| (&line.place.file, line.place.line) == (&place.file, place.line);
    located.lines.iter().any(|line| !line.folded && same(line))
}

/// `file.c:12 in f`
fn at(place: &Place) -> String {
    let place_name = format!("{}:{}", place.file, place.line);
    if place.function.is_empty() { place_name } else { format!("{place_name} in {}", place.function) }
}

/// `true here, false in the passing run`
fn ways(entry: &BranchEntry) -> String {
    let times = match entry.times {
        0 | 1 => String::new(),
        times => format!(" ({times} times)"),
    };
    let condition = entry.condition.as_ref().map(|condition| format!("`{condition}` ")).unwrap_or_default();
    format!("{condition}{} in the failing run, {} in the passing one{times}", entry.failing, entry.passing)
}

/// How the failure depends on a branch.
fn dependence(entry: &BranchEntry) -> &'static str {
    match entry.slice.as_str() {
        "dynamic" => "the failure depends on it",
        "relevant" => "the failure could depend on it: had it gone another way, a value could be another",
        _ => "the failure does not depend on it",
    }
}

/// States that a branch only follows from another one.
fn consequence(entry: &BranchEntry) -> Option<String> {
    let from = entry.follows.as_ref()?;
    Some(format!("it only follows from {}:{}", from.file, from.line))
}

/// The command, and the changes to its input.
fn command(ran: &Ran) -> String {
    match &ran.input {
        Some(input) => format!("{} with {input}", ran.command),
        None => ran.command.clone(),
    }
}

/// The number and kind of the pool's runs, and their outcomes.
fn pool(located: &Located) -> String {
    let pool = &located.pool;
    let what = match pool.kind.as_str() {
        "tests" => "tests",
        "perturbed" => "perturbed inputs",
        "generated" => "generated inputs",
        _ => return "no other test was given".to_owned(),
    };
    let what = if pool.runs == 1 { what.trim_end_matches('s') } else { what };
    let mut text = format!("{} {what}: {} passed, {} failed", pool.runs, pool.passed, pool.failed);
    if pool.unresolved > 0 {
        text += &format!(", {} could not tell", pool.unresolved);
    }
    if pool.unrecorded > 0 {
        text += &format!(", {} could not be used", pool.unrecorded);
    }
    text
}

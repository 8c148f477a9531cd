//! Attachments of a page: the failing run in phases, and both runs side by side.
//!
//! The answer does not depend on them. Both require replays, so they are computed only on request, and only
//! for runs that are not too long.

use crate::answer::Passing;
use crate::case::Case;
use crate::findings::Findings;
use crate::observe::Observed;
use crate::passing::failing;
use slice::phases::Phased;
use slice::phases::tree::{Room, Tree};
use std::collections::BTreeSet;
use views::compare::{Settings, compare};
use views::page::{Page, page};

/// Longer runs are omitted.
const MOST_STEPS: u64 = 100_000_000;
/// Maximum depth of the tree.
const LEVELS: usize = 40;

/// The failing run in phases, or why it is not shown.
///
/// # Errors
/// A sentence for the notes.
pub fn phases(findings: &Findings<'_>) -> Result<Option<Tree>, String> {
    let Some(bad) = &findings.bad else { return Ok(None) };
    let slice = &bad.traced.slice;
    let Some(from) = slice.criteria.iter().flatten().next_back() else { return Ok(None) };
    if findings.steps() > MOST_STEPS {
        return Err(long("the failing run in phases", "slice --failure --phases"));
    }
    let room = Room { levels: LEVELS, steps: 4 * MOST_STEPS };
    let tree = Phased::new(&bad.slicer, slice).tree(*from, room);
    tree.map(|tree| Some(tree.renamed(|file| bad.traced.relative(file))))
        .map_err(|e| format!("the failing run is not shown in phases: failed to {e}"))
}

/// Both runs of the failing test, side by side; the excerpt includes the suspects.
///
/// # Errors
/// A sentence for the notes.
pub fn runs(
    case: &Case<'_>,
    observed: &Observed,
    findings: &Findings<'_>,
    passing: Option<&Passing>,
) -> Result<Page, String> {
    if findings.steps() > MOST_STEPS {
        return Err(long("both runs side by side", "diff --html"));
    }
    let failed = |e: &dyn std::fmt::Display| format!("the runs are not shown side by side: failed to {e}");
    let [old, new] =
        failing(case, observed).map_err(|e| format!("the runs are not shown side by side: {e}"))?;
    let comparison = compare(&old, &new, &Settings::default()).map_err(|e| failed(&e))?;
    let room = views::page::Room { sections: 40, views: 60 };
    let suspects = passing.iter().flat_map(|p| &p.suspects).map(|s| s.sequence as usize);
    let mut shown: BTreeSet<usize> = suspects.filter(|s| *s < comparison.sequences.len()).collect();
    for sequence in 0..comparison.sequences.len() {
        if shown.len() >= room.sections {
            break;
        }
        shown.insert(sequence);
    }
    let shown: Vec<usize> = shown.into_iter().collect();
    let mut page = page(&comparison, &old, &new, &shown, room).map_err(|e| failed(&e))?;
    page.more = (comparison.sequences.len() - page.sections.len()) as u64;
    page.names = ["good".to_owned(), "bad".to_owned()];
    Ok(page)
}

fn long(what: &str, command: &str) -> String {
    format!("{what}: the run is too long for a page; `relapse {command}` on its recording shows it")
}

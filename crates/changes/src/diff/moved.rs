//! Detects lines that were deleted in one place and added in another.

use crate::change::{Change, ChangeClass, ChangeKind};
use std::collections::HashMap;

/// Shorter blocks may be equal by chance (`return 0;`).
const MIN_BYTES: usize = 24;

/// Marks changes that only add (or only delete) lines all of which another change deletes (or adds), in the
/// same order.
pub(super) fn mark(changes: &mut [Change]) {
    let mut moved = Vec::new();
    for (from, to) in [(true, false), (false, true)] {
        let index = index(changes, to);
        for (number, change) in changes.iter().enumerate() {
            let Some(block) = block(change, from) else { continue };
            let found = index.get(block[0].trim()).is_some_and(|places| {
                places.iter().any(|(other, at)| {
                    let lines = lines(&changes[*other], to);
                    lines.len() >= at + block.len()
                        && lines[*at..].iter().zip(block).all(|(a, b)| a.trim() == b.trim())
                })
            });
            if found {
                moved.push(number);
            }
        }
    }
    for number in moved {
        changes[number].matter = ChangeClass::Moved;
    }
}

fn lines(change: &Change, old: bool) -> &[String] {
    if old { &change.old_lines } else { &change.new_lines }
}

/// The lines of a one-sided change, without blank lines at its ends, if they are long enough to be
/// distinctive.
fn block(change: &Change, old: bool) -> Option<&[String]> {
    if change.kind != ChangeKind::Lines
        || change.matter != ChangeClass::Substance
        || !lines(change, !old).is_empty()
    {
        return None;
    }
    let all = lines(change, old);
    let first = all.iter().position(|line| !line.trim().is_empty())?;
    let last = all.iter().rposition(|line| !line.trim().is_empty())?;
    let block = &all[first..=last];
    (block.iter().map(|line| line.trim().len()).sum::<usize>() >= MIN_BYTES).then_some(block)
}

fn index(changes: &[Change], old: bool) -> HashMap<&str, Vec<(usize, usize)>> {
    let mut index: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (number, change) in changes.iter().enumerate() {
        if change.kind == ChangeKind::Lines && lines(change, !old).is_empty() {
            for (at, line) in lines(change, old).iter().enumerate() {
                let places = index.entry(line.trim()).or_default();
                // A line that occurs this often does not identify a block.
                if places.len() < 64 {
                    places.push((number, at));
                }
            }
        }
    }
    index
}

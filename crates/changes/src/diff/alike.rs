//! Matches the lines of a hunk that are versions of each other.
//!
//! Lines that are equal except for layout are found by a diff over tokens. In the gaps between them, if these
//! are small enough, lines are matched by the number of tokens they share.

use super::groups::{Lines, Side};
use imara_diff::{Algorithm, Diff, InternedInput};
use std::ops::Range;

/// Lines are not matched if there are more pairs of lines to compare than this.
const MAX_COMPARED: usize = 40_000;

/// Lines of a hunk that are versions of each other, in order on both sides.
pub(super) fn pairs(old: &Side, new: &Side, hunk: &Lines) -> Vec<(u32, u32)> {
    // Lines that are equal except for layout: found by one diff over tokens, which is fast even for a file
    // that was re-indented as a whole.
    let mut unique = 0_u64;
    let mut keys = |side: &Side, range: &Range<u32>| -> Vec<(u64, Vec<u64>)> {
        range
            .clone()
            .map(|line| {
                let tokens = side.lexed.tokens(line, line + 1).to_vec();
                let comment = side.lexed.comments(line, line + 1).next().unwrap_or(0);
                if tokens.is_empty() && comment == 0 {
                    unique += 1;
                    (unique << 1, tokens)
                } else {
                    (comment, tokens)
                }
            })
            .collect()
    };
    let mut input = InternedInput::default();
    input.update_before(keys(old, &hunk.old).into_iter());
    input.update_after(keys(new, &hunk.new).into_iter());
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let mut found = Vec::new();
    let (mut at_old, mut at_new) = (hunk.old.start, hunk.new.start);
    for inner in diff.hunks() {
        let gap = Lines {
            old: hunk.old.start + inner.before.start..hunk.old.start + inner.before.end,
            new: hunk.new.start + inner.after.start..hunk.new.start + inner.after.end,
        };
        found.extend((at_old..gap.old.start).zip(at_new..gap.new.start));
        alike(old, new, &gap, &mut found);
        (at_old, at_new) = (gap.old.end, gap.new.end);
    }
    found.extend((at_old..hunk.old.end).zip(at_new..hunk.new.end));
    found
}

/// Matches lines that share most of their tokens, by the order-preserving matching with the largest sum of
/// shared tokens.
fn alike(old: &Side, new: &Side, gap: &Lines, found: &mut Vec<(u32, u32)>) {
    let (rows, columns) = (gap.old.len(), gap.new.len());
    if rows == 0 || columns == 0 || rows.saturating_mul(columns) > MAX_COMPARED {
        return;
    }
    let sorted = |side: &Side, range: &Range<u32>| -> Vec<Vec<u64>> {
        range
            .clone()
            .map(|line| {
                let mut tokens = side.lexed.tokens(line, line + 1).to_vec();
                tokens.sort_unstable();
                tokens
            })
            .collect()
    };
    let (a, b) = (sorted(old, &gap.old), sorted(new, &gap.new));
    let width = columns + 1;
    let mut best = vec![0_u32; (rows + 1) * width];
    let mut weight = vec![0_u32; rows * columns];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let shared = shared(&a[row], &b[column]);
            let enough = shared > 0 && 4 * shared >= a[row].len() + b[column].len();
            let shared = if enough { u32::try_from(shared).unwrap_or(u32::MAX) } else { 0 };
            weight[row * columns + column] = shared;
            let skip = best[(row + 1) * width + column].max(best[row * width + column + 1]);
            let take = if shared > 0 { shared + best[(row + 1) * width + column + 1] } else { 0 };
            best[row * width + column] = skip.max(take);
        }
    }
    let (mut row, mut column) = (0, 0);
    let (mut line_old, mut line_new) = (gap.old.start, gap.new.start);
    while row < rows && column < columns {
        let here = best[row * width + column];
        let shared = weight[row * columns + column];
        if shared > 0 && here == shared + best[(row + 1) * width + column + 1] {
            found.push((line_old, line_new));
            (row, column, line_old, line_new) = (row + 1, column + 1, line_old + 1, line_new + 1);
        } else if here == best[(row + 1) * width + column] {
            (row, line_old) = (row + 1, line_old + 1);
        } else {
            (column, line_new) = (column + 1, line_new + 1);
        }
    }
}

/// Size of the intersection of two sorted multisets.
fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                (i, j, count) = (i + 1, j + 1, count + 1);
            }
        }
    }
    count
}

/// The pairs and the ranges between them, without gaps.
pub(super) fn segments(hunk: &Lines, pairs: &[(u32, u32)]) -> Vec<Lines> {
    let mut segments = Vec::new();
    let (mut at_old, mut at_new) = (hunk.old.start, hunk.new.start);
    for &(old, new) in pairs.iter().chain(std::iter::once(&(hunk.old.end, hunk.new.end))) {
        if at_old < old || at_new < new {
            segments.push(Lines { old: at_old..old, new: at_new..new });
        }
        if old < hunk.old.end && new < hunk.new.end {
            segments.push(Lines { old: old..old + 1, new: new..new + 1 });
        }
        (at_old, at_new) = (old + 1, new + 1);
    }
    segments
}

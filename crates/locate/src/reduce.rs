//! Minimises a failing input, and collects the smaller inputs that pass.
//!
//! Where no single mutation of an input passes, the input often fails for several independent reasons, for
//! example in two lines. Delta debugging removes parts while the rest still fails (Zeller and Hildebrandt,
//! *Simplifying and Isolating Failure-Inducing Input*, 2002): lines first, then words, then bytes. The result
//! fails, and no part of it can be removed. So inputs that passed during the search differ from a failing
//! input by one part.

use crate::Result;
use crate::perturb::{lines, words};
use std::collections::HashMap;
use std::ops::Range;

/// Maximum number of parts; a granularity with more is skipped.
const MAX_PARTS: usize = 2000;

/// Whether an input still fails; `None` to stop.
pub type Fails<'f> = dyn FnMut(&[u8]) -> Result<Option<bool>> + 'f;

/// The smallest failing input that was found.
///
/// # Errors
/// Errors of `fails`.
pub fn reduce(input: &[u8], fails: &mut Fails<'_>) -> Result<Vec<u8>> {
    let mut known: HashMap<Vec<u8>, bool> = HashMap::new();
    let mut asked = |input: &[u8]| -> Result<Option<bool>> {
        if let Some(failed) = known.get(input) {
            return Ok(Some(*failed));
        }
        let failed = fails(input)?;
        if let Some(failed) = failed {
            known.insert(input.to_vec(), failed);
        }
        Ok(failed)
    };
    let mut kept = input.to_vec();
    for starts in [line_starts, word_starts, byte_starts] {
        let parts = cut(&kept, &starts(&kept));
        if parts.len() > MAX_PARTS {
            continue;
        }
        let (parts, stopped) = minimise(parts, &mut asked)?;
        kept = parts.concat();
        if stopped {
            break;
        }
    }
    Ok(kept)
}

fn line_starts(input: &[u8]) -> Vec<usize> {
    lines(input).into_iter().map(|(from, _)| from).collect()
}

/// A word includes the white space after it.
fn word_starts(input: &[u8]) -> Vec<usize> {
    words(input).into_iter().map(|(from, _)| from).collect()
}

fn byte_starts(input: &[u8]) -> Vec<usize> {
    (0..input.len()).collect()
}

/// The parts between these offsets.
fn cut(input: &[u8], starts: &[usize]) -> Vec<Vec<u8>> {
    let mut at: Vec<usize> = std::iter::once(0).chain(starts.iter().copied()).collect();
    at.push(input.len());
    at.dedup();
    at.windows(2).map(|pair| input[pair[0]..pair[1]].to_vec()).collect()
}

/// `ddmin`: no single part of the result can be removed, unless it was stopped.
fn minimise(mut parts: Vec<Vec<u8>>, fails: &mut Fails<'_>) -> Result<(Vec<Vec<u8>>, bool)> {
    let mut pieces = 2;
    while parts.len() > 1 {
        let size = parts.len().div_ceil(pieces);
        let chunks: Vec<Range<usize>> =
            (0..parts.len()).step_by(size).map(|from| from..(from + size).min(parts.len())).collect();
        let alone = chunks.iter().map(|chunk| (chunk.clone(), true));
        let without = chunks.iter().map(|chunk| (chunk.clone(), false));
        let mut smaller = None;
        for (chunk, is_alone) in alone.chain(without) {
            let candidate = if is_alone {
                parts[chunk].to_vec()
            } else {
                [&parts[..chunk.start], &parts[chunk.end..]].concat()
            };
            match fails(&candidate.concat())? {
                None => return Ok((parts, true)),
                Some(true) => {
                    smaller = Some((candidate, if is_alone { 2 } else { (pieces - 1).max(2) }));
                    break;
                }
                Some(false) => {}
            }
        }
        match smaller {
            Some((candidate, fewer)) => (parts, pieces) = (candidate, fewer),
            None if size == 1 => return Ok((parts, false)),
            None => pieces = (pieces * 2).min(parts.len()),
        }
    }
    match parts.len() {
        1 => match fails(&[])? {
            None => Ok((parts, true)),
            Some(true) => Ok((Vec::new(), false)),
            Some(false) => Ok((parts, false)),
        },
        _ => Ok((parts, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_needed_is_left() {
        let mut runs = 0;
        let left = reduce(b"one two\nbad a\nthree\nbad b\nend\n", &mut |input| {
            runs += 1;
            Ok(Some(input.windows(3).any(|three| three == b"bad")))
        });
        assert_eq!(left.unwrap(), b"bad");
        assert!(runs < 40, "{runs}");
    }

    #[test]
    fn a_search_that_is_stopped_has_what_failed_last() {
        let mut runs = 0;
        let left = reduce(b"a\nb\nc\nx\n", &mut |input| {
            runs += 1;
            Ok((runs < 3).then(|| input.contains(&b'x')))
        });
        assert_eq!(left.unwrap(), b"c\nx\n");
    }

    proptest! {
        #[test]
        fn nothing_more_can_be_left_out(
            input in prop::collection::vec(prop::sample::select(b"ab \nx".to_vec()), 1..24),
            weights in prop::collection::vec(0usize..7, 256),
        ) {
            // An arbitrary property: failing need not be monotonic in the input.
            let weight = |input: &[u8]| input.iter().fold(0, |sum, byte| sum * 3 + weights[*byte as usize]) % 5;
            let goal = weight(&input);
            let left = reduce(&input, &mut |input| Ok(Some(weight(input) == goal))).unwrap();
            prop_assert_eq!(weight(&left), goal);
            for at in 0..left.len() {
                let without = [&left[..at], &left[at + 1..]].concat();
                prop_assert!(weight(&without) != goal);
            }
        }
    }
}

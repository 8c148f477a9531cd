//! Minimises inputs: removes parts while a property holds.
//!
//! Removes halves, quarters and so on down to single bytes, as delta debugging does (Zeller and Hildebrandt,
//! *Simplifying and Isolating Failure-Inducing Input*).

use crate::subject::changeable;
use symbolic::{Input, Origin};

/// Removes parts of an input while `holds` is true, with at most `most` calls of it.
pub fn minimised(input: &Input, most: usize, holds: &mut dyn FnMut(&Input) -> bool) -> Input {
    let mut best = input.clone();
    let mut asked = 0;
    for origin in changeable(input) {
        if let Origin::Environment(_) = origin {
            // Without it, the variable has the value that the test sets.
            let mut smaller = best.clone();
            smaller.parts.remove(&origin);
            asked += 1;
            if holds(&smaller) {
                best = smaller;
                continue;
            }
        }
        let mut size = best.parts.get(&origin).map_or(0, |b| b.len().div_ceil(2));
        while size > 0 {
            let mut at = 0;
            while let Some(bytes) = best.parts.get(&origin).filter(|b| at < b.len()) {
                if asked >= most {
                    return best;
                }
                asked += 1;
                let end = (at + size).min(bytes.len());
                let without = [&bytes[..at], &bytes[end..]].concat();
                if without.is_empty() && matches!(origin, Origin::Argument(_)) {
                    // An empty argument is not simpler for a reader.
                    break;
                }
                let mut smaller = best.clone();
                smaller.parts.insert(origin.clone(), without);
                if holds(&smaller) {
                    best = smaller;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_needed_is_left_out() {
        let mut input = Input::default();
        input.parts.insert(Origin::Stdin, b"12 many words that do nothing 34".to_vec());
        let needs = |i: &Input| i.stdin().contains(&b'2') && i.stdin().contains(&b'4');
        let small = minimised(&input, 500, &mut |i| needs(i));
        assert_eq!(small.stdin(), b"24");
        let hardly = minimised(&input, 3, &mut |i| needs(i));
        assert!(hardly.stdin().len() > 2 && needs(&hardly));
    }
}

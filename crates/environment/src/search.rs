//! The search for the few candidates that decide, with expensive tests.
//!
//! With all candidates as recorded the test passes, with none of them it fails. Only prefixes are tried
//! first: candidates are in the order in which the run meets them, so a prefix keeps the program on the
//! recorded path from its start.

use std::collections::{BTreeSet, HashSet};

/// The least `k` for which the test passes, if it fails for 0 and passes for `n`: `Locate_cause` of Qi
/// Dawei's thesis, ⌈log2 n⌉ tests.
pub fn bisect<E>(n: usize, mut passes: impl FnMut(usize) -> Result<bool, E>) -> Result<usize, E> {
    let (mut start, mut end) = (0, n);
    while end - start > 1 {
        let middle = usize::midpoint(start, end);
        match passes(middle)? {
            true => end = middle,
            false => start = middle,
        }
    }
    Ok(end)
}

/// A 1-minimal subset that passes (Zeller and Hildebrandt's ddmin). No set is tested twice: the complement of
/// one of three parts may have been a half before.
pub fn ddmin<E>(
    items: Vec<usize>,
    mut tests: impl FnMut(&[usize]) -> Result<bool, E>,
) -> Result<Vec<usize>, E> {
    // A set that passes is reduced at once, so only failing sets can recur.
    let mut failed: HashSet<Vec<usize>> = HashSet::new();
    let mut passes = |set: &[usize]| -> Result<bool, E> {
        let passed = !failed.contains(set) && tests(set)?;
        if !passed {
            failed.insert(set.to_vec());
        }
        Ok(passed)
    };
    let (mut items, mut parts) = (items, 2);
    while items.len() > 1 {
        let size = items.len().div_ceil(parts);
        let mut smaller = None;
        for part in items.chunks(size) {
            if part.len() < items.len() && passes(part)? {
                smaller = Some((part.to_vec(), 2));
                break;
            }
        }
        // With two parts the complement of one is the other.
        if smaller.is_none() && parts > 2 {
            for from in (0..items.len()).step_by(size) {
                let rest: Vec<usize> = items
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at < from || *at >= from + size)
                    .map(|(_, i)| *i)
                    .collect();
                if passes(&rest)? {
                    smaller = Some((rest, parts - 1));
                    break;
                }
            }
        }
        match smaller {
            Some((less, next)) => (items, parts) = (less, next.max(2)),
            None if size == 1 => break,
            None => parts = (parts * 2).min(items.len()),
        }
    }
    Ok(items)
}

/// The candidates of `0..n` that must be as recorded, together, for the test to pass. One is found by
/// bisection over the prefix; while those found do not suffice, the prefix before the last one contains
/// another.
pub fn culprits<E>(n: usize, mut passes: impl FnMut(&[usize]) -> Result<bool, E>) -> Result<Vec<usize>, E> {
    let mut found: BTreeSet<usize> = BTreeSet::new();
    let mut end = n;
    while end > 0 {
        let last = bisect(end, |k| {
            let set: BTreeSet<usize> = (0..k).chain(found.iter().copied()).collect();
            passes(&Vec::from_iter(set))
        })? - 1;
        found.insert(last);
        if passes(&Vec::from_iter(found.iter().copied()))? {
            break;
        }
        end = last;
    }
    let found = Vec::from_iter(found);
    if found.len() > 1 { ddmin(found, passes) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn probes(n: usize, r: usize) -> Vec<usize> {
        let mut probes = Vec::new();
        let answer = bisect(n, |k| {
            probes.push(k);
            Ok::<_, Infallible>(k >= r)
        });
        assert_eq!(answer, Ok(r));
        probes
    }

    #[test]
    fn bisection_takes_the_tests_it_should() {
        assert_eq!(probes(1038, 7), [519, 259, 129, 64, 32, 16, 8, 4, 6, 7]);
        assert_eq!(probes(26, 2), [13, 6, 3, 1, 2]);
        assert_eq!(probes(16, 7), [8, 4, 6, 7]);
        assert_eq!(probes(2, 2), [1]);
        assert!(probes(1, 1).is_empty());
    }

    proptest! {
        #[test]
        fn one_culprit_takes_a_logarithm(n in 1usize..3000, r in any::<usize>()) {
            let r = r % n;
            let mut tests = 0;
            let found = culprits(n, |set| {
                tests += 1;
                Ok::<_, Infallible>(set.contains(&r))
            });
            prop_assert_eq!(found, Ok(vec![r]));
            prop_assert!(tests <= (n as f64).log2().ceil() as usize + 1, "{} tests for {}", tests, n);
        }

        #[test]
        fn several_culprits_are_all_found(n in 1usize..300, wanted in prop::collection::btree_set(any::<usize>(), 1..5)) {
            let wanted: BTreeSet<usize> = wanted.into_iter().map(|w| w % n).collect();
            let found = culprits(n, |set| Ok::<_, Infallible>(wanted.iter().all(|w| set.contains(w))));
            prop_assert_eq!(found, Ok(Vec::from_iter(wanted)));
        }

        #[test]
        fn ddmin_keeps_what_is_needed(n in 1usize..100, wanted in prop::collection::btree_set(any::<usize>(), 1..5)) {
            let wanted: BTreeSet<usize> = wanted.into_iter().map(|w| w % n).collect();
            let mut tested: Vec<Vec<usize>> = Vec::new();
            let found = ddmin((0..n).collect(), |set| {
                tested.push(set.to_vec());
                Ok::<_, Infallible>(wanted.iter().all(|w| set.contains(w)))
            });
            prop_assert_eq!(found, Ok(Vec::from_iter(wanted)));
            let different: BTreeSet<&Vec<usize>> = tested.iter().collect();
            prop_assert_eq!(different.len(), tested.len());
        }
    }
}

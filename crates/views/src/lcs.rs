//! Longest common subsequences of keys: the whole problem in linear space, and
//! small windows quickly.

/// Pairs of indices of a longest common subsequence, ascending. Counts the
/// comparisons of keys in `compared`.
///
/// Hirschberg's method: the table is computed row by row from both ends, to the
/// middle; where the sums are best, the problem falls into two. Quadratic time,
/// linear space.
#[must_use]
pub fn longest(a: &[u64], b: &[u64], compared: &mut u64) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    // An explicit stack, so that long runs cannot exhaust the real one.
    let mut todo = vec![(0, a.len(), 0, b.len())];
    while let Some((mut a0, mut a1, mut b0, mut b1)) = todo.pop() {
        while a0 < a1 && b0 < b1 && same(a[a0], b[b0], compared) {
            out.push((a0, b0));
            (a0, b0) = (a0 + 1, b0 + 1);
        }
        while a0 < a1 && b0 < b1 && same(a[a1 - 1], b[b1 - 1], compared) {
            (a1, b1) = (a1 - 1, b1 - 1);
            out.push((a1, b1));
        }
        if a0 == a1 || b0 == b1 {
            continue;
        }
        if a1 - a0 == 1 {
            if let Some(at) = (b0..b1).find(|j| same(a[a0], b[*j], compared)) {
                out.push((a0, at));
            }
            continue;
        }
        let middle = a0.midpoint(a1);
        let forward = row(a[a0..middle].iter(), b[b0..b1].iter(), compared);
        let mut backward = row(a[middle..a1].iter().rev(), b[b0..b1].iter().rev(), compared);
        backward.reverse();
        let split = (0..=b1 - b0).max_by_key(|j| forward[*j] + backward[*j]).unwrap_or(0) + b0;
        todo.push((middle, a1, split, b1));
        todo.push((a0, middle, b0, split));
    }
    out.sort_unstable();
    out
}

#[inline]
fn same(a: u64, b: u64, compared: &mut u64) -> bool {
    *compared += 1;
    a == b
}

/// The last row of the table: for each beginning of `b`, how much it shares with
/// all of `a`.
fn row<'k>(
    a: impl Iterator<Item = &'k u64>,
    b: impl ExactSizeIterator<Item = &'k u64> + Clone,
    compared: &mut u64,
) -> Vec<u32> {
    let mut last = vec![0u32; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.clone().enumerate() {
            let up = last[j + 1];
            last[j + 1] = if x == y { diagonal + 1 } else { up.max(last[j]) };
            diagonal = up;
        }
        *compared += b.len() as u64;
    }
    last
}

/// The same for windows of up to a few hundred keys, with a table of lengths.
/// The earliest pairs are preferred.
pub fn window(a: &[u64], b: &[u64], table: &mut Vec<u16>, compared: &mut u64, out: &mut Vec<(usize, usize)>) {
    out.clear();
    let (n, m) = (a.len().min(u16::MAX.into()), b.len().min(u16::MAX.into()));
    if n == 0 || m == 0 {
        return;
    }
    let width = m + 1;
    table.clear();
    table.resize((n + 1) * width, 0);
    for i in (0..n).rev() {
        let (x, below) = (a[i], (i + 1) * width);
        for j in (0..m).rev() {
            table[i * width + j] = if x == b[j] {
                table[below + j + 1] + 1
            } else {
                table[below + j].max(table[i * width + j + 1])
            };
        }
    }
    *compared += (n * m) as u64;
    let (mut i, mut j) = (0, 0);
    while i < n && j < m && table[i * width + j] > 0 {
        if a[i] == b[j] {
            out.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The length, by the textbook's recursion.
    fn length(a: &[u64], b: &[u64]) -> usize {
        match (a, b) {
            ([x, a @ ..], [y, b @ ..]) if x == y => 1 + length(a, b),
            ([_, rest_a @ ..], [_, rest_b @ ..]) => length(rest_a, b).max(length(a, rest_b)),
            _ => 0,
        }
    }

    fn is_common(a: &[u64], b: &[u64], pairs: &[(usize, usize)]) -> bool {
        pairs.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1) && pairs.iter().all(|p| a[p.0] == b[p.1])
    }

    proptest! {
        #[test]
        fn both_ways_find_a_longest_one(
            a in proptest::collection::vec(0u64..4, 0..9),
            b in proptest::collection::vec(0u64..4, 0..9),
        ) {
            let wanted = length(&a, &b);
            let mut compared = 0;
            let pairs = longest(&a, &b, &mut compared);
            prop_assert!(is_common(&a, &b, &pairs));
            prop_assert_eq!(pairs.len(), wanted);
            let mut quick = Vec::new();
            window(&a, &b, &mut Vec::new(), &mut compared, &mut quick);
            prop_assert!(is_common(&a, &b, &quick));
            prop_assert_eq!(quick.len(), wanted);
        }

        #[test]
        fn long_ones_agree(
            a in proptest::collection::vec(0u64..9, 0..120),
            b in proptest::collection::vec(0u64..9, 0..120),
        ) {
            let mut compared = 0;
            let mut quick = Vec::new();
            window(&a, &b, &mut Vec::new(), &mut compared, &mut quick);
            let pairs = longest(&a, &b, &mut compared);
            prop_assert!(is_common(&a, &b, &pairs));
            prop_assert_eq!(pairs.len(), quick.len());
        }
    }
}

//! Aligning two sequences at least cost, in linear space.
//!
//! Elements that are the same stand beside each other for nothing, others for [`MISMATCH`]; an
//! element without a partner costs [`GAP`]. The table of all prefixes would need the product of the
//! lengths; instead (Hirschberg, "A linear space algorithm for computing maximal common
//! subsequences", CACM 1975) only its last row is kept, once from the front and once from behind:
//! where both together are least, a best alignment goes through the middle, and each half is
//! aligned by itself.

/// Cost of an element without a partner.
pub const GAP: u64 = 1;
/// Cost of a pair of elements that are not the same.
pub const MISMATCH: u64 = 2;

/// Positions in the two sequences that stand beside each other; none is a gap.
pub type Pair = (Option<usize>, Option<usize>);

/// A best alignment of two sequences.
#[must_use]
pub fn align<T: PartialEq>(a: &[T], b: &[T]) -> Vec<Pair> {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[same..].iter().rev().zip(b[same..].iter().rev()).take_while(|(x, y)| x == y).count();
    let mut pairs: Vec<Pair> = (0..same).map(|n| (Some(n), Some(n))).collect();
    divide(&a[same..a.len() - tail], &b[same..b.len() - tail], same, same, &mut pairs);
    pairs.extend((0..tail).map(|n| (Some(a.len() - tail + n), Some(b.len() - tail + n))));
    pairs
}

/// How many steps an alignment takes after what is equal at both ends is left out.
#[must_use]
pub fn effort<T: PartialEq>(a: &[T], b: &[T]) -> u64 {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[same..].iter().rev().zip(b[same..].iter().rev()).take_while(|(x, y)| x == y).count();
    2 * (a.len() - same - tail) as u64 * (b.len() - same - tail) as u64
}

/// What an alignment costs.
#[must_use]
pub fn cost<T: PartialEq>(a: &[T], b: &[T], pairs: &[Pair]) -> u64 {
    let pair = |pair: &Pair| match *pair {
        (Some(x), Some(y)) => beside(&a[x], &b[y]),
        _ => GAP,
    };
    pairs.iter().map(pair).sum()
}

fn beside<T: PartialEq>(x: &T, y: &T) -> u64 {
    if x == y { 0 } else { MISMATCH }
}

fn divide<T: PartialEq>(a: &[T], b: &[T], from_a: usize, from_b: usize, pairs: &mut Vec<Pair>) {
    if a.is_empty() || b.is_empty() {
        pairs.extend((0..a.len()).map(|n| (Some(from_a + n), None)));
        pairs.extend((0..b.len()).map(|n| (None, Some(from_b + n))));
        return;
    }
    if let [only] = a {
        single(only, b, from_a, from_b, pairs);
        return;
    }
    let middle = a.len() / 2;
    let front = row(a[..middle].iter(), b.iter(), b.len());
    let behind = row(a[middle..].iter().rev(), b.iter().rev(), b.len());
    let split = (0..=b.len()).min_by_key(|n| front[*n] + behind[b.len() - n]).unwrap_or(0);
    divide(&a[..middle], &b[..split], from_a, from_b, pairs);
    divide(&a[middle..], &b[split..], from_a + middle, from_b + split, pairs);
}

/// One element beside the first that is the same, or beside nothing.
fn single<T: PartialEq>(only: &T, b: &[T], from_a: usize, from_b: usize, pairs: &mut Vec<Pair>) {
    let partner = b.iter().position(|y| y == only);
    if partner.is_none() {
        // A mismatch costs as much as two gaps; gaps say more clearly that nothing corresponds.
        pairs.push((Some(from_a), None));
    }
    for n in 0..b.len() {
        let x = (partner == Some(n)).then_some(from_a);
        pairs.push((x, Some(from_b + n)));
    }
}

/// The costs of aligning all of one sequence with each prefix of the other.
fn row<'t, T: PartialEq + 't>(
    a: impl Iterator<Item = &'t T>,
    b: impl Iterator<Item = &'t T> + Clone,
    length: usize,
) -> Vec<u64> {
    let mut row: Vec<u64> = (0..=length as u64).map(|n| n * GAP).collect();
    for x in a {
        let mut corner = row[0];
        row[0] += GAP;
        for (n, y) in b.clone().enumerate() {
            let above = row[n + 1];
            row[n + 1] = (corner + beside(x, y)).min(above + GAP).min(row[n] + GAP);
            corner = above;
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The whole table.
    fn least(a: &[u8], b: &[u8]) -> u64 {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = match (i, j) {
                    (0, _) => j as u64 * GAP,
                    (_, 0) => i as u64 * GAP,
                    _ => (table[i - 1][j - 1] + if a[i - 1] == b[j - 1] { 0 } else { MISMATCH })
                        .min(table[i - 1][j] + GAP)
                        .min(table[i][j - 1] + GAP),
                };
            }
        }
        table[a.len()][b.len()]
    }

    fn shown(a: &[u8], b: &[u8]) -> (String, String) {
        let pairs = align(a, b);
        let digit = |x: Option<&u8>| x.map_or('_', |x| char::from(b'0' + x));
        let row = |f: &dyn Fn(&Pair) -> char| pairs.iter().map(f).collect::<String>();
        (row(&|p| digit(p.0.map(|n| &a[n]))), row(&|p| digit(p.1.map(|n| &b[n]))))
    }

    #[test]
    fn a_loop_body_that_ran_once_more_stands_beside_gaps() {
        let (a, b) = ([1, 2, 3, 7, 8, 9], [1, 2, 3, 4, 5, 7, 8, 9]);
        assert_eq!(shown(&a, &b), ("123__789".to_owned(), "12345789".to_owned()));
        assert_eq!(cost(&a, &b, &align(&a, &b)), 2);
    }

    proptest! {
        #[test]
        fn the_cost_is_that_of_the_whole_table(
            a in proptest::collection::vec(0u8..4, 0..40),
            b in proptest::collection::vec(0u8..4, 0..40),
        ) {
            let pairs = align(&a, &b);
            prop_assert_eq!(cost(&a, &b, &pairs), least(&a, &b));
            // Each element stands in it once, in order.
            let left: Vec<usize> = pairs.iter().filter_map(|p| p.0).collect();
            let right: Vec<usize> = pairs.iter().filter_map(|p| p.1).collect();
            prop_assert_eq!(left, (0..a.len()).collect::<Vec<_>>());
            prop_assert_eq!(right, (0..b.len()).collect::<Vec<_>>());
        }
    }
}

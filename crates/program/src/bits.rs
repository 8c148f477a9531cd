//! Sparse bit sets of small numbers. Most sets are empty or share words; a set is a sorted list of
//! 64-bit words.

/// A set. Words that would be zero are not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits {
    words: Vec<(u32, u64)>,
}

impl Bits {
    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether the set contains a number.
    #[must_use]
    pub fn contains(&self, n: u32) -> bool {
        match self.words.binary_search_by_key(&(n / 64), |w| w.0) {
            Ok(i) => self.words[i].1 >> (n % 64) & 1 != 0,
            Err(_) => false,
        }
    }

    /// Inserts a number. Returns whether it is new.
    pub fn insert(&mut self, n: u32) -> bool {
        let bit = 1 << (n % 64);
        match self.words.binary_search_by_key(&(n / 64), |w| w.0) {
            Ok(i) => {
                let new = self.words[i].1 & bit == 0;
                self.words[i].1 |= bit;
                new
            }
            Err(i) => {
                self.words.insert(i, (n / 64, bit));
                true
            }
        }
    }

    /// The number of words stored.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// All elements in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().flat_map(|(word, bits)| {
            let (base, mut left) = (word * 64, *bits);
            std::iter::from_fn(move || {
                let n = (left != 0).then(|| base + left.trailing_zeros())?;
                left &= left - 1;
                Some(n)
            })
        })
    }

    /// Inserts all elements of another set. Returns whether any is new.
    pub fn extend(&mut self, other: &Bits) -> bool {
        // Usually the words exist already.
        let mut i = 0;
        let (mut missing, mut new) = (0, 0);
        for (word, bits) in &other.words {
            while self.words.get(i).is_some_and(|w| w.0 < *word) {
                i += 1;
            }
            match self.words.get_mut(i) {
                Some(w) if w.0 == *word => {
                    new |= bits & !w.1;
                    w.1 |= bits;
                }
                _ => missing += 1,
            }
        }
        if missing == 0 {
            return new != 0;
        }
        let own = std::mem::take(&mut self.words);
        self.words.reserve(own.len() + missing);
        let (mut a, mut b) = (own.into_iter().peekable(), other.words.iter().copied().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let word = (x.0, x.1 | y.1);
                    a.next();
                    b.next();
                    Some(word)
                }
                (Some(x), Some(y)) if x.0 > y.0 => b.next(),
                (Some(_), _) => a.next(),
                (None, _) => b.next(),
            };
            match next {
                Some(word) => self.words.push(word),
                None => return true,
            }
        }
    }

    /// Set difference: the elements that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Bits) -> Bits {
        self.with(other, |a, b| a & !b)
    }

    /// Set intersection.
    #[must_use]
    pub fn common(&self, other: &Bits) -> Bits {
        self.with(other, |a, b| a & b)
    }

    fn with(&self, other: &Bits, of: impl Fn(u64, u64) -> u64) -> Bits {
        let mut i = 0;
        let mut words = Vec::new();
        for (word, bits) in &self.words {
            while other.words.get(i).is_some_and(|w| w.0 < *word) {
                i += 1;
            }
            let there = other.words.get(i).filter(|w| w.0 == *word).map_or(0, |w| w.1);
            let left = of(*bits, there);
            if left != 0 {
                words.push((*word, left));
            }
        }
        Bits { words }
    }
}

/// A builder for a set whose numbers arrive in no order.
#[derive(Debug, Default)]
pub struct BitsBuilder {
    words: Vec<u64>,
    touched: Vec<u32>,
}

impl BitsBuilder {
    /// Inserts a number.
    pub fn insert(&mut self, n: u32) {
        let word = (n / 64) as usize;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        if self.words[word] == 0 {
            self.touched.push(n / 64);
        }
        self.words[word] |= 1 << (n % 64);
    }

    /// Returns the set of inserted numbers and leaves the builder empty.
    pub fn take(&mut self) -> Bits {
        self.touched.sort_unstable();
        let words = self.touched.drain(..).map(|w| (w, std::mem::take(&mut self.words[w as usize])));
        Bits { words: words.collect() }
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Bits {
        let mut all: Vec<u32> = numbers.into_iter().collect();
        all.sort_unstable();
        let mut words: Vec<(u32, u64)> = Vec::new();
        for n in all {
            let bit = 1 << (n % 64);
            match words.last_mut() {
                Some(last) if last.0 == n / 64 => last.1 |= bit,
                _ => words.push((n / 64, bit)),
            }
        }
        Bits { words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn bits_are_sets(a in proptest::collection::btree_set(0u32..600, 0..40),
                         b in proptest::collection::btree_set(0u32..600, 0..40)) {
            let of = |set: &BTreeSet<u32>| {
                let mut bits = Bits::default();
                for n in set {
                    assert!(bits.insert(*n) && !bits.insert(*n));
                }
                bits
            };
            let (x, y) = (of(&a), of(&b));
            let mut both = x.clone();
            prop_assert_eq!(both.extend(&y), !b.is_subset(&a));
            prop_assert_eq!(&both, &of(&a.union(&b).copied().collect()));
            prop_assert_eq!(&x.without(&y), &of(&a.difference(&b).copied().collect()));
            prop_assert_eq!(&x.common(&y), &of(&a.intersection(&b).copied().collect()));
            prop_assert_eq!(x.iter().collect::<BTreeSet<_>>(), a.clone());
            prop_assert!((0..600).all(|n| x.contains(n) == a.contains(&n)));
            prop_assert_eq!(x.is_empty(), a.is_empty());
            let mut collector = BitsBuilder::default();
            for set in [&b, &a] {
                set.iter().rev().for_each(|n| collector.insert(*n));
                prop_assert_eq!(collector.take(), of(set));
            }
            prop_assert_eq!(a.iter().rev().copied().collect::<Bits>(), x);
        }
    }
}

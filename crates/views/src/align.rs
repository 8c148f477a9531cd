//! Two threads side by side: which events of one are which of the other.
//!
//! Where the heads are equal, both go on. Where they are not, the nearest events
//! ahead are compared in a small window; if that shows no clear way on, the next
//! stretch that both have in common is looked for, as far as it takes. What lies
//! before it is matched window by window. Each step goes as far as it has looked,
//! so the whole is linear in the number of events for a fixed window.

use crate::lcs;
use crate::names::{NumberMap, mix};
use crate::trace::{NONE, Trace};
use std::ops::Range;

/// Events that must agree in a row for two places to be taken for the same.
const STRETCH: usize = 6;

/// Which events are similar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// For each event of the left run its partner, or [`NONE`].
    pub right_of: Vec<u32>,
    /// For each event of the right run its partner.
    pub left_of: Vec<u32>,
    /// Events of the left run whose partner stands elsewhere in the order.
    pub moved: Vec<u32>,
    /// How often two keys were compared.
    pub compared: u64,
}

impl Matching {
    /// Nothing is similar yet.
    #[must_use]
    pub fn new(left: usize, right: usize) -> Matching {
        Matching { right_of: vec![NONE; left], left_of: vec![NONE; right], moved: Vec::new(), compared: 0 }
    }

    /// Two events are similar.
    pub fn pair(&mut self, left: usize, right: usize) {
        self.right_of[left] = right as u32;
        self.left_of[right] = left as u32;
    }

    /// How many events of both runs have no partner.
    #[must_use]
    pub fn differences(&self) -> u64 {
        let alone = |of: &[u32]| of.iter().filter(|x| **x == NONE).count() as u64;
        alone(&self.right_of) + alone(&self.left_of)
    }
}

struct Aligner<'t> {
    left: &'t Trace,
    right: &'t Trace,
    window: usize,
    matching: &'t mut Matching,
    a: Vec<u64>,
    b: Vec<u64>,
    table: Vec<u16>,
    pairs: Vec<(usize, usize)>,
}

/// Aligns two threads. `window` is the distance that is looked ahead.
pub fn align(
    left: &Trace,
    l: Range<usize>,
    right: &Trace,
    r: Range<usize>,
    window: usize,
    matching: &mut Matching,
) {
    let mut aligner = Aligner {
        left,
        right,
        window: window.clamp(2, 1000),
        matching,
        a: Vec::new(),
        b: Vec::new(),
        table: Vec::new(),
        pairs: Vec::new(),
    };
    aligner.run(l, r);
}

impl Aligner<'_> {
    fn same(&mut self, i: usize, j: usize) -> bool {
        self.matching.compared += 1;
        self.left.key(i) == self.right.key(j)
    }

    fn run(&mut self, l: Range<usize>, r: Range<usize>) {
        let (mut i, mut j, mut end_l, mut end_r) = (l.start, r.start, l.end, r.end);
        while i < end_l && j < end_r && self.same(i, j) {
            self.matching.pair(i, j);
            (i, j) = (i + 1, j + 1);
        }
        while i < end_l && j < end_r && self.same(end_l - 1, end_r - 1) {
            (end_l, end_r) = (end_l - 1, end_r - 1);
            self.matching.pair(end_l, end_r);
        }
        // Once there is no common stretch ahead, there is none further on.
        let mut hope = true;
        while i < end_l && j < end_r {
            if self.same(i, j) {
                self.matching.pair(i, j);
                (i, j) = (i + 1, j + 1);
                continue;
            }
            // Where one window holds all that is left, it knows best.
            if (end_l - i).max(end_r - j) > 2 * self.window
                && let Some((next_l, next_r)) = self.small_step(i..end_l, j..end_r)
            {
                self.fill(i..next_l, j..next_r);
                (i, j) = (next_l, next_r);
                continue;
            }
            let clear = self.look(i..end_l, j..end_r);
            if clear || !hope {
                (i, j) = self.commit(i..end_l, j..end_r);
                continue;
            }
            match self.stretch(i..end_l, j..end_r) {
                Some((next_l, next_r)) => {
                    self.fill(i..next_l, j..next_r);
                    (i, j) = (next_l, next_r);
                }
                None => hope = false,
            }
        }
    }

    /// A few events more or less on either side, and then the same again: most
    /// differences are no more than that, and need no window.
    fn small_step(&mut self, l: Range<usize>, r: Range<usize>) -> Option<(usize, usize)> {
        for distance in 1..=4 {
            for a in 0..=distance {
                let (i, j) = (l.start + a, r.start + distance - a);
                let reaches = i + STRETCH <= l.end && j + STRETCH <= r.end;
                if reaches && (0..STRETCH).all(|k| self.same(i + k, j + k)) {
                    return Some((i, j));
                }
            }
        }
        None
    }

    /// Compares windows ahead; whether they show a clear way on.
    fn look(&mut self, l: Range<usize>, r: Range<usize>) -> bool {
        let reach = 2 * self.window;
        self.a.clear();
        self.b.clear();
        self.a.extend(l.clone().take(reach).map(|i| self.left.key(i)));
        self.b.extend(r.clone().take(reach).map(|j| self.right.key(j)));
        lcs::window(&self.a, &self.b, &mut self.table, &mut self.matching.compared, &mut self.pairs);
        let all = l.len() <= reach && r.len() <= reach;
        all || 2 * self.pairs.len() >= self.a.len().min(self.b.len())
    }

    /// Takes what the windows had in common; returns where to go on.
    fn commit(&mut self, l: Range<usize>, r: Range<usize>) -> (usize, usize) {
        let all = self.a.len() == l.len() && self.b.len() == r.len();
        let half = if all { usize::MAX } else { self.window };
        let mut next = None;
        for (n, (i, j)) in self.pairs.iter().enumerate() {
            // What lies far ahead is seen better from nearer.
            if n > 0 && (*i >= half || *j >= half) {
                break;
            }
            self.matching.pair(l.start + i, r.start + j);
            next = Some((l.start + i + 1, r.start + j + 1));
        }
        if all {
            return (l.end, r.end);
        }
        next.unwrap_or((l.start + half.min(l.len()), r.start + half.min(r.len())))
    }

    /// Matches what lies before a common stretch.
    fn fill(&mut self, l: Range<usize>, r: Range<usize>) {
        let (mut i, mut j) = (l.start, r.start);
        while i < l.end && j < r.end {
            self.look(i..l.end, j..r.end);
            (i, j) = self.commit(i..l.end, j..r.end);
        }
    }

    /// The nearest place ahead from which on some events are the same.
    fn stretch(&mut self, l: Range<usize>, r: Range<usize>) -> Option<(usize, usize)> {
        let mut ahead = [Grams::new(self.left, l), Grams::new(self.right, r)];
        let mut seen: [NumberMap<u64, usize>; 2] = Default::default();
        loop {
            let mut any = false;
            for side in 0..2 {
                let Some((at, gram)) = ahead[side].next() else { continue };
                any = true;
                self.matching.compared += 1;
                if let Some(other) = seen[1 - side].get(&gram) {
                    return Some(if side == 0 { (at, *other) } else { (*other, at) });
                }
                seen[side].entry(gram).or_insert(at);
            }
            if !any {
                return None;
            }
        }
    }
}

/// Hashes of stretches, one for each start.
struct Grams<'t> {
    trace: &'t Trace,
    range: Range<usize>,
    keys: std::collections::VecDeque<u64>,
}

impl<'t> Grams<'t> {
    fn new(trace: &'t Trace, range: Range<usize>) -> Grams<'t> {
        Grams { trace, range, keys: std::collections::VecDeque::with_capacity(STRETCH) }
    }
}

impl Iterator for Grams<'_> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        self.keys.pop_front();
        while self.keys.len() < STRETCH {
            self.keys.push_back(self.trace.key(self.range.next()?));
        }
        let gram = self.keys.iter().fold(0, |hash, key| mix(hash, *key));
        Some((self.range.start - STRETCH, gram))
    }
}

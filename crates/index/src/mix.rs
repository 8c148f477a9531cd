//! Which symbol comes next, told by several contexts at once.
//!
//! Every context remembers the few symbols that followed it. They are tried one after the
//! other: is it this one? How likely that is each context says for itself, by how often the
//! symbol followed it and how often others did; what is made of that is learned. The
//! answers are weighed against each other in the logistic domain, by weights that move
//! towards those who were right (after Mahoney's PAQ). Whole numbers only: a reader must
//! come to the very same odds as the writer.

use crate::odds::Odds;
use crate::range::{Coder, WHOLE};

/// Contexts that are asked for each symbol.
pub const CONTEXTS: usize = 3;
/// These, and the guess.
const VOICES: usize = CONTEXTS + 1;
/// Symbols a context remembers.
const FOLLOWERS: usize = 3;
/// Symbols that are tried.
const TRIED: usize = 8;
/// Tables have at most two to this many places.
const MOST_PLACES: u32 = 18;

/// No symbol.
pub const NOBODY: u32 = u32::MAX;

/// What followed a context, the most frequent first.
#[derive(Clone, Copy, Debug)]
struct Followers {
    symbols: [u32; FOLLOWERS],
    counts: [u8; FOLLOWERS],
    /// Part of the context's hash: another context in the same place begins anew.
    check: u8,
}

const NOTHING: Followers = Followers { symbols: [NOBODY; FOLLOWERS], counts: [0; FOLLOWERS], check: 0 };

/// Counts are halved beyond this.
const MOST: u8 = 30;

impl Followers {
    fn learn(&mut self, symbol: u32) {
        let last = FOLLOWERS - 1;
        let mut at = match self.symbols.iter().position(|s| *s == symbol) {
            Some(at) => {
                self.counts[at] += 1;
                if self.counts[at] > MOST {
                    self.counts.iter_mut().for_each(|n| *n = n.div_ceil(2));
                }
                // What came long ago counts for less.
                for (other, n) in self.counts.iter_mut().enumerate() {
                    if other != at && *n > 2 {
                        *n -= *n / 4;
                    }
                }
                at
            }
            None if self.counts[last] > 2 => {
                self.counts[last] /= 2;
                return;
            }
            None => {
                (self.symbols[last], self.counts[last]) = (symbol, 1);
                last
            }
        };
        while at > 0 && self.counts[at] >= self.counts[at - 1] {
            self.counts.swap(at, at - 1);
            self.symbols.swap(at, at - 1);
            at -= 1;
        }
    }

    /// In which place a symbol is (beyond the last if it is not there), and its count.
    #[inline]
    fn find(&self, symbol: u32) -> (usize, u8) {
        for at in 0..FOLLOWERS {
            if self.symbols[at] == symbol {
                return (at, self.counts[at]);
            }
        }
        (FOLLOWERS, 0)
    }
}

/// Counts in eight classes, exact while they are small.
const CLASS: [u8; 128] = {
    let mut classes = [7; 128];
    let mut n = 0;
    while n < 19 {
        classes[n] = match n {
            0..=3 => n as u8,
            4..=5 => 4,
            6..=9 => 5,
            _ => 6,
        };
        n += 1;
    }
    classes
};

/// What a context says of a symbol: its place, its count, how much the others came to.
#[inline]
fn saying(place: usize, own: u8, others: u8) -> usize {
    let class = |n: u8| usize::from(CLASS[usize::from(n & 127)]);
    place << 6 | class(own) << 3 | class(others)
}

const SAYINGS: usize = 256;

/// What a guess says: nothing, that it is another one, or this one, by how long it has been right.
const ANOTHER: usize = 40;
const LONGEST_RIGHT: u32 = 30;

/// The logistic function of -16 to 16 half units, in 4096 parts; between them it is a line.
const CURVE: [i32; 33] = [
    1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2047, 2549, 2994, 3348, 3607, 3785,
    3901, 3975, 4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094,
];
const PARTS: usize = 4096;
const FAR: i32 = 2047;

const fn squash(x: i32) -> i32 {
    let (at, between) = (((x >> 7) + 16) as usize, x & 127);
    (CURVE[at] * (128 - between) + CURVE[at + 1] * between + 64) >> 7
}

static SQUASHED: [i16; PARTS] = {
    let mut all = [0; PARTS];
    let mut x = -FAR;
    while x <= FAR {
        all[(x + FAR + 1) as usize] = squash(x) as i16;
        x += 1;
    }
    all
};

/// The other way round.
static STRETCHED: [i16; PARTS] = {
    let mut all = [FAR as i16; PARTS];
    let (mut x, mut from) = (-FAR, 0);
    while x <= FAR {
        let to = squash(x);
        while from <= to {
            all[from as usize] = x as i16;
            from += 1;
        }
        x += 1;
    }
    all
};

/// What all voices weigh at first, and how fast they are moved.
const WEIGHT: i32 = WHOLE as i32 * 2 / 5;
const FAST: i32 = 6;

/// A symbol that the one in front tells: which, and how often such a guess has been right
/// in a row.
#[derive(Clone, Copy, Debug)]
pub struct Guess {
    pub symbol: u32,
    pub right: u32,
}

impl Guess {
    pub const NONE: Guess = Guess { symbol: NOBODY, right: 0 };
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Mix {
    tables: [Vec<Followers>; CONTEXTS],
    /// Where the contexts of this symbol are.
    at: [usize; CONTEXTS],
    shift: u32,
    odds: Vec<Odds>,
    weights: [[i32; VOICES]; TRIED],
}

impl Mix {
    /// For so many symbols.
    #[must_use]
    pub fn new(symbols: usize) -> Mix {
        let places = (symbols.max(16) * 2).next_power_of_two().ilog2().min(MOST_PLACES);
        let mut odds = Vec::with_capacity(VOICES * SAYINGS);
        for _ in 0..CONTEXTS {
            for saying in 0..SAYINGS as u32 {
                let (own, others) = (saying >> 3 & 7, saying & 7);
                odds.push(Odds::of(match saying >> 6 {
                    3 => WHOLE / (4 + 4 * others),
                    _ => WHOLE * (2 * own + 1) / (2 * own + 2 * others + 3),
                }));
            }
        }
        odds.resize(VOICES * SAYINGS, Odds::of(WHOLE - WHOLE / 12));
        Mix {
            tables: std::array::from_fn(|_| vec![NOTHING; 1 << places]),
            at: [0; CONTEXTS],
            shift: u64::BITS - places,
            odds,
            weights: [[WEIGHT; VOICES]; TRIED],
        }
    }

    /// The next symbol if it is among those that are tried; `never` is known not to come.
    /// [`Mix::learn`] must be told what came in the end.
    #[inline]
    pub fn code(
        &mut self,
        coder: &mut impl Coder,
        contexts: [u64; CONTEXTS],
        guess: Guess,
        never: u32,
        symbol: u32,
    ) -> Option<u32> {
        let mut known = [NOTHING; CONTEXTS];
        for (i, context) in contexts.into_iter().enumerate() {
            let hash = spread(context.wrapping_add(i as u64 + 1));
            self.at[i] = (hash >> self.shift) as usize;
            let place = &mut self.tables[i][self.at[i]];
            let check = hash as u8;
            if place.check != check {
                *place = Followers { check, ..NOTHING };
            }
            known[i] = *place;
        }
        let totals = known.map(|k| k.counts.iter().sum::<u8>());
        let (mut tried, mut n) = ([never; TRIED + 1], 0);
        for turn in 0..=FOLLOWERS * CONTEXTS {
            let one = match turn.checked_sub(1) {
                None if guess.right > 1 => guess.symbol,
                None => continue,
                Some(turn) => known[CONTEXTS - 1 - turn % CONTEXTS].symbols[turn / CONTEXTS],
            };
            if one == NOBODY || tried[..=n].contains(&one) {
                continue;
            }
            let mut says = [0; VOICES];
            let mut voices = [0; VOICES];
            for i in 0..CONTEXTS {
                let (place, own) = known[i].find(one);
                says[i] = i * SAYINGS + saying(place, own, totals[i] - own);
                voices[i] = self.stretched(says[i]);
            }
            if guess.symbol != NOBODY {
                let is_this = guess.symbol == one;
                let saying = if is_this { 1 + guess.right.min(LONGEST_RIGHT) as usize } else { ANOTHER };
                says[CONTEXTS] = CONTEXTS * SAYINGS + saying;
                voices[CONTEXTS] = self.stretched(says[CONTEXTS]);
            }
            let weights = &mut self.weights[n];
            let sum: i64 = weights.iter().zip(&voices).map(|(w, v)| i64::from(*w) * i64::from(*v)).sum();
            let x = (sum >> 16).clamp((-FAR).into(), FAR.into()) as i32;
            let likely = i32::from(SQUASHED[(x + FAR + 1) as usize]);
            let bit = coder.bit(one == symbol, (likely as u32) << 4);
            let missing = ((i32::from(bit) << 12) - likely) * FAST;
            for (weight, voice) in weights.iter_mut().zip(voices) {
                *weight = weight.saturating_add((voice * missing + (1 << 13)) >> 14);
            }
            let voices = if guess.symbol == NOBODY { CONTEXTS } else { VOICES };
            says[..voices].iter().for_each(|s| self.odds[*s].learn(bit));
            if bit {
                return Some(one);
            }
            n += 1;
            if n == TRIED {
                break;
            }
            tried[n] = one;
        }
        None
    }

    #[inline]
    fn stretched(&self, saying: usize) -> i32 {
        STRETCHED[(self.odds[saying].share() >> 4) as usize].into()
    }

    /// What came in the contexts that were asked last.
    #[inline]
    pub fn learn(&mut self, symbol: u32) {
        for (table, at) in self.tables.iter_mut().zip(self.at) {
            table[at].learn(symbol);
        }
    }
}

/// Two words as one, for contexts.
#[must_use]
#[inline]
pub fn both(a: u64, b: u64) -> u64 {
    (a.rotate_left(29) ^ b).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn spread(word: u64) -> u64 {
    let word = word.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (word ^ word >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_can_be_gone_back() {
        assert!(SQUASHED[1..].is_sorted() && STRETCHED.is_sorted());
        for x in -FAR..=FAR {
            let share = SQUASHED[(x + FAR + 1) as usize];
            assert!((1..PARTS as i16).contains(&share), "neither none nor all");
            let back = STRETCHED[share as usize];
            assert_eq!(SQUASHED[(i32::from(back) + FAR + 1) as usize], share);
        }
    }

    #[test]
    fn followers_are_kept_by_how_often_they_came() {
        let mut followers = NOTHING;
        for symbol in [7, 8, 8, 9, 7, 7, 7, 5, 5, 4] {
            followers.learn(symbol);
        }
        assert_eq!(followers.symbols[0], 7);
        assert!(followers.find(4).0 < FOLLOWERS, "the last one is there");
        for _ in 0..1000 {
            followers.learn(8);
        }
        assert_eq!(followers.symbols[0], 8);
        assert!(followers.counts.iter().map(|n| u32::from(*n)).sum::<u32>() < 128, "classes have an end");
    }
}

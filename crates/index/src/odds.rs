//! How likely a bit is, learned bit by bit; and numbers of any size, made of such bits.

use crate::range::{Coder, WHOLE};

/// The chances of a bit to be set, of [`WHOLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odds {
    share: u16,
    /// How many bits were seen, up to a limit: the first ones count most.
    seen: u16,
}

/// Nothing is ever certain: what cannot happen would take endless bits if it did.
const LEAST: u32 = 32;

/// What one more bit counts for, by how many were seen.
const STEP: [i32; 256] = {
    let mut steps = [0; 256];
    let mut n = 0;
    while n < 256 {
        steps[n] = 2 * WHOLE as i32 / (2 * n as i32 + 3);
        n += 1;
    }
    steps
};

/// Bits after which the odds of a number's parts forget; what contexts say is steadier.
const SOON: u16 = 60;
const LATE: u16 = 250;

impl Default for Odds {
    fn default() -> Odds {
        Odds::of(WHOLE / 2)
    }
}

impl Odds {
    /// What is believed before anything was seen.
    #[must_use]
    pub fn of(share: u32) -> Odds {
        Odds { share: share.clamp(LEAST, WHOLE - LEAST) as u16, seen: 0 }
    }

    #[must_use]
    #[inline]
    pub fn share(self) -> u32 {
        self.share.into()
    }

    #[inline]
    fn learn_until(&mut self, bit: bool, limit: u16) {
        let share = i32::from(self.share);
        let missing = if bit { WHOLE as i32 - 1 - share } else { -share };
        let step = STEP[usize::from(self.seen & 255)];
        let share = share + ((i64::from(missing) * i64::from(step)) >> 16) as i32;
        self.share = share.clamp(LEAST as i32, (WHOLE - LEAST) as i32) as u16;
        self.seen += u16::from(self.seen < limit);
    }

    /// A bit came that was told with the help of others.
    #[inline]
    pub fn learn(&mut self, bit: bool) {
        self.learn_until(bit, LATE);
    }

    /// A bit told by these odds alone.
    #[inline]
    pub fn code(&mut self, coder: &mut impl Coder, bit: bool) -> bool {
        let bit = coder.bit(bit, self.share());
        self.learn_until(bit, SOON);
        bit
    }
}

/// Numbers, and numbers with a sign: how long they are, the bits below the first and the
/// lowest ones are learned. What is in between is as likely as not. Addresses and their
/// differences are multiples of what lies there: that is what the lowest bits say.
#[derive(Clone, Debug)]
pub struct Numbers {
    sign: [Odds; 2],
    was_negative: bool,
    length: [Odds; 128],
    high: Vec<Odds>,
    low: [[Odds; 1 << LOW]; 2],
}

const HIGH: u32 = 2;
const LOW: u32 = 4;

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers {
            sign: [Odds::default(); 2],
            was_negative: false,
            length: [Odds::default(); 128],
            high: vec![Odds::default(); 65 << HIGH],
            low: [[Odds::default(); 1 << LOW]; 2],
        }
    }
}

impl Numbers {
    pub fn signed(&mut self, coder: &mut impl Coder, number: u64) -> u64 {
        let odds = &mut self.sign[usize::from(self.was_negative)];
        let is_negative = odds.code(coder, number.cast_signed() < 0);
        self.was_negative = is_negative;
        let size = self.size(coder, number.cast_signed().unsigned_abs());
        if is_negative { size.wrapping_neg() } else { size }
    }

    pub fn size(&mut self, coder: &mut impl Coder, number: u64) -> u64 {
        let length = u64::BITS - number.leading_zeros();
        let mut node = 1;
        for i in (0..7).rev() {
            node = node << 1 | usize::from(self.length[node].code(coder, length >> i & 1 == 1));
        }
        let length = (node & 127).min(64);
        if length < 2 {
            return length as u64;
        }
        let mut left = length as u32 - 1;
        let mut got = 1;
        let high = &mut self.high[length << HIGH..];
        for _ in 0..left.min(HIGH) {
            left -= 1;
            // Nodes of the tree are numbered by the bits that lead to them.
            let node = (got & ((1 << HIGH) - 1)) as usize;
            got = got << 1 | u64::from(high[node].code(coder, number >> left & 1 == 1));
        }
        let low = left.min(LOW);
        let middle = left - low;
        if middle > 0 {
            got = got << middle | coder.raw(number >> low & ((1 << middle) - 1), middle);
        }
        // From the lowest up: what is a multiple of eight is known after three bits.
        let odds = &mut self.low[usize::from(middle > 0)];
        let (mut node, mut lowest) = (1, 0);
        for i in 0..low {
            let bit = odds[node].code(coder, number >> i & 1 == 1);
            node = node << 1 | usize::from(bit);
            lowest |= u64::from(bit) << i;
        }
        got << low | lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range::{Decoder, Encoder};
    use proptest::prelude::*;

    #[test]
    fn the_first_bit_counts_most_however_unlikely_it_was() {
        for (share, bit) in [(0, true), (WHOLE, false)] {
            let mut odds = Odds::of(share);
            let before = odds.share();
            odds.learn(bit);
            assert_eq!(bit, odds.share() > WHOLE / 2, "{before} to {}", odds.share());
        }
    }

    #[test]
    fn multiples_take_no_low_bits() {
        let size = |by: u64| {
            let (mut to, mut numbers, mut state) = (Encoder::default(), Numbers::default(), 1u64);
            for _ in 0..4000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                numbers.signed(&mut to, (state >> 44) * by);
            }
            to.finish().len()
        };
        assert!(size(16) < size(1) + size(1) / 20, "{} of {}", size(16), size(1));
    }

    proptest! {
        #[test]
        fn numbers_come_back(values in proptest::collection::vec((any::<u64>(), 0u32..64), 0..300)) {
            let values: Vec<u64> = values.iter().map(|(v, by)| (v.cast_signed() >> by).cast_unsigned()).collect();
            let (mut to, mut numbers) = (Encoder::default(), Numbers::default());
            for v in &values {
                numbers.signed(&mut to, *v);
                numbers.size(&mut to, *v);
            }
            let bytes = to.finish();
            let (mut from, mut numbers) = (Decoder::new(&bytes), Numbers::default());
            for v in &values {
                prop_assert_eq!(numbers.signed(&mut from, 0), *v);
                prop_assert_eq!(numbers.size(&mut from, 0), *v);
            }
        }
    }
}

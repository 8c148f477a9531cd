//! Numbers in as many bits as they are surprising: a range coder with models that learn
//! from what went before.
//!
//! The coder holds an interval of 64-bit numbers; every symbol narrows it to the symbol's
//! share. What the reader gets past the end of the bytes is zero, and the writer leaves
//! zeros at the end away: a piece of a few symbols takes a few bytes. Because a reader
//! can go on for ever, who reads must know when to stop.

/// The interval is widened when its first byte is settled, or when it gets too small to
/// be shared among all that a model knows.
const TOP: u64 = 1 << 56;
const BOTTOM: u64 = 1 << 40;

/// Narrows an interval down and gives bytes out.
#[derive(Clone, Debug)]
pub struct Encoder {
    low: u64,
    range: u64,
    bytes: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder { low: 0, range: u64::MAX, bytes: Vec::new() }
    }
}

/// Whether the interval's first byte can be given out; a small one is cut for that.
#[inline]
fn settled(low: u64, range: &mut u64) -> bool {
    if low ^ low.wrapping_add(*range) < TOP {
        return true;
    }
    let small = *range < BOTTOM;
    if small {
        *range = low.wrapping_neg() & (BOTTOM - 1);
    }
    small
}

impl Encoder {
    /// The share from `below` on of size `share`, of `total` (less than 2^32).
    pub fn put(&mut self, below: u64, share: u64, total: u64) {
        self.range /= total;
        self.low = self.low.wrapping_add(below * self.range);
        self.range *= share;
        self.settle();
    }

    #[inline]
    fn settle(&mut self) {
        while settled(self.low, &mut self.range) {
            self.bytes.push((self.low >> 56) as u8);
            self.low <<= 8;
            self.range <<= 8;
        }
    }

    /// The low bits of a number, each as likely as not.
    pub fn bits(&mut self, value: u64, width: u32) {
        let mut left = width;
        while left > 0 {
            let part = left.min(16);
            left -= part;
            self.put(value >> left & ((1 << part) - 1), 1, 1 << part);
        }
    }

    /// The bytes: no more than it takes to tell the interval.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        for n in 0..=8u32 {
            let mask = u64::MAX.checked_shr(8 * n).unwrap_or(0);
            let Some(up) = self.low.checked_add(mask) else { continue };
            let value = up & !mask;
            if value - self.low < self.range {
                self.bytes.extend_from_slice(&value.to_be_bytes()[..n as usize]);
                break;
            }
        }
        while self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
        self.bytes
    }
}

/// Reads what an [`Encoder`] wrote, asked by models that have learned the same.
#[derive(Clone, Debug)]
pub struct Decoder<'b> {
    low: u64,
    range: u64,
    code: u64,
    bytes: std::slice::Iter<'b, u8>,
}

impl<'b> Decoder<'b> {
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> Decoder<'b> {
        let mut new = Decoder { low: 0, range: u64::MAX, code: 0, bytes: bytes.iter() };
        for _ in 0..8 {
            new.next_byte();
        }
        new
    }

    fn next_byte(&mut self) {
        self.code = self.code << 8 | u64::from(self.bytes.next().copied().unwrap_or(0));
    }

    /// In which of `total` shares the number is.
    pub fn share(&mut self, total: u64) -> u64 {
        self.range /= total;
        (self.code.wrapping_sub(self.low) / self.range.max(1)).min(total - 1)
    }

    /// The share that was meant, as it was put.
    pub fn got(&mut self, below: u64, share: u64) {
        self.low = self.low.wrapping_add(below.wrapping_mul(self.range));
        self.range = self.range.wrapping_mul(share);
        self.settle();
    }

    #[inline]
    fn settle(&mut self) {
        while settled(self.low, &mut self.range) {
            self.next_byte();
            self.low <<= 8;
            self.range <<= 8;
        }
    }

    pub fn bits(&mut self, width: u32) -> u64 {
        let (mut value, mut left) = (0, width);
        while left > 0 {
            let part = left.min(16);
            left -= part;
            let got = self.share(1 << part);
            self.got(got, 1);
            value = value << part | got;
        }
        value
    }
}

/// What models are asked for by whoever writes and by whoever reads: the same code serves
/// both, so that they cannot disagree. What is handed in counts only for a writer; what
/// comes out is what was meant.
pub trait Coder {
    /// A bit that is set with so many chances of [`WHOLE`]; neither none nor all of them.
    fn bit(&mut self, bit: bool, share: u32) -> bool;
    /// The low bits of a number, each as likely as not.
    fn raw(&mut self, value: u64, width: u32) -> u64;
    /// A symbol by how often it came. There must be one.
    fn symbol(&mut self, symbol: usize, by: &mut Many) -> usize;
}

/// All the chances that a bit has, as a power of two.
const WHOLE_BITS: u32 = 16;
pub const WHOLE: u32 = 1 << WHOLE_BITS;

impl Coder for Encoder {
    #[inline]
    fn bit(&mut self, bit: bool, share: u32) -> bool {
        self.range >>= WHOLE_BITS;
        let bound = self.range * u64::from(share);
        if bit {
            self.range = bound;
        } else {
            self.low = self.low.wrapping_add(bound);
            self.range *= u64::from(WHOLE - share);
        }
        self.settle();
        bit
    }

    fn raw(&mut self, value: u64, width: u32) -> u64 {
        self.bits(value, width);
        value
    }

    fn symbol(&mut self, symbol: usize, by: &mut Many) -> usize {
        by.put(self, symbol);
        symbol
    }
}

impl Coder for Decoder<'_> {
    #[inline]
    fn bit(&mut self, _: bool, share: u32) -> bool {
        self.range >>= WHOLE_BITS;
        let bound = self.range.wrapping_mul(share.into());
        let bit = self.code.wrapping_sub(self.low) < bound;
        if bit {
            self.range = bound;
        } else {
            self.low = self.low.wrapping_add(bound);
            self.range = self.range.wrapping_mul((WHOLE - share).into());
        }
        self.settle();
        bit
    }

    fn raw(&mut self, _: u64, width: u32) -> u64 {
        self.bits(width)
    }

    fn symbol(&mut self, _: usize, by: &mut Many) -> usize {
        by.get(self)
    }
}

/// How often each of a few symbols came.
#[derive(Clone, Debug)]
pub struct Few<const N: usize> {
    share: [u32; N],
    total: u32,
}

impl<const N: usize> Default for Few<N> {
    fn default() -> Few<N> {
        Few { share: [1; N], total: N as u32 }
    }
}

/// What a symbol that came counts for, and when all counts are halved.
const CAME: u32 = 24;
const MOST: u32 = 1 << 14;

impl<const N: usize> Few<N> {
    fn learn(&mut self, symbol: usize) {
        self.share[symbol] += CAME;
        self.total += CAME;
        if self.total > MOST {
            self.total = 0;
            for share in &mut self.share {
                *share = share.div_ceil(2);
                self.total += *share;
            }
        }
    }

    pub fn put(&mut self, to: &mut Encoder, symbol: usize) {
        let below: u32 = self.share[..symbol].iter().sum();
        to.put(below.into(), self.share[symbol].into(), self.total.into());
        self.learn(symbol);
    }

    pub fn get(&mut self, from: &mut Decoder<'_>) -> usize {
        let at = from.share(self.total.into()) as u32;
        let (mut symbol, mut below) = (0, 0);
        while symbol + 1 < N && below + self.share[symbol] <= at {
            below += self.share[symbol];
            symbol += 1;
        }
        from.got(below.into(), self.share[symbol].into());
        self.learn(symbol);
        symbol
    }
}

/// Numbers of any size: how long they are is learned, and the bit below the first.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    len: Few<65>,
    second: Vec<Few<2>>,
}

impl Sizes {
    pub fn put(&mut self, to: &mut Encoder, value: u64) {
        let len = 64 - value.leading_zeros();
        self.len.put(to, len as usize);
        if len > 1 {
            self.second.resize(65, Few::default());
            self.second[len as usize].put(to, (value >> (len - 2) & 1) as usize);
        }
        if len > 2 {
            to.bits(value, len - 2);
        }
    }

    pub fn get(&mut self, from: &mut Decoder<'_>) -> u64 {
        let len = self.len.get(from) as u32;
        match len {
            0 => return 0,
            1 => return 1,
            _ => {}
        }
        self.second.resize(65, Few::default());
        let second = self.second[len as usize].get(from) as u64;
        (2 | second) << (len - 2) | from.bits(len - 2)
    }
}

/// How often each of many symbols came, as sums over ranges (Fenwick's tree), so that
/// finding and counting one takes a few steps.
#[derive(Clone, Debug, Default)]
pub struct Many {
    sums: Vec<u32>,
    total: u32,
}

impl Many {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// One more symbol, which has come once.
    pub fn add(&mut self) {
        let at = self.sums.len() + 1;
        let mut sum = 1;
        let mut below = at - 1;
        while below > at - (at & at.wrapping_neg()) {
            sum += self.sums[below - 1];
            below -= below & below.wrapping_neg();
        }
        self.sums.push(sum);
        self.total += 1;
    }

    fn below(&self, symbol: usize) -> u32 {
        let (mut sum, mut at) = (0, symbol);
        while at > 0 {
            sum += self.sums[at - 1];
            at -= at & at.wrapping_neg();
        }
        sum
    }

    fn learn(&mut self, symbol: usize) {
        let mut at = symbol + 1;
        while at <= self.sums.len() {
            self.sums[at - 1] += 1;
            at += at & at.wrapping_neg();
        }
        self.total += 1;
    }

    pub fn put(&mut self, to: &mut Encoder, symbol: usize) {
        let (below, above) = (self.below(symbol), self.below(symbol + 1));
        to.put(below.into(), (above - below).into(), self.total.into());
        self.learn(symbol);
    }

    /// There must be a symbol.
    pub fn get(&mut self, from: &mut Decoder<'_>) -> usize {
        let at = from.share(self.total.max(1).into()) as u32;
        let mut symbol = 0;
        let mut below = 0;
        let mut step = self.sums.len().next_power_of_two();
        while step > 0 {
            if symbol + step <= self.sums.len() && below + self.sums[symbol + step - 1] <= at {
                symbol += step;
                below += self.sums[symbol - 1];
            }
            step /= 2;
        }
        let symbol = symbol.min(self.sums.len().saturating_sub(1));
        let share = self.below(symbol + 1) - self.below(symbol);
        from.got(below.into(), share.into());
        self.learn(symbol);
        symbol
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_expected_takes_little() {
        let mut to = Encoder::default();
        let mut few = Few::<2>::default();
        for n in 0..10_000 {
            few.put(&mut to, usize::from(n % 1000 == 0));
        }
        assert!(to.finish().len() < 40);
        assert_eq!(Encoder::default().finish(), [0u8; 0], "nothing takes nothing");
    }

    proptest! {
        #[test]
        fn what_was_put_is_got(
            sizes in proptest::collection::vec((any::<u64>(), 0u32..64), 0..300),
            many in proptest::collection::vec(0usize..40, 0..300),
        ) {
            let (mut to, mut model, mut symbols) = (Encoder::default(), Sizes::default(), Many::default());
            let values: Vec<u64> = sizes.iter().map(|(v, by)| v >> by).collect();
            values.iter().for_each(|v| model.put(&mut to, *v));
            (0..40).for_each(|_| symbols.add());
            many.iter().for_each(|s| symbols.put(&mut to, *s));
            values.iter().for_each(|v| to.bits(*v, 64));
            let bytes = to.finish();
            let (mut from, mut model, mut symbols) = (Decoder::new(&bytes), Sizes::default(), Many::default());
            for v in &values {
                prop_assert_eq!(model.get(&mut from), *v);
            }
            (0..40).for_each(|_| symbols.add());
            for s in &many {
                prop_assert_eq!(symbols.get(&mut from), *s);
            }
            for v in &values {
                prop_assert_eq!(from.bits(64), *v);
            }
        }

        #[test]
        fn nonsense_is_read_as_something(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let (mut from, mut model, mut symbols) = (Decoder::new(&bytes), Sizes::default(), Many::default());
            (0..7).for_each(|_| symbols.add());
            for _ in 0..300 {
                model.get(&mut from);
                prop_assert!(symbols.get(&mut from) < 7);
            }
        }
    }
}

//! The encoding of numbers in a stream, and sequences of them.

use core::fmt;

/// Maps differences of small magnitude to small numbers.
#[must_use]
pub const fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ (difference.cast_signed() >> 63).cast_unsigned()
}

/// The inverse of [`zigzag`].
#[must_use]
pub const fn unzigzag(coded: u64) -> u64 {
    (coded >> 1) ^ (coded & 1).wrapping_neg()
}

/// Decodes a LEB128 number. Returns the value and the number of bytes read. `None` if the bytes end
/// early or the number does not fit 64 bits.
#[must_use]
#[inline]
pub fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u64::from(first), 1));
    }
    let mut value = u64::from(first & 0x7f);
    let mut used = 1;
    loop {
        let byte = *bytes.get(used)?;
        let shift = 7 * used as u32;
        if used == 9 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << shift;
        used += 1;
        if byte < 0x80 {
            return Some((value, used));
        }
    }
}

/// The 64-bit slots of a result or of arguments: a plain slice when writing, encoded when read.
#[derive(Clone, Copy)]
pub enum Slots<'a> {
    /// The slots as the runtime passes them.
    Plain(&'a [u64]),
    /// `count` varints; with `base`, zigzag differences to it.
    Coded {
        /// The varints. The creator of this value has checked that they are complete.
        bytes: &'a [u8],
        /// The number of slots.
        count: u8,
        /// The number that was subtracted; `None`: the varints are the slots themselves.
        base: Option<u64>,
    },
}

impl<'a> Slots<'a> {
    /// The number of slots.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Slots::Plain(s) => s.len(),
            Slots::Coded { count, .. } => *count as usize,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slots in order.
    #[must_use]
    pub fn iter(&self) -> SlotsIter<'a> {
        SlotsIter { slots: *self, index: 0 }
    }
}

impl<'a> IntoIterator for &Slots<'a> {
    type Item = u64;
    type IntoIter = SlotsIter<'a>;
    fn into_iter(self) -> SlotsIter<'a> {
        self.iter()
    }
}

impl PartialEq for Slots<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Slots<'_> {}

impl fmt::Debug for Slots<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterator over [`Slots`].
#[derive(Clone, Debug)]
pub struct SlotsIter<'a> {
    slots: Slots<'a>,
    index: usize,
}

impl Iterator for SlotsIter<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.index == self.slots.len() {
            return None;
        }
        self.index += 1;
        match &mut self.slots {
            Slots::Plain(s) => s.get(self.index - 1).copied(),
            Slots::Coded { bytes, base, .. } => {
                let (raw, used) = varint(bytes)?;
                *bytes = bytes.get(used..)?;
                Some(base.map_or(raw, |b| b.wrapping_add(unzigzag(raw))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zigzag_is_inverted() {
        for v in [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 12345, 12345u64.wrapping_neg()] {
            assert_eq!(unzigzag(zigzag(v)), v);
        }
        assert_eq!(zigzag(u64::MAX), 1);
        assert_eq!(zigzag(1), 2);
    }

    #[test]
    fn varints_are_bounded() {
        assert_eq!(varint(&[]), None);
        assert_eq!(varint(&[0x80]), None);
        assert_eq!(varint(&[0x80, 0x01, 7]), Some((128, 2)));
        let max = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(varint(&max), Some((u64::MAX, 10)));
        let mut over = max;
        over[9] = 2;
        assert_eq!(varint(&over), None);
        assert_eq!(varint(&[0xff; 12]), None);
    }
}

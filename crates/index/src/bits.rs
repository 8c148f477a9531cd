//! Numbers as bits: of a known width, or as short as they are small.

/// Writes bits, the lowest first.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    /// Bits not yet in `bytes`.
    open: u64,
    count: u32,
}

impl Writer {
    /// The low `width` bits, at most 32.
    pub fn put(&mut self, value: u64, width: u32) {
        self.open |= (value & ((1 << width) - 1)) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.open as u8);
            self.open >>= 8;
            self.count -= 8;
        }
    }

    /// A number from 1 up (Elias gamma): 1 takes one bit, 2 and 3 take three.
    pub fn gamma(&mut self, value: u64) {
        let value = value.max(1);
        let extra = value.ilog2();
        for _ in 0..extra {
            self.put(0, 1);
        }
        self.put(1, 1);
        let low = value & !(1 << extra);
        self.put(low, extra.min(32));
        if extra > 32 {
            self.put(low >> 32, extra - 32);
        }
    }

    /// Any number (Elias delta): its size first.
    pub fn number(&mut self, value: u64) {
        let size = 64 - value.leading_zeros();
        self.gamma(u64::from(size) + 1);
        if size > 1 {
            self.put(value, (size - 1).min(32));
            if size - 1 > 32 {
                self.put(value >> 32, size - 33);
            }
        }
    }

    /// Bits written.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64 * 8 + u64::from(self.count)
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.open as u8);
        }
        self.bytes
    }
}

/// Reads what a [`Writer`] wrote. Past the end everything fails.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'b> {
    bytes: &'b [u8],
    at: u64,
}

impl<'b> Reader<'b> {
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { bytes, at: 0 }
    }

    /// Bits not read yet: no list can have more elements.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.bytes.len() as u64 * 8 - self.at
    }

    pub fn get(&mut self, width: u32) -> Option<u64> {
        if u64::from(width) > self.left() {
            return None;
        }
        let first = (self.at / 8) as usize;
        let mut word = [0; 8];
        let n = (self.bytes.len() - first).min(8);
        word[..n].copy_from_slice(&self.bytes[first..first + n]);
        let value = u64::from_le_bytes(word) >> (self.at % 8);
        self.at += u64::from(width);
        Some(value & ((1 << width) - 1))
    }

    pub fn gamma(&mut self) -> Option<u64> {
        let mut extra = 0;
        while self.get(1)? == 0 {
            extra += 1;
            if extra > 63 {
                return None;
            }
        }
        let mut value = self.get(extra.min(32))?;
        if extra > 32 {
            value |= self.get(extra - 32)? << 32;
        }
        Some(value | 1 << extra)
    }

    pub fn number(&mut self) -> Option<u64> {
        let size = self.gamma()? - 1;
        match size {
            0 => Some(0),
            1..=64 => {
                let size = size as u32 - 1;
                let mut value = self.get(size.min(32))?;
                if size > 32 {
                    value |= self.get(size - 32)? << 32;
                }
                Some(value | 1 << size)
            }
            _ => None,
        }
    }
}

/// Bits that hold every number below `n`.
#[must_use]
pub fn width(n: u64) -> u32 {
    64 - n.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(values in proptest::collection::vec((any::<u64>(), 0u32..64), 0..50)) {
            let mut w = Writer::default();
            for (v, shift) in &values {
                let v = v >> shift;
                w.number(v);
                w.gamma(v);
                w.put(v, 17);
            }
            let bytes = w.finish();
            let mut r = Reader::new(&bytes);
            for (v, shift) in &values {
                let v = v >> shift;
                prop_assert_eq!(r.number(), Some(v));
                prop_assert_eq!(r.gamma(), Some(v.max(1)));
                prop_assert_eq!(r.get(17), Some(v & 0x1FFFF));
            }
            prop_assert!(r.left() < 8);
        }
    }

    #[test]
    fn widths() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(width), [0, 0, 1, 2, 2, 3, 8, 9]);
    }
}

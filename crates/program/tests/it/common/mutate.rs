//! Deterministic mutations, for bounded fuzzing on a stable compiler.

pub struct Mutator(u64);

impl Mutator {
    pub fn new(seed: u64) -> Mutator {
        Mutator(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// The seed with one to eight changes.
    pub fn mutate(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..=self.below(8) {
            self.change(&mut bytes);
        }
        bytes
    }

    /// The seed with one byte changed.
    pub fn change_byte(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        let at = self.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 + (self.next() % 255) as u8;
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        let end = (at + 1 + self.below(16)).min(bytes.len());
        match self.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, self.next() as u8),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            4 if bytes.len() >= 8 => {
                let at = self.below(bytes.len() - 7);
                let words = [0, 1, u64::MAX, 1 << 63, 1 << 31, u64::from(u32::MAX), self.next()];
                let word = words[self.below(words.len())].to_le_bytes();
                let length = [1, 2, 4, 8][self.below(4)];
                bytes[at..at + length].copy_from_slice(&word[..length]);
            }
            _ if !bytes.is_empty() => {
                let interesting =
                    [0, 1, 0x7f, 0x80, 0xff, self.next() as u8, bytes[at] ^ (1 << self.below(8))];
                bytes[at] = interesting[self.below(interesting.len())];
            }
            _ => bytes.push(self.next() as u8),
        }
    }
}

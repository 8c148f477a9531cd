//! The memory of a call at one of its ends, as far as it can be reached from outside.
//!
//! Bytes are stored in pieces of 64 with two bits per byte: whether its value is known, and whether the
//! program set it. Bytes that were neither set nor read are indeterminate in C and must not be compared.
//! Parameters and the result have addresses that no program uses, so that all roots are memory locations.

use expression::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Number of bytes of a piece.
pub(crate) const PIECE: u64 = 64;

/// Base address of the result, followed by the parameters.
const VALUES: u64 = 1 << 60;
/// Address space reserved for each.
const ROOM: u64 = 1 << 20;

/// Address of a parameter, counted from 0.
pub(crate) fn parameter_address(number: usize) -> u64 {
    VALUES + ROOM * (number as u64 + 1)
}

/// Address of the result.
pub(crate) const RESULT: u64 = VALUES;

#[derive(Clone, Copy, Debug)]
struct Piece {
    bytes: [u8; PIECE as usize],
    /// Mask of the bytes that are known, and of those that the program set.
    known: u64,
    set: u64,
}

impl Default for Piece {
    fn default() -> Piece {
        Piece { bytes: [0; PIECE as usize], known: 0, set: 0 }
    }
}

/// Splits a range into pieces: number of the piece, first byte in it, length.
fn parts(address: u64, len: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = address.wrapping_add(done);
        let here = (PIECE - at % PIECE).min(len - done);
        done += here;
        (here > 0).then_some((at / PIECE, (at % PIECE) as usize, here as usize))
    })
}

/// The mask of a range of bytes of a piece.
fn mask(first: usize, len: usize) -> u64 {
    (u64::MAX >> (PIECE as usize - len)) << first
}

/// The knowledge about a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knowledge {
    Nothing,
    /// The program read it, so its value is known.
    Seen,
    Set,
}

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct State {
    pieces: FxHashMap<u64, Piece>,
    /// The objects of pointer targets, by address and size of their type: start and end.
    objects: FxHashMap<(u64, u64), (u64, u64)>,
    /// Words that contain addresses, whatever their type is.
    addresses: FxHashSet<u64>,
    /// Before a call: bytes that it read, with the values read. After it: bytes that it wrote.
    used: BTreeMap<u64, u8>,
    /// Thread-local variables: before a call those that it read as a whole, without `errno`; after it those
    /// that it wrote, and `errno` if it wrote that.
    pub thread_locals: BTreeMap<String, Vec<u8>>,
    /// Number of captured bytes.
    pub bytes: u64,
    /// There was more memory than was captured.
    pub truncated: bool,
}

impl State {
    /// Stores bytes with the knowledge about each.
    pub(crate) fn put(&mut self, address: u64, bytes: &[u8], knowledge: impl Fn(usize) -> Knowledge) {
        let mut n = 0;
        for (number, first, len) in parts(address, bytes.len() as u64) {
            let piece = self.pieces.entry(number).or_default();
            piece.bytes[first..first + len].copy_from_slice(&bytes[n..n + len]);
            for at in first..first + len {
                match knowledge(n) {
                    Knowledge::Nothing => {}
                    Knowledge::Seen => piece.known |= 1 << at,
                    Knowledge::Set => (piece.known, piece.set) = (piece.known | 1 << at, piece.set | 1 << at),
                }
                n += 1;
            }
        }
        self.bytes += bytes.len() as u64;
    }

    /// A captured byte with a determinate value.
    fn byte(&self, address: u64) -> Option<u8> {
        let piece = self.pieces.get(&(address / PIECE))?;
        (piece.known >> (address % PIECE) & 1 == 1).then(|| piece.bytes[(address % PIECE) as usize])
    }

    /// Whether the program set a byte.
    #[must_use]
    pub fn is_set(&self, address: u64) -> bool {
        self.pieces.get(&(address / PIECE)).is_some_and(|piece| piece.set >> (address % PIECE) & 1 == 1)
    }

    /// Bytes, if all of them are determinate.
    #[must_use]
    pub fn read(&self, address: u64, len: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len);
        for (number, first, len) in parts(address, len as u64) {
            let piece = self.pieces.get(&number)?;
            if !piece.known & mask(first, len) != 0 {
                return None;
            }
            bytes.extend_from_slice(&piece.bytes[first..first + len]);
        }
        Some(bytes)
    }

    /// Whether bytes equal those of another state, with the same bytes known.
    #[must_use]
    pub fn is_same(&self, address: u64, other: &State, at: u64, len: u64) -> bool {
        let nothing = Piece::default();
        let mut done = 0;
        while done < len {
            let (a, b) = (address.wrapping_add(done), at.wrapping_add(done));
            let run = (PIECE - a % PIECE).min(PIECE - b % PIECE).min(len - done) as usize;
            let one = self.pieces.get(&(a / PIECE)).unwrap_or(&nothing);
            let two = other.pieces.get(&(b / PIECE)).unwrap_or(&nothing);
            let (i, j) = ((a % PIECE) as usize, (b % PIECE) as usize);
            let known = one.known >> i & mask(0, run);
            if known != two.known >> j & mask(0, run) {
                return false;
            }
            if (0..run).any(|n| known >> n & 1 == 1 && one.bytes[i + n] != two.bytes[j + n]) {
                return false;
            }
            done += run as u64;
        }
        true
    }

    /// Marks a word as containing an address.
    pub(crate) fn mark_address(&mut self, at: u64) {
        self.addresses.insert(at / 8);
    }

    /// Whether a byte is part of a word that contains an address.
    #[must_use]
    pub fn is_address(&self, at: u64) -> bool {
        self.addresses.contains(&(at / 8))
    }

    /// Marks a byte as used by the call.
    pub(crate) fn mark_used(&mut self, at: u64, byte: u8) {
        self.used.insert(at, byte);
    }

    /// The bytes from `start` to `end` that the call used.
    pub fn used(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u8)> {
        let range = if start < end { start..end } else { 0..0 };
        self.used.range(range).map(|(at, byte)| (*at, *byte))
    }

    /// A byte that the call used or that was captured.
    #[must_use]
    pub fn any_byte(&self, at: u64) -> Option<u8> {
        self.used.get(&at).copied().or_else(|| self.byte(at))
    }

    /// The string up to the first NUL or unknown byte.
    #[must_use]
    pub fn string(&self, address: u64, limit: usize) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        for n in 0..limit as u64 {
            match self.byte(address.wrapping_add(n)) {
                Some(0) => return Some(text),
                Some(byte) => text.push(byte),
                None if n == 0 => return None,
                None => break,
            }
        }
        Some(text)
    }

    pub(crate) fn set_object(&mut self, address: u64, size: u64, object: (u64, u64)) {
        self.objects.insert((address, size), object);
    }

    /// Start and end of the object that a pointer to a type of this size points to, if known.
    #[must_use]
    pub fn object(&self, address: u64, size: u64) -> Option<(u64, u64)> {
        self.objects.get(&(address, size)).copied()
    }

    /// All determinate bytes, for displaying values.
    #[must_use]
    pub fn memory(&self) -> replay::memory::Memory {
        let mut memory = replay::memory::Memory::default();
        for (number, piece) in &self.pieces {
            for (n, byte) in piece.bytes.iter().enumerate().filter(|(n, _)| piece.known >> n & 1 == 1) {
                memory.write(number * PIECE + n as u64, &[*byte]);
            }
        }
        memory
    }
}

/// A root of a state: a parameter, a global variable, the result.
#[derive(Clone, Debug)]
pub struct Root<'m> {
    /// What it is.
    pub kind: RootKind,
    /// Its name in the source.
    pub name: String,
    /// The declared type.
    pub ty: Type<'m>,
    /// The address; parameters and results have addresses that no program uses.
    pub address: u64,
}

/// The kinds of roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootKind {
    /// By its number, from 0.
    Parameter(usize),
    /// A global or `static` variable.
    Global,
    /// The result; only in states after a call.
    Result,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(bits: &'static [u8]) -> impl Fn(usize) -> Knowledge {
        move |n| match bits[n] {
            b'.' => Knowledge::Nothing,
            b'r' => Knowledge::Seen,
            _ => Knowledge::Set,
        }
    }

    #[test]
    fn only_what_is_known_can_be_read() {
        let mut state = State::default();
        state.put(62, b"abcdef", known(b"ww.rww"));
        assert_eq!(state.read(62, 2).as_deref(), Some(&b"ab"[..]));
        assert_eq!(state.read(62, 3), None);
        assert_eq!(state.read(65, 3).as_deref(), Some(&b"def"[..]));
        assert_eq!([state.is_set(65), state.is_set(66)], [false, true]);
        assert_eq!(state.string(65, 10).as_deref(), Some(&b"def"[..]));
        assert_eq!(state.string(64, 10), None);
    }

    #[test]
    fn states_are_the_same_where_they_know_the_same() {
        let (mut one, mut two) = (State::default(), State::default());
        one.put(60, b"abcdefgh", known(b"wwww.www"));
        two.put(1000, b"abcdXfgh", known(b"wwww.www"));
        assert!(one.is_same(60, &two, 1000, 8));
        assert!(one.is_same(60, &two, 1000, 200));
        two.put(1004, b"X", known(b"w"));
        assert!(!one.is_same(60, &two, 1000, 8));
        assert!(one.is_same(60, &two, 1000, 4));
    }
}

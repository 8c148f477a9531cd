//! Memory of a call at one of its ends, as far as it can be reached from outside.
//!
//! Bytes are kept in pieces of sixteen with a bit each that says whether the program ever set the
//! byte: what nobody wrote is indeterminate in C and must not be compared. Parameters and the
//! result lie at addresses of their own that no program has, so that all roots are places in memory.

use expression::types::Type;
use std::collections::HashMap;

/// Bytes of a piece.
pub(crate) const PIECE: u64 = 16;

/// Where parameters lie, one after the other, and then the result.
const VALUES: u64 = 1 << 60;
/// Room for each.
const ROOM: u64 = 1 << 20;

/// Address of a parameter, counted from 0.
pub(crate) fn parameter_address(number: usize) -> u64 {
    VALUES + ROOM * (number as u64 + 1)
}

/// Address of the result.
pub(crate) const RESULT: u64 = VALUES;

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct State {
    pieces: HashMap<u64, ([u8; PIECE as usize], u16)>,
    /// Of what pointers point to: start and end of the object.
    objects: HashMap<u64, (u64, u64)>,
    /// Bytes that were taken.
    pub bytes: u64,
    /// There was more than is kept.
    pub truncated: bool,
}

impl State {
    /// Takes bytes over; `defined` says which of them were ever set.
    pub(crate) fn put(&mut self, address: u64, bytes: &[u8], defined: impl Fn(usize) -> bool) {
        for (n, byte) in bytes.iter().enumerate() {
            let at = address.wrapping_add(n as u64);
            let piece = self.pieces.entry(at / PIECE).or_default();
            piece.0[(at % PIECE) as usize] = *byte;
            if defined(n) {
                piece.1 |= 1 << (at % PIECE);
            }
        }
        self.bytes += bytes.len() as u64;
    }

    /// Whether a byte was taken over and is determinate.
    fn byte(&self, address: u64) -> Option<u8> {
        let (bytes, defined) = self.pieces.get(&(address / PIECE))?;
        (defined >> (address % PIECE) & 1 == 1).then(|| bytes[(address % PIECE) as usize])
    }

    /// Bytes, if all of them are determinate.
    #[must_use]
    pub fn read(&self, address: u64, len: usize) -> Option<Vec<u8>> {
        (0..len as u64).map(|n| self.byte(address.wrapping_add(n))).collect()
    }

    /// Up to the first NUL or byte that is not known.
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

    pub(crate) fn set_object(&mut self, address: u64, object: (u64, u64)) {
        self.objects.insert(address, object);
    }

    /// Start and end of the object that a pointer points to, where that is known.
    #[must_use]
    pub fn object(&self, address: u64) -> Option<(u64, u64)> {
        self.objects.get(&address).copied()
    }

    /// All bytes that are determinate, for showing values.
    #[must_use]
    pub fn memory(&self) -> replay::memory::Memory {
        let mut memory = replay::memory::Memory::default();
        for (piece, (bytes, defined)) in &self.pieces {
            for (n, byte) in bytes.iter().enumerate().filter(|(n, _)| defined >> n & 1 == 1) {
                memory.write(piece * PIECE + n as u64, &[*byte]);
            }
        }
        memory
    }
}

/// What a state is looked at from: a parameter, a global variable, the result.
#[derive(Clone, Debug)]
pub struct Root<'m> {
    pub kind: RootKind,
    /// Its name in the source.
    pub name: String,
    pub ty: Type<'m>,
    pub address: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootKind {
    /// By its number, from 0.
    Parameter(usize),
    Global,
    Result,
}

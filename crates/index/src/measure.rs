//! What the same sequences come to by other means, for comparison.
//!
//! The others get the numbers as the thesis has them: addresses as differences to the
//! one before in the same column, everything else as it is; cut into pieces at the same
//! places. SEQUITUR's grammar is written in fixed bits, as form 1 of a piece
//! ([`crate::piece`]).

use crate::column::Kind;
use crate::grammar::Grammar;
use crate::rlese::Work;

/// Bytes, and the look-ups of pairs that compressing took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    pub numbers: u64,
    /// As they are: eight bytes an address, four any other number.
    pub raw: u64,
    /// As they are stored, and by plain SEQUITUR.
    pub stored: u64,
    pub sequitur: u64,
    /// By zstd, addresses as differences; cannot be walked backwards.
    pub zstd: u64,
    pub sequitur_checks: u64,
    /// Pieces that SEQUITUR would have made smaller.
    pub larger: u64,
}

impl Measured {
    /// One piece more, whose numbers (or differences) a grammar produces.
    pub(crate) fn add(
        &mut self,
        kind: Kind,
        list: &[u64],
        grammar: &Grammar,
        stored: u64,
        sequitur: Option<(u64, Work)>,
    ) {
        let width = match kind {
            Kind::Plain => 4,
            Kind::Delta => 8,
        };
        self.numbers += grammar.len();
        self.raw += grammar.len() * width;
        self.stored += stored;
        if let Some((size, work)) = sequitur {
            self.sequitur += size;
            self.sequitur_checks += work.checks;
            self.larger += u64::from(size < stored);
        }
        let mut bytes = Vec::new();
        for symbol in grammar.symbols() {
            bytes.extend_from_slice(&list[symbol as usize].to_le_bytes()[..width as usize]);
        }
        // A compressor without memory says nothing about the bytes.
        self.zstd += zstd::bulk::compress(&bytes, 3).map_or(self.raw, |c| c.len() as u64);
    }

    /// Takes what was measured of other columns in.
    pub fn join(&mut self, other: &Measured) {
        self.numbers += other.numbers;
        self.raw += other.raw;
        self.stored += other.stored;
        self.sequitur += other.sequitur;
        self.zstd += other.zstd;
        self.sequitur_checks += other.sequitur_checks;
        self.larger += other.larger;
    }
}

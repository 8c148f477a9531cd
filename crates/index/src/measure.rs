//! What the same sequences come to by other means, for comparison.

use crate::column::{self, Decoded};
use crate::layouts::Layouts;
use crate::writer::Written;

/// Bytes, and the look-ups of pairs that compressing took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    pub numbers: u64,
    /// As they are: eight bytes an address, four any other number.
    pub raw: u64,
    /// As they are stored, and by plain SEQUITUR in the same coding.
    pub stored: u64,
    pub sequitur: u64,
    /// By zstd, addresses as differences; cannot be walked backwards.
    pub zstd: u64,
    pub checks: u64,
    pub sequitur_checks: u64,
    /// Pieces that SEQUITUR would have made smaller.
    pub larger: u64,
}

/// Measures all columns of a stream. Takes time for every number.
///
/// # Errors
/// If zstd has no memory left.
pub fn measure(written: &Written, layouts: &Layouts<'_>) -> std::io::Result<Measured> {
    let mut all = Measured { checks: written.size.work.checks, ..Measured::default() };
    for (function, columns) in &written.functions {
        for (kind, pieces) in layouts.get(*function).columns.iter().zip(columns) {
            let width = match kind {
                column::Kind::Plain => 4,
                column::Kind::Delta => 8,
            };
            let mut bytes = Vec::new();
            for piece in pieces {
                let Some(decoded) = Decoded::new(&piece.bytes) else { continue };
                all.numbers += decoded.len();
                all.raw += decoded.len() * width;
                all.stored += piece.bytes.len() as u64;
                if let Some((size, work)) = column::sequitur_bytes(&piece.bytes) {
                    all.sequitur += size;
                    all.sequitur_checks += work.checks;
                    all.larger += u64::from(size < piece.bytes.len() as u64);
                }
                for number in decoded.numbers() {
                    bytes.extend_from_slice(&number.to_le_bytes()[..width as usize]);
                }
            }
            if !bytes.is_empty() {
                all.zstd += zstd::bulk::compress(&bytes, 3)?.len() as u64;
            }
        }
    }
    Ok(all)
}

//! What a runtime is asked that shall make one call from a given state, instead of running the program:
//! the numbers that both sides share (`docs/runtime-interface.md`).

/// How the file begins.
pub const MAGIC: [u8; 8] = *b"RLPSWIT1";

/// A module that is needed, by its id; the first one has number 1.
pub const MODULE: u64 = 1;
/// Memory at an address (first word), of a length (second).
pub const MAP: u64 = 2;
/// Bytes of memory, at a place.
pub const WRITE: u64 = 3;
/// An argument: the first word.
pub const ARGUMENT: u64 = 4;
/// The call, of the function at a place. Before it, its tag is appended to the file, and behind it the
/// result.
pub const CALL: u64 = 5;
/// Bytes at a place that are appended to the file; the record's bytes are their number.
pub const READ: u64 = 6;

/// Modules that a file can name.
pub const MAX_MODULES: usize = 64;
/// Arguments of a call.
pub const MAX_ARGUMENTS: usize = 12;

/// Appends a record: tag, three words, and bytes with their length. A place is the number of a module (0:
/// none), a symbol of it, and an offset.
#[cfg(feature = "read")]
pub fn record(out: &mut Vec<u8>, tag: u64, words: [u64; 3], bytes: &[u8]) {
    for word in [tag, words[0], words[1], words[2], bytes.len() as u64] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(bytes);
}

//! The request to a runtime that makes one call from a given state instead of running the program:
//! the constants that both sides share (`docs/runtime-interface.md`).

/// First bytes of the file.
pub const MAGIC: [u8; 8] = *b"RLPSWIT1";

/// A required module, by its id. The first one has number 1.
pub const MODULE: u64 = 1;
/// Memory at an address (first word), of a length (second).
pub const MAP: u64 = 2;
/// Bytes of memory at an address.
pub const WRITE: u64 = 3;
/// An argument: the first word.
pub const ARGUMENT: u64 = 4;
/// The call of the function at an address. Before the call its tag is appended to the file, after
/// it the result.
pub const CALL: u64 = 5;
/// Bytes at an address that are appended to the file. The record's bytes are their number.
pub const READ: u64 = 6;

/// Maximum number of modules in a file.
pub const MAX_MODULES: usize = 64;
/// Maximum number of arguments of a call.
pub const MAX_ARGUMENTS: usize = 12;

/// Appends a record: tag, three words, and bytes with their length. An address is the number of a
/// module (0: none), a symbol of it, and an offset.
#[cfg(feature = "read")]
pub fn record(out: &mut Vec<u8>, tag: u64, words: [u64; 3], bytes: &[u8]) {
    for word in [tag, words[0], words[1], words[2], bytes.len() as u64] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(bytes);
}

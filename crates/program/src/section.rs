//! The on-disk form of a module in the section of an object file.
//!
//! ```text
//! magic "RLPSMODL"   8 bytes
//! version            u32
//! flags              u32, zero
//! length             u64, bytes of payload
//! xxh3-64            u64, of the payload
//! payload            zstd(postcard(Module))
//! ```
//! All numbers are little-endian. The linker concatenates the sections of all objects and may
//! insert zeros between them for alignment; a module starts where the magic follows the zeros.

use crate::model::Module;
use crate::validate::Invalid;
use std::io::Read;
use thiserror::Error;

/// Name of the ELF section. It must not begin with `.rel`: GNU binutils treat such sections as
/// relocations.
pub const NAME: &str = ".model.relapse";

/// First bytes of every module.
pub const MAGIC: [u8; 8] = *b"RLPSMODL";

/// Version of the model and its serialised form. Any change to the types in `model` or `inst`
/// requires a new number.
pub const VERSION: u32 = 6;

/// Required alignment of the section in an object file.
pub const ALIGN: u32 = 16;

/// Size of the header before the payload.
pub const HEADER_LEN: usize = 32;

/// Size limit of an unpacked module. No translation unit of a real compiler approaches it.
const MAX_UNPACKED: u64 = 4 << 30;

/// The reason why a section could not be read. `at` is the offset of the module in the section.
#[derive(Debug, Error)]
pub enum SectionError {
    /// Neither padding nor a module.
    #[error("find a module at byte {at} of the model section: bad magic")]
    Magic {
        /// Offset of the module.
        at: usize,
    },
    /// Written by another version of the compiler driver.
    #[error("read the model at byte {at}: it has version {found}, this program reads version {VERSION}")]
    Version {
        /// Offset of the module.
        at: usize,
        /// The module's version.
        found: u32,
    },
    /// The section ends too early.
    #[error("read the model at byte {at}: it is cut short")]
    Cut {
        /// Offset of the module.
        at: usize,
    },
    /// The payload's hash differs.
    #[error("read the model at byte {at}: its checksum does not match")]
    Checksum {
        /// Offset of the module.
        at: usize,
    },
    /// The payload does not unpack.
    #[error("unpack the model at byte {at}: {reason}")]
    Unpack {
        /// Offset of the module.
        at: usize,
        /// The error of the decompressor or decoder.
        reason: String,
    },
    /// The unpacked payload is not a valid module.
    #[error("check the model at byte {at}: {invalid}")]
    Invalid {
        /// Offset of the module.
        at: usize,
        /// The failed check.
        invalid: Invalid,
    },
    /// The module cannot be serialised.
    #[error("encode the model: {0}")]
    Encode(String),
}

/// Serialises a module to the bytes of its section.
///
/// # Errors
/// Only if the module cannot be serialised or compressed (out of memory).
pub fn encode(module: &Module) -> Result<Vec<u8>, SectionError> {
    let plain = postcard::to_stdvec(module).map_err(|e| SectionError::Encode(e.to_string()))?;
    let payload = zstd::bulk::compress(&plain, 6).map_err(|e| SectionError::Encode(e.to_string()))?;
    let mut out = Vec::with_capacity(HEADER_LEN + payload.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&0u32.to_le_bytes());
    out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    out.extend_from_slice(&xxhash_rust::xxh3::xxh3_64(&payload).to_le_bytes());
    out.extend_from_slice(&payload);
    Ok(out)
}

/// Decodes all modules of a section, in link order, and checks them with [`Module::validate`].
///
/// # Errors
/// The first error; see [`SectionError`].
pub fn decode_all(bytes: &[u8]) -> Result<Vec<Module>, SectionError> {
    let mut modules = Vec::new();
    let mut at = 0;
    loop {
        at += bytes[at..].iter().take_while(|b| **b == 0).count();
        if at == bytes.len() {
            return Ok(modules);
        }
        let (module, used) = decode_one(&bytes[at..], at)?;
        modules.push(module);
        at += used;
    }
}

fn decode_one(bytes: &[u8], at: usize) -> Result<(Module, usize), SectionError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(SectionError::Magic { at });
    }
    let cut = || SectionError::Cut { at };
    let word = |i: usize| -> Option<u64> { Some(u64::from_le_bytes(bytes.get(i..i + 8)?.try_into().ok()?)) };
    let found = word(8).ok_or_else(cut)? as u32;
    if found != VERSION {
        return Err(SectionError::Version { at, found });
    }
    let (length, hash) = (word(16).ok_or_else(cut)?, word(24).ok_or_else(cut)?);
    let length = usize::try_from(length).map_err(|_| cut())?;
    let payload = bytes.get(HEADER_LEN..).and_then(|rest| rest.get(..length)).ok_or_else(cut)?;
    if xxhash_rust::xxh3::xxh3_64(payload) != hash {
        return Err(SectionError::Checksum { at });
    }
    let module = decode_payload(payload).map_err(|reason| SectionError::Unpack { at, reason })?;
    module.validate().map_err(|invalid| SectionError::Invalid { at, invalid })?;
    Ok((module, HEADER_LEN + length))
}

fn decode_payload(payload: &[u8]) -> Result<Module, String> {
    let mut plain = Vec::new();
    zstd::Decoder::new(payload)
        .and_then(|unpacker| unpacker.take(MAX_UNPACKED).read_to_end(&mut plain))
        .map_err(|e| e.to_string())?;
    let (module, rest) = postcard::take_from_bytes(&plain).map_err(|e| e.to_string())?;
    if rest.is_empty() { Ok(module) } else { Err(format!("{} bytes too many", rest.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binutils_do_not_take_the_section_for_relocations() {
        assert!(!NAME.starts_with(".rel"));
    }
}

//! The file that stores a record; `docs/environment-format.md` describes it byte by byte.

use crate::error::{Error, Result};
use crate::record::Record;
use std::io::Read;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"RLPSENV\0";
/// Version of the format; a reader refuses every other.
pub const VERSION: u32 = 1;
/// Magic, version, length and checksum of the packed content.
const HEADER: usize = 8 + 4 + 8 + 8;
/// Maximal unpacked size of a record, whatever its header claims.
const MAX_BYTES: u64 = 4 << 30;
/// Memory is allocated in steps of this size while unpacking.
const STEP: u64 = 16 << 20;
/// Fast: the user waits for the recorder.
const LEVEL: i32 = -3;

/// The record's file in the directory that `record` was given.
pub fn path(directory: &Path) -> PathBuf {
    directory.join("environment.rec")
}

/// Writes the record of a directory, which is created; a file from before is replaced.
pub fn write(directory: &Path, record: &Record) -> Result<()> {
    let path = path(directory);
    let failed = |source| Error::Write { path: path.clone(), source };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let bytes = encode(record).map_err(failed)?;
    // Written completely or not at all.
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    std::io::Write::write_all(&mut file, &bytes).map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Reads the record of a directory.
pub fn read(directory: &Path) -> Result<Record> {
    let path = path(directory);
    let bytes = std::fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    decode(&bytes).map_err(|what| Error::Damaged { path, what })
}

fn encode(record: &Record) -> std::io::Result<Vec<u8>> {
    let plain = postcard::to_stdvec(record).map_err(std::io::Error::other)?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((plain.len() as u64).to_le_bytes());
    bytes.extend(xxhash_rust::xxh3::xxh3_64(&plain).to_le_bytes());
    bytes.extend(zstd::bulk::compress(&plain, LEVEL)?);
    Ok(bytes)
}

/// Any bytes give a record or a reason; memory is bounded by the unpacked size.
pub fn decode(bytes: &[u8]) -> std::result::Result<Record, String> {
    if bytes.len() < HEADER || !bytes.starts_with(MAGIC) {
        return Err("not a record of an environment".to_owned());
    }
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
    let version = number(8) as u32;
    if version != VERSION {
        return Err(format!("its format has version {version}, this program reads version {VERSION}"));
    }
    let (length, sum) = (number(12), number(20));
    if length > MAX_BYTES {
        return Err("its header is damaged".to_owned());
    }
    let mut plain = Vec::with_capacity(length.min(STEP) as usize);
    let unpacked = zstd::Decoder::new(&bytes[HEADER..])
        .and_then(|unpacker| unpacker.take(length.saturating_add(1)).read_to_end(&mut plain));
    if unpacked.is_err() || plain.len() as u64 != length || xxhash_rust::xxh3::xxh3_64(&plain) != sum {
        return Err("it is damaged or cut off".to_owned());
    }
    let (record, rest) =
        postcard::take_from_bytes::<Record>(&plain).map_err(|_| "its content is damaged".to_owned())?;
    match rest.is_empty() && record.is_sound() {
        true => Ok(record),
        false => Err("its content is damaged".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BlobId, Call, Key, KeyId, Write};
    use proptest::prelude::*;

    fn sample() -> Record {
        let write = Write { argument: 1, blob: BlobId(0) };
        Record {
            keys: vec![Key::File(b"/etc/app.conf".to_vec()), Key::Clock],
            blobs: vec![b"mode = fast\n".repeat(20)],
            calls: vec![Call {
                thread: 0,
                number: 0,
                key: KeyId(0),
                detail: 0,
                result: 12,
                offset: 0,
                writes: vec![write],
            }],
            ..Record::default()
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), &sample()).unwrap();
        assert_eq!(read(directory.path()).unwrap(), sample());
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = encode(&sample()).unwrap();
        bytes[8] = 9;
        assert_eq!(decode(&bytes).unwrap_err(), "its format has version 9, this program reads version 1");
        assert_eq!(decode(b"#!/bin/sh").unwrap_err(), "not a record of an environment");
    }

    #[test]
    fn a_large_length_takes_no_memory() {
        let mut bytes = encode(&sample()).unwrap();
        bytes[12..20].copy_from_slice(&(MAX_BYTES).to_le_bytes());
        assert_eq!(decode(&bytes).unwrap_err(), "it is damaged or cut off");
        bytes[12..20].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(decode(&bytes).unwrap_err(), "its header is damaged");
    }

    #[test]
    fn numbers_that_point_nowhere_are_damage() {
        let mut record = sample();
        record.calls[0].key = KeyId(7);
        assert_eq!(decode(&encode(&record).unwrap()).unwrap_err(), "its content is damaged");
    }

    /// Damage with a valid checksum, as an attacker would produce.
    fn resealed(mut plain: Vec<u8>, edits: &[(usize, u8)]) -> Vec<u8> {
        for (at, byte) in edits {
            let at = at % plain.len();
            plain[at] = *byte;
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((plain.len() as u64).to_le_bytes());
        bytes.extend(xxhash_rust::xxh3::xxh3_64(&plain).to_le_bytes());
        bytes.extend(zstd::bulk::compress(&plain, LEVEL).unwrap());
        bytes
    }

    proptest! {
        #[test]
        fn damage_is_an_error_and_no_panic(at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
            let whole = encode(&sample()).unwrap();
            let mut bytes = whole.clone();
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(cut % (bytes.len() + 1));
            prop_assert!(bytes == whole || decode(&bytes).is_err());
        }

        #[test]
        fn forged_content_is_sound_or_refused(edits in prop::collection::vec((any::<usize>(), any::<u8>()), 1..8)) {
            let plain = postcard::to_stdvec(&sample()).unwrap();
            if let Ok(record) = decode(&resealed(plain, &edits)) {
                prop_assert!(record.is_sound());
            }
        }

        #[test]
        fn any_bytes_are_refused_quietly(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(decode(&bytes).is_err());
        }
    }
}

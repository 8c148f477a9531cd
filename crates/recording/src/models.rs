//! Models of the recorded binaries, stored in the recording: `models/<name>`, one file per binary,
//! independent of the number of processes that ran it.
//!
//! The name is a hash of the binary's path and build id, as in the `modules` files, so that a
//! reader of a module can compute the name. This module does not interpret the content.

use crate::damage::RecordingError;
use crate::frames::{self, KIND_MODEL, Packed};
use crate::process::hex;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The file for a binary.
#[must_use]
pub fn file(recording: &Path, binary: &str, build_id: &[u8]) -> PathBuf {
    let mut key = binary.as_bytes().to_vec();
    key.push(0);
    key.extend_from_slice(build_id);
    recording.join("models").join(format!("{:016x}", xxh3_64(&key)))
}

/// The runtime's copy of a binary, which exists until the recording is finished.
#[must_use]
pub fn copy(recording: &Path, build_id: &[u8]) -> PathBuf {
    recording.join("models").join(format!("{}.elf", hex(build_id)))
}

/// Removes these copies, and the directory if no model was stored.
pub fn remove_copies(recording: &Path) {
    let directory = recording.join("models");
    for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|e| e == "elf") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(&directory);
}

/// Stores the bytes for a binary. An existing file is kept.
///
/// # Errors
/// If the file cannot be written.
pub fn write(recording: &Path, binary: &str, build_id: &[u8], content: &[u8]) -> Result<(), RecordingError> {
    let path = file(recording, binary, build_id);
    if path.exists() {
        return Ok(());
    }
    let directory = recording.join("models");
    std::fs::create_dir_all(&directory).map_err(RecordingError::io("make", &directory))?;
    let part = path.with_extension("part");
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 17, File::create(&part)?);
        let length = content.len() as u64;
        frames::write(&mut out, KIND_MODEL, &length.to_le_bytes(), &mut &content[..], length)?;
        out.flush()
    };
    if let Err(e) = write() {
        let _ = std::fs::remove_file(&part);
        return Err(RecordingError::io("write", &path)(e));
    }
    std::fs::rename(&part, &path).map_err(RecordingError::io("write", &path))
}

/// The stored bytes for a binary; `None` if there are none.
///
/// # Errors
/// If the file is damaged.
pub fn read(recording: &Path, binary: &str, build_id: &[u8]) -> Result<Option<Vec<u8>>, RecordingError> {
    let path = file(recording, binary, build_id);
    if !path.exists() {
        return Ok(None);
    }
    let packed = Packed::open(&path, KIND_MODEL)?;
    let length = packed.header.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
    match packed.content(length, &path.display().to_string()) {
        (bytes, None) => Ok(Some(bytes)),
        (_, Some(damage)) => Err(RecordingError::Malformed { path, what: damage.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_path_and_build() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path();
        assert_eq!(read(here, "/bin/a", &[1]).unwrap(), None);
        write(here, "/bin/a", &[1], b"model").unwrap();
        write(here, "/bin/a", &[1], b"not again").unwrap();
        assert_eq!(read(here, "/bin/a", &[1]).unwrap().as_deref(), Some(&b"model"[..]));
        assert_eq!(read(here, "/bin/a", &[2]).unwrap(), None);
        assert_eq!(read(here, "/bin/b", &[1]).unwrap(), None);
        assert_eq!(std::fs::read_dir(here.join("models")).unwrap().count(), 1);
    }

    /// After a change of any byte the hash of the frame or the header does not match.
    #[test]
    fn a_damaged_file_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path();
        let content: Vec<u8> = (0..5000u32).flat_map(u32::to_le_bytes).collect();
        write(here, "a", &[], &content).unwrap();
        let path = file(here, "a", &[]);
        let whole = std::fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(7) {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            std::fs::write(&path, &changed).unwrap();
            assert!(read(here, "a", &[]).is_err(), "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(read(here, "a", &[]).is_err(), "cut at {at}");
        }
    }
}

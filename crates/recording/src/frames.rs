//! Packed files: a header and compressed frames, each with a hash.

use crate::damage::{Damage, RecordingError};
use crate::event::VERSION;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// First bytes of a packed file.
pub const MAGIC: [u8; 8] = *b"RLPSPACK";
/// A packed stream; its header is the fields of the raw file's page.
pub const KIND_STREAM: u32 = 1;
/// A packed modules file; its header is the raw length as u64.
pub const KIND_MODULES: u32 = 2;
/// The model of a binary; its header is the length of the content as u64.
pub const KIND_MODEL: u32 = 3;
/// Maximum raw bytes of a frame.
pub const MAX_FRAME: usize = 1 << 20;

/// Limit of the header size; a larger header is invalid.
const MAX_HEADER: u32 = 4096;
const LEVEL: i32 = 3;

/// Writes `length` bytes of `content` to a packed file.
pub(crate) fn write(
    out: &mut impl Write,
    kind: u32,
    header: &[u8],
    content: &mut impl Read,
    length: u64,
) -> std::io::Result<()> {
    let mut head = Vec::with_capacity(20 + header.len());
    head.extend_from_slice(&MAGIC);
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(&kind.to_le_bytes());
    head.extend_from_slice(&(header.len() as u32).to_le_bytes());
    head.extend_from_slice(header);
    out.write_all(&head)?;
    out.write_all(&xxh3_64(&head).to_le_bytes())?;
    let mut packer = zstd::bulk::Compressor::new(LEVEL)?;
    let mut frame = Vec::with_capacity(MAX_FRAME);
    let mut left = length;
    while left > 0 {
        frame.clear();
        let want = left.min(MAX_FRAME as u64);
        let got = content.by_ref().take(want).read_to_end(&mut frame)? as u64;
        if got < want {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let packed = packer.compress(&frame)?;
        out.write_all(&(frame.len() as u32).to_le_bytes())?;
        out.write_all(&(packed.len() as u32).to_le_bytes())?;
        out.write_all(&xxh3_64(&packed).to_le_bytes())?;
        out.write_all(&packed)?;
        left -= got;
    }
    Ok(())
}

/// A packed file whose header is read and validated.
#[derive(Debug)]
pub struct Packed<R> {
    /// The bytes of the header.
    pub header: Vec<u8>,
    file: R,
}

impl Packed<BufReader<File>> {
    /// Opens a file and validates its header.
    ///
    /// # Errors
    /// If the file cannot be read or its header is damaged.
    pub fn open(path: &Path, kind: u32) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(RecordingError::io("open", path))?;
        Packed::new(BufReader::with_capacity(1 << 17, file), path, kind)
    }
}

impl<R: Read> Packed<R> {
    /// Reads and validates the header. `path` is for messages.
    ///
    /// # Errors
    /// If the header cannot be read or is damaged.
    pub fn new(mut file: R, path: &Path, kind: u32) -> Result<Self, RecordingError> {
        let malformed =
            |what: &str| RecordingError::Malformed { path: path.to_owned(), what: what.to_owned() };
        let cut = || malformed("its header is cut short");
        let mut head =
            read_exactly(&mut file, 20).map_err(RecordingError::io("read", path))?.ok_or_else(cut)?;
        if head[..8] != MAGIC {
            return Err(malformed("it is not a packed recording file"));
        }
        let half = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (version, found, length) = (half(8), half(12), half(16));
        if version != VERSION {
            return Err(RecordingError::Version { path: path.to_owned(), found: version });
        }
        if found != kind || length > MAX_HEADER {
            return Err(malformed("its header is corrupt"));
        }
        let rest = read_exactly(&mut file, length as usize + 8)
            .map_err(RecordingError::io("read", path))?
            .ok_or_else(cut)?;
        let (header, hash) = rest.split_at(length as usize);
        head.extend_from_slice(header);
        if xxh3_64(&head).to_le_bytes() != *hash {
            return Err(malformed("its header is corrupt"));
        }
        Ok(Packed { header: header.to_vec(), file })
    }

    /// Decompresses all complete frames. `total` is the expected number of bytes, `name` the name
    /// of the file in messages.
    pub fn content(mut self, total: u64, name: &str) -> (Vec<u8>, Option<Damage>) {
        // Memory is not reserved for `total` bytes, since `total` may be corrupt.
        let mut content = Vec::new();
        let fault = loop {
            match self.frame(&mut content) {
                Ok(true) => {}
                Ok(false) if content.len() as u64 == total => return (content, None),
                Ok(false) => break "it is cut short".to_owned(),
                Err(what) => break what,
            }
        };
        let damage = Damage {
            what: format!("{name}: {fault}"),
            usable_bytes: content.len() as u64,
            total_bytes: total.max(content.len() as u64),
        };
        (content, Some(damage))
    }

    /// Appends the content of one frame. Returns `false` at the end of the file.
    fn frame(&mut self, content: &mut Vec<u8>) -> Result<bool, String> {
        let fault = |e: std::io::Error| format!("it cannot be read further: {e}");
        let cut = || "a frame is cut short".to_owned();
        let mut first = [0];
        if self.file.read(&mut first).map_err(fault)? == 0 {
            return Ok(false);
        }
        let rest = read_exactly(&mut self.file, 15).map_err(fault)?.ok_or_else(cut)?;
        let half = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        let raw = half(&[first[0], rest[0], rest[1], rest[2]]) as usize;
        let packed = half(&rest[3..7]) as usize;
        let hash = &rest[7..15];
        if raw == 0 || raw > MAX_FRAME || packed > zstd::zstd_safe::compress_bound(MAX_FRAME) {
            return Err("a frame's header is corrupt".to_owned());
        }
        let packed = read_exactly(&mut self.file, packed).map_err(fault)?.ok_or_else(cut)?;
        if xxh3_64(&packed).to_le_bytes() != *hash {
            return Err("a frame's checksum does not match".to_owned());
        }
        let frame =
            zstd::bulk::decompress(&packed, raw).map_err(|e| format!("a frame does not unpack: {e}"))?;
        if frame.len() != raw {
            return Err("a frame has another length than it says".to_owned());
        }
        content.extend_from_slice(&frame);
        Ok(true)
    }
}

/// Returns `None` if the file ends early.
fn read_exactly(file: &mut impl Read, length: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok((bytes.len() == length).then_some(bytes))
}

//! Opens recordings: raw or packed, complete or damaged.
//!
//! Opening reads the small files and the headers of the streams. The events of a stream are read
//! and decompressed on request.

use crate::damage::{Damage, RecordingError};
use crate::decode::{Decoder, usable_prefix};
use crate::event::{VERSION, header};
use crate::frames::{KIND_STREAM, Packed};
use crate::header::StreamHeader;
use crate::manifest::Manifest;
use crate::modules::{self, LoadedModule};
use crate::process::{ProcessInfo, hex};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A recording on disk.
#[derive(Debug)]
pub struct Recording {
    /// Its directory.
    pub path: PathBuf,
    /// `None` if the recorder was killed very early.
    pub manifest: Option<Manifest>,
    /// One for each recorded process image, ordered by pid allocation and by image.
    pub processes: Vec<Process>,
}

/// One process of a recording.
#[derive(Debug)]
pub struct Process {
    /// Name of its directory.
    pub name: String,
    /// Its description.
    pub info: ProcessInfo,
    /// Its modules, sorted by index. Processes with equal modules share them.
    pub modules: Arc<[LoadedModule]>,
    /// Its streams, sorted by number.
    pub streams: Vec<Stream>,
    /// Files that could not be read completely. Damage to events is found when they are read: see
    /// [`Events::damage`].
    pub damage: Vec<Damage>,
}

/// The stream of one thread or signal context.
#[derive(Debug)]
pub struct Stream {
    /// Its header.
    pub header: StreamHeader,
    /// Its file.
    pub path: PathBuf,
    /// Size of that file, or of its used part if it is raw.
    pub stored_bytes: u64,
    packed: bool,
}

/// The events of a stream, in memory.
#[derive(Clone, Debug)]
pub struct Events {
    /// Complete events only.
    pub bytes: Vec<u8>,
    /// Set if events are missing at the end.
    pub damage: Option<Damage>,
}

impl Recording {
    /// Opens the recording in a directory.
    ///
    /// # Errors
    /// If it is not a recording, has another version, or its manifest is malformed. Damaged
    /// processes and streams are not errors here.
    pub fn open(path: &Path) -> Result<Recording, RecordingError> {
        let manifest = Manifest::read(path)?;
        let mut processes = Vec::new();
        let mut known = modules::ModuleCache::default();
        for (name, info) in process_directories(path)? {
            processes.push(Process::open(&path.join(&name), name, info, &mut known)?);
        }
        let ids: Vec<(u32, u32)> = processes.iter().map(|p: &Process| (p.info.pid, p.info.parent)).collect();
        processes.rotate_left(first_allocated_pid(&ids));
        if manifest.is_none() && processes.is_empty() {
            return Err(RecordingError::NotARecording { path: path.to_owned() });
        }
        Ok(Recording { path: path.to_owned(), manifest, processes })
    }

    /// The process from which another was forked.
    #[must_use]
    pub fn fork_parent(&self, process: &Process) -> Option<&Process> {
        let from = process.info.forked_from?;
        self.processes.iter().find(|p| p.info.pid == from.pid && p.info.image == from.image)
    }
}

/// The index of the pid that was allocated first, in a sorted list of pids with their parents. The
/// kernel starts again with small pids after the largest. Then a child has a smaller pid than its
/// parent, and the widest gap in the list is between the pids allocated last and first.
fn first_allocated_pid(ids: &[(u32, u32)]) -> usize {
    let pids: HashSet<u32> = ids.iter().map(|(pid, _)| *pid).collect();
    if !ids.iter().any(|(pid, parent)| pid < parent && pids.contains(parent)) {
        return 0;
    }
    let gaps = ids.windows(2).map(|pair| pair[1].0 - pair[0].0);
    gaps.enumerate().max_by_key(|(_, gap)| *gap).map_or(0, |(at, _)| at + 1)
}

/// Names of process directories and the information in the names, sorted.
///
/// # Errors
/// If the directory cannot be listed.
pub fn process_directories(path: &Path) -> Result<Vec<(String, ProcessInfo)>, RecordingError> {
    let mut found = Vec::new();
    for name in file_names(path)? {
        if let Some(info) = ProcessInfo::from_directory_name(&name)
            && path.join(&name).is_dir()
        {
            found.push((name, info));
        }
    }
    found.sort_by_key(|(_, info)| (info.pid, info.image));
    Ok(found)
}

pub(crate) fn file_names(path: &Path) -> Result<Vec<String>, RecordingError> {
    let entries = std::fs::read_dir(path).map_err(RecordingError::io("open", path))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(RecordingError::io("list", path))?;
        names.extend(entry.file_name().into_string()); // Names that are not UTF-8 are ignored.
    }
    Ok(names)
}

/// The number in `t<number>` or `t<number>.raw`, and whether it is raw.
pub(crate) fn stream_name(name: &str) -> Option<(u32, bool)> {
    let name = name.strip_prefix('t')?;
    let (number, raw) = name.strip_suffix(".raw").map_or((name, false), |n| (n, true));
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some((number.parse().ok()?, raw))
}

impl Process {
    fn open(
        path: &Path,
        name: String,
        named: ProcessInfo,
        known: &mut modules::ModuleCache,
    ) -> Result<Process, RecordingError> {
        let mut damage = Vec::new();
        let info = open_info(path, named, &mut damage)?;
        let modules = modules::open(path, &mut damage, known)?;
        let mut streams: Vec<Stream> = Vec::new();
        let mut files: Vec<(u32, bool, String)> = file_names(path)?
            .into_iter()
            .filter_map(|file| stream_name(&file).map(|(number, raw)| (number, raw, file)))
            .collect();
        files.sort();
        for (number, raw, file) in files {
            // A packed file gets its name only when it is complete, so it takes precedence over a
            // raw file that was not deleted yet.
            if streams.iter().any(|s| s.header.stream == number) {
                continue;
            }
            match Stream::open(&path.join(&file), !raw, &mut damage) {
                Ok(stream) if stream.header.stream == number && stream.belongs_to(&info) => {
                    streams.push(stream);
                }
                Ok(stream) if stream.header.stream == number => damage.push(Damage {
                    what: format!("{name}/{file}: it is a stream of another process"),
                    usable_bytes: 0,
                    total_bytes: stream.stored_bytes,
                }),
                Ok(stream) => damage.push(Damage {
                    what: format!("{name}/{file}: it says it is stream {}", stream.header.stream),
                    usable_bytes: 0,
                    total_bytes: stream.stored_bytes,
                }),
                Err(e) => damage.push(unusable(&path.join(&file), &e)),
            }
        }
        Ok(Process { name, info, modules, streams, damage })
    }

    /// The module with a registration index.
    #[must_use]
    pub fn module(&self, index: u32) -> Option<&LoadedModule> {
        self.modules.binary_search_by_key(&index, |m| m.index).ok().map(|i| &self.modules[i])
    }

    /// The stream with a number.
    #[must_use]
    pub fn stream(&self, number: u32) -> Option<&Stream> {
        self.streams.iter().find(|s| s.header.stream == number)
    }
}

pub(crate) fn unusable(path: &Path, error: &RecordingError) -> Damage {
    let total_bytes = std::fs::metadata(path).map_or(0, |m| m.len());
    Damage { what: error.to_string(), usable_bytes: 0, total_bytes }
}

/// Reads a file; `None` if it does not exist.
pub(crate) fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, RecordingError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(RecordingError::io("read", path)(e)),
    }
}

/// Reads `process.json`, or else `process.raw`, or else the information in the directory's name.
pub(crate) fn open_info(
    path: &Path,
    named: ProcessInfo,
    damage: &mut Vec<Damage>,
) -> Result<ProcessInfo, RecordingError> {
    let mut fault = |file: &str, what: &str, total: usize| {
        let what = format!("{}: {what}", path.join(file).display());
        damage.push(Damage { what, usable_bytes: 0, total_bytes: total as u64 });
    };
    if let Some(text) = read_optional(&path.join("process.json"))? {
        match serde_json::from_slice::<ProcessInfo>(&text) {
            Ok(info) if info.version == VERSION => return Ok(info),
            Ok(info) => fault("process.json", &format!("it has format version {}", info.version), text.len()),
            Err(e) => fault("process.json", &e.to_string(), text.len()),
        }
    } else if let Some(bytes) = read_optional(&path.join("process.raw"))? {
        let mut info = named.clone();
        match info.read_raw(&bytes) {
            Ok(()) => return Ok(info),
            Err(what) => fault("process.raw", &what, bytes.len()),
        }
    } else {
        fault("process.json", "it is missing", 0);
    }
    Ok(named)
}

/// The header page of a raw stream file, and the number of bytes of events that fit in the file.
pub(crate) fn open_raw(path: &Path) -> Result<(File, Vec<u8>, StreamHeader, u64), RecordingError> {
    let mut file = File::open(path).map_err(RecordingError::io("open", path))?;
    let size = file.metadata().map_err(RecordingError::io("read", path))?.len();
    let mut page = Vec::with_capacity(header::LEN);
    file.by_ref()
        .take(header::LEN as u64)
        .read_to_end(&mut page)
        .map_err(RecordingError::io("read", path))?;
    let malformed = |what| RecordingError::Malformed { path: path.to_owned(), what };
    let parsed = StreamHeader::parse(&page).map_err(malformed)?;
    Ok((file, page, parsed, size.saturating_sub(header::LEN as u64)))
}

/// The damage of a raw stream file that is shorter than its header specifies.
pub(crate) fn raw_damage(path: &Path, header: &StreamHeader, room: u64) -> Option<Damage> {
    (header.length > room).then(|| Damage {
        what: format!("{}: it is cut short", path.display()),
        usable_bytes: room,
        total_bytes: header.length,
    })
}

impl Stream {
    /// Whether the stream has the identity of the process. True if the process description is lost.
    fn belongs_to(&self, info: &ProcessInfo) -> bool {
        info.identity.is_empty() || info.identity == hex(&self.header.identity.to_le_bytes())
    }

    fn open(path: &Path, packed: bool, damage: &mut Vec<Damage>) -> Result<Stream, RecordingError> {
        let (header, stored_bytes) = if packed {
            let file = Packed::open(path, KIND_STREAM)?;
            let size = std::fs::metadata(path).map_err(RecordingError::io("read", path))?.len();
            let malformed = |what| RecordingError::Malformed { path: path.to_owned(), what };
            (StreamHeader::parse(&file.header).map_err(malformed)?, size)
        } else {
            let (_, _, header, room) = open_raw(path)?;
            damage.extend(raw_damage(path, &header, room));
            let used = header.length.min(room) + header::LEN as u64;
            (header, used)
        };
        Ok(Stream { header, path: path.to_owned(), stored_bytes, packed })
    }

    /// Reads and decompresses the stream's events.
    ///
    /// # Errors
    /// If the file cannot be opened any more.
    pub fn events(&self) -> Result<Events, RecordingError> {
        let total = self.header.length;
        let (mut bytes, mut damage) = if self.packed {
            Packed::open(&self.path, KIND_STREAM)?.content(total, &self.path.display().to_string())
        } else {
            let (file, _, header, room) = open_raw(&self.path)?;
            let mut bytes = Vec::new();
            file.take(header.length.min(room))
                .read_to_end(&mut bytes)
                .map_err(RecordingError::io("read", &self.path))?;
            (bytes, raw_damage(&self.path, &header, room))
        };
        // Frame hashes protect a packed file. Otherwise every event is checked.
        if damage.is_some() || !self.packed {
            let (usable, fault) = usable_prefix(&bytes);
            if let Some(fault) = fault {
                let what = match damage {
                    Some(known) => known.what,
                    None => format!("{}: failed to {fault}", self.path.display()),
                };
                damage = Some(Damage {
                    what,
                    usable_bytes: usable as u64,
                    total_bytes: total.max(bytes.len() as u64),
                });
                bytes.truncate(usable);
            }
        }
        Ok(Events { bytes, damage })
    }
}

impl Events {
    /// A decoder at the first event.
    #[must_use]
    pub fn decoder(&self) -> Decoder<'_> {
        Decoder::new(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_names() {
        assert_eq!(stream_name("t0"), Some((0, false)));
        assert_eq!(stream_name("t12.raw"), Some((12, true)));
        for other in ["t", "t.raw", "t1.part", "x1", "t+1", "t99999999999"] {
            assert_eq!(stream_name(other), None, "{other}");
        }
    }

    #[test]
    fn an_empty_directory_is_no_recording() {
        let dir = tempfile::tempdir().unwrap();
        let error = Recording::open(dir.path()).unwrap_err();
        assert!(matches!(error, RecordingError::NotARecording { .. }), "{error}");
        assert!(Recording::open(&dir.path().join("nothing")).is_err());
    }

    #[test]
    fn processes_are_in_order_where_pids_begin_again() {
        assert_eq!(first_allocated_pid(&[]), 0);
        assert_eq!(first_allocated_pid(&[(100, 1), (101, 100), (9000, 100)]), 0);
        // 32766 forked 32767, 301 and 302.
        assert_eq!(first_allocated_pid(&[(301, 32766), (302, 32766), (32766, 40), (32767, 32766)]), 2);
        // The parent was not recorded.
        assert_eq!(first_allocated_pid(&[(301, 32000), (32766, 32000)]), 0);
    }
}

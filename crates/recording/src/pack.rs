//! Packs the raw files of a recording when the recorded program has ended.
//!
//! Each packed file is written under a temporary name and renamed when complete; only then is the
//! raw file deleted. At every point, each byte is in at least one of the two files.

use crate::damage::{Damage, RecordingError};
use crate::event::{INCOMPLETE_FILE, header};
use crate::frames::{self, KIND_MODULES, KIND_STREAM};
use crate::manifest::{Manifest, Outcome, replace};
use crate::open::{file_names, open_info, open_raw, process_directories, raw_damage, stream_name};
use crate::process::ProcessInfo;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

const NOT_WRITTEN: &str = "the runtime could not write everything down";

/// The result of packing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Directories of the recorded processes.
    pub processes: Vec<String>,
    /// Number of packed streams.
    pub streams: usize,
    /// Bytes of events before packing.
    pub event_bytes: u64,
    /// Bytes of packed files.
    pub packed_bytes: u64,
    /// Number of events that the runtime counted.
    pub events: u64,
    /// Number of mispredicted loads that the runtime counted.
    pub misses: u64,
    /// Number of calls to code that is not instrumented.
    pub calls: u64,
    /// Number of these calls whose callee is unknown.
    pub opaque: u64,
    /// All reasons why the recording is incomplete, one phrase each.
    pub faults: Vec<String>,
    /// Packed modules files by the hash of their content.
    modules: HashMap<u128, PathBuf>,
}

/// Packs all processes of a recording and writes its manifest: the last step of `relapse record`.
/// It also determines whether the recording is complete, and if not, why.
///
/// # Errors
/// If the directory cannot be listed or the manifest cannot be written. A process that cannot be
/// packed (disk full) stays raw and is reported in [`Summary::faults`].
/// [`Summary::faults`].
pub fn finish(
    recording: &Path,
    manifest: &mut Manifest,
    outcome: Option<Outcome>,
) -> Result<Summary, RecordingError> {
    let mut summary = Summary::default();
    for (name, _) in process_directories(recording)? {
        if let Err(e) = pack_process(&recording.join(&name), &mut summary) {
            summary.faults.push(format!("failed to {e}"));
        }
        summary.processes.push(name);
    }
    note_incomplete(recording, &mut summary)?;
    manifest.outcome = outcome;
    manifest.processes.clone_from(&summary.processes);
    manifest.complete = summary.faults.is_empty();
    manifest.reason = summary.faults.first().cloned();
    manifest.write(recording)?;
    remove(&recording.join(INCOMPLETE_FILE))?;
    Ok(summary)
}

/// Adds the runtime's reports of missing data, unless the fault is already known from a stream's
/// flag.
fn note_incomplete(recording: &Path, summary: &mut Summary) -> Result<(), RecordingError> {
    let path = recording.join(INCOMPLETE_FILE);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(RecordingError::io("read", &path)(e)),
    };
    let mut names: Vec<_> = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
    names.sort();
    names.dedup();
    for line in names {
        let (name, reason) = line.split_once(' ').unwrap_or((&line, ""));
        let directory = recording.join(name).display().to_string();
        if !reason.is_empty() {
            // The reason precedes the faults of the streams, which only show that something is
            // missing.
            summary.faults.insert(0, format!("{directory}: {reason}"));
            continue;
        }
        let said =
            |fault: &String| fault.strip_prefix(&directory).is_some_and(|rest| rest.starts_with(['/', ':']));
        if !summary.faults.iter().any(said) {
            summary.faults.push(format!("{directory}: {NOT_WRITTEN}"));
        }
    }
    Ok(())
}

/// Packs the raw files of one process directory. Packed files are left alone. Adds the results to
/// `summary`.
///
/// # Errors
/// If a file cannot be read or written. The raw files that were not packed yet then still exist.
pub fn pack_process(directory: &Path, summary: &mut Summary) -> Result<(), RecordingError> {
    let name = directory.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let mut damage = Vec::new();
    for file in file_names(directory)? {
        match stream_name(&file) {
            Some((number, true)) => {
                let packed = directory.join(format!("t{number}"));
                match pack_stream(&directory.join(&file), &packed, summary) {
                    Ok(fault) => damage.extend(fault),
                    // A file without a header contains no events. It is kept for manual inspection.
                    Err(RecordingError::Malformed { path, what }) => {
                        summary.faults.push(format!("{}: {what}", path.display()));
                    }
                    Err(e) => return Err(e),
                }
            }
            None if file == "modules.raw" => {
                pack_modules(&directory.join(&file), &directory.join("modules"), summary)?;
            }
            _ => {}
        }
    }
    if !directory.join("process.json").exists() {
        let named = ProcessInfo::from_directory_name(name).unwrap_or_default();
        let info = open_info(directory, named, &mut damage)?;
        let path = directory.join("process.json");
        let text = serde_json::to_string_pretty(&info)
            .map_err(|e| RecordingError::Malformed { path: path.clone(), what: e.to_string() })?;
        replace(&path, (text + "\n").as_bytes())?;
    }
    remove(&directory.join("process.raw"))?;
    summary.faults.extend(damage.iter().map(Damage::to_string));
    Ok(())
}

fn pack_stream(raw: &Path, packed: &Path, summary: &mut Summary) -> Result<Option<Damage>, RecordingError> {
    let (mut file, mut page, parsed, room) = open_raw(raw)?;
    let damage = raw_damage(raw, &parsed, room);
    let length = parsed.length.min(room);
    if let Some(place) = page.get_mut(header::AT_LENGTH..header::AT_LENGTH + 8) {
        place.copy_from_slice(&length.to_le_bytes());
    }
    if parsed.incomplete {
        summary.faults.push(format!("{}: {NOT_WRITTEN}", packed.display()));
    }
    page.truncate(header::FIELDS_END);
    write_packed(packed, KIND_STREAM, &page, &mut file, length, summary)?;
    remove(raw)?;
    summary.streams += 1;
    summary.event_bytes += length;
    summary.events += parsed.events;
    summary.misses += parsed.misses;
    summary.calls += parsed.calls;
    summary.opaque += parsed.opaque;
    Ok(damage)
}

fn pack_modules(raw: &Path, packed: &Path, summary: &mut Summary) -> Result<(), RecordingError> {
    let bytes = std::fs::read(raw).map_err(RecordingError::io("read", raw))?;
    let length = bytes.len() as u64;
    let key = xxh3_128(&bytes);
    // Forks and repeated runs of a program have the same modules: one file with several hard links.
    let is_linked = summary.modules.get(&key).is_some_and(|same| std::fs::hard_link(same, packed).is_ok());
    if !is_linked {
        write_packed(packed, KIND_MODULES, &length.to_le_bytes(), &mut &bytes[..], length, summary)?;
        summary.modules.insert(key, packed.to_owned());
    }
    remove(raw)
}

fn write_packed(
    path: &Path,
    kind: u32,
    header: &[u8],
    content: &mut impl Read,
    length: u64,
    summary: &mut Summary,
) -> Result<(), RecordingError> {
    let part = path.with_extension("part");
    let mut write = || -> std::io::Result<u64> {
        let mut out = BufWriter::with_capacity(1 << 17, File::create(&part)?);
        frames::write(&mut out, kind, header, content, length)?;
        out.flush()?;
        out.get_ref().metadata().map(|m| m.len())
    };
    match write() {
        Ok(size) => {
            std::fs::rename(&part, path).map_err(RecordingError::io("write", path))?;
            summary.packed_bytes += size;
            Ok(())
        }
        Err(e) => {
            // Delete the incomplete packed file: the raw files may need the space.
            let _ = std::fs::remove_file(&part);
            Err(RecordingError::io("write", path)(e))
        }
    }
}

fn remove(path: &Path) -> Result<(), RecordingError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(RecordingError::io("delete", path)(e)),
        _ => Ok(()),
    }
}

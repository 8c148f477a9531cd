//! A recorded process, loaded: its program and its streams, ready to replay.

use crate::error::{Error, Result};
use crate::event_cursor::Stream;
use crate::image::{Image, ModuleRef};
use crate::library::Library;
use recording::header::StreamKind;
use recording::{Process, Recording};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Where binaries are found, and how far streams are replayed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Files to use instead of those that the recording names, for recordings whose binaries have moved: a
    /// file with the recorded build id, whatever its name, else one with the same name.
    pub binaries: Vec<PathBuf>,
    /// If a process was stopped in a loop after its last call: the number of iterations of that loop to
    /// replay; all if not set. A loop that hangs repeats itself.
    pub last_loop: Option<u64>,
}

/// One stream, with everything that precedes it through forks.
#[derive(Clone, Debug)]
pub struct LoadedStream {
    /// Number of the stream in its process.
    pub number: u32,
    /// Thread or signal context.
    pub kind: StreamKind,
    /// The thread that it belongs to; for a signal context, the interrupted one.
    pub parent: u64,
    /// Its events and the state at its start.
    pub stream: Stream,
    /// Bytes of its file.
    pub stored_bytes: u64,
    /// Damage to its file, if any.
    pub damage: Option<String>,
}

/// See the module's documentation.
pub struct LoadedProcess {
    /// Name of its directory in the recording.
    pub name: String,
    /// Its directory in the recording, for data that is stored beside it.
    pub directory: Option<PathBuf>,
    /// Process id when it was recorded.
    pub pid: u32,
    /// The program with its addresses, shared by processes that have the same.
    pub image: Arc<Image>,
    /// All its streams, threads and signal contexts.
    pub streams: Vec<LoadedStream>,
    /// Damage to files other than streams.
    pub damage: Vec<String>,
}

impl LoadedProcess {
    /// Loads the models that the recording kept, or those of the recorded binaries, and the
    /// events of all streams.
    ///
    /// # Errors
    /// Unreadable files, or binaries of another build.
    pub fn load(recording: &Recording, process: &Process, options: &Options) -> Result<LoadedProcess> {
        LoadedProcess::load_from(&Library::default(), recording, process, options, None)
    }

    /// The same, reusing the models that the library has. `after`: a stream that continues this one of its
    /// fork parent, whose events are omitted.
    pub(crate) fn load_from(
        library: &Library,
        recording: &Recording,
        process: &Process,
        options: &Options,
        after: Option<(u32, &Stream)>,
    ) -> Result<LoadedProcess> {
        let mut streams = Vec::new();
        for s in &process.streams {
            let mut stream = Stream {
                initial_stack: s.header.initial_stack,
                time: s.header.time,
                ticked: options
                    .last_loop
                    .map_or(s.header.ticked, |most| s.header.ticked.min(s.header.time.saturating_add(most))),
                sum: Some(s.header.sum),
                incomplete: s.header.incomplete,
                parts: Vec::new(),
            };
            let damage = match after {
                Some((number, parent)) if number == s.header.stream => {
                    stream.initial_stack = parent.initial_stack;
                    stream.parts = vec![Vec::new(); parent.parts.len()];
                    add(s, None, &mut stream)?
                }
                _ => gather(recording, process, s, None, &mut stream, 0)?,
            };
            streams.push(LoadedStream {
                number: s.header.stream,
                kind: s.header.kind,
                parent: s.header.parent_stream,
                stream,
                stored_bytes: s.stored_bytes,
                damage,
            });
        }
        Ok(LoadedProcess {
            name: process.name.clone(),
            directory: Some(recording.path.join(&process.name)),
            pid: process.info.pid,
            image: library.image(&wanted(recording, process, options))?,
            streams,
            damage: process.damage.iter().map(ToString::to_string).collect(),
        })
    }

    /// A stream by its number.
    #[must_use]
    pub fn stream(&self, number: u32) -> Option<&LoadedStream> {
        self.streams.iter().find(|s| s.number == number)
    }
}

/// More consecutive forks than this are a cycle in a damaged recording.
const MAX_FORKS: u32 = 10_000;

/// Events of a stream up to `limit`, after those of its fork parents.
fn gather(
    recording: &Recording,
    process: &Process,
    from: &recording::Stream,
    limit: Option<u64>,
    to: &mut Stream,
    forks: u32,
) -> Result<Option<String>> {
    let mut damage = None;
    if let Some(fork) = from.header.fork {
        let parent = recording
            .fork_parent(process)
            .and_then(|p| Some((p, p.stream(fork.stream)?)))
            .filter(|_| forks < MAX_FORKS)
            .ok_or_else(|| {
                Error::Recording(format!(
                    "process {} continues stream {} of a process that is not in the recording",
                    process.name, fork.stream
                ))
            })?;
        damage = gather(recording, parent.0, parent.1, Some(fork.position), to, forks + 1)?;
    } else {
        to.initial_stack = from.header.initial_stack;
    }
    let own = add(from, limit, to)?;
    Ok(own.or(damage))
}

/// A stream's own events up to `limit`.
fn add(from: &recording::Stream, limit: Option<u64>, to: &mut Stream) -> Result<Option<String>> {
    let events = from.events().map_err(|e| Error::Recording(e.to_string()))?;
    let mut bytes = events.bytes;
    let mut damage = None;
    match limit {
        Some(limit) if limit <= bytes.len() as u64 => bytes.truncate(limit as usize),
        _ => damage = events.damage.map(|d| d.to_string()),
    }
    to.incomplete |= damage.is_some();
    to.parts.push(bytes);
    Ok(damage)
}

/// The process's modules; for a forked process, some may be registered only in its parent.
fn wanted(recording: &Recording, process: &Process, options: &Options) -> Vec<ModuleRef> {
    let mut by_index = BTreeMap::new();
    let build_ids: Vec<Option<Vec<u8>>> = options
        .binaries
        .iter()
        .map(|b| std::fs::read(b).ok().and_then(|bytes| program::binary::build_id(&bytes).ok().flatten()))
        .collect();
    let named = |path: &str, build_id: &[u8]| {
        let same_build =
            build_ids.iter().position(|id| !build_id.is_empty() && id.as_deref() == Some(build_id));
        let same_name =
            || options.binaries.iter().position(|b| b.file_name() == std::path::Path::new(path).file_name());
        same_build.or_else(same_name).map(|i| options.binaries[i].display().to_string())
    };
    let mut next = Some(process);
    for _ in 0..MAX_FORKS {
        let Some(p) = next else { break };
        for m in p.modules.iter() {
            let given = named(&m.path, &m.build_id);
            let kept_in = given.is_none().then(|| recording.path.clone());
            let path = given.unwrap_or_else(|| m.path.clone());
            by_index.entry(m.index).or_insert_with(|| ModuleRef {
                index: m.index,
                id: m.id,
                path,
                build_id: m.build_id.clone(),
                addresses: m.addresses.clone(),
                base: m.load_address,
                recording: kept_in,
            });
        }
        next = recording.fork_parent(p);
    }
    by_index.into_values().collect()
}

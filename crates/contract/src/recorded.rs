//! Intended differences between two recordings that were made elsewhere. The versions' trees are unknown, so
//! they are reconstructed from the sources that the recordings name.
//!
//! A source is used if it is unchanged since it was compiled. Sources with the same name in both versions,
//! relative to the directory that contains all sources of a version, correspond, and so do those that were
//! only renamed ([`changes::difference`]). Lines of unavailable sources are assumed to be unmoved: then fewer
//! calls have the same execution index, and they are paired by their entry states.

use crate::checking::{Checking, Wanted};
use crate::error::{Error, Result};
use crate::intended::Intended;
use changes::{DiffOptions, Difference};
use program::model::source_hash;
use recording::Recording;
use replay::image::Image;
use replay::process::{LoadedProcess, Options};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The contracts' verdicts about the process with this number in recordings of good and bad.
///
/// # Errors
/// If a recording cannot be read, a contract is invalid, or there is none.
pub fn intended(recordings: [&Recording; 2], numbers: [usize; 2], wanted: &Wanted) -> Result<Intended> {
    let load = |side: usize| {
        let recording = recordings[side];
        let number = numbers[side];
        let recorded = recording.processes.get(number).ok_or_else(|| {
            Error::Recording(format!("find process {number} in {}", recording.path.display()))
        })?;
        Ok::<_, Error>(LoadedProcess::load(recording, recorded, &Options::default())?)
    };
    let processes = [load(0)?, load(1)?];
    let sources = [Sources::of(&processes[0].image), Sources::of(&processes[1].image)];
    let difference = difference(&sources)?;
    let map = |file: &str, line: u32| difference.map_line_to_good(file, line);
    let mut checking = Checking::new(wanted);
    let [good, bad] = &processes;
    checking.processes(0, numbers, [good, bad], [&sources[0].root, &sources[1].root], &map)?;
    let missing = std::mem::take(&mut checking.missing);
    if checking.is_empty() {
        return Err(missing.into_iter().next().unwrap_or(Error::NothingToCheck));
    }
    checking.notes.extend(missing.iter().map(|error| format!("failed to {error}")));
    Ok(checking.intended())
}

/// The sources of a version.
struct Sources {
    /// The directory that contains all of them.
    root: PathBuf,
    /// Those that are unchanged since compilation, by path relative to the root.
    texts: BTreeMap<PathBuf, Vec<u8>>,
}

impl Sources {
    fn of(image: &Image) -> Sources {
        let mut paths: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for (_, loaded) in image.modules() {
            let model = &*loaded.model;
            for function in model.functions.iter().filter(|f| f.line > 0) {
                let path = PathBuf::from(model.file_path(function.file));
                let hash = model.file_hashes.get(function.file as usize).copied().unwrap_or(0);
                // System headers belong to no version.
                if path.is_absolute() && !path.starts_with("/usr") {
                    paths.insert(explain::align::keys::tidy(&path), hash);
                }
            }
        }
        let mut root = paths.keys().next().and_then(|path| path.parent()).map(Path::to_owned);
        for path in paths.keys() {
            while root.as_ref().is_some_and(|root| !path.starts_with(root)) {
                root = root.as_deref().and_then(Path::parent).map(Path::to_owned);
            }
        }
        let root = root.unwrap_or_else(|| PathBuf::from("/"));
        let is_as_compiled = |(path, hash): (PathBuf, u64)| {
            let bytes = std::fs::read(&path).ok()?;
            let name = path.strip_prefix(&root).ok()?.to_owned();
            (hash != 0 && source_hash(&bytes) == hash).then_some((name, bytes))
        };
        let texts = paths.into_iter().filter_map(is_as_compiled).collect();
        Sources { root, texts }
    }
}

/// The difference between the sources of both versions.
fn difference(sources: &[Sources; 2]) -> Result<Difference> {
    let scratch = tempfile::tempdir().map_err(write_error)?;
    let trees = ["good", "bad"].map(|name| scratch.path().join(name));
    for (sources, tree) in sources.iter().zip(&trees) {
        std::fs::create_dir_all(tree).map_err(write_error)?;
        for (name, bytes) in &sources.texts {
            let path = tree.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(tree)).map_err(write_error)?;
            std::fs::write(&path, bytes).map_err(write_error)?;
        }
    }
    Ok(changes::difference(&trees[0], &trees[1], &DiffOptions::default())?)
}

fn write_error(error: std::io::Error) -> Error {
    Error::Recording(format!("write sources to the directory for temporary files: {error}"))
}

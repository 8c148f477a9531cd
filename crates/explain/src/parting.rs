//! Where two recorded runs begin to differ, on the path to the failure.
//!
//! Nothing is built or run: two recordings of one test, with two versions, are sliced from their first
//! observed difference, and corresponding steps are compared. The difference originates where a value or a
//! decision differs although all its operands are equal. Lines of both versions are matched by their texts,
//! so the sources must be unchanged since compilation.

use crate::align::{executed_lines, keys::tidy};
use crate::answer::{Cause, Place};
use crate::case::{Case, RecordedRun};
use crate::failing;
use crate::observe::{RunOutput, options};
use changes::{DiffOptions, difference};
use program::names::is_library;
use recording::Recording;
use replay::process::LoadedProcess;
use slice::{Slicer, SlicerOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// The maximum number of lines of each version in the answer.
const MOST: usize = 3;

/// Longer runs are not compared: slices of them take minutes.
const MOST_STEPS: u64 = 100_000_000;

/// Why the origin of the difference cannot be determined. Texts fit after "failed to".
#[derive(Debug, Error)]
pub enum Error {
    /// A recording cannot be opened.
    #[error(transparent)]
    Open(#[from] recording::RecordingError),
    /// The sources cannot be read.
    #[error("compare the versions: {0}")]
    Changes(#[from] changes::Error),
    /// This source file has changed since compilation.
    #[error("compare the versions: {0} is not as it was when the program was compiled")]
    Edited(String),
    /// A run has this many instructions, more than are compared.
    #[error(
        "compare the versions: a run has {0} instructions, more than the {MOST_STEPS} up to which it is done"
    )]
    TooLong(u64),
    /// No source file of one version has a partner in the other.
    #[error("compare the versions: no source file of the one corresponds to one of the other")]
    NoSources,
}

/// The leaf of a path that [`parting`] found: where the runs begin to differ.
#[must_use]
pub fn origin(way: &Cause) -> &Cause {
    let mut at = way;
    while let Some(next) = at.children.first() {
        at = next;
    }
    at
}

/// Compares two recorded runs. The answer has one path for each line where they begin to differ, from the
/// observed failure to that line, the nearest first.
///
/// # Errors
/// If a recording cannot be opened, or the sources cannot be compared.
pub fn parting(good: &Path, bad: &Path) -> Result<Vec<Cause>, Error> {
    let [good_ran, bad_ran] = [Ran::read(good)?, Ran::read(bad)?];
    let files = [good_ran.files, bad_ran.files];
    let (roots, only) = roots(&files[0], &files[1]).ok_or(Error::NoSources)?;
    let difference =
        difference(&roots[0], &roots[1], &DiffOptions { only: Some(only), ..DiffOptions::default() })?;
    let [good_root, bad_root] = roots;
    let case = Case::of_recordings(
        &difference,
        [
            RecordedRun { recording: good, root: good_root, output: good_ran.output },
            RecordedRun { recording: bad, root: bad_root, output: bad_ran.output },
        ],
    );
    let loaded = case.load();
    let findings = loaded.slice(&case);
    let mut ways = findings.partings(&case, &loaded.observed.observation, MOST);
    // The other version's path to the same line is a duplicate.
    let mut seen: BTreeSet<(String, u32)> = BTreeSet::new();
    ways.retain(|way| {
        let origin = origin(way);
        let place = |place: &Option<Place>| place.as_ref().map(|p| (p.file.clone(), p.line));
        let known = [place(&origin.good_place), place(&origin.place)];
        match known.into_iter().flatten().next() {
            Some(place) => seen.insert(place),
            None => false,
        }
    });
    Ok(ways)
}

/// The files that a recorded run executed.
struct Ran {
    output: RunOutput,
    /// Source files with executed lines, without those of installed libraries.
    files: BTreeSet<PathBuf>,
}

impl Ran {
    fn read(recording: &Path) -> Result<Ran, Error> {
        let recording = Recording::open(recording)?;
        let mut files = BTreeSet::new();
        for process in &recording.processes {
            // A process that does not replay contributes no files; the slice reports the error.
            let Ok(loaded) = LoadedProcess::load(&recording, process, &options()) else { continue };
            let slicer = Slicer::new(&loaded, SlicerOptions::default());
            let steps = (0..loaded.streams.len() as u32).filter_map(|stream| slicer.steps(stream).ok()).sum();
            if steps > MOST_STEPS {
                return Err(Error::TooLong(steps));
            }
            let Ok(lines) = executed_lines(&loaded) else { continue };
            let own = lines.into_keys().map(|(file, _)| file).filter(|file| !is_library(file));
            let own: BTreeSet<PathBuf> = own.map(|file| tidy(Path::new(&file))).collect();
            let edited = loaded.image.modules().flat_map(|(_, m)| m.model.edited_files());
            if let Some(file) = edited.map(|file| tidy(Path::new(&file))).find(|file| own.contains(file)) {
                return Err(Error::Edited(file.display().to_string()));
            }
            files.extend(own);
        }
        Ok(Ran { output: failing::output(&recording), files })
    }
}

/// The pair of root directories that most files agree on, and the files of each below its root.
fn roots(good: &BTreeSet<PathBuf>, bad: &BTreeSet<PathBuf>) -> Option<([PathBuf; 2], [Vec<PathBuf>; 2])> {
    let mut votes: BTreeMap<[PathBuf; 2], usize> = BTreeMap::new();
    for file in bad {
        let same_name = good.iter().filter(|other| other.file_name() == file.file_name());
        let best = same_name.map(|other| (common_end(other, file), other)).max();
        if let Some((length, other)) = best {
            *votes.entry([without_end(other, length), without_end(file, length)]).or_default() += 1;
        }
    }
    let most = votes.into_iter().max_by_key(|(_, votes)| *votes);
    // `old.c` and `new.c`: files with different names are paired by their texts.
    let roots =
        most.map_or_else(|| Some([common_root(good)?, common_root(bad)?]), |(roots, _)| Some(roots))?;
    let below = |files: &BTreeSet<PathBuf>, root: &Path| -> Vec<PathBuf> {
        files.iter().filter_map(|file| file.strip_prefix(root).ok()).map(Path::to_owned).collect()
    };
    let only = [below(good, &roots[0]), below(bad, &roots[1])];
    Some((roots, only))
}

/// The common ancestor directory of all files.
fn common_root(files: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let mut root = files.first()?.parent()?.to_owned();
    while !files.iter().all(|file| file.starts_with(&root)) {
        root.pop();
    }
    Some(root)
}

/// The number of trailing components that two paths have in common.
fn common_end(a: &Path, b: &Path) -> usize {
    let parts = |path: &Path| -> Vec<_> {
        path.components()
            .rev()
            .filter(|c| matches!(c, Component::Normal(_)))
            .map(|c| c.as_os_str().to_owned())
            .collect()
    };
    parts(a).iter().zip(&parts(b)).take_while(|(a, b)| a == b).count()
}

fn without_end(path: &Path, components: usize) -> PathBuf {
    path.ancestors().nth(components).unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_what_most_files_agree_on() {
        let set = |files: &[&str]| files.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
        let good = set(&["/a/old/src/main.c", "/a/old/src/list.c", "/a/old/lib/list.c"]);
        let bad = set(&["/b/new/src/main.c", "/b/new/lib/list.c", "/b/new/src/extra.c"]);
        let (roots, only) = roots(&good, &bad).unwrap();
        assert_eq!(roots, [PathBuf::from("/a/old"), PathBuf::from("/b/new")]);
        let names = |files: &[PathBuf]| files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>();
        assert_eq!(names(&only[0]), ["lib/list.c", "src/list.c", "src/main.c"]);
        assert_eq!(names(&only[1]), ["lib/list.c", "src/extra.c", "src/main.c"]);
        let (roots, only) = super::roots(&set(&["/a/old.c"]), &set(&["/a/new.c"])).unwrap();
        assert_eq!(roots, [PathBuf::from("/a"), PathBuf::from("/a")]);
        assert_eq!([names(&only[0]), names(&only[1])], [["old.c"], ["new.c"]]);
        assert!(super::roots(&good, &set(&[])).is_none());
    }
}

//! Reconstructs an input: the bytes of each origin, changed or not, and the places where the program expects
//! them.

use crate::engine::TermContext;
use crate::inputs::Origin;
use recording::process::ProcessInfo;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Bytes that the run did not read are filled with blanks.
const FILLER: u8 = b' ';

/// The bytes of a run's inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The bytes of each origin, from its first byte to the last known one; of files and arguments to the
    /// end.
    pub parts: BTreeMap<Origin, Vec<u8>>,
    /// Number of bytes before the last known one that are unknown.
    pub unread: u64,
}

impl Input {
    /// The input with the given values of its variables. Bytes of a file that the run did not read come from
    /// the file as it is now; those of an argument come from the recording.
    #[must_use]
    pub fn with(world: &TermContext, info: &ProcessInfo, value: &dyn Fn(u32) -> u128) -> Input {
        let mut input = Input::default();
        for (number, origin) in world.variables.origins.iter().enumerate() {
            let known = world.variables.of(number as u32);
            let Some(last) = known.last() else { continue };
            let mut bytes = match origin {
                Origin::Argument(n) => {
                    info.arguments.get(*n as usize).map(|a| a.bytes().to_vec()).unwrap_or_default()
                }
                Origin::File(path) => {
                    std::fs::read(Path::new(&info.directory).join(path)).unwrap_or_default()
                }
                _ => Vec::new(),
            };
            let have = bytes.len() as u64;
            if have <= last.0 {
                bytes.resize(last.0 as usize + 1, FILLER);
                input.unread += last.0 + 1 - have - known.iter().filter(|k| k.0 >= have).count() as u64;
            }
            for (offset, variable) in known {
                bytes[offset as usize] = value(variable) as u8;
            }
            input.parts.insert(origin.clone(), bytes);
        }
        input
    }

    /// The arguments, including the program's name.
    #[must_use]
    pub fn arguments(&self, info: &ProcessInfo) -> Vec<Vec<u8>> {
        let given = info.arguments.iter().enumerate();
        given
            .map(|(n, a)| {
                let changed = self.parts.get(&Origin::Argument(n as u32)).cloned();
                changed.unwrap_or_else(|| a.bytes().to_vec())
            })
            .collect()
    }

    /// Standard input.
    #[must_use]
    pub fn stdin(&self) -> &[u8] {
        self.parts.get(&Origin::Stdin).map_or(&[], Vec::as_slice)
    }

    /// Files with their new content, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.parts.iter().filter_map(|(origin, bytes)| match origin {
            Origin::File(path) => Some((path.as_str(), bytes.as_slice())),
            _ => None,
        })
    }

    /// Environment variables with their new values.
    pub fn environment(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.parts.iter().filter_map(|(origin, bytes)| match origin {
            Origin::Environment(name) => Some((name.as_str(), bytes.as_slice())),
            _ => None,
        })
    }

    /// Writes the input into a directory: `stdin`, `argv.N`, `env.NAME`, and files under `files/`. Returns
    /// the paths.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        for (origin, bytes) in &self.parts {
            let name = match origin {
                Origin::Stdin => PathBuf::from("stdin"),
                Origin::Argument(n) => format!("argv.{n}").into(),
                Origin::Environment(name) => format!("env.{}", name.replace('/', "_")).into(),
                Origin::File(path) => Path::new("files").join(plain(Path::new(path))),
                Origin::Stream(kind, n) => format!("{kind}.{n}").into(),
            };
            let path = directory.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(&path, bytes)?;
            written.push(path);
        }
        Ok(written)
    }

    /// Creates a directory that looks like the working directory of the run, but with the changed files.
    /// Files that the program writes (`written`) are copied so that the originals do not change. So are small
    /// files, up to a limit. Everything else is a symbolic link. Returns false if a changed file has an
    /// absolute path and cannot be replaced.
    ///
    /// # Errors
    /// If something cannot be created.
    pub fn stage(&self, info: &ProcessInfo, written: &[String], to: &Path) -> io::Result<bool> {
        let from = Path::new(&info.directory);
        let mut own: BTreeMap<PathBuf, Option<&[u8]>> = BTreeMap::new();
        let mut complete = true;
        for (path, bytes) in self.files() {
            if Path::new(path).is_absolute() {
                complete = false;
            } else {
                own.insert(PathBuf::from(path), Some(bytes));
            }
        }
        for path in written.iter().map(PathBuf::from).filter(|p| p.is_relative()) {
            own.entry(path).or_insert(None);
        }
        copy(from, to, &own)?;
        Ok(complete)
    }
}

/// On another path, a program may write to a file that it only read before, or did not access. Up to this
/// many bytes and entries are copied rather than linked, breadth-first from the top.
const MAX_COPIED_BYTES: u64 = 4 << 20;
const MAX_COPIED_ENTRIES: usize = 300;

/// Copies and links the entries of a directory, except those that `own` replaces.
fn copy(from: &Path, to: &Path, own: &BTreeMap<PathBuf, Option<&[u8]>>) -> io::Result<()> {
    let device = std::fs::metadata(from)?.dev();
    let (mut room, mut entries) = (MAX_COPIED_BYTES, MAX_COPIED_ENTRIES);
    let mut directories = VecDeque::from([PathBuf::new()]);
    while let Some(inside) = directories.pop_front() {
        std::fs::create_dir_all(to.join(&inside))?;
        let listed = match std::fs::read_dir(from.join(&inside)) {
            // The directory is not readable, so the program cannot read it either.
            Err(_) if inside != Path::new("") => continue,
            listed => listed?,
        };
        for entry in listed {
            let entry = entry?;
            let path = inside.join(entry.file_name());
            if own.contains_key(&path) {
                continue;
            }
            let few = entries > 0;
            entries = entries.saturating_sub(1);
            let kind = entry.file_type()?;
            // Another mounted file system is not a plain directory, or a large one.
            let few = few && entry.metadata().is_ok_and(|m| m.dev() == device);
            if own.keys().any(|p| p.starts_with(&path)) && entry.path().is_dir() || few && kind.is_dir() {
                directories.push_back(path);
                continue;
            }
            let size = entry.metadata().map_or(u64::MAX, |m| m.len());
            if few && kind.is_file() && size <= room && copied(&entry.path(), &to.join(&path)).is_ok() {
                room -= size;
            } else if to.join(&path).symlink_metadata().is_err() {
                std::os::unix::fs::symlink(entry.path(), to.join(&path))?;
            }
        }
        for (path, bytes) in own.iter().filter(|(p, _)| p.parent() == Some(&inside)) {
            match bytes {
                Some(bytes) => std::fs::write(to.join(path), bytes)?,
                None if from.join(path).is_file() => copied(&from.join(path), &to.join(path))?,
                None => {}
            }
        }
    }
    Ok(())
}

/// Copies a file with its times, which the program may read.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::copy(from, to)?;
    let times = std::fs::metadata(from)?;
    let times = std::fs::FileTimes::new().set_modified(times.modified()?).set_accessed(times.accessed()?);
    // Not every file system stores times.
    let _ = std::fs::File::open(to).and_then(|file| file.set_times(times));
    Ok(())
}

/// A path without its root and without `..` components.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|c| matches!(c, Component::Normal(_))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> TermContext {
        let mut world = TermContext::default();
        let stdin = world.variables.origin(&Origin::Stdin);
        let argument = world.variables.origin(&Origin::Argument(1));
        let file = world.variables.origin(&Origin::File("in/x.txt".into()));
        world.variables.byte(stdin, 0, b'a');
        world.variables.byte(stdin, 2, b'c');
        world.variables.byte(argument, 1, b'y');
        world.variables.byte(file, 1, b'l');
        world
    }

    #[test]
    fn an_input_is_put_together_from_what_is_known() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("in")).unwrap();
        std::fs::write(dir.path().join("in/x.txt"), "old text").unwrap();
        std::fs::write(dir.path().join("in/other"), "other").unwrap();
        std::fs::write(dir.path().join("log"), "before").unwrap();
        let info = ProcessInfo {
            arguments: vec!["./p".into(), "xyz".into()],
            directory: dir.path().display().to_string(),
            ..ProcessInfo::default()
        };
        let world = world();
        let input =
            Input::with(&world, &info, &|v| if v == 3 { b'L'.into() } else { world.variables.value(v) });
        assert_eq!(input.stdin(), b"a c");
        assert_eq!(input.unread, 1);
        assert_eq!(input.arguments(&info), [b"./p".to_vec(), b"xyz".to_vec()]);
        assert_eq!(input.files().collect::<Vec<_>>(), [("in/x.txt", &b"oLd text"[..])]);

        let out = tempfile::tempdir().unwrap();
        input.write(out.path()).unwrap();
        assert_eq!(std::fs::read(out.path().join("files/in/x.txt")).unwrap(), b"oLd text");

        let stage = out.path().join("stage");
        assert!(input.stage(&info, &["log".into()], &stage).unwrap());
        assert_eq!(std::fs::read(stage.join("in/x.txt")).unwrap(), b"oLd text");
        assert_eq!(std::fs::read(stage.join("in/other")).unwrap(), b"other");
        // Writes to the staged files do not change the originals.
        for (file, before) in [("log", "before"), ("in/other", "other")] {
            std::fs::write(stage.join(file), "after").unwrap();
            assert_eq!(std::fs::read_to_string(dir.path().join(file)).unwrap(), before);
        }
    }
}

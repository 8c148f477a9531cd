//! An input put together again: the bytes of each origin, changed or not, and
//! where they must lie for the program to read them.

use crate::engine::World;
use crate::inputs::Origin;
use recording::process::ProcessInfo;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Bytes that nobody read stand as blanks.
const UNREAD: u8 = b' ';

/// The bytes of a run's inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    pub parts: BTreeMap<Origin, Vec<u8>>,
    /// Bytes between known ones that the run did not read.
    pub unread: u64,
}

impl Input {
    /// The input with these values of its variables. What a run did not read of
    /// a file comes from the file as it is now, and of an argument from the
    /// recording.
    #[must_use]
    pub fn with(world: &World, info: &ProcessInfo, value: &dyn Fn(u32) -> u128) -> Input {
        let mut input = Input::default();
        for (number, origin) in world.variables.origins.iter().enumerate() {
            let known = world.variables.of(number as u32);
            let Some(last) = known.last() else { continue };
            let mut bytes = match origin {
                Origin::Argument(n) => {
                    info.arguments.get(*n as usize).map(|a| a.clone().into_bytes()).unwrap_or_default()
                }
                Origin::File(path) => {
                    std::fs::read(Path::new(&info.directory).join(path)).unwrap_or_default()
                }
                _ => Vec::new(),
            };
            let have = bytes.len() as u64;
            if have <= last.0 {
                bytes.resize(last.0 as usize + 1, UNREAD);
                input.unread += last.0 + 1 - have - known.iter().filter(|k| k.0 >= have).count() as u64;
            }
            for (offset, variable) in known {
                bytes[offset as usize] = value(variable) as u8;
            }
            input.parts.insert(origin.clone(), bytes);
        }
        input
    }

    /// The arguments with the program's name.
    #[must_use]
    pub fn arguments(&self, info: &ProcessInfo) -> Vec<Vec<u8>> {
        let given = info.arguments.iter().enumerate();
        given
            .map(|(n, a)| {
                let changed = self.parts.get(&Origin::Argument(n as u32)).cloned();
                changed.unwrap_or_else(|| a.clone().into_bytes())
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

    /// Writes the input into a directory: `stdin`, `argv.N`, `env.NAME`, and
    /// files under `files/`. Returns the paths.
    ///
    /// # Errors
    /// What cannot be written.
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

    /// Makes a directory look like the one the program ran in, but with the
    /// changed files: everything else is a link, except what the program writes
    /// to (`written`), which is copied so that the original stays as it is.
    /// False if a file lies outside and cannot be replaced.
    ///
    /// # Errors
    /// What cannot be made.
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
        link(from, to, Path::new(""), &own)?;
        Ok(complete)
    }
}

/// Links the entries of a directory, but those with files of our own.
fn link(from: &Path, to: &Path, inside: &Path, own: &BTreeMap<PathBuf, Option<&[u8]>>) -> io::Result<()> {
    std::fs::create_dir_all(to.join(inside))?;
    for entry in std::fs::read_dir(from.join(inside))? {
        let entry = entry?;
        let path = inside.join(entry.file_name());
        let target = to.join(&path);
        if own.contains_key(&path) {
            continue;
        }
        if own.keys().any(|p| p.starts_with(&path)) && entry.path().is_dir() {
            link(from, to, &path, own)?;
        } else {
            std::os::unix::fs::symlink(entry.path(), target)?;
        }
    }
    for (path, bytes) in own.iter().filter(|(p, _)| p.parent() == Some(inside)) {
        match bytes {
            Some(bytes) => std::fs::write(to.join(path), bytes)?,
            None if from.join(path).is_file() => {
                std::fs::copy(from.join(path), to.join(path))?;
            }
            None => {}
        }
    }
    Ok(())
}

/// A path without root and without ways up.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|c| matches!(c, Component::Normal(_))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> World {
        let mut world = World::default();
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
        std::fs::write(stage.join("log"), "after").unwrap();
        assert_eq!(std::fs::read(dir.path().join("log")).unwrap(), b"before");
    }
}

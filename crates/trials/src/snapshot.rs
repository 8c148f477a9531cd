//! The contents of a tree at one time.

use crate::error::{At, Error};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Every file and directory of a tree, at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) files: HashMap<PathBuf, Stamp>,
    pub(crate) directories: HashSet<PathBuf>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stamp {
    pub modified: SystemTime,
    size: u64,
    inode: u64,
}

impl Snapshot {
    pub fn of(root: &Path) -> Result<Snapshot, Error> {
        let mut snapshot = Snapshot::default();
        walk(root, Path::new(""), &mut snapshot)?;
        Ok(snapshot)
    }
}

fn walk(root: &Path, below: &Path, snapshot: &mut Snapshot) -> Result<(), Error> {
    let directory = root.join(below);
    for entry in fs::read_dir(&directory).at("read", &directory)? {
        let entry = entry.at("read", &directory)?;
        let path = below.join(entry.file_name());
        // A file may vanish during the walk, if a process that is being killed removes it.
        let Ok(found) = entry.metadata() else { continue };
        if found.is_dir() {
            walk(root, &path, snapshot)?;
            snapshot.directories.insert(path);
        } else {
            let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let stamp = Stamp { modified, size: found.len(), inode: found.ino() };
            snapshot.files.insert(path, stamp);
        }
    }
    Ok(())
}

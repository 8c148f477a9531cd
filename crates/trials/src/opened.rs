//! Finds the files of a tree that a build and a test open.
//!
//! A change in a file that neither the build nor the test opens cannot be guilty. The kernel reports which
//! files are opened (`inotify`), by any process: compilers, scripts, the program itself, and processes that
//! outlive their parents. Compared with tracing system calls, this costs the watched processes nothing and
//! covers all of them; one watch per directory is needed.
//!
//! In case of doubt a file counts as *opened*, because a file that is wrongly left out would be considered
//! innocent:
//!
//! * A file that is renamed or linked (`mv`, `ln`) counts as opened, because later reads use a name that does
//!   not identify it.
//! * A symbolic link counts if its target file was opened, or any file below its target directory, under any
//!   name; and if it leads out of the tree.
//! * All names of a file with several hard links count if one of them was opened.
//!
//! Not visible: a file that is only queried (`stat`, as `make` does for times, or `test -f`). Whether such a
//! file *exists* can matter although no process opens it. Files in directories that are created while
//! watching may be opened before the watch exists; all files found in such a directory count as opened,
//! because creating a file opens it. For files that existed when watching began, every open is seen, or
//! [`Opened::complete`] is false.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// A tree that is being watched.
#[derive(Debug)]
pub struct OpenedFiles {
    /// Closed to make the thread read the remaining events and end.
    open: PipeWriter,
    reader: JoinHandle<Watch>,
}

/// The files of a tree that were opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Files and symbolic links, relative to the root of the tree.
    pub files: BTreeSet<PathBuf>,
    /// Whether every open in the tree was seen. If not, the absence of a file in `files` is not evidence.
    pub complete: bool,
}

impl OpenedFiles {
    /// Starts watching. Earlier opens do not count.
    ///
    /// # Errors
    /// If the system cannot provide an inotify instance, pipe or thread. A lack of watches is not an error,
    /// see [`Opened::complete`].
    pub fn watch(root: &Path) -> io::Result<OpenedFiles> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let mut watch = Watch::new(root)?;
        // All directories are listed before the first watch is set: listing a watched directory is an event,
        // and many of them would fill the queue.
        let mut directories = vec![PathBuf::new()];
        let mut next = 0;
        while next < directories.len() {
            let below = watch.list(&directories[next].clone(), false);
            directories.extend(below);
            next += 1;
        }
        for directory in directories {
            watch.add(directory);
        }
        let (closed, open) = io::pipe()?;
        let name = "opened files".to_owned();
        let reader = std::thread::Builder::new().name(name).spawn(move || watch.read(&closed))?;
        Ok(OpenedFiles { open, reader })
    }

    /// Stops watching. Events are queued before an `open` returns, so the result contains everything opened
    /// by processes that have ended.
    #[must_use]
    pub fn finish(self) -> Opened {
        drop(self.open);
        match self.reader.join() {
            Ok(watch) => watch.opened(),
            Err(_) => Opened { files: BTreeSet::new(), complete: false },
        }
    }
}

#[derive(Debug)]
struct Watch {
    inotify: OwnedFd,
    root: PathBuf,
    /// For each watch the names that its directory has had, relative to the root.
    directories: HashMap<i32, BTreeSet<PathBuf>>,
    /// The names of each file that existed at the beginning, by device and inode.
    names: HashMap<(u64, u64), Vec<PathBuf>>,
    /// The targets of symbolic links, as far as they are in the tree.
    links: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    files: BTreeSet<PathBuf>,
    complete: bool,
}

/// An event for one name in a watched directory.
struct WatchEvent {
    watch: i32,
    what: ReadFlags,
    name: Option<PathBuf>,
}

impl Watch {
    fn new(root: PathBuf) -> io::Result<Watch> {
        Ok(Watch {
            inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            root,
            directories: HashMap::new(),
            names: HashMap::new(),
            links: BTreeMap::new(),
            files: BTreeSet::new(),
            complete: true,
        })
    }

    /// Records the contents of a directory and returns its subdirectories.
    fn list(&mut self, directory: &Path, is_new: bool) -> Vec<PathBuf> {
        let mut below = Vec::new();
        let entries = match fs::read_dir(self.root.join(directory)) {
            Ok(entries) => entries,
            // Created and removed again.
            Err(_) if is_new => return below,
            Err(_) => {
                self.complete = false;
                return below;
            }
        };
        for entry in entries.flatten() {
            let path = directory.join(entry.file_name());
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                below.push(path);
            } else if found.is_symlink() {
                self.link(path);
            } else if is_new {
                self.files.insert(path);
            } else {
                self.names.entry((found.dev(), found.ino())).or_default().push(path);
            }
        }
        below
    }

    fn add(&mut self, directory: PathBuf) -> bool {
        let flags = WatchFlags::OPEN
            | WatchFlags::CREATE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        match inotify::add_watch(&self.inotify, self.root.join(&directory), flags) {
            // A directory that was moved keeps its watch, and its files keep their old names.
            Ok(watch) => self.directories.entry(watch).or_default().insert(directory),
            Err(Errno::NOENT | Errno::NOTDIR) => false,
            Err(_) => {
                self.complete = false;
                false
            }
        }
    }

    /// Reads until the pipe is closed and the queue is empty.
    fn read(mut self, closed: &PipeReader) -> Watch {
        // New directories are listed one at a time: listing each one is itself an event, and the queue must
        // be emptied in between.
        let mut pending = Vec::new();
        let mut last = false;
        loop {
            let happened = self.drain();
            let idle = happened.is_empty();
            for event in happened {
                self.note(&event, &mut pending);
            }
            if let Some(directory) = pending.pop() {
                if self.add(directory.clone()) {
                    pending.extend(self.list(&directory, true));
                }
            } else if last && idle {
                return self;
            } else if !last {
                let mut ready =
                    [PollFd::new(&self.inotify, PollFlags::IN), PollFd::new(closed, PollFlags::IN)];
                match poll(&mut ready, None) {
                    Ok(_) => last = !ready[1].revents().is_empty(),
                    Err(Errno::INTR) => {}
                    Err(_) => {
                        self.complete = false;
                        return self;
                    }
                }
            }
        }
    }

    fn drain(&mut self) -> Vec<WatchEvent> {
        let mut happened = Vec::new();
        let mut buffer = [MaybeUninit::uninit(); 64 << 10];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => happened.push(WatchEvent {
                    watch: event.wd(),
                    what: event.events(),
                    name: event.file_name().map(|n| PathBuf::from(OsStr::from_bytes(n.to_bytes()))),
                }),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return happened,
                Err(_) => {
                    self.complete = false;
                    return happened;
                }
            }
        }
    }

    fn note(&mut self, event: &WatchEvent, pending: &mut Vec<PathBuf>) {
        if event.what.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
            self.complete = false;
        }
        let (Some(name), Some(directories)) = (&event.name, self.directories.get(&event.watch)) else {
            return;
        };
        for path in directories.iter().map(|d| d.join(name)).collect::<Vec<_>>() {
            if event.what.contains(ReadFlags::ISDIR) {
                if event.what.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
                    pending.push(path);
                }
            } else if event.what.intersects(ReadFlags::OPEN | ReadFlags::MOVED_FROM) {
                self.files.insert(path);
            } else if let Ok(found) = self.root.join(&path).symlink_metadata() {
                // A new name: of a link, or of a file that already has another one.
                if found.is_symlink() {
                    self.link(path);
                } else if let Some(names) = self.names.get(&(found.dev(), found.ino()))
                    && found.nlink() > 1
                {
                    self.files.extend(names.iter().cloned());
                }
            }
        }
    }

    fn link(&mut self, link: PathBuf) {
        let target = self.root.join(&link).canonicalize().ok();
        let targets = self.links.entry(link.clone()).or_default();
        match target.as_deref().map(|t| t.strip_prefix(&self.root)) {
            Some(Ok(target)) => {
                targets.insert(target.to_owned());
            }
            // Opens of its target are not visible.
            Some(Err(_)) => {
                self.files.insert(link);
            }
            None => {}
        }
    }

    fn opened(mut self) -> Opened {
        // The target of a link may have been created after the link.
        for link in self.links.keys().cloned().collect::<Vec<_>>() {
            self.link(link);
        }
        let mut files = self.files;
        for names in self.names.values().filter(|names| names.len() > 1) {
            if names.iter().any(|name| files.contains(name)) {
                files.extend(names.iter().cloned());
            }
        }
        let leads_to_opened = |target: &PathBuf| {
            // Paths are ordered by components, so descendants follow directly.
            files.range(target.clone()..).next().is_some_and(|file| file.starts_with(target))
        };
        let links: Vec<PathBuf> = self
            .links
            .iter()
            .filter(|(_, to)| to.iter().any(leads_to_opened))
            .map(|(l, _)| l.clone())
            .collect();
        files.extend(links);
        Opened { files, complete: self.complete }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn opened_by(root: &Path, script: &str) -> Vec<String> {
        let watch = OpenedFiles::watch(root).unwrap();
        let status = Command::new("sh").args(["-c", script]).current_dir(root).status().unwrap();
        assert!(status.success(), "{script}");
        let opened = watch.finish();
        assert!(opened.complete);
        opened.files.iter().map(|f| f.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn files_that_processes_read_are_seen_and_others_are_not() {
        let root = tree(&[("a", "1"), ("b", "2"), ("deep/er/c", "3"), ("deep/d", "4")]);
        assert_eq!(
            opened_by(root.path(), "cat a deep/er/c >/dev/null; ls -R >/dev/null"),
            ["a", "deep/er/c"]
        );
        assert_eq!(opened_by(root.path(), "test -f b"), [""; 0], "looking is not opening");
    }

    #[test]
    fn what_ran_before_does_not_count() {
        let root = tree(&[("a", "1"), ("b", "2")]);
        fs::read(root.path().join("a")).unwrap();
        assert_eq!(opened_by(root.path(), "cat b >/dev/null"), ["b"]);
    }

    #[test]
    fn programs_that_are_executed_count() {
        let root = tree(&[("run.sh", "#!/bin/sh\ncat data >/dev/null\n"), ("data", ""), ("other", "")]);
        let script = "chmod +x run.sh && ./run.sh";
        assert_eq!(opened_by(root.path(), script), ["data", "run.sh"]);
        fs::copy("/bin/true", root.path().join("binary")).unwrap();
        assert_eq!(opened_by(root.path(), "./binary"), ["binary"]);
    }

    #[test]
    fn a_compiler_opens_headers_through_relative_paths() {
        let root = tree(&[
            ("src/main.c", "#include \"../include/used.h\"\nint main(void) { return USED; }\n"),
            ("include/used.h", "#include \"deeper.h\"\n"),
            ("include/deeper.h", "#define USED 0\n"),
            ("include/unused.h", ""),
        ]);
        let found = opened_by(root.path(), "cd src && clang-22 -c main.c -o main.o");
        for used in ["src/main.c", "include/used.h", "include/deeper.h"] {
            assert!(found.iter().any(|f| f == used), "{used}: {found:?}");
        }
        assert!(!found.iter().any(|f| f == "include/unused.h"));
    }

    #[test]
    fn a_link_and_what_it_leads_to_both_count() {
        let root = tree(&[("real/a", "1"), ("real/b", "2"), ("other", "3")]);
        let link = |to: &str, from: &str| std::os::unix::fs::symlink(to, root.path().join(from)).unwrap();
        link("real/a", "to_a");
        link("to_a", "chain");
        link("real", "directory");
        link("other", "to_other");
        link("/etc", "outside");
        link("nothing", "dangling");
        let expected = ["chain", "directory", "outside", "real/a", "to_a"];
        assert_eq!(opened_by(root.path(), "cat to_a >/dev/null"), expected);
        assert_eq!(opened_by(root.path(), "cat directory/a >/dev/null"), expected);
        let expected = ["directory", "outside", "real/b"];
        assert_eq!(opened_by(root.path(), "cat directory/b >/dev/null"), expected);
    }

    #[test]
    fn a_link_that_is_made_meanwhile_counts() {
        let root = tree(&[("a", "1")]);
        assert_eq!(opened_by(root.path(), "ln -s a l && cat l >/dev/null"), ["a", "l"]);
    }

    #[test]
    fn files_with_another_name_count() {
        let root = tree(&[("a", "1"), ("b", "2"), ("c", "3"), ("d/e", "4"), ("f", "5")]);
        fs::hard_link(root.path().join("a"), root.path().join("a2")).unwrap();
        assert_eq!(opened_by(root.path(), "cat a2 >/dev/null"), ["a", "a2"]);
        let found = opened_by(root.path(), "mkdir new && ln b new/b && sleep 0.2 && ln c c2 && sleep 0.2");
        assert!(found.contains(&"c".to_owned()), "{found:?}");
        assert!(opened_by(root.path(), "mv f g && cat g >/dev/null").contains(&"f".to_owned()));
        let found = opened_by(root.path(), "mv d moved && cat moved/e >/dev/null");
        assert!(found.contains(&"d/e".to_owned()), "{found:?}");
    }

    #[test]
    fn new_directories_are_followed() {
        let root = tree(&[("a", "1")]);
        let script =
            "mkdir -p x/y && sleep 0.3 && echo hi > x/y/z && mkdir q && echo hi > q/early && sleep 0.3";
        assert_eq!(opened_by(root.path(), script), ["q/early", "x/y/z"]);
    }

    #[test]
    fn a_large_tree_does_not_fill_the_queue() {
        // In memory, because disks take long to remove so many directories.
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        for i in 0..10_000 {
            fs::create_dir_all(root.path().join(format!("{}/{i}", i % 100))).unwrap();
        }
        fs::write(root.path().join("7/7/last"), "").unwrap();
        assert_eq!(opened_by(root.path(), "cat 7/7/last"), ["7/7/last"]);
    }

    #[test]
    fn an_overflow_is_told() {
        let root = tree(&[("a", "1"), ("b", "2")]);
        let limit: usize =
            fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
        let root_path = root.path().canonicalize().unwrap();
        let mut watch = Watch::new(root_path.clone()).unwrap();
        watch.add(PathBuf::new());
        // No thread reads; equal consecutive events would be merged.
        for i in 0..=limit {
            fs::File::open(root_path.join(if i % 2 == 0 { "a" } else { "b" })).unwrap();
        }
        let (closed, open) = io::pipe().unwrap();
        drop(open);
        assert!(!watch.read(&closed).opened().complete);
    }

    #[test]
    fn what_is_no_directory_is_refused() {
        let root = tree(&[("a", "1")]);
        assert!(OpenedFiles::watch(&root.path().join("a")).is_err());
        assert!(OpenedFiles::watch(&root.path().join("none")).is_err());
    }
}

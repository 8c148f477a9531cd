//! Sources of Debian packages, without changing the machine's list of repositories.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::package::Package;
use crate::shell::{self, Result};
use crate::tools::DEFAULT_TIMEOUT;

/// A fixed release, whose sources no longer change.
const RELEASE: &str = "bookworm";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The source repository of the machine's package archive.
fn repository() -> Result<String> {
    let mut list = Command::new("apt-get");
    list.args(["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]);
    let listed = shell::capture(&mut list, DEFAULT_TIMEOUT)?.stdout;
    let listed = String::from_utf8_lossy(&listed);
    let mut repositories = listed.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    match repositories.find(|words| words.get(1..) == Some(&[RELEASE, "main"])) {
        Some(words) => Ok(format!("deb-src [signed-by={KEYS}] {} {RELEASE} main\n", words[0])),
        None => Err(format!("the machine has no packages of Debian {RELEASE}, whose sources are built here")),
    }
}

/// Package lists and downloaded archives.
#[derive(Debug)]
pub struct Archive {
    home: PathBuf,
}

impl Archive {
    /// Reads the package lists, once.
    pub fn open(home: PathBuf) -> Result<Archive> {
        let archive = Archive { home };
        for part in ["lists/partial", "cache/archives/partial", "files"] {
            let dir = archive.home.join(part);
            fs::create_dir_all(&dir).map_err(|error| format!("failed to make {}: {error}", dir.display()))?;
        }
        shell::write(&archive.home.join("sources.list"), &repository()?)?;
        let read = archive.home.join("lists/read");
        if !read.exists() {
            archive.apt(&["update", "-qq"])?;
            shell::write(&read, "")?;
        }
        Ok(archive)
    }

    fn apt(&self, words: &[&str]) -> Result<()> {
        let at = |option: &str, part: &str| format!("{option}={}", self.home.join(part).display());
        let mut command = Command::new("apt-get");
        for option in [
            at("Dir::Etc::SourceList", "sources.list"),
            "Dir::Etc::SourceParts=/dev/null".to_owned(),
            at("Dir::State::Lists", "lists"),
            at("Dir::Cache", "cache"),
        ] {
            command.arg("-o").arg(option);
        }
        command.args(words).current_dir(self.home.join("files"));
        let outcome = shell::capture(&mut command, DEFAULT_TIMEOUT)?;
        if outcome.status.success() {
            return Ok(());
        }
        Err(format!("apt-get {}: {}", words.join(" "), outcome.complaint()))
    }

    /// Unpacks the package into a new directory.
    pub fn unpack(&self, package: &Package, to: &Path) -> Result<()> {
        let found = match self.description(&package.source) {
            Some(found) => found,
            None => {
                self.apt(&["source", "-qq", "--download-only", &package.source])?;
                self.description(&package.source)
                    .ok_or_else(|| format!("apt-get brought no {}", package.source))?
            }
        };
        if to.exists() {
            fs::remove_dir_all(to).map_err(|error| format!("failed to remove {}: {error}", to.display()))?;
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)
                .map_err(|error| format!("failed to make {}: {error}", parent.display()))?;
        }
        let mut command = Command::new("dpkg-source");
        command.args(["--no-check", "-q"]);
        if !package.patched {
            command.arg("--skip-patches");
        }
        let outcome = shell::capture(command.arg("-x").arg(found).arg(to), DEFAULT_TIMEOUT)?;
        if outcome.status.success() { Ok(()) } else { Err(format!("dpkg-source: {}", outcome.complaint())) }
    }

    /// The file that lists the archives of a package.
    fn description(&self, source: &str) -> Option<PathBuf> {
        let entries = fs::read_dir(self.home.join("files")).ok()?;
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.strip_prefix(source).is_some_and(|rest| rest.starts_with('_')) && name.ends_with(".dsc")
            })
            .collect();
        found.sort();
        found.pop()
    }
}

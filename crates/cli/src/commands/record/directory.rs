//! The directory of a new recording.

use crate::failure::{Exit, Failure};
use recording::event::INCOMPLETE_FILE;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// The default name.
const DEFAULT: &str = "relapse-recording";

/// Makes the directory of a new recording and returns its absolute path.
///
/// The inner error: the directory cannot be made, but the command may still run.
pub fn prepare(named: Option<&Path>, force: bool) -> Result<Result<PathBuf, String>, Failure> {
    let made = match named {
        Some(directory) => {
            clear(directory, force)?;
            std::fs::create_dir_all(directory).map(|()| directory.to_owned())
        }
        None => create_numbered(Path::new(DEFAULT)),
    };
    let made = made.and_then(|directory| {
        // Check before the program runs that the directory is writable.
        let probe = directory.join(".probe");
        std::fs::write(&probe, [])?;
        std::fs::remove_file(&probe)?;
        let directory = directory.canonicalize()?;
        prepare_for_others(&directory)?;
        Ok(directory)
    });
    let shown = named.unwrap_or(Path::new(DEFAULT)).display();
    Ok(made.map_err(|error| format!("failed to write to {shown}: {error}")))
}

/// Processes may drop root privileges. They are recorded if the directory belongs to their user; processes of
/// other users can at least report in `incomplete` that they are not recorded.
fn prepare_for_others(directory: &Path) -> std::io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let complaints = directory.join(INCOMPLETE_FILE);
    std::fs::write(&complaints, [])?;
    std::fs::set_permissions(&complaints, Permissions::from_mode(0o666))?;
    // If this fails, binaries are read after the command has ended, as without root privileges.
    let owner = std::fs::metadata(directory)?.uid();
    let models = directory.join("models");
    if owner != 0 && std::fs::create_dir(&models).is_ok() {
        chown(&models, Some(owner), None)?;
    }
    Ok(())
}

/// `base`, or `base.2` and so on: an earlier recording is never overwritten without `--force`.
fn create_numbered(base: &Path) -> std::io::Result<PathBuf> {
    for n in 1u32.. {
        let mut name = base.as_os_str().to_owned();
        if n > 1 {
            name.push(format!(".{n}"));
        }
        match std::fs::create_dir(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            result => return result.map(|()| PathBuf::from(name)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Removes an earlier recording from the directory, or refuses to.
fn clear(directory: &Path, force: bool) -> Result<(), Failure> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        if directory.exists() && !directory.is_dir() {
            return Err(Failure::new(
                Exit::Usage,
                format_args!("{} is not a directory", directory.display()),
            )
            .hint("Name a directory that is empty or does not exist yet."));
        }
        return Ok(());
    };
    let entries: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    if entries.is_empty() {
        return Ok(());
    }
    if !force {
        return Err(Failure::new(Exit::Usage, format_args!("{} is not empty", directory.display()))
            .hint("Name another directory, or say --force to replace the recording in it."));
    }
    // Remove only files of a recording: a mistyped path must not delete a home directory.
    if let Some(stranger) = entries.iter().find(|e| !belongs(e)) {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "{} holds {}, which is not part of a recording",
                directory.display(),
                stranger.display()
            ),
        )
        .hint("--force replaces recordings only. Name another directory."));
    }
    for entry in entries {
        let removed =
            if entry.is_dir() { std::fs::remove_dir_all(&entry) } else { std::fs::remove_file(&entry) };
        removed.map_err(|error| {
            Failure::failed_to(Exit::Environment, format_args!("remove {}: {error}", entry.display()))
        })?;
    }
    Ok(())
}

/// `manifest.json`, `incomplete`, `models/` and `p<pid>.<n>/`
fn belongs(entry: &Path) -> bool {
    let name = entry.file_name().unwrap_or_default().to_string_lossy();
    let process = || {
        let (pid, image) = name.strip_prefix('p')?.split_once('.')?;
        (pid.parse::<u32>().is_ok() && image.parse::<u32>().is_ok()).then_some(())
    };
    name == "manifest.json"
        || name == INCOMPLETE_FILE
        || (entry.is_dir() && (name == "models" || process().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_recording_stays() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("run");
        let made: Vec<_> = (0..3).map(|_| create_numbered(&base).unwrap()).collect();
        assert_eq!(made, [base.clone(), dir.path().join("run.2"), dir.path().join("run.3")]);
    }

    #[test]
    fn force_replaces_recordings_only() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("p123.0")).unwrap();
        std::fs::write(dir.path().join("manifest.json"), "{}").unwrap();
        assert_eq!(prepare(Some(dir.path()), false).unwrap_err().exit, Exit::Usage);
        assert!(prepare(Some(dir.path()), true).unwrap().is_ok());
        // For root, a file exists in which processes of other users can report that they are not recorded.
        let left = std::fs::read_dir(dir.path()).unwrap().flatten();
        assert!(left.map(|entry| entry.file_name()).all(|name| name == INCOMPLETE_FILE));

        std::fs::write(dir.path().join("thesis.tex"), "").unwrap();
        assert_eq!(prepare(Some(dir.path()), true).unwrap_err().exit, Exit::Usage);
        assert!(dir.path().join("thesis.tex").exists());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_said_but_does_not_stop_the_command() {
        let inner = prepare(Some(Path::new("/proc/relapse/run")), false).unwrap();
        assert!(inner.unwrap_err().starts_with("failed to write to /proc/relapse/run"));
    }
}

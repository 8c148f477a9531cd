//! Where a new recording goes.

use crate::failure::{Exit, Failure};
use recording::event::INCOMPLETE_FILE;
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// Used when the user names none.
const DEFAULT: &str = "relapse-recording";

/// Makes the directory of a new recording and returns its absolute path.
///
/// Inner error: it cannot be made, but the command may run all the same.
pub fn prepare(named: Option<&Path>, force: bool) -> Result<Result<PathBuf, String>, Failure> {
    let made = match named {
        Some(directory) => {
            clear(directory, force)?;
            std::fs::create_dir_all(directory).map(|()| directory.to_owned())
        }
        None => create_numbered(Path::new(DEFAULT)),
    };
    let made = made.and_then(|directory| {
        // Said before the program runs, not found out by it.
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

/// Processes may give up the rights of root. They are recorded if the directory belongs to their user;
/// others can at least say that they are not.
fn prepare_for_others(directory: &Path) -> std::io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let complaints = directory.join(INCOMPLETE_FILE);
    std::fs::write(&complaints, [])?;
    std::fs::set_permissions(&complaints, Permissions::from_mode(0o666))?;
    // Without it binaries are read when the command has ended, as they are for everybody.
    let owner = std::fs::metadata(directory)?.uid();
    let models = directory.join("models");
    if owner != 0 && std::fs::create_dir(&models).is_ok() {
        chown(&models, Some(owner), None)?;
    }
    Ok(())
}

/// `base`, or `base.2` and so on: an earlier recording is never overwritten unasked.
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

/// Makes sure that nothing of an earlier recording is in the way.
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
    // Only what belongs to a recording goes: a slip of the hand must not cost a home directory.
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
        // For a user who is root a file is there in which others may complain.
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

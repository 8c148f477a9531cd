//! Runs programs, and locates directories.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Errors of tasks are sentences for the user.
pub type Result<T> = std::result::Result<T, String>;

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Cargo's target directory.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => {
            let dir = PathBuf::from(dir);
            if dir.is_absolute() { dir } else { root().join(dir) }
        }
        None => root().join("target"),
    }
}

/// The cargo that started this process.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// A command as a single line, as a user would type it.
pub fn shown(command: &Command) -> String {
    let mut words = vec![short(command.get_program())];
    words.extend(command.get_args().map(|arg| {
        let word = arg.to_string_lossy();
        if word.is_empty() || word.contains([' ', '"', '\'', '$', '*']) {
            format!("'{word}'")
        } else {
            word.into_owned()
        }
    }));
    words.join(" ")
}

fn short(program: &OsStr) -> String {
    let path = Path::new(program);
    path.file_name().unwrap_or(program).to_string_lossy().into_owned()
}

/// Prints the command and runs it with inherited input and output.
pub fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", shown(command));
    let status = command.status().map_err(|error| format!("failed to run {}: {error}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} {}", shown(command), ended(status))) }
}

/// How a process ended, in words.
pub fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

/// Finds a program in `PATH`.
pub fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// The result of a finished program.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub took: Duration,
    pub timed_out: bool,
}

impl Outcome {
    /// The beginning of its standard error.
    pub fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        text.lines().take(20).collect::<Vec<_>>().join("\n")
    }
}

/// Runs a program to its end or until a timeout, and captures its output.
pub fn capture(command: &mut Command, limit: Duration) -> Result<Outcome> {
    let text = shown(command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("failed to run {text}: {error}"))?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let (status, timed_out) =
        wait(&mut child, limit).map_err(|error| format!("failed to wait for {text}: {error}"))?;
    let took = start.elapsed();
    Ok(Outcome {
        status,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
        took,
        timed_out,
    })
}

/// Reads a pipe in a thread, so that the child never blocks on it.
fn drain<R: Read + Send + 'static>(pipe: Option<R>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // After an error, the bytes read so far are kept.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn wait(child: &mut Child, limit: Duration) -> std::io::Result<(ExitStatus, bool)> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        if start.elapsed() > limit {
            child.kill()?;
            return Ok((child.wait()?, true));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Creates an empty directory; existing content is removed.
pub fn create_empty_dir(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(|error| format!("failed to remove {}: {error}", path.display()))?;
    }
    fs::create_dir_all(path).map_err(|error| format!("failed to make {}: {error}", path.display()))
}

/// Writes a file; the error names it.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(|error| format!("failed to make {}: {error}", dir.display()))?;
    }
    fs::write(path, content).map_err(|error| format!("failed to write {}: {error}", path.display()))
}

/// Copies a directory recursively.
pub fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(|error| format!("failed to make {}: {error}", to.display()))?;
    let entries =
        fs::read_dir(from).map_err(|error| format!("failed to read {}: {error}", from.display()))?;
    for entry in entries.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_tree(&path, &target)?;
        } else {
            fs::copy(&path, &target)
                .map_err(|error| format!("failed to copy {}: {error}", path.display()))?;
        }
    }
    Ok(())
}

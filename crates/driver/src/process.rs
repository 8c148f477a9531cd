//! Running the compiler's steps: child processes, their standard input, the log.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::response;

/// Runs programs and remembers where to log them.
#[derive(Debug, Default)]
pub struct Runner {
    /// Commands are appended to this file, for debugging.
    pub log: Option<PathBuf>,
    /// Where response files may be put.
    pub temp: PathBuf,
}

/// Longer command lines go through a response file: the kernel's limit is 2 MiB, the
/// environment included.
const LONG_COMMAND: usize = 256 << 10;

/// Where diagnostics go. Always to the user; a cache wants to have them as well.
#[derive(Debug)]
pub enum DiagnosticSink {
    Direct,
    Kept(Vec<u8>),
}

impl DiagnosticSink {
    /// Shows `bytes` to the user.
    pub fn write(&mut self, bytes: &[u8]) {
        // If standard error is closed there is nobody to tell.
        let _ = io::stderr().write_all(bytes);
        if let DiagnosticSink::Kept(kept) = self {
            kept.extend_from_slice(bytes);
        }
    }

    /// What was said, if it was kept.
    pub fn kept(&self) -> &[u8] {
        match self {
            DiagnosticSink::Direct => &[],
            DiagnosticSink::Kept(kept) => kept,
        }
    }
}

impl Runner {
    /// Runs a program that talks to the user: its output is ours.
    /// `input` replaces standard input.
    pub fn run(
        &self,
        program: &Path,
        args: &[OsString],
        input: Option<&[u8]>,
        sink: &mut DiagnosticSink,
    ) -> io::Result<i32> {
        self.log_command(program, args);
        let mut command = Command::new(program);
        command.args(self.shortened(args)?);
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        if let DiagnosticSink::Kept(_) = sink {
            command.stderr(Stdio::piped());
        }
        let mut child = command.spawn()?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        // Both at once: a child that speaks before it has read all must not wait for us.
        std::thread::scope(|scope| {
            scope.spawn(|| feed(stdin, input.unwrap_or_default()));
            stderr.map_or(Ok(()), |stderr| forward(stderr, sink))
        })?;
        Ok(exit_code(child.wait()?))
    }

    /// Runs a program and keeps what it says. Returns its exit code and its words.
    pub fn run_captured(&self, program: &Path, args: &[OsString]) -> io::Result<(i32, Vec<u8>)> {
        self.log_command(program, args);
        let output = Command::new(program)
            .args(self.shortened(args)?)
            .stdin(Stdio::null())
            .stdout(Stdio::inherit())
            .stderr(Stdio::piped())
            .spawn()?
            .wait_with_output()?;
        Ok((exit_code(output.status), output.stderr))
    }

    /// The same words, by way of a response file if there are very many.
    fn shortened(&self, args: &[OsString]) -> io::Result<Vec<OsString>> {
        if args.iter().map(|arg| arg.len() + 9).sum::<usize>() < LONG_COMMAND {
            return Ok(args.to_vec());
        }
        let mut file = tempfile::Builder::new().prefix("words-").tempfile_in(&self.temp)?;
        for arg in args {
            file.write_all(&response::quote(arg))?;
            file.write_all(b"\n")?;
        }
        // It goes with the whole temporary folder.
        let (_, path) = file.keep().map_err(|error| error.error)?;
        let mut word = OsString::from("@");
        word.push(path);
        Ok(vec![word])
    }

    /// Writes a line to the log.
    pub fn log_line(&self, text: &str) {
        let Some(path) = &self.log else { return };
        // A log that cannot be written must not disturb the build.
        let _ = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(format!("{text}\n").as_bytes()));
    }

    fn log_command(&self, program: &Path, args: &[OsString]) {
        if self.log.is_some() {
            let words = std::iter::once(program.as_os_str()).chain(args.iter().map(OsString::as_os_str));
            let line: Vec<String> = words
                .map(|word: &OsStr| String::from_utf8_lossy(&response::quote(word)).into_owned())
                .collect();
            self.log_line(&line.join(" "));
        }
    }
}

/// Writes all of `bytes` to a child's standard input and closes it. A child that
/// does not read everything is not an error of ours.
fn feed(stdin: Option<std::process::ChildStdin>, bytes: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(bytes);
    }
}

/// Passes on what a child says, as it says it.
fn forward(mut stderr: std::process::ChildStderr, sink: &mut DiagnosticSink) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match stderr.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => sink.write(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A process ended by a signal counts as 128 + signal, as in a shell.
fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(1))
}

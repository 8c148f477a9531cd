//! Runs the compiler's steps: child processes, their standard input, the log.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::response;

/// Runs programs and logs their command lines.
#[derive(Debug, Default)]
pub struct Runner {
    /// Commands are appended to this file, for debugging.
    pub log: Option<PathBuf>,
    /// Directory for response files.
    pub temp: PathBuf,
}

/// Longer command lines use a response file: the kernel's limit is 2 MiB, including the
/// environment.
const MAX_COMMAND_LENGTH: usize = 256 << 10;

/// The destination of diagnostics: the user, and a buffer if a cache stores them.
#[derive(Debug)]
pub enum DiagnosticSink {
    Direct,
    Kept(Vec<u8>),
}

impl DiagnosticSink {
    /// Shows `bytes` to the user.
    pub fn write(&mut self, bytes: &[u8]) {
        // A closed standard error is not an error.
        let _ = io::stderr().write_all(bytes);
        if let DiagnosticSink::Kept(kept) = self {
            kept.extend_from_slice(bytes);
        }
    }

    /// The diagnostics, if they were kept.
    pub fn kept(&self) -> &[u8] {
        match self {
            DiagnosticSink::Direct => &[],
            DiagnosticSink::Kept(kept) => kept,
        }
    }
}

impl Runner {
    /// Runs a program whose output goes to the user. `input` replaces standard input.
    pub fn run(
        &self,
        program: &Path,
        args: &[OsString],
        input: Option<&[u8]>,
        sink: &mut DiagnosticSink,
    ) -> io::Result<i32> {
        self.log_command(program, args);
        let mut command = Command::new(program);
        command.args(self.response_file_args(args)?);
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        if let DiagnosticSink::Kept(_) = sink {
            command.stderr(Stdio::piped());
        }
        let mut child = command.spawn()?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        // Concurrently: a child that writes before it has read its input must not block.
        std::thread::scope(|scope| {
            scope.spawn(|| write_stdin(stdin, input.unwrap_or_default()));
            stderr.map_or(Ok(()), |stderr| forward(stderr, sink))
        })?;
        Ok(exit_code(child.wait()?))
    }

    /// Runs a program and captures its standard error. Returns its exit code and the captured
    /// bytes.
    pub fn run_captured(&self, program: &Path, args: &[OsString]) -> io::Result<(i32, Vec<u8>)> {
        self.log_command(program, args);
        let output = Command::new(program)
            .args(self.response_file_args(args)?)
            .stdin(Stdio::null())
            .stdout(Stdio::inherit())
            .stderr(Stdio::piped())
            .spawn()?
            .wait_with_output()?;
        Ok((exit_code(output.status), output.stderr))
    }

    /// The same arguments, or a response file if they are too long.
    fn response_file_args(&self, args: &[OsString]) -> io::Result<Vec<OsString>> {
        if args.iter().map(|arg| arg.len() + 9).sum::<usize>() < MAX_COMMAND_LENGTH {
            return Ok(args.to_vec());
        }
        let mut file = tempfile::Builder::new().prefix("words-").tempfile_in(&self.temp)?;
        for arg in args {
            file.write_all(&response::quote(arg))?;
            file.write_all(b"\n")?;
        }
        // The temporary directory is removed as a whole.
        let (_, path) = file.keep().map_err(|error| error.error)?;
        let mut word = OsString::from("@");
        word.push(path);
        Ok(vec![word])
    }

    /// Appends a line to the log.
    pub fn log_line(&self, text: &str) {
        let Some(path) = &self.log else { return };
        // A failure to write the log must not fail the build.
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

/// Writes `bytes` to a child's standard input and closes it. A child that does not read everything
/// is not an error.
fn write_stdin(stdin: Option<std::process::ChildStdin>, bytes: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(bytes);
    }
}

/// Forwards a child's diagnostics as they arrive.
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

/// The exit code of a process killed by a signal is 128 + signal, as in a shell.
fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(1))
}

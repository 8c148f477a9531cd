//! One running solver: text in, expressions out, with a deadline.
//!
//! Threads transfer the bytes, so that neither a solver that does not read nor one that does not answer can
//! block the caller. Dropping a pipe kills the process.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::command::Command;
use super::sexpr::{ParseError, Reader, Sexpr, lossy};
use crate::error::Error;

/// Maximum number of bytes kept of a solver's standard error.
const STDERR_LIMIT: usize = 2000;

pub(super) struct Pipe {
    solver: String,
    child: Child,
    input: Sender<String>,
    output: Receiver<Vec<u8>>,
    reader: Reader,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Pipe {
    /// `timeout` is passed to solvers with a time limit of their own, in case this process is gone and
    /// cannot kill them.
    pub fn start(command: &Command, timeout: Duration) -> Result<Pipe, Error> {
        let solver = command.name();
        let mut process = command.process(timeout);
        // A process group of its own, so that a script is killed with its children.
        process.process_group(0);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process.spawn().map_err(|reason| Error::Start { solver: solver.clone(), reason })?;
        let (input, texts) = channel::<String>();
        let (chunks, output) = channel::<Vec<u8>>();
        let said = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut stdin) = child.stdin.take() {
            std::thread::spawn(move || {
                for text in texts {
                    if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(mut stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while let Ok(len @ 1..) = stdout.read(&mut buffer) {
                    if chunks.send(buffer[..len].to_vec()).is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(mut stderr) = child.stderr.take() {
            let said = Arc::clone(&said);
            std::thread::spawn(move || {
                let mut buffer = [0; 1024];
                while let Ok(len @ 1..) = stderr.read(&mut buffer) {
                    let Ok(mut said) = said.lock() else { return };
                    let room = STDERR_LIMIT.saturating_sub(said.len()).min(len);
                    said.extend_from_slice(&buffer[..room]);
                }
            });
        }
        Ok(Pipe { solver, child, input, output, reader: Reader::default(), said })
    }

    /// Queues text; a failure to deliver it is reported by the next `receive`.
    pub fn send(&mut self, text: String) {
        let _ = self.input.send(text);
    }

    /// The next expression, or nothing by the deadline.
    pub fn receive(&mut self, wanted: &'static str, deadline: Instant) -> Result<Option<Sexpr>, Error> {
        loop {
            match self.reader.next() {
                Ok(Some(answer)) => return Ok(Some(answer)),
                Ok(None) => {}
                Err(kind) => return Err(self.output_error(wanted, kind)),
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.reader.feed(&bytes),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(self.exit_error()),
            }
        }
    }

    fn output_error(&self, wanted: &'static str, kind: ParseError) -> Error {
        let rest = self.reader.rest();
        let said = match kind {
            ParseError::Unopened => lossy(&rest[..rest.len().min(100)]),
            ParseError::TooDeep => "lists nested too deeply".to_owned(),
        };
        Error::UnexpectedOutput { solver: self.solver.clone(), wanted, said }
    }

    fn exit_error(&mut self) -> Error {
        // Its last output may not have been read yet.
        let _ = self.child.wait();
        std::thread::sleep(Duration::from_millis(5));
        let mut said = self.said.lock().map(|said| lossy(&said)).unwrap_or_default();
        if said.trim().is_empty() && self.reader.is_inside() {
            said = lossy(self.reader.rest());
        }
        Error::Exited { solver: self.solver.clone(), said: said.trim().to_owned() }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

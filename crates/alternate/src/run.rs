//! A recorded run that can be replayed several times.

use crate::error::Error;
use recording::header::StreamKind;
use recording::{Process, Recording};
use replay::process::{LoadedProcess, Options as LoadOptions};
use symbolic::TermContext;

/// One process of a recording, which is compared with that of the other version.
pub struct Run<'r> {
    /// The process in the recording.
    pub recorded: &'r Process,
    /// The loaded process.
    pub process: LoadedProcess,
    /// The number of the main thread's stream.
    pub stream: u32,
}

impl<'r> Run<'r> {
    /// Opens a process by its number. Without a number, the first whose branches depend on its input, or else
    /// the first.
    ///
    /// # Errors
    /// If there is no such process, or it cannot be replayed.
    pub fn open(
        recording: &'r Recording,
        number: Option<usize>,
        follow: &symbolic::Options,
    ) -> Result<Run<'r>, Error> {
        if let Some(number) = number {
            let recorded = recording.processes.get(number).ok_or_else(|| {
                let count = recording.processes.len();
                Error::Open(format!("the recording has no process {number}, only {count}"))
            })?;
            return Run::load(recording, recorded);
        }
        let mut first = None;
        for recorded in &recording.processes {
            let run = Run::load(recording, recorded)?;
            if recording.processes.len() == 1 {
                return Ok(run);
            }
            let mut world = TermContext::default();
            let path = symbolic::replay(&run.process, recorded, run.stream, &mut world, follow);
            if path.is_ok_and(|path| path.decisions().next().is_some()) {
                return Ok(run);
            }
            first.get_or_insert(run);
        }
        first.ok_or_else(|| Error::Open("the recording has no process".to_owned()))
    }

    /// Loads a process of a recording.
    ///
    /// # Errors
    /// If it cannot be loaded.
    pub fn load(recording: &Recording, recorded: &'r Process) -> Result<Run<'r>, Error> {
        let process = LoadedProcess::load(recording, recorded, &LoadOptions::default())
            .map_err(|e| Error::Open(e.to_string()))?;
        let stream = main_thread(&process);
        Ok(Run { recorded, process, stream })
    }
}

pub(crate) fn main_thread(process: &LoadedProcess) -> u32 {
    process.streams.iter().find(|s| s.kind == StreamKind::Thread).map_or(0, |s| s.number)
}

//! Programs that a process started by a command: `system`, `popen`, `exec` and their variants.
//!
//! The output of such a program is in no recording unless it is recorded itself, but its command line is: a
//! question about its output is answered by the call that started it.

use crate::Result;
use crate::criterion::{Criterion, Occurrence, Wanted};
use crate::slicer::Slicer;
use program::inst::Inst;
use replay::machine::{End, Machine};
use replay::observer::{ExternalCall, Observer, View};

/// Maximum number of arguments of a command, and maximum length of each.
const MOST: usize = 64;
const LONGEST: usize = 1 << 16;

/// A call that started a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedProgram {
    /// `system`, `execv`.
    pub function: String,
    /// Its command: one line for a shell, or separate arguments.
    pub command: Vec<String>,
    /// Path of the source with the call.
    pub file: String,
    /// Its line; 0 if unknown.
    pub line: u32,
    /// Asks for the call and for the texts of the command.
    pub criterion: Criterion,
}

impl Slicer<'_> {
    /// The calls by which the process started programs, by stream and time.
    ///
    /// # Errors
    /// If replay fails.
    pub fn started(&self) -> Result<Vec<StartedProgram>> {
        let mut all = Vec::new();
        for (stream, loaded) in (0..).zip(&self.process().streams) {
            let mut calls = Calls { stream, found: Vec::new() };
            Machine::new(&self.process().image, &loaded.stream).run(&mut calls, u64::MAX)?;
            all.extend(calls.found);
            // A successful `exec` does not return, so the observer has not seen it.
            if let Some((at, machine)) = self.exec_call(stream)? {
                all.extend(machine.view().and_then(|view| seen(&view, at)));
            }
        }
        Ok(all)
    }

    /// The call by which a stream ended in another program, and the machine there.
    pub(crate) fn exec_call(&self, stream: u32) -> Result<Option<(Occurrence, Machine<'_>)>> {
        if self.end(stream)? != Some(End::Exec) {
            return Ok(None);
        }
        let at = Occurrence { stream, step: self.steps(stream)?.saturating_sub(1) };
        Ok(Some((at, self.machine_at(at)?)))
    }
}

struct Calls {
    stream: u32,
    found: Vec<StartedProgram>,
}

impl Observer for Calls {
    const STEPS: bool = false;

    fn external(&mut self, view: &View<'_>, _: &ExternalCall<'_>) {
        // The call has returned and its step is counted.
        let at = Occurrence { stream: self.stream, step: view.count.saturating_sub(1) };
        self.found.extend(seen(view, at));
    }
}

/// The pointer at an address.
pub(crate) fn pointer(view: &View<'_>, address: u64) -> u64 {
    let mut bytes = [0; 8];
    view.memory.peek(address, &mut bytes);
    u64::from_le_bytes(bytes)
}

/// The current call, if it starts a program.
fn seen(view: &View<'_>, at: Occurrence) -> Option<StartedProgram> {
    let Inst::Call(call) = view.inst() else { return None };
    let (function, _) = view.image.external_at(view.value(call.callee))?;
    let argument = |n: usize| call.args.get(n).map(|arg| view.value(arg.value));
    let text = |address: u64| -> String {
        String::from_utf8_lossy(&view.memory.peek_string(address, LONGEST)).into_owned()
    };
    let listed = |array: u64| -> Vec<u64> {
        let slots = (0..MOST as u64).map(|n| pointer(view, array.wrapping_add(8 * n)));
        slots.take_while(|address| *address != 0).collect()
    };
    let addresses = match function {
        "system" | "popen" => vec![argument(0)?],
        "execv" | "execvp" | "execve" | "execvpe" | "fexecve" => listed(argument(1)?),
        "posix_spawn" | "posix_spawnp" => listed(argument(4)?),
        "execl" | "execlp" | "execle" => (1..MOST).map_while(argument).take_while(|a| *a != 0).collect(),
        _ => return None,
    };
    let place = view.place();
    let file = view.module().file_path(place.file);
    let command: Vec<String> = addresses.iter().map(|address| text(*address)).collect();
    let strings = addresses.iter().zip(&command);
    let mut wanted = vec![Wanted::All];
    wanted
        .extend(strings.map(|(address, text)| Wanted::Memory { address: *address, len: text.len() as u64 }));
    let criterion = Criterion { at, wanted };
    Some(StartedProgram { function: function.to_owned(), command, file, line: place.line, criterion })
}

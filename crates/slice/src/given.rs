//! What a program received from the call that started it: arguments and environment variables.
//!
//! `exec` and its variants replace the program of a process; `posix_spawn`, `system` and `popen` start one
//! in another process. A call without an environment parameter passes on the environment of its process:
//! then the criterion is the last `setenv` call that set the variable, which may have been before a fork.

use crate::Result;
use crate::criterion::{Criterion, Occurrence, Wanted};
use crate::interprocess::{Channel, Received};
use crate::slicer::Slicer;
use crate::started::{StartedProgram, pointer};
use program::inst::{Call, Inst, Operand};
use program::model::SymbolKind;
use recording::argument::Argument;
use replay::effects::variable_address;
use replay::image::Image;
use replay::observer::View;

/// At most so many variables of an environment are searched.
const MOST: u64 = 4096;

impl Slicer<'_> {
    /// The call of `exec` that replaced this program by the one that received this.
    pub(crate) fn executed_with(&self, received: &Received) -> Result<Vec<Criterion>> {
        for stream in 0..self.process().streams.len() as u32 {
            let Some((at, machine)) = self.exec_call(stream)? else { continue };
            return Ok(machine.view().and_then(|view| giving(&view, at, received)).into_iter().collect());
        }
        Ok(Vec::new())
    }

    /// The call by which this process started another one with these arguments that received this. Empty if
    /// several calls could have.
    pub(crate) fn started_with(&self, received: &Received, arguments: &[Argument]) -> Result<Vec<Criterion>> {
        let arguments: Vec<_> = arguments.iter().map(Argument::text).collect();
        let is_it = |started: &&StartedProgram| match &started.command[..] {
            [line] if starts_shell(&started.function) => {
                arguments.iter().skip(1).all(|argument| line.contains(&**argument))
                    && arguments.first().is_some_and(|name| line.contains(&**name))
            }
            words => words == &arguments[..],
        };
        let all = self.started()?;
        let mut fitting = all.iter().filter(is_it);
        let (Some(started), None) = (fitting.next(), fitting.next()) else { return Ok(Vec::new()) };
        let at = started.criterion.at;
        let machine = self.machine_at(at)?;
        Ok(machine.view().and_then(|view| giving(&view, at, received)).into_iter().collect())
    }
}

/// The function takes a command line for a shell.
fn starts_shell(function: &str) -> bool {
    matches!(function, "system" | "popen")
}

/// The criterion for the current call as the giver of an argument or variable.
fn giving(view: &View<'_>, at: Occurrence, received: &Received) -> Option<Criterion> {
    let Inst::Call(call) = view.inst() else { return None };
    let (function, _) = view.image.external_at(view.value(call.callee))?;
    let wanted = match &received.from {
        Channel::Argument(number) => argument(view, call, function, *number, &received.text)?,
        Channel::Variable(name) => variable(view, call, function, name, &received.text)?,
        Channel::File(_) | Channel::Pipe(_) | Channel::Socket(_) => return None,
    };
    Some(Criterion { at, wanted })
}

fn argument(view: &View<'_>, call: &Call, function: &str, number: usize, text: &[u8]) -> Option<Vec<Wanted>> {
    let value = |slot: usize| call.args.get(slot).map(|arg| view.value(arg.value));
    let array = match function {
        // The whole command line.
        "system" | "popen" => {
            let address = value(0)?;
            let line = view.memory.peek_string(address, 1 << 16);
            let is_in = text.is_empty() || line.windows(text.len()).any(|part| part == text);
            let whole = Wanted::Memory { address, len: line.len() as u64 };
            return is_in.then(|| vec![Wanted::All, whole]);
        }
        "execl" | "execlp" | "execle" => {
            let given = call.args.get(number + 1)?;
            let address = view.value(given.value);
            let mut wanted = texts(view, address, text)?;
            if let Operand::Reg(register) = given.value {
                wanted.push(Wanted::Registers(vec![register]));
            }
            return Some(wanted);
        }
        "posix_spawn" | "posix_spawnp" => value(4)?,
        _ => value(1)?,
    };
    let slot = array.wrapping_add(8 * number as u64);
    let mut wanted = texts(view, pointer(view, slot), text)?;
    wanted.push(Wanted::Memory { address: slot, len: 8 });
    Some(wanted)
}

/// A text at an address, and that the call ran; `None` if the memory holds another text.
fn texts(view: &View<'_>, address: u64, text: &[u8]) -> Option<Vec<Wanted>> {
    let is_there = view.memory.peek_string(address, text.len() + 1) == text;
    is_there.then(|| vec![Wanted::Ran, Wanted::Memory { address, len: text.len() as u64 }])
}

fn variable(view: &View<'_>, call: &Call, function: &str, name: &str, text: &[u8]) -> Option<Vec<Wanted>> {
    let value = |slot: usize| call.args.get(slot).map(|arg| view.value(arg.value));
    let array = match function {
        "execve" | "execvpe" | "fexecve" => value(2),
        "posix_spawn" | "posix_spawnp" => value(5),
        // After the terminating null pointer.
        "execle" => (1..call.args.len()).find(|n| value(*n) == Some(0)).and_then(|n| value(n + 1)),
        _ => None,
    };
    match array {
        Some(array) if !is_environment(view, array) => {
            let slots = (0..MOST).map(|n| array.wrapping_add(8 * n));
            let mut slots = slots.take_while(|slot| pointer(view, *slot) != 0);
            let (slot, mut wanted) =
                slots.find_map(|slot| Some((slot, texts(view, pointer(view, slot), text)?)))?;
            wanted.push(Wanted::Memory { address: slot, len: 8 });
            Some(wanted)
        }
        _ => Some(vec![Wanted::Ran, Wanted::Memory { address: variable_address(name.as_bytes()), len: 1 }]),
    }
}

/// Whether an array is the library's own: the one that `environ` points to.
fn is_environment(view: &View<'_>, array: u64) -> bool {
    environ(view.image).into_iter().any(|address| pointer(view, address) == array)
}

/// Addresses of the library's variables that point to the environment.
fn environ(image: &Image) -> Vec<u64> {
    let mut all = Vec::new();
    for (_, loaded) in image.modules() {
        for (symbol, address) in loaded.model.symbols.iter().zip(&loaded.addresses) {
            let is_known = matches!(&*symbol.name, "environ" | "__environ" | "_environ");
            if is_known && !matches!(symbol.kind, SymbolKind::Data { .. }) {
                all.push(*address);
            }
        }
    }
    all
}

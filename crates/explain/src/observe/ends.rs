//! How each recorded process ended, its output, and its call stack at the end.

use super::Error;
use program::inst::{Call, Inst};
use recording::Recording;
use replay::event_cursor::Stream;
use replay::image::Image;
use replay::io::{Collector, IoList};
use replay::machine::{End, Frame, Machine};
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use slice::Occurrence;

/// One stream, replayed to its end.
pub(super) struct StreamEnd {
    /// `None` if the stream did not replay to its end.
    pub end: Option<End>,
    pub error: Option<String>,
    /// Executed instructions, and how many of them were inherited from the parent of a fork.
    pub instructions: u64,
    pub inherited: u64,
    pub time: u64,
    /// Outermost first.
    pub frames: Vec<Frame>,
    pub io: IoList,
}

/// One process of a recording.
pub(super) struct ProcessEnd {
    /// Index in the recording.
    pub index: usize,
    /// Its process id, and that of its parent.
    pub pid: u32,
    pub parent: u32,
    /// Name of the program.
    pub program: String,
    pub loaded: LoadedProcess,
    pub streams: Vec<StreamEnd>,
}

/// Replays all processes once. Processes whose program cannot be loaded are omitted and named in `notes`.
pub(super) fn replay_all(recording: &Recording, notes: &mut Vec<String>) -> Vec<ProcessEnd> {
    let mut all = Vec::new();
    for (index, process) in recording.processes.iter().enumerate() {
        let loaded = match LoadedProcess::load(recording, process, &super::options()) {
            Ok(loaded) => loaded,
            Err(error) => {
                notes.push(format!("process {} could not be looked into: failed to {error}", process.name));
                continue;
            }
        };
        let streams: Vec<StreamEnd> =
            loaded.streams.iter().map(|s| to_end(&loaded.image, &s.stream)).collect();
        for (stream, s) in streams.iter().enumerate() {
            if let Some(error) = &s.error {
                let number = loaded.streams[stream].number;
                notes.push(format!("{}/t{number} replays in part only: failed to {error}", process.name));
            }
        }
        let path = if process.info.executable.is_empty() {
            process.info.arguments.first().map(|a| a.text().into_owned()).unwrap_or_default()
        } else {
            process.info.executable.clone()
        };
        let program = path.rsplit('/').next().unwrap_or_default().to_owned();
        let (pid, parent) = (process.info.pid, process.info.parent);
        all.push(ProcessEnd { index, pid, parent, program, loaded, streams });
    }
    all
}

fn to_end(image: &Image, stream: &Stream) -> StreamEnd {
    let mut machine = Machine::new(image, stream);
    let mut collector = Collector::default();
    let error = machine.run(&mut collector, u64::MAX).err().map(|e| e.to_string());
    StreamEnd {
        end: machine.end(),
        error,
        instructions: machine.counters().instructions,
        inherited: machine.inherited().instructions,
        time: machine.time(),
        frames: machine.frames().to_vec(),
        io: collector.finish(),
    }
}

impl ProcessEnd {
    /// The stream that a signal ended: its index, the signal, and the address.
    pub fn crash(&self) -> Option<(usize, u32, u64, bool)> {
        self.streams.iter().enumerate().find_map(|(i, s)| match s.end {
            Some(End::Crash { signal, address, located }) => Some((i, signal, address, located)),
            _ => None,
        })
    }

    /// The exit status, and the stream that decided it: one that is in a call that ends the process, or else
    /// the first one that exited, in which `main` returned.
    pub fn exit(&self) -> Option<(usize, u32)> {
        let statuses: Vec<(usize, u32)> = self
            .streams
            .iter()
            .enumerate()
            .filter_map(|(i, s)| match s.end {
                Some(End::Exit { status }) => Some((i, status)),
                _ => None,
            })
            .collect();
        let in_exit = |i: usize| {
            let s = &self.streams[i];
            s.frames
                .iter()
                .any(|f| call_at(&self.loaded.image, f).is_some_and(|(name, _)| ends_process(&name)))
        };
        statuses.iter().find(|(i, _)| in_exit(*i)).or_else(|| statuses.iter().min_by_key(|s| s.0)).copied()
    }
}

pub(super) fn ends_process(name: &str) -> bool {
    matches!(name, "exit" | "_exit" | "_Exit" | "quick_exit" | "err" | "errx" | "verr" | "verrx" | "error")
}

/// The name of the function that a frame is calling, and the call.
pub(super) fn call_at<'i>(image: &'i Image, frame: &Frame) -> Option<(String, &'i Call)> {
    let code = image.code(frame.function);
    let module = image.module(code.module);
    let function = &module.functions[code.function as usize];
    match function.code.get(frame.pc as usize) {
        Some(Inst::Call(call)) => Some((callee_name(image, code.module, call), call)),
        _ => None,
    }
}

/// The name of a direct callee; empty for an indirect call.
pub(super) fn callee_name(image: &Image, module: u32, call: &Call) -> String {
    match call.callee {
        program::inst::Operand::Symbol { symbol, .. } => {
            image.module(module).symbols.get(symbol as usize).map_or_else(String::new, |s| s.name.clone())
        }
        _ => String::new(),
    }
}

/// The current instruction of a frame, and its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub module: u32,
    pub function: u32,
    pub index: u32,
    pub step: u64,
}

#[derive(Default)]
struct LastSteps(Vec<Standing>);

impl Observer for LastSteps {
    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        let here = Standing {
            module: view.code.module,
            function: view.code.function,
            index: view.index,
            step: view.count,
        };
        let depth = view.depth as usize;
        if self.0.len() > depth {
            self.0.truncate(depth);
        }
        if self.0.len() == depth {
            self.0[depth - 1] = here;
        } else {
            self.0.push(here);
        }
    }
}

/// The last instruction of every frame after `limit` instructions, outermost first. The innermost frame may
/// have returned already.
pub(super) fn standing(process: &LoadedProcess, stream: usize, limit: u64) -> Result<Vec<Standing>, Error> {
    let mut last = LastSteps::default();
    if let Some(s) = process.streams.get(stream) {
        Machine::new(&process.image, &s.stream).run(&mut last, limit)?;
    }
    Ok(last.0)
}

/// The machine before an instruction runs, when its operands are available.
pub(super) fn machine_at(process: &LoadedProcess, stream: usize, step: u64) -> Result<Machine<'_>, Error> {
    let s = process.streams.get(stream).ok_or(Error::NoStream(stream))?;
    let mut machine = Machine::new(&process.image, &s.stream);
    machine.run(&mut replay::observer::Null, step)?;
    Ok(machine)
}

/// The call stack before an instruction runs: functions and instructions, outermost first.
pub(super) fn stack_at(process: &LoadedProcess, at: Occurrence) -> Result<Vec<(u32, u32)>, Error> {
    let stream = at.stream as usize;
    let machine = machine_at(process, stream, at.step)?;
    if !machine.frames().is_empty() {
        return Ok(machine.frames().iter().map(|f| (f.function, f.pc)).collect());
    }
    // The first instruction of the stream: its function is entered together with it.
    let stack = standing(process, stream, at.step.saturating_add(1))?;
    let number = |s: &Standing| Some((process.image.function(s.module, s.function)?, s.index));
    Ok(stack.iter().filter_map(number).collect())
}

/// The execution of the call that a frame, counted from the outermost, was in at the end.
pub(super) fn last_call(process: &ProcessEnd, stream: usize, frame: usize) -> Result<Occurrence, Error> {
    let steps = standing(&process.loaded, stream, u64::MAX)?;
    let step = steps.get(frame).map_or(0, |s| s.step);
    Ok(Occurrence { stream: stream as u32, step })
}

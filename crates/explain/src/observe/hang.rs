//! Where a process was when time ran out.
//!
//! A thread writes its time down at calls and returns only, so a recording
//! that was cut inside a loop without calls says no more than that the loop
//! was entered. Replay can go on by itself from there: nothing came from
//! outside any more. The loop that goes round most often then is the one.

use super::Error;
use super::ends::{ProcessEnd, call_at};
use crate::align::{Lines, Side, Track};
use program::inst::Inst;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use slice::{Criterion, Occurrence, Wanted};

/// How far replay goes on behind the last known time: enough to tell an endless
/// loop from a long one next to it, and little enough to slice.
const BEYOND: u64 = 1 << 14;

const NEVER: u64 = u64::MAX;

/// What a process did when it was stopped.
pub(super) struct Hang {
    pub stream: usize,
    /// Function of the image and instruction: the loop's header, or the call.
    pub function: u32,
    pub index: u32,
    pub what: What,
    pub criteria: Vec<Criterion>,
    /// New end of the stream, if replay went on.
    pub horizon: u64,
    /// Frames outside of the one with the loop.
    pub depth: usize,
    /// Functions and instructions, outermost first.
    pub stack: Vec<(u32, u32)>,
}

pub(super) enum What {
    /// Went round this often.
    Loop(u32),
    /// Was waiting in this function.
    Waiting(String),
    /// Neither: it was on its way.
    Running,
}

/// Functions that wait for somebody else.
fn waits(name: &str) -> bool {
    matches!(
        name,
        "read" | "wait"
            | "waitpid"
            | "wait3"
            | "wait4"
            | "waitid"
            | "pause"
            | "sigsuspend"
            | "poll"
            | "ppoll"
            | "select"
            | "pselect"
            | "epoll_wait"
            | "recv"
            | "recvfrom"
            | "recvmsg"
            | "accept"
            | "connect"
            | "flock"
            | "lockf"
            | "fgets"
            | "fgetc"
            | "getc"
            | "getchar"
            | "getline"
            | "getdelim"
            | "fread"
            | "scanf"
            | "fscanf"
            | "__isoc99_scanf"
            | "__isoc99_fscanf"
            | "__isoc23_scanf"
            | "__isoc23_fscanf"
            | "pthread_join"
            | "pthread_mutex_lock"
            | "pthread_cond_wait"
            | "pthread_barrier_wait"
            | "pthread_rwlock_rdlock"
            | "pthread_rwlock_wrlock"
            | "pthread_spin_lock"
            | "sem_wait"
            | "thrd_join"
            | "mtx_lock"
            | "cnd_wait"
            | "system"
            | "pclose"
    )
}

/// Where a stream that was cut stood.
pub(super) fn hang(process: &ProcessEnd, stream: usize, lines: &Lines<'_>) -> Result<Hang, Error> {
    let loaded = &process.loaded;
    let s = loaded.streams.get(stream).ok_or(Error::NoStream(stream))?;
    let horizon = process.streams[stream].time.max(s.stream.time).saturating_add(BEYOND);
    let mut longer = s.stream.clone();
    longer.time = horizon;
    let mut machine = Machine::new(&loaded.image, &longer);
    let mut watch = Watch { track: Track::new(&loaded.image, Side::Bad, lines), exits: Vec::new() };
    machine.run(&mut watch, u64::MAX)?;
    let frames = machine.frames();
    let stack: Vec<(u32, u32)> = frames.iter().map(|f| (f.function, f.pc)).collect();
    let mut answer = Hang {
        stream,
        function: stack.last().map_or(0, |f| f.0),
        index: stack.last().map_or(0, |f| f.1),
        what: What::Running,
        criteria: Vec::new(),
        horizon,
        depth: stack.len(),
        stack,
    };
    let occurrence = |step| Occurrence { stream: stream as u32, step };
    let waiting = frames.last().and_then(|f| call_at(&loaded.image, f)).map(|c| c.0).filter(|n| waits(n));
    if let Some(name) = waiting {
        let step = watch.track.frames.last().map_or(0, |f| f.step);
        answer.criteria = vec![Criterion { at: occurrence(step), wanted: vec![Wanted::All] }];
        answer.what = What::Waiting(name);
        return Ok(answer);
    }
    // Round, depth and nesting of every loop under way; of equally long ones
    // the innermost.
    let mut best: Option<(u32, usize, u32)> = None;
    for (i, f) in frames.iter().enumerate() {
        let block = block_of(loaded, f.function, f.pc);
        let Some(a) = watch.track.frames.get(i) else { continue };
        let headers = a.keys.nest.headers(block);
        for (header, rounds) in headers.into_iter().zip(watch.track.iterations(i + 1)) {
            if best.is_none_or(|b| *rounds >= b.0) {
                best = Some((*rounds, i, header));
            }
        }
    }
    let Some((rounds, depth, header)) = best else {
        let step = watch.track.frames.last().map_or(0, |f| f.step);
        answer.criteria = vec![Criterion { at: occurrence(step), wanted: vec![Wanted::Ran] }];
        return Ok(answer);
    };
    let function = frames[depth].function;
    let code = loaded.image.code(function);
    let model = &loaded.image.module(code.module).functions[code.function as usize];
    let body = watch.track.frames[depth].keys.nest.body(header).unwrap_or(&[]).to_vec();
    let mut exit_line = None;
    for (block, b) in model.blocks.iter().enumerate().filter(|(b, _)| body.get(*b) == Some(&true)) {
        let last = &model.code[b.end as usize - 1];
        let leaves = last.successors().iter().any(|s| body.get(*s as usize) != Some(&true));
        let step = watch.exits.get(depth).and_then(|e| e.get(block)).copied().unwrap_or(NEVER);
        if leaves && step != NEVER {
            exit_line = exit_line.or(Some(b.end - 1));
            answer.criteria.push(Criterion { at: occurrence(step), wanted: vec![Wanted::All] });
        }
    }
    if answer.criteria.is_empty() {
        let step = watch.track.frames[depth].step;
        answer.criteria.push(Criterion { at: occurrence(step), wanted: vec![Wanted::Ran] });
    }
    answer.function = function;
    answer.index = first_with_line(model, header).or(exit_line).unwrap_or(answer.index);
    answer.what = What::Loop(rounds);
    answer.depth = depth + 1;
    Ok(answer)
}

/// The first instruction of a block that has a place in the source.
fn first_with_line(function: &program::model::Function, block: u32) -> Option<u32> {
    let b = function.blocks.get(block as usize)?;
    (b.start..b.end).find(|i| function.place(*i as usize).line > 0)
}

fn block_of(process: &LoadedProcess, function: u32, index: u32) -> u32 {
    let code = process.image.code(function);
    let f = &process.image.module(code.module).functions[code.function as usize];
    f.blocks.iter().position(|b| (b.start..b.end).contains(&index)).unwrap_or(0) as u32
}

struct Watch<'a> {
    track: Track<'a>,
    /// For each frame and block inside a loop, when its branch ran last.
    exits: Vec<Vec<u64>>,
}

impl Observer for Watch<'_> {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        self.track.enter(view);
        let depth = view.depth as usize;
        if self.exits.len() < depth {
            self.exits.resize_with(depth, Vec::new);
        }
        self.exits[depth - 1].clear();
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        let depth = view.depth as usize;
        if !self.track.iterations(depth).is_empty()
            && matches!(view.inst(), Inst::Branch { .. } | Inst::Switch { .. })
        {
            let exits = &mut self.exits[depth - 1];
            if exits.is_empty() {
                exits.resize(view.function().blocks.len(), NEVER);
            }
            exits[from as usize] = view.count;
        }
        self.track.edge(view, from, to);
    }

    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        self.track.step(view);
    }
}

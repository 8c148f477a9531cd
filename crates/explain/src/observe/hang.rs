//! Where a process was when the time limit expired.
//!
//! A thread records its time only at calls and returns, so a recording that was cut inside a loop without
//! calls shows only that the loop was entered. Replay can continue on its own from there, since no more
//! external values arrive. The answer is the innermost loop that the process did not leave in the second half
//! of the run.

use super::ends::{ProcessEnd, call_at};
use super::places::at;
use super::scene::Scene;
use super::{Error, Observed};
use crate::align::{Lines, Side, Track};
use program::cfg::Graph;
use program::inst::Inst;
use program::loop_nest::LoopNest;
use replay::event_cursor::Stream;
use replay::machine::{End, Frame, Machine, Stop};
use replay::observer::{Effect, Null, Observer, View};
use replay::process::LoadedProcess;
use slice::{Criterion, Occurrence, Wanted};

/// How far replay continues after the last recorded time: enough to distinguish an endless loop from a long
/// one next to it, and little enough to slice.
const BEYOND: u64 = 1 << 14;

const NEVER: u64 = u64::MAX;

/// The state of a process when it was stopped.
struct Hang {
    stream: usize,
    /// Function of the image and instruction: the loop's header, or the call.
    function: u32,
    index: u32,
    what: What,
    criteria: Vec<Criterion>,
    /// The new end of the stream, if replay continued.
    horizon: u64,
    /// Number of frames from the outermost one up to that of the loop or call.
    depth: usize,
    /// Functions and instructions, outermost first.
    stack: Vec<(u32, u32)>,
}

enum What {
    /// In a loop.
    Loop,
    /// Waiting in this function.
    Waiting(String),
    /// Neither: it was running.
    Running,
}

/// Functions that wait for another thread or process.
fn waits(name: &str) -> bool {
    matches!(
        name,
        "read"
            | "wait"
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

/// The test reached its time limit.
pub(super) fn hang(scene: &mut Scene<'_>) -> Result<Option<Observed>, Error> {
    let mut best: Option<(usize, Hang)> = None;
    for bad in 0..scene.bad.len() {
        let lines = scene.lines(bad);
        for stream in 0..scene.bad[bad].streams.len() {
            let s = &scene.bad[bad].streams[stream];
            if s.end != Some(End::Cut) || s.frames.is_empty() {
                continue;
            }
            let hang = in_stream(&scene.bad[bad], stream, &lines)?;
            // A waiting thread may be waiting for a running one.
            let rank = |h: &Hang| match h.what {
                What::Loop => 2,
                What::Running => 1,
                What::Waiting(_) => 0,
            };
            if best.as_ref().is_none_or(|(_, b)| rank(&hang) > rank(b)) {
                best = Some((bad, hang));
            }
        }
    }
    let Some((bad, hang)) = best else { return Ok(None) };
    let mut frames = hang.stack[..hang.depth.min(hang.stack.len())].to_vec();
    if let Some(last) = frames.last_mut() {
        *last = (hang.function, hang.index);
    }
    let mut observed = scene.observed("hang", bad, &frames);
    let place = observed.observation.place.as_ref().map(at).unwrap_or_default();
    observed.observation.summary = match &hang.what {
        What::Loop => format!("the test did not end in time: it was in a loop {place} that did not end"),
        What::Waiting(name) => {
            format!("the test did not end in time: it was waiting in `{name}`, called {place}")
        }
        What::Running => format!("the test did not end in time: it was {place}"),
    };
    let first = hang.criteria.first().map(|c| c.at);
    let recorded = scene.bad[bad].streams[hang.stream].instructions;
    if hang.criteria.iter().any(|c| c.at.step >= recorded) {
        observed.horizon = vec![(hang.stream as u32, hang.horizon)];
    }
    Scene::ask(&mut observed, hang.criteria);
    // In good, the last evaluation of the same condition.
    if let Some(at) = first {
        observed.prepare(&mut scene.bad[bad].loaded);
        if let Some((good, _, found)) = scene.in_good(bad, at)?
            && let Some(at) = found.before.or(found.instruction())
        {
            scene.ask_good(&mut observed, good, vec![Criterion { at, wanted: vec![Wanted::All] }])?;
        }
    }
    Ok(Some(observed))
}

/// What a stream was executing when it was cut.
fn in_stream(process: &ProcessEnd, stream: usize, lines: &Lines<'_>) -> Result<Hang, Error> {
    let loaded = &process.loaded;
    let s = loaded.streams.get(stream).ok_or(Error::NoStream(stream))?;
    let horizon = process.streams[stream].time.max(s.stream.time).saturating_add(BEYOND);
    let mut longer = s.stream.clone();
    // The header's checksum belongs to the recorded time.
    (longer.time, longer.sum) = (horizon, None);
    let samples = samples(loaded, &longer)?;
    let (limit, _) = settled(loaded, &samples);
    let mut machine = Machine::new(&loaded.image, &longer);
    let mut watch = Watch { track: Track::new(&loaded.image, Side::Bad, lines), exits: Vec::new() };
    machine.run(&mut watch, limit)?;
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
    let last = samples.last().map_or(&[][..], |g| &g.frames);
    let waiting = last.last().and_then(|f| call_at(&loaded.image, f)).map(|c| c.0).filter(|n| waits(n));
    if let Some(name) = waiting {
        let step = samples.last().map_or(0, |g| g.instructions.saturating_sub(1));
        answer.criteria = vec![Criterion { at: occurrence(step), wanted: vec![Wanted::All] }];
        answer.what = What::Waiting(name);
        answer.stack = last.iter().map(|f| (f.function, f.pc)).collect();
        answer.depth = answer.stack.len();
        (answer.function, answer.index) = answer.stack.last().copied().unwrap_or((0, 0));
        return Ok(answer);
    }
    let Some((depth, header)) = settled(loaded, &samples).1 else {
        let step = watch.track.activations.frames.last().map_or(0, |f| f.step);
        answer.criteria = vec![Criterion { at: occurrence(step), wanted: vec![Wanted::Ran] }];
        return Ok(answer);
    };
    let Some(frame) = frames.get(depth) else { return Ok(answer) };
    let code = loaded.image.code(frame.function);
    let model = &loaded.image.module(code.module).functions[code.function as usize];
    let body = watch.track.activations.frames[depth].keys.loop_nest.body(header).unwrap_or(&[]).to_vec();
    for (block, b) in model.blocks.iter().enumerate().filter(|(b, _)| body.get(*b) == Some(&true)) {
        let last = &model.code[b.end as usize - 1];
        let leaves = last.successors().iter().any(|s| body.get(*s as usize) != Some(&true));
        let step = watch.exits.get(depth).and_then(|e| e.get(block)).copied().unwrap_or(NEVER);
        if leaves && step != NEVER {
            answer.criteria.push(Criterion { at: occurrence(step), wanted: vec![Wanted::All] });
        }
    }
    if answer.criteria.is_empty() {
        let step = watch.track.activations.frames[depth].step;
        answer.criteria.push(Criterion { at: occurrence(step), wanted: vec![Wanted::Ran] });
    }
    answer.function = frame.function;
    answer.index = first_with_line(model, header).unwrap_or(frame.pc);
    answer.what = What::Loop;
    answer.depth = depth + 1;
    Ok(answer)
}

/// A sample of the call stack.
struct Sample {
    instructions: u64,
    frames: Vec<Frame>,
}

/// More samples than this are thinned out.
const SAMPLES: usize = 256;

/// Instructions observed after the step from which the loop ran.
const CLOSER: u64 = 200_000;

/// Samples of the call stack at regular intervals from the start to the end; instructions between them are
/// not observed.
fn samples(process: &LoadedProcess, stream: &Stream) -> Result<Vec<Sample>, Error> {
    let mut machine = Machine::new(&process.image, stream);
    let mut samples: Vec<Sample> = Vec::new();
    let mut every = 1 << 10;
    let mut next = every;
    loop {
        let stop = machine.run(&mut Null, next)?;
        let instructions = machine.counters().instructions;
        samples.push(Sample { instructions, frames: machine.frames().to_vec() });
        if stop != Stop::Limit {
            return Ok(samples);
        }
        if samples.len() >= SAMPLES {
            every *= 2;
            let mut number = 0;
            samples.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
        next = instructions + every;
    }
}

/// The innermost loop that the process was in for the second half of its run (frame and header), and the step
/// up to which to observe it in detail: somewhat after the step at which it entered that loop.
fn settled(process: &LoadedProcess, samples: &[Sample]) -> (u64, Option<(usize, u32)>) {
    let Some(end) = samples.last() else { return (0, None) };
    let half = samples.partition_point(|g| g.instructions < end.instructions / 2);
    let late = &samples[half.min(samples.len() - 1)..];
    let mut best = None;
    'frames: for depth in 0..end.frames.len() {
        let of_end = &end.frames[depth];
        let same = |g: &Sample| {
            g.frames
                .get(depth)
                .is_some_and(|f| (f.function, f.saved_stack) == (of_end.function, of_end.saved_stack))
        };
        if !late.iter().all(same) {
            break;
        }
        let loop_nest = nest_of(process, of_end.function);
        for header in loop_nest.headers(block_of(process, of_end.function, of_end.pc)) {
            let body = loop_nest.body(header).unwrap_or(&[]);
            let inside = |g: &Sample| {
                let f = &g.frames[depth];
                body.get(block_of(process, f.function, f.pc) as usize) == Some(&true)
            };
            if !late.iter().all(inside) {
                break 'frames;
            }
            let since = samples.iter().rposition(|g| !(same(g) && inside(g))).map_or(0, |i| i + 1);
            best = Some((since, depth, header));
        }
        // A callee that the loop calls repeatedly is not what hangs.
        let going = |g: &Sample| g.frames[depth].pc == of_end.pc;
        if !late.iter().all(going) {
            break;
        }
    }
    let since = best.map_or(samples.len() - 1, |b| b.0);
    let limit = samples[since].instructions.saturating_add(CLOSER).min(end.instructions);
    (limit, best.map(|(_, depth, header)| (depth, header)))
}

fn nest_of(process: &LoadedProcess, function: u32) -> LoopNest {
    let code = process.image.code(function);
    LoopNest::of(&Graph::of(&process.image.module(code.module).functions[code.function as usize]))
}

/// The first instruction of a block with a source location.
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
    /// For each frame and block inside a loop, the last execution of its branch.
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

//! Failures by themselves: assertions, `abort`, signals, exit statuses, hangs.

use super::ends::{ProcessEnd, call_at, ends_process, machine_at, standing};
use super::hang::{Hang, What};
use super::outputs::ends_in;
use super::places::at;
use super::scene::Scene;
use super::words::{end_of, show, signal_name};
use super::{Error, Observed, absent, pointer};
use crate::align::Side;
use program::inst::{Inst, Operand};
use replay::code::Op;
use replay::machine::{End, Machine};
use replay::observer::{Effect, Observer, View};
use slice::{Criterion, Occurrence, Wanted};

const ABORT: u32 = 6;
const ASSERTIONS: [&str; 3] = ["__assert_fail", "__assert_perror_fail", "__assert"];

/// Where a process of bad ended: the frame that called the end, counted from
/// the outside, and when.
struct Last {
    bad: usize,
    stream: usize,
    frame: usize,
    at: Occurrence,
}

impl Last {
    fn frames(&self, scene: &Scene<'_>) -> Vec<(u32, u32)> {
        let frames = &scene.bad[self.bad].streams[self.stream].frames;
        frames[..=self.frame].iter().map(|f| (f.function, f.pc)).collect()
    }
}

/// The end of a process in a call to one of these functions.
fn last_call(process: &ProcessEnd, stream: usize, frame: usize) -> Result<Occurrence, Error> {
    let steps = standing(&process.loaded, stream, u64::MAX)?;
    let step = steps.get(frame).map_or(0, |s| s.step);
    Ok(Occurrence { stream: stream as u32, step })
}

/// A process of bad that died in one of the functions where good's did not.
fn died_in(scene: &Scene<'_>, names: &[&str]) -> Result<Option<Last>, Error> {
    for (bad, process) in scene.bad.iter().enumerate() {
        let Some((stream, ABORT, ..)) = process.crash() else { continue };
        let Some(frame) = ends_in(process, stream, names) else { continue };
        let also = scene.partner(bad).map(|g| &scene.good[g]).is_some_and(|g| {
            g.crash().is_some_and(|(s, signal, ..)| signal == ABORT && ends_in(g, s, names).is_some())
        });
        if !also {
            let at = last_call(process, stream, frame)?;
            return Ok(Some(Last { bad, stream, frame, at }));
        }
    }
    Ok(None)
}

/// What decided in good that it did not come to this.
fn ask_why_not(scene: &Scene<'_>, observed: &mut Observed, last: &Last) -> Result<(), Error> {
    let Some(good) = scene.partner(last.bad) else { return Ok(()) };
    observed.good_process = Some(scene.good[good].index);
    let Some(stream) = scene.good_stream(last.bad, good, last.stream) else { return Ok(()) };
    let lines = scene.lines(last.bad);
    let from = (&scene.bad[last.bad].loaded, Side::Bad);
    let to = (&scene.good[good].loaded, stream);
    match absent::why_not(from, last.at, to, &lines)? {
        Some(decided) => scene.ask_good(observed, good, vec![decided.criterion]),
        None => Ok(()),
    }
}

pub(super) fn assertion(scene: &mut Scene<'_>) -> Result<Option<Observed>, Error> {
    let Some(last) = died_in(scene, &ASSERTIONS)? else { return Ok(None) };
    let process = &scene.bad[last.bad];
    let machine = machine_at(&process.loaded, last.stream, u64::MAX)?;
    let condition = machine.view().and_then(|view| match view.inst() {
        Inst::Call(call) => {
            let address = view.value(call.args.first()?.value);
            Some(show(&view.memory.peek_string(address, 1000)))
        }
        _ => None,
    });
    let mut observed = scene.observed("assertion", last.bad, &last.frames(scene));
    let place = observed.observation.place.as_ref().map(at).unwrap_or_default();
    observed.observation.summary = match condition.filter(|c| !c.is_empty()) {
        Some(condition) => format!("the assertion `{condition}` failed {place}"),
        None => format!("an assertion failed {place}"),
    };
    Scene::ask(&mut observed, vec![Criterion { at: last.at, wanted: vec![Wanted::Ran] }]);
    ask_why_not(scene, &mut observed, &last)?;
    Ok(Some(observed))
}

pub(super) fn abort(scene: &mut Scene<'_>) -> Result<Option<Observed>, Error> {
    let Some(last) = died_in(scene, &["abort"])? else { return Ok(None) };
    let mut observed = scene.observed("abort", last.bad, &last.frames(scene));
    let place = observed.observation.place.as_ref().map(at).unwrap_or_default();
    observed.observation.summary = format!("the process called abort {place}");
    Scene::ask(&mut observed, vec![Criterion { at: last.at, wanted: vec![Wanted::Ran] }]);
    ask_why_not(scene, &mut observed, &last)?;
    Ok(Some(observed))
}

/// Death by a signal where good's process did not die of it.
pub(super) fn signal(scene: &mut Scene<'_>) -> Result<Option<Observed>, Error> {
    for bad in 0..scene.bad.len() {
        let process = &scene.bad[bad];
        let Some((stream, signal, address, located)) = process.crash() else { continue };
        let good = scene.partner(bad).and_then(|g| scene.good[g].crash());
        if good.is_some_and(|g| g.1 == signal) {
            continue;
        }
        return crashed(scene, bad, stream, signal, address, located).map(Some);
    }
    Ok(None)
}

fn crashed(
    scene: &Scene<'_>,
    bad: usize,
    stream: usize,
    signal: u32,
    address: u64,
    located: bool,
) -> Result<Observed, Error> {
    let process = &scene.bad[bad];
    let frames: Vec<(u32, u32)> = process.streams[stream].frames.iter().map(|f| (f.function, f.pc)).collect();
    let mut observed = scene.observed("signal", bad, &frames);
    let place = observed.observation.place.as_ref().map(at).unwrap_or_default();
    let name = signal_name(signal);
    let machine = machine_at(&process.loaded, stream, u64::MAX)?;
    let executed = machine.counters().instructions;
    let Some(view) = machine.view() else {
        observed.observation.summary = format!("the process was killed by {name}, outside of recorded code");
        return Ok(observed);
    };
    // A call was counted when it was made; what faults by itself was not.
    let called = matches!(view.inst(), Inst::Call(_));
    let step = if called { executed.saturating_sub(1) } else { executed };
    let fault = matches!(signal, 7 | 11);
    let touched = pointer::addresses(view.inst()).into_iter().filter(|o| {
        let value = view.value(*o);
        // Faults are reported for the byte that lacks; a library function may
        // have come some way.
        value == address || (address.wrapping_sub(value) < 4096) || (address == 0 && !canonical(value))
    });
    let pointer = if fault { touched.min_by_key(|o| address.wrapping_sub(view.value(*o))) } else { None };
    let through = pointer.and_then(|o| pointer::name(&view, o)).map(|n| format!(" through `{n}`"));
    let through = through.unwrap_or_default();
    let callee = call_at(&process.loaded.image, &process.streams[stream].frames[frames.len() - 1])
        .map(|c| c.0)
        .filter(|n| !n.is_empty());
    observed.observation.summary = match (view.inst(), callee) {
        _ if !located && !called => format!("the process was killed by {name} {place} or shortly behind"),
        (Inst::Load { .. }, _) if fault => {
            format!("the process was killed by {name} reading address {address:#x}{through} {place}")
        }
        (Inst::Store { .. } | Inst::MemSet { .. }, _) if fault => {
            format!("the process was killed by {name} writing address {address:#x}{through} {place}")
        }
        (Inst::Bin { .. }, _) => format!("the process was killed by {name}: a division that traps, {place}"),
        (Inst::Call(_), Some(callee)) if fault => {
            format!(
                "the process was killed by {name} at address {address:#x}{through} in `{callee}`, called {place}"
            )
        }
        (Inst::Call(_), Some(callee)) => {
            format!("the process was killed by {name} in `{callee}`, called {place}")
        }
        _ if fault => format!("the process was killed by {name} at address {address:#x}{through} {place}"),
        _ => format!("the process was killed by {name} {place}"),
    };
    let wanted = match (pointer, view.inst()) {
        (Some(Operand::Reg(r)), _) => vec![Wanted::Registers(vec![r])],
        (None, Inst::Bin { b: Operand::Reg(r), .. }) => vec![Wanted::Registers(vec![*r])],
        (None, Inst::Call(_)) => vec![Wanted::All],
        _ => vec![Wanted::Ran],
    };
    let here = Occurrence { stream: stream as u32, step };
    Scene::ask(&mut observed, vec![Criterion { at: here, wanted: wanted.clone() }]);
    drop(machine);
    if let Some((good, _, found)) = scene.in_good(bad, here)? {
        match (found.exact, found.instruction().or(found.before)) {
            (Some(exact), _) => {
                let wanted = same_operand(scene, bad, here, good, exact, &wanted)?;
                scene.ask_good(&mut observed, good, vec![Criterion { at: exact, wanted }])?;
            }
            (None, Some(near)) => {
                scene.ask_good(
                    &mut observed,
                    good,
                    vec![Criterion { at: near, wanted: vec![Wanted::All] }],
                )?;
            }
            (None, None) => {
                let last = Last { bad, stream, frame: frames.len() - 1, at: here };
                ask_why_not(scene, &mut observed, &last)?;
            }
        }
    }
    Ok(observed)
}

fn canonical(address: u64) -> bool {
    (address.cast_signed() << 16 >> 16).cast_unsigned() == address
}

/// What is asked about an instruction of bad, in terms of the same one in
/// good: registers are numbered anew in each version.
pub(super) fn same_operand(
    scene: &Scene<'_>,
    bad: usize,
    here: Occurrence,
    good: usize,
    there: Occurrence,
    wanted: &[Wanted],
) -> Result<Vec<Wanted>, Error> {
    let uses = |process: &ProcessEnd, at: Occurrence| -> Result<Vec<Operand>, Error> {
        let machine = machine_at(&process.loaded, at.stream as usize, at.step)?;
        let mut list = Vec::new();
        if let Some(view) = machine.view() {
            view.inst().for_each_use(|o, _| list.push(o));
        }
        Ok(list)
    };
    let (ours, theirs) = (uses(&scene.bad[bad], here)?, uses(&scene.good[good], there)?);
    let translate = |r: &u32| {
        let number = ours.iter().position(|o| *o == Operand::Reg(*r))?;
        match theirs.get(number) {
            Some(Operand::Reg(r)) => Some(*r),
            _ => None,
        }
    };
    let same = wanted.iter().map(|w| match w {
        Wanted::Registers(regs) => {
            let regs: Vec<u32> = regs.iter().filter_map(translate).collect();
            if regs.is_empty() { Wanted::All } else { Wanted::Registers(regs) }
        }
        other => other.clone(),
    });
    Ok(same.collect())
}

/// Who decided the exit status of a process, and how it is asked about.
struct Decision {
    frames: Vec<(u32, u32)>,
    criterion: Criterion,
    status: u32,
    by: String,
}

fn decision(process: &ProcessEnd) -> Result<Option<Decision>, Error> {
    let Some((stream, status)) = process.exit() else { return Ok(None) };
    let image = &process.loaded.image;
    let ended = &process.streams[stream].frames;
    let call = ended.iter().enumerate().rev().find_map(|(i, f)| {
        let (name, call) = call_at(image, f)?;
        ends_process(&name).then_some((i, name, call))
    });
    if let Some((frame, name, call)) = call {
        let at = last_call(process, stream, frame)?;
        let wanted = match call.args.first().map(|a| a.value) {
            Some(Operand::Reg(r)) => Wanted::Registers(vec![r]),
            _ => Wanted::Ran,
        };
        return Ok(Some(Decision {
            frames: ended[..=frame].iter().map(|f| (f.function, f.pc)).collect(),
            criterion: Criterion { at, wanted: vec![wanted] },
            status,
            by: format!("a call of {name}"),
        }));
    }
    let Some(s) = process.loaded.streams.get(stream) else { return Ok(None) };
    let mut returned = MainReturn(None);
    Machine::new(image, &s.stream).run(&mut returned, u64::MAX)?;
    let Some((function, index, step)) = returned.0 else { return Ok(None) };
    let code = image.code(function);
    let inst = &image.module(code.module).functions[code.function as usize].code[index as usize];
    let wanted = match inst {
        Inst::Return { value: Some(Operand::Reg(r)), .. } => Wanted::Registers(vec![*r]),
        _ => Wanted::Ran,
    };
    let at = Occurrence { stream: stream as u32, step };
    Ok(Some(Decision {
        frames: vec![(function, index)],
        criterion: Criterion { at, wanted: vec![wanted] },
        status,
        by: "the return".to_owned(),
    }))
}

/// The last return from `main`.
struct MainReturn(Option<(u32, u32, u64)>);

impl Observer for MainReturn {
    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        if view.depth == 1
            && matches!(view.code.ops[view.index as usize], Op::Return { .. })
            && view.function().name == "main"
            && let Some(function) = view.image.function(view.code.module, view.code.function)
        {
            self.0 = Some((function, view.index, view.count));
        }
    }
}

/// Another exit status of the test, if a recorded process had another one too.
pub(super) fn exit_status(scene: &mut Scene<'_>) -> Result<Option<Observed>, Error> {
    let (good, bad) = (scene.good_run.output, scene.bad_run.output);
    if (good.exit, good.signal) == (bad.exit, bad.signal) {
        return Ok(None);
    }
    let status = bad.exit.map(|s| s.cast_unsigned());
    // The process whose status became the test's comes first; of several, the
    // one that ended last, most likely the one that others wait for.
    let mut candidates: Vec<(bool, usize)> = Vec::new();
    for b in 0..scene.bad.len() {
        let Some((_, ours)) = scene.bad[b].exit() else { continue };
        let theirs = scene.partner(b).and_then(|g| scene.good[g].exit()).map(|e| e.1);
        let differs = theirs.map_or(ours != 0, |theirs| theirs != ours);
        if differs {
            candidates.push((Some(ours & 0xff) != status, b));
        }
    }
    candidates.sort_by_key(|(other, b)| (*other, scene.bad[*b].streams.iter().any(|s| s.inherited > 0), *b));
    match candidates.first() {
        Some((_, b)) => by_status(scene, *b, "exit-status").map(Some),
        None => Ok(None),
    }
}

fn by_status(scene: &Scene<'_>, bad: usize, kind: &str) -> Result<Observed, Error> {
    let Some(decided) = decision(&scene.bad[bad])? else {
        let mut observed = scene.observed(kind, bad, &[]);
        observed.observation.summary = statuses(scene, bad, None);
        return Ok(observed);
    };
    let mut observed = scene.observed(kind, bad, &decided.frames);
    let place = observed.observation.place.as_ref().map(at).unwrap_or_default();
    observed.observation.summary = statuses(scene, bad, Some((&decided, &place)));
    let mut wanted = decided.criterion.wanted.clone();
    let partner = scene.partner(bad);
    let theirs = match partner {
        Some(good) => decision(&scene.good[good])?.map(|d| (good, d)),
        None => None,
    };
    let Some((good, theirs)) = theirs else {
        Scene::ask(&mut observed, vec![decided.criterion]);
        return Ok(observed);
    };
    // Another way out than good took: that it was taken matters as well.
    let same = scene
        .in_good(bad, decided.criterion.at)?
        .is_some_and(|(_, _, found)| found.exact == Some(theirs.criterion.at));
    let mut good_wanted = theirs.criterion.wanted.clone();
    if !same {
        wanted.push(Wanted::Ran);
        good_wanted.push(Wanted::Ran);
        wanted.dedup();
        good_wanted.dedup();
    }
    Scene::ask(&mut observed, vec![Criterion { at: decided.criterion.at, wanted }]);
    scene.ask_good(&mut observed, good, vec![Criterion { at: theirs.criterion.at, wanted: good_wanted }])?;
    Ok(observed)
}

/// "the exit status is 3, with good it was 0, decided by a call of exit in f (a.c:3)"
fn statuses(scene: &Scene<'_>, bad: usize, decided: Option<(&Decision, &str)>) -> String {
    let process = &scene.bad[bad];
    let ours = decided.map(|d| d.0.status).or_else(|| process.exit().map(|e| e.1)).unwrap_or(0);
    let good = scene.partner(bad).map(|g| &scene.good[g]);
    let theirs = match good.map(|g| (g.exit(), g.crash())) {
        Some((Some((_, status)), _)) => format!(", with good it was {status}"),
        Some((_, Some((_, signal, ..)))) => format!(", with good it was killed by {}", signal_name(signal)),
        _ => String::new(),
    };
    let of = if scene.bad.len() > 1 { format!(" of {}", process.program) } else { String::new() };
    let by = decided.map(|(d, place)| format!(", decided by {} {place}", d.by)).unwrap_or_default();
    format!("the exit status{of} is {ours}{theirs}{by}")
}

/// The test was stopped.
pub(super) fn hang(scene: &mut Scene<'_>) -> Result<Option<Observed>, Error> {
    let mut best: Option<(usize, Hang)> = None;
    for bad in 0..scene.bad.len() {
        let lines = scene.lines(bad);
        for stream in 0..scene.bad[bad].streams.len() {
            let s = &scene.bad[bad].streams[stream];
            if s.end != Some(End::Cut) || s.frames.is_empty() {
                continue;
            }
            let hang = super::hang::hang(&scene.bad[bad], stream, &lines)?;
            // Who waits may wait for somebody who runs.
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
    Scene::ask(&mut observed, hang.criteria);
    let known = scene.bad[bad].loaded.streams[hang.stream].stream.time;
    if hang.horizon > known {
        observed.horizon = vec![(hang.stream as u32, hang.horizon)];
    }
    // In good, the last time the same condition was looked at.
    if let Some(at) = first {
        observed.prepare(&mut scene.bad[bad].loaded);
        if let Some((good, _, found)) = scene.in_good(bad, at)? {
            if let Some(last) = found.before.or(found.instruction()) {
                scene.ask_good(
                    &mut observed,
                    good,
                    vec![Criterion { at: last, wanted: vec![Wanted::All] }],
                )?;
            }
        }
    }
    Ok(Some(observed))
}

/// Nothing recorded explains it.
pub(super) fn unknown(scene: &Scene<'_>) -> Result<Observed, Error> {
    let (good, bad) = (scene.good_run.output, scene.bad_run.output);
    let differs = (0..scene.bad.len()).find(|b| {
        let theirs = scene.partner(*b).and_then(|g| scene.good[g].exit());
        theirs.is_some() && theirs.map(|e| e.1) != scene.bad[*b].exit().map(|e| e.1)
    });
    if let Some(b) = differs {
        return by_status(scene, b, "unknown");
    }
    let mut observed = Observed::default();
    observed.observation.kind = "unknown".to_owned();
    observed.observation.summary = format!("the test {}, with good it {}", end_of(bad), end_of(good));
    observed.notes.push(if scene.bad.is_empty() {
        "no recorded process took part in the test: was it built with the compiler that was given?".to_owned()
    } else {
        "the recorded processes ended alike and put out the same; the difference was made by something else"
            .to_owned()
    });
    Ok(observed)
}

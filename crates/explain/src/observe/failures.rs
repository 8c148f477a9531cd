//! Failures that are observable by themselves: assertions, `abort`, signals; and the unknown failure as a
//! fallback.

use super::damage::{self, Damage, Pointee, What};
use super::ends::{ProcessEnd, call_at, last_call, machine_at};
use super::outputs::ends_in;
use super::places::at;
use super::scene::Scene;
use super::words::{end_of, show, signal_name};
use super::{Error, Observed, absent, pointer, status};
use crate::align::Side;
use program::inst::{Inst, Operand};
use program::names::readable;
use slice::{Criterion, Occurrence, Wanted};

const ABORT: u32 = 6;
const ASSERTIONS: [&str; 3] = ["__assert_fail", "__assert_perror_fail", "__assert"];

/// The end of a process of bad: the frame that called the ending function, counted from the outermost, and
/// the step.
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

/// A process of bad that died in one of the functions while good's did not.
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

/// Adds as criterion of good the branch that kept it from this failure.
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

/// Death by a signal of which good's process did not die.
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
    // The counter includes a call when it is made, but not an instruction that itself faults.
    let called = matches!(view.inst(), Inst::Call(_));
    let step = if called { executed.saturating_sub(1) } else { executed };
    let here = Occurrence { stream: stream as u32, step };
    let fault = matches!(signal, 7 | 11);
    let touched = pointer::addresses(view.inst()).into_iter().filter(|o| {
        let value = view.value(*o);
        // The fault address is that of the inaccessible byte; a library function may have advanced the
        // pointer before.
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
    // Damage that an allocator detects was done earlier.
    if called && pointer.is_none() {
        drop(machine);
        if let Some(damage) = damage::first(&process.loaded, stream)? {
            return damaged(scene, bad, &damage, &name, &place);
        }
        return asked(scene, observed, bad, here, vec![Wanted::All], frames.len());
    }
    let wanted = match (pointer, view.inst()) {
        (Some(Operand::Reg(r)), _) => vec![Wanted::Registers(vec![r])],
        (None, Inst::Bin { b: Operand::Reg(r), .. }) => vec![Wanted::Registers(vec![*r])],
        _ => vec![Wanted::Ran],
    };
    drop(machine);
    asked(scene, observed, bad, here, wanted, frames.len())
}

/// The heap was damaged: the observation describes the damage, not the detection by the allocator.
fn damaged(
    scene: &Scene<'_>,
    bad: usize,
    damage: &Damage,
    signal: &str,
    noticed: &str,
) -> Result<Observed, Error> {
    let image = &scene.bad[bad].loaded.image;
    let place = |(function, index): (u32, u32)| {
        let place = scene.bad_sources.place(image, function, index);
        format!("{}:{}", place.file, place.line)
    };
    let mut observed = scene.observed("signal", bad, &damage.frames);
    let here = observed.observation.place.as_ref().map(at).unwrap_or_default();
    let bytes = |n: u64| if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") };
    let did = match &damage.what {
        What::NoBlock(pointee) => {
            let to = match *pointee {
                Pointee::Inside { by, allocated } => {
                    format!("{} into the block allocated at {}", bytes(by), place(allocated))
                }
                Pointee::Data { module, symbol } => {
                    let module = image.module(module);
                    let name = readable(&module.symbols[symbol as usize].name);
                    // Constants without a name have names such as `.str` and `.str.1`.
                    if name.is_empty() || name.starts_with('.') {
                        "a constant of the program".to_owned()
                    } else {
                        format!("`{name}`")
                    }
                }
                Pointee::Local { function } => {
                    let code = image.code(function);
                    let function = &image.module(code.module).functions[code.function as usize];
                    format!("a local variable of {}", readable(&function.name))
                }
            };
            observed.observation.summary = format!(
                "the process was killed by {signal} {noticed}: it freed what is no block of the heap, {to}"
            );
            return asked(scene, observed, bad, damage.at, damage.wanted.clone(), damage.frames.len());
        }
        &What::Outside { len, by, before, size, allocated } => {
            let side = if before { "before" } else { "behind" };
            let where_to = if by == 0 {
                format!("over the end of the block of {}", bytes(size))
            } else if before {
                format!("{} {side} the block of {}", bytes(by), bytes(size))
            } else {
                format!("{} {side} the end of the block of {}", bytes(by), bytes(size))
            };
            format!("wrote {}, {where_to} allocated at {}", bytes(len), place(allocated))
        }
        &What::Freed { len, freed } => {
            format!("wrote {} into a block freed at {}", bytes(len), place(freed.by))
        }
        &What::Again { freed } => format!("freed a block that was already freed at {}", place(freed.by)),
    };
    observed.observation.summary = format!(
        "the process was killed by {signal} {noticed}, where the allocator found its data damaged; before, \
         the program {did}, {here}"
    );
    let mut observed = asked(scene, observed, bad, damage.at, damage.wanted.clone(), damage.frames.len())?;
    // Either the block should still be live, or it should not be used any more: the free is a criterion as
    // well.
    if let What::Freed { freed, .. } | What::Again { freed } = damage.what {
        let at = Occurrence { stream: damage.at.stream, step: freed.step };
        observed.criteria.push(Criterion { at, wanted: vec![Wanted::Ran] });
        observed.observation.earlier = Some(scene.bad_sources.place(image, freed.by.0, freed.by.1));
    }
    Ok(observed)
}

/// Adds a criterion at a step of bad, and at the corresponding step of good.
fn asked(
    scene: &Scene<'_>,
    mut observed: Observed,
    bad: usize,
    here: Occurrence,
    wanted: Vec<Wanted>,
    frames: usize,
) -> Result<Observed, Error> {
    let stream = here.stream as usize;
    Scene::ask(&mut observed, vec![Criterion { at: here, wanted: wanted.clone() }]);
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
                let last = Last { bad, stream, frame: frames.saturating_sub(1), at: here };
                ask_why_not(scene, &mut observed, &last)?;
            }
        }
    }
    Ok(observed)
}

fn canonical(address: u64) -> bool {
    (address.cast_signed() << 16 >> 16).cast_unsigned() == address
}

/// Translates the criterion at an instruction of bad to the same instruction in good: register numbers differ
/// between versions.
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

/// The fallback if the recordings do not explain the failure.
pub(super) fn unknown(scene: &Scene<'_>) -> Result<Observed, Error> {
    let (good, bad) = (scene.good_run.output, scene.bad_run.output);
    let differs = (0..scene.bad.len()).find(|b| {
        // A process that does not replay to its end has no known status.
        let statuses = scene.partner(*b).and_then(|g| scene.good[g].exit()).zip(scene.bad[*b].exit());
        statuses.is_some_and(|(theirs, ours)| theirs.1 != ours.1)
    });
    if let Some(b) = differs {
        return status::by_status(scene, b, "unknown");
    }
    let mut observed = Observed::default();
    observed.observation.kind = "unknown".to_owned();
    let ended = |output: &super::RunOutput| (output.exit, output.signal, output.timed_out);
    if !scene.bad.is_empty() && ended(good) == ended(bad) && good.stdout == bad.stdout {
        observed.observation.summary =
            format!("the failure does not show when bad is recorded: the test {}, as with good", end_of(bad));
        observed.notes.push(
            "A recorded program has another layout of memory, so a fault that depends on it may not show."
                .to_owned(),
        );
        return Ok(observed);
    }
    observed.observation.summary = format!("the test {}, with good it {}", end_of(bad), end_of(good));
    observed.notes.push(if scene.bad.is_empty() {
        "no recorded process took part in the test: was it built with the compiler that was given?".to_owned()
    } else if scene.bad.iter().any(|process| process.exit().is_none() && process.crash().is_none()) {
        "a recorded process of bad does not replay to its end, so what decided its exit status is not known"
            .to_owned()
    } else {
        "the recorded processes ended alike and put out the same; the difference was made by something else"
            .to_owned()
    });
    Ok(observed)
}

//! Determines the `exit` or return that decided the exit status.

use super::ends::{ProcessEnd, call_at, ends_process, last_call};
use super::places::at;
use super::scene::Scene;
use super::words::signal_name;
use super::{Error, Observed};
use program::inst::{Inst, Operand};
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use slice::{Criterion, Occurrence, Wanted};
use std::cmp::Reverse;

/// The call or return that decided the exit status of a process, and its criterion.
struct Decision {
    frames: Vec<(u32, u32)>,
    /// The jump to the single return of `main`: a `return` of the source.
    jump: Option<(u32, u32)>,
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
            jump: None,
            criterion: Criterion { at, wanted: vec![wanted] },
            status,
            by: format!("a call of {name}"),
        }));
    }
    let Some(s) = process.loaded.streams.get(stream) else { return Ok(None) };
    let mut main = MainReturn::default();
    Machine::new(image, &s.stream).run(&mut main, u64::MAX)?;
    let Some((function, index, step)) = main.returned else { return Ok(None) };
    let code = image.code(function);
    let inst = &image.module(code.module).functions[code.function as usize].code[index as usize];
    let wanted = match inst {
        Inst::Return { value: Some(Operand::Reg(r)), .. } => Wanted::Registers(vec![*r]),
        _ => Wanted::Ran,
    };
    let at = Occurrence { stream: stream as u32, step };
    Ok(Some(Decision {
        frames: vec![(function, index)],
        jump: main.jump.map(|from| (function, from)),
        criterion: Criterion { at, wanted: vec![wanted] },
        status,
        by: "the return".to_owned(),
    }))
}

/// The last return from `main`, and the last jump before it.
#[derive(Default)]
struct MainReturn {
    returned: Option<(u32, u32, u64)>,
    jump: Option<u32>,
}

impl Observer for MainReturn {
    #[inline]
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        if view.depth != 1 {
            return;
        }
        match view.inst() {
            Inst::Jump { .. } => self.jump = Some(view.index),
            Inst::Return { .. } if view.function().name == "main" => {
                let function = view.image.function(view.code.module, view.code.function);
                self.returned = function.map(|function| (function, view.index, view.count));
            }
            _ => {}
        }
    }
}

/// A different exit status of the test, if that of a recorded process differs too.
pub(super) fn exit_status(scene: &mut Scene<'_>) -> Result<Option<Observed>, Error> {
    let (good, bad) = (scene.good_run.output, scene.bad_run.output);
    if (good.exit, good.signal) == (bad.exit, bad.signal) {
        return Ok(None);
    }
    let status = bad.exit.map(|s| s.cast_unsigned());
    // Processes whose status became that of the test come first, then those that good ran too; of these,
    // those that are not forked children and have no recorded parent, which would report its child's status.
    // Of the commands of a script, the status of the last one became that of the test. A recording has no
    // times at which processes ended, but they are in the order in which they were started.
    let mut candidates: Vec<(bool, usize)> = Vec::new();
    for b in 0..scene.bad.len() {
        let Some((_, ours)) = scene.bad[b].exit() else { continue };
        let theirs = scene.partner(b).and_then(|g| scene.good[g].exit()).map(|e| e.1);
        let differs = theirs.map_or(ours != 0, |theirs| theirs != ours);
        if differs {
            candidates.push((Some(ours & 0xff) != status, b));
        }
    }
    let is_child = |b: usize| scene.bad.iter().any(|other| other.pid == scene.bad[b].parent);
    let is_forked = |b: usize| scene.bad[b].streams.iter().any(|s| s.inherited > 0);
    candidates.sort_by_key(|(other, b)| {
        (*other, scene.partner(*b).is_none(), is_forked(*b), is_child(*b), Reverse(*b))
    });
    match candidates.first() {
        Some((_, b)) => by_status(scene, *b, "exit-status").map(Some),
        None => Ok(None),
    }
}

pub(super) fn by_status(scene: &Scene<'_>, bad: usize, kind: &str) -> Result<Observed, Error> {
    let Some(decided) = decision(&scene.bad[bad])? else {
        let mut observed = scene.observed(kind, bad, &[]);
        observed.observation.summary = statuses(scene, bad, None);
        return Ok(observed);
    };
    let mut observed = scene.observed(kind, bad, &decided.frames);
    // All returns of a function lead to one instruction at its closing bracket. The `return` that was taken
    // is more informative.
    let closes = observed.observation.place.as_ref().is_some_and(|place| place.text.trim() == "}");
    if let Some(jump) = decided.jump.filter(|_| closes) {
        let taken = scene.observed(kind, bad, &[jump]);
        if taken.observation.place.as_ref().is_some_and(|place| place.text.contains("return")) {
            observed = taken;
        }
    }
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
    // Good took another exit: the execution of this one is a criterion as well.
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

//! The first difference of an output: a wrong value, an extra write, or a missing one.

use super::absent::{Decided, Why};
use super::argument::{Blamed, blame};
use super::ends::{ProcessEnd, machine_at, stack_at, standing};
use super::outputs::{self, Piece, Sink, Write};
use super::places::at;
use super::scene::Scene;
use super::words::{difference, first_difference, output_sentence};
use super::{Error, Observed, Sinks, absent};
use crate::align::Side;
use slice::{Criterion, Occurrence, Wanted};

/// A byte written by a recorded write.
#[derive(Clone, Copy)]
struct Byte {
    write: Write,
    /// Offset of the byte in the write.
    k: usize,
    /// The call that wrote it.
    at: Occurrence,
}

/// Compares the outputs of the test, or else those of its processes.
pub(super) fn output(scene: &mut Scene<'_>, sinks: Sinks) -> Result<Option<Observed>, Error> {
    let (good, bad) = (scene.good_run.output, scene.bad_run.output);
    let mut compared: Vec<(Sink, &[u8], &[u8])> = Vec::new();
    if sinks.stdout {
        compared.push((Sink::Stdout, &good.stdout, &bad.stdout));
    }
    if sinks.files {
        for (path, content) in &bad.files {
            let theirs = good.files.get(path).map_or(&[][..], |c| c);
            compared.push((Sink::File(path.clone()), theirs, content));
        }
        for (path, content) in good.files.iter().filter(|f| !bad.files.contains_key(f.0)) {
            compared.push((Sink::File(path.clone()), content, &[]));
        }
    }
    if sinks.stderr {
        compared.push((Sink::Stderr, &good.stderr, &bad.stderr));
    }
    let mut seen = None;
    for (sink, theirs, ours) in compared {
        let Some(offset) = first_difference(theirs, ours) else { continue };
        let made = Made {
            offset,
            good: outputs::pieces(&scene.good, &sink, theirs),
            bad: outputs::pieces(&scene.bad, &sink, ours),
        };
        let d = difference(sink.name(), theirs, ours, offset);
        let summary = output_sentence(sink.name(), &d, theirs, ours);
        if let Some(mut observed) = trace(scene, &made)? {
            observed.observation.output = Some(d);
            observed.observation.summary = sentence(&summary, &observed);
            return Ok(Some(observed));
        }
        seen = seen.or(Some((d, summary)));
    }
    // Another process changed the output (a filter), or only tested it (a script): the output of the recorded
    // processes themselves may still differ.
    for bad in 0..scene.bad.len() {
        let Some(good) = scene.partner(bad) else { continue };
        for sink in [Sink::Stdout, Sink::Stderr] {
            if (sink == Sink::Stderr && !sinks.stderr) || (sink == Sink::Stdout && !sinks.stdout) {
                continue;
            }
            let (ours, pieces) = outputs::own_output(&scene.bad, bad, &sink);
            let (theirs, good_pieces) = outputs::own_output(&scene.good, good, &sink);
            let Some(offset) = first_difference(&theirs, &ours) else { continue };
            let d = difference(sink.name(), &theirs, &ours, offset);
            let program = &scene.bad[bad].program;
            let summary = output_sentence(&format!("{} of {program}", sink.name()), &d, &theirs, &ours);
            let made = Made { offset, good: good_pieces, bad: pieces };
            let Some(mut observed) = trace(scene, &made)? else { continue };
            observed.observation.summary = sentence(&summary, &observed);
            observed.observation.output = Some(d);
            if let Some((_, whole)) = seen {
                observed.notes.push(format!("in the test's own output: {whole}"));
            }
            return Ok(Some(observed));
        }
    }
    if let Some((d, summary)) = &seen
        && let Some(mut observed) = super::commands::command(scene, summary)?
    {
        if let Some(place) = &observed.observation.place {
            observed.observation.summary = format!("{} {}", observed.observation.summary, at(place));
        }
        observed.observation.output = Some(d.clone());
        return Ok(Some(observed));
    }
    Ok(match seen {
        Some((d, summary)) => {
            let mut observed = super::failures::unknown(scene)?;
            observed.observation.output = Some(d);
            if observed.criteria.is_empty() {
                observed.observation.summary = summary;
                observed.notes.clear();
                if !scene.bad.is_empty() {
                    let note = "the bytes that differ were not written by recorded code";
                    observed.notes.push(note.to_owned());
                }
            } else {
                observed.notes.push(format!("{summary}; no recorded process wrote that"));
            }
            Some(observed)
        }
        None => None,
    })
}

/// The sentence with the location. The observation's summary may already contain the words before the
/// location.
fn sentence(summary: &str, observed: &Observed) -> String {
    let Some(place) = &observed.observation.place else { return summary.to_owned() };
    let what = match observed.observation.summary.as_str() {
        "" => "written",
        what => what,
    };
    format!("{summary}; {what} {}", at(place))
}

/// The writes that produced an output.
struct Made {
    offset: usize,
    good: Vec<Piece>,
    bad: Vec<Piece>,
}

fn byte(ends: &[ProcessEnd], pieces: &[Piece], offset: usize) -> Result<Option<Byte>, Error> {
    let Some((write, k)) = outputs::find(pieces, offset) else { return Ok(None) };
    Ok(Some(Byte { write, k, at: call_of(ends, write)? }))
}

/// The call that executed a write.
fn call_of(ends: &[ProcessEnd], write: Write) -> Result<Occurrence, Error> {
    let event = write.event(ends);
    let process = &ends[write.process].loaded;
    let step = event.instruction.saturating_sub(1);
    let site = (event.position.module, event.position.site);
    let quick = machine_at(process, write.stream, step)?;
    let here = quick.view().is_some_and(|v| (v.code.module, v.site()) == site);
    let step = if here {
        step
    } else {
        // The function called back before it wrote.
        let stack = standing(process, write.stream, event.instruction)?;
        let found = stack.iter().rev().find(|s| {
            let first = process.image.module(s.module).functions[s.function as usize].first_site;
            (s.module, first + s.index) == site
        });
        found.map_or(step, |s| s.step)
    };
    Ok(Occurrence { stream: write.stream as u32, step })
}

/// Derives the criteria from the byte.
fn trace(scene: &Scene<'_>, made: &Made) -> Result<Option<Observed>, Error> {
    let ours = byte(&scene.bad, &made.bad, made.offset)?;
    let theirs = byte(&scene.good, &made.good, made.offset)?;
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => both(scene, made, ours, theirs).map(Some),
        (Some(ours), None) if scene.good.is_empty() => {
            let blamed = blamed(&scene.bad, ours, None)?;
            let mut wanted = blamed.wanted;
            wanted.push(Wanted::Ran);
            let mut observed = written(scene, "output", ours)?;
            Scene::ask(&mut observed, vec![Criterion { at: ours.at, wanted }]);
            Ok(Some(observed))
        }
        (Some(ours), None) => extra(scene, ours).map(Some),
        (None, Some(theirs)) => missing(scene, made, theirs),
        (None, None) => Ok(None),
    }
}

fn blamed(
    ends: &[ProcessEnd],
    byte: Byte,
    other: Option<(&replay::io::IoEvent, usize)>,
) -> Result<Blamed, Error> {
    blame(&ends[byte.write.process].loaded, byte.write.stream, byte.write.event(ends), byte.k, other)
}

/// An observation at a write of bad.
fn written(scene: &Scene<'_>, kind: &str, byte: Byte) -> Result<Observed, Error> {
    let frames = stack_at(&scene.bad[byte.write.process].loaded, byte.at)?;
    Ok(scene.observed(kind, byte.write.process, &frames))
}

/// Both runs wrote a byte at this offset.
fn both(scene: &Scene<'_>, made: &Made, ours: Byte, theirs: Byte) -> Result<Observed, Error> {
    let in_bad = scene.in_bad(theirs.write.process, theirs.at)?;
    let exact = in_bad.as_ref().and_then(|(bad, _, f)| (*bad == ours.write.process).then_some(f.exact?));
    let Some(exact) = exact else {
        // Bad did not execute good's write. If good executed bad's write later, bad omitted something.
        let is_in_good =
            scene.in_good(ours.write.process, ours.at)?.is_some_and(|(_, _, f)| f.exact.is_some());
        if is_in_good && let Some(observed) = missing(scene, made, theirs)? {
            return Ok(observed);
        }
        // A child's write is not compared with the parent's: differences between these two exist in good as
        // well.
        if !is_in_good && scene.partner(ours.write.process).is_some_and(|good| good != theirs.write.process) {
            return extra(scene, ours);
        }
        return instead(scene, ours, theirs);
    };
    if exact == ours.at {
        return same_call(scene, ours, theirs);
    }
    // The write that should have produced the byte came earlier and was shorter, or comes later, after
    // another write.
    let earlier = made.bad.iter().find(|p| {
        p.write.process == ours.write.process
            && p.write.stream == exact.stream as usize
            && call_of(&scene.bad, p.write).is_ok_and(|at| at == exact)
    });
    match earlier {
        Some(piece) if exact.step < ours.at.step && exact.stream == ours.at.stream => {
            let k = piece.write.event(&scene.bad).bytes.len().min(theirs.k);
            same_call(scene, Byte { write: piece.write, k, at: exact }, theirs)
        }
        _ => {
            let in_good = scene.in_good(ours.write.process, ours.at)?;
            if in_good.is_some_and(|(_, _, f)| f.exact.is_some()) {
                return instead(scene, ours, theirs);
            }
            extra(scene, ours)
        }
    }
}

/// The same call wrote another value.
fn same_call(scene: &Scene<'_>, ours: Byte, theirs: Byte) -> Result<Observed, Error> {
    let (our_event, their_event) = (ours.write.event(&scene.bad), theirs.write.event(&scene.good));
    let blame_ours = blamed(&scene.bad, ours, Some((their_event, theirs.k)))?;
    let blame_theirs = blamed(&scene.good, theirs, Some((our_event, ours.k)))?;
    let mut observed = written(scene, "output", ours)?;
    Scene::ask(&mut observed, vec![Criterion { at: ours.at, wanted: blame_ours.wanted }]);
    let good = Criterion { at: theirs.at, wanted: blame_theirs.wanted };
    scene.ask_good(&mut observed, theirs.write.process, vec![good])?;
    Ok(observed)
}

/// Each run executed a write that the other did not: the criteria are its execution and its value.
fn instead(scene: &Scene<'_>, ours: Byte, theirs: Byte) -> Result<Observed, Error> {
    let mut observed = written(scene, "output", ours)?;
    let wanted = |blamed: Blamed| {
        let mut wanted = blamed.wanted;
        if !wanted.contains(&Wanted::Ran) {
            wanted.push(Wanted::Ran);
        }
        wanted
    };
    let our_wanted = wanted(blamed(&scene.bad, ours, None)?);
    let their_wanted = wanted(blamed(&scene.good, theirs, None)?);
    Scene::ask(&mut observed, vec![Criterion { at: ours.at, wanted: our_wanted }]);
    let good = Criterion { at: theirs.at, wanted: their_wanted };
    scene.ask_good(&mut observed, theirs.write.process, vec![good])?;
    Ok(observed)
}

/// Bad executed a write that good did not.
fn extra(scene: &Scene<'_>, ours: Byte) -> Result<Observed, Error> {
    let bad = ours.write.process;
    let mut observed = written(scene, "extra-output", ours)?;
    Scene::ask(&mut observed, vec![Criterion { at: ours.at, wanted: vec![Wanted::Ran] }]);
    if let Some(good) = scene.partner(bad)
        && let Some(stream) = scene.good_stream(bad, good, ours.write.stream)
    {
        let lines = scene.lines(bad);
        let from = (&scene.bad[bad].loaded, Side::Bad);
        let to = (&scene.good[good].loaded, stream);
        observed.good_process = Some(scene.good[good].index);
        if let Some(decided) = absent::why_not(from, ours.at, to, &lines)? {
            scene.ask_good(&mut observed, good, vec![decided.criterion])?;
        }
    }
    Ok(observed)
}

/// Good executed a write that bad did not.
fn missing(scene: &Scene<'_>, made: &Made, theirs: Byte) -> Result<Option<Observed>, Error> {
    let good = theirs.write.process;
    let Some(bad) = scene.partner_of_good(good) else { return Ok(None) };
    let Some(stream) = scene.bad_stream(bad, good, theirs.write.stream) else { return Ok(None) };
    let lines = scene.lines(bad);
    let from = (&scene.good[good].loaded, Side::Good);
    let to = (&scene.bad[bad].loaded, stream);
    let Some(Decided { criterion, why }) = absent::why_not(from, theirs.at, to, &lines)? else {
        return Ok(None);
    };
    if why == Why::Instruction {
        // The call ran and wrote less.
        let piece = made.bad.iter().find(|p| {
            p.write.process == bad && call_of(&scene.bad, p.write).is_ok_and(|at| at == criterion.at)
        });
        if let Some(piece) = piece {
            let k = piece.write.event(&scene.bad).bytes.len().min(theirs.k);
            return same_call(scene, Byte { write: piece.write, k, at: criterion.at }, theirs).map(Some);
        }
    }
    let frames = stack_at(&scene.bad[bad].loaded, criterion.at)?;
    let mut observed = scene.observed("missing-output", bad, &frames);
    // The beginning of the sentence.
    observed.observation.summary = match why {
        Why::Branch | Why::Instruction => "what decided against it is".to_owned(),
        Why::Ended => "the process ended before,".to_owned(),
        Why::Near => "the code that wrote it is gone, it followed what is".to_owned(),
    };
    Scene::ask(&mut observed, vec![criterion]);
    let asked = Criterion { at: theirs.at, wanted: vec![Wanted::Ran] };
    scene.ask_good(&mut observed, good, vec![asked])?;
    Ok(Some(observed))
}

//! Answers do not depend on the timeline: whether it was just made, was kept, or is damaged.

use super::generate;
use crate::sandbox::recorded;
use replay::process::LoadedProcess;
use slice::executions::Execution;
use slice::{Criterion, Occurrence, Slicer, SlicerOptions, Visit, Wanted, Which};
use std::collections::BTreeSet;

/// Short segments, so that there are many.
const SEGMENT: u64 = 61;

fn slicer(process: &LoadedProcess, segment: u64, keep_timeline: bool) -> Slicer<'_> {
    Slicer::new(process, SlicerOptions { segment, keep_timeline, ..SlicerOptions::default() })
}

/// All that is asked about a run.
#[derive(Debug, PartialEq)]
struct Answers {
    slices: Vec<BTreeSet<(u64, u32)>>,
    visits: Vec<Option<Visit>>,
    executions: Vec<Option<(u32, Execution)>>,
    lines: Vec<Vec<Criterion>>,
    failure: Option<Criterion>,
}

fn ask(slicer: &Slicer<'_>, seed: u64) -> Answers {
    let mut random = generate::Random::new(seed + 1);
    let steps = slicer.steps(0).expect("a replay");
    let slices = (0..12).map(|_| {
        let at = Occurrence { stream: 0, step: random.below(steps) };
        let question = [Criterion { at, wanted: vec![Wanted::All] }];
        let slice = slicer.slice(&question, &mut |_| {}).expect("a slice");
        slice.nodes.iter().map(|n| (n.at.step, n.site.index)).collect()
    });
    let slices = slices.collect();
    let lines = 1..120;
    let of = |number, before| Which { number, before, ..Which::default() };
    let which = [of(None, None), of(Some(1), None), of(Some(3), None), of(None, Some(steps / 2))];
    let executions = lines.clone().flat_map(|line| {
        let found = |which| slicer.execution("p.c", line, which).expect("a replay");
        which.iter().map(found).collect::<Vec<_>>()
    });
    Answers {
        slices,
        visits: lines.clone().map(|line| slicer.last_visit("p.c", line).expect("a replay")).collect(),
        executions: executions.collect(),
        lines: lines.map(|line| slicer.line_criteria("p.c", line).expect("a replay")).collect(),
        failure: slicer.failure_criterion().expect("a replay"),
    }
}

#[test]
fn answers_are_the_same_with_any_timeline_and_without() {
    for seed in 0..6 {
        let (_desk, process) = recorded(&generate::Program::write(seed), "");
        // In one segment nothing can be left out.
        let plain = ask(&slicer(&process, 1 << 40, false), seed);
        assert_eq!(ask(&slicer(&process, SEGMENT, true), seed), plain, "seed {seed}, just made");
        let kept = slicer(&process, SEGMENT, false);
        let stored = kept.timeline(0).expect("a timeline").iter().filter(|s| s.stored).count();
        assert!(stored > 0, "seed {seed}: {stored} stored checkpoints");
        assert_eq!(ask(&kept, seed), plain, "seed {seed}, kept");
    }
}

#[test]
fn a_damaged_timeline_is_made_anew() {
    let seed = 3;
    let (_desk, process) = recorded(&generate::Program::write(seed), "");
    let plain = ask(&slicer(&process, 1 << 40, false), seed);
    let path = slice::timeline::path(&process, &process.streams[0]).expect("a path");
    assert!(!path.exists(), "nobody asked to keep one");
    slicer(&process, SEGMENT, true).steps(0).expect("a replay");
    let whole = std::fs::read(&path).expect("a timeline");
    let stored = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("a file");
        let segments = slicer(&process, SEGMENT, false).timeline(0).expect("a timeline");
        segments.iter().any(|s| s.stored)
    };
    assert!(stored(&whole));
    for at in (0..whole.len()).step_by(whole.len() / 200 + 1).chain(0..64) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        assert!(!stored(&bytes), "byte {at} was changed");
        assert!(!stored(&whole[..at]), "cut at {at}");
    }
    for at in [20, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..at]).expect("a file");
        assert_eq!(ask(&slicer(&process, SEGMENT, false), seed), plain, "cut at {at}");
    }
    assert_eq!(ask(&slicer(&process, SEGMENT, true), seed), plain);
    let anew = std::fs::read(&path).expect("a timeline");
    assert!(stored(&anew), "it was made anew");
    // Another length of segments is another timeline.
    assert!(!slicer(&process, 67, false).timeline(0).expect("a timeline").iter().any(|s| s.stored));
}

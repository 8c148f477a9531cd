//! The path to the failure through several processes.
//!
//! The slices of a failure are of one process. If they reach no guilty change, the change may be in a program
//! that wrote data that this process read. For each run, the processes that did are sliced like the one that
//! failed, with the data they wrote as the criterion.

use crate::align::Side;
use crate::answer::{Cause, Observation};
use crate::case::{Case, Loaded};
use crate::findings::{Findings, Run, reached};
use crate::observe::{Observed, options};
use changes::search::Found;
use recording::Recording;
use replay::process::LoadedProcess;
use slice::writers::{Writer, writers};
use slice::{NodeId, SlicerOptions};
use std::collections::BTreeMap;
use std::path::Path;

/// The maximum number of processes through which bytes are followed, one after the other.
const MOST: usize = 4;

/// A process that wrote data that the failing one read.
struct Upstream {
    loaded: Loaded,
    /// Steps of bad's reader that read the data.
    read_at: Vec<u64>,
}

/// Adds the paths through other processes to the causes, if a guilty change is not among them.
pub fn follow(case: &Case<'_>, findings: &Findings<'_>, found: &Found, causes: &mut Vec<Cause>) {
    if found.root.is_empty() || found.root.iter().all(|id| reached(causes).contains(&id.0)) {
        return;
    }
    let mut todo: Vec<(Upstream, usize)> =
        before(case, findings).into_iter().map(|process| (process, 1)).collect();
    while let Some((process, far)) = todo.pop() {
        let findings = process.loaded.slice(case);
        let evidence = findings.evidence(case);
        let observation = &process.loaded.observed.observation;
        let ways = findings.causes(case, &evidence, found, observation);
        let known = reached(causes);
        if reached(&ways).is_subset(&known) {
            if far < MOST {
                todo.extend(before(case, &findings).into_iter().map(|process| (process, far + 1)));
            }
            continue;
        }
        for mut way in ways {
            "call".clone_into(&mut way.kind);
            attach(causes, way, &process.read_at);
        }
        crate::values::number(causes, &mut 0);
    }
}

/// Attaches a path below the step that read its data, or else below the last step.
fn attach(causes: &mut Vec<Cause>, mut way: Cause, read_at: &[u64]) {
    let Some(top) = causes.first_mut() else {
        causes.push(way);
        return;
    };
    let path = path_to(top, &|cause| cause.step.is_some_and(|step| read_at.contains(&step)));
    let mut at = top;
    way.how = match path {
        Some(_) => "wrote what is read here",
        None => "wrote what this program reads",
    }
    .to_owned();
    match path {
        Some(path) => {
            for child in path {
                at = &mut at.children[child];
            }
        }
        None => {
            while !at.children.is_empty() {
                at = &mut at.children[0];
            }
        }
    }
    at.children.push(way);
}

/// The child indices that lead to the first cause that `is_meant` accepts.
fn path_to(cause: &Cause, is_meant: &dyn Fn(&Cause) -> bool) -> Option<Vec<usize>> {
    let mut todo: Vec<(&Cause, Vec<usize>)> = vec![(cause, Vec::new())];
    while let Some((cause, path)) = todo.pop() {
        if is_meant(cause) {
            return Some(path);
        }
        for (n, child) in cause.children.iter().enumerate().rev() {
            todo.push((child, [&path[..], &[n]].concat()));
        }
    }
    None
}

/// The processes that wrote data that the runs read, paired by their programs.
fn before(case: &Case<'_>, findings: &Findings<'_>) -> Vec<Upstream> {
    let loaded = findings.loaded();
    let open = |side: Side| {
        let (_, directory) = case.end(side == Side::Good);
        Recording::open(directory?).ok()
    };
    let (Some(bad), Some(bad_run)) = (open(Side::Bad), &findings.bad) else { return Vec::new() };
    let of_bad = of_run(&bad, loaded.observed.process, bad_run);
    let good = open(Side::Good);
    let mut of_good = match (&good, loaded.observed.good_process, &findings.good) {
        (Some(recording), Some(process), Some(run)) => of_run(recording, process, run),
        _ => BTreeMap::new(),
    };
    let load = |recording: &Recording, process: usize| {
        LoadedProcess::load(recording, recording.processes.get(process)?, &options()).ok()
    };
    let mut all = Vec::new();
    for (process, (writer, read_at)) in of_bad {
        let program = program(&bad, process, case.tree(Side::Bad));
        let same = |other: &usize| {
            let there = good.as_ref().map(|r| self::program(r, *other, case.tree(Side::Good)));
            there.as_ref() == Some(&program)
        };
        let good_process = of_good.keys().copied().find(same);
        let good_writer = good_process.and_then(|other| of_good.remove(&other));
        let Some(bad_loaded) = load(&bad, process) else { continue };
        let short = |path: &str| {
            let path = Path::new(path);
            path.strip_prefix(case.tree(Side::Bad)).unwrap_or(path).display().to_string()
        };
        let observation = Observation {
            kind: "output".to_owned(),
            summary: format!("`{program}` wrote {}", writer.words(short)),
            ..Observation::default()
        };
        let observed = Observed {
            observation,
            process,
            criteria: writer.criteria,
            good_process,
            good_criteria: good_writer.map(|(writer, _)| writer.criteria).unwrap_or_default(),
            ..Observed::default()
        };
        let good_loaded = good.as_ref().zip(good_process).and_then(|(r, process)| load(r, process));
        let loaded = Loaded::of_processes(observed, good_loaded, bad_loaded, loaded.executed.clone());
        all.push(Upstream { loaded, read_at });
    }
    all
}

/// A program's path relative to its version's tree.
fn program(recording: &Recording, process: usize, root: &Path) -> String {
    let path = Path::new(&recording.processes[process].info.executable);
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// The processes that wrote data that a run read, and the steps that read it.
fn of_run(recording: &Recording, reader: usize, run: &Run<'_>) -> BTreeMap<usize, (Writer, Vec<u64>)> {
    let Ok(received) = run.slicer.received(&run.traced.slice) else { return BTreeMap::new() };
    let found = writers(recording, reader, &received, &options(), SlicerOptions::default());
    // Writers that cannot be determined are omitted.
    let found = found.unwrap_or_default();
    let step = |node: NodeId| run.traced.slice.nodes.get(node as usize).map(|node| node.at.step);
    let read_at: Vec<u64> = received.iter().filter_map(|item| step(item.node)).collect();
    found.into_iter().map(|(process, writer)| (process, (writer, read_at.clone()))).collect()
}

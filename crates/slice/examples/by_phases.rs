//! Measures the effort to find a known fault in phases and along chains: `by_phases RECORDING
//! failure|SINK@BYTE FILE:LINE…`, where the lines are the faulty ones.
//!
//! The oracle knows every correct value: at each level it names the first wrong one, that is the first that
//! depends on a faulty line. Writes figures as lines of `name=value`; `cargo xtask bench slice` makes a
//! table of them. Uses relevant slices, so that they contain a branch that wrongly skipped something.

use replay::process::{LoadedProcess, Options};
use slice::phases::{Level, Oracle, Phased};
use slice::{Criterion, NodeId, Relevance, Slice, Slicer, SlicerOptions};
use std::error::Error;
use std::path::Path;

/// An oracle that knows which executions depend on a faulty line.
struct FaultOracle {
    wrong: Vec<bool>,
}

impl Oracle for FaultOracle {
    fn first_wrong(&mut self, _: &Phased<'_, '_>, level: &Level) -> slice::Result<Option<usize>> {
        Ok(level.flows.iter().position(|f| self.wrong[f.node as usize]))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, question, faults @ ..] = &args[..] else {
        return Err("usage: by_phases RECORDING failure|SINK@BYTE FILE:LINE...".into());
    };
    let recording = recording::Recording::open(Path::new(path))?;
    for process in &recording.processes {
        let process = LoadedProcess::load(&recording, process, &Options::default())?;
        let slicer = Slicer::new(&process, SlicerOptions::default());
        let criterion = match question.split_once('@') {
            Some((sink, byte)) => slicer.output_criterion(sink, byte.parse()?)?,
            None => slicer.failure_criterion()?,
        };
        if let Some(criterion) = criterion {
            return measure(&slicer, criterion, faults);
        }
    }
    Err("no process has an answer to the question".into())
}

fn measure(slicer: &Slicer<'_>, criterion: Criterion, faults: &[String]) -> Result<(), Box<dyn Error>> {
    let slice = slicer.relevant(&[criterion], Relevance::default(), &mut |_| {})?;
    println!("executions={}", slice.nodes.len());
    let from = slice.criteria.iter().flatten().next_back().copied().ok_or("the slice is empty")?;
    let at_fault: Vec<NodeId> = (0..slice.nodes.len() as NodeId)
        .filter(|n| {
            let (file, line) = place(slicer, &slice, *n);
            faults.iter().any(|f| {
                f.rsplit_once(':').is_some_and(|(name, number)| {
                    number.parse() == Ok(line) && Path::new(&file).ends_with(name)
                })
            })
        })
        .collect();
    println!("faulty={}", at_fault.len());
    let Some(first) = at_fault.iter().min_by_key(|n| slice.nodes[**n as usize].at).copied() else {
        return Ok(());
    };
    let phased = Phased::new(slicer, &slice);
    let search = phased.search(from, &mut FaultOracle { wrong: came_from(&slice, &at_fault) })?;
    let found = place(slicer, &slice, search.found.node);
    println!("found={}", at_fault.iter().any(|n| place(slicer, &slice, *n) == found));
    println!("levels={}", search.turns.len());
    println!("questions={}", search.questions);
    println!("shown={}", search.shown);
    let chains = at_fault.iter().filter_map(|n| phased.explore(from, *n)).min_by_key(|e| e.examined);
    if let Some(chains) = chains.or_else(|| phased.explore(from, first)) {
        println!("length={}", chains.length);
        println!("examined={}", chains.examined);
    }
    Ok(())
}

fn place(slicer: &Slicer<'_>, slice: &Slice, node: NodeId) -> (String, u32) {
    let site = slice.nodes[node as usize].site;
    let module = slicer.process().image.module(site.module);
    let place = module.functions[site.function as usize].place(site.index as usize);
    (module.file_path(place.file), place.line)
}

/// For every execution, whether it depends on one of some.
fn came_from(slice: &Slice, some: &[NodeId]) -> Vec<bool> {
    let mut wrong = vec![false; slice.nodes.len()];
    let mut work = some.to_vec();
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut wrong[node as usize], true) {
            work.extend(slice.needed_by(node).map(|(user, _)| user));
        }
    }
    wrong
}

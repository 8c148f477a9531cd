//! The dependences of the failure, and the lines that only one version has: the criteria for ranking
//! suspects.

use program::names::readable;
use replay::process::LoadedProcess;
use slice::{Criterion, Dependence, Request, Slicer, SlicerOptions};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

/// The dependences of the difference between both versions' failing runs, for each run.
#[derive(Default)]
pub struct Failure {
    /// From the failure of the new version, or from its first differing byte of output.
    pub new: Option<DependenceDistances>,
    /// From the old version's output at the same offset.
    pub old: Option<DependenceDistances>,
    /// A description of the new version's slicing criterion.
    pub words: Option<String>,
}

/// The lines that a slicing criterion depends on.
#[derive(Default)]
pub struct DependenceDistances {
    /// The distance of each line: the least number of dependence edges to it.
    depth: HashMap<(String, u32), u32>,
    /// For each line, the line of the branch that controls its nearest execution.
    decided: HashMap<(String, u32), (String, u32)>,
    /// Whether there was no time for all of it.
    pub cut: bool,
}

impl DependenceDistances {
    /// The distance of a line; `None` if it is not in the slice.
    pub fn depth(&self, file: &str, line: u32) -> Option<u32> {
        self.depth.get(&(file.to_owned(), line)).copied()
    }

    /// The line of the branch that controls a line, if it is another one.
    pub fn decided(&self, file: &str, line: u32) -> Option<&(String, u32)> {
        self.decided.get(&(file.to_owned(), line))
    }

    /// If `stop` is set meanwhile, the lines found so far.
    fn of(slicer: &Slicer<'_>, criterion: Criterion, stop: &AtomicBool) -> Option<DependenceDistances> {
        let request = Request { criteria: &[criterion], relevance: None, among: &[], stop: Some(stop) };
        let slice = slicer.ask(&request, &mut |_| {}).ok()?;
        let image = &slicer.process().image;
        let places: Vec<Option<(String, u32)>> = slice
            .nodes
            .iter()
            .map(|node| {
                let module = image.module(node.site.module);
                let place =
                    module.functions.get(node.site.function as usize)?.place(node.site.index as usize);
                Some((module.file_path(place.file), place.line))
            })
            .collect();
        let mut depths: Vec<u32> = Vec::with_capacity(slice.nodes.len());
        let mut found = DependenceDistances { cut: slice.incomplete, ..DependenceDistances::default() };
        for (number, place) in places.iter().enumerate() {
            // A node's users precede it.
            let consumers = slice.needed_by(number as u32);
            let own = consumers.filter_map(|(by, _)| depths.get(by as usize)).min().map_or(0, |d| d + 1);
            depths.push(own);
            let Some(place) = place else { continue };
            let known = found.depth.entry(place.clone()).or_insert(own);
            *known = own.min(*known);
            for (by, _) in slice.needed_by(number as u32).filter(|(_, how)| *how == Dependence::Control) {
                let line = places.get(by as usize).and_then(Option::as_ref).filter(|line| *line != place);
                if let Some(line) = line {
                    found.decided.entry(line.clone()).or_insert_with(|| place.clone());
                }
            }
        }
        Some(found)
    }
}

/// Slices the failing runs: the new version's from its failure, if the old one succeeded; else, and the old
/// version's always, from the first differing byte of standard output. If `stop` is set meanwhile, the slices
/// are cut.
pub fn of(old: &LoadedProcess, new: &LoadedProcess, stop: &AtomicBool) -> Failure {
    let slicer = |process| Slicer::new(process, SlicerOptions::default());
    let (old, new) = (slicer(old), slicer(new));
    let output = |slicer: &Slicer<'_>| slicer.output_bytes("stdout").ok().flatten();
    let (of_old, of_new) = (output(&old), output(&new));
    let (before, after) = (of_old.as_ref().map(|o| o.1.as_slice()), of_new.as_ref().map(|o| o.1.as_slice()));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    // The first byte that is not in the other run's output.
    let differing = |slicer: &Slicer<'_>, output: &Option<(u64, Vec<u8>)>| {
        let (start, bytes) = output.as_ref().filter(|(_, bytes)| same < bytes.len())?;
        let criterion = slicer.output_criterion("stdout", start + same as u64).ok()??;
        let line = 1 + bytes[..same].iter().filter(|b| **b == b'\n').count();
        Some((criterion, format!("line {line} of the output of the new version")))
    };
    let asked = match (old.has_succeeded(), new.has_succeeded()) {
        (Ok(true), Ok(false)) => {
            let failure = new.failure_criterion().ok().flatten();
            failure.map(|criterion| (criterion, "where the new version failed".to_owned()))
        }
        (Ok(_), Ok(_)) => differing(&new, &of_new),
        _ => None,
    };
    Failure {
        words: asked.as_ref().map(|(_, words)| words.clone()),
        new: asked.and_then(|(criterion, _)| DependenceDistances::of(&new, criterion, stop)),
        old: differing(&old, &of_old)
            .and_then(|(criterion, _)| DependenceDistances::of(&old, criterion, stop)),
    }
}

/// Finds source lines that only one version has.
#[derive(Default)]
pub struct Changed {
    /// The files in which the other version defines a function of this name.
    defined: HashMap<String, Vec<String>>,
    /// The lines of files, without white space.
    files: RefCell<HashMap<String, HashSet<String>>>,
}

impl Changed {
    pub fn new(other: &LoadedProcess) -> Changed {
        let mut defined: HashMap<String, Vec<String>> = HashMap::new();
        for (index, _) in other.image.modules() {
            let module = other.image.module(index);
            for function in &module.functions {
                let files = defined.entry(readable(&function.name).into_owned()).or_default();
                let file = module.file_path(function.file);
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        Changed { defined, files: RefCell::default() }
    }

    /// Whether a line of a function does not occur in a file in which the other version defines this
    /// function. A function that the other version does not have does not count as changed.
    pub fn is(&self, function: &str, file: &str, line: u32) -> bool {
        let Some(of_other) = self.defined.get(function) else { return false };
        let Some(line) = crate::source::line(file, line) else { return false };
        let line: String = line.split_whitespace().collect();
        let mut files = self.files.borrow_mut();
        of_other.iter().all(|file| {
            let lines = files.entry(file.clone()).or_insert_with_key(|file| {
                let text = std::fs::read_to_string(file).unwrap_or_default();
                text.lines().map(|line| line.split_whitespace().collect()).collect()
            });
            !lines.is_empty() && !lines.contains(&line)
        })
    }
}

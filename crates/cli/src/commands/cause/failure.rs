//! The dependences of the failure, and the lines that only one version has: the criteria for ranking
//! suspects.

use replay::process::LoadedProcess;
use slice::{Criterion, Dependence, Slicer, SlicerOptions};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use views::trace::Trace;

/// The dependences of the difference between both versions' failing runs, for each run.
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

    fn of(slicer: &Slicer<'_>, criterion: Criterion) -> Option<DependenceDistances> {
        let slice = slicer.slice(&[criterion], &mut |_| {}).ok()?;
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
        let mut found = DependenceDistances::default();
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
/// version's always, from the first differing byte of standard output.
pub fn of(old: &LoadedProcess, new: &LoadedProcess) -> Failure {
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
        new: asked.and_then(|(criterion, _)| DependenceDistances::of(&new, criterion)),
        old: differing(&old, &of_old).and_then(|(criterion, _)| DependenceDistances::of(&old, criterion)),
    }
}

/// Finds source lines that only one version has.
pub struct Changed<'t> {
    /// The other version's run.
    other: &'t Trace,
    /// The lines of files, without white space.
    files: RefCell<HashMap<String, HashSet<String>>>,
}

impl<'t> Changed<'t> {
    pub fn new(other: &'t Trace) -> Changed<'t> {
        Changed { other, files: RefCell::default() }
    }

    /// Whether a line of a function does not occur in the file in which the other version defines this
    /// function. A function that the other version did not run does not count as changed.
    pub fn is(&self, function: &str, file: &str, line: u32) -> bool {
        let text = |method: &views::trace::Method| self.other.names.text(method.name) == function;
        let Some(method) = self.other.methods.iter().find(|m| text(m)) else { return false };
        let of_other = self.other.names.text(method.file).to_owned();
        let Some(line) = crate::source::line(file, line) else { return false };
        let mut files = self.files.borrow_mut();
        let lines = files.entry(of_other).or_insert_with_key(|file| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.lines().map(|line| line.split_whitespace().collect()).collect()
        });
        !lines.is_empty() && !lines.contains(&line.split_whitespace().collect::<String>())
    }
}

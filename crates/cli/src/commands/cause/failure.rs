//! What the failure depends on, and which lines the versions do not share: what suspects are ranked by.

use replay::process::LoadedProcess;
use slice::{Criterion, Dependence, Slicer, SlicerOptions};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use views::told::Entry;
use views::trace::Trace;

/// The lines that the failure depends on, with how far back each is: the dependences between it and
/// the failure, the fewest there are.
pub struct Failure {
    depth: HashMap<(String, u32), u32>,
    /// The line whose decision made a line run, of the execution that is nearest to the failure.
    decided: HashMap<(String, u32), (String, u32)>,
    /// What was sliced, in words.
    pub words: String,
}

impl Failure {
    /// How far back a line is; none if the failure does not depend on it.
    pub fn depth(&self, file: &str, line: u32) -> Option<u32> {
        self.depth.get(&(file.to_owned(), line)).copied()
    }

    /// The line whose decision made a line run, if another line did.
    pub fn decided(&self, file: &str, line: u32) -> Option<&(String, u32)> {
        self.decided.get(&(file.to_owned(), line))
    }
}

/// Slices the failing run of the new version: from where it failed, if the old one did not fail, or
/// from the first byte of standard output that is another one. None if neither is known.
pub fn of(old: &LoadedProcess, new: &LoadedProcess) -> Option<Failure> {
    let (old, new) = (slicer(old), slicer(new));
    let (criterion, words) = asked(&old, &new)?;
    let slice = new.slice(&[criterion], &mut |_| {}).ok()?;
    let image = &new.process().image;
    let places: Vec<Option<(String, u32)>> = slice
        .nodes
        .iter()
        .map(|node| {
            let module = image.module(node.site.module);
            let place = module.functions.get(node.site.function as usize)?.place(node.site.index as usize);
            Some((module.file_path(place.file), place.line))
        })
        .collect();
    let mut depths: Vec<u32> = Vec::with_capacity(slice.nodes.len());
    let mut depth: HashMap<(String, u32), u32> = HashMap::new();
    let mut decided: HashMap<(String, u32), (String, u32)> = HashMap::new();
    for (number, place) in places.iter().enumerate() {
        // Who needs a node comes before it.
        let consumers = slice.needed_by(number as u32);
        let own = consumers.filter_map(|(by, _)| depths.get(by as usize)).min().map_or(0, |d| d + 1);
        depths.push(own);
        let Some(place) = place else { continue };
        let known = depth.entry(place.clone()).or_insert(own);
        *known = own.min(*known);
        for (by, _) in slice.needed_by(number as u32).filter(|(_, how)| *how == Dependence::Control) {
            let line = places.get(by as usize).and_then(Option::as_ref).filter(|line| *line != place);
            if let Some(line) = line {
                decided.entry(line.clone()).or_insert_with(|| place.clone());
            }
        }
    }
    Some(Failure { depth, decided, words })
}

fn slicer(process: &LoadedProcess) -> Slicer<'_> {
    Slicer::new(process, SlicerOptions::default())
}

fn asked(old: &Slicer<'_>, new: &Slicer<'_>) -> Option<(Criterion, String)> {
    if old.has_succeeded().ok()? && !new.has_succeeded().ok()? {
        return Some((new.ask_failure().ok()??, "where the new version failed".to_owned()));
    }
    let (_, before) = old.output_bytes("stdout").ok()?.unwrap_or_default();
    let (start, after) = new.output_bytes("stdout").ok()??;
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    if same == after.len() {
        return None;
    }
    let criterion = new.ask_output("stdout", start + same as u64).ok()??;
    let line = 1 + after[..same].iter().filter(|b| **b == b'\n').count();
    Some((criterion, format!("line {line} of the output of the new version")))
}

/// Lines of source that only one version has.
pub struct Changed<'t> {
    /// The other version's run.
    other: &'t Trace,
    /// Lines of files, without blanks.
    files: RefCell<HashMap<String, HashSet<String>>>,
}

impl<'t> Changed<'t> {
    pub fn new(other: &'t Trace) -> Changed<'t> {
        Changed { other, files: RefCell::default() }
    }

    /// Whether the line of an event is none of the file in which the other version has this function.
    /// A function that the other version did not run is no change by itself.
    pub fn is(&self, entry: &Entry) -> bool {
        let text = |method: &views::trace::Method| self.other.names.text(method.name) == entry.function;
        let Some(method) = self.other.methods.iter().find(|m| text(m)) else { return false };
        let file = self.other.names.text(method.file).to_owned();
        let Some(line) = crate::source::line(&entry.file, entry.line) else { return false };
        let mut files = self.files.borrow_mut();
        let lines = files.entry(file).or_insert_with_key(|file| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.lines().map(|line| line.split_whitespace().collect()).collect()
        });
        !lines.is_empty() && !lines.contains(&line.split_whitespace().collect::<String>())
    }
}

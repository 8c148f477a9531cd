//! What the failure depends on, and which lines the versions do not share: what suspects are ranked by.

use crate::opened;
use recording::Recording;
use replay::process::{LoadedProcess, Options};
use slice::{Criterion, Slicer, SlicerOptions};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use views::told::Entry;
use views::trace::Trace;

/// The lines that the failure depends on, with how far back each is: the dependences between it and
/// the failure, the fewest there are.
pub struct Failure {
    depth: HashMap<(String, u32), u32>,
    /// What was sliced, in words.
    pub words: String,
}

impl Failure {
    /// How far back a line is; none if the failure does not depend on it.
    pub fn depth(&self, entry: &Entry) -> Option<u32> {
        self.depth.get(&(entry.file.clone(), entry.line)).copied()
    }
}

/// Slices the failing run of the new version: from where it failed, if the old one did not fail, or
/// from the first byte of standard output that is another one. None if neither is known.
pub fn of(old: &Path, new: &Path, process: usize) -> Option<Failure> {
    let recordings = [opened::recording(old).ok()?, opened::recording(new).ok()?];
    let load = |recording: &Recording| {
        let recorded = recording.processes.get(process)?;
        LoadedProcess::load(recording, recorded, &Options::default()).ok()
    };
    let [old, new] = [load(&recordings[0])?, load(&recordings[1])?];
    let (old, new) = (slicer(&old), slicer(&new));
    let (criterion, words) = asked(&old, &new)?;
    let slice = new.slice(&[criterion], &mut |_| {}).ok()?;
    let image = &new.process().image;
    let mut depths: Vec<u32> = Vec::with_capacity(slice.nodes.len());
    let mut depth: HashMap<(String, u32), u32> = HashMap::new();
    for (number, node) in slice.nodes.iter().enumerate() {
        // Who needs a node comes before it.
        let consumers = slice.needed_by(number as u32).filter_map(|(by, _)| depths.get(by as usize));
        let own = consumers.min().map_or(0, |d| d + 1);
        depths.push(own);
        let module = image.module(node.site.module);
        let Some(function) = module.functions.get(node.site.function as usize) else { continue };
        let place = function.place(node.site.index as usize);
        let known = depth.entry((module.file_path(place.file), place.line)).or_insert(own);
        *known = own.min(*known);
    }
    Some(Failure { depth, words })
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

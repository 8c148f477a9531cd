//! Suggestions for questions without an answer: lines that never ran, unknown names, and ambiguous file
//! names.

use crate::Result;
use crate::slicer::Slicer;
use crate::visits::ends_with;
use replay::image::Image;
use replay::observer::{Effect, Observer, View};
use std::collections::{BTreeSet, HashMap};

/// The line itself if it has code, else the next line of the same function that has; `None` outside of
/// functions.
#[must_use]
pub fn nearest_statement(image: &Image, file: &str, line: u32) -> Option<u32> {
    let mut next: Option<u32> = None;
    for (_, loaded) in image.modules() {
        let is_in_file = |f: u32| ends_with(&loaded.model.file_path(f), file);
        if !(0..loaded.model.files.len() as u32).any(is_in_file) {
            continue;
        }
        for function in &loaded.model.functions {
            let places = (0..function.code.len()).map(|i| function.place(i));
            let lines: BTreeSet<u32> =
                places.filter(|p| p.line > 0 && is_in_file(p.file)).map(|p| p.line).collect();
            let heading = Some(function.line).filter(|l| *l > 0 && is_in_file(function.file));
            let Some(first) = lines.first().copied().into_iter().chain(heading).min() else { continue };
            if line >= first {
                next = lines.range(line..).next().copied().into_iter().chain(next).min();
            }
        }
    }
    next
}

impl Slicer<'_> {
    /// The source files that a name may denote: those whose paths end with it.
    #[must_use]
    pub fn files_named(&self, file: &str) -> Vec<String> {
        let models = self.process.image.modules().map(|(_, m)| &m.model);
        let paths = models.flat_map(|m| (0..m.files.len() as u32).map(|f| m.file_path(f)));
        paths.filter(|p| ends_with(p, file)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The lines of a file that ran.
    ///
    /// # Errors
    /// If replay fails.
    pub fn lines_that_ran(&self, file: &str) -> Result<BTreeSet<u32>> {
        let mut ran = Ran::default();
        for stream in 0..self.process.streams.len() as u32 {
            let checkpoints = &self.prepared(stream)?.checkpoints;
            for index in 0..checkpoints.len() {
                checkpoints.replay(index, &mut ran)?;
            }
        }
        let mut lines = BTreeSet::new();
        for (number, indices) in ran.functions {
            let model = self.process.image.module(self.process.image.code(number).module);
            let f = self.facts.function(number);
            for (index, ran) in indices.into_iter().enumerate() {
                let place = f.place(index);
                if ran && place.line > 0 && ends_with(&model.file_path(place.file), file) {
                    lines.insert(place.line);
                }
            }
        }
        Ok(lines)
    }
}

/// Instructions that ran, by function.
#[derive(Default)]
struct Ran {
    functions: HashMap<u32, Vec<bool>>,
}

impl Observer for Ran {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        let Some(key) = view.image.function(view.code.module, view.code.function) else { return };
        let all = self.functions.entry(key).or_insert_with(|| vec![false; view.function().code.len()]);
        all[view.index as usize] = true;
    }
}

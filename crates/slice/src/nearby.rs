//! What could have been meant: for questions about lines that never ran, names that mean
//! nothing, and files that are not the only ones of their name.

use crate::Result;
use crate::criterion::Occurrence;
use crate::slicer::Slicer;
use crate::visits::ends_with;
use program::model::{Home, SymbolKind};
use replay::observer::{Effect, Observer, View};
use replay::vars::Bindings;
use std::collections::{BTreeSet, HashMap};

impl Slicer<'_> {
    /// The source files that a name means, by the end of their paths.
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
        for ((module, function), indices) in ran.functions {
            let model = self.process.image.module(module);
            let Some(f) = model.functions.get(function as usize) else { continue };
            for (index, ran) in indices.into_iter().enumerate() {
                let place = f.place(index);
                if ran && place.line > 0 && ends_with(&model.file_path(place.file), file) {
                    lines.insert(place.line);
                }
            }
        }
        Ok(lines)
    }

    /// Names of the variables that have a value before a line, as it ran last: those of the
    /// function first, then those of the file.
    ///
    /// # Errors
    /// If replay fails.
    pub fn variables_at(&self, file: &str, line: u32) -> Result<Vec<String>> {
        let Some(visit) = self.last_visit(file, line)? else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        let mut add = |name: &str| {
            if !name.is_empty() && !name.starts_with('.') && !names.iter().any(|n| n == name) {
                names.push(name.to_owned());
            }
        };
        let sites = self.sites_at(file, line);
        for step in visit.first.step..=visit.last.step {
            let machine = self.machine_at(Occurrence { step, ..visit.first })?;
            let Some(view) = machine.view() else { continue };
            let here = (view.code.module, view.code.function, view.index);
            if !sites.iter().any(|s| (s.module, s.function, s.index) == here) {
                continue;
            }
            let function = view.function();
            let bindings = Bindings::of(function);
            for (number, variable) in function.variables.iter().enumerate() {
                if bindings.at(view.index, number as u32).iter().any(|b| b.home != Home::Nowhere) {
                    add(&variable.name);
                }
            }
            for symbol in &view.module().symbols {
                if matches!(symbol.kind, SymbolKind::Data { line: 1.., .. }) {
                    add(&symbol.name);
                }
            }
            break;
        }
        Ok(names)
    }
}

/// Instructions that ran, by module and function.
#[derive(Default)]
struct Ran {
    functions: HashMap<(u32, u32), Vec<bool>>,
}

impl Observer for Ran {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        let key = (view.code.module, view.code.function);
        let all = self.functions.entry(key).or_insert_with(|| vec![false; view.function().code.len()]);
        all[view.index as usize] = true;
    }
}

//! Finds the executions of a source line.

use crate::Result;
use crate::criterion::Occurrence;
use crate::prepared::Prepared;
use crate::slice::Site;
use crate::slicer::Slicer;
use crate::summaries::blocks_of;
use replay::observer::{Effect, Observer, View};
use std::collections::{HashMap, HashSet};

/// One visit of a source line: steps of one activation without steps of other lines in between, apart from
/// callees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Its first step on the line.
    pub first: Occurrence,
    /// Its last step on the line, inclusive.
    pub last: Occurrence,
    /// Call depth of the activation, from 1.
    pub depth: u32,
}

impl Slicer<'_> {
    /// The instructions of a source line. The file is identified by the end of its path, in whole
    /// components: `main.c` matches `/src/main.c`, but not `/src/domain.c`.
    #[must_use]
    pub fn sites_at(&self, file: &str, line: u32) -> Vec<Site> {
        let mut sites = Vec::new();
        for (module, loaded) in self.process.image.modules() {
            if self.process.image.canonical(module) != module {
                continue;
            }
            let files: Vec<bool> = (0..loaded.model.files.len())
                .map(|f| ends_with(&loaded.model.file_path(f as u32), file))
                .collect();
            if !files.contains(&true) {
                continue;
            }
            for (function, f) in loaded.model.functions.iter().enumerate() {
                for index in 0..f.code.len() {
                    let place = f.place(index);
                    if place.line == line && files.get(place.file as usize).copied().unwrap_or(false) {
                        sites.push(Site { module, function: function as u32, index: index as u32 });
                    }
                }
            }
        }
        sites
    }

    /// The last execution of each instruction that was executed at all, in the stream with the highest
    /// number that executed it.
    ///
    /// # Errors
    /// If replay fails.
    pub fn last_occurrences(&self, sites: &[Site]) -> Result<Vec<(Site, Occurrence)>> {
        let wanted: HashSet<Site> = sites.iter().copied().collect();
        let mut last: HashMap<Site, Occurrence> = HashMap::new();
        for stream in 0..self.process.streams.len() as u32 {
            let Prepared { checkpoints, seen } = self.prepared(stream)?;
            let mut here: HashMap<Site, Occurrence> = HashMap::new();
            let mut missing = blocks_of(&self.process.image, &wanted);
            for index in (0..checkpoints.len()).rev() {
                if here.len() == wanted.len() {
                    break;
                }
                if !seen.summaries.may_run_any(index, &missing) {
                    continue;
                }
                let mut lasts = LastSteps { sites: Sites::new(&wanted), last: HashMap::new() };
                checkpoints.replay(index, &mut lasts)?;
                for (site, step) in lasts.last {
                    here.entry(site).or_insert(Occurrence { stream, step });
                }
                missing = blocks_of(&self.process.image, wanted.iter().filter(|s| !here.contains_key(s)));
            }
            last.extend(here);
        }
        let mut all: Vec<(Site, Occurrence)> = last.into_iter().collect();
        all.sort();
        Ok(all)
    }

    /// The last visit of a source line, in the last stream that ran it.
    ///
    /// # Errors
    /// If replay fails.
    pub fn last_visit(&self, file: &str, line: u32) -> Result<Option<Visit>> {
        let sites: HashSet<Site> = self.sites_at(file, line).into_iter().collect();
        self.find_visit(&sites)
    }

    /// The last visit of some instructions.
    pub(crate) fn find_visit(&self, sites: &HashSet<Site>) -> Result<Option<Visit>> {
        if sites.is_empty() {
            return Ok(None);
        }
        for stream in (0..self.process.streams.len() as u32).rev() {
            if let Some((first, last, depth)) = self.visit_in(stream, sites)? {
                let at = |step| Occurrence { stream, step };
                return Ok(Some(Visit { first: at(first), last: at(last), depth }));
            }
        }
        Ok(None)
    }

    fn visit_in(&self, stream: u32, sites: &HashSet<Site>) -> Result<Option<(u64, u64, u32)>> {
        let Prepared { checkpoints, seen } = self.prepared(stream)?;
        let blocks = blocks_of(&self.process.image, sites);
        let mut found: Option<(u64, u64, u32)> = None;
        for index in (0..checkpoints.len()).rev() {
            let may_matter = match found {
                None => seen.summaries.may_run_any(index, &blocks),
                // The activation may have been waiting for a call throughout.
                Some((_, _, depth)) => seen.summaries.get(index).is_none_or(|s| s.depth <= depth),
            };
            if !may_matter {
                continue;
            }
            let mut runs = LineRuns { sites: Sites::new(sites), activations: None, last: None };
            checkpoints.replay(index, &mut runs)?;
            let activations = runs.activations.unwrap_or_default();
            let run = match &mut found {
                None => {
                    let Some((run, last, depth)) = runs.last else { continue };
                    found = Some((run.first.unwrap_or(last), last, depth));
                    run
                }
                // It may have begun before the segment in which it ended.
                Some((first, _, depth)) => {
                    // A segment without steps has no information.
                    let Some(run) = activations.get(*depth as usize - 1).copied() else { continue };
                    *first = run.first.unwrap_or(*first);
                    run
                }
            };
            if !run.goes_on {
                break;
            }
        }
        Ok(found)
    }
}

pub(crate) fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|before| before.is_empty() || before.ends_with('/') || end.starts_with('/'))
}

/// A set of instructions with a fast test by function.
struct Sites<'s> {
    sites: &'s HashSet<Site>,
    functions: HashSet<(u32, u32)>,
}

impl<'s> Sites<'s> {
    fn new(sites: &'s HashSet<Site>) -> Sites<'s> {
        Sites { sites, functions: sites.iter().map(|s| (s.module, s.function)).collect() }
    }

    fn find(&self, view: &View<'_>) -> Option<Site> {
        let (module, function) = (view.code.module, view.code.function);
        let site = Site { module, function, index: view.index };
        (self.functions.contains(&(module, function)) && self.sites.contains(&site)).then_some(site)
    }
}

struct LastSteps<'s> {
    sites: Sites<'s>,
    last: HashMap<Site, u64>,
}

impl Observer for LastSteps<'_> {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        if let Some(site) = self.sites.find(view) {
            self.last.insert(site, view.count);
        }
    }
}

struct LineRuns<'s> {
    sites: Sites<'s>,
    /// For each activation, its run through the line so far; `None` before the first step.
    activations: Option<Vec<Run>>,
    /// The latest run, with its last step and depth.
    last: Option<(Run, u64, u32)>,
}

/// The consecutive steps of an activation in the line.
#[derive(Clone, Copy, Default)]
struct Run {
    /// The first one since the segment began; `None` if the last step was in another line.
    first: Option<u64>,
    /// The run may have begun before this segment: no step of the activation in it shows otherwise.
    goes_on: bool,
}

impl LineRuns<'_> {
    fn activations(&mut self, depth: usize) -> &mut Vec<Run> {
        // The initial activations began before the segment.
        let all = self.activations.get_or_insert_with(|| vec![Run { first: None, goes_on: true }; depth]);
        all.resize(depth, Run::default());
        all
    }
}

impl Observer for LineRuns<'_> {
    fn step(&mut self, view: &View<'_>, _: Effect) {
        let is_in = self.sites.find(view).is_some();
        let Some(run) = self.activations(view.depth as usize).last_mut() else { return };
        if is_in {
            run.first.get_or_insert(view.count);
            self.last = Some((*run, view.count, view.depth));
        } else {
            *run = Run::default();
        }
    }

    fn enter(&mut self, view: &View<'_>, _: bool) {
        // Code outside the program may call twice without a step in between.
        let before = view.depth as usize - 1;
        self.activations(before).push(Run::default());
    }
}

//! The failing run, and what its failure depends on.

use crate::Result;
use explain::align::Side;
use explain::answer::Place;
use explain::traced::Traced;
use explain::ways::{Ways, decides};
use replay::process::LoadedProcess;
use slice::{Criterion, Dependence, NodeId, Occurrence, Relevance, Slicer, SlicerOptions};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::answer::Link;

/// Maximum number of slice nodes that are kept.
const MAX_NODES: usize = 600_000;
/// In runs of more instructions, potential dependences are not followed.
const MAX_STEPS: u64 = 50_000_000;

/// How the failure depends on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependenceStrength {
    /// It is in the dynamic slice.
    Dynamic,
    /// Only in the relevant slice: with another direction, the failure could be different.
    Relevant,
    /// In neither slice.
    No,
}

impl DependenceStrength {
    /// The word for it in the answer.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            DependenceStrength::Dynamic => "dynamic",
            DependenceStrength::Relevant => "relevant",
            DependenceStrength::No => "none",
        }
    }
}

/// See the module's documentation.
pub struct Failure<'p> {
    /// Replays the failing process; further queries reuse its work.
    pub slicer: Slicer<'p>,
    /// With the relevant slice, or the dynamic one if the relevant one is too expensive.
    pub traced: Traced<'p>,
    /// The shortest paths from the failure to the nodes of the slice.
    pub ways: Ways,
    dynamic: HashSet<Occurrence>,
    by_moment: HashMap<Occurrence, NodeId>,
    /// Lines of the dynamic slice: file and number.
    pub dynamic_lines: BTreeSet<(String, u32)>,
    /// Number of lines of the slice in `traced`.
    pub relevant_lines: usize,
    /// Instructions of the longest stream.
    pub steps: u64,
    sources: SourceLines,
    /// Sentences about what was not followed.
    pub notes: Vec<String>,
}

impl<'p> Failure<'p> {
    /// Slices the failing run from what was observed. `free`: the observation is that something was executed,
    /// rather than a value.
    ///
    /// # Errors
    /// If it does not replay.
    pub fn new(
        process: &'p LoadedProcess,
        criteria: &[Criterion],
        tree: &Path,
        free: bool,
    ) -> Result<Failure<'p>> {
        let slicer = Slicer::new(process, SlicerOptions { max_nodes: MAX_NODES, ..SlicerOptions::default() });
        let dynamic = slicer.slice(criteria, &mut |_| {})?;
        let moments: HashSet<Occurrence> = dynamic.nodes.iter().map(|node| node.at).collect();
        let mut notes = Vec::new();
        let mut steps = 0;
        for stream in 0..process.streams.len() as u32 {
            steps = steps.max(slicer.steps(stream)?);
        }
        let relevance = Relevance { libraries: false, ..Relevance::default() };
        let dynamic_lines = slicer.lines(&dynamic);
        let slice = if steps > MAX_STEPS {
            notes.push(format!(
                "What could have gone another way was not followed: the run has {steps} instructions, more \
                 than the {MAX_STEPS} up to which it is."
            ));
            dynamic
        } else {
            slicer.relevant(criteria, relevance, &mut |_| {})?
        };
        let relevant_lines = slicer.lines(&slice).len();
        if slice.truncated {
            notes.push(format!(
                "Only the {} executed instructions nearest to the failure were looked at one by one.",
                slice.nodes.len()
            ));
        }
        let by_moment = slice.nodes.iter().enumerate().map(|(n, node)| (node.at, n as NodeId)).collect();
        let traced = Traced::new(Side::Bad, process, tree, slice, free);
        let ways = traced.ways();
        let dynamic_lines =
            dynamic_lines.into_iter().map(|(file, line)| (traced.relative(&file), line)).collect();
        Ok(Failure {
            slicer,
            traced,
            ways,
            dynamic: moments,
            by_moment,
            dynamic_lines,
            relevant_lines,
            steps,
            sources: SourceLines::new(tree),
            notes,
        })
    }

    /// How the failure depends on an executed instruction.
    #[must_use]
    pub fn depends(&self, at: Occurrence) -> DependenceStrength {
        match (self.dynamic.contains(&at), self.by_moment.contains_key(&at)) {
            (true, _) => DependenceStrength::Dynamic,
            (false, true) => DependenceStrength::Relevant,
            (false, false) => DependenceStrength::No,
        }
    }

    /// The node of an executed instruction; `None` if it is not in the slice.
    #[must_use]
    pub fn node(&self, at: Occurrence) -> Option<NodeId> {
        self.by_moment.get(&at).copied()
    }

    /// Whether a node is in the dynamic slice.
    #[must_use]
    pub fn is_dynamic(&self, node: NodeId) -> bool {
        self.dynamic.contains(&self.traced.slice.nodes[node as usize].at)
    }

    /// The step of the branch that controls the failure, if it is on the same line: the condition of an
    /// assertion.
    #[must_use]
    pub fn own_branch(&self) -> Option<u64> {
        let criterion = self.traced.slice.criteria.iter().flatten().copied().next()?;
        let decisions = self.traced.needs.of(criterion).iter().filter(|(_, how)| *how == Dependence::Control);
        let own = decisions
            .map(|(node, _)| *node)
            .find(|node| self.traced.line(*node) == self.traced.line(criterion));
        own.map(|node| self.traced.slice.nodes[node as usize].at.step)
    }

    /// The source location of an instruction.
    #[must_use]
    pub fn place(&self, (module, function, index): (u32, u32, u32)) -> Place {
        let model = self.traced.process.image.module(module);
        let function = &model.functions[function as usize];
        let place = function.place(index as usize);
        let file = self.traced.relative(&model.file_path(place.file));
        self.sources.place(file, place.line, place.column, &program::names::readable(&function.name))
    }

    /// The expression that an instruction computes or tests, in the names of the source.
    #[must_use]
    pub fn formula(&self, (module, function, index): (u32, u32, u32)) -> Option<String> {
        let model = self.traced.process.image.module(module);
        explain::formula::formula(model, &model.functions[function as usize], index)
    }

    /// The source location of a node.
    #[must_use]
    pub fn place_of(&self, node: NodeId) -> Place {
        let site = self.traced.slice.nodes[node as usize].site;
        self.place((site.module, site.function, site.index))
    }

    /// A location by file (as the compiler had it) and line.
    #[must_use]
    pub fn place_at(&self, file: &str, line: u32) -> Place {
        self.sources.place(self.traced.relative(file), line, 0, "")
    }

    /// The dependences from a node to the failure, line by line.
    #[must_use]
    pub fn chain(&self, node: NodeId) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        let mut last = self.place_of(node);
        // How the next node depends on the one before.
        let mut how = None;
        for (node, needed) in self.ways.to(node).into_iter().rev() {
            let place = self.place_of(node);
            if place.line > 0 && (&place.file, place.line) != (&last.file, last.line) {
                links.push(Link { place: place.clone(), how: word(how).to_owned() });
                last = place;
            }
            how = needed;
        }
        links
    }

    /// Lines of the slice, the nearest to the failure first, each once.
    #[must_use]
    pub fn nearest_lines(&self) -> Vec<Place> {
        let nodes = 0..self.traced.slice.nodes.len() as NodeId;
        let mut far: Vec<_> = nodes
            .filter_map(|node| Some((!self.is_dynamic(node), self.ways.distance(node)?, node)))
            .collect();
        far.sort_unstable_by_key(|(relevant, distance, node)| {
            (*relevant, distance.hops, distance.decisions, *node)
        });
        let mut seen = BTreeSet::new();
        far.into_iter()
            .map(|(_, _, node)| (self.traced.line(node), node))
            .filter(|(line, _)| line.line > 0 && seen.insert(*line))
            .map(|(_, node)| self.place_of(node))
            .filter(|place| !place.file.starts_with('/'))
            .collect()
    }
}

fn word(how: Option<Dependence>) -> &'static str {
    match how {
        Some(Dependence::Potential) => "could control",
        Some(how) if decides(how) => "controls",
        _ => "value",
    }
}

/// Texts of source lines, read on demand.
struct SourceLines {
    root: PathBuf,
    texts: std::cell::RefCell<HashMap<String, Vec<String>>>,
}

impl SourceLines {
    fn new(root: &Path) -> SourceLines {
        SourceLines { root: root.to_owned(), texts: Default::default() }
    }

    fn place(&self, file: String, line: u32, column: u32, function: &str) -> Place {
        let mut texts = self.texts.borrow_mut();
        let lines = texts.entry(file.clone()).or_insert_with(|| {
            let text = std::fs::read(self.root.join(&file)).unwrap_or_default();
            String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
        });
        let text = lines.get((line as usize).wrapping_sub(1)).map_or("", |text| text.trim()).to_owned();
        Place { file, line, column, function: function.to_owned(), text }
    }
}

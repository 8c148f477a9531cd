//! Where the changes are in the code of each version.
//!
//! Most changes have lines with code in one version or in both. A change without any (a macro, a type, a
//! constant, the initial value of a variable) is located where it has an effect: see [`crate::indirect`].

use crate::indirect::effect_lines;
use alternate::{Both, Side};
use changes::{Change, ChangeClass, ChangeId, ChangeKind, Difference};
use program::inst::{BlockId, Inst};
use program::model::{Function, Module};
use replay::image::Image;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// A line of a version: path relative to its tree, and number.
pub type Line = (String, u32);

/// A branch edge: the function's name, the branch's block and the successor.
pub type BranchEdge = (String, BlockId, BlockId);

/// The changes that can affect behaviour, and their lines.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    /// The changes that can affect behaviour, in the order of the difference.
    pub list: Vec<ChangeId>,
    /// The changes of each line, per version.
    lines: Both<HashMap<Line, Vec<ChangeId>>>,
    /// Changes for which neither version has code.
    pub without_code: BTreeSet<ChangeId>,
    /// The edges of all branches of functions that have changes.
    pub branch_edges: Both<BTreeSet<BranchEdge>>,
    /// The number of branches of each change.
    branches: Both<HashMap<ChangeId, usize>>,
}

/// The parts of a program that come from a version's tree.
pub struct Code<'c> {
    /// The loaded program.
    pub image: &'c Image,
    /// The root of the sources that it was built from.
    pub tree: &'c Path,
}

impl Code<'_> {
    /// A location as a line of the tree; `None` outside of the tree, as in system headers.
    #[must_use]
    pub fn line(&self, module: &Module, file: u32, line: u32) -> Option<Line> {
        let path = module.file_path(file);
        let path = Path::new(&path).strip_prefix(self.tree).ok()?;
        (line > 0).then(|| (path.display().to_string(), line))
    }

    /// All functions with their modules, and the numbers of these.
    pub fn functions(&self) -> impl Iterator<Item = (u32, &Module, &Function)> {
        self.image.modules().flat_map(|(number, loaded)| {
            let model: &Module = &loaded.model;
            model.functions.iter().map(move |f| (number, model, f))
        })
    }
}

/// Whether a change can affect the behaviour of a program.
#[must_use]
pub fn may_affect_behaviour(change: &Change) -> bool {
    let kind = matches!(change.kind, ChangeKind::Lines | ChangeKind::Added | ChangeKind::Deleted);
    kind && matches!(change.matter, ChangeClass::Substance | ChangeClass::Moved)
}

impl Changed {
    /// Locates the changes in the code of both versions.
    #[must_use]
    pub fn new(difference: &Difference, code: &Both<Code<'_>>) -> Changed {
        let mut changed = Changed {
            list: difference.changes().iter().filter(|c| may_affect_behaviour(c)).map(|c| c.id).collect(),
            ..Changed::default()
        };
        let mut found: BTreeSet<ChangeId> = BTreeSet::new();
        for side in [Side::Old, Side::New] {
            for line in lines_with_code(code.of(side)) {
                let touching = match side {
                    Side::Old => difference.touching_old(&line.0, line.1),
                    Side::New => difference.touching(&line.0, line.1),
                };
                if let Some(change) = touching.filter(|c| may_affect_behaviour(c)) {
                    found.insert(change.id);
                    changed.add(side, line, change.id);
                }
            }
        }
        let rest: Vec<&Change> = difference
            .changes()
            .iter()
            .filter(|c| may_affect_behaviour(c) && !found.contains(&c.id))
            .collect();
        if !rest.is_empty() {
            changed.find_without_lines(&rest, difference, code);
        }
        changed.collect_edges(code);
        changed
    }

    /// Collects the branch edges of functions with changes, and the number of branches of each change. A
    /// function that has only added lines has no changed line in good, but its edges count there as well.
    fn collect_edges(&mut self, code: &Both<Code<'_>>) {
        let mut functions: BTreeSet<String> = BTreeSet::new();
        for side in [Side::Old, Side::New] {
            for (_, module, function) in code.of(side).functions() {
                for (index, inst) in function.code.iter().enumerate() {
                    let place = function.place(index);
                    let Some(line) = code.of(side).line(module, place.file, place.line) else { continue };
                    let at = self.at(side, &line).to_vec();
                    if !at.is_empty() {
                        functions.insert(function.name.clone());
                    }
                    for id in at.into_iter().filter(|_| matches!(inst, Inst::Branch { .. })) {
                        *self.branches.of_mut(side).entry(id).or_default() += 1;
                    }
                }
            }
        }
        for side in [Side::Old, Side::New] {
            *self.branch_edges.of_mut(side) = branch_edges_of(code.of(side), &functions);
        }
    }

    /// Whether a change has as many branches in both versions, so that their directions can be compared.
    #[must_use]
    pub fn has_same_branches(&self, change: ChangeId) -> bool {
        self.branches.old.get(&change) == self.branches.new.get(&change)
    }

    /// Locates changes that have no lines with code.
    fn find_without_lines(&mut self, rest: &[&Change], difference: &Difference, code: &Both<Code<'_>>) {
        let mut effects = effect_lines(rest, difference, code);
        for change in rest {
            let Some(lines) = effects.remove(&change.id) else {
                self.without_code.insert(change.id);
                continue;
            };
            for (side, lines) in [(Side::Old, lines.old), (Side::New, lines.new)] {
                for line in lines {
                    self.add(side, line, change.id);
                }
            }
        }
    }

    /// Adds the locations of the same changes in another program of the same versions.
    pub fn merge(&mut self, other: Changed) {
        for side in [Side::Old, Side::New] {
            for (line, ids) in other.lines(side) {
                for id in ids {
                    self.add(side, line.clone(), *id);
                }
            }
        }
        self.without_code.retain(|id| other.without_code.contains(id));
        self.branch_edges.old.extend(other.branch_edges.old);
        self.branch_edges.new.extend(other.branch_edges.new);
        self.branches.old.extend(other.branches.old);
        self.branches.new.extend(other.branches.new);
    }

    fn add(&mut self, side: Side, line: Line, change: ChangeId) {
        let of = self.lines.of_mut(side).entry(line).or_default();
        if !of.contains(&change) {
            of.push(change);
        }
    }

    /// The changes at a line.
    #[must_use]
    pub fn at(&self, side: Side, line: &Line) -> &[ChangeId] {
        self.lines.of(side).get(line).map_or(&[], Vec::as_slice)
    }

    /// All lines of a side that belong to changes.
    pub fn lines(&self, side: Side) -> impl Iterator<Item = (&Line, &[ChangeId])> {
        self.lines.of(side).iter().map(|(line, ids)| (line, ids.as_slice()))
    }
}

/// The branch edges of some functions, by their names.
fn branch_edges_of(code: &Code<'_>, functions: &BTreeSet<String>) -> BTreeSet<BranchEdge> {
    let mut branch_edges = BTreeSet::new();
    for (_, _, function) in code.functions().filter(|(_, _, f)| functions.contains(&f.name)) {
        for (block, b) in function.blocks.iter().enumerate() {
            let Some(last) = function.code.get((b.end as usize).saturating_sub(1)) else { continue };
            let targets: BTreeSet<BlockId> = last.successors().into_iter().collect();
            if targets.len() > 1 {
                branch_edges
                    .extend(targets.into_iter().map(|to| (function.name.clone(), block as BlockId, to)));
            }
        }
    }
    branch_edges
}

fn lines_with_code(code: &Code<'_>) -> BTreeSet<Line> {
    let mut lines = BTreeSet::new();
    for (_, module, function) in code.functions() {
        for place in &function.places {
            lines.extend(code.line(module, place.file, place.line));
        }
    }
    lines
}

/// The line of good that corresponds to an unchanged line of bad; in a file without changes, the same line.
#[must_use]
pub fn same_line(difference: &Difference, line: &Line) -> Option<Line> {
    if difference.touching(&line.0, line.1).is_some() {
        return None;
    }
    Some(difference.map_line_to_good(&line.0, line.1).unwrap_or_else(|| line.clone()))
}

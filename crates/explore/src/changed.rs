//! Where the changes are in the code of each version.
//!
//! Most changes have lines with code in one version or in both. A change without any (a macro, a type, a
//! constant, the initial value of a variable) is located where the compiled code of unchanged lines differs,
//! or where a changed variable is used.

use alternate::{Both, Side};
use changes::{Change, ChangeClass, ChangeId, ChangeKind, Difference};
use program::inst::{BlockId, Inst, Operand};
use program::model::{Function, Module, SymbolKind};
use replay::image::Image;
use std::collections::{BTreeMap, BTreeSet, HashMap};
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

    fn functions(&self) -> impl Iterator<Item = (&Module, &Function)> {
        self.image.modules().flat_map(|(_, loaded)| {
            let model: &Module = &loaded.model;
            model.functions.iter().map(move |f| (model, f))
        })
    }
}

/// Whether a change can affect the behaviour of a program.
fn may_affect_behaviour(change: &Change) -> bool {
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
            for (module, function) in code.of(side).functions() {
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
        let differing = differing_lines(difference, code);
        let functions = Both { old: functions_of_lines(&code.old), new: functions_of_lines(&code.new) };
        // A change of a build file may change the code of any line; if sources changed as well, it is
        // not known which of them did.
        let sources = self.list.iter().any(|id| is_source(&difference.change(*id).file));
        for change in rest {
            if sources && !is_source(&change.file) {
                self.without_code.insert(change.id);
                continue;
            }
            let mut any = false;
            for side in [Side::Old, Side::New] {
                let mut lines = users(code.of(side), change, side);
                if lines.is_empty() {
                    let of = functions.of(side);
                    let file = if side == Side::Old { old_file(change) } else { &change.file };
                    let may = |line: &&Line| may_be_at(change, file, line, of);
                    lines = differing.of(side).iter().filter(may).cloned().collect();
                }
                any |= !lines.is_empty();
                for line in lines {
                    self.add(side, line, change.id);
                }
            }
            if !any {
                self.without_code.insert(change.id);
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
    for (_, function) in code.functions().filter(|(_, f)| functions.contains(&f.name)) {
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
    for (module, function) in code.functions() {
        for place in &function.places {
            lines.extend(code.line(module, place.file, place.line));
        }
    }
    lines
}

/// Whether compilers read a file, by its name.
fn is_source(file: &str) -> bool {
    const SOURCES: [&str; 17] = [
        "c", "h", "cc", "cp", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inc", "inl", "def", "ipp",
        "tcc", "y",
    ];
    let extension = Path::new(file).extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| SOURCES.iter().any(|source| e.eq_ignore_ascii_case(source)))
}

fn old_file(change: &Change) -> &String {
    change.old_file.as_ref().unwrap_or(&change.file)
}

/// The functions that have code on each line.
fn functions_of_lines(code: &Code<'_>) -> BTreeMap<Line, BTreeSet<String>> {
    let mut all: BTreeMap<Line, BTreeSet<String>> = BTreeMap::new();
    for (module, function) in code.functions() {
        for place in &function.places {
            if let Some(line) = code.line(module, place.file, place.line) {
                all.entry(line).or_default().insert(function.name.clone());
            }
        }
    }
    all
}

/// Whether a change without code of its own may be the reason why the code of an unchanged line
/// differs. A change inside a function (the type of a variable) can affect only lines of that function,
/// and none if the function is not compiled. A directive may affect any line.
fn may_be_at(change: &Change, file: &str, line: &Line, functions: &BTreeMap<Line, BTreeSet<String>>) -> bool {
    let directive = change.old_lines.iter().chain(&change.new_lines).any(|l| l.trim_start().starts_with('#'));
    let Some(function) = change.function.as_ref().filter(|_| !directive) else { return true };
    // In the binary, the name of a C++ function has qualifiers and parameters around it.
    let name = function.rsplit("::").next().unwrap_or(function);
    line.0 == file && functions.get(line).is_some_and(|of| of.iter().any(|f| f.contains(name)))
}

/// Lines that use the variable whose initial value is changed.
fn users(code: &Code<'_>, change: &Change, side: Side) -> BTreeSet<Line> {
    let (file, range) = match side {
        Side::Old => (old_file(change), change.old_range()),
        Side::New => (&change.file, change.new_range()),
    };
    let mut lines = BTreeSet::new();
    if range.is_empty() || change.function.is_some() {
        return lines;
    }
    for (_, loaded) in code.image.modules() {
        let module: &Module = &loaded.model;
        // The last variable that is defined at or before the change, because an initial value may span many
        // lines.
        let defined = module.symbols.iter().enumerate().filter_map(|(number, symbol)| match symbol.kind {
            SymbolKind::Data { line, file: f, .. } => {
                let at = code.line(module, f, line)?;
                (at.0 == *file && at.1 < range.end).then_some((at.1, number as u32))
            }
            _ => None,
        });
        let Some((_, wanted)) = defined.max() else { continue };
        for function in &module.functions {
            for (index, inst) in function.code.iter().enumerate() {
                let mut used = false;
                inst.for_each_use(|operand, _| {
                    used |= matches!(operand, Operand::Symbol { symbol, .. } if symbol == wanted);
                });
                if used {
                    let place = function.place(index);
                    lines.extend(code.line(module, place.file, place.line));
                }
            }
        }
    }
    lines
}

/// Unchanged lines whose instructions differ between the versions.
fn differing_lines(difference: &Difference, code: &Both<Code<'_>>) -> Both<BTreeSet<Line>> {
    let texts = Both { old: line_texts(&code.old), new: line_texts(&code.new) };
    let mut differing: Both<BTreeSet<Line>> = Both::default();
    for (line, text) in &texts.new {
        let Some(old) = same_line(difference, line) else { continue };
        if texts.old.get(&old).is_some_and(|other| other != text) {
            differing.new.insert(line.clone());
            differing.old.insert(old);
        }
    }
    differing
}

/// The line of good that corresponds to an unchanged line of bad; in a file without changes, the same line.
#[must_use]
pub fn same_line(difference: &Difference, line: &Line) -> Option<Line> {
    if difference.touching(&line.0, line.1).is_some() {
        return None;
    }
    Some(difference.map_line_to_good(&line.0, line.1).unwrap_or_else(|| line.clone()))
}

/// The instructions of each line as text, without the numbers of registers and symbols.
fn line_texts(code: &Code<'_>) -> BTreeMap<Line, String> {
    let mut texts: BTreeMap<Line, String> = BTreeMap::new();
    for (module, function) in code.functions() {
        for (index, inst) in function.code.iter().enumerate() {
            let place = function.place(index);
            let Some(line) = code.line(module, place.file, place.line) else { continue };
            let text = texts.entry(line).or_default();
            text.push_str(&shape(inst));
            inst.for_each_use(|operand, _| match operand {
                Operand::Const(value) => text.push_str(&format!(" {value}")),
                Operand::Symbol { symbol, offset } => {
                    let name = module.symbols.get(symbol as usize).map_or("?", |s| s.name.as_str());
                    // Names of string literals are numbers.
                    let name = if name.starts_with('.') { "." } else { name };
                    text.push_str(&format!(" {name}+{offset}"));
                }
                Operand::Reg(_) => text.push_str(" r"),
            });
            text.push(';');
        }
    }
    texts
}

fn shape(inst: &Inst) -> String {
    match inst {
        Inst::Bin { op, bits, .. } => format!("{op:?}{bits}"),
        Inst::ICmp { pred, bits, .. } => format!("{pred:?}{bits}"),
        Inst::Float { op, .. } => format!("f{op:?}"),
        Inst::FCmp { pred, .. } => format!("f{pred:?}"),
        Inst::Cast { op, from, to, .. } => format!("{op:?}{from:?}{to:?}"),
        Inst::Pure { op, .. } => format!("{op:?}"),
        Inst::Load { ty, .. } => format!("load{ty:?}"),
        Inst::Store { ty, .. } => format!("store{ty:?}"),
        Inst::Address { scale, offset, .. } => format!("address{scale}+{offset}"),
        Inst::Switch { cases, .. } => {
            let values: Vec<u64> = cases.iter().map(|c| c.0).collect();
            format!("switch{values:?}")
        }
        Inst::Call(call) => format!("call{}", call.args.len()),
        other => {
            let text = format!("{other:?}");
            text.split([' ', '{']).next().unwrap_or_default().to_owned()
        }
    }
}

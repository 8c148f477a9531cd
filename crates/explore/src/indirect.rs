//! The lines on which changes have an effect that have no lines of code: macros, types, constants,
//! declarations and directives.
//!
//! Candidates are the *differing* lines: unchanged lines whose compiled code differs between the versions, or
//! that are compiled in one of them only. Each kind of change has a route to some of them:
//!
//! * a macro: statements that expand it, directly or through other macros, and lines in conditional regions
//!   whose conditions mention it;
//! * a conditional directive: lines of its region;
//! * a type: statements that mention a member whose place or type differs;
//! * an enumerator: statements that mention one of its enumeration whose value differs;
//! * a declaration: statements that mention the function or variable, if nothing above explains that they
//!   differ;
//! * the initial value of a variable: statements that use the variable, whether their code differs or not;
//! * anything inside of a function (the type of a variable): statements of that function that mention a word
//!   of it.
//!
//! What may change any line (`#include`, other directives, a type whose size differs, build files) has the
//! differing lines that none of these routes explains. A change without any line is not compiled: a macro
//! that nothing expands, a type whose layout is the same.

use crate::changed::{Code, Line, may_affect_behaviour};
use crate::differing::{DifferingLine, differing_lines, functions_of_lines};
use crate::source_text::{Directive, SourceText, Sources, index};
use crate::type_difference::TypeDifference;
use alternate::{Both, Side};
use changes::{Change, ChangeId, Difference};
use program::inst::Operand;
use program::model::{Module, SymbolKind};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::path::Path;

/// The lines of changes without code, per version.
pub type EffectLines = BTreeMap<ChangeId, Both<BTreeSet<Line>>>;

/// Locates the changes of `rest`.
#[must_use]
pub fn effect_lines(rest: &[&Change], difference: &Difference, code: &Both<Code<'_>>) -> EffectLines {
    let sources =
        Both { old: Sources::read(code.old.tree, &is_source), new: Sources::read(code.new.tree, &is_source) };
    let differing = differing_lines(difference, code, &sources);
    let words = index(differing.iter().map(|line| words_around(line, &sources)));
    let functions = Both { old: functions_of_lines(&code.old), new: functions_of_lines(&code.new) };
    let types = TypeDifference::new(code);
    let symbols = symbols(code);
    // A change of a build file may change the code of any line; if sources changed as well, it is not known
    // which of them did.
    let any_source = difference.changes().iter().any(|c| may_affect_behaviour(c) && is_source(&c.file));
    let finder =
        Finder { code, sources: &sources, differing: &differing, words: &words, functions: &functions };
    let mut effects = EffectLines::new();
    let mut explained: HashSet<usize> = HashSet::new();
    let (mut declared, mut broad) = (Vec::new(), Vec::new());
    for change in rest.iter().filter(|change| !any_source || is_source(&change.file)) {
        let found = finder.find(change, &types, &symbols);
        explained.extend(&found.positions);
        if found.broad || !is_source(&change.file) {
            broad.push(change.id);
        }
        declared.push((change.id, found.declared));
        let lines = effects.entry(change.id).or_default();
        for position in found.positions {
            differing[position].add_to(lines);
        }
        for side in [Side::Old, Side::New] {
            lines.of_mut(side).extend(finder.users(change, side));
        }
    }
    for (_, positions) in &mut declared {
        positions.retain(|n| !explained.contains(n));
    }
    for (id, positions) in declared {
        let lines = effects.entry(id).or_default();
        positions.iter().for_each(|n| differing[*n].add_to(lines));
        explained.extend(positions);
    }
    for id in broad {
        let lines = effects.entry(id).or_default();
        let unexplained =
            differing.iter().enumerate().filter(|(n, line)| line.in_both && !explained.contains(n));
        unexplained.for_each(|(_, line)| line.add_to(lines));
    }
    effects.retain(|_, lines| !lines.old.is_empty() || !lines.new.is_empty());
    effects
}

/// Whether compilers read a file, by its name.
#[must_use]
pub fn is_source(file: &str) -> bool {
    const SOURCES: [&str; 17] = [
        "c", "h", "cc", "cp", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inc", "inl", "def", "ipp",
        "tcc", "y",
    ];
    let extension = Path::new(file).extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| SOURCES.iter().any(|source| e.eq_ignore_ascii_case(source)))
}

/// The file and the lines of a change in a version.
fn place(change: &Change, side: Side) -> (&str, Range<u32>) {
    match side {
        Side::Old => (change.old_file.as_ref().unwrap_or(&change.file), change.old_range()),
        Side::New => (&change.file, change.new_range()),
    }
}

/// What a change may have affected.
#[derive(Default)]
struct Found {
    /// Differing lines, by their positions.
    positions: BTreeSet<usize>,
    /// Those that mention what it declares.
    declared: BTreeSet<usize>,
    /// It may affect any line.
    broad: bool,
}

struct Finder<'f> {
    code: &'f Both<Code<'f>>,
    sources: &'f Both<Sources>,
    differing: &'f [DifferingLine],
    /// The differing lines whose statements have each word.
    words: &'f BTreeMap<&'f str, Vec<usize>>,
    functions: &'f Both<BTreeMap<Line, BTreeSet<String>>>,
}

impl Finder<'_> {
    fn find(&self, change: &Change, types: &TypeDifference, symbols: &HashSet<&str>) -> Found {
        let mut found = Found::default();
        // Macros, other names whose meaning the change may alter, and words of lines that are no directives.
        let (mut macros, mut plain) = (BTreeSet::new(), BTreeSet::new());
        let (mut names, mut declared) = (BTreeSet::new(), BTreeSet::new());
        for side in [Side::Old, Side::New] {
            let (file, lines) = place(change, side);
            let Some(text) = self.sources.of(side).file(file) else { continue };
            for line in lines {
                match text.directive_at(line) {
                    Some(Directive::Macro(name)) => {
                        macros.insert(name.clone());
                    }
                    Some(Directive::Conditional(region)) => {
                        found.positions.extend(self.in_region(side, file, text, *region));
                    }
                    Some(Directive::Other) => found.broad = true,
                    None => {
                        let words = text.words_at(line);
                        plain.extend(words.iter().cloned());
                        if change.function.is_none() {
                            let body = text.type_at(line);
                            found.broad |= types.add_names(words, body, &mut names);
                            let own = text.words_before_parameters(line).iter().filter(|_| body.is_none());
                            declared.extend(own.filter(|w| symbols.contains(w.as_str())).cloned());
                        }
                    }
                }
            }
        }
        if let Some(function) = &change.function {
            let inside = self.in_function(change, function);
            let mentions = self.mentioning(&plain);
            found.positions.extend(inside.into_iter().filter(|n| mentions.contains(n)));
        }
        names.extend(macros.iter().cloned());
        found.positions.extend(self.mentioning(&names));
        found.declared = self.mentioning(&declared);
        found.positions.extend(self.conditional_on(&macros));
        found
    }

    /// Differing lines, compiled in both versions, whose statements mention a name or a macro that expands
    /// to it.
    fn mentioning(&self, names: &BTreeSet<String>) -> BTreeSet<usize> {
        let mut positions: BTreeSet<usize> = BTreeSet::new();
        for side in [Side::Old, Side::New] {
            for name in self.sources.of(side).expanding_to(names.iter().cloned()) {
                positions.extend(self.words.get(name.as_str()).into_iter().flatten());
            }
        }
        positions.retain(|n| self.differing[*n].in_both);
        positions
    }

    /// Lines compiled in one version only, in conditional regions whose conditions mention a macro.
    fn conditional_on(&self, macros: &BTreeSet<String>) -> Vec<usize> {
        if macros.is_empty() {
            return Vec::new();
        }
        let all = Both {
            old: self.sources.old.expanding_to(macros.iter().cloned()),
            new: self.sources.new.expanding_to(macros.iter().cloned()),
        };
        let depends = |line: &DifferingLine| {
            [Side::Old, Side::New].into_iter().any(|side| {
                let (file, number) = line.lines.of(side);
                let words = self.sources.of(side).file(file).map(|text| text.words_of_conditions(*number));
                words.is_some_and(|words| words.iter().any(|word| all.of(side).contains(*word)))
            })
        };
        let one_sided = self.differing.iter().enumerate().filter(|(_, line)| !line.in_both);
        one_sided.filter(|(_, line)| depends(line)).map(|(n, _)| n).collect()
    }

    /// Differing lines in a conditional region.
    fn in_region(&self, side: Side, file: &str, text: &SourceText, region: usize) -> Vec<usize> {
        let inside = |line: &DifferingLine| {
            let (of, number) = line.lines.of(side);
            of == file && text.regions(*number).any(|r| r == region)
        };
        self.differing.iter().enumerate().filter(|(_, line)| inside(line)).map(|(n, _)| n).collect()
    }

    /// Differing lines of a function of the change's file.
    fn in_function(&self, change: &Change, function: &str) -> Vec<usize> {
        // In the binary, the name of a C++ function has qualifiers and parameters around it.
        let name = function.rsplit("::").next().unwrap_or(function);
        let inside = |line: &DifferingLine| {
            [Side::Old, Side::New].into_iter().any(|side| {
                let at = line.lines.of(side);
                let functions = self.functions.of(side).get(at);
                at.0 == place(change, side).0
                    && functions.is_some_and(|of| of.iter().any(|f| f.contains(name)))
            })
        };
        self.differing.iter().enumerate().filter(|(_, line)| inside(line)).map(|(n, _)| n).collect()
    }

    /// Lines that use the variable whose initial value is changed.
    fn users(&self, change: &Change, side: Side) -> BTreeSet<Line> {
        let (file, range) = place(change, side);
        let mut lines = BTreeSet::new();
        if range.is_empty() || change.function.is_some() {
            return lines;
        }
        let code = self.code.of(side);
        let text = self.sources.of(side).file(file);
        // Directives are no part of an initial value, except where they divide it.
        let is_directive = |line: u32| text.is_some_and(|text| text.directive_at(line).is_some());
        if range.clone().all(is_directive) {
            return lines;
        }
        for (_, loaded) in code.image.modules() {
            let module: &Module = &loaded.model;
            // An initial value may span many lines.
            let defined =
                module.symbols.iter().enumerate().filter_map(|(number, symbol)| match symbol.kind {
                    SymbolKind::Data { line, file: f, .. } => {
                        let at = code.line(module, f, line)?;
                        (at.0 == *file && at.1 < range.end).then_some((at.1, number as u32))
                    }
                    _ => None,
                });
            let Some((first, _)) = defined.clone().max() else { continue };
            let ends = text.map_or(u32::MAX, |text| text.end_of_definition(first));
            if ends < range.start {
                continue;
            }
            // Several variables may be defined on one line.
            let wanted: HashSet<u32> = defined.filter(|(line, _)| *line == first).map(|(_, n)| n).collect();
            for function in &module.functions {
                for (index, inst) in function.code.iter().enumerate() {
                    let mut used = false;
                    inst.for_each_use(|operand, _| {
                        used |= matches!(operand, Operand::Symbol { symbol, .. } if wanted.contains(&symbol));
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
}

/// The words of the statements of a line in both versions.
fn words_around<'s>(line: &DifferingLine, sources: &'s Both<Sources>) -> Vec<&'s String> {
    let mut words = Vec::new();
    for side in [Side::Old, Side::New] {
        let (file, number) = line.lines.of(side);
        if let Some(text) = sources.of(side).file(file) {
            words.extend(text.words_of_statement(*number));
        }
    }
    words
}

/// The names of all functions and variables.
fn symbols<'c>(code: &'c Both<Code<'_>>) -> HashSet<&'c str> {
    let images = [code.old.image, code.new.image];
    let modules = images.into_iter().flat_map(|image| image.modules());
    modules.flat_map(|(_, loaded)| loaded.model.symbols.iter().map(|s| s.name.as_str())).collect()
}

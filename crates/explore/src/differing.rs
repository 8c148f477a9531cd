//! Unchanged lines whose compiled code differs between the versions.

use crate::changed::{Code, Line, same_line};
use crate::source_text::{SourceText, Sources};
use alternate::Both;
use changes::Difference;
use program::inst::{Inst, Operand};
use program::model::{Module, SymbolKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A line that both versions have, with different code.
pub struct DifferingLine {
    pub lines: Both<Line>,
    /// Both versions compile it.
    pub in_both: bool,
}

impl DifferingLine {
    /// Adds the line to those of each version.
    pub fn add_to(&self, lines: &mut Both<BTreeSet<Line>>) {
        lines.old.insert(self.lines.old.clone());
        lines.new.insert(self.lines.new.clone());
    }
}

/// The functions that have code on each line.
#[must_use]
pub fn functions_of_lines(code: &Code<'_>) -> BTreeMap<Line, BTreeSet<String>> {
    let mut all: BTreeMap<Line, BTreeSet<String>> = BTreeMap::new();
    for (_, module, function) in code.functions() {
        for place in &function.places {
            if let Some(line) = code.line(module, place.file, place.line) {
                all.entry(line).or_default().insert(function.name.clone());
            }
        }
    }
    all
}

/// Lines that both versions have and whose instructions differ, or that one of them does not compile.
#[must_use]
pub fn differing_lines(
    difference: &Difference,
    code: &Both<Code<'_>>,
    sources: &Both<Sources>,
) -> Vec<DifferingLine> {
    let texts = Both { old: line_texts(&code.old), new: line_texts(&code.new) };
    let files: BTreeSet<&String> = texts.old.keys().chain(texts.new.keys()).map(|line| &line.0).collect();
    let mut differing = Vec::new();
    for file in files {
        let count = sources.new.file(file).map_or(0, SourceText::line_count);
        for new in (1..=count).map(|number| (file.clone(), number)) {
            let Some(old) = same_line(difference, &new) else { continue };
            let of = (texts.old.get(&old), texts.new.get(&new));
            if of.0 != of.1 {
                let in_both = of.0.is_some() && of.1.is_some();
                differing.push(DifferingLine { lines: Both { old, new }, in_both });
            }
        }
    }
    differing
}

/// The instructions of each line as text, without the numbers of registers and symbols.
fn line_texts(code: &Code<'_>) -> HashMap<Line, String> {
    let mut texts: HashMap<Line, String> = HashMap::new();
    for (number, module, function) in code.functions() {
        for (index, inst) in function.code.iter().enumerate() {
            let place = function.place(index);
            let Some(line) = code.line(module, place.file, place.line) else { continue };
            let text = texts.entry(line).or_default();
            text.push_str(&shape(inst));
            inst.for_each_use(|operand, _| match operand {
                Operand::Const(value) => text.push_str(&format!(" {value}")),
                Operand::Symbol { symbol, offset } => {
                    text.push_str(&symbol_text(code, number, module, symbol));
                    text.push_str(&format!("+{offset}"));
                }
                Operand::Reg(_) => text.push_str(" r"),
            });
            text.push(';');
        }
    }
    texts
}

/// A symbol by its name; a string literal, whose name is a number, by its content.
fn symbol_text(code: &Code<'_>, number: u32, module: &Module, symbol: u32) -> String {
    let Some(known) = module.symbols.get(symbol as usize) else { return " ?".to_owned() };
    if !known.name.starts_with('.') {
        return format!(" {}", known.name);
    }
    let size = match known.kind {
        SymbolKind::Data { size, .. } => size as usize,
        _ => 0,
    };
    let bytes = code.image.constant(code.image.symbol(number, symbol)).unwrap_or_default();
    format!(" \"{}\"", bytes.get(..size).unwrap_or(bytes).escape_ascii())
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

//! Files as their syntax trees show them: functions, lists that may be split, names.
//!
//! [`Syntax::parse`] reads a text with tree-sitter's grammars for C and C++ and keeps small tables by line;
//! the tree itself is dropped. The parser recovers from code it does not understand (macros that are not
//! expressions, half a brace pair in an `#if`, code that does not compile) by marking it as an error. Where a
//! file consists mostly of errors, there is no [`Syntax`] and callers use lines and brackets.
//!
//! Only the functions that contain requested lines are parsed, so a large file with few changes costs little
//! more than reading it twice.
//!
//! One file per step: `mask` prepares a text for the parser, `pieces` splits it, `kinds` numbers the names of
//! the grammars, `walk` traverses a tree, `outline` finds functions and borders, `names` finds names.

mod kinds;
mod mask;
mod names;
mod outline;
mod pieces;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use names::{Name, NameScope, World, name_effect};
pub(crate) use outline::{Function, Nesting};

use kinds::{C, CPP, Grammar};
use mask::{Conditionals, mask};
use names::NameCollector;
use outline::{Errors, Outline, Outliner};
use pieces::{Piece, pieces};
use std::ops::Range;
use tree_sitter::{Parser, Point, Tree};
use walk::walk;

/// The requested lines, from 0, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestedLines {
    ranges: Vec<Range<u32>>,
}

impl RequestedLines {
    /// The ranges must be in order; an empty range denotes the position before its line.
    pub fn new(ranges: Vec<Range<u32>>) -> RequestedLines {
        RequestedLines { ranges }
    }

    /// These lines alone.
    pub fn only(lines: Range<u32>) -> RequestedLines {
        RequestedLines { ranges: std::iter::once(lines).collect() }
    }

    /// Whether a requested line, or its neighbour, is between these two lines, inclusive.
    fn touches(&self, first: u32, last: u32) -> bool {
        let next = self.ranges.partition_point(|range| range.end < first);
        self.ranges.get(next).is_some_and(|range| range.start <= last.saturating_add(1))
    }

    fn contains(&self, line: u32) -> bool {
        let next = self.ranges.partition_point(|range| range.end <= line);
        self.ranges.get(next).is_some_and(|range| range.contains(&line))
    }
}

/// The syntactic facts about the requested lines of a file.
pub(crate) struct Syntax {
    outline: Outline,
    conditionals: Conditionals,
    names: Vec<Name>,
}

/// Returns a grammar, which is translated on first use.
type Load = fn() -> &'static Grammar;

/// Grammars for a file, the likelier first, and whether the file is a header.
fn grammars(path: &str) -> Option<(&'static [Load], bool)> {
    const ONLY_C: &[Load] = &[|| &C];
    const ONLY_CPP: &[Load] = &[|| &CPP];
    const BOTH: &[Load] = &[|| &C, || &CPP];
    let (_, extension) = path.rsplit_once('.')?;
    match extension {
        "c" => Some((ONLY_C, false)),
        "h" | "inc" | "def" => Some((BOTH, true)),
        "cc" | "cpp" | "cxx" | "c++" | "C" | "CC" => Some((ONLY_CPP, false)),
        "hh" | "hpp" | "hxx" | "h++" | "H" | "inl" | "ipp" | "tcc" => Some((ONLY_CPP, true)),
        _ => None,
    }
}

impl Syntax {
    /// Parses a file. None if its name indicates no known language, or if much of it does not parse.
    pub fn parse(path: &str, text: &[u8], requested: &RequestedLines) -> Option<Syntax> {
        let (grammars, header) = grammars(path)?;
        let newlines = text.iter().filter(|byte| **byte == b'\n').count();
        let line_count = u32::try_from(newlines).ok()?.checked_add(1)?;
        let (masked, conditionals) = mask(text);
        let near = |piece: &Piece| requested.touches(piece.lines.start, piece.lines.end);
        let pieces: Vec<Piece> = pieces(&masked).into_iter().filter(near).collect();
        let mut best: Option<(u32, &Grammar, Vec<Tree>)> = None;
        for grammar in grammars {
            let grammar = grammar();
            let trees = trees(grammar, &masked, &pieces)?;
            let mut errors = Errors { lines: 0 };
            trees.iter().for_each(|tree| walk(grammar, tree, &mut errors));
            if best.as_ref().is_none_or(|(least, ..)| errors.lines < *least) {
                best = Some((errors.lines, grammar, trees));
            }
            if errors.lines == 0 {
                break;
            }
        }
        let (errors, grammar, trees) = best?;
        let parsed: u32 = pieces.iter().map(|piece| piece.lines.end - piece.lines.start).sum();
        // More than a quarter is in error nodes.
        if errors > 1 && errors.saturating_mul(4) > parsed {
            return None;
        }
        let mut outliner = Outliner::new(text, requested, line_count);
        let mut namer = NameCollector::new(text, requested, header);
        for (piece, tree) in pieces.iter().zip(&trees) {
            outliner.begin(piece.lines.clone());
            walk(grammar, tree, &mut outliner);
            walk(grammar, tree, &mut namer);
        }
        let names = namer.finish(&conditionals.unseen);
        Some(Syntax { outline: outliner.finish(), conditionals, names })
    }

    /// The nesting at which `lines` may be split before `line` without separating dependent members; none if
    /// they may not.
    pub fn cuttable(&self, lines: &Range<u32>, line: u32) -> Option<Nesting> {
        let nesting = self.outline.cuttable(lines, line)?;
        let conditionals = self.conditionals.depth(lines, line)?;
        Some(Nesting { conditionals, ..nesting })
    }

    /// The first function that contains one of these lines.
    pub fn function(&self, lines: &Range<u32>) -> Option<&Function> {
        self.outline.function(lines)
    }

    /// The names on these lines, which must be among the requested ones.
    pub fn names(&self, lines: &Range<u32>) -> &[Name] {
        let from = self.names.partition_point(|name| name.line < lines.start);
        let to = self.names.partition_point(|name| name.line < lines.end);
        &self.names[from..to]
    }
}

/// One tree per piece, with positions relative to the whole text.
fn trees(grammar: &Grammar, text: &[u8], pieces: &[Piece]) -> Option<Vec<Tree>> {
    let mut parser = Parser::new();
    parser.set_language(&grammar.language).ok()?;
    let point = |line: u32| Point { row: line as usize, column: 0 };
    let mut trees = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let range = tree_sitter::Range {
            start_byte: piece.bytes.start,
            end_byte: piece.bytes.end,
            start_point: point(piece.lines.start),
            end_point: point(piece.lines.end),
        };
        parser.set_included_ranges(&[range]).ok()?;
        trees.push(parser.parse(text, None)?);
    }
    Some(trees)
}

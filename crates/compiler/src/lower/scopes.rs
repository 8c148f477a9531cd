//! Lexical blocks: maps instructions to source blocks.
//!
//! Debug information does not mark the end of a block. Each instruction's location names its
//! innermost block, so the ranges of a block follow from its instructions. An instruction without
//! location is in the block of the previous instruction or, at the start of a basic block, in that
//! of the next one.

use super::debug::Variables;
use super::function::Lowering;
use crate::llvm::{Val, is_subprogram};
use crate::scopes::enclosing;
use program::model::{Block, Scope, Variable};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// The scope of an instruction: unknown, the function itself, or one of its blocks.
pub type SourceScope = Option<Option<u32>>;

/// The blocks found so far, with their parents. Parents precede their children.
#[derive(Default)]
pub struct ScopeTree {
    around: Vec<Option<u32>>,
    index: HashMap<Val, Option<u32>>,
}

impl ScopeTree {
    /// The number of a block; `None` for the function.
    pub fn of(&mut self, scope: Val) -> Option<u32> {
        if is_subprogram(scope) {
            return None;
        }
        if let Some(known) = self.index.get(&scope) {
            return *known;
        }
        let around = enclosing(scope).and_then(|s| self.of(s));
        let number = Some(self.around.len() as u32);
        self.around.push(around);
        self.index.insert(scope, number);
        number
    }
}

impl Lowering<'_> {
    pub fn source_scope(&mut self, i: Val) -> SourceScope {
        let mut at = i.debug_location()?;
        while let Some(outer) = at.inlined_at() {
            at = outer;
        }
        Some(self.variables.nest.of(self.unit.as_value(at.scope())))
    }
}

impl Variables {
    /// The ranges of all blocks. `shift` instructions, which are in no block, precede `code`; the
    /// indices in `blocks` include them.
    ///
    /// A variable is in scope from its declaration, not from the start of its block: in `{ c = 1;
    /// int c = 2; }` the first `c` is a different variable. A variable that shares its name
    /// therefore gets a scope of its own, the rest of the block. It precedes the nested blocks,
    /// which may hide the variable in turn.
    pub fn scopes(&mut self, code: &[(SourceScope, u32)], blocks: &[Block], shift: u32) -> Vec<Scope> {
        let lines = lines(code, blocks, shift);
        let whole = self.nest.ranges(code, blocks, shift);
        let shared = |v: &Variable| {
            v.arg == 0
                && (self.globals.contains(&v.name)
                    || self.list.iter().filter(|w| w.name == v.name).count() > 1)
        };
        let shared: Vec<bool> = self.list.iter().map(shared).collect();
        let rests: BTreeSet<(Option<u32>, u32)> =
            self.list.iter().zip(&shared).filter(|(_, s)| **s).map(|(v, _)| (v.scope, v.line)).collect();
        let mut scopes = Vec::new();
        let mut numbers = HashMap::new();
        let function = [(shift, shift + code.len() as u32)];
        for block in std::iter::once(None).chain((0..whole.len() as u32).map(Some)) {
            let ranges: &[(u32, u32)] = match block {
                None => &function,
                Some(b) => &whole[b as usize],
            };
            if block.is_some() {
                numbers.insert((block, 0), scopes.len() as u32);
                scopes.push(Scope { ranges: ranges.to_vec() });
            }
            for (_, line) in rests.range((block, 0)..=(block, u32::MAX)) {
                numbers.insert((block, *line), scopes.len() as u32);
                let mut rest = Vec::new();
                for at in ranges.iter().flat_map(|(first, end)| *first..*end) {
                    if lines[(at - shift) as usize] >= *line {
                        extend(&mut rest, at);
                    }
                }
                scopes.push(Scope { ranges: rest });
            }
        }
        for (v, shared) in self.list.iter_mut().zip(shared) {
            v.scope = numbers.get(&(v.scope, if shared { v.line } else { 0 })).copied();
        }
        scopes
    }
}

impl ScopeTree {
    fn ranges(&self, code: &[(SourceScope, u32)], blocks: &[Block], shift: u32) -> Vec<Vec<(u32, u32)>> {
        let mut all = vec![Vec::new(); self.around.len()];
        for block in blocks {
            let inside = span(block, shift);
            let first = code[inside.clone()].iter().find_map(|c| c.0).flatten();
            for i in inside {
                let mut scope = code[i].0.unwrap_or(first);
                while let Some(s) = scope {
                    extend(&mut all[s as usize], i as u32 + shift);
                    scope = self.around[s as usize];
                }
            }
        }
        all
    }
}

/// The line of each instruction or, if it has none, of its neighbour.
fn lines(code: &[(SourceScope, u32)], blocks: &[Block], shift: u32) -> Vec<u32> {
    let mut lines = vec![u32::MAX; code.len()];
    for block in blocks {
        let inside = span(block, shift);
        let first = code[inside.clone()].iter().map(|c| c.1).find(|l| *l > 0);
        let mut line = first.unwrap_or(u32::MAX);
        for i in inside {
            if code[i].1 > 0 {
                line = code[i].1;
            }
            lines[i] = line;
        }
    }
    lines
}

fn span(block: &Block, shift: u32) -> Range<usize> {
    block.start.saturating_sub(shift) as usize..(block.end - shift) as usize
}

fn extend(ranges: &mut Vec<(u32, u32)>, at: u32) {
    match ranges.last_mut() {
        Some(last) if last.1 == at => last.1 = at + 1,
        _ => ranges.push((at, at + 1)),
    }
}

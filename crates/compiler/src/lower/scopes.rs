//! Blocks of the source: which instructions are in which.
//!
//! Debug information has no end of a block. Each instruction's location names the
//! innermost block that it is in, so a block's ranges follow from those of its
//! instructions. An instruction without location is where the one before it is or, at
//! the start of a basic block, the one after it.

use super::debug::Variables;
use super::function::Lowering;
use crate::llvm::{Val, is_subprogram};
use crate::scopes::enclosing;
use program::model::{Block, Scope};
use std::collections::HashMap;

/// Where an instruction is: unknown, in the function itself, or in one of its blocks.
pub type Located = Option<Option<u32>>;

/// The blocks met so far, with the one around each. A block comes after those around it.
#[derive(Default)]
pub struct Nest {
    around: Vec<Option<u32>>,
    index: HashMap<Val, Option<u32>>,
}

impl Nest {
    /// The number of a block; none for the function.
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
    pub fn source_scope(&mut self, i: Val) -> Located {
        let mut at = i.debug_location()?;
        while let Some(outer) = at.inlined_at() {
            at = outer;
        }
        Some(self.variables.nest.of(self.unit.as_value(at.scope())))
    }
}

impl Variables {
    /// The ranges of all blocks. `shift` instructions, in no block, come before `code`;
    /// `blocks` are numbered with them.
    pub fn scopes(&self, code: &[Located], blocks: &[Block], shift: u32) -> Vec<Scope> {
        let mut scopes = vec![Scope { ranges: Vec::new() }; self.nest.around.len()];
        for block in blocks {
            let (start, end) = (block.start.saturating_sub(shift) as usize, (block.end - shift) as usize);
            let first = code[start..end].iter().find_map(|s| *s).flatten();
            for (i, located) in code.iter().enumerate().take(end).skip(start) {
                let mut scope = located.unwrap_or(first);
                let at = i as u32 + shift;
                while let Some(s) = scope {
                    let ranges = &mut scopes[s as usize].ranges;
                    match ranges.last_mut() {
                        Some(last) if last.1 == at => last.1 = at + 1,
                        _ => ranges.push((at, at + 1)),
                    }
                    scope = self.nest.around[s as usize];
                }
            }
        }
        scopes
    }
}

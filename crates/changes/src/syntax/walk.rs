//! A traversal of a syntax tree that keeps the path from the root.
//!
//! It is not recursive: expressions in machine-generated code nest thousands deep.

use super::kinds::{Field, Grammar, Kind};
use tree_sitter::{Node, Tree};

/// A node on the path from the root to the current node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub kind: Kind,
    pub field: Field,
    /// First and last line, from 0.
    pub first: u32,
    pub last: u32,
    pub start_byte: usize,
    /// For the visitor's own use.
    pub note: u32,
}

/// Receives the nodes of a traversal.
pub(super) trait Visitor {
    /// Enters a node, which is the last frame. Returns whether to visit its children.
    fn enter(&mut self, node: &Node, frames: &mut [Frame]) -> bool;
    /// Leaves a node whose children were visited.
    fn leave(&mut self, frames: &mut [Frame]);
}

pub(super) fn walk(grammar: &Grammar, tree: &Tree, visitor: &mut impl Visitor) {
    let mut cursor = tree.walk();
    let mut frames: Vec<Frame> = Vec::new();
    loop {
        let node = cursor.node();
        let kind = if node.is_error() { Kind::Other } else { grammar.kind(node.kind_id()) };
        let (first, last) = lines(&node);
        let kind = if frames.is_empty() { Kind::Root } else { kind };
        let field = grammar.field(cursor.field_id());
        frames.push(Frame { kind, field, first, last, start_byte: node.start_byte(), note: 0 });
        if visitor.enter(&node, &mut frames) {
            if cursor.goto_first_child() {
                continue;
            }
            visitor.leave(&mut frames);
        }
        loop {
            frames.pop();
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return;
            }
            visitor.leave(&mut frames);
        }
    }
}

/// First and last line of a node, from 0. The node of a directive includes its line end, which is not a line
/// of its own.
pub(super) fn lines(node: &Node) -> (u32, u32) {
    let row = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
    let (start, end) = (node.start_position(), node.end_position());
    let last = if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row };
    (row(start.row), row(last))
}

//! Finds the split points of a text: its lists and the borders of their members.
//!
//! A *border* is the position before a line. It is classified by the innermost node around it: if that is a
//! list (a block, the fields of a structure, the file itself), the border lies between two of its members. If
//! it is anything else, a statement or an expression spans the border and must not be split.
//!
//! The cost is one visit of every node near the requested lines, and for each list there as many operations
//! as it has lines.

use super::RequestedLines;
use super::kinds::Kind;
use super::walk::{Frame, Visitor, lines};
use std::ops::Range;
use tree_sitter::Node;
use xxhash_rust::xxh3::xxh3_64;

const NONE: u32 = u32::MAX;

/// A position at which a text may be split; two versions only where both have the same nesting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nesting {
    /// A hash of the kinds of the enclosing lists.
    pub(super) path: u64,
    /// Number of enclosing `#if`s.
    pub(super) conditionals: u32,
    pub in_function: bool,
}

/// A list around a border.
#[derive(Clone, Debug)]
struct List {
    /// Its lines without those of its opening and closing tokens.
    inside: Range<u32>,
    /// A hash of the kinds of the enclosing lists and its own.
    path: u64,
    in_function: bool,
    kind: Kind,
}

/// A member of a list.
#[derive(Clone, Copy, Debug)]
struct Member {
    first: u32,
    last: u32,
    traits: u8,
}

/// Control may leave it to a point other than the next member.
const ESCAPES: u8 = 1;
/// It is a jump statement.
const JUMP: u8 = 2;
/// It is a case of a `switch`.
const CASE: u8 = 4;
/// Control never reaches its end.
const NEVER_FALLS_THROUGH: u8 = 8;
/// The parser reported an error in it.
const HAS_ERROR: u8 = 16;
/// It applies to the members after it (`public:`).
const APPLIES_TO_REST: u8 = 32;
/// Its meaning depends on its position (an enumerator without a value).
const POSITION_DEPENDENT: u8 = 64;

#[derive(Clone, Copy, Debug)]
struct Border {
    list: u32,
    before: u32,
    after: u32,
}

/// A function with its lines, from 0.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    pub lines: Range<u32>,
}

#[derive(Default)]
pub(crate) struct Outline {
    /// In order; a nested function belongs to the outer one.
    pub functions: Vec<Function>,
    lists: Vec<List>,
    members: Vec<Member>,
    borders: Vec<Border>,
}

impl Outline {
    /// The list in which these lines may be split before `line`, if they may be: it contains all of them,
    /// `line` is the border of two of its members, and these do not depend on each other.
    pub fn cuttable(&self, lines: &Range<u32>, line: u32) -> Option<Nesting> {
        let border = self.borders.get(line as usize)?;
        let list = self.lists.get(border.list as usize)?;
        if lines.start < list.inside.start || list.inside.end < lines.end {
            return None;
        }
        let member = |number: u32| {
            let member = self.members.get(number as usize)?;
            (lines.start <= member.first && member.last < lines.end).then_some(member.traits)
        };
        // Members outside these lines are the same in both versions.
        let before = member(border.before).unwrap_or(NEVER_FALLS_THROUGH);
        let after = member(border.after).unwrap_or(0);
        let apart = (before | after) & (HAS_ERROR | POSITION_DEPENDENT) == 0
            && before & APPLIES_TO_REST == 0
            && after & JUMP == 0
            // One case falls through into the next; code after a member runs only if the member did not
            // leave.
            && if after & CASE != 0 { before & NEVER_FALLS_THROUGH != 0 } else { before & ESCAPES == 0 };
        apart.then_some(Nesting { path: list.path, conditionals: 0, in_function: list.in_function })
    }

    /// The first function that contains one of these lines.
    pub fn function(&self, lines: &Range<u32>) -> Option<&Function> {
        let next = self.functions.partition_point(|function| function.lines.end <= lines.start);
        self.functions.get(next).filter(|function| function.lines.start < lines.end)
    }
}

/// The state of a list while the walk is in it.
struct Open {
    list: u32,
    /// The previous member, and the line after it.
    before: u32,
    behind: u32,
    /// Line of the comma after that member.
    comma: Option<u32>,
    /// The previous member is this list, which ends where the next member begins.
    unclosed: Option<u32>,
    /// The previous member always leaves the list.
    left: bool,
}

pub(super) struct Outliner<'a> {
    text: &'a [u8],
    requested: &'a RequestedLines,
    out: Outline,
    open: Vec<Open>,
    functions: u32,
    /// Lines of the current tree.
    piece: Range<u32>,
}

impl<'a> Outliner<'a> {
    pub fn new(text: &'a [u8], requested: &'a RequestedLines, line_count: u32) -> Outliner<'a> {
        let border = Border { list: NONE, before: NONE, after: NONE };
        let out = Outline { borders: vec![border; line_count as usize + 1], ..Outline::default() };
        Outliner { text, requested, out, open: Vec::new(), functions: 0, piece: 0..line_count }
    }

    /// Begins the tree of these lines.
    pub fn begin(&mut self, piece: Range<u32>) {
        self.piece = piece;
    }

    pub fn finish(self) -> Outline {
        self.out
    }

    fn paint(&mut self, lines: Range<u32>, list: u32) {
        let count = self.out.borders.len();
        let range = (lines.start as usize).min(count)..(lines.end as usize).min(count);
        for border in &mut self.out.borders[range] {
            *border = Border { list, before: NONE, after: NONE };
        }
    }

    /// Enters a member of the innermost list.
    fn member(&mut self, node: &Node, frame: &mut Frame) {
        let Some(open) = self.open.last_mut() else { return };
        let number = u32::try_from(self.out.members.len()).unwrap_or(NONE);
        let traits = traits(node, frame.kind);
        self.out.members.push(Member { first: frame.first, last: frame.last, traits });
        frame.note = number;
        let list = open.list;
        let commas = self.out.lists[list as usize].kind.has_commas();
        let between = open.behind..(frame.first + 1).max(open.behind);
        for line in between {
            let border = &mut self.out.borders[line as usize];
            (border.before, border.after) = (open.before, number);
            if commas && open.before != NONE && open.comma.is_none_or(|comma| line <= comma) {
                border.list = NONE;
            }
        }
        if let Some(unclosed) = open.unclosed.take() {
            self.out.lists[unclosed as usize].inside.end = frame.first;
        }
        open.before = number;
        open.behind = frame.last + 1;
        open.comma = None;
        open.left = frame.kind.is_jump();
    }

    fn enter_list(&mut self, frames: &[Frame]) {
        let frame = frames[frames.len() - 1];
        let parent = self.open.last().map_or(0, |open| self.out.lists[open.list as usize].path);
        let mut key = [0; 9];
        key[..8].copy_from_slice(&parent.to_le_bytes());
        key[8] = frame.kind as u8;
        let number = u32::try_from(self.out.lists.len()).unwrap_or(NONE);
        let root = frame.kind == Kind::Root;
        let count = u32::try_from(self.out.borders.len()).unwrap_or(NONE);
        let inside = if root {
            0..count
        } else if frame.kind.is_open_ended() {
            frame.first + 1..frame.last + 1
        } else {
            frame.first + 1..frame.last
        };
        let painted =
            if root { self.piece.start..self.piece.end + 1 } else { frame.first + 1..frame.last + 1 };
        self.paint(painted, number);
        let in_function = self.functions > 0;
        self.out.lists.push(List { inside, path: xxh3_64(&key), in_function, kind: frame.kind });
        let behind = if root { self.piece.start } else { frame.first + 1 };
        self.open.push(Open { list: number, before: NONE, behind, comma: None, unclosed: None, left: false });
    }

    /// Marks the members that a jump leaves.
    fn jump(&mut self, frames: &[Frame]) {
        let kind = frames[frames.len() - 1].kind;
        for pair in frames.windows(2).rev() {
            let (parent, frame) = (pair[0], pair[1]);
            let stops = match kind {
                Kind::Break => frame.kind.is_loop() || frame.kind == Kind::Switch,
                Kind::Continue => frame.kind.is_loop(),
                _ => matches!(frame.kind, Kind::Function | Kind::Lambda),
            };
            if stops {
                break;
            }
            if parent.kind.is_list()
                && let Some(member) = self.out.members.get_mut(frame.note as usize)
            {
                member.traits |= ESCAPES;
            }
        }
    }
}

fn traits(node: &Node, kind: Kind) -> u8 {
    let mut traits = match kind {
        kind if kind.is_jump() => JUMP,
        Kind::Case => CASE,
        Kind::Access => APPLIES_TO_REST,
        Kind::Enumerator if node.child_by_field_name("value").is_none() => POSITION_DEPENDENT,
        _ => 0,
    };
    // A function with one syntax error inside still ends at a known line.
    let large = matches!(
        kind,
        Kind::Function | Kind::Declarations | Kind::Namespace | Kind::Linkage | Kind::Aggregate
    );
    if node.is_error() || node.is_missing() || (node.has_error() && !large) {
        traits |= HAS_ERROR;
    }
    traits
}

/// The name in a declarator.
fn name<'a>(function: &Node, text: &'a [u8]) -> Option<&'a [u8]> {
    let mut at = function.child_by_field_name("declarator")?;
    while let Some(inner) = at.child_by_field_name("declarator") {
        at = inner;
    }
    // Parentheses and references contain their declarators without a field name.
    while at.kind().ends_with("_declarator") {
        let mut cursor = at.walk();
        let inner = at.named_children(&mut cursor).find(|child| {
            let kind = child.kind();
            kind.ends_with("declarator") || kind.ends_with("identifier") || kind.ends_with("name")
        })?;
        at = inner.child_by_field_name("declarator").unwrap_or(inner);
    }
    text.get(at.byte_range())
}

impl Visitor for Outliner<'_> {
    fn enter(&mut self, node: &Node, frames: &mut [Frame]) -> bool {
        let (parents, frame) = frames.split_at_mut(frames.len() - 1);
        let frame = &mut frame[0];
        let parent = parents.last().map(|parent| parent.kind);
        frame.note = NONE;
        let in_list = parent.is_some_and(Kind::is_list);
        if in_list && (node.is_named() || node.is_error()) && frame.kind != Kind::Comment {
            self.member(node, frame);
        } else if frame.kind == Kind::Comma
            && let Some(open) = self.open.last_mut()
            && in_list
        {
            open.comma = Some(frame.first);
        }
        if frame.kind == Kind::Function
            && self.functions == 0
            && let Some(name) = name(node, self.text)
        {
            self.out.functions.push(Function {
                name: String::from_utf8_lossy(name).into_owned(),
                lines: frame.first..frame.last + 1,
            });
        }
        let list = frame.kind.is_list();
        let holds_functions = matches!(
            frame.kind,
            Kind::Root
                | Kind::Declarations
                | Kind::Fields
                | Kind::Linkage
                | Kind::Namespace
                | Kind::Template
                | Kind::Aggregate
                | Kind::Declaration
        );
        let near = frame.kind == Kind::Root || self.requested.touches(frame.first, frame.last);
        if !list && in_list && frame.first < frame.last && near {
            self.paint(frame.first + 1..frame.last + 1, NONE);
        }
        let searched = holds_functions && self.functions == 0;
        if !near && !searched {
            return false;
        }
        self.functions += u32::from(frame.kind == Kind::Function);
        if list {
            self.enter_list(frames);
        } else if frame.kind.is_jump() {
            self.jump(frames);
        }
        true
    }

    fn leave(&mut self, frames: &mut [Frame]) {
        let frame = frames[frames.len() - 1];
        self.functions -= u32::from(frame.kind == Kind::Function);
        if !frame.kind.is_list() {
            return;
        }
        let Some(open) = self.open.pop() else { return };
        let commas = frame.kind.has_commas() && open.before != NONE;
        let last = if frame.kind == Kind::Root { self.piece.end + 1 } else { frame.last + 1 };
        for line in open.behind..last.max(open.behind) {
            let border = &mut self.out.borders[line as usize];
            border.before = open.before;
            if commas && open.comma.is_none_or(|comma| line <= comma) {
                border.list = NONE;
            }
        }
        if let Some(unclosed) = open.unclosed {
            self.out.lists[unclosed as usize].inside.end = frame.last;
        }
        if frame.kind.is_open_ended()
            && let Some(outer) = self.open.last_mut()
        {
            outer.unclosed = Some(open.list);
        }
        if open.left {
            if let Some(member) = self.out.members.get_mut(frame.note as usize) {
                member.traits |= NEVER_FALLS_THROUGH;
            }
            if frame.kind == Kind::Block
                && let Some(outer) = self.open.last_mut()
                && outer.before == frame.note
            {
                outer.left = true;
            }
        }
    }
}

/// Lines of the outermost error nodes.
pub(super) struct Errors {
    pub lines: u32,
}

impl Visitor for Errors {
    fn enter(&mut self, node: &Node, _: &mut [Frame]) -> bool {
        if node.is_error() || node.is_missing() {
            let (first, last) = lines(node);
            self.lines += last - first + 1;
            return false;
        }
        node.has_error()
    }

    fn leave(&mut self, _: &mut [Frame]) {}
}

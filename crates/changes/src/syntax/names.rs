//! Determines which names some lines declare, assign and use, and the scope of each.
//!
//! The role of a name follows from its ancestors: the end of a declarator is a declaration, the left side of
//! an assignment is assigned, and so is an operand whose address is taken or a buffer passed to a call, which
//! may write to it. Everything else is a use. Types and the effects of macros are not known; both only make
//! lines appear more dependent, or less, than they are.

use super::RequestedLines;
use super::kinds::{Field, Kind};
use super::walk::{Frame, Visitor};
use std::collections::HashSet;
use std::ops::Range;
use tree_sitter::Node;
use xxhash_rust::xxh3::xxh3_64;

/// The effects of a line on a name, as bit flags.
pub(crate) mod name_effect {
    /// Declares or defines it.
    pub const DECLARE: u8 = 1;
    /// May assign it.
    pub const ASSIGN: u8 = 2;
    /// May assign a component of it (`p->x = 1` does so to `p`).
    pub const ASSIGN_PART: u8 = 4;
    /// Uses it as a whole.
    pub const USE: u8 = 8;
    /// Uses a component of it.
    pub const USE_PART: u8 = 16;
}

/// The name space of a name: a field and a variable with the same name are unrelated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum World {
    Ordinary,
    Field,
    Label,
}

/// The scope of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameScope {
    /// A block or function that begins at this line (from 0).
    Local(u32),
    File,
    Global,
}

/// A name at a line.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub line: u32,
    /// Byte range in the text.
    pub at: Range<usize>,
    pub world: World,
    pub reach: NameScope,
    /// A combination of [`name_effect`] flags.
    pub effects: u8,
}

/// Frame notes: the specifiers of a declaration.
const STATIC: u32 = 1;
const PRIMITIVE: u32 = 2;
const CONSTANT: u32 = 4;
/// The aggregate has a body.
const BODY: u32 = 8;

struct Local {
    name: u64,
    scope: u32,
    buffer: bool,
}

pub(super) struct NameCollector<'a> {
    text: &'a [u8],
    requested: &'a RequestedLines,
    header: bool,
    names: Vec<Name>,
    /// First line of each open scope, and the number of locals before it.
    scopes: Vec<(u32, usize)>,
    locals: Vec<Local>,
    /// Names with file scope.
    statics: HashSet<u64>,
}

impl<'a> NameCollector<'a> {
    pub fn new(text: &'a [u8], requested: &'a RequestedLines, header: bool) -> NameCollector<'a> {
        NameCollector {
            text,
            requested,
            header,
            names: Vec::new(),
            scopes: Vec::new(),
            locals: Vec::new(),
            statics: HashSet::new(),
        }
    }

    /// The names in line order.
    pub fn finish(mut self, unseen: &[(u32, Range<usize>)]) -> Vec<Name> {
        // Text that the parser does not see: conditions, and blanked branches.
        for (line, range) in unseen {
            let last = line + lines_in(&self.text[range.clone()]);
            if self.requested.touches(*line, last) {
                self.macro_text(range.clone(), *line, false);
            }
        }
        self.names.sort_by_key(|name| (name.line, name.at.start));
        self.names
    }

    fn push(&mut self, line: u32, at: Range<usize>, world: World, reach: NameScope, effects: u8) {
        if self.requested.contains(line) {
            self.names.push(Name { line, at, world, reach, effects });
        }
    }

    /// The innermost local with this name.
    fn local(&self, name: u64) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn reach(&self, name: u64) -> NameScope {
        match self.local(name) {
            Some(local) => NameScope::Local(local.scope),
            None if self.statics.contains(&name) => NameScope::File,
            None => NameScope::Global,
        }
    }

    fn leaf(&mut self, at: Range<usize>, frames: &[Frame]) {
        let leaf = frames[frames.len() - 1];
        let name = xxh3_64(&self.text[at.clone()]);
        let world = match leaf.kind {
            Kind::FieldName => World::Field,
            Kind::LabelName => World::Label,
            _ => World::Ordinary,
        };
        match role(frames, self.text) {
            Role::Declares { by, shape } => {
                let reach = self.declare(name, world, &frames[by], frames, shape);
                // A method is called like a field and declared like a function.
                self.push(leaf.first, at, world, reach, name_effect::DECLARE);
            }
            Role::MacroParameter => {
                self.push(leaf.first, at, world, NameScope::Local(leaf.first), name_effect::DECLARE);
            }
            Role::Does { effects, given } => {
                let written = given && self.local(name).is_some_and(|local| local.buffer);
                let effects = if written { effects | name_effect::ASSIGN_PART } else { effects };
                let reach = if world == World::Ordinary { self.reach(name) } else { NameScope::Global };
                self.push(leaf.first, at, world, reach, effects);
            }
        }
    }

    fn declare(&mut self, name: u64, world: World, by: &Frame, frames: &[Frame], shape: Shape) -> NameScope {
        let line = frames[frames.len() - 1].first;
        let own = if self.header { NameScope::Global } else { NameScope::File };
        match (by.kind, world) {
            (_, World::Label) => {
                return self.scopes.first().map_or(NameScope::Global, |scope| NameScope::Local(scope.0));
            }
            (Kind::FieldDeclaration, _) | (_, World::Field) => return NameScope::Global,
            (Kind::Define, _) => {
                if !self.header {
                    self.statics.insert(name);
                }
                return own;
            }
            _ => {}
        }
        // A function's own name belongs to the scope around the one it opens.
        let outside = by.kind == Kind::Function && self.scopes.len() <= 1;
        match self.scopes.last() {
            Some((scope, _)) if !outside => {
                let pointed = shape.pointer && by.note & PRIMITIVE != 0 && by.note & CONSTANT == 0;
                self.locals.push(Local { name, scope: *scope, buffer: shape.array || pointed });
                NameScope::Local(*scope)
            }
            _ if by.kind == Kind::Parameter => NameScope::Local(line),
            _ if by.note & STATIC != 0 && !self.header => {
                self.statics.insert(name);
                NameScope::File
            }
            _ => NameScope::Global,
        }
    }

    /// Names in the raw text of a macro or directive.
    fn macro_text(&mut self, at: Range<usize>, first: u32, undefines: bool) {
        let text = &self.text[at.clone()];
        let mut line = first;
        let mut next = 0;
        while next < text.len() {
            let byte = text[next];
            let word = text[next..].iter().take_while(|byte| is_word(**byte)).count();
            if byte == b'"' || byte == b'\'' {
                let mut end = next + 1;
                while end < text.len() && text[end] != byte && text[end] != b'\n' {
                    end += 1 + usize::from(text[end] == b'\\');
                }
                next = end + 1;
            } else if text[next..].starts_with(b"//") {
                return;
            } else if text[next..].starts_with(b"/*") {
                let end = text[next..].windows(2).position(|pair| pair == b"*/");
                let end = end.map_or(text.len(), |end| next + end + 2);
                line += lines_in(&text[next..end]);
                next = end;
            } else if word > 0 {
                let directive = text[..next].trim_ascii_end().ends_with(b"#");
                if !byte.is_ascii_digit() && !directive && &text[next..next + word] != b"defined" {
                    let at = at.start + next..at.start + next + word;
                    let reach = self.reach(xxh3_64(&self.text[at.clone()]));
                    let effects = if undefines { name_effect::ASSIGN } else { name_effect::USE };
                    self.push(line, at, World::Ordinary, reach, effects);
                }
                next += word;
            } else {
                line += u32::from(byte == b'\n');
                next += 1;
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn lines_in(text: &[u8]) -> u32 {
    text.iter().map(|byte| u32::from(*byte == b'\n')).sum()
}

/// The type constructors that a declarator applies.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    pointer: bool,
    array: bool,
}

enum Role {
    /// The index of the declaring frame.
    Declares {
        by: usize,
        shape: Shape,
    },
    MacroParameter,
    /// `given`: it is an argument of a call.
    Does {
        effects: u8,
        given: bool,
    },
}

/// The role of the name in the last frame.
fn role(frames: &[Frame], text: &[u8]) -> Role {
    let mut shape = Shape::default();
    let mut part = false;
    let does = |effects, given| Role::Does { effects, given };
    let used = |part: bool| if part { name_effect::USE_PART } else { name_effect::USE };
    for by in (0..frames.len().saturating_sub(1)).rev() {
        let (parent, child) = (&frames[by], &frames[by + 1]);
        match (parent.kind, child.field) {
            (Kind::Pointer | Kind::Array | Kind::Callable | Kind::Init, Field::Declarator)
            | (Kind::Wrapped, _)
            | (Kind::Qualified, Field::Name) => {
                shape.pointer |= parent.kind == Kind::Pointer;
                shape.array |= parent.kind == Kind::Array;
            }
            (
                Kind::Declaration
                | Kind::FieldDeclaration
                | Kind::Parameter
                | Kind::Typedef
                | Kind::Function
                | Kind::For,
                Field::Declarator,
            )
            | (Kind::Enumerator | Kind::Define | Kind::Alias, Field::Name)
            | (Kind::Labelled, Field::Label) => return Role::Declares { by, shape },
            (Kind::Aggregate, Field::Name) if parent.note & BODY != 0 => {
                return Role::Declares { by, shape };
            }
            (Kind::DefineParameters, _) => return Role::MacroParameter,
            (Kind::Assignment, Field::Left) | (Kind::Update, _) => {
                return does(
                    if part { name_effect::ASSIGN_PART | name_effect::USE_PART } else { name_effect::ASSIGN },
                    false,
                );
            }
            (Kind::AddressOrDereference, _) => {
                if text.get(parent.start_byte) == Some(&b'&') {
                    return does(
                        if part {
                            name_effect::ASSIGN_PART | name_effect::USE_PART
                        } else {
                            name_effect::ASSIGN
                        },
                        false,
                    );
                }
            }
            (Kind::Member, Field::Argument) => part = true,
            (Kind::Subscript, Field::Argument)
            | (Kind::Member, Field::Member)
            | (Kind::Operation | Kind::Parenthesised, _)
            | (Kind::Cast, Field::Value) => {}
            (Kind::Arguments, _) => return does(used(part), !part),
            _ => return does(used(part), false),
        }
    }
    does(used(part), false)
}

impl Visitor for NameCollector<'_> {
    fn enter(&mut self, node: &Node, frames: &mut [Frame]) -> bool {
        let (parents, own) = frames.split_at_mut(frames.len() - 1);
        let frame = &mut own[0];
        match frame.kind {
            Kind::StorageClass => {
                if let Some(parent) = parents.last_mut()
                    && self.text.get(node.byte_range()) == Some(b"static")
                {
                    parent.note |= STATIC;
                }
                return false;
            }
            Kind::Qualifier | Kind::PrimitiveType | Kind::SizedType => {
                if let Some(parent) = parents.last_mut() {
                    let constant = self.text.get(node.byte_range()) == Some(b"const");
                    let qualifier = if constant { CONSTANT } else { 0 };
                    parent.note |= if frame.kind == Kind::Qualifier { qualifier } else { PRIMITIVE };
                }
                // `unsigned size` may contain a user-defined type.
                return frame.kind == Kind::SizedType && self.requested.touches(frame.first, frame.last);
            }
            Kind::Aggregate if node.child_by_field_name("body").is_some() => frame.note |= BODY,
            Kind::Identifier | Kind::TypeName | Kind::FieldName | Kind::LabelName => {
                self.leaf(node.byte_range(), frames);
                return false;
            }
            Kind::MacroText => {
                let undefines = parents.last().is_some_and(|parent| {
                    parent.kind == Kind::Directive
                        && self.text[parent.start_byte..node.start_byte()].ends_with(b"undef ")
                });
                self.macro_text(node.byte_range(), frame.first, undefines);
                return false;
            }
            _ => {}
        }
        let seen = self.requested.touches(frame.first, frame.last)
            || frame.kind == Kind::Root
            || frame.kind.is_declarator()
            || matches!(
                frame.kind,
                Kind::Declaration
                    | Kind::Function
                    | Kind::Parameters
                    | Kind::Parameter
                    | Kind::Linkage
                    | Kind::Namespace
                    | Kind::Declarations
                    | Kind::Template
                    | Kind::Define
            );
        if seen
            && matches!(
                frame.kind,
                Kind::Function | Kind::Block | Kind::For | Kind::Loop | Kind::If | Kind::Lambda | Kind::Catch
            )
        {
            self.scopes.push((frame.first, self.locals.len()));
        }
        seen
    }

    fn leave(&mut self, frames: &mut [Frame]) {
        let frame = frames[frames.len() - 1];
        if matches!(
            frame.kind,
            Kind::Function | Kind::Block | Kind::For | Kind::Loop | Kind::If | Kind::Lambda | Kind::Catch
        ) && let Some((_, locals)) = self.scopes.pop()
        {
            self.locals.truncate(locals);
        }
    }
}

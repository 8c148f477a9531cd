//! A run as semantic events.
//!
//! An event is a row of numbers (20 bytes) and a key (8 bytes). The row refers to an [`EventSite`], the static
//! description of the instruction: kind of event, function, source location, field or callee, shape of the
//! value. The key is a hash of the event's content, computed from names and values only: two events of any
//! two runs are equal if their keys are.

use crate::column::{Budget, Column, Word};
use crate::fleeting::decisions::Decision;
use crate::names::{Names, mix};
use std::sync::Arc;

/// No object.
pub const NONE: u32 = u32::MAX;

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A field was read.
    Get,
    /// A field was written.
    Set,
    /// A function was called.
    Call,
    /// A function returned.
    Return,
    /// Memory was allocated.
    Init,
    /// A thread or a process was started.
    Fork,
    /// The thread ended.
    End,
}

impl Kind {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Get => "get",
            Kind::Set => "set",
            Kind::Call => "call",
            Kind::Return => "return",
            Kind::Init => "init",
            Kind::Fork => "fork",
            Kind::End => "end",
        }
    }
}

/// How the bits of a value are interpreted.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Shape {
    /// Nothing.
    #[default]
    Nothing,
    /// A signed number of this many bytes.
    Signed(u8),
    /// An unsigned number of this many bytes.
    Unsigned(u8),
    /// `true` or `false`.
    Bool,
    /// One character.
    Char(bool),
    /// A float of this many bytes.
    Float(u8),
    /// An enumeration: names and values, and the size in bytes.
    Enum(Arc<[(String, i64)]>, u8),
    /// A string: the number of its text plus one, 0 for null, [`NO_TEXT`] for bytes that are not text.
    Text,
    /// A pointer to an object of this type (a name): the object's number plus one, or 0.
    Object(u32),
    /// A function: its name plus one, or 0.
    Function,
    /// A pointer of which only nullness is known.
    Pointer,
    /// A hash of this many bytes.
    Whole(u32),
    /// The size of an allocation, in bytes.
    Bytes,
    /// Several values: an offset in the trace's `arguments`.
    Arguments,
    /// A call stack: the number of its text.
    Stack,
    /// A fleeting value: what it was computed from, as bits for [`crate::fleeting::words`].
    Fleeting(u8),
}

/// How a value of a shape is encoded in its row and key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Nothing,
    /// The value itself.
    Plain,
    /// The value itself, unless it looks like an address.
    Wide,
    /// Whether it is null.
    Pointer,
    Object(u32),
    Text,
    Function,
    Whole(u32),
}

impl Shape {
    pub(crate) fn take(&self) -> Encoding {
        match self {
            Shape::Nothing => Encoding::Nothing,
            Shape::Signed(8) | Shape::Unsigned(8) => Encoding::Wide,
            Shape::Text => Encoding::Text,
            Shape::Object(ty) => Encoding::Object(*ty),
            Shape::Function => Encoding::Function,
            Shape::Pointer => Encoding::Pointer,
            Shape::Whole(len) => Encoding::Whole(*len),
            _ => Encoding::Plain,
        }
    }
}

/// The value of a `char *` that does not point to text.
pub const NO_TEXT: u64 = u64::MAX;

/// Whether an integer is most likely an address, which has no meaning in another run.
#[must_use]
pub fn is_address(value: u64) -> bool {
    (0x5500_0000_0000..0x8000_0000_0000).contains(&value)
}

/// The static description of an instruction that makes events: an event site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSite {
    /// The kind of event.
    pub kind: Kind,
    /// The function that contains it: index into [`Trace::methods`].
    pub method: u32,
    /// The type that has the field (a name), 0 if there is none.
    pub owner: u32,
    /// Field or callee (a name).
    pub name: u32,
    /// The shape of its value.
    pub shape: Shape,
    /// For a call, the name and shape of each argument.
    pub arguments: Arc<[(u32, Shape)]>,
    /// The source file (a name).
    pub file: u32,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
    /// The hash of kind and names.
    pub hash: u64,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its name (a name).
    pub name: u32,
    /// `add(list *, point *)` (a name).
    pub signature: u32,
    /// Source file (a name).
    pub file: u32,
    /// Its line.
    pub line: u32,
}

/// One event, without its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Index into [`Trace::acts`].
    pub act: u32,
    /// The object that is accessed or called on, or [`NONE`].
    pub target: u32,
    /// The object that the running function works on, or [`NONE`].
    pub active: u32,
    /// The value, encoded by the event site's shape.
    pub value: u64,
}

/// A row without the padding for the alignment of a `u64`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packed([u32; 5]);

impl From<Row> for Packed {
    #[inline]
    fn from(row: Row) -> Self {
        Packed([row.act, row.target, row.active, row.value as u32, (row.value >> 32) as u32])
    }
}

impl From<Packed> for Row {
    #[inline]
    fn from(Packed([act, target, active, low, high]): Packed) -> Self {
        Row { act, target, active, value: u64::from(high) << 32 | u64::from(low) }
    }
}

impl Word for Packed {
    const SIZE: usize = 20;
    fn put(self, to: &mut Vec<u8>) {
        self.0.into_iter().for_each(|word| word.put(to));
    }
    fn take(bytes: &[u8]) -> Self {
        let mut row = Packed::default();
        for (word, bytes) in row.0.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::take(bytes);
        }
        row
    }
}

/// An object: a region of memory that was accessed through a pointer to its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its type (a name), 0 if it is unknown.
    pub ty: u32,
    /// Its name, if it is a variable; else 0.
    pub name: u32,
    /// Its ordinal number among the objects of its type, from 1.
    pub number: u32,
    /// The event site that allocated it, or [`NONE`].
    pub born: u32,
    /// A hash of the first values that were written to it.
    pub birth: u64,
    pub(crate) written: u8,
}

/// A thread of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The number of its stream in the recording.
    pub stream: u32,
    /// Whether it runs signal handlers.
    pub signal: bool,
    /// Its first event.
    pub first: usize,
    /// One past its last event.
    pub last: usize,
    /// The functions on the stacks it was spawned from, innermost first, followed by those of its ancestors
    /// (names).
    pub spawned: Vec<u32>,
}

/// See the module's documentation.
pub struct Trace {
    /// All texts.
    pub names: Names,
    /// The event sites.
    pub acts: Vec<EventSite>,
    /// Functions.
    pub methods: Vec<Method>,
    /// Objects.
    pub objects: Vec<Object>,
    /// Threads, in the order of the recording. The events of each are contiguous.
    pub threads: Vec<Thread>,
    pub(crate) rows: Column<Packed>,
    pub(crate) keys: Column<u64>,
    pub(crate) arguments: Column<u64>,
    /// The number of executed instructions.
    pub instructions: u64,
    /// The time of the extraction.
    pub seconds: f64,
    /// The number of accesses without a known field, since types are missing, by function (a name).
    pub untyped: Vec<(u32, u64)>,
    /// Branches with a fleeting condition.
    pub(crate) decisions: Vec<Decision>,
    /// Events of calls whose change was intended, in order.
    pub(crate) meant: Vec<std::ops::Range<usize>>,
    /// Notes about missing parts.
    pub notes: Vec<String>,
    pub(crate) budget: Arc<Budget>,
}

impl Trace {
    /// The number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// An event.
    #[inline]
    #[must_use]
    pub fn row(&self, event: usize) -> Row {
        self.rows.get(event).into()
    }

    /// The key of an event, which identifies its content.
    #[inline]
    #[must_use]
    pub fn key(&self, event: usize) -> u64 {
        self.keys.get(event)
    }

    /// The event site of an event.
    #[must_use]
    pub fn act(&self, event: usize) -> &EventSite {
        &self.acts[self.row(event).act as usize]
    }

    /// The thread an event belongs to.
    #[must_use]
    pub fn thread_of(&self, event: usize) -> usize {
        self.threads.partition_point(|t| t.last <= event).min(self.threads.len().saturating_sub(1))
    }

    /// Whether an event is in a call whose change was intended.
    #[must_use]
    pub fn is_meant(&self, event: usize) -> bool {
        let behind = self.meant.partition_point(|of| of.end <= event);
        self.meant.get(behind).is_some_and(|of| of.contains(&event))
    }

    /// The size of all tables in memory, in bytes.
    #[must_use]
    pub fn resident(&self) -> u64 {
        self.rows.resident()
            + self.keys.resident()
            + self.arguments.resident()
            + (self.objects.capacity() * size_of::<Object>()) as u64
            + (self.acts.capacity() * size_of::<EventSite>()) as u64
    }

    /// The memory budget for columns, shared with this trace.
    #[must_use]
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }
}

/// The hash of a kind and names.
pub(crate) fn site_hash(kind: Kind, owner: u64, name: u64) -> u64 {
    mix(mix(kind as u64 + 1, owner), name)
}

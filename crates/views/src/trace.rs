//! A run as semantic events: what is kept of each, and how it reads.
//!
//! An event is a row of numbers (20 bytes) and a key (8 bytes). The row names an
//! [`Act`], which is what the instruction does whenever it runs: the kind of
//! event, the function, the place, the field or callee, the shape of its value.
//! The key is a hash of what the event *says*, made of names and values only: two
//! events of any two runs are equal when their keys are.

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
    /// The word for it.
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

/// How the bits of a value are to be understood.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Shape {
    /// Nothing.
    #[default]
    Nothing,
    /// A signed number of so many bytes.
    Signed(u8),
    /// An unsigned number.
    Unsigned(u8),
    /// `true` or `false`.
    Bool,
    /// One character.
    Char(bool),
    /// A float of so many bytes.
    Float(u8),
    /// Values with names.
    Enum(Arc<[(String, i64)]>, u8),
    /// A string: number of its text plus one, 0 for null, [`NO_TEXT`] for
    /// something that is no text.
    Text,
    /// A pointer to an object of this type (a name): its number plus one, or 0.
    Object(u32),
    /// A function's name plus one, or 0.
    Function,
    /// A pointer of which only is known whether it is null.
    Pointer,
    /// A hash of so many bytes.
    Whole(u32),
    /// So many bytes were allocated.
    Bytes,
    /// Several values: an offset in the trace's `arguments`.
    Arguments,
    /// A stack: number of its text.
    Stack,
    /// Something that is another value in every run: what it is made of, as [`crate::fleeting::words`]
    /// tells.
    Fleeting(u8),
}

/// What has to be done to take a value of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    Nothing,
    /// It says itself.
    Plain,
    /// It says itself, unless it is an address.
    Wide,
    /// It says whether it is null.
    Pointer,
    Object(u32),
    Text,
    Function,
    Whole(u32),
}

impl Shape {
    pub(crate) fn take(&self) -> Take {
        match self {
            Shape::Nothing => Take::Nothing,
            Shape::Signed(8) | Shape::Unsigned(8) => Take::Wide,
            Shape::Text => Take::Text,
            Shape::Object(ty) => Take::Object(*ty),
            Shape::Function => Take::Function,
            Shape::Pointer => Take::Pointer,
            Shape::Whole(len) => Take::Whole(*len),
            _ => Take::Plain,
        }
    }
}

/// A `char *` that does not point to text.
pub const NO_TEXT: u64 = u64::MAX;

/// Integers that are most likely addresses mean nothing in another run.
#[must_use]
pub fn is_address(value: u64) -> bool {
    (0x5500_0000_0000..0x8000_0000_0000).contains(&value)
}

/// What an instruction does whenever it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// Kind of event.
    pub kind: Kind,
    /// The function it is in: index into [`Trace::methods`].
    pub method: u32,
    /// Type that has the field (a name), 0 if there is none.
    pub owner: u32,
    /// Field or callee (a name).
    pub name: u32,
    /// Its value's shape.
    pub shape: Shape,
    /// Of a call: name and shape of each argument.
    pub arguments: Arc<[(u32, Shape)]>,
    /// Source file (a name) and place.
    pub file: u32,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
    /// Hash of kind and names.
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
    /// The value, by the act's shape.
    pub value: u64,
}

/// A row without the gaps that a `u64` between words of four bytes needs.
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

/// An object: something with an address that was accessed as a whole with parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its type (a name), 0 if nothing is known of it.
    pub ty: u32,
    /// Its own name, if it is a variable; else 0.
    pub name: u32,
    /// How many objects of this type there were before; from 1.
    pub number: u32,
    /// The act that allocated it, or [`NONE`].
    pub born: u32,
    /// Hash of the first things that were written to it.
    pub birth: u64,
    pub(crate) written: u8,
}

/// A thread of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Number of its stream in the recording.
    pub stream: u32,
    /// Whether it is a signal's context.
    pub signal: bool,
    /// Its events.
    pub first: usize,
    /// Behind its last event.
    pub last: usize,
    /// Functions on the stacks it was spawned from, innermost first, ancestors behind (names).
    pub spawned: Vec<u32>,
}

/// See the module's documentation.
pub struct Trace {
    /// All texts.
    pub names: Names,
    /// What instructions do.
    pub acts: Vec<Act>,
    /// Functions.
    pub methods: Vec<Method>,
    /// Objects.
    pub objects: Vec<Object>,
    /// Threads, in the order of the recording. Their events follow each other.
    pub threads: Vec<Thread>,
    pub(crate) rows: Column<Packed>,
    pub(crate) keys: Column<u64>,
    pub(crate) arguments: Column<u64>,
    /// Executed instructions.
    pub instructions: u64,
    /// How long it took to make.
    pub seconds: f64,
    /// Events whose field is not known for lack of types, by function (a name).
    pub untyped: Vec<(u32, u64)>,
    /// Branches that something fleeting decided.
    pub(crate) decisions: Vec<Decision>,
    /// Events of calls in which the runs differ as they should, in order.
    pub(crate) meant: Vec<std::ops::Range<usize>>,
    /// What could not be seen.
    pub notes: Vec<String>,
    pub(crate) budget: Arc<Budget>,
}

impl Trace {
    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
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

    /// What an event says, as a number.
    #[inline]
    #[must_use]
    pub fn key(&self, event: usize) -> u64 {
        self.keys.get(event)
    }

    /// What the instruction of an event does.
    #[must_use]
    pub fn act(&self, event: usize) -> &Act {
        &self.acts[self.row(event).act as usize]
    }

    /// The thread an event belongs to.
    #[must_use]
    pub fn thread_of(&self, event: usize) -> usize {
        self.threads.partition_point(|t| t.last <= event).min(self.threads.len().saturating_sub(1))
    }

    /// Whether an event lies in a call in which the runs differ as they should.
    #[must_use]
    pub fn is_meant(&self, event: usize) -> bool {
        let behind = self.meant.partition_point(|of| of.end <= event);
        self.meant.get(behind).is_some_and(|of| of.contains(&event))
    }

    /// Bytes in memory, per event kinds of tables together.
    #[must_use]
    pub fn resident(&self) -> u64 {
        self.rows.resident()
            + self.keys.resident()
            + self.arguments.resident()
            + (self.objects.capacity() * size_of::<Object>()) as u64
            + (self.acts.capacity() * size_of::<Act>()) as u64
    }

    /// Room in memory that columns still may take, shared with this trace.
    #[must_use]
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }
}

/// Hash of a kind and names.
pub(crate) fn act_hash(kind: Kind, owner: u64, name: u64) -> u64 {
    mix(mix(kind as u64 + 1, owner), name)
}

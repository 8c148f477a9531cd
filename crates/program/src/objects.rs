//! Memory as analyses without a run see it: one object for each variable and for each place
//! that allocates.

use crate::inst::{ArgTy, Inst};
use crate::model::{Function, SymbolKind};
use crate::whole::Whole;
use std::collections::HashMap;

/// Index of an object.
pub type ObjectId = u32;

/// What an object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// All memory that belongs to code nothing is known of.
    Outside,
    /// What functions that are known have of their own: the C library's memory, `argv`.
    Library,
    /// A variable of static storage.
    Data {
        /// Where it starts.
        address: u64,
        /// Bytes; 0 if unknown.
        size: u64,
    },
    /// A variable in the frames of a function: one object for all activations.
    Frame {
        /// The function.
        function: u32,
        /// Where in the frame it starts.
        offset: u64,
        /// Bytes, with what fills the gap to the next.
        size: u64,
    },
    /// What an instruction allocates, all of it: a call, or an `alloca` of no fixed size.
    Made {
        /// The instance of the function: see [`crate::points_to`].
        instance: u32,
        /// Index of the instruction.
        index: u32,
    },
    /// The variadic arguments of a function's calls.
    Variadic {
        /// The function.
        function: u32,
    },
    /// A thread-local variable, in all threads.
    ThreadLocal {
        /// Its name; one that only its module sees has the module's number in it.
        name: String,
    },
    /// A modelled function: something to call.
    Code {
        /// The function.
        function: u32,
    },
    /// A function that is not modelled.
    Foreign {
        /// Its name.
        name: String,
    },
}

/// All objects of a program.
pub struct Objects {
    list: Vec<Object>,
    index: HashMap<Object, ObjectId>,
    /// Of each function, the places of its frame's objects, in order.
    frames: Vec<Vec<u64>>,
}

/// The first object.
pub const OUTSIDE: ObjectId = 0;
/// The second.
pub const LIBRARY: ObjectId = 1;

impl Objects {
    pub(crate) fn of(whole: &Whole<'_>) -> Objects {
        let mut objects = Objects { list: Vec::new(), index: HashMap::new(), frames: Vec::new() };
        objects.add(Object::Outside);
        objects.add(Object::Library);
        for (address, size) in whole.data() {
            objects.add(Object::Data { address, size });
        }
        for number in 0..whole.functions() {
            let function = whole.function(number);
            let places = frame_places(function);
            for (i, offset) in places.iter().enumerate() {
                let end = places.get(i + 1).copied().unwrap_or(function.frame_size.max(offset + 1));
                objects.add(Object::Frame { function: number, offset: *offset, size: end - offset });
            }
            objects.frames.push(places);
        }
        objects
    }

    pub(crate) fn add(&mut self, object: Object) -> ObjectId {
        let next = self.list.len() as ObjectId;
        *self.index.entry(object).or_insert_with_key(|object| {
            self.list.push(object.clone());
            next
        })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none; there always is [`OUTSIDE`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// An object.
    #[must_use]
    pub fn get(&self, id: ObjectId) -> &Object {
        &self.list[id as usize]
    }

    /// The number of an object, if there is such a one.
    #[must_use]
    pub fn find(&self, object: &Object) -> Option<ObjectId> {
        self.index.get(object).copied()
    }

    /// The variable that a place of a function's frame belongs to, and the offset in it.
    #[must_use]
    pub fn in_frame(&self, whole: &Whole<'_>, function: u32, offset: u64) -> Option<(ObjectId, u64)> {
        let places = self.frames.get(function as usize)?;
        let i = places.partition_point(|p| *p <= offset).checked_sub(1)?;
        let end =
            places.get(i + 1).copied().unwrap_or(whole.function(function).frame_size.max(places[i] + 1));
        let object = Object::Frame { function, offset: places[i], size: end - places[i] };
        Some((self.find(&object)?, offset - places[i]))
    }

    /// Bytes of an object, if they are known.
    #[must_use]
    pub fn size(&self, id: ObjectId) -> Option<u64> {
        match self.get(id) {
            Object::Data { size, .. } | Object::Frame { size, .. } if *size > 0 => Some(*size),
            Object::Code { .. } | Object::Foreign { .. } => Some(1),
            _ => None,
        }
    }
}

/// Where the variables of a frame begin. Each has an instruction that makes its address, or
/// is a parameter that is passed in memory.
fn frame_places(function: &Function) -> Vec<u64> {
    let named = function.code.iter().filter_map(|i| match i {
        Inst::Frame { offset, .. } => Some(*offset),
        _ => None,
    });
    let passed = function.params.iter().filter(|p| matches!(p.ty, ArgTy::ByVal { .. }));
    let mut places: Vec<u64> = named.chain(passed.map(|p| p.frame_offset)).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// The object of a thread-local symbol.
pub(crate) fn thread_local(whole: &Whole<'_>, function: u32, symbol: u32) -> Object {
    let part = whole.part(function);
    let name = match part.model.symbols.get(symbol as usize) {
        Some(s) if matches!(s.kind, SymbolKind::ThreadLocal { .. }) => s.name.clone(),
        _ => String::new(),
    };
    Object::ThreadLocal { name }
}

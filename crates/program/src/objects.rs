//! Abstract memory objects for static analysis: one for each variable and one for each allocation
//! site.

use crate::inst::{ArgTy, Inst};
use crate::model::{Function, SymbolKind};
use crate::whole::LinkedProgram;
use std::collections::HashMap;

/// Index of an object.
pub type ObjectId = u32;

/// The kind of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// All memory that belongs to unknown code.
    Outside,
    /// Memory that known library functions own: the C library's data, `argv`.
    Library,
    /// A variable of static storage.
    Data {
        /// Start address.
        address: u64,
        /// Bytes; 0 if unknown.
        size: u64,
    },
    /// A variable in the frames of a function: one object for all activations.
    Frame {
        /// The function.
        function: u32,
        /// Start offset in the frame.
        offset: u64,
        /// Size in bytes, including the padding before the next variable.
        size: u64,
    },
    /// All memory that one allocation site allocates: a call, or an `alloca` of variable size.
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
        /// Its name. The name of a module-local variable contains the module's number.
        name: String,
    },
    /// A modelled function, as a call target.
    Code {
        /// The function.
        function: u32,
    },
    /// A function without a model.
    Foreign {
        /// Its name.
        name: String,
    },
}

/// All objects of a program.
pub struct Objects {
    list: Vec<Object>,
    index: HashMap<Object, ObjectId>,
    /// For each function, the start offsets of its frame objects, in order.
    frames: Vec<Vec<u64>>,
}

/// Index of [`Object::Outside`].
pub const OUTSIDE: ObjectId = 0;
/// Index of [`Object::Library`].
pub const LIBRARY: ObjectId = 1;

impl Objects {
    pub(crate) fn of(whole: &LinkedProgram<'_>) -> Objects {
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

    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Always false: [`OUTSIDE`] exists always.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The object with this index.
    #[must_use]
    pub fn get(&self, id: ObjectId) -> &Object {
        &self.list[id as usize]
    }

    /// The index of an object, if it exists.
    #[must_use]
    pub fn find(&self, object: &Object) -> Option<ObjectId> {
        self.index.get(object).copied()
    }

    /// The variable at a frame offset of a function, and the offset in the variable.
    #[must_use]
    pub fn in_frame(&self, whole: &LinkedProgram<'_>, function: u32, offset: u64) -> Option<(ObjectId, u64)> {
        let places = self.frames.get(function as usize)?;
        let i = places.partition_point(|p| *p <= offset).checked_sub(1)?;
        let end =
            places.get(i + 1).copied().unwrap_or(whole.function(function).frame_size.max(places[i] + 1));
        let object = Object::Frame { function, offset: places[i], size: end - places[i] };
        Some((self.find(&object)?, offset - places[i]))
    }

    /// Size in bytes, if known.
    #[must_use]
    pub fn size(&self, id: ObjectId) -> Option<u64> {
        match self.get(id) {
            Object::Data { size, .. } | Object::Frame { size, .. } if *size > 0 => Some(*size),
            Object::Code { .. } | Object::Foreign { .. } => Some(1),
            _ => None,
        }
    }
}

/// Start offsets of the variables of a frame. Each has an instruction that computes its address, or
/// is a parameter passed in memory.
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
pub(crate) fn thread_local(whole: &LinkedProgram<'_>, function: u32, symbol: u32) -> Object {
    let part = whole.part(function);
    let name = match part.model.symbols.get(symbol as usize) {
        Some(s) if matches!(s.kind, SymbolKind::ThreadLocal { .. }) => s.name.clone(),
        _ => String::new(),
    };
    Object::ThreadLocal { name }
}

//! The conditions of a path, and where symbolic execution was imprecise.

use program::model::Place;
use replay::image::Image;
use solver::Term;
use std::fmt;

/// Why a condition was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A conditional branch took this edge.
    Branch,
    /// A `switch` took this edge.
    Switch,
    /// An input-dependent access stayed within its object, or a division did not trap.
    Bounds,
    /// A library function took this path internally.
    External,
    /// A value was concretised because its user is not followed.
    Concretised,
    /// An indirect call had this target.
    CallTarget,
}

impl Kind {
    /// The name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Branch => "branch",
            Kind::Switch => "switch",
            Kind::Bounds => "bounds",
            Kind::External => "external",
            Kind::Concretised => "concretised",
            Kind::CallTarget => "call",
        }
    }
}

/// Why something is not followed symbolically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Floating-point arithmetic that is not followed, either not at all or because of the options.
    Float,
    /// An address into an unknown object.
    UnknownObject,
    /// An address into an object that is larger than the limit.
    LargeObject(u64),
    /// A pointer that was loaded from an input-dependent address.
    ChosenPointer,
    /// A pointer that was stored to an input-dependent address.
    StoredPointer,
    /// Addresses are concretised because of the options.
    Addresses,
    /// The number of bytes that are copied, filled or allocated.
    Length,
    /// A library function without symbolic semantics.
    Function(&'static str),
    /// A function without any model.
    Unknown,
    /// A value returned to code without a model.
    Returned,
    /// Inline assembly and similar instructions.
    Opaque,
    /// A number printed into a buffer.
    Formatted,
    /// A part of a library call without exact semantics here (a base, a locale).
    Detail(&'static str),
    /// The bytes an input function consumed are not in the recording.
    Unrecorded,
    /// A file was read after the program had written to it.
    Rewritten,
    /// The result of an output function.
    Printed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Float => f.write_str("this floating-point number stays as it was"),
            Reason::UnknownObject => f.write_str("the accessed object is not known"),
            Reason::LargeObject(size) => write!(f, "the accessed object is large ({size} bytes)"),
            Reason::ChosenPointer => f.write_str("which object is accessed depends on input"),
            Reason::StoredPointer => f.write_str("where a pointer is stored depends on input"),
            Reason::Addresses => f.write_str("addresses stay as they were, as asked"),
            Reason::Length => f.write_str("lengths stay as they were"),
            Reason::Function(name) => write!(f, "{name} is not followed"),
            Reason::Unknown => f.write_str("the called function has no model"),
            Reason::Returned => f.write_str("the value went to code without a model"),
            Reason::Opaque => f.write_str("inline assembly is not followed"),
            Reason::Formatted => f.write_str("numbers printed into memory stay as they were"),
            Reason::Detail(what) => f.write_str(what),
            Reason::Unrecorded => f.write_str("the bytes that were consumed are not in the recording"),
            Reason::Rewritten => f.write_str("the file was changed during the run"),
            Reason::Printed => f.write_str("printed text is kept as it was"),
        }
    }
}

/// A point of a run at which a condition was added or input was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct At {
    /// Number of the stream as in `t0`, not an index.
    pub stream: u32,
    /// Number of the step in the stream.
    pub step: u64,
    /// The logical time at the step; 0 in a point that is only a site.
    pub time: u64,
    /// Index of the module in the image.
    pub module: u32,
    /// Index of the function in its module.
    pub function: u32,
    /// Index of the instruction in the function's code.
    pub index: u32,
    /// Number of conditions that the instruction added before in this stream.
    pub occurrence: u32,
}

impl At {
    /// The source location.
    #[must_use]
    pub fn place(&self, image: &Image) -> Place {
        let functions = &image.module(self.module).functions;
        functions.get(self.function as usize).map(|f| f.place(self.index as usize)).unwrap_or_default()
    }

    /// Name of the function.
    #[must_use]
    pub fn function_name<'i>(&self, image: &'i Image) -> &'i str {
        image.module(self.module).functions.get(self.function as usize).map_or("?", |f| f.name.as_str())
    }

    /// Path of the source file.
    #[must_use]
    pub fn file(&self, image: &Image) -> String {
        image.module(self.module).file_path(self.place(image).file)
    }
}

/// An instruction of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Site {
    /// Index of the module in the image.
    pub module: u32,
    /// Index of the function in its module.
    pub function: u32,
    /// Index of the instruction in the function's code.
    pub index: u32,
}

impl Site {
    /// The source location.
    #[must_use]
    pub fn place(self, image: &Image) -> Place {
        At { module: self.module, function: self.function, index: self.index, ..At::default() }.place(image)
    }

    /// Name of the function.
    #[must_use]
    pub fn function_name(self, image: &Image) -> &str {
        image.module(self.module).functions.get(self.function as usize).map_or("?", |f| f.name.as_str())
    }

    /// Path of the source file.
    #[must_use]
    pub fn file(self, image: &Image) -> String {
        image.module(self.module).file_path(self.place(image).file)
    }
}

impl From<At> for Site {
    fn from(at: At) -> Site {
        Site { module: at.module, function: at.function, index: at.index }
    }
}

/// One condition. Its term is true on the run that added it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// A truth value over the input bytes.
    pub term: Term,
    /// Why it was added.
    pub kind: Kind,
    /// The instruction that added it.
    pub at: At,
    /// The comparison whose result a branch tests, where it is not the instruction just before the branch: in
    /// `return a && b;` the callee compares and the caller branches.
    pub computed: Option<Site>,
    /// For a branch 1 or 0, for a switch the value, for an access or call the address.
    pub direction: u64,
    /// For a concretised value, why.
    pub reason: Option<Reason>,
    /// Whether the same term is an earlier condition of this path.
    pub repeated: bool,
}

/// An effect of input that was neither followed nor concretised. The path condition is right, but the effect
/// is missing from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imprecision {
    /// The instruction that did not follow input.
    pub at: At,
    /// Why it did not.
    pub reason: Reason,
}

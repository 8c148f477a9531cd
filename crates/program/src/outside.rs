//! The interface through which analyses query effects of functions without a model.

/// The effect of a call to such a function on pointers. Arguments are identified by their slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The possible targets of the result.
    pub returns: Vec<ResultTarget>,
    /// Arguments whose targets the function may write to.
    pub writes: Vec<u32>,
    /// The function may write to the targets of this and all following arguments.
    pub writes_from: Option<u32>,
    /// Arguments at whose targets the function may store the address of a new object.
    pub stores_new: Vec<u32>,
    /// Pairs of arguments: it copies memory from the target of the second to the target of the
    /// first.
    pub copies: Vec<(u32, u32)>,
    /// Arguments that the library retains and may return to later callers.
    pub keeps: Vec<u32>,
    /// The function may call functions that it receives, with arguments that it receives.
    pub calls_back: bool,
}

/// A possible target of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultTarget {
    /// An object that this call allocates.
    New,
    /// The object that this argument points to, at any offset.
    Into(u32),
    /// The exact target of this argument.
    Same(u32),
    /// An object that the library retained from an earlier call.
    Kept,
    /// Memory that the library owns.
    Library,
}

/// A source of effects of functions without a model.
pub trait Outside {
    /// The effect of a function by name. `None` if the function is unknown: it may then access all
    /// memory that it can reach.
    fn effect(&self, name: &str) -> Option<Effect>;
}

/// An implementation that knows no function.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Outside for Nothing {
    fn effect(&self, _: &str) -> Option<Effect> {
        None
    }
}

//! What analyses must be told of functions that are not modelled.

/// What a call to such a function may do, as far as pointers go. Arguments are named by
/// their slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// What the result may point to.
    pub returns: Vec<Returned>,
    /// It may write to what these point to.
    pub writes: Vec<u32>,
    /// The same of this and all following arguments.
    pub writes_from: Option<u32>,
    /// It may put the address of something new where these point to.
    pub stores_new: Vec<u32>,
    /// It copies what the second points to where the first points to.
    pub copies: Vec<(u32, u32)>,
    /// It keeps these, and may give them back to whoever asks.
    pub keeps: Vec<u32>,
    /// It may call functions that it is given, with what it is given.
    pub calls_back: bool,
}

/// What a result may point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// Something allocated by this call.
    New,
    /// What this argument points to, or into it.
    Into(u32),
    /// The very place that this argument points to.
    Same(u32),
    /// Something that was given to the library to keep.
    Kept,
    /// Memory of the library's own.
    Library,
}

/// Knows functions that are not modelled.
pub trait Outside {
    /// The effect of a function by its name; none if nothing is known of it. Such a function
    /// may then do anything with whatever it can get at.
    fn effect(&self, name: &str) -> Option<Effect>;
}

/// Knows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Outside for Nothing {
    fn effect(&self, _: &str) -> Option<Effect> {
        None
    }
}

//! What an evaluation asks of a moment.

use crate::types::Type;
use program::model::Module;

/// A moment of a run: what names stand for, and memory. `'m` is the life of the program's
/// models, which types point into.
pub trait Scope<'m> {
    /// The module of the function where the expression stands; its types come first.
    fn module(&self) -> &'m Module;

    /// All modules of the program, for types that this one only declares.
    fn modules(&self) -> Vec<&'m Module>;

    /// The variable or function that a name stands for.
    fn variable(&self, name: &str) -> Option<Variable<'m>>;

    /// Bytes of memory; false if nothing is known of them.
    fn read(&self, address: u64, out: &mut [u8]) -> bool;
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub struct Variable<'m> {
    pub ty: Type<'m>,
    pub home: Home,
    /// A number by which the scope knows it; reads of its registers carry it.
    pub number: u32,
}

/// Where a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    Memory(u64),
    /// In registers; `known` says which bytes are.
    Registers {
        bytes: Vec<u8>,
        known: Vec<bool>,
    },
    /// It is in scope, but has no value here.
    Nowhere,
}

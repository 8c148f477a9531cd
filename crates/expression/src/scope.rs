//! The interface between an evaluation and a moment of a run.

use crate::ast::{Expr, Expression, Span};
use crate::error::Error;
use crate::evaluate::Evaluated;
use crate::types::Type;
use program::model::Module;

/// A moment of a run: names and memory. `'m` is the lifetime of the program's models, to which
/// types refer.
pub trait Scope<'m> {
    /// The module of the function that contains the expression. Its types take precedence.
    fn module(&self) -> &'m Module;

    /// All modules of the program, for types that this one only declares.
    fn modules(&self) -> Vec<&'m Module>;

    /// The variable or function that a name denotes.
    fn variable(&self, name: &str) -> Option<Variable<'m>>;

    /// Reads bytes of memory. Returns false if they are unknown.
    fn read(&self, address: u64, out: &mut [u8]) -> bool;

    /// Evaluates a form that is not part of C; `None` if the scope does not define it.
    fn form(&self, _form: &Form<'_>) -> Option<Result<Evaluated<'m>, Error>> {
        None
    }

    /// Maps a pointer that was loaded from the address `at`. Scopes over several memories make
    /// their addresses distinct here.
    fn loaded_pointer(&self, _at: u64, address: u64) -> u64 {
        address
    }

    /// Whether two pointers are equal; `None` if their addresses decide.
    fn same(&self, _one: (u64, &Type<'m>), _other: (u64, &Type<'m>)) -> Option<bool> {
        None
    }
}

/// A form: a name that begins with `$`, alone or called.
#[derive(Clone, Copy, Debug)]
pub struct Form<'e> {
    /// The expression that contains it.
    pub expression: &'e Expression,
    /// The name, including `$`.
    pub name: &'e str,
    /// The arguments of the call, not evaluated; empty if the name stands alone.
    pub arguments: &'e [Expr],
    /// The span of the whole form.
    pub span: &'e Span,
}

/// The entity that a name denotes.
#[derive(Clone, Debug)]
pub struct Variable<'m> {
    /// The declared type; for a C++ reference the reference type.
    pub ty: Type<'m>,
    /// Where its bytes are.
    pub home: Home,
    /// The scope's number of the variable, which is contained in reads of its registers.
    pub number: u32,
}

/// The location of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// In memory from this address on.
    Memory(u64),
    /// In registers. `known` marks the bytes that are available.
    Registers {
        /// Its bytes; those that are not known have any value.
        bytes: Vec<u8>,
        /// For each byte whether it is known; as long as `bytes`.
        known: Vec<bool>,
    },
    /// It is in scope, but has no value at this moment.
    Nowhere,
}

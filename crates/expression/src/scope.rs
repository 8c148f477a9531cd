//! What an evaluation asks of a moment.

use crate::ast::{Expr, Expression, Span};
use crate::error::Error;
use crate::evaluate::Evaluated;
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

    /// The value of a form that C does not have; none if the scope has no such form either.
    fn form(&self, _form: &Form<'_>) -> Option<Result<Evaluated<'m>, Error>> {
        None
    }

    /// What a pointer points to that was loaded from the address `at`: scopes over several
    /// memories tell their addresses apart.
    fn pointer_at(&self, _at: u64, address: u64) -> u64 {
        address
    }

    /// Whether two pointers are equal; none if that is a matter of addresses.
    fn same(&self, _one: (u64, &Type<'m>), _other: (u64, &Type<'m>)) -> Option<bool> {
        None
    }
}

/// A name that begins with `$`, alone or called.
#[derive(Clone, Copy, Debug)]
pub struct Form<'e> {
    pub expression: &'e Expression,
    /// With its `$`.
    pub name: &'e str,
    pub arguments: &'e [Expr],
    /// Of the whole form.
    pub span: &'e Span,
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

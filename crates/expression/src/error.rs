//! Errors of an expression, with their location in its text.

use crate::ast::Span;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Error {
    pub kind: Kind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Kind {
    #[error("there is no expression")]
    Empty,
    #[error("{0:?} is not expected there")]
    Unexpected(String),
    #[error("{0} is missing there")]
    Missing(String),
    #[error("{0} cannot be evaluated over a recording")]
    Unsupported(&'static str),
    #[error("the expression is nested too deeply")]
    TooDeep,
    #[error("nothing in scope is called {0}")]
    NoName(String),
    #[error("no type is called {0}")]
    NoType(String),
    #[error("{ty} has no member {name}")]
    NoMember { ty: String, name: String, members: Vec<String> },
    #[error("{ty} is not a struct or union")]
    NotARecord { ty: String },
    #[error("{ty} is a pointer: its members are reached with ->")]
    Arrow { ty: String },
    #[error("{ty} is not a pointer")]
    NotAPointer { ty: String },
    #[error("nothing is known of what {ty} consists of")]
    Incomplete { ty: String },
    #[error("{operator} does not take {ty}")]
    Operands { operator: &'static str, ty: String },
    #[error("it has no address")]
    NoAddress,
    /// This and the following errors depend on the moment of the run.
    #[error("{0} has no value here")]
    NoValue(String),
    #[error("{0} is NULL")]
    Null(String),
    #[error("division by zero")]
    DivisionByZero,
}

impl Error {
    /// Whether the expression is valid, but has no value at this moment of the run.
    #[must_use]
    pub fn depends_on_moment(&self) -> bool {
        matches!(self.kind, Kind::NoValue(_) | Kind::Null(_) | Kind::DivisionByZero)
    }
}

//! Errors of an expression, with their location in its text.

use crate::ast::Span;

/// Why an expression cannot be parsed or has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Error {
    /// The reason.
    pub kind: Kind,
    /// The part of the text to which it applies.
    pub span: Span,
}

/// The kind of an error; types and names are as they are displayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Kind {
    /// The text is empty.
    #[error("there is no expression")]
    Empty,
    /// A syntax error at this part of the text; also a constant that is not valid in C.
    #[error("{0:?} is not expected there")]
    Unexpected(String),
    /// A syntax error: this token is missing.
    #[error("{0} is missing there")]
    Missing(String),
    /// Something that is valid in C, but not here: an assignment, a call, a type that is not a name with `*`.
    #[error("{0} cannot be evaluated over a recording")]
    Unsupported(&'static str),
    /// The tree is deeper than the limit of the parser.
    #[error("the expression is nested too deeply")]
    TooDeep,
    /// The name is no variable, member of `*this`, enumerator or form.
    #[error("nothing in scope is called {0}")]
    NoName(String),
    /// The name in a cast or `sizeof` is no type.
    #[error("no type is called {0}")]
    NoType(String),
    /// A record has no member of that name.
    #[error("{ty} has no member {name}")]
    NoMember {
        /// The struct or union.
        ty: String,
        /// The name that was sought.
        name: String,
        /// The names that it has, also those of unnamed members, for a suggestion.
        members: Vec<String>,
    },
    /// The left operand of `.` or `->` is not, or does not point to, a struct or union.
    #[error("{ty} is not a struct or union")]
    NotARecord {
        /// Its type.
        ty: String,
    },
    /// The left operand of `.` is a pointer to a struct or union.
    #[error("{ty} is a pointer: its members are reached with ->")]
    Arrow {
        /// The type of the pointer.
        ty: String,
    },
    /// The operand of `*`, `->` or `[]` is not a pointer.
    #[error("{ty} is not a pointer")]
    NotAPointer {
        /// Its type.
        ty: String,
    },
    /// A type without size: `void`, or one that the program only declares.
    #[error("nothing is known of what {ty} consists of")]
    Incomplete {
        /// The type.
        ty: String,
    },
    /// The operands' types do not fit the operator.
    #[error("{operator} does not take {ty}")]
    Operands {
        /// The operator, as a noun: `[]`, or "a cast".
        operator: &'static str,
        /// The type or types of the operands.
        ty: String,
    },
    /// The operand of `&` is in registers, is a bit-field or is no object.
    #[error("it has no address")]
    NoAddress,
    /// This and the following errors depend on the moment of the run.
    #[error("{0} has no value here")]
    NoValue(String),
    /// This part of the text reads bytes that are not known, or a variable that has no value.
    #[error("{0} is NULL")]
    Null(String),
    /// This pointer of the text, which is dereferenced, is null.
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

//! An expression as a tree.

use std::ops::Range;

/// Bytes of the expression's text.
pub type Span = Range<usize>;

/// An expression that was parsed, with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub text: String,
    pub root: Expr,
}

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// It stands in parentheses: `(t)*p` is a product or a cast, as `t` is a variable or a type.
    pub parenthesised: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Name(String),
    /// A constant with the type its text gives it: bytes, and whether it is signed.
    Integer {
        value: i128,
        bytes: u8,
        signed: bool,
    },
    Float {
        value: f64,
        bytes: u8,
    },
    /// A string literal, without its NUL.
    Text(Vec<u8>),
    Null,
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// Condition, value if it holds, value otherwise.
    Conditional(Box<[Expr; 3]>),
    /// `of.name`, or `of->name`.
    Member {
        of: Box<Expr>,
        name: String,
        name_span: Span,
        arrow: bool,
    },
    Index(Box<Expr>, Box<Expr>),
    Cast(TypeName, Box<Expr>),
    SizeOf(Box<Expr>),
    SizeOfType(TypeName),
    /// `(f)(x)`: a cast if `f` is a type; calls are not evaluated.
    Call(Box<Expr>, Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Plus,
    Minus,
    /// `~`
    Complement,
    /// `!`
    Not,
    Dereference,
    AddressOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// A type as a cast or `sizeof` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// `struct node`, `unsigned long`, `node_t`, with single blanks.
    pub base: String,
    /// How many `*` follow.
    pub pointers: usize,
    pub span: Span,
}

impl Expr {
    /// The name of a variable, if the expression is nothing else.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl Expression {
    /// The expression that is a name and nothing else.
    #[must_use]
    pub fn of_name(name: &str) -> Expression {
        let kind = ExprKind::Name(name.to_owned());
        let root = Expr { kind, span: 0..name.len(), parenthesised: false };
        Expression { text: name.to_owned(), root }
    }

    /// The text of a part.
    #[must_use]
    pub fn part(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }
}

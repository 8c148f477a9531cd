//! The syntax tree of an expression.

use std::ops::Range;

/// A byte range of the expression's text.
pub type Span = Range<usize>;

/// A parsed expression with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub text: String,
    pub root: Expr,
}

/// A node of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// Whether it is in parentheses: `(t)*p` is a product or a cast, depending on whether `t` is a
    /// variable or a type.
    pub parenthesised: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Name(String),
    /// A constant with the type that its text implies: size in bytes, and signedness.
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
    /// Condition, value if true, value if false.
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

/// A type name in a cast or `sizeof`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// `struct node`, `unsigned long`, `node_t`, with single spaces.
    pub base: String,
    /// The number of `*` that follow.
    pub pointers: usize,
    pub span: Span,
}

impl Expr {
    /// The name, if the expression is a single name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl Expression {
    /// The expression that consists of a single name.
    #[must_use]
    pub fn of_name(name: &str) -> Expression {
        let kind = ExprKind::Name(name.to_owned());
        let root = Expr { kind, span: 0..name.len(), parenthesised: false };
        Expression { text: name.to_owned(), root }
    }

    /// The text of a span.
    #[must_use]
    pub fn part(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }
}

//! The syntax tree of an expression.

use std::ops::Range;

/// A byte range of the expression's text.
pub type Span = Range<usize>;

/// A parsed expression with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// The text as it was given to [`parse`](crate::parse()); spans index into it.
    pub text: String,
    /// The node of the whole expression.
    pub root: Expr,
}

/// A node of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The operator or operand, with its operands.
    pub kind: ExprKind,
    /// Its bytes in the text, with its parentheses.
    pub span: Span,
    /// Whether it is in parentheses: `(t)*p` is a product or a cast, depending on whether `t` is a
    /// variable or a type.
    pub parenthesised: bool,
}

/// The kind of a node, with its operands.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A variable, function, enumerator or form; in parentheses also a type.
    Name(String),
    /// A constant with the type that its text implies: size in bytes, and signedness.
    Integer {
        /// Its value; never negative, a sign is a [`Unary`].
        value: i128,
        /// Size of its type: 4 or 8.
        bytes: u8,
        /// Whether its type is signed.
        signed: bool,
    },
    /// A floating-point constant.
    Float {
        /// Its value, rounded to its type.
        value: f64,
        /// Size of its type: 4 (`float`) or 8 (`double`).
        bytes: u8,
    },
    /// A string literal, without its NUL.
    Text(Vec<u8>),
    /// `NULL`.
    Null,
    /// A prefix operator and its operand.
    Unary(Unary, Box<Expr>),
    /// An infix operator with its left and right operand.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// Condition, value if true, value if false.
    Conditional(Box<[Expr; 3]>),
    /// `of.name`, or `of->name`.
    Member {
        /// The struct or union, or with `->` the pointer to it.
        of: Box<Expr>,
        /// The name of the member.
        name: String,
        /// The span of the name alone.
        name_span: Span,
        /// Whether it is `->`.
        arrow: bool,
    },
    /// `a[b]`; one is an array, a pointer or a sequence of the C++ library, the other an integer.
    Index(Box<Expr>, Box<Expr>),
    /// A cast to a named type.
    Cast(TypeName, Box<Expr>),
    /// `sizeof` of an expression.
    SizeOf(Box<Expr>),
    /// `sizeof(T)`, where the grammar recognises a type.
    SizeOfType(TypeName),
    /// `(f)(x)`: a cast if `f` is a type; calls are not evaluated.
    Call(Box<Expr>, Vec<Expr>),
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `~`
    Complement,
    /// `!`
    Not,
    /// `*`.
    Dereference,
    /// `&`.
    AddressOf,
}

/// An infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `&`.
    BitAnd,
    /// `|`.
    BitOr,
    /// `^`.
    BitXor,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `&&`; the right operand is not evaluated if the left is false.
    And,
    /// `||`; the right operand is not evaluated if the left is true.
    Or,
}

/// A type name in a cast or `sizeof`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// `struct node`, `unsigned long`, `node_t`, with single spaces.
    pub base: String,
    /// The number of `*` that follow.
    pub pointers: usize,
    /// The type name's bytes in the text, with the `*`.
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

//! Terms: handles, operations, and the view of one node.

/// A term of a [`Pool`](crate::Pool). Operands always have smaller handles than the terms made of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(pub(crate) u32);

/// An array of a [`Pool`](crate::Pool): 64-bit index, 8-bit elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Array(pub(crate) u32);

impl Term {
    /// The index in the pool: dense, and operands precede the terms made of them.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Array {
    /// The index among the pool's arrays: dense, and the array that a store modifies precedes it.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Operations on one term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// Bitwise complement; on a truth value, negation.
    Not,
    /// Two's complement.
    Neg,
}

/// Operations on two terms of one width. Comparisons have width 1, the others the operands' width. All are
/// total: division by zero returns all ones (the remainder is the dividend), shifts by the width or more
/// return 0, or copies of the sign.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    /// Sum modulo 2^width.
    Add,
    /// Difference modulo 2^width.
    Sub,
    /// Product modulo 2^width.
    Mul,
    /// Unsigned quotient.
    UDiv,
    /// Unsigned remainder.
    URem,
    /// Signed quotient, rounded towards zero.
    SDiv,
    /// Signed remainder, with the sign of the dividend.
    SRem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left.
    Shl,
    /// Shift right that fills with zeros.
    LShr,
    /// Shift right that fills with the sign.
    AShr,
    /// Equality.
    Eq,
    /// Unsigned less.
    Ult,
    /// Unsigned less or equal.
    Ule,
    /// Signed less.
    Slt,
    /// Signed less or equal.
    Sle,
}

impl Unary {
    /// All of them, in the order of their declaration.
    pub const ALL: [Unary; 2] = [Unary::Not, Unary::Neg];
}

impl Binary {
    /// All of them, in the order of their declaration.
    pub const ALL: [Binary; 18] = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::UDiv,
        Binary::URem,
        Binary::SDiv,
        Binary::SRem,
        Binary::And,
        Binary::Or,
        Binary::Xor,
        Binary::Shl,
        Binary::LShr,
        Binary::AShr,
        Binary::Eq,
        Binary::Ult,
        Binary::Ule,
        Binary::Slt,
        Binary::Sle,
    ];

    /// Whether the result is a truth value.
    pub fn is_comparison(self) -> bool {
        matches!(self, Binary::Eq | Binary::Ult | Binary::Ule | Binary::Slt | Binary::Sle)
    }

    /// Whether the operands can be swapped.
    pub fn is_commutative(self) -> bool {
        matches!(self, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor | Binary::Eq)
    }
}

/// Operations on IEEE 754 numbers, represented by their 32 or 64 bits. Rounding is to the nearest, ties to
/// even, unless the name says otherwise. The widths of operand and result determine the formats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Float {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// Equality: false if an operand is NaN.
    Eq,
    /// Less, likewise.
    Lt,
    /// Less or equal, likewise.
    Le,
    /// Square root.
    Sqrt,
    /// Rounds to an integer, down.
    Floor,
    /// Rounds to an integer, up.
    Ceil,
    /// Rounds to an integer, towards zero.
    Trunc,
    /// Rounds to an integer, to nearest with ties to even.
    RoundEven,
    /// Rounds to an integer, to nearest with ties away from zero.
    RoundAway,
    /// From a signed integer of any width.
    FromSigned,
    /// From an unsigned integer of any width.
    FromUnsigned,
    /// To a signed integer, towards zero. A value that does not fit gives the sign bit alone, as on x86; it
    /// is unspecified in SMT-LIB, so a condition must guarantee that it fits.
    ToSigned,
    /// To an unsigned integer, likewise.
    ToUnsigned,
    /// From one format to the other.
    Convert,
}

impl Float {
    /// Whether the result is a truth value.
    pub fn is_comparison(self) -> bool {
        matches!(self, Float::Eq | Float::Lt | Float::Le)
    }

    /// Whether there is a second operand.
    pub fn is_binary(self) -> bool {
        self.is_comparison() || matches!(self, Float::Add | Float::Sub | Float::Mul | Float::Div)
    }

    /// Whether the result is the bits of an IEEE 754 number.
    pub fn gives_float(self) -> bool {
        !self.is_comparison() && !matches!(self, Float::ToSigned | Float::ToUnsigned)
    }

    /// Whether the operands are the bits of such numbers.
    pub fn takes_float(self) -> bool {
        !matches!(self, Float::FromSigned | Float::FromUnsigned)
    }
}

/// The view of one term. Its width is [`Pool::width`](crate::Pool::width).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A number below 2^width.
    Constant(u128),
    /// The caller's number of the variable.
    Variable(u32),
    /// An operation on one term.
    Unary(Unary, Term),
    /// An operation on two terms.
    Binary(Binary, Term, Term),
    /// The second operand if the first is 1, otherwise the third.
    Ite(Term, Term, Term),
    /// As many bits as the term is wide, from this bit of the operand upwards.
    Extract(Term, u32),
    /// The first operand has the higher bits.
    Concat(Term, Term),
    /// Zero extension of the operand, which is narrower.
    Zext(Term),
    /// Sign extension of the operand, which is narrower.
    Sext(Term),
    /// The element of an array at an index of 64 bits.
    Read(Array, Term),
    /// The second operand is present only for operations that have one.
    Float(Float, Term, Option<Term>),
}

impl Node {
    /// The operands that are terms, in order, without the array of a read.
    pub fn operands(self) -> impl Iterator<Item = Term> {
        let all = match self {
            Node::Constant(_) | Node::Variable(_) => [None, None, None],
            Node::Unary(_, a) | Node::Extract(a, _) | Node::Zext(a) | Node::Sext(a) | Node::Read(_, a) => {
                [Some(a), None, None]
            }
            Node::Binary(_, a, b) | Node::Concat(a, b) => [Some(a), Some(b), None],
            Node::Ite(c, a, b) => [Some(c), Some(a), Some(b)],
            Node::Float(_, a, b) => [Some(a), b, None],
        };
        all.into_iter().flatten()
    }
}

/// The view of one array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayNode<'a> {
    /// These elements from index 0 on; all further elements are 0.
    Bytes(&'a [Term]),
    /// The array with the element at an index replaced by a value.
    Store(Array, Term, Term),
}

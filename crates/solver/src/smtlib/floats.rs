//! IEEE 754 numbers in SMT-LIB: terms are bits, the theory has a sort of its own.
//!
//! SMT-LIB has a function from bits to numbers, but none in the other direction (the bits of NaN are not
//! determined). A result therefore gets two symbols: the number, and bits that are constrained to represent
//! it.

use std::fmt::Write;

use crate::node::{Float, Node, Term};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

use super::{Emitter, LogEntry, Piece, bits};

impl Emitter<'_> {
    /// Defines the result of an operation, as a number and as bits.
    pub(super) fn define_float(
        &mut self,
        pool: &Pool,
        t: Term,
        op: Float,
        operands: (Term, Option<Term>),
        pieces: &FxHashMap<Term, Piece>,
        out: &mut String,
    ) {
        let text = self.float_expression(pool, t, op, operands, pieces);
        let (name, width) = (format!("t{}", t.index()), pool.width(t));
        let _ = writeln!(out, "(define-fun f{} () {} {text})", t.index(), sort(width));
        let _ = writeln!(out, "(declare-const {name} {})", bits(width));
        let _ = writeln!(out, "(assert (= ({} {name}) f{}))", conversion(width), t.index());
        self.terms.insert(t, name);
        self.log.push(LogEntry::Term(t));
    }

    pub(super) fn float_expression(
        &self,
        pool: &Pool,
        t: Term,
        op: Float,
        (a, b): (Term, Option<Term>),
        pieces: &FxHashMap<Term, Piece>,
    ) -> String {
        let width = pool.width(t);
        let number = |t| self.as_number(pool, t, pieces);
        let binary = |name: &str| format!("({name} {} {})", number(a), b.map(number).unwrap_or_default());
        match op {
            Float::Add => binary("fp.add RNE"),
            Float::Sub => binary("fp.sub RNE"),
            Float::Mul => binary("fp.mul RNE"),
            Float::Div => binary("fp.div RNE"),
            Float::Eq => binary("fp.eq"),
            Float::Lt => binary("fp.lt"),
            Float::Le => binary("fp.leq"),
            Float::Sqrt => format!("(fp.sqrt RNE {})", number(a)),
            Float::Floor => format!("(fp.roundToIntegral RTN {})", number(a)),
            Float::Ceil => format!("(fp.roundToIntegral RTP {})", number(a)),
            Float::Trunc => format!("(fp.roundToIntegral RTZ {})", number(a)),
            Float::RoundEven => format!("(fp.roundToIntegral RNE {})", number(a)),
            Float::RoundAway => format!("(fp.roundToIntegral RNA {})", number(a)),
            Float::FromSigned => {
                format!("({} RNE {})", conversion(width), self.as_bits(pool, a, pieces))
            }
            Float::FromUnsigned => {
                let (exponent, significand) = format_of(width);
                let bits = self.as_bits(pool, a, pieces);
                format!("((_ to_fp_unsigned {exponent} {significand}) RNE {bits})")
            }
            Float::ToSigned => format!("((_ fp.to_sbv {width}) RTZ {})", number(a)),
            Float::ToUnsigned => format!("((_ fp.to_ubv {width}) RTZ {})", number(a)),
            Float::Convert => format!("({} RNE {})", conversion(width), number(a)),
        }
    }

    /// A term as a number of the theory.
    fn as_number(&self, pool: &Pool, t: Term, pieces: &FxHashMap<Term, Piece>) -> String {
        match pool.node(t) {
            Node::Float(op, ..) if op.gives_float() => format!("f{}", t.index()),
            _ => format!("({} {})", conversion(pool.width(t)), self.as_bits(pool, t, pieces)),
        }
    }
}

/// Bits of exponent and significand, including the hidden bit.
fn format_of(width: u32) -> (u32, u32) {
    if width == 32 { (8, 24) } else { (11, 53) }
}

fn sort(width: u32) -> String {
    let (exponent, significand) = format_of(width);
    format!("(_ FloatingPoint {exponent} {significand})")
}

fn conversion(width: u32) -> String {
    let (exponent, significand) = format_of(width);
    format!("(_ to_fp {exponent} {significand})")
}

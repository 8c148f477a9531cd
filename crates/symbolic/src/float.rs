//! Floating-point instructions: terms in the theory of IEEE 754.
//!
//! Numbers of 32 and 64 bits are followed. Those of 80 bits, remainders and fused multiply-adds are
//! concretised; so is every number if the options demand it.

use crate::condition::{Kind, Reason};
use crate::engine::{Engine, bits};
use crate::observer::StepObserver;
use program::inst::{CastOp, FloatKind, FloatOp, FloatPred, Operand, Pure, Ty};
use replay::observer::View;
use solver::{Binary, Float, Term};

impl<W: StepObserver> Engine<'_, W> {
    fn follows_floats(&self, kind: FloatKind) -> bool {
        kind != FloatKind::F80 && !self.options.concrete_floats
    }

    fn concretise_floats(&mut self, view: &View<'_>, ty: Ty, operands: &[Operand]) {
        for operand in operands {
            self.concretise_operand(view, *operand, ty, Reason::Float);
        }
    }

    pub(crate) fn float(
        &mut self,
        view: &View<'_>,
        op: FloatOp,
        kind: FloatKind,
        dst: u32,
        (a, b): (Operand, Operand),
    ) {
        let ty = Ty::Float(kind);
        let op = match op {
            FloatOp::Add => Float::Add,
            FloatOp::Sub => Float::Sub,
            FloatOp::Mul => Float::Mul,
            FloatOp::Div => Float::Div,
            FloatOp::Rem => {
                self.concretise_floats(view, ty, &[a, b]);
                self.forget(view, dst, ty.slots());
                return;
            }
        };
        if !self.follows_floats(kind) {
            self.concretise_floats(view, ty, &[a, b]);
            self.forget(view, dst, ty.slots());
            return;
        }
        let width = u32::from(ty.bits());
        let term = self.both(view, ty.bits(), a, b).map(|(a, b)| self.pool().float(op, width, a, Some(b)));
        self.assign(view, dst, ty.bits(), term);
    }

    pub(crate) fn float_comparison(
        &mut self,
        view: &View<'_>,
        pred: FloatPred,
        kind: FloatKind,
        dst: u32,
        (a, b): (Operand, Operand),
    ) {
        let ty = Ty::Float(kind);
        if !self.follows_floats(kind) {
            self.concretise_floats(view, ty, &[a, b]);
            self.forget(view, dst, 1);
            return;
        }
        let operands = self.both(view, ty.bits(), a, b);
        let term = operands.map(|(a, b)| self.holds(pred, a, b));
        if let (Some(operands), Some(term)) = (operands, term) {
            self.compared(view, operands, term);
        }
        self.assign(view, dst, 1, term);
    }

    /// A predicate in terms of comparisons that are false for NaN operands.
    fn holds(&mut self, pred: FloatPred, a: Term, b: Term) -> Term {
        let pool = self.pool();
        let mut is = |op, a, b| pool.float(op, 1, a, Some(b));
        match pred {
            FloatPred::False => self.constant(1, 0),
            FloatPred::True => self.constant(1, 1),
            FloatPred::Oeq => is(Float::Eq, a, b),
            FloatPred::Olt => is(Float::Lt, a, b),
            FloatPred::Ole => is(Float::Le, a, b),
            FloatPred::Ogt => is(Float::Lt, b, a),
            FloatPred::Oge => is(Float::Le, b, a),
            FloatPred::One => {
                let (less, more) = (is(Float::Lt, a, b), is(Float::Lt, b, a));
                self.pool().or(less, more)
            }
            FloatPred::Ord => {
                let (a, b) = (is(Float::Eq, a, a), is(Float::Eq, b, b));
                self.pool().and(a, b)
            }
            FloatPred::Une => self.fails(FloatPred::Oeq, a, b),
            FloatPred::Uno => self.fails(FloatPred::Ord, a, b),
            FloatPred::Ueq => self.fails(FloatPred::One, a, b),
            FloatPred::Ugt => self.fails(FloatPred::Ole, a, b),
            FloatPred::Uge => self.fails(FloatPred::Olt, a, b),
            FloatPred::Ult => self.fails(FloatPred::Oge, a, b),
            FloatPred::Ule => self.fails(FloatPred::Ogt, a, b),
        }
    }

    fn fails(&mut self, pred: FloatPred, a: Term, b: Term) -> Term {
        let holds = self.holds(pred, a, b);
        self.pool().not(holds)
    }

    /// `term` is the term of the operand.
    pub(crate) fn float_cast(
        &mut self,
        view: &View<'_>,
        op: CastOp,
        (from, to): (Ty, Ty),
        a: Operand,
        term: Term,
    ) -> Option<Term> {
        let followed = |ty| match ty {
            Ty::Float(kind) => self.follows_floats(kind),
            _ => !self.options.concrete_floats,
        };
        if !followed(from) || !followed(to) {
            self.concretise_operand(view, a, from, Reason::Float);
            return None;
        }
        let width = u32::from(bits(to));
        let op = match op {
            CastOp::FpToSi => Float::ToSigned,
            CastOp::FpToUi => Float::ToUnsigned,
            CastOp::SiToFp => Float::FromSigned,
            CastOp::UiToFp => Float::FromUnsigned,
            CastOp::FpTrunc | CastOp::FpExt => Float::Convert,
            CastOp::Trunc | CastOp::Zext | CastOp::Sext | CastOp::Bits => {
                self.concretise_operand(view, a, from, Reason::Float);
                return None;
            }
        };
        if matches!(op, Float::ToSigned | Float::ToUnsigned) {
            let fits = self.pool().float_fits(term, width, op == Float::ToSigned);
            let variables = &self.world.variables;
            if self.world.pool.evaluate(fits, &|v| variables.value(v)) == 0 {
                // IEEE 754 does not define the result, and processors differ.
                self.concretise_operand(view, a, from, Reason::Float);
                return None;
            }
            self.assume(view, fits, Kind::Bounds, 1, None);
        }
        Some(self.pool().float(op, width, term, None))
    }

    pub(crate) fn float_intrinsic(&mut self, view: &View<'_>, op: Pure, ty: Ty, dst: u32, args: &[Operand]) {
        let slots = op.result_slots(ty);
        let followed = matches!(ty, Ty::Float(kind) if self.follows_floats(kind));
        let symbolic = args.iter().any(|a| self.operand(view, *a, ty.bits()).is_some());
        let term = if followed && symbolic { self.intrinsic(view, op, ty, args) } else { None };
        if symbolic && term.is_none() {
            self.concretise_floats(view, ty, args);
        }
        match term {
            Some(term) => {
                let bits = self.world.pool.width(term) as u16;
                self.assign(view, dst, bits, Some(term));
            }
            None => self.forget(view, dst, slots),
        }
    }

    fn intrinsic(&mut self, view: &View<'_>, op: Pure, ty: Ty, args: &[Operand]) -> Option<Term> {
        let width = u32::from(ty.bits());
        let a = self.term(view, *args.first()?, ty.bits());
        let b = match args.get(1) {
            Some(b) if op != Pure::FpClass => self.term(view, *b, ty.bits()),
            _ => a,
        };
        let sign = self.constant(width, 1 << (width - 1));
        let pool = self.pool();
        let rounded = |op| Some((op, a));
        let (op, a) = match op {
            Pure::FNeg => return Some(pool.binary(Binary::Xor, a, sign)),
            Pure::FAbs => {
                let rest = pool.not(sign);
                return Some(pool.binary(Binary::And, a, rest));
            }
            Pure::CopySign => {
                let rest = pool.not(sign);
                let (a, b) = (pool.binary(Binary::And, a, rest), pool.binary(Binary::And, b, sign));
                return Some(pool.or(a, b));
            }
            Pure::MinNum | Pure::MaxNum => {
                let (x, y) = if op == Pure::MinNum { (a, b) } else { (b, a) };
                let less = pool.float(Float::Lt, 1, x, Some(y));
                let chosen = pool.ite(less, a, b);
                // If one of them is NaN, the other one.
                let number = pool.float(Float::Eq, 1, b, Some(b));
                return Some(pool.ite(number, chosen, a));
            }
            Pure::FpClass => return Some(self.class_of(view.value(*args.get(1)?), a)),
            Pure::Sqrt => rounded(Float::Sqrt),
            Pure::Floor => rounded(Float::Floor),
            Pure::Ceil => rounded(Float::Ceil),
            Pure::FTrunc => rounded(Float::Trunc),
            Pure::Rint => rounded(Float::RoundEven),
            Pure::Round => rounded(Float::RoundAway),
            _ => None,
        }?;
        Some(pool.float(op, width, a, None))
    }

    /// Whether a number is in one of the classes of a mask (bits as in LLVM's `is.fpclass`).
    fn class_of(&mut self, mask: u64, a: Term) -> Term {
        let width = self.world.pool.width(a);
        let fraction = if width == 32 { 23 } else { 52 };
        let pool = self.pool();
        let exponent = pool.extract(a, fraction, width - 1 - fraction);
        let significand = pool.extract(a, 0, fraction);
        let quiet = pool.extract(a, fraction - 1, 1);
        let minus = pool.extract(a, width - 1, 1);
        let plus = pool.not(minus);
        let (none, ones) = (
            pool.constant(width - 1 - fraction, 0),
            pool.constant(width - 1 - fraction, (1 << (width - 1 - fraction)) - 1),
        );
        let zero = pool.constant(fraction, 0);
        let whole = pool.binary(Binary::Eq, significand, zero);
        let broken = pool.not(whole);
        let top = pool.binary(Binary::Eq, exponent, ones);
        let bottom = pool.binary(Binary::Eq, exponent, none);
        let nan = pool.and(top, broken);
        let loud = pool.not(quiet);
        let edge = pool.or(top, bottom);
        let normal = pool.not(edge);
        let (infinite, subnormal, null) =
            (pool.and(top, whole), pool.and(bottom, broken), pool.and(bottom, whole));
        let classes = [
            (nan, loud),
            (nan, quiet),
            (infinite, minus),
            (normal, minus),
            (subnormal, minus),
            (null, minus),
            (null, plus),
            (subnormal, plus),
            (normal, plus),
            (infinite, plus),
        ];
        let mut any = pool.constant(1, 0);
        for (bit, (kind, side)) in classes.into_iter().enumerate() {
            if mask >> bit & 1 == 1 {
                let is = pool.and(kind, side);
                any = pool.or(any, is);
            }
        }
        any
    }
}

//! Operations that LLVM spells as intrinsics.

use crate::condition::Reason;
use crate::engine::Engine;
use crate::watch::Watch;
use program::inst::{Operand, Pure, Ty};
use replay::observer::View;
use solver::{Binary, Term, Unary};

impl<W: Watch> Engine<'_, W> {
    pub(crate) fn pure(&mut self, view: &View<'_>, op: Pure, ty: Ty, dst: u32, args: &[Operand]) {
        let slots = op.result_slots(ty);
        if op.is_float() || matches!(ty, Ty::Float(_)) {
            self.float_intrinsic(view, op, ty, dst, args);
            return;
        }
        let bits = ty.bits();
        let symbolic = args.iter().any(|a| self.operand(view, *a, bits).is_some());
        if !symbolic {
            self.forget(view, dst, slots);
            return;
        }
        let terms: Vec<Term> = args.iter().map(|a| self.term(view, *a, bits)).collect();
        let (Some(&a), b) = (terms.first(), terms.get(1).copied()) else { return };
        let b = b.unwrap_or(a);
        let width = u32::from(bits);
        let (value, overflow) = match op {
            Pure::SAddOverflow
            | Pure::UAddOverflow
            | Pure::SSubOverflow
            | Pure::USubOverflow
            | Pure::SMulOverflow
            | Pure::UMulOverflow => {
                let Some(done) = self.overflowing(op, width, a, b) else {
                    for o in args {
                        self.fix(view, *o, ty, Reason::Detail("a product of more than 64 bits"));
                    }
                    self.forget(view, dst, slots);
                    return;
                };
                (done.0, Some(done.1))
            }
            _ => (self.simple(op, width, a, b, terms.get(2).copied()), None),
        };
        self.assign(view, dst, bits, Some(value));
        if let Some(overflow) = overflow {
            self.assign(view, dst + ty.slots(), 1, Some(overflow));
        }
    }

    fn simple(&mut self, op: Pure, width: u32, a: Term, b: Term, c: Option<Term>) -> Term {
        match op {
            Pure::Bswap => {
                let mut term = self.pool().extract(a, 0, 8);
                for i in 1..width / 8 {
                    let byte = self.pool().extract(a, 8 * i, 8);
                    term = self.pool().concat(term, byte);
                }
                term
            }
            Pure::BitReverse => {
                let mut term = self.pool().extract(a, 0, 1);
                for i in 1..width {
                    let bit = self.pool().extract(a, i, 1);
                    term = self.pool().concat(term, bit);
                }
                term
            }
            Pure::Ctpop => {
                let mut sum = self.constant(width, 0);
                for i in 0..width {
                    let bit = self.pool().extract(a, i, 1);
                    let bit = self.fit(bit, width);
                    sum = self.pool().binary(Binary::Add, sum, bit);
                }
                sum
            }
            // The first bit that is set, from above or from below.
            Pure::Ctlz => self.first_set(width, a, (0..width).map(|i| (i, width - 1 - i))),
            Pure::Cttz => self.first_set(width, a, (0..width).rev().map(|i| (i, i))),
            Pure::Abs => {
                let zero = self.constant(width, 0);
                let negative = self.pool().binary(Binary::Slt, a, zero);
                let minus = self.pool().unary(Unary::Neg, a);
                self.pool().ite(negative, minus, a)
            }
            Pure::SMin => self.pick(Binary::Slt, a, b, true),
            Pure::SMax => self.pick(Binary::Slt, a, b, false),
            Pure::UMin => self.pick(Binary::Ult, a, b, true),
            Pure::UMax => self.pick(Binary::Ult, a, b, false),
            Pure::Fshl | Pure::Fshr => {
                let size = self.constant(width, width.into());
                let amount = self.pool().binary(Binary::URem, c.unwrap_or(size), size);
                let rest = self.pool().binary(Binary::Sub, size, amount);
                // Shifts by the whole width give zero, so the amount 0 needs no case of its own.
                let (up, down) = if op == Pure::Fshl { (amount, rest) } else { (rest, amount) };
                let high = self.pool().binary(Binary::Shl, a, up);
                let low = self.pool().binary(Binary::LShr, b, down);
                self.pool().binary(Binary::Or, high, low)
            }
            Pure::SAddSat | Pure::SSubSat | Pure::UAddSat | Pure::USubSat => self.saturating(op, width, a, b),
            Pure::PtrMask => self.pool().binary(Binary::And, a, b),
            _ => a,
        }
    }

    fn pick(&mut self, less: Binary, a: Term, b: Term, smaller: bool) -> Term {
        let c = self.pool().binary(less, a, b);
        if smaller { self.pool().ite(c, a, b) } else { self.pool().ite(c, b, a) }
    }

    /// The second of the last pair whose first is a set bit, the width if none is.
    fn first_set(&mut self, width: u32, a: Term, order: impl Iterator<Item = (u32, u32)>) -> Term {
        let mut term = self.constant(width, width.into());
        for (bit, answer) in order {
            let is = self.pool().extract(a, bit, 1);
            let answer = self.constant(width, answer.into());
            term = self.pool().ite(is, answer, term);
        }
        term
    }

    /// Wrapped result and overflow bit; none if it needs more than 128 bits.
    fn overflowing(&mut self, op: Pure, width: u32, a: Term, b: Term) -> Option<(Term, Term)> {
        let signed = matches!(op, Pure::SAddOverflow | Pure::SSubOverflow | Pure::SMulOverflow);
        let plain = match op {
            Pure::SAddOverflow | Pure::UAddOverflow => Binary::Add,
            Pure::SSubOverflow | Pure::USubOverflow => Binary::Sub,
            _ => Binary::Mul,
        };
        let wide = if plain == Binary::Mul { 2 * width } else { width + 1 };
        if wide > 128 {
            return None;
        }
        let pool = self.pool();
        let mut stretch = |t: Term| if signed { pool.sext(t, wide) } else { pool.zext(t, wide) };
        let (x, y) = (stretch(a), stretch(b));
        let exact = pool.binary(plain, x, y);
        let value = pool.extract(exact, 0, width);
        let back = if signed { pool.sext(value, wide) } else { pool.zext(value, wide) };
        let same = pool.binary(Binary::Eq, back, exact);
        Some((value, pool.not(same)))
    }

    fn saturating(&mut self, op: Pure, width: u32, a: Term, b: Term) -> Term {
        let wide = (width + 1).min(128);
        let signed = matches!(op, Pure::SAddSat | Pure::SSubSat);
        let plain = if matches!(op, Pure::SAddSat | Pure::UAddSat) { Binary::Add } else { Binary::Sub };
        let (low, high) = if signed {
            let half = 1u128 << (width - 1);
            (half.wrapping_neg(), half - 1)
        } else {
            (0, if width >= 128 { u128::MAX } else { (1 << width) - 1 })
        };
        let (low, high) = (self.constant(wide, low), self.constant(wide, high));
        let pool = self.pool();
        let mut stretch = |t: Term| if signed { pool.sext(t, wide) } else { pool.zext(t, wide) };
        let (x, y) = (stretch(a), stretch(b));
        let exact = pool.binary(plain, x, y);
        // In one bit more the exact result is a signed number for all four.
        let below = match op {
            Pure::UAddSat => pool.constant(1, 0),
            _ => pool.binary(Binary::Slt, exact, low),
        };
        let above = match op {
            Pure::UAddSat => pool.binary(Binary::Ult, high, exact),
            Pure::USubSat => pool.constant(1, 0),
            _ => pool.binary(Binary::Slt, high, exact),
        };
        let capped = pool.ite(above, high, exact);
        let both = pool.ite(below, low, capped);
        pool.extract(both, 0, width)
    }
}

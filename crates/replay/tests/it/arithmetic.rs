//! Compares the inner loop's arithmetic with the plain one.

use crate::common::{Builder, Events, c, r, sym};
use program::inst::{BinOp, CastOp, FloatKind, FloatOp, FloatPred, Inst, IntPred, Operand, Pure, Ty};
use program::model::SymbolKind;
use proptest::prelude::*;
use recording::event::Event;
use replay::arith;
use replay::machine::Machine;
use replay::observer::Null;

const OUT: u64 = 0x60_0000;

/// Runs one instruction on two 128-bit parameters (slots 0 to 3); its result
/// is in slots 4 and 5. `None` if it trapped.
fn run(inst: Inst, a: u128, b: u128) -> Option<u128> {
    let mut m = Builder::new(&[
        ("f", SymbolKind::Function(0), 0x1000),
        ("out", SymbolKind::Data { size: 16, ty: None, line: 0, file: 0 }, OUT),
    ]);
    let wide = Ty::Int(128);
    let code = vec![
        inst,
        Inst::Store { addr: sym(1), value: r(4), ty: wide },
        Inst::Copy { dst: 6, a: c(0) },
        Inst::Return { value: None, ret: vec![] },
    ];
    m.function("f", &[wide, wide], &[], 0, vec![(vec![], code)]);
    let image = m.image();
    let slots = [a as u64, (a >> 64) as u64, b as u64, (b >> 64) as u64];
    let stream = Events::default()
        .enter(0, 0, &slots)
        .push(0, 0, Event::Crash { signal: 8, address: 1, code: 1 })
        .stream();
    let mut machine = Machine::new(&image, &stream);
    machine.run(&mut Null, u64::MAX).unwrap();
    let mut bytes = [0; 16];
    machine.memory().peek(OUT, &mut bytes);
    (machine.counters().instructions > 0).then(|| u128::from_le_bytes(bytes))
}

const BIN: [BinOp; 13] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::UDiv,
    BinOp::SDiv,
    BinOp::URem,
    BinOp::SRem,
    BinOp::Shl,
    BinOp::LShr,
    BinOp::AShr,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
];

const PREDS: [IntPred; 10] = [
    IntPred::Eq,
    IntPred::Ne,
    IntPred::Ugt,
    IntPred::Uge,
    IntPred::Ult,
    IntPred::Ule,
    IntPred::Sgt,
    IntPred::Sge,
    IntPred::Slt,
    IntPred::Sle,
];

fn width() -> impl Strategy<Value = u16> {
    prop_oneof![Just(1), Just(8), Just(16), Just(24), Just(32), Just(33), Just(64), Just(65), Just(128)]
}

fn number() -> impl Strategy<Value = u128> {
    prop_oneof![
        any::<u128>(),
        0u128..4,
        (0u32..128).prop_map(|n| 1 << n),
        (1u128..4).prop_map(u128::wrapping_neg)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn integers(op in 0usize..13, pred in 0usize..10, bits in width(), a in number(), b in number()) {
        let m = arith::mask(bits);
        let (a, b) = (a & m, b & m);
        let inst = Inst::Bin { op: BIN[op], bits, dst: 4, a: r(0), b: r(2) };
        prop_assert_eq!(run(inst, a, b), arith::bin(BIN[op], bits, a, b));
        if bits <= 64 {
            let inst = Inst::Bin { op: BIN[op], bits, dst: 4, a: r(0), b: Operand::Const(b as u64) };
            prop_assert_eq!(run(inst, a, 0), arith::bin(BIN[op], bits, a, b));
        }
        let inst = Inst::ICmp { pred: PREDS[pred], bits, dst: 4, a: r(0), b: r(2) };
        prop_assert_eq!(run(inst, a, b), Some(arith::icmp(PREDS[pred], bits, a, b).into()));
    }

    #[test]
    fn casts(from in width(), to in width(), a in number()) {
        let a = a & arith::mask(from);
        let op = match from.cmp(&to) {
            std::cmp::Ordering::Greater => vec![CastOp::Trunc],
            std::cmp::Ordering::Less => vec![CastOp::Zext, CastOp::Sext],
            std::cmp::Ordering::Equal => vec![CastOp::Bits],
        };
        for op in op {
            let (from, to) = (Ty::Int(from), Ty::Int(to));
            let inst = Inst::Cast { op, from, to, dst: 4, a: r(0) };
            prop_assert_eq!(run(inst, a, 0), Some(arith::cast(op, from, to, a)));
        }
        for kind in [FloatKind::F32, FloatKind::F64, FloatKind::F80] {
            for op in [CastOp::SiToFp, CastOp::UiToFp] {
                let (from, to) = (Ty::Int(from), Ty::Float(kind));
                let inst = Inst::Cast { op, from, to, dst: 4, a: r(0) };
                prop_assert_eq!(run(inst, a, 0), Some(arith::cast(op, from, to, a)));
            }
        }
    }

    #[test]
    fn floats(op in 0usize..5, a: f64, b: f64, odd: u64) {
        let ops = [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div, FloatOp::Rem];
        let op = ops[op];
        for (a, b) in [(a, b), (f64::from_bits(odd), b), (a, f64::NAN)] {
            for kind in [FloatKind::F32, FloatKind::F64, FloatKind::F80] {
                let as_kind = |v: f64| {
                    let ty = Ty::Float(kind);
                    arith::cast(CastOp::FpTrunc, Ty::Float(FloatKind::F64), ty, v.to_bits().into())
                };
                let (x, y) = (as_kind(a), as_kind(b));
                let inst = Inst::Float { op, kind, dst: 4, a: r(0), b: r(2) };
                prop_assert_eq!(run(inst, x, y), Some(arith::float(op, kind, x, y)));
                for pred in [FloatPred::Olt, FloatPred::Ogt, FloatPred::Oeq, FloatPred::Une, FloatPred::Uge] {
                    let inst = Inst::FCmp { pred, kind, dst: 4, a: r(0), b: r(2) };
                    prop_assert_eq!(run(inst, x, y), Some(arith::fcmp(pred, kind, x, y).into()));
                }
            }
        }
    }

    #[test]
    fn addresses(base: u64, index: u64, scale in -20i64..20, offset in -100i64..100, bits in 1u16..=64) {
        let index = index & arith::mask(bits) as u64;
        let sext = arith::signed(index.into(), bits) as i64;
        let want = base.wrapping_add_signed(sext.wrapping_mul(scale)).wrapping_add_signed(offset);
        for (b, i) in [(r(0), r(2)), (c(base), r(2)), (r(0), c(index)), (c(base), c(index))] {
            let inst = Inst::Address { dst: 4, base: b, index: i, index_bits: bits, scale, offset };
            prop_assert_eq!(run(inst, base.into(), index.into()), Some(want.into()));
        }
    }

    #[test]
    fn overflow_bits_stand_behind_the_result(a: u32, b: u32) {
        let inst = Inst::Pure { op: Pure::UAddOverflow, ty: Ty::Int(32), dst: 4, args: vec![r(0), r(2)] };
        let (sum, over) = a.overflowing_add(b);
        prop_assert_eq!(run(inst, a.into(), b.into()), Some(u128::from(sum) | u128::from(over) << 64));
    }
}

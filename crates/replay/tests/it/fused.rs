//! Compares the fast loop with the plain one, which runs when an observer needs all steps.

use crate::common::{Builder, Events, I32, I64, c, call, r, sym};
use program::inst::{BinOp, CastOp, Inst, IntPred, Operand, Ty};
use program::model::{Phi, SymbolKind};
use proptest::prelude::*;
use replay::event_cursor::Stream;
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Effect, Null, Observer, View};

/// Observes steps, so that the plain loop runs.
struct Watching;
impl Observer for Watching {}

/// The loads, stores, calls and returns that either loop reports.
#[derive(Default)]
struct AccessLog<const ALL: bool>(Vec<String>);

impl<const ALL: bool> AccessLog<ALL> {
    fn note(&mut self, what: &str, view: &View<'_>) {
        let regs = &view.regs[..view.code.slots as usize];
        self.0.push(format!("{what} {} {} {} {regs:x?}", view.site(), view.depth, view.frame));
    }
}

impl<const ALL: bool> Observer for AccessLog<ALL> {
    const ALL_STEPS: bool = ALL;

    fn step(&mut self, view: &View<'_>, effect: Effect) {
        if matches!(view.inst(), Inst::Load { .. } | Inst::Store { .. } | Inst::Call(_) | Inst::Return { .. })
        {
            self.note(&format!("{effect:x?}"), view);
        }
    }
    fn enter(&mut self, view: &View<'_>, outside: bool) {
        self.note(if outside { "from outside" } else { "enter" }, view);
    }
    fn returned(&mut self, view: &View<'_>) {
        self.note("returned", view);
    }
}

/// Number of slots that generated instructions use; the counter of the loop follows.
const SLOTS: u32 = 16;

/// An instruction: its kind, its operands, and whether it uses the result of the previous one, in the next
/// slot, as in the groups that are fused.
type Draft = (u8, u8, u8, bool);

fn body(drafts: &[Draft]) -> Vec<Inst> {
    let mut out = Vec::new();
    let mut dst = 3;
    for (what, x, y, follows) in drafts {
        let operand = |n: u8| -> Operand {
            let n = u32::from(n);
            match n % 20 {
                16 => c(0),
                17 => c(u64::from(n / 20) * 8),
                18 => sym(2),
                19 => c(0x7f),
                k => r(k),
            }
        };
        let (a, b) = (if *follows { r(dst) } else { operand(*x) }, operand(*y));
        let last = r(dst);
        dst = if *follows { dst + 1 } else { u32::from(*x / 2) };
        dst %= SLOTS;
        let bin = |op, bits| Inst::Bin { op, bits, dst, a, b };
        let icmp = |pred, bits| Inst::ICmp { pred, bits, dst, a, b };
        let address = |scale| Inst::Address { dst, base: b, index: a, index_bits: 64, scale, offset: 0 };
        out.push(match what % 22 {
            0..=3 => bin(BinOp::Add, 64),
            4 => bin(BinOp::Add, 32),
            5 => bin(BinOp::Sub, 32),
            6 => bin(BinOp::And, 64),
            7 => bin(BinOp::LShr, 32),
            8 => icmp(IntPred::Eq, 64),
            9 => icmp(IntPred::Ne, 64),
            10 => icmp(IntPred::Slt, 32),
            11 => icmp(IntPred::Ule, 64),
            12 => Inst::Cast { op: CastOp::Zext, from: I32, to: I64, dst, a },
            13 => Inst::Cast { op: CastOp::Sext, from: I32, to: I64, dst, a },
            14 => address(4),
            15 => address(24),
            16 | 17 => Inst::Load { dst, addr: a, ty: I64 },
            18 => Inst::Load { dst, addr: a, ty: I32 },
            19 => Inst::Load { dst, addr: a, ty: Ty::Int(8) },
            20 => Inst::Store { addr: last, value: b, ty: Ty::Int(8) },
            _ => Inst::Store { addr: last, value: b, ty: I64 },
        });
    }
    out
}

/// A loop of eight iterations with two paths through it, one with a call.
fn image(one: &[Draft], two: &[Draft], three: &[Draft]) -> Image {
    let data = SymbolKind::Data { size: 8, ty: None, line: 0, file: 0 };
    let mut b = Builder::new(&[
        ("f", SymbolKind::Function(0), 0x1000),
        ("g", SymbolKind::Function(1), 0x2000),
        ("data", data, 0x60_0ff8),
    ]);
    let (i, next, more) = (SLOTS, SLOTS + 1, SLOTS + 2);
    // The last result is the condition, so that it is fused with the branch.
    let decide = |mut body: Vec<Inst>, then, otherwise| {
        let last = body.last().and_then(Inst::defines).map_or(0, |d| d.0);
        body.push(Inst::Branch { cond: r(last), then, otherwise });
        body
    };
    let mut head = vec![Inst::Tick];
    head.extend(body(one));
    let mut left = body(two);
    left.push(call(sym(1), &[(r(4), I64)], 5, &[I64]));
    left.push(Inst::Jump { to: 4 });
    let mut right = body(three);
    right.push(Inst::Jump { to: 4 });
    let round = Inst::Bin { op: BinOp::Add, bits: 32, dst: next, a: r(i), b: c(1) };
    b.function(
        "f",
        &[I64, I64],
        &[I64],
        0,
        vec![
            (vec![], vec![Inst::Jump { to: 1 }]),
            (
                vec![
                    Phi { dst: i, slots: 1, incoming: vec![(0, c(0)), (4, r(next))] },
                    Phi { dst: 0, slots: 1, incoming: vec![(0, r(0)), (4, r(1))] },
                    Phi { dst: 1, slots: 1, incoming: vec![(0, r(1)), (4, r(0))] },
                ],
                decide(head, 2, 3),
            ),
            (vec![], left),
            (vec![], right),
            (
                vec![],
                vec![
                    round,
                    Inst::ICmp { pred: IntPred::Slt, bits: 32, dst: more, a: r(next), b: c(8) },
                    Inst::Branch { cond: r(more), then: 1, otherwise: 5 },
                ],
            ),
            (vec![], vec![Inst::Return { value: Some(r(2)), ret: vec![I64] }]),
        ],
    );
    let sum = Inst::Bin { op: BinOp::Add, bits: 64, dst: 1, a: r(0), b: c(3) };
    b.function(
        "g",
        &[I64],
        &[I64],
        0,
        vec![(vec![], vec![sum, Inst::Return { value: Some(r(1)), ret: vec![I64] }])],
    );
    b.image()
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    proptest::collection::vec((any::<u8>(), 0u8..32, any::<u8>(), proptest::bool::weighted(0.7)), 1..12)
}

fn stop(image: &Image, stream: &Stream, observer: &mut impl Observer, limit: u64) -> String {
    let mut m = Machine::new(image, stream);
    let stop = m.run(observer, limit);
    // Without the scratch slot after the function's own.
    let regs = m.view().map(|v| (v.index, v.regs[..v.code.slots as usize].to_vec()));
    let data = m.memory().peek_word(0x60_0ff8, 8);
    format!("{stop:?} {:?} {} {:#x} {regs:x?} {data:#x} {:?}", m.counters(), m.time(), m.sum(), m.frames())
}

/// Stops both loops after every instruction.
fn agree(image: &Image, time: u64) {
    let mut stream = Events::default().enter(0, 0, &[0x60_0ff0, 5]).stream();
    stream.time = time;
    let mut whole = Machine::new(image, &stream);
    whole.run(&mut Watching, 1000).unwrap();
    let total = whole.counters().instructions;
    assert!(total > 4);
    let (mut plain, mut fast) = (AccessLog::<true>::default(), AccessLog::<false>::default());
    assert_eq!(stop(image, &stream, &mut plain, total), stop(image, &stream, &mut fast, total));
    assert_eq!(plain.0, fast.0);
    for limit in 0..=total + 1 {
        assert_eq!(stop(image, &stream, &mut Null, limit), stop(image, &stream, &mut Watching, limit));
    }
}

#[test]
fn an_address_can_be_stored_at_itself() {
    // r5 = r10 + data; store r5 to r5
    let one = [(0, 10, 18, false), (21, 10, 5, false)];
    agree(&image(&one, &[(4, 0, 0, false)], &[(4, 0, 0, false)]), 30);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_loops_agree_at_every_instruction(
        one in drafts(), two in drafts(), three in drafts(), time in 2u64..30,
    ) {
        agree(&image(&one, &two, &three), time);
    }
}

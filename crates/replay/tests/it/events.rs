//! Each kind of event that a replay consumes, in a program made for it.

use crate::common::{Builder, Events, I32, I64, STACK, c, call, r, sym};
use program::inst::{Arg, ArgTy, Call, Inst, Operand, RmwOp, Source, Ty};
use program::model::{Param, SymbolKind};
use recording::Slots;
use recording::event::Event;
use replay::event_cursor::Stream;
use replay::image::Image;
use replay::machine::{End, Machine, Stop};
use replay::observer::{Null, Observer, View};
use replay::writers::{reads, writers};
use std::collections::BTreeMap;

const OUT: u64 = 0x60_0000;

fn data() -> SymbolKind {
    SymbolKind::Data { size: 64, ty: None, line: 0, file: 0 }
}

fn finish<'a>(image: &'a Image, stream: &'a Stream) -> Machine<'a> {
    let mut m = Machine::new(image, stream);
    let stop = m.run(&mut Null, u64::MAX).unwrap();
    assert_eq!(stop, Stop::Ended(End::Exit { status: 0 }));
    m
}

#[test]
fn variadic_arguments_lie_where_the_callee_looks() {
    let mut b =
        Builder::new(&[("log", SymbolKind::Function(0), 0x1000), ("main", SymbolKind::Function(1), 0x2000)]);
    // log(fmt, ...): 0 frame, 1 va_start, 2 ret
    b.function(
        "log",
        &[I64],
        &[],
        32,
        vec![(
            vec![],
            vec![
                Inst::Frame { dst: 1, offset: 0 },
                Inst::VaStart { list: r(1) },
                Inst::Return { value: None, ret: vec![] },
            ],
        )],
    );
    b.module.functions[0].variadic = true;
    let double = Ty::Float(program::inst::FloatKind::F64);
    let arg = |value, ty| Arg { value, ty: ArgTy::Value(ty) };
    let mut args = vec![arg(c(1), I64)];
    args.extend((0..7).map(|i| arg(c(100 + i), I64)));
    args.push(arg(c(1.5f64.to_bits()), double));
    args.push(Arg { value: r(0), ty: ArgTy::ByVal { size: 12, align: 16 } });
    args.push(arg(c(77), I32));
    let log = Call { callee: sym(0), args, dst: 1, ret: vec![], variadic: Some(1), returns_twice: false };
    b.function(
        "main",
        &[],
        &[],
        32,
        vec![(
            vec![],
            vec![
                Inst::Frame { dst: 0, offset: 0 },
                Inst::Store { addr: r(0), value: c(0xaabb), ty: I64 },
                Inst::Call(Box::new(log)),
                Inst::Return { value: None, ret: vec![] },
            ],
        )],
    );
    let image = b.image();
    let va = Event::VaStart { gp_offset: 8, fp_offset: 48, overflow_area: 0x7000_0008, save_area: 0x8000 };
    let stream = Events::default().enter(0, 1, &[]).push(2, 1, va).end(3, 0xaabb).stream();
    let m = finish(&image, &stream);
    let word = |at| m.memory().peek_word(at, 8);
    let list = STACK - 64;
    assert_eq!(word(list), 48 << 32 | 8);
    assert_eq!((word(list + 8), word(list + 16)), (0x7000_0008, 0x8000));
    let saved: Vec<u64> = (1..6).map(|i| word(0x8000 + 8 * i)).collect();
    assert_eq!(saved, [100, 101, 102, 103, 104]);
    assert_eq!(word(0x8000 + 48), 1.5f64.to_bits());
    // Five fit the registers; two on the stack, the struct aligned, an int.
    assert_eq!((word(0x7000_0008), word(0x7000_0010)), (105, 106));
    assert_eq!(word(0x7000_0020), 0xaabb);
    assert_eq!(word(0x7000_0030), 77);
}

#[test]
fn structs_by_value_are_copied() {
    let mut b =
        Builder::new(&[("take", SymbolKind::Function(0), 0x1000), ("main", SymbolKind::Function(1), 0x2000)]);
    // take: 0 store, 1 ret
    b.function(
        "take",
        &[I64],
        &[],
        32,
        vec![(
            vec![],
            vec![Inst::Store { addr: r(0), value: c(5), ty: I64 }, Inst::Return { value: None, ret: vec![] }],
        )],
    );
    let by_value = ArgTy::ByVal { size: 16, align: 8 };
    b.module.functions[0].params = vec![Param { ty: by_value, reg: 0, frame_offset: 16 }];
    let mut pass = match call(sym(0), &[], 1, &[]) {
        Inst::Call(c) => c,
        _ => unreachable!(),
    };
    pass.args.push(Arg { value: r(0), ty: by_value });
    // main: 2 frame, 3 store, 4 call, 5 ret
    b.function(
        "main",
        &[],
        &[],
        16,
        vec![(
            vec![],
            vec![
                Inst::Frame { dst: 0, offset: 0 },
                Inst::Store { addr: r(0), value: c(9), ty: I64 },
                Inst::Call(pass),
                Inst::Return { value: None, ret: vec![] },
            ],
        )],
    );
    let image = b.image();
    let original = STACK - 16;
    let copy = original - 32 + 16;
    let bytes = 8u64.to_le_bytes();
    let stream = Events::default()
        .enter(0, 1, &[])
        // Code outside wrote the upper half.
        .push(1, 4, Event::Patch { address: original + 8, bytes: &bytes })
        .end(3, 14)
        .stream();
    let m = finish(&image, &stream);
    let word = |at| m.memory().peek_word(at, 8);
    assert_eq!((word(original), word(original + 8)), (9, 8));
    assert_eq!((word(copy), word(copy + 8)), (5, 8));
    // When called from outside, the copy comes with the first instruction.
    let whole = [1u8; 16];
    let copy = STACK - 32 + 16;
    let stream = Events::default()
        .enter(0, 0, &[])
        .push(1, 0, Event::Patch { address: copy, bytes: &whole })
        .end(1, 5)
        .stream();
    let m = finish(&image, &stream);
    assert_eq!((m.memory().peek_word(copy, 8), m.memory().peek_word(copy + 8, 1)), (5, 1));
}

#[test]
fn a_landing_drops_frames() {
    let mut b = Builder::new(&[
        ("deep", SymbolKind::Function(0), 0x1000),
        ("main", SymbolKind::Function(1), 0x2000),
        ("setjmp", SymbolKind::External, 0x9000),
        ("longjmp", SymbolKind::External, 0x9100),
        ("out", data(), OUT),
    ]);
    // deep: 0 call longjmp, 1 unreachable
    b.function(
        "deep",
        &[],
        &[],
        64,
        vec![(vec![], vec![call(sym(3), &[(c(0), I64), (c(3), I32)], 0, &[]), Inst::Unreachable])],
    );
    let set =
        Call { callee: sym(2), args: vec![], dst: 0, ret: vec![I32], variadic: None, returns_twice: true };
    // main: 2 call setjmp, 3 branch; 4 call deep, 5 unreachable; 6 store, 7 ret
    b.function(
        "main",
        &[],
        &[],
        16,
        vec![
            (vec![], vec![Inst::Call(Box::new(set)), Inst::Branch { cond: r(0), then: 2, otherwise: 1 }]),
            (vec![], vec![call(sym(0), &[], 1, &[]), Inst::Unreachable]),
            (
                vec![],
                vec![
                    Inst::Store { addr: sym(4), value: r(0), ty: I32 },
                    Inst::Return { value: None, ret: vec![] },
                ],
            ),
        ],
    );
    let image = b.image();
    let three = [3];
    let land = |stack| Event::Land { stack, slots: Slots::Plain(&three) };
    let sum = Inst::branch_mix(3).wrapping_add(3);
    let stream = Events::default()
        .enter(0, 1, &[])
        .external(1, 2, &[0])
        .push(3, 2, land(STACK - 16))
        .end(4, sum)
        .stream();
    let m = finish(&image, &stream);
    assert_eq!(m.memory().peek_word(OUT, 8), 3);
    assert!(m.frames().is_empty());
    // No such activation.
    let stream =
        Events::default().enter(0, 1, &[]).external(1, 2, &[0]).push(3, 2, land(STACK - 32)).stream();
    let e = Machine::new(&image, &stream).run(&mut Null, u64::MAX).unwrap_err();
    assert!(e.to_string().contains("a frame to land in"), "{e}");
}

#[test]
fn values_that_only_the_recording_knows() {
    let mut b = Builder::new(&[
        ("main", SymbolKind::Function(0), 0x1000),
        ("counter", SymbolKind::ThreadLocal { size: 8, ty: None }, 0),
        ("realloc", SymbolKind::External, 0x9000),
        ("out", data(), OUT),
    ]);
    let asm = Source::Asm("rdtsc".to_owned());
    // 0 unknown, 1 tls, 2 rmw, 3 cmpxchg, 4 store, 5 realloc, 6 load, 7 store, 8 tls, 9 store, 10 ret
    b.function(
        "main",
        &[],
        &[],
        0,
        vec![(
            vec![],
            vec![
                Inst::Unknown { dst: 0, ret: vec![I64, I32], args: vec![], source: Box::new(asm) },
                Inst::ThreadLocal { dst: 2, symbol: 1 },
                Inst::Rmw { op: RmwOp::Add, dst: 3, addr: r(2), value: r(0), ty: I64 },
                Inst::CmpXchg { dst: 4, addr: r(2), expected: c(1010), new: r(1), ty: I64 },
                Inst::Store { addr: sym(3), value: r(5), ty: I64 },
                call(sym(2), &[(r(2), I64), (c(32), I64)], 6, &[I64]),
                Inst::Load { dst: 7, addr: r(6), ty: I64 },
                Inst::Store { addr: sym(3), value: r(7), ty: I64 },
                Inst::ThreadLocal { dst: 8, symbol: 1 },
                Inst::Store { addr: sym(3), value: r(8), ty: I64 },
                Inst::Return { value: None, ret: vec![] },
            ],
        )],
    );
    let image = b.image();
    let value = [1000, 55];
    let stream = Events::default()
        .enter(0, 0, &[])
        .push(1, 0, Event::Value { slots: Slots::Plain(&value) })
        .push(1, 1, Event::ThreadLocal { symbol: 1, address: 0x5000 })
        .push(1, 2, Event::load(8, 0, 10, Some(2)))
        .push(1, 5, Event::Moved { from: 0x5000, to: 0x6000, length: 8 })
        .push(1, 5, Event::Zeroed { address: 0x5000, length: 4 })
        .external(1, 5, &[0x6000])
        .push(1, 0, Event::Check { sum: 1 })
        .end(2, 1 + 55 + 0x5000)
        .stream();
    let m = finish(&image, &stream);
    assert_eq!(m.memory().peek_word(0x6000, 8), 55);
    assert_eq!(m.memory().peek_word(0x5000, 8), 0);
    assert_eq!(m.memory().peek_word(OUT, 8), 0x5000);
    assert_eq!((m.counters().mispredicted, m.counters().checks), (1, 2));
    // An address that no event contains.
    let stream = Events::default()
        .enter(0, 0, &[])
        .push(1, 0, Event::Value { slots: Slots::Plain(&value) })
        .end(2, 0)
        .stream();
    let e = Machine::new(&image, &stream).run(&mut Null, u64::MAX).unwrap_err();
    assert!(e.to_string().contains("end"), "{e}");
}

#[test]
fn the_writer_of_a_value_is_found() {
    let mut b = Builder::new(&[
        ("write", SymbolKind::Function(0), 0x1000),
        ("read", SymbolKind::Function(1), 0x2000),
        ("tell", SymbolKind::External, 0x9000),
        ("shared", data(), OUT),
    ]);
    let store = |v| Inst::Store { addr: sym(3), value: c(v), ty: I32 };
    let tell = || call(sym(2), &[], 0, &[]);
    // write: 0 store 1, 1 call, 2 store 2, 3 store 7, 4 call, 5 store 2, 6 ret
    b.function(
        "write",
        &[],
        &[],
        0,
        vec![(
            vec![],
            vec![
                store(1),
                tell(),
                store(2),
                store(7),
                tell(),
                store(2),
                Inst::Return { value: None, ret: vec![] },
            ],
        )],
    );
    // read: 7 load, 8 ret
    b.function(
        "read",
        &[],
        &[],
        0,
        vec![(
            vec![],
            vec![
                Inst::Load { dst: 0, addr: Operand::Symbol { symbol: 3, offset: 0 }, ty: I32 },
                Inst::Return { value: None, ret: vec![] },
            ],
        )],
    );
    let image = b.image();
    let none = || Event::External { slots: Slots::Plain(&[]) };
    let writer = Events::default()
        .enter(0, 0, &[])
        .push_seq(1, 1, Some(10), none())
        .push_seq(2, 4, Some(20), none())
        .stream();
    let writer = Stream { time: 3, ..writer };
    let read_at = |seq, value| {
        Events::default()
            .enter(0, 1, &[])
            .push_seq(1, 7, Some(seq), Event::load(4, 0, value, Some(0)))
            .stream()
    };
    let idle = Stream::default();
    let streams = BTreeMap::from([(0, &writer), (5, &idle)]);
    let find = |seq, value| {
        let reader = read_at(seq, value);
        let mut r = reads(&image, &reader).unwrap();
        assert_eq!((r.len(), r[0].address, r[0].writer), (1, OUT, 0));
        let named = writers(&image, &streams, 9, &r).unwrap();
        assert_eq!(named[0].as_ref().map(|w| w.stream), Some(0));
        // The recorder guessed wrong: the others are searched.
        r[0].writer = 5;
        assert_eq!(writers(&image, &streams, 9, &r).unwrap(), named);
        named[0].clone().map(|w| (w.site, w.same, w.instruction))
    };
    assert_eq!(find(15, 2), Some((2, true, 2)));
    assert_eq!(find(15, 7), Some((3, true, 3)));
    assert_eq!(find(25, 2), Some((5, true, 5)));
    assert_eq!(find(15, 1), Some((0, true, 0)));
    // No store wrote that; the last one before is the best guess.
    assert_eq!(find(15, 99), Some((3, false, 3)));
}

#[derive(Default)]
struct Depths(Vec<(u64, u32, bool)>);

impl Observer for Depths {
    fn enter(&mut self, view: &View<'_>, outside: bool) {
        self.0.push((view.time, view.depth, outside));
    }
    fn returned(&mut self, view: &View<'_>) {
        self.0.push((view.time, view.depth, false));
    }
}

#[test]
fn observers_see_calls_and_returns() {
    let mut b =
        Builder::new(&[("leaf", SymbolKind::Function(0), 0x1000), ("main", SymbolKind::Function(1), 0x2000)]);
    b.function("leaf", &[], &[], 0, vec![(vec![], vec![Inst::Return { value: None, ret: vec![] }])]);
    b.function(
        "main",
        &[I64],
        &[],
        0,
        vec![(vec![], vec![call(r(0), &[], 1, &[]), Inst::Return { value: None, ret: vec![] }])],
    );
    let image = b.image();
    let stream = Events::default().enter(0, 1, &[0x1000]).end(3, 0).stream();
    let mut d = Depths::default();
    Machine::new(&image, &stream).run(&mut d, u64::MAX).unwrap();
    assert_eq!(d.0, [(1, 1, true), (2, 2, false), (3, 1, false)]);
}

//! Replay of hand-made programs and recordings.

use crate::common::{Builder, Events, I32, I64, STACK, c, call, r, sym};
use program::inst::{BinOp, Inst, IntPred};
use program::model::{Phi, SymbolKind};
use recording::event::{Event, Position};
use replay::checkpoint::Checkpoints;
use replay::error::Error;
use replay::image::Image;
use replay::machine::{End, Machine, Stop};
use replay::observer::{Effect, EventContext, Null, Observer, View};

const OUT: u64 = 0x60_0000;

/// `factorial(n)`: a loop with phis, a store to a global, a return.
/// Sites: 0 jump; 1 tick, 2 cmp, 3 branch; 4 mul, 5 sub, 6 jump; 7 store, 8 ret.
fn factorial() -> Image {
    let mut b = Builder::new(&[
        ("factorial", SymbolKind::Function(0), 0x1000),
        ("out", SymbolKind::Data { size: 8, ty: None, line: 0, file: 0 }, OUT),
    ]);
    b.function(
        "factorial",
        &[I64],
        &[I64],
        0,
        vec![
            (vec![], vec![Inst::Jump { to: 1 }]),
            (
                vec![
                    Phi { dst: 1, slots: 1, incoming: vec![(0, r(0)), (2, r(5))] },
                    Phi { dst: 2, slots: 1, incoming: vec![(0, c(1)), (2, r(4))] },
                ],
                vec![
                    Inst::Tick,
                    Inst::ICmp { pred: IntPred::Ugt, bits: 64, dst: 3, a: r(1), b: c(1) },
                    Inst::Branch { cond: r(3), then: 2, otherwise: 3 },
                ],
            ),
            (
                vec![],
                vec![
                    Inst::Bin { op: BinOp::Mul, bits: 64, dst: 4, a: r(2), b: r(1) },
                    Inst::Bin { op: BinOp::Sub, bits: 64, dst: 5, a: r(1), b: c(1) },
                    Inst::Jump { to: 1 },
                ],
            ),
            (
                vec![],
                vec![
                    Inst::Store { addr: sym(1), value: r(2), ty: I64 },
                    Inst::Return { value: Some(r(2)), ret: vec![I64] },
                ],
            ),
        ],
    );
    b.image()
}

fn run(image: &Image, events: &Events) -> replay::error::Result<(End, u64)> {
    let stream = events.stream();
    let mut m = Machine::new(image, &stream);
    match m.run(&mut Null, u64::MAX)? {
        Stop::Ended(end) => Ok((end, m.counters().instructions)),
        Stop::Limit => panic!("no limit was given"),
    }
}

#[test]
fn a_loop_runs_to_its_recorded_end() {
    let image = factorial();
    let stream = Events::default()
        .enter(0, 0, &[10])
        // one for the entry, ten ticks; nine branches taken, one store
        .end(11, Inst::branch_mix(3).wrapping_mul(9).wrapping_add(3_628_800))
        .stream();
    let mut m = Machine::new(&image, &stream);
    assert_eq!(m.run(&mut Null, u64::MAX).unwrap(), Stop::Ended(End::Exit { status: 0 }));
    assert_eq!(m.memory().peek_word(OUT, 8), 3_628_800);
    assert_eq!(m.counters().instructions, 1 + 10 * 3 + 9 * 3 + 2);
    assert_eq!(m.counters().checks, 1);
}

#[test]
fn a_wrong_checksum_is_a_divergence() {
    let image = factorial();
    let error = run(&image, Events::default().enter(0, 0, &[3]).end(4, 1234)).unwrap_err();
    let d = error.divergence().expect("a divergence");
    assert!(d.found.contains("0x4d2"), "{d}");
    let sum = Inst::branch_mix(3).wrapping_mul(2).wrapping_add(6);
    assert!(run(&image, Events::default().enter(0, 0, &[3]).end(4, sum)).is_ok());
    let error = run(&image, Events::default().enter(0, 0, &[3]).end(5, sum)).unwrap_err();
    assert!(matches!(error, Error::Diverged(_)));
}

#[test]
fn an_event_that_is_not_reached_is_a_divergence() {
    let image = factorial();
    let error =
        run(&image, Events::default().enter(0, 0, &[5]).push(2, 7, Event::load(8, 0, 1, None))).unwrap_err();
    let d = error.divergence().unwrap();
    assert_eq!((d.function.as_str(), d.time), ("factorial", 3));
    assert!(d.found.contains("Load at time 2, site 1.7"), "{d}");
}

#[test]
fn a_cut_recording_stops_at_the_headers_time() {
    let image = factorial();
    let mut stream = Events::default().enter(0, 0, &[1000]).stream();
    stream.time = 8;
    let mut m = Machine::new(&image, &stream);
    assert_eq!(m.run(&mut Null, u64::MAX).unwrap(), Stop::Ended(End::Cut));
    assert_eq!(m.time(), 9);
    stream.incomplete = true;
    let mut m = Machine::new(&image, &stream);
    assert_eq!(m.run(&mut Null, u64::MAX).unwrap(), Stop::Ended(End::Cut));
    assert_eq!(m.counters().instructions, 0);
}

/// Sites of `twice`: 0 load, 1 add, 2 ret; of `main`: 3 frame, 4 store,
/// 5 call twice, 6 call ext, 7 store, 8 call memset, 9 load, 10 store, 11 ret.
fn calls() -> Image {
    let mut b = Builder::new(&[
        ("twice", SymbolKind::Function(0), 0x1000),
        ("main", SymbolKind::Function(1), 0x2000),
        ("mystery", SymbolKind::External, 0x9000),
        ("memset", SymbolKind::External, 0x9100),
        ("out", SymbolKind::Data { size: 8, ty: None, line: 0, file: 0 }, OUT),
    ]);
    b.function(
        "twice",
        &[I64],
        &[I32],
        0,
        vec![(
            vec![],
            vec![
                Inst::Load { dst: 1, addr: r(0), ty: I32 },
                Inst::Bin { op: BinOp::Add, bits: 32, dst: 2, a: r(1), b: r(1) },
                Inst::Return { value: Some(r(2)), ret: vec![I32] },
            ],
        )],
    );
    b.function(
        "main",
        &[],
        &[I32],
        32,
        vec![(
            vec![],
            vec![
                Inst::Frame { dst: 0, offset: 8 },
                Inst::Store { addr: r(0), value: c(21), ty: I32 },
                call(sym(0), &[(r(0), I64)], 1, &[I32]),
                call(sym(2), &[(sym(0), I64)], 2, &[I64]),
                Inst::Store { addr: sym(4), value: r(2), ty: I64 },
                call(sym(3), &[(r(0), I64), (c(1), I32), (c(4), I64)], 3, &[I64]),
                Inst::Load { dst: 4, addr: r(3), ty: I32 },
                Inst::Store { addr: r(0), value: r(4), ty: I32 },
                Inst::Return { value: Some(r(1)), ret: vec![I32] },
            ],
        )],
    );
    b.image()
}

#[test]
fn calls_link_and_outside_code_calls_back() {
    let image = calls();
    let local = STACK - 32 + 8;
    // main at 1; twice at 2, back at 3; mystery calls twice back (4) with a pointer of its own, returns at
    // time 4; then 5; memset 6.
    let sum = [21, 0x1_0000_0007, 0x0101_0101].iter().sum();
    let patch = 500u32.to_le_bytes();
    let events = || {
        let mut e = Events::default();
        e.enter(0, 1, &[]);
        e.enter(3, 0, &[0x5000]);
        e.push(4, 0, Event::load(4, 0, 250, None));
        e.push(4, 6, Event::Patch { address: 0x5000, bytes: &patch });
        e
    };
    let mut e = events();
    e.external(4, 6, &[0x1_0000_0007]).push(4, 0, Event::Check { sum: 21 }).end(6, sum);
    let stream = e.stream();
    let mut m = Machine::new(&image, &stream);
    m.run(&mut Null, u64::MAX).unwrap();
    assert_eq!(m.memory().peek_word(local, 4), 0x0101_0101);
    assert_eq!(m.memory().peek_word(0x5000, 4), 500);
    assert_eq!(m.memory().peek_word(OUT, 8), 0x1_0000_0007);
    assert_eq!((m.counters().mispredicted, m.counters().loads), (1, 3));
    assert_eq!(m.counters().checks, 2);

    // Without the event the call cannot be replayed.
    let mut e = events();
    e.end(6, sum);
    let error = run(&image, &e).unwrap_err();
    let d = error.divergence().unwrap();
    assert!(d.expected.contains("a call to mystery"), "{d}");
    // A result that the recorder did not expect replaces the model's.
    let mut e = events();
    e.external(4, 6, &[0x1_0000_0007]).external(5, 8, &[OUT]).end(6, 21 + 0x1_0000_0007 + 7);
    run(&image, &e).unwrap();
}

#[test]
fn a_crash_is_found_at_its_instruction() {
    let image = calls();
    let mut e = Events::default();
    // `twice` is called from the top with a null pointer.
    e.enter(0, 0, &[0]).push(0, 0, Event::Crash { signal: 11, address: 0, code: 1 });
    let stream = e.stream();
    let mut m = Machine::new(&image, &stream);
    let end = m.run(&mut Null, u64::MAX).unwrap();
    assert_eq!(end, Stop::Ended(End::Crash { signal: 11, address: 0, located: true }));
    assert_eq!((m.counters().instructions, m.view().unwrap().index), (0, 0));
    // At any other address, the crash is not at this load, so it must be before the return.
    let mut e = Events::default();
    e.enter(0, 0, &[64]).push(0, 0, Event::Crash { signal: 11, address: 0, code: 1 });
    assert_eq!(run(&image, &e).unwrap().0, End::Crash { signal: 11, address: 0, located: false });
}

#[derive(Default, Clone, PartialEq, Debug)]
struct Trace(Vec<(u64, u32, Effect, u64)>);

impl Observer for Trace {
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        let result = view.inst().defines().map_or(0, |(d, _)| view.regs[d as usize]);
        let result = if matches!(view.inst(), Inst::Call(_)) { 0 } else { result };
        self.0.push((view.count, view.site(), effect, result));
    }
}

#[test]
fn segments_in_any_order_see_what_the_whole_run_sees() {
    let image = factorial();
    let sum = Inst::branch_mix(3).wrapping_mul(19).wrapping_add((1..=20).product::<u64>());
    let stream = Events::default().enter(0, 0, &[20]).end(21, sum).stream();
    let mut whole = Trace::default();
    Machine::new(&image, &stream).run(&mut whole, u64::MAX).unwrap();
    for every in [1, 7, 50, 10_000] {
        let points = Checkpoints::make(&image, &stream, every, &mut Null);
        assert!(points.error().is_none());
        assert_eq!(points.counters().instructions, whole.0.len() as u64);
        let forward: Vec<_> =
            points.parallel(|_| Trace::default()).unwrap().into_iter().flat_map(|s| s.1.0).collect();
        assert_eq!(forward, whole.0);
        let mut backward: Vec<_> = points.backward(|_| Trace::default()).map(|s| s.unwrap().1.0).collect();
        backward.reverse();
        assert_eq!(backward.concat(), whole.0);
        for n in [0, 1, 30, 60] {
            let mut m = points.machine_at(n).unwrap();
            assert_eq!(m.counters().instructions, n);
            let mut rest = Trace::default();
            m.run(&mut rest, u64::MAX).unwrap();
            assert_eq!(rest.0, whole.0[n as usize..]);
        }
        assert!(points.machine_at(1_000_000).is_err());
    }
    let stores: Vec<_> = whole.0.iter().filter(|s| s.2 != Effect::None).collect();
    assert_eq!(stores.len(), 1);
    assert_eq!(stores[0].2, Effect::Store { address: OUT, len: 8 });
}

#[test]
fn stored_checkpoints_are_those_that_were_made() {
    let image = factorial();
    let sum = Inst::branch_mix(3).wrapping_mul(19).wrapping_add((1..=20).product::<u64>());
    let stream = Events::default().enter(0, 0, &[20]).end(21, sum).stream();
    let mut whole = Trace::default();
    Machine::new(&image, &stream).run(&mut whole, u64::MAX).unwrap();
    for (every, pages) in [(1, 1000), (1, 0), (7, 1000), (10_000, 1000)] {
        let made = Checkpoints::make(&image, &stream, every, &mut Null);
        let bytes = made.store(pages).unwrap();
        let points = Checkpoints::load(&image, &stream, bytes.clone()).unwrap();
        assert!(points.store(pages).is_none());
        assert_eq!((points.len(), points.counters()), (made.len(), made.counters()));
        let mut backward: Vec<_> = points.backward(|_| Trace::default()).map(|s| s.unwrap().1.0).collect();
        backward.reverse();
        assert_eq!(backward.concat(), whole.0);
        for n in [0, 1, 30, 60] {
            let points = Checkpoints::load(&image, &stream, bytes.clone()).unwrap();
            let mut rest = Trace::default();
            points.machine_at(n).unwrap().run(&mut rest, u64::MAX).unwrap();
            assert_eq!(rest.0, whole.0[n as usize..]);
        }
    }
}

#[test]
fn no_stored_bytes_make_replay_panic() {
    let image = factorial();
    let sum = Inst::branch_mix(3).wrapping_mul(19).wrapping_add((1..=20).product::<u64>());
    let stream = Events::default().enter(0, 0, &[20]).end(21, sum).stream();
    let bytes = Checkpoints::make(&image, &stream, 9, &mut Null).store(1000).unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let Some(points) = Checkpoints::load(&image, &stream, changed) else { continue };
            for index in (0..points.len()).rev() {
                let _ = points.replay(index, &mut Null);
            }
        }
        assert!(Checkpoints::load(&image, &stream, bytes[..at].to_vec()).is_none_or(|p| p.len() < 1000));
    }
}

#[derive(Default)]
struct Seen(Vec<(Position, String)>);

impl Observer for Seen {
    const STEPS: bool = false;
    fn event(&mut self, _: &EventContext<'_>, position: Position, event: &Event<'_>) {
        self.0.push((position, format!("{event:?}")));
    }
}

#[test]
fn a_forked_child_goes_on_with_its_own_events() {
    let image = calls();
    let sum = 21 + 0x0101_0101;
    let mut parent = Events::default();
    parent.enter(0, 1, &[]).push(3, 6, Event::Fork { child: 77 });
    let at = parent.bytes.len();
    parent.external(3, 6, &[77]).end(5, sum + 77);
    let mut child = Events::default();
    child.external(3, 6, &[0]).end(5, sum);
    let mut stream = parent.stream();
    stream.parts[0].truncate(at);
    stream.parts.push(child.bytes.clone());
    let mut seen = Seen::default();
    let mut m = Machine::new(&image, &stream);
    assert_eq!(m.run(&mut seen, u64::MAX).unwrap(), Stop::Ended(End::Exit { status: 0 }));
    assert_eq!(seen.0.len(), 3);
    assert_eq!(m.inherited().events, 2);
    run(&image, &parent).unwrap();
}

#[test]
fn a_library_opened_twice_is_one_module() {
    let once = factorial();
    let loaded = once.modules().next().unwrap().1.clone();
    let image = Image::new(std::collections::BTreeMap::from([(1, loaded.clone()), (2, loaded.clone())]));
    assert_eq!((image.canonical(1), image.canonical(2), image.canonical(9)), (1, 1, 9));
    assert_eq!(image.duplicates(), [(2, 0)]);
    // The copy in the object that contains the address is the one that runs, whichever was registered first.
    let at = loaded.addresses[0];
    let (mut library, mut program) = (loaded.clone(), loaded.clone());
    (library.base, program.base) = (at + 0x1000, at - 1);
    let image = Image::new(std::collections::BTreeMap::from([(1, library), (2, program)]));
    assert_eq!(image.duplicates(), [(1, 0)]);
    assert_eq!(image.function_at(at), image.function(2, 0));
    // At other addresses it is a separate function.
    let mut moved = loaded.clone();
    moved.addresses[0] += 0x100;
    let image = Image::new(std::collections::BTreeMap::from([(1, loaded), (2, moved)]));
    assert_eq!(image.canonical(2), 2);
    assert!(image.duplicates().is_empty());
}

#[test]
fn damaged_events_never_panic() {
    let image = calls();
    let mut e = Events::default();
    e.enter(0, 1, &[]).external(3, 6, &[1]).end(5, 0);
    for i in 0..e.bytes.len() {
        for flip in 1..=255u8 {
            let mut bad = Events::default();
            bad.bytes.clone_from(&e.bytes);
            bad.bytes[i] ^= flip;
            let _ = run(&image, &bad);
        }
    }
}

//! Instructions per second of the inner loop, on a hand-made program: a nested
//! loop that sums and rewrites an array through a function call.
//!
//! `cargo run --release -p relapse-replay --example speed`

use program::inst::{Arg, ArgTy, BinOp, Call, Inst, IntPred, Operand, Ty};
use program::model::{Block, Function, Module, Param, Phi, Symbol, SymbolKind};
use recording::event::{Event, Position};
use replay::event_cursor::Stream;
use replay::image::{Image, LoadedModule};
use replay::machine::Machine;
use replay::observer::{Effect, Null, Observer, View};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

const I32: Ty = Ty::Int(32);
const I64: Ty = Ty::Int(64);

fn r(n: u32) -> Operand {
    Operand::Reg(n)
}

fn c(n: u64) -> Operand {
    Operand::Const(n)
}

fn function(
    symbol: u32,
    first_site: u32,
    params: u32,
    slots: u32,
    blocks: Vec<(Vec<Phi>, Vec<Inst>)>,
) -> Function {
    let mut code = Vec::new();
    let mut all = Vec::new();
    for (phis, insts) in blocks {
        let start = code.len() as u32;
        code.extend(insts);
        all.push(Block { start, end: code.len() as u32, phis });
    }
    Function {
        name: format!("f{symbol}"),
        symbol,
        params: (0..params).map(|i| Param { ty: ArgTy::Value(I64), reg: i, frame_offset: 0 }).collect(),
        ret: vec![I32],
        result: None,
        variadic: false,
        slots,
        frame_size: 0,
        frame_align: 16,
        first_site,
        code_places: vec![0; code.len()],
        code,
        places: vec![Default::default()],
        blocks: all,
        variables: Vec::new(),
        scopes: Vec::new(),
        bindings: Vec::new(),
        bits: Vec::new(),
        file: 0,
        line: 1,
    }
}

/// `int sum(int *a) { int s = 0; for (i = 0; i < 64; i++) { s += a[i]; a[i] = s ^ i; } return s; }`
fn sum() -> Function {
    function(
        0,
        0,
        1,
        12,
        vec![
            (vec![], vec![Inst::Jump { to: 1 }]),
            (
                vec![
                    Phi { dst: 1, slots: 1, incoming: vec![(0, c(0)), (2, r(8))] },
                    Phi { dst: 2, slots: 1, incoming: vec![(0, c(0)), (2, r(6))] },
                ],
                vec![
                    Inst::Tick,
                    Inst::ICmp { pred: IntPred::Slt, bits: 32, dst: 3, a: r(1), b: c(64) },
                    Inst::Branch { cond: r(3), then: 2, otherwise: 3 },
                ],
            ),
            (
                vec![],
                vec![
                    Inst::Address { dst: 4, base: r(0), index: r(1), index_bits: 32, scale: 4, offset: 0 },
                    Inst::Load { dst: 5, addr: r(4), ty: I32 },
                    Inst::Bin { op: BinOp::Add, bits: 32, dst: 6, a: r(2), b: r(5) },
                    Inst::Bin { op: BinOp::Xor, bits: 32, dst: 7, a: r(6), b: r(1) },
                    Inst::Store { addr: r(4), value: r(7), ty: I32 },
                    Inst::Bin { op: BinOp::Add, bits: 32, dst: 8, a: r(1), b: c(1) },
                    Inst::Jump { to: 1 },
                ],
            ),
            (vec![], vec![Inst::Return { value: Some(r(2)), ret: vec![I32] }]),
        ],
    )
}

/// `for (i = 0; i < n; i++) sum(a + (i & 31));`
fn outer(first_site: u32) -> Function {
    let call = Call {
        callee: Operand::Symbol { symbol: 0, offset: 0 },
        args: vec![Arg { value: r(4), ty: ArgTy::Value(I64) }],
        dst: 5,
        ret: vec![I32],
        variadic: None,
        returns_twice: false,
    };
    function(
        1,
        first_site,
        1,
        12,
        vec![
            (vec![], vec![Inst::Jump { to: 1 }]),
            (
                vec![Phi { dst: 1, slots: 1, incoming: vec![(0, c(0)), (2, r(6))] }],
                vec![
                    Inst::Tick,
                    Inst::ICmp { pred: IntPred::Ult, bits: 64, dst: 2, a: r(1), b: r(0) },
                    Inst::Branch { cond: r(2), then: 2, otherwise: 3 },
                ],
            ),
            (
                vec![],
                vec![
                    Inst::Bin { op: BinOp::And, bits: 64, dst: 3, a: r(1), b: c(31) },
                    Inst::Address {
                        dst: 4,
                        base: Operand::Symbol { symbol: 2, offset: 0 },
                        index: r(3),
                        index_bits: 64,
                        scale: 4,
                        offset: 0,
                    },
                    Inst::Call(Box::new(call)),
                    Inst::Bin { op: BinOp::Add, bits: 64, dst: 6, a: r(1), b: c(1) },
                    Inst::Jump { to: 1 },
                ],
            ),
            (vec![], vec![Inst::Return { value: Some(c(0)), ret: vec![I32] }]),
        ],
    )
}

#[derive(Default)]
struct Count {
    steps: u64,
    accesses: u64,
}

impl Observer for Count {
    fn step(&mut self, _: &View<'_>, effect: Effect) {
        self.steps += 1;
        self.accesses += u64::from(effect != Effect::None);
    }
}

fn main() {
    let inner = sum();
    let first = inner.code.len() as u32;
    let module = Module {
        name: "speed.c".to_owned(),
        symbols: vec![
            Symbol { name: "f0".to_owned(), kind: SymbolKind::Function(0) },
            Symbol { name: "f1".to_owned(), kind: SymbolKind::Function(1) },
            Symbol { name: "a".to_owned(), kind: SymbolKind::ExternalData },
        ],
        functions: vec![inner, outer(first)],
        ..Module::default()
    };
    let loaded =
        LoadedModule { model: Arc::new(module), addresses: vec![0x1000, 0x2000, 0x60_0000], base: 0 };
    let image = Image::new(BTreeMap::from([(1, loaded)]));
    let mut bytes = vec![0; 64];
    let slots = [1_000_000_000];
    let enter =
        Event::Enter { module: 1, function: 1, slots: recording::Slots::Plain(&slots), inside: false };
    let n =
        recording::Encoder::new().encode(&mut bytes, Position::without_site(0, None), &enter).unwrap_or(0);
    bytes.truncate(n);
    let stream = Stream { parts: vec![bytes], initial_stack: 1 << 40, time: u64::MAX, ..Stream::default() };
    for _ in 0..3 {
        measure("nothing watched", &image, &stream, &mut Null);
    }
    measure("every step watched", &image, &stream, &mut Count::default());
}

fn measure<O: Observer>(name: &str, image: &Image, stream: &Stream, observer: &mut O) {
    let mut m = Machine::new(image, stream);
    let start = Instant::now();
    let stop = m.run(observer, 300_000_000);
    let seconds = start.elapsed().as_secs_f64();
    let rate = m.counters().instructions as f64 / seconds / 1e6;
    println!("{name}: {rate:.0} million instructions a second ({stop:?})");
}

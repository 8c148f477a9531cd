//! Generated modules for tests: valid, and with every kind of instruction.

pub mod mutate;

use mutate::Mutator;
use program::inst::{
    Arg, ArgTy, BinOp, Call, CastOp, FloatKind, FloatOp, FloatPred, Inst, IntPred, Operand, Pure, RmwOp,
    Source, Ty,
};
use program::model::{
    Binding, BitAccess, Block, Function, Home, Member, Module, Opaque, Param, Phi, Place, Scope, Symbol,
    SymbolKind, Type, TypeKind, Variable,
};

const SLOTS: u32 = 24;
const FRAME: u64 = 128;

/// A module that is different for each seed.
pub fn module(seed: u64) -> Module {
    let mut random = Mutator::new(seed);
    let mut module = Module {
        id: random.next().to_le_bytes().repeat(2).try_into().unwrap(),
        name: "list.c".into(),
        files: vec!["list.c".into(), "/usr/include/stdio.h".into()],
        file_hashes: vec![0x1234_5678_9abc_def0, 0],
        directory: "/src".into(),
        initial: vec![(1, 0)],
        symbols: vec![
            Symbol { name: "printf".into(), kind: SymbolKind::External },
            Symbol { name: "head".into(), kind: SymbolKind::Data { size: 8, ty: Some(2), line: 3, file: 0 } },
            Symbol { name: "stdout".into(), kind: SymbolKind::ExternalData },
            Symbol { name: "errno_copy".into(), kind: SymbolKind::ThreadLocal { size: 4, ty: Some(0) } },
        ],
        types: types(),
        functions: Vec::new(),
        opaque: vec![Opaque { name: "vectors".into(), reason: "a vector type".into() }],
    };
    for i in 0..1 + random.below(3) as u32 {
        let symbol = module.symbols.len() as u32;
        module.symbols.push(Symbol { name: format!("f{i}"), kind: SymbolKind::Function(i) });
        let first_site = module.functions.last().map_or(0, |f| f.first_site + f.code.len() as u32);
        module.functions.push(function(&mut random, symbol, first_site, format!("f{i}")));
    }
    module
}

fn types() -> Vec<Type> {
    let ty = |name: &str, size, kind| Type { name: name.into(), size, kind };
    let member =
        |name: &str, bit_offset, bits, ty| Member { name: name.into(), bit_offset, bits, ty: Some(ty) };
    vec![
        ty("int", 4, TypeKind::Signed),
        ty(
            "node",
            16,
            TypeKind::Record {
                union: false,
                members: vec![member("value", 0, 32, 0), member("next", 64, 64, 2)],
            },
        ),
        ty("", 8, TypeKind::Pointer { to: Some(1) }),
        ty("table", 64, TypeKind::Array { of: Some(1), count: 4 }),
        ty("node_t", 16, TypeKind::Alias { of: Some(1) }),
        ty("colour", 4, TypeKind::Enum { values: vec![("red".into(), 0), ("blue".into(), -1)] }),
        ty("char", 1, TypeKind::Char { signed: true }),
        ty("", 0, TypeKind::Pointer { to: None }),
    ]
}

fn function(random: &mut Mutator, symbol: u32, first_site: u32, name: String) -> Function {
    let count = 1 + random.below(6) as u32;
    let terminators: Vec<Inst> = (0..count).map(|_| terminator(random, count)).collect();
    let mut code = Vec::new();
    let mut blocks = Vec::new();
    for (i, terminator) in terminators.iter().enumerate() {
        let start = code.len() as u32;
        let mut from: Vec<u32> =
            (0..count).filter(|p| terminators[*p as usize].successors().contains(&(i as u32))).collect();
        from.dedup();
        let phis = if i == 0 { 0 } else { random.below(3) };
        let phis = (0..phis)
            .map(|_| {
                let slots = 1 + random.below(2) as u32;
                let incoming = from
                    .iter()
                    .map(|p| (*p, if slots == 1 { operand(random) } else { Operand::Reg(reg(random)) }))
                    .collect();
                Phi { dst: reg(random), slots, incoming }
            })
            .collect();
        for _ in 0..random.below(12) {
            code.push(instruction(random));
        }
        code.push(terminator.clone());
        blocks.push(Block { start, end: code.len() as u32, phis });
    }
    let places =
        vec![Place::default(), Place { file: 0, line: 7, column: 3 }, Place { file: 1, line: 9, column: 0 }];
    let mut bindings: Vec<Binding> = (0..random.below(6))
        .map(|_| Binding {
            at: random.below(code.len()) as u32,
            variable: random.below(2) as u32,
            home: match random.below(4) {
                0 => Home::Value(operand(random), ty(random)),
                1 => Home::Memory(operand(random), 8),
                2 => Home::Frame(random.below(FRAME as usize) as u64),
                _ => Home::Nowhere,
            },
            part: (random.below(3) == 0).then_some((32, 32)),
        })
        .collect();
    bindings.sort_by_key(|b| b.at);
    let end = code.len() as u32;
    let scopes = vec![Scope { ranges: if end > 4 { vec![(0, 1), (3, end)] } else { vec![] } }];
    let fields = code.iter().enumerate().filter_map(|(at, inst)| {
        let value = match inst {
            Inst::Load { ty: Ty::Int(..=64), .. } => None,
            Inst::Store { ty: Ty::Int(..=64), value, .. } => Some(*value),
            _ => return None,
        };
        Some(BitAccess { at: at as u32, mask: 0x38, value })
    });
    let bits = fields.collect();
    Function {
        name,
        symbol,
        params: vec![
            Param { ty: ArgTy::Value(Ty::Ptr), reg: 0, frame_offset: 0 },
            Param { ty: ArgTy::ByVal { size: 24, align: 8 }, reg: 1, frame_offset: 32 },
            Param { ty: ArgTy::Value(Ty::Float(FloatKind::F80)), reg: 2, frame_offset: 0 },
        ],
        ret: vec![Ty::Int(32)],
        result: Some(0),
        variadic: random.below(2) == 0,
        slots: SLOTS,
        frame_size: FRAME,
        frame_align: 16,
        first_site,
        code_places: code.iter().map(|_| random.below(places.len()) as u32).collect(),
        code,
        places,
        blocks,
        variables: vec![
            Variable { name: "list".into(), ty: Some(2), file: 0, line: 6, arg: 1, scope: None },
            Variable { name: "i".into(), ty: Some(0), file: 0, line: 7, arg: 0, scope: Some(0) },
        ],
        scopes,
        bindings,
        bits,
        file: 0,
        line: 6,
    }
}

/// A register that leaves room for values of three slots.
fn reg(random: &mut Mutator) -> u32 {
    random.below(SLOTS as usize - 2) as u32
}

fn operand(random: &mut Mutator) -> Operand {
    match random.below(4) {
        0 => Operand::Const(random.next() >> random.below(64)),
        1 => Operand::Symbol { symbol: random.below(4) as u32, offset: random.below(32) as i64 - 16 },
        _ => Operand::Reg(reg(random)),
    }
}

fn ty(random: &mut Mutator) -> Ty {
    let all = [
        Ty::Int(1),
        Ty::Int(8),
        Ty::Int(32),
        Ty::Int(64),
        Ty::Int(128),
        Ty::Ptr,
        Ty::Float(FloatKind::F32),
        Ty::Float(FloatKind::F64),
        Ty::Float(FloatKind::F80),
    ];
    all[random.below(all.len())]
}

fn terminator(random: &mut Mutator, blocks: u32) -> Inst {
    let mut block = || random.below(blocks as usize) as u32;
    let (a, b, c) = (block(), block(), block());
    match random.below(6) {
        0 => Inst::Jump { to: a },
        1 => Inst::Branch { cond: operand(random), then: a, otherwise: b },
        2 => Inst::Switch {
            bits: 32,
            value: operand(random),
            default: a,
            cases: vec![(1, b), (u64::MAX, c), (5, b)],
        },
        3 => Inst::Trap,
        4 => Inst::Unreachable,
        _ => Inst::Return { value: Some(operand(random)), ret: vec![Ty::Int(32)] },
    }
}

fn instruction(random: &mut Mutator) -> Inst {
    let dst = reg(random);
    let (a, b, c) = (operand(random), operand(random), operand(random));
    let any = ty(random);
    let bits = [1, 8, 32, 64, 128][random.below(5)];
    match random.below(26) {
        0 => Inst::Bin { op: BinOp::AShr, bits, dst, a, b },
        1 => Inst::Float { op: FloatOp::Rem, kind: FloatKind::F80, dst, a, b },
        2 => Inst::ICmp { pred: IntPred::Ule, bits, dst, a, b },
        3 => Inst::FCmp { pred: FloatPred::Une, kind: FloatKind::F32, dst, a, b },
        4 => Inst::Cast { op: CastOp::Sext, from: Ty::Int(8), to: Ty::Int(128), dst, a },
        5 => Inst::Pure { op: Pure::UMulOverflow, ty: Ty::Int(bits), dst, args: vec![a, b] },
        6 => Inst::Pure { op: Pure::FpClass, ty: Ty::Float(FloatKind::F80), dst, args: vec![a, b] },
        7 => Inst::Select { slots: 2, dst, cond: a, a: Operand::Reg(reg(random)), b: Operand::Reg(dst) },
        8 => Inst::Copy { dst, a },
        9 => Inst::Address { dst, base: a, index: b, index_bits: 32, scale: -4, offset: 12 },
        10 => Inst::Frame { dst, offset: random.below(FRAME as usize) as u64 },
        11 => Inst::Alloca { dst, size: a, align: 16 },
        12 => Inst::StackSave { dst },
        13 => Inst::StackRestore { a },
        14 => Inst::Load { dst, addr: a, ty: any },
        15 => Inst::Store { addr: a, value: b, ty: any },
        16 => Inst::Rmw { op: RmwOp::Nand, dst, addr: a, value: b, ty: Ty::Int(64) },
        17 => Inst::CmpXchg { dst, addr: a, expected: b, new: c, ty: Ty::Int(128) },
        18 => Inst::Fence,
        19 => Inst::MemCopy { to: a, from: b, len: c },
        20 => Inst::MemSet { to: a, byte: b, len: c },
        21 => Inst::Call(Box::new(Call {
            callee: Operand::Symbol { symbol: 0, offset: 0 },
            args: vec![
                Arg { value: a, ty: ArgTy::Value(Ty::Ptr) },
                Arg { value: b, ty: ArgTy::ByVal { size: 40, align: 8 } },
                Arg { value: c, ty: ArgTy::Value(any) },
            ],
            dst,
            ret: vec![Ty::Int(32), Ty::Float(FloatKind::F64)],
            variadic: Some(1),
            returns_twice: random.below(2) == 0,
        })),
        22 => Inst::VaStart { list: a },
        23 => Inst::VaCopy { to: a, from: b },
        24 => Inst::ThreadLocal { dst, symbol: 3 },
        _ => Inst::Unknown {
            dst,
            ret: vec![Ty::Int(64)],
            args: vec![a],
            source: Box::new(Source::Asm("rdtsc \"quoted\"".into())),
        },
    }
}

/// Applies every reader of a module.
pub fn use_everything(module: &Module) -> usize {
    let mut seen = module.to_string().len();
    for function in &module.functions {
        let graph = program::cfg::Graph::of(function);
        seen += graph.dominators().immediate(1).map_or(0, |d| d as usize);
        seen += graph.control_dependence().len() + graph.loops().len();
        for (index, inst) in function.code.iter().enumerate() {
            let site = function.first_site + index as u32;
            seen += module.function_at(site).map_or(0, |(_, found)| found);
            seen += function.place(index).line as usize;
            inst.for_each_use(|_, slots| seen += slots as usize);
            // Properties that replay relies on.
            if let Some((dst, slots)) = inst.defines() {
                assert!(dst + slots <= function.slots);
            }
        }
    }
    for file in 0..3 {
        seen += module.file_path(file).len();
    }
    seen
}

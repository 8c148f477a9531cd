//! Violates each property that `Module::validate` guarantees, one at a time.

use crate::common;
use program::inst::{Arg, ArgTy, CastOp, FloatKind, Inst, Operand, Pure, Ty};
use program::model::{Binding, BitAccess, Home, Module, Phi, Scope, SymbolKind, Type, TypeKind};

/// A module whose first function has a loop with a phi: b0 -> b1 -> b1, b2.
fn base() -> Module {
    let mut module = common::module(3);
    let jump = |to| Inst::Jump { to };
    let f = &mut module.functions[0];
    let mut template = f.blocks[0].clone();
    template.phis.clear();
    let block = |start, end| {
        let mut b = template.clone();
        (b.start, b.end) = (start, end);
        b
    };
    f.blocks = vec![block(0, 2), block(2, 4), block(4, 5)];
    f.blocks[1].phis =
        vec![Phi { dst: 5, slots: 1, incoming: vec![(0, Operand::Const(1)), (1, Operand::Reg(5))] }];
    f.code = vec![
        Inst::Copy { dst: 4, a: Operand::Const(0) },
        jump(1),
        Inst::Tick,
        Inst::Branch { cond: Operand::Reg(4), then: 1, otherwise: 2 },
        Inst::Return { value: Some(Operand::Reg(5)), ret: vec![Ty::Int(32)] },
    ];
    f.code_places = vec![0; 5];
    f.bindings.clear();
    f.bits.clear();
    f.scopes = vec![Scope { ranges: vec![(0, 2), (3, 5)] }];
    module.functions.truncate(1);
    module.symbols.retain(|s| !matches!(s.kind, SymbolKind::Function(i) if i > 0));
    module
}

#[track_caller]
fn refused(expected: &str, change: impl FnOnce(&mut Module)) {
    let mut module = base();
    change(&mut module);
    let error = module.validate().expect_err(expected).to_string();
    assert!(error.contains(expected), "{error:?} should say {expected:?}");
}

#[track_caller]
fn refused_inst(expected: &str, inst: Inst) {
    refused(expected, |m| m.functions[0].code[0] = inst);
}

#[test]
fn generated_modules_are_sound() {
    base().validate().unwrap();
    for seed in 0..300 {
        let module = common::module(seed);
        module.validate().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(common::use_everything(&module) > 0);
    }
}

#[test]
fn blocks() {
    refused("no blocks", |m| m.functions[0].blocks.clear());
    refused("block 1", |m| m.functions[0].blocks[1].start = 3);
    refused("block 1", |m| m.functions[0].blocks[1].end = 2);
    refused("block 2", |m| m.functions[0].blocks[2].end = 50);
    refused("only terminator", |m| m.functions[0].code[3] = Inst::Tick);
    refused("only terminator", |m| m.functions[0].code[2] = Inst::Trap);
    refused("goes to block 3", |m| m.functions[0].code[1] = Inst::Jump { to: 3 });
    refused("after the last block", |m| {
        m.functions[0].code.push(Inst::Trap);
        m.functions[0].code_places.push(0);
    });
}

#[test]
fn phis() {
    refused("entered from [0, 1]", |m| m.functions[0].blocks[1].phis[0].incoming.truncate(1));
    refused("entered from", |m| m.functions[0].blocks[1].phis[0].incoming.push((2, Operand::Const(0))));
    refused("registers", |m| m.functions[0].blocks[1].phis[0].dst = 24);
    refused("slots in", |m| m.functions[0].blocks[1].phis[0].slots = 2);
    refused("no slots", |m| m.functions[0].blocks[1].phis[0].slots = 0);
    refused("entry block", |m| {
        let phi = Phi { dst: 0, slots: 1, incoming: vec![] };
        m.functions[0].blocks[0].phis.push(phi);
    });
}

#[test]
fn instructions() {
    let c = Operand::Const(0);
    let int = |bits, dst| Inst::Bin { op: program::inst::BinOp::Add, bits, dst, a: c, b: c };
    refused_inst("registers 24..25 of 24", int(32, 24));
    refused_inst("registers 23..25 of 24", int(65, 23));
    refused_inst("0 bits", int(0, 1));
    refused_inst("129 bits", int(129, 1));
    refused_inst("registers", Inst::Copy { dst: 0, a: Operand::Reg(u32::MAX) });
    refused_inst("no symbol 99", Inst::Copy { dst: 0, a: Operand::Symbol { symbol: 99, offset: 0 } });
    refused_inst("no symbol 99", Inst::ThreadLocal { dst: 0, symbol: 99 });
    refused_inst("frame offset", Inst::Frame { dst: 0, offset: 129 });
    refused_inst("alignment 3", Inst::Alloca { dst: 0, size: c, align: 3 });
    refused_inst("alignment 0", Inst::Alloca { dst: 0, size: c, align: 0 });
    refused_inst("registers", Inst::Store { addr: c, value: Operand::Reg(23), ty: Ty::Int(128) });
    refused_inst("registers", Inst::CmpXchg { dst: 22, addr: c, expected: c, new: c, ty: Ty::Int(128) });
    refused_inst(
        "long double",
        Inst::CmpXchg { dst: 0, addr: c, expected: c, new: c, ty: Ty::Float(FloatKind::F80) },
    );
    refused_inst("Trunc", Inst::Cast { op: CastOp::Trunc, from: Ty::Int(8), to: Ty::Int(9), dst: 0, a: c });
    refused_inst("SiToFp", Inst::Cast { op: CastOp::SiToFp, from: Ty::Ptr, to: Ty::Ptr, dst: 0, a: c });
    refused_inst("Fshl of 2", Inst::Pure { op: Pure::Fshl, ty: Ty::Int(8), dst: 0, args: vec![c, c] });
    refused_inst("Sqrt of Int(8)", Inst::Pure { op: Pure::Sqrt, ty: Ty::Int(8), dst: 0, args: vec![c] });
    refused_inst("Bswap", Inst::Pure { op: Pure::Bswap, ty: Ty::Int(9), dst: 0, args: vec![c] });
    refused_inst("slots in", Inst::Select { slots: 2, dst: 0, cond: c, a: c, b: c });
    let call = |args, ret, variadic| {
        let (callee, dst, returns_twice) = (Operand::Symbol { symbol: 0, offset: 0 }, 0, false);
        Inst::Call(Box::new(program::inst::Call { callee, args, dst, ret, variadic, returns_twice }))
    };
    refused_inst("fixed parameters", call(vec![], vec![], Some(1)));
    refused_inst("result of 256", call(vec![], vec![Ty::Ptr; 256], None));
    refused_inst(
        "alignment",
        call(vec![Arg { value: c, ty: ArgTy::ByVal { size: 1, align: 6 } }], vec![], None),
    );
    refused("promised", |m| m.functions[0].code[4] = Inst::Return { value: None, ret: vec![] });
    refused("missing", |m| m.functions[0].code[4] = Inst::Return { value: None, ret: vec![Ty::Ptr] });
}

#[test]
fn functions() {
    refused("register slots", |m| m.functions[0].slots = 1 << 25);
    refused("a frame of", |m| m.functions[0].frame_size = 1 << 41);
    refused("outside the frame", |m| m.functions[0].params[1].frame_offset = 105);
    refused("parameter 2", |m| m.functions[0].params[2].reg = 23);
    refused("alignment", |m| m.functions[0].frame_align = 0);
    refused("its symbol", |m| m.functions[0].symbol = 0);
    refused("no function 7", |m| m.symbols[0].kind = SymbolKind::Function(7));
    refused("too many sites", |m| m.functions[0].first_site = u32::MAX - 3);
    refused("one place", |m| m.functions[0].code_places.truncate(4));
    refused("no place", |m| m.functions[0].code_places[0] = 9);
    refused("no file", |m| m.functions[0].places[1].file = 9);
    refused("sites overlap", |m| {
        let mut again = m.functions[0].clone();
        again.symbol = m.symbols.len() as u32;
        m.symbols.push(program::model::Symbol { name: "g".into(), kind: SymbolKind::Function(1) });
        again.first_site = 2;
        m.functions.push(again);
    });
}

#[test]
fn debug_information() {
    let bind = |at, variable, home| Binding { at, variable, home, part: None };
    refused("no variable", |m| m.functions[0].bindings.push(bind(0, 5, Home::Nowhere)));
    refused("a binding at", |m| m.functions[0].bindings.push(bind(6, 0, Home::Nowhere)));
    refused("registers", |m| m.functions[0].bindings.push(bind(0, 0, Home::Memory(Operand::Reg(30), 0))));
    refused("frame offset", |m| m.functions[0].bindings.push(bind(0, 0, Home::Frame(1 << 50))));
    refused("out of order", |m| {
        m.functions[0].bindings = vec![bind(3, 0, Home::Nowhere), bind(1, 0, Home::Nowhere)];
    });
    refused("no scope 1", |m| m.functions[0].variables[0].scope = Some(1));
    for ranges in [vec![(0, 6)], vec![(2, 2)], vec![(0, 2), (2, 3)], vec![(3, 4), (0, 1)]] {
        refused("ranges of a scope", |m| m.functions[0].scopes[0].ranges = ranges);
    }
    refused("no type 80", |m| m.functions[0].variables[0].ty = Some(80));
    refused("no type 80", |m| m.types[2].kind = TypeKind::Pointer { to: Some(80) });
    refused("no type 80", |m| m.symbols[1].kind = SymbolKind::ThreadLocal { size: 1, ty: Some(80) });
}

#[test]
fn bit_fields() {
    let load = |ty| Inst::Load { dst: 4, addr: Operand::Reg(1), ty };
    let store = |ty| Inst::Store { addr: Operand::Reg(1), value: Operand::Reg(4), ty };
    let access = |at, value| BitAccess { at, mask: 6, value };
    let with = |inst: Inst, bits: Vec<BitAccess>| {
        move |m: &mut Module| {
            m.functions[0].code[0] = inst;
            m.functions[0].bits = bits;
        }
    };
    let mut sound = base();
    with(store(Ty::Int(8)), vec![access(0, Some(Operand::Reg(4)))])(&mut sound);
    sound.validate().unwrap();
    refused("a bit-field at", with(store(Ty::Int(8)), vec![access(0, None)]));
    refused("a bit-field at", with(load(Ty::Int(8)), vec![access(0, Some(Operand::Const(0)))]));
    refused("a bit-field at", with(load(Ty::Int(128)), vec![access(0, None)]));
    refused("a bit-field at", with(load(Ty::Int(8)), vec![access(1, None)]));
    refused("a bit-field at", with(load(Ty::Int(8)), vec![access(9, None)]));
    refused("registers", with(store(Ty::Int(8)), vec![access(0, Some(Operand::Reg(30)))]));
    refused("out of order", with(load(Ty::Int(8)), vec![access(0, None), access(0, None)]));
}

#[test]
fn types_that_contain_themselves() {
    refused("contains itself", |m| m.types[0].kind = TypeKind::Alias { of: Some(0) });
    refused("contains itself", |m| m.types[2].kind = TypeKind::Alias { of: Some(3) });
    refused("nested too deep", |m| {
        for _ in 0..1001 {
            let of = Some(m.types.len() as u32 - 1);
            m.types.push(Type { name: String::new(), size: 1, kind: TypeKind::Array { of, count: 1 } });
        }
    });
}

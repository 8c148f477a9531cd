//! Tests the listing of a module.

use program::inst::{ArgTy, BinOp, Inst, IntPred, Operand, Ty};
use program::model::{
    Binding, Block, Function, Home, Module, Param, Phi, Place, Scope, Symbol, SymbolKind, Type, TypeKind,
    Variable,
};

/// `int sum(int n) { int s = 0; while (n) s += n--; return s; }`
fn sum() -> Module {
    let int = Ty::Int(32);
    let (reg, zero) = (Operand::Reg, Operand::Const(0));
    let block = |start, end, phis| Block { start, end, phis };
    let phi = |dst, first, again| Phi { dst, slots: 1, incoming: vec![(0, first), (2, again)] };
    let place = |line, column| Place { file: 0, line, column };
    let bind = |at, variable, value| Binding { at, variable, home: Home::Value(value, int), part: None };
    let function = Function {
        name: "sum".into(),
        symbol: 0,
        params: vec![Param { ty: ArgTy::Value(int), reg: 0, frame_offset: 0 }],
        ret: vec![int],
        result: None,
        variadic: false,
        slots: 6,
        frame_size: 0,
        frame_align: 16,
        first_site: 100,
        code: vec![
            Inst::Jump { to: 1 },
            Inst::Tick,
            Inst::ICmp { pred: IntPred::Ne, bits: 32, dst: 3, a: reg(1), b: zero },
            Inst::Branch { cond: reg(3), then: 2, otherwise: 3 },
            Inst::Bin { op: BinOp::Add, bits: 32, dst: 4, a: reg(2), b: reg(1) },
            Inst::Bin { op: BinOp::Sub, bits: 32, dst: 5, a: reg(1), b: Operand::Const(1) },
            Inst::Jump { to: 1 },
            Inst::Return { value: Some(reg(2)), ret: vec![int] },
        ],
        code_places: vec![0, 0, 1, 1, 2, 2, 0, 3],
        places: vec![Place::default(), place(3, 10), place(3, 15), place(4, 3)],
        blocks: vec![
            block(0, 1, vec![]),
            block(1, 4, vec![phi(1, reg(0), reg(5)), phi(2, zero, reg(4))]),
            block(4, 7, vec![]),
            block(7, 8, vec![]),
        ],
        variables: vec![
            Variable { name: "n".into(), ty: Some(0), file: 0, line: 1, arg: 1, scope: None },
            Variable { name: "s".into(), ty: Some(0), file: 0, line: 2, arg: 0, scope: Some(0) },
        ],
        scopes: vec![Scope { ranges: vec![(0, 7)] }],
        bindings: vec![bind(0, 0, reg(0)), bind(1, 0, reg(1)), bind(1, 1, reg(2))],
        bits: vec![],
        file: 0,
        line: 1,
    };
    Module {
        id: [0x5a; 16],
        name: "sum.c".into(),
        files: vec!["sum.c".into()],
        file_hashes: vec![7],
        directory: "/src".into(),
        initial: vec![],
        symbols: vec![Symbol { name: "sum".into(), kind: SymbolKind::Function(0) }],
        types: vec![Type { name: "int".into(), size: 4, kind: TypeKind::Signed }],
        functions: vec![function],
        opaque: vec![],
    }
}

const EXPECTED: &str = r#"module "sum.c" 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
directory "/src"
file 0 "sum.c"
symbol 0 @sum function
type 0 "int", 4 bytes, signed

function @sum(i32 r0) -> i32  ; sum.c:1
  6 slots, sites from 100
  parameter 1 n: int  ; sum.c:1
  variable s: int in scope 0  ; sum.c:2
  scope 0: 100..107
b0:
          ; n is i32 r0
     100  jump b1
b1:
          r1 = phi b0: r0, b2: r5
          r2 = phi b0: 0, b2: r4
          ; n is i32 r1
          ; s is i32 r2
     101  tick
     102  r3 = icmp.ne.i32 r1, 0  ; sum.c:3:10
     103  branch r3, b2, b3  ; sum.c:3:10
b2:
     104  r4 = add.i32 r2, r1  ; sum.c:3:15
     105  r5 = sub.i32 r1, 1  ; sum.c:3:15
     106  jump b1
b3:
     107  return i32 r2  ; sum.c:4:3

"#;

#[test]
fn a_function_reads_like_this() {
    let module = sum();
    module.validate().unwrap();
    assert_eq!(module.to_string(), EXPECTED);
}

#[test]
fn nameless_types_are_spelt_out() {
    let mut module = sum();
    let mut add = |kind| {
        module.types.push(Type { name: String::new(), size: 8, kind });
        Some(module.types.len() as u32 - 1)
    };
    let pointer = add(TypeKind::Pointer { to: Some(0) });
    let twice = add(TypeKind::Pointer { to: pointer });
    let array = add(TypeKind::Array { of: Some(0), count: 4 });
    let circle = add(TypeKind::Pointer { to: Some(4) });
    assert_eq!(circle, Some(4));
    assert_eq!(module.type_name(pointer), "int *");
    assert_eq!(module.type_name(twice), "int **");
    assert_eq!(module.type_name(array), "int[4]");
    assert_eq!(module.type_name(None), "void");
    assert!(module.type_name(circle).starts_with("type 4 *"));
    assert_eq!(module.type_name(Some(77)), "type 77");
}

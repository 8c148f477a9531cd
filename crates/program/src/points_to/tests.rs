use super::*;
use crate::inst::{Arg, ArgTy, Call, Reg, Ty};
use crate::mod_summaries::{ModSummaries, Target};
use crate::model::{Block, Function, Module, Param, Symbol, SymbolKind};
use crate::objects::{LIBRARY, OUTSIDE};
use crate::outside::Nothing;
use proptest::prelude::*;

const SLOTS: u32 = 6;
const DATA: u32 = 3;

/// Functions of six registers, the first of which is the parameter. Symbols are the functions, then
/// variables of 16 bytes.
fn module(functions: Vec<Vec<Inst>>) -> (Module, Vec<u64>) {
    let count = functions.len() as u32;
    let mut module = Module::default();
    for (f, mut code) in functions.into_iter().enumerate() {
        code.push(Inst::Return { value: Some(Operand::Reg(5)), ret: vec![Ty::Ptr] });
        module.symbols.push(Symbol { name: format!("f{f}"), kind: SymbolKind::Function(f as u32) });
        module.functions.push(Function {
            name: format!("f{f}"),
            symbol: f as u32,
            params: vec![Param { ty: ArgTy::Value(Ty::Ptr), reg: 0, frame_offset: 0 }],
            ret: vec![Ty::Ptr],
            result: None,
            variadic: false,
            slots: SLOTS,
            frame_size: 32,
            frame_align: 16,
            first_site: 0,
            code_places: vec![0; code.len()],
            blocks: vec![Block { start: 0, end: code.len() as u32, phis: vec![] }],
            code,
            places: vec![],
            variables: vec![],
            scopes: vec![],
            bindings: vec![],
            bits: vec![],
            file: 0,
            line: 0,
        });
    }
    for d in 0..DATA {
        let kind = SymbolKind::Data { size: 16, ty: None, line: 0, file: 0 };
        module.symbols.push(Symbol { name: format!("d{d}"), kind });
    }
    let addresses = (0..count + DATA).map(|s| 0x1000 + 0x10 * u64::from(s)).collect();
    (module, addresses)
}

fn call(dst: Reg, callee: Operand, arg: Reg) -> Inst {
    Inst::Call(Box::new(Call {
        callee,
        args: vec![Arg { value: Operand::Reg(arg), ty: ArgTy::Value(Ty::Ptr) }],
        dst,
        ret: vec![Ty::Ptr],
        variadic: None,
        returns_twice: false,
    }))
}

fn inst() -> impl Strategy<Value = Inst> {
    let reg = || 0..SLOTS;
    let functions = 2;
    prop_oneof![
        (reg(), 0..functions + DATA)
            .prop_map(|(dst, symbol)| Inst::Copy { dst, a: Operand::Symbol { symbol, offset: 0 } }),
        (reg(), reg()).prop_map(|(dst, r)| Inst::Copy { dst, a: Operand::Reg(r) }),
        (reg(), 0u64..2).prop_map(|(dst, k)| Inst::Frame { dst, offset: 16 * k }),
        (reg(), reg(), -8i64..16).prop_map(|(dst, r, offset)| Inst::Address {
            dst,
            base: Operand::Reg(r),
            index: Operand::Const(0),
            index_bits: 64,
            scale: 1,
            offset,
        }),
        (reg(), reg()).prop_map(|(dst, r)| Inst::Load { dst, addr: Operand::Reg(r), ty: Ty::Ptr }),
        (reg(), reg()).prop_map(|(a, v)| Inst::Store {
            addr: Operand::Reg(a),
            value: Operand::Reg(v),
            ty: Ty::Ptr
        }),
        (reg(), 0..functions, reg()).prop_map(|(dst, f, arg)| call(
            dst,
            Operand::Symbol { symbol: f, offset: 0 },
            arg
        )),
        (reg(), reg(), reg()).prop_map(|(dst, f, arg)| call(dst, Operand::Reg(f), arg)),
    ]
}

/// Points-to sets of the naive analysis.
type Set = BTreeSet<(ObjectId, Option<u64>)>;

/// Sets computed by iterating over all instructions: of registers, results, values stored at any
/// offset of an object, and values stored in eight bytes of it.
type Naive = BTreeMap<(u8, u32, u64), Set>;

/// The values that a load at a target may read.
fn read(sets: &Naive, (object, offset): (ObjectId, Option<u64>)) -> Set {
    let mut all = sets.get(&(2, object, 0)).cloned().unwrap_or_default();
    for ((kind, o, field), set) in sets {
        let here = offset.is_none_or(|at| at < 8 * field + 8 && at + 8 > 8 * field);
        if (*kind, *o) == (3, object) && here {
            all.extend(set);
        }
    }
    all
}

fn write(sets: &mut Naive, (object, offset): (ObjectId, Option<u64>), value: &Set) {
    match offset {
        None => sets.entry((2, object, 0)).or_default().extend(value),
        Some(at) => {
            for field in at / 8..=at.div_ceil(8) {
                sets.entry((3, object, field)).or_default().extend(value);
            }
        }
    }
}

fn naive(whole: &LinkedProgram<'_>, objects: &Objects) -> Naive {
    let mut sets = Naive::new();
    for f in 0..whole.functions() {
        sets.entry((0, f, 0)).or_default().insert((OUTSIDE, None));
    }
    sets.entry((2, OUTSIDE, 0)).or_default().insert((OUTSIDE, None));
    sets.entry((2, LIBRARY, 0)).or_default().insert((LIBRARY, None));
    let anywhere = |set: &Set| -> Set { set.iter().map(|(o, _)| (*o, None)).collect() };
    loop {
        let before: usize = sets.values().map(BTreeSet::len).sum();
        let get = |sets: &Naive, key| sets.get(&key).cloned().unwrap_or_default();
        // Outside values may be stored at any address known outside, and vice versa.
        for at in anywhere(&get(&sets, (2, OUTSIDE, 0))) {
            let (content, outside) = (read(&sets, at), get(&sets, (2, OUTSIDE, 0)));
            sets.entry((2, OUTSIDE, 0)).or_default().extend(content);
            write(&mut sets, at, &outside);
        }
        for f in 0..whole.functions() {
            let reg = |r: Reg| (0, f, u64::from(r));
            for inst in &whole.function(f).code {
                match inst {
                    Inst::Copy { dst, a: Operand::Reg(r) } => {
                        let from = get(&sets, reg(*r));
                        sets.entry(reg(*dst)).or_default().extend(from);
                    }
                    Inst::Address { dst, base: Operand::Reg(r), offset: by, .. } => {
                        let moved = |(object, at): (ObjectId, Option<u64>)| {
                            let to = at.map(|at| at.wrapping_add_signed(*by));
                            (object, to.filter(|to| *to <= objects.size(object).unwrap_or(1 << 16)))
                        };
                        let from: Set = get(&sets, reg(*r)).into_iter().map(moved).collect();
                        sets.entry(reg(*dst)).or_default().extend(from);
                    }
                    Inst::Copy { dst, a: Operand::Symbol { symbol, .. } } => {
                        let object = match symbol {
                            0 | 1 => Object::Code { function: *symbol },
                            s => Object::Data { address: 0x1000 + 0x10 * u64::from(*s), size: 16 },
                        };
                        let object = objects.find(&object).expect("an object");
                        sets.entry(reg(*dst)).or_default().insert((object, Some(0)));
                    }
                    Inst::Frame { dst, offset } => {
                        let (object, at) = objects.in_frame(whole, f, *offset).expect("a variable");
                        sets.entry(reg(*dst)).or_default().insert((object, Some(at)));
                    }
                    Inst::Load { dst, addr: Operand::Reg(r), .. } => {
                        for at in get(&sets, reg(*r)) {
                            let content = read(&sets, at);
                            sets.entry(reg(*dst)).or_default().extend(content);
                        }
                    }
                    Inst::Store { addr: Operand::Reg(r), value: Operand::Reg(v), .. } => {
                        let value = get(&sets, reg(*v));
                        for at in get(&sets, reg(*r)) {
                            write(&mut sets, at, &value);
                        }
                    }
                    Inst::Return { .. } => {
                        let value = get(&sets, reg(5));
                        sets.entry((1, f, 0)).or_default().extend(value);
                    }
                    Inst::Call(c) => {
                        let Operand::Reg(arg) = c.args[0].value else { continue };
                        let given = get(&sets, reg(arg));
                        let mut functions: Vec<u32> = Vec::new();
                        let mut unknown = false;
                        match c.callee {
                            Operand::Symbol { symbol, .. } => functions.push(symbol),
                            Operand::Reg(r) => {
                                for (callee, _) in get(&sets, reg(r)) {
                                    match objects.get(callee) {
                                        Object::Code { function } => functions.push(*function),
                                        Object::Outside => unknown = true,
                                        _ => {}
                                    }
                                }
                            }
                            Operand::Const(_) => {}
                        }
                        for g in functions {
                            sets.entry((0, g, 0)).or_default().extend(&given);
                            let result = get(&sets, (1, g, 0));
                            sets.entry(reg(c.dst)).or_default().extend(result);
                        }
                        if unknown {
                            sets.entry((2, OUTSIDE, 0)).or_default().extend(&given);
                            let outside = get(&sets, (2, OUTSIDE, 0));
                            sets.entry(reg(c.dst)).or_default().extend(outside);
                            for (o, _) in given.clone() {
                                if let Object::Code { function } = objects.get(o) {
                                    for at in anywhere(&given) {
                                        let content = read(&sets, at);
                                        let param = sets.entry((0, *function, 0)).or_default();
                                        param.insert(at);
                                        param.extend(content);
                                    }
                                }
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        if sets.values().map(BTreeSet::len).sum::<usize>() == before {
            return sets;
        }
    }
}

proptest! {
    /// Compares Andersen's analysis with naive iteration to a fixpoint. Steensgaard's sets must be
    /// supersets.
    #[test]
    fn pointers_are_what_going_through_everything_finds(
        functions in proptest::collection::vec(proptest::collection::vec(inst(), 1..8), 2..=2)
    ) {
        let (module, addresses) = module(functions);
        let whole = LinkedProgram::new([(&module, &addresses[..])]);
        let andersen = PointsTo::compute(&whole, &Nothing, Precision::Andersen, &[0, 1]);
        let steensgaard = PointsTo::compute(&whole, &Nothing, Precision::Steensgaard, &[0, 1]);
        let naive = naive(&whole, andersen.objects());
        let places_of = |p: &PointsTo, f: u32, r: Reg| -> BTreeSet<Place> {
            let instances = (0..p.instances()).filter(|i| p.function(*i) == f);
            instances.flat_map(|i| p.of(i, Operand::Reg(r), 0).to_vec()).collect()
        };
        let objects_of = |p: &PointsTo, f: u32, r: Reg| -> BTreeSet<Object> {
            places_of(p, f, r).iter().map(|x| p.objects().get(x.object).clone()).collect()
        };
        for f in 0..2 {
            for r in 0..SLOTS {
                let set = naive.get(&(0, f, r.into())).cloned().unwrap_or_default();
                let object = |(o, _): &(ObjectId, _)| andersen.objects().get(*o).clone();
                let expected: BTreeSet<Object> = set.iter().map(object).collect();
                // "Any offset" of an object subsumes all its offsets.
                let kept = set.iter().filter(|(o, at)| at.is_none() || !set.contains(&(*o, None)));
                let places = kept.map(|(object, offset)| Place { object: *object, offset: *offset });
                // The cloned analysis separates call sites that the naive one merges.
                if andersen.instances() == 2 {
                    prop_assert_eq!(places_of(&andersen, f, r), places.collect(), "f{} r{}", f, r);
                    prop_assert!(objects_of(&steensgaard, f, r).is_superset(&expected), "f{} r{}", f, r);
                } else {
                    prop_assert!(objects_of(&andersen, f, r).is_subset(&expected), "f{} r{}", f, r);
                }
            }
        }
    }
}

/// A program that exceeds the work limit gets the coarser precision, and the result reports it.
#[test]
fn too_much_work_is_left_to_the_coarser_precision() {
    let copy = |dst, symbol| Inst::Copy { dst, a: Operand::Symbol { symbol, offset: 0 } };
    let moved = |dst, r| Inst::Copy { dst, a: Operand::Reg(r) };
    // Two variables flow to one register, and one of them also to another.
    let (module, addresses) =
        module(vec![vec![copy(1, 1), copy(2, 2), moved(3, 1), moved(3, 2), moved(4, 1)]]);
    let whole = LinkedProgram::new([(&module, &addresses[..])]);
    let within = |most| {
        let limits = Limits { most, stop: None };
        PointsTo::within(&whole, &Nothing, Precision::Andersen, &[0], limits).0
    };
    let (exact, bounded) = (within(u64::MAX), within(0));
    let steensgaard = PointsTo::compute(&whole, &Nothing, Precision::Steensgaard, &[0]);
    assert!(!exact.is_coarse() && bounded.is_coarse() && !steensgaard.is_coarse());
    let of = |p: &PointsTo, r: Reg| p.of(0, Operand::Reg(r), 0).to_vec();
    for r in 0..SLOTS {
        assert_eq!(of(&bounded, r), of(&steensgaard, r), "r{r}");
    }
    assert_eq!((of(&exact, 3).len(), of(&exact, 4).len()), (2, 1));
    assert_eq!(of(&bounded, 4).len(), 2);
}

/// A set flag ends the analysis of either precision without a result.
#[test]
fn an_analysis_that_is_stopped_has_no_result() {
    let copy = |dst, symbol| Inst::Copy { dst, a: Operand::Symbol { symbol, offset: 0 } };
    let (module, addresses) = module(vec![vec![copy(1, 1)]]);
    let whole = LinkedProgram::new([(&module, &addresses[..])]);
    for precision in [Precision::Andersen, Precision::Steensgaard] {
        let until = |stop: &AtomicBool| {
            let pointers = PointsTo::compute_until(&whole, &Nothing, precision, &[0], Some(stop));
            let may = ModSummaries::compute(&whole, &Nothing, precision, &[0], Some(stop));
            (pointers.is_some(), may.is_some())
        };
        assert_eq!(until(&AtomicBool::new(false)), (true, true), "{precision:?}");
        assert_eq!(until(&AtomicBool::new(true)), (false, false), "{precision:?}");
    }
}

/// The stores of a function through a chain of two calls, direct and indirect.
#[test]
fn summaries_go_through_calls() {
    let to = |d: u32| Operand::Symbol { symbol: 3 + d, offset: 0 };
    let store = |d| Inst::Store { addr: to(d), value: Operand::Const(1), ty: Ty::Int(32) };
    let (module, addresses) = module(vec![
        vec![store(0), call(1, Operand::Symbol { symbol: 1, offset: 0 }, 0)],
        vec![
            Inst::Copy { dst: 1, a: Operand::Symbol { symbol: 2, offset: 0 } },
            call(2, Operand::Reg(1), 0),
            // A recursive call to its caller.
            call(2, Operand::Symbol { symbol: 0, offset: 0 }, 0),
        ],
        vec![
            store(2),
            Inst::Frame { dst: 1, offset: 8 },
            Inst::Store { addr: Operand::Reg(1), value: Operand::Const(1), ty: Ty::Int(32) },
        ],
    ]);
    let whole = LinkedProgram::new([(&module, &addresses[..])]);
    let may = ModSummaries::compute(&whole, &Nothing, Precision::Andersen, &[0], None).unwrap();
    let stored = |f| -> Vec<(Object, u64, u64)> {
        let all = may.targets(may.of_function(f)).filter_map(|t| match t {
            Target::Of { object, start, end } => {
                Some((may.pointers().objects().get(object).clone(), start, end))
            }
            Target::Own { .. } => None,
        });
        all.collect()
    };
    let data = |d: u64| (Object::Data { address: 0x1030 + 0x10 * d, size: 16 }, 0, 4);
    assert_eq!(stored(2), [data(2)]);
    assert_eq!(stored(1), [data(0), data(2)]);
    assert_eq!(stored(0), [data(0), data(2)]);
    let stored = may.of_inst(&whole, &Nothing, 2, 2);
    assert_eq!(may.targets(&stored).collect::<Vec<_>>(), [Target::Own { start: 8, end: 12 }]);
    assert_eq!(may.called(&whole, &Nothing, 1, 1), [2]);
}

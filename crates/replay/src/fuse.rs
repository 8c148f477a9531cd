//! Translates [`Code`] to [`FusedCode`]: selects the instructions that become one operation.
//!
//! The groups are those that are frequent in clang's code without optimisation, with locals in registers: in
//! a Lua interpreter some 0.6 operations run for each instruction.

use crate::code::{Code, Edge, Op, Table};
use crate::fused::{Fused, FusedCode, FusedEdge, Slot, WINDOW, near};
use program::inst::{FloatOp, Inst, IntPred};

/// Maximal number of consecutive jumps that one [`FusedEdge`] follows.
const MAX_JUMPS: u32 = 8;

/// `None` if the function has more slots than the fast loop can address, or results with more slots than an
/// operation can encode.
#[must_use]
pub fn fuse(code: &Code) -> Option<FusedCode> {
    let few = |slots: u32| slots <= u8::MAX.into();
    let results = code.calls.iter().all(|c| few(c.ret_slots))
        && code.ops.iter().all(|op| !matches!(op, Op::Return { slots, .. } if !few(*slots)));
    if code.total() > WINDOW || !results {
        return None;
    }
    let mut f = Fuser { code, out: FusedCode::default() };
    let mut loads = 0;
    for op in &code.ops {
        f.out.loads.push(loads);
        loads += u32::from(matches!(
            op,
            Op::Load1 { .. } | Op::Load2 { .. } | Op::Load4 { .. } | Op::Load8 { .. }
        ));
    }
    for (pc, op) in code.ops.iter().enumerate() {
        let op = f.single(pc, *op);
        f.out.ops.push(op);
    }
    // From the end, so that a group can extend a smaller one.
    for pc in (0..f.out.ops.len()).rev() {
        if let Some(op) = f.group(pc) {
            f.out.ops[pc] = op;
        }
    }
    Some(f.out)
}

pub(crate) struct Fuser<'c> {
    pub code: &'c Code,
    pub out: FusedCode,
}

/// The caller has checked that all slots of the function are addressable.
fn n(slot: u32) -> Slot {
    slot as Slot
}

impl Fuser<'_> {
    /// The operation of one instruction.
    fn single(&mut self, pc: usize, op: Op) -> Fused {
        match op {
            Op::Add { sh: 0, dst, a, b } => Fused::Add64 { dst: n(dst), a: n(a), b: n(b) },
            Op::Add { sh: 32, dst, a, b } => Fused::Add32 { dst: n(dst), a: n(a), b: n(b) },
            Op::Add { sh, dst, a, b } => Fused::Add { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::Sub { sh: 0, dst, a, b } => Fused::Sub64 { dst: n(dst), a: n(a), b: n(b) },
            Op::Sub { sh: 32, dst, a, b } => Fused::Sub32 { dst: n(dst), a: n(a), b: n(b) },
            Op::Sub { sh, dst, a, b } => Fused::Sub { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::Mul { sh, dst, a, b } => Fused::Mul { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::And { dst, a, b } => Fused::And { dst: n(dst), a: n(a), b: n(b) },
            Op::Or { dst, a, b } => Fused::Or { dst: n(dst), a: n(a), b: n(b) },
            Op::Xor { dst, a, b } => Fused::Xor { dst: n(dst), a: n(a), b: n(b) },
            Op::Shl { sh, dst, a, b } => Fused::Shl { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::LShr { sh, dst, a, b } => Fused::LShr { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::AShr { sh, dst, a, b } => Fused::AShr { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::UDiv { dst, a, b } => Fused::UDiv { dst: n(dst), a: n(a), b: n(b) },
            Op::URem { dst, a, b } => Fused::URem { dst: n(dst), a: n(a), b: n(b) },
            Op::SDiv { sh, dst, a, b } => Fused::SDiv { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::SRem { sh, dst, a, b } => Fused::SRem { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::Eq { dst, a, b } => Fused::Eq { dst: n(dst), a: n(a), b: n(b) },
            Op::Ne { dst, a, b } => Fused::Ne { dst: n(dst), a: n(a), b: n(b) },
            Op::UCmp { pred, dst, a, b } => {
                let (dst, a, b) = (n(dst), n(a), n(b));
                match pred {
                    IntPred::Ugt => Fused::Ult { dst, a: b, b: a },
                    IntPred::Uge => Fused::Ule { dst, a: b, b: a },
                    IntPred::Ult => Fused::Ult { dst, a, b },
                    _ => Fused::Ule { dst, a, b },
                }
            }
            Op::Slt { sh, dst, a, b } => Fused::Slt { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::Sle { sh, dst, a, b } => Fused::Sle { sh, dst: n(dst), a: n(a), b: n(b) },
            Op::F64 { op, dst, a, b } => {
                let (dst, a, b) = (n(dst), n(a), n(b));
                match op {
                    FloatOp::Add => Fused::F64Add { dst, a, b },
                    FloatOp::Sub => Fused::F64Sub { dst, a, b },
                    FloatOp::Mul => Fused::F64Mul { dst, a, b },
                    _ => Fused::F64 { op, dst, a, b },
                }
            }
            Op::F32 { op, dst, a, b } => Fused::F32 { op, dst: n(dst), a: n(a), b: n(b) },
            Op::FCmp64 { pred, dst, a, b } => Fused::FCmp64 { pred, dst: n(dst), a: n(a), b: n(b) },
            Op::Trunc { sh: 32, dst, a } => Fused::Trunc32 { dst: n(dst), a: n(a) },
            Op::Trunc { sh, dst, a } => Fused::Trunc { sh, dst: n(dst), a: n(a) },
            Op::Sext { from: 32, to: 0, dst, a } => Fused::Sext3264 { dst: n(dst), a: n(a) },
            Op::Sext { from, to, dst, a } => Fused::Sext { from, to, dst: n(dst), a: n(a) },
            Op::SiToF64 { sh, dst, a } => Fused::SiToF64 { sh, dst: n(dst), a: n(a) },
            Op::Copy { dst, a } => Fused::Copy { dst: n(dst), a: n(a) },
            Op::Select { dst, cond, a, b } => Fused::Select { dst: n(dst), cond: n(cond), a: n(a), b: n(b) },
            Op::Scaled { sh: 0, dst, base, index, scale } => {
                Fused::Scaled64 { dst: n(dst), base: n(base), index: n(index), scale }
            }
            Op::Scaled { sh, dst, base, index, scale } => {
                Fused::Scaled { sh, dst: n(dst), base: n(base), index: n(index), scale }
            }
            Op::Frame { dst, offset } => Fused::Frame { dst: n(dst), offset },
            Op::Load1 { dst, addr } => Fused::Load1 { dst: n(dst), addr: n(addr) },
            Op::Load2 { dst, addr } => Fused::Load2 { dst: n(dst), addr: n(addr) },
            Op::Load4 { dst, addr } => Fused::Load4 { dst: n(dst), addr: n(addr) },
            Op::Load8 { dst, addr } => Fused::Load8 { dst: n(dst), addr: n(addr) },
            Op::Store1 { addr, value } => Fused::Store1 { addr: n(addr), value: n(value) },
            Op::Store2 { addr, value } => Fused::Store2 { addr: n(addr), value: n(value) },
            Op::Store4 { addr, value } => Fused::Store4 { addr: n(addr), value: n(value) },
            Op::Store8 { addr, value } => Fused::Store8 { addr: n(addr), value: n(value) },
            Op::Tick => Fused::Tick,
            Op::Jump { edge } => Fused::Jump { edge: self.fused_edge(pc, edge, 0) },
            Op::Branch { cond, then, otherwise } => {
                let mix = Inst::branch_mix(self.code.first_site + pc as u32);
                let edge = self.fused_edge(pc, then, mix);
                self.fused_edge(pc, otherwise, 0);
                Fused::Branch { cond: n(cond), edge }
            }
            Op::Switch { value, table } => {
                let mut table = self.code.tables[table as usize].clone();
                match &mut table {
                    Table::Dense { edges, default, .. } => {
                        edges.iter_mut().chain([default]).for_each(|e| *e = self.fused_edge(pc, *e, 0));
                    }
                    Table::Sparse { cases, default } => {
                        let all = cases.iter_mut().map(|c| &mut c.1).chain([default]);
                        all.for_each(|e| *e = self.fused_edge(pc, *e, 0));
                    }
                }
                self.out.tables.push(table);
                Fused::Switch { value: n(value), table: self.out.tables.len() as u32 - 1 }
            }
            Op::Call { call } => {
                let site = &self.code.calls[call as usize];
                let (ret, dst) = (site.ret_slots as u8, n(site.dst));
                Fused::Call { ret, dst, call, loads: self.out.loads[pc] }
            }
            Op::Return { value, slots } => {
                Fused::Return { slots: slots as u8, value: n(value), loads: self.out.loads[pc] }
            }
            Op::Slow => Fused::Slow,
        }
    }

    /// The [`FusedEdge`] that starts with an edge, from the jump or branch at `pc`.
    fn fused_edge(&mut self, pc: usize, edge: u32, mix: u64) -> u32 {
        let code = self.code;
        let mut fused_edge = FusedEdge { mix, ..FusedEdge::default() };
        let mut moves = Vec::new();
        let mut from = pc;
        let edge_ranges = self.out.edges.len() as u32;
        let mut edge: &Edge = &code.edges[edge as usize];
        for hop in 0.. {
            let to = edge.pc as usize;
            self.out.edges.push((edge.from, edge.to));
            moves.extend_from_slice(&code.moves[edge.first as usize..edge.last as usize]);
            let counts = self.out.counts(from).wrapping_add(1).wrapping_sub(self.out.counts(to));
            fused_edge.counts = fused_edge.counts.wrapping_add(counts);
            fused_edge.check |= to <= from;
            fused_edge.pc = edge.pc;
            match code.ops[to] {
                Op::Jump { edge: next } if hop < MAX_JUMPS => {
                    edge = &code.edges[next as usize];
                    from = to;
                }
                Op::Tick => {
                    fused_edge.pc += 1;
                    fused_edge.tick = true;
                    fused_edge.check = true;
                    break;
                }
                _ => break,
            }
        }
        let scratch = n(code.slots);
        let mut moves = moves.into_iter().map(near);
        fused_edge.moves = [(); 2].map(|()| moves.next().unwrap_or((scratch, scratch)));
        fused_edge.first = self.out.moves.len() as u32;
        self.out.moves.extend(moves);
        fused_edge.more = self.out.moves.len() as u32 - fused_edge.first;
        self.out.edge_ranges.push((edge_ranges, self.out.edges.len() as u32));
        self.out.fused_edges.push(fused_edge);
        self.out.fused_edges.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Move;

    fn code(ops: Vec<Op>, constants: Vec<u64>) -> Code {
        Code { ops, slots: 10, constants, ..Code::default() }
    }

    #[test]
    fn an_operation_stays_small() {
        assert_eq!(size_of::<Fused>(), 16);
    }

    #[test]
    fn a_member_is_loaded_in_one_go() {
        let add = Op::Add { sh: 0, dst: 2, a: 1, b: 11 };
        let f = fuse(&code(vec![add, Op::Load8 { dst: 3, addr: 2 }, Op::Slow], vec![8])).unwrap();
        assert_eq!(f.ops[0], Fused::AddLoad8 { addr: 2, a: 1, b: 11, dst: 3 });
        assert_eq!(f.ops[1], Fused::Load8 { dst: 3, addr: 2 });
        assert_eq!(f.loads, [0, 0, 1]);
    }

    #[test]
    fn ways_swallow_jumps_and_ticks() {
        let edge = |pc: u32, first, last| Edge { pc, first, last, from: pc - 2, to: pc - 1 };
        let c = Code {
            // 0 goes to 2, which goes to 3.
            edges: vec![edge(2, 0, 1), edge(3, 1, 3)],
            moves: vec![Move { dst: 1, src: 0 }, Move { dst: 2, src: 1 }, Move { dst: 3, src: 2 }],
            ..code(vec![Op::Jump { edge: 0 }, Op::Slow, Op::Jump { edge: 1 }, Op::Tick, Op::Slow], vec![])
        };
        let f = fuse(&c).unwrap();
        assert_eq!(f.ops[0], Fused::Jump { edge: 0 });
        let fused_edge = f.fused_edges[0];
        assert_eq!((fused_edge.pc, fused_edge.tick, fused_edge.check), (4, true, true));
        // Three instructions have run: two jumps and the tick.
        assert_eq!(fused_edge.counts.wrapping_add(4), 3);
        assert_eq!(f.edges_of(0), [(0, 1), (1, 2)]);
        assert_eq!((fused_edge.moves, fused_edge.more), ([(1, 0), (2, 1)], 1));
        assert_eq!(f.moves[fused_edge.first as usize], (3, 2));
    }

    #[test]
    fn too_many_slots_are_not_for_the_fast_loop() {
        assert!(fuse(&Code { slots: WINDOW as u32, ..Code::default() }).is_none());
    }
}

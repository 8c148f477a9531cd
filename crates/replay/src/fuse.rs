//! [`Code`] to [`FusedCode`]: which instructions become one operation.
//!
//! The groups are those that clang's code without optimisation, its locals in
//! registers, is full of: in a Lua interpreter the operations that run are
//! half as many as the instructions.

use crate::code::{Code, Edge, Op, Table};
use crate::fused::{Fused, FusedCode, Slot, WINDOW, Way, near};
use program::inst::{FloatOp, Inst, IntPred};

/// Jumps in a row that one way takes.
const MAX_HOPS: u32 = 8;

/// `None` if the function has more slots than the fast loop can reach.
#[must_use]
pub fn fuse(code: &Code) -> Option<FusedCode> {
    if code.total() > WINDOW {
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
    // From the end, so that a group can be made of a smaller one.
    for pc in (0..f.out.ops.len()).rev() {
        if let Some(op) = f.group(pc) {
            f.out.ops[pc] = op;
        }
    }
    Some(f.out)
}

struct Fuser<'c> {
    code: &'c Code,
    out: FusedCode,
}

/// Checked: all slots of the function are in reach.
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
            Op::Jump { edge } => Fused::Jump { edge: self.way(pc, edge, 0) },
            Op::Branch { cond, then, otherwise } => {
                let mix = Inst::branch_mix(self.code.first_site + pc as u32);
                let edge = self.way(pc, then, mix);
                self.way(pc, otherwise, 0);
                Fused::Branch { cond: n(cond), edge }
            }
            Op::Switch { value, table } => {
                let mut table = self.code.tables[table as usize].clone();
                match &mut table {
                    Table::Dense { edges, default, .. } => {
                        edges.iter_mut().chain([default]).for_each(|e| *e = self.way(pc, *e, 0));
                    }
                    Table::Sparse { cases, default } => {
                        let all = cases.iter_mut().map(|c| &mut c.1).chain([default]);
                        all.for_each(|e| *e = self.way(pc, *e, 0));
                    }
                }
                self.out.tables.push(table);
                Fused::Switch { value: n(value), table: self.out.tables.len() as u32 - 1 }
            }
            Op::Call { call } => Fused::Call { call },
            Op::Return { value, slots } => Fused::Return { value: n(value), slots },
            Op::Slow => Fused::Slow,
        }
    }

    /// The way that an edge starts, from the jump or branch at `pc`.
    fn way(&mut self, pc: usize, edge: u32, mix: u64) -> u32 {
        let code = self.code;
        let mut way = Way { mix, ..Way::default() };
        let mut moves = Vec::new();
        let mut from = pc;
        let mut edge: &Edge = &code.edges[edge as usize];
        for hop in 0.. {
            let to = edge.pc as usize;
            moves.extend_from_slice(&code.moves[edge.first as usize..edge.last as usize]);
            let counts = self.out.counts(from).wrapping_add(1).wrapping_sub(self.out.counts(to));
            way.counts = way.counts.wrapping_add(counts);
            way.check |= to <= from;
            way.pc = edge.pc;
            match code.ops[to] {
                Op::Jump { edge: next } if hop < MAX_HOPS => {
                    edge = &code.edges[next as usize];
                    from = to;
                }
                Op::Tick => {
                    way.pc += 1;
                    way.tick = true;
                    way.check = true;
                    break;
                }
                _ => break,
            }
        }
        let scratch = n(code.slots);
        let mut moves = moves.into_iter().map(near);
        way.moves = [(); 2].map(|()| moves.next().unwrap_or((scratch, scratch)));
        way.first = self.out.moves.len() as u32;
        self.out.moves.extend(moves);
        way.more = self.out.moves.len() as u32 - way.first;
        self.out.ways.push(way);
        self.out.ways.len() as u32 - 1
    }

    /// The operation at `pc` with the ones behind it, if they make a group.
    fn group(&self, pc: usize) -> Option<Fused> {
        let at = |k: usize| self.out.ops.get(pc + k).copied().unwrap_or(Fused::Slow);
        let first = at(0);
        let zero = |slot: Slot| {
            let constant = usize::from(slot).checked_sub(self.code.slots as usize + 1);
            constant.and_then(|i| self.code.constants.get(i)) == Some(&0)
        };
        // What `Expect` means, behind the condition.
        let expect = |dst: Slot| match (at(1), at(2), at(3)) {
            (
                Fused::Copy { dst: x, a },
                Fused::Sext3264 { dst: y, a: b },
                Fused::NeBranch { dst: z, a: c, b: o, edge },
            ) if a == dst && b == x && c == y && zero(o) => {
                let in_row = Some(x) == dst.checked_add(1) && Some(y) == x.checked_add(1);
                (in_row && Some(z) == y.checked_add(1)).then_some(edge)
            }
            _ => None,
        };
        Some(match (first, at(1)) {
            (Fused::Eq { dst, a, b }, Fused::Branch { cond, edge }) if cond == dst => {
                Fused::EqBranch { dst, a, b, edge }
            }
            (Fused::Ne { dst, a, b }, Fused::Branch { cond, edge }) if cond == dst => {
                Fused::NeBranch { dst, a, b, edge }
            }
            (Fused::Ult { dst, a, b }, Fused::Branch { cond, edge }) if cond == dst => {
                Fused::UltBranch { dst, a, b, edge }
            }
            (Fused::Ule { dst, a, b }, Fused::Branch { cond, edge }) if cond == dst => {
                Fused::UleBranch { dst, a, b, edge }
            }
            (Fused::Slt { sh, dst, a, b }, Fused::Branch { cond, edge }) if cond == dst => {
                Fused::SltBranch { sh, dst, a, b, edge }
            }
            (Fused::Sle { sh, dst, a, b }, Fused::Branch { cond, edge }) if cond == dst => {
                Fused::SleBranch { sh, dst, a, b, edge }
            }
            (Fused::Eq { dst, a, b }, Fused::Copy { .. }) => {
                Fused::EqExpect { dst, a, b, edge: expect(dst)? }
            }
            (Fused::Ne { dst, a, b }, Fused::Copy { .. }) => {
                Fused::NeExpect { dst, a, b, edge: expect(dst)? }
            }
            (Fused::Ult { dst, a, b }, Fused::Copy { .. }) => {
                Fused::UltExpect { dst, a, b, edge: expect(dst)? }
            }
            (Fused::Slt { sh, dst, a, b }, Fused::Copy { .. }) => {
                Fused::SltExpect { sh, dst, a, b, edge: expect(dst)? }
            }
            (Fused::And { dst: and, a, b }, Fused::EqBranch { dst, a: x, b: c, edge }) if x == and => {
                Fused::AndEqBranch { and, a, b, dst, c, edge }
            }
            (Fused::And { dst: and, a, b }, Fused::NeBranch { dst, a: x, b: c, edge }) if x == and => {
                Fused::AndNeBranch { and, a, b, dst, c, edge }
            }
            (Fused::And { dst, a, b }, Fused::Copy { dst: copy, a: x }) if x == dst => {
                Fused::AndCopy { dst, a, b, copy }
            }
            (Fused::LShr { sh, dst, a, b }, Fused::And { dst: and, a: x, b: c }) if x == dst => {
                Fused::LShrAnd { sh, dst, a, b, and, c }
            }
            (Fused::Copy { dst, a }, Fused::Switch { value, table }) if value == dst => {
                Fused::CopySwitch { dst, a, table }
            }
            (Fused::Add64 { .. }, _) => return self.member(pc),
            (
                Fused::Scaled64 { .. } | Fused::Scaled { .. } | Fused::Sext3264 { .. } | Fused::Copy { .. },
                _,
            ) => {
                return self.element(pc);
            }
            _ => return None,
        })
    }

    /// An access to a member of a struct.
    fn member(&self, pc: usize) -> Option<Fused> {
        let at = |k: usize| self.out.ops.get(pc + k).copied().unwrap_or(Fused::Slow);
        let Fused::Add64 { dst: addr, a, b } = at(0) else { return None };
        // A copy of what was loaded.
        let copy = |dst: Slot| match at(2) {
            Fused::Copy { dst: copy, a } if a == dst => Some(copy),
            _ => None,
        };
        Some(match at(1) {
            Fused::Load1 { dst, addr: x } if x == addr => match copy(dst) {
                Some(copy) => Fused::AddLoad1Copy { addr, a, b, dst, copy },
                None => Fused::AddLoad1 { addr, a, b, dst },
            },
            Fused::Load2 { dst, addr: x } if x == addr => match copy(dst) {
                Some(copy) => Fused::AddLoad2Copy { addr, a, b, dst, copy },
                None => Fused::AddLoad2 { addr, a, b, dst },
            },
            Fused::Load4 { dst, addr: x } if x == addr => match copy(dst) {
                Some(copy) => Fused::AddLoad4Copy { addr, a, b, dst, copy },
                None => Fused::AddLoad4 { addr, a, b, dst },
            },
            Fused::Load8 { dst, addr: x } if x == addr => match at(2) {
                Fused::AddLoad8 { addr: sum, a: x, b: c, dst: last } if x == dst => {
                    Fused::AddLoad8AddLoad8 { addr, a, b, dst, sum, c, last }
                }
                Fused::Add64 { dst: sum, a: x, b: c } if x == dst => {
                    Fused::AddLoad8Add { addr, a, b, dst, sum, c }
                }
                _ => Fused::AddLoad8 { addr, a, b, dst },
            },
            Fused::Store1 { addr: x, value } if x == addr => Fused::AddStore1 { addr, a, b, value },
            Fused::Store2 { addr: x, value } if x == addr => Fused::AddStore2 { addr, a, b, value },
            Fused::Store4 { addr: x, value } if x == addr => Fused::AddStore4 { addr, a, b, value },
            Fused::Store8 { addr: x, value } if x == addr => Fused::AddStore8 { addr, a, b, value },
            _ => return None,
        })
    }

    /// An access to an element of an array.
    fn element(&self, pc: usize) -> Option<Fused> {
        let at = |k: usize| self.out.ops.get(pc + k).copied().unwrap_or(Fused::Slow);
        Some(match (at(0), at(1)) {
            (Fused::Scaled64 { dst: addr, base, index, scale }, Fused::Load1 { dst, addr: x })
                if x == addr =>
            {
                Fused::Scaled64Load1 { addr, base, index, scale: scale.try_into().ok()?, dst }
            }
            (Fused::Scaled64 { dst: addr, base, index, scale }, Fused::Load4 { dst, addr: x })
                if x == addr =>
            {
                Fused::Scaled64Load4 { addr, base, index, scale: scale.try_into().ok()?, dst }
            }
            (Fused::Scaled64 { dst: addr, base, index, scale }, Fused::Load8 { dst, addr: x })
                if x == addr =>
            {
                Fused::Scaled64Load8 { addr, base, index, scale: scale.try_into().ok()?, dst }
            }
            (Fused::Scaled { sh, dst: addr, base, index, scale }, Fused::Load4 { dst, addr: x })
                if x == addr =>
            {
                Fused::ScaledLoad4 { sh, addr, base, index, scale: scale.try_into().ok()?, dst }
            }
            (Fused::Sext3264 { dst: index, a }, Fused::Scaled64 { dst, base, index: x, scale })
                if x == index =>
            {
                Fused::Sext3264Scaled64 { index, a, dst, base, scale: scale.try_into().ok()? }
            }
            (Fused::Copy { dst: index, a }, Fused::Scaled64Load8 { addr, base, index: x, scale, dst })
                if x == index =>
            {
                Fused::CopyScaled64Load8 { index, a, addr, base, scale, dst }
            }
            (Fused::Copy { dst: index, a }, Fused::Scaled64 { dst, base, index: x, scale }) if x == index => {
                Fused::CopyScaled64 { index, a, dst, base, scale: scale.try_into().ok()? }
            }
            _ => return None,
        })
    }
}

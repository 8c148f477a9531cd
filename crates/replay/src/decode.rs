//! Translates functions of the model to [`Code`].

use crate::code::{CallArg, CallSite, Code, Edge, Move, Op, Slot, Table, VaKind};
use crate::fuse::fuse;
use program::inst::{
    ArgTy, BinOp, BlockId, Call, CastOp, FloatKind, FloatOp, Inst, IntPred, Operand, Reg, Ty,
};
use program::model::{Function, Module};
use std::collections::HashMap;

/// The addresses of symbols, and the functions of the image by address.
pub struct Context<'a> {
    /// The module of the functions to translate.
    pub module: &'a Module,
    /// Registration index of the module.
    pub index: u32,
    /// By symbol; 0 for a symbol without address.
    pub addresses: &'a [u64],
    /// Function of the image at an address, with its model.
    pub function_at: &'a dyn Fn(u64) -> Option<(u32, &'a Function)>,
}

struct Decoder<'c, 'a> {
    context: &'c Context<'a>,
    f: &'c Function,
    code: Code,
    constants: HashMap<u64, Slot>,
    edges: HashMap<(BlockId, BlockId), u32>,
}

/// Translates a function of the context's module; `function` is its index there.
#[must_use]
pub fn decode(context: &Context<'_>, function: u32, f: &Function) -> Code {
    let mut d = Decoder {
        context,
        f,
        code: Code {
            module: context.index,
            function,
            first_site: f.first_site,
            slots: f.slots,
            frame_size: f.frame_size,
            frame_align: u64::from(f.frame_align.max(1)),
            variadic: f.variadic,
            by_value: f.params.iter().any(|p| matches!(p.ty, ArgTy::ByVal { .. })),
            ..Code::default()
        },
        constants: HashMap::new(),
        edges: HashMap::new(),
    };
    d.code.ops.reserve_exact(f.code.len());
    for (b, block) in f.blocks.iter().enumerate() {
        for i in block.start..block.end {
            let op = d.op(b as BlockId, &f.code[i as usize]);
            d.code.ops.push(op);
        }
    }
    d.code.fused = fuse(&d.code);
    d.code
}

fn shift(bits: u16) -> u8 {
    64u16.saturating_sub(bits) as u8
}

impl Decoder<'_, '_> {
    fn constant(&mut self, v: u64) -> Slot {
        let next = self.code.slots + 1 + self.code.constants.len() as u32;
        let constants = &mut self.code.constants;
        *self.constants.entry(v).or_insert_with(|| {
            constants.push(v);
            next
        })
    }

    fn fixed(&self, o: Operand) -> Option<u64> {
        match o {
            Operand::Reg(_) => None,
            Operand::Const(c) => Some(c),
            Operand::Symbol { symbol, offset } => Some(
                self.context.addresses.get(symbol as usize).copied().unwrap_or(0).wrapping_add_signed(offset),
            ),
        }
    }

    fn slot(&mut self, o: Operand) -> Slot {
        match (o, self.fixed(o)) {
            (_, Some(c)) => self.constant(c),
            (Operand::Reg(r), _) => r,
            _ => 0,
        }
    }

    /// An operand of several slots: a constant is extended with zeros.
    fn wide(&mut self, o: Operand, slots: u32) -> Slot {
        match self.fixed(o) {
            Some(c) if slots > 1 => {
                let first = self.code.slots + 1 + self.code.constants.len() as u32;
                self.code.constants.push(c);
                self.code.constants.extend((1..slots).map(|_| 0));
                first
            }
            _ => self.slot(o),
        }
    }

    fn op(&mut self, block: BlockId, inst: &Inst) -> Op {
        match inst {
            Inst::Bin { op, bits, dst, a, b } if *bits <= 64 => self.bin(*op, *bits, *dst, *a, *b),
            Inst::ICmp { pred, bits, dst, a, b } if *bits <= 64 => {
                self.icmp(*pred, shift(*bits), *dst, *a, *b)
            }
            Inst::Float { op, kind, dst, a, b } if *op != FloatOp::Rem => {
                let (dst, a, b) = (*dst, self.slot(*a), self.slot(*b));
                match kind {
                    FloatKind::F32 => Op::F32 { op: *op, dst, a, b },
                    FloatKind::F64 => Op::F64 { op: *op, dst, a, b },
                    FloatKind::F80 => Op::Slow,
                }
            }
            Inst::FCmp { pred, kind: FloatKind::F64, dst, a, b } => {
                Op::FCmp64 { pred: *pred, dst: *dst, a: self.slot(*a), b: self.slot(*b) }
            }
            Inst::Cast { op, from, to, dst, a } if from.slots() == 1 && to.slots() == 1 => {
                self.cast(*op, *from, *to, *dst, *a)
            }
            Inst::Select { slots: 1, dst, cond, a, b } => {
                Op::Select { dst: *dst, cond: self.slot(*cond), a: self.slot(*a), b: self.slot(*b) }
            }
            Inst::Copy { dst, a } => Op::Copy { dst: *dst, a: self.slot(*a) },
            Inst::Address { dst, base, index, index_bits, scale, offset } => {
                self.address(*dst, *base, *index, *index_bits, *scale, *offset)
            }
            Inst::Frame { dst, offset } => match u32::try_from(*offset) {
                Ok(offset) => Op::Frame { dst: *dst, offset },
                Err(_) => Op::Slow,
            },
            Inst::Load { dst, addr, ty } => {
                let (dst, addr) = (*dst, self.slot(*addr));
                match plain_size(*ty) {
                    1 => Op::Load1 { dst, addr },
                    2 => Op::Load2 { dst, addr },
                    4 => Op::Load4 { dst, addr },
                    8 => Op::Load8 { dst, addr },
                    _ => Op::Slow,
                }
            }
            Inst::Store { addr, value, ty } => {
                let (addr, value) = (self.slot(*addr), self.slot(*value));
                match plain_size(*ty) {
                    1 => Op::Store1 { addr, value },
                    2 => Op::Store2 { addr, value },
                    4 => Op::Store4 { addr, value },
                    8 => Op::Store8 { addr, value },
                    _ => Op::Slow,
                }
            }
            Inst::Tick => Op::Tick,
            Inst::Jump { to } => Op::Jump { edge: self.edge(block, *to) },
            Inst::Branch { cond, then, otherwise } => Op::Branch {
                cond: self.slot(*cond),
                then: self.edge(block, *then),
                otherwise: self.edge(block, *otherwise),
            },
            Inst::Switch { bits, value, default, cases } if *bits <= 64 => {
                self.switch(block, *value, *default, cases)
            }
            Inst::Call(call) => self.call(call),
            // After a normal return, the exception is not used.
            Inst::Landing { dst } => Op::Copy { dst: *dst, a: self.constant(0) },
            Inst::Return { value, ret } => {
                let slots = ret.iter().map(|t| t.slots()).sum();
                match value {
                    Some(v) => Op::Return { value: self.wide(*v, slots), slots },
                    None => Op::Return { value: 0, slots: 0 },
                }
            }
            _ => Op::Slow,
        }
    }

    fn bin(&mut self, op: BinOp, bits: u16, dst: Reg, a: Operand, b: Operand) -> Op {
        let (a, b, sh) = (self.slot(a), self.slot(b), shift(bits));
        let shifts = bits.is_power_of_two();
        match op {
            BinOp::Add => Op::Add { sh, dst, a, b },
            BinOp::Sub => Op::Sub { sh, dst, a, b },
            BinOp::Mul => Op::Mul { sh, dst, a, b },
            BinOp::And => Op::And { dst, a, b },
            BinOp::Or => Op::Or { dst, a, b },
            BinOp::Xor => Op::Xor { dst, a, b },
            BinOp::UDiv => Op::UDiv { dst, a, b },
            BinOp::URem => Op::URem { dst, a, b },
            BinOp::SDiv => Op::SDiv { sh, dst, a, b },
            BinOp::SRem => Op::SRem { sh, dst, a, b },
            BinOp::Shl if shifts => Op::Shl { sh, dst, a, b },
            BinOp::LShr if shifts => Op::LShr { sh, dst, a, b },
            BinOp::AShr if shifts => Op::AShr { sh, dst, a, b },
            BinOp::Shl | BinOp::LShr | BinOp::AShr => Op::Slow,
        }
    }

    fn icmp(&mut self, pred: IntPred, sh: u8, dst: Reg, a: Operand, b: Operand) -> Op {
        let (a, b) = (self.slot(a), self.slot(b));
        match pred {
            IntPred::Eq => Op::Eq { dst, a, b },
            IntPred::Ne => Op::Ne { dst, a, b },
            IntPred::Slt => Op::Slt { sh, dst, a, b },
            IntPred::Sle => Op::Sle { sh, dst, a, b },
            IntPred::Sgt => Op::Slt { sh, dst, a: b, b: a },
            IntPred::Sge => Op::Sle { sh, dst, a: b, b: a },
            _ => Op::UCmp { pred, dst, a, b },
        }
    }

    fn cast(&mut self, op: CastOp, from: Ty, to: Ty, dst: Reg, a: Operand) -> Op {
        let a = self.slot(a);
        match (op, from, to) {
            (CastOp::Trunc, ..) => Op::Trunc { sh: shift(to.bits()), dst, a },
            (CastOp::Zext, ..) => Op::Copy { dst, a },
            (CastOp::Bits, ..) if from.bits() == to.bits() => Op::Copy { dst, a },
            (CastOp::Sext, ..) => Op::Sext { from: shift(from.bits()), to: shift(to.bits()), dst, a },
            (CastOp::SiToFp, _, Ty::Float(FloatKind::F64)) => Op::SiToF64 { sh: shift(from.bits()), dst, a },
            _ => Op::Slow,
        }
    }

    fn address(
        &mut self,
        dst: Reg,
        base: Operand,
        index: Operand,
        index_bits: u16,
        scale: i64,
        offset: i64,
    ) -> Op {
        if let Some(i) = self.fixed(index) {
            let i = crate::arith::signed(i.into(), index_bits) as i64;
            let add = i.wrapping_mul(scale).wrapping_add(offset).cast_unsigned();
            return match self.fixed(base) {
                Some(b) => Op::Copy { dst, a: self.constant(b.wrapping_add(add)) },
                None if add == 0 => Op::Copy { dst, a: self.slot(base) },
                None => Op::Add { sh: 0, dst, a: self.slot(base), b: self.constant(add) },
            };
        }
        let base = match self.fixed(base) {
            Some(b) => self.constant(b.wrapping_add_signed(offset)),
            None if offset == 0 => self.slot(base),
            None => return Op::Slow,
        };
        match i32::try_from(scale) {
            Ok(scale) if index_bits <= 64 => {
                Op::Scaled { sh: shift(index_bits), dst, base, index: self.slot(index), scale }
            }
            _ => Op::Slow,
        }
    }

    fn switch(&mut self, block: BlockId, value: Operand, default: BlockId, cases: &[(u64, BlockId)]) -> Op {
        let default = self.edge(block, default);
        let mut sorted: Vec<(u64, u32)> = cases.iter().map(|c| (c.0, self.edge(block, c.1))).collect();
        // The first of equal cases takes precedence.
        sorted.sort_by_key(|c| c.0);
        sorted.dedup_by_key(|c| c.0);
        let span = match (sorted.first(), sorted.last()) {
            (Some(f), Some(l)) => l.0 - f.0,
            _ => 0,
        };
        let table = if !sorted.is_empty() && span < 4 * sorted.len() as u64 + 16 {
            let low = sorted[0].0;
            let mut edges = vec![default; span as usize + 1];
            for (v, e) in &sorted {
                edges[(v - low) as usize] = *e;
            }
            Table::Dense { low, edges, default }
        } else {
            Table::Sparse { cases: sorted, default }
        };
        self.code.tables.push(table);
        Op::Switch { value: self.slot(value), table: self.code.tables.len() as u32 - 1 }
    }

    fn call(&mut self, call: &Call) -> Op {
        let args: Vec<CallArg> = call
            .args
            .iter()
            .map(|arg| match arg.ty {
                ArgTy::Value(ty) => {
                    let slots = ty.slots();
                    let kind = match ty {
                        Ty::Float(FloatKind::F32) => VaKind::Float,
                        Ty::Float(FloatKind::F64) => VaKind::Double,
                        Ty::Float(FloatKind::F80) => VaKind::LongDouble,
                        _ if slots == 2 => VaKind::WideInt,
                        _ => VaKind::Int,
                    };
                    CallArg { src: self.wide(arg.value, slots), slots, kind }
                }
                ArgTy::ByVal { size, align } => {
                    CallArg { src: self.slot(arg.value), slots: 1, kind: VaKind::ByVal { size, align } }
                }
            })
            .collect();
        let target = self.fixed(call.callee).and_then(|a| (self.context.function_at)(a));
        let moves = target.and_then(|(_, f)| plain_moves(&args, call, f));
        let known = match call.callee {
            Operand::Symbol { symbol, offset: 0 } if target.is_none() => {
                externals::find(&self.context.module.symbols[symbol as usize].name)
            }
            _ => None,
        };
        let site = CallSite {
            known,
            callee: self.slot(call.callee),
            direct: target.map(|t| t.0),
            arg_slots: args.iter().map(|a| a.slots).sum(),
            args,
            dst: call.dst,
            ret_slots: call.ret.iter().map(|t| t.slots()).sum(),
            fixed: call.variadic,
            returns_twice: call.returns_twice,
            moves,
        };
        self.code.calls.push(site);
        Op::Call { call: self.code.calls.len() as u32 - 1 }
    }

    /// The edge between two blocks; created on first use.
    fn edge(&mut self, from: BlockId, to: BlockId) -> u32 {
        if let Some(e) = self.edges.get(&(from, to)) {
            return *e;
        }
        let f = self.f;
        let target = &f.blocks[to as usize];
        let mut moves = Vec::new();
        for phi in &target.phis {
            let Some((_, value)) = phi.incoming.iter().find(|i| i.0 == from) else { continue };
            let src = self.wide(*value, phi.slots);
            moves.extend((0..phi.slots).map(|k| Move { dst: phi.dst + k, src: src + k }));
        }
        let first = self.code.moves.len() as u32;
        let scratch = self.code.slots;
        sequence(moves, scratch, &mut self.code.moves);
        let last = self.code.moves.len() as u32;
        self.code.edges.push(Edge { pc: target.start, first, last, from, to });
        let e = self.code.edges.len() as u32 - 1;
        self.edges.insert((from, to), e);
        e
    }
}

/// 1, 2, 4 or 8 if a value of the type occupies exactly that many low bytes of a slot; otherwise 0.
fn plain_size(ty: Ty) -> u32 {
    match ty {
        Ty::Int(8 | 16 | 32 | 64) | Ty::Ptr | Ty::Float(FloatKind::F32 | FloatKind::F64) => ty.bytes(),
        _ => 0,
    }
}

/// Argument moves of a direct call, if it needs no special handling.
fn plain_moves(args: &[CallArg], call: &Call, f: &Function) -> Option<Vec<Move>> {
    if f.variadic || call.variadic.is_some() || args.len() != f.params.len() {
        return None;
    }
    let mut moves = Vec::new();
    for ((arg, given), param) in args.iter().zip(&call.args).zip(&f.params) {
        match (given.ty, param.ty) {
            (ArgTy::Value(a), ArgTy::Value(p)) if a.slots() == p.slots() => {
                moves.extend((0..arg.slots).map(|k| Move { dst: param.reg + k, src: arg.src + k }));
            }
            _ => return None,
        }
    }
    Some(moves)
}

/// Orders parallel moves so that they can be executed sequentially; a cycle is broken through the scratch
/// slot.
fn sequence(mut moves: Vec<Move>, scratch: Slot, out: &mut Vec<Move>) {
    moves.retain(|m| m.dst != m.src);
    while !moves.is_empty() {
        let free = moves.iter().position(|m| !moves.iter().any(|n| n.src == m.dst));
        match free {
            Some(i) => out.push(moves.swap_remove(i)),
            None => {
                let saved = moves[0].src;
                out.push(Move { dst: scratch, src: saved });
                for m in &mut moves {
                    if m.src == saved {
                        m.src = scratch;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ordered_moves_equal_parallel_ones(
            sources in proptest::collection::vec(0u32..12, 1..10),
            shuffle in Just((0u32..12).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let moves: Vec<Move> =
                sources.iter().zip(&shuffle).map(|(s, d)| Move { dst: *d, src: *s }).collect();
            let before: Vec<u32> = (100..113).collect();
            let mut want = before.clone();
            for m in &moves {
                want[m.dst as usize] = before[m.src as usize];
            }
            let mut order = Vec::new();
            sequence(moves, 12, &mut order);
            let mut got = before.clone();
            for m in order {
                got[m.dst as usize] = got[m.src as usize];
            }
            prop_assert_eq!(&got[..12], &want[..12]);
        }
    }

    #[test]
    fn tables_find_their_cases() {
        let t = Table::Sparse { cases: vec![(1, 10), (1000, 11), (u64::MAX, 12)], default: 9 };
        assert_eq!([t.find(1), t.find(1000), t.find(u64::MAX), t.find(2)], [10, 11, 12, 9]);
        let t = Table::Dense { low: 5, edges: vec![1, 9, 2], default: 9 };
        assert_eq!([t.find(5), t.find(6), t.find(7), t.find(8), t.find(4)], [1, 9, 2, 9, 9]);
    }

    #[test]
    fn an_operation_stays_small() {
        assert_eq!(size_of::<Op>(), 20);
    }
}

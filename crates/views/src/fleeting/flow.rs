//! Transfer functions of labels: how they propagate through instructions.

use super::{
    ADDRESS, LAYOUT, Label, OWN, SHOWN, chosen_by, made_of, reached_through, reasons, sources, used,
};
use crate::extract::Extractor;
use crate::trace::is_address;
use program::cfg::Graph;
use program::inst::{BinOp, CastOp, Inst, IntPred, Operand, Ty};
use replay::code::{Move, Op};
use replay::observer::{Effect, View};

/// Two pointers into memory without a known object count as pointers into one object if they are at most this
/// far apart.
const NEAR: u64 = 1 << 20;

impl Extractor<'_> {
    /// Propagates labels through an executed instruction. Called only if there are labels or the function has
    /// sources.
    #[inline]
    pub(crate) fn flow(&mut self, view: &View<'_>, effect: Effect) {
        let live = self.fleeting.is_live(view.depth);
        let is_source = || {
            let sources = self.plans[self.current].sources.as_deref();
            sources.is_some_and(|s| s.get(view.index as usize).copied().unwrap_or(false))
        };
        match view.code.ops[view.index as usize] {
            Op::Jump { .. } | Op::Tick => return,
            Op::Load1 { .. }
            | Op::Load2 { .. }
            | Op::Load4 { .. }
            | Op::Load8 { .. }
            | Op::Store1 { .. }
            | Op::Store2 { .. }
            | Op::Store4 { .. }
            | Op::Store8 { .. } => {
                let holds = match effect {
                    Effect::Load { address, len } | Effect::Store { address, len } => {
                        self.fleeting.memory.may_hold(address, len.into())
                    }
                    _ => false,
                };
                if !live && !holds && !is_source() {
                    return;
                }
            }
            Op::Slow | Op::Call { .. } | Op::Return { .. } => {}
            _ if !live && !is_source() => return,
            _ => {}
        }
        self.instruction(view, effect);
    }

    fn instruction(&mut self, view: &View<'_>, effect: Effect) {
        let inst = view.inst();
        let label = match inst {
            Inst::Bin { op, a, b, bits, .. } if *bits <= 64 => self.binary(view, *op, *a, *b),
            Inst::ICmp { pred, a, b, bits, .. } if *bits <= 64 => self.comparison(view, *pred, *a, *b),
            Inst::Cast { op, from, to, a, .. } => {
                let label = self.slot(view, *a, 0);
                match (op, from, to) {
                    // An integer may be stored in a pointer.
                    (_, Ty::Ptr, _) if !self.may_be_program_address(view.value(*a)) => label,
                    (CastOp::Bits, Ty::Ptr, Ty::Int(_)) => match made_of(label) {
                        0 => label | ADDRESS,
                        _ => label | LAYOUT,
                    },
                    (_, Ty::Ptr, _) => label | LAYOUT,
                    (CastOp::Bits, _, Ty::Ptr) => label & !ADDRESS,
                    (CastOp::Bits, ..) => label,
                    _ => self.operands(view, inst),
                }
            }
            Inst::Copy { a, .. } => self.slot(view, *a, 0),
            Inst::Select { slots, dst, cond, a, b } => {
                let choice = used(self.slot(view, *cond, 0));
                let from = if view.value(*cond) & 1 != 0 { *a } else { *b };
                for k in 0..*slots {
                    let label = self.slot(view, from, k) | choice;
                    self.fleeting.set(view.depth, dst + k, label);
                }
                return;
            }
            Inst::Address { base, index, .. } => {
                let label = self.slot(view, *base, 0) | used(self.slot(view, *index, 0));
                made_of(label) | reached_through(label)
            }
            Inst::Bin { .. }
            | Inst::ICmp { .. }
            | Inst::Float { .. }
            | Inst::FCmp { .. }
            | Inst::Pure { .. } => self.operands(view, inst),
            Inst::Unknown { source, .. } => self.operands(view, inst) | sources::processor_label(source),
            Inst::Load { addr, ty, .. } => match effect {
                Effect::Load { address, len } => {
                    let place = self.slot(view, *addr, 0);
                    self.loaded(address, len.into(), *ty) | chosen_by(place) | reached_through(place)
                }
                _ => 0,
            },
            Inst::Store { addr, value, ty } => {
                if let Effect::Store { address, len } = effect {
                    let high = if len > 8 { self.slot(view, *value, 1) } else { 0 };
                    let label = self.number(view, *value, *ty) | high;
                    let placed = chosen_by(self.slot(view, *addr, 0));
                    self.stored(address, len.into(), label & OWN | placed);
                }
                return;
            }
            Inst::Rmw { value, ty, .. } => {
                let Effect::Update { address, len, .. } = effect else { return };
                let old = self.loaded(address, len.into(), *ty);
                let label = used(old | self.slot(view, *value, 0));
                self.stored(address, len.into(), label & OWN);
                old
            }
            Inst::CmpXchg { dst, expected, new, ty, .. } => {
                let Effect::Update { address, len, stored } = effect else { return };
                let old = self.loaded(address, len.into(), *ty);
                if stored {
                    let label = self.slot(view, *new, 0);
                    self.stored(address, len.into(), label & OWN);
                }
                let exchanged = used(old | self.slot(view, *expected, 0));
                self.fleeting.set(view.depth, *dst, old);
                self.fleeting.set(view.depth, dst + ty.slots(), exchanged);
                return;
            }
            Inst::MemCopy { .. } | Inst::VaCopy { .. } => {
                if let Effect::Copy { to, from, len } = effect {
                    self.fleeting.memory.copy(to, from, len);
                }
                return;
            }
            Inst::MemSet { byte, .. } => {
                if let Effect::Fill { to, len } = effect {
                    let label = used(self.slot(view, *byte, 0)) & OWN;
                    self.fleeting.memory.fill(to, len, label);
                }
                return;
            }
            Inst::VaStart { .. } => {
                if let Effect::Fill { to, len } = effect {
                    self.fleeting.overwritten(to, len);
                }
                return;
            }
            Inst::Branch { cond: value, .. } | Inst::Switch { value, .. } => {
                let label = self.slot(view, *value, 0) & !ADDRESS;
                self.fleeting.branch_label = label;
                return;
            }
            Inst::Call(call) => return self.passing(view, call),
            Inst::Return { value, ret } => return self.pass_result(view, *value, ret),
            _ => 0,
        };
        if let Some((dst, slots)) = inst.defines() {
            for k in 0..slots {
                self.fleeting.set(view.depth, dst + k, label);
            }
        }
    }

    /// The label of one slot of an operand.
    pub(super) fn slot(&self, view: &View<'_>, operand: Operand, k: u32) -> Label {
        match operand {
            Operand::Reg(r) => self.fleeting.get(view.depth, r + k),
            _ => 0,
        }
    }

    /// The label shown instead of an operand that is used as a value of this type.
    pub(crate) fn shown(&self, view: &View<'_>, operand: Operand, ty: Ty) -> Label {
        self.number(view, operand, ty) & SHOWN
    }

    /// The label of an operand that is used as a value of this type.
    pub(super) fn number(&self, view: &View<'_>, operand: Operand, ty: Ty) -> Label {
        match (operand, ty) {
            (Operand::Symbol { .. }, Ty::Int(_)) => ADDRESS,
            (_, Ty::Ptr) => self.slot(view, operand, 0) & !ADDRESS,
            _ => self.slot(view, operand, 0),
        }
    }

    fn operands(&self, view: &View<'_>, inst: &Inst) -> Label {
        let mut label = 0;
        inst.for_each_use(|operand, slots| {
            for k in 0..slots {
                label |= used(self.slot(view, operand, k));
            }
        });
        label
    }

    fn binary(&self, view: &View<'_>, op: BinOp, a: Operand, b: Operand) -> Label {
        let [x, y] = [a, b].map(|o| self.number(view, o, Ty::Int(64)));
        let rest = (x | y) & !ADDRESS;
        if (x | y) & ADDRESS == 0 {
            return rest;
        }
        let both = x & y & ADDRESS != 0;
        let other = if x & ADDRESS != 0 { view.value(b) } else { view.value(a) };
        let what = match op {
            BinOp::Add if !both => ADDRESS,
            BinOp::Sub if both => match self.share_object(view.value(a), view.value(b)) {
                true => 0,
                false => LAYOUT,
            },
            BinOp::Sub if x & ADDRESS != 0 => ADDRESS,
            // Masks of up to 16 bytes give the alignment, which is the same in every run; masks of the low
            // bits only give an address again.
            BinOp::And if !both && other < 16 => 0,
            BinOp::And if !both && !other < 1 << 16 => ADDRESS,
            BinOp::Or | BinOp::Xor if !both && other < 16 => ADDRESS,
            _ => LAYOUT,
        };
        rest | what
    }

    fn comparison(&self, view: &View<'_>, pred: IntPred, a: Operand, b: Operand) -> Label {
        let [x, y] = [a, b].map(|o| self.slot(view, o, 0));
        let rest = (x | y) & !ADDRESS;
        let ordered = !matches!(pred, IntPred::Eq | IntPred::Ne);
        match ordered && x & y & ADDRESS != 0 && !self.share_object(view.value(a), view.value(b)) {
            true => rest | LAYOUT,
            false => rest,
        }
    }

    /// Whether an address may be that of an object or function of the program.
    fn may_be_program_address(&self, address: u64) -> bool {
        is_address(address)
            || self.trace_tables.objects.block(address).is_some()
            || self.trace_tables.global_around(address).is_some()
            || self.trace_tables.image.function_at(address).is_some()
            || self.frames.last().is_some_and(|f| f.frame <= address && address < self.stack)
    }

    /// Whether two addresses are within one object, or one past its end.
    fn share_object(&self, a: u64, b: u64) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        if let Some((start, len, _)) = self.trace_tables.objects.block(low) {
            return high - start <= len;
        }
        if let Some(global) = self.trace_tables.global_around(low) {
            return high - global.address <= global.size;
        }
        let frame = |f: &&crate::extract::ActiveCall| f.frame <= low && low < f.frame + f.size;
        match self.frames.iter().rev().find(frame) {
            Some(frame) => high - frame.frame <= frame.size,
            None => high - low <= NEAR,
        }
    }

    fn loaded(&self, address: u64, len: u64, ty: Ty) -> Label {
        let label = self.fleeting.memory.union(address, len);
        if label & ADDRESS == 0 {
            return label;
        }
        let whole = || (0..8).all(|i| self.fleeting.memory.get(address.wrapping_add(i)) & ADDRESS != 0);
        match ty {
            Ty::Ptr => label & !ADDRESS,
            Ty::Int(64) if whole() => label,
            _ => used(label),
        }
    }

    fn stored(&mut self, address: u64, len: u64, label: Label) {
        self.fleeting.memory.fill(address, len, label);
    }

    /// Propagates labels to the phis of an edge's target.
    pub(crate) fn on_edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        let next = self.sink.len();
        let label = std::mem::take(&mut self.fleeting.branch_label);
        if label != 0 {
            let until = self.immediate_post_dominator(from);
            self.fleeting.decisions.made(next, reasons(label), view.depth, until);
        }
        if self.fleeting.decisions.is_open() {
            self.fleeting.decisions.on_block(next, view.depth, to);
        }
        if !self.fleeting.is_live(view.depth) {
            return;
        }
        let edge = match view.code.ops[view.index as usize] {
            Op::Jump { edge } => edge,
            Op::Branch { then, otherwise, .. } => match view.code.edges[then as usize].to == to {
                true => then,
                false => otherwise,
            },
            Op::Switch { value, table } => {
                let value = view.regs.get(value as usize).copied().unwrap_or(0);
                view.code.tables[table as usize].find(value)
            }
            _ => return,
        };
        let Some(edge) = view.code.edges.get(edge as usize) else { return };
        for Move { dst, src } in &view.code.moves[edge.first as usize..edge.last as usize] {
            let label = self.fleeting.get(view.depth, *src);
            self.fleeting.set(view.depth, *dst, label);
        }
    }

    /// The immediate post-dominator of a block of the running function.
    fn immediate_post_dominator(&mut self, block: u32) -> u32 {
        let plan = &mut self.plans[self.current];
        let function = &self.trace_tables.image.module(plan.module).functions[plan.function as usize];
        let post_dominator_tree =
            plan.post_dominator_tree.get_or_insert_with(|| Graph::of(function).post_dominators());
        post_dominator_tree.immediate(block).unwrap_or(u32::MAX)
    }
}

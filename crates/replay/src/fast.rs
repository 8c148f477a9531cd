//! The fast inner loop: runs [`Fused`] operations while no event of the recording is due and observers need
//! only loads, stores and calls.
//!
//! It is entered only before the time of the next event and far enough from the limit, and checks both where
//! time advances or control goes back; in between, a function's code can run at most once. So neither a load
//! nor an instruction needs a check of its own. Operations that it cannot execute are left to the plain loop,
//! at exactly that instruction.

use crate::arith;
use crate::arith64;
use crate::code::Code;
use crate::fused::{Fused, FusedCode, WINDOW};
use crate::image::Image;
use crate::memory::Memory;
use crate::observer::{Effect, Observer, View};
use program::inst::FloatOp;

/// Why the loop returned; the frame's `pc` is at the instruction.
pub(crate) enum FastExit {
    /// The plain loop must execute the instruction.
    Plain,
    /// The instruction needs the whole machine.
    Slow,
    Call(u32),
    Return(u32, u32),
}

/// The state that the loop changes besides registers and memory.
pub(crate) struct FastState {
    pub pc: usize,
    pub time: u64,
    pub sum: u64,
    /// See [`crate::fused`]; on return, the counts themselves.
    pub base: u64,
    pub next_event_time: u64,
    /// Number of instructions after which to stop.
    pub last: u32,
}

/// Further arguments for an observer of loads and stores.
pub(crate) struct ObserverContext<'m> {
    pub image: &'m Image,
    pub code: &'m Code,
    /// Number of instructions when the function was entered or resumed.
    pub count: u64,
    pub depth: u32,
}

/// Runs one function until an operation needs another part of the machine. `s.time` must be below `s.next_event_time`.
#[inline(always)]
pub(crate) fn run<O: Observer>(
    s: &mut FastState,
    fused: &FusedCode,
    regs: &mut [u64; WINDOW],
    memory: &mut Memory,
    frame: u64,
    observer: &mut O,
    watched: &ObserverContext<'_>,
) -> FastExit {
    let ops = &fused.ops[..];
    let fused_edges = &fused.fused_edges[..];
    let FastState { mut pc, mut time, mut sum, mut base, next_event_time, last } = *s;
    macro_rules! r {
        ($slot:expr) => {
            regs[usize::from($slot)]
        };
    }
    macro_rules! go {
        ($fused_edge:expr) => {{
            let number = $fused_edge;
            if O::FUSED_EDGES {
                observer.fused_edge(number);
            }
            let fused_edge = &fused_edges[number as usize];
            sum = sum.wrapping_add(fused_edge.mix);
            base = base.wrapping_add(fused_edge.counts);
            r!(fused_edge.moves[0].0) = r!(fused_edge.moves[0].1);
            r!(fused_edge.moves[1].0) = r!(fused_edge.moves[1].1);
            if fused_edge.more != 0 {
                for m in &fused.moves[fused_edge.first as usize..][..fused_edge.more as usize] {
                    r!(m.0) = r!(m.1);
                }
            }
            pc = fused_edge.pc as usize;
            if fused_edge.check {
                time += u64::from(fused_edge.tick);
                if time >= next_event_time || (base as u32).wrapping_add(pc as u32) > last {
                    base = base.wrapping_add(fused.counts(pc));
                    break FastExit::Plain;
                }
            }
            continue;
        }};
    }
    macro_rules! branch {
        ($dst:expr, $edge:expr, $cond:expr) => {{
            let cond = $cond;
            r!($dst) = u64::from(cond);
            // Two separate jumps, so that the processor can predict the branch.
            if cond { go!($edge) } else { go!($edge + 1) }
        }};
    }
    macro_rules! expect {
        ($dst:expr, $edge:expr, $cond:expr) => {{
            let cond = $cond;
            for k in 0..4u16 {
                r!($dst.wrapping_add(k)) = u64::from(cond);
            }
            if cond { go!($edge) } else { go!($edge + 1) }
        }};
    }
    // Reports an instruction of the group at `pc`, at this distance from the first.
    macro_rules! tell {
        ($ahead:literal, $effect:expr) => {
            if O::STEPS {
                let ObserverContext { image, code, count, depth } = *watched;
                let index = (pc + $ahead) as u32;
                let view = View { image, code, index, regs, memory, count, time, depth, frame };
                observer.step(&view, $effect);
            }
        };
    }
    macro_rules! load {
        ($ahead:literal, $dst:expr, $load:ident, $address:expr) => {{
            let address = $address;
            let value = memory.$load(address);
            r!($dst) = u64::from(value);
            tell!($ahead, Effect::Load { address, len: size_of_val(&value) as u32 });
        }};
    }
    macro_rules! store {
        ($ahead:literal, $value:expr, $store:ident, $ty:ty, $address:expr) => {{
            // The address first: the stored value may be the slot of the address itself.
            let address = $address;
            let value = r!($value);
            sum = sum.wrapping_add(value);
            memory.$store(address, value as $ty);
            tell!($ahead, Effect::Store { address, len: size_of::<$ty>() as u32 });
        }};
    }
    // An address computed into its own slot.
    macro_rules! add {
        ($dst:expr, $a:expr, $b:expr) => {{
            let v = r!($a).wrapping_add(r!($b));
            r!($dst) = v;
            v
        }};
    }
    macro_rules! scaled {
        ($dst:expr, $base:expr, $index:expr, $scale:expr) => {{
            let v = r!($base).wrapping_add($index.wrapping_mul(i64::from($scale).cast_unsigned()));
            r!($dst) = v;
            v
        }};
    }
    macro_rules! divided {
        ($value:expr) => {
            match $value {
                Some(v) => v,
                None => {
                    base = base.wrapping_add(fused.counts(pc));
                    break FastExit::Slow;
                }
            }
        };
    }
    let halt = loop {
        match ops[pc] {
            Fused::Add64 { dst, a, b } => r!(dst) = r!(a).wrapping_add(r!(b)),
            Fused::Add32 { dst, a, b } => r!(dst) = u64::from((r!(a) as u32).wrapping_add(r!(b) as u32)),
            Fused::Add { sh, dst, a, b } => r!(dst) = arith64::wrap(r!(a).wrapping_add(r!(b)), sh),
            Fused::Sub64 { dst, a, b } => r!(dst) = r!(a).wrapping_sub(r!(b)),
            Fused::Sub32 { dst, a, b } => r!(dst) = u64::from((r!(a) as u32).wrapping_sub(r!(b) as u32)),
            Fused::Sub { sh, dst, a, b } => r!(dst) = arith64::wrap(r!(a).wrapping_sub(r!(b)), sh),
            Fused::Mul { sh, dst, a, b } => r!(dst) = arith64::wrap(r!(a).wrapping_mul(r!(b)), sh),
            Fused::And { dst, a, b } => r!(dst) = r!(a) & r!(b),
            Fused::Or { dst, a, b } => r!(dst) = r!(a) | r!(b),
            Fused::Xor { dst, a, b } => r!(dst) = r!(a) ^ r!(b),
            Fused::Shl { sh, dst, a, b } => r!(dst) = arith64::shl(sh, r!(a), r!(b)),
            Fused::LShr { sh, dst, a, b } => r!(dst) = arith64::lshr(sh, r!(a), r!(b)),
            Fused::AShr { sh, dst, a, b } => r!(dst) = arith64::ashr(sh, r!(a), r!(b)),
            Fused::UDiv { dst, a, b } => r!(dst) = divided!(r!(a).checked_div(r!(b))),
            Fused::URem { dst, a, b } => r!(dst) = divided!(r!(a).checked_rem(r!(b))),
            Fused::SDiv { sh, dst, a, b } => r!(dst) = divided!(arith64::sdiv(sh, r!(a), r!(b))),
            Fused::SRem { sh, dst, a, b } => r!(dst) = divided!(arith64::srem(sh, r!(a), r!(b))),
            Fused::Eq { dst, a, b } => r!(dst) = u64::from(r!(a) == r!(b)),
            Fused::Ne { dst, a, b } => r!(dst) = u64::from(r!(a) != r!(b)),
            Fused::Ult { dst, a, b } => r!(dst) = u64::from(r!(a) < r!(b)),
            Fused::Ule { dst, a, b } => r!(dst) = u64::from(r!(a) <= r!(b)),
            Fused::Slt { sh, dst, a, b } => r!(dst) = arith64::slt(sh, r!(a), r!(b)).into(),
            Fused::Sle { sh, dst, a, b } => r!(dst) = arith64::sle(sh, r!(a), r!(b)).into(),
            Fused::F64Add { dst, a, b } => {
                r!(dst) = arith::float64(FloatOp::Add, f64::from_bits(r!(a)), f64::from_bits(r!(b)));
            }
            Fused::F64Sub { dst, a, b } => {
                r!(dst) = arith::float64(FloatOp::Sub, f64::from_bits(r!(a)), f64::from_bits(r!(b)));
            }
            Fused::F64Mul { dst, a, b } => {
                r!(dst) = arith::float64(FloatOp::Mul, f64::from_bits(r!(a)), f64::from_bits(r!(b)));
            }
            Fused::F64 { op, dst, a, b } => {
                r!(dst) = arith::float64(op, f64::from_bits(r!(a)), f64::from_bits(r!(b)));
            }
            Fused::F32 { op, dst, a, b } => {
                let (a, b) = (f32::from_bits(r!(a) as u32), f32::from_bits(r!(b) as u32));
                r!(dst) = arith::float32(op, a, b).into();
            }
            Fused::FCmp64 { pred, dst, a, b } => r!(dst) = arith64::fcmp64(pred, r!(a), r!(b)).into(),
            Fused::Trunc32 { dst, a } => r!(dst) = u64::from(r!(a) as u32),
            Fused::Trunc { sh, dst, a } => r!(dst) = arith64::wrap(r!(a), sh),
            Fused::Sext3264 { dst, a } => r!(dst) = arith64::sext(r!(a), 32).cast_unsigned(),
            Fused::Sext { from, to, dst, a } => {
                r!(dst) = arith64::wrap(arith64::sext(r!(a), from).cast_unsigned(), to);
            }
            Fused::SiToF64 { sh, dst, a } => r!(dst) = (arith64::sext(r!(a), sh) as f64).to_bits(),
            Fused::Copy { dst, a } => r!(dst) = r!(a),
            Fused::Select { dst, cond, a, b } => {
                r!(dst) = if r!(cond) & 1 != 0 { r!(a) } else { r!(b) };
                if O::FUSED_EDGES {
                    tell!(0, Effect::None);
                }
            }
            Fused::Scaled64 { dst, base, index, scale } => {
                scaled!(dst, base, r!(index), scale);
            }
            Fused::Scaled { sh, dst, base, index, scale } => {
                scaled!(dst, base, arith64::sext(r!(index), sh).cast_unsigned(), scale);
            }
            Fused::Frame { dst, offset } => r!(dst) = frame.wrapping_add(offset.into()),
            Fused::Load1 { dst, addr } => load!(0, dst, load1, r!(addr)),
            Fused::Load2 { dst, addr } => load!(0, dst, load2, r!(addr)),
            Fused::Load4 { dst, addr } => load!(0, dst, load4, r!(addr)),
            Fused::Load8 { dst, addr } => load!(0, dst, load8, r!(addr)),
            Fused::Store1 { addr, value } => store!(0, value, store1, u8, r!(addr)),
            Fused::Store2 { addr, value } => store!(0, value, store2, u16, r!(addr)),
            Fused::Store4 { addr, value } => store!(0, value, store4, u32, r!(addr)),
            Fused::Store8 { addr, value } => store!(0, value, store8, u64, r!(addr)),
            Fused::Tick => {
                time += 1;
                if time >= next_event_time || (base as u32).wrapping_add(pc as u32) >= last {
                    pc += 1;
                    base = base.wrapping_add(fused.counts(pc));
                    break FastExit::Plain;
                }
            }
            Fused::Jump { edge } => go!(edge),
            Fused::Branch { cond, edge } => {
                if r!(cond) & 1 != 0 {
                    go!(edge)
                } else {
                    go!(edge + 1)
                }
            }
            Fused::Switch { value, table } => go!(fused.tables[table as usize].find(r!(value))),
            Fused::Call { call, loads, .. } => {
                base = base.wrapping_add(u64::from(loads) << 32 | pc as u64);
                break FastExit::Call(call);
            }
            Fused::Return { value, slots, loads } => {
                base = base.wrapping_add(u64::from(loads) << 32 | pc as u64);
                break FastExit::Return(value.into(), slots.into());
            }
            Fused::Slow => {
                base = base.wrapping_add(fused.counts(pc));
                break FastExit::Slow;
            }

            Fused::AddLoad1 { addr, a, b, dst } => {
                load!(1, dst, load1, add!(addr, a, b));
                pc += 1;
            }
            Fused::AddLoad2 { addr, a, b, dst } => {
                load!(1, dst, load2, add!(addr, a, b));
                pc += 1;
            }
            Fused::AddLoad4 { addr, a, b, dst } => {
                load!(1, dst, load4, add!(addr, a, b));
                pc += 1;
            }
            Fused::AddLoad8 { addr, a, b, dst } => {
                load!(1, dst, load8, add!(addr, a, b));
                pc += 1;
            }
            Fused::AddStore1 { addr, a, b, value } => {
                store!(1, value, store1, u8, add!(addr, a, b));
                pc += 1;
            }
            Fused::AddStore2 { addr, a, b, value } => {
                store!(1, value, store2, u16, add!(addr, a, b));
                pc += 1;
            }
            Fused::AddStore4 { addr, a, b, value } => {
                store!(1, value, store4, u32, add!(addr, a, b));
                pc += 1;
            }
            Fused::AddStore8 { addr, a, b, value } => {
                store!(1, value, store8, u64, add!(addr, a, b));
                pc += 1;
            }
            Fused::AddLoad1Copy { addr, a, b, dst, copy } => {
                load!(1, dst, load1, add!(addr, a, b));
                r!(copy) = r!(dst);
                pc += 2;
            }
            Fused::AddLoad2Copy { addr, a, b, dst, copy } => {
                load!(1, dst, load2, add!(addr, a, b));
                r!(copy) = r!(dst);
                pc += 2;
            }
            Fused::AddLoad4Copy { addr, a, b, dst, copy } => {
                load!(1, dst, load4, add!(addr, a, b));
                r!(copy) = r!(dst);
                pc += 2;
            }
            Fused::AddLoad8Add { addr, a, b, dst, sum, c } => {
                load!(1, dst, load8, add!(addr, a, b));
                add!(sum, dst, c);
                pc += 2;
            }
            Fused::AddLoad8AddLoad8 { addr, a, b, dst, sum, c, last } => {
                load!(1, dst, load8, add!(addr, a, b));
                load!(3, last, load8, add!(sum, dst, c));
                pc += 3;
            }
            Fused::AddLoad8Copy { addr, a, b, dst, copy } => {
                load!(1, dst, load8, add!(addr, a, b));
                r!(copy) = r!(dst);
                pc += 2;
            }
            Fused::AddThenLoad1 { sum, a, b, dst, addr } => {
                add!(sum, a, b);
                load!(1, dst, load1, r!(addr));
                pc += 1;
            }
            Fused::AddThenLoad4 { sum, a, b, dst, addr } => {
                add!(sum, a, b);
                load!(1, dst, load4, r!(addr));
                pc += 1;
            }
            Fused::AddThenLoad8 { sum, a, b, dst, addr } => {
                add!(sum, a, b);
                load!(1, dst, load8, r!(addr));
                pc += 1;
            }
            Fused::Load8Copy { dst, addr, copy } => {
                load!(0, dst, load8, r!(addr));
                r!(copy) = r!(dst);
                pc += 1;
            }
            Fused::Load8ThenLoad8 { dst, addr, dst2, addr2 } => {
                load!(0, dst, load8, r!(addr));
                load!(1, dst2, load8, r!(addr2));
                pc += 1;
            }
            Fused::CopyThenStore8 { dst, a, addr, value } => {
                r!(dst) = r!(a);
                store!(1, value, store8, u64, r!(addr));
                pc += 1;
            }
            Fused::Scaled64Load1 { addr, base, index, scale, dst } => {
                load!(1, dst, load1, scaled!(addr, base, r!(index), scale));
                pc += 1;
            }
            Fused::Scaled64Load4 { addr, base, index, scale, dst } => {
                load!(1, dst, load4, scaled!(addr, base, r!(index), scale));
                pc += 1;
            }
            Fused::Scaled64Load8 { addr, base, index, scale, dst } => {
                load!(1, dst, load8, scaled!(addr, base, r!(index), scale));
                pc += 1;
            }
            Fused::ScaledLoad4 { sh, addr, base, index, scale, dst } => {
                let i = arith64::sext(r!(index), sh).cast_unsigned();
                load!(1, dst, load4, scaled!(addr, base, i, scale));
                pc += 1;
            }
            Fused::Sext3264Scaled64 { index, a, dst, base, scale } => {
                let i = arith64::sext(r!(a), 32).cast_unsigned();
                r!(index) = i;
                scaled!(dst, base, i, scale);
                pc += 1;
            }
            Fused::Sext3264Scaled64Load1 { index, a, addr, base, scale, dst } => {
                let i = arith64::sext(r!(a), 32).cast_unsigned();
                r!(index) = i;
                load!(2, dst, load1, scaled!(addr, base, i, scale));
                pc += 2;
            }
            Fused::Sext3264Scaled64Load4 { index, a, addr, base, scale, dst } => {
                let i = arith64::sext(r!(a), 32).cast_unsigned();
                r!(index) = i;
                load!(2, dst, load4, scaled!(addr, base, i, scale));
                pc += 2;
            }
            Fused::Sext3264Scaled64Load8 { index, a, addr, base, scale, dst } => {
                let i = arith64::sext(r!(a), 32).cast_unsigned();
                r!(index) = i;
                load!(2, dst, load8, scaled!(addr, base, i, scale));
                pc += 2;
            }
            Fused::CopyScaled64 { index, a, dst, base, scale } => {
                let i = r!(a);
                r!(index) = i;
                scaled!(dst, base, i, scale);
                pc += 1;
            }
            Fused::CopyScaled64Load8 { index, a, addr, base, scale, dst } => {
                let i = r!(a);
                r!(index) = i;
                load!(2, dst, load8, scaled!(addr, base, i, scale));
                pc += 2;
            }
            Fused::LShrAnd { sh, dst, a, b, and, c } => {
                let v = arith64::lshr(sh, r!(a), r!(b));
                r!(dst) = v;
                r!(and) = v & r!(c);
                pc += 1;
            }
            Fused::LShrAndSextScaled64 { sh, dst, a, b, c, base, scale } => {
                let v = arith64::lshr(sh, r!(a), r!(b));
                r!(dst) = v;
                let v = v & r!(c);
                r!(dst.wrapping_add(1)) = v;
                let i = arith64::sext(v, 32).cast_unsigned();
                r!(dst.wrapping_add(2)) = i;
                scaled!(dst.wrapping_add(3), base, i, scale);
                pc += 3;
            }
            Fused::AndCopy { dst, a, b, copy } => {
                let v = r!(a) & r!(b);
                r!(dst) = v;
                r!(copy) = v;
                pc += 1;
            }
            Fused::AndEqBranch { and, a, b, dst, c, edge } => {
                let v = r!(a) & r!(b);
                r!(and) = v;
                branch!(dst, edge, v == r!(c))
            }
            Fused::AndNeBranch { and, a, b, dst, c, edge } => {
                let v = r!(a) & r!(b);
                r!(and) = v;
                branch!(dst, edge, v != r!(c))
            }
            Fused::CopySwitch { dst, a, table } => {
                let v = r!(a);
                r!(dst) = v;
                go!(fused.tables[table as usize].find(v))
            }
            Fused::Add64Jump { dst, a, b, edge } => {
                add!(dst, a, b);
                go!(edge)
            }
            Fused::Add32Jump { dst, a, b, edge } => {
                r!(dst) = u64::from((r!(a) as u32).wrapping_add(r!(b) as u32));
                go!(edge)
            }
            Fused::CopyJump { dst, a, edge } => {
                r!(dst) = r!(a);
                go!(edge)
            }
            Fused::Load8Jump { dst, addr, edge } => {
                load!(0, dst, load8, r!(addr));
                go!(edge)
            }
            Fused::AddStore1Jump { addr, a, b, value, edge } => {
                store!(1, value, store1, u8, add!(addr, a, b));
                go!(edge)
            }
            Fused::AddStore8Jump { addr, a, b, value, edge } => {
                store!(1, value, store8, u64, add!(addr, a, b));
                go!(edge)
            }
            Fused::EqBranch { dst, a, b, edge } => branch!(dst, edge, r!(a) == r!(b)),
            Fused::NeBranch { dst, a, b, edge } => branch!(dst, edge, r!(a) != r!(b)),
            Fused::UltBranch { dst, a, b, edge } => branch!(dst, edge, r!(a) < r!(b)),
            Fused::UleBranch { dst, a, b, edge } => branch!(dst, edge, r!(a) <= r!(b)),
            Fused::SltBranch { sh, dst, a, b, edge } => branch!(dst, edge, arith64::slt(sh, r!(a), r!(b))),
            Fused::SleBranch { sh, dst, a, b, edge } => branch!(dst, edge, arith64::sle(sh, r!(a), r!(b))),
            Fused::EqExpect { dst, a, b, edge } => expect!(dst, edge, r!(a) == r!(b)),
            Fused::NeExpect { dst, a, b, edge } => expect!(dst, edge, r!(a) != r!(b)),
            Fused::UltExpect { dst, a, b, edge } => expect!(dst, edge, r!(a) < r!(b)),
            Fused::SltExpect { sh, dst, a, b, edge } => expect!(dst, edge, arith64::slt(sh, r!(a), r!(b))),
        }
        pc += 1;
    };
    *s = FastState { pc, time, sum, base, next_event_time, last };
    halt
}

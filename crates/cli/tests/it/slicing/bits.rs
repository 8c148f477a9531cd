//! Which bits of an instruction's operands each bit of its result is made of.

use program::inst::{BinOp, CastOp, Inst, Operand, Pure, Ty};

/// Bits of operands.
pub type Made = Vec<(Operand, u32)>;

/// What bit `i` of the result is made of, if that can be said of single bits.
pub fn made_of(inst: &Inst, i: u32) -> Option<Made> {
    match inst {
        Inst::Copy { a, .. } => Some(vec![(*a, i)]),
        Inst::Cast { op, from: Ty::Int(from), to: Ty::Int(to), a, .. } if *from <= 64 && *to <= 64 => {
            let (from, to) = (u32::from(*from), u32::from(*to));
            let bit = match op {
                CastOp::Trunc => i,
                CastOp::Zext if i >= from => return Some(Vec::new()),
                CastOp::Zext => i,
                CastOp::Sext => i.min(from - 1),
                CastOp::Bits => return Some(vec![(*a, i)]),
                _ => return None,
            };
            Some(if i < to { vec![(*a, bit)] } else { Vec::new() })
        }
        Inst::Cast { op: CastOp::Bits, from, to, a, .. } if from.slots() == 1 && to.slots() == 1 => {
            Some(vec![(*a, i)])
        }
        Inst::Bin { op, bits, a, b, .. } if *bits <= 64 => of_binary(*op, u32::from(*bits), (*a, *b), i),
        Inst::Pure { op: Pure::Bswap, ty: Ty::Int(bits), args, .. } if *bits <= 64 => {
            let bits = u32::from(*bits);
            Some(if i < bits { vec![(args[0], (bits / 8 - 1 - i / 8) * 8 + i % 8)] } else { Vec::new() })
        }
        _ => None,
    }
}

fn of_binary(op: BinOp, bits: u32, (a, b): (Operand, Operand), i: u32) -> Option<Made> {
    let is_set = |o: Operand, value: u64| matches!(o, Operand::Const(c) if c >> i & 1 == value);
    let amount = match b {
        Operand::Const(c) => Some((c % u64::from(bits)) as u32),
        _ => None,
    };
    let decided = match op {
        BinOp::And => is_set(a, 0) || is_set(b, 0),
        BinOp::Or => is_set(a, 1) || is_set(b, 1),
        _ => false,
    };
    Some(match (op, amount) {
        (BinOp::Shl | BinOp::LShr | BinOp::AShr, None) => return None,
        (BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, _) => return None,
        _ if i >= bits || decided => Vec::new(),
        (BinOp::And | BinOp::Or | BinOp::Xor, _) => vec![(a, i), (b, i)],
        (BinOp::Add | BinOp::Sub | BinOp::Mul, _) => (0..=i).flat_map(|i| [(a, i), (b, i)]).collect(),
        (BinOp::Shl, Some(n)) => i.checked_sub(n).map(|i| (a, i)).into_iter().collect(),
        (BinOp::LShr, Some(n)) => Some(i + n).filter(|i| *i < bits).map(|i| (a, i)).into_iter().collect(),
        (BinOp::AShr, Some(n)) => vec![(a, (i + n).min(bits - 1))],
    })
}

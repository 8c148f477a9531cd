//! Which columns of addresses say the same: `a[i]` and `b[i + 1]` are at addresses that
//! differ by little that changes, wherever in the function they are used.
//!
//! Every register that has a column is written as a sum of registers with factors. A
//! column whose sum is (nearly) that of another one, used before it on every way, need
//! only say how far it is from there. This is a guess at what will repay, not a claim:
//! what is stored is the difference, whatever it is.
//!
//! The other column must be one that can be read by itself, since it is looked at before
//! the way back has come to it; or belong to the same stretch, where all columns are at
//! the same turn.

use crate::hash::Map;
use program::cfg::Graph;
use program::inst::{BinOp, CastOp, Inst, Operand, Reg};
use program::model::Function;

/// What a column is predicted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guide {
    /// The last value of another column, which belongs to a stretch, times a factor,
    /// shifted right.
    Column { column: u32, stretch: u32, factor: u64, shift: u32 },
    /// The activation's frame: for addresses that a caller passed.
    Frame,
}

impl Guide {
    /// What a value of the column it names stands for.
    #[must_use]
    #[inline]
    pub fn apply(self, value: u64) -> u64 {
        match self {
            Guide::Column { factor, shift, .. } => value.wrapping_mul(factor) >> (shift & 63),
            Guide::Frame => value,
        }
    }
}

/// A column of addresses: its number, the stretch, the register.
#[derive(Clone, Copy, Debug)]
pub struct Rooted {
    pub column: u32,
    pub stretch: u32,
    pub block: u32,
    pub reg: Reg,
}

/// Terms of a sum: what nothing more is known of, and its factor.
type Sum = Vec<(u32, i64)>;

/// No sum has more terms, and no register is followed further.
const TERMS: usize = 6;
const DEEP: u32 = 24;
/// Columns that are compared with each other.
const COMPARED: usize = 48;

/// What a term costs if it changes from one turn of a loop to the next, and if not.
const CHANGES: u32 = 3;
const STAYS: u32 = 1;

struct Sums<'f> {
    made_by: &'f [Option<&'f Inst>],
    known: Vec<Option<Sum>>,
    /// Numbers of what cannot be taken apart. Loads from the same address share one.
    loads: Map<(u64, u32), u32>,
}

impl Sums<'_> {
    fn operand(&mut self, operand: Operand, deep: u32) -> Option<Sum> {
        match operand {
            Operand::Reg(reg) => Some(self.of(reg, deep)),
            Operand::Const(_) | Operand::Symbol { .. } => Some(Sum::new()),
        }
    }

    fn of(&mut self, reg: Reg, deep: u32) -> Sum {
        if let Some(Some(sum)) = self.known.get(reg as usize) {
            return sum.clone();
        }
        let sum = (deep < DEEP).then(|| self.take_apart(reg, deep + 1)).flatten();
        let sum = sum.filter(|s| s.len() <= TERMS).unwrap_or_else(|| vec![(reg, 1)]);
        if let Some(place) = self.known.get_mut(reg as usize) {
            *place = Some(sum.clone());
        }
        sum
    }

    fn take_apart(&mut self, reg: Reg, deep: u32) -> Option<Sum> {
        match self.made_by.get(reg as usize).copied().flatten()? {
            Inst::Copy { a, .. } | Inst::Cast { op: CastOp::Zext | CastOp::Sext | CastOp::Bits, a, .. } => {
                self.operand(*a, deep)
            }
            Inst::Frame { .. } => Some(Sum::new()),
            Inst::Address { base, index, scale, .. } => {
                let (base, index) = (self.operand(*base, deep)?, self.operand(*index, deep)?);
                Some(plus(&base, &index, *scale))
            }
            Inst::Bin { op: BinOp::Add, a, b, .. } => {
                let (a, b) = (self.operand(*a, deep)?, self.operand(*b, deep)?);
                Some(plus(&a, &b, 1))
            }
            Inst::Bin { op: BinOp::Sub, a, b, .. } => {
                let (a, b) = (self.operand(*a, deep)?, self.operand(*b, deep)?);
                Some(plus(&a, &b, -1))
            }
            Inst::Bin { op: BinOp::Mul, a, b: Operand::Const(c), .. } => {
                let a = self.operand(*a, deep)?;
                Some(plus(&Sum::new(), &a, c.cast_signed()))
            }
            Inst::Bin { op: BinOp::Shl, a, b: Operand::Const(c @ 0..=32), .. } => {
                let a = self.operand(*a, deep)?;
                Some(plus(&Sum::new(), &a, 1 << c))
            }
            Inst::Load { addr, ty, .. } => {
                // Another load from there has mostly got the same.
                let key = self.address(*addr, deep)?;
                let name = *self.loads.entry((key, ty.bytes())).or_insert(reg);
                Some(vec![(name, 1)])
            }
            _ => None,
        }
    }

    /// A number for an address, the same for the same sum with the same constant.
    fn address(&mut self, operand: Operand, deep: u32) -> Option<u64> {
        use std::hash::Hasher;
        let mut hash = crate::hash::Mix::default();
        let mut at = operand;
        for _ in 0..DEEP {
            match at {
                Operand::Reg(reg) => match self.made_by.get(reg as usize).copied().flatten() {
                    Some(Inst::Copy { a, .. }) => at = *a,
                    Some(Inst::Address { base, index: Operand::Const(i), scale, offset, .. }) => {
                        let step = i.cast_signed().wrapping_mul(*scale).wrapping_add(*offset);
                        hash.write_u64(step.cast_unsigned());
                        at = *base;
                    }
                    Some(Inst::Frame { offset, .. }) => {
                        hash.write_u64(*offset);
                        hash.write_u32(1);
                        break;
                    }
                    _ => {
                        for (term, factor) in self.of(reg, deep) {
                            hash.write_u32(term);
                            hash.write_u64(factor.cast_unsigned());
                        }
                        break;
                    }
                },
                Operand::Const(c) => {
                    hash.write_u64(c);
                    hash.write_u32(2);
                    break;
                }
                Operand::Symbol { symbol, offset } => {
                    hash.write_u32(symbol);
                    hash.write_u64(offset.cast_unsigned());
                    break;
                }
            }
        }
        Some(hash.finish())
    }
}

/// `a + b * factor`
fn plus(a: &Sum, b: &Sum, factor: i64) -> Sum {
    let mut sum = a.clone();
    for (term, by) in b {
        let by = by.wrapping_mul(factor);
        match sum.binary_search_by_key(term, |t| t.0) {
            Ok(at) => sum[at].1 = sum[at].1.wrapping_add(by),
            Err(at) => sum.insert(at, (*term, by)),
        }
    }
    sum.retain(|t| t.1 != 0);
    sum
}

fn is_power(n: i64) -> bool {
    n > 0 && n.count_ones() == 1
}

/// How a sum relates to another one: with which factor and shift the least is left.
fn relate(of: &Sum, to: &Sum, cost: &dyn Fn(u32) -> u32) -> Option<(u32, u64, u32)> {
    let mut best: Option<(u32, u64, u32)> = None;
    for (term, factor) in of {
        let Ok(at) = to.binary_search_by_key(term, |t| t.0) else { continue };
        let other = to[at].1;
        let (times, shift) = if factor.wrapping_rem(other) == 0 && factor.wrapping_div(other) > 0 {
            (factor.wrapping_div(other), 0)
        } else if other.wrapping_rem(*factor) == 0 && is_power(other.wrapping_div(*factor)) {
            (1, other.wrapping_div(*factor).trailing_zeros())
        } else {
            continue;
        };
        // Terms are compared before the shift.
        let left = plus(&plus(&Sum::new(), of, 1 << shift), to, times.wrapping_neg());
        let left = left.iter().map(|t| cost(t.0)).sum();
        if best.is_none_or(|b| left < b.0) {
            best = Some((left, times.cast_unsigned(), shift));
        }
    }
    best
}

/// For each column the one it follows, if any.
pub fn guides(
    function: &Function,
    graph: &Graph,
    made_by: &[Option<&Inst>],
    rooted: &[Rooted],
    columns: usize,
) -> Vec<Option<Guide>> {
    let mut guides = vec![None; columns];
    if rooted.is_empty() {
        return guides;
    }
    let dominators = graph.dominators();
    let defined = defining_blocks(function);
    let loops = innermost(graph);
    let mut sums = Sums { made_by, known: vec![None; function.slots as usize], loads: Map::default() };
    // Columns by a term they have, in the order in which they may be followed.
    let mut having: Map<u32, Vec<usize>> = Map::default();
    let mut rank = vec![u32::MAX; graph.len()];
    for (i, node) in graph.reverse_postorder().into_iter().enumerate() {
        rank[node as usize] = i as u32;
    }
    let mut order: Vec<usize> = (0..rooted.len()).collect();
    order.sort_by_key(|i| (rank[rooted[*i].block as usize], rooted[*i].stretch, rooted[*i].column));
    let mut followed = vec![false; columns];
    let all: Vec<Sum> = rooted.iter().map(|r| sums.of(r.reg, 0)).collect();
    for i in order {
        let (this, sum) = (rooted[i], &all[i]);
        let inner = loops[this.block as usize].as_deref();
        let cost = |term: u32| match (inner, defined.get(term as usize)) {
            (Some(inside), Some(Some(block))) if inside.binary_search(block).is_ok() => CHANGES,
            _ => STAYS,
        };
        let mut best: Option<(u32, Guide)> = None;
        let mut least: u32 = sum.iter().map(|t| cost(t.0)).sum();
        for (term, _) in sum {
            for j in having.get(term).into_iter().flatten().rev().take(COMPARED) {
                let other = rooted[*j];
                let together = other.stretch == this.stretch && other.column < this.column;
                let before = other.stretch != this.stretch
                    && guides[other.column as usize].is_none()
                    && (other.block == this.block && other.stretch < this.stretch
                        || other.block != this.block && dominators.dominates(other.block, this.block));
                if !together && !before {
                    continue;
                }
                if let Some((left, factor, shift)) = relate(sum, &all[*j], &cost)
                    && left < least
                {
                    least = left;
                    let Rooted { column, stretch, .. } = other;
                    best = Some((left, Guide::Column { column, stretch, factor, shift }));
                }
            }
        }
        if let Some((_, guide)) = best {
            guides[this.column as usize] = Some(guide);
            if let Guide::Column { column, stretch, .. } = guide
                && stretch != this.stretch
            {
                followed[column as usize] = true;
            }
        }
        for (term, _) in sum {
            having.entry(*term).or_default().push(i);
        }
    }
    // What a caller passed may lie in its frame, which is near; what is used together may
    // lie together.
    for (i, (r, sum)) in rooted.iter().zip(&all).enumerate() {
        if guides[r.column as usize].is_some() || followed[r.column as usize] {
            continue;
        }
        let passed = sum.iter().any(|t| function.params.iter().any(|p| p.reg == t.0));
        let beside = i.checked_sub(1).map(|i| rooted[i]).filter(|b| b.stretch == r.stretch);
        guides[r.column as usize] = match beside {
            _ if passed => Some(Guide::Frame),
            Some(Rooted { column, stretch, .. }) => {
                Some(Guide::Column { column, stretch, factor: 1, shift: 0 })
            }
            None => None,
        };
    }
    guides
}

/// The block in which each register is assigned.
fn defining_blocks(function: &Function) -> Vec<Option<u32>> {
    let mut all = vec![None; function.slots as usize];
    let mut put = |reg: Reg, slots: u32, block: usize| {
        for r in reg..reg + slots {
            if let Some(place) = all.get_mut(r as usize) {
                *place = Some(block as u32);
            }
        }
    };
    for (b, block) in function.blocks.iter().enumerate() {
        for phi in &block.phis {
            put(phi.dst, phi.slots, b);
        }
        for inst in &function.code[block.start as usize..block.end as usize] {
            if let Some((dst, slots)) = inst.defines() {
                put(dst, slots, b);
            }
        }
    }
    all
}

/// For each block the nodes of the smallest loop around it.
fn innermost(graph: &Graph) -> Vec<Option<std::rc::Rc<Vec<u32>>>> {
    let mut all: Vec<Option<std::rc::Rc<Vec<u32>>>> = vec![None; graph.len()];
    let mut loops: Vec<_> = graph.loops().into_iter().map(|l| l.nodes).collect();
    loops.sort_by_key(|nodes| std::cmp::Reverse(nodes.len()));
    for nodes in loops {
        let nodes = std::rc::Rc::new(nodes);
        for node in nodes.iter() {
            all[*node as usize] = Some(nodes.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_related_by_a_factor() {
        let cost = |_| 1;
        let (base, other, i) = ((1, 1), (2, 1), 7);
        // a[i] and b[i], both of eight bytes: the bases are left.
        assert_eq!(relate(&vec![base, (i, 8)], &vec![other, (i, 8)], &cost), Some((2, 1, 0)));
        // Of twice and of half the size, in variables.
        assert_eq!(relate(&vec![(i, 8)], &vec![(i, 4)], &cost), Some((0, 2, 0)));
        assert_eq!(relate(&vec![(i, 4)], &vec![(i, 8)], &cost), Some((0, 1, 1)));
        assert_eq!(relate(&vec![base], &vec![other], &cost), None);
    }
}

//! Selects consecutive operations that become one.
//!
//! A group reads and writes all slots that its instructions do, in their order, so it does not matter whether
//! the slots are distinct or read elsewhere.

use crate::fuse::Fuser;
use crate::fused::{Fused, Slot};

impl Fuser<'_> {
    /// The operation at `pc` together with the following ones, if they form a group.
    pub(crate) fn group(&self, pc: usize) -> Option<Fused> {
        let at = |k: usize| self.out.ops.get(pc + k).copied().unwrap_or(Fused::Slow);
        let first = at(0);
        let zero = |slot: Slot| {
            let constant = usize::from(slot).checked_sub(self.code.slots as usize + 1);
            constant.and_then(|i| self.code.constants.get(i)) == Some(&0)
        };
        // Matches the instructions of `Expect` after the condition.
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
            (Fused::LShr { sh, dst, a, b }, Fused::And { dst: and, a: x, b: c })
                if x == dst && Some(and) == dst.checked_add(1) =>
            {
                match at(2) {
                    Fused::Sext3264Scaled64 { index, a: y, dst: last, base, scale }
                        if y == and
                            && Some(index) == and.checked_add(1)
                            && Some(last) == index.checked_add(1) =>
                    {
                        Fused::LShrAndSextScaled64 { sh, dst, a, b, c, base, scale }
                    }
                    _ => Fused::LShrAnd { sh, dst, a, b, and, c },
                }
            }
            (Fused::LShr { sh, dst, a, b }, Fused::And { dst: and, a: x, b: c }) if x == dst => {
                Fused::LShrAnd { sh, dst, a, b, and, c }
            }
            (Fused::Copy { dst, a }, Fused::Switch { value, table }) if value == dst => {
                Fused::CopySwitch { dst, a, table }
            }
            (Fused::Add64 { dst, a, b }, Fused::Jump { edge }) => Fused::Add64Jump { dst, a, b, edge },
            (Fused::Add32 { dst, a, b }, Fused::Jump { edge }) => Fused::Add32Jump { dst, a, b, edge },
            (Fused::Copy { dst, a }, Fused::Jump { edge }) => Fused::CopyJump { dst, a, edge },
            (Fused::Load8 { dst, addr }, Fused::Jump { edge }) => Fused::Load8Jump { dst, addr, edge },
            (Fused::Load8 { dst, addr }, Fused::Copy { dst: copy, a }) if a == dst => {
                Fused::Load8Copy { dst, addr, copy }
            }
            (Fused::Load8 { dst, addr }, Fused::Load8 { dst: dst2, addr: addr2 }) => {
                Fused::Load8ThenLoad8 { dst, addr, dst2, addr2 }
            }
            (Fused::Copy { dst, a }, Fused::Store8 { addr, value }) => {
                Fused::CopyThenStore8 { dst, a, addr, value }
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
        // A copy of the loaded value.
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
            Fused::Load8Copy { dst, addr: x, copy } if x == addr => {
                Fused::AddLoad8Copy { addr, a, b, dst, copy }
            }
            Fused::Load1 { dst, addr: other } => Fused::AddThenLoad1 { sum: addr, a, b, dst, addr: other },
            Fused::Load4 { dst, addr: other } => Fused::AddThenLoad4 { sum: addr, a, b, dst, addr: other },
            Fused::Load8 { dst, addr: other } => Fused::AddThenLoad8 { sum: addr, a, b, dst, addr: other },
            Fused::Store1 { addr: x, value } if x == addr => match at(2) {
                Fused::Jump { edge } => Fused::AddStore1Jump { addr, a, b, value, edge },
                _ => Fused::AddStore1 { addr, a, b, value },
            },
            Fused::Store2 { addr: x, value } if x == addr => Fused::AddStore2 { addr, a, b, value },
            Fused::Store4 { addr: x, value } if x == addr => Fused::AddStore4 { addr, a, b, value },
            Fused::Store8 { addr: x, value } if x == addr => match at(2) {
                Fused::Jump { edge } => Fused::AddStore8Jump { addr, a, b, value, edge },
                _ => Fused::AddStore8 { addr, a, b, value },
            },
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
            (
                Fused::Sext3264 { dst: index, a },
                Fused::Scaled64Load1 { addr, base, index: x, scale, dst },
            ) if x == index => Fused::Sext3264Scaled64Load1 { index, a, addr, base, scale, dst },
            (
                Fused::Sext3264 { dst: index, a },
                Fused::Scaled64Load4 { addr, base, index: x, scale, dst },
            ) if x == index => Fused::Sext3264Scaled64Load4 { index, a, addr, base, scale, dst },
            (
                Fused::Sext3264 { dst: index, a },
                Fused::Scaled64Load8 { addr, base, index: x, scale, dst },
            ) if x == index => Fused::Sext3264Scaled64Load8 { index, a, addr, base, scale, dst },
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

//! Lowers constants to operands. Constants that do not fit one operand are materialised in
//! registers at the start of the function, which dominates every use.

use super::function::Lowering;
use super::types::{leaves, slots};
use crate::llvm::{Opcode, Typ, TypeKind, Unit, Val};
use crate::normalise::elements;
use program::inst::{BinOp, Inst, Operand};

impl Lowering<'_> {
    pub fn constant(&mut self, v: Val) -> Result<Operand, String> {
        if let Some(reg) = self.constants.get(&v) {
            return Ok(Operand::Reg(*reg));
        }
        if let Some(one) = self.simple_constant(v) {
            return Ok(one);
        }
        let tys = leaves(self.unit, v.ty())?;
        let reg = self.fresh(slots(&tys));
        let mut words = Vec::new();
        self.words(v, &mut words)?;
        for (i, word) in words.into_iter().enumerate() {
            self.prologue.push(Inst::Copy { dst: reg + i as u32, a: word });
        }
        self.constants.insert(v, reg);
        Ok(Operand::Reg(reg))
    }

    /// A constant that fits one operand.
    fn simple_constant(&mut self, v: Val) -> Option<Operand> {
        let one_slot = leaves(self.unit, v.ty()).is_ok_and(|l| slots(&l) == 1);
        if !one_slot {
            return None;
        }
        if v.is_null() || v.is_undef() {
            return Some(Operand::Const(0));
        }
        if v.is_const_int() {
            return Some(Operand::Const(v.zext_value()));
        }
        if v.is_const_fp() {
            let bits = self.unit.bits_of(v.ty()) as u32;
            let int = v.const_bitcast(self.unit.int(bits));
            return int.is_const_int().then(|| Operand::Const(int.zext_value()));
        }
        let (base, offset) = self.address(v)?;
        Some(match base {
            None => Operand::Const(offset.cast_unsigned()),
            Some(symbol) => Operand::Symbol { symbol, offset },
        })
    }

    /// A constant address as symbol plus offset.
    fn address(&mut self, v: Val) -> Option<(Option<u32>, i64)> {
        if v.is_global() {
            if v.is_thread_local() {
                return None;
            }
            return Some((Some(self.symbols.of(v, self.unit)), 0));
        }
        if v.is_null() {
            return Some((None, 0));
        }
        if v.is_const_int() && v.ty().int_bits() <= 64 {
            return Some((None, v.sext_value()));
        }
        if !v.is_const_expr() {
            return None;
        }
        match v.const_opcode() {
            Opcode::LLVMBitCast | Opcode::LLVMIntToPtr | Opcode::LLVMAddrSpaceCast => {
                self.address(v.operand(0))
            }
            Opcode::LLVMPtrToInt if v.ty().int_bits() == 64 => self.address(v.operand(0)),
            Opcode::LLVMGetElementPtr => {
                let (base, offset) = self.address(v.operand(0))?;
                let more = constant_gep(self.unit, v)?;
                Some((base, offset.wrapping_add(more)))
            }
            Opcode::LLVMAdd => {
                let (a, b) = (self.address(v.operand(0))?, self.address(v.operand(1))?);
                if a.0.is_some() && b.0.is_some() {
                    return None;
                }
                Some((a.0.or(b.0), a.1.wrapping_add(b.1)))
            }
            Opcode::LLVMSub => {
                let (a, b) = (self.address(v.operand(0))?, self.address(v.operand(1))?);
                (b.0.is_none()).then(|| (a.0, a.1.wrapping_sub(b.1)))
            }
            _ => None,
        }
    }

    /// The slots of a constant that needs registers.
    fn words(&mut self, v: Val, out: &mut Vec<Operand>) -> Result<(), String> {
        let t = v.ty();
        let bits = self.unit.bits_of(t);
        match t.kind() {
            TypeKind::LLVMStructTypeKind | TypeKind::LLVMArrayTypeKind => {
                for (i, (e, _)) in elements(self.unit, t).into_iter().enumerate() {
                    let part = match v.aggregate_element(i as u32) {
                        Some(p) => p,
                        None if v.is_null() || v.is_undef() => Val::const_null(e),
                        None => return Err(format!("the constant {} cannot be taken apart", v.print())),
                    };
                    self.words(part, out)?;
                }
                return Ok(());
            }
            TypeKind::LLVMVectorTypeKind => {
                let words = self.vector_words(v, t)?;
                out.extend(words.into_iter().map(Operand::Const));
                return Ok(());
            }
            _ => {}
        }
        if let Some(one) = self.simple_constant(v) {
            out.push(one);
            return Ok(());
        }
        if v.is_null() || v.is_undef() {
            out.extend([Operand::Const(0), Operand::Const(0)]);
            return Ok(());
        }
        let int = if v.is_const_fp() { v.const_bitcast(self.unit.int(bits as u32)) } else { v };
        if int.is_const_int() {
            let wide = int.wide_int().ok_or("a constant could not be read")?;
            out.extend([Operand::Const(wide as u64), Operand::Const((wide >> 64) as u64)]);
            return Ok(());
        }
        out.push(self.computed(v)?);
        Ok(())
    }

    fn vector_words(&mut self, v: Val, t: Typ) -> Result<Vec<u64>, String> {
        let each = self.unit.bits_of(t.element()) as usize;
        let mut words = vec![0; (self.unit.bits_of(t) as usize).div_ceil(64)];
        for i in 0..t.vector_len() {
            let part = match v.aggregate_element(i) {
                Some(p) if p.is_undef() => continue,
                Some(p) => p,
                None if v.is_null() || v.is_undef() => continue,
                None => return Err("a constant vector could not be read".to_owned()),
            };
            let int = if part.is_const_fp() { part.const_bitcast(self.unit.int(each as u32)) } else { part };
            let bits = match int.wide_int() {
                Some(b) => b,
                None if int.is_null() => 0,
                None => return Err("a constant vector has elements that are not numbers".to_owned()),
            };
            for bit in 0..each {
                let at = i as usize * each + bit;
                words[at / 64] |= ((bits >> bit & 1) as u64) << (at % 64);
            }
        }
        Ok(words)
    }

    /// A constant expression that must be computed: differences and truncations of addresses.
    fn computed(&mut self, v: Val) -> Result<Operand, String> {
        let fail = || Err(format!("it uses the constant expression {}", v.print()));
        if !v.is_const_expr() {
            return fail();
        }
        let bits = self.unit.bits_of(v.ty()) as u16;
        let op = match v.const_opcode() {
            Opcode::LLVMAdd => BinOp::Add,
            Opcode::LLVMSub => BinOp::Sub,
            Opcode::LLVMXor => BinOp::Xor,
            Opcode::LLVMTrunc | Opcode::LLVMPtrToInt if bits < 64 => {
                let a = self.part(v.operand(0))?;
                let dst = self.fresh(1);
                let mask = Operand::Const((1u64 << bits) - 1);
                self.prologue.push(Inst::Bin { op: BinOp::And, bits: 64, dst, a, b: mask });
                return Ok(Operand::Reg(dst));
            }
            _ => return fail(),
        };
        let (a, b) = (self.part(v.operand(0))?, self.part(v.operand(1))?);
        let dst = self.fresh(1);
        self.prologue.push(Inst::Bin { op, bits, dst, a, b });
        Ok(Operand::Reg(dst))
    }

    fn part(&mut self, v: Val) -> Result<Operand, String> {
        match self.simple_constant(v) {
            Some(one) => Ok(one),
            None => self.computed(v),
        }
    }
}

/// The byte offset of a GEP whose indices are all constant.
pub fn constant_gep(unit: &Unit, gep: Val) -> Option<i64> {
    let mut t = gep.gep_source();
    let mut offset = 0i64;
    for n in 1..gep.operand_count() {
        let index = gep.operand(n);
        let i = if index.is_null() { 0 } else { index.is_const_int().then(|| index.sext_value())? };
        let step = if n == 1 {
            i.wrapping_mul(unit.size_of(t).cast_signed())
        } else {
            let (e, o) = aggregate_member(unit, t, i)?;
            t = e;
            o
        };
        offset = offset.wrapping_add(step);
    }
    Some(offset)
}

/// Descends one level into an aggregate by a constant index.
pub fn aggregate_member(unit: &Unit, t: Typ, i: i64) -> Option<(Typ, i64)> {
    match t.kind() {
        TypeKind::LLVMStructTypeKind => {
            let i = u32::try_from(i).ok()?;
            let e = *t.struct_elements().get(i as usize)?;
            Some((e, unit.element_offset(t, i).cast_signed()))
        }
        TypeKind::LLVMArrayTypeKind | TypeKind::LLVMVectorTypeKind => {
            let e = t.element();
            Some((e, i.wrapping_mul(unit.size_of(e).cast_signed())))
        }
        _ => None,
    }
}

//! Memory instructions.

use super::function::Lowering;
use super::types::scalar;
use crate::llvm::{Opcode, RmwBinOp, Val};
use program::inst::{BinOp, Inst, Operand, RmwOp, Ty};

impl Lowering<'_> {
    pub fn memory(&mut self, i: Val) -> Result<(), String> {
        match i.opcode() {
            Opcode::LLVMAlloca => {
                let dst = self.reg(i)?;
                if let Some(offset) = self.frame.get(&i) {
                    let offset = *offset;
                    self.emit(Inst::Frame { dst, offset });
                    return Ok(());
                }
                let each = self.unit.size_of(i.allocated_type());
                let bits = scalar(self.unit, i.operand(0).ty())?.bits();
                if bits > 64 {
                    return Err("it allocates by a number of more than 64 bits".to_owned());
                }
                let count = self.operand(i.operand(0))?;
                let size = self.fresh(1);
                let b = Operand::Const(each);
                self.emit(Inst::Bin { op: BinOp::Mul, bits: 64, dst: size, a: count, b });
                let align = i.alignment().max(16);
                self.emit(Inst::Alloca { dst, size: Operand::Reg(size), align });
            }
            Opcode::LLVMLoad => {
                let ty = scalar(self.unit, i.ty())?;
                let addr = self.operand(i.operand(0))?;
                let dst = self.reg(i)?;
                self.load_bits(i);
                self.emit_at(i, Inst::Load { dst, addr, ty });
            }
            Opcode::LLVMStore => {
                let ty = scalar(self.unit, i.operand(0).ty())?;
                let value = self.operand(i.operand(0))?;
                let addr = self.operand(i.operand(1))?;
                self.store_bits(i)?;
                self.emit_at(i, Inst::Store { addr, value, ty });
            }
            Opcode::LLVMAtomicRMW => {
                let ty = scalar(self.unit, i.ty())?;
                if matches!(ty, Ty::Float(_)) {
                    return Err("it has atomic floating point".to_owned());
                }
                let op = rmw(i.rmw_op()).ok_or("it has an unusual atomic operation")?;
                let addr = self.operand(i.operand(0))?;
                let value = self.operand(i.operand(1))?;
                let dst = self.reg(i)?;
                self.emit_at(i, Inst::Rmw { op, dst, addr, value, ty });
            }
            Opcode::LLVMAtomicCmpXchg => {
                let ty = scalar(self.unit, i.operand(1).ty())?;
                let addr = self.operand(i.operand(0))?;
                let expected = self.operand(i.operand(1))?;
                let new = self.operand(i.operand(2))?;
                let dst = self.reg(i)?;
                self.emit_at(i, Inst::CmpXchg { dst, addr, expected, new, ty });
            }
            _ => self.emit(Inst::Fence),
        }
        Ok(())
    }
}

fn rmw(op: RmwBinOp) -> Option<RmwOp> {
    use RmwBinOp as B;
    Some(match op {
        B::LLVMAtomicRMWBinOpXchg => RmwOp::Xchg,
        B::LLVMAtomicRMWBinOpAdd => RmwOp::Add,
        B::LLVMAtomicRMWBinOpSub => RmwOp::Sub,
        B::LLVMAtomicRMWBinOpAnd => RmwOp::And,
        B::LLVMAtomicRMWBinOpNand => RmwOp::Nand,
        B::LLVMAtomicRMWBinOpOr => RmwOp::Or,
        B::LLVMAtomicRMWBinOpXor => RmwOp::Xor,
        B::LLVMAtomicRMWBinOpMax => RmwOp::Max,
        B::LLVMAtomicRMWBinOpMin => RmwOp::Min,
        B::LLVMAtomicRMWBinOpUMax => RmwOp::UMax,
        B::LLVMAtomicRMWBinOpUMin => RmwOp::UMin,
        _ => return None,
    })
}

//! Creates instructions.

use super::{Blk, IntPredicate, Meta, Opcode, RealPredicate, Typ, Unit, Val};
use inkwell::llvm_sys::LLVMInlineAsmDialect;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::ffi::{c_char, c_uint};

pub struct Builder(pub(super) LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        call!(LLVMDisposeBuilder(self.0));
    }
}

const NO_NAME: *const c_char = c"".as_ptr();

impl Builder {
    /// Positions before an instruction, with its debug location. Debug records attached to the
    /// instruction stay with it.
    pub fn before(&self, i: Val) {
        call!(LLVMPositionBuilderBefore(self.0, i.0));
        if let Some(m) = i.debug_location() {
            self.set_location(Some(m));
        }
    }
    pub fn at_end(&self, b: Blk) {
        call!(LLVMPositionBuilderAtEnd(self.0, b.0));
    }
    pub fn set_location(&self, m: Option<Meta>) {
        call!(LLVMSetCurrentDebugLocation2(self.0, m.map_or(std::ptr::null_mut(), |m| m.0)));
    }
    pub fn bin(&self, op: Opcode, a: Val, b: Val) -> Val {
        Val(call!(LLVMBuildBinOp(self.0, op, a.0, b.0, NO_NAME)))
    }
    pub fn icmp(&self, p: IntPredicate, a: Val, b: Val) -> Val {
        Val(call!(LLVMBuildICmp(self.0, p, a.0, b.0, NO_NAME)))
    }
    pub fn fcmp(&self, p: RealPredicate, a: Val, b: Val) -> Val {
        Val(call!(LLVMBuildFCmp(self.0, p, a.0, b.0, NO_NAME)))
    }
    pub fn select(&self, c: Val, a: Val, b: Val) -> Val {
        Val(call!(LLVMBuildSelect(self.0, c.0, a.0, b.0, NO_NAME)))
    }
    pub fn cast(&self, op: Opcode, v: Val, t: Typ) -> Val {
        Val(call!(LLVMBuildCast(self.0, op, v.0, t.0, NO_NAME)))
    }
    pub fn phi(&self, t: Typ) -> Val {
        Val(call!(LLVMBuildPhi(self.0, t.0, NO_NAME)))
    }
    pub fn freeze(&self, v: Val) -> Val {
        Val(call!(LLVMBuildFreeze(self.0, v.0, NO_NAME)))
    }
    pub fn load(&self, t: Typ, p: Val) -> Val {
        Val(call!(LLVMBuildLoad2(self.0, t.0, p.0, NO_NAME)))
    }
    pub fn store(&self, v: Val, p: Val) -> Val {
        Val(call!(LLVMBuildStore(self.0, v.0, p.0)))
    }
    pub fn alloca(&self, t: Typ) -> Val {
        Val(call!(LLVMBuildAlloca(self.0, t.0, NO_NAME)))
    }
    pub fn gep_bytes(&self, unit: &Unit, p: Val, offset: Val) -> Val {
        let mut i = [offset.0];
        Val(call!(LLVMBuildGEP2(self.0, unit.int(8).0, p.0, i.as_mut_ptr(), 1, NO_NAME)))
    }
    pub fn call(&self, ty: Typ, f: Val, args: &[Val]) -> Val {
        let mut a: Vec<_> = args.iter().map(|v| v.0).collect();
        Val(call!(LLVMBuildCall2(self.0, ty.0, f.0, a.as_mut_ptr(), a.len() as c_uint, NO_NAME)))
    }
    pub fn extract(&self, v: Val, i: u32) -> Val {
        Val(call!(LLVMBuildExtractValue(self.0, v.0, i, NO_NAME)))
    }
    pub fn insert(&self, v: Val, x: Val, i: u32) -> Val {
        Val(call!(LLVMBuildInsertValue(self.0, v.0, x.0, i, NO_NAME)))
    }
    pub fn element(&self, v: Val, index: Val) -> Val {
        Val(call!(LLVMBuildExtractElement(self.0, v.0, index.0, NO_NAME)))
    }
    pub fn with_element(&self, v: Val, x: Val, index: Val) -> Val {
        Val(call!(LLVMBuildInsertElement(self.0, v.0, x.0, index.0, NO_NAME)))
    }
    pub fn switch(&self, v: Val, default: Blk, cases: &[(Val, Blk)]) -> Val {
        let s = Val(call!(LLVMBuildSwitch(self.0, v.0, default.0, cases.len() as c_uint)));
        for (c, b) in cases {
            call!(LLVMAddCase(s.0, c.0, b.0));
        }
        s
    }
    pub fn jump(&self, to: Blk) -> Val {
        Val(call!(LLVMBuildBr(self.0, to.0)))
    }
    /// Adds a use of a value that the optimiser cannot remove.
    pub fn keep(&self, unit: &Unit, v: Val) {
        let ty = unit.function_type(unit.void(), &[v.ty()], false);
        self.empty_assembly(ty, "r", true, v);
    }
    /// Returns the same value, opaque to the optimiser.
    pub fn hide(&self, unit: &Unit, v: Val) -> Val {
        let ty = unit.function_type(v.ty(), &[v.ty()], false);
        self.empty_assembly(ty, "=r,0", false, v)
    }
    /// An assembly statement without instructions, with one operand.
    fn empty_assembly(&self, ty: Typ, constraint: &str, has_effect: bool, v: Val) -> Val {
        let text = "";
        let asm = call!(LLVMGetInlineAsm(
            ty.0,
            text.as_ptr().cast(),
            text.len(),
            constraint.as_ptr().cast(),
            constraint.len(),
            has_effect.into(),
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0
        ));
        self.call(ty, Val(asm), &[v])
    }
    pub fn unreachable(&self) -> Val {
        Val(call!(LLVMBuildUnreachable(self.0)))
    }
}

//! Types and basic blocks.

use super::{Blk, Opcode, Typ, TypeKind, Unit, Val, message};
use inkwell::llvm_sys::core::*;

impl Typ {
    pub fn kind(self) -> TypeKind {
        call!(LLVMGetTypeKind(self.0))
    }
    pub fn int_bits(self) -> u32 {
        call!(LLVMGetIntTypeWidth(self.0))
    }
    pub fn struct_elements(self) -> Vec<Typ> {
        let n = call!(LLVMCountStructElementTypes(self.0));
        (0..n).map(|i| Typ(call!(LLVMStructGetTypeAtIndex(self.0, i)))).collect()
    }
    pub fn element(self) -> Typ {
        Typ(call!(LLVMGetElementType(self.0)))
    }
    pub fn array_len(self) -> u64 {
        call!(LLVMGetArrayLength2(self.0))
    }
    pub fn vector_len(self) -> u32 {
        call!(LLVMGetVectorSize(self.0))
    }
    pub fn params(self) -> Vec<Typ> {
        let n = call!(LLVMCountParamTypes(self.0)) as usize;
        let mut v = vec![std::ptr::null_mut(); n];
        call!(LLVMGetParamTypes(self.0, v.as_mut_ptr()));
        v.into_iter().map(Typ).collect()
    }
    pub fn return_type(self) -> Typ {
        Typ(call!(LLVMGetReturnType(self.0)))
    }
    pub fn is_variadic(self) -> bool {
        call!(LLVMIsFunctionVarArg(self.0)) != 0
    }
    pub fn print(self) -> String {
        message(call!(LLVMPrintTypeToString(self.0)))
    }
}

impl Blk {
    pub fn function(self) -> Val {
        Val(call!(LLVMGetBasicBlockParent(self.0)))
    }
    pub fn address_of(self, f: Val) -> Val {
        Val(call!(LLVMBlockAddress(f.0, self.0)))
    }
    /// Keeps one entry for `from` in each phi.
    pub fn dedup_incoming(self, from: Blk, unit: &Unit) {
        self.change_incoming(from, 1, from, unit);
    }
    /// Removes the entry for `from` from each phi.
    pub fn remove_incoming(self, from: Blk, unit: &Unit) {
        self.change_incoming(from, 0, from, unit);
    }
    /// Changes the entry for `from` to one for `to` in each phi.
    pub fn replace_incoming(self, from: Blk, to: Blk, unit: &Unit) {
        self.change_incoming(from, 1, to, unit);
    }
    /// Keeps `count` entries for `from` and changes them to entries for `to`. The phi is rebuilt,
    /// since the C interface cannot change an entry.
    fn change_incoming(self, from: Blk, count: usize, to: Blk, unit: &Unit) {
        for phi in self.instructions() {
            if phi.opcode() != Opcode::LLVMPHI {
                break;
            }
            let all = phi.incoming();
            if to == from && all.iter().filter(|(_, b)| *b == from).count() <= count {
                continue;
            }
            let b = unit.builder();
            b.before(phi);
            let new = b.phi(phi.ty());
            let mut kept = 0;
            for (v, blk) in all {
                kept += usize::from(blk == from);
                if blk != from || kept <= count {
                    let blk = if blk == from { to } else { blk };
                    new.add_incoming(if v == phi { new } else { v }, blk);
                }
            }
            phi.replace_with(new);
            phi.erase();
        }
    }
    pub fn instructions(self) -> Vec<Val> {
        let mut out = Vec::new();
        let mut i = call!(LLVMGetFirstInstruction(self.0));
        while !i.is_null() {
            out.push(Val(i));
            i = call!(LLVMGetNextInstruction(i));
        }
        out
    }
    pub fn terminator(self) -> Option<Val> {
        Val::some(call!(LLVMGetBasicBlockTerminator(self.0)))
    }
    /// First instruction that is not a phi.
    pub fn first_non_phi(self) -> Option<Val> {
        self.instructions().into_iter().find(|i| i.opcode() != Opcode::LLVMPHI)
    }
}

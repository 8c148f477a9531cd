//! Values: instructions, constants, globals, functions, and their attributes.

use super::{
    Blk, DbgRecord, IntPredicate, Linkage, Meta, Opcode, RealPredicate, RmwBinOp, Typ, Val, attribute_kind,
    message, text,
};
use inkwell::llvm_sys as sys;
use std::ffi::c_uint;
use sys::core::*;
use sys::debuginfo::*;
use sys::prelude::*;

impl Val {
    pub fn some(v: LLVMValueRef) -> Option<Val> {
        (!v.is_null()).then_some(Val(v))
    }
    pub fn name(self) -> String {
        let mut len = 0;
        let p = call!(LLVMGetValueName2(self.0, &mut len));
        text(p, len)
    }
    pub fn ty(self) -> Typ {
        Typ(call!(LLVMTypeOf(self.0)))
    }
    pub fn print(self) -> String {
        message(call!(LLVMPrintValueToString(self.0)))
    }
    pub fn blocks(self) -> Vec<Blk> {
        let mut out = Vec::new();
        let mut b = call!(LLVMGetFirstBasicBlock(self.0));
        while !b.is_null() {
            out.push(Blk(b));
            b = call!(LLVMGetNextBasicBlock(b));
        }
        out
    }
    pub fn params(self) -> Vec<Val> {
        let n = call!(LLVMCountParams(self.0));
        (0..n).map(|i| Val(call!(LLVMGetParam(self.0, i)))).collect()
    }
    /// Position of a parameter in its function.
    pub fn argument_index(self) -> u32 {
        let f = Val(call!(LLVMGetParamParent(self.0)));
        f.params().iter().position(|p| *p == self).unwrap_or(0) as u32
    }
    /// Whether the code is defined elsewhere. C headers define some functions (`putchar`, `atoi`)
    /// only for inlining.
    pub fn is_defined_elsewhere(self) -> bool {
        self.is_declaration() || self.linkage() == Linkage::LLVMAvailableExternallyLinkage
    }
    pub fn is_declaration(self) -> bool {
        call!(LLVMIsDeclaration(self.0)) != 0
    }
    pub fn linkage(self) -> Linkage {
        call!(LLVMGetLinkage(self.0))
    }
    pub fn is_hidden(self) -> bool {
        matches!(call!(LLVMGetVisibility(self.0)), sys::LLVMVisibility::LLVMHiddenVisibility)
    }
    pub fn set_linkage(self, l: Linkage) {
        call!(LLVMSetLinkage(self.0, l));
    }
    pub fn value_type(self) -> Typ {
        Typ(call!(LLVMGlobalGetValueType(self.0)))
    }
    pub fn is_thread_local(self) -> bool {
        call!(LLVMIsThreadLocal(self.0)) != 0
    }
    pub fn set_thread_local(self, initial_exec: bool) {
        use sys::LLVMThreadLocalMode as M;
        let m = if initial_exec { M::LLVMInitialExecTLSModel } else { M::LLVMGeneralDynamicTLSModel };
        call!(LLVMSetThreadLocalMode(self.0, m));
    }
    pub fn initializer(self) -> Option<Val> {
        Val::some(call!(LLVMGetInitializer(self.0)))
    }
    pub fn set_initializer(self, v: Val) {
        call!(LLVMSetInitializer(self.0, v.0));
    }
    pub fn set_constant(self) {
        call!(LLVMSetGlobalConstant(self.0, 1));
    }
    pub fn is_function(self) -> bool {
        !call!(LLVMIsAFunction(self.0)).is_null()
    }
    pub fn is_global_variable(self) -> bool {
        !call!(LLVMIsAGlobalVariable(self.0)).is_null()
    }
    pub fn is_global(self) -> bool {
        !call!(LLVMIsAGlobalValue(self.0)).is_null()
    }
    pub fn is_instruction(self) -> bool {
        !call!(LLVMIsAInstruction(self.0)).is_null()
    }
    pub fn is_argument(self) -> bool {
        !call!(LLVMIsAArgument(self.0)).is_null()
    }
    pub fn is_constant(self) -> bool {
        call!(LLVMIsConstant(self.0)) != 0
    }
    pub fn is_const_int(self) -> bool {
        !call!(LLVMIsAConstantInt(self.0)).is_null()
    }
    pub fn is_const_fp(self) -> bool {
        !call!(LLVMIsAConstantFP(self.0)).is_null()
    }
    pub fn is_const_expr(self) -> bool {
        !call!(LLVMIsAConstantExpr(self.0)).is_null()
    }
    pub fn is_null(self) -> bool {
        call!(LLVMIsNull(self.0)) != 0
    }
    pub fn is_undef(self) -> bool {
        call!(LLVMIsUndef(self.0)) != 0 || call!(LLVMIsPoison(self.0)) != 0
    }
    pub fn is_inline_asm(self) -> bool {
        !call!(LLVMIsAInlineAsm(self.0)).is_null()
    }
    pub fn zext_value(self) -> u64 {
        call!(LLVMConstIntGetZExtValue(self.0))
    }
    pub fn sext_value(self) -> i64 {
        call!(LLVMConstIntGetSExtValue(self.0))
    }
    pub fn const_opcode(self) -> Opcode {
        call!(LLVMGetConstOpcode(self.0))
    }
    pub fn const_bitcast(self, to: Typ) -> Val {
        Val(call!(LLVMConstBitCast(self.0, to.0)))
    }
    pub fn const_int_to_ptr(self, to: Typ) -> Val {
        Val(call!(LLVMConstIntToPtr(self.0, to.0)))
    }
    pub fn const_real(t: Typ, v: f64) -> Val {
        Val(call!(LLVMConstReal(t.0, v)))
    }
    pub fn const_null(t: Typ) -> Val {
        Val(call!(LLVMConstNull(t.0)))
    }
    pub fn aggregate_element(self, i: u32) -> Option<Val> {
        Val::some(call!(LLVMGetAggregateElement(self.0, i)))
    }
    pub fn operand_count(self) -> u32 {
        call!(LLVMGetNumOperands(self.0)).cast_unsigned()
    }
    pub fn operand(self, i: u32) -> Val {
        Val(call!(LLVMGetOperand(self.0, i)))
    }
    pub fn set_operand(self, i: u32, v: Val) {
        call!(LLVMSetOperand(self.0, i, v.0));
    }
    pub fn operands(self) -> Vec<Val> {
        (0..self.operand_count()).map(|i| self.operand(i)).collect()
    }
    pub fn opcode(self) -> Opcode {
        call!(LLVMGetInstructionOpcode(self.0))
    }
    pub fn replace_with(self, v: Val) {
        call!(LLVMReplaceAllUsesWith(self.0, v.0));
    }
    pub fn erase(self) {
        call!(LLVMInstructionEraseFromParent(self.0));
    }
    pub fn delete_function(self) {
        call!(LLVMDeleteFunction(self.0));
    }
    pub fn has_uses(self) -> bool {
        !call!(LLVMGetFirstUse(self.0)).is_null()
    }
    pub fn users(self) -> Vec<Val> {
        let mut out = Vec::new();
        let mut u = call!(LLVMGetFirstUse(self.0));
        while !u.is_null() {
            out.push(Val(call!(LLVMGetUser(u))));
            u = call!(LLVMGetNextUse(u));
        }
        out
    }
    pub fn parent(self) -> Blk {
        Blk(call!(LLVMGetInstructionParent(self.0)))
    }
    pub fn next_instruction(self) -> Option<Val> {
        Val::some(call!(LLVMGetNextInstruction(self.0)))
    }
    pub fn int_predicate(self) -> IntPredicate {
        call!(LLVMGetICmpPredicate(self.0))
    }
    pub fn real_predicate(self) -> RealPredicate {
        call!(LLVMGetFCmpPredicate(self.0))
    }
    pub fn called_value(self) -> Val {
        Val(call!(LLVMGetCalledValue(self.0)))
    }
    pub fn called_type(self) -> Typ {
        Typ(call!(LLVMGetCalledFunctionType(self.0)))
    }
    pub fn call_args(self) -> Vec<Val> {
        let n = call!(LLVMGetNumArgOperands(self.0));
        (0..n).map(|i| self.operand(i)).collect()
    }
    pub fn normal_destination(self) -> Blk {
        Blk(call!(LLVMGetNormalDest(self.0)))
    }
    pub fn set_normal_destination(self, to: Blk) {
        call!(LLVMSetNormalDest(self.0, to.0));
    }
    pub fn unwind_destination(self) -> Blk {
        Blk(call!(LLVMGetUnwindDest(self.0)))
    }
    pub fn calling_convention(self) -> c_uint {
        call!(LLVMGetInstructionCallConv(self.0))
    }
    pub fn set_calling_convention(self, c: c_uint) {
        call!(LLVMSetInstructionCallConv(self.0, c));
    }
    pub fn bundle_count(self) -> u32 {
        call!(LLVMGetNumOperandBundles(self.0))
    }
    pub fn is_must_tail(self) -> bool {
        use sys::LLVMTailCallKind as K;
        matches!(call!(LLVMGetTailCallKind(self.0)), K::LLVMTailCallKindMustTail)
    }
    pub fn no_tail(self) {
        call!(LLVMSetTailCallKind(self.0, sys::LLVMTailCallKind::LLVMTailCallKindNone));
    }
    pub fn allocated_type(self) -> Typ {
        Typ(call!(LLVMGetAllocatedType(self.0)))
    }
    pub fn alignment(self) -> u32 {
        call!(LLVMGetAlignment(self.0))
    }
    pub fn set_alignment(self, a: u32) {
        call!(LLVMSetAlignment(self.0, a));
    }
    pub fn is_volatile(self) -> bool {
        call!(LLVMGetVolatile(self.0)) != 0
    }
    pub fn set_volatile(self, v: bool) {
        call!(LLVMSetVolatile(self.0, i32::from(v)));
    }
    pub fn is_atomic(self) -> bool {
        call!(LLVMIsAtomic(self.0)) != 0
    }
    pub fn rmw_op(self) -> RmwBinOp {
        call!(LLVMGetAtomicRMWBinOp(self.0))
    }
    pub fn gep_source(self) -> Typ {
        Typ(call!(LLVMGetGEPSourceElementType(self.0)))
    }
    pub fn indices(self) -> Vec<u32> {
        let n = call!(LLVMGetNumIndices(self.0)) as usize;
        let p = call!(LLVMGetIndices(self.0));
        if n == 0 { Vec::new() } else { call!(std::slice::from_raw_parts(p, n)).to_vec() }
    }
    pub fn incoming(self) -> Vec<(Val, Blk)> {
        let n = call!(LLVMCountIncoming(self.0));
        (0..n)
            .map(|i| {
                (Val(call!(LLVMGetIncomingValue(self.0, i))), Blk(call!(LLVMGetIncomingBlock(self.0, i))))
            })
            .collect()
    }
    pub fn add_incoming(self, v: Val, b: Blk) {
        let (mut v, mut b) = (v.0, b.0);
        call!(LLVMAddIncoming(self.0, &mut v, &mut b, 1));
    }
    pub fn is_conditional(self) -> bool {
        call!(LLVMIsConditional(self.0)) != 0
    }
    pub fn condition(self) -> Val {
        Val(call!(LLVMGetCondition(self.0)))
    }
    pub fn successors(self) -> Vec<Blk> {
        let n = call!(LLVMGetNumSuccessors(self.0));
        (0..n).map(|i| Blk(call!(LLVMGetSuccessor(self.0, i)))).collect()
    }
    pub fn switch_case_value(self, i: u32) -> Val {
        Val(call!(LLVMGetSwitchCaseValue(self.0, i)))
    }
    pub fn debug_location(self) -> Option<Meta> {
        let m = call!(LLVMInstructionGetDebugLoc(self.0));
        (!m.is_null()).then_some(Meta(m))
    }
    pub fn subprogram(self) -> Option<Meta> {
        let m = call!(LLVMGetSubprogram(self.0));
        (!m.is_null()).then_some(Meta(m))
    }
    pub fn debug_records(self) -> Vec<DbgRecord> {
        let mut out = Vec::new();
        let mut r = call!(LLVMGetFirstDbgRecord(self.0));
        while !r.is_null() {
            out.push(DbgRecord(r));
            r = call!(LLVMGetNextDbgRecord(r));
        }
        out
    }
    pub fn clear_metadata(self, kind: c_uint) {
        call!(LLVMSetMetadata(self.0, kind, std::ptr::null_mut()));
    }
    /// Metadata attached to a global: kind and node.
    pub fn global_metadata(self) -> Vec<(c_uint, Meta)> {
        let mut n = 0;
        let entries = call!(LLVMGlobalCopyAllMetadata(self.0, &mut n));
        let out = (0..n as c_uint)
            .map(|i| {
                (
                    call!(LLVMValueMetadataEntriesGetKind(entries, i)),
                    Meta(call!(LLVMValueMetadataEntriesGetMetadata(entries, i))),
                )
            })
            .collect();
        call!(LLVMDisposeValueMetadataEntries(entries));
        out
    }
    pub fn inline_asm_text(self) -> String {
        let mut len = 0;
        let p = call!(LLVMGetInlineAsmAsmString(self.0, &mut len));
        text(p, len)
    }
    /// The value of a constant integer of any width up to 128 bits.
    pub fn wide_int(self) -> Option<u128> {
        let s = self.print();
        let (ty, number) = s.trim().split_once(' ')?;
        let bits: u32 = ty.strip_prefix('i')?.parse().ok()?;
        let mask = if bits >= 128 { u128::MAX } else { (1u128 << bits) - 1 };
        let v = match number {
            "true" => 1,
            "false" => 0,
            n => match n.strip_prefix('-') {
                Some(m) => m.parse::<u128>().ok()?.wrapping_neg(),
                None => n.parse::<u128>().ok()?,
            },
        };
        Some(v & mask)
    }
    pub fn attribute(self, index: u32, name: &str) -> Option<LLVMAttributeRef> {
        let a = call!(LLVMGetEnumAttributeAtIndex(self.0, index, attribute_kind(name)));
        (!a.is_null()).then_some(a)
    }
    pub fn remove_attribute(self, index: u32, name: &str) {
        call!(LLVMRemoveEnumAttributeAtIndex(self.0, index, attribute_kind(name)));
    }
    pub fn add_attribute(self, index: u32, a: LLVMAttributeRef) {
        call!(LLVMAddAttributeAtIndex(self.0, index, a));
    }
    pub fn call_attribute(self, index: u32, name: &str) -> Option<LLVMAttributeRef> {
        let a = call!(LLVMGetCallSiteEnumAttribute(self.0, index, attribute_kind(name)));
        (!a.is_null()).then_some(a)
    }
    pub fn call_attributes(self, index: u32) -> Vec<LLVMAttributeRef> {
        let n = call!(LLVMGetCallSiteAttributeCount(self.0, index));
        let mut out = vec![std::ptr::null_mut(); n as usize];
        call!(LLVMGetCallSiteAttributes(self.0, index, out.as_mut_ptr()));
        out
    }
    pub fn remove_call_attribute(self, index: u32, name: &str) {
        call!(LLVMRemoveCallSiteEnumAttribute(self.0, index, attribute_kind(name)));
    }
    pub fn add_call_attribute(self, index: u32, a: LLVMAttributeRef) {
        call!(LLVMAddCallSiteAttribute(self.0, index, a));
    }
    /// Whether a reduction may be computed in any order.
    pub fn may_reassociate(self) -> bool {
        call!(LLVMCanValueUseFastMathFlags(self.0)) != 0
            && call!(LLVMGetFastMathFlags(self.0)) & sys::LLVMFastMathAllowReassoc != 0
    }
    /// Removes every flag that could make the result poison or permit fast-math transformations.
    pub fn strip_flags(self) {
        use Opcode as O;
        match self.opcode() {
            O::LLVMAdd | O::LLVMSub | O::LLVMMul | O::LLVMShl | O::LLVMTrunc => {
                call!(LLVMSetNSW(self.0, 0));
                call!(LLVMSetNUW(self.0, 0));
            }
            O::LLVMUDiv | O::LLVMSDiv | O::LLVMLShr | O::LLVMAShr => call!(LLVMSetExact(self.0, 0)),
            O::LLVMZExt | O::LLVMUIToFP => call!(LLVMSetNNeg(self.0, 0)),
            O::LLVMOr => call!(LLVMSetIsDisjoint(self.0, 0)),
            O::LLVMICmp => call!(LLVMSetICmpSameSign(self.0, 0)),
            O::LLVMGetElementPtr => call!(LLVMGEPSetNoWrapFlags(self.0, 0)),
            _ => {}
        }
        if call!(LLVMCanValueUseFastMathFlags(self.0)) != 0 {
            call!(LLVMSetFastMathFlags(self.0, 0));
        }
    }
}

pub fn attribute_int(a: LLVMAttributeRef) -> u64 {
    call!(LLVMGetEnumAttributeValue(a))
}
pub fn attribute_type(a: LLVMAttributeRef) -> Typ {
    Typ(call!(LLVMGetTypeAttributeValue(a)))
}

//! A thin, typed skin over LLVM's C interface: just what lowering and
//! instrumentation need, as methods on copyable handles.
//!
//! Handles are valid while the [`Unit`] they came from lives; all of them are
//! created and dropped inside one call of [`crate::instrument_file`], which is
//! what makes the wrappers below sound in practice. Nothing outside this file
//! calls LLVM directly.

use inkwell::llvm_sys as sys;
use std::ffi::{CStr, CString, c_char, c_uint};
use std::path::Path;
use sys::core::*;
use sys::debuginfo::*;
use sys::prelude::*;
pub use sys::{
    LLVMAtomicRMWBinOp as RmwBinOp, LLVMIntPredicate as IntPredicate, LLVMLinkage as Linkage,
    LLVMOpcode as Opcode, LLVMRealPredicate as RealPredicate, LLVMTypeKind as TypeKind,
};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Val(pub LLVMValueRef);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Typ(pub LLVMTypeRef);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Blk(pub LLVMBasicBlockRef);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Meta(pub LLVMMetadataRef);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DbgRecord(LLVMDbgRecordRef);

/// A module with its context and target data.
pub struct Unit {
    pub ctx: LLVMContextRef,
    pub module: LLVMModuleRef,
    pub data: sys::target::LLVMTargetDataRef,
    pub machine: sys::target_machine::LLVMTargetMachineRef,
}

fn text(p: *const c_char, len: usize) -> String {
    if p.is_null() {
        return String::new();
    }
    // SAFETY: LLVM hands out `len` readable bytes.
    let bytes = unsafe { std::slice::from_raw_parts(p.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Takes over a message allocated by LLVM.
fn message(p: *mut c_char) -> String {
    if p.is_null() {
        return String::new();
    }
    // SAFETY: a NUL-terminated string owned by us until disposed.
    unsafe {
        let s = CStr::from_ptr(p).to_string_lossy().into_owned();
        LLVMDisposeMessage(p);
        s
    }
}

fn cstring(s: &str) -> CString {
    CString::new(s.replace('\0', "?")).unwrap_or_default()
}

macro_rules! call {
    ($e:expr) => {
        // SAFETY: handles belong to the live unit (see the module docs).
        unsafe { $e }
    };
}

impl Unit {
    pub fn read(path: &Path) -> Result<Unit, String> {
        let file = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|e| e.to_string())?;
        // SAFETY: plain C calls; every out pointer is checked before use.
        unsafe {
            let ctx = LLVMContextCreate();
            let mut buffer = std::ptr::null_mut();
            let mut msg = std::ptr::null_mut();
            if LLVMCreateMemoryBufferWithContentsOfFile(file.as_ptr(), &mut buffer, &mut msg) != 0 {
                return Err(message(msg));
            }
            let mut module = std::ptr::null_mut();
            if sys::ir_reader::LLVMParseIRInContext2(ctx, buffer, &mut module, &mut msg) != 0 {
                return Err(message(msg));
            }
            sys::target::LLVM_InitializeAllTargetInfos();
            sys::target::LLVM_InitializeAllTargets();
            sys::target::LLVM_InitializeAllTargetMCs();
            sys::target::LLVM_InitializeAllAsmPrinters();
            sys::target::LLVM_InitializeAllAsmParsers();
            let triple = LLVMGetTarget(module);
            let mut target = std::ptr::null_mut();
            if sys::target_machine::LLVMGetTargetFromTriple(triple, &mut target, &mut msg) != 0 {
                return Err(message(msg));
            }
            let machine = sys::target_machine::LLVMCreateTargetMachine(
                target,
                triple,
                c"x86-64".as_ptr(),
                c"".as_ptr(),
                sys::target_machine::LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
                sys::target_machine::LLVMRelocMode::LLVMRelocDefault,
                sys::target_machine::LLVMCodeModel::LLVMCodeModelDefault,
            );
            let data = sys::target::LLVMGetModuleDataLayout(module);
            Ok(Unit { ctx, module, data, machine })
        }
    }

    pub fn triple(&self) -> String {
        call!(CStr::from_ptr(LLVMGetTarget(self.module)).to_string_lossy().into_owned())
    }

    pub fn run_passes(&self, pipeline: &str) -> Result<(), String> {
        let p = cstring(pipeline);
        // SAFETY: the module and machine are alive; the error is consumed.
        unsafe {
            let options = sys::transforms::pass_builder::LLVMCreatePassBuilderOptions();
            let err =
                sys::transforms::pass_builder::LLVMRunPasses(self.module, p.as_ptr(), self.machine, options);
            sys::transforms::pass_builder::LLVMDisposePassBuilderOptions(options);
            if err.is_null() {
                return Ok(());
            }
            let m = sys::error::LLVMGetErrorMessage(err);
            let s = CStr::from_ptr(m).to_string_lossy().into_owned();
            sys::error::LLVMDisposeErrorMessage(m);
            Err(s)
        }
    }

    pub fn verify(&self) -> Result<(), String> {
        let mut msg = std::ptr::null_mut();
        let bad = call!(sys::analysis::LLVMVerifyModule(
            self.module,
            sys::analysis::LLVMVerifierFailureAction::LLVMReturnStatusAction,
            &mut msg
        ));
        let s = message(msg);
        if bad != 0 { Err(s) } else { Ok(()) }
    }

    pub fn write(&self, path: &Path) -> Result<(), String> {
        let file = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|e| e.to_string())?;
        if call!(sys::bit_writer::LLVMWriteBitcodeToFile(self.module, file.as_ptr())) != 0 {
            return Err(format!("cannot write {}", path.display()));
        }
        Ok(())
    }

    /// Parses IR text and links it into this module.
    pub fn link_text(&self, ir: &str) -> Result<(), String> {
        // SAFETY: the buffer copies the text; the parser and linker take over
        // buffer and source module.
        unsafe {
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(ir.as_ptr().cast(), ir.len(), c"helpers".as_ptr());
            let mut module = std::ptr::null_mut();
            let mut msg = std::ptr::null_mut();
            if sys::ir_reader::LLVMParseIRInContext2(self.ctx, buffer, &mut module, &mut msg) != 0 {
                return Err(message(msg));
            }
            LLVMSetTarget(module, LLVMGetTarget(self.module));
            LLVMSetDataLayout(module, LLVMGetDataLayoutStr(self.module));
            if sys::linker::LLVMLinkModules2(self.module, module) != 0 {
                return Err("the helper functions could not be linked in".to_owned());
            }
        }
        Ok(())
    }

    pub fn strip_debug_info(&self) {
        call!(LLVMStripModuleDebugInfo(self.module));
    }

    pub fn append_asm(&self, asm: &str) {
        call!(LLVMAppendModuleInlineAsm(self.module, asm.as_ptr().cast(), asm.len()));
    }

    pub fn source_name(&self) -> String {
        let mut len = 0;
        let p = call!(LLVMGetSourceFileName(self.module, &mut len));
        text(p, len)
    }

    pub fn functions(&self) -> Vec<Val> {
        let mut out = Vec::new();
        let mut f = call!(LLVMGetFirstFunction(self.module));
        while !f.is_null() {
            out.push(Val(f));
            f = call!(LLVMGetNextFunction(f));
        }
        out
    }

    pub fn globals(&self) -> Vec<Val> {
        let mut out = Vec::new();
        let mut g = call!(LLVMGetFirstGlobal(self.module));
        while !g.is_null() {
            out.push(Val(g));
            g = call!(LLVMGetNextGlobal(g));
        }
        out
    }

    pub fn ifuncs(&self) -> Vec<Val> {
        let mut out = Vec::new();
        let mut g = call!(LLVMGetFirstGlobalIFunc(self.module));
        while !g.is_null() {
            out.push(Val(g));
            g = call!(LLVMGetNextGlobalIFunc(g));
        }
        out
    }

    pub fn named_function(&self, name: &str) -> Option<Val> {
        Val::some(call!(LLVMGetNamedFunction(self.module, cstring(name).as_ptr())))
    }

    pub fn add_function(&self, name: &str, ty: Typ) -> Val {
        self.named_function(name)
            .unwrap_or_else(|| Val(call!(LLVMAddFunction(self.module, cstring(name).as_ptr(), ty.0))))
    }

    pub fn add_global(&self, name: &str, ty: Typ) -> Val {
        Val(call!(LLVMAddGlobal(self.module, ty.0, cstring(name).as_ptr())))
    }

    /// A name of this object's own for a function, whoever else defines it.
    pub fn local_name(&self, f: Val) -> Val {
        let name = cstring(&format!("__relapse.own.{}", f.name()));
        let a = Val(call!(LLVMAddAlias2(self.module, f.value_type().0, 0, f.0, name.as_ptr())));
        a.set_linkage(Linkage::LLVMPrivateLinkage);
        a
    }

    pub fn int(&self, bits: u32) -> Typ {
        Typ(call!(LLVMIntTypeInContext(self.ctx, bits)))
    }
    pub fn ptr(&self) -> Typ {
        Typ(call!(LLVMPointerTypeInContext(self.ctx, 0)))
    }
    pub fn void(&self) -> Typ {
        Typ(call!(LLVMVoidTypeInContext(self.ctx)))
    }
    pub fn struct_type(&self, elements: &[Typ]) -> Typ {
        let mut e: Vec<_> = elements.iter().map(|t| t.0).collect();
        Typ(call!(LLVMStructTypeInContext(self.ctx, e.as_mut_ptr(), e.len() as c_uint, 0)))
    }
    pub fn array_type(&self, of: Typ, n: u64) -> Typ {
        Typ(call!(LLVMArrayType2(of.0, n)))
    }
    pub fn function_type(&self, ret: Typ, params: &[Typ], variadic: bool) -> Typ {
        let mut e: Vec<_> = params.iter().map(|t| t.0).collect();
        Typ(call!(LLVMFunctionType(ret.0, e.as_mut_ptr(), e.len() as c_uint, i32::from(variadic))))
    }
    pub fn const_int(&self, bits: u32, v: u64) -> Val {
        Val(call!(LLVMConstInt(self.int(bits).0, v, 0)))
    }
    pub fn const_struct(&self, elements: &[Val]) -> Val {
        let mut e: Vec<_> = elements.iter().map(|t| t.0).collect();
        Val(call!(LLVMConstStructInContext(self.ctx, e.as_mut_ptr(), e.len() as c_uint, 0)))
    }
    pub fn const_array(&self, of: Typ, elements: &[Val]) -> Val {
        let mut e: Vec<_> = elements.iter().map(|t| t.0).collect();
        Val(call!(LLVMConstArray2(of.0, e.as_mut_ptr(), e.len() as u64)))
    }
    pub fn const_bytes(&self, bytes: &[u8]) -> Val {
        Val(call!(LLVMConstStringInContext2(self.ctx, bytes.as_ptr().cast(), bytes.len(), 1)))
    }
    pub fn size_of(&self, t: Typ) -> u64 {
        call!(sys::target::LLVMABISizeOfType(self.data, t.0))
    }
    pub fn element_offset(&self, t: Typ, i: u32) -> u64 {
        call!(sys::target::LLVMOffsetOfElement(self.data, t.0, i))
    }
    pub fn bits_of(&self, t: Typ) -> u64 {
        call!(sys::target::LLVMSizeOfTypeInBits(self.data, t.0))
    }
    pub fn enum_attribute(&self, name: &str, value: u64) -> LLVMAttributeRef {
        call!(LLVMCreateEnumAttribute(self.ctx, attribute_kind(name), value))
    }
    pub fn as_value(&self, m: Meta) -> Val {
        Val(call!(LLVMMetadataAsValue(self.ctx, m.0)))
    }
    pub fn md_kind(&self, name: &str) -> c_uint {
        call!(LLVMGetMDKindIDInContext(self.ctx, name.as_ptr().cast(), name.len() as c_uint))
    }
    pub fn builder(&self) -> Builder {
        Builder(call!(LLVMCreateBuilderInContext(self.ctx)))
    }
    pub fn append_block(&self, f: Val, name: &str) -> Blk {
        Blk(call!(LLVMAppendBasicBlockInContext(self.ctx, f.0, cstring(name).as_ptr())))
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        // SAFETY: nothing made from this unit is used after it.
        unsafe {
            LLVMDisposeModule(self.module);
            sys::target_machine::LLVMDisposeTargetMachine(self.machine);
            LLVMContextDispose(self.ctx);
        }
    }
}

pub fn attribute_kind(name: &str) -> c_uint {
    call!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()))
}

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
    pub fn is_declaration(self) -> bool {
        call!(LLVMIsDeclaration(self.0)) != 0
    }
    pub fn linkage(self) -> Linkage {
        call!(LLVMGetLinkage(self.0))
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
    pub fn remove_call_attribute(self, index: u32, name: &str) {
        call!(LLVMRemoveCallSiteEnumAttribute(self.0, index, attribute_kind(name)));
    }
    pub fn add_call_attribute(self, index: u32, a: LLVMAttributeRef) {
        call!(LLVMAddCallSiteAttribute(self.0, index, a));
    }
    /// Removes every flag that could make the result poison or depend on
    /// fast-math licence.
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
    /// Keeps one entry for `from` in each phi: the phi is rebuilt, since the C
    /// interface cannot remove an entry.
    pub fn dedup_incoming(self, from: Blk, unit: &Unit) {
        for phi in self.instructions() {
            if phi.opcode() != Opcode::LLVMPHI {
                break;
            }
            let all = phi.incoming();
            if all.iter().filter(|(_, b)| *b == from).count() < 2 {
                continue;
            }
            let b = unit.builder();
            b.before(phi);
            let new = b.phi(phi.ty());
            let mut kept = false;
            for (v, blk) in all {
                if blk != from || !std::mem::replace(&mut kept, true) {
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

impl Meta {
    pub fn line(self) -> u32 {
        call!(LLVMDILocationGetLine(self.0))
    }
    pub fn column(self) -> u32 {
        call!(LLVMDILocationGetColumn(self.0))
    }
    pub fn scope(self) -> Meta {
        Meta(call!(LLVMDILocationGetScope(self.0)))
    }
    pub fn inlined_at(self) -> Option<Meta> {
        let m = call!(LLVMDILocationGetInlinedAt(self.0));
        (!m.is_null()).then_some(Meta(m))
    }
    pub fn scope_file(self) -> Option<Meta> {
        let m = call!(LLVMDIScopeGetFile(self.0));
        (!m.is_null()).then_some(Meta(m))
    }
    pub fn variable_file(self) -> Option<Meta> {
        let m = call!(LLVMDIVariableGetFile(self.0));
        (!m.is_null()).then_some(Meta(m))
    }
    pub fn variable_line(self) -> u32 {
        call!(LLVMDIVariableGetLine(self.0))
    }
    pub fn global_variable(self) -> Meta {
        Meta(call!(LLVMDIGlobalVariableExpressionGetVariable(self.0)))
    }
    pub fn subprogram_line(self) -> u32 {
        call!(LLVMDISubprogramGetLine(self.0))
    }
    pub fn file_name(self) -> String {
        let mut n = 0;
        let p = call!(LLVMDIFileGetFilename(self.0, &mut n));
        text(p, n as usize)
    }
    pub fn file_directory(self) -> String {
        let mut n = 0;
        let p = call!(LLVMDIFileGetDirectory(self.0, &mut n));
        text(p, n as usize)
    }
    pub fn new_location(unit: &Unit, line: u32, scope: Meta) -> Meta {
        Meta(call!(LLVMDIBuilderCreateDebugLocation(unit.ctx, line, 0, scope.0, std::ptr::null_mut())))
    }
}

impl DbgRecord {
    pub fn is_variable(self) -> bool {
        call!(LLVMDbgRecordGetKind(self.0)) as u32 != 0
    }
    pub fn is_declare(self) -> bool {
        call!(LLVMDbgRecordGetKind(self.0)) as u32 == 1
    }
    /// The described value; `None` for a killed location or several values.
    pub fn value(self) -> Option<Val> {
        Val::some(call!(LLVMDbgVariableRecordGetValue(self.0, 0)))
    }
    pub fn variable(self) -> Meta {
        Meta(call!(LLVMDbgVariableRecordGetVariable(self.0)))
    }
    pub fn expression(self) -> Meta {
        Meta(call!(LLVMDbgVariableRecordGetExpression(self.0)))
    }
}

/// Operands of a metadata node, as values (null operands are `None`).
pub fn md_operands(v: Val) -> Vec<Option<Val>> {
    let n = call!(LLVMGetMDNodeNumOperands(v.0)) as usize;
    let mut out = vec![std::ptr::null_mut(); n];
    call!(LLVMGetMDNodeOperands(v.0, out.as_mut_ptr()));
    out.into_iter().map(Val::some).collect()
}

pub fn md_string(v: Val) -> Option<String> {
    let mut n = 0;
    let p = call!(LLVMGetMDString(v.0, &mut n));
    (!p.is_null()).then(|| text(p, n as usize))
}

fn as_metadata(v: Val) -> LLVMMetadataRef {
    call!(LLVMValueAsMetadata(v.0))
}

/// DWARF tag of a debug info node.
pub fn node_tag(v: Val) -> u16 {
    call!(LLVMGetDINodeTag(as_metadata(v)))
}

/// Size and offset in bits of a type node.
pub fn type_bits(v: Val) -> (u64, u64) {
    let m = as_metadata(v);
    (call!(LLVMDITypeGetSizeInBits(m)), call!(LLVMDITypeGetOffsetInBits(m)))
}

#[derive(Clone, Copy)]
pub struct MetaKind(u32);

impl MetaKind {
    pub fn is_derived_type(self) -> bool {
        self.0 == sys::debuginfo::LLVMMetadataKind::LLVMDIDerivedTypeMetadataKind as u32
    }
}

pub fn meta_kind(v: Val) -> MetaKind {
    MetaKind(call!(LLVMGetMetadataKind(as_metadata(v))) as u32)
}

pub struct Builder(LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        call!(LLVMDisposeBuilder(self.0));
    }
}

const NO_NAME: *const c_char = c"".as_ptr();

impl Builder {
    /// Before an instruction, taking over its debug location. Debug records
    /// attached to the instruction stay with it.
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
    pub fn switch(&self, v: Val, default: Blk, cases: &[(Val, Blk)]) -> Val {
        let s = Val(call!(LLVMBuildSwitch(self.0, v.0, default.0, cases.len() as c_uint)));
        for (c, b) in cases {
            call!(LLVMAddCase(s.0, c.0, b.0));
        }
        s
    }
    pub fn unreachable(&self) -> Val {
        Val(call!(LLVMBuildUnreachable(self.0)))
    }
}

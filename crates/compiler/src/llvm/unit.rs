//! A module: reading, passes, writing, and its types and constants.

use super::{Blk, Builder, Linkage, Meta, Typ, Val, attribute_kind, cstring, message, text};
use inkwell::llvm_sys as sys;
use std::ffi::{CStr, CString, c_uint};
use std::path::Path;
use sys::core::*;
use sys::debuginfo::*;
use sys::prelude::*;

/// A module with its context and target data.
pub struct Unit {
    pub ctx: LLVMContextRef,
    pub module: LLVMModuleRef,
    pub data: sys::target::LLVMTargetDataRef,
    pub machine: sys::target_machine::LLVMTargetMachineRef,
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

    /// An alias of a function that is local to this object, and always refers to its code here.
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
    /// Operands of named metadata, such as the compile units.
    pub fn named_metadata(&self, name: &CStr) -> Vec<Val> {
        let n = call!(LLVMGetNamedMetadataNumOperands(self.module, name.as_ptr())) as usize;
        let mut out = vec![std::ptr::null_mut(); n];
        call!(LLVMGetNamedMetadataOperands(self.module, name.as_ptr(), out.as_mut_ptr()));
        out.into_iter().filter_map(Val::some).collect()
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
        // SAFETY: no handle of this unit is used after this call.
        unsafe {
            LLVMDisposeModule(self.module);
            sys::target_machine::LLVMDisposeTargetMachine(self.machine);
            LLVMContextDispose(self.ctx);
        }
    }
}

//! A thin, typed wrapper of LLVM's C interface: the part that lowering and instrumentation need, as
//! methods on copyable handles.
//!
//! Handles are valid while their [`Unit`] lives. All of them are created and dropped inside one
//! call of [`crate::instrument_file`], which makes the wrappers below sound in practice. No code
//! outside this module calls LLVM directly.

//!
//! * [`unit`]: a module, its types and constants, passes, reading and writing;
//! * [`value`]: values, instructions, globals, attributes;
//! * [`shape`]: types and blocks;
//! * [`metadata`]: debug information;
//! * [`builder`]: creating instructions.

macro_rules! call {
    ($e:expr) => {
        // SAFETY: handles belong to the live unit (see the module docs).
        unsafe { $e }
    };
}

mod builder;
mod metadata;
mod shape;
mod unit;
mod value;

pub use builder::Builder;
pub use metadata::{DbgRecord, Meta, is_subprogram, md_operands, md_string, meta_kind, node_tag, type_bits};
pub use unit::Unit;
pub use value::{attribute_int, attribute_type};

use inkwell::llvm_sys as sys;
use std::ffi::{CStr, CString, c_char, c_uint};
use sys::core::*;
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

fn text(p: *const c_char, len: usize) -> String {
    if p.is_null() {
        return String::new();
    }
    // SAFETY: LLVM returns a pointer to `len` readable bytes.
    let bytes = unsafe { std::slice::from_raw_parts(p.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Takes ownership of a message allocated by LLVM.
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

pub fn attribute_kind(name: &str) -> c_uint {
    call!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()))
}

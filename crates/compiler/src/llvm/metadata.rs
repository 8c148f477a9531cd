//! Debug information: locations, variables, types.

use super::{Unit, Val, text};
use inkwell::llvm_sys as sys;
use sys::core::*;
use sys::debuginfo::*;
use sys::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Meta(pub LLVMMetadataRef);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DbgRecord(pub(super) LLVMDbgRecordRef);

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
    /// The variable's value; `None` for a killed location or several values.
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

/// Whether a scope is a function's.
pub fn is_subprogram(v: Val) -> bool {
    let kind = call!(LLVMGetMetadataKind(as_metadata(v))) as u32;
    kind == sys::debuginfo::LLVMMetadataKind::LLVMDISubprogramMetadataKind as u32
}

//! Instruments code for recording: checks at loads, shadow stores, time and checksum, the model
//! stack, and the call protocol of `docs/runtime-interface.md`. Sites and frame layout come from
//! lowering.
//!
//! ```text
//! before                          after
//!   %v = load i32, ptr %p           %v0 = load i32, ptr %p
//!                                   %v  = freeze i32 %v0
//!                                   call @check.32(ctx, key, T, %p, %v, site)   ; inlined
//!   store i32 %v, ptr %p            store i32 %v, ptr %p
//!                                   store i32 %v, ptr (%p xor key)
//!                                   H += zext %v
//!   br i1 %c, %a, %b                H = select %c, H + mix, H
//!                                   br i1 %c, %a, %b
//!   %r = call @f(%x)                ctx.time = T; ctx.sum = H; tls.call = @f
//!                                   %r = call @f(%x)
//!                                   call @after(ctx, desc, @f, %x, %r)          ; inlined
//!                                   T = ctx.time + 1; H = ctx.sum
//! ```
//!
//! `T` and `H` are in allocas that the optimiser promotes to registers.

mod calls;
mod descriptors;
mod function;
mod helpers;
mod memory;

use crate::Error;
use crate::llvm::{Linkage, Opcode, Unit, Val};
use crate::lower::Lowered;
use descriptors::Descriptors;
use helpers::Helpers;
use program::model::SymbolKind;
use std::collections::HashSet;
use std::fmt::Write;

/// State shared by all functions of a unit.
pub struct Shared<'u> {
    pub unit: &'u Unit,
    pub helpers: Helpers,
    pub descriptors: Descriptors<'u>,
    /// Functions that only modelled code of this unit calls, by name: calls to them need no
    /// protocol.
    pub private: HashSet<Val>,
    /// One pointer per thread-local symbol: the stream in which its address is logged.
    pub guards: Option<Val>,
}

pub fn run(unit: &Unit, mut lowered: Lowered) -> Result<(), Error> {
    crate::assignments::clear(unit);
    let mut shared = Shared {
        unit,
        helpers: Helpers::default(),
        descriptors: Descriptors::new(unit),
        private: private_functions(&lowered),
        guards: thread_local_guards(unit, &lowered),
    };
    for (index, map) in lowered.functions.iter().enumerate() {
        let model = &lowered.module.functions[index];
        function::Instrument::new(&mut shared, map, model).run(index);
    }
    lowered.module.id = identity(&lowered.module)?;
    let mut addresses: Vec<Val> = lowered
        .symbols
        .iter()
        .map(|v| if v.is_thread_local() { Val::const_null(unit.ptr()) } else { *v })
        .collect();
    for own in &lowered.own {
        let at = &mut addresses[*own as usize];
        *at = unit.local_name(*at);
    }
    let known: Vec<u16> = lowered
        .symbols
        .iter()
        .zip(&lowered.module.symbols)
        .map(|(v, s)| match s.kind {
            SymbolKind::Function(_) => MODELLED,
            SymbolKind::External if v.is_function() && v.is_defined_elsewhere() => external_id(&v.name()),
            _ => 0,
        })
        .collect();
    shared.descriptors.finish(lowered.module.id, &addresses, &known);
    unit.link_text(&shared.helpers.text()).map_err(Error::Passes)?;
    for v in unit.functions().into_iter().filter(|f| !f.is_declaration()).chain([shared.descriptors.module]) {
        if v.name().starts_with("__relapse_") {
            v.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    let bytes = program::section::encode(&lowered.module).map_err(|e| Error::Model(e.to_string()))?;
    unit.append_asm(&section_asm(&bytes));
    unit.append_asm(&ifuncs_asm(unit));
    Ok(())
}

/// One reference to the address of each visible ifunc, as assembly text, since the optimiser would
/// resolve a reference in IR.
///
/// Calls are announced by address, so a shared library needs the address of an ifunc of the
/// executable when it is loaded, where plain code needs it at the first call. At load time the
/// loader refuses to call a resolver of the executable. If the address of an ifunc is in data, the
/// linker of an executable creates a function for it, to which libraries are bound.
fn ifuncs_asm(unit: &Unit) -> String {
    let seen = |ifunc: &Val| {
        !matches!(ifunc.linkage(), Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage)
            && !ifunc.is_hidden()
    };
    let mut asm = String::new();
    for ifunc in unit.ifuncs().into_iter().filter(seen) {
        let _ = writeln!(
            asm,
            ".section .data.rel.ro.relapse,\"awR\",@progbits\n.p2align 3\n.quad \"{}\"\n.text",
            ifunc.name()
        );
    }
    asm
}

/// Marks a function modelled in this unit in the table of known externals. A signal that arrives
/// between the announcement of a call and the callee's entry is then distinguished from a callback.
const MODELLED: u16 = 0xffff;

/// Number of a known external plus one, or 0.
pub fn external_id(name: &str) -> u16 {
    externals::id(name).map_or(0, |i| i + 1)
}

fn private_functions(lowered: &Lowered) -> HashSet<Val> {
    let modelled: HashSet<Val> = lowered.functions.iter().map(|m| m.function).collect();
    let calls = |user: &Val, f: Val| {
        user.is_instruction()
            && matches!(user.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke)
            && user.called_value() == f
            && !user.call_args().contains(&f)
            && modelled.contains(&user.parent().function())
    };
    modelled
        .iter()
        .copied()
        .filter(|f| f.linkage() == Linkage::LLVMInternalLinkage && f.users().iter().all(|u| calls(u, *f)))
        .collect()
}

fn identity(module: &program::Module) -> Result<[u8; 16], Error> {
    let bytes = program::section::encode(module).map_err(|e| Error::Model(e.to_string()))?;
    Ok(xxhash_rust::xxh3::xxh3_128(&bytes).to_le_bytes())
}

fn thread_local_guards(unit: &Unit, lowered: &Lowered) -> Option<Val> {
    if lowered.functions.iter().all(|f| f.thread_locals.is_empty()) {
        return None;
    }
    let ty = unit.array_type(unit.ptr(), lowered.symbols.len() as u64);
    let g = unit.add_global("__relapse.guards", ty);
    g.set_initializer(Val::const_null(ty));
    g.set_linkage(Linkage::LLVMInternalLinkage);
    g.set_thread_local(false);
    Some(g)
}

/// The model as assembly, in a section that is not loaded. As text, so that `-S` output is
/// self-contained.
fn section_asm(bytes: &[u8]) -> String {
    let mut asm = format!(".section {},\"\",@progbits\n", program::section::NAME);
    for line in bytes.chunks(64) {
        asm.push_str(".ascii \"");
        for b in line {
            let _ = write!(asm, "\\{b:03o}");
        }
        asm.push_str("\"\n");
    }
    asm.push_str(".text\n");
    asm
}

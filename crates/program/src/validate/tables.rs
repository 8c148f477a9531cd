//! Checks of symbols and types.

use super::{Fault, ensure};
use crate::model::{Module, SymbolKind, TypeKind};

/// Maximum nesting of types by value.
const MAX_NESTING: u32 = 1000;

pub(super) fn check_symbols(module: &Module) -> Fault {
    for symbol in &module.symbols {
        let ty = match &symbol.kind {
            SymbolKind::Function(f) => {
                ensure((*f as usize) < module.functions.len(), || {
                    format!("symbol {}: no function {f}", symbol.name)
                })?;
                None
            }
            SymbolKind::Data { ty, .. } | SymbolKind::ThreadLocal { ty, .. } => *ty,
            SymbolKind::External | SymbolKind::ExternalData => None,
        };
        check_type_index(module, ty).map_err(|what| format!("symbol {}: {what}", symbol.name))?;
    }
    for (variable, target) in &module.initial {
        ensure((*variable.max(target) as usize) < module.symbols.len(), || {
            format!("initial value: no symbol {}", variable.max(target))
        })?;
    }
    Ok(())
}

pub(super) fn check_type_index(module: &Module, ty: Option<u32>) -> Fault {
    ensure(ty.is_none_or(|t| (t as usize) < module.types.len()), || format!("no type {}", ty.unwrap_or(0)))
}

/// Types that a value of this type contains.
fn contained(kind: &TypeKind) -> Vec<u32> {
    match kind {
        TypeKind::Array { of, .. } | TypeKind::Alias { of } => of.iter().copied().collect(),
        TypeKind::Record { members, .. } => members.iter().filter_map(|m| m.ty).collect(),
        _ => Vec::new(),
    }
}

/// Checks that indices are in range, and that no type contains itself or is nested too deeply.
pub(super) fn check_types(module: &Module) -> Fault {
    let count = module.types.len();
    for ty in &module.types {
        let all = match &ty.kind {
            TypeKind::Pointer { to } | TypeKind::Reference { to } => to.iter().copied().collect(),
            other => contained(other),
        };
        for inner in all {
            check_type_index(module, Some(inner)).map_err(|what| format!("type {}: {what}", ty.name))?;
        }
        if let TypeKind::Record { members, .. } = &ty.kind {
            for m in members {
                ensure(m.bit_offset.checked_add(m.bits).is_some(), || {
                    format!("type {}: member {} is out of range", ty.name, m.name)
                })?;
            }
        }
    }
    // Depth-first search with an explicit stack, because the nesting depth is not yet bounded.
    const NEW: u32 = u32::MAX;
    const OPEN: u32 = u32::MAX - 1;
    let mut height = vec![NEW; count];
    for root in 0..count {
        let mut stack = vec![(root, contained(&module.types[root].kind))];
        if height[root] != NEW {
            continue;
        }
        height[root] = OPEN;
        while let Some((at, rest)) = stack.last_mut() {
            if let Some(inner) = rest.pop() {
                let inner = inner as usize;
                match height[inner] {
                    OPEN => return Err(format!("type {} contains itself", module.types[inner].name)),
                    NEW => {
                        height[inner] = OPEN;
                        stack.push((inner, contained(&module.types[inner].kind)));
                    }
                    _ => {}
                }
            } else {
                let at = *at;
                let inner = contained(&module.types[at].kind);
                let h = 1 + inner.iter().map(|t| height[*t as usize]).max().unwrap_or(0);
                ensure(h <= MAX_NESTING, || format!("type {} is nested too deep", module.types[at].name))?;
                height[at] = h;
                stack.pop();
            }
        }
    }
    Ok(())
}

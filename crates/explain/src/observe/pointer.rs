//! What the source calls a pointer.

use program::inst::{Inst, Operand, Reg};
use program::model::{Function, Home, Module, SymbolKind, TypeKind};
use replay::observer::View;
use replay::vars::Bindings;

/// Longer chains of members say nothing to a reader.
const DEPTH: u32 = 6;

/// The variable or member that an operand's value came from: `p`, `list->next`.
pub(super) fn name(view: &View<'_>, operand: Operand) -> Option<String> {
    let names =
        Names { module: view.module(), function: view.function(), bindings: Bindings::of(view.function()) };
    names.value(view.index, operand, 0).map(|n| n.text)
}

/// The address operands of an instruction.
pub(super) fn addresses(inst: &Inst) -> Vec<Operand> {
    match inst {
        Inst::Load { addr, .. }
        | Inst::Store { addr, .. }
        | Inst::Rmw { addr, .. }
        | Inst::CmpXchg { addr, .. } => vec![*addr],
        Inst::MemCopy { to, from, .. } => vec![*to, *from],
        Inst::MemSet { to, .. } => vec![*to],
        Inst::Call(call) => std::iter::once(call.callee).chain(call.args.iter().map(|a| a.value)).collect(),
        _ => Vec::new(),
    }
}

struct Named {
    text: String,
    ty: Option<u32>,
}

struct Names<'v> {
    module: &'v Module,
    function: &'v Function,
    bindings: Bindings<'v>,
}

impl Names<'_> {
    /// The name of a value, as somebody at instruction `at` would write it.
    fn value(&self, at: u32, operand: Operand, depth: u32) -> Option<Named> {
        if depth > DEPTH {
            return None;
        }
        let register = match operand {
            Operand::Reg(r) => r,
            Operand::Symbol { symbol, offset: 0 } => {
                let s = self.module.symbols.get(symbol as usize)?;
                return Some(Named { text: format!("&{}", s.name), ty: None });
            }
            _ => return None,
        };
        if let Some(named) = self.variable(at, register) {
            return Some(named);
        }
        let (index, inst) = self.definition(register)?;
        match inst {
            Inst::Copy { a, .. } | Inst::Cast { a, .. } => self.value(index, *a, depth + 1),
            // What lies at an offset from a pointer is reached through it.
            Inst::Address { base, .. } => self.value(index, *base, depth + 1),
            Inst::Load { addr, .. } => self.content(index, *addr, depth + 1),
            _ => None,
        }
    }

    /// A variable whose value is in the register.
    fn variable(&self, at: u32, register: Reg) -> Option<Named> {
        (0..self.function.variables.len() as u32).find_map(|v| {
            let variable = &self.function.variables[v as usize];
            let holds = |b: &&program::model::Binding| {
                b.part.is_none() && matches!(b.home, Home::Value(Operand::Reg(r), _) if r == register)
            };
            self.bindings
                .at(at, v)
                .iter()
                .any(holds)
                .then(|| Named { text: variable.name.clone(), ty: variable.ty })
        })
    }

    /// The name of what is stored at an address.
    fn content(&self, at: u32, address: Operand, depth: u32) -> Option<Named> {
        if let Operand::Symbol { symbol, offset: 0 } = address {
            let s = self.module.symbols.get(symbol as usize)?;
            let ty = match &s.kind {
                SymbolKind::Data { ty, .. } | SymbolKind::ThreadLocal { ty, .. } => *ty,
                _ => None,
            };
            return Some(Named { text: s.name.clone(), ty });
        }
        let Operand::Reg(r) = address else { return None };
        match self.definition(r).map(|(i, inst)| (i, inst.clone())) {
            Some((_, Inst::Frame { offset, .. })) => self.local(offset),
            Some((index, Inst::Address { base, index: Operand::Const(0), offset, .. })) => {
                let base = self.value(index, base, depth + 1)?;
                self.member(&base, u64::try_from(offset).ok()?)
            }
            Some((index, Inst::Address { base, .. })) => {
                let base = self.value(index, base, depth + 1)?;
                Some(Named { text: format!("{}[...]", base.text), ty: self.target(base.ty) })
            }
            _ => {
                let base = self.value(at, address, depth + 1)?;
                match self.member(&base, 0) {
                    Some(named) => Some(named),
                    None if self.is_reference(base.ty) => Some(Named { ty: self.target(base.ty), ..base }),
                    None => Some(Named { text: format!("*{}", base.text), ty: self.target(base.ty) }),
                }
            }
        }
    }

    /// A local that lies in the frame.
    fn local(&self, offset: u64) -> Option<Named> {
        let b = self.function.bindings.iter().find(|b| b.home == Home::Frame(offset))?;
        let v = self.function.variables.get(b.variable as usize)?;
        Some(Named { text: v.name.clone(), ty: v.ty })
    }

    /// The member of what a pointer points to.
    fn member(&self, base: &Named, offset: u64) -> Option<Named> {
        let record = self.strip(self.target(base.ty)?)?;
        let TypeKind::Record { members, .. } = &self.module.types.get(record as usize)?.kind else {
            return None;
        };
        let m = members.iter().find(|m| m.bit_offset == 8 * offset && !m.name.is_empty())?;
        let link = if self.is_reference(base.ty) { "." } else { "->" };
        Some(Named { text: format!("{}{link}{}", base.text, m.name), ty: m.ty })
    }

    fn is_reference(&self, ty: Option<u32>) -> bool {
        let stripped = ty.and_then(|ty| self.strip(ty)).and_then(|ty| self.module.types.get(ty as usize));
        stripped.is_some_and(|ty| matches!(ty.kind, TypeKind::Reference { .. }))
    }

    fn target(&self, ty: Option<u32>) -> Option<u32> {
        match &self.module.types.get(self.strip(ty?)? as usize)?.kind {
            TypeKind::Pointer { to } | TypeKind::Reference { to } => *to,
            TypeKind::Array { of, .. } => *of,
            _ => None,
        }
    }

    /// Behind typedefs and qualifiers.
    fn strip(&self, mut ty: u32) -> Option<u32> {
        for _ in 0..64 {
            match &self.module.types.get(ty as usize)?.kind {
                TypeKind::Alias { of } => ty = (*of)?,
                _ => break,
            }
        }
        Some(ty)
    }

    fn definition(&self, register: Reg) -> Option<(u32, &Inst)> {
        let found = self.function.code.iter().enumerate();
        found
            .filter(|(_, i)| i.defines().is_some_and(|(dst, n)| (dst..dst + n).contains(&register)))
            .map(|(i, inst)| (i as u32, inst))
            .next()
    }
}

//! The source expression of a pointer.

use program::inst::{Inst, Operand, Reg};
use program::model::{Function, Home, Module, SymbolKind, TypeKind};
use replay::observer::View;
use replay::vars::Bindings;

/// Longer chains of members are not useful to a reader.
const DEPTH: u32 = 6;

/// The variable or member that an operand was loaded from: `p`, `list->next`.
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
    /// The source expression of a value at instruction `at`.
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
            // An address at an offset from a pointer is named by that pointer.
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

    /// The name of the memory at an address.
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
                let (index, base, offset) = self.innermost(index, base, offset);
                let offset = u64::try_from(offset).ok()?;
                if let Operand::Reg(r) = base
                    && let Some((_, Inst::Frame { offset: first, .. })) = self.definition(r)
                {
                    return self.local(first + offset);
                }
                let base = self.value(index, base, depth + 1)?;
                self.member(&base, offset)
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

    /// The base of an address and the offset from it, through nested member addresses.
    fn innermost(&self, at: u32, base: Operand, offset: i64) -> (u32, Operand, i64) {
        let (mut at, mut base, mut offset) = (at, base, offset);
        while let Operand::Reg(r) = base
            && let Some((index, Inst::Address { base: next, index: Operand::Const(0), offset: more, .. })) =
                self.definition(r)
            && self.variable(at, r).is_none()
        {
            (at, base, offset) = (index, *next, offset.wrapping_add(*more));
        }
        (at, base, offset)
    }

    /// A local in the frame, or a member of one.
    fn local(&self, offset: u64) -> Option<Named> {
        self.function.bindings.iter().find_map(|binding| {
            let Home::Frame(first) = binding.home else { return None };
            let variable = self.function.variables.get(binding.variable as usize)?;
            let inside = offset.checked_sub(first)?;
            match variable.ty.and_then(|ty| self.kind(ty)) {
                Some(TypeKind::Record { union: false, .. }) => {
                    self.within(variable.ty?, inside, format!("{}.", variable.name), 0)
                }
                _ => (inside == 0).then(|| Named { text: variable.name.clone(), ty: variable.ty }),
            }
        })
    }

    /// A member of the object that a pointer points to.
    fn member(&self, base: &Named, offset: u64) -> Option<Named> {
        let link = if self.is_reference(base.ty) { "." } else { "->" };
        self.within(self.target(base.ty)?, offset, format!("{}{link}", base.text), 0)
    }

    /// The member of a record, or of a nested record, at an offset. Within a union only the union itself is
    /// known.
    fn within(&self, record: u32, offset: u64, prefix: String, depth: u32) -> Option<Named> {
        let TypeKind::Record { members, union: false } = &self.kind(record)? else { return None };
        let is_at = |m: &&program::model::Member| {
            let size = m.ty.and_then(|ty| self.module.types.get(ty as usize)).map_or(0, |ty| ty.size);
            m.bit_offset <= 8 * offset && 8 * offset < m.bit_offset + (8 * size).max(m.bits)
        };
        let m = members.iter().find(is_at).filter(|_| depth < DEPTH)?;
        let (mut text, mut ty) = (format!("{prefix}{}", m.name), m.ty);
        let mut inside = offset - m.bit_offset / 8;
        if let Some(TypeKind::Array { of: Some(of), .. }) = ty.and_then(|ty| self.kind(ty)) {
            let size = self.module.types.get(*of as usize)?.size.max(1);
            text.push_str(&format!("[{}]", inside / size));
            (ty, inside) = (Some(*of), inside % size);
        }
        match ty.and_then(|ty| self.kind(ty)) {
            Some(TypeKind::Record { union: false, .. }) => {
                // The members of an anonymous struct are members of the enclosing record.
                let prefix = if m.name.is_empty() { prefix } else { format!("{text}.") };
                self.within(ty?, inside, prefix, depth + 1)
            }
            Some(TypeKind::Record { union: true, .. }) => {
                (!m.name.is_empty()).then_some(Named { text, ty: None })
            }
            _ => (!m.name.is_empty() && inside == 0).then_some(Named { text, ty }),
        }
    }

    /// The kind of a type without typedefs.
    fn kind(&self, ty: u32) -> Option<&TypeKind> {
        Some(&self.module.types.get(self.strip(ty)? as usize)?.kind)
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

    /// Strips typedefs and qualifiers.
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

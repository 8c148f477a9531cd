//! Type inference for registers, and the roots of addresses.

use crate::plan::{AddressOrigin, Base, Planner, returned_type};
use crate::trace::NONE;
use crate::trace_tables::parameter;
use crate::types::{self, Sort, TypeRef, Wanted};
use program::inst::{ArgTy, Inst, Operand, Reg, Ty};
use program::model::{Home, SymbolKind};

/// A load of a pointer, from any element of an array.
const POINTER: Wanted = Wanted { len: 8, sort: Some(Sort::Pointer), open: true, bits: None };

impl Planner<'_, '_, '_> {
    /// Infers the type that each register points to.
    pub(crate) fn infer(&mut self) {
        let model = self.trace_tables.image.module(self.module);
        for (i, inst) in self.f.code.iter().enumerate() {
            if let Some((reg, _)) = inst.defines()
                && let Some(def) = self.def.get_mut(reg as usize)
            {
                *def = i as u32;
            }
        }
        for (n, p) in self.f.params.iter().enumerate() {
            let ty = parameter(self.f, n).and_then(|v| v.ty);
            let to = match p.ty {
                ArgTy::Value(Ty::Ptr) => ty.and_then(|t| types::pointee(model, t)),
                ArgTy::Value(_) => None,
                ArgTy::ByVal { .. } => ty,
            };
            self.learn(p.reg, to.map(|t| (self.module, t)));
        }
        for b in &self.f.bindings {
            if let (Home::Value(Operand::Reg(r), Ty::Ptr), None) = (b.home, b.part) {
                let ty = self.f.variables.get(b.variable as usize).and_then(|v| v.ty);
                let to = ty.and_then(|t| types::pointee(model, t)).map(|t| (self.module, t));
                self.learn(r, to);
            }
        }
        // Types propagate along loads and phis; loops need further rounds.
        for _ in 0..3 {
            for inst in &self.f.code {
                let found = match inst {
                    Inst::Load { dst, addr, ty: Ty::Ptr } => self.loaded(*addr).map(|to| (*dst, to)),
                    Inst::Copy { dst, a } => self.known(*a).map(|to| (*dst, to)),
                    Inst::Select { dst, a, b, slots: 1, .. } => {
                        self.known(*a).or_else(|| self.known(*b)).map(|to| (*dst, to))
                    }
                    Inst::Call(call) if call.ret == [Ty::Ptr] => {
                        self.result(call.callee).map(|to| (call.dst, to))
                    }
                    _ => None,
                };
                if let Some((dst, to)) = found {
                    self.learn(dst, Some(to));
                }
            }
            for block in &self.f.blocks {
                for phi in block.phis.iter().filter(|p| p.slots == 1) {
                    let to = phi.incoming.iter().find_map(|(_, value)| self.known(*value));
                    self.learn(phi.dst, to);
                }
            }
        }
    }

    fn learn(&mut self, reg: Reg, to: Option<TypeRef>) {
        if let Some(known) = self.points_to.get_mut(reg as usize)
            && known.is_none()
        {
            *known = to;
        }
    }

    /// The type that an operand points to.
    pub(crate) fn known(&self, operand: Operand) -> Option<TypeRef> {
        match operand {
            Operand::Reg(r) => self.points_to.get(r as usize).copied().flatten(),
            _ => None,
        }
    }

    /// The type that a pointer loaded from an address points to.
    fn loaded(&self, addr: Operand) -> Option<TypeRef> {
        let address_origin = self.address_origin(addr);
        let (module, ty) = match address_origin.base {
            Base::Typed(_, ty) => ty,
            Base::Symbol(symbol) => self.trace_tables.global(self.module, symbol)?.ty?,
            Base::Frame(offset) => {
                let (_, ty, start) = self.local(offset)?;
                let model = self.trace_tables.image.module(self.module);
                let at = (offset - start).checked_add_signed(address_origin.offset)?;
                let leaf = types::part(model, ty?, at, POINTER).leaf?;
                return Some((self.module, types::pointee(model, leaf)?));
            }
            Base::Unknown => return None,
        };
        let model = self.trace_tables.image.module(module);
        let size = types::size(model, ty).max(1);
        let at = address_origin.offset.rem_euclid(size.cast_signed()).cast_unsigned();
        let leaf = types::part(model, ty, at, POINTER).leaf?;
        Some((module, types::pointee(model, leaf)?))
    }

    /// The type that the result of a call points to, from the variable that the callee, a function of the
    /// program, returns.
    fn result(&self, callee: Operand) -> Option<TypeRef> {
        let Operand::Symbol { symbol, offset: 0 } = callee else { return None };
        let image = self.trace_tables.image;
        let number = image.function_at(image.symbol(self.module, symbol))?;
        let code = image.code(number);
        let model = image.module(code.module);
        let f = &model.functions[code.function as usize];
        let ty = f.code.iter().find_map(|i| match i {
            Inst::Return { value: Some(value), .. } => returned_type(f, *value),
            _ => None,
        })?;
        Some((code.module, types::pointee(model, ty)?))
    }

    /// Traces an address back to its root.
    pub(crate) fn address_origin(&self, addr: Operand) -> AddressOrigin {
        let mut address_origin = AddressOrigin { base: Base::Unknown, offset: 0, variable: false };
        let mut next = addr;
        for _ in 0..32 {
            let r = match next {
                Operand::Symbol { symbol, offset } => {
                    address_origin.base = Base::Symbol(symbol);
                    address_origin.offset = address_origin.offset.wrapping_add(offset);
                    return address_origin;
                }
                Operand::Const(_) => return address_origin,
                Operand::Reg(r) => r,
            };
            if let Some(to) = self.points_to.get(r as usize).copied().flatten() {
                address_origin.base = Base::Typed(r, to);
                return address_origin;
            }
            let def = self.def.get(r as usize).copied().unwrap_or(NONE);
            match self.f.code.get(def as usize) {
                Some(Inst::Address { base, index, scale, offset, .. }) => {
                    address_origin.offset = address_origin.offset.wrapping_add(*offset);
                    match index {
                        Operand::Const(c) => {
                            address_origin.offset =
                                address_origin.offset.wrapping_add(c.cast_signed().wrapping_mul(*scale));
                        }
                        _ => address_origin.variable = true,
                    }
                    next = *base;
                }
                Some(Inst::Frame { offset, .. }) => {
                    address_origin.base = Base::Frame(*offset);
                    return address_origin;
                }
                Some(Inst::ThreadLocal { symbol, .. }) => {
                    let model = self.trace_tables.image.module(self.module);
                    if let Some(SymbolKind::ThreadLocal { ty: Some(ty), .. }) =
                        model.symbols.get(*symbol as usize).map(|s| &s.kind)
                    {
                        address_origin.base = Base::Typed(r, (self.module, *ty));
                    }
                    return address_origin;
                }
                Some(Inst::Copy { a, .. }) => next = *a,
                _ => return address_origin,
            }
        }
        address_origin
    }

    /// The local variable that contains an offset of the frame: size, type, start.
    pub(crate) fn local(&self, offset: u64) -> Option<(u64, Option<u32>, u64)> {
        let model = self.trace_tables.image.module(self.module);
        self.f.bindings.iter().find_map(|b| {
            let Home::Frame(start) = b.home else { return None };
            let v = self.f.variables.get(b.variable as usize)?;
            let size = v.ty.map_or(8, |t| types::size(model, t));
            (b.part.is_none() && start <= offset && offset < start + size.max(1))
                .then_some((size, v.ty, start))
        })
    }
}

//! The meaning of each instruction of a function for a trace, computed once before the function first runs.
//!
//! The model has types for variables but not for registers. A register's type follows from the variables
//! bound to it, from its parameter, or from the member it was loaded from; phis and copies propagate it. The
//! address of an access is traced back through the arithmetic to a register with a known type, its *root*;
//! the type then determines the member at that offset.

use crate::bits::{self, Bits};
use crate::trace::{Encoding, Kind, NONE, Shape};
use crate::trace_tables::{Global, TraceTables, parameter, plain_shape, pointed_record};
use crate::types::{self, TypeRef};
use program::inst::{ArgTy, Inst, Operand, Reg, Ty};
use program::model::{Function, Home};
use std::sync::Arc;

/// The number of elements of an array that are distinguished by name.
pub const MAX_NAMED_ELEMENTS: usize = 4096;

/// The root of an access's address.
#[derive(Clone, Debug)]
pub enum Root {
    /// Always the same part of the same object.
    Fixed {
        /// Its number in [`Objects::all`](crate::objects::Objects::all).
        object: u32,
    },
    /// A global variable with parts.
    Global {
        /// The variable's number in [`Objects::all`](crate::objects::Objects::all).
        object: u32,
        /// Its address.
        base: u64,
        /// Its type, an aggregate.
        ty: TypeRef,
    },
    /// Memory that a pointer to a record points to.
    Record {
        /// The register with the pointer.
        reg: Reg,
        /// The record.
        ty: TypeRef,
        /// The type as text, a number in [`Names`](crate::names::Names).
        name: u32,
        /// Size of the record in bytes, not 0.
        size: u64,
    },
    /// A local variable with parts.
    Local {
        /// Where the variable begins in the frame.
        offset: u64,
        /// Its type, an aggregate.
        ty: TypeRef,
        /// The type as text, a number in [`Names`](crate::names::Names).
        name: u32,
    },
    /// Memory that a pointer to a type without parts points to.
    Element {
        /// The type that the pointer points to.
        ty: TypeRef,
        /// The type as text, a number in [`Names`](crate::names::Names).
        name: u32,
        /// Size of the type in bytes, at least 1.
        size: u64,
    },
    /// A pointer of unknown type.
    Untyped,
}

/// A load or store.
#[derive(Clone, Debug)]
pub struct Access {
    /// `Get` for a load, `Set` for everything that stores.
    pub kind: Kind,
    /// What the address is computed from.
    pub root: Root,
    /// The distance from the root, if it is constant.
    pub offset: Option<u64>,
    /// The event site, [`NONE`] until it is made; not used for variable distances from a typed root.
    pub act: u32,
    /// For a variable distance, the event site of each element, by distance divided by `len`; [`NONE`] until
    /// it is made.
    pub acts: Vec<u32>,
    /// The event site for elements without a name of their own, [`NONE`] until it is made.
    pub open: u32,
    /// The instruction, an index into the function's code.
    pub index: u32,
    /// Number of bytes; 0 for a copy or fill whose length is known only at run time.
    pub len: u64,
    /// The machine type of the value; `None` for a copy or fill.
    pub ty: Option<Ty>,
    /// Where the value is after the instruction has run; `None` if it is in memory.
    pub value: Option<Operand>,
    /// For a bit-field, the accessed bits of the value.
    pub bits: Option<Bits>,
    /// The last lookup's result: start, end, object.
    pub cached: (u64, u64, u32),
}

/// In [`Plan::what`]: an instruction without events. The next three are its other values.
pub const NOTHING: u32 = 0;
/// A call.
pub const CALL: u32 = 1;
/// A return.
pub const RETURN: u32 = 2;
/// Accesses are numbered from this value on.
pub const ACCESS: u32 = 3;

/// See the module's documentation.
#[derive(Debug, Default)]
pub struct Plan {
    /// Index of the module in the image.
    pub module: u32,
    /// Index of the function in its module.
    pub function: u32,
    /// Index in [`TraceTables::methods`].
    pub method: u32,
    /// The kind of each instruction.
    pub what: Vec<u32>,
    /// Loads and stores; [`ACCESS`] plus an index into this list is their value in `what`.
    pub accesses: Vec<Access>,
    /// The name and shape of each parameter; below, its register and how its value is encoded.
    pub parameters: Arc<[(u32, Shape)]>,
    pub(crate) registers: Vec<(Reg, Encoding)>,
    /// The parameter that points to the object the function works on.
    pub active: Option<(Reg, u32)>,
    /// Bytes of the frame.
    pub frame_size: u64,
    /// The aggregates in the frame: offset, size, type.
    pub locals: Vec<(u64, u64, Option<TypeRef>)>,
    /// The event site of each return instruction, in the order of the code.
    pub returns: Vec<(u32, u32)>,
    /// Number of loads among the accesses.
    pub loads: u32,
    /// For each call, the last callee and its event site, once there was one.
    pub called: Vec<(u32, u32)>,
    /// The instructions that produce fleeting values, if there are any.
    pub(crate) sources: Option<Box<[bool]>>,
    /// The post-dominators of its blocks, computed on demand.
    pub(crate) post_dominator_tree: Option<program::cfg::Dominators>,
}

pub(crate) struct Planner<'b, 'i, 'f> {
    pub(crate) trace_tables: &'b mut TraceTables<'i>,
    pub(crate) module: u32,
    pub(crate) function: u32,
    pub(crate) f: &'f Function,
    /// The type that each register points to.
    pub(crate) points_to: Vec<Option<TypeRef>>,
    /// The defining instruction of each register.
    pub(crate) def: Vec<u32>,
}

/// A root and the offset from it.
pub(crate) struct AddressOrigin {
    pub(crate) base: Base,
    pub(crate) offset: i64,
    /// Whether a variable index is added.
    pub(crate) variable: bool,
}

pub(crate) enum Base {
    Symbol(u32),
    Frame(u64),
    Typed(Reg, TypeRef),
    Unknown,
}

/// Computes the plan of a function.
pub fn plan(trace_tables: &mut TraceTables<'_>, module: u32, function: u32) -> Plan {
    let image = trace_tables.image;
    let f = &image.module(module).functions[function as usize];
    let mut planner = Planner {
        points_to: vec![None; f.slots as usize],
        def: vec![NONE; f.slots as usize],
        trace_tables,
        module,
        function,
        f,
    };
    planner.infer();
    planner.make()
}

impl Plan {
    fn access_at(&mut self, index: u32) -> Option<&mut Access> {
        let what = *self.what.get(index as usize)?;
        self.accesses.get_mut(what.checked_sub(ACCESS)? as usize)
    }
}

impl Planner<'_, '_, '_> {
    fn make(mut self) -> Plan {
        let image = self.trace_tables.image;
        let model = image.module(self.module);
        let method = self.trace_tables.method(self.module, self.function);
        let mut plan = Plan {
            module: self.module,
            function: self.function,
            method,
            what: vec![NOTHING; self.f.code.len()],
            frame_size: self.f.frame_size,
            sources: crate::fleeting::sources(self.f),
            ..Plan::default()
        };
        let mut parameters = Vec::new();
        for (n, p) in self.f.params.iter().enumerate() {
            let variable = parameter(self.f, n);
            let ty = variable.and_then(|v| v.ty);
            let name = self.trace_tables.names.intern(variable.map_or("", |v| v.name.as_str()));
            let shape = match (ty, p.ty) {
                (Some(ty), _) => self.trace_tables.shape((self.module, ty)),
                (None, ArgTy::Value(ty)) => plain_shape(ty),
                (None, ArgTy::ByVal { size, .. }) => Shape::Whole(size.min(1 << 20) as u32),
            };
            if plan.active.is_none()
                && p.ty == ArgTy::Value(Ty::Ptr)
                && let Some(to) = pointed_record(model, ty)
            {
                plan.active = Some((p.reg, self.trace_tables.type_name(Some((self.module, to)))));
            }
            let take = match (shape.take(), p.ty) {
                (Encoding::Whole(len), _) => Encoding::Whole(len),
                (_, ArgTy::ByVal { .. }) => Encoding::Nothing,
                (take, _) => take,
            };
            parameters.push((name, shape));
            plan.registers.push((p.reg, take));
        }
        plan.parameters = parameters.into();
        for b in &self.f.bindings {
            if let (Home::Frame(start), None) = (b.home, b.part) {
                let ty = self.f.variables.get(b.variable as usize).and_then(|v| v.ty);
                let size = ty.map_or(8, |t| types::size(model, t));
                let local = (start, size, ty.map(|t| (self.module, t)));
                if !plan.locals.contains(&local) {
                    plan.locals.push(local);
                }
            }
        }
        let bits = bits::find(self.f);
        for (index, inst) in self.f.code.iter().enumerate() {
            match inst {
                Inst::Call(_) => plan.what[index] = CALL,
                Inst::Return { value, ret } => {
                    plan.what[index] = RETURN;
                    let act = self.return_site(method, index, *value, ret);
                    plan.returns.push((index as u32, act));
                }
                Inst::Load { addr, ty, .. } => {
                    self.access(&mut plan, index, Kind::Get, *addr, Some(*ty), ty.bytes().into());
                }
                Inst::Store { addr, ty, .. }
                | Inst::Rmw { addr, ty, .. }
                | Inst::CmpXchg { addr, ty, .. } => {
                    self.access(&mut plan, index, Kind::Set, *addr, Some(*ty), ty.bytes().into());
                }
                Inst::MemCopy { to, len, .. } | Inst::MemSet { to, len, .. } => {
                    let len = match len {
                        Operand::Const(c) => *c,
                        _ => 0,
                    };
                    self.access(&mut plan, index, Kind::Set, *to, None, len);
                }
                _ => {}
            }
        }
        for (index, field) in &bits.fields {
            if let Some(access) = plan.access_at(*index) {
                access.bits = self.bit_field(access, *field);
            }
        }
        // The load that is part of a bit-field store does not read the neighbouring fields.
        for (load, store) in &bits.parts {
            if plan.access_at(*store).is_some_and(|access| access.bits.is_some()) {
                plan.what[*load as usize] = NOTHING;
            }
        }
        plan
    }

    /// The bits of an access, if they are a bit-field.
    fn bit_field(&self, access: &Access, field: Bits) -> Option<Bits> {
        let (Root::Global { ty, .. } | Root::Local { ty, .. } | Root::Record { ty, .. }) = access.root else {
            return None;
        };
        let sort = access.ty.map(types::Sort::of);
        let wanted = types::Wanted { len: access.len, sort, open: false, bits: Some(field) };
        let part = types::part(self.trace_tables.image.module(ty.0), ty.1, access.offset?, wanted);
        part.bits.then_some(field)
    }

    fn return_site(&mut self, method: u32, index: usize, value: Option<Operand>, ret: &[Ty]) -> u32 {
        let shape = match (value, ret) {
            (Some(value), [ty]) => {
                let model = self.trace_tables.image.module(self.module);
                let fits = |t: &u32| types::size(model, *t) == u64::from(ty.bytes());
                match (returned_type(self.f, value).filter(fits), self.known(value), ty) {
                    (Some(t), ..) => self.trace_tables.shape((self.module, t)),
                    (None, Some((module, to)), Ty::Ptr) => {
                        let model = self.trace_tables.image.module(module);
                        match types::is_record(model, to) {
                            true => Shape::Object(self.trace_tables.type_name(Some((module, to)))),
                            false => Shape::Pointer,
                        }
                    }
                    _ => plain_shape(*ty),
                }
            }
            (Some(_), [_, ..]) => Shape::Unsigned(8),
            _ => Shape::Nothing,
        };
        let name = self.trace_tables.methods[method as usize].name;
        self.trace_tables.act(
            (self.module, self.function, index),
            method,
            Kind::Return,
            0,
            name,
            shape,
            Arc::new([]),
        )
    }

    fn access(&mut self, plan: &mut Plan, index: usize, kind: Kind, addr: Operand, ty: Option<Ty>, len: u64) {
        let address_origin = self.address_origin(addr);
        let fixed = if address_origin.variable { None } else { Some(address_origin.offset) };
        let mut access = Access {
            kind,
            root: Root::Untyped,
            offset: None,
            act: NONE,
            acts: Vec::new(),
            open: NONE,
            index: index as u32,
            len,
            ty,
            value: match &self.f.code[index] {
                Inst::Load { dst, .. } => Some(Operand::Reg(*dst)),
                Inst::Store { value, .. } => Some(*value),
                _ => None,
            },
            bits: None,
            cached: (0, 0, NONE),
        };
        match address_origin.base {
            Base::Symbol(symbol) => {
                let Some(global) = self.trace_tables.global(self.module, symbol) else { return };
                // String literals are not state.
                if self.trace_tables.names.text(global.name).starts_with(".str") {
                    return;
                }
                self.global(&mut access, plan.method, global, fixed);
            }
            Base::Frame(offset) => {
                let Some((_, Some(ty), start)) = self.local(offset) else { return };
                let model = self.trace_tables.image.module(self.module);
                // A local variable without parts is not an object, as if it were in a register.
                if !types::is_aggregate(model, ty) {
                    return;
                }
                let name = self.trace_tables.type_name(Some((self.module, ty)));
                access.root = Root::Local { offset: start, ty: (self.module, ty), name };
                access.offset = fixed.and_then(|o| (offset - start).checked_add_signed(o));
            }
            Base::Typed(reg, ty) => {
                let model = self.trace_tables.image.module(ty.0);
                let size = types::size(model, ty.1);
                let name = self.trace_tables.type_name(Some(ty));
                match types::is_record(model, ty.1) && size > 0 {
                    true => {
                        access.root = Root::Record { reg, ty, name, size };
                        access.offset = fixed.and_then(|o| u64::try_from(o).ok()).filter(|o| *o < size);
                    }
                    false => access.root = Root::Element { ty, name, size: size.max(1) },
                }
            }
            Base::Unknown => {}
        }
        if kind == Kind::Get {
            plan.loads += 1;
        }
        plan.what[index] = ACCESS + plan.accesses.len() as u32;
        plan.accesses.push(access);
    }

    fn global(&mut self, access: &mut Access, method: u32, global: Global, offset: Option<i64>) {
        let whole = global.ty.is_none_or(|(m, t)| !types::is_aggregate(self.trace_tables.image.module(m), t));
        let at = (self.module, self.function, access.index as usize);
        match (global.ty, whole) {
            (Some(ty), false) => {
                let object = self.trace_tables.global_object(global);
                access.root = Root::Global { object, base: global.address, ty };
                access.offset = offset.and_then(|o| u64::try_from(o).ok());
            }
            _ => {
                let object = self.trace_tables.unit(global.module);
                access.root = Root::Fixed { object };
                let shape = match (global.ty, access.ty) {
                    (Some(ty), _) => self.trace_tables.shape(ty),
                    (None, Some(ty)) => plain_shape(ty),
                    (None, None) => Shape::Whole(access.len.min(1 << 20) as u32),
                };
                let unit = self.trace_tables.names.intern("unit");
                access.act =
                    self.trace_tables.act(at, method, access.kind, unit, global.name, shape, Arc::new([]));
            }
        }
    }
}

/// The type of the variable that a function returns.
pub(crate) fn returned_type(f: &Function, value: Operand) -> Option<u32> {
    let Operand::Reg(_) = value else { return None };
    f.bindings.iter().find_map(|b| match b.home {
        Home::Value(operand, _) if operand == value && b.part.is_none() => {
            f.variables.get(b.variable as usize)?.ty
        }
        _ => None,
    })
}

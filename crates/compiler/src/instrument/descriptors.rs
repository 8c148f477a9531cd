//! The static descriptors of docs/runtime-interface.md.

use crate::llvm::{Linkage, Typ, Unit, Val};
use program::inst::{Arg, ArgTy, FloatKind, Ty};
use std::collections::HashMap;

const MAGIC: u64 = 0x6d6c_7231;

pub struct Descriptors<'u> {
    unit: &'u Unit,
    pub module: Val,
    sites: HashMap<(u32, u32), Val>,
    kinds: HashMap<Vec<u8>, Val>,
    va: HashMap<Vec<u8>, Val>,
}

impl<'u> Descriptors<'u> {
    pub fn new(unit: &'u Unit) -> Self {
        let ptr = unit.ptr();
        let int = |b| unit.int(b);
        let id = unit.array_type(int(8), 16);
        let ty = unit.struct_type(&[int(32), int(32), id, int(32), int(32), ptr, ptr]);
        let module = unit.add_global("__relapse_module", ty);
        Descriptors { unit, module, sites: HashMap::new(), kinds: HashMap::new(), va: HashMap::new() }
    }

    fn constant(&self, value: Val) -> Val {
        let g = self.unit.add_global("__relapse.desc", value.ty());
        g.set_initializer(value);
        g.set_linkage(Linkage::LLVMPrivateLinkage);
        g.set_constant();
        g
    }

    fn int(&self, bits: u32, v: u64) -> Val {
        self.unit.const_int(bits, v)
    }

    pub fn site(&mut self, site: u32, extra: u32) -> Val {
        if let Some(d) = self.sites.get(&(site, extra)) {
            return *d;
        }
        let parts = [self.module, self.int(32, site.into()), self.int(32, extra.into())];
        let d = self.constant(self.unit.const_struct(&parts));
        self.sites.insert((site, extra), d);
        d
    }

    pub fn function(&mut self, index: usize, slots: usize, name: &str) -> Val {
        let mut text = name.as_bytes().to_vec();
        text.push(0);
        let name_at = self.constant(self.unit.const_bytes(&text));
        let main = u64::from(name == "main");
        let parts = [
            self.module,
            self.int(32, index as u64),
            self.int(32, slots as u64),
            name_at,
            self.int(32, main),
            self.int(32, 0),
        ];
        self.constant(self.unit.const_struct(&parts))
    }

    fn kinds(&mut self, bytes: Vec<u8>) -> Val {
        if let Some(d) = self.kinds.get(&bytes) {
            return *d;
        }
        let d = self.constant(self.unit.const_bytes(&bytes));
        self.kinds.insert(bytes, d);
        d
    }

    pub fn call(&mut self, call: &program::inst::Call, site: u32, known: u16) -> Val {
        let kinds = self.kinds(kind_bytes(&call.args));
        let results: u32 = call.ret.iter().map(|t| t.slots()).sum();
        let flags = u64::from(call.returns_twice) | u64::from(call.variadic.is_some()) << 1;
        let parts = [
            self.module,
            self.int(32, site.into()),
            self.int(16, known.into()),
            self.int(16, call.args.len() as u64),
            self.int(16, results.into()),
            self.int(16, flags),
            kinds,
        ];
        self.constant(self.unit.const_struct(&parts))
    }

    /// The arguments of a variadic call after the fixed ones.
    pub fn variadic(&mut self, args: &[Arg]) -> Val {
        let bytes = kind_bytes(args);
        if let Some(d) = self.va.get(&bytes) {
            return *d;
        }
        let kinds = self.kinds(bytes.clone());
        let parts = [self.int(32, args.len() as u64), self.int(32, 0), kinds];
        let d = self.constant(self.unit.const_struct(&parts));
        self.va.insert(bytes, d);
        d
    }

    /// Completes the module descriptor when all symbols are known.
    pub fn finish(&self, id: [u8; 16], addresses: &[Val], known: &[u16]) {
        let unit = self.unit;
        let ptr = unit.ptr();
        let table = |of: Typ, values: &[Val]| {
            let a = unit.const_array(of, values);
            let g = unit.add_global("__relapse.table", a.ty());
            g.set_initializer(a);
            g.set_linkage(Linkage::LLVMPrivateLinkage);
            g.set_constant();
            g
        };
        let numbers: Vec<Val> = known.iter().map(|k| unit.const_int(16, u64::from(*k))).collect();
        let value = unit.const_struct(&[
            self.int(32, MAGIC),
            self.int(32, 0),
            unit.const_bytes(&id),
            self.int(32, addresses.len() as u64),
            self.int(32, 0),
            table(ptr, addresses),
            table(unit.int(16), &numbers),
        ]);
        self.module.set_initializer(value);
    }
}

fn kind_bytes(args: &[Arg]) -> Vec<u8> {
    let mut out = Vec::new();
    for a in args {
        match a.ty {
            ArgTy::Value(Ty::Float(FloatKind::F32)) => out.push(1),
            ArgTy::Value(Ty::Float(FloatKind::F64)) => out.push(2),
            ArgTy::Value(Ty::Float(FloatKind::F80)) => out.push(3),
            ArgTy::Value(t) if t.slots() == 2 => out.push(4),
            ArgTy::Value(_) => out.push(0),
            ArgTy::ByVal { size, align } => {
                out.push(5);
                out.extend((size as u32).to_le_bytes());
                out.extend(align.to_le_bytes());
            }
        }
    }
    out
}

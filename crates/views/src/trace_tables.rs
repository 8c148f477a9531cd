//! The tables of a trace under construction: names, functions, event sites, objects.

use crate::names::{Names, NumberMap};
use crate::objects::Objects;
use crate::trace::{Encoding, EventSite, Kind, Method, Shape, site_hash};
use crate::types::{self, TypeRef};
use program::inst::{FloatKind, Ty};
use program::model::{Function, Module, SymbolKind, TypeKind};
use program::names::readable;
use replay::image::Image;
use std::collections::HashMap;
use std::sync::Arc;

/// The pseudo-function for code that runs outside of the program's own functions.
pub const EXTERNAL_METHOD: u32 = 0;

/// A global variable of the program.
#[derive(Clone, Copy, Debug)]
pub struct Global {
    /// Its address.
    pub address: u64,
    /// Its size.
    pub size: u64,
    /// Its type, if known.
    pub ty: Option<TypeRef>,
    /// Its name, as a number in [`Names`].
    pub name: u32,
    /// The module that defines it.
    pub module: u32,
}

/// See the module's documentation.
pub struct TraceTables<'i> {
    /// The program.
    pub image: &'i Image,
    /// All texts of the trace.
    pub names: Names,
    /// The event sites; events have indices into this list.
    pub acts: Vec<EventSite>,
    /// For each event site, the fields that every event needs: hash and encoding.
    pub(crate) quick: Vec<(u64, Encoding)>,
    /// The functions; the first is [`EXTERNAL_METHOD`].
    pub methods: Vec<Method>,
    /// The objects that events are about.
    pub objects: Objects,
    /// Sorted by address.
    pub globals: Vec<Global>,
    by_name: HashMap<String, usize>,
    methods_of: NumberMap<u64, u32>,
    units: NumberMap<u32, u32>,
    files: NumberMap<u64, u32>,
}

impl<'i> TraceTables<'i> {
    /// Tables with the global variables and without events.
    pub fn new(image: &'i Image) -> TraceTables<'i> {
        let mut names = Names::new();
        let outside = names.intern("(outside)");
        let methods = vec![Method { name: outside, signature: outside, file: 0, line: 0 }];
        let mut globals = Vec::new();
        for (module, loaded) in image.modules() {
            if image.canonical(module) != module {
                continue;
            }
            for (symbol, address) in loaded.model.symbols.iter().zip(&loaded.addresses) {
                if let SymbolKind::Data { size, ty, .. } = symbol.kind
                    && *address != 0
                {
                    let name = names.intern(&readable(&symbol.name));
                    let ty = ty.map(|t| (module, t));
                    globals.push((Global { address: *address, size, ty, name, module }, &symbol.name));
                }
            }
        }
        globals.sort_by_key(|g| g.0.address);
        let by_name = globals.iter().enumerate().map(|(i, g)| (g.1.clone(), i)).collect();
        let globals = globals.into_iter().map(|g| g.0).collect();
        TraceTables {
            image,
            names,
            acts: Vec::new(),
            quick: Vec::new(),
            methods,
            objects: Objects::default(),
            globals,
            by_name,
            methods_of: NumberMap::default(),
            units: NumberMap::default(),
            files: NumberMap::default(),
        }
    }

    /// The variable that a symbol of a module denotes.
    pub fn global(&self, module: u32, symbol: u32) -> Option<Global> {
        let address = self.image.symbol(module, symbol);
        let found = self.globals.binary_search_by_key(&address, |g| g.address).ok();
        let by_name = || {
            let name = &self.image.module(module).symbols.get(symbol as usize)?.name;
            self.by_name.get(name).copied()
        };
        // The address of a weak definition may belong to another module's definition.
        let index = if address == 0 { by_name() } else { found.or_else(by_name) }?;
        Some(self.globals[index])
    }

    /// The variable whose storage contains an address.
    pub fn global_around(&self, address: u64) -> Option<Global> {
        let n = self.globals.partition_point(|g| g.address <= address).checked_sub(1)?;
        let global = self.globals[n];
        (address - global.address < global.size).then_some(global)
    }

    /// The object that represents a compilation unit; its fields are the scalar globals.
    pub fn unit(&mut self, module: u32) -> u32 {
        if let Some(known) = self.units.get(&module) {
            return *known;
        }
        let path = &self.image.module(module).name;
        let short = path.rsplit('/').next().unwrap_or(path).to_owned();
        let (ty, name) = (self.names.intern("unit"), self.names.intern(&short));
        let unit = self.objects.add_abstract(ty, name);
        self.units.insert(module, unit);
        unit
    }

    /// The object of a global variable.
    pub fn global_object(&mut self, global: Global) -> u32 {
        let ty = self.type_name(global.ty);
        self.objects.named(global.address, ty, global.name)
    }

    /// A type as text, a number in [`Names`]; 0 if it is not known.
    pub fn type_name(&mut self, ty: Option<TypeRef>) -> u32 {
        match ty {
            None => 0,
            Some((module, ty)) => {
                let text = types::text(self.image.module(module), Some(ty));
                self.names.intern(&text)
            }
        }
    }

    /// The index of a function in [`TraceTables::methods`].
    pub fn method(&mut self, module: u32, function: u32) -> u32 {
        let key = u64::from(module) << 32 | u64::from(function);
        if let Some(known) = self.methods_of.get(&key) {
            return *known;
        }
        let model = self.image.module(module);
        let f = &model.functions[function as usize];
        let mut arguments: Vec<&program::model::Variable> =
            f.variables.iter().filter(|v| v.arg > 0).collect();
        arguments.sort_by_key(|v| v.arg);
        let arguments: Vec<String> = arguments.iter().map(|v| types::text(model, v.ty)).collect();
        let dots = if f.variadic { ", ..." } else { "" };
        let name = readable(&f.name);
        let signature = format!("{name}({}{dots})", arguments.join(", "));
        let method = Method {
            name: self.names.intern(&name),
            signature: self.names.intern(&signature),
            file: self.file(module, f.file),
            line: f.line,
        };
        let number = self.methods.len() as u32;
        self.methods.push(method);
        self.methods_of.insert(key, number);
        number
    }

    /// A source file's path, interned.
    pub fn file(&mut self, module: u32, file: u32) -> u32 {
        let key = u64::from(module) << 32 | u64::from(file);
        if let Some(known) = self.files.get(&key) {
            return *known;
        }
        let name = self.names.intern(&self.image.module(module).file_path(file));
        self.files.insert(key, name);
        name
    }

    /// Adds an event site at an instruction of a function.
    #[allow(clippy::too_many_arguments)] // The columns of a table.
    pub fn act(
        &mut self,
        at: (u32, u32, usize),
        method: u32,
        kind: Kind,
        owner: u32,
        name: u32,
        shape: Shape,
        arguments: Arc<[(u32, Shape)]>,
    ) -> u32 {
        let (module, function, index) = at;
        let place = self
            .image
            .module(module)
            .functions
            .get(function as usize)
            .map(|f| f.place(index))
            .unwrap_or_default();
        let file = if place.line == 0 { 0 } else { self.file(module, place.file) };
        let hash = site_hash(kind, self.names.hash(owner), self.names.hash(name));
        let number = self.acts.len() as u32;
        self.quick.push((hash, shape.take()));
        self.acts.push(EventSite {
            kind,
            method,
            owner,
            name,
            shape,
            arguments,
            file,
            line: place.line,
            column: place.column,
            hash,
        });
        number
    }

    /// Adds a copy of an event site with some fields changed.
    pub(crate) fn add_variant(&mut self, of: u32, change: impl FnOnce(&mut EventSite)) -> u32 {
        let mut act = self.acts[of as usize].clone();
        change(&mut act);
        let number = self.acts.len() as u32;
        self.quick.push((act.hash, act.shape.take()));
        self.acts.push(act);
        number
    }

    /// The shape of values of a type.
    pub fn shape(&mut self, (module, ty): TypeRef) -> Shape {
        let model = self.image.module(module);
        let Some((_, t)) = types::strip(model, ty) else { return Shape::Pointer };
        let size = t.size.min(16) as u8;
        match &t.kind {
            TypeKind::Bool => Shape::Bool,
            TypeKind::Signed => Shape::Signed(size),
            TypeKind::Unsigned => Shape::Unsigned(size),
            TypeKind::Char { signed } => Shape::Char(*signed),
            TypeKind::Float => Shape::Float(size),
            TypeKind::Enum { values } => Shape::Enum(values.clone().into(), size),
            TypeKind::Pointer { to } | TypeKind::Reference { to } => {
                match to.and_then(|to| types::strip(model, to)).map(|t| &t.1.kind) {
                    Some(TypeKind::Char { .. }) => Shape::Text,
                    Some(TypeKind::Function) => Shape::Function,
                    Some(TypeKind::Record { .. }) => {
                        let name = types::text(model, *to);
                        Shape::Object(self.names.intern(&name))
                    }
                    _ => Shape::Pointer,
                }
            }
            TypeKind::Record { .. } | TypeKind::Array { .. } => Shape::Whole(t.size.min(1 << 20) as u32),
            _ => Shape::Unsigned(size.max(1)),
        }
    }
}

/// The shape of a value of which only the machine type is known.
pub fn plain_shape(ty: Ty) -> Shape {
    match ty {
        Ty::Ptr => Shape::Pointer,
        Ty::Float(FloatKind::F32) => Shape::Float(4),
        Ty::Float(FloatKind::F64) => Shape::Float(8),
        Ty::Float(FloatKind::F80) => Shape::Float(10),
        Ty::Int(1) => Shape::Bool,
        Ty::Int(_) => Shape::Signed(ty.bytes().min(8) as u8),
    }
}

/// The function's parameter with an index from 0.
pub fn parameter(function: &Function, number: usize) -> Option<&program::model::Variable> {
    function.variables.iter().find(|v| v.arg as usize == number + 1)
}

/// The record type that a pointer variable points to.
pub fn pointed_record(module: &Module, ty: Option<u32>) -> Option<u32> {
    let to = types::pointee(module, ty?)?;
    types::is_record(module, to).then_some(to)
}

//! Listings of whole functions and modules.

use super::{Joined, Named};
use crate::model::{Function, Home, Module, Phi, Place, SymbolKind, Type, TypeKind, Variable};
use std::fmt::{self, Display, Formatter};

/// A module as text: files, symbols, types, opaque functions, functions.
#[derive(Clone, Copy, Debug)]
pub struct ModuleText<'a>(pub &'a Module);

/// One function of a module as text.
#[derive(Clone, Copy, Debug)]
pub struct FunctionText<'a> {
    /// The module, for the names of symbols, types and files.
    pub module: &'a Module,
    /// One of its functions.
    pub function: &'a Function,
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        ModuleText(self).fmt(f)
    }
}

impl Display for ModuleText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let m = self.0;
        write!(f, "module {:?} ", m.name)?;
        m.id.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        writeln!(f)?;
        if !m.directory.is_empty() {
            writeln!(f, "directory {:?}", m.directory)?;
        }
        for (i, file) in m.files.iter().enumerate() {
            writeln!(f, "file {i} {file:?}")?;
        }
        for (i, symbol) in m.symbols.iter().enumerate() {
            write!(f, "symbol {i} @{}", symbol.name)?;
            match &symbol.kind {
                SymbolKind::Function(_) => writeln!(f, " function")?,
                SymbolKind::External => writeln!(f, " external")?,
                SymbolKind::ExternalData => writeln!(f, " external data")?,
                SymbolKind::Data { size, ty, line, file } => {
                    write!(f, " data, {size} bytes{}", TypeOf { module: m, ty: *ty })?;
                    let place = Place { file: *file, line: *line, column: 0 };
                    writeln!(f, "{}", Comment { module: m, place })?;
                }
                SymbolKind::ThreadLocal { size, ty } => {
                    writeln!(f, " thread-local, {size} bytes{}", TypeOf { module: m, ty: *ty })?;
                }
            }
        }
        for (i, ty) in m.types.iter().enumerate() {
            writeln!(f, "type {i} {}", TypeText { module: m, ty })?;
        }
        for opaque in &m.opaque {
            writeln!(f, "opaque @{}: {}", opaque.name, opaque.reason)?;
        }
        for function in &m.functions {
            writeln!(f, "\n{}", FunctionText { module: m, function })?;
        }
        Ok(())
    }
}

impl Display for FunctionText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let FunctionText { module: m, function: this } = *self;
        write!(f, "function @{}(", this.name)?;
        for (i, p) in this.params.iter().enumerate() {
            write!(f, "{}{} r{}", if i == 0 { "" } else { ", " }, p.ty, p.reg)?;
        }
        if this.variadic {
            f.write_str(if this.params.is_empty() { "..." } else { ", ..." })?;
        }
        f.write_str(")")?;
        if !this.ret.is_empty() {
            write!(f, " -> {}", Joined(this.ret.iter()))?;
        }
        writeln!(
            f,
            "{}",
            Comment { module: m, place: Place { file: this.file, line: this.line, column: 0 } }
        )?;
        write!(f, "  {} slots, sites from {}", this.slots, this.first_site)?;
        if this.frame_size > 0 {
            write!(f, ", frame of {} bytes aligned to {}", this.frame_size, this.frame_align)?;
        }
        writeln!(f)?;
        for v in &this.variables {
            writeln!(f, "  {}", VariableText { module: m, variable: v })?;
        }
        for (i, scope) in this.scopes.iter().enumerate() {
            let site = |index: u32| u64::from(this.first_site) + u64::from(index);
            let ranges = scope.ranges.iter().map(|(a, b)| format!("{}..{}", site(*a), site(*b)));
            writeln!(f, "  scope {i}: {}", Joined(ranges))?;
        }
        for (i, block) in this.blocks.iter().enumerate() {
            writeln!(f, "b{i}:")?;
            for phi in &block.phis {
                writeln!(f, "          {}", PhiText { module: m, phi })?;
            }
            for index in block.start..block.end {
                self.instruction(f, index)?;
            }
        }
        Ok(())
    }
}

impl FunctionText<'_> {
    /// The bindings that begin here, then the instruction with its place.
    fn instruction(&self, f: &mut Formatter<'_>, index: u32) -> fmt::Result {
        let FunctionText { module, function: this } = *self;
        let first = this.bindings.partition_point(|b| b.at < index);
        for binding in this.bindings[first..].iter().take_while(|b| b.at == index) {
            let name = this.variables.get(binding.variable as usize).map_or("?", |v| v.name.as_str());
            write!(f, "          ; {name}")?;
            if let Some((offset, size)) = binding.part {
                write!(f, " bits {offset}..{}", u64::from(offset) + u64::from(size))?;
            }
            match binding.home {
                Home::Value(item, ty) => writeln!(f, " is {ty} {}", Named { item, module: Some(module) })?,
                Home::Memory(item, offset) => {
                    write!(f, " is at [{}", Named { item, module: Some(module) })?;
                    super::plus(f, offset)?;
                    writeln!(f, "]")?;
                }
                Home::Frame(offset) => writeln!(f, " is at frame + {offset}")?,
                Home::Nowhere => writeln!(f, " is gone")?,
            }
        }
        if let Some(bits) = this.bit_access(index) {
            write!(f, "          ; bits {:#x}", bits.mask)?;
            if let Some(item) = bits.value {
                write!(f, " of {}", Named { item, module: Some(module) })?;
            }
            writeln!(f)?;
        }
        let Some(item) = this.code.get(index as usize) else { return Ok(()) };
        let site = u64::from(this.first_site) + u64::from(index);
        let text = Named { item, module: Some(module) }.to_string();
        let comment = Comment { module, place: this.place(index as usize) };
        writeln!(f, "{site:8}  {text}{comment}")
    }
}

/// `  ; file:line:column`, or nothing if the location is unknown.
struct Comment<'a> {
    module: &'a Module,
    place: Place,
}

impl Display for Comment<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Place { file, line, column } = self.place;
        if line == 0 {
            return Ok(());
        }
        let name = self.module.files.get(file as usize).map_or("?", String::as_str);
        write!(f, "  ; {name}:{line}")?;
        if column == 0 { Ok(()) } else { write!(f, ":{column}") }
    }
}

/// `: type`, or nothing.
struct TypeOf<'a> {
    module: &'a Module,
    ty: Option<u32>,
}

impl Display for TypeOf<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.ty {
            None => Ok(()),
            Some(ty) => write!(f, ": {}", TypeName { module: self.module, ty: Some(ty) }),
        }
    }
}

struct TypeName<'a> {
    module: &'a Module,
    ty: Option<u32>,
}

impl Display for TypeName<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.module.type_name(self.ty))
    }
}

/// Limit for cycles of nameless pointers.
const MAX_NAME_STEPS: u32 = 16;

impl Module {
    /// The display name of a type: its name, or for nameless pointers and arrays a composed one
    /// such as `node *` or `int[4]`. `None` is `void`.
    #[must_use]
    pub fn type_name(&self, ty: Option<u32>) -> String {
        let mut at = ty;
        let mut suffix = String::new();
        for _ in 0..MAX_NAME_STEPS {
            let Some(number) = at else { return format!("void{suffix}") };
            match self.types.get(number as usize) {
                Some(ty) if !ty.name.is_empty() => return format!("{}{suffix}", ty.name),
                Some(Type { kind: TypeKind::Pointer { to }, .. }) => {
                    suffix = format!(" *{}", suffix.trim_start());
                    at = *to;
                }
                Some(Type { kind: TypeKind::Reference { to }, .. }) => {
                    suffix = format!(" &{}", suffix.trim_start());
                    at = *to;
                }
                Some(Type { kind: TypeKind::Array { of, count }, .. }) => {
                    suffix = format!("[{count}]{}", suffix.trim_start());
                    at = *of;
                }
                Some(Type { kind: TypeKind::Alias { of }, .. }) => at = *of,
                _ => break,
            }
        }
        at.map_or_else(String::new, |number| format!("type {number}{suffix}"))
    }
}

struct TypeText<'a> {
    module: &'a Module,
    ty: &'a Type,
}

impl Display for TypeText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = |ty: Option<u32>| TypeName { module: self.module, ty };
        write!(f, "{:?}, {} bytes, ", self.ty.name, self.ty.size)?;
        match &self.ty.kind {
            TypeKind::Void => f.write_str("void"),
            TypeKind::Bool => f.write_str("bool"),
            TypeKind::Signed => f.write_str("signed"),
            TypeKind::Unsigned => f.write_str("unsigned"),
            TypeKind::Char { signed } => f.write_str(if *signed { "signed char" } else { "unsigned char" }),
            TypeKind::Float => f.write_str("float"),
            TypeKind::Function => f.write_str("function"),
            TypeKind::Unknown => f.write_str("unknown"),
            TypeKind::Pointer { to } => write!(f, "pointer to {}", name(*to)),
            TypeKind::Reference { to } => write!(f, "reference to {}", name(*to)),
            TypeKind::Array { of, count } => write!(f, "array of {count} {}", name(*of)),
            TypeKind::Alias { of } => write!(f, "alias of {}", name(*of)),
            TypeKind::Record { union, members } => {
                f.write_str(if *union { "union {" } else { "struct {" })?;
                for m in members {
                    write!(f, " {}: {} at bit {} ({} bits);", m.name, name(m.ty), m.bit_offset, m.bits)?;
                }
                f.write_str(" }")
            }
            TypeKind::Enum { values } => {
                write!(f, "enum {{ {} }}", Joined(values.iter().map(|(n, v)| format!("{n} = {v}"))))
            }
        }
    }
}

struct VariableText<'a> {
    module: &'a Module,
    variable: &'a Variable,
}

impl Display for VariableText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Variable { name, ty, file, line, arg, scope } = self.variable;
        match arg {
            0 => write!(f, "variable {name}")?,
            _ => write!(f, "parameter {arg} {name}")?,
        }
        let place = Place { file: *file, line: *line, column: 0 };
        write!(f, "{}", TypeOf { module: self.module, ty: *ty })?;
        if let Some(scope) = scope {
            write!(f, " in scope {scope}")?;
        }
        write!(f, "{}", Comment { module: self.module, place })
    }
}

struct PhiText<'a> {
    module: &'a Module,
    phi: &'a Phi,
}

impl Display for PhiText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Phi { dst, slots, incoming } = self.phi;
        match slots {
            1 => write!(f, "r{dst} = phi ")?,
            _ => write!(f, "r{dst}:{slots} = phi ")?,
        }
        let each = incoming
            .iter()
            .map(|(from, item)| format!("b{from}: {}", Named { item: *item, module: Some(self.module) }));
        write!(f, "{}", Joined(each))
    }
}

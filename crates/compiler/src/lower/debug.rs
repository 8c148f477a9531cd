//! Reads debug information: locations, variables, types.
//!
//! LLVM's C interface has getters only for some fields of debug metadata. The others are read as
//! operands of the node, whose order is fixed by the bitcode format of one LLVM major version.

use super::function::{Lowering, nth};
use super::scopes::ScopeTree;
use super::types::{is_wide_vector, leaves, scalar};
use crate::llvm::{
    Blk, DbgRecord, Meta, Opcode, Unit, Val, md_operands, md_string, meta_kind, node_tag, type_bits,
};
use crate::scopes;
use program::inst::Ty;
use program::model::{Binding, Home, Member, Module, Place, Type, TypeKind, Variable};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

// DWARF tags.
const TAG_ARRAY: u16 = 0x01;
const TAG_CLASS: u16 = 0x02;
const TAG_ENUM: u16 = 0x04;
const TAG_MEMBER: u16 = 0x0d;
const TAG_POINTER: u16 = 0x0f;
const TAG_REFERENCE: u16 = 0x10;
const TAG_RVALUE_REFERENCE: u16 = 0x42;
const TAG_STRUCT: u16 = 0x13;
const TAG_SUBROUTINE: u16 = 0x15;
const TAG_UNION: u16 = 0x17;
const TAG_INHERITANCE: u16 = 0x1c;
const TAG_SUBRANGE: u16 = 0x21;
const TAG_BASE: u16 = 0x24;
const TAG_SUBPROGRAM: u16 = 0x2e;

// Operand positions: DICompileUnit, DILocalVariable and DIGlobalVariable, DIType and its kinds.
const UNIT_ENUMS: usize = 4;
const UNIT_RETAINED: usize = 5;
const VARIABLE_NAME: usize = 1;
const VARIABLE_TYPE: usize = 3;
const TYPE_NAME: usize = 2;
const TYPE_BASE: usize = 5;
const TYPE_ELEMENTS: usize = 6;
// DISubprogram: its type. DISubroutineType: the list that begins with the result.
const SUBPROGRAM_TYPE: usize = 4;
const SUBROUTINE_TYPES: usize = 5;

pub struct DebugInfo {
    files: Vec<String>,
    file_index: HashMap<String, u32>,
    file_of_meta: HashMap<Meta, u32>,
    directory: String,
    types: Vec<Type>,
    type_index: HashMap<Val, u32>,
    unit: *const Unit,
    dbg_kind: u32,
    pub globals: Rc<HashSet<String>>,
}

#[derive(Default)]
pub struct Variables {
    pub list: Vec<Variable>,
    index: HashMap<Meta, u32>,
    pub nest: ScopeTree,
    /// Names that denote variables of the unit where the function has none.
    pub globals: Rc<HashSet<String>>,
}

impl Variables {
    pub fn new(globals: Rc<HashSet<String>>) -> Variables {
        Variables { globals, ..Variables::default() }
    }
}

impl DebugInfo {
    pub fn new(unit: &Unit) -> Self {
        DebugInfo {
            files: Vec::new(),
            file_index: HashMap::new(),
            file_of_meta: HashMap::new(),
            directory: String::new(),
            types: Vec::new(),
            type_index: HashMap::new(),
            unit,
            dbg_kind: unit.md_kind("dbg"),
            globals: Rc::new(unit.globals().into_iter().map(Val::name).collect()),
        }
    }

    fn unit(&self) -> &Unit {
        // SAFETY: the unit outlives lowering, which owns this.
        unsafe { &*self.unit }
    }

    pub fn finish(mut self, module: &mut Module) {
        self.retained();
        module.files = self.files;
        module.directory = self.directory;
        module.types = self.types;
        // Relative names are relative to the working directory of the compiler, whatever directory
        // the model records.
        let hash =
            |file: &String| std::fs::read(file).map_or(0, |content| program::model::source_hash(&content));
        module.file_hashes = module.files.iter().map(hash).collect();
    }

    /// Types that the source names but no variable has: enumerators are constants, and casts may
    /// name the others.
    fn retained(&mut self) {
        for unit in self.unit().named_metadata(c"llvm.dbg.cu") {
            let lists = md_operands(unit);
            for at in [UNIT_ENUMS, UNIT_RETAINED] {
                let types = lists.get(at).copied().flatten().map(md_operands).unwrap_or_default();
                for ty in types.into_iter().flatten().filter(|t| node_tag(*t) != TAG_SUBPROGRAM) {
                    self.ty(ty);
                }
            }
        }
    }

    fn file(&mut self, m: Option<Meta>) -> u32 {
        let Some(m) = m else { return self.named_file("?".to_owned()) };
        if let Some(i) = self.file_of_meta.get(&m) {
            return *i;
        }
        let (name, dir) = (m.file_name(), m.file_directory());
        if self.directory.is_empty() {
            self.directory.clone_from(&dir);
        }
        let path = if name.starts_with('/') || dir == self.directory || dir.is_empty() {
            name
        } else {
            format!("{dir}/{name}")
        };
        let i = self.named_file(path);
        self.file_of_meta.insert(m, i);
        i
    }

    fn named_file(&mut self, path: String) -> u32 {
        *self.file_index.entry(path).or_insert_with_key(|p| {
            self.files.push(p.clone());
            self.files.len() as u32 - 1
        })
    }

    /// The source location of an instruction; line 0 if it has none.
    pub fn place(&mut self, i: Val) -> Place {
        let Some(mut at) = i.debug_location() else { return Place::default() };
        while let Some(outer) = at.inlined_at() {
            at = outer;
        }
        let (line, column) = (at.line(), at.column());
        if line == 0 {
            return Place::default();
        }
        let file = self.file(at.scope().scope_file());
        Place { file, line, column }
    }

    pub fn function_place(&mut self, f: Val) -> (u32, u32) {
        match f.subprogram() {
            None => (self.file(None), 0),
            Some(s) => (self.file(s.scope_file()), s.subprogram_line()),
        }
    }

    /// Type of a function's result in the source.
    pub fn result(&mut self, f: Val) -> Option<u32> {
        let ops = md_operands(self.unit().as_value(f.subprogram()?));
        let ty = ops.get(SUBPROGRAM_TYPE).copied().flatten()?;
        let types = md_operands(ty).get(SUBROUTINE_TYPES).copied().flatten()?;
        md_operands(types).first().copied().flatten().and_then(|t| self.ty(t))
    }

    /// Type, file and line of a global variable with debug information.
    pub fn global(&mut self, g: Val) -> Option<(Option<u32>, u32, u32)> {
        let (_, e) = g.global_metadata().into_iter().find(|(k, _)| *k == self.dbg_kind)?;
        let v = e.global_variable();
        let ops = md_operands(self.unit().as_value(v));
        let ty = ops.get(VARIABLE_TYPE).copied().flatten().and_then(|t| self.ty(t));
        Some((ty, self.file(v.variable_file()), v.variable_line()))
    }

    /// Index of a type; adds it (and the types it refers to) on first use.
    fn ty(&mut self, node: Val) -> Option<u32> {
        if let Some(i) = self.type_index.get(&node) {
            return Some(*i);
        }
        let ops = md_operands(node);
        let name = ops.get(TYPE_NAME).copied().flatten().and_then(md_string).unwrap_or_default();
        let i = self.types.len() as u32;
        self.type_index.insert(node, i);
        let size = type_bits(node).0 / 8;
        self.types.push(Type { name: name.clone(), size, kind: TypeKind::Unknown });
        let base = ops.get(TYPE_BASE).copied().flatten();
        let elements = || ops.get(TYPE_ELEMENTS).copied().flatten().map(md_operands).unwrap_or_default();
        let kind = match node_tag(node) {
            TAG_BASE => basic(&name),
            TAG_POINTER => TypeKind::Pointer { to: base.and_then(|b| self.ty(b)) },
            TAG_REFERENCE | TAG_RVALUE_REFERENCE => TypeKind::Reference { to: base.and_then(|b| self.ty(b)) },
            TAG_ARRAY => {
                let dimensions: Vec<u64> = elements()
                    .into_iter()
                    .flatten()
                    .filter(|e| node_tag(*e) == TAG_SUBRANGE)
                    .map(count)
                    .collect();
                self.array(base, &dimensions)
            }
            tag @ (TAG_STRUCT | TAG_CLASS | TAG_UNION) => {
                let members = elements()
                    .into_iter()
                    .flatten()
                    .filter(|e| meta_kind(*e).is_derived_type())
                    .filter_map(|m| match node_tag(m) {
                        TAG_MEMBER => Some(self.member(m)),
                        TAG_INHERITANCE => Some(self.base_class(m)),
                        _ => None,
                    })
                    .collect();
                TypeKind::Record { union: tag == TAG_UNION, members }
            }
            TAG_ENUM => {
                TypeKind::Enum { values: elements().into_iter().flatten().filter_map(enumerator).collect() }
            }
            TAG_SUBROUTINE => TypeKind::Function,
            _ => TypeKind::Alias { of: base.and_then(|b| self.ty(b)) },
        };
        let size = match (&kind, size) {
            (TypeKind::Alias { of: Some(t) }, 0) => self.types[*t as usize].size,
            (_, s) => s,
        };
        self.types[i as usize].kind = kind;
        self.types[i as usize].size = size;
        Some(i)
    }

    /// An array of arrays, one for each dimension, as in C. Debug information has one array with
    /// all dimensions.
    fn array(&mut self, base: Option<Val>, dimensions: &[u64]) -> TypeKind {
        let mut of = base.and_then(|b| self.ty(b));
        let (first, inner) = dimensions.split_first().map_or((0, &[][..]), |(n, rest)| (*n, rest));
        for count in inner.iter().rev() {
            let size = of.map_or(0, |t| self.types[t as usize].size).saturating_mul(*count);
            self.types.push(Type { name: String::new(), size, kind: TypeKind::Array { of, count: *count } });
            of = Some(self.types.len() as u32 - 1);
        }
        TypeKind::Array { of, count: first }
    }

    /// A base class, as a member with its name.
    fn base_class(&mut self, node: Val) -> Member {
        let mut member = self.member(node);
        if let Some(ty) = member.ty.and_then(|ty| self.types.get(ty as usize)) {
            member.name.clone_from(&ty.name);
            member.bits = 8 * ty.size;
        }
        member
    }

    fn member(&mut self, node: Val) -> Member {
        let ops = md_operands(node);
        let (bits, bit_offset) = type_bits(node);
        Member {
            name: ops.get(TYPE_NAME).copied().flatten().and_then(md_string).unwrap_or_default(),
            bit_offset,
            bits,
            ty: ops.get(TYPE_BASE).copied().flatten().and_then(|t| self.ty(t)),
        }
    }
}

/// Name and value of an enumerator; the C interface returns only its text.
fn enumerator(node: Val) -> Option<(String, i64)> {
    let text = node.print();
    let (_, inner) = text.split_once("!DIEnumerator(name: \"")?;
    let (name, rest) = inner.split_once('"')?;
    let (_, value) = rest.split_once("value: ")?;
    let digits: String = value.chars().take_while(|c| *c == '-' || c.is_ascii_digit()).collect();
    // Unsigned values beyond the largest signed one are kept as their bits.
    let number = digits.parse::<i64>().ok().or_else(|| digits.parse::<u64>().ok().map(u64::cast_signed))?;
    Some((name.to_owned(), number))
}

fn count(subrange: Val) -> u64 {
    match md_operands(subrange).first().copied().flatten() {
        Some(c) if c.is_const_int() && c.sext_value() >= 0 => c.zext_value(),
        _ => 0,
    }
}

/// Derives the encoding of a basic type from its name, since the C interface does not return it.
fn basic(name: &str) -> TypeKind {
    let has = |w: &str| name.split(' ').any(|p| p == w);
    if has("_Bool") || has("bool") {
        TypeKind::Bool
    } else if has("float") || has("double") || name.starts_with("_Float") {
        TypeKind::Float
    } else if has("char") || name.starts_with("char") {
        TypeKind::Char { signed: !has("unsigned") && name != "char8_t" }
    } else if has("unsigned") || name.starts_with('u') {
        TypeKind::Unsigned
    } else {
        TypeKind::Signed
    }
}

impl Lowering<'_> {
    /// Emits the locations of variables that begin at this instruction.
    pub fn bindings_of(&mut self, i: Val, blocks: &[Blk]) -> Result<(), String> {
        for r in i.debug_records() {
            if r.is_variable() {
                self.binding(r, i.parent() == blocks[0])?;
            }
        }
        Ok(())
    }

    fn binding(&mut self, r: DbgRecord, entry: bool) -> Result<(), String> {
        let value = r.value();
        let expression = Expression::parse(self.unit, r.expression());
        let variable = self.variable(r.variable(), value.filter(|_| entry));
        let mut part = expression.part;
        let home = match value {
            None => Home::Nowhere,
            Some(v) if v.is_undef() || expression.other => Home::Nowhere,
            Some(v) => {
                if let Some(offset) = self.frame.get(&v).filter(|_| r.is_declare() || expression.deref) {
                    Home::Frame(offset.wrapping_add_signed(expression.offset))
                } else if !(v.is_instruction() || v.is_argument() || v.is_constant()) {
                    Home::Nowhere
                } else if r.is_declare() || expression.deref {
                    Home::Memory(self.operand(v)?, expression.offset)
                } else if expression.offset != 0 {
                    Home::Nowhere
                } else if let Ok(ty) = scalar(self.unit, v.ty()) {
                    Home::Value(self.operand(v)?, ty)
                } else {
                    // An aggregate in registers: bind its first leaf.
                    let first = leaves(self.unit, v.ty())?.first().copied().unwrap_or(Ty::Int(64));
                    part = part.or(Some((0, u32::from(first.bits()))));
                    Home::Value(nth(self.operand(v)?, 0), first)
                }
            }
        };
        let at = self.here();
        self.bindings.push(Binding { at, variable, home, part });
        let vector = value.filter(|v| part == Some((0, 64)) && is_wide_vector(self.unit, v.ty()));
        if let (Some(v), Home::Value(first, _)) = (vector, home) {
            // The other parts of a vector that occupies several registers.
            let mut offset = 64;
            for (n, ty) in leaves(self.unit, v.ty())?.into_iter().enumerate().skip(1) {
                let home = Home::Value(nth(first, n as u32), ty);
                let part = Some((offset, u32::from(ty.bits())));
                self.bindings.push(Binding { at, variable, home, part });
                offset += u32::from(ty.bits());
            }
        }
        Ok(())
    }

    fn variable(&mut self, m: Meta, at_entry: Option<Val>) -> u32 {
        if let Some(i) = self.variables.index.get(&m) {
            return *i;
        }
        let ops = md_operands(self.unit.as_value(m));
        let name = ops.get(VARIABLE_NAME).copied().flatten().and_then(md_string).unwrap_or_default();
        let ty = ops.get(VARIABLE_TYPE).copied().flatten().and_then(|t| self.debug.ty(t));
        let file = self.debug.file(m.variable_file());
        let arg = match at_entry.map(|v| passed(self.unit, v)) {
            Some(v) if v.is_argument() => v.argument_index() + 1,
            _ => 0,
        };
        let scope = scopes::of_variable(self.unit, m).and_then(|s| self.variables.nest.of(s));
        let i = self.variables.list.len() as u32;
        self.variables.list.push(Variable { name, ty, file, line: m.variable_line(), arg, scope });
        self.variables.index.insert(m, i);
        i
    }
}

/// The argument that a value comes from: a `bool` is widened after it is passed.
fn passed(unit: &Unit, value: Val) -> Val {
    let is_widened = value.is_instruction() && value.opcode() == Opcode::LLVMZExt;
    let passed = if is_widened { value.operand(0) } else { value };
    if passed.is_argument() && (!is_widened || unit.bits_of(passed.ty()) == 1) { passed } else { value }
}

/// The subset of DWARF expressions that the front end and promotion emit.
#[derive(Default)]
struct Expression {
    deref: bool,
    offset: i64,
    part: Option<(u32, u32)>,
    other: bool,
}

impl Expression {
    fn parse(unit: &Unit, m: Meta) -> Self {
        let text = unit.as_value(m).print();
        let inner = text.split_once("!DIExpression(").map_or("", |(_, r)| r.trim_end_matches(')'));
        let words: Vec<&str> = inner.split(", ").filter(|w| !w.is_empty()).collect();
        let mut e = Expression::default();
        let number = |i: usize| words.get(i).and_then(|w| w.parse::<u32>().ok()).unwrap_or(0);
        let mut i = 0;
        while i < words.len() {
            match words[i] {
                "DW_OP_deref" => e.deref = true,
                "DW_OP_stack_value" => {}
                "DW_OP_plus_uconst" => {
                    e.offset += i64::from(number(i + 1));
                    i += 1;
                }
                "DW_OP_LLVM_fragment" => {
                    e.part = Some((number(i + 1), number(i + 2)));
                    i += 2;
                }
                _ => {
                    e.other = true;
                    break;
                }
            }
            i += 1;
        }
        e
    }
}

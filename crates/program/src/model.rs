//! Modules, symbols, functions, and their debug information.

use crate::inst::{ArgTy, Inst, Operand, Reg, Ty};
use crate::names::is_library;
use serde::{Deserialize, Serialize};

/// One translation unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// Hash of the module's content. The running process has it too, so that a recording identifies
    /// the exact models it belongs to.
    pub id: [u8; 16],
    /// The main source file as given to the compiler.
    pub name: String,
    /// Source files, absolute or relative to `directory`.
    pub files: Vec<String>,
    /// Content hash of each file at compile time, 0 if it could not be read.
    pub file_hashes: Vec<u64>,
    /// Compilation directory.
    pub directory: String,
    /// All entities with an address. The address table of the running process has the same order.
    pub symbols: Vec<Symbol>,
    /// Addresses in initial values: pairs of a variable and the symbol it points to. Sorted, each
    /// pair once.
    pub initial: Vec<(u32, u32)>,
    pub types: Vec<Type>,
    pub functions: Vec<Function>,
    /// Functions that could not be modelled; they run as external code.
    pub opaque: Vec<Opaque>,
}

/// Something with an address: a function or a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
}

/// The kind of a symbol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SymbolKind {
    /// A function modelled here (index into `functions`).
    Function(u32),
    /// A function that is defined elsewhere or is opaque. The name determines whether it is a known
    /// external.
    External,
    /// A variable defined here.
    Data { size: u64, ty: Option<u32>, line: u32, file: u32 },
    /// A variable defined elsewhere.
    ExternalData,
    /// A thread-local variable; its table entry is zero.
    ThreadLocal { size: u64, ty: Option<u32> },
}

/// A function without a model, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opaque {
    pub name: String,
    pub reason: String,
}

/// A modelled function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    /// Its entry in the module's symbols.
    pub symbol: u32,
    pub params: Vec<Param>,
    pub ret: Vec<Ty>,
    /// Type of the result in the source. `None` for `void`, and if debug information has no type.
    pub result: Option<u32>,
    pub variadic: bool,
    /// Number of register slots.
    pub slots: u32,
    /// Bytes of the fixed frame and its alignment (at least 16).
    pub frame_size: u64,
    pub frame_align: u32,
    pub first_site: u32,
    pub code: Vec<Inst>,
    /// For each instruction, its index into `places`.
    pub code_places: Vec<u32>,
    /// Distinct source locations. Entry 0 is "unknown" (line 0).
    pub places: Vec<Place>,
    /// In order; block 0 is the entry. Blocks tile `code`.
    pub blocks: Vec<Block>,
    pub variables: Vec<Variable>,
    /// Lexical blocks inside the function, and the rests of blocks after a declaration. An outer
    /// scope precedes its inner scopes.
    pub scopes: Vec<Scope>,
    /// Sorted by `at`.
    pub bindings: Vec<Binding>,
    /// Loads and stores of bit-fields. Sorted by `at`, each instruction once.
    pub bits: Vec<BitAccess>,
    pub file: u32,
    pub line: u32,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub ty: ArgTy,
    /// First slot. A `ByVal` parameter's slot gets the address of the copy.
    pub reg: Reg,
    /// Frame offset of a `ByVal` copy.
    pub frame_offset: u64,
}

/// A source location. Line 0 means "unknown".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Range in `code`; the last instruction is the terminator.
    pub start: u32,
    pub end: u32,
    pub phis: Vec<Phi>,
}

/// Assigned in parallel with the block's other phis at block entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phi {
    pub dst: Reg,
    pub slots: u32,
    /// Predecessor block and value (registers if more than one slot).
    pub incoming: Vec<(u32, Operand)>,
}

/// A variable of the source program: a parameter or a local.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    pub name: String,
    pub ty: Option<u32>,
    pub file: u32,
    pub line: u32,
    /// 1-based number of the parameter, 0 for a local.
    pub arg: u32,
    /// The scope of the name (index into `scopes`): the block that declares the variable or, if it
    /// shares its name, the rest of that block. `None` for the whole function.
    pub scope: Option<u32>,
}

/// A lexical block, where variables can be declared, or the rest of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// Indices into `code` (first, and one past the last) of the instructions in the
    /// block and in the blocks inside it. Sorted; ranges do not touch.
    pub ranges: Vec<(u32, u32)>,
}

/// A load or store of a bit-field, which accesses only some bits of the loaded or stored word.
///
/// A store of a bit-field consists of a load of the word, operations that replace bits, and a store
/// of the whole word. It defines only the bits of `mask`; the other bits are written back
/// unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BitAccess {
    /// Index into `code`: a [`Inst::Load`] or [`Inst::Store`] of at most 64 bits.
    pub at: u32,
    /// The bits that the store defines, or that are used from the loaded word. Bit 0 is the lowest
    /// bit of the byte at the address.
    pub mask: u64,
    /// For a store, the operand with the new bits at their position in the word: the definition of
    /// the bits of `mask` depends on it, not on the stored word.
    pub value: Option<Operand>,
}

/// A location of a variable, valid from instruction `at` on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Index into `code`: the binding holds before this instruction runs.
    pub at: u32,
    pub variable: u32,
    pub home: Home,
    /// Bit offset and size if only a part of the variable is described.
    pub part: Option<(u32, u32)>,
}

/// The location of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Home {
    /// The value itself, with its type.
    Value(Operand, Ty),
    /// The variable lies in memory at this address.
    Memory(Operand, i64),
    /// In the fixed frame, for the whole life of the function.
    Frame(u64),
    /// The value is not available (optimised out).
    Nowhere,
}

/// A type from debug information.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Type {
    pub name: String,
    pub size: u64,
    pub kind: TypeKind,
}

/// The kind of a type, with its components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TypeKind {
    Void,
    Bool,
    Signed,
    Unsigned,
    /// `char` of the given signedness.
    Char {
        signed: bool,
    },
    Float,
    Pointer {
        to: Option<u32>,
    },
    /// A C++ reference, lvalue or rvalue.
    Reference {
        to: Option<u32>,
    },
    Array {
        of: Option<u32>,
        count: u64,
    },
    /// Struct, union or class.
    Record {
        union: bool,
        members: Vec<Member>,
    },
    Enum {
        values: Vec<(String, i64)>,
    },
    /// typedef, const, volatile
    Alias {
        of: Option<u32>,
    },
    Function,
    Unknown,
}

/// A member of a struct, union or class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    pub bit_offset: u64,
    pub bits: u64,
    pub ty: Option<u32>,
}

impl Module {
    /// Finds the function that contains a site, and the index in its code.
    #[must_use]
    pub fn function_at(&self, site: u32) -> Option<(usize, usize)> {
        let i = self.functions.partition_point(|f| f.first_site <= site).checked_sub(1)?;
        let index = (site - self.functions[i].first_site) as usize;
        (index < self.functions[i].code.len()).then_some((i, index))
    }

    /// Source files that exist but whose content changed since compilation.
    pub fn edited_files(&self) -> impl Iterator<Item = String> {
        (0..self.files.len() as u32).map(|f| self.file_path(f)).zip(&self.file_hashes).filter_map(
            |(path, hash)| {
                let now = std::fs::read(&path).ok()?;
                (*hash != 0 && source_hash(&now) != *hash).then_some(path)
            },
        )
    }

    /// Source files that could be read at compile time and are not there any more.
    pub fn missing_files(&self) -> impl Iterator<Item = String> {
        (0..self.files.len() as u32)
            .map(|f| self.file_path(f))
            .zip(&self.file_hashes)
            .filter_map(|(path, hash)| (*hash != 0 && !std::path::Path::new(&path).exists()).then_some(path))
    }

    /// Path of a source file, joined with the compilation directory.
    #[must_use]
    pub fn file_path(&self, file: u32) -> String {
        match self.files.get(file as usize) {
            None => "?".to_owned(),
            Some(f) if f.starts_with('/') || self.directory.is_empty() => f.clone(),
            Some(f) => format!("{}/{f}", self.directory),
        }
    }

    /// Whether a source file belongs to an installed library.
    #[must_use]
    pub fn is_library(&self, file: u32) -> bool {
        match self.files.get(file as usize) {
            Some(path) if path.starts_with('/') => is_library(path),
            _ => is_library(&self.file_path(file)),
        }
    }
}

/// Content hash of a source file, never 0.
#[must_use]
pub fn source_hash(content: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(content).max(1)
}

impl Function {
    /// The source location of an instruction.
    #[must_use]
    pub fn place(&self, index: usize) -> Place {
        let p = self.code_places.get(index).copied().unwrap_or(0);
        self.places.get(p as usize).copied().unwrap_or_default()
    }

    /// Whether an instruction goes to the handler of the call in front of it, if an exception came out of that.
    #[must_use]
    pub fn is_landing(&self, index: u32) -> bool {
        let landing = index.checked_sub(1).and_then(|before| self.code.get(before as usize));
        match (landing, self.code.get(index as usize)) {
            (Some(Inst::Landing { dst }), Some(Inst::Switch { value, .. })) => *value == Operand::Reg(*dst),
            _ => false,
        }
    }

    /// Whether an instruction is in the block that a variable is declared in.
    #[must_use]
    pub fn in_scope(&self, variable: u32, index: u32) -> bool {
        let scope = self.variables.get(variable as usize).and_then(|v| v.scope);
        scope.and_then(|s| self.scopes.get(s as usize)).is_none_or(|s| s.contains(index))
    }

    /// The variable that a name denotes at an instruction: the innermost in scope.
    #[must_use]
    pub fn variable_named(&self, name: &str, index: u32) -> Option<u32> {
        let named = self.variables.iter().enumerate().filter(|(_, v)| v.name == name);
        let visible = named.filter(|(n, _)| self.in_scope(*n as u32, index));
        visible.max_by_key(|(n, v)| (v.scope, *n)).map(|(n, _)| n as u32)
    }

    /// Whether a variable is the one that its name denotes at an instruction.
    #[must_use]
    pub fn is_visible(&self, variable: u32, index: u32) -> bool {
        let name = self.variables.get(variable as usize).map(|v| v.name.as_str());
        name.is_some_and(|name| name.is_empty() || self.variable_named(name, index) == Some(variable))
    }

    /// The bit-field access of a load or store; `None` for other instructions.
    #[must_use]
    pub fn bit_access(&self, index: u32) -> Option<&BitAccess> {
        self.bits.binary_search_by_key(&index, |b| b.at).ok().map(|n| &self.bits[n])
    }
}

impl Scope {
    /// Whether an instruction is in the block.
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        let next = self.ranges.partition_point(|r| r.0 <= index);
        next > 0 && index < self.ranges[next - 1].1
    }
}

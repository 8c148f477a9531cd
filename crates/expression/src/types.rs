//! C types: those of debug information, and those that operators produce.

use crate::ast::TypeName;
use crate::error::{Error, Kind};
use crate::scope::Scope;
use program::model::{Member, Module, TypeKind};
use program::sequences::{self, Sequence};
use std::rc::Rc;

/// A type.
#[derive(Clone, Debug)]
pub enum Type<'m> {
    /// A type of debug information: a module and the index of the type.
    Declared(&'m Module, u32),
    /// An integer that an operator or a basic type name gives.
    Integer {
        /// Its size.
        bytes: u8,
        /// Whether it is signed.
        signed: bool,
    },
    /// A floating-point number, likewise.
    Float {
        /// Its size; 16 for `long double`.
        bytes: u8,
    },
    /// A pointer to a type.
    Pointer(Rc<Type<'m>>),
    /// Any function; parameters and result are not kept.
    Function,
    /// `void`, or a type that debug information does not describe.
    Void,
}

/// The structure of a type, without typedefs and qualifiers.
#[derive(Clone, Debug)]
pub enum Shape<'m> {
    /// An integer or an enumeration.
    Integer {
        /// Its size, at most 16.
        bytes: u8,
        /// Whether it is signed; an enumeration is if it has a negative enumerator.
        signed: bool,
    },
    /// `char` of either signedness.
    Character {
        /// Whether it is signed.
        signed: bool,
    },
    /// `bool` or `_Bool`.
    Bool,
    /// A floating-point number.
    Float {
        /// Its size; 16 for `long double`.
        bytes: u8,
    },
    /// A pointer or C++ reference to this type.
    Pointer(Type<'m>),
    /// An array: type of an element, and number of elements (0 if it is not declared).
    Array(Type<'m>, u64),
    /// A struct, union or class; its members' types are indices into the module's.
    Record(&'m Module, &'m [Member]),
    /// A function.
    Function,
    /// `void`, or a type that debug information does not describe.
    Void,
}

/// The `char` type of a module.
pub(crate) fn character(module: &Module) -> Type<'_> {
    let found = module.types.iter().position(|ty| matches!(ty.kind, TypeKind::Char { .. }));
    found.map_or(Type::Integer { bytes: 1, signed: true }, |at| Type::Declared(module, at as u32))
}

/// `int`.
pub const INT: Type<'static> = Type::Integer { bytes: 4, signed: true };

/// Maximum length of a chain of typedefs. A longer one is a cycle.
const MAX_ALIASES: usize = 64;

impl<'m> Type<'m> {
    /// The type with this index; `void` if debug information has none.
    #[must_use]
    pub fn of(module: &'m Module, ty: Option<u32>) -> Type<'m> {
        match ty {
            Some(ty) if (ty as usize) < module.types.len() => Type::Declared(module, ty),
            _ => Type::Void,
        }
    }

    /// The type of a pointer to this one.
    #[must_use]
    pub fn pointer_to(self) -> Type<'m> {
        Type::Pointer(Rc::new(self))
    }

    /// The type without typedefs and qualifiers.
    #[must_use]
    pub fn stripped(&self) -> Type<'m> {
        let mut ty = self.clone();
        for _ in 0..MAX_ALIASES {
            match ty {
                Type::Declared(module, index) => match module.types[index as usize].kind {
                    TypeKind::Alias { of } => ty = Type::of(module, of),
                    _ => break,
                },
                _ => break,
            }
        }
        ty
    }

    /// The structure of the type; only the outermost typedefs and qualifiers are removed.
    #[must_use]
    pub fn shape(&self) -> Shape<'m> {
        let (module, ty) = match self.stripped() {
            Type::Declared(module, ty) => (module, &module.types[ty as usize]),
            Type::Integer { bytes, signed } => return Shape::Integer { bytes, signed },
            Type::Float { bytes } => return Shape::Float { bytes },
            Type::Pointer(to) => return Shape::Pointer((*to).clone()),
            Type::Function => return Shape::Function,
            Type::Void => return Shape::Void,
        };
        let bytes = ty.size.min(16) as u8;
        match &ty.kind {
            TypeKind::Bool => Shape::Bool,
            TypeKind::Signed => Shape::Integer { bytes, signed: true },
            TypeKind::Unsigned => Shape::Integer { bytes, signed: false },
            TypeKind::Char { signed } => Shape::Character { signed: *signed },
            TypeKind::Float => Shape::Float { bytes },
            TypeKind::Pointer { to } | TypeKind::Reference { to } => Shape::Pointer(Type::of(module, *to)),
            TypeKind::Array { of, count } => Shape::Array(Type::of(module, *of), *count),
            TypeKind::Record { members, .. } => Shape::Record(module, members),
            // Clang uses `unsigned` unless an enumerator is negative.
            TypeKind::Enum { values } => {
                Shape::Integer { bytes, signed: values.iter().any(|(_, value)| *value < 0) }
            }
            TypeKind::Function => Shape::Function,
            TypeKind::Void | TypeKind::Unknown | TypeKind::Alias { .. } => Shape::Void,
        }
    }

    /// The referenced type of a C++ reference.
    #[must_use]
    pub fn referenced_type(&self) -> Option<Type<'m>> {
        let Type::Declared(module, ty) = self.stripped() else { return None };
        match module.types[ty as usize].kind {
            TypeKind::Reference { to } => Some(Type::of(module, to)),
            _ => None,
        }
    }

    /// The tag of a struct, union or class.
    pub(crate) fn tag(&self) -> Option<&'m String> {
        let Type::Declared(module, ty) = self.stripped() else { return None };
        let ty = &module.types[ty as usize];
        matches!(ty.kind, TypeKind::Record { .. }).then_some(&ty.name)
    }

    /// Strings, sequences and smart pointers of the standard libraries: the location of the
    /// content.
    pub(crate) fn sequence(&self, bytes: &[u8]) -> Option<(&'m Module, Sequence)> {
        let Type::Declared(module, ty) = self.stripped() else { return None };
        Some((module, sequences::of_object(module, &module.types[ty as usize], bytes)?))
    }

    /// The size in bytes; 0 if debug information only declares the type.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Type::Declared(module, ty) => module.types[*ty as usize].size,
            Type::Integer { bytes, .. } | Type::Float { bytes } => u64::from(*bytes),
            Type::Pointer(_) => 8,
            // The GNU C size for arithmetic on pointers to them.
            Type::Function | Type::Void => 1,
        }
    }

    /// Whether it is `char`, `signed char` or `unsigned char`.
    #[must_use]
    pub fn is_character(&self) -> bool {
        matches!(self.shape(), Shape::Character { .. })
    }

    /// The name of the type in C syntax.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Type::Declared(module, ty) => declared_name(module, *ty),
            Type::Integer { bytes, signed } => {
                let name = match bytes {
                    1 => "char",
                    2 => "short",
                    4 => "int",
                    8 => "long",
                    _ => "__int128",
                };
                if *signed { name.to_owned() } else { format!("unsigned {name}") }
            }
            Type::Float { bytes: 4 } => "float".to_owned(),
            Type::Float { bytes: 8 } => "double".to_owned(),
            Type::Float { .. } => "long double".to_owned(),
            Type::Pointer(to) => pointer_name(to.name()),
            Type::Function => "a function".to_owned(),
            Type::Void => "void".to_owned(),
        }
    }

    /// The complete definition of a type that this module only declares, from a module that defines
    /// it.
    #[must_use]
    pub fn completed(&self, scope: &(impl Scope<'m> + ?Sized)) -> Type<'m> {
        self.completed_in(|| std::iter::once(scope.module()).chain(scope.modules()).collect())
    }

    /// As [`Type::completed`], with the given modules of the program.
    #[must_use]
    pub fn completed_in(&self, modules: impl FnOnce() -> Vec<&'m Module>) -> Type<'m> {
        let Type::Declared(module, index) = self.stripped() else { return self.clone() };
        let ty = &module.types[index as usize];
        let TypeKind::Record { union, members } = &ty.kind else { return self.clone() };
        if !members.is_empty() || ty.size > 0 || ty.name.is_empty() {
            return self.clone();
        }
        let is_it = |t: &program::model::Type| {
            t.name == ty.name
                && matches!(&t.kind, TypeKind::Record { union: u, members } if u == union && !members.is_empty())
        };
        let found = modules().into_iter().find_map(|module| {
            let index = module.types.iter().position(is_it)?;
            Some(Type::Declared(module, index as u32))
        });
        found.unwrap_or_else(|| self.clone())
    }
}

fn declared_name(module: &Module, index: u32) -> String {
    // A type may refer to itself, but only through a named type.
    let mut suffix = String::new();
    let mut at = Some(index);
    for _ in 0..MAX_ALIASES {
        let Some(ty) = at.and_then(|t| module.types.get(t as usize)) else { break };
        if !ty.name.is_empty() {
            let tag = match ty.kind {
                TypeKind::Record { union: true, .. } => "union ",
                TypeKind::Record { .. } => "struct ",
                TypeKind::Enum { .. } => "enum ",
                _ => "",
            };
            return join(&format!("{tag}{}", ty.name), &suffix);
        }
        match &ty.kind {
            TypeKind::Pointer { to } => {
                suffix.insert(0, '*');
                at = *to;
            }
            TypeKind::Reference { to } => {
                suffix.insert(0, '&');
                at = *to;
            }
            TypeKind::Array { of, count } => {
                suffix = format!("{suffix}[{count}]");
                at = *of;
            }
            TypeKind::Alias { of } => at = *of,
            TypeKind::Record { union: true, .. } => return join("union {...}", &suffix),
            TypeKind::Record { .. } => return join("struct {...}", &suffix),
            TypeKind::Enum { .. } => return join("enum {...}", &suffix),
            TypeKind::Function => return join("function", &suffix),
            _ => break,
        }
    }
    join("void", &suffix)
}

fn join(base: &str, suffix: &str) -> String {
    if suffix.is_empty() { base.to_owned() } else { format!("{base} {suffix}") }
}

fn pointer_name(to: String) -> String {
    if to.ends_with('*') { format!("{to}*") } else { format!("{to} *") }
}

/// The first type that satisfies a predicate, in the scope's own module and then in all modules.
fn find<'m>(
    scope: &(impl Scope<'m> + ?Sized),
    is_meant: impl Fn(&program::model::Type) -> bool,
) -> Option<Type<'m>> {
    let own = scope.module();
    std::iter::once(own).chain(scope.modules()).find_map(|module| {
        let index = module.types.iter().position(&is_meant)?;
        Some(Type::Declared(module, index as u32))
    })
}

/// The type named in a cast.
///
/// # Errors
/// If there is no such type.
pub fn named<'m>(scope: &(impl Scope<'m> + ?Sized), name: &TypeName) -> Result<Type<'m>, Error> {
    let error = || Error { kind: Kind::NoType(name.base.clone()), span: name.span.clone() };
    let mut ty = base(scope, &name.base).ok_or_else(error)?;
    for _ in 0..name.pointers {
        ty = ty.pointer_to();
    }
    Ok(ty)
}

/// A type without declarators.
pub(crate) fn base<'m>(scope: &(impl Scope<'m> + ?Sized), name: &str) -> Option<Type<'m>> {
    let tagged = |tag: &str| name.strip_prefix(tag).and_then(|n| n.strip_prefix(' '));
    if let Some(name) = tagged("struct").or(tagged("class")) {
        return find(scope, |t| t.name == name && matches!(t.kind, TypeKind::Record { union: false, .. }));
    }
    if let Some(name) = tagged("union") {
        return find(scope, |t| t.name == name && matches!(t.kind, TypeKind::Record { union: true, .. }));
    }
    if let Some(name) = tagged("enum") {
        return find(scope, |t| t.name == name && matches!(t.kind, TypeKind::Enum { .. }));
    }
    let has_tag =
        |t: &program::model::Type| matches!(t.kind, TypeKind::Record { .. } | TypeKind::Enum { .. });
    find(scope, |t| t.name == name && !has_tag(t)).or_else(|| basic(name))
}

/// A basic type of C or its standard headers, on x86-64 Linux.
fn basic(name: &str) -> Option<Type<'static>> {
    let integer = |bytes, signed| Some(Type::Integer { bytes, signed });
    match name {
        "void" => return Some(Type::Void),
        "float" => return Some(Type::Float { bytes: 4 }),
        "double" => return Some(Type::Float { bytes: 8 }),
        "long double" => return Some(Type::Float { bytes: 16 }),
        "size_t" | "uintptr_t" | "uint64_t" | "uintmax_t" => return integer(8, false),
        "ssize_t" | "ptrdiff_t" | "intptr_t" | "int64_t" | "intmax_t" | "off_t" => return integer(8, true),
        "int8_t" => return integer(1, true),
        "int16_t" => return integer(2, true),
        "int32_t" => return integer(4, true),
        "uint8_t" => return integer(1, false),
        "uint16_t" => return integer(2, false),
        "uint32_t" => return integer(4, false),
        _ => {}
    }
    let mut words: Vec<&str> = name.split(' ').collect();
    words.sort_unstable();
    let signed = !words.contains(&"unsigned");
    words.retain(|w| !matches!(*w, "unsigned" | "signed" | "int"));
    match words.as_slice() {
        ["char"] => integer(1, signed),
        ["short"] => integer(2, signed),
        ["long"] | ["long", "long"] => integer(8, signed),
        // The name consists only of `int`, `signed` and `unsigned`.
        [] => integer(4, signed),
        _ => None,
    }
}

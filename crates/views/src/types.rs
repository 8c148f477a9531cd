//! Types from debug information: their names, and the member at an offset.

use crate::bits::Bits;
use program::inst::Ty;
use program::model::{Member, Module, Type, TypeKind};

/// A type: its module's index in the image, and its own index in the module.
pub type TypeRef = (u32, u32);

/// The depth limit of typedefs and nesting; deeper chains are cycles in damaged input.
const MAX_TYPE_DEPTH: usize = 64;

/// Strips typedefs and qualifiers.
#[must_use]
pub fn strip(module: &Module, mut ty: u32) -> Option<(u32, &Type)> {
    for _ in 0..MAX_TYPE_DEPTH {
        let t = module.types.get(ty as usize)?;
        match t.kind {
            TypeKind::Alias { of } => ty = of?,
            _ => return Some((ty, t)),
        }
    }
    None
}

/// The type that a pointer type points to; `None` for `void *`.
#[must_use]
pub fn pointee(module: &Module, ty: u32) -> Option<u32> {
    match strip(module, ty)?.1.kind {
        TypeKind::Pointer { to: Some(to) } | TypeKind::Reference { to: Some(to) } => {
            let target = strip(module, to)?.1;
            (!matches!(target.kind, TypeKind::Void)).then_some(to)
        }
        _ => None,
    }
}

/// Whether it is a struct, union or class.
#[must_use]
pub fn is_record(module: &Module, ty: u32) -> bool {
    strip(module, ty).is_some_and(|(_, t)| matches!(t.kind, TypeKind::Record { .. }))
}

/// Whether it has parts.
#[must_use]
pub fn is_aggregate(module: &Module, ty: u32) -> bool {
    strip(module, ty).is_some_and(|(_, t)| matches!(t.kind, TypeKind::Record { .. } | TypeKind::Array { .. }))
}

/// Size in bytes, 0 if unknown.
#[must_use]
pub fn size(module: &Module, ty: u32) -> u64 {
    module.types.get(ty as usize).map_or(0, |t| t.size)
}

/// The type in approximate C syntax.
#[must_use]
pub fn text(module: &Module, ty: Option<u32>) -> String {
    let mut suffix = String::new();
    let mut next = ty;
    for _ in 0..MAX_TYPE_DEPTH {
        let Some(t) = next.and_then(|t| module.types.get(t as usize)) else {
            return format!("void{suffix}");
        };
        if !t.name.is_empty() {
            return format!("{}{suffix}", t.name);
        }
        match &t.kind {
            TypeKind::Pointer { to } => {
                suffix.insert_str(0, if suffix.starts_with('*') { "*" } else { " *" });
                next = *to;
            }
            TypeKind::Reference { to } => {
                suffix.insert_str(0, " &");
                next = *to;
            }
            TypeKind::Array { of, count } => {
                // After the outer dimensions.
                let end = suffix.find(|c: char| !c.is_ascii_digit() && !"[]".contains(c));
                suffix.insert_str(end.unwrap_or(suffix.len()), &format!("[{count}]"));
                next = *of;
            }
            TypeKind::Alias { of } => next = *of,
            TypeKind::Record { union, members } => {
                // An anonymous type is identified by its first member.
                let word = if *union { "union" } else { "struct" };
                let first = members.first().map_or("", |m| m.name.as_str());
                return format!("{word} {{{first}…}}{suffix}");
            }
            TypeKind::Enum { values } => {
                let first = values.first().map_or("", |v| v.0.as_str());
                return format!("enum {{{first}…}}{suffix}");
            }
            TypeKind::Function => return format!("function{suffix}"),
            _ => return format!("?{suffix}"),
        }
    }
    format!("?{suffix}")
}

/// A part of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its path, such as `in.tag[1]`; empty for the whole.
    pub path: String,
    /// Its type, if the access covers exactly it.
    pub ty: Option<u32>,
    /// The type at that offset, whatever the size of the access.
    pub leaf: Option<u32>,
    /// Whether it is a bit-field of exactly the requested bits.
    pub bits: bool,
}

/// The class of value that an access has, from its machine type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A pointer.
    Pointer,
    /// A float.
    Float,
    /// Anything else.
    Number,
}

impl Sort {
    /// The class of a machine type.
    #[must_use]
    pub fn of(ty: Ty) -> Sort {
        match ty {
            Ty::Ptr => Sort::Pointer,
            Ty::Float(_) => Sort::Float,
            Ty::Int(_) => Sort::Number,
        }
    }

    fn fits(self, module: &Module, ty: u32) -> bool {
        let is = match strip(module, ty).map(|t| &t.1.kind) {
            Some(TypeKind::Pointer { .. } | TypeKind::Reference { .. }) => Sort::Pointer,
            Some(TypeKind::Float) => Sort::Float,
            _ => Sort::Number,
        };
        is == self
    }
}

/// A requested part: `len` bytes, of a class if that is known. With `open`, array elements are written `[]`:
/// the index is unknown.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Bytes.
    pub len: u64,
    /// Selects among the members of a union.
    pub sort: Option<Sort>,
    /// See above.
    pub open: bool,
    /// For a bit-field, the accessed bits; used only if there is such a member.
    pub bits: Option<Bits>,
}

/// The part of a type at a byte offset.
#[must_use]
pub fn part(module: &Module, ty: u32, offset: u64, wanted: Wanted) -> Part {
    within(module, ty, offset, wanted, MAX_TYPE_DEPTH)
}

fn within(module: &Module, ty: u32, offset: u64, wanted: Wanted, deep: usize) -> Part {
    let Wanted { len, open, .. } = wanted;
    let mut part = Part { leaf: Some(ty), ..Part::default() };
    let mut at = offset;
    for left in (0..deep).rev() {
        let Some((number, t)) = part.leaf.and_then(|leaf| strip(module, leaf)) else { return part };
        if at == 0 && t.size == len && !is_aggregate(module, number) {
            part.ty = Some(number);
            return part;
        }
        match &t.kind {
            TypeKind::Record { members, union } => {
                if let Some(field) = bit_field(members, at, wanted) {
                    if !part.path.is_empty() {
                        part.path.push('.');
                    }
                    part.path.push_str(&field.name);
                    (part.ty, part.leaf, part.bits) = (field.ty, None, true);
                    return part;
                }
                let member = match union {
                    true => union_member(module, members, at, wanted, left),
                    false => best(module, members, at, len),
                };
                let Some(member) = member else {
                    if at == 0 && t.size == len {
                        part.ty = Some(number);
                    }
                    return part;
                };
                if at == 0 && t.size == len && member.bits / 8 != len {
                    part.ty = Some(number);
                    return part;
                }
                if !part.path.is_empty() && !member.name.is_empty() {
                    part.path.push('.');
                }
                if !member.bit_offset.is_multiple_of(8) || !member.bits.is_multiple_of(8) {
                    // The whole unit that contains bit-fields, with all their names.
                    let inside =
                        |m: &&Member| m.bit_offset < 8 * (at + len) && m.bit_offset + m.bits > 8 * at;
                    let names: Vec<&str> = members.iter().filter(inside).map(|m| m.name.as_str()).collect();
                    part.path.push_str(&names.join("|"));
                    part.leaf = None;
                    return part;
                }
                part.path.push_str(&member.name);
                part.leaf = member.ty;
                at -= member.bit_offset / 8;
            }
            TypeKind::Array { of, .. } => {
                if at == 0 && t.size == len {
                    part.ty = Some(number);
                    return part;
                }
                let element = of.map_or(0, |of| size(module, of));
                if element == 0 {
                    return part;
                }
                if open {
                    part.path.push_str("[]");
                } else {
                    part.path.push_str(&format!("[{}]", at / element));
                }
                at %= element;
                part.leaf = *of;
            }
            _ => return part,
        }
    }
    part
}

/// The bit-field with exactly the requested bits.
fn bit_field(members: &[Member], at: u64, wanted: Wanted) -> Option<&Member> {
    let bits = wanted.bits?;
    let start = 8 * at + u64::from(bits.shift);
    members.iter().find(|m| m.bit_offset == start && m.bits == u64::from(bits.width))
}

/// The member that an access refers to: among those that contain its first byte, one that fits exactly, else
/// the first large enough, else the first.
fn best<'m>(module: &Module, members: &'m [Member], at: u64, len: u64) -> Option<&'m Member> {
    let holds = |m: &&Member| {
        let size = m.bits.div_ceil(8).max(1);
        m.bit_offset / 8 <= at && at < m.bit_offset / 8 + size
    };
    let exact = |m: &&Member| {
        m.bit_offset == at * 8
            && m.bits == len * 8
            && m.ty.is_none_or(|t| !is_aggregate(module, t) || size(module, t) == len)
    };
    let all = || members.iter().filter(holds);
    all().find(exact).or_else(|| all().find(|m| m.bits >= len * 8)).or_else(|| all().next())
}

/// The member of a union that an access refers to: one of which it covers exactly a part, of its class if it
/// has one.
fn union_member<'m>(
    module: &Module,
    members: &'m [Member],
    at: u64,
    wanted: Wanted,
    deep: usize,
) -> Option<&'m Member> {
    let mut found: Option<(u8, &Member)> = None;
    for member in members {
        let start = member.bit_offset / 8;
        let Some(ty) = member.ty.filter(|_| start <= at && at < start + member.bits.div_ceil(8)) else {
            continue;
        };
        let inside = within(module, ty, at - start, wanted, deep);
        let rank = match (inside.ty, wanted.sort) {
            (Some(ty), Some(sort)) if sort.fits(module, ty) && !is_aggregate(module, ty) => 0,
            (Some(_), None) => 0,
            (Some(_), Some(_)) => 1,
            (None, _) => 2,
        };
        if found.is_none_or(|(least, _)| rank < least) {
            found = Some((rank, member));
        }
    }
    found.map(|f| f.1).or_else(|| best(module, members, at, wanted.len))
}

/// Byte ranges of a type without pointers: the part of its content that means the same in another run. At
/// most `most` ranges.
#[must_use]
pub fn pointer_free_ranges(module: &Module, ty: u32, most: usize) -> Vec<(u64, u64)> {
    let mut out = Vec::new();
    let mut todo = vec![(ty, 0u64, 0usize)];
    while let Some((ty, at, depth)) = todo.pop() {
        if out.len() >= most || depth > MAX_TYPE_DEPTH {
            break;
        }
        let Some((_, t)) = strip(module, ty) else { continue };
        match &t.kind {
            TypeKind::Record { union: false, members } => {
                for m in members.iter().rev() {
                    match m.ty {
                        Some(ty) if m.bit_offset.is_multiple_of(8) => {
                            todo.push((ty, at + m.bit_offset / 8, depth + 1));
                        }
                        _ => {}
                    }
                }
            }
            TypeKind::Array { of: Some(of), count } => {
                let element = size(module, *of);
                if is_aggregate(module, *of) || pointee(module, *of).is_some() {
                    for i in (0..(*count).min(most as u64)).rev() {
                        todo.push((*of, at + i * element, depth + 1));
                    }
                } else if !Sort::Pointer.fits(module, *of) {
                    out.push((at, t.size));
                }
            }
            TypeKind::Bool
            | TypeKind::Signed
            | TypeKind::Unsigned
            | TypeKind::Char { .. }
            | TypeKind::Float
            | TypeKind::Enum { .. } => out.push((at, t.size)),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(name: &str, size: u64, kind: TypeKind) -> Type {
        Type { name: name.to_owned(), size, kind }
    }

    fn m(name: &str, at: u64, bytes: u64, ty: u32) -> Member {
        Member { name: name.to_owned(), bit_offset: at * 8, bits: bytes * 8, ty: Some(ty) }
    }

    fn module() -> Module {
        Module {
            types: vec![
                t("int", 4, TypeKind::Signed),
                t("", 8, TypeKind::Pointer { to: Some(3) }),
                t("", 16, TypeKind::Array { of: Some(1), count: 2 }),
                t(
                    "node",
                    32,
                    TypeKind::Record {
                        union: false,
                        members: vec![m("value", 0, 4, 0), m("next", 8, 16, 2), m("in", 24, 8, 4)],
                    },
                ),
                t("", 8, TypeKind::Record { union: true, members: vec![m("i", 0, 4, 0), m("p", 0, 8, 1)] }),
                t("", 8, TypeKind::Pointer { to: None }),
                t("node_t", 32, TypeKind::Alias { of: Some(3) }),
            ],
            ..Module::default()
        }
    }

    #[test]
    fn members_have_paths() {
        let m = module();
        let path = |offset, len| part(&m, 6, offset, Wanted { len, sort: None, open: false, bits: None });
        assert_eq!(path(0, 4), Part { path: "value".into(), ty: Some(0), leaf: Some(0), bits: false });
        assert_eq!(path(16, 8).path, "next[1]");
        assert_eq!(path(16, 8).ty, Some(1));
        assert_eq!(part(&m, 6, 16, Wanted { len: 8, sort: None, open: true, bits: None }).path, "next[]");
        // The access determines the member of a union.
        assert_eq!(path(24, 4).path, "in.i");
        assert_eq!(path(24, 8).path, "in.p");
        assert_eq!(path(0, 32).path, "");
        assert_eq!(path(4, 4).path, "", "padding has no name");
    }

    #[test]
    fn the_sort_of_a_value_decides_between_members_of_a_union() {
        let union = vec![m("num", 0, 8, 0), m("txt", 0, 8, 1), m("big", 0, 8, 2), m("pair", 0, 8, 3)];
        let module = Module {
            types: vec![
                t("double", 8, TypeKind::Float),
                t("", 8, TypeKind::Pointer { to: Some(5) }),
                t("long", 8, TypeKind::Signed),
                t(
                    "",
                    8,
                    TypeKind::Record { union: false, members: vec![m("lo", 0, 4, 4), m("hi", 4, 4, 4)] },
                ),
                t("int", 4, TypeKind::Signed),
                t("char", 1, TypeKind::Char { signed: true }),
                t("val", 8, TypeKind::Record { union: true, members: union }),
            ],
            ..Module::default()
        };
        let path = |at, len, sort| {
            part(&module, 6, at, Wanted { len, sort: Some(sort), open: false, bits: None }).path
        };
        assert_eq!(path(0, 8, Sort::Float), "num");
        assert_eq!(path(0, 8, Sort::Pointer), "txt");
        assert_eq!(path(0, 8, Sort::Number), "big");
        assert_eq!(path(0, 4, Sort::Number), "pair.lo");
        assert_eq!(path(4, 4, Sort::Number), "pair.hi");
        assert_eq!(
            part(&module, 6, 0, Wanted { len: 8, sort: Some(Sort::Pointer), open: false, bits: None }).ty,
            Some(1)
        );
    }

    #[test]
    fn bit_fields_are_members() {
        let field =
            |name: &str, bit_offset, bits| Member { name: name.to_owned(), bit_offset, bits, ty: Some(0) };
        let module = Module {
            types: vec![
                t("unsigned", 4, TypeKind::Unsigned),
                t(
                    "flags",
                    8,
                    TypeKind::Record {
                        union: false,
                        members: vec![
                            m("n", 0, 4, 0),
                            field("a", 32, 3),
                            field("b", 35, 5),
                            field("c", 40, 9),
                        ],
                    },
                ),
            ],
            ..Module::default()
        };
        let path = |at, shift, width| {
            let bits = Some(Bits { shift, width, signed: false });
            let part = part(&module, 1, at, Wanted { len: 1, sort: None, open: false, bits });
            (part.path, part.bits)
        };
        assert_eq!(path(4, 3, 5), ("b".to_owned(), true));
        assert_eq!(path(5, 0, 9), ("c".to_owned(), true));
        // A mask that is no member's is not a bit-field.
        assert_eq!(path(4, 3, 4), ("a|b".to_owned(), false));
        let whole = Wanted { len: 4, sort: None, open: false, bits: None };
        assert_eq!(part(&module, 1, 4, whole).path, "a|b|c");
    }

    #[test]
    fn types_read_like_c() {
        let m = module();
        assert_eq!(text(&m, Some(1)), "node *");
        assert_eq!(text(&m, Some(2)), "node *[2]");
        assert_eq!(text(&m, Some(5)), "void *");
        assert_eq!(text(&m, Some(6)), "node_t");
        assert_eq!(text(&m, Some(4)), "union {i…}");
        assert_eq!(pointee(&m, 5), None);
        assert_eq!(pointee(&m, 1), Some(3));
    }

    #[test]
    fn content_leaves_pointers_out() {
        assert_eq!(pointer_free_ranges(&module(), 3, 8), [(0, 4)]);
    }
}

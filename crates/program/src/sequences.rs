//! Strings, sequences and smart pointers of the standard libraries of C++ and Rust, recognised by their
//! members.
//!
//! `std::string` is shown as a text, `std::vector` as its elements, `std::shared_ptr` as its pointer: what is in their members
//! otherwise, three pointers or a buffer of sixteen bytes, says little to a reader. Layouts are
//! those of libstdc++ and of Rust's `alloc`; a type without the members is shown as a structure.

use crate::model::{Module, Type, TypeKind};

/// Members of members are looked for so far.
const DEPTH: u32 = 6;

/// Where the content of such an object lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// Single bytes.
    Text {
        /// Address of the first.
        at: u64,
        /// How many.
        len: u64,
    },
    /// Elements of one type.
    Elements {
        /// Address of the first.
        at: u64,
        /// How many.
        len: u64,
        /// Their type.
        of: Option<u32>,
    },
    /// An object that owns what it points to, or an iterator.
    Pointer {
        /// The address.
        to: u64,
        /// The type of what is there.
        of: Option<u32>,
    },
}

/// The content of an object, if its type is one of those.
#[must_use]
pub fn of_object(module: &Module, ty: &Type, bytes: &[u8]) -> Option<Sequence> {
    let word = |offset: u64| {
        let from = usize::try_from(offset).ok()?;
        let bytes = bytes.get(from..from.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let name = ty.name.as_str();
    let text = |pointer: &str, length: &str| {
        let (at, pointer) = find(module, ty, pointer, DEPTH)?;
        let (len, _) = find(module, ty, length, DEPTH)?;
        // Of single bytes: not `std::wstring`.
        let is_text = pointee(module, pointer).is_some_and(|(_, target)| target.size == 1);
        is_text.then_some(Sequence::Text { at: word(at)?, len: word(len)? })
    };
    if name.starts_with("basic_string<") {
        return text("_M_p", "_M_string_length");
    }
    if name.starts_with("basic_string_view<") {
        return text("_M_str", "_M_len");
    }
    if name == "&str" || name == "&mut str" {
        return text("data_ptr", "length");
    }
    if name == "String" {
        return text("pointer", "len");
    }
    if name.starts_with("vector<") && !name.starts_with("vector<bool") {
        let (start, pointer) = find(module, ty, "_M_start", DEPTH)?;
        let (finish, _) = find(module, ty, "_M_finish", DEPTH)?;
        let (of, element) = pointee(module, pointer)?;
        let (start, finish) = (word(start)?, word(finish)?);
        let size = element.size.max(1);
        let len = finish.checked_sub(start)?;
        return len.is_multiple_of(size).then_some(Sequence::Elements {
            at: start,
            len: len / size,
            of: Some(of),
        });
    }
    let smart = [
        ("shared_ptr<", "_M_ptr"),
        ("weak_ptr<", "_M_ptr"),
        ("unique_ptr<", "_M_head_impl"),
        ("__normal_iterator<", "_M_current"),
    ];
    if let Some((_, member)) = smart.iter().find(|(of, _)| name.starts_with(of)) {
        let (at, pointer) = find_pointer(module, ty, member, DEPTH)?;
        return Some(Sequence::Pointer { to: word(at)?, of: pointee(module, pointer).map(|(of, _)| of) });
    }
    if name.starts_with("&[") || name.starts_with("&mut [") {
        let (at, pointer) = find(module, ty, "data_ptr", DEPTH)?;
        let (len, _) = find(module, ty, "length", DEPTH)?;
        let (of, _) = pointee(module, pointer)?;
        return Some(Sequence::Elements { at: word(at)?, len: word(len)?, of: Some(of) });
    }
    None
}

/// The first member of a name, of the type or of its members: its offset in bytes and its type.
fn find(module: &Module, ty: &Type, name: &str, depth: u32) -> Option<(u64, Option<u32>)> {
    let TypeKind::Record { members, .. } = &ty.kind else { return None };
    // A pointer is a number in the end: `pointer: NonNull { pointer: *const u8 }`.
    let inner = |member: &crate::model::Member| {
        let inside = stripped(module, member.ty).filter(|_| depth > 0)?;
        let (offset, ty) = find(module, inside.1, name, depth - 1)?;
        Some((member.bit_offset / 8 + offset, ty))
    };
    let own = members.iter().find(|member| member.name == name);
    own.and_then(inner)
        .or_else(|| own.map(|member| (member.bit_offset / 8, member.ty)))
        .or_else(|| members.iter().find_map(inner))
}

/// The first of those members that is a pointer: the deleter of a `std::unique_ptr` has the same
/// name.
fn find_pointer(module: &Module, ty: &Type, name: &str, depth: u32) -> Option<(u64, Option<u32>)> {
    let TypeKind::Record { members, .. } = &ty.kind else { return None };
    members.iter().find_map(|member| {
        if member.name == name && pointee(module, member.ty).is_some() {
            return Some((member.bit_offset / 8, member.ty));
        }
        let inside = stripped(module, member.ty).filter(|_| depth > 0)?;
        let (offset, ty) = find_pointer(module, inside.1, name, depth - 1)?;
        Some((member.bit_offset / 8 + offset, ty))
    })
}

fn pointee(module: &Module, pointer: Option<u32>) -> Option<(u32, &Type)> {
    match stripped(module, pointer)?.1.kind {
        TypeKind::Pointer { to } | TypeKind::Reference { to } => stripped(module, to),
        _ => None,
    }
}

/// Behind typedefs and qualifiers.
pub fn stripped(module: &Module, mut ty: Option<u32>) -> Option<(u32, &Type)> {
    for _ in 0..64 {
        let (number, found) = (ty?, module.types.get(ty? as usize)?);
        match found.kind {
            TypeKind::Alias { of } => ty = of,
            _ => return Some((number, found)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Member;

    fn ty(name: &str, size: u64, kind: TypeKind) -> Type {
        Type { name: name.to_owned(), size, kind }
    }

    fn record(name: &str, size: u64, members: &[(&str, u64, u32)]) -> Type {
        let member = |&(name, offset, ty): &(&str, u64, u32)| Member {
            name: name.to_owned(),
            bit_offset: 8 * offset,
            bits: 64,
            ty: Some(ty),
        };
        ty(name, size, TypeKind::Record { union: false, members: members.iter().map(member).collect() })
    }

    fn module() -> Module {
        let types = vec![
            ty("char", 1, TypeKind::Char { signed: true }),
            ty("char *", 8, TypeKind::Pointer { to: Some(0) }),
            ty("pointer", 8, TypeKind::Alias { of: Some(1) }),
            ty("unsigned long", 8, TypeKind::Unsigned),
            record("_Alloc_hider", 8, &[("_M_p", 0, 2)]),
            record("basic_string<char, ...>", 32, &[("_M_dataplus", 0, 4), ("_M_string_length", 8, 3)]),
            ty("int", 4, TypeKind::Signed),
            ty("int *", 8, TypeKind::Pointer { to: Some(6) }),
            record("_Vector_impl", 24, &[("_M_start", 0, 7), ("_M_finish", 8, 7)]),
            record("vector<int, ...>", 24, &[("_Vector_base<int, ...>", 0, 8)]),
            record("NonNull<u8>", 8, &[("pointer", 0, 1)]),
            record("Unique<u8>", 8, &[("pointer", 0, 10)]),
            record("RawVec<u8>", 16, &[("cap", 0, 3), ("ptr", 8, 11)]),
            record("String", 24, &[("vec", 0, 14)]),
            record("Vec<u8>", 24, &[("buf", 0, 12), ("len", 16, 3)]),
        ];
        Module { types, ..Module::default() }
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn texts_and_vectors_have_content() {
        let module = module();
        let content = |ty: usize, bytes: &[u8]| of_object(&module, &module.types[ty], bytes);
        assert_eq!(content(5, &words(&[0x1000, 3, 0, 0])), Some(Sequence::Text { at: 0x1000, len: 3 }));
        assert_eq!(content(13, &words(&[8, 0x2000, 5])), Some(Sequence::Text { at: 0x2000, len: 5 }));
        let elements = Sequence::Elements { at: 0x3000, len: 2, of: Some(6) };
        assert_eq!(content(9, &words(&[0x3000, 0x3008, 0x3010])), Some(elements));
    }

    #[test]
    fn what_does_not_fit_is_a_structure() {
        let module = module();
        let content = |ty: usize, bytes: &[u8]| of_object(&module, &module.types[ty], bytes);
        assert_eq!(content(9, &words(&[0x3008, 0x3000, 0])), None, "ends before it starts");
        assert_eq!(content(9, &words(&[0x3000, 0x3003, 0])), None, "part of an element");
        assert_eq!(content(5, &words(&[0x1000])), None, "cut off");
        assert_eq!(content(8, &words(&[0x3000, 0x3008, 0])), None, "another type");
    }
}

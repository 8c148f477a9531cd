//! Strings, sequences and smart pointers of the standard libraries of C++ and Rust, recognised by
//! their members.
//!
//! `std::string` is displayed as text, `std::vector` as its elements, `std::shared_ptr` as its
//! pointer. Their members, three pointers or a buffer of sixteen bytes, are of little use to a
//! reader. Layouts are those of libstdc++ and of Rust's `alloc`; a type without these members is
//! displayed as a structure.

use crate::model::{Member, Module, Type, TypeKind};

/// Maximum depth of the search through nested members.
const DEPTH: u32 = 6;

/// The location of such an object's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// Single bytes.
    Text {
        /// Address of the first byte.
        at: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Elements of one type.
    Elements {
        /// Address of the first element.
        at: u64,
        /// Number of elements.
        len: u64,
        /// Type of the elements.
        of: Option<u32>,
    },
    /// An object that owns what it points to, or an iterator.
    Pointer {
        /// The address it points to.
        to: u64,
        /// The type of the target.
        of: Option<u32>,
    },
}

/// The content of an object, if its type is one of these.
#[must_use]
pub fn of_object(module: &Module, ty: &Type, bytes: &[u8]) -> Option<Sequence> {
    let word = |offset: u64| {
        let from = usize::try_from(offset).ok()?;
        let bytes = bytes.get(from..from.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let name = ty.name.as_str();
    let pointer = |name: &str| find(module, ty, name, is_pointer, DEPTH);
    let number = |name: &str| find(module, ty, name, |kind| !is_pointer(kind), DEPTH);
    let text = |start: &str, length: &str| {
        let (at, pointer) = pointer(start)?;
        let (len, _) = number(length)?;
        // Only byte strings: not `std::wstring`.
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
        let (start, ty) = pointer("_M_start")?;
        let (finish, _) = pointer("_M_finish")?;
        let (of, element) = pointee(module, ty)?;
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
        let (at, ty) = pointer(member)?;
        return Some(Sequence::Pointer { to: word(at)?, of: pointee(module, ty).map(|(of, _)| of) });
    }
    if name.starts_with("&[") || name.starts_with("&mut [") {
        let (at, ty) = pointer("data_ptr")?;
        let (len, _) = number("length")?;
        let (of, _) = pointee(module, ty)?;
        return Some(Sequence::Elements { at: word(at)?, len: word(len)?, of: Some(of) });
    }
    None
}

/// Finds the first member with a given name and an accepted type, in the type or its nested
/// members. Returns its offset in bytes and its type.
fn find(
    module: &Module,
    ty: &Type,
    name: &str,
    wanted: fn(&TypeKind) -> bool,
    depth: u32,
) -> Option<(u64, Option<u32>)> {
    let TypeKind::Record { members, .. } = &ty.kind else { return None };
    // Descend into a member that wraps a pointer: `pointer: NonNull { pointer: *const u8 }`.
    let inner = |member: &Member| {
        let inside = stripped(module, member.ty).filter(|_| depth > 0)?;
        let (offset, ty) = find(module, inside.1, name, wanted, depth - 1)?;
        Some((member.bit_offset / 8 + offset, ty))
    };
    let is_wanted = |ty| stripped(module, ty).is_some_and(|(_, ty)| wanted(&ty.kind));
    let own = members.iter().find(|member| member.name == name);
    own.and_then(inner)
        .or_else(|| {
            own.filter(|member| is_wanted(member.ty)).map(|member| (member.bit_offset / 8, member.ty))
        })
        .or_else(|| members.iter().find_map(inner))
}

fn is_pointer(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Pointer { .. } | TypeKind::Reference { .. })
}

fn pointee(module: &Module, pointer: Option<u32>) -> Option<(u32, &Type)> {
    match stripped(module, pointer)?.1.kind {
        TypeKind::Pointer { to } | TypeKind::Reference { to } => stripped(module, to),
        _ => None,
    }
}

/// The type without typedefs and qualifiers.
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
            ty("void *", 8, TypeKind::Pointer { to: None }),
            record("shared_ptr<void>", 16, &[("_M_ptr", 0, 15), ("_M_refcount", 8, 15)]),
            record("default_delete<int>", 1, &[]),
            record("tuple", 16, &[("_M_head_impl", 0, 17)]),
            record("_Head_base", 8, &[("_M_head_impl", 0, 7)]),
            record("unique_ptr<int>", 16, &[("tuple", 0, 18), ("_Head_base", 8, 19)]),
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
    fn smart_pointers_point() {
        let module = module();
        let content = |ty: usize, bytes: &[u8]| of_object(&module, &module.types[ty], bytes);
        let to = |to, of| Some(Sequence::Pointer { to, of });
        assert_eq!(content(16, &words(&[0x1000, 0])), to(0x1000, None));
        assert_eq!(content(20, &words(&[0, 0x1000])), to(0x1000, Some(6)), "not the deleter");
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

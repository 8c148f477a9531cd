//! Types, their members and enumerators whose meaning differs between two versions, from the debug
//! information of both.

use crate::changed::Code;
use crate::source_text::TypeBody;
use alternate::Both;
use program::model::{Type, TypeKind};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Names of types, members and enumerators whose meaning differs between the versions.
#[derive(Default)]
pub struct TypeDifference {
    /// For each type and each of its members or enumerators that differs in any way, the names to look for
    /// in statements: all of the same type that differ. An alias is the one part of its type.
    names: BTreeMap<(String, String), BTreeSet<String>>,
    /// The names of types of other sizes.
    resized: HashSet<String>,
}

/// What is compared of a type: its size and its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Layout {
    size: u64,
    parts: BTreeMap<String, String>,
}

impl TypeDifference {
    #[must_use]
    pub fn new(code: &Both<Code<'_>>) -> TypeDifference {
        let all = Both { old: layouts(&code.old), new: layouts(&code.new) };
        let mut difference = TypeDifference::default();
        let names: BTreeSet<&String> = all.old.keys().chain(all.new.keys()).collect();
        for name in names {
            let (old, new) = (all.old.get(name), all.new.get(name));
            let (Some(old), Some(new)) = (old, new) else {
                // A type that one version does not have: only its members can tell where it is used.
                difference.add(name, old.or(new).into_iter().flatten(), &BTreeSet::new());
                continue;
            };
            if old != new {
                difference.add(name, old.difference(new), new);
                difference.add(name, new.difference(old), old);
            }
        }
        difference
    }

    fn add<'l>(&mut self, name: &str, ours: impl Iterator<Item = &'l Layout>, theirs: &BTreeSet<Layout>) {
        for layout in ours {
            let same = |part: (&String, &String)| theirs.iter().any(|t| t.parts.get(part.0) == Some(part.1));
            let differ: BTreeSet<String> =
                layout.parts.iter().filter(|part| !same(*part)).map(|part| part.0.clone()).collect();
            let resized = !theirs.is_empty() && theirs.iter().all(|t| t.size != layout.size);
            for part in &differ {
                let names = self.names.entry((name.to_owned(), part.clone())).or_default();
                names.extend(differ.iter().cloned());
                if resized {
                    // `sizeof` and declarations.
                    names.insert(name.to_owned());
                }
            }
            if resized {
                self.resized.insert(name.to_owned());
            }
        }
    }

    /// Adds the names that statements mention if they are affected by a change of a type with these words.
    /// `body` is the definition that the words are in; an alias is outside of all. Returns whether any
    /// statement may be affected.
    pub fn add_names(&self, words: &[String], body: Option<&TypeBody>, names: &mut BTreeSet<String>) -> bool {
        let mut any = false;
        for ((ty, part), of) in &self.names {
            let is_meant = match body {
                None => ty == part && words.contains(ty),
                Some(body) if body.ends && (body.name == *ty || words.contains(ty)) => true,
                Some(body) => (body.name.is_empty() || body.name == *ty) && words.contains(part),
            };
            if is_meant {
                names.extend(of.iter().cloned());
                any |= self.resized.contains(ty);
            }
        }
        any
    }
}

/// The types of a version by name. Several with one name are in different translation units.
fn layouts(code: &Code<'_>) -> BTreeMap<String, BTreeSet<Layout>> {
    let mut all: BTreeMap<String, BTreeSet<Layout>> = BTreeMap::new();
    for (_, loaded) in code.image.modules() {
        let types = &loaded.model.types;
        // The name of a type without one is that of its first alias.
        let mut aliases: HashMap<u32, &str> = HashMap::new();
        for ty in types {
            if let TypeKind::Alias { of: Some(of) } = ty.kind
                && !ty.name.is_empty()
            {
                aliases.entry(of).or_insert(&ty.name);
            }
        }
        for (number, ty) in (0..).zip(types) {
            let mut size = ty.size;
            let parts: BTreeMap<String, String> = match &ty.kind {
                TypeKind::Record { members, .. } => members
                    .iter()
                    .map(|m| (m.name.clone(), format!("{} {} {}", m.bit_offset, m.bits, text(types, m.ty))))
                    .collect(),
                TypeKind::Enum { values } => values.iter().map(|(n, v)| (n.clone(), v.to_string())).collect(),
                TypeKind::Alias { of } if !ty.name.is_empty() => {
                    size = resolved(types, *of).map_or(0, |ty| ty.size);
                    BTreeMap::from([(ty.name.clone(), text(types, *of))])
                }
                _ => continue,
            };
            let own = ty.name.rsplit([' ', ':']).next().unwrap_or_default();
            let name = if own.is_empty() { aliases.get(&number).copied().unwrap_or_default() } else { own };
            all.entry(name.to_owned()).or_default().insert(Layout { size, parts });
        }
    }
    all
}

/// The type that a chain of aliases stands for.
fn resolved(types: &[Type], mut ty: Option<u32>) -> Option<&Type> {
    // Longer chains are cut.
    for _ in 0..64 {
        let known = types.get(ty? as usize)?;
        match known.kind {
            TypeKind::Alias { of } => ty = of,
            _ => return Some(known),
        }
    }
    None
}

/// A type as the code that uses it sees it: records by their names, everything else by its kind and size.
fn text(types: &[Type], ty: Option<u32>) -> String {
    let Some(known) = resolved(types, ty) else { return "?".to_owned() };
    match &known.kind {
        // What is pointed to matters where it is used.
        TypeKind::Pointer { .. } | TypeKind::Reference { .. } => "pointer".to_owned(),
        TypeKind::Array { of, count } => {
            let size = resolved(types, *of).map_or(0, |of| of.size);
            format!("array of {count}, {size} bytes each")
        }
        TypeKind::Record { .. } => format!("record of {} bytes", known.size),
        TypeKind::Enum { .. } => format!("enum of {} bytes", known.size),
        other => format!("{other:?} of {} bytes", known.size),
    }
}

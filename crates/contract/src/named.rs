//! Memory locations as source expressions: `total`, `p->len`, `*q`, `table[2].x`.

use crate::summary::{Place, Region, Shared};
use crate::version::{ObservedFunction, Version};
use expression::types::{Shape, Type};
use program::model::Member;

/// Maximum nesting of members.
const MAX_NESTING: usize = 8;

/// A number or a pointer in memory.
#[derive(Clone)]
pub(crate) struct Named<'m> {
    pub name: String,
    /// Its first byte.
    pub place: Place,
    pub ty: Type<'m>,
}

/// The source of names: a version's types and a function's parameters.
#[derive(Clone, Copy)]
pub(crate) struct Names<'n, 'm> {
    pub shared: &'n Shared,
    pub version: &'n Version<'m>,
    pub function: &'n ObservedFunction<'m>,
}

/// The base of a region: a variable, or the target of a pointer.
enum Base {
    Variable(String),
    PointerTarget(String),
}

impl<'m> Names<'_, 'm> {
    /// The number or pointer that contains a byte; none if the types do not determine it.
    pub fn of(self, place: Place) -> Option<Named<'m>> {
        self.nested(place, 0)
    }

    fn nested(self, place: Place, nesting: usize) -> Option<Named<'m>> {
        if nesting > MAX_NESTING {
            return None;
        }
        let (base, ty) = self.base(place.0, nesting)?;
        let (region, offset) = place;
        let (name, ty, from) = match base {
            Base::Variable(name) => (name, ty, 0),
            Base::PointerTarget(pointer) => {
                let size = i64::try_from(self.completed(&ty).size()).ok().filter(|size| *size > 0)?;
                let from = offset.div_euclid(size) * size;
                match from / size {
                    0 if self.is_record(&ty) => {
                        return self.inside(&format!("{pointer}->"), ty, region, 0, offset);
                    }
                    0 => (format!("*{pointer}"), ty, 0),
                    n => (format!("{pointer}[{n}]"), ty, from),
                }
            }
        };
        self.inside(&name, ty, region, from, offset)
    }

    fn base(self, region: usize, nesting: usize) -> Option<(Base, Type<'m>)> {
        match self.shared.of(region) {
            Region::Global(name) => {
                let global = &self.version.globals[self.version.global(name)?];
                Some((Base::Variable(name.clone()), global.ty.clone()))
            }
            Region::Parameter(name) => {
                let parameter = self.function.parameters.iter().find(|p| p.name == *name)?;
                Some((Base::PointerTarget(name.clone()), pointee(&parameter.ty)?))
            }
            Region::PointerTarget(at) => {
                let pointer = self.nested(*at, nesting + 1)?;
                let ty = pointee(&pointer.ty)?;
                Some((Base::PointerTarget(pointer.name), ty))
            }
            Region::Frame(_) => None,
        }
    }

    fn is_record(self, ty: &Type<'m>) -> bool {
        matches!(self.completed(ty).shape(), Shape::Record(..))
    }

    fn completed(self, ty: &Type<'m>) -> Type<'m> {
        ty.completed_in(|| self.version.modules.clone())
    }

    /// Descends to the number or pointer that contains a byte. A name that ends with an arrow must be
    /// followed by a member.
    fn inside(self, name: &str, ty: Type<'m>, region: usize, from: i64, offset: i64) -> Option<Named<'m>> {
        let (mut name, mut ty, mut from) = (name.to_owned(), self.completed(&ty), from);
        for _ in 0..MAX_NESTING {
            match ty.shape() {
                Shape::Record(module, members) => {
                    let within = |m: &&Member| {
                        // A member that is not a bit field may have no bit count.
                        let size = if m.bits == 0 { 8 * Type::of(module, m.ty).size() } else { m.bits };
                        let (start, len) = (m.bit_offset / 8, size / 8);
                        m.bit_offset.is_multiple_of(8)
                            && size.is_multiple_of(8)
                            && (start..start + len).contains(&(offset - from).cast_unsigned())
                    };
                    let member = members.iter().find(within)?;
                    let dot = if name.ends_with("->") { "" } else { "." };
                    name = format!("{name}{dot}{}", member.name);
                    from += (member.bit_offset / 8).cast_signed();
                    ty = self.completed(&Type::of(module, member.ty));
                }
                Shape::Array(of, _) => {
                    let of = self.completed(&of);
                    let size = i64::try_from(of.size()).ok().filter(|size| *size > 0)?;
                    let n = (offset - from).div_euclid(size);
                    name = format!("{name}[{n}]");
                    from += n * size;
                    ty = of;
                }
                Shape::Function | Shape::Void => return None,
                _ => {
                    let is_inside = (offset - from).cast_unsigned() < ty.size();
                    return is_inside.then_some(Named { name, place: (region, from), ty });
                }
            }
        }
        None
    }
}

fn pointee<'m>(ty: &Type<'m>) -> Option<Type<'m>> {
    match ty.shape() {
        Shape::Pointer(to) => Some(to),
        _ => None,
    }
}

/// A number in source syntax.
pub(crate) fn number(bits: u128, ty: Option<&Type<'_>>, width: u32) -> String {
    let shape = ty.map(Type::shape);
    match shape {
        Some(Shape::Pointer(_)) if bits == 0 => "NULL".to_owned(),
        Some(Shape::Pointer(_)) => "a pointer".to_owned(),
        Some(Shape::Integer { signed: true, .. } | Shape::Character { signed: true })
            if width < 128 && bits >> (width - 1) & 1 == 1 =>
        {
            (bits.cast_signed() - (1i128 << width)).to_string()
        }
        _ => bits.to_string(),
    }
}

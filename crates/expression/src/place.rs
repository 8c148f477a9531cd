//! The location of an object: memory, or registers that hold a variable.

use crate::arithmetic::wrapped;
use crate::evaluate::Read;
use crate::scope::Scope;
use crate::types::{Shape, Type};
use program::model::Member;

#[derive(Clone, Debug)]
pub(crate) struct Place<'m> {
    pub ty: Type<'m>,
    pub base: Base,
    /// For a bit-field, its first bit relative to the base, and its width.
    pub bits: Option<(u64, u64)>,
    /// The null pointer through which the object was reached.
    pub null: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Base {
    Memory(u64),
    /// A variable in registers, from byte `offset` on.
    Registers {
        number: u32,
        bytes: Vec<u8>,
        known: Vec<bool>,
        offset: u64,
    },
    Nowhere,
}

/// Maximum nesting of unnamed structs. Deeper nesting is a cycle.
const MAX_NESTING: usize = 16;

impl<'m> Place<'m> {
    /// A part of the object at an offset.
    pub fn part(mut self, by: u64, ty: Type<'m>) -> Place<'m> {
        match &mut self.base {
            Base::Memory(address) => *address = address.wrapping_add(by),
            Base::Registers { offset, .. } => *offset = offset.wrapping_add(by),
            Base::Nowhere => {}
        }
        Place { ty, bits: None, ..self }
    }

    /// A member by name, also of unnamed structs and unions, and of base classes.
    pub fn member(&self, name: &str) -> Option<Place<'m>> {
        self.member_within(name, MAX_NESTING)
    }

    fn member_within(&self, name: &str, nesting: usize) -> Option<Place<'m>> {
        let Shape::Record(module, members) = self.ty.shape() else { return None };
        for member in members {
            let ty = Type::of(module, member.ty);
            if member.name == name {
                if is_byte_aligned(member, &ty) {
                    return Some(self.clone().part(member.bit_offset / 8, ty));
                }
                let place = self.clone().part(member.bit_offset / 8, ty);
                return Some(Place { bits: Some((member.bit_offset % 8, member.bits.min(64))), ..place });
            }
            if is_transparent(member, &ty)
                && nesting > 0
                && let Some(found) =
                    self.clone().part(member.bit_offset / 8, ty).member_within(name, nesting - 1)
            {
                return Some(found);
            }
        }
        None
    }

    /// Loads the value: the read, and as many bytes as its type has.
    pub fn load(&self, scope: &dyn Scope<'m>, size: usize) -> Option<(Read, Vec<u8>, Vec<bool>)> {
        let Some((first, bits)) = self.bits else {
            let (bytes, known) = self.bytes(scope, size)?;
            let len = size as u64;
            let read = match self.base {
                Base::Memory(address) => Read::Memory { address, len },
                Base::Registers { number, offset, .. } => Read::Variable { number, offset, len },
                Base::Nowhere => return None,
            };
            return Some((read, bytes, known));
        };
        let touched = (first + bits).div_ceil(8);
        let (bytes, known) = self.bytes(scope, touched as usize)?;
        let mut wide = [0; 16];
        wide[..bytes.len()].copy_from_slice(&bytes);
        let raw = u128::from_le_bytes(wide) >> first & ((1 << bits) - 1);
        let signed = matches!(
            self.ty.shape(),
            Shape::Integer { signed: true, .. } | Shape::Character { signed: true }
        );
        let value = raw.cast_signed();
        let sign = 1i128 << (bits.max(1) - 1);
        let value = if signed && value & sign != 0 { value - (sign << 1) } else { value };
        let value = wrapped(value, size.min(16) as u8, signed);
        let read = match self.base {
            Base::Memory(address) if touched <= 8 => {
                Read::Bits { address, mask: (((1u128 << bits) - 1) << first) as u64 }
            }
            Base::Memory(address) => Read::Memory { address, len: touched },
            Base::Registers { number, offset, .. } => Read::Variable { number, offset, len: touched },
            Base::Nowhere => return None,
        };
        let is_known = !known.contains(&false);
        Some((read, value.to_le_bytes()[..size.min(16)].to_vec(), vec![is_known; size.min(16)]))
    }

    fn bytes(&self, scope: &dyn Scope<'m>, size: usize) -> Option<(Vec<u8>, Vec<bool>)> {
        match &self.base {
            Base::Memory(address) => {
                let mut bytes = vec![0; size];
                scope.read(*address, &mut bytes).then(|| (bytes, vec![true; size]))
            }
            Base::Registers { bytes, known, offset, .. } => {
                let from = usize::try_from(*offset).unwrap_or(usize::MAX);
                let of = |i: usize| from.checked_add(i);
                let all = (0..size).map(|i| of(i).and_then(|i| bytes.get(i)).copied().unwrap_or(0));
                let which = (0..size).map(|i| of(i).and_then(|i| known.get(i)).copied().unwrap_or(false));
                Some((all.collect(), which.collect()))
            }
            Base::Nowhere => None,
        }
    }
}

/// Whether a member consists of whole bytes, as many as its type has.
fn is_byte_aligned(member: &Member, ty: &Type<'_>) -> bool {
    let aligned = member.bit_offset.is_multiple_of(8) && member.bits.is_multiple_of(8);
    // Flexible arrays have no bits of their own.
    aligned && (member.bits == 0 || member.bits == 8 * ty.size())
}

/// Whether the members of this member belong to the record's own namespace: those of an unnamed
/// struct or union, and of a base class.
fn is_transparent(member: &Member, ty: &Type<'_>) -> bool {
    member.name.is_empty() || Some(&member.name) == ty.tag()
}

/// Names of a record's members, including those of unnamed members.
pub(crate) fn members(ty: &Type<'_>) -> Vec<String> {
    let mut names = Vec::new();
    let mut todo = vec![(ty.clone(), 0)];
    while let Some((ty, depth)) = todo.pop() {
        let Shape::Record(module, members) = ty.shape() else { continue };
        for member in members {
            if !member.name.is_empty() {
                names.push(member.name.clone());
            }
            let ty = Type::of(module, member.ty);
            if depth < MAX_NESTING && is_transparent(member, &ty) {
                todo.push((ty, depth + 1));
            }
        }
    }
    names
}

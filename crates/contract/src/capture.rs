//! Captures a state: breadth first from the roots along the declared types, up to a bound.

use crate::objects::ObjectMap;
use crate::state::{Knowledge, Root, State};
use crate::untyped::UNTYPED;
use expression::types::{Shape, Type};
use program::model::Module;
use replay::constants::Initial;
use replay::image::Image;
use replay::memory::Memory;
use replay::vars::Data;
use slice::touched::Touched;
use std::collections::{HashSet, VecDeque};

/// Maximum number of bytes of a state.
pub const MAX_BYTES: u64 = 1 << 15;
/// Maximum number of bytes captured for the target of one pointer.
pub const MAX_OBJECT: u64 = 1 << 12;
/// Number of bytes captured on each side of it.
const ADJACENT_BYTES: u64 = 64;
/// Worklist of addresses.
#[derive(Default)]
struct Queue<'m> {
    typed: VecDeque<(u64, Type<'m>)>,
    /// Addresses of unknown type. They come last, because the size of their targets is unknown.
    untyped: VecDeque<u64>,
}

impl<'m> Queue<'m> {
    fn next(&mut self) -> Option<(u64, Option<Type<'m>>)> {
        let typed = self.typed.pop_front().map(|(address, ty)| (address, Some(ty)));
        typed.or_else(|| Some((self.untyped.pop_front()?, None)))
    }
}

/// Maximum number of bytes of a string.
pub const MAX_STRING: u64 = 4096;

/// The sources from which a state is captured.
pub struct CaptureContext<'s, 'm> {
    /// The program's constants, initial values and functions.
    pub image: &'s Image,
    /// The replay's memory at this moment.
    pub memory: &'s Memory,
    /// Blocks of the heap, and the bytes that the program defined so far.
    pub objects: &'s ObjectMap,
    /// The bytes that the program has touched so far; all others have their initial values.
    pub touched: &'s Touched<'s>,
    /// The variable, global or in a frame, that contains an address: its start and its type.
    pub variable: &'s dyn Fn(u64) -> Option<(u64, Type<'m>)>,
}

impl<'m> CaptureContext<'_, 'm> {
    /// Start and end of the object that contains a pointer's target.
    fn object(&self, address: u64, ty: &Type<'m>, modules: &[&'m Module]) -> Option<(u64, u64)> {
        if let Some((start, of)) = (self.variable)(address) {
            return Some(part(start, of, address, ty.size().max(1), modules));
        }
        let (start, end) = self.objects.block(address)?;
        if matches!(ty.shape(), Shape::Record(..) | Shape::Pointer(_)) {
            return Some((start, end));
        }
        // A pointer further on shows that this is not an array of numbers.
        let end = end.min(address.saturating_add(MAX_OBJECT));
        let is_pointer = |at: &u64| {
            let word = self.memory.peek_word(*at, 8);
            // All of it was set: values left from an earlier use of the memory are not evidence.
            word != 0 && self.objects.is_tracked(word) && (0..8).all(|n| self.objects.is_defined(*at + n))
        };
        let behind = (address.next_multiple_of(8)..end.saturating_sub(7)).step_by(8).find(is_pointer);
        Some(match behind {
            Some(_) => (address, address + ty.size().max(1)),
            None => (start, end),
        })
    }

    /// Bytes, with the knowledge about each.
    fn read(&self, address: u64, len: usize) -> (Vec<u8>, Vec<Knowledge>) {
        let constant = self.image.constant(address).map_or(0, <[u8]>::len).min(len);
        let mut bytes = vec![0; len];
        self.memory.peek(address, &mut bytes);
        if constant > 0 {
            let data = Data { memory: self.memory, image: Some(self.image) };
            bytes[..constant].copy_from_slice(&data.read(address, constant));
        }
        let mut knowledge = self.objects.knowledge(address, len);
        knowledge[..constant].fill(Knowledge::Set);
        for part in self.image.initial_within(address, len as u64) {
            for at in part {
                let n = (at - address) as usize;
                match self.touched.initial(at) {
                    Some(Initial::Byte(initial)) if bytes[n] == 0 => {
                        (bytes[n], knowledge[n]) = (initial, Knowledge::Set);
                    }
                    // The address it points to is not known.
                    Some(Initial::Address) => knowledge[n] = Knowledge::Nothing,
                    _ => {}
                }
            }
        }
        (bytes, knowledge)
    }
}

/// Captures everything reachable from the roots. Parameters and results are in `state` already.
pub fn capture<'m>(
    state: &mut State,
    roots: &[Root<'m>],
    scene: &CaptureContext<'_, 'm>,
    modules: &[&'m Module],
) {
    let mut queue = Queue::default();
    let mut seen = HashSet::new();
    for root in roots {
        if !matches!(root.kind, crate::state::RootKind::Global) {
            pointers(state, scene, root.address, &root.ty, &mut queue, modules, 0);
            continue;
        }
        take(state, scene, root.address, root.ty.size().min(MAX_OBJECT));
        pointers(state, scene, root.address, &root.ty, &mut queue, modules, 0);
    }
    while let Some((address, ty)) = queue.next() {
        let size = ty.as_ref().map_or(UNTYPED, Type::size);
        let is_record = ty.as_ref().is_some_and(|ty| matches!(ty.shape(), Shape::Record(..)));
        if !seen.insert((address, size, is_record)) {
            continue;
        }
        if state.bytes >= MAX_BYTES {
            state.truncated = true;
            break;
        }
        let Some(ty) = ty else {
            untyped(state, scene, address, &mut queue);
            continue;
        };
        let ty = completed(&ty, modules);
        let size = ty.size().max(1);
        let object = scene.object(address, &ty, modules);
        if let Some(object) = object {
            state.set_object(address, size, object);
        }
        let len = extent(&ty, address, object, size);
        let room = MAX_OBJECT.min(MAX_BYTES - state.bytes);
        let len = if ty.is_character() && object.is_none() {
            text(scene, address, MAX_STRING.min(room))
        } else {
            // Bytes that were never set are not missing.
            state.truncated |= (room..len.min(1 << 20)).any(|n| scene.objects.is_defined(address + n));
            len.min(room)
        };
        take(state, scene, address, len);
        if let Some((start, end)) = object {
            around(state, scene, address, len, start..end);
        }
        for n in 0..len / size {
            pointers(state, scene, address + n * size, &ty, &mut queue, modules, 0);
        }
    }
}

/// Captures the memory adjacent to a pointer's target in its block; it is compared if a call used it.
fn around(
    state: &mut State,
    scene: &CaptureContext<'_, '_>,
    address: u64,
    len: u64,
    block: std::ops::Range<u64>,
) {
    let first = block.start.max(address.saturating_sub(ADJACENT_BYTES)).min(address);
    let behind = address.saturating_add(len);
    let last = block.end.min(behind.saturating_add(ADJACENT_BYTES)).max(behind);
    for (start, end) in [(first, address), (behind, last)] {
        if start < end {
            take(state, scene, start, end - start);
        }
    }
}

/// Captures the target of a pointer of unknown type: a block, a variable or a constant string, if it points
/// to the beginning.
fn untyped<'m>(state: &mut State, scene: &CaptureContext<'_, 'm>, address: u64, queue: &mut Queue<'m>) {
    let variable = || (scene.variable)(address).map(|(start, of)| (start, start + of.size()));
    let constant = || {
        scene.image.constant(address)?;
        Some((address, address + text(scene, address, MAX_STRING)))
    };
    let Some((start, end)) = scene.objects.block(address).or_else(variable).or_else(constant) else { return };
    if start != address {
        return;
    }
    state.set_object(address, UNTYPED, (start, end));
    let len = (end - start).min(MAX_OBJECT).min(MAX_BYTES.saturating_sub(state.bytes));
    state.truncated |= (len..(end - start).min(1 << 20)).any(|n| scene.objects.is_defined(address + n));
    take(state, scene, address, len);
    words(state, scene, address, len, queue);
}

/// Queues the targets of the words of a range.
fn words<'m>(state: &State, scene: &CaptureContext<'_, 'm>, address: u64, len: u64, queue: &mut Queue<'m>) {
    for n in (0..(len + 1).saturating_sub(8)).step_by(8) {
        let Some(bytes) = state.read(address + n, 8) else { continue };
        let word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let is_constant = || scene.image.constant(word).is_some();
        if word >= 4096 && (scene.objects.is_tracked(word) || is_constant()) {
            queue.untyped.push_back(word);
        }
    }
}

/// The part of a variable that a pointer to a type of this size points into: an array, or one value.
fn part<'m>(mut start: u64, mut of: Type<'m>, address: u64, size: u64, modules: &[&'m Module]) -> (u64, u64) {
    for _ in 0..MAX_NESTING {
        of = completed(&of, modules);
        let end = start + of.size().max(1);
        match of.shape() {
            Shape::Record(..) if of.size() == size || is_union(&of) => return (start, end),
            Shape::Record(module, members) => {
                let offset = address - start;
                let inside = members.iter().find(|m| {
                    let from = m.bit_offset / 8;
                    (from..from + (m.bits / 8).max(1)).contains(&offset)
                });
                let Some(member) = inside else { return (address, address + size) };
                start += member.bit_offset / 8;
                of = Type::of(module, member.ty);
            }
            Shape::Array(element, _)
                if size < element.size()
                    && matches!(element.shape(), Shape::Record(..) | Shape::Array(..)) =>
            {
                start += (address - start) / element.size() * element.size();
                of = element;
            }
            _ => return (start, end),
        }
    }
    (address, address + size)
}

/// Number of bytes denoted by a pointer to a type.
pub(crate) fn extent(ty: &Type<'_>, address: u64, object: Option<(u64, u64)>, size: u64) -> u64 {
    match (ty.shape(), object) {
        (Shape::Void | Shape::Function, _) => 0,
        // One of many in a pool.
        (Shape::Record(..), Some((start, end)))
            if address != start || !(end - start).is_multiple_of(size) =>
        {
            size
        }
        (_, Some((_, end))) => (end.saturating_sub(address) / size * size).max(size),
        (_, None) => size,
    }
}

/// Number of bytes of a string including its NUL.
fn text(scene: &CaptureContext<'_, '_>, address: u64, limit: u64) -> u64 {
    let (bytes, known) = scene.read(address, limit as usize);
    let end = bytes.iter().zip(&known).position(|(byte, known)| *byte == 0 || *known == Knowledge::Nothing);
    end.map_or(limit, |n| n as u64 + 1)
}

fn take(state: &mut State, scene: &CaptureContext<'_, '_>, address: u64, len: u64) {
    let (bytes, known) = scene.read(address, len as usize);
    state.put(address, &bytes, |n| known[n]);
    // A word that is only partly in the range may contain an address as well.
    let (start, end) = (address & !7, (address + len).next_multiple_of(8));
    let (words, _) = scene.read(start, (end - start) as usize);
    mark_addresses(state, scene.objects, scene.image, start, &words);
}

/// Records words that contain addresses: of objects, constants and functions. The blocks they pointed to may
/// have been freed, or they may point just past the end of a block.
pub(crate) fn mark_addresses(
    state: &mut State,
    objects: &ObjectMap,
    image: &Image,
    address: u64,
    bytes: &[u8],
) {
    let lead = (address.next_multiple_of(8) - address) as usize;
    let words = bytes.get(lead..).unwrap_or_default().chunks_exact(8);
    for (n, word) in words.enumerate() {
        let value = u64::from_le_bytes(word.try_into().unwrap_or_default());
        let is_address = || {
            objects.is_tracked(value)
                || objects.is_near_heap(value)
                || image.constant(value).is_some()
                || image.function_at(value).is_some()
                || image.external_at(value).is_some()
        };
        if value >= 4096 && is_address() {
            state.mark_address(address + lead as u64 + 8 * n as u64);
        }
    }
}

/// Deeper nesting of structs is considered a cycle.
const MAX_NESTING: usize = 16;

/// Queues the targets of the pointers in a value.
fn pointers<'m>(
    state: &State,
    scene: &CaptureContext<'_, 'm>,
    address: u64,
    ty: &Type<'m>,
    queue: &mut Queue<'m>,
    modules: &[&'m Module],
    nesting: usize,
) {
    if nesting > MAX_NESTING {
        return;
    }
    match completed(ty, modules).shape() {
        Shape::Pointer(to) => {
            let Some(bytes) = state.read(address, 8) else { return };
            let target = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            if target != 0 {
                match completed(&to, modules).shape() {
                    Shape::Void => queue.untyped.push_back(target),
                    _ => queue.typed.push_back((target, to)),
                }
            }
        }
        Shape::Array(of, count) => {
            let has_pointers = !matches!(
                completed(&of, modules).shape(),
                Shape::Integer { .. } | Shape::Character { .. } | Shape::Bool | Shape::Float { .. }
            );
            let size = of.size().max(1);
            for n in 0..if has_pointers { count.min(MAX_OBJECT / size) } else { 0 } {
                pointers(state, scene, address + n * size, &of, queue, modules, nesting + 1);
            }
        }
        Shape::Record(..) if is_union(ty) => words(state, scene, address, ty.size(), queue),
        Shape::Record(module, members) => {
            for member in members {
                let ty = Type::of(module, member.ty);
                pointers(state, scene, address + member.bit_offset / 8, &ty, queue, modules, nesting + 1);
            }
        }
        _ => {}
    }
}

/// Whether a type is a union.
pub(crate) fn is_union(ty: &Type<'_>) -> bool {
    let Type::Declared(module, index) = ty.stripped() else { return false };
    matches!(module.types[index as usize].kind, program::model::TypeKind::Record { union: true, .. })
}

/// The type with its members, if one module only declares it and another defines it.
pub(crate) fn completed<'m>(ty: &Type<'m>, modules: &[&'m Module]) -> Type<'m> {
    ty.completed_in(|| modules.to_vec())
}

//! Maps addresses to objects during a replay.
//!
//! An object exists at an address that was accessed through a pointer to a type. It lives until its memory is
//! released: the heap block is freed, or the frame is left. After that, the same address denotes another
//! object.

use crate::names::NumberMap;
use crate::trace::{NONE, Object};
use std::collections::BTreeMap;

/// Slots of the cache of recently accessed objects: a power of two.
const CACHE_SLOTS: usize = 1 << 12;

/// A heap block.
#[derive(Clone, Copy, Debug)]
struct Block {
    len: u64,
    /// The object for the block as a whole, and the newest object in it.
    whole: u32,
    newest: u32,
}

/// The lifetime data of an object.
#[derive(Clone, Copy, Debug)]
struct ObjectLife {
    base: u64,
    /// The next older object of the same block or frame.
    next: u32,
    alive: bool,
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub struct Objects {
    /// All objects ever created.
    pub all: Vec<Object>,
    lives: Vec<ObjectLife>,
    at: NumberMap<u64, u32>,
    /// A cache of recently accessed objects with known types, by address.
    recent: Vec<u32>,
    blocks: BTreeMap<u64, Block>,
}

impl Objects {
    /// The object at an address, if there is one. An access as a `ty` sets its type if it had none.
    #[inline]
    pub fn at(&mut self, base: u64, ty: u32) -> Option<u32> {
        let slot = (base ^ base >> 12) as usize >> 3 & (CACHE_SLOTS - 1);
        if let Some(known) = self.recent.get(slot)
            && self.is_at(*known, base)
        {
            return Some(*known);
        }
        let known = *self.at.get(&base)?;
        let object = &mut self.all[known as usize];
        if object.ty == 0 {
            object.ty = ty;
        }
        if object.ty != 0 {
            if self.recent.is_empty() {
                self.recent = vec![NONE; CACHE_SLOTS];
            }
            self.recent[slot] = known;
        }
        Some(known)
    }

    /// Whether the object is alive and at this address.
    #[inline]
    #[must_use]
    pub fn is_at(&self, object: u32, base: u64) -> bool {
        self.lives.get(object as usize).is_some_and(|l| l.alive && l.base == base)
    }

    /// Whether the object is alive.
    #[inline]
    #[must_use]
    pub fn is_alive(&self, object: u32) -> bool {
        self.lives.get(object as usize).is_some_and(|l| l.alive)
    }

    /// Creates an object. `frame` is the object list of the frame that contains the address, if any does.
    pub fn make(&mut self, base: u64, ty: u32, frame: Option<&mut u32>) -> u32 {
        let number = self.add(base, ty);
        match frame {
            Some(list) => self.lives[number as usize].next = std::mem::replace(list, number),
            None => {
                if let Some((start, block)) = self.blocks.range_mut(..=base).next_back()
                    && base - start < block.len
                {
                    self.lives[number as usize].next = std::mem::replace(&mut block.newest, number);
                }
            }
        }
        number
    }

    fn add(&mut self, base: u64, ty: u32) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(Object { ty, name: 0, number: 0, born: NONE, birth: 0, written: 0 });
        self.lives.push(ObjectLife { base, next: NONE, alive: true });
        self.at.insert(base, number);
        number
    }

    /// A named object with static lifetime.
    pub fn named(&mut self, base: u64, ty: u32, name: u32) -> u32 {
        let known = self.at.get(&base).copied();
        let number = known.unwrap_or_else(|| self.add(base, ty));
        self.all[number as usize].name = name;
        number
    }

    /// An object without an address, such as a compilation unit.
    pub fn add_abstract(&mut self, ty: u32, name: u32) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(Object { ty, name, number: 0, born: NONE, birth: 0, written: 0 });
        self.lives.push(ObjectLife { base: u64::MAX, next: NONE, alive: true });
        number
    }

    /// Creates the object of an allocated block.
    pub fn allocated(&mut self, base: u64, len: u64, born: u32, ty: u32) -> u32 {
        self.freed(base);
        // An object at this address whose deallocation was not seen is dead as well.
        if let Some(stale) = self.at.remove(&base) {
            self.lives[stale as usize].alive = false;
        }
        let number = self.add(base, ty);
        self.all[number as usize].born = born;
        self.blocks.insert(base, Block { len, whole: number, newest: number });
        number
    }

    /// Ends the objects of a freed block.
    pub fn freed(&mut self, base: u64) {
        if let Some(block) = self.blocks.remove(&base) {
            self.end(block.newest);
        }
    }

    /// Resizes a block, possibly moving it; its objects keep their identity. `None` if the block is unknown.
    pub fn moved(&mut self, from: u64, to: u64, len: u64) -> Option<u32> {
        let block = self.blocks.remove(&from)?;
        let mut next = block.newest;
        while let Some(life) = self.lives.get_mut(next as usize) {
            let number = next;
            next = life.next;
            self.at.remove(&life.base);
            let offset = life.base.wrapping_sub(from);
            life.base = to.wrapping_add(offset);
            if life.alive && offset < len.max(1) {
                self.at.insert(life.base, number);
            } else {
                life.alive = false;
            }
        }
        self.blocks.insert(to, Block { len, ..block });
        Some(block.whole)
    }

    /// The heap block that contains an address: its start, length and object.
    #[must_use]
    pub fn block(&self, address: u64) -> Option<(u64, u64, u32)> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        (address - start < block.len).then_some((*start, block.len, block.whole))
    }

    /// Ends the objects of a list, when its frame is left.
    pub fn end(&mut self, list: u32) {
        let mut next = list;
        while let Some(life) = self.lives.get_mut(next as usize) {
            let number = next;
            next = life.next;
            life.alive = false;
            if self.at.get(&life.base) == Some(&number) {
                self.at.remove(&life.base);
            }
        }
    }

    /// Numbers objects by type, in the order of their creation.
    #[must_use]
    pub fn finish(mut self) -> Vec<Object> {
        let mut counts: NumberMap<u32, u32> = NumberMap::default();
        for object in &mut self.all {
            if object.name == 0 {
                let count = counts.entry(object.ty).or_default();
                *count += 1;
                object.number = *count;
            }
        }
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Objects {
        fn get(&mut self, base: u64, ty: u32) -> u32 {
            self.at(base, ty).unwrap_or_else(|| self.make(base, ty, None))
        }
    }

    #[test]
    fn an_address_is_another_object_after_it_was_freed() {
        let mut o = Objects::default();
        let a = o.allocated(0x1000, 64, 1, 0);
        let inner = o.get(0x1020, 5);
        assert_eq!(o.get(0x1000, 7), a);
        assert_eq!(o.all[a as usize].ty, 7, "the first access says what it is");
        assert_eq!(o.block(0x103f), Some((0x1000, 64, a)));
        assert_eq!(o.block(0x1040), None);
        o.freed(0x1000);
        assert!(!o.is_at(a, 0x1000) && !o.is_alive(inner));
        let b = o.allocated(0x1000, 8, 2, 0);
        assert_ne!(a, b);
        assert_ne!(o.get(0x1020, 5), inner);
    }

    #[test]
    fn a_block_that_moves_keeps_its_objects() {
        let mut o = Objects::default();
        let a = o.allocated(0x1000, 64, 1, 3);
        let inner = o.get(0x1030, 5);
        assert_eq!(o.moved(0x1000, 0x5000, 128), Some(a));
        assert_eq!(o.get(0x5000, 3), a);
        assert_eq!(o.get(0x5030, 5), inner);
        assert!(o.block(0x1000).is_none());
        assert_eq!(o.moved(0x9000, 0xa000, 4), None);
    }

    #[test]
    fn objects_of_a_frame_end_with_it() {
        let mut o = Objects::default();
        let mut list = NONE;
        let a = o.make(0x7000, 1, Some(&mut list));
        let b = o.make(0x7010, 1, Some(&mut list));
        o.end(list);
        assert!(!o.is_alive(a) && !o.is_alive(b));
        assert_eq!(o.get(0x7000, 1), 2);
        let numbers: Vec<u32> = o.finish().iter().map(|o| o.number).collect();
        assert_eq!(numbers, [1, 2, 3]);
    }
}

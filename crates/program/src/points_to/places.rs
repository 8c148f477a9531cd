//! Interned points-to targets, and their offset arithmetic.

use super::Place;
use crate::bits::Bits;
use crate::objects::{ObjectId, Objects};
use std::collections::HashMap;

/// Maximum number of distinct offsets per object.
const MAX_OFFSETS_PER_OBJECT: u32 = 64;
/// Maximum tracked offset in objects of unknown size.
const MAX_OFFSET: u64 = 1 << 16;

/// Index of an interned offset addition.
pub type OffsetStep = u32;

/// Not computed yet.
const UNKNOWN: u32 = u32::MAX;

/// See the module documentation.
#[derive(Default)]
pub struct PlaceInterner {
    list: Vec<Place>,
    index: HashMap<Place, u32>,
    /// Offset additions: the offset, `None` for any, and the memoised result for each target.
    moves: Vec<(Option<i64>, Vec<u32>)>,
    by: HashMap<Option<i64>, OffsetStep>,
    /// Number of tracked offsets of each object.
    of_object: HashMap<ObjectId, u32>,
    /// For each object, its target with unknown offset.
    anywhere: Vec<u32>,
}

impl PlaceInterner {
    fn number(&mut self, place: Place) -> u32 {
        let next = self.list.len() as u32;
        *self.index.entry(place).or_insert_with(|| {
            self.list.push(place);
            if place.offset.is_none() {
                let object = place.object as usize;
                if self.anywhere.len() <= object {
                    self.anywhere.resize(object + 1, UNKNOWN);
                }
                self.anywhere[object] = next;
            }
            next
        })
    }

    /// Whether a target is redundant in a set, because the set contains the same object at any
    /// offset.
    fn is_subsumed(&self, place: Place, set: &Bits) -> bool {
        let anywhere = self.anywhere.get(place.object as usize).copied().unwrap_or(UNKNOWN);
        place.offset.is_some() && anywhere != UNKNOWN && set.contains(anywhere)
    }

    /// Interns a target.
    pub fn of(&mut self, object: ObjectId, offset: Option<u64>, objects: &Objects) -> u32 {
        let offset = offset.filter(|o| *o <= objects.size(object).unwrap_or(MAX_OFFSET));
        self.number(Place { object, offset })
    }

    /// Interns an offset addition.
    pub fn step(&mut self, by: Option<i64>) -> OffsetStep {
        *self.by.entry(by).or_insert_with(|| {
            self.moves.push((by, Vec::new()));
            self.moves.len() as OffsetStep - 1
        })
    }

    pub fn moved(&mut self, place: u32, by: OffsetStep, objects: &Objects) -> u32 {
        let (far, known) = &self.moves[by as usize];
        if let Some(there) = known.get(place as usize).filter(|p| **p != UNKNOWN) {
            return *there;
        }
        let there = self.move_to(self.list[place as usize], *far, objects);
        let there = self.number(there);
        let known = &mut self.moves[by as usize].1;
        if known.len() <= place as usize {
            known.resize(place as usize + 1, UNKNOWN);
        }
        known[place as usize] = there;
        there
    }

    fn move_to(&mut self, place: Place, by: Option<i64>, objects: &Objects) -> Place {
        let anywhere = Place { offset: None, ..place };
        let (Some(by), Some(offset)) = (by, place.offset) else { return anywhere };
        let offset = offset.wrapping_add_signed(by);
        // One past the end is not a valid store address. It is kept because a later subtraction may
        // make it valid again.
        if offset > objects.size(place.object).unwrap_or(MAX_OFFSET) {
            return anywhere;
        }
        let there = Place { offset: Some(offset), ..place };
        if self.index.contains_key(&there) {
            return there;
        }
        let known = self.of_object.entry(place.object).or_default();
        if *known < MAX_OFFSETS_PER_OBJECT {
            *known += 1;
            there
        } else {
            anywhere
        }
    }

    /// The elements of `some` that are not redundant in `set`, in order.
    pub fn list(&self, some: &Bits, set: &Bits) -> Vec<Place> {
        let places = some.iter().map(|p| self.list[p as usize]);
        let mut all: Vec<Place> = places.filter(|p| !self.is_subsumed(*p, set)).collect();
        all.sort_unstable();
        all
    }
}

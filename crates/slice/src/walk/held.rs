//! Wanted bytes of memory of a relevant slice when nobody is noted down who wants them.
//!
//! As in [`super::light`] there is one bit a byte. What is wanted only for groups has a tag as
//! well; a page gets room for tags when the first such byte comes to it, since most of what a
//! slice wants it wants for sure.

use super::pages::{PAGE, Pages, words};
use crate::tags::{Tag, Tags};

struct Page {
    wanted: [u64; 64],
    /// Per byte; what it says of one that is not wanted means nothing.
    tags: Option<Box<[Tag]>>,
}

/// See the module's documentation.
#[derive(Default)]
pub struct Held {
    pages: Vec<Page>,
    of: Pages,
    /// Bytes wanted.
    bytes: u64,
}

/// Calls `f` with the number of each bit that is set.
#[inline]
fn bits(mut set: u64, mut f: impl FnMut(usize)) {
    while set != 0 {
        f(set.trailing_zeros() as usize);
        set &= set - 1;
    }
}

impl Held {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Wants a range; whether any of it was not wanted before.
    #[inline]
    pub fn want(&mut self, start: u64, len: u64, tag: Tag, tags: &mut Tags) -> bool {
        let before = self.bytes;
        words(start, len, |number, w, mask| {
            let at = self.of.find(number).unwrap_or_else(|| {
                self.pages.push(Page { wanted: [0; 64], tags: None });
                self.of.add(number)
            });
            let page = &mut self.pages[at];
            let known = page.wanted[w] & mask;
            self.bytes += u64::from((mask ^ known).count_ones());
            page.wanted[w] |= mask;
            // Without tags all of it is wanted for sure, whoever else wants it.
            if page.tags.is_none() && (tag == Tag::SURE || known == mask) {
                return;
            }
            let all = page.tags.get_or_insert_with(|| vec![Tag::SURE; PAGE as usize].into());
            let all = &mut all[64 * w..64 * w + 64];
            bits(mask, |bit| {
                let is_known = known >> bit & 1 != 0;
                all[bit] = if is_known { tags.join(all[bit], tag) } else { tag };
            });
        });
        self.bytes != before
    }

    /// Takes a range out; whether any byte of it was wanted.
    #[inline]
    pub fn take(&mut self, start: u64, len: u64) -> bool {
        let before = self.bytes;
        if before > 0 {
            words(start, len, |number, w, mask| {
                if let Some(at) = self.of.find(number) {
                    let word = &mut self.pages[at].wanted[w];
                    self.bytes -= u64::from((mask & *word).count_ones());
                    *word &= !mask;
                }
            });
        }
        self.bytes != before
    }

    /// Whether any byte of a range is wanted.
    #[inline]
    pub fn touches(&self, start: u64, len: u64) -> bool {
        let mut any = false;
        if self.bytes > 0 {
            words(start, len, |number, w, mask| {
                any |= self.of.find(number).is_some_and(|at| self.pages[at].wanted[w] & mask != 0);
            });
        }
        any
    }

    /// Calls `f` with the tags of the wanted bytes of a range, in order; a tag that comes again
    /// right behind itself is not told again in one word.
    pub fn tags(&self, start: u64, len: u64, mut f: impl FnMut(Tag)) {
        if self.bytes == 0 {
            return;
        }
        words(start, len, |number, w, mask| {
            let Some(at) = self.of.find(number) else { return };
            let page = &self.pages[at];
            let hit = page.wanted[w] & mask;
            match &page.tags {
                _ if hit == 0 => {}
                None => f(Tag::SURE),
                Some(tags) => {
                    let mut last = None;
                    bits(hit, |bit| {
                        let tag = tags[64 * w + bit];
                        if last.replace(tag) != Some(tag) {
                            f(tag);
                        }
                    });
                }
            }
        });
    }

    /// Takes a range out, as ranges with their tags.
    pub fn drain(&mut self, start: u64, len: u64) -> Vec<(u64, u64, Tag)> {
        let mut all: Vec<(u64, u64, Tag)> = Vec::new();
        if self.bytes == 0 {
            return all;
        }
        if let Some(parts) = self.of.parts_of_long(start, len) {
            parts.into_iter().for_each(|(start, len)| all.extend(self.drain(start, len)));
            return all;
        }
        words(start, len, |number, w, mask| {
            let Some(at) = self.of.find(number) else { return };
            let page = &mut self.pages[at];
            let hit = page.wanted[w] & mask;
            self.bytes -= u64::from(hit.count_ones());
            page.wanted[w] ^= hit;
            bits(hit, |bit| {
                let tag = page.tags.as_ref().map_or(Tag::SURE, |tags| tags[64 * w + bit]);
                let from = number * PAGE + (64 * w + bit) as u64;
                match all.last_mut() {
                    Some((s, n, known)) if *s + *n == from && *known == tag => *n += 1,
                    _ => all.push((from, 1, tag)),
                }
            });
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against one tag a byte.
        #[test]
        fn bits_are_bytes(
            ops in proptest::collection::vec((0u8..4, 0u64..9000, 0u64..5000, 0usize..4), 1..40),
            short in any::<bool>(),
        ) {
            let mut tags = Tags::default();
            let mut choice = vec![Tag::SURE, Tag::SURE];
            for _ in 0..2 {
                let group = tags.new_group();
                choice.push(tags.of_group(group));
            }
            let (mut held, mut bytes) = (Held::default(), vec![None::<Tag>; 16000]);
            for (op, start, len, tag) in ops {
                let len = if short { len % 24 } else { len };
                let (range, tag) = (start as usize..(start + len) as usize, choice[tag]);
                match op {
                    0 => {
                        let is_new = bytes[range.clone()].contains(&None);
                        prop_assert_eq!(held.want(start, len, tag, &mut tags), is_new);
                        for byte in &mut bytes[range] {
                            *byte = Some(byte.map_or(tag, |known| tags.join(known, tag)));
                        }
                    }
                    1 => {
                        let any = bytes[range.clone()].iter().any(Option::is_some);
                        prop_assert_eq!(held.touches(start, len), any);
                        prop_assert_eq!(held.take(start, len), any);
                        bytes[range].fill(None);
                    }
                    2 => {
                        let mut found = Vec::new();
                        held.tags(start, len, |tag| found.push(tag));
                        found.dedup();
                        let mut expected: Vec<Tag> = bytes[range].iter().flatten().copied().collect();
                        expected.dedup();
                        prop_assert_eq!(found, expected);
                    }
                    _ => {
                        let mut found = vec![None; 16000];
                        for (s, n, tag) in held.drain(start, len) {
                            prop_assert!(n > 0);
                            found[s as usize..(s + n) as usize].fill(Some(tag));
                        }
                        let mut expected = vec![None; 16000];
                        expected[range.clone()].copy_from_slice(&bytes[range.clone()]);
                        prop_assert_eq!(found, expected);
                        bytes[range].fill(None);
                    }
                }
                prop_assert_eq!(held.is_empty(), bytes.iter().all(Option::is_none));
            }
        }
    }
}

//! What is still looked for on the way back, and by whom.
//!
//! Each place that is looked for holds a list of the nodes that need it. Lists
//! are chains in one arena; when the place's assignment is found, its chain
//! becomes the new node's edges as it is. Nothing is copied, except where a
//! range of memory is cut in two.

use crate::filter::Filter;
use crate::slice::{Dependence, END, Edge, NodeId};
use crate::tags::{Tag, Tags};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A place is wanted, but nobody is noted down: the slice has too many nodes.
const NOBODY: u32 = END - 1;

/// A chain of edges. The default is "not wanted".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    head: u32,
    tail: u32,
    /// For whom, in a relevant slice.
    pub tag: Tag,
}

impl Default for List {
    fn default() -> List {
        List { head: END, tail: END, tag: Tag::SURE }
    }
}

impl List {
    /// Wanted, by nobody who is noted down.
    pub const ANONYMOUS: List = List { head: NOBODY, tail: NOBODY, tag: Tag::SURE };

    /// The same, for somebody.
    pub fn anonymous(tag: Tag) -> List {
        List { tag, ..List::ANONYMOUS }
    }

    pub fn is_wanted(self) -> bool {
        self.head != END
    }

    /// Wanted, if only by nobody who is noted down.
    pub fn or_nobody(self) -> List {
        if self.is_wanted() { self } else { List::ANONYMOUS }
    }

    /// Whether somebody is noted down who wants it, or what for.
    pub fn is_named(self) -> bool {
        self.has_edges() || self.tag != Tag::SURE
    }

    fn has_edges(self) -> bool {
        self.head < NOBODY
    }

    /// The first edge, for a node.
    pub fn first(self) -> u32 {
        if self.has_edges() { self.head } else { END }
    }
}

/// All edges of a slice.
#[derive(Default)]
pub struct Edges {
    pub all: Vec<Edge>,
    pub tags: Tags,
    /// What new lists are wanted for.
    pub tag: Tag,
}

impl Edges {
    pub fn one(&mut self, consumer: Option<NodeId>, how: Dependence) -> List {
        let Some(consumer) = consumer.filter(|_| self.all.len() < NOBODY as usize) else {
            return List { tag: self.tag, ..List::ANONYMOUS };
        };
        let at = self.all.len() as u32;
        self.all.push(Edge { consumer, how, next: END });
        List { head: at, tail: at, tag: self.tag }
    }

    /// Both lists in one.
    pub fn join(&mut self, a: List, b: List) -> List {
        if !a.is_wanted() {
            return b;
        }
        if !b.is_wanted() {
            return a;
        }
        let tag = self.tags.join(a.tag, b.tag);
        let (head, tail) = match (a.has_edges(), b.has_edges()) {
            (true, true) => {
                self.all[a.tail as usize].next = b.head;
                (a.head, b.tail)
            }
            (true, false) => (a.head, a.tail),
            (false, _) => (b.head, b.tail),
        };
        List { head, tail, tag }
    }

    fn copy(&mut self, list: List) -> List {
        if !list.is_wanted() {
            return list;
        }
        let before = std::mem::replace(&mut self.tag, list.tag);
        let mut out = List { tag: list.tag, ..List::ANONYMOUS };
        let mut at = list.first();
        while let Some(edge) = self.all.get(at as usize).copied() {
            at = edge.next;
            let one = self.one(Some(edge.consumer), edge.how);
            out = self.join(out, one);
        }
        self.tag = before;
        out
    }

    /// Changes what the edges of a list say.
    pub fn rewrite(&mut self, list: List, how: impl Fn(Dependence) -> Dependence) {
        let mut at = list.first();
        while let Some(edge) = self.all.get_mut(at as usize) {
            edge.how = how(edge.how);
            at = edge.next;
        }
    }

    pub fn iter(&self, list: List) -> impl Iterator<Item = (NodeId, Dependence)> + '_ {
        let mut at = list.first();
        std::iter::from_fn(move || {
            let edge = self.all.get(at as usize)?;
            at = edge.next;
            Some((edge.consumer, edge.how))
        })
    }
}

/// A wanted range, and who wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub start: u64,
    pub len: u64,
    pub list: List,
}

/// Wanted bytes of memory, as ranges that do not overlap.
#[derive(Default)]
pub struct Ranges {
    /// Start to length and list.
    map: BTreeMap<u64, (u64, List)>,
    filter: Filter,
}

impl Ranges {
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Clips so that no range wraps around.
    fn clip(start: u64, len: u64) -> u64 {
        len.min(u64::MAX - start)
    }

    /// Whether any byte of the range is wanted.
    pub fn touches(&self, start: u64, len: u64) -> bool {
        let end = start + Self::clip(start, len);
        self.map.range(..end).next_back().is_some_and(|(s, (n, _))| s + n > start)
    }

    /// False if no byte of the range is wanted; much quicker than [`Ranges::touches`]
    /// where few are.
    #[inline]
    pub fn may_touch(&self, start: u64, len: u64) -> bool {
        !self.map.is_empty() && self.filter.may_hold(start, len) && self.touches(start, len)
    }

    /// The wanted parts of a range.
    pub fn parts(&self, start: u64, len: u64) -> impl Iterator<Item = Piece> + '_ {
        let end = start + Self::clip(start, len);
        let parts = self.map.range(..end).rev().take_while(move |(s, (n, _))| **s + n > start);
        parts.map(|(s, (n, list))| Piece { start: *s, len: *n, list: *list })
    }

    /// Takes the wanted bytes of a range out.
    pub fn take(&mut self, start: u64, len: u64, edges: &mut Edges) -> Vec<Piece> {
        // Most often what is written is what was wanted.
        if let Entry::Occupied(piece) = self.map.entry(start)
            && piece.get().0 == len
        {
            let (len, list) = piece.remove();
            return vec![Piece { start, len, list }];
        }
        if !self.touches(start, len) {
            return Vec::new();
        }
        let end = start + Self::clip(start, len);
        self.cut(start, edges);
        self.cut(end, edges);
        let keys: Vec<u64> = self.map.range(start..end).map(|(s, _)| *s).collect();
        keys.into_iter()
            .filter_map(|s| {
                let (len, list) = self.map.remove(&s)?;
                Some(Piece { start: s, len, list })
            })
            .collect()
    }

    /// Makes a border at an address.
    fn cut(&mut self, at: u64, edges: &mut Edges) {
        if let Some((&s, &(n, list))) = self.map.range(..at).next_back()
            && s + n > at
        {
            let second = edges.copy(list);
            self.map.insert(s, (at - s, list));
            self.map.insert(at, (s + n - at, second));
        }
    }

    /// Wants a range, also for those who want parts of it already. Takes the
    /// list over.
    pub fn want(&mut self, start: u64, len: u64, list: List, edges: &mut Edges) {
        let len = Self::clip(start, len);
        if len == 0 {
            return;
        }
        if self.filter.add(start, len, self.map.len()) {
            self.filter = Filter::of(self.map.iter().map(|(s, (n, _))| (*s, *n)).chain([(start, len)]));
        }
        if let Some((_, wanted)) = self.map.get_mut(&start).filter(|piece| piece.0 == len) {
            *wanted = edges.join(*wanted, list);
            return;
        }
        if !self.touches(start, len) {
            self.map.insert(start, (len, list));
            return;
        }
        let end = start + len;
        let old = self.take(start, len, edges);
        let mut at = start;
        // Each part needs a chain of its own.
        let mut next = list;
        let mut parts = Vec::with_capacity(2 * old.len() + 1);
        for piece in old {
            if piece.start > at {
                parts.push((at, piece.start - at, List::default()));
            }
            parts.push((piece.start, piece.len, piece.list));
            at = piece.start + piece.len;
        }
        if at < end {
            parts.push((at, end - at, List::default()));
        }
        let last = parts.len() - 1;
        for (i, (s, n, before)) in parts.into_iter().enumerate() {
            let mine = next;
            if i < last {
                next = edges.copy(mine);
            }
            let joined = edges.join(before, mine);
            self.map.insert(s, (n, joined));
        }
    }

    /// All that is left.
    pub fn drain(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.map)
            .into_iter()
            .map(|(start, (len, list))| Piece { start, len, list })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn consumers(edges: &Edges, list: List) -> Vec<NodeId> {
        let mut all: Vec<NodeId> = edges.iter(list).map(|e| e.0).collect();
        all.sort_unstable();
        all
    }

    proptest! {
        /// Against one set of consumers a byte.
        #[test]
        fn ranges_are_sets_of_bytes(ops in proptest::collection::vec((any::<bool>(), 0u64..64, 0u64..20), 1..40)) {
            let (mut ranges, mut edges) = (Ranges::default(), Edges::default());
            let mut bytes: Vec<Vec<NodeId>> = vec![Vec::new(); 128];
            for (n, (want, start, len)) in ops.into_iter().enumerate() {
                let n = n as NodeId;
                if want {
                    let list = edges.one(Some(n), Dependence::Control);
                    ranges.want(start, len, list, &mut edges);
                    for b in start..start + len {
                        bytes[b as usize].push(n);
                    }
                } else {
                    let mut got = vec![Vec::new(); 128];
                    for piece in ranges.take(start, len, &mut edges) {
                        for b in piece.start..piece.start + piece.len {
                            got[b as usize] = consumers(&edges, piece.list);
                        }
                    }
                    for b in 0..128u64 {
                        let inside = (start..start + len).contains(&b);
                        let mut expected = Vec::new();
                        if inside {
                            expected = std::mem::take(&mut bytes[b as usize]);
                        }
                        prop_assert_eq!(&got[b as usize], &expected, "byte {}", b);
                    }
                }
                for b in 0..128u64 {
                    prop_assert_eq!(ranges.touches(b, 1), !bytes[b as usize].is_empty());
                    prop_assert_eq!(ranges.may_touch(b, 1), !bytes[b as usize].is_empty());
                }
            }
        }
    }

    #[test]
    fn the_end_of_the_address_space_has_no_surprises() {
        let (mut ranges, mut edges) = (Ranges::default(), Edges::default());
        let list = edges.one(Some(1), Dependence::Control);
        ranges.want(u64::MAX - 4, 100, list, &mut edges);
        assert!(ranges.touches(u64::MAX - 1, 1));
        assert!(!ranges.touches(0, 50));
        assert_eq!(ranges.take(u64::MAX - 2, u64::MAX, &mut edges).len(), 1);
        assert_eq!(ranges.drain().len(), 1);
    }

    #[test]
    fn a_place_can_be_wanted_by_nobody_in_particular() {
        let mut edges = Edges::default();
        let nobody = edges.one(None, Dependence::Control);
        assert!(nobody.is_wanted());
        assert_eq!(edges.iter(nobody).count(), 0);
        let somebody = edges.one(Some(3), Dependence::Control);
        let both = edges.join(nobody, somebody);
        assert_eq!(consumers(&edges, both), [3]);
    }
}

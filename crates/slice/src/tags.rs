//! For whom a place is wanted: for sure, or only because something could have gone another
//! way.
//!
//! In a dynamic slice everything is wanted for sure, and there is one tag. In a relevant slice
//! a branch that is taken only because its other way could have mattered wants its operands
//! for a *group*, and groups are put together as control dependence leads from their members
//! to a common branch. Groups are a forest, so that putting two together costs nothing,
//! whatever they want.

use program::inst::Reg;
use rustc_hash::FxHashMap as Map;

/// A number in [`Tags`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tag(u32);

impl Tag {
    /// Wanted for sure, and of no phi's making.
    pub const SURE: Tag = Tag(0);
}

/// A number of a group.
pub type Group = u32;

/// A number of a set of groups.
type Groups = u32;

/// Whoever is sure to want something: which groups want it as well is all the same.
const SURELY: Groups = 0;

/// So many answers are kept at hand.
const LATELY: usize = 4096;

/// A number of a set of phis; 0 is the empty one.
pub type Phis = u32;

/// What a tag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Wish {
    by: Groups,
    through: Phis,
}

/// All tags and groups of a walk. Everything is numbered: a walk makes millions of tags, and
/// most of what is asked was asked before.
pub struct Tags {
    list: Vec<Wish>,
    index: Map<Wish, Tag>,
    /// Sets of groups: where each is in `members`.
    sets: Vec<(u32, u32)>,
    members: Vec<Group>,
    joined: Map<(Groups, Groups), Groups>,
    /// The tag of each group alone, once it is needed.
    alone: Vec<Option<Tag>>,
    /// What was asked last, by a hash of it: two tags, and a tag and a phi.
    lately_joined: Vec<(Tag, Tag, Tag)>,
    lately_passed: Vec<(Tag, Reg, Tag)>,
    phis: Vec<Vec<Reg>>,
    phis_index: Map<Vec<Reg>, Phis>,
    phis_joined: Map<(Phis, Phis), Phis>,
    passed: Map<(Phis, Reg), Phis>,
    parent: Vec<Group>,
}

impl Default for Tags {
    fn default() -> Tags {
        let sure = Wish { by: SURELY, through: 0 };
        Tags {
            list: vec![sure],
            index: Map::from_iter([(sure, Tag::SURE)]),
            sets: vec![(0, 0)],
            members: Vec::new(),
            joined: Map::default(),
            alone: Vec::new(),
            // What is there at first is true: nothing changes by being joined with itself.
            lately_joined: vec![(Tag::SURE, Tag::SURE, Tag::SURE); LATELY],
            lately_passed: vec![(Tag::SURE, Reg::MAX, Tag::SURE); LATELY],
            phis: vec![Vec::new()],
            phis_index: Map::from_iter([(Vec::new(), 0)]),
            phis_joined: Map::default(),
            passed: Map::default(),
            parent: Vec::new(),
        }
    }
}

impl Tags {
    fn get(&self, tag: Tag) -> Wish {
        self.list[tag.0 as usize]
    }

    /// Whether it is wanted by something that is in the slice by itself.
    pub fn is_sure(&self, tag: Tag) -> bool {
        self.get(tag).by == SURELY
    }

    /// Phis that the value of a register went through on its way to whom it is wanted by.
    pub fn passed(&self, tag: Tag) -> Phis {
        self.get(tag).through
    }

    /// The phis of a set, in order.
    pub fn phis(&self, set: Phis) -> &[Reg] {
        &self.phis[set as usize]
    }

    fn set(&mut self, mut list: Vec<Reg>) -> Phis {
        list.sort_unstable();
        list.dedup();
        let next = self.phis.len() as Phis;
        *self.phis_index.entry(list).or_insert_with_key(|list| {
            self.phis.push(list.clone());
            next
        })
    }

    fn add(&mut self, wish: Wish) -> Tag {
        let next = Tag(self.list.len() as u32);
        *self.index.entry(wish).or_insert_with(|| {
            self.list.push(wish);
            next
        })
    }

    fn members(&self, set: Groups) -> &[Group] {
        let (start, end) = self.sets[set as usize];
        &self.members[start as usize..end as usize]
    }

    fn new_set(&mut self, groups: &[Group]) -> Groups {
        let start = self.members.len() as u32;
        self.members.extend_from_slice(groups);
        self.sets.push((start, self.members.len() as u32));
        self.sets.len() as Groups - 1
    }

    /// Wanted by a group.
    pub fn of_group(&mut self, group: Group) -> Tag {
        let group = self.find(group);
        if let Some(tag) = self.alone[group as usize] {
            return tag;
        }
        let wish = Wish { by: self.new_set(&[group]), through: 0 };
        // Nobody else makes a tag of this set: it need not be found again by what it says.
        let tag = Tag(self.list.len() as u32);
        self.list.push(wish);
        self.alone[group as usize] = Some(tag);
        tag
    }

    /// Wanted by both.
    pub fn join(&mut self, a: Tag, b: Tag) -> Tag {
        if a == b {
            return a;
        }
        let place = (a.0.wrapping_mul(31) ^ b.0) as usize % LATELY;
        let (x, y, known) = self.lately_joined[place];
        if (x, y) == (a, b) {
            return known;
        }
        let both = self.join_anew(a, b);
        self.lately_joined[place] = (a, b, both);
        both
    }

    fn join_anew(&mut self, a: Tag, b: Tag) -> Tag {
        let (x, y) = (self.get(a), self.get(b));
        let by = self.join_groups(x.by, y.by);
        let through = self.join_phis(x.through, y.through);
        let wish = Wish { by, through };
        match wish {
            _ if wish == x => a,
            _ if wish == y => b,
            _ => self.add(wish),
        }
    }

    fn join_groups(&mut self, a: Groups, b: Groups) -> Groups {
        if a == b || a == SURELY || b == SURELY {
            return a.min(b);
        }
        if let Some(known) = self.joined.get(&(a, b)) {
            return *known;
        }
        let mut groups = [self.members(a), self.members(b)].concat();
        groups.iter_mut().for_each(|g| *g = self.find(*g));
        groups.sort_unstable();
        groups.dedup();
        let set = match groups[..] {
            _ if groups == self.members(a) => a,
            _ if groups == self.members(b) => b,
            _ => self.new_set(&groups),
        };
        self.joined.insert((a, b), set);
        set
    }

    fn join_phis(&mut self, a: Phis, b: Phis) -> Phis {
        if a == b || a == 0 || b == 0 {
            return a.max(b);
        }
        if let Some(known) = self.phis_joined.get(&(a, b)) {
            return *known;
        }
        let set = self.set([self.phis(a), self.phis(b)].concat());
        self.phis_joined.insert((a, b), set);
        set
    }

    /// The same, after the value went through a phi.
    pub fn through(&mut self, tag: Tag, phi: Reg) -> Tag {
        let place = (tag.0.wrapping_mul(31) ^ phi) as usize % LATELY;
        let (x, y, known) = self.lately_passed[place];
        if (x, y) == (tag, phi) {
            return known;
        }
        let behind = self.pass_anew(tag, phi);
        self.lately_passed[place] = (tag, phi, behind);
        behind
    }

    fn pass_anew(&mut self, tag: Tag, phi: Reg) -> Tag {
        let wish = self.get(tag);
        let through = match self.passed.get(&(wish.through, phi)) {
            Some(known) => *known,
            None => {
                let set = self.set([self.phis(wish.through), &[phi]].concat());
                self.passed.insert((wish.through, phi), set);
                set
            }
        };
        if through == wish.through { tag } else { self.add(Wish { through, ..wish }) }
    }

    pub fn new_group(&mut self) -> Group {
        self.parent.push(self.parent.len() as Group);
        self.alone.push(None);
        self.parent.len() as Group - 1
    }

    /// The group that a group is part of now.
    pub fn find(&mut self, mut group: Group) -> Group {
        while self.parent[group as usize] != group {
            let up = self.parent[self.parent[group as usize] as usize];
            self.parent[group as usize] = up;
            group = up;
        }
        group
    }

    /// Makes two groups one.
    pub fn unite(&mut self, a: Group, b: Group) -> Group {
        let (a, b) = (self.find(a), self.find(b));
        let (small, large) = (a.max(b), a.min(b));
        self.parent[small as usize] = large;
        large
    }

    /// Whether something is wanted by more than these groups (which must be found ones).
    pub fn is_beyond(&mut self, tag: Tag, groups: &[Group]) -> bool {
        let by = self.get(tag).by;
        if by == SURELY || groups.is_empty() {
            return true;
        }
        let (start, end) = self.sets[by as usize];
        (start..end).any(|i| {
            let group = self.members[i as usize];
            !groups.contains(&self.find(group))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Tags against sets, groups against partitions.
        #[test]
        fn tags_are_sets(ops in proptest::collection::vec((0u8..4, 0usize..8, 0usize..8), 1..60)) {
            let mut tags = Tags::default();
            let groups: Vec<Group> = (0..8).map(|_| tags.new_group()).collect();
            let mut part: Vec<usize> = (0..8).collect();
            // Each of the places: whether sure, its groups, its phis.
            let mut model: Vec<(bool, BTreeSet<usize>, BTreeSet<Reg>)> =
                (0..8).map(|g| (false, BTreeSet::from([g]), BTreeSet::new())).collect();
            let mut real: Vec<Tag> = groups.iter().map(|g| tags.of_group(*g)).collect();
            for (op, a, b) in ops {
                match op {
                    0 => {
                        real[a] = tags.join(real[a], real[b]);
                        let other = model[b].clone();
                        model[a].0 |= other.0;
                        model[a].1.extend(other.1);
                        model[a].2.extend(other.2);
                    }
                    1 => {
                        real[a] = tags.through(real[a], b as Reg);
                        model[a].2.insert(b as Reg);
                    }
                    2 => {
                        tags.unite(groups[a], groups[b]);
                        let (from, to) = (part[a], part[b]);
                        part.iter_mut().filter(|p| **p == from).for_each(|p| *p = to);
                    }
                    _ => {
                        real[a] = tags.join(real[a], Tag::SURE);
                        model[a].0 = true;
                    }
                }
                let chosen = tags.find(groups[b]);
                for (tag, wish) in real.iter().zip(&model) {
                    prop_assert_eq!(tags.is_sure(*tag), wish.0);
                    let through: Vec<Reg> = wish.2.iter().copied().collect();
                    prop_assert_eq!(tags.phis(tags.passed(*tag)), &through[..]);
                    let beyond = wish.0 || wish.1.iter().any(|g| part[*g] != part[b]);
                    prop_assert_eq!(tags.is_beyond(*tag, &[chosen]), beyond);
                }
            }
        }
    }
}

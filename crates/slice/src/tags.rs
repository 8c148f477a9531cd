//! For whom a place is wanted: for sure, or only because something could have gone another
//! way.
//!
//! In a dynamic slice everything is wanted for sure, and there is one tag. In a relevant slice
//! a branch that is taken only because its other way could have mattered wants its operands
//! for a *group*, and groups are put together as control dependence leads from their members
//! to a common branch. Groups are a forest, so that putting two together costs nothing,
//! whatever they want.

use program::inst::Reg;
use std::collections::HashMap;

/// A number in [`Tags`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tag(u32);

impl Tag {
    /// Wanted for sure, and of no phi's making.
    pub const SURE: Tag = Tag(0);
}

/// A number of a group.
pub type Group = u32;

/// What a tag says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wish {
    /// Wanted by something that is in the slice by itself.
    pub sure: bool,
    /// Groups that want it, in order.
    pub groups: Vec<Group>,
    /// Phis that the value of a register went through on its way to whom it is wanted by: a
    /// number of a set.
    pub through: Phis,
}

/// A number of a set of phis; 0 is the empty one.
pub type Phis = u32;

/// All tags and groups of a walk.
pub struct Tags {
    list: Vec<Wish>,
    index: HashMap<Wish, Tag>,
    joined: HashMap<(Tag, Tag), Tag>,
    passed: HashMap<(Tag, Reg), Tag>,
    phis: Vec<Vec<Reg>>,
    phis_index: HashMap<Vec<Reg>, Phis>,
    parent: Vec<Group>,
}

impl Default for Tags {
    fn default() -> Tags {
        let sure = Wish { sure: true, ..Wish::default() };
        Tags {
            list: vec![sure.clone()],
            index: HashMap::from([(sure, Tag::SURE)]),
            joined: HashMap::new(),
            passed: HashMap::new(),
            phis: vec![Vec::new()],
            phis_index: HashMap::from([(Vec::new(), 0)]),
            parent: Vec::new(),
        }
    }
}

impl Tags {
    pub fn get(&self, tag: Tag) -> &Wish {
        &self.list[tag.0 as usize]
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
        *self.index.entry(wish).or_insert_with_key(|wish| {
            self.list.push(wish.clone());
            next
        })
    }

    /// Wanted by a group.
    pub fn of_group(&mut self, group: Group) -> Tag {
        let groups = vec![self.find(group)];
        self.add(Wish { groups, ..Wish::default() })
    }

    /// Wanted by both.
    pub fn join(&mut self, a: Tag, b: Tag) -> Tag {
        if a == b {
            return a;
        }
        if let Some(tag) = self.joined.get(&(a, b)) {
            return *tag;
        }
        let (x, y) = (self.get(a).clone(), self.get(b).clone());
        let mut groups: Vec<Group> = x.groups.into_iter().chain(y.groups).map(|g| self.find(g)).collect();
        groups.sort_unstable();
        groups.dedup();
        let through = match (x.through, y.through) {
            (a, b) if a == b => a,
            (a, b) => self.set([self.phis(a), self.phis(b)].concat()),
        };
        let tag = self.add(Wish { sure: x.sure || y.sure, groups, through });
        self.joined.insert((a, b), tag);
        tag
    }

    /// The same, after the value went through a phi.
    pub fn through(&mut self, tag: Tag, phi: Reg) -> Tag {
        if let Some(after) = self.passed.get(&(tag, phi)) {
            return *after;
        }
        let mut wish = self.get(tag).clone();
        wish.through = self.set([self.phis(wish.through), &[phi]].concat());
        let after = self.add(wish);
        self.passed.insert((tag, phi), after);
        after
    }

    pub fn new_group(&mut self) -> Group {
        self.parent.push(self.parent.len() as Group);
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
        let wish = self.get(tag);
        if wish.sure || groups.is_empty() {
            return true;
        }
        for i in 0..wish.groups.len() {
            let group = self.list[tag.0 as usize].groups[i];
            if !groups.contains(&self.find(group)) {
                return true;
            }
        }
        false
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
                    prop_assert_eq!(tags.get(*tag).sure, wish.0);
                    let through: Vec<Reg> = wish.2.iter().copied().collect();
                    prop_assert_eq!(tags.phis(tags.get(*tag).through), &through[..]);
                    let beyond = wish.0 || wish.1.iter().any(|g| part[*g] != part[b]);
                    prop_assert_eq!(tags.is_beyond(*tag, &[chosen]), beyond);
                }
            }
        }
    }
}

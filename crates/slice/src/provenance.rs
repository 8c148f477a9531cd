//! Provenance in relevant slices: whether something is live definitely, or only for branch alternatives that
//! could have mattered.
//!
//! In a dynamic slice everything is live definitely. In a relevant slice the operands of a dummy
//! branch are live for a *group*, and groups are united as control dependence leads from their
//! members to a common branch. Groups are a union-find forest, so that uniting two costs nothing,
//! whatever is live for them. A provenance also holds the phis that a value has passed, by which
//! is decided whether an alternative would have brought in another one, and the labels of those
//! instructions that it is live for, if that is asked ([`crate::among`]).

use crate::label_sets::{self, LabelSets, Labels};
use program::inst::Reg;
use rustc_hash::FxHashMap as Map;

/// Index in [`Provenances`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Provenance(u32);

impl Provenance {
    /// Definitely live, and passed no phi.
    pub const DEFINITE: Provenance = Provenance(0);
}

/// Number of a group.
pub type Group = u32;

/// Number of a set of groups.
type Groups = u32;

/// Definitely live; for which groups as well makes no difference.
const DEFINITELY: Groups = 0;

/// Entries of each cache.
const CACHED: usize = 4096;

/// Number of a set of phis; 0 is the empty set.
pub type Phis = u32;

/// An interned provenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ProvenanceData {
    by: Groups,
    through: Phis,
    labels: Labels,
}

/// All provenances and groups of a pass, interned: a pass makes millions of provenances, most of them
/// repeatedly.
pub struct Provenances {
    list: Vec<ProvenanceData>,
    index: Map<ProvenanceData, Provenance>,
    /// Sets of groups, as ranges of `members`.
    sets: Vec<(u32, u32)>,
    members: Vec<Group>,
    joined: Map<(Groups, Groups), Groups>,
    /// The provenance of each group alone, once it was needed.
    alone: Vec<Option<Provenance>>,
    /// Direct-mapped caches of results: for two provenances, and for a provenance and a phi.
    cached_joined: Vec<(Provenance, Provenance, Provenance)>,
    cached_passed: Vec<(Provenance, Reg, Provenance)>,
    phis: Vec<Vec<Reg>>,
    phis_index: Map<Vec<Reg>, Phis>,
    phis_joined: Map<(Phis, Phis), Phis>,
    passed: Map<(Phis, Reg), Phis>,
    parent: Vec<Group>,
    pub labels: LabelSets,
}

impl Default for Provenances {
    fn default() -> Provenances {
        let sure = ProvenanceData { by: DEFINITELY, through: 0, labels: label_sets::NONE };
        Provenances {
            list: vec![sure],
            index: Map::from_iter([(sure, Provenance::DEFINITE)]),
            sets: vec![(0, 0)],
            members: Vec::new(),
            joined: Map::default(),
            alone: Vec::new(),
            // The initial entries are valid: joining a provenance with itself does not change it.
            cached_joined: vec![(Provenance::DEFINITE, Provenance::DEFINITE, Provenance::DEFINITE); CACHED],
            cached_passed: vec![(Provenance::DEFINITE, Reg::MAX, Provenance::DEFINITE); CACHED],
            phis: vec![Vec::new()],
            phis_index: Map::from_iter([(Vec::new(), 0)]),
            phis_joined: Map::default(),
            passed: Map::default(),
            parent: Vec::new(),
            labels: LabelSets::default(),
        }
    }
}

impl Provenances {
    fn get(&self, provenance: Provenance) -> ProvenanceData {
        self.list[provenance.0 as usize]
    }

    /// Whether it is live for a node that is definitely in the slice.
    pub fn is_definite(&self, provenance: Provenance) -> bool {
        self.get(provenance).by == DEFINITELY
    }

    /// The phis that the value of a register passed on the path to its uses.
    pub fn passed(&self, provenance: Provenance) -> Phis {
        self.get(provenance).through
    }

    /// The instructions that it is live for.
    pub fn labels(&self, provenance: Provenance) -> Labels {
        self.get(provenance).labels
    }

    /// Live definitely, for some instructions, and passed by no phi.
    pub fn labelled(&mut self, labels: Labels) -> Provenance {
        match labels {
            label_sets::NONE => Provenance::DEFINITE,
            labels => self.add(ProvenanceData { by: DEFINITELY, through: 0, labels }),
        }
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

    fn add(&mut self, reason: ProvenanceData) -> Provenance {
        let next = Provenance(self.list.len() as u32);
        *self.index.entry(reason).or_insert_with(|| {
            self.list.push(reason);
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

    /// The provenance of being live for a group.
    pub fn of_group(&mut self, group: Group) -> Provenance {
        let group = self.find(group);
        if let Some(provenance) = self.alone[group as usize] {
            return provenance;
        }
        let reason = ProvenanceData { by: self.new_set(&[group]), through: 0, labels: label_sets::NONE };
        // This is the only provenance of the set: it need not be interned.
        let provenance = Provenance(self.list.len() as u32);
        self.list.push(reason);
        self.alone[group as usize] = Some(provenance);
        provenance
    }

    /// The provenance of being live for both.
    pub fn join(&mut self, a: Provenance, b: Provenance) -> Provenance {
        if a == b {
            return a;
        }
        let place = (a.0.wrapping_mul(31) ^ b.0) as usize % CACHED;
        let (x, y, known) = self.cached_joined[place];
        if (x, y) == (a, b) {
            return known;
        }
        let both = self.join_uncached(a, b);
        self.cached_joined[place] = (a, b, both);
        both
    }

    fn join_uncached(&mut self, a: Provenance, b: Provenance) -> Provenance {
        let (x, y) = (self.get(a), self.get(b));
        let by = self.join_groups(x.by, y.by);
        let through = self.join_phis(x.through, y.through);
        let labels = self.labels.union(x.labels, y.labels);
        let reason = ProvenanceData { by, through, labels };
        match reason {
            _ if reason == x => a,
            _ if reason == y => b,
            _ => self.add(reason),
        }
    }

    fn join_groups(&mut self, a: Groups, b: Groups) -> Groups {
        if a == b || a == DEFINITELY || b == DEFINITELY {
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

    /// The provenance after the value passed a phi.
    pub fn through(&mut self, provenance: Provenance, phi: Reg) -> Provenance {
        let place = (provenance.0.wrapping_mul(31) ^ phi) as usize % CACHED;
        let (x, y, known) = self.cached_passed[place];
        if (x, y) == (provenance, phi) {
            return known;
        }
        let behind = self.through_uncached(provenance, phi);
        self.cached_passed[place] = (provenance, phi, behind);
        behind
    }

    fn through_uncached(&mut self, provenance: Provenance, phi: Reg) -> Provenance {
        let reason = self.get(provenance);
        let through = match self.passed.get(&(reason.through, phi)) {
            Some(known) => *known,
            None => {
                let set = self.set([self.phis(reason.through), &[phi]].concat());
                self.passed.insert((reason.through, phi), set);
                set
            }
        };
        if through == reason.through { provenance } else { self.add(ProvenanceData { through, ..reason }) }
    }

    pub fn new_group(&mut self) -> Group {
        self.parent.push(self.parent.len() as Group);
        self.alone.push(None);
        self.parent.len() as Group - 1
    }

    /// The representative of a group.
    pub fn find(&mut self, mut group: Group) -> Group {
        while self.parent[group as usize] != group {
            let up = self.parent[self.parent[group as usize] as usize];
            self.parent[group as usize] = up;
            group = up;
        }
        group
    }

    /// Unites two groups.
    pub fn unite(&mut self, a: Group, b: Group) -> Group {
        let (a, b) = (self.find(a), self.find(b));
        let (small, large) = (a.max(b), a.min(b));
        self.parent[small as usize] = large;
        large
    }

    /// Whether it is live for more than these groups (which must be representatives).
    pub fn is_live_beyond(&mut self, provenance: Provenance, groups: &[Group]) -> bool {
        let by = self.get(provenance).by;
        if by == DEFINITELY || groups.is_empty() {
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
        /// Compares provenances with sets, and groups with partitions.
        #[test]
        fn tags_are_sets(ops in proptest::collection::vec((0u8..4, 0usize..8, 0usize..8), 1..60)) {
            let mut provenances = Provenances::default();
            let groups: Vec<Group> = (0..8).map(|_| provenances.new_group()).collect();
            let mut part: Vec<usize> = (0..8).collect();
            // For each location: whether definitely live, its groups, its phis.
            let mut model: Vec<(bool, BTreeSet<usize>, BTreeSet<Reg>)> =
                (0..8).map(|g| (false, BTreeSet::from([g]), BTreeSet::new())).collect();
            let mut real: Vec<Provenance> = groups.iter().map(|g| provenances.of_group(*g)).collect();
            for (op, a, b) in ops {
                match op {
                    0 => {
                        real[a] = provenances.join(real[a], real[b]);
                        let other = model[b].clone();
                        model[a].0 |= other.0;
                        model[a].1.extend(other.1);
                        model[a].2.extend(other.2);
                    }
                    1 => {
                        real[a] = provenances.through(real[a], b as Reg);
                        model[a].2.insert(b as Reg);
                    }
                    2 => {
                        provenances.unite(groups[a], groups[b]);
                        let (from, to) = (part[a], part[b]);
                        part.iter_mut().filter(|p| **p == from).for_each(|p| *p = to);
                    }
                    _ => {
                        real[a] = provenances.join(real[a], Provenance::DEFINITE);
                        model[a].0 = true;
                    }
                }
                let chosen = provenances.find(groups[b]);
                for (provenance, reason) in real.iter().zip(&model) {
                    prop_assert_eq!(provenances.is_definite(*provenance), reason.0);
                    let through: Vec<Reg> = reason.2.iter().copied().collect();
                    prop_assert_eq!(provenances.phis(provenances.passed(*provenance)), &through[..]);
                    let beyond = reason.0 || reason.1.iter().any(|g| part[*g] != part[b]);
                    prop_assert_eq!(provenances.is_live_beyond(*provenance, &[chosen]), beyond);
                }
            }
        }
    }
}

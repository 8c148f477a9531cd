//! Small sets of variables, interned.

use crate::table::{Table, hash};

/// The largest interned set.
const SMALL: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SetId(u32);

#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// The start of each set in `members`; set 0, the empty one, is not stored.
    starts: Vec<u32>,
    members: Vec<u32>,
    table: Table,
}

impl Sets {
    pub const EMPTY: SetId = SetId(0);
    pub const LARGE: SetId = SetId(u32::MAX);

    /// The members in ascending order; `None` for a set that is too large to be interned.
    pub fn members(&self, set: SetId) -> Option<&[u32]> {
        match set {
            Sets::EMPTY => Some(&[]),
            Sets::LARGE => None,
            SetId(id) => Some(self.slice(id - 1)),
        }
    }

    fn slice(&self, at: u32) -> &[u32] {
        let start = self.starts[at as usize] as usize;
        let end = self.starts.get(at as usize + 1).map_or(self.members.len(), |&end| end as usize);
        &self.members[start..end]
    }

    pub fn singleton(&mut self, variable: u32) -> SetId {
        self.intern(&[variable])
    }

    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == Sets::EMPTY {
            return a;
        }
        if a == Sets::EMPTY {
            return b;
        }
        let (Some(left), Some(right)) = (self.members(a), self.members(b)) else {
            return Sets::LARGE;
        };
        let mut all = [0; 2 * SMALL];
        let mut len = 0;
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            let next = match (left.get(i), right.get(j)) {
                (Some(&x), Some(&y)) => x.min(y),
                (Some(&x), None) | (None, Some(&x)) => x,
                (None, None) => break,
            };
            i += usize::from(left.get(i) == Some(&next));
            j += usize::from(right.get(j) == Some(&next));
            all[len] = next;
            len += 1;
        }
        if len > SMALL { Sets::LARGE } else { self.intern(&all[..len]) }
    }

    fn intern(&mut self, members: &[u32]) -> SetId {
        let key = hash(members.iter().copied());
        if let Some(found) = self.table.find(key, |at| self.slice(at) == members) {
            return SetId(found + 1);
        }
        let at = self.starts.len() as u32;
        assert!(self.members.len() + members.len() < u32::MAX as usize, "more variable sets than handles");
        self.starts.push(self.members.len() as u32);
        self.members.extend_from_slice(members);
        let mut table = std::mem::take(&mut self.table);
        table.insert(key, at, |at| hash(self.slice(at).iter().copied()));
        self.table = table;
        SetId(at + 1)
    }

    pub fn bytes(&self) -> usize {
        (self.starts.capacity() + self.members.capacity()) * 4 + self.table.bytes()
    }
}

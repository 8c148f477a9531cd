//! Branches whose condition is fleeting, and the events that depend on them.
//!
//! A decision extends from the branch to the branch block's immediate post-dominator in the same activation,
//! including all calls in between. The comparison determines whether the runs diverged at it: if the first
//! event after it has its partner in the other run, both runs took the same edge, and later differences have
//! another cause.

/// One decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The event that followed the branch.
    pub first: u32,
    /// The event that followed the post-dominator.
    pub last: u32,
    /// What the condition was computed from, as bits for [`words`](super::words).
    pub parts: u8,
    /// The innermost enclosing decision at that time, by number.
    parent: u32,
}

const NONE: u32 = u32::MAX;
/// The limit of stored decisions. Differences that depend on later ones are not attributed to them.
const MOST: usize = 1 << 24;

/// A decision whose post-dominator has not been reached.
struct Open {
    number: u32,
    depth: u32,
    /// The branch block's immediate post-dominator.
    until: u32,
}

/// All decisions of a run, in order.
#[derive(Default)]
pub(crate) struct Decisions {
    all: Vec<Decision>,
    open: Vec<Open>,
}

impl Decisions {
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Adds a decision in the activation at this depth, which ends at block `until`.
    pub(super) fn made(&mut self, next: usize, parts: u8, depth: u32, until: u32) {
        let next = next as u32;
        if let Some(open) = self.open.last()
            && let Some(same) = self.all.get_mut(open.number as usize)
            && same.first == next
            && (open.depth, open.until) == (depth, until)
        {
            same.parts |= parts;
            return;
        }
        if self.all.len() < MOST {
            let number = self.all.len() as u32;
            let parent = self.open.last().map_or(NONE, |o| o.number);
            self.all.push(Decision { first: next, last: NONE, parts, parent });
            self.open.push(Open { number, depth, until });
        }
    }

    /// Ends the decisions whose post-dominator is this block.
    #[inline]
    pub(super) fn on_block(&mut self, next: usize, depth: u32, block: u32) {
        while let Some(open) = self.open.last()
            && open.depth == depth
            && open.until == block
        {
            self.close(next);
        }
    }

    /// Ends the decisions of activations that are not among the outer `depth` ones.
    #[inline]
    pub(crate) fn left(&mut self, next: usize, depth: usize) {
        while self.open.last().is_some_and(|o| o.depth as usize > depth) {
            self.close(next);
        }
    }

    fn close(&mut self, next: usize) {
        if let Some(open) = self.open.pop()
            && let Some(decision) = self.all.get_mut(open.number as usize)
        {
            decision.last = next as u32;
        }
    }

    pub(crate) fn finish(self) -> Vec<Decision> {
        self.all
    }
}

/// The decisions that extend over an event, innermost first.
pub(crate) fn around(all: &[Decision], event: usize) -> impl Iterator<Item = Decision> + '_ {
    let n = all.partition_point(|d| d.first as usize <= event);
    let mut next = n.checked_sub(1).map_or(NONE, |n| n as u32);
    std::iter::from_fn(move || {
        let decision = *all.get(next as usize)?;
        next = decision.parent;
        Some(decision)
    })
    .filter(move |d| event <= d.last as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_reach_to_where_ways_meet() {
        let mut d = Decisions::default();
        d.made(10, 4, 1, 7);
        d.made(12, 2, 2, 3);
        d.made(12, 8, 2, 3);
        d.on_block(15, 1, 3);
        d.on_block(15, 2, 3);
        d.made(17, 16, 3, 9);
        d.left(18, 2);
        d.on_block(20, 1, 7);
        assert!(!d.is_open());
        let all = d.finish();
        let at = |e: usize| around(&all, e).map(|d| d.parts).collect::<Vec<_>>();
        assert_eq!((at(9), at(10), at(13)), (vec![], vec![4], vec![10, 4]));
        assert_eq!((at(16), at(17), at(20), at(21)), (vec![4], vec![16, 4], vec![4], vec![]));
    }
}

//! Which of some executed instructions are in the slices of which others, from one backward pass.
//!
//! A slice of all of them at once does not say so: its graph keeps one of the uses that make a branch potentially
//! relevant. Instead each of them is a label, and with every live place goes the set of those that it is live for.
//! An instruction that becomes a node hands on the labels of all its uses, and its own. A branch has those as well of
//! everything that is live and that another way of it could have defined. So the labels that reach one of the
//! instructions are those in whose slices it is.
//!
//! An instruction is one node: which of its operands it needs is decided for all its uses together, and not for each
//! label. Where uses demand different bits of a word, the labels of one may come to what only the other needs, and an
//! answer has more than the slice of that instruction alone.
//!
//! Only for the plain closure ([`crate::Variant::Closure`]): groups of dummy branches have no labels.

use crate::criterion::Occurrence;
use crate::label_sets::{self, LabelSets, Labels};
use rustc_hash::FxHashMap;

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Among {
    sets: LabelSets,
    /// Of each of the instructions, by their places in the request.
    reached: Vec<Labels>,
}

impl Among {
    /// Whether the slice of one has another, both by their places in the request.
    #[must_use]
    pub fn depends(&self, one: usize, on: usize) -> bool {
        self.reached.get(on).is_some_and(|set| self.sets.contains(*set, one as u32))
    }

    pub(crate) fn new(sets: LabelSets, asked: &Asked) -> Among {
        Among { sets, reached: asked.reached.clone() }
    }
}

/// The instructions that are asked about, during a pass.
#[derive(Default)]
pub(crate) struct Asked {
    numbers: FxHashMap<Occurrence, u32>,
    pub reached: Vec<Labels>,
}

impl Asked {
    pub fn new(list: &[Occurrence]) -> Asked {
        let numbers = list.iter().enumerate().map(|(n, at)| (*at, n as u32)).collect();
        Asked { numbers, reached: vec![label_sets::NONE; list.len()] }
    }

    pub fn is_empty(&self) -> bool {
        self.reached.is_empty()
    }

    /// The label of an executed instruction, if it is one of them.
    #[inline]
    pub fn number(&self, at: Occurrence) -> Option<u32> {
        if self.is_empty() { None } else { self.numbers.get(&at).copied() }
    }
}

//! The dependences among selected executed instructions: which of them are in the slices of which
//! others, from one backward pass.
//!
//! A slice of all of them together does not determine this, because its graph keeps only one of the
//! uses that make a branch potentially relevant. Instead, each selected instruction is a label, and
//! every live location has the set of labels for which it is live. An instruction that becomes a node
//! propagates the labels of all its uses, and its own label. A branch also gets the labels of
//! everything live that an alternative edge could have defined. The labels that reach a selected
//! instruction are then those whose slices contain it.
//!
//! An instruction is one node: which operands it needs is decided for all its uses together, not per
//! label. If uses demand different bits of a word, the labels of one use may reach operands that only
//! the other needs, so a result may be larger than the slice of that instruction alone.
//!
//! Supports only the plain closure ([`crate::Variant::Closure`]): groups of dummy branches have no
//! labels.

use crate::criterion::Occurrence;
use crate::label_sets::{self, LabelSets, Labels};
use rustc_hash::FxHashMap;

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Among {
    sets: LabelSets,
    /// For each selected instruction, by its index in the request, the labels that reach it.
    reached: Vec<Labels>,
}

impl Among {
    /// Whether the slice of `one` contains `on`, both by their index in the request.
    #[must_use]
    pub fn depends(&self, one: usize, on: usize) -> bool {
        self.reached.get(on).is_some_and(|set| self.sets.contains(*set, one as u32))
    }

    pub(crate) fn new(sets: LabelSets, asked: &Asked) -> Among {
        Among { sets, reached: asked.reached.clone() }
    }
}

/// The selected instructions, during a pass.
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

    /// The label of an executed instruction, if it is selected.
    #[inline]
    pub fn number(&self, at: Occurrence) -> Option<u32> {
        if self.is_empty() { None } else { self.numbers.get(&at).copied() }
    }
}

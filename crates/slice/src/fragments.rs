//! Fragments: basic blocks split after every call.
//!
//! Nothing else runs between the instructions of a fragment, so the trace of a segment needs one word per
//! executed fragment.

use program::inst::{BlockId, Inst};
use program::model::Function;

/// Instructions that always run in sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    pub start: u32,
    pub end: u32,
    pub block: BlockId,
}

/// One execution of a fragment, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentExec {
    /// Number of the function in the image.
    pub function: u32,
    /// Number of activations on the stack, including the running one.
    pub depth: u32,
    pub fragment: u32,
    /// First and last instruction that ran.
    pub first: u32,
    pub last: u32,
    /// Step of the first one.
    pub step: u64,
    /// The index in the segment's trace at which the operands of the function's first instruction would be.
    pub base: u64,
}

/// The fragments of a function, and the fragment of each instruction.
pub fn split(function: &Function) -> (Vec<Fragment>, Vec<u32>) {
    let mut fragments = Vec::new();
    let mut fragment_of = vec![0; function.code.len()];
    for (b, block) in function.blocks.iter().enumerate() {
        let mut start = block.start;
        for index in block.start..block.end {
            fragment_of[index as usize] = fragments.len() as u32;
            let is_call = matches!(function.code[index as usize], Inst::Call(_));
            if is_call || index + 1 == block.end {
                let end = index + 1;
                fragments.push(Fragment { start, end, block: b as BlockId });
                start = end;
            }
        }
    }
    (fragments, fragment_of)
}

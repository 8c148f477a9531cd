//! Static facts of functions.

use crate::choice::Choices;
use crate::summary::{FunctionSummary, PhiMove};
use program::cfg::Graph;
use program::inst::{BlockId, Inst};
use program::model::Function;
use replay::image::Image;
use std::sync::OnceLock;

/// Control dependence of one function.
pub struct Facts {
    /// The block of each instruction.
    pub block_of: Vec<BlockId>,
    /// For each block, as a bit set, the blocks that its last instruction controls; empty if it controls
    /// none.
    controls: Vec<Vec<u64>>,
    /// The same without empty words: index of the word, and its bits.
    masks: Vec<Vec<(u32, u64)>>,
    /// For each block, whether any branch of the function controls it.
    pub decided: Vec<bool>,
    /// Number of words in a set of blocks.
    pub words: usize,
}

impl Facts {
    pub fn of(function: &Function) -> Facts {
        let mut block_of = vec![0; function.code.len()];
        for (b, block) in function.blocks.iter().enumerate() {
            block_of[block.start as usize..block.end as usize].fill(b as BlockId);
        }
        let graph = Graph::of(function);
        let words = function.blocks.len().div_ceil(64);
        let mut controls = vec![Vec::new(); function.blocks.len()];
        let mut decided = vec![false; function.blocks.len()];
        for (b, parents) in graph.control_dependence().into_iter().enumerate() {
            for a in parents {
                // An endless loop gets an artificial exit edge; no branch decides there.
                if graph.successors(a).len() > 1 {
                    let set: &mut Vec<u64> = &mut controls[a as usize];
                    set.resize(words, 0);
                    set[b / 64] |= 1 << (b % 64);
                    decided[b] = true;
                }
            }
        }
        let masks = controls
            .iter()
            .map(|set| (0..).zip(set).filter(|w| *w.1 != 0).map(|(w, bits)| (w, *bits)).collect())
            .collect();
        Facts { block_of, controls, masks, decided, words }
    }

    /// The blocks that the last instruction of `block` controls, word by word.
    pub fn masks(&self, block: BlockId) -> &[(u32, u64)] {
        &self.masks[block as usize]
    }

    /// The blocks that the last instruction of `block` controls.
    pub fn controls(&self, block: BlockId) -> &[u64] {
        &self.controls[block as usize]
    }
}

/// Facts of all functions of an image, each computed when first needed.
pub struct ProgramFacts<'i> {
    pub image: &'i Image,
    all: Vec<OnceLock<Facts>>,
    summaries: Vec<OnceLock<FunctionSummary>>,
    choices: Vec<OnceLock<Choices<'i>>>,
}

impl<'i> ProgramFacts<'i> {
    pub fn new(image: &'i Image) -> ProgramFacts<'i> {
        let functions = 0..image.functions();
        ProgramFacts {
            image,
            all: functions.clone().map(|_| OnceLock::new()).collect(),
            summaries: functions.clone().map(|_| OnceLock::new()).collect(),
            choices: functions.map(|_| OnceLock::new()).collect(),
        }
    }

    /// The model of a function, by its number in the image.
    pub fn function(&self, number: u32) -> &'i Function {
        let code = self.image.code(number);
        &self.image.module(code.module).functions[code.function as usize]
    }

    pub fn inst(&self, number: u32, index: u32) -> &'i Inst {
        &self.function(number).code[index as usize]
    }

    pub fn get(&self, number: u32) -> &Facts {
        self.all[number as usize].get_or_init(|| Facts::of(self.function(number)))
    }

    /// Whether the edge from a block chose the value of a phi.
    #[inline]
    pub fn is_choice(&self, number: u32, from: BlockId, phi: &PhiMove) -> bool {
        let Some(src) = phi.src else { return true };
        *phi.is_choice.get_or_init(|| {
            let choices = self.choices[number as usize].get_or_init(|| Choices::of(self.function(number)));
            choices.is_choice(from, phi.dst - phi.slot, src - phi.slot)
        })
    }

    /// The static input of the transfer function.
    pub fn summary(&self, number: u32) -> &FunctionSummary {
        self.summaries[number as usize].get_or_init(|| FunctionSummary::of(self, number))
    }
}

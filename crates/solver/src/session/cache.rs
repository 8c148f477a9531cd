//! Answers given before.

use std::collections::{HashMap, VecDeque};

use crate::node::Term;

use super::{Model, Outcome};

/// Sets of more conditions than this are not kept: a long path would fill the memory with its
/// prefixes, and nobody asks the same of it twice.
const LARGEST: usize = 512;
/// How many models are tried on a new question.
const MODELS: usize = 12;

#[derive(Default)]
pub(super) struct Cache {
    /// By the set of conditions; equal terms have equal handles, so this compares structure.
    answers: HashMap<Box<[Term]>, Outcome>,
    models: VecDeque<Model>,
}

fn key(conditions: &[Term]) -> Box<[Term]> {
    let mut key = conditions.to_vec();
    key.sort_unstable();
    key.dedup();
    key.into()
}

impl Cache {
    pub fn get(&self, conditions: &[Term]) -> Option<Outcome> {
        if conditions.len() > LARGEST {
            return None;
        }
        self.answers.get(&key(conditions)).cloned()
    }

    /// Remembers an answer. That somebody did not know is none.
    pub fn put(&mut self, conditions: &[Term], outcome: &Outcome) {
        match outcome {
            Outcome::Unknown(_) => return,
            Outcome::Sat(model) if !model.values.is_empty() && !self.models.contains(model) => {
                self.models.push_front(model.clone());
                self.models.truncate(MODELS);
            }
            _ => {}
        }
        if conditions.len() <= LARGEST {
            self.answers.insert(key(conditions), outcome.clone());
        }
    }

    /// The latest model that will do.
    pub fn model(&mut self, will_do: impl Fn(&Model) -> bool) -> Option<Model> {
        let at = self.models.iter().position(will_do)?;
        let model = self.models.remove(at)?;
        self.models.push_front(model.clone());
        Some(model)
    }
}

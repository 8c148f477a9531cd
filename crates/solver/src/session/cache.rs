//! A cache of earlier answers.

use std::collections::{HashMap, VecDeque};

use crate::node::Term;

use super::{Model, Outcome};

/// Larger sets of conditions are not cached: a long path would fill the memory with its prefixes, and no
/// query on it is repeated.
const MAX_CACHED_CONDITIONS: usize = 512;
/// Number of models that are tried on a new query.
const MODELS: usize = 12;

#[derive(Default)]
pub(super) struct Cache {
    /// By the set of conditions; equal terms have equal handles, so this is structural equality.
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
        if conditions.len() > MAX_CACHED_CONDITIONS {
            return None;
        }
        self.answers.get(&key(conditions)).cloned()
    }

    /// Stores an answer, unless it is `Unknown`.
    pub fn put(&mut self, conditions: &[Term], outcome: &Outcome) {
        match outcome {
            Outcome::Unknown(_) => return,
            Outcome::Sat(model) if !model.values.is_empty() && !self.models.contains(model) => {
                self.models.push_front(model.clone());
                self.models.truncate(MODELS);
            }
            _ => {}
        }
        if conditions.len() <= MAX_CACHED_CONDITIONS {
            self.answers.insert(key(conditions), outcome.clone());
        }
    }

    /// The most recently used model that satisfies a predicate.
    pub fn model(&mut self, satisfies: impl Fn(&Model) -> bool) -> Option<Model> {
        let at = self.models.iter().position(satisfies)?;
        let model = self.models.remove(at)?;
        self.models.push_front(model.clone());
        Some(model)
    }
}

//! Differential fuzzing of the plain builds: mutations of the pool, run by both.

use crate::mutate::{Random, mutated};
use crate::shared::{Exposure, FoundBy, Seed, Shared};
use crate::subject::{Subject, changeable};
use locate::perturb::mutations;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use symbolic::Origin;

/// The inputs of the fuzzing worker.
pub struct FuzzWorker<'f> {
    /// The programs that inputs are for.
    pub subjects: &'f [Subject],
    /// The pool of inputs, and where exposures go.
    pub shared: &'f Shared,
    /// Tokens of the sources.
    pub words: &'f [Vec<u8>],
    /// The start of the search, from which the time of an exposure counts.
    pub began: Instant,
    /// No input is run after this time.
    pub until: Instant,
    /// Set to end the work early.
    pub stop: &'f AtomicBool,
    /// The seed of the random mutations.
    pub seed: u64,
}

/// Maximum number of small mutations per part of an input, tried before random ones.
const SMALL: usize = 120;

impl FuzzWorker<'_> {
    /// Runs inputs until the search is over.
    pub fn work(&self) {
        let mut random = Random::new(self.seed);
        let mut small: VecDeque<Seed> = VecDeque::new();
        let mut expanded = 0;
        let mut turn = 0_u64;
        while !self.shared.is_over(self.until, self.stop) {
            let pool = self.shared.pool();
            if pool.is_empty() {
                return;
            }
            if small.is_empty() && expanded < pool.len() {
                small.extend(small_mutations(&pool[expanded]));
                expanded += 1;
            }
            turn += 1;
            // Alternate between small and random mutations, so that a large pool delays neither.
            let next = if turn.is_multiple_of(2) { small.pop_front() } else { None };
            let next = next.or_else(|| self.random_mutation(&pool, &mut random));
            if let Some(seed) = next {
                self.run_candidate(seed, FoundBy::Mutation);
            }
        }
    }

    fn random_mutation(&self, pool: &[Seed], random: &mut Random) -> Option<Seed> {
        let chosen = &pool[random.below(pool.len())];
        let mut origins = changeable(&chosen.input);
        origins.extend(self.subjects.get(chosen.subject)?.unset(&chosen.input));
        let origin = origins.get(random.below(origins.len()))?;
        let same = |o: &Origin| match (o, origin) {
            (Origin::Argument(_), Origin::Argument(_)) => true,
            _ => o == origin,
        };
        let others: Vec<Vec<u8>> = (0..2)
            .map(|_| &pool[random.below(pool.len())])
            .filter(|s| s.subject == chosen.subject)
            .flat_map(|s| s.input.parts.iter().filter(|(o, _)| same(o)).map(|(_, b)| b.clone()))
            .collect();
        let mut seed = chosen.clone();
        let bytes = seed.input.parts.entry(origin.clone()).or_default();
        *bytes = mutated(bytes, &others, self.words, random);
        if matches!(origin, Origin::Argument(_) | Origin::Environment(_)) {
            // Such strings end at their first NUL.
            bytes.retain(|b| *b != 0);
        }
        Some(seed)
    }

    fn run_candidate(&self, seed: Seed, means: FoundBy) {
        if let Some(true) = run_candidate(self.subjects, self.shared, &seed, means, self.began) {
            self.shared.send(seed);
        }
    }
}

/// Runs an input with both plain builds. Returns whether its behaviour is new; `None` if it cannot be run.
pub fn run_candidate(
    subjects: &[Subject],
    shared: &Shared,
    seed: &Seed,
    means: FoundBy,
    began: Instant,
) -> Option<bool> {
    let subject = subjects.get(seed.subject)?;
    let outcomes = subject.run_both(&seed.input).ok()?;
    shared.runs.fetch_add(2, Ordering::Relaxed);
    if outcomes.old != outcomes.new {
        shared.runs.fetch_add(2, Ordering::Relaxed);
        if subject.confirmed(&seed.input, &outcomes).ok()? {
            let after = began.elapsed().as_secs_f64();
            shared.offer(seed, means, true);
            shared.expose(Exposure { seed: seed.clone(), means, outcomes, after });
            return Some(true);
        }
        // A flaky difference is no evidence.
        return Some(false);
    }
    let is_new = shared.add_if_new(seed, &outcomes);
    shared.offer(seed, means, is_new);
    Some(is_new)
}

fn small_mutations(seed: &Seed) -> Vec<Seed> {
    let mut list = Vec::new();
    for origin in changeable(&seed.input) {
        let Some(bytes) = seed.input.parts.get(&origin) else { continue };
        for mutation in mutations(bytes, SMALL) {
            let mut other = seed.clone();
            other.input.parts.insert(origin.clone(), mutation.bytes);
            list.push(other);
        }
    }
    list
}

//! The shared state of the workers of a search: the pool of inputs, and the exposures.

use crate::subject::Outcomes;
use alternate::rerun::PlainRun;
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use symbolic::Input;

/// An input for one of the subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Index into the list of subjects.
    pub subject: usize,
    /// The bytes of all its parts.
    pub input: Input,
}

/// How an input was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// The input of an existing test.
    Test,
    /// A mutation.
    Mutation,
    /// A model of a solver.
    Solver,
}

/// An input on which the versions differed twice.
#[derive(Clone, Debug)]
pub struct Exposure {
    /// The input.
    pub seed: Seed,
    /// How it was found.
    pub means: FoundBy,
    /// What both versions did in the first pair of runs.
    pub outcomes: Outcomes,
    /// Seconds since the start of the search.
    pub after: f64,
}

/// See the module's documentation.
#[derive(Default)]
pub struct Shared {
    pool: Mutex<Vec<Seed>>,
    /// Queue of inputs that the solver worker follows.
    study: Mutex<VecDeque<Seed>>,
    exposures: Mutex<Vec<Exposure>>,
    shapes: Mutex<HashSet<u64>>,
    /// Queue of inputs for a further consumer, if there is one, those with new behaviour first.
    offered: Mutex<Option<VecDeque<(Seed, FoundBy)>>>,
    /// Number of plain runs, of either version.
    pub runs: AtomicU64,
    /// Whether the workers should end.
    pub done: AtomicBool,
}

/// Maximum size of the pool.
const MAX_SEEDS: usize = 600;
/// Maximum number of inputs that wait to be followed.
const MAX_WAITING: usize = 60;
/// Maximum number of exposures with the same shapes of outputs, and in all.
const MAX_ALIKE: usize = 3;
const MAX_EXPOSURES: usize = 60;
/// Maximum number of offered inputs.
const MAX_OFFERED: usize = 100;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Whether the search is over.
    pub fn is_over(&self, until: Instant, stop: &AtomicBool) -> bool {
        self.done.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed) || Instant::now() >= until
    }

    /// Adds an input if the shapes of its outcomes are new.
    pub fn add_if_new(&self, seed: &Seed, outcomes: &Outcomes) -> bool {
        let shape = number((seed.subject, shape(&outcomes.old), shape(&outcomes.new)));
        if !locked(&self.shapes).insert(shape) {
            return false;
        }
        self.add(seed);
        true
    }

    /// Adds an input to the pool.
    pub fn add(&self, seed: &Seed) {
        let mut pool = locked(&self.pool);
        if pool.len() < MAX_SEEDS {
            pool.push(seed.clone());
        }
    }

    /// Enqueues an input for the solver worker.
    pub fn send(&self, seed: Seed) {
        let mut study = locked(&self.study);
        if study.len() < MAX_WAITING {
            study.push_back(seed);
        }
    }

    /// Takes the next input for the solver worker; `None` if none waits.
    pub fn next_to_follow(&self) -> Option<Seed> {
        locked(&self.study).pop_front()
    }

    /// A copy of all inputs of the pool.
    pub fn pool(&self) -> Vec<Seed> {
        locked(&self.pool).clone()
    }

    /// Adds an exposure, unless there are enough or enough of its shape.
    pub fn expose(&self, exposure: Exposure) {
        let mut all = locked(&self.exposures);
        let looks = |e: &Exposure| (shape(&e.outcomes.old), shape(&e.outcomes.new));
        // Many exposures of the same shape add little information.
        let alike = all.iter().filter(|e| looks(e) == looks(&exposure)).count();
        if alike < MAX_ALIKE && all.len() < MAX_EXPOSURES {
            all.push(exposure);
        }
    }

    /// Enables the queue of [`Shared::next_offered`].
    pub fn offer_inputs(&self) {
        locked(&self.offered).get_or_insert_default();
    }

    /// Offers an input; one with new behaviour goes to the front.
    pub fn offer(&self, seed: &Seed, means: FoundBy, is_new: bool) {
        if let Some(offered) = locked(&self.offered).as_mut() {
            if is_new {
                offered.push_front((seed.clone(), means));
                offered.truncate(MAX_OFFERED);
            } else if offered.len() < MAX_OFFERED {
                offered.push_back((seed.clone(), means));
            }
        }
    }

    /// Takes the next input for the further consumer; `None` if none waits or the queue is not enabled.
    pub fn next_offered(&self) -> Option<(Seed, FoundBy)> {
        locked(&self.offered).as_mut()?.pop_front()
    }

    /// The exposures from an index on.
    pub fn exposures(&self, from: usize) -> Vec<Exposure> {
        locked(&self.exposures).get(from..).unwrap_or_default().to_vec()
    }
}

fn number(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// An abstraction of a run's behaviour: its exit status, and the beginning of its output with all numbers
/// replaced. A cheap substitute for coverage, which plain builds do not have.
#[must_use]
pub fn shape(run: &PlainRun) -> u64 {
    const LOOKED_AT: usize = 400;
    let mut text = Vec::new();
    for byte in run.ended.stdout.iter().take(LOOKED_AT) {
        let class = match byte {
            b'0'..=b'9' => b'0',
            other => *other,
        };
        if class != b'0' || text.last() != Some(&b'0') {
            text.push(class);
        }
    }
    let files: Vec<bool> = run.files.iter().map(|f| f.1.is_some()).collect();
    number((format!("{:?}", run.ended.status), text, files))
}

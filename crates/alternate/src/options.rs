//! What to search for, and the limits.

use solver::{Command, Settings};
use std::time::Duration;

/// Which version's branches are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The new version's; the old one's as well if no alternate input for them passes, or if the first
    /// direction was cheap.
    #[default]
    Auto,
    /// Only the new version's.
    New,
    /// Only the old version's.
    Old,
    /// Both versions', however long the first direction takes.
    Both,
}

/// Predicates over values that are treated as if the program tested them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Predicates {
    /// None: only the program's own decisions count.
    #[default]
    None,
    /// Whether results are null or negative, and which variables are equal.
    Equal,
    /// Also which variables are less than others.
    Ordered,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which input is followed.
    pub follow: symbolic::Options,
    /// Solvers and the limits of one query.
    pub solver: Settings,
    /// The version whose branches are reported.
    pub direction: Direction,
    /// The predicates that are added to the program's own decisions.
    pub predicates: Predicates,
    /// Time limit of the whole search.
    pub budget: Duration,
    /// Whether decisions in library functions are candidates.
    pub libraries: bool,
    /// Maximum number of instances of one branch that are tried, unless one passes before.
    pub instances: usize,
    /// Search even if the versions do not differ on the recorded input.
    pub anyway: bool,
    /// Look for the nearest input on which both versions agree if nothing passes.
    pub nearest: bool,
}

impl Options {
    /// The defaults, with these solvers, the best first.
    #[must_use]
    pub fn new(commands: Vec<Command>) -> Options {
        let mut follow = symbolic::Options::default();
        // Input from pipes and sockets cannot be replaced.
        follow.inputs.streams = false;
        // Lower than the default: both versions have terms, and all of them go to a solver.
        follow.max_terms = 20_000_000;
        Options {
            follow,
            solver: Settings { commands, ..Settings::default() },
            direction: Direction::default(),
            predicates: Predicates::default(),
            budget: Duration::from_secs(300),
            libraries: true,
            instances: 8,
            anyway: false,
            nearest: false,
        }
    }
}

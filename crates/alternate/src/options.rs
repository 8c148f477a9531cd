//! What to look for, and for how long.

use solver::{Command, Settings};
use std::time::Duration;

/// Which version's branches are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The new version's; the old one's as well if no alternate input for them passes, or if
    /// finding out was cheap.
    #[default]
    Auto,
    /// Only the new version's.
    New,
    /// Only the old version's.
    Old,
    Both,
}

/// Facts about values that are looked at as if the program tested them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Predicates {
    #[default]
    None,
    /// Whether results are null or negative, and which variables are equal.
    Equal,
    /// And which are less than others.
    Ordered,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which input is followed.
    pub follow: symbolic::Options,
    /// Solvers and the time for one question.
    pub solver: Settings,
    pub direction: Direction,
    pub predicates: Predicates,
    /// Time for the whole search.
    pub budget: Duration,
    /// Whether decisions inside of library functions are candidates.
    pub libraries: bool,
    /// Runs of one branch that are tried at most, unless one passes before.
    pub instances: usize,
    /// Look for inputs even if the versions do not differ on the recorded one.
    pub anyway: bool,
}

impl Options {
    /// The defaults, with these solvers, the best first.
    #[must_use]
    pub fn new(commands: Vec<Command>) -> Options {
        let mut follow = symbolic::Options::default();
        // What comes out of pipes and sockets cannot be replaced.
        follow.inputs.streams = false;
        // Both versions have theirs, and a solver is to be told.
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
        }
    }
}

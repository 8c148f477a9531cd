//! Symbolic replay of one run: its path condition, outputs and imprecisions.

use crate::condition::{Condition, Imprecision, Kind};
use crate::engine::{Engine, TermContext};
use crate::initial::Initial;
use crate::inputs::{Inputs, Origin};
use crate::objects::Objects;
use crate::observer::{NoObserver, StepObserver};
use crate::output::Output;
use recording::Process;
use replay::machine::{Counters, End, Machine, Stop};
use replay::process::LoadedProcess;
use solver::{Evaluation, Term};
use std::time::Instant;

/// About 4 GiB of terms, with all their tables.
const MAX_TERMS: usize = 50_000_000;
/// Steps between two checks of the number of terms. One step creates few terms.
const CHECK_INTERVAL: u64 = 1 << 16;

/// What to follow, and the limits.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which inputs are variables.
    pub inputs: Inputs,
    /// Concretise input-dependent addresses instead of following them.
    pub fixed_addresses: bool,
    /// Concretise floating-point numbers instead of following them.
    pub concrete_floats: bool,
    /// Maximum size of objects that are followed at input-dependent addresses.
    pub max_object: u64,
    /// Maximum number of variables; further input bytes are concrete.
    pub max_variables: usize,
    /// Fail when there are more terms than this, to bound memory.
    pub max_terms: usize,
    /// Stop before this step of the stream; none: the whole run.
    pub until: Option<u64>,
    /// Fail at this time.
    pub deadline: Option<Instant>,
    /// For tests: compare every term with the concrete value of the run, and panic if they differ.
    pub check: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            inputs: Inputs::default(),
            fixed_addresses: false,
            concrete_floats: false,
            max_object: 4096,
            max_variables: 1 << 24,
            max_terms: MAX_TERMS,
            until: None,
            deadline: None,
            check: false,
        }
    }
}

/// Why there is no path.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The stream cannot be replayed.
    #[error(transparent)]
    Replay(#[from] replay::error::Error),
    /// The process has no stream with this number.
    #[error("follow input in stream t{0}: the process has no such stream")]
    NoStream(u32),
    /// There are more terms than [`Options::max_terms`].
    #[error("follow input: at instruction {step} its conditions have {terms} parts, more than {limit}")]
    TooLarge {
        /// The step at which this was noticed.
        step: u64,
        /// Number of terms in the pool, also those of earlier runs.
        terms: usize,
        /// The maximum.
        limit: usize,
    },
    /// [`Options::deadline`] was reached.
    #[error("follow input: time was up at instruction {step}")]
    TimeUp {
        /// The step at which this was noticed.
        step: u64,
    },
}

/// The path of one stream (a thread) through the program.
#[derive(Debug)]
pub struct Path {
    /// Number of the stream as in `t0`, not an index.
    pub stream: u32,
    /// In execution order; all are true on this run.
    pub conditions: Vec<Condition>,
    /// Effects of input that are not followed.
    pub losses: Vec<Imprecision>,
    /// In execution order.
    pub outputs: Vec<Output>,
    /// The environment at the program's start, where it was recorded: names and values.
    pub environment: Vec<(String, Vec<u8>)>,
    /// Files that were read.
    pub read: Vec<String>,
    /// The exit status (32 bits), if it depends on input.
    pub status: Option<Term>,
    /// How the stream ended; `None` if replay stopped before.
    pub end: Option<End>,
    /// The counters of replay at the end.
    pub counters: Counters,
    /// Number of steps that touched something input-dependent.
    pub touched: u64,
}

impl Path {
    /// The conditions that are decisions: branches, switches, calls and library functions.
    pub fn decisions(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|c| !matches!(c.kind, Kind::Bounds | Kind::Concretised))
    }

    /// Files that the run wrote to, each once.
    #[must_use]
    pub fn written(&self) -> Vec<String> {
        let sinks = self.outputs.iter().filter_map(|o| o.sink.as_ref());
        let mut files: Vec<String> = sinks
            .filter_map(|sink| match sink {
                Origin::File(path) => Some(path.clone()),
                _ => None,
            })
            .collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The index of the first condition that is false under the input of the run. `None` if all hold, as they
    /// should.
    #[must_use]
    pub fn broken(&self, world: &TermContext) -> Option<usize> {
        let value = |v: u32| world.variables.value(v);
        self.follows(world, &value)
    }

    /// Whether every condition is true under the input of the run.
    #[must_use]
    pub fn holds(&self, world: &TermContext) -> bool {
        self.broken(world).is_none()
    }

    /// The index of the first condition that another input does not satisfy.
    #[must_use]
    pub fn follows(&self, world: &TermContext, value: &dyn Fn(u32) -> u128) -> Option<usize> {
        let mut evaluation = Evaluation::new(&world.pool, value);
        self.conditions.iter().position(|c| evaluation.of(c.term) != 1)
    }
}

/// Replays a stream of a process and follows its input.
///
/// # Errors
/// As a replay; and if there is no such stream.
pub fn replay(
    process: &LoadedProcess,
    recorded: &Process,
    stream: u32,
    world: &mut TermContext,
    options: &Options,
) -> Result<Path, Error> {
    replay_with(process, recorded, stream, world, options, NoObserver)
}

/// The same, with an observer.
///
/// # Errors
/// As [`replay`].
pub fn replay_with<W: StepObserver>(
    process: &LoadedProcess,
    recorded: &Process,
    stream: u32,
    world: &mut TermContext,
    options: &Options,
    observer: W,
) -> Result<Path, Error> {
    let loaded = process.stream(stream).ok_or(Error::NoStream(stream))?;
    let objects = Objects::new(&process.image, Initial::read(&process.image, &recorded.modules));
    let directory = recorded.info.directory.as_str();
    let mut engine = Engine::new(world, options, directory, stream, objects, observer);
    let mut machine = Machine::new(&process.image, &loaded.stream);
    let until = options.until.unwrap_or(u64::MAX);
    let stop = loop {
        let step = machine.counters().instructions;
        let stop = machine.run(&mut engine, until.min(step.saturating_add(CHECK_INTERVAL)))?;
        let terms = engine.world.pool.len();
        if terms > options.max_terms {
            return Err(Error::TooLarge {
                step: machine.counters().instructions,
                terms,
                limit: options.max_terms,
            });
        }
        if options.deadline.is_some_and(|end| Instant::now() > end) {
            return Err(Error::TimeUp { step: machine.counters().instructions });
        }
        if matches!(stop, Stop::Ended(_)) || machine.counters().instructions >= until {
            break stop;
        }
    };
    let found = engine.found;
    let end = match stop {
        Stop::Ended(end) => Some(end),
        Stop::Limit => None,
    };
    Ok(Path {
        stream,
        conditions: found.conditions,
        losses: found.losses,
        outputs: found.outputs,
        environment: found.environment,
        read: found.read.into_iter().collect(),
        status: found.status,
        end,
        counters: machine.counters(),
        touched: found.touched,
    })
}

//! Determines the global variables that a function and its callees read or write, in one replay.

use crate::version::{ObservedFunction, Version};
use replay::event_cursor::Stream;
use replay::machine::Machine;
use replay::observer::{Effect, ExternalCall, Observer, View};
use std::collections::{BTreeSet, HashMap};

/// The uses of a function in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Number of completed calls, in all streams that were merged.
    pub calls: u64,
    /// Names of variables.
    pub globals: BTreeSet<String>,
    /// It depends on more than its state: on input, or on an unknown external function.
    pub depends_on_input: bool,
}

/// Functions by module and number, with their uses.
pub type Uses = HashMap<(u32, u32), Used>;

/// Replays a stream as far as possible.
#[must_use]
pub fn used(version: &Version<'_>, stream: &Stream) -> Uses {
    let words = version.globals.len().div_ceil(64);
    let mut watch = Watch { version, words, frames: Vec::new(), found: HashMap::new(), last: (1, 0, 0) };
    // The results before a replay failure are valid; the second replay reports the failure.
    let _ = Machine::new(version.image, stream).run(&mut watch, u64::MAX);
    watch.leave(0);
    let name = |n: usize| version.globals[n].name.clone();
    let of = |marks: &[u64]| {
        (0..version.globals.len()).filter(|n| marks[n / 64] >> (n % 64) & 1 == 1).map(name).collect()
    };
    let mut uses = Uses::new();
    for (function, found) in watch.found {
        let used =
            Used { calls: found.calls, globals: of(&found.marks), depends_on_input: found.depends_on_input };
        uses.insert(function, used);
    }
    uses
}

/// Adds the uses of another stream.
pub fn merge(into: &mut Uses, from: Uses) {
    for (function, used) in from {
        let known = into.entry(function).or_default();
        known.calls += used.calls;
        known.globals.extend(used.globals);
        known.depends_on_input |= used.depends_on_input;
    }
}

/// The uses of a function of a version.
#[must_use]
pub fn of(uses: &Uses, watched: &ObservedFunction<'_>) -> Used {
    uses.get(&(watched.module, watched.number)).cloned().unwrap_or_default()
}

#[derive(Clone)]
struct Found {
    calls: u64,
    marks: Vec<u64>,
    depends_on_input: bool,
}

struct Watch<'w, 'm> {
    version: &'w Version<'m>,
    words: usize,
    frames: Vec<((u32, u32), Found)>,
    found: HashMap<(u32, u32), Found>,
    /// The last variable that was accessed: start, end, number.
    last: (u64, u64, usize),
}

impl Watch<'_, '_> {
    /// Leaves all functions deeper than `depth`.
    fn leave(&mut self, depth: usize) {
        while self.frames.len() > depth {
            let Some((function, marks)) = self.frames.pop() else { break };
            if let Some((_, outer)) = self.frames.last_mut() {
                outer.add(&marks);
            }
            let words = self.words;
            let known = self.found.entry(function).or_insert_with(|| Found::new(words));
            known.add(&marks);
            known.calls += 1;
        }
    }

    #[inline]
    fn touch(&mut self, address: u64, len: u64) {
        if !(self.last.0..self.last.1).contains(&address) {
            let Some(n) = self.version.global_at(address).or_else(|| {
                // A long range may begin before the variable.
                (len > 16).then(|| self.version.global_at(address + len - 1)).flatten()
            }) else {
                return;
            };
            let global = &self.version.globals[n];
            self.last = (global.address, global.address + global.size, n);
        }
        let n = self.last.2;
        if let Some((_, found)) = self.frames.last_mut() {
            found.marks[n / 64] |= 1 << (n % 64);
        }
    }
}

impl Found {
    fn new(words: usize) -> Found {
        Found { calls: 0, marks: vec![0; words], depends_on_input: false }
    }

    fn add(&mut self, other: &Found) {
        self.depends_on_input |= other.depends_on_input;
        for (mark, more) in self.marks.iter_mut().zip(&other.marks) {
            *mark |= more;
        }
    }
}

impl Observer for Watch<'_, '_> {
    const ALL_STEPS: bool = false;

    fn enter(&mut self, view: &View<'_>, _: bool) {
        self.leave(view.depth as usize - 1);
        self.frames.push(((view.code.module, view.code.function), Found::new(self.words)));
    }

    fn returned(&mut self, view: &View<'_>) {
        self.leave(view.depth as usize);
    }

    fn landed(&mut self, view: &View<'_>) {
        self.leave(view.depth as usize);
    }

    fn unwound(&mut self, view: &View<'_>) {
        self.leave(view.depth as usize);
    }

    #[inline]
    fn step(&mut self, _: &View<'_>, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Load { address, len }
            | Effect::Store { address, len }
            | Effect::Update { address, len, .. } => {
                self.touch(address, len.into());
            }
            Effect::Copy { to, from, len } => {
                self.touch(to, len);
                self.touch(from, len);
            }
            Effect::Fill { to, len } => self.touch(to, len),
        }
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.leave(view.depth as usize);
        for (address, len) in call.reads.iter().chain(call.writes) {
            self.touch(*address, *len);
        }
        let input = match call.known {
            Some(known) => {
                !call.modelled
                    && (!known.hidden.is_empty()
                        || known.io.is_some_and(|io| io.direction == externals::Direction::In))
            }
            None => true,
        };
        if let Some((_, found)) = self.frames.last_mut() {
            found.depends_on_input |= input;
        }
    }
}

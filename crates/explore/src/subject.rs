//! The program that a test runs, and running it with other input.
//!
//! A test is any command. The process of it that reads input is the one that can run with other input. It is
//! started directly, with the same arguments and files, and its own result is compared.

use crate::asked;
use crate::error::{Error, Result, Unusable};
use crate::versions::Versions;
use alternate::rerun::{PlainRun, Recorder};
use alternate::{Both, Rerun, Run, Side, Status};
use locate::test::Test;
use recording::Recording;
use recording::argument::Argument;
use recording::process::ProcessInfo;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use symbolic::{EnvironmentInputs, Input, Origin, TermContext};

/// A program that both versions have, with the arguments of a test.
#[derive(Clone, Debug)]
pub struct Subject {
    /// How the plain builds are started.
    plain: Both<ProcessInfo>,
    /// How the recording builds are started.
    recorded: Both<ProcessInfo>,
    /// Files that it writes.
    written: Vec<String>,
    /// Environment variables that it reads.
    asked: BTreeSet<String>,
    /// Those that the test sets.
    set: BTreeMap<String, Vec<u8>>,
    runner: Recorder,
    /// With a longer timeout, for runs that timed out before.
    confirming_runner: Recorder,
    recorder: Recorder,
}

/// The results of both versions with an input.
pub type Outcomes = Both<PlainRun>;

/// Minimum timeout of a run.
const MIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Factor of the timeout before a run counts as non-terminating.
const CONFIRMATION_FACTOR: u32 = 5;
/// Factor of the timeout of a recorded run.
const RECORDING_FACTOR: u32 = 2;
/// Runs with more calls and loop iterations than this are not followed: they would take the whole budget.
const MAX_TICKS: u64 = 300_000;

/// Maps a recorded process of one version to a build in another directory.
struct Moved<'m> {
    from: &'m Path,
    to: &'m Path,
}

impl Moved<'_> {
    fn text(&self, text: &str) -> String {
        let (from, to) = (self.from.display().to_string(), self.to.display().to_string());
        text.replace(&from, &to)
    }

    fn argument(&self, argument: &Argument) -> Argument {
        let from = self.from.as_os_str().as_bytes();
        let to = self.to.as_os_str().as_bytes();
        let (mut bytes, mut rest) = (Vec::new(), argument.bytes());
        while let Some(at) = rest.windows(from.len().max(1)).position(|window| window == from) {
            bytes.extend_from_slice(&rest[..at]);
            bytes.extend_from_slice(to);
            rest = &rest[at + from.len()..];
        }
        bytes.extend_from_slice(rest);
        Argument::from(&bytes[..])
    }

    fn info(&self, info: &ProcessInfo) -> ProcessInfo {
        ProcessInfo {
            executable: self.text(&info.executable),
            directory: self.text(&info.directory),
            arguments: info.arguments.iter().map(|a| self.argument(a)).collect(),
            ..info.clone()
        }
    }
}

impl Subject {
    /// Records a test with the bad version and selects the process that reads input, and its input.
    ///
    /// # Errors
    /// If nothing can be recorded, or there is no such process.
    pub fn of_test(
        versions: &Versions,
        test: &Test,
        name: &str,
        time: Duration,
        scratch: &Path,
    ) -> Result<(Subject, Input)> {
        let builds = &versions.builds;
        let recorded = builds.new.record(test, name, time)?;
        let recording = Recording::open(&recorded.directory).map_err(|e| Error::Recording(e.to_string()))?;
        let trees = Both { old: builds.old.recorded.tree(), new: builds.new.recorded.tree() };
        let plain = Both { old: builds.old.plain.tree(), new: builds.new.plain.tree() };
        let found = Subject::of_recording(&recording, trees, plain, scratch);
        builds.new.recorded.discard(&recorded)?;
        found
    }

    /// The same for an existing recording of the bad version. A program that is not compared with another has
    /// the same trees on both sides.
    ///
    /// # Errors
    /// If it cannot be replayed, or no process can be used.
    pub fn of_recording(
        recording: &Recording,
        trees: Both<&Path>,
        plain: Both<&Path>,
        scratch: &Path,
    ) -> Result<(Subject, Input)> {
        let run = Run::open(recording, None, &following(BTreeSet::new()))
            .map_err(|e| Error::Recording(e.to_string()))?;
        let asked = asked::variables(&run.process, run.stream)?;
        let follow = following(asked.clone());
        let mut world = TermContext::default();
        let path = symbolic::replay(&run.process, run.recorded, run.stream, &mut world, &follow)?;
        let info = &run.recorded.info;
        if info.forked_from.is_some() {
            return Err(Error::NoSubject(Unusable::Forked));
        }
        if !Path::new(&info.executable).starts_with(trees.new) {
            return Err(Error::NoSubject(Unusable::Foreign(info.executable.clone())));
        }
        let mut input = Input::with(&world, info, &|v| world.variables.value(v));
        input.parts.retain(|origin, _| !matches!(origin, Origin::Stream(..)));
        for (number, argument) in info.arguments.iter().enumerate().skip(1) {
            let origin = Origin::Argument(number as u32);
            input.parts.entry(origin).or_insert_with(|| argument.bytes().to_vec());
        }
        let set: BTreeMap<String, Vec<u8>> =
            input.environment().map(|(name, value)| (name.to_owned(), value.to_vec())).collect();
        if input.parts.is_empty() && asked.is_empty() {
            return Err(Error::NoSubject(Unusable::NoInput));
        }
        let written: Vec<String> =
            path.written().into_iter().filter(|p| Path::new(p).is_relative()).collect();
        let moved = |to: &Path| Moved { from: trees.new, to }.info(info);
        let subject = Subject {
            plain: Both { old: moved(plain.old), new: moved(plain.new) },
            recorded: Both { old: moved(trees.old), new: moved(trees.new) },
            written,
            asked,
            set,
            runner: Recorder::new(scratch.to_owned(), MIN_TIMEOUT),
            confirming_runner: Recorder::new(scratch.to_owned(), MIN_TIMEOUT * CONFIRMATION_FACTOR),
            recorder: Recorder::new(scratch.to_owned(), MIN_TIMEOUT * RECORDING_FACTOR),
        };
        Ok((subject, input))
    }

    /// Sets the timeouts from the `seconds` of a usual run.
    #[must_use]
    pub fn with_time(mut self, seconds: f64, scratch: &Path) -> Subject {
        let time = Duration::from_secs_f64(seconds * 10.0).max(MIN_TIMEOUT);
        self.runner = Recorder::new(scratch.to_owned(), time);
        self.confirming_runner = Recorder::new(scratch.to_owned(), time * CONFIRMATION_FACTOR);
        self.recorder = Recorder::new(scratch.to_owned(), time * RECORDING_FACTOR);
        self
    }

    /// Whether another test runs the same program in the same directory, with as many arguments.
    #[must_use]
    pub fn is_same_invocation(&self, other: &Subject) -> bool {
        let key = |s: &Subject| {
            let info = &s.plain.new;
            (info.executable.clone(), info.directory.clone(), info.arguments.len())
        };
        key(self) == key(other)
    }

    /// The command line of the program for display, with the names in the user's tree.
    #[must_use]
    pub fn arguments(&self) -> &[Argument] {
        &self.plain.new.arguments
    }

    /// Whether both versions were built to the same program: all loaded sections are equal.
    #[must_use]
    pub fn is_same_program(&self) -> bool {
        let read = |side: Side| loaded(Path::new(&self.plain.of(side).executable));
        let old = read(Side::Old);
        old.is_some() && old == read(Side::New)
    }

    /// A hash that identifies the program, its command line and its first input. `None` if the program cannot
    /// be read.
    #[must_use]
    pub fn name(&self, first: &Input) -> Option<String> {
        let mut hasher = DefaultHasher::new();
        loaded(Path::new(&self.plain.new.executable))?.hash(&mut hasher);
        self.plain.new.arguments.hash(&mut hasher);
        for (origin, bytes) in &first.parts {
            (origin, bytes).hash(&mut hasher);
        }
        Some(format!("{:016x}", hasher.finish()))
    }

    /// Options of symbolic replay: which input is followed.
    #[must_use]
    pub fn follow(&self) -> symbolic::Options {
        following(self.asked.clone())
    }

    /// Environment variables that it reads and that an input does not set.
    pub fn unset<'s>(&'s self, input: &'s Input) -> impl Iterator<Item = Origin> + 's {
        let names = self.asked.iter().map(|name| Origin::Environment(name.clone()));
        names.filter(|origin| !input.parts.contains_key(origin))
    }

    /// Environment variables of an input whose values differ from those that the test sets.
    pub fn changed_environment<'i>(
        &'i self,
        input: &'i Input,
    ) -> impl Iterator<Item = (&'i str, &'i [u8])> + 'i {
        input.environment().filter(|(name, value)| self.set.get(*name).is_none_or(|v| v != value))
    }

    /// The process of the recorded build of a version; its paths are in that build's tree.
    #[must_use]
    pub fn info(&self, side: Side) -> &ProcessInfo {
        self.recorded.of(side)
    }

    /// The program's working directory in its tree.
    #[must_use]
    pub fn directory(&self, side: Side) -> PathBuf {
        PathBuf::from(&self.plain.of(side).directory)
    }

    /// Runs one plain build.
    ///
    /// # Errors
    /// If it cannot be run with the input.
    pub fn run(&self, side: Side, input: &Input) -> Result<PlainRun> {
        Ok(self.runner.plain(self.plain.of(side), input, &self.written)?)
    }

    /// Runs both plain builds.
    ///
    /// # Errors
    /// As [`Subject::run`].
    pub fn run_both(&self, input: &Input) -> Result<Outcomes> {
        Both::try_from(|side| self.run(side, input))
    }

    /// Whether a difference is reproduced by a second pair of runs, with a longer timeout, and each version
    /// agrees with its first run.
    ///
    /// # Errors
    /// As [`Subject::run`].
    pub fn confirmed(&self, input: &Input, first: &Outcomes) -> Result<bool> {
        let again = Both::try_from(|side| {
            Ok::<_, Error>(self.confirming_runner.plain(self.plain.of(side), input, &self.written)?)
        })?;
        Ok(again == *first && again.old != again.new)
    }

    /// Records one version with an input, however long it runs.
    ///
    /// # Errors
    /// As [`Subject::run`].
    pub fn record_any(&self, side: Side, input: &Input) -> Result<Rerun> {
        // A recorded program is slower than a plain one.
        Ok(self.recorder.record(self.recorded.of(side), input, &self.written)?)
    }

    /// Records one version with an input, to follow the run.
    ///
    /// # Errors
    /// As [`Subject::run`]; [`Error::TooLong`] if following it would take too long.
    pub fn record(&self, side: Side, input: &Input) -> Result<Rerun> {
        let rerun = self.record_any(side, input)?;
        let stream = rerun.process.stream(rerun.stream).map(|s| &s.stream);
        let long = stream.is_some_and(|s| s.time.max(s.ticked) > MAX_TICKS);
        if long || rerun.ended.status == Status::TimedOut {
            return Err(Error::TooLong);
        }
        Ok(rerun)
    }
}

/// The sections of a program that are loaded, by name, without the build ID.
fn loaded(path: &Path) -> Option<Vec<(String, Vec<u8>)>> {
    use object::{Object, ObjectSection, SectionFlags};
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let mut sections = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return None };
        let name = section.name().ok()?.to_owned();
        if sh_flags.contains(object::elf::SHF_ALLOC) && name != ".note.gnu.build-id" {
            sections.push((name, section.data().ok()?.to_vec()));
        }
    }
    Some(sections)
}

/// Options of symbolic replay. Input from pipes and sockets cannot be replaced.
fn following(asked: BTreeSet<String>) -> symbolic::Options {
    let mut follow = symbolic::Options::default();
    follow.inputs.environment = EnvironmentInputs::Named(asked);
    follow.inputs.streams = false;
    follow.max_terms = 1_000_000;
    follow
}

/// The parts of an input that may be changed: neither the name of a file that is read, nor a file outside of
/// the working directory that no argument names.
#[must_use]
pub fn changeable(input: &Input) -> Vec<Origin> {
    let names: Vec<&[u8]> = input.files().map(|(path, _)| path.as_bytes()).collect();
    let is_name = |bytes: &[u8]| names.contains(&bytes);
    let is_argument = |path: &str| {
        input.parts.iter().any(|(o, b)| matches!(o, Origin::Argument(_)) && b == path.as_bytes())
    };
    input
        .parts
        .iter()
        .filter(|(origin, bytes)| match origin {
            Origin::Stdin => true,
            Origin::Argument(number) => *number > 0 && !is_name(bytes),
            Origin::File(path) => Path::new(path).is_relative() || is_argument(path),
            Origin::Environment(_) => true,
            Origin::Stream(..) => false,
        })
        .map(|(origin, _)| origin.clone())
        .collect()
}

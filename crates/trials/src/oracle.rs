//! Whether a run passed, failed as bad does, or says nothing.
//!
//! A run *passes* if it does what the [`Rule`] asks. A run that does not pass
//! *fails* only if it ends in the way that bad does: by itself, by the same
//! signal, or not at all. Otherwise it is *unresolved*: a half-reverted program
//! that crashes says nothing about why bad prints a wrong number. Among runs
//! that end by themselves no further distinction is made, neither by exit status
//! nor by what was printed: a wrong result that is wrong in another way is still
//! a wrong result. With [`Rule::Exit`] the test script makes the distinction
//! itself, so everything but 0 and 125 fails.

use crate::error::{At, Error, Side};
use crate::process::{Ran, Status};
use changes::outcome::Outcome;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// What is looked at to tell good from bad.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Oracle {
    pub rule: Rule,
    /// Looked at besides exit status and standard output.
    pub observe: Vec<Sink>,
}

/// When a run passes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Rule {
    /// Exit status and standard output, and all that is observed, are as with good.
    #[default]
    SameAsGood,
    /// As for `git bisect run`: 0 passes, 125 cannot tell, all else fails.
    Exit,
    /// Exit status 0 and exactly this standard output; what is observed
    /// besides is as with good.
    Expect(Vec<u8>),
}

/// Something a program puts out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    Stdout,
    Stderr,
    /// Relative to where the test runs.
    File(PathBuf),
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sink::Stdout => f.write_str("stdout"),
            Sink::Stderr => f.write_str("stderr"),
            Sink::File(path) => path.display().fmt(f),
        }
    }
}

impl Sink {
    /// `stdout`, `stderr`, or a path.
    #[must_use]
    pub fn named(name: &str) -> Sink {
        match name {
            "stdout" => Sink::Stdout,
            "stderr" => Sink::Stderr,
            path => Sink::File(path.into()),
        }
    }
}

impl Oracle {
    /// All that is compared, standard output first.
    pub(crate) fn sinks(&self) -> Vec<Sink> {
        let mut sinks = vec![Sink::Stdout];
        if self.rule == Rule::Exit {
            sinks.clear();
        } else {
            sinks.extend(self.observe.iter().filter(|s| **s != Sink::Stdout).cloned());
        }
        sinks
    }
}

/// What a test run did, as far as the oracle looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub status: Status,
    /// A name and a hash for each sink; `None`: the file was not there.
    pub outputs: Vec<(String, Option<u128>)>,
}

impl Observed {
    /// Looks at a run. `places` are paths that differ from run to run (the tree,
    /// the temporary directory) and what stands for them.
    ///
    /// # Errors
    /// If an output cannot be read.
    pub fn look(
        oracle: &Oracle,
        ran: &Ran,
        directory: &Path,
        places: &[(&Path, &str)],
    ) -> Result<Observed, Error> {
        let mut outputs = Vec::new();
        for sink in oracle.sinks() {
            let path = match &sink {
                Sink::Stdout => ran.stdout.clone(),
                Sink::Stderr => ran.stderr.clone(),
                Sink::File(path) => directory.join(path),
            };
            outputs.push((sink.to_string(), hash(&path, places)?));
        }
        Ok(Observed { status: ran.status, outputs })
    }

    /// Names of the outputs in which two runs differ.
    fn differing<'a>(&'a self, other: &'a Observed) -> Vec<&'a str> {
        let both = self.outputs.iter().zip(&other.outputs);
        both.filter(|(a, b)| a.1 != b.1).map(|(a, _)| a.0.as_str()).collect()
    }
}

/// Nobody looks for paths in more than this, and nobody has it in memory.
const LARGE: u64 = 256 << 20;

/// None if the file is not there.
fn hash(path: &Path, places: &[(&Path, &str)]) -> Result<Option<u128>, Error> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).at("read", path),
    };
    if file.metadata().at("read", path)?.len() <= LARGE {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).at("read", path)?;
        return Ok(Some(xxh3_128(&without_places(&bytes, places))));
    }
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).at("read", path)? {
            0 => return Ok(Some(hasher.digest128())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// Replaces each path by what stands for it.
#[must_use]
pub fn without_places(text: &[u8], places: &[(&Path, &str)]) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let mut text = text.to_vec();
    for (path, name) in places {
        let path = path.as_os_str().as_bytes();
        if path.is_empty() {
            continue;
        }
        let mut replaced = Vec::with_capacity(text.len());
        let mut rest = text.as_slice();
        while let Some(at) = find(rest, path) {
            replaced.extend_from_slice(&rest[..at]);
            replaced.extend_from_slice(name.as_bytes());
            rest = &rest[at + path.len()..];
        }
        replaced.extend_from_slice(rest);
        text = replaced;
    }
    text
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    let first = *word.first()?;
    let mut from = 0;
    // Most bytes are not the first one of the path.
    while let Some(at) = text[from..].iter().position(|b| *b == first) {
        if text[from + at..].starts_with(word) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// In which way a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manner {
    /// By itself, with any exit status.
    ByItself,
    /// A signal, also if a shell says so by 128 and its number.
    Signal(i32),
    /// It did not end, or would not stop writing.
    Hang,
    /// The test command could not be run (a shell's 126 and 127).
    NotRun,
}

impl Status {
    /// The manner of ending. Only signals that a program dies of by its own
    /// doing are seen in a shell's exit status.
    #[must_use]
    pub fn manner(self) -> Manner {
        match self {
            Status::Exit(126 | 127) => Manner::NotRun,
            Status::Exit(code) if matches!(code - 128, 4..=8 | 11 | 31) => Manner::Signal(code - 128),
            Status::Exit(_) => Manner::ByItself,
            Status::Signal(signal) => Manner::Signal(signal),
            Status::TimedOut | Status::Flooded | Status::Cancelled => Manner::Hang,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Exit(code) => match self.manner() {
                // What a shell says about its last command.
                Manner::Signal(signal) => write!(f, "{} (exit {code})", Status::Signal(signal)),
                _ => write!(f, "exit {code}"),
            },
            Status::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "killed by {name}"),
                None => write!(f, "killed by signal {signal}"),
            },
            Status::TimedOut => f.write_str("stopped as it took too long"),
            Status::Flooded => f.write_str("stopped as it wrote too much"),
            Status::Cancelled => f.write_str("called off"),
        }
    }
}

/// `SIGSEGV` for 11.
#[must_use]
pub fn signal_name(signal: i32) -> Option<&'static str> {
    const NAMES: [&str; 31] = [
        "SIGHUP",
        "SIGINT",
        "SIGQUIT",
        "SIGILL",
        "SIGTRAP",
        "SIGABRT",
        "SIGBUS",
        "SIGFPE",
        "SIGKILL",
        "SIGUSR1",
        "SIGSEGV",
        "SIGUSR2",
        "SIGPIPE",
        "SIGALRM",
        "SIGTERM",
        "SIGSTKFLT",
        "SIGCHLD",
        "SIGCONT",
        "SIGSTOP",
        "SIGTSTP",
        "SIGTTIN",
        "SIGTTOU",
        "SIGURG",
        "SIGXCPU",
        "SIGXFSZ",
        "SIGVTALRM",
        "SIGPROF",
        "SIGWINCH",
        "SIGIO",
        "SIGPWR",
        "SIGSYS",
    ];
    NAMES.get(usize::try_from(signal).ok()?.checked_sub(1)?).copied()
}

/// Knows what good and bad did, and judges other runs by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judge {
    rule: Rule,
    expected: Option<u128>,
    good: Observed,
    bad: Manner,
}

impl Judge {
    /// Takes repeated runs of good and of bad.
    ///
    /// # Errors
    /// [`Error::DoesNotPass`], [`Error::DoesNotFail`] or [`Error::Flaky`].
    pub fn new(rule: &Rule, good: &[Observed], bad: &[Observed]) -> Result<Judge, Error> {
        let (Some(first_good), Some(first_bad)) = (good.first(), bad.first()) else {
            return Err(Error::NotPrepared);
        };
        let expected = match rule {
            Rule::Expect(bytes) => Some(xxh3_128(bytes)),
            _ => None,
        };
        let mut judge =
            Judge { rule: rule.clone(), expected, good: first_good.clone(), bad: first_bad.status.manner() };
        let passed: Vec<bool> = good.iter().map(|o| judge.passes(o)).collect();
        if passed.iter().all(|p| !p) || !judge.can_be_good(first_good) {
            return Err(Error::DoesNotPass { why: judge.complaint(first_good) });
        }
        if let Some(other) =
            good.iter().zip(&passed).find(|(o, passed)| !**passed || o.status != first_good.status)
        {
            return Err(Error::Flaky { version: Side::Good, why: disagreement(first_good, other.0) });
        }
        let passed: Vec<bool> = bad.iter().map(|o| judge.passes(o)).collect();
        if passed.iter().all(|p| *p) {
            return Err(Error::DoesNotFail {
                why: format!("it does the same as the good one ({})", first_bad.status),
            });
        }
        if let Some(other) =
            bad.iter().zip(&passed).find(|(o, p)| **p != passed[0] || o.status.manner() != judge.bad)
        {
            return Err(Error::Flaky { version: Side::Bad, why: disagreement(first_bad, other.0) });
        }
        if *rule == Rule::Exit && first_bad.status == Status::Exit(125) {
            let why = "it says that it cannot tell (exit 125)".to_owned();
            return Err(Error::DoesNotFail { why });
        }
        judge.bad = first_bad.status.manner();
        Ok(judge)
    }

    /// A version whose test does not even run cannot be what others are held against.
    fn can_be_good(&self, observed: &Observed) -> bool {
        self.rule != Rule::SameAsGood || observed.status.manner() == Manner::ByItself
    }

    fn passes(&self, observed: &Observed) -> bool {
        let others = || observed.outputs.iter().skip(1).eq(self.good.outputs.iter().skip(1));
        match self.rule {
            Rule::SameAsGood => *observed == self.good,
            Rule::Exit => observed.status == Status::Exit(0),
            Rule::Expect(_) => {
                let stdout = observed.outputs.first().and_then(|(_, hash)| *hash);
                observed.status == Status::Exit(0) && stdout == self.expected && others()
            }
        }
    }

    /// What came of a trial, and why in a few words.
    #[must_use]
    pub fn outcome(&self, observed: &Observed) -> (Outcome, String) {
        if self.passes(observed) {
            return (Outcome::Pass, observed.status.to_string());
        }
        let outcome = match self.rule {
            Rule::Exit if observed.status == Status::Exit(125) => Outcome::Unresolved,
            Rule::Exit => Outcome::Fail,
            _ if observed.status.manner() == self.bad => Outcome::Fail,
            _ => Outcome::Unresolved,
        };
        (outcome, self.complaint(observed))
    }

    fn complaint(&self, observed: &Observed) -> String {
        let mut why = observed.status.to_string();
        let differing = observed.differing(&self.good);
        let unexpected =
            self.expected.is_some() && observed.outputs.first().and_then(|o| o.1) != self.expected;
        if unexpected {
            why += ", stdout is not as expected";
        }
        for name in differing.into_iter().filter(|name| !unexpected || *name != "stdout") {
            why += &format!(", {name} differs");
        }
        why
    }

    /// Everything that outcomes depend on, for the key of the store.
    pub(crate) fn fingerprint(&self) -> String {
        let rule = match &self.rule {
            Rule::SameAsGood => "same".to_owned(),
            Rule::Exit => "exit".to_owned(),
            Rule::Expect(bytes) => format!("expect {:x}", xxh3_128(bytes)),
        };
        format!("{rule}\n{:?}\n{:?}", self.good, self.bad)
    }
}

fn disagreement(first: &Observed, other: &Observed) -> String {
    let differing = first.differing(other);
    if first.status == other.status && !differing.is_empty() {
        return format!("{} differs from run to run ({} each time)", differing.join(", "), first.status);
    }
    format!("{} once, {} another time", first.status, other.status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Fail, Pass, Unresolved};
    use proptest::prelude::*;

    fn observed(status: Status, stdout: u128) -> Observed {
        Observed { status, outputs: vec![("stdout".to_owned(), Some(stdout))] }
    }

    fn judge(rule: Rule, good: (Status, u128), bad: (Status, u128)) -> Judge {
        Judge::new(&rule, &[observed(good.0, good.1)], &[observed(bad.0, bad.1)]).unwrap()
    }

    #[test]
    fn wrong_results_are_alike_and_crashes_are_not() {
        let judge = judge(Rule::SameAsGood, (Status::Exit(0), 1), (Status::Exit(0), 2));
        let outcome = |status, stdout| judge.outcome(&observed(status, stdout)).0;
        assert_eq!(outcome(Status::Exit(0), 1), Pass);
        assert_eq!(outcome(Status::Exit(0), 3), Fail);
        assert_eq!(outcome(Status::Exit(1), 1), Fail);
        for other in
            [Status::Signal(11), Status::Exit(139), Status::TimedOut, Status::Exit(127), Status::Flooded]
        {
            assert_eq!(outcome(other, 1), Unresolved, "{other:?}");
        }
    }

    #[test]
    fn a_crash_is_the_same_by_its_signal_and_not_by_what_was_printed() {
        let judge = judge(Rule::SameAsGood, (Status::Exit(0), 1), (Status::Signal(6), 2));
        let outcome = |status, stdout| judge.outcome(&observed(status, stdout)).0;
        assert_eq!(outcome(Status::Signal(6), 9), Fail);
        assert_eq!(outcome(Status::Exit(134), 2), Fail, "as a shell says it");
        assert_eq!(outcome(Status::Signal(11), 2), Unresolved);
        assert_eq!(outcome(Status::Exit(1), 2), Unresolved);
        assert_eq!(outcome(Status::TimedOut, 2), Unresolved);
    }

    #[test]
    fn bisect_scripts_decide_for_themselves() {
        let judge = judge(Rule::Exit, (Status::Exit(0), 1), (Status::Exit(1), 2));
        let outcome = |status| judge.outcome(&observed(status, 5)).0;
        assert_eq!(outcome(Status::Exit(0)), Pass);
        assert_eq!(outcome(Status::Exit(125)), Unresolved);
        for bad in [Status::Exit(2), Status::Exit(127), Status::Signal(11), Status::TimedOut] {
            assert_eq!(outcome(bad), Fail);
        }
    }

    #[test]
    fn an_expectation_needs_success_too() {
        let rule = Rule::Expect(b"yes".to_vec());
        let yes = xxh3_128(b"yes");
        let judge = judge(rule.clone(), (Status::Exit(0), yes), (Status::Exit(0), 2));
        assert_eq!(judge.outcome(&observed(Status::Exit(1), yes)).0, Fail);
        assert_eq!(
            judge.outcome(&observed(Status::Exit(0), 3)),
            (Fail, "exit 0, stdout is not as expected".into())
        );
        let error =
            Judge::new(&rule, &[observed(Status::Exit(0), 3)], &[observed(Status::Exit(0), 2)]).unwrap_err();
        assert!(matches!(error, Error::DoesNotPass { .. }));
    }

    #[test]
    fn bad_may_fail_in_words_that_change_but_not_in_kind() {
        let good = [observed(Status::Exit(0), 1)];
        let words = [observed(Status::Exit(1), 2), observed(Status::Exit(1), 3)];
        assert!(Judge::new(&Rule::SameAsGood, &good, &words).is_ok());
        let kinds = [observed(Status::Exit(1), 2), observed(Status::Signal(11), 2)];
        assert!(matches!(Judge::new(&Rule::SameAsGood, &good, &kinds), Err(Error::Flaky { .. })));
    }

    #[test]
    fn ends_in_words() {
        assert_eq!(Status::Signal(11).to_string(), "killed by SIGSEGV");
        assert_eq!(Status::Exit(134).to_string(), "killed by SIGABRT (exit 134)");
        assert_eq!(Status::Signal(40).to_string(), "killed by signal 40");
        assert_eq!(Status::Exit(3).to_string(), "exit 3");
    }

    proptest! {
        /// Against the plain way: text by text.
        #[test]
        fn paths_are_replaced(text in "(/t|/tr|ee|/tree|x|/){0,30}") {
            let found = without_places(text.as_bytes(), &[(Path::new("/tree"), "{tree}")]);
            prop_assert_eq!(String::from_utf8(found).unwrap(), text.replace("/tree", "{tree}"));
        }
    }
}

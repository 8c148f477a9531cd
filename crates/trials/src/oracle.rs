//! Decides whether a run passed, failed as bad does, or is unresolved.
//!
//! A run *passes* if it satisfies the [`Rule`]. A run that does not pass *fails* only if it terminates in the
//! same way as bad: normally, by the same signal, or not at all. Otherwise it is *unresolved*: a
//! half-reverted program that crashes is no evidence about why bad prints a wrong number. Runs that terminate
//! normally are not distinguished further, neither by exit status nor by output: a wrong result that is wrong
//! in a different way is still a wrong result. With [`Rule::Exit`] the test script makes the distinction
//! itself, so everything but 0 and 125 fails.
//!
//! A failing run shows the *symptom* of bad if its exit status is that of bad and the first line that differs
//! from good is the one in which bad differs from good. This is the criterion when changes are put into good,
//! and for commits between good and bad.
//!
//! Parts that differ from run to run of one version are masked first, see [`Mask`](crate::Mask).

use crate::error::{Error, Side};
use crate::exit_kind::ExitKind;
use crate::mask::Mask;
use crate::observed::{Content, Observed, Output, first_difference};
use crate::process::Status;
use crate::store::{Known, TrialResult};
use changes::outcome::Outcome;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_128;

/// The criteria that distinguish good from bad.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Oracle {
    /// The criterion for a pass.
    pub rule: Rule,
    /// Sinks to compare in addition to exit status and standard output.
    pub observe: Vec<Sink>,
}

/// The criterion for a pass.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Rule {
    /// Exit status, standard output and all observed sinks are as with good.
    #[default]
    SameAsGood,
    /// As for `git bisect run`: 0 passes, 125 is unresolved, all else fails.
    Exit,
    /// Exit status 0 and exactly this standard output; the other observed sinks are as with good.
    Expect(Vec<u8>),
    /// The exit status is that of good, and the test takes about as much processor time.
    Slower,
}

/// An output of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Relative to the directory in which the test runs.
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
    /// All sinks, standard output first, each with whether it decides.
    pub(crate) fn sinks(&self) -> Vec<(Sink, bool)> {
        let judged = !matches!(self.rule, Rule::Exit | Rule::Slower);
        let mut sinks = vec![(Sink::Stdout, judged)];
        if !self.observe.contains(&Sink::Stderr) {
            sinks.push((Sink::Stderr, false));
        }
        sinks.extend(self.observe.iter().filter(|s| **s != Sink::Stdout).map(|s| (s.clone(), judged)));
        sinks
    }
}

/// A smaller slowdown relative to good is not a failure of [`Rule::Slower`].
const MIN_SLOWDOWN: f64 = 1.5;
/// Shorter times are not compared, in seconds.
const MIN_TIME: f64 = 0.03;

/// Judges runs by comparing them with those of good and bad.
#[derive(Clone, Debug)]
pub struct Judge {
    rule: Rule,
    good: Observed,
    /// One run of bad; other runs may differ where runs of one version may differ.
    bad_run: Observed,
    /// One for each sink.
    masks: Vec<Mask>,
    /// Maximum processor time of a passing run.
    most_cpu: f64,
    /// For each sink, the first line in which bad differs from good, in both forms, masked.
    symptom: Vec<Option<(Vec<u8>, Vec<u8>)>>,
}

impl Judge {
    /// Creates a judge from repeated runs of good and of bad.
    ///
    /// # Errors
    /// [`Error::DoesNotPass`], [`Error::DoesNotFail`], [`Error::Swapped`] or [`Error::Flaky`].
    pub fn new(rule: &Rule, good: &[Observed], bad: &[Observed]) -> Result<Judge, Error> {
        let (Some(first_good), Some(first_bad)) = (good.first(), bad.first()) else {
            return Err(Error::NotPrepared);
        };
        for (version, first) in [(Side::Good, first_good), (Side::Bad, first_bad)] {
            if first.status.exit_kind() == ExitKind::NotRun {
                let why = not_run(first);
                return Err(Error::TestNotRun { version, why });
            }
        }
        let masks: Vec<Mask> = (0..first_good.outputs.len()).map(|at| learn(good, bad, at)).collect();
        let least = |runs: &[Observed]| runs.iter().map(|run| run.cpu).fold(f64::INFINITY, f64::min);
        let most_cpu = (least(good).max(MIN_TIME) * least(bad).max(MIN_TIME)).sqrt();
        let mut judge = Judge {
            rule: rule.clone(),
            good: first_good.clone(),
            bad_run: first_bad.clone(),
            masks,
            most_cpu,
            symptom: Vec::new(),
        };
        judge.symptom = judge.differences(first_bad);
        if *rule == Rule::Slower && least(bad) < least(good).max(MIN_TIME) * MIN_SLOWDOWN {
            let why =
                format!("it takes {:.2} s of processor time, the good one {:.2} s", least(bad), least(good));
            return Err(Error::DoesNotFail { why });
        }
        let passed: Vec<bool> = good.iter().map(|o| judge.passes(o)).collect();
        if passed.iter().all(|p| !p) || !judge.is_valid_reference(first_good) {
            // With the versions swapped it would be a regression.
            if bad.iter().all(|o| judge.meets_expectation(o)) {
                return Err(Error::Swapped { why: judge.diagnostic(first_good) });
            }
            return Err(Error::DoesNotPass { why: judge.diagnostic(first_good) });
        }
        if let Some(other) =
            good.iter().zip(&passed).find(|(o, passed)| !**passed || o.status != first_good.status)
        {
            return Err(Error::Flaky { version: Side::Good, why: judge.disagreement(first_good, other.0) });
        }
        let passed: Vec<bool> = bad.iter().map(|o| judge.passes(o)).collect();
        if passed.iter().all(|p| *p) {
            let hidden: Vec<String> = judge
                .hidden(first_bad)
                .iter()
                .map(|name| format!("{name} differs only in what differs from run to run"))
                .collect();
            let why = if hidden.is_empty() {
                format!("it does the same as the good one ({})", first_bad.status)
            } else {
                format!("{} ({} in both)", hidden.join(", "), first_bad.status)
            };
            return Err(Error::DoesNotFail { why });
        }
        if let Some(other) =
            bad.iter().zip(&passed).find(|(o, p)| **p != passed[0] || o.status.exit_kind() != judge.bad())
        {
            return Err(Error::Flaky { version: Side::Bad, why: judge.disagreement(first_bad, other.0) });
        }
        if *rule == Rule::Exit && first_bad.status == Status::Exit(125) {
            let why = "it says that it cannot tell (exit 125)".to_owned();
            return Err(Error::DoesNotFail { why });
        }
        Ok(judge)
    }

    /// The kind of termination of bad.
    fn bad(&self) -> ExitKind {
        self.bad_run.status.exit_kind()
    }

    /// A version whose test does not terminate normally cannot be the reference.
    fn is_valid_reference(&self, observed: &Observed) -> bool {
        self.rule != Rule::SameAsGood || observed.status.exit_kind() == ExitKind::ByItself
    }

    /// Whether a run passes without being compared with good.
    fn meets_expectation(&self, observed: &Observed) -> bool {
        match self.rule {
            Rule::SameAsGood | Rule::Slower => observed.status == Status::Exit(0),
            _ => self.passes(observed),
        }
    }

    fn masked(&self, at: usize, output: &Output) -> Content {
        match (&output.content, self.masks.get(at)) {
            (Content::Text(text), Some(mask)) if !mask.is_empty() => Content::Text(mask.apply(text).into()),
            (content, _) => content.clone(),
        }
    }

    /// Whether the outputs of the judged sinks, or of all, are the same.
    fn same_outputs(&self, one: &Observed, other: &Observed, all: bool) -> bool {
        let pairs = one.outputs.iter().zip(&other.outputs).enumerate();
        one.outputs.len() == other.outputs.len()
            && pairs
                .filter(|(_, (a, _))| all || a.judged)
                .all(|(at, (a, b))| a.content == b.content || self.masked(at, a) == self.masked(at, b))
    }

    fn passes(&self, observed: &Observed) -> bool {
        match &self.rule {
            Rule::SameAsGood => {
                observed.status == self.good.status && self.same_outputs(observed, &self.good, false)
            }
            Rule::Exit => observed.status == Status::Exit(0),
            Rule::Slower => observed.status == self.good.status && observed.cpu <= self.most_cpu,
            Rule::Expect(expected) => {
                let stdout = observed.outputs.first().map_or(&[][..], |output| output.content.text());
                let others = |o: &Observed| Observed {
                    outputs: o.outputs.get(1..).unwrap_or_default().to_vec(),
                    ..o.clone()
                };
                observed.status == Status::Exit(0)
                    && stdout == expected.as_slice()
                    && self.same_outputs(&others(observed), &others(&self.good), false)
            }
        }
    }

    /// Whether a run should be repeated before it is judged: times are never measured only once.
    #[must_use]
    pub fn needs_repeat(&self, observed: &Observed) -> bool {
        self.rule == Rule::Slower && observed.cpu > self.most_cpu && observed.cpu < self.most_cpu * 4.0
    }

    /// The outcome of a trial, and a short reason.
    #[must_use]
    pub fn outcome(&self, observed: &Observed) -> (Outcome, String) {
        if self.passes(observed) {
            return (Outcome::Pass, observed.status.to_string());
        }
        let outcome = match self.rule {
            Rule::Exit if observed.status == Status::Exit(125) => Outcome::Unresolved,
            Rule::Exit => Outcome::Fail,
            _ if observed.status.exit_kind() == self.bad() => Outcome::Fail,
            _ => Outcome::Unresolved,
        };
        (outcome, self.diagnostic(observed))
    }

    /// Whether a failing run shows the symptom of bad: the same exit status, and the same first difference in
    /// the judged sinks. If only the exit status is judged, it must have at least half of the error messages
    /// that are specific to bad.
    #[must_use]
    pub fn shows_symptom(&self, observed: &Observed) -> bool {
        if observed.status != self.bad_run.status {
            return false;
        }
        let differences = self.differences(observed);
        let judged = |at: usize| self.good.outputs.get(at).is_some_and(|output| output.judged);
        let judged_alike =
            self.symptom.iter().zip(&differences).enumerate().filter(|(at, _)| judged(*at)).all(
                |(_, (bad, here))| bad.as_ref().map(|(_, line)| line) == here.as_ref().map(|(_, line)| line),
            );
        let is_judged = self.good.outputs.iter().any(|output| output.judged);
        judged_alike && (is_judged || self.shares_error_messages(observed))
    }

    fn shares_error_messages(&self, observed: &Observed) -> bool {
        let complaints = |observed: &Observed| -> BTreeSet<Vec<u8>> {
            let texts = observed.outputs.iter().enumerate().map(|(at, output)| self.masked(at, output));
            let lines = texts
                .flat_map(|text| text.text().split(|b| *b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>());
            lines.filter(|line| is_error_message(line)).map(|line| without_digits(&line)).collect()
        };
        let good = complaints(&self.good);
        let bad: BTreeSet<Vec<u8>> = complaints(&self.bad_run).difference(&good).cloned().collect();
        let shared = complaints(observed).intersection(&bad).count();
        bad.is_empty() || 2 * shared >= bad.len()
    }

    /// First differences from good for each sink, masked.
    fn differences(&self, observed: &Observed) -> Vec<Option<(Vec<u8>, Vec<u8>)>> {
        let pairs = self.good.outputs.iter().zip(&observed.outputs).enumerate();
        pairs
            .map(|(at, (good, here))| {
                first_difference(self.masked(at, good).text(), self.masked(at, here).text())
            })
            .collect()
    }

    /// The result to store for a trial.
    pub(crate) fn known(&self, observed: &Observed) -> Known {
        let (outcome, why) = self.outcome(observed);
        let alike =
            observed.status == self.bad_run.status && self.same_outputs(observed, &self.bad_run, false);
        let symptom = outcome == Outcome::Fail && self.shows_symptom(observed);
        Known { alike, symptom, ..Known::untested(TrialResult::Tested(outcome), why) }
    }

    fn diagnostic(&self, observed: &Observed) -> String {
        let mut why = observed.status.to_string();
        if self.rule == Rule::Slower {
            return format!("{why}, {:.2} s of processor time", observed.cpu);
        }
        let expected = match &self.rule {
            Rule::Expect(expected) => Some(expected.as_slice()),
            _ => None,
        };
        for (at, (good, here)) in self.good.outputs.iter().zip(&observed.outputs).enumerate() {
            if let (0, Some(expected)) = (at, expected) {
                if here.content.text() != expected {
                    why += ", stdout is not as expected";
                }
            } else if here.judged && self.masked(at, good) != self.masked(at, here) {
                why += &format!(", {} differs", here.name);
            }
        }
        why
    }

    /// Sinks in which a run differs from good only in masked parts.
    fn hidden(&self, observed: &Observed) -> Vec<String> {
        let pairs = self.good.outputs.iter().zip(&observed.outputs).enumerate();
        pairs
            .filter(|(at, (good, here))| {
                here.judged
                    && good.content != here.content
                    && self.masked(*at, good) == self.masked(*at, here)
            })
            .map(|(_, (_, here))| here.name.clone())
            .collect()
    }

    /// Names of the judged sinks in which two runs differ.
    fn differing<'a>(&self, first: &'a Observed, other: &Observed) -> Vec<&'a str> {
        let pairs = first.outputs.iter().zip(&other.outputs).enumerate();
        pairs
            .filter(|(at, (a, b))| a.judged && self.masked(*at, a) != self.masked(*at, b))
            .map(|(_, (a, _))| a.name.as_str())
            .collect()
    }

    /// The difference between two runs of one version; `None` if no judged part differs.
    pub(crate) fn deviation(&self, plain: &Observed, other: &Observed) -> Option<String> {
        let differing = self.differing(plain, other);
        if plain.status != other.status {
            Some(format!("{} instead of {}", other.status, plain.status))
        } else if differing.is_empty() {
            None
        } else {
            Some(format!("{} differs", differing.join(", ")))
        }
    }

    fn disagreement(&self, first: &Observed, other: &Observed) -> String {
        let differing = self.differing(first, other);
        if first.status == other.status && !differing.is_empty() {
            return format!("{} differs from run to run ({} each time)", differing.join(", "), first.status);
        }
        format!("{} once, {} another time", first.status, other.status)
    }

    /// The masked parts, for the report.
    #[must_use]
    pub fn masked_parts(&self) -> Vec<String> {
        let judged = self.good.outputs.iter().zip(&self.masks).filter(|(output, _)| output.judged);
        judged
            .flat_map(|(output, mask)| {
                mask.describe().into_iter().map(|text| format!("{}: {text}", output.name))
            })
            .collect()
    }

    /// Everything that outcomes depend on, for the key of the store.
    pub(crate) fn fingerprint(&self) -> String {
        let rule = match &self.rule {
            Rule::SameAsGood => "same".to_owned(),
            Rule::Exit => "exit".to_owned(),
            Rule::Expect(bytes) => format!("expect {:x}", xxh3_128(bytes)),
            Rule::Slower => "slower".to_owned(),
        };
        let outputs = |observed: &Observed| -> Vec<u128> {
            let masked = observed.outputs.iter().enumerate().filter(|(_, output)| output.judged);
            masked.map(|(at, output)| xxh3_128(self.masked(at, output).text())).collect()
        };
        let good = outputs(&self.good);
        format!("{rule}\n{:?} {good:?}\n{:?}", self.good.status, self.bad())
    }
}

/// The mask of one sink.
fn learn(good: &[Observed], bad: &[Observed], at: usize) -> Mask {
    let texts = |runs: &[Observed]| -> Vec<Vec<u8>> {
        let outputs = runs.iter().filter_map(|run| run.outputs.get(at));
        outputs.map(|output| output.content.text().to_vec()).collect()
    };
    let seconds = good.iter().chain(bad).map(|run| run.seconds).fold(0.0, f64::max);
    Mask::learn(&texts(good), &texts(bad), seconds)
}

/// Whether a line looks like a report of a failure.
fn is_error_message(line: &[u8]) -> bool {
    const WORDS: [&str; 8] = ["fail", "error", "assert", "abort", "not ok", "expected", "mismatch", "panic"];
    let lower = String::from_utf8_lossy(line).to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// Line numbers and addresses differ between versions that fail in the same way.
fn without_digits(line: &[u8]) -> Vec<u8> {
    line.iter().copied().filter(|b| !b.is_ascii_digit()).collect()
}

/// Why a test command could not be run: the shell's message if there is one.
fn not_run(observed: &Observed) -> String {
    let stderr = observed.outputs.iter().find(|output| output.name == "stderr");
    let said = stderr.map(|output| String::from_utf8_lossy(output.content.text()).into_owned());
    let line = said.unwrap_or_default().lines().last().unwrap_or_default().trim().to_owned();
    if line.is_empty() { observed.status.to_string() } else { format!("{line} ({})", observed.status) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Fail, Pass, Unresolved};

    /// A run whose output consists of words without numbers.
    fn observed(status: Status, stdout: u8) -> Observed {
        let word =
            ["zero", "one", "two", "three", "four", "five"].get(usize::from(stdout)).unwrap_or(&"many");
        printed(status, &format!("{word}\n"))
    }

    fn printed(status: Status, stdout: &str) -> Observed {
        let content = Content::Text(stdout.as_bytes().into());
        Observed {
            status,
            outputs: vec![Output { name: "stdout".to_owned(), judged: true, content }],
            cpu: 0.0,
            seconds: 0.0,
        }
    }

    fn judge(rule: Rule, good: (Status, u8), bad: (Status, u8)) -> Judge {
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
            [Status::Signal(11), Status::Exit(139), Status::TimedOut, Status::Exit(127), Status::OutputLimit]
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
        let ok = printed(Status::Exit(0), "yes");
        let judge = Judge::new(&rule, &[ok], &[observed(Status::Exit(0), 2)]).unwrap();
        assert_eq!(judge.outcome(&printed(Status::Exit(1), "yes")).0, Fail);
        assert_eq!(
            judge.outcome(&observed(Status::Exit(0), 3)),
            (Fail, "exit 0, stdout is not as expected".into())
        );
        let error =
            Judge::new(&rule, &[observed(Status::Exit(0), 3)], &[observed(Status::Exit(0), 2)]).unwrap_err();
        assert!(matches!(error, Error::DoesNotPass { .. }));
        let swapped = Judge::new(&rule, &[observed(Status::Exit(0), 3)], &[printed(Status::Exit(0), "yes")]);
        assert!(matches!(swapped, Err(Error::Swapped { .. })));
    }

    #[test]
    fn the_symptom_is_the_first_line_that_differs() {
        let good = printed(Status::Exit(0), "a\nb\nc\n");
        let judge = Judge::new(&Rule::SameAsGood, &[good], &[printed(Status::Exit(0), "a\nB\nC\n")]).unwrap();
        assert!(judge.shows_symptom(&printed(Status::Exit(0), "a\nB\nsomething else\n")));
        assert!(!judge.shows_symptom(&printed(Status::Exit(0), "a\nb\nC\n")));
        assert!(!judge.shows_symptom(&printed(Status::Exit(1), "a\nB\nC\n")));
    }

    #[test]
    fn by_exit_status_the_symptom_is_what_bad_says_of_its_failure() {
        let evidence = |status, text: &str| {
            let mut observed = printed(status, text);
            observed.outputs[0].judged = false;
            observed
        };
        let good = evidence(Status::Exit(0), "Running 2 tests\n");
        let bad = evidence(Status::Exit(1), "Running 3 tests\nline 12: error: want x\nFAILED query\n");
        let judge = Judge::new(&Rule::Exit, &[good], &[bad]).unwrap();
        assert!(judge.shows_symptom(&evidence(
            Status::Exit(1),
            "Running 2 tests\nline 9: error: want x\nFAILED query\n"
        )));
        assert!(!judge.shows_symptom(&evidence(Status::Exit(1), "FAILED path\nerror: no\n")));
        assert!(!judge.shows_symptom(&evidence(Status::Exit(2), "line 12: error: want x\nFAILED query\n")));
    }

    #[test]
    fn slowness_is_judged_by_processor_time() {
        let took = |cpu| Observed { cpu, ..observed(Status::Exit(0), 1) };
        let judge = Judge::new(&Rule::Slower, &[took(0.1), took(0.11)], &[took(1.0), took(1.3)]).unwrap();
        assert_eq!(judge.outcome(&took(0.2)).0, Pass);
        assert_eq!(judge.outcome(&took(0.9)).0, Fail);
        assert!(matches!(
            Judge::new(&Rule::Slower, &[took(0.1)], &[took(0.12)]),
            Err(Error::DoesNotFail { .. })
        ));
    }

    #[test]
    fn bad_may_fail_in_words_that_change_but_not_in_kind() {
        let good = [observed(Status::Exit(0), 1)];
        let words = [observed(Status::Exit(1), 2), observed(Status::Exit(1), 3)];
        assert!(Judge::new(&Rule::SameAsGood, &good, &words).is_ok());
        let kinds = [observed(Status::Exit(1), 2), observed(Status::Signal(11), 2)];
        assert!(matches!(Judge::new(&Rule::SameAsGood, &good, &kinds), Err(Error::Flaky { .. })));
    }
}

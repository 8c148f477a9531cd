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

use crate::error::{Error, Side};
use crate::manner::Manner;
use crate::observed::Observed;
use crate::process::Status;
use crate::store::{Known, What};
use changes::outcome::Outcome;
use std::fmt;
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_128;

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

/// Knows what good and bad did, and judges other runs by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judge {
    rule: Rule,
    expected: Option<u128>,
    good: Observed,
    /// A run of bad; others may differ in what a test may differ in.
    bad_run: Observed,
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
        let judge =
            Judge { rule: rule.clone(), expected, good: first_good.clone(), bad_run: first_bad.clone() };
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
            bad.iter().zip(&passed).find(|(o, p)| **p != passed[0] || o.status.manner() != judge.bad())
        {
            return Err(Error::Flaky { version: Side::Bad, why: disagreement(first_bad, other.0) });
        }
        if *rule == Rule::Exit && first_bad.status == Status::Exit(125) {
            let why = "it says that it cannot tell (exit 125)".to_owned();
            return Err(Error::DoesNotFail { why });
        }
        Ok(judge)
    }

    /// How bad's test ends.
    fn bad(&self) -> Manner {
        self.bad_run.status.manner()
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
            _ if observed.status.manner() == self.bad() => Outcome::Fail,
            _ => Outcome::Unresolved,
        };
        (outcome, self.complaint(observed))
    }

    /// What to remember of a trial.
    pub(crate) fn known(&self, observed: &Observed) -> Known {
        let (outcome, why) = self.outcome(observed);
        let alike = *observed == self.bad_run;
        Known { alike, ..Known::untested(What::Tested(outcome), why) }
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
        format!("{rule}\n{:?}\n{:?}", self.good, self.bad())
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
}

//! One explanation from beginning to end.
//!
//! ```text
//! versions -> hold the test's files -> build and test both   (is it a regression at all?)
//!          -> bisect commits -> a commit and its parent       (the nearest pair people wrote)
//!          -> record both -> observe -> slices                (what went wrong, what led there)
//!          -> evidence -> search by trials                    (which changes)
//!          -> record bad with them undone -> causes -> answer (and how)
//! ```
//!
//! If a recording or a location is not available, the explanation is less detailed and its notes report this.
//! The search then has less evidence, but trials prove its answer in any case.
//!
//! The search may be interrupted at any time, by the user or by its budget: then the answer is the best one
//! so far, with the properties that were proved of it.

use crate::answer::{self, Answer};
use crate::case::{Case, Texts};
use crate::error::Error;
use crate::evidence::Evidence;
use crate::further;
use crate::held::TestFiles;
use crate::links;
use crate::meant::{Intentions, Meant};
use crate::pair::Pair;
use crate::passing;
use crate::searching::{self, Searched};
use crate::telling::Telling;
use changes::search::Progress;
use changes::{ChangeId, ChangeSet, Difference};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trials::{Event, Oracle, Rule, Setup, Side, Status, Tools, TrialLimits, TrialRunner, Version, Work};

/// Time limit for one solver query: there are many, and slices are a fallback.
const SOLVING: Duration = Duration::from_secs(2);

/// The failure to explain, and the tools and limits to use.
#[derive(Clone, Debug)]
pub struct Request {
    /// The version in which the test passes: a revision or a directory.
    pub good: String,
    /// The version in which the test fails: a revision or a directory.
    pub bad: String,
    /// The user's working directory.
    pub here: PathBuf,
    /// The shell command that builds a version.
    pub build: String,
    /// The shell command of the failing test.
    pub test: String,
    /// A similar test that passes with both versions.
    pub passing_test: Option<String>,
    /// A wider test that both versions pass and that must pass with an answer undone.
    pub suite: Option<String>,
    /// Files that belong to the test, besides those recognised by name; `*` is a wildcard.
    pub test_files: Vec<String>,
    /// The time limit of the whole session.
    pub budget: Option<Duration>,
    /// Skips the search by trials: only the failure, the ranking and the chain.
    pub no_trials: bool,
    /// The file that is the test's standard input.
    pub stdin: Option<PathBuf>,
    /// How passing and failing runs are told apart.
    pub oracle: Oracle,
    /// The search method.
    pub method: Method,
    /// Number of trials that run at the same time.
    pub jobs: usize,
    /// How often good and bad are run to check that the test is not flaky.
    pub repeat: usize,
    /// Limits of each build and each run.
    pub limits: TrialLimits,
    /// The compiler wrappers and other programs that trials need.
    pub tools: Tools,
    /// A directory with the usual names of compilers, put first in the `PATH` of builds, for those that do
    /// not use `CC`.
    pub compilers: Option<PathBuf>,
    /// Directory for all intermediate files.
    pub work: PathBuf,
    /// Keeps built trees in the work directory.
    pub keep: bool,
    /// The limit of trials, after which the search ends with its best answer.
    pub most_trials: Option<u64>,
    /// Solvers, the best first.
    pub solvers: Vec<solver::Command>,
    /// Files that do not belong to the versions, relative to their roots.
    pub ignore: Vec<PathBuf>,
    /// Attach views of the runs themselves.
    pub runs: bool,
    /// The callback that reports intended changes.
    pub intentions: Option<Intentions>,
}

/// The search method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Changes near the failure first, then larger sets.
    Auto,
    /// Delta debugging over all changes.
    Dd,
    /// Delta debugging over executed changes.
    Add,
}

impl Method {
    /// The word for it in options and in the answer.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Dd => "dd",
            Method::Add => "add",
        }
    }
}

/// Progress of a session, for display.
pub enum ProgressEvent<'a> {
    /// Both versions are written to the work directory.
    CheckingOut,
    /// A commit between the versions is tried.
    Bisecting {
        /// The commit.
        commit: &'a trials::Commit,
        /// Number of commits left to bisect.
        remaining: usize,
    },
    /// The commit that introduced the failure.
    Bisected(&'a trials::Commit),
    /// Something happened in a trial.
    TrialRunner(&'a Event),
    /// The number of changes between the versions.
    Compared(usize),
    /// The failure was observed.
    Observed(&'a answer::Observation),
    /// The recordings are sliced.
    Slicing,
    /// The search made progress.
    Searching(&'a Progress),
    /// Most of the sets tried so far do not build; the search continues. Sent once.
    MostlyBroken {
        /// The progress so far.
        progress: &'a Progress,
        /// A suspicious function that was changed in many places, and the number of these.
        rewritten: Option<(String, usize)>,
        /// The changes between the versions.
        difference: &'a Difference,
        /// All changes, the most suspicious first.
        order: &'a [ChangeId],
    },
    /// The changes are known; the causes are not yet.
    Verdict(&'a Answer),
    /// The causes are computed.
    Explaining,
    /// Steps of the chain are tested by running bad with another value there.
    Proving,
}

/// The answer, and the sources for rendering it.
pub struct Explanation {
    /// The complete answer.
    pub answer: Answer,
    /// Texts of the files of good that the answer refers to.
    pub good_files: Texts,
    /// Texts of files of bad.
    pub bad_files: Texts,
    /// The failing run in phases, if requested.
    pub phases: Option<slice::phases::tree::Tree>,
    /// Both runs of the failing test, if requested.
    pub runs: Option<views::page::Page>,
}

/// Stops the session at the end of its time budget.
struct Deadline {
    over: Arc<AtomicBool>,
    done: std::sync::mpsc::Sender<()>,
}

impl Deadline {
    /// Sets `stop` at the end of the budget, and `over` to distinguish this from an interrupt.
    fn new(budget: Option<Duration>, stop: &Arc<AtomicBool>) -> Deadline {
        let over = Arc::new(AtomicBool::new(false));
        let (done, wait) = std::sync::mpsc::channel::<()>();
        if let Some(budget) = budget {
            let (over, stop) = (over.clone(), stop.clone());
            // The rest is reserved for assembling the answer.
            let until = budget.mul_f64(0.9);
            std::thread::spawn(move || {
                if wait.recv_timeout(until) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    over.store(true, Ordering::Relaxed);
                    stop.store(true, Ordering::Relaxed);
                }
            });
        }
        Deadline { over, done }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        // The thread may have ended already.
        let _ = self.done.send(());
    }
}

/// Runs the session.
///
/// # Errors
/// See [`Error`]; it is an error if the test shows no regression or is flaky.
pub fn explain(
    request: &Request,
    stop: Arc<AtomicBool>,
    news: Arc<dyn Fn(&ProgressEvent<'_>) + Send + Sync>,
) -> Result<Explanation, Error> {
    let began = Instant::now();
    let deadline = Deadline::new(request.budget, &stop);
    news(&ProgressEvent::CheckingOut);
    let work = Work::open(&request.work, request.keep)?;
    let mut pair = Pair::check_out(request, &work)?;
    let files = TestFiles::new(&request.test, &pair.bad.subdirectory, &request.test_files);
    pair.hold(&files)?;
    let whole = pair.difference(request);
    let whole = match whole {
        Err(Error::SameVersions) if !pair.held.is_empty() => {
            // Only files of the test differ.
            pair.release(&work)?;
            pair.notes.push("Only files of the test differ between the versions.".to_owned());
            pair.difference(request)?
        }
        whole => whole?,
    };
    news(&ProgressEvent::Compared(whole.changes().len()));
    let opening = Opening { request, stop: &stop, news: &news };
    let mut whole = whole;
    let mut lab = opening.open(work, &pair, &whole)?;
    if let Some(why) = unusable(lab.prepare(), !pair.held.is_empty())? {
        let (work, effort) = lab.into_work();
        pair.release(&work)?;
        pair.notes.push(format!(
            "The test's files of bad could not be used for good ({why}); each version has its own."
        ));
        whole = pair.difference(request)?;
        lab = opening.open(work, &pair, &whole)?;
        lab.add_effort(effort);
        lab.prepare()?;
    }
    let line = pair.history().filter(|_| request.method == Method::Auto && !request.no_trials);
    if let Some(line) = line {
        if pair.bad.commit.is_some() {
            pair.commit = line.only_commit().cloned();
        }
        let narrowed = pair.bisected(request, line, &files, &mut lab, &*news);
        match narrowed {
            Ok(Some(found)) => {
                let (work, effort) = lab.into_work();
                pair = pair.narrowed(request, &found, &files, &work)?;
                if let Some(commit) = &pair.commit {
                    news(&ProgressEvent::Bisected(commit));
                }
                let narrow = pair.difference(request)?;
                news(&ProgressEvent::Compared(narrow.changes().len()));
                let mut lab = opening.open(work, &pair, &narrow)?;
                lab.add_effort(effort);
                match lab.prepare() {
                    // The commit is known, which is a useful answer by itself.
                    Err(trials::Error::Cancelled) => {}
                    prepared => drop(prepared?),
                }
                return opening.explain_pair(&pair, &files, &narrow, lab, &deadline, began);
            }
            Ok(None) => {}
            // The best answer so far: no changes were found, but the versions are known to be a regression.
            Err(Error::Trials(trials::Error::Cancelled)) => {}
            Err(error) => return Err(error),
        }
    }
    opening.explain_pair(&pair, &files, &whole, lab, &deadline, began)
}

/// Why the test's files of bad cannot be used for good, if they cannot.
fn unusable(prepared: Result<&trials::Baseline, trials::Error>, held: bool) -> Result<Option<String>, Error> {
    use trials::Error as T;
    match prepared {
        // The behaviour of good with its own files is correct by definition; with other files it must
        // succeed.
        Ok(baseline) if held && baseline.good.status != Status::Exit(0) => {
            Ok(Some(format!("its test ends with {}", baseline.good.status)))
        }
        Ok(_) => Ok(None),
        Err(
            error @ (T::DoesNotBuild { version: Side::Good, .. }
            | T::TestNotRun { version: Side::Good, .. }
            | T::DoesNotPass { .. }
            | T::Swapped { .. }
            | T::DoesNotFail { .. }),
        ) if held => Ok(Some(format!("failed to {error}"))),
        Err(error) => Err(error.into()),
    }
}

/// State shared by all stages of an explanation.
struct Opening<'r> {
    request: &'r Request,
    stop: &'r Arc<AtomicBool>,
    news: &'r Arc<dyn Fn(&ProgressEvent<'_>) + Send + Sync>,
}

impl Opening<'_> {
    fn open<'d>(
        &self,
        work: Work,
        pair: &Pair,
        difference: &'d Difference,
    ) -> Result<TrialRunner<'d>, Error> {
        let request = self.request;
        let setup = Setup {
            bad: pair.bad_root.clone(),
            subdirectory: pair.bad.subdirectory.clone(),
            build: trials::with_compilers(&request.build, request.compilers.as_deref()),
            test: request.test.clone(),
            suite: request.suite.clone().or_else(|| request.passing_test.clone()),
            stdin: request.stdin.clone(),
            oracle: request.oracle.clone(),
            tools: request.tools.clone(),
            jobs: request.jobs,
            repeat: request.repeat,
            limits: request.limits,
        };
        let mut lab = TrialRunner::open(work, setup, difference, self.stop.clone())?;
        let listener = self.news.clone();
        lab.watch(move |event| listener(&ProgressEvent::TrialRunner(event)));
        Ok(lab)
    }

    /// Whether there is time for work that the answer does not require.
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Explains why the second version of a pair fails.
    fn explain_pair(
        &self,
        pair: &Pair,
        files: &TestFiles,
        difference: &Difference,
        mut lab: TrialRunner<'_>,
        deadline: &Deadline,
        began: Instant,
    ) -> Result<Explanation, Error> {
        let request = self.request;
        let scratch = lab.work().fresh_tmp("alternate")?;
        let mut case = Case::new(difference, &pair.good_root, &pair.bad_root, &request.oracle);
        case.solving.commands.clone_from(&request.solvers);
        case.solving.limits.timeout = SOLVING;
        match case.record(&mut lab) {
            Err(Error::Trials(trials::Error::Cancelled)) => {
                case.notes.push("Nothing inside the program was seen: it was interrupted before.".to_owned());
            }
            recorded => recorded?,
        }
        let mut loaded = case.load();
        if let Some(baseline) = lab.baseline() {
            if request.oracle.rule == Rule::Slower {
                loaded.observed.observation = slowness(baseline);
            }
            loaded.observed.observation.stderr = crate::last_words::of(&baseline.bad);
        }
        (self.news)(&ProgressEvent::Observed(&loaded.observed.observation));
        (self.news)(&ProgressEvent::Slicing);
        let question = further::question(&loaded);
        let findings = loaded.slice(&case);
        let steps = findings.steps();
        let evidence = findings.evidence(&case);
        let mut notes = pair.notes.clone();
        let mut passing = None;
        if let Some(test) = request.passing_test.as_ref().filter(|_| self.goes_on()) {
            match passing::with_test(&case, &loaded.observed, &mut lab, test) {
                Ok(Ok(found)) => passing = Some(found),
                Ok(Err(reason)) => notes.push(format!("the passing test was not compared: {reason}")),
                Err(Error::Trials(trials::Error::Cancelled)) => {}
                Err(error) => return Err(error),
            }
        }
        let mut order = passing::ahead(evidence.ranked(), passing.as_ref());
        if request.oracle.rule == Rule::Slower {
            order = searching::by_growth(&order, difference, &loaded.executed);
        }
        let meant = request.intentions.as_ref().map(|who| Meant::ask(who, &case)).unwrap_or_default();
        notes.extend(meant.notes.iter().cloned());
        order = meant.last(order);
        let unread = searching::unread(difference, lab.baseline());
        let searched = if request.no_trials {
            Searched::default()
        } else if lab.baseline().is_none() {
            Searched::interrupted()
        } else {
            searching::search(
                request, difference, &evidence, &order, &unread, &findings, &mut lab, self.news,
            )?
        };
        let mut found = searched.found.clone().unwrap_or_default();
        // The pair separates changes that only compile together, so this wait is worthwhile.
        let (mut fixed, pair_first) = (None, !found.by_chain.is_empty());
        if pair_first {
            fixed = self.counterfactual(&case, difference, &found, &mut lab)?;
            found = match &fixed {
                Some((left, recorded)) => {
                    let fixed_case = case.counterfactual(left, recorded.clone());
                    let loaded = fixed_case.load();
                    searching::by_effect(found, left, &loaded.slice(&fixed_case))
                }
                // Good is bad with all of these undone.
                None if found.all() == difference.all() => searching::by_effect(found, difference, &findings),
                None => found,
            };
        }
        let to_verdict = began.elapsed().as_secs_f64();
        let is_held = |change: &changes::Change| files.contain(Path::new(&change.file));
        let hunks = |set: &ChangeSet| -> Vec<answer::Hunk> {
            // Guilty lines are marked once the causes are known.
            let mut hunks = case.hunks(set, &[]);
            for hunk in &mut hunks {
                let change = difference.change(ChangeId(hunk.change));
                hunk.of_test = is_held(change);
                hunk.part = searching::is_part(difference, change, &found.all());
                hunk.commit = pair.commit_of(change).as_ref().map(answer::Commit::from);
            }
            hunks
        };
        let since = pair.commit.as_ref().map(|commit| commit.id.chars().take(10).collect::<String>());
        let mut answer = Answer {
            schema: answer::SCHEMA.to_owned(),
            verified: searched.is_shown(),
            not_verified: searched.doubt(request.no_trials, deadline.is_over(), since.as_deref()),
            proof: searched.proof(&lab),
            stopped: stopped(&searched, deadline, self.stop),
            commit: pair.commit.as_ref().map(answer::Commit::from),
            method: request.method.name().to_owned(),
            good: version(&pair.good, &case, true),
            bad: version(&pair.bad, &case, false),
            build: request.build.clone(),
            test: request.test.clone(),
            observation: loaded.observed.observation.clone(),
            applied_with: found.applied_with.iter().map(|ChangeId(n)| *n).collect(),
            trials: effort(&lab, difference, &evidence, &order, began, to_verdict, unread.len()),
            notes,
            ..Answer::default()
        };
        answer.root = hunks(&found.root);
        answer.notes.extend(meant.contradicted(&found.root));
        answer.auxiliary = hunks(&found.auxiliary);
        // Without a recording there is no ranking.
        if answer.root.is_empty() && !evidence.candidates().is_empty() {
            let first: Vec<ChangeId> = order
                .iter()
                .copied()
                .filter(|id| !unread.contains(id) && !meant.contains(*id))
                .take(SUSPECTS)
                .collect();
            answer.suspects = first.iter().flat_map(|id| hunks(&ChangeSet::from([*id]))).collect();
        }
        (self.news)(&ProgressEvent::Verdict(&answer));
        (self.news)(&ProgressEvent::Explaining);
        let notes = searched.notes;
        let telling = Telling {
            case: &case,
            observed: &loaded.observed,
            found: &found,
            steps,
            scratch,
            passing,
            runs: request.runs,
            nearby: !request.no_trials,
            compare_tests: request.passing_test.is_none(),
            stop: self.stop,
        };
        if !pair_first {
            fixed = self.counterfactual(&case, difference, &found, &mut lab)?;
        }
        let mut explanation = match fixed {
            Some((left, fixed)) => {
                // Only two runs are kept in memory at a time.
                drop(findings);
                (loaded.good, loaded.bad) = (None, None);
                let fixed_case = case.counterfactual(&left, fixed);
                let (end, recording) = fixed_case.end(true);
                answer.fixed = Some(answer::Version {
                    name: fixed_case.reference.to_owned(),
                    commit: None,
                    end,
                    recording: recording.map(|path| path.display().to_string()),
                });
                let fixed_loaded = fixed_case.load();
                let findings = fixed_loaded.slice(&fixed_case);
                let evidence = findings.evidence(&fixed_case);
                telling.tell(answer, &fixed_case, &findings, &evidence)
            }
            None => telling.tell(answer, &case, &findings, &evidence),
        };
        let answer = &mut explanation.answer;
        if !request.no_trials && !answer.root.is_empty() && self.goes_on() {
            (self.news)(&ProgressEvent::Proving);
            links::prove(&mut answer.causes, &mut lab, Duration::from_secs_f64(to_verdict))?;
            answer.observation.memory_errors = memory_errors(&mut lab, &found.all())?;
        }
        answer.further = further::commands(answer, question.as_deref(), steps);
        answer.notes.extend(lab.notes());
        answer.notes.extend(case.notes.iter().cloned());
        answer.notes.extend(loaded.notes());
        if !pair.held.is_empty() {
            let names: Vec<String> =
                pair.held.iter().take(3).map(|path| path.display().to_string()).collect();
            let more = pair.held.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            answer.notes.push(format!(
                "Every version was tested with the test's files of bad: {}{more}.",
                names.join(", ")
            ));
        }
        answer.notes.extend(notes);
        without_repeats(&mut answer.notes);
        answer.trials.seconds = began.elapsed().as_secs_f64();
        Ok(explanation)
    }

    /// Bad with the found changes undone, recorded, and its difference from bad. The causes are derived from
    /// this pair. `None` if good is that version, or if its recorded run does not pass.
    fn counterfactual(
        &self,
        case: &Case<'_>,
        difference: &Difference,
        found: &changes::Found,
        lab: &mut TrialRunner<'_>,
    ) -> Result<Option<(Difference, trials::Recorded)>, Error> {
        let undone = found.all();
        // Slowness is not a difference of values, and its runs are long.
        let is_told_by_values = self.request.oracle.rule != Rule::Slower && case.is_recorded();
        if found.root.is_empty() || undone == difference.all() || !is_told_by_values || !self.goes_on() {
            return Ok(None);
        }
        let fixed = match lab.record(&undone, "fixed") {
            Ok(fixed) => fixed,
            Err(
                trials::Error::Record { .. } | trials::Error::DoesNotBuild { .. } | trials::Error::Cancelled,
            ) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let passes =
            lab.baseline().is_some_and(|baseline| lab.deviation(&baseline.good, &fixed.run).is_none());
        Ok((passes && fixed.incomplete.is_none()).then(|| (difference.to_reverted(&undone), fixed)))
    }
}

/// The observation for a test that became slower.
fn slowness(baseline: &trials::Baseline) -> answer::Observation {
    let (good, bad) = (baseline.good.observed.cpu, baseline.bad.observed.cpu);
    let summary = format!("the test takes {bad:.2} s of processor time, with good it takes {good:.2} s");
    answer::Observation { kind: "slower".to_owned(), summary, ..answer::Observation::default() }
}

/// Memory errors introduced by the found changes, as sentences.
fn memory_errors(lab: &mut TrialRunner<'_>, undone: &ChangeSet) -> Result<Vec<String>, Error> {
    match lab.memory_errors(undone) {
        Ok(reports) => {
            let freed = reports.iter().any(|report| report.kind.contains("use-after-free"));
            let told = reports.iter().filter(|report| !(freed && report.uses_freed()));
            let mut sentences: Vec<String> = told.map(trials::sanitizer::Report::sentence).collect();
            // Reports of both sanitizers, or of several accesses, may have the same text.
            without_repeats(&mut sentences);
            Ok(first_of(sentences))
        }
        Err(trials::Error::Cancelled) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Errors after the first memory error of a program may be consequences of it, since its memory is then
/// arbitrary. The first ones are listed in the order in which they happened, the others are counted.
fn first_of(mut sentences: Vec<String>) -> Vec<String> {
    const MOST: usize = 3;
    let more = sentences.len().saturating_sub(MOST);
    if more > 1 {
        sentences.truncate(MOST);
        sentences.push(format!("{more} more after these, which may be consequences"));
    }
    sentences
}

/// Removes repeated sentences and keeps the first of each.
fn without_repeats(sentences: &mut Vec<String>) {
    let mut said = std::collections::BTreeSet::new();
    sentences.retain(|sentence| said.insert(sentence.clone()));
}

/// The maximum number of changes shown if there is no answer.
const SUSPECTS: usize = 10;

/// Why the search ended early.
fn stopped(searched: &Searched, deadline: &Deadline, stop: &AtomicBool) -> Option<String> {
    if deadline.is_over() {
        return Some("budget".to_owned());
    }
    if stop.load(Ordering::Relaxed) {
        return Some("interrupted".to_owned());
    }
    searched.exhausted.then(|| "limit".to_owned())
}

fn version(version: &Version, case: &Case<'_>, good: bool) -> answer::Version {
    let (end, recording) = case.end(good);
    answer::Version {
        name: version.name.clone(),
        commit: version.commit.clone(),
        end,
        recording: recording.map(|path: &Path| path.display().to_string()),
    }
}

fn effort(
    lab: &TrialRunner<'_>,
    difference: &Difference,
    evidence: &Evidence,
    order: &[ChangeId],
    began: Instant,
    to_verdict: f64,
    unread: usize,
) -> answer::Effort {
    let effort = lab.effort();
    let number = |ids: &ChangeSet| ids.iter().map(|ChangeId(n)| *n).collect();
    answer::Effort {
        changes: difference.changes().len() as u32,
        candidates: evidence.candidates().len() as u32,
        builds: effort.builds,
        broken_builds: effort.broken_builds,
        checks: effort.refused,
        runs: effort.runs,
        remembered: effort.remembered,
        seconds: began.elapsed().as_secs_f64(),
        seconds_to_verdict: to_verdict,
        unread: unread as u32,
        masked: lab.baseline().map(|baseline| baseline.masked.clone()).unwrap_or_default(),
        order: order.iter().map(|ChangeId(n)| *n).collect(),
        log: lab
            .log()
            .iter()
            .map(|t| answer::Tried {
                reverted: number(&t.reverted),
                outcome: t.outcome.map_or("builds", answer::outcome).to_owned(),
                why: t.why.clone(),
            })
            .collect(),
    }
}

//! One explanation from beginning to end.
//!
//! ```text
//! versions -> difference -> build and test both      (is it a regression at all?)
//!          -> record both -> observe -> slices       (what went wrong, what led there)
//!          -> evidence, with a passing test beside -> search by trials (which changes)
//!          -> verify -> causes -> answer             (and how)
//! ```
//!
//! A recording that cannot be made, or a place that cannot be found, makes the
//! explanation poorer and is said in its notes; the search then has less to go
//! by, but what it finds is verified all the same.

use crate::answer::{self, Answer};
use crate::beside;
use crate::case::{Case, Texts};
use crate::error::Error;
use crate::evidence::Evidence;
use crate::names::Bodies;
use crate::nearby::nearby;
use crate::passing;
use changes::search::{Found, Progress, Search, Structure, Verified};
use changes::{ChangeId, ChangeSet, DiffOptions, Difference, Outcome};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trials::{Event, Lab, Oracle, Setup, Tools, TrialLimits, Version, Work};

/// Time for one question to a solver: there are many, and slices do without.
const SOLVING: Duration = Duration::from_secs(2);

/// What is to be explained, and with what means.
#[derive(Clone, Debug)]
pub struct Request {
    pub good: String,
    pub bad: String,
    /// Where the user stands.
    pub here: PathBuf,
    pub build: String,
    pub test: String,
    /// A similar test that passes with both versions.
    pub passing_test: Option<String>,
    pub stdin: Option<PathBuf>,
    pub oracle: Oracle,
    pub method: Method,
    pub jobs: usize,
    pub repeat: usize,
    pub limits: TrialLimits,
    pub tools: Tools,
    /// A directory with the usual names of compilers, put first in the `PATH` of
    /// builds, for those that do not ask for `CC`.
    pub compilers: Option<PathBuf>,
    /// Directory for everything that is made on the way.
    pub work: PathBuf,
    /// Leave built trees there.
    pub keep: bool,
    /// Trials after which the search ends with what it has.
    pub most_trials: Option<u64>,
    /// Solvers, the best first.
    pub solvers: Vec<solver::Command>,
    /// Files that are no part of the versions, relative to their roots.
    pub ignore: Vec<PathBuf>,
    /// Somebody wants to look at the runs themselves.
    pub runs: bool,
}

/// How the guilty changes are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Changes near the failure first, in ever wider circles.
    Auto,
    /// Delta debugging over all changes.
    Dd,
    /// Delta debugging over executed changes.
    Add,
}

impl Method {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Dd => "dd",
            Method::Add => "add",
        }
    }
}

/// What happens, for somebody who waits.
pub enum News<'a> {
    CheckingOut,
    Lab(&'a Event),
    /// Changes between the versions.
    Compared(usize),
    Observed(&'a answer::Observation),
    Slicing,
    Searching(&'a Progress),
    Explaining,
}

/// The answer, and the sources for showing it.
pub struct Explanation {
    pub answer: Answer,
    /// Texts of files that the answer names: path and text, of good and of bad.
    pub good_files: Texts,
    pub bad_files: Texts,
    /// The failing run in phases, if the runs were wanted.
    pub phases: Option<slice::phases::tree::Tree>,
    /// Both runs of the failing test, if they were wanted.
    pub runs: Option<views::page::Page>,
}

/// Answers the request.
///
/// # Errors
/// See [`Error`]; a test that is no regression test and a flaky one are errors.
pub fn explain(
    request: &Request,
    stop: Arc<AtomicBool>,
    news: Arc<dyn Fn(&News<'_>) + Send + Sync>,
) -> Result<Explanation, Error> {
    news(&News::CheckingOut);
    let work = Work::open(&request.work, request.keep)?;
    let scratch = work.fresh_tmp("alternate")?;
    let (good, bad) = Version::resolve_pair(&request.good, &request.bad, &request.here)?;
    let (good_root, bad_root) = (work.sources("good"), work.sources("bad"));
    let mut notes = good.check_out(&good_root, work.root())?.notes;
    notes.extend(bad.check_out(&bad_root, work.root())?.notes);
    let options = DiffOptions { ignore: request.ignore.clone() };
    let difference = changes::difference(&good_root, &bad_root, &options)?;
    if difference.is_empty() {
        return Err(Error::SameVersions);
    }
    news(&News::Compared(difference.changes().len()));
    let setup = Setup {
        bad: bad_root.clone(),
        subdirectory: bad.subdirectory.clone(),
        build: build_command(request),
        test: request.test.clone(),
        stdin: request.stdin.clone(),
        oracle: request.oracle.clone(),
        tools: request.tools.clone(),
        jobs: request.jobs,
        repeat: request.repeat,
        limits: request.limits,
    };
    // What is computed between trials is looked up from now and then.
    let go_on = || match stop.load(Ordering::Relaxed) {
        true => Err(trials::Error::Cancelled),
        false => Ok(()),
    };
    let mut lab = Lab::open(work, setup, &difference, stop.clone())?;
    let listener = news.clone();
    lab.watch(move |event| listener(&News::Lab(event)));
    lab.prepare()?;
    let mut case = Case::new(&difference, &good_root, &bad_root, &request.oracle);
    case.solving.commands.clone_from(&request.solvers);
    case.solving.limits.timeout = SOLVING;
    case.record(&mut lab)?;
    let loaded = case.load();
    go_on()?;
    news(&News::Observed(&loaded.observed.observation));
    news(&News::Slicing);
    let findings = loaded.slice(&case);
    go_on()?;
    let evidence = findings.evidence(&case);
    let mut passing = None;
    if let Some(test) = &request.passing_test {
        match passing::with_test(&case, &loaded.observed, &mut lab, test)? {
            Ok(found) => passing = Some(found),
            Err(reason) => notes.push(format!("the passing test was not compared: {reason}")),
        }
    }
    go_on()?;
    let order = passing::ahead(evidence.ranked(), passing.as_ref());
    let (found, verified, exhausted) =
        search(request, &difference, &evidence, &order, &findings.functions(), &mut lab, &news)?;
    let sure = verified.as_ref().is_some_and(|v| v.passes && v.minimal);
    news(&News::Explaining);
    let mut answer = Answer {
        schema: answer::SCHEMA.to_owned(),
        verified: sure,
        not_verified: doubt(verified.as_ref(), exhausted),
        method: request.method.name().to_owned(),
        good: version(&good, &case, true),
        bad: version(&bad, &case, false),
        build: request.build.clone(),
        test: request.test.clone(),
        observation: loaded.observed.observation.clone(),
        root: Vec::new(),
        auxiliary: Vec::new(),
        causes: findings.causes(&case, &evidence, &found),
        alternate: None,
        no_alternate: None,
        passing: None,
        trials: effort(&lab, &difference, &evidence, &order),
        notes,
    };
    match nearby(&case, &loaded.observed, findings.steps(), &scratch) {
        Ok((alternate, runs)) => {
            answer.alternate = Some(alternate);
            if request.passing_test.is_none()
                && let Some(runs) = runs
            {
                passing = passing::with_runs(&case, &loaded.observed, &runs, None).ok();
            }
        }
        Err(reason) => answer.no_alternate = Some(reason),
    }
    answer.passing = passing.map(|found| found.beside(&answer.causes));
    answer.root = case.hunks(&found.root, &answer.causes);
    answer.auxiliary = case.hunks(&found.auxiliary, &answer.causes);
    answer.notes.extend(lab.notes());
    answer.notes.extend(case.notes.iter().cloned());
    answer.notes.extend(loaded.notes());
    answer.notes.extend(findings.notes(&found, &answer.causes));
    let (mut phases, mut runs) = (None, None);
    if request.runs {
        go_on()?;
        let mut note = |reason: String| answer.notes.push(reason);
        phases = beside::phases(&findings).unwrap_or_else(|reason| {
            note(reason);
            None
        });
        runs = beside::runs(&case, &loaded.observed, &findings, answer.passing.as_ref()).map_err(note).ok();
    }
    let (good_files, bad_files) = case.files(&answer, phases.as_ref());
    Ok(Explanation { answer, good_files, bad_files, phases, runs })
}

/// The build with our compilers in its path.
fn build_command(request: &Request) -> String {
    let Some(directory) = &request.compilers else { return request.build.clone() };
    let quoted = directory.display().to_string().replace('\'', "'\\''");
    format!("PATH='{quoted}':\"$PATH\"; export PATH\n{}", request.build)
}

/// Searches for an answer end after so many that were wrong when tried from nothing.
const MOST_ATTEMPTS: u32 = 4;

/// Finds the guilty changes and checks them.
fn search(
    request: &Request,
    difference: &Difference,
    evidence: &Evidence,
    order: &[ChangeId],
    functions: &Bodies,
    lab: &mut Lab<'_>,
    news: &Arc<dyn Fn(&News<'_>) + Send + Sync>,
) -> Result<(Found, Option<Verified>, bool), Error> {
    let mut structure = Structure::new(difference);
    structure.set_functions(|id| {
        let change = difference.change(id);
        let body = functions.get(&change.file)?.iter().find(|body| body.contains(&change.new_start))?;
        Some(format!("line {}", body.start))
    });
    let mut watch = |progress: &Progress| news(&News::Searching(progress));
    let mut search = Search::new(lab, &structure, &mut watch);
    if let Some(most) = request.most_trials {
        search.limit(most);
    }
    let mut left = MOST_ATTEMPTS;
    loop {
        left -= 1;
        let found = match request.method {
            Method::Auto => search.dynamic_ranked(order)?,
            Method::Dd => search.dd()?,
            Method::Add => {
                let executed: ChangeSet = evidence.executed().into_iter().collect();
                search.add(&executed)?
            }
        };
        let exhausted = search.exhausted();
        let Some(found) = found else { return Ok((Found::default(), None, exhausted)) };
        let mut verified = search.verify(&found)?;
        if verified.passes {
            // Once more from nothing: what trials built step by step might deceive, and
            // so may a half-reverted program that passes by chance.
            let all = found.all();
            verified.outcome = search.ask_anew(&all, |lab| lab.fresh(&all))?;
            verified.passes = verified.outcome == Outcome::Pass;
            verified.minimal &= verified.passes;
            if !verified.passes && left > 0 && !exhausted {
                // All else that was tried is still known.
                continue;
            }
        }
        return Ok((found, Some(verified), exhausted));
    }
}

/// Why an answer is not verified.
fn doubt(verified: Option<&Verified>, exhausted: bool) -> Option<String> {
    let ran_out = if exhausted { "; the limit on trials ended the search" } else { "" };
    let Some(verified) = verified else {
        return Some(format!("no set of changes was found that makes the test pass when reverted{ran_out}"));
    };
    if !verified.passes {
        return Some(match verified.outcome {
            Outcome::Broken => {
                format!("with exactly these changes reverted the program does not build{ran_out}")
            }
            Outcome::Unresolved => {
                format!("with exactly these changes reverted the test fails in another way{ran_out}")
            }
            _ => format!("with exactly these changes reverted the test still fails{ran_out}"),
        });
    }
    if !verified.minimal && verified.superfluous.is_empty() {
        return Some(format!("it was not tried whether each of these changes is needed{ran_out}"));
    }
    if !verified.minimal {
        let names: Vec<String> = verified.superfluous.iter().map(|c| c.0.to_string()).collect();
        let plural = if names.len() == 1 { "change" } else { "changes" };
        return Some(format!("{plural} {} can be put back without harm{ran_out}", names.join(", ")));
    }
    None
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

fn effort(lab: &Lab<'_>, difference: &Difference, evidence: &Evidence, order: &[ChangeId]) -> answer::Effort {
    let effort = lab.effort();
    let number = |ids: &ChangeSet| ids.iter().map(|ChangeId(n)| *n).collect();
    answer::Effort {
        changes: difference.changes().len() as u32,
        candidates: evidence.candidates().len() as u32,
        builds: effort.builds,
        runs: effort.runs,
        remembered: effort.remembered,
        seconds: effort.seconds,
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

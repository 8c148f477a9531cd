//! Lines by coverage alone, for programs that cannot be recorded or replayed, and for tests that are programs
//! themselves.
//!
//! The program is rebuilt with clang's source-based coverage. Each test yields the lines it executed; no
//! branch, value or slice is known. Ochiai's coefficient gives the order, as in [`crate::suspicion`].
//! Counters are in memory-mapped files, so that they survive a crash.

use crate::answer::{Effort, Located, Pool, Ran, SCHEMA, SuspectLine};
use crate::entries;
use crate::prepare::{build_as, check_fails, run_of, with_suite};
use crate::session::{ProgressEvent, Request};
use crate::suspicion::ochiai;
use crate::test::{Test, Verdict};
use crate::{Error, Result};
use explain::answer::{Observation, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use trials::{Mode, Suite, TestRun};

const FLAGS: &str = "-g -fprofile-instr-generate -fcoverage-mapping -fprofile-continuous";
/// The names by which builds call compilers, and whether each is for C++.
const NAMES: [(&str, bool); 6] =
    [("cc", false), ("gcc", false), ("clang", false), ("c++", true), ("g++", true), ("clang++", true)];
/// The section that maps counters to lines.
const COVERAGE_SECTION: &[u8] = b"__llvm_covmap";

/// A line: its file, relative to the tree, and its number.
type Line = (String, u32);

/// The most suspicious lines by coverage. `why`: the reason that recordings are not used.
///
/// # Errors
/// If there are no tools for coverage, and as [`crate::session::locate`].
pub fn locate(
    request: &Request,
    why: &str,
    stop: &Arc<AtomicBool>,
    news: &(dyn Fn(&ProgressEvent) + Sync),
) -> Result<Located> {
    let began = Instant::now();
    let tools = Tools::of(request)?;
    let mut covered = request.clone();
    let compilers = request.work.join("covering");
    let compilers = std::path::absolute(&compilers).unwrap_or(compilers);
    shims(&compilers, &tools.clang)?;
    (covered.tools.cc, covered.tools.cxx) = (compilers.join("cc"), compilers.join("c++"));
    covered.compilers = Some(compilers);
    let suite = build_as(&covered, Mode::Plain, stop, news)?;
    let (request, unlisted) = &with_suite(&covered, &suite)?;
    news(&ProgressEvent::Testing);
    let timeout = check_fails(request, &suite)?.timeout;
    let covering = Covering { tools: &tools, objects: objects(suite.tree()), suite: &suite, timeout };
    let (run, failing) = covering.run(&request.test, "failing")?;
    if failing.is_empty() {
        return Err(Error::Coverage { why: "the failing test executes no line of the program".to_owned() });
    }
    let mut located = Located {
        schema: SCHEMA.to_owned(),
        build: request.build.clone(),
        coverage_only: true,
        failing: Ran { command: request.test.command.clone(), end: run.status.to_string(), ..Ran::default() },
        observation: Observation {
            kind: "unknown".to_owned(),
            summary: format!("the test ended with {}", run.status),
            ..Observation::default()
        },
        ..Located::default()
    };
    located.notes.push(format!("{why} Lines are by coverage only: no branches, values or slices are known."));
    located.notes.extend(unlisted.iter().cloned());
    let until = Instant::now() + request.budget;
    let mut counts = Counts::default();
    counts.add(&failing, false);
    located.pool = covering.pool(request, stop, until, news, &mut counts)?;
    if located.pool.passed == 0 {
        located.notes.push("No test passes: all lines that the failing test executed are equal.".to_owned());
    }
    located.lines = counts.ranked(&failing, suite.tree());
    entries::fold(&mut located.lines);
    let (builds, runs) = suite.effort();
    located.effort = Effort { builds, runs, seconds: began.elapsed().as_secs_f64() };
    Ok(located)
}

struct Covering<'c> {
    tools: &'c Tools,
    /// Programs and libraries with coverage.
    objects: Vec<PathBuf>,
    suite: &'c Suite,
    timeout: Duration,
}

impl Covering<'_> {
    /// Runs the tests of the pool in parallel and counts their lines.
    fn pool(
        &self,
        request: &Request,
        stop: &AtomicBool,
        until: Instant,
        news: &(dyn Fn(&ProgressEvent) + Sync),
        counts: &mut Counts,
    ) -> Result<Pool> {
        let tests = &request.pool;
        let pool =
            Pool { kind: if tests.is_empty() { "none" } else { "tests" }.to_owned(), ..Pool::default() };
        let shared = Mutex::new((pool, counts));
        let next = std::sync::atomic::AtomicUsize::new(0);
        let work = || -> Result<()> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(test) = tests.get(number) else { return Ok(()) };
                if stop.load(Ordering::Relaxed) || Instant::now() >= until {
                    return Ok(());
                }
                news(&ProgressEvent::Pool { run: number, of: tests.len() });
                let (run, lines) = match self.run(test, &format!("pool-{number}")) {
                    Err(Error::Trials(trials::Error::Cancelled)) => return Ok(()),
                    run => run?,
                };
                let (pool, counts) = &mut *shared.lock().unwrap_or_else(PoisonError::into_inner);
                pool.runs += 1;
                match test.judge(&run) {
                    Verdict::Pass => pool.passed += 1,
                    Verdict::Fail => pool.failed += 1,
                    Verdict::Unresolved => {
                        pool.unresolved += 1;
                        continue;
                    }
                }
                counts.add(&lines, test.judge(&run) == Verdict::Pass);
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..request.jobs.clamp(1, tests.len().max(1))).map(|_| scope.spawn(work)).collect();
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })?;
        Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Runs a test. Returns its result and the lines that it executed.
    fn run(&self, test: &Test, name: &str) -> Result<(TestRun, BTreeSet<Line>)> {
        let directory = self.suite.work().fresh_tmp(&format!("covered-{name}"))?;
        let profiles = trials::quoted(directory.join("%p.profraw").as_os_str().as_encoded_bytes());
        let covered = Test {
            command: format!("export LLVM_PROFILE_FILE={profiles}; {}", test.command),
            ..test.clone()
        };
        let run = self.suite.run(&run_of(&covered, name), self.timeout)?;
        let lines = self.lines(&directory)?;
        let _ = fs::remove_dir_all(&directory);
        Ok((run, lines))
    }

    fn lines(&self, directory: &Path) -> Result<BTreeSet<Line>> {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let profiles: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        if profiles.is_empty() || self.objects.is_empty() {
            return Ok(BTreeSet::new());
        }
        let merged = directory.join("merged");
        let mut merge = Command::new(&self.tools.profdata);
        output(merge.args(["merge", "-sparse", "-failure-mode=all", "-o"]).arg(&merged).args(&profiles))?;
        let mut export = Command::new(&self.tools.cov);
        export.args(["export", "-format=lcov", "-skip-expansions"]).arg("-instr-profile").arg(&merged);
        for (n, object) in self.objects.iter().enumerate() {
            if n > 0 {
                export.arg("-object");
            }
            export.arg(object);
        }
        Ok(executed(&output(&mut export)?, self.suite.tree()))
    }
}

fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let failed = |why: String| Error::Coverage { why: format!("{name}: {why}") };
    let ran = command.output().map_err(|e| failed(e.to_string()))?;
    if !ran.status.success() {
        return Err(failed(String::from_utf8_lossy(&ran.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// Executed lines of files in the tree, from the format of lcov: `SF:file`, `DA:line,count`.
fn executed(lcov: &str, tree: &Path) -> BTreeSet<Line> {
    let mut file: Option<String> = None;
    let mut lines = BTreeSet::new();
    for text in lcov.lines() {
        if let Some(path) = text.strip_prefix("SF:") {
            file = Path::new(path).strip_prefix(tree).ok().map(|path| path.display().to_string());
        } else if let (Some(file), Some(rest)) = (&file, text.strip_prefix("DA:")) {
            let mut numbers = rest.split(',').map(str::parse::<u64>);
            if let (Some(Ok(line)), Some(Ok(1..))) = (numbers.next(), numbers.next()) {
                lines.insert((file.clone(), line as u32));
            }
        }
    }
    lines
}

/// How many failed and passed runs executed each line.
#[derive(Default)]
struct Counts {
    failed: u32,
    passed: u32,
    lines: BTreeMap<Line, (u32, u32)>,
}

impl Counts {
    fn add(&mut self, lines: &BTreeSet<Line>, passed: bool) {
        *(if passed { &mut self.passed } else { &mut self.failed }) += 1;
        for line in lines {
            let (failed, of_passed) = self.lines.entry(line.clone()).or_default();
            *(if passed { of_passed } else { failed }) += 1;
        }
    }

    /// The lines of the failing run, the most suspicious first.
    fn ranked(&self, failing: &BTreeSet<Line>, tree: &Path) -> Vec<SuspectLine> {
        let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut list = Vec::new();
        for at @ (file, line) in failing {
            let (failed, passed) = self.lines.get(at).copied().unwrap_or_default();
            let text = texts.entry(file).or_insert_with(|| {
                let text = fs::read(tree.join(file)).unwrap_or_default();
                String::from_utf8_lossy(&text).lines().map(|line| line.trim().to_owned()).collect()
            });
            let text = text.get(*line as usize - 1).cloned().unwrap_or_default();
            list.push(SuspectLine {
                place: Place { file: file.clone(), line: *line, text, ..Place::default() },
                why: "executed".to_owned(),
                suspicion: Some(ochiai(failed, passed, self.failed)),
                folded: false,
            });
        }
        // Stable sort: ties keep the order of the program.
        list.sort_by(|a, b| b.suspicion.unwrap_or(0.0).total_cmp(&a.suspicion.unwrap_or(0.0)));
        list
    }
}

struct Tools {
    clang: PathBuf,
    cov: PathBuf,
    profdata: PathBuf,
}

impl Tools {
    fn of(request: &Request) -> Result<Tools> {
        let missing = |what: &str| Error::Coverage { why: format!("{what} is not there") };
        let clang = request.tools.clang.clone().ok_or_else(|| missing("clang"))?;
        let real = clang.canonicalize().unwrap_or_else(|_| clang.clone());
        let beside = |name: &str| {
            let path = real.with_file_name(name);
            if path.is_file() { Ok(path) } else { Err(missing(&path.display().to_string())) }
        };
        Ok(Tools { cov: beside("llvm-cov")?, profdata: beside("llvm-profdata")?, clang })
    }
}

/// Creates compiler wrappers with the usual names that add coverage.
fn shims(directory: &Path, clang: &Path) -> Result<()> {
    let failed = |source| Error::Write { what: directory.display().to_string(), source };
    fs::create_dir_all(directory).map_err(failed)?;
    let clang = trials::quoted(clang.as_os_str().as_encoded_bytes());
    for (name, is_cxx) in NAMES {
        let driver = if is_cxx { " --driver-mode=g++" } else { "" };
        let path = directory.join(name);
        fs::write(
            &path,
            format!("#!/bin/sh\nexec {clang}{driver} \"$@\" {FLAGS} -Wno-unused-command-line-argument\n"),
        )
        .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
        .map_err(failed)?;
    }
    Ok(())
}

/// Programs and libraries in a tree that were built with coverage.
fn objects(tree: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![tree.to_owned()];
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                todo.push(path);
                continue;
            }
            let is_linked = kind.is_file()
                && entry.metadata().is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
                && fs::read(&path).is_ok_and(|bytes| {
                    bytes.starts_with(b"\x7fELF")
                        && bytes.windows(COVERAGE_SECTION.len()).any(|part| part == COVERAGE_SECTION)
                });
            if is_linked {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executed_lines_of_the_tree_are_read() {
        let lcov = "SF:/t/src/a.c\nDA:3,1\nDA:4,0\nDA:5,18\nend_of_record\nSF:/usr/include/x.h\nDA:1,1\n";
        let lines = executed(lcov, Path::new("/t"));
        assert_eq!(lines, BTreeSet::from([("src/a.c".to_owned(), 3), ("src/a.c".to_owned(), 5)]));
    }

    #[test]
    fn what_only_failed_runs_execute_is_first() {
        let line = |number| ("a.c".to_owned(), number);
        let mut counts = Counts::default();
        let failing = BTreeSet::from([line(1), line(2)]);
        counts.add(&failing, false);
        counts.add(&BTreeSet::from([line(1)]), true);
        let ranked = counts.ranked(&failing, Path::new("/nowhere"));
        assert_eq!(ranked.iter().map(|line| line.place.line).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(ranked[0].suspicion, Some(1.0));
    }
}

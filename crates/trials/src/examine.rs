//! Examines whether a passing tree is a sane program.
//!
//! The smallest set of changes that makes a test pass when undone is often one whose program passes by
//! accident. Clang's diagnostics about the touched units are known from the check before the build. Here the
//! tree is built in other configurations and run again:
//!
//! * from scratch, because products of earlier trials may give wrong results;
//! * at another optimisation level, which mostly changes the effect of undefined behaviour;
//! * with AddressSanitizer, and with MemorySanitizer where all of it is C: reads out of bounds, uses of freed
//!   memory, and decisions on uninitialised values that neither good nor bad shows;
//! * with the suite, if there is one.
//!
//! A step that is not possible (the build does not support it, good itself does not pass it) is left out,
//! recorded in [`Examined`], and never counts against the tree.

use crate::error::{Error, Side};
use crate::exit_kind::ExitKind;
use crate::process::Status;
use crate::runner::{Event, TrialRunner, build_version};
use crate::sanitizer::{self, Report, Sanitizer};
use crate::setup::Mode;
use crate::variant::{TreeKey, Variant};
use crate::worker::{BuildOutcome, SANITIZED, Worker, WorkerContext};
use changes::change::ChangeSet;
use changes::outcome::{Outcome, Sanity};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The resources for examinations, kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Examiner {
    workers: HashMap<String, Worker>,
    /// A sanitizer's reports about good and bad.
    reports: HashMap<&'static str, [Vec<Report>; 2]>,
    /// Whether good passes at the other optimisation level.
    good_optimised: Option<bool>,
    /// Whether good and bad both pass the suite.
    suite: Option<bool>,
    examined: Examined,
}

/// The steps by which passing trees were examined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// The steps that were made, in the user's words.
    pub by: BTreeSet<String>,
    /// The steps that were left out, and the reasons.
    pub left_out: BTreeSet<String>,
}

/// Timeout of a suite: no answer is worth a longer wait.
const SUITE: Duration = Duration::from_secs(600);

/// The result of one step: the defect of a tree, if it has one.
type Verdict = Result<Option<String>, Error>;

impl TrialRunner<'_> {
    /// The steps by which passing trees were examined so far.
    #[must_use]
    pub fn examined(&self) -> &Examined {
        &self.examiner.examined
    }

    pub(crate) fn examine_tree(&mut self, reverted: &ChangeSet) -> Result<Sanity, Error> {
        self.tell(&Event::Examining);
        let variant = self.variants.variant(reverted).map_err(Error::Changes)?;
        let key = self.key(reverted)?;
        let mut examiner = std::mem::take(&mut self.examiner);
        let verdict = self.examine_with(&mut examiner, key, &variant);
        self.examiner = examiner;
        Ok(match verdict? {
            Some(reason) => Sanity::Insane(reason),
            None => Sanity::Sane,
        })
    }

    fn examine_with(&self, examiner: &mut Examiner, key: TreeKey, variant: &Variant) -> Verdict {
        let mut take = |name: &str, mode: Mode| {
            let known = examiner.workers.remove(name);
            known.unwrap_or_else(|| Worker::new(&self.work, &format!("examined-{name}"), mode))
        };
        let level = self.other_level();
        let mut plain = take("plain", Mode::Plain);
        let mut optimised = take("optimised", Mode::Optimised(level));
        let mut address = take("address", Mode::Sanitized(Sanitizer::Address));
        let mut memory = take("memory", Mode::Sanitized(Sanitizer::Memory));
        plain.wipe()?;
        let shared = Mutex::new(&mut *examiner);
        let verdicts = std::thread::scope(|scope| {
            let first = scope.spawn(|| -> Verdict {
                match self.again(&mut plain, &shared, key, variant)? {
                    None => self.sanitized(&mut address, Sanitizer::Address, &shared, key, variant),
                    wrong => Ok(wrong),
                }
            });
            let second = scope.spawn(|| -> Verdict {
                match self.optimised(&mut optimised, level, &shared, key, variant)? {
                    None => self.sanitized(&mut memory, Sanitizer::Memory, &shared, key, variant),
                    wrong => Ok(wrong),
                }
            });
            [first, second].map(crate::runner::joined)
        });
        for (name, worker) in
            [("plain", plain), ("optimised", optimised), ("address", address), ("memory", memory)]
        {
            examiner.workers.insert(name.to_owned(), worker);
        }
        let mut wrong = None;
        for verdict in verdicts {
            wrong = wrong.or(verdict?);
        }
        Ok(wrong)
    }

    /// Builds from scratch, and runs the suite.
    fn again(
        &self,
        worker: &mut Worker,
        shared: &Mutex<&mut Examiner>,
        key: TreeKey,
        variant: &Variant,
    ) -> Verdict {
        let context = self.context();
        if let Some(wrong) = self
            .passes(worker, key, variant)?
            .map(|why| format!("built from nothing, it does not pass: {why}"))
        {
            return Ok(Some(wrong));
        }
        said(shared, "a build from nothing");
        let Some(suite) = &self.setup.suite else { return Ok(None) };
        let known = lock(shared).suite;
        let usable = match known {
            Some(usable) => usable,
            None => {
                let usable = self.suite_passes(&context, suite)?;
                lock(shared).suite = Some(usable);
                usable
            }
        };
        if !usable {
            left_out(shared, "the suite, as good and bad do not both pass it");
            return Ok(None);
        }
        let status = worker.run(&context, "suite", suite, SUITE)?;
        if status == Status::Cancelled {
            return Err(Error::Cancelled);
        }
        said(shared, "the suite");
        Ok((status != Status::Exit(0)).then(|| format!("the suite does not pass: {status}")))
    }

    fn suite_passes(&self, context: &WorkerContext, suite: &str) -> Result<bool, Error> {
        let mut worker = Worker::new(&self.work, "examined-suite", Mode::Plain);
        for (side, reverted) in [(Side::Good, self.variants.all()), (Side::Bad, ChangeSet::new())] {
            build_version(context, self.variants, &mut worker, side, &reverted)?;
            if worker.run(context, "suite", suite, SUITE)? != Status::Exit(0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// No optimisation if the build optimises, else with optimisation.
    fn other_level(&self) -> u8 {
        if self.context().checker.is_some_and(|checker| checker.is_optimised()) { 0 } else { 2 }
    }

    fn optimised(
        &self,
        worker: &mut Worker,
        level: u8,
        shared: &Mutex<&mut Examiner>,
        key: TreeKey,
        variant: &Variant,
    ) -> Verdict {
        let Some(why) = self.passes(worker, key, variant)? else {
            said(shared, &format!("-O{level}"));
            return Ok(None);
        };
        let known = lock(shared).good_optimised;
        let good = match known {
            Some(good) => good,
            None => {
                let (key, variant) = self.version(&self.variants.all())?;
                let good = self.passes(worker, key, &variant)?.is_none();
                lock(shared).good_optimised = Some(good);
                good
            }
        };
        if !good {
            left_out(shared, &format!("-O{level}, as good does not pass so"));
            return Ok(None);
        }
        said(shared, &format!("-O{level}"));
        Ok(Some(format!("at -O{level} it does not pass: {why}")))
    }

    /// None if the tree passes, else the reason why it does not.
    fn passes(&self, worker: &mut Worker, key: TreeKey, variant: &Variant) -> Verdict {
        let context = self.context();
        let judge = self.judge.as_ref().ok_or(Error::NotPrepared)?;
        match worker.build(&context, key, variant)? {
            BuildOutcome::Yes => {}
            BuildOutcome::No(diagnostic, _) => return Ok(Some(diagnostic.text)),
            BuildOutcome::TooLong(_) => return Ok(Some("the build took too long".to_owned())),
        }
        let run = worker.test(&context, &format!("examined-{}", worker.name()), context.stop)?;
        if run.status == Status::Cancelled {
            return Err(Error::Cancelled);
        }
        let (outcome, why) = judge.outcome(&run.observed);
        Ok((outcome != Outcome::Pass).then_some(why))
    }

    fn sanitized(
        &self,
        worker: &mut Worker,
        sanitizer: Sanitizer,
        shared: &Mutex<&mut Examiner>,
        key: TreeKey,
        variant: &Variant,
    ) -> Verdict {
        let name = sanitizer.name();
        if !self.knows_units() {
            left_out(shared, &format!("{name}, as the build does not use our compiler throughout"));
            return Ok(None);
        }
        if sanitizer == Sanitizer::Memory && self.has_cpp() {
            left_out(shared, "MemorySanitizer, as the C++ library is not built for it");
            return Ok(None);
        }
        let Some(reports) = self.reports(worker, key, variant, &self.context())? else {
            left_out(shared, &format!("{name}, as the program does not build with it"));
            return Ok(None);
        };
        if reports.is_empty() {
            said(shared, name);
            return Ok(None);
        }
        let known = lock(shared).reports.get(sanitizer.word()).cloned();
        let known = match known {
            Some(known) => known,
            None => {
                let mut both = Vec::new();
                for reverted in [self.variants.all(), ChangeSet::new()] {
                    both.push(self.reports_of(worker, &reverted)?);
                }
                let bad = both.pop().unwrap_or_default();
                let known = [both.pop().unwrap_or_default(), bad];
                lock(shared).reports.insert(sanitizer.word(), known.clone());
                known
            }
        };
        said(shared, name);
        let new = sanitizer::new_reports(&reports, &[&known[0], &known[1]]);
        Ok(new.first().map(|report| {
            let function = report.function.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
            let place = match (&report.file, report.line) {
                (Some(file), Some(line)) => format!(" ({}:{line})", file.display()),
                _ => String::new(),
            };
            format!("{name} reports {}{function}{place}, which neither version shows", report.kind)
        }))
    }

    /// What is reported of bad with these changes reverted; nothing if it does not build so.
    fn reports_of(&self, worker: &mut Worker, reverted: &ChangeSet) -> Result<Vec<Report>, Error> {
        let mut context = self.context();
        // It is not waited for that a test ends that is known not to: a loop that goes round without end
        // reports in its first rounds what it reports at all.
        if reverted.is_empty() && self.exit_kind_of_bad() == Some(ExitKind::Hang) {
            context.timeout /= SANITIZED;
        }
        let (key, variant) = self.version(reverted)?;
        Ok(self.reports(worker, key, &variant, &context)?.unwrap_or_default())
    }

    /// None if it does not build so.
    fn reports(
        &self,
        worker: &mut Worker,
        key: TreeKey,
        variant: &Variant,
        context: &WorkerContext<'_>,
    ) -> Result<Option<Vec<Report>>, Error> {
        let Some(symbolizer) = &self.setup.tools.symbolizer else { return Ok(None) };
        if worker.build(context, key, variant)? != BuildOutcome::Yes {
            return Ok(None);
        }
        let run = worker.test(context, &format!("examined-{}", worker.name()), context.stop)?;
        match run.status {
            Status::Cancelled => Err(Error::Cancelled),
            _ => sanitizer::reports(&worker.reports(context), worker.root(), symbolizer).map(Some),
        }
    }

    /// Sanitizer reports about bad that do not occur with these changes reverted: memory errors that these
    /// changes introduced. Empty where sanitizers were left out when that tree was examined.
    ///
    /// # Errors
    /// If trees cannot be built or run at all.
    pub fn memory_errors(&mut self, reverted: &ChangeSet) -> Result<Vec<Report>, Error> {
        let mut examiner = std::mem::take(&mut self.examiner);
        let found = self.memory_errors_with(&mut examiner, reverted);
        self.examiner = examiner;
        found
    }

    fn memory_errors_with(
        &self,
        examiner: &mut Examiner,
        reverted: &ChangeSet,
    ) -> Result<Vec<Report>, Error> {
        let mut found = Vec::new();
        for sanitizer in [Sanitizer::Address, Sanitizer::Memory] {
            // Its tree exists since the examination.
            let Some(worker) = examiner.workers.get_mut(sanitizer.word()) else { continue };
            if !examiner.examined.by.contains(sanitizer.name()) {
                continue;
            }
            let fixed = self.reports_of(worker, reverted)?;
            let bad = self.reports_of(worker, &ChangeSet::new())?;
            found.extend(sanitizer::new_reports(&bad, &[&fixed]));
        }
        Ok(found)
    }

    fn version(&self, reverted: &ChangeSet) -> Result<(TreeKey, Variant), Error> {
        let variant = self.variants.variant(reverted).map_err(Error::Changes)?;
        Ok((self.base.key(&variant), variant))
    }
}

fn lock<'m, 'e>(shared: &'m Mutex<&'e mut Examiner>) -> std::sync::MutexGuard<'m, &'e mut Examiner> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn said(shared: &Mutex<&mut Examiner>, what: &str) {
    lock(shared).examined.by.insert(what.to_owned());
}

fn left_out(shared: &Mutex<&mut Examiner>, what: &str) {
    lock(shared).examined.left_out.insert(what.to_owned());
}

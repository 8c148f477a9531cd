//! Recordings of the test.

use crate::error::{At, Error, Side};
use crate::exit_kind::ExitKind;
use crate::process::Status;
use crate::runner::{Event, TrialRunner, build_version, joined};
use crate::setup::{Mode, Setup, TrialLimits};
use crate::tree::remove_all;
use crate::worker::{TestRun, Worker, WorkerContext};
use changes::change::ChangeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The recording.
    pub directory: PathBuf,
    /// The tree that was built for it, to which its source locations refer.
    pub tree: PathBuf,
    /// The status and output of the test under the recorder.
    pub run: TestRun,
    /// Why the recording is incomplete, if it is.
    pub incomplete: Option<String>,
}

/// Timeout factor for a recorded program: it is slower than a plain one by a factor that depends on the
/// program.
const SLOWER: u32 = 100;
const AT_LEAST: Duration = Duration::from_secs(60);

impl TrialRunner<'_> {
    /// Builds good and bad with recording, in parallel, and records the test with each.
    ///
    /// # Errors
    /// [`Error::DoesNotBuild`], or [`Error::Record`] if nothing was recorded.
    pub fn record_both(&mut self) -> Result<(Recorded, Recorded), Error> {
        let sets = [(Side::Good, self.variants.all()), (Side::Bad, ChangeSet::new())];
        let mut workers: Vec<Worker> = Vec::new();
        for (side, _) in &sets {
            self.tell(&Event::Building(*side, Mode::Instrument));
            workers.push(Worker::new(&self.work, &side.to_string(), Mode::Instrument));
        }
        let context = self.context();
        let variants = self.variants;
        std::thread::scope(|scope| {
            let threads: Vec<_> = workers
                .iter_mut()
                .zip(&sets)
                .map(|(worker, (side, set))| {
                    scope.spawn(|| build_version(&context, variants, worker, *side, set))
                })
                .collect();
            threads.into_iter().try_for_each(joined)
        })?;
        let timeout = (context.timeout * SLOWER).max(AT_LEAST);
        let [good_worker, bad_worker] = workers.as_mut_slice() else { return Err(Error::NotPrepared) };
        self.tell(&Event::Recording(Side::Good));
        let good = record(&context, good_worker, "good", timeout)?;
        let timeout = match self.exit_kind_of_bad() {
            Some(ExitKind::Hang) => TrialLimits::of_recorded_hang(Duration::from_secs_f64(good.run.seconds)),
            _ => timeout,
        };
        self.tell(&Event::Recording(Side::Bad));
        let bad = record(&context, bad_worker, "bad", timeout)?;
        Ok((good, bad))
    }

    /// Builds a variant with recording and records the test with it. `name` is the name of the recording's
    /// directory.
    ///
    /// # Errors
    /// As [`TrialRunner::record_both`].
    pub fn record(&mut self, reverted: &ChangeSet, name: &str) -> Result<Recorded, Error> {
        let mut worker = Worker::new(&self.work, &format!("recorded-{name}"), Mode::Instrument);
        let context = self.context();
        build_version(&context, self.variants, &mut worker, Side::Bad, reverted)?;
        record(&context, &mut worker, name, (context.timeout * SLOWER).max(AT_LEAST))
    }

    /// Records another test with good and with bad. Both are built as for [`TrialRunner::record_both`], so
    /// that nothing is rebuilt.
    ///
    /// # Errors
    /// As [`TrialRunner::record_both`].
    pub fn record_other(&mut self, test: &str) -> Result<(Recorded, Recorded), Error> {
        let setup = Setup { test: test.to_owned(), ..self.setup.clone() };
        let sets = [(Side::Good, self.variants.all()), (Side::Bad, ChangeSet::new())];
        let mut both = Vec::new();
        for (side, set) in &sets {
            self.tell(&Event::Recording(*side));
            let context = WorkerContext { setup: &setup, ..self.context() };
            let mut worker = Worker::new(&self.work, &side.to_string(), Mode::Instrument);
            build_version(&context, self.variants, &mut worker, *side, set)?;
            let timeout = (context.timeout * SLOWER).max(AT_LEAST);
            both.push(record(&context, &mut worker, &format!("{side}-passing"), timeout)?);
        }
        let bad = both.pop().ok_or(Error::NotPrepared)?;
        let good = both.pop().ok_or(Error::NotPrepared)?;
        Ok((good, bad))
    }
}

pub(crate) fn record(
    context: &WorkerContext,
    worker: &mut Worker,
    name: &str,
    time: Duration,
) -> Result<Recorded, Error> {
    let directory = context.work.recording(name);
    remove_all(&directory)?;
    let mut run = worker.record(context, &format!("recorded-{name}"), &directory, time)?;
    if run.status == Status::Cancelled {
        return Err(Error::Cancelled);
    }
    let what = format!("run of {name}");
    let manifest = match manifest(&directory)? {
        Some(manifest) => manifest,
        None => {
            let said = std::fs::read_to_string(&run.stderr).unwrap_or_default();
            let why = said.lines().find(|l| l.starts_with("relapse: ")).map_or_else(
                || format!("the recorder left nothing behind ({})", run.status),
                |line| line["relapse: ".len()..].to_owned(),
            );
            return Err(Error::Record { what, why });
        }
    };
    let number = |kind: &str| {
        let code = manifest["outcome"][kind].as_i64()?;
        i32::try_from(code).ok()
    };
    // The recorder's own exit status may be about the recording.
    if let Status::Exit(_) = run.status {
        let signal = number("signal").map(Status::Signal);
        run.status = number("exit").map(Status::Exit).or(signal).unwrap_or(run.status);
        run.observed.status = run.status;
    }
    if manifest["processes"].as_array().is_none_or(Vec::is_empty) {
        let why = "no process of the test was built with recording; does the build use $CC?".to_owned();
        return Err(Error::Record { what, why });
    }
    let incomplete = match manifest["complete"].as_bool() {
        Some(true) => None,
        _ => Some(manifest["reason"].as_str().unwrap_or("the recorder did not finish").to_owned()),
    };
    context.work.keep_tree_of(&directory, worker.root());
    Ok(Recorded { directory, tree: worker.root().to_owned(), run, incomplete })
}

/// None if there is no recording.
fn manifest(recording: &Path) -> Result<Option<serde_json::Value>, Error> {
    let path = recording.join("manifest.json");
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read(&path).at("read", &path)?;
    Ok(serde_json::from_slice(&text).ok())
}

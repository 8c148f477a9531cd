//! Progress on standard error: a line that is updated on a terminal, one line per stage in a log.

use crate::progress::line;
use changes::search::{Progress, Stage};
use changes::{ChangeId, Difference};
use explain::session::ProgressEvent;
use indicatif::ProgressBar;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use trials::{Event, Mode};

/// The interval at which a log reports the progress of the search.
const EVERY: Duration = Duration::from_secs(30);

/// See the module's documentation.
pub struct Watcher {
    bar: ProgressBar,
    said: Arc<Mutex<LogLine>>,
    speaks: bool,
    watched: bool,
}

/// The last line of a log, and its time.
struct LogLine {
    text: String,
    at: Instant,
}

impl Watcher {
    /// `speaks`: print anything at all; `watched`: standard error is a terminal.
    pub fn new(speaks: bool, watched: bool) -> Watcher {
        let bar = line(speaks && watched);
        let said = LogLine { text: String::new(), at: Instant::now() };
        Watcher { bar, said: Arc::new(Mutex::new(said)), speaks, watched }
    }

    /// A callback for progress events.
    pub fn news(&self) -> Arc<dyn Fn(&ProgressEvent<'_>) + Send + Sync> {
        let (bar, said) = (self.bar.clone(), self.said.clone());
        let (speaks, watched) = (self.speaks, self.watched);
        Arc::new(move |news| {
            let Some((text, lasting)) = words(news).filter(|_| speaks) else { return };
            if let (ProgressEvent::Verdict(_) | ProgressEvent::MostlyBroken { .. }, true) = (news, watched) {
                bar.println(format!("relapse: {text}"));
            } else if watched {
                bar.set_message(text);
            } else {
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                let is_due = said.at.elapsed() >= EVERY && matches!(news, ProgressEvent::Searching(_));
                if (lasting || is_due) && said.text != text {
                    eprintln!("relapse: {text}");
                    *said = LogLine { text, at: Instant::now() };
                }
            }
        })
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The message for a progress event, and whether to keep it in a log.
fn words(news: &ProgressEvent<'_>) -> Option<(String, bool)> {
    let said = match news {
        ProgressEvent::CheckingOut => ("fetching both versions".to_owned(), true),
        ProgressEvent::Bisecting { commit, remaining } => {
            (format!("trying commit {} ({remaining} left): {}", commit.short_id(), commit.subject), true)
        }
        ProgressEvent::Bisected(commit) => {
            (format!("it came with commit {} ({}): {}", commit.short_id(), commit.date, commit.subject), true)
        }
        ProgressEvent::Verdict(answer) => {
            let line = report::summary_line(answer);
            (line.strip_prefix("relapse: ").unwrap_or(&line).to_owned(), true)
        }
        ProgressEvent::TrialRunner(Event::Examining) => {
            ("examining the program without these changes".to_owned(), false)
        }
        ProgressEvent::Compared(changes) => (format!("{changes} changes between the versions"), true),
        ProgressEvent::TrialRunner(Event::Building(side, Mode::Plain)) => {
            (format!("building the {side} version"), true)
        }
        ProgressEvent::TrialRunner(Event::Building(side, _)) => {
            (format!("building the {side} version with recording"), true)
        }
        ProgressEvent::TrialRunner(Event::Testing(side)) => (format!("testing the {side} version"), true),
        ProgressEvent::TrialRunner(Event::Recording(side)) => (format!("recording the {side} version"), true),
        ProgressEvent::TrialRunner(Event::Trying(reverted)) => {
            (format!("trying without {reverted} changes"), false)
        }
        ProgressEvent::TrialRunner(Event::Tried(_)) => return None,
        ProgressEvent::Observed(observation) => (observation.summary.clone(), true),
        ProgressEvent::Slicing => ("following the failure back".to_owned(), true),
        ProgressEvent::Searching(progress) => (searching(progress), false),
        ProgressEvent::MostlyBroken { progress, rewritten, difference, order } => {
            (mostly_broken_message(progress, rewritten.as_ref(), difference, order), true)
        }
        ProgressEvent::Explaining => ("putting the explanation together".to_owned(), true),
        ProgressEvent::Proving => ("checking the chain: running bad with other values".to_owned(), true),
    };
    Some(said)
}

/// Intermediate results, if the search may take long.
fn mostly_broken_message(
    progress: &Progress,
    rewritten: Option<&(String, usize)>,
    difference: &Difference,
    order: &[ChangeId],
) -> String {
    let mut text = format!(
        "{} of {} sets of changes do not build when they are undone; this may take long",
        progress.broken, progress.sets
    );
    if let Some((function, parts)) = rewritten {
        let _ = write!(
            text,
            "\n  `{function}` was changed in {parts} places; most parts of it cannot be undone alone"
        );
    }
    text += "\n  the most suspicious changes by the recordings:";
    for id in order.iter().take(10) {
        let change = difference.change(*id);
        let _ = write!(text, "\n    {}:{}", change.file, change.new_start);
        if let Some(function) = &change.function {
            let _ = write!(text, "  in {}", function.trim());
        }
    }
    text
}

fn searching(progress: &Progress) -> String {
    let doing = match progress.stage {
        Stage::Narrowing => "searching",
        Stage::Completing => "making it build",
        Stage::Applying => "putting changes into good",
        Stage::Shrinking => "leaving out what is not needed",
        Stage::Verifying => "checking the answer",
    };
    format!(
        "{doing}: trial {}, {} changes under suspicion, {} reverted",
        progress.asked + 1,
        progress.suspects,
        progress.reverting
    )
}

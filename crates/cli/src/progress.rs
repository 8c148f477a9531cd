//! Progress bars: only for people, only when there is something to wait for.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar over `total` units, drawn on standard error when `watched`. It shows up only
/// after a moment, so that short work leaves no trace.
pub fn bar(watched: bool, what: &'static str, total: u64) -> ProgressBar {
    if !watched {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %  {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// A line of text that changes, drawn on standard error when `watched`.
pub fn line(watched: bool) -> ProgressBar {
    if !watched {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// What a command is doing, on standard error: for people a line that changes, for logs one line
/// for each stage.
pub struct Watcher {
    bar: ProgressBar,
    speaks: bool,
    watched: bool,
}

impl Watcher {
    /// `speaks`: says anything at all; `watched`: somebody sees it as it happens.
    pub fn new(speaks: bool, watched: bool) -> Watcher {
        Watcher { bar: line(speaks && watched), speaks, watched }
    }

    /// A sentence, and whether it belongs into a log.
    pub fn say(&self, (text, lasting): (String, bool)) {
        if self.speaks && self.watched {
            self.bar.set_message(text);
        } else if self.speaks && lasting {
            eprintln!("relapse: {text}");
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

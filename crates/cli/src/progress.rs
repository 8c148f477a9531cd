//! Progress bars: only on terminals, and only for work that takes a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar over `total` units, drawn on standard error if `watched`. It appears after a short delay, so that
/// quick work shows none.
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

/// A line of text that is updated, drawn on standard error if `watched`.
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

/// Progress messages on standard error: a line that is updated on a terminal, one line per stage in a log.
pub struct Watcher {
    bar: ProgressBar,
    speaks: bool,
    watched: bool,
}

impl Watcher {
    /// `speaks`: print anything at all; `watched`: standard error is a terminal.
    pub fn new(speaks: bool, watched: bool) -> Watcher {
        Watcher { bar: line(speaks && watched), speaks, watched }
    }

    /// Shows a message, with whether to keep it in a log.
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

//! What happens, on standard error.

use crate::progress::line;
use contract::check::News;
use indicatif::ProgressBar;

/// See the module's documentation.
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

    pub fn tell(&self, news: &News) {
        let text = match news {
            News::Building(version) => format!("building {version} with recording"),
            News::Recording { test, of } => format!("recording test {test} of {of}"),
            News::Replaying { test, of } => format!("comparing calls in test {test} of {of}"),
        };
        if self.speaks && self.watched {
            self.bar.set_message(text);
        } else if self.speaks {
            eprintln!("relapse: {text}");
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

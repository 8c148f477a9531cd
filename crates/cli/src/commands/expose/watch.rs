//! What happens, on standard error: for people a line that changes, for logs one line for each
//! stage.

use crate::progress::line;
use explore::expose::News;
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
        let bar = line(speaks && watched);
        Watcher { bar, speaks, watched }
    }

    pub fn tell(&self, news: &News) {
        let (text, lasting) = words(news);
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

/// The sentence for some news, and whether it belongs into a log.
fn words(news: &News) -> (String, bool) {
    match news {
        News::Building => ("building both versions".to_owned(), true),
        News::Testing { test, of } => (format!("running test {} of {of}", test + 1), *test == 0),
        News::Recording { test, of } => (format!("recording test {} of {of}", test + 1), *test == 0),
        News::Searching => ("looking for inputs".to_owned(), true),
        News::Finishing => ("making inputs small".to_owned(), true),
    }
}

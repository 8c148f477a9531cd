//! What happens, on standard error: for people a line that changes, for logs one line for each
//! stage.

use crate::progress::line;
use indicatif::ProgressBar;
use locate::session::News;

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
        News::Building => ("building the program with recording".to_owned(), true),
        News::Testing => ("running the failing test".to_owned(), true),
        News::Recording => ("recording the failing test".to_owned(), true),
        News::Observed(what) => (what.clone(), true),
        News::Slicing => ("following the failure back".to_owned(), true),
        News::Pool { run, of } => (format!("recording test {} of {of}", run + 1), *run == 0),
        News::Generating => ("asking for inputs that turn branches".to_owned(), true),
        News::Comparing => ("comparing with the nearest passing run".to_owned(), true),
    }
}

//! Progress events as text.

use explore::expose::ProgressEvent;

/// The message for a progress event, and whether to keep it in a log.
pub fn words(news: &ProgressEvent) -> (String, bool) {
    match news {
        ProgressEvent::Building => ("building both versions".to_owned(), true),
        ProgressEvent::Testing { test, of } => (format!("running test {} of {of}", test + 1), *test == 0),
        ProgressEvent::Recording { test, of } => (format!("recording test {} of {of}", test + 1), *test == 0),
        ProgressEvent::Searching => ("looking for inputs".to_owned(), true),
        ProgressEvent::Finishing => ("making inputs small".to_owned(), true),
    }
}

//! Progress events as text.

use locate::session::ProgressEvent;

/// The message for a progress event, and whether to keep it in a log.
pub fn words(news: &ProgressEvent) -> (String, bool) {
    match news {
        ProgressEvent::Building => ("building the program with recording".to_owned(), true),
        ProgressEvent::Testing => ("running the failing test".to_owned(), true),
        ProgressEvent::Recording => ("recording the failing test".to_owned(), true),
        ProgressEvent::Observed(what) => (what.clone(), true),
        ProgressEvent::Slicing => ("following the failure back".to_owned(), true),
        ProgressEvent::Pool { run, of } => (format!("recording test {} of {of}", run + 1), *run == 0),
        ProgressEvent::Reducing => ("leaving out parts of the failing input".to_owned(), true),
        ProgressEvent::Generating => ("asking for inputs that turn branches".to_owned(), true),
        ProgressEvent::Comparing => ("comparing with the nearest passing run".to_owned(), true),
    }
}

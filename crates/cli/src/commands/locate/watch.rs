//! Progress events as text.

use locate::session::News;

/// The message for a progress event, and whether to keep it in a log.
pub fn words(news: &News) -> (String, bool) {
    match news {
        News::Building => ("building the program with recording".to_owned(), true),
        News::Testing => ("running the failing test".to_owned(), true),
        News::Recording => ("recording the failing test".to_owned(), true),
        News::Observed(what) => (what.clone(), true),
        News::Slicing => ("following the failure back".to_owned(), true),
        News::Pool { run, of } => (format!("recording test {} of {of}", run + 1), *run == 0),
        News::Reducing => ("leaving out parts of the failing input".to_owned(), true),
        News::Generating => ("asking for inputs that turn branches".to_owned(), true),
        News::Comparing => ("comparing with the nearest passing run".to_owned(), true),
    }
}

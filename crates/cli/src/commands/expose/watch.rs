//! Progress events as text.

use explore::expose::News;

/// The message for a progress event, and whether to keep it in a log.
pub fn words(news: &News) -> (String, bool) {
    match news {
        News::Building => ("building both versions".to_owned(), true),
        News::Testing { test, of } => (format!("running test {} of {of}", test + 1), *test == 0),
        News::Recording { test, of } => (format!("recording test {} of {of}", test + 1), *test == 0),
        News::Searching => ("looking for inputs".to_owned(), true),
        News::Finishing => ("making inputs small".to_owned(), true),
    }
}

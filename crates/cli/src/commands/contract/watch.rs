//! Progress events as text.

use contract::check::News;

/// The message for a progress event; all of them are kept in a log.
pub fn words(news: &News) -> (String, bool) {
    let text = match news {
        News::Building(version) => format!("building {version} with recording"),
        News::Recording { test, of } => format!("recording test {test} of {of}"),
        News::Replaying { test, of } => format!("comparing calls in test {test} of {of}"),
    };
    (text, true)
}

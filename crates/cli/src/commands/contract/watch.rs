//! What happens, in words.

use contract::check::News;

/// The sentence for some news; all of them belong into a log.
pub fn words(news: &News) -> (String, bool) {
    let text = match news {
        News::Building(version) => format!("building {version} with recording"),
        News::Recording { test, of } => format!("recording test {test} of {of}"),
        News::Replaying { test, of } => format!("comparing calls in test {test} of {of}"),
    };
    (text, true)
}

//! Progress events as text.

use contract::check::ProgressEvent;

/// The message for a progress event; all of them are kept in a log.
pub fn words(news: &ProgressEvent) -> (String, bool) {
    let text = match news {
        ProgressEvent::Building(version) => format!("building {version} with recording"),
        ProgressEvent::Recording { test, of } => format!("recording test {test} of {of}"),
        ProgressEvent::Replaying { test, of } => format!("comparing calls in test {test} of {of}"),
    };
    (text, true)
}

//! The data of the page's script, as JSON in a script element.

use std::collections::BTreeMap;

use explain::answer::{Answer, Hunk, Place};
use serde::Serialize;

use crate::forest;
use crate::sources::{self, Excerpt, Sources};
use crate::text::visible;

#[derive(Serialize)]
struct Data {
    /// The name of the version that bad is compared with.
    reference: &'static str,
    nodes: Vec<Node>,
    changes: Vec<Change>,
    good: BTreeMap<String, Vec<Excerpt>>,
    bad: BTreeMap<String, Vec<Excerpt>>,
}

#[derive(Serialize)]
struct Node {
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
    kind: String,
    what: String,
    how: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    good: Option<At>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bad: Option<At>,
    /// Name, value in good, value in bad.
    values: Vec<(String, Option<String>, Option<String>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<String>,
}

#[derive(Serialize)]
struct At {
    file: String,
    line: u32,
    function: String,
    text: String,
}

/// The lines of a change, to mark them in the source text.
#[derive(Serialize)]
struct Change {
    change: u32,
    good: (String, u32, u32),
    bad: (String, u32, u32),
}

/// The data, encoded so that no content can end the script element: `<` occurs only in strings, where
/// JSON allows it to be escaped.
pub fn embedded(answer: &Answer, sources: Option<&Sources>) -> String {
    let shown = |text: &str| visible(text).into_owned();
    let at = |place: &Place| At {
        file: shown(&place.file),
        line: place.line,
        function: shown(&place.function),
        text: shown(&place.text),
    };
    let nodes = forest::flatten(&answer.causes)
        .into_iter()
        .map(|node| {
            let cause = node.cause;
            Node {
                id: cause.id,
                parent: node.parent,
                kind: shown(&cause.kind),
                what: shown(cause.what.trim()),
                how: shown(cause.how.trim()),
                good: cause.good_place.as_ref().map(at),
                bad: cause.place.as_ref().map(at),
                values: cause
                    .values
                    .iter()
                    .map(|value| {
                        (
                            shown(&value.name),
                            value.good.as_deref().map(shown),
                            value.bad.as_deref().map(shown),
                        )
                    })
                    .collect(),
                change: cause.change,
                // A string, because the number may exceed the script's exact range.
                step: cause.step.map(|step| step.to_string()),
            }
        })
        .collect();
    let lines = |hunk: &Hunk| Change {
        change: hunk.change,
        good: (
            shown(hunk.old_file.as_ref().unwrap_or(&hunk.file)),
            hunk.fixed_start.unwrap_or(hunk.old_start),
            hunk.old_lines,
        ),
        bad: (shown(&hunk.file), hunk.new_start, hunk.new_lines),
    };
    let (good, bad) = sources::places(answer);
    let (good, bad) = sources.map_or_else(Default::default, |sources| {
        (sources::excerpts(&sources.good, &good), sources::excerpts(&sources.bad, &bad))
    });
    let with_shown_paths = |files: BTreeMap<String, Vec<Excerpt>>| {
        files.into_iter().map(|(path, parts)| (shown(&path), parts)).collect()
    };
    let data = Data {
        reference: answer.reference(),
        nodes,
        changes: answer.root.iter().chain(&answer.auxiliary).map(lines).collect(),
        good: with_shown_paths(good),
        bad: with_shown_paths(bad),
    };
    // Serialising plain data with string keys cannot fail. If it did, the page would work without its
    // script.
    let text = serde_json::to_string(&data).unwrap_or_else(|_| "null".to_owned());
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            c => safe.push(c),
        }
    }
    safe
}

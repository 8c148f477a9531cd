//! A single self-contained page: the changes, and both versions side by side on each exposing input.

use super::{covered, found_by, verdict, with_code};
use crate::page;
use crate::text::escape;
use explore::exposed::{Exposed, ExposingInput, Seen};
use std::fmt::Write as _;

/// Maximum number of characters shown of an output.
const SHOWN: usize = 4000;

/// Renders the page.
#[must_use]
pub fn render(exposed: &Exposed) -> String {
    let mut page = page::begun(&verdict(exposed));
    let _ = writeln!(
        page,
        "<p>good: <code>{}</code>, bad: <code>{}</code></p>",
        escape(&exposed.good),
        escape(&exposed.bad)
    );
    changes(exposed, &mut page);
    for test in &exposed.tests {
        let _ = writeln!(
            page,
            "<section><h2>The test <code>{}</code> tells them apart</h2>",
            escape(&test.command)
        );
        outcomes(&test.good, &test.bad, &mut page);
        page += "</section>\n";
    }
    for input in &exposed.inputs {
        one(input, &mut page);
    }
    page += "<h2>What was covered</h2>\n";
    for line in covered(exposed).iter().chain(&exposed.notes) {
        let _ = writeln!(page, "<p>{}</p>", escape(line));
    }
    page::ended(page)
}

fn changes(exposed: &Exposed, page: &mut String) {
    let without = exposed.changes.len() - with_code(exposed).count();
    if exposed.changes.len() > without {
        *page += "<h2>Changes</h2>\n<table><tr><th>change</th><th></th><th>reached</th><th>infected</th>\
                  <th>exposed</th></tr>\n";
        for row in with_code(exposed) {
            let yes = |yes: bool| if yes { "yes" } else { "no" };
            let by = match row.exposed_by {
                Some(number) => {
                    format!("<a class=\"bad\" href=\"#input-{number}\">by input {number}</a>")
                }
                None => "no".to_owned(),
            };
            let function = row.function.as_ref().map(|f| format!(" in {f}")).unwrap_or_default();
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td><code>{}</code></td><td>{}</td><td>{}</td><td>{by}</td></tr>",
                escape(&format!("{}:{}{function}", row.file, row.line)),
                escape(&row.text),
                yes(row.reached),
                yes(row.infected)
            );
        }
        *page += "</table>\n";
    }
    if without > 0 {
        let _ = writeln!(
            page,
            "<p class=\"faint\">Changes that are not compiled, or without effect on the code of these programs: {without}.</p>"
        );
    }
}

fn one(input: &ExposingInput, page: &mut String) {
    let _ = writeln!(
        page,
        "<section id=\"input-{0}\"><h2>Input {0}: <code>{1}</code></h2>\n<p class=\"faint\">{2}, after {3:.1} s</p>",
        input.number,
        escape(&input.command),
        found_by(input.found_by),
        input.seconds
    );
    if !input.parts.is_empty() {
        *page += "<table>\n";
        for part in &input.parts {
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td><code>{}</code></td></tr>",
                escape(&part.name),
                escape(&cut(&part.text))
            );
        }
        *page += "</table>\n";
    }
    outcomes(&input.good, &input.bad, page);
    *page += "</section>\n";
}

fn outcomes(good: &Seen, bad: &Seen, page: &mut String) {
    *page += "<table><tr><th></th><th class=\"good\">good</th><th class=\"bad\">bad</th></tr>\n";
    let mut row = |name: &str, good: &str, bad: &str| {
        let (a, b) = if good == bad { ("faint", "faint") } else { ("good", "bad") };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"{a}\"><code>{}</code></td><td class=\"{b}\"><code>{}</code></td></tr>",
            escape(name),
            escape(&cut(good)),
            escape(&cut(bad))
        );
    };
    row("end", &good.end, &bad.end);
    row("output", &good.stdout, &bad.stdout);
    for (path, content) in &good.files {
        let other = bad.files.get(path).map_or("", String::as_str);
        row(path, content, other);
    }
    *page += "</table>\n";
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}\n... {} more bytes", &text[..at], text.len() - at),
        None => text.to_owned(),
    }
}

//! A single self-contained page: both runs side by side at the reported branches.

use super::{at, command, consequence, dependence, headline, pool};
use crate::text::escape;
use crate::{page, words};
use explain::answer::{Commit, ValuePair};
use locate::answer::{Link, Located, SuspectLine};
use std::fmt::Write as _;

/// Renders the page.
#[must_use]
pub fn render(located: &Located) -> String {
    let mut page = page::begun(&headline(located));
    let _ = writeln!(page, "<p>{}</p>", escape(&words::sentence(&located.observation.summary)));
    runs(located, &mut page);
    lines(located, &mut page);
    branches(located, &mut page);
    values(located, &mut page);
    if !located.notes.is_empty() {
        page += "<h2>Notes</h2>\n";
        for note in &located.notes {
            let _ = writeln!(page, "<p>{}</p>", escape(&words::sentence(note)));
        }
    }
    page::ended(page)
}

fn runs(located: &Located, page: &mut String) {
    *page += "<h2>Runs</h2>\n<table>\n";
    let runs = [("failing", "bad", Some(&located.failing)), ("passing", "good", located.passing.as_ref())];
    for (name, class, ran) in runs {
        if let Some(ran) = ran {
            let _ = writeln!(
                page,
                "<tr><th class=\"{class}\">{name}</th><td><code>{}</code></td><td>{}</td></tr>",
                escape(&command(ran)),
                escape(&ran.end)
            );
        }
    }
    let _ = writeln!(page, "</table>\n<p class=\"faint\">of {}</p>", escape(&pool(located)));
}

fn branches(located: &Located, page: &mut String) {
    if located.branches.is_empty() {
        return;
    }
    *page += "<h2>Branches that went another way</h2>\n";
    for entry in &located.branches {
        let _ = write!(
            page,
            "<section><strong>{}</strong> <code>{}</code>\n<table><tr><th></th><th class=\"bad\">failing run</th>\
             <th class=\"good\">passing run</th></tr>\n<tr><td>{}</td><td class=\"bad\">{}</td><td class=\"good\">{}\
             </td></tr>\n",
            escape(&at(&entry.place)),
            escape(&entry.place.text),
            entry
                .condition
                .as_ref()
                .map_or("went".to_owned(), |part| format!("<code>{}</code>", escape(part))),
            escape(&entry.failing),
            escape(&entry.passing)
        );
        pairs(&entry.values, page);
        let _ = writeln!(page, "</table>\n<p class=\"faint\">{}</p>", escape(dependence(entry)));
        if let Some(text) = consequence(entry) {
            let _ = writeln!(page, "<p>{}</p>", escape(&words::sentence(&text)));
        }
        commit(entry.commit.as_ref(), page);
        chain(&entry.chain, page);
        *page += "</section>\n";
    }
}

fn pairs(values: &[ValuePair], page: &mut String) {
    for pair in values {
        let or = |value: &Option<String>| escape(value.as_deref().unwrap_or("-"));
        let (good, bad) = if pair.good == pair.bad { ("faint", "faint") } else { ("good", "bad") };
        let _ = writeln!(
            page,
            "<tr><td><code>{}</code></td><td class=\"{bad}\"><code>{}</code></td>\
             <td class=\"{good}\"><code>{}</code></td></tr>",
            escape(&pair.name),
            or(&pair.bad),
            or(&pair.good)
        );
    }
}

fn commit(commit: Option<&Commit>, page: &mut String) {
    if let Some(commit) = commit {
        let id = commit.id.get(..10).unwrap_or(&commit.id);
        let text = format!("last touched by {id} ({}): {}", commit.date, commit.subject);
        let _ = writeln!(page, "<p>{}</p>", escape(&text));
    }
}

fn chain(chain: &[Link], page: &mut String) {
    if chain.is_empty() {
        return;
    }
    *page += "<ol>\n";
    for link in chain {
        let _ = writeln!(
            page,
            "<li><span class=\"faint\">{}</span> {} <code>{}</code></li>",
            escape(&link.how),
            escape(&at(&link.place)),
            escape(&link.place.text)
        );
    }
    *page += "</ol>\n";
}

fn values(located: &Located, page: &mut String) {
    if !located.values.is_empty() {
        *page += "<h2>Values that differ and that the failure depends on</h2>\n";
    }
    for entry in &located.values {
        let _ = write!(
            page,
            "<section><strong>{}</strong> <code>{}</code>\n<table><tr><th></th><th class=\"bad\">failing run</th>\
             <th class=\"good\">passing run</th></tr>\n",
            escape(&at(&entry.place)),
            escape(&entry.place.text)
        );
        pairs(&entry.values, page);
        *page += "</table>\n";
        commit(entry.commit.as_ref(), page);
        chain(&entry.chain, page);
        *page += "</section>\n";
    }
    if !located.initial.is_empty() {
        *page += "<h2>Initial values that the failure depends on</h2>\n<ul>\n";
    }
    for entry in &located.initial {
        let value = entry.value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
        let text =
            format!("{}{value}, defined at {}, used at {}", entry.name, at(&entry.place), at(&entry.used));
        let _ = writeln!(page, "<li><code>{}</code></li>", escape(&text));
    }
    if !located.initial.is_empty() {
        *page += "</ul>\n";
    }
}

fn lines(located: &Located, page: &mut String) {
    *page += "<h2>Lines to look at</h2>\n<table>\n";
    for line in located.lines.iter().filter(|line| !line.folded) {
        row(line, page);
    }
    *page += "</table>\n";
    let folded: Vec<_> = located.lines.iter().filter(|line| line.folded).collect();
    if folded.is_empty() {
        return;
    }
    let _ = writeln!(page, "<details><summary>{} more</summary>\n<table>", folded.len());
    for line in folded {
        row(line, page);
    }
    *page += "</table></details>\n";
}

fn row(line: &SuspectLine, page: &mut String) {
    let _ = writeln!(
        page,
        "<tr><td>{}</td><td><code>{}</code></td><td class=\"faint\">{}</td></tr>",
        escape(&at(&line.place)),
        escape(&line.place.text),
        escape(&line.why)
    );
}

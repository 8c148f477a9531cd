//! Renders the answer as a single self-contained page.
//!
//! All content is in the markup, so the page can be read without scripts, printed and searched. The
//! script (`html/page.js`) adds the panel with both versions' source, folding and keyboard control. It
//! receives its data as JSON and creates elements only from text. The content security policy of the
//! page forbids all requests.

mod data;
mod tree;

use std::fmt::Write as _;

use explain::answer::{Answer, Hunk, Observation, OutputDifference, Place, Version};

use crate::hunk::{self, Part, Side};
use crate::phases::Shown;
use crate::sources::Sources;
use crate::text::{escape, shared_ends};
use crate::{forest, phases, runs, words};
use slice::phases::tree::Tree;
use std::collections::BTreeMap;
use views::page::Page;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Maximum number of lines shown per change; the rest is only counted.
const HUNK_LINES: usize = 400;

/// The recorded runs, for readers who want to inspect them.
#[derive(Clone, Copy, Default)]
pub struct Runs<'a> {
    /// The failing run as levels of phases.
    pub phases: Option<&'a Tree>,
    /// Both runs of the failing test, side by side.
    pub both: Option<&'a Page>,
}

/// Renders an answer. With `sources`, the page shows more lines around each location than the answer
/// contains.
#[must_use]
pub fn render(answer: &Answer, sources: Option<&Sources>) -> String {
    render_with(answer, sources, Runs::default())
}

/// Like [`render`], with the runs in folded sections at the end.
#[must_use]
pub fn render_with(answer: &Answer, sources: Option<&Sources>, shown: Runs<'_>) -> String {
    let mut page = String::new();
    let mut style = STYLE.to_owned();
    if shown.phases.is_some() {
        style.push_str(phases::STYLE);
    }
    if shown.both.is_some() {
        style.push_str(runs::STYLE);
    }
    let title = escape(&words::sentence(&answer.observation.summary));
    let (class, word) = if answer.verified { ("ok", "Verified") } else { ("no", "Not verified") };
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\" class=\"no-js\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <title>relapse: {title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#how\">Skip to the causes</a>\n\
         <header class=\"{class}\">\n<p><strong>{word}</strong> <span>{}</span></p>\n\
         <div class=\"tools\" hidden><button id=\"theme\" type=\"button\" title=\"Light or dark (t)\">Theme</button>\
         <button id=\"help-open\" type=\"button\" title=\"Keys (?)\">?</button></div>\n</header>\n<main>\n",
        prose(&upper_first(&words::verdict(answer)))
    );
    page.push_str("<div class=\"top\">\n");
    observation(answer, &mut page);
    root(answer, &mut page);
    page.push_str("</div>\n");
    proof(answer, &mut page);
    if !answer.causes.is_empty() {
        let _ = write!(
            page,
            "<section id=\"how\">\n<h2>{}</h2>\n\
             <p class=\"hint\">The changes come first; each step leads to the one below it, the last is the failure.{} \
             <span class=\"js-only\">Choose a line to see it in both versions.</span></p>\n\
             <div class=\"split\">\n",
            words::causes_title(answer).0,
            if answer.fixed.is_some() { " <i>Fixed</i> is bad with the changes undone." } else { "" },
        );
        tree::render(answer, &mut page);
        page.push_str(
            "<aside id=\"detail\" class=\"js-only\" aria-label=\"The chosen line in both versions\" tabindex=\"-1\"></aside>\n</div>\n</section>\n",
        );
    }
    auxiliary(answer, &mut page);
    alternate(answer, &mut page);
    passing(answer, shown.both, &mut page);
    run_in_phases(answer, sources, shown.phases, &mut page);
    both_runs(shown.both, &mut page);
    tried(answer, &mut page);
    notes(answer, &mut page);
    further(answer, &mut page);
    page.push_str("</main>\n");
    page.push_str(HELP);
    let _ = write!(
        page,
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        data::embedded(answer, sources)
    );
    page
}

const HELP: &str = "<dialog id=\"help\" aria-labelledby=\"help-title\">\n<h2 id=\"help-title\">Keys</h2>\n<dl>\n\
    <dt><kbd>↓</kbd> <kbd>j</kbd>, <kbd>↑</kbd> <kbd>k</kbd></dt><dd>next and previous line</dd>\n\
    <dt><kbd>→</kbd> <kbd>l</kbd></dt><dd>unfold, or go to what led to it</dd>\n\
    <dt><kbd>←</kbd> <kbd>h</kbd></dt><dd>fold what led to it, or go to what it led to</dd>\n\
    <dt><kbd>Home</kbd>, <kbd>End</kbd></dt><dd>first and last line</dd>\n\
    <dt><kbd>c</kbd></dt><dd>next line that was changed</dd>\n\
    <dt><kbd>Enter</kbd></dt><dd>show both versions, or the steps left out</dd>\n\
    <dt><kbd>Esc</kbd></dt><dd>close, back to the causes</dd>\n\
    <dt><kbd>t</kbd></dt><dd>light, dark, or as the system has it</dd>\n\
    <dt><kbd>?</kbd></dt><dd>this list</dd>\n</dl>\n<form method=\"dialog\"><button>Close</button></form>\n</dialog>\n";

/// Escapes a sentence like [`escape`] and renders text between backticks as code.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // A backtick is unpaired, so none of them is treated as a quote.
        return escape(text);
    }
    let mut safe = String::new();
    for (index, part) in parts.into_iter().enumerate() {
        if index % 2 == 0 {
            safe.push_str(&escape(part));
        } else {
            let _ = write!(safe, "<code>{}</code>", escape(part));
        }
    }
    safe
}

fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn observation(answer: &Answer, page: &mut String) {
    let seen = &answer.observation;
    let summary = words::sentence(&seen.summary);
    let summary = if summary.is_empty() { "The test failed".to_owned() } else { upper_first(&summary) };
    let _ = write!(
        page,
        "<section id=\"failed\">\n<h2>What failed</h2>\n<p class=\"summary\">{}</p>\n",
        prose(&summary)
    );
    if let Some(difference) = &seen.output {
        output(difference, page);
    }
    place(seen, page);
    if !seen.stderr.is_empty() {
        let lines: Vec<String> = seen.stderr.iter().map(|line| escape(line)).collect();
        let _ = writeln!(page, "<p>What bad wrote to standard error:</p>\n<pre>{}</pre>", lines.join("\n"));
    }
    for error in &seen.memory_errors {
        let _ = writeln!(page, "<p>Memory error of bad: {}</p>", prose(error));
    }
    page.push_str("<table class=\"versions\"><tbody>\n");
    for (side, version) in [("good", &answer.good), ("bad", &answer.bad)] {
        let _ = writeln!(
            page,
            "<tr><th class=\"{side}\">{side}</th><td>{}</td><td>{}</td></tr>",
            version_name(version),
            escape(&version.end)
        );
    }
    for (name, command) in [("build", &answer.build), ("test", &answer.test)] {
        if !command.is_empty() {
            let _ = writeln!(
                page,
                "<tr><th>{name}</th><td colspan=\"2\"><code>{}</code></td></tr>",
                escape(command)
            );
        }
    }
    page.push_str("</tbody></table>\n</section>\n");
}

fn version_name(version: &Version) -> String {
    let mut name = escape(&version.name);
    if let Some(commit) = version.commit.as_ref().filter(|&commit| commit != &version.name) {
        let short: String = commit.chars().take(10).collect();
        let _ = write!(name, " <code title=\"{}\">{}</code>", escape(commit), escape(&short));
    }
    name
}

fn output(difference: &OutputDifference, page: &mut String) {
    let (front, back) = shared_ends(&difference.good, &difference.bad);
    let _ = write!(
        page,
        "<p class=\"hint\">{} differs at line {} (byte {})</p>\n<table class=\"output\"><tbody>\n",
        escape(&difference.sink),
        difference.line,
        difference.offset
    );
    for (side, text) in [("good", &difference.good), ("bad", &difference.bad)] {
        let (before, rest) = text.split_at(front);
        let (middle, after) = rest.split_at(rest.len() - back);
        let shown = if text.is_empty() {
            "<em>nothing</em>".to_owned()
        } else {
            format!("<code>{}<mark>{}</mark>{}</code>", escape(before), escape(middle), escape(after))
        };
        let _ = writeln!(page, "<tr class=\"{side}\"><th>{side}</th><td>{shown}</td></tr>");
    }
    page.push_str("</tbody></table>\n");
}

fn place(seen: &Observation, page: &mut String) {
    let Some((lead, here)) = words::failed_at(seen) else { return };
    let _ = writeln!(page, "<p class=\"at\">{lead} {}</p>", place_name(here));
    if !here.text.trim().is_empty() {
        let _ = writeln!(
            page,
            "<pre class=\"one{}\"><span class=\"number\">{}</span>{}</pre>",
            if lead == "at" { "" } else { " good" },
            here.line,
            escape(here.text.trim())
        );
    }
    let callers = &seen.stack[usize::from(seen.stack.first().is_some_and(|first| first.line == here.line))..];
    if !callers.is_empty() {
        let _ = write!(
            page,
            "<details class=\"stack\"><summary>Called from {}</summary><ol>",
            place_name(&callers[0])
        );
        for frame in callers {
            let _ = write!(page, "<li>{}</li>", place_name(frame));
        }
        page.push_str("</ol></details>\n");
    }
}

fn place_name(place: &Place) -> String {
    let name = format!("<b>{}</b>", escape(&words::place(place)));
    if place.function.is_empty() {
        name
    } else {
        format!("{name} in <code>{}</code>", escape(&place.function))
    }
}

/// What was verified about the answer, and the commit that introduced the failure.
fn proof(answer: &Answer, page: &mut String) {
    let lines = words::proof(answer);
    if lines.is_empty() && answer.commit.is_none() {
        return;
    }
    page.push_str("<section id=\"shown\">\n<h2>What was shown</h2>\n<ul>\n");
    if let Some(commit) = &answer.commit {
        let _ =
            writeln!(page, "<li>it came with commit <code>{}</code></li>", escape(&words::commit(commit)));
    }
    for line in lines {
        let _ = writeln!(page, "<li>{}</li>", prose(&line));
    }
    page.push_str("</ul>\n</section>\n");
}

fn root(answer: &Answer, page: &mut String) {
    let title = words::root_title(answer);
    let _ = write!(page, "<section id=\"root\">\n<h2>{title}</h2>\n");
    if answer.root.is_empty() {
        page.push_str("<p>None was found.</p>\n");
    }
    if answer.root.iter().any(|hunk| !hunk.guilty_new.is_empty() || !hunk.guilty_old.is_empty()) {
        page.push_str("<p class=\"hint\">A bar at the left marks the lines the failure came from.</p>\n");
    }
    for hunk in &answer.root {
        change(hunk, page);
    }
    page.push_str("</section>\n");
}

fn change(hunk: &Hunk, page: &mut String) {
    let _ = write!(
        page,
        "<article class=\"change\" id=\"change-{0}\">\n<h3><span class=\"badge\">#{0}</span> {1}",
        hunk.change,
        escape(&words::hunk_place(hunk))
    );
    if let Some(old) = &hunk.old_file {
        let _ = write!(page, " <span class=\"was\">was {}</span>", escape(old));
    }
    let heading = words::heading(hunk);
    if !heading.is_empty() {
        let _ = write!(page, " <span class=\"heading\">in <code>{}</code></span>", escape(heading));
    }
    page.push_str("</h3>\n");
    let parts = hunk::shorten(hunk::lines(hunk), HUNK_LINES);
    if !parts.is_empty() {
        page.push_str("<div class=\"scroll\"><table class=\"diff\"><tbody>\n");
        for part in &parts {
            diff_row(part, page);
        }
        page.push_str("</tbody></table></div>\n");
    }
    page.push_str("</article>\n");
}

fn diff_row(part: &Part<'_>, page: &mut String) {
    let line = match part {
        Part::Line(line) => line,
        Part::LeftOut(count) => {
            let count = words::count(words::number(*count), "line");
            let _ = writeln!(page, "<tr class=\"left-out\"><td colspan=\"4\">{count} not shown</td></tr>");
            return;
        }
    };
    let (class, sign) = match line.side {
        Side::Both => ("both", ""),
        Side::Good => ("removed", "−"),
        Side::Bad => ("added", "+"),
    };
    let guilty = if line.guilty { " guilty" } else { "" };
    let title = if line.guilty { " title=\"The failure came from this line\"" } else { "" };
    let number = |number: Option<u32>| number.map_or(String::new(), |number| number.to_string());
    let text = match line.partner {
        Some(partner) => {
            let (front, back) = shared_ends(line.text, partner);
            let (before, rest) = line.text.split_at(front);
            let (middle, after) = rest.split_at(rest.len() - back);
            format!("{}<mark>{}</mark>{}", escape(before), escape(middle), escape(after))
        }
        None => escape(line.text),
    };
    let _ = writeln!(
        page,
        "<tr class=\"{class}{guilty}\"{title}><td class=\"number\">{}</td><td class=\"number\">{}</td>\
         <td class=\"sign\">{sign}</td><td class=\"code\">{text}</td></tr>",
        number(line.old),
        number(line.new)
    );
}

fn auxiliary(answer: &Answer, page: &mut String) {
    if answer.auxiliary.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "<section id=\"auxiliary\">\n<h2>{}</h2>\n<details{}><summary>{}</summary>\n",
        words::auxiliary(answer),
        if answer.auxiliary.len() <= 3 { " open" } else { "" },
        words::count(words::number(answer.auxiliary.len()), "change")
    );
    for hunk in &answer.auxiliary {
        change(hunk, page);
    }
    page.push_str("</details>\n</section>\n");
}

/// Commands for the recordings.
fn further(answer: &Answer, page: &mut String) {
    if answer.further.is_empty() {
        return;
    }
    page.push_str("<section id=\"further\">\n<h2>To look further</h2>\n<dl>\n");
    for further in &answer.further {
        let (asks, command) = (escape(&further.asks), escape(&further.command));
        let _ = writeln!(page, "<dt>{asks}</dt><dd><code>{command}</code></dd>");
    }
    page.push_str(
        "</dl>\n<p>The recordings stay on that machine until the next explanation there.</p>\n</section>\n",
    );
}

/// The nearest input on which both versions agree.
fn alternate(answer: &Answer, page: &mut String) {
    if answer.alternate.is_none() && answer.no_alternate.is_none() {
        return;
    }
    page.push_str("<section id=\"alternate\">\n<h2>An input on which both versions agree</h2>\n");
    if let Some(found) = &answer.alternate {
        page.push_str("<ul>\n");
        for byte in &found.changed {
            let (old, new) = (words::byte(byte.old), words::byte(byte.new));
            let _ = writeln!(
                page,
                "<li><code>{}</code>: <code>{}</code> becomes <code>{}</code></li>",
                escape(&byte.name),
                escape(&old),
                escape(&new)
            );
        }
        for part in &found.parts {
            let (name, text) = (escape(&part.name), words::part(part));
            let _ = writeln!(page, "<li><code>{name}</code>: {}</li>", escape(&text));
        }
        if !found.parts.is_empty() {
            let _ = write!(
                page,
                "</ul>\n<p>Both versions were run with it and end with {}.</p>\n</section>\n",
                escape(&found.end)
            );
            return;
        }
        let _ = write!(
            page,
            "</ul>\n<p>At {} of {} it is then <code>{}</code>, not <code>{}</code>. Both versions were run with it \
             and end with {}.</p>\n",
            escape(&words::place(&found.place)),
            escape(&found.version),
            escape(&found.flipped),
            escape(&found.condition),
            escape(&found.end)
        );
    } else if let Some(reason) = &answer.no_alternate {
        let _ = writeln!(page, "<p>None was found: {}.</p>", prose(&words::sentence(reason)));
    }
    page.push_str("</section>\n");
}

/// The failing run by phases, in a folded section.
fn run_in_phases(answer: &Answer, sources: Option<&Sources>, tree: Option<&Tree>, page: &mut String) {
    let Some(tree) = tree.filter(|t| !t.levels.is_empty()) else { return };
    page.push_str("<section id=\"phases\">\n<h2>The failing run in phases</h2>\n<details><summary>Unfold it</summary>\n");
    let none = BTreeMap::new();
    let files = sources.map_or(&none, |s| &s.bad);
    phases::tree(&Shown { tree, question: &answer.observation.summary, files }, page);
    page.push_str("</details>\n</section>\n");
}

/// Both runs of the failing test, in a folded section.
fn both_runs(both: Option<&Page>, page: &mut String) {
    let Some(both) = both.filter(|b| !b.sections.is_empty()) else { return };
    page.push_str("<section id=\"both\">\n<h2>Both runs side by side</h2>\n<details><summary>Unfold them</summary>\n<div class=\"runs\">\n");
    runs::body(both, page);
    page.push_str("</div>\n</details>\n</section>\n");
}

/// The differences between the failing test and a passing test.
fn passing(answer: &Answer, both: Option<&Page>, page: &mut String) {
    let Some(found) = &answer.passing else { return };
    page.push_str("<section id=\"passing\">\n<h2>Only the failing test</h2>\n");
    if let Some(test) = &found.test {
        let _ = writeln!(page, "<p>The passing test: <code>{}</code></p>", escape(test));
    }
    let _ = writeln!(page, "<p>{}</p>\n<ol>", escape(&words::passing(found)));
    let nodes = forest::flatten(&answer.causes);
    for (number, suspect) in (1..).zip(&found.suspects) {
        let _ = writeln!(page, "<li id=\"suspect-{number}\"><ul>");
        for (side, list) in [("good", &suspect.good), ("bad", &suspect.bad)] {
            for said in list {
                let _ = writeln!(
                    page,
                    "<li>{side}: <code>{}</code> <span class=\"where\">{}</span></li>",
                    escape(&said.text),
                    escape(&words::place(&said.place))
                );
            }
        }
        page.push_str("</ul>");
        for change in &suspect.changes {
            let _ = write!(page, "<a class=\"badge\" href=\"#change-{change}\">#{change}</a> ");
        }
        if let Some(row) = nodes.iter().position(|n| suspect.causes.contains(&n.cause.id)) {
            let _ = write!(page, "<a href=\"#node-{row}\">among the causes</a> ");
        }
        let there =
            both.and_then(|b| b.sections.iter().position(|s| s.told.number == suspect.sequence as usize));
        if let Some(section) = there {
            let _ = write!(page, "<a href=\"#d{}\">in both runs</a>", section + 1);
        }
        page.push_str("</li>\n");
    }
    page.push_str("</ol>\n");
    if found.more > 0 {
        let _ = writeln!(page, "<p>and {} more; <code>relapse cause</code> lists them.</p>", found.more);
    }
    page.push_str("</section>\n");
}

fn tried(answer: &Answer, page: &mut String) {
    page.push_str("<section id=\"tried\">\n<h2>What was tried</h2>\n");
    for line in words::effort(answer) {
        let _ = writeln!(page, "<p>{}</p>", escape(&upper_first(&line)));
    }
    if !answer.method.is_empty() {
        let _ = writeln!(page, "<p class=\"hint\">Method <code>{}</code></p>", escape(&answer.method));
    }
    let log = &answer.trials.log;
    if !log.is_empty() {
        let _ = write!(
            page,
            "<details><summary>{}</summary>\n<div class=\"scroll\"><table class=\"log\">\
             <thead><tr><th>changes undone</th><th>outcome</th><th></th></tr></thead><tbody>\n",
            words::count(words::number(log.len()), "trial")
        );
        for trial in log {
            let mut numbers: Vec<String> =
                trial.reverted.iter().take(12).map(|change| format!("#{change}")).collect();
            if trial.reverted.len() > 12 {
                numbers.push(format!("and {} more", trial.reverted.len() - 12));
            }
            let class = match trial.outcome.as_str() {
                "pass" => "good",
                "fail" => "bad",
                _ => "neither",
            };
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td class=\"{class}\">{}</td><td>{}</td></tr>",
                numbers.join(" "),
                escape(&trial.outcome),
                escape(&trial.why)
            );
        }
        page.push_str("</tbody></table></div></details>\n");
    }
    page.push_str("</section>\n");
}

fn notes(answer: &Answer, page: &mut String) {
    if answer.notes.is_empty() {
        return;
    }
    page.push_str("<section id=\"notes\">\n<h2>Notes</h2>\n<ul>\n");
    for note in &answer.notes {
        let _ = writeln!(page, "<li>{}</li>", prose(note));
    }
    page.push_str("</ul>\n</section>\n");
}

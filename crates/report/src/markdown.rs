//! The answer as Markdown, for a comment on a pull request.
//!
//! Services limit the length of comments (GitHub: 65,536 characters), so changes
//! and causes are shortened further than in a terminal.

use std::fmt::Write as _;

use explain::answer::{Answer, Hunk};

use crate::graph;
use crate::hunk::{self, Part, Side};
use crate::paint::Style;
use crate::text::{cut, visible};
use crate::words;

/// Number of changes shown in full; the others are listed by name.
const HUNKS: usize = 6;
const HUNK_LINES: usize = 30;
const LINE: usize = 160;
/// Number of changes listed by name.
const NAMED: usize = 40;
/// Maximum number of characters of an untrusted sentence or command.
const SENTENCE: usize = 500;

/// Renders an answer.
#[must_use]
pub fn render(answer: &Answer) -> String {
    let mut page = String::new();
    let word = if answer.verified { "Verified" } else { "NOT VERIFIED" };
    let _ = write!(page, "### relapse: {}\n\n", text(&words::sentence(&answer.observation.summary)));
    let _ = write!(page, "**{word}:** {}.\n\n", text(&words::verdict(answer)));
    if let Some(output) = &answer.observation.output {
        let _ = write!(page, "{} differs at line {}:\n\n", code(&output.sink), output.line);
        let lines = [format!("- {}", visible(&output.good)), format!("+ {}", visible(&output.bad))];
        fenced("diff", lines.iter().map(String::as_str), &mut page);
    }
    if let Some((lead, place)) = words::failed_at(&answer.observation) {
        let lead = if lead == "at" { "It failed at" } else { "The good version did it at" };
        let _ = write!(page, "{lead} {}", code(&words::place(place)));
        if !place.function.is_empty() {
            let _ = write!(page, " in {}", code(&place.function));
        }
        page.push_str(".\n\n");
    }
    if !answer.observation.stderr.is_empty() {
        page.push_str("Standard error of bad:\n\n");
        let lines: Vec<_> = answer.observation.stderr.iter().map(|line| visible(line)).collect();
        fenced("text", lines.iter().map(AsRef::as_ref), &mut page);
    }
    for error in &answer.observation.memory_errors {
        let _ = write!(page, "Memory error of bad: {}.\n\n", text(error));
    }
    page.push_str("| | version | test run |\n|---|---|---|\n");
    for (side, version) in [("good", &answer.good), ("bad", &answer.bad)] {
        let name = version.commit.as_ref().map_or_else(
            || version.name.clone(),
            |commit| {
                let short: String = commit.chars().take(10).collect();
                if version.name.is_empty() { short } else { format!("{} ({short})", version.name) }
            },
        );
        let _ = writeln!(page, "| {side} | {} | {} |", cell(&name), cell(&version.end));
    }
    page.push('\n');
    changes(words::root_title(answer), &answer.root, &mut page);
    if !answer.causes.is_empty() {
        page.push_str("<details><summary>How it came about</summary>\n\n");
        let style = Style { width: 100, causes: 20, ..Style::default() };
        let mut drawing = String::new();
        for row in graph::draw(answer, &style) {
            row.write(&style, &mut drawing);
        }
        fenced("text", drawing.lines(), &mut page);
        page.push_str("</details>\n\n");
    }
    if !answer.auxiliary.is_empty() {
        let _ = write!(page, "{}: {}.\n\n", words::auxiliary(answer), names(&answer.auxiliary));
    }
    for note in answer.notes.iter().take(8) {
        let _ = write!(page, "> {}\n\n", text(note));
    }
    if !answer.further.is_empty() {
        page.push_str("<details><summary>To look further</summary>\n\n");
        for further in &answer.further {
            let _ = write!(page, "{}:\n\n", text(&further.asks));
            fenced("sh", [visible(&further.command)].iter().map(AsRef::as_ref), &mut page);
        }
        page.push_str("</details>\n\n");
    }
    let method =
        if answer.method.is_empty() { String::new() } else { format!(" Method {}.", code(&answer.method)) };
    let _ = writeln!(page, "<sub>{}.{method}</sub>", words::effort(answer).join("; "));
    page
}

fn changes(title: &str, hunks: &[Hunk], page: &mut String) {
    let _ = write!(page, "**{title}**\n\n");
    if hunks.is_empty() {
        page.push_str("None was found.\n\n");
    }
    for hunk in hunks.iter().take(HUNKS) {
        let _ = write!(page, "{} {}", code(&format!("#{}", hunk.change)), code(&words::hunk_place(hunk)));
        let heading = words::heading(hunk);
        if !heading.is_empty() {
            let _ = write!(page, " in {}", code(heading));
        }
        page.push_str("\n\n");
        let parts = hunk::shorten(hunk::lines(hunk), HUNK_LINES);
        if parts.is_empty() {
            continue;
        }
        let lines: Vec<String> = parts
            .iter()
            .map(|part| match part {
                Part::LeftOut(count) => {
                    format!("# {} not shown", words::count(words::number(*count), "line"))
                }
                Part::Line(line) => {
                    let sign = match line.side {
                        Side::Both => ' ',
                        Side::Good => '-',
                        Side::Bad => '+',
                    };
                    format!("{sign}{}", visible(line.text))
                }
            })
            .collect();
        fenced("diff", lines.iter().map(String::as_str), page);
    }
    if hunks.len() > HUNKS {
        let _ = write!(page, "and {}\n\n", names(&hunks[HUNKS..]));
    }
}

fn names(hunks: &[Hunk]) -> String {
    let mut names: Vec<String> =
        hunks.iter().take(NAMED).map(|hunk| code(&words::hunk_place(hunk))).collect();
    if hunks.len() > NAMED {
        names.push(format!("{} more", hunks.len() - NAMED));
    }
    names.join(", ")
}

/// A code block whose fence is longer than any run of backticks in it.
fn fenced<'a>(language: &str, lines: impl Iterator<Item = &'a str> + Clone, page: &mut String) {
    let fence = "`".repeat(lines.clone().map(longest_run).max().unwrap_or(0).max(2) + 1);
    let _ = writeln!(page, "{fence}{language}");
    for line in lines {
        let _ = writeln!(page, "{}", cut(line, LINE, "…").trim_end());
    }
    let _ = write!(page, "{fence}\n\n");
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A code span, in which nothing is interpreted as Markdown.
fn code(text: &str) -> String {
    let shown = visible(text).replace('\t', " ");
    let shown = cut(&shown, SENTENCE, "…");
    if shown.trim().is_empty() {
        return "` `".to_owned();
    }
    let fence = "`".repeat(longest_run(&shown) + 1);
    // Markdown strips this space. Text that begins or ends with a backtick needs it.
    let pad = if shown.starts_with(['`', ' ']) || shown.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{shown}{pad}{fence}")
}

/// A code span in a table cell, where a bar ends the cell even in code.
fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Escapes text so that Markdown renders it literally: no emphasis, no tags, no user mentions, no links
/// from numbers.
fn text(text: &str) -> String {
    let shown = visible(text).replace('\t', " ");
    let shown = cut(&shown, SENTENCE, "…");
    let mut safe = String::with_capacity(shown.len() + 16);
    for c in shown.chars() {
        match c {
            '@' | '#' => {
                safe.push(c);
                safe.push_str("<!-- -->");
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '!' | '$' | ':' => {
                safe.push('\\');
                safe.push(c);
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spans_are_longer_than_what_is_inside() {
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code(""), "` `");
        assert_eq!(cell("a|b"), "`a\\|b`");
    }

    #[test]
    fn nobody_is_called_and_nothing_is_bold() {
        assert_eq!(text("@all *see* #3 <b>"), "@<!-- -->all \\*see\\* #<!-- -->3 \\<b\\>");
    }

    proptest! {
        #[test]
        fn a_fence_closes_only_at_its_end(lines in proptest::collection::vec("[`~a ]{0,12}", 0..6)) {
            let mut page = String::new();
            fenced("text", lines.iter().map(String::as_str), &mut page);
            let fence: String = page.chars().take_while(|&c| c == '`').collect();
            let closing = page.lines().skip(1)
                .position(|line| line.trim().len() >= fence.len() && line.trim().chars().all(|c| c == '`'));
            prop_assert_eq!(closing, Some(lines.len()));
        }
    }
}

//! A single self-contained page: a table of path groups and a table of faults.

use super::{effort, fault, headline};
use crate::page;
use crate::text::escape;
use explore::explored::{Example, Explored};
use std::fmt::Write as _;

/// Renders the page.
#[must_use]
pub fn render(explored: &Explored) -> String {
    let mut page = page::begun(&headline(explored));
    if !explored.faults.is_empty() {
        page += "<h2>Inputs that make the program fault</h2>\n";
    }
    for row in &explored.faults {
        let _ = writeln!(page, "<section><strong class=\"bad\">{}</strong>", escape(&fault(row)));
        example(&row.example, &mut page);
        page += "</section>\n";
    }
    page += "<h2>Groups</h2>\n";
    for group in &explored.groups {
        let _ = writeln!(
            page,
            "<section><strong>{}.</strong> <code>{}</code>",
            group.number,
            escape(&group.output)
        );
        if group.condition.is_empty() {
            page += "<p class=\"faint\">for every input</p>\n";
        } else {
            page += "<p class=\"faint\">if</p>\n<ul>\n";
            for condition in &group.condition {
                let _ = writeln!(page, "<li><code>{}</code></li>", escape(condition));
            }
            page += "</ul>\n";
        }
        example(&group.example, &mut page);
        for fixed in &group.fixed {
            let _ = writeln!(page, "<p class=\"faint\">taken as fixed: {}</p>", escape(fixed));
        }
        page += "</section>\n";
    }
    page += "<h2>Effort</h2>\n";
    for line in effort(explored) {
        let _ = writeln!(page, "<p>{}</p>", escape(&line));
    }
    page::ended(page)
}

fn example(example: &Example, page: &mut String) {
    let _ = writeln!(
        page,
        "<table>\n<tr><td>for example</td><td><code>{}</code></td></tr>",
        escape(&example.command)
    );
    for part in &example.parts {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td><code>{}</code></td></tr>",
            escape(&part.name),
            escape(&part.text)
        );
    }
    let _ = writeln!(
        page,
        "<tr><td>{}</td><td><code>{}</code></td></tr>\n</table>",
        escape(&example.end),
        escape(&example.stdout)
    );
}

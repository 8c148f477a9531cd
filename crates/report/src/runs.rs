//! Two runs side by side, as one self-contained page.
//!
//! Both runs are columns of one table, so that they scroll together without a script: similar events
//! share a row, differences are marked, and long similar sections are folded to a count. Each
//! difference links to the parts of the views it belongs to, and these link back.

use crate::text::escape;
use std::fmt::Write as _;
use views::page::{Page, ViewExcerpt};
use views::told::{Entry, Pair};

const PAGE: &str = include_str!("runs/page.css");
/// The style sheet of the table, for use inside an element of class `runs`.
pub(crate) const STYLE: &str = include_str!("runs/table.css");

/// Renders a page.
#[must_use]
pub fn render(page: &Page) -> String {
    let [left, right] = &page.names;
    let mut out = String::new();
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'\">\n\
         <title>relapse: {} and {}</title>\n<style>\n{PAGE}{STYLE}</style>\n</head>\n<body>\n<h1>Two runs</h1>\n<main class=\"runs\">\n",
        escape(left),
        escape(right),
    );
    body(page, &mut out);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// Renders the runs, for a page that includes their style sheet.
pub(crate) fn body(page: &Page, out: &mut String) {
    let [left, right] = &page.names;
    if page.unrelated {
        out.push_str("<p class=\"warn\">These are runs of unrelated programs: they have hardly a function in common.</p>\n");
    }
    let _ = writeln!(
        out,
        "<p>{} of {} and {} events differ, in {} sequences; {} stand elsewhere.</p>",
        page.differences,
        page.events[0],
        page.events[1],
        page.sections.len() as u64 + page.more,
        page.moved,
    );
    for note in &page.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
    }
    contents(page, out);
    let _ = write!(
        out,
        "<table>\n<colgroup><col class=\"where\"><col><col class=\"where\"><col></colgroup>\n\
         <thead><tr><th colspan=\"2\">{}</th><th colspan=\"2\">{}</th></tr></thead>\n",
        escape(left),
        escape(right)
    );
    for (n, section) in page.sections.iter().enumerate() {
        if section.skipped > 0 {
            let _ = writeln!(
                out,
                "<tbody class=\"skipped\"><tr><td colspan=\"4\">{} similar events</td></tr></tbody>",
                section.skipped
            );
        }
        let _ = writeln!(
            out,
            "<tbody id=\"d{}\">\n<tr class=\"title\"><th colspan=\"4\">{}. {} in <code>{}</code></th></tr>",
            n + 1,
            section.told.number + 1,
            section.told.change,
            escape(&section.told.stack.join(" < ")),
        );
        rows(&section.told.rows, out);
        if section.told.more > 0 {
            let _ = writeln!(
                out,
                "<tr class=\"more\"><td colspan=\"4\">and {} more events</td></tr>",
                section.told.more
            );
        }
        if !section.views.is_empty() {
            out.push_str("<tr class=\"links\"><td colspan=\"4\">views: ");
            for number in &section.views {
                let web = &page.views[*number];
                let _ = write!(out, "<a href=\"#v{}\">{} {}</a> ", number + 1, web.kind, escape(title(web)));
            }
            out.push_str("</td></tr>\n");
        }
        out.push_str("</tbody>\n");
    }
    out.push_str("</table>\n");
    if page.more > 0 {
        let _ = writeln!(out, "<p class=\"note\">{} more sequences are left out.</p>", page.more);
    }
    webs(page, out);
}

/// A navigation list of all differences.
fn contents(page: &Page, out: &mut String) {
    out.push_str("<nav aria-label=\"Differences\"><ol>\n");
    for (n, section) in page.sections.iter().enumerate() {
        let first = section.told.rows.iter().find(|p| !p.same);
        let said = first.and_then(|p| p.right.as_ref().or(p.left.as_ref()));
        let _ = writeln!(
            out,
            "<li class=\"{}\"><a href=\"#d{}\">{}</a></li>",
            section.told.change,
            n + 1,
            escape(said.map_or("", |e| e.text.as_str())),
        );
    }
    out.push_str("</ol></nav>\n");
}

fn webs(page: &Page, out: &mut String) {
    if page.views.is_empty() {
        return;
    }
    out.push_str("<h2>Views</h2>\n<p>The same differences among what the function, or the object, did otherwise.</p>\n");
    for (n, web) in page.views.iter().enumerate() {
        let _ = write!(
            out,
            "<table class=\"web\" id=\"v{}\">\n<colgroup><col class=\"where\"><col><col class=\"where\"><col></colgroup>\n\
             <thead><tr class=\"title\"><th colspan=\"4\">{} <code>{}</code> ({} and {} events) \
             <a href=\"#d{}\">back to the difference</a></th></tr></thead>\n<tbody>\n",
            n + 1,
            web.kind,
            escape(title(web)),
            web.events[0],
            web.events[1],
            web.from + 1,
        );
        rows(&web.rows, out);
        out.push_str("</tbody>\n</table>\n");
    }
}

fn title(web: &ViewExcerpt) -> &str {
    if web.titles[1].is_empty() { &web.titles[0] } else { &web.titles[1] }
}

fn rows(pairs: &[Pair], out: &mut String) {
    for pair in pairs {
        let class = match (&pair.left, &pair.right) {
            _ if pair.same => "same",
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "gone",
            _ => "new",
        };
        let _ = write!(out, "<tr class=\"{class}\">");
        cell(pair.left.as_ref(), out);
        cell(pair.right.as_ref(), out);
        out.push_str("</tr>\n");
    }
}

fn cell(entry: Option<&Entry>, out: &mut String) {
    let Some(e) = entry else {
        out.push_str("<td></td><td class=\"none\"></td>");
        return;
    };
    let file = e.file.rsplit('/').next().unwrap_or("");
    let place = if e.line == 0 { String::new() } else { format!("{file}:{}", e.line) };
    let _ = write!(
        out,
        "<td title=\"event {} in {}\">{}</td><td><code>{}</code></td>",
        e.event,
        escape(&e.function),
        escape(&place),
        escape(&e.text)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use views::page::Section;
    use views::told::SequenceSummary;

    #[test]
    fn a_page_is_harmless_and_whole() {
        let entry = |text: &str| Some(Entry { text: text.to_owned(), line: 3, ..Entry::default() });
        let page = Page {
            names: ["old".into(), "<new>".into()],
            events: [3, 4],
            differences: 1,
            sections: vec![Section {
                skipped: 2,
                told: SequenceSummary {
                    change: "modification",
                    rows: vec![Pair {
                        left: entry("set s = \"<b>\""),
                        right: entry("set s = \"&\""),
                        ..Pair::default()
                    }],
                    stack: vec!["main".into()],
                    ..SequenceSummary::default()
                },
                views: vec![0],
            }],
            views: vec![ViewExcerpt {
                kind: "method",
                titles: ["".into(), "main()".into()],
                ..ViewExcerpt::default()
            }],
            ..Page::default()
        };
        let html = render(&page);
        assert!(html.contains("set s = &quot;&lt;b&gt;&quot;"), "{html}");
        assert!(html.contains("&lt;new&gt;") && !html.contains("<new>"));
        assert!(html.contains("<a href=\"#v1\">method main()</a>"));
        assert!(html.contains("id=\"v1\"") && html.contains("href=\"#d1\""));
        assert!(html.contains("2 similar events"));
    }
}

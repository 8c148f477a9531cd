//! A run by phases, as a tree that is initially folded.
//!
//! Each value that one phase passed to another unfolds to its source line, the variables there, and the
//! level to inspect next if this is the first wrong value. `<details>` does this without a script. Used
//! as a standalone page and inside an explanation.

use crate::text::escape;
use crate::words;
use slice::phases::told::{FlowSummary, LineSummary, PhaseSummary};
use slice::phases::tree::{Tree, TreeChild, TreeLevel};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const PAGE: &str = include_str!("phases/page.css");
/// The style sheet of the tree, for any page that contains one.
pub(crate) const STYLE: &str = include_str!("phases/tree.css");

/// Lines shown before and after a location.
const AROUND: usize = 2;
/// Maximum number of variables shown at a location; the rest is only counted.
const VARIABLES: usize = 12;
/// Maximum depth of nested levels; deeper ones are left out, because a tree read from a file is
/// untrusted.
const DEEPEST: usize = 200;
/// Longer lines and values are cut.
const LONGEST: usize = 200;

/// The data to show.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The phases.
    pub tree: &'a Tree,
    /// The question that the levels answer.
    pub question: &'a str,
    /// Contents of the files that the tree names.
    pub files: &'a BTreeMap<String, String>,
}

/// Renders a standalone page.
#[must_use]
pub fn render(shown: &Shown<'_>) -> String {
    let question = escape(shown.question);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'\">\n\
         <title>relapse: {question} in phases</title>\n<style>\n{PAGE}{STYLE}</style>\n</head>\n<body>\n\
         <h1>Where did {question} go wrong?</h1>\n"
    );
    tree(shown, &mut page);
    page.push_str("</body>\n</html>\n");
    page
}

/// Renders the tree, for a page that includes its style sheet.
pub(crate) fn tree(shown: &Shown<'_>, page: &mut String) {
    page.push_str(
        "<p class=\"hint\">The run is cut into phases; below each stands what it gave to others. Unfold the first \
         value that should not be as it is: then the phase that made it is cut.</p>\n<div class=\"phases\">\n",
    );
    let mut drawing = Drawing { shown: *shown, drawn: vec![false; shown.tree.levels.len()] };
    drawing.level(0, 0, page);
    page.push_str("</div>\n");
    let _ = write!(
        page,
        "<p class=\"hint\">{}; the whole slice has {} executed instructions.",
        words::count(words::number(shown.tree.levels.len()), "level"),
        shown.tree.executions
    );
    if shown.tree.left_out > 0 {
        let _ = write!(
            page,
            " There was no room for {} more; <code>relapse slice … --phases</code> in a terminal goes there.",
            shown.tree.left_out
        );
    }
    page.push_str("</p>\n");
}

struct Drawing<'a> {
    shown: Shown<'a>,
    /// Levels that are already on the page: others link to them.
    drawn: Vec<bool>,
}

impl<'a> Drawing<'a> {
    fn level(&mut self, number: usize, inside: usize, page: &mut String) {
        let tree: &'a Tree = self.shown.tree;
        let Some(level) = tree.levels.get(number).filter(|_| inside < DEEPEST) else {
            page.push_str("<p class=\"end\">Not shown.</p>\n");
            return;
        };
        if std::mem::replace(&mut self.drawn[number], true) {
            let _ = writeln!(
                page,
                "<p class=\"end\">As in <a href=\"#level-{0}\">this level</a>.</p>",
                number + 1
            );
            return;
        }
        let TreeLevel { depth, told, below, otherwise } = level;
        let _ = writeln!(
            page,
            "<div class=\"level\" id=\"level-{}\">\n<h4>Level {depth}, in <code>{}</code></h4>\n<ol>",
            number + 1,
            escape(&told.function)
        );
        for (index, phase) in told.phases.iter().enumerate() {
            let made = told.flows.iter().zip(below).filter(|(f, _)| f.made_in == index);
            let idle = !phase.asked && !told.flows.iter().any(|f| f.made_in == index);
            let _ = writeln!(page, "<li{}>{}", if idle { " class=\"idle\"" } else { "" }, title(phase));
            for (flow, below) in made {
                self.flow(flow, below, inside, page);
            }
            if phase.asked {
                page.push_str("<details class=\"otherwise\"><summary>If none of this is wrong: this phase by itself</summary>\n");
                self.below(otherwise, None, inside, page);
                page.push_str("</details>\n");
            }
            page.push_str("</li>\n");
        }
        page.push_str("</ol>\n</div>\n");
    }

    fn flow(&mut self, flow: &FlowSummary, below: &TreeChild, inside: usize, page: &mut String) {
        let used: Vec<String> = flow.used_in.iter().map(|u| (u + 1).to_string()).collect();
        let _ = writeln!(
            page,
            "<details class=\"flow\"><summary><code>{}</code> <span class=\"hint\">{}, used in {}</span></summary>",
            escape(cut(&flow.title())),
            escape(&where_it_is(&flow.place)),
            used.join(", ")
        );
        self.place(&flow.place, page);
        self.below(below, Some(&flow.place), inside, page);
        page.push_str("</details>\n");
    }

    /// The child of an entry; `above` is the line that is already shown.
    fn below(&mut self, below: &TreeChild, above: Option<&LineSummary>, inside: usize, page: &mut String) {
        match below {
            TreeChild::Level(number) => self.level(*number, inside + 1, page),
            TreeChild::Found(place) => {
                let _ = writeln!(
                    page,
                    "<p class=\"end found\">It went wrong at {}.</p>",
                    escape(&where_it_is(place))
                );
                if above != Some(place) {
                    self.place(place, page);
                }
            }
            TreeChild::LeftOut => page.push_str("<p class=\"end\">Not shown.</p>\n"),
        }
    }

    /// The line, and the variables there.
    fn place(&self, place: &LineSummary, page: &mut String) {
        if let Some(text) = self.shown.files.get(&place.file) {
            let line = place.line as usize;
            page.push_str("<pre>");
            let first = line.saturating_sub(AROUND).max(1);
            for (number, text) in (1..).zip(text.lines()).skip(first - 1).take(line + AROUND + 1 - first) {
                let text = escape(cut(text));
                let _ = match number == line {
                    true => writeln!(page, "<mark>{number:>5}  {text}</mark>"),
                    false => writeln!(page, "{number:>5}  {text}"),
                };
            }
            page.push_str("</pre>\n");
        }
        if place.variables.is_empty() {
            return;
        }
        page.push_str("<p class=\"variables\">Just before: ");
        for variable in place.variables.iter().take(VARIABLES) {
            let text = format!("{} = {}", variable.name, variable.value);
            let _ = write!(page, "<code>{}</code> ", escape(cut(&text)));
        }
        if place.variables.len() > VARIABLES {
            let _ = write!(page, "and {} more", place.variables.len() - VARIABLES);
        }
        page.push_str("</p>\n");
    }
}

fn title(phase: &PhaseSummary) -> String {
    let asked = if phase.asked { " <em>asked about</em>" } else { "" };
    format!("<b>{}</b>{asked}", escape(&phase.title()))
}

fn where_it_is(place: &LineSummary) -> String {
    match place.line {
        0 => format!("in {}", place.function),
        line => format!("{}:{line} in {}", place.file, place.function),
    }
}

fn cut(text: &str) -> &str {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slice::phases::told::{LevelSummary, VariableValue};

    fn place(line: u32) -> LineSummary {
        LineSummary {
            file: "a.c".into(),
            line,
            function: "f".into(),
            variables: vec![VariableValue { name: "s".into(), value: "\"<b>\"".into() }],
        }
    }

    fn level(below: TreeChild) -> TreeLevel {
        let phase = |asked| PhaseSummary { kind: "statements".into(), asked, ..PhaseSummary::default() };
        let flow = FlowSummary {
            place: place(2),
            kind: "value".into(),
            name: Some("x".into()),
            value: Some("<script>".into()),
            made_in: 0,
            used_in: vec![1],
        };
        TreeLevel {
            depth: 1,
            told: LevelSummary {
                function: "main".into(),
                phases: vec![phase(false), phase(true)],
                flows: vec![flow],
            },
            below: vec![below],
            otherwise: TreeChild::LeftOut,
        }
    }

    fn page(levels: Vec<TreeLevel>) -> String {
        let tree = Tree { levels, executions: 9, left_out: 1 };
        let files = BTreeMap::from([("a.c".to_owned(), "one\ntwo < 3\nthree\n".to_owned())]);
        render(&Shown { tree: &tree, question: "a.c:3", files: &files })
    }

    #[test]
    fn a_level_is_folded_and_harmless() {
        let page = page(vec![level(TreeChild::Found(place(1)))]);
        assert!(!page.contains("<script>") && !page.contains("<details open"), "{page}");
        assert!(page.contains("x = &lt;script&gt;"));
        assert!(page.contains("<mark>    2  two &lt; 3</mark>"));
        assert!(page.contains("It went wrong at a.c:1 in f."));
        assert!(page.contains("s = &quot;&lt;b&gt;&quot;"));
        assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
    }

    #[test]
    fn a_tree_that_bites_its_tail_comes_to_an_end() {
        let page = page(vec![level(TreeChild::Level(1)), level(TreeChild::Level(0))]);
        assert_eq!(page.matches("id=\"level-").count(), 2);
        assert!(page.contains("href=\"#level-1\""));
        let page = self::page(vec![level(TreeChild::Level(7))]);
        assert!(page.contains("Not shown."));
    }
}

//! Text output for a terminal.

use super::{at, command, consequence, dependence, headline, is_shown, pool, ways};
use crate::paint::{Ink, Row, Style};
use crate::text::{width, wrap};
use crate::words;
use explain::answer::{Commit, ValuePair};
use locate::answer::{Link, Located};

/// Number of links shown of a chain.
const SHOWN_LINKS: usize = 6;

/// Renders a located fault. The text ends with a newline.
#[must_use]
pub fn render(located: &Located, style: &Style) -> String {
    let style = &Style { width: style.width.max(30), ..style.clone() };
    let mut page = Page { style, out: String::new() };
    page.row(&Row::new().put(Ink::Strong, style.fit(&headline(located))));
    page.runs(located);
    page.branches(located);
    page.values(located);
    page.initial(located);
    page.lines(located);
    page.effort(located);
    page.notes(located);
    page.out
}

struct Page<'a> {
    style: &'a Style,
    out: String,
}

/// Number of branches shown if none is on a shown line.
const FEW: usize = 3;

impl Page<'_> {
    fn row(&mut self, row: &Row) {
        row.write(self.style, &mut self.out);
    }

    fn heading(&mut self, title: &str, aside: &str) {
        self.out.push('\n');
        let row = Row::new().put(Ink::Strong, title);
        let row = if aside.is_empty() { row } else { row.put(Ink::Faint, format!("  {aside}")) };
        self.row(&row);
    }

    fn paragraph(&mut self, first: &str, text: &str) {
        let indent = width(first);
        let text = self.style.fit(text);
        for (n, line) in wrap(&text, self.style.width.saturating_sub(indent).max(10)).into_iter().enumerate()
        {
            let start = if n == 0 { first.to_owned() } else { " ".repeat(indent) };
            self.row(&Row::new().put(Ink::Plain, start + &line));
        }
    }

    fn runs(&mut self, located: &Located) {
        self.heading("What failed", "");
        self.paragraph("  ", &words::sentence(&located.observation.summary));
        self.heading("Runs", "");
        let runs =
            [("failing", Ink::Bad, Some(&located.failing)), ("passing", Ink::Good, located.passing.as_ref())];
        for (name, ink, ran) in runs {
            let Some(ran) = ran else { continue };
            let text = format!("{}  ({})", command(ran), ran.end);
            self.row(
                &Row::new()
                    .put(Ink::Plain, "  ")
                    .put(ink, name)
                    .put(Ink::Plain, "  ")
                    .put(Ink::Plain, self.style.fit(&text)),
            );
        }
        self.row(&Row::new().put(Ink::Faint, format!("  of {}", pool(located))));
    }

    fn branches(&mut self, located: &Located) {
        if located.branches.is_empty() {
            return;
        }
        let mut shown: Vec<_> =
            located.branches.iter().filter(|entry| is_shown(located, &entry.place)).collect();
        if shown.is_empty() {
            // Other lines are more suspicious, but these branches show how the runs differ.
            shown.extend(located.branches.iter().take(FEW));
        }
        self.heading("Branches that went another way", "the most suspicious first");
        for (n, entry) in shown.iter().enumerate() {
            let text = self.style.fit(&entry.place.text);
            self.row(
                &Row::new()
                    .put(Ink::Link, format!("{:>3} ", n + 1))
                    .put(Ink::Strong, self.style.fit(&at(&entry.place)))
                    .put(Ink::Plain, format!("  {text}")),
            );
            self.paragraph("      ", &ways(entry));
            if let Some(text) = consequence(entry) {
                self.paragraph("      ", &text);
                continue;
            }
            self.pairs(&entry.values);
            self.paragraph("      ", dependence(entry));
            self.commit(entry.commit.as_ref());
            self.chain(&entry.chain);
        }
        self.more(located.branches.len(), shown.len());
    }

    fn pairs(&mut self, values: &[ValuePair]) {
        let none = "-".to_owned();
        for pair in values {
            let (bad, good) = (pair.bad.as_ref().unwrap_or(&none), pair.good.as_ref().unwrap_or(&none));
            let row = Row::new().put(Ink::Plain, format!("      {} = ", self.style.fit(&pair.name)));
            self.row(&if bad == good {
                row.put(Ink::Faint, format!("{} in both", self.style.fit(bad)))
            } else {
                row.put(Ink::Bad, self.style.fit(bad))
                    .put(Ink::Plain, ", passing ")
                    .put(Ink::Good, self.style.fit(good))
            });
        }
    }

    fn commit(&mut self, commit: Option<&Commit>) {
        if let Some(commit) = commit {
            let id = commit.id.get(..10).unwrap_or(&commit.id);
            self.paragraph("      ", &format!("last touched by {id} ({}): {}", commit.date, commit.subject));
        }
    }

    fn chain(&mut self, chain: &[Link]) {
        let leads = self.style.signs().leads;
        // The last link is the failure.
        let skipped = chain.len().saturating_sub(SHOWN_LINKS);
        for (n, link) in chain.iter().enumerate() {
            if skipped > 0 && n == SHOWN_LINKS / 2 {
                self.row(
                    &Row::new()
                        .put(Ink::Faint, format!("        {} {skipped} more", self.style.signs().more)),
                );
            }
            if skipped > 0 && n >= SHOWN_LINKS / 2 && n < SHOWN_LINKS / 2 + skipped {
                continue;
            }
            let place = format!("{}:{}", link.place.file, link.place.line);
            self.row(
                &Row::new()
                    .put(Ink::Faint, format!("      {leads} {:<13} ", link.how))
                    .put(Ink::Plain, self.style.fit(&format!("{place}  {}", link.place.text))),
            );
        }
    }

    fn values(&mut self, located: &Located) {
        let shown: Vec<_> = located.values.iter().filter(|entry| is_shown(located, &entry.place)).collect();
        if shown.is_empty() {
            return;
        }
        self.heading(
            "Values that differ and that the failure depends on",
            "at the same moments, the first first",
        );
        if let Some(ran) = &located.values_from {
            let text = format!("  from {}, which passes and takes the same way", command(ran));
            self.row(&Row::new().put(Ink::Faint, self.style.fit(&text)));
        }
        for entry in &shown {
            let text = self.style.fit(&entry.place.text);
            self.row(
                &Row::new()
                    .put(Ink::Plain, "    ")
                    .put(Ink::Strong, self.style.fit(&at(&entry.place)))
                    .put(Ink::Plain, format!("  {text}")),
            );
            self.pairs(&entry.values);
            self.commit(entry.commit.as_ref());
        }
        self.more(located.values.len(), shown.len());
    }

    fn initial(&mut self, located: &Located) {
        let shown: Vec<_> = located.initial.iter().filter(|entry| is_shown(located, &entry.place)).collect();
        if shown.is_empty() {
            return;
        }
        self.heading("Initial values that the failure depends on", "the nearest first");
        for entry in &shown {
            let value = entry.value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
            let used = format!("{}:{}", entry.used.file, entry.used.line);
            self.row(
                &Row::new()
                    .put(Ink::Plain, "    ")
                    .put(Ink::Strong, self.style.fit(&at(&entry.place)))
                    .put(Ink::Plain, self.style.fit(&format!("  {}{value}, used at {used}", entry.name))),
            );
            self.commit(entry.commit.as_ref());
        }
        self.more(located.initial.len(), shown.len());
    }

    fn lines(&mut self, located: &Located) {
        let aside = if located.coverage_only {
            "of those that the failing test executes".to_owned()
        } else {
            let slice = &located.slice;
            format!(
                "of {} in the dynamic and {} in the relevant slice of the failure",
                slice.dynamic, slice.relevant
            )
        };
        self.heading("Lines to look at", &aside);
        let shown: Vec<_> = located.lines.iter().filter(|line| !line.folded).collect();
        for (n, line) in shown.iter().enumerate() {
            let place = format!("{}:{}", line.place.file, line.place.line);
            self.row(
                &Row::new()
                    .put(Ink::Link, format!("{:>3} ", n + 1))
                    .put(Ink::Plain, self.style.fit(&format!("{place}  {}", line.place.text)))
                    .end(Ink::Faint, format!("  {}", line.why)),
            );
        }
        self.more(located.lines.len(), shown.len());
    }

    fn more(&mut self, all: usize, shown: usize) {
        if all > shown {
            self.row(
                &Row::new().put(
                    Ink::Faint,
                    format!("    {} {} more in --json", self.style.signs().more, all - shown),
                ),
            );
        }
    }

    fn effort(&mut self, located: &Located) {
        let effort = &located.effort;
        let builds = if effort.builds == 1 { "1 build" } else { "more than one build" };
        self.out.push('\n');
        self.row(
            &Row::new().put(Ink::Faint, format!("{builds}, {} runs, {:.1} s", effort.runs, effort.seconds)),
        );
    }

    fn notes(&mut self, located: &Located) {
        if !located.notes.is_empty() {
            self.heading("Notes", "");
            for note in &located.notes {
                self.paragraph("  ", &words::sentence(note));
            }
        }
    }
}

//! Renders the answer for a terminal: the verdict first, then the failure, the changes that caused it,
//! and the causes in between.

use explain::answer::{Answer, Hunk, Observation, OutputDifference, Version};

use crate::graph;
use crate::hunk::{self, Part, Side};
use crate::paint::{Ink, Row, Style};
use crate::text::{shared_ends, width, wrap};
use crate::words;

/// Renders an answer. The text ends with a newline, and depends only on the answer and the style.
#[must_use]
pub fn render(answer: &Answer, style: &Style) -> String {
    // At smaller widths nothing can be aligned.
    let style = &Style { width: style.width.max(30), ..style.clone() };
    let mut page = Page { style, out: String::new() };
    page.verdict(answer);
    page.observation(answer);
    page.root(answer);
    page.proof(answer);
    page.causes(answer);
    page.auxiliary(answer);
    page.alternate(answer);
    page.passing(answer);
    page.effort(answer);
    page.notes(answer);
    page.further(answer);
    page.out
}

/// Number of suspects listed, and of events listed for each.
const SHOWN_SUSPECTS: usize = 3;
const SHOWN_EVENTS: usize = 3;
/// Number of changed bytes listed.
const SHOWN_BYTES: usize = 8;

struct Page<'a> {
    style: &'a Style,
    out: String,
}

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

    /// Wrapped text with a hanging indent.
    fn paragraph(&mut self, ink: Ink, first: &str, text: &str) {
        let indent = width(first);
        let text = text.lines().map(|line| self.style.fit(line)).collect::<Vec<_>>().join("\n");
        for (index, line) in
            wrap(&text, self.style.width.saturating_sub(indent).max(10)).into_iter().enumerate()
        {
            let start = if index == 0 { first.to_owned() } else { " ".repeat(indent) };
            self.row(&Row::new().put(Ink::Plain, start).put(ink, line));
        }
    }

    fn verdict(&mut self, answer: &Answer) {
        // A single line at any length: scripts and readers search for it.
        let ink = if answer.verified { Ink::GoodMark } else { Ink::BadMark };
        let row = Row::new()
            .put(ink, format!("{}: ", words::verdict_word(answer)))
            .put(Ink::Plain, self.style.fit(&words::verdict(answer)));
        row.write(&Style { width: row.width().max(self.style.width), ..self.style.clone() }, &mut self.out);
    }

    fn observation(&mut self, answer: &Answer) {
        let observation = &answer.observation;
        self.heading("What failed", "");
        let summary = words::sentence(&observation.summary);
        self.paragraph(Ink::Plain, "  ", if summary.is_empty() { "the test" } else { &summary });
        if let Some(difference) = &observation.output {
            self.output(difference);
        }
        self.place(observation);
        for (at, line) in observation.stderr.iter().enumerate() {
            let lead = if at == 0 { "  stderr of bad  " } else { "                 " };
            let row = Row::new().put(Ink::Faint, lead).put(Ink::Plain, self.style.fit(line));
            self.row(&row);
        }
        for error in &observation.memory_errors {
            self.paragraph(Ink::Plain, "  memory error  ", error);
        }
        self.out.push('\n');
        let names = [("good", &answer.good), ("bad", &answer.bad)];
        let widest = names.iter().map(|(_, version)| width(&self.style.fit(&version_name(version)))).max();
        for (side, version) in names {
            let ink = if side == "good" { Ink::Good } else { Ink::Bad };
            let row = Row::new()
                .put(ink, format!("  {side:<5} "))
                .put(Ink::Plain, self.style.fit(&version_name(version)))
                .pad(8 + widest.unwrap_or(0).min(40))
                .put(Ink::Faint, format!("  {}", self.style.fit(&version.end)));
            self.row(&row);
        }
        for (name, command) in [("build", &answer.build), ("test", &answer.test)] {
            if !command.is_empty() {
                let row = Row::new()
                    .put(Ink::Faint, format!("  {name:<5} "))
                    .put(Ink::Plain, self.style.fit(command));
                self.row(&row);
            }
        }
    }

    /// The differing line of both outputs, with the difference marked.
    fn output(&mut self, difference: &OutputDifference) {
        let place = format!(
            "  {} differs at line {} (byte {})",
            self.style.fit(&difference.sink),
            difference.line,
            difference.offset
        );
        self.row(&Row::new().put(Ink::Faint, place));
        let (good, bad) = (self.style.fit(&difference.good), self.style.fit(&difference.bad));
        let (front, back) = shared_ends(&good, &bad);
        // A long line is shown from shortly before the difference.
        let signs = self.style.signs();
        let skip = if width(&good[..front]) + 12 + 20 > self.style.width {
            let from = good[..front].char_indices().rev().nth(15).map_or(0, |(at, _)| at);
            Some(from)
        } else {
            None
        };
        let mut mark = (0, 0);
        for (side, text, plain, strong) in
            [("good", &good, Ink::Good, Ink::GoodMark), ("bad", &bad, Ink::Bad, Ink::BadMark)]
        {
            let middle = &text[front..text.len() - back];
            let lead = skip.map_or(String::new(), |_| signs.more.to_owned());
            let row = Row::new()
                .put(plain, format!("    {side:<5}"))
                .put(Ink::Faint, format!("{} ", signs.bar))
                .put(Ink::Faint, lead)
                .put(Ink::Plain, &text[skip.unwrap_or(0)..front]);
            mark = (row.width(), mark.1.max(width(middle)));
            self.row(&row.put(strong, middle).put(Ink::Plain, &text[text.len() - back..]));
        }
        if mark.0 < self.style.width {
            let carets = signs.caret.repeat(mark.1.clamp(1, self.style.width - mark.0));
            let row = Row::new()
                .put(Ink::Plain, "         ")
                .put(Ink::Faint, signs.bar)
                .pad(mark.0)
                .put(Ink::BadMark, carets);
            self.row(&row);
        }
    }

    /// The location of the failure: the line, and its callers on the call stack.
    fn place(&mut self, observation: &Observation) {
        let Some((lead, place)) = words::failed_at(observation) else { return };
        let within = if place.function.is_empty() {
            String::new()
        } else {
            format!(" in {}", self.style.fit(&place.function))
        };
        let row = Row::new()
            .put(Ink::Faint, format!("  {lead} "))
            .put(Ink::Strong, self.style.fit(&words::place(place)))
            .put(Ink::Plain, within);
        self.row(&row);
        if !place.text.trim().is_empty() {
            let signs = self.style.signs();
            // Leading whitespace carries no information here.
            let indent = place.text.len() - place.text.trim_start().len();
            let text = self.style.fit(place.text.trim());
            let number = if place.line == 0 { String::new() } else { place.line.to_string() };
            let row = Row::new().put(Ink::Faint, format!("    {number:>5} {} ", signs.bar));
            let start = row.width();
            self.row(&row.put(Ink::Plain, text));
            let before = (place.column as usize)
                .checked_sub(1)
                .and_then(|column| column.checked_sub(indent))
                .and_then(|column| place.text.trim().get(..column));
            if let Some(before) = before {
                let column = start + width(&self.style.fit(before));
                let row = Row::new()
                    .put(Ink::Faint, format!("          {}", signs.bar))
                    .pad(column)
                    .put(Ink::BadMark, signs.caret);
                self.row(&row);
            }
        }
        // The first frame is the location itself.
        let callers: Vec<String> = observation
            .stack
            .iter()
            .skip(usize::from(observation.stack.first().is_some_and(|first| first.line == place.line)))
            .map(|frame| {
                if frame.function.is_empty() {
                    words::place(frame)
                } else {
                    format!("{} ({})", self.style.fit(&frame.function), words::place(frame))
                }
            })
            .collect();
        if !callers.is_empty() {
            let shown = 4;
            let mut text = callers.iter().take(shown).cloned().collect::<Vec<_>>().join(", from ");
            if callers.len() > shown {
                text.push_str(&format!(", and {} more", callers.len() - shown));
            }
            self.paragraph(Ink::Faint, "  called from ", &text);
        }
    }

    fn root(&mut self, answer: &Answer) {
        if answer.root.is_empty() {
            if answer.suspects.is_empty() {
                self.heading(words::root_title(answer), "none found");
            }
            return;
        }
        let any_guilty =
            answer.root.iter().any(|hunk| !hunk.guilty_new.is_empty() || !hunk.guilty_old.is_empty());
        let aside = format!("{} marks lines the failure came from", self.style.signs().guilty);
        self.heading(words::root_title(answer), if any_guilty { &aside } else { "" });
        for (index, hunk) in answer.root.iter().enumerate() {
            if index > 0 {
                self.out.push('\n');
            }
            self.hunk(hunk, self.style.hunk_lines);
        }
    }

    /// What was verified about the answer, and the commit that introduced the failure.
    fn proof(&mut self, answer: &Answer) {
        if let Some(commit) = &answer.commit {
            self.heading("The commit it came with", "");
            self.paragraph(Ink::Plain, "  ", &words::commit(commit));
        }
        let lines = words::proof(answer);
        if !lines.is_empty() {
            self.heading("What was shown", "");
            for line in lines {
                self.paragraph(Ink::Plain, "  ", &line);
            }
        }
        if !answer.suspects.is_empty() {
            self.heading("The most suspicious changes", "by the recordings, the first most so");
            for hunk in &answer.suspects {
                self.hunk(hunk, self.style.hunk_lines.min(4));
            }
        }
    }

    fn hunk(&mut self, hunk: &Hunk, limit: usize) {
        let mut row = Row::new()
            .put(Ink::Link, format!("  #{} ", hunk.change))
            .put(Ink::Strong, self.style.fit(&words::hunk_place(hunk)));
        if let Some(old) = &hunk.old_file {
            row = row.put(Ink::Plain, format!(" (was {})", self.style.fit(old)));
        }
        let heading = words::heading(hunk);
        if !heading.is_empty() {
            row = row.put(Ink::Faint, format!("  in {}", self.style.fit(heading)));
        }
        if hunk.of_test {
            row = row.put(Ink::Strong, "  a file of the test");
        }
        if hunk.part {
            row = row.put(Ink::Faint, "  part of a hunk");
        }
        self.row(&row);
        if let Some(commit) = &hunk.commit {
            self.row(&Row::new().put(Ink::Faint, format!("     {}", self.style.fit(&words::commit(commit)))));
        }
        let signs = self.style.signs();
        let lines = hunk::lines(hunk);
        let last = lines.iter().flat_map(|line| [line.old, line.new]).flatten().max().unwrap_or(0);
        let digits = last.to_string().len().max(2);
        let number = |line: Option<u32>| line.map_or(" ".repeat(digits), |line| format!("{line:>digits$}"));
        for part in hunk::shorten(lines, limit) {
            let line = match part {
                Part::Line(line) => line,
                Part::LeftOut(count) => {
                    let text = format!(" {} not shown", words::count(words::number(count), "line"));
                    let row = Row::new().pad(2 * digits + 5).put(Ink::Faint, signs.gap).put(Ink::Faint, text);
                    self.row(&row);
                    continue;
                }
            };
            let (sign, plain, strong) = match line.side {
                Side::Both => (" ", Ink::Faint, Ink::Faint),
                Side::Good => ("-", Ink::Removed, Ink::RemovedMark),
                Side::Bad => ("+", Ink::Added, Ink::AddedMark),
            };
            let mark = if line.guilty { signs.guilty } else { " " };
            let mut row = Row::new()
                .put(Ink::BadMark, format!("  {mark} "))
                .put(Ink::Faint, format!("{} {} {} ", number(line.old), number(line.new), signs.bar))
                .put(plain, format!("{sign} "));
            let text = self.style.fit(line.text);
            match line.partner.map(|partner| self.style.fit(partner)) {
                Some(partner) => {
                    let (front, back) = shared_ends(&text, &partner);
                    row = row
                        .put(plain, &text[..front])
                        .put(strong, &text[front..text.len() - back])
                        .put(plain, &text[text.len() - back..]);
                }
                None => row = row.put(if line.guilty { strong } else { plain }, text),
            }
            self.row(&row);
        }
    }

    fn causes(&mut self, answer: &Answer) {
        if answer.causes.is_empty() {
            return;
        }
        let (title, aside) = words::causes_title(answer);
        self.heading(title, aside);
        for row in graph::draw(answer, &Style { width: self.style.width - 2, ..self.style.clone() }) {
            self.out.push_str("  ");
            row.write(&Style { width: self.style.width - 2, ..self.style.clone() }, &mut self.out);
        }
    }

    fn auxiliary(&mut self, answer: &Answer) {
        if answer.auxiliary.is_empty() {
            return;
        }
        self.heading(words::auxiliary(answer), "");
        for hunk in answer.auxiliary.iter().take(self.style.auxiliary) {
            self.hunk(hunk, self.style.hunk_lines.min(6));
        }
        let more = answer.auxiliary.len().saturating_sub(self.style.auxiliary);
        if more > 0 {
            let text = format!(
                "  and {} more in the JSON and HTML reports",
                words::count(words::number(more), "change")
            );
            self.row(&Row::new().put(Ink::Faint, text));
        }
    }

    /// The nearest input on which both versions agree.
    fn alternate(&mut self, answer: &Answer) {
        let Some(found) = &answer.alternate else {
            if let Some(reason) = &answer.no_alternate {
                self.heading("An input on which both versions agree", "none found");
                self.paragraph(Ink::Faint, "  ", &words::sentence(reason));
            }
            return;
        };
        self.heading("An input on which both versions agree", "both were run with it");
        for byte in found.changed.iter().take(SHOWN_BYTES) {
            let row = Row::new()
                .put(Ink::Plain, format!("  {}  ", self.style.fit(&byte.name)))
                .put(Ink::Bad, words::byte(byte.old))
                .put(Ink::Faint, " becomes ")
                .put(Ink::Good, words::byte(byte.new));
            self.row(&row);
        }
        if found.changed.len() > SHOWN_BYTES {
            let more = format!("  and {} more bytes", found.changed.len() - SHOWN_BYTES);
            self.row(&Row::new().put(Ink::Faint, more));
        }
        for part in found.parts.iter().take(SHOWN_BYTES) {
            let row = Row::new()
                .put(Ink::Plain, format!("  {}  ", self.style.fit(&part.name)))
                .put(Ink::Good, self.style.fit(&words::part(part)));
            self.row(&row);
        }
        if !found.parts.is_empty() {
            self.paragraph(Ink::Faint, "  ", &format!("Both versions end with {}.", found.end));
            return;
        }
        let place = format!("{} of {}", words::place(&found.place), found.version);
        let text = format!("At {place} it is then {}, not {}.", found.flipped, found.condition);
        self.paragraph(Ink::Plain, "  ", &text);
        self.paragraph(Ink::Faint, "  ", &format!("Both versions end with {}.", found.end));
    }

    /// Commands are never cut: they are copied.
    fn further(&mut self, answer: &Answer) {
        if answer.further.is_empty() {
            return;
        }
        self.heading("To look further", "the recordings stay until the next explanation here");
        for further in &answer.further {
            self.paragraph(Ink::Faint, "  ", &format!("{}:", further.asks));
            let row = Row::new().put(Ink::Plain, format!("    {}", self.style.fit(&further.command)));
            let style = Style { width: row.width().max(self.style.width), ..self.style.clone() };
            row.write(&style, &mut self.out);
        }
    }

    /// The differences between the failing test and a passing test.
    fn passing(&mut self, answer: &Answer) {
        let Some(passing) = &answer.passing else { return };
        let aside = match &passing.test {
            Some(test) => format!("passing: {}", self.style.fit(test)),
            None => "passing: the input above".to_owned(),
        };
        self.heading("Only the failing test", &aside);
        self.paragraph(Ink::Plain, "  ", &words::passing(passing));
        for suspect in passing.suspects.iter().take(SHOWN_SUSPECTS) {
            for (ink, side, list) in [(Ink::Good, "good", &suspect.good), (Ink::Bad, "bad", &suspect.bad)] {
                for said in list.iter().take(SHOWN_EVENTS) {
                    let row = Row::new()
                        .put(ink, format!("  {side:<4}  "))
                        .put(Ink::Plain, self.style.fit(&said.text))
                        .put(Ink::Faint, format!("  {}", words::place(&said.place)));
                    self.row(&row);
                }
            }
            let text = words::suspect(suspect);
            if !text.is_empty() {
                self.row(&Row::new().put(Ink::Faint, format!("        {text}")));
            }
        }
    }

    fn effort(&mut self, answer: &Answer) {
        let aside = if answer.method.is_empty() {
            String::new()
        } else {
            format!("method {}", self.style.fit(&answer.method))
        };
        self.heading("What was tried", &aside);
        for line in words::effort(answer) {
            self.paragraph(Ink::Plain, "  ", &line);
        }
    }

    fn notes(&mut self, answer: &Answer) {
        if answer.notes.is_empty() {
            return;
        }
        self.heading(if answer.notes.len() == 1 { "Note" } else { "Notes" }, "");
        for note in &answer.notes {
            self.paragraph(Ink::Plain, "  ", note);
        }
    }
}

/// `v1.0 (3f2a9c1d04)`.
fn version_name(version: &Version) -> String {
    match &version.commit {
        Some(commit) => {
            let short: String = commit.chars().take(10).collect();
            if version.name.is_empty() || short.starts_with(&version.name) || commit == &version.name {
                short
            } else {
                format!("{} ({short})", version.name)
            }
        }
        None => version.name.clone(),
    }
}

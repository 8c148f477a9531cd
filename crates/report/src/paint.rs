//! Rows of coloured text, cut to a width. The only module that knows terminal escape codes.

use crate::text::{ascii, cut, untab, visible, width};

/// Output style for a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// Use escape sequences for colours.
    pub colour: bool,
    /// Columns; lines are cut or wrapped to fit.
    pub width: usize,
    /// Use only ASCII, for terminals and logs that garble other characters.
    pub ascii: bool,
    /// Approximate number of causes to show; the rest is counted.
    pub causes: usize,
    /// Number of lines to show of a change; the rest is counted.
    pub hunk_lines: usize,
    /// Number of auxiliary changes to show.
    pub auxiliary: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            colour: false,
            width: 100,
            ascii: false,
            causes: crate::forest::STEPS,
            hunk_lines: 24,
            auxiliary: 8,
        }
    }
}

/// The role of a span of text, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Plain,
    /// Headings, file names.
    Strong,
    /// Line numbers, frames, text that is the same in both versions.
    Faint,
    Good,
    Bad,
    /// The differing part of a line, and lines that caused the failure.
    GoodMark,
    BadMark,
    /// Lines of a diff, and their differing parts.
    Removed,
    Added,
    RemovedMark,
    AddedMark,
    /// References to follow, such as change numbers.
    Link,
}

impl Ink {
    fn codes(self) -> &'static str {
        match self {
            Ink::Plain => "",
            Ink::Strong => "1",
            Ink::Faint => "2",
            Ink::Good | Ink::Added => "32",
            Ink::Bad | Ink::Removed => "31",
            Ink::GoodMark | Ink::AddedMark => "1;32",
            Ink::BadMark | Ink::RemovedMark => "1;31",
            Ink::Link => "1;36",
        }
    }
}

/// Symbols in Unicode or ASCII. Each is one column wide unless noted otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Signs {
    pub node: &'static str,
    pub failure: &'static str,
    pub lane: &'static str,
    /// Two columns wide.
    pub join: &'static str,
    pub bend: &'static str,
    pub gap: &'static str,
    pub more: &'static str,
    pub guilty: &'static str,
    pub change: &'static str,
    pub leads: &'static str,
    pub bar: &'static str,
    pub caret: &'static str,
}

const UNICODE: Signs = Signs {
    node: "●",
    failure: "✗",
    lane: "│",
    join: "├─",
    bend: "╯",
    gap: "┊",
    more: "…",
    guilty: "▶",
    change: "◀",
    leads: "↓",
    bar: "│",
    caret: "^",
};

const ASCII: Signs = Signs {
    node: "*",
    failure: "X",
    lane: "|",
    join: "|-",
    bend: "'",
    gap: ":",
    more: "..",
    guilty: ">",
    change: "<",
    leads: "->",
    bar: "|",
    caret: "^",
};

impl Style {
    #[must_use]
    pub(crate) fn signs(&self) -> Signs {
        if self.ascii { ASCII } else { UNICODE }
    }

    /// Sanitises untrusted text for this terminal.
    #[must_use]
    pub fn fit(&self, text: &str) -> String {
        let shown = visible(text);
        let plain = untab(&shown);
        if self.ascii { ascii(&plain).into_owned() } else { plain.into_owned() }
    }
}

/// One line, as spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pieces: Vec<(Ink, String)>,
    /// Spans that are never cut: they stay at the end.
    tail: Vec<(Ink, String)>,
}

impl Row {
    #[must_use]
    pub fn new() -> Self {
        Row::default()
    }

    /// Appends a span.
    #[must_use]
    pub fn put(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.pieces.push((ink, text.into()));
        self
    }

    /// Appends a span that is kept if the rest of the line is cut.
    #[must_use]
    pub fn end(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.tail.push((ink, text.into()));
        self
    }

    /// Pads with spaces up to a column, unless the row already extends beyond it.
    #[must_use]
    pub fn pad(self, column: usize) -> Self {
        let missing = column.saturating_sub(self.width());
        self.put(Ink::Plain, " ".repeat(missing))
    }

    /// Width in columns, without the tail.
    #[must_use]
    pub fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| width(text)).sum()
    }

    /// Writes the row and a newline.
    pub fn write(&self, style: &Style, out: &mut String) {
        let tail: usize = self.tail.iter().map(|(_, text)| width(text)).sum();
        let mut room = style.width.saturating_sub(tail);
        let start = out.len();
        for (index, (ink, text)) in self.pieces.iter().enumerate() {
            let rest: usize = self.pieces[index + 1..].iter().map(|(_, text)| width(text)).sum();
            let wide = width(text);
            if wide + rest.min(width(style.signs().more)) <= room {
                // The span fits, and so does the mark if the rest does not.
                paint(style, *ink, text, out);
                room -= wide;
            } else {
                // Even if this span fits exactly, the mark must show that the line is cut.
                let more = style.signs().more;
                paint(style, *ink, &cut(&format!("{text}{more}{more}"), room, more), out);
                break;
            }
        }
        for (ink, text) in &self.tail {
            paint(style, *ink, text, out);
        }
        let kept = out[start..].trim_end_matches(' ').len();
        out.truncate(start + kept);
        out.push('\n');
    }
}

fn paint(style: &Style, ink: Ink, text: &str, out: &mut String) {
    if text.is_empty() {
        return;
    }
    if style.colour && ink != Ink::Plain && !text.trim().is_empty() {
        // Trailing spaces are written outside of the escape sequence, where they can be trimmed.
        let inked = text.trim_end_matches(' ');
        out.push_str("\x1b[");
        out.push_str(ink.codes());
        out.push('m');
        out.push_str(inked);
        out.push_str("\x1b[0m");
        out.push_str(&text[inked.len()..]);
    } else {
        out.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(row: &Row, style: &Style) -> String {
        let mut out = String::new();
        row.write(style, &mut out);
        out
    }

    #[test]
    fn the_end_stays_when_the_line_is_cut() {
        let row = Row::new().put(Ink::Plain, "a long line of text").end(Ink::Link, " < #1");
        assert_eq!(written(&row, &Style { width: 15, ..Style::default() }), "a long li… < #1\n");
        assert_eq!(written(&row, &Style::default()), "a long line of text < #1\n");
    }

    #[test]
    fn colours_surround_text_and_vanish_when_off() {
        let row = Row::new().put(Ink::Bad, "x").put(Ink::Plain, " y");
        assert_eq!(written(&row, &Style { colour: true, ..Style::default() }), "\x1b[31mx\x1b[0m y\n");
        assert_eq!(written(&row, &Style::default()), "x y\n");
    }

    #[test]
    fn a_cut_line_fits_and_says_so() {
        let row = Row::new().put(Ink::Plain, "abcd").put(Ink::Plain, "efgh").put(Ink::Plain, "ij");
        for width in 1..10 {
            let line = written(&row, &Style { width, ..Style::default() });
            assert_eq!(crate::text::width(line.trim_end()), width, "{line}");
            assert!(line.contains('…'), "{line}");
        }
        assert_eq!(written(&row, &Style { width: 10, ..Style::default() }), "abcdefghij\n");
    }
}

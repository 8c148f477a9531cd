//! Rows of coloured text, cut to a width. The only place that knows terminal codes.

use crate::text::{ascii, cut, untab, visible, width};

/// How to write for a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// With escape sequences for colours.
    pub colour: bool,
    /// Columns; lines are cut or wrapped to fit.
    pub width: usize,
    /// Nothing outside ASCII, for terminals and logs that garble the rest.
    pub ascii: bool,
    /// About how many causes to show; the rest is counted.
    pub causes: usize,
    /// How many lines of one change to show; the rest is counted.
    pub hunk_lines: usize,
    /// How many auxiliary changes to show.
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

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Plain,
    /// Headings, file names.
    Strong,
    /// Line numbers, frames, what is the same in both versions.
    Faint,
    Good,
    Bad,
    /// The part of a line that differs, the lines that did it.
    GoodMark,
    BadMark,
    /// Lines of a diff, and the parts of them that differ.
    Removed,
    Added,
    RemovedMark,
    AddedMark,
    /// Marks that lead the eye: change numbers.
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

/// Signs, in both alphabets. Each sign is one column wide unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Signs {
    pub node: &'static str,
    pub failure: &'static str,
    pub lane: &'static str,
    /// Two columns.
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

    /// Foreign text, fit for this terminal.
    #[must_use]
    pub fn fit(&self, text: &str) -> String {
        let shown = visible(text);
        let plain = untab(&shown);
        if self.ascii { ascii(&plain).into_owned() } else { plain.into_owned() }
    }
}

/// One line, in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pieces: Vec<(Ink, String)>,
    /// Pieces that must not be cut away: they stay at the end.
    tail: Vec<(Ink, String)>,
}

impl Row {
    #[must_use]
    pub fn new() -> Self {
        Row::default()
    }

    /// Adds text.
    #[must_use]
    pub fn put(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.pieces.push((ink, text.into()));
        self
    }

    /// Adds text that stays when the rest of the line is cut.
    #[must_use]
    pub fn end(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.tail.push((ink, text.into()));
        self
    }

    /// Spaces up to a column, if it is not there yet.
    #[must_use]
    pub fn pad(self, column: usize) -> Self {
        let missing = column.saturating_sub(self.width());
        self.put(Ink::Plain, " ".repeat(missing))
    }

    /// Columns so far, without the end.
    #[must_use]
    pub fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| width(text)).sum()
    }

    /// Writes the row and a line end.
    pub fn write(&self, style: &Style, out: &mut String) {
        let tail: usize = self.tail.iter().map(|(_, text)| width(text)).sum();
        let mut room = style.width.saturating_sub(tail);
        let start = out.len();
        for (index, (ink, text)) in self.pieces.iter().enumerate() {
            let rest: usize = self.pieces[index + 1..].iter().map(|(_, text)| width(text)).sum();
            let wide = width(text);
            if wide + rest.min(width(style.signs().more)) <= room {
                // It fits, with room to say that what is behind it does not.
                paint(style, *ink, text, out);
                room -= wide;
            } else {
                // Even if this piece fits exactly, the line must say that it goes on.
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
        // Spaces at the end stay outside, where they can be trimmed.
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

//! The contents of the screen: a pure function of the state, the sources and the size.

use super::state::{Item, Row, State};
use crate::render::{counted, grouped};
use crate::source;
use report::text::{cut, cut_path, untab, visible, width, wrap};
use slice::phases::told::{LineSummary, VariableValue};
use std::collections::BTreeMap;

/// Lines of source files, by the file names used in levels.
pub type Sources = BTreeMap<String, Vec<String>>;

/// The style of a text span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    Plain,
    Bold,
    Faint,
    /// The selected row, the marked line.
    Marked,
    Good,
}

/// A text span of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub look: TextStyle,
}

pub type Line = Vec<Span>;

/// The minimum width for showing the source next to the tree.
const MIN_SOURCE_WIDTH: usize = 90;
/// The minimum height for showing the source.
const MIN_SOURCE_HEIGHT: usize = 8;
/// Replaces text that was cut off.
const ELLIPSIS: &str = "…";

const HELP: &[(&str, &str)] = &[
    ("up, down (k, j)", "another phase, or another value that one gave to another"),
    ("right, enter (l)", "this is the first wrong one: into the phase that made it"),
    ("left (h)", "fold, or back"),
    ("page up, page down, home, end", "faster"),
    ("q", "end"),
    ("?", "this list; any key leaves it"),
];

const MEANING: &str = "Values are listed below the phase that made them, with the phases that used them. Go \
    from the top: right on the first value that should not be as it is. If all are right, the phase that is \
    asked about went wrong by itself: right on that phase.";

/// Renders the frame: exactly `height` lines, none wider than `width`.
pub fn draw(state: &State, sources: &Sources, columns: usize, height: usize) -> Vec<Line> {
    let mut lines =
        vec![vec![span(format!("Where did {} go wrong?", shown(&state.question)), TextStyle::Bold)]];
    let body = height.saturating_sub(2);
    if state.help {
        lines.extend(help(columns));
    } else if columns >= MIN_SOURCE_WIDTH && body > 2 {
        let left = columns * 11 / 20;
        let right = columns - left - 3;
        let tree = tree(state, left, body);
        let side = beside(state, sources, body);
        for row in 0..body {
            let mut line = fit(tree.get(row).cloned().unwrap_or_default(), left, true);
            line.push(span(" │ ", TextStyle::Faint));
            line.extend(fit(side.get(row).cloned().unwrap_or_default(), right, false));
            lines.push(line);
        }
    } else if body >= MIN_SOURCE_HEIGHT {
        let upper = body / 2;
        let mut rows = tree(state, columns, upper);
        rows.resize(upper, Line::new());
        lines.extend(rows);
        lines.push(vec![span("─".repeat(columns), TextStyle::Faint)]);
        lines.extend(beside(state, sources, body - upper - 1));
    } else {
        lines.extend(tree(state, columns, body));
    }
    lines.truncate(height.saturating_sub(1));
    lines.resize(height.saturating_sub(1), Line::new());
    if height > 0 {
        lines.push(status(state, columns));
    }
    lines.into_iter().map(|line| fit(line, columns, false)).collect()
}

fn span(text: impl Into<String>, look: TextStyle) -> Span {
    Span { text: text.into(), look }
}

/// Escapes control characters, which a terminal would interpret.
fn shown(text: &str) -> String {
    untab(&visible(text)).into_owned()
}

/// Cuts a line to some columns; with `fill`, pads it with spaces.
fn fit(line: Line, columns: usize, fill: bool) -> Line {
    let mut left = columns;
    let mut out = Line::new();
    for Span { text, look } in line {
        if left == 0 {
            break;
        }
        let text = cut(&text, left, ELLIPSIS).into_owned();
        left -= width(&text).min(left);
        out.push(Span { text, look });
    }
    if fill && left > 0 {
        out.push(span(" ".repeat(left), TextStyle::Plain));
    }
    out
}

fn help(columns: usize) -> Vec<Line> {
    let keys = if columns >= MIN_SOURCE_WIDTH { 32 } else { 0 };
    let mut lines = vec![Line::new()];
    for (key, what) in HELP {
        let text = if keys > 0 { (*what).to_owned() } else { format!(": {what}") };
        lines.push(vec![span(format!("{key:<keys$}"), TextStyle::Bold), span(text, TextStyle::Plain)]);
    }
    lines.push(Line::new());
    lines.extend(wrap(MEANING, columns.max(10)).into_iter().map(|text| vec![span(text, TextStyle::Plain)]));
    lines
}

/// The visible part of the tree, around the selected row.
fn tree(state: &State, columns: usize, height: usize) -> Vec<Line> {
    let rows = state.rows();
    let at = rows.iter().position(|r| (r.level, r.item) == state.selected()).unwrap_or(0);
    let from = at.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
    rows.iter().skip(from).take(height).map(|row| tree_row(state, row, columns)).collect()
}

fn tree_row(state: &State, row: &Row, columns: usize) -> Line {
    let chosen = (row.level, row.item) == state.selected();
    let told = state.told(row.level);
    // The indentation is limited, so that deep levels stay visible.
    let indent = "  ".repeat(row.indent.min(columns / 8));
    let fold = match state.unfolded(row.level, row.item) {
        Some(true) => "▾",
        Some(false) => "▸",
        None => " ",
    };
    let cursor = if chosen { ">" } else { " " };
    let (text, look) = match row.item {
        Item::Phase(p) => {
            let phase = &told.phases[p];
            let mark = if phase.asked { "  (asked about)" } else { "" };
            let text = format!("{fold} {}  {}{mark}", p + 1, phase.title());
            // Phases without flows are shown dimmed.
            let idle = !phase.asked && !told.flows.iter().any(|f| f.made_in == p);
            (text, if idle { TextStyle::Faint } else { TextStyle::Bold })
        }
        Item::Flow(f) => {
            let flow = &told.flows[f];
            let used: Vec<String> = flow.used_in.iter().map(|u| (u + 1).to_string()).collect();
            let place = source::place(&flow.place.file, flow.place.line, &flow.place.function);
            let place = format!("  {place}, used in {}", used.join(", "));
            // The value is shortened before the location is.
            let room = columns.saturating_sub(indent.len() + 8 + width(&place)).max(12);
            let title = shown(&flow.title());
            (format!("{fold}     {}{place}", cut(&title, room, ELLIPSIS)), TextStyle::Plain)
        }
        Item::End(e) => {
            let place = state.end(e);
            (
                format!(
                    "      It went wrong at {}, in {}",
                    source::place(&place.file, place.line, &place.function),
                    place.function
                ),
                TextStyle::Good,
            )
        }
    };
    vec![span(format!("{cursor}{indent}{}", shown(&text)), if chosen { TextStyle::Marked } else { look })]
}

/// The source at the selected row, and the values there.
fn beside(state: &State, sources: &Sources, height: usize) -> Vec<Line> {
    let (level, item) = state.selected();
    let told = state.told(level);
    let (file, lines, place): (&str, (u32, u32), Option<&LineSummary>) = match item {
        Item::Phase(p) => {
            let phase = &told.phases[p];
            (&phase.file, (phase.first_line, phase.last_line), None)
        }
        Item::Flow(f) => {
            let place = &told.flows[f].place;
            (&place.file, (place.line, place.line), Some(place))
        }
        Item::End(e) => {
            let place = state.end(e);
            (&place.file, (place.line, place.line), Some(place))
        }
    };
    let share = if height < 5 { 0 } else { (height / 3).max(3) };
    let values = place.map(|p| values(&p.variables, &p.function, share)).unwrap_or_default();
    let room = height.saturating_sub(values.len());
    let mut out = vec![vec![span(cut_path(&shown(file), 60, ELLIPSIS).into_owned(), TextStyle::Bold)]];
    match sources.get(file) {
        Some(text) if lines.0 > 0 => out.extend(excerpt(text, lines, room.saturating_sub(1))),
        Some(_) => out.push(vec![span("no line is known", TextStyle::Faint)]),
        None => out.push(vec![span("this file cannot be read", TextStyle::Faint)]),
    }
    out.truncate(room);
    out.resize(room, Line::new());
    out.extend(values);
    out
}

fn excerpt(text: &[String], (first, last): (u32, u32), height: usize) -> Vec<Line> {
    let middle = if (last - first) as usize >= height {
        first as usize + height / 2
    } else {
        (first + last) as usize / 2
    };
    let from = middle.saturating_sub(height / 2 + 1).min(text.len().saturating_sub(height));
    let digits = (from + height).to_string().len().max(3);
    let lines = text.iter().enumerate().skip(from).take(height);
    lines
        .map(|(index, line)| {
            let inside = (first..=last).contains(&(index as u32 + 1));
            let one = first == last;
            let mark = if inside { if one { '>' } else { '|' } } else { ' ' };
            let look = if inside && one {
                TextStyle::Marked
            } else if inside {
                TextStyle::Plain
            } else {
                TextStyle::Faint
            };
            vec![span(format!("{mark} {:>digits$}  {}", index + 1, shown(line)), look)]
        })
        .collect()
}

fn values(variables: &[VariableValue], function: &str, room: usize) -> Vec<Line> {
    if variables.is_empty() || room < 2 {
        return Vec::new();
    }
    let mut out = vec![vec![span(format!("just before, in {function}:"), TextStyle::Bold)]];
    let listed = if variables.len() < room { variables.len() } else { room.saturating_sub(2) };
    let line = |v: &VariableValue| {
        vec![span(format!("  {} = {}", shown(&v.name), shown(&v.value)), TextStyle::Plain)]
    };
    out.extend(variables.iter().take(listed).map(line));
    if listed < variables.len() {
        out.push(vec![span(format!("  and {} more", variables.len() - listed), TextStyle::Faint)]);
    }
    out
}

/// The counters, or the current message.
fn status(state: &State, columns: usize) -> Line {
    if let Some(message) = &state.message {
        return vec![span(shown(message), TextStyle::Marked)];
    }
    let long = format!(
        "level {} of {}, {}, {} of {} shown",
        state.depth(state.selected().0),
        state.deepest,
        counted(state.choices as u64, "choice"),
        grouped(state.shown() as u64),
        counted(state.executions as u64, "execution"),
    );
    let keys = "? help  q end";
    let gap = columns.saturating_sub(width(&long) + width(keys));
    if gap < 2 {
        return vec![span(long, TextStyle::Faint)];
    }
    vec![span(long, TextStyle::Faint), span(" ".repeat(gap), TextStyle::Plain), span(keys, TextStyle::Faint)]
}

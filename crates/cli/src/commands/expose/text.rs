//! The text output of `relapse expose`.

use crate::render::{Paint, counted};
use explore::exposed::{ChangeRow, Exposed, ExposingInput, Seen, Verdict};
use report::text::wrap;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// The number of lines shown per output.
const MOST_LINES: usize = 8;
/// The number of characters shown per line.
const WIDE: usize = 36;
const CHANGE_WIDE: usize = 44;
/// The width of sentences.
const LINE: usize = 96;

pub fn text(exposed: &Exposed, written: &[PathBuf], paint: Paint) -> String {
    let mut text = String::new();
    let verdict = report::exposed::verdict(exposed);
    let headline = if exposed.differ() { paint.bad(verdict) } else { wrap(&verdict, LINE).join("\n") };
    let _ = writeln!(text, "{headline}");
    for test in &exposed.tests {
        let _ = writeln!(text, "\nThe test `{}` tells them apart:", test.command);
        side_by_side(&mut text, &test.good, &test.bad, paint);
    }
    for (input, path) in exposed.inputs.iter().zip(written.iter().map(Some).chain(std::iter::repeat(None))) {
        one(&mut text, input, path, paint);
    }
    // If the programs are the same, there is nothing to report per change.
    if exposed.verdict != Verdict::SamePrograms {
        changes(&mut text, &exposed.changes);
        effort(&mut text, exposed);
    }
    if exposed.intended > 0 {
        let _ = writeln!(
            text,
            "{} left out: there every call that begins alike in both versions ends alike, or changed as its \
             contract says, or called one that did.",
            counted(exposed.intended, "difference")
        );
    }
    for note in &exposed.notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn one(text: &mut String, input: &ExposingInput, path: Option<&PathBuf>, paint: Paint) {
    let by = report::exposed::found_by(input.found_by);
    let _ =
        writeln!(text, "\nInput {} ({by}, after {:.1} s): {}", input.number, input.seconds, input.command);
    for part in &input.parts {
        let _ = writeln!(text, "  {}: \"{}\"", part.name, cut(&part.text, 2 * WIDE));
    }
    side_by_side(text, &input.good, &input.bad, paint);
    if let Some(path) = path {
        let _ = writeln!(text, "  written to {}", path.display());
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let short: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{short}...")
}

fn side_by_side(text: &mut String, good: &Seen, bad: &Seen, paint: Paint) {
    let _ = writeln!(text, "  {:<WIDE$}  bad", "good");
    if good.end != bad.end {
        let _ = writeln!(text, "  {:<WIDE$}  {}", good.end, paint.bad(&bad.end));
    }
    columns(text, &good.stdout, &bad.stdout, paint);
    for (path, content) in &good.files {
        let other = bad.files.get(path).map_or("", String::as_str);
        if content != other {
            let _ = writeln!(text, "  the file {path}:");
            columns(text, content, other, paint);
        }
    }
}

/// Two texts side by side, from one line before the first difference.
fn columns(text: &mut String, good: &str, bad: &str, paint: Paint) {
    if good == bad {
        return;
    }
    let (a, b): (Vec<&str>, Vec<&str>) = (good.lines().collect(), bad.lines().collect());
    let first = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let from = first.saturating_sub(1);
    let to = a.len().max(b.len());
    if from > 0 {
        let _ = writeln!(text, "  ... {from} equal lines");
    }
    for at in from..to.min(from + MOST_LINES) {
        let line = |lines: &[&str]| {
            let shown = lines.get(at).map_or("(no more)", |l| *l);
            let plain: String = shown.chars().map(|c| if c.is_control() { '.' } else { c }).collect();
            cut(&plain, WIDE)
        };
        let (x, y) = (line(&a), line(&b));
        let other = if a.get(at) == b.get(at) { y } else { paint.bad(&y) };
        let _ = writeln!(text, "  {x:<WIDE$}  {other}");
    }
    if to > from + MOST_LINES {
        let _ = writeln!(text, "  ... {} more lines", to - from - MOST_LINES);
    }
    if a == b {
        let _ = writeln!(text, "  (they differ in line ends or in the end of the last line)");
    }
}

fn changes(text: &mut String, rows: &[ChangeRow]) {
    let (with_code, without): (Vec<&ChangeRow>, Vec<&ChangeRow>) = rows.iter().partition(|r| !r.without_code);
    if !with_code.is_empty() {
        let _ = writeln!(
            text,
            "\n{:<24} {:<CHANGE_WIDE$} {:<8} {:<9} exposed",
            "change", "", "reached", "infected"
        );
    }
    for row in with_code {
        let place = format!("{}:{}", row.file, row.line);
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        let exposed = match row.exposed_by {
            Some(number) => format!("by input {number}"),
            None => "no".to_owned(),
        };
        let _ = writeln!(
            text,
            "{place:<24} {:<CHANGE_WIDE$} {:<8} {:<9} {exposed}",
            cut(&row.text, CHANGE_WIDE),
            yes(row.reached),
            yes(row.infected),
        );
    }
    if !without.is_empty() {
        let files: BTreeSet<&str> = without.iter().map(|r| r.file.as_str()).collect();
        let files: Vec<&str> = files.into_iter().collect();
        let count = counted(without.len() as u64, "change");
        let files = cut(&files.join(", "), 60);
        let _ = writeln!(
            text,
            "\n{count} not compiled, or without effect on the code of these programs: in {files}."
        );
    }
}

fn effort(text: &mut String, exposed: &Exposed) {
    text.push('\n');
    for line in report::exposed::covered(exposed) {
        let _ = writeln!(text, "{line}");
    }
}

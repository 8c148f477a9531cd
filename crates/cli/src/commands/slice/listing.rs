//! A slice as source text with marks.

use super::Answer;
use crate::Session;
use crate::failure::{Exit, Failure};
use crate::render::{counted, grouped};
use std::collections::BTreeSet;
use std::io::Write;

/// Gaps of at most this many lines are shown rather than elided.
const SMALL_GAP: u32 = 2;

pub fn print(answer: &Answer, session: &mut Session) -> Result<Exit, Failure> {
    let paint = session.paint;
    let out = &mut session.out;
    let files: BTreeSet<&str> = answer.lines.iter().map(|l| l.file.as_str()).collect();
    writeln!(
        out,
        "{} came from {} in {} ({} of {} instructions).",
        answer.question,
        counted(answer.lines.len() as u64, "line"),
        counted(files.len() as u64, "file"),
        grouped(answer.executions),
        grouped(answer.instructions)
    )?;
    for file in files {
        writeln!(out, "\n{}", paint.name(file))?;
        let text = std::fs::read_to_string(file).ok();
        let text: Option<Vec<&str>> = text.as_ref().map(|t| t.lines().collect());
        let here = answer.lines.iter().filter(|l| l.file == file);
        let potential: BTreeSet<u32> = here.filter(|l| l.potential).map(|l| l.line).collect();
        // A function may be nested in another one (lambdas, local classes).
        let marked: BTreeSet<u32> = answer.lines.iter().filter(|l| l.file == file).map(|l| l.line).collect();
        let mut before: Option<u32> = None;
        for line in marked {
            match before {
                Some(b) if line - b <= SMALL_GAP + 1 => {
                    for between in b + 1..line {
                        show(out, between, ' ', &text, paint)?;
                    }
                }
                Some(_) => writeln!(out, "{}", paint.faint("       ..."))?,
                None => {}
            }
            show(out, line, if potential.contains(&line) { '?' } else { '>' }, &text, paint)?;
            before = Some(line);
        }
    }
    let ends: Vec<String> = answer
        .origins
        .iter()
        .filter_map(|o| match (&o.name, &o.file, o.line) {
            (Some(name), Some(file), Some(line)) => Some(format!("  {name}, {file}:{line}")),
            _ => None,
        })
        .collect();
    if !ends.is_empty() {
        writeln!(out, "\nInitial values:\n{}", ends.join("\n"))?;
    }
    if answer.lines.iter().any(|l| l.potential) {
        writeln!(
            out,
            "\nLines marked with ? could have gone another way, on which something of this is assigned or written."
        )?;
    }
    answer.bounds.write(out)?;
    if answer.bounds.truncated {
        writeln!(out, "\nThe slice is longer than what is kept of it; the lines are complete.")?;
    }
    Ok(Exit::Done)
}

fn show(
    out: &mut dyn Write,
    line: u32,
    mark: char,
    text: &Option<Vec<&str>>,
    paint: crate::render::Paint,
) -> std::io::Result<()> {
    let content = text.as_ref().and_then(|t| t.get(line as usize - 1)).copied().unwrap_or("");
    let whole = format!("{mark} {line:5}  {content}");
    let whole = whole.trim_end();
    if mark != ' ' { writeln!(out, "{whole}") } else { writeln!(out, "{}", paint.faint(whole)) }
}

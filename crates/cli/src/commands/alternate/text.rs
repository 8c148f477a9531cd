//! The text output of `relapse alternate`.

use super::answer::{Answer, Direction, Input, Near, Outcome, Part, Row};
use crate::Session;
use crate::failure::Failure;
use crate::render::counted;

/// The number of candidates shown that do not pass.
const SHOWN: usize = 10;
/// The length at which texts are cut.
const WIDTH: usize = 60;

pub fn write(session: &mut Session, answer: &Answer) -> Result<(), Failure> {
    let paint = session.paint;
    writeln!(
        session.out,
        "On the recorded input ({}), the old version gives {}, the new one {}.",
        counted(answer.input_bytes as u64, "byte"),
        shown(&answer.recorded.old),
        shown(&answer.recorded.new),
    )?;
    super::values::write(session, &answer.values, answer.candidates.is_empty())?;
    let passing = answer.candidates.iter().filter(|c| c.passes).count();
    match answer.verdict {
        "found" => {
            let rest = answer.candidates.len() - passing;
            let what = match (passing, rest) {
                (0, _) => format!(
                    "{} where the versions part; with none of these inputs do they agree again",
                    counted(rest as u64, "place")
                ),
                (_, 0) => format!(
                    "{} where an input near to it makes the versions agree again",
                    counted(passing as u64, "place")
                ),
                _ => format!(
                    "{} where an input near to it makes the versions agree again, {} more where they part",
                    counted(passing as u64, "place"),
                    rest
                ),
            };
            writeln!(session.out, "{what}:")?;
        }
        "equal" => {
            writeln!(
                session.out,
                "Of all inputs of these lengths, exactly the same take this way in both versions: the error does not\n\
                 show in branches."
            )?;
            writeln!(
                session.out,
                "--predicates looks at values as well; `relapse explain` finds the changes."
            )?;
        }
        _ => {
            writeln!(session.out, "No alternate input was found, but not every question has an answer.")?;
            if let Some(fixed) = answer.fixed.filter(|n| *n > 0) {
                writeln!(
                    session.out,
                    "{} not followed and only tried as in this run; `relapse path DIR --all` says which.",
                    match fixed {
                        1 => "1 value is".to_owned(),
                        n => format!("{n} values are"),
                    }
                )?;
            }
        }
    }
    let shown = answer.candidates.iter().filter(|c| c.passes).count().max(SHOWN);
    for (number, row) in answer.candidates.iter().take(shown).enumerate() {
        candidate(session, number + 1, row, &answer.recorded.old)?;
    }
    if answer.candidates.len() > shown {
        writeln!(
            session.out,
            "\n... and {} more; --json lists all.",
            counted((answer.candidates.len() - shown) as u64, "place")
        )?;
    }
    if let Some(near) = &answer.nearest {
        nearest(session, near, &answer.recorded.old)?;
    }
    writeln!(session.out)?;
    for direction in &answer.searched {
        writeln!(session.out, "{}", paint.faint(summary(direction)))?;
        for reason in &direction.reasons {
            writeln!(session.out, "{}", paint.faint(format!("  {reason}")))?;
        }
    }
    Ok(())
}

/// An input on which both versions agree.
fn nearest(session: &mut Session, near: &Near, old: &Outcome) -> Result<(), Failure> {
    let paint = session.paint;
    writeln!(session.out, "\nThe nearest input found on which both versions agree:")?;
    parts(session, &near.parts)?;
    agreed(session, near.ends_as_old, &near.outcome, old)?;
    if !near.ends_as_old {
        writeln!(session.out, "   no input was found on which both end with {}", old.words)?;
    }
    if let Some((row, branch)) = near.branch.as_ref().and_then(|row| Some((row, row.alternates.first()?))) {
        let place = format!("{}:{}  {}", row.file, row.line, row.function);
        writeln!(
            session.out,
            "   the {} version goes another way first at {}",
            row.version,
            paint.name(place)
        )?;
        if let Some(source) = &row.source {
            writeln!(session.out, "       {source}")?;
        }
        writeln!(session.out, "   because {}", branch.condition)?;
        writeln!(session.out, "   instead {}", branch.flipped)?;
    }
    if let Some(directory) = &near.directory {
        writeln!(session.out, "   written to {directory}")?;
    }
    Ok(())
}

/// The common outcome of both versions. `old`: that of the old one with the recorded input.
fn agreed(session: &mut Session, as_old: bool, outcome: &Outcome, old: &Outcome) -> Result<(), Failure> {
    let paint = session.paint;
    let words = if as_old { paint.good("passes:") } else { paint.bad("agrees:") };
    let but = if as_old { String::new() } else { format!(", not {} as before", old.words) };
    writeln!(session.out, "   {words} both versions give {}{but}", shown(outcome))?;
    Ok(())
}

fn candidate(session: &mut Session, number: usize, row: &Row, recorded: &Outcome) -> Result<(), Failure> {
    let paint = session.paint;
    let place = format!("{}:{}  {}", row.file, row.line, row.function);
    writeln!(session.out, "\n{number}. {}  ({} version, {})", paint.name(place), row.version, row.kind)?;
    if let Some(source) = &row.source {
        writeln!(session.out, "       {source}")?;
    }
    if row.omitted {
        writeln!(session.out, "   the new version lacks this check, or has a weaker one")?;
    } else if !row.shared {
        let (own, other) = if row.version == "old" { ("old", "new") } else { ("new", "old") };
        writeln!(session.out, "   only the {own} version ran {}, the {other} one did not", row.function)?;
    }
    let Some(best) = row.alternates.first() else { return Ok(()) };
    writeln!(session.out, "   because {}", best.condition)?;
    writeln!(session.out, "   instead {}", best.flipped)?;
    input(session, best, recorded)?;
    if let Some(class) = &row.class_words {
        writeln!(session.out, "   truth: {class}")?;
    }
    let others = row.alternates.len() as u64 - 1;
    if others > 0 {
        writeln!(
            session.out,
            "   {}",
            paint.faint(format!("and {} for other runs of this branch", counted(others, "input")))
        )?;
    }
    Ok(())
}

/// Prints the changed bytes with some context, and the results of both versions.
fn input(session: &mut Session, input: &Input, recorded: &Outcome) -> Result<(), Failure> {
    let paint = session.paint;
    parts(session, &input.parts)?;
    if input.passes {
        agreed(session, input.ends_as_old, &input.outcome.new, recorded)?;
    } else {
        let (old, new) = (shown(&input.outcome.old), shown(&input.outcome.new));
        writeln!(session.out, "   {} old gives {old}, new gives {new}", paint.bad("differs:"))?;
    }
    if let Some(directory) = &input.directory {
        writeln!(session.out, "   written to {directory}")?;
    }
    Ok(())
}

fn parts(session: &mut Session, parts: &[Part]) -> Result<(), Failure> {
    let paint = session.paint;
    for part in parts {
        let (old, new) = excerpts(&part.old, &part.new);
        writeln!(session.out, "   {}:", part.name)?;
        writeln!(session.out, "   {}", paint.bad(format!("- {old}")))?;
        writeln!(session.out, "   {}", paint.good(format!("+ {new}")))?;
    }
    Ok(())
}

/// Two byte strings as text, cut to where they differ.
pub fn excerpts(old: &[u8], new: &[u8]) -> (String, String) {
    const AROUND: usize = 20;
    let first = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let last = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let start = first.saturating_sub(AROUND);
    let end = |bytes: &[u8]| (bytes.len().saturating_sub(last) + AROUND).clamp(first, bytes.len());
    let cut = |bytes: &[u8]| {
        let end = end(bytes);
        let text = bytes[start.min(end)..end].escape_ascii().to_string();
        let (before, after) = (if start > 0 { "…" } else { "" }, if end < bytes.len() { "…" } else { "" });
        format!("{before}{text}{after}")
    };
    (cut(old), cut(new))
}

/// `"out\n", exit 0`
fn shown(outcome: &Outcome) -> String {
    let text: String = outcome.stdout.escape_debug().take(WIDTH).collect();
    let more = if outcome.stdout.escape_debug().count() > WIDTH { "…" } else { "" };
    format!("\"{text}{more}\" and {}", outcome.words)
}

fn summary(d: &Direction) -> String {
    let mut parts = vec![format!("{} impossible", d.impossible), format!("{} confirmed", d.confirmed)];
    let others = [
        (d.rejected, "rejected"),
        (d.untried, "not tried"),
        (d.unknown, "without an answer"),
        (d.unasked, "not asked"),
        (d.irrelevant, "left out as no output depends on them"),
    ];
    parts.extend(others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    format!(
        "{} version{}: {} of {}, {}",
        d.version,
        if d.relaxed { ", with values set free that cannot be followed" } else { "" },
        counted(d.asked, "question"),
        counted(d.decisions, "decision"),
        parts.join(", ")
    )
}

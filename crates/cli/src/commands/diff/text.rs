//! The text output of `relapse diff`: both runs side by side.

use super::DiffArgs;
use super::answer::Answer;
use crate::Session;
use crate::failure::Failure;
use crate::render::{counted, grouped};
use crate::source;
use views::told::{Entry, Pair, SequenceSummary};

/// The maximum width of a column.
const WIDTH: usize = 58;

pub fn write(session: &mut Session, answer: &Answer, args: &DiffArgs) -> Result<(), Failure> {
    let first = args.first;
    let paint = session.paint;
    if answer.unrelated {
        writeln!(
            session.out,
            "{}",
            paint.bad("These are runs of unrelated programs: they have hardly a function in common.")
        )?;
    }
    if answer.noise {
        let share =
            100.0 * answer.differences as f64 / (answer.left.events + answer.right.events).max(1) as f64;
        writeln!(
            session.out,
            "{} {share:.1} % of all events differ, so most of what follows has nothing to do with one change.\n\
             --last looks back from the end or the failure, --only and --ignore leave parts out;\n\
             `relapse cause` takes away what a passing test has as well.",
            paint.bad("Mostly noise:")
        )?;
    }
    let s = &answer.sequences;
    if s.all == 0 {
        let n = answer.similar;
        let order = match answer.moved {
            0 => String::new(),
            moved => format!(", {} of them in another order", grouped(moved)),
        };
        writeln!(session.out, "{} the runs say the same: {}{order}.", paint.good("="), counted(n, "event"))?;
    } else if answer.fleeting == s.all && !args.all {
        let n = answer.similar;
        writeln!(session.out, "{} the runs say the same in {}.", paint.good("="), counted(n, "event"))?;
    } else if !first {
        writeln!(
            session.out,
            "{} of {} and {} events differ, in {}: {}, {}, {}. {} moved.",
            paint.name(grouped(answer.differences)),
            grouped(answer.left.events),
            grouped(answer.right.events),
            counted(s.all, "sequence"),
            counted(s.insertions, "insertion"),
            counted(s.deletions, "deletion"),
            counted(s.modifications, "modification"),
            grouped(answer.moved),
        )?;
    } else if answer.shown.is_empty() {
        let or_meant = if answer.meant > 0 { " or meant" } else { "" };
        writeln!(session.out, "Nothing differs but what is ignored{or_meant}.")?;
    }
    for told in &answer.shown {
        writeln!(session.out)?;
        if first {
            earliest(session, told)?;
        }
        sequence(session, told, told.number + 1)?;
    }
    writeln!(session.out)?;
    if answer.more > 0 && !first {
        writeln!(session.out, "... and {}; --all shows them.", counted(answer.more, "more sequence"))?;
    }
    if answer.ignored > 0 {
        writeln!(session.out, "{} passed over.", counted(answer.ignored, "sequence"))?;
    }
    if answer.meant > 0 {
        writeln!(
            session.out,
            "{} not shown: in calls that differ as their contract says.",
            counted(answer.meant, "sequence")
        )?;
    }
    if answer.fleeting > 0 && !args.all {
        let n = answer.fleeting;
        writeln!(
            session.out,
            "{} not shown: what came next depends on addresses, the clock, system numbers or random \
             numbers. --all shows {}.",
            counted(n, "sequence"),
            if n == 1 { "it" } else { "them" }
        )?;
    }
    for note in &answer.notes {
        writeln!(session.out, "{}", paint.faint(format!("note: {note}")))?;
    }
    Ok(())
}

/// The earliest difference, as a sentence.
fn earliest(session: &mut Session, told: &SequenceSummary) -> Result<(), Failure> {
    let place = |e: &Entry| match e.line {
        0 => e.function.clone(),
        line => format!("{} ({}:{line})", e.function, source::short(&e.file)),
    };
    let lone_read = |p: &&Pair| match (&p.left, &p.right) {
        (Some(e), None) | (None, Some(e)) => e.kind == "get",
        _ => false,
    };
    let differing = || told.rows.iter().filter(|p| !p.same);
    let differs = differing().find(|p| !lone_read(p)).or_else(|| differing().next());
    let sentence = match differs {
        Some(Pair { left: Some(l), right: Some(r), .. }) => match (&l.value, &r.value) {
            (Some(old), Some(new)) => {
                let what = l.text.split(" = ").next().unwrap_or(&l.text);
                format!("The runs part in {}: {what} was {old}, and is {new} in the other run.", place(r))
            }
            _ => format!("The runs part in {}: {}, and {} in the other run.", place(r), l.text, r.text),
        },
        Some(Pair { left: Some(l), right: None, .. }) => {
            format!("The runs part in {}: only the first run has {}.", place(l), l.text)
        }
        Some(Pair { left: None, right: Some(r), .. }) => {
            format!("The runs part in {}: only the second run has {}.", place(r), r.text)
        }
        _ => return Ok(()),
    };
    writeln!(session.out, "{sentence}\n")?;
    Ok(())
}

/// One sequence of differences.
pub fn sequence(session: &mut Session, told: &SequenceSummary, number: usize) -> Result<(), Failure> {
    let paint = session.paint;
    let stack: Vec<&str> = told.stack.iter().take(6).map(String::as_str).collect();
    writeln!(session.out, "{} in {}", paint.name(format!("{number}. {}", told.change)), stack.join(" < "))?;
    if !told.depends_on.is_empty() {
        let what = told.depends_on.join(" and ");
        writeln!(session.out, "  {}", paint.faint(format!("what came next depends on {what}")))?;
    }
    let width = |e: &Option<Entry>| e.as_ref().map_or(0, |e| e.text.chars().count()).min(WIDTH);
    let column = told.rows.iter().map(|p| width(&p.left)).max().unwrap_or(0);
    let second = told.rows.iter().map(|p| width(&p.right)).max().unwrap_or(0);
    for pair in &told.rows {
        let (left, right) = (cut(&pair.left), cut(&pair.right));
        let mark = match (&pair.left, &pair.right) {
            _ if pair.same => ' ',
            (Some(_), Some(_)) => '~',
            (Some(_), None) => '-',
            _ => '+',
        };
        let place = pair.right.as_ref().or(pair.left.as_ref());
        let place = place.map(|e| match e.line {
            0 => String::new(),
            line => format!("{}:{line}", source::short(&e.file)),
        });
        let gap = |text: &str, to: usize| " ".repeat(to.saturating_sub(text.chars().count()));
        let line = format!(
            "  {mark} {left}{} │ {right}{}  {}",
            gap(&left, column),
            gap(&right, second),
            place.unwrap_or_default()
        );
        let line = line.trim_end();
        let line = match pair.same || pair.expected {
            true => paint.faint(line),
            false => line.to_owned(),
        };
        writeln!(session.out, "{line}")?;
    }
    if told.more > 0 {
        writeln!(session.out, "    ... and {}", counted(told.more, "more event"))?;
    }
    lines(session, told)
}

/// The source lines of the first difference in either run.
fn lines(session: &mut Session, told: &SequenceSummary) -> Result<(), Failure> {
    let paint = session.paint;
    let of = |side: fn(&Pair) -> Option<&Entry>| {
        let entry = told.rows.iter().filter(|p| !p.same).find_map(side)?;
        let text = source::line(&entry.file, entry.line)?;
        Some(format!("{}:{}  {text}", source::short(&entry.file), entry.line))
    };
    let (left, right) = (of(|p| p.left.as_ref()), of(|p| p.right.as_ref()));
    for (mark, line) in [('-', left), ('+', right)] {
        if let Some(line) = line {
            writeln!(session.out, "    {}", paint.faint(format!("{mark} {line}")))?;
        }
    }
    Ok(())
}

fn cut(entry: &Option<Entry>) -> String {
    let text = entry.as_ref().map_or("", |e| e.text.as_str());
    match text.chars().count() > WIDTH {
        true => text.chars().take(WIDTH - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

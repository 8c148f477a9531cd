//! The figures of symbolic replay and the targets, in Markdown.

use std::fmt::Write;

use super::symbolic::{Figures, Measured, number};
use crate::shell::Result;

/// The maximum ratio of symbolic to concrete replay time ...
const SLOWER: f64 = 20.0;
/// ... for runs in which at most this share of steps touches input.
const FEW: f64 = 0.01;
const MANY_DECISIONS: f64 = 100_000.0;
const MEMORY: f64 = (4_u64 << 30) as f64;
/// The minimum speedup from sharing solver sessions.
const SHARED: f64 = 5.0;

/// The whole report, and whether all targets are met.
pub fn render(measured: &Measured) -> (String, bool) {
    let mut text =
        String::from("# Following input: ratios within one run\n\n## Symbolic against concrete replay\n\n");
    text.push_str(
        "| run | million instructions | touch input, % | decisions | terms | symbolic / concrete |\n\
         |---|---|---|---|---|---|\n",
    );
    let mut targets = Vec::new();
    let mut slow = Vec::new();
    let mut few = 0;
    for (name, figures) in &measured.replays {
        let Ok(figures) = figures else { continue };
        let row = Replay::of(figures);
        let _ = writeln!(
            text,
            "| {name} | {:.1} | {:.3} | {} | {} | {:.1} |",
            row.instructions / 1e6,
            row.touched * 100.0,
            row.decisions,
            row.terms,
            row.ratio
        );
        if row.touched < FEW {
            few += 1;
            if row.ratio.is_nan() || row.ratio > SLOWER {
                slow.push(format!("{name} ({:.1})", row.ratio));
            }
        }
        if !row.holds {
            slow.push(format!("{name} (a condition is false on its own run)"));
        }
    }
    let missed = if few == 0 { vec!["there is no such run".to_owned()] } else { slow };
    targets.push((format!("at most {SLOWER} times slower where under 1 % of steps touch input"), missed));

    section(&mut text, "A run with many decisions", measured.rounds.as_ref(), |text, f| {
        let (decisions, peak) = (figure(f, "decisions"), figure(f, "peak_bytes"));
        let _ = writeln!(
            text,
            "{decisions} decisions on {} bytes: {} terms of {:.0} bytes each, {:.0} MiB in all, {:.1} times as \
             slow as concrete replay.",
            figure(f, "input_bytes"),
            figure(f, "terms"),
            figure(f, "term_bytes") / figure(f, "terms"),
            peak / f64::from(1 << 20),
            Replay::of(f).ratio
        );
        let mut missed = Vec::new();
        if decisions.is_nan() || decisions <= MANY_DECISIONS {
            missed.push(format!("{decisions} decisions"));
        }
        if peak.is_nan() || peak > MEMORY {
            missed.push(format!("{peak} bytes"));
        }
        targets.push((format!("more than {MANY_DECISIONS} decisions within 4 GiB"), missed));
    });
    section(&mut text, "The questions of one direction", measured.sharing.as_ref(), |text, f| {
        sharing(text, f);
        // The better of the two methods that ask each query separately.
        let anew = figure(f, "told_anew_seconds").min(figure(f, "process_each_seconds"));
        let ratio = anew / figure(f, "session_solver_seconds");
        let mut missed = if ratio >= SHARED { Vec::new() } else { vec![format!("the ledger ({ratio:.1})")] };
        // Unanswered queries do not count as a speedup.
        let unanswered = figure(f, "session_solver_unanswered");
        if unanswered.is_nan() || unanswered > figure(f, "told_anew_unanswered") {
            missed.push(format!("the ledger ({unanswered} without an answer)"));
        }
        targets.push((
            format!(
                "sharing makes the solver's time at least {SHARED} times less than asking each from the beginning"
            ),
            missed,
        ));
    });
    section(&mut text, "Other tools", measured.anchor.as_ref(), |text, f| {
        let ours = measured.ours.as_ref().and_then(|ours| ours.as_ref().ok()).copied().unwrap_or(f64::NAN);
        let theirs = figure(f, "seconds");
        let _ = writeln!(
            text,
            "The ledger with the same input: angr takes {theirs:.1} s ({} conditions) along its way, {:.0} times \
             as long as recording and following it here ({ours:.2} s). KLEE and SymCC are in no package registry \
             and were not measured.",
            figure(f, "conditions"),
            theirs / ours
        );
    });
    if matches!(measured.anchor, Some(Err(_))) {
        text.push_str("KLEE and SymCC are in no package registry and were not measured.\n");
    }
    text.push_str("\n## Targets\n\n");
    for (target, missed) in &targets {
        let verdict =
            if missed.is_empty() { "met".to_owned() } else { format!("missed by {}", missed.join(", ")) };
        let _ = writeln!(text, "* {target}: {verdict}");
    }
    let problems: Vec<String> = measured
        .replays
        .iter()
        .filter_map(|(name, figures)| figures.as_ref().err().map(|why| format!("{name}: {why}")))
        .collect();
    for problem in &problems {
        let _ = writeln!(text, "\nNot measured: {problem}");
    }
    // There are three targets; a section that could not be measured has not met its target.
    let met = targets.len() == 3 && targets.iter().all(|(_, missed)| missed.is_empty());
    (text, met && problems.is_empty())
}

/// A section of the report, or why it is missing.
fn section(
    text: &mut String,
    title: &str,
    figures: Option<&Result<Figures>>,
    write: impl FnOnce(&mut String, &Figures),
) {
    match figures {
        None => {}
        Some(Ok(figures)) => {
            let _ = writeln!(text, "\n## {title}\n");
            write(text, figures);
        }
        Some(Err(why)) => {
            let _ = writeln!(text, "\n## {title}\n\nNot measured: {why}");
        }
    }
}

fn sharing(text: &mut String, f: &Figures) {
    let name = |key: &str| f.get(key).map_or("?", String::as_str);
    let _ = writeln!(
        text,
        "{} questions of the ledger's new version, {} conditions of the old one held; {} of them can be.\n",
        figure(f, "questions"),
        figure(f, "held"),
        figure(f, "satisfiable")
    );
    let (one, all) = (name("solver"), name("solvers"));
    text.push_str(
        "| asked | solver | ms a question | times the last | without an answer |\n|---|---|---|---|---|\n",
    );
    let last = figure(f, "session_seconds");
    let rows = [
        ("each from the beginning, a process each", one, "process_each"),
        ("each from the beginning, one process", one, "told_anew"),
        ("prefix shared, one process", one, "prefix_shared"),
        ("prefix shared, linked conditions only", one, "session_solver"),
        ("the same, all solvers raced", all, "session_raced"),
        ("the same, first in this process", all, "session"),
    ];
    for (what, solver, key) in rows {
        let seconds = figure(f, &format!("{key}_seconds"));
        let _ = writeln!(
            text,
            "| {what} | {solver} | {:.2} | {:.1} | {} |",
            seconds * 1000.0 / figure(f, "questions"),
            seconds / last,
            figure(f, &format!("{key}_unanswered"))
        );
    }
}

struct Replay {
    instructions: f64,
    /// A share of all instructions.
    touched: f64,
    decisions: f64,
    terms: f64,
    ratio: f64,
    holds: bool,
}

impl Replay {
    fn of(f: &Figures) -> Replay {
        Replay {
            instructions: figure(f, "instructions"),
            touched: figure(f, "touched") / figure(f, "instructions"),
            decisions: figure(f, "decisions"),
            terms: figure(f, "terms"),
            ratio: figure(f, "symbolic_seconds") / figure(f, "plain_seconds"),
            holds: figure(f, "holds") == 1.0,
        }
    }
}

/// A missing figure is NaN, and meets no target.
fn figure(figures: &Figures, name: &str) -> f64 {
    number(figures, name).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(pairs: &[(&str, f64)]) -> Figures {
        pairs.iter().map(|(name, figure)| ((*name).to_owned(), figure.to_string())).collect()
    }

    fn replay(touched: f64, seconds: f64) -> Figures {
        figures(&[
            ("instructions", 1e6),
            ("touched", touched),
            ("decisions", 200_000.0),
            ("terms", 10.0),
            ("term_bytes", 200.0),
            ("peak_bytes", 1e9),
            ("holds", 1.0),
            ("plain_seconds", 1.0),
            ("symbolic_seconds", seconds),
        ])
    }

    fn measured(seconds: f64, sharing: f64) -> Measured {
        Measured {
            replays: vec![
                ("few".to_owned(), Ok(replay(10.0, seconds))),
                ("much".to_owned(), Ok(replay(1e5, 90.0))),
            ],
            rounds: Some(Ok(replay(1e6, 50.0))),
            sharing: Some(Ok(figures(&[
                ("told_anew_seconds", sharing),
                ("process_each_seconds", sharing + 1.0),
                ("session_solver_seconds", 1.0),
                ("session_solver_unanswered", 0.0),
                ("told_anew_unanswered", 1.0),
                ("session_seconds", 0.5),
            ]))),
            ours: Some(Ok(0.5)),
            anchor: Some(Err("pip has no angr".to_owned())),
        }
    }

    #[test]
    fn targets_met_are_said_to_be_met_and_missing_tools_named() {
        let (text, met) = render(&measured(12.0, 8.0));
        assert!(met, "{text}");
        assert_eq!(text.matches(": met").count(), 3, "{text}");
        assert!(text.contains("| few | 1.0 | 0.001 | 200000 | 10 | 12.0 |"), "{text}");
        assert!(text.contains("Not measured: pip has no angr"), "{text}");
        assert!(text.contains("KLEE and SymCC"), "{text}");
    }

    #[test]
    fn targets_missed_name_what_missed_them() {
        let (text, met) = render(&measured(21.0, 4.0));
        assert!(!met);
        assert!(text.contains("touch input: missed by few (21.0)"), "{text}");
        assert!(text.contains("the beginning: missed by the ledger (4.0)"), "{text}");
        let mut broken = measured(12.0, 8.0);
        broken.replays.push(("third".to_owned(), Err("it broke".to_owned())));
        assert!(!render(&broken).1, "what was not measured has met nothing");
        broken = measured(12.0, 8.0);
        broken.rounds = Some(Err("it broke".to_owned()));
        assert!(!render(&broken).1);
    }
}

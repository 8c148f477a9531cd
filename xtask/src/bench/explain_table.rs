//! The table of explanations and the targets, in Markdown.

use std::fmt::Write;

use super::explain::{Effort, Row};
use super::explain_story;

/// The target percentage of correct explanations; real cases must all be correct.
const RIGHT: f64 = 95.0;
/// The limit for the percentage of broken builds.
const BROKEN: f64 = 30.0;
/// The time limit for a real pair with this many changes, and the lower one with its history.
const CHANGES: u64 = 5000;
const SECONDS: f64 = 900.0;
const SECONDS_WITH_HISTORY: f64 = 300.0;
/// The target percentages of correct stories, and of short ones.
const STORIES: f64 = 90.0;
const SHORT_STORIES: f64 = 80.0;
/// The target percentage of tested links that are proven.
const PROVEN: f64 = 70.0;

const HEADS: [&str; 16] = [
    "case",
    "changes",
    "root + auxiliary",
    "cause right",
    "needed",
    "sufficient",
    "sane",
    "builds",
    "broken",
    "s to verdict",
    "s",
    "story right",
    "steps",
    "links proven",
    "`dd`: right, builds",
    "`git bisect`: right, builds",
];

/// The whole report.
pub fn render(rows: &[Row], cap: u64) -> String {
    let mut text = String::from("# Explaining regressions\n\n");
    line(&mut text, HEADS.iter().map(|head| (*head).to_owned()));
    line(&mut text, HEADS.iter().map(|_| "---".to_owned()));
    for row in rows {
        line(&mut text, cells(row).into_iter());
    }
    let _ = writeln!(
        text,
        "\nBold: released versions of real programs; with `*`: explained with its history. `>`: stopped \
         after so many builds, without an answer; the cap for `dd` is {cap}, and on the real ones ten times \
         the builds of the explanation, at least 50. Each method began with empty caches. `-`: no answer, \
         or not run."
    );
    let _ = writeln!(text, "\n## Targets\n");
    for (target, got, met) in targets(rows) {
        let _ = writeln!(text, "* {target}: {}; {got}", if met { "met" } else { "missed" });
    }
    for row in rows {
        let dd = row.dd.as_ref().and_then(|dd| dd.problem.clone()).map(|why| format!("`dd`: {why}"));
        for problem in [row.auto.problem.clone(), dd, row.problem.clone()].into_iter().flatten() {
            let _ = writeln!(text, "\nNo answer for {}: {problem}", row.name);
        }
    }
    text
}

/// The result of one answer as a line for the terminal.
pub fn sentence(effort: &Effort) -> String {
    match (&effort.problem, effort.capped) {
        (Some(problem), _) => problem.clone(),
        (None, Some(cap)) => format!("stopped after {cap} builds, {:.1} s", effort.seconds),
        (None, None) => format!(
            "{}: {} + {} of {} changes, {} builds ({} broken), {} runs, {:.1} s",
            if effort.right { "right" } else { "not right" },
            effort.root,
            effort.auxiliary,
            effort.changes,
            effort.builds,
            effort.broken,
            effort.runs,
            effort.seconds
        ),
    }
}

fn cells(row: &Row) -> Vec<String> {
    let auto = &row.auto;
    let name = if row.real { format!("**{}**", row.name) } else { row.name.clone() };
    let mut cells = vec![name + if row.history { " *" } else { "" }];
    if auto.answered() {
        cells.extend([
            auto.changes.to_string(),
            format!("{} + {}", auto.root, auto.auxiliary),
            yes(auto.right),
            auto.proof.needed.clone(),
            auto.proof.sufficient.clone(),
            auto.proof.sane.clone(),
            auto.builds.to_string(),
            format!("{} ({:.0} %)", auto.broken, percent(auto.broken, auto.builds)),
            format!("{:.1}", auto.verdict),
            format!("{:.1}", auto.seconds),
            auto.story.right.map_or("-".to_owned(), yes),
            auto.story.steps.to_string(),
            format!("{} of {}", auto.story.proven, auto.story.tried),
        ]);
    } else {
        cells.resize(HEADS.len() - 2, "-".to_owned());
    }
    cells.push(match &row.dd {
        Some(Effort { capped: Some(cap), .. }) => format!("> {cap}"),
        Some(dd) if dd.answered() => format!("{}, {}", yes(dd.right), dd.builds),
        _ => "-".to_owned(),
    });
    let bisected = row.bisect.as_ref();
    cells.push(bisected.map_or("-".to_owned(), |it| format!("{}, {}", yes(it.right), it.builds)));
    cells
}

/// Each target, the result, and whether it is met.
fn targets(rows: &[Row]) -> Vec<(String, String, bool)> {
    let of = |kind: &dyn Fn(&Row) -> bool, wrong: &dyn Fn(&Row) -> Option<String>| {
        let all: Vec<&Row> = rows.iter().filter(|row| kind(row)).collect();
        let missed: Vec<String> =
            all.iter().filter_map(|row| wrong(row).map(|why| format!("{} ({why})", row.name))).collect();
        let list = if missed.is_empty() { String::new() } else { format!(", not {}", missed.join(", ")) };
        let met = all.len() - missed.len();
        (met, all.len(), format!("{met} of {}{list}", all.len()))
    };
    let not_right = |row: &Row| match (row.auto.answered(), row.auto.right) {
        (true, true) => None,
        (true, false) => Some("another cause".to_owned()),
        (false, _) => Some("no answer".to_owned()),
    };
    let not_sane = |row: &Row| {
        let sane = row.auto.proof.sane.as_str();
        (row.auto.answered() && sane != "yes").then(|| sane.to_owned())
    };
    let limit = |row: &Row| if row.history { SECONDS_WITH_HISTORY } else { SECONDS };
    let too_slow = |row: &Row| {
        let slow = !row.auto.answered() || row.auto.seconds > limit(row);
        slow.then(|| format!("{:.0} s", row.auto.seconds))
    };
    let needless = |row: &Row| {
        let all = row.auto.untouched + row.dd.as_ref().map_or(0, |dd| dd.untouched);
        (all > 0).then(|| format!("{all} objects"))
    };
    let every = |_: &Row| true;
    let (right, cases, rights) = of(&every, &not_right);
    let (right_real, real, rights_real) = of(&|row| row.real, &not_right);
    let (sane, answers, sanes) = of(&|row| row.auto.answered(), &not_sane);
    let (quick, pairs, quicks) = of(&|row| row.real && row.auto.changes <= CHANGES, &too_slow);
    let (spared, _, spareds) = of(&every, &needless);
    let (told, judged, stories) = of(&|row| row.auto.story.right.is_some(), &|row| {
        (row.auto.story.right == Some(false)).then(|| "another story".to_owned())
    });
    let (short, _, shorts) = of(&|row| row.auto.answered(), &|row| {
        (row.auto.story.steps > explain_story::SHORT).then(|| row.auto.story.steps.to_string())
    });
    let sum = |count: &dyn Fn(&Effort) -> u64| rows.iter().map(|row| count(&row.auto)).sum::<u64>();
    let (builds, broken) = (sum(&|auto| auto.builds), sum(&|auto| auto.broken));
    let share = percent(broken, builds);
    let (proven, tried) = (sum(&|auto| auto.story.proven as u64), sum(&|auto| auto.story.tried as u64));
    vec![
        (
            format!("cause right in {RIGHT} % of the cases"),
            rights,
            percent(right as u64, cases as u64) >= RIGHT,
        ),
        ("cause right in all released pairs".to_owned(), rights_real, right_real == real),
        ("no accepted tree that is not sane".to_owned(), sanes, sane == answers),
        (
            format!("broken builds below {BROKEN} %"),
            format!("{broken} of {builds}, {share:.0} %"),
            share < BROKEN,
        ),
        (
            format!(
                "released pair of {CHANGES} changes within {} minutes, with history {}",
                SECONDS / 60.0,
                SECONDS_WITH_HISTORY / 60.0
            ),
            quicks,
            quick == pairs,
        ),
        (
            format!("story right in {STORIES} % of the cases that say what it must have"),
            stories,
            percent(told as u64, judged as u64) >= STORIES,
        ),
        (
            format!("{} steps or fewer in {SHORT_STORIES} % of the stories", explain_story::SHORT),
            shorts,
            percent(short as u64, answers as u64) >= SHORT_STORIES,
        ),
        (
            format!("{PROVEN} % of the tried links proven"),
            format!("{proven} of {tried}, {:.0} %", percent(proven, tried)),
            percent(proven, tried) >= PROVEN,
        ),
        ("no trial builds untouched files again".to_owned(), spareds, spared == cases),
    ]
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
}

#[cfg(test)]
mod tests {
    use super::super::bisect::BisectResult;
    use super::super::explain::Proof;
    use super::super::explain_story::Story;
    use super::*;

    fn effort(right: bool, sane: &str, broken: u64, seconds: f64) -> Effort {
        let yes = || "yes".to_owned();
        Effort {
            changes: 40,
            root: 1,
            right,
            proof: Proof { needed: yes(), sufficient: yes(), sane: sane.to_owned() },
            builds: 10,
            broken,
            verdict: 0.5,
            seconds,
            story: Story { steps: 3, right: Some(true), tried: 2, proven: 2 },
            ..Effort::default()
        }
    }

    fn row(real: bool, history: bool, auto: Effort) -> Row {
        Row { name: "case".to_owned(), real, history, auto, ..Row::default() }
    }

    #[test]
    fn targets_met_are_said_to_be_met() {
        let mut first = row(true, true, effort(true, "yes", 2, 1.0));
        first.dd = Some(Effort { capped: Some(50), ..Effort::default() });
        first.bisect = Some(BisectResult { right: true, builds: 4 });
        let text = render(&[first, row(false, false, effort(true, "yes", 3, 2000.0))], 1000);
        let cells = "| **case** * | 40 | 1 + 0 | yes | yes | yes | yes | 10 | 2 (20 %) | 0.5 | 1.0 | yes | 3 | 2 of 2 | > 50 | yes, 4 |";
        assert!(text.contains(cells), "{text}");
        assert_eq!(text.matches(": met; ").count(), 9, "{text}");
        assert!(text.contains("below 30 %: met; 5 of 20, 25 %"), "{text}");
    }

    #[test]
    fn targets_missed_name_the_case() {
        let mut slow = row(true, true, effort(false, "no", 6, 301.0));
        slow.auto.untouched = 3;
        slow.auto.story = Story { steps: 12, right: Some(false), tried: 4, proven: 1 };
        let mut silent =
            row(false, false, Effort { problem: Some("no idea".to_owned()), ..Effort::default() });
        silent.problem = Some("git bisect: broken".to_owned());
        let text = render(&[slow, silent], 1000);
        for missed in [
            "95 % of the cases: missed; 0 of 2, not case (another cause), case (no answer)",
            "all released pairs: missed; 0 of 1, not case (another cause)",
            "not sane: missed; 0 of 1, not case (no)",
            "below 30 %: missed; 6 of 10, 60 %",
            "with history 5: missed; 0 of 1, not case (301 s)",
            "say what it must have: missed; 0 of 1, not case (another story)",
            "10 steps or fewer in 80 % of the stories: missed; 0 of 1, not case (12)",
            "tried links proven: missed; 1 of 4, 25 %",
            "untouched files again: missed; 1 of 2, not case (3 objects)",
            "No answer for case: no idea",
            "No answer for case: git bisect: broken",
        ] {
            assert!(text.contains(missed), "{missed} in {text}");
        }
    }
}

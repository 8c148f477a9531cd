//! The table of explanations and whether the targets are met, in Markdown.

use std::fmt::Write;

use super::explain::{Effort, METHODS, Row};

/// The whole report.
pub fn render(rows: &[Row], cap: u64) -> String {
    let mut text = String::from("# Explaining regressions, by method\n\n");
    let mut heads = vec!["case".to_owned(), "changes".to_owned()];
    for method in METHODS {
        heads.extend(
            ["root + auxiliary", "verified", "builds", "runs", "s"].map(|head| format!("{method}: {head}")),
        );
    }
    line(&mut text, heads.iter().cloned());
    line(&mut text, heads.iter().map(|_| "---".to_owned()));
    for row in rows {
        let changes = row.methods.iter().map(|effort| effort.changes).max().unwrap_or(0);
        let name = if row.real { format!("**{}**", row.name) } else { row.name.clone() };
        let mut cells = vec![name, changes.to_string()];
        cells.extend(row.methods.iter().flat_map(cells_of));
        line(&mut text, cells.into_iter());
    }
    let _ = writeln!(
        text,
        "\nBold: released versions of real programs. `>`: stopped after so many builds, without an answer; \
         the cap is {cap}, and on the real ones ten times the builds of `auto` for `dd` and three times for `add`, at least 50. \
         Each method began with empty caches. `-`: no answer."
    );
    let _ = writeln!(text, "\n## Targets\n");
    for (target, missed) in targets(rows) {
        let verdict =
            if missed.is_empty() { "met".to_owned() } else { format!("missed by {}", missed.join(", ")) };
        let _ = writeln!(text, "* {target}: {verdict}");
    }
    for row in rows {
        for (method, effort) in METHODS.iter().zip(&row.methods) {
            if let Some(problem) = &effort.problem {
                let _ = writeln!(text, "\nNo answer for {} by {method}: {problem}", row.name);
            }
        }
    }
    text
}

/// One line about an answer, for the terminal.
pub fn sentence(effort: &Effort) -> String {
    match (&effort.problem, effort.capped) {
        (Some(problem), _) => problem.clone(),
        (None, Some(cap)) => format!("stopped after {cap} builds, {:.1} s", effort.seconds),
        (None, None) => format!(
            "{} + {} of {} changes, {}, {} builds, {} runs, {:.1} s",
            effort.root,
            effort.auxiliary,
            effort.changes,
            if effort.verified { "verified" } else { "not verified" },
            effort.builds,
            effort.runs,
            effort.seconds
        ),
    }
}

fn cells_of(effort: &Effort) -> Vec<String> {
    if effort.problem.is_some() {
        return vec!["-".to_owned(); 5];
    }
    let seconds = format!("{:.1}", effort.seconds);
    if let Some(cap) = effort.capped {
        return vec!["-".to_owned(), "-".to_owned(), format!("> {cap}"), "-".to_owned(), seconds];
    }
    vec![
        format!("{} + {}", effort.root, effort.auxiliary),
        if effort.verified { "yes" } else { "no" }.to_owned(),
        effort.builds.to_string(),
        effort.runs.to_string(),
        seconds,
    ]
}

/// Each target, with the cases that miss it.
fn targets(rows: &[Row]) -> Vec<(&'static str, Vec<String>)> {
    let missing = |judge: &dyn Fn(&Row) -> Option<String>| {
        rows.iter().filter_map(|row| judge(row).map(|why| format!("{} ({why})", row.name))).collect()
    };
    let answered = |effort: &Effort| effort.problem.is_none() && effort.capped.is_none();
    vec![
        (
            "`auto` verified in every case",
            missing(&|row| {
                let auto = row.methods.first()?;
                (!(answered(auto) && auto.verified)).then(|| sentence(auto))
            }),
        ),
        (
            "`auto` names the changes that are guilty by construction",
            missing(&|row| {
                let auto = row.methods.first()?;
                (!auto.expected).then(|| "others".to_owned())
            }),
        ),
        (
            // An answer that is not verified is no measure: too few changes are easily named.
            "`auto` never with more changes than a verified answer of `dd`",
            missing(&|row| {
                let (auto, dd) = (row.methods.first()?, row.methods.get(1)?);
                let (ours, theirs) = (auto.root + auto.auxiliary, dd.root + dd.auxiliary);
                let more = answered(auto) && answered(dd) && dd.verified && ours > theirs;
                more.then(|| format!("{ours} and {theirs}"))
            }),
        ),
        (
            "on the real ones at most a tenth of the builds of `dd`",
            missing(&|row| {
                let (auto, dd) = (row.methods.first()?, row.methods.get(1)?);
                let missed = row.real && (!answered(auto) || auto.builds * 10 > dd.builds);
                missed.then(|| format!("{} and {}", auto.builds, dd.builds))
            }),
        ),
        (
            "no trial builds untouched files again",
            missing(&|row| {
                let count: u64 = row.methods.iter().map(|effort| effort.untouched).sum();
                (count > 0).then(|| format!("{count} objects"))
            }),
        ),
    ]
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effort(root: usize, builds: u64) -> Effort {
        Effort {
            changes: 40,
            root,
            verified: true,
            expected: true,
            builds,
            runs: builds,
            seconds: 1.0,
            ..Effort::default()
        }
    }

    fn row(real: bool, methods: [Effort; 3]) -> Row {
        Row { name: "case".to_owned(), real, methods: methods.to_vec() }
    }

    #[test]
    fn targets_met_are_said_to_be_met() {
        let dd = Effort { capped: Some(50), root: 0, verified: false, ..effort(0, 51) };
        let text = render(&[row(true, [effort(1, 5), dd, effort(2, 20)])], 1000);
        assert!(text.contains("| **case** | 40 | 1 + 0 | yes | 5 | 5 | 1.0 | - | - | > 50 | - |"), "{text}");
        assert_eq!(text.matches(": met").count(), 5, "{text}");
    }

    #[test]
    fn targets_missed_name_the_case() {
        let auto = Effort { untouched: 3, ..effort(3, 20) };
        let text = render(&[row(true, [auto, effort(2, 100), effort(2, 20)])], 1000);
        assert!(
            text.contains("more changes than a verified answer of `dd`: missed by case (3 and 2)"),
            "{text}"
        );
        assert!(text.contains("a tenth of the builds of `dd`: missed by case (20 and 100)"), "{text}");
        assert!(text.contains("untouched files again: missed by case (3 objects)"), "{text}");
        let broken = Effort { problem: Some("no idea".to_owned()), ..Effort::default() };
        let text = render(&[row(false, [broken, effort(2, 100), effort(2, 20)])], 1000);
        assert!(text.contains("verified in every case: missed by case (no idea)"), "{text}");
        assert!(text.contains("No answer for case by auto: no idea"), "{text}");
    }
}

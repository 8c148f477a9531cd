//! The effort to find a known fault in phases of the run, and along chains of dependences: the number of
//! executions that a user who knows all correct values has to examine.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::symbolic::{Figures, figures, number};
use super::table::cell;
use crate::cases::{self, Case};
use crate::shell::{self, Result};
use crate::tools::Tools;

/// A generous time limit for small programs.
const LIMIT: Duration = Duration::from_secs(60);

/// One regression.
#[derive(Debug)]
pub struct Row {
    name: String,
    question: String,
    figures: Figures,
}

/// A skipped regression, and the reason.
pub type Left = (String, String);

/// All regressions whose guilty change has lines in the bad version. The second list has the skipped ones,
/// with the reason.
pub fn measure(tools: &Tools, example: &Path) -> Result<(Vec<Row>, Vec<Left>)> {
    let (mut rows, mut left) = (Vec::new(), Vec::new());
    for case in Case::all(&cases::home())? {
        let home = shell::target().join("bench/phases").join(&case.name);
        shell::create_empty_dir(&home)?;
        case.lay_out(&home)?;
        let faults = faults(&case, &home)?;
        if faults.is_empty() {
            left.push((case.name, "no line of bad is at fault".to_owned()));
            continue;
        }
        match one(tools, example, &case, &home, &faults) {
            Ok(row) => rows.push(row),
            Err(message) => left.push((case.name, message)),
        }
    }
    Ok((rows, left))
}

/// The lines of bad that the guilty changes added, as `FILE:LINE`.
fn faults(case: &Case, home: &Path) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for change in case.table.get("root").and_then(toml::Value::as_array).into_iter().flatten() {
        let word = |key: &str| change.get(key).and_then(toml::Value::as_str);
        let (Some(file), Some(text)) = (word("file"), word("new")) else { continue };
        let path = home.join("bad").join(file);
        let source = fs::read_to_string(&path)
            .map_err(|error| format!("failed to read {}: {error}", path.display()))?;
        let lines = (1..).zip(source.lines()).filter(|(_, line)| line.contains(text));
        all.extend(lines.map(|(n, _)| format!("{file}:{n}")));
    }
    Ok(all)
}

fn one(tools: &Tools, example: &Path, case: &Case, home: &Path, faults: &[String]) -> Result<Row> {
    let good = version(case, home, "good", &tools.clang)?;
    let bad = version(case, home, "bad", &tools.cc)?;
    let test = |dir: &Path, command: &mut Command| {
        shell::capture(command.args(["sh", "-c", &case.test]).current_dir(dir).stdin(Stdio::null()), LIMIT)
    };
    let before = test(&good, &mut Command::new("env"))?;
    let recording = home.join("run");
    let mut record = Command::new(&tools.relapse);
    record.args(["record", "--quiet", "-o"]).arg(&recording).arg("--");
    let after = test(&bad, &mut record)?;
    let first = before.stdout.iter().zip(&after.stdout).position(|(a, b)| a != b);
    let common = before.stdout.len().min(after.stdout.len());
    let question = match first {
        Some(byte) => format!("stdout@{byte}"),
        // The bad version wrote more than the good one.
        None if after.stdout.len() > common => format!("stdout@{common}"),
        None if before.status.code() != after.status.code() => "failure".to_owned(),
        None => return Err("neither standard output nor exit status tell it from good".to_owned()),
    };
    let mut ask = Command::new(example);
    let figures = figures(ask.arg(&recording).arg(&question).args(faults), LIMIT)?;
    Ok(Row { name: case.name.clone(), question, figures })
}

/// Builds a version.
fn version(case: &Case, home: &Path, name: &str, compiler: &Path) -> Result<PathBuf> {
    let dir = home.join(name);
    let mut build = Command::new("sh");
    build.args(["-c", &case.build]).env("CC", compiler).current_dir(&dir);
    let outcome = shell::capture(&mut build, LIMIT)?;
    if !outcome.status.success() {
        return Err(format!("failed to build {name}: {}", outcome.complaint()));
    }
    Ok(dir)
}

fn is_found(row: &Row) -> bool {
    row.figures.get("found").is_some_and(|f| f == "true")
}

/// The table and its summary.
pub fn render(rows: &[Row], left: &[Left]) -> String {
    let mut text = String::from(
        "\n## In phases and along chains\n\n| regression | asked about | executions in the slice | levels | \
         questions | shown in phases | examined along chains | length | phases / chains |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let mut ratios = Vec::new();
    for row in rows {
        let of = |name: &str| number(&row.figures, name);
        let _ = write!(text, "| {} | {} | {} |", row.name, row.question, cell(of("executions")));
        if of("faulty").is_none_or(|n| n == 0.0) {
            let _ = writeln!(text, " the fault is not in the slice | | | | | |");
            continue;
        }
        if !is_found(row) {
            let _ = writeln!(
                text,
                " phases end elsewhere | | | {} | {} | |",
                cell(of("examined")),
                cell(of("length"))
            );
            continue;
        }
        let ratio = of("shown").zip(of("examined")).map(|(p, c)| p.max(1.0) / c.max(1.0));
        ratios.extend(ratio);
        let cells = ["levels", "questions", "shown", "examined", "length"].map(|name| cell(of(name)));
        let _ = writeln!(text, " {} | {} |", cells.join(" | "), cell(ratio));
    }
    let fewer = ratios.iter().filter(|r| **r < 1.0).count();
    let _ = writeln!(
        text,
        "\nThe fault was found in phases in {} of {}; in {fewer} of them fewer executions were shown than \
         chains take, geometric mean of the ratio {}. Somebody who knows what every value should be names \
         the first that came from a line at fault; chains are counted to the nearest execution of such a \
         line, as if it were known on sight, so they can only look better than they are.",
        ratios.len(),
        rows.len(),
        cell(super::table::geometric_mean(&ratios)),
    );
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, reason) in left {
        reasons.entry(reason).or_default().push(name);
    }
    for (reason, names) in reasons {
        let _ = writeln!(text, "\nLeft out, since {reason}: {}.", names.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, figures: &[(&str, &str)]) -> Row {
        let figures = figures.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Row { name: name.to_owned(), question: "failure".to_owned(), figures }
    }

    #[test]
    fn ratios_are_of_what_was_found() {
        let shown = [("executions", "50"), ("faulty", "2"), ("found", "true"), ("levels", "3")];
        let rest = [("questions", "2"), ("shown", "5"), ("examined", "20"), ("length", "4")];
        let rows = [
            row("a", &[&shown[..], &rest[..]].concat()),
            row("b", &[("executions", "9"), ("faulty", "0")]),
            row(
                "c",
                &[
                    ("executions", "9"),
                    ("faulty", "1"),
                    ("found", "false"),
                    ("examined", "7"),
                    ("length", "3"),
                ],
            ),
        ];
        let text = render(&rows, &["d", "e"].map(|n| (n.to_owned(), "nothing".to_owned())));
        assert!(
            text.contains("| a | failure | 50.00 | 3.00 | 2.00 | 5.00 | 20.00 | 4.00 | 0.2500 |"),
            "{text}"
        );
        assert!(text.contains("| b | failure | 9.00 | the fault is not in the slice"), "{text}");
        assert!(text.contains("| c | failure | 9.00 | phases end elsewhere"), "{text}");
        assert!(text.contains("in phases in 1 of 3; in 1 of them"), "{text}");
        assert!(text.contains("Left out, since nothing: d, e."), "{text}");
    }

    #[test]
    fn guilty_lines_are_those_of_bad() {
        let case = Case::one(&cases::home(), "running-example").unwrap();
        let lines = faults(&case, &case.dir).unwrap();
        assert_eq!(lines.len(), 2, "{lines:?}");
        // A deleted line is not a line of bad.
        let removed = Case::one(&cases::home(), "lru-cache").unwrap();
        assert_eq!(faults(&removed, &removed.dir).unwrap(), [""; 0]);
    }
}

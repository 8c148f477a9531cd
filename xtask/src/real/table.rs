//! The table in `docs/benchmarks.md`.

use std::fs;
use std::path::Path;

use super::package::Package;
use super::result::{Reason, StoredResult, Tested};
use crate::bench::publish;
use crate::shell::{self, Result};

const HEADING: &str = "## Programs of Debian\n";
const FALLS_SHORT: &str = "What falls short, and for how many processes:";

/// The commit of the build that is measured.
pub fn commit() -> String {
    publish::commit()
}

/// One row of the table.
pub fn row(package: &Package, kept: &StoredResult) -> String {
    let tested = match &kept.outcome {
        Ok(tested) => tested,
        Err(_) => return format!("| {} | - | - | - | - | - | - | {} |", package.name, kept.commit),
    };
    let opaque = match tested.opaque {
        Some(share) => format!("{:.1} %", share.opaque as f64 * 100.0 / share.calls.max(1) as f64),
        None => "0".to_owned(),
    };
    format!(
        "| {} | {} | {} of {} | {opaque} | {:.1} | {} | {:.1} | {} |",
        package.name,
        if tested.same { format!("{} same", tested.verdicts) } else { "differ".to_owned() },
        tested.exact,
        tested.processes,
        slowdown(tested),
        megabytes(tested.bytes),
        tested.replay_seconds,
        kept.commit
    )
}

fn slowdown(tested: &Tested) -> f64 {
    tested.recorded_seconds / tested.plain_seconds.max(0.001)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

/// Writes the section: from the stored results, and unchanged for other packages.
pub fn publish(packages: &[Package], home: &Path) -> Result<()> {
    let file = shell::root().join("docs/benchmarks.md");
    let text =
        fs::read_to_string(&file).map_err(|error| format!("failed to read {}: {error}", file.display()))?;
    let entries: Vec<(&Package, Entry)> = packages
        .iter()
        .filter_map(|package| {
            let kept = StoredResult::read(&home.join(&package.name).join("result.json"));
            let entry = match &kept {
                Some(kept) => Entry::of(package, kept),
                None => Entry::written(&package.name, &text)?,
            };
            Some((package, entry))
        })
        .collect();
    shell::write(&file, with_section(&text, &section(&entries)))
}

/// The part of the section about one package.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    row: String,
    good: bool,
    failures: Vec<String>,
}

impl Entry {
    fn of(package: &Package, kept: &StoredResult) -> Entry {
        let name = &package.name;
        let (good, failures) = match &kept.outcome {
            Err(reason) => (false, vec![format!("* {name}: {}", short(reason))]),
            Ok(tested) => {
                let line = |reason: &Reason| format!("* {name} ({}): {}", reason.times, short(&reason.text));
                (tested.good(), tested.reasons.iter().take(3).map(line).collect())
            }
        };
        Entry { row: row(package, kept), good, failures }
    }

    /// Reads it from the existing section.
    fn written(name: &str, text: &str) -> Option<Entry> {
        let (_, section) = text.split_once(HEADING)?;
        let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
        let starts = |line: &&str, prefix: &str| line.starts_with(prefix);
        let row = section.lines().find(|line| starts(line, &format!("| {name} |")))?.to_owned();
        let (_, shortcomings) = section.split_once(FALLS_SHORT).unwrap_or_default();
        let (once, times) = (format!("* {name}: "), format!("* {name} ("));
        let failures: Vec<String> = shortcomings
            .lines()
            .filter(|line| starts(line, &once) || starts(line, &times))
            .map(str::to_owned)
            .collect();
        let exact = row.split('|').nth(3).and_then(|cell| cell.trim().split_once(" of "));
        let good = failures.is_empty() && row.contains(" same |") && exact.is_some_and(|(a, b)| a == b);
        Some(Entry { row, good, failures })
    }
}

fn section(entries: &[(&Package, Entry)]) -> String {
    let good = entries.iter().filter(|(_, entry)| entry.good).count();
    let mut text = format!(
        "{HEADING}`cargo xtask real`, {}. Source packages of Debian 12,\nbuilt by `relapse cc` with `-O2 -g`; \
         their own tests, plain and recorded. {good} of {} have the same verdicts\nand replay exactly in every \
         process. Times are those of one run.\n\n\
         | package | verdicts | exact processes | opaque calls | recorded / plain | MB | replay s | commit |\n\
         |---|---|---|---|---|---|---|---|\n",
        publish::machine(),
        entries.len()
    );
    for (_, entry) in entries {
        text += &format!("{}\n", entry.row);
    }
    text += "\nWhat was run:\n\n";
    for (package, _) in entries {
        text += &format!("* {}: {}\n", package.name, package.scope);
    }
    let failures: Vec<&str> =
        entries.iter().flat_map(|(_, entry)| &entry.failures).map(String::as_str).collect();
    if !failures.is_empty() {
        text += &format!("\n{FALLS_SHORT}\n\n{}\n", failures.join("\n"));
    }
    text
}

/// The first line of a text, without paths of this machine.
fn short(text: &str) -> String {
    let root = shell::target().display().to_string();
    let line = text.lines().next().unwrap_or_default().replace(&root, "target");
    line.chars().take(200).collect()
}

/// The document with the section replaced, or appended.
fn with_section(text: &str, section: &str) -> String {
    let Some(begin) = text.find(HEADING) else {
        return format!("{}\n\n{section}", text.trim_end());
    };
    let rest = &text[begin + HEADING.len()..];
    let after = rest.find("\n## ").map_or("", |end| &rest[end..]);
    format!("{}{section}{after}", &text[..begin])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_elsewhere_stays() {
        let package = Package::select(Package::all().unwrap(), &["sed"]).unwrap().remove(0);
        let tested = Tested { same: true, verdicts: 68, processes: 3, exact: 3, ..Tested::default() };
        let written = |outcome| {
            let kept = StoredResult { commit: "abc (2026-01-01)".to_owned(), outcome };
            let entry = Entry::of(&package, &kept);
            let text = with_section("# A\n", &section(&[(&package, entry.clone())]));
            assert_eq!(Entry::written("sed", &text), Some(entry.clone()));
            assert_eq!(Entry::written("gsed", &text), None);
            entry
        };
        assert!(written(Ok(tested.clone())).good);
        assert!(!written(Ok(Tested { exact: 2, ..tested.clone() })).good);
        let reasons = vec![Reason { text: "diverges".to_owned(), times: 2 }];
        assert!(!written(Ok(Tested { reasons, ..tested })).good);
        assert!(!written(Err("it does not build".to_owned())).good);
    }

    #[test]
    fn the_section_takes_the_place_of_the_old_one() {
        let new = format!("{HEADING}new\n");
        let first = with_section("# A\n\ntext\n", &new);
        assert_eq!(first, format!("# A\n\ntext\n\n{new}"));
        assert_eq!(with_section(&first, &new), first);
        let between = format!("# A\n\n{HEADING}old\n\n## B\ntext\n");
        assert_eq!(with_section(&between, &new), format!("# A\n\n{new}\n## B\ntext\n"));
    }
}

//! The table in `docs/benchmarks.md`.

use std::fs;
use std::path::Path;

use super::package::Package;
use super::result::{Kept, Tested};
use crate::bench::publish;
use crate::shell::{self, Result};

const HEADING: &str = "## Programs of Debian\n";

/// The commit of the build that is measured.
pub fn commit() -> String {
    publish::commit()
}

/// One line of the table.
pub fn row(package: &Package, kept: &Kept) -> String {
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

/// Writes the section, from all results that are kept.
pub fn publish(packages: &[Package], home: &Path) -> Result<()> {
    let kept: Vec<(&Package, Kept)> = packages
        .iter()
        .filter_map(|package| Some((package, Kept::read(&home.join(&package.name).join("result.json"))?)))
        .collect();
    let file = shell::root().join("docs/benchmarks.md");
    let text =
        fs::read_to_string(&file).map_err(|error| format!("failed to read {}: {error}", file.display()))?;
    shell::write(&file, with_section(&text, &section(&kept)))
}

fn section(kept: &[(&Package, Kept)]) -> String {
    let good = kept.iter().filter(|(_, kept)| kept.outcome.as_ref().is_ok_and(Tested::good)).count();
    let mut text = format!(
        "{HEADING}`cargo xtask real`, {}. Source packages of Debian 12,\nbuilt by `relapse cc` with `-O2 -g`; \
         their own tests, plain and recorded. {good} of {} have the same verdicts\nand replay exactly in every \
         process. Times are those of one run.\n\n\
         | package | verdicts | exact processes | opaque calls | recorded / plain | MB | replay s | commit |\n\
         |---|---|---|---|---|---|---|---|\n",
        publish::machine(),
        kept.len()
    );
    for (package, kept) in kept {
        text += &row(package, kept);
        text.push('\n');
    }
    text += "\nWhat was run:\n\n";
    for (package, _) in kept {
        text += &format!("* {}: {}\n", package.name, package.scope);
    }
    let mut failures = String::new();
    for (package, kept) in kept {
        match &kept.outcome {
            Err(reason) => failures += &format!("* {}: {}\n", package.name, short(reason)),
            Ok(tested) => {
                for reason in tested.reasons.iter().take(3) {
                    failures += &format!("* {} ({}): {}\n", package.name, reason.times, short(&reason.text));
                }
            }
        }
    }
    if !failures.is_empty() {
        text += &format!("\nWhat falls short, and for how many processes:\n\n{failures}");
    }
    text
}

/// One line without paths of this machine.
fn short(text: &str) -> String {
    let root = shell::target().display().to_string();
    let line = text.lines().next().unwrap_or_default().replace(&root, "target");
    line.chars().take(200).collect()
}

/// The document with the section put in the place of the old one, or at the end.
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
    fn the_section_takes_the_place_of_the_old_one() {
        let new = format!("{HEADING}new\n");
        let first = with_section("# A\n\ntext\n", &new);
        assert_eq!(first, format!("# A\n\ntext\n\n{new}"));
        assert_eq!(with_section(&first, &new), first);
        let between = format!("# A\n\n{HEADING}old\n\n## B\ntext\n");
        assert_eq!(with_section(&between, &new), format!("# A\n\n{new}\n## B\ntext\n"));
    }
}

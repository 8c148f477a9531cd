//! Stores figures in `target/bench/NAME.md`, with the commit and the machine.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::shell::{self, Result};

/// Writes the report of a bench, prints it, and prints its path.
pub fn publish(name: &str, text: &str) -> Result<()> {
    let (path, report) = store(name, text)?;
    println!("{report}");
    println!("written to {}", path.display());
    Ok(())
}

/// Writes the report of a bench, complete or not. Returns its path and text.
pub fn store(name: &str, text: &str) -> Result<(PathBuf, String)> {
    let path = shell::target().join("bench").join(name).with_added_extension("md");
    let report = insert_origin(text, &origin());
    shell::write(&path, &report)?;
    Ok((path, report))
}

/// Inserts the commit and the machine below the title.
fn insert_origin(text: &str, origin: &str) -> String {
    let (title, rest) = text.split_once("\n\n").unwrap_or(("", text));
    if title.starts_with('#') {
        format!("{title}\n\n{origin}\n\n{rest}")
    } else {
        format!("{origin}\n\n{text}")
    }
}

fn origin() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown").to_owned();
    format!("Commit {}; {}; load at the end {load}.", commit(), machine())
}

/// The current commit, and whether there are uncommitted changes.
pub fn commit() -> String {
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).current_dir(shell::root()).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()).filter(|_| output.status.success())
    };
    let commit = git(&["log", "-1", "--format=%h (%cs)"]).unwrap_or_else(|| "unknown".to_owned());
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", "crates"])
        .is_some_and(|list| !list.is_empty());
    format!("{commit}{}", if changed { " with local changes" } else { "" })
}

/// The processor and the number of its cores.
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, name)| name);
    format!("{cores} cores of {model}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_stands_below_the_title() {
        assert_eq!(insert_origin("# Title\n\ntext\n", "here"), "# Title\n\nhere\n\ntext\n");
        assert_eq!(insert_origin("text\n\nmore", "here"), "here\n\ntext\n\nmore");
    }
}

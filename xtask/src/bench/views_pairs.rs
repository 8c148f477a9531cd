//! Many small pairs of versions, for the quality of comparisons: the regressions of this repository, and
//! random programs in which one number was changed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::views::{Baseline, diff, pair};
use super::views_table::Pair;
use crate::cases::{self, Case};
use crate::shell::{self, Result};
use crate::tools::{DEFAULT_TIMEOUT, Tools};

/// The number of random programs; some run too long or behave the same.
const RANDOM_PROGRAMS: u64 = 12;
const RUN_LIMIT: Duration = Duration::from_secs(1);
/// The exit code of `timeout` when the time was up.
const TIMED_OUT: i32 = 124;

/// The pairs by name.
pub fn measure(tools: &Tools, baseline: &Baseline) -> Result<Vec<(String, Pair)>> {
    let home = shell::target().join("bench/views");
    let mut out = Vec::new();
    for case in Case::all(&cases::home())? {
        let dir = home.join(&case.name);
        case.lay_out(&dir)?;
        let mut recordings = Vec::new();
        for version in ["good", "bad"] {
            let tree = dir.join(version);
            let mut make = Command::new("sh");
            make.args(["-c", &case.build]).current_dir(&tree).env("CC", &tools.cc);
            if !shell::capture(&mut make, DEFAULT_TIMEOUT)?.status.success() {
                break;
            }
            recordings.extend(record(tools, &tree, &["sh", "-c", &case.test])?);
        }
        out.extend(compared(tools, baseline, &case.name, &recordings));
    }
    for seed in 1..=RANDOM_PROGRAMS {
        let dir = home.join(format!("random-{seed}"));
        shell::create_empty_dir(&dir)?;
        if let Some(recordings) = random(tools, &dir, seed)? {
            out.extend(compared(tools, baseline, &format!("random-{seed}"), &recordings));
        }
    }
    Ok(out)
}

/// Records a command in a tree, if it ends in time.
fn record(tools: &Tools, tree: &Path, words: &[&str]) -> Result<Option<PathBuf>> {
    let recording = tree.join("recording");
    let mut command = Command::new("timeout");
    command.arg(RUN_LIMIT.as_secs().to_string()).arg(&tools.relapse);
    command.args(["record", "--quiet", "-o"]).arg(&recording).arg("--").args(words).current_dir(tree);
    let outcome = shell::capture(&mut command, DEFAULT_TIMEOUT)?;
    // A run that hangs would fill the recording with repeated events.
    let stopped = outcome.status.code() == Some(TIMED_OUT);
    Ok((recording.exists() && !stopped).then_some(recording))
}

fn compared(
    tools: &Tools,
    baseline: &Baseline,
    name: &str,
    recordings: &[PathBuf],
) -> Option<(String, Pair)> {
    if recordings.len() < 2 {
        eprintln!("== {name} was not recorded");
        return None;
    }
    let views = diff(tools, recordings, &[]).ok()?.0;
    let lcs = baseline.compare(recordings)?;
    let found = pair(&views, Some(lcs));
    eprintln!("== {name}: {} events, {} differences", found.events, found.differences);
    (found.differences > 0.0 || lcs.0 > 0.0).then(|| (name.to_owned(), found))
}

/// A program by csmith, and a copy with one changed number.
fn random(tools: &Tools, dir: &Path, seed: u64) -> Result<Option<Vec<PathBuf>>> {
    let mut csmith = Command::new("csmith");
    csmith.args(["--seed", &seed.to_string(), "--max-funcs", "6", "--output", "old.c"]).current_dir(dir);
    if !shell::capture(&mut csmith, Duration::from_secs(60))?.status.success() {
        return Ok(None);
    }
    let source =
        std::fs::read_to_string(dir.join("old.c")).map_err(|e| format!("failed to read old.c: {e}"))?;
    shell::write(&dir.join("new.c"), changed(&source, seed))?;
    let mut recordings = Vec::new();
    for version in ["old", "new"] {
        let mut cc = Command::new(&tools.cc);
        cc.args(["-g", "-O1", "-w", "-I/usr/include/csmith", "-o", version, &format!("{version}.c")]);
        if !shell::capture(cc.current_dir(dir), DEFAULT_TIMEOUT)?.status.success() {
            return Ok(None);
        }
        let tree = dir.join(format!("{version}-run"));
        shell::create_empty_dir(&tree)?;
        let Some(recording) = record(tools, &tree, &[&format!("../{version}")])? else { return Ok(None) };
        recordings.push(recording);
    }
    Ok(Some(recordings))
}

/// The program with a changed number in its initial values and expressions.
fn changed(source: &str, seed: u64) -> String {
    let numbers: Vec<usize> = source.match_indices("0x").map(|m| m.0 + 2).collect();
    let Some(at) = numbers.get((seed as usize * 7919) % numbers.len().max(1)) else {
        return source.to_owned();
    };
    let mut text = source.as_bytes().to_vec();
    // The first digit: 1 becomes 2, F becomes 1.
    text[*at] = match text[*at] {
        digit @ b'0'..=b'8' => digit + 1,
        _ => b'1',
    };
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn one_digit_is_changed() {
        let source = "int x = 0x12, y = 0xFF; f(0x9);";
        for seed in 0..9 {
            let other = changed(source, seed);
            let differ = source.bytes().zip(other.bytes()).filter(|(a, b)| a != b).count();
            assert_eq!((differ, other.len()), (1, source.len()), "{other}");
        }
        assert_eq!(changed("none", 3), "none");
    }
}

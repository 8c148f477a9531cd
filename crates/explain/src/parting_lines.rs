//! Which lines only the failing test runs, and only one of two versions: compares the executed lines of four
//! recorded runs.
//!
//! This is the regression cause (D = (A − B) ∩ C, see [`views::cause`]) for lines: a line of the new version
//! that the failing test runs and the passing one does not, and that the old version does not run on the
//! failing test either; a line that the other three runs execute and this one skips; or a line of the old
//! version that only the failing test ran, and the new version does not. Rewritten code elsewhere, and
//! another layout of memory, hardly affect the result. Of a line with several statements, only those count
//! that begin at an executed location.

use crate::align::executed_places;
use program::names::is_library;
use replay::error::Result;
use replay::process::LoadedProcess;
use std::collections::{BTreeMap, BTreeSet};

/// How a line distinguishes the failing run of the new version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// Only this one of the four runs executes it.
    Added,
    /// The other three runs execute it.
    Skipped,
    /// A line of the old version: only its failing run of the four executes it.
    Removed,
}

/// A line that distinguishes the failing run of the new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartingLine {
    /// What the four runs have to do with the line.
    pub how: Parting,
    /// The function that executed it, as named in the model.
    pub function: String,
    /// The path of its file, as it was compiled.
    pub file: String,
    /// The line, from 1: in the old version if it was removed, else in the new one.
    pub line: u32,
    /// The source text without leading and trailing blanks.
    pub text: String,
}

/// The runs: the test that fails now, and one that passes, with both versions.
#[derive(Clone, Copy)]
pub struct FourRuns<'r> {
    /// The old version, with the test that fails in the new one.
    pub old: &'r LoadedProcess,
    /// The new version, with the test that fails in it.
    pub new: &'r LoadedProcess,
    /// The old version, with the passing test.
    pub old_passing: &'r LoadedProcess,
    /// The new version, with the passing test.
    pub new_passing: &'r LoadedProcess,
}

/// The lines, in the order of files and lines. `text` returns a line of a file with its leading blanks; lines
/// without a text, and those with only a brace, are not compared.
///
/// # Errors
/// If a run does not replay.
pub fn parting_lines(
    runs: FourRuns<'_>,
    text: &mut dyn FnMut(&str, u32) -> Option<String>,
) -> Result<Vec<PartingLine>> {
    let mut ran = |process: &LoadedProcess| -> Result<Ran> {
        let mut ran = Ran::default();
        for (function, file, line, column) in executed_places(process)? {
            if !is_library(&file)
                && let Some(text) = text(&file, line)
            {
                let rest = text.get((column as usize).saturating_sub(1)..).unwrap_or(&text).to_owned();
                let text = text.trim().to_owned();
                ran.add(PartingLine { how: Parting::Added, function, file, line, text }, column, &rest);
            }
        }
        Ok(ran)
    };
    let (old, new) = (ran(runs.old)?, ran(runs.new)?);
    let (old_passing, new_passing) = (ran(runs.old_passing)?, ran(runs.new_passing)?);
    let mut lines = new.without(&new_passing, &old);
    let mut add = |more: Vec<PartingLine>, how| {
        lines.extend(more.into_iter().map(|line| PartingLine { how, ..line }));
    };
    add(new_passing.skipped_by(&new, [&old, &old_passing]), Parting::Skipped);
    add(old.without(&old_passing, &new), Parting::Removed);
    Ok(lines)
}

/// What a run executed.
#[derive(Default)]
struct Ran {
    /// By file, line and column: the line, and its text from the column on without blanks.
    places: BTreeMap<(String, u32, u32), (PartingLine, String)>,
    /// The texts at the executed locations, by function.
    texts: BTreeMap<String, BTreeSet<String>>,
}

impl Ran {
    /// `rest`: the line from the column on.
    fn add(&mut self, line: PartingLine, column: u32, rest: &str) {
        if !rest.contains(char::is_alphanumeric) {
            return;
        }
        let rest: String = rest.split_whitespace().collect();
        self.texts.entry(line.function.clone()).or_default().insert(rest.clone());
        self.places.insert((line.file.clone(), line.line, column), (line, rest));
    }

    /// The lines with code that neither this version ran with the other test, nor the other version with this
    /// test.
    fn without(&self, passing: &Ran, other: &Ran) -> Vec<PartingLine> {
        self.beyond(passing, &|function, rest| !other.has(function, rest))
    }

    /// The lines with code that this run and the `others` of another version execute, and `run` of this
    /// version does not.
    fn skipped_by(&self, run: &Ran, others: [&Ran; 2]) -> Vec<PartingLine> {
        self.beyond(run, &|function, rest| others.iter().all(|other| other.has(function, rest)))
    }

    /// The lines with code that this run executes, another run of this version does not, and `keep` accepts.
    fn beyond(&self, run: &Ran, keep: &dyn Fn(&str, &str) -> bool) -> Vec<PartingLine> {
        let own = self.places.iter().filter(|(place, _)| !run.places.contains_key(*place));
        let kept = own.filter(|(_, (line, rest))| keep(&line.function, rest));
        let mut lines: Vec<PartingLine> = kept.map(|(_, (line, _))| line.clone()).collect();
        lines.dedup();
        lines
    }

    /// Whether the run executed code with this text in the function; if it did not run the function, in any
    /// function.
    fn has(&self, function: &str, rest: &str) -> bool {
        match self.texts.get(function) {
            Some(texts) => texts.contains(rest),
            None => self.texts.values().any(|texts| texts.contains(rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(lines: &[(&str, u32, u32, &str)]) -> Ran {
        let mut ran = Ran::default();
        for &(function, line, column, rest) in lines {
            let (function, file, text) = (function.to_owned(), "a.c".to_owned(), rest.to_owned());
            ran.add(PartingLine { how: Parting::Added, function, file, line, text }, column, rest);
        }
        ran
    }

    #[test]
    fn what_the_other_version_runs_at_another_line_or_in_a_renamed_function_does_not_set_a_run_apart() {
        let new = ran(&[
            ("read", 3, 1, "x = f( 1 );"),
            ("read", 4, 1, "return NULL;"),
            ("renamed", 9, 1, "free(p);"),
            ("renamed", 10, 1, "}"),
            ("main", 12, 1, "if (s) puts(s);"),
            ("main", 12, 8, "puts(s);"),
        ]);
        let passing = ran(&[("main", 12, 1, "if (s) puts(s);")]);
        let old =
            ran(&[("read", 7, 5, "x = f(1);"), ("drop", 20, 1, "free(p);"), ("drop", 21, 1, "return NULL;")]);
        let lines: Vec<u32> = new.without(&passing, &old).iter().map(|line| line.line).collect();
        assert_eq!(lines, [4, 12]);
    }

    #[test]
    fn what_all_other_runs_execute_is_skipped() {
        let all = [("read", 3, 1, "x = f();"), ("read", 4, 5, "set(x);"), ("main", 9, 1, "read();")];
        let (old, passing, old_passing) = (ran(&all), ran(&all), ran(&all));
        let new = ran(&[all[0], all[2]]);
        let lines: Vec<u32> = passing.skipped_by(&new, [&old, &old_passing]).iter().map(|l| l.line).collect();
        assert_eq!(lines, [4]);
        // The old version does not run it with the failing test either: this path is a property of the test.
        assert!(passing.skipped_by(&new, [&ran(&[all[0]]), &old_passing]).is_empty());
    }
}

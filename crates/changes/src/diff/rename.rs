//! Detects files that have a different name in bad.
//!
//! Only deleted and added files are considered. Equal contents are paired first, then contents that share
//! most of their lines. An index of lines keeps this linear in practice: two files are compared only if they
//! share a line that few other files have.

use super::state::FileState;
use std::collections::{BTreeMap, HashMap};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// A line that occurs in more files than this does not identify a file.
const MAX_FILES_PER_LINE: usize = 32;

type Files = BTreeMap<String, FileState>;

/// Pairs (name in good, name in bad); each name occurs at most once.
pub(super) fn renamed(gone: &Files, new: &Files) -> Vec<(String, String)> {
    let mut pairs = same_content(gone, new);
    let mut left_gone: BTreeMap<&str, &[u8]> = texts(gone);
    let mut left_new: BTreeMap<&str, &[u8]> = texts(new);
    for (old, new) in &pairs {
        left_gone.remove(old.as_str());
        left_new.remove(new.as_str());
    }
    pairs.extend(alike(&left_gone, &left_new));
    pairs
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn same_content(gone: &Files, new: &Files) -> Vec<(String, String)> {
    let mut by_content: HashMap<u128, Vec<&str>> = HashMap::new();
    for (path, state) in gone {
        if let FileState::Content { bytes, .. } = state
            && !bytes.is_empty()
        {
            by_content.entry(xxh3_128(bytes)).or_default().push(path);
        }
    }
    let mut pairs = Vec::new();
    // Equal base names first, so that the files of a moved directory with equal contents are paired in order.
    for same_base in [true, false] {
        for (path, state) in new {
            let FileState::Content { bytes, .. } = state else { continue };
            if pairs.iter().any(|(_, taken): &(String, String)| taken == path) {
                continue;
            }
            let Some(olds) = by_content.get_mut(&xxh3_128(bytes)) else { continue };
            let chosen = olds.iter().position(|old| !same_base || base(old) == base(path));
            if let Some(chosen) = chosen {
                pairs.push((olds.remove(chosen).to_owned(), path.clone()));
            }
        }
    }
    pairs
}

fn texts(files: &Files) -> BTreeMap<&str, &[u8]> {
    files
        .iter()
        .filter_map(|(path, state)| match state {
            FileState::Content { bytes, .. } if super::pair::is_text(bytes) => {
                Some((path.as_str(), &**bytes))
            }
            _ => None,
        })
        .collect()
}

/// Number of occurrences of each line with more than three characters.
fn line_counts(text: &[u8]) -> HashMap<u64, u32> {
    let mut counts = HashMap::new();
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| line.len() > 3) {
        *counts.entry(xxh3_64(line)).or_default() += 1;
    }
    counts
}

fn alike(gone: &BTreeMap<&str, &[u8]>, new: &BTreeMap<&str, &[u8]>) -> Vec<(String, String)> {
    if gone.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let olds: Vec<(&str, HashMap<u64, u32>)> =
        gone.iter().map(|(path, text)| (*path, line_counts(text))).collect();
    let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
    for (number, (_, counts)) in olds.iter().enumerate() {
        for line in counts.keys() {
            index.entry(*line).or_default().push(number);
        }
    }
    let mut found = Vec::new();
    for (path, text) in new {
        let counts = line_counts(text);
        let total: u32 = counts.values().sum();
        let mut near: Vec<usize> = counts
            .keys()
            .filter_map(|line| index.get(line).filter(|files| files.len() <= MAX_FILES_PER_LINE))
            .flatten()
            .copied()
            .collect();
        near.sort_unstable();
        near.dedup();
        for number in near {
            let (old, old_counts) = &olds[number];
            let shared: u32 = counts
                .iter()
                .map(|(line, count)| (*count).min(old_counts.get(line).copied().unwrap_or(0)))
                .sum();
            let larger = total.max(old_counts.values().sum());
            // At least 60 % of the lines of the larger file are shared (git's default is 50 %).
            if larger > 0 && u64::from(shared) * 10 >= u64::from(larger) * 6 {
                let score = u64::from(shared) * 10_000 / u64::from(larger);
                found.push((score, base(old) == base(path), *old, *path));
            }
        }
    }
    found.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then((a.2, a.3).cmp(&(b.2, b.3))));
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut taken = std::collections::HashSet::new();
    for (_, _, old, new) in found {
        if !taken.contains(&(false, old)) && !taken.contains(&(true, new)) {
            taken.insert((false, old));
            taken.insert((true, new));
            pairs.push((old.to_owned(), new.to_owned()));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> Files {
        list.iter()
            .map(|(path, text)| {
                ((*path).to_owned(), FileState::Content { bytes: text.as_bytes().into(), mode: 0o644 })
            })
            .collect()
    }

    fn pair(old: &str, new: &str) -> (String, String) {
        (old.to_owned(), new.to_owned())
    }

    #[test]
    fn equal_contents_prefer_equal_names() {
        let gone = files(&[("a/x.c", "same\n"), ("a/y.c", "same\n")]);
        let new = files(&[("b/y.c", "same\n"), ("b/x.c", "same\n")]);
        let mut found = renamed(&gone, &new);
        found.sort();
        assert_eq!(found, [pair("a/x.c", "b/x.c"), pair("a/y.c", "b/y.c")]);
    }

    #[test]
    fn most_lines_in_common_are_enough() {
        let gone =
            files(&[("old.c", "line one\nline two\nline three\nline four\nline five\n"), ("z", "other\n")]);
        let new =
            files(&[("new.c", "line one\nline two\nline 3\nline four\nline five\n"), ("q", "unlike\n")]);
        assert_eq!(renamed(&gone, &new), [pair("old.c", "new.c")]);
        let new = files(&[("new.c", "line one\nline 2\nline 3\nline 4\nline five\n")]);
        assert_eq!(renamed(&gone, &new), []);
    }

    #[test]
    fn empty_files_are_never_renamed() {
        assert_eq!(renamed(&files(&[("a", "")]), &files(&[("b", "")])), []);
    }
}

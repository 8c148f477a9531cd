//! Tests of whole differences: of random texts and trees, and of small constructed ones.

use super::*;
use crate::change::{ChangeClass, ChangeKind};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

type Files = BTreeMap<String, Vec<u8>>;

fn write(files: &Files) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    root
}

fn files(list: &[(&str, &str)]) -> Files {
    list.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

fn compare(good: &Files, bad: &Files) -> Difference {
    difference(write(good).path(), write(bad).path(), &DiffOptions::default()).unwrap()
}

/// Bad with some changes reverted, as plain bytes.
fn reverted(difference: &Difference, bad: &Files, set: &ChangeSet) -> Files {
    let mut result = bad.clone();
    for (path, state) in difference.tree(set) {
        match state {
            FileState::Absent => drop(result.remove(&path)),
            FileState::Content { bytes, .. } => drop(result.insert(path, bytes.to_vec())),
            FileState::Link { .. } => panic!("no links here"),
        }
    }
    result
}

fn subset(difference: &Difference, bits: u64) -> ChangeSet {
    difference.changes().iter().map(|change| change.id).filter(|id| bits >> (id.0 % 64) & 1 == 1).collect()
}

/// Reverts the line changes of one text using the fields of [`Change`], from the last to the first: an
/// independent implementation to compare with `tree`.
fn revert_by_lines(difference: &Difference, good: &[u8], bad: &[u8], set: &ChangeSet) -> Vec<u8> {
    let lines = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (old, mut new) = (lines(good), lines(bad));
    for change in difference.changes().iter().rev().filter(|change| set.contains(&change.id)) {
        let from_zero = |start: u32, lines: &[String]| {
            let start = if lines.is_empty() { start as usize } else { start as usize - 1 };
            start..start + lines.len()
        };
        let mine = from_zero(change.old_start, &change.old_lines);
        new.splice(from_zero(change.new_start, &change.new_lines), old[mine].iter().cloned());
    }
    new.concat()
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("int a = f(b, 1);"),
        Just("int a = f(b, 2);"),
        Just("  int a = f(b, 2); // two"),
        Just("if (a) {"),
        Just("}"),
        Just(""),
        Just("/* open"),
        Just("close */ x;"),
        Just("#if A"),
        Just("#endif"),
        Just("return a +"),
        Just("\"quote"),
        Just("static int g(void)"),
    ]
    .prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let ended = (
        proptest::collection::vec((line(), prop_oneof![4 => Just("\n"), 1 => Just("\r\n")]), 0..24),
        any::<bool>(),
    )
        .prop_map(|(lines, last)| {
            let mut text: String = lines.into_iter().map(|(line, end)| line + end).collect();
            if last {
                text.push_str("the end");
            }
            text.into_bytes()
        });
    let raw = proptest::collection::vec(
        prop_oneof![Just(b'\n'), Just(b'\''), Just(b'"'), Just(b'#'), any::<u8>()],
        0..60,
    );
    prop_oneof![5 => ended, 1 => raw]
}

fn tree() -> impl Strategy<Value = Files> {
    let name = prop_oneof![
        Just("a.c"),
        Just("b.h"),
        Just("dir/a.c"),
        Just("dir"),
        Just("Makefile"),
        Just("x.py"),
        Just("data"),
    ];
    proptest::collection::btree_map(name.prop_map(str::to_owned), text(), 0..6).prop_map(|mut files| {
        if files.contains_key("dir/a.c") {
            files.remove("dir");
        }
        files
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn texts_come_back_byte_by_byte(good in text(), bad in text(), name in prop_oneof![Just("a.c"), Just("Makefile"), Just("a.py"), Just("a.rs"), Just("a.js"), Just("data")], a: u64, b: u64) {
        let state = |bytes: &[u8]| FileState::Content { bytes: bytes.into(), mode: 0o644 };
        let side = |bytes| (Some(name.to_owned()), state(bytes));
        let difference = Difference::new(vec![Pair::new(side(&good), side(&bad)).unwrap()]);
        let content = |set: &ChangeSet| match difference.tree(set).remove(name) {
            Some(FileState::Content { bytes, .. }) => bytes.to_vec(),
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(content(&ChangeSet::new()), bad.clone());
        prop_assert_eq!(content(&difference.all()), good.clone());
        let (a, b) = (subset(&difference, a), subset(&difference, b));
        let union: ChangeSet = a.union(&b).copied().collect();
        if difference.changes().iter().all(|change| change.kind == ChangeKind::Lines) {
            prop_assert_eq!(content(&union), revert_by_lines(&difference, &good, &bad, &union));
        }
        // Equal trees, and only those, have equal keys.
        prop_assert_eq!(content(&a) == content(&b), difference.key(&a) == difference.key(&b));
        // Reverting A and then the remainder of B equals reverting both: the remaining difference to good
        // consists of the same lines.
        let rest = Difference::new(vec![Pair::new(side(&good), side(&content(&union))).unwrap()]);
        prop_assert_eq!(rest.is_empty(), content(&union) == good);
    }

    #[test]
    fn unchanged_lines_map_both_ways(good in text(), bad in text(), bits: u64) {
        let state = |bytes: &[u8]| FileState::Content { bytes: bytes.into(), mode: 0o644 };
        let pair = Pair::new((Some("old.c".to_owned()), state(&good)), (Some("new.c".to_owned()), state(&bad)));
        let difference = Difference::new(vec![pair.unwrap()]);
        prop_assume!(difference.changes().iter().all(|change| change.kind != ChangeKind::Binary));
        unchanged_lines_map(&difference, "old.c", &good, &bad)?;
        let some = subset(&difference, bits);
        let left = difference.to_reverted(&some);
        prop_assert_eq!(left.all(), some.clone());
        let tree = difference.tree(&some);
        let (name, state) = tree.iter().find(|(_, state)| **state != FileState::Absent).unwrap();
        let FileState::Content { bytes, .. } = state else { panic!("{state:?}") };
        if !some.is_empty() {
            unchanged_lines_map(&left, name, bytes, &bad)?;
        }
        // Reverting the remainder gives the same result.
        let again = left.tree(&left.all());
        prop_assert_eq!(again.get(name).unwrap_or(state), state);
    }
}

/// Whether lines that no change touches are equal on both sides.
fn unchanged_lines_map(
    difference: &Difference,
    old_name: &str,
    good: &[u8],
    bad: &[u8],
) -> std::result::Result<(), TestCaseError> {
    let lines = |text: &[u8]| -> Vec<Vec<u8>> {
        text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (old, new) = (lines(good), lines(bad));
    for (number, line) in (1..).zip(&new) {
        match difference.map_line_to_good("new.c", number) {
            Some((file, there)) => {
                prop_assert_eq!(file, old_name);
                prop_assert_eq!(&old[there as usize - 1], line);
                prop_assert_eq!(
                    difference.map_line_to_bad(old_name, there),
                    Some(("new.c".to_owned(), number))
                );
                prop_assert!(difference.touching("new.c", number).is_none());
            }
            None => {
                let change = difference.touching("new.c", number).unwrap();
                prop_assert!(change.new_range().contains(&number));
                let shown = &change.new_lines[(number - change.new_start) as usize];
                let text = line.strip_suffix(b"\n").unwrap_or(line);
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                prop_assert_eq!(shown.clone(), String::from_utf8_lossy(text).into_owned());
            }
        }
        if let Some((_, there)) = difference.counterpart_in_good("new.c", number) {
            prop_assert!((1..=old.len()).contains(&(there as usize)));
        }
    }
    for number in 1..=u32::try_from(old.len()).unwrap() {
        let mapped = difference.map_line_to_bad(old_name, number).is_some();
        prop_assert_ne!(mapped, difference.touching_old(old_name, number).is_some());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn trees_come_back(good in tree(), bad in tree(), bits: u64) {
        let difference = compare(&good, &bad);
        prop_assert_eq!(reverted(&difference, &bad, &ChangeSet::new()), bad.clone());
        prop_assert_eq!(reverted(&difference, &bad, &difference.all()), good.clone());
        prop_assert_eq!(difference.is_empty(), good == bad);
        for (number, change) in difference.changes().iter().enumerate() {
            prop_assert_eq!(change.id.0 as usize, number);
        }
        // Every result can be written to disk: no file is also a directory.
        let some = reverted(&difference, &bad, &subset(&difference, bits));
        prop_assert!(!(some.contains_key("dir") && some.contains_key("dir/a.c")));
    }
}

#[test]
fn renamed_files_and_their_lines_are_separate_changes() {
    let text = "int one(void);\nint two(void);\nint three(void);\nint four(void);\nint five(void);\n";
    let good = files(&[("old/name.h", text), ("same.c", "x\n")]);
    let bad = files(&[("new/name.h", &text.replace("three", "drei")), ("same.c", "x\n")]);
    let difference = compare(&good, &bad);
    let kinds: Vec<ChangeKind> = difference.changes().iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [ChangeKind::Renamed, ChangeKind::Lines]);
    assert_eq!(difference.changes()[1].old_file.as_deref(), Some("old/name.h"));
    let only_name = reverted(&difference, &bad, &ChangeSet::from([ChangeId(0)]));
    assert_eq!(only_name["old/name.h"], bad["new/name.h"]);
    assert!(!only_name.contains_key("new/name.h"));
    let only_line = reverted(&difference, &bad, &ChangeSet::from([ChangeId(1)]));
    assert_eq!(only_line["new/name.h"], text.as_bytes());
    assert_eq!(difference.map_line_to_good("new/name.h", 4), Some(("old/name.h".to_owned(), 4)));
    assert_eq!(difference.map_line_to_good("new/name.h", 3), None);
    assert_eq!(difference.counterpart_in_good("new/name.h", 3), Some(("old/name.h".to_owned(), 3)));
    assert_eq!(difference.map_line_to_good("same.c", 1), Some(("same.c".to_owned(), 1)));
}

#[test]
fn every_change_is_part_of_a_hunk() {
    let good = files(&[
        ("Makefile", "one: 1 a b\ntwo: 2 a b\nthree: 3 a b\n\nfour: 4 a b\nfive: 5 a b\n"),
        ("old.c", "int x;\n"),
    ]);
    let bad = files(&[
        ("Makefile", "one: 9 a b\ntwo: 8 a b\nthree: 7 a b\n\nfour: 6 a b\nfive: 5 a b\nsix\n"),
        ("new.c", "int unlike;\n"),
    ]);
    let difference = compare(&good, &bad);
    let hunks: Vec<(&str, usize)> =
        difference.hunks().iter().map(|hunk| (hunk.file.as_str(), hunk.changes.len())).collect();
    // The blank line does not split the first hunk, the line `five` does.
    assert_eq!(hunks, [("Makefile", 4), ("Makefile", 1), ("new.c", 1), ("old.c", 1)]);
    for (number, hunk) in difference.hunks().iter().enumerate() {
        assert_eq!(hunk.id.0 as usize, number);
        assert!(hunk.changes.iter().all(|id| difference.change(*id).hunk == hunk.id));
    }
}

#[test]
fn modes_links_and_binary_files() {
    let good =
        write(&files(&[("run.sh", "echo\n"), ("data.bin", "\0a"), ("kind", "text\n"), ("tool/own", "1")]));
    let bad = write(&files(&[("run.sh", "echo\n"), ("data.bin", "\0b"), ("tool/own", "2"), (".git/x", "y")]));
    fs::set_permissions(bad.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("elsewhere", bad.path().join("kind")).unwrap();
    symlink("one", good.path().join("link")).unwrap();
    symlink("two", bad.path().join("link")).unwrap();
    let options = DiffOptions { ignore: vec!["tool".into()], ..DiffOptions::default() };
    let difference = difference(good.path(), bad.path(), &options).unwrap();
    let kinds: Vec<(&str, ChangeKind)> =
        difference.changes().iter().map(|change| (change.file.as_str(), change.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("data.bin", ChangeKind::Binary),
            ("kind", ChangeKind::Mode),
            ("link", ChangeKind::Mode),
            ("run.sh", ChangeKind::Mode)
        ]
    );
    let tree = difference.tree(&difference.all());
    assert_eq!(tree["link"], FileState::Link { target: "one".into() });
    assert!(matches!(&tree["kind"], FileState::Content { bytes, .. } if **bytes == *b"text\n"));
    assert!(matches!(&tree["run.sh"], FileState::Content { mode, .. } if mode & 0o111 == 0));
    let tree = difference.tree(&ChangeSet::new());
    assert_eq!(tree["kind"], FileState::Link { target: "elsewhere".into() });
}

#[test]
fn what_matters_and_what_does_not() {
    let good = files(&[
        ("a.c", "int a;\nint f(void)\n{\n  return 1;\n}\n/* note */\nint last;\n"),
        ("Makefile", "all:\n\tcc a.c\n"),
        ("c.c", "int x;\nint y;\nint z;\n"),
    ]);
    let bad = files(&[
        ("a.c", "int  a;\nint f(void)\n{\n  return 2;\n}\n/* notes */\nint last;\n"),
        ("Makefile", "all:\n\tcc  a.c\n"),
        ("c.c", "int x;/*\nint y;\n*/int z;\n"),
    ]);
    let difference = compare(&good, &bad);
    let matters: Vec<(&str, u32, ChangeClass)> = difference
        .changes()
        .iter()
        .map(|change| (change.file.as_str(), change.new_start, change.matter))
        .collect();
    assert_eq!(
        matters,
        [
            ("Makefile", 2, ChangeClass::Substance),
            ("a.c", 1, ChangeClass::Space),
            ("a.c", 4, ChangeClass::Substance),
            ("a.c", 6, ChangeClass::Comment),
            // They comment out the line between them.
            ("c.c", 1, ChangeClass::Substance),
            ("c.c", 3, ChangeClass::Substance),
        ]
    );
    assert_eq!(difference.changes()[2].heading, "int f(void)");
    let summary = difference.summary();
    assert_eq!((summary.changes, summary.substantial, summary.files.len()), (6, 4, 3));
    let json = serde_json::to_string(&summary).unwrap();
    assert!(json.contains(r#""kind":"lines""#), "{json}");
}

#[test]
fn moved_blocks_are_seen_across_files() {
    let block = "static int helper(int x)\n{\n  return x * 2 + 1;\n}\n";
    let good = files(&[("a.c", &format!("int a;\n{block}int b;\n")), ("b.c", "int c;\nint d;\n")]);
    let bad = files(&[("a.c", "int a;\nint b;\n"), ("b.c", &format!("int c;\n{block}int d;\n"))]);
    let difference = compare(&good, &bad);
    let matters: Vec<ChangeClass> = difference.changes().iter().map(|change| change.matter).collect();
    assert_eq!(matters, [ChangeClass::Moved, ChangeClass::Moved]);
    assert_eq!(difference.deleted_near("a.c", 1).count(), 1);
    assert_eq!(difference.deleted_near("a.c", 2).count(), 1);
    assert_eq!(difference.deleted_near("a.c", 3).count(), 0);
}

#[test]
fn what_cannot_be_read_is_named() {
    let good = write(&files(&[("a", "1")]));
    let missing = good.path().join("missing");
    let error = difference(good.path(), &missing, &DiffOptions::default()).err().unwrap();
    assert!(error.to_string().starts_with("read "), "{error}");
    assert!(error.to_string().contains("missing"), "{error}");
}

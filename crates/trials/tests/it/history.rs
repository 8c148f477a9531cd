//! Tests of bisecting and blaming in real repositories.

use crate::sandbox::{git, state};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use trials::{History, Repository, Verdict, commit_of_change};

/// Parents of a commit, and paths and texts of its files.
type Node = (Vec<usize>, Vec<(String, String)>);
type Files<'a> = &'a [(&'a str, &'a str)];

/// A repository whose commit number `i` has these parents (smaller numbers) and files.
struct Made {
    _dir: tempfile::TempDir,
    root: PathBuf,
    ids: Vec<String>,
}

fn make(commits: &[Node]) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    let mut stream = String::new();
    for (i, (parents, files)) in commits.iter().enumerate() {
        let subject = format!("commit {i}");
        writeln!(stream, "commit refs/heads/main\nmark :{}", i + 1).unwrap();
        writeln!(stream, "committer t <t@example.com> {} +0000", 1_700_000_000 + i * 86_400).unwrap();
        writeln!(stream, "data {}\n{subject}", subject.len()).unwrap();
        for (n, parent) in parents.iter().enumerate() {
            writeln!(stream, "{} :{}", if n == 0 { "from" } else { "merge" }, parent + 1).unwrap();
        }
        stream.push_str("deleteall\n");
        for (path, text) in files {
            writeln!(stream, "M 100644 inline {path}\ndata {}\n{text}", text.len()).unwrap();
        }
    }
    let marks = dir.path().join("marks");
    let mut import = Command::new("git");
    import.arg("-C").arg(&root).args(["fast-import", "--quiet", "--force"]);
    import.arg(format!("--export-marks={}", marks.display())).stdin(Stdio::piped());
    let mut import = import.spawn().unwrap();
    import.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    let mut ids = vec![String::new(); commits.len()];
    for line in fs::read_to_string(marks).unwrap().lines() {
        let (mark, id) = line.strip_prefix(':').unwrap().split_once(' ').unwrap();
        ids[mark.parse::<usize>().unwrap() - 1] = id.to_owned();
    }
    Made { _dir: dir, root, ids }
}

fn line_of(n: usize) -> Vec<Node> {
    let parents = |i: usize| if i == 0 { vec![] } else { vec![i - 1] };
    (0..n).map(|i| (parents(i), vec![("n".to_owned(), format!("{i}\n"))])).collect()
}

fn with_files(commits: &[(&[usize], Files)]) -> Made {
    let owned = |files: Files| files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
    make(&commits.iter().map(|(parents, files)| (parents.to_vec(), owned(files))).collect::<Vec<_>>())
}

impl Made {
    fn history(&self, good: usize, bad: usize) -> Option<History> {
        let repository = Repository::around(&self.root).unwrap();
        History::between(&repository, &self.ids[good], &self.ids[bad]).unwrap()
    }

    fn number(&self, id: &str) -> usize {
        self.ids.iter().position(|i| i == id).unwrap()
    }

    /// Bisects to the end; returns the numbers of the tested commits.
    fn bisect(&self, history: &mut History, verdict: impl Fn(usize) -> Verdict) -> Vec<usize> {
        let mut asked = Vec::new();
        while let Some(commit) = history.next().unwrap() {
            assert_eq!(history.culprit(), None);
            let number = self.number(&commit.id);
            assert!(!asked.contains(&number), "twice");
            asked.push(number);
            assert!(history.mark(&commit.id, verdict(number)));
        }
        asked
    }

    fn brought(
        &self,
        good: usize,
        bad: usize,
        new: (&str, u32, u32),
        old: (&str, u32, u32),
    ) -> Option<usize> {
        let repository = Repository::around(&self.root).unwrap();
        let (good, bad) = (&self.ids[good], &self.ids[bad]);
        let found = commit_of_change(&repository, good, bad, new.0, old.0, old.1..old.2, new.1..new.2);
        found.map(|c| self.number(&c.id))
    }
}

fn first_bad(from: usize) -> impl Fn(usize) -> Verdict {
    move |n| if n >= from { Verdict::Bad } else { Verdict::Good }
}

/// The result of `git bisect run` in a clone.
fn git_says(made: &Made, good: usize, bad: usize, culprit: usize) -> usize {
    let clone = made.root.with_file_name("clone");
    git(made.root.parent().unwrap(), &["clone", "-q", "project", "clone"]);
    git(&clone, &["bisect", "start", &made.ids[bad], &made.ids[good]]);
    let script = format!("test $(cat n) -lt {culprit}");
    let output = git(&clone, &["bisect", "run", "sh", "-c", &script]);
    let line = output.lines().find(|l| l.ends_with("is the first bad commit")).unwrap();
    made.number(line.split(' ').next().unwrap())
}

#[test]
fn a_line_of_commits_is_halved() {
    let made = make(&line_of(65));
    let before = state(&made.root);
    let mut history = made.history(0, 64).unwrap();
    assert_eq!(history.remaining(), 64);
    let asked = made.bisect(&mut history, first_bad(37));
    assert!(asked.len() <= 6, "{asked:?}");
    let culprit = history.culprit().unwrap();
    assert_eq!((made.number(&culprit.commit.id), culprit.other_candidates.len()), (37, 0));
    assert_eq!(culprit.parents.first(), Some(&made.ids[36]));
    assert_eq!((culprit.commit.subject.as_str(), culprit.commit.date.as_str()), ("commit 37", "2023-12-21"));
    assert_eq!(history.remaining(), 1);
    assert_eq!(state(&made.root), before);
}

#[test]
fn neighbours_are_decided_at_once() {
    let made = make(&line_of(3));
    let history = made.history(1, 2).unwrap();
    assert_eq!(history.next().unwrap(), None);
    assert_eq!(made.number(&history.culprit().unwrap().commit.id), 2);
    assert!(made.history(2, 1).is_none(), "good is younger");
    assert!(made.history(1, 1).is_none());
}

#[test]
fn good_beside_bad_is_no_history() {
    let made = with_files(&[(&[], &[]), (&[0], &[("a", "1")]), (&[0], &[("b", "1")])]);
    assert!(made.history(1, 2).is_none());
    let repository = Repository::around(&made.root).unwrap();
    assert!(History::between(&repository, "nothing", &made.ids[0]).is_err());
}

#[test]
fn the_commit_of_a_branch_is_found_and_not_its_merge() {
    // 0 - 1 - 2 ------- 6(merge) - 7
    //      \- 3 - 4 - 5 /
    let parents: [&[usize]; 8] = [&[], &[0], &[1], &[1], &[3], &[4], &[2, 5], &[6]];
    let commits: Vec<_> = parents.iter().map(|p| (p.to_vec(), vec![])).collect();
    let made = make(&commits);
    let mut history = made.history(0, 7).unwrap();
    made.bisect(&mut history, |n| if [4, 5, 6, 7].contains(&n) { Verdict::Bad } else { Verdict::Good });
    assert_eq!(made.number(&history.culprit().unwrap().commit.id), 4);
    // Both sides are good, together they are bad.
    let mut history = made.history(0, 7).unwrap();
    made.bisect(&mut history, first_bad(6));
    let culprit = history.culprit().unwrap();
    assert_eq!(made.number(&culprit.commit.id), 6);
    assert_eq!(culprit.commit.parents, [made.ids[2].clone(), made.ids[5].clone()]);
    assert_eq!(culprit.parents.first(), Some(&made.ids[2]));
}

#[test]
fn broken_commits_are_left_in_strides() {
    let made = make(&line_of(201));
    let mut history = made.history(0, 200).unwrap();
    let broken = 80..120;
    let verdict = |n| if broken.contains(&n) { Verdict::Skip } else { first_bad(150)(n) };
    let asked = made.bisect(&mut history, verdict);
    assert_eq!(made.number(&history.culprit().unwrap().commit.id), 150);
    let wasted = asked.iter().filter(|n| broken.contains(n)).count();
    assert!(wasted <= 5, "{asked:?}");
}

#[test]
fn skipped_commits_before_the_first_bad_one_remain_candidates() {
    let made = make(&line_of(9));
    let mut history = made.history(0, 8).unwrap();
    made.bisect(&mut history, |n| if (3..=5).contains(&n) { Verdict::Skip } else { first_bad(4)(n) });
    let culprit = history.culprit().unwrap();
    assert_eq!(made.number(&culprit.commit.id), 6);
    let others: Vec<usize> = culprit.other_candidates.iter().map(|c| made.number(&c.id)).collect();
    assert_eq!(others, [5, 4, 3]);
    assert_eq!(culprit.parents.first(), Some(&made.ids[2]));
    assert_eq!(history.remaining(), 4);
    // A skipped commit may be tested later.
    assert!(history.mark(&made.ids[4], Verdict::Good));
    assert_eq!(history.culprit().unwrap().other_candidates.len(), 1);
}

#[test]
fn verdicts_that_say_nothing_are_told() {
    let made = make(&line_of(9));
    let mut history = made.history(1, 8).unwrap();
    assert!(history.mark(&made.ids[5], Verdict::Bad));
    assert!(!history.mark(&made.ids[6], Verdict::Good), "it has a bad one in it");
    assert!(!history.mark(&made.ids[6], Verdict::Bad));
    assert!(!history.mark(&made.ids[0], Verdict::Good), "older than good");
    assert!(history.mark(&made.ids[3], Verdict::Good));
    assert!(!history.mark(&made.ids[2], Verdict::Bad), "a good one has it");
    assert!(!history.mark(&made.ids[2], Verdict::Skip));
    assert_eq!(history.remaining(), 2);
}

#[test]
fn a_jump_is_taken_once() {
    let made = make(&line_of(65));
    let mut history = made.history(0, 64).unwrap();
    assert!(history.jump(&made.ids[60]));
    assert_eq!(made.bisect(&mut history, first_bad(60))[0], 60);
    assert!(!history.jump(&made.ids[61]));
    let mut history = made.history(0, 64).unwrap();
    assert!(history.jump(&made.ids[60]));
    history.mark(&made.ids[60], Verdict::Bad);
    assert!(history.jump(&made.ids[59]));
    assert_eq!(made.bisect(&mut history, first_bad(60)), [59]);
    assert_eq!(made.number(&history.culprit().unwrap().commit.id), 60);
}

#[test]
fn a_bisect_in_progress_is_taken_over() {
    for terms in [&["good", "bad"], &["fast", "slow"]] {
        let made = make(&line_of(65));
        let (old, new) = (format!("--term-old={}", terms[0]), format!("--term-new={}", terms[1]));
        git(&made.root, &["checkout", "-q", "main"]);
        git(&made.root, &["bisect", "start", &old, &new, &made.ids[64], &made.ids[0]]);
        git(&made.root, &["bisect", terms[1], &made.ids[40]]);
        git(&made.root, &["bisect", terms[0], &made.ids[20]]);
        git(&made.root, &["bisect", "skip", &made.ids[30]]);
        let log = fs::read_to_string(made.root.join(".git/BISECT_LOG")).unwrap();
        assert_eq!(log, git(&made.root, &["bisect", "log"]) + "\n");
        let mut history = made.history(0, 64).unwrap();
        assert_eq!(history.apply_log(&log).unwrap(), 3, "{log}");
        assert_eq!(history.remaining(), 20);
        let asked = made.bisect(&mut history, first_bad(33));
        assert!(!asked.contains(&30) && asked.iter().all(|n| (21..40).contains(n)), "{asked:?}");
        assert_eq!(made.number(&history.culprit().unwrap().commit.id), 33);
    }
}

#[test]
fn a_good_commit_of_another_branch_clears_what_both_have() {
    // 0 - 1 - 2 - 3 - 4, and 5 on top of 2
    let parents: [&[usize]; 6] = [&[], &[0], &[1], &[2], &[3], &[2]];
    let made = make(&parents.iter().map(|p| (p.to_vec(), vec![])).collect::<Vec<_>>());
    let mut history = made.history(0, 4).unwrap();
    assert_eq!(history.apply_log(&format!("git bisect good {}\n", made.ids[5])).unwrap(), 1);
    assert_eq!(history.remaining(), 2);
    assert_eq!(made.bisect(&mut history, first_bad(3)), [3]);
}

/// Each commit has one or two earlier ones as parents.
fn graphs() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec((0.0..1.0f64, prop::option::weighted(0.3, 0.0..1.0f64)), 3..40).prop_map(|nodes| {
        let pick = |i: usize, at: f64| i - 1 - ((at * at * i as f64) as usize).min(i - 1);
        let mut parents = vec![vec![]];
        for (i, (first, second)) in nodes.into_iter().enumerate() {
            let mut these = vec![pick(i + 1, first)];
            these.extend(second.map(|s| pick(i + 1, s)).filter(|s| *s != these[0]));
            parents.push(these);
        }
        // The last commit has all heads as parents.
        let used: BTreeSet<usize> = parents.iter().flatten().copied().collect();
        let heads: Vec<usize> = (0..parents.len()).filter(|i| !used.contains(i)).collect();
        parents.push(heads);
        parents
    })
}

fn ancestors(parents: &[Vec<usize>], of: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([of]);
    for i in (0..=of).rev() {
        if found.contains(&i) {
            found.extend(parents[i].iter().copied());
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn git_bisect_run_finds_the_same(n in 3_usize..40, at in 0.0..1.0f64) {
        let made = make(&line_of(n));
        let culprit = 1 + (at * (n - 1) as f64) as usize;
        let mut history = made.history(0, n - 1).unwrap();
        made.bisect(&mut history, first_bad(culprit));
        let found = made.number(&history.culprit().unwrap().commit.id);
        prop_assert_eq!(found, git_says(&made, 0, n - 1, culprit));
        prop_assert_eq!(found, culprit);
    }

    #[test]
    fn merges_do_not_hide_the_culprit(
        parents in graphs(), at in 0.0..1.0f64, broken in prop::collection::btree_set(1_usize..40, 0..8),
    ) {
        let bad = parents.len() - 1;
        let made = make(&parents.iter().map(|p| (p.clone(), vec![])).collect::<Vec<_>>());
        let culprit = 1 + (at * bad as f64) as usize;
        let has_it: Vec<bool> = (0..=bad).map(|i| ancestors(&parents, i).contains(&culprit)).collect();
        prop_assume!(has_it[bad]);
        let plain = |n: usize| if has_it[n] { Verdict::Bad } else { Verdict::Good };
        let mut history = made.history(0, bad).unwrap();
        let asked = made.bisect(&mut history, plain);
        prop_assert_eq!(made.number(&history.culprit().unwrap().commit.id), culprit);
        // Branches joined by one merge can only be tested one by one.
        let widest = parents.iter().map(Vec::len).max().unwrap_or(0);
        prop_assert!(asked.len() <= 12 + widest, "{:?}", asked);

        let mut history = made.history(0, bad).unwrap();
        made.bisect(&mut history, |n| if broken.contains(&n) { Verdict::Skip } else { plain(n) });
        let found = history.culprit().unwrap();
        let others: BTreeSet<usize> = found.other_candidates.iter().map(|c| made.number(&c.id)).collect();
        prop_assert!(others.is_subset(&broken));
        prop_assert!(made.number(&found.commit.id) == culprit || others.contains(&culprit));
    }
}

#[test]
fn new_lines_are_blamed_on_their_commit() {
    let made = with_files(&[
        (&[], &[("a.c", "one\ntwo\nthree\n")]),
        (&[0], &[("a.c", "one\nTWO\nthree\n")]),
        (&[1], &[("a.c", "one\nTWO\nthree\nfour\n")]),
        (&[2], &[("b.c", "one\n  TWO\nthree\nfour\n")]),
    ]);
    let before = state(&made.root);
    assert_eq!(made.brought(0, 3, ("b.c", 2, 3), ("a.c", 2, 3)), Some(1), "through a rename and indentation");
    assert_eq!(made.brought(0, 3, ("b.c", 4, 5), ("a.c", 3, 3)), Some(2));
    assert_eq!(made.brought(2, 3, ("b.c", 2, 3), ("a.c", 2, 3)), Some(3), "only indented since then");
    assert_eq!(made.brought(0, 3, ("b.c", 2, 5), ("a.c", 2, 3)), Some(2), "the newest of equals");
    assert_eq!(made.brought(0, 3, ("nothing", 1, 2), ("nothing", 1, 1)), None);
    assert_eq!(made.brought(0, 3, ("b.c", 90, 92), ("a.c", 1, 1)), None);
    assert_eq!(state(&made.root), before);
}

#[test]
fn missing_lines_are_blamed_on_who_took_them_away() {
    let made = with_files(&[
        (&[], &[("a.c", "one\ntwo\nthree\nfour\nfive\n"), ("gone", "x\n")]),
        (&[0], &[("a.c", "zero\none\ntwo\nthree\nfour\nfive\n"), ("gone", "x\n")]),
        (&[1], &[("b.c", "zero\none\ntwo\nthree\nfour\nfive\n"), ("gone", "x\n")]),
        (&[2], &[("b.c", "zero\none\nthree\nfour\nfive\n"), ("gone", "x\n")]),
        (&[3], &[("b.c", "zero\none\nthree\nfive\n")]),
        (&[4], &[("b.c", "zero\none\nthree\nfive\nsix\n")]),
    ]);
    assert_eq!(made.brought(0, 5, ("b.c", 2, 2), ("a.c", 2, 3)), Some(3), "through a rename");
    assert_eq!(made.brought(0, 5, ("b.c", 3, 3), ("a.c", 4, 5)), Some(4));
    assert_eq!(made.brought(0, 5, ("gone", 1, 1), ("gone", 1, 2)), Some(4), "a whole file");
    assert_eq!(made.brought(0, 5, ("b.c", 2, 2), ("a.c", 1, 2)), None, "it is still there");
}

#[test]
fn branches_are_blamed_and_not_their_merges() {
    let base = "one\ntwo\nthree\nfour\nfive\nsix\n";
    let gone = "one\ntwo\nfour\nfive\nsix\n";
    // 0 - 1 ------- 4 - 5
    //  \- 2 - 3 ---/
    let made = with_files(&[
        (&[], &[("a.c", base)]),
        (&[0], &[("a.c", base), ("other", "1\n")]),
        (&[0], &[("a.c", gone)]),
        (&[2], &[("a.c", "one\ntwo\nfour\nfive\nsix\nNEW\n")]),
        (&[1, 3], &[("a.c", "one\ntwo\nfour\nfive\nsix\nNEW\n"), ("other", "1\n")]),
        (&[4], &[("a.c", "one\ntwo\nfour\nfive\nsix\nNEW\n"), ("other", "2\n")]),
    ]);
    assert_eq!(made.brought(0, 5, ("a.c", 6, 7), ("a.c", 6, 6)), Some(3));
    assert_eq!(made.brought(0, 5, ("a.c", 3, 3), ("a.c", 3, 4)), Some(2));
    // Good is on the other branch: the merge is the closest possible result.
    assert_eq!(made.brought(1, 5, ("a.c", 3, 3), ("a.c", 3, 4)), Some(4));
    assert_eq!(made.brought(1, 5, ("a.c", 6, 7), ("a.c", 6, 6)), Some(3));
}

#[test]
fn a_merge_that_drops_lines_itself_is_blamed() {
    let made = with_files(&[
        (&[], &[("a.c", "one\ntwo\nthree\n")]),
        (&[0], &[("a.c", "one\ntwo\nthree\n"), ("x", "1\n")]),
        (&[0], &[("a.c", "one\ntwo\nthree\n"), ("y", "1\n")]),
        (&[1, 2], &[("a.c", "one\nthree\n"), ("x", "1\n"), ("y", "1\n")]),
    ]);
    assert_eq!(made.brought(0, 3, ("a.c", 2, 2), ("a.c", 2, 3)), Some(3));
}

#[test]
fn a_bare_repository_will_do() {
    let made = make(&line_of(9));
    let bare = made.root.with_file_name("bare");
    git(made.root.parent().unwrap(), &["clone", "-q", "--bare", "project", "bare"]);
    let repository = Repository::around(Path::new(&bare)).unwrap();
    let mut history = History::between(&repository, &made.ids[0], &made.ids[8]).unwrap().unwrap();
    made.bisect(&mut history, first_bad(5));
    assert_eq!(made.number(&history.culprit().unwrap().commit.id), 5);
    let found = commit_of_change(&repository, &made.ids[0], &made.ids[8], "n", "n", 1..2, 1..2);
    assert_eq!(found.map(|c| made.number(&c.id)), Some(8));
}

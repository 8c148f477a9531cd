//! Versions named as users name them, from real repositories.

use crate::sandbox::{contents, git, state, write};
use std::fs;
use std::path::{Path, PathBuf};
use trials::{Error, Version, bisect_marks};

fn repository() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    write(
        &root,
        &[
            ("src/a.c", "int a;\n"),
            ("run.sh!", "#!/bin/sh\n"),
            (".gitattributes", "secret export-ignore\n"),
            ("secret", "kept\n"),
            (".gitignore", "*.o\n"),
        ],
    );
    std::os::unix::fs::symlink("src/a.c", root.join("link")).unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "one"]);
    git(&root, &["tag", "v1"]);
    write(&root, &[("src/a.c", "int a = 2;\n"), ("src/b.c", "int b;\n")]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "two"]);
    (dir, root)
}

fn files(name: &str, here: &Path, out: &Path) -> Vec<(String, String)> {
    let version = Version::resolve(name, here).unwrap();
    let checkout = version.check_out(out, Path::new("/nowhere")).unwrap();
    assert_eq!(checkout.notes, Vec::<String>::new());
    contents(&checkout.root)
}

fn named<'a>(files: &'a [(String, String)], name: &str) -> Option<&'a str> {
    files.iter().find(|f| f.0 == name).map(|f| f.1.as_str())
}

#[test]
fn commits_are_written_whole_and_the_repository_is_left_alone() {
    let (dir, root) = repository();
    write(&root, &[("src/a.c", "int uncommitted;\n"), ("new.c", "int n;\n"), ("x.o", "object")]);
    git(&root, &["add", "src/a.c"]);
    let before = state(&root);
    let old = files("v1", &root, &dir.path().join("old"));
    assert_eq!(named(&old, "src/a.c"), Some("int a;\n"));
    assert_eq!(named(&old, "src/b.c"), None);
    assert_eq!(named(&old, "secret"), Some("kept\n"), "export-ignore must not drop files");
    assert_eq!(named(&old, "link"), Some("-> src/a.c"));
    assert_eq!(old.len(), 6);
    let mode = fs::metadata(dir.path().join("old/run.sh")).unwrap().permissions();
    assert_ne!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o100, 0);
    let new = files("HEAD", &root, &dir.path().join("new"));
    assert_eq!(named(&new, "src/a.c"), Some("int a = 2;\n"));
    // The same by other names, from a subdirectory.
    let hash = git(&root, &["rev-parse", "HEAD~1"]);
    for (n, name) in ["HEAD~1", "main^", &hash, &hash[..9]].iter().enumerate() {
        assert_eq!(files(name, &root.join("src"), &dir.path().join(format!("again{n}"))), old);
    }
    assert_eq!(state(&root), before);
}

#[test]
fn files_of_a_commit_are_equally_old() {
    let (dir, root) = repository();
    files("HEAD", &root, &dir.path().join("out"));
    let times: std::collections::BTreeSet<_> = ["src/a.c", "src/b.c", "secret", "run.sh"]
        .iter()
        .map(|f| fs::metadata(dir.path().join("out").join(f)).unwrap().modified().unwrap())
        .collect();
    assert_eq!(times.len(), 1);
}

#[test]
fn the_working_tree_is_what_is_not_ignored() {
    let (dir, root) = repository();
    write(&root, &[("src/a.c", "int uncommitted;\n"), ("new.c", "int n;\n"), ("x.o", "object")]);
    write(&root, &[(".relapse/.gitignore", "*\n"), (".relapse/lock", "")]);
    fs::remove_file(root.join("secret")).unwrap();
    git(&root, &["add", "src/a.c"]);
    write(&root, &[("src/a.c", "int twice;\n")]);
    let before = state(&root);
    for (n, (name, here)) in [(".", ""), ("..", "src"), (".", "src")].iter().enumerate() {
        let found = files(name, &root.join(here), &dir.path().join(format!("{n}")));
        assert_eq!(named(&found, "src/a.c"), Some("int twice;\n"));
        assert_eq!(named(&found, "new.c"), Some("int n;\n"));
        assert_eq!(named(&found, "secret"), None);
        assert_eq!(named(&found, "x.o"), None);
        assert_eq!(named(&found, ".relapse/lock"), None);
    }
    let version = Version::resolve(".", &root.join("src")).unwrap();
    assert_eq!(version.subdirectory, Path::new("src"));
    assert_eq!(state(&root), before);
}

#[test]
fn what_an_earlier_build_left_is_no_part_of_a_version_unless_git_tracks_it() {
    let program = "\u{7f}ELF\u{2}\u{1}\u{1}\0\0\0\0\0\0\0\0\0\u{3}\0";
    let (dir, root) = repository();
    write(&root, &[("tests/sample", program)]);
    git(&root, &["add", "."]);
    write(&root, &[("prog", program), ("libx.a", "!<arch>\n"), ("new.c", "int n;\n")]);
    let version = Version::resolve(".", &root).unwrap();
    let found = version.check_out(&dir.path().join("w"), Path::new("/nowhere")).unwrap();
    let names: Vec<String> = contents(&found.root).into_iter().map(|f| f.0).collect();
    assert!(names.contains(&"tests/sample".to_owned()) && names.contains(&"new.c".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name == "prog" || name == "libx.a"), "{names:?}");
    assert!(found.notes[0].contains("no part of the version: libx.a, prog."), "{:?}", found.notes);

    let plain = dir.path().join("plain");
    write(&plain, &[("a.c", "int a;\n"), ("bin/prog", program), ("CMakeCache.txt", "x"), ("x.lo", "int\n")]);
    write(&plain, &[("target/CACHEDIR.TAG", ""), ("target/x", ""), ("CMakeFiles/x", "")]);
    let version = Version::resolve("../plain", &root).unwrap();
    let found = version.check_out(&dir.path().join("p"), Path::new("/nowhere")).unwrap();
    let names: Vec<String> = contents(&found.root).into_iter().map(|f| f.0).collect();
    assert_eq!(names, ["a.c", "x.lo"]);
}

#[test]
fn plain_directories_inside_and_outside_a_repository() {
    let (dir, root) = repository();
    write(&root, &[("cases/good/a.c", "1\n"), ("cases/bad/a.c", "2\n"), ("cases/bad/a.o", "ignored")]);
    let (good, bad) = Version::resolve_pair("cases/good", "cases/bad", &root).unwrap();
    let good = good.check_out(&dir.path().join("g"), Path::new("/nowhere")).unwrap();
    let bad = bad.check_out(&dir.path().join("b"), Path::new("/nowhere")).unwrap();
    assert_eq!(contents(&good.root), [("a.c".to_owned(), "1\n".to_owned())]);
    assert_eq!(contents(&bad.root), [("a.c".to_owned(), "2\n".to_owned())]);
    // With one of them as current directory, `.` is that directory and not the repository.
    let (_, bad) = Version::resolve_pair("../good", ".", &root.join("cases/bad")).unwrap();
    let bad = bad.check_out(&dir.path().join("b2"), Path::new("/nowhere")).unwrap();
    assert_eq!((contents(&bad.root).len(), bad.subdirectory), (1, PathBuf::new()));

    let outside = dir.path().join("outside");
    write(&outside, &[("a.c", "3\n"), ("a.o", "product"), (".git-not/x", ""), ("work/lock", "")]);
    let version = Version::resolve("../outside", &root).unwrap();
    let found = version.check_out(&dir.path().join("o"), &outside.join("work")).unwrap();
    let names: Vec<String> = contents(&found.root).into_iter().map(|f| f.0).collect();
    assert_eq!(names, [".git-not/x", "a.c", "a.o"]);
    let time = |p: PathBuf| fs::metadata(p).unwrap().modified().unwrap();
    assert_eq!(time(found.root.join("a.c")), time(outside.join("a.c")));
}

#[test]
fn names_that_mean_nothing_or_too_much() {
    let (_dir, root) = repository();
    let error = Version::resolve("v2", &root).unwrap_err();
    assert!(matches!(error, Error::NoSuchVersion { .. }), "{error}");
    // Never interpreted as an option of git.
    assert!(Version::resolve("--all", &root).is_err());
    fs::create_dir(root.join("v1")).unwrap();
    assert!(matches!(Version::resolve("v1", &root), Err(Error::AmbiguousVersion { .. })));
    assert_eq!(Version::resolve("./v1", &root).unwrap().commit, None);
    assert!(Version::resolve("refs/tags/v1", &root).unwrap().commit.is_some());
}

#[test]
fn submodules_come_along_at_any_depth() {
    let dir = tempfile::tempdir().unwrap();
    let [inner, middle, outer] = ["inner", "middle", "outer"].map(|n| dir.path().join(n));
    for (root, file) in [(&inner, "i.c"), (&middle, "m.c"), (&outer, "o.c")] {
        fs::create_dir(root).unwrap();
        git(root, &["init", "-q", "-b", "main"]);
        write(root, &[(file, "1\n")]);
        git(root, &["add", "."]);
        git(root, &["commit", "-q", "-m", "one"]);
    }
    git(&middle, &["submodule", "--quiet", "add", inner.to_str().unwrap(), "deep/inner"]);
    git(&middle, &["commit", "-q", "-m", "with inner"]);
    git(
        &outer,
        &["submodule", "--quiet", "add", "--name", "odd name", middle.to_str().unwrap(), "lib/middle"],
    );
    git(&outer, &["submodule", "--quiet", "update", "--init", "--recursive"]);
    git(&outer, &["commit", "-q", "-m", "with middle"]);
    git(&outer, &["tag", "old"]);
    write(&middle, &[("m.c", "2\n")]);
    git(&middle, &["commit", "-q", "-a", "-m", "two"]);
    git(&outer.join("lib/middle"), &["pull", "-q", "origin", "main"]);
    git(&outer, &["commit", "-q", "-a", "-m", "newer middle"]);

    write(&outer, &[("lib/middle/deep/inner/i.c", "dirty\n")]);
    let before = state(&outer);
    let old = files("old", &outer, &dir.path().join("a"));
    assert_eq!(named(&old, "lib/middle/m.c"), Some("1\n"));
    assert_eq!(named(&old, "lib/middle/deep/inner/i.c"), Some("1\n"));
    let new = files("main", &outer, &dir.path().join("b"));
    assert_eq!(named(&new, "lib/middle/m.c"), Some("2\n"));
    let now = files(".", &outer, &dir.path().join("c"));
    assert_eq!(named(&now, "lib/middle/deep/inner/i.c"), Some("dirty\n"));
    assert_eq!(named(&now, "lib/middle/m.c"), Some("2\n"));
    assert_eq!(state(&outer), before);

    // Not checked out any more, but git still has its commits.
    git(&outer, &["submodule", "--quiet", "deinit", "--all", "--force"]);
    assert_eq!(files("old", &outer, &dir.path().join("d")), old);
    // Removed completely: reported, not fatal.
    fs::remove_dir_all(outer.join(".git/modules")).unwrap();
    let version = Version::resolve("old", &outer).unwrap();
    let checkout = version.check_out(&dir.path().join("e"), Path::new("/nowhere")).unwrap();
    assert_eq!(checkout.notes.len(), 1);
    assert!(checkout.notes[0].contains("lib/middle"), "{:?}", checkout.notes);
}

#[test]
fn a_bare_repository_has_commits_too() {
    let (dir, root) = repository();
    git(dir.path(), &["clone", "-q", "--bare", root.to_str().unwrap(), "bare"]);
    let found = files("v1", &dir.path().join("bare"), &dir.path().join("out"));
    assert_eq!(named(&found, "src/a.c"), Some("int a;\n"));
}

#[test]
fn marks_of_a_bisect() {
    let (_dir, root) = repository();
    assert_eq!(bisect_marks(&root).unwrap(), None);
    for n in 0..4 {
        write(&root, &[("src/a.c", &format!("int a = {n};\n"))]);
        git(&root, &["commit", "-q", "-a", "-m", "more"]);
    }
    let hash = |name: &str| git(&root, &["rev-parse", name]);
    let (bad, near) = (hash("main"), hash("main~2"));
    git(&root, &["bisect", "start"]);
    git(&root, &["bisect", "bad", "main"]);
    assert_eq!(bisect_marks(&root).unwrap(), None);
    git(&root, &["bisect", "good", "main~4"]);
    git(&root, &["bisect", "good", "main~2"]);
    assert_eq!(bisect_marks(&root).unwrap(), Some((near.clone(), bad.clone())));
    git(&root, &["bisect", "reset"]);
    assert_eq!(bisect_marks(&root).unwrap(), None);
    git(&root, &["bisect", "start", "--term-new", "slow", "--term-old", "fast"]);
    git(&root, &["bisect", "slow", "main"]);
    git(&root, &["bisect", "fast", "main~2"]);
    assert_eq!(bisect_marks(&root.join("src")).unwrap(), Some((near, bad)));
}

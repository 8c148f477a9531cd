//! Plain builds that are made otherwise than the build asks: another optimisation
//! level, a sanitizer. And what plain builds tell: the units they compiled, and
//! failures that need not be had twice.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use driver::{CacheCounts, cache_counts};
use serde_json::Value;
use trials::sanitizer::{environment, reports};

const SOURCES: &[(&str, &str)] = &[
    (
        "level.c",
        "#include <stdio.h>\nint main(void) {\n#ifdef __OPTIMIZE__\n  puts(\"optimised\");\n#else\n  \
         puts(\"as written\");\n#endif\n  return 0;\n}\n",
    ),
    (
        "overflow.c",
        "#include <stdlib.h>\nint read_past(const char *p, int n) { return p[n]; }\nint main(int n, char **v) {\n  \
         (void)v;\n  char *volatile p = calloc(1, 10);\n  return read_past(p, n + 9) == 77 ? 1 : 5;\n}\n",
    ),
    (
        "uninitialised.c",
        "#include <stdio.h>\n__attribute__((noinline)) int choose(int *p) { static volatile int n; if (*p == 3) n++; return n; }\n\
         int main(void) {\n  volatile int x;\n  char text[9];\n  snprintf(text, sizeof text, \"%d\", 3);\n  \
         if (text[0] != '3') return 9;\n  return choose((int *)&x) < 0 ? 0 : 4;\n}\n",
    ),
    ("one.c", "#include \"inc/shared.h\"\nint one(void) { return SHARED; }\n"),
    ("sub/two.c", "#include \"shared.h\"\n#include WITH\nint two(void) { return SHARED; }\n"),
    ("inc/shared.h", "#define SHARED 2\n"),
    (
        "Makefile",
        "all: one.o sub/two.o\none.o: one.c\n\t$(CC) -O2 -Wall -MMD -MF one.dep -DROOT='\"$(CURDIR)\"' -c one.c -o one.o\n\
         sub/two.o: sub/two.c\n\tcd sub && $(CC) -I$(CURDIR)/inc -DWITH='<stdio.h>' -Wp,-MD,two.dep -c $(CURDIR)/sub/two.c\n",
    ),
    ("broken.c", "int broken(int a) {\n  return a + ;\n}\n"),
];

/// Trees that share a cache and a folder of units.
struct Yard {
    dir: tempfile::TempDir,
}

impl Yard {
    fn new() -> Self {
        Yard { dir: tempfile::tempdir().unwrap() }
    }

    fn tree(&self, name: &str) -> Tree<'_> {
        let dir = self.dir.path().join(name).join("tree");
        for (name, text) in SOURCES {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Tree { yard: self, dir, mode: "plain" }
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    /// What was looked up while `work` was done.
    fn counting(&self, work: impl FnOnce()) -> CacheCounts {
        let before = cache_counts(&self.cache()).unwrap();
        work();
        let after = cache_counts(&self.cache()).unwrap();
        CacheCounts {
            hits: after.hits - before.hits,
            failed_hits: after.failed_hits - before.failed_hits,
            misses: after.misses - before.misses,
            bypassed: after.bypassed - before.bypassed,
            damaged: after.damaged - before.damaged,
        }
    }

    /// The lines of a file of `RELAPSE_UNITS`.
    fn lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.path().join("units").join(name)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

const HIT: CacheCounts = CacheCounts { hits: 1, failed_hits: 0, misses: 0, bypassed: 0, damaged: 0 };
const MISS: CacheCounts = CacheCounts { misses: 1, hits: 0, ..HIT };
const HIT_FAILURE: CacheCounts = CacheCounts { failed_hits: 1, hits: 0, ..HIT };

struct Tree<'a> {
    yard: &'a Yard,
    dir: PathBuf,
    mode: &'static str,
}

impl Tree<'_> {
    fn command(&self, program: impl AsRef<Path>, settings: &[(&str, &str)]) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(&self.dir)
            .env("RELAPSE_MODE", self.mode)
            .env("RELAPSE_CACHE", self.yard.cache())
            .env("RELAPSE_TREE", &self.dir)
            .env("RELAPSE_UNITS", self.yard.dir.path().join("units"))
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .env_remove("MAKEFLAGS")
            .envs(settings.iter().copied());
        command
    }

    fn try_cc(&self, line: &str, settings: &[(&str, &str)]) -> Output {
        self.command(relapse_cc(), settings).args(line.split_whitespace()).output().unwrap()
    }

    /// Compiles without a word.
    fn cc(&self, line: &str, settings: &[(&str, &str)]) {
        let output = self.try_cc(line, settings);
        assert!(output.status.success(), "relapse-cc {line}: {}", said(&output));
        assert_eq!(said(&output), "", "{line}");
    }

    /// Runs a program that was built with a sanitizer; returns how it ended and what
    /// was reported.
    fn run_sanitized(&self, program: &str) -> (Option<i32>, String) {
        let logs = self.dir.join("logs");
        let _ = fs::remove_dir_all(&logs);
        fs::create_dir(&logs).unwrap();
        let options = format!("log_path={}/log:halt_on_error=0:exitcode=0", logs.display());
        let output = self
            .command(self.dir.join(program), &[])
            .env("ASAN_OPTIONS", format!("{options}:detect_leaks=0"))
            .env("MSAN_OPTIONS", &options)
            .output()
            .unwrap();
        let logs = fs::read_dir(&logs).unwrap().map(|log| fs::read_to_string(log.unwrap().path()).unwrap());
        (output.status.code(), logs.collect())
    }

    fn prints(&self, program: &str) -> String {
        let output = self.command(self.dir.join(program), &[]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    }
}

fn relapse_cc() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_relapse-cc"))
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const ADDRESS: &[(&str, &str)] = &[("RELAPSE_SANITIZE", "address")];
const MEMORY: &[(&str, &str)] = &[("RELAPSE_SANITIZE", "memory")];

#[test]
fn another_level_replaces_the_builds_own() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    for (options, level, text) in [
        ("-O2", "0", "as written\n"),
        ("", "s", "optimised\n"),
        ("-O0 -g", "2", "optimised\n"),
        ("-Ofast", "0", "as written\n"),
    ] {
        tree.cc(&format!("{options} level.c -o level"), &[("RELAPSE_OPTIMISE", level)]);
        assert_eq!(tree.prints("level"), text, "{options} at {level}");
    }
    // What is only preprocessed sees the same level.
    let output = tree.try_cc("-O2 -E level.c", &[("RELAPSE_OPTIMISE", "0")]);
    assert!(said(&output).contains("as written"));
    // No word about it where it is of no use.
    fs::write(tree.dir.join("asm.s"), ".section .note.GNU-stack,\"\",@progbits\n").unwrap();
    tree.cc("-c asm.s", &[("RELAPSE_OPTIMISE", "3"), ("RELAPSE_SANITIZE", "address")]);

    let output = tree.try_cc("-c level.c", &[("RELAPSE_OPTIMISE", "fast")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("RELAPSE_OPTIMISE=fast"), "{}", said(&output));
    let output = tree.try_cc("-c level.c", &[("RELAPSE_SANITIZE", "thread")]);
    assert!(said(&output).contains("RELAPSE_SANITIZE=thread"), "{}", said(&output));
}

#[test]
fn every_way_to_build_has_its_own_objects_in_the_cache() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    let ways: [&[(&str, &str)]; 5] =
        [&[], &[("RELAPSE_OPTIMISE", "0")], &[("RELAPSE_OPTIMISE", "3")], ADDRESS, MEMORY];
    for expected in [MISS, HIT] {
        for settings in ways {
            let counts = yard.counting(|| tree.cc("-O1 -c level.c", settings));
            assert_eq!(counts, expected, "{settings:?}");
        }
    }
    // The level that the build has anyway is no other way.
    assert_eq!(yard.counting(|| tree.cc("-c -O3 level.c", &[("RELAPSE_OPTIMISE", "3")])), HIT);
    // What is recorded is built as the build wants it.
    let recorded = Tree { mode: "instrument", ..yard.tree("b") };
    recorded.cc("-O1 level.c -o level", &[("RELAPSE_OPTIMISE", "0"), ("RELAPSE_SANITIZE", "address")]);
    assert_eq!(recorded.prints("level"), "optimised\n");
}

#[test]
fn a_sanitizer_reports_and_the_program_ends_as_it_would() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    tree.cc("-O1 -s -D_FORTIFY_SOURCE=2 overflow.c -o overflow", ADDRESS);
    let (code, report) = tree.run_sanitized("overflow");
    assert_eq!(code, Some(5));
    assert!(report.contains("heap-buffer-overflow") && report.contains("READ of size 1"), "{report}");
    assert!(report.contains("in read_past overflow.c:2"), "{report}");

    tree.cc("-O1 -D_FORTIFY_SOURCE=2 uninitialised.c -o uninitialised", MEMORY);
    let (code, report) = tree.run_sanitized("uninitialised");
    assert_eq!(code, Some(4));
    assert_eq!(report.matches("WARNING: MemorySanitizer").count(), 1, "{report}");
    assert!(report.contains("in choose uninitialised.c:2"), "{report}");
    assert!(report.contains("Uninitialized value was created by"), "{report}");
    assert!(yard.lines("unsanitized").is_empty());

    // The same by the reader of reports.
    let logs = yard.dir.path().join("reports");
    fs::create_dir(&logs).unwrap();
    for (program, code) in [("overflow", 5), ("uninitialised", 4)] {
        let output = tree.command(tree.dir.join(program), &[]).envs(environment(&logs)).output().unwrap();
        assert_eq!((output.status.code(), said(&output).as_str()), (Some(code), ""), "{program}");
    }
    let found = reports(&logs, &tree.dir, Path::new("llvm-symbolizer-22")).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|report| (report.kind.as_str(), report.file.as_deref().and_then(Path::to_str), report.line))
        .collect();
    assert_eq!(
        found,
        [
            ("heap-buffer-overflow", Some("overflow.c"), Some(2)),
            ("use-of-uninitialized-value", Some("uninitialised.c"), Some(2))
        ]
    );
}

#[test]
fn shared_libraries_find_the_sanitizer_in_the_executable() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    fs::write(tree.dir.join("uses.c"), "int one(void);\nint main(void) { return one(); }\n").unwrap();
    for settings in [ADDRESS, MEMORY] {
        tree.cc("-fPIC -shared -Wl,-z,defs -Wl,--no-undefined one.c -o libone.so", settings);
        tree.cc("uses.c -L. -lone -Wl,-rpath,. -o uses", settings);
        assert_eq!(tree.run_sanitized("uses"), (Some(2), String::new()), "{settings:?}");
    }
}

#[test]
fn builds_in_which_a_sanitizer_cannot_work_stay_as_they_are() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    tree.cc("-static level.c -o level", ADDRESS);
    assert_eq!(tree.prints("level"), "as written\n");
    tree.cc("-fsanitize=undefined -c one.c", MEMORY);
    let lines = yard.lines("unsanitized");
    let told: Vec<(&str, &str)> =
        lines.iter().map(|line| (line["file"].as_str().unwrap(), line["option"].as_str().unwrap())).collect();
    assert_eq!(told, [("level", "-static"), ("one.c", "-fsanitize=undefined")]);
    assert_eq!(lines[0]["directory"], "\0tree\0");
}

#[test]
fn units_can_be_checked_in_another_tree() {
    let yard = Yard::new();
    let (one, two) = (yard.tree("one"), yard.tree("two"));
    let make = one
        .command("make", &[("RELAPSE_OPTIMISE", "0")])
        .args(["-j4", &format!("CC={}", relapse_cc().display())])
        .output()
        .unwrap();
    assert!(make.status.success(), "{}", said(&make));
    let mut units = yard.lines("units");
    units.sort_by_key(|unit| unit["source"].to_string());
    let sources: Vec<&str> = units.iter().map(|unit| unit["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["\0tree\0/sub/two.c", "one.c"]);
    assert_eq!(units[0]["directory"], "\0tree\0/sub");
    for unit in &units {
        assert_eq!(unit["language"], "c");
        let text = unit.to_string();
        assert!(!text.contains(one.dir.to_str().unwrap()), "{text}");
        let here = |value: &Value| value.as_str().unwrap().replace("\0tree\0", two.dir.to_str().unwrap());
        let arguments: Vec<String> = unit["arguments"].as_array().unwrap().iter().map(here).collect();
        for word in ["-c", "-o", "-MMD", "-MF", "one.dep", "-Wp,-MD,two.dep", "-O2"] {
            assert!(!arguments.iter().any(|argument| argument == word), "{word}: {arguments:?}");
        }
        assert!(arguments.contains(&"-O0".to_owned()), "{arguments:?}");
        let check = Command::new("clang-22")
            .args(&arguments)
            .args(["-fsyntax-only", "-Werror", &here(&unit["source"])])
            .current_dir(here(&unit["directory"]))
            .output()
            .unwrap();
        assert!(check.status.success() && check.stderr.is_empty(), "{}", said(&check));
    }
    assert!(!two.dir.join("one.dep").exists() && !two.dir.join("sub/two.dep").exists());

    // The same by the reader of these files.
    let units = trials::check::Units::read(&yard.dir.path().join("units")).unwrap();
    let check = || units.check(Path::new("clang-22"), &two.dir, None, 2, &AtomicBool::new(false)).unwrap();
    let checked = check();
    assert_eq!((checked.units, checked.unclear.len(), checked.diagnostics.len()), (2, 0, 0));
    fs::write(two.dir.join("inc/shared.h"), "#define SHARED \"two\"\n").unwrap();
    let errors: Vec<_> = check().errors().map(|error| (error.file.clone(), error.function.clone())).collect();
    let expected = [("one.c", "one"), ("sub/two.c", "two")];
    let expected = expected.map(|(file, function)| (PathBuf::from(file), Some(function.to_owned())));
    assert!(errors.len() == 2 && expected.iter().all(|error| errors.contains(error)), "{errors:?}");
}

#[test]
fn units_of_many_builds_do_not_tear_each_other() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    let long = format!("-DLONG={}", "x".repeat(20_000));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (tree, long) = (&tree, &long);
            scope.spawn(move || {
                for turn in 0..6 {
                    tree.cc(&format!("{long} -c one.c -o {number}-{turn}.o"), &[]);
                }
            });
        }
    });
    let units = yard.lines("units");
    assert_eq!(units.len(), 24);
    assert!(units.iter().all(|unit| unit == &units[0]));
}

#[test]
fn what_was_refused_is_not_compiled_again() {
    let yard = Yard::new();
    let (one, two) = (yard.tree("worker1"), yard.tree("worker2"));
    let compile = |tree: &Tree, options: &str| {
        fs::write(tree.dir.join("broken.o"), "of an earlier build").unwrap();
        let line = format!("{options} -c {}/broken.c -o broken.o", tree.dir.display());
        let output = tree.try_cc(&line, &[]);
        assert_eq!(output.status.code(), Some(1));
        // Clang leaves no stale product behind.
        assert!(!tree.dir.join("broken.o").exists());
        said(&output)
    };
    let mut first = String::new();
    assert_eq!(yard.counting(|| first = compile(&one, "-O2")), MISS);
    assert!(first.contains("worker1/tree/broken.c:2:14: error: expected expression"), "{first}");
    let mut second = String::new();
    assert_eq!(yard.counting(|| second = compile(&two, "-O2")), HIT_FAILURE);
    assert_eq!(second, first.replace("worker1", "worker2"));
    // Other options, or another text, are another matter.
    assert_eq!(yard.counting(|| _ = compile(&one, "-O1")), MISS);
    fs::write(one.dir.join("broken.c"), "int broken(int a) {\n  return a + 1;\n}\n").unwrap();
    assert_eq!(yard.counting(|| one.cc("-O2 -c broken.c", &[])), MISS);
}

#[test]
fn a_compiler_that_was_killed_is_asked_again() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    // Ends by a signal, then with an error of its own, then is clang.
    let clang = tree.dir.join("clang-22");
    fs::write(
        &clang,
        "#!/bin/sh\ncase \" $* \" in *' -E '*) exec clang-22 \"$@\";; esac\necho x >>turns\n\
         case $(wc -l <turns) in\n1) kill -9 $$;;\n2) echo 'LLVM ERROR: out of memory' >&2; exit 1;;\nesac\nexec clang-22 \"$@\"\n",
    )
    .unwrap();
    fs::set_permissions(&clang, fs::Permissions::from_mode(0o755)).unwrap();
    let settings = [("RELAPSE_CLANG", clang.to_str().unwrap())];
    for expected in [137, 1] {
        let counts = yard.counting(|| {
            assert_eq!(tree.try_cc("-c one.c", &settings).status.code(), Some(expected));
        });
        assert_eq!(counts, MISS);
    }
    assert_eq!(yard.counting(|| tree.cc("-c one.c", &settings)), MISS);
    assert_eq!(yard.counting(|| tree.cc("-c one.c", &settings)), HIT);
}

//! The compiler driver's plain mode, its object cache, and the compilers' names by
//! which a build may call it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use driver::{CacheCounts, cache_counts, shims};

const SOURCES: &[(&str, &str)] = &[
    (
        "main.c",
        "#include <assert.h>\n#include <stdio.h>\n#include \"inc/sum.h\"\n\
         int main(int n, char **v) {\n  int unused;\n  (void)v;\n  printf(\"%d %s\\n\", sum(n, LIMIT), WHERE);\n  \
         return 0;\n}\n",
    ),
    ("sum.c", "#include \"inc/sum.h\"\nint sum(int a, int b) { return a + b; }\n"),
    ("inc/sum.h", "#define LIMIT 41\n#define WHERE __FILE__\nint sum(int a, int b);\n"),
    (
        "Makefile",
        "CFLAGS = -O1 -g -MMD -MP -Wall -I$(CURDIR)/inc\nOBJECTS = main.o sum.o\n\
         prog: $(OBJECTS)\n\t$(CC) -o $@ $(OBJECTS)\n\
         %.o: $(CURDIR)/%.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\n-include *.d\n",
    ),
];

/// A cache, and trees that use it.
struct Yard {
    dir: tempfile::TempDir,
}

impl Yard {
    fn new() -> Self {
        Yard { dir: tempfile::tempdir().unwrap() }
    }

    /// A tree with the sources, in a place of its own.
    fn tree(&self, name: &str) -> Tree<'_> {
        let dir = self.dir.path().join(name).join("tree");
        for (name, text) in SOURCES {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir(dir.join("temp")).unwrap();
        Tree { yard: self, dir, mode: "plain" }
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn counts(&self) -> CacheCounts {
        cache_counts(&self.cache()).unwrap()
    }

    /// Hits, misses and bypasses while `work` is done.
    fn counting(&self, work: impl FnOnce()) -> (u64, u64, u64) {
        let before = self.counts();
        work();
        let after = self.counts();
        (after.hits - before.hits, after.misses - before.misses, after.bypassed - before.bypassed)
    }

    /// The files of all entries.
    fn entries(&self) -> Vec<PathBuf> {
        let shards = fs::read_dir(self.cache().join("objects")).unwrap();
        let files = shards.flat_map(|shard| fs::read_dir(shard.unwrap().path()).unwrap());
        files.map(|file| file.unwrap().path()).collect()
    }
}

struct Tree<'a> {
    yard: &'a Yard,
    dir: PathBuf,
    mode: &'static str,
}

impl Tree<'_> {
    fn instrumented(mut self) -> Self {
        self.mode = "instrument";
        self
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(&self.dir)
            .env("RELAPSE_MODE", self.mode)
            .env("RELAPSE_CACHE", self.yard.cache())
            .env("RELAPSE_TREE", &self.dir)
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .env("TMPDIR", self.dir.join("temp"))
            .env_remove("MAKEFLAGS");
        command
    }

    fn run(&self, program: impl AsRef<Path>, words: &[&str]) -> Output {
        self.command(program).args(words).output().unwrap()
    }

    /// Compiles, wants success, and returns what was said.
    fn cc(&self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = self.run(relapse_cc(), &words);
        assert!(output.status.success(), "relapse-cc {line}: {}", said(&output));
        let left = fs::read_dir(self.dir.join("temp")).unwrap().count();
        assert_eq!(left, 0, "{line}: temporary files");
        said(&output)
    }

    fn make(&self, words: &[&str]) -> String {
        let output =
            self.command("make").arg(format!("CC={}", relapse_cc().display())).args(words).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    }

    fn prints(&self, program: &str) -> String {
        let output = self.run(self.dir.join(program), &[]);
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.dir.join(name)).unwrap()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    fn replace(&self, name: &str, old: &str, new: &str) {
        let text = self.text(name);
        assert!(text.contains(old), "{name} has no {old}");
        fs::write(self.dir.join(name), text.replace(old, new)).unwrap();
    }
}

fn relapse_cc() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_relapse-cc"))
}

fn relapse() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_relapse"))
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn contains(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn plain_programs_have_no_model_and_no_runtime_and_do_the_same() {
    let yard = Yard::new();
    let plain = yard.tree("plain");
    let recorded = yard.tree("recorded").instrumented();
    for tree in [&plain, &recorded] {
        tree.cc("-g -c main.c");
        tree.cc("-g main.o sum.c -o prog");
    }
    assert_eq!(plain.prints("prog"), "42 main.c\n");
    assert_eq!(recorded.prints("prog"), "42 main.c\n");
    for file in ["main.o", "prog"] {
        assert!(contains(&recorded.read(file), ".model.relapse"), "{file}");
        assert!(!contains(&plain.read(file), "relapse"), "{file}");
    }
}

#[test]
fn an_unknown_mode_is_refused() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    let output =
        tree.command(relapse_cc()).args(["-c", "sum.c"]).env("RELAPSE_MODE", "quick").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("RELAPSE_MODE=quick"), "{}", said(&output));
}

#[test]
fn what_one_tree_compiled_another_takes() {
    let yard = Yard::new();
    let (one, two) = (yard.tree("worker1"), yard.tree("worker10"));
    let build = |tree: &Tree| {
        // By absolute names, as cmake does.
        let (dir, options) = (tree.dir.display(), "-O2 -g -Wall");
        for name in ["main", "sum"] {
            tree.cc(&format!("{options} -I{dir}/inc -c {dir}/{name}.c -o {dir}/{name}.o"));
        }
        tree.cc("main.o sum.o -o prog");
    };
    assert_eq!(yard.counting(|| build(&one)), (0, 2, 0));
    assert_eq!(yard.counting(|| build(&two)), (2, 0, 0));
    assert_eq!(one.read("main.o"), two.read("main.o"));
    // Where it was built is not in what it prints, nor in what was made.
    assert_eq!(two.prints("prog"), "42 main.c\n");
    assert!(!contains(&two.read("prog"), "worker"));
    // The same again in the same tree.
    assert_eq!(yard.counting(|| build(&one)), (2, 0, 0));
}

#[test]
fn a_string_with_the_trees_place_is_no_reason_to_mix_up_trees() {
    let yard = Yard::new();
    for name in ["worker1", "worker2"] {
        let tree = yard.tree(name);
        tree.replace("inc/sum.h", "__FILE__", "DATA");
        let data = format!("-DDATA=\"{}\"", tree.dir.display());
        assert_eq!(
            yard.counting(|| _ = tree.cc(&format!("{data} main.c sum.c -o prog"))).0,
            u64::from(name == "worker2")
        );
        assert_eq!(tree.prints("prog"), format!("42 {}\n", tree.dir.display()));
    }
}

#[test]
fn whatever_changes_the_result_is_a_miss() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    let lookup = |line: &str| yard.counting(|| _ = tree.cc(line));
    assert_eq!(lookup("-c main.c"), (0, 1, 0));
    assert_eq!(lookup("-c main.c -o other.o"), (1, 0, 0));
    for line in ["-O2 -c main.c", "-g -c main.c", "-DLIMIT_X -c main.c", "-fPIC -c main.c", "-Wall -c main.c"]
    {
        assert_eq!(lookup(line), (0, 1, 0), "{line}");
        assert_eq!(lookup(line), (1, 0, 0), "{line}");
    }
    // A header.
    tree.replace("inc/sum.h", "41", "11");
    assert_eq!(lookup("main.c sum.c -o prog"), (0, 2, 0));
    assert_eq!(tree.prints("prog"), "12 main.c\n");
    // And back: all of it is there still.
    tree.replace("inc/sum.h", "11", "41");
    assert_eq!(lookup("-c main.c"), (1, 0, 0));
    // A comment is not part of the preprocessed text, if no line moves.
    tree.replace("main.c", "int unused;", "int unused; // so it is");
    assert_eq!(lookup("-c main.c"), (1, 0, 0));
    // The name of a source is part of its debug information.
    fs::copy(tree.dir.join("main.c"), tree.dir.join("copy.c")).unwrap();
    assert_eq!(lookup("-c copy.c"), (0, 1, 0));
}

#[test]
fn what_is_said_is_said_again() {
    let yard = Yard::new();
    let (one, two) = (yard.tree("worker1"), yard.tree("worker2"));
    let compile = |tree: &Tree| tree.cc(&format!("-Wall -c {}/main.c", tree.dir.display()));
    let first = compile(&one);
    assert!(first.contains("worker1/tree/main.c:5:7: warning: unused variable"), "{first}");
    let mut second = String::new();
    assert_eq!(yard.counting(|| second = compile(&two)), (1, 0, 0));
    assert_eq!(second, first.replace("worker1", "worker2"));
    // What is refused is refused again.
    for _ in 0..2 {
        let output = one.run(relapse_cc(), &["-Wall", "-Werror", "-c", "main.c"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains("error: unused variable"));
    }
    one.replace("main.c", "return 0;", "return 0");
    let output = one.run(relapse_cc(), &["-c", "main.c"]);
    assert!(!output.status.success() && said(&output).contains("expected ';'"), "{}", said(&output));
}

#[test]
fn dependency_files_are_those_of_the_tree_that_is_built() {
    let yard = Yard::new();
    let (one, two, plain) = (yard.tree("worker1"), yard.tree("worker2"), yard.tree("alone"));
    for options in ["-MD -MP", "-MMD -MF deps/x.dep", "-MMD -MT target", "-Wp,-MMD,y.dep"] {
        for tree in [&one, &two, &plain] {
            let _ = fs::create_dir(tree.dir.join("deps"));
            let line = format!("{options} -c {}/main.c -o main.o", tree.dir.display());
            let words: Vec<&str> = line.split_whitespace().collect();
            let program = if std::ptr::eq(tree, &plain) { "clang-22".into() } else { relapse_cc() };
            let output = tree.run(program, &words);
            assert!(output.status.success(), "{}", said(&output));
        }
        let file =
            ["deps/x.dep", "y.dep", "main.d"].into_iter().find(|name| two.dir.join(name).exists()).unwrap();
        assert_eq!(two.text(file), plain.text(file).replace("/alone/", "/worker2/"), "{options}");
        assert_eq!(one.text(file), plain.text(file).replace("/alone/", "/worker1/"), "{options}");
        for tree in [&one, &two, &plain] {
            fs::remove_file(tree.dir.join(file)).unwrap();
        }
    }
    // `-Wp,` with a file name of its own is another command; the others are one.
    let counts = yard.counts();
    assert_eq!((counts.hits, counts.misses), (6, 2));
}

#[test]
fn a_damaged_entry_is_compiled_again() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    tree.cc("-c sum.c");
    let whole = tree.read("sum.o");
    let entries = yard.entries();
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    let mut bytes = fs::read(entry).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    fs::write(entry, &bytes).unwrap();
    assert_eq!(yard.counting(|| _ = tree.cc("-c sum.c -o again.o")), (0, 1, 0));
    assert_eq!(yard.counts().damaged, 1);
    assert_eq!(tree.read("again.o"), whole);
    assert_eq!(yard.counting(|| _ = tree.cc("-c sum.c")), (1, 0, 0));
}

#[test]
fn odd_commands_go_past_the_cache() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    fs::write(tree.dir.join("asm.s"), ".section .note.GNU-stack,\"\",@progbits\n").unwrap();
    fs::write(tree.dir.join("blob.c"), "__asm__(\".incbin \\\"Makefile\\\"\");\n").unwrap();
    for line in [
        "-S sum.c",
        "-c asm.s",
        "-save-temps -c sum.c",
        "-c sum.c -o /dev/null",
        "-c blob.c",
        "--coverage -c sum.c",
    ] {
        assert_eq!(yard.counting(|| _ = tree.cc(line)), (0, 0, 1), "{line}");
    }
    // What is no compilation does not even count.
    assert_eq!(yard.counting(|| _ = tree.cc("-E sum.c")), (0, 0, 0));
    assert!(tree.dir.join("sum.gcno").exists());
}

#[test]
fn a_cache_that_cannot_be_written_does_not_disturb() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    fs::write(yard.cache(), "not a folder").unwrap();
    let output = tree.run(relapse_cc(), &["main.c", "sum.c", "-o", "prog"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(said(&output), "");
    assert_eq!(tree.prints("prog"), "42 main.c\n");
}

#[test]
fn parallel_makes_share_a_cache() {
    let yard = Yard::new();
    let trees: Vec<Tree> =
        ["worker1", "worker2", "worker3"].into_iter().map(|name| yard.tree(name)).collect();
    std::thread::scope(|scope| {
        for tree in &trees {
            scope.spawn(|| tree.make(&["-j2"]));
        }
    });
    let counts = yard.counts();
    assert_eq!(counts.hits + counts.misses, 6);
    assert!(counts.misses >= 2);
    for tree in &trees {
        assert_eq!(tree.prints("prog"), "42 main.c\n");
        assert!(tree.make(&[]).contains("up to date"));
    }
    // Entries only: nothing half done stays.
    assert_eq!(yard.entries().len(), 2);

    // A fourth tree compiles nothing; its make knows about headers from then on.
    let late = yard.tree("worker4");
    assert_eq!(yard.counting(|| _ = late.make(&["-j2"])), (2, 0, 0));
    late.replace("inc/sum.h", "41", "0");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::open(late.dir.join("inc/sum.h")).unwrap().set_modified(later).unwrap();
    // Make calls the compiler for both; to `sum.c` the change makes no difference.
    assert_eq!(yard.counting(|| _ = late.make(&["-j2"])), (1, 1, 0));
    assert_eq!(late.prints("prog"), "1 main.c\n");
}

#[test]
fn instrumented_objects_from_the_cache_record_and_replay_exactly() {
    let yard = Yard::new();
    let tree = yard.tree("a").instrumented();
    assert_eq!(yard.counting(|| _ = tree.make(&[])), (0, 2, 0));
    let first = tree.read("main.o");
    for name in ["main.o", "sum.o", "prog"] {
        fs::remove_file(tree.dir.join(name)).unwrap();
    }
    assert_eq!(yard.counting(|| _ = tree.make(&[])), (2, 0, 0));
    assert_eq!(tree.read("main.o"), first);

    let output = tree.run(relapse(), &["record", "-o", "run", "--", "./prog"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "42 main.c\n");
    let output = tree.run(relapse(), &["replay", "run", "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["exact"], true);
    // Both files are in it, not one of them as foreign code.
    assert!(contains(&tree.read("prog"), ".model.relapse"));

    // A model names the files of its own tree, and the columns of its own source.
    let other = yard.tree("b").instrumented();
    assert_eq!(yard.counting(|| _ = other.make(&[])), (0, 2, 0));
    tree.replace("sum.c", "return a + b", "return  a  +  b");
    assert_eq!(yard.counting(|| _ = tree.cc("-O1 -g -Wall -c sum.c")), (0, 1, 0));
    // Plain and instrumented objects are different things.
    let plain = yard.tree("c");
    assert_eq!(yard.counting(|| _ = plain.make(&[])), (0, 2, 0));
}

#[test]
fn builds_that_call_gcc_by_name_call_the_driver() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    fs::write(tree.dir.join("more.cc"), "#include <string>\nstd::string s = \"x\";\n").unwrap();
    fs::write(
        tree.dir.join("Makefile"),
        "all:\n\tgcc -c main.c\n\tcc -c sum.c\n\tg++ -c more.cc\n\tclang++ main.o sum.o more.o -o prog\n\
         \tc99 -E -dM sum.c | grep 199901L\n\tc89 -E -dM sum.c >c89\n",
    )
    .unwrap();
    let names = tree.dir.join("shims");
    shims(&names, &relapse_cc()).unwrap();
    let path = format!("{}:{}", names.display(), std::env::var("PATH").unwrap());
    let make = || tree.command("make").env("PATH", &path).output().unwrap();
    assert_eq!(yard.counting(|| assert!(make().status.success())), (0, 3, 0));
    assert_eq!(yard.counting(|| assert!(make().status.success())), (3, 0, 0));
    assert_eq!(tree.prints("prog"), "42 main.c\n");
    assert!(!tree.text("c89").contains("199901L"));

    // Told to use "clang", the driver finds clang and not itself.
    let log = tree.dir.join("log");
    let output = tree
        .command(names.join("cc"))
        .args(["-c", "main.c"])
        .env("PATH", &path)
        .env("RELAPSE_CLANG", "clang-22")
        .env("RELAPSE_DRIVER_LOG", &log)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(!tree.text("log").contains("shims"));
    // Named as its own compiler, it refuses.
    let output = tree
        .command(names.join("cc"))
        .args(["-c", "main.c"])
        .env("RELAPSE_CLANG", names.join("gcc"))
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("failed to find clang"), "{}", said(&output));
}

#[test]
fn the_cache_keeps_to_its_limit() {
    let yard = Yard::new();
    let tree = yard.tree("a");
    let cc = |n: usize, limit: &str| {
        let option = format!("-DX{n}");
        let output = tree
            .command(relapse_cc())
            .args(["-c", "sum.c", &option])
            .env("RELAPSE_CACHE_LIMIT", limit)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
    };
    // Only now and then the cache is looked at, but not never.
    let shrank = (0..300).any(|n| {
        cc(n, "4K");
        yard.entries().len() < n + 1
    });
    assert!(shrank);
    let output =
        tree.command(relapse_cc()).args(["-c", "sum.c"]).env("RELAPSE_CACHE_LIMIT", "much").output().unwrap();
    assert!(!output.status.success() && said(&output).contains("RELAPSE_CACHE_LIMIT=much"));
}

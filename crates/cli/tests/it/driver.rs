//! `relapse-cc` must be a normal compiler to every build. Most tests here run the
//! same command line with clang and with `relapse-cc` in twin folders and compare
//! exit status, what was said, and which files there are afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const CLANG: &str = "clang-22";

/// The sources that every folder starts with.
const SOURCES: &[(&str, &str)] = &[
    (
        "hello.c",
        "#include <stdio.h>\n#include \"twice.h\"\nint main(void) { printf(\"hello %d\\n\", twice(21)); return 0; }\n",
    ),
    ("twice.h", "int twice(int x);\n"),
    ("twice.c", "#include \"twice.h\"\nint twice(int x) { return 2 * x; }\n"),
    ("warn.c", "int warn(int x) { int unused; return x; }\n"),
    ("broken.c", "int broken( { return 1; }\n"),
    ("undefined.c", "int nowhere(void);\nint main(void) { return nowhere(); }\n"),
    ("asm.s", ".globl seven\nseven:\n movl $7, %eax\n ret\n.section .note.GNU-stack,\"\",@progbits\n"),
    (
        "cpp.S",
        "#define SEVEN 7\n.globl seven\nseven:\n movl $SEVEN, %eax\n ret\n.section .note.GNU-stack,\"\",@progbits\n",
    ),
    ("calls.c", "int seven(void);\nint main(void) { return seven(); }\n"),
    ("badasm.c", "int main(void) { __asm__(\"notaninstruction\"); return 0; }\n"),
    (
        "math.c",
        "#include <math.h>\n#include <stdlib.h>\nint main(int n, char **v) { (void)v; return (int)sqrt(n * 49.0); }\n",
    ),
    (
        "threads.c",
        "#include <pthread.h>\nstatic void *run(void *p) { return p; }\nint main(void) { pthread_t t; pthread_create(&t, 0, run, 0); return pthread_join(t, 0); }\n",
    ),
    (
        "plus.cpp",
        "#include <iostream>\n#include <vector>\nint main() { std::vector<int> v{1, 2}; try { throw 3; } catch (int x) { std::cout << v.size() + x << '\\n'; } }\n",
    ),
    ("words.rsp", "-O1 -DNAME=\"\\\"two words\\\"\" hello.c\ntwice.c -o \"with space\"\n"),
    ("object/deep.c", "int deep;\n"),
    ("-dash.c", "int main(void) { return 3; }\n"),
];

/// A folder of its own for one compiler.
struct Room {
    dir: tempfile::TempDir,
    /// Where compilers may leave temporary files: must be empty in the end.
    temp: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in SOURCES {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Room { dir, temp: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, program: &Path, args: &[&str], stdin: &str) -> Output {
        let input = self.temp.path().join("stdin");
        fs::write(&input, stdin).unwrap();
        let output = Command::new(program)
            .args(args)
            .current_dir(self.dir.path())
            .env("TMPDIR", self.temp.path())
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::from(fs::File::open(&input).unwrap()))
            .output()
            .unwrap();
        fs::remove_file(&input).unwrap();
        output
    }

    /// Runs `relapse-cc` with a line of words and wants success.
    fn cc(&self, line: &str) -> Output {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = self.run(&relapse_cc(), &words, "");
        assert!(output.status.success(), "relapse-cc {line}: {}", said(&output));
        output
    }

    /// Runs a program made here and returns its exit status.
    fn status(&self, program: &str) -> i32 {
        let output = Command::new(self.path(program))
            .current_dir(self.dir.path())
            .env("LD_LIBRARY_PATH", self.dir.path())
            .output()
            .unwrap();
        output.status.code().unwrap_or_else(|| panic!("{program} was ended by a signal: {}", said(&output)))
    }

    /// All files, with the content of those that are text the two compilers share.
    fn files(&self) -> BTreeMap<PathBuf, Option<String>> {
        let mut found = BTreeMap::new();
        let mut todo = vec![self.dir.path().to_owned()];
        while let Some(dir) = todo.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    todo.push(path);
                    continue;
                }
                let shared =
                    matches!(path.extension().and_then(|e| e.to_str()), Some("d" | "i" | "E" | "dep"));
                let text = shared.then(|| fs::read_to_string(&path).unwrap());
                found.insert(path.strip_prefix(self.dir.path()).unwrap().to_owned(), text);
            }
        }
        found
    }

    fn assert_no_temporary_files(&self, line: &str) {
        let left: Vec<_> = fs::read_dir(self.temp.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{line}: left behind {left:?}");
    }
}

fn relapse_cc() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_relapse-cc"))
}

/// The same executable under the name `relapse-c++`.
fn relapse_cxx(room: &Room) -> PathBuf {
    let link = room.temp.path().parent().unwrap().join(format!(
        "relapse-{}-{}",
        std::process::id(),
        room.temp.path().file_name().unwrap().to_string_lossy().trim_start_matches('.')
    ));
    fs::create_dir_all(&link).unwrap();
    let link = link.join("relapse-c++");
    let _ = fs::remove_file(&link);
    symlink(relapse_cc(), &link).unwrap();
    link
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs `line` with both compilers and compares everything that can be seen.
fn same(line: &str) {
    same_with_stdin(line, "");
}

fn same_with_stdin(line: &str, stdin: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (plain, ours) = (Room::new(), Room::new());
    let expected = plain.run(Path::new(CLANG), &words, stdin);
    let actual = ours.run(&relapse_cc(), &words, stdin);
    assert_eq!(
        actual.status.code(),
        expected.status.code(),
        "{line}\nrelapse-cc: {}\nclang: {}",
        said(&actual),
        said(&expected)
    );
    assert_eq!(
        String::from_utf8_lossy(&actual.stderr),
        String::from_utf8_lossy(&expected.stderr),
        "what `{line}` says"
    );
    assert_eq!(
        ours.files().keys().collect::<Vec<_>>(),
        plain.files().keys().collect::<Vec<_>>(),
        "files after `{line}`"
    );
    assert_eq!(ours.files(), plain.files(), "text files after `{line}`");
    // Assembly differs, by design; everything else on standard output does not.
    if !words.contains(&"-S") {
        assert_eq!(
            String::from_utf8_lossy(&actual.stdout),
            String::from_utf8_lossy(&expected.stdout),
            "output of `{line}`"
        );
    }
    ours.assert_no_temporary_files(line);
}

#[test]
fn compiling() {
    same("-c hello.c");
    same("-c hello.c twice.c warn.c -Wall");
    same("-c hello.c -o there.o -O2 -g -fPIC");
    same("-O3 -g0 -c object/deep.c -oobject/x.o");
    same("-c hello.c -o /dev/null");
    same("-c -x c hello.c");
    same("-c -x none hello.c -x c twice.c");
    same("-c -- -dash.c");
    same("-c -pipe -ffunction-sections -fdata-sections -fvisibility=hidden hello.c");
    same("-c -m64 -march=x86-64-v2 -mtune=generic -mcmodel=small hello.c");
    same("-c hello.c -flto -O2");
}

#[test]
fn stopping_early() {
    same("-E hello.c");
    same("-E hello.c -o hello.E");
    same("-S hello.c");
    same("-S hello.c -o -");
    same("-S -emit-llvm hello.c");
    same("-c -emit-llvm hello.c");
    same("-fsyntax-only -Wall warn.c");
    same("-x c-header twice.h -o twice.h.pch");
}

#[test]
fn dependency_files() {
    same("-M hello.c");
    same("-MM hello.c");
    same("-MD -c hello.c");
    same("-MMD -c hello.c -o object/h.o");
    same("-MMD -MF x.dep -c hello.c");
    same("-MMD -MP -MT target -MFx.dep -c hello.c");
    same("-MMD -c hello.c twice.c");
    same("-MMD hello.c twice.c -c -DX=1");
    same("-Wp,-MMD,x.dep -c hello.c -o y.o");
    same("-MM -MG -MT a hello.c");
}

#[test]
fn standard_input() {
    same_with_stdin("-E -", "int x;\n");
    same_with_stdin("-c -x c - -o in.o", "int x;\n");
    same_with_stdin("-c -xc -", "int x;\n");
    same_with_stdin("-x c - -o prog", "int main(void) { return 0; }\n");
    same_with_stdin("-c -", "int x;\n");
    same_with_stdin("-c -x c - -o in.o", "int broken(\n");
}

#[test]
fn errors_and_warnings_are_clangs_and_come_once() {
    same("");
    same("-c broken.c");
    same("-c broken.c hello.c");
    same("broken.c -o prog");
    same("-c missing.c");
    same("missing.c hello.c");
    same("-c hello.c -o");
    same("-c hello.c twice.c -o both.o");
    same("-c -fthere-is-no-such-option hello.c");
    same("-fthere-is-no-such-option hello.c twice.c");
    same("-c -Wthere-is-no-such-warning hello.c");
    same("-c -Wall -Werror warn.c");
    same("-c hello.c -lm -L. -Wl,-s");
    same("-c hello.c -lm -Werror");
    same("-c badasm.c");
    same("hello.c twice.c warn.c -Wall -fno-tree-vrp -o prog");
    same("@missing.rsp");
}

#[test]
fn questions_are_answered_by_clang() {
    for line in [
        "--version",
        "-v",
        "-dumpmachine",
        "-dumpversion",
        "-print-prog-name=ld",
        "-print-search-dirs",
        "-print-file-name=libc.a",
        "--print-sysroot",
        "-###",
        "--help",
    ] {
        same(line);
    }
}

#[test]
fn linking() {
    let room = Room::new();
    for line in [
        "hello.c twice.c -o prog",
        "-O2 -g hello.c twice.c -o prog",
        "-flto -O2 hello.c twice.c -o prog -Wl,--as-needed",
        "-static hello.c twice.c -o prog",
        "-static-pie hello.c twice.c -o prog",
        "-no-pie -fno-pie hello.c twice.c -o prog",
        "-x c hello.c twice.c -x none -o prog",
        "-fuse-ld=bfd hello.c twice.c -o prog",
        "-rdynamic -pthread hello.c twice.c -o prog",
        "-ffast-math -Ofast hello.c twice.c -o prog",
        "-Wl,--gc-sections -ffunction-sections hello.c twice.c -o prog -s",
        "-MMD -MF x.dep hello.c twice.c -o prog -save-temps=obj",
    ] {
        let output = room.cc(line);
        assert_eq!(said(&output), "", "{line}");
        assert_eq!(said(&room.run(&room.path("prog"), &[], "")), "hello 42\n", "{line}");
        room.assert_no_temporary_files(line);
        fs::remove_file(room.path("prog")).unwrap();
    }
    room.cc("math.c -lm -o math");
    assert_eq!(room.status("math"), 7);
    room.cc("threads.c -pthread -o threads");
    assert_eq!(room.status("threads"), 0);
    room.cc("hello.c twice.c");
    assert_eq!(room.status("a.out"), 0);
    assert_eq!(room.run(&relapse_cc(), &["undefined.c"], "").status.code(), Some(1));
    room.assert_no_temporary_files("undefined.c");
}

#[test]
fn objects_archives_and_relocatable_links() {
    let room = Room::new();
    room.cc("-c hello.c twice.c");
    room.cc("hello.o twice.o -o prog");
    assert_eq!(room.status("prog"), 0);
    let ar = room.run(Path::new("ar"), &["rcs", "libtwice.a", "twice.o"], "");
    assert!(ar.status.success(), "{}", said(&ar));
    room.cc("hello.o -L. -ltwice -o prog2");
    assert_eq!(room.status("prog2"), 0);
    room.cc("-r hello.o twice.o -o both.o");
    room.cc("both.o -o prog3");
    assert_eq!(room.status("prog3"), 0);
    // Objects of another compiler go along with ours, in both directions.
    let clang = room.run(Path::new(CLANG), &["-c", "twice.c", "-o", "plain.o"], "");
    assert!(clang.status.success());
    room.cc("hello.c plain.o -o prog4");
    assert_eq!(room.status("prog4"), 0);
}

#[test]
fn assembler_inputs() {
    let room = Room::new();
    for source in ["asm.s", "cpp.S"] {
        room.cc(&format!("{source} calls.c -o prog"));
        assert_eq!(room.status("prog"), 7, "{source}");
        room.cc(&format!("-c {source} -o seven.o"));
        room.cc("calls.c seven.o -o prog");
        assert_eq!(room.status("prog"), 7, "{source}");
    }
    room.cc("-S calls.c");
    room.cc("calls.s asm.s -o prog");
    assert_eq!(room.status("prog"), 7);
}

#[test]
fn shared_libraries() {
    let room = Room::new();
    fs::write(room.path("all.map"), "TWICE_1 { global: twice; local: *; };").unwrap();
    for (flags, name) in [
        ("", "plain"),
        ("-Wl,--version-script=all.map", "versioned"),
        ("-Wl,-Bsymbolic -Wl,-z,defs", "symbolic"),
        ("-fuse-ld=bfd", "bfd"),
    ] {
        room.cc(&format!("-shared -fPIC {flags} twice.c -o libtwice.so"));
        room.cc(&format!("hello.c -L. -ltwice -o {name}"));
        assert_eq!(room.status(name), 0, "{name}");
        let nm = room.run(Path::new("nm"), &["-D", "libtwice.so"], "");
        assert!(said(&nm).contains(" T twice"), "{name}: {}", said(&nm));
    }
}

#[test]
fn cxx_compiles_links_and_runs() {
    let room = Room::new();
    let cxx = relapse_cxx(&room);
    for line in ["plus.cpp -o plus", "-std=c++20 -O2 -fPIC plus.cpp -o plus", "-c plus.cpp -o plus.o"] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = room.run(&cxx, &words, "");
        assert!(output.status.success(), "{line}: {}", said(&output));
    }
    let output = room.run(&cxx, &["plus.o", "-o", "plus"], "");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(said(&room.run(&room.path("plus"), &[], "")), "5\n");
    fs::remove_dir_all(cxx.parent().unwrap()).unwrap();
}

#[test]
fn response_files() {
    let room = Room::new();
    room.cc("@words.rsp");
    assert_eq!(room.status("with space"), 0);
}

#[test]
fn options_of_gcc_are_dropped_with_one_note() {
    let room = Room::new();
    let output = room.cc("-c -fno-var-tracking-assignments -fipa-pta hello.c");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "relapse-cc: note: options of gcc ignored: -fno-var-tracking-assignments -fipa-pta\n");
}

#[test]
fn sanitized_files_are_left_to_the_sanitizer() {
    let room = Room::new();
    let output = room.cc("-fsanitize=address hello.c twice.c -o prog");
    assert!(said(&output).contains("hello.c: compiled without recording because of -fsanitize=address"));
    room.cc("-fsanitize=undefined hello.c twice.c -o prog2");
    assert_eq!(room.status("prog2"), 0);
}

#[test]
fn precompiled_headers_fit_the_sources() {
    let room = Room::new();
    for flags in ["", "-O2", "-g", "-Ofast -flto", "-ffast-math -fPIC"] {
        room.cc(&format!("{flags} -x c-header twice.h -o twice.h.pch"));
        let output = room.cc(&format!("{flags} -include-pch twice.h.pch -c twice.c"));
        assert_eq!(said(&output), "", "{flags}");
    }
}

/// The probes that autoconf, and scripts written by hand, put to a compiler.
#[test]
fn a_configure_script_sees_a_normal_compiler() {
    let room = Room::new();
    fs::write(
        room.path("configure"),
        r#"set -e
# Default output name and whether executables run.
echo 'int main(void) { return 0; }' > conftest.c
$CC conftest.c 2>conftest.err; test -f a.out; test ! -s conftest.err; ./a.out
# Object suffix.
$CC -c conftest.c 2>conftest.err; test -f conftest.o; test ! -s conftest.err
# A function that exists and one that does not.
echo 'char puts(); int main(void) { return puts == 0; }' > conftest.c
$CC -o conftest conftest.c 2>/dev/null
echo 'char no_such_function(); int main(void) { return no_such_function(); }' > conftest.c
if $CC -o conftest conftest.c 2>/dev/null; then exit 10; fi
# Headers.
echo '#include <stdio.h>' | $CC -E - > /dev/null
if echo '#include <no_such_header.h>' | $CC -E - > /dev/null 2>&1; then exit 11; fi
# Sizes by compile-time assertion.
echo 'static int check[1 - 2 * !(sizeof (long) == 8)]; int main(void) { return check[0]; }' > conftest.c
$CC -c conftest.c
echo 'static int check[1 - 2 * !(sizeof (long) == 4)]; int main(void) { return check[0]; }' > conftest.c
if $CC -c conftest.c 2>/dev/null; then exit 12; fi
# Flags: accepted, refused.
echo 'int main(void) { return 0; }' > conftest.c
$CC -Werror -fstack-protector-strong -c conftest.c
if $CC -Werror -fno-such-flag -c conftest.c 2>/dev/null; then exit 13; fi
if $CC -Werror -Wno-such-warning-at-all=x -Wsuch -c conftest.c 2>/dev/null; then exit 14; fi
# Where the locals of a handler are that runs on a stack of its own, as gnulib asks.
cat > conftest.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static char room[65536];
static void handler(int signal) {
    volatile char local = 0;
    volatile char *at = &local;
    _exit(!(signal == SIGUSR1 && at >= room && at < room + sizeof room));
}
int main(void) {
    stack_t own = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&own, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    return 2;
}
END
$CC -o conftest conftest.c; ./conftest
# Dependency tracking, as automake's depcomp asks for it.
$CC -MT sub/conftest.o -MD -MP -MF conftest.Tpo -c -o conftest.o conftest.c
grep -q '^sub/conftest.o: conftest.c' conftest.Tpo
# -c and -o together.
mkdir -p sub; $CC -c conftest.c -o sub/other.o; test -f sub/other.o
# Shared library and position independent code.
$CC -fPIC -DPIC -shared conftest.c -o conftest.so
# Which compiler is it?
$CC --version | grep -q clang
$CC -dM -E - < /dev/null | grep -q __clang__
"#,
    )
    .unwrap();
    let output = Command::new("sh")
        .arg("-x")
        .arg("configure")
        .current_dir(room.dir.path())
        .env("CC", relapse_cc())
        .env("TMPDIR", room.temp.path())
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    room.assert_no_temporary_files("configure");
}

#[test]
fn make_with_generated_dependencies() {
    let room = Room::new();
    fs::write(
        room.path("Makefile"),
        "CFLAGS = -O2 -Wall -MMD\nprog: hello.o twice.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n-include hello.d twice.d\n",
    )
    .unwrap();
    let make = || {
        let output = Command::new("make")
            .arg(format!("CC={}", relapse_cc().display()))
            .arg("-j2")
            .current_dir(room.dir.path())
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    assert!(make().contains("hello.c"));
    assert_eq!(room.status("prog"), 0);
    assert!(make().contains("up to date"));
    // A changed header makes both objects again.
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::open(room.path("twice.h")).unwrap().set_modified(later).unwrap();
    let again = make();
    assert!(again.contains("hello.c") && again.contains("twice.c"), "{again}");
}

#[test]
fn cmake_builds_a_library_and_a_program() {
    let room = Room::new();
    fs::write(
        room.path("CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.16)\nproject(probe C)\nadd_library(twice SHARED twice.c)\n\
         add_executable(prog hello.c)\ntarget_link_libraries(prog twice)\n",
    )
    .unwrap();
    let compiler = format!("-DCMAKE_C_COMPILER={}", relapse_cc().display());
    for args in [vec!["-S", ".", "-B", "build", &compiler], vec!["--build", "build"]] {
        let output = room.run(Path::new("cmake"), &args, "");
        assert!(output.status.success(), "{}", said(&output));
    }
    assert_eq!(room.status("build/prog"), 0);
}

#[test]
fn an_interrupted_compilation_leaves_nothing_behind() {
    let room = Room::new();
    // Reading standard input, the compiler waits for us.
    let mut child = Command::new(relapse_cc())
        .args(["-c", "-x", "c", "-", "-o", "never.o"])
        .current_dir(room.dir.path())
        .env("TMPDIR", room.temp.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = std::time::Instant::now();
    while fs::read_dir(room.temp.path()).unwrap().next().is_none() {
        assert!(started.elapsed().as_secs() < 20, "the compiler did not start");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(!child.wait().unwrap().success());
    room.assert_no_temporary_files("an interrupted compilation");
    assert!(!room.path("never.o").exists());
}

/// What a compiler cache does: preprocess, then compile the result.
#[test]
fn preprocessed_sources_compile() {
    let room = Room::new();
    room.cc("-E hello.c -o hello.i");
    room.cc("-E twice.c -o twice.cached");
    room.cc("-c hello.i");
    room.cc("-c -x cpp-output twice.cached -o twice.o");
    room.cc("hello.o twice.o -o prog");
    assert_eq!(room.status("prog"), 0);
    // The same command twice gives the same object.
    room.cc("-c hello.c -o one.o");
    room.cc("-c hello.c -o two.o");
    assert_eq!(fs::read(room.path("one.o")).unwrap(), fs::read(room.path("two.o")).unwrap());
}

/// The libraries that the dynamic linker would load for a program.
fn loaded_libraries(program: &str) -> String {
    let listed = Command::new(program).env("LD_TRACE_LOADED_OBJECTS", "1").output().unwrap();
    assert!(listed.status.success(), "{program}");
    String::from_utf8(listed.stdout).unwrap()
}

#[test]
fn only_relapse_cc_loads_llvm() {
    let analysis = loaded_libraries(env!("CARGO_BIN_EXE_relapse"));
    assert!(analysis.contains("libc.so.6"), "{analysis}");
    assert!(!analysis.contains("LLVM"), "{analysis}");
    assert!(loaded_libraries(env!("CARGO_BIN_EXE_relapse-cc")).contains("libLLVM"));
}

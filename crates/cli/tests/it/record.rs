//! `relapse record`.

use crate::sandbox::Sandbox;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

const SUM: &str = r#"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int total = 0;
    for (int i = 1; i < argc; i++)
        total += atoi(argv[i]);
    printf("%d\n", total);
    return total > 9;
}
"#;

#[test]
fn a_session() {
    let mut sandbox = Sandbox::with_program("sum", SUM);
    sandbox.run("./sum 1 2 3");
    sandbox.run("relapse record ./sum 1 2 3");
    sandbox.run("relapse record --quiet ./sum 4 5 6");
    sandbox.run("relapse replay relapse-recording.2");
    assert_session!(sandbox, @r#"
    $ ./sum 1 2 3
    6
    $ relapse record ./sum 1 2 3
    6
    [stderr] relapse: recorded 1 process, [N] instructions, [SIZE], in relapse-recording
    $ relapse record --quiet ./sum 4 5 6
    15
    [exit 1]
    $ relapse replay relapse-recording.2
    process  program  streams  instructions  loads  mispredicted  size  bits/instruction
    p[PID].0  ./sum  [FIGURES]
    exact: 1 process, [N] instructions replayed in [SECONDS]
    "#);
}

#[test]
fn standard_streams_are_the_commands() {
    let mut sandbox = Sandbox::with_program(
        "echo",
        r#"
        #include <stdio.h>
        int main(void) {
            int c;
            while ((c = getchar()) != EOF) { putchar(c); fputc(c, stderr); }
            return 0;
        }"#,
    );
    let output = sandbox.record("./echo", "hello\n");
    assert_eq!(output.stdout, b"hello\n");
    assert_eq!(output.stderr, b"hello\n");
}

#[test]
fn signals_become_exit_codes() {
    let mut sandbox = Sandbox::with_program("crash", "int main(void) { volatile int *p = 0; return *p; }");
    sandbox.run("relapse record -q -o run ./crash");
    sandbox.run("relapse replay run");
    assert_session!(sandbox, @r#"
    $ relapse record -q -o run ./crash
    [exit 139]
    $ relapse replay run
    process  program  streams  instructions  loads  mispredicted  size  bits/instruction
    p[PID].0  ./crash  [FIGURES]
    exact: 1 process, [N] instructions replayed in [SECONDS]
    "#);
}

#[test]
fn directories_are_not_overwritten_unasked() {
    let mut sandbox = Sandbox::with_program("sum", SUM);
    sandbox.run("relapse record -q -o run ./sum 1");
    sandbox.run("relapse record -q -o run ./sum 1");
    sandbox.run("relapse record -q -o run --force ./sum 1");
    sandbox.file("run/notes.txt", "mine");
    sandbox.run("relapse record -q -o run --force ./sum 1");
    assert_session!(sandbox, @r#"
    $ relapse record -q -o run ./sum 1
    1
    $ relapse record -q -o run ./sum 1
    [stderr] relapse: run is not empty
    [stderr]  Name another directory, or say --force to replace the recording in it.
    [exit 2]
    $ relapse record -q -o run --force ./sum 1
    1
    $ relapse record -q -o run --force ./sum 1
    [stderr] relapse: run holds run/notes.txt, which is not part of a recording
    [stderr]  --force replaces recordings only. Name another directory.
    [exit 2]
    "#);
}

#[test]
fn commands_that_cannot_be_recorded() {
    let mut sandbox = Sandbox::with_program("sum", SUM);
    sandbox.run("relapse record true");
    sandbox.run("relapse record false");
    sandbox.run("relapse record ./missing");
    sandbox.file("a-tool-of-mine", "");
    sandbox.run("relapse record a-tool-of-mine");
    sandbox.run("relapse record -o /proc/none ./sum 1");
    assert!(!sandbox.path().join("relapse-recording").exists());
    assert_session!(sandbox, @r#"
    $ relapse record true
    [stderr] relapse: nothing was recorded: no process of true was built with recording
    [stderr]  Build the program with `relapse cc` (CC=relapse-cc in most builds), then record again.
    [exit 4]
    $ relapse record false
    [stderr] relapse: nothing was recorded: no process of false was built with recording
    [stderr]  Build the program with `relapse cc` (CC=relapse-cc in most builds), then record again.
    [exit 1]
    $ relapse record ./missing
    [stderr] relapse: failed to run ./missing: No such file or directory (os error 2)
    [exit 127]
    $ relapse record a-tool-of-mine
    [stderr] relapse: failed to run a-tool-of-mine: No such file or directory (os error 2)
    [stderr]  There is a file a-tool-of-mine here: did you mean ./a-tool-of-mine?
    [exit 127]
    $ relapse record -o /proc/none ./sum 1
    1
    [stderr] relapse: nothing was recorded: failed to write to /proc/none: No such file or directory (os error 2)
    [stderr]  The command ran without being recorded. Name another directory with -o.
    [exit 4]
    "#);
}

#[test]
fn every_instrumented_process_is_recorded() {
    let sandbox = Sandbox::with_program("sum", SUM);
    let output = sandbox.execute("relapse record -o run sh -c ./sum·1;./sum·2;true", "");
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.starts_with("relapse: recorded 2 processes, "), "{text}");
}

#[test]
fn a_terminated_program_is_packed_all_the_same() {
    let mut sandbox = Sandbox::with_program(
        "wait",
        r#"
        #include <stdio.h>
        #include <unistd.h>
        int main(void) { puts("ready"); fflush(stdout); for (;;) pause(); }"#,
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_relapse"))
        .args(["record", "-o", "run", "./wait"])
        .current_dir(sandbox.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    sandbox.quietly("relapse replay run");
}

/// A limit on the size of files is the full disk that needs no privileges.
#[test]
fn a_program_that_outgrows_the_disk_goes_on() {
    let sandbox = Sandbox::with_program(
        "many",
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) {
            unsigned mixed = 0;
            for (int i = 0; i < 2000000; i++) mixed = mixed * 31 + rand();
            printf("%u\n", mixed);
            return 0;
        }"#,
    );
    let plain = sandbox.execute("./many", "");
    let output = sandbox.execute("relapse record -o run sh -c ulimit·-f·4096;exec·./many", "");
    assert_eq!(output.stdout, plain.stdout);
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("incomplete"), "{text}");
    let replayed = sandbox.execute("relapse replay run", "");
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert_eq!(replayed.status.code(), Some(4), "{text}");
    assert!(text.contains("exact"), "what was written replays: {text}");
}

/// Inline functions of C99 have code in one unit, which the optimiser may use in all.
#[test]
fn inline_functions_with_code_elsewhere() {
    let mut sandbox = Sandbox::new();
    let header = "extern int calls;\n\
                  inline int twice(int x) { calls++; return x * 2; }\n";
    sandbox.file("h.h", header);
    sandbox.file("b.c", "#include \"h.h\"\nextern inline int twice(int);\nint calls;\n");
    let main = "#include \"h.h\"\n#include <stdio.h>\n\
                int main(int argc, char **argv) {\n\
                \x20   int sum = 0;\n\
                \x20   for (int i = 0; i < argc + 5; i++)\n\
                \x20       sum += twice(i);\n\
                \x20   printf(\"%d %d\\n\", sum, calls);\n\
                }\n";
    sandbox.file("m.c", main);
    exact_at_all_levels(&mut sandbox, "relapse cc -g -o s b.c m.c", "./s", "30 6\n");
}

/// The strings of C++ are made of functions whose code is in no library.
#[test]
fn strings_of_cpp() {
    let mut sandbox = Sandbox::new();
    let source = "#include <map>\n#include <string>\n#include <cstdio>\n\
                  int main(int argc, char **argv) {\n\
                  \x20   std::map<std::string, int> seen;\n\
                  \x20   for (int i = 1; i < argc; i++)\n\
                  \x20       seen[std::string(argv[i]) + \"!\"] += i;\n\
                  \x20   for (auto &entry : seen)\n\
                  \x20       std::printf(\"%s %d\\n\", entry.first.c_str(), entry.second);\n\
                  }\n";
    sandbox.file("s.cc", source);
    exact_at_all_levels(&mut sandbox, "relapse c++ -g -o s s.cc", "./s pear fig pear", "fig! 2\npear! 4\n");
}

/// Builds, records and replays a program at three levels of optimisation.
fn exact_at_all_levels(sandbox: &mut Sandbox, build: &str, run: &str, prints: &str) {
    for level in ["-O0", "-O1", "-O2"] {
        sandbox.quietly(&format!("{build} {level}"));
        let output = sandbox.record(run, "");
        assert_eq!(String::from_utf8_lossy(&output.stdout), prints, "{level}");
        let replayed = sandbox.quietly("relapse replay run");
        assert!(replayed.contains("exact: 1 process"), "{level}: {replayed}");
        std::fs::remove_dir_all(sandbox.path().join("run")).expect("the recording is removed");
    }
}

/// What is recorded most: a program that hangs, in a loop without calls, and is ended from outside.
#[test]
fn a_loop_that_was_killed_is_in_the_recording() {
    let mut sandbox = Sandbox::with_program(
        "hang",
        r#"
        #include <sys/time.h>
        int main(void) {
            struct itimerval soon = {{0, 0}, {0, 200000}};
            setitimer(ITIMER_REAL, &soon, 0);
            unsigned n = 1;
            while (n) n = n * 3 | 1;
            return 0;
        }"#,
    );
    assert_eq!(sandbox.record("./hang", "").status.code(), Some(128 + 14));
    let answer: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse replay run --json")).unwrap();
    assert_eq!(answer["processes"][0]["streams"][0]["end"]["how"], "cut");
    let instructions = answer["instructions"].as_u64().unwrap();
    assert!(instructions > 100_000, "{instructions}");
}

/// Not even the list of modules fits.
#[test]
fn a_program_that_may_write_next_to_nothing_goes_on() {
    let sandbox = Sandbox::with_program("sum", SUM);
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 4; exec \"$0\" record -o run ./sum 1 2", env!("CARGO_BIN_EXE_relapse")])
        .current_dir(sandbox.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3\n");
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A server gives up the rights of root, and its children never had them.
#[test]
fn processes_of_another_user_are_recorded_where_they_may_write() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let mut sandbox = Sandbox::with_program(
        "serve",
        r#"
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
            unsigned char noise[4096];
            int sum = 0, source = open("/dev/urandom", O_RDONLY), status = 1;
            if (setuid(65534)) return 3;
            // More than the part of the stream's file that was there before.
            for (int i = 0; i < 200 && read(source, noise, sizeof noise) > 0; i++)
                for (unsigned n = 0; n < sizeof noise; n++) sum += noise[n];
            if (fork() == 0) return sum == 0;
            wait(&status);
            printf("%d\n", status);
            return 0;
        }"#,
    );
    std::fs::set_permissions(sandbox.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    for directory in ["started", "changed"] {
        std::fs::create_dir(sandbox.path().join(directory)).unwrap();
        std::os::unix::fs::chown(sandbox.path().join(directory), Some(65534), None).unwrap();
    }
    for (directory, start) in [("changed", ""), ("started", "setpriv --reuid=65534 --clear-groups ")] {
        sandbox.quietly(&format!("relapse record -o {directory} {start}./serve"));
        let answer = sandbox.quietly(&format!("relapse replay {directory} --json"));
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["exact"], true, "{answer}");
        assert_eq!(answer["processes"].as_array().unwrap().len(), 2, "{answer}");
    }
    for start in ["", "setpriv --reuid=65534 --clear-groups "] {
        let output = sandbox.execute(&format!("relapse record --force -o closed {start}./serve"), "");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("it runs as another user and may not write here"), "{start}: {said}");
        assert_eq!(output.status.code(), Some(4), "{start}");
    }
    // Where it cannot even say so, the one that started it does.
    std::fs::create_dir(sandbox.path().join("hidden")).unwrap();
    std::fs::set_permissions(sandbox.path().join("hidden"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let output = sandbox.execute("relapse record -o hidden/run ./serve", "");
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What cannot be recorded says so where it matters: when it is to be recorded.
#[test]
fn other_instrumentation_is_named() {
    let mut sandbox = Sandbox::new();
    sandbox.file("sum.c", SUM);
    // All in one step, and in two.
    sandbox.execute("relapse cc -fsanitize=address -o sum sum.c", "");
    sandbox.execute("relapse cc -fsanitize=thread -c -o two.o sum.c", "");
    sandbox.execute("relapse cc -fsanitize=thread -o two two.o", "");
    for (program, option) in [("sum", "-fsanitize=address"), ("two", "-fsanitize=thread")] {
        for command in [format!("./{program} 1 2"), format!("sh -c ./{program}\u{b7}1\u{b7}2")] {
            let output = sandbox.execute(&format!("relapse record --force -o run -- {command}"), "");
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(4), "{text}");
            let sentence = format!("./{program} cannot be recorded because of {option}");
            assert!(text.contains(&sentence), "{text}");
        }
    }
    // Measuring is left out, recording is not.
    let built = sandbox.execute("relapse cc --coverage -pg -fprofile-arcs -o sum sum.c", "");
    let text = String::from_utf8_lossy(&built.stderr);
    assert!(text.contains("left out: --coverage -pg -fprofile-arcs"), "{text}");
    assert_eq!(sandbox.record("./sum 1 2", "").stdout, b"3\n");
    sandbox.quietly("relapse replay run");
}

#[test]
fn switching_stacks_is_refused_with_the_reason() {
    let sandbox = Sandbox::with_program(
        "coroutine",
        r#"
        #include <stdio.h>
        #include <ucontext.h>
        static ucontext_t home, away;
        static char stack[65536];
        static int turns;
        static void visit(void) { for (;;) { turns++; swapcontext(&away, &home); } }
        int main(void) {
            getcontext(&away);
            away.uc_stack.ss_sp = stack;
            away.uc_stack.ss_size = sizeof stack;
            makecontext(&away, visit, 0);
            for (int i = 0; i < 5; i++) swapcontext(&home, &away);
            printf("%d\n", turns);
            return 0;
        }"#,
    );
    let output = sandbox.execute("relapse record -o run ./coroutine", "");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "5\n");
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("it goes on on another stack (swapcontext)"), "{text}");
    // What came before is exact.
    assert_eq!(sandbox.execute("relapse replay run", "").status.code(), Some(4));
}

/// Coroutines of a library's own, in assembly.
#[test]
fn switching_stacks_by_hand_is_refused_with_the_reason() {
    let mut sandbox = Sandbox::new();
    sandbox.file(
        "switch.s",
        ".globl switch_to\nswitch_to:\n push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n \
         mov %rsp, (%rdi)\n mov %rsi, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n\
         .section .note.GNU-stack,\"\",@progbits\n",
    );
    sandbox.file(
        "main.c",
        r#"
        #include <stdio.h>
        void switch_to(void **save, void *to);
        static void *home, *away;
        static _Alignas(16) char stack[65536];
        static int turns;
        static void visit(void) { for (;;) { turns++; switch_to(&away, home); } }
        int main(void) {
            void **top = (void **)(stack + sizeof stack - 24);
            *--top = (void *)visit;
            for (int i = 0; i < 6; i++) *--top = 0;
            away = top;
            for (int i = 0; i < 5; i++) switch_to(&home, away);
            printf("%d\n", turns);
            return 0;
        }"#,
    );
    sandbox.quietly("relapse cc -g -O1 -o main main.c switch.s");
    let output = sandbox.execute("relapse record -o run ./main", "");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "5\n", "{text}");
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("it goes on on another stack"), "{text}");
    assert_eq!(sandbox.execute("relapse replay run", "").status.code(), Some(4));
}

#[test]
fn the_share_of_unknown_code_is_told() {
    let mut sandbox = Sandbox::new();
    sandbox.file("plain.c", "int unknown(int x) { return x + 1; }\n");
    sandbox.file(
        "main.c",
        "#include <stdlib.h>\nint unknown(int);\nint main(void) { int n = abs(-3); return unknown(n) + unknown(n) - 8; }\n",
    );
    sandbox.quietly("clang-22 -c -o plain.o plain.c");
    sandbox.quietly("relapse cc -g -O1 -fno-builtin -o main main.c plain.o");
    sandbox.run("relapse record -o run ./main");
    sandbox.run("relapse record --strict --force -o run ./main");
    assert_session!(sandbox, @r#"
    $ relapse record -o run ./main
    [stderr] relapse: recorded 1 process, [N] instructions, [SIZE], in run
    [stderr] relapse: 66.7% of the calls out of recorded code (2 of 3) went to functions of which nothing is known
    $ relapse record --strict --force -o run ./main
    [stderr] relapse: 66.7% of the calls out of recorded code (2 of 3) went to functions of which nothing is known
    [stderr]  Build what they are in with `relapse cc` as well, or record without --strict.
    [exit 4]
    "#);
}

#[test]
fn a_process_that_went_on_as_another_program_is_complete() {
    let mut sandbox = Sandbox::with_program(
        "start",
        r#"
        #include <stdio.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            if (fork() == 0) {
                close(0); close(1); close(2);
                if (argc == 1) execlp("sleep", "sleep", "4", (char *)0);
                sleep(4);
                _exit(0);
            }
            puts("started");
            return 0;
        }"#,
    );
    sandbox.run("relapse record -o exec ./start");
    sandbox.run("relapse record -o fork ./start stay");
    let text = sandbox.transcript();
    assert!(text.contains("relapse: recorded 2 processes"), "{text}");
    assert!(text.contains("still runs and goes on recording"), "{text}");
    assert_eq!(text.matches("[exit 4]").count(), 1, "{text}");
}

#[test]
fn a_limited_address_space_is_named() {
    let mut sandbox = Sandbox::with_program("sum", SUM);
    sandbox.file("limited.sh", "ulimit -v 300000\n./sum 1 2 3\n");
    sandbox.run("relapse record -o run sh limited.sh");
    let text = sandbox.transcript();
    assert!(text.contains("\n6\n"), "{text}");
    assert!(text.contains("no room for recording in its address space (ulimit -v)"), "{text}");
}

//! Questions are found by an index as by replay, and without one.

use crate::desk::{Desk, recorded};
use crate::indexed;
use slice::{Slicer, SlicerOptions};

/// Asks about every line and every variable; gives those answers that took a replay.
fn compare_lines(source: &str, stdin: &str, names: &[&str], segment: u64) -> Vec<(u32, String)> {
    let (_desk, process) = recorded(source, stdin);
    let options = SlicerOptions { segment, ..SlicerOptions::default() };
    let by_replay = Slicer::new(&process, options);
    let mut replayed = Vec::new();
    let mut answers = 0;
    let by_index = indexed(&process, options);
    for line in 1..=source.lines().count() as u32 {
        assert_eq!(
            by_replay.last_visit("p.c", line).expect("a replay"),
            by_index.last_visit("p.c", line).expect("an index"),
            "line {line}, segments of {segment}"
        );
        assert_eq!(
            by_replay.variables_at("p.c", line).expect("a replay"),
            by_index.variables_at("p.c", line).expect("an index"),
            "line {line}"
        );
    }
    assert_eq!(
        by_replay.lines_that_ran("p.c").expect("lines"),
        by_index.lines_that_ran("p.c").expect("lines")
    );
    assert!(!by_index.has_replayed());
    for line in 1..=source.lines().count() as u32 {
        for name in names {
            let by_index = indexed(&process, options);
            let one = by_replay.ask_variable("p.c", line, name).expect("a replay");
            let two = by_index.ask_variable("p.c", line, name).expect("an index");
            assert_eq!(one, two, "{name} at line {line}, segments of {segment}");
            answers += u32::from(one.is_some());
            if by_index.has_replayed() {
                replayed.push((line, (*name).to_owned()));
            }
        }
    }
    assert!(answers > 20, "{answers} answers");
    replayed
}

const VARIABLES: &str = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { int a, b; };
static int shared[4], calls;
int visible = 3;
static int order(const void *a, const void *b) { calls++; return *(const int *)a - *(const int *)b; }
static int down(int n) { return n > 0 ? n + down(n - 1) : calls; }
static int sum(struct pair p, int *into) {
    int both = p.a + p.b;
    *into = both + visible;
    return both;
}
static int room(int n) {
    int cells[n];
    memset(cells, 0, sizeof cells);
    cells[n - 1] = n;
    calls += cells[n - 1];
    return cells[n - 1];
}
int main(int argc, char **argv) {
    int kept = 0;
    struct pair p = { argc, argc + 1 };
    for (int i = 0; i < 3; i++) { shared[i] = 3 - i; kept += i; }
    qsort(shared, 3, sizeof *shared, order);
    int got = sum(p, &kept) + down(2);
    got += room(argc + 2);
    char text[8] = \"abc\";
    text[1] = 'x';
    printf(\"%d %d %s\\n\", got, kept, text);
    return 0;
}
";

#[test]
fn variables_need_no_replay_unless_a_pointer_says_where_they_are() {
    let names = ["argc", "kept", "p", "i", "got", "text", "shared", "visible", "calls", "n", "both", "into"];
    for segment in [1 << 20, 7] {
        assert_eq!(compare_lines(VARIABLES, "", &names, segment), [], "segments of {segment}");
    }
    // How far an array whose length is computed lies in the frame is a value.
    let replayed = compare_lines(VARIABLES, "", &["cells", "got", "kept", "argc"], 1 << 20);
    assert!(!replayed.is_empty() && replayed.iter().all(|(_, name)| name == "cells"), "{replayed:?}");
}

const OUTPUTS: &str = "#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char name[8] = \"global\";
static void say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}
int main(int argc, char **argv) {
    char text[8] = \"abcd\";
    text[1] = 'x';
    long double half = argc / 2.0L;
    printf(\"<%d|%6s|%-6s|%.2s|%.*s>\\n\", argc, text, text, text, argc + 1, text);
    printf(\"%Lg %d %s %% %5d\\n\", half, argc + 7, name, 5);
    puts(text);
    putchar('a' + argc);
    putchar('\\n');
    fwrite(text, 1, 3, stdout);
    fflush(stdout);
    write(1, name, 4);
    say(\"%d %s\\n\", argc, text);
    FILE *file = fopen(\"out.txt\", \"w\");
    fprintf(file, \"%s %d\", text, argc);
    fseek(file, 1, SEEK_SET);
    fputc('!', file);
    fclose(file);
    fprintf(stderr, \"%s: %d\\n\", name, argc);
    return 0;
}
";

#[test]
fn bytes_of_output_need_no_replay() {
    let (_desk, process) = recorded(OUTPUTS, "");
    let by_replay = Slicer::new(&process, SlicerOptions::default());
    let by_index = indexed(&process, SlicerOptions::default());
    let mut answers = Vec::new();
    for sink in ["stdout", "stderr", "out.txt", "nowhere"] {
        let mut found = 0;
        for byte in 0..120 {
            let one = by_replay.ask_output(sink, byte).expect("a replay");
            let two = by_index.ask_output(sink, byte).expect("an index");
            assert_eq!(one, two, "byte {byte} of {sink}");
            let Some(question) = one else { continue };
            found += 1;
            let lines = |slicer: &Slicer<'_>| {
                slicer.lines(&slicer.slice(std::slice::from_ref(&question), &mut |_| {}).expect("a slice"))
            };
            assert_eq!(lines(&by_replay), lines(&by_index), "byte {byte} of {sink}");
        }
        answers.push(found);
    }
    assert!(answers[0] > 60 && answers[1..] == [10, 6, 0], "{answers:?}");
    assert!(!by_index.has_replayed());
}

/// Which text a byte is of, with blanks before and behind, cut off, and after an argument
/// that takes two slots.
#[test]
fn a_byte_comes_from_its_own_argument() {
    let source = "#include <stdio.h>
int main(int argc, char **argv) {
    char a[4] = \"ab\";
    a[0] = 'p' + argc;
    a[1] = 'r' + argc;
    long double wide = argc;
    int narrow = argc + 3;
    printf(\"%4s|%-3s|%.1s|%Lg|%d\\n\", a, a, a, wide, narrow);
    return 0;
}
";
    let (_desk, process) = recorded(source, "");
    let slicer = indexed(&process, SlicerOptions::default());
    let lines = |byte: u64| -> Vec<u32> {
        let question = slicer.ask_output("stdout", byte).expect("an answer").expect("a byte");
        let slice = slicer.slice(&[question], &mut |_| {}).expect("a slice");
        slicer.lines(&slice).into_iter().map(|l| l.1).collect()
    };
    // "  qs|qs |q|1|4\n"
    assert_eq!(lines(0), [3, 4, 5, 8], "a blank before: how long the text is");
    assert_eq!(lines(2), [4, 8]);
    assert_eq!(lines(3), [5, 8]);
    assert_eq!(lines(4), [8]);
    assert_eq!(lines(5), [4, 8]);
    assert_eq!(lines(6), [5, 8]);
    assert_eq!(lines(7), [3, 4, 5, 8], "a blank behind");
    assert_eq!(lines(9), [4, 8]);
    assert_eq!(lines(11), [6, 8]);
    assert_eq!(lines(13), [7, 8]);
    assert!(!slicer.has_replayed());
}

/// What the command says when a question is about nothing does not depend on an index.
#[test]
fn nothing_is_said_to_be_nothing() {
    let mut desk = Desk::with_program("p", VARIABLES);
    desk.record("./p", "");
    let questions =
        ["--at p.c:4", "--at p.c:18:nothing", "--at p.c:200", "--output stdout@100", "--output x@0"];
    let ask = |desk: &Desk| {
        questions.map(|q| {
            let output = desk.execute(&format!("relapse slice run {q}"), "");
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        })
    };
    let before = ask(&desk);
    assert!(before.iter().all(|b| b.0 != Some(0)), "{before:?}");
    desk.quietly("relapse index run");
    assert_eq!(ask(&desk), before);
}

/// However a process ends, the index knows by which step.
#[test]
fn ends_need_no_replay() {
    let ends = [
        "return n;",
        "exit(n);",
        "leave(n);",
        "abort();",
        "*(volatile int *)0 = n;",
        "_exit(n);",
        "pthread_exit(NULL);",
    ];
    for end in ends {
        let source = format!(
            "#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {{
    void (*leave)(int) = argc > 7 ? _exit : exit;
    int n = argc + 2;
    if (argc > 8)
        leave(1);
    {end}
}}
"
        );
        let (_desk, process) = recorded(&source, "");
        let by_replay = Slicer::new(&process, SlicerOptions::default());
        let by_index = indexed(&process, SlicerOptions::default());
        let one = by_replay.ask_failure().expect("a replay");
        assert_eq!(one, by_index.ask_failure().expect("an index"), "{end}");
        assert!(!by_index.has_replayed(), "{end}");
        assert_eq!(one.is_some(), !end.starts_with("pthread"), "{end}");
    }
}

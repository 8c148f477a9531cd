//! Off the straight path: jumps, signals, callbacks, copies by the library, bytes in parts,
//! unions, variadic functions, the heap.

use crate::desk::recorded;
use crate::{lines_of, of};
use slice::{Slicer, SlicerOptions, Variant};

/// Lines of the dynamic and of the relevant slice of the line that has `ask`.
fn both(source: &str) -> (Vec<u32>, Vec<u32>) {
    let line = line(source, "ask");
    let (_desk, process) = recorded(source, "");
    let slicer = Slicer::new(&process, SlicerOptions::default());
    (lines_of(&slicer, line, None), lines_of(&slicer, line, of(Variant::Relevant)))
}

/// The number of the line that has a mark in a comment.
fn line(source: &str, mark: &str) -> u32 {
    let mark = format!("/* {mark} */");
    source.lines().position(|l| l.contains(&mark)).unwrap_or_else(|| panic!("no {mark}")) as u32 + 1
}

/// Asserts which marked lines are in the dynamic slice, which only in the relevant one, and
/// which in none.
fn check(source: &str, dynamic: &[&str], relevant: &[&str], neither: &[&str]) {
    let (d, r) = both(source);
    for mark in dynamic {
        assert!(d.contains(&line(source, mark)), "{mark} is in the dynamic slice {d:?}");
        assert!(r.contains(&line(source, mark)), "{mark} is in the relevant slice {r:?}");
    }
    for mark in relevant {
        assert!(!d.contains(&line(source, mark)), "{mark} is not in the dynamic slice {d:?}");
        assert!(r.contains(&line(source, mark)), "{mark} is in the relevant slice {r:?}");
    }
    for mark in neither {
        assert!(!r.contains(&line(source, mark)), "{mark} is not in the relevant slice {r:?}");
    }
}

#[test]
fn bytes_that_overlap_in_part() {
    let source = r#"#include <stdio.h>
#include <string.h>
static unsigned char box[8];
int main(int argc, char **argv) {
    unsigned low = argc + 4; /* low */
    unsigned high = argc + 5; /* high */
    memcpy(box, &low, 4); /* first */
    memcpy(box + 2, &high, 4); /* second */
    if (argc > 2) /* may */
        box[1] = 9;
    if (argc > 3) /* beside */
        box[2] = 9;
    unsigned short got;
    memcpy(&got, box, 2); /* copy */
    printf("%d\n", got); /* ask */
    return 0;
}
"#;
    check(source, &["low", "first", "copy"], &["may"], &["high", "second", "beside"]);
}

#[test]
fn unions_are_bytes() {
    let source = r#"#include <stdio.h>
union cell { int i; float f; char c[4]; };
static union cell u, other;
int main(int argc, char **argv) {
    u.f = 1.5f; /* lost */
    u.i = argc; /* whole */
    u.c[3] = (char)(argc + 6); /* part */
    if (argc > 5) /* may */
        u.f = 2.0f;
    if (argc > 6) /* beside */
        other.i = 3;
    printf("%d\n", u.i); /* ask */
    return 0;
}
"#;
    check(source, &["whole", "part"], &["may"], &["lost", "beside"]);
}

#[test]
fn variadic_arguments() {
    let source = r#"#include <stdarg.h>
#include <stdio.h>
static int sum(int n, ...) {
    va_list list;
    int total = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++) {
        int v = va_arg(list, int);
        if (v > 50) /* may */
            total = 0;
        total += v; /* add */
    }
    va_end(list);
    return total;
}
int main(int argc, char **argv) {
    int a = argc + 1; /* a */
    int b = argc + 2; /* b */
    int c = argc + 3; /* c */
    int got = sum(2, a, b, c);
    printf("%d\n", got); /* ask */
    return 0;
}
"#;
    check(source, &["add", "a", "b"], &["may"], &["c"]);
}

#[test]
fn a_jump_out_of_the_middle() {
    let source = r#"#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static int state, other;
static void leave(int why) {
    if (why > 2) /* jumps */
        longjmp(place, why);
    state = 5; /* skipped */
}
int main(int argc, char **argv) {
    state = argc; /* set */
    other = 4; /* other */
    if (setjmp(place) == 0)
        leave(argc + 3); /* call */
    printf("%d\n", state); /* ask */
    return 0;
}
"#;
    let (_, relevant) = both(source);
    for mark in ["jumps", "set"] {
        assert!(relevant.contains(&line(source, mark)), "{mark}: {relevant:?}");
    }
    for mark in ["skipped", "other"] {
        assert!(!relevant.contains(&line(source, mark)), "{mark}: {relevant:?}");
    }
}

#[test]
fn a_signal_handler_that_did_nothing() {
    let source = r#"#include <signal.h>
#include <stdio.h>
static volatile int hits, mode, noise;
static void handler(int number) {
    noise = number; /* noise */
    if (mode == 3) /* may */
        hits = 2;
}
int main(int argc, char **argv) {
    mode = argc; /* mode */
    signal(SIGUSR1, handler);
    hits = argc + 7; /* set */
    raise(SIGUSR1);
    printf("%d\n", hits); /* ask */
    return 0;
}
"#;
    check(source, &["set"], &["may", "mode"], &["noise"]);
}

#[test]
fn a_callback_that_did_nothing() {
    let source = r#"#include <stdio.h>
#include <stdlib.h>
static int swaps, limit;
static int order(const void *a, const void *b) {
    if (*(const int *)a > limit) /* may */
        swaps = 1;
    return *(const int *)a - *(const int *)b;
}
int main(int argc, char **argv) {
    int v[3] = { 3, 1, 2 };
    limit = argc + 100; /* limit */
    swaps = argc; /* set */
    qsort(v, 3, sizeof *v, order);
    printf("%d\n", swaps); /* ask */
    return 0;
}
"#;
    check(source, &["set"], &["may", "limit"], &[]);
}

#[test]
fn the_library_could_have_written() {
    let source = r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    char name[8] = "abc"; /* set */
    char other[8] = "xyz"; /* other */
    int n = argc; /* n */
    if (argc > 1) /* copies */
        strcpy(name, argv[1]);
    if (argc > 2) /* scans */
        sscanf(argv[1], "%d", &n);
    if (argc > 3) /* beside */
        strcpy(other, name);
    printf("%s %d\n", name, n); /* ask */
    return other[0] == 'q';
}
"#;
    check(source, &["n"], &["copies", "scans"], &["other", "beside"]);
}

#[test]
fn the_heap_by_where_it_was_allocated() {
    let source = r#"#include <stdio.h>
#include <stdlib.h>
struct node { int value; int count; struct node *next; };
int main(int argc, char **argv) {
    struct node *a = malloc(sizeof *a); /* a */
    struct node *b = malloc(sizeof *b);
    a->value = argc; /* set */
    a->next = b;
    b->value = 3; /* b */
    struct node *p = argc > 4 ? b : a; /* p */
    if (argc > 1) /* through */
        p->value = 4;
    if (argc > 2) /* field */
        a->count = 4;
    if (argc > 3) /* beside */
        b->value = 5;
    printf("%d\n", a->value); /* ask */
    free(a);
    free(b);
    return 0;
}
"#;
    check(source, &["a", "set"], &["through"], &["b", "field", "beside"]);
}

#[test]
fn another_function_could_have_been_called() {
    let source = r#"#include <stdio.h>
static int state;
static void set(void) {
    state = 4;
}
static void skip(void) {
}
static void (*todo)(void);
int main(int argc, char **argv) {
    state = argc; /* first */
    int choice = argc > 3; /* choice */
    todo = skip; /* skip */
    if (choice) /* decides */
        todo = set;
    todo(); /* calls */
    printf("%d\n", state); /* ask */
    return 0;
}
"#;
    check(source, &["first"], &["calls", "skip", "decides", "choice"], &[]);
}

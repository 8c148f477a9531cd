//! Slices of real recordings: against a dependence graph made the simple way, on
//! random programs; and the line sets of known examples.

#[path = "../desk/mod.rs"]
mod desk;
mod generate;
mod graph;

use desk::{LOOP, recorded};
use slice::{Criterion, Dependence, NodeId, Occurrence, Relevance, Slicer, SlicerOptions, Wanted};
use std::collections::BTreeSet;

fn lines(source: &str, stdin: &str, line: u32) -> Vec<u32> {
    let (_desk, process) = recorded(source, stdin);
    let slicer = Slicer::new(&process, SlicerOptions::default());
    let question = slicer.ask_line("p.c", line).expect("an answer");
    assert!(!question.is_empty(), "line {line} ran");
    let slice = slicer.slice(&question, &mut |_| {}).expect("a slice");
    let lines: BTreeSet<u32> = slicer.lines(&slice).into_iter().map(|l| l.1).collect();
    lines.into_iter().collect()
}

#[test]
fn slices_are_what_can_be_reached_in_the_whole_graph() {
    for seed in 0..8 {
        let (_desk, process) = recorded(&generate::Program::write(seed), "");
        let mut whole = graph::Graph::default();
        let stream = &process.streams[0].stream;
        replay::machine::Machine::new(&process.image, stream).run(&mut whole, u64::MAX).expect("a replay");
        let mut random = generate::Random::new(seed + 1);
        let steps: Vec<u64> = (0..20).map(|_| random.below(whole.len())).chain([whole.len() - 2]).collect();
        for segment in [1 << 20, 61] {
            let slicer = Slicer::new(&process, SlicerOptions { segment, ..SlicerOptions::default() });
            for &step in &steps {
                let at = Occurrence { stream: 0, step };
                let question = [Criterion { at, wanted: vec![Wanted::All] }];
                let slice = slicer.slice(&question, &mut |_| {}).expect("a slice");
                let found: BTreeSet<u64> = slice.nodes.iter().map(|n| n.at.step).collect();
                assert_eq!(found, whole.slice(step), "seed {seed}, segments of {segment}, step {step}");
            }
        }
    }
}

/// The setting of a flag that does not matter stays out, and so does the way not
/// taken (Wang, figure 2.1).
#[test]
fn a_value_stored_on_the_way_taken() {
    let source = "#include <stdio.h>
static int own;
static const char *saved;
static void set(int rv) {
    own = rv;
    if (rv)
        saved = \"value\";
    else
        saved = \"\";
    puts(saved);
}
int main(int argc, char **argv) {
    set(argc > 5);
    return 0;
}
";
    assert_eq!(lines(source, "", 10), [6, 9, 10, 13]);
}

/// A branch that skipped an assignment is no dependence (figure 2.5).
#[test]
fn input_and_a_loop_that_did_not_run() {
    let source = "#include <stdio.h>
int main(void) {
    int ch = getchar();
    int buf = ch;
    if (ch == ' ')
        while (ch != ';') {
            ch = getchar();
            buf += ch;
        }
    printf(\"%d\\n\", buf);
    return 0;
}
";
    assert_eq!(lines(source, "&abc;", 10), [3, 4, 10]);
    assert_eq!(lines(source, " ab;", 10), [3, 4, 5, 6, 7, 8, 10]);
}

#[test]
fn a_loop_with_calls() {
    assert_eq!(lines(LOOP, "", 31), [5, 6, 8, 9, 19, 26, 28, 31]);
    assert_eq!(lines(LOOP, "", 6), [5, 6, 26, 28]);
}

/// A branch condition hangs on the computation before it (figure 3.8), and every
/// step of the chain carries the values of that very execution.
#[test]
fn operands_and_values_are_those_of_the_execution() {
    let (_desk, process) = recorded(LOOP, "");
    let slicer = Slicer::new(&process, SlicerOptions::default());
    let question = slicer.ask_variable("p.c", 31, "k").expect("a replay").expect("k at line 31");
    let slice = slicer.slice(&[question], &mut |_| {}).expect("a slice");
    let start = slice.criteria[0].expect("a node");
    let chain = slice::chain::chain(&slicer, &slice, start, slice::chain::ChainOptions::default());
    let at: Vec<Occurrence> = chain.iter().map(|l| slice.nodes[l.node as usize].at).collect();
    let shots = slicer.values(&at, replay::vars::Limits::default()).expect("values");
    let sums: Vec<&str> = shots
        .iter()
        .filter(|s| s.place.line == 28 && s.callee.is_none())
        .filter_map(|s| s.result.as_ref().map(|r| r.value.as_str()))
        .collect();
    assert_eq!(sums, ["15", "13", "8", "6"]);
    let first = &chain[0].from;
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(shots[first[0].0].result.as_ref().and_then(|r| r.name.as_deref()), Some("k"));
}

/// An assignment that two branches guard, and that did not run (figure 4.1).
#[test]
fn skipped_assignments_are_no_dependence() {
    let source = "#include <stdio.h>
int main(int argc, char **argv) {
    int a = argc + 1;
    int b = 1;
    int k = 1;
    if (a > 1)
        if (b > argc)
            k = 2;
    printf(\"%d\\n\", k);
    return 0;
}
";
    assert_eq!(lines(source, "", 9), [5, 9]);
    let other = source.replace("b > argc", "b == argc");
    assert_eq!(lines(&other, "", 9), [3, 4, 6, 7, 8, 9]);
}

/// The critical predicate example of *A Synergistic Analysis Method for
/// Explaining Failed Regression Tests*.
#[test]
fn critical_predicates_are_the_branches_that_could_have_changed_it() {
    let source = "#include <stdio.h>
int main(void) {
    int a = 2, b = 1, c = 1, d = 0;
    if (a > 0) {
        if (b < 0)
            if (c != 2)
                c = 2;
        d = c + 3;
    }
    printf(\"%d\\n\", d);
    return 0;
}
";
    assert_eq!(critical(source, 10), [(4, Dependence::Control), (5, Dependence::Potential)]);
}

/// The branches that are critical to anything in the relevant slice of a line.
fn critical(source: &str, line: u32) -> Vec<(u32, Dependence)> {
    let (_desk, process) = recorded(source, "");
    let slicer = Slicer::new(&process, SlicerOptions::default());
    let asked = slicer.ask_line("p.c", line).expect("a replay");
    let slice = slicer.relevant(&asked, Relevance::default(), &mut |_| {}).expect("a slice");
    let needs = slice.needs();
    let nodes = 0..slice.nodes.len() as NodeId;
    let critical: Vec<NodeId> = nodes.flat_map(|n| needs.critical(n)).collect();
    let at: Vec<Occurrence> = critical.iter().map(|n| slice.nodes[*n as usize].at).collect();
    let shots = slicer.values(&at, replay::vars::Limits::default()).expect("values");
    let how = |n: NodeId| slice.needed_by(n).map(|x| x.1).find(|h| *h == Dependence::Control);
    let all: BTreeSet<(u32, Dependence)> = critical
        .iter()
        .zip(&shots)
        .map(|(n, s)| (s.place.line, how(*n).unwrap_or(Dependence::Potential)))
        .collect();
    all.into_iter().collect()
}

#[test]
fn critical_predicates_see_memory_and_calls() {
    let source = "#include <stdio.h>
static int level = 3, other;
static void reset(void) {
    level = 0;
}
int main(int argc, char **argv) {
    if (argc > 3)
        reset();
    if (argc > 4)
        other = 9;
    int got = level;
    printf(\"%d\\n\", got);
    return 0;
}
";
    assert_eq!(critical(source, 11), [(7, Dependence::Potential)]);
}

/// Through a library function that calls back, `longjmp`, and another thread.
#[test]
fn callbacks_depend_on_the_call_they_happened_under() {
    let source = "#include <stdio.h>
#include <stdlib.h>
static int calls;
static int order(const void *a, const void *b) {
    calls = 7;
    return *(const int *)a - *(const int *)b;
}
int main(void) {
    int v[3] = { 3, 1, 2 };
    int unused = 4;
    qsort(v, 3, sizeof *v, order);
    printf(\"%d\\n\", calls);
    return unused;
}
";
    let found = lines(source, "", 12);
    assert!([5, 11, 12].iter().all(|l| found.contains(l)), "{found:?}");
    assert!(!found.contains(&10) && !found.contains(&13), "{found:?}");
}

#[test]
fn a_jump_brings_its_value_and_its_reason() {
    let source = "#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static void leave(int why) {
    if (why > 2)
        longjmp(place, why + 1);
}
int main(void) {
    int unused = 1;
    int got = setjmp(place);
    if (got == 0)
        leave(4);
    printf(\"%d\\n\", got + 0 * unused);
    return 0;
}
";
    let found = lines(source, "", 13);
    assert!([5, 6, 12, 13].iter().all(|l| found.contains(l)), "{found:?}");
}

#[test]
fn a_value_comes_from_another_thread() {
    let source = "#include <pthread.h>
#include <stdio.h>
static int result, noise;
static void *work(void *in) {
    noise = 5;
    result = *(int *)in * 2;
    return NULL;
}
int main(void) {
    int input = 21;
    pthread_t thread;
    pthread_create(&thread, NULL, work, &input);
    pthread_join(thread, NULL);
    printf(\"%d\\n\", result);
    return 0;
}
";
    let found = lines(source, "", 14);
    assert!([6, 10, 12, 14].iter().all(|l| found.contains(l)), "{found:?}");
    assert!(!found.contains(&5), "{found:?}");
}

/// Strings are read because a format says so, also out of a `va_list`.
#[test]
fn formatted_text_comes_from_what_the_format_names() {
    let source = "#include <stdarg.h>
#include <stdio.h>
static void say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}
int main(void) {
    char name[8] = \"ab\";
    int unused = 3;
    name[1] = 'x';
    char text[32];
    snprintf(text, sizeof text, \"<%s>\", name);
    say(\"%d %s\\n\", 5, text);
    return unused;
}
";
    let found = lines(source, "", 6);
    assert!([6, 12, 14, 15].iter().all(|l| found.contains(l)), "{found:?}");
    assert!(!found.contains(&11) && !found.contains(&16), "{found:?}");
}

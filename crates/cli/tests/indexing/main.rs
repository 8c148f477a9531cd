//! Slices by an index are the slices by replay: the same executions, the same edges
//! between them, the same ends.

mod damage;
#[path = "../desk/mod.rs"]
mod desk;
#[allow(dead_code)] // The other user counts steps in a graph.
#[path = "../slicing/generate.rs"]
mod generate;
mod questions;

use desk::{Desk, recorded};
use index::Index;
use index::column::{Back, Kind};
use index::layout::Callee;
use replay::process::LoadedProcess;
use slice::{
    Criterion, Dependence, Leaf, Node, Occurrence, Relevance, Site, Slice, Slicer, SlicerOptions, Wanted,
};
use std::path::Path;

fn indexed(process: &LoadedProcess, options: SlicerOptions) -> Slicer<'_> {
    let made = Slicer::new(process, options).index(&mut |_, _| {}).expect("an index");
    let index = Index::parse(made.bytes, Path::new("index")).expect("an index that can be read");
    Slicer::new(process, options).with_index(index)
}

/// All of a slice that can be compared.
type Whole = (Vec<(Occurrence, Site, u32, Vec<(u32, Dependence)>)>, Vec<(Site, u64, Occurrence)>, Vec<Leaf>);

fn whole(slice: &Slice) -> Whole {
    let node = |(i, n): (usize, &Node)| (n.at, n.site, n.depth, slice.needed_by(i as u32).collect());
    let nodes = slice.nodes.iter().enumerate().map(node).collect();
    let sites = slice.sites.iter().map(|(site, taken)| (*site, taken.count, taken.last)).collect();
    (nodes, sites, slice.leaves.clone())
}

/// Compares slices from everywhere in the first stream, and from all ends.
fn compare(process: &LoadedProcess, seed: u64, questions: u64, segment: u64) {
    compare_with(process, seed, questions, SlicerOptions { segment, ..SlicerOptions::default() });
    // With so few nodes most executions are only counted.
    let few = SlicerOptions { segment, max_nodes: 25 };
    compare_with(process, seed, questions, few);
    let (few, many) = (Slicer::new(process, few), Slicer::new(process, SlicerOptions::default()));
    let steps = few.steps(0).expect("steps");
    let mut random = generate::Random::new(seed + 2);
    for step in (0..questions).map(|_| random.below(steps.max(1))).chain([steps]) {
        let at = Occurrence { stream: 0, step };
        let question = [Criterion { at, wanted: vec![Wanted::All] }];
        let counted = few.slice(&question, &mut |_| {}).expect("a slice with few nodes");
        let listed = many.slice(&question, &mut |_| {}).expect("a slice with all nodes");
        assert_eq!(whole(&counted).1, whole(&listed).1, "seed {seed}, {at:?}");
    }
}

fn compare_with(process: &LoadedProcess, seed: u64, questions: u64, options: SlicerOptions) {
    let by_replay = Slicer::new(process, options);
    let by_index = indexed(process, options);
    let mut random = generate::Random::new(seed + 1);
    let mut asked = Vec::new();
    for stream in 0..process.streams.len() as u32 {
        let steps = by_replay.steps(stream).expect("steps");
        assert_eq!(by_index.steps(stream).expect("steps"), steps);
        assert_eq!(by_index.end(stream).expect("an end"), by_replay.end(stream).expect("an end"));
        let some = (0..questions).map(|_| random.below(steps.max(1)));
        asked.extend(some.chain([steps.saturating_sub(2), steps]).map(|step| Occurrence { stream, step }));
    }
    for at in asked {
        for wanted in [Wanted::All, Wanted::Ran] {
            let question = [Criterion { at, wanted: vec![wanted] }];
            let one = by_replay.slice(&question, &mut |_| {}).expect("a slice by replay");
            let two = by_index.slice(&question, &mut |_| {}).expect("a slice by index");
            assert_eq!(whole(&one), whole(&two), "seed {seed}, {at:?}");
            assert_eq!((one.walked, one.criteria), (two.walked, two.criteria), "seed {seed}, {at:?}");
        }
    }
}

#[test]
fn random_programs() {
    for seed in 0..6 {
        let (_desk, process) = recorded(&generate::Program::write(seed), "");
        compare(&process, seed, 12, if seed % 2 == 0 { 1 << 20 } else { 61 });
    }
}

#[test]
fn jumps_callbacks_and_calls_that_never_return() {
    let source = "#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static jmp_buf place;
static int calls, depth;
static int order(const void *a, const void *b) {
    calls++;
    if (calls == 9)
        longjmp(place, 3);
    return *(const int *)a - *(const int *)b;
}
static int deep(int n) {
    char room[32];
    snprintf(room, sizeof room, \"%d\", n);
    if (n == 0)
        longjmp(place, (int)strlen(room) + depth);
    depth = deep(n - 1) + room[0];
    return depth;
}
static int grow(int n) {
    char *room = __builtin_alloca(16 * n);
    memset(room, n, 16 * n);
    return n > 0 ? grow(n - 1) + room[n] : 1;
}
static void bye(void) {
    printf(\"bye %d\\n\", calls);
}
int main(void) {
    volatile int got = setjmp(place);
    atexit(bye);
    int v[6] = { 3, 1, 2, 6, 5, 4 };
    if (got == 0)
        deep(4);
    if (got < 3)
        for (int i = 0; i < 3; i++)
            qsort(v, 6, sizeof *v, order);
    printf(\"%d %d %d\\n\", got, v[2], grow(5));
    exit(got + v[1]);
}
";
    let (_desk, process) = recorded(source, "");
    compare(&process, 1, 40, 1 << 20);
}

/// Pointers used before and after calls, in recursion, and by indices that arrays of
/// different element sizes share: columns that are told by others.
#[test]
fn addresses_that_tell_each_other() {
    let source = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct tree { struct tree *left, *right; int key, sum; };
static unsigned char block[64];
static unsigned short quadrant[64];
static long weight[64];
static int calls;
static unsigned mix(unsigned x) {
    return x * 1103515245u + 12345u;
}
static struct tree *insert(struct tree *t, int key) {
    if (t == NULL) {
        t = calloc(1, sizeof *t);
        t->key = key;
        return t;
    }
    if (key < t->key)
        t->left = insert(t->left, key);
    else
        t->right = insert(t->right, key);
    t->sum += key;
    return t;
}
static int walk(struct tree *t, int *total) {
    if (t == NULL)
        return 0;
    *total += t->key;
    int below = walk(t->left, total);
    t->sum += below;
    if (t->key & 1)
        t->sum += walk(t->right, &t->sum);
    else
        below += walk(t->right, total);
    calls++;
    return t->sum + below;
}
static int differ(unsigned a, unsigned b) {
    for (int k = 0; k < 6; k++, a++, b++) {
        if (block[a & 63] != block[b & 63])
            return block[a & 63] > block[b & 63];
        if (quadrant[a & 63] != quadrant[b & 63])
            return quadrant[a & 63] > quadrant[b & 63];
        weight[a & 63] += mix(k) & 3;
        weight[b & 63] -= block[b & 63];
    }
    return 0;
}
int main(void) {
    unsigned state = 7;
    struct tree *root = NULL;
    for (int i = 0; i < 40; i++) {
        state = mix(state);
        root = insert(root, state >> 20 & 255);
        block[i] = state >> 24 & 3;
        quadrant[i] = state >> 12 & 1;
    }
    int total = 0, order = 0;
    for (int i = 0; i < 12; i++)
        order += differ(mix(i) >> 8, mix(i * 3) >> 9) << i;
    int all = walk(root, &total);
    char text[3][16];
    for (int i = 0; i < 9; i++)
        snprintf(text[i % 3], 16, \"%d\", all + i);
    printf(\"%d %d %d %ld %s\\n\", total, order, calls, weight[5], text[1]);
    return 0;
}
";
    let (_desk, process) = recorded(source, "");
    let made = Slicer::new(&process, SlicerOptions::default()).index(&mut |_, _| {}).expect("an index");
    let columns = made.streams[0].1.functions.iter().flat_map(|f| &f.1);
    // The first byte of a piece that holds distances has these bits.
    let told = columns.filter(|pieces| pieces.iter().any(|p| p.bytes[0] & 7 == 7)).count();
    assert!(told > 8, "{told} columns are told by others");
    compare(&process, 4, 40, 1 << 20);
    compare(&process, 5, 20, 61);
}

#[test]
fn a_crash_in_the_middle_of_a_stretch() {
    let source = "#include <stdio.h>
struct pair { int a; int *b; };
static int use(struct pair p, int *q) {
    int x = p.a;
    int y = *q;
    int z = *p.b;
    q[1] = x + y + z;
    return q[1] * 2;
}
int main(int argc, char **argv) {
    int cells[2] = { argc, 4 };
    struct pair p = { 5, cells };
    printf(\"%d\\n\", use(p, cells));
    p.b = (int *)(long)(argc - 1);
    printf(\"%d\\n\", use(p, cells));
    return 0;
}
";
    let (_desk, process) = recorded(source, "");
    compare(&process, 2, 40, 1 << 20);
}

#[test]
fn threads() {
    let source = "#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static int result[4], noise;
static atomic_int turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *in) {
    int me = *(int *)in;
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        noise = noise + me;
        result[me] += i;
        pthread_mutex_unlock(&lock);
        int old = i;
        atomic_compare_exchange_strong(&turn, &old, i + 1);
    }
    return in;
}
int main(void) {
    int in[3] = { 0, 1, 2 };
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, &in[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf(\"%d %d %d\\n\", result[1], noise, atomic_load(&turn));
    return 0;
}
";
    let (_desk, process) = recorded(source, "");
    assert!(process.streams.len() > 3);
    compare(&process, 3, 12, 1 << 20);
    // A relevant slice goes by replay, and crosses threads also where there is an index.
    let by_replay = Slicer::new(&process, SlicerOptions::default());
    let question = by_replay.ask_line("p.c", 26).expect("an answer");
    let ask = |slicer: &Slicer<'_>| {
        whole(&slicer.relevant(&question, Relevance::default(), &mut |_| {}).expect("a slice"))
    };
    let by_index = indexed(&process, SlicerOptions::default());
    assert_eq!(ask(&by_replay), ask(&by_index));
    assert!(ask(&by_index).0.iter().any(|node| node.0.stream > 0), "other threads are in it");
}

const SUM: &str = "#include <stdio.h>
int main(int argc, char **argv) {
    int total = 0, noise = 0;
    for (int i = 0; i < 4; i++) {
        noise += 7;
        total += i;
    }
    printf(\"%d\\n\", total);
    return noise > 100;
}
";

#[test]
fn the_command_answers_the_same_with_an_index() {
    let mut desk = Desk::with_program("p", SUM);
    desk.record("./p", "");
    let mut before = Vec::new();
    let questions = ["--at p.c:8:total", "--at p.c:8", "--output stdout@0 --chain", "--failure"];
    for question in questions {
        before.push(desk.quietly(&format!("relapse slice run {question} --json")));
    }
    let made: serde_json::Value =
        serde_json::from_str(&desk.quietly("relapse index run --json")).expect("JSON");
    assert_eq!(made["schema"], "relapse.index/1");
    let file = desk.path().join(made["processes"][0]["file"].as_str().expect("a file"));
    assert_eq!(made["processes"][0]["bytes"], std::fs::metadata(&file).expect("the index").len());
    for (question, before) in questions.iter().zip(before) {
        assert_eq!(desk.quietly(&format!("relapse slice run {question} --json")), before, "{question}");
        let without = desk.quietly(&format!("relapse slice run {question} --json --no-index"));
        assert_eq!(without, before, "{question}");
    }
}

/// The numbers of a column; none if they are told by another column's.
fn numbers(kind: Kind, pieces: &[index::column::Piece]) -> Option<Vec<u64>> {
    let mut back = Back::new(kind, pieces.iter().map(|p| &p.bytes[..]).collect());
    let mut all = Vec::new();
    while let Some((number, is_distance)) = back.back_near() {
        if is_distance {
            return None;
        }
        all.push(number);
    }
    all.reverse();
    Some(all)
}

/// The example of Wang's thesis (figure 3.1, tables 3.1), with a function pointer for the
/// method. Where its rows carry over they hold the same sequences: where control came
/// from, what was called, which elements of the array were assigned. What there is an
/// object's identity is an address here; allocations are records, not columns.
#[test]
fn the_trace_tables_of_the_thesis() {
    let source = "#include <stdio.h>
#include <stdlib.h>
struct demo { int (*foo)(int); };
static int foo(int j) {
    int ret;
    if (j % 2 == 1)
        ret = 2;
    else
        ret = 5;
    return ret;
}
int main(void) {
    struct demo *obj = malloc(sizeof *obj);
    obj->foo = foo;
    int *arr = malloc(4 * sizeof *arr);
    int a = 2, b = 1, k = 1;
    if (a > 1)
        if (b > 1)
            k = 2;
    for (int i = 0; i < 4; i++) {
        arr[i] = k;
        k = k + obj->foo(i);
    }
    printf(\"%d\\n\", k);
    return 0;
}
";
    let mut desk = Desk::new();
    desk.file("p.c", source);
    desk.quietly("relapse cc -g -O0 -o p p.c");
    desk.record("./p", "");
    let process = desk.loaded();
    let made = Slicer::new(&process, SlicerOptions::default()).index(&mut |_, _| {}).expect("an index");
    let layouts = index::Layouts::new(&process.image);
    let named = |wanted: &str| {
        let all = &made.streams[0].1.functions;
        let found = all.iter().find(|(number, _)| {
            let code = process.image.code(*number);
            process.image.module(code.module).functions[code.function as usize].name == wanted
        });
        let (number, columns) = found.expect("a function that ran");
        (*number, layouts.get(*number), columns)
    };
    let came_from = |layout: &index::layout::Layout, columns: &[Vec<index::column::Piece>]| {
        let mut all: Vec<(u32, Vec<u32>)> = Vec::new();
        for (block, entry) in (0..).zip(&layout.entries) {
            if let Some(column) = entry.column {
                let places = numbers(Kind::Plain, &columns[column as usize]).expect("told by itself");
                all.push((block, places.iter().map(|p| entry.from[*p as usize]).collect()));
            }
        }
        all
    };

    // foo: 56⟨55, 53, 55, 53⟩ and nothing else; there is one return.
    let (foo, layout, columns) = named("foo");
    assert_eq!((columns.len(), layout.exit_column), (1, None));
    let (_, from) = came_from(layout, columns).pop().expect("a block that two lead to");
    let [otherwise, then, ..] = from[..] else { panic!("{from:?}") };
    assert_eq!(from, [otherwise, then, otherwise, then]);
    assert!(then < otherwise, "the else is behind the then");

    // main: 22⟨19⟩, 24⟨23, 38, 38, 38, 38⟩, 34⟨foo ×4⟩.
    let (_, layout, columns) = named("main");
    let mut from = came_from(layout, columns);
    from.retain(|f| !f.1.is_empty());
    assert_eq!(from.iter().map(|f| f.1.len()).collect::<Vec<_>>(), [1, 5]);
    let header = &from[1].1;
    assert!(header[0] < header[1], "the loop's end is behind its beginning");
    assert!(header[1..].iter().all(|b| *b == header[1]));
    let called: Vec<Vec<u64>> = layout
        .calls
        .iter()
        .filter_map(|(_, callee)| match callee {
            Callee::Column(c) => numbers(Kind::Plain, &columns[*c as usize]),
            _ => None,
        })
        .collect();
    assert_eq!(called, [[u64::from(foo) + 1; 4]]);

    // 30: the base and the index are one address, which rises by an element.
    let roots = layout.columns.iter().zip(columns).filter(|(kind, _)| **kind == Kind::Delta);
    let roots: Vec<Vec<u64>> = roots.filter_map(|(kind, pieces)| numbers(*kind, pieces)).collect();
    let rises = |v: &&Vec<u64>| v.len() == 4 && v.windows(2).all(|w| w[1] - w[0] == 4);
    assert_eq!(roots.iter().filter(rises).count(), 1, "{roots:x?}");
}

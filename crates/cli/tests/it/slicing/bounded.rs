//! A slice with a small node bound has the same sites, as often, as one without a bound; and
//! segments of any length give the same slice.

use super::generate;
use crate::sandbox::recorded;
use replay::process::LoadedProcess;
use slice::{Criterion, Node, Occurrence, Slice, Slicer, SlicerOptions, Wanted};

/// Executions, edges and leaves: all of a slice that can be compared.
fn graph(slice: &Slice) -> impl PartialEq + std::fmt::Debug {
    let node =
        |(i, n): (usize, &Node)| (n.at, n.site, n.depth, slice.needed_by(i as u32).collect::<Vec<_>>());
    let nodes: Vec<_> = slice.nodes.iter().enumerate().map(node).collect();
    (nodes, slice.leaves.clone())
}

/// Compares slices from everywhere in every stream, and from all ends.
fn compare(process: &LoadedProcess, seed: u64, questions: u64) {
    let slicer = |segment, max_nodes| {
        Slicer::new(process, SlicerOptions { segment, max_nodes, ..SlicerOptions::default() })
    };
    let (whole, short) = (slicer(1 << 20, usize::MAX), slicer(61, usize::MAX));
    let bounded = [slicer(1 << 20, 25), slicer(61, 25), slicer(61, 0)];
    let mut random = generate::Random::new(seed);
    let mut truncated = 0;
    for stream in 0..process.streams.len() as u32 {
        let steps = whole.steps(stream).expect("steps");
        let some: Vec<u64> = (0..questions).map(|_| random.below(steps.max(1))).collect();
        for step in some.into_iter().chain([steps.saturating_sub(2), steps]) {
            for wanted in [Wanted::All, Wanted::Ran] {
                let question = [Criterion { at: Occurrence { stream, step }, wanted: vec![wanted] }];
                let ask = |slicer: &Slicer<'_>| slicer.slice(&question, &mut |_| {}).expect("a slice");
                let expected = ask(&whole);
                let same = ask(&short);
                assert_eq!(graph(&same), graph(&expected), "seed {seed}, {question:?}");
                assert_eq!(same.sites, expected.sites, "seed {seed}, {question:?}");
                for slicer in &bounded {
                    let found = ask(slicer);
                    truncated += u32::from(found.truncated);
                    assert_eq!(found.sites, expected.sites, "seed {seed}, {question:?}");
                }
            }
        }
    }
    assert!(truncated > 0, "seed {seed}");
}

fn compare_program(source: &str, seed: u64, questions: u64) {
    let (_desk, process) = recorded(source, "");
    compare(&process, seed, questions);
}

#[test]
fn random_programs() {
    for seed in 0..6 {
        compare_program(&generate::Program::write(seed), seed, 8);
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
    compare_program(source, 1, 30);
}

#[test]
fn recursion_and_arrays() {
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
    compare_program(source, 4, 20);
}

#[test]
fn a_crash_in_the_middle_of_a_fragment() {
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
    compare_program(source, 2, 30);
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
    compare_program(source, 3, 10);
}

//! Slices of real recordings: against a dependence graph made the simple way, on
//! random programs; values along them, and the branches that were critical.

mod bits;
mod bounded;
pub mod generate;
mod graph;
mod timeline;

use crate::sandbox::recorded;
use expression::Expression;
use slice::{Criterion, Dependence, NodeId, Occurrence, Relevance, Slicer, SlicerOptions, Wanted, Which};
use std::collections::BTreeSet;

/// Slices of the programs of some seeds, from everywhere, against the whole graph.
fn agree_with_the_whole_graph(seeds: std::ops::Range<u64>) {
    for seed in seeds {
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

#[test]
fn slices_are_what_can_be_reached_in_the_whole_graph() {
    agree_with_the_whole_graph(0..8);
}

/// `cargo xtask fuzz-replay` says which.
#[test]
#[ignore = "takes a second for each program"]
fn slices_of_many_programs_are_what_can_be_reached() {
    let said = std::env::var("RELAPSE_FUZZ_SEEDS").unwrap_or_else(|_| "8..108".to_owned());
    let (first, last) = said.split_once("..").expect("seeds as FIRST..LAST");
    agree_with_the_whole_graph(first.parse().expect("a number")..last.parse().expect("a number"));
}

/// The worked example.
const LOOP: &str = include_str!("../fixtures/loop_with_calls.c");

/// A branch condition hangs on the computation before it (figure 3.8), and every
/// step of the chain carries the values of that very execution.
#[test]
fn operands_and_values_are_those_of_the_execution() {
    let (_desk, process) = recorded(LOOP, "");
    let slicer = Slicer::new(&process, SlicerOptions::default());
    let question = slicer
        .expression_criterion("p.c", 31, &Expression::of_name("k"), &Which::default())
        .expect("a replay")
        .expect("k at line 31");
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
    let asked = slicer.line_criteria("p.c", line).expect("a replay");
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

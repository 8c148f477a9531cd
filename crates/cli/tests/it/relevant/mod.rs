//! Relevant slices of real recordings: random programs against the definition. Known examples
//! are in `fixtures`.

mod counted;
mod generate;
mod model;

use crate::sandbox::recorded;
use program::inst::Inst;
use slice::{Criterion, Occurrence, Relevance, Request, Slicer, SlicerOptions, Variant, Wanted};
use std::collections::BTreeSet;

fn lines_of(slicer: &Slicer<'_>, line: u32, variant: Option<Relevance>) -> Vec<u32> {
    let question = slicer.line_criteria("p.c", line).expect("an answer");
    assert!(!question.is_empty(), "line {line} ran");
    let slice = match variant {
        Some(relevance) => slicer.relevant(&question, relevance, &mut |_| {}),
        None => slicer.slice(&question, &mut |_| {}),
    };
    let lines: BTreeSet<u32> = slicer.lines(&slice.expect("a slice")).into_iter().map(|l| l.1).collect();
    lines.into_iter().collect()
}

fn of(variant: Variant) -> Option<Relevance> {
    Some(Relevance { variant, ..Relevance::default() })
}

/// Somebody who has seen enough gets what was found so far.
#[test]
fn a_slice_that_is_stopped_says_so() {
    let source = "#include <stdio.h>
int main(int argc, char **argv) {
    int k = argc;
    for (int i = 0; i < 100; i++)
        k += i;
    printf(\"%d\\n\", k);
    return 0;
}
";
    let (_desk, process) = recorded(source, "");
    let slicer = Slicer::new(&process, SlicerOptions { segment: 61, ..SlicerOptions::default() });
    let criteria = slicer.line_criteria("p.c", 6).expect("an answer");
    let stop = std::sync::atomic::AtomicBool::new(true);
    let request = Request { criteria: &criteria, stop: Some(&stop), ..Request::default() };
    let part = slicer.ask(&request, &mut |_| {}).expect("a slice");
    let whole = slicer.slice(&criteria, &mut |_| {}).expect("a slice");
    assert!(part.incomplete && !whole.incomplete);
    assert!(part.nodes.len() < whole.nodes.len());
}

/// A slice that comes to have too much asks branches no further back, and says so.
#[test]
fn a_large_slice_asks_no_more() {
    let source = "#include <stdio.h>
int main(int argc, char **argv) {
    int k = argc;
    if (argc > 7)
        k = 2;
    for (int i = 0; i < 100; i++)
        k += i;
    if (argc > 8)
        k = 3;
    printf(\"%d\\n\", k);
    return 0;
}
";
    let (_desk, process) = recorded(source, "");
    let slicer = Slicer::new(&process, SlicerOptions { segment: 61, ..SlicerOptions::default() });
    let whole = lines_of(&slicer, 10, of(Variant::Relevant));
    assert_eq!(whole, [3, 4, 6, 7, 8, 10]);
    let limited = Relevance { limit: 100, ..Relevance::default() };
    assert_eq!(lines_of(&slicer, 10, Some(limited)), [3, 6, 7, 8, 10]);
    let criteria = slicer.line_criteria("p.c", 10).expect("an answer");
    let slice = |relevance| slicer.relevant(&criteria, relevance, &mut |_| {}).expect("a slice");
    assert!(slice(limited).asked_back_to.is_some_and(|at| at.step > 61));
    assert_eq!(slice(Relevance::default()).asked_back_to, None);
}

/// Of each pair of branches in a slice, one pass over the run says the same as the slice of each by itself.
fn branches_are_told_apart(seeds: std::ops::Range<u64>, each: usize) {
    let mut pairs = 0;
    for seed in seeds {
        let mut writer = generate::Writer::new(seed);
        let cases: Vec<generate::Case> = (0..each).map(|_| writer.case()).collect();
        let text = writer.finish();
        let (_desk, process) = recorded(&text, "");
        let slicer = Slicer::new(&process, SlicerOptions::default());
        for (n, case) in cases.iter().enumerate() {
            let criteria = slicer.line_criteria("p.c", case.question).expect("an answer");
            let ask = |criteria: &[Criterion], among: &[Occurrence]| {
                let relevance = of(Variant::Closure);
                let request = Request { criteria, relevance, among, ..Request::default() };
                slicer.ask(&request, &mut |_| {}).expect("a slice")
            };
            let is_branch = |node: &&slice::Node| {
                let function = &process.image.module(node.site.module).functions[node.site.function as usize];
                matches!(function.code[node.site.index as usize], Inst::Branch { .. } | Inst::Switch { .. })
            };
            let whole = ask(&criteria, &[]);
            let branches: Vec<Occurrence> = whole.nodes.iter().filter(is_branch).map(|n| n.at).collect();
            let together = ask(&criteria, &branches);
            let nodes = |slice: &slice::Slice| slice.nodes.iter().map(|n| n.at).collect::<BTreeSet<_>>();
            assert_eq!(nodes(&together), nodes(&whole), "seed {seed}, program {n}");
            for (one, at) in branches.iter().enumerate().take(40) {
                let alone = nodes(&ask(&[Criterion { at: *at, wanted: vec![Wanted::All] }], &[]));
                for (other, on) in branches.iter().enumerate().filter(|(other, _)| *other != one) {
                    let (told, is) = (together.among.depends(one, other), alone.contains(on));
                    assert_eq!(told, is, "seed {seed}, program {n}: {at:?} on {on:?}\n{text}");
                    pairs += 1;
                }
            }
        }
    }
    assert!(pairs > 0);
    println!("{pairs} pairs");
}

#[test]
fn one_pass_says_which_branches_depend_on_which() {
    branches_are_told_apart(0..1, 60);
}

#[test]
#[ignore = "takes several minutes"]
fn one_pass_says_so_of_thousands_of_programs() {
    branches_are_told_apart(1..31, 100);
}

const VARIANTS: [Variant; 2] = [Variant::Relevant, Variant::Closure];

/// Random programs, many in one recording, against the definition.
fn agree_with_the_definition(seeds: std::ops::Range<u64>, each: usize) {
    let mut wrong = Vec::new();
    for seed in seeds {
        let mut writer = generate::Writer::new(seed);
        let cases: Vec<generate::Case> = (0..each).map(|_| writer.case()).collect();
        let text = writer.finish();
        let (_desk, process) = recorded(&text, "");
        let slicer = Slicer::new(&process, SlicerOptions::default());
        for (n, case) in cases.iter().enumerate() {
            let run = model::Model::run(case, n as u32 % 7, n as u32 % 5);
            for kind in VARIANTS.map(Some).into_iter().chain([None]) {
                let lines = lines_of(&slicer, case.question, kind.and_then(of));
                let found: BTreeSet<u32> = lines.into_iter().filter(|l| case.lines.contains(l)).collect();
                let defined = run.slice(kind);
                if found != defined {
                    let more: Vec<&u32> = found.difference(&defined).collect();
                    let missing: Vec<&u32> = defined.difference(&found).collect();
                    let at = case.lines.start as usize - 1..case.lines.end as usize - 1;
                    let shown: Vec<String> =
                        text.lines().enumerate().map(|(i, l)| format!("{:4} {l}", i + 1)).collect();
                    wrong.push(format!(
                        "seed {seed}, program {n}, {kind:?}: {more:?} too many, {missing:?} missing\n{}",
                        shown[at].join("\n")
                    ));
                }
            }
        }
    }
    let first: Vec<&str> = wrong.iter().map(|w| w.lines().next().unwrap_or_default()).collect();
    assert!(wrong.is_empty(), "{}\n\n{}", first.join("\n"), wrong[0]);
}

#[test]
fn random_programs_agree_with_the_definition() {
    agree_with_the_definition(0..1, 60);
}

#[test]
#[ignore = "takes several minutes"]
fn thousands_of_random_programs_agree_with_the_definition() {
    agree_with_the_definition(1..31, 100);
}

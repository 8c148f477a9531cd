//! Relevant slices of real recordings: the line sets of known examples, and random programs
//! against the definition.

mod crooked;
#[path = "../desk/mod.rs"]
mod desk;
mod generate;
mod model;

use desk::{LOOP, recorded};
use slice::{Relevance, Request, Slicer, SlicerOptions, Variant};
use std::collections::BTreeSet;

fn lines_of(slicer: &Slicer<'_>, line: u32, variant: Option<Relevance>) -> Vec<u32> {
    let question = slicer.ask_line("p.c", line).expect("an answer");
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

/// Lines of the dynamic slice and of each kind of relevant slice: Wang's, Agrawal's,
/// Gyimóthy's, the closure.
fn all_kinds(source: &str, stdin: &str, line: u32) -> [Vec<u32>; 5] {
    let (_desk, process) = recorded(source, stdin);
    let slicer = Slicer::new(&process, SlicerOptions::default());
    let kinds = [Variant::Relevant, Variant::Agrawal, Variant::Gyimothy, Variant::Closure];
    let [a, b, c, d] = kinds.map(|v| lines_of(&slicer, line, of(v)));
    [lines_of(&slicer, line, None), a, b, c, d]
}

/// A wrong comparison skips a loop: the input is no reason for what the loop did not do, the
/// comparison is (Wang, figure 2.5).
#[test]
fn a_loop_that_did_not_run_is_found() {
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
    let [dynamic, relevant, ..] = all_kinds(source, "&abc;", 10);
    assert_eq!(dynamic, [3, 4, 10]);
    assert_eq!(relevant, [3, 4, 5, 10]);
}

/// Of two nested branches only the inner one could have mattered alone (figure 4.1).
#[test]
fn the_branch_around_is_left_out() {
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
    let [dynamic, relevant, _, _, closure] = all_kinds(source, "", 9);
    assert_eq!(dynamic, [5, 9]);
    assert_eq!(relevant, [4, 5, 7, 9]);
    assert_eq!(closure, [3, 4, 5, 6, 7, 9]);
    let other = source.replace("b > argc", "b == argc");
    assert_eq!(all_kinds(&other, "", 9)[1], [3, 4, 6, 7, 8, 9]);
}

/// What decided about the condition of a branch that could have mattered belongs to it
/// (figure 4.3), which Agrawal's definition misses.
#[test]
fn what_made_the_condition_is_followed_in_full() {
    let source = "#include <stdio.h>
int main(int argc, char **argv) {
    int z = argc;
    int x = 2;
    int y = 2;
    if (x > 1)
        y = 1;
    if (y != 1)
        z = 3;
    printf(\"%d\\n\", z);
    return 0;
}
";
    let [dynamic, relevant, agrawal, ..] = all_kinds(source, "", 10);
    assert_eq!(dynamic, [3, 10]);
    assert_eq!(relevant, [3, 4, 6, 7, 8, 10]);
    assert_eq!(agrawal, [3, 7, 8, 10]);
}

/// Earlier executions of a branch that could have mattered need not (figure 4.5), though
/// Gyimóthy's definition has them.
#[test]
fn earlier_executions_of_a_branch_do_not_matter() {
    let source = "#include <stdio.h>
int main(int argc, char **argv) {
    int z = 0;
    int i;
    int x = 1;
    for (i = 0; i < 3; i++) {
        if (x % 2 == 0)
            z = 4;
        x = i;
    }
    printf(\"%d\\n\", z);
    return 0;
}
";
    let [dynamic, relevant, _, gyimothy, _] = all_kinds(source, "", 11);
    assert_eq!(dynamic, [6, 7, 8, 9, 11]);
    assert_eq!(relevant, [6, 7, 8, 9, 11]);
    assert_eq!(gyimothy, [5, 6, 7, 8, 9, 11]);
}

/// The worked example: of what stands before the loop only the inner branch is added
/// (figure 3.1).
#[test]
fn a_loop_with_calls() {
    let [dynamic, relevant, ..] = all_kinds(LOOP, "", 31);
    assert_eq!(dynamic, [5, 6, 8, 9, 19, 26, 28, 31]);
    assert_eq!(relevant, [5, 6, 8, 9, 18, 19, 21, 26, 28, 31]);
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
    let criteria = slicer.ask_line("p.c", 6).expect("an answer");
    let stop = std::sync::atomic::AtomicBool::new(true);
    let request = Request { criteria: &criteria, relevance: None, stop: Some(&stop) };
    let part = slicer.ask(&request, &mut |_| {}).expect("a slice");
    let whole = slicer.slice(&criteria, &mut |_| {}).expect("a slice");
    assert!(part.incomplete && !whole.incomplete);
    assert!(!part.nodes.is_empty() && part.nodes.len() < whole.nodes.len());
}

const VARIANTS: [Variant; 4] = [Variant::Relevant, Variant::Agrawal, Variant::Gyimothy, Variant::Closure];

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

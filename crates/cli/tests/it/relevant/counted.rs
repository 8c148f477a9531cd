//! Relevant slices of which only a few executions are kept, and the rest is counted, have the
//! same sites as often as those of which all are kept: what is counted goes another way.

use super::{VARIANTS, generate};
use crate::sandbox::recorded;
use replay::process::LoadedProcess;
use slice::{Criterion, Occurrence, Precision, Relevance, Slice, Slicer, SlicerOptions, Wanted};

/// What must be the same.
type Sites = (Vec<(slice::Site, slice::slice::Taken)>, Option<Occurrence>);

fn sites(slice: &Slice) -> Sites {
    (slice.sites.iter().map(|(site, taken)| (*site, *taken)).collect(), slice.asked_back_to)
}

/// Compares slices of one process; gives how many of them were counted in part.
fn compare(process: &LoadedProcess, name: &str, questions: &[Vec<Criterion>], segment: u64) -> usize {
    let slicer =
        |max_nodes| Slicer::new(process, SlicerOptions { segment, max_nodes, ..SlicerOptions::default() });
    let (whole, few) = (slicer(usize::MAX), [slicer(5), slicer(25)]);
    let mut counted = 0;
    for question in questions {
        for variant in VARIANTS {
            for precision in [Precision::Andersen, Precision::Steensgaard] {
                for limit in [u64::MAX, 40] {
                    let relevance = Relevance { variant, precision, libraries: true, limit };
                    let ask = |slicer: &Slicer<'_>| {
                        slicer.relevant(question, relevance, &mut |_| {}).expect("a slice")
                    };
                    let expected = ask(&whole);
                    assert!(!expected.truncated);
                    for slicer in &few {
                        let found = ask(slicer);
                        counted += usize::from(found.truncated);
                        assert!(
                            sites(&found) == sites(&expected),
                            "{name}, {relevance:?}, {:?}: {:?} and not {:?}",
                            question[0].at,
                            sites(&found),
                            sites(&expected)
                        );
                    }
                }
            }
        }
    }
    counted
}

/// Questions about some steps of the first stream.
fn spread(process: &LoadedProcess, n: u64) -> Vec<Vec<Criterion>> {
    let steps = Slicer::new(process, SlicerOptions::default()).steps(0).expect("steps");
    let at = (1..=n).map(|i| Occurrence { stream: 0, step: (steps * i / n).saturating_sub(2) });
    at.map(|at| vec![Criterion { at, wanted: vec![Wanted::All] }]).collect()
}

/// The programs that are compared with the definition, and those that do more.
fn random_programs(seeds: std::ops::Range<u64>, each: usize) {
    let mut counted = 0;
    for seed in seeds {
        let mut writer = generate::Writer::new(seed);
        let cases: Vec<generate::Case> = (0..each).map(|_| writer.case()).collect();
        let (_desk, process) = recorded(&writer.finish(), "");
        let slicer = Slicer::new(&process, SlicerOptions::default());
        let ask = |case: &generate::Case| slicer.line_criteria("p.c", case.question).expect("an answer");
        let questions: Vec<Vec<Criterion>> = cases.iter().map(ask).collect();
        let name = format!("programs {seed}");
        counted += compare(&process, &name, &questions, if seed % 2 == 0 { 1 << 20 } else { 61 });
        let (_desk, process) = recorded(&crate::slicing::generate::Program::write(seed), "");
        let name = format!("any program {seed}");
        counted += compare(&process, &name, &spread(&process, 3), if seed % 2 == 0 { 61 } else { 1 << 20 });
    }
    assert!(counted > 0);
}

#[test]
fn random_programs_are_counted_as_they_are_listed() {
    random_programs(100..102, 12);
}

#[test]
#[ignore = "takes several minutes"]
fn a_thousand_random_programs_are_counted_as_they_are_listed() {
    random_programs(200..210, 100);
}

/// Calls back, jumps, signals, variadic functions, library functions that copy.
#[test]
fn exceptions_are_counted_as_they_are_listed() {
    let names = [
        "another_function",
        "callback_that_assigned",
        "callback_that_decided",
        "jump_over_frames",
        "signal_that_jumped",
        "variadic_of_all_kinds",
        "library_could_have_written",
        "heap_by_functions",
        "overlap_in_part",
    ];
    for name in names {
        let path = format!("{}/tests/it/fixtures/{name}.c", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).expect("a fixture");
        let (_desk, process) = recorded(&source, "");
        compare(&process, name, &spread(&process, 4), 61);
    }
}

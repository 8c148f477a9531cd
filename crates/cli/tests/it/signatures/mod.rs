//! Groups of paths against all inputs of a small domain, on random programs.
//!
//! Each program reads three bytes, of which two bits count, and prints one variable. It is compiled
//! and explored for real. Then for each of the 64 inputs: exactly one group's condition holds
//! (completeness, and no group twice), and the group's expressions give what an interpreter of the
//! program gives (soundness). The groups part the inputs as the definition does, by brute force (`oracle`). No run may have conditions that do not begin with those asked for (the
//! prefix property), and no run may be of a group that was known.
//!
//! Two such programs, of which one has some statements changed, are told apart by their groups if some of the 64 inputs
//! tells them apart.
//!
//! The ordinary test run tries some; more are tried by
//! `cargo nextest run -p relapse --test it signatures:: --run-ignored only`.

mod oracle;
mod random;

use self::random::{Program, Random};
use crate::exposing;
use crate::sandbox::Sandbox;
use alternate::rerun::Recorder;
use explore::expose::Workers;
use explore::exposed::Verdict;
use explore::signature::{By, Exploration, Options, Piece, explore};
use recording::Recording;
use solver::Settings;
use std::time::{Duration, Instant};
use symbolic::{Input, Origin, TermContext};

/// Compiles and explores a program from an input.
fn explored(source: &str, first: [u8; 3], by: By) -> (Exploration, TermContext) {
    let mut sandbox = Sandbox::new();
    sandbox.file("p.c", source);
    sandbox.quietly("relapse cc -g -o p p.c");
    sandbox.record("./p", "abc");
    let recording = Recording::open(&sandbox.path().join("run")).expect("a recording");
    let info = recording.processes[0].info.clone();
    let recorder = Recorder::new(sandbox.path().to_owned(), Duration::from_secs(20));
    let mut input = Input::default();
    input.parts.insert(Origin::Stdin, first.to_vec());
    let options = Options {
        by,
        follow: symbolic::Options::default(),
        settings: Settings::default(),
        until: Instant::now() + Duration::from_secs(120),
        stop: &|| false,
        progress: &|_| {},
        jobs: 2,
        store: None,
        faults: true,
    };
    let run = |input: &Input| Ok(recorder.record(&info, input, &[])?);
    explore(&input, &options, &run).expect("an exploration")
}

/// What a group says is printed for an input.
fn printed(world: &TermContext, outputs: &[Piece], input: [u8; 3]) -> String {
    let value = |term| world.pool.evaluate(term, &|v| byte(world, v, input));
    let mut text = String::new();
    for piece in outputs {
        match piece {
            Piece::Text(bytes) => text += &String::from_utf8_lossy(bytes),
            Piece::Byte(term) => text.push(value(*term) as u8 as char),
            Piece::Number(term, _) => text += &(value(*term) as u32 as i32).to_string(),
            Piece::Status(_) => {}
        }
    }
    text
}

fn byte(world: &TermContext, variable: u32, input: [u8; 3]) -> u128 {
    let offset = world.variables.list[variable as usize].offset as usize;
    input[offset].into()
}

fn check(seed: u64) -> (usize, usize) {
    let mut random = Random::new(seed);
    let program = Program::random(&mut random);
    let source = program.text();
    let first = [0, 1, 2].map(|_| random.below(4) as u8);
    let (found, world) = explored(&source, first, By::Output);
    let told = || format!("seed {seed}, from {first:?}\n{source}");
    assert!(found.finished && found.unknown == 0 && found.lost == 0, "{}", told());
    assert_eq!((found.astray, found.duplicates), (0, 0), "{}", told());
    assert_eq!(found.runs as usize, found.groups.len(), "{}", told());
    let mut paths = std::collections::BTreeSet::new();
    let inputs: Vec<[u8; 3]> = (0..64_u8).map(|n| [n & 3, n >> 2 & 3, n >> 4]).collect();
    let defined = oracle::groups(&program, &inputs);
    let mut pairs = std::collections::BTreeSet::new();
    for (input, defined) in inputs.into_iter().zip(defined) {
        let holds: Vec<usize> = (0..found.groups.len())
            .filter(|g| {
                let value = |v| byte(&world, v, input);
                found.groups[*g].terms.iter().all(|t| world.pool.evaluate(*t, &value) == 1)
            })
            .collect();
        assert_eq!(holds.len(), 1, "input {input:?} is of the groups {holds:?}: {}", told());
        pairs.insert((holds[0], defined));
        let (value, path) = program.run(input);
        paths.insert(path);
        let says = printed(&world, &found.groups[holds[0]].outputs, input);
        assert_eq!(says, format!("{value}\n"), "input {input:?}: {}", told());
    }
    assert!(found.groups.len() <= paths.len(), "no more groups than paths: {}", told());
    // Each group is one of the definition's, and each of these is one.
    let by_definition: std::collections::BTreeSet<usize> = pairs.iter().map(|p| p.1).collect();
    assert_eq!((pairs.len(), pairs.len()), (found.groups.len(), by_definition.len()), "{}", told());
    (found.groups.len(), paths.len())
}

fn check_all(seeds: std::ops::Range<u64>) {
    let (mut groups, mut paths) = (0, 0);
    for seed in seeds {
        let (g, p) = check(seed);
        groups += g;
        paths += p;
    }
    println!("{groups} groups of {paths} paths");
    assert!(groups < paths, "grouping saves something");
}

#[test]
fn groups_part_the_inputs_and_say_what_is_printed() {
    check_all(0..25);
}

#[test]
#[ignore = "takes many minutes"]
fn groups_of_many_programs() {
    check_all(1000..4000);
}

/// Two versions, compared group by group alone: whether some of all inputs tells them apart.
fn compare(seed: u64) -> bool {
    let good = Program::random(&mut Random::new(seed));
    let mut random = Random::new(seed);
    let mut bad = Program::random(&mut random);
    for _ in 0..2 {
        bad.change(random.below(6) as usize);
    }
    if good.text() == bad.text() {
        return false;
    }
    let sandbox = Sandbox::new();
    for (name, program) in [("good", &good), ("bad", &bad)] {
        std::fs::create_dir(sandbox.path().join(name)).expect("a directory");
        sandbox.file(&format!("{name}/p.c"), &program.text());
    }
    let found = exposing::by(&sandbox, "printf abc | ./p", Workers::Signatures, Duration::from_secs(120));
    let differs =
        (0..64_u8).map(|n| [n & 3, n >> 2 & 3, n >> 4]).any(|input| good.run(input).0 != bad.run(input).0);
    let told = || format!("seed {seed}: {:?}\n{}\n{}", found.effort.signatures, good.text(), bad.text());
    assert_eq!(found.differ(), differs, "{}", told());
    let of = found.effort.signatures;
    if found.verdict != Verdict::SamePrograms && !differs {
        assert!(of.complete && of.pairs > 0 && of.apart + of.alike == of.pairs, "{}", told());
    }
    // What is told of an input is what the programs put out.
    for input in &found.inputs {
        let bytes: Vec<u8> = input.input.stdin().iter().map(|b| b & 3).chain([3; 3]).take(3).collect();
        let value = |program: &Program| format!("{}\n", program.run([bytes[0], bytes[1], bytes[2]]).0);
        assert_eq!((&input.good.stdout, &input.bad.stdout), (&value(&good), &value(&bad)), "{}", told());
    }
    differs
}

#[test]
fn versions_differ_where_their_groups_do() {
    let differing = (0..12).filter(|seed| compare(*seed)).count();
    assert!((1..12).contains(&differing), "{differing} of 12");
}

#[test]
#[ignore = "takes many minutes"]
fn many_versions_differ_where_their_groups_do() {
    for seed in 100..600 {
        compare(seed);
    }
}

#[test]
fn paths_are_parted_as_well() {
    let program = Program::random(&mut Random::new(7));
    let (by_path, _) = explored(&program.text(), [0, 0, 0], By::Path);
    let (by_output, _) = explored(&program.text(), [0, 0, 0], By::Output);
    assert!(by_path.finished && by_path.duplicates == 0);
    assert!(by_output.groups.len() <= by_path.groups.len());
}

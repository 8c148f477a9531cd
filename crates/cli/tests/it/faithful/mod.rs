//! Models are faithful to the source, in random programs: every executed statement has an
//! executed instruction with its line, and every assigned value can be had again.
//!
//! `RELAPSE_PROGRAMS=500` tries so many programs instead of a few.

mod generate;

use crate::sandbox::Sandbox;
use program::inst::BlockId;
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use std::collections::{BTreeMap, BTreeSet};

/// Levels at which the program is compiled for recording: the front end knows them.
const LEVELS: [&str; 3] = ["-O0", "-O1", "-O2"];

fn programs(few: u64) -> u64 {
    std::env::var("RELAPSE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

#[test]
fn assigned_values_can_be_had_again() {
    for seed in 0..programs(3) {
        let mut sandbox = Sandbox::new();
        let source = generate::program(seed);
        sandbox.file("p.c", &source);
        sandbox.quietly("clang-22 -w -fwrapv -DSHOWING -o shown p.c");
        // By line and variable, in order.
        let mut shown: BTreeMap<(u32, String), Vec<String>> = BTreeMap::new();
        for line in sandbox.quietly("./shown").lines() {
            let mut words = line.splitn(3, ' ');
            if let (Some(at), Some(name), Some(value)) = (words.next(), words.next(), words.next()) {
                let at = at.parse().expect("the number of a line");
                shown.entry((at, name.to_owned())).or_default().push(value.to_owned());
            }
        }
        assert!(shown.len() > 10, "seed {seed}: {}", shown.len());
        let level = LEVELS[seed as usize % LEVELS.len()];
        sandbox.quietly(&format!("relapse cc -w -fwrapv {level} -g -o p p.c"));
        sandbox.record("./p", "");
        for ((line, name), values) in shown {
            let answer =
                sandbox.quietly(&format!("relapse values run p.c:{line} {name} --limit 1000000 --json"));
            let answer: serde_json::Value = serde_json::from_str(&answer).expect("an answer");
            let after = |row: &serde_json::Value| row["after"][0].as_str().unwrap_or("-").to_owned();
            let found: Vec<String> =
                answer["executions"].as_array().into_iter().flatten().map(after).collect();
            let near: Vec<&str> = source.lines().skip(line.saturating_sub(12) as usize).take(14).collect();
            let near = near.join("\n");
            assert_eq!(found, values, "seed {seed}, {level}, {name} at line {line}:\n{near}");
        }
    }
}

#[test]
fn executed_lines_have_executed_instructions() {
    for seed in 0..programs(4) {
        let sandbox = Sandbox::new();
        sandbox.file("p.c", &generate::program(1000 + seed));
        compare_lines(sandbox, "", LEVELS[seed as usize % LEVELS.len()], seed);
    }
}

/// Programs of another generator: pointers, unions, arrays, volatile and packed things.
#[test]
fn executed_lines_of_foreign_programs_have_executed_instructions() {
    for seed in 0..programs(2) {
        let mut sandbox = Sandbox::new();
        let shape = "--max-funcs 4 --max-block-depth 3 --no-safe-math --inline-function";
        sandbox.quietly(&format!("csmith --seed {} {shape} --output p.c", 7 + seed));
        let options = "-I/usr/include/csmith -fwrapv -fno-strict-aliasing";
        compare_lines(sandbox, options, LEVELS[seed as usize % LEVELS.len()], seed);
    }
}

/// Compares the lines that clang counts without optimisation with those of a replay.
fn compare_lines(mut sandbox: Sandbox, options: &str, level: &str, seed: u64) {
    sandbox.quietly(&format!("clang-22 -w -O0 -g --coverage {options} -o counted p.c"));
    let counted = sandbox.execute("timeout 5 ./counted", "");
    if !counted.status.success() {
        return;
    }
    let counts = sandbox.quietly("llvm-cov-22 gcov -t counted-p.gcda");
    sandbox.quietly(&format!("relapse cc -w {options} {level} -g -o p p.c"));
    let recorded = sandbox.record("./p", "");
    assert_eq!(recorded.stdout, counted.stdout, "seed {seed}");
    let process = sandbox.loaded();
    let mut lines = Lines::default();
    Machine::new(&process.image, &process.streams[0].stream).run(&mut lines, u64::MAX).expect("a replay");
    let heads: BTreeSet<u32> =
        process.image.modules().flat_map(|(_, m)| m.model.functions.iter().map(|f| f.line)).collect();
    let source = std::fs::read_to_string(sandbox.path().join("p.c")).expect("the source");
    let text = |line: u32| source.lines().nth(line as usize - 1).unwrap_or_default().trim();
    let mut missing = Vec::new();
    let mut more = Vec::new();
    let mut both = 0;
    for (line, ran) in gcov(&counts, "p.c") {
        // A function's first line is counted though it has no statement.
        if heads.contains(&line) {
            continue;
        }
        match (ran, lines.ran.contains(&line)) {
            (true, false) => missing.push(format!("{line}: {}", text(line))),
            (false, true) => more.push(format!("{line}: {}", text(line))),
            (true, true) => both += 1,
            (false, false) => {}
        }
    }
    assert!(both > 5, "seed {seed}: {both} lines ran");
    assert!(missing.is_empty(), "seed {seed}, {level}: no instruction for\n{}", missing.join("\n"));
    assert!(more.is_empty(), "seed {seed}, {level}: should not have run\n{}", more.join("\n"));
}

/// Whether each line of a file ran, of those that have code.
fn gcov(report: &str, file: &str) -> Vec<(u32, bool)> {
    let mut lines = Vec::new();
    let mut ours = false;
    for row in report.lines() {
        let mut fields = row.splitn(3, ':').map(str::trim);
        let (Some(count), Some(line), rest) = (fields.next(), fields.next(), fields.next()) else { continue };
        if let Some(source) = rest.and_then(|r| r.strip_prefix("Source:")) {
            ours = source == file;
        }
        if let (true, Ok(line @ 1..)) = (ours && count != "-", line.parse()) {
            lines.push((line, !count.starts_with('#')));
        }
    }
    lines
}

/// The lines that ran.
#[derive(Default)]
struct Lines {
    ran: BTreeSet<u32>,
}

impl Observer for Lines {
    fn step(&mut self, view: &View<'_>, _effect: Effect) {
        let place = view.place();
        if view.module().file_path(place.file).ends_with("/p.c") {
            self.ran.insert(place.line);
        }
    }

    fn edge(&mut self, _view: &View<'_>, _from: BlockId, _to: BlockId) {}
}

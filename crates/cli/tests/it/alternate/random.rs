//! Random programs in two versions, and what trying every input says about them.

use super::{Sandbox, ask, list};
use std::collections::BTreeSet;
use std::fmt::Write;

pub const PAIRS: u64 = 6;

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[derive(Clone)]
enum Statement {
    /// `if ((unsigned char)(a * x + b * y + s) < limit)`
    If { a: u8, b: u8, limit: u8, then: Vec<Statement>, otherwise: Vec<Statement> },
    /// `s = s * by + a`
    Step { by: u8 },
}

fn statements(dice: &mut Dice, depth: u32) -> Vec<Statement> {
    let count = 1 + dice.roll(3);
    (0..count)
        .map(|_| {
            if depth == 0 || dice.roll(4) == 0 {
                return Statement::Step { by: dice.roll(7) as u8 };
            }
            Statement::If {
                a: dice.roll(4) as u8,
                b: dice.roll(4) as u8,
                limit: 30 + dice.roll(200) as u8,
                then: statements(dice, depth - 1),
                otherwise: statements(dice, depth - 1),
            }
        })
        .collect()
}

/// Changes the limit of one test.
fn mutate(dice: &mut Dice, program: &mut [Statement]) {
    let number = dice.roll(program.len() as u64) as usize;
    for statement in program.iter_mut().skip(number) {
        if let Statement::If { limit, then, otherwise, .. } = statement {
            match dice.roll(3) {
                0 => *limit = limit.wrapping_add(1 + dice.roll(20) as u8),
                1 => mutate(dice, then),
                _ => mutate(dice, otherwise),
            }
            return;
        }
    }
}

/// A version: its text, with each test on a line of its own.
struct Version {
    program: Vec<Statement>,
    text: String,
}

impl Version {
    fn new(program: Vec<Statement>) -> Version {
        let mut text = String::from(
            "#include <stdio.h>\nint main(void) {\nunsigned char in[2], s = 0;\n\
             if (fread(in, 1, 2, stdin) != 2) return 1;\n",
        );
        write(&program, &mut text);
        text += "printf(\"%d\\n\", s);\nreturn 0;\n}\n";
        Version { program, text }
    }

    /// The tests an input meets, by line, with their outcomes.
    fn way(&self, input: [u8; 2]) -> Vec<(u64, bool)> {
        let mut way = Vec::new();
        let mut s = 0;
        // The line after the four above.
        run(&self.program, input, &mut s, &mut 5, &mut way);
        way
    }
}

fn write(program: &[Statement], text: &mut String) {
    for statement in program {
        match statement {
            Statement::Step { by } => {
                let _ = writeln!(text, "s = s * {by} + in[0];");
            }
            Statement::If { a, b, limit, then, otherwise } => {
                let _ = writeln!(text, "if ((unsigned char)({a} * in[0] + {b} * in[1] + s) < {limit}) {{");
                write(then, text);
                text.push_str("} else {\n");
                write(otherwise, text);
                text.push_str("}\n");
            }
        }
    }
}

/// Runs statements, or only counts their lines.
fn run(program: &[Statement], input: [u8; 2], s: &mut u8, line: &mut u64, way: &mut Vec<(u64, bool)>) {
    for statement in program {
        match statement {
            Statement::Step { by } => {
                *s = s.wrapping_mul(*by).wrapping_add(input[0]);
                *line += 1;
            }
            Statement::If { a, b, limit, then, otherwise } => {
                let sum = a.wrapping_mul(input[0]).wrapping_add(b.wrapping_mul(input[1])).wrapping_add(*s);
                let taken = sum < *limit;
                way.push((*line, taken));
                *line += 1;
                let (mut skipped, mut nothing) = (*s, Vec::new());
                if taken {
                    run(then, input, s, line, way);
                    *line += 1;
                    run(otherwise, input, &mut skipped, line, &mut nothing);
                } else {
                    run(then, input, &mut skipped, line, &mut nothing);
                    *line += 1;
                    run(otherwise, input, s, line, way);
                }
                *line += 1;
            }
        }
    }
}

/// Where two ways of one version part first.
fn parting(a: &[(u64, bool)], b: &[(u64, bool)]) -> Option<u64> {
    a.iter().zip(b).find(|(x, y)| x != y).map(|(x, _)| x.0)
}

/// Checks one pair of versions; returns how many branches were found.
pub fn check(seed: u64) -> usize {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9).wrapping_add(12345));
    let old = statements(&mut dice, 3);
    let mut new = old.clone();
    for _ in 0..3 {
        mutate(&mut dice, &mut new);
    }
    let versions = [Version::new(old), Version::new(new)];
    // Prefer an input on which the versions differ.
    let inputs = || (0..=u16::MAX).map(u16::to_le_bytes);
    let letter = |i: &[u8; 2]| i.iter().all(u8::is_ascii_alphanumeric);
    let given = inputs()
        .filter(letter)
        .find(|i| versions[0].way(*i) != versions[1].way(*i))
        .unwrap_or([b'a' + (seed % 20) as u8, b'k']);

    let mut sandbox = Sandbox::new();
    let stdin = String::from_utf8_lossy(&given).into_owned();
    for (name, version) in ["old", "new"].into_iter().zip(&versions) {
        sandbox.file(&format!("{name}.c"), &version.text);
        sandbox.quietly(&format!("relapse cc -g -o {name} {name}.c"));
        super::record(&sandbox, name, "", &stdin);
    }
    let answer = ask(&sandbox, "--direction both --anyway");
    let mut all = 0;
    for (number, name) in ["old", "new"].into_iter().enumerate() {
        let (own, held) = (&versions[number], &versions[1 - number]);
        let (own_way, held_way) = (own.way(given), held.way(given));
        let expected: BTreeSet<u64> = inputs()
            .filter(|i| held.way(*i) == held_way)
            .filter_map(|i| parting(&own_way, &own.way(i)))
            .collect();
        let mut found = BTreeSet::new();
        for candidate in list(&answer["candidates"]).iter().filter(|c| c["version"] == name) {
            let line = candidate["line"].as_u64().expect("line");
            found.insert(line);
            for alternate in list(&candidate["alternates"]) {
                let bytes = list(&alternate["parts"][0]["new"]);
                let input = [0, 1].map(|n| bytes[n].as_u64().expect("byte") as u8);
                assert_eq!(held.way(input), held_way, "seed {seed}: {input:?} is not on the other's way");
                let parting = parting(&own_way, &own.way(input));
                assert_eq!(parting, Some(line), "seed {seed}: {input:?} parts elsewhere\n{}", own.text);
            }
        }
        assert_eq!(found, expected, "seed {seed}, {name} version, input {given:?}\n{}", own.text);
        all += found.len();
    }
    all
}

//! Prints measurements of this crate: `cargo run --release -p solver --example questions`.
//!
//! Terms built per second and bytes per term, evaluation, and the cost of flipping the branches of a path by
//! different kinds of queries. Requires `cvc5`.

use std::time::{Duration, Instant};

use solver::{Answer, Binary, Command, Limits, Outcome, Pool, Session, Settings, Solver, Term};

fn main() {
    // The named parts, or all.
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let parts: [(&str, fn()); 7] = [
        ("terms", terms),
        ("enumeration", enumeration),
        ("inside", || session_flips(1000, Duration::from_millis(300))),
        ("outside", || session_flips(1000, Duration::ZERO)),
        ("process", || process_flips(1000)),
        ("scratch", || scratch(60)),
        ("long", long),
    ];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            part();
        }
    }
}

/// A long input: each byte is compared with its neighbours and with constants, and a checksum is updated.
fn long() {
    let mut pool = Pool::new();
    let mut session = Session::new(settings());
    let given = |index: u32| u128::from(index.wrapping_mul(2_654_435_761) >> 25);
    let mut sum = pool.constant(32, 0);
    let start = Instant::now();
    let mut asked = 0;
    let mut flipped = 0;
    for index in 0..5000 {
        let byte = pool.variable(index, 8);
        let wide = pool.zext(byte, 32);
        sum = pool.binary(Binary::Add, sum, wide);
        let mut conditions = Vec::new();
        for letter in [b' ', b'(', b'a'] {
            let letter = pool.constant(8, u128::from(letter));
            conditions.push(pool.binary(Binary::Eq, byte, letter));
        }
        if index % 8 != 0 {
            let before = pool.variable(index - 1, 8);
            conditions.push(pool.binary(Binary::Ule, before, byte));
        }
        for condition in conditions {
            let taken = pool.evaluate(condition, &given) == 1;
            let taken = if taken { condition } else { pool.not(condition) };
            let opposite = pool.not(taken);
            let outcome = session.ask(&mut pool, opposite, &given);
            flipped += usize::from(matches!(outcome, Ok(Outcome::Sat(_))));
            session.assume(&mut pool, taken);
            asked += 1;
        }
    }
    let time = start.elapsed();
    println!(
        "{asked} flips over 5000 bytes: {flipped} sat, {:.0} us each",
        nanoseconds(time, asked) / 1000.0
    );
    println!("  {:?}", session.statistics());
    // The checksum depends on all bytes.
    let bound = pool.evaluate(sum, &given);
    let bound = pool.constant(32, bound);
    let equal = pool.binary(Binary::Eq, sum, bound);
    let other = pool.not(equal);
    let start = Instant::now();
    let outcome = session.ask(&mut pool, other, &given);
    let changed = match &outcome {
        Ok(Outcome::Sat(model)) => format!("{} bytes changed", model.changes(&given).len()),
        other => format!("{other:?}"),
    };
    println!("another checksum: {changed}, {:?}", start.elapsed());
}

fn nanoseconds(time: Duration, count: usize) -> f64 {
    time.as_nanos() as f64 / count as f64
}

/// A checksum over an input whose bytes are read repeatedly.
fn terms() {
    let mut pool = Pool::new();
    let start = Instant::now();
    let mut state = pool.constant(32, 5381);
    let mut seed = 1_u32;
    while pool.len() < 1_000_000 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let byte = pool.variable(seed >> 20, 8);
        let wide = pool.zext(byte, 32);
        let factor = pool.constant(32, 33);
        let product = pool.binary(Binary::Mul, state, factor);
        state = pool.binary(Binary::Xor, product, wide);
        let limit = pool.constant(8, u128::from(seed >> 8 & 0xff));
        let less = pool.binary(Binary::Ult, byte, limit);
        state = pool.ite(less, product, state);
    }
    let built = start.elapsed();
    println!(
        "{} terms: {:.0} ns and {:.1} bytes each",
        pool.len(),
        nanoseconds(built, pool.len()),
        pool.heap_bytes() as f64 / pool.len() as f64
    );
    let start = Instant::now();
    let value = pool.evaluate(state, &|index| u128::from(index) * 7);
    println!("evaluated to {value}: {:.0} ns each", nanoseconds(start.elapsed(), pool.len()));
    let start = Instant::now();
    let variables = pool.variables(state).len();
    println!("{variables} variables found: {:.0} ns each", nanoseconds(start.elapsed(), pool.len()));
}

/// A path condition over four bytes, and the input that satisfies it.
fn path(pool: &mut Pool, count: usize) -> (Vec<Term>, [u128; 4]) {
    let given = [0x41, 0x70, 0x33, 0x7a];
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let bytes: Vec<Term> = (0..4).map(|index| pool.variable(index, 8)).collect();
    let mut hash = pool.constant(32, 5381);
    let mut path = Vec::new();
    while path.len() < count {
        let at = random(4) as usize;
        if path.len() % 16 == 0 {
            hash = pool.constant(32, 5381);
        }
        let wide = pool.zext(bytes[at], 32);
        let factor = pool.constant(32, 33);
        hash = pool.binary(Binary::Mul, hash, factor);
        hash = pool.binary(Binary::Xor, hash, wide);
        let condition = match random(4) {
            0 => {
                let k = pool.constant(8, u128::from(random(256)));
                pool.binary(Binary::Ult, bytes[at], k)
            }
            1 => pool.extract(hash, random(8) as u32, 1),
            2 => pool.binary(Binary::Ule, bytes[at], bytes[random(4) as usize]),
            _ => {
                let k = pool.constant(32, u128::from(random(1 << 31) * 2));
                pool.binary(Binary::Ule, hash, k)
            }
        };
        if pool.as_constant(condition).is_some() {
            continue;
        }
        let taken = pool.evaluate(condition, &|index| given[index as usize]) == 1;
        path.push(if taken { condition } else { pool.not(condition) });
    }
    (path, given)
}

fn settings() -> Settings {
    let commands = vec![Command::new("cvc5", ["--incremental", "--lang", "smt2"])];
    let limits = Limits { timeout: Duration::from_secs(60), ..Limits::default() };
    Settings { commands, limits, ..Settings::default() }
}

/// Flips every branch with a session, with or without the internal solver.
fn session_flips(count: usize, inside: Duration) {
    let mut pool = Pool::new();
    let (path, given) = path(&mut pool, count);
    let mut session = Session::new(Settings { internal_timeout: inside, ..settings() });
    let start = Instant::now();
    let mut sat = 0;
    for &condition in &path {
        let flipped = pool.not(condition);
        let outcome = session.ask(&mut pool, flipped, &|index| given[index as usize]);
        sat += usize::from(matches!(outcome, Ok(Outcome::Sat(_))));
        session.assume(&mut pool, condition);
    }
    let time = start.elapsed();
    println!("{count} flips by a session: {sat} sat, {:.0} us each", nanoseconds(time, count) / 1000.0);
    println!("  {:?}", session.statistics());
}

/// Flips every branch with `push` and `pop` in one process.
fn process_flips(count: usize) {
    let mut pool = Pool::new();
    let (path, _) = path(&mut pool, count);
    let mut solver = Solver::new(settings().commands, settings().limits, false);
    let start = Instant::now();
    let mut sat = 0;
    for &condition in &path {
        let flipped = pool.not(condition);
        solver.push();
        solver.assert(&pool, flipped);
        sat += usize::from(matches!(solver.check(), Ok(Answer::Sat)));
        solver.pop();
        solver.assert(&pool, condition);
    }
    println!(
        "{count} flips by one process: {sat} sat, {:.0} us each",
        nanoseconds(start.elapsed(), count) / 1000.0
    );
}

/// Flips every branch without sharing anything between queries.
fn scratch(count: usize) {
    let mut pool = Pool::new();
    let (path, _) = path(&mut pool, count);
    for (what, keep) in [("one process, all asserted anew", true), ("a process each", false)] {
        let mut solver = Solver::new(settings().commands, settings().limits, false);
        let start = Instant::now();
        for at in 0..count {
            if !keep {
                solver = Solver::new(settings().commands, settings().limits, false);
            }
            let flipped = pool.not(path[at]);
            solver.push();
            for &condition in path[..at].iter().chain([&flipped]) {
                solver.assert(&pool, condition);
            }
            let _ = solver.check();
            solver.pop();
        }
        println!("{count} flips, {what}: {:.0} us each", nanoseconds(start.elapsed(), count) / 1000.0);
    }
    let mut solver = Solver::new(settings().commands, settings().limits, false);
    let start = Instant::now();
    for &condition in &path {
        let flipped = pool.not(condition);
        solver.push();
        solver.assert(&pool, flipped);
        let _ = solver.check();
        solver.pop();
        solver.assert(&pool, condition);
    }
    println!("{count} flips, prefix shared: {:.0} us each", nanoseconds(start.elapsed(), count) / 1000.0);
}

/// Conditions on one byte: by enumeration, and by the solver.
fn enumeration() {
    let mut pool = Pool::new();
    let byte = pool.variable(0, 8);
    let wide = pool.zext(byte, 32);
    let mut conditions = Vec::new();
    for k in 0..200 {
        let factor = pool.constant(32, 2 * k + 7);
        let product = pool.binary(Binary::Mul, wide, factor);
        let bound = pool.constant(32, 100 * k + 50);
        conditions.push(pool.binary(Binary::Ult, product, bound));
    }
    let mut session = Session::new(settings());
    let start = Instant::now();
    for &condition in &conditions {
        let _ = session.ask(&mut pool, condition, &|_| 255);
        let opposite = pool.not(condition);
        let _ = session.ask(&mut pool, opposite, &|_| 0);
    }
    let time = start.elapsed();
    let enumerated = session.statistics().enumerated as usize;
    println!(
        "{enumerated} of {} questions about a byte by enumeration: {:.1} us each",
        2 * conditions.len(),
        nanoseconds(time, 2 * conditions.len()) / 1000.0
    );
    let mut solver = Solver::new(settings().commands, settings().limits, false);
    let start = Instant::now();
    for &condition in &conditions {
        for condition in [condition, pool.not(condition)] {
            solver.push();
            solver.assert(&pool, condition);
            if matches!(solver.check(), Ok(Answer::Sat)) {
                let _ = solver.values(&[0]);
            }
            solver.pop();
        }
    }
    println!("the same by cvc5: {:.1} us each", nanoseconds(start.elapsed(), 2 * conditions.len()) / 1000.0);
}

//! Measures the benefit of incremental solving: each query asked along the path, and each from the beginning,
//! with the same solver.
//!
//! `cargo run --release -p relapse-alternate --example sharing OLD NEW`
//!
//! Prints figures, one name and number per line, for benchmarks. All methods must give the same answers, or
//! it fails; a query that times out in one of them has no answer there.

use alternate::{Options, Run};
use recording::Recording;
use solver::{Answer, Command, Limits, Outcome, Session, Settings, Solver, Term};
use std::time::{Duration, Instant};
use symbolic::{Kind, Path, TermContext};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The queries of one direction: the assumed conditions of one version, and the conditions of the other, each
/// with whether its negation is queried.
struct Questions {
    held: Vec<Term>,
    asked: Vec<(Term, bool)>,
}

fn main() -> Result<()> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [old, new] = &names[..] else { return Err("usage: sharing OLD NEW".into()) };
    let commands = Command::found();
    let first = commands.first().ok_or("no solver was found")?.clone();
    let options = Options::new(commands.clone());
    let mut world = TermContext::default();
    let mut paths: Vec<Path> = Vec::new();
    for name in [old, new] {
        let recording = Recording::open(name.as_ref())?;
        let run = Run::open(&recording, None, &options.follow)?;
        paths.push(symbolic::replay(&run.process, run.recorded, run.stream, &mut world, &options.follow)?);
    }
    // The new version's branches are reported, so the old version's conditions are assumed.
    let decides = |kind: Kind| !matches!(kind, Kind::Bounds | Kind::Concretised);
    let questions = Questions {
        held: paths[0].conditions.iter().map(|c| c.term).collect(),
        asked: paths[1].conditions.iter().map(|c| (c.term, !c.repeated && decides(c.kind))).collect(),
    };
    println!("solver={}", first.name());
    println!("solvers={}", commands.iter().map(Command::name).collect::<Vec<_>>().join("+"));
    println!("held={}", questions.held.len());
    println!("questions={}", questions.asked.iter().filter(|(_, asked)| *asked).count());
    let limits = options.solver.limits.clone();
    let one = vec![first];
    let session = |commands: &[Command], internal_timeout| Settings {
        commands: commands.to_vec(),
        internal_timeout,
        ..options.solver.clone()
    };
    let internal = options.solver.internal_timeout;
    let ways: Vec<(&str, Timed)> = vec![
        ("process_each", anew(&mut world, &questions, &one, &limits, true)?),
        ("told_anew", anew(&mut world, &questions, &one, &limits, false)?),
        ("prefix_shared", shared(&mut world, &questions, &one, &limits)?),
        ("session_solver", along(&mut world, &questions, session(&one, Duration::ZERO))?),
        ("session_raced", along(&mut world, &questions, session(&commands, Duration::ZERO))?),
        ("session", along(&mut world, &questions, session(&commands, internal))?),
    ];
    for (name, timed) in &ways {
        let other =
            |(own, last): (&Option<bool>, &Option<bool>)| own.is_some() && last.is_some() && own != last;
        if timed.answers.iter().zip(&ways[ways.len() - 1].1.answers).any(other) {
            return Err(format!("{name} gives other answers than {}", ways[ways.len() - 1].0).into());
        }
        println!("{name}_seconds={}", timed.time.as_secs_f64());
        println!("{name}_unanswered={}", timed.answers.iter().filter(|a| a.is_none()).count());
    }
    let last = &ways[ways.len() - 1].1.answers;
    println!("satisfiable={}", last.iter().filter(|a| **a == Some(true)).count());
    Ok(())
}

struct Timed {
    time: Duration,
    /// Whether there is an input; `None` if it took too long.
    answers: Vec<Option<bool>>,
}

/// The method of `relapse alternate`.
fn along(world: &mut TermContext, questions: &Questions, settings: Settings) -> Result<Timed> {
    let TermContext { pool, variables } = world;
    let given = |v: u32| variables.value(v);
    let mut answers = Vec::new();
    let start = Instant::now();
    let mut session = Session::new(settings);
    for &term in &questions.held {
        session.assume(pool, term);
    }
    for &(term, asked) in &questions.asked {
        if asked {
            let opposite = pool.not(term);
            answers.push(match session.ask(pool, opposite, &given)? {
                Outcome::Sat(_) => Some(true),
                Outcome::Unsat => Some(false),
                Outcome::Unknown(_) => None,
            });
        }
        session.assume(pool, term);
    }
    Ok(Timed { time: start.elapsed(), answers })
}

/// One process that keeps the path and is queried at each step: only incrementality, nothing else.
fn shared(
    world: &mut TermContext,
    questions: &Questions,
    commands: &[Command],
    limits: &Limits,
) -> Result<Timed> {
    let pool = &mut world.pool;
    let mut answers = Vec::new();
    let start = Instant::now();
    let mut solver = Solver::new(commands.to_vec(), limits.clone(), false);
    for &term in &questions.held {
        solver.assert(pool, term);
    }
    for &(term, asked) in &questions.asked {
        if asked {
            let opposite = pool.not(term);
            solver.push();
            solver.assert(pool, opposite);
            answers.push(yes(&solver.check()?));
            solver.pop();
        }
        solver.assert(pool, term);
    }
    Ok(Timed { time: start.elapsed(), answers })
}

/// Each query asserted as a whole, as the method was first described: in one process that pops everything
/// afterwards, or in a process per query.
fn anew(
    world: &mut TermContext,
    questions: &Questions,
    commands: &[Command],
    limits: &Limits,
    process_each: bool,
) -> Result<Timed> {
    let pool = &mut world.pool;
    let mut answers = Vec::new();
    let start = Instant::now();
    let fresh = || Solver::new(commands.to_vec(), limits.clone(), false);
    let mut solver = fresh();
    for (number, &(term, asked)) in questions.asked.iter().enumerate() {
        if !asked {
            continue;
        }
        if process_each {
            solver = fresh();
        }
        solver.push();
        let before = questions.asked[..number].iter().map(|(t, _)| *t);
        for condition in questions.held.iter().copied().chain(before) {
            solver.assert(pool, condition);
        }
        let opposite = pool.not(term);
        solver.assert(pool, opposite);
        answers.push(yes(&solver.check()?));
        solver.pop();
    }
    Ok(Timed { time: start.elapsed(), answers })
}

fn yes(answer: &Answer) -> Option<bool> {
    match answer {
        Answer::Sat => Some(true),
        Answer::Unsat => Some(false),
        Answer::Unknown(_) => None,
    }
}

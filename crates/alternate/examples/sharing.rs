//! How much it saves that all questions of a direction share a session: each question asked along the
//! path, and each from the beginning, with the same solver.
//!
//! `cargo run --release -p relapse-alternate --example sharing OLD NEW`

use alternate::{Options, Run};
use recording::Recording;
use solver::{Outcome, Session, Settings, Term};
use std::time::{Duration, Instant};
use symbolic::{Kind, Path, World};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [old, new] = &names[..] else { return Err("usage: sharing OLD NEW".into()) };
    let options = Options::new(solver::Command::found());
    let mut world = World::default();
    let mut paths: Vec<Path> = Vec::new();
    for name in [old, new] {
        let recording = Recording::open(name.as_ref())?;
        let run = Run::open(&recording, None, &options.follow)?;
        paths.push(symbolic::replay(&run.process, run.recorded, run.stream, &mut world, &options.follow)?);
    }
    for (held, reported, name) in [(0, 1, "new"), (1, 0, "old")] {
        let terms = |path: &Path| path.conditions.iter().map(|c| c.term).collect::<Vec<Term>>();
        let held = terms(&paths[held]);
        let asked: Vec<(Term, bool)> = paths[reported]
            .conditions
            .iter()
            .map(|c| (c.term, !c.repeated && !matches!(c.kind, Kind::Bounds | Kind::Concretised)))
            .collect();
        println!("{name} version: {} conditions held, {} of its own", held.len(), asked.len());
        // With everything, and with nothing but a solver process, which is what sharing is about.
        for (what, inside) in [("all means", options.solver.inside), ("solver only", Duration::ZERO)] {
            let settings = Settings { inside, ..options.solver.clone() };
            let shared = along(&mut world, &held, &asked, &settings)?;
            let fresh = anew(&mut world, &held, &asked, &settings)?;
            assert_eq!(shared.1, fresh.1, "the answers must be the same");
            let ratio = fresh.0.as_secs_f64() / shared.0.as_secs_f64().max(1e-9);
            println!("  {what}: shared {:?}, each anew {:?}, {ratio:.1} times", shared.0, fresh.0);
        }
    }
    Ok(())
}

type Timed = (Duration, Vec<bool>);

fn along(
    world: &mut World,
    held: &[Term],
    asked: &[(Term, bool)],
    settings: &Settings,
) -> Result<Timed, solver::Error> {
    let World { pool, variables } = world;
    let given = |v: u32| variables.value(v);
    let mut answers = Vec::new();
    let start = Instant::now();
    let mut session = Session::new(settings.clone());
    for &term in held {
        session.assume(pool, term);
    }
    for &(term, decides) in asked {
        if decides {
            let opposite = pool.not(term);
            answers.push(matches!(session.ask(pool, opposite, &given)?, Outcome::Sat(_)));
        }
        session.assume(pool, term);
    }
    Ok((start.elapsed(), answers))
}

/// One process per question that is told everything, as the method was described first.
fn anew(
    world: &mut World,
    held: &[Term],
    asked: &[(Term, bool)],
    settings: &Settings,
) -> Result<Timed, solver::Error> {
    let pool = &mut world.pool;
    let mut answers = Vec::new();
    let start = Instant::now();
    for (number, &(term, decides)) in asked.iter().enumerate() {
        if !decides {
            continue;
        }
        let mut solver = solver::Solver::new(settings.commands.clone(), settings.limits.clone(), false);
        let before = asked[..number].iter().map(|(t, _)| *t);
        for condition in held.iter().copied().chain(before) {
            solver.assert(pool, condition);
        }
        let opposite = pool.not(term);
        solver.assert(pool, opposite);
        answers.push(solver.check()? == solver::Answer::Sat);
    }
    Ok((start.elapsed(), answers))
}

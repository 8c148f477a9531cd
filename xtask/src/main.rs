//! Development tasks of this repository, as `cargo xtask COMMAND`.
//!
//! | command | effect |
//! |---|---|
//! | `setup [--bench]` | installs the Debian packages that building and testing need |
//! | `demo` | builds `relapse` and explains a bundled example |
//! | `test [--quick\|--long]` | runs all checks: format, lints, tests, random programs, real programs |
//! | `lint` | format and lints only |
//! | `package` | builds a Debian package and tests it |
//! | `subjects [NAME…]` | builds real C programs with `relapse cc`, records and replays them |
//! | `releases [NAME…]` | prepares regressions between released versions of real programs |
//! | `real [NAME…]` | builds, tests, records and replays source packages of Debian |
//! | `fuzz-replay N` | records and replays N random C programs, and checks slices of as many |
//! | `bench record` | speed and size compared with plain programs and other tools |
//! | `bench explain` | correctness and cost of explanations of regressions |
//! | `bench locate` | whether faults made by mutation are located, compared with other methods |
//! | `bench explore` | whether seeded changes are exposed, compared with mutation alone; groups of paths |
//! | `bench slice` | the cost of slices compared with plain replay |
//! | `bench views` | the cost of extracting events and comparing runs, as they grow |
//! | `bench cause` | the rank that `relapse cause` gives the true cause between released versions |
//! | `bench contract` | the number of pairs of calls per second that a contract check judges |
//! | `bench environment` | the cost of recording an environment, and the runs needed to find a culprit |
//! | `bench symbolic` | the cost of symbolic replay and of solver queries |
//!
//! What must not be known here: the internals of the crates. Tasks run the built commands, as a user does.

mod bench;
mod cases;
mod demo;
mod fuzz;
mod package;
mod real;
mod releases;
mod setup;
mod shell;
mod subjects;
mod suite;
mod tools;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  setup [--bench]               install what building and testing need (and benchmarks)
  demo                          build, then explain a bundled example
  test [--quick|--long]         set up, then run what must pass; --quick: only format and the unit
                                tests of the libraries; --long: also the tests that take minutes
  lint                          check format and lints
  package [--dev]               make a Debian package in target/package, and try what is in it
  subjects [--bench] [NAME...]  record and replay real C programs (large workloads: --bench)
  releases [--check] [NAME...]  prepare released versions between which something broke
  real [--dev | --as-built] [--table] [NAME...]
                                build source packages of Debian, run their tests plain and
                                recorded, replay every process; writes its section of
                                docs/benchmarks.md (from kept results only: --table)
  fuzz-replay N [--seed S] [--shrink] [--jobs J] [--dev | --as-built]
                                record and replay N random C programs, from seed S on, and
                                compare slices of as many with the definition
  bench record [--no-anchors] [NAME...]
                                compare speed and size, with other tools beside; writes
                                target/bench/record.md
  bench explain [--cap N] [--small] [--only-auto] [NAME...]
                                explain regressions, beside delta debugging and git bisect (not
                                with --only-auto); no real programs: --small;
                                writes target/bench/explain.md
  bench locate [--dev] [--faults N] [--inputs N] [NAME...]
                                locate N faults in each of five programs; writes
                                target/bench/locate.md
  bench explore [--dev] [--changes N] [--seconds N] [NAME...]
                                expose seeded changes, beside mutations alone for the same time, and
                                explore by output beside all paths; writes target/bench/explore.md
  bench slice [--dev] [--rounds N] [--questions N] [--limit SECONDS] [NAME...]
                                what slices cost beside plain replay;
                                writes target/bench/slice.md
  bench views [--dev] [--events N] [NAME...]
                                compare runs of two versions of real programs (lua, sqlite)
                                and of many small ones (pairs), up to about N
                                events (10^8); writes target/bench/views.md
  bench cause [--dev] [NAME...] where `relapse cause` puts the true cause between released
                                versions; writes target/bench/cause.md
  bench contract [--dev]        pairs of calls that a check of contracts judges in a second;
                                writes target/bench/contract.md
  bench environment [--dev]     compare recording of environments with strace, and count the runs
                                that a culprit takes; writes target/bench/environment.md
  bench symbolic faults [--dev | --as-built] [--faults N] [--inputs N] [--budget S] [NAME…]
                           seeded faults of small programs: what `relapse alternate` names
  bench symbolic [--no-anchors] compare symbolic with concrete replay, shared with
                                repeated questions; writes target/bench/symbolic.md
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["setup", rest @ ..] => setup::command(rest),
        ["demo"] => demo::command(),
        ["test"] => suite::command(suite::Scope::Usual),
        ["test", "--quick"] => suite::command(suite::Scope::Quick),
        ["test", "--long"] => suite::command(suite::Scope::Long),
        ["lint"] => suite::lint(),
        ["package", rest @ ..] => package::command(rest),
        ["subjects", rest @ ..] => subjects::command(rest),
        ["fuzz-replay", rest @ ..] => fuzz::command(rest),
        ["fuzz-check", rest @ ..] => fuzz::check_command(rest),
        ["bench", "record", rest @ ..] => bench::command(rest),
        ["bench", "explain", rest @ ..] => bench::explain::command(rest),
        ["bench", "locate", rest @ ..] => bench::locate::command(rest),
        ["bench", "explore", rest @ ..] => bench::explore::command(rest),
        ["bench", "slice", rest @ ..] => bench::slice::command(rest),
        ["bench", "views", rest @ ..] => bench::views::command(rest),
        ["bench", "cause", rest @ ..] => bench::cause::command(rest),
        ["bench", "contract", rest @ ..] => bench::contract::command(rest),
        ["bench", "environment", rest @ ..] => bench::environment::command(rest),
        ["bench", "symbolic", rest @ ..] => bench::symbolic::command(rest),
        ["releases", rest @ ..] => releases::command(rest),
        ["real", rest @ ..] => real::command(rest),
        // The build command of `bench explain`.
        ["watched-build", log, command] => match bench::watch::build(Path::new(log), command) {
            Ok(code) => return ExitCode::from(code),
            Err(message) => Err(message),
        },
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

//! The baselines that `expose` and `explore` are compared with, for `cargo xtask bench explore`.
//!
//! ```text
//! alone mutations SECONDS CC BUILD TEST...   the differential fuzzing loop of `expose` without the solver
//! alone solver SECONDS CC BUILD TEST...      the solver's worker without mutations
//! alone signatures SECONDS CC BUILD TEST...   both versions explored, and compared group by group
//! alone paths SECONDS CC BUILD TEST          all paths instead of groups by output
//! ```
//!
//! The versions are in the directories `good` and `bad` of the current one, or are it. `CC` is `relapse-cc`,
//! with `relapse` in the same directory. Prints the fields of the commands' JSON that the benchmark reads.

use alternate::{Both, Side};
use explore::expose::{Request, Workers, expose};
use explore::signature::{By, Options, explore};
use explore::subject::Subject;
use explore::versions::BuildSetup;
use locate::test::Test;
use recording::Recording;
use serde_json::json;
use solver::{Command, Limits, Settings};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trials::{Tools, TrialLimits};

const TEST: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    match answer() {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("failed to {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> Result<String, Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [method, seconds, cc, build, tests @ ..] = words.as_slice() else {
        return Err("read the command line: METHOD SECONDS CC BUILD TEST...".into());
    };
    let cc = PathBuf::from(cc);
    let tools = Tools {
        relapse: cc.with_file_name("relapse"),
        cxx: cc.with_file_name("relapse-c++"),
        identity: "alone".to_owned(),
        cc,
        symbolizer: None,
        clang: None,
    };
    let here = std::env::current_dir()?;
    let workshop = BuildSetup {
        work: here.with_file_name("work-alone"),
        here,
        build: build.clone(),
        limits: TrialLimits::default(),
        tools,
        compilers: None,
        keep: false,
    };
    let budget = Duration::from_secs(seconds.parse()?);
    let tests: Vec<Test> = tests.iter().map(|command| Test::new(command)).collect();
    let workers = match method.as_str() {
        "mutations" => Workers::Mutations,
        "solver" => Workers::Solver,
        "signatures" => Workers::Signatures,
        "paths" => return paths(&workshop, &tests, budget),
        other => return Err(format!("know the method {other}").into()),
    };
    let request = Request {
        good: "good".to_owned(),
        bad: "bad".to_owned(),
        workshop,
        tests,
        budget,
        solvers: Command::found(),
        workers,
        seed: 1,
        contracts: None,
    };
    Ok(serde_json::to_string(&expose(&request, &Arc::default(), &|_| {})?)?)
}

fn paths(
    workshop: &BuildSetup,
    tests: &[Test],
    budget: Duration,
) -> Result<String, Box<dyn std::error::Error>> {
    let test = tests.first().ok_or("find a test")?;
    let version = workshop.version(".", &Arc::default())?;
    let recorded = version.record(test, "test", TEST)?;
    let recording = Recording::open(&recorded.directory)?;
    let both = |path: &'_ Path| Both { old: path.to_owned(), new: path.to_owned() };
    let (trees, plain) = (both(version.recorded.tree()), both(version.plain.tree()));
    let scratch = tempfile::tempdir()?;
    let (subject, input) = Subject::of_recording(
        &recording,
        Both { old: &*trees.old, new: &*trees.new },
        Both { old: &*plain.old, new: &*plain.new },
        scratch.path(),
    )?;
    let began = Instant::now();
    let settings = Settings {
        commands: Command::found(),
        limits: Limits { timeout: Duration::from_secs(5), ..Limits::default() },
        ..Settings::default()
    };
    let options = Options {
        by: By::Path,
        follow: subject.follow(),
        settings,
        until: began + budget,
        stop: &|| false,
        progress: &|_| {},
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        store: None,
        faults: false,
    };
    let (found, _) = explore(&input, &options, &|input| subject.record(Side::New, input))?;
    let document = json!({
        "complete": found.is_complete(),
        "groups": found.groups.iter().map(|g| &g.output).collect::<Vec<_>>(),
        "effort": {
            "seconds": began.elapsed().as_secs_f64(),
            "runs": found.runs,
            "asked": found.asked,
            "conditions": found.conditions,
        },
    });
    Ok(document.to_string())
}

//! Two versions of a program, `good/p.c` and `bad/p.c` in a sandbox, compared by the library.

use crate::sandbox::Sandbox;
use explore::expose::{Request, Workers, expose};
use explore::exposed::Exposed;
use explore::versions::BuildSetup;
use locate::test::Test;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use trials::{Tools, TrialLimits};

/// What some workers find, beginning with one test.
pub fn by(sandbox: &Sandbox, test: &str, workers: Workers, budget: Duration) -> Exposed {
    let cc = PathBuf::from(env!("CARGO_BIN_EXE_relapse-cc"));
    let tools = Tools {
        relapse: env!("CARGO_BIN_EXE_relapse").into(),
        cxx: cc.with_file_name("relapse-c++"),
        identity: "test".to_owned(),
        cc,
        symbolizer: None,
        clang: driver::clang(),
    };
    let workshop = BuildSetup {
        here: sandbox.path().to_owned(),
        build: "$CC -w -g -o p p.c".to_owned(),
        limits: TrialLimits::default(),
        tools,
        compilers: None,
        work: sandbox.path().join("work"),
        keep: false,
    };
    let request = Request {
        good: "good".to_owned(),
        bad: "bad".to_owned(),
        workshop,
        tests: vec![Test::new(test)],
        budget,
        solvers: solver::Command::found(),
        workers,
        seed: 1,
        contracts: None,
    };
    expose(&request, &Arc::default(), &|_| {}).expect("an answer")
}

//! For any sequence of requests, the runner returns what a simple function returns.

use crate::sandbox::Case;
use changes::{ChangeId, ChangeSet, Outcome, Trials};
use proptest::prelude::*;
use trials::{Rule, Setup};

/// Five files, one change each, and a model in which
/// * reverting 0 without 2 does not build,
/// * reverting 4 without 1 crashes,
/// * reverting 1 and 3 together makes the test pass.
fn world() -> Case {
    let names = ["f0", "f1", "f2", "f3", "f4"];
    let files = |word| names.map(|name| (name, word)).to_vec();
    let mut case = Case::new(&[], &files("old\n"), &files("new\n"));
    case.setup = Setup {
        build: "! grep -q old f0 || grep -q old f2 || { echo 'f0:1:1: error: needs f2'; exit 1; }".to_owned(),
        test: "grep -q old f4 && grep -q new f1 && kill -SEGV $$; grep -q old f1 && grep -q old f3"
            .to_owned(),
        repeat: 1,
        ..case.setup
    };
    case.setup.oracle.rule = Rule::SameAsGood;
    case
}

fn expected(set: &ChangeSet) -> Outcome {
    let has = |n| set.contains(&ChangeId(n));
    match () {
        () if has(0) && !has(2) => Outcome::Broken,
        () if has(4) && !has(1) => Outcome::Unresolved,
        () if has(1) && has(3) => Outcome::Pass,
        () => Outcome::Fail,
    }
}

/// The permitted results: everything, or up to the first set with this outcome.
fn cut(sets: &[ChangeSet], until: Option<Outcome>) -> Vec<Outcome> {
    let all: Vec<Outcome> = sets.iter().map(expected).collect();
    let end = all.iter().position(|o| Some(*o) == until).map_or(all.len(), |at| at + 1);
    all[..end].to_vec()
}

fn sets() -> impl Strategy<Value = Vec<ChangeSet>> {
    let set = proptest::collection::btree_set((0u32..5).prop_map(ChangeId), 0..5);
    proptest::collection::vec(set, 0..7)
}

#[derive(Clone, Debug)]
enum Call {
    Outcomes(Vec<ChangeSet>, Option<Outcome>),
    Builds(Vec<ChangeSet>),
}

fn call() -> impl Strategy<Value = Call> {
    let outcome = prop_oneof![Just(Outcome::Pass), Just(Outcome::Fail), Just(Outcome::Unresolved)];
    prop_oneof![
        (sets(), proptest::option::of(outcome)).prop_map(|(sets, until)| Call::Outcomes(sets, until)),
        sets().prop_map(Call::Builds),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn the_lab_agrees_with_the_world(jobs in 1usize..4, calls in proptest::collection::vec(call(), 1..5)) {
        let mut case = world();
        case.setup.jobs = jobs;
        let mut runner = case.runner();
        runner.prepare().unwrap();
        for call in &calls {
            match call {
                Call::Outcomes(sets, None) => prop_assert_eq!(runner.outcomes(sets, false).unwrap(), cut(sets, None)),
                Call::Outcomes(sets, Some(until)) => {
                    prop_assert_eq!(runner.outcomes_until(sets, *until).unwrap(), cut(sets, Some(*until)));
                }
                Call::Builds(sets) => {
                    for set in sets {
                        prop_assert_eq!(runner.builds(set).unwrap(), expected(set) != Outcome::Broken);
                    }
                }
            }
        }
        for tried in runner.log() {
            if let Some(outcome) = tried.outcome {
                prop_assert_eq!(outcome, expected(&tried.reverted));
            }
        }
        // Again, in a new runner: every outcome that was ever determined is stored.
        let runs = runner.log().iter().filter(|t| !t.remembered && t.outcome.is_some()).count();
        let log = runner.log().to_vec();
        drop(runner);
        let mut runner = case.runner();
        runner.prepare().unwrap();
        let before = runner.effort();
        let sets: Vec<ChangeSet> =
            log.iter().filter(|t| !t.remembered && t.outcome.is_some()).map(|t| t.reverted.clone()).collect();
        runner.outcomes(&sets, false).unwrap();
        prop_assert_eq!(runner.effort().builds, before.builds);
        prop_assert_eq!(runner.effort().remembered as usize, runs);
    }
}

//! Trials with real builds and tests: a "compiler" made of `make` and `cat`, so that every step writes a line
//! to a journal.

use crate::sandbox::Case;
use changes::{ChangeId, ChangeSet, Outcome, Trials};
use std::fs;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use trials::{Error, Rule, Side, Sink, Work};

/// `prog` is the concatenation of the parts; a part that contains BROKEN does not "compile".
const MAKEFILE: &str = "\
J = ../../../journal
prog: a.o b.o c.o
\t@echo link >> $(J)
\tcat a.o b.o c.o > $@
\tchmod +x $@
a.o b.o: common.h
%.o: %.c
\t@echo $@ >> $(J)
\t@if grep -n BROKEN $^; then echo \"$<:1:1: error: it is broken\"; exit 1; fi
\tcat $^ > $@
";

const A: (&str, &str) = ("a.c", "#!/bin/sh\n");

fn set(numbers: &[u32]) -> ChangeSet {
    numbers.iter().map(|n| ChangeId(*n)).collect()
}

/// Changes, in the order of their files: a harmless one in a.c (0), the guilty one in b.c (1), one in c.c
/// that breaks the build when it is reverted alone (2) and the one that it requires in common.h (3).
fn case() -> Case {
    let mut case = Case::new(
        &[("Makefile", MAKEFILE)],
        &[
            ("a.c", "#!/bin/sh\n# old\n"),
            ("b.c", "echo right\n"),
            ("c.c", "true # old\n"),
            ("common.h", "# common\n"),
        ],
        &[A, ("b.c", "echo wrong\n"), ("c.c", "true\n"), ("common.h", "# common 2\n")],
    );
    case.setup.test = "./prog".to_owned();
    case
}

#[test]
fn the_four_outcomes() {
    let mut case = Case::new(
        &[("Makefile", MAKEFILE), ("common.h", "\n"), A],
        &[("b.c", "echo right\n"), ("c.c", "true\n"), ("d", "\n")],
        &[("b.c", "echo wrong\n"), ("c.c", "# BR\n"), ("d", "1\n")],
    );
    // Reverting `d` alone gives a program that crashes.
    case.setup.test = "test -s d || exit 3; if grep -q 1 d; then ./prog; else kill -SEGV $$; fi".to_owned();
    case.setup.oracle.rule = Rule::Expect(b"right\n".to_vec());
    let good_passes = case.runner().prepare().map(|_| ()).unwrap_err();
    assert!(matches!(good_passes, Error::DoesNotPass { .. }), "{good_passes}");

    case.setup.test =
        "if test \"$(cat d)\" = 1 || ! grep -q wrong b.c; then ./prog; else kill -SEGV $$; fi".into();
    let mut runner = case.runner();
    let baseline = runner.prepare().unwrap();
    assert_eq!(fs::read_to_string(&baseline.good.stdout).unwrap(), "right\n");
    assert_eq!(fs::read_to_string(&baseline.bad.stdout).unwrap(), "wrong\n");
    let sets = [set(&[]), set(&[0]), set(&[1]), set(&[2]), set(&[0, 1, 2])];
    let outcomes = runner.outcomes(&sets, false).unwrap();
    use Outcome::{Fail, Pass, Unresolved};
    assert_eq!(outcomes, [Fail, Pass, Fail, Unresolved, Pass]);
    assert!(runner.log().iter().any(|t| t.reverted == set(&[2]) && t.why.starts_with("killed by SIGSEGV")));
}

#[test]
fn only_what_a_change_touches_is_built_again() {
    let mut case = case();
    case.setup.jobs = 1;
    let mut runner = case.runner();
    runner.prepare().unwrap();
    let mut both = case.journal();
    both.sort();
    assert_eq!(both, ["a.o", "a.o", "b.o", "b.o", "c.o", "c.o", "link", "link"], "each version once");
    let mut tried = |numbers: &[u32]| {
        let outcome = runner.outcomes(&[set(numbers)], false).unwrap()[0];
        (outcome, case.journal().join(" "))
    };
    use Outcome::{Fail, Pass};
    assert_eq!(tried(&[0]), (Fail, "a.o link".to_owned()));
    // 0 is restored, 1 is reverted: both are newer than their products.
    assert_eq!(tried(&[1]), (Pass, "a.o b.o link".to_owned()));
    assert_eq!(tried(&[1, 2]), (Pass, "c.o link".to_owned()));
    assert_eq!(tried(&[2]), (Fail, "b.o link".to_owned()));
    // A header.
    assert_eq!(tried(&[2, 3]), (Fail, "a.o b.o link".to_owned()));
    // Known, so nothing is run.
    assert_eq!(tried(&[1]), (Pass, String::new()));
    assert_eq!(tried(&[]), (Fail, String::new()));
    assert_eq!(tried(&[0, 1, 2, 3]), (Pass, String::new()));
    let effort = runner.effort();
    assert_eq!((effort.builds, effort.runs, effort.remembered), (7, 11, 3));
}

#[test]
fn an_examination_builds_from_nothing() {
    let case = case();
    let mut runner = case.runner();
    runner.prepare().unwrap();
    assert_eq!(runner.outcomes(&[set(&[1])], false).unwrap(), [Outcome::Pass]);
    case.journal();
    assert_eq!(runner.examine(&set(&[1])).unwrap(), changes::Sanity::Sane);
    // Once unchanged and once with optimisation, both from scratch.
    let mut journal = case.journal();
    journal.sort();
    assert_eq!(journal, ["a.o", "a.o", "b.o", "b.o", "c.o", "c.o", "link", "link"]);
}

#[test]
fn a_broken_build_and_its_complaint() {
    let mut case = Case::new(
        &[("Makefile", MAKEFILE), ("common.h", "\n"), A],
        &[("b.c", "echo right\n"), ("c.c", "true # BR\n")],
        &[("b.c", "echo wrong\n"), ("c.c", "true # BR2\n")],
    );
    case.setup.test = "./prog".to_owned();
    // Only b reverted together with c: a build step that checks it.
    case.setup.build =
        "if grep -q right b.c && grep -q BR2 c.c; then echo 'c.c:1:8: error: no BR2' >&2; exit 1; fi; make"
            .into();
    let mut runner = case.runner();
    runner.prepare().unwrap();
    assert!(runner.builds(&set(&[1])).unwrap());
    assert!(!runner.builds(&set(&[0])).unwrap());
    assert_eq!(runner.diagnostics(&set(&[0])).as_deref(), Some("c.c:1:8: error: no BR2"));
    assert_eq!(runner.diagnostics(&set(&[1])), None);
    let runs = runner.effort().runs;
    assert_eq!(runner.outcomes(&[set(&[0]), set(&[1])], false).unwrap(), [Outcome::Broken, Outcome::Fail]);
    assert_eq!(runner.effort().runs, runs + 1);
    assert!(!runner.builds(&set(&[0])).unwrap() && runner.builds(&set(&[0, 1])).unwrap());
}

#[test]
fn stale_dependency_files_break_nothing() {
    // `.d` files name a header that only bad has.
    let makefile = "\
prog: a.o
\tcp a.o prog
\tchmod +x prog
a.o: a.c
\tcat a.c > a.o
\tfor h in *.h; do echo \"a.o: $$h\"; done > a.d
-include a.d
";
    let mut case = Case::new(
        &[("Makefile", makefile), ("z.h", "\n")],
        &[("a.c", "#!/bin/sh\necho right\n")],
        &[("a.c", "#!/bin/sh\necho wrong\n"), ("new.h", "\n")],
    );
    case.setup.test = "./prog".to_owned();
    case.setup.jobs = 1;
    let mut runner = case.runner();
    runner.prepare().unwrap();
    assert_eq!(runner.outcomes(&[set(&[0]), set(&[1])], false).unwrap(), [Outcome::Pass, Outcome::Fail]);
}

#[test]
fn changes_that_make_does_not_notice() {
    // A flag in the makefile; a file that is linked if it is there.
    let makefile = |word: &str| {
        format!(
            "W = {word}\nprog: $(wildcard part*)\n\tcat head $^ > prog; echo echo $(W) >> prog; chmod +x prog\n"
        )
    };
    let mut case = Case::new(
        &[("head", "#!/bin/sh\n"), ("part1", "echo 1\n")],
        &[("Makefile", &makefile("right"))],
        &[("Makefile", &makefile("wrong")), ("part2", "echo 2\n")],
    );
    case.setup.jobs = 1;
    case.setup.oracle.rule = Rule::Exit;
    for (reverted, output) in [(0, "1 2 right"), (1, "1 wrong")] {
        case.setup.test = format!("o=$(echo $(./prog)); test \"$o\" = '{output}' || test \"$o\" = '1 right'");
        let mut runner = case.runner();
        runner.prepare().unwrap();
        assert_eq!(runner.outcomes(&[set(&[reverted])], false).unwrap(), [Outcome::Pass], "{output}");
    }
}

#[test]
fn versions_that_do_not_build() {
    let mut case = case();
    case.setup.build = "if grep -q old c.c; then echo 'c.c:1:1: error: too old'; exit 2; fi; make".to_owned();
    let mut runner = case.runner();
    let error = runner.prepare().map(|_| ()).unwrap_err();
    let Error::DoesNotBuild { version: Side::Good, diagnostic, log } = &error else { panic!("{error}") };
    assert_eq!(diagnostic, "c.c:1:1: error: too old");
    drop(runner);
    assert!(fs::read_to_string(log).unwrap().contains("too old"), "the log stays");
}

#[test]
fn tests_that_are_no_regression_tests() {
    let mut case = case();
    let mut prepare = |test: &str, rule: Rule| {
        case.setup.test = test.to_owned();
        case.setup.oracle.rule = rule;
        case.runner().prepare().map(|_| ()).unwrap_err()
    };
    let error = prepare("true", Rule::SameAsGood);
    assert!(matches!(error, Error::DoesNotFail { .. }), "{error}");
    let error = prepare("./no-such-program", Rule::SameAsGood);
    assert!(matches!(error, Error::TestNotRun { .. }), "{error}");
    let error = prepare("exit 1", Rule::Exit);
    assert!(matches!(error, Error::DoesNotPass { .. }), "{error}");
    let error = prepare("grep -q right b.c || exit 125", Rule::Exit);
    assert!(matches!(error, Error::DoesNotFail { .. }), "{error}");
    // The parts that differ from run to run are masked, and nothing else differs.
    let error = prepare("date +%N", Rule::SameAsGood);
    assert!(matches!(error, Error::DoesNotFail { .. }), "{error}");
    let flaky = "grep -q right b.c && exit; echo x >> ../../../count; test $(wc -l < ../../../count) = 2";
    let error = prepare(flaky, Rule::Exit);
    assert!(matches!(error, Error::Flaky { version: Side::Bad, .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "get the same result twice from the bad version: exit 1 once, exit 0 another time"
    );
}

#[test]
fn what_a_test_writes_is_gone_for_the_next_one() {
    let mut case = case();
    case.setup.test = "\
        test -z \"$(ls -A \"$TMPDIR\")\" && test ! -e made && test \"$(head -c 3 common.h)\" = '# c' || exit 9
        echo x > \"$TMPDIR/x\"; mkdir made; echo y > made/y; echo spoilt > common.h; rm Makefile
        ./prog"
        .to_owned();
    let mut runner = case.runner();
    runner.prepare().unwrap();
    case.journal();
    let outcomes = runner.outcomes(&[set(&[0]), set(&[1]), set(&[0, 1])], false).unwrap();
    assert_eq!(outcomes, [Outcome::Fail, Outcome::Pass, Outcome::Pass]);
    // A test that modifies build products causes a rebuild.
    drop(runner);
    case.setup.test = "./prog; rm a.o prog".to_owned();
    let mut runner = case.runner();
    runner.prepare().unwrap();
    assert_eq!(runner.outcomes(&[set(&[0]), set(&[1])], false).unwrap(), [Outcome::Fail, Outcome::Pass]);
}

#[test]
fn stderr_and_files_can_be_observed() {
    let mut case = case();
    case.setup.test = "sh prog > result; echo \"$PWD and $TMPDIR\"; cat result >&2".to_owned();
    assert!(matches!(case.runner().prepare(), Err(Error::DoesNotFail { .. })));
    for sink in ["stderr", "result"] {
        case.setup.oracle.observe = vec![Sink::named(sink)];
        let mut runner = case.runner();
        let baseline = runner.prepare().unwrap();
        let kept: Vec<String> =
            baseline.bad.files.iter().map(|(_, path)| fs::read_to_string(path).unwrap()).collect();
        assert_eq!(kept, if sink == "result" { vec!["wrong\n".to_owned()] } else { Vec::new() });
        assert_eq!(runner.outcomes(&[set(&[0]), set(&[1])], false).unwrap(), [Outcome::Fail, Outcome::Pass]);
        assert!(runner.log().iter().any(|t| t.why == format!("exit 0, {sink} differs")));
    }
}

#[test]
fn a_hang_is_a_failure() {
    let mut case = case();
    case.setup.test = "if grep -q right b.c; then echo fine; else echo so far; sleep 4720; fi".to_owned();
    case.setup.limits.test = Some(Duration::from_millis(500));
    let mut runner = case.runner();
    runner.prepare().unwrap();
    assert_eq!(runner.exit_kind_of_bad(), Some(trials::ExitKind::Hang));
    assert_eq!(runner.outcomes(&[set(&[0]), set(&[1])], false).unwrap(), [Outcome::Fail, Outcome::Pass]);
}

#[test]
fn outcomes_are_remembered_from_run_to_run() {
    let mut case = case();
    let sets = [set(&[0]), set(&[1]), set(&[2])];
    let mut runner = case.runner();
    runner.prepare().unwrap();
    let first = runner.outcomes(&sets, false).unwrap();
    drop(runner);
    let mut runner = case.runner();
    runner.prepare().unwrap();
    let before = runner.effort();
    assert_eq!(runner.outcomes(&sets, false).unwrap(), first);
    let after = runner.effort();
    assert_eq!((after.builds, after.runs, after.remembered), (before.builds, before.runs, 3));
    drop(runner);
    // Not if the test is different.
    case.setup.test = "./prog; echo".to_owned();
    let mut runner = case.runner();
    runner.prepare().unwrap();
    runner.outcomes(&sets, false).unwrap();
    assert_eq!(runner.effort().remembered, 0);
    drop(runner);
    case.setup.tools.identity = "another compiler".to_owned();
    let mut runner = case.runner();
    runner.prepare().unwrap();
    runner.outcomes(&sets, false).unwrap();
    assert_eq!(runner.effort().remembered, 0);
}

#[test]
fn it_ends_with_the_first_that_passes() {
    let mut case = case();
    // Trees that differ in irrelevant files.
    for jobs in [1, 2, 3] {
        case.setup.jobs = jobs;
        case.setup.test = format!("./prog; : {jobs}");
        let mut runner = case.runner();
        runner.prepare().unwrap();
        let sets = [set(&[0]), set(&[2]), set(&[1]), set(&[0, 2]), set(&[1, 2]), set(&[0, 1])];
        use Outcome::{Fail, Pass};
        assert_eq!(runner.outcomes(&sets, true).unwrap(), [Fail, Fail, Pass]);
        // Other workers may have started later sets when the first one passes.
        assert!(runner.effort().runs == 6 + 3 || jobs > 1);
        assert_eq!(runner.outcomes_until(&[set(&[1]), set(&[0]), set(&[2])], Fail).unwrap(), [Pass, Fail]);
        assert_eq!(runner.outcomes(&sets, false).unwrap(), [Fail, Fail, Pass, Fail, Pass, Pass]);
    }
}

#[test]
fn equal_trees_are_built_once() {
    let mut case = case();
    case.setup.jobs = 3;
    let mut runner = case.runner();
    runner.prepare().unwrap();
    case.journal();
    let builds = runner.effort().builds;
    let sets = vec![set(&[1]); 6];
    assert_eq!(runner.outcomes(&sets, false).unwrap(), [Outcome::Pass; 6]);
    assert_eq!(runner.effort().builds, builds + 1);
}

#[test]
fn what_was_built_to_see_whether_it_builds_is_not_built_again() {
    let case = case();
    let mut runner = case.runner();
    runner.prepare().unwrap();
    runner.builds(&set(&[0])).unwrap();
    case.journal();
    assert_eq!(runner.outcomes(&[set(&[0])], false).unwrap(), [Outcome::Fail]);
    assert_eq!(case.journal(), Vec::<String>::new());
}

#[test]
fn a_trial_that_takes_too_long_is_tried_again_another_day() {
    let mut case = case();
    case.setup.test = "./prog; if grep -q old c.c && grep -q wrong b.c; then sleep 4722; fi".to_owned();
    case.setup.limits.test = Some(Duration::from_millis(400));
    for _ in 0..2 {
        let mut runner = case.runner();
        runner.prepare().unwrap();
        assert_eq!(runner.outcomes(&[set(&[2])], false).unwrap(), [Outcome::Unresolved]);
        assert_eq!(runner.effort().remembered, 0);
        assert_eq!(runner.outcomes(&[set(&[2])], false).unwrap(), [Outcome::Unresolved]);
        assert_eq!(runner.effort().remembered, 1);
    }
}

#[test]
fn an_interrupt_leaves_nothing() {
    let mut case = case();
    case.setup.test =
        "./prog; if test -e a.c && grep -q old a.c && ! grep -q right b.c; then sleep 4721.5; fi".to_owned();
    case.setup.limits.test = Some(Duration::from_secs(60));
    let mut runner = case.runner();
    runner.prepare().unwrap();
    let stop = case.stop.clone();
    let began = Instant::now();
    let sets = [set(&[1]), set(&[0])];
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(1500));
            stop.store(true, Ordering::Relaxed);
        });
        runner.outcomes(&sets, false).unwrap_err()
    });
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20));
    drop(runner);
    assert!(!case.work_path().join("trees").exists());
    let sleeping = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == b"sleep\x004721.5\0"));
    assert!(!sleeping);
    // Outcomes known by then are known again.
    stop.store(false, Ordering::Relaxed);
    let mut runner = case.runner();
    runner.prepare().unwrap();
    assert_eq!(runner.outcomes(&sets[..1], false).unwrap(), [Outcome::Pass]);
    assert_eq!(runner.effort().remembered, 1);
}

#[test]
fn commands_run_in_the_subdirectory() {
    let mut case = Case::new(
        &[("shared/Makefile", "all:\n\tcp ../top made\n"), ("top", "top\n")],
        &[("shared/x", "right\n")],
        &[("shared/x", "wrong\n")],
    );
    case.setup.subdirectory = "shared".into();
    // The environment of tests contains nothing of this tool.
    case.setup.test = "cat x made ../top; env | grep -c '^RELAPSE_\\|^CC='".to_owned();
    let mut runner = case.runner();
    let baseline = runner.prepare().unwrap();
    assert_eq!(fs::read_to_string(&baseline.good.stdout).unwrap(), "right\ntop\ntop\n0\n");
    assert_eq!(runner.outcomes(&[set(&[0])], false).unwrap(), [Outcome::Pass]);
}

#[test]
fn ninja_too() {
    let rules = "\
rule cc
  command = echo $out >> ../../../journal; cat $in > $out
rule link
  command = echo link >> ../../../journal; cat $in > $out; chmod +x $out
build a.o: cc a.c
build b.o: cc b.c | common.h
build prog: link a.o b.o
";
    let mut case = Case::new(
        &[("build.ninja", rules), ("a.c", "#!/bin/sh\n")],
        &[("b.c", "echo right\n"), ("common.h", "1\n")],
        &[("b.c", "echo wrong\n"), ("common.h", "2\n")],
    );
    case.setup.build = "ninja".to_owned();
    case.setup.test = "./prog".to_owned();
    case.setup.jobs = 1;
    let mut runner = case.runner();
    runner.prepare().unwrap();
    case.journal();
    assert_eq!(runner.outcomes(&[set(&[0])], false).unwrap(), [Outcome::Pass]);
    assert_eq!(case.journal(), ["b.o", "link"]);
    assert_eq!(runner.outcomes(&[set(&[1])], false).unwrap(), [Outcome::Fail]);
    assert_eq!(case.journal(), ["b.o", "link"]);
}

#[test]
fn the_work_directory_is_held() {
    let case = case();
    let runner = case.runner();
    assert!(matches!(Work::open(&case.work_path(), false), Err(Error::Busy { .. })));
    drop(runner);
    Work::open(&case.work_path(), false).unwrap();
}

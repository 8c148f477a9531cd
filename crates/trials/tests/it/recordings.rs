//! Recorded runs, with a small script in place of the real recorder: the subject of these tests is how it is
//! called and stopped, and how its manifest is used.

use crate::sandbox;
use crate::sandbox::Case;
use std::fs;
use std::time::Duration;
use trials::{Error, Status};

/// Runs the command and records how it ended; "packs" for a while.
const RECORDER: &str = r#"#!/bin/sh
test "$1 $2 $3 $5" = "record --quiet -o --" || exit 99
dir=$4; shift 5
mkdir "$dir" || exit 98
trap '' TERM
"$@"
code=$?
sleep 0.3
if grep -q '#nothing' prog; then
  rm -r "$dir"; echo "relapse: nothing was recorded: no process" >&2; exit 4
fi
if test $code -gt 128; then end="\"signal\":$((code - 128))"; else end="\"exit\":$code"; fi
echo "{\"outcome\":{$end},\"complete\":true,\"processes\":[\"p1.0\"]}" > "$dir/manifest.json"
exit 4
"#;

fn case(good: &str, bad: &str) -> Case {
    let mut case = Case::new(
        &[("Makefile", "prog: prog.in\n\tcp prog.in prog; chmod +x prog; echo $$RELAPSE_MODE > mode\n")],
        &[("prog.in", good)],
        &[("prog.in", bad)],
    );
    sandbox::write(case.dir.path(), &[("recorder!", RECORDER)]);
    case.setup.tools.relapse = case.dir.path().join("recorder");
    case.setup.test = "./prog".to_owned();
    case
}

#[test]
fn both_versions_are_recorded() {
    let case = case("#!/bin/sh\necho fine\n", "#!/bin/sh\necho fine\nexit 7\n");
    let mut runner = case.runner();
    runner.prepare().unwrap();
    let (good, bad) = runner.record_both().unwrap();
    // The recorder's own status (4) is about the recording.
    assert_eq!((good.run.status, bad.run.status), (Status::Exit(0), Status::Exit(7)));
    assert_eq!(fs::read_to_string(&bad.run.stdout).unwrap(), "fine\n");
    assert_eq!(good.run.observed.outputs, bad.run.observed.outputs);
    assert_ne!(good.tree, bad.tree);
    assert!(fs::read_to_string(bad.tree.join("prog")).unwrap().contains("exit 7"));
    // With recording: the build sees this in its environment, the test does not.
    assert_eq!(fs::read_to_string(bad.tree.join("mode")).unwrap(), "instrument\n");
    assert_eq!(bad.incomplete, None);
    // Any other variant, too.
    let all = case.difference.all();
    let again = runner.record(&all, "everything-reverted").unwrap();
    assert_eq!(again.run.status, Status::Exit(0));
    // The recordings are kept.
    drop(runner);
    assert!(bad.directory.join("manifest.json").exists());
}

#[test]
fn the_recorder_of_a_hang_may_finish() {
    let mut case =
        case("#!/bin/sh\necho fine\n", "#!/bin/sh\ntrap '' TERM\necho begun\nwhile :; do sleep 4731; done\n");
    case.setup.limits.test = Some(Duration::from_millis(1500));
    let mut runner = case.runner();
    runner.prepare().unwrap();
    let (_, bad) = runner.record_both().unwrap();
    assert_eq!(bad.run.status, Status::TimedOut);
    assert_eq!(fs::read_to_string(&bad.run.stdout).unwrap(), "begun\n");
    let manifest = fs::read_to_string(bad.directory.join("manifest.json")).unwrap();
    assert!(manifest.contains("\"signal\":9"), "the program was killed, the recorder was not: {manifest}");
}

#[test]
fn nothing_recorded_is_said() {
    let case = case("#!/bin/sh\necho fine #nothing\n", "#!/bin/sh\nexit 7 #nothing\n");
    let mut runner = case.runner();
    runner.prepare().unwrap();
    let error = runner.record_both().unwrap_err();
    assert!(matches!(error, Error::Record { .. }));
    assert_eq!(error.to_string(), "make a recording of the run of good: nothing was recorded: no process");
}

//! Answers as SARIF.

use crate::samples;
use crate::samples::schema::problems;
use serde_json::Value;

fn log(answer: &explain::answer::Answer) -> Value {
    serde_json::from_str(&report::sarif::to_sarif(answer)).unwrap()
}

/// The schema of the SARIF 2.1.0 objects that we write: their required fields and all fields that we
/// use, as in the standard.
fn schema() -> Value {
    serde_json::from_str(include_str!("samples/sarif-2.1.0.json")).unwrap()
}

#[test]
fn running_example() {
    insta::assert_snapshot!(report::sarif::to_sarif(&samples::running()));
}

#[test]
fn not_verified() {
    let log = log(&samples::unverified());
    let run = &log["runs"][0];
    assert_eq!(run["properties"]["verified"], false);
    assert_eq!(run["results"][0]["level"], "warning");
    assert_eq!(run["results"][0]["properties"]["verified"], false);
    assert_eq!(
        run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"],
        "Not verified: undoing change #2 alone was tried, and the test still fails."
    );
}

#[test]
fn every_log_is_as_the_standard_says() {
    let schema = schema();
    for (name, answer) in samples::all() {
        let found = problems(&schema, &log(&answer));
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn the_schema_finds_mistakes() {
    let schema = schema();
    let mut wrong = log(&samples::crash());
    wrong["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0.into();
    wrong["runs"][0]["tool"]["driver"].as_object_mut().unwrap().remove("name");
    wrong["runs"][0]["results"][0]["level"] = "fatal".into();
    assert_eq!(problems(&schema, &wrong).len(), 3);
}

#[test]
fn one_result_for_each_root_change() {
    for (name, answer) in samples::all() {
        let log = log(&answer);
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), answer.root.len(), "{name}");
        for (result, hunk) in results.iter().zip(&answer.root) {
            assert_eq!(result["ruleId"], report::sarif::RULE);
            assert_eq!(result["properties"]["change"], hunk.change);
        }
    }
}

#[test]
fn flows_run_from_the_change_to_the_failure() {
    let log = log(&samples::running());
    let lines = |result: usize| -> Vec<u64> {
        log["runs"][0]["results"][result]["codeFlows"][0]["threadFlows"][0]["locations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["location"]["physicalLocation"]["region"]["startLine"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(lines(0), [5, 7, 10, 13]);
    assert_eq!(lines(1), [10, 13]);
    let step = &log["runs"][0]["results"][1]["codeFlows"][0]["threadFlows"][0]["locations"][0];
    assert_eq!(step["location"]["message"]["text"], "sum became 1; sum: good 4, bad 1");
    assert_eq!(step["state"]["sum"]["text"], "1");
}

#[test]
fn auxiliary_changes_are_related_locations() {
    let log = log(&samples::crash());
    let related = log["runs"][0]["results"][0]["relatedLocations"].as_array().unwrap();
    let texts: Vec<&str> =
        related.iter().filter_map(|location| location["message"]["text"].as_str()).collect();
    assert_eq!(
        texts,
        [
            "Must also be undone for the code to compile",
            "Must also be undone for the code to compile",
            "Here it failed"
        ]
    );
}

#[test]
fn a_long_way_keeps_its_ends() {
    let mut answer = samples::chain(900);
    answer.root[0].change = 0;
    let log = log(&answer);
    let flow = &log["runs"][0]["results"][0]["codeFlows"][0];
    assert_eq!(flow["message"]["text"], "400 steps in the middle are left out");
    let steps = flow["threadFlows"][0]["locations"].as_array().unwrap();
    assert_eq!(steps.len(), 500);
    assert_eq!(steps[0]["properties"]["cause"], 899);
    assert_eq!(steps[499]["properties"]["cause"], 0);
}

/// Applies a fix to bad's text and compares with good's.
#[test]
fn the_fixes_give_back_good() {
    let log = log(&samples::running());
    let mut lines: Vec<String> = samples::SUM_BAD.split_inclusive('\n').map(str::to_owned).collect();
    for result in log["runs"][0]["results"].as_array().unwrap().iter().rev() {
        let replacement = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
        let region = &replacement["deletedRegion"];
        let (from, to) = (region["startLine"].as_u64().unwrap(), region["endLine"].as_u64().unwrap());
        let text = replacement["insertedContent"]["text"].as_str().unwrap_or_default();
        let range = usize::try_from(from - 1).unwrap()..usize::try_from(to - 1).unwrap();
        lines.splice(range, text.split_inclusive('\n').map(str::to_owned));
    }
    // The other two changes are not part of the answer.
    let expected =
        samples::SUM_GOOD.replace("sorted = 1", "sorted = 0").replace("else sum += 0 - z", "else sum += z");
    assert_eq!(lines.concat(), expected);
}

//! Exposed changes and explored programs as pages and as SARIF.

use crate::samples::schema::problems;
use explore::explored::{self, Explored};
use explore::exposed::*;
use explore::shared::FoundBy;
use serde_json::Value;

fn seen(text: &str) -> Seen {
    Seen { end: "exit 0".to_owned(), stdout: text.to_owned(), bytes: text.into(), files: [].into() }
}

fn row(line: u32, reached: bool, infected: bool, exposed_by: Option<usize>) -> ChangeRow {
    ChangeRow {
        id: line,
        file: "a b.c".to_owned(),
        line,
        function: Some("f".to_owned()),
        text: "if (x < \"<b>\")".to_owned(),
        reached,
        infected,
        exposed_by,
        without_code: false,
    }
}

/// One change of each kind, and text that must be escaped.
fn sample() -> Exposed {
    let input = ExposingInput {
        number: 1,
        found_by: FoundBy::Solver,
        seconds: 0.25,
        command: "./p '<i>'".to_owned(),
        parts: vec![Part { name: "stdin".to_owned(), text: "<script>".to_owned() }],
        good: seen("<b>1</b>\n"),
        bad: seen("2\n"),
        changes: vec![3],
        input: Default::default(),
    };
    Exposed {
        schema: SCHEMA,
        good: "v1".to_owned(),
        bad: "v2".to_owned(),
        verdict: Verdict::Differ,
        tests: vec![DistinguishingTest { command: "./t <x".to_owned(), good: seen("a"), bad: seen("b") }],
        inputs: vec![input],
        changes: vec![
            row(3, true, true, Some(1)),
            row(5, true, true, None),
            row(7, true, false, None),
            row(9, false, false, None),
            ChangeRow { without_code: true, ..row(11, false, false, None) },
        ],
        coverage: Coverage {
            good: EdgeCoverage { taken: 3, all: 4 },
            bad: EdgeCoverage { taken: 4, all: 6 },
        },
        intended: 0,
        effort: Effort { runs: 12, recorded_runs: 4, seconds_searching: 1.0, ..Effort::default() },
        notes: vec!["A note.".to_owned()],
    }
}

fn schema() -> Value {
    serde_json::from_str(include_str!("samples/sarif-2.1.0.json")).unwrap()
}

#[test]
fn each_change_with_code_is_a_result() {
    let log: Value = serde_json::from_str(&report::exposed::to_sarif(&sample())).unwrap();
    assert_eq!(problems(&schema(), &log), Vec::<String>::new());
    let results = log["runs"][0]["results"].as_array().unwrap();
    let told: Vec<(&str, &str)> = results
        .iter()
        .map(|r| (r["level"].as_str().unwrap(), r["message"]["text"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            (
                "warning",
                "This change makes the versions differ on ./p '<i>', stdin \"<script>\" (found by the solver): \
                 good ends with exit 0 with \"<b>1</b>\", bad with exit 0 with \"2\"."
            ),
            (
                "note",
                "This change makes a difference to values, but no input was found on which outputs differ."
            ),
            ("note", "This change ran, but no input was found on which it makes a difference."),
            ("note", "No input was found that comes to this change."),
        ]
    );
    let uri = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "a%20b.c");
}

#[test]
fn the_page_escapes_what_strangers_wrote() {
    let page = report::exposed::to_html(&sample());
    for harmful in ["<script>", "<b>1</b>", "'<i>'", "<x"] {
        assert!(!page.contains(harmful), "{harmful}");
    }
    assert!(page.contains("by input 1") && page.contains("3 of 4 in good, 4 of 6 in bad"));
    assert!(page.contains("without effect on the code of these programs: 1."));
}

/// "No difference" is reported with how close the search came.
#[test]
fn nothing_found_is_told_by_how_near_it_came() {
    let mut exposed = Exposed { verdict: Verdict::NoDifferenceFound, ..sample() };
    exposed.changes = vec![row(3, true, true, None)];
    assert!(report::exposed::verdict(&exposed).ends_with("made a difference to values on the way."));
    exposed.changes = vec![row(3, true, false, None)];
    assert!(report::exposed::verdict(&exposed).ends_with("no change that ran made a difference to a value."));
    exposed.changes = vec![row(3, false, false, None)];
    assert!(report::exposed::verdict(&exposed).ends_with("no input came to a change."));
    exposed.changes.clear();
    assert!(report::exposed::verdict(&exposed).ends_with("no code in the programs that the tests run."));
}

#[test]
fn faults_are_results() {
    let fault = |what: &str| explored::FaultRow {
        what: what.to_owned(),
        file: "p.c".to_owned(),
        line: 4,
        function: "main".to_owned(),
        example: explored::Example {
            command: "./p".to_owned(),
            parts: vec![Part { name: "stdin".to_owned(), text: "<a>".to_owned() }],
            end: "SIGFPE".to_owned(),
            stdout: String::new(),
            input: Default::default(),
            ended: alternate::Ended { status: alternate::Status::Signal(8), stdout: Vec::new() },
        },
    };
    let explored = Explored {
        schema: explored::SCHEMA,
        complete: false,
        groups: Vec::new(),
        faults: vec![fault("SIGFPE"), fault("reads outside of its object")],
        effort: explored::Effort::default(),
    };
    let log: Value = serde_json::from_str(&report::explored::to_sarif(&explored)).unwrap();
    assert_eq!(problems(&schema(), &log), Vec::<String>::new());
    let text = |n: usize| log["runs"][0]["results"][n]["message"]["text"].as_str().unwrap().to_owned();
    assert_eq!(text(0), "The program ends by SIGFPE here with ./p, stdin \"<a>\".");
    assert_eq!(text(1), "This reads outside of its object with ./p, stdin \"<a>\".");
    let page = report::explored::to_html(&explored);
    assert!(page.contains("p.c:4 in main reads outside of its object") && !page.contains("<a>"));
}

//! Answers as JSON: round trips, and conformance to the schema.

use crate::samples;
use crate::samples::schema::problems;
use report::json::{Error, from_json, to_json};
use serde_json::Value;

fn schema() -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas/explain-2.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Parses without the nesting limit.
fn parsed(text: &str) -> Value {
    let mut parser = serde_json::Deserializer::from_str(text);
    parser.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut parser).unwrap()
}

#[test]
fn what_is_written_can_be_read() {
    for (name, answer) in samples::all() {
        let text = to_json(&answer).unwrap();
        assert!(text.ends_with('\n'));
        assert!(from_json(&text).unwrap() == answer, "{name}");
    }
}

#[test]
fn answers_are_as_the_schema_says() {
    let schema = schema();
    for (name, answer) in samples::all() {
        let found = problems(&schema, &parsed(&to_json(&answer).unwrap()));
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

#[test]
fn the_schema_finds_mistakes() {
    let schema = schema();
    let good = parsed(&to_json(&samples::crash()).unwrap());
    let broken = |change: fn(&mut Value)| {
        let mut value = good.clone();
        change(&mut value);
        problems(&schema, &value)
    };
    assert!(broken(|_| {}).is_empty());
    assert_eq!(broken(|v| v["schema"] = "relapse.explain/1".into()).len(), 1);
    assert_eq!(broken(|v| v["verified"] = "yes".into()).len(), 1);
    assert_eq!(broken(|v| v["root"][0]["old_start"] = (-1).into()).len(), 1);
    assert_eq!(broken(|v| v["causes"][0]["children"][1]["children"][0]["what"] = Value::Null).len(), 1);
    assert_eq!(broken(|v| v["surprise"] = 1.into()).len(), 1);
    assert_eq!(broken(|v| _ = v.as_object_mut().unwrap().remove("trials")).len(), 1);
    assert_eq!(broken(|v| v["observation"]["place"]["line"] = "3".into()).len(), 1);
}

#[test]
fn what_the_schema_requires_is_required() {
    // Field by field: an answer without a required field is rejected, without an optional one it is
    // accepted.
    let schema = schema();
    let good = parsed(&to_json(&samples::running()).unwrap());
    for field in schema["properties"].as_object().unwrap().keys() {
        let mut value = good.clone();
        value.as_object_mut().unwrap().remove(field);
        let required = schema["required"].as_array().unwrap().iter().any(|name| name == field.as_str());
        assert_eq!(from_json(&value.to_string()).is_err(), required, "{field}");
    }
}

#[test]
fn fields_may_be_added_within_a_version() {
    let mut value = parsed(&to_json(&samples::running()).unwrap());
    value["news"] = "of a later release".into();
    value["causes"][0]["news"] = 1.into();
    assert!(from_json(&value.to_string()).unwrap() == samples::running());
}

#[test]
fn very_deep_causes_survive() {
    let answer = samples::chain(3000);
    assert!(from_json(&to_json(&answer).unwrap()).unwrap() == answer);
}

#[test]
fn impossible_answers_are_refused() {
    let mut answer = samples::blank();
    answer.trials.seconds = f64::NAN;
    assert!(matches!(to_json(&answer), Err(Error::Unwritable(_))));
    let answer = explain::answer::Answer { schema: "other/1".into(), ..samples::blank() };
    assert!(matches!(to_json(&answer), Err(Error::OtherSchema(_))));
}

/// A located fault with every kind of entry conforms to its schema.
#[test]
fn a_located_fault_is_as_its_schema_says() {
    use explain::answer::{Commit, Place, ValuePair};
    use locate::answer::{
        BranchEntry, InitialValue, Link, Located, Pool, Ran, SCHEMA, SuspectLine, ValueEntry,
    };
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas/locate-1.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let place = Place { file: "a.c".to_owned(), line: 3, ..Place::default() };
    let chain = vec![Link { place: place.clone(), how: "could control".to_owned() }];
    let commit = Some(Commit { id: "1".repeat(40), ..Commit::default() });
    let values = vec![ValuePair { name: "x".to_owned(), good: None, bad: Some("1".to_owned()) }];
    let mut located = Located {
        schema: SCHEMA.to_owned(),
        passing: Some(Ran { input: Some("`6` for `7`".to_owned()), ..Ran::default() }),
        pool: Pool { kind: "perturbed".to_owned(), ..Pool::default() },
        branches: vec![BranchEntry {
            place: place.clone(),
            values: values.clone(),
            slice: "relevant".to_owned(),
            follows: Some(place.clone()),
            chain: chain.clone(),
            commit: commit.clone(),
            ..BranchEntry::default()
        }],
        values: vec![ValueEntry { place: place.clone(), values, chain, commit, ..ValueEntry::default() }],
        initial: vec![InitialValue { name: "y".to_owned(), ..InitialValue::default() }],
        lines: vec![SuspectLine { place, why: "guarded".to_owned(), suspicion: Some(0.5), folded: true }],
        ..Located::default()
    };
    located.observation.kind = "exit-status".to_owned();
    let text = report::located::to_json(&located).unwrap();
    assert_eq!(problems(&schema, &parsed(&text)), Vec::<String>::new());
    assert_eq!(serde_json::from_str::<Located>(&text).unwrap(), located);
    let wrong = text.replace("\"relevant\"", "\"perhaps\"");
    assert_ne!(problems(&schema, &parsed(&wrong)), Vec::<String>::new());
}

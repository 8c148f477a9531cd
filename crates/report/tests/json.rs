//! Answers as JSON: there and back, and as the schema says.

mod samples;

use report::json::{Error, from_json, to_json};
use samples::schema::problems;
use serde_json::Value;

fn schema() -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas/explain-2.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Parsed without the limit on nesting.
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
    // Field by field: without a required one an answer is refused, without
    // another it is not.
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

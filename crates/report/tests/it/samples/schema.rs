//! The subset of JSON Schema that our schemas use, with one restriction: a field that the schema does
//! not mention is an error, so that documents and schemas cannot diverge.

use serde_json::Value;

/// The violations of `schema` in `value`, as `path: problem`.
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(schema, value, String::from("$"))];
    while let Some((rule, value, path)) = open.pop() {
        if let Some(name) = rule["$ref"].as_str() {
            let target = schema.pointer(name.trim_start_matches('#'));
            open.push((target.unwrap_or_else(|| panic!("no {name} in the schema")), value, path));
            continue;
        }
        if let Some(any) = rule["anyOf"].as_array() {
            // Used only for "this, or null".
            match any.iter().find(|rule| (rule["type"] == "null") == value.is_null()) {
                Some(rule) => open.push((resolved(schema, rule), value, path)),
                None => found.push(format!("{path}: none of anyOf")),
            }
            continue;
        }
        if let Some(expected) = rule.get("const").filter(|&expected| expected != value) {
            found.push(format!("{path}: {value} is not {expected}"));
        }
        if let Some(list) = rule["enum"].as_array().filter(|list| !list.contains(value)) {
            found.push(format!("{path}: {value} is none of {list:?}"));
        }
        let types: Vec<&str> = match &rule["type"] {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !types.is_empty() && !types.iter().any(|name| is(value, name)) {
            found.push(format!("{path}: {value} is no {}", types.join(" or ")));
            continue;
        }
        if let (Some(least), Some(number)) = (rule["minimum"].as_f64(), value.as_f64())
            && number < least
        {
            found.push(format!("{path}: {number} is below {least}"));
        }
        if let (Some(least), Some(list)) = (rule["minItems"].as_u64(), value.as_array())
            && (list.len() as u64) < least
        {
            found.push(format!("{path}: has fewer than {least}"));
        }
        if let (Some(items), Some(list)) = (rule.get("items"), value.as_array()) {
            open.extend(list.iter().enumerate().map(|(at, value)| (items, value, format!("{path}[{at}]"))));
        }
        if let Some(object) = value.as_object() {
            for name in rule["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if !object.contains_key(name) {
                    found.push(format!("{path}: has no {name}"));
                }
            }
            for (name, value) in object {
                match (rule["properties"].get(name), rule.get("additionalProperties")) {
                    (Some(rule), _) => open.push((rule, value, format!("{path}.{name}"))),
                    (None, Some(rule @ Value::Object(_))) => {
                        open.push((rule, value, format!("{path}.{name}")))
                    }
                    (None, Some(Value::Bool(true))) => {}
                    (None, _) => found.push(format!("{path}: the schema does not know {name}")),
                }
            }
        }
    }
    found
}

fn resolved<'a>(schema: &'a Value, rule: &'a Value) -> &'a Value {
    rule["$ref"].as_str().and_then(|name| schema.pointer(name.trim_start_matches('#'))).unwrap_or(rule)
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("unknown type {other} in a schema"),
    }
}

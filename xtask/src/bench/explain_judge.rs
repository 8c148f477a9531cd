//! Judges whether an explanation is right, by `case.toml`.
//!
//! It is right if its root contains every change that the case calls guilty, or every change of an equally
//! valid answer, and contains no answer that the case calls wrong in addition. With a history, it must also
//! name the guilty commit.

use serde_json::Value;

use crate::cases::Case;

/// Whether the answer names the guilty changes, none of the plausible wrong ones, and the guilty commit.
pub fn is_right(case: &Case, answer: &Value) -> bool {
    let reported = answer["root"].as_array().map(Vec::as_slice).unwrap_or_default();
    let commit = case.culprit.as_deref().is_none_or(|subject| answer["commit"]["subject"] == subject);
    let others = tables(case, "other");
    let right = std::iter::once(&case.table).chain(others).filter_map(named);
    commit
        && right.into_iter().any(|right| {
            all_among(right, reported)
                && !tables(case, "wrong").filter_map(named).any(|wrong| {
                    // A wrong answer that is part of the right one is acceptable.
                    all_among(wrong, reported) && !all_among(wrong, &only(right, reported))
                })
        })
}

fn tables<'a>(case: &'a Case, key: &str) -> impl Iterator<Item = &'a toml::Table> {
    case.table
        .get(key)
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_table)
}

fn named(answer: &toml::Table) -> Option<&Vec<toml::Value>> {
    answer.get("root")?.as_array()
}

fn all_among(named: &[toml::Value], reported: &[Value]) -> bool {
    named.iter().all(|one| reported.iter().any(|hunk| is_named(one, hunk)))
}

/// The reported hunks that an answer names.
fn only(named: &[toml::Value], reported: &[Value]) -> Vec<Value> {
    reported.iter().filter(|hunk| named.iter().any(|one| is_named(one, hunk))).cloned().collect()
}

/// Whether a reported hunk is the one that `case.toml` names.
fn is_named(named: &toml::Value, hunk: &Value) -> bool {
    let said = |key: &str| named.get(key).and_then(toml::Value::as_str);
    let among = |text: Option<&str>, lines: &Value| {
        let mut lines = lines.as_array().into_iter().flatten().filter_map(Value::as_str);
        text.is_none_or(|text| lines.any(|line| line.contains(text)))
    };
    hunk["file"].as_str() == said("file")
        && among(said("old"), &hunk["old_text"])
        && among(said("new"), &hunk["new_text"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cases;

    #[test]
    fn answers_are_compared_by_their_lines() {
        let case = Case::one(&cases::home(), "scheduler-moved").unwrap();
        let answer = |file: &str, old: &str, new: &str| json!({ "root": [{ "file": file, "old_text": [old], "new_text": [new] }] });
        let (before, after) = ("return task->left > 0 && task->wake <= now;", "return task->left > 0;");
        assert!(is_right(&case, &answer("sched.c", "", after)));
        assert!(is_right(&case, &answer("sched.c", before, "")), "as right");
        assert!(!is_right(&case, &answer("sched.c", "", "")));
        assert!(!is_right(&case, &answer("other.c", before, after)));
    }

    #[test]
    fn wrong_answers_and_other_commits_are_not_right() {
        let mut case = Case::one(&cases::home(), "scheduler-moved").unwrap();
        case.culprit = Some("Break it".to_owned());
        case.table = r#"
            root = [{ file = "a.c", new = "one" }, { file = "a.c", new = "two" }]
            [[wrong]]
            root = [{ file = "a.c", new = "luck" }]
            [[wrong]]
            root = [{ file = "a.c", new = "one" }]
        "#
        .parse()
        .unwrap();
        let answer = |lines: &[&str], subject: &str| {
            let root: Vec<Value> = lines
                .iter()
                .map(|line| json!({ "file": "a.c", "old_text": [], "new_text": [line] }))
                .collect();
            json!({ "root": root, "commit": { "subject": subject } })
        };
        assert!(is_right(&case, &answer(&["one", "two"], "Break it")));
        assert!(is_right(&case, &answer(&["one", "two", "more"], "Break it")));
        assert!(!is_right(&case, &answer(&["one", "two", "luck"], "Break it")));
        assert!(!is_right(&case, &answer(&["one"], "Break it")));
        assert!(!is_right(&case, &answer(&["one", "two"], "Mend it")));
        assert!(!is_right(&case, &json!({ "root": answer(&["one", "two"], "")["root"], "commit": null })));
    }
}

//! Judges the story of an explanation, by `case.toml`.
//!
//! A story is the path from the failure down to the changes, in `causes`. `chains` lists the lines that it
//! must have, `never` those that it must not. Values and executed lines are not judged here: the tests
//! compare every answer with the recordings.

use serde_json::Value;

use crate::cases::Case;

/// The maximum number of steps from a change to the failure for a story to count as short.
pub const SHORT: usize = 10;

/// The properties of a story, and its judgement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The length of the longest path from the failure to a change.
    pub steps: usize,
    /// Whether it has all required lines and none of the forbidden ones; `None` if the case lists neither.
    pub right: Option<bool>,
    /// Links that were tested by running bad with another value, and those of them for which the failure
    /// disappeared.
    pub tried: usize,
    pub proven: usize,
}

/// Judges the story of an answer.
pub fn judge(case: &Case, answer: &Value) -> Story {
    let top = below(answer, "causes");
    let chains: Vec<Vec<&str>> = lists(case, "chains");
    let never: Vec<&str> = strings(case.table.get("never"));
    let causes = all(top);
    let clean = !causes
        .iter()
        .any(|cause| ["place", "good_place"].iter().any(|place| never.contains(&line(cause, place).trim())));
    let complete = chains.iter().all(|chain| top.iter().any(|cause| leads(cause, chain)));
    let outcome = |cause: &&Value| cause["link"]["outcome"].as_str().map(str::to_owned);
    let outcomes: Vec<String> =
        causes.iter().filter_map(outcome).filter(|outcome| outcome != "not-tried").collect();
    Story {
        steps: top.iter().map(depth).max().unwrap_or(0),
        right: (!chains.is_empty() || !never.is_empty()).then_some(clean && complete),
        tried: outcomes.len(),
        proven: outcomes.iter().filter(|outcome| matches!(outcome.as_str(), "passes" | "gone")).count(),
    }
}

fn below<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn line<'a>(cause: &'a Value, place: &str) -> &'a str {
    cause[place]["text"].as_str().unwrap_or_default()
}

/// All causes of a forest.
fn all(top: &[Value]) -> Vec<&Value> {
    let mut all: Vec<&Value> = top.iter().collect();
    let mut at = 0;
    while at < all.len() {
        all.extend(below(all[at], "children"));
        at += 1;
    }
    all
}

/// The length of the longest path down to a change; of the longest path at all if none leads to a change.
fn depth(top: &Value) -> usize {
    let (mut to_change, mut deepest) = (0, 0);
    let mut open = vec![(top, 1)];
    while let Some((cause, depth)) = open.pop() {
        deepest = deepest.max(depth);
        if !cause["change"].is_null() {
            to_change = to_change.max(depth);
        }
        open.extend(below(cause, "children").iter().map(|child| (child, depth + 1)));
    }
    if to_change > 0 { to_change } else { deepest }
}

/// Whether a path down from this cause has lines with these texts, in this order.
fn leads(cause: &Value, chain: &[&str]) -> bool {
    let mut open = vec![(cause, chain)];
    while let Some((cause, chain)) = open.pop() {
        let Some((first, rest)) = chain.split_first() else { return true };
        let reads = ["place", "good_place"].iter().any(|place| line(cause, place).contains(first));
        let left = if reads { rest } else { chain };
        if left.is_empty() {
            return true;
        }
        open.extend(below(cause, "children").iter().map(|child| (child, left)));
    }
    false
}

fn strings(value: Option<&toml::Value>) -> Vec<&str> {
    let list = value.and_then(toml::Value::as_array).into_iter().flatten();
    list.filter_map(toml::Value::as_str).collect()
}

fn lists<'a>(case: &'a Case, key: &str) -> Vec<Vec<&'a str>> {
    let list = case.table.get(key).and_then(toml::Value::as_array).into_iter().flatten();
    list.map(|inner| strings(Some(inner))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cases;

    fn case(says: &str) -> Case {
        let mut case = Case::one(&cases::home(), "scheduler-moved").unwrap();
        case.table = says.parse().unwrap();
        case
    }

    fn answer() -> Value {
        let cause = |text: &str, link: Value, children: Vec<Value>| json!({ "place": { "text": text }, "link": link, "children": children });
        let mut change = cause("limit = 3;", json!({ "outcome": "passes" }), vec![]);
        change["change"] = json!(1);
        let middle = cause("if (n > limit)", json!({ "outcome": "same" }), vec![change]);
        let beside = cause("n++;", json!({ "outcome": "not-tried" }), vec![]);
        json!({ "causes": [cause("puts(name);", Value::Null, vec![middle, beside])] })
    }

    #[test]
    fn required_lines_follow_each_other_on_one_way() {
        let right = |says: &str| judge(&case(says), &answer()).right;
        assert_eq!(right(r#"chains = [["puts(name)", "limit = 3"]]"#), Some(true));
        assert_eq!(right(r#"chains = [["limit = 3", "puts(name)"]]"#), Some(false));
        assert_eq!(right(r#"chains = [["puts(name)", "n++", "limit = 3"]]"#), Some(false));
        assert_eq!(right(r#"never = ["n++;"]"#), Some(false));
        assert_eq!(right(r#"never = ["n--;"]"#), Some(true));
        assert_eq!(right(""), None);
    }

    #[test]
    fn steps_and_links_are_counted() {
        let story = judge(&case(""), &answer());
        assert_eq!((story.steps, story.tried, story.proven), (3, 2, 1));
        assert_eq!(judge(&case(""), &json!({})), Story::default());
    }
}

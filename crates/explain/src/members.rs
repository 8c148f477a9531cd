//! The differing members of two structures.
//!
//! Values are already texts when two runs are compared. In a structure of ten members a single difference is
//! hard to see, so equal members are omitted.

use replay::vars::POINTER;

/// Two structures in text form without the members that are equal in both; `None` if they are not structures
/// with the same members, or if all members differ.
///
/// ```text
/// {kind = 5, size = 0, u = {number = 1}}    {kind = 5, …}
/// {kind = 1, size = 0, u = {number = 1}}    {kind = 1, …}
/// ```
pub fn differing(one: &str, other: &str) -> Option<(String, String)> {
    let (ones, others) = (members(one)?, members(other)?);
    let names = |members: &[(&str, &str)]| members.iter().map(|m| m.0.to_owned()).collect::<Vec<_>>();
    if names(&ones) != names(&others) {
        return None;
    }
    let (mut left, mut right, mut shorter) = (Vec::new(), Vec::new(), false);
    for ((name, a), (_, b)) in ones.iter().zip(&others) {
        if a == b {
            shorter = true;
            continue;
        }
        let inner = differing(a, b);
        shorter |= inner.is_some();
        let (a, b) = inner.unwrap_or_else(|| ((*a).to_owned(), (*b).to_owned()));
        left.push(format!("{name} = {a}"));
        right.push(format!("{name} = {b}"));
    }
    let omitted = left.len() < ones.len();
    let close = |parts: Vec<String>| format!("{{{}{}}}", parts.join(", "), if omitted { ", …" } else { "" });
    (shorter && !left.is_empty()).then(|| (close(left), close(right)))
}

/// Whether a value is informative: the text of a pointer, or of a structure without members shown, is not.
pub fn tells(value: &str) -> bool {
    match members(value) {
        Some(members) => members.iter().any(|(_, value)| tells(value)),
        None => ![POINTER, "{...}", "..."].contains(&value),
    }
}

/// Names and values of `{a = 1, b = {...}}`; `None` if the text is something else.
fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let (mut depth, mut quote, mut escaped, mut start) = (0_u32, None, false, 0);
    let mut parts = Vec::new();
    for (at, c) in inner.char_indices() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[' | '(') => depth += 1,
            (None, '}' | ']' | ')') => depth = depth.checked_sub(1)?,
            (None, ',') if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    if depth > 0 || quote.is_some() {
        return None;
    }
    parts.into_iter().map(|part| part.trim_start().split_once(" = ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_left_out() {
        let good = r#"{kind = 5, name = "a, }b", u = {ptr = NULL, number = 1}, next = NULL}"#;
        let bad = r#"{kind = 1, name = "a, }b", u = {ptr = NULL, number = 2}, next = NULL}"#;
        let expected = (
            "{kind = 5, u = {number = 1, …}, …}".to_owned(),
            "{kind = 1, u = {number = 2, …}, …}".to_owned(),
        );
        assert_eq!(differing(good, bad), Some(expected));
    }

    #[test]
    fn pointers_and_what_is_not_shown_tell_nothing() {
        for value in ["pointer", "{...}", "{p = pointer, q = {...}}", "{Base = {...}, call = pointer}"] {
            assert!(!tells(value), "{value}");
        }
        for value in ["0", "NULL", "{p = pointer, n = 0}", "{1, 2}", "\"pointer\"", "{}"] {
            assert!(tells(value), "{value}");
        }
    }

    #[test]
    fn what_cannot_be_shortened_is_left_alone() {
        for (good, bad) in [
            ("{a = 1}", "{a = 2}"),
            ("{a = 1, b = 1}", "{a = 1, c = 1}"),
            ("{1, 2, 3}", "{1, 2, 4}"),
            ("{a = \"{\", b = 1", "{a = 1, b = 2}"),
            ("{a = 1, b = ...}", "5"),
            ("{}", "{}"),
            ("{a = 1}}", "{a = 1}}"),
        ] {
            assert_eq!(differing(good, bad), None, "{good} {bad}");
        }
    }
}

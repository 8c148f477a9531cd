//! Access paths of a source line: `x->name`, `table[i].len`.
//!
//! A line is parsed as text, because its values are shown beside its text. What a path denotes depends on
//! the time: `p->next` is another member after `p = p->next`. So paths through something that the line
//! assigns are left out.

use expression::Expression;
use std::collections::BTreeSet;

/// Longer paths are not shown.
const MOST_ACCESSES: usize = 4;

/// A path with at least one access to a member or an element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AccessPath {
    pub expression: Expression,
    /// The line assigns to it.
    pub is_assigned: bool,
}

impl AccessPath {
    /// The variable at its beginning.
    pub fn root(&self) -> &str {
        let text = &self.expression.text;
        text.find(|c| !is_of_name(c)).map_or(text, |end| &text[..end])
    }
}

/// A call through a dot, `out.text.append(x)`: of an object's method, or of what a member points to. Which of
/// them it is, is known by the object's type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DottedCall {
    /// `out.text.append`.
    pub callee: Expression,
    /// `out.text`.
    pub object: Expression,
}

/// What a line names.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    /// Paths, in the line's order, each once.
    pub paths: Vec<AccessPath>,
    /// The names outside of all paths.
    pub alone: BTreeSet<String>,
    pub calls: Vec<DottedCall>,
}

/// What a line names.
pub(super) fn paths(text: &str) -> Named {
    let bare = without_literals(text);
    let mut found: Vec<AccessPath> = Vec::new();
    let mut calls: Vec<DottedCall> = Vec::new();
    let mut alone = BTreeSet::new();
    let mut changed = BTreeSet::new();
    let mut candidates = Vec::new();
    let mut at = 0;
    while let Some(start) = bare[at..].find(is_of_name).map(|n| at + n) {
        let name_end = end_of_name(&bare, start);
        let end = end_of_path(&bare, name_end);
        at = name_end;
        let is_name = bare[start..].starts_with(|c: char| c.is_alphabetic() || c == '_');
        let is_member = bare[..start].trim_end().ends_with(['.']) || bare[..start].trim_end().ends_with("->");
        if !is_name || is_member {
            continue;
        }
        let (path, behind) = (&bare[start..end], bare[end..].trim_start());
        let before = bare[..start].trim_end();
        let is_stepped = before.ends_with("++")
            || before.ends_with("--")
            || behind.starts_with("++")
            || behind.starts_with("--");
        let is_assigned = assigns(behind) || is_stepped;
        if end == name_end {
            alone.insert(path.to_owned());
            if is_assigned {
                changed.insert(path.to_owned());
            }
        } else if !behind.starts_with('(') {
            candidates.push((path.to_owned(), is_assigned));
        } else if let Some(call) = dotted_call(path)
            && !calls.iter().any(|known| known.object.text == call.object.text)
        {
            calls.push(call);
        }
    }
    for (path, is_assigned) in candidates {
        let names = || path.split(|c| !is_of_name(c));
        let has_one = |at: usize| path[at..].starts_with("->") || path[at..].starts_with(['.', '[']);
        let accesses = (0..path.len()).filter(|at| path.is_char_boundary(*at) && has_one(*at)).count();
        if accesses > MOST_ACCESSES || names().any(|name| changed.contains(name)) {
            continue;
        }
        match found.iter_mut().find(|p| p.expression.text == path) {
            Some(known) => known.is_assigned |= is_assigned,
            None => {
                let Ok(expression) = expression::parse(&path) else { continue };
                found.push(AccessPath { expression, is_assigned });
            }
        }
    }
    // A path through something that is assigned denotes something else afterwards.
    let assigned: Vec<String> =
        found.iter().filter(|p| p.is_assigned).map(|p| p.expression.text.clone()).collect();
    let goes_through = |path: &AccessPath| {
        let text = &path.expression.text;
        assigned.iter().any(|a| text.len() > a.len() && text.contains(a.as_str()))
    };
    found.retain(|path| !goes_through(path));
    Named { paths: found, alone, calls }
}

/// A call whose callee is a path that ends in a dot and a name.
fn dotted_call(path: &str) -> Option<DottedCall> {
    let (object, method) = path.rsplit_once('.')?;
    let accesses = object.matches("->").count() + object.matches(['.', '[']).count();
    if !method.trim().chars().all(is_of_name) || accesses > MOST_ACCESSES {
        return None;
    }
    Some(DottedCall {
        callee: expression::parse(path).ok()?,
        object: expression::parse(object.trim_end()).ok()?,
    })
}

/// Whether the text after an operand assigns to it.
fn assigns(behind: &str) -> bool {
    let sign = behind.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    let operator = &behind[..behind.len() - sign.len()];
    sign.starts_with('=') && !sign.starts_with("==") && !matches!(operator, "<" | ">")
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn end_of_name(text: &str, start: usize) -> usize {
    text[start..].find(|c| !is_of_name(c)).map_or(text.len(), |n| start + n)
}

/// The end of the accesses that follow a name.
fn end_of_path(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let skip = rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let sign = if rest.starts_with("->") {
            2
        } else if rest.starts_with('.') {
            1
        } else if rest.starts_with('[') {
            match index(rest) {
                Some(len) => {
                    at += skip + len;
                    continue;
                }
                None => return at,
            }
        } else {
            return at;
        };
        let member = rest[sign..].trim_start();
        if !member.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return at;
        }
        let start = at + skip + (rest.len() - member.len());
        at = end_of_name(text, start);
    }
}

/// The length of an index in brackets without assignments or calls.
fn index(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => {
                let inside = &text[1..at];
                let has_effect = ["++", "--", "="].iter().any(|sign| inside.contains(sign));
                let calls =
                    inside.match_indices('(').any(|(n, _)| inside[..n].trim_end().ends_with(is_of_name));
                return (!has_effect && !calls && !inside.trim().is_empty()).then_some(at + 1);
            }
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A line without comments, and with a control character in place of each string or character literal.
fn without_literals(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            Some(open) => {
                if c == '\\' {
                    chars.next();
                } else if c == open {
                    quote = None;
                }
            }
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                bare.push('\u{1}');
            }
            None if c == '/' && chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            None if c == '/' && chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                bare.push(' ');
            }
            None => bare.push(c),
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, bool)> {
        paths(text).paths.into_iter().map(|path| (path.expression.text, path.is_assigned)).collect()
    }

    fn read(paths: &[&str]) -> Vec<(String, bool)> {
        paths.iter().map(|path| ((*path).to_owned(), false)).collect()
    }

    #[test]
    fn members_and_elements_are_paths() {
        assert_eq!(of("memcpy(s, x->sval, n1);"), read(&["x->sval"]));
        assert_eq!(of("if (a.b[i + 1]->c == t[0])"), read(&["a.b[i + 1]->c", "t[0]"]));
        assert_eq!(of("f(x); // p->q"), read(&[]));
        assert_eq!(of("puts(\"p->q\" /* r->s */);"), read(&[]));
        assert_eq!(of("1.5 + x.y"), read(&["x.y"]));
        assert_eq!(of("x.y; // z.a\nb.c;"), read(&["x.y", "b.c"]));
    }

    #[test]
    fn what_is_assigned_is_known_and_nothing_leads_through_it() {
        assert_eq!(of("yylval.s = buf;"), [("yylval.s".to_owned(), true)]);
        assert_eq!(of("p->count += q->n;"), [("p->count".to_owned(), true), ("q->n".to_owned(), false)]);
        assert_eq!(of("p = p->next;"), []);
        assert_eq!(of("x = t[i++];"), []);
        assert_eq!(of("x = t[i]; i++;"), []);
        assert_eq!(of("p->next = p->next->next;"), [("p->next".to_owned(), true)]);
        assert_eq!(of("if (p->n <= q->n && p->n >= 1)"), read(&["p->n", "q->n"]));
    }

    #[test]
    fn calls_are_no_values() {
        assert_eq!(of("p->call(q->n);"), read(&["q->n"]));
        assert_eq!(of("t[f(x)].y = 1;"), []);
        assert_eq!(of("f(x)->y"), []);
    }

    #[test]
    fn objects_of_dotted_calls_are_told() {
        let objects = |text: &str| {
            let calls = paths(text).calls;
            calls.into_iter().map(|call| (call.object.text, call.callee.text)).collect::<Vec<_>>()
        };
        let told = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(objects("data.clear();"), told(&[("data", "data.clear")]));
        assert_eq!(
            objects("p->out.text.append(x, y.size());"),
            told(&[("p->out.text", "p->out.text.append"), ("y", "y.size"),])
        );
        assert_eq!(objects("p->call(q); f(x).g(); a.b = \"c.d()\";"), told(&[]));
    }

    #[test]
    fn names_outside_of_paths_are_told() {
        let named = paths("memcpy(s + n, x->sval, y->len + x);");
        assert_eq!(named.alone.into_iter().collect::<Vec<_>>(), ["memcpy", "n", "s", "x"]);
    }
}

//! Contracts in the comments of a source file, and in a separate file.
//!
//! ```text
//! //@ changed_behavior              /*@ changed_behavior
//! //@   ensures \result > 0;          @   ensures \result > 0;
//! int f(void) { ... }                 @*/
//!                                   int f(void) { ... }
//! ```
//! In a separate file a contract follows the name of its function:
//!
//! ```text
//! function f
//! changed_behavior
//!   ensures \result > 0;
//! ```

use crate::error::{Error, Result};
use crate::language::{Contract, Place, Source};
use crate::parse::parse;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A contract in a comment, and the range of lines in which its function begins.
#[derive(Clone, Debug, PartialEq)]
pub struct CommentedContract {
    /// The contract.
    pub contract: Contract,
    /// From the line in which the comment ends to that of the function's `{`, inclusive, counted from 1.
    pub lines: RangeInclusive<u32>,
}

/// The contracts of a file, which is displayed as `name`.
///
/// # Errors
/// If it cannot be read, or a contract is invalid.
pub fn read_file(path: &std::path::Path, name: &str) -> Result<Vec<(String, Contract)>> {
    let bytes = std::fs::read(path).map_err(|error| Error::Read { path: name.to_owned(), error })?;
    in_file(&Arc::new(Source { file: name.to_owned(), text: String::from_utf8_lossy(&bytes).into_owned() }))
}

/// A comment, or several consecutive ones.
struct Group {
    /// Parts of the text that belong to the contract.
    parts: Vec<std::ops::Range<usize>>,
    /// Offset after the last comment.
    end: usize,
}

/// All contracts in a source text, in order.
///
/// # Errors
/// If one is invalid.
pub fn in_comments(source: &Arc<Source>) -> Result<Vec<CommentedContract>> {
    let text = &source.text;
    groups(text)
        .into_iter()
        .map(|group| {
            let (Some(first), Some(last)) = (group.parts.first(), group.parts.last()) else {
                return Ok(None);
            };
            let masked = masked(text, &group.parts);
            let whole = &masked[first.start..last.end];
            let blanks = whole.len() - whole.trim_start().len();
            let place = Place { source: source.clone(), start: first.start + blanks, end: last.end };
            let contract = parse(&masked, &place)?;
            let header = header_end(text, group.end);
            let line = |at: usize| text[..at].bytes().filter(|b| *b == b'\n').count() as u32 + 1;
            Ok(Some(CommentedContract { contract, lines: line(group.end)..=line(header) }))
        })
        .filter_map(Result::transpose)
        .collect()
}

/// The text with everything outside of `parts` replaced by blanks, except line ends.
fn masked(text: &str, parts: &[std::ops::Range<usize>]) -> String {
    let mut bytes: Vec<u8> = text.bytes().map(|b| if b == b'\n' { b } else { b' ' }).collect();
    for part in parts {
        bytes[part.clone()].copy_from_slice(&text.as_bytes()[part.clone()]);
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Offset of the function's body, or of the end of the declaration.
fn header_end(text: &str, from: usize) -> usize {
    let mut rest = from;
    for (start, end, kind) in tokens(text, from) {
        if kind == Token::Other
            && let Some(at) = text[start..end].find(['{', ';', '}'])
        {
            return start + at;
        }
        rest = end;
    }
    rest
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Line,
    Block,
    /// Code, including literals.
    Other,
}

/// Comments and the code between them: start, end, kind.
fn tokens(text: &str, from: usize) -> Vec<(usize, usize, Token)> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let (mut at, mut code) = (from, from);
    while at < bytes.len() {
        let (end, kind) = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                (text[at..].find('\n').map_or(text.len(), |n| at + n), Token::Line)
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                (text[at + 2..].find("*/").map_or(text.len(), |n| at + 2 + n + 2), Token::Block)
            }
            quote @ (b'"' | b'\'') => {
                let mut n = at + 1;
                while n < bytes.len() && bytes[n] != quote && bytes[n] != b'\n' {
                    n += if bytes[n] == b'\\' { 2 } else { 1 };
                }
                at = (n + 1).min(bytes.len());
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        if code < at {
            all.push((code, at, Token::Other));
        }
        all.push((at, end, kind));
        (at, code) = (end, end);
    }
    if code < bytes.len() {
        all.push((code, bytes.len(), Token::Other));
    }
    all
}

fn groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut goes_on = false;
    for (start, end, kind) in tokens(text, 0) {
        let comment = &text[start..end];
        match kind {
            Token::Line if comment.starts_with("//@") => {
                let part = start + 3..end;
                match groups.last_mut().filter(|_| goes_on) {
                    Some(group) => {
                        group.parts.push(part);
                        group.end = end;
                    }
                    None => groups.push(Group { parts: vec![part], end }),
                }
                goes_on = true;
            }
            Token::Block if comment.starts_with("/*@") => {
                let inner_end = if comment.ends_with("*/") && comment.len() >= 5 { end - 2 } else { end };
                let inner_end = if text[..inner_end].ends_with('@') && inner_end > start + 3 {
                    inner_end - 1
                } else {
                    inner_end
                };
                let mut parts = Vec::new();
                let mut at = start + 3;
                for (n, line) in text[start + 3..inner_end].split('\n').enumerate() {
                    // An `@` or `*` may begin a line.
                    let blanks = line.len() - line.trim_start().len();
                    let lead = line.trim_start().starts_with(['@', '*']) && n > 0;
                    parts.push(at + if lead { blanks + 1 } else { 0 }..at + line.len());
                    at += line.len() + 1;
                }
                groups.push(Group { parts, end });
                goes_on = false;
            }
            Token::Other if comment.trim().is_empty() => {}
            _ => goes_on = false,
        }
    }
    groups
}

/// All contracts of a file of contracts, with the names of their functions.
///
/// # Errors
/// If one is invalid.
pub fn in_file(source: &Arc<Source>) -> Result<Vec<(String, Contract)>> {
    let text = &source.text;
    let code: Vec<std::ops::Range<usize>> =
        tokens(text, 0).into_iter().filter(|t| t.2 == Token::Other).map(|t| t.0..t.1).collect();
    let masked = masked(text, &code);
    // The lines that begin with this word, with their ends.
    let mut heads: Vec<(usize, usize, String)> = Vec::new();
    let mut at = 0;
    for line in masked.split_inclusive('\n') {
        if let Some(name) = line.trim_start().strip_prefix("function ") {
            let name = name.trim().trim_end_matches(':').trim_end().to_owned();
            heads.push((at + line.len() - line.trim_start().len(), at + line.len(), name));
        } else if heads.is_empty() && !line.trim().is_empty() {
            let start = at + line.len() - line.trim_start().len();
            let place = Place { source: source.clone(), start, end: at + line.trim_end().len() };
            let what = "a line with the word function and a name is expected before a contract".to_owned();
            return Err(Error::Syntax { place, what });
        }
        at += line.len();
    }
    let mut all = Vec::new();
    for (n, (start, end, name)) in heads.iter().enumerate() {
        let next = heads.get(n + 1).map_or(masked.len(), |h| h.0);
        if name.is_empty() {
            let place = Place { source: source.clone(), start: *start, end: (*end).max(start + 1) };
            return Err(Error::Syntax { place, what: "the name of a function is missing".to_owned() });
        }
        // Trailing blanks are excluded.
        let body = masked[*end..next].trim_end().len();
        let place = Place { source: source.clone(), start: *end, end: end + body };
        all.push((name.clone(), parse(&masked, &place)?));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn source(text: &str) -> Arc<Source> {
        Arc::new(Source { file: "a.c".to_owned(), text: text.to_owned() })
    }

    #[test]
    fn comments_of_both_kinds_are_found() {
        let text = "\
int g;
//@ changed_behavior
//@   requires n > 0;
//@   ensures \\result == \\prev(\\result) + 1;
static int
f(int n) { return n; }
char *s = \"//@ nothing\";
/*@ error: \\result < 0;
  @ changed_behavior signals (error) g == 1
  @ also changed_behavior when_signaled (signal SIGSEGV) true; signals (any) false
  @*/
int h(void)
{
}
";
        let found = in_comments(&source(text)).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].lines, 4..=6);
        assert_eq!(found[1].lines, 11..=13);
        assert_eq!(
            found[0].contract.cases[0].ensures[0].clause.text(),
            "ensures \\result == \\prev(\\result) + 1"
        );
        assert_eq!(found[0].contract.cases[0].ensures[0].place.to_string(), "a.c:4:15");
        assert_eq!((found[1].contract.errors.len(), found[1].contract.cases.len()), (1, 2));
        assert_eq!(found[1].contract.cases[1].when_signaled[0].0.to_string(), "signal SIGSEGV");
    }

    #[test]
    fn a_file_names_functions() {
        let text = "// what is meant\nfunction f\nchanged_behavior ensures \\forall int i; 0 <= i && i < n; a[i] >= 0\n\nfunction ns::g:\n";
        let found = in_file(&source(text)).unwrap();
        assert_eq!(found.iter().map(|f| f.0.as_str()).collect::<Vec<_>>(), ["f", "ns::g"]);
        let quantifier = &found[0].1.cases[0].ensures[0].quantifiers[0];
        assert_eq!(
            (quantifier.ty.as_str(), quantifier.variable.as_str(), quantifier.all),
            ("int", "i", true)
        );
        assert!(found[1].1.cases.is_empty());
    }

    fn complaint(contract: &str) -> String {
        let text = format!("//@ {contract}\nint f(void) {{ }}\n");
        in_comments(&source(&text)).unwrap_err().to_string()
    }

    #[test]
    fn errors_have_their_place() {
        insta::assert_snapshot!(
            [
                "changed_behaviour ensures 1",
                "changed_behavior ensure 1",
                "changed_behavior ensures",
                "changed_behavior ensures a ==",
                "changed_behavior ensures a = 1",
                "changed_behavior ensures \\reslt > 0",
                "changed_behavior signals abort true",
                "changed_behavior signals (failure) true",
                "changed_behavior ensures (\\forall i; 0 <= i; a[i])",
                "changed_behavior ensures (\\forall int i; 0 <= i)",
                "changed_behavior ensures f(1) == 2; nonsense",
            ]
            .map(complaint)
            .join("\n"),
            @r#"
            a.c:1:5: changed_behavior is expected here, not "changed_behaviour"
            //@ changed_behaviour ensures 1
                ^^^^^^^^^^^^^^^^^
            a.c:1:22: a clause, also, or the end is expected here, not "ensure"
            //@ changed_behavior ensure 1
                                 ^^^^^^
            a.c:1:29: a predicate is expected here, not the end
            //@ changed_behavior ensures
                                        ^
            a.c:1:34: an operand is missing there
            //@ changed_behavior ensures a ==
                                             ^
            a.c:1:30: an assignment (is == meant?) cannot be evaluated over a recording
            //@ changed_behavior ensures a = 1
                                         ^^^^^
            a.c:1:30: \reslt is no form of contracts: they are \result, \old, \prev, \latest, \deprecated, \forall, \exists
            //@ changed_behavior ensures \reslt > 0
                                         ^^^^^^
            a.c:1:30: the kind of end in parentheses, such as (abort), is expected here, not "abort"
            //@ changed_behavior signals abort true
                                         ^^^^^
            a.c:1:22: failure is no way in which a call ends: it is neither abort, signal, exit, throw or any, nor declared before the cases as "failure: predicate"
            //@ changed_behavior signals (failure) true
                                 ^^^^^^^^^^^^^^^^^^^^^^
            a.c:1:40: a type and a name is expected here, not ";"
            //@ changed_behavior ensures (\forall i; 0 <= i; a[i])
                                                   ^
            a.c:1:52: a semicolon after the quantifier's range is expected here, not ")"
            //@ changed_behavior ensures (\forall int i; 0 <= i)
                                                               ^
            a.c:1:41: a clause, also, or the end is expected here, not "nonsense"
            //@ changed_behavior ensures f(1) == 2; nonsense
                                                    ^^^^^^^^
            "#
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Words of the language in any order, and other input.
        #[test]
        fn no_text_makes_it_panic(words in prop::collection::vec(prop_oneof![
            prop::sample::select(vec![
                "changed_behavior", "also", "requires", "ensures", "when_ensured", "signals", "when_signaled",
                "(", ")", "[", "]", ";", ":", "\\result", "\\old", "\\prev", "\\forall", "\\exists", "int", "i",
                "&&", "==", "->", ".", "\"", "'", "\\", "abort", "exit", "3", "@", "*/", "\n", "é", "$", "//@", "/*@",
                "function", "error", "{", "}", "throw std::x",
            ]).prop_map(str::to_owned),
            any::<String>(),
        ], 0..24)) {
            let text = words.join(" ");
            for text in [format!("//@ {text}\nint f() {{"), format!("/*@ {text}"), text] {
                let source = source(&text);
                for error in [in_comments(&source).err(), in_file(&source).err()].into_iter().flatten() {
                    prop_assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}

//! Serialises the answer to JSON and reads it back. `docs/json.md` describes the fields,
//! `docs/schemas/explain-2.json` is the schema.

use explain::answer::{Answer, Cause};
use serde::Deserialize;

/// The schema version that is written and read.
pub use explain::answer::SCHEMA;

/// Maximum nesting depth of causes in a document: more than a person can follow, and less than exhausts
/// the stack that the parser can be given.
pub const DEEPEST: usize = 10_000;

/// Errors of reading or writing an answer as JSON.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not JSON.
    #[error("read the answer: it is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// JSON without a schema field.
    #[error("read the answer: it has no field `schema`")]
    NoSchema,
    /// An answer of another schema version, or another kind of document.
    #[error("read the answer: its schema is `{0}`, not `{SCHEMA}`")]
    OtherSchema(String),
    /// The schema name matches, but the content does not.
    #[error("read the answer: {0}")]
    WrongShape(#[source] serde_json::Error),
    /// The causes are nested deeper than [`DEEPEST`].
    #[error("handle causes nested deeper than {DEEPEST}")]
    TooDeep,
    /// The answer cannot be written as JSON.
    #[error("write the answer as JSON: {0}")]
    Unwritable(String),
}

/// Serialises the answer, with a trailing newline. Deeply nested answers are not indented, because they
/// would contain more whitespace than text; layout is not part of the format.
///
/// # Errors
/// If the causes are nested too deeply, or the answer has another schema.
pub fn to_json(answer: &Answer) -> Result<String, Error> {
    if answer.schema != SCHEMA {
        return Err(Error::OtherSchema(answer.schema.clone()));
    }
    if !answer.trials.seconds.is_finite() {
        return Err(Error::Unwritable("`trials.seconds` is no number".to_owned()));
    }
    let depth = nesting(&answer.causes);
    if depth > DEEPEST {
        return Err(Error::TooDeep);
    }
    let mut text = with_stack(depth, || {
        let written =
            if depth <= 40 { serde_json::to_string_pretty(answer) } else { serde_json::to_string(answer) };
        written.map_err(|error| Error::Unwritable(error.to_string()))
    })?;
    text.push('\n');
    Ok(text)
}

/// Reads an answer, whichever program wrote it. Unknown fields are ignored, because fields may be added
/// within a version.
///
/// # Errors
/// If the text is not JSON, has another schema, or does not have the schema's shape.
pub fn from_json(text: &str) -> Result<Answer, Error> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    let depth = brackets(text) / 2;
    if depth > DEEPEST + 8 {
        return Err(Error::TooDeep);
    }
    with_stack(depth, || {
        let head: Head = parse(text)
            .map_err(|error| if error.is_data() { Error::NoSchema } else { Error::NotJson(error) })?;
        match head.schema {
            None => return Err(Error::NoSchema),
            Some(schema) if schema != SCHEMA => return Err(Error::OtherSchema(schema)),
            Some(_) => {}
        }
        parse(text).map_err(Error::WrongShape)
    })
}

/// Parses without the parser's recursion limit; [`with_stack`] provides the stack.
fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    let mut parser = serde_json::Deserializer::from_str(text);
    parser.disable_recursion_limit();
    let value = T::deserialize(&mut parser)?;
    parser.end()?;
    Ok(value)
}

/// Runs `work`, which recurses to `depth`, on a thread with enough stack if `depth` is not small.
fn with_stack<T: Send>(depth: usize, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    // Generous: a level of a derived parser takes a few kilobytes in unoptimised builds.
    const LEVEL: usize = 32 << 10;
    if depth <= 16 {
        return work();
    }
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().stack_size((1 << 20) + depth * LEVEL).spawn_scoped(scope, work);
        match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Err(Error::Unwritable(format!("no memory for the depth of its causes: {error}"))),
        }
    })
}

/// Nesting depth of causes.
fn nesting(causes: &[Cause]) -> usize {
    let mut deepest = 0;
    let mut open: Vec<(&Cause, usize)> = causes.iter().map(|cause| (cause, 1)).collect();
    while let Some((cause, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(cause.children.iter().map(|child| (child, depth + 1)));
    }
    deepest
}

/// Nesting depth of brackets in a JSON text.
fn brackets(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'\\' => {
                            bytes.next();
                        }
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert_eq!(brackets(r#"{"a": "[[[\"[[", "b": [[]]}"#), 3);
        assert_eq!(brackets("]]]["), 1);
    }

    #[test]
    fn says_what_is_wrong_with_a_document() {
        let text = |json: &str| from_json(json).unwrap_err().to_string();
        assert!(text("{").starts_with("read the answer: it is not JSON: "), "{}", text("{"));
        assert_eq!(text("{}"), "read the answer: it has no field `schema`");
        assert_eq!(text("[1]"), "read the answer: it has no field `schema`");
        assert_eq!(text(r#"{"schema": 3}"#), "read the answer: it has no field `schema`");
        assert_eq!(
            text(r#"{"schema": "relapse.explain/1"}"#),
            "read the answer: its schema is `relapse.explain/1`, not `relapse.explain/2`"
        );
        let missing = text(r#"{"schema": "relapse.explain/2"}"#);
        assert!(missing.contains("missing field `verified`"), "{missing}");
    }

    #[test]
    fn no_depth_of_brackets_overflows_the_stack() {
        let deep = "[".repeat(10_000_000);
        assert!(matches!(from_json(&deep), Err(Error::TooDeep)));
        let within = format!("{{\"schema\": \"relapse.explain/2\", \"x\": {}", "[".repeat(2 * DEEPEST));
        assert!(matches!(from_json(&within), Err(Error::NotJson(_))));
    }
}

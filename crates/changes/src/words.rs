//! The words of a line of code, and which of them it seems to declare.
//!
//! Uses the text of the line alone, for C, C++ and similar languages. This is precise enough for hints: a
//! wrong one only costs trials.

/// A word of a line.
#[derive(Debug)]
pub struct Word<'a> {
    /// A part of the line: letters, digits and underscores.
    pub text: &'a str,
    /// The line seems to declare it.
    pub declared: bool,
    /// It follows an opening parenthesis.
    pub parameter: bool,
}

/// Words that are followed by an expression or a type, not by a new name.
const NON_DECLARING_PREFIXES: [&str; 16] = [
    "return", "else", "goto", "case", "sizeof", "in", "do", "throw", "new", "static", "const", "extern",
    "inline", "volatile", "register", "typedef",
];
/// Words that are never declared.
const NO_NAMES: [&str; 22] = [
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "struct", "union",
    "enum", "const", "static", "extern", "inline", "volatile", "register", "typedef", "if", "while",
    "return",
];

/// The words of a line, each with whether the line seems to declare it: after another word (`int x`, `struct
/// s`), after a word and a star (`char *p`), as the name of a macro, or as the first word of a line that ends
/// like an enumerator (`RED,`).
#[must_use]
pub fn words_of(line: &str) -> Vec<Word<'_>> {
    let directive = line.trim_start().starts_with('#');
    let mut words: Vec<Word> = Vec::new();
    let mut before: Option<&str> = None;
    let mut rest = line;
    let mut parameter = false;
    while let Some(start) = rest.find(is_word_start) {
        let gap = &rest[..start];
        let tail = &rest[start..];
        let end = tail.find(|c: char| !(is_word_start(c) || c.is_ascii_digit())).unwrap_or(tail.len());
        let text = &tail[..end];
        let behind = tail[end..].trim_start();
        parameter |= gap.contains('(');
        let joined = gap.chars().all(|c| c.is_whitespace() || c == '*');
        let typed = joined && before.is_some_and(|before| !NON_DECLARING_PREFIXES.contains(&before));
        let listed =
            before.is_none() && gap.trim().is_empty() && (behind.starts_with(',') || behind.is_empty());
        let declared = if directive {
            joined && before == Some("define")
        } else {
            (typed || listed) && !NO_NAMES.contains(&text)
        };
        words.push(Word { text, declared, parameter });
        before = Some(text);
        rest = &tail[end..];
    }
    words
}

/// A line without its comments and strings, as far as one line shows them: prose would look like a series of
/// declarations.
#[must_use]
pub fn code_of(line: &str) -> String {
    let mut code = String::with_capacity(line.len());
    let start = line.trim_start();
    // Within a multi-line comment, lines begin with a star by convention.
    if start.starts_with("*/") || start.starts_with("**") || start.starts_with("* ") || start == "*" {
        return code;
    }
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.len()
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if c == '"' {
            let mut escaped = false;
            let close = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            close.map_or(rest.len(), |end| end + 2)
        } else {
            code.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        // Not a space, which would join the words on both sides.
        code.push(';');
        rest = &rest[length..];
    }
    code
}

fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(line: &str) -> Vec<&str> {
        words_of(line).into_iter().filter(|word| word.declared).map(|word| word.text).collect()
    }

    #[test]
    fn declarations_are_recognised() {
        assert_eq!(declared("  int m;"), ["m"]);
        assert_eq!(declared("char *name = f(x);"), ["name"]);
        assert_eq!(declared("#define LIMIT 3"), ["LIMIT"]);
        assert_eq!(declared("  RED,"), ["RED"]);
        assert_eq!(declared("  m = g(m);"), Vec::<&str>::new());
        assert_eq!(declared("return m;"), Vec::<&str>::new());
        assert_eq!(declared("static const char *find (State *L, int pc) {"), ["find", "L", "pc"]);
        assert_eq!(declared("#define quick static inline"), ["quick"]);
        let code = code_of("  int a; /* the old one */ puts(\"a \\\" word\"); // and more");
        assert_eq!(code, "  int a; ; puts(;); ;");
        assert_eq!(code_of("** Try to find a name."), "");
        assert_eq!(code_of("x = \"never closed /*"), "x = ;");
    }
}

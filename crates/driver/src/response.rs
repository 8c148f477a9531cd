//! Response files: `@file` on the command line is replaced by the words in the file.
//!
//! Words are split by GNU rules, as in gcc and clang on Linux: white space separates, single and
//! double quotes group, a backslash quotes the next character. An `@file` that cannot be read is
//! kept; clang then reports the error.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Maximum nesting of response files, which may be cyclic.
const MAX_DEPTH: usize = 16;

/// Replaces every `@file` in `args` by the words of that file.
pub fn expand(args: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::with_capacity(args.len());
    for arg in args {
        expand_one(arg, 0, &mut out);
    }
    out
}

fn expand_one(arg: &OsStr, depth: usize, out: &mut Vec<OsString>) {
    let content = match arg.as_bytes() {
        [b'@', path @ ..] if !path.is_empty() && depth < MAX_DEPTH => {
            std::fs::read(PathBuf::from(OsStr::from_bytes(path))).ok()
        }
        _ => None,
    };
    match content {
        Some(bytes) => {
            for word in split(&bytes) {
                expand_one(&word, depth + 1, out);
            }
        }
        None => out.push(arg.to_owned()),
    }
}

/// Splits the text of a response file into words.
pub fn split(bytes: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut rest = bytes.iter().copied();
    while let Some(byte) = rest.next() {
        match (quote, byte) {
            (_, b'\\') => word.get_or_insert_default().extend(rest.next()),
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(byte),
            (None, b'"' | b'\'') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0) => {
                words.extend(word.take().map(OsString::from_vec));
            }
            (None, _) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

/// Quotes `word` for a response file or a log line.
pub fn quote(word: &OsStr) -> Vec<u8> {
    let bytes = word.as_bytes();
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_=+./,:@%^*#".contains(b);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.to_vec();
    }
    let mut out = vec![b'"'];
    for &b in bytes {
        if matches!(b, b'"' | b'\\' | b'$' | b'`') {
            out.push(b'\\');
        }
        out.push(b);
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        split(text.as_bytes()).into_iter().map(|w| w.into_string().unwrap()).collect()
    }

    #[test]
    fn words_are_split_by_gnu_rules() {
        assert_eq!(words("a  b\n\tc"), ["a", "b", "c"]);
        assert_eq!(words(r#""a b" 'c d' e\ f"#), ["a b", "c d", "e f"]);
        assert_eq!(words(r#"-DX=\"y\" "q\"r" '' z"#), ["-DX=\"y\"", "q\"r", "", "z"]);
        assert_eq!(words(""), Vec::<String>::new());
    }

    #[test]
    fn quoting_is_undone_by_splitting() {
        for word in ["", "plain", "two words", "-DX=\"a\\b\"", "$HOME`x`", "it's"] {
            assert_eq!(split(&quote(OsStr::new(word))), [OsString::from(word)], "{word}");
        }
    }

    #[test]
    fn files_are_expanded_and_missing_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        let outer = dir.path().join("outer");
        std::fs::write(&inner, "-c \"x y.c\"").unwrap();
        std::fs::write(&outer, format!("-O2 @{}", inner.display())).unwrap();
        let args = [OsString::from(format!("@{}", outer.display())), OsString::from("@/does/not/exist")];
        assert_eq!(expand(&args), ["-O2", "-c", "x y.c", "@/does/not/exist"]);
    }
}

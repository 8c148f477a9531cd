//! Words of command lines.

/// Quotes a word for `sh`. NUL bytes, which no command line can contain, are removed.
#[must_use]
pub fn quoted(word: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(word).chars().filter(|c| *c != '\0').collect();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted(b"./p"), "./p");
        assert_eq!(quoted(b""), "''");
        assert_eq!(quoted(b"it's"), "'it'\\''s'");
        assert_eq!(quoted(b"$HOME"), "'$HOME'");
    }
}

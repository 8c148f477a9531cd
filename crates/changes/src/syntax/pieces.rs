//! Splits a file into pieces that are parsed one by one: the texts between points outside all braces.
//!
//! An error in one function must not affect the next: a parser that misses a brace continues to the end of
//! the file. Braces are counted here without a grammar, so pieces end where functions end, whatever they
//! contain. Pieces that no change touches need not be parsed at all.

use std::ops::Range;

/// Lines from 0, and their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub lines: Range<u32>,
    pub bytes: Range<usize>,
}

/// Splits a text after each line that begins with a closing brace and leaves none open. One piece if the
/// braces do not match.
pub(super) fn pieces(text: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = (0_u32, 0_usize);
    let (mut line, mut at, mut depth) = (0_u32, 0_usize, 0_i64);
    let (mut in_comment, mut directive, mut matched) = (false, false, true);
    for full in text.split_inclusive(|byte| *byte == b'\n') {
        at += full.len();
        line += 1;
        let begins = !in_comment && full.trim_ascii_start().starts_with(b"#");
        let code = !(begins || directive);
        directive = !code && full.trim_ascii_end().ends_with(b"\\");
        let closes = !in_comment && full.starts_with(b"}");
        let change = braces(full, &mut in_comment);
        if code {
            depth += change;
            matched &= depth >= 0;
            if closes && depth == 0 {
                pieces.push(Piece { lines: start.0..line, bytes: start.1..at });
                start = (line, at);
            }
        }
    }
    if !matched || depth != 0 {
        return vec![Piece { lines: 0..line, bytes: 0..at }];
    }
    if start.1 < at || pieces.is_empty() {
        pieces.push(Piece { lines: start.0..line, bytes: start.1..at });
    }
    pieces
}

/// Opened minus closed in a line.
fn braces(line: &[u8], in_comment: &mut bool) -> i64 {
    let mut sum = 0;
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        if *in_comment {
            let end = rest.windows(2).position(|pair| pair == b"*/");
            *in_comment = end.is_none();
            at += end.map_or(rest.len(), |end| end + 2);
            continue;
        }
        match rest {
            [b'/', b'*', ..] => {
                *in_comment = true;
                at += 1;
            }
            [b'/', b'/', ..] => return sum,
            [quote @ (b'"' | b'\''), ..] => {
                at += 1;
                while at < line.len() && line[at] != *quote {
                    at += 1 + usize::from(line[at] == b'\\');
                }
            }
            [b'{', ..] => sum += 1,
            [b'}', ..] => sum -= 1,
            _ => {}
        }
        at += 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(u32, u32)> {
        let pieces = pieces(text.as_bytes());
        let mut at = 0;
        for piece in &pieces {
            assert_eq!(piece.bytes.start, at);
            at = piece.bytes.end;
        }
        assert_eq!(at, text.len());
        pieces.into_iter().map(|piece| (piece.lines.start, piece.lines.end)).collect()
    }

    #[test]
    fn functions_are_pieces() {
        assert_eq!(
            lines("int f()\n{\n  '}';\n}\n\nint g() { /* }\n{ */\n}\nint x;\n"),
            [(0, 4), (4, 8), (8, 9)]
        );
        assert_eq!(lines("#define A {\nint x;\n"), [(0, 2)]);
        assert_eq!(lines(""), [(0, 0)]);
        // A namespace contains its functions.
        assert_eq!(lines("namespace n {\nint f()\n{\n}\n}\n"), [(0, 5)]);
        // Unbalanced braces: one piece.
        assert_eq!(lines("int f()\n{\n}\n}\nint g()\n{\n}\n"), [(0, 7)]);
    }
}

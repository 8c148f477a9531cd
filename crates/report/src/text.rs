//! Sanitises untrusted strings (source lines, values, messages) for display.
//!
//! Source text may contain anything: terminal escapes, characters that change the reading direction,
//! NUL bytes. None of these may reach a terminal or a page unchanged, because they could forge the
//! content of a report.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Escapes text for element content and quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let text = visible(text);
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// `text` with all invisible and control characters written as escapes: `
/// `, `\x1b`, `\u{202e}`. Tabs are kept; see [`untab`].
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            c if !hidden(c) => shown.push(c),
            c if u32::from(c) < 0x100 => {
                let _ = write!(shown, "\\x{:02x}", u32::from(c));
            }
            c => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(shown)
}

fn hidden(c: char) -> bool {
    match c {
        '\t' => false,
        // Direction marks, invisible spaces, line and paragraph separators.
        '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control() || (u32::from(c) & 0xfffe) == 0xfffe,
    }
}

/// Expands tabs to spaces, with a tab stop every four columns.
#[must_use]
pub fn untab(text: &str) -> Cow<'_, str> {
    if !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    let mut column = 0;
    for c in text.chars() {
        if c == '\t' {
            let stop = 4 - column % 4;
            plain.extend(std::iter::repeat_n(' ', stop));
            column += stop;
        } else {
            plain.push(c);
            column += c.width().unwrap_or(0);
        }
    }
    Cow::Owned(plain)
}

/// `text` with all characters outside of ASCII written as `\u{e9}`.
#[must_use]
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_ascii() {
            plain.push(c);
        } else {
            let _ = write!(plain, "\\u{{{:x}}}", u32::from(c));
        }
    }
    Cow::Owned(plain)
}

/// The width of `text` in terminal columns.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// Upper bound of what a character adds to the width of a text: a joined character adds less.
fn width_at_most(c: char) -> usize {
    match c {
        // Turns the preceding character into an emoji of two columns: `*` alone has one.
        '\u{fe0f}' => 1,
        // Control characters.
        c => c.width().unwrap_or(1),
    }
}

/// Cuts `text` to at most `columns`; `mark` replaces the end that was cut off.
#[must_use]
pub fn cut<'a>(text: &'a str, columns: usize, mark: &str) -> Cow<'a, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(width(mark));
    let mut taken = 0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        taken += width_at_most(c);
        if taken > room {
            break;
        }
        end = at + c.len_utf8();
    }
    Cow::Owned(format!("{}{}", &text[..end], if width(mark) <= columns { mark } else { "" }))
}

/// Cuts a path to at most `columns`; `mark` replaces leading directories.
#[must_use]
pub fn cut_path<'a>(path: &'a str, columns: usize, mark: &str) -> Cow<'a, str> {
    if width(path) <= columns {
        return Cow::Borrowed(path);
    }
    for (at, _) in path.match_indices('/') {
        if width(&path[at..]) + width(mark) <= columns {
            return Cow::Owned(format!("{mark}{}", &path[at..]));
        }
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    cut(name, columns, mark)
}

/// Wraps `text` at spaces into lines of at most `columns`; a longer word is broken at the end of the
/// line. Newlines in `text` and spaces within back quotes are kept.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        let mut used = 0;
        for (gap, word) in spaced_words(paragraph) {
            let word = visible(word);
            let wide = width(&word);
            if used > 0 && used + gap + wide > columns {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            if used > 0 {
                line.extend(std::iter::repeat_n(' ', gap));
                used += gap;
            }
            if wide <= columns {
                line.push_str(&word);
                used += wide;
                continue;
            }
            for c in word.chars() {
                let wide = width_at_most(c);
                if used > 0 && used + wide > columns {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                }
                line.push(c);
                used += wide;
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    lines
}

/// The words, each with the number of spaces before it: one, or the actual number within back quotes.
fn spaced_words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_quoted = false;
    let mut spaces = 0;
    text.split([' ', '\t', '\u{a0}']).filter_map(move |word| {
        spaces += 1;
        if word.is_empty() {
            return None;
        }
        let gap = if is_quoted { spaces } else { 1 };
        spaces = 0;
        is_quoted ^= word.matches('`').count() % 2 == 1;
        Some((gap, word))
    })
}

/// Lengths of the common prefix and the common suffix of two strings, in bytes at character boundaries.
/// The two do not overlap in either string.
#[must_use]
pub fn shared_ends(a: &str, b: &str) -> (usize, usize) {
    let front = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum();
    let back = a[front..]
        .chars()
        .rev()
        .zip(b[front..].chars().rev())
        .take_while(|(x, y)| x == y)
        .map(|(x, _)| x.len_utf8())
        .sum();
    (front, back)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn writes_out_what_does_not_show() {
        assert_eq!(visible("a\x1b[31mb\u{202e}\n\0\t\u{9b}"), "a\\x1b[31mb\\u{202e}\\n\\x00\t\\x9b");
        assert!(matches!(visible("plain é 漢 👩‍🚀"), Cow::Borrowed(_)));
    }

    #[test]
    fn spaces_of_what_is_quoted_are_kept() {
        let text = "line 1 is  `a  b`, not `a b `; see  `c`";
        assert_eq!(wrap(text, 80), ["line 1 is `a  b`, not `a b `; see `c`"]);
        assert_eq!(wrap("`a    b`", 5), ["`a", "b`"]);
    }

    #[test]
    fn expands_tabs_to_stops() {
        assert_eq!(untab("\tab\tc"), "    ab  c");
        assert_eq!(untab("漢\tc"), "漢  c");
    }

    #[test]
    fn cuts_by_columns_not_bytes() {
        assert_eq!(cut("漢字漢字", 8, "…"), "漢字漢字");
        assert_eq!(cut("漢字漢字", 7, "…"), "漢字漢…");
        assert_eq!(cut("漢字漢字", 6, "…"), "漢字…");
        assert_eq!(cut("abc", 0, "…"), "");
        assert_eq!(cut("abcdef", 2, "..."), "");
    }

    #[test]
    fn paths_lose_their_folders_first() {
        assert_eq!(cut_path("src/deep/er/file.c", 14, "…"), "…/er/file.c");
        assert_eq!(cut_path("src/file.c", 4, "…"), "fil…");
    }

    #[test]
    fn wraps_words_and_breaks_long_ones() {
        assert_eq!(wrap("one two three\nfour", 8), ["one two", "three", "four"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert!(wrap("", 10).is_empty());
    }

    proptest! {
        #[test]
        fn nothing_hidden_remains(text in ".*") {
            let shown = visible(&text);
            prop_assert!(!shown.chars().any(hidden));
            prop_assert!(ascii(&shown).is_ascii());
        }

        #[test]
        fn cut_fits(text in "(\\PC|[*#1\u{a9}\u{2764}]\u{fe0f}|\u{1f469}\u{200d}\u{1f680})*", columns in 0usize..30) {
            // The width of a string may be smaller than the sum over its characters (joined emoji),
            // never larger.
            prop_assert!(width(&cut(&text, columns, "…")) <= columns);
        }

        #[test]
        fn wrapped_lines_fit_and_lose_nothing(text in "[a-z漢é \n]{0,80}", columns in 2usize..30) {
            let lines = wrap(&text, columns);
            for line in &lines {
                prop_assert!(width(line) <= columns);
            }
            let squeeze = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(squeeze(&lines.concat()), squeeze(&text));
        }

        #[test]
        fn shared_ends_are_shared_and_maximal(a in "[abé]{0,8}", b in "[abé]{0,8}") {
            let (front, back) = shared_ends(&a, &b);
            prop_assert_eq!(&a[..front], &b[..front]);
            prop_assert_eq!(&a[a.len() - back..], &b[b.len() - back..]);
            let (x, y) = (&a[front..a.len() - back], &b[front..b.len() - back]);
            if let (Some(x), Some(y)) = (x.chars().next(), y.chars().next()) {
                prop_assert_ne!(x, y);
            }
            if let (Some(x), Some(y)) = (x.chars().next_back(), y.chars().next_back()) {
                prop_assert_ne!(x, y);
            }
        }
    }
}

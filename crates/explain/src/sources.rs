//! The source texts of both versions, read on demand.

use crate::align::Side;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Larger files are not shown.
const LIMIT: u64 = 64 << 20;

/// Names too common to identify what a line uses.
const COMMON: &[&str] = &[
    "auto", "bool", "break", "case", "char", "const", "continue", "default", "define", "do", "double",
    "else", "endif", "enum", "extern", "float", "for", "goto", "if", "ifdef", "ifndef", "include", "inline",
    "int", "long", "register", "return", "short", "signed", "sizeof", "static", "struct", "switch",
    "typedef", "union", "unsigned", "void", "volatile", "while", "size_t", "NULL", "i", "j", "k", "n", "x",
    "y", "true", "false",
];

/// See the module's documentation.
pub struct Sources {
    good: PathBuf,
    bad: PathBuf,
    texts: RefCell<Known>,
}

/// `None`: the file does not exist.
type Known = HashMap<(Side, String), Option<Rc<Text>>>;

/// A file and the offsets of its lines.
struct Text {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Sources {
    /// Reads files below these roots, when they are needed.
    #[must_use]
    pub fn new(good: &Path, bad: &Path) -> Sources {
        Sources { good: good.to_owned(), bad: bad.to_owned(), texts: RefCell::default() }
    }

    /// The path of a file of a version.
    #[must_use]
    pub fn path(&self, side: Side, file: &str) -> PathBuf {
        match side {
            Side::Good => self.good.join(file),
            Side::Bad => self.bad.join(file),
        }
    }

    /// A line without its terminator, counted from 1.
    #[must_use]
    pub fn line(&self, side: Side, file: &str, line: u32) -> Option<String> {
        let text = self.text(side, file)?;
        text.line(line).map(|l| String::from_utf8_lossy(l).into_owned())
    }

    /// The lines, from 1, with this text apart from surrounding blanks.
    #[must_use]
    pub fn lines_like(&self, side: Side, file: &str, text: &str) -> Vec<u32> {
        let whole = self.whole(side, file).unwrap_or_default();
        let alike = (1..).zip(whole.lines()).filter(|(_, line)| line.trim() == text.trim());
        alike.map(|(line, _)| line).collect()
    }

    /// The whole text.
    #[must_use]
    pub fn whole(&self, side: Side, file: &str) -> Option<String> {
        Some(String::from_utf8_lossy(&self.text(side, file)?.bytes).into_owned())
    }

    /// The byte range of lines in the file.
    #[must_use]
    pub fn bytes_of(&self, side: Side, file: &str, lines: Range<u32>) -> Option<Range<u64>> {
        let text = self.text(side, file)?;
        let at =
            |line: u32| text.starts.get(line.max(1) as usize - 1).copied().unwrap_or(text.bytes.len()) as u64;
        Some(at(lines.start)..at(lines.end))
    }

    /// Lines of a definition that begins here: up to the `;` outside of all brackets.
    #[must_use]
    pub fn definition(&self, side: Side, file: &str, first: u32) -> Range<u32> {
        let Some(text) = self.text(side, file) else { return first..first + 1 };
        let mut depth = 0i32;
        let mut line = first;
        while let Some(bytes) = text.line(line) {
            line += 1;
            for byte in bytes {
                match byte {
                    b'{' | b'(' | b'[' => depth += 1,
                    b'}' | b')' | b']' => depth -= 1,
                    b';' if depth <= 0 => return first..line,
                    _ => {}
                }
            }
        }
        first..line.max(first + 1)
    }

    /// Whether names in this file are names of a program.
    #[must_use]
    pub fn is_code(&self, file: &str) -> bool {
        let extension = Path::new(file).extension().and_then(|e| e.to_str()).unwrap_or_default();
        matches!(
            extension,
            "c" | "h"
                | "cc"
                | "cpp"
                | "cxx"
                | "hh"
                | "hpp"
                | "hxx"
                | "inc"
                | "inl"
                | "def"
                | "tcc"
                | "ipp"
                | "y"
                | "l"
        )
    }

    fn text(&self, side: Side, file: &str) -> Option<Rc<Text>> {
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry((side, file.to_owned())).or_insert_with(|| {
            let path = self.path(side, file);
            let small = std::fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= LIMIT);
            let bytes = small.then(|| std::fs::read(&path).ok()).flatten()?;
            let starts = std::iter::once(0)
                .chain(bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1))
                .filter(|start| *start < bytes.len())
                .collect();
            Some(Rc::new(Text { bytes, starts }))
        });
        text.clone()
    }
}

impl Text {
    fn line(&self, line: u32) -> Option<&[u8]> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.bytes.len());
        let bytes = &self.bytes[start..end];
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        Some(bytes.strip_suffix(b"\r").unwrap_or(bytes))
    }
}

/// Names in a line of code, without the most common ones.
pub fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .filter(|word| !COMMON.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_end_at_their_semicolon() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("t.c"), "int a;\nint t[] = {\n 1,\n f(2);\n};\nint b;\n").unwrap();
        let sources = Sources::new(dir.path(), dir.path());
        assert_eq!(sources.definition(Side::Good, "t.c", 1), 1..2);
        assert_eq!(sources.definition(Side::Good, "t.c", 2), 2..6);
        assert_eq!(sources.definition(Side::Good, "t.c", 6), 6..7);
        assert_eq!(sources.line(Side::Bad, "t.c", 3).as_deref(), Some(" 1,"));
        assert_eq!(sources.line(Side::Bad, "t.c", 7), None);
        assert_eq!(sources.line(Side::Bad, "t.c", 0), None);
        assert_eq!(sources.bytes_of(Side::Good, "t.c", 2..4), Some(7..23));
    }

    #[test]
    fn names_are_words_but_not_keywords() {
        assert_eq!(
            identifiers("#define MAX_LEN (sizeof x + 3) /* a */").collect::<Vec<_>>(),
            ["MAX_LEN", "a"]
        );
    }
}

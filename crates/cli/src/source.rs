//! Locations in source files in the form `FILE:LINE`.

use std::path::Path;
use std::str::FromStr;

/// `FILE:LINE`. The file may be any suffix of the path: `list.c`, `src/list.c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineSpec {
    pub file: String,
    pub line: u32,
}

impl FromStr for LineSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<LineSpec, String> {
        let shape = || format!("{text:?} is not of the form FILE:LINE, such as main.c:12");
        let (file, line) = text.rsplit_once(':').ok_or_else(shape)?;
        let line = line.parse().ok().filter(|l| *l > 0).ok_or_else(shape)?;
        if file.is_empty() {
            return Err(shape());
        }
        Ok(LineSpec { file: file.to_owned(), line })
    }
}

/// Moves a line without code to the next statement of the function, with a message.
pub fn move_to_statement(image: &replay::image::Image, spot: &mut LineSpec) {
    if let Some(line) = slice::nearby::nearest_statement(image, &spot.file, spot.line)
        && line != spot.line
    {
        eprintln!("relapse: {}:{} has no code; the next statement is at line {line}", spot.file, spot.line);
        spot.line = line;
    }
}

/// Whether `wanted` denotes `path`: it is the same, or its last components.
pub fn names(wanted: &str, path: &str) -> bool {
    Path::new(path).ends_with(wanted.trim_start_matches("./"))
}

/// The path relative to the current directory, if it is inside it.
pub fn short(path: &str) -> String {
    std::env::current_dir()
        .ok()
        .and_then(|dir| Some(Path::new(path).strip_prefix(dir).ok()?.display().to_string()))
        .unwrap_or_else(|| path.to_owned())
}

/// A location as text: instructions without a line are shown with their function.
pub fn place(file: &str, line: u32, function: &str) -> String {
    if line == 0 { format!("in {function}") } else { format!("{file}:{line}") }
}

/// A line of a source file, trimmed.
pub fn line(file: &str, line: u32) -> Option<String> {
    let text = std::fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let found = text.lines().nth(line.checked_sub(1)? as usize)?.trim().to_owned();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spots_are_file_and_line() {
        assert_eq!("a/b.c:12".parse(), Ok(LineSpec { file: "a/b.c".to_owned(), line: 12 }));
        assert_eq!("c:d.c:3".parse(), Ok(LineSpec { file: "c:d.c".to_owned(), line: 3 }));
        for bad in ["", "a.c", "a.c:", ":3", "a.c:0", "a.c:x", "a.c:-1"] {
            assert!(bad.parse::<LineSpec>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_tail_of_the_path_names_the_file() {
        assert!(names("list.c", "/home/me/src/list.c"));
        assert!(names("./src/list.c", "/home/me/src/list.c"));
        assert!(names("/home/me/src/list.c", "/home/me/src/list.c"));
        assert!(!names("ist.c", "/home/me/src/list.c"));
        assert!(!names("other/list.c", "/home/me/src/list.c"));
    }
}

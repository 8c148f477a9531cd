//! The function or section around a line, determined as `diff -p` does it.

/// Lines of a file that look like headings.
pub(super) struct Headings<'a> {
    lines: &'a [&'a [u8]],
    at: Vec<u32>,
}

const LONGEST: usize = 80;

impl<'a> Headings<'a> {
    pub fn new(path: &str, lines: &'a [&'a [u8]]) -> Headings<'a> {
        let python = path.ends_with(".py");
        let at = (0..)
            .zip(lines)
            .filter(|(_, line)| if python { python_heading(line) } else { heading(line) })
            .map(|(number, _)| number)
            .collect();
        Headings { lines, at }
    }

    /// The last heading at or before this line (from 0).
    pub fn around(&self, line: u32) -> String {
        let behind = self.at.partition_point(|at| *at <= line);
        let Some(index) = behind.checked_sub(1) else { return String::new() };
        let text = String::from_utf8_lossy(self.lines[self.at[index] as usize]);
        text.trim_end().chars().take(LONGEST).collect()
    }
}

/// Whether the line begins in the first column with a name and is not a label.
fn heading(line: &[u8]) -> bool {
    let named = line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'));
    let word = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let label = line[word..].trim_ascii_start().starts_with(b":")
        && !line[word..].trim_ascii_start().starts_with(b"::");
    named && !label
}

fn python_heading(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    [b"def ".as_slice(), b"class ", b"async def "].iter().any(|word| line.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_around_a_line() {
        let text = b"#include <a.h>\nint f(int x)\n{\nagain:\n  x++;\n}\nstatic void g(void) {\n  f(1);\n";
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let headings = Headings::new("a.c", &lines);
        assert_eq!(headings.around(0), "");
        assert_eq!(headings.around(1), "int f(int x)");
        assert_eq!(headings.around(4), "int f(int x)");
        assert_eq!(headings.around(7), "static void g(void) {");
    }
}

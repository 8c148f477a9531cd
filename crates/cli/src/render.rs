//! Numbers, tables and colours on a terminal.

use clap::builder::styling::{AnsiColor, Style};
use std::fmt::Display;
use std::io::{self, Write};

/// The report style for this terminal.
pub fn style() -> report::Style {
    let style = report::Style::default();
    match rustix::termios::tcgetwinsize(rustix::stdio::stdout()) {
        Ok(size) if size.ws_col >= 40 => report::Style { width: usize::from(size.ws_col).min(140), ..style },
        // The output is no terminal: there is no width to fit, so cut less.
        _ => report::Style { width: 160, ..style },
    }
}

/// Whether to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    enabled: bool,
}

impl Paint {
    pub fn new(enabled: bool) -> Paint {
        Paint { enabled }
    }

    pub fn enabled(self) -> bool {
        self.enabled
    }

    fn with(self, style: Style, text: impl Display) -> String {
        if self.enabled { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    pub fn good(self, text: impl Display) -> String {
        self.with(AnsiColor::Green.on_default().bold(), text)
    }

    pub fn bad(self, text: impl Display) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// A heading or a name.
    pub fn name(self, text: impl Display) -> String {
        self.with(Style::new().bold(), text)
    }

    /// Less important text.
    pub fn faint(self, text: impl Display) -> String {
        self.with(Style::new().dimmed(), text)
    }
}

/// A number with thousands separators: `12,345`
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rounded number, such as `12.3 million`; exact below ten thousand.
pub fn rough(n: u64) -> String {
    let (unit, name) = match n {
        0..10_000 => return grouped(n),
        10_000..1_000_000 => (1e3, "thousand"),
        1_000_000..1_000_000_000 => (1e6, "million"),
        _ => (1e9, "billion"),
    };
    format!("{:.1} {name}", n as f64 / unit)
}

/// A size, such as `4.1 KiB`
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return counted(n, "byte");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A number with a noun: `1 process`, `2 processes`
pub fn counted(n: u64, noun: &str) -> String {
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    format!("{} {noun}{}", grouped(n), if n == 1 { "" } else { plural })
}

/// A table whose columns are as wide as their widest cell.
#[derive(Clone, Debug, Default)]
pub struct Table {
    header: Vec<String>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Column titles; one that starts with `>` is right-aligned.
    pub fn new(columns: &[&str]) -> Table {
        Table {
            header: columns.iter().map(|c| c.trim_start_matches('>').to_owned()).collect(),
            right: columns.iter().map(|c| c.starts_with('>')).collect(),
            rows: Vec::new(),
        }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub fn write(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let width = |text: &str| text.chars().count();
        let mut widths: Vec<usize> = self.header.iter().map(|h| width(h)).collect();
        for row in &self.rows {
            for (w, cell) in widths.iter_mut().zip(row) {
                *w = (*w).max(width(cell));
            }
        }
        let line = |cells: &[String]| {
            let mut text = String::new();
            for ((cell, w), right) in cells.iter().zip(&widths).zip(&self.right) {
                let gap = " ".repeat(w - width(cell));
                if *right {
                    text += &gap;
                    text += cell;
                } else {
                    text += cell;
                    text += &gap;
                }
                text += "  ";
            }
            text.truncate(text.trim_end().len());
            text
        };
        writeln!(out, "{}", paint.name(line(&self.header)))?;
        for row in &self.rows {
            writeln!(out, "{}", line(row))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(rough(9_999), "9,999");
        assert_eq!(rough(12_345_678), "12.3 million");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(1023), "1,023 bytes");
        assert_eq!(bytes(4_200), "4.1 KiB");
        assert_eq!(bytes(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(counted(1, "process"), "1 process");
        assert_eq!(counted(2, "process"), "2 processes");
    }

    #[test]
    fn columns_line_up_without_trailing_blanks() {
        let mut table = Table::new(&["name", ">count"]);
        table.row(["a".to_owned(), "10".to_owned()]);
        table.row(["longer".to_owned(), "2".to_owned()]);
        let mut out = Vec::new();
        table.write(&mut out, Paint::new(false)).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "name    count\na          10\nlonger      2\n");
    }

    #[test]
    fn colours_only_when_wanted() {
        assert_eq!(Paint::new(false).good("yes"), "yes");
        assert!(Paint::new(true).good("yes").starts_with('\u{1b}'));
    }
}

//! The table of ratios, in Markdown.

use std::fmt::Write;

use super::Row;
use super::anchors::SmallLoop;

/// The whole report.
pub fn render(rows: &[Row], piece: &SmallLoop, problems: &[String]) -> String {
    let anchor_names: Vec<&str> =
        rows.first().map(|row| row.anchors.iter().map(|(name, _)| *name).collect()).unwrap_or_default();
    let mut heads = vec![
        "subject",
        "plain -O2, s",
        "recorded / -O2",
        "recorded / -O0",
        "bits per instruction",
        "mispredicted loads, %",
        "memory / plain",
        "memory over 2.5 x plain, MiB",
        "replay / -O0",
        "replayed, million per s",
    ];
    let anchor_heads: Vec<String> = anchor_names.iter().map(|name| format!("{name} / -O2")).collect();
    heads.extend(anchor_heads.iter().map(String::as_str));

    let mut text = String::from("# Recording: ratios to the plain program\n\n");
    line(&mut text, heads.iter().map(|head| (*head).to_owned()));
    line(&mut text, heads.iter().map(|_| "---".to_owned()));
    for row in rows {
        let mut cells = vec![row.name.to_owned(), format!("{:.2}", row.plain_o2)];
        cells.extend(figures(row).iter().map(|figure| cell(*figure)));
        line(&mut text, cells.into_iter());
    }
    if rows.len() > 1 {
        let columns = figures(&rows[0]).len();
        let mut cells = vec!["geometric mean".to_owned(), String::new()];
        for column in 0..columns {
            let values: Vec<f64> = rows.iter().filter_map(|row| figures(row)[column]).collect();
            // A mean over a subset of the subjects is not comparable with means over all.
            cells.push(if values.len() == rows.len() {
                cell(geometric_mean(&values))
            } else {
                "-".to_owned()
            });
        }
        line(&mut text, cells.into_iter());
    }
    let _ = writeln!(
        text,
        "\nA small loop, per round and compared with plain -O2: recorded {}, gdb record full {}.",
        cell(piece.recorded),
        cell(piece.gdb)
    );
    let _ = writeln!(
        text,
        "Best of {} interleaved runs; replay and anchors ran once. `-`: not there.",
        super::ROUNDS
    );
    for problem in problems {
        let _ = writeln!(text, "\nNot measured: {problem}");
    }
    text
}

/// The ratios of a row, in the order of the columns.
fn figures(row: &Row) -> Vec<Option<f64>> {
    let memory = |f: fn(f64, f64) -> f64| match (row.recorded_memory, row.plain_memory) {
        (Some(recorded), Some(plain)) => Some(f(recorded, plain)),
        _ => None,
    };
    let mut figures = vec![
        Some(row.recorded / row.plain_o2),
        Some(row.recorded / row.plain_o0),
        Some(row.replay.bits_per_instruction),
        Some(row.replay.mispredicted / row.replay.loads.max(1.0) * 100.0),
        memory(|recorded, plain| recorded / plain),
        memory(|recorded, plain| ((recorded - 2.5 * plain) / 1024.0).max(0.0)),
        Some(row.replay.wall_seconds / row.plain_o0),
        Some(row.replay.instructions / row.replay.wall_seconds / 1e6),
    ];
    figures.extend(row.anchors.iter().map(|(_, time)| time.map(|time| time / row.plain_o2)));
    figures
}

/// A figure with a readable number of digits.
pub(super) fn cell(figure: Option<f64>) -> String {
    match figure {
        None => "-".to_owned(),
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 1.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.4}"),
    }
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
}

/// `None` if the geometric mean is undefined: for an empty list, or a figure that is not positive.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    Some((logs / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_geometric() {
        assert!((geometric_mean(&[2.0, 8.0]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }

    #[test]
    fn missing_figures_are_shown_as_missing() {
        let row = |name, anchor| Row {
            name,
            plain_o2: 1.0,
            plain_o0: 2.0,
            recorded: 3.0,
            anchors: vec![("other", anchor)],
            ..Row::default()
        };
        let piece = SmallLoop { gdb: None, recorded: Some(2.0) };
        let text = render(&[row("a", Some(5.0)), row("b", None)], &piece, &["c: broken".to_owned()]);
        assert!(text.contains("| a | 1.00 | 3.00 | 1.50 |"), "{text}");
        assert!(text.lines().any(|line| line.starts_with("| b |") && line.ends_with("| - |")), "{text}");
        assert!(text.contains("gdb record full -"), "{text}");
        assert!(text.contains("Not measured: c: broken"), "{text}");
    }
}

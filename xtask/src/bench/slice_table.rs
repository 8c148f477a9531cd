//! The tables of `cargo xtask bench slice`, and what was to be reached.

use std::fmt::Write;

use super::slice::Row;
use super::symbolic::{Figures, number};
use super::table::cell;

/// Seconds of a slice: making ready once, and one question.
fn slice(way: &Figures) -> Option<f64> {
    let n = number(way, "questions")?;
    // Of a relevant one also looking at the program.
    let analysed = number(way, "analysed").unwrap_or(0.0);
    Some(number(way, "prepared")? + analysed + number(way, "sliced")? / n)
}

/// Seconds of a slice from the end of a run.
fn from_the_end(way: &Figures) -> Option<f64> {
    Some(number(way, "prepared")? + number(way, "last")?)
}

/// Executed instructions, by whichever way came to its end.
fn instructions(row: &Row) -> Option<f64> {
    number(&row.index, "instructions").or_else(|| number(&row.replay, "instructions"))
}

/// MiB, if it was measured.
fn kept(kib: f64) -> Option<f64> {
    (kib > 0.0).then_some(kib / 1024.0)
}

fn by_replay(row: &Row) -> Option<f64> {
    slice(&row.replay)
}

fn by_index(row: &Row) -> Option<f64> {
    slice(&row.index)
}

/// Percent of the program's instructions that are in a slice.
fn share(way: &Figures) -> Option<f64> {
    let each = number(way, "sites")? / number(way, "questions")?;
    Some(100.0 * each / number(way, "code")?)
}

/// How much longer a relevant slice takes than a dynamic one, both by replay.
fn relevant_extra(row: &Row) -> Option<f64> {
    Some(slice(&row.relevant)? / by_replay(row)?)
}

/// What stands above it, its figure, and what had to be done for that.
type Column = (&'static str, fn(&Row) -> Option<f64>, &'static [&'static str]);

const BOTH: &[&str] = &["replay", "index"];
const INDEX: &[&str] = &["index"];
const REPLAY: &[&str] = &["replay"];
const WITH_RELEVANT: &[&str] = &["relevant", "replay"];
const MEASURED: &[&str] = &["measuring"];

const TIMES: &[Column] = &[
    ("instructions, millions", |r| Some(instructions(r)? / 1e6), BOTH),
    (
        "slice, % of executed",
        |r| Some(100.0 * number(&r.index, "taken")? / number(&r.index, "walked")?.max(1.0)),
        INDEX,
    ),
    ("slice, % of program", |r| share(&r.index), INDEX),
    ("by replay / -O2", |r| Some(by_replay(r)? / r.plain.0), REPLAY),
    ("by index / -O2", |r| Some(by_index(r)? / r.plain.0), INDEX),
    ("by index / -O0", |r| Some(by_index(r)? / r.plain.1), INDEX),
    ("replay / index", |r| Some(by_replay(r)? / by_index(r)?), BOTH),
    ("memory by replay, MiB", |r| kept(r.memory.0), REPLAY),
    ("memory by index, MiB", |r| kept(r.memory.1), INDEX),
    ("making the index / -O2", |r| Some(r.making? / r.plain.0), &["making"]),
];

const RELEVANT: &[Column] = &[
    ("dynamic, % of program", |r| share(&r.replay), REPLAY),
    ("relevant, % of program", |r| share(&r.relevant), WITH_RELEVANT),
    ("relevant / dynamic, size", |r| Some(share(&r.relevant)? / share(&r.replay)?), WITH_RELEVANT),
    ("relevant / dynamic, time", relevant_extra, WITH_RELEVANT),
    ("memory, MiB", |r| kept(r.memory.2), WITH_RELEVANT),
];

fn made(row: &Row, name: &str) -> Option<f64> {
    row.made.get(name).or_else(|| row.made.get("measured")?.get(name))?.as_f64()
}

const SIZES: &[Column] = &[
    ("file, KiB", |r| Some(made(r, "bytes")? / 1024.0), MEASURED),
    ("bits per instruction", |r| made(r, "bits_per_instruction"), MEASURED),
    ("numbers, millions", |r| Some(made(r, "numbers")? / 1e6), MEASURED),
    ("sequences, % of raw", |r| Some(100.0 * made(r, "sequence_bytes")? / made(r, "raw_bytes")?), MEASURED),
    ("SEQUITUR, % of raw", |r| Some(100.0 * made(r, "sequitur_bytes")? / made(r, "raw_bytes")?), MEASURED),
    ("zstd, % of raw", |r| Some(100.0 * made(r, "zstd_bytes")? / made(r, "raw_bytes")?), MEASURED),
    ("sequences / SEQUITUR", |r| Some(made(r, "sequence_bytes")? / made(r, "sequitur_bytes")?), MEASURED),
    (
        "look-ups, SEQUITUR / ours",
        |r| Some(made(r, "sequitur_checks")? / made(r, "checks")?.max(1.0)),
        MEASURED,
    ),
    ("pieces larger than SEQUITUR", |r| made(r, "larger"), MEASURED),
];

/// One target: what, its figure, the limit, and whether the figure may not be above it.
type Target = (String, Option<f64>, f64, bool);

/// What was to be reached, and whether it was.
fn targets(rows: &[Row]) -> String {
    let mean = |of: fn(&Row) -> Option<f64>| {
        let values: Option<Vec<f64>> = rows.iter().map(of).collect();
        values.and_then(|v| super::table::geometric_mean(&v))
    };
    let worst = |of: fn(&Row) -> Option<f64>| {
        let values: Option<Vec<f64>> = rows.iter().map(of).collect();
        values.and_then(|v| v.into_iter().reduce(f64::max))
    };
    let long = rows.iter().find(|r| r.name == "generated");
    let millions = long.and_then(instructions).map_or(0.0, |n| n / 1e6);
    let long = |of: fn(&Row) -> Option<f64>| long.and_then(of);
    let all: [Target; 6] = [
        (
            format!("dynamic slice of {millions:.0} million instructions / -O2"),
            long(|r| Some(from_the_end(&r.replay)? / r.plain.0)),
            60.0,
            true,
        ),
        ("memory of the same, MiB".to_owned(), long(|r| kept(r.memory.0)), 2048.0, true),
        ("by replay / by index, mean".to_owned(), mean(|r| Some(by_replay(r)? / by_index(r)?)), 10.0, false),
        ("relevant / dynamic, time, mean".to_owned(), mean(relevant_extra), 1.5, true),
        (
            "sequences / SEQUITUR, mean".to_owned(),
            mean(|r| Some(made(r, "sequence_bytes")? / made(r, "sequitur_bytes")?)),
            0.5,
            true,
        ),
        (
            "sequences / SEQUITUR, worst".to_owned(),
            worst(|r| Some(made(r, "sequence_bytes")? / made(r, "sequitur_bytes")?)),
            1.0,
            true,
        ),
    ];
    let mut text = String::from("\n| target | figure | limit | |\n|---|---|---|---|\n");
    for (what, figure, limit, most) in all {
        let met = match figure {
            None => "not measured",
            Some(f) if (f <= limit) == most || f == limit => "met",
            Some(_) => "missed",
        };
        let word = if most { "at most" } else { "at least" };
        let _ = writeln!(text, "| {what} | {} | {word} {limit} | {met} |", cell(figure));
    }
    text
}

pub fn render(rows: &[Row], questions: u64) -> String {
    let mut text = String::from("# Slices: by replay and by index\n");
    for columns in [TIMES, RELEVANT, SIZES] {
        let heads = columns.iter().map(|c| c.0).collect::<Vec<_>>().join(" | ");
        let _ = write!(text, "\n| subject | {heads} |\n|---{}|\n", "|---".repeat(columns.len()));
        for row in rows {
            let cells: Vec<String> = columns.iter().map(|c| shown(row, c)).collect();
            let _ = writeln!(text, "| {} | {} |", row.name, cells.join(" | "));
        }
        let means: Vec<String> = columns
            .iter()
            .map(|c| {
                let values: Vec<f64> = rows.iter().filter_map(|r| (c.1)(r)).collect();
                cell(super::table::geometric_mean(&values).filter(|_| values.len() == rows.len()))
            })
            .collect();
        let _ = writeln!(text, "| geometric mean | {} |", means.join(" | "));
    }
    let _ = writeln!(
        text,
        "\nQuestions for each: {questions}, evenly spread over the run, all that an instruction used; a slice is \
         making ready once and the mean of the questions' times. The first target is about the last \
         question of the generated run, which goes over all of it. Raw: eight bytes an address, four any \
         other number. The thesis that the index follows has RLESe at 5.94 % of raw over its subjects, \
         from 0.02 % (SOR) to 20.15 % (_209_db), and SEQUITUR from 0.04 % to 18.35 %."
    );
    text.push_str(&targets(rows));
    text
}

/// A figure; without one, that it took too long to have it.
fn shown(row: &Row, column: &Column) -> String {
    let figure = (column.1)(row);
    match row.stopped.iter().find(|s| column.2.contains(&s.0)) {
        Some((_, seconds)) if figure.is_none() => format!("stopped after {seconds} s"),
        _ => cell(figure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let figures = |sliced: &str| -> Figures {
            [("questions", "3"), ("prepared", "1"), ("sliced", sliced), ("instructions", "2000000")]
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect()
        };
        Row {
            name: "a".to_owned(),
            plain: (0.5, 1.0),
            replay: figures("27"),
            index: figures("3"),
            made: serde_json::json!({
                "bytes": 2048, "sequence_bytes": 100, "measured": { "sequitur_bytes": 400 }
            }),
            ..Row::default()
        }
    }

    #[test]
    fn a_slice_is_making_ready_and_one_question() {
        let text = render(&[row()], 3);
        // 1 + 27 / 3 seconds against 1 + 3 / 3.
        assert!(text.contains("| a | 2.00 | - | - | 20.00 | 4.00 | 2.00 | 5.00 |"), "{text}");
        assert!(text.contains("| 2.00 | - | - | - | - | - | 0.2500 |"), "{text}");
        assert!(text.contains("| by replay / by index, mean | 5.00 | at least 10 | missed |"), "{text}");
        assert!(text.contains("| sequences / SEQUITUR, mean | 0.2500 | at most 0.5 | met |"), "{text}");
        assert!(text.contains("| relevant / dynamic, time, mean | - | at most 1.5 | not measured |"));
        assert!(text.contains("\nQuestions for each: 3,"), "{text}");
    }

    #[test]
    fn the_long_run_is_sliced_from_its_end() {
        let mut row = Row { name: "generated".to_owned(), ..row() };
        row.replay.insert("last".to_owned(), "19".to_owned());
        let text = render(&[row], 3);
        let line = "| dynamic slice of 2 million instructions / -O2 | 40.00 | at most 60 | met |";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn what_was_stopped_is_said_and_the_rest_is_there() {
        let mut row = row();
        row.stopped = vec![("relevant", 40), ("replay", 40)];
        row.replay = Figures::default();
        let text = render(&[row], 1);
        let line = "| a | 2.00 | - | - | stopped after 40 s | 4.00 | 2.00 | stopped after 40 s |";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("| 2.00 | - | - | - | - | - | 0.2500 |"), "{text}");
        assert!(text.contains("| by replay / by index, mean | - | at least 10 | not measured |"), "{text}");
    }
}

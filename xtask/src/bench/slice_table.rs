//! The tables of `cargo xtask bench slice`, and its targets.

use std::fmt::Write;

use super::slice::Row;
use super::symbolic::{Figures, number};
use super::table::cell;

/// Seconds of a slice: the preparation, and one query.
fn slice(way: &Figures) -> Option<f64> {
    let n = number(way, "questions")?;
    // For relevant slices also the static analysis.
    let analysed = number(way, "analysed").unwrap_or(0.0);
    Some(number(way, "prepared")? + analysed + number(way, "sliced")? / n)
}

/// Seconds of a slice from the end of a run.
fn from_the_end(way: &Figures) -> Option<f64> {
    Some(number(way, "prepared")? + number(way, "last")?)
}

/// The number of executed instructions.
fn instructions(row: &Row) -> Option<f64> {
    number(&row.dynamic, "instructions")
}

/// MiB, if it was measured.
fn kept(kib: f64) -> Option<f64> {
    (kib > 0.0).then_some(kib / 1024.0)
}

fn dynamic(row: &Row) -> Option<f64> {
    slice(&row.dynamic)
}

/// The percentage of the program's instructions in a slice.
fn share(way: &Figures) -> Option<f64> {
    let each = number(way, "sites")? / number(way, "questions")?;
    Some(100.0 * each / number(way, "code")?)
}

/// The time of a relevant slice relative to a dynamic one.
fn relevant_extra(row: &Row) -> Option<f64> {
    Some(slice(&row.relevant)? / dynamic(row)?)
}

/// The time of a query relative to a plain replay.
fn of_replay(row: &Row, name: &str) -> Option<f64> {
    Some(number(&row.dynamic, name)? / number(&row.dynamic, "plain")?)
}

/// A column: its heading, its figure, and the kinds of slices that the figure needs.
type Column = (&'static str, fn(&Row) -> Option<f64>, &'static [&'static str]);

const DYNAMIC: &[&str] = &["dynamic"];
const WITH_RELEVANT: &[&str] = &["relevant", "dynamic"];

const TIMES: &[Column] = &[
    ("instructions, millions", |r| Some(instructions(r)? / 1e6), DYNAMIC),
    (
        "slice, % of executed",
        |r| Some(100.0 * number(&r.dynamic, "taken")? / number(&r.dynamic, "walked")?.max(1.0)),
        DYNAMIC,
    ),
    ("slice, % of program", |r| share(&r.dynamic), DYNAMIC),
    ("slice / -O2", |r| Some(dynamic(r)? / r.plain.0), DYNAMIC),
    ("slice / -O0", |r| Some(dynamic(r)? / r.plain.1), DYNAMIC),
    ("memory, MiB", |r| kept(r.memory.0), DYNAMIC),
];

const NEAR_THE_END: &[Column] = &[
    ("plain replay, s", |r| number(&r.dynamic, "plain"), DYNAMIC),
    ("first question about the last 1 % / replay", |r| of_replay(r, "near_first"), DYNAMIC),
    ("the same again / replay", |r| of_replay(r, "near_second"), DYNAMIC),
    (
        "timeline, bytes per 1,000 instructions",
        |r| Some(1000.0 * number(&r.dynamic, "timeline_bytes")? / instructions(r)?),
        DYNAMIC,
    ),
];

const RELEVANT: &[Column] = &[
    ("dynamic, % of program", |r| share(&r.dynamic), DYNAMIC),
    ("relevant, % of program", |r| share(&r.relevant), WITH_RELEVANT),
    ("relevant / dynamic, size", |r| Some(share(&r.relevant)? / share(&r.dynamic)?), WITH_RELEVANT),
    ("relevant / dynamic, time", relevant_extra, WITH_RELEVANT),
    ("memory, MiB", |r| kept(r.memory.1), WITH_RELEVANT),
];

/// One target: description, figure, limit, and whether the limit is an upper bound.
type Target = (String, Option<f64>, f64, bool);

/// The targets, and whether they were met.
fn targets(rows: &[Row]) -> String {
    let mean = |of: fn(&Row) -> Option<f64>| {
        let values: Option<Vec<f64>> = rows.iter().map(of).collect();
        values.and_then(|v| super::table::geometric_mean(&v))
    };
    let long = rows.iter().find(|r| r.name == "generated");
    let millions = long.and_then(instructions).map_or(0.0, |n| n / 1e6);
    let long = |of: fn(&Row) -> Option<f64>| long.and_then(of);
    let all: [Target; 5] = [
        (
            format!("dynamic slice of {millions:.0} million instructions / -O2"),
            long(|r| Some(from_the_end(&r.dynamic)? / r.plain.0)),
            60.0,
            true,
        ),
        ("memory of the same, MiB".to_owned(), long(|r| kept(r.memory.0)), 2048.0, true),
        ("relevant / dynamic, time, mean".to_owned(), mean(relevant_extra), 3.0, true),
        (
            "first question about the last 1 % / plain replay".to_owned(),
            long(|r| of_replay(r, "near_first")),
            1.2,
            true,
        ),
        ("the same again / plain replay".to_owned(), long(|r| of_replay(r, "near_second")), 0.06, true),
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
    let mut text = String::from("# Slices\n");
    for columns in [TIMES, NEAR_THE_END, RELEVANT] {
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
         question of the generated run, which goes over all of it. The question about the last 1 % is when an \
         instruction that ran there ran last, and with which values; it is asked twice, and the timeline \
         that the first one kept answers the second."
    );
    text.push_str(&targets(rows));
    text
}

/// A figure, or a note that the measurement was stopped.
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
        Row { name: "a".to_owned(), plain: (0.5, 1.0), dynamic: figures("27"), ..Row::default() }
    }

    #[test]
    fn a_slice_is_making_ready_and_one_question() {
        let text = render(&[row()], 3);
        // 1 + 27 / 3 seconds.
        assert!(text.contains("| a | 2.00 | - | - | 20.00 | 10.00 | - |"), "{text}");
        assert!(text.contains("| relevant / dynamic, time, mean | - | at most 3 | not measured |"));
        assert!(text.contains("\nQuestions for each: 3,"), "{text}");
    }

    #[test]
    fn the_long_run_is_sliced_from_its_end() {
        let mut row = Row { name: "generated".to_owned(), ..row() };
        row.dynamic.insert("last".to_owned(), "19".to_owned());
        let text = render(&[row], 3);
        let line = "| dynamic slice of 2 million instructions / -O2 | 40.00 | at most 60 | met |";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn questions_near_the_end_are_compared_with_a_plain_replay() {
        let mut row = Row { name: "generated".to_owned(), ..row() };
        for (name, value) in [("plain", "2"), ("near_first", "2.2"), ("near_second", "0.2")] {
            row.dynamic.insert(name.to_owned(), value.to_owned());
        }
        let text = render(&[row], 3);
        let first = "| first question about the last 1 % / plain replay | 1.10 | at most 1.2 | met |";
        assert!(text.contains(first), "{text}");
        assert!(
            text.contains("| the same again / plain replay | 0.1000 | at most 0.06 | missed |"),
            "{text}"
        );
    }

    #[test]
    fn what_was_stopped_is_said_and_the_rest_is_there() {
        let mut row = row();
        row.stopped = vec![("relevant", 40)];
        let text = render(&[row], 1);
        assert!(text.contains("| a | 2.00 | - | - | 20.00 | 10.00 | - |"), "{text}");
        assert!(text.contains("| a | - | stopped after 40 s |"), "{text}");
    }
}

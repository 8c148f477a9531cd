//! The table of located faults, in Markdown.

use std::fmt::Write;

use super::locate::Row;

/// The whole report.
pub fn render(rows: &[Row]) -> String {
    let mut text = String::from("# Locating faults\n\n");
    let programs: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.program).collect();
    let _ = writeln!(text, "{} faults in {} programs.\n", rows.len(), programs.len());
    text += "| method | top 1 | top 3 | top 5 | top 10 | found | median rank |\n|---|---:|---:|---:|---:|---:|---:|\n";
    let mut methods: Vec<(&str, Vec<Option<f64>>)> =
        vec![("relapse locate", rows.iter().map(|row| row.rank).collect())];
    for (n, (name, _)) in rows.first().map(|row| row.others.as_slice()).unwrap_or_default().iter().enumerate()
    {
        methods.push((name, rows.iter().map(|row| row.others[n].1).collect()));
    }
    for (name, ranks) in &methods {
        let within = |most: f64| ranks.iter().flatten().filter(|rank| **rank <= most).count();
        let mut found: Vec<f64> = ranks.iter().map(|rank| rank.unwrap_or(f64::INFINITY)).collect();
        found.sort_by(f64::total_cmp);
        let median = found.get(found.len() / 2).copied().unwrap_or(f64::INFINITY);
        let median = if median.is_finite() { format!("{median:.1}") } else { "-".to_owned() };
        let found = ranks.iter().flatten().count();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {found} | {median} |",
            within(1.0),
            within(3.0),
            within(5.0),
            within(10.0)
        );
    }
    text += &scores(rows);
    let short = rows.iter().filter(|row| row.reported <= 10).count();
    let _ = writeln!(
        text,
        "\nTen lines or fewer reported: {short} of {}; the faulty line is among them in {} cases.",
        rows.len(),
        rows.iter().filter(|row| row.rank.is_some_and(|rank| rank <= row.reported as f64)).count()
    );
    let (located, plain): (f64, f64) =
        rows.iter().fold((0.0, 0.0), |(l, p), row| (l + row.seconds, p + row.plain_seconds));
    let _ = writeln!(
        text,
        "Time: {located:.0} s in all, {:.1} times what the inputs take without recording, one after the other.\n",
        located / plain.max(0.001)
    );
    text += "| program | line | operator | failing | rank | reported | Ochiai |\n|---|---:|---|---:|---:|---:|---:|\n";
    let cell = |rank: Option<f64>| rank.map_or("-".to_owned(), |rank| format!("{rank:.1}"));
    for row in rows {
        let ochiai = row.others.iter().find(|other| other.0 == "Ochiai").and_then(|other| other.1);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {}/{} | {} | {} | {} |",
            row.program,
            row.mutant.line,
            row.mutant.operator,
            row.failing,
            row.inputs,
            cell(row.rank),
            row.reported,
            cell(ochiai)
        );
    }
    text
}

/// The share of the program that can be ignored, by method: means, and the distribution of scores.
fn scores(rows: &[Row]) -> String {
    let mut text = String::from(
        "\n| score | mean | 0.9 and more | 0.8 | 0.7 | 0.6 | 0.5 | below |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let names = rows.first().map(|row| row.scores.as_slice()).unwrap_or_default();
    for (n, (name, _)) in names.iter().enumerate() {
        let scores: Vec<f64> = rows.iter().filter_map(|row| row.scores[n].1).collect();
        let within =
            |from: f64, to: f64| scores.iter().filter(|score| from <= **score && **score < to).count();
        let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
        let _ = writeln!(
            text,
            "| {name} | {mean:.3} | {} | {} | {} | {} | {} | {} |",
            within(0.9, 1.1),
            within(0.8, 0.9),
            within(0.7, 0.8),
            within(0.6, 0.7),
            within(0.5, 0.6),
            within(0.0, 0.5)
        );
    }
    text
}

//! The tables of `cargo xtask bench views`, and its targets.

use std::fmt::Write as _;

/// The comparison of two runs, by views and by the baseline.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The events of both runs.
    pub events: f64,
    pub differences: f64,
    pub sequences: f64,
    pub compared: f64,
    /// Differences and comparisons of the baseline.
    pub lcs: Option<(f64, f64)>,
}

impl Pair {
    /// The number of similar events, relative to the baseline.
    fn accuracy(&self) -> Option<f64> {
        let (differences, _) = self.lcs?;
        Some((self.events - self.differences) / (self.events - differences).max(1.0))
    }

    fn effort(&self) -> Option<f64> {
        Some(self.lcs?.1 / self.compared.max(1.0))
    }
}

/// The measurements for one size.
#[derive(Clone, Debug)]
pub struct Row {
    pub subject: &'static str,
    pub rounds: u64,
    /// The events of the old and of the new version.
    pub events: [f64; 2],
    pub instructions: f64,
    /// Seconds: replay of the old version alone, extracting its events, comparing both runs.
    pub replay: f64,
    pub reading: f64,
    pub comparing: f64,
    /// The size of events and indices; and the peak memory of the process.
    pub bytes: f64,
    pub memory: f64,
    pub pair: Pair,
}

impl Row {
    fn all(&self) -> f64 {
        self.events[0] + self.events[1]
    }

    /// The time of the comparison relative to extracting the events of both runs.
    fn comparing_to_reading(&self) -> f64 {
        self.comparing / (self.reading * self.all() / self.events[0].max(1.0)).max(1e-9)
    }
}

/// The largest runs with little memory.
#[derive(Clone, Debug)]
pub struct Spilled {
    pub subject: &'static str,
    pub mebibytes: u64,
    pub memory: f64,
    pub differences: f64,
    pub comparing: f64,
}

const GIB: f64 = (1u64 << 30) as f64;

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = values.map(|v| v.max(1e-12).ln()).collect();
    (logs.iter().sum::<f64>() / (logs.len() as f64).max(1.0)).exp()
}

pub fn render(rows: &[Row], spilled: &[Spilled], pairs: &[(String, Pair)]) -> String {
    let mut out = String::from(
        "# Views\n\nTwo versions on the same input. Reading: events from the old version's recording, beside its \
         plain replay. Comparing: both runs, on one core, against reading both. Memory: the most that the whole \
         `relapse diff` had. Accuracy: (n − differences)/n against that of the longest common subsequence.\n\n\
         | subject | rounds | events | instructions/event | reading/replay | million events/s read | \
         comparing/reading | million events/s compared | bytes/event | memory, GiB | differences | sequences | \
         compares/event | LCS differences | LCS compares/ours | accuracy |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for r in rows {
        let p = &r.pair;
        let differences = p.lcs.map_or_else(|| "-".to_owned(), |l| format!("{}", l.0));
        let effort = p.effort().map_or_else(|| "-".to_owned(), |e| format!("{e:.0}"));
        let accuracy = p.accuracy().map_or_else(|| "-".to_owned(), |a| format!("{:.2} %", 100.0 * a));
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.1} | {:.2} | {:.1} | {:.2} | {:.1} | {:.0} | {:.2} | {} | {} | {:.1} | {differences} | {effort} | {accuracy} |",
            r.subject,
            r.rounds,
            r.events[0],
            r.instructions / r.events[0].max(1.0),
            r.reading / r.replay.max(1e-9),
            r.events[0] / r.reading.max(1e-9) / 1e6,
            r.comparing_to_reading(),
            r.all() / r.comparing.max(1e-9) / 1e6,
            r.bytes / r.all().max(1.0),
            r.memory / GIB,
            p.differences,
            p.sequences,
            p.compared / r.all().max(1.0),
        );
    }
    for s in spilled {
        let _ = writeln!(
            out,
            "\nThe largest of {} once more with {} MiB for events, the rest on disk: at most {:.2} GiB, compared in \
             {:.1} s, {} differences.",
            s.subject,
            s.mebibytes,
            s.memory / GIB,
            s.comparing,
            s.differences
        );
    }
    if !pairs.is_empty() {
        out += "\n## Small pairs\n\nThe regressions of this repository, and random programs with one number changed.\n\n\
                | pair | events | differences | sequences | LCS differences | LCS compares/ours | accuracy |\n\
                |---|---|---|---|---|---|---|\n";
        for (name, p) in pairs {
            let _ = writeln!(
                out,
                "| {name} | {} | {} | {} | {} | {:.1} | {:.2} % |",
                p.events,
                p.differences,
                p.sequences,
                p.lcs.map_or(0.0, |l| l.0),
                p.effort().unwrap_or(0.0),
                100.0 * p.accuracy().unwrap_or(0.0)
            );
        }
    }
    targets(rows, spilled, pairs, &mut out);
    out
}

fn targets(rows: &[Row], spilled: &[Spilled], pairs: &[(String, Pair)], out: &mut String) {
    // Smaller runs are dominated by startup.
    let large: Vec<&Row> = rows.iter().filter(|r| r.events[0] >= 5e5).collect();
    let worst = |of: fn(&Row) -> f64| large.iter().map(|r| of(r)).fold(f64::NEG_INFINITY, f64::max);
    let least = |of: fn(&Row) -> f64| large.iter().map(|r| of(r)).fold(f64::INFINITY, f64::min);
    let all_pairs = || rows.iter().map(|r| &r.pair).chain(pairs.iter().map(|p| &p.1));
    let mut lines: Vec<(&str, String, Option<bool>)> = Vec::new();
    if !large.is_empty() {
        let reading = worst(|r| r.reading / r.replay.max(1e-9));
        let typical = mean(large.iter().map(|r| r.reading / r.replay.max(1e-9)));
        lines.push((
            "reading at most 3 times the plain replay",
            format!("{typical:.2} on average, at most {reading:.2}"),
            Some(reading <= 3.0),
        ));
        let comparing = worst(Row::comparing_to_reading);
        lines.push((
            "comparing at most as long as reading",
            format!("at most {comparing:.2}"),
            Some(comparing <= 1.0),
        ));
        let speed = least(|r| r.all() / r.comparing.max(1e-9) / 1e6);
        lines.push((
            "2 million events compared a second, one core",
            format!("at least {speed:.1}"),
            Some(speed >= 2.0),
        ));
    }
    if let Some(most) = rows.iter().max_by(|a, b| a.events[0].total_cmp(&b.events[0])) {
        let memory = rows.iter().map(|r| r.memory).fold(0.0, f64::max) / GIB;
        let reached = most.events[0] >= 9.5e7;
        lines.push((
            "10^8 events in each run within 8 GiB",
            format!("{:.2e} events: at most {memory:.2} GiB", most.events[0]),
            reached.then_some(memory <= 8.0),
        ));
    }
    if let Some(memory) = spilled.iter().map(|s| s.memory / GIB).reduce(f64::max) {
        let same = spilled.iter().all(|s| {
            let whole = rows.iter().rfind(|r| r.subject == s.subject);
            whole.is_some_and(|r| r.pair.differences == s.differences)
        });
        lines.push((
            "the same answer with events on disk",
            format!("{}, at most {memory:.2} GiB", if same { "the same" } else { "another" }),
            Some(same),
        ));
    }
    let growth = growth(rows);
    if let Some((time, space)) = growth {
        lines.push((
            "growth with size: linear",
            format!("time grows with the power {time:.2}, memory with {space:.2}"),
            Some(time <= 1.1 && space <= 1.1),
        ));
    }
    let accuracies: Vec<f64> = all_pairs().filter_map(Pair::accuracy).collect();
    if !accuracies.is_empty() {
        let accuracy = mean(accuracies.iter().copied());
        let below = accuracies.iter().filter(|a| **a < 0.99995).count();
        lines.push((
            "accuracy at least that of LCS, geometric mean",
            format!("{:.3} % over {} pairs, {below} below 100 %", 100.0 * accuracy, accuracies.len()),
            Some(accuracy >= 1.0),
        ));
        let efforts = rows.iter().filter(|r| r.events[0] >= 1e5).filter_map(|r| r.pair.effort());
        if let Some(effort) = efforts.reduce(f64::max) {
            lines.push((
                "a hundredth of the comparisons of LCS",
                format!("up to 1/{effort:.0}"),
                Some(effort >= 100.0),
            ));
        }
    }
    *out += "\n## Targets\n\n| target | measured | met |\n|---|---|---|\n";
    for (what, measured, met) in lines {
        let met = met.map_or("not measured", |met| if met { "yes" } else { "no" });
        let _ = writeln!(out, "| {what} | {measured} | {met} |");
    }
}

/// The exponents of size in the growth of comparison time and memory, from the smallest runs that can be
/// timed to the largest.
fn growth(rows: &[Row]) -> Option<(f64, f64)> {
    let mut powers: Option<(f64, f64)> = None;
    for subject in ["lua", "sqlite"] {
        let of: Vec<&Row> =
            rows.iter().filter(|r| r.subject == subject && r.comparing + r.reading > 0.02).collect();
        let (Some(first), Some(last)) = (of.first(), of.last()) else { continue };
        let size = (last.all() / first.all()).ln();
        if size < 2.0 {
            continue;
        }
        let power = |of: fn(&Row) -> f64| (of(last) / of(first).max(1e-9)).ln() / size;
        let (time, space) = (power(|r| r.comparing + 2.0 * r.reading), power(|r| r.bytes));
        let known = powers.get_or_insert((time, space));
        *known = (known.0.max(time), known.1.max(space));
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: f64, seconds: f64) -> Row {
        Row {
            subject: "lua",
            rounds: 1,
            events: [n, n],
            instructions: 4.0 * n,
            replay: seconds,
            reading: 2.0 * seconds,
            comparing: seconds,
            bytes: 60.0 * n,
            memory: GIB,
            pair: Pair {
                events: 2.0 * n,
                differences: 4.0,
                sequences: 1.0,
                compared: n,
                lcs: Some((6.0, n * n)),
            },
        }
    }

    #[test]
    fn targets_are_met_or_not() {
        let text = render(&[row(1e6, 0.1), row(1e8, 10.0)], &[], &[]);
        assert!(text.contains("| comparing at most as long as reading | at most 0.25 | yes |"), "{text}");
        assert!(text.contains("time grows with the power 1.00, memory with 1.00 | yes |"), "{text}");
        assert!(
            text.contains("| 10^8 events in each run within 8 GiB | 1.00e8 events: at most 1.00 GiB | yes |")
        );
        let slow = render(&[row(1e6, 0.1), row(1e8, 1000.0)], &[], &[]);
        assert!(slow.contains("power 2.00, memory with 1.00 | no |"), "{slow}");
    }
}

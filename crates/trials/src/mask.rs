//! Masks the parts of an output that differ from run to run of one version.
//!
//! Any test can be used unchanged: the output of `ctest`, `meson` or `pytest` contains times, other programs
//! print addresses, names of temporary files, process numbers or dates. Such parts are found by comparing
//! runs of *one* version, and masked before runs of two versions are compared, so that the exit status and
//! the stable text decide.
//!
//! The result of learning is templates of lines, not line numbers, so that they match the output of other
//! trees: stable words are literal, and a part is a wildcard if it differed between two runs of one version.
//! Three steps generalise beyond single lines:
//!
//! * A number before a unit of time is a duration in all lines if it was seen to differ in one, with the same
//!   number of decimals: `0.00 sec` may be equal in two runs by chance, and differ in a third. It may even be
//!   equal in all runs that are compared. So a number with decimals, or below a second, is also a duration if
//!   none like it is longer than a run took. Likewise a number that counts lines in output order (`[3/20]`),
//!   if lines occur in another order.
//! * Lines in another order from run to run are compared sorted.
//! * Lines that occur only in some runs are left out.
//!
//! A mask must not hide a difference between good and bad. A template needs words on its line; a line without
//! words is identified by its position among others. Of the steps above, the first is not taken if it would
//! make good and bad equal: the difference that it masks in addition is stable within each version, so it may
//! be what the test is about. [`Mask::hides_difference`] reports whether a difference is hidden nevertheless.
//!
//! Cost: aligning is a line diff of each run with the first one; applying is one pass with a few hash lookups
//! per line.

mod align;
mod clock;
mod learn;
mod template;
mod token;

pub use clock::looks_like_clock;

use serde::Serialize;
use std::collections::BTreeSet;
use template::{Field, LinePosition, Masked, Part, Rules, Template, Text};
use token::Kind;
use xxhash_rust::xxh3::xxh3_128;

/// Longer lines are not treated as text.
const LONG_LINE: usize = 64 << 10;

/// The parts of an output that differ from run to run of one version.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Mask {
    #[serde(flatten)]
    rules: Rules,
    /// Lines occur in any order.
    sorted: bool,
    ignores_all: bool,
}

impl Mask {
    /// Learns from several runs of good and several of bad the mask of one output. A single run of a version
    /// gives no information. None of the runs took more than `seconds`.
    #[must_use]
    pub fn learn(good: &[Vec<u8>], bad: &[Vec<u8>], seconds: f64) -> Mask {
        learn::learn(good, bad, seconds)
    }

    /// Whether nothing is masked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && !self.sorted && !self.ignores_all
    }

    /// Whether the output gives no information because it differs every time: only the exit status decides.
    #[must_use]
    pub fn ignores_all(&self) -> bool {
        self.ignores_all
    }

    /// Replaces masked parts by `<number>`, `<address>`, `<time>` or `<name>`. Outputs of two runs of one
    /// version are equal after this.
    #[must_use]
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        if self.ignores_all {
            return Vec::new();
        }
        if self.is_empty() {
            return text.to_vec();
        }
        let masked = self.lines(text);
        let mut lines: Vec<Vec<u8>> = masked.iter().filter(|m| !m.dropped).map(Masked::text).collect();
        if self.sorted {
            lines.sort();
        }
        let mut applied = lines.join(&b'\n');
        if text.ends_with(b"\n") && !lines.is_empty() {
            applied.push(b'\n');
        }
        applied
    }

    /// Whether good and bad are equal after masking although they differ in something that is the same in all
    /// runs of good and in all runs of bad. Such a mask must not be the only criterion; if the exit status
    /// differs, it does no harm. A single run of a version is assumed to be reproducible.
    #[must_use]
    pub fn hides_difference(&self, good: &[Vec<u8>], bad: &[Vec<u8>]) -> bool {
        let (Some(first_good), Some(first_bad)) = (good.first(), bad.first()) else { return false };
        if self.is_empty() || self.apply(first_good) != self.apply(first_bad) {
            return false;
        }
        if self.ignores_all {
            let lines = |run: &Vec<u8>| run.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            return has_stable_difference(good, bad, lines);
        }
        let dropped =
            |run: &Vec<u8>| self.lines(run).iter().filter(|m| m.dropped).map(|m| m.line.to_vec()).collect();
        if has_stable_difference(good, bad, dropped) {
            return true;
        }
        // After masking, all runs have the same lines, so the masked parts can be compared.
        let hidden = |run: &Vec<u8>| {
            let mut lines: Vec<_> = self
                .lines(run)
                .iter()
                .filter(|m| !m.dropped)
                .map(|m| (m.text(), owned(&m.hidden())))
                .collect();
            if self.sorted {
                lines.sort();
            }
            lines.into_iter().flat_map(|line| line.1).collect::<Vec<_>>()
        };
        let steady = |runs: &[Vec<u8>]| {
            let mut runs = runs.iter().map(hidden);
            let first = runs.next().unwrap_or_default();
            let mut same = vec![true; first.len()];
            for run in runs {
                for (at, same) in same.iter_mut().enumerate() {
                    *same &= run.get(at) == first.get(at);
                }
            }
            (first, same)
        };
        let ((good, good_same), (bad, bad_same)) = (steady(good), steady(bad));
        let both = good.iter().zip(&bad).zip(good_same.iter().zip(&bad_same));
        both.into_iter().any(|((g, b), (g_same, b_same))| g != b && *g_same && *b_same)
    }

    /// A sentence for each masked part, with an example.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        if self.ignores_all {
            return vec!["all of it, as it is another one each time".to_owned()];
        }
        // Among lines of the same shape one is sufficient: the one with the most masked parts.
        let mut looks: Vec<(&Template, Vec<Kind>)> = Vec::new();
        for template in &self.rules.templates {
            let kind = |p: &Part| if let Part::Wild(kind) = p { Some(*kind) } else { None };
            let kinds: Vec<Kind> =
                template.parts.iter().filter_map(kind).filter(|k| *k != Kind::Padding).collect();
            match looks.iter_mut().find(|l| l.0.shape == template.shape && l.0.drop == template.drop) {
                Some(known) if known.1.len() >= kinds.len() => {}
                Some(known) => *known = (template, kinds),
                None => looks.push((template, kinds)),
            }
        }
        let say =
            |(template, kinds): &(&Template, Vec<Kind>)| sentence(kinds, template.drop, &template.example);
        let mut said: Vec<String> = looks.iter().map(say).collect();
        let mut seen = BTreeSet::new();
        for fields in &self.rules.fields {
            let kind = |f: &Field| if let Field::Within { kind, .. } = f { Some(*kind) } else { None };
            let kinds: Vec<Kind> = fields.fields.iter().filter_map(kind).collect();
            if seen.insert((fields.fields.len(), kinds.clone(), fields.drop)) {
                said.push(sentence(&kinds, fields.drop, &fields.example));
            }
        }
        for duration in &self.rules.durations {
            let unit = String::from_utf8_lossy(&duration.unit.0).into_owned();
            said.push(format!("numbers before `{unit}` as in {}", quoted(&duration.example)));
        }
        if self.sorted {
            said.push("the order of lines".to_owned());
        }
        said
    }

    /// Identifies the mask, for the key of stored outcomes.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let rules = (&self.rules.templates, &self.rules.fields, &self.rules.durations);
        format!("{:032x}", xxh3_128(format!("{rules:?} {} {}", self.sorted, self.ignores_all).as_bytes()))
    }

    /// The lines of a text with their masked parts.
    fn lines<'a>(&self, text: &'a [u8]) -> Vec<Masked<'a>> {
        let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|b| *b == b'\n');
        let mut masked: Vec<Masked> =
            if text.is_empty() { Vec::new() } else { lines.map(|l| self.rules.mask(l, None)).collect() };
        if self.rules.templates.iter().any(|t| t.around.is_some()) {
            for (at, around) in wordless_positions(&masked) {
                masked[at] = self.rules.mask(masked[at].line, Some(&around));
            }
        }
        masked
    }
}

fn owned(parts: &[&[u8]]) -> Vec<Vec<u8>> {
    parts.iter().map(|p| p.to_vec()).collect()
}

/// Whether something occurs in all runs of one version and in none of the other.
fn has_stable_difference(
    good: &[Vec<u8>],
    bad: &[Vec<u8>],
    what: impl Fn(&Vec<u8>) -> BTreeSet<Vec<u8>>,
) -> bool {
    let (good, bad): (Vec<_>, Vec<_>) = (good.iter().map(&what).collect(), bad.iter().map(&what).collect());
    let only = |here: &[BTreeSet<Vec<u8>>], there: &[BTreeSet<Vec<u8>>]| {
        let first = here.first().into_iter().flatten();
        first
            .into_iter()
            .any(|x| here.iter().all(|run| run.contains(x)) && there.iter().all(|run| !run.contains(x)))
    };
    only(&good, &bad) || only(&bad, &good)
}

/// The positions of the lines without words.
fn wordless_positions(lines: &[Masked]) -> Vec<(usize, LinePosition)> {
    let present: Vec<usize> = (0..lines.len()).filter(|i| !lines[*i].dropped).collect();
    let mut before: Vec<(Option<Text>, usize)> = Vec::new();
    let mut nearest = (None, 0);
    for at in &present {
        nearest.1 += 1;
        before.push(nearest.clone());
        if lines[*at].has_words() {
            nearest = (Some(Text(lines[*at].text())), 0);
        }
    }
    let mut found = Vec::new();
    let mut nearest = (None, 0);
    for (at, before) in present.into_iter().zip(before).rev() {
        nearest.1 += 1;
        if lines[at].has_words() {
            nearest = (Some(Text(lines[at].text())), 0);
        } else {
            found.push((at, LinePosition { before, after: nearest.clone() }));
        }
    }
    found
}

fn sentence(kinds: &[Kind], drop: bool, example: &Text) -> String {
    if drop {
        return format!("lines like {}, which come and go", quoted(example));
    }
    let mut words: Vec<String> = Vec::new();
    for kind in [Kind::Number, Kind::Address, Kind::Time, Kind::Name] {
        match kinds.iter().filter(|k| **k == kind).count() {
            0 => {}
            1 => words.push(format!("the {}", kind.word())),
            _ if kind == Kind::Address => words.push("the addresses".to_owned()),
            _ => words.push(format!("the {}s", kind.word())),
        }
    }
    if words.is_empty() {
        words.push("the padding".to_owned());
    }
    format!("{} in lines like {}", words.join(" and "), quoted(example))
}

fn quoted(example: &Text) -> String {
    let text = String::from_utf8_lossy(&example.0).into_owned();
    let mut short: String = text.trim().chars().filter(|c| !c.is_control()).take(100).collect();
    if short.len() < text.trim().len() {
        short.push_str("...");
    }
    format!("`{short}`")
}

//! Masking what differs from run to run of one version.
//!
//! Any test will do as it is: what `ctest`, `meson` or `pytest` print has times in it,
//! others print addresses, names of temporary files, process numbers or dates. Such parts are
//! found by comparing runs of *one* version, and masked before runs of two versions are
//! compared, so that the exit status and the text that stays judge.
//!
//! What is learned are templates of lines, not their numbers, so that they fit the
//! output of other trees: words that stay are literal, and a part is wild if it differed between
//! two runs of one version. Three steps go beyond single lines:
//!
//! * A number before a unit of time is a duration in all lines if it was seen to differ in one,
//!   with as many decimals: `0.00 sec` is the same in two runs by luck, and not in a third. The
//!   luck may last for all runs that are compared, so one with decimals, or below a second, is
//!   also a duration if none like it is longer than a run took.
//!   Likewise a number that counts lines as they come (`[3/20]`), if lines come in another order.
//! * Lines in another order from run to run are compared sorted.
//! * Lines that come and go are left out.
//!
//! A mask must not hide what differs between good and bad. A template needs words on its line; a
//! line without any is known by its place among others. Of the steps above the first is not
//! taken if good and bad would become equal by it: what it masks besides is equal in good and bad,
//! so it is not what the test is about. [`Mask::hides_difference`] tells whether something is
//! hidden nevertheless.
//!
//! Cost: aligning is a line diff of each run with the first one; applying is one pass with one
//! hash lookup or a few for each line.

mod align;
mod clock;
mod learn;
mod template;
mod token;

pub use clock::looks_like_clock;

use serde::Serialize;
use std::collections::BTreeSet;
use template::{Around, Field, Masked, Part, Rules, Template, Text};
use token::Kind;
use xxhash_rust::xxh3::xxh3_128;

/// Longer lines are no lines of text.
const LONG_LINE: usize = 64 << 10;

/// What of an output differs from run to run of one version.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Mask {
    #[serde(flatten)]
    rules: Rules,
    /// Lines come in any order.
    sorted: bool,
    ignores_all: bool,
}

impl Mask {
    /// Learns from several runs of good and several of bad what one sink got. One run of a
    /// version says nothing. None of the runs took more `seconds`.
    #[must_use]
    pub fn learn(good: &[Vec<u8>], bad: &[Vec<u8>], seconds: f64) -> Mask {
        learn::learn(good, bad, seconds)
    }

    /// Whether nothing is masked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && !self.sorted && !self.ignores_all
    }

    /// Whether the output says nothing, as it is another one each time: only the exit status
    /// judges.
    #[must_use]
    pub fn ignores_all(&self) -> bool {
        self.ignores_all
    }

    /// Puts `<number>`, `<address>`, `<time>` or `<name>` in place of what is masked. Outputs
    /// of two runs of one version are equal after this.
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

    /// Whether good and bad, which differ in something that is the same in all runs of good and
    /// in all runs of bad, are equal after masking. Such a mask must not be the only judge;
    /// if the exit status differs, no harm is done. A single run of each is taken to stay as it is.
    #[must_use]
    pub fn hides_difference(&self, good: &[Vec<u8>], bad: &[Vec<u8>]) -> bool {
        let (Some(first_good), Some(first_bad)) = (good.first(), bad.first()) else { return false };
        if self.is_empty() || self.apply(first_good) != self.apply(first_bad) {
            return false;
        }
        if self.ignores_all {
            let lines = |run: &Vec<u8>| run.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            return parts_company(good, bad, lines);
        }
        let dropped =
            |run: &Vec<u8>| self.lines(run).iter().filter(|m| m.dropped).map(|m| m.line.to_vec()).collect();
        if parts_company(good, bad, dropped) {
            return true;
        }
        // After masking there are the same lines in all runs, so what is masked can be compared.
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

    /// A sentence for each thing that is masked, with an example.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        if self.ignores_all {
            return vec!["all of it, as it is another one each time".to_owned()];
        }
        // Of lines that look alike one is enough: the one with most of it masked.
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

    /// Tells masks apart, for the key of remembered outcomes.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let rules = (&self.rules.templates, &self.rules.fields, &self.rules.durations);
        format!("{:032x}", xxh3_128(format!("{rules:?} {} {}", self.sorted, self.ignores_all).as_bytes()))
    }

    /// The lines of a text, and what of them is masked.
    fn lines<'a>(&self, text: &'a [u8]) -> Vec<Masked<'a>> {
        let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|b| *b == b'\n');
        let mut masked: Vec<Masked> =
            if text.is_empty() { Vec::new() } else { lines.map(|l| self.rules.mask(l, None)).collect() };
        if self.rules.templates.iter().any(|t| t.around.is_some()) {
            for (at, around) in arounds(&masked) {
                masked[at] = self.rules.mask(masked[at].line, Some(&around));
            }
        }
        masked
    }
}

fn owned(parts: &[&[u8]]) -> Vec<Vec<u8>> {
    parts.iter().map(|p| p.to_vec()).collect()
}

/// Whether something is in all runs of one version and in none of the other.
fn parts_company(good: &[Vec<u8>], bad: &[Vec<u8>], what: impl Fn(&Vec<u8>) -> BTreeSet<Vec<u8>>) -> bool {
    let (good, bad): (Vec<_>, Vec<_>) = (good.iter().map(&what).collect(), bad.iter().map(&what).collect());
    let only = |here: &[BTreeSet<Vec<u8>>], there: &[BTreeSet<Vec<u8>>]| {
        let first = here.first().into_iter().flatten();
        first
            .into_iter()
            .any(|x| here.iter().all(|run| run.contains(x)) && there.iter().all(|run| !run.contains(x)))
    };
    only(&good, &bad) || only(&bad, &good)
}

/// The places of the lines that have no words.
fn arounds(lines: &[Masked]) -> Vec<(usize, Around)> {
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
            found.push((at, Around { before, after: nearest.clone() }));
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

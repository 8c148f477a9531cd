//! Sentences that all renderings share.

use std::collections::{BTreeMap, BTreeSet};

use explain::answer::{Answer, Cause, Hunk, Observation, Place, ValuePair};

use crate::text::visible;

/// `1 build`, `3 builds`.
#[must_use]
pub fn count(number: u32, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// The verdict without its first word: what was verified, or why it was not.
#[must_use]
pub fn verdict(answer: &Answer) -> String {
    if !answer.verified {
        return match answer.not_verified.as_deref().map(str::trim) {
            Some(reason) if !reason.is_empty() => visible(reason).into_owned(),
            _ => "no set of changes was shown to make the test pass again".to_owned(),
        };
    }
    let root = number(answer.root.len());
    let whole = answer.trials.changes.max(root.saturating_add(number(answer.auxiliary.len())));
    let mut sentence = match (root, whole) {
        (1, 1) => "undoing the only change makes the test pass again".to_owned(),
        (1, _) => format!("undoing 1 of {whole} changes makes the test pass again"),
        (2, 2) => "undoing both changes makes the test pass again".to_owned(),
        (_, _) if root == whole => format!("undoing all {whole} changes makes the test pass again"),
        (_, _) => format!("undoing {root} of {whole} changes together makes the test pass again"),
    };
    match number(answer.auxiliary.len()) {
        0 => {}
        more => {
            let purpose = if builds_without_auxiliary(answer) { "runs as it should" } else { "builds" };
            sentence.push_str(&format!(", together with {more} more so that it {purpose}"));
        }
    }
    sentence.push_str(match answer.applied_with.len() {
        0 if root == 1 => "; put into good, it makes good fail in the same way",
        0 => "; put into good, they make good fail in the same way",
        _ if root == 1 => "; put into good with what it needs there, it makes good fail in the same way",
        _ => "; put into good with what they need there, they make good fail in the same way",
    });
    sentence
}

/// Whether a trial shows that the code compiles with the cause undone but only a proper subset of the
/// auxiliary changes. The others are then needed for another reason than compilation.
fn builds_without_auxiliary(answer: &Answer) -> bool {
    let numbers = |hunks: &[Hunk]| hunks.iter().map(|hunk| hunk.change).collect::<BTreeSet<u32>>();
    let (root, auxiliary) = (numbers(&answer.root), numbers(&answer.auxiliary));
    answer.trials.log.iter().any(|tried| {
        let reverted: BTreeSet<u32> = tried.reverted.iter().copied().collect();
        let rest = &reverted - &root;
        ["pass", "fail", "unresolved", "builds"].contains(&tried.outcome.as_str())
            && rest.len() + root.len() == reverted.len()
            && rest.is_subset(&auxiliary)
            && rest.len() < auxiliary.len()
    })
}

/// The heading of the auxiliary changes: why they must be undone with the cause.
#[must_use]
pub fn auxiliary(answer: &Answer) -> &'static str {
    if builds_without_auxiliary(answer) {
        "Must also be undone for the program to run as it should"
    } else {
        "Must also be undone for the code to compile"
    }
}

/// What was verified about the answer, one line per property.
#[must_use]
pub fn proof(answer: &Answer) -> Vec<String> {
    let proof = &answer.proof;
    if answer.root.is_empty() {
        return Vec::new();
    }
    let said = |shown: &str, yes: &str, no: &str, not: &str| -> String {
        match shown {
            "yes" => yes,
            "no" => no,
            _ => not,
        }
        .to_owned()
    };
    let mut lines = vec![
        said(
            &proof.needed,
            "needed: undone in bad, the test passes",
            "NOT needed: undone in bad, the test does not pass",
            "needed: not tried",
        ),
        said(
            &proof.sufficient,
            "sufficient: put into good, the test fails in the same way",
            "NOT sufficient: put into good, the test does not fail in the same way",
            if answer.stopped.is_some() {
                "sufficient: not tried, as the search ended before"
            } else {
                "sufficient: not shown, as it could not be put into good"
            },
        ),
        said(
            &proof.sane,
            "sane: the program without it is no accident",
            "NOT sane: the program without it passes by accident",
            "sane: not examined",
        ),
    ];
    if !answer.applied_with.is_empty() && proof.sufficient == "yes" {
        let with: Vec<String> = answer.applied_with.iter().take(12).map(|n| format!("#{n}")).collect();
        let more = if answer.applied_with.len() > with.len() { ", ..." } else { "" };
        lines[1].push_str(&format!(" (with {}{more}, so that good builds)", with.join(", ")));
    }
    let is_examined = proof.sane != "not-tried" && !proof.examined_by.is_empty();
    if let (Some(last), true) = (lines.last_mut(), is_examined) {
        last.push_str(&format!(" (compiler warnings, {})", proof.examined_by.join(", ")));
    }
    if !proof.left_out.is_empty() {
        lines.push(format!("left out: {}", proof.left_out.join("; ")));
    }
    lines
}

/// `3f2a9c1d04 (2025-03-02) Subject`.
#[must_use]
pub fn commit(commit: &explain::answer::Commit) -> String {
    let id: String = commit.id.chars().take(10).collect();
    format!("{id} ({}) {}", visible(&commit.date), visible(&commit.subject))
}

/// `verified` or `NOT VERIFIED`.
#[must_use]
pub fn verdict_word(answer: &Answer) -> &'static str {
    if answer.verified { "verified" } else { "NOT VERIFIED" }
}

/// One line for the log of a continuous integration run: verdict, root changes, failure, cost. It
/// contains no newline.
#[must_use]
pub fn summary_line(answer: &Answer) -> String {
    const SHOWN: usize = 5;
    let mut places: Vec<String> = answer.root.iter().take(SHOWN).map(hunk_place).collect();
    if answer.root.len() > SHOWN {
        places.push(format!("{} more", answer.root.len() - SHOWN));
    }
    let what = sentence(&answer.observation.summary);
    let mut line = format!("relapse: {}: ", verdict_word(answer));
    line.push_str(&match (places.is_empty(), answer.verified) {
        (true, _) => "no cause found".to_owned(),
        (false, true) => format!("caused by {}", places.join(", ")),
        (false, false) => format!("perhaps caused by {}", places.join(", ")),
    });
    if !what.is_empty() {
        line.push_str(": ");
        line.push_str(&what);
    }
    if !answer.verified {
        line.push_str("; ");
        line.push_str(&verdict(answer));
    }
    line.push_str(&format!(
        " ({}, {}, {})",
        count(answer.trials.builds, "build"),
        count(answer.trials.runs, "run"),
        seconds(answer.trials.seconds)
    ));
    visible(&line).replace('\t', " ")
}

/// A sentence without its full stop and surrounding whitespace.
#[must_use]
pub fn sentence(text: &str) -> String {
    visible(text.trim().trim_end_matches('.')).into_owned()
}

/// `file:line` of a change in bad; the line before it if bad has no lines of the change.
#[must_use]
pub fn hunk_place(hunk: &Hunk) -> String {
    match hunk.kind.as_str() {
        "added" | "deleted" | "renamed" | "binary" | "mode" => {
            format!("{} ({})", visible(&hunk.file), visible(&hunk.kind))
        }
        _ => format!("{}:{}", visible(&hunk.file), hunk.new_start.max(1)),
    }
}

/// The heading of the root changes; it claims no more than was verified.
#[must_use]
pub fn root_title(answer: &Answer) -> &'static str {
    match (answer.root.len(), answer.verified) {
        (1, true) => "The change that caused it",
        (_, true) => "The changes that caused it",
        (1, false) => "The change that may have caused it",
        (_, false) => "Changes that may have caused it",
    }
}

/// The heading of the causes, and where they begin.
#[must_use]
pub fn causes_title(answer: &Answer) -> (&'static str, &'static str) {
    if answer.root.is_empty() {
        ("How far the failure was followed back", "from where the runs differ down to the failure")
    } else {
        let aside = match answer.fixed {
            None => "from the changes down to the failure",
            Some(_) => "from the changes down to the failure; fixed is bad with them undone",
        };
        ("How it came about", aside)
    }
}

/// The location of the failure and words that introduce it: in bad, or where good did what bad omitted.
#[must_use]
pub fn failed_at(observation: &Observation) -> Option<(&'static str, &Place)> {
    let in_good = || observation.good_place.as_ref().map(|place| ("good did it at", place));
    observation.place.as_ref().map(|place| ("at", place)).or_else(in_good)
}

/// The function that contains a change, without its opening brace.
#[must_use]
pub fn heading(hunk: &Hunk) -> &str {
    hunk.heading.trim().trim_end_matches('{').trim_end()
}

/// The value of a cause in good (or its substitute) and in bad. A version that reached the step without
/// having the value shows `none`; one that did not reach it shows nothing.
#[must_use]
pub fn sides(value: &ValuePair, cause: &Cause) -> [Option<String>; 2] {
    let side = |value: &Option<String>, place: &Option<Place>| match (value, place) {
        (Some(value), _) => Some(visible(value).into_owned()),
        (None, Some(_)) => Some("none".to_owned()),
        (None, None) => None,
    };
    [side(&value.good, &cause.good_place), side(&value.bad, &cause.place)]
}

/// `file:line`, or `file` if the line is unknown.
#[must_use]
pub fn place(place: &Place) -> String {
    let file = if place.file.is_empty() { "?".into() } else { visible(&place.file) };
    if place.line == 0 { file.into_owned() } else { format!("{file}:{}", place.line) }
}

/// `0.3 s`, `12.4 s`, `3 min 5 s`, `2 h 7 min`.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    // Invalid durations (negative, infinite, not a number) are shown as zero.
    let seconds = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    if seconds < 99.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round().min(1e15) as u64;
    if whole < 3600 {
        format!("{} min {} s", whole / 60, whole % 60)
    } else {
        format!("{} h {} min", whole / 3600, whole % 3600 / 60)
    }
}

/// The number of changes and trials, and the time, in one or two sentences.
#[must_use]
pub fn effort(answer: &Answer) -> Vec<String> {
    let trials = &answer.trials;
    let mut candidates = format!("{} between the versions", count(trials.changes, "change"));
    if (1..trials.changes).contains(&trials.candidates) {
        candidates.push_str(&format!(", {} of them could have played a part", trials.candidates));
    }
    if trials.unread > 0 {
        candidates.push_str(&format!("; {} in files that neither build nor test opens", trials.unread));
    }
    let mut tried = count(trials.builds, "build");
    if trials.broken_builds > 0 {
        tried.push_str(&format!(" ({} failed)", trials.broken_builds));
    }
    if trials.checks > 0 {
        tried.push_str(&format!(", {} refused by the compiler before a build", count(trials.checks, "set")));
    }
    tried.push_str(&format!(", {}", count(trials.runs, "test run")));
    if trials.remembered > 0 {
        tried.push_str(&format!(", {} remembered", count(trials.remembered, "outcome")));
    }
    tried.push_str(&format!(", {}", seconds(trials.seconds)));
    if trials.seconds_to_verdict > 0.0 {
        tried.push_str(&format!(" ({} to the verdict)", seconds(trials.seconds_to_verdict)));
    }
    let mut lines = vec![candidates, tried];
    lines.extend(
        trials
            .masked
            .iter()
            .map(|part| format!("not compared, as it differs from run to run: {}", visible(part))),
    );
    lines
}

/// The length of a list in the type of an answer's counters.
#[must_use]
pub fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The changed part of an input of another length, between what both have in common.
#[must_use]
pub fn part(part: &explain::answer::InputPart) -> String {
    const AROUND: usize = 12;
    let (old, new) = (visible(&part.old).into_owned(), visible(&part.new).into_owned());
    let (front, back) = crate::text::shared_ends(&old, &new);
    let cut = |text: &str| {
        let (before, middle, after) =
            (&text[..front], &text[front..text.len() - back], &text[text.len() - back..]);
        let skipped = before.char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
        let kept = after.char_indices().nth(AROUND).map_or(after.len(), |(at, _)| at);
        let dots = |is_cut: bool| if is_cut { "..." } else { "" };
        format!(
            "`{}{}{middle}{}{}`",
            dots(skipped > 0),
            &before[skipped..],
            &after[..kept],
            dots(kept < after.len())
        )
    };
    format!("{} becomes {}", cut(&old), cut(&new))
}

/// A byte in readable form.
#[must_use]
pub fn byte(byte: u8) -> String {
    if byte.is_ascii_graphic() || byte == b' ' { format!("'{}'", byte as char) } else { byte.to_string() }
}

/// The formula of a cause, unless its line contains the same.
pub fn formula(cause: &Cause) -> Option<&str> {
    let formula = cause.formula.as_deref()?;
    let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let line = cause.place.as_ref().or(cause.good_place.as_ref()).map(|p| bare(&p.text)).unwrap_or_default();
    // A condition is shown as computed or as in the line: `!x` for `x != 0`.
    let is_condition = cause.kind == "branch" && cause.what.starts_with('`');
    let is_said = is_condition || cause.what.contains(&format!("`{formula}`"));
    // `x = f(…)` matches `x = f(a, b);` piece by piece.
    let mut rest = line.as_str();
    let is_in_line = bare(formula).split('…').all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    });
    (!is_in_line && !is_said).then_some(formula)
}

/// The result of running bad with the other version's value at this step; `None` if that was not tried.
pub fn link(cause: &Cause, reference: &str) -> Option<String> {
    let link = cause.link.as_ref()?;
    let with = match cause.kind.as_str() {
        "branch" => format!("with the branch of {reference}"),
        _ => format!("with the value of {reference}"),
    };
    match link.outcome.as_str() {
        "passes" => Some(format!("proven: {with} here, the test passes")),
        "gone" => Some(format!("proven: {with} here, this failure is gone; the test fails later")),
        "other" => Some(format!("{with} here, the test fails in another way")),
        "same" => Some(format!("not decisive: {with} only here, the test fails as before")),
        _ => None,
    }
}

/// The number of differences that the comparison with the passing test leaves.
pub fn passing(passing: &explain::answer::Passing) -> String {
    let found = passing.suspects.len() as u64 + u64::from(passing.more);
    let base = format!(
        "The runs of both versions differ in {} of events with the failing test and in {} with the passing one.",
        count(passing.suspected, "sequence"),
        passing.expected,
    );
    match passing.kind.as_str() {
        "present" => format!("{base} {found} of them only with the failing one, and not when bad passes:"),
        "removed" => {
            format!("{base} Bad does nothing on the failing test only; what it does not do any more:")
        }
        _ => format!("{base} None is left that only the failing test has."),
    }
}

/// The number of the suspect, from 1, that contains each cause.
pub fn only_failing(answer: &Answer) -> BTreeMap<u32, usize> {
    let mut by_cause = BTreeMap::new();
    for (number, suspect) in (1..).zip(answer.passing.iter().flat_map(|p| &p.suspects)) {
        for cause in &suspect.causes {
            by_cause.entry(*cause).or_insert(number);
        }
    }
    by_cause
}

/// The changes and causes that a suspect belongs to.
pub fn suspect(suspect: &explain::answer::Suspect) -> String {
    let list = |noun: &str, numbers: &[u32]| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        match numbers.len() {
            0 => None,
            1 => Some(format!("{noun} {}", numbers[0])),
            _ => Some(format!("{noun}s {}", numbers.join(", "))),
        }
    };
    let parts = [list("change", &suspect.changes), list("cause", &suspect.causes)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_that_the_line_has_is_not_repeated() {
        let of = |formula: &str, line: &str| {
            let place = explain::answer::Place { text: line.to_owned(), ..Default::default() };
            let cause = Cause { formula: Some(formula.to_owned()), place: Some(place), ..Cause::default() };
            super::formula(&cause).is_some()
        };
        assert!(!of("p = strdup(…)", "char *p = strdup(s);"));
        assert!(!of("x = a + 1", "  x = a+1;"));
        assert!(of("p = strdup(…)", "p = dup(s);"));
        assert!(of("x = f(…) + 2", "x = 2 + f(y);"));
    }

    #[test]
    fn what_must_be_undone_as_well_is_needed_to_compile_unless_it_compiled_without() {
        let hunk = |change| Hunk { change, ..Hunk::default() };
        let tried = |reverted: &[u32], outcome: &str| explain::answer::Tried {
            reverted: reverted.to_vec(),
            outcome: outcome.to_owned(),
            why: String::new(),
        };
        let of = |log: Vec<explain::answer::Tried>| {
            let mut answer = Answer { root: vec![hunk(3)], auxiliary: vec![hunk(2)], ..Answer::default() };
            answer.trials.log = log;
            auxiliary(&answer)
        };
        let to_compile = of(vec![tried(&[3], "broken"), tried(&[2, 3], "pass"), tried(&[3, 7], "pass")]);
        assert_eq!(to_compile, "Must also be undone for the code to compile");
        let to_run = of(vec![tried(&[2, 3], "pass"), tried(&[3], "unresolved")]);
        assert_eq!(to_run, "Must also be undone for the program to run as it should");
    }

    #[test]
    fn times_are_short() {
        for (given, shown) in [
            (0.04, "0.0 s"),
            (12.44, "12.4 s"),
            (99.96, "1 min 40 s"),
            (3599.6, "1 h 0 min"),
            (7620.0, "2 h 7 min"),
            (-1.0, "0.0 s"),
            (f64::NAN, "0.0 s"),
        ] {
            assert_eq!(seconds(given), shown, "{given}");
        }
    }

    #[test]
    fn one_thing_is_not_many() {
        assert_eq!(count(1, "build"), "1 build");
        assert_eq!(count(0, "build"), "0 builds");
    }
}

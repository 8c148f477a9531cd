//! The terminal output.

use crate::samples;
use explain::answer::Answer;
use proptest::prelude::*;
use report::Style;
use report::terminal::render;

fn plain(answer: &Answer) -> String {
    render(answer, &Style::default())
}

/// The text without escape codes; panics on any code that is not a colour.
fn uncoloured(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (codes, rest) = part.strip_prefix('[').unwrap().split_once('m').unwrap();
        assert!(codes.chars().all(|c| c.is_ascii_digit() || c == ';'), "{codes}");
        plain.push_str(rest);
    }
    plain
}

#[test]
fn running_example() {
    insta::assert_snapshot!(plain(&samples::running()));
}

#[test]
fn not_verified() {
    insta::assert_snapshot!(plain(&samples::unverified()));
}

#[test]
fn crash_with_auxiliary_changes() {
    insta::assert_snapshot!(plain(&samples::crash()));
}

#[test]
fn hang() {
    insta::assert_snapshot!(plain(&samples::hang()));
}

#[test]
fn output_that_differs() {
    insta::assert_snapshot!(plain(&samples::output(false)));
}

#[test]
fn output_that_is_missing() {
    insta::assert_snapshot!(plain(&samples::output(true)));
}

#[test]
fn a_long_chain_is_shortened() {
    insta::assert_snapshot!(render(&samples::chain(300), &Style { causes: 8, ..Style::default() }));
}

#[test]
fn a_bush_is_shortened() {
    insta::assert_snapshot!(render(&samples::bush(5000), &Style { causes: 12, ..Style::default() }));
}

#[test]
fn nothing_to_say() {
    insta::assert_snapshot!(plain(&samples::blank()));
}

#[test]
fn in_ascii() {
    insta::assert_snapshot!(render(&samples::crash(), &Style { ascii: true, ..Style::default() }));
}

#[test]
fn in_a_narrow_window() {
    insta::assert_snapshot!(render(&samples::crash(), &Style { width: 60, ..Style::default() }));
}

#[test]
fn in_colour() {
    let text = render(&samples::running(), &Style { colour: true, ..Style::default() });
    insta::assert_snapshot!(text.replace('\x1b', "ESC"));
}

#[test]
fn hostile_text_stays_text() {
    insta::assert_snapshot!(plain(&samples::hostile()));
}

#[test]
fn the_first_line_is_the_verdict() {
    for (name, answer) in samples::all() {
        let text = plain(&answer);
        let expected = if answer.verified { "verified: " } else { "NOT VERIFIED: " };
        assert!(text.starts_with(expected), "{name}: {text}");
    }
}

#[test]
fn both_versions_values_are_side_by_side() {
    assert!(plain(&samples::running()).contains("sum  good 4, bad 1"));
}

#[test]
fn colour_adds_nothing_but_colour() {
    for (name, answer) in samples::all() {
        let style = Style { colour: true, ..Style::default() };
        assert_eq!(uncoloured(&render(&answer, &style)), plain(&answer), "{name}");
    }
}

#[test]
fn lines_fit_and_carry_nothing_dangerous() {
    for (name, answer) in samples::all() {
        for width in [30, 60, 80, 132] {
            for ascii in [false, true] {
                let text = render(&answer, &Style { width, ascii, ..Style::default() });
                assert!(!ascii || text.is_ascii(), "{name} has more than ASCII");
                assert!(text.ends_with('\n'));
                // The verdict may be longer, and commands: they are never cut.
                let commands: Vec<String> =
                    answer.further.iter().map(|further| format!("    {}", further.command)).collect();
                for line in text.lines().skip(1).filter(|line| !commands.iter().any(|c| c == line)) {
                    let wide = unicode_width::UnicodeWidthStr::width(line);
                    assert!(wide <= width, "{name}: {wide} > {width}: {line}");
                    assert!(!line.chars().any(char::is_control), "{name}: {line:?}");
                    assert_eq!(line.trim_end(), line, "{name}");
                }
            }
        }
    }
}

#[test]
fn long_reports_stay_short() {
    for answer in [samples::bush(5000), samples::chain(300)] {
        assert!(plain(&answer).lines().count() < 300);
    }
}

#[test]
fn one_line_for_logs() {
    insta::assert_snapshot!(
        samples::all().iter().map(|(_, answer)| report::summary_line(answer)).collect::<Vec<_>>().join("\n")
    );
    for (name, answer) in samples::all() {
        assert!(!report::summary_line(&answer).chars().any(char::is_control), "{name}");
    }
}

proptest! {
    #[test]
    fn no_answer_panics(what in ".*", text in ".*", column in any::<u32>(), line in any::<u32>(),
                        old in proptest::collection::vec(".*", 0..4), width in 0usize..140) {
        // Commands are never cut.
        let mut answer = Answer { further: Vec::new(), ..samples::running() };
        let cause = &mut answer.causes[0];
        cause.what = what.clone();
        cause.place = Some(samples::place(&what, line, column, &text, &text));
        answer.observation.place = cause.place.clone();
        answer.observation.summary = text.clone();
        answer.root[0].old_text = old;
        answer.root[0].new_text = vec![text.clone(), what.clone()];
        answer.root[0].old_start = line;
        answer.root[0].new_start = column;
        answer.observation.output = Some(explain::answer::OutputDifference {
            sink: what.clone(), offset: 0, line: 1, good: text.clone(), bad: what.clone(),
        });
        let page = render(&answer, &Style { width, ..Style::default() });
        prop_assert!(!page.chars().any(|c| c.is_control() && c != '\n'));
        for line in page.lines().skip(1) {
            prop_assert!(unicode_width::UnicodeWidthStr::width(line) <= width.max(30), "{}", line);
        }
    }
}

//! A change as the lines of a diff.

use explain::answer::Hunk;

/// The versions that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Both,
    Good,
    Bad,
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub side: Side,
    /// Line number in good, from 1.
    pub old: Option<u32>,
    pub new: Option<u32>,
    pub text: &'a str,
    /// The line is on the chain of causes.
    pub guilty: bool,
    /// The line that it replaces or is replaced by, if both sides have the same number of lines.
    pub partner: Option<&'a str>,
}

/// Part of a shortened diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    Line(Line<'a>),
    /// The number of lines left out.
    LeftOut(usize),
}

/// The lines of a change with their unchanged context.
#[must_use]
pub fn lines(hunk: &Hunk) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    // For a side without lines, `start` is the line *before* the change.
    let first = |start: u32, own: &[String]| if own.is_empty() { start.saturating_add(1) } else { start };
    let (old, new) = (first(hunk.old_start, &hunk.old_text), first(hunk.new_start, &hunk.new_text));
    let before = offset(hunk.before.len());
    for (index, text) in hunk.before.iter().enumerate() {
        let back = before - offset(index);
        let number = |first: u32| first.checked_sub(back).filter(|&number| number > 0);
        lines.push(both(number(old), number(new), text));
    }
    let paired = hunk.old_text.len() == hunk.new_text.len();
    for (index, text) in hunk.old_text.iter().enumerate() {
        lines.push(Line {
            side: Side::Good,
            old: Some(old.saturating_add(offset(index))),
            new: None,
            text,
            guilty: hunk.guilty_old.contains(&offset(index)),
            partner: hunk.new_text.get(index).filter(|_| paired).map(String::as_str),
        });
    }
    for (index, text) in hunk.new_text.iter().enumerate() {
        lines.push(Line {
            side: Side::Bad,
            old: None,
            new: Some(new.saturating_add(offset(index))),
            text,
            guilty: hunk.guilty_new.contains(&offset(index)),
            partner: hunk.old_text.get(index).filter(|_| paired).map(String::as_str),
        });
    }
    let (old, new) =
        (old.saturating_add(offset(hunk.old_text.len())), new.saturating_add(offset(hunk.new_text.len())));
    for (index, text) in hunk.after.iter().enumerate() {
        lines.push(both(
            Some(old.saturating_add(offset(index))),
            Some(new.saturating_add(offset(index))),
            text,
        ));
    }
    lines
}

fn both(old: Option<u32>, new: Option<u32>, text: &str) -> Line<'_> {
    Line { side: Side::Both, old, new, text, guilty: false, partner: None }
}

fn offset(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// At most about `limit` lines: first those on the chain of causes and their neighbours, then changed
/// lines from the beginning.
#[must_use]
pub fn shorten(lines: Vec<Line<'_>>, limit: usize) -> Vec<Part<'_>> {
    if lines.len() <= limit {
        return lines.into_iter().map(Part::Line).collect();
    }
    let mut keep = vec![false; lines.len()];
    let mut left = limit;
    let mut take = |keep: &mut Vec<bool>, index: usize| {
        if left > 0 && index < keep.len() && !keep[index] {
            keep[index] = true;
            left -= 1;
        }
    };
    let guilty: Vec<usize> = (0..lines.len()).filter(|&index| lines[index].guilty).collect();
    for &index in &guilty {
        take(&mut keep, index);
    }
    for &index in &guilty {
        for near in [index.wrapping_sub(1), index + 1] {
            take(&mut keep, near);
        }
    }
    let first = lines.iter().position(|line| line.side != Side::Both).unwrap_or(0);
    for index in (first.saturating_sub(1)..lines.len()).chain(0..first) {
        take(&mut keep, index);
    }
    let mut parts = Vec::new();
    for (line, keep) in lines.into_iter().zip(keep) {
        match parts.last_mut() {
            _ if keep => parts.push(Part::Line(line)),
            Some(Part::LeftOut(count)) => *count += 1,
            _ => parts.push(Part::LeftOut(1)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strings(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|&line| line.to_owned()).collect()
    }

    fn numbers(hunk: &Hunk) -> Vec<(Option<u32>, Option<u32>)> {
        lines(hunk).iter().map(|line| (line.old, line.new)).collect()
    }

    #[test]
    fn replaced_lines_are_numbered_on_their_sides() {
        let hunk = Hunk {
            old_start: 5,
            new_start: 7,
            old_text: strings(&["a"]),
            new_text: strings(&["b", "c"]),
            before: strings(&["x"]),
            after: strings(&["y"]),
            ..Hunk::default()
        };
        assert_eq!(
            numbers(&hunk),
            [(Some(4), Some(6)), (Some(5), None), (None, Some(7)), (None, Some(8)), (Some(6), Some(9))]
        );
    }

    #[test]
    fn an_insertion_stands_after_its_old_line() {
        let hunk = Hunk {
            old_start: 5,
            new_start: 6,
            new_text: strings(&["b"]),
            before: strings(&["x"]),
            after: strings(&["y"]),
            ..Hunk::default()
        };
        assert_eq!(numbers(&hunk), [(Some(5), Some(5)), (None, Some(6)), (Some(6), Some(7))]);
    }

    #[test]
    fn guilty_lines_survive_shortening() {
        let text: Vec<String> = (0..500).map(|n| format!("line {n}")).collect();
        let hunk = Hunk {
            new_start: 1,
            new_text: text,
            guilty_new: vec![321],
            before: strings(&["x"]),
            ..Hunk::default()
        };
        let parts = shorten(lines(&hunk), 12);
        assert!(
            parts
                .iter()
                .any(|part| matches!(part, Part::Line(line) if line.text == "line 321" && line.guilty))
        );
        assert_eq!(parts.iter().filter(|part| matches!(part, Part::Line(_))).count(), 12);
    }

    proptest! {
        #[test]
        fn shortening_loses_no_line_without_saying_so(
            count in 0u32..60, guilty in proptest::collection::vec(0u32..60, 0..5), limit in 0usize..70
        ) {
            let hunk = Hunk {
                new_start: 1,
                new_text: (0..count).map(|n| n.to_string()).collect(),
                guilty_new: guilty,
                ..Hunk::default()
            };
            let all = lines(&hunk);
            let mut expected = all.iter();
            let mut shown = 0;
            for part in shorten(all.clone(), limit) {
                match part {
                    Part::Line(line) => {
                        prop_assert_eq!(Some(&line), expected.next());
                        shown += 1;
                    }
                    Part::LeftOut(count) => {
                        prop_assert!(count > 0);
                        prop_assert!(expected.nth(count - 1).is_some());
                    }
                }
            }
            prop_assert!(expected.next().is_none());
            prop_assert_eq!(shown, limit.min(all.len()));
        }
    }
}

//! Inputs close to a failing one: small mutations.
//!
//! Without a suite, inputs that differ a little from the failing one are the pool: most of them take nearly
//! the same path, and some pass. Numbers are changed first, because tests mostly fail for values. Then words,
//! lines and bytes are removed or repeated, as in delta debugging (Zeller and Hildebrandt, *Simplifying and
//! Isolating Failure-Inducing Input*).

use std::collections::BTreeSet;

/// An input, and a description of its mutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The description of the mutation, such as `byte 3 twice`.
    pub what: String,
    /// The whole mutated input.
    pub bytes: Vec<u8>,
}

/// Maximum length of inputs that are mutated byte by byte.
const MAX_BYTEWISE: usize = 48;

/// At most `most` mutations of an input, the smallest first, all distinct.
#[must_use]
pub fn mutations(input: &[u8], most: usize) -> Vec<Mutation> {
    let mut list = Mutations { input, most, seen: BTreeSet::from([input.to_vec()]), list: Vec::new() };
    let words = words(input);
    for (from, to) in &words {
        list.number(*from, *to);
    }
    let lines = lines(input);
    if lines.len() > 1 {
        list.leave_out(&lines, "line");
    }
    list.leave_out(&words, "word");
    for pair in words.windows(2) {
        list.exchange(pair[0], pair[1], "words");
    }
    for pair in lines.windows(2) {
        list.exchange(pair[0], pair[1], "lines");
    }
    if input.len() <= MAX_BYTEWISE {
        let bytes: Vec<(usize, usize)> = (0..input.len()).map(|at| (at, at + 1)).collect();
        list.leave_out(&bytes, "byte");
        for &(at, _) in &bytes {
            list.byte(at);
        }
        for &(from, to) in &bytes {
            let twice = [&input[..to], &input[from..]].concat();
            list.add(format!("byte {} twice", at_one(from)), twice);
        }
    }
    for &(from, to) in &lines {
        let twice = [&input[..to], &input[from..]].concat();
        list.add(format!("line at byte {} twice", at_one(from)), twice);
    }
    list.list
}

fn at_one(at: usize) -> usize {
    at + 1
}

struct Mutations<'i> {
    input: &'i [u8],
    most: usize,
    seen: BTreeSet<Vec<u8>>,
    list: Vec<Mutation>,
}

impl Mutations<'_> {
    fn add(&mut self, what: String, bytes: Vec<u8>) {
        if self.list.len() < self.most && self.seen.insert(bytes.clone()) {
            self.list.push(Mutation { what, bytes });
        }
    }

    fn replace(&mut self, from: usize, to: usize, with: &[u8]) {
        let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let what = format!("`{}` for `{}`", show(with), show(&self.input[from..to]));
        self.add(what, [&self.input[..from], with, &self.input[to..]].concat());
    }

    /// Replaces a number by close ones.
    fn number(&mut self, from: usize, to: usize) {
        let Some(number) =
            std::str::from_utf8(&self.input[from..to]).ok().and_then(|t| t.parse::<i64>().ok())
        else {
            return;
        };
        let near = [number.checked_sub(1), number.checked_add(1), Some(0), Some(1), Some(number / 2)];
        let far =
            [number.checked_mul(2), number.checked_neg(), number.checked_add(10), number.checked_sub(10)];
        for other in near.into_iter().chain(far).flatten() {
            self.replace(from, to, other.to_string().as_bytes());
        }
    }

    /// Removes single parts, then chunks of doubling sizes.
    fn leave_out(&mut self, parts: &[(usize, usize)], name: &str) {
        let mut size = 1;
        let mut sizes = vec![];
        while size <= parts.len() {
            sizes.push(size);
            size *= 2;
        }
        for size in sizes {
            for chunk in parts.chunks(size) {
                let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { continue };
                let what = match chunk.len() {
                    1 if name == "byte" => format!("byte {} left out", at_one(first.0)),
                    1 => format!("the {name} at byte {} left out", at_one(first.0)),
                    n => format!("{n} {name}s from byte {} left out", at_one(first.0)),
                };
                self.add(what, [&self.input[..first.0], &self.input[last.1..]].concat());
            }
        }
    }

    fn exchange(&mut self, one: (usize, usize), other: (usize, usize), name: &str) {
        let input = self.input;
        let parts = [
            &input[..one.0],
            &input[other.0..other.1],
            &input[one.1..other.0],
            &input[one.0..one.1],
            &input[other.1..],
        ];
        self.add(format!("{name} at byte {} exchanged", at_one(one.0)), parts.concat());
    }

    /// Replaces a byte by ones that often change its class.
    fn byte(&mut self, at: usize) {
        let byte = self.input[at];
        let others = [byte.wrapping_add(1), byte.wrapping_sub(1), b' ', b'0', b'a', b'\n'];
        for other in others.into_iter().filter(|other| other.is_ascii() && *other != 0) {
            self.replace(at, at + 1, &[other]);
        }
    }
}

/// Runs of letters and digits (a sign belongs to its number), and single other characters.
pub(crate) fn words(input: &[u8]) -> Vec<(usize, usize)> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < input.len() {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        let sign = matches!(input[at], b'-' | b'+') && input.get(at + 1).is_some_and(u8::is_ascii_digit);
        let from = at;
        if sign || is_word(input[at]) {
            at += 1;
            while at < input.len() && is_word(input[at]) {
                at += 1;
            }
            list.push((from, at));
        } else {
            at += 1;
            if !input[from].is_ascii_whitespace() {
                list.push((from, at));
            }
        }
    }
    list
}

/// Lines, including their line ends.
pub(crate) fn lines(input: &[u8]) -> Vec<(usize, usize)> {
    let mut from = 0;
    input
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            from += line.len();
            (from - line.len(), from)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_come_first() {
        let list = mutations(b"add 7\nsub -2\n", 100);
        assert_eq!(list[0], Mutation { what: "`6` for `7`".to_owned(), bytes: b"add 6\nsub -2\n".to_vec() });
        assert!(list.iter().any(|m| m.bytes == b"add 7\nsub -1\n"));
        assert!(list.iter().any(|m| m.bytes == b"sub -2\n" && m.what == "the line at byte 1 left out"));
        assert!(list.iter().any(|m| m.bytes == b"sub -2\nadd 7\n"));
    }

    proptest! {
        #[test]
        fn mutations_are_other_inputs(input in prop::collection::vec(any::<u8>(), 0..60), most in 0usize..80) {
            let list = mutations(&input, most);
            prop_assert!(list.len() <= most);
            let all: BTreeSet<&Vec<u8>> = list.iter().map(|m| &m.bytes).collect();
            prop_assert_eq!(all.len(), list.len());
            prop_assert!(!all.contains(&input));
        }
    }
}

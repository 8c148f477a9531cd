//! Mutations of inputs, for runs of the plain builds.
//!
//! The small deterministic mutations of `locate::perturb` come first. Then random ones follow without limit:
//! bytes overwritten, inserted, removed and repeated, parts of other inputs spliced in, and tokens of the
//! sources (constants and strings) inserted. A fixed seed makes a session repeatable.

use std::collections::BTreeSet;
use std::path::Path;

/// A small generator of pseudo-random numbers (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator with a seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number; all 64 bits are random.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.draw() >> 33) as usize % limit.max(1)
    }
}

/// Maximum length of an input.
const MAX_LENGTH: usize = 1 << 14;
/// Maximum number of mutations that are combined.
const MAX_STACKED: usize = 4;

/// One random mutation of some bytes. `others` are inputs to take parts of.
#[must_use]
pub fn mutated(bytes: &[u8], others: &[Vec<u8>], words: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(MAX_STACKED) {
        one(&mut bytes, others, words, random);
    }
    bytes.truncate(MAX_LENGTH);
    bytes
}

fn one(bytes: &mut Vec<u8>, others: &[Vec<u8>], words: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let to = (at + 1 + random.below(8)).min(bytes.len());
    match random.below(11) {
        0 if at < bytes.len() => bytes[at] = random.draw() as u8,
        1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        2 if at < bytes.len() => bytes[at] = bytes[at].wrapping_add(random.below(5) as u8).wrapping_sub(2),
        3 => bytes.insert(at, printable(random)),
        4 if at < to => drop(bytes.drain(at..to)),
        5 if at < to => {
            let part = bytes[at..to].to_vec();
            bytes.splice(at..at, part);
        }
        6 | 7 if !words.is_empty() => {
            let word = words[random.below(words.len())].clone();
            let end = if random.below(2) == 0 { at } else { (at + word.len()).min(bytes.len()) };
            bytes.splice(at..end, word);
        }
        8 if !others.is_empty() => {
            let other = &others[random.below(others.len())];
            let from = random.below(other.len() + 1);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        9 => number(bytes, random),
        _ if at < bytes.len() => bytes[at] = printable(random),
        _ => bytes.push(printable(random)),
    }
}

fn printable(random: &mut Random) -> u8 {
    const PRINTABLE: &[u8] = b"0123456789 \n-+*/()[]{}<>=!&|^%,;:.\"'\\abcxyzABCXYZ_#@$~?\t";
    PRINTABLE[random.below(PRINTABLE.len())]
}

/// Replaces a number by another one.
fn number(bytes: &mut Vec<u8>, random: &mut Random) {
    let numbers: Vec<(usize, usize)> = runs_of_digits(bytes);
    let Some(&(from, to)) = numbers.get(random.below(numbers.len().max(1))) else { return };
    let old = std::str::from_utf8(&bytes[from..to]).ok().and_then(|t| t.parse::<i64>().ok()).unwrap_or(0);
    let new = match random.below(6) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => random.below(12) as i64,
        3 => old.wrapping_mul(2),
        4 => random.below(300) as i64,
        _ => [i64::from(i32::MAX), -1, 255, 256, 65_536, 100, 1000][random.below(7)],
    };
    bytes.splice(from..to, new.to_string().into_bytes());
}

fn runs_of_digits(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let from = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        if at > from {
            list.push((from, at));
        } else {
            at += 1;
        }
    }
    list
}

/// Tokens of C sources: strings, characters and numbers, each once.
#[must_use]
pub fn words<'p>(files: impl IntoIterator<Item = &'p Path>) -> Vec<Vec<u8>> {
    const MOST: usize = 4000;
    let mut words = BTreeSet::new();
    for file in files {
        let text = std::fs::read(file).unwrap_or_default();
        scan(&text, &mut words);
        if words.len() > MOST {
            break;
        }
    }
    words.into_iter().collect()
}

fn scan(text: &[u8], words: &mut BTreeSet<Vec<u8>>) {
    const LONG: usize = 24;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            quote @ (b'"' | b'\'') => {
                let mut word = Vec::new();
                at += 1;
                while at < text.len() && text[at] != quote && text[at] != b'\n' {
                    if text[at] == b'\\' && at + 1 < text.len() {
                        at += 1;
                        word.push(match text[at] {
                            b'n' => b'\n',
                            b't' => b'\t',
                            b'r' => b'\r',
                            b'0' => 0,
                            other => other,
                        });
                    } else {
                        word.push(text[at]);
                    }
                    at += 1;
                }
                at += 1;
                if !word.is_empty() && word.len() <= LONG {
                    words.insert(word);
                }
            }
            b'0'..=b'9' => {
                let from = at;
                while at < text.len() && text[at].is_ascii_alphanumeric() {
                    at += 1;
                }
                add_number(&text[from..at], words);
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                while at < text.len() && (text[at].is_ascii_alphanumeric() || text[at] == b'_') {
                    at += 1;
                }
            }
            _ => at += 1,
        }
    }
}

fn add_number(text: &[u8], words: &mut BTreeSet<Vec<u8>>) {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let text = text.trim_end_matches(['u', 'l']);
    let value = match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse::<i64>().ok(),
    };
    let Some(value) = value else { return };
    for near in [value, value.saturating_sub(1), value.saturating_add(1)] {
        words.insert(near.to_string().into_bytes());
    }
    if let Ok(byte) = u8::try_from(value) {
        words.insert(vec![byte]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_source_are_its_constants() {
        let mut words = BTreeSet::new();
        scan(b"if (x1 > 20 && !strcmp(s, \"end\\n\") || c == 'q') y2 = 0x10;", &mut words);
        for word in [&b"20"[..], b"19", b"21", b"end\n", b"q", b"16"] {
            assert!(words.contains(word), "{word:?}");
        }
        assert!(!words.contains(&b"1"[..]) && !words.contains(&b"2"[..]));
    }

    #[test]
    fn the_same_seed_gives_the_same_mutations() {
        let run = |seed| {
            let mut random = Random::new(seed);
            (0..50)
                .map(|_| mutated(b"12 34", &[b"other".to_vec()], &[b"word".to_vec()], &mut random))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
        let lengths: BTreeSet<usize> = run(3).iter().map(Vec::len).collect();
        assert!(lengths.len() > 3, "inputs grow and shrink: {lengths:?}");
    }
}

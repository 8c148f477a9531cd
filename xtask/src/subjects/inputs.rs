//! Inputs of the workloads, the same on every machine.

use std::fmt::Write;

/// A small pseudorandom number generator with a fixed sequence.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

const SYLLABLES: [&str; 16] =
    ["ba", "con", "di", "er", "fu", "gra", "he", "in", "ka", "lo", "men", "no", "per", "sti", "tu", "vel"];

/// Text with sentences, numbers, repeated words and brackets: `length` bytes or a few more. Word frequencies
/// are skewed, as in real text.
pub fn prose(length: usize) -> String {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let vocabulary: Vec<String> = (0..2000)
        .map(|_| (0..1 + dice.roll(4)).map(|_| SYLLABLES[dice.roll(16) as usize]).collect())
        .collect();
    let mut text = String::with_capacity(length + 100);
    let mut sentence_start = true;
    while text.len() < length {
        let reach = 1 + dice.roll(2000);
        let word = &vocabulary[dice.roll(reach) as usize];
        if sentence_start {
            let (first, rest) = word.split_at(1);
            text.push_str(&first.to_uppercase());
            text.push_str(rest);
        } else {
            text.push_str(word);
        }
        sentence_start = false;
        match dice.roll(40) {
            0 => {
                text.push_str(".\n");
                sentence_start = true;
            }
            1 => {
                let _ = write!(text, " {}.{} ", dice.roll(1000), dice.roll(100));
            }
            2 => {
                let _ = write!(text, " (the {word} (an xxy)) ");
            }
            3 => {
                let _ = write!(text, " {word} ");
            }
            4 => text.push_str(" the "),
            _ => text.push(' '),
        }
    }
    text.push('\n');
    text
}

/// A JSON array of `count` people.
pub fn people(count: usize) -> String {
    const PLACES: [&str; 6] = ["Berlin", "Cairo", "Lima", "Oslo", "Quito", "Tokyo"];
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut text = String::from("[\n");
    for id in 0..count {
        let mut name = || {
            let word: String = (0..2 + dice.roll(2)).map(|_| SYLLABLES[dice.roll(16) as usize]).collect();
            let (first, rest) = word.split_at(1);
            format!("{}{rest}", first.to_uppercase())
        };
        let name = format!("{} {}", name(), name());
        let _ = write!(
            text,
            "{}{{\"id\":{id},\"name\":\"{name}\",\"place\":\"{}\",\"age\":{},\"score\":{}.{:02},\"tags\":[\"t{}\",\"t{}\"]}}",
            if id == 0 { "" } else { ",\n" },
            PLACES[dice.roll(6) as usize],
            dice.roll(90),
            dice.roll(500),
            dice.roll(100),
            dice.roll(9),
            dice.roll(30),
        );
    }
    text.push_str("\n]\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_never_change() {
        assert_eq!(prose(5000), prose(5000));
        assert!((5000..5100).contains(&prose(5000).len()));
        let json: serde_json::Value = serde_json::from_str(&people(50)).unwrap();
        assert_eq!(json.as_array().unwrap().len(), 50);
    }
}

//! The Test Anything Protocol: `1..3`, `ok 1 - name`, `not ok 2 # TODO later`, `Bail out!`.

/// The test results in a program's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tap {
    /// The planned number of tests, if the output has it.
    pub planned: Option<usize>,
    /// Number of tests with results.
    pub results: usize,
    /// The first test that failed: the offset of its line, and the line.
    pub failed: Option<(u64, String)>,
    /// Whether the program aborted the tests.
    pub bailed_out: bool,
}

impl Tap {
    /// Parses an output. `None` if it has no line of this protocol.
    #[must_use]
    pub fn read(output: &[u8]) -> Option<Tap> {
        let mut tap = Tap::default();
        let mut known = false;
        let mut offset = 0;
        for line in output.split_inclusive(|byte| *byte == b'\n') {
            let text = String::from_utf8_lossy(line);
            let text = text.trim_end();
            if let Some(count) = text.strip_prefix("1..") {
                tap.planned = count.split(' ').next().and_then(|count| count.parse().ok()).or(tap.planned);
                known |= tap.planned.is_some();
            } else if is_result(text, "ok") {
                known = true;
                tap.results += 1;
            } else if is_result(text, "not ok") {
                known = true;
                tap.results += 1;
                if !is_excused(text) && tap.failed.is_none() {
                    tap.failed = Some((offset, text.to_owned()));
                }
            } else if text.starts_with("Bail out!") {
                known = true;
                tap.bailed_out = true;
            }
            offset += line.len() as u64;
        }
        known.then_some(tap)
    }

    /// Whether all planned tests passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        let complete = self.planned.is_none_or(|planned| planned == self.results);
        self.failed.is_none() && !self.bailed_out && complete
    }
}

fn is_result(line: &str, word: &str) -> bool {
    line.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// An expected failure does not count.
fn is_excused(line: &str) -> bool {
    let directive = line.rsplit_once('#').map(|(_, directive)| directive.trim_start().to_ascii_lowercase());
    directive.is_some_and(|directive| directive.starts_with("todo") || directive.starts_with("skip"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_has_a_place() {
        let tap = Tap::read(b"1..3\nok 1\nnot ok 2 - sum # TODO\nnot ok 3 - product\n").unwrap();
        assert_eq!(tap.failed, Some((32, "not ok 3 - product".to_owned())));
        assert!(!tap.passed());
    }

    #[test]
    fn missing_results_fail() {
        assert!(Tap::read(b"1..2\nok 1\nok 2 # skip no tty\n").unwrap().passed());
        assert!(!Tap::read(b"1..2\nok 1\n").unwrap().passed());
        assert!(!Tap::read(b"ok 1\nBail out! no database\n").unwrap().passed());
        assert_eq!(Tap::read(b"okay, nothing of it\n1. ok\n"), None);
    }
}

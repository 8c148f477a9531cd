//! The last lines that a test wrote to standard error.

/// The last lines that a run wrote to standard error.
#[must_use]
pub fn of(run: &trials::TestRun) -> Vec<String> {
    const LINES: usize = 10;
    let stderr = run.observed.outputs.iter().find(|output| output.name == "stderr");
    let text = stderr.map_or(&[][..], |output| output.content.text());
    words_at_the_end(&String::from_utf8_lossy(text), LINES)
}

/// The last lines; for a sanitizer's report, those before its memory dump.
fn words_at_the_end(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let is_report = lines.iter().any(|line| line.contains("Sanitizer"));
    if let Some(summary) = lines.iter().rposition(|line| is_report && line.starts_with("SUMMARY: ")) {
        lines.truncate(summary + 1);
    }
    lines[lines.len().saturating_sub(most)..].iter().map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_a_sanitizer_are_its_summary() {
        let report = "==1==ERROR: AddressSanitizer: heap-use-after-free\n    #0 f\n\nSUMMARY: AddressSanitizer: \
                      heap-use-after-free a.c:3 in f\nShadow bytes:\n  fa fa\n==1==ABORTING\n";
        let said = words_at_the_end(report, 2);
        assert_eq!(said, ["", "SUMMARY: AddressSanitizer: heap-use-after-free a.c:3 in f"]);
        assert_eq!(words_at_the_end("SUMMARY: 3 tests\nlast\n", 1), ["last"]);
    }
}

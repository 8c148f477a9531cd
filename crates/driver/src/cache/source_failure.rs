//! Failed compilations that would fail again.
//!
//! A source with errors fails every time. A compiler that was killed, ran out of memory or could
//! not write its product may succeed on the next attempt: such a failure is not cached. Clang exits
//! with 1 in either case, so its diagnostics decide: every error must have a source location, and
//! the output must end with the error count.

/// Whether this is the output of a completed compilation that failed because of its source.
pub fn is_source_failure(code: i32, said: &[u8]) -> bool {
    if code != 1 {
        return false;
    }
    let text = without_colours(&String::from_utf8_lossy(said));
    let mut lines = text.lines().rev().skip_while(|line| line.trim().is_empty());
    let counted = lines.next().is_some_and(is_count);
    let mut located = false;
    for line in text.lines() {
        match error_has_location(line) {
            Some(true) => located = true,
            Some(false) => return false,
            None => {}
        }
    }
    counted && located
}

/// For a line with an error: whether the error has a source location.
fn error_has_location(line: &str) -> Option<bool> {
    if line == "fatal error: too many errors emitted, stopping now [-ferror-limit=]" {
        return None;
    }
    let at = ["fatal error: ", "error: "].iter().find_map(|word| line.find(word))?;
    let before = &line[..at];
    // In quoted source lines of a diagnostic a bar precedes the source text.
    if before.contains('|') {
        return None;
    }
    if before.is_empty() {
        return Some(false);
    }
    let place = before.strip_suffix(": ")?;
    let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    let mut parts = place.rsplitn(3, ':');
    let has_place = is_number(parts.next()) && is_number(parts.next());
    Some(has_place)
}

/// `1 error generated.`, `2 warnings and 3 errors generated.`
fn is_count(line: &str) -> bool {
    let Some(counts) = line.strip_suffix(" generated.") else { return false };
    let last = counts.rsplit(" and ").next().unwrap_or(counts);
    last.split_once(' ')
        .is_some_and(|(number, what)| number.parse::<u32>().is_ok() && matches!(what, "error" | "errors"))
}

/// Removes terminal colour sequences.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        out.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map_or(sequence.len(), |end| end + 1);
        rest = &sequence[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_source_are_refusals() {
        for text in [
            "a.c:1:5: error: expected ')'\n    1 | int f( {\n      |       ^\n1 error generated.\n",
            "a.c:1:5: warning: x\nb.h:2:1: error: \"error: no\" [-Werror,-Wx]\n1 warning and 1 error generated.\n",
            "a.c:9:9: fatal error: stop\n2 errors generated.\n\n",
            "a.c:1:1: error: x\nfatal error: too many errors emitted, stopping now [-ferror-limit=]\n20 errors generated.\n",
            "\x1b[1ma.c:1:5: \x1b[0m\x1b[0;1;31merror: \x1b[0m\x1b[1mexpected ')'\x1b[0m\n1 error generated.\n",
            "a.c:1:1: error: x\n    4 | puts(\"error: unlocated\");\n1 error generated.\n",
        ] {
            assert!(is_source_failure(1, text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn bad_luck_is_none() {
        let ordinary = "a.c:1:5: error: x\n1 error generated.\n";
        for code in [0, 2, 137, 139, 254] {
            assert!(!is_source_failure(code, ordinary.as_bytes()), "{code}");
        }
        for text in [
            "",
            "a.c:1:5: error: x\n",
            "error: unable to open output file 'a.o': 'No space left on device'\n1 error generated.\n",
            "a.c:1:5: error: x\nfatal error: error in backend: IO failure on output stream\n2 errors generated.\n",
            "LLVM ERROR: out of memory\nPLEASE submit a bug report\n",
            "clang: error: unable to execute command: Killed\n",
            "a.c:1:5: warning: x\nclang: error: clang frontend command failed due to signal\n1 error generated.\n",
        ] {
            assert!(!is_source_failure(1, text.as_bytes()), "{text}");
        }
    }
}

//! Differences between outputs, and their descriptions.

use crate::answer::OutputDifference;
use std::fmt::Write as _;

/// Lines are shown up to this many characters.
const SHOWN: usize = 200;

/// The offset of the first byte where two outputs differ; one may end there.
pub(super) fn first_difference(good: &[u8], bad: &[u8]) -> Option<usize> {
    let same = good.iter().zip(bad).take_while(|(a, b)| a == b).count();
    (same < good.len() || same < bad.len()).then_some(same)
}

/// The difference at a byte, with the lines that contain it.
pub(super) fn difference(sink: &str, good: &[u8], bad: &[u8], offset: usize) -> OutputDifference {
    OutputDifference {
        sink: sink.to_owned(),
        offset: offset as u64,
        line: 1 + bad[..offset.min(bad.len())].iter().filter(|b| **b == b'\n').count() as u64,
        good: show(line_around(good, offset)),
        bad: show(line_around(bad, offset)),
    }
}

/// The line that contains the byte; empty past the end of the output.
fn line_around(text: &[u8], offset: usize) -> &[u8] {
    let Some((before, after)) = text.split_at_checked(offset) else { return &[] };
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let end = offset + after.iter().position(|b| *b == b'\n').unwrap_or(after.len());
    &text[start..end]
}

/// Text as it is; `\xNN` for what is not text.
pub(super) fn show(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\t' => out.push(c),
                c if c.is_control() => {
                    let _ = write!(out, "\\x{:02x}", c as u32);
                }
                c => out.push(c),
            }
        }
        for b in chunk.invalid() {
            let _ = write!(out, "\\x{b:02x}");
        }
    }
    if out.chars().count() > SHOWN {
        out = out.chars().take(SHOWN).collect::<String>() + "...";
    }
    out
}

/// "stdout differs in line 3: good printed `total 12`, bad printed `total 10`"
pub(super) fn output_sentence(sink: &str, d: &OutputDifference, good: &[u8], bad: &[u8]) -> String {
    let ends = |text: &[u8]| d.offset >= text.len() as u64;
    let verb = if matches!(&*d.sink, "stdout" | "stderr") { "printed" } else { "wrote" };
    match (ends(good), ends(bad)) {
        (false, true) if d.bad.is_empty() => {
            format!("{sink} ends before line {}: good {verb} `{}`, bad nothing more", d.line, d.good)
        }
        (true, false) if d.good.is_empty() => {
            format!("{sink} has more than it should from line {}: bad {verb} `{}`", d.line, d.bad)
        }
        _ if d.good == d.bad => {
            format!("{sink} differs in line {}, in its line end or the bytes around it: `{}`", d.line, d.bad)
        }
        _ => format!("{sink} differs in line {}: good {verb} `{}`, bad {verb} `{}`", d.line, d.good, d.bad),
    }
}

/// `SIGSEGV`
pub(super) fn signal_name(signal: u32) -> String {
    const NAMES: [&str; 32] = [
        "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU",
        "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    match NAMES.get(signal as usize) {
        Some(name) if signal > 0 => format!("SIG{name}"),
        _ => format!("signal {signal}"),
    }
}

/// How a run ended: `exit 0`, `killed by SIGSEGV`, `stopped after the time limit`.
pub(super) fn end_of(output: &super::RunOutput) -> String {
    match (output.timed_out, output.exit, output.signal) {
        (true, _, _) => "was stopped by the time limit".to_owned(),
        (_, Some(status), _) => format!("ended with exit status {status}"),
        (_, _, Some(signal)) => format!("was killed by {}", signal_name(signal.unsigned_abs())),
        _ => "ended in an unknown way".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(good: &str, bad: &str) -> String {
        let at = first_difference(good.as_bytes(), bad.as_bytes()).unwrap();
        let d = difference("stdout", good.as_bytes(), bad.as_bytes(), at);
        output_sentence("stdout", &d, good.as_bytes(), bad.as_bytes())
    }

    #[test]
    fn sentences_say_line_and_both_texts() {
        assert_eq!(
            sentence("a\nb\ntotal 12\n", "a\nb\ntotal 10\n"),
            "stdout differs in line 3: good printed `total 12`, bad printed `total 10`"
        );
        assert_eq!(
            sentence("a\nb\n", "a\n"),
            "stdout ends before line 2: good printed `b`, bad nothing more"
        );
        assert_eq!(sentence("", "x"), "stdout has more than it should from line 1: bad printed `x`");
        assert_eq!(sentence("ab", "abc"), "stdout differs in line 1: good printed `ab`, bad printed `abc`");
        assert_eq!(
            sentence("a\r\n", "a\n"),
            "stdout differs in line 1: good printed `a\\x0d`, bad printed `a`"
        );
    }

    #[test]
    fn equal_outputs_do_not_differ() {
        assert_eq!(first_difference(b"abc", b"abc"), None);
        assert_eq!(first_difference(b"", b""), None);
        assert_eq!(first_difference(b"abc", b"ab"), Some(2));
        assert_eq!(first_difference(b"xbc", b"abc"), Some(0));
    }

    #[test]
    fn what_is_not_text_is_spelled_out() {
        assert_eq!(show(b"a\xff\x00\xc3\xa9"), "a\\xff\\x00\u{e9}");
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(signal_name(11), "SIGSEGV");
        assert_eq!(signal_name(64), "signal 64");
    }
}

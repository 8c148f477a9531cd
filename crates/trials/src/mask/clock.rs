//! Dates and times of day in text.
//!
//! A time is one token: between two runs only its seconds may differ, and between these and a third one its
//! hours. So `Mon Nov 16 23:59:58 2026` is one token, which is masked as a whole.

use std::time::{SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const ZONES: [&str; 16] = [
    "UTC", "GMT", "CET", "CEST", "EET", "EEST", "BST", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST",
    "PDT", "JST",
];

/// Length of the date, the time of day, or both at `at`; 0 if there is none.
pub(super) fn timestamp(line: &[u8], at: usize) -> usize {
    if at > 0 && (line[at - 1].is_ascii_alphanumeric() || b"_:.-/".contains(&line[at - 1])) {
        return 0;
    }
    let rest = &line[at..];
    let (mut end, mut next) = (0, 0);
    let (mut clock, mut date, mut month, mut day) = (false, false, false, false);
    loop {
        let here = &rest[next..];
        let length = if let Some(n) = name(here, &DAYS) {
            if day || clock {
                break;
            }
            n.0
        } else if let Some(n) = name(here, &MONTHS) {
            month = true;
            n.0
        } else if let Some(n) = time_of_day(here).filter(|_| !clock) {
            clock = true;
            n
        } else if let Some(n) = calendar(here).filter(|_| !date) {
            date = true;
            n
        } else if clock && let Some(n) = zone(here) {
            n
        } else if month && digits(here) == 4 {
            4
        } else if !day && (1..=2).contains(&digits(here)) && (month || before_month(here)) {
            day = true;
            digits(here)
        } else {
            break;
        };
        end = next + length;
        next = end + rest[end..].iter().take_while(|b| b", ".contains(b)).count().min(3);
        if rest.get(end) == Some(&b'T') && date {
            next = end + 1;
        }
    }
    if clock || date || (month && day) { end } else { 0 }
}

fn digits(text: &[u8]) -> usize {
    let n = text.iter().take_while(|b| b.is_ascii_digit()).count();
    if text.get(n).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') { 0 } else { n }
}

/// A name in full or abbreviated to three letters: its length and index.
fn name(text: &[u8], names: &[&str]) -> Option<(usize, usize)> {
    let length = text.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    let word = text[..length].to_ascii_lowercase();
    let which = names.iter().position(|n| n.as_bytes() == word || n.as_bytes()[..3] == word)?;
    Some((length, which))
}

fn before_month(text: &[u8]) -> bool {
    let after = &text[digits(text)..];
    let blanks = after.iter().take_while(|b| b" -".contains(b)).count();
    (1..=2).contains(&blanks) && name(&after[blanks..], &MONTHS).is_some()
}

fn value(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// `H:MM`, `HH:MM:SS`, optionally with a fraction.
fn time_of_day(text: &[u8]) -> Option<usize> {
    let two = |at: usize| text.get(at..at + 2).and_then(value).filter(|v| *v < 61).is_some();
    let mut end = text.iter().take_while(|b| b.is_ascii_digit()).count();
    if !(1..=2).contains(&end) || text.get(end) != Some(&b':') || !two(end + 1) {
        return None;
    }
    end += 3;
    if text.get(end) == Some(&b':') && two(end + 1) {
        end += 3;
        let fraction = text.get(end + 1..).map_or(0, |t| t.iter().take_while(|b| b.is_ascii_digit()).count());
        if text.get(end).is_some_and(|b| b".,".contains(b)) && fraction > 0 {
            end += 1 + fraction;
        }
    }
    let follows = text.get(end);
    (!follows.is_some_and(|b| (b.is_ascii_alphanumeric() && *b != b'Z') || *b == b':')).then_some(end)
}

/// Year, month, day, or the reverse, separated by one of `-/.`.
fn calendar(text: &[u8]) -> Option<usize> {
    let run = |at: usize| text.get(at..).map_or(0, |t| t.iter().take_while(|b| b.is_ascii_digit()).count());
    let first = run(0);
    let mark = *text.get(first).filter(|b| b"-/.".contains(b))?;
    let second = run(first + 1);
    let end = first + 1 + second;
    let third = run(end + 1);
    let fits = matches!((first, second, third), (4, 2, 2) | (1 | 2, 1 | 2, 4));
    let closed =
        !text.get(end + 1 + third).is_some_and(|b| (b.is_ascii_alphanumeric() && *b != b'T') || *b == mark);
    (fits && closed && text.get(end) == Some(&mark)).then_some(end + 1 + third)
}

fn zone(text: &[u8]) -> Option<usize> {
    let letters = text.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    if text.starts_with(b"Z") && letters == 1 {
        return Some(1);
    }
    if ZONES.iter().chain(&["AM", "PM", "am", "pm"]).any(|z| z.as_bytes() == &text[..letters]) {
        return Some(letters);
    }
    let sign = text.first().is_some_and(|b| b"+-".contains(b));
    let colon = usize::from(text.get(3) == Some(&b':'));
    let hours = text.get(1..3)?.iter().all(u8::is_ascii_digit);
    let minutes = text.get(3 + colon..5 + colon)?.iter().all(u8::is_ascii_digit);
    let closed = !text.get(5 + colon).is_some_and(u8::is_ascii_alphanumeric);
    (sign && hours && minutes && closed).then_some(5 + colon)
}

/// Whether a text seems to contain the present date or time, or the seconds since 1970. Such a text is the
/// same if the run is repeated within a second, so a caller that needs to see it differ should wait. The time
/// zone of the text is unknown, so this may err; an error costs a second.
#[must_use]
pub fn looks_like_clock(text: &[u8], now: SystemTime) -> bool {
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    text.split(|b| *b == b'\n').any(|line| line.len() < super::LONG_LINE && line_has_clock(line, now))
}

fn line_has_clock(line: &[u8], now: u64) -> bool {
    let mut at = 0;
    while at < line.len() {
        let begins = at == 0 || !line[at - 1].is_ascii_alphanumeric();
        if !begins || !line[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let stamp = timestamp(line, at);
        let run = line[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        if stamp > 0 && is_now(&line[at..at + stamp], now) || is_epoch(&line[at..at + run], now) {
            return true;
        }
        at += stamp.max(run).max(1);
    }
    false
}

/// A count of seconds, milliseconds, microseconds or nanoseconds within a day of now; or today as `YYYYMMDD`,
/// possibly followed by a time.
fn is_epoch(digits: &[u8], now: u64) -> bool {
    let unit = match digits.len() {
        10 => 1,
        13 => 1_000,
        16 => 1_000_000,
        19 => 1_000_000_000,
        8 | 12 | 14 => {
            return dates(now).any(|(y, m, d)| digits.starts_with(format!("{y:04}{m:02}{d:02}").as_bytes()));
        }
        _ => return false,
    };
    value(digits).is_some_and(|v| (v / unit).abs_diff(now) < 86_400)
}

fn is_now(stamp: &[u8], now: u64) -> bool {
    let fields: Vec<&[u8]> = stamp.split(|b| !b.is_ascii_alphanumeric()).filter(|f| !f.is_empty()).collect();
    let month = fields.iter().find_map(|f| name(f, &MONTHS)).map(|m| m.1 as u64 + 1);
    let numbers: Vec<u64> = stamp.split(|b| !b.is_ascii_digit()).filter_map(value).collect();
    // Time zones differ by multiples of a quarter of an hour.
    let clock = stamp
        .windows(4)
        .position(|w| w[0].is_ascii_digit() && w[1] == b':')
        .and_then(|at| value(stamp.get(at + 2..at + 4)?));
    if let Some(minute) = clock {
        let apart = (minute % 15).abs_diff(now / 60 % 15);
        if apart.min(15 - apart) <= 1 {
            return true;
        }
    }
    dates(now).any(|(y, m, d)| match month {
        Some(month) => month == m && numbers.contains(&d),
        None => numbers.contains(&y) && numbers.contains(&m) && numbers.contains(&d),
    })
}

/// Yesterday, today and tomorrow, because of time zones.
fn dates(now: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let today = now / 86_400;
    [today.saturating_sub(1), today, today + 1].into_iter().map(civil)
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar: years are counted from
/// March, so that a leap day is the last day of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // since 0000-03-01
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (year + era * 400, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn timestamps_are_whole() {
        for text in [
            "23:59:58",
            "9:05",
            "2026-11-16",
            "2026-11-16T23:59:58.123Z",
            "2026-11-16 23:59:58,123 +0100",
            "Mon Nov 16 23:59:58 2026",
            "Mon Nov  6 23:59:58 UTC 2026",
            "Mon, 16 Nov 2026 23:59:58 GMT",
            "Nov 16 2026",
            "16/11/2026",
            "11:59:58 PM",
        ] {
            assert_eq!(timestamp(text.as_bytes(), 0), text.len(), "{text}");
            assert_eq!(timestamp(format!("{text} INFO x").as_bytes(), 0), text.len(), "{text}");
        }
        for text in ["Monday", "May be", "12", "12:345", "1.2.3", "1234-12-12-12", "12:34:56:78"] {
            assert_eq!(timestamp(text.as_bytes(), 0), 0, "{text}");
        }
        assert_eq!(timestamp(b"a.c:12:34: error", 4), 0);
    }

    #[test]
    fn the_present_is_noticed() {
        // 2026-11-16 23:09:19 UTC
        let now = UNIX_EPOCH + Duration::from_secs(1_794_870_559);
        assert_eq!(civil(1_794_870_559 / 86_400), (2026, 11, 16));
        assert_eq!(civil(11_016), (2000, 2, 29));
        for text in [
            "at 23:09:19",
            "00:09:20 elsewhere",
            "04:39:01 in a half zone",
            "2026-11-16",
            "Nov 16 2026",
            "on 17 Nov",
            "seed 1794870559",
            "t=1794870559123",
            "run-20261116-1",
            "x\nMon Nov 16 12:00:00 2026\n",
        ] {
            assert!(looks_like_clock(text.as_bytes(), now), "{text}");
        }
        for text in
            ["", "a.c:12:34: error", "00:00:00", "2025-11-16", "1234567890", "Copyright 2026", "3 of 12"]
        {
            assert!(!looks_like_clock(text.as_bytes(), now), "{text}");
        }
    }
}

//! Bytes and times in readable form.

/// Whether the bytes can be shown as lines.
pub fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0)
}

/// As UTF-8; bytes that are not text become replacement characters.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The beginning of a line, in quotation marks.
pub fn short(line: &str) -> String {
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{}...", quoted(&line.as_bytes()[..end])),
        None => quoted(line.as_bytes()),
    }
}

/// In quotation marks; bytes that are not text are escaped.
pub fn quoted(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("{text:?}"),
        Err(_) => format!("\"{}\"", bytes.escape_ascii()),
    }
}

/// `2026-11-17 14:39:09 UTC`, after Howard Hinnant's civil calendar.
pub fn date(nanoseconds: i128) -> String {
    let seconds = nanoseconds.div_euclid(1_000_000_000) as i64;
    let (days, second) = (seconds.div_euclid(86400), seconds.rem_euclid(86400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        assert_eq!(date(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date(951_782_400_000_000_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(date(-1), "1969-12-31 23:59:59 UTC");
        assert_eq!(date(1_795_000_000_000_000_000), "2026-11-18 11:06:40 UTC");
    }

    #[test]
    fn what_is_no_text_is_escaped() {
        assert_eq!(quoted(b"a\"b"), "\"a\\\"b\"");
        assert_eq!(quoted(b"\xff\n"), "\"\\xff\\n\"");
    }
}

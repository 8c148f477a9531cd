//! Durations on the command line.

use crate::failure::{Exit, Failure};
use std::time::Duration;

/// `90s`, `2m`, `1.5h`; without a unit, seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let factor = match unit {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{unit}` is no unit of time; say s, m or h")),
    };
    let number: f64 = number.trim().parse().map_err(|_| format!("`{number}` is no number"))?;
    Duration::try_from_secs_f64(number * factor)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| format!("{text} makes no sense as a time"))
}

/// A number of seconds as a time limit.
pub fn seconds(seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds).ok().filter(|d| !d.is_zero()).ok_or_else(|| {
        Failure::new(Exit::Usage, format_args!("{seconds} seconds make no sense as a time limit"))
    })
}

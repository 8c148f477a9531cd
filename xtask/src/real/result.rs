//! The result of a package, stored as `result.json` next to its trees.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::shell::{self, Result};

/// A reason for a failure, and the number of affected processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub text: String,
    pub times: u64,
}

impl Reason {
    pub fn once(text: String) -> Reason {
        Reason { text, times: 1 }
    }
}

/// Calls to unknown functions, as a share of all calls out of recorded code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpaqueShare {
    pub opaque: u64,
    pub calls: u64,
}

impl OpaqueShare {
    /// Parses the sentence that `relapse record` prints.
    pub fn read(line: &str) -> Option<OpaqueShare> {
        let (_, rest) = line.split_once("% of the calls out of recorded code (")?;
        let (opaque, rest) = rest.split_once(" of ")?;
        let (calls, _) = rest.split_once(')')?;
        let number = |text: &str| text.replace(',', "").parse().ok();
        Some(OpaqueShare { opaque: number(opaque)?, calls: number(calls)? })
    }
}

/// Figures of a package that was built, tested and replayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tested {
    /// Whether the tests end as those of the plain program do.
    pub same: bool,
    pub verdicts: usize,
    pub processes: u64,
    pub exact: u64,
    pub opaque: Option<OpaqueShare>,
    pub instructions: f64,
    pub plain_seconds: f64,
    pub recorded_seconds: f64,
    pub replay_seconds: f64,
    pub bytes: u64,
    pub reasons: Vec<Reason>,
}

impl Tested {
    /// Takes the figures of `relapse replay --json`. Processes that are not exact are grouped by the reported
    /// reason.
    pub fn read_replay(&mut self, answer: &Value) {
        self.instructions = answer["instructions"].as_f64().unwrap_or(0.0);
        let mut failed: BTreeMap<String, u64> = BTreeMap::new();
        for process in answer["processes"].as_array().into_iter().flatten() {
            self.processes += 1;
            if process["exact"].as_bool() == Some(true) {
                self.exact += 1;
                continue;
            }
            let streams = process["streams"].as_array().into_iter().flatten();
            let told =
                streams.filter_map(|stream| stream["error"].as_str().or_else(|| stream["damage"].as_str()));
            let text = process["error"]
                .as_str()
                .into_iter()
                .chain(told)
                .next()
                .unwrap_or("nothing was recorded of it")
                .to_owned();
            *failed.entry(text).or_default() += 1;
        }
        let mut failed: Vec<Reason> =
            failed.into_iter().map(|(text, times)| Reason { text, times }).collect();
        failed.sort_by_key(|reason| std::cmp::Reverse(reason.times));
        self.reasons.extend(failed);
    }

    /// Whether the verdicts are the same and every process is exact.
    pub fn good(&self) -> bool {
        self.same && self.processes > 0 && self.exact == self.processes && self.reasons.is_empty()
    }
}

/// The figures, or the reason why there are none; and the commit that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredResult {
    pub commit: String,
    pub outcome: std::result::Result<Tested, String>,
}

impl StoredResult {
    pub fn write(&self, file: &Path) -> Result<()> {
        let value = match &self.outcome {
            Err(reason) => json!({ "commit": self.commit, "failed": reason }),
            Ok(tested) => json!({
                "commit": self.commit,
                "same": tested.same,
                "verdicts": tested.verdicts,
                "processes": tested.processes,
                "exact": tested.exact,
                "opaque": tested.opaque.map(|share| [share.opaque, share.calls]),
                "instructions": tested.instructions,
                "plain_seconds": tested.plain_seconds,
                "recorded_seconds": tested.recorded_seconds,
                "replay_seconds": tested.replay_seconds,
                "bytes": tested.bytes,
                "reasons": tested.reasons.iter().map(|r| json!([r.text, r.times])).collect::<Vec<_>>(),
            }),
        };
        shell::write(file, format!("{value:#}\n"))
    }

    /// `None` if it was never run, or by an older version of this task.
    pub fn read(file: &Path) -> Option<StoredResult> {
        let value: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        let commit = value["commit"].as_str()?.to_owned();
        if let Some(reason) = value["failed"].as_str() {
            return Some(StoredResult { commit, outcome: Err(reason.to_owned()) });
        }
        let number = |key: &str| value[key].as_f64();
        let count = |key: &str| value[key].as_u64();
        let opaque = match &value["opaque"] {
            Value::Array(pair) => {
                Some(OpaqueShare { opaque: pair.first()?.as_u64()?, calls: pair.get(1)?.as_u64()? })
            }
            _ => None,
        };
        let reason =
            |pair: &Value| Some(Reason { text: pair[0].as_str()?.to_owned(), times: pair[1].as_u64()? });
        let tested = Tested {
            same: value["same"].as_bool()?,
            verdicts: usize::try_from(count("verdicts")?).ok()?,
            processes: count("processes")?,
            exact: count("exact")?,
            opaque,
            instructions: number("instructions")?,
            plain_seconds: number("plain_seconds")?,
            recorded_seconds: number("recorded_seconds")?,
            replay_seconds: number("replay_seconds")?,
            bytes: count("bytes")?,
            reasons: value["reasons"].as_array()?.iter().filter_map(reason).collect(),
        };
        Some(StoredResult { commit, outcome: Ok(tested) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_opaque_calls_is_read() {
        let line = "relapse: 0.2% of the calls out of recorded code (1,234 of 567,890) went to functions";
        assert_eq!(OpaqueShare::read(line), Some(OpaqueShare { opaque: 1234, calls: 567_890 }));
        assert_eq!(OpaqueShare::read("relapse: recorded 3 processes"), None);
    }

    #[test]
    fn results_are_read_as_they_were_written() {
        let mut tested =
            Tested { same: true, verdicts: 3, bytes: 9, plain_seconds: 0.5, ..Tested::default() };
        tested.read_replay(&json!({
            "instructions": 7,
            "processes": [
                { "exact": true, "streams": [] },
                { "exact": false, "streams": [{ "error": null }, { "error": "diverge" }] },
                { "exact": false, "streams": [{ "error": "diverge" }] },
                { "exact": false, "streams": [] },
                { "exact": false, "error": "no model", "streams": [] },
            ]
        }));
        assert_eq!((tested.processes, tested.exact), (5, 1));
        assert_eq!(tested.reasons[0], Reason { text: "diverge".to_owned(), times: 2 });
        assert!(!tested.good());
        tested.opaque = Some(OpaqueShare { opaque: 1, calls: 2 });
        let file = std::env::temp_dir().join(format!("xtask-real-{}.json", std::process::id()));
        for outcome in [Ok(tested), Err("it does not build".to_owned())] {
            let kept = StoredResult { commit: "abc".to_owned(), outcome };
            kept.write(&file).unwrap();
            assert_eq!(StoredResult::read(&file), Some(kept));
        }
        fs::remove_file(file).unwrap();
    }
}

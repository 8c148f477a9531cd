//! The description of a process: `process.raw` while it runs, `process.json` once packed.

use crate::argument::Argument;
use crate::event::{VERSION, process};
use crate::modules::{counted, half, take, word};
use serde::{Deserialize, Serialize};

/// The recorded process from which a process was forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The parent's pid.
    pub pid: u32,
    /// The parent's image number.
    pub image: u32,
}

/// A limit of the system on what the process may use, as `setrlimit` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Number of the resource.
    pub resource: u32,
    /// What holds.
    pub soft: u64,
    /// How far the process may raise it.
    pub hard: u64,
}

/// One recorded process (one program image of it).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// Format version.
    pub version: u32,
    /// Process id.
    pub pid: u32,
    /// Its parent process, recorded or not.
    #[serde(default)]
    pub parent: u32,
    /// Number of preceding `exec`s.
    #[serde(default)]
    pub image: u32,
    /// Path of the program.
    #[serde(default)]
    pub executable: String,
    /// The arguments, starting with the program's name.
    #[serde(default)]
    pub arguments: Vec<Argument>,
    /// Working directory at start.
    #[serde(default)]
    pub directory: String,
    /// GNU build id of the executable, in hexadecimal.
    #[serde(default)]
    pub build_id: String,
    /// A random number, in hexadecimal, that is also in the header of each of its streams.
    #[serde(default)]
    pub identity: String,
    /// Set if the process was forked from a recorded one.
    #[serde(default)]
    pub forked_from: Option<ForkedFrom>,
    /// Those at start; none are known of recordings of earlier versions.
    #[serde(default)]
    pub limits: Vec<Limit>,
}

impl ProcessInfo {
    /// The information in the name of a process's directory.
    #[must_use]
    pub fn from_directory_name(name: &str) -> Option<ProcessInfo> {
        let (pid, image) = name.strip_prefix('p')?.split_once('.')?;
        let number = |s: &str| if s.bytes().all(|b| b.is_ascii_digit()) { s.parse().ok() } else { None };
        Some(ProcessInfo { version: VERSION, pid: number(pid)?, image: number(image)?, ..Self::default() })
    }

    /// Adds the information of a `process.raw`, as far as its records are complete.
    ///
    /// # Errors
    /// A description of the fault, as a phrase, if the file is of another kind or version.
    pub fn read_raw(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut rest = bytes;
        if take(&mut rest, 8) != Some(&process::MAGIC[..]) {
            return Err("it is not a process file".to_owned());
        }
        match half(&mut rest) {
            Some(VERSION) => {}
            Some(other) => return Err(format!("it has format version {other}")),
            None => return Err("it is cut short".to_owned()),
        }
        while let Some((tag, value)) = half(&mut rest).and_then(|tag| Some((tag, counted(&mut rest)?))) {
            self.take_record(tag, value);
        }
        Ok(())
    }

    fn take_record(&mut self, tag: u32, value: &[u8]) {
        let text = || String::from_utf8_lossy(value).into_owned();
        let mut numbers = value;
        let first = half(&mut numbers).unwrap_or(0);
        match tag {
            process::PID => self.pid = first,
            process::PARENT => self.parent = first,
            process::IMAGE => self.image = first,
            process::EXECUTABLE => self.executable = text(),
            process::ARGUMENT => self.arguments.push(value.into()),
            process::DIRECTORY => self.directory = text(),
            process::IDENTITY => self.identity = hex(value),
            process::BUILD_ID => self.build_id = hex(value),
            process::FORKED_FROM => {
                self.forked_from = half(&mut numbers).map(|image| ForkedFrom { pid: first, image });
            }
            process::LIMIT => {
                if let (Some(soft), Some(hard)) = (word(&mut numbers), word(&mut numbers)) {
                    self.limits.push(Limit { resource: first, soft, hard });
                }
            }
            _ => {}
        }
    }
}

/// Bytes in hexadecimal, as build ids are written.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut s, b| {
        let _ = write!(s, "{b:02x}"); // writing to a string cannot fail
        s
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_taken_as_far_as_they_are_whole() {
        let mut raw = [&process::MAGIC[..], &VERSION.to_le_bytes()].concat();
        let mut put = |tag: u32, value: &[u8]| {
            raw.extend_from_slice(&tag.to_le_bytes());
            raw.extend_from_slice(&(value.len() as u32).to_le_bytes());
            raw.extend_from_slice(value);
        };
        put(process::PID, &7u32.to_le_bytes());
        put(process::ARGUMENT, b"prog");
        put(99, b"from a later version");
        put(process::ARGUMENT, b"-x");
        put(process::BUILD_ID, &[0xab, 1]);
        let limit = [&7u32.to_le_bytes()[..], &40u64.to_le_bytes(), &u64::MAX.to_le_bytes()].concat();
        put(process::LIMIT, &limit);
        put(process::LIMIT, &limit[..19]);
        put(process::FORKED_FROM, &[5, 0, 0, 0, 1, 0, 0, 0]);
        let mut info = ProcessInfo::default();
        info.read_raw(&raw).unwrap();
        assert_eq!(info.pid, 7);
        assert_eq!(info.arguments, [Argument::from("prog"), "-x".into()]);
        assert_eq!(info.build_id, "ab01");
        assert_eq!(info.forked_from, Some(ForkedFrom { pid: 5, image: 1 }));
        assert_eq!(info.limits, [Limit { resource: 7, soft: 40, hard: u64::MAX }]);
        let mut cut = ProcessInfo::default();
        cut.read_raw(&raw[..raw.len() - 1]).unwrap();
        assert_eq!((cut.build_id.as_str(), cut.forked_from), ("ab01", None));
        assert!(ProcessInfo::default().read_raw(b"nonsense").is_err());
    }

    #[test]
    fn directory_names() {
        let info = ProcessInfo::from_directory_name("p123.1").unwrap();
        assert_eq!((info.pid, info.image), (123, 1));
        for other in ["p123", "x1.0", "p.0", "p1.", "p+1.0", "p1.0.tmp"] {
            assert_eq!(ProcessInfo::from_directory_name(other), None, "{other}");
        }
    }
}

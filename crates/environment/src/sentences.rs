//! Sentences about a difference.

use crate::calls::{self, CallKind};
use crate::candidates::{AnswerContent, Candidate, said};
use crate::decode;
use crate::find::Culprit;
use crate::limits::LIMITS;
use crate::narrow::Line;
use crate::place::PathMap;
use crate::record::{Call, Key, KeyId, Start};
use crate::there::RecordIndex;
use crate::words::{date, is_text, quoted, short, text};
use nix::libc;
use std::collections::HashMap;

/// Makes the sentences about differences between a recorded run and a run here.
pub struct DifferenceFormatter<'a> {
    /// The record made there; the ids of candidates are its own.
    pub there: &'a RecordIndex<'a>,
    /// The first run here.
    pub here: &'a RecordIndex<'a>,
    /// From portable paths to those of this machine.
    pub places: &'a PathMap,
}

/// The parts of a sentence about one thing on both sides.
struct Description {
    kind: &'static str,
    name: String,
    there: String,
    here: String,
    /// A sentence about here, and one about there that begins with "there".
    sentence: String,
}

impl DifferenceFormatter<'_> {
    /// A sentence about a candidate that was not shown to decide.
    pub fn difference(&self, candidate: &Candidate) -> String {
        self.told(candidate, &[]).sentence
    }

    /// The answer about a decisive candidate. `lines` comes from [`crate::narrow::lines`], `of` is the number
    /// of decisive candidates.
    pub fn culprit(&self, candidate: &Candidate, lines: Vec<Line>, of: usize) -> Culprit {
        let told = self.told(candidate, &lines);
        let proof = match (of, told.kind) {
            (1, "variable" | "limit" | "argument") => "with that value the command passes",
            (1, "file") if !lines.is_empty() => "with that text the command passes",
            (1, _) => "with that result the command passes",
            (2, _) => "with this and the other as there, the command passes",
            _ => "with this and the others as there, the command passes",
        };
        Culprit {
            kind: told.kind,
            name: told.name,
            call: candidate.keys.iter().filter_map(|id| self.there.first(*id)).min().map(|n| n + 1),
            there: told.there,
            here: told.here,
            lines,
            sentence: format!("{}; {proof}", told.sentence),
        }
    }

    fn told(&self, candidate: &Candidate, lines: &[Line]) -> Description {
        let Some(id) = candidate.keys.first().copied() else { return plain("thing", String::new()) };
        if let Some(directory) = &candidate.directory {
            return self.missing_directory(id, directory);
        }
        let (start, own) = (&self.there.record.start, &self.here.record.start);
        match self.there.record.key(id) {
            Key::Variable(name) => {
                let mut told = variable(start, own, name);
                if let [line] = lines
                    && let ([], [element]) = (&line.here[..], &line.there[..])
                {
                    told.sentence = format!(
                        "the variable {} lacks {} here; there it had it",
                        told.name,
                        quoted(element.as_bytes())
                    );
                }
                told
            }
            Key::Argument(_) if start.arguments.len() != own.arguments.len() => {
                let words = |start: &Start| {
                    let words: Vec<String> =
                        start.arguments.iter().skip(1).map(|word| quoted(word)).collect();
                    Some(words.join(" "))
                };
                let mut told = either("argument", "arguments".to_owned(), words(start), words(own));
                told.sentence =
                    format!("the arguments are {} here; there they were {}", told.here, told.there);
                told
            }
            Key::Argument(number) => {
                let word = |start: &Start| start.arguments.get(*number as usize).map(|word| quoted(word));
                either("argument", format!("argument {number}"), word(start), word(own))
            }
            Key::Limit(number) => limit(start, own, *number),
            Key::Mask => {
                let mask = |start: &Start| Some(format!("{:04o}", start.mask));
                either("mask", "the file creation mask (umask)".to_owned(), mask(start), mask(own))
            }
            Key::Directory => {
                let (there, here) = (quoted(&start.directory), quoted(&own.directory));
                either("directory", "the working directory".to_owned(), Some(there), Some(here))
            }
            Key::File(path) => self.file(id, &self.places.here(path), lines),
            Key::Clock => either("time", "the time".to_owned(), self.time(self.there, id), self.time_here()),
            key => self.by_calls(id, key),
        }
    }

    fn missing_directory(&self, id: KeyId, directory: &[u8]) -> Description {
        let name = text(directory);
        let mut sentence = format!("the directory {name} does not exist here");
        if let Some(call) =
            self.differing_answers(id).and_then(|(_, here)| here).filter(|call| call.result < 0)
        {
            sentence += &format!(" ({} gave {})", self.call(id, call), calls::error_name(call.result));
        }
        Description {
            kind: "directory missing",
            name,
            there: "exists".to_owned(),
            here: "does not exist".to_owned(),
            sentence: sentence + "; there it did",
        }
    }

    /// The answers that differ, recorded and here: the first error, or else the first bytes that were read,
    /// or else the first difference.
    fn differing_answers(&self, id: KeyId) -> Option<(Option<&Call>, Option<&Call>)> {
        let own = self.here.id(self.there.record.key(id))?;
        let mut times: HashMap<(u32, u64), usize> = HashMap::new();
        let mut differing = Vec::new();
        for call in self.here.calls(own) {
            let asked = times.entry((call.number, call.detail)).or_default();
            let same = |other: &&Call| (other.number, other.detail) == (call.number, call.detail);
            let recorded = self.there.calls(id).filter(same).nth(*asked);
            *asked += 1;
            let differs = match recorded {
                Some(recorded) => said(self.there.record, recorded) != said(self.here.record, call),
                None => call.result < 0,
            };
            if differs {
                differing.push((recorded, call));
            }
        }
        let failed = |(recorded, call): &&(Option<&Call>, &Call)| {
            call.result < 0 || recorded.is_some_and(|recorded| recorded.result < 0)
        };
        let read = |(_, call): &&(Option<&Call>, &Call)| {
            matches!(crate::there::shape(call), Some(CallKind::Read { .. } | CallKind::Receive { .. }))
        };
        let told =
            differing.iter().find(failed).or_else(|| differing.iter().find(read)).or(differing.first());
        told.map(|(recorded, call)| (*recorded, Some(*call)))
    }

    /// `open("/etc/app.conf")`
    fn call(&self, id: KeyId, call: &Call) -> String {
        let name = calls::name(call.number);
        let name = match name.as_str() {
            "openat" | "openat2" | "creat" => "open",
            "getsockopt" if is_connection(call) => "connect",
            "mkdirat" => "mkdir",
            "unlinkat" => "unlink",
            "renameat" | "renameat2" => "rename",
            "faccessat" | "faccessat2" => "access",
            "readlinkat" => "readlink",
            "newfstatat" | "statx" | "fstat" | "lstat" => "stat",
            "pread64" | "readv" | "preadv" => "read",
            "execve" | "execveat" => "exec",
            "getdents64" => "readdir",
            other => other,
        };
        format!("{name}({})", self.name(id))
    }

    /// The thing, as printed between the parentheses of a call.
    fn name(&self, id: KeyId) -> String {
        match self.there.record.key(id) {
            Key::File(path) => quoted(&self.places.here(path)),
            Key::Stream(0) => "standard input".to_owned(),
            Key::Stream(1) => "standard output".to_owned(),
            Key::Stream(2) => "standard error".to_owned(),
            Key::Stream(number) => format!("descriptor {number}"),
            Key::Peer(address) | Key::Local(address) => address.clone(),
            _ => String::new(),
        }
    }

    fn file(&self, id: KeyId, path: &[u8], lines: &[Line]) -> Description {
        let mut told = self.by_calls(id, self.there.record.key(id));
        told.name = text(path);
        if lines.is_empty() {
            return told;
        }
        let shown = |at: usize, lines: &[String], missing: &str| match lines {
            [] => missing.to_owned(),
            [line] => format!("line {at} is {}", short(line)),
            [first, ..] => {
                format!("lines {at} to {} are {} and so on", at + lines.len() - 1, quoted(first.as_bytes()))
            }
        };
        let all = |side: fn(&Line) -> (usize, &[String]), missing: &str| {
            lines
                .iter()
                .map(|line| {
                    let (at, texts) = side(line);
                    shown(at, texts, missing)
                })
                .collect::<Vec<_>>()
                .join(", ")
        };
        let ours = |missing| all(|line| (line.here_at, &line.here), missing);
        let theirs = |missing| all(|line| (line.there_at, &line.there), missing);
        (told.here, told.there) = (ours("nothing"), theirs("nothing"));
        let (here, there) = (ours("lines are missing"), theirs("they are not there"));
        told.sentence = format!("read({}) gave other text here: {here}; there {there}", quoted(path));
        told
    }

    /// Describes the thing by the first answers that differ.
    fn by_calls(&self, id: KeyId, key: &Key) -> Description {
        let kind = kind(key);
        let (there, here) = self.differing_answers(id).unwrap_or((None, None));
        let Some(asked) = here.or(there).or_else(|| self.there.calls(id).next()) else {
            return plain(kind, self.name(id));
        };
        let name = self.call(id, asked);
        let had = self.recorded_state(id, there, here.is_some_and(|call| call.result < 0));
        let has = match here {
            Some(call) => self.answer(self.here, call, there.map(|there| (self.there, there))),
            None => "was not reached here".to_owned(),
        };
        let sentence = match here {
            Some(call) if call.result < 0 => {
                format!("{name} gave {} here; there {had}", calls::error_name(call.result))
            }
            Some(_) => format!("{name} {has} here; there {had}"),
            None => format!("{name} was not reached here; there {had}"),
        };
        Description { kind, name: self.name(id), there: had, here: has, sentence }
    }

    /// What the recorded run found, for "there …".
    fn recorded_state(&self, id: KeyId, call: Option<&Call>, failed: bool) -> String {
        match call {
            Some(call) if call.result < 0 => format!("it gave {}", calls::error_name(call.result)),
            Some(call) if matches!(self.there.record.key(id), Key::File(_)) && (is_open(call) || failed) => {
                self.found(id)
            }
            Some(call) if is_connection(call) => "it succeeded".to_owned(),
            Some(call) => {
                let own = self.here.id(self.there.record.key(id));
                let other = own.and_then(|own| {
                    self.here.calls(own).find(|c| (c.number, c.detail) == (call.number, call.detail))
                });
                format!("it {}", self.answer(self.there, call, other.map(|o| (self.here, o))))
            }
            None if matches!(self.there.record.key(id), Key::File(_)) => self.found(id),
            None => "it succeeded".to_owned(),
        }
    }

    fn found(&self, id: KeyId) -> String {
        let content = self.there.content(id);
        let size = content
            .size
            .or_else(|| (!content.ranges.is_empty()).then(|| content.bytes(u64::MAX).len() as u64));
        match size {
            _ if self.there.is_directory(id) => "it was a directory".to_owned(),
            Some(1) => "it was a file of 1 byte".to_owned(),
            Some(size) => format!("it was a file of {size} bytes"),
            None => "it succeeded".to_owned(),
        }
    }

    /// A verb and the content of an answer, if it differs from `other`.
    fn answer(
        &self,
        side: &RecordIndex<'_>,
        call: &Call,
        other: Option<(&RecordIndex<'_>, &Call)>,
    ) -> String {
        let other = other.map(|(side, call)| said(side.record, call));
        match (said(side.record, call), other) {
            (AnswerContent::Error(error), _) => format!("gave {}", calls::error_name(error)),
            (AnswerContent::Number(number), _) => format!("gave {number}"),
            (AnswerContent::Done, _) => "succeeded".to_owned(),
            (
                AnswerContent::About { mode, size, user, group, modified },
                Some(AnswerContent::About { mode: m, size: s, user: u, group: g, modified: t }),
            ) => {
                let mut parts = Vec::new();
                if mode != m {
                    parts.push(format!("mode {mode:o}"));
                }
                if size != s {
                    parts.push(format!("{size} bytes"));
                }
                if (user, group) != (u, g) {
                    parts.push(format!("owner {user}:{group}"));
                }
                if modified != t {
                    parts.push(format!("changed {}", date(i128::from(modified) * 1_000_000_000)));
                }
                format!("said {}", if parts.is_empty() { "the same".to_owned() } else { parts.join(", ") })
            }
            (AnswerContent::About { size, .. }, _) => format!("said {size} bytes"),
            (AnswerContent::Names(names), Some(AnswerContent::Names(others))) => {
                let only: Vec<String> = names.difference(&others).take(5).map(|name| text(name)).collect();
                match only.is_empty() {
                    true => format!("listed {} names", names.len()),
                    false => format!("listed {}", only.join(", ")),
                }
            }
            (AnswerContent::Names(names), _) => format!("listed {} names", names.len()),
            (AnswerContent::Bytes(bytes), _) if is_connection(call) => {
                format!("gave {}", connection_error(&bytes))
            }
            (AnswerContent::Bytes(bytes), Some(AnswerContent::Bytes(others)))
                if !is_text(&bytes) || !is_text(&others) =>
            {
                different_bytes(call, &bytes, &others)
            }
            (AnswerContent::Bytes(bytes), _) => format!("gave {}", quoted(&bytes[..bytes.len().min(60)])),
        }
    }

    fn time(&self, side: &RecordIndex<'_>, id: KeyId) -> Option<String> {
        let call = side.calls(id).next()?;
        let bytes = call.writes.first().map(|write| side.record.blob(write.blob));
        decode::time(call.number, call.result, bytes).map(date)
    }

    fn time_here(&self) -> Option<String> {
        self.time(self.here, self.here.id(&Key::Clock)?)
    }
}

/// A query for the outcome of a non-blocking connection.
fn is_connection(call: &Call) -> bool {
    let outcome = (libc::SOL_SOCKET as u64) << 32 | libc::SO_ERROR as u64;
    i64::from(call.number) == libc::SYS_getsockopt && call.detail == outcome
}

fn connection_error(bytes: &[u8]) -> String {
    bytes
        .try_into()
        .map_or_else(|_| quoted(bytes), |error| calls::error_name(i64::from(i32::from_le_bytes(error))))
}

/// The first difference of two answers that are not text.
fn different_bytes(call: &Call, bytes: &[u8], others: &[u8]) -> String {
    let at = bytes.iter().zip(others).position(|(a, b)| a != b);
    let show = |from: usize| {
        let some = &bytes[from..bytes.len().min(from + 8)];
        some.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
    };
    match at {
        Some(at) => format!("gave {} at byte {}", show(at), call.offset + at as u64),
        None => format!("gave {} bytes", bytes.len()),
    }
}

fn is_open(call: &Call) -> bool {
    matches!(crate::there::shape(call), Some(CallKind::Open { .. }))
}

/// The kind of a key, in a word.
pub fn kind(key: &Key) -> &'static str {
    match key {
        Key::Variable(_) => "variable",
        Key::Argument(_) => "argument",
        Key::Directory => "directory",
        Key::Limit(_) => "limit",
        Key::Mask => "mask",
        Key::File(_) => "file",
        Key::Stream(_) => "stream",
        Key::Peer(_) => "peer",
        Key::Local(_) => "address",
        Key::Clock => "time",
        Key::Random => "random",
        Key::System => "system",
        Key::Memory => "memory",
        Key::Identity => "identity",
        Key::Processors => "processors",
        Key::Other(_) => "call",
        Key::Internal => "internal",
    }
}

fn plain(kind: &'static str, name: String) -> Description {
    Description { kind, sentence: format!("{name} differs"), name, there: String::new(), here: String::new() }
}

fn either(kind: &'static str, name: String, there: Option<String>, here: Option<String>) -> Description {
    let none = || "not there".to_owned();
    let (there, here) = (there.unwrap_or_else(none), here.unwrap_or_else(none));
    Description { kind, sentence: format!("{name} is {here} here; there it was {there}"), name, there, here }
}

fn variable(there: &Start, here: &Start, name: &[u8]) -> Description {
    let value = |start: &Start| start.variables.iter().find(|(n, _)| n == name).map(|(_, v)| quoted(v));
    let unset = || "not set".to_owned();
    let (there, here) = (value(there).unwrap_or_else(unset), value(here).unwrap_or_else(unset));
    let sentence = format!("the variable {} is {here} here; there it was {there}", text(name));
    Description { kind: "variable", name: text(name), there, here, sentence }
}

fn limit(there: &Start, here: &Start, number: u32) -> Description {
    let known = LIMITS.iter().find(|limit| limit.0 == number);
    let name = known.map_or_else(
        || format!("limit {number}"),
        |(_, name, letter)| format!("the limit on {name} (ulimit {letter})"),
    );
    let of = |start: &Start| start.limits.iter().find(|limit| limit.0 == number).copied();
    let shown = |value: u64| match value {
        libc::RLIM_INFINITY => "unlimited".to_owned(),
        value => value.to_string(),
    };
    let soft_only = of(there).map(|l| l.1) != of(here).map(|l| l.1);
    let value = |start: &Start| {
        of(start).map(|(_, soft, hard)| match soft_only {
            true => shown(soft),
            false => format!("at most {}", shown(hard)),
        })
    };
    either("limit", name, value(there), value(here))
}

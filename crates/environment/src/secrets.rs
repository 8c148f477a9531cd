//! Detects probable secrets in a record, and redacts them.
//!
//! A record is made to be carried to another machine, so its owner must know what it contains. The patterns
//! below are common names of secrets and the prefixes of well-known kinds of keys; no list finds all of them,
//! which is why `show` also lists every variable and file.

use crate::record::{Bytes, Key, KeyId, Record};
use crate::{sentences, words};
use std::collections::HashMap;

/// Parts of names, in upper case.
const NAMES: [&str; 11] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "AUTH",
    "COOKIE",
];

/// Suffixes of file names.
const FILES: [&str; 12] = [
    "/etc/shadow",
    "/etc/gshadow",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    ".pem",
    ".key",
    ".env",
    "/.aws/credentials",
];

/// Prefixes of keys, and the minimal number of characters of the word after them.
const WORDS: [(&str, usize); 9] = [
    ("AKIA", 16),
    ("ghp_", 30),
    ("github_pat_", 30),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("sk-", 32),
    ("AIza", 30),
    ("eyJhbGciOi", 16),
    ("npm_", 30),
];

/// Something in a record that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// `variable` or `file`, or another kind.
    pub kind: &'static str,
    /// The argument for `--redact`.
    pub name: String,
    /// The reason, as a fragment of a sentence.
    pub why: &'static str,
}

fn by_content(bytes: &[u8]) -> Option<&'static str> {
    let next = |from: usize, needle: &str| {
        let (first, needle) = (needle.as_bytes()[0], needle.as_bytes());
        let mut at = from;
        while let Some(found) = bytes.get(at..)?.iter().position(|b| *b == first) {
            at += found;
            if bytes[at..].starts_with(needle) {
                return Some(at);
            }
            at += 1;
        }
        None
    };
    if next(0, "PRIVATE KEY-----").is_some() {
        return Some("it holds a private key");
    }
    let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    for (beginning, length) in WORDS {
        let mut from = 0;
        while let Some(at) = next(from, beginning) {
            let rest = &bytes[at + beginning.len()..];
            let alone = at == 0 || !word(&bytes[at - 1]);
            if alone && rest.iter().take_while(|b| word(b)).count() >= length {
                return Some("it holds what looks like an access key");
            }
            from = at + beginning.len();
        }
    }
    None
}

/// The name of a key for display and for `--redact`.
pub fn name(key: &Key) -> String {
    match key {
        Key::Variable(name) | Key::File(name) => words::text(name),
        Key::Stream(number) => format!("descriptor {number}"),
        Key::Peer(address) | Key::Local(address) => address.clone(),
        Key::Argument(number) => format!("argument {number}"),
        other => sentences::kind(other).to_owned(),
    }
}

/// Everything that looks like a secret.
pub fn secrets(record: &Record) -> Vec<Secret> {
    let mut all = Vec::new();
    for (variable, value) in
        record.start.variables.iter().filter(|(_, value)| !value.is_empty() && !is_blank(value))
    {
        let upper = words::text(variable).to_uppercase();
        let why = match NAMES.iter().any(|part| upper.contains(part)) {
            true => Some("its name says so"),
            false => by_content(value),
        };
        all.extend(why.map(|why| Secret { kind: "variable", name: words::text(variable), why }));
    }
    for (number, word) in record.start.arguments.iter().enumerate() {
        let why = by_content(word);
        all.extend(why.map(|why| Secret { kind: "argument", name: format!("argument {number}"), why }));
    }
    for (id, (key, calls)) in record.keys.iter().zip(record.by_key()).enumerate() {
        let id = KeyId(id as u32);
        if record.redacted.contains(&id) {
            continue;
        }
        let blobs = || calls.iter().flat_map(|at| &record.calls[*at].writes);
        let named = match key {
            Key::File(path) => FILES.iter().any(|end| path.ends_with(end.as_bytes())),
            Key::Stream(_) | Key::Peer(_) => false,
            _ => continue,
        };
        let why = match named && blobs().any(|write| !record.blob(write.blob).is_empty()) {
            true => Some("such files keep secrets"),
            false => blobs().find_map(|write| by_content(small(record.blob(write.blob)))),
        };
        all.extend(why.map(|why| Secret { kind: sentences::kind(key), name: name(key), why }));
    }
    all
}

/// The part that is searched: the beginning of a text. Programs and libraries contain no secrets of a
/// machine.
fn small(bytes: &[u8]) -> &[u8] {
    let beginning = &bytes[..bytes.len().min(1024)];
    if beginning.contains(&0) { &[] } else { &bytes[..bytes.len().min(1 << 18)] }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| *b == b'x')
}

fn blank(bytes: &mut Bytes) {
    bytes.fill(b'x');
}

/// Redacts the bytes of the named things: each byte becomes an `x`. Returns the names that are not in the
/// record.
pub fn redact(record: &mut Record, names: &[String]) -> Vec<String> {
    let mut missing = Vec::new();
    for wanted in names {
        let mut found = false;
        for (variable, value) in &mut record.start.variables {
            if words::text(variable) == *wanted {
                blank(value);
                found = true;
            }
        }
        for (number, word) in record.start.arguments.iter_mut().enumerate() {
            if format!("argument {number}") == *wanted {
                blank(word);
                found = true;
            }
        }
        let ids: Vec<KeyId> = (0..record.keys.len() as u32)
            .map(KeyId)
            .filter(|id| !matches!(record.key(*id), Key::Variable(_)) && name(record.key(*id)) == *wanted)
            .collect();
        for id in ids {
            found = true;
            redact_key(record, id);
        }
        if !found {
            missing.push(wanted.clone());
        }
    }
    missing
}

/// Blanks what calls about a key returned. Bytes that other things contain as well are blanked for both,
/// since equal bytes share one blob.
fn redact_key(record: &mut Record, id: KeyId) {
    let mut of: HashMap<u32, ()> = HashMap::new();
    for call in record.calls.iter().filter(|call| call.key == id) {
        of.extend(call.writes.iter().map(|write| (write.blob.0, ())));
    }
    for blob in of.keys() {
        blank(&mut record.blobs[*blob as usize]);
    }
    if !record.redacted.contains(&id) {
        record.redacted.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BlobId, Call, Write};

    fn record() -> Record {
        let call = |key, blob| Call {
            thread: 0,
            number: 0,
            key: KeyId(key),
            detail: 0,
            result: 1,
            offset: 0,
            writes: vec![Write { argument: 1, blob: BlobId(blob) }],
        };
        let mut record = Record {
            keys: vec![
                Key::File(b"~/.netrc".to_vec()),
                Key::File(b"./a.conf".to_vec()),
                Key::File(b"./b".to_vec()),
            ],
            blobs: vec![b"machine x".to_vec(), b"-----BEGIN PRIVATE KEY-----".to_vec(), b"plain".to_vec()],
            calls: vec![call(0, 0), call(1, 1), call(2, 2)],
            ..Record::default()
        };
        record.start.variables = vec![
            (b"DB_PASSWORD".to_vec(), b"hunter2".to_vec()),
            (b"LANG".to_vec(), b"C".to_vec()),
            (b"X".to_vec(), [b"ghp_".as_slice(), &[b'a'; 36]].concat()),
        ];
        record
    }

    #[test]
    fn secrets_are_pointed_out() {
        let names: Vec<String> = secrets(&record()).into_iter().map(|secret| secret.name).collect();
        assert_eq!(names, ["DB_PASSWORD", "X", "~/.netrc", "./a.conf"]);
    }

    #[test]
    fn what_is_redacted_is_gone() {
        let mut record = record();
        let names: Vec<String> = secrets(&record).into_iter().map(|secret| secret.name).collect();
        assert!(redact(&mut record, &names).is_empty());
        assert!(secrets(&record).is_empty());
        let bytes = format!("{record:?}");
        for gone in ["hunter2", "machine", "PRIVATE"] {
            assert!(
                !bytes.contains(&format!("{:?}", gone.as_bytes()).trim_matches(['[', ']']).to_owned()),
                "{gone}"
            );
        }
        assert_eq!(record.blobs[2], b"plain");
        assert_eq!(redact(&mut record, &["nobody".to_owned()]), ["nobody"]);
    }
}

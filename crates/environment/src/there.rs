//! An index of a record by query: what did this call return *there*?

use crate::calls::{self, CallKind};
use crate::record::{Call, Key, KeyId, Record};
use nix::libc;
use std::collections::HashMap;

/// Offsets of the size in `struct stat` and `struct statx`, and of the mode.
pub const STAT_SIZE: usize = 48;
pub const STATX_SIZE: usize = 40;
pub const STAT_MODE: usize = 24;
pub const STATX_MODE: usize = 28;

/// The known bytes of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Offset and bytes, in the order in which they were read.
    pub ranges: Vec<(u64, Vec<u8>)>,
    pub size: Option<u64>,
}

impl Content {
    /// The bytes from the beginning, at most `most`; unknown ones are zero.
    pub fn bytes(&self, most: u64) -> Vec<u8> {
        let end = self.ranges.iter().map(|(at, bytes)| at + bytes.len() as u64).max().unwrap_or(0);
        let size = self.size.unwrap_or(end).max(end).min(most) as usize;
        let mut all = vec![0; size];
        // Bytes that were read first take precedence: the run may have changed them later.
        for (at, bytes) in self.ranges.iter().rev() {
            let from = (*at as usize).min(size);
            let to = (from + bytes.len()).min(size);
            all[from..to].copy_from_slice(&bytes[..to - from]);
        }
        all
    }

    /// Whether every byte is known.
    pub fn is_complete(&self) -> bool {
        let mut ranges: Vec<(u64, u64)> =
            self.ranges.iter().map(|(at, bytes)| (*at, at + bytes.len() as u64)).collect();
        ranges.sort_unstable();
        let covered = ranges.iter().fold(0, |end, (from, to)| if *from <= end { end.max(*to) } else { end });
        covered >= self.size.unwrap_or(covered)
    }
}

#[derive(Debug)]
pub struct RecordIndex<'r> {
    pub record: &'r Record,
    ids: HashMap<&'r Key, KeyId>,
    questions: HashMap<(KeyId, u32, u64), Vec<usize>>,
    by_key: Vec<Vec<usize>>,
}

impl<'r> RecordIndex<'r> {
    pub fn new(record: &'r Record) -> RecordIndex<'r> {
        let ids = record.keys.iter().enumerate().map(|(n, key)| (key, KeyId(n as u32))).collect();
        let mut questions: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, call) in record.calls.iter().enumerate() {
            questions.entry((call.key, call.number, call.detail)).or_default().push(at);
        }
        RecordIndex { record, ids, questions, by_key: record.by_key() }
    }

    pub fn id(&self, key: &Key) -> Option<KeyId> {
        self.ids.get(key).copied()
    }

    pub fn calls(&self, key: KeyId) -> impl DoubleEndedIterator<Item = &'r Call> + '_ {
        self.by_key[key.0 as usize].iter().map(|at| &self.record.calls[*at])
    }

    /// The number of the first call about a key.
    pub fn first(&self, key: KeyId) -> Option<usize> {
        self.by_key[key.0 as usize].first().copied()
    }

    /// The answer to a query that was made `times` times before; the last answer repeats.
    pub fn answer(&self, key: KeyId, number: u32, detail: u64, times: usize) -> Option<&'r Call> {
        let asked = self.questions.get(&(key, number, detail))?;
        asked.get(times).or(asked.last()).map(|at| &self.record.calls[*at])
    }

    /// The attempt to open it after `times` others; the last one repeats.
    pub fn opened(&self, key: KeyId, times: usize) -> Option<&'r Call> {
        let is_open = |call: &&Call| matches!(shape(call), Some(CallKind::Open { .. }));
        self.calls(key).filter(is_open).nth(times).or_else(|| self.calls(key).rfind(is_open))
    }

    /// A file's bytes as the run found them: reads and mappings before its own first write.
    pub fn content(&self, key: KeyId) -> Content {
        let mut content = Content::default();
        for call in self.calls(key) {
            match shape(call) {
                Some(CallKind::Write { .. }) => break,
                Some(CallKind::Open { .. }) if call.detail & libc::O_TRUNC as u64 != 0 => break,
                Some(
                    CallKind::Read { .. } | CallKind::Map | CallKind::Exec { .. } | CallKind::Receive { .. },
                ) => {
                    for write in &call.writes {
                        content.ranges.push((call.offset, self.record.blob(write.blob).to_vec()));
                    }
                }
                Some(CallKind::QueryPath { .. } | CallKind::QueryFile { .. }) if content.size.is_none() => {
                    content.size = self.regular_size(call);
                }
                _ => {}
            }
        }
        content
    }

    /// The bytes received from a peer, in order.
    pub fn received(&self, key: KeyId) -> Vec<u8> {
        let from = |call: &Call| call.writes.first().map(|w| self.record.blob(w.blob).to_vec());
        let reads =
            |call: &&Call| matches!(shape(call), Some(CallKind::Read { .. } | CallKind::Receive { .. }));
        self.calls(key).filter(reads).filter_map(from).flatten().collect()
    }

    /// The datagrams received from a peer, in order.
    pub fn datagrams(&self, key: KeyId) -> Vec<Vec<u8>> {
        let received = self.calls(key).filter(|call| {
            matches!(shape(call), Some(CallKind::Read { .. } | CallKind::Receive { .. })) && call.result >= 0
        });
        received.filter_map(|call| Some(self.record.blob(call.writes.first()?.blob).to_vec())).collect()
    }

    /// Mode of a file, from an answer of `stat`.
    pub fn mode(&self, call: &Call) -> Option<u32> {
        let bytes = self.record.blob(call.writes.first()?.blob);
        match bytes.len() {
            144 => Some(u32::from_le_bytes(bytes[STAT_MODE..STAT_MODE + 4].try_into().ok()?)),
            256 => Some(u32::from(u16::from_le_bytes(bytes[STATX_MODE..STATX_MODE + 2].try_into().ok()?))),
            _ => None,
        }
    }

    fn regular_size(&self, call: &Call) -> Option<u64> {
        if self.mode(call)? & libc::S_IFMT != libc::S_IFREG {
            return None;
        }
        let bytes = self.record.blob(call.writes.first()?.blob);
        let at = if bytes.len() == 144 { STAT_SIZE } else { STATX_SIZE };
        Some(u64::from_le_bytes(bytes[at..at + 8].try_into().ok()?))
    }

    /// Whether the run itself creates this directory, by its portable name.
    pub fn makes(&self, path: &[u8]) -> bool {
        self.id(&Key::File(path.to_vec())).is_some_and(|id| {
            let makes = |call: &Call| [libc::SYS_mkdir, libc::SYS_mkdirat].contains(&i64::from(call.number));
            self.calls(id).any(|call| makes(call) && call.result == 0)
        })
    }

    /// Whether the run found it to be a directory.
    pub fn is_directory(&self, key: KeyId) -> bool {
        self.calls(key).any(|call| {
            i64::from(call.number) == libc::SYS_getdents64
                || (call.result >= 0
                    && (self.mode(call).is_some_and(|mode| mode & libc::S_IFMT == libc::S_IFDIR)
                        || (matches!(shape(call), Some(CallKind::Open { .. }))
                            && call.detail & libc::O_DIRECTORY as u64 != 0)
                        || matches!(shape(call), Some(CallKind::Enter { .. }))))
        })
    }
}

pub fn shape(call: &Call) -> Option<CallKind> {
    calls::find(i64::from(call.number)).map(|known| known.shape)
}

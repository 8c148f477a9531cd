//! Memory of unknown type: targets of pointers in a union, whose active member is unknown, and, before a
//! call, the target of a `void *`.
//!
//! It is compared block by block and word by word: words that contain addresses in both states are followed,
//! all others are compared as bytes. Before a call the comparison is exact, and a difference only means that
//! a pair of calls does not count. After a call the layout of a block may have changed on purpose: there,
//! blocks of different lengths are only compared if both are strings, and bytes only if both versions set
//! them.

use crate::compare::{Comparison, Half, Task, What};
use crate::shown::function_at;
use crate::state::State;
use expression::types::Type;

/// The size used as key for blocks without a type; no type has it.
pub(crate) const UNTYPED: u64 = 0;
const WORD: u64 = 8;

impl<'m> Comparison<'_, 'm> {
    /// Compares the words of two corresponding locations, such as unions.
    pub(crate) fn words(&mut self, path: &str, good: (u64, u64), bad: (u64, u64)) {
        for n in (0..good.1.min(bad.1)).step_by(WORD as usize) {
            let len = WORD.min(good.1 - n).min(bad.1 - n);
            let (a, b) = (good.0 + n, bad.0 + n);
            if len == WORD
                && let (Some(one), Some(other)) = (self.good.state.read(a, 8), self.bad.state.read(b, 8))
            {
                let word = |bytes: Vec<u8>| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
                match (self.good.state.is_address(a), self.bad.state.is_address(b)) {
                    (true, true) => {
                        self.queue.push_back(Task::Untyped {
                            path: path.to_owned(),
                            good: word(one),
                            bad: word(other),
                        });
                        continue;
                    }
                    (false, false) => {}
                    (is_good, _) => {
                        let told = |is: bool| if is { "a pointer" } else { "no pointer" };
                        return self.differ(path, told(is_good), told(!is_good));
                    }
                }
            }
            // A part of an address that is not completely known.
            if self.good.state.is_address(a) || self.bad.state.is_address(b) {
                continue;
            }
            for i in 0..len {
                let byte = |state: &State, at: u64| state.read(at + i, 1).map(|byte| byte[0]);
                let (one, other) = (byte(self.good.state, a), byte(self.bad.state, b));
                let is_set = (self.good.state.is_set(a + i), self.bad.state.is_set(b + i));
                let differs = match (one, other) {
                    (Some(one), Some(other)) => one != other,
                    (Some(_), None) => self.what == What::Entry && is_set.0,
                    (None, Some(_)) => self.what == What::Entry && is_set.1,
                    (None, None) => false,
                };
                if differs {
                    let told = |byte: Option<u8>| byte.map_or("not set".to_owned(), |b| format!("{b:#04x}"));
                    return self.differ(&format!("{path}, byte {}", n + i), told(one), told(other));
                }
            }
        }
    }

    /// Compares the targets of two pointers.
    pub(crate) fn untyped(&mut self, path: &str, good: u64, bad: u64) {
        match self.match_targets(path, (good, UNTYPED), (bad, UNTYPED)) {
            Some(true) => {}
            _ => return,
        }
        let is_function = |half: &Half<'_, '_>, at: u64| {
            let image = half.version.image;
            image.function_at(at).is_some() || image.external_at(at).is_some()
        };
        if is_function(&self.good, good) || is_function(&self.bad, bad) {
            let (a, b) = (function_at(&self.good, good), function_at(&self.bad, bad));
            if a != b {
                self.differ(path, a, b);
            }
            return;
        }
        let (a, b) = (self.good.state.object(good, UNTYPED), self.bad.state.object(bad, UNTYPED));
        let (Some(a), Some(b)) = (a, b) else { return };
        let lens = (a.1 - good, b.1 - bad);
        if self.what == What::Exit
            && is_text(self.good.state, good, lens.0)
            && is_text(self.bad.state, bad, lens.1)
        {
            return self.texts(path, (good, lens.0), (bad, lens.1));
        }
        if lens.0 != lens.1 {
            if self.what == What::Entry {
                self.differ(path, format!("{} bytes", lens.0), format!("{} bytes", lens.1));
            }
            return;
        }
        self.words(&format!("*{path}"), (good, lens.0), (bad, lens.1));
    }

    /// Before a call, compares the whole target of a `void *`; after it, only what the calls wrote there.
    pub(crate) fn anything(&mut self, path: &str, good: &(u64, Type<'m>), bad: &(u64, Type<'m>)) {
        if self.what == What::Entry {
            return self.untyped(path, good.0, bad.0);
        }
        let objects = (self.good.state.object(good.0, UNTYPED), self.bad.state.object(bad.0, UNTYPED));
        if let (Some(a), Some(b)) = objects
            && self.match_targets(path, (good.0, UNTYPED), (bad.0, UNTYPED)) == Some(true)
        {
            self.adjacent(path, (good.0, bad.0), [a, b], 0);
        }
    }
}

/// Whether a block consists mostly of a string with its NUL.
fn is_text(state: &State, address: u64, len: u64) -> bool {
    let Some(text) = state.string(address, usize::try_from(len).unwrap_or(0)) else { return false };
    let printable = |c: &u8| matches!(c, b' '..=b'~' | b'\n' | b'\t' | b'\r' | 0x80..);
    let ends = state.read(address + text.len() as u64, 1) == Some(vec![0]);
    !state.is_address(address) && ends && text.iter().all(printable) && (text.len() as u64 + 1) * 2 > len
}

//! Shadow memory: which bytes are input-dependent, and their terms.
//!
//! Only bytes that have a term are kept, in lines of 256 bytes. Nearly all accesses of a program are to
//! memory without terms. For those a count per page (a few pages share one) answers in one lookup that there
//! is none.

use rustc_hash::FxHashMap;
use solver::Term;

/// One byte of a term. Storing the whole term and the byte's position lets a load return the stored term
/// without extracts and concatenations in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermByte {
    pub term: Term,
    /// Position of the byte in the term, lowest first.
    pub byte: u8,
}

const LINE: u64 = 256;
/// Size of the filter; pages whose numbers agree in the low bits share one count.
const FILTER: usize = 1 << 14;

struct Line {
    held: u32,
    pieces: [Option<TermByte>; LINE as usize],
}

/// See the module's documentation.
pub struct Shadow {
    /// Number of lines (and pins) in the pages with this number modulo [`FILTER`].
    filter: Vec<u32>,
    lines: FxHashMap<u64, Box<Line>>,
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow { filter: vec![0; FILTER], lines: FxHashMap::default() }
    }
}

fn page(address: u64) -> usize {
    (address >> 12) as usize & (FILTER - 1)
}

impl Shadow {
    /// Whether a short access may touch a term or a pinned page.
    #[inline(always)]
    pub fn may_have_terms(&self, address: u64, len: u64) -> bool {
        self.filter[page(address)] | self.filter[page(address.wrapping_add(len - 1))] != 0
    }

    /// Pins or unpins pages: accesses to pinned pages are always reported by `may_have_terms`.
    pub fn pin(&mut self, address: u64, len: u64, on: bool) {
        let mut at = address >> 12;
        while at <= address.saturating_add(len.max(1) - 1) >> 12 {
            let count = &mut self.filter[at as usize & (FILTER - 1)];
            *count = if on { *count + 1 } else { count.saturating_sub(1) };
            at += 1;
        }
    }

    /// The term of a byte.
    #[must_use]
    pub fn get(&self, address: u64) -> Option<TermByte> {
        if self.filter[page(address)] == 0 {
            return None;
        }
        self.lines.get(&(address / LINE))?.pieces[(address % LINE) as usize]
    }

    /// Sets or clears the term of a byte.
    pub fn set(&mut self, address: u64, piece: Option<TermByte>) {
        let number = address / LINE;
        let place = (address % LINE) as usize;
        let line = match (self.lines.get_mut(&number), piece) {
            (Some(line), _) => line,
            (None, None) => return,
            (None, Some(_)) => {
                self.filter[page(address)] += 1;
                let line = Box::new(Line { held: 0, pieces: [None; LINE as usize] });
                self.lines.entry(number).or_insert(line)
            }
        };
        line.held = line.held + u32::from(piece.is_some()) - u32::from(line.pieces[place].is_some());
        line.pieces[place] = piece;
        if line.held == 0 {
            self.lines.remove(&number);
            self.filter[page(address)] -= 1;
        }
    }

    /// The bytes of a range that have a term, in order: offset and piece.
    #[must_use]
    pub fn find(&self, address: u64, len: u64) -> Vec<(u64, TermByte)> {
        let mut found = Vec::new();
        if self.lines.is_empty() || len == 0 {
            return found;
        }
        let last = address.saturating_add(len - 1);
        let (low, high) = (address / LINE, last / LINE);
        let mut collect = |number: u64, line: &Line| {
            for (i, piece) in line.pieces.iter().enumerate() {
                let at = number * LINE + i as u64;
                if let (Some(piece), true) = (piece, at >= address && at <= last) {
                    found.push((at - address, *piece));
                }
            }
        };
        if high - low > self.lines.len() as u64 {
            let mut numbers: Vec<u64> =
                self.lines.keys().copied().filter(|n| (low..=high).contains(n)).collect();
            numbers.sort_unstable();
            for number in numbers {
                collect(number, &self.lines[&number]);
            }
        } else {
            for number in low..=high {
                if let Some(line) = self.lines.get(&number) {
                    collect(number, line);
                }
            }
        }
        found
    }

    /// Whether a range holds a term.
    #[must_use]
    pub fn any(&self, address: u64, len: u64) -> bool {
        match len {
            0 => false,
            1..=4096 if !self.may_have_terms(address, len) => false,
            _ => !self.find(address, len).is_empty(),
        }
    }

    /// Makes a range concrete.
    pub fn clear(&mut self, address: u64, len: u64) {
        for (offset, _) in self.find(address, len) {
            self.set(address.wrapping_add(offset), None);
        }
    }

    /// Copies the terms of a range; the ranges may overlap.
    pub fn copy(&mut self, to: u64, from: u64, len: u64) {
        if to == from {
            return;
        }
        let moved = self.find(from, len);
        self.clear(to, len);
        for (offset, piece) in moved {
            self.set(to.wrapping_add(offset), Some(piece));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use solver::Pool;

    #[derive(Clone, Debug)]
    enum Act {
        Set(u64, bool),
        Clear(u64, u64),
        Copy(u64, u64, u64),
    }

    fn act() -> impl Strategy<Value = Act> {
        let address = || 0x1f00u64..0x3100;
        prop_oneof![
            (address(), any::<bool>()).prop_map(|(a, on)| Act::Set(a, on)),
            (address(), 0u64..3000).prop_map(|(a, n)| Act::Clear(a, n)),
            (address(), address(), 0u64..700).prop_map(|(a, b, n)| Act::Copy(a, b, n)),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_a_flat_array(acts in proptest::collection::vec(act(), 1..60)) {
            let mut pool = Pool::new();
            let mut shadow = Shadow::default();
            let mut flat: Vec<Option<TermByte>> = vec![None; 0x5000];
            for (n, act) in acts.into_iter().enumerate() {
                match act {
                    Act::Set(at, on) => {
                        let term = on.then(|| TermByte { term: pool.variable(n as u32, 8), byte: 0 });
                        shadow.set(at, term);
                        flat[at as usize] = term;
                    }
                    Act::Clear(at, len) => {
                        shadow.clear(at, len);
                        flat[at as usize..(at + len) as usize].fill(None);
                    }
                    Act::Copy(to, from, len) => {
                        shadow.copy(to, from, len);
                        flat.copy_within(from as usize..(from + len) as usize, to as usize);
                    }
                }
            }
            for (at, term) in flat.iter().enumerate() {
                prop_assert_eq!(shadow.get(at as u64), *term);
                prop_assert!(term.is_none() || shadow.may_have_terms(at as u64, 1));
            }
            let held = flat.iter().flatten().count();
            prop_assert_eq!(shadow.find(0, 0x5000).len(), held);
            prop_assert_eq!(shadow.any(0, 0x5000), held > 0);
            if held == 0 {
                prop_assert!(shadow.filter.iter().all(|c| *c == 0));
            }
        }
    }
}

//! Shadow memory: the label of each byte.
//!
//! Only lines with labels are stored. Nearly all accesses are to memory without labels; a count per page
//! (several pages share one) detects these with a single lookup.

use super::Label;
use rustc_hash::FxHashMap;

const LINE: u64 = 256;
/// The number of counts. Pages whose numbers agree modulo this share one.
const FILTER: usize = 1 << 12;

struct Line {
    held: u32,
    labels: [Label; LINE as usize],
}

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Shadow {
    /// For each page number modulo [`FILTER`], the number of stored lines; empty while there are none.
    filter: Vec<u32>,
    lines: FxHashMap<u64, Box<Line>>,
}

fn page(address: u64) -> usize {
    (address >> 12) as usize & (FILTER - 1)
}

impl Shadow {
    /// The number of lines with labels.
    #[inline]
    pub(super) fn held(&self) -> usize {
        self.lines.len()
    }

    /// Whether an access to a few bytes may touch a label.
    #[inline]
    pub(super) fn may_hold(&self, address: u64, len: u64) -> bool {
        !self.lines.is_empty()
            && self.filter[page(address)] | self.filter[page(address.wrapping_add(len.wrapping_sub(1)))] != 0
    }

    pub(super) fn get(&self, address: u64) -> Label {
        match self.may_hold(address, 1) {
            true => self.lines.get(&(address / LINE)).map_or(0, |l| l.labels[(address % LINE) as usize]),
            false => 0,
        }
    }

    pub(super) fn set(&mut self, address: u64, label: Label) {
        let number = address / LINE;
        let line = match self.lines.get_mut(&number) {
            Some(line) => line,
            None if label == 0 => return,
            None => {
                if self.filter.is_empty() {
                    self.filter = vec![0; FILTER];
                }
                self.filter[page(address)] += 1;
                self.lines.entry(number).or_insert(Box::new(Line { held: 0, labels: [0; LINE as usize] }))
            }
        };
        let old = std::mem::replace(&mut line.labels[(address % LINE) as usize], label);
        line.held = line.held + u32::from(label != 0) - u32::from(old != 0);
        if line.held == 0 {
            self.lines.remove(&number);
            self.filter[page(address)] -= 1;
        }
    }

    /// The lines with labels that a range touches, in order.
    fn touched(&self, address: u64, len: u64) -> Vec<u64> {
        if self.lines.is_empty() || len == 0 {
            return Vec::new();
        }
        let (first, last) = (address / LINE, address.saturating_add(len - 1) / LINE);
        if last - first < self.lines.len() as u64 {
            return (first..=last).filter(|n| self.lines.contains_key(n)).collect();
        }
        let mut found: Vec<u64> = self.lines.keys().copied().filter(|n| (first..=last).contains(n)).collect();
        found.sort_unstable();
        found
    }

    /// The labelled bytes of a range, in order: offset and label.
    pub(super) fn find(&self, address: u64, len: u64) -> Vec<(u64, Label)> {
        let mut out = Vec::new();
        for number in self.touched(address, len) {
            let Some(line) = self.lines.get(&number) else { continue };
            for (i, label) in line.labels.iter().enumerate().filter(|(_, l)| **l != 0) {
                let at = (number * LINE + i as u64).wrapping_sub(address);
                if at < len {
                    out.push((at, *label));
                }
            }
        }
        out
    }

    /// The union of the labels of a range.
    pub(super) fn union(&self, address: u64, len: u64) -> Label {
        if len <= 8 {
            if !self.may_hold(address, len) {
                return 0;
            }
            return (0..len).fold(0, |sum, i| sum | self.get(address.wrapping_add(i)));
        }
        self.find(address, len).into_iter().fold(0, |sum, (_, label)| sum | label)
    }

    /// Gives all bytes of a range one label.
    pub(super) fn fill(&mut self, address: u64, len: u64, label: Label) {
        if label != 0 {
            (0..len).for_each(|i| self.set(address.wrapping_add(i), label));
        } else if len <= 8 {
            if self.may_hold(address, len) {
                (0..len).for_each(|i| self.set(address.wrapping_add(i), 0));
            }
        } else {
            for (at, _) in self.find(address, len) {
                self.set(address.wrapping_add(at), 0);
            }
        }
    }

    /// Copies the labels of a range to another; they may overlap.
    pub(super) fn copy(&mut self, to: u64, from: u64, len: u64) {
        if self.lines.is_empty() {
            return;
        }
        let found = self.find(from, len);
        self.fill(to, len, 0);
        for (at, label) in found {
            self.set(to.wrapping_add(at), label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_move_and_go() {
        let mut s = Shadow::default();
        assert_eq!((s.get(7), s.union(0, 1 << 40), s.held()), (0, 0, 0));
        s.fill(0x1000 - 4, 8, 4);
        s.set(0x1003, 2);
        assert_eq!(s.union(0x0fff, 5), 6);
        assert_eq!(s.find(0x0ff0, 0x40).len(), 8);
        // Overlapping, in both directions.
        s.copy(0x1000, 0x1000 - 4, 8);
        assert_eq!((s.get(0x1007), s.get(0x1003), s.get(0x0ffc)), (2, 4, 4));
        s.copy(0x0ffc, 0x1000, 8);
        assert_eq!((s.get(0x1003), s.get(0x1004), s.get(0x1007)), (2, 4, 2));
        s.fill(0, u64::MAX, 0);
        assert_eq!((s.held(), s.may_hold(0x1000, 8)), (0, false));
    }
}

//! Memory of a replayed thread: 4 KiB pages, found through two small direct-mapped tables, one for reading
//! and one for writing.
//!
//! A page is in the write table only if it was already marked dirty since the last checkpoint, so a store
//! costs the same as a load and a checkpoint copies only pages that changed. Pages of a [`History`] are
//! copied when they are first accessed: returning to a checkpoint costs nothing by itself.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Bytes of a page.
pub const PAGE: usize = 4096;
const TLB_SIZE: usize = 4096;
/// No page has this index.
const NO_PAGE: u32 = u32::MAX;

pub(crate) type Page = [u8; PAGE];

/// By page number.
pub(crate) type PageMap<V> = FxHashMap<u64, V>;

/// The pages of all checkpoints of one replay: for each page its versions, oldest first, with the number of
/// the checkpoint that first contained it.
#[derive(Clone, Default)]
pub struct History {
    versions: PageMap<Vec<(u32, Arc<Page>)>>,
    checkpoints: u32,
    pages: usize,
}

impl History {
    fn page(&self, number: u64, checkpoint: u32) -> Option<&Arc<Page>> {
        let versions = self.versions.get(&number)?;
        let n = versions.partition_point(|v| v.0 <= checkpoint);
        versions[..n].last().map(|v| &v.1)
    }

    /// The history of one checkpoint, number 0, at which memory had these pages.
    pub(crate) fn of(pages: &PageMap<Arc<Page>>) -> History {
        let versions = pages.iter().map(|(number, page)| (*number, vec![(0, page.clone())])).collect();
        History { versions, checkpoints: 1, pages: pages.len() }
    }

    /// All pages that were ever written, each with its version (and the checkpoint that first contained it)
    /// at a checkpoint; none if it was not written by then.
    pub(crate) fn pages_at(
        &self,
        checkpoint: u32,
    ) -> impl Iterator<Item = (u64, Option<&(u32, Arc<Page>)>)> + '_ {
        self.versions.iter().map(move |(number, versions)| {
            let n = versions.partition_point(|v| v.0 <= checkpoint);
            (*number, versions[..n].last())
        })
    }

    /// Bytes that the copies of pages occupy.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages * PAGE
    }
}

#[derive(Clone, Copy)]
struct TlbEntry {
    /// Address of the page. Its distance to the address of an access decides in one comparison whether the
    /// whole access lies in the page.
    start: u64,
    index: u32,
}

impl TlbEntry {
    fn holds(self, page: u64) -> bool {
        self.start == page << 12 && self.index != NO_PAGE
    }
}

const EMPTY: TlbEntry = TlbEntry { start: 0, index: NO_PAGE };

/// See the module's documentation.
#[derive(Clone)]
pub struct Memory {
    reads: Box<[TlbEntry; TLB_SIZE]>,
    writes: Box<[TlbEntry; TLB_SIZE]>,
    map: PageMap<u32>,
    /// Entry 0 is the page of zeros, from which all unwritten pages are read.
    pages: Vec<Page>,
    dirty: Vec<bool>,
    /// Page numbers marked dirty, in the order of their first write.
    dirtied: Vec<(u64, u32)>,
    base: Option<(Arc<History>, u32)>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            reads: Box::new([EMPTY; TLB_SIZE]),
            writes: Box::new([EMPTY; TLB_SIZE]),
            map: PageMap::default(),
            pages: vec![[0; PAGE]],
            dirty: vec![false],
            dirtied: Vec::new(),
            base: None,
        }
    }
}

#[inline(always)]
fn tlb_index(page: u64) -> usize {
    // A better hash does not pay off: these are two instructions on the path of every access.
    page as usize & (TLB_SIZE - 1)
}

macro_rules! scalar {
    ($load:ident, $store:ident, $ty:ty, $n:literal) => {
        /// Loads a value; memory never written is zero. The page may enter the table.
        #[inline(always)]
        pub fn $load(&mut self, address: u64) -> $ty {
            let w = self.reads[tlb_index(address >> 12)];
            let at = address.wrapping_sub(w.start) as usize;
            if at < PAGE + 1 - $n {
                if let Some(p) = self.pages.get(w.index as usize) {
                    let mut b = [0; $n];
                    b.copy_from_slice(&p[at..at + $n]);
                    return <$ty>::from_le_bytes(b);
                }
            }
            self.load_slow(address, $n) as $ty
        }

        /// Stores a value; the page may enter the tables, and is dirty from then on.
        #[inline(always)]
        pub fn $store(&mut self, address: u64, value: $ty) {
            let w = self.writes[tlb_index(address >> 12)];
            let at = address.wrapping_sub(w.start) as usize;
            if at < PAGE + 1 - $n {
                if let Some(p) = self.pages.get_mut(w.index as usize) {
                    p[at..at + $n].copy_from_slice(&value.to_le_bytes());
                    return;
                }
            }
            self.store_slow(address, u64::from(value), $n);
        }
    };
}

impl Memory {
    /// Memory in its state at a checkpoint.
    #[must_use]
    pub fn at(history: Arc<History>, checkpoint: u32) -> Self {
        Memory { base: Some((history, checkpoint)), ..Memory::default() }
    }

    scalar!(load1, store1, u8, 1);
    scalar!(load2, store2, u16, 2);
    scalar!(load4, store4, u32, 4);
    scalar!(load8, store8, u64, 8);

    /// A load across the end of a page, or from a page that is not in the table.
    #[cold]
    #[inline(never)]
    fn load_slow(&mut self, address: u64, len: usize) -> u64 {
        let mut b = [0; 8];
        self.read(address, &mut b[..len]);
        u64::from_le_bytes(b)
    }

    #[cold]
    #[inline(never)]
    fn store_slow(&mut self, address: u64, value: u64, len: usize) {
        self.write(address, &value.to_le_bytes()[..len]);
    }

    /// Index of a page for reading; 0 (zeros) if it was never written.
    #[cold]
    #[inline(never)]
    fn page_for_read(&mut self, page: u64) -> u32 {
        let index = match self.map.get(&page) {
            Some(i) => *i,
            None => match self.base.as_ref().and_then(|(h, k)| h.page(page, *k)) {
                Some(p) => {
                    let i = self.pages.len() as u32;
                    self.pages.push(**p);
                    self.dirty.push(false);
                    self.map.insert(page, i);
                    i
                }
                None => 0,
            },
        };
        self.reads[tlb_index(page)] = TlbEntry { start: page << 12, index };
        index
    }

    /// Index of a page for writing; marks it dirty.
    #[cold]
    #[inline(never)]
    fn page_for_write(&mut self, page: u64) -> u32 {
        let mut index = self.page_for_read(page);
        if index == 0 {
            index = self.pages.len() as u32;
            self.pages.push([0; PAGE]);
            self.dirty.push(false);
            self.map.insert(page, index);
            self.reads[tlb_index(page)] = TlbEntry { start: page << 12, index };
        }
        if !std::mem::replace(&mut self.dirty[index as usize], true) {
            self.dirtied.push((page, index));
        }
        self.writes[tlb_index(page)] = TlbEntry { start: page << 12, index };
        index
    }

    /// Reads a range; memory never written is zero.
    pub fn read(&mut self, mut address: u64, mut out: &mut [u8]) {
        while !out.is_empty() {
            let (page, at) = (address >> 12, (address & 4095) as usize);
            let n = out.len().min(PAGE - at);
            let w = self.reads[tlb_index(page)];
            let index = if w.holds(page) { w.index } else { self.page_for_read(page) };
            let (head, tail) = out.split_at_mut(n);
            head.copy_from_slice(&self.pages[index as usize][at..at + n]);
            out = tail;
            address = address.wrapping_add(n as u64);
        }
    }

    /// Writes a range.
    pub fn write(&mut self, mut address: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (page, at) = (address >> 12, (address & 4095) as usize);
            let n = bytes.len().min(PAGE - at);
            let w = self.writes[tlb_index(page)];
            let index = if w.holds(page) { w.index } else { self.page_for_write(page) };
            let (head, tail) = bytes.split_at(n);
            self.pages[index as usize][at..at + n].copy_from_slice(head);
            bytes = tail;
            address = address.wrapping_add(n as u64);
        }
    }

    /// Reads without changing the tables, for observers.
    pub fn peek(&self, mut address: u64, mut out: &mut [u8]) {
        while !out.is_empty() {
            let (page, at) = (address >> 12, (address & 4095) as usize);
            let n = out.len().min(PAGE - at);
            let (head, tail) = out.split_at_mut(n);
            match self.map.get(&page) {
                Some(i) => head.copy_from_slice(&self.pages[*i as usize][at..at + n]),
                None => match self.base.as_ref().and_then(|(h, k)| h.page(page, *k)) {
                    Some(p) => head.copy_from_slice(&p[at..at + n]),
                    None => head.fill(0),
                },
            }
            out = tail;
            address = address.wrapping_add(n as u64);
        }
    }

    /// Like [`Memory::peek`], for one value of up to 8 bytes.
    #[must_use]
    pub fn peek_word(&self, address: u64, len: usize) -> u64 {
        let mut b = [0; 8];
        self.peek(address, &mut b[..len.min(8)]);
        u64::from_le_bytes(b)
    }

    /// The bytes up to the next zero, at most `limit`.
    #[must_use]
    pub fn peek_string(&self, address: u64, limit: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut b = [0];
        while out.len() < limit {
            self.peek(address.wrapping_add(out.len() as u64), &mut b);
            if b[0] == 0 {
                break;
            }
            out.push(b[0]);
        }
        out
    }

    /// Moves a range; overlap allowed.
    pub fn copy(&mut self, to: u64, from: u64, len: u64) {
        if to == from || len == 0 {
            return;
        }
        if len / PAGE as u64 > self.written() && to.abs_diff(from) >= len {
            return self.copy_written(to, from, len);
        }
        // No program moves more than this by less than its length, but a damaged recording may contain such a
        // move.
        let len = len.min(1 << 36);
        let mut buffer = [0; PAGE];
        let backwards = to.wrapping_sub(from) < len;
        let mut done = 0;
        while done < len {
            let n = (len - done).min(PAGE as u64);
            let at = if backwards { len - done - n } else { done };
            let part = &mut buffer[..n as usize];
            self.read(from.wrapping_add(at), part);
            if part.iter().all(|b| *b == 0) {
                self.zero(to.wrapping_add(at), n);
            } else {
                self.write(to.wrapping_add(at), part);
            }
            done += n;
        }
    }

    /// Fills a range with a byte.
    pub fn fill(&mut self, to: u64, byte: u8, len: u64) {
        if byte == 0 {
            return self.zero(to, len);
        }
        let buffer = [byte; PAGE];
        let mut done = 0;
        while done < len {
            let n = (len - done).min(PAGE as u64);
            self.write(to.wrapping_add(done), &buffer[..n as usize]);
            done += n;
        }
    }

    /// Fills with zeros. Pages that were never written stay unwritten: a reservation of any size takes no
    /// memory, and no time either if it has more pages than were written in total.
    fn zero(&mut self, to: u64, len: u64) {
        let Some(end) = to.checked_add(len) else {
            let below = 0u64.wrapping_sub(to);
            self.zero_below(to, u64::MAX);
            if self.load1(u64::MAX) != 0 {
                self.store1(u64::MAX, 0);
            }
            return self.zero_below(0, len - below);
        };
        self.zero_below(to, end);
    }

    fn zero_below(&mut self, to: u64, end: u64) {
        let (first, last) = (to >> 12, end.div_ceil(PAGE as u64));
        if last - first <= self.written() {
            for page in first..last {
                self.zero_in_page(page, to, end);
            }
            return;
        }
        for page in self.written_in(first..last) {
            self.zero_in_page(page, to, end);
        }
    }

    /// Approximate number of pages that were ever written.
    fn written(&self) -> u64 {
        (self.map.len() + self.base.as_ref().map_or(0, |(h, _)| h.versions.len())) as u64
    }

    /// The pages of a range that may differ from zeros, each once.
    fn written_in(&self, range: std::ops::Range<u64>) -> Vec<u64> {
        let mut written: Vec<u64> = self.map.keys().copied().filter(|p| range.contains(p)).collect();
        if let Some((history, _)) = &self.base {
            let old = history.versions.keys().copied();
            written.extend(old.filter(|p| range.contains(p) && !self.map.contains_key(p)));
        }
        written
    }

    /// Copies a range that is larger than everything that was written, by copying only written pages.
    fn copy_written(&mut self, to: u64, from: u64, len: u64) {
        self.zero(to, len);
        let end = from.saturating_add(len);
        let mut buffer = [0; PAGE];
        for page in self.written_in(from >> 12..end.div_ceil(PAGE as u64)) {
            let start = from.max(page << 12);
            let part = &mut buffer[..(end - start).min(((page + 1) << 12) - start) as usize];
            self.read(start, part);
            if part.iter().any(|b| *b != 0) {
                self.write(to.wrapping_add(start - from), part);
            }
        }
    }

    /// Zeroes the part of the range `to..end` that lies in one page, unless it is already zero.
    fn zero_in_page(&mut self, page: u64, to: u64, end: u64) {
        let start = page << 12;
        let (from, until) = (to.max(start) - start, end.saturating_sub(start).min(PAGE as u64));
        let range = from as usize..until as usize;
        let index = self.page_for_read(page) as usize;
        if index != 0 && self.pages[index][range.clone()].iter().any(|b| *b != 0) {
            let index = self.page_for_write(page) as usize;
            self.pages[index][range].fill(0);
        }
    }

    /// Copies the pages that changed since the last call into `history`; returns the number of this
    /// checkpoint.
    pub fn checkpoint(&mut self, history: &mut History) -> u32 {
        let number = history.checkpoints;
        history.checkpoints += 1;
        for (page, index) in self.dirtied.drain(..) {
            self.dirty[index as usize] = false;
            let copy = Arc::new(self.pages[index as usize]);
            history.versions.entry(page).or_default().push((number, copy));
            history.pages += 1;
        }
        self.writes.fill(EMPTY);
        number
    }

    /// Number of pages that this replay has accessed.
    #[must_use]
    pub fn resident(&self) -> usize {
        self.pages.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn untouched_memory_is_zero_and_then_what_was_written() {
        let mut m = Memory::default();
        assert_eq!(m.load8(0x7fff_1234_5ffc), 0);
        m.store8(0x7fff_1234_5ffc, 0x1122_3344_5566_7788);
        assert_eq!(m.load8(0x7fff_1234_5ffc), 0x1122_3344_5566_7788);
        assert_eq!(m.load4(0x7fff_1234_6000), 0x1122_3344);
        assert_eq!(m.resident(), 2);
    }

    #[test]
    fn a_checkpoint_keeps_old_content() {
        let mut m = Memory::default();
        let mut h = History::default();
        m.store4(0x1000, 1);
        m.store4(0x5000, 7);
        let first = m.checkpoint(&mut h);
        m.store4(0x1000, 2);
        let second = m.checkpoint(&mut h);
        m.store4(0x1000, 3);
        assert_eq!(h.bytes(), 3 * PAGE);
        let h = Arc::new(h);
        let mut old = Memory::at(h.clone(), first);
        let mut new = Memory::at(h, second);
        assert_eq!((old.load4(0x1000), old.load4(0x5000)), (1, 7));
        assert_eq!((new.load4(0x1000), new.load4(0x5000)), (2, 7));
        old.store4(0x5000, 9);
        assert_eq!((old.load4(0x5000), new.load4(0x5000)), (9, 7));
    }

    #[derive(Debug, Clone)]
    enum MemoryOp {
        Write(u64, Vec<u8>),
        Copy(u64, u64, u64),
        Fill(u64, u8, u64),
        Word(u64, u64),
        Checkpoint,
    }

    fn act() -> impl Strategy<Value = MemoryOp> {
        let address = || 0x7000u64..0x7000 + 20_000;
        prop_oneof![
            (address(), proptest::collection::vec(any::<u8>(), 0..50))
                .prop_map(|(a, b)| MemoryOp::Write(a, b)),
            (address(), address(), 0u64..9000).prop_map(|(a, b, n)| MemoryOp::Copy(a, b, n)),
            (address(), any::<u8>(), 0u64..9000).prop_map(|(a, b, n)| MemoryOp::Fill(a, b, n)),
            (address(), any::<u64>()).prop_map(|(a, v)| MemoryOp::Word(a, v)),
            Just(MemoryOp::Checkpoint),
        ]
    }

    #[test]
    fn a_reservation_is_not_materialised() {
        let mut m = Memory::default();
        m.write(0x7000_0000_0ff0, &[7; 32]);
        m.fill(0x6fff_0000_0123, 0, 64 << 30);
        assert_eq!((m.load1(0x7000_0000_0ff0), m.resident()), (0, 2));
        m.copy(0x1000_0000_0000, 0x7000_0000_0000, 1 << 20);
        assert_eq!(m.resident(), 2);
        m.write(0x7000_0000_1ffc, &[1, 2, 3, 4, 5, 6]);
        m.copy(0x2000_0000_0002, 0x7000_0000_0001, 64 << 30);
        assert_eq!((m.load4(0x2000_0000_1ffd), m.load2(0x2000_0000_2001)), (0x0403_0201, 0x0605));
        let before = m.resident();
        m.store1(u64::MAX, 9);
        m.fill(u64::MAX - 5, 0, 100);
        assert_eq!((m.load1(u64::MAX), m.resident()), (0, before + 1));
    }

    proptest! {
        #[test]
        fn agrees_with_a_flat_array(acts in proptest::collection::vec(act(), 1..40)) {
            let mut m = Memory::default();
            let mut h = History::default();
            let mut flat = vec![0u8; 0x7000 + 40_000];
            let mut states = Vec::new();
            for a in acts {
                match a {
                    MemoryOp::Write(at, b) => {
                        m.write(at, &b);
                        flat[at as usize..at as usize + b.len()].copy_from_slice(&b);
                    }
                    MemoryOp::Copy(to, from, n) => {
                        m.copy(to, from, n);
                        flat.copy_within(from as usize..(from + n) as usize, to as usize);
                    }
                    MemoryOp::Fill(to, b, n) => {
                        m.fill(to, b, n);
                        flat[to as usize..(to + n) as usize].fill(b);
                    }
                    MemoryOp::Word(to, v) => {
                        m.store8(to, v);
                        flat[to as usize..to as usize + 8].copy_from_slice(&v.to_le_bytes());
                        prop_assert_eq!(m.load8(to), v);
                    }
                    MemoryOp::Checkpoint => {
                        let k = m.checkpoint(&mut h);
                        states.push((k, flat.clone()));
                    }
                }
                let mut seen = vec![0; flat.len()];
                m.read(0, &mut seen);
                prop_assert!(seen == flat);
            }
            let h = Arc::new(h);
            for (k, state) in states {
                let mut old = Memory::at(h.clone(), k);
                let mut seen = vec![0; state.len()];
                old.peek(0, &mut seen);
                prop_assert!(seen == state);
                old.read(0, &mut seen);
                prop_assert!(seen == state);
            }
        }
    }
}

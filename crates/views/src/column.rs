//! A long list of small values that is kept in memory up to a limit, and on disk beyond it.
//!
//! The list is append-only, apart from [`Column::set`]. It is divided into chunks; a full chunk stays in
//! memory while the [`Budget`] allows it, and is otherwise written to a temporary file. Chunks are read back
//! through a small cache, so that a sequential traversal takes linear time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Number of values per chunk: a power of two.
pub const CHUNK: usize = 1 << 16;
const SHIFT: u32 = CHUNK.trailing_zeros();
/// Number of cached chunks that were read back from disk.
const CACHED: usize = 8;

/// A value that a column can hold.
pub trait Word: Copy + Default {
    /// Its size on disk, in bytes.
    const SIZE: usize;
    /// Appends the value's bytes.
    fn put(self, to: &mut Vec<u8>);
    /// Decodes a value from exactly [`Word::SIZE`] bytes.
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! word {
    ($ty:ty) => {
        impl Word for $ty {
            const SIZE: usize = size_of::<$ty>();
            fn put(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            fn take(bytes: &[u8]) -> Self {
                let mut word = [0; size_of::<$ty>()];
                word.copy_from_slice(bytes);
                <$ty>::from_le_bytes(word)
            }
        }
    };
}
word!(u16);
word!(u32);
word!(u64);

/// The number of bytes that may stay in memory, shared by the columns of one or more traces.
#[derive(Debug)]
pub struct Budget {
    left: AtomicU64,
    /// Bytes on disk.
    on_disk: AtomicU64,
}

impl Budget {
    /// A budget of `bytes` bytes.
    #[must_use]
    pub fn new(bytes: u64) -> Arc<Budget> {
        Arc::new(Budget { left: AtomicU64::new(bytes), on_disk: AtomicU64::new(0) })
    }

    fn take(&self, bytes: u64) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    /// The number of bytes written to disk so far.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.on_disk.load(Ordering::Relaxed)
    }
}

enum Chunk<T> {
    Here(Box<[T]>),
    /// Byte offset in the file.
    OnDisk(u64),
}

/// See the module's documentation.
pub struct Column<T> {
    chunks: Vec<Chunk<T>>,
    tail: Vec<T>,
    budget: Arc<Budget>,
    file: Option<File>,
    written: u64,
    cache: Mutex<Vec<(usize, Arc<[T]>)>>,
}

impl<T: Word> Column<T> {
    /// An empty column.
    #[must_use]
    pub fn new(budget: &Arc<Budget>) -> Column<T> {
        Column {
            chunks: Vec::new(),
            tail: Vec::new(),
            budget: budget.clone(),
            file: None,
            written: 0,
            cache: Mutex::new(Vec::new()),
        }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.chunks.len() << SHIFT) + self.tail.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a value. The caller calls [`Column::settle`] when a chunk is full.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.tail.push(value);
    }

    /// Appends values.
    ///
    /// # Errors
    /// As [`Column::settle`].
    pub fn append(&mut self, values: &[T]) -> io::Result<()> {
        if self.tail.capacity() == 0 {
            self.tail.reserve_exact(CHUNK);
        }
        self.tail.extend_from_slice(values);
        if self.is_full() { self.settle() } else { Ok(()) }
    }

    /// Whether the current chunk is full.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.tail.len() >= CHUNK
    }

    /// Moves full chunks to memory or to disk, as the budget allows.
    ///
    /// # Errors
    /// If the memory budget is exhausted and writing to disk fails.
    pub fn settle(&mut self) -> io::Result<()> {
        while self.tail.len() >= CHUNK {
            let mut rest = Vec::with_capacity(CHUNK.max(self.tail.len() - CHUNK));
            rest.extend(self.tail.drain(CHUNK..));
            let full = std::mem::replace(&mut self.tail, rest);
            let size = (CHUNK * size_of::<T>()) as u64;
            if self.budget.take(size) {
                self.chunks.push(Chunk::Here(full.into_boxed_slice()));
            } else {
                let mut bytes = Vec::with_capacity(CHUNK * T::SIZE);
                full.iter().for_each(|v| v.put(&mut bytes));
                let file = match &mut self.file {
                    Some(file) => file,
                    none => none.insert(tempfile::tempfile()?),
                };
                file.write_all_at(&bytes, self.written)?;
                self.chunks.push(Chunk::OnDisk(self.written));
                self.written += bytes.len() as u64;
                self.budget.on_disk.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// The value at an index; the default value past the end. If a chunk can no longer be read, its values
    /// are defaults: this is not expected, since the file is private and unlinked.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> T {
        let at = index & (CHUNK - 1);
        match self.chunks.get(index >> SHIFT) {
            Some(Chunk::Here(values)) => values[at],
            Some(Chunk::OnDisk(offset)) => self.fetch(index >> SHIFT, *offset)[at],
            None => self.tail.get(index - (self.chunks.len() << SHIFT)).copied().unwrap_or_default(),
        }
    }

    /// Overwrites a value, in memory or on disk. Returns whether it succeeded.
    pub fn set(&mut self, index: usize, value: T) -> bool {
        let at = index & (CHUNK - 1);
        let first = self.chunks.len() << SHIFT;
        match self.chunks.get_mut(index >> SHIFT) {
            Some(Chunk::Here(values)) => values[at] = value,
            Some(Chunk::OnDisk(offset)) => {
                let mut bytes = Vec::with_capacity(T::SIZE);
                value.put(&mut bytes);
                let at = *offset + (at * T::SIZE) as u64;
                let written = self.file.as_ref().is_some_and(|f| f.write_all_at(&bytes, at).is_ok());
                self.cache.get_mut().map(Vec::clear).unwrap_or_default();
                return written;
            }
            None => match self.tail.get_mut(index.wrapping_sub(first)) {
                Some(place) => *place = value,
                None => return false,
            },
        }
        true
    }

    /// A reader that is fast for nearby indices.
    #[must_use]
    pub fn cursor(&self) -> Cursor<'_, T> {
        Cursor { column: self, chunk: usize::MAX, held: CachedChunk::Here(&[]) }
    }

    #[cold]
    fn fetch(&self, chunk: usize, offset: u64) -> Arc<[T]> {
        let mut cache = match self.cache.lock() {
            Ok(cache) => cache,
            Err(poisoned) => poisoned.into_inner(),
        };
        if let Some(at) = cache.iter().position(|c| c.0 == chunk) {
            // Move the most recently used chunk to the front.
            cache[..=at].rotate_right(1);
            return cache[0].1.clone();
        }
        let mut bytes = vec![0; CHUNK * T::SIZE];
        let read = self.file.as_ref().is_some_and(|f| f.read_exact_at(&mut bytes, offset).is_ok());
        let values: Arc<[T]> = match read {
            true => bytes.chunks_exact(T::SIZE).map(T::take).collect(),
            false => vec![T::default(); CHUNK].into(),
        };
        cache.truncate(CACHED - 1);
        cache.insert(0, (chunk, values.clone()));
        values
    }

    /// The size of the values in memory, in bytes.
    #[must_use]
    pub fn resident(&self) -> u64 {
        let here = self.chunks.iter().filter(|c| matches!(c, Chunk::Here(_))).count() * CHUNK;
        ((here + self.tail.len()) * size_of::<T>()) as u64
    }
}

enum CachedChunk<'c, T> {
    Here(&'c [T]),
    Fetched(Arc<[T]>),
}

/// Reads a column and caches the chunk it read last.
pub struct Cursor<'c, T> {
    column: &'c Column<T>,
    chunk: usize,
    held: CachedChunk<'c, T>,
}

impl<T: Word> Cursor<'_, T> {
    /// The value at an index; the default value past the end.
    #[inline]
    pub fn get(&mut self, index: usize) -> T {
        self.ahead(index).first().copied().unwrap_or_default()
    }

    /// The values from an index to the end of its chunk.
    #[inline]
    pub fn ahead(&mut self, index: usize) -> &[T] {
        if index >> SHIFT != self.chunk {
            self.load_chunk(index >> SHIFT);
        }
        let values = match &self.held {
            CachedChunk::Here(values) => values,
            CachedChunk::Fetched(values) => &values[..],
        };
        values.get(index & (CHUNK - 1)..).unwrap_or_default()
    }

    #[cold]
    fn load_chunk(&mut self, chunk: usize) {
        self.chunk = chunk;
        self.held = match self.column.chunks.get(chunk) {
            Some(Chunk::Here(values)) => CachedChunk::Here(values),
            Some(Chunk::OnDisk(offset)) => CachedChunk::Fetched(self.column.fetch(chunk, *offset)),
            None if chunk == self.column.chunks.len() => CachedChunk::Here(&self.column.tail),
            None => CachedChunk::Here(&[]),
        };
    }
}

impl<T> Drop for Column<T> {
    fn drop(&mut self) {
        let here = self.chunks.iter().filter(|c| matches!(c, Chunk::Here(_))).count();
        self.budget.left.fetch_add((here * CHUNK * size_of::<T>()) as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(budget: u64, n: usize) -> Column<u32> {
        let mut column = Column::new(&Budget::new(budget));
        for i in 0..n {
            column.push(i as u32 * 7);
            if column.is_full() {
                column.settle().unwrap();
            }
        }
        column
    }

    #[test]
    fn values_come_back_from_memory_and_from_disk() {
        let n = 3 * CHUNK + 17;
        for budget in [u64::MAX, (CHUNK * 4) as u64, 0] {
            let mut column = filled(budget, n);
            assert_eq!(column.len(), n);
            for i in [0, 1, CHUNK - 1, CHUNK, 2 * CHUNK + 5, n - 1] {
                assert_eq!(column.get(i), i as u32 * 7);
                assert_eq!(column.cursor().get(i), i as u32 * 7);
                assert!(column.set(i, 1));
                assert_eq!(column.get(i), 1);
            }
            assert_eq!(column.get(n), 0);
            assert_eq!(column.cursor().get(n), 0);
            assert_eq!(column.cursor().ahead(n - 3).len(), 3);
            assert!(column.cursor().ahead(9 * CHUNK).is_empty());
            assert!(!column.set(n, 1));
        }
    }

    #[test]
    fn the_budget_says_how_much_is_away() {
        let budget = Budget::new((CHUNK * 4) as u64);
        let mut column = Column::<u32>::new(&budget);
        for i in 0..3 * CHUNK {
            column.push(i as u32);
        }
        column.settle().unwrap();
        assert_eq!(budget.spilled(), (2 * CHUNK * 4) as u64);
        assert!(column.resident() < (2 * CHUNK * 4 + CHUNK * 8) as u64);
        drop(column);
        assert!(budget.take((CHUNK * 4) as u64), "what is dropped makes room again");
    }
}

//! The location of shadows. The shadow of a thread is memory at `address XOR key`.
//!
//! Address space is divided into blocks of 2^36 bytes. The program uses a few of them (executable and heap,
//! mapped memory, stack); a key is a block number that maps each of these blocks to an unused one. All shadow
//! blocks are reserved at once, which costs nothing until they are touched. A mapping that the program makes
//! later, in a block not foreseen, gets its shadow when the first access faults ([`map_missing_shadow`]).

use crate::context;
use crate::sys;
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

const BLOCK_BITS: u32 = 36;
const BLOCK: u64 = 1 << BLOCK_BITS;
/// Blocks of the lower half of a 48-bit address space.
const BLOCKS: usize = 1 << (47 - BLOCK_BITS);

/// A set of blocks. It only grows, so it can be read while another thread adds to it.
struct Blocks([AtomicU64; BLOCKS / 64]);

impl Blocks {
    const fn new() -> Blocks {
        Blocks([const { AtomicU64::new(0) }; BLOCKS / 64])
    }

    fn has(&self, block: usize) -> bool {
        self.0.get(block / 64).is_none_or(|w| w.load(Relaxed) >> (block % 64) & 1 != 0)
    }

    fn add(&self, block: usize) {
        if let Some(w) = self.0.get(block / 64) {
            w.fetch_or(1 << (block % 64), Relaxed);
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        (0..BLOCKS).filter(|&b| self.has(b))
    }
}

/// Blocks of the program, found by [`scan_maps`].
static PROGRAM_BLOCKS: Blocks = Blocks::new();

/// State that only the holder of [`LOCK`] uses.
struct State {
    /// Blocks of the program and of all shadows.
    used: Blocks,
    /// Keys of threads that have ended, oldest first.
    retired: [u64; RETIRED],
}

const RETIRED: usize = 256;
/// Number of shadows of ended threads that are kept.
const KEPT: usize = 8;

static mut STATE: State = State { used: Blocks::new(), retired: [0; RETIRED] };
static LOCK: AtomicBool = AtomicBool::new(false);

/// Runs with the lock held and signals blocked, so that no handler can wait for its own thread.
fn locked<R>(f: impl FnOnce(&mut State) -> R) -> R {
    let mask = sys::block_signals();
    while LOCK.swap(true, Acquire) {
        sys::yield_now();
    }
    // SAFETY: only the holder of the lock has a reference. No other thread holds it, and no handler runs in
    // this one; `f` does not take it again.
    let result = f(unsafe { &mut *(&raw mut STATE) });
    LOCK.store(false, Release);
    sys::restore_signals(mask);
    result
}

/// In a forked child the lock may be held by a thread that does not exist.
pub fn after_fork() {
    LOCK.store(false, Release);
}

/// Adds the blocks that the program uses or is likely to use.
pub fn scan_maps() {
    let program = &PROGRAM_BLOCKS;
    let mut heap_seen = 0;
    // Executables that are not position independent, and their heap.
    program.add(0);
    let mut lowest_mapped = BLOCKS;
    for_each_mapping(|start, end, name| {
        let (first, last) = ((start >> BLOCK_BITS) as usize, ((end - 1) >> BLOCK_BITS) as usize);
        if last >= BLOCKS {
            return;
        }
        for block in first..=last {
            program.add(block);
        }
        if name == b"[heap]" {
            heap_seen = last;
        }
        // Mapped memory is in the uppermost eighth and grows down.
        if first >= BLOCKS - BLOCKS / 8 {
            lowest_mapped = lowest_mapped.min(first);
        }
    });
    let brk_from = if heap_seen > 0 { heap_seen } else { executable_block() };
    if brk_from > 0 {
        program.add(brk_from);
        program.add(brk_from + 1);
    }
    for below in 1..=2 {
        if lowest_mapped < BLOCKS {
            program.add(lowest_mapped - below);
        }
    }
    program.add(BLOCKS - 1);
    locked(|state| {
        for block in program.iter() {
            state.used.add(block);
        }
    });
}

/// The block of the running executable's highest part, computed from the runtime's own code if that is linked
/// into the executable.
fn executable_block() -> usize {
    (executable_block as *const () as usize) >> BLOCK_BITS
}

/// Calls back with start, end and name of each mapping of the process.
fn for_each_mapping(mut each: impl FnMut(u64, u64, &[u8])) {
    let Ok(fd) = sys::open(c"/proc/self/maps", sys::O_RDONLY) else { return };
    let mut buffer = [0u8; 4096];
    let mut held = 0;
    while let Some(room) = buffer.get_mut(held..)
        && let Ok(n @ 1..) = usize::try_from(sys::read(fd, room))
    {
        let filled = held + n;
        let mut start = 0;
        while let Some(end) = buffer[start..filled].iter().position(|&b| b == b'\n') {
            line(&buffer[start..start + end], &mut each);
            start += end + 1;
        }
        if start == 0 && filled == buffer.len() {
            start = filled; // a line longer than any path: drop it
        }
        buffer.copy_within(start..filled, 0);
        held = filled - start;
    }
    sys::close(fd);
}

/// Whether two addresses lie on one machine stack: in the same mapping, and not on an alternate signal stack.
pub fn on_one_stack(a: u64, b: u64) -> bool {
    let mut same = false;
    for_each_mapping(|start, end, _| same |= (start..end).contains(&a) && (start..end).contains(&b));
    same && sys::get_alt_stack().flags & sys::SS_ONSTACK == 0
}

fn line(text: &[u8], each: &mut impl FnMut(u64, u64, &[u8])) {
    let number = |text: &[u8]| {
        let mut value = 0u64;
        let mut digits = 0;
        for &b in text {
            let Some(d) = (b as char).to_digit(16) else { break };
            value = value << 4 | u64::from(d);
            digits += 1;
        }
        (value, digits)
    };
    let (start, n) = number(text);
    let Some(rest) = text.get(n + 1..) else { return };
    let (end, _) = number(rest);
    let name = text.iter().rposition(|&b| b == b' ').and_then(|i| text.get(i + 1..)).unwrap_or(&[]);
    if start < end {
        each(start, end, name);
    }
}

/// Finds a key and reserves its shadow. None if address space is exhausted.
pub fn new_key() -> Option<u64> {
    locked(|state| {
        if state.retired[KEPT] != 0 {
            return recycle(state);
        }
        let fits = |state: &State, k: usize| PROGRAM_BLOCKS.iter().all(|b| !state.used.has(b ^ k));
        // Start in the middle: close to the ends the kernel itself allocates.
        let mut candidates = (1..BLOCKS).map(|i| (i + BLOCKS / 4) % BLOCKS).filter(|&k| k != 0);
        let Some(k) = candidates.find(|&k| fits(state, k) && reserve_all(k)) else {
            return recycle(state);
        };
        for b in PROGRAM_BLOCKS.iter() {
            state.used.add(b ^ k);
        }
        Some((k as u64) << BLOCK_BITS)
    })
}

/// The key of the thread that ended first, with its shadow cleared.
fn recycle(state: &mut State) -> Option<u64> {
    let key = Some(state.retired[0]).filter(|&k| k != 0)?;
    state.retired.copy_within(1.., 0);
    state.retired[RETIRED - 1] = 0;
    // SAFETY: contexts are never unmapped, and `key` is one of the fields that other threads may read.
    context::forget_others(|ctx| unsafe { (*ctx).key } != key);
    for b in PROGRAM_BLOCKS.iter() {
        // SAFETY: the block is part of the shadow of this key, private anonymous memory that `reserve_all`
        // has made. Its thread has ended, and the threads that still compare with it to find a writer do so
        // by raw pointers.
        unsafe { sys::discard((b as u64) << BLOCK_BITS ^ key, BLOCK) };
    }
    Some(key)
}

/// Reserves all blocks of a key, or none.
fn reserve_all(k: usize) -> bool {
    for b in PROGRAM_BLOCKS.iter() {
        if !reserve(b ^ k) {
            for undo in PROGRAM_BLOCKS.iter().take_while(|&u| u != b) {
                let (at, len) = extent(undo ^ k);
                // SAFETY: this loop has mapped the block just now, where nothing was mapped before, and no
                // other code uses it.
                unsafe { sys::unmap(at as *mut u8, len) };
            }
            return false;
        }
    }
    true
}

/// The mappable part of a block: address and length.
fn extent(block: usize) -> (u64, u64) {
    let at = (block as u64) << BLOCK_BITS;
    // The first page of the address space cannot be mapped and is not needed.
    let (at, len) = if at == 0 { (1 << 20, BLOCK - (1 << 20)) } else { (at, BLOCK) };
    let top = (BLOCKS as u64) << BLOCK_BITS;
    (at, if at + len == top { len - sys::PAGE } else { len })
}

fn reserve(block: usize) -> bool {
    let (at, len) = extent(block);
    let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE | sys::MAP_FIXED_NOREPLACE;
    // SAFETY: `MAP_FIXED_NOREPLACE` fails where something is mapped. An old kernel treats the address as a
    // hint and replaces nothing either.
    match unsafe { sys::map(at, len, sys::PROT_RW, flags, -1, 0) } {
        Some(got) if got as u64 == at => {
            sys::leave_out_of_core_dumps(at, len);
            true
        }
        Some(elsewhere) => {
            // SAFETY: this mapping was made just now, and no other code uses it.
            unsafe { sys::unmap(elsewhere, len) };
            false
        }
        None => false,
    }
}

/// A thread has ended. Its shadow is kept for some time: other threads may only now see the values that it
/// wrote, and the shadow identifies their writer.
pub fn retire(key: u64) {
    locked(|state| {
        let place = state.retired.iter_mut().find(|k| **k == 0);
        if let Some(place) = place {
            *place = key;
        }
    });
}

/// Whether every key's shadow covers this address.
pub fn is_program_block(address: u64) -> bool {
    let block = (address >> BLOCK_BITS) as usize;
    block < BLOCKS && PROGRAM_BLOCKS.has(block)
}

/// Bytes from an address to the end of its block.
pub fn bytes_to_block_end(at: u64) -> u64 {
    BLOCK - (at & (BLOCK - 1))
}

/// Bytes from the beginning of a block up to an address in it or at its end.
pub fn bytes_from_block_start(at: u64) -> u64 {
    (at.wrapping_sub(1) & (BLOCK - 1)) + 1
}

/// Whether the shadow of a range is contiguous, that is, one piece.
#[inline]
pub fn is_contiguous(at: u64, len: u64) -> bool {
    at ^ at.wrapping_add(len.wrapping_sub(1)) < BLOCK
}

/// The shadow of a range, in pieces that are contiguous: address and length.
pub fn pieces(key: u64, at: u64, len: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = at.saturating_add(len);
    let mut next = at;
    core::iter::from_fn(move || {
        let from = next;
        next = end.min((from | (BLOCK - 1)).saturating_add(1));
        (from < end).then_some((from ^ key, next - from))
    })
}

/// The program has mapped a range: ensures that its shadow exists. (Faults would do that too, but the program
/// may handle them itself, and [`map_missing_shadow`] refuses a fault in a range that is unmapped again.)
pub fn ensure_shadow(key: u64, address: u64, len: u64) {
    if len == 0 {
        return;
    }
    let k = (key >> BLOCK_BITS) as usize;
    let (first, last) = (address >> BLOCK_BITS, address.saturating_add(len - 1) >> BLOCK_BITS);
    for block in first as usize..=(last as usize).min(BLOCKS - 1) {
        if is_program_block((block as u64) << BLOCK_BITS) {
            continue;
        }
        locked(|state| {
            state.used.add(block);
            if !state.used.has(block ^ k) && reserve(block ^ k) {
                state.used.add(block ^ k);
            }
        });
    }
}

/// A fault at `address`: if it is a missing part of a shadow, creates that part so that the access can be
/// retried. Called from the handler of SIGSEGV.
pub fn map_missing_shadow(address: u64) -> bool {
    let block = (address >> BLOCK_BITS) as usize;
    if block >= BLOCKS {
        return false;
    }
    for ctx in context::all() {
        // SAFETY: contexts are never unmapped, and `key` is one of the fields that other threads may read.
        let key = unsafe { (*ctx).key };
        // The access to memory comes before the access to the shadow: if that address is mapped, the fault
        // was in the shadow.
        if key == 0 || !sys::is_mapped(address ^ key) {
            continue;
        }
        let native = ((address ^ key) >> BLOCK_BITS) as usize;
        let made = locked(|state| {
            if PROGRAM_BLOCKS.has(block) || !reserve(block) {
                return false;
            }
            state.used.add(block);
            state.used.add(native);
            true
        });
        if made {
            return true;
        }
    }
    false
}

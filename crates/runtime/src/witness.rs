//! One call from a given state, instead of the program: it confirms a state, found by a solver, in which two
//! versions of a function differ (`docs/runtime-interface.md`).
//!
//! The call is made when the last of the modules that it needs registers: before `main`, and before the
//! program's own constructors. Afterwards the process ends.

use crate::desc::ModuleDesc;
use crate::{bytes, entry, environment, process, sys, tls};
use core::ffi::CStr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};
use recording::witness::{ARGUMENT, CALL, MAGIC, MAP, MAX_ARGUMENTS, MAX_MODULES, MODULE, READ, WRITE};

/// The variable that names the file with the state.
const VARIABLE: &[u8] = b"RELAPSE_WITNESS=";
/// A longer file is not read.
const ROOM: u64 = 1 << 20;

/// The file, as it was read at the start; null if no call is requested.
static FILE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static LEN: AtomicU32 = AtomicU32::new(0);
static DESCRIPTOR: AtomicU32 = AtomicU32::new(0);
/// Symbol addresses of the modules that the file names.
static MODULES: [AtomicPtr<u64>; MAX_MODULES] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_MODULES];

/// Checks whether a call is requested, at the start of a process that is not recorded.
///
/// # Safety
/// No other thread runs code of the runtime or changes the environment.
pub unsafe fn look() {
    let mut text = process::Path::new();
    // SAFETY: the caller guarantees that the environment does not change.
    unsafe { environment::push_variable(VARIABLE, &mut text) };
    if text.as_bytes().is_empty() {
        return;
    }
    let Some(fd) = open(text.as_c_str()) else { return };
    let Some(at) = sys::reserve(ROOM) else { return };
    // SAFETY: `reserve` returns that many zero bytes that no other code uses yet.
    let all = unsafe { core::slice::from_raw_parts_mut(at, ROOM as usize) };
    let mut filled = 0;
    while let Some(room) = all.get_mut(filled..).filter(|room| !room.is_empty())
        && let Ok(n @ 1..) = usize::try_from(sys::read(fd, room))
    {
        filled += n;
    }
    if all.starts_with(&MAGIC) {
        LEN.store(filled as u32, Relaxed);
        DESCRIPTOR.store(fd.cast_unsigned(), Relaxed);
        FILE.store(at, Relaxed);
    }
}

fn open(path: &CStr) -> Option<i32> {
    sys::open(path, sys::O_RDWR | sys::O_APPEND).ok()
}

/// A module has registered. Makes the call if it was the last module needed; then this does not return.
///
/// # Safety
/// `m` is a descriptor emitted by the compiler, and no other thread runs code of the runtime. What the file
/// requests is sound in this program: setting the variable asserts that.
pub unsafe fn registered(m: &ModuleDesc) {
    let Some(file) = file() else { return };
    let mut missing = false;
    for (number, id) in Records(file).filter(|r| r.tag == MODULE).map(|r| r.bytes).enumerate() {
        let Some(place) = MODULES.get(number) else { return };
        if id == m.id && place.load(Relaxed).is_null() {
            place.store(m.addresses.cast_mut(), Relaxed);
        }
        missing |= place.load(Relaxed).is_null();
    }
    if !missing {
        // SAFETY: guaranteed by the caller.
        unsafe { run_request(file) }
    }
}

fn file() -> Option<&'static [u8]> {
    let at = FILE.load(Relaxed);
    // SAFETY: `look` stored a mapping with at least `LEN` bytes, which is never unmapped nor written again.
    (!at.is_null()).then(|| unsafe { core::slice::from_raw_parts(at, LEN.load(Relaxed) as usize) })
}

/// A record: its tag, three words, and bytes.
struct Record<'f> {
    tag: u64,
    words: [u64; 3],
    bytes: &'f [u8],
}

/// Iterates over records, after the magic number: tag, three words, length, bytes.
struct Records<'f>(&'f [u8]);

impl<'f> Iterator for Records<'f> {
    type Item = Record<'f>;

    fn next(&mut self) -> Option<Record<'f>> {
        if self.0.starts_with(&MAGIC) {
            self.0 = self.0.get(MAGIC.len()..)?;
        }
        let mut word = || {
            let (head, rest) = self.0.split_at_checked(8)?;
            self.0 = rest;
            Some(u64::from_le_bytes(head.try_into().ok()?))
        };
        let (tag, words, len) = (word()?, [word()?, word()?, word()?], word()?);
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
        self.0 = rest;
        Some(Record { tag, words, bytes })
    }
}

/// The address of a place: an offset from a symbol of a module, or an absolute address.
///
/// # Safety
/// The symbol belongs to the module.
unsafe fn address([module, symbol, offset]: [u64; 3]) -> u64 {
    let Some(before) = module.checked_sub(1) else { return offset };
    let Some(addresses) = MODULES.get(before as usize) else { return 0 };
    // SAFETY: the module is registered, its table has as many entries as it has symbols, and the caller
    // guarantees that the symbol is one of them.
    unsafe { *addresses.load(Relaxed).add(symbol as usize) }.wrapping_add(offset)
}

/// Sets the state, makes the call, and writes the results to the file.
///
/// # Safety
/// As of [`registered`].
unsafe fn run_request(file: &[u8]) -> ! {
    let fd = DESCRIPTOR.load(Relaxed).cast_signed();
    let mut arguments = [0u64; MAX_ARGUMENTS];
    let mut passed = 0;
    for Record { tag, words, bytes } in Records(file) {
        // SAFETY: a mapping replaces nothing. The caller guarantees that all memory written and all code
        // called belongs to the program or to such a mapping; otherwise the process ends by a fault, which
        // the mark below makes recognisable. Surplus arguments are ignored by a function of the C convention.
        unsafe {
            match tag {
                MAP => {
                    let flags =
                        sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_FIXED_NOREPLACE | sys::MAP_NORESERVE;
                    if sys::map(words[0], words[1], sys::PROT_RW, flags, -1, 0) != Some(words[0] as *mut u8) {
                        sys::exit(1);
                    }
                }
                WRITE => bytes::copy(address(words) as *mut u8, bytes.as_ptr(), bytes.len()),
                ARGUMENT => {
                    let Some(place) = arguments.get_mut(passed) else { sys::exit(1) };
                    *place = words[0];
                    passed += 1;
                }
                CALL => {
                    entry::prepare_thread();
                    sys::write_all(fd, &CALL.to_le_bytes());
                    let result = call(address(words), &arguments);
                    sys::write_all(fd, &result.to_le_bytes());
                }
                READ => {
                    let mut len = [0; 8];
                    len[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
                    let len = u64::from_le_bytes(len) as usize;
                    sys::write_all(fd, core::slice::from_raw_parts(address(words) as *const u8, len));
                }
                _ => {}
            }
        }
    }
    sys::exit(0)
}

type Function = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;

/// # Safety
/// `at` is a function that takes at most that many words, and calling it is sound.
unsafe fn call(at: u64, a: &[u64; MAX_ARGUMENTS]) -> u64 {
    // A function that is called from outside must find no call in progress. SAFETY: the block is this
    // thread's own.
    unsafe { (*tls::tls()).call = 0 };
    // SAFETY: guaranteed by the caller; the type has the C calling convention.
    unsafe {
        let function = core::mem::transmute::<usize, Function>(at as usize);
        function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11])
    }
}

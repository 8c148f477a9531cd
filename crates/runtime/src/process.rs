//! The process: whether it records, into which directory, and its end.

use crate::context::Context;
use crate::{crash, environment, fork, module, shadow, sys, tls};
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use recording::event::{Event, VERSION, process as tag};

unsafe extern "C" {
    fn __cxa_atexit(f: extern "C" fn(*mut u8, i32), arg: *mut u8, library: *mut u8) -> i32;
    fn pthread_key_delete(key: u32) -> i32;
    fn pthread_key_create(key: *mut u32, destructor: unsafe extern "C" fn(*mut u8)) -> i32;
}

/// The variable that names the recording's directory.
const VARIABLE: &[u8] = b"RELAPSE_RECORD_DIR=";

/// A buffer in which a path is built, always terminated by NUL.
pub struct Path {
    text: [u8; Path::ROOM],
    len: usize,
}

impl Path {
    const ROOM: usize = 4096;

    /// An empty path.
    pub const fn new() -> Path {
        Path { text: [0; Path::ROOM], len: 0 }
    }

    /// The process's directory and a slash.
    pub fn in_directory() -> Path {
        let mut path = Path::new();
        path.push(directory().as_bytes()).push(b"/");
        path
    }

    /// Appends a part, cut off where the buffer ends.
    pub fn push(&mut self, part: &[u8]) -> &mut Path {
        let room = Path::ROOM - 1 - self.len;
        let part = part.get(..room).unwrap_or(part);
        if let Some(place) = self.text.get_mut(self.len..self.len + part.len()) {
            place.copy_from_slice(part);
            self.len += part.len();
        }
        self
    }

    /// Appends a number in decimal.
    pub fn push_number(&mut self, mut n: u64) -> &mut Path {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                break;
            }
        }
        self.push(&digits[at..])
    }

    /// Appends bytes in hexadecimal, two digits each.
    pub fn push_hex(&mut self, bytes: &[u8]) -> &mut Path {
        let digit = |n: u8| b"0123456789abcdef"[usize::from(n & 15)];
        for byte in bytes {
            self.push(&[digit(byte >> 4), digit(*byte)]);
        }
        self
    }

    /// The path without the terminating NUL.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..self.len]
    }

    /// The path up to its first NUL; `push` leaves room for the terminating one.
    pub fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.text).unwrap_or_default()
    }
}

impl Default for Path {
    fn default() -> Self {
        Self::new()
    }
}

/// The recording's directory, absolute, and the process's own directory in it. They are written only when no
/// other thread can use them: by [`start`], and in a forked child.
static mut ROOT: Path = Path::new();
static mut DIRECTORY: Path = Path::new();

/// The recording's directory, absolute; empty before the start or if nothing is recorded.
pub fn root() -> &'static Path {
    // SAFETY: written only by `find_root`, as part of the start, before any reference exists; never written
    // afterwards.
    unsafe { &*(&raw const ROOT) }
}

fn directory() -> &'static Path {
    // SAFETY: written only by `make_directory`, whose callers ensure that no other thread runs code of the
    // runtime; callers of this function use the reference at once.
    unsafe { &*(&raw const DIRECTORY) }
}

static STARTED: AtomicBool = AtomicBool::new(false);
static RECORDING: AtomicBool = AtomicBool::new(false);
static IMAGE: AtomicU32 = AtomicU32::new(0);
static IDENTITY: AtomicU64 = AtomicU64::new(0);
static STATUS: AtomicU32 = AtomicU32::new(0);
/// The owner of the recording's directory, if the process currently has another user's rights and may change
/// owners: files that it creates there get this owner. 0: none.
static OWNER: AtomicU32 = AtomicU32::new(0);
static THREAD_KEY: AtomicU32 = AtomicU32::new(u32::MAX);

/// Whether the process has a directory in the recording and registered its handlers.
pub fn is_recording() -> bool {
    RECORDING.load(Relaxed)
}

/// The `n` of the process's directory `p<pid>.<n>`: how many programs it executed before.
pub fn image() -> u32 {
    IMAGE.load(Relaxed)
}

/// Written into the description and into every stream, so that a stream of another process is not mistaken
/// for one of this process.
pub fn identity() -> u64 {
    IDENTITY.load(Relaxed)
}

/// The key whose destructor ends a thread's stream; `None` if it could not be created or is deleted.
pub fn thread_key() -> Option<u32> {
    Some(THREAD_KEY.load(Relaxed)).filter(|&k| k != u32::MAX)
}

/// Called by the first registration or entry: constructors run one at a time, and before any thread starts.
///
/// # Safety
/// The first call happens before another thread can run code of the runtime.
pub unsafe fn start() {
    if STARTED.swap(true, Relaxed) {
        return;
    }
    let mut key = 0;
    // SAFETY: `key` is a valid location for the new key, and `on_thread_exit` takes what `new_context` stores
    // under it.
    if unsafe { pthread_key_create(&raw mut key, crate::entry::on_thread_exit) } == 0 {
        THREAD_KEY.store(key, Relaxed);
    }
    // SAFETY: the caller guarantees that this is the first call, when no other thread is in the runtime.
    if !unsafe { find_root() } {
        // SAFETY: as above.
        unsafe { crate::witness::look() };
        return;
    }
    if sys::user() == 0 {
        OWNER.store(sys::owner(root().as_c_str()).unwrap_or(0), Relaxed);
    }
    // SAFETY: as above.
    if let Err(reason) = unsafe { make_directory() } {
        note_incomplete(reason);
        return;
    }
    module::pin_library();
    write_description(None);
    shadow::scan_maps();
    RECORDING.store(true, Relaxed);
    module::begin_file();
    fork::install();
    crash::install();
    // SAFETY: glibc calls such functions with their argument and the exit status. `on_process_exit` uses no
    // argument; `pin_library` keeps its code mapped, and without a library it runs on `exit` only.
    unsafe { __cxa_atexit(on_process_exit, core::ptr::null_mut(), core::ptr::null_mut()) };
}

/// Reads the environment; the directory is made absolute, as the program may
/// change its own.
///
/// # Safety
/// No other thread runs code of the runtime or changes the environment.
unsafe fn find_root() -> bool {
    let mut value = Path::new();
    // SAFETY: the caller guarantees that the environment does not change.
    unsafe { environment::push_variable(VARIABLE, &mut value) };
    let value = value.as_bytes();
    if value.is_empty() {
        return false;
    }
    // SAFETY: no other thread is in the runtime, and this one has no reference from `root` yet.
    let root = unsafe { &mut *(&raw mut ROOT) };
    if value[0] != b'/' {
        let mut here = [0; Path::ROOM];
        if let Some(here) = sys::getcwd(&mut here) {
            root.push(here).push(b"/");
        }
    }
    root.push(value);
    true
}

/// Creates `p<pid>.<n>`, with the first free `n`, and makes it the process's directory.
///
/// # Safety
/// No other thread runs code of the runtime.
pub unsafe fn make_directory() -> Result<(), &'static [u8]> {
    for image in 0..10_000 {
        let mut path = Path::new();
        path.push(root().as_bytes());
        path.push(b"/p").push_number(u64::from(sys::pid())).push(b".").push_number(u64::from(image));
        match sys::mkdir(path.as_c_str()) {
            0 => {
                IMAGE.store(image, Relaxed);
                // SAFETY: no other thread is in the runtime, and references from `directory` do not
                // outlive the functions that use them.
                unsafe { DIRECTORY = path };
                if let Some(owner) = new_owner() {
                    sys::change_owner(directory().as_c_str(), owner);
                }
                return Ok(());
            }
            -17 => {}
            error => return Err(why(error)),
        }
    }
    Err(b"")
}

/// Why a file of the recording could not be created; empty if the disk is the reason.
pub fn why(error: i64) -> &'static [u8] {
    if error == -13 {
        b"it runs as another user and may not write here; what -o names may be an empty directory of that user"
    } else {
        b""
    }
}

/// The owner of files created from now on, if it must be changed.
fn new_owner() -> Option<u32> {
    Some(OWNER.load(Relaxed)).filter(|&owner| owner != 0 && sys::user() == 0)
}

/// Creates a file in the recording that does not exist yet.
pub fn create(path: &CStr, flags: u64) -> Result<i32, i64> {
    let fd = sys::open(path, flags | sys::O_CREAT | sys::O_EXCL)?;
    if let Some(owner) = new_owner() {
        sys::change_owner_of(fd, owner);
    }
    Ok(fd)
}

/// Creates a file in the process's directory with a magic number and the version.
pub fn create_file(name: &[u8], magic: &[u8; 8]) -> Option<i32> {
    let mut path = Path::in_directory();
    path.push(name);
    let fd = create(path.as_c_str(), sys::O_WRONLY).ok()?;
    sys::write_all(fd, magic);
    sys::write_all(fd, &VERSION.to_le_bytes());
    Some(fd)
}

/// Writes `process.raw`, under a new identity. `forked_from`: pid and image of the parent.
pub fn write_description(forked_from: Option<(u32, u32)>) {
    IDENTITY.store(sys::random(), Relaxed);
    let Some(fd) = create_file(b"process.raw", &tag::MAGIC) else { return };
    let record = |tag: u32, bytes: &[u8]| {
        sys::write_all(fd, &tag.to_le_bytes());
        sys::write_all(fd, &(bytes.len() as u32).to_le_bytes());
        sys::write_all(fd, bytes);
    };
    record(tag::PID, &sys::pid().to_le_bytes());
    record(tag::PARENT, &sys::parent_pid().to_le_bytes());
    record(tag::IMAGE, &image().to_le_bytes());
    record(tag::IDENTITY, &identity().to_le_bytes());
    let mut text = [0; Path::ROOM];
    if let Some(path) = sys::readlink(c"/proc/self/exe", &mut text) {
        record(tag::EXECUTABLE, path);
    }
    if let Some(here) = sys::getcwd(&mut text) {
        record(tag::DIRECTORY, here);
    }
    let build_id = module::executable_build_id();
    if !build_id.is_empty() {
        record(tag::BUILD_ID, build_id);
    }
    if let Some((pid, image)) = forked_from {
        let mut both = [0; 8];
        both[..4].copy_from_slice(&pid.to_le_bytes());
        both[4..].copy_from_slice(&image.to_le_bytes());
        record(tag::FORKED_FROM, &both);
    }
    for (resource, [soft, hard]) in (0u32..).map_while(|resource| Some((resource, sys::limits(resource)?))) {
        let mut limit = [0; 20];
        limit[..4].copy_from_slice(&resource.to_le_bytes());
        limit[4..12].copy_from_slice(&soft.to_le_bytes());
        limit[12..].copy_from_slice(&hard.to_le_bytes());
        record(tag::LIMIT, &limit);
    }
    write_arguments(&record);
    sys::close(fd);
}

/// One record for each argument in `/proc/self/cmdline`, however long.
fn write_arguments(record: &impl Fn(u32, &[u8])) {
    let Ok(fd) = sys::open(c"/proc/self/cmdline", sys::O_RDONLY) else { return };
    const ROOM: u64 = 4 << 20;
    if let Some(at) = sys::reserve(ROOM) {
        // SAFETY: `reserve` returns that many zero bytes that no other code uses, and they are unmapped below
        // after the last use of `all`.
        let all = unsafe { core::slice::from_raw_parts_mut(at, ROOM as usize) };
        let mut filled = 0;
        while let Some(room) = all.get_mut(filled..)
            && let Ok(n @ 1..) = usize::try_from(sys::read(fd, room))
        {
            filled += n;
        }
        for argument in all[..filled].split_inclusive(|&b| b == 0) {
            record(tag::ARGUMENT, argument.strip_suffix(&[0]).unwrap_or(argument));
        }
        // SAFETY: this is the mapping from above; `all` is not used any more.
        unsafe { sys::unmap(at, ROOM) };
    }
    sys::close(fd);
}

/// Marks the recording as incomplete, with the reason unless that is the disk. Returns whether that
/// succeeded.
#[cold]
pub fn note_incomplete(reason: &[u8]) -> bool {
    let mut path = Path::new();
    path.push(root().as_bytes()).push(b"/incomplete");
    let fd = sys::open(path.as_c_str(), sys::O_WRONLY | sys::O_CREAT | sys::O_APPEND);
    if let Ok(fd) = fd {
        let mut line = Path::new();
        line.push(b"p").push_number(u64::from(sys::pid())).push(b".").push_number(u64::from(image()));
        if !reason.is_empty() {
            line.push(b" ").push(reason);
        }
        line.push(b"\n");
        sys::write_all(fd, line.as_bytes());
        sys::close(fd);
    }
    fd.is_ok()
}

/// Runs on `exit`, after the program's own handlers: saves the status for [`finish`]. Not by `on_exit`: builds
/// that forbid their libraries to call `exit` search for the word among undefined symbols.
extern "C" fn on_process_exit(_: *mut u8, status: i32) {
    STATUS.store(status.cast_unsigned(), Relaxed);
}

/// Runs after all destructors of the executable, or of the library that is being closed.
extern "C" fn finish() {
    if is_recording() {
        // SAFETY: the context is null or this thread's own, and no hook is active on it: the C library is
        // running destructors, called from `exit` or `dlclose`.
        if let Some(ctx) = unsafe { tls::context().as_mut() } {
            end(ctx, STATUS.load(Relaxed));
        }
    } else if let Some(key) = thread_key() {
        // Perhaps only the library with this copy of the runtime is unloaded, and threads end later.
        THREAD_KEY.store(u32::MAX, Relaxed);
        // SAFETY: the key is from `pthread_key_create`, and `thread_key` does not return it from here on.
        unsafe { pthread_key_delete(key) };
    }
}

#[cfg(feature = "staticlib")]
#[used]
#[unsafe(link_section = ".fini_array.00000")]
static AT_END: extern "C" fn() = finish;

#[cfg(not(feature = "staticlib"))]
#[used]
static AT_END: extern "C" fn() = finish;

/// Logs the orderly end of the process, in a thread with this context.
pub fn end(ctx: &mut Context, status: u32) {
    ctx.own.in_hook = true;
    // Masked to the bits that the parent sees.
    let event = Event::End { sum: ctx.sum, status: status & 0xff };
    ctx.emit(crate::stream::At::outside(ctx.time), &event);
    ctx.finish();
    ctx.own.in_hook = false;
}

//! System calls, made directly: the C library's wrappers set `errno`, and the program may have replaced them.

use core::arch::asm;
use core::ffi::CStr;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

const READ: u64 = 0;
const WRITE: u64 = 1;
const OPEN: u64 = 2;
const FSTAT: u64 = 5;
const MMAP: u64 = 9;
const MPROTECT: u64 = 10;
const MUNMAP: u64 = 11;
const RT_SIGACTION: u64 = 13;
const RT_SIGPROCMASK: u64 = 14;
const PREAD: u64 = 17;
const MREMAP: u64 = 25;
const MINCORE: u64 = 27;
const MADVISE: u64 = 28;
const GETSOCKNAME: u64 = 51;
const GETPEERNAME: u64 = 52;
const GETSOCKOPT: u64 = 55;
const GETCWD: u64 = 79;
const MKDIR: u64 = 83;
const READLINK: u64 = 89;
const CHOWN: u64 = 92;
const GETRLIMIT: u64 = 97;
const SIGALTSTACK: u64 = 131;
const GETRANDOM: u64 = 318;

/// Open for reading only.
pub const O_RDONLY: u64 = 0;
/// Open for writing only.
pub const O_WRONLY: u64 = 1;
/// Open for reading and writing.
pub const O_RDWR: u64 = 2;
/// Create the file if it does not exist.
pub const O_CREAT: u64 = 0o100;
/// Fail if the file exists.
pub const O_EXCL: u64 = 0o200;
/// Every write goes to the end.
pub const O_APPEND: u64 = 0o2000;
/// `exec` closes the descriptor; [`open`] always adds it.
pub const O_CLOEXEC: u64 = 0o2_000_000;

/// No access.
pub const PROT_NONE: u64 = 0;
/// Reading.
pub const PROT_READ: u64 = 1;
/// Reading and writing.
pub const PROT_RW: u64 = 3;
/// Stores go to the file.
pub const MAP_SHARED: u64 = 1;
/// Stores stay in the process.
pub const MAP_PRIVATE: u64 = 2;
/// Exactly at the given address, where they replace other mappings.
pub const MAP_FIXED: u64 = 0x10;
/// Zeros instead of a file.
pub const MAP_ANONYMOUS: u64 = 0x20;
/// Without swap space reserved.
pub const MAP_NORESERVE: u64 = 0x4000;
/// With all pages present at once.
pub const MAP_POPULATE: u64 = 0x8000;
/// Exactly at the given address, or failure if something is mapped there.
pub const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;

const MADV_DONTNEED: u64 = 4;
const MADV_DONTDUMP: u64 = 16;

/// # Safety
/// What the system call does to the memory of the process is sound: pointers among the arguments
/// are valid for what the kernel reads and writes there.
#[inline]
unsafe fn call(n: u64, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> i64 {
    let result: i64;
    // SAFETY: follows the kernel's convention: it changes rax, rcx and r11 and no other register, and does
    // not use the stack. The caller guarantees that the effect on memory is sound.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") n.cast_signed() => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    result
}

/// System calls that take numbers only, no pointers.
#[derive(Clone, Copy)]
#[repr(u64)]
enum NumericSyscall {
    Close = 3,
    Seek = 8,
    Yield = 24,
    GetPid = 39,
    Truncate = 77,
    ChangeOwner = 93,
    GetEffectiveUser = 107,
    GetParentPid = 110,
    GetTid = 186,
    ExitGroup = 231,
    Signal = 234,
    Allocate = 285,
}

#[inline]
fn call_numbers(n: NumericSyscall, a: u64, b: u64, c: u64, d: u64) -> i64 {
    // SAFETY: none of the calls in `NumericSyscall` reads or writes memory of the process.
    unsafe { call(n as u64, a, b, c, d, 0, 0) }
}

/// Opens a file; the error is the negative error number.
pub fn open(path: &CStr, flags: u64) -> Result<i32, i64> {
    // SAFETY: the kernel reads the path up to its NUL, which a `CStr` has.
    let r = unsafe { call(OPEN, path.as_ptr() as u64, flags | O_CLOEXEC, 0o666, 0, 0, 0) };
    if r < 0 { Err(r) } else { Ok(r as i32) }
}

/// Closes a descriptor.
pub fn close(fd: i32) {
    call_numbers(NumericSyscall::Close, fd as u64, 0, 0, 0);
}

/// Number of bytes read, 0 at the end of the file; or the negative error number.
pub fn read(fd: i32, into: &mut [u8]) -> i64 {
    // SAFETY: the kernel writes at most `into.len()` bytes to `into`.
    unsafe { call(READ, fd as u64, into.as_mut_ptr() as u64, into.len() as u64, 0, 0, 0) }
}

/// As [`read`], at an offset; the position does not change.
pub fn read_at(fd: i32, into: &mut [u8], offset: u64) -> i64 {
    // SAFETY: the kernel writes at most `into.len()` bytes to `into`.
    unsafe { call(PREAD, fd as u64, into.as_mut_ptr() as u64, into.len() as u64, offset, 0, 0) }
}

/// Writes everything to a file of the runtime or returns false. If the write would exceed the program's own
/// limit for files, it does not even try: the kernel would send a signal that ends the program.
pub fn write_all(fd: i32, mut bytes: &[u8]) -> bool {
    if size(fd).saturating_add(bytes.len() as u64) > file_limit() {
        return false;
    }
    while !bytes.is_empty() {
        // SAFETY: the kernel reads at most `bytes.len()` bytes of `bytes`.
        let r = unsafe { call(WRITE, fd as u64, bytes.as_ptr() as u64, bytes.len() as u64, 0, 0, 0) };
        if r == -4 {
            continue;
        }
        let Some(rest) = usize::try_from(r).ok().filter(|&n| n > 0).and_then(|n| bytes.get(n..)) else {
            return false;
        };
        bytes = rest;
    }
    true
}

/// 0, or the negative error number.
pub fn mkdir(path: &CStr) -> i64 {
    // SAFETY: the kernel reads the path up to its NUL, which a `CStr` has.
    unsafe { call(MKDIR, path.as_ptr() as u64, 0o777, 0, 0, 0, 0) }
}

/// The user whose rights the process has.
pub fn user() -> u32 {
    call_numbers(NumericSyscall::GetEffectiveUser, 0, 0, 0, 0) as u32
}

/// The owner of a file or directory.
pub fn owner(path: &CStr) -> Option<u32> {
    let fd = open(path, O_RDONLY).ok()?;
    let owner = stat(fd).map(|s| (s[3] >> 32) as u32);
    close(fd);
    owner
}

/// Changes the owner of a file or directory; an error is ignored.
pub fn change_owner(path: &CStr, user: u32) {
    // SAFETY: the kernel reads the path up to its NUL, which a `CStr` has.
    unsafe { call(CHOWN, path.as_ptr() as u64, u64::from(user), u64::from(u32::MAX), 0, 0, 0) };
}

/// The same for an open file.
pub fn change_owner_of(fd: i32, user: u32) {
    call_numbers(NumericSyscall::ChangeOwner, fd as u64, u64::from(user), u64::from(u32::MAX), 0);
}

/// The target of a symbolic link, cut off at the size of `into`; `None` on an error.
pub fn readlink<'a>(path: &CStr, into: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: the kernel reads the path up to its NUL, which a `CStr` has, and writes at most
    // `into.len()` bytes to `into`.
    let r =
        unsafe { call(READLINK, path.as_ptr() as u64, into.as_mut_ptr() as u64, into.len() as u64, 0, 0, 0) };
    usize::try_from(r).ok().and_then(|n| into.get(..n))
}

/// The current directory, without NUL; `None` on an error.
pub fn getcwd(into: &mut [u8]) -> Option<&[u8]> {
    // SAFETY: the kernel writes at most `into.len()` bytes to `into`.
    let r = unsafe { call(GETCWD, into.as_mut_ptr() as u64, into.len() as u64, 0, 0, 0, 0) };
    usize::try_from(r).ok().filter(|&n| n > 0).and_then(|n| into.get(..n - 1))
}

/// The current position, or none if the descriptor cannot seek.
pub fn position(fd: i32) -> Option<u64> {
    u64::try_from(call_numbers(NumericSyscall::Seek, fd as u64, 0, 1, 0)).ok()
}

fn stat(fd: i32) -> Option<[u64; 18]> {
    let mut stat = [0u64; 18];
    // SAFETY: the kernel's `struct stat` has 144 bytes, as many as the array.
    let r = unsafe { call(FSTAT, fd as u64, stat.as_mut_ptr() as u64, 0, 0, 0, 0) };
    (r == 0).then_some(stat)
}

/// `st_mode`.
pub fn mode(fd: i32) -> Option<u32> {
    stat(fd).map(|s| s[3] as u32)
}

/// The number by which the kernel names a socket; none if the descriptor is something else.
pub fn socket_number(fd: i32) -> Option<u64> {
    stat(fd).filter(|s| s[3] as u32 & 0o170_000 == 0o140_000).map(|s| s[1])
}

/// The longest address of a socket, in bytes.
pub const ADDRESS: usize = 128;

fn address(call_number: u64, fd: i32, into: &mut [u8; ADDRESS]) -> Option<&[u8]> {
    let mut len = ADDRESS as u32;
    // SAFETY: the kernel writes at most `len` bytes to `into`, and the length.
    let r = unsafe { call(call_number, fd as u64, into.as_mut_ptr() as u64, &raw mut len as u64, 0, 0, 0) };
    if r == 0 { into.get(..len as usize) } else { None }
}

/// The `sockaddr` of a socket.
pub fn socket_name(fd: i32, into: &mut [u8; ADDRESS]) -> Option<&[u8]> {
    address(GETSOCKNAME, fd, into)
}

/// The `sockaddr` of the peer of a socket.
pub fn peer_name(fd: i32, into: &mut [u8; ADDRESS]) -> Option<&[u8]> {
    address(GETPEERNAME, fd, into)
}

/// The process at the other end at the time of the connection.
pub fn peer_process(fd: i32) -> Option<u32> {
    const SOL_SOCKET: u64 = 1;
    const SO_PEERCRED: u64 = 17;
    let mut credentials = [0u32; 3];
    let mut len = 12u32;
    let (at, len_at) = (credentials.as_mut_ptr() as u64, &raw mut len as u64);
    // SAFETY: the kernel writes at most `len` bytes to `credentials`, which has that size, and the length.
    let r = unsafe { call(GETSOCKOPT, fd as u64, SOL_SOCKET, SO_PEERCRED, at, len_at, 0) };
    (r == 0).then_some(credentials[0])
}

/// `st_size`; 0 if it has none.
pub fn size(fd: i32) -> u64 {
    stat(fd).map_or(0, |s| s[6])
}

/// The soft and the hard limit of the process on a resource, if the kernel knows it.
pub fn limits(resource: u32) -> Option<[u64; 2]> {
    let mut limits = [0u64; 2];
    // SAFETY: the kernel's `struct rlimit` has two words, as many as the array.
    let r = unsafe { call(GETRLIMIT, resource.into(), limits.as_mut_ptr() as u64, 0, 0, 0, 0) };
    (r == 0).then_some(limits)
}

/// A soft limit of the process; `unknown` if the kernel does not say.
fn limit(resource: u32, unknown: u64) -> u64 {
    limits(resource).map_or(unknown, |both| both[0])
}

/// Limit on the length of the program's files.
fn file_limit() -> u64 {
    const RLIMIT_FSIZE: u32 = 1;
    limit(RLIMIT_FSIZE, u64::MAX)
}

/// A random number, used as an identity that no other process has.
pub fn random() -> u64 {
    let mut number = 0u64;
    // SAFETY: the kernel writes at most eight bytes, as many as `number` has.
    unsafe { call(GETRANDOM, &raw mut number as u64, 8, 0, 0, 0, 0) };
    number
}

/// Sets the length of a file; an error is ignored.
pub fn truncate(fd: i32, len: u64) {
    call_numbers(NumericSyscall::Truncate, fd as u64, len, 0, 0);
}

/// Allocates space in a file. If it would exceed the program's own limit for files, it does not even try: the
/// kernel would send a signal that ends the program.
pub fn allocate(fd: i32, offset: u64, len: u64) -> bool {
    if offset.saturating_add(len) > file_limit() {
        return false;
    }
    loop {
        match call_numbers(NumericSyscall::Allocate, fd as u64, 0, offset, len) {
            0 => return true,
            -4 => {}
            // The file system does not support it: extend the file instead. A full disk then causes a fault,
            // as for any mapped file.
            -95 => return call_numbers(NumericSyscall::Truncate, fd as u64, offset + len, 0, 0) == 0,
            _ => return false,
        }
    }
}

/// # Safety
/// With `MAP_FIXED` the range must be the caller's own.
pub unsafe fn map(at: u64, len: u64, prot: u64, flags: u64, fd: i32, offset: u64) -> Option<*mut u8> {
    // SAFETY: a new mapping replaces existing memory only with `MAP_FIXED`, and then memory that the caller
    // owns.
    let r = unsafe { call(MMAP, at, len, prot, flags, i64::from(fd).cast_unsigned(), offset) };
    if (-4095..0).contains(&r) { None } else { Some(r as *mut u8) }
}

/// Zeroed memory of the runtime, allocated by the kernel only when touched.
pub fn reserve(len: u64) -> Option<*mut u8> {
    // SAFETY: without `MAP_FIXED` the kernel chooses an unused address.
    unsafe { map(0, len, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) }
}

/// # Safety
/// The range is a mapping of the runtime's own, or part of one, and no code uses it any more.
pub unsafe fn unmap(at: *mut u8, len: u64) {
    // SAFETY: the caller owns the range and has no use for it.
    unsafe { call(MUNMAP, at as u64, len, 0, 0, 0, 0) };
}

/// # Safety
/// The range is a mapping of the runtime's own, or part of one, and no code accesses it afterwards.
pub unsafe fn protect_none(at: *mut u8, len: u64) {
    // SAFETY: the caller owns the range and has no use for its content.
    unsafe { call(MPROTECT, at as u64, len, PROT_NONE, 0, 0, 0) };
}

/// Releases pages; they read as zeros afterwards.
///
/// # Safety
/// The range is private anonymous memory of the runtime's own, and no reference to it is live.
pub unsafe fn discard(at: u64, len: u64) {
    // SAFETY: the caller owns the range; its pages become zeros, as if zeros were stored.
    unsafe { call(MADVISE, at, len, MADV_DONTNEED, 0, 0, 0) };
}

/// Moves pages of the runtime's memory to another address that the runtime also owns; the old pages become
/// zeros.
///
/// # Safety
/// Both ranges consist of whole pages, do not overlap, and are private anonymous memory of the runtime's own,
/// each within one mapping. No reference to them is live.
pub unsafe fn move_pages(from: u64, to: u64, len: u64) -> bool {
    const MAYMOVE_FIXED: u64 = 1 | 2;
    // SAFETY: `mremap` replaces the target, and `map` maps only what is no longer mapped at `from`; both are
    // the caller's own.
    unsafe {
        if call(MREMAP, from, len, len, MAYMOVE_FIXED, to, 0) < 0 {
            return false;
        }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
        let again = map(from, len, PROT_RW, flags, -1, 0).is_some();
        leave_out_of_core_dumps(from, len);
        again
    }
}

/// Excludes whole pages from core dumps.
pub fn leave_out_of_core_dumps(at: u64, len: u64) {
    // SAFETY: this advice changes no memory, only what the kernel writes to core dumps.
    unsafe { call(MADVISE, at, len, MADV_DONTDUMP, 0, 0, 0) };
}

/// Whether the page at an address belongs to a mapping.
pub fn is_mapped(address: u64) -> bool {
    let mut residency = 0u8;
    // SAFETY: the kernel checks one page without reading it, and writes one byte for it.
    unsafe { call(MINCORE, address & !(PAGE - 1), PAGE, &raw mut residency as u64, 0, 0, 0) == 0 }
}

/// The process's id.
pub fn pid() -> u32 {
    call_numbers(NumericSyscall::GetPid, 0, 0, 0, 0) as u32
}

/// The parent's id.
pub fn parent_pid() -> u32 {
    call_numbers(NumericSyscall::GetParentPid, 0, 0, 0, 0) as u32
}

/// The kernel's id of the thread.
pub fn tid() -> u32 {
    call_numbers(NumericSyscall::GetTid, 0, 0, 0, 0) as u32
}

/// Lets another thread run: the holder of a lock may be waiting for this core.
pub fn yield_now() {
    call_numbers(NumericSyscall::Yield, 0, 0, 0, 0);
}

/// Soft limit of the stack's size.
pub fn stack_limit() -> u64 {
    const RLIMIT_STACK: u32 = 3;
    limit(RLIMIT_STACK, 0)
}

/// Blocks all signals; returns the old mask.
pub fn block_signals() -> u64 {
    let (all, mut old) = (u64::MAX, 0u64);
    // SAFETY: the kernel reads eight bytes of `all` and writes eight to `old`: the size is passed.
    unsafe { call(RT_SIGPROCMASK, 2, &raw const all as u64, &raw mut old as u64, 8, 0, 0) };
    old
}

/// Sets the mask that [`block_signals`] returned.
pub fn restore_signals(mask: u64) {
    // SAFETY: the kernel reads eight bytes of `mask`: the size is passed.
    unsafe { call(RT_SIGPROCMASK, 2, &raw const mask as u64, 0, 8, 0, 0) };
}

/// The kernel's `struct sigaction`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct SigAction {
    /// The function, or 0 for the default action and 1 to ignore the signal.
    pub handler: u64,
    /// Flags named `SA_*`.
    pub flags: u64,
    /// The function by which a handler returns to the kernel.
    pub restorer: u64,
    /// Signals blocked while the handler runs: bit `n - 1` for signal `n`.
    pub mask: u64,
}

/// The current action of a signal.
pub fn get_action(signal: u32) -> SigAction {
    let mut old = SigAction::default();
    // SAFETY: `SigAction` has the layout of the kernel's structure with a mask of eight bytes, the
    // size that is passed; without a new action nothing else changes.
    unsafe { call(RT_SIGACTION, u64::from(signal), 0, &raw mut old as u64, 8, 0, 0) };
    old
}

/// # Safety
/// `action.handler` is 0 or a function that can handle the signal as `action.flags` say, in
/// whatever code it interrupts; `action.restorer` returns from a signal.
pub unsafe fn set_action(signal: u32, action: &SigAction) {
    // SAFETY: `SigAction` has the layout of the kernel's structure with a mask of eight bytes, the size that
    // is passed. The caller guarantees that the functions are suitable.
    unsafe { call(RT_SIGACTION, u64::from(signal), core::ptr::from_ref(action) as u64, 0, 8, 0, 0) };
}

/// `stack_t`.
#[repr(C)]
#[derive(Default)]
pub struct AltStack {
    /// Lowest address.
    pub at: u64,
    /// [`SS_DISABLE`], [`SS_ONSTACK`], or 0.
    pub flags: u64,
    /// Number of bytes.
    pub size: u64,
}

/// Flag: there is no alternate stack.
pub const SS_DISABLE: u64 = 2;
/// Flag: the thread is running on it.
pub const SS_ONSTACK: u64 = 1;

/// The thread's alternate signal stack.
pub fn get_alt_stack() -> AltStack {
    let mut old = AltStack::default();
    // SAFETY: `AltStack` has the layout of `stack_t`; without a new stack nothing else changes.
    unsafe { call(SIGALTSTACK, 0, &raw mut old as u64, 0, 0, 0, 0) };
    old
}

/// # Safety
/// The stack is writable memory that no other code uses as long as the thread runs.
pub unsafe fn set_alt_stack(stack: &AltStack) {
    // SAFETY: `AltStack` has the layout of `stack_t`. The caller guarantees the memory.
    unsafe { call(SIGALTSTACK, core::ptr::from_ref(stack) as u64, 0, 0, 0, 0, 0) };
}

/// Sends a signal to the running thread.
pub fn raise(signal: u32) {
    call_numbers(NumericSyscall::Signal, u64::from(pid()), u64::from(tid()), u64::from(signal), 0);
}

/// Ends the process at once.
pub fn exit(status: u32) -> ! {
    loop {
        call_numbers(NumericSyscall::ExitGroup, status.into(), 0, 0, 0);
    }
}

/// Ends the process by `SIGABRT`, or by exiting if that is handled or ignored.
pub fn abort() -> ! {
    raise(6);
    exit(134)
}

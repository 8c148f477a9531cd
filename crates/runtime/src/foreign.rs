//! Input and output by code outside of the recording.
//!
//! The streams of C++ are in a library that is not recorded: `std::cout << n` leaves the program, and the
//! library passes text to `fwrite`. The dynamic linker binds a library's own calls, and it searches the
//! program first. So the program gets weak functions of these names, which forward to the C library's and
//! note the bytes of output while a call by recorded code is in progress:
//!
//! ```text
//!   program ── operator<<(cout, n) ──► libstdc++ ── fwrite("12", 1, 2, stdout) ──► here ──► _IO_fwrite
//!           ◄── returned: Patch, Io { stdout, 2 bytes }, External ──┘ noted
//! ```
//!
//! The bytes are kept in memory of the runtime, patched there when the call has returned, and named by an
//! `Io` event, like those that a `scanf` took ([`crate::consumed`]). A call that never returns (an exception)
//! loses its notes: the bytes then have no writer.
//!
//! Input is noted in the same manner: `std::cin >> n` reads one byte after another (`getc`), and puts the
//! byte after the number back (`ungetc`). A `std::ifstream` reads a whole buffer (`read`): its bytes belong
//! to the call that read it.
//!
//! Calls by recorded code are in the table of externals and are not noted. Nothing changes for a program that
//! defines one of the names itself, nor for a library that is linked with `-Bsymbolic`.

use crate::call::Call;
use crate::context::Context;
use crate::{bytes, io, module, shadow, sys, tls};
use core::arch::global_asm;
use recording::event::Event;

/// Maximal number of separate transfers of one call. Consecutive transfers to or from the same source are
/// joined.
const TRANSFERS: usize = 64;
/// Maximal number of bytes of one call that are shown.
const CAPACITY: usize = 64 << 10;
const WRITEV: i64 = 20;

unsafe extern "C" {
    fn _IO_fwrite(text: *const u8, size: usize, count: usize, file: *mut u8) -> usize;
    fn _IO_fputs(text: *const u8, file: *mut u8) -> i32;
    fn _IO_putc(byte: i32, file: *mut u8) -> i32;
    fn _IO_getc(file: *mut u8) -> i32;
    fn _IO_ungetc(byte: i32, file: *mut u8) -> i32;
    fn _IO_fread(to: *mut u8, size: usize, count: usize, file: *mut u8) -> usize;
    fn _IO_fgets(to: *mut u8, size: i32, file: *mut u8) -> *mut u8;
    fn __read(fd: i32, to: *mut u8, len: usize) -> isize;
    fn __write(fd: i32, text: *const u8, len: usize) -> isize;
    fn syscall(number: i64, ...) -> i64;
}

macro_rules! weak {
    ($name:literal, $to:literal) => {
        global_asm!(
            concat!(".pushsection .text.", $to, ",\"ax\",@progbits"),
            concat!(".weak ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            concat!("jmp ", $to),
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
        );
    };
}

weak!("fwrite", "__relapse_libc_fwrite");
weak!("fputs", "__relapse_libc_fputs");
weak!("putc", "__relapse_libc_putc");
weak!("fputc", "__relapse_libc_putc");
weak!("write", "__relapse_libc_write");
weak!("writev", "__relapse_libc_writev");
weak!("getc", "__relapse_libc_getc");
weak!("fgetc", "__relapse_libc_getc");
weak!("ungetc", "__relapse_libc_ungetc");
weak!("fread", "__relapse_libc_fread");
weak!("fgets", "__relapse_libc_fgets");
weak!("read", "__relapse_libc_read");

/// The stream or descriptor of a transfer.
#[derive(Clone, Copy)]
enum End {
    Stream(u64),
    Descriptor(i32),
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Transfer {
    /// 1: output, 0: input.
    out: u64,
    source: u64,
    offset: u64,
    length: u64,
    /// Index of its first byte in `bytes`.
    start: u64,
}

/// Output and input of the current call; the memory starts as zeros.
#[repr(C)]
pub struct ForeignIo {
    /// The target of the call.
    call: u64,
    transfers: u64,
    used: u64,
    list: [Transfer; TRANSFERS],
    bytes: [u8; CAPACITY],
}

impl ForeignIo {
    /// The last transfer, if it ends at a position of a source.
    fn last_ending(&mut self, out: bool, source: u64, end: u64) -> Option<&mut Transfer> {
        let last = self.list.get_mut((self.transfers as usize).checked_sub(1)?)?;
        (last.out == u64::from(out) && last.source == source && last.offset + last.length == end)
            .then_some(last)
    }
}

/// Whether the table of externals describes the input or output of a function: those below, called by
/// recorded code itself, and the variants into which the optimiser turns them (`putchar` becomes `putc`).
fn is_known(target: u64) -> bool {
    let known = module::known_at(target).checked_sub(1).and_then(externals::by_id);
    known.is_some_and(|external| external.io.is_some())
}

/// Runs `keep` if a call by recorded code is in progress whose transfers must be noted.
fn during_call(keep: impl FnOnce(&mut Context, u64)) {
    // SAFETY: the thread-local block is this thread's. While `call` is set, recorded code waits for that call
    // to return, and a hook is active only if `in_hook` is set: no other code uses the context. It is never
    // unmapped.
    unsafe {
        let tls = tls::tls();
        let target = (*tls).call;
        if target == 0 || is_known(target) {
            return;
        }
        let Some(ctx) = (*tls).ctx.as_mut() else { return };
        if ctx.key == 0 || ctx.own.in_hook || !ctx.own.logging {
            return;
        }
        ctx.with_reentrancy_guard(|ctx| keep(ctx, target));
    }
}

/// Notes bytes of output or input.
///
/// # Safety
/// `len` bytes at `text` are readable, and a stream is an open one of the C library.
unsafe fn note(out: bool, end: End, text: *const u8, len: u64) {
    // SAFETY: guaranteed by the caller; the context has a shadow.
    during_call(|ctx, target| unsafe { keep(ctx, target, out, end, text, len) });
}

/// The notes of the call of `target`, empty if it has none yet.
fn notes(ctx: &mut Context, target: u64) -> Option<&mut ForeignIo> {
    // SAFETY: `foreign` points to memory for one `ForeignIo` that only this thread uses; zeros are a valid one.
    unsafe {
        if ctx.own.foreign.is_null() {
            let place = sys::reserve(size_of::<ForeignIo>() as u64)?;
            shadow::ensure_shadow(ctx.key, place as u64, size_of::<ForeignIo>() as u64);
            ctx.own.foreign = place.cast();
        }
        let noted = &mut *ctx.own.foreign;
        if noted.call != target {
            (noted.call, noted.transfers, noted.used) = (target, 0, 0);
        }
        Some(noted)
    }
}

/// # Safety
/// As for [`note`]; `ctx` is this thread's and has a shadow.
unsafe fn keep(ctx: &mut Context, target: u64, out: bool, end: End, text: *const u8, len: u64) {
    // SAFETY: the caller guarantees an open stream. What is copied ends within the capacity.
    unsafe {
        if len == 0 {
            return;
        }
        let (place, source) = match end {
            End::Stream(file) => {
                let fd = io::file_number(file);
                if fd < 0 {
                    return;
                }
                (io::stream_position(file, out, Some(len)).0, ctx.descriptor_source(fd))
            }
            End::Descriptor(fd) => (io::descriptor_position(fd, out, len), ctx.descriptor_source(fd)),
        };
        let (Some(source), Some(noted)) = (source, notes(ctx, target)) else { return };
        let kept = len.min(CAPACITY as u64 - noted.used);
        bytes::copy(noted.bytes.as_mut_ptr().add(noted.used as usize), text, kept as usize);
        let start = noted.used;
        noted.used += kept;
        if let Some(last) = noted.last_ending(out, source, place) {
            last.length += len;
        } else if let Some(next) = noted.list.get_mut(noted.transfers as usize) {
            *next = Transfer { out: u64::from(out), source, offset: place, length: len, start };
            noted.transfers += 1;
        }
    }
}

/// Undoes one byte of input that was put back to a stream: the call has not consumed it.
///
/// # Safety
/// `file` is an open stream of the C library; `ctx` is this thread's and has a shadow.
unsafe fn undo_input(ctx: &mut Context, target: u64, file: u64) {
    // SAFETY: the caller guarantees an open stream.
    unsafe {
        io::put_back(file);
        let fd = io::file_number(file);
        let source = if fd < 0 { None } else { ctx.descriptor_source(fd) };
        let (Some(source), Some(noted)) = (source, notes(ctx, target)) else { return };
        let Some(last) = (noted.transfers as usize).checked_sub(1).and_then(|i| noted.list.get_mut(i)) else {
            return;
        };
        if last.out != 0 || last.source != source || last.length == 0 {
            return;
        }
        last.length -= 1;
        noted.used = noted.used.min(last.start + last.length);
        if last.length == 0 {
            noted.transfers -= 1;
        }
    }
}

/// Logs output and input of the call that has returned.
///
/// # Safety
/// `call` is a call of `target` that has returned, and `ctx` is this thread's and has a shadow.
pub unsafe fn log(ctx: &mut Context, target: u64, call: &Call<'_>) {
    // SAFETY: `foreign` is null or this thread's `ForeignIo`, whose bytes are readable.
    unsafe {
        let Some(noted) = ctx.own.foreign.as_mut() else { return };
        let is_own = core::mem::take(&mut noted.call) == target;
        let count = core::mem::take(&mut noted.transfers) as usize;
        if !is_own || count == 0 {
            return;
        }
        let (start, used) = (noted.bytes.as_ptr() as u64, noted.used);
        ctx.sync_shadow(call.at, start, used);
        for i in 0..count {
            let Some(Transfer { out, source, offset, length, start: at }) =
                ctx.own.foreign.as_ref().and_then(|noted| noted.list.get(i).copied())
            else {
                return;
            };
            // The bytes of transfers are stored consecutively. If they did not fit, only their number is
            // logged.
            let address = if at + length <= used { start + at } else { 0 };
            ctx.emit(call.at, &Event::Io { out: out != 0, source, offset, address, length });
        }
    }
}

/// `fwrite`, as called by code outside of the recording.
///
/// # Safety
/// As for `fwrite`. The functions below follow the same pattern.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_fwrite(
    text: *const u8,
    size: usize,
    count: usize,
    file: *mut u8,
) -> usize {
    // SAFETY: forwarded; the C library has read as many bytes as it reports.
    unsafe {
        let done = _IO_fwrite(text, size, count, file);
        note(true, End::Stream(file as u64), text, (done.wrapping_mul(size)) as u64);
        done
    }
}

/// # Safety
/// See [`__relapse_libc_fwrite`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_fputs(text: *const u8, file: *mut u8) -> i32 {
    // SAFETY: forwarded; the text has been read up to its NUL.
    unsafe {
        let done = _IO_fputs(text, file);
        if done >= 0 {
            note(true, End::Stream(file as u64), text, bytes::string_len(text) as u64);
        }
        done
    }
}

/// # Safety
/// See [`__relapse_libc_fwrite`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_putc(byte: i32, file: *mut u8) -> i32 {
    // SAFETY: forwarded; the byte of output is in `text`.
    unsafe {
        let done = _IO_putc(byte, file);
        if done >= 0 {
            let text = byte as u8;
            note(true, End::Stream(file as u64), &raw const text, 1);
        }
        done
    }
}

/// # Safety
/// See [`__relapse_libc_fwrite`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_write(fd: i32, text: *const u8, len: usize) -> isize {
    // SAFETY: forwarded; the kernel has read as many bytes as it reports.
    unsafe {
        let done = __write(fd, text, len);
        note(true, End::Descriptor(fd), text, done.max(0) as u64);
        done
    }
}

/// # Safety
/// See [`__relapse_libc_fwrite`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_writev(fd: i32, list: *const [usize; 2], count: i32) -> isize {
    // SAFETY: forwarded to the kernel, which has read the list and as many bytes as it reports.
    unsafe {
        let done = syscall(WRITEV, fd, list, count) as isize;
        let mut left = done.max(0) as usize;
        for i in 0..usize::try_from(count).unwrap_or(0) {
            if left == 0 {
                break;
            }
            let [text, len] = *list.add(i);
            note(true, End::Descriptor(fd), text as *const u8, len.min(left) as u64);
            left -= len.min(left);
        }
        done
    }
}

/// # Safety
/// See [`__relapse_libc_fwrite`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_getc(file: *mut u8) -> i32 {
    // SAFETY: forwarded; the byte of input is in `text`.
    unsafe {
        let done = _IO_getc(file);
        if done >= 0 {
            let text = done as u8;
            note(false, End::Stream(file as u64), &raw const text, 1);
        }
        done
    }
}

/// # Safety
/// See [`__relapse_libc_fwrite`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_ungetc(byte: i32, file: *mut u8) -> i32 {
    // SAFETY: forwarded.
    unsafe {
        let done = _IO_ungetc(byte, file);
        if done >= 0 {
            during_call(|ctx, target| undo_input(ctx, target, file as u64));
        }
        done
    }
}

/// # Safety
/// See [`__relapse_libc_fwrite`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_fread(
    to: *mut u8,
    size: usize,
    count: usize,
    file: *mut u8,
) -> usize {
    // SAFETY: forwarded; the C library has stored as many bytes as it reports.
    unsafe {
        let done = _IO_fread(to, size, count, file);
        note(false, End::Stream(file as u64), to, done.wrapping_mul(size) as u64);
        done
    }
}

/// # Safety
/// See [`__relapse_libc_fwrite`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_fgets(to: *mut u8, size: i32, file: *mut u8) -> *mut u8 {
    // SAFETY: forwarded; a line that was stored ends with a NUL.
    unsafe {
        let done = _IO_fgets(to, size, file);
        if !done.is_null() {
            during_call(|ctx, target| {
                let text = bytes::string_len(to) as u64;
                // A line may have NUL bytes of its own.
                let len = io::line_length(file as u64, to as u64, text, size as u64);
                keep(ctx, target, false, End::Stream(file as u64), to, len);
            });
        }
        done
    }
}

/// # Safety
/// See [`__relapse_libc_fwrite`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_libc_read(fd: i32, to: *mut u8, len: usize) -> isize {
    // SAFETY: forwarded; the kernel has stored as many bytes as it reports.
    unsafe {
        let done = __read(fd, to, len);
        note(false, End::Descriptor(fd), to, done.max(0) as u64);
        done
    }
}

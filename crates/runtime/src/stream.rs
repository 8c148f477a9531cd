//! Writes events to a stream's file, through a window that is mapped shared: written events survive even a
//! kill.

use crate::context::{self, Context};
use crate::desc::ModuleDesc;
use crate::sys;
use crate::{module, process};
use recording::encode::{Encoder, MAX_PLAIN};
use recording::event::{Event, Position, VERSION, header};

const FIRST_WINDOW: u64 = 256 << 10;
const LARGE_WINDOW: u64 = 2 << 20;

/// Time and site of an event.
#[derive(Clone, Copy)]
pub struct At {
    /// Time of the stream.
    pub time: u64,
    /// Registration index of the module; 0 outside of all functions.
    pub module: u32,
    /// The instruction's number in the module; 0 outside of all functions.
    pub site: u32,
}

impl At {
    /// # Safety
    /// `module` is the descriptor of a module that is loaded.
    #[inline]
    pub unsafe fn new(module: *const ModuleDesc, site: u32, time: u64) -> At {
        // SAFETY: the descriptor is part of a loaded module, whose code runs.
        At { time, module: unsafe { module::index(module) }, site }
    }

    /// Outside of all functions, or for an event without a site.
    pub fn outside(time: u64) -> At {
        At { time, module: 0, site: 0 }
    }
}

impl Context {
    /// Writes an event without a payload of variable length.
    #[inline]
    pub fn emit(&mut self, at: At, event: &Event<'_>) -> bool {
        self.emit_long(at, event, MAX_PLAIN)
    }

    /// Writes an event of at most `room` bytes.
    #[inline]
    pub fn emit_long(&mut self, at: At, event: &Event<'_>, room: usize) -> bool {
        if !self.own.logging {
            return false;
        }
        if self.own.end as usize - (self.own.cursor as usize) < room && !self.advance(room as u64) {
            return false;
        }
        let position =
            Position { time: at.time, module: at.module, site: at.site, seq: context::next_sequence() };
        let free = self.own.end as usize - self.own.cursor as usize;
        // SAFETY: `cursor` and `end` are null, or lie in the window with `cursor` not after `end` (see
        // `Context`). There are at least `room` bytes between them, so they are not null. The window is
        // mapped writable, and no other code in the process uses it: this thread alone writes here, and
        // readers open the file after the process has ended.
        let out = unsafe { core::slice::from_raw_parts_mut(self.own.cursor, free) };
        match self.own.encoder.encode(out, position, event) {
            Ok(used) => {
                // SAFETY: the encoder used that many bytes of `out`, which ends where the window does.
                self.own.cursor = unsafe { self.own.cursor.add(used) };
                self.length += used as u64;
                self.events += 1;
                true
            }
            Err(_) => {
                self.stop();
                false
            }
        }
    }

    /// Moves the window so that `room` bytes fit.
    #[cold]
    fn advance(&mut self, room: u64) -> bool {
        let position = header::LEN as u64 + self.length;
        let offset = position & !(sys::PAGE - 1);
        let usual = if self.length < FIRST_WINDOW { FIRST_WINDOW } else { LARGE_WINDOW };
        let len = usual.max(room + sys::PAGE).next_multiple_of(sys::PAGE);
        let window = open(self.stream).map(|fd| {
            let window = sys::allocate(fd, offset, len)
                // SAFETY: without `MAP_FIXED` the kernel chooses an unused address.
                .then(|| unsafe { sys::map(0, len, sys::PROT_RW, sys::MAP_SHARED, fd, offset) })
                .flatten();
            sys::close(fd);
            window
        });
        let window = match window {
            Ok(Some(window)) => window,
            Ok(None) => {
                self.stop();
                return false;
            }
            Err(error) => {
                self.stop_recording(process::why(error));
                return false;
            }
        };
        self.drop_window();
        self.own.window = window;
        self.own.window_len = len;
        self.own.window_offset = offset;
        // SAFETY: the window has `len` bytes; `position - offset` is less than a page, and `len` is
        // at least one.
        (self.own.cursor, self.own.end) =
            unsafe { (window.add((position - offset) as usize), window.add(len as usize)) };
        true
    }

    fn drop_window(&mut self) {
        if !self.own.window.is_null() {
            // SAFETY: the window was mapped by `advance` with this length, and the pointers into it
            // are forgotten next.
            unsafe { sys::unmap(self.own.window, self.own.window_len) };
            self.forget_window();
        }
    }

    /// There is no window any more, so the next event maps one. Does not unmap the old one.
    pub fn forget_window(&mut self) {
        self.own.window = core::ptr::null_mut();
        self.own.cursor = core::ptr::null_mut();
        self.own.end = core::ptr::null_mut();
    }

    /// An error: no more events, and the header records that. The program continues.
    #[cold]
    pub fn stop(&mut self) {
        self.stop_recording(b"");
    }

    /// The same, with a reason other than a file error.
    #[cold]
    pub fn stop_recording(&mut self, reason: &[u8]) {
        if self.own.logging || reason.is_empty() {
            self.flags |= header::INCOMPLETE;
            self.own.logging = false;
            process::note_incomplete(reason);
        }
    }

    /// The stream is complete: truncates the file to its used length.
    pub fn finish(&mut self) {
        if self.own.logging {
            self.own.logging = false;
            self.drop_window();
            if let Ok(fd) = open(self.stream) {
                sys::truncate(fd, header::LEN as u64 + self.length);
                sys::close(fd);
            }
        }
    }

    /// Fills in the header of a new stream.
    pub fn begin(&mut self, stream: u32, kind: u32, parent: u64) {
        self.magic = header::MAGIC;
        self.version = VERSION;
        self.stream = stream;
        self.pid = sys::pid();
        self.identity = process::identity();
        self.kind = kind;
        self.length = 0;
        self.tid = u64::from(sys::tid());
        self.thread = crate::tls::thread_pointer();
        self.parent_stream = parent;
        self.events = 0;
        self.misses = 0;
        self.calls = 0;
        self.opaque = 0;
        self.own.encoder = Encoder::new();
        self.own.logging = true;
        self.forget_window();
    }
}

/// Opens the file of a stream. It is not kept open: the program must find the descriptors it expects, and may
/// close any.
fn open(stream: u32) -> Result<i32, i64> {
    sys::open(file(stream).as_c_str(), sys::O_RDWR)
}

fn file(stream: u32) -> process::Path {
    let mut path = process::Path::in_directory();
    path.push(b"t").push_number(u64::from(stream)).push(b".raw");
    path
}

/// Creates the file of a stream and maps its header at `at` (0: anywhere).
///
/// # Safety
/// At `at`, unless it is 0, lies a header that was mapped here before; no reference to it is alive.
pub unsafe fn create(stream: u32, at: u64) -> Option<*mut Context> {
    let fd = process::create(file(stream).as_c_str(), sys::O_RDWR).ok()?;
    let fixed = if at == 0 { 0 } else { sys::MAP_FIXED };
    let page = sys::allocate(fd, 0, header::LEN as u64)
        // SAFETY: `MAP_FIXED` is set only for an address that the caller owns; otherwise the kernel chooses
        // an unused one.
        .then(|| unsafe { sys::map(at, header::LEN as u64, sys::PROT_RW, sys::MAP_SHARED | fixed, fd, 0) })
        .flatten();
    sys::close(fd);
    page.map(<*mut u8>::cast)
}

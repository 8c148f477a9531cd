//! The environment of the process.

use crate::process::Path;
use crate::{bytes, sys};

unsafe extern "C" {
    static mut environ: *const *const u8;
}

/// Appends the value of a variable (`NAME=`) of the environment, if there is one.
///
/// # Safety
/// No other code changes the environment during the call.
pub unsafe fn push_variable(name: &[u8], to: &mut Path) {
    if array().is_null() {
        push_variable_at_start(name, to);
        return;
    }
    // SAFETY: the caller guarantees that the environment does not change.
    if let Some(value) = unsafe { entries() }.find_map(|e| e.strip_prefix(name)) {
        to.push(value);
    }
}

/// The same from the environment that the process was started with. Code in `.preinit_array` runs before the
/// C library has set up `environ`.
fn push_variable_at_start(name: &[u8], to: &mut Path) {
    let Ok(fd) = sys::open(c"/proc/self/environ", 0) else { return };
    let mut chunk = [0; 1024];
    // Length of the matching prefix of the current entry; none if it is another variable's.
    let mut like = Some(0);
    'read: while let Ok(length @ 1..) = usize::try_from(sys::read(fd, &mut chunk)) {
        for byte in chunk.iter().take(length) {
            match like {
                Some(n) if n == name.len() && *byte == 0 => break 'read,
                Some(n) if n == name.len() => {
                    to.push(&[*byte]);
                }
                _ if *byte == 0 => like = Some(0),
                Some(n) if name.get(n) == Some(byte) => like = Some(n + 1),
                _ => like = None,
            }
        }
    }
    sys::close(fd);
}

/// The entries of the environment.
///
/// # Safety
/// No code changes the environment during `'a`.
pub unsafe fn entries<'a>() -> impl Iterator<Item = &'a [u8]> {
    let mut at = array();
    // SAFETY: `environ` is null or an array of strings with a null pointer at its end, which the iteration
    // does not pass; the caller guarantees that it does not change.
    core::iter::from_fn(move || unsafe {
        if at.is_null() || (*at).is_null() {
            return None;
        }
        let entry = bytes::string(*at);
        at = at.add(1);
        Some(entry)
    })
}

/// The array of the environment's pointers.
pub fn array() -> *const *const u8 {
    // SAFETY: `environ` is a variable of the C library that exists from the start. It is only read; a program
    // that assigns to it in another thread at the start of `main` races with itself.
    unsafe { environ }
}

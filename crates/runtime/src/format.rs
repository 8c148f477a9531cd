//! The arguments of `printf` and `scanf`: makes known the strings that were printed and the memory that was
//! stored to.

use crate::bytes;
use crate::call::{Call, string_extent, wide_extent};
use crate::context::Context;
use crate::desc::{Kind, Kinds};
use crate::hooks::{VaList, VaWalk};
use externals::format::{Conversion, Number, Parser, Piece, Size};
use externals::{Format, FormatArgs};

/// Arguments of a format beyond this number are ignored.
const MAX_COUNT: usize = 64;

/// The variadic arguments, one word each (the first word of wider ones).
struct Arguments {
    words: [u64; MAX_COUNT],
    count: usize,
}

impl Arguments {
    fn get(&self, index: u32) -> Option<u64> {
        self.words[..self.count].get(index as usize).copied()
    }

    fn add(&mut self, word: u64) {
        if let Some(place) = self.words.get_mut(self.count) {
            *place = word;
            self.count += 1;
        }
    }
}

/// Makes known what a call with a format has read or written through its arguments.
///
/// # Safety
/// `call` is a call of a function with this format that has returned, in the running thread, and `ctx` has a
/// shadow.
pub unsafe fn sync_arguments(ctx: &mut Context, call: &Call<'_>, format: Format) {
    let text = call.arg(format.format) as *const u8;
    if text.is_null() {
        return;
    }
    // SAFETY: the function has read its format, a string that ends with NUL; it is not null, and a
    // program that changes it in another thread races with the function too.
    let text = unsafe { bytes::string(text) };
    let parser = || if format.input { Parser::scanf(text) } else { Parser::printf(text) };
    if !text.contains(&b'%') {
        return;
    }
    let mut args = Arguments { words: [0; MAX_COUNT], count: 0 };
    match format.args {
        FormatArgs::From(first) => {
            let mut slot = 0;
            // SAFETY: the compiler emits `kinds` with `args` entries.
            for kind in unsafe { Kinds::new(call.desc.kinds, u32::from(call.desc.args)) } {
                if slot >= first as usize {
                    args.add(call.args.get(slot).copied().unwrap_or(0));
                }
                slot += kind.slots();
            }
        }
        FormatArgs::List(slot) => {
            let list = call.arg(slot);
            if list == 0 {
                return;
            }
            // SAFETY: the function has used the list, so it is mapped, and so is its shadow: reserved, or
            // created when the access faults.
            let (was, now) = unsafe { (*((list ^ ctx.key) as *const VaList), *(list as *const VaList)) };
            // The callee has advanced the list. The shadow still contains its previous state, unless code
            // outside has made it.
            if now.is_reached_from(&was) {
                // SAFETY: the list was `was` before the call: the function has read the arguments of its
                // format from there.
                unsafe { collect(parser(), &mut VaWalk { list: was }, &mut args) };
            }
            // SAFETY: the list is mapped, as above.
            unsafe { ctx.sync_shadow(call.at, list, size_of::<VaList>() as u64) };
        }
    }
    // Only assigned conversions count; `%n` and conversions after a failure do not.
    let mut left = call.count().unwrap_or(0);
    for piece in parser() {
        let Piece::Conversion(c) = piece else { continue };
        let Some(pointer) = c.arg.and_then(|a| args.get(a)) else { continue };
        if pointer == 0 {
            continue;
        }
        // SAFETY: the function has followed this pointer for this conversion: a `printf` follows every
        // pointer of its format, a `scanf` those that it counts as assigned.
        let len = unsafe {
            if format.input {
                if c.kind != b'n' {
                    if left == 0 {
                        break;
                    }
                    left -= 1;
                }
                scanned(&c, pointer)
            } else {
                printed(&c, pointer, &args)
            }
        };
        // SAFETY: these are the bytes that the function has read or written. With `m` it has stored the
        // address of a string that it has allocated.
        unsafe {
            ctx.sync_shadow(call.at, pointer, len);
            if c.allocate {
                let text = *(pointer as *const u64);
                ctx.sync_shadow(call.at, text, bytes::string_len(text as *const u8) as u64 + 1);
            }
        }
    }
}

/// Reads arguments in order from a list. Stops at a format with numbered arguments: their types are known
/// only after all conversions were parsed.
///
/// # Safety
/// The list at the start of `walk` has the arguments of the format.
unsafe fn collect(parser: Parser<'_>, walk: &mut VaWalk, args: &mut Arguments) {
    for piece in parser {
        let Piece::Conversion(c) = piece else { continue };
        for number in [c.width, c.precision] {
            if let Number::Arg(n) = number {
                if n as usize != args.count {
                    return;
                }
                // SAFETY: the format requires this argument, so it exists, as one word.
                args.add(unsafe { *(walk.next(Kind::Word).0 as *const u64) });
            }
        }
        let Some(n) = c.arg else { continue };
        if n as usize != args.count {
            return;
        }
        let float = matches!(c.kind, b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A');
        let kind = match c.size {
            _ if !float => Kind::Word,
            Size::LongDouble => Kind::LongDouble,
            _ => Kind::Double,
        };
        // SAFETY: the format requires this argument, so it exists, with eight bytes at least.
        args.add(unsafe { *(walk.next(kind).0 as *const u64) });
    }
}

/// Bytes at the pointer that a `printf` conversion reads or writes.
///
/// # Safety
/// A `printf` has just followed the pointer for this conversion.
unsafe fn printed(c: &Conversion, pointer: u64, args: &Arguments) -> u64 {
    let at = pointer as *const u8;
    let limit = match c.precision {
        Number::Fixed(n) => u64::from(n),
        // A negative precision counts as none.
        Number::Arg(n) => match args.get(n) {
            Some(n) if n as i32 >= 0 => u64::from(n as u32),
            _ => u64::MAX >> 2,
        },
        Number::None => u64::MAX >> 2,
    };
    // SAFETY: the function has read the string up to its NUL or its precision. That counts bytes of output,
    // and each wide character makes at least one.
    unsafe {
        match c.kind {
            b'n' => c.size.bytes(),
            b's' if c.size == Size::Long => wide_extent(at, limit),
            b's' => string_extent(at, limit),
            _ => 0,
        }
    }
}

/// Bytes that a `scanf` conversion has stored at the pointer.
///
/// # Safety
/// A `scanf` has just stored to the pointer for this conversion.
unsafe fn scanned(c: &Conversion, pointer: u64) -> u64 {
    let at = pointer as *const u8;
    // SAFETY: what is stored for `s` and `[` is a string that ends with NUL.
    unsafe {
        match c.kind {
            _ if c.allocate => 8,
            b'p' => 8,
            b's' | b'[' if c.size == Size::Long => wide_extent(at, u64::MAX >> 2),
            b's' | b'[' => string_extent(at, u64::MAX >> 2),
            b'c' => match c.width {
                Number::Fixed(n) => u64::from(n),
                _ => 1,
            },
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => match c.size {
                Size::LongDouble => 10,
                Size::Long => 8,
                _ => 4,
            },
            _ => c.size.bytes(),
        }
    }
}

//! The arguments of `printf` and `scanf`: strings that were printed and places
//! that were stored to are made known.

use crate::bytes;
use crate::call::{Call, string_extent, wide_extent};
use crate::context::Context;
use crate::desc::{Kind, Kinds};
use crate::hooks::{VaList, VaWalk};
use externals::format::{Conversion, Number, Parser, Piece, Size};
use externals::{Format, FormatArgs};

/// Formats with more arguments than this are followed no further.
const MOST: usize = 64;

/// The variadic arguments, one word each (of wider ones the first).
struct Arguments {
    words: [u64; MOST],
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

pub unsafe fn make_arguments_known(ctx: &mut Context, call: &Call<'_>, format: Format) {
    let text = call.arg(format.format) as *const u8;
    if text.is_null() {
        return;
    }
    let text = unsafe { bytes::string(text) };
    let parser = || if format.input { Parser::scanf(text) } else { Parser::printf(text) };
    if !text.contains(&b'%') {
        return;
    }
    let mut args = Arguments { words: [0; MOST], count: 0 };
    match format.args {
        FormatArgs::From(first) => {
            let mut slot = 0;
            for kind in unsafe { Kinds::new(call.desc.kinds, u32::from(call.desc.args)) } {
                if slot >= first as usize {
                    args.add(call.args.get(slot).copied().unwrap_or(0));
                }
                slot += kind.slots();
            }
        }
        FormatArgs::List(slot) => unsafe {
            let list = call.arg(slot);
            if list == 0 {
                return;
            }
            // The callee has moved the list on. The shadow still has it as it was.
            let mut walk = VaWalk { list: *((list ^ ctx.key) as *const VaList) };
            collect(parser(), &mut walk, &mut args);
            ctx.make_known(call.at, list, size_of::<VaList>() as u64);
        },
    }
    // What was assigned counts; `%n` and what comes after a failure does not.
    let mut left = call.count().unwrap_or(0);
    for piece in parser() {
        let Piece::Conversion(c) = piece else { continue };
        let Some(pointer) = c.arg.and_then(|a| args.get(a)) else { continue };
        if pointer == 0 {
            continue;
        }
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
        unsafe {
            ctx.make_known(call.at, pointer, len);
            if c.allocate {
                let text = *(pointer as *const u64);
                ctx.make_known(call.at, text, bytes::string_len(text as *const u8) as u64 + 1);
            }
        }
    }
}

/// Reads arguments in order from a list. Formats with numbered arguments are
/// left alone: their types are only known when all are seen.
unsafe fn collect(parser: Parser<'_>, walk: &mut VaWalk, args: &mut Arguments) {
    for piece in parser {
        let Piece::Conversion(c) = piece else { continue };
        for number in [c.width, c.precision] {
            if let Number::Arg(n) = number {
                if n as usize != args.count {
                    return;
                }
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
        args.add(unsafe { *(walk.next(kind).0 as *const u64) });
    }
}

/// Bytes at the pointer that a `printf` conversion reads or writes.
unsafe fn printed(c: &Conversion, pointer: u64, args: &Arguments) -> u64 {
    let at = pointer as *const u8;
    unsafe {
        match c.kind {
            b'n' => c.size.bytes(),
            b's' if c.size == Size::Long => wide_extent(at),
            b's' => {
                let limit = match c.precision {
                    Number::Fixed(n) => u64::from(n),
                    // A negative precision is none.
                    Number::Arg(n) => match args.get(n) {
                        Some(n) if n as i32 >= 0 => u64::from(n as u32),
                        _ => u64::MAX >> 2,
                    },
                    Number::None => u64::MAX >> 2,
                };
                string_extent(at, limit)
            }
            _ => 0,
        }
    }
}

/// Bytes that a `scanf` conversion has stored at the pointer.
unsafe fn scanned(c: &Conversion, pointer: u64) -> u64 {
    let at = pointer as *const u8;
    unsafe {
        match c.kind {
            _ if c.allocate => 8,
            b'p' => 8,
            b's' | b'[' if c.size == Size::Long => wide_extent(at),
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

//! What a `printf`-like call read beyond its format: strings, and the arguments in a `va_list`.

use externals::FormatArgs;
use externals::format::{Number, Parser, Piece, Size};
use replay::code::CallSite;
use replay::memory::Memory;
use replay::observer::{ExternalCall, View};

/// Formats and strings are read up to this length.
const LIMIT: usize = 1 << 20;

/// Ranges (address, length) that the call read because of its format. The view is that after the call;
/// `list` is the `va_list` before the call, which advances it.
pub fn reads(view: &View<'_>, call: &ExternalCall<'_>, list: Option<List>) -> Vec<(u64, u64)> {
    let mut out = Vec::new();
    let Some(format) = call.known.and_then(|k| k.format).filter(|f| !f.input) else { return out };
    let arg = |slot: u8| call.args.get(slot as usize).copied().unwrap_or(0);
    let text = view.memory.peek_string(arg(format.format), LIMIT);
    let mut list = match format.args {
        FormatArgs::From(_) => None,
        FormatArgs::List(slot) => {
            out.push((arg(slot), 24));
            Some(list.unwrap_or_else(|| List::at(arg(slot), view.memory)))
        }
    };
    // For variadic arguments passed in registers: the first slot of each.
    let mut slot = 0;
    let mut passed = Vec::new();
    for a in &call.site.args {
        if let FormatArgs::From(first) = format.args
            && slot >= u32::from(first)
        {
            passed.push(a.src);
        }
        slot += a.slots;
    }
    for piece in Parser::printf(&text) {
        let Piece::Conversion(c) = piece else { continue };
        let Some(number) = c.arg else { continue };
        let value = match &mut list {
            Some(list) => {
                for extra in [c.width, c.precision] {
                    if let Number::Arg(_) = extra {
                        list.next(false, false, &mut out);
                    }
                }
                let float = matches!(c.kind.to_ascii_lowercase(), b'e' | b'f' | b'g' | b'a');
                let at = list.next(float, c.size == Size::LongDouble, &mut out);
                view.memory.peek_word(at, 8)
            }
            None => {
                let src = passed.get(number as usize).copied().unwrap_or(u32::MAX);
                view.regs.get(src as usize).copied().unwrap_or(0)
            }
        };
        if c.kind == b's' && c.size != Size::Long && value != 0 {
            let most = match c.precision {
                Number::Fixed(n) => n as usize,
                _ => LIMIT,
            };
            let len = view.memory.peek_string(value, most.min(LIMIT)).len();
            // The NUL is read unless the precision ends the string before it.
            out.push((value, (len + usize::from(len < most)) as u64));
        }
    }
    out
}

/// The `va_list` that is about to be passed to a call.
pub fn list_of(view: &View<'_>, site: &CallSite) -> Option<List> {
    let FormatArgs::List(slot) = site.known?.format?.args else { return None };
    let src = site.args.iter().flat_map(|a| a.src..a.src + a.slots).nth(slot.into())?;
    Some(List::at(view.regs.get(src as usize).copied()?, view.memory))
}

/// An iterator over a `va_list`.
#[derive(Clone, Copy, Debug)]
pub struct List {
    gp: u64,
    fp: u64,
    overflow: u64,
    save: u64,
}

impl List {
    fn at(list: u64, memory: &Memory) -> List {
        List {
            gp: memory.peek_word(list, 4),
            fp: memory.peek_word(list.wrapping_add(4), 4),
            overflow: memory.peek_word(list.wrapping_add(8), 8),
            save: memory.peek_word(list.wrapping_add(16), 8),
        }
    }

    /// The address of the next argument.
    fn next(&mut self, float: bool, long: bool, out: &mut Vec<(u64, u64)>) -> u64 {
        let (at, len) = if float && long {
            let at = self.overflow.wrapping_add(15) & !15;
            self.overflow = at.wrapping_add(16);
            (at, 10)
        } else if float && self.fp < 176 {
            self.fp += 16;
            (self.save.wrapping_add(self.fp - 16), 8)
        } else if !float && self.gp < 48 {
            self.gp += 8;
            (self.save.wrapping_add(self.gp - 8), 8)
        } else {
            self.overflow = self.overflow.wrapping_add(8);
            (self.overflow.wrapping_sub(8), 8)
        };
        out.push((at, len));
        at
    }
}

//! What a known external call read and wrote, as the table has it.
//!
//! Patches in a recording cover only bytes that were not known already; who
//! asks what a result *depends* on needs the whole ranges.

use crate::memory::Memory;
use crate::observer::{ExternalCall, View};
use externals::{Len, Place, Range, When};

/// Strings and arrays are followed no further than this.
const LIMIT: u64 = 1 << 24;

/// Ranges (address, length) the call read. The memory is that after the call.
#[must_use]
pub fn reads(view: &View<'_>, call: &ExternalCall<'_>) -> Vec<(u64, u64)> {
    let mut out = call.reads.to_vec();
    if let (Some(known), false) = (call.known, call.modelled) {
        for range in known.reads {
            resolve(view.memory, call, range, &mut out);
        }
    }
    out
}

/// Ranges (address, length) the call wrote.
#[must_use]
pub fn writes(view: &View<'_>, call: &ExternalCall<'_>) -> Vec<(u64, u64)> {
    let mut out = call.writes.to_vec();
    if let (Some(known), false) = (call.known, call.modelled) {
        for range in known.writes {
            resolve(view.memory, call, range, &mut out);
        }
    }
    out
}

fn resolve(memory: &Memory, call: &ExternalCall<'_>, range: &Range, out: &mut Vec<(u64, u64)>) {
    let arg = |slot: u8| call.args.get(slot as usize).copied().unwrap_or(0);
    let result = call.result.first().copied().unwrap_or(0);
    // An `int` comes zero-extended: negative if bit 31 is the highest set.
    let count = (result >> 31 != 1 && result.cast_signed() >= 0).then_some(result);
    let applies = match range.when {
        When::Always => true,
        When::Ok => count.is_some(),
        When::Zero => result as u32 == 0,
        When::NonZero => result != 0,
    };
    let address = match range.place {
        Place::Arg(slot) => arg(slot),
        Place::Ret => result,
        Place::At(slot) if arg(slot) != 0 => memory.peek_word(arg(slot), 8),
        // The address of `errno` is not the call's to know.
        Place::At(_) | Place::Errno => 0,
    };
    if !applies || address == 0 {
        return;
    }
    let n = count.unwrap_or(0);
    let len = match range.len {
        Len::Const(n) => u64::from(n),
        Len::Arg(slot) => arg(slot),
        Len::Mul(a, b) => arg(a).saturating_mul(arg(b)),
        Len::Times(slot, by) => arg(slot).saturating_mul(by.into()),
        Len::Ret => n,
        Len::RetAndNul => count.map_or(0, |n| n + 1),
        Len::RetTimes(slot) => n.saturating_mul(arg(slot)),
        Len::RetConst(by) => n.saturating_mul(by.into()),
        Len::RetMax(slot) => n.min(arg(slot)),
        Len::CStr => memory.peek_string(address, LIMIT as usize).len() as u64 + 1,
        Len::CStrMax(slot) => {
            let limit = arg(slot).min(LIMIT);
            (memory.peek_string(address, limit as usize).len() as u64 + 1).min(limit)
        }
        Len::WStr => {
            let mut at = 0;
            while at < LIMIT && memory.peek_word(address.wrapping_add(at), 4) != 0 {
                at += 4;
            }
            at + 4
        }
        Len::At32(slot) if arg(slot) != 0 => memory.peek_word(arg(slot), 4),
        Len::At32(_) => 0,
        Len::Iovec(slot) => {
            let entries = arg(slot).min(1024);
            let mut left = n;
            for i in 0..entries {
                let base = memory.peek_word(address.wrapping_add(16 * i), 8);
                let size = memory.peek_word(address.wrapping_add(16 * i + 8), 8).min(left);
                left -= size;
                if size > 0 {
                    out.push((base, size));
                }
            }
            16 * entries
        }
        Len::Strings => {
            let mut entries = 0;
            while entries < LIMIT / 8 {
                let string = memory.peek_word(address.wrapping_add(8 * entries), 8);
                entries += 1;
                if string == 0 {
                    break;
                }
                out.push((string, memory.peek_string(string, LIMIT as usize).len() as u64 + 1));
            }
            8 * entries
        }
        Len::Dirent => memory.peek_word(address.wrapping_add(16), 2),
    };
    if len > 0 {
        out.push((address, len));
    }
}

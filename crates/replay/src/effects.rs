//! The memory that a known external call read and wrote, according to the table of externals.
//!
//! Patches in a recording cover only bytes that were not known already; an analysis of what a result
//! *depends* on needs the whole ranges.
//!
//! Hidden state of the library, and the content of files, are ranges too, at addresses that no program uses:
//! one call defines them and another uses them.

use crate::memory::Memory;
use crate::observer::{ExternalCall, View};
use externals::{
    Access, Channel, Direction, Len, Owner, Place, Range, Ret, STATE_VARIABLES, State, StateVariable, When,
};
use program::model::SymbolKind;

/// Strings and arrays are followed only up to this length.
const LIMIT: u64 = 1 << 24;

/// Ranges (address, length) that the call read, with memory in the state after the call.
#[must_use]
pub fn reads(view: &View<'_>, call: &ExternalCall<'_>) -> Vec<(u64, u64)> {
    let mut out = call.reads.to_vec();
    if let (Some(known), false) = (call.known, call.modelled) {
        for range in known.reads {
            resolve(view.memory, call, range, &mut out);
        }
        hidden(view.memory, call, known, false, &mut out);
        shown(view, known, false, &mut out);
    }
    out
}

/// Ranges (address, length) that the call wrote.
#[must_use]
pub fn writes(view: &View<'_>, call: &ExternalCall<'_>) -> Vec<(u64, u64)> {
    let mut out = call.writes.to_vec();
    if let (Some(known), false) = (call.known, call.modelled) {
        for range in known.writes {
            resolve(view.memory, call, range, &mut out);
        }
        hidden(view.memory, call, known, true, &mut out);
        shown(view, known, true, &mut out);
        if fails(known, call) {
            out.push((state_address(State::Errno, 0), 1));
        }
    }
    out
}

/// Addresses of library state, and of file content. No pointer of a program is that large.
const STATES: u64 = 0xf000 << 48;
const FILES: u64 = 0xe000 << 48;

/// Whether a range is outside of the program's memory.
#[must_use]
pub fn is_hidden(address: u64) -> bool {
    address >= FILES
}

/// Whether a range is state of the library.
#[must_use]
pub fn is_state(address: u64) -> bool {
    address >= STATES
}

/// The address of the library state that belongs to an owner; 0 for the process.
#[must_use]
pub fn state_address(state: State, owner: u64) -> u64 {
    STATES | (state as u64) << 48 | owner & ((1 << 48) - 1)
}

/// The address of the state of an environment variable, by its name.
#[must_use]
pub fn variable_address(name: &[u8]) -> u64 {
    state_address(State::Environment, number_of_name(name))
}

/// Never 0, which is the process.
fn number_of_name(name: &[u8]) -> u64 {
    hash(name) | 1
}

/// The address of a file's content, by its name, with room for 64 GiB.
#[must_use]
pub fn file_address(name: &[u8]) -> u64 {
    FILES | (hash(name) & 0xff_ffff) << 36
}

fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

fn hidden(
    memory: &Memory,
    call: &ExternalCall<'_>,
    known: &externals::External,
    written: bool,
    out: &mut Vec<(u64, u64)>,
) {
    let arg = |slot: u8| call.args.get(slot as usize).copied().unwrap_or(0);
    for hidden in known.hidden {
        let applies = match hidden.access {
            Access::Uses => !written,
            Access::Sets => written,
            Access::Changes => true,
            // See `appends`.
            Access::Adds => false,
            Access::Continues(slot) => written || arg(slot) == 0,
        };
        let owner = match hidden.owner {
            Owner::Process => 0,
            Owner::Object(slot) => arg(slot),
            Owner::Within(slot, offset) => arg(slot).wrapping_add(offset.into()),
            Owner::Result => call.result.first().copied().unwrap_or(0),
            Owner::Name(slot) => {
                let text = memory.peek_string(arg(slot), LIMIT as usize);
                number_of_name(text.split(|byte| *byte == b'=').next().unwrap_or_default())
            }
        };
        if applies {
            out.push((state_address(hidden.state, owner), 1));
        }
    }
}

/// Variables of the library that expose state which a call changes. The call may store the values that they
/// already had, which no later access reveals; and it reads values that the program has stored into them.
fn shown(view: &View<'_>, known: &externals::External, written: bool, out: &mut Vec<(u64, u64)>) {
    let is_changed = |state: State| {
        known.hidden.iter().any(|hidden| hidden.state == state && !matches!(hidden.access, Access::Uses))
    };
    let wanted = |variable: &&StateVariable| is_changed(variable.state) && (written || variable.is_read);
    if !STATE_VARIABLES.iter().any(|variable| wanted(&variable)) {
        return;
    }
    for (_, loaded) in view.image.modules() {
        for (symbol, address) in loaded.model.symbols.iter().zip(&loaded.addresses) {
            let variable = STATE_VARIABLES.iter().filter(wanted).find(|v| v.name == symbol.name);
            if let Some(StateVariable { size, .. }) = variable
                && !matches!(symbol.kind, SymbolKind::Data { .. })
                && !out.contains(&(*address, *size))
            {
                out.push((*address, *size));
            }
        }
    }
}

/// The state to which a call appends by writing to a stream: its previous content remains.
#[must_use]
pub fn appends(call: &ExternalCall<'_>) -> Option<u64> {
    let known = call.known?;
    if let Some(added) = known.hidden.iter().find(|hidden| hidden.access == Access::Adds)
        && let Owner::Object(slot) = added.owner
    {
        return Some(state_address(added.state, *call.args.get(slot as usize)?));
    }
    let io = known.io.filter(|io| io.direction == Direction::Out)?;
    let Channel::Stream(slot) = io.channel else { return None };
    Some(state_address(State::MemoryStream, *call.args.get(slot as usize)?))
}

/// Whether a call may have set `errno`: its result indicates a failure, or cannot exclude one.
fn fails(known: &externals::External, call: &ExternalCall<'_>) -> bool {
    let result = call.result.first().copied().unwrap_or(0);
    // Numbers out of range have results that are numbers.
    if known.name.contains("strto") || known.name.contains("wcsto") {
        return true;
    }
    match known.ret {
        Ret::Void | Ret::Float | Ret::LongDouble => false,
        Ret::Double => !f64::from_bits(result).is_finite(),
        Ret::Long => result == u64::MAX,
        Ret::Int | Ret::Count | Ret::Fd => result as u32 == u32::MAX || result == u64::MAX,
        Ret::Pointer | Ret::Stream => result == 0 || result == u64::MAX,
        Ret::Into(_) => false,
    }
}

/// The block of the heap that a call allocated: its address and size.
#[must_use]
pub fn allocated(view: &View<'_>, call: &ExternalCall<'_>) -> Option<(u64, u64)> {
    let block = call.known?.allocates.as_ref()?;
    range_of(view.memory, call, block, &mut Vec::new())
}

fn resolve(memory: &Memory, call: &ExternalCall<'_>, range: &Range, out: &mut Vec<(u64, u64)>) {
    let resolved = range_of(memory, call, range, out);
    out.extend(resolved.filter(|(_, len)| *len > 0));
}

/// The virtual base of a C++ stream, if the program itself has read its offset: otherwise the library's
/// tables are not in the recording.
fn virtual_base(memory: &Memory, stream: u64) -> Option<u64> {
    let table = Some(memory.peek_word(stream, 8)).filter(|table| *table != 0)?;
    let offset = Some(memory.peek_word(table.wrapping_sub(24), 8)).filter(|offset| *offset != 0)?;
    Some(stream.wrapping_add(offset))
}

/// Resolves a range; further memory that it points to is appended to `out`.
fn range_of(
    memory: &Memory,
    call: &ExternalCall<'_>,
    range: &Range,
    out: &mut Vec<(u64, u64)>,
) -> Option<(u64, u64)> {
    let arg = |slot: u8| call.args.get(slot as usize).copied().unwrap_or(0);
    let result = call.result.first().copied().unwrap_or(0);
    // An `int` comes zero-extended: negative if bit 31 is the highest set.
    let count = (result >> 31 != 1 && result.cast_signed() >= 0).then_some(result);
    let applies = match range.when {
        When::Always => true,
        When::Ok => count.is_some(),
        When::Zero => result as u32 == 0,
        When::NonZero => result != 0,
        When::Clear(slot, bits) => arg(slot) as u32 & bits == 0,
    };
    let address = match range.place {
        Place::Arg(slot) => arg(slot),
        Place::Field(slot, offset) if arg(slot) != 0 => arg(slot).wrapping_add(offset.into()),
        Place::Field(..) => 0,
        Place::Ret => result,
        Place::At(slot) if arg(slot) != 0 => memory.peek_word(arg(slot), 8),
        Place::Ios(slot, offset) => {
            virtual_base(memory, arg(slot)).map_or(0, |virtual_base| virtual_base.wrapping_add(offset.into()))
        }
        // The address of `errno` cannot be computed from the call.
        Place::At(_) | Place::Errno => 0,
    };
    if !applies || address == 0 {
        return None;
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
        Len::Gcount(slot) => memory.peek_word(arg(slot).wrapping_add(8), 8).min(LIMIT),
    };
    Some((address, len))
}

//! Values that are other ones in every run: made of addresses, of the time, of numbers that
//! the system gives out, of randomness.
//!
//! Two runs of one program on one input differ in them and mean nothing by it. Which values
//! they are is followed through the replay: every register and every byte of memory may have
//! a [`Label`], the set of what it was made of. Labels go where values go: through
//! arithmetic, memory, calls, results, and functions of the C library with the state that
//! those keep. Events whose value has a label say so instead of the value.
//!
//! **Addresses.** A pointer needs no label: no event shows it. One that becomes a number has
//! [`ADDRESS`]: adding a number to it, or cutting its low bits, gives an address again. Two
//! of them inside of one object cancel out: a distance, and which of the two is lower, are
//! the same in every run, as is whether two addresses are equal. Everything else that is
//! made of an address is of its [`LAYOUT`].
//!
//! **Places.** What is loaded from a place that was computed from such a value (a slot of a
//! hash table) was *chosen* by it, what is stored there was *placed* by it. The event does
//! not say which element that was, nor what it held; but values that were chosen are
//! themselves again once they are stored. Otherwise everything that ever was in a table would
//! count for nothing. What lies behind a pointer that was chosen (the chain of a slot) is shown,
//! but a branch on it is a decision as well.
//!
//! **Decisions.** A branch that depends on a label is noted, with the events up to where its
//! ways meet again ([`decisions`]): runs that part there do so for that reason.
//!
//! While no label exists, the fast loop of the replay runs. It is left when a source is
//! called, and for functions that turn pointers into numbers.
//!
//! Bytes of a pointer that are read from memory as numbers, and values that another thread
//! has stored and overwritten since, have no label.

mod acts;
pub mod decisions;
mod flow;
mod outside;
mod passing;
mod shadow;
mod sources;

use crate::trace::{Shape, Trace};
use decisions::Decisions;
use shadow::Shadow;
pub(crate) use sources::sources;
use std::collections::HashSet;

/// What a value was made of: bits of [`ADDRESS`] and its like; above them, the same bits for what
/// only chose or placed it, and above those for what chose the way to it.
pub(crate) type Label = u32;

/// It is an address, as a number.
pub(crate) const ADDRESS: Label = 1;
/// It was computed from addresses.
pub(crate) const LAYOUT: Label = 2;
pub(crate) const CLOCK: Label = 4;
/// Numbers that the system gives out: of processes, threads, files.
pub(crate) const SYSTEM: Label = 8;
pub(crate) const RANDOM: Label = 16;

const OWN: Label = 0xff;
/// What is shown instead of a value.
const SHOWN: Label = 0xffff;

/// What a label says besides that a number is an address.
pub(crate) fn made_of(label: Label) -> Label {
    label & OWN & !ADDRESS
}

/// The label of what was chosen, or placed, by a value with this one.
pub(crate) fn chosen_by(label: Label) -> Label {
    made_of(label) << 8
}

/// The label of what lies behind a pointer that was chosen.
fn reached_by(label: Label) -> Label {
    ((label >> 8 | label >> 16) & OWN & !ADDRESS) << 16
}

/// What of a label goes from one function to another.
fn passed_on(label: Label) -> Label {
    label & OWN | reached_by(label)
}

/// All that a value depends on, as [`Shape::Fleeting`] has it.
pub(crate) fn all(label: Label) -> u8 {
    (label | label >> 8) as u8
}

/// All that a decision depends on.
fn reasons(label: Label) -> u8 {
    (label | label >> 8 | label >> 16) as u8 & !(ADDRESS as u8)
}

/// An address that goes into a computation with something else.
fn used(label: Label) -> Label {
    if label & ADDRESS != 0 { label & !ADDRESS | LAYOUT } else { label }
}

/// The parts of a label in words.
#[must_use]
pub fn words(parts: u8) -> Vec<&'static str> {
    let parts = Label::from(parts);
    let known = [
        (ADDRESS | LAYOUT, "addresses"),
        (CLOCK, "the clock"),
        (SYSTEM, "system numbers"),
        (RANDOM, "random numbers"),
    ];
    known.into_iter().filter(|(bit, _)| parts & bit != 0).map(|(_, word)| word).collect()
}

/// The labels of a function's registers.
#[derive(Default)]
struct Registers {
    labels: Vec<Label>,
    live: u32,
}

impl Registers {
    fn get(&self, slot: u32) -> Label {
        if self.live == 0 { 0 } else { self.labels.get(slot as usize).copied().unwrap_or(0) }
    }
}

/// All labels of a moment. See the module's documentation.
#[derive(Default)]
pub(crate) struct Fleeting {
    frames: Vec<Registers>,
    /// Registers with a label, in all frames.
    live: u64,
    memory: Shadow,
    /// State of the library and content of files.
    hidden: Shadow,
    /// Of the call under way, argument by argument.
    arguments: Vec<[Label; 2]>,
    /// Arguments of it that are passed as memory: number, and where they lie.
    by_value: Vec<(usize, u64)>,
    /// Of the return under way.
    returning: Vec<Label>,
    /// Descriptors and streams whose bytes are other ones in every run.
    devices: HashSet<u64>,
    /// The branch that was just taken, if it was decided by something fleeting.
    deciding: Label,
    pub(crate) decisions: Decisions,
}

impl Fleeting {
    /// Whether there are labels.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.live > 0 || self.memory.held() > 0 || self.decisions.is_open()
    }

    /// Whether the call or return under way passes labels.
    #[inline]
    pub(crate) fn passes(&self) -> bool {
        !self.arguments.is_empty() || !self.returning.is_empty()
    }

    /// What was passed has arrived, or has left the program.
    fn passed(&mut self) {
        self.arguments.clear();
        self.returning.clear();
    }

    fn registers(&self, depth: u32) -> Option<&Registers> {
        self.frames.get((depth as usize).wrapping_sub(1))
    }

    fn is_live(&self, depth: u32) -> bool {
        self.registers(depth).is_some_and(|r| r.live > 0)
    }

    /// What is shown instead of the value of a register.
    pub(crate) fn shown(&self, depth: u32, slot: u32) -> Label {
        self.get(depth, slot) & SHOWN
    }

    fn get(&self, depth: u32, slot: u32) -> Label {
        self.registers(depth).map_or(0, |r| r.get(slot))
    }

    fn set(&mut self, depth: u32, slot: u32, label: Label) {
        let at = (depth as usize).wrapping_sub(1);
        if at >= self.frames.len() {
            if label == 0 || depth == 0 {
                return;
            }
            self.frames.resize_with(at + 1, Registers::default);
        }
        let (registers, slot) = (&mut self.frames[at], slot as usize);
        if slot >= registers.labels.len() {
            if label == 0 {
                return;
            }
            registers.labels.resize((slot + 1).next_power_of_two(), 0);
        }
        let old = std::mem::replace(&mut registers.labels[slot], label);
        let (now, before) = (u32::from(label != 0), u32::from(old != 0));
        registers.live = registers.live + now - before;
        self.live = self.live + u64::from(now) - u64::from(before);
    }

    /// Only the outer `depth` functions are still running.
    pub(crate) fn leave(&mut self, depth: usize) {
        for registers in self.frames.iter_mut().skip(depth) {
            if registers.live > 0 {
                self.live -= u64::from(registers.live);
                registers.live = 0;
                registers.labels.fill(0);
            }
        }
    }

    /// A range holds something new.
    pub(crate) fn overwritten(&mut self, address: u64, len: u64) {
        self.memory.fill(address, len, 0);
    }

    /// The labels of a range of memory, together.
    pub(crate) fn of_memory(&self, address: u64, len: u64) -> Label {
        self.memory.union(address, len)
    }

    /// Bytes of memory, with those that have a label made the same in every run. A stretch of
    /// them in a text is one sign.
    pub(crate) fn steady_text(&self, address: u64, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.of_memory(address, bytes.len() as u64) == 0 {
            return None;
        }
        let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
        let mut within = false;
        for (i, byte) in bytes.iter().enumerate() {
            let fleeting = self.memory.get(address.wrapping_add(i as u64)) != 0;
            match fleeting {
                // No text, and what seems to follow may be some more of it.
                true if byte.is_ascii_control() && within => break,
                true if byte.is_ascii_control() => {
                    out.extend("…".as_bytes());
                    break;
                }
                true if within => {}
                true => out.extend("…".as_bytes()),
                false => out.push(*byte),
            }
            within = fleeting;
        }
        Some(out)
    }

    /// Overwrites the bytes that have a label.
    pub(crate) fn steady_bytes(&self, address: u64, bytes: &mut [u8]) {
        if self.of_memory(address, bytes.len() as u64) != 0 {
            for (i, byte) in bytes.iter_mut().enumerate() {
                if self.memory.get(address.wrapping_add(i as u64)) != 0 {
                    *byte = 0xAD;
                }
            }
        }
    }
}

impl Trace {
    /// What the values of an event are made of, if they are fleeting.
    #[must_use]
    pub fn says_fleeting(&self, event: usize) -> u8 {
        let of = |shape: &Shape| if let Shape::Fleeting(parts) = shape { *parts } else { 0 };
        let act = self.act(event);
        let all = act.arguments.iter().fold(of(&act.shape), |sum, (_, shape)| sum | of(shape));
        all & !(ADDRESS as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_counted_and_left() {
        let mut f = Fleeting::default();
        f.set(2, 5, CLOCK);
        f.set(2, 5, CLOCK | LAYOUT);
        f.set(1, 0, 0);
        assert_eq!((f.get(2, 5), f.get(2, 4), f.get(1, 5), f.get(9, 9)), (CLOCK | LAYOUT, 0, 0, 0));
        assert!(f.any() && f.is_live(2) && !f.is_live(1));
        f.leave(1);
        assert!(!f.any() && f.get(2, 5) == 0);
    }

    #[test]
    fn fleeting_bytes_of_a_text_are_one_sign() {
        let mut f = Fleeting::default();
        f.memory.fill(105, 6, RANDOM);
        assert_eq!(f.steady_text(100, b"/tmp/abcdef.c").as_deref(), Some("/tmp/….c".as_bytes()));
        assert_eq!(f.steady_text(200, b"/tmp"), None);
        let mut bytes = *b"/tmp/abcdef.c";
        f.steady_bytes(100, &mut bytes);
        assert_eq!(&bytes[4..6], b"/\xAD");
    }

    #[test]
    fn parts_have_words() {
        assert_eq!(words(all(chosen_by(LAYOUT | CLOCK))), ["addresses", "the clock"]);
        assert_eq!(words(all(made_of(ADDRESS))), [""; 0]);
    }
}

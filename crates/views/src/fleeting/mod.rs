//! Nondeterministic values, called *fleeting*: values that differ between two runs of one program on one
//! input, since they are computed from addresses, the time, numbers assigned by the system, or randomness.
//!
//! They are irrelevant differences between two runs. Dynamic taint tracking during the replay finds them:
//! each register and each byte of memory may have a [`Label`], the set of sources it was computed from.
//! Labels propagate through arithmetic, memory, calls, results, and functions of the C library with their
//! hidden state. An event whose value has a label contains the label instead of the value.
//!
//! **Addresses.** A pointer needs no label: no event shows it. A pointer converted to an integer has
//! [`ADDRESS`]: adding a number to it, or clearing its low bits, gives an address again. For two addresses
//! within one object, the difference, the order and equality are the same in every run and have no label; so
//! is equality of any two addresses. Everything else computed from an address has [`LAYOUT`].
//!
//! **Locations.** A value loaded from a location whose address was computed from a fleeting value (a slot of
//! a hash table) was *chosen* by it; a value stored there was *placed* by it. The event contains neither the
//! element's index nor its content. But a chosen value loses that label when it is stored elsewhere;
//! otherwise everything that was ever in a hash table would be ignored. Memory reached through a chosen
//! pointer (the chain of a slot) is shown, but a branch on it is a decision as well.
//!
//! **Decisions.** A branch on a label is recorded, with the events up to its immediate post-dominator
//! ([`decisions`]): runs that diverge there diverge for that reason.
//!
//! While no label exists, the replay uses its fast loop. It switches to the slow one after a call of a
//! source, and in functions that convert pointers to integers.
//!
//! Not tracked: bytes of a pointer that are read from memory as integers, and values that another thread
//! stored and that were overwritten since.

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

/// A taint label. The low byte has the sources that a value was computed from, as bits of [`ADDRESS`] and its
/// like; the second byte, the same bits for sources that only chose or placed it; the third, for those that
/// chose a pointer on the access path to it.
pub(crate) type Label = u32;

/// It is an address, as an integer.
pub(crate) const ADDRESS: Label = 1;
/// It was computed from addresses.
pub(crate) const LAYOUT: Label = 2;
pub(crate) const CLOCK: Label = 4;
/// Numbers assigned by the system: of processes, threads, files.
pub(crate) const SYSTEM: Label = 8;
pub(crate) const RANDOM: Label = 16;

const OWN: Label = 0xff;
/// The bits that an event shows instead of a value.
const SHOWN: Label = 0xffff;

/// The sources of a label, without the bit that marks an address.
pub(crate) fn made_of(label: Label) -> Label {
    label & OWN & !ADDRESS
}

/// The label of a value that was chosen or placed by a value with this label.
pub(crate) fn chosen_by(label: Label) -> Label {
    made_of(label) << 8
}

/// The label of memory reached through a chosen pointer.
fn reached_through(label: Label) -> Label {
    ((label >> 8 | label >> 16) & OWN & !ADDRESS) << 16
}

/// The bits of a label that propagate from one function to another.
fn propagated_bits(label: Label) -> Label {
    label & OWN | reached_through(label)
}

/// All sources a value depends on, in the encoding of [`Shape::Fleeting`].
pub(crate) fn all(label: Label) -> u8 {
    (label | label >> 8) as u8
}

/// All sources a decision depends on.
fn reasons(label: Label) -> u8 {
    (label | label >> 8 | label >> 16) as u8 & !(ADDRESS as u8)
}

/// The label of an operand of a computation with something else: an address becomes [`LAYOUT`].
fn used(label: Label) -> Label {
    if label & ADDRESS != 0 { label & !ADDRESS | LAYOUT } else { label }
}

/// The sources of a label in words.
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

/// The labels of an activation's registers.
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

/// All labels at one point of the replay. See the module's documentation.
#[derive(Default)]
pub(crate) struct Fleeting {
    frames: Vec<Registers>,
    /// The number of labelled registers in all activations.
    live: u64,
    memory: Shadow,
    /// Labels of hidden state of the library and of file contents.
    hidden: Shadow,
    /// Labels of the current call's arguments.
    arguments: Vec<[Label; 2]>,
    /// Arguments of the current call that are passed in memory: index and address.
    by_value: Vec<(usize, u64)>,
    /// Labels of the value being returned.
    returning: Vec<Label>,
    /// Descriptors and streams whose content differs in every run.
    devices: HashSet<u64>,
    /// The label of the condition of the branch that was just taken.
    branch_label: Label,
    pub(crate) decisions: Decisions,
}

impl Fleeting {
    /// Whether any label exists or any decision is open.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.live > 0 || self.memory.held() > 0 || self.decisions.is_open()
    }

    /// Whether the current call or return passes labels.
    #[inline]
    pub(crate) fn passes(&self) -> bool {
        !self.arguments.is_empty() || !self.returning.is_empty()
    }

    /// Clears the passed labels, once the callee or caller has received them or the call was external.
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

    /// The label shown instead of the value of a register.
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

    /// Clears the labels of activations beyond the outer `depth` ones.
    pub(crate) fn leave(&mut self, depth: usize) {
        for registers in self.frames.iter_mut().skip(depth) {
            if registers.live > 0 {
                self.live -= u64::from(registers.live);
                registers.live = 0;
                registers.labels.fill(0);
            }
        }
    }

    /// Clears the labels of a range of memory that was overwritten.
    pub(crate) fn overwritten(&mut self, address: u64, len: u64) {
        self.memory.fill(address, len, 0);
    }

    /// The union of the labels of a range of memory.
    pub(crate) fn of_memory(&self, address: u64, len: u64) -> Label {
        self.memory.union(address, len)
    }

    /// Bytes of a text with the labelled ones replaced by a fixed placeholder, one per run of labelled bytes.
    /// `None` if no byte has a label.
    pub(crate) fn masked_text(&self, address: u64, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.of_memory(address, bytes.len() as u64) == 0 {
            return None;
        }
        let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
        let mut within = false;
        for (i, byte) in bytes.iter().enumerate() {
            let fleeting = self.memory.get(address.wrapping_add(i as u64)) != 0;
            match fleeting {
                // Not text: the bytes that follow may be more of the labelled value.
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

    /// Overwrites the labelled bytes with a constant.
    pub(crate) fn mask_bytes(&self, address: u64, bytes: &mut [u8]) {
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
    /// What the values of an event were computed from, if they are fleeting; else 0.
    #[must_use]
    pub fn fleeting_parts(&self, event: usize) -> u8 {
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
        assert_eq!(f.masked_text(100, b"/tmp/abcdef.c").as_deref(), Some("/tmp/….c".as_bytes()));
        assert_eq!(f.masked_text(200, b"/tmp"), None);
        let mut bytes = *b"/tmp/abcdef.c";
        f.mask_bytes(100, &mut bytes);
        assert_eq!(&bytes[4..6], b"/\xAD");
    }

    #[test]
    fn parts_have_words() {
        assert_eq!(words(all(chosen_by(LAYOUT | CLOCK))), ["addresses", "the clock"]);
        assert_eq!(words(all(made_of(ADDRESS))), [""; 0]);
    }
}

//! Functions that read up to a delimiter: the position where they stop depends on the bytes.

use super::{arg, result};
use crate::engine::Engine;
use crate::observer::StepObserver;
use replay::observer::{ExternalCall, View};

impl<W: StepObserver> Engine<'_, W> {
    /// Adds conditions after an input call delivered its bytes.
    pub(super) fn after_delivery(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let Some(known) = call.known else { return };
        let (start, mark, room) = match known.name {
            "fgets" | "fgets_unlocked" => (result(call), b'\n', arg(call, 1) as u32),
            "__fgets_chk" => (result(call), b'\n', arg(call, 2) as u32),
            "getline" => (view.memory.peek_word(arg(call, 0), 8), b'\n', u32::MAX),
            "getdelim" | "__getdelim" => {
                (view.memory.peek_word(arg(call, 0), 8), arg(call, 2) as u8, u32::MAX)
            }
            _ => return,
        };
        let len = match known.name {
            "getline" | "getdelim" | "__getdelim" => {
                let n = result(call).cast_signed();
                self.objects.add(start, view.memory.peek_word(arg(call, 1), 8));
                u64::try_from(n).unwrap_or(0)
            }
            _ if start == 0 => 0,
            // A line may contain NULs.
            _ if self.last_delivery.is_some_and(|(address, _)| address == start) => {
                self.last_delivery.map_or(0, |(_, length)| length)
            }
            _ => view.memory.peek_string(start, room as usize).len() as u64,
        };
        if len == 0 || !self.any(start, len) {
            return;
        }
        for i in 0..len - 1 {
            self.byte_is(view, start.wrapping_add(i), mark, false);
        }
        let mut last = [0];
        view.memory.peek(start.wrapping_add(len - 1), &mut last);
        // With a full buffer, or at the end of the input, the last byte need not be the delimiter.
        if last[0] == mark && len + 1 < u64::from(room) {
            self.byte_is(view, start.wrapping_add(len - 1), mark, true);
        }
    }
}

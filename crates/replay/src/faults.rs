//! Finds the instruction that a signal came from: one that ended the program, or one whose handler jumped
//! away. The recording contains addresses and times, but no sites.

use crate::machine::Machine;
use recording::decode::EventHead;
use recording::event::{Event, kind};

impl Machine<'_> {
    /// Content of the next event if it is `Interrupted`: time of the last call before the jump, address.
    pub(crate) fn interruption(&self) -> Option<(u64, u64)> {
        let mut event_cursor = self.event_cursor;
        match event_cursor.take() {
            Ok(Some((_, Event::Interrupted { called, address }))) => Some((called, address)),
            _ => None,
        }
    }

    /// Whether an access at this time is the one that crashed.
    pub(crate) fn crashes_at(&self, address: u64, len: u64) -> bool {
        let Some(EventHead { kind: kind::CRASH, .. }) = self.head else { return false };
        let mut event_cursor = self.event_cursor;
        match event_cursor.take() {
            Ok(Some((_, Event::Crash { signal: 7 | 11, address: at, code }))) => {
                // The processor does not report a non-canonical address.
                let canonical = (address.cast_signed() << 16 >> 16).cast_unsigned() == address;
                // Faults are reported for the page that is missing, not always for the first byte.
                (at >= address && at - address < len.max(1)) || (code == 0x80 && at == 0 && !canonical)
            }
            _ => false,
        }
    }

    /// Whether an access is one that a signal handler left by a jump: one to the recorded address, or one to the
    /// first 64 KiB or to a non-canonical address, which always faults. Any other jump is assumed to happen by the
    /// next call, return or loop header.
    pub(crate) fn is_left_by_jump(&self, address: u64, len: u64) -> bool {
        if self.time < self.next_event_time {
            return false;
        }
        let Some((called, at)) = self.interruption() else { return false };
        let canonical = (address.cast_signed() << 16 >> 16).cast_unsigned() == address;
        let hit = at != 0 && at >= address && at - address < len.max(1);
        self.time > called && (hit || address < 1 << 16 || !canonical)
    }
}

//! Which instruction a signal came from: one that ended the program, or one whose handler jumped
//! away. The recording has addresses and times, not places.

use crate::machine::Machine;
use recording::decode::Head;
use recording::event::{Event, kind};

impl Machine<'_> {
    /// The next event, if it says that a handler jumped: time of the last call before, address.
    pub(crate) fn interruption(&self) -> Option<(u64, u64)> {
        let mut tape = self.tape;
        match tape.take() {
            Ok(Some((_, Event::Interrupted { called, address }))) => Some((called, address)),
            _ => None,
        }
    }

    /// Whether an access at this time is the one that crashed.
    pub(crate) fn crashes_at(&self, address: u64, len: u64) -> bool {
        let Some(Head { kind: kind::CRASH, .. }) = self.head else { return false };
        let mut tape = self.tape;
        match tape.take() {
            Ok(Some((_, Event::Crash { signal: 7 | 11, address: at, code }))) => {
                // The processor does not say which address was not canonical.
                let canonical = (address.cast_signed() << 16 >> 16).cast_unsigned() == address;
                // Faults are reported for the page that lacks, not always
                // for the first byte.
                (at >= address && at - address < len.max(1)) || (code == 0x80 && at == 0 && !canonical)
            }
            _ => false,
        }
    }

    /// Whether an access is one that a signal handler left by a jump. Where the recording does
    /// not have the address, an access to the first pages is taken for it; any other jump is
    /// taken to have happened by the next call, return or loop header.
    pub(crate) fn leaves_by_jump(&self, address: u64, len: u64) -> bool {
        if self.time < self.gate {
            return false;
        }
        let Some((called, at)) = self.interruption() else { return false };
        let canonical = (address.cast_signed() << 16 >> 16).cast_unsigned() == address;
        let hit = at != 0 && at >= address && at - address < len.max(1);
        self.time > called && (hit || address < 1 << 16 || !canonical)
    }
}

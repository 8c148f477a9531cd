//! Continuing from a process to one that was forked from it: the child's stream begins with the parent's
//! events up to the fork. A replay of both stops the parent there and continues the child from a copy,
//! instead of replaying the parent again for each child.

use crate::event_cursor::{EventCursor, Stream};
use crate::image::Image;
use crate::machine::Machine;

impl Machine<'_> {
    /// Makes [`Machine::run`] return with [`Stop::Limit`] at a fork: when the stream's own events are
    /// consumed up to `position`, inside of the call. Query with [`Machine::forked`].
    pub fn stop_at_fork(&mut self, position: Option<u64>) {
        let own = self.stream.parts.len().saturating_sub(1);
        self.pause_at = position.map(|p| (own, usize::try_from(p).unwrap_or(usize::MAX)));
    }

    /// Whether the machine has stopped at the fork that was set by [`Machine::stop_at_fork`].
    #[must_use]
    pub fn forked(&self) -> bool {
        self.paused && self.pause_at == Some(self.event_cursor.place())
    }

    /// The same thread in a process that was forked here, whose stream has this one's events up to here and
    /// then its own.
    #[must_use]
    pub fn in_child<'b>(self, image: &'b Image, stream: &'b Stream) -> Machine<'b> {
        let part = self.stream.parts.len();
        let mut m = Machine {
            memory: self.memory,
            regs: self.regs,
            frames: self.frames,
            va: self.va,
            time: self.time,
            sum: self.sum,
            stack: self.stack,
            context: self.context,
            context_before: self.context_before,
            tls: self.tls,
            event_cursor: EventCursor::at_part(stream, part),
            last_event: self.last_event,
            paused: self.paused,
            counters: self.counters,
            inherited: self.counters,
            part,
            event_part: self.event_part,
            touched: self.touched,
            files: self.files,
            ..Machine::new(image, stream)
        };
        m.peek_next();
        m
    }
}

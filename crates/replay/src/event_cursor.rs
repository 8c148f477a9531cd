//! The events of one stream in order, over the forks that led to it.

use crate::error::Result;
use recording::decode::{Decoder, EventHead, Mark};
use recording::event::{Event, Position};
use serde::{Deserialize, Serialize};

/// The data of a stream that replay needs.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// Event bytes: those of the processes this one was forked from (each up
    /// to its fork), then its own.
    pub parts: Vec<Vec<u8>>,
    /// Model stack pointer at the start.
    pub initial_stack: u64,
    /// The header's time: the thread certainly reached it.
    pub time: u64,
    /// The header's time at the last loop header, which may be later than that.
    pub ticked: u64,
    /// The header's checksum, which belongs to `time`.
    pub sum: Option<u64>,
    /// Events are missing at the end.
    pub incomplete: bool,
}

impl Stream {
    /// The latest time that the thread certainly reached.
    #[must_use]
    pub fn reached(&self) -> u64 {
        self.time.max(self.ticked)
    }
}

/// The position of a stream's [`EventCursor`], for checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCursorMark {
    part: usize,
    mark: Mark,
}

/// Reads a stream's events.
#[derive(Clone, Copy)]
pub struct EventCursor<'a> {
    parts: &'a [Vec<u8>],
    part: usize,
    decoder: Decoder<'a>,
}

impl EventCursorMark {
    /// Whether the position exists in a stream.
    #[must_use]
    pub fn is_in(&self, stream: &Stream) -> bool {
        let bytes = stream.parts.get(self.part).map_or(0, Vec::len);
        (self.part == 0 || self.part < stream.parts.len()) && self.mark.offset() <= bytes
    }
}

impl<'a> EventCursor<'a> {
    /// At the first event of the stream.
    #[must_use]
    pub fn new(stream: &'a Stream) -> EventCursor<'a> {
        let first: &[u8] = stream.parts.first().map_or(&[], |p| p);
        let mut event_cursor = EventCursor { parts: &stream.parts, part: 0, decoder: Decoder::new(first) };
        event_cursor.skip();
        event_cursor
    }

    /// At the beginning of a part.
    #[must_use]
    pub fn at_part(stream: &'a Stream, part: usize) -> EventCursor<'a> {
        let bytes: &[u8] = stream.parts.get(part).map_or(&[], |p| p);
        let mut event_cursor = EventCursor { parts: &stream.parts, part, decoder: Decoder::new(bytes) };
        event_cursor.skip();
        event_cursor
    }

    /// The current part, and the number of its bytes that are consumed.
    #[must_use]
    pub fn place(&self) -> (usize, usize) {
        (self.part, self.decoder.offset())
    }

    /// At a position that [`EventCursor::mark`] returned; it must be in the stream.
    #[must_use]
    pub fn resume(stream: &'a Stream, at: EventCursorMark) -> EventCursor<'a> {
        let bytes: &[u8] = stream.parts.get(at.part).map_or(&[], |p| p);
        EventCursor { parts: &stream.parts, part: at.part, decoder: Decoder::resume(bytes, at.mark) }
    }

    /// The current position.
    #[must_use]
    pub fn mark(&self) -> EventCursorMark {
        EventCursorMark { part: self.part, mark: self.decoder.mark() }
    }

    fn skip(&mut self) {
        while let Ok(None) = self.decoder.peek() {
            if self.part + 1 >= self.parts.len() {
                break;
            }
            self.part += 1;
            self.decoder = Decoder::new(&self.parts[self.part]);
        }
    }

    /// The next event's head. A part that ends in the middle of an event, or in invalid bytes, ends there:
    /// the events before are usable.
    #[must_use]
    pub fn peek(&self) -> Option<EventHead> {
        self.decoder.peek().ok().flatten()
    }

    /// # Errors
    /// If the payload of the event that `peek` returned is damaged.
    pub fn take(&mut self) -> Result<Option<(Position, Event<'a>)>> {
        let e = self.decoder.next()?;
        self.skip();
        Ok(e)
    }

    /// Number of the current part.
    #[must_use]
    pub fn part(&self) -> usize {
        self.part
    }
}

//! Decodes events from bytes.
//!
//! A [`Decoder`] always has the head of the next event decoded, so that replay can check before
//! every load whether the next event belongs to it, at the cost of one comparison. Its state can be
//! saved as a [`Mark`] and resumed.

use crate::encode::Encoder;
use crate::event::{Event, Position};
use reader::Reader;
use thiserror::Error;

mod reader;

/// The reason why events could not be decoded. `at` is a byte offset in the stream's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes end inside an event.
    #[error("decode the event at byte {at}: the stream ends inside it")]
    Cut {
        /// Start offset of the event.
        at: usize,
    },
    /// The bytes are not a valid event.
    #[error("decode the event at byte {at}: {what}")]
    Bad {
        /// Start offset of the event.
        at: usize,
        /// A description of the fault.
        what: &'static str,
    },
}

/// A saved position in a stream, before some event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    at: usize,
    state: Encoder,
}

impl Mark {
    /// Byte offset in the stream's events.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }
}

/// The part of an event that is decoded before its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventHead {
    /// Time and site of the event.
    pub position: Position,
    /// One of the constants in [`crate::event::kind`].
    pub kind: u8,
}

#[derive(Clone, Copy, Debug)]
enum Lookahead {
    End,
    /// The head, the offset of the payload, and the state after the head.
    Event(EventHead, usize, Encoder),
    Fault(DecodeError),
}

/// Reads the events of one stream in order.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    mark: Mark,
    lookahead: Lookahead,
}

impl<'a> Decoder<'a> {
    /// Starts at the first event of a stream.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder::resume(bytes, Mark::default())
    }

    /// Resumes at a mark that a decoder of the same bytes returned.
    #[must_use]
    pub fn resume(bytes: &'a [u8], mark: Mark) -> Decoder<'a> {
        let mut decoder = Decoder { bytes, mark, lookahead: Lookahead::End };
        decoder.look_ahead();
        decoder
    }

    /// The current position, before the next event.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// Byte offset of the next event.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.mark.at
    }

    /// The head of the next event; `None` at the end.
    ///
    /// # Errors
    /// If the next bytes are not a valid event.
    #[inline]
    pub fn peek(&self) -> Result<Option<EventHead>, DecodeError> {
        match self.lookahead {
            Lookahead::End => Ok(None),
            Lookahead::Event(head, ..) => Ok(Some(head)),
            Lookahead::Fault(e) => Err(e),
        }
    }

    /// The time of the next event; `u64::MAX` at the end, so that one comparison shows that no
    /// event is due.
    #[must_use]
    #[inline]
    pub fn next_time(&self) -> u64 {
        match self.lookahead {
            Lookahead::Event(head, ..) => head.position.time,
            _ => u64::MAX,
        }
    }

    /// Whether the next event is at this time and site.
    #[must_use]
    #[inline]
    pub fn is_next(&self, time: u64, module: u32, site: u32) -> bool {
        match self.lookahead {
            Lookahead::Event(EventHead { position: p, .. }, ..) => {
                p.time == time && p.site == site && p.module == module
            }
            _ => false,
        }
    }

    /// Decodes the next event and advances past it. Returns `None` at the end.
    ///
    /// # Errors
    /// If the bytes are not a valid event. The decoder does not advance.
    #[allow(clippy::should_implement_trait)] // `Iterator` has no place for errors before the item.
    pub fn next(&mut self) -> Result<Option<(Position, Event<'a>)>, DecodeError> {
        let (head, payload, mut state) = match self.lookahead {
            Lookahead::End => return Ok(None),
            Lookahead::Event(head, payload, state) => (head, payload, state),
            Lookahead::Fault(e) => return Err(e),
        };
        let mut r = Reader::new(self.bytes, self.mark.at, payload);
        let event = r.payload(&mut state, head)?;
        self.mark = Mark { at: r.at, state };
        self.look_ahead();
        Ok(Some((head.position, event)))
    }

    fn look_ahead(&mut self) {
        let Mark { at, mut state } = self.mark;
        self.lookahead = if at >= self.bytes.len() {
            Lookahead::End
        } else {
            let mut r = Reader::new(self.bytes, at, at);
            match r.head(&mut state) {
                Ok(head) => Lookahead::Event(head, r.at, state),
                Err(e) => Lookahead::Fault(e),
            }
        };
    }
}

/// The number of bytes of complete events, and the error after them if that is not the end.
#[must_use]
pub fn usable_prefix(bytes: &[u8]) -> (usize, Option<DecodeError>) {
    let mut decoder = Decoder::new(bytes);
    loop {
        match decoder.next() {
            Ok(Some(_)) => {}
            Ok(None) => return (bytes.len(), None),
            Err(e) => return (decoder.offset(), Some(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::kind;

    fn two_loads() -> Vec<u8> {
        let mut encoder = Encoder::new();
        let mut bytes = vec![0; 64];
        let mut used = 0;
        for (time, site) in [(5, 10), (900, 3)] {
            let at = Position { time, module: 2, site, seq: None };
            used += encoder.encode(&mut bytes[used..], at, &Event::load(4, 1, time, None)).unwrap();
        }
        bytes.truncate(used);
        bytes
    }

    #[test]
    fn peeking_agrees_with_decoding() {
        let bytes = two_loads();
        let mut decoder = Decoder::new(&bytes);
        assert!(decoder.is_next(5, 2, 10));
        assert!(!decoder.is_next(5, 1, 10));
        assert_eq!(decoder.peek().unwrap().unwrap().kind, kind::LOAD);
        let (position, event) = decoder.next().unwrap().unwrap();
        assert_eq!((position.time, position.site), (5, 10));
        assert_eq!(event, Event::Load { size: 4, delta: 4, writer: None });
        assert_eq!(decoder.next_time(), 900);
        decoder.next().unwrap().unwrap();
        assert_eq!(decoder.next_time(), u64::MAX);
        assert_eq!(decoder.next(), Ok(None));
    }

    #[test]
    fn a_mark_is_enough_to_go_on() {
        let bytes = two_loads();
        let mut decoder = Decoder::new(&bytes);
        decoder.next().unwrap();
        let mark = decoder.mark();
        let rest = decoder.next();
        assert_eq!(Decoder::resume(&bytes, mark).next(), rest);
    }

    #[test]
    fn faults_are_named_and_not_passed() {
        let mut bytes = two_loads();
        let whole = bytes.len();
        bytes.push(0x1f);
        let (usable, fault) = usable_prefix(&bytes);
        assert_eq!(usable, whole);
        assert_eq!(fault, Some(DecodeError::Bad { at: whole, what: "unknown kind" }));
        bytes.truncate(whole - 1);
        assert!(matches!(usable_prefix(&bytes), (6, Some(DecodeError::Cut { at: 6 }))));
    }
}

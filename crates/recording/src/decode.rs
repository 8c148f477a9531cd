//! Bytes to events.
//!
//! A [`Decoder`] always knows the head of the next event, so that replay can
//! ask "is the next event mine?" before every load at the price of a
//! comparison. Its state can be remembered as a [`Mark`] and taken up again.

use crate::encode::Encoder;
use crate::event::{Event, NO_SITE, Position, Slots, kind, tag, unzigzag, varint};
use thiserror::Error;

/// Why events could not be decoded. `at` is a byte offset in the stream's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes end inside an event.
    #[error("decode the event at byte {at}: the stream ends inside it")]
    Cut {
        /// Where the event starts.
        at: usize,
    },
    /// The bytes are no event.
    #[error("decode the event at byte {at}: {what}")]
    Bad {
        /// Where the event starts.
        at: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// A place in a stream to come back to: before some event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
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

/// What is known of an event before its payload is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// When and where.
    pub position: Position,
    /// One of the constants in [`kind`].
    pub kind: u8,
}

#[derive(Clone, Copy, Debug)]
enum Ahead {
    End,
    /// The head, the offset of the payload, and the state after the head.
    Event(Head, usize, Encoder),
    Fault(DecodeError),
}

/// Reads the events of one stream in order.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    mark: Mark,
    ahead: Ahead,
}

impl<'a> Decoder<'a> {
    /// Starts at the first event of a stream.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder::resume(bytes, Mark::default())
    }

    /// Goes on where a decoder of the same bytes gave a mark.
    #[must_use]
    pub fn resume(bytes: &'a [u8], mark: Mark) -> Decoder<'a> {
        let mut decoder = Decoder { bytes, mark, ahead: Ahead::End };
        decoder.look_ahead();
        decoder
    }

    /// The place before the next event.
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
    /// If the next bytes are no event.
    #[inline]
    pub fn peek(&self) -> Result<Option<Head>, DecodeError> {
        match self.ahead {
            Ahead::End => Ok(None),
            Ahead::Event(head, ..) => Ok(Some(head)),
            Ahead::Fault(e) => Err(e),
        }
    }

    /// The next event's time; `u64::MAX` if there is none, so that "not yet"
    /// is one comparison.
    #[must_use]
    #[inline]
    pub fn next_time(&self) -> u64 {
        match self.ahead {
            Ahead::Event(head, ..) => head.position.time,
            _ => u64::MAX,
        }
    }

    /// Whether the next event belongs to this moment.
    #[must_use]
    #[inline]
    pub fn is_next(&self, time: u64, module: u32, site: u32) -> bool {
        match self.ahead {
            Ahead::Event(Head { position: p, .. }, ..) => {
                p.time == time && p.site == site && p.module == module
            }
            _ => false,
        }
    }

    /// Decodes the next event and moves behind it; `None` at the end.
    ///
    /// # Errors
    /// If the bytes are no event; the decoder stays where it is.
    #[allow(clippy::should_implement_trait)] // `Iterator` has no place for errors before the item.
    pub fn next(&mut self) -> Result<Option<(Position, Event<'a>)>, DecodeError> {
        let (head, payload, mut state) = match self.ahead {
            Ahead::End => return Ok(None),
            Ahead::Event(head, payload, state) => (head, payload, state),
            Ahead::Fault(e) => return Err(e),
        };
        let mut r = Reader { bytes: self.bytes, start: self.mark.at, at: payload };
        let event = r.payload(&mut state, head)?;
        self.mark = Mark { at: r.at, state };
        self.look_ahead();
        Ok(Some((head.position, event)))
    }

    fn look_ahead(&mut self) {
        let Mark { at, mut state } = self.mark;
        self.ahead = if at >= self.bytes.len() {
            Ahead::End
        } else {
            let mut r = Reader { bytes: self.bytes, start: at, at };
            match r.head(&mut state) {
                Ok(head) => Ahead::Event(head, r.at, state),
                Err(e) => Ahead::Fault(e),
            }
        };
    }
}

/// How many bytes of whole events there are, and what stands after them if
/// that is not the end.
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

struct Reader<'a> {
    bytes: &'a [u8],
    /// Where the event starts, for messages.
    start: usize,
    at: usize,
}

type Read<T> = Result<T, DecodeError>;

impl<'a> Reader<'a> {
    fn bad<T>(&self, what: &'static str) -> Read<T> {
        Err(DecodeError::Bad { at: self.start, what })
    }

    #[inline]
    fn byte(&mut self) -> Read<u8> {
        let byte = *self.bytes.get(self.at).ok_or(DecodeError::Cut { at: self.start })?;
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    fn varint(&mut self) -> Read<u64> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match varint(rest) {
            Some((value, used)) => {
                self.at += used;
                Ok(value)
            }
            None if rest.len() >= 10 => self.bad("a number does not fit 64 bits"),
            None => Err(DecodeError::Cut { at: self.start }),
        }
    }

    fn narrow(&mut self) -> Read<u32> {
        let value = self.varint()?;
        u32::try_from(value).or_else(|_| self.bad("a number does not fit 32 bits"))
    }

    fn take(&mut self, length: u64) -> Read<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = usize::try_from(length).ok().and_then(|n| rest.get(..n));
        let taken = taken.ok_or(DecodeError::Cut { at: self.start })?;
        self.at += taken.len();
        Ok(taken)
    }

    fn counted(&mut self) -> Read<&'a [u8]> {
        let length = self.varint()?;
        self.take(length)
    }

    fn word(&mut self) -> Read<u64> {
        let mut word = [0; 8];
        word.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(word))
    }

    fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => self.bad("a flag is neither 0 nor 1"),
        }
    }

    /// A stream number plus one, or zero.
    fn stream(&mut self) -> Read<Option<u32>> {
        match self.varint()?.checked_sub(1).map(u32::try_from) {
            None => Ok(None),
            Some(Ok(stream)) => Ok(Some(stream)),
            Some(Err(_)) => self.bad("a stream number does not fit 32 bits"),
        }
    }

    fn slots(&mut self, base: Option<u64>) -> Read<Slots<'a>> {
        let count = self.byte()?;
        let start = self.at;
        for _ in 0..count {
            self.varint()?;
        }
        Ok(Slots::Coded { bytes: self.bytes.get(start..self.at).unwrap_or_default(), count, base })
    }

    fn result(&mut self, state: &mut Encoder) -> Read<Slots<'a>> {
        let slots = self.slots(Some(state.external))?;
        if let Some(first) = slots.iter().next() {
            state.external = first;
        }
        Ok(slots)
    }

    #[inline]
    fn head(&mut self, state: &mut Encoder) -> Read<Head> {
        let first = self.byte()?;
        let kind = first & tag::KIND_MASK;
        if kind::name(kind).is_none() || first & !(tag::KIND_MASK | tag::SEQ | tag::MODULE) != 0 {
            return self.bad("unknown kind");
        }
        let sited = kind::has_site(kind);
        state.time = state.time.wrapping_add(self.varint()?);
        if first & tag::MODULE != 0 {
            if !sited {
                return self.bad("a module where none belongs");
            }
            state.module = self.narrow()?;
        }
        let mut position = Position::without_site(state.time, None);
        if first & tag::SEQ != 0 {
            state.seq = state.seq.wrapping_add(self.varint()?);
            position.seq = Some(state.seq);
        }
        if sited {
            let site = u64::from(state.site).wrapping_add(unzigzag(self.varint()?));
            state.site = match u32::try_from(site) {
                Ok(site) => site,
                Err(_) => return self.bad("a site is out of range"),
            };
            if state.site == NO_SITE {
                return self.bad("a site is out of range");
            }
            position.module = state.module;
            position.site = state.site;
        }
        Ok(Head { position, kind })
    }

    fn payload(&mut self, state: &mut Encoder, head: Head) -> Read<Event<'a>> {
        let seq = head.position.seq.is_some();
        Ok(match head.kind {
            kind::LOAD => {
                let size = self.byte()?;
                if size <= 8 {
                    let delta = unzigzag(self.varint()?);
                    Event::Load { size, delta, writer: if seq { self.stream()? } else { None } }
                } else {
                    let bytes = self.take(u64::from(size))?;
                    Event::WideLoad { bytes, writer: if seq { self.stream()? } else { None } }
                }
            }
            kind::PATCH => {
                let address = state.patch.wrapping_add(unzigzag(self.varint()?));
                state.patch = address;
                Event::Patch { address, bytes: self.counted()? }
            }
            kind::EXTERNAL => Event::External { slots: self.result(state)? },
            kind::ENTER => Event::Enter {
                module: self.narrow()?,
                function: self.narrow()?,
                slots: self.slots(Some(0))?,
                inside: self.flag()?,
            },
            kind::LAND => {
                let stack = state.land.wrapping_add(unzigzag(self.varint()?));
                state.land = stack;
                Event::Land { stack, slots: self.result(state)? }
            }
            kind::IO => Event::Io {
                out: self.flag()?,
                source: self.varint()?,
                offset: self.varint()?,
                address: self.varint()?,
                length: self.varint()?,
            },
            kind::SOURCE => {
                let kind = self.byte()?;
                let fd = match self.varint()?.checked_sub(1).map(i32::try_from) {
                    None => -1,
                    Some(Ok(fd)) => fd,
                    Some(Err(_)) => return self.bad("a file descriptor is out of range"),
                };
                Event::Source { kind, fd, name: self.counted()? }
            }
            kind::CHECK => Event::Check { sum: self.word()? },
            kind::VA_START => Event::VaStart {
                gp_offset: self.narrow()?,
                fp_offset: self.narrow()?,
                overflow_area: self.varint()?,
                save_area: self.varint()?,
            },
            kind::VALUE => Event::Value { slots: self.slots(None)? },
            kind::THREAD_LOCAL => Event::ThreadLocal { symbol: self.narrow()?, address: self.varint()? },
            kind::MOVED => Event::Moved { from: self.varint()?, to: self.varint()?, length: self.varint()? },
            kind::ZEROED => Event::Zeroed { address: self.varint()?, length: self.varint()? },
            kind::FORK => Event::Fork { child: self.narrow()? },
            kind::EXEC => Event::Exec,
            kind::THREAD => Event::Thread { stream: self.stream()?, handle: self.varint()? },
            kind::SIGNAL => Event::Signal { signal: self.narrow()?, interrupted: self.varint()? },
            kind::SYNC => Event::Sync { object: self.varint()?, operation: self.byte()? },
            kind::END => Event::End { sum: self.word()?, status: self.narrow()? },
            kind::CRASH => Event::Crash {
                signal: self.narrow()?,
                address: self.varint()?,
                code: unzigzag(self.varint()?).cast_signed(),
            },
            kind::MAPPED => Event::Mapped { address: self.varint()?, length: self.varint()? },
            _ => return self.bad("unknown kind"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

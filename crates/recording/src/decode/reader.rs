//! Reads the components of one event.

use super::{DecodeError, EventHead};
use crate::encode::Encoder;
use crate::event::{Event, NO_SITE, Position, Slots, kind, tag, unzigzag, varint};

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// Start of the event, for messages.
    start: usize,
    pub(super) at: usize,
}

type Read<T> = Result<T, DecodeError>;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], start: usize, at: usize) -> Reader<'a> {
        Reader { bytes, start, at }
    }

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
    pub(super) fn head(&mut self, state: &mut Encoder) -> Read<EventHead> {
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
        Ok(EventHead { position, kind })
    }

    pub(super) fn payload(&mut self, state: &mut Encoder, head: EventHead) -> Read<Event<'a>> {
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
            kind::IO => {
                let (out, source, skipped) = (self.flag()?, self.varint()?, unzigzag(self.varint()?));
                let (address, length) = (self.varint()?, self.varint()?);
                let end = &mut state.ends[usize::from(out)];
                let offset = end.wrapping_add(skipped);
                *end = offset.wrapping_add(length);
                Event::Io { out, source, offset, address, length }
            }
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
            kind::UNWOUND => Event::Unwound { entries: self.varint()? },
            kind::INTERRUPTED => Event::Interrupted { called: self.varint()?, address: self.varint()? },
            kind::MAPPED => Event::Mapped { address: self.varint()?, length: self.varint()? },
            _ => return self.bad("unknown kind"),
        })
    }
}

//! Encodes events to bytes.
//!
//! Times, sites, addresses and values are written as differences to the last of their kind, so that
//! most events take a few bytes. The encoder contains the bases of these differences. It changes
//! only when an event was written completely: a caller with too small a buffer can flush it and try
//! again, and a signal handler with an encoder of its own does not interfere with others.

use crate::event::{Event, Position, Slots, kind, tag, zigzag};

/// Enough space for any event without slots or bytes of its own (`Patch`, `Source`, `External`,
/// `Enter`, `Land`, `Value` add theirs: at most 10 bytes per slot).
pub const MAX_PLAIN: usize = 96;

/// The reason why an event was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The buffer is too small. Only its bytes may have changed.
    BufferTooSmall,
    /// The event has more slots than the format can count, or it should be a load of 9 to 255 bytes
    /// and is not.
    TooLong,
}

/// The bases of the next event's differences. All zero at the start of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "read", derive(serde::Serialize, serde::Deserialize))]
pub struct Encoder {
    pub(crate) time: u64,
    pub(crate) seq: u64,
    pub(crate) module: u32,
    pub(crate) site: u32,
    /// Address of the last patch.
    pub(crate) patch: u64,
    /// Slot 0 of the last external result or landing.
    pub(crate) external: u64,
    /// Stack of the last landing.
    pub(crate) land: u64,
    /// End positions of the last input and the last output in their sources.
    pub(crate) ends: [u64; 2],
}

impl Encoder {
    /// The state at the start of a stream.
    #[must_use]
    pub const fn new() -> Encoder {
        Encoder { time: 0, seq: 0, module: 0, site: 0, patch: 0, external: 0, land: 0, ends: [0; 2] }
    }

    /// Writes one event to the start of `out` and returns the number of bytes written.
    ///
    /// Module and site of `at` are ignored for kinds without a site.
    ///
    /// # Errors
    /// See [`EncodeError`]. The encoder is then unchanged.
    #[inline]
    pub fn encode(&mut self, out: &mut [u8], at: Position, event: &Event<'_>) -> Result<usize, EncodeError> {
        let mut next = *self;
        let mut w = Writer { out, used: 0, full: false };
        next.head(&mut w, at, event.kind());
        next.payload(&mut w, at.seq.is_some(), event)?;
        if w.full {
            return Err(EncodeError::BufferTooSmall);
        }
        *self = next;
        Ok(w.used)
    }

    #[inline]
    fn head(&mut self, w: &mut Writer<'_>, at: Position, kind: u8) {
        let sited = kind::has_site(kind);
        let mut first = kind;
        if sited && at.module != self.module {
            first |= tag::MODULE;
        }
        if at.seq.is_some() {
            first |= tag::SEQ;
        }
        w.byte(first);
        w.varint(at.time.wrapping_sub(self.time));
        self.time = at.time;
        if first & tag::MODULE != 0 {
            w.varint(u64::from(at.module));
            self.module = at.module;
        }
        if let Some(seq) = at.seq {
            w.varint(seq.wrapping_sub(self.seq));
            self.seq = seq;
        }
        if sited {
            w.varint(zigzag(u64::from(at.site).wrapping_sub(u64::from(self.site))));
            self.site = at.site;
        }
    }

    #[inline]
    fn payload(&mut self, w: &mut Writer<'_>, seq: bool, event: &Event<'_>) -> Result<(), EncodeError> {
        let stream = |s: Option<u32>| s.map_or(0, |s| u64::from(s) + 1);
        match *event {
            Event::Load { size, delta, writer } => {
                if size > 8 {
                    return Err(EncodeError::TooLong);
                }
                w.byte(size);
                w.varint(zigzag(delta));
                if seq {
                    w.varint(stream(writer));
                }
            }
            Event::WideLoad { bytes, writer } => {
                match u8::try_from(bytes.len()) {
                    Ok(size) if size > 8 => w.byte(size),
                    _ => return Err(EncodeError::TooLong),
                }
                w.bytes(bytes);
                if seq {
                    w.varint(stream(writer));
                }
            }
            Event::Patch { address, bytes } => {
                w.varint(zigzag(address.wrapping_sub(self.patch)));
                self.patch = address;
                w.counted(bytes);
            }
            Event::External { slots } => self.result(w, &slots)?,
            Event::Enter { module, function, slots, inside } => {
                w.varint(u64::from(module));
                w.varint(u64::from(function));
                w.slots(&slots, Some(0))?;
                w.byte(u8::from(inside));
            }
            Event::Land { stack, slots } => {
                w.varint(zigzag(stack.wrapping_sub(self.land)));
                self.land = stack;
                self.result(w, &slots)?;
            }
            Event::Io { out, source, offset, address, length } => {
                let end = &mut self.ends[usize::from(out)];
                let skipped = zigzag(offset.wrapping_sub(*end));
                *end = offset.wrapping_add(length);
                w.byte(u8::from(out));
                w.varints(&[source, skipped, address, length]);
            }
            Event::Source { kind, fd, name } => {
                w.byte(kind);
                w.varint(if fd < 0 { 0 } else { u64::from(fd.cast_unsigned()) + 1 });
                w.counted(name);
            }
            Event::Check { sum } => w.bytes(&sum.to_le_bytes()),
            Event::VaStart { gp_offset, fp_offset, overflow_area, save_area } => {
                w.varints(&[u64::from(gp_offset), u64::from(fp_offset), overflow_area, save_area]);
            }
            Event::Value { slots } => w.slots(&slots, None)?,
            Event::ThreadLocal { symbol, address } => w.varints(&[u64::from(symbol), address]),
            Event::Moved { from, to, length } => w.varints(&[from, to, length]),
            Event::Zeroed { address, length } | Event::Mapped { address, length } => {
                w.varints(&[address, length]);
            }
            Event::Fork { child } => w.varint(u64::from(child)),
            Event::Exec => {}
            Event::Thread { stream: started, handle } => w.varints(&[stream(started), handle]),
            Event::Unwound { entries } => w.varints(&[entries]),
            Event::Interrupted { called, address } => w.varints(&[called, address]),
            Event::Signal { signal, interrupted } => w.varints(&[u64::from(signal), interrupted]),
            Event::Sync { object, operation } => {
                w.varint(object);
                w.byte(operation);
            }
            Event::End { sum, status } => {
                w.bytes(&sum.to_le_bytes());
                w.varint(u64::from(status));
            }
            Event::Crash { signal, address, code } => {
                w.varints(&[u64::from(signal), address, zigzag(code.cast_unsigned())]);
            }
        }
        Ok(())
    }

    fn result(&mut self, w: &mut Writer<'_>, slots: &Slots<'_>) -> Result<(), EncodeError> {
        w.slots(slots, Some(self.external))?;
        if let Some(first) = slots.iter().next() {
            self.external = first;
        }
        Ok(())
    }
}

/// Fills a slice. Records an overflow instead of panicking.
struct Writer<'a> {
    out: &'a mut [u8],
    used: usize,
    full: bool,
}

impl Writer<'_> {
    #[inline]
    fn byte(&mut self, byte: u8) {
        if let Some(place) = self.out.get_mut(self.used) {
            *place = byte;
            self.used += 1;
        } else {
            self.full = true;
        }
    }

    #[inline]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    fn varints(&mut self, values: &[u64]) {
        for &v in values {
            self.varint(v);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        match self.out.get_mut(self.used..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.used += bytes.len();
            }
            None => self.full = true,
        }
    }

    fn counted(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.bytes(bytes);
    }

    fn slots(&mut self, slots: &Slots<'_>, base: Option<u64>) -> Result<(), EncodeError> {
        self.byte(u8::try_from(slots.len()).map_err(|_| EncodeError::TooLong)?);
        for slot in slots {
            self.varint(base.map_or(slot, |b| zigzag(slot.wrapping_sub(b))));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: u64, site: u32) -> Position {
        Position { time, module: 1, site, seq: None }
    }

    #[test]
    fn differences_refer_to_the_last_event() {
        let mut e = Encoder::new();
        let mut out = [0; 64];
        let n = e.encode(&mut out, at(10, 5), &Event::load(8, 7, 6, None)).unwrap();
        assert_eq!(&out[..n], [kind::LOAD | tag::MODULE, 10, 1, 10, 8, 1]);
        let n = e.encode(&mut out, at(11, 4), &Event::load(1, 0, 3, None)).unwrap();
        assert_eq!(&out[..n], [kind::LOAD, 1, 1, 1, 6]);
    }

    #[test]
    fn input_and_output_in_order_have_no_offsets() {
        let mut e = Encoder::new();
        let mut out = [0; 64];
        let (far, size) = (1 << 40, 4096);
        for n in 0..3 {
            for is_out in [false, true] {
                let offset = far + n * size;
                let event = Event::Io { out: is_out, source: 1, offset, address: 0, length: size };
                let used = e.encode(&mut out, at(n, 5), &event).unwrap();
                assert!(n == 0 || used == 9, "{n}: {used}");
            }
        }
    }

    #[test]
    fn a_short_slice_changes_nothing() {
        let mut e = Encoder::new();
        let event = Event::Patch { address: 0x1000, bytes: &[1, 2, 3, 4] };
        let (mut whole, mut out) = ([0; 64], [0; 64]);
        let n = Encoder::new().encode(&mut whole, at(1, 1), &event).unwrap();
        for room in 0..n {
            assert_eq!(e.encode(&mut out[..room], at(1, 1), &event), Err(EncodeError::BufferTooSmall));
            assert_eq!(e, Encoder::new());
        }
        assert_eq!(e.encode(&mut out[..n], at(1, 1), &event), Ok(n));
        assert_eq!(out, whole);
    }

    #[test]
    fn what_cannot_be_counted_is_refused() {
        let mut e = Encoder::new();
        let mut out = [0; 4096];
        let many = [1u64; 256];
        let event = Event::Value { slots: Slots::Plain(&many) };
        assert_eq!(e.encode(&mut out, at(1, 1), &event), Err(EncodeError::TooLong));
        let short = Event::WideLoad { bytes: &[1; 8], writer: None };
        assert_eq!(e.encode(&mut out, at(1, 1), &short), Err(EncodeError::TooLong));
        assert_eq!(e, Encoder::new());
    }

    #[test]
    fn plain_events_fit_the_promised_room() {
        let big = u64::MAX;
        let at = Position { time: 1 << 63, module: u32::MAX, site: u32::MAX - 1, seq: Some(1 << 63) };
        let worst = [
            Event::Load { size: 8, delta: 1 << 63, writer: Some(u32::MAX) },
            Event::WideLoad { bytes: &[0xff; 16], writer: Some(u32::MAX) },
            Event::Io { out: true, source: big, offset: big, address: big, length: big },
            Event::VaStart { gp_offset: u32::MAX, fp_offset: u32::MAX, overflow_area: big, save_area: big },
            Event::Moved { from: big, to: big, length: big },
            Event::Crash { signal: u32::MAX, address: big, code: i64::MIN },
        ];
        for event in worst {
            assert!(Encoder::new().encode(&mut [0; MAX_PLAIN], at, &event).is_ok(), "{event:?}");
        }
    }
}

//! What a stream wrote: which call wrote which bytes of which output, and what of the
//! call made them. A question about a byte needs no replay to find its place.
//!
//! Outputs are stored in their order, a few thousand packed together; the last one that
//! wrote a byte is looked for from the end.

use crate::extra::{Bytes, Input, PACKED, compress, expand};
use crate::reader::Astray;
use program::inst::Reg;

/// Bytes at which a pack is closed, though it has fewer outputs.
const CLOSED: usize = 1 << 20;

/// Where bytes went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sink {
    /// One of `recording::event::source`.
    pub kind: u8,
    pub name: String,
}

/// What made some bytes of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Nothing less than all that the call used.
    Call,
    /// The call by being made: text of a format, a constant.
    Ran,
    /// Register slots of the function that called.
    Registers { first: Reg, slots: u32 },
    /// Memory, byte by byte.
    Bytes(Text),
    /// Memory as a whole: how long the text is says how many blanks stand beside it.
    Whole(Text, u64),
}

/// Text in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    pub address: u64,
    /// The register that held the address.
    pub pointer: Option<Reg>,
}

/// Bytes that were made in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub len: u64,
    pub made: Made,
}

/// Bytes that a call wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The call's step.
    pub step: u64,
    /// Index in the sinks of the stream.
    pub sink: u32,
    /// Of the first byte in the sink.
    pub offset: u64,
    pub len: u64,
    /// From the first byte on. Bytes behind the last part were made by the call.
    pub parts: Vec<Part>,
}

impl Output {
    /// What made a byte of it, counted from its first, and which byte of the part it is.
    #[must_use]
    pub fn made(&self, byte: u64) -> (Made, u64) {
        let mut start = 0;
        for part in &self.parts {
            if byte - start < part.len {
                return (part.made, byte - start);
            }
            start += part.len;
        }
        (Made::Call, byte)
    }
}

/// Differences to what was last written make small numbers.
#[derive(Default)]
struct Last {
    step: u64,
    /// Where each sink's last output ended.
    ends: Vec<u64>,
    address: u64,
}

impl Last {
    fn end(&mut self, sink: u32) -> &mut u64 {
        let sink = sink as usize;
        if self.ends.len() <= sink {
            self.ends.resize(sink + 1, 0);
        }
        &mut self.ends[sink]
    }
}

/// Takes a stream's outputs down.
#[derive(Default)]
pub struct Builder {
    open: Bytes,
    count: usize,
    last: Last,
    packs: Vec<Vec<u8>>,
}

impl Builder {
    pub fn push(&mut self, output: &Output) {
        put(&mut self.open, &mut self.last, output);
        self.count += 1;
        if self.count == PACKED || self.open.0.len() >= CLOSED {
            self.seal();
        }
    }

    fn seal(&mut self) {
        self.packs.push(compress(&self.open.0));
        self.open.0.clear();
        self.count = 0;
        self.last = Last::default();
    }

    /// The packs, in order.
    #[must_use]
    pub fn finish(mut self) -> Vec<Vec<u8>> {
        if self.count > 0 {
            self.seal();
        }
        self.packs
    }
}

fn put(out: &mut Bytes, last: &mut Last, output: &Output) {
    out.signed(output.step.wrapping_sub(last.step));
    last.step = output.step;
    out.number(output.sink.into());
    let end = last.end(output.sink);
    out.signed(output.offset.wrapping_sub(*end));
    *end = output.offset.wrapping_add(output.len);
    out.number(output.len);
    out.number(output.parts.len() as u64);
    for part in &output.parts {
        let code = match part.made {
            Made::Call => 0,
            Made::Ran => 1,
            Made::Registers { .. } => 2,
            Made::Bytes(_) => 3,
            Made::Whole(..) => 4,
        };
        out.number(code);
        out.number(part.len);
        match part.made {
            Made::Call | Made::Ran => {}
            Made::Registers { first, slots } => {
                out.number(first.into());
                out.number(slots.into());
            }
            Made::Bytes(text) | Made::Whole(text, _) => {
                out.signed(text.address.wrapping_sub(last.address));
                last.address = text.address;
                out.number(text.pointer.map_or(0, |r| u64::from(r) + 1));
            }
        }
        if let Made::Whole(_, len) = part.made {
            out.number(len);
        }
    }
}

/// Reads one pack; none if it is something else.
#[must_use]
pub fn unpack(pack: &[u8], sinks: usize) -> Option<Vec<Output>> {
    decode(&expand(pack)?, sinks)
}

/// Reads outputs to `sinks` sinks; none if the bytes are something else.
#[must_use]
pub fn decode(bytes: &[u8], sinks: usize) -> Option<Vec<Output>> {
    let mut input = Input(bytes);
    let mut last = Last::default();
    let mut all = Vec::new();
    while !input.0.is_empty() {
        if all.len() == PACKED {
            return None;
        }
        all.push(take(&mut input, &mut last, sinks)?);
    }
    Some(all)
}

fn take(input: &mut Input<'_>, last: &mut Last, sinks: usize) -> Option<Output> {
    last.step = last.step.wrapping_add(input.signed()?);
    let sink = input.short().filter(|n| (*n as usize) < sinks)?;
    let end = last.end(sink);
    let offset = end.wrapping_add(input.signed()?);
    let len = input.number()?;
    *end = offset.wrapping_add(len);
    let mut output = Output { step: last.step, sink, offset, len, parts: Vec::new() };
    let mut left = len;
    for _ in 0..input.count()? {
        let (code, len) = (input.number()?, input.number()?);
        left = left.checked_sub(len)?;
        let text = |input: &mut Input<'_>, last: &mut Last| {
            last.address = last.address.wrapping_add(input.signed()?);
            let pointer = input.number()?.checked_sub(1).map(Reg::try_from).transpose().ok()?;
            Some(Text { address: last.address, pointer })
        };
        let made = match code {
            0 => Made::Call,
            1 => Made::Ran,
            2 => Made::Registers { first: input.short()?, slots: input.short()? },
            3 => Made::Bytes(text(input, last)?),
            4 => Made::Whole(text(input, last)?, input.number()?),
            _ => return None,
        };
        output.parts.push(Part { len, made });
    }
    Some(output)
}

/// The outputs of a stream, as they are stored.
#[derive(Clone, Debug)]
pub struct Outputs<'b> {
    pub sinks: &'b [Sink],
    pub packs: Vec<&'b [u8]>,
    /// Steps of the stream.
    pub steps: u64,
}

impl Outputs<'_> {
    /// The last output that wrote a byte of one of the sinks that `is_meant`.
    ///
    /// # Errors
    /// If the index is damaged.
    pub fn last(&self, is_meant: impl Fn(&Sink) -> bool, byte: u64) -> Result<Option<Output>, Astray> {
        let meant: Vec<bool> = self.sinks.iter().map(is_meant).collect();
        if !meant.contains(&true) {
            return Ok(None);
        }
        for pack in self.packs.iter().rev() {
            let all = unpack(pack, self.sinks.len()).ok_or(Astray(self.steps))?;
            let has = |o: &Output| meant[o.sink as usize] && byte >= o.offset && byte - o.offset < o.len;
            if let Some(found) = all.into_iter().rev().find(has) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn made() -> impl Strategy<Value = Made> {
        let text = || {
            (any::<u64>(), proptest::option::of(0..Reg::MAX))
                .prop_map(|(address, pointer)| Text { address, pointer })
        };
        prop_oneof![
            Just(Made::Call),
            Just(Made::Ran),
            (any::<Reg>(), any::<u32>()).prop_map(|(first, slots)| Made::Registers { first, slots }),
            text().prop_map(Made::Bytes),
            (text(), any::<u64>()).prop_map(|(text, len)| Made::Whole(text, len)),
        ]
    }

    fn outputs(most: usize) -> impl Strategy<Value = Vec<Output>> {
        let part = (0u64..50, made()).prop_map(|(len, made)| Part { len, made });
        let output = (any::<u64>(), 0u32..3, 0u64..200, proptest::collection::vec(part, 0..4), 0u64..9);
        let output = output.prop_map(|(step, sink, offset, parts, more)| {
            let len = parts.iter().map(|p| p.len).sum::<u64>() + more;
            Output { step, sink, offset, len, parts }
        });
        proptest::collection::vec(output, 0..most)
    }

    fn sinks() -> Vec<Sink> {
        ["a", "b", "c"].map(|name| Sink { kind: 1, name: name.to_owned() }).to_vec()
    }

    fn packed(all: &[Output], times: usize) -> Vec<Vec<u8>> {
        let mut builder = Builder::default();
        for _ in 0..times {
            all.iter().for_each(|o| builder.push(o));
        }
        builder.finish()
    }

    proptest! {
        #[test]
        fn outputs_come_back(all in outputs(6)) {
            let packs = packed(&all, 1000);
            let read: Vec<Output> = packs.iter().flat_map(|p| unpack(p, 3).expect("a pack")).collect();
            prop_assert_eq!(read.len(), all.len() * 1000);
            for (n, output) in read.iter().enumerate() {
                prop_assert_eq!(output, &all[n % all.len()]);
            }
        }

        #[test]
        fn the_last_that_wrote_a_byte(all in outputs(12), byte in 0u64..260, name in "[a-d]") {
            let (sinks, packs) = (sinks(), packed(&all, 1));
            let packs = packs.iter().map(Vec::as_slice).collect();
            let found = Outputs { sinks: &sinks, packs, steps: 0 }.last(|s| s.name == name, byte);
            // Byte by byte, the last one stays.
            let mut plain = None;
            for output in &all {
                for n in 0..output.len {
                    if sinks[output.sink as usize].name == name && output.offset + n == byte {
                        plain = Some(output.clone());
                    }
                }
            }
            prop_assert_eq!(found, Ok(plain));
        }

        #[test]
        fn each_byte_has_its_part(all in outputs(3)) {
            for output in &all {
                let parts = output.parts.iter().flat_map(|p| (0..p.len).map(|n| (p.made, n)));
                let made: Vec<(Made, u64)> = parts.collect();
                for byte in 0..output.len {
                    let plain = made.get(byte as usize).copied().unwrap_or((Made::Call, byte));
                    prop_assert_eq!(output.made(byte), plain);
                }
            }
        }

        #[test]
        fn nonsense_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            for output in decode(&bytes, 3).unwrap_or_default() {
                let _ = (output.made(0), output.made(u64::MAX));
            }
            let _ = unpack(&bytes, 3);
        }
    }
}

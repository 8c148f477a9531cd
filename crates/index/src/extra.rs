//! What happens between two steps beyond the ordinary: calls out of the program,
//! memory that changed by itself, jumps. Each is stored as it is, under the number of
//! the step it precedes; a few thousand at a time are packed together.

/// An activation on the stack: its function, the last instruction it ran, and the
/// address of its frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activation {
    pub function: u32,
    pub at: u32,
    pub frame: u64,
}

/// Memory changed by an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Patch { address: u64, len: u64 },
    Moved { from: u64, to: u64, len: u64 },
    Zeroed { address: u64, len: u64 },
}

/// A load that the recording had to correct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Miss {
    /// Number of the load's step.
    pub step: u64,
    pub module: u32,
    pub site: u32,
    pub address: u64,
    pub bytes: Vec<u8>,
    pub writer: Option<u32>,
    pub seq: Option<u64>,
    /// The store that it saw: stream (by its index) and step.
    pub seen: Option<(u32, u64)>,
}

/// A call out of the program that came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    pub function: u32,
    pub index: u32,
    pub depth: u32,
    /// The step before is the call itself: nothing was called back.
    pub direct: bool,
    pub reads: Vec<(u64, u64)>,
    pub writes: Vec<(u64, u64)>,
    /// Name of its entry in the table of known functions.
    pub known: Option<String>,
}

/// One thing that happened. `depth` counts activations, the running one included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extra {
    Enter {
        function: u32,
        depth: u32,
        outside: bool,
        frame: u64,
    },
    Returned {
        function: u32,
        index: u32,
        depth: u32,
    },
    Edge {
        function: u32,
        depth: u32,
        from: u32,
        to: u32,
    },
    Outside(Outside),
    Landed {
        function: u32,
        index: u32,
        depth: u32,
    },
    Changed {
        depth: u32,
        change: Change,
    },
    Missed(Miss),
    Spilled {
        depth: u32,
        argument: u32,
        address: u64,
        len: u64,
    },
    /// Addresses of the by-value arguments of the call that the last step was.
    Passed(Vec<u64>),
}

/// All that happened before one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Steps before it.
    pub at: u64,
    /// The stack was another one before: so many activations of it remain, and
    /// these are on top of them.
    pub before: Option<(u32, Vec<Activation>)>,
    pub extras: Vec<Extra>,
}

/// Bytes, numbers as LEB128.
#[derive(Clone, Debug, Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    pub fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    pub fn signed(&mut self, n: u64) {
        let n = n.cast_signed();
        self.number((n << 1 ^ n >> 63).cast_unsigned());
    }

    pub fn slice(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn option(&mut self, n: Option<u64>) {
        self.number(n.map_or(0, |n| n.wrapping_add(1)));
    }
}

/// Reads [`Bytes`].
#[derive(Clone, Copy, Debug)]
pub struct Input<'b>(pub &'b [u8]);

impl<'b> Input<'b> {
    pub fn number(&mut self) -> Option<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(n);
            }
        }
        None
    }

    pub fn short(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub fn signed(&mut self) -> Option<u64> {
        let n = self.number()?;
        Some(n >> 1 ^ (n & 1).wrapping_neg())
    }

    pub fn slice(&mut self) -> Option<&'b [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// A length of a list: no more elements than bytes are left.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|n| *n <= self.0.len())
    }

    fn option(&mut self) -> Option<Option<u64>> {
        Some(self.number()?.checked_sub(1))
    }
}

/// Differences to what was last written make small numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    at: u64,
    address: u64,
    frame: u64,
}

/// Records that are packed together, at most.
pub const PACKED: usize = 4096;

/// Bytes at which a pack is closed, though it has fewer records. No record is nearly as long.
const CLOSED: usize = 1 << 20;

/// A pack is no longer than this. A file that says otherwise is not believed: a few bytes of
/// it could ask for any amount of memory.
pub const LONGEST_PACK: usize = 1 << 24;

/// Records in order, compressed: one pack for up to [`PACKED`] of ordinary length.
#[must_use]
pub fn pack(records: &[Record]) -> Vec<Vec<u8>> {
    let mut packs = Vec::new();
    let mut out = Bytes::default();
    let mut last = Last::default();
    for (n, record) in records.iter().enumerate() {
        put_record(&mut out, &mut last, record);
        if out.0.len() >= CLOSED || (n + 1) % PACKED == 0 || n + 1 == records.len() {
            packs.push(compress(&out.0));
            out.0.clear();
            last = Last::default();
        }
    }
    packs
}

pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    // Only a lack of memory can make this fail.
    zstd::bulk::compress(bytes, 6).unwrap_or_default()
}

/// What [`compress`] was given; none if it is something else, or too long to be true.
pub(crate) fn expand(pack: &[u8]) -> Option<Vec<u8>> {
    let size = zstd::zstd_safe::get_frame_content_size(pack).ok()??;
    let size = usize::try_from(size).ok().filter(|n| *n <= LONGEST_PACK)?;
    zstd::bulk::decompress(pack, size).ok()
}

/// Reads one pack that [`pack`] wrote; none if it is something else.
#[must_use]
pub fn unpack(bytes: &[u8]) -> Option<Vec<Record>> {
    decode(&expand(bytes)?)
}

fn put_record(out: &mut Bytes, last: &mut Last, record: &Record) {
    out.number(record.at - last.at);
    last.at = record.at;
    out.number(record.extras.len() as u64 * 2 + u64::from(record.before.is_some()));
    if let Some((keep, stack)) = &record.before {
        out.number((*keep).into());
        out.number(stack.len() as u64);
        for a in stack {
            out.number(a.function.into());
            out.number(a.at.into());
            out.signed(a.frame.wrapping_sub(last.frame));
            last.frame = a.frame;
        }
    }
    for extra in &record.extras {
        put(out, last, extra);
    }
}

fn put(out: &mut Bytes, last: &mut Last, extra: &Extra) {
    let mut address = |out: &mut Bytes, at: u64| {
        out.signed(at.wrapping_sub(last.address));
        last.address = at;
    };
    match extra {
        Extra::Enter { function, depth, outside, frame } => {
            out.number(0);
            out.number(u64::from(*function) << 1 | u64::from(*outside));
            out.number((*depth).into());
            out.signed(frame.wrapping_sub(last.frame));
            last.frame = *frame;
        }
        Extra::Returned { function, index, depth } | Extra::Landed { function, index, depth } => {
            out.number(if matches!(extra, Extra::Returned { .. }) { 1 } else { 2 });
            [function, index, depth].into_iter().for_each(|n| out.number((*n).into()));
        }
        Extra::Edge { function, depth, from, to } => {
            out.number(3);
            [function, depth, from, to].into_iter().for_each(|n| out.number((*n).into()));
        }
        Extra::Outside(o) => {
            out.number(4);
            out.number(u64::from(o.function) << 1 | u64::from(o.direct));
            out.number(o.index.into());
            out.number(o.depth.into());
            out.slice(o.known.as_deref().unwrap_or_default().as_bytes());
            for ranges in [&o.reads, &o.writes] {
                out.number(ranges.len() as u64);
                for (at, len) in ranges {
                    address(out, *at);
                    out.number(*len);
                }
            }
        }
        Extra::Changed { depth, change } => {
            let (code, at, len) = match change {
                Change::Patch { address, len } => (5, *address, *len),
                Change::Moved { to, len, .. } => (6, *to, *len),
                Change::Zeroed { address, len } => (7, *address, *len),
            };
            out.number(code);
            out.number((*depth).into());
            address(out, at);
            out.number(len);
            if let Change::Moved { from, .. } = change {
                address(out, *from);
            }
        }
        Extra::Missed(m) => {
            out.number(8);
            out.number(m.step);
            out.number(m.module.into());
            out.number(m.site.into());
            address(out, m.address);
            out.slice(&m.bytes);
            out.option(m.writer.map(u64::from));
            out.option(m.seq);
            out.option(m.seen.map(|s| s.0.into()));
            if let Some((_, step)) = m.seen {
                out.number(step);
            }
        }
        Extra::Spilled { depth, argument, address: at, len } => {
            out.number(9);
            out.number((*depth).into());
            out.number((*argument).into());
            address(out, *at);
            out.number(*len);
        }
        Extra::Passed(addresses) => {
            out.number(10);
            out.number(addresses.len() as u64);
            addresses.iter().for_each(|at| address(out, *at));
        }
    }
}

/// Reads the records of a pack; none if the bytes are something else.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Vec<Record>> {
    let mut input = Input(bytes);
    let mut last = Last::default();
    let mut records = Vec::new();
    while !input.0.is_empty() {
        if records.len() == PACKED {
            return None;
        }
        last.at = last.at.checked_add(input.number()?)?;
        let mut record = Record { at: last.at, ..Record::default() };
        let head = input.number()?;
        if head & 1 == 1 {
            let keep = input.short()?;
            let mut stack = Vec::new();
            for _ in 0..input.count()? {
                let (function, at) = (input.short()?, input.short()?);
                last.frame = last.frame.wrapping_add(input.signed()?);
                stack.push(Activation { function, at, frame: last.frame });
            }
            record.before = Some((keep, stack));
        }
        if head >> 1 > input.0.len() as u64 {
            return None;
        }
        for _ in 0..head >> 1 {
            record.extras.push(take(&mut input, &mut last)?);
        }
        records.push(record);
    }
    Some(records)
}

fn take(input: &mut Input<'_>, last: &mut Last) -> Option<Extra> {
    let code = input.number()?;
    if code == 0 {
        let (head, depth) = (input.number()?, input.short()?);
        last.frame = last.frame.wrapping_add(input.signed()?);
        let function = u32::try_from(head >> 1).ok()?;
        return Some(Extra::Enter { function, depth, outside: head & 1 == 1, frame: last.frame });
    }
    let mut address = |input: &mut Input<'_>| {
        last.address = last.address.wrapping_add(input.signed()?);
        Some(last.address)
    };
    Some(match code {
        1 | 2 => {
            let (function, index, depth) = (input.short()?, input.short()?, input.short()?);
            match code {
                1 => Extra::Returned { function, index, depth },
                _ => Extra::Landed { function, index, depth },
            }
        }
        3 => {
            let (function, depth) = (input.short()?, input.short()?);
            Extra::Edge { function, depth, from: input.short()?, to: input.short()? }
        }
        4 => {
            let head = input.number()?;
            let (index, depth) = (input.short()?, input.short()?);
            let name = std::str::from_utf8(input.slice()?).ok()?;
            let known = (!name.is_empty()).then(|| name.to_owned());
            let mut ranges = [Vec::new(), Vec::new()];
            for list in &mut ranges {
                for _ in 0..input.count()? {
                    list.push((address(input)?, input.number()?));
                }
            }
            let [reads, writes] = ranges;
            let function = u32::try_from(head >> 1).ok()?;
            Extra::Outside(Outside { function, index, depth, direct: head & 1 == 1, reads, writes, known })
        }
        5..=7 => {
            let depth = input.short()?;
            let (at, len) = (address(input)?, input.number()?);
            let change = match code {
                5 => Change::Patch { address: at, len },
                6 => Change::Moved { from: address(input)?, to: at, len },
                _ => Change::Zeroed { address: at, len },
            };
            Extra::Changed { depth, change }
        }
        8 => {
            let step = input.number()?;
            let (module, site) = (input.short()?, input.short()?);
            let address = address(input)?;
            let bytes = input.slice()?.to_vec();
            let writer = input.option()?.map(u32::try_from).transpose().ok()?;
            let seq = input.option()?;
            let stream = input.option()?.map(u32::try_from).transpose().ok()?;
            let seen = match stream {
                Some(stream) => Some((stream, input.number()?)),
                None => None,
            };
            Extra::Missed(Miss { step, module, site, address, bytes, writer, seq, seen })
        }
        9 => {
            let (depth, argument) = (input.short()?, input.short()?);
            Extra::Spilled { depth, argument, address: address(input)?, len: input.number()? }
        }
        10 => {
            let n = input.count()?;
            Extra::Passed((0..n).map(|_| address(input)).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extras() -> impl Strategy<Value = Extra> {
        let n = || any::<u32>();
        let at = || any::<u64>();
        let ranges = || proptest::collection::vec((at(), at()), 0..3);
        let change = prop_oneof![
            (at(), at()).prop_map(|(address, len)| Change::Patch { address, len }),
            (at(), at(), at()).prop_map(|(from, to, len)| Change::Moved { from, to, len }),
            (at(), at()).prop_map(|(address, len)| Change::Zeroed { address, len }),
        ];
        let small = || 0..u64::MAX - 1;
        prop_oneof![
            (n(), n(), any::<bool>(), at()).prop_map(|(function, depth, outside, frame)| Extra::Enter {
                function,
                depth,
                outside,
                frame
            }),
            (n(), n(), n()).prop_map(|(function, index, depth)| Extra::Returned { function, index, depth }),
            (n(), n(), n()).prop_map(|(function, index, depth)| Extra::Landed { function, index, depth }),
            (n(), n(), n(), n()).prop_map(|(function, depth, from, to)| Extra::Edge {
                function,
                depth,
                from,
                to
            }),
            (n(), n(), n(), any::<bool>(), ranges(), ranges(), proptest::option::of("[a-z]{1,5}")).prop_map(
                |(function, index, depth, direct, reads, writes, known)| {
                    Extra::Outside(Outside { function, index, depth, direct, reads, writes, known })
                }
            ),
            (n(), change).prop_map(|(depth, change)| Extra::Changed { depth, change }),
            (
                n(),
                n(),
                at(),
                proptest::option::of(n()),
                proptest::option::of(small()),
                proptest::option::of((n(), at()))
            )
                .prop_map(|(module, site, address, writer, seq, seen)| {
                    Extra::Missed(Miss {
                        step: address / 3,
                        module,
                        site,
                        address,
                        bytes: vec![1, 2],
                        writer,
                        seq,
                        seen,
                    })
                }),
            (n(), n(), at(), at()).prop_map(|(depth, argument, address, len)| Extra::Spilled {
                depth,
                argument,
                address,
                len
            }),
            proptest::collection::vec(at(), 0..3).prop_map(Extra::Passed),
        ]
    }

    fn unpacked(packs: &[Vec<u8>]) -> Vec<Record> {
        packs.iter().flat_map(|p| unpack(p).expect("a pack")).collect()
    }

    #[test]
    fn long_records_go_into_packs_of_their_own() {
        let reads: Vec<(u64, u64)> = (0..200_000).map(|n| (n * 77_777, n)).collect();
        let long = Extra::Outside(Outside { reads, ..Outside::default() });
        let records: Vec<Record> =
            (0..3).map(|at| Record { at, before: None, extras: vec![long.clone()] }).collect();
        let packs = pack(&records);
        assert_eq!(packs.len(), 3);
        assert_eq!(unpacked(&packs), records);
    }

    /// A few bytes that say they are many.
    #[test]
    fn what_would_take_all_memory_is_refused() {
        for bytes in [vec![0; LONGEST_PACK + 1], vec![0; 2 * PACKED + 2]] {
            let pack = compress(&bytes);
            assert!(pack.len() < 4096, "{}", pack.len());
            assert_eq!(unpack(&pack), None);
        }
        assert_eq!(unpack(&compress(&vec![0; 2 * PACKED])).map(|r| r.len()), Some(PACKED));
    }

    proptest! {
        #[test]
        fn records_come_back(all in proptest::collection::vec(
            (0u64..1 << 40, proptest::option::of((any::<u32>(), proptest::collection::vec((any::<u32>(), any::<u32>(), any::<u64>()), 0..3))),
             proptest::collection::vec(extras(), 0..4)), 0..6)) {
            let mut at = 0;
            let records: Vec<Record> = all.into_iter().map(|(gap, before, extras)| {
                at += gap;
                let before = before.map(|(keep, stack)| (keep, stack.into_iter()
                    .map(|(function, at, frame)| Activation { function, at, frame }).collect()));
                Record { at, before, extras }
            }).collect();
            prop_assert_eq!(unpacked(&pack(&records)), records);
        }

        #[test]
        fn packs_come_back(all in proptest::collection::vec(extras(), 0..20)) {
            let records: Vec<Record> =
                (0..300).map(|at| Record { at, before: None, extras: all.clone() }).collect();
            prop_assert_eq!(unpacked(&pack(&records)), records);
        }

        #[test]
        fn nonsense_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode(&bytes);
        }
    }
}

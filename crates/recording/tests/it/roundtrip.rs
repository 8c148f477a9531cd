//! Round trips: arbitrary events, raw and packed files.

use crate::common;
use proptest::prelude::*;
use recording::event::kind;
use recording::manifest::{Manifest, Outcome};
use recording::{Decoder, Event, Mark, Position, Recording, Slots, pack};
use std::os::unix::fs::MetadataExt;

/// An event that owns its bytes.
#[derive(Clone, Debug)]
struct Made {
    kind: u8,
    position: Position,
    numbers: [u64; 4],
    small: [u32; 2],
    slots: Vec<u64>,
    bytes: Vec<u8>,
}

impl Made {
    fn event(&self) -> Event<'_> {
        let [a, b, c, d] = self.numbers;
        let [s, t] = self.small;
        let slots = Slots::Plain(&self.slots);
        let stream = (s % 3 != 0).then_some(t);
        let writer = stream.filter(|_| self.position.seq.is_some());
        match self.kind {
            kind::LOAD if s % 2 == 0 => Event::load((t % 9) as u8, a, b, writer),
            kind::LOAD => Event::WideLoad { bytes: &self.bytes[..9 + t as usize % 8], writer },
            kind::PATCH => Event::Patch { address: a, bytes: &self.bytes[..t as usize % self.bytes.len()] },
            kind::EXTERNAL => Event::External { slots },
            kind::ENTER => Event::Enter { module: s, function: t, slots, inside: a % 2 == 0 },
            kind::LAND => Event::Land { stack: a, slots },
            kind::IO => Event::Io { out: s % 2 == 0, source: a, offset: b, address: c, length: d },
            kind::SOURCE => Event::Source {
                kind: s as u8,
                fd: if t % 4 == 0 { -1 } else { (t >> 1).cast_signed() },
                name: &self.bytes[..20],
            },
            kind::CHECK => Event::Check { sum: a },
            kind::VA_START => Event::VaStart { gp_offset: s, fp_offset: t, overflow_area: a, save_area: b },
            kind::VALUE => Event::Value { slots },
            kind::THREAD_LOCAL => Event::ThreadLocal { symbol: s, address: a },
            kind::MOVED => Event::Moved { from: a, to: b, length: c },
            kind::ZEROED => Event::Zeroed { address: a, length: b },
            kind::FORK => Event::Fork { child: s },
            kind::EXEC => Event::Exec,
            kind::THREAD => Event::Thread { stream, handle: a },
            kind::SIGNAL => Event::Signal { signal: s, interrupted: a },
            kind::SYNC => Event::Sync { object: a, operation: s as u8 },
            kind::END => Event::End { sum: a, status: s },
            kind::CRASH => Event::Crash { signal: s, address: a, code: b.cast_signed() },
            kind::UNWOUND => Event::Unwound { entries: a },
            kind::INTERRUPTED => Event::Interrupted { called: a, address: b },
            _ => Event::Mapped { address: a, length: b },
        }
    }

    /// Module and site are not stored for kinds without a site.
    fn position(&self) -> Position {
        match kind::has_site(self.kind) {
            true => self.position,
            false => Position::without_site(self.position.time, self.position.seq),
        }
    }
}

/// Numbers of every magnitude.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)
}

fn made() -> impl Strategy<Value = Made> {
    let position = (number(), 0u32..4, 0u32..u32::MAX, prop::option::of(number()))
        .prop_map(|(time, module, site, seq)| Position { time, module, site, seq });
    (
        1u8..22,
        position,
        [number(), number(), number(), number()],
        any::<[u32; 2]>(),
        prop::collection::vec(number(), 0..6),
        prop::collection::vec(any::<u8>(), 20..40),
    )
        .prop_map(|(kind, position, numbers, small, slots, bytes)| Made {
            kind,
            position,
            numbers,
            small,
            slots,
            bytes,
        })
}

proptest! {
    #[test]
    fn events_come_back(list in prop::collection::vec(made(), 0..40)) {
        let events: Vec<(Position, Event<'_>)> = list.iter().map(|m| (m.position(), m.event())).collect();
        let bytes = common::encode(&events);
        let mut decoder = Decoder::new(&bytes);
        let mut marks: Vec<Mark> = Vec::new();
        for (position, event) in &events {
            marks.push(decoder.mark());
            let head = decoder.peek().unwrap().unwrap();
            prop_assert_eq!((head.position, head.kind), (*position, event.kind()));
            prop_assert!(decoder.is_next(position.time, position.module, position.site));
            prop_assert_eq!(decoder.next(), Ok(Some((*position, *event))));
        }
        prop_assert_eq!(decoder.next(), Ok(None));
        prop_assert_eq!(decoder.offset(), bytes.len());
        // Decoding can resume at every mark.
        for (i, mark) in marks.into_iter().enumerate() {
            let mut again = Decoder::resume(&bytes, mark);
            prop_assert_eq!(again.next(), Ok(Some(events[i])));
        }
    }

    #[test]
    fn any_prefix_of_events_is_usable(list in prop::collection::vec(made(), 1..8), cut in any::<prop::sample::Index>()) {
        let events: Vec<(Position, Event<'_>)> = list.iter().map(|m| (m.position(), m.event())).collect();
        let bytes = common::encode(&events);
        let cut = cut.index(bytes.len());
        let mut decoder = Decoder::new(&bytes[..cut]);
        let mut whole = 0;
        while let Ok(Some(found)) = decoder.next() {
            prop_assert_eq!(found, events[whole]);
            whole += 1;
        }
        prop_assert!(whole < events.len());
    }

    #[test]
    fn packed_recordings_hold_what_raw_ones_held(
        streams in prop::collection::vec(prop::collection::vec(made(), 0..30), 1..4)
    ) {
        let encoded: Vec<Vec<u8>> = streams
            .iter()
            .map(|s| common::encode(&s.iter().map(|m| (m.position(), m.event())).collect::<Vec<_>>()))
            .collect();
        let dir = tempfile::tempdir().unwrap();
        common::write_raw_process(&dir.path().join("p42.0"), &encoded);
        let raw = Recording::open(dir.path()).unwrap();
        let mut manifest = Manifest::begin(vec!["subject".into()], "/".into(), 0);
        let summary = pack::finish(dir.path(), &mut manifest, Some(Outcome::Exit(0))).unwrap();
        prop_assert_eq!(&summary.faults, &Vec::<String>::new());
        prop_assert_eq!(summary.streams, encoded.len());
        let packed = Recording::open(dir.path()).unwrap();
        prop_assert!(packed.manifest.as_ref().is_some_and(|m| m.complete && m.reason.is_none()));
        for recording in [&raw, &packed] {
            let process = &recording.processes[0];
            prop_assert_eq!(&process.damage, &vec![]);
            prop_assert_eq!(&process.info, &raw.processes[0].info);
            prop_assert_eq!(process.module(2), Some(&common::module(2)));
            prop_assert_eq!(process.streams.len(), encoded.len());
        }
        for (stream, bytes) in packed.processes[0].streams.iter().zip(&encoded) {
            let number = stream.header.stream;
            prop_assert_eq!(&stream.header, &common::stream_header(number, bytes.len() as u64));
            let events = stream.events().unwrap();
            prop_assert_eq!(&events.bytes, bytes);
            prop_assert_eq!(events.damage, None);
        }
    }
}

#[test]
fn no_raw_files_are_left_and_packing_again_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let process = dir.path().join("p42.0");
    common::write_raw_process(&process, &[common::encode(&common::sample_events())]);
    let mut manifest = Manifest::begin(vec![], String::new(), 0);
    pack::finish(dir.path(), &mut manifest, None).unwrap();
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(&process)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["modules", "process.json", "t0"]);
    let before = std::fs::read(process.join("t0")).unwrap();
    let summary = pack::finish(dir.path(), &mut manifest, None).unwrap();
    assert_eq!((summary.streams, summary.faults.len()), (0, 0));
    assert_eq!(std::fs::read(process.join("t0")).unwrap(), before);
}

#[test]
fn streams_of_several_frames_are_put_together() {
    let bytes = vec![0x5a; 3000];
    let events: Vec<(Position, Event<'_>)> = (0..1000)
        .map(|i| {
            let at = Position { time: i, module: 1, site: 1, seq: None };
            (at, Event::Patch { address: i * 4096, bytes: &bytes })
        })
        .collect();
    let encoded = common::encode(&events);
    assert!(encoded.len() > 2 << 20);
    let dir = tempfile::tempdir().unwrap();
    common::write_raw_process(&dir.path().join("p42.0"), std::slice::from_ref(&encoded));
    pack::finish(dir.path(), &mut Manifest::begin(vec![], String::new(), 0), None).unwrap();
    let recording = Recording::open(dir.path()).unwrap();
    let events = recording.processes[0].stream(0).unwrap().events().unwrap();
    assert!(events.damage.is_none() && events.bytes == encoded);
}

/// Forks and repeated runs of a program have the same modules: they are stored once and loaded
/// once.
#[test]
fn processes_with_the_same_modules_share_them() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let names = ["p42.0", "p43.0", "p44.0"];
    for (name, modules) in names.iter().zip([&[1, 2][..], &[1, 2], &[1]]) {
        common::write_raw_process(&here.join(name), &[]);
        let mut file = recording::modules::file_start();
        modules.iter().for_each(|index| common::module(*index).write(&mut file));
        std::fs::write(here.join(name).join("modules.raw"), file).unwrap();
    }
    let mut manifest = Manifest::begin(vec!["subject".to_owned()], "/".to_owned(), 0);
    for is_packed in [false, true] {
        if is_packed {
            pack::finish(here, &mut manifest, None).unwrap();
        }
        let opened = Recording::open(here).unwrap();
        let of = |at: usize| &opened.processes[at].modules;
        assert_eq!([of(0).len(), of(1).len(), of(2).len()], [2, 2, 1]);
        assert!(std::ptr::eq(&raw const of(0)[0], &raw const of(1)[0]), "packed: {is_packed}");
    }
    let file = |name: &str| std::fs::metadata(here.join(name).join("modules")).unwrap().ino();
    assert_eq!(file(names[0]), file(names[1]));
    assert_ne!(file(names[0]), file(names[2]));
    // Each keeps its modules when the directory of another is removed.
    std::fs::remove_dir_all(here.join(names[0])).unwrap();
    assert_eq!(Recording::open(here).unwrap().processes[0].modules.len(), 2);
}

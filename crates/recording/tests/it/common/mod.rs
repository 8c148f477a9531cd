//! Generated recordings for tests.

use recording::encode::{EncodeError, Encoder};
use recording::event::{self, Event, Position, Slots, header};
use recording::header::{StreamHeader, StreamKind};
use recording::modules::{LoadedModule, file_start};
use std::path::Path;

/// Encodes into a growing vector.
pub fn encode(events: &[(Position, Event<'_>)]) -> Vec<u8> {
    let mut encoder = Encoder::new();
    let mut bytes = Vec::new();
    for (position, event) in events {
        let mut room = vec![0; 32];
        let used = loop {
            match encoder.encode(&mut room, *position, event) {
                Ok(used) => break used,
                Err(EncodeError::BufferTooSmall) => room.resize(room.len() * 2, 0),
                Err(EncodeError::TooLong) => panic!("{event:?} cannot be encoded"),
            }
        };
        bytes.extend_from_slice(&room[..used]);
    }
    bytes
}

pub fn stream_header(stream: u32, length: u64) -> StreamHeader {
    StreamHeader {
        key: 0x1000_0000_0000,
        time: 99,
        sum: 12345,
        stack: 0x7000_0000,
        stream,
        pid: 42,
        kind: StreamKind::Thread,
        length,
        tid: 42,
        parent_stream: 0,
        initial_stack: 0x7000_1000,
        stack_size: 1 << 20,
        incomplete: false,
        fork: None,
        events: 3,
        misses: 1,
        ticked: 0,
        identity: 0x0102_0304,
        calls: 9,
        opaque: 2,
    }
}

pub fn module(index: u32) -> LoadedModule {
    LoadedModule {
        index,
        id: [index as u8; 16],
        path: "/usr/bin/subject".to_owned(),
        load_address: 0x5555_5555_4000,
        build_id: vec![0xde, 0xad],
        addresses: vec![0x5555_5555_5000, 0x5555_5555_6000],
    }
}

pub fn process_raw() -> Vec<u8> {
    let mut raw = [&event::process::MAGIC[..], &event::VERSION.to_le_bytes()].concat();
    for (tag, value) in [
        (event::process::PID, &42u32.to_le_bytes()[..]),
        (event::process::PARENT, &41u32.to_le_bytes()),
        (event::process::EXECUTABLE, b"/usr/bin/subject"),
        (event::process::ARGUMENT, b"subject"),
        (event::process::ARGUMENT, b"--flag"),
        (event::process::BUILD_ID, &[0xde, 0xad]),
        (event::process::IDENTITY, &0x0102_0304u64.to_le_bytes()),
    ] {
        raw.extend_from_slice(&tag.to_le_bytes());
        raw.extend_from_slice(&(value.len() as u32).to_le_bytes());
        raw.extend_from_slice(value);
    }
    raw
}

/// Writes a process directory in the runtime's layout. Raw stream files are larger than their used
/// part.
pub fn write_raw_process(directory: &Path, streams: &[Vec<u8>]) {
    std::fs::create_dir_all(directory).unwrap();
    std::fs::write(directory.join("process.raw"), process_raw()).unwrap();
    let mut modules = file_start();
    module(1).write(&mut modules);
    module(2).write(&mut modules);
    std::fs::write(directory.join("modules.raw"), modules).unwrap();
    for (number, events) in streams.iter().enumerate() {
        let mut file = stream_header(number as u32, events.len() as u64).to_page();
        assert_eq!(file.len(), header::LEN);
        file.extend_from_slice(events);
        file.extend_from_slice(&[0xee; 100]);
        std::fs::write(directory.join(format!("t{number}.raw")), file).unwrap();
    }
}

/// At least one event of every kind.
pub fn sample_events() -> Vec<(Position, Event<'static>)> {
    let at = |time, site| Position { time, module: 1 + site % 2, site, seq: None };
    let seq = |time, site, seq| Position { time, module: 1, site, seq: Some(seq) };
    let free = |time| Position::without_site(time, None);
    vec![
        (free(0), Event::Source { kind: event::source::ARGV, fd: 1, name: b"--flag" }),
        (at(0, 0), Event::Patch { address: 0x7fff_0000_1000, bytes: b"--flag\0" }),
        (at(0, 0), Event::Io { out: false, source: 0, offset: 0, address: 0x7fff_0000_1000, length: 7 }),
        (at(0, 0), Event::Io { out: true, source: 1, offset: 4096, address: 0x7fff_0000_1000, length: 7 }),
        (at(0, 0), Event::Io { out: false, source: 1, offset: 3, address: 0x7fff_0000_1000, length: 4 }),
        (
            free(0),
            Event::Enter {
                module: 1,
                function: 3,
                slots: Slots::Plain(&[2, 0x7fff_0000_0000]),
                inside: false,
            },
        ),
        (at(1, 5), Event::load(4, 0, 77, None)),
        (at(1, 9), Event::load(8, 0x5555_0000, 0x5555_0010, None)),
        (at(4, 200), Event::External { slots: Slots::Plain(&[0x5555_5555_9000]) }),
        (free(4), Event::Check { sum: 0x0123_4567_89ab_cdef }),
        (at(5, 201), Event::Zeroed { address: 0x5555_5555_9000, length: 64 }),
        (at(5, 202), Event::Moved { from: 0x5555_5555_9000, to: 0x5555_5555_a000, length: 64 }),
        (
            at(6, 203),
            Event::VaStart {
                gp_offset: 8,
                fp_offset: 48,
                overflow_area: 0x7000_0000,
                save_area: 0x7000_0100,
            },
        ),
        (at(7, 12), Event::WideLoad { bytes: &[9; 10], writer: None }),
        (at(8, 13), Event::Value { slots: Slots::Plain(&[1, u64::MAX]) }),
        (at(8, 14), Event::ThreadLocal { symbol: 4, address: 0x7fff_ffff_0000 }),
        (at(9, 15), Event::Land { stack: 0x7000_0800, slots: Slots::Plain(&[1]) }),
        (at(10, 16), Event::Thread { stream: None, handle: 0x7fff_1234_5678 }),
        (seq(11, 17, 1000), Event::load(4, 1, 2, Some(1))),
        (seq(11, 18, 1003), Event::WideLoad { bytes: &[7; 16], writer: None }),
        (seq(12, 19, 1010), Event::Sync { object: 0x5555_5555_8000, operation: event::sync::LOCK }),
        (at(12, 20), Event::Mapped { address: 0x7ffe_0000_0000, length: 4096 }),
        (at(13, 21), Event::Fork { child: 43 }),
        (at(13, 22), Event::Exec),
        (free(14), Event::Signal { signal: 10, interrupted: 13 }),
        (free(14), Event::Interrupted { called: 12, address: 0x1000 }),
        (free(15), Event::Unwound { entries: 2 }),
        (free(15), Event::Crash { signal: 11, address: 0, code: -6 }),
        (free(15), Event::End { sum: 7, status: 3 }),
    ]
}

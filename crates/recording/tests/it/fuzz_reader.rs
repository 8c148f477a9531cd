//! No bytes in a recording make the reader panic: the corpus is mutated many thousand times,
//! deterministically. `fuzz/` has the same targets for a coverage-guided fuzzer.
//!
//! The corpus also tests compatibility: it was written by the first release of the format, and must
//! stay readable as long as the version is the same.

use crate::common;

use crate::mutate::Mutator;
use proptest::prelude::*;
use recording::argument::Argument;
use recording::decode::usable_prefix;
use recording::frames::{KIND_MODULES, KIND_STREAM, Packed};
use recording::header::StreamHeader;
use recording::process::ProcessInfo;
use recording::{Decoder, Event, Recording, modules};
use std::path::{Path, PathBuf};

fn corpus(form: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(form)
}

/// Every file below a directory, relative to it.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut work = vec![PathBuf::new()];
    while let Some(at) = work.pop() {
        for entry in std::fs::read_dir(root.join(&at)).unwrap() {
            let path = at.join(entry.unwrap().file_name());
            if root.join(&path).is_dir() { work.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Applies every reader to a recording.
fn read_everything(path: &Path) -> usize {
    let Ok(recording) = Recording::open(path) else { return 0 };
    let mut events = 0;
    for process in &recording.processes {
        let _ = recording.fork_parent(process);
        let _ = process.module(1);
        for stream in &process.streams {
            if let Ok(read) = stream.events() {
                events += decode(&read.bytes);
            }
        }
    }
    events
}

/// Decodes to the end or the first fault, slots included.
fn decode(bytes: &[u8]) -> usize {
    let mut decoder = Decoder::new(bytes);
    let mut count = 0;
    while let Ok(Some((_, event))) = decoder.next() {
        count += 1;
        match event {
            Event::External { slots }
            | Event::Value { slots }
            | Event::Enter { slots, .. }
            | Event::Land { slots, .. } => assert_eq!(slots.iter().count(), slots.len()),
            _ => {}
        }
    }
    count
}

#[test]
fn the_corpus_is_readable() {
    for form in ["packed", "raw"] {
        let recording = Recording::open(&corpus(form)).unwrap();
        let process = &recording.processes[0];
        assert_eq!(process.damage, []);
        assert_eq!(process.info.arguments, ["subject", "--flag"].map(Argument::from));
        assert_eq!(process.modules, [common::module(1), common::module(2)].into());
        let read = process.stream(0).unwrap().events().unwrap();
        let mut decoder = read.decoder();
        for expected in common::sample_events() {
            assert_eq!(decoder.next(), Ok(Some(expected)));
        }
        assert_eq!(decoder.next(), Ok(None));
    }
}

#[test]
fn mutated_files_never_panic() {
    for form in ["packed", "raw"] {
        let dir = tempfile::tempdir().unwrap();
        let names = files(&corpus(form));
        assert!(names.len() >= 3);
        for name in &names {
            let target = dir.path().join(name);
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(corpus(form).join(name), target).unwrap();
        }
        let whole = read_everything(dir.path());
        assert!(whole > 20);
        for (seed, name) in names.iter().enumerate() {
            let target = dir.path().join(name);
            let original = std::fs::read(&target).unwrap();
            let mut mutator = Mutator::new(seed as u64 + 1);
            // Few iterations: disk access is slow. The next test needs none.
            for round in 0..150 {
                let mutated = match round % 4 {
                    0 => mutator.change_byte(&original),
                    _ => mutator.mutate(&original),
                };
                std::fs::write(&target, mutated).unwrap();
                read_everything(dir.path());
            }
            std::fs::write(&target, original).unwrap();
        }
        assert_eq!(read_everything(dir.path()), whole);
    }
}

#[test]
fn mutated_events_never_panic() {
    let seed = common::encode(&common::sample_events());
    let mut mutator = Mutator::new(77);
    let mut whole = 0;
    for _ in 0..50_000 {
        let bytes = mutator.mutate(&seed);
        let count = decode(&bytes);
        let (usable, fault) = usable_prefix(&bytes);
        assert!(usable <= bytes.len());
        assert_eq!(decode(&bytes[..usable]), count);
        whole += usize::from(fault.is_none());
    }
    // Check that not all mutations break the file at once.
    assert!(whole > 1000 && whole < 49_000, "{whole}");
}

/// Applies every parser of file content to the bytes.
fn parse_everything(bytes: &[u8]) {
    decode(bytes);
    let _ = StreamHeader::parse(bytes);
    let _ = modules::parse(bytes);
    let _ = ProcessInfo::default().read_raw(bytes);
    for kind in [KIND_STREAM, KIND_MODULES] {
        if let Ok(packed) = Packed::new(bytes, Path::new("t0"), kind) {
            let (content, damage) = packed.content(160, "t0");
            assert_eq!(damage.is_none(), content.len() == 160);
            decode(&content);
            let _ = modules::parse(&content);
        }
    }
}

#[test]
fn mutated_content_never_panics() {
    for (seed, form) in ["packed", "raw"].iter().enumerate() {
        let mut mutator = Mutator::new(seed as u64 + 100);
        for name in files(&corpus(form)) {
            let original = std::fs::read(corpus(form).join(name)).unwrap();
            for round in 0..4000 {
                let light = round % 4 == 0;
                parse_everything(&if light {
                    mutator.change_byte(&original)
                } else {
                    mutator.mutate(&original)
                });
            }
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        parse_everything(&bytes);
        parse_everything(&[&modules::file_start()[..], &bytes].concat());
    }
}

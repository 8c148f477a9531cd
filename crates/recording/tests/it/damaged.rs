//! Truncated and corrupt recordings: the part before the damage is usable, the reader reports its
//! size, and nothing panics.

use crate::common;
use recording::manifest::Manifest;
use recording::{Recording, pack};
use std::path::{Path, PathBuf};

/// A packed recording of the sample events and the path of its stream.
fn packed(dir: &Path) -> (Vec<u8>, PathBuf) {
    let events = common::encode(&common::sample_events());
    common::write_raw_process(&dir.join("p42.0"), std::slice::from_ref(&events));
    pack::finish(dir, &mut Manifest::begin(vec![], String::new(), 0), None).unwrap();
    (events, dir.join("p42.0/t0"))
}

#[test]
fn a_packed_stream_cut_anywhere_keeps_a_prefix() {
    let dir = tempfile::tempdir().unwrap();
    let (events, path) = packed(dir.path());
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let recording = Recording::open(dir.path()).unwrap();
        let process = &recording.processes[0];
        match process.streams.first() {
            None => {
                let damage = &process.damage[0];
                assert!(damage.what.contains("t0"), "{damage}");
                assert_eq!((damage.usable_bytes, damage.total_bytes), (0, cut as u64));
            }
            Some(stream) => {
                let read = stream.events().unwrap();
                let damage = read.damage.expect("a cut file is damaged");
                assert!(events.starts_with(&read.bytes));
                assert_eq!(damage.usable_bytes, read.bytes.len() as u64);
                assert_eq!(damage.total_bytes, events.len() as u64);
            }
        }
    }
}

#[test]
fn damage_in_a_late_frame_keeps_the_earlier_ones() {
    let dir = tempfile::tempdir().unwrap();
    let sample = common::encode(&common::sample_events());
    let zeros = vec![0; 700_000];
    let mut list = common::sample_events();
    let big = |time| {
        let at = recording::Position { time, module: 1, site: 1, seq: None };
        (at, recording::Event::Patch { address: 1 << 40, bytes: &zeros })
    };
    list.extend([big(20), big(21), big(22)]);
    let events = common::encode(&list);
    common::write_raw_process(&dir.path().join("p42.0"), std::slice::from_ref(&events));
    pack::finish(dir.path(), &mut Manifest::begin(vec![], String::new(), 0), None).unwrap();
    let path = dir.path().join("p42.0/t0");
    let mut file = std::fs::read(&path).unwrap();
    let last = file.len() - 1;
    file[last] ^= 1;
    std::fs::write(&path, &file).unwrap();
    let recording = Recording::open(dir.path()).unwrap();
    let read = recording.processes[0].streams[0].events().unwrap();
    let damage = read.damage.as_ref().unwrap();
    assert!(damage.to_string().contains("checksum"), "{damage}");
    // The sample and two of the three patches are completely in the first two frames.
    assert_eq!(damage.usable_bytes, read.bytes.len() as u64);
    assert!(read.bytes.len() > sample.len() + 2 * zeros.len() && read.bytes.len() < 2 << 20);
    assert_eq!(recording::decode::usable_prefix(&read.bytes), (read.bytes.len(), None));
}

#[test]
fn every_flipped_byte_of_a_packed_stream_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let (events, path) = packed(dir.path());
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut file = whole.clone();
        file[at] ^= 0x41;
        std::fs::write(&path, &file).unwrap();
        let recording = Recording::open(dir.path()).unwrap();
        let process = &recording.processes[0];
        match process.streams.first() {
            None => assert!(!process.damage.is_empty()),
            Some(stream) => {
                let read = stream.events().unwrap();
                assert!(read.damage.is_some(), "byte {at}");
                assert!(events.starts_with(&read.bytes));
            }
        }
    }
}

#[test]
fn a_raw_stream_that_promises_too_much_is_clamped() {
    let dir = tempfile::tempdir().unwrap();
    let events = common::encode(&common::sample_events());
    let process = dir.path().join("p42.0");
    common::write_raw_process(&process, &[]);
    let mut file = common::stream_header(0, 1 << 40).to_page();
    file.extend_from_slice(&events);
    std::fs::write(process.join("t0.raw"), &file).unwrap();
    let read = |dir: &Path| {
        let recording = Recording::open(dir).unwrap();
        recording.processes[0].streams[0].events().unwrap()
    };
    let raw = read(dir.path());
    assert_eq!(raw.bytes, events);
    let damage = raw.damage.unwrap();
    assert_eq!((damage.usable_bytes, damage.total_bytes), (events.len() as u64, 1 << 40));
    let mut manifest = Manifest::begin(vec![], String::new(), 0);
    let summary = pack::finish(dir.path(), &mut manifest, None).unwrap();
    assert_eq!(summary.faults.len(), 1);
    assert!(!manifest.complete && manifest.reason.is_some_and(|r| r.contains("cut short")));
    assert_eq!(read(dir.path()).bytes, events);
}

#[test]
fn a_raw_stream_with_rubbish_keeps_what_precedes_it() {
    let dir = tempfile::tempdir().unwrap();
    let events = common::encode(&common::sample_events());
    let rubbish = [&events[..], &[0xff; 9]].concat();
    common::write_raw_process(&dir.path().join("p42.0"), &[rubbish]);
    let recording = Recording::open(dir.path()).unwrap();
    let read = recording.processes[0].streams[0].events().unwrap();
    assert_eq!(read.bytes, events);
    assert_eq!(read.damage.unwrap().usable_bytes, events.len() as u64);
}

#[test]
fn an_incomplete_stream_makes_an_incomplete_recording() {
    let dir = tempfile::tempdir().unwrap();
    let process = dir.path().join("p42.0");
    common::write_raw_process(&process, &[]);
    let mut header = common::stream_header(0, 0);
    header.incomplete = true;
    std::fs::write(process.join("t0.raw"), header.to_page()).unwrap();
    let mut manifest = Manifest::begin(vec![], String::new(), 0);
    pack::finish(dir.path(), &mut manifest, None).unwrap();
    assert!(!manifest.complete);
    let recording = Recording::open(dir.path()).unwrap();
    assert!(recording.processes[0].streams[0].header.incomplete);
}

#[test]
fn complaints_of_the_runtime_are_taken_up_once() {
    let dir = tempfile::tempdir().unwrap();
    let events = common::encode(&common::sample_events());
    common::write_raw_process(&dir.path().join("p42.0"), &[events]);
    std::fs::write(dir.path().join("incomplete"), "p42.0\np43.0\np42.0\n").unwrap();
    let mut manifest = Manifest::begin(vec![], String::new(), 0);
    let summary = pack::finish(dir.path(), &mut manifest, None).unwrap();
    assert_eq!(summary.faults.len(), 2, "{:?}", summary.faults);
    assert!(!manifest.complete && manifest.reason.unwrap().contains("p42.0"));
    assert!(!dir.path().join("incomplete").exists());
}

#[test]
fn missing_files_are_named() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("p7.0")).unwrap();
    let recording = Recording::open(dir.path()).unwrap();
    let process = &recording.processes[0];
    assert_eq!((process.info.pid, process.streams.len()), (7, 0));
    let all: Vec<String> = process.damage.iter().map(ToString::to_string).collect();
    assert!(all.iter().any(|d| d.contains("process.json")), "{all:?}");
    assert!(all.iter().any(|d| d.contains("modules")), "{all:?}");
}

//! Files of real runs, damaged with a valid checksum as an attacker would: each is read or refused, and what
//! is read can be shown and redacted.

use crate::sandbox::Sandbox;
use environment::{file, secrets};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Magic, version, length and sum.
const HEADER: usize = 8 + 4 + 8 + 8;

/// The content of the file of a run with files, directories, processes, errors and a variable.
static CONTENT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut shop = Sandbox::new();
    shop.set("API_TOKEN", Some("a0b1c2d3e4f5"));
    shop.file("data", "one\ntwo\n");
    let record = shop.record(&["sh", "-c", "cat data > copy; ls; cat none; date; rm copy"]);
    let folder = tempfile::tempdir().unwrap();
    file::write(folder.path(), &record).unwrap();
    let bytes = std::fs::read(file::path(folder.path())).unwrap();
    assert!(file::decode(&bytes).is_ok());
    zstd::stream::decode_all(&bytes[HEADER..]).unwrap()
});

fn sealed(plain: &[u8]) -> Vec<u8> {
    let mut bytes = b"RLPSENV\0".to_vec();
    bytes.extend(file::VERSION.to_le_bytes());
    bytes.extend((plain.len() as u64).to_le_bytes());
    bytes.extend(xxhash_rust::xxh3::xxh3_64(plain).to_le_bytes());
    bytes.extend(zstd::bulk::compress(plain, -3).unwrap());
    bytes
}

/// The parts with many numbers are at both ends; the bytes of programs are between them.
fn place(ends: usize, at: usize, len: usize) -> usize {
    match ends % 4 {
        0 => at % len,
        1 => at % len.min(4000),
        _ => len - 1 - at % len.min(12_000),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_is_sound_or_refused(
        edits in prop::collection::vec((any::<usize>(), any::<usize>(), any::<u8>()), 1..10),
        cut in prop::option::weighted(0.1, any::<usize>()),
    ) {
        let mut plain = CONTENT.clone();
        for (ends, at, byte) in &edits {
            let at = place(*ends, *at, plain.len());
            plain[at] = *byte;
        }
        if let Some(cut) = cut {
            plain.truncate(cut % plain.len());
        }
        if let Ok(mut record) = file::decode(&sealed(&plain)) {
            prop_assert!(record.is_sound());
            let names: Vec<String> = record.keys.iter().map(secrets::name).collect();
            let _ = secrets::secrets(&record);
            let _ = secrets::redact(&mut record, &names);
            prop_assert!(record.is_sound());
        }
    }
}

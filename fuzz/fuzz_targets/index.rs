//! The index of a process, read from memory, and the pieces of its columns.

#![no_main]

use index::column::{Back, Kind};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let mut file = b"RLPSINDX\x04\0\0\0".to_vec();
    file.extend_from_slice(&[0; 8]);
    file.extend_from_slice(&xxhash_rust::xxh3::xxh3_64(data).to_le_bytes());
    file.extend_from_slice(data);
    if let Ok(index) = index::Index::parse(file, Path::new("index")) {
        let mut stream = 0;
        while let Some(stored) = index.stored(stream) {
            for record in stored.records {
                let _ = index::extra::unpack(record);
            }
            stream += 1;
        }
    }
    let _ = index::extra::decode(data);
    let mut back = Back::new(Kind::Delta, vec![data]);
    for _ in 0..10_000 {
        if back.back().is_none() {
            break;
        }
    }
    back.seek(u64::MAX);
});
